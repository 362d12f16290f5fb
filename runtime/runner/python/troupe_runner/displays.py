"""What a program shows beside its value: pictures, tables, documents, each as a
bundle of forms by their media types."""

import sys

_METHODS = (
    ("image/png", "_repr_png_"),
    ("image/jpeg", "_repr_jpeg_"),
    ("image/svg+xml", "_repr_svg_"),
    ("text/html", "_repr_html_"),
    ("text/markdown", "_repr_markdown_"),
    ("text/latex", "_repr_latex_"),
    ("application/json", "_repr_json_"),
)
_MAX_FIGURES = 20


def _as_bytes(mime, data):
    if isinstance(data, tuple):  # with its metadata
        data = data[0]
    if data is None:
        return None
    if isinstance(data, (bytes, bytearray)):
        return bytes(data)
    if mime == "application/json" and not isinstance(data, str):
        import json

        return json.dumps(data).encode("utf-8")
    if not isinstance(data, str):
        return None
    if mime in ("image/png", "image/jpeg"):  # bundles have them as base64
        import base64

        return base64.b64decode(data)
    return data.encode("utf-8", "replace")


def bundle_of(value):
    """{media type: bytes} of a value that has such forms. Asks its class."""
    kind = type(value)
    made = {}
    if isinstance(value, type):
        return made
    try:
        if callable(getattr(kind, "_repr_mimebundle_", None)):
            bundle = value._repr_mimebundle_()
            bundle = bundle[0] if isinstance(bundle, tuple) else bundle
            made = {str(m): _as_bytes(m, d) for m, d in (bundle or {}).items()}
    except Exception:
        made = {}
    for mime, method in _METHODS:
        if mime in made or not callable(getattr(kind, method, None)):
            continue
        try:
            made[mime] = _as_bytes(mime, getattr(value, method)())
        except Exception:
            continue  # the object cannot show itself so
    return {mime: data for mime, data in made.items() if data is not None}


def figures():
    """What matplotlib has drawn and not closed, as PNG."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    import io

    made = []
    for number in pyplot.get_fignums()[:_MAX_FIGURES]:
        target = io.BytesIO()
        try:
            pyplot.figure(number).savefig(target, format="png", bbox_inches="tight")
            made.append({"image/png": target.getvalue()})
        except Exception:
            continue
    try:
        pyplot.close("all")
    except Exception:
        pass
    return made


class Shown:
    """Gathers bundles while there is room."""

    def __init__(self, room):
        self._left = room
        self.bundles = []
        self.left_out = 0

    def add(self, bundle):
        if not bundle:
            return
        size = sum(map(len, bundle.values()))
        if size > self._left or len(self.bundles) >= _MAX_FIGURES:
            self.left_out += 1
            return
        self._left -= size
        self.bundles.append(bundle)

    def display(self, *values):
        """Offered to programs, as notebooks do."""
        for value in values:
            self.add(bundle_of(value) or {"text/plain": repr(value).encode("utf-8", "replace")})

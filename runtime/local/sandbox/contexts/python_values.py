"""What a value looks like: its forms by MIME type, bounded. The first part of
the Python interpreter of a context; python_images.py follows."""

import sys
import traceback

LONGEST_TEXT = 64 << 10  # characters of text/plain, of a value, of a traceback
LARGEST_FORM = 8 << 20
LARGEST_BUNDLE = 15 << 20


def cut(text, longest=LONGEST_TEXT):
    if len(text) <= longest:
        return text
    return "%s... (%d characters more)" % (text[:longest], len(text) - longest)


METHODS = (
    ("text/html", "_repr_html_"),
    ("text/markdown", "_repr_markdown_"),
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("image/jpeg", "_repr_jpeg_"),
    ("application/json", "_repr_json_"),
    ("text/latex", "_repr_latex_"),
)


def as_text(mime, form):
    """Bytes become base64, structures JSON; None where it has no such form."""
    if isinstance(form, tuple) and len(form) == 2:
        form = form[0]  # (data, metadata)
    if form is None:
        return None
    if isinstance(form, (bytes, bytearray)):
        import base64

        return base64.b64encode(form).decode("ascii")
    if mime == "application/json" or mime.endswith("+json"):
        import json

        return json.dumps(form)
    return form if isinstance(form, str) else str(form)


def ask_for_form(value, method, **how):
    """A method of its class: what answers to any name is not asked."""
    found = getattr(type(value), method, None)
    if found is None or isinstance(value, type):
        return None
    try:
        return found(value, **how)
    except Exception:
        traceback.print_exc(limit=-3)
        return None


def is_mime(name):
    return isinstance(name, str) and "/" in name and len(name) <= 100 and all(
        c.isalnum() or c in "/.+-_" for c in name
    ) and name.isascii()


def bundle_of(value):
    """A list of (MIME type, text). An exception of repr() is the caller's."""
    forms = {}
    whole = ask_for_form(value, "_repr_mimebundle_", include=None, exclude=None)
    if isinstance(whole, tuple) and whole:
        whole = whole[0]
    if isinstance(whole, dict):
        forms.update((k, v) for k, v in list(whole.items())[:24] if is_mime(k))
    for mime, method in METHODS:
        if mime not in forms:
            forms[mime] = ask_for_form(value, method)
    if forms.get("text/plain") is None:
        forms["text/plain"] = repr(value)
    return bounded(forms)


def bounded(forms):
    parts, total, left_out = [], 0, []
    for mime, form in sorted(forms.items(), key=lambda f: f[0] != "text/plain"):
        text = as_text(mime, form)
        if text is None:
            continue
        if mime == "text/plain":
            text = cut(text)
        content = text.encode("utf-8", "backslashreplace")
        if len(content) > LARGEST_FORM or total + len(content) > LARGEST_BUNDLE:
            left_out.append("%s of %d bytes" % (mime, len(content)))
            continue
        total += len(content)
        parts.append((mime, content))
    if left_out:
        print("left out, too large:", ", ".join(left_out), file=sys.stderr)
    return parts

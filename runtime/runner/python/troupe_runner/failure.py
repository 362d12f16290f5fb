"""What is told about an exception: its name, its message, and a traceback that
begins in the tool's own code."""

import os

_MACHINERY = os.path.dirname(os.path.abspath(__file__))
_MAX_TEXT = 16 * 1024  # characters; keeps the head of an answer small
_MAX_NAME = 200  # characters, as many as the engine shows


class ToolFailure(Exception):
    """A complaint of the runner itself; `shown_as` is the name to tell."""

    def __init__(self, shown_as, message):
        super().__init__(message)
        self.shown_as = shown_as


def _own_frames(tb, file):
    """Drops what called the tool: our frames, and an event loop's."""
    first = tb
    while first is not None and first.tb_frame.f_code.co_filename != file:
        first = first.tb_next
    if first is not None:
        return first
    while tb is not None and tb.tb_frame.f_code.co_filename.startswith(_MACHINERY):
        tb = tb.tb_next
    return tb


def _message(exc):
    if isinstance(exc, SystemExit):
        code = 0 if exc.code is None else exc.code
        return f"the tool called exit({code!r}) instead of returning a value"
    try:
        return str(exc)
    except Exception:
        return "(the exception's own __str__ failed)"


def _traceback(exc, file):
    import traceback

    try:
        exc = exc.with_traceback(_own_frames(exc.__traceback__, file))
        # chain=True would show the machinery of a context that is ours.
        return "".join(
            traceback.format_exception(type(exc), exc, exc.__traceback__)
        )
    except BaseException:
        return type(exc).__name__ + "\n"


def _sound(text):
    """JSON has no lone surrogates, as they come from names of files: shown as on
    stderr."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _bounded(text):
    return text if len(text) <= _MAX_TEXT else "... " + text[-_MAX_TEXT:]


def describe(exc, file, called=None):
    """`called`: the function that was chosen, where nobody named one."""
    about = _described(exc, file)
    if isinstance(called, str):
        about["function"] = called[:_MAX_NAME]
    return {name: _sound(text) for name, text in about.items()}


def _described(exc, file):
    if isinstance(exc, ToolFailure):
        message = str(exc)
        return {
            "name": exc.shown_as,
            "message": message,
            "traceback": f"{exc.shown_as}: {message}\n",
            "said_by": "runner",
        }
    return {
        "name": type(exc).__name__,
        "message": _message(exc)[:_MAX_TEXT],
        "traceback": _bounded(_traceback(exc, file)),
    }

"""stdout and stderr of a run: UTF-8, never failing on odd text, and in the
pipe as early as it is printed, so that a killed run leaves its output behind."""

import io
import sys

# So many writes go out at once each; a tool that prints more than that is
# after throughput, and from then on whole lines are good enough.
_EAGER_WRITES = 2000


class Output(io.TextIOWrapper):
    _left = _EAGER_WRITES

    def write(self, text):
        count = super().write(text)
        if self._left > 0:
            self._left -= 1
            self.flush()
        elif "\n" in text:
            self.flush()
        return count


def _open(fd, name):
    raw = io.FileIO(fd, "wb", closefd=False)
    out = Output(
        io.BufferedWriter(raw, 32768),
        encoding="utf-8",
        errors="backslashreplace",
        newline="\n",
    )
    raw.name = name
    return out


def install():
    sys.stdout = sys.__stdout__ = _open(1, "<stdout>")
    sys.stderr = sys.__stderr__ = _open(2, "<stderr>")


def flush():
    """Also what the tool has put in their place, if it can be flushed."""
    for stream in {sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__}:
        try:
            stream.flush()
        except Exception:
            pass  # closed, or not a stream at all: nothing left to flush

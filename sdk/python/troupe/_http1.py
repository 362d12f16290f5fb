"""HTTP/1.1 without any input or output: bytes of a request, and a reader that is
fed with bytes of its answer. The same for sockets and for asyncio."""
from __future__ import annotations

from typing import Dict, List, Mapping, Optional

from .errors import UnexpectedAnswer

MAX_HEAD = 64 * 1024  # no answer of an engine comes near
MAX_CHUNK_LINE = 256


def request_bytes(method: str, target: str, headers: Mapping[str, str],
                  body: Optional[bytes]) -> bytes:
    """A whole request."""
    lines = [f"{method} {target} HTTP/1.1"]
    for name, value in headers.items():
        if "\r" in value or "\n" in value:
            raise ValueError(f"{name}: a line break is not allowed here")
        lines.append(f"{name}: {value}")
    if body is not None or method in ("POST", "PUT", "PATCH"):
        lines.append(f"content-length: {len(body or b'')}")
    return "\r\n".join(lines + ["", ""]).encode("latin-1") + (body or b"")


class ResponseReader:
    """Takes an answer apart as it comes. `status` is 0 until the head is there;
    `take()` gives what there is of the body; `done` says that it is whole."""

    def __init__(self, method: str) -> None:
        self.status = 0
        self.headers: Dict[str, str] = {}
        self.done = False
        self.reusable = True  # the connection, for another request
        self._method = method
        self._data = bytearray()
        self._body: List[bytes] = []
        self._left: Optional[int] = None  # of the body, or of a chunk
        self._chunked = False
        self._until_close = False
        self._state = "head"

    def feed(self, data: bytes) -> None:
        """The next bytes; none of them: the connection was closed."""
        if not data:
            self._end()
            return
        self._data += data
        while self._data and self._step():
            pass

    def take(self) -> bytes:
        """What came of the body since the last time."""
        body = b"".join(self._body)
        self._body.clear()
        return body

    def _end(self) -> None:
        if self._until_close and self.status:
            self.done = True
            self.reusable = False
        elif not self.done:
            raise ConnectionResetError("the connection ended within an answer"
                                       if self.status or self._data else
                                       "the connection ended before an answer")

    def _step(self) -> bool:
        if self.done:
            self.reusable = False  # bytes that were not asked for
            return False
        return bool(getattr(self, "_read_" + self._state)())

    def _read_head(self) -> bool:
        end = self._data.find(b"\r\n\r\n")
        if end < 0:
            if len(self._data) > MAX_HEAD:
                raise UnexpectedAnswer("the head of the answer has no end")
            return False
        lines = bytes(self._data[:end]).decode("latin-1").split("\r\n")
        del self._data[:end + 4]
        version, _, rest = lines[0].partition(" ")
        code = rest[:3]
        if not version.startswith("HTTP/1.") or not code.isdigit():
            raise UnexpectedAnswer("the answer is not HTTP/1.1; is the address "
                                   "right, and is it http or https?")
        if code.startswith("1"):
            return True  # 100 Continue and the like: the answer follows
        self.status = int(code)
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon:
                raise UnexpectedAnswer("a header of the answer has no colon")
            self.headers[name.strip().lower()] = value.strip()
        self._begin_body(version)
        return True

    def _begin_body(self, version: str) -> None:
        connection = self.headers.get("connection", "").lower()
        self.reusable = version != "HTTP/1.0" and "close" not in connection
        length = self.headers.get("content-length")
        if self._method == "HEAD" or self.status in (204, 304):
            self.done = True
        elif "chunked" in self.headers.get("transfer-encoding", "").lower():
            self._state = "size"
        elif length is not None:
            if not length.isdigit():
                raise UnexpectedAnswer("content-length is not a number")
            self._left = int(length)
            self._state = "body"
            self.done = self._left == 0
        else:
            self._until_close = True
            self._state = "rest"

    def _read_body(self) -> bool:
        assert self._left is not None
        piece = bytes(self._data[:self._left])
        del self._data[:len(piece)]
        self._left -= len(piece)
        self._body.append(piece)
        if self._left == 0:
            if self._state == "chunk":
                self._state = "after"
            else:
                self.done = True
        return True

    _read_chunk = _read_body

    def _read_rest(self) -> bool:
        self._body.append(bytes(self._data))
        self._data.clear()
        return True

    def _line(self) -> Optional[bytes]:
        end = self._data.find(b"\r\n")
        if end < 0:
            if len(self._data) > MAX_HEAD:
                raise UnexpectedAnswer("a line of the answer has no end")
            return None
        line = bytes(self._data[:end])
        del self._data[:end + 2]
        return line

    def _read_size(self) -> bool:
        line = self._line()
        if line is None:
            return False
        digits = line.split(b";")[0].strip()
        try:
            if len(line) > MAX_CHUNK_LINE or not digits.isalnum():
                raise ValueError
            self._left = int(digits, 16)
        except ValueError:
            raise UnexpectedAnswer("a chunk of the answer has no size") from None
        self._state = "chunk" if self._left else "trailer"
        return True

    def _read_after(self) -> bool:
        line = self._line()
        if line:
            raise UnexpectedAnswer("a chunk of the answer is longer than it says")
        if line is not None:
            self._state = "size"
        return line is not None

    def _read_trailer(self) -> bool:
        line = self._line()
        if line == b"":
            self.done = True
        return line is not None

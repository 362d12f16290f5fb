# Made of ../_async/files.py by make/sync.py: do not edit.
"""Files of a sandbox. Paths are absolute."""
from __future__ import annotations

from typing import List, Union

from ..errors import NotFound
from ..types import SandboxEntry
from .http import Http

TRANSFER_WITHIN = 600.0  # seconds, for a large file


class Files:
    """`sandbox.files`."""

    def __init__(self, http: Http, sandbox: str) -> None:
        self._http = http
        self._path = sandbox + "/files"

    def write(self, path: str, content: Union[str, bytes]) -> None:
        """Writes a file; what is there is replaced, folders on the way are
        made."""
        data = content.encode() if isinstance(content, str) else content
        self._http.call("PUT", self._path + "/content",
                              query={"path": path}, content=data,
                              within=TRANSFER_WITHIN)

    def read(self, path: str) -> str:
        """A file as text (UTF-8)."""
        return (self.read_bytes(path)).decode()

    def read_bytes(self, path: str) -> bytes:
        """A file as it is."""
        answer = self._http.call("GET", self._path + "/content",
                                       query={"path": path},
                                       within=TRANSFER_WITHIN)
        return answer.body

    def list(self, path: str) -> List[SandboxEntry]:
        """What is in a folder."""
        data = self._http.json("GET", self._path, query={"path": path})
        return [SandboxEntry.read(item) for item in data["items"]]

    def stat(self, path: str) -> SandboxEntry:
        """What a path is; NotFound if it is nothing."""
        return SandboxEntry.read(self._http.json(
            "GET", self._path + "/stat", query={"path": path}))

    def exists(self, path: str) -> bool:
        """Whether a path is anything."""
        try:
            self.stat(path)
        except NotFound:
            return False
        return True

    def mkdir(self, path: str) -> None:
        """Makes a folder, with its parents."""
        self._http.call("POST", self._path + "/mkdir", body={"path": path})

    def move(self, source: str, target: str) -> None:
        """Moves a file or a folder."""
        self._http.call("POST", self._path + "/move",
                              body={"from": source, "to": target})

    def remove(self, path: str) -> None:
        """Removes a file, or a folder with all that is in it."""
        self._http.call("DELETE", self._path + "/content",
                              query={"path": path})

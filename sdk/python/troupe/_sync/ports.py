# Made of ../_async/ports.py by make/sync.py: do not edit.
"""Servers inside of a sandbox, seen from outside."""
from __future__ import annotations

import time
from typing import List, Mapping, Optional

from .._options import given
from ..errors import TroupeError
from ..types import SandboxPort, SandboxPortOpened
from .http import Answer, Http

LOOK_EVERY = 0.1  # seconds


class Ports:
    """`sandbox.ports`."""

    def __init__(self, http: Http, sandbox: str) -> None:
        self._http = http
        self._path = sandbox + "/ports"

    def list(self) -> List[SandboxPort]:
        """Those that are listened on inside, and those that were opened."""
        data = self._http.json("GET", self._path)
        return [SandboxPort.read(item) for item in data["items"]]

    def wait(self, port: int, seconds: float = 30) -> None:
        """Until something listens there."""
        until = time.monotonic() + seconds
        while not any(one.port == port and one.listening
                      for one in self.list()):
            if time.monotonic() > until:
                raise TroupeError(f"nothing listens on port {port} after "
                                  f"{seconds:g} s; is the server started?")
            time.sleep(LOOK_EVERY)

    def open(self, port: int, *, expires_in: Optional[int] = None,
                   public: Optional[bool] = None) -> SandboxPortOpened:
        """Opens a port to the bearer of a token, which is told only now."""
        return SandboxPortOpened.read(self._http.json(
            "POST", f"{self._path}/{port:d}",
            body=given(expires_in=expires_in, public=public)))

    def url(self, port: int, *, expires_in: Optional[int] = None) -> str:
        """A URL that opens the port to its bearer: of a host name of its own
        (`sandbox.preview-listen`) for browsers, else a path of the engine for
        programs. There is a token in it: treat it as a secret."""
        opened = self.open(port, expires_in=expires_in)
        return opened.url or self._http.server.url + opened.path_url

    def close(self, port: int) -> None:
        """Ends all tokens of a port."""
        self._http.call("DELETE", f"{self._path}/{port:d}")

    def request(self, port: int, path: str = "/", *, method: str = "GET",
                      content: Optional[bytes] = None,
                      headers: Mapping[str, str] = {}) -> Answer:
        """Asks a server inside, with this client's key. An answer of 400 and
        more is raised as an error."""
        return self._http.call(
            method, f"{self._path}/{port:d}/proxy/{path.lstrip('/')}",
            content=content, headers=headers)

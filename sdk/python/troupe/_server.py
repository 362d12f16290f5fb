"""Where the engine is, and how requests to it look."""
from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING, Dict, Optional
from urllib.parse import urlsplit

from ._version import __version__

if TYPE_CHECKING:
    import ssl

DEFAULT = "http://127.0.0.1:8283"
AGENT = (f"troupe-python/{__version__} ({platform.python_implementation()} "
         f"{platform.python_version()}; {platform.system()})")


class Server:
    """An argument counts more than the environment: TROUPE_SERVER,
    TROUPE_API_KEY (or TROUPE_API_KEY_FILE), TROUPE_CA_FILE, TROUPE_CERT and
    TROUPE_CERT_KEY. `unix:/path/of/operator.sock` is a Unix socket."""

    def __init__(self, url: Optional[str] = None, api_key: Optional[str] = None,
                 ca_file: Optional[str] = None) -> None:
        url = url or os.environ.get("TROUPE_SERVER") or DEFAULT
        if "://" not in url and not url.startswith("unix:"):
            url = "http://" + url
        self.url = url.rstrip("/")
        self._key = api_key or _key_from_environment()
        self.socket: Optional[str] = None
        self.tls: Optional["ssl.SSLContext"] = None
        if url.startswith("unix:"):
            self.socket = url[len("unix:"):]
            self.host, self.port, self.prefix = "localhost", 0, ""
            self._authority = "localhost"
            return
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"server: {self.url!r} is not an address; write it "
                             f"like {DEFAULT}")
        if parts.username or parts.password or parts.query:
            raise ValueError("server: a key does not belong into an address; "
                             "pass api_key, or set TROUPE_API_KEY")
        self.host = parts.hostname
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self.prefix = parts.path
        self._authority = parts.netloc
        if parts.scheme == "https":
            self.tls = _tls(ca_file)

    def __repr__(self) -> str:
        return f"Server({self.url!r}{', with a key' if self._key else ''})"

    def headers(self, more: Dict[str, str]) -> Dict[str, str]:
        """Those of every request, and these."""
        headers = {"host": self._authority, "user-agent": AGENT,
                   "accept": "application/json"}
        if self._key:
            headers["authorization"] = "Bearer " + self._key
        headers.update(more)
        return headers


def _key_from_environment() -> Optional[str]:
    key = os.environ.get("TROUPE_API_KEY")
    path = os.environ.get("TROUPE_API_KEY_FILE")
    if not key and path:
        with open(path, encoding="utf-8") as file:
            key = file.read()
    return key.strip() if key else None


def _tls(ca_file: Optional[str]) -> "ssl.SSLContext":
    import ssl  # it takes a while, and many engines are on this machine
    context = ssl.create_default_context(
        cafile=ca_file or os.environ.get("TROUPE_CA_FILE"))
    own = os.environ.get("TROUPE_CERT")
    if own:
        context.load_cert_chain(own, os.environ.get("TROUPE_CERT_KEY"))
    return context

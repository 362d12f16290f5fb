# Made of ../_async/packages.py by make/sync.py: do not edit.
"""Packages, installed once per set and shared by all runs that require it:
/v1/package-sets."""
from __future__ import annotations

from typing import Any, Iterator, Dict, Optional, Sequence

from ..types import PackageSet, PackageSetEvent
from .http import Http, segment
from .pages import Pages

SETS = "/v1/package-sets"


class PackageSets:
    """`troupe.package_sets`."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def build(self, *, pip: Sequence[str] = (), npm: Sequence[str] = (),
                    rebuild: bool = False, wait: bool = True) -> PackageSet:
        """Installs packages before a run needs them."""
        body: Dict[str, Any] = {}
        if pip:
            body["pip_requirements"] = list(pip)
        if npm:
            body["npm_requirements"] = list(npm)
        if rebuild:
            body["rebuild"] = True
        headers = {} if wait else {"prefer": "respond-async"}
        return PackageSet.read(self._http.json(
            "POST", SETS, body=body, headers=headers, within=None))

    def list(self, *, limit: Optional[int] = None) -> Pages[PackageSet]:
        return Pages(self._http, SETS, PackageSet, {"limit": limit})

    def get(self, fingerprint: str) -> PackageSet:
        return PackageSet.read(
            self._http.json("GET", f"{SETS}/{segment(fingerprint)}"))

    def events(self, fingerprint: str) -> Iterator[PackageSetEvent]:
        """The lines of the installer as they come, then `end`."""
        for line in self._http.stream(
                "GET", f"{SETS}/{segment(fingerprint)}/events"):
            yield PackageSetEvent.read(line)

    def delete(self, fingerprint: str) -> None:
        self._http.call("DELETE", f"{SETS}/{segment(fingerprint)}")

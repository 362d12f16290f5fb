"""Packages, installed once per set and shared by all runs that require it:
/v1/package-sets."""
from __future__ import annotations

from typing import Any, AsyncIterator, Dict, Optional, Sequence

from ..types import PackageSet, PackageSetEvent
from .http import AsyncHttp, segment
from .pages import AsyncPages

SETS = "/v1/package-sets"


class AsyncPackageSets:
    """`troupe.package_sets`."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def build(self, *, pip: Sequence[str] = (), npm: Sequence[str] = (),
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
        return PackageSet.read(await self._http.json(
            "POST", SETS, body=body, headers=headers, within=None))

    def list(self, *, limit: Optional[int] = None) -> AsyncPages[PackageSet]:
        return AsyncPages(self._http, SETS, PackageSet, {"limit": limit})

    async def get(self, fingerprint: str) -> PackageSet:
        return PackageSet.read(
            await self._http.json("GET", f"{SETS}/{segment(fingerprint)}"))

    async def events(self, fingerprint: str) -> AsyncIterator[PackageSetEvent]:
        """The lines of the installer as they come, then `end`."""
        async for line in self._http.stream(
                "GET", f"{SETS}/{segment(fingerprint)}/events"):
            yield PackageSetEvent.read(line)

    async def delete(self, fingerprint: str) -> None:
        await self._http.call("DELETE", f"{SETS}/{segment(fingerprint)}")

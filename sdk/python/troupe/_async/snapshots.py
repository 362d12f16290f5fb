"""Files of sandboxes, kept for others to be made from: /v1/snapshots."""
from __future__ import annotations

from typing import List

from ..types import Snapshot
from .http import AsyncHttp, segment


class AsyncSnapshots:
    """`troupe.snapshots`. They are taken by `sandbox.snapshot()`."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(self) -> List[Snapshot]:
        """The oldest first."""
        data = await self._http.json("GET", "/v1/snapshots")
        return [Snapshot.read(item) for item in data["items"]]

    async def get(self, snapshot: str) -> Snapshot:
        """By its id or its name."""
        return Snapshot.read(
            await self._http.json("GET", "/v1/snapshots/" + segment(snapshot)))

    async def delete(self, snapshot: str) -> None:
        """Sandboxes that were made from it stay."""
        await self._http.call("DELETE", "/v1/snapshots/" + segment(snapshot))

# Made of ../_async/snapshots.py by make/sync.py: do not edit.
"""Files of sandboxes, kept for others to be made from: /v1/snapshots."""
from __future__ import annotations

from typing import List

from ..types import Snapshot
from .http import Http, segment


class Snapshots:
    """`troupe.snapshots`. They are taken by `sandbox.snapshot()`."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> List[Snapshot]:
        """The oldest first."""
        data = self._http.json("GET", "/v1/snapshots")
        return [Snapshot.read(item) for item in data["items"]]

    def get(self, snapshot: str) -> Snapshot:
        """By its id or its name."""
        return Snapshot.read(
            self._http.json("GET", "/v1/snapshots/" + segment(snapshot)))

    def delete(self, snapshot: str) -> None:
        """Sandboxes that were made from it stay."""
        self._http.call("DELETE", "/v1/snapshots/" + segment(snapshot))

# Made of ../_async/tools.py by make/sync.py: do not edit.
"""Stored tools: /v1/tools."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional

from .._options import given
from ..types import DerivedSchema, StoredTool
from .http import Http, segment
from .pages import Pages

if TYPE_CHECKING:
    from typing_extensions import Unpack
    from ..types import ToolChange, ToolInput


class Tools:
    """`troupe.tools`."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def put(self, **tool: "Unpack[ToolInput]") -> StoredTool:
        """Creates a tool, or replaces the one of the same name. What is left
        out is derived from `source_code`."""
        return StoredTool.read(self._http.json("PUT", "/v1/tools",
                                                     body=tool))

    def create(self, **tool: "Unpack[ToolInput]") -> StoredTool:
        """Creates a tool; Conflict if there is one of that name."""
        return StoredTool.read(self._http.json("POST", "/v1/tools",
                                                     body=tool))

    def get(self, tool: str) -> StoredTool:
        """By its id or its name."""
        return StoredTool.read(self._http.json("GET", _path(tool)))

    def list(self, *, limit: Optional[int] = None, search: Optional[str] = None,
             tag: Optional[str] = None) -> Pages[StoredTool]:
        """By name."""
        return Pages(self._http, "/v1/tools", StoredTool,
                          {"limit": limit, "search": search, "tag": tag})

    def update(self, tool: str, *, revision: Optional[int] = None,
                     **change: "Unpack[ToolChange]") -> StoredTool:
        """Changes some members. With `revision`: Conflict if it is another one
        by now."""
        return StoredTool.read(self._http.json(
            "PATCH", _path(tool), body=change, headers=if_match(revision)))

    def delete(self, tool: str, *, revision: Optional[int] = None) -> None:
        self._http.call("DELETE", _path(tool), headers=if_match(revision))

    def derive_schema(self, source_code: str, *,
                            source_type: Optional[str] = None,
                            function: Optional[str] = None) -> DerivedSchema:
        """The JSON schema of a function, without storing or running it."""
        body: Dict[str, Any] = given(source_code=source_code,
                                     source_type=source_type, function=function)
        return DerivedSchema.read(self._http.json(
            "POST", "/v1/tools/derive-schema", body=body, key="",
            harmless=True))


def if_match(revision: Optional[int]) -> Dict[str, str]:
    """The ETag of a revision."""
    return {} if revision is None else {"if-match": f'"r{revision}"'}


def _path(tool: str) -> str:
    return "/v1/tools/" + segment(tool)

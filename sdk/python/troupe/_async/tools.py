"""Stored tools: /v1/tools."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional

from .._options import given
from ..types import DerivedSchema, StoredTool
from .http import AsyncHttp, segment
from .pages import AsyncPages

if TYPE_CHECKING:
    from typing_extensions import Unpack
    from ..types import ToolChange, ToolInput


class AsyncTools:
    """`troupe.tools`."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def put(self, **tool: "Unpack[ToolInput]") -> StoredTool:
        """Creates a tool, or replaces the one of the same name. What is left
        out is derived from `source_code`."""
        return StoredTool.read(await self._http.json("PUT", "/v1/tools",
                                                     body=tool))

    async def create(self, **tool: "Unpack[ToolInput]") -> StoredTool:
        """Creates a tool; Conflict if there is one of that name."""
        return StoredTool.read(await self._http.json("POST", "/v1/tools",
                                                     body=tool))

    async def get(self, tool: str) -> StoredTool:
        """By its id or its name."""
        return StoredTool.read(await self._http.json("GET", _path(tool)))

    def list(self, *, limit: Optional[int] = None, search: Optional[str] = None,
             tag: Optional[str] = None) -> AsyncPages[StoredTool]:
        """By name."""
        return AsyncPages(self._http, "/v1/tools", StoredTool,
                          {"limit": limit, "search": search, "tag": tag})

    async def update(self, tool: str, *, revision: Optional[int] = None,
                     **change: "Unpack[ToolChange]") -> StoredTool:
        """Changes some members. With `revision`: Conflict if it is another one
        by now."""
        return StoredTool.read(await self._http.json(
            "PATCH", _path(tool), body=change, headers=if_match(revision)))

    async def delete(self, tool: str, *, revision: Optional[int] = None) -> None:
        await self._http.call("DELETE", _path(tool), headers=if_match(revision))

    async def derive_schema(self, source_code: str, *,
                            source_type: Optional[str] = None,
                            function: Optional[str] = None) -> DerivedSchema:
        """The JSON schema of a function, without storing or running it."""
        body: Dict[str, Any] = given(source_code=source_code,
                                     source_type=source_type, function=function)
        return DerivedSchema.read(await self._http.json(
            "POST", "/v1/tools/derive-schema", body=body, key="",
            harmless=True))


def if_match(revision: Optional[int]) -> Dict[str, str]:
    """The ETag of a revision."""
    return {} if revision is None else {"if-match": f'"r{revision}"'}


def _path(tool: str) -> str:
    return "/v1/tools/" + segment(tool)

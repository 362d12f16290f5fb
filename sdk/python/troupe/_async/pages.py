"""Lists that are longer than one answer."""
from __future__ import annotations

from typing import (Any, AsyncIterator, Generic, List, Mapping, Optional, Type,
                    TypeVar)

from .._wire import Wire
from .http import AsyncHttp

T = TypeVar("T", bound=Wire)


class Page(Generic[T]):
    """One answer: some items, and where the next ones begin (None: nowhere)."""

    def __init__(self, items: List[T], next: Optional[str]) -> None:
        self.items = items
        self.next = next


class AsyncPages(Generic[T]):
    """All items, fetched as one goes through them."""

    def __init__(self, http: AsyncHttp, path: str, kind: Type[T],
                 query: Mapping[str, Any]) -> None:
        self._http, self._path, self._kind = http, path, kind
        self._query = query

    async def page(self, after: Optional[str] = None) -> Page[T]:
        """One page: the first, or the one after `next` of another."""
        query = {**self._query, "after": after or self._query.get("after")}
        data = await self._http.json("GET", self._path, query=query)
        return Page([self._kind.read(item) for item in data["items"]],
                    data.get("next"))

    async def all(self) -> List[T]:
        """All of them at once."""
        return [item async for item in self]

    async def __aiter__(self) -> AsyncIterator[T]:
        after: Optional[str] = None
        while True:
            page = await self.page(after)
            for item in page.items:
                yield item
            after = page.next
            if after is None:
                return

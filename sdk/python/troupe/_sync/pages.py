# Made of ../_async/pages.py by make/sync.py: do not edit.
"""Lists that are longer than one answer."""
from __future__ import annotations

from typing import (Any, Iterator, Generic, List, Mapping, Optional, Type,
                    TypeVar)

from .._wire import Wire
from .http import Http

T = TypeVar("T", bound=Wire)


class Page(Generic[T]):
    """One answer: some items, and where the next ones begin (None: nowhere)."""

    def __init__(self, items: List[T], next: Optional[str]) -> None:
        self.items = items
        self.next = next


class Pages(Generic[T]):
    """All items, fetched as one goes through them."""

    def __init__(self, http: Http, path: str, kind: Type[T],
                 query: Mapping[str, Any]) -> None:
        self._http, self._path, self._kind = http, path, kind
        self._query = query

    def page(self, after: Optional[str] = None) -> Page[T]:
        """One page: the first, or the one after `next` of another."""
        query = {**self._query, "after": after or self._query.get("after")}
        data = self._http.json("GET", self._path, query=query)
        return Page([self._kind.read(item) for item in data["items"]],
                    data.get("next"))

    def all(self) -> List[T]:
        """All of them at once."""
        return [item for item in self]

    def __iter__(self) -> Iterator[T]:
        after: Optional[str] = None
        while True:
            page = self.page(after)
            for item in page.items:
                yield item
            after = page.next
            if after is None:
                return

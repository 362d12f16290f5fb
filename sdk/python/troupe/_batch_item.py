"""One of many runs."""
from __future__ import annotations

from typing import Optional

from .errors import ApiError
from .types import RunResult


class BatchItem:
    """How one of many runs ended: with a result, or with an error of the
    engine."""

    def __init__(self, index: int, result: Optional[RunResult],
                 error: Optional[ApiError]) -> None:
        self.index = index
        self.result = result
        self.error = error

    def __repr__(self) -> str:
        how = self.result.status if self.result else self.error
        return f"BatchItem({self.index}, {how})"

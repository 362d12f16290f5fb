"""When a request is sent once more, and after how long."""
from __future__ import annotations

import os
from typing import Optional

from .errors import ApiError

FIRST, LONGEST = 0.2, 5.0  # seconds
LONGEST_RETRY_AFTER = 30.0


def new_key() -> str:
    """An idempotency key: 128 random bits."""
    return os.urandom(16).hex()


def worth_repeating(error: ApiError, repeatable: bool, again: bool) -> bool:
    """Whether another try may succeed. `again`: this was not the first one."""
    if error.status in (429, 503):
        return (error.retry_after or 0) <= LONGEST_RETRY_AFTER
    if error.status in (500, 502, 504):
        return repeatable
    # Our first try is still being carried out.
    return again and error.status == 409 and (
        error.code == "idempotency_key_in_use"
        or "idempotency key" in error.detail)


def pause(attempt: int, error: Optional[ApiError]) -> float:
    """Seconds before try number `attempt` + 1."""
    if error is not None and error.retry_after is not None:
        return error.retry_after
    longest: float = min(LONGEST, FIRST * 2 ** attempt)
    return longest * (0.5 + os.urandom(1)[0] / 512)

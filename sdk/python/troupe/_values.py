"""Values of Python as JSON, and back. Bytes are {"$bytes": base64}."""
from __future__ import annotations

import base64
import dataclasses
import datetime
import enum
import json
from typing import Any, Optional


def encode(value: Any) -> bytes:
    """A body of JSON."""
    return json.dumps(value, default=_other, ensure_ascii=False,
                      separators=(",", ":"), allow_nan=False).encode()


def decode(value: Any, encoding: Optional[str] = None) -> Any:
    """A value of the engine's as Python has it."""
    if encoding == "base64" and isinstance(value, str):
        return base64.b64decode(value)
    if isinstance(value, dict):
        if len(value) == 1 and isinstance(value.get("$bytes"), str):
            return base64.b64decode(value["$bytes"])
        return {name: decode(one) for name, one in value.items()}
    if isinstance(value, list):
        return [decode(one) for one in value]
    return value


def _other(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, (set, frozenset)):
        return list(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON; pass text, "
                    "numbers, lists, dicts, bytes, dates or dataclasses")

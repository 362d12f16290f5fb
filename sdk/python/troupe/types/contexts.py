"""Written by sdk/make_types.py from net/api/openapi.json: do not edit."""
from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional

from .._added import CellOutputAdded, CellResultAdded
from .._wire import Wire, record
from .runs import Failure


@record(frozen=True)
class ContextInfo(Wire):
    """An interpreter that keeps its state between cells."""

    id: str
    """Its id."""
    name: Optional[str]
    """Its name; null: none."""
    language: Literal["python", "javascript", "typescript", "bash"]
    """What its cells are written in."""
    cwd: Optional[str]
    """Where it began: an absolute path of the sandbox; null: where the
    sandbox's processes do."""
    default: bool
    """Whether cells that name no context are for it."""
    auto_restart: bool
    """Whether the next cell begins with a fresh interpreter when it was
    lost."""
    state: Literal["starting", "idle", "busy", "lost"]
    """What it does now; `lost`: its interpreter has ended."""
    detail: Optional[str]
    """Why it was lost."""
    pid: Optional[int]
    """Inside of the sandbox."""
    execution_count: int
    """How many cells its interpreter has begun; a restart begins at 0
    again."""
    queued: int
    """Cells that wait."""
    created_at: str
    """When it was created."""


@record(frozen=True)
class CellOutput(CellOutputAdded, Wire):
    type: Literal["display", "update", "result"]
    """`display`: shown while the cell runs. `update`: what was shown under
    this `id` is now this. `result`: the value of its last expression."""
    data: Dict[str, Any]
    """A value in the forms that it has, by MIME type: texts, pictures as
    base64, JSON as JSON."""
    id: Optional[str]
    """Under which an update finds it."""


@record(frozen=True)
class CellError(Wire):
    type: Literal["error"]
    """Always `error`."""
    name: str
    """The class of the error."""
    value: str
    """What the error says."""
    traceback: str
    """Where it was raised."""


@record(frozen=True)
class CellResult(CellResultAdded, Wire):
    context: str
    """The id of the context that it ran in."""
    status: Literal["queued", "running", "ok", "error", "interrupted", "timeout", "lost"]
    """How it ended: `error`: it raised; `interrupted`: by a call;
    `timeout`: it took too long; `lost`: its context ended before it did."""
    state: Literal["kept", "lost"]
    """Whether what the context had defined is still there."""
    execution_count: int
    """Its number among the cells of its interpreter."""
    detail: Optional[str]
    """Why, where the status does not say it all."""
    queued_at: str
    """When it was accepted."""
    began_at: Optional[str]
    """When it began; null: it never did."""
    ended_at: Optional[str]
    """When it ended."""
    stdout_bytes: int
    """How much it wrote to its standard output, in bytes."""
    stderr_bytes: int
    """How much it wrote to its standard error, in bytes."""
    dropped_events: int
    """Beyond 10,000, or 32 MiB."""
    stdout: str
    """The last 1 MiB."""
    stdout_missed: int
    """Bytes before that."""
    stderr: str
    """The last 1 MiB of it."""
    stderr_missed: int
    """Bytes before that."""
    results: List[CellOutput]
    """What it showed, and its value."""
    error: Optional[CellError]
    """What it raised; null: nothing."""

    _nested = {"results": CellOutput, "error": CellError}


@record(frozen=True)
class CellEvent(Wire):
    """`end` comes exactly once and last, with what is known of the cell."""

    type: Literal["stdout", "stderr", "display", "update", "result", "error", "end"]
    """What this is: output, something shown, its value, an error, or its
    end."""
    text: Optional[str]
    """What was written, of `stdout` and `stderr`."""
    missed: Optional[int]
    """Bytes that came faster than they were read."""
    data: Optional[Dict[str, Any]]
    """A value in the forms that it has, by MIME type: texts, pictures as
    base64, JSON as JSON."""
    id: Optional[str]
    """Under which an update finds it."""
    name: Optional[str]
    """Of an error: its class."""
    value: Optional[str]
    """Of an error: what it says."""
    traceback: Optional[str]
    """Of an error: where it was raised."""
    error: Optional[Failure]
    """Why the stream ends before the cell does."""
    context: Optional[str]
    """The id of the context that it ran in."""
    status: Optional[Literal["queued", "running", "ok", "error", "interrupted", "timeout", "lost"]]
    """How it ended: `error`: it raised; `interrupted`: by a call;
    `timeout`: it took too long; `lost`: its context ended before it did."""
    state: Optional[Literal["kept", "lost"]]
    """Whether what the context had defined is still there."""
    execution_count: Optional[int]
    """Its number among the cells of its interpreter."""
    detail: Optional[str]
    """Why, where the status does not say it all."""
    queued_at: Optional[str]
    """When it was accepted."""
    began_at: Optional[str]
    """When it began; null: it never did."""
    ended_at: Optional[str]
    """When it ended."""
    stdout_bytes: Optional[int]
    """How much it wrote to its standard output, in bytes."""
    stderr_bytes: Optional[int]
    """How much it wrote to its standard error, in bytes."""
    dropped_events: Optional[int]
    """Beyond 10,000, or 32 MiB."""

    _nested = {"error": Failure}


@record(frozen=True)
class ContextInterruption(Wire):
    interrupted: bool
    """False: the cell has not stopped within two seconds; restart the
    context."""

"""Written by sdk/make_types.py from net/api/openapi.json: do not edit."""
from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional

from .._added import ExecResultAdded
from .._wire import Wire, record
from .runs import Failure


@record(frozen=True)
class ProcessInfo(Wire):
    id: str
    """Id of the process."""
    argv: List[str]
    """The program with its arguments."""
    cwd: Optional[str]
    """The directory in which it was started."""
    tag: Optional[str]
    """A name of the client for it; null: none."""
    pid: Optional[int]
    """Inside of the sandbox."""
    state: Literal["running", "ended"]
    """running, or ended."""
    reason: Optional[str]
    """Why it ended: exited, signaled, timeout, killed, sandbox_ended,
    lost."""
    exit_code: Optional[int]
    """Only of one that exited."""
    signal: Optional[int]
    """Number of the signal that ended the process; 0: none."""
    detail: Optional[str]
    """What happened, in a sentence."""
    started_at: str
    """When it was started."""
    ended_at: Optional[str]
    """When it ended; null until then."""
    stdout_bytes: int
    """Bytes written to standard output, also those beyond the limit."""
    stderr_bytes: int
    """Bytes written to standard error, also those beyond the limit."""
    terminal: Optional[Dict[str, Any]]
    """How large its terminal is; null: it has none."""


@record(frozen=True)
class ExecResult(ExecResultAdded, Wire):
    id: str
    """Id of the process."""
    argv: List[str]
    """The program with its arguments."""
    cwd: Optional[str]
    """The directory in which it was started."""
    tag: Optional[str]
    """A name of the client for it; null: none."""
    pid: Optional[int]
    """Inside of the sandbox."""
    state: Literal["running", "ended"]
    """running, or ended."""
    reason: Optional[str]
    """Why it ended: exited, signaled, timeout, killed, sandbox_ended,
    lost."""
    exit_code: Optional[int]
    """Only of one that exited."""
    signal: Optional[int]
    """Number of the signal that ended the process; 0: none."""
    detail: Optional[str]
    """What happened, in a sentence."""
    started_at: str
    """When it was started."""
    ended_at: Optional[str]
    """When it ended; null until then."""
    stdout_bytes: int
    """Bytes written to standard output, also those beyond the limit."""
    stderr_bytes: int
    """Bytes written to standard error, also those beyond the limit."""
    terminal: Optional[Dict[str, Any]]
    """How large its terminal is; null: it has none."""
    stdout: str
    """The last 1 MiB."""
    stdout_missed: int
    """Bytes before that."""
    stderr: str
    """What was written to standard error, up to the output limit. Invalid
    UTF-8 becomes U+FFFD."""
    stderr_missed: int
    """Bytes of standard error that were dropped before these."""


@record(frozen=True)
class ProcessOutput(Wire):
    stream: Literal["stdout", "stderr"]
    """Which output it is."""
    from_: int
    """Offset of the first byte of `data`."""
    next: int
    """Where to go on."""
    missed: int
    """Bytes that are no longer kept."""
    data: str
    """The output; text, or base64 with `encoding=base64`."""
    ended: bool
    """Nothing will follow."""


@record(frozen=True)
class ProcessEvent(Wire):
    """`end` comes exactly once and last."""

    type: Literal["output", "error", "end"]
    """What happened; `end` is the last one."""
    stream: Optional[Literal["stdout", "stderr"]]
    """Which output it is."""
    from_: Optional[int]
    """Of `output`: offset of its first byte in the stream."""
    missed: Optional[int]
    """Of `output`: bytes that were dropped before these."""
    data: Optional[str]
    """Of `output`: text, or base64 with `encoding=base64`."""
    error: Optional[Failure]
    """Of `error`: what went wrong."""
    process: Optional[ProcessInfo]
    """Of `end`: the process."""

    _nested = {"error": Failure, "process": ProcessInfo}

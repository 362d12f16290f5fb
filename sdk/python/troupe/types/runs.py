"""Written by sdk/make_types.py from net/api/openapi.json: do not edit."""
from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Union

from .._added import RunFileAdded, RunResultAdded
from .._wire import Wire, record


@record(frozen=True)
class Mistake(Wire):
    pointer: str
    """Where in the body: a JSON pointer (RFC 6901); empty for the whole."""
    reason: str
    """What is wrong with it."""
    hint: Optional[str]
    """The way out; may be empty."""


@record(frozen=True)
class Failure(Wire):
    code: str
    """The kind of failure, for programs."""
    detail: str
    """What is wrong, and the way out."""
    errors: List[Mistake]
    """Every member or parameter that is wrong."""

    _nested = {"errors": Mistake}


@record(frozen=True)
class RunUsage(Wire):
    """Measured by the engine, never reported by the tool."""

    wall_us: int
    """Elapsed time, in microseconds."""
    cpu_us: int
    """Processor time, in microseconds."""
    peak_memory_bytes: int
    """Most memory at the same time."""
    stdout_bytes: int
    """Bytes written to standard output, also those beyond the limit."""
    stderr_bytes: int
    """Bytes written to standard error, also those beyond the limit."""


@record(frozen=True)
class RunFile(RunFileAdded, Wire):
    name: str
    """Its name below the run's directory."""
    media_type: str
    """Its type, such as `text/plain`."""
    size: int
    """Its size in bytes."""
    text: Optional[str]
    """What is in it, where that is text."""
    base64: Optional[str]
    """What is in it, as base64, where it is no text."""
    url: Optional[str]
    """Where a large one is fetched: a path of this server."""


@record(frozen=True)
class ToolError(Wire):
    """What the tool raised; absent if it succeeded."""

    name: str
    """Class of the exception."""
    message: str
    """Its message."""
    traceback: str
    """Its traceback, without the engine's own frames."""
    friendly: str
    """One line on it, for an agent."""


@record(frozen=True)
class Stage(Wire):
    name: str
    """Such as resolve, queue, variables, run."""
    took_us: int
    """Microseconds."""


@record(frozen=True)
class Failover(Wire):
    backend: str
    """The backend that did not execute it."""
    reason: str
    """Why: it failed, or its circuit breaker is open, and until when."""


@record(frozen=True)
class IsolationLayer(Wire):
    name: str
    """Name of the layer, as in `troupe doctor`."""
    state: Literal["enforced", "degraded", "absent"]
    """enforced, degraded or absent."""
    reason: Optional[str]
    """Why it is less than enforced; empty otherwise."""


@record(frozen=True)
class Isolation(Wire):
    """What was really enforced, layer by layer."""

    level: Literal["strict", "standard", "best_effort", "off"]
    """The isolation level that was required."""
    layers: List[IsolationLayer]
    """Every layer of isolation, and whether it was in force."""

    _nested = {"layers": IsolationLayer}


@record(frozen=True)
class Connection(Wire):
    target: str
    """The host or address, with its port."""
    allowed: bool
    """Whether the connection was allowed."""
    reason: str
    """Why it was refused."""


@record(frozen=True)
class RunResult(RunResultAdded, Wire):
    """Only value, agent_state, error and the output come from the tool;
    everything else is measured by the engine."""

    id: str
    """Id of the run."""
    status: Literal["success", "error", "timeout", "limit", "cancelled", "lost"]
    """In one word: `success`; `error`, the tool failed or could not be
    started; `timeout`, of wall or CPU time; `limit`, of memory, processes,
    disk or output; `cancelled`; `lost`, it may have run. `reason` is more
    exact."""
    reason: Literal["exited", "signaled", "wall_timeout", "cpu_timeout", "memory_limit", "output_limit", "pids_limit", "disk_limit", "syscall_blocked", "policy_denied", "cancelled", "start_failed", "lost", "raised"]
    """Why it ended. `raised`: the tool raised an error; `exited`: its
    process ended by itself, with a value or with `exit_code`."""
    exit_code: Optional[int]
    """Of a process that ended by itself, else null; never 0 for a tool
    that failed."""
    signal: Optional[int]
    """The signal that ended the process, else null."""
    detail: Optional[str]
    """One sentence on `reason`; may be empty."""
    value: Any
    """The return value: any JSON."""
    value_is_text_fallback: bool
    """The value had no JSON form; `value` is its text."""
    value_encoding: Optional[Literal["base64"]]
    """Set if the value is bytes. Bytes inside of a value are `{"$bytes":
    "<base64>"}`."""
    value_truncated: bool
    """The value has more characters than `return_char_limit`: it is null,
    and `value_size` is how many it has."""
    value_size: Optional[int]
    """How many characters the value has, where it was truncated; else
    absent."""
    files: List[RunFile]
    """The files that `outputs` asked for. Each has one of `text`, `base64`
    and `url`: a large one is fetched from its URL, which works for an
    hour."""
    displays: List[Dict[str, Any]]
    """What a script or snippet showed (a value with `_repr_html_` and the
    like, figures of matplotlib), each in all its forms by media type:
    texts, JSON, pictures as base64."""
    error: Optional[ToolError]
    """What the tool raised; absent if it succeeded."""
    stdout: str
    """What was written to standard output, up to the output limit. Invalid
    UTF-8 becomes U+FFFD."""
    stderr: str
    """What was written to standard error, up to the output limit. Invalid
    UTF-8 becomes U+FFFD."""
    stdout_truncated: bool
    """More was written than the output limit allows."""
    stderr_truncated: bool
    """More was written than the output limit allows."""
    agent_state: Any
    """The agent state after the run."""
    agent_state_diff: Any
    """JSON Patch (RFC 6902)."""
    usage: RunUsage
    """What the run used."""
    stages: List[Stage]
    """The parts of the run in order, and how long each took."""
    backend: str
    """The backend that executes it."""
    fingerprint: Optional[str]
    """Identifies the sandbox config: the first 12 hex digits of SHA-256
    over its content."""
    package_set: Optional[str]
    """Fingerprint of the package set that is used."""
    failover: List[Failover]
    """Preferred backends that did not execute this run, each with the
    reason: it failed, or its circuit breaker is open, and until when.
    Empty if the first choice executed it."""
    isolation: Isolation
    """What was really enforced, layer by layer."""
    network: List[Connection]
    """Hosts that the tool tried to reach, as far as they are told."""
    notes: List[str]
    """Remarks for people, such as limits that were lowered."""

    _nested = {"files": RunFile, "error": ToolError, "usage": RunUsage, "stages": Stage, "failover": Failover, "isolation": Isolation, "network": Connection}


@record(frozen=True)
class RunRecord(Wire):
    id: str
    """Id of the run."""
    phase: Literal["queued", "preparing", "running", "ended"]
    """How far the run is."""
    tool_name: Optional[str]
    """Name of the tool; null for a snippet or a command."""
    agent_id: Optional[str]
    """The agent that the run is for: its stored variables apply, and runs
    can be found by it."""
    backend: str
    """The backend that executes it."""
    created_at: str
    """When it was created."""
    ended_at: Optional[str]
    """When it ended; null until then."""
    labels: Dict[str, str]
    """Pairs that runs can be listed by."""
    result: Optional[RunResult]
    """Its result, once it has ended with one; null otherwise."""
    error: Optional[Failure]
    """Why the engine could not carry out the run; null otherwise."""

    _nested = {"result": RunResult, "error": Failure}


@record(frozen=True)
class RunSummary(Wire):
    """A run without its value and output, which are at /v1/runs/{id}."""

    id: str
    """Id of the run."""
    phase: Literal["queued", "preparing", "running", "ended"]
    """How far the run is."""
    tool_name: Optional[str]
    """Name of the tool; null for a snippet or a command."""
    agent_id: Optional[str]
    """The agent that the run is for: its stored variables apply, and runs
    can be found by it."""
    backend: str
    """The backend that executes it."""
    created_at: str
    """When it was created."""
    ended_at: Optional[str]
    """When it ended; null until then."""
    labels: Dict[str, str]
    """Pairs that runs can be listed by."""
    status: Optional[Literal["success", "error", "timeout", "limit", "cancelled", "lost"]]
    """success or error: whether the tool did its work."""
    reason: Optional[str]
    """Why the run ended: a `reason` of RunResult."""
    usage: Optional[RunUsage]
    """What the run used."""
    error: Optional[Failure]
    """Why the engine could not carry out the run; null otherwise."""

    _nested = {"usage": RunUsage, "error": Failure}


@record(frozen=True)
class RunEvent(Wire):
    """Numbered from 1 without gaps; `end` comes exactly once and last."""

    sequence: int
    """Number of the event, from 1 without gaps; pass it as Last-Event-ID
    to resume."""
    type: Literal["accepted", "queued", "started", "stdout", "stderr", "progress", "end"]
    """What happened; `end` is the last event of each run."""
    data: Optional[str]
    """Of stdout and stderr: the text; of progress: one line for people."""
    result: Optional[RunResult]
    """Of `end`: the result of the run."""
    error: Optional[Failure]
    """Of `end`: why the engine could not carry out the run."""

    _nested = {"result": RunResult, "error": Failure}


@record(frozen=True)
class RunLogs(Wire):
    id: str
    """Id of the run."""
    phase: Literal["queued", "preparing", "running", "ended"]
    """Before `ended` there may be more."""
    stdout: str
    """What was written to standard output, up to the output limit. Invalid
    UTF-8 becomes U+FFFD."""
    stderr: str
    """What was written to standard error, up to the output limit. Invalid
    UTF-8 becomes U+FFFD."""
    stdout_truncated: bool
    """More was written than the output limit allows."""
    stderr_truncated: bool
    """More was written than the output limit allows."""


@record(frozen=True)
class ExplainedVariable(Wire):
    name: str
    """Name of the variable."""
    origin: str
    """Which layer it comes from; later layers win."""
    value: str
    """Always masked."""


@record(frozen=True)
class Explanation(Wire):
    variables: List[ExplainedVariable]
    """The variables that the run would have, and where each comes from.
    Values are masked."""
    candidates: List[str]
    """Backends in the order in which they would be tried."""
    reasons: List[str]
    """Why, one line per decision."""
    limits: Dict[str, Any]
    """The limits that would apply."""
    network: Union[Literal["off", "public"], Dict[str, Any]]
    """What a run may connect to. Loopback, private, link-local and
    metadata addresses are always blocked."""
    isolation: Literal["strict", "standard", "best_effort", "off"]
    """The isolation level that would be required."""
    fingerprint: str
    """Identifies the sandbox config: the first 12 hex digits of SHA-256
    over its content."""

    _nested = {"variables": ExplainedVariable}


@record(frozen=True)
class BatchLine(Wire):
    type: Literal["item", "end"]
    """`item`: one run has ended; `end`: all have."""
    index: Optional[int]
    """Position of the item in the request, from 0."""
    run_id: Optional[str]
    """Id of the run; null if there is none."""
    result: Optional[RunResult]
    """The result of the run; null if there is none."""
    error: Optional[Failure]
    """Why this item was not carried out; null otherwise."""
    items: Optional[int]
    """Of `end`: how many items there were."""
    succeeded: Optional[int]
    """Of `end`: items that succeeded."""
    failed: Optional[int]
    """Of `end`: items that failed."""

    _nested = {"result": RunResult, "error": Failure}

"""Written by sdk/make_types.py from net/api/openapi.json: do not edit."""
from __future__ import annotations

from typing import Any, Dict, Literal, Optional, Union

from .._wire import Wire, record
from .runs import Failure


@record(frozen=True)
class Resources(Wire):
    """What all of it may use together."""

    memory_bytes: int
    """Memory."""
    disk_bytes: int
    """Disk."""
    inodes: int
    """Files and directories."""
    processes: int
    """Processes and threads."""


@record(frozen=True)
class SandboxInfo(Wire):
    id: str
    """22 lower case letters and digits: one label of a host name."""
    organization_id: str
    """The organization that it belongs to."""
    name: Optional[str]
    """Its name; null: none."""
    state: Literal["queued", "creating", "running", "pausing", "paused", "resuming", "stopping", "stopped", "deleting", "deleted", "failed"]
    """What it does now."""
    place: str
    """Where it is: this machine, or an account at a provider."""
    template: Optional[str]
    """What it is made from; null: the usual."""
    snapshot: Optional[str]
    """The one that it was made from."""
    metadata: Dict[str, str]
    """Pairs that it can be found by."""
    created_at: str
    """When it was created."""
    ends_at: Optional[str]
    """When its timeout is over or, while it is paused, when it ends; null
    until it runs."""
    timeout: float
    """seconds"""
    on_timeout: Literal["delete", "pause", "stop"]
    """What becomes of it when its timeout is over."""
    idle_timeout: Optional[float]
    """seconds without a use after which `on_idle` happens; null: never."""
    on_idle: Literal["delete", "pause", "stop"]
    """What becomes of it when its `idle_timeout` is over."""
    auto_resume: bool
    """Whether a process, a file call or a connection resumes it."""
    session: Optional[str]
    """A request for the same session gets this sandbox."""
    isolation: Literal["strict", "standard", "best_effort", "off"]
    """The isolation that is required: strict (fresh namespaces per run),
    standard, best_effort (what the host can do) or off. Never weaker than
    the server permits."""
    resources: Resources
    """What all of it may use together."""
    network: Union[Literal["off", "public"], Dict[str, Any]]
    """`off`, `public`, or the hosts that may be reached."""
    end: Optional[str]
    """Why it ended or ends: deleted, timeout, idle, paused_too_long,
    start_failed, queue_timeout, lost, shutdown."""
    error: Optional[Failure]
    """What went wrong last."""

    _nested = {"resources": Resources, "error": Failure}


@record(frozen=True)
class SandboxEvent(Wire):
    number: int
    """Without holes."""
    at: str
    """When it happened."""
    type: Literal["state", "expiring", "process_started", "process_ended", "snapshot", "rollback"]
    """What happened."""
    state: Optional[str]
    """The state of the sandbox from then on, where that changed."""
    process: Optional[str]
    """The id of the process that began or ended."""
    snapshot: Optional[str]
    """The id of the snapshot that was taken, or rolled back to."""
    reason: Optional[str]
    """Why it happened; null: nothing more is said."""


@record(frozen=True)
class Snapshot(Wire):
    id: str
    """Its id."""
    name: Optional[str]
    """Its name; null: none."""
    sandbox: str
    """The one that it is of."""
    place: str
    """Where it is: the place of its sandbox."""
    template: Optional[str]
    """What its sandbox was made from; null: the usual."""
    bytes: int
    """That it takes beside what the sandbox was made from."""
    how: Literal["cut", "copy"]
    """`cut`: nothing ran in the sandbox, and what it had written became a
    layer as it was. `copy`: something ran, and what it had written was
    copied while it stood still."""
    stood_still_us: int
    """For how many microseconds the sandbox stood still for it."""
    created_at: str
    """When it was taken."""


@record(frozen=True)
class SandboxPort(Wire):
    port: int
    """The TCP port inside of the sandbox."""
    listening: bool
    """A server inside listens on it."""
    opened: bool
    """There are tokens for it."""
    public: bool
    """It is open without one."""


@record(frozen=True)
class SandboxPortOpened(Wire):
    port: int
    """The TCP port inside of the sandbox."""
    url: Optional[str]
    """For browsers; absent without `sandbox.preview-listen`."""
    path_url: str
    """For programs: a path of this server."""
    token: str
    """For `X-Troupe-Port-Token`."""
    expires_at: str
    """When the token ends, unless the engine ends before."""
    public: bool
    """Whether it is open to all until then, without the token."""

    _secret = ("url", "path_url", "token",)


@record(frozen=True)
class SandboxEntry(Wire):
    name: str
    """Name in its directory."""
    path: str
    """Absolute path inside the sandbox."""
    type: Literal["file", "folder", "link"]
    """What it is; no link is followed at the end of a path."""
    bytes: int
    """Size of the file; 0 for others."""
    target: Optional[str]
    """What a link leads to, as it says; null: it is no link."""

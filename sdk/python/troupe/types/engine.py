"""Written by sdk/make_types.py from net/api/openapi.json: do not edit."""
from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional

from .._wire import Wire, record


@record(frozen=True)
class BackendNode(Wire):
    name: str
    """The node, as cluster.seeds names it."""
    ready: bool
    """Whether the node accepts runs."""
    reason: str
    """"ready", or why it gets no runs."""
    circuit: Literal["closed", "open", "half_open"]
    """State of its circuit breaker."""
    running: int
    """Runs in progress there."""
    runs: int
    """Runs that it answered."""
    failures: int
    """Runs that it refused or lost."""


@record(frozen=True)
class Backend(Wire):
    name: str
    """Name of the backend: its kind, or an account such as `e2b.research`."""
    kind: Literal["local", "e2b", "modal", "daytona", "aio", "peer"]
    """Kind of backend."""
    configured: bool
    """Whether it is enabled by the settings."""
    ready: bool
    """Whether it is configured and reachable, as far as it is known. It is
    not sent runs while `circuit` is `open`."""
    reason: str
    """"ready", or why it is not used: what is missing, or after how many
    failures its circuit breaker opened and until when."""
    circuit: Literal["closed", "open", "half_open"]
    """closed: runs are sent to it. open: it failed too often and is not
    used for a while. half_open: a single run is sent to it as a probe."""
    running: int
    """Runs in progress there."""
    waiting: int
    """Runs that wait for it."""
    limit: int
    """Most runs at the same time."""
    nodes: List[BackendNode]
    """Of `peer`: the other nodes. Empty elsewhere."""

    _nested = {"nodes": BackendNode}


@record(frozen=True)
class Key(Wire):
    id: str
    """Id of the key, to delete it by; not the key itself."""
    organization_id: str
    """The organization that it belongs to."""
    name: str
    """A name for people."""
    scopes: List[Literal["run", "config", "admin", "operator"]]
    """`run`: run tools, read tools and runs. `config`: change tools,
    sandbox configs, variables and package sets. `admin`: API keys and the
    audit log; includes `run` and `config`. `operator`: everything, for
    every organization, and maintenance; only an operator can grant it."""
    created_at: str
    """When it was created."""
    expires_at: Optional[str]
    """When it expires; null: never."""


@record(frozen=True)
class NewKey(Wire):
    id: str
    """Id of the key, to delete it by; not the key itself."""
    organization_id: str
    """The organization that it belongs to."""
    name: str
    """A name for people."""
    scopes: List[Literal["run", "config", "admin", "operator"]]
    """`run`: run tools, read tools and runs. `config`: change tools,
    sandbox configs, variables and package sets. `admin`: API keys and the
    audit log; includes `run` and `config`. `operator`: everything, for
    every organization, and maintenance; only an operator can grant it."""
    created_at: str
    """When it was created."""
    expires_at: Optional[str]
    """When it expires; null: never."""
    key: str
    """The key; it is never shown again."""

    _secret = ("key",)


@record(frozen=True)
class AuditEntry(Wire):
    sequence: int
    """Number of the entry, from 1 without gaps."""
    at: str
    """When it happened."""
    hash: str
    """Hash of this entry and the previous one, which chains them."""
    details: Dict[str, Any]
    """What happened: `event` is `run` or `change`; the other members
    depend on it."""


@record(frozen=True)
class Organization(Wire):
    id: str
    """Id of the organization."""
    key_id: Optional[str]
    """Id of the key of this request; null without one."""
    can_run: bool
    """Whether this caller may run tools."""
    can_config: bool
    """Whether this caller may change tools, configs and variables."""
    can_admin: bool
    """Whether this caller may manage keys and read the audit log."""
    can_operate: bool
    """Has the scope `operator`."""
    tools: int
    """Number of tools."""
    sandbox_configs: int
    """Number of sandbox configs."""
    variables: int
    """Number of variables."""


@record(frozen=True)
class OrganizationSummary(Wire):
    id: str
    """Id of the organization."""
    tools: int
    """Number of tools."""
    sandbox_configs: int
    """Number of sandbox configs."""
    variables: int
    """Number of variables."""
    keys: int
    """Number of keys."""


@record(frozen=True)
class Backup(Wire):
    directory: str
    """The directory of the backup, on the engine's machine."""
    files: int
    """Number of files."""
    bytes: int
    """Size of all files together."""
    format: int
    """The format version of the store."""
    master_key_id: str
    """Id of the master key that decrypts its secrets; the key itself is
    not included."""


@record(frozen=True)
class MasterKeyChange(Wire):
    old_key_id: str
    """Id of the old key."""
    new_key_id: str
    """Id of the new key."""


@record(frozen=True)
class Drained(Wire):
    drained: bool
    """No run is in progress."""
    running: int
    """Runs that have not ended, queued ones included."""

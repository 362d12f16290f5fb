"""Written by sdk/make_types.py from net/api/openapi.json: do not edit."""
from __future__ import annotations

from typing import Any, Dict, Literal, Optional

from .._wire import Wire, record


@record(frozen=True)
class SandboxConfig(Wire):
    id: str
    """Id of the sandbox config."""
    organization_id: Optional[str]
    """The organization that it belongs to."""
    type: Literal["local", "e2b", "modal", "daytona", "aio", "peer"]
    """The kind of backend that it is for."""
    config: Dict[str, Any]
    """The config as it is stored, with its defaults. Of type `local`,
    `sandbox_dir`, `use_venv` and `venv_name` are there for Letta's
    clients, and have no effect unless they are changed."""
    revision: int
    """Grows with every change; the ETag is made of it."""
    fingerprint: str
    """The first 12 hex digits of SHA-256 of the canonical config."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it was changed last."""
    created_by: Optional[str]
    """The user who created it."""
    updated_by: Optional[str]
    """The user who changed it last."""


@record(frozen=True)
class Variable(Wire):
    """The value can be written but never read."""

    id: str
    """Id of the variable."""
    organization_id: Optional[str]
    """The organization that it belongs to."""
    sandbox_config_id: Optional[str]
    """The sandbox config that it belongs to."""
    key: str
    """Name of the variable."""
    description: Optional[str]
    """What it is for."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it was changed last."""
    created_by: Optional[str]
    """The user who created it."""
    updated_by: Optional[str]
    """The user who changed it last."""


@record(frozen=True)
class AgentVariable(Wire):
    id: str
    """Id of the variable."""
    organization_id: Optional[str]
    """The organization that it belongs to."""
    agent_id: str
    """The agent that it belongs to."""
    key: str
    """Name of the variable."""
    description: Optional[str]
    """What it is for."""
    created_at: Optional[str]
    """When it was created."""
    updated_at: Optional[str]
    """When it was changed last."""

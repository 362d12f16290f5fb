"""Written by sdk/make_types.py from net/api/openapi.json: do not edit."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, TypedDict, Union

from .._wire import Wire, record

if TYPE_CHECKING:
    from typing_extensions import Required


@record(frozen=True)
class StoredTool(Wire):
    id: str
    """Id of the tool; it stays the same when the tool changes."""
    organization_id: Optional[str]
    """The organization that it belongs to."""
    name: str
    """Name of the tool, unique in its organization."""
    description: Optional[str]
    """What the tool does, for agents."""
    tool_type: Optional[str]
    """Always `custom`."""
    source_type: Optional[str]
    """Language of the source: python, typescript or javascript."""
    source_code: str
    """The source, with the function that is called."""
    json_schema: Optional[Dict[str, Any]]
    """Schema that agents call the tool by: `name`, `description`,
    `parameters`. Derived from the source if it is absent."""
    args_json_schema: Optional[Dict[str, Any]]
    """JSON schema of the arguments alone; it replaces the derived
    `parameters`."""
    tags: List[str]
    """Words that tools can be listed by."""
    return_char_limit: Optional[int]
    """Most characters of the value; see `value_truncated`."""
    pip_requirements: List[str]
    """Python packages: `requests>=2.31`, or name and version. Installed
    once per set and shared read-only."""
    npm_requirements: List[str]
    """npm packages: `lodash@4`, or name and version. Installed once per
    set and shared read-only."""
    default_requires_approval: bool
    """For clients that ask people before they run a tool; the engine only
    stores it."""
    enable_parallel_execution: bool
    """For clients that run tools side by side; the engine only stores it."""
    metadata: Optional[Dict[str, Any]]
    """Members of the client. `sandbox` chooses the backend,
    `lenient_arguments` binds arguments as Letta does."""
    project_id: Optional[str]
    """A label of the client; LETTA_PROJECT_ID in the run."""
    revision: int
    """Grows with every change; the ETag is made of it."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it was changed last."""
    created_by: Optional[str]
    """The user who created it."""
    updated_by: Optional[str]
    """The user who changed it last."""


@record(frozen=True)
class DerivedSchema(Wire):
    name: str
    """Name of the function."""
    description: str
    """Its description, from the docstring or comment."""
    schema: Dict[str, Any]
    """The schema: `name`, `description`, `parameters`."""


class ToolInput(TypedDict, total=False):
    """Without json_schema, the schema of a Python tool is derived from its
    source."""

    name: str
    """Name of the tool, unique in its organization; otherwise that of the
    function."""
    description: str
    """What the tool does, for agents; otherwise from the source."""
    source_type: Literal["python", "typescript", "javascript"]
    """Language of the source: python, typescript or javascript."""
    source_code: Required[str]
    """The source, with the function that is called."""
    json_schema: Dict[str, Any]
    """Schema that agents call the tool by: `name`, `description`,
    `parameters`. Derived from the source if it is absent."""
    args_json_schema: Dict[str, Any]
    """JSON schema of the arguments alone; it replaces the derived
    `parameters`."""
    tags: List[str]
    """Words that tools can be listed by."""
    return_char_limit: int
    """Most characters of the value; see `value_truncated`."""
    pip_requirements: List[Union[str, Dict[str, Any]]]
    """Python packages: `requests>=2.31`, or name and version. Installed
    once per set and shared read-only."""
    npm_requirements: List[Union[str, Dict[str, Any]]]
    """npm packages: `lodash@4`, or name and version. Installed once per
    set and shared read-only."""
    default_requires_approval: bool
    """For clients that ask people before they run a tool; the engine only
    stores it."""
    enable_parallel_execution: bool
    """For clients that run tools side by side; the engine only stores it."""
    metadata: Dict[str, Any]
    """`sandbox` selects the backend. `lenient_arguments`: true binds
    arguments as Letta does: unknown names are dropped, and values of the
    wrong type are passed to the tool."""
    project_id: str
    """A label of the client; LETTA_PROJECT_ID in the run."""


class ToolChange(TypedDict, total=False):
    name: str
    """Name of the tool, unique in its organization."""
    description: str
    """What the tool does, for agents."""
    source_type: Literal["python", "typescript", "javascript"]
    """Language of the source: python, typescript or javascript."""
    source_code: str
    """The source, with the function that is called."""
    json_schema: Dict[str, Any]
    """Schema that agents call the tool by: `name`, `description`,
    `parameters`. Derived from the source if it is absent."""
    args_json_schema: Dict[str, Any]
    """JSON schema of the arguments alone; it replaces the derived
    `parameters`."""
    tags: List[str]
    """Words that tools can be listed by."""
    return_char_limit: int
    """Most characters of the value; see `value_truncated`."""
    pip_requirements: List[Union[str, Dict[str, Any]]]
    """Python packages: `requests>=2.31`, or name and version. Installed
    once per set and shared read-only."""
    npm_requirements: List[Union[str, Dict[str, Any]]]
    """npm packages: `lodash@4`, or name and version. Installed once per
    set and shared read-only."""
    default_requires_approval: bool
    """For clients that ask people before they run a tool; the engine only
    stores it."""
    enable_parallel_execution: bool
    """For clients that run tools side by side; the engine only stores it."""
    metadata: Dict[str, Any]
    """`sandbox` selects the backend. `lenient_arguments`: true binds
    arguments as Letta does: unknown names are dropped, and values of the
    wrong type are passed to the tool."""
    project_id: str
    """A label of the client; LETTA_PROJECT_ID in the run."""

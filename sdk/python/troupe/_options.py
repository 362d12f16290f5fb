"""What a run may be told. Members have the names that they have in the HTTP
interface; four shorter words stand for what is needed most."""
from __future__ import annotations

from typing import (Any, Dict, List, Literal, Mapping, Optional, Sequence,
                    TypedDict, Union)
import base64

from .types import Limits

Network = Union[Literal["off", "public"], Sequence[str], Mapping[str, Any]]
Seconds = Union[float, str]


class RunOptions(TypedDict, total=False):
    """Options of a run: of `run`, `start`, `stream`, `options` and `batch`."""

    timeout: Seconds
    """The longest that it may take: seconds, or a text such as "2m"."""
    memory: Union[int, str]
    """The most memory: bytes, or a text such as "256MiB"."""
    packages: Sequence[str]
    """Packages of the language: pip's, or npm's for TypeScript and JavaScript."""
    key: Union[str, bool]
    """An idempotency key: the same one again gets the same answer, and nothing
    runs twice. True: a random one, so that a lost answer is asked for again; it
    costs the engine a durable write. Always so where a run is not waited for."""
    network: Network
    """"off", "public", or the hosts that may be reached."""
    env: Mapping[str, str]
    """Environment variables of this run; they override all others."""
    files: Mapping[str, Union[str, bytes]]
    """Files that are put into the run's directory before it begins."""
    outputs: Sequence[str]
    """Which files come back: names, or patterns such as `out/*.csv`."""
    labels: Mapping[str, str]
    """Pairs that runs can be listed by."""
    backend: str
    """Where to run; otherwise the tool's own or the configured default."""
    isolation: Literal["strict", "standard", "best_effort", "off"]
    """The isolation that is required."""
    limits: Limits
    """All limits of this run; never above what the server allows."""
    language: Literal["python", "typescript", "javascript", "shell"]
    """Language of `source` and `code`; Python unless told."""
    json_schema: Mapping[str, Any]
    args_json_schema: Mapping[str, Any]
    agent_env: Mapping[str, str]
    agent_id: str
    agent_state: Mapping[str, Any]
    project_id: str
    pip_requirements: Sequence[str]
    npm_requirements: Sequence[str]
    return_char_limit: int
    sandbox_config_id: str
    stdin: str
    idempotent: bool
    priority: int
    deadline_seconds: Seconds


class RunInput(RunOptions, total=False):
    """What is run: one of the first five, and options."""

    source: str
    """A function to call, or a script."""
    tool_name: str
    """A stored tool, by its name."""
    tool_id: str
    """A stored tool, by its id."""
    command: str
    """A line for `sh -c`."""
    argv: Sequence[str]
    """A program with its arguments, without a shell."""
    function: str
    """Which function of the source is called."""
    args: Mapping[str, Any]
    """The arguments, by name."""


class RunItem(RunInput, total=False):
    """A whole run, where it may be code as well."""

    code: str
    """A snippet; the value of its last expression is the result."""


def run_body(options: Mapping[str, Any]) -> Dict[str, Any]:
    """Options as POST /v1/runs takes them, without `key`."""
    body = {name: value for name, value in options.items() if value is not None}
    body.pop("key", None)
    limits: Dict[str, Any] = dict(body.pop("limits", {}))
    for short, long in (("timeout", "wall_seconds"), ("memory", "memory_bytes")):
        if short in body:
            limits[long] = body.pop(short)
    if limits:
        body["limits"] = limits
    if "packages" in body:
        npm = body.get("language") in ("typescript", "javascript")
        name = "npm_requirements" if npm else "pip_requirements"
        body[name] = [*body.pop("packages"), *body.get(name, ())]
    if "network" in body:
        body["network"] = network_body(body["network"])
    if "files" in body:
        body["files"] = {name: _file(one) for name, one in body["files"].items()}
    return body


def key_of(options: Mapping[str, Any], attached: bool) -> Optional[str]:
    """The idempotency key of a run. One that is waited for has none unless it
    is told: it ends with its connection, and a key costs more than most runs."""
    key = options.get("key")
    if isinstance(key, str):
        return key
    return "" if attached and not key else None


def network_body(network: Any) -> Any:
    """A list of hosts is what may be reached, and nothing else."""
    if isinstance(network, (str, Mapping)):
        return network
    return {"allow": list(network)}


def given(**members: Any) -> Dict[str, Any]:
    """Those that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def _file(content: Union[str, bytes, Mapping[str, Any]]) -> Any:
    if isinstance(content, (bytes, bytearray)):
        return {"base64": base64.b64encode(content).decode()}
    return content


def strings(value: Optional[Sequence[str]]) -> Optional[List[str]]:
    return None if value is None else list(value)

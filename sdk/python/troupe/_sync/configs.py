# Made of ../_async/configs.py by make/sync.py: do not edit.
"""What runs of a kind of backend have in common, and their variables:
/v1/sandbox-configs, /v1/variables, /v1/agents."""
from __future__ import annotations

from typing import Any, List, Mapping, Optional

from .._options import given
from ..types import AgentVariable, SandboxConfig, Variable
from .http import Http, segment
from .pages import Pages
from .tools import if_match

CONFIGS = "/v1/sandbox-configs"
KINDS = ("local", "e2b", "modal", "daytona", "aio")


class Configs:
    """`troupe.configs`."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def put(self, type: str, config: Mapping[str, Any]) -> SandboxConfig:
        """Creates the config of a kind of backend, or replaces it."""
        return SandboxConfig.read(self._http.json(
            "POST", CONFIGS, body={"type": type, "config": config}))

    def default(self, type: str) -> SandboxConfig:
        """The config of a kind of backend, made with the defaults if need be."""
        return SandboxConfig.read(self._http.json(
            "POST", CONFIGS + "/default", body={"type": type}))

    def list(self, *, limit: Optional[int] = None,
             type: Optional[str] = None) -> Pages[SandboxConfig]:
        return Pages(self._http, CONFIGS, SandboxConfig,
                          {"limit": limit, "type": type})

    def get(self, id: str) -> SandboxConfig:
        return SandboxConfig.read(
            self._http.json("GET", f"{CONFIGS}/{segment(id)}"))

    def update(self, id: str, config: Mapping[str, Any], *,
                     revision: Optional[int] = None) -> SandboxConfig:
        """Changes some members; None resets one to its default."""
        return SandboxConfig.read(self._http.json(
            "PATCH", f"{CONFIGS}/{segment(id)}", body={"config": config},
            headers=if_match(revision)))

    def delete(self, id: str, *, revision: Optional[int] = None) -> None:
        """Deletes a config, and its variables."""
        self._http.call("DELETE", f"{CONFIGS}/{segment(id)}",
                              headers=if_match(revision))


class Variables:
    """The variables of a config. Values are stored encrypted and never read."""

    def __init__(self, http: Http, config: str) -> None:
        self._http = http
        self._config = config

    def set(self, key: str, value: str,
                  description: Optional[str] = None) -> Variable:
        """Creates a variable, or replaces the one of that name."""
        path = self._path()
        return Variable.read(self._http.json(
            "POST", path,
            body=given(key=key, value=value, description=description)))

    def update(self, key: str, *, name: Optional[str] = None,
                     value: Optional[str] = None,
                     description: Optional[str] = None) -> None:
        """Changes the name, the value or the description of a variable."""
        self._each(key, "PATCH", given(key=name, value=value,
                                             description=description))

    def list(self) -> List[Variable]:
        """All of them, without their values."""
        pages = Pages(self._http, self._path(), Variable, {})
        return pages.all()

    def delete(self, key: str) -> None:
        """By its name; nothing happens where there is none."""
        self._each(key, "DELETE", None)

    def _each(self, key: str, method: str, body: Any) -> None:
        for variable in self.list():
            if variable.key == key:
                self._http.call(
                    method, "/v1/variables/" + segment(variable.id), body=body)

    def _path(self) -> str:
        if self._config in KINDS:
            config = Configs(self._http).default(self._config)
            self._config = config.id
        return f"{CONFIGS}/{segment(self._config)}/variables"


class AgentVariables:
    """The variables of an agent: for runs with its `agent_id`."""

    def __init__(self, http: Http, agent: str) -> None:
        self._http = http
        self._path = f"/v1/agents/{segment(agent)}/variables"

    def set(self, /, **values: str) -> None:
        """Adds variables, or overwrites them."""
        self._http.call("PATCH", self._path, body={"values": values})

    def replace(self, values: Mapping[str, str]) -> None:
        """These, and no others."""
        self._http.call("PUT", self._path, body={"values": values})

    def list(self) -> List[AgentVariable]:
        """All of them, without their values."""
        return Pages(self._http, self._path, AgentVariable, {}).all()

    def delete(self, key: str) -> None:
        self._http.call("DELETE", f"{self._path}/{segment(key)}")

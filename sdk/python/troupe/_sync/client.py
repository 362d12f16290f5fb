# Made of ../_async/client.py by make/sync.py: do not edit.
"""The client: code, tools and commands at once; everything else by topic."""
from __future__ import annotations

from typing import (TYPE_CHECKING, Any, Iterator, Iterable,
                    Optional, Union)

from .._batch_item import BatchItem
from .._options import RunInput, RunItem, RunOptions, key_of, run_body
from .._server import Server
from ..errors import error_of_result
from ..types import Explanation, RunEvent, RunResult
from .batch import run_batch
from .configs import AgentVariables, Configs, Variables
from .engine import (Audit, Backends, Keys, Maintenance,
                     Organizations)
from .http import Http
from .packages import PackageSets
from .runs import Run, Runs
from .sandboxes import Sandboxes
from .snapshots import Snapshots
from .tools import Tools

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Troupe:
    """An engine. Without arguments it is the one of TROUPE_SERVER, or the one
    on this machine; the key is that of TROUPE_API_KEY.

    Any thread, loop and process may use it."""

    def __init__(self, server: Union[str, Server, None] = None, *,
                 api_key: Optional[str] = None, ca_file: Optional[str] = None,
                 max_retries: int = 2) -> None:
        if not isinstance(server, Server):
            server = Server(server, api_key, ca_file)
        http = Http(server, max_retries)
        self._http = http
        self.runs = Runs(http)
        self.tools = Tools(http)
        self.sandboxes = Sandboxes(http)
        self.snapshots = Snapshots(http)
        self.package_sets = PackageSets(http)
        self.configs = Configs(http)
        self.backends = Backends(http)
        self.keys = Keys(http)
        self.organizations = Organizations(http)
        self.audit = Audit(http)
        self.maintenance = Maintenance(http)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._http.server.url!r})"

    def __enter__(self) -> "Troupe":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that wait for another request."""
        self._http.close()

    # -- runs ------------------------------------------------------------------

    def run(self, code: Optional[str] = None,
                  **run: "Unpack[RunInput]") -> RunResult:
        """Runs a snippet, or what `source`, `tool_name`, `command` or `argv`
        say, and gives the result, also that of a failure. Leaving it (an
        exception, Ctrl-C, a cancelled task) ends the run."""
        body = run_body({"code": code, **run})
        return RunResult.read(self._http.json(
            "POST", "/v1/runs", body=body, within=None,
            key=key_of(run, attached=True),
            harmless=bool(run.get("idempotent"))))

    def call(self, tool: str, /, **args: Any) -> Any:
        """The value of a stored tool; ToolFailed if it has none."""
        return self.options().call(tool, **args)

    def options(self, **options: "Unpack[RunOptions]") -> "Call":
        """For `call`, whose keyword arguments are the tool's own."""
        return Call(self, options)

    def stream(self, code: Optional[str] = None,
                     **run: "Unpack[RunInput]") -> Iterator[RunEvent]:
        """As `run`, and what happens as it happens. The last event is `end`,
        with the result. Leaving it early ends the run."""
        body = run_body({"code": code, **run})
        for line in self._http.stream("POST", "/v1/runs",
                                            body=body,
                                            key=key_of(run, attached=True)):
            yield RunEvent.read(line)

    def start(self, code: Optional[str] = None,
                    **run: "Unpack[RunInput]") -> Run:
        """Begins a run that goes on without this program."""
        return self.runs.start(**_item(code, run))

    def explain(self, code: Optional[str] = None,
                      **run: "Unpack[RunInput]") -> Explanation:
        """What a run would do, without running it."""
        return self.runs.explain(**_item(code, run))

    def batch(self, runs: Iterable[RunItem], *,
              concurrency: Optional[int] = None,
              ordered: bool = False) -> Iterator[BatchItem]:
        """Many runs. Each comes when it has ended, or in order."""
        return run_batch(self._http, runs, concurrency, ordered)

    # -- variables -------------------------------------------------------------

    def variables(self, config: str = "local") -> Variables:
        """The variables of a config: of a kind of backend, or by its id."""
        return Variables(self._http, config)

    def agent_variables(self, agent: str) -> AgentVariables:
        """The variables of an agent."""
        return AgentVariables(self._http, agent)


class Call:
    """Calls of stored tools with options."""

    def __init__(self, client: Troupe, options: RunOptions) -> None:
        self._client, self._options = client, options

    def call(self, tool: str, /, **args: Any) -> Any:
        """The value of a stored tool; ToolFailed if it has none."""
        run: Any = {**self._options, "tool_name": tool, "args": args}
        return value_of(self._client.run(**run))


def value_of(result: RunResult) -> Any:
    """The value of a success; everything else is raised."""
    if not result.ok:
        raise error_of_result(result)
    return result.value


def _item(code: Optional[str], run: Any) -> Any:
    return run if code is None else {**run, "code": code}

# Made of ../_async/contexts.py by make/sync.py: do not edit.
"""Interpreters in a sandbox that keep what one cell defines for the next."""
from __future__ import annotations

from typing import (Any, Iterator, Callable, Dict, List, Mapping, Optional)

from .._options import Seconds, given
from ..errors import ConnectError, error_of_stream
from ..types import (CellEvent, CellResult, ContextInfo, ContextInterruption)
from .http import Http, segment

OnText = Callable[[str], object]


class Context:
    """`info` is what was told of it last; `refresh()` asks again."""

    def __init__(self, http: Http, sandbox: str, info: ContextInfo) -> None:
        self._http = http
        self.info = info
        self.id = info.id
        self._path = f"{sandbox}/contexts/{segment(info.id)}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r}, {self.info.language})"

    def refresh(self) -> ContextInfo:
        """What it is now."""
        return self._keep(self._http.json("GET", self._path))

    def run(self, code: str, *, timeout: Optional[Seconds] = None,
                  on_stdout: Optional[OnText] = None,
                  on_stderr: Optional[OnText] = None) -> CellResult:
        """A cell. Those of one context run one after the other."""
        return run_cell(self._http, self._path + "/execute",
                              given(code=code, timeout=timeout),
                              on_stdout, on_stderr)

    def stream(self, code: str, *, timeout: Optional[Seconds] = None
                     ) -> Iterator[CellEvent]:
        """A cell, and what it says as it says it; the last event is `end`."""
        for line in self._http.stream("POST", self._path + "/execute",
                                            body=given(code=code,
                                                       timeout=timeout)):
            yield CellEvent.read(line)

    def interrupt(self) -> bool:
        """Stops the cell that runs; what is defined stays. False: it has not
        stopped within two seconds."""
        data = self._http.json("POST", self._path + "/interrupt")
        return ContextInterruption.read(data).interrupted

    def restart(self) -> ContextInfo:
        """Begins afresh: all that is defined is lost."""
        return self._keep(self._http.json("POST", self._path + "/restart"))

    def delete(self) -> None:
        self._http.call("DELETE", self._path)

    def _keep(self, data: Dict[str, Any]) -> ContextInfo:
        self.info = ContextInfo.read(data)
        return self.info


class Contexts:
    """`sandbox.contexts`."""

    def __init__(self, http: Http, sandbox: str) -> None:
        self._http, self._sandbox = http, sandbox
        self._path = sandbox + "/contexts"

    def create(self, language: str = "python", *,
                     name: Optional[str] = None, cwd: Optional[str] = None,
                     env: Optional[Mapping[str, str]] = None,
                     auto_restart: Optional[bool] = None) -> Context:
        data = self._http.json("POST", self._path, body=given(
            language=language, name=name, cwd=cwd, env=env,
            auto_restart=auto_restart))
        return self._handle(data)

    def list(self) -> List[Context]:
        data = self._http.json("GET", self._path)
        return [self._handle(item) for item in data["items"]]

    def get(self, id: str) -> Context:
        return self._handle(
            self._http.json("GET", f"{self._path}/{segment(id)}"))

    def _handle(self, data: Dict[str, Any]) -> Context:
        return Context(self._http, self._sandbox, ContextInfo.read(data))


def run_cell(http: Http, path: str, body: Dict[str, Any],
                   on_stdout: Optional[OnText],
                   on_stderr: Optional[OnText]) -> CellResult:
    """A cell to its end; with listeners, its output also as it comes."""
    if on_stdout is None and on_stderr is None:
        return CellResult.read(http.json("POST", path, body=body,
                                               within=None))
    told: Dict[str, List[str]] = {"stdout": [], "stderr": []}
    listeners = {"stdout": on_stdout, "stderr": on_stderr}
    results: List[Dict[str, Any]] = []
    error: Optional[Dict[str, Any]] = None
    for line in http.stream("POST", path, body=body):
        kind = line.get("type")
        if kind in told:
            told[kind].append(line["text"])
            listener = listeners[kind]
            if listener is not None:
                listener(line["text"])
        elif kind == "error":
            if line.get("error"):  # of the engine, not of the cell
                raise error_of_stream(line["error"])
            error = line
        elif kind == "end":
            del line["type"]
            if line.get("error"):
                raise error_of_stream(line["error"])
            return CellResult.read({
                "stdout_missed": 0, "stderr_missed": 0, **line,
                "stdout": "".join(told["stdout"]),
                "stderr": "".join(told["stderr"]),
                "results": results, "error": error})
        else:
            results.append(line)
    raise ConnectError("the stream ended before the cell")

# Made of ../_async/runs.py by make/sync.py: do not edit.
"""Runs: /v1/runs."""
from __future__ import annotations

import time
from typing import (TYPE_CHECKING, Any, Iterator, Mapping, Optional,
                    Sequence)

from .._options import RunItem, key_of, run_body
from ..errors import ConnectError, error_of_stream, raise_if_waited
from ..types import (Explanation, RunEvent, RunLogs, RunRecord, RunResult,
                     RunSummary)
from .http import Http, segment
from .pages import Pages

if TYPE_CHECKING:
    from typing_extensions import Unpack

NOT_ATTACHED = {"prefer": "respond-async"}


class Run:
    """A run that goes on by itself. Dropping this does not end it."""

    def __init__(self, http: Http, id: str) -> None:
        self._http = http
        self.id = id
        self._path = "/v1/runs/" + segment(id)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    def get(self) -> RunRecord:
        """How far it is, and its result once it has ended."""
        return RunRecord.read(self._http.json("GET", self._path))

    def wait(self, seconds: Optional[float] = None) -> RunResult:
        """Its result. WaitTimeout when that takes longer; the run goes on."""
        try:
            for event in self._follow(0, seconds):
                if event.type == "end":
                    return result_of(event)
        except ConnectError as error:
            raise_if_waited(self.id, seconds, error)
        raise ConnectError(f"{self.id}: the stream ended before the run")

    def events(self, after: int = 0) -> Iterator[RunEvent]:
        """What happens, numbered; the last one is `end`. A lost connection is
        taken up again where it was."""
        for event in self._follow(after, None):
            yield event

    def logs(self) -> RunLogs:
        """What it has printed so far."""
        return RunLogs.read(self._http.json("GET", self._path + "/logs"))

    def cancel(self) -> RunRecord:
        """Ends it."""
        return RunRecord.read(
            self._http.json("POST", self._path + "/cancel"))

    def rerun(self) -> "Run":
        """The same once more, as a run of its own."""
        data = self._http.json("POST", self._path + "/rerun",
                                     headers=NOT_ATTACHED)
        return Run(self._http, data["id"])

    def request(self) -> Mapping[str, Any]:
        """What was asked for, without the values of variables."""
        return self._http.json("GET", self._path + "/request")

    def file(self, name: str) -> bytes:
        """A large file of its result, which is kept for a while."""
        answer = self._http.call("GET", self._path + "/files",
                                       query={"name": name})
        return answer.body

    def _follow(self, after: int,
                      seconds: Optional[float]) -> Iterator[RunEvent]:
        until = None if seconds is None else time.monotonic() + seconds
        losses = 0
        while True:
            left = None if until is None else max(0.0, until - time.monotonic())
            try:
                for line in self._http.stream(
                        "GET", self._path + "/events", within=left,
                        headers={"last-event-id": str(after)}):
                    event = RunEvent.read(line)
                    after, losses = event.sequence, 0
                    yield event
                    if event.type == "end":
                        return
                losses += 1  # the engine lets go of a reader that is too slow
            except ConnectError as error:
                losses += 1
                if losses > 3 or isinstance(error.__cause__, TimeoutError):
                    raise
            if losses > 3:
                return


class Runs:
    """`troupe.runs`: those of the past and the present."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self, *, limit: Optional[int] = None, phase: Optional[str] = None,
             status: Optional[str] = None, tool: Optional[str] = None,
             labels: Mapping[str, str] = {}) -> Pages[RunSummary]:
        """The newest first, without their values and outputs."""
        return Pages(self._http, "/v1/runs", RunSummary, {
            "limit": limit, "phase": phase, "status": status, "tool": tool,
            "label": [f"{name}={value}" for name, value in labels.items()]})

    def get(self, id: str) -> Run:
        """The handle of a run; nothing is asked yet."""
        return Run(self._http, id)

    def start(self, **run: "Unpack[RunItem]") -> Run:
        """Begins a run that goes on without this program."""
        data = self._http.json(
            "POST", "/v1/runs", body=run_body(run), headers=NOT_ATTACHED,
            key=key_of(run, attached=False))
        return Run(self._http, data["id"])

    def explain(self, **run: "Unpack[RunItem]") -> Explanation:
        """What a run would do, without running it."""
        return Explanation.read(self._http.json(
            "POST", "/v1/runs/explain", body=run_body(run), key="",
            harmless=True))


def result_of(event: RunEvent) -> RunResult:
    """What the last event brought: a result, or the engine's failure."""
    if event.result is not None:
        return event.result
    problem = event.error
    raise error_of_stream({"code": "internal", "detail": "the run has no result"}
                          if problem is None else
                          {"code": problem.code, "detail": problem.detail})


__all__: Sequence[str] = ["Run", "Runs", "result_of"]

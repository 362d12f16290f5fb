# Made of ../_async/sandbox.py by make/sync.py: do not edit.
"""One sandbox: its life, and the ways into it."""
from __future__ import annotations

from typing import (Any, Iterator, Dict, List, Mapping, Optional, Sequence,
                    Union)

from .._options import Seconds, given
from ..errors import CommandFailed, error_of_stream
from ..types import (CellResult, ExecResult, ProcessInfo, SandboxEvent,
                     SandboxInfo, Snapshot)
from .contexts import Contexts, OnText, run_cell
from .files import Files
from .http import Http, segment
from .ports import Ports
from .processes import Process, process_body


class Sandbox:
    """`info` is what was told of it last; `refresh()` asks again."""

    def __init__(self, http: Http, info: SandboxInfo) -> None:
        self._http = http
        self.info = info
        self.id = info.id
        self._path = "/v1/sandboxes/" + segment(info.id)
        self.files = Files(http, self._path)
        self.contexts = Contexts(http, self._path)
        self.ports = Ports(http, self._path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r}, {self.info.state})"

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.delete()

    # -- its life --------------------------------------------------------------

    def refresh(self) -> SandboxInfo:
        """What it is now."""
        return self._keep(self._http.json("GET", self._path))

    def connect(self, timeout: Optional[Seconds] = None) -> SandboxInfo:
        """Sees to it that it runs. Its end moves only with `timeout`."""
        return self._act("/connect", given(timeout=timeout))

    def renew(self, timeout: Seconds) -> SandboxInfo:
        """It lives for so long from now."""
        return self._act("/renew", {"timeout": timeout})

    def change(self, *, metadata: Optional[Mapping[str, Optional[str]]] = None,
                     timeout: Optional[Seconds] = None,
                     on_timeout: Optional[str] = None,
                     idle_timeout: Optional[Seconds] = None,
                     on_idle: Optional[str] = None,
                     auto_resume: Optional[bool] = None) -> SandboxInfo:
        """Changes labels and clocks; what is left out stays."""
        return self._keep(self._http.json("PATCH", self._path, body=given(
            metadata=metadata, timeout=timeout, on_timeout=on_timeout,
            idle_timeout=idle_timeout, on_idle=on_idle,
            auto_resume=auto_resume)))

    def pause(self) -> SandboxInfo:
        """It stands still; its processes keep their memory."""
        return self._act("/pause")

    def resume(self) -> SandboxInfo:
        return self._act("/resume")

    def delete(self) -> None:
        """Ends it with all that is in it. A second time nothing happens."""
        self._http.call("DELETE", self._path, within=None)

    def events(self, after: int = 0,
                     follow: bool = False) -> Iterator[SandboxEvent]:
        """What happened to it; with `follow` also what will, to its end."""
        if not follow:
            data = self._http.json("GET", self._path + "/events",
                                         query={"after": after})
            for item in data["items"]:
                yield SandboxEvent.read(item)
            return
        for line in self._http.stream("GET", self._path + "/events",
                                            query={"after": after}):
            if line.get("type") == "error":
                raise error_of_stream(line["error"])
            if line.get("type") != "end":
                yield SandboxEvent.read(line)

    # -- its files as a whole --------------------------------------------------

    def snapshot(self, name: Optional[str] = None) -> Snapshot:
        """Keeps its files as they are now."""
        return Snapshot.read(self._http.json(
            "POST", self._path + "/snapshots", body=given(name=name),
            within=None))

    def rollback(self, snapshot: str) -> SandboxInfo:
        """Puts the files of one of its snapshots back; all processes end."""
        return self._act("/rollback", {"snapshot": snapshot})

    def fork(self, count: int = 1, *, timeout: Optional[Seconds] = None,
                   metadata: Optional[Mapping[str, str]] = None,
                   env: Optional[Mapping[str, str]] = None
                   ) -> List["Sandbox"]:
        """Sandboxes with the same files; processes do not come along. Raises
        if one could not be made, when the others have been deleted."""
        data = self._http.json(
            "POST", self._path + "/fork", within=None,
            body=given(count=count, timeout=timeout, metadata=metadata, env=env))
        made = [Sandbox(self._http, SandboxInfo.read(item["sandbox"]))
                for item in data["items"] if item.get("sandbox")]
        failed = [item["error"] for item in data["items"] if item.get("error")]
        if failed:
            for sandbox in made:
                sandbox.delete()
            raise error_of_stream(failed[0])
        return made

    # -- what runs in it -------------------------------------------------------

    def exec(self, command: Union[str, Sequence[str]], *,
                   cwd: Optional[str] = None,
                   env: Optional[Mapping[str, str]] = None,
                   stdin: Optional[str] = None,
                   timeout: Optional[Seconds] = None,
                   tag: Optional[str] = None, check: bool = False) -> ExecResult:
        """A program, to its end: a line for the shell, or a list without one.
        With `check` a failure is raised (CommandFailed)."""
        result = ExecResult.read(self._http.json(
            "POST", self._path + "/exec", within=None,
            body=process_body(command, cwd, env, stdin, None, timeout, tag)))
        if check and not result.ok:
            raise CommandFailed(result)
        return result

    def start(self, command: Union[str, Sequence[str]], *,
                    cwd: Optional[str] = None,
                    env: Optional[Mapping[str, str]] = None,
                    stdin: Optional[str] = None, open_stdin: bool = False,
                    timeout: Optional[Seconds] = None,
                    tag: Optional[str] = None) -> Process:
        """A program that goes on beside others. With `open_stdin` more input
        can be sent."""
        body = process_body(command, cwd, env, stdin, open_stdin, timeout, tag)
        data = self._http.json("POST", self._path + "/processes", body=body)
        return Process(self._http, self._path, ProcessInfo.read(data))

    def processes(self) -> List[Process]:
        """Those that run, and those that ended a while ago."""
        data = self._http.json("GET", self._path + "/processes")
        return [Process(self._http, self._path, ProcessInfo.read(item))
                for item in data["items"]]

    def run(self, code: str, *, language: str = "python",
                  timeout: Optional[Seconds] = None,
                  on_stdout: Optional[OnText] = None,
                  on_stderr: Optional[OnText] = None) -> CellResult:
        """A cell in the default context of its language: what it defines is
        there for the next one. Code that raises is a result."""
        return run_cell(
            self._http, self._path + "/execute",
            given(code=code, language=language, timeout=timeout),
            on_stdout, on_stderr)

    def _act(self, what: str, body: Optional[Dict[str, Any]] = None
                   ) -> SandboxInfo:
        return self._keep(self._http.json("POST", self._path + what,
                                                body=body, within=None))

    def _keep(self, data: Dict[str, Any]) -> SandboxInfo:
        self.info = SandboxInfo.read(data)
        return self.info

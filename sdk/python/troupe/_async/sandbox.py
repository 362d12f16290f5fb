"""One sandbox: its life, and the ways into it."""
from __future__ import annotations

from typing import (Any, AsyncIterator, Dict, List, Mapping, Optional, Sequence,
                    Union)

from .._options import Seconds, given
from ..errors import CommandFailed, error_of_stream
from ..types import (CellResult, ExecResult, ProcessInfo, SandboxEvent,
                     SandboxInfo, Snapshot)
from .contexts import AsyncContexts, OnText, run_cell
from .files import AsyncFiles
from .http import AsyncHttp, segment
from .ports import AsyncPorts
from .processes import AsyncProcess, process_body


class AsyncSandbox:
    """`info` is what was told of it last; `refresh()` asks again."""

    def __init__(self, http: AsyncHttp, info: SandboxInfo) -> None:
        self._http = http
        self.info = info
        self.id = info.id
        self._path = "/v1/sandboxes/" + segment(info.id)
        self.files = AsyncFiles(http, self._path)
        self.contexts = AsyncContexts(http, self._path)
        self.ports = AsyncPorts(http, self._path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r}, {self.info.state})"

    async def __aenter__(self) -> "AsyncSandbox":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.delete()

    # -- its life --------------------------------------------------------------

    async def refresh(self) -> SandboxInfo:
        """What it is now."""
        return self._keep(await self._http.json("GET", self._path))

    async def connect(self, timeout: Optional[Seconds] = None) -> SandboxInfo:
        """Sees to it that it runs. Its end moves only with `timeout`."""
        return await self._act("/connect", given(timeout=timeout))

    async def renew(self, timeout: Seconds) -> SandboxInfo:
        """It lives for so long from now."""
        return await self._act("/renew", {"timeout": timeout})

    async def change(self, *, metadata: Optional[Mapping[str, Optional[str]]] = None,
                     timeout: Optional[Seconds] = None,
                     on_timeout: Optional[str] = None,
                     idle_timeout: Optional[Seconds] = None,
                     on_idle: Optional[str] = None,
                     auto_resume: Optional[bool] = None) -> SandboxInfo:
        """Changes labels and clocks; what is left out stays."""
        return self._keep(await self._http.json("PATCH", self._path, body=given(
            metadata=metadata, timeout=timeout, on_timeout=on_timeout,
            idle_timeout=idle_timeout, on_idle=on_idle,
            auto_resume=auto_resume)))

    async def pause(self) -> SandboxInfo:
        """It stands still; its processes keep their memory."""
        return await self._act("/pause")

    async def resume(self) -> SandboxInfo:
        return await self._act("/resume")

    async def delete(self) -> None:
        """Ends it with all that is in it. A second time nothing happens."""
        await self._http.call("DELETE", self._path, within=None)

    async def events(self, after: int = 0,
                     follow: bool = False) -> AsyncIterator[SandboxEvent]:
        """What happened to it; with `follow` also what will, to its end."""
        if not follow:
            data = await self._http.json("GET", self._path + "/events",
                                         query={"after": after})
            for item in data["items"]:
                yield SandboxEvent.read(item)
            return
        async for line in self._http.stream("GET", self._path + "/events",
                                            query={"after": after}):
            if line.get("type") == "error":
                raise error_of_stream(line["error"])
            if line.get("type") != "end":
                yield SandboxEvent.read(line)

    # -- its files as a whole --------------------------------------------------

    async def snapshot(self, name: Optional[str] = None) -> Snapshot:
        """Keeps its files as they are now."""
        return Snapshot.read(await self._http.json(
            "POST", self._path + "/snapshots", body=given(name=name),
            within=None))

    async def rollback(self, snapshot: str) -> SandboxInfo:
        """Puts the files of one of its snapshots back; all processes end."""
        return await self._act("/rollback", {"snapshot": snapshot})

    async def fork(self, count: int = 1, *, timeout: Optional[Seconds] = None,
                   metadata: Optional[Mapping[str, str]] = None,
                   env: Optional[Mapping[str, str]] = None
                   ) -> List["AsyncSandbox"]:
        """Sandboxes with the same files; processes do not come along. Raises
        if one could not be made, when the others have been deleted."""
        data = await self._http.json(
            "POST", self._path + "/fork", within=None,
            body=given(count=count, timeout=timeout, metadata=metadata, env=env))
        made = [AsyncSandbox(self._http, SandboxInfo.read(item["sandbox"]))
                for item in data["items"] if item.get("sandbox")]
        failed = [item["error"] for item in data["items"] if item.get("error")]
        if failed:
            for sandbox in made:
                await sandbox.delete()
            raise error_of_stream(failed[0])
        return made

    # -- what runs in it -------------------------------------------------------

    async def exec(self, command: Union[str, Sequence[str]], *,
                   cwd: Optional[str] = None,
                   env: Optional[Mapping[str, str]] = None,
                   stdin: Optional[str] = None,
                   timeout: Optional[Seconds] = None,
                   tag: Optional[str] = None, check: bool = False) -> ExecResult:
        """A program, to its end: a line for the shell, or a list without one.
        With `check` a failure is raised (CommandFailed)."""
        result = ExecResult.read(await self._http.json(
            "POST", self._path + "/exec", within=None,
            body=process_body(command, cwd, env, stdin, None, timeout, tag)))
        if check and not result.ok:
            raise CommandFailed(result)
        return result

    async def start(self, command: Union[str, Sequence[str]], *,
                    cwd: Optional[str] = None,
                    env: Optional[Mapping[str, str]] = None,
                    stdin: Optional[str] = None, open_stdin: bool = False,
                    timeout: Optional[Seconds] = None,
                    tag: Optional[str] = None) -> AsyncProcess:
        """A program that goes on beside others. With `open_stdin` more input
        can be sent."""
        body = process_body(command, cwd, env, stdin, open_stdin, timeout, tag)
        data = await self._http.json("POST", self._path + "/processes", body=body)
        return AsyncProcess(self._http, self._path, ProcessInfo.read(data))

    async def processes(self) -> List[AsyncProcess]:
        """Those that run, and those that ended a while ago."""
        data = await self._http.json("GET", self._path + "/processes")
        return [AsyncProcess(self._http, self._path, ProcessInfo.read(item))
                for item in data["items"]]

    async def run(self, code: str, *, language: str = "python",
                  timeout: Optional[Seconds] = None,
                  on_stdout: Optional[OnText] = None,
                  on_stderr: Optional[OnText] = None) -> CellResult:
        """A cell in the default context of its language: what it defines is
        there for the next one. Code that raises is a result."""
        return await run_cell(
            self._http, self._path + "/execute",
            given(code=code, language=language, timeout=timeout),
            on_stdout, on_stderr)

    async def _act(self, what: str, body: Optional[Dict[str, Any]] = None
                   ) -> SandboxInfo:
        return self._keep(await self._http.json("POST", self._path + what,
                                                body=body, within=None))

    def _keep(self, data: Dict[str, Any]) -> SandboxInfo:
        self.info = SandboxInfo.read(data)
        return self.info

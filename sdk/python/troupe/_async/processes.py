"""Programs that run in a sandbox beside each other."""
from __future__ import annotations

from typing import (Any, AsyncIterator, Dict, Mapping, Optional, Sequence,
                    Union)

from .._options import Seconds, given
from ..errors import ConnectError, error_of_stream, raise_if_waited
from ..types import ProcessEvent, ProcessInfo, ProcessOutput
from .http import AsyncHttp, segment


class AsyncProcess:
    """`info` is what was told of it last; `refresh()` asks again. Going through
    it gives its output as it comes."""

    def __init__(self, http: AsyncHttp, sandbox: str, info: ProcessInfo) -> None:
        self._http = http
        self.info = info
        self.id = info.id
        self._path = f"{sandbox}/processes/{segment(info.id)}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r}, {self.info.state})"

    async def refresh(self) -> ProcessInfo:
        """What it is now."""
        self.info = ProcessInfo.read(await self._http.json("GET", self._path))
        return self.info

    async def __aiter__(self) -> AsyncIterator[str]:
        async for event in self.events():
            if event.type == "output" and event.data:
                yield event.data

    async def events(self, *, within: Optional[float] = None
                     ) -> AsyncIterator[ProcessEvent]:
        """All of its output that is kept and what follows, then `end`."""
        async for line in self._http.stream("GET", self._path + "/output",
                                            query={"follow": True},
                                            within=within):
            if line.get("type") == "error":
                raise error_of_stream(line["error"])
            event = ProcessEvent.read(line)
            if event.process is not None:
                self.info = event.process
            yield event

    async def read(self, stream: str = "stdout", *, offset: int = 0,
                   encoding: str = "text") -> ProcessOutput:
        """What it has said so far; `next` of the answer is where to go on."""
        return ProcessOutput.read(await self._http.json(
            "GET", self._path + "/output",
            query={"stream": stream, "from": offset, "encoding": encoding}))

    async def wait(self, seconds: Optional[float] = None) -> ProcessInfo:
        """How it ended. WaitTimeout when that takes longer; it goes on."""
        try:
            async for event in self.events(within=seconds):
                if event.process is not None:
                    return event.process
        except ConnectError as error:
            raise_if_waited(self.id, seconds, error)
        return await self.refresh()

    async def send(self, data: Union[str, bytes]) -> None:
        """Writes to its standard input (see `open_stdin`)."""
        content = data.encode() if isinstance(data, str) else data
        await self._http.call("POST", self._path + "/input", content=content)

    async def close_stdin(self) -> None:
        """There will be no more input."""
        await self._http.call("POST", self._path + "/close")

    async def signal(self, signal: Union[str, int]) -> None:
        """To it and all that it started: a name such as INT, or a number."""
        await self._http.call("POST", self._path + "/signal",
                              body={"signal": signal})

    async def kill(self) -> None:
        """Kills it if need be, and forgets it with its output."""
        await self._http.call("DELETE", self._path)


def process_body(command: Union[str, Sequence[str]], cwd: Optional[str],
                 env: Optional[Mapping[str, str]], stdin: Optional[str],
                 open_stdin: Optional[bool], timeout: Optional[Seconds],
                 tag: Optional[str]) -> Dict[str, Any]:
    body = given(cwd=cwd, env=env, stdin=stdin, open_stdin=open_stdin or None,
                 timeout=timeout, tag=tag)
    if isinstance(command, str):
        body["command"] = command
    else:
        body["argv"] = list(command)
    return body

"""Connections to the engine by asyncio."""
from __future__ import annotations

import asyncio
import time
import weakref
from typing import List, Optional, Tuple

from ._server import Server
from ._sockets import IDLE_FOR, MOST_IDLE, OPEN_WITHIN, find_dead_peers


class AsyncConnection:
    def __init__(self, reader: asyncio.StreamReader,
                 writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.idle_since = 0.0

    @classmethod
    async def open(cls, server: Server) -> "AsyncConnection":
        if server.socket is not None:
            opening = asyncio.open_unix_connection(server.socket)
        else:
            opening = asyncio.open_connection(server.host, server.port,
                                              ssl=server.tls)
        try:
            reader, writer = await asyncio.wait_for(opening, OPEN_WITHIN)
        except asyncio.TimeoutError as error:
            raise TimeoutError("timed out") from error
        if server.socket is None:
            find_dead_peers(writer.get_extra_info("socket"))
        return cls(reader, writer)

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def receive(self, within: Optional[float]) -> bytes:
        """The next bytes, none at the end; TimeoutError after that many
        seconds."""
        if within is None:
            return await self._reader.read(65536)
        try:
            return await asyncio.wait_for(self._reader.read(65536), within)
        except asyncio.TimeoutError as error:
            raise TimeoutError from error

    def is_alive(self) -> bool:
        """Whether it can take another request."""
        return (time.monotonic() - self.idle_since <= IDLE_FOR
                and not self._reader.at_eof()
                and not self._writer.is_closing())

    def close(self) -> None:
        self._writer.close()


class AsyncPool:
    """Connections that wait for another request, per running loop: one client
    works in several loops, and after one of them has ended."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._idle: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, List[AsyncConnection]]" = \
            weakref.WeakKeyDictionary()

    def _of_this_loop(self) -> List[AsyncConnection]:
        return self._idle.setdefault(asyncio.get_running_loop(), [])

    async def take(self, fresh: bool) -> Tuple[AsyncConnection, bool]:
        """A connection, and whether it was used before."""
        idle = self._of_this_loop()
        while idle and not fresh:
            connection = idle.pop()
            if connection.is_alive():
                return connection, True
            connection.close()
        return await AsyncConnection.open(self._server), False

    def give_back(self, connection: AsyncConnection) -> None:
        connection.idle_since = time.monotonic()
        idle = self._of_this_loop()
        if len(idle) < MOST_IDLE:
            idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        idle = self._idle.pop(asyncio.get_running_loop(), [])
        for connection in idle:
            connection.close()

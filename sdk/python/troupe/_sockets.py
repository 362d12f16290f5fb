"""Connections to the engine by sockets."""
from __future__ import annotations

import os
import select
import socket
import threading
import time
from typing import List, Optional, Tuple

from ._server import Server

OPEN_WITHIN = 10.0  # seconds, for one address
IDLE_FOR = 55.0  # the engine closes idle ones after a minute
MOST_IDLE = 64


class Connection:
    def __init__(self, raw: socket.socket) -> None:
        self._socket = raw
        self.idle_since = 0.0

    @classmethod
    def open(cls, server: Server) -> "Connection":
        if server.socket is not None:
            raw = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            raw.settimeout(OPEN_WITHIN)
            try:
                raw.connect(server.socket)
            except BaseException:
                raw.close()
                raise
            return cls(raw)
        raw = socket.create_connection((server.host, server.port), OPEN_WITHIN)
        try:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            find_dead_peers(raw)
            if server.tls is not None:
                raw = server.tls.wrap_socket(raw, server_hostname=server.host)
        except BaseException:
            raw.close()
            raise
        return cls(raw)

    def send(self, data: bytes) -> None:
        self._socket.settimeout(None)
        self._socket.sendall(data)

    def receive(self, within: Optional[float]) -> bytes:
        """The next bytes, none at the end; TimeoutError after that many
        seconds."""
        self._socket.settimeout(within)
        try:
            return self._socket.recv(65536)
        except socket.timeout as error:
            raise TimeoutError from error

    def is_alive(self) -> bool:
        """Whether it can take another request: nothing came meanwhile, not
        even its end."""
        if time.monotonic() - self.idle_since > IDLE_FOR:
            return False
        return not select.select([self._socket], [], [], 0)[0]

    def close(self) -> None:
        self._socket.close()


class Pool:
    """Connections that wait for another request. Any thread may use it; a
    process that was forked off begins with an empty one."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._idle: List[Connection] = []
        self._process = os.getpid()

    def take(self, fresh: bool) -> Tuple[Connection, bool]:
        """A connection, and whether it was used before."""
        while not fresh:
            with self._lock:
                if self._process != os.getpid():
                    self._idle, self._process = [], os.getpid()
                if not self._idle:
                    break
                connection = self._idle.pop()
            if connection.is_alive():
                return connection, True
            connection.close()
        return Connection.open(self._server), False

    def give_back(self, connection: Connection) -> None:
        connection.idle_since = time.monotonic()
        with self._lock:
            if self._process == os.getpid() and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def find_dead_peers(raw: socket.socket) -> None:
    """A run may take as long as it likes; a machine that is gone is noticed
    after about a minute all the same."""
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10),
                        ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            raw.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

"""What the tests share: an engine of their own, and a server that answers what
it is told."""
from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.dont_write_bytecode = True

BINARY = os.environ.get("TROUPE_BINARY", "")
OPERATOR = "/operator.sock"


class Engine:
    """The built engine on a port of its own, with data of its own."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="troupe-sdk-")
        data = os.path.join(self.directory, "data")
        log = os.path.join(self.directory, "log")
        with open(log, "wb") as file:
            self.process = subprocess.Popen(
                [BINARY, "serve", "--http.listen=127.0.0.1:0", "--data-dir", data,
                 "--engine.drain-timeout=1s"],
                cwd=self.directory, stdout=file, stderr=file,
                # A current Node, where ./dev has brought one for the engine.
                env={name: os.environ[name] for name in
                     ("PATH", "TROUPE_LOCAL_NODE") if name in os.environ})
        until = time.monotonic() + 30
        self.url = None
        while self.url is None:
            with open(log, encoding="utf-8", errors="replace") as file:
                found = re.search(r"serves (http://\S+)", file.read())
            if found:
                self.url = found[1]
            elif self.process.poll() is not None or time.monotonic() > until:
                with open(log, encoding="utf-8", errors="replace") as file:
                    raise RuntimeError("the engine did not start:\n" + file.read())
            time.sleep(0.02)  # for the line that it prints
        self.log = log
        self.operator = "unix:" + data + OPERATOR

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def log_text(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()


DRIVEN = set()


def note_requests():
    """Keeps which operations the tests have asked for."""
    from troupe._async import http as later
    from troupe._sync import http as now
    for module in (later, now):
        def noted(method, path, *more, _request=module._request):
            DRIVEN.add((method, path))
            return _request(method, path, *more)
        module._request = noted


_engine = None


def engine():
    """The one engine of all tests of this process."""
    global _engine
    if not BINARY:
        raise unittest.SkipTest("TROUPE_BINARY names no engine")
    if _engine is None:
        _engine = Engine()
    return _engine


def stop_engine():
    global _engine
    if _engine is not None:
        _engine.stop()
        _engine = None


class Script:
    """A server that answers each request with the next of these: bytes, or None
    for a connection that is closed without a word. It keeps what was asked."""

    def __init__(self, answers):
        self._answers = list(answers)
        self.requests = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self):
        # A thread that accepts is not woken by a close.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self._converse(connection)

    def _converse(self, connection):
        while self._answers:
            request = self._read(connection)
            if request is None:
                return
            self.requests.append(request)
            answer = self._answers.pop(0)
            if answer is None:
                return
            connection.sendall(answer)
            if b"connection: close" in answer:
                return

    @staticmethod
    def _read(connection):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return None
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.I)
        while length and len(body) < int(length[1]):
            body += connection.recv(65536)
        return head.decode() + "\n\n" + body.decode()

"""Requests to the engine: connections, retries, answers and streams."""
from __future__ import annotations

import asyncio
import json
import logging
import time
from typing import Any, AsyncIterator, Dict, Mapping, NamedTuple, Optional
from urllib.parse import quote, urlencode

from .. import _retry
from .._http1 import ResponseReader, request_bytes
from .._server import Server
from .._streams import AsyncConnection, AsyncPool
from .._values import encode
from ..errors import (ApiError, ConnectError, UnexpectedAnswer,
                      error_of_answer)

log = logging.getLogger("troupe")
ANSWER_WITHIN = 60.0  # seconds, where nothing runs
LONGEST_LINE = 256 * 1024 * 1024  # far above what an engine lets a result have


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Dict[str, Any]:
        return parse(self.body)


class Request(NamedTuple):
    method: str
    path: str
    query: Mapping[str, Any]
    headers: Dict[str, str]
    body: Optional[bytes]
    within: Optional[float]
    harmless: bool  # to carry out twice

    @property
    def repeatable(self) -> bool:
        """Whether it may be sent again when its answer was lost."""
        return (self.harmless or "idempotency-key" in self.headers
                or self.method in ("GET", "HEAD", "PUT", "DELETE"))


class AsyncExchange:
    """One request on one connection, and its answer."""

    def __init__(self, method: str) -> None:
        self.reader = ResponseReader(method)
        self.connection: Optional[AsyncConnection] = None
        self.reused = False
        self.sent = False
        self._until: Optional[float] = None

    async def begin(self, pool: AsyncPool, fresh: bool, data: bytes,
                    within: Optional[float]) -> None:
        """Sends the request, and reads the head of its answer."""
        self.connection, self.reused = await pool.take(fresh)
        if within is not None:
            self._until = time.monotonic() + within
        self.sent = True
        await self.connection.send(data)
        while not self.reader.status:
            await self.more()

    async def more(self) -> None:
        assert self.connection is not None
        left = None if self._until is None else \
            max(0.001, self._until - time.monotonic())
        self.reader.feed(await self.connection.receive(left))

    async def rest(self) -> bytes:
        """The whole body."""
        pieces = [self.reader.take()]
        while not self.reader.done:
            await self.more()
            pieces.append(self.reader.take())
        return b"".join(pieces)

    def end(self, pool: AsyncPool) -> None:
        """Keeps the connection if it can take another request. Else it is
        closed, which ends what the request had begun."""
        connection, self.connection = self.connection, None
        if connection is None:
            return
        if self.reader.done and self.reader.reusable:
            pool.give_back(connection)
        else:
            connection.close()


class AsyncHttp:
    def __init__(self, server: Server, max_retries: int) -> None:
        self.server = server
        self._max_retries = max_retries
        self._pool = AsyncPool(server)

    def close(self) -> None:
        self._pool.close()

    async def call(self, method: str, path: str, *,
                   query: Mapping[str, Any] = {},
                   body: Any = None, content: Optional[bytes] = None,
                   headers: Mapping[str, str] = {}, key: Optional[str] = None,
                   within: Optional[float] = ANSWER_WITHIN,
                   harmless: bool = False) -> Answer:
        """A request and its whole answer. `within`: seconds to wait for it;
        None: as long as it takes. `key`: of a POST; a random one unless told,
        none if it is empty."""
        request = _request(method, path, query, body, content, headers, key,
                           within, harmless)
        exchange, data = await self._send(request, whole=True)
        return Answer(exchange.reader.status, exchange.reader.headers, data)

    async def json(self, method: str, path: str, **options: Any) -> Dict[str, Any]:
        """The answer as an object."""
        return (await self.call(method, path, **options)).json()

    async def stream(self, method: str, path: str, *,
                     query: Mapping[str, Any] = {}, body: Any = None,
                     headers: Mapping[str, str] = {}, key: Optional[str] = None,
                     within: Optional[float] = None
                     ) -> AsyncIterator[Dict[str, Any]]:
        """The lines of a stream as they come. Leaving it early closes the
        connection."""
        request = _request(method, path, query, body, None,
                           {"accept": "application/x-ndjson", **headers}, key,
                           within, False)
        exchange, _ = await self._send(request, whole=False)
        try:
            rest = b""
            while True:
                rest += exchange.reader.take()
                *lines, rest = rest.split(b"\n")
                for line in lines:
                    if line.strip():
                        yield parse(line)
                if exchange.reader.done:
                    return
                if len(rest) > LONGEST_LINE:
                    raise UnexpectedAnswer("a line of the stream has no end")
                try:
                    await exchange.more()
                except OSError as error:
                    raise ConnectError(f"the stream was lost: {error}") from error
        finally:
            exchange.end(self._pool)

    async def _send(self, request: Request,
                    whole: bool) -> "tuple[AsyncExchange, bytes]":
        """Sends it until an answer comes that is worth having."""
        target = self.server.prefix + request.path
        if request.query:
            target += "?" + urlencode(request.query, doseq=True)
        data = request_bytes(request.method, target,
                             self.server.headers(request.headers), request.body)
        tries, fresh = 0, False
        while True:
            refused: Optional[ApiError] = None
            exchange = AsyncExchange(request.method)
            begun = time.monotonic()
            try:
                await exchange.begin(self._pool, fresh, data, request.within)
                status = exchange.reader.status
                good = 200 <= status < 300
                answer = await exchange.rest() if whole or not good else b""
                if whole or not good:
                    exchange.end(self._pool)
            except OSError as error:
                exchange.end(self._pool)
                log.debug("%s %s: %s", request.method, request.path, error)
                repeatable = request.repeatable or not exchange.sent
                if exchange.reused and not fresh and repeatable:
                    fresh = True  # it had died while it was idle: no try of ours
                    continue
                final = exchange.sent if isinstance(error, TimeoutError) else \
                    "CERTIFICATE_VERIFY_FAILED" in str(error)
                if final or tries >= self._max_retries or not repeatable:
                    raise self._lost(request, error) from error
            except BaseException:
                exchange.end(self._pool)
                raise
            else:
                log.debug("%s %s: %d in %.1f ms", request.method, request.path,
                          status, (time.monotonic() - begun) * 1000)
                if good or (request.method == "DELETE" and tries
                            and status in (404, 410)):  # our first try did it
                    return exchange, answer
                problem = error_of_answer(status, exchange.reader.headers, answer)
                if (not isinstance(problem, ApiError)
                        or tries >= self._max_retries
                        or not _retry.worth_repeating(
                            problem, request.repeatable, tries > 0)):
                    raise problem
                refused = problem
            await asyncio.sleep(_retry.pause(tries, refused))
            tries += 1

    def _lost(self, request: Request, error: OSError) -> ConnectError:
        if isinstance(error, TimeoutError):
            return ConnectError(f"{self.server.url} gave no answer to "
                                f"{request.method} {request.path} in time")
        if isinstance(error, ConnectionRefusedError):
            return ConnectError(
                f"no engine listens at {self.server.url}; start one (troupe "
                "serve), or set TROUPE_SERVER")
        text = f"{self.server.url}: {error}"
        if "CERTIFICATE_VERIFY_FAILED" in text:
            text += "; name its authority by ca_file or TROUPE_CA_FILE"
        elif "WRONG_VERSION_NUMBER" in text:
            text += "; it speaks http and not https, perhaps"
        return ConnectError(text)


def _request(method: str, path: str, query: Mapping[str, Any], body: Any,
             content: Optional[bytes], headers: Mapping[str, str],
             key: Optional[str], within: Optional[float],
             harmless: bool) -> Request:
    sent = dict(headers)
    if method == "POST" and key != "":
        sent["idempotency-key"] = key or _retry.new_key()
    if body is not None:
        content = encode(body)
        sent["content-type"] = "application/json"
    elif content is not None:
        sent["content-type"] = "application/octet-stream"
    asked = {name: ("true" if value is True else "false" if value is False
                    else value)
             for name, value in query.items() if value is not None}
    return Request(method, path, asked, sent, content, within, harmless)


def segment(text: str) -> str:
    """A word as one segment of a path, whatever is in it."""
    if text in ("", ".", ".."):
        raise ValueError(f"{text!r} is not an id")
    return quote(text, safe="")


def parse(data: bytes) -> Dict[str, Any]:
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UnexpectedAnswer("the answer is not an object of JSON; is the "
                               "address that of an engine?")
    return found

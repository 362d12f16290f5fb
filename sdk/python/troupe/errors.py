"""What can go wrong. Everything is a TroupeError; its text is one line that says
what is wrong, why, and what to do."""
from __future__ import annotations

import json
from typing import (TYPE_CHECKING, Any, Dict, List, Mapping, NoReturn, Optional,
                    Type)

if TYPE_CHECKING:
    from .types import ExecResult, Mistake, RunResult


class TroupeError(Exception):
    """Everything that this package raises of its own."""


class ConnectError(TroupeError):
    """The engine was not reached, or the connection to it was lost."""


class UnexpectedAnswer(TroupeError):
    """What answered does not speak as an engine does: a proxy, perhaps, or a
    wrong address."""


class WaitTimeout(TroupeError):
    """The wait is over and the run, or the process, is not: it goes on."""

    def __init__(self, id: str, seconds: float) -> None:
        super().__init__(f"{id} is still in progress after {seconds:g} s; "
                         "wait again, or end it")
        self.id = id


class ApiError(TroupeError):
    """The engine refused the request, or failed (RFC 9457)."""

    def __init__(self, problem: Mapping[str, Any], status: int = 0,
                 headers: Optional[Mapping[str, str]] = None) -> None:
        from .types import Mistake
        headers = headers or {}
        self.status = status
        """The HTTP status; 0 where the failure came inside of a stream."""
        self.code = str(problem.get("code", ""))
        """The kind of problem, for programs."""
        self.detail = str(problem.get("detail", ""))
        """What is wrong, and the way out."""
        self.errors: List[Mistake] = [
            Mistake.read({"pointer": one.get("parameter", ""), **one})
            for one in problem.get("errors") or []]
        """Every member or parameter that is wrong: pointer, reason and hint."""
        self.request_id: Optional[str] = (
            problem.get("request_id") or headers.get("x-request-id"))
        """To find the request in the engine's log."""
        self.run_id: Optional[str] = (
            problem.get("run_id") or headers.get("x-run-id"))
        self.retry_after = seconds_of(headers.get("retry-after"))
        """How many seconds to wait before the next try, where that was said."""
        super().__init__(self._text())

    def _text(self) -> str:
        text = self.detail or self.code or f"HTTP {self.status}"
        for one in self.errors:
            if one.reason and one.reason not in text:
                text += f"; {one.pointer}: {one.reason}".replace(": :", ":")
            if one.hint and one.hint not in text:
                text += f" ({one.hint})"
        named = ", ".join(word for word in (
            self.code, str(self.status or ""), self.request_id or "") if word)
        return f"{text} [{named}]"


class BadRequest(ApiError):
    """400: not valid HTTP or JSON, or a malformed header."""


class Unauthorized(ApiError):
    """401: no API key was sent, or it is not valid."""


class Forbidden(ApiError):
    """403: the key lacks a scope."""


class NotFound(ApiError):
    """404: it does not exist, or belongs to another organization."""


class Conflict(ApiError):
    """409, 412: it does not fit the present state; look, and try again."""


class Gone(ApiError):
    """410: it has ended."""


class TooLarge(ApiError):
    """413: larger than the engine takes."""


class Invalid(ApiError):
    """422: a member or a parameter is wrong; `errors` lists each."""


class RateLimited(ApiError):
    """429: too much at a time; `retry_after` says when to try again."""


class Unsupported(ApiError):
    """501: this place cannot do that."""


class Unavailable(ApiError):
    """503: the engine or the backend cannot take it now."""


class EngineFault(ApiError):
    """Any other 5xx, and failures inside of a stream: not the caller's doing."""


class ToolFailed(TroupeError):
    """The tool did not do its work; `result` says all about it."""

    def __init__(self, result: "RunResult") -> None:
        self.result = result
        super().__init__(f"{_why(result)} [{result.reason}, {result.id}]")


class ToolTimeout(ToolFailed):
    """The tool took longer than its limit."""


class ToolCancelled(ToolFailed):
    """The run was cancelled."""


class ToolLost(ToolFailed):
    """It is not known how the run ended, or whether it did."""


class CommandFailed(TroupeError):
    """A program in a sandbox failed, and `check` was asked for."""

    def __init__(self, result: "ExecResult") -> None:
        self.result = result
        self.exit_code = result.exit_code
        self.stdout = result.stdout
        self.stderr = result.stderr
        last = (result.stderr or result.stdout).strip().rpartition("\n")[2]
        how = (f"exit code {result.exit_code}" if result.reason == "exited"
               else str(result.reason))
        super().__init__(f"{' '.join(result.argv)!r:.200}: {how}"
                         + (f": {last:.300}" if last else ""))


_BY_STATUS: Dict[int, Type[ApiError]] = {
    400: BadRequest, 401: Unauthorized, 403: Forbidden, 404: NotFound,
    409: Conflict, 410: Gone, 412: Conflict, 413: TooLarge, 422: Invalid,
    429: RateLimited, 501: Unsupported, 503: Unavailable,
}
_BY_STATUS_OF_RUN: Dict[str, Type[ToolFailed]] = {
    "timeout": ToolTimeout, "cancelled": ToolCancelled, "lost": ToolLost,
}


def error_of_answer(status: int, headers: Mapping[str, str],
                    body: bytes) -> TroupeError:
    """What an answer that is no success means."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    if not isinstance(problem, dict) or "status" not in problem:
        if 300 <= status < 400:
            return UnexpectedAnswer(
                f"HTTP {status}: a redirect is not followed, so that the key "
                "goes nowhere else; give the address that it leads to")
        if status not in _BY_STATUS and status < 500:
            return UnexpectedAnswer(
                f"HTTP {status} without a problem that an engine would have "
                "told; is the address right?")
        problem = {"detail": f"HTTP {status}, but not from an engine: from a proxy "
                   "before it, or the address is wrong"}
    kind = _BY_STATUS.get(status, EngineFault if status >= 500 else ApiError)
    return kind(problem, status, headers)


def error_of_stream(problem: Mapping[str, Any]) -> ApiError:
    """A failure of the engine that came inside of a stream or a record."""
    return EngineFault(problem)


def raise_if_waited(id: str, seconds: Optional[float],
                    error: ConnectError) -> NoReturn:
    """An answer that did not come in time ends a wait; everything else is what
    it is."""
    if isinstance(error.__cause__, TimeoutError) and seconds is not None:
        raise WaitTimeout(id, seconds) from None
    raise error


def error_of_result(result: "RunResult") -> ToolFailed:
    """A result that is no success, as an exception."""
    return _BY_STATUS_OF_RUN.get(result.status, ToolFailed)(result)


def seconds_of(text: Optional[str]) -> Optional[float]:
    """Retry-After, where it is a number."""
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None


def _why(result: "RunResult") -> str:
    if result.error is not None:
        return (result.error.friendly
                or f"{result.error.name}: {result.error.message}")
    last = result.stderr.strip().rpartition("\n")[2]
    if result.exit_code is not None and result.reason == "exited":
        return f"exit code {result.exit_code}" + (f": {last:.300}" if last else "")
    return result.detail or result.reason

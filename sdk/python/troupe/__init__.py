"""Troupe runs the tools of AI agents in isolation. This is its client.

    from troupe import Troupe

    t = Troupe()
    t.run("1 + 1").value  # 2

`AsyncTroupe` is the same for asyncio; `@tool` sends functions of this program;
`t.sandboxes.create()` makes a sandbox that lives between calls."""
from typing import TYPE_CHECKING, Any

from ._batch_item import BatchItem
from ._sync.client import Troupe
from ._sync.contexts import Context
from ._sync.processes import Process
from ._sync.runs import Run
from ._sync.sandbox import Sandbox
from ._version import __version__
from .errors import (ApiError, BadRequest, CommandFailed, Conflict,
                     ConnectError, EngineFault, Forbidden, Gone, Invalid,
                     NotFound, RateLimited, TooLarge, ToolCancelled, ToolFailed,
                     ToolLost, ToolTimeout, TroupeError, Unauthorized,
                     Unavailable, UnexpectedAnswer, Unsupported, WaitTimeout)
from .types import (CellResult, ExecResult, RunEvent, RunRecord, RunResult,
                    StoredTool)

if TYPE_CHECKING:
    from ._async.client import AsyncTroupe
    from ._async.contexts import AsyncContext
    from ._async.processes import AsyncProcess
    from ._async.runs import AsyncRun
    from ._async.sandbox import AsyncSandbox
    from ._source import NotATool
    from ._tool import Tool, tool

# Imported when they are asked for: asyncio and what reads sources take longer
# than all of the rest.
_LATER = {"AsyncTroupe": "_async.client", "AsyncContext": "_async.contexts",
          "AsyncProcess": "_async.processes", "AsyncRun": "_async.runs",
          "AsyncSandbox": "_async.sandbox", "NotATool": "_source",
          "Tool": "_tool", "tool": "_tool"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'troupe' has no attribute {name!r}")
    from importlib import import_module
    return getattr(import_module("troupe." + _LATER[name]), name)


__all__ = [
    "ApiError", "AsyncContext", "AsyncProcess", "AsyncRun", "AsyncSandbox",
    "AsyncTroupe", "BadRequest", "BatchItem", "CellResult", "CommandFailed",
    "Conflict", "ConnectError", "Context", "EngineFault", "ExecResult",
    "Forbidden", "Gone", "Invalid", "NotATool", "NotFound", "Process",
    "RateLimited", "Run", "RunEvent", "RunRecord", "RunResult", "Sandbox",
    "StoredTool", "TooLarge", "Tool", "ToolCancelled", "ToolFailed", "ToolLost",
    "ToolTimeout", "Troupe", "TroupeError", "Unauthorized", "Unavailable",
    "UnexpectedAnswer", "Unsupported", "WaitTimeout", "__version__", "tool",
]

"""What the engine answers, and what it takes.

Written by sdk/make_types.py from net/api/openapi.json: do not edit."""
from .runs import (Mistake, Failure, RunUsage, RunFile, ToolError, Stage,
    Failover, IsolationLayer, Isolation, Connection, RunResult, RunRecord,
    RunSummary, RunEvent, RunLogs, ExplainedVariable, Explanation, BatchLine)
from .requests import (Limits)
from .tools import (StoredTool, DerivedSchema, ToolInput, ToolChange)
from .configs import (SandboxConfig, Variable, AgentVariable)
from .packages import (PackageSet, PackageSetEvent)
from .engine import (BackendNode, Backend, Key, NewKey, AuditEntry,
    Organization, OrganizationSummary, Backup, MasterKeyChange, Drained)
from .sandboxes import (Resources, SandboxInfo, SandboxEvent, Snapshot,
    SandboxPort, SandboxPortOpened, SandboxEntry)
from .processes import (ProcessInfo, ExecResult, ProcessOutput, ProcessEvent)
from .contexts import (ContextInfo, CellOutput, CellError, CellResult,
    CellEvent, ContextInterruption)

__all__ = ["AgentVariable", "AuditEntry", "Backend", "BackendNode", "Backup",
           "BatchLine", "CellError", "CellEvent", "CellOutput", "CellResult",
           "Connection", "ContextInfo", "ContextInterruption", "DerivedSchema",
           "Drained", "ExecResult", "ExplainedVariable", "Explanation",
           "Failover", "Failure", "Isolation", "IsolationLayer", "Key",
           "Limits", "MasterKeyChange", "Mistake", "NewKey", "Organization",
           "OrganizationSummary", "PackageSet", "PackageSetEvent",
           "ProcessEvent", "ProcessInfo", "ProcessOutput", "Resources",
           "RunEvent", "RunFile", "RunLogs", "RunRecord", "RunResult",
           "RunSummary", "RunUsage", "SandboxConfig", "SandboxEntry",
           "SandboxEvent", "SandboxInfo", "SandboxPort", "SandboxPortOpened",
           "Snapshot", "Stage", "StoredTool", "ToolChange", "ToolError",
           "ToolInput", "Variable"]

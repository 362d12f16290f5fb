"""Which operations of the interface the tests have asked for."""
import json
import os
import re

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../../../net/api/openapi.json")
# New in the interface, and not yet in the clients: take a name out with the
# method that you add for it.
LATER = {"attachToSandboxTerminal", "branchSandbox", "packSandboxFiles",
         "resizeSandboxTerminal", "searchSandboxFiles", "unpackSandboxFiles",
         "watchSandboxFiles"}
# Not for programs that run tools; bytes of a port instead of HTTP; and what
# POST /v1/runs does as well.
LEFT_OUT = {"livez", "readyz", "metrics", "openapi", "docs", "showProblem",
            "tunnelToSandboxPort", "runTool", "dashboard", "dashboardPage"}


def not_driven(driven):
    """Operations that no request was for, of (method, path) pairs."""
    with open(DOCUMENT, encoding="utf-8") as file:
        paths = json.load(file)["paths"]
    missing = []
    for path, item in paths.items():
        pattern = re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
        for method, operation in item.items():
            if not isinstance(operation, dict) or \
                    operation.get("operationId") in LEFT_OUT | LATER:
                continue
            if not any(asked == method.upper() and pattern.fullmatch(at)
                       for asked, at in driven):
                missing.append(method.upper() + " " + path)
    return missing

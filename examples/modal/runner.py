"""Runs tools for troupe at Modal, behind one HTTPS address.

    pip install modal && modal deploy runner.py

prints the address; give it to troupe as modal.endpoint-url
(MODAL_ENDPOINT_URL), with a proxy auth token of your workspace as
modal.proxy-token-id and modal.proxy-token-secret. `troupe backend test modal`
then says whether all of it fits together.

Each request gets a Modal sandbox of its own, with the packages and the network
that it asks for, and nothing outlives its answer.
"""

import base64
import shlex

import modal

app = modal.App("troupe-runner")
web = modal.Image.debian_slim(python_version="3.12").pip_install(
    "fastapi[standard]"
)

LONGEST_S = 24 * 3600  # what Modal grants a sandbox
NODE_MODULES = "/opt/troupe/node_modules"


def image_for(language, pip, npm):
    """Layers that Modal keeps: the same packages are built once."""
    if language == "javascript":
        image = modal.Image.from_registry(
            "node:22-bookworm-slim", add_python="3.12"
        )
    else:
        image = modal.Image.debian_slim(python_version="3.12")
        if pip:
            image = image.pip_install(*sorted(pip))
        if npm:  # a command may want both
            image = image.apt_install("nodejs", "npm")
    if npm:
        words = " ".join(shlex.quote(p) for p in sorted(npm))
        image = image.run_commands(
            "npm install --prefix /opt/troupe --no-audit --no-fund "
            "--ignore-scripts -- " + words
        )
    return image


def network_for(wish):
    if wish == "off":
        return {"block_network": True}
    if wish == "open":
        return {}
    hosts = [h for h in wish if not h.replace(".", "").replace("/", "").isdigit()]
    ranges = [h if "/" in h else h + "/32" for h in wish if h not in hosts]
    if hosts:
        raise ValueError(
            "this runner allows address ranges only, not " + hosts[0]
        )
    return {"cidr_allowlist": ranges}


def command_for(request):
    """The program, and what it reads."""
    if request["language"] == "python":
        return ["python3", "-"], request["code"].encode()
    if request["language"] == "javascript":
        return ["node", "-"], request["code"].encode()
    return list(request["argv"]), base64.b64decode(request.get("stdin", ""))


@app.function(image=web, timeout=LONGEST_S)
@modal.fastapi_endpoint(method="POST", requires_proxy_auth=True)
def run(request: dict):
    try:
        argv, given = command_for(request)
        timeout = max(1, min(int(request["timeout"]), LONGEST_S))
        env = {str(k): str(v) for k, v in request.get("env_vars", {}).items()}
        env.setdefault("NODE_PATH", NODE_MODULES)
        box = modal.Sandbox.create(
            "sleep",
            str(timeout),
            app=app,
            image=image_for(
                request["language"],
                request.get("pip", []),
                request.get("npm", []),
            ),
            secrets=[modal.Secret.from_dict(env)],
            timeout=timeout,
            memory=int(request.get("memory_mb", 512)),
            **network_for(request.get("network", "off")),
        )
    except Exception as why:  # the caller learns what to change
        return {"error": f"{type(why).__name__}: {why}"[:500]}
    try:
        process = box.exec(*argv, text=False, timeout=timeout)
        for at in range(0, len(given), 1 << 20):
            process.stdin.write(given[at : at + (1 << 20)])
            process.stdin.drain()
        process.stdin.write_eof()
        process.stdin.drain()
        out = process.stdout.read()
        err = process.stderr.read()
        return {
            "exit_code": process.wait(),
            "stdout": base64.b64encode(out).decode(),
            "stderr": base64.b64encode(err).decode(),
        }
    except Exception as why:
        return {"error": f"{type(why).__name__}: {why}"[:500]}
    finally:
        box.terminate()

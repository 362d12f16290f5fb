"""What runs inside the sandbox for Python.

One request frame in, one answer frame out, over a private descriptor. Nothing
here knows a secret or decides anything: the engine believes the answer only as
the tool's own word. CPython 3.9 to 3.13, standard library only.
"""

from troupe_runner.serve import preload, prepare, run_request, serve_one

__all__ = ["preload", "prepare", "run_request", "serve_one"]

"""The cold way in: `python3 -I serve.py` answers the one request that waits on
descriptor 3. The warm way imports `troupe_runner` and calls `serve_one`."""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, _here)
import troupe_runner  # noqa: E402

sys.path.remove(_here)
troupe_runner.serve_one(3)

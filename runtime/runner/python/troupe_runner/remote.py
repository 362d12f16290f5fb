"""For places that take a script and give back what it printed: the answer is
one line on stdout, as runtime/runner/stdout_frame.hpp says.

The process may be a notebook's and live on, so it is left as it was found.
"""

import base64
import sys

from troupe_runner.serve import run_request


class _NoLoop:
    """A notebook's cell is carried out inside of its kernel's event loop. A tool
    finds its thread as it is everywhere else: without one that runs."""

    def __enter__(self):
        asyncio = sys.modules.get("asyncio")
        self.loop = asyncio and asyncio._get_running_loop()
        if self.loop is None:
            return
        self.task = asyncio.current_task(self.loop)
        if self.task is not None:
            asyncio.tasks._leave_task(self.loop, self.task)
        asyncio._set_running_loop(None)
        self.idle = asyncio.new_event_loop()  # for those who ask for the current one
        asyncio.set_event_loop(self.idle)

    def __exit__(self, *_):
        if self.loop is None:
            return
        import asyncio

        self.idle.close()
        asyncio.set_event_loop(self.loop)
        asyncio._set_running_loop(self.loop)
        if self.task is not None:
            asyncio.tasks._enter_task(self.loop, self.task)


def serve(request, key):
    main, argv, path = sys.modules.get("__main__"), sys.argv, list(sys.path)
    try:
        with _NoLoop():
            answer = run_request(request)
    finally:
        sys.argv, sys.path[:] = argv, path
        if main is not None:
            sys.modules["__main__"] = main
    text = base64.b64encode(answer).decode("ascii")
    sys.stdout.write(f"\n=troupe:{key}:{len(text)}:{text}=\n")
    sys.stdout.flush()

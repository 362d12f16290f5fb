"""A command that has files: its own process beside ours, so that something is
there before it begins and after it has ended."""

import os
import signal
import subprocess
import sys


def run(argv):
    """Runs it to its end, on our own standard streams; returns its exit code, or
    the number of the signal that ended it, negated."""
    try:
        return subprocess.Popen(argv).wait()
    except OSError as why:
        sys.stderr.write(f"{argv[0]}: {why.strerror or why}\n")
        return 127 if isinstance(why, FileNotFoundError) else 126


def end_like(code, leave):
    """Ends this process as the command's ended."""
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    leave(code)

"""Written by sdk/make_types.py from net/api/openapi.json: do not edit."""
from __future__ import annotations

from typing import TypedDict, Union


class Limits(TypedDict, total=False):
    wall_seconds: Union[float, str]
    """Wall-clock time: seconds, or a string such as "1.5s" or "2m"."""
    cpu_seconds: Union[float, str]
    """CPU time of all threads and child processes: seconds, or a string
    such as "1.5s" or "2m"."""
    memory_bytes: Union[float, str]
    """Memory, including files in /tmp: bytes, or a string such as
    "512MiB"."""
    processes: Union[float, str]
    """Number of processes and threads."""
    open_files: Union[float, str]
    """Open files per process."""
    disk_bytes: Union[float, str]
    """Size of the private /tmp: bytes, or a string such as "512MiB"."""
    inodes: Union[float, str]
    """Number of files in the private /tmp."""
    output_bytes: Union[float, str]
    """Size of stdout and of stderr, each: bytes, or a string such as
    "512MiB"."""
    result_bytes: Union[float, str]
    """Size of the return value as JSON: bytes, or a string such as
    "512MiB"."""

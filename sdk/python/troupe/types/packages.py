"""Written by sdk/make_types.py from net/api/openapi.json: do not edit."""
from __future__ import annotations

from typing import List, Literal, Optional

from .._wire import Wire, record
from .runs import Failure


@record(frozen=True)
class PackageSet(Wire):
    fingerprint: str
    """Identifies the set: SHA-256 over interpreter and packages, in hex."""
    state: Literal["building", "ready", "failed"]
    """building, ready or failed."""
    packages: List[str]
    """The installed packages, once it is ready."""
    bytes: int
    """Size on disk."""
    built_at: Optional[str]
    """When it was built; null until then."""
    used_at: Optional[str]
    """When a run used it last; null: not yet."""
    progress: Optional[str]
    """The last line of installer output during a build."""
    error: Optional[Failure]
    """Why it could not be built; null otherwise."""

    _nested = {"error": Failure}


@record(frozen=True)
class PackageSetEvent(Wire):
    """`end` comes exactly once and last. A slow reader misses lines and is
    told how many."""

    type: Literal["progress", "end"]
    """What happened; `end` is the last one."""
    line: Optional[str]
    """Of `progress`: a line of the installer."""
    package_set: Optional[PackageSet]
    """Of `end`: the package set."""

    _nested = {"package_set": PackageSet}

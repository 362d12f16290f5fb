"""What a tool may use without importing it, because the scripts that tools were
written for had it: typing's names, a few modules, the client. Only what the
source mentions is looked up."""

import os
import re
import types
import typing

_TYPING = frozenset(typing.__all__)
_MODULES = frozenset(
    ("asyncio", "base64", "hashlib", "os", "pickle", "struct", "sys")
)
# Parts of packages that a warm process has long imported, so that the package's
# name alone is enough there: it has to be in a fresh process as well.
_PARTS = {
    "concurrent": ("futures",),
    "email": (
        "charset encoders errors feedparser header iterators message parser utils"
    ).split(),
    "http": ("client",),
    "importlib": ("machinery",),
    "urllib": ("error", "parse", "request", "response"),
}
_PACKAGES = frozenset(_PARTS)
# A source with one of these names may read its annotations, and may have
# written them as text.
_READS_ANNOTATIONS = frozenset(
    (
        "__annotations__",  # a class, or a variable, that has them
        "annotations",  # from __future__
        "get_type_hints",
        "validate_arguments",
        "validate_call",
    )
)
_KNOWN = _TYPING | _MODULES | _PACKAGES | _READS_ANNOTATIONS
_KNOWN |= {"AgentState", "Letta", "client"}


def _names_in(code, found):
    found.update(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _names_in(constant, found)
    return found


def _words_in(code, found):
    """The words of its texts; an annotation may be one."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _words_in(constant, found)
        for text in constant if type(constant) is tuple else (constant,):
            if type(text) is str:
                found.update(re.findall("[A-Za-z_]+", text))
    return found


def _client():
    """The platform's API client, when it is there and has a key."""
    key = os.environ.get("LETTA_API_KEY")
    if not key:
        return None
    try:
        import letta_client

        version = getattr(letta_client, "__version__", None)
        if version is None:
            from importlib import metadata

            version = metadata.version("letta_client")
        old = int(str(version).split(".")[0]) < 1
        return letta_client.Letta(**{"token" if old else "api_key": key})
    except Exception:
        return None  # a tool that needs it will say so better than we can


def _letta_class():
    try:
        from letta_client import Letta

        return Letta
    except Exception:
        return None


def _offer_known(namespace, codes, names):
    typings = names & _TYPING
    if names & _READS_ANNOTATIONS:
        for code in codes:
            if code is not None:
                typings |= _words_in(code, set()) & _TYPING
    for name in typings:
        namespace[name] = getattr(typing, name)
    for name in names & _MODULES:
        namespace[name] = __import__(name)
    if "AgentState" in names:
        from troupe_runner.state import State

        namespace["AgentState"] = State
    if "Letta" in names:
        namespace["Letta"] = _letta_class()
    if "client" in names:
        namespace["client"] = _client()


def _complete(package, names):
    for part in _PARTS[package]:
        if part in names:
            try:
                __import__(package + "." + part)
            except ImportError:
                pass  # the tool's own package has that name


def offer(namespace, codes):
    names = set()
    for code in codes:
        if code is not None:
            _names_in(code, names)
    namespace["client"] = None
    known = names & _KNOWN
    if known:
        _offer_known(namespace, codes, known)
        for package in known & _PACKAGES:
            _complete(package, names)

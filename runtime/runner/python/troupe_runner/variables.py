"""The environment of the process a tool runs in."""

import os
import time

# What `os.environ` has since `prepare`, or None: nobody has looked at it yet.
_present = None
# Gives the C library all variables at once; None: one by one. See use_setter.
_set_all = None
# What `os.environ` had before: its end would write to every item of it.
_former = None
# Of `_present`, as it was last given to `_set_all`; only what it gained since
# has to be spelled out.
_encoded = None
_block = b""


def use_setter(set_all):
    """`set_all` takes "NAME=value\\0..." and makes it the process's environment.

    One by one the C library files each value in a tree and its name in an
    array, on pages that a forked process shares with its parent."""
    global _set_all
    if hasattr(os.environ, "_data") and hasattr(os, "environb"):
        _set_all = set_all


def assign(variables, keep=False):
    """The run's variables and nothing else, wherever the process came from; on
    a machine that is not ours (`keep`), beside its own."""
    global _present
    before = dict(os.environ) if _present is None else _present
    if before != variables:
        if keep or _set_all is None:
            _change(before, variables, keep)
        else:
            _replace(variables)
    if not keep:
        _present = variables
    if "TZ" in variables:
        time.tzset()


def _change(before, variables, keep):
    environ = os.environ
    if not keep:
        for name in before:
            if name not in variables:
                del environ[name]
    for name, value in variables.items():
        if before.get(name) != value:
            environ[name] = value


def _replace(variables):
    global _former, _encoded, _block
    grown = _encoded is not None and _present.items() <= variables.items()
    encoded, block = (_encoded.copy(), _block) if grown else ({}, b"")
    for name, value in variables.items():
        if not grown or name not in _present:
            key = name.encode("utf-8", "surrogateescape")
            encoded[key] = value.encode("utf-8", "surrogateescape")
            block += b"%b=%b\0" % (key, encoded[key])
    if block.count(0) != len(encoded):
        raise ValueError("embedded null byte")
    _set_all(block)
    _former = os.environ._data
    os.environ._data = os.environb._data = _encoded = encoded
    _block = block

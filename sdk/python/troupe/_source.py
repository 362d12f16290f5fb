"""The source of a function, made fit to travel alone."""
from __future__ import annotations

import ast
import builtins
import inspect
import symtable
import textwrap
import typing
from typing import Any, Iterable, List, Set

# What the engine gives every Python tool without an import.
GIVEN = {"os", "sys", "base64", "struct", "hashlib", "pickle", "asyncio",
         *typing.__all__, *dir(builtins), "__name__", "__file__"}


class NotATool(TypeError):
    """Why a function cannot travel alone, and what to do about it."""


def source_of(function: Any, include: Iterable[Any]) -> str:
    """The function without its decorators, after what it includes. Refuses
    names that it has from elsewhere."""
    name = _plain_name(function)
    pieces = [_piece(one) for one in include] + [_cut(function)]
    source = "\n\n".join(pieces)
    missing = sorted(_free_names(source))
    if missing:
        raise NotATool(
            f"{name} uses {', '.join(missing)}, defined outside of it: a tool "
            f"travels alone; move it inside, or say include=[{missing[0]}]")
    return source


def _plain_name(function: Any) -> str:
    if not inspect.isfunction(function):
        raise NotATool(f"{function!r} is not a function: a tool is one that "
                       "stands at the top level of a module")
    name = function.__name__
    if name == "<lambda>":
        raise NotATool("a lambda has no name to be called by: write a function")
    if function.__closure__:
        names = ", ".join(function.__code__.co_freevars)
        raise NotATool(f"{name} uses {names} of the function around it: a tool "
                       "travels alone; pass it as an argument")
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise NotATool(f"{name} takes *{parameter.name}: arguments are sent "
                           "by name; take a list instead")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise NotATool(f"{name} takes {parameter.name} by position only: "
                           "arguments are sent by name; leave the slash out")
    return name


def _cut(thing: Any) -> str:
    """The source of a function or a class, without decorators of ours."""
    try:
        source = textwrap.dedent(inspect.getsource(thing))
    except (OSError, TypeError) as error:
        raise NotATool(f"the source of {thing.__name__} is not known ({error}): "
                       "a tool has to stand in a file") from error
    node = ast.parse(source).body[0]
    first = node.lineno
    if isinstance(node, ast.ClassDef) and node.decorator_list:
        first = node.decorator_list[0].lineno  # @dataclass belongs to it
    return "\n".join(source.splitlines()[first - 1:]) + "\n"


def _piece(thing: Any) -> str:
    thing = getattr(thing, "function", thing)  # another tool
    if inspect.isfunction(thing) or inspect.isclass(thing):
        return _cut(thing)
    if inspect.ismodule(thing):
        return f"import {thing.__name__}\n"
    raise NotATool(f"include={thing!r:.80}: functions, classes and modules can "
                   "be included; a constant is written inside of the tool")


def _free_names(source: str) -> Set[str]:
    """Names that the source uses and does not define."""
    top = symtable.symtable(source, "<tool>", "exec")
    defined = {symbol.get_name() for symbol in top.get_symbols()
               if symbol.is_assigned() or symbol.is_imported()
               or symbol.is_namespace()}
    used: Set[str] = set()
    left: List[symtable.SymbolTable] = [top]
    while left:
        table = left.pop()
        left += table.get_children()
        used |= {symbol.get_name() for symbol in table.get_symbols()
                 if symbol.is_referenced()
                 and (table is top or symbol.is_global())}
    return used - defined - GIVEN

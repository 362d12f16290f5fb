"""How a function wants to be called, and calling it that way by names."""

import types
import typing

from troupe_runner.failure import ToolFailure

POSITIONAL, NORMAL, NAMED, REST, NAMES = range(5)
RESERVED = ("agent_state", "agent_id")
_VARARGS, _VARKEYWORDS = 0x04, 0x08
_MISSING = object()


class Parameter:
    __slots__ = ("name", "kind", "optional", "annotation")

    def __init__(self, name, kind, optional, annotation):
        self.name = name
        self.kind = kind
        self.optional = optional
        self.annotation = annotation


def parameters(function):
    if (
        type(function) is types.FunctionType
        and not hasattr(function, "__wrapped__")
        and not hasattr(function, "__signature__")
    ):
        return list(_of_code(function))
    try:
        return list(_of_signature(function))
    except (TypeError, ValueError):
        return [Parameter("kwargs", NAMES, True, _MISSING)]  # written in C


def _of_code(function):
    """Like inspect.signature, for a plain function, without its cost."""
    code = function.__code__
    hints = function.__annotations__
    names = code.co_varnames
    positional, named = code.co_argcount, code.co_kwonlyargcount
    required = positional - len(function.__defaults__ or ())
    defaults = function.__kwdefaults__ or {}
    for i in range(positional):
        kind = POSITIONAL if i < code.co_posonlyargcount else NORMAL
        yield Parameter(names[i], kind, i >= required, hints.get(names[i], _MISSING))
    rest = positional + named
    if code.co_flags & _VARARGS:
        yield Parameter(names[rest], REST, True, _MISSING)
        rest += 1
    for name in names[positional : positional + named]:
        yield Parameter(name, NAMED, name in defaults, hints.get(name, _MISSING))
    if code.co_flags & _VARKEYWORDS:
        yield Parameter(names[rest], NAMES, True, _MISSING)


def _of_signature(function):
    import inspect

    kinds = {
        inspect.Parameter.POSITIONAL_ONLY: POSITIONAL,
        inspect.Parameter.POSITIONAL_OR_KEYWORD: NORMAL,
        inspect.Parameter.KEYWORD_ONLY: NAMED,
        inspect.Parameter.VAR_POSITIONAL: REST,
        inspect.Parameter.VAR_KEYWORD: NAMES,
    }
    empty = inspect.Parameter.empty
    for p in inspect.signature(function).parameters.values():
        annotation = _MISSING if p.annotation is empty else p.annotation
        yield Parameter(p.name, kinds[p.kind], p.default is not empty, annotation)


def _resolved(annotation, namespace):
    """A quoted annotation, or one under `from __future__ import annotations`.
    Evaluating text is no new power here: the tool itself is about to run."""
    if isinstance(annotation, str):
        return eval(annotation, dict(vars(typing)), namespace)
    return annotation


def _fitted(value, parameter, namespace):
    annotation = parameter.annotation
    if annotation is _MISSING or annotation is type(value):
        return value
    from troupe_runner import coerce

    try:
        annotation = _resolved(annotation, namespace)
        if value is None:
            if parameter.optional and not coerce.admits_none(annotation):
                return _MISSING  # null for an optional parameter: its default
            return None
        return coerce.coerce(value, annotation)
    except coerce.Unfit as reason:
        raise ToolFailure(
            "TypeError", f"argument {parameter.name!r}: {reason}"
        ) from None
    except Exception:
        return value  # an annotation that means nothing at run time


def _left_to_null(parameter, namespace, dropped):
    """Whether None is to be filled in: the null that a caller gave for it, or
    would have, is dropped on its way here where the schema does not know it.
    Schemas of other makers have no null for Optional[int]."""
    if parameter.annotation is _MISSING:
        return False
    if parameter.optional and parameter.name not in dropped:
        return False
    from troupe_runner import coerce

    try:
        return coerce.names_none(_resolved(parameter.annotation, namespace))
    except Exception:
        return _reads_as_optional(parameter.annotation)


def _reads_as_optional(text):
    """Of an annotation that means nothing here: a name for type checkers, or
    `X | None` before 3.10."""
    import ast

    from troupe_runner import annotations

    try:
        types_of_nothing = annotations.Types(ast.Module([], []))
        return types_of_nothing.is_optional(ast.Constant(text))
    except annotations.SchemaError:
        return False


def bind(function, args, reserved, namespace, dropped=()):
    """(positional, named) for the call. `reserved`: values for the parameters
    that are the engine's to fill in, whatever the arguments say. `dropped`:
    whose null was taken for "not given"."""
    args = {**args, **reserved}
    positional, named = [], {}
    rest_taken = False
    for p in parameters(function):
        if p.kind == NAMES:
            named.update((k, v) for k, v in args.items() if k not in reserved)
            args = {}
            break
        if p.name not in args:
            value = None if _left_to_null(p, namespace, dropped) else _MISSING
        else:
            value = args.pop(p.name)
            if p.name not in reserved:
                value = _fitted(value, p, namespace)
        if value is _MISSING:
            if p.kind == POSITIONAL and p.optional:
                rest_taken = True  # nothing may follow a hole by position
            continue
        if p.kind == REST:
            if not isinstance(value, list):
                value = [value]
            _to_positions(function, positional, named)
            positional.extend(value)
        elif p.kind == POSITIONAL and not rest_taken:
            positional.append(value)
        else:
            named[p.name] = value
    named.update((k, v) for k, v in args.items() if k not in reserved)
    return positional, named


def _to_positions(function, positional, named):
    """Values for *args can only follow values by position."""
    for p in parameters(function):
        if p.kind == NORMAL and p.name in named:
            positional.append(named.pop(p.name))

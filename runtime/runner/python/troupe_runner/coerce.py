"""From JSON arguments to what a function's annotations ask for.

Each argument stands for itself. A value that is already of the right type is
never touched: text stays text, whatever it looks like. Where a type has one
obvious reading of the JSON it is applied; a value that an Enum, a model or a
date cannot take is an error that names the argument; everything else is passed
on as it came.
"""

import json
import re
import sys
import types
import typing

_INTEGER = re.compile(r"[+-]?[0-9]{1,400}\Z")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
_EMPTY = object()
_JSON = (str, int, float, list, dict, type(None))


class Unfit(Exception):
    """The value cannot be what the annotation says."""


def admits_none(annotation):
    return annotation in (_EMPTY, typing.Any, object) or _has_arm(annotation, admits_none)


def names_none(annotation):
    """Whether it says so, which is more than taking whatever comes."""
    return _has_arm(annotation, names_none)


def _has_arm(annotation, wanted):
    if annotation is None or annotation is type(None):
        return True
    origin = typing.get_origin(annotation)
    if _is_annotated(annotation):
        return wanted(typing.get_args(annotation)[0])
    if origin in _UNIONS:
        return any(wanted(arm) for arm in typing.get_args(annotation))
    return origin is typing.Literal and None in typing.get_args(annotation)


def _is_annotated(annotation):
    return hasattr(annotation, "__metadata__")


def coerce(value, annotation):
    """`value` as `annotation` says. Raises Unfit."""
    if isinstance(annotation, type) and annotation in _SCALARS:
        return _SCALARS[annotation](value)
    if annotation in (_EMPTY, typing.Any, object, None):
        return value
    if _is_annotated(annotation):
        return coerce(value, typing.get_args(annotation)[0])
    if hasattr(annotation, "__supertype__"):  # NewType
        return coerce(value, annotation.__supertype__)
    if isinstance(annotation, typing.TypeVar):
        return coerce(value, annotation.__bound__ or typing.Any)
    origin = typing.get_origin(annotation)
    if origin is not None:
        return _generic(value, origin, typing.get_args(annotation))
    if isinstance(annotation, type):
        return _instance(value, annotation)
    if isinstance(annotation, (str, typing.ForwardRef)):  # List["Item"]
        return coerce(value, _meant(annotation))
    return value


def _meant(name):
    """The type that a text inside of an annotation stands for."""
    try:
        text = getattr(name, "__forward_arg__", name)
        return eval(text, dict(vars(typing)), vars(sys.modules["__main__"]))
    except Exception:
        return typing.Any  # a name that only a type checker knows


# -- scalars -------------------------------------------------------------------


def _to_int(value):
    if isinstance(value, str) and _INTEGER.match(value.strip()):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _to_float(value):
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return value
    if isinstance(value, str) and _NUMBER.match(value.strip()):
        return float(value)
    return value


def _to_bool(value):
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if value in (0, 1):
        return bool(value)
    return value


def _parsed(value, kind):
    """A list or an object that came as its JSON text, or as an instance of a
    class made for an args_json_schema."""
    try:
        if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
            made = json.loads(value)
        elif isinstance(value, _JSON):
            return value
        else:
            dump = getattr(value, "model_dump", None) or value.dict
            made = dump(exclude_unset=True, by_alias=True)
        return made if isinstance(made, kind) else value
    except Exception:
        return value


_SCALARS = {
    str: lambda value: value,
    int: _to_int,
    float: _to_float,
    bool: _to_bool,
    list: lambda value: _parsed(value, list),
    dict: lambda value: _parsed(value, dict),
}


# -- generics -------------------------------------------------------------------


def _generic(value, origin, args):
    from collections import abc, deque

    if origin in _UNIONS:
        return _union(value, args)
    if origin is typing.Literal:
        return _literal(value, args)
    args = args or (typing.Any, typing.Any)  # a bare typing.List
    if origin in (list, abc.Sequence, abc.Iterable, abc.Collection, abc.MutableSequence):
        value = _parsed(value, list)
        return [coerce(v, args[0]) for v in value] if type(value) is list else value
    if origin in (set, frozenset, deque, abc.Set, abc.MutableSet):
        value = _parsed(value, list)
        make = {abc.Set: frozenset, abc.MutableSet: set}.get(origin, origin)
        return make(coerce(v, args[0]) for v in value) if type(value) is list else value
    if origin is tuple:
        return _tuple(_parsed(value, list), args)
    if isinstance(origin, type) and issubclass(origin, abc.Mapping):
        value = _parsed(value, dict)
        if type(value) is not dict or len(args) != 2:
            return value
        made = {coerce(k, args[0]): coerce(v, args[1]) for k, v in value.items()}
        return made if origin in (dict, abc.Mapping, abc.MutableMapping) else origin(made)
    if str(origin) in ("typing.Required", "typing.NotRequired", "typing.Final"):
        return coerce(value, args[0])
    return value


def _tuple(value, args):
    if type(value) is not list:
        return value
    if len(args) == 2 and args[1] is ...:
        return tuple(coerce(v, args[0]) for v in value)
    if len(args) != len(value):
        return tuple(value)
    return tuple(coerce(v, a) for v, a in zip(value, args))


def _literal(value, options):
    for option in options:
        if option == value and type(option) is type(value):
            return option
    same = [o for o in options if str(o) == str(value)]
    if len(same) == 1:
        return same[0]
    raise Unfit(f"{value!r} is none of {', '.join(map(repr, options))}")


def _fits(value, arm):
    """Whether JSON gave exactly what this arm of a union is for."""
    if arm in (None, type(None)):
        return value is None
    plain = typing.get_origin(arm) or arm
    if plain in (str, int, float, bool, list, dict):
        return type(value) is plain
    return plain in (typing.Any, object)


def _union(value, arms):
    for arm in arms:
        if _fits(value, arm):
            return coerce(value, arm)
    reasons = []
    arms = [arm for arm in arms if arm not in (None, type(None))]
    for arm in arms:
        try:
            made = coerce(value, arm)
        except Unfit as reason:
            reasons.append(str(reason))
            continue
        if made is not value:
            return made
    if reasons and len(reasons) == len(arms):
        raise Unfit("; ".join(reasons))
    return value


# -- classes ---------------------------------------------------------------------


def _instance(value, kind):
    import enum

    if issubclass(kind, dict) and hasattr(kind, "__total__"):
        return _typed_dict(_parsed(value, dict), kind)  # refuses isinstance
    if isinstance(value, kind):
        return value
    if issubclass(kind, enum.Enum):
        return _enum(value, kind)
    try:
        if hasattr(kind, "model_validate") or hasattr(kind, "parse_obj"):
            return _model(_parsed(value, (dict, list)), kind)
        if hasattr(kind, "__dataclass_fields__"):
            return _dataclass(_parsed(value, dict), kind)
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return _named_tuple(_parsed(value, (dict, list)), kind)
    except Unfit:
        if isinstance(value, _JSON):
            raise
        return value  # it is what its args_json_schema says
    convert = _converters().get(kind)
    if convert is None:
        return value
    try:
        return convert(value)
    except Exception as reason:
        raise Unfit(f"{value!r} is not a valid {kind.__name__}: {reason}") from None


def _enum(value, kind):
    for test in (lambda m: m.value == value, lambda m: m.name == value):
        for member in kind:
            if test(member):
                return member
    same = [m for m in kind if str(m.value) == str(value)]
    if len(same) == 1:
        return same[0]
    try:
        return kind(value)  # several flags in one, or what its _missing_ finds
    except Exception:
        known = ", ".join(repr(m.value) for m in kind)
        raise Unfit(f"{value!r} is none of {known}") from None


def _model(value, kind):
    try:
        if hasattr(kind, "model_validate"):
            return kind.model_validate(value)
        return kind.parse_obj(value)
    except Exception as reason:
        raise Unfit(str(reason)) from None


def _hints(kind):
    try:
        return typing.get_type_hints(kind)
    except Exception:
        return _single_hints(kind)


def _single_hints(kind):
    """One by one, for a name that only a type checker knows spoils its own
    member and no other. Names of typing need no import here either."""
    known = {**vars(typing), **vars(sys.modules["__main__"]), kind.__name__: kind}
    hints = {}
    for owner in reversed(kind.__mro__):
        for name, hint in owner.__dict__.get("__annotations__", {}).items():
            one = types.SimpleNamespace(__annotations__={name: hint})
            try:
                hints.update(typing.get_type_hints(one, known))
            except Exception:
                hints.pop(name, None)
    return hints


def _members(value, kind):
    hints = _hints(kind)
    return {k: coerce(v, hints.get(k, typing.Any)) for k, v in value.items()}


def _made(kind, /, *args, **named):
    try:
        return kind(*args, **named)
    except Exception as reason:  # also of its __post_init__ or __new__
        raise Unfit(str(reason) or type(reason).__name__) from None


def _dataclass(value, kind):
    if not isinstance(value, dict):
        return value
    return _made(kind, **_members(value, kind))


def _typed_dict(value, kind):
    return _members(value, kind) if isinstance(value, dict) else value


def _named_tuple(value, kind):
    if isinstance(value, dict):
        return _made(kind, **_members(value, kind))
    if isinstance(value, list):
        hints = _hints(kind)
        known = zip(kind._fields, value)
        return _made(kind, *[coerce(v, hints.get(f, typing.Any)) for f, v in known])
    return value


def _converters():
    import datetime
    import decimal
    import pathlib
    import uuid

    def moment(value):
        if isinstance(value, (int, float)):
            return datetime.datetime.fromtimestamp(value, datetime.timezone.utc)
        # Before 3.11, fromisoformat does not know the letter for UTC.
        return datetime.datetime.fromisoformat(re.sub(r"[zZ]\Z", "+00:00", value))

    return {
        datetime.datetime: moment,
        datetime.date: lambda v: datetime.date.fromisoformat(v),
        datetime.time: lambda v: datetime.time.fromisoformat(v),
        datetime.timedelta: lambda v: datetime.timedelta(seconds=v),
        decimal.Decimal: lambda v: decimal.Decimal(str(v)),
        uuid.UUID: uuid.UUID,
        pathlib.Path: pathlib.Path,
        pathlib.PurePath: pathlib.PurePath,
        bytes: lambda v: v.encode("utf-8") if isinstance(v, str) else v,
        tuple: lambda v: tuple(v) if isinstance(v, list) else v,
        set: lambda v: set(v) if isinstance(v, list) else v,
        frozenset: lambda v: frozenset(v) if isinstance(v, list) else v,
    }

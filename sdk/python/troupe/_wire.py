"""What every answer of the engine has in common: it is made from JSON, cannot be
changed, and keeps what this version of the SDK does not know in `extra`."""
from __future__ import annotations

from typing import (TYPE_CHECKING, Any, ClassVar, Dict, List, Mapping, NoReturn,
                    Tuple, Type, TypeVar)

if TYPE_CHECKING:
    # To type checkers they are frozen data classes. To make sixty real ones
    # takes longer than to import everything else.
    from dataclasses import dataclass as record
else:
    def record(frozen):
        return lambda cls: cls

__all__ = ["Wire", "record"]
T = TypeVar("T", bound="Wire")
# Per class: the member on the wire, the attribute, the class of what is inside,
# and what stands for it if it is missing.
_Plan = List[Tuple[str, str, Any, Any]]
_MISSING = object()
_plans: Dict[type, _Plan] = {}


class Wire:
    """Read from the engine; cannot be changed."""

    _nested: ClassVar[Dict[str, Any]] = {}
    _secret: ClassVar[Tuple[str, ...]] = ()  # left out of texts

    @property
    def extra(self) -> Dict[str, Any]:
        """Members that the engine sent and this version does not know."""
        found: Dict[str, Any] = self.__dict__.get("_extra", {})
        return found

    @classmethod
    def _before(cls, data: Dict[str, Any]) -> Dict[str, Any]:
        """What JSON cannot say by itself, such as bytes."""
        return data

    @classmethod
    def read(cls: Type[T], data: Mapping[str, Any]) -> T:
        """Makes one of a JSON object. What is missing is None, false or empty."""
        one = cls.__new__(cls)
        into = one.__dict__
        left = cls._before(dict(data))
        for wire, name, nested, default in _plan(cls):
            value = left.pop(wire, _MISSING)
            if value is _MISSING:
                value = [] if default is list else default
            elif nested is not None and isinstance(value, dict):
                value = nested.read(value)
            elif nested is not None and isinstance(value, list):
                value = [nested.read(item) for item in value]
            into[name] = value
        if left:
            into["_extra"] = left
        return one

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={value!r}"
                            for name, value in self.__dict__.items()
                            if name[0] != "_" and name not in self._secret)
        return f"{type(self).__name__}({members})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    __hash__ = None  # type: ignore[assignment]  # as of lists and dicts, which it has

    def _refuse(self, *_: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed: it is "
                             "what the engine answered")

    if not TYPE_CHECKING:
        __setattr__ = __delattr__ = _refuse


def _plan(cls: Type[Wire]) -> _Plan:
    plan = _plans.get(cls)
    if plan is None:
        plan = []
        for name, hint in cls.__dict__["__annotations__"].items():
            wire = name.rstrip("_")
            default = (list if hint.startswith("List[")
                       else False if hint == "bool" else None)
            plan.append((wire, name, cls._nested.get(wire), default))
        _plans[cls] = plan
    return plan

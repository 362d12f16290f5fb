"""What every answer of the engine has in common: it is made from JSON, and what
this version of the SDK does not know is kept in `extra`."""
from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, ClassVar, Dict, List, Mapping, Tuple, Type, TypeVar

T = TypeVar("T", bound="Wire")
# Per class: member on the wire, attribute, class of what is inside, default.
_Plan = List[Tuple[str, str, Any, Any]]
_plans: Dict[type, _Plan] = {}


class Wire:
    """Read from the engine; cannot be changed."""

    _nested: ClassVar[Dict[str, Any]] = {}

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
        """Makes one of a JSON object. What is missing is None or empty."""
        one = cls.__new__(cls)
        into = one.__dict__
        left = cls._before(dict(data))
        for wire, name, nested, default in _plan(cls):
            value = left.pop(wire, MISSING)
            if value is MISSING:
                value = [] if default is list else default
            elif nested is not None and isinstance(value, dict):
                value = nested.read(value)
            elif nested is not None and isinstance(value, list):
                value = [nested.read(item) for item in value]
            into[name] = value
        if left:
            into["_extra"] = left
        return one


def _plan(cls: Type[Wire]) -> _Plan:
    plan = _plans.get(cls)
    if plan is None:
        plan = []
        for field in fields(cls):
            default: Any = None if field.default is MISSING else field.default
            if field.default_factory is not MISSING:
                default = list  # the only one there is
            wire = field.name.rstrip("_")
            plan.append((wire, field.name, cls._nested.get(wire), default))
        _plans[cls] = plan
    return plan

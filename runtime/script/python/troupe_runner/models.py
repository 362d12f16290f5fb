"""Classes for an `args_json_schema`: pydantic models where pydantic (1 or 2)
can be imported, else plain objects with the same attributes."""

from typing import Any, Dict, List, Literal, Optional, Union

_SCALARS = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": type(None),
}


class Record:
    """Stands in for a pydantic model where pydantic is missing."""

    def __init__(self, **members):
        self.__dict__.update(members)

    def __getitem__(self, name):
        return self.__dict__[name]

    def __eq__(self, other):
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __repr__(self):
        inner = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items())
        return f"{type(self).__name__}({inner})"

    def model_dump(self, **_):
        return dict(self.__dict__)


def _create_model():
    try:
        from pydantic import create_model

        return create_model
    except ImportError:
        return None


def _identifier(text, default):
    name = "".join(c if c.isalnum() or c == "_" else "_" for c in str(text or ""))
    return name if name.isidentifier() else default


class Models:
    """`named`: the classes by name. `convert`: JSON arguments to instances."""

    def __init__(self, schema):
        self._schema = schema if isinstance(schema, dict) else {}
        self._create = _create_model()
        self._defs = dict(self._schema.get("definitions") or {})
        self._defs.update(self._schema.get("$defs") or {})
        self._building = set()
        self.named = {}
        for name in self._defs:
            self._class_of(name, self._defs[name])
        self._root = self._class_of(
            _identifier(self._schema.get("title"), "Arguments"), self._schema
        )

    def convert(self, args):
        """The arguments with nested objects made instances; members that are
        absent but have a default in the schema are filled in."""
        properties = self._schema.get("properties") or {}
        known = {k: v for k, v in args.items() if k in properties}
        if self._create is None:
            made = {k: self._plain(v, properties[k]) for k, v in known.items()}
        else:
            root = self._root(**known)
            made = {k: getattr(root, k) for k in known}
        for name, about in properties.items():
            if name not in args and isinstance(about, dict) and "default" in about:
                made[name] = self._plain(about["default"], about)
        return {**args, **made}

    # -- building classes --------------------------------------------------------

    def _class_of(self, name, about):
        if name in self.named:
            return self.named[name]
        if not isinstance(about, dict) or "properties" not in about:
            return self._type_of(about)
        if name in self._building:
            return Any  # it contains itself: the inner one stays a dict
        self._building.add(name)
        members = {
            member: (self._type_of(inner), self._default(member, inner, about))
            for member, inner in about["properties"].items()
        }
        self._building.discard(name)
        self.named[name] = self._make(name, members)
        return self.named[name]

    def _make(self, name, members):
        if self._create is not None:
            try:
                return self._create(name, **members)
            except Exception:
                pass  # a member's name that pydantic refuses
        return type(name, (Record,), {})

    @staticmethod
    def _default(member, about, owner):
        if isinstance(about, dict) and "default" in about:
            return about["default"]
        return ... if member in (owner.get("required") or ()) else None

    def _type_of(self, about):
        if not isinstance(about, dict):
            return Any
        if "$ref" in about:
            name = str(about["$ref"]).rsplit("/", 1)[-1]
            return self._class_of(name, self._defs.get(name, {}))
        if about.get("enum"):
            return Literal[tuple(about["enum"])]
        for key in ("anyOf", "oneOf"):
            if about.get(key):
                return Union[tuple(self._type_of(arm) for arm in about[key])]
        kind = about.get("type")
        if isinstance(kind, list):
            return Union[tuple(self._type_of({**about, "type": k}) for k in kind)]
        if kind == "array":
            return List[self._type_of(about.get("items"))]
        if kind == "object":
            return self._object_type(about)
        if kind in _SCALARS and "default" in about and about["default"] is None:
            return Optional[_SCALARS[kind]]
        return _SCALARS.get(kind, Any)

    def _object_type(self, about):
        if about.get("properties") and about.get("title"):
            return self._class_of(_identifier(about["title"], "Item"), about)
        inner = about.get("additionalProperties")
        return Dict[str, self._type_of(inner)] if isinstance(inner, dict) else dict

    # -- without pydantic ----------------------------------------------------------

    def _plain(self, value, about):
        if not isinstance(about, dict):
            return value
        if "$ref" in about:
            name = str(about["$ref"]).rsplit("/", 1)[-1]
            return self._instance(name, value, self._defs.get(name, {}))
        for key in ("anyOf", "oneOf"):
            for arm in about.get(key) or ():
                made = self._plain(value, arm)
                if made is not value:
                    return made
        if isinstance(value, list):
            return [self._plain(v, about.get("items")) for v in value]
        if about.get("title") and about.get("properties"):
            return self._instance(_identifier(about["title"], "Item"), value, about)
        return value

    def _instance(self, name, value, about):
        kind = self.named.get(name)
        if not isinstance(value, dict) or kind is None:
            return value
        properties = about.get("properties") or {}
        members = {k: self._plain(v, properties.get(k)) for k, v in value.items()}
        if not issubclass(kind, Record):
            return kind(**members)
        for member, inner in properties.items():
            default = self._default(member, inner, about)
            if member not in members and default is not ...:
                members[member] = default
        return kind(**members)

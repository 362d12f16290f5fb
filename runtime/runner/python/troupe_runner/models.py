"""Classes for an `args_json_schema`: pydantic models where pydantic (1 or 2)
can be imported, else plain objects with the same attributes."""

import sys
from functools import lru_cache
from operator import attrgetter
from typing import Any, Dict, ForwardRef, List, Literal, Optional, Union

_SCALARS = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": type(None),
}


class Record:
    """Stands in for a pydantic model where pydantic is missing."""

    __slots__ = ("__dict__", "_came_as")

    def __init__(self, **members):
        self.__dict__.update(members)

    def __getitem__(self, name):
        return self.__dict__[name]

    def __eq__(self, other):
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __repr__(self):
        inner = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items())
        return f"{type(self).__name__}({inner})"

    def model_dump(self, exclude_unset=False, **_):
        members = dict(self.__dict__)
        return getattr(self, "_came_as", members) if exclude_unset else members


def _pydantic():
    try:
        import pydantic

        return pydantic
    except ImportError:
        return None


def _strict(pydantic):
    return {
        **_SCALARS,
        "string": pydantic.StrictStr,
        "integer": pydantic.StrictInt,
        "number": pydantic.StrictFloat,
        "boolean": pydantic.StrictBool,
    }


@lru_cache(1)
def _base_of(pydantic):
    """What our classes have in common: the names that a schema gives to members
    are the ones that count, and an arm of a union takes its own kind first."""

    class Base(pydantic.BaseModel):
        if not hasattr(pydantic.BaseModel, "model_dump"):

            class Config:
                smart_union = True  # pydantic 2 is, without being told

            def dict(self, **options):
                return super().dict(**{"by_alias": True, **options})

        else:

            def model_dump(self, **options):
                return super().model_dump(**{"by_alias": True, **options})

    return Base


def prepare():
    """What takes longest, for a process that has pydantic at hand."""
    if "pydantic" in sys.modules:
        _base_of(sys.modules["pydantic"])


def _identifier(text, default):
    name = "".join(c if c.isalnum() or c == "_" else "_" for c in str(text or ""))
    return name if name.isidentifier() else default


class Models:
    """`named`: the classes by name. `convert`: JSON arguments to instances."""

    def __init__(self, schema):
        self._schema = schema if isinstance(schema, dict) else {}
        self._defs = dict(self._schema.get("definitions") or {})
        self._defs.update(self._schema.get("$defs") or {})
        self._pydantic = _pydantic()
        try:
            self._build()
        except Exception:
            if self._pydantic is None:
                raise
            self._pydantic = None  # it refuses the name of a member, say
            self._build()

    def _build(self):
        self._base = self._pydantic and _base_of(self._pydantic)
        self._building = set()
        self._later = {}  # names in annotations: the classes meant by them
        self._fields = {}  # of the root, where a member cannot have its own name
        self.named = {}
        for name in self._defs:
            self._class_of(name, self._defs[name])
        title = _identifier(self._schema.get("title"), "Arguments")
        while title in self.named:
            title += "_"
        self._root = self._class_of(title, self._schema)
        self._complete()

    def _complete(self):
        """Classes that are inside of themselves know each other only now."""
        if not self._later or self._base is None:
            return
        known = {alias: self.named[name] for alias, name in self._later.items()}
        for kind in self.named.values():
            if hasattr(kind, "model_rebuild"):
                kind.model_rebuild(_types_namespace=known)
            else:
                kind.update_forward_refs(**known)

    def convert(self, args):
        """The arguments with nested objects made instances; members that are
        absent but have a default in the schema are filled in."""
        properties = self._schema.get("properties") or {}
        known = {k: v for k, v in args.items() if k in properties}
        if self._base is None:
            made = {k: self._plain(v, properties[k]) for k, v in known.items()}
        else:
            root = self._root(**known) if known else None
            made = {k: getattr(root, self._fields.get(k, k)) for k in known}
        for name, about in properties.items():
            if name not in args and isinstance(about, dict) and "default" in about:
                made[name] = self._plain(about["default"], about)
        return {**args, **made}

    # -- building classes --------------------------------------------------------

    def _class_of(self, name, about):
        if name in self.named:
            return self.named[name]
        record = isinstance(about, dict) and "properties" in about
        if name in self._building:  # it contains itself
            return self._named_later(name) if record else Any
        self._building.add(name)
        try:
            if not record:
                return self._type_of(about)
            members = {
                member: (self._type_of(inner), self._default(member, inner, about))
                for member, inner in about["properties"].items()
            }
        finally:
            self._building.discard(name)
        self.named[name] = self._make(name, members)
        return self.named[name]

    def _named_later(self, name):
        alias = f"Later{len(self._later)}"
        self._later[alias] = name
        return ForwardRef(alias)

    def _make(self, name, members):
        if self._base is None:
            return type(name, (Record,), {"__slots__": ()})
        fields, renamed = {}, {}
        for member, (kind, default) in members.items():
            field = self._field_of(member, members)
            if field != member:
                renamed[member] = field
                default = self._pydantic.Field(default, alias=member)
            fields[field] = (kind, default)
        made = self._pydantic.create_model(name, __base__=self._base, **fields)
        for member, field in renamed.items():
            if not hasattr(self._base, member):
                setattr(made, member, property(attrgetter(field)))
        self._fields = renamed  # the root is the last one
        return made

    def _field_of(self, member, taken):
        """Its own name, unless pydantic has another use for that."""
        known = hasattr(self._base, member)
        if hasattr(self._base, "model_dump"):
            known = known and member.startswith("model_")  # it only warns of others
        if not known and not member.startswith("_"):
            return member
        field = "field_" + member.strip("_")
        while field in taken:
            field += "_"
        return field

    @staticmethod
    def _default(member, about, owner):
        if isinstance(about, dict) and "default" in about:
            return about["default"]
        return ... if member in (owner.get("required") or ()) else None

    def _type_of(self, about, scalars=_SCALARS):
        if not isinstance(about, dict):
            return Any
        if "$ref" in about:
            name = str(about["$ref"]).rsplit("/", 1)[-1]
            return self._class_of(name, self._defs.get(name, {}))
        if about.get("enum"):
            return Literal[tuple(about["enum"])]
        if len(about.get("allOf") or ()) == 1:  # pydantic 1 wraps a $ref so
            return self._type_of(about["allOf"][0], scalars)
        kind = about.get("type")
        arms = about.get("anyOf") or about.get("oneOf")
        if not arms and isinstance(kind, list):
            arms = [{**about, "type": one} for one in kind]
        if arms:
            return self._union(arms, scalars)
        if kind == "array":
            return List[self._type_of(about.get("items"), scalars)]
        if kind == "object":
            return self._object_type(about, scalars)
        if kind in scalars and "default" in about and about["default"] is None:
            return Optional[scalars[kind]]
        return scalars.get(kind, Any)

    def _union(self, arms, scalars):
        made = [self._type_of(arm, scalars) for arm in arms]
        choice = sum(kind is not type(None) for kind in made) > 1
        if choice and self._base is not None and not hasattr(self._base, "model_dump"):
            # Pydantic 1 cuts 1.5 to fit into a list of integers, though the
            # next arm is one of numbers.
            made = [self._type_of(arm, _strict(self._pydantic)) for arm in arms] + made
        return Union[tuple(made)]

    def _object_type(self, about, scalars):
        if about.get("properties") and about.get("title"):
            return self._class_of(_identifier(about["title"], "Item"), about)
        inner = about.get("additionalProperties")
        if isinstance(inner, dict):
            return Dict[str, self._type_of(inner, scalars)]
        return dict

    # -- without pydantic ----------------------------------------------------------

    def _plain(self, value, about):
        if not isinstance(about, dict):
            return value
        if "$ref" in about:
            name = str(about["$ref"]).rsplit("/", 1)[-1]
            return self._instance(name, value, self._defs.get(name, {}))
        for key in ("allOf", "anyOf", "oneOf"):
            for arm in about.get(key) or ():
                made = self._plain(value, arm)
                if made is not value:
                    return made
        if isinstance(value, list) and "items" in about:
            return [self._plain(v, about.get("items")) for v in value]
        if about.get("title") and about.get("properties"):
            return self._instance(_identifier(about["title"], "Item"), value, about)
        if isinstance(value, dict) and isinstance(about.get("additionalProperties"), dict):
            return {k: self._plain(v, about["additionalProperties"]) for k, v in value.items()}
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
        made = kind(**members)
        made._came_as = value
        return made

"""From annotations, as they are written, to JSON schema. Nothing is executed."""

import ast

from troupe_runner import docstrings
from troupe_runner.failure import ToolFailure
from troupe_runner.members import (
    defaults_to_none,
    described,
    is_required_field,
    is_total,
    last_name,
    members_of,
    text_of,
)

_SIMPLE = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "bytes": {"type": "string"},
    "None": {"type": "null"},
    "NoneType": {"type": "null"},
    "Any": {},
    "object": {},
    "complex": {"type": "string"},
    "datetime": {"type": "string", "format": "date-time"},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "time"},
    "timedelta": {"type": "number"},
    "Decimal": {"type": "number"},
    "UUID": {"type": "string", "format": "uuid"},
    "Path": {"type": "string"},
    "PurePath": {"type": "string"},
    "EmailStr": {"type": "string", "format": "email"},
    "AnyUrl": {"type": "string", "format": "uri"},
    "HttpUrl": {"type": "string", "format": "uri"},
}
_LISTS = "list List Sequence MutableSequence Iterable Iterator Collection deque Deque".split()
_SETS = "set Set frozenset FrozenSet AbstractSet MutableSet".split()
_MAPS = "dict Dict Mapping MutableMapping OrderedDict DefaultDict defaultdict".split()
_WRAPPERS = "Required NotRequired Final ClassVar ReadOnly".split()
_MODEL_BASES = ("BaseModel",)
_MAX_DEPTH = 20  # of types inside of types
_MAX_PARTS = 10_000  # of all types together, written out: each class as often as it is named


class SchemaError(ToolFailure):
    def __init__(self, node, message):
        line = getattr(node, "lineno", None)
        super().__init__("SchemaError", f"line {line}: {message}" if line else message)


def module_level(body):
    """The statements that run with the module: also those inside of an if, a
    try or a with, as sources guard their imports and classes."""
    for node in body:
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from module_level(getattr(node, part, ()))
        for branch in getattr(node, "handlers", ()):
            yield from module_level(branch.body)


def is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def _arms(node):
    """The alternatives of a union, or the one type that it is."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _arms(node.left) + _arms(node.right)
    if isinstance(node, ast.Subscript):
        name, inner = last_name(node.value), _arguments(node)
        if name == "Optional":
            return _arms(inner[0]) + [ast.Constant(None)]
        if name == "Union":
            return [arm for part in inner for arm in _arms(part)]
        if name == "Annotated":
            arms = _arms(inner[0])
            return arms if len(arms) > 1 else [node]
    return [node]


def _arguments(node):
    inner = node.slice
    return list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]


class Types:
    """The types that a source knows: its own classes and aliases, and typing's."""

    def __init__(self, tree):
        self._classes = {}
        self._aliases = {}
        for node in ast.walk(tree):  # those of a function as well
            if isinstance(node, ast.ClassDef):
                self._classes.setdefault(node.name, node)
        for node in module_level(tree.body):
            if isinstance(node, ast.ClassDef):
                self._classes[node.name] = node
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                if isinstance(node.targets[0], ast.Name):
                    self._aliases[node.targets[0].id] = node.value
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                if isinstance(node.target, ast.Name):
                    self._aliases[node.target.id] = node.value
            elif node.__class__.__name__ == "TypeAlias":
                self._aliases[node.name.id] = node.value
        self._inside = []
        self._parts = 0

    def _count(self, node):
        """A few classes that name each other twice are a schema of millions."""
        self._parts += 1
        if self._parts > _MAX_PARTS:
            line = getattr(node, "lineno", None)
            where = f"line {line}: " if line else ""
            raise ToolFailure(
                "SchemaError",
                f"{where}the types have more than {_MAX_PARTS:,} parts when they are written out; give a json_schema",
            )

    def is_optional(self, node):
        return any(is_none(arm) for arm in _arms(self._unquoted(node)))

    def _inner(self, node):
        """The schema of a part: null stays one of its values, while an argument
        that may be null is one that may be left out."""
        made = self.schema(node)
        null = dict(_SIMPLE["None"])
        if made in ({}, null) or not self.is_optional(node):
            return made
        return {"anyOf": [*(made["anyOf"] if set(made) == {"anyOf"} else [made]), null]}

    def schema(self, node):
        if len(self._inside) > _MAX_DEPTH:
            raise SchemaError(node, "the type is nested too deeply")
        self._count(node)
        node = self._unquoted(node)
        arms = [arm for arm in _arms(node) if not is_none(arm)]
        if not arms:
            return dict(_SIMPLE["None"])
        if len(arms) == 1:
            return self._single(arms[0])
        made = []
        for arm in arms:
            one = self._single(arm)
            if one not in made:
                made.append(one)
        return made[0] if len(made) == 1 else {"anyOf": made}

    def _unquoted(self, node):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                inner = ast.parse(node.value.strip(), mode="eval").body
            except SyntaxError:
                raise SchemaError(node, f"the annotation {node.value!r} is not a type") from None
            return ast.copy_location(inner, node)
        return node

    def _single(self, node):
        node = self._unquoted(node)
        if len(_arms(node)) > 1:
            return self.schema(node)
        if isinstance(node, ast.Subscript):
            return self._generic(node)
        name = last_name(node)
        if name is None:
            raise SchemaError(node, f"{_shown(node)} is not a type that a schema can express")
        if name in self._classes and isinstance(node, ast.Name):
            return self._class(self._classes[name])
        if name in self._aliases and isinstance(node, ast.Name):
            return self._alias(name, node)
        if name in _SIMPLE:
            return dict(_SIMPLE[name])
        if name in _LISTS or name in ("tuple", "Tuple"):
            return {"type": "array", "items": {"type": "string"}}
        if name in _SETS:
            return {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
        if name in _MAPS:
            return {"type": "object"}
        raise SchemaError(
            node,
            f"the type {_shown(node)} is not known here; use a built-in type, a class"
            " of this source, or give a json_schema",
        )

    def _alias(self, name, node):
        if name in self._inside:
            return {}
        value = self._aliases[name]
        if isinstance(value, ast.Call):
            maker = last_name(value.func)
            if maker == "NewType" and len(value.args) == 2:
                return self.schema(value.args[1])
            if maker == "TypeVar":
                bound = [k.value for k in value.keywords if k.arg == "bound"]
                arms = bound or value.args[1:]
                return self._any_of(arms) if arms else {}
            raise SchemaError(node, f"{name} is not a type that can be read without running the source")
        self._inside.append(name)
        try:
            return self.schema(value)
        finally:
            self._inside.pop()

    def _any_of(self, nodes):
        made = [self.schema(node) for node in nodes]
        return made[0] if len(made) == 1 else {"anyOf": made}

    # -- generics ----------------------------------------------------------------

    def _generic(self, node):
        name, inner = last_name(node.value), _arguments(node)
        if name == "Annotated":
            return self._annotated(inner)
        if name == "Literal":
            return self._literal(node, inner)
        if name in _WRAPPERS:
            return self.schema(inner[0])
        if name in _LISTS:
            return {"type": "array", "items": self._inner(inner[0])}
        if name in _SETS:
            return {"type": "array", "items": self._inner(inner[0]), "uniqueItems": True}
        if name in ("tuple", "Tuple"):
            return self._tuple(inner)
        if name in _MAPS:
            if len(inner) != 2:
                raise SchemaError(node, f"{_shown(node)} needs a type for keys and one for values")
            return {"type": "object", "additionalProperties": self._inner(inner[1])}
        if name in ("type", "Type", "Callable"):
            raise SchemaError(node, f"{_shown(node)} has no JSON form")
        return self._single(node.value)  # a generic class of the source

    def _tuple(self, inner):
        if len(inner) == 2 and isinstance(inner[1], ast.Constant) and inner[1].value is ...:
            return {"type": "array", "items": self._inner(inner[0])}
        items = [self._inner(one) for one in inner]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

    def _annotated(self, inner):
        made = self.schema(inner[0])
        for note in inner[1:]:
            text = text_of(note) or described(note)
            if text:
                made["description"] = text
        return made

    def _literal(self, node, inner):
        values = []
        for one in inner:
            if isinstance(one, ast.Attribute):  # Literal[Color.RED]
                values.append(self._enum_value(one))
                continue
            try:
                values.append(ast.literal_eval(one))
            except ValueError:
                raise SchemaError(node, f"{_shown(one)} in Literal is not a constant") from None
        return _enumeration(values)

    def _enum_value(self, node):
        owner = self._classes.get(last_name(node.value))
        for name, value in members_of(owner) if owner else ():
            if name == node.attr:
                return value
        raise SchemaError(node, f"{_shown(node)} is not known here")

    # -- classes -------------------------------------------------------------------

    def _bases(self, node):
        """Names of all bases, through classes of this source."""
        names = []
        for base in node.bases:
            inner = base.value if isinstance(base, ast.Subscript) else base
            name = last_name(inner)
            names.append(name)
            if name in self._classes and name != node.name and len(names) < 100:
                names += self._bases(self._classes[name])
        return names

    def _class(self, node):
        if node.name in self._inside:
            return {"type": "object"}  # it contains itself
        self._count(node)
        self._inside.append(node.name)
        try:
            bases = self._bases(node)
            if {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}.intersection(bases):
                return self._enum(node)
            decorators = [last_name(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list]
            if (
                {"BaseModel", "TypedDict", "NamedTuple", "SQLModel"}.intersection(bases)
                or {"dataclass", "define", "frozen", "s", "attrs"}.intersection(decorators)
            ):
                return self._record(node, total=is_total(node), typed_dict="TypedDict" in bases)
        finally:
            self._inside.pop()
        raise SchemaError(
            node,
            f"class {node.name} is not a pydantic model, dataclass, TypedDict, NamedTuple or Enum:"
            " its members are not known without running it",
        )

    def _enum(self, node):
        values = [value for _, value in members_of(node)]
        if not values:
            raise SchemaError(node, f"the values of enum {node.name} are not constants")
        return _enumeration(values)

    def _record(self, node, total, typed_dict):
        properties, required = {}, []
        for base in node.bases:
            name = last_name(base)
            if name in self._classes and name != node.name:
                inherited = self._class(self._classes[name])
                properties.update(inherited.get("properties", {}))
                required += inherited.get("required", [])
        documented = docstrings.parse(ast.get_docstring(node))
        for field in node.body:
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            name = field.target.id
            wrapper = last_name(field.annotation.value) if isinstance(field.annotation, ast.Subscript) else None
            if wrapper == "ClassVar" or name.startswith("_") or name == "model_config":
                continue
            needless = defaults_to_none(field.value)  # without it, it is null as well
            made = self.schema(field.annotation) if needless else self._inner(field.annotation)
            text = described(field.value) or made.pop("description", None) or documented.parameters.get(name)
            if text:
                made["description"] = text
            properties[name] = made
            optional = field.value is not None and not is_required_field(field.value)
            if typed_dict:
                optional = wrapper == "NotRequired" or (not total and wrapper != "Required")
            if not optional and not self.is_optional(field.annotation) and name not in required:
                required.append(name)
        return {"type": "object", "properties": properties, "required": required}


_TYPE_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def _enumeration(values):
    kinds = {_TYPE_NAMES.get(type(value)) for value in values}
    if len(kinds) == 1 and None not in kinds:
        return {"type": kinds.pop(), "enum": values}
    return {"enum": values}


def _shown(node):
    return "'" + ast.unparse(node) + "'"

"""What a class says of its members, as it is written. Nothing is executed."""

import ast

_FIELDS = ("Field", "field", "ib")


def last_name(node):
    """`typing.List` and `List` are the same to us."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def is_total(node):
    for keyword in node.keywords:
        if keyword.arg == "total" and isinstance(keyword.value, ast.Constant):
            return bool(keyword.value.value)
    return True


def defaults_to_none(node):
    """`= None` and `= Field(None)`."""
    if isinstance(node, ast.Call) and last_name(node.func) in _FIELDS:
        named = [k.value for k in node.keywords if k.arg == "default"]
        node = (node.args + named or [node])[0]
    return isinstance(node, ast.Constant) and node.value is None


def is_required_field(node):
    """`= Field(...)` and `= field(metadata=...)` are no defaults by themselves."""
    if isinstance(node, ast.Constant):
        return node.value is ...
    if not isinstance(node, ast.Call) or last_name(node.func) not in _FIELDS:
        return False
    if node.args:
        return isinstance(node.args[0], ast.Constant) and node.args[0].value is ...
    return not any(k.arg in ("default", "default_factory", "factory") for k in node.keywords)


def described(node):
    """The text in `Field(description="...")` or `Doc("...")`."""
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg in ("description", "documentation"):
                return text_of(keyword.value)
        if last_name(node.func) == "Doc" and node.args:
            return text_of(node.args[0])
    return None


def text_of(node):
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def members_of(node):
    count = 0
    for statement in node.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            continue
        name = statement.targets[0].id
        if name.startswith("_"):
            continue
        count += 1
        if isinstance(statement.value, ast.Call) and last_name(statement.value.func) == "auto":
            bases = [last_name(base) for base in node.bases]
            yield name, name.lower() if "StrEnum" in bases else count
            continue
        try:
            yield name, ast.literal_eval(statement.value)
        except ValueError:
            continue

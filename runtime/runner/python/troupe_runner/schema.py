"""The JSON schema of a function, read from its source without running it."""

import ast

from troupe_runner import docstrings
from troupe_runner.annotations import SchemaError, Types, module_level

_RESERVED = ("self", "cls", "agent_state", "agent_id")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _choose(tree, wanted):
    functions = [node for node in module_level(tree.body) if isinstance(node, _FUNCTIONS)]
    if not functions:
        raise SchemaError(
            None, "No functions found in source code: define one at the top level of the source"
        )
    if not wanted:
        return functions[-1]
    for function in reversed(functions):
        if function.name == wanted:
            return function
    import difflib

    known = [function.name for function in functions]
    near = difflib.get_close_matches(wanted, known, 1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; there is {', '.join(map(repr, known))}"
    raise SchemaError(None, f"no function {wanted!r} at the top level of the source{hint}")


def _parameters(function):
    """(argument, has a default, only by keyword), in order; *args and **kwargs
    have no name that a caller could use."""
    arguments = function.args
    positional = arguments.posonlyargs + arguments.args
    first = len(positional) - len(arguments.defaults)
    for i, argument in enumerate(positional):
        yield argument, i >= first, False
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        yield argument, default is not None, True


def _property(function, argument, types, documented):
    name = argument.arg
    if argument.annotation is None:
        raise SchemaError(
            argument, f"Parameter '{name}' in function '{function.name}' lacks a type annotation"
        )
    try:
        made = types.schema(argument.annotation)
    except SchemaError as reason:
        raise SchemaError(None, f"{reason} (parameter '{name}' of '{function.name}')") from None
    text = documented.parameters.get(name) or made.pop("description", None)
    if text:
        made["description"] = text
    return made


def _description(documented):
    text = documented.description or "No description available"
    if documented.examples:
        text += "\n\nExamples:\n" + documented.examples
    return text


def derive(source, wanted=None):
    tree = ast.parse(source)
    function = _choose(tree, wanted)
    text = ast.get_docstring(function)
    if not text:
        raise SchemaError(
            function, f"Function {function.name} missing docstring: say what it does and describe its parameters"
        )
    documented = docstrings.parse(text)
    made = {"name": function.name, "description": _description(documented)}
    try:
        made["parameters"] = _described(tree, function, documented)
    except SchemaError as reason:
        made["unclear"] = str(reason)  # whoever describes them need not care
    return made


def _described(tree, function, documented):
    types = Types(tree)
    properties, required = {}, []
    for argument, has_default, only_by_keyword in _parameters(function):
        if argument.arg in _RESERVED:
            continue
        try:
            made = _property(function, argument, types, documented)
        except SchemaError:
            if not only_by_keyword:
                raise
            continue  # Letta never looks at it: what it takes, we take
        if only_by_keyword and "description" not in made:
            continue  # it does not show it to a model, and nobody asked us to
        properties[argument.arg] = made
        if not has_default and not types.is_optional(argument.annotation):
            required.append(argument.arg)
    return {"type": "object", "properties": properties, "required": required}

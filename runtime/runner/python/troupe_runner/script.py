"""A source as a program: whether it is one, and what a call leaves out of it."""

import ast
import re

_DEFINES = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assert,
    ast.Delete,
    ast.Pass,
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ASSIGNS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_TRIES = (ast.Try, getattr(ast, "TryStar", ast.Try))  # 3.11
_GUARD = "__main__"
_FOREIGN = re.compile(
    r"(?m)^[ \t]*(?:export\s|(?:const|let|var)\s+[\w$]+\s*[:=]|(?:async\s+)?function\b"
    r"|interface\s+\w|import\b.*\bfrom\s+['\"])|=>\s*\{"
)


def _is_guard(test):
    """`__name__ == "__main__"`, either way round."""
    if not isinstance(test, ast.Compare) or not all(isinstance(o, ast.Eq) for o in test.ops):
        return False
    sides = (test.left, *test.comparators)
    return any(isinstance(s, ast.Name) and s.id == "__name__" for s in sides) and any(
        isinstance(s, ast.Constant) and s.value == _GUARD for s in sides
    )


def _blocks(statement):
    """The statements inside of one that only decides about them, or None."""
    if isinstance(statement, ast.If):
        return statement.body + statement.orelse
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return statement.body
    if isinstance(statement, _TRIES):
        handlers = [s for h in statement.handlers for s in h.body]
        return statement.body + handlers + statement.orelse + statement.finalbody
    return None


def _functions_in(statements, found):
    for statement in statements:
        if isinstance(statement, _FUNCTIONS):
            found.add(statement.name)
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
            found.update(t.id for t in statement.targets if isinstance(t, ast.Name))
        else:
            _functions_in(_blocks(statement) or (), found)
    return found


def _calls(node, functions):
    """Whether an expression waits, or calls one of these functions, when it is
    evaluated."""
    if node is None or isinstance(node, ast.Lambda):
        return False
    if isinstance(node, ast.Await):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
        return True
    return any(_calls(child, functions) for child in ast.iter_child_nodes(node))


def _acts(statement, functions):
    if isinstance(statement, _DEFINES):
        return False
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)  # a docstring, `...`
    if isinstance(statement, _ASSIGNS):
        return _calls(statement.value, functions)
    if isinstance(statement, ast.If) and _is_guard(statement.test):
        return True
    inner = _blocks(statement)
    return inner is None or any(_acts(s, functions) for s in inner)


def is_program(tree):
    """Whether the source does something by itself (prints, loops, calls its own
    functions, has a `__main__` guard), or defines no function that one could
    call. One that only defines is there to be called."""
    functions = _functions_in(tree.body, set())
    return not functions or any(_acts(s, functions) for s in tree.body)


def without_guard(source, file):
    """The parse tree of a source whose `__main__` guard is not to run, or None
    where it has none."""
    if _GUARD not in source:
        return None
    tree = compile(source, file, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    kept = []
    for statement in tree.body:
        if isinstance(statement, ast.If) and _is_guard(statement.test):
            kept.extend(statement.orelse)
        else:
            kept.append(statement)
    if len(kept) == len(tree.body) and all(map(lambda a, b: a is b, kept, tree.body)):
        return None
    tree.body = kept
    return tree


def looks_foreign(source):
    """Whether a source that is not Python may be JavaScript or TypeScript."""
    return _FOREIGN.search(source) is not None

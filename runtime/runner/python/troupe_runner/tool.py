"""Running a tool's source: as a module of its own, then one function of it, or
the value of a snippet's last expression."""

import atexit
import builtins
import functools
import linecache
import marshal
import sys
import types
from importlib.util import MAGIC_NUMBER

from troupe_runner import preamble
from troupe_runner.failure import ToolFailure
from troupe_runner.signature import bind

_TOP_LEVEL_AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_COROUTINE = 0x80  # inspect.CO_COROUTINE
_SETTLED = frozenset((dict, list, str, int, float, bool, type(None)))
_MAX_ITEMS = 100_000  # of an async generator, which might never end


def file_of(request):
    name = request.head.get("name") or request.head.get("function") or "tool"
    if name.isascii() and name.isidentifier():
        return name + ".py"
    return "".join(c if c.isalnum() or c in "_-" else "_" for c in name) + ".py"


# -- compiling -----------------------------------------------------------------


def _remember_lines(file, source):
    """So that tracebacks show the tool's lines though there is no file."""
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)


def compile_tool(source, file, guarded=False):
    """`guarded`: a `__main__` guard in it runs, as it does at Letta. Else a call
    is no start of the program, and what would call the function again is left
    out."""
    if guarded or "__main__" not in source:
        return (compile(source, file, "exec", dont_inherit=True),)
    from troupe_runner import script

    tree = script.without_guard(source, file)
    return (compile(source if tree is None else tree, file, "exec", dont_inherit=True),)


def compile_snippet(source, file):
    """(statements, last expression or None); `await` may stand at the top."""
    return _snippet(_parsed(source, file), file)


def compile_script(source, file):
    """A source of which no call was asked: a program as a snippet is compiled,
    one that only defines as a tool."""
    from troupe_runner import script

    tree = _parsed(source, file)
    return _snippet(tree, file) if script.is_program(tree) else compile_tool(source, file)


def compiler_of(head):
    if head["op"] == "code" or head.get("snippet"):
        return compile_snippet
    if head.get("script"):
        return compile_script
    return functools.partial(compile_tool, guarded=head.get("guarded", False))


def _parsed(source, file):
    import ast

    flags = ast.PyCF_ONLY_AST | _TOP_LEVEL_AWAIT
    return compile(source, file, "exec", flags, dont_inherit=True)


def _snippet(tree, file):
    import ast

    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    flags = _TOP_LEVEL_AWAIT
    return (
        compile(tree, file, "exec", flags, dont_inherit=True),
        last and compile(last, file, "eval", flags, dont_inherit=True),
    )


def dump(code):
    return MAGIC_NUMBER + marshal.dumps(code)


def _load(request, source, file):
    """The code that `dump` made in another process of the same interpreter,
    or freshly compiled."""
    if request.code[: len(MAGIC_NUMBER)] == MAGIC_NUMBER:
        return marshal.loads(memoryview(request.code)[len(MAGIC_NUMBER) :])
    try:
        return compiler_of(request.head)(source, file)
    except SyntaxError as why:
        from troupe_runner import script

        if script.looks_foreign(source):
            why.msg += "; it looks like JavaScript or TypeScript: set the language"
        raise


# -- the module ----------------------------------------------------------------


def _new_module(file, codes, models):
    module = types.ModuleType("__main__")
    module.__file__ = file
    module.__builtins__ = builtins
    sys.modules["__main__"] = module
    sys.argv = [file]
    preamble.offer(module.__dict__, codes)
    if models is not None:
        module.__dict__.update(models.named)
    return module.__dict__


# -- running -------------------------------------------------------------------


async def _finish(awaitable):
    return await awaitable


async def _collect(generator):
    made = []
    async for item in generator:
        made.append(item)
        if len(made) > _MAX_ITEMS:
            raise ToolFailure("ValueError", f"more than {_MAX_ITEMS} items generated")
    return made


def _wait_for(coroutine):
    import asyncio

    return asyncio.run(coroutine)


def _can(value, method):
    """Asks the class, as the language does: what an instance says of names that
    it never heard of is its own affair."""
    try:
        return hasattr(type(value), method)
    except Exception:
        return False  # so may a class of classes


def _settled(value):
    """The result behind a coroutine, another awaitable, an async generator."""
    if type(value) in _SETTLED:
        return value
    if _can(value, "__await__"):
        return _wait_for(_finish(value))
    if _can(value, "__aiter__") and _can(value, "__anext__"):
        return _wait_for(_collect(value))
    return value


def _line_of(value, file):
    """Where a function of this file begins; -1 for everything else."""
    try:
        code = getattr(value, "__wrapped__", value).__code__
        return code.co_firstlineno if code.co_filename == file else -1
    except Exception:
        return -1


def _last_function(namespace, file):
    """The one that a source without a name means: the last at its top level."""
    best, line = None, -1
    for value in namespace.values():
        if _line_of(value, file) > line:
            best, line = value, _line_of(value, file)
    return best


def _find(namespace, name, file):
    if not name:
        function = _last_function(namespace, file)
        if function is None:
            raise ToolFailure(
                "NameError",
                "the source defines no function to call; define one, or leave out function and args "
                "to run it as a script",
            )
        return function
    function = namespace.get(name)
    if callable(function):
        return function
    if name in namespace and function is not None:
        kind = type(function).__name__
        raise ToolFailure("TypeError", f"{name!r} in the source is not a function but a {kind}")
    raise ToolFailure("NameError", _not_found(namespace, name, file))


def _not_found(namespace, name, file):
    import difflib

    known = [key for key, value in namespace.items() if _line_of(value, file) >= 0]
    text = f"the source defines no function {name!r} at its top level"
    near = difflib.get_close_matches(name, known, 1)
    if near:
        text += f"; did you mean {near[0]!r}?"
    elif known:
        text += f"; it defines {', '.join(map(repr, known))}"
    return text


def run(request):
    """Runs the source as its request says; returns its value."""
    file = file_of(request)
    source = request.source
    _remember_lines(file, source)
    codes = _load(request, source, file)
    if len(codes) == 2:
        return _run_program(request, codes, file)
    return _call(request, codes, file)


def _call(request, codes, file):
    """Runs the source, calls the function, returns its value."""
    models = request.models()
    namespace = _new_module(file, codes, models)
    exec(codes[0], namespace)
    name = request.head.get("function")
    function = _find(namespace, name, file)
    if not name:
        request.called = getattr(function, "__name__", None)
    args = request.args()
    if models is not None:
        args = models.convert(args)
    reserved = {"agent_id": request.head.get("agent_id"), "agent_state": request.state}
    dropped = request.head.get("nulls", ())
    positional, named = bind(function, args, reserved, namespace, dropped)
    return _settled(function(*positional, **named))


def _run_program(request, codes, file):
    """Runs a snippet or a script; the value is that of its last expression. That
    it ends itself with 0 is not a failure of a program."""
    namespace = _new_module(file, codes, None)
    if request.shown is not None:
        namespace["display"] = request.shown.display
    namespace.update(request.args())
    before = _threads()
    try:
        return _evaluate(codes, namespace)
    except SystemExit as end:
        if end.code in (None, 0):
            return None
        how = f"exit code {end.code}" if isinstance(end.code, int) else str(end.code)
        raise ToolFailure("SystemExit", how) from None
    finally:
        if request.head["op"] != "code":
            _finish_program(before, request.head.get("keep_env"))


def _evaluate(codes, namespace):
    statements, last = codes
    awaits = statements.co_flags & _COROUTINE or (last and last.co_flags & _COROUTINE)
    if not awaits:
        exec(statements, namespace)
        return _settled(eval(last, namespace)) if last else None

    async def run():
        for code in (statements, last):
            value = eval(code, namespace) if code else None
            if _can(value, "__await__"):
                value = await value
        return value

    return _settled(run())


def _threads():
    threading = sys.modules.get("threading")
    if not threading:
        return set()
    return set(threading.enumerate()) - {threading.current_thread()}


def _finish_program(before, is_elsewhere):
    """What a program's process does before it ends: its threads first, then what
    was registered; not in a process that goes on without us."""
    for thread in _threads() - before:
        if not thread.daemon:
            thread.join()
    if not is_elsewhere:
        atexit._run_exitfuncs()

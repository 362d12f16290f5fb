"""The Python interpreter of a context, behind python_images.py: reads cells from
descriptor 3 and tells there what comes of them. What they print goes to
descriptors 1 and 2. Standard library only, Python 3.8 and later; read from
standard input, which leaves that at its end, so that input() raises EOFError.

A frame is a line `WORD NAME:BYTES NAME:BYTES ...` and then the parts that it
names, one behind the other (contexts/kernel_frames.hpp)."""

import ast
import builtins
import linecache
import os
import signal
import sys
import threading
import traceback
import types

CHANNEL = 3
KEPT_SOURCES = 1000  # cells whose lines tracebacks show
COROUTINE = 0x80  # inspect.CO_COROUTINE, without importing that
FUTURES = 0x1FF0000  # flags of `from __future__ import ...`

OURS = (lambda: 0).__code__.co_filename


class Channel:
    """Frames over a socket. An interrupt never cuts one in two."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.buffered = b""
        self.lock = threading.RLock()
        self.sending = 0

    def fill(self):
        more = os.read(self.descriptor, 1 << 16)
        if not more:
            os._exit(0)  # the engine has gone
        self.buffered += more

    def read(self):
        while b"\n" not in self.buffered:
            self.fill()
        head, _, self.buffered = self.buffered.partition(b"\n")
        word, *sizes = head.decode("ascii").split(" ")
        parts = {}
        for one in sizes:
            name, _, size = one.rpartition(":")
            while len(self.buffered) < int(size):
                self.fill()
            parts[name] = self.buffered[: int(size)]
            self.buffered = self.buffered[int(size) :]
        return word, parts

    def send(self, word, parts=()):
        head = [word]
        body = []
        for name, content in parts:
            if isinstance(content, str):
                content = content.encode("utf-8", "backslashreplace")
            head.append("%s:%d" % (name, len(content)))
            body.append(content)
        text = " ".join(head).encode("ascii") + b"\n" + b"".join(body)
        self.sending += 1
        try:
            with self.lock:
                view = memoryview(text)
                while view:
                    view = view[os.write(self.descriptor, view) :]
        finally:
            self.sending -= 1
        interrupts.raise_late()


class Interrupts:
    """SIGINT stops a cell, and nothing between two cells."""

    armed = False
    late = False

    def install(self):
        if signal.getsignal(signal.SIGINT) != self.hear:
            signal.signal(signal.SIGINT, self.hear)

    def hear(self, number, frame):
        if not self.armed:
            return
        if channel.sending:
            self.late = True
        else:
            raise KeyboardInterrupt

    def raise_late(self):
        if self.late and self.armed and not channel.sending:
            self.late = False
            raise KeyboardInterrupt


channel = Channel(CHANNEL)
interrupts = Interrupts()


def tell(word, value, display_id=None):
    parts = bundle_of(value)
    if display_id is not None:
        parts.insert(0, ("id", cut(str(display_id), 100)))
    flush()
    channel.send(word, parts)


def display(*values, display_id=None, update=False):
    """Shows values in each form that they have."""
    for value in values:
        tell("update" if update else "display", value, display_id)


def show_figures():
    """What matplotlib has open, as pictures."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not hasattr(pyplot, "get_fignums"):
        return
    import io

    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        picture = io.BytesIO()
        figure.savefig(picture, format="png", bbox_inches="tight")
        pyplot.close(figure)
        flush()
        channel.send(
            "display",
            bounded({"image/png": picture.getvalue(), "text/plain": repr(figure)}),
        )


# -- cells ------------------------------------------------------------------


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # a cell has replaced it, or closed it


def is_silent(code):
    """Whether it ends with a semicolon, which is not that of a comment."""
    if ";" not in code.rstrip().rpartition("\n")[2]:
        return False
    import io
    import tokenize

    last = ""
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER)
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type not in skipped:
                last = token.string
    except (tokenize.TokenError, SyntaxError):
        return False
    return last == ";"


class Interpreter:
    def __init__(self):
        self.main = types.ModuleType("__main__")
        self.names = self.main.__dict__
        self.names.update(__builtins__=builtins, display=display)
        self.replaced = sys.modules["__main__"]  # kept: its functions are ours
        sys.modules["__main__"] = self.main
        self.count = 0
        self.sources = []
        self.futures = 0
        self.loop = None

    def compile(self, tree, name, mode):
        code = compile(
            tree,
            name,
            mode,
            flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | self.futures,
            dont_inherit=True,
        )
        self.futures |= code.co_flags & FUTURES
        return code

    def remember(self, name, code):
        lines = code.splitlines(True)
        linecache.cache[name] = (len(code), None, lines, name)
        self.sources.append(name)
        if len(self.sources) > KEPT_SOURCES:
            linecache.cache.pop(self.sources.pop(0), None)

    def parse(self, code, name):
        try:
            return ast.parse(code, name)
        except SyntaxError as e:
            rewritten = with_commands(code)
            wrong = e.with_traceback(None)
        try:
            return ast.parse(rewritten, name)
        except SyntaxError:
            raise wrong from None

    def evaluate(self, code):
        value = eval(code, self.names)
        return self.wait_for(value) if code.co_flags & COROUTINE else value

    def wait_for(self, coroutine):
        import asyncio

        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        task = self.loop.create_task(coroutine)
        try:
            return self.loop.run_until_complete(task)
        except KeyboardInterrupt:
            task.cancel()
            self.loop.run_until_complete(asyncio.wait([task], timeout=1))
            if task.done() and not task.cancelled():
                task.exception()  # which is not told as one that was forgotten
            raise

    def carry_out(self, code, name):
        tree = self.parse(code, name)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = tree.body.pop().value
        if tree.body:
            self.evaluate(self.compile(tree, name, "exec"))
        if last is None:
            return
        value = self.evaluate(self.compile(ast.Expression(last), name, "eval"))
        if value is not None and not is_silent(code):
            self.names["_"] = value
            tell("result", value)

    def run(self, code):
        self.count += 1
        name = "<cell %d>" % self.count
        self.remember(name, code)
        status = "ok"
        process = os.getpid()
        interrupts.install()
        try:
            interrupts.armed = True
            self.carry_out(code, name)
            show_figures()
            interrupts.armed = False
        except BaseException as e:
            interrupts.armed = False
            if os.getpid() == process:
                status = "interrupted" if type(e) is KeyboardInterrupt else "error"
                tell_error(e)
        interrupts.late = False
        flush()
        if os.getpid() != process:
            os._exit(0)  # a fork of a cell, which has come to the cell's end
        channel.send("end", [("status", status), ("count", str(self.count))])


def without_ours(told, depth=0):
    """Takes the frames of this file away, and a heading with nothing below."""
    theirs = [f for f in told.stack or () if f.filename != OURS]
    told.stack = traceback.StackSummary.from_list(theirs)
    for other in (told.__cause__, told.__context__):
        if other is not None and depth < 50:
            without_ours(other, depth + 1)


def text_of(e):
    told = traceback.TracebackException(type(e), e, e.__traceback__)
    without_ours(told)
    heading = "Traceback (most recent call last):\n"
    text = "".join(told.format())
    if not told.stack and text.startswith(heading):
        text = text[len(heading) :]
    return text


def tell_error(e):
    try:
        text = text_of(e)
        value = str(e)
    except BaseException:
        text = value = "(the exception cannot be shown)"
    if len(text) > LONGEST_TEXT:
        text = "...\n" + text[-LONGEST_TEXT:]
    flush()
    channel.send(
        "error",
        [("name", cut(type(e).__name__, 200)), ("value", cut(value)), ("traceback", text)],
    )


# -- commands that are not Python ----------------------------------------------


def run_shell(line):
    import subprocess

    code = subprocess.call(["/bin/sh", "-c", line], stdin=subprocess.DEVNULL)
    interpreter.names["_exit_code"] = code


def run_bash(text):
    import subprocess

    code = subprocess.call(["/bin/bash", "-c", text], stdin=subprocess.DEVNULL)
    if code != 0:
        raise RuntimeError("bash ended with exit code %d" % code)


def run_magic(line):
    name, _, rest = line.partition(" ")
    rest = rest.strip()
    if name == "cd":
        os.chdir(os.path.expanduser(rest or "~"))
    elif name == "env" and "=" in rest:
        key, _, value = rest.partition("=")
        os.environ[key.strip()] = value.strip()
    elif name == "env":
        print(os.environ.get(rest, "") if rest else dict(os.environ))
    elif name == "pip":
        import importlib
        import shlex

        run_shell(shlex.quote(sys.executable) + " -m pip " + rest)
        importlib.invalidate_caches()
    else:
        raise NameError("there is no command %%%s; pip, cd, env and %%bash are" % name)


COMMANDS = {"!": "__troupe_shell__", "%": "__troupe_magic__"}


def with_commands(code):
    """Lines that begin with ! or % as calls; asked for what is not Python."""
    if code.lstrip().startswith("%%bash"):
        return "__troupe_bash__(%r)\n" % code.lstrip().partition("\n")[2]
    lines = []
    for line in code.split("\n"):
        bare = line.lstrip()
        call = COMMANDS.get(bare[:1])
        if call:
            line = "%s%s(%r)" % (line[: len(line) - len(bare)], call, bare[1:])
        lines.append(line)
    return "\n".join(lines)


# -- the life of it -----------------------------------------------------------


def leave_to_parent():
    """A fork has its parent's memory, and not its channel."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, CHANNEL, inheritable=False)
    os.close(null)


def main():
    os.set_inheritable(CHANNEL, False)
    os.register_at_fork(after_in_child=leave_to_parent)
    os.environ.setdefault("MPLBACKEND", "agg")
    sys.argv = [""]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    if "warnings" in sys.modules:
        sys.modules["warnings"].filterwarnings("ignore", message=".*non-interactive")
    interpreter.names.update(
        __troupe_shell__=run_shell, __troupe_magic__=run_magic, __troupe_bash__=run_bash
    )
    interrupts.install()
    channel.send("ready")
    while True:
        word, parts = channel.read()
        if word == "run":
            interpreter.run(parts["code"].decode("utf-8", "replace"))
        elif word == "image":
            save_image(parts)


interpreter = Interpreter()
main()

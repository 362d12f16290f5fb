"""Becomes a zygote: `python3 -I -B boot.py MODULE RUNNERS INSIDE TRICKS PRELOAD
PROFILE BASICS`.

Imports what tools need, does what they do with a tool of our own, and hands the
process over to C code for good. RUNNERS is where the runners are on the host, INSIDE where
a run sees them, BASICS a line for each variable that every run has. PROFILE says
which blocks of memory are to lie together; with the trick "learn" it is written, and
nothing else is done. Descriptor 3 is the engine's."""

import os
import sys

CONTROL = 3

# Hooks that undo, in a child, what threads of its parent may have held. This
# parent has one thread and forks at a place of its own choosing, so there is
# nothing to undo, and running them would cost a child half a millisecond.
NEEDLESS = {
    "asyncio.events",
    "concurrent.futures.thread",
    "logging",
    "multiprocessing.util",
    "threading",
}


def sibling(name):
    """A file beside this one, which is on no path."""
    from importlib.machinery import SourceFileLoader

    module = type(sys)(name)
    place = os.path.join(os.path.dirname(sys.argv[0]), name + ".py")
    SourceFileLoader(name, place).exec_module(module)
    return module


training = sibling("training")


def in_memory(module_path):
    """A copy of the module, and a descriptor of it: what is mapped, every run can
    read in /proc, and this says nothing of the host."""
    noexec_seal = 8  # Linux 6.3; it is mapped, and never executed
    with open(module_path, "rb") as source:
        content = source.read()
    for flags in (noexec_seal, 0):
        try:
            fd = os.memfd_create("interpreter", flags)
        except (AttributeError, OSError):
            continue
        with open(fd, "wb", closefd=False) as to:
            to.write(content)
        return f"/proc/self/fd/{fd}", fd
    return module_path, None


def start_over(module_path, tricks, profile, arguments):
    """Once more from the start, with the module in place before the
    interpreter: it has a say in where memory comes from."""
    module_path, _ = in_memory(module_path)
    environment = dict(os.environ, LD_PRELOAD=module_path, TROUPE_GATHER_HEAP="1")
    if "learn" in tricks:
        environment["TROUPE_LEARN_BLOCKS"] = "1"
    elif profile:
        environment["TROUPE_HOT_BLOCKS"] = profile
    options = ["-I", "-B", "-X", "utf8", sys.argv[0], module_path]
    os.execve(sys.executable, [sys.executable, *options, *arguments], environment)


def has_started_over():
    return "TROUPE_GATHER_HEAP" in os.environ


def keep_only_needed_hooks():
    """From here on at-fork hooks are the child's part alone, if at all."""
    register = os.register_at_fork

    def register_at_fork(*, before=None, after_in_parent=None, after_in_child=None):
        if after_in_child is None:
            return
        if getattr(after_in_child, "__module__", None) not in NEEDLESS:
            register(after_in_child=after_in_child)

    os.register_at_fork = register_at_fork
    return register


def load_module(path):
    from importlib.machinery import ExtensionFileLoader, ModuleSpec
    from _imp import create_dynamic

    name = "troupe_zygote"
    loader = ExtensionFileLoader(name, path)
    return create_dynamic(ModuleSpec(name, loader, origin=path))


def load_module_from_memory(path):
    fd = None
    if not has_started_over():
        path, fd = in_memory(path)
    elif path.startswith("/proc/self/fd/"):
        fd = int(os.path.basename(path))
    module = load_module(path)
    if fd is not None:
        os.close(fd)
    return module


def runners_by_their_name_inside(here, there):
    """Imports the runners under the names that a run sees them by, which are in
    every trace. Returns what puts things back."""
    from importlib.machinery import SourceFileLoader
    from importlib.util import spec_from_file_location

    class Loader(SourceFileLoader):
        def get_data(self, path):
            return super().get_data(path.replace(there, here, 1))

        def path_stats(self, path):
            return super().path_stats(path.replace(there, here, 1))

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            first, *rest = name.split(".")
            if first != "troupe_runner":
                return None
            places = None if rest else [os.path.join(there, first)]
            file = os.path.join(there, first, *(rest or ["__init__"])) + ".py"
            loader = Loader(name, file)
            return spec_from_file_location(
                name, file, loader=loader, submodule_search_locations=places
            )

    def stop():
        sys.meta_path.remove(Finder)
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == "troupe_runner":
                module.__loader__.__class__ = SourceFileLoader

    sys.meta_path.insert(0, Finder)
    return stop


def tell_imports(chapter):
    """Says which module is being imported: what it allocates is known by that.
    Returns what puts things back."""
    from importlib.machinery import SourceFileLoader

    execute = SourceFileLoader.exec_module

    def exec_module(self, module):
        chapter(module.__name__)
        try:
            execute(self, module)
        finally:
            chapter(module.__name__ + " done")

    def stop():
        SourceFileLoader.exec_module = execute
        chapter("imported")

    SourceFileLoader.exec_module = exec_module
    return stop


def import_all(names):
    import importlib

    for name in names:
        try:
            importlib.import_module(name)
        except Exception:
            pass  # not on this host, or broken there: tools will be told


def reseed_numpy():
    """numpy's own generator has no hook: its children would draw alike."""
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        os.register_at_fork(after_in_child=numpy_random.seed)


def request_for(basics, source, function, args):
    """What the engine sends to have it called."""
    import json

    from troupe_runner import frame, tool

    code = tool.dump(tool.compile_tool(source, function + ".py"))
    env = {**basics, **training.WARM_VARIABLES}
    head = {**training.WARM_HEAD, "function": function, "env": env}
    head = json.dumps(head).encode()
    return frame.encode(frame.REQUEST, (head, source.encode(), args, b"", code))


def warmer(
    basics,
    leave,
    source=training.WARM_SOURCE,
    function="summarize",
    args=training.WARM_ARGS,
):
    """Does all that a run does, reading and writing the channel included."""
    from troupe_runner import serve, variables

    request = request_for(basics, source, function, args)

    def warm():
        path = list(sys.path)
        ends = os.pipe()
        os.write(ends[1], request)
        serve.answer_one(*ends)
        for fd in ends:
            os.close(fd)
        variables.assign(basics)
        # What else a run uses, and could not be called here: as if it had been.
        for part in (serve.serve_one, serve.serve_one.__code__, leave):
            sys.getrefcount(part)
        sys.path[:] = path

    return warm


def trainers(warm, basics, leave):
    """Runs like those of many tools, to see what they write to."""
    return [warm] + [
        warmer(basics, leave, source, "work", b"{}") for source in training.SOURCES
    ]


def elsewhere(function):
    """The bytes that it returns, without anything of it being left here."""
    ends = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with open(ends[1], "wb") as to:
                to.write(function())
        finally:
            os._exit(0)
    os.close(ends[1])
    with open(ends[0], "rb") as source:
        made = source.read()
    os.waitpid(child, 0)
    return made


def plays(basics):
    """Runs to be rehearsed, each with its length before it."""
    requests = [
        request_for(basics, source, "work", b"{}") for source in training.SOURCES
    ]
    return b"".join(len(r).to_bytes(8, sys.byteorder) + r for r in requests)


def show_as_started_cold(module, script):
    """What tells how this process was started, tells of a cold run's start."""
    program = os.path.realpath(sys.executable)  # of a bare venv, say
    started = [program, "-I", "-B", "-X", "utf8", script]
    getattr(sys, "orig_argv", [])[:] = started  # from 3.10 on
    for place in list(sys.path_importer_cache):
        if place.endswith("boot.py"):
            del sys.path_importer_cache[place]
    globals().pop("__file__", None)
    module.show_start_as(b"".join(os.fsencode(word) + b"\0" for word in started))


def with_pipes(action, *arguments):
    """Output to a pipe, as runs have it: streams remember what they are on."""
    kept = [(fd, os.dup(fd)) for fd in (1, 2)]
    ends = os.pipe()
    for fd, _ in kept:
        os.dup2(ends[1], fd)
    try:
        return action(*arguments)
    finally:
        for fd, copy in kept:
            os.dup2(copy, fd)
            os.close(copy)
        for fd in ends:
            os.close(fd)


def main(module_path, runners, inside, tricks, preload, profile, basics):
    if "learn" in tricks and not has_started_over():
        os.nice(19)  # nobody waits for it
    if "huge-heap" in tricks and not has_started_over():
        start_over(module_path, tricks, profile, sys.argv[2:])
    register = keep_only_needed_hooks()
    module = load_module_from_memory(module_path)
    if "huge-heap" in tricks:
        module.gather_heap()
    stop_telling = tell_imports(module.chapter)
    there = os.path.join(inside, "python")
    stop_finding = runners_by_their_name_inside(os.path.join(runners, "python"), there)
    import troupe_runner

    troupe_runner.preload()
    stop_finding()
    import_all([name for name in preload.split(",") if name])
    stop_telling()
    basics = dict(line.split("=", 1) for line in basics.splitlines())
    with_pipes(troupe_runner.prepare, basics, module.set_variables)
    warm = warmer(basics, module.exit)
    for _ in range(training.WARM_RUNS):
        warm()
    rehearsed = elsewhere(lambda: plays(basics)) if "ready-pages" in tricks else b""
    os.register_at_fork = register
    reseed_numpy()

    show_as_started_cold(module, os.path.join(there, "serve.py"))

    import gc

    sys.argv[:] = [""]
    gc.collect()
    gc.freeze()
    if "learn" in tricks:
        with_pipes(module.learn, profile, trainers(warm, basics, module.exit))
    gc.disable()  # the parent never collects; each child turns it on again
    run = troupe_runner.serve_one
    module.serve(CONTROL, run, module.exit, warm, tricks, rehearsed)


main(*sys.argv[1:8])

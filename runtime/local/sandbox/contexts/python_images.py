"""How an interpreter is saved, so that others begin as it is now: the second
part of the Python interpreter of a context. A fork of it writes its memory into
a file of the engine's, with code of the engine's; where the file is executed,
the fork goes on."""

SCRATCH = (2 << 20) + (8192 * 8)  # images/image_format.hpp: least_scratch
KEPT_MODES = 0o4000000 - 1 & ~(0o100 | 0o200 | 0o1000)  # not O_CREAT, O_EXCL, O_TRUNC
SAME_NUMBER = 125  # images/image_format.hpp: restore_exit
OURS_OPEN = 4  # the first descriptors: input, output, errors, channel


class CannotBeSaved(Exception):
    pass


def told_threads():
    names = []
    for one in sorted(os.listdir("/proc/self/task"), key=int):
        if int(one) != os.getpid():
            with open("/proc/self/task/%s/comm" % one) as file:
                names.append(file.read().strip())
    known = [t.name for t in threading.enumerate() if t is not threading.main_thread()]
    return known or names, len(names), bool(known)


def refuse_threads():
    """One that was joined is there for a moment still."""
    import time

    until = time.monotonic() + 0.5
    names, count, lives = told_threads()
    while count and not lives and time.monotonic() < until:
        time.sleep(0.001)
        names, count, lives = told_threads()
    if count:
        shown = ", ".join(names[:8])
        raise CannotBeSaved("it has %d threads beside its own: %s" % (count, shown))


def parts_of_loop(loop):
    """Descriptors of an event loop in which nothing waits; nobody else's."""
    if loop is None or loop.is_closed():
        return {}
    asyncio = sys.modules["asyncio"]
    if asyncio.all_tasks(loop) or len(loop._selector.get_map()) > 1:
        raise CannotBeSaved("its event loop has tasks or connections that go on")
    return {one.fileno(): one for one in (loop._selector, loop._ssock, loop._csock)}


def forget_loop(loop):
    """In the fork: the loop's own descriptors go, and it is not asked to close
    them, which would reach the one of our parent."""
    for one in parts_of_loop(loop).values():
        if hasattr(one, "detach"):
            os.close(one.detach())
        else:
            one.close()
    if loop is not None:
        loop._selector = None
        loop._ssock = loop._csock = None
        loop._closed = True


def about_file(number):
    with open("/proc/self/fdinfo/%d" % number) as file:
        told = dict(line.split(":", 1) for line in file if ":" in line)
    return int(told["flags"], 8), int(told["pos"])


def open_files(known):
    """Number, path, flags and position of all that can be opened again."""
    files = []
    listing = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY)
    try:
        numbers = [int(n) for n in os.listdir(listing)]
    finally:
        os.close(listing)
    for number in sorted(numbers):
        if number < OURS_OPEN or number == listing or number in known:
            continue
        try:
            path = os.readlink("/proc/self/fd/%d" % number)
        except OSError:
            continue
        if not path.startswith("/"):
            kind = path.replace("anon_inode:", "").strip("[]").partition(":")[0]
            raise CannotBeSaved("it has descriptor %d open, a %s; close it" % (number, kind))
        flags, position = about_file(number)
        files.append((number, path, flags & KEPT_MODES, position))
    return files


def told_children():
    try:
        with open("/proc/self/task/%d/children" % os.getpid()) as file:
            return ["process %s" % pid for pid in file.read().split()]
    except OSError:
        return []


def own_memory():
    """Bytes of it, with those that it has from an image itself."""
    with open("/proc/self/statm") as file:
        _, resident, shared = map(int, file.read().split()[:3])
    own = (resident - shared) * 4096
    with open("/proc/self/maps") as file:
        for line in file:
            if "/memfd:" in line:
                start, end = line.split(" ", 1)[0].split("-")
                own += int(end, 16) - int(start, 16)
    return own


def receive_file():
    """None: the engine has thought better of it."""
    import _socket

    socket = _socket.socket(fileno=os.dup(CHANNEL))
    try:
        byte, beside, _, _ = socket.recvmsg(1, _socket.CMSG_SPACE(4))
    finally:
        socket.close()
    if not byte:
        os._exit(0)
    return int.from_bytes(beside[0][2][:4], "little") if beside else None


def wiped_ranges():
    """Memory that the kernel empties in a fork: generators of random numbers
    have it, and two processes must not draw the same."""
    ranges = []
    with open("/proc/self/smaps") as file:
        for line in file:
            first, _, rest = line.partition(" ")
            if first == "VmFlags:":
                if "wf" in rest.split():
                    ranges += here
            elif not first.endswith(":"):
                here = [int(n, 16) for n in first.split("-")]
    return ranges


def save_memory(file, code, entry):
    """An errno, 0 when it is saved; 1, below zero, where it has been restored."""
    import _ctypes
    import mmap
    import struct

    class Byte(_ctypes._SimpleCData):
        _type_ = "c"

    def room(size, protection):
        place = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, protection)
        return place, _ctypes.addressof(Byte.from_buffer(place))

    readable = mmap.PROT_READ | mmap.PROT_WRITE
    program, program_at = room(len(code), readable | mmap.PROT_EXEC)
    program.write(code)
    scratch, scratch_at = room(SCRATCH, readable)
    libc = _ctypes.dlopen(None, 0)
    heap_end = _ctypes.dlsym(libc, "__curbrk")
    try:
        restartable = _ctypes.dlsym(libc, "__rseq_offset")
    except OSError:
        restartable = 0
    ranges = wiped_ranges()
    wiped, wiped_at = room(max(8 * len(ranges), 1), readable)
    wiped.write(struct.pack("<%dQ" % len(ranges), *ranges))
    order = struct.pack(
        "<9Q", file, scratch_at, SCRATCH, restartable, heap_end, wiped_at, len(ranges) // 2, 0, 0
    )
    order += bytes(64)
    return _ctypes.call_function(program_at + entry, (order,))


REASONS = {
    7: "its memory is in too many pieces",  # E2BIG
    12: "there is no memory for a copy of it",
    16: "it shares memory with other processes",  # EBUSY
    17: "it uses memory where the copy has to lie",  # EEXIST
    28: "there is no memory for a copy of it",
}


def wait_for_fork(pid):
    """Why it was not saved; None: it was."""
    while True:
        try:
            _, status = os.waitpid(pid, 0)
            break
        except InterruptedError:
            continue
        except ChildProcessError:
            return "another part of the program took its fork away"
    if os.WIFSIGNALED(status):
        return "its fork was killed by signal %d" % os.WTERMSIG(status)
    code = os.WEXITSTATUS(status)
    return None if code == 0 else REASONS.get(code) or os.strerror(code)


own_numbers = set()  # of processes that this memory was in


def refuse_known_number():
    """Libraries know that they are in another process by its number, and then
    begin with other random numbers."""
    if os.getpid() in own_numbers:
        os._exit(SAME_NUMBER)


def restart_random():
    """Numbers of its own. The kernel's are, in any process."""
    for name in ("random", "numpy.random"):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, "seed"):
            module.seed()
    tempfile = sys.modules.get("tempfile")
    if tempfile is not None:
        tempfile._name_sequence = None
    ssl = sys.modules.get("_ssl")
    if ssl is not None:
        ssl.RAND_add(os.urandom(64), 64.0)


def reopen(files, lost):
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    for number, path, flags, position in files:  # from the lowest on
        try:
            file = os.open(path, flags)
            os.lseek(file, position, os.SEEK_SET)
        except OSError as e:
            if e.errno != 29:  # ESPIPE: it has no position
                file = os.open(os.devnull, os.O_RDWR)
                lost.append("file " + path)
        if file != number:
            os.dup2(file, number, inheritable=False)
            os.close(file)


def go_on_elsewhere(files, place, mask, lost):
    """In another sandbox, on the engine's word."""
    refuse_known_number()
    channel.buffered = b""
    os.set_inheritable(CHANNEL, False)
    os.umask(mask)
    try:
        reopen(files, lost)
        if place is None:
            raise FileNotFoundError
        os.chdir(place)
    except OSError:
        lost.append("working directory " + str(place))
    restart_random()
    word, parts = channel.read()
    for one in parts["env"].decode("utf-8", "surrogateescape").split("\0"):
        name, is_set, value = one.partition("=")
        if is_set:
            os.environ[name] = value
    channel.send("ready", [("lost", "\n".join(lost))])


def fork_into(file, code, entry, lost):
    """Returns its number, and 0 in each process that is restored from it."""
    loop = interpreter.loop
    files = open_files(set(parts_of_loop(loop)) | {file})
    try:
        place = os.getcwd()
    except OSError:
        place = None
    own_numbers.add(os.getpid())
    mask = os.umask(0)
    os.umask(mask)
    flush()
    pid = os.fork()
    if pid:
        return pid
    how = 22
    own_numbers.add(os.getpid())
    try:
        forget_loop(loop)
        interpreter.loop = None
        how = -save_memory(file, code, entry)
        if how == -1:
            go_on_elsewhere(files, place, mask, lost)
            return 0
    except BaseException:
        if how == -1:
            raise
    os._exit(how)


def save_image(parts):
    try:
        for name in ("_ctypes", "_socket", "mmap", "struct"):
            __import__(name)  # the fork has them then
        refuse_threads()
        open_files(set(parts_of_loop(interpreter.loop)))
    except CannotBeSaved as e:
        return channel.send("kept", [("why", str(e))])
    except ImportError as e:
        return channel.send("kept", [("why", "its Python has no " + str(e.name))])
    except Exception as e:
        return channel.send("kept", [("why", "%s: %s" % (type(e).__name__, e))])
    lost = told_children()
    channel.send("take", [("bytes", str(own_memory()))])
    file = receive_file()
    if file is None:
        return
    try:
        pid = fork_into(file, parts["code"], int(parts["entry"]), lost)
        why = wait_for_fork(pid) if pid else None
    except (CannotBeSaved, OSError) as e:
        pid, why = -1, str(e)
    if pid == 0:
        return  # restored
    os.close(file)
    if why is None:
        channel.send("saved")
    else:
        channel.send("kept", [("why", cut(why, 1000))])

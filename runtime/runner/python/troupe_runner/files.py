"""Files that a run finds, and those that it leaves and are asked for.

All of it happens here, beside the tool and with its rights: a path that the tool
has changed leads where the tool itself could have gone, and nowhere in the
engine."""

import errno
import fnmatch
import os
import stat

from troupe_runner.failure import ToolFailure

# Entries of directories that are looked at: a tool may have made any number.
_MAX_SEEN = 50_000
_MAX_DEPTH = 32  # directories below each other, for **
_PIECE = 1 << 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


class Folder:
    """The run's directory. On a machine that is not ours (`keep_env`) it is one
    of its own, which is gone afterwards."""

    def __init__(self, head):
        self.patterns = head.get("outputs", ())
        self._most = head.get("max_files", 0)
        self._left = head.get("max_file_bytes", 0)
        self._seen = 0
        self._notes = []
        self._before = self._own = None
        if head.get("keep_env"):
            import tempfile

            self._before = os.getcwd()
            self._own = tempfile.mkdtemp(prefix="troupe-")
            os.chdir(self._own)
        self.path = os.getcwd()

    def write(self, entries, data):
        """`entries`: name and size of each, in the order of `data`."""
        at = 0
        for name, size in entries:
            try:
                self._write(name, data[at : at + size])
            except OSError as why:
                raise ToolFailure(
                    "FileError", f"cannot write {name!r}: {why.strerror or why}"
                ) from None
            at += size

    def _write(self, name, data):
        directory = os.path.dirname(name)
        if directory:
            os.makedirs(directory, exist_ok=True)
        fd = os.open(name, _WRITE, 0o644)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
        finally:
            os.close(fd)

    # -- what is left ------------------------------------------------------------

    def collect(self):
        """([name, size] of each, their bytes, notes). Never fails: a run that has
        its value keeps it."""
        found, pieces = [], []
        try:
            for name in self._matches():
                if len(found) >= self._most:
                    self._note(f"more than {self._most} files match outputs; the rest is left out")
                    break
                data = self._read(name)
                if data is not None:
                    found.append([name, len(data)])
                    pieces.append(data)
        except Exception as why:
            self._note(f"outputs: {type(why).__name__}: {why}"[:500])
        return found, b"".join(pieces), self._notes

    def close(self):
        if self._own is None:
            return
        import shutil

        os.chdir(self._before)
        shutil.rmtree(self._own, ignore_errors=True)

    def _note(self, text):
        if len(self._notes) < 10 and text not in self._notes:
            self._notes.append(text.encode("utf-8", "backslashreplace").decode())

    def _matches(self):
        known = set()
        for pattern in self.patterns:
            for name in self._below("", pattern.split("/"), 0):
                if name not in known:
                    known.add(name)
                    yield name

    def _entries(self, directory):
        """Names and kinds in a directory, in order; links are not followed."""
        made = []
        try:
            with os.scandir(os.path.join(self.path, directory)) as entries:
                for entry in entries:
                    self._seen += 1
                    if self._seen > _MAX_SEEN:
                        self._note(f"outputs: only {_MAX_SEEN} entries of directories were looked at")
                        break
                    made.append((entry.name, entry.is_dir(follow_symlinks=False)))
        except OSError:
            pass  # gone, or not a directory
        return sorted(made)

    def _below(self, directory, parts, depth):
        first, rest = parts[0], parts[1:]
        if first == "**" and depth < _MAX_DEPTH:
            yield from self._below(directory, rest or ["*"], depth)
            for name, is_directory in self._entries(directory):
                if is_directory and not name.startswith("."):
                    yield from self._below(os.path.join(directory, name), parts, depth + 1)
            return
        for name, is_directory in self._entries(directory):
            hidden = name.startswith(".") and not first.startswith(".")
            if hidden or not fnmatch.fnmatchcase(name, first):
                continue
            path = os.path.join(directory, name)
            if rest and is_directory:
                yield from self._below(path, rest, depth + 1)
            elif not rest and not is_directory:
                yield path

    def _read(self, name):
        """The bytes of a regular file, or None with a note that says why not."""
        try:
            name.encode("utf-8")
            fd = os.open(os.path.join(self.path, name), _READ)
        except UnicodeError:
            return self._note(f"{name!r} is left out: its name is not UTF-8")
        except OSError as why:
            text = "a symbolic link" if why.errno == errno.ELOOP else why.strerror or why
            return self._note(f"{name!r} is left out: {text}")
        try:
            about = os.fstat(fd)
            if not stat.S_ISREG(about.st_mode):
                return self._note(f"{name!r} is left out: not a regular file")
            if about.st_size > self._left:
                return self._too_large(name)
            data = bytearray()
            while len(data) <= self._left:
                piece = os.read(fd, min(_PIECE, self._left + 1 - len(data)))
                if not piece:
                    break
                data += piece
            if len(data) > self._left:  # it grows while it is read
                return self._too_large(name)
            self._left -= len(data)
            return bytes(data)
        except OSError as why:
            return self._note(f"{name!r} is left out: {why.strerror or why}")
        finally:
            os.close(fd)

    def _too_large(self, name):
        return self._note(
            f"{name!r} is left out: the files of a run may have {self._left} more bytes"
        )

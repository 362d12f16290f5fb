"""One request in, one answer out."""

import json
import os
import sys
import warnings

from troupe_runner import failure, frame, streams, tool, values, variables

_exit = os._exit
_getpid = os.getpid
# Answers are small beside the value: room for an error's texts.
_MIN_VALUE_BYTES = 1024
_decode_json = json.JSONDecoder().raw_decode
_prepared = False


def _from_json(data):
    """As json.loads, without looking for an encoding or for blanks first."""
    text = data.decode("utf-8")
    try:
        value, end = _decode_json(text)
    except ValueError:
        end = -1
    return value if end == len(text) else values.unlimited(json.loads, text)


class Request:
    def __init__(self, data):
        head, source, self._args, self._state, self.code = frame.decode(
            frame.REQUEST, data
        )
        self.head = _from_json(head)
        self._source = source
        self.state = None
        self.called = None  # the function's name, where the request has none
        self.ended = None  # a command: how
        self.folder = None  # where the run's files are, if it has any
        self.shown = None  # of a program: what it shows

    def open_folder(self):
        """Files come behind the source."""
        from troupe_runner import files

        self.folder = files.Folder(self.head)
        source_bytes = self.head["source_bytes"]
        contents = self._source[source_bytes:]
        self._source = self._source[:source_bytes]
        self.folder.write(self.head["files"], contents)

    def open_displays(self):
        from troupe_runner import displays

        self.shown = displays.Shown(self.head["max_display_bytes"])

    def left(self):
        """What is to be told beside the value, and the bytes that belong to it."""
        about, blob, notes = {}, b"", []
        if self.folder is not None:
            found, blob, notes = self.folder.collect()
            if found:
                about["files"] = found
        if self.shown is not None:
            if "matplotlib.pyplot" in sys.modules:
                from troupe_runner import displays

                for figure in displays.figures():
                    self.shown.add(figure)
            bundles = self.shown.bundles
            if bundles:
                about["displays"] = [[[m, len(d)] for m, d in b.items()] for b in bundles]
                blob = b"".join((blob, *(d for b in bundles for d in b.values())))
            if self.shown.left_out:
                notes.append(f"{self.shown.left_out} displays are left out: too many or too large")
        if notes:
            about["notes"] = notes
        return about, blob

    def close(self):
        if self.folder is not None:
            self.folder.close()

    @property
    def source(self):
        text = self._source.decode("utf-8")
        return text[1:] if text[:1] == "\ufeff" else text  # as `python FILE`

    def args(self):
        return _from_json(self._args) if self._args else {}

    def models(self):
        schema = self.head.get("args_schema")
        if schema is None:
            return None
        from troupe_runner.models import Models

        return Models(schema)

    def load_state(self):
        if self._state:
            from troupe_runner import state

            self.state = values.unlimited(state.parse, self._state)

    def changed_state(self):
        """The state as it is now, or b"" when that is how it came."""
        if self.state is None:
            return b""
        limit = max(16 * len(self._state), 1 << 20)
        before = values.to_json(_from_json(self._state), limit)[0]
        try:
            after = values.to_json(self.state, limit)[0]
        except values.TooLarge as why:
            raise failure.ToolFailure(
                "AgentStateTooLarge",
                f"agent_state has become {str(why) or f'more than {limit} bytes of JSON'};"
                " keep large things elsewhere",
            ) from None
        return b"" if after == before else after


# -- the world around a tool ---------------------------------------------------


def _enter_venv(home):
    """Becomes the venv's interpreter where it was not started as that: as
    `site` does it when one starts."""
    if sys.prefix == home:
        return
    import site

    sys.executable = os.path.join(home, "bin", "python3")
    sys.prefix = sys.exec_prefix = home
    site.PREFIXES[:] = [home]
    sys.modules.pop("sysconfig", None)  # it remembers the prefix
    site.main()


def _set_path(extra):
    sys.path.insert(0, os.getcwd())
    if extra:
        sys.path[1:1] = extra.split(os.pathsep)


# -- answers ---------------------------------------------------------------------


def _head(members):
    # ASCII: lone surrogates too
    return json.dumps(members, separators=(",", ":")).encode("ascii")


_PLAIN_SUCCESS = _head({"status": "success", "fallback": False})


def _framed(head, body=b"", state=b"", code=b"", files=b""):
    return frame.encode(frame.ANSWER, (head, body, files, state, code))


def _answer(head, body=b"", code=b""):
    return _framed(_head(head), body, code=code)


def _failed(exc, request):
    about = failure.describe(exc, tool.file_of(request), request.called)
    try:
        sys.stderr.write(about["traceback"])
    except Exception:
        pass  # the tool closed or replaced it
    left, files = request.left()
    return _framed(_head({"status": "error", "error": about, **left}), files=files)


def _too_large(value, head, what):
    """Of a text the length is told, and what the engine wants to keep of it; the
    rest is an error, since half a document is none."""
    limit, keep = head["max_value"], head.get("max_text", 0)
    if not head.get("guarded"):
        keep = 0  # a value that is not whole is none
    if not isinstance(value, str) or keep * 6 > limit:
        raise failure.ToolFailure(
            "ResultTooLarge",
            f"the return value is {what or f'more than {limit} bytes of JSON'};"
            " return less, or write it to a file",
        )
    body, _ = values.to_json(value[:keep], limit)
    return body, len(value)


def _succeeded(value, request):
    head = request.head
    limit = max(head["max_value"], _MIN_VALUE_BYTES)
    if request.shown is not None:
        from troupe_runner import displays

        request.shown.add(displays.bundle_of(value))
    try:
        show = repr if head["op"] == "code" else str
        body, said = values.to_json(value, limit, show, head.get("guarded", False))
    except values.TooLarge as why:
        body, length = _too_large(value, head, str(why))
        said = {"cut_from": length}
    state = request.changed_state()
    left, files = request.left()
    about = _head({"status": "success", **said, **left}) if said or left else _PLAIN_SUCCESS
    return _framed(about, body, state, files=files)


def _carry_out(request):
    head = request.head
    operation = head["op"]
    if operation == "compile":
        make = tool.compiler_of(head)
        code = tool.dump(make(request.source, tool.file_of(request)))
        return _answer({"status": "success"}, code=code)
    if operation == "schema":
        from troupe_runner import schema

        made = schema.derive(request.source, head.get("function"))
        return _answer({"status": "success"}, values.to_json(made, 1 << 24)[0])
    if "env" in head:
        variables.assign(head["env"], head.get("keep_env"))
        if "venv" in head:
            _enter_venv(head["venv"])
        _set_path(head["env"].get("PYTHONPATH"))
    if "files" in head:
        request.open_folder()
    if "max_display_bytes" in head:
        request.open_displays()
    if operation == "command":
        from troupe_runner import command

        request.ended = command.run(head["argv"])
        left, files = request.left()
        return _framed(_head({"status": "success", **left}), files=files)
    request.load_state()
    return _succeeded(tool.run(request), request)


def _answered(request):
    try:
        return _carry_out(request)
    except BaseException as exc:  # SystemExit and KeyboardInterrupt too
        return _failed(exc, request)
    finally:
        request.close()


def run_request(data):
    """The answer frame to a request frame. For tests and for other hosts; the
    process keeps what the tool left in it, so it must not run another one."""
    return _answered(Request(data))


def _begin():
    streams.install()
    warnings.simplefilter("ignore")


def prepare(basics, set_all):
    """For a process that is forked for every run: does now what each of its
    children would do first. 1 and 2 must be pipes, as in a child. `basics`:
    what most runs find in their environment; `set_all`: as variables.py says."""
    global _prepared
    _begin()
    try:
        from troupe_runner import models

        models.prepare()
    except Exception:
        pass  # a pydantic that is none: the run that needs it will tell
    variables.use_setter(set_all)
    variables.assign(basics)
    _prepared = True


def answer_one(source, sink):
    """Reads one request and answers it."""
    us = _getpid()
    if not _prepared:
        os.set_inheritable(source, False)  # what the tool starts has no say
        _begin()
    request = Request(frame.read(source))
    answer = _answered(request)
    streams.flush()
    if _getpid() == us:  # not a child that the tool forked and forgot
        frame.write(sink, answer)
    return request.ended


def serve_one(fd, leave=_exit):
    """Reads one request from `fd`, answers it, and ends the process.

    The end is at once, without exit handlers or waiting for threads: when the
    answer is out, the run is over.
    """
    status = 1
    try:
        status = answer_one(fd, fd) or 0
        if status:
            from troupe_runner import command

            command.end_like(status, leave)
    finally:
        leave(status)  # whatever the tool has done to us: no answer, no success


def preload():
    """Imports what a run may need, so that a forked process need not."""
    import ast  # noqa: F401
    import asyncio  # noqa: F401
    import base64  # noqa: F401
    import collections.abc  # noqa: F401
    import dataclasses  # noqa: F401
    import datetime  # noqa: F401
    import decimal  # noqa: F401
    import difflib  # noqa: F401
    import enum  # noqa: F401
    import hashlib  # noqa: F401
    import inspect  # noqa: F401
    import pathlib  # noqa: F401
    import struct  # noqa: F401
    import traceback  # noqa: F401
    import typing  # noqa: F401
    import uuid  # noqa: F401

    from troupe_runner import (  # noqa: F401
        coerce,
        displays,
        files,
        models,
        script,
        signature,
        state,
    )

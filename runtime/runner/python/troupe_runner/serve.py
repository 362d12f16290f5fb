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


def _framed(head, body=b"", state=b"", code=b""):
    return frame.encode(frame.ANSWER, (head, body, b"", state, code))


def _answer(head, body=b"", code=b""):
    return _framed(_head(head), body, code=code)


def _failed(exc, file, called):
    about = failure.describe(exc, file, called)
    try:
        sys.stderr.write(about["traceback"])
    except Exception:
        pass  # the tool closed or replaced it
    return _answer({"status": "error", "error": about})


def _too_large(value, head, what):
    """Text that the engine would cut anyway may be cut here; the rest is an
    error, since half a document is none."""
    limit, keep = head["max_value"], head.get("max_text", 0)
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
    about = _PLAIN_SUCCESS
    try:
        show = repr if head["op"] == "code" else str
        body, said = values.to_json(value, limit, show)
        if said:
            about = _head({"status": "success", **said})
    except values.TooLarge as why:
        body, length = _too_large(value, head, str(why))
        about = _head({"status": "success", "cut_from": length})
    return _framed(about, body, request.changed_state())


def _carry_out(request):
    head = request.head
    operation = head["op"]
    if operation == "compile":
        make = tool.compile_snippet if head.get("snippet") else tool.compile_tool
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
    request.load_state()
    run = tool.run_snippet if operation == "code" else tool.call
    return _succeeded(run(request), request)


def run_request(data):
    """The answer frame to a request frame. For tests and for other hosts; the
    process keeps what the tool left in it, so it must not run another one."""
    request = Request(data)
    try:
        return _carry_out(request)
    except BaseException as exc:  # SystemExit and KeyboardInterrupt too
        return _failed(exc, tool.file_of(request), request.called)


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
    answer = run_request(frame.read(source))
    streams.flush()
    if _getpid() == us:  # not a child that the tool forked and forgot
        frame.write(sink, answer)


def serve_one(fd, leave=_exit):
    """Reads one request from `fd`, answers it, and ends the process.

    The end is at once, without exit handlers or waiting for threads: when the
    answer is out, the run is over.
    """
    status = 1
    try:
        answer_one(fd, fd)
        status = 0
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

    from troupe_runner import coerce, models, signature, state  # noqa: F401

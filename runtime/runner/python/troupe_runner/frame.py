"""Frames of the private channel; runtime/runner/frame.hpp says how they look."""

import os
import struct
from binascii import crc32

REQUEST, ANSWER = 1, 2
HEAD, BODY, ARGS, STATE, CODE = range(5)

_FIXED = struct.Struct("<4sBBH5I")  # all of the header but its checksum
_SUM = struct.Struct("<I")
_MAGIC = b"\x7fTRP"
HEADER_BYTES = _FIXED.size + _SUM.size


class FrameError(Exception):
    """The bytes are not a frame. Only a bug of the engine can cause it."""


def encode(kind, parts):
    """`parts`: five bytes objects."""
    fixed = _FIXED.pack(_MAGIC, 1, kind, 0, *map(len, parts))
    checksum = crc32(fixed)
    for part in parts:
        checksum = crc32(part, checksum)
    return b"".join((fixed, _SUM.pack(checksum), *parts))


def _header(data):
    """(kind, lengths, checksum) of the frame that starts with these bytes."""
    magic, version, kind, zero, *lengths = _FIXED.unpack_from(data)
    if magic != _MAGIC or version != 1 or zero:
        raise FrameError("not a frame of version 1")
    return kind, lengths, _SUM.unpack_from(data, _FIXED.size)[0]


def decode(kind, data):
    """The five parts of one whole frame."""
    if len(data) < HEADER_BYTES:
        raise FrameError("the frame is cut short")
    actual, lengths, checksum = _header(data)
    end = HEADER_BYTES + sum(lengths)
    view = memoryview(data)
    actual_sum = crc32(view[HEADER_BYTES:end], crc32(view[: _FIXED.size]))
    if len(data) < end or actual != kind or actual_sum != checksum:
        raise FrameError("the frame is damaged")
    parts, at = [], HEADER_BYTES
    for length in lengths:
        parts.append(data[at : at + length])
        at += length
    return parts


def read(fd):
    """Exactly one frame's bytes from a descriptor."""
    data = b""
    wanted = HEADER_BYTES
    while len(data) < wanted:
        # The first read takes all of a small request at once.
        piece = os.read(fd, max(wanted - len(data), 65536 if not data else 0))
        if not piece:
            raise FrameError("the channel ended before the request did")
        data = data + piece if data else piece
        if wanted == HEADER_BYTES <= len(data):
            wanted += sum(_header(data)[1])
            if wanted > len(data):
                data = bytearray(data)
    return bytes(data)


def write(fd, data, _write=os.write):
    view = memoryview(data)
    while view:
        view = view[_write(fd, view) :]

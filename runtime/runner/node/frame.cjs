"use strict";
// Frames of the private channel; runtime/runner/frame.hpp says how they look.

const fs = require("fs");
const zlib = require("zlib");

const REQUEST = 1;
const ANSWER = 2;
const HEADER_BYTES = 32;
const LENGTHS_AT = 8;
const CHECKSUM_AT = 28;
const MAGIC = 0x5052547f; // 7f 'T' 'R' 'P'

// Older versions have no crc32 of their own.
const crc32 = zlib.crc32 || slowCrc32;
let table = null;

function slowCrc32(data, before = 0) {
  if (table === null) {
    table = new Int32Array(256);
    for (let i = 0; i < 256; ++i) {
      let c = i;
      for (let bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
      table[i] = c;
    }
  }
  let c = ~before;
  for (let i = 0; i < data.length; ++i) c = table[(c ^ data[i]) & 0xff] ^ (c >>> 8);
  return ~c >>> 0;
}

/** `parts`: five Buffers. */
function encode(kind, parts) {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(MAGIC, 0);
  header[4] = 1;
  header[5] = kind;
  parts.forEach((part, i) => header.writeUInt32LE(part.length, LENGTHS_AT + 4 * i));
  let checksum = crc32(header.subarray(0, CHECKSUM_AT), 0);
  for (const part of parts) checksum = crc32(part, checksum);
  header.writeUInt32LE(checksum >>> 0, CHECKSUM_AT);
  return Buffer.concat([header, ...parts]);
}

function lengthsOf(header) {
  if (header.readUInt32LE(0) !== MAGIC || header[4] !== 1) throw new Error("not a frame of version 1");
  return [0, 1, 2, 3, 4].map((i) => header.readUInt32LE(LENGTHS_AT + 4 * i));
}

function sizeOf(header) {
  return lengthsOf(header).reduce((sum, n) => sum + n, HEADER_BYTES);
}

/** The five parts of one whole frame. */
function decode(kind, data) {
  if (data.length < HEADER_BYTES || data.length < sizeOf(data)) throw new Error("the frame is cut short");
  let at = HEADER_BYTES;
  let checksum = crc32(data.subarray(0, CHECKSUM_AT), 0);
  const parts = lengthsOf(data).map((length) => {
    const part = data.subarray(at, at + length);
    checksum = crc32(part, checksum);
    at += length;
    return part;
  });
  if (data[5] !== kind || checksum >>> 0 !== data.readUInt32LE(CHECKSUM_AT)) throw new Error("the frame is damaged");
  return parts;
}

/** Calls `f` again while the descriptor, non-blocking perhaps, is not ready. */
function patiently(f) {
  for (;;) {
    try {
      return f();
    } catch (e) {
      if (e.code !== "EAGAIN" && e.code !== "EINTR") throw e;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

// Made once, for a process that is forked from this one as well. It reads one
// frame, or a second one when it is done with the first.
const space = Buffer.allocUnsafeSlow(65536);

/** Exactly one frame's bytes from a descriptor; valid until the next is read. */
function read(fd) {
  let data = space;
  let have = 0;
  let wanted = HEADER_BYTES;
  while (have < wanted) {
    if (data.length < wanted) data = Buffer.concat([data.subarray(0, have), Buffer.allocUnsafe(wanted - have)]);
    const n = patiently(() => fs.readSync(fd, data, have, data.length - have, null));
    if (n === 0) throw new Error("the channel ended before the request did");
    have += n;
    if (wanted === HEADER_BYTES && have >= HEADER_BYTES) wanted = sizeOf(data);
  }
  return data.subarray(0, wanted);
}

function write(fd, data) {
  for (let at = 0; at < data.length; ) at += patiently(() => fs.writeSync(fd, data, at));
}

module.exports = { REQUEST, ANSWER, encode, decode, read, write, patiently };

"use strict";
// From any JavaScript value to JSON, exactly; docs/tools.md has the table.
// What has no JSON form becomes its text, and the answer says so (`fallback`).

const util = require("util");

const MAX_DEPTH = 60; // levels; the engine accepts 64
const MAX_ITEMS = 100000; // of one generator, which might never end

class TooLarge extends Error {}

const INSPECT = { depth: 4, maxArrayLength: 100, maxStringLength: 10000, breakLength: Infinity };

// JSON.stringify writes lone surrogates as escapes, which are no valid JSON
// text for a strict reader.
const quote = (text) => JSON.stringify(text.isWellFormed ? text.toWellFormed() : wellFormed(text));

function wellFormed(text) {
  return text.replace(/[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g, (c) => (c.length === 2 ? c : "\ufffd"));
}

class Writer {
  constructor(limit, asLetta) {
    this.fallback = false;
    this.encoding = undefined; // of the whole value, where it is bytes
    this.asLetta = asLetta;
    this.left = limit;
    this.open = new Set();
  }

  emit(text) {
    this.left -= text.length;
    if (this.left < 0) throw new TooLarge();
    return text;
  }

  text(value) {
    this.fallback = true;
    let shown;
    try {
      shown = typeof value === "function" ? `[function ${value.name || "anonymous"}]` : util.inspect(value, INSPECT);
    } catch {
      shown = "[a value without a text form]";
    }
    return this.emit(quote(shown));
  }

  write(value, depth) {
    switch (typeof value) {
      case "string":
        return this.emit(quote(value));
      case "boolean":
        return this.emit(value ? "true" : "false");
      case "number":
        return this.emit(Number.isFinite(value) ? JSON.stringify(value) : `"${value}"`);
      case "bigint":
        return this.emit(String(value)); // JSON numbers may be of any size
      case "undefined":
        return this.emit("null");
      case "object":
        return value === null ? this.emit("null") : this.object(value, depth);
      default:
        return this.text(value);
    }
  }

  object(value, depth) {
    if (depth >= MAX_DEPTH || this.open.has(value)) return this.text(value);
    this.open.add(value);
    const made = this.opened(value, depth + 1);
    this.open.delete(value);
    return made;
  }

  opened(value, depth) {
    if (Array.isArray(value)) return this.list(value, depth);
    if (value instanceof Date) return this.write(isNaN(value) ? null : value.toISOString(), depth);
    if (value instanceof Map) return this.map(value, depth);
    if (value instanceof Set) return this.list([...value], depth);
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return this.bytes(value, depth);
    if (value instanceof RegExp || value instanceof URL || value instanceof URLSearchParams)
      return this.write(String(value), depth);
    if (value instanceof String || value instanceof Number || value instanceof Boolean)
      return this.write(value.valueOf(), depth);
    if (value instanceof Error) return this.error(value, depth);
    if (value instanceof WeakMap || value instanceof WeakSet || value instanceof Promise) return this.text(value);
    if (typeof value.toJSON === "function") return this.write(value.toJSON(), depth);
    if (typeof value.next === "function" && typeof value[Symbol.iterator] === "function")
      return this.iterated(value, depth);
    return this.members(Object.entries(value), depth);
  }

  list(values, depth) {
    // Not map(): holes are null as well.
    const parts = [];
    for (let i = 0; i < values.length; ++i) parts.push(this.write(values[i], depth));
    this.left -= values.length + 1;
    return `[${parts.join(",")}]`;
  }

  iterated(values, depth) {
    const made = [];
    for (const value of values) {
      if (made.length >= MAX_ITEMS) throw new TooLarge();
      made.push(value);
    }
    return this.list(made, depth);
  }

  members(pairs, depth) {
    const parts = [];
    for (const [name, value] of pairs) {
      // As JSON.stringify: no member for what is not there.
      if (value === undefined || typeof value === "function" || typeof value === "symbol") continue;
      parts.push(`${this.emit(quote(name))}:${this.write(value, depth)}`);
    }
    this.left -= parts.length + 2;
    return `{${parts.join(",")}}`;
  }

  /** An object where the keys are texts or numbers, else a list of pairs. */
  map(value, depth) {
    const keys = [...value.keys()];
    const plain = keys.every((k) => typeof k === "string" || typeof k === "number");
    if (plain && new Set(keys.map(String)).size === keys.length)
      return this.members([...value].map(([k, v]) => [String(k), v === undefined ? null : v]), depth);
    return this.list([...value], depth);
  }

  /** Bytes: base64, and told so. At Letta: text if they are UTF-8. Typed arrays:
   *  numbers. */
  bytes(value, depth) {
    if (ArrayBuffer.isView(value) && !(value instanceof Uint8Array) && !(value instanceof DataView))
      return this.list([...value], depth);
    const data = value instanceof ArrayBuffer ? Buffer.from(value) : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    if (!this.asLetta) {
      const text = quote(data.toString("base64"));
      if (depth === 1) this.encoding = "base64";
      return this.emit(depth === 1 ? text : `{"$bytes":${text}}`);
    }
    try {
      return this.write(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data), depth);
    } catch (e) {
      if (e instanceof TooLarge) throw e;
      this.fallback = true;
      return this.write(data.toString("base64"), depth);
    }
  }

  error(value, depth) {
    return this.members(Object.entries({ name: value.name, message: value.message, ...value }), depth);
  }
}

/** {json, fallback, encoding}. Throws TooLarge beyond `limit` bytes. */
function toJson(value, limit, asLetta = false) {
  const writer = new Writer(limit, asLetta);
  const json = Buffer.from(writer.write(value, 0));
  if (json.length > limit) throw new TooLarge();
  return { json, fallback: writer.fallback, encoding: writer.encoding };
}

module.exports = { toJson, TooLarge, MAX_ITEMS };

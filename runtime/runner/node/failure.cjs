"use strict";
// What is told about something that was thrown.

const path = require("path");
const util = require("util");

const MAX_TEXT = 16 * 1024; // characters; keeps the head of an answer small
const MAX_NAME = 200; // characters: a word, for logs

/** A complaint of the runner itself. */
class ToolFailure extends Error {
  constructor(name, message) {
    super(message);
    this.name = name;
    this.stack = `${name}: ${message}`;
  }
}

/** The stack without Node's machinery and ours. */
function ownFrames(stack) {
  return stack
    .split("\n")
    .filter((line) => !/^\s+at /.test(line) || !(line.includes(__dirname + path.sep) || line.includes("node:")))
    .join("\n");
}

function traceback(thrown, depth = 0) {
  let text = ownFrames(String(thrown.stack || thrown));
  if (Array.isArray(thrown.errors) && depth < 3)
    for (const inner of thrown.errors.slice(0, 10)) text += `\n  ${traceback(Object(inner), depth + 1)}`;
  if (thrown.cause !== undefined && depth < 3) text += `\nCaused by: ${traceback(Object(thrown.cause), depth + 1)}`;
  return text;
}

/** The head of a text, with half surrogate pairs spelled out: they have no form
 *  in UTF-8, so the engine would refuse the whole answer for one of them. */
function shown(text, most = MAX_TEXT) {
  // Where the cut goes through a pair, the half of it that is left goes too.
  const head = text.length > most && /[\ud800-\udbff]/.test(text[most - 1]) ? text.slice(0, most - 1) : text.slice(0, most);
  return head.replace(/[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g, (c) =>
    c.length === 2 ? c : `\\u${c.charCodeAt(0).toString(16)}`);
}

function describe(thrown) {
  try {
    if (thrown instanceof Error || (thrown && typeof thrown.message === "string" && typeof thrown.stack === "string"))
      return {
        name: shown(String(thrown.name || "Error"), MAX_NAME),
        message: shown(String(thrown.message)),
        traceback: `${shown(traceback(thrown))}\n`,
        ...(thrown instanceof ToolFailure && { said_by: "runner" }),
      };
    const message = shown(typeof thrown === "string" ? thrown : util.inspect(thrown, { depth: 2 }));
    return { name: "Error", message, traceback: `Thrown: ${message}\n` };
  } catch {
    return { name: "Error", message: "(what was thrown cannot be shown)", traceback: "Error\n" };
  }
}

module.exports = { ToolFailure, describe };

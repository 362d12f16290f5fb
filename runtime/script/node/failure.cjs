"use strict";
// What is told about something that was thrown.

const path = require("path");
const util = require("util");

const MAX_TEXT = 16 * 1024; // characters; keeps the head of an answer small

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

function describe(thrown) {
  try {
    if (thrown instanceof Error || (thrown && typeof thrown.message === "string" && typeof thrown.stack === "string"))
      return {
        name: String(thrown.name || "Error").slice(0, 200),
        message: String(thrown.message).slice(0, MAX_TEXT),
        traceback: `${traceback(thrown).slice(0, MAX_TEXT)}\n`,
      };
    const message = typeof thrown === "string" ? thrown : util.inspect(thrown, { depth: 2 });
    return { name: "Error", message: message.slice(0, MAX_TEXT), traceback: `Thrown: ${message.slice(0, MAX_TEXT)}\n` };
  } catch {
    return { name: "Error", message: "(what was thrown cannot be shown)", traceback: "Error\n" };
  }
}

module.exports = { ToolFailure, describe };

// The JavaScript interpreter of a context: evaluates cells in its main thread,
// by the inspector's own read-eval-print mode, while a second thread reads
// descriptor 3: only that one can stop a busy loop of the first. The text of
// this file is read from standard input; `transpile` comes before it.
//
// A frame is a line `WORD NAME:BYTES ...` and then the parts that it names
// (contexts/kernel_frames.hpp).
"use strict";

const fs = require("fs");
const inspector = require("inspector");
const { createRequire } = require("module");
const util = require("util");
const { Worker } = require("worker_threads");

const CHANNEL = 3;
const LONGEST_TEXT = 64 << 10;
const LARGEST_FORM = 8 << 20;
const LARGEST_BUNDLE = 15 << 20;

// What both threads know: [0] a cell runs, [1] how many calls to stop were
// seen by the first.
const shared = new Int32Array(new SharedArrayBuffer(8));

// -- the second thread ------------------------------------------------------

const reader_text = `
const fs = require("fs");
const inspector = require("inspector");
const { parentPort, workerData } = require("worker_threads");
const { shared, channel } = workerData;

let buffered = Buffer.alloc(0);
const some = Buffer.alloc(1 << 16);
function fill() {
  const size = fs.readSync(channel, some, 0, some.length, null);
  if (size === 0) process.exit(0);
  buffered = Buffer.concat([buffered, some.subarray(0, size)]);
}
function read() {
  let end;
  while ((end = buffered.indexOf(10)) < 0) fill();
  const [word, ...sizes] = buffered.subarray(0, end).toString("latin1").split(" ");
  buffered = buffered.subarray(end + 1);
  const parts = {};
  for (const one of sizes) {
    const colon = one.lastIndexOf(":");
    const size = Number(one.slice(colon + 1));
    while (buffered.length < size) fill();
    parts[one.slice(0, colon)] = buffered.subarray(0, size).toString("utf8");
    buffered = buffered.subarray(size);
  }
  return { word, parts };
}
const session = new inspector.Session();
session.connectToMainThread();
function interrupt() {
  if (Atomics.load(shared, 0) === 0) return;
  const seen = Atomics.load(shared, 1);
  parentPort.postMessage({ word: "interrupt" });
  // Who waits for a promise hears that; a busy loop does not.
  if (Atomics.wait(shared, 1, seen, 100) === "timed-out")
    session.post("Runtime.terminateExecution");
}
for (;;) {
  const { word, parts } = read();
  if (word === "run") parentPort.postMessage({ word, code: parts.code });
  else if (word === "interrupt") interrupt();
}
`;

// -- values -------------------------------------------------------------------

function send(word, parts = []) {
  const bodies = parts.map(([, content]) => Buffer.from(content, "utf8"));
  const head = parts.map(([name], i) => ` ${name}:${bodies[i].length}`).join("");
  let text = Buffer.concat([Buffer.from(word + head + "\n", "latin1"), ...bodies]);
  while (text.length > 0) text = text.subarray(fs.writeSync(CHANNEL, text));
}

function cut(text) {
  if (text.length <= LONGEST_TEXT) return text;
  const rest = text.length - LONGEST_TEXT;
  return `${text.slice(0, LONGEST_TEXT)}... (${rest} characters more)`;
}

function isPlain(value) {
  if (value === null || typeof value !== "object") return false;
  const kind = Object.getPrototypeOf(value);
  return Array.isArray(value) || kind === Object.prototype || kind === null;
}

/** [[MIME type, text]], bounded. */
function bundleOf(value) {
  const forms = new Map([["text/plain", cut(util.inspect(value, { depth: 4 }))]]);
  const own = value?.[Symbol.for("Jupyter.display")];
  const shown = typeof own === "function" ? own.call(value) : undefined;
  if (shown && typeof shown === "object")
    for (const [mime, form] of Object.entries(shown).slice(0, 24))
      if (/^[a-z0-9.+_-]+\/[a-z0-9.+_-]+$/i.test(mime) && mime.length <= 100)
        forms.set(mime, form);
  if (isPlain(value) && !forms.has("application/json")) {
    try {
      forms.set("application/json", value);
      forms.set("application/json", JSON.stringify(value));
    } catch {
      forms.delete("application/json"); // a circle, or a bigint
    }
  }
  const parts = [];
  let total = 0;
  for (const [mime, form] of forms) {
    const text = typeof form === "string" ? form
      : form instanceof Uint8Array ? Buffer.from(form).toString("base64")
      : JSON.stringify(form);
    const size = text === undefined ? Infinity : Buffer.byteLength(text);
    if (size > LARGEST_FORM || total + size > LARGEST_BUNDLE) {
      if (text !== undefined)
        process.stderr.write(`left out, too large: ${mime} of ${size} bytes\n`);
      continue;
    }
    total += size;
    parts.push([mime, text]);
  }
  return parts;
}

globalThis.display = (value, id) => {
  send("display", [...(id === undefined ? [] : [["id", cut(String(id))]]),
                   ...bundleOf(value)]);
};
globalThis.display.update = (id, value) => {
  send("update", [["id", cut(String(id))], ...bundleOf(value)]);
};

// -- cells ----------------------------------------------------------------------

const session = new inspector.Session();
session.connect();
const post = (method, params) =>
  new Promise((resolve, reject) =>
    session.post(method, params, (why, came) => (why ? reject(why) : resolve(came))));

globalThis.require = createRequire(process.cwd() + "/");
globalThis.exports = {};
globalThis.module = { exports: globalThis.exports };

const holder = { value: undefined };
let holder_id;
let count = 0;
let stop; // of the cell that waits for a promise

/** What the inspector has as a name for, itself. */
async function valueOf(remote) {
  const { objectId, value, unserializableValue } = remote;
  const argument = objectId ? { objectId }
    : unserializableValue ? { unserializableValue }
    : { value };
  await post("Runtime.callFunctionOn", {
    objectId: holder_id,
    functionDeclaration: "function (value) { this.value = value; }",
    arguments: [argument],
  });
  const found = holder.value;
  holder.value = undefined;
  return found;
}

function errorParts(name, value, traceback) {
  return [["name", cut(name)], ["value", cut(value)], ["traceback", cut(traceback)]];
}

/** A stack down to where Node and this file begin. */
function theirs(stack) {
  const lines = stack.split("\n");
  const ours = lines.findIndex((line) => /^\s+at .*(node:inspector|\[stdin\])/.test(line));
  return (ours < 0 ? lines : lines.slice(0, ours)).join("\n") + "\n";
}

async function tellError(details) {
  const thrown = details.exception;
  const e = thrown ? await valueOf(thrown).catch(() => undefined) : undefined;
  if (e instanceof Error || util.types.isNativeError(e)) {
    const stack = typeof e.stack === "string" ? e.stack : String(e.message);
    send("error", errorParts(String(e.name), String(e.message), theirs(stack)));
    return;
  }
  const text = util.inspect(e);
  send("error", errorParts(thrown?.className ?? typeof e, text, `Uncaught ${text}\n`));
}

function prepared(code) {
  const typed = LANGUAGE === "typescript";
  if (!typed && !/\b(import|export)\b/.test(code)) return code;
  if (!transpile) return code;
  try {
    const transforms = typed ? ["typescript", "imports"] : ["imports"];
    return transpile(code, { transforms }).code.replace(/^"use strict";/, "");
  } catch (e) {
    if (typed) throw e;
    return code; // the engine's own words about it are better
  }
}

async function evaluate(code) {
  const expression = `${prepared(code)}\n//# sourceURL=cell-${count}`;
  const interrupted = new Promise((resolve) => (stop = resolve));
  const came = await Promise.race([
    post("Runtime.evaluate", { expression, replMode: true, awaitPromise: true }),
    interrupted,
  ]);
  if (came === undefined) return "interrupted";
  if (came.exceptionDetails) {
    await tellError(came.exceptionDetails);
    return "error";
  }
  const value = await valueOf(came.result);
  if (value !== undefined) {
    globalThis._ = value;
    send("result", bundleOf(value));
  }
  return "ok";
}

function isTermination(e) {
  return /terminated/.test(e?.message ?? "");
}

async function run(code) {
  ++count;
  Atomics.store(shared, 0, 1);
  let status;
  try {
    status = await evaluate(code);
  } catch (e) {
    status = isTermination(e) ? "interrupted" : "error";
    if (status === "error")
      send("error", errorParts(String(e?.name), String(e?.message), theirs(String(e?.stack))));
  }
  Atomics.store(shared, 0, 0);
  if (status === "interrupted")
    send("error", errorParts("Interrupted", "the cell was interrupted", "Interrupted\n"));
  send("end", [["status", status], ["count", String(count)]]);
}

// -- the life of it -------------------------------------------------------------

process.on("SIGINT", () => {}); // what stops a cell comes by the channel
process.on("unhandledRejection", (why) => console.error("Unhandled rejection:", why));
process.on("uncaughtException", (why) => console.error("Uncaught exception:", why));

async function main() {
  globalThis[Symbol.for("troupe.holder")] = holder;
  const found = await post("Runtime.evaluate", {
    expression: 'globalThis[Symbol.for("troupe.holder")]',
  });
  delete globalThis[Symbol.for("troupe.holder")];
  holder_id = found.result.objectId;
  const reader = new Worker(reader_text, {
    eval: true,
    workerData: { shared, channel: CHANNEL },
  });
  reader.on("message", ({ word, code }) => {
    if (word === "run") {
      run(code);
      return;
    }
    Atomics.add(shared, 1, 1);
    Atomics.notify(shared, 1);
    stop?.(undefined);
  });
  reader.on("error", () => process.exit(1));
  send("ready");
}

main();

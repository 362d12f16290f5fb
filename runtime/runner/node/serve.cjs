"use strict";
// One request in, one answer out. Cold: `node serve.cjs` with the request on
// descriptor 3. Warm: require this file, preload(), fork, serve_one(3).

const { Writable } = require("stream");
const Module = require("module");

const frame = require("./frame.cjs");
const { ToolFailure, describe } = require("./failure.cjs");
const tool = require("./tool.cjs");
const { toJson, TooLarge } = require("./values.cjs");

const NOTHING = Buffer.alloc(0);
const ENDED = [{ status: "success", fallback: false }, Buffer.from("null")]; // a program without a value
const MIN_VALUE_BYTES = 1024;
const exitNow = process.reallyExit.bind(process);

// -- the world around a tool -------------------------------------------------------

/** stdout and stderr that are in the pipe when write() returns, so that a
 *  killed run leaves its output behind. */
class Output extends Writable {
  constructor(fd) {
    super({ decodeStrings: true });
    this.fd = fd;
  }
  _write(chunk, _, done) {
    try {
      frame.write(this.fd, chunk);
    } catch {
      // nobody reads any more: a tool need not care
    }
    done();
  }
}

let installed = false;

function installStreams() {
  if (installed) return;
  installed = true;
  for (const [name, fd] of [["stdout", 1], ["stderr", 2]]) {
    const stream = new Output(fd);
    Object.defineProperty(process, name, { value: stream, configurable: true, enumerable: true, writable: true });
  }
}

const SEARCHED = ["NODE_PATH", "HOME"]; // by modules, for other modules
let current = null; // what process.env is, once it is ours

/** The run's variables and nothing else, wherever the process came from; on a
 *  machine that is not ours, beside its own. */
function setEnvironment(variables, keep) {
  const before = current || { ...process.env };
  if (!keep) for (const name of Object.keys(before)) if (!Object.hasOwn(variables, name)) delete process.env[name];
  for (const name of Object.keys(variables)) if (before[name] !== variables[name]) process.env[name] = variables[name];
  if (current === null || SEARCHED.some((name) => before[name] !== variables[name])) Module._initPaths();
  if (!keep) current = variables;
}

// -- answers -------------------------------------------------------------------------

function answer(head, body = NOTHING, code = NOTHING) {
  const left = whatIsLeft();
  return frame.encode(frame.ANSWER, [
    Buffer.from(JSON.stringify({ ...head, ...left.about })), body, left.data, NOTHING, code,
  ]);
}

let folder = null; // where the run's files are, if it has any
let shown = null; // of a program: what it shows beside its value

/** What is told beside the value, and the bytes that belong to it. */
function whatIsLeft() {
  const about = {};
  const pieces = [];
  let notes = [];
  if (folder) {
    const found = folder.collect();
    if (found.files.length) about.files = found.files;
    pieces.push(found.data);
    notes = found.notes;
    folder.close();
    folder = null;
  }
  if (shown && shown.length) {
    about.displays = [shown.map(([mime, data]) => [mime, data.length])];
    pieces.push(...shown.map(([, data]) => data));
    shown = null;
  }
  if (notes.length) about.notes = notes;
  return { about, data: pieces.length ? Buffer.concat(pieces) : NOTHING };
}

/** As other notebooks of this language have it: a value tells its forms. */
const DISPLAY = Symbol.for("Jupyter.display");

async function bundleOf(value, room) {
  if (value === null || typeof value !== "object" || typeof value[DISPLAY] !== "function") return [];
  const bundle = Object.entries((await value[DISPLAY]()) || {}).map(([mime, data]) => [
    mime,
    /^image\/(png|jpeg)$/.test(mime) ? Buffer.from(String(data), "base64")
      : Buffer.from(typeof data === "string" ? data : JSON.stringify(data)),
  ]);
  return bundle.reduce((sum, [, data]) => sum + data.length, 0) > room ? [] : bundle;
}

function failed(thrown) {
  const error = describe(thrown);
  process.stderr.write(error.traceback);
  return answer({ status: "error", error });
}

/** Of a text the length is told, and what the engine wants to keep of it; the
 *  rest is an error, since half a document is none. */
function tooLarge(value, head) {
  const limit = head.max_value;
  const keep = head.guarded ? head.max_text || 0 : 0; // not whole, it is none
  if (typeof value !== "string" || keep * 6 > limit)
    throw new ToolFailure(
      "ResultTooLarge",
      `the return value is more than ${limit} bytes of JSON; return less, or write it to a file`,
    );
  // Characters are code points, as the engine counts them.
  const first = Array.from(value.slice(0, 2 * keep)).slice(0, keep).join("");
  let length = 0;
  for (const _ of value) ++length;
  return [{ status: "success", fallback: false, cut_from: length }, toJson(first, limit).json];
}

/** Head and body of a good answer. */
function succeeded(value, head) {
  try {
    const { json, fallback, encoding } = toJson(value, Math.max(head.max_value, MIN_VALUE_BYTES), head.guarded);
    // A timer, a server: what a program's last line made on its way.
    if (fallback && tool.running.drains) return ENDED;
    return [{ status: "success", fallback, ...(encoding && { encoding }) }, json];
  } catch (e) {
    if (!(e instanceof TooLarge)) throw e;
    return tooLarge(value, head);
  }
}

async function carryOut(head, parts) {
  const sourceBytes = head.files ? head.source_bytes : parts[1].length;
  const source = parts[1].toString("utf8", 0, sourceBytes);
  if (head.files) {
    folder = new (require("./files.cjs").Folder)(head);
    folder.write(head.files, parts[1].subarray(sourceBytes));
  }
  if (head.op === "compile") {
    const code = tool.compile(head, source);
    return () => answer({ status: "success" }, NOTHING, code);
  }
  if (head.op === "schema") {
    const { derive } = require("./schema.cjs");
    const { json } = toJson(derive(source, head), 1 << 24);
    return () => answer({ status: "success" }, json);
  }
  const args = JSON.parse(parts[2].toString("utf8") || "{}");
  const run = head.op === "code" ? tool.runSnippet : tool.call;
  const value = await run(head, source, parts[4], args);
  if (head.max_display_bytes) shown = await bundleOf(value, head.max_display_bytes);
  const made = succeeded(value, head);
  // A program goes on, and may still write: what it leaves is looked at then.
  return () => answer(...made);
}

/** The answer frame to a request frame. */
async function run_request(data) {
  return (await carried(data))();
}

/** What makes the answer when it is time. */
async function carried(data) {
  try {
    const parts = frame.decode(frame.REQUEST, data);
    const head = JSON.parse(parts[0].toString("utf8"));
    if (head.env) setEnvironment(head.env, head.keep_env);
    return await carryOut(head, parts);
  } catch (e) {
    return () => failed(e);
  }
}

/** Writes the first answer that it is given, and ends the process. */
function finisher(fd, exit) {
  let done = false;
  return (data) => {
    if (done) return;
    done = true;
    frame.write(fd, data());
    exit(0);
  };
}

let finish = null;
let pending = null; // makes the answer of a program that is not through with its work

/** A program is over when nothing is left to wait for, and may end itself. */
function ending(code) {
  if (code !== 0)
    return failed(new ToolFailure("ProcessExit", tool.running.ends ? `exit code ${code}` : called(code)));
  if (pending) return pending();
  return tool.running.ends ? answer(...ENDED) : failed(new ToolFailure("ProcessExit", called(code)));
}

const called = (code) => `the tool called process.exit(${code}) instead of returning a value`;

function idle() {
  if (!pending)
    return failed(
      new ToolFailure("NoResult", "nothing is left to wait for, but the tool's promise never settled"));
  return ending(process.exitCode || 0);
}

/** Everything that `serve_one` does before it reads: a process that is forked
 *  for every run does it once, for all of them. */
function prepare(fd, exit = exitNow) {
  installStreams();
  finish = finisher(fd, exit);
  const fail = (thrown) => finish(() => failed(thrown));
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  process.on("beforeExit", () => finish(idle));
  process.on("exit", (code) => finish(() => ending(code)));
}

/** Reads one request from `fd`, answers it, and ends the process: at once,
 *  whatever timers or sockets the tool has left. `end` is for warm-ups. */
function serve_one(fd, exit = exitNow, end = finish) {
  if (end === null) {
    prepare(fd, exit);
    end = finish;
  }
  carried(frame.read(fd)).then(
    (make) => {
      if (tool.running.drains && end === finish) pending = make;
      else end(make);
    },
    (thrown) => end(() => failed(thrown)),
  );
}

/** Loads what a run may need, so that a forked process need not. */
function preload() {
  installStreams();
  const transform = tool.loadTranspiler();
  // Parsing once makes the parser's own code ready as well.
  if (transform) transform("const x: number = 1", { transforms: ["typescript"], disableESTransforms: true });
  for (const late of ["./schema.cjs", "./order.cjs", "./syntax.cjs", "./script.cjs", "./files.cjs"]) require(late);
}

module.exports = { serve_one, run_request, finisher, preload, prepare };

if (require.main === module) {
  // Started before its request (script::early_environment): there is time.
  if (process.env.TROUPE_EARLY) preload();
  serve_one(3);
}

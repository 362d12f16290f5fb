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
  return frame.encode(frame.ANSWER, [Buffer.from(JSON.stringify(head)), body, NOTHING, NOTHING, code]);
}

function failed(thrown) {
  const error = describe(thrown);
  process.stderr.write(error.traceback);
  return answer({ status: "error", error });
}

/** Text that the engine would cut anyway may be cut here; the rest is an
 *  error, since half a document is none. */
function tooLarge(value, head) {
  const limit = head.max_value;
  const keep = head.max_text || 0;
  if (typeof value !== "string" || keep * 6 > limit)
    throw new ToolFailure(
      "ResultTooLarge",
      `the return value is more than ${limit} bytes of JSON; return less, or write it to a file`,
    );
  // Characters are code points, as the engine counts them.
  const first = Array.from(value.slice(0, 2 * keep)).slice(0, keep).join("");
  let length = 0;
  for (const _ of value) ++length;
  return answer({ status: "success", fallback: false, cut_from: length }, toJson(first, limit).json);
}

function succeeded(value, head) {
  try {
    const { json, fallback } = toJson(value, Math.max(head.max_value, MIN_VALUE_BYTES));
    return answer({ status: "success", fallback }, json);
  } catch (e) {
    if (!(e instanceof TooLarge)) throw e;
    return tooLarge(value, head);
  }
}

async function carryOut(head, parts) {
  const source = parts[1].toString("utf8");
  if (head.op === "compile") return answer({ status: "success" }, NOTHING, tool.compile(head, source));
  if (head.op === "schema") {
    const { derive } = require("./schema.cjs");
    return answer({ status: "success" }, toJson(derive(source, head), 1 << 24).json);
  }
  const args = JSON.parse(parts[2].toString("utf8") || "{}");
  const run = head.op === "code" ? tool.runSnippet : tool.call;
  return succeeded(await run(head, source, parts[4], args), head);
}

/** The answer frame to a request frame. */
async function run_request(data) {
  try {
    const parts = frame.decode(frame.REQUEST, data);
    const head = JSON.parse(parts[0].toString("utf8"));
    if (head.env) setEnvironment(head.env, head.keep_env);
    return await carryOut(head, parts);
  } catch (e) {
    return failed(e);
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

/** Everything that `serve_one` does before it reads: a process that is forked
 *  for every run does it once, for all of them. */
function prepare(fd, exit = exitNow) {
  installStreams();
  finish = finisher(fd, exit);
  const fail = (thrown) => finish(() => failed(thrown));
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  process.on("beforeExit", () =>
    fail(new ToolFailure("NoResult", "nothing is left to wait for, but the tool's promise never settled")));
  process.on("exit", (code) =>
    fail(new ToolFailure("ProcessExit", `the tool called process.exit(${code}) instead of returning a value`)));
}

/** Reads one request from `fd`, answers it, and ends the process: at once,
 *  whatever timers or sockets the tool has left. `end` is for warm-ups. */
function serve_one(fd, exit = exitNow, end = finish) {
  if (end === null) {
    prepare(fd, exit);
    end = finish;
  }
  run_request(frame.read(fd)).then(
    (data) => end(() => data),
    (thrown) => end(() => failed(thrown)),
  );
}

/** Loads what a run may need, so that a forked process need not. */
function preload() {
  installStreams();
  const transform = tool.loadTranspiler();
  // Parsing once makes the parser's own code ready as well.
  if (transform) transform("const x: number = 1", { transforms: ["typescript"], disableESTransforms: true });
  for (const late of ["./schema.cjs", "./order.cjs", "./syntax.cjs"]) require(late);
}

module.exports = { serve_one, run_request, finisher, preload, prepare };

if (require.main === module) {
  // Started before its request (script::early_environment): there is time.
  if (process.env.TROUPE_EARLY) preload();
  serve_one(3);
}

"use strict";
// Becomes a zygote: `node FLAGS boot.cjs ADDON RUNNERS INSIDE TRICKS VARIABLES`.
//
// Loads the runner, does what runs do with tools of its own, and hands the
// process over to C++ code. From there only children come back. RUNNERS is where
// the runners are on the host, INSIDE where a run sees them, TRICKS what to do about
// memory, VARIABLES a line for each that every run has. Descriptor 3 is the engine's.
//
// Everything here is synchronous: the event loop has nothing to wait for when it
// is forked, between two of its turns.

const fs = require("fs");
const path = require("path");
const v8 = require("v8");
const vm = require("vm");
const Module = require("module");

const [addon, runners, inside, tricks, variables] = process.argv.slice(2);
delete process.env.LD_PRELOAD; // for this process alone
const CONTROL = 3;
const CHANNEL = 3;
const ARMED = 2;
const WARM_RUNS = 40;

// -- the runner, known by the name that it has inside ------------------------------

const host = path.join(runners, "node");
const seen = path.join(inside, "node");

function loadRunner() {
  const resolve = Module._resolveFilename;
  const before = Module._extensions[".cjs"];
  Module._resolveFilename = function (request, parent, ...rest) {
    const from = parent && parent.filename;
    if (from && path.dirname(from) === seen && /^\.\//.test(request)) {
      const name = path.join(seen, request);
      if (!fs.existsSync(path.join(host, request)))
        throw Object.assign(new Error(`Cannot find module '${request}'`), { code: "MODULE_NOT_FOUND" });
      return name;
    }
    return resolve.call(this, request, parent, ...rest);
  };
  Module._extensions[".cjs"] = (module, name) =>
    module._compile(fs.readFileSync(path.join(host, path.basename(name)), "utf8"), name);
  try {
    const entry = path.join(seen, "serve.cjs");
    const main = new Module(entry, null);
    main.filename = entry;
    main.paths = [];
    Module._cache[entry] = main;
    Module._extensions[".cjs"](main, entry);
    main.loaded = true;
    main.exports.preload();
    process.mainModule = main;
    return main.exports;
  } finally {
    Module._resolveFilename = resolve;
    if (before) Module._extensions[".cjs"] = before;
    else delete Module._extensions[".cjs"];
  }
}

// -- neutral work, like no tool in particular ---------------------------------------

const WARM_SOURCE = `
interface Options { scale?: number; label?: string }
export async function summarize(items: number[], options: Options = {}) {
  const { scale = 1.5, label = "n" } = options;
  const seen: Record<string, unknown> = {};
  let total = 0;
  for (const [index, item] of items.entries()) {
    total += item * scale;
    seen[label + index] = [item, String(item), item > 2];
  }
  try {
    JSON.parse("{");
  } catch (problem) {
    seen.problem = (problem as Error).name;
  }
  await Promise.resolve();
  return { total, seen, empty: null };
}
`;

/** Does all that a run does, its reading and writing included: what has not run
 *  here, every child would have to compile for itself. */
function warmer(runner, frame, env, native) {
  const parts = (head, code) => [
    Buffer.from(JSON.stringify(head)),
    Buffer.from(WARM_SOURCE),
    Buffer.from('{"items": [1, 2.5, 3], "options": {"label": "k"}}'),
    Buffer.alloc(0),
    code,
  ];
  const common = { lang: "typescript", name: "summarize", function: "summarize" };
  const finished = (request) => {
    let answer;
    runner.run_request(request).then((data) => (answer = data));
    // The loop does not turn yet: what has been promised is carried out here.
    for (let i = 0; i < 100 && answer === undefined; ++i) process._tickCallback();
    if (answer === undefined) throw new Error("the warm-up did not end");
    return answer;
  };
  const compiled = finished(frame.encode(frame.REQUEST, parts({ ...common, op: "compile" }, Buffer.alloc(0))));
  const code = frame.decode(frame.ANSWER, compiled)[4];
  const head = { ...common, op: "call", env, max_value: 1 << 20, max_text: 50000 };
  const request = frame.encode(frame.REQUEST, parts(head, code));
  return () => {
    const from = native.pipe(1);
    const to = native.pipe(0);
    let done = false;
    const end = runner.finisher(to, () => (done = true));
    frame.write(to, request);
    runner.serve_one(from, native.exit, end);
    for (let i = 0; i < 100 && !done; ++i) process._tickCallback();
    if (!done) throw new Error("the warm-up did not end");
    frame.read(from);
    fs.closeSync(from);
    fs.closeSync(to);
  };
}

// -- what a child does before its run -----------------------------------------------

/** Every child would draw the same numbers. The state of Math.random is made when
 *  it is first used in a context, from this flag: once for ours (`draw`), and once
 *  more for contexts that the tool makes. */
function reseed(native, draw) {
  v8.setFlagsFromString(`--random-seed=${native.random()}`);
  draw();
  v8.setFlagsFromString(`--random-seed=${native.random()}`);
}

function becomeRun(native, draw) {
  process.reallyExit = native.exit;
  Object.defineProperty(process, "pid", { value: native.pid() });
  process.chdir("."); // forgets the directory that it remembers
  reseed(native, draw);
}

/** What lives of the youngest objects moves away, so that a child begins with
 *  empty space for its own. The rest of the heap stays as it is: a collection of
 *  it would be finished by every child. */
function emptyNursery() {
  v8.setFlagsFromString("--expose-gc");
  vm.runInNewContext("gc")({ type: "minor" });
  v8.setFlagsFromString("--no-expose-gc");
}

function main() {
  const native = { exports: {} };
  process.dlopen(native, addon);
  const env = Object.fromEntries(
    variables.split("\n").filter(Boolean).map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  process.argv = [process.execPath, path.join(seen, "serve.cjs")];
  process.execArgv = ["--no-warnings"];
  const runner = loadRunner();
  const frame = Module._cache[path.join(seen, "frame.cjs")].exports;
  const warm = warmer(runner, frame, env, native.exports);
  for (let i = 0; i < WARM_RUNS; ++i) {
    warm();
    becomeRun(native.exports, () => {});
  }
  emptyNursery();
  runner.prepare(CHANNEL, native.exports.exit);
  // Not before Node has started for good: what it does after its main script,
  // every child would do.
  setImmediate(() => {
    const order = native.exports.serve(
      CONTROL,
      tricks.includes("text"),
      tricks.includes("heap"),
      tricks.includes("tables"),
      tricks.includes("data"),
    );
    becomeRun(native.exports, Math.random);
    if (order === ARMED) while (!native.exports.wait()) warm();
  });
  // Right behind, and not from there: this file would be in every trace that a
  // tool sees.
  setImmediate(runner.serve_one, CHANNEL, native.exports.exit);
}

main();

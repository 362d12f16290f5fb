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
const WARM_RUNS = 400; // even: half of them as each of two kinds

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

// Everyday work of tools, one kind each. None is ever run in a zygote.
const TRAINING_SOURCES = [
  `
export function work(): unknown {
  const text = "a=1, b=22; c=333";
  const pairs: Record<string, number> = {};
  for (const found of text.matchAll(/([a-z])=([0-9]+)/g)) pairs[found[1]] = Number(found[2]);
  const when = new Date(Date.UTC(2024, 1, 29, 12, 30) + 86400000);
  return { pairs, when: when.toISOString(), clean: text.replace(/[^a-z]+/g, "-") };
}
`,
  `
interface Row { x: number; y: string }
export async function work(): Promise<unknown> {
  const rows: Row[] = JSON.parse('[{"x": 1, "y": "p"}, {"x": 3, "y": "q"}, {"x": 2, "y": "p"}]');
  rows.sort((a, b) => b.x - a.x);
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(row.y, [...(groups.get(row.y) ?? []), row]);
  const sum = rows.reduce((total, row) => total + Math.sqrt(row.x), 0);
  console.log(JSON.stringify(rows, null, 1));
  return { sum, keys: Array.from(groups.keys()), seen: new Set(rows.map((row) => row.y)).size };
}
`,
  `
class Shape { constructor(readonly name: string) {} area(): number { return 0; } }
class Circle extends Shape {
  constructor(private r: number) { super("circle"); }
  area(): number { return Math.PI * this.r ** 2; }
}
export async function work(): Promise<unknown> {
  const later = (n: number) => new Promise<number>((done) => setTimeout(() => done(n), 0));
  const shapes: Shape[] = [new Circle(1), new Shape("none")];
  let problem = "";
  try {
    await Promise.all([later(1), Promise.reject(new TypeError("no"))]);
  } catch (e) {
    problem = (e as Error).message;
  }
  return { areas: shapes.map((s) => s.area().toFixed(2)), problem };
}
`,
  `
export function work(): unknown {
  const bytes = Buffer.from("some text, in base64", "utf8");
  const encoded = bytes.toString("base64");
  const query = new URLSearchParams({ q: encoded, page: "2" });
  const { length, ...rest } = { length: bytes.length, first: bytes[0], last: bytes.at(-1) };
  const name = [encoded.slice(0, 4), String(length).padStart(3, "0")].join("|");
  return { query: query.toString(), rest, name, parts: Object.entries(rest).flat() };
}
`,
];

/** The frame to a request frame, at once. */
function answer(runner, request) {
  let data;
  runner.run_request(request).then((made) => (data = made));
  // The loop does not turn yet: what has been promised is carried out here.
  for (let i = 0; i < 100 && data === undefined; ++i) process._tickCallback();
  if (data === undefined) throw new Error("the warm-up did not end");
  return data;
}

/** What the engine sends to have it called, member by member in the same order:
 *  objects of a new shape cost a child a page each. */
function requestFor(runner, frame, env, source, name, args, more = {}) {
  const common = { lang: "typescript", name, function: name };
  const encode = (head, code) =>
    frame.encode(frame.REQUEST, [JSON.stringify(head), source, args, "", code].map((part) => Buffer.from(part)));
  const compiled = answer(runner, encode({ op: "compile", ...common }, ""));
  const code = frame.decode(frame.ANSWER, compiled)[4];
  return encode({ op: "call", ...common, env, max_value: 1 << 20, max_text: 50000, ...more }, code);
}

/** What runs have that come for an agent or a stored tool. */
const IDS = ["LETTA_AGENT_ID", "LETTA_TOOL_ID", "TROUPE_AGENT_ID", "TROUPE_TOOL_ID"];

function withIds(env) {
  const all = Object.entries(env).concat(IDS.map((name) => [name, "0"]));
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Runs to be rehearsed, each with its length before it. */
function plays(runner, frame, env) {
  return Buffer.concat(
    TRAINING_SOURCES.flatMap((source) => {
      const request = requestFor(runner, frame, env, source, "work", "{}");
      const length = Buffer.alloc(8);
      length.writeBigUInt64LE(BigInt(request.length));
      return [length, request];
    }),
  );
}

/** Does all that a run does, its reading and writing included: what has not run
 *  here, every child would have to compile for itself. */
function warmer(runner, frame, env, native) {
  const args = '{"items": [1, 2.5, 3], "options": {"label": "k"}}';
  // A name of more than ten letters is another kind of text to V8. The bare one
  // comes last: what it leaves in the environment, every run has.
  const longer = "summarizeEverything";
  const requests = [
    requestFor(runner, frame, withIds(env), WARM_SOURCE.replace("summarize", longer), longer, args, { json_schema: "{}" }),
    requestFor(runner, frame, env, WARM_SOURCE, "summarize", args),
  ];
  let turn = 0;
  return () => {
    const from = native.pipe(1);
    const to = native.pipe(0);
    let done = false;
    const end = runner.finisher(to, () => (done = true));
    frame.write(to, requests[turn++ % requests.length]);
    runner.serve_one(from, native.exit, end);
    for (let i = 0; i < 100 && !done; ++i) process._tickCallback();
    if (!done) throw new Error("the warm-up did not end");
    frame.read(from);
    fs.closeSync(from);
    fs.closeSync(to);
  };
}

// -- what a child does before its run -----------------------------------------------

/** Every child would draw the same numbers. In words is worse: where the state of
 *  V8's generator is not known, all contexts and workers that a tool makes draw
 *  what its own does not, but alike. */
function reseed(native, draw) {
  if (native.reseed()) return;
  seed(native);
  draw();
  seed(native);
}

function seed(native) {
  v8.setFlagsFromString(`--random-seed=${native.random()}`);
}

/** Shows native code where that state is: a context begins with a draw from it. */
function showGenerator(native) {
  const context = vm.createContext();
  const draw = new vm.Script("Math.random()");
  native.watch();
  draw.runInContext(context);
  return native.found();
}

/** What tells how this process was started, tells of a cold run's start. */
function showAsStartedCold(native) {
  const started = [process.execPath, ...process.execArgv, process.argv[1]];
  native.showStartAs(Buffer.from(started.map((word) => word + "\0").join("")));
  delete Module._cache[__filename];
  for (const key of Object.keys(Module._pathCache))
    if (Module._pathCache[key] === __filename) delete Module._pathCache[key];
}

/** What a child would have to mend, this process never has: its own number, its
 *  own directory, its own end. */
function stayNobody(native) {
  v8.cachedDataVersionTag(); // counts V8's flags, which every tool's code is checked against
  process.reallyExit = native.exit;
  Object.defineProperty(process, "pid", { get: native.pid });
  process.chdir("."); // forgets the directory that it remembers
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
  if (tricks.includes("direct-seed")) showGenerator(native.exports);
  const warm = warmer(runner, frame, env, native.exports);
  for (let i = 0; i < WARM_RUNS; ++i) {
    warm();
    reseed(native.exports, () => {});
  }
  const rehearsed = tricks.includes("ready-pages")
    ? native.exports.elsewhere(() => plays(runner, frame, env))
    : Buffer.alloc(0);
  emptyNursery();
  runner.prepare(CHANNEL, native.exports.exit);
  stayNobody(native.exports);
  showAsStartedCold(native.exports);
  // Not before Node has started for good, and has once been through the end of
  // such a task: what it does or compiles there, every child would.
  setImmediate(() => {});
  setImmediate(() => {
    const order = native.exports.serve(CONTROL, Buffer.from(tricks), rehearsed);
    reseed(native.exports, Math.random);
    if (order === ARMED) while (!native.exports.wait()) warm();
  });
  // Right behind, and not from there: this file would be in every trace that a
  // tool sees.
  setImmediate(runner.serve_one, CHANNEL, native.exports.exit);
}

main();

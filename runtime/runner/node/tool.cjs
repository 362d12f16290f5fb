"use strict";
// Running a tool's source: as a module of its own, then one function of it, or
// the value of a snippet's last expression.

const path = require("path");
const v8 = require("v8");
const vm = require("vm");
const { pathToFileURL } = require("url");

const { ToolFailure } = require("./failure.cjs");
const { Loader, get, all } = require("./loader.cjs");
const { wrapTool, wrapSnippet, wrapScript, withoutHashbang } = require("./module.cjs");
const { bind } = require("./signature.cjs");

const MAX_ITEMS = 100000; // of an async generator, which might never end
const COMPILED_FOR = `${process.version} ${process.arch}`;

let transpiler;

// A hint that a source may declare one, for what is read closely then.
const NAMESPACE = /\b(?:namespace|module)\s+[\w$.]+\s*\{/;

/** Loads the bundled transpiler once; false where the build had none. */
function loadTranspiler() {
  if (transpiler === undefined) {
    try {
      transpiler = require("./transpiler.cjs").transform || false;
    } catch {
      transpiler = false;
    }
  }
  return transpiler;
}

/** A better error for what cannot be compiled; `place` has the line. */
function explained(error, place, source, name) {
  return place ? require("./syntax.cjs").explained(error, Number(place[1]), source, name) : error;
}

function stripTypes(source, file) {
  const transform = loadTranspiler();
  if (!transform)
    throw new ToolFailure(
      "TypeScriptUnavailable",
      "this engine was built without npm, so it cannot remove the types from TypeScript; " +
        "write the tool in JavaScript, or rebuild where npm works",
    );
  const name = path.basename(file);
  if (NAMESPACE.test(source)) require("./syntax.cjs").refuseNamespaces(source, name);
  try {
    return transform(source, { transforms: ["typescript"], disableESTransforms: true, filePath: name }).code;
  } catch (e) {
    const plain = new ToolFailure("SyntaxError", String(e.message).replace(/^Error transforming /, ""));
    throw explained(plain, /\((\d+):\d+\)$/.exec(plain.message), source, name);
  }
}

function fileOf(head) {
  const name = (head.name || head.function || "tool").replace(/[^\w-]/g, "_");
  return path.join(process.cwd(), name + (head.lang === "typescript" ? ".ts" : ".js"));
}

function compiles(code) {
  try {
    new vm.Script(code);
    return true;
  } catch {
    return false;
  }
}

function scriptOf(made, file, cachedData) {
  const loader = vm.constants && vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  return new vm.Script(made.code, {
    filename: file,
    columnOffset: -made.offset,
    cachedData,
    ...(loader ? { importModuleDynamically: loader } : {}),
  });
}

function wrapped(head, source, snippet, file) {
  const plain = withoutHashbang(source);
  const script = head.lang === "typescript" ? stripTypes(plain, file) : plain;
  if (snippet) return wrapSnippet(script, compiles);
  return head.script ? wrapScript(script, compiles) : wrapTool(script, head.function);
}

function compiled(head, source, snippet, file) {
  const made = wrapped(head, source, snippet, file);
  try {
    return { made, script: scriptOf(made, file) };
  } catch (e) {
    throw explained(e, /^[^\n]*:(\d+)\n/.exec(String(e.stack)), source, path.basename(file));
  }
}

// -- compiled code: u32 length, JSON, V8's own cache -----------------------------

function compile(head, source) {
  // Functions too, not only what runs first: nothing of it runs here.
  v8.setFlagsFromString("--no-lazy");
  const { made, script } = compiled(head, source, head.snippet, fileOf(head));
  v8.setFlagsFromString("--lazy");
  const cache = script.createCachedData();
  const about = Buffer.from(JSON.stringify({ ...made, for: COMPILED_FOR, wanted: head.function }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(about.length);
  return Buffer.concat([length, about, cache]);
}

function load(head, source, code, snippet, file) {
  if (code.length > 4) {
    const end = 4 + code.readUInt32LE(0);
    const made = JSON.parse(code.toString("utf8", 4, end));
    if (made.for === COMPILED_FOR && made.wanted === head.function)
      return { made, script: scriptOf(made, file, code.subarray(end)) };
  }
  return compiled(head, source, snippet, file);
}

// -- the world of a tool -----------------------------------------------------------

async function makeClient(loader) {
  const key = process.env.LETTA_API_KEY;
  if (!key) return null;
  try {
    const module = await loader.load("@letta-ai/letta-client");
    if (module.Letta) return new module.Letta({ apiKey: key });
    return new module.LettaClient({ token: key });
  } catch {
    return null; // a tool that needs it will say so better than we can
  }
}

/** Whether a source may want it, with `eval` or without: what most sources never
 *  ask for takes longer to make than they run. */
const mentions = (source, name) => source.includes(name) || source.includes("eval");

/** What runs now: `ends`, it may end the process with 0; `drains`, it is over
 *  when nothing is left to wait for, as Node has it, and not with its value. */
const running = { ends: false, drains: false };

async function evaluate(head, source, code, snippet) {
  const file = fileOf(head);
  const { made, script } = load(head, source, code, snippet, file);
  running.ends = snippet || Boolean(made.program);
  running.drains = Boolean(made.program);
  const loader = new Loader(file);
  globalThis.client = /\bclient\b/.test(source) ? await makeClient(loader) : null;
  const module = { exports: {}, filename: file, id: file, loaded: false };
  const directory = path.dirname(file);
  const require = mentions(source, "require") ? loader.require : undefined;
  // A program is the one that was started, and knows it by these two.
  if (require && made.program) require.main = module;
  const meta = made.meta
    ? { url: pathToFileURL(file).href, filename: file, dirname: directory, main: Boolean(made.program) }
    : undefined;
  if (made.program) process.argv = [process.execPath, file];
  const body = script.runInThisContext();
  const local = await body.call(
    undefined, module.exports, require, module, file, directory, loader.load, get, all, meta,
  );
  return { made, module, local };
}

// -- finding the function -----------------------------------------------------------

/** How many letters differ, at most `limit`. */
function distance(a, b, limit) {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; ++i) {
    const next = [i];
    for (let j = 1; j <= b.length; ++j)
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}

function missing(name, known) {
  const near = known.find((k) => distance(k.toLowerCase(), name.toLowerCase(), 3) <= Math.max(1, name.length / 3));
  let text = `the source defines no function '${name}' at its top level`;
  if (near) text += `; did you mean '${near}'?`;
  else if (known.length) text += `; it defines ${known.map((k) => `'${k}'`).join(", ")}`;
  return new ToolFailure("ReferenceError", text);
}

/** `asked`: a call was asked for. Else the last that is exported will do, and
 *  none at all. */
function find({ made, module, local }, asked) {
  const exported = module.exports;
  const { name } = local;
  let found = local.local;
  if (found === undefined && exported !== null && exported !== undefined) found = exported[name];
  const unnamed = (f) => typeof f === "function" && ["", "default", name].includes(f.name);
  if (found === undefined && unnamed(exported)) found = exported;
  if (found === undefined && exported && unnamed(exported.default)) found = exported.default;
  if (found === undefined && !asked) return Object.values(exported || {}).filter((f) => typeof f === "function").pop();
  if (found === undefined && !made.functions.length && (!name || name === "default"))
    throw new ToolFailure(
      "ReferenceError",
      "the source defines no function to call; define one, or leave out function and args to run it as a script",
    );
  if (found === undefined) throw missing(name, made.functions);
  if (typeof found !== "function")
    throw new ToolFailure("TypeError", `'${name}' in the source is not a function but of type ${typeof found}`);
  return found;
}

async function settled(value) {
  const made = await value;
  if (made === null || typeof made !== "object" || typeof made[Symbol.asyncIterator] !== "function") return made;
  if (typeof made.next !== "function") return made; // a stream, not a generator
  const items = [];
  for await (const item of made) {
    items.push(item);
    if (items.length > MAX_ITEMS) throw new ToolFailure("RangeError", `more than ${MAX_ITEMS} items generated`);
  }
  return items;
}

/** The schema that came with a call, the one that its arguments were checked
 *  against. A tool's own comes as text: few calls need it read. */
function schemaOf({ args_schema: schema, json_schema: text }) {
  return schema || (text ? JSON.parse(text) : null);
}

async function call(head, source, code, args) {
  const evaluated = await evaluate(head, source, code, false);
  if (evaluated.made.program) return settled(evaluated.local);
  const f = find(evaluated, !head.script);
  if (f === undefined) return undefined; // it defines values alone
  const names = [evaluated.local.name, f.name, "default"];
  const loneType = () => require("./schema.cjs").loneType(source, names);
  return settled(f(...bind(f, args, () => schemaOf(head), loneType)));
}

async function runSnippet(head, source, code, args) {
  Object.assign(globalThis, args);
  return settled((await evaluate(head, source, code, true)).local);
}

module.exports = { call, runSnippet, compile, loadTranspiler, running };

"use strict";
// How a tool's imports are found: as Node finds them from the working
// directory, NODE_PATH included, for CommonJS and for ES modules alike.

const fs = require("fs");
const path = require("path");
const { createRequire } = require("module");
const { pathToFileURL } = require("url");
const { isModuleNamespaceObject } = require("util").types;

const namespaces = new WeakMap();

/** What `import * as x` gives for a CommonJS module. */
function namespaceOf(exports) {
  if (exports === null || (typeof exports !== "object" && typeof exports !== "function"))
    return { default: exports };
  if (isModuleNamespaceObject(exports)) return exports;
  if (!namespaces.has(exports)) {
    const made = Object.create(exports);
    const own = exports.__esModule && "default" in exports ? exports.default : exports;
    Object.defineProperty(made, "default", { value: own, enumerable: true });
    namespaces.set(exports, made);
  }
  return namespaces.get(exports);
}

function get(namespace, name) {
  if (!(name in namespace)) throw new SyntaxError(`the module does not provide an export named '${name}'`);
  return namespace[name];
}

function all(target, namespace) {
  for (const name of Object.keys(isModuleNamespaceObject(namespace) ? namespace : Object.getPrototypeOf(namespace)))
    if (name !== "default" && !(name in target)) target[name] = namespace[name];
}

/** The file behind a package's "exports" for an importer. */
function target(entry) {
  if (typeof entry === "string") return entry;
  if (Array.isArray(entry)) return entry.map(target).find(Boolean);
  if (entry === null || typeof entry !== "object") return undefined;
  for (const [condition, inner] of Object.entries(entry))
    if (["import", "node", "module-sync", "default"].includes(condition) && target(inner)) return target(inner);
  return undefined;
}

/** Where an ES-only package's file lies: require.resolve refuses to say. */
function findEsm(specifier, from) {
  const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier) || [];
  for (const directory of from.resolve.paths(specifier) || []) {
    const home = path.join(directory, name || "");
    let about;
    try {
      about = JSON.parse(fs.readFileSync(path.join(home, "package.json"), "utf8"));
    } catch {
      continue; // not here
    }
    const exports = about.exports;
    const keyed = exports && typeof exports === "object" && Object.keys(exports).some((k) => k.startsWith("."));
    const entry = keyed ? exports[`.${rest}`] : rest ? undefined : exports;
    const file = target(entry) || (rest ? `.${rest}` : about.module || about.main || "index.js");
    return pathToFileURL(path.join(home, file)).href;
  }
  return undefined;
}

const ES_ONLY = new Set(["ERR_REQUIRE_ESM", "ERR_REQUIRE_ASYNC_MODULE", "ERR_PACKAGE_PATH_NOT_EXPORTED"]);

class Loader {
  constructor(file) {
    this.file = file;
    this.made = null;
    this.load = this.load.bind(this);
  }

  get require() {
    return (this.made ??= createRequire(this.file));
  }

  async load(specifier) {
    if (/^(file|data|https?):/.test(specifier)) return import(specifier);
    try {
      return namespaceOf(this.require(specifier));
    } catch (e) {
      if (!ES_ONLY.has(e.code)) throw this.explained(e, specifier);
      const file = path.isAbsolute(specifier) || specifier.startsWith(".") ? this.require.resolve(specifier) : null;
      const url = file ? pathToFileURL(file).href : findEsm(specifier, this.require);
      if (url === undefined) throw e;
      return import(url);
    }
  }

  explained(e, specifier) {
    if (e.code !== "MODULE_NOT_FOUND" || !String(e.message).includes(`'${specifier}'`)) return e;
    return new Error(`Cannot find module '${specifier}'; is it among the tool's npm_requirements?`);
  }
}

module.exports = { Loader, get, all };

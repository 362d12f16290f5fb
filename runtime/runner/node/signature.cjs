"use strict";
// From arguments by name to a call by position.

const { scanDeep, closes, closing } = require("./lexer.cjs");

/** The tokens of a function's text up to the end of its parameter list: what
 *  follows may be long, and nobody asks. */
function headOf(text) {
  const tokens = [];
  let inside = false;
  for (const token of scanDeep(text)) {
    tokens.push(token);
    if (token.depth > 0) continue;
    if (token.text === "=>" || (inside && closes(token))) break;
    inside ||= token.text === "(";
  }
  return tokens;
}

/** The tokens of a function's text that make up its parameter list. */
function parameterTokens(tokens) {
  let i = 0;
  if (tokens[i] && tokens[i].text === "async" && !tokens[i + 1].newline && tokens[i + 1].text !== "=>") ++i;
  // x => ..., without brackets
  if (tokens[i].type === "name" && tokens[i + 1] && tokens[i + 1].text === "=>") return [tokens[i]];
  // The name of a method may be computed: [..](a, b)
  while (i < tokens.length && !(tokens[i].text === "(" && tokens[i].depth === 0)) ++i;
  return tokens.slice(i + 1, closing(tokens, i));
}

function splitAtCommas(tokens) {
  const parts = [[]];
  const depth = tokens.length ? Math.min(...tokens.map((t) => t.depth)) : 0;
  for (const token of tokens) {
    if (token.text === "," && token.depth === depth) parts.push([]);
    else parts[parts.length - 1].push(token);
  }
  return parts.filter((part) => part.length > 0);
}

/** The names that a destructuring pattern takes from its object. */
function patternNames(tokens) {
  const inner = tokens.slice(1, closing(tokens, 0));
  return splitAtCommas(inner).map((part) => ({ rest: part[0].text === "...", name: part[part[0].text === "..." ? 1 : 0].text }));
}

/** {kind: "name" | "rest" | "object" | "array", name, names, optional}. */
function parameters(f) {
  const text = Function.prototype.toString.call(f);
  if (/\{\s*\[native code\]\s*\}$/.test(text)) return [];
  if (/^class(?![\w$])\s*[^\s(]/.test(text)) // and no method of that name
    throw new TypeError(`'${f.name}' in the source is a class, no function: export a function that makes and uses one`);
  return splitAtCommas(parameterTokens(headOf(text))).map((part) => {
    const optional = part.some((t) => t.text === "=" && t.depth === part[0].depth);
    if (part[0].text === "...") return { kind: "rest", name: part[1].text, optional: true };
    if (part[0].text === "{") return { kind: "object", names: patternNames(part), optional };
    if (part[0].text === "[") return { kind: "array", optional };
    return { kind: "name", name: part[0].text, optional };
  });
}

const has = (object, name) => Object.prototype.hasOwnProperty.call(object, name);

/** What a destructured parameter gets: the arguments it names, or everything
 *  that nobody else wants when it has a rest of its own. */
function takeObject(parameter, left) {
  const made = {};
  const wanted = parameter.names.some((n) => n.rest) ? Object.keys(left) : parameter.names.map((n) => n.name);
  for (const name of wanted) {
    if (!has(left, name)) continue;
    made[name] = left[name];
    delete left[name];
  }
  return made;
}

function takeNamed(parameter, left, schema) {
  const { name, optional } = parameter;
  const value = left[name];
  delete left[name];
  if (value !== null || !optional) return value;
  // Models send null for what they leave out; a default should apply then,
  // unless null is a value that the schema tells of.
  const given = schema();
  return given && require("./order.cjs").takesNull(given, name) ? null : undefined;
}

/** f(_a), for a linter's sake, is called with "a". */
function withoutUnderscores(wanted, left) {
  for (const parameter of wanted) {
    if (parameter.name === undefined || parameter.name[0] !== "_" || has(left, parameter.name)) continue;
    const name = parameter.name.replace(/^_+/, "");
    if (has(left, name) && !wanted.some((p) => p.name === name)) parameter.name = name;
  }
}

const isNamed = (parameter, left) =>
  parameter.kind === "object" ? parameter.names.some((n) => has(left, n.name)) : has(left, parameter.name);

/** The positional arguments for `f`. `schema()` is what the tool has been given,
 *  if anything; `loneType()` the type of a single parameter, as a schema. Both
 *  cost time, and are asked for only where no name tells where to go. */
function bind(f, args, schema = () => null, loneType = () => ({})) {
  const wanted = parameters(f);
  const left = { ...args };
  withoutUnderscores(wanted, left);
  if (wanted.length > 0 && Object.keys(left).length > 0 && !wanted.some((p) => isNamed(p, left))) {
    const given = schema();
    const values = given && require("./order.cjs").inOrder(wanted, left, given, loneType);
    if (values) return values;
  }
  const names = wanted.filter((p) => p.name !== undefined).map((p) => p.name);
  // f(input): one object for everything, when no argument goes by that name.
  if (wanted.length === 1 && wanted[0].kind === "name" && !has(left, wanted[0].name) && Object.keys(left).length > 0)
    return [left];
  // A destructured parameter may go by a name of the schema: f({ a }, b) for
  // {"options": {"a": 1}, "b": 2}.
  const unnamed = Object.keys(left).filter((key) => !names.includes(key));
  const values = [];
  for (const parameter of wanted) {
    if (parameter.kind === "rest") {
      const rest = has(left, parameter.name) ? takeNamed(parameter, left, () => null) : undefined;
      if (Array.isArray(rest)) values.push(...rest);
      else if (rest !== undefined) values.push(rest);
    } else if (parameter.kind === "name") {
      values.push(has(left, parameter.name) ? takeNamed(parameter, left, schema) : undefined);
    } else if (parameter.kind === "object" && parameter.names.some((n) => has(left, n.name))) {
      values.push(takeObject(parameter, left));
    } else {
      const key = unnamed.find((name) => has(left, name) && typeof left[name] === "object");
      values.push(key === undefined ? (parameter.kind === "object" && !parameter.optional ? {} : undefined) : left[key]);
      delete left[key];
    }
  }
  const extra = Object.keys(left);
  if (extra.length > 0 && wanted.length > 0) {
    const known = names.length ? `its parameters are ${names.join(", ")}` : "it takes an object";
    throw new TypeError(`unexpected argument ${extra.map((n) => `'${n}'`).join(", ")}: ${known}`);
  }
  return wanted.length > 0 ? values : Object.values(left);
}

module.exports = { bind, parameters, splitAtCommas };

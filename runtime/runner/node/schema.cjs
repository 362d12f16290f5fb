"use strict";
// The JSON schema of a function, read from its source without running it.

const { tokenize, closing } = require("./lexer.cjs");
const { KnownTypes, SchemaError, commentText, documentedType, splitTypes, typeOf } = require("./types.cjs");

const DEFAULTS = { string: "string", template: "string", number: "number" };

/** Where the parameters begin of the function that token `i` starts, or -1. */
function parametersOf(tokens, i) {
  const text = (k) => (tokens[k] || {}).text;
  let at = i;
  if (text(at) === "async") ++at;
  if (text(at) === "function") {
    while (at < tokens.length && text(at) !== "(") {
      if (text(at) === "<") at = afterAngles(tokens, at);
      else ++at;
    }
    return at;
  }
  if (text(at) === "<") at = afterAngles(tokens, at);
  if (text(at) !== "(") return -1;
  // An arrow function has its arrow behind the brackets and a return type.
  for (let k = closing(tokens, at) + 1; k < tokens.length && tokens[k].depth >= tokens[at].depth; ++k) {
    if (text(k) === "=>" && tokens[k].depth === tokens[at].depth) return at;
    if (text(k) === ";") break;
  }
  return -1;
}

function afterAngles(tokens, at) {
  let depth = 0;
  for (; at < tokens.length; ++at) {
    if (tokens[at].text === "<") ++depth;
    else if (tokens[at].text === ">" && --depth === 0) return at + 1;
  }
  return at;
}

/** The functions at the top level: {name, open, exported, comment, line}. */
function functionsIn(tokens) {
  const found = [];
  for (let i = 0; i < tokens.length; ++i) {
    if (tokens[i].depth > 0 || tokens[i].type !== "name") continue;
    const start = i;
    const { comment, line } = tokens[i];
    const exported = tokens[i].text === "export";
    if (exported) ++i;
    const isDefault = exported && (tokens[i] || {}).text === "default";
    if (isDefault) ++i;
    const made = functionAt(tokens, i, isDefault);
    if (made) found.push({ ...made, exported, comment, line });
    i = made && made.open > start ? made.open : start;
  }
  return found;
}

function functionAt(tokens, i, isDefault) {
  const text = (k) => (tokens[k] || {}).text;
  if (/^(const|let|var)$/.test(text(i))) {
    let equals = i + 2; // behind a type, if there is one
    while (equals < tokens.length && !(text(equals) === "=" && tokens[equals].depth === 0)) {
      if (text(equals) === ";" || (tokens[equals].newline && tokens[equals].depth === 0)) return null;
      ++equals;
    }
    const open = parametersOf(tokens, equals + 1);
    return open < 0 ? null : { name: text(i + 1), open };
  }
  const keyword = text(i) === "async" ? i + 1 : i;
  if (text(keyword) === "function") {
    const name = text(keyword + 1) === "*" ? keyword + 2 : keyword + 1;
    return { name: text(name) === "(" ? "default" : text(name), open: parametersOf(tokens, i) };
  }
  if (!isDefault) return null;
  const open = parametersOf(tokens, i);
  return open < 0 ? null : { name: "default", open };
}

function choose(functions, wanted) {
  if (functions.length === 0)
    throw new SchemaError(null, "No functions found in source code: export one at the top level of the source");
  if (!wanted) return functions.find((f) => f.exported) || functions[functions.length - 1];
  const found = functions.find((f) => f.name === wanted) || functions.find((f) => f.name === "default");
  if (found) return { ...found, name: wanted };
  const known = functions.map((f) => `'${f.name}'`).join(", ");
  throw new SchemaError(null, `no function '${wanted}' at the top level of the source; there is ${known}`);
}

/** Splits `x?: T = v` into its parts. */
function partsOf(tokens) {
  const depth = tokens[0].depth;
  let angle = 0;
  let colon = -1;
  let equals = -1;
  tokens.forEach((token, i) => {
    if (token.depth !== depth) return;
    if (token.text === "<" && colon >= 0) ++angle;
    else if (token.text === ">" && angle > 0) --angle;
    else if (token.text === ":" && colon < 0 && equals < 0) colon = i;
    else if (token.text === "=" && equals < 0 && angle === 0) equals = i;
  });
  const end = equals < 0 ? tokens.length : equals;
  return {
    pattern: tokens.slice(0, colon < 0 ? end : colon),
    type: colon < 0 ? null : tokens.slice(colon + 1, end),
    value: equals < 0 ? null : tokens.slice(equals + 1),
  };
}

function inferred(value) {
  if (!value || value.length === 0) return {};
  const [first] = value;
  if (DEFAULTS[first.type]) return { type: DEFAULTS[first.type] };
  if (first.text === "-") return { type: "number" };
  if (first.text === "true" || first.text === "false") return { type: "boolean" };
  if (first.text === "[") return { type: "array", items: {} };
  return first.text === "{" ? { type: "object" } : {};
}

class Derivation {
  constructor(known, documented) {
    this.known = known;
    this.documented = documented;
    this.properties = {};
    this.required = [];
  }

  put(name, schema, optional) {
    const note = this.documented[name];
    this.properties[name] = note && note.text ? { ...schema, description: note.text } : schema;
    if (!optional && !(note && note.optional)) this.required.push(name);
  }

  /** What a parameter's type is: written, in its JSDoc, or by its default. */
  typeFor(name, type, value) {
    if (type) return typeOf(type, this.known);
    const note = this.documented[name];
    if (note && note.type) return documentedType(note.type, this.known);
    return { schema: inferred(value), optional: false };
  }

  parameter(tokens) {
    const modifiers = tokens.findIndex((t) => !/^(public|private|protected|readonly)$/.test(t.text));
    const { pattern, type, value } = partsOf(tokens.slice(Math.max(0, modifiers)));
    const [first] = pattern;
    if (first.text === "this") return;
    if (first.text === "{") return this.destructured(pattern, type, value);
    if (first.text === "...") {
      const { schema } = this.typeFor(pattern[1].text, type, null);
      return this.put(pattern[1].text, schema.type === "array" ? schema : { type: "array", items: {} }, true);
    }
    if (first.type !== "name")
      throw new SchemaError(first, "a parameter that is a list pattern has no name to call it by");
    const { schema, optional } = this.typeFor(first.text, type, value);
    const question = pattern.some((t) => t.text === "?");
    this.put(first.text, schema, optional || question || value !== null);
  }

  /** Its members are arguments by themselves: that is how it is called. */
  destructured(pattern, type, value) {
    const whole = type ? typeOf(type, this.known).schema : {};
    for (const part of splitTypes(pattern.slice(1, closing(pattern, 0)), ",")) {
      if (part[0].text === "...") continue;
      const name = part[0].text;
      const schema = (whole.properties || {})[name] || this.typeFor(name, null, partsOf(part).value).schema;
      const given = part.some((t) => t.text === "=" && t.depth === part[0].depth);
      const known = whole.required ? whole.required.includes(name) : !type;
      this.put(name, schema, given || !known || value !== null);
    }
  }
}

function parametersAt(tokens, { open, comment }) {
  const made = new Derivation(new KnownTypes(tokens), commentText(comment).params);
  const list = tokens.slice(open + 1, closing(tokens, open));
  for (const part of splitTypes(list, ",")) made.parameter(part);
  return made;
}

/** The type of the one parameter of the first of `names` that the source has a
 *  function for: {}, which is any, where it does not tell. */
function loneType(source, names) {
  try {
    const tokens = tokenize(source);
    const functions = functionsIn(tokens);
    const found = names.map((name) => functions.find((f) => f.name === name)).find(Boolean);
    return found ? Object.values(parametersAt(tokens, found).properties)[0] || {} : {};
  } catch {
    return {}; // a type that has no JSON form
  }
}

function derive(source, head) {
  const tokens = tokenize(source);
  const chosen = choose(functionsIn(tokens), head.function);
  if (chosen.name === "default")
    throw new SchemaError(chosen, "the default export has no name: name the function, or say how it is called");
  const { description } = commentText(chosen.comment);
  const made = parametersAt(tokens, chosen);
  return {
    name: chosen.name,
    description: description || `TypeScript function ${chosen.name}`,
    parameters: { type: "object", properties: made.properties, required: made.required },
  };
}

module.exports = { derive, loneType };

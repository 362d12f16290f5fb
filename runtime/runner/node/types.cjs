"use strict";
// From TypeScript types, as they are written, to JSON schema.

const { tokenize, closing } = require("./lexer.cjs");

const SIMPLE = {
  string: { type: "string" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  bigint: { type: "integer" },
  null: { type: "null" },
  undefined: { type: "null" },
  void: { type: "null" },
  any: {},
  unknown: {},
  object: { type: "object" },
  Object: { type: "object" },
  String: { type: "string" },
  Number: { type: "number" },
  Boolean: { type: "boolean" },
  Date: { type: "string", format: "date-time" },
  URL: { type: "string", format: "uri" },
  Buffer: { type: "string" },
  Uint8Array: { type: "string" },
};
const LISTS = new Set(["Array", "ReadonlyArray", "Iterable", "array", "List"]);
const SETS = new Set(["Set", "ReadonlySet"]);
const SAME = new Set(["Readonly", "NonNullable", "Required", "Awaited", "Promise"]);
const MAX_DEPTH = 20; // of types inside of types
const MAX_PARTS = 10_000; // of all types together, written out: each interface as often as it is named

class SchemaError extends Error {
  constructor(token, message) {
    super(token && token.line ? `line ${token.line}: ${message}` : message);
    this.name = "SchemaError";
  }
}

const isNull = (schema) => schema.type === "null";

/** One schema for several; null and undefined have been taken out. */
function unionOf(arms) {
  const kinds = new Set(arms.map((arm) => ("const" in arm ? typeof arm.const : null)));
  if (arms.length > 0 && !kinds.has(null)) {
    const values = arms.map((arm) => arm.const);
    return kinds.size === 1 ? { type: [...kinds][0], enum: values } : { enum: values };
  }
  const plain = arms.map(withoutConst);
  const different = plain.filter((arm, i) => plain.findIndex((a) => JSON.stringify(a) === JSON.stringify(arm)) === i);
  if (different.some((arm) => Object.keys(arm).length === 0)) return {};
  return different.length === 1 ? different[0] : { anyOf: different };
}

function withoutConst(schema) {
  if (!("const" in schema)) return schema;
  return { type: typeof schema.const, enum: [schema.const] };
}

/** Reads types from tokens. `known` finds the source's own interfaces, aliases
 *  and enums by name. */
class TypeReader {
  constructor(tokens, known, depth = 0) {
    this.tokens = tokens;
    this.at = 0;
    this.known = known;
    this.depth = depth;
    if (depth > MAX_DEPTH) throw new SchemaError(tokens[0], "the type is nested too deeply");
    // A few interfaces that name each other twice are a schema of millions.
    if (++known.parts > MAX_PARTS)
      throw new SchemaError(tokens[0], "the types have more than 10,000 parts when they are written out; give a json_schema");
  }

  peek(ahead = 0) {
    return this.tokens[this.at + ahead] || { text: "", type: "end" };
  }
  take(text) {
    if (this.peek().text !== text) return false;
    ++this.at;
    return true;
  }
  inner(tokens) {
    return new TypeReader(tokens, this.known, this.depth + 1);
  }

  /** {schema, optional}: whether null or undefined is among the arms. */
  read() {
    this.take("|");
    const arms = [this.intersection()];
    while (this.take("|")) arms.push(this.intersection());
    const real = arms.filter((arm) => !isNull(arm));
    if (real.length === 0) return { schema: { type: "null" }, optional: true };
    return { schema: unionOf(real), optional: real.length < arms.length };
  }

  intersection() {
    this.take("&");
    const parts = [this.postfix()];
    while (this.take("&")) parts.push(this.postfix());
    if (parts.length === 1) return parts[0];
    const properties = Object.assign({}, ...parts.map((p) => p.properties));
    const required = parts.flatMap((p) => p.required || []);
    return parts.some((p) => p.properties) ? { type: "object", properties, required } : parts[0];
  }

  postfix() {
    let made = this.primary();
    while (this.peek().text === "[" && !this.peek().newline) {
      const end = closing(this.tokens, this.at);
      const list = end === this.at + 1;
      this.at = end + 1;
      made = list ? { type: "array", items: withoutConst(made) } : {};
    }
    return made;
  }

  primary() {
    const token = this.peek();
    if (token.type === "string") return ++this.at, { const: JSON.parse(jsonString(token.text)) };
    if (token.type === "number") return ++this.at, { const: Number(token.text) };
    if (token.type === "template") return ++this.at, { type: "string" };
    if (this.take("-")) return { const: -Number(this.tokens[this.at++].text) };
    if (token.text === "{") return this.objectType();
    if (token.text === "[") return this.tuple();
    if (token.text === "(") return this.bracket();
    if (token.type !== "name") throw new SchemaError(token, `'${token.text}' where a type should be`);
    if (token.text === "readonly" || token.text === "unique") return ++this.at, this.postfix();
    if (token.text === "keyof") return ++this.at, this.postfix(), { type: "string" };
    if (token.text === "typeof" || token.text === "infer") return ++this.at, this.primary(), {};
    if (token.text === "new" || token.text === "abstract") throw new SchemaError(token, "a constructor has no JSON form");
    return this.named();
  }

  bracket() {
    const end = closing(this.tokens, this.at);
    if ((this.tokens[end + 1] || {}).text === "=>") throw new SchemaError(this.peek(), "a function has no JSON form");
    const inside = this.inner(this.tokens.slice(this.at + 1, end)).read();
    this.at = end + 1;
    return inside.schema;
  }

  tuple() {
    const end = closing(this.tokens, this.at);
    const items = splitTypes(this.tokens.slice(this.at + 1, end), ",").map((part) => {
      if (part[1] && part[1].text === ":" && part[0].type === "name") part = part.slice(2); // a label
      return withoutConst(this.inner(part[0].text === "..." ? part.slice(1) : part).read().schema);
    });
    this.at = end + 1;
    return { type: "array", prefixItems: items, minItems: items.length, maxItems: items.length };
  }

  objectType() {
    const end = closing(this.tokens, this.at);
    const made = this.members(this.tokens.slice(this.at + 1, end));
    this.at = end + 1;
    return made;
  }

  members(tokens) {
    const properties = {};
    const required = [];
    let additional;
    for (const part of splitTypes(tokens, ";", ",", "\n")) {
      let i = part[0].text === "readonly" && part.length > 1 && part[1].text !== ":" ? 1 : 0;
      if (part[i].text === "[") {
        const close = closing(part, i);
        additional = this.inner(part.slice(close + 2)).read().schema;
        continue;
      }
      const name = part[i].type === "string" ? JSON.parse(jsonString(part[i].text)) : part[i].text;
      const question = (part[++i] || {}).text === "?";
      if (question) ++i;
      if (!part[i] || part[i].text !== ":") continue; // a method
      const { schema, optional } = this.inner(part.slice(i + 1)).read();
      properties[name] = withoutConst(schema);
      const text = commentText(part[0].comment).description;
      if (text) properties[name] = { ...properties[name], description: text };
      if (!question && !optional) required.push(name);
    }
    if (additional !== undefined && Object.keys(properties).length === 0)
      return { type: "object", additionalProperties: additional };
    return { type: "object", properties, required };
  }

  named() {
    const token = this.tokens[this.at++];
    let name = token.text;
    let owner = null;
    while (this.take(".")) [owner, name] = [name, this.tokens[this.at++].text];
    const args = this.peek().text === "<" ? this.typeArguments() : [];
    const arg = (i) => (args[i] ? withoutConst(this.inner(args[i]).read().schema) : {});
    if (name === "true" || name === "false") return { const: name === "true" };
    if (owner !== null) return this.known.member(owner, name) || { type: "object" };
    const own = this.known.find(name, this.depth + 1);
    if (own) return own;
    if (LISTS.has(name)) return { type: "array", items: arg(0) };
    if (SETS.has(name)) return { type: "array", items: arg(0), uniqueItems: true };
    if (name === "Record" || name === "Map") return { type: "object", additionalProperties: arg(1) };
    if (SAME.has(name)) return arg(0);
    if (name === "Partial") return { ...arg(0), required: [] };
    if (name === "Pick" || name === "Omit") return chosen(name, arg(0), arg(1));
    if (name === "Function") throw new SchemaError(token, "a function has no JSON form");
    return { ...(SIMPLE[name] || { type: "object" }) };
  }

  typeArguments() {
    let depth = 0;
    const start = this.at + 1;
    for (; this.at < this.tokens.length; ++this.at) {
      if (this.peek().text === "<") ++depth;
      else if (this.peek().text === ">" && --depth === 0) break;
    }
    return splitTypes(this.tokens.slice(start, this.at++), ",");
  }
}

function chosen(how, schema, names) {
  const wanted = names.enum || [];
  const keep = (name) => wanted.includes(name) === (how === "Pick");
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(schema.properties || {}).filter(([name]) => keep(name))),
    required: (schema.required || []).filter(keep),
  };
}

/** Splits at separators outside of all brackets, < > among them. "\n" stands
 *  for the end of a line. */
function splitTypes(tokens, ...separators) {
  const parts = [[]];
  let angle = 0;
  const depth = tokens.length ? Math.min(...tokens.map((t) => t.depth)) : 0;
  for (const token of tokens) {
    const last = parts[parts.length - 1];
    const outside = angle === 0 && token.depth === depth;
    const complete = last.length > 0 && ![":", "|", "&", "=>", "="].includes(last[last.length - 1].text);
    if (outside && separators.includes("\n") && token.newline && complete && !/^[|&=:]/.test(token.text)) parts.push([]);
    if (token.text === "<") ++angle;
    if (token.text === ">" && angle > 0) --angle;
    if (outside && separators.includes(token.text)) parts.push([]);
    else parts[parts.length - 1].push(token);
  }
  return parts.filter((part) => part.length > 0);
}

const jsonString = (literal) =>
  JSON.stringify(literal.slice(1, -1).replace(/\\(.)/g, (_, c) => ({ n: "\n", t: "\t", r: "\r" })[c] || c));

/** {description, params: {name: {type, text, optional}}} of a JSDoc block. */
function commentText(comment) {
  const params = {};
  if (!comment) return { description: "", params };
  const lines = comment.slice(3, -2).split("\n").map((line) => line.replace(/^\s*\*? ?/, "").trimEnd());
  const blocks = lines.join("\n").split(/(?<=^|\s)(?=@\w)/);
  const description = blocks[0].startsWith("@") ? "" : blocks.shift().trim();
  for (const block of blocks) {
    const found = /^@(?:param|arg|argument)\s+(?:\{((?:[^{}]|\{[^{}]*\})*)\}\s*)?(\[?)([\w$]+)[^\]\s]*\]?\s*(?:-\s*)?([^]*)/.exec(block);
    if (found)
      params[found[3]] = { type: found[1], optional: found[2] === "[", text: found[4].replace(/\s+/g, " ").trim() };
  }
  return { description: description.replace(/\s*\n\s*/g, " "), params };
}

/** The source's own types, read when they are asked for. */
class KnownTypes {
  constructor(tokens) {
    this.bodies = {};
    this.open = new Set();
    this.parts = 0;
    for (let i = 0; i < tokens.length; ++i) {
      const { text, depth, type } = tokens[i];
      const name = (tokens[i + 1] || {}).text;
      if (depth > 0 || type !== "name" || !/^(interface|type|enum|class)$/.test(text)) continue;
      this.bodies[name] = this.bodyOf(tokens, i, text);
    }
  }

  bodyOf(tokens, i, kind) {
    let open = i + 2;
    if (kind === "type") {
      while (open < tokens.length && tokens[open].text !== "=") ++open;
      let end = ++open;
      while (end < tokens.length && !this.endsAlias(tokens, open, end)) ++end;
      return { kind, tokens: tokens.slice(open, end), bases: [] };
    }
    const bases = [];
    for (; open < tokens.length && tokens[open].text !== "{"; ++open)
      if (tokens[open].type === "name" && !/^(extends|implements)$/.test(tokens[open].text)) bases.push(tokens[open].text);
    return { kind, tokens: tokens.slice(open + 1, closing(tokens, open)), bases };
  }

  endsAlias(tokens, start, i) {
    if (tokens[i].depth > 0) return false;
    if (tokens[i].text === ";") return true;
    if (i === start || !tokens[i].newline) return false;
    return !/^[|&=]/.test(tokens[i].text) && !/^(\||&|=>|=|,|<)$/.test(tokens[i - 1].text);
  }

  find(name, depth) {
    const body = Object.prototype.hasOwnProperty.call(this.bodies, name) ? this.bodies[name] : null;
    if (!body) return null;
    if (this.open.has(name)) return { type: "object" }; // it contains itself
    this.open.add(name);
    try {
      return this.read(body, depth);
    } finally {
      this.open.delete(name);
    }
  }

  read(body, depth) {
    if (body.kind === "enum") {
      const values = this.enumValues(body).map(([, value]) => ({ const: value }));
      return values.length ? unionOf(values) : {};
    }
    const reader = new TypeReader(body.tokens, this, depth);
    if (body.kind === "type") return reader.read().schema;
    if (body.kind === "class") return { type: "object" };
    const made = reader.members(body.tokens);
    const above = body.bases.map((base) => this.find(base, depth)).filter((s) => s && s.properties);
    if (above.length === 0) return made;
    const parts = [...above, made];
    return {
      type: "object",
      properties: Object.assign({}, ...parts.map((p) => p.properties)),
      required: [...new Set(parts.flatMap((p) => p.required || []))],
    };
  }

  enumValues(body) {
    let next = 0;
    return splitTypes(body.tokens, ",").map((part) => {
      const given = part[2];
      if (given && given.type === "string") return [part[0].text, JSON.parse(jsonString(given.text))];
      if (given) next = Number(given.text === "-" ? `-${part[3].text}` : given.text);
      return [part[0].text, next++];
    });
  }

  member(owner, name) {
    const body = this.bodies[owner];
    const found = body && body.kind === "enum" && this.enumValues(body).find(([key]) => key === name);
    return found ? { const: found[1] } : null;
  }
}

function typeOf(tokens, known) {
  const made = new TypeReader(tokens, known).read();
  return { schema: withoutConst(made.schema), optional: made.optional };
}

/** A type in JSDoc: `number`, `string[]`, `?string`, `number=`. */
function documentedType(text, known) {
  const plain = text.trim().replace(/^\?/, "").replace(/=$/, "").replace(/^\*$/, "any").replace(/^\.\.\./, "");
  const made = typeOf(tokenize(plain), known);
  return { schema: made.schema, optional: made.optional || /^\?|=$/.test(text.trim()) };
}

module.exports = { KnownTypes, SchemaError, commentText, documentedType, splitTypes, typeOf };

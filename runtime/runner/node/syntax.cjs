"use strict";
// What the language has and this runner does not: said by its name, with its
// line and the way out.

const { tokenize, closing } = require("./lexer.cjs");
const { ToolFailure } = require("./failure.cjs");

const refusal = (file, line, text) => new ToolFailure("SyntaxError", `${file}: line ${line}: ${text}`);

// -- namespaces ------------------------------------------------------------------

const ONLY_TYPES = /^(interface|type|declare|namespace|module)$/;
const STATEMENT =
  /^(interface|type|declare|namespace|module|export|import|const|let|var|function|async|class|abstract|enum)$/;

/** Whether the namespace whose body opens at `open` is there when it runs: it
 *  has more in it than types. */
function hasValues(tokens, open) {
  const end = closing(tokens, open);
  let kind = null; // of the statement that token `i` belongs to
  for (let i = open + 1; i < end; ++i) {
    const { text, depth, newline } = tokens[i];
    if (depth > tokens[open].depth + 1) continue;
    if (newline && STATEMENT.test(text)) kind = null;
    // A type goes on behind its bracket: { a: 1 } | null.
    if (text === ";" || (text === "}" && kind !== "type" && kind !== "declare")) {
      kind = null;
    } else if (kind === null) {
      if (text === "export") continue;
      if (!ONLY_TYPES.test(text)) return true;
      kind = text;
    } else if (text === "{" && /^(namespace|module)$/.test(kind) && hasValues(tokens, i)) {
      return true;
    }
  }
  return false;
}

/** The transpiler drops a namespace with all that is in it, and says nothing. */
function refuseNamespaces(source, file) {
  const tokens = tokenize(source);
  for (let i = 0; i < tokens.length; ++i) {
    const { type, text, depth, line } = tokens[i];
    if (depth > 0 || type !== "name" || !/^(namespace|module)$/.test(text)) continue;
    if (i > 0 && tokens[i - 1].text === "declare") continue;
    let open = i + 1;
    while (tokens[open] && (tokens[open].type === "name" || tokens[open].text === ".")) ++open;
    if (open === i + 1 || !tokens[open] || tokens[open].text !== "{" || !hasValues(tokens, open)) continue;
    const name = tokens.slice(i + 1, open).map((t) => t.text).join("");
    throw refusal(
      file, line,
      `the namespace '${name}' holds values, and a namespace is not translated; ` +
        "declare them at the top level of the source, or as an object: const " +
        `${name.split(".")[0]} = { ... }`,
    );
  }
}

// -- what Node does not read -------------------------------------------------------

const starts = (token) => Boolean(token) && (token.type === "name" || token.type === "string" || /^[#[]$/.test(token.text));

/** [what it is, the way out] of the token `i`, or undefined. */
function unsupported(tokens, i) {
  const { text, type } = tokens[i];
  const after = tokens[i + 1];
  if (text === "@") return ["decorators", "call the function that decorates on what it decorates"];
  if (type !== "name" || !after || after.newline || !starts(after)) return undefined;
  if (text === "accessor") return ["'accessor' fields", "write a getter and a setter"];
  if (text === "using" && after.type === "name") return ["'using' declarations", "write const, with try and finally"];
  return undefined;
}

/** A better error for what could not be compiled because of something in this
 *  line, where it is such syntax: a later Node itself may know it. */
function explained(error, line, source, file) {
  const tokens = tokenize(source);
  for (let i = 0; i < tokens.length; ++i) {
    const found = tokens[i].line === line && unsupported(tokens, i);
    if (found) return refusal(file, line, `${found[0]} are not supported; ${found[1]}`);
  }
  return error;
}

module.exports = { refuseNamespaces, explained };

"use strict";
// Whether a source is a program: it does something by itself, beside defining
// what others call.

const { closes, closing } = require("./lexer.cjs");

const textAt = (tokens, i) => (tokens[i] ? tokens[i].text : "");
const firstFrom = (tokens, i, wanted) => {
  while (tokens[i] && !wanted(tokens[i])) ++i;
  return i;
};

/** The token behind a function or a class that begins at `i`. */
function behindBody(tokens, i) {
  const opens = (...texts) => (t) => t.depth === 0 && texts.includes(t.text);
  i = firstFrom(tokens, i, opens("(", "{"));
  if (textAt(tokens, i) === "(") i = firstFrom(tokens, closing(tokens, i) + 1, opens("{"));
  return tokens[i] ? closing(tokens, i) + 1 : i;
}

/** The token behind `... from "module"`, its attributes included. */
function behindModule(tokens, i) {
  i = firstFrom(tokens, i, (t) => t.type === "string") + 1;
  if (/^(with|assert)$/.test(textAt(tokens, i)) && textAt(tokens, i + 1) === "{") return closing(tokens, i + 1) + 1;
  return i;
}

/** Whether these tokens wait, or call one of the source's own functions, when
 *  they are evaluated; what stands in a function does so later. */
function calls(tokens, from, to, functions) {
  for (let i = from; i < to; ++i) {
    const { text, type } = tokens[i];
    if (text === "=>" || text === "function") return false;
    if (type !== "name") continue;
    if (text === "await") return true;
    const isMember = /^\??\.$/.test(textAt(tokens, i - 1));
    if (!isMember && functions.has(text) && textAt(tokens, i + 1) === "(") return true;
  }
  return false;
}

/** exports.x = ..., f.description = ... */
function assignsMember(tokens, i) {
  while (textAt(tokens, i + 1) === ".") i += 2;
  return textAt(tokens, i + 1) === "=";
}

class Statements {
  constructor({ tokens, functions, exported }, mayStart) {
    this.tokens = tokens;
    this.functions = new Set(functions);
    this.exported = exported;
    this.mayStart = mayStart;
    this.declared = new Set(); // by `var x;`, as an enum begins without its types
  }

  hasFunctions() {
    const commonJs = this.tokens.some((t, i) => t.text === "exports" && /^[.=[]$/.test(textAt(this.tokens, i + 1)));
    return this.functions.size > 0 || this.exported.size > 0 || commonJs;
  }

  end(i) {
    for (++i; i < this.tokens.length; ++i)
      if (this.tokens[i].depth === 0 && !closes(this.tokens[i]) && this.mayStart(this.tokens, i)) return i;
    return i;
  }

  /** The token behind an expression or a declaration of variables, or -1 where
   *  it does more than make values. */
  value(i) {
    const end = this.end(i);
    return calls(this.tokens, i, end, this.functions) ? -1 : end;
  }

  isEnum(i) {
    return textAt(this.tokens, i + 1) === "function" && this.declared.has(textAt(this.tokens, i + 3));
  }

  exportedFrom(i) {
    const text = textAt(this.tokens, i);
    if (text === "*") return behindModule(this.tokens, i);
    if (text === "{") {
      const after = closing(this.tokens, i) + 1;
      return textAt(this.tokens, after) === "from" ? behindModule(this.tokens, after) : after;
    }
    if (text !== "default") return i; // a declaration, looked at next
    const first = textAt(this.tokens, i + 1);
    const declares = /^(function|class)$/.test(first === "async" ? textAt(this.tokens, i + 2) : first);
    return declares ? i + 1 : this.value(i + 1);
  }

  /** The token behind the statement at `i`, or -1 where it does something. */
  next(i) {
    const { text, type } = this.tokens[i];
    const after = textAt(this.tokens, i + 1);
    if (text === ";") return i + 1;
    if (type === "string" && this.end(i) <= i + 2) return i + 1; // "use strict"
    if (text === "(" && this.isEnum(i)) return this.end(i);
    if (type !== "name") return -1;
    if (text === "import") return after === "(" || after === "." ? -1 : behindModule(this.tokens, i);
    if (text === "export") return this.exportedFrom(i + 1);
    if (text === "function" || text === "class" || (text === "async" && after === "function"))
      return behindBody(this.tokens, i);
    if (text === "var") this.declared.add(after);
    if (/^(const|let|var)$/.test(text) || assignsMember(this.tokens, i)) return this.value(i);
    return -1;
  }
}

/** `rewriter`: module.cjs's, done; `mayStart(tokens, i)`: whether a statement
 *  may begin with that token. */
function isProgram(rewriter, mayStart) {
  const statements = new Statements(rewriter, mayStart);
  if (!statements.hasFunctions()) return true;
  for (let i = 0; i < rewriter.tokens.length; ) {
    i = statements.next(i);
    if (i < 0) return true;
  }
  return false;
}

module.exports = { isProgram };

"use strict";
// Turns a tool's source, an ES or a CommonJS module, into one async function
// that can be compiled anywhere: imports become loads at its top, exports
// become plain declarations. Lines keep their numbers.

const { tokenize, closing } = require("./lexer.cjs");
const { splitAtCommas } = require("./signature.cjs");

const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;
const blank = (text) => text.replace(/[^\n]/g, " ");
const HASHBANG = /^\ufeff?#![^\n]*/;

/** Of a file that is a program as well: its first line is for the shell, and
 *  behind what we put in front of it JavaScript would not have it. */
const withoutHashbang = (source) => source.replace(HASHBANG, blank);

class Rewriter {
  constructor(source) {
    this.source = source;
    this.tokens = tokenize(source);
    this.pieces = []; // [start, end, replacement]
    this.head = ""; // before the source: what was imported
    this.tail = ""; // behind it: what is exported
    this.functions = []; // declared at the top level, in order
    this.exported = new Set(); // names of what is exported, functions or not
    this.modules = 0;
    this.isModule = false;
    this.meta = false; // whether it asks for import.meta
  }

  replace(from, to, text) {
    this.pieces.push([from.start, to.end, text]);
  }

  text() {
    let made = "";
    let at = 0;
    for (const [start, end, text] of this.pieces.sort((a, b) => a[0] - b[0])) {
      const original = this.source.slice(start, end);
      made += this.source.slice(at, start) + text + blank(original).slice(Math.min(text.length, original.length));
      at = end;
    }
    return made + this.source.slice(at);
  }

  run() {
    for (let i = 0; i < this.tokens.length; ++i) {
      const token = this.tokens[i];
      const after = this.tokens[i + 1] || { text: "" };
      if (token.text === "import" && token.type === "name") {
        const before = this.tokens[i - 1];
        if (before && (before.text === "." || before.text === "?.")) continue;
        if (after.text === "(") this.replace(token, token, "__load");
        else if (after.text === ".") this.metaProperty(i);
        else if (token.depth === 0 && this.startsStatement(i)) i = this.importStatement(i);
      } else if (token.depth === 0 && token.text === "export" && token.type === "name" && this.startsStatement(i)) {
        this.isModule = true;
        i = this.exportStatement(i);
      } else if (token.depth === 0 && token.type === "name") {
        this.noteFunction(i);
      }
    }
    return this;
  }

  metaProperty(i) {
    this.meta = true;
    this.replace(this.tokens[i], this.tokens[i + 2], "__meta");
  }

  startsStatement(i) {
    const before = this.tokens[i - 1];
    return !before || before.text === ";" || before.text === "}" || this.tokens[i].newline;
  }

  noteFunction(i) {
    const [token, name, equals] = this.tokens.slice(i, i + 3);
    if (token.text === "function") {
      const at = name && name.text === "*" ? equals : name;
      if (at && at.type === "name") this.functions.push(at.text);
    } else if (/^(const|let|var)$/.test(token.text) && equals && equals.text === "=") {
      if (this.startsFunction(i + 3)) this.functions.push(name.text);
    }
  }

  /** Whether the expression at token `i` is a function: `function`, `x => `,
   *  `(x) => `, each perhaps `async`. */
  startsFunction(i) {
    const text = (at) => (this.tokens[at] || { text: "" }).text;
    if (text(i) === "async" && /^[^=;,]/.test(text(i + 1)) && !this.tokens[i + 1].newline) ++i;
    if (text(i) === "function" || text(i + 1) === "=>") return true;
    return text(i) === "(" && text(closing(this.tokens, i) + 1) === "=>";
  }

  /** A name under which the loaded module is known; the loads stay in order. */
  load(specifier) {
    const name = `__m${this.modules++}`;
    this.head += `const ${name}=await __load(${specifier});`;
    return name;
  }

  bindings(tokens, module) {
    for (const part of splitAtCommas(tokens)) {
      const text = part.map((t) => t.text);
      const [from, to] = text.includes("as") && text.length === 3 ? [text[0], text[2]] : [text[0], text[0]];
      const key = /^["']/.test(from) ? from : JSON.stringify(from);
      this.head += `const ${to}=__get(${module},${key});`;
    }
  }

  importStatement(start) {
    let i = start + 1;
    while (i < this.tokens.length && this.tokens[i].type !== "string") ++i;
    if (i >= this.tokens.length) return start; // not an import after all
    this.isModule = true;
    const clause = this.tokens.slice(start + 1, i - 1);
    const module = this.load(this.tokens[i].text);
    let at = 0;
    if (clause[at] && clause[at].type === "name" && clause[at].text !== "from") {
      this.head += `const ${clause[at].text}=__get(${module},"default");`;
      at += clause[at + 1] && clause[at + 1].text === "," ? 2 : 1;
    }
    if (clause[at] && clause[at].text === "*") this.head += `const ${clause[at + 2].text}=${module};`;
    if (clause[at] && clause[at].text === "{") this.bindings(clause.slice(at + 1, closing(clause, at)), module);
    return this.endStatement(start, i, "");
  }

  /** Blanks everything up to the end of a statement whose last token but
   *  import attributes and a semicolon is `i`. */
  endStatement(start, i, text) {
    const next = this.tokens[i + 1];
    if (next && /^(with|assert)$/.test(next.text) && this.tokens[i + 2] && this.tokens[i + 2].text === "{")
      i = closing(this.tokens, i + 2);
    if (this.tokens[i + 1] && this.tokens[i + 1].text === ";") ++i;
    this.replace(this.tokens[start], this.tokens[i], text);
    return i;
  }

  exportStatement(start) {
    const next = this.tokens[start + 1] || { text: "" };
    if (next.text === "default") return this.exportDefault(start);
    if (next.text === "*") {
      const string = this.tokens.findIndex((t, i) => i > start && t.type === "string");
      const module = this.load(this.tokens[string].text);
      const name = string - start === 5 ? this.tokens[start + 3].text : null;
      this.tail += name ? `__exports[${JSON.stringify(name)}]=${module};` : `__all(__exports,${module});`;
      return this.endStatement(start, string, "");
    }
    if (next.text === "{") {
      const close = closing(this.tokens, start + 1);
      const from = this.tokens[close + 1];
      const module = from && from.text === "from" ? this.load(this.tokens[close + 2].text) : null;
      for (const part of splitAtCommas(this.tokens.slice(start + 2, close))) {
        const text = part.map((t) => t.text);
        const value = module ? `__get(${module},${JSON.stringify(text[0])})` : text[0];
        if (!module) this.exported.add(text[0]);
        this.tail += `__exports[${JSON.stringify(text[text.length - 1])}]=${value};`;
      }
      return this.endStatement(start, module ? close + 2 : close, "");
    }
    const name = this.tokens.slice(start + 2, start + 5).find((t) => !/^(function|\*)$/.test(t.text));
    if (name) this.exported.add(name.text);
    this.replace(this.tokens[start], this.tokens[start], "");
    return start; // the declaration itself is looked at next
  }

  exportDefault(start) {
    let i = start + 2;
    if (this.tokens[i] && this.tokens[i].text === "async") ++i;
    const kind = this.tokens[i] && this.tokens[i].text;
    if (kind === "function" || kind === "class") {
      const name = this.tokens[i + 1].text === "*" ? this.tokens[i + 2] : this.tokens[i + 1];
      if (name.type === "name" && !(kind === "class" && name.text === "extends")) {
        this.replace(this.tokens[start], this.tokens[start + 1], "");
        this.tail += `__exports.default=${name.text};`;
        this.exported.add(name.text);
        return start + 1;
      }
    }
    this.noteDefault(start + 2);
    this.replace(this.tokens[start], this.tokens[start + 1], "__exports.default=");
    return start + 1;
  }

  /** Which function `export default` is about: one of another name, or one
   *  that has none. */
  noteDefault(i) {
    const isFunction = this.startsFunction(i);
    if (isFunction) this.functions.push("default");
    this.exported.add(isFunction || !this.tokens[i] ? "default" : this.tokens[i].text);
  }

  /** What is called when nobody says which: helpers may stand behind it. */
  usual() {
    const last = (names) => names[names.length - 1];
    return last(this.functions.filter((name) => this.exported.has(name))) || last(this.functions) || "default";
  }
}

const OPEN =
  "(async function(exports,require,module,__filename,__dirname,__load,__get,__all,__meta){const __exports=exports;";

/** {code, offset, functions, meta}: `offset` is how far the first line was
 *  moved. */
function wrap(rewriter, strict, tail) {
  const head = OPEN.replace("{const", strict ? '{"use strict";const' : "{const") + rewriter.head + "{";
  return {
    code: `${head}${rewriter.text()}\n;${rewriter.tail}${tail}}})`,
    offset: head.length,
    functions: rewriter.functions,
    meta: rewriter.meta,
  };
}

/** The tool as a function; what it returns holds the wanted function. */
function wrapTool(source, wanted) {
  const rewriter = new Rewriter(source).run();
  const name = wanted || rewriter.usual();
  const found = NAME.test(name) && name !== "default" ? `typeof ${name}==="undefined"?undefined:${name}` : "undefined";
  return wrap(rewriter, rewriter.isModule, `return{name:${JSON.stringify(name)},local:${found}};`);
}

// -- snippets ------------------------------------------------------------------

const CONTINUES = /^([-+*/%&|^<>=?:,.([!~]|\?\.|=>|&&|\|\||\?\?|[!=]==?|[<>]=|in|instanceof|else|catch|finally|while|`)/;
const INCOMPLETE = /^([-+*/%&|^<>=?:,.([{!~]|=>|&&|\|\||\?\?|else|do|return|typeof|await|new|case|default|const|let|var|of|in)$/;
const DECLARES = /^(function|class|const|let|var|if|for|while|do|switch|try|throw|return|import|export)$/;

function mayStart(tokens, i) {
  if (i === 0) return true;
  const before = tokens[i - 1];
  if (before.text === ";") return true;
  if (!tokens[i].newline && before.text !== "}") return false;
  if (CONTINUES.test(tokens[i].text) && tokens[i].type !== "string") return before.text === "}" && tokens[i].newline;
  if (before.type !== "string" && INCOMPLETE.test(before.text)) return false;
  if (before.text !== ")") return true;
  // if (...) x: the x is no statement of its own
  let open = i - 2;
  while (open > 0 && !(tokens[open].text === "(" && tokens[open].depth === before.depth)) --open;
  return open === 0 || !/^(if|for|while|with|await)$/.test(tokens[open - 1].text);
}

/** A snippet as a function that returns its last expression's value; `valid`
 *  says whether a text compiles. */
function wrapSnippet(source, valid) {
  const rewriter = new Rewriter(source).run();
  rewriter.tail = "";
  const text = rewriter.text();
  const tokens = tokenize(text);
  let end = tokens.length;
  while (end > 0 && tokens[end - 1].text === ";" && tokens[end - 1].depth === 0) --end;
  for (let i = end - 1; i >= 0; --i) {
    if (tokens[i].depth > 0 || !mayStart(tokens, i)) continue;
    const starts = tokens[i].text === "async" ? tokens[i + 1] || tokens[i] : tokens[i];
    if (DECLARES.test(starts.text) && starts.type === "name") break;
    const expression = text.slice(tokens[i].start, tokens[end - 1].end);
    const body = `${text.slice(0, tokens[i].start)};return (${expression}\n)`;
    const made = wrap({ text: () => body, head: rewriter.head, tail: "", functions: [], meta: rewriter.meta }, false, "");
    if (valid(made.code)) return made;
  }
  return wrap(rewriter, false, "");
}

/** A source of which no call was asked: a program runs as a snippet does, one
 *  that only defines is there to be called. */
function wrapScript(source, valid) {
  const program = require("./script.cjs").isProgram(new Rewriter(source).run(), mayStart);
  return program ? { ...wrapSnippet(source, valid), program } : wrapTool(source, "");
}

module.exports = { wrapTool, wrapSnippet, wrapScript, withoutHashbang };

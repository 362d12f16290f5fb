"use strict";
// Splits JavaScript or TypeScript into tokens: enough to find statements,
// parameters and types, without understanding expressions.

const PUNCTUATORS =
  /(?:>>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|&&=|\|\|=|\?\?=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.|\+\+|--|\+=|-=|\*=|\/=|%=|&=|\|=|\^=|\*\*|[{}()[\];,<>+\-*/%&|^!~?:=.@#])/y;
const NAME = /[\p{ID_Start}$_\\][\p{ID_Continue}$\u200c\u200d\\]*/uy;
const NUMBER = /(?:0[xXbBoO][0-9a-fA-F_]+n?|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?n?)/y;
const SPACE = /[\s\ufeff]+/y;
const STRING = /"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/y;
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const BEFORE_REGEX = new Set(
  "return typeof case in of delete void throw new else do await yield instanceof".split(" "),
);

function match(pattern, text, at) {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found ? found[0] : null;
}

/** The end of the template literal that starts at `at`. */
function templateEnd(text, at) {
  for (let i = at + 1; i < text.length; ++i) {
    if (text[i] === "\\") ++i;
    else if (text[i] === "`") return i + 1;
    else if (text[i] === "$" && text[i + 1] === "{") i = braceEnd(text, i + 1) - 1;
  }
  return text.length;
}

/** The end of what the brace at `at` opens, nested templates included. */
function braceEnd(text, at) {
  let depth = 0;
  for (const token of scan(text, at)) {
    if (token.text === "{") ++depth;
    else if (token.text === "}" && --depth === 0) return token.end;
  }
  return text.length;
}

function regexMayStart(last) {
  if (!last) return true;
  if (last.type === "name") return BEFORE_REGEX.has(last.text);
  if (last.type !== "punctuator") return false;
  return ![")", "]", "}"].includes(last.text);
}

function next(text, at, last) {
  const c = text[at];
  if (c === "`") return { type: "template", text: text.slice(at, templateEnd(text, at)) };
  let found = match(STRING, text, at);
  if (found !== null) return { type: "string", text: found };
  found = match(NAME, text, at);
  if (found !== null) return { type: "name", text: found };
  if (/[\d.]/.test(c)) {
    found = match(NUMBER, text, at);
    if (found !== null) return { type: "number", text: found };
  }
  if (c === "/" && regexMayStart(last)) {
    found = match(REGEX, text, at);
    if (found !== null) return { type: "regex", text: found };
  }
  found = match(PUNCTUATORS, text, at);
  return { type: "punctuator", text: found === null ? c : found };
}

/** Tokens one by one: {type, text, start, end, line, newline, comment}.
 *  `newline`: a line ends before it; `comment`: the JSDoc right before it. */
function* scan(text, at = 0) {
  let last = null;
  let newline = true;
  let comment = null;
  let line = 1;
  const skip = (piece) => {
    for (let i = 0; i < piece.length; ++i) if (piece[i] === "\n") ++line, (newline = true);
    at += piece.length;
  };
  if (at === 0 && text.startsWith("#!")) at = text.indexOf("\n") < 0 ? text.length : text.indexOf("\n");
  while (at < text.length) {
    const space = match(SPACE, text, at);
    if (space !== null) {
      skip(space);
    } else if (text.startsWith("//", at)) {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end;
    } else if (text.startsWith("/*", at)) {
      const end = text.indexOf("*/", at + 2);
      const piece = text.slice(at, end < 0 ? text.length : end + 2);
      if (piece.startsWith("/**") && piece.length > 4) comment = piece;
      skip(piece);
    } else {
      const token = next(text, at, last);
      Object.assign(token, { start: at, line, newline, comment });
      skip(token.text);
      token.end = at;
      newline = false;
      comment = null;
      last = token;
      yield token;
    }
  }
}

const opens = (token) => token.text === "(" || token.text === "[" || token.text === "{";
const closes = (token) => token.text === ")" || token.text === "]" || token.text === "}";

/** Tokens one by one, each with the depth of brackets it stands in; a bracket
 *  counts as outside of what it opens or closes. */
function* scanDeep(text) {
  let depth = 0;
  for (const token of scan(text)) {
    const isPunctuator = token.type === "punctuator";
    if (isPunctuator && closes(token)) depth = Math.max(0, depth - 1);
    token.depth = depth;
    if (isPunctuator && opens(token)) ++depth;
    yield token;
  }
}

const tokenize = (text) => [...scanDeep(text)];

/** The index of the bracket that closes the one at `open`. */
function closing(tokens, open) {
  const depth = tokens[open].depth;
  for (let i = open + 1; i < tokens.length; ++i)
    if (tokens[i].depth === depth && closes(tokens[i])) return i;
  return tokens.length - 1;
}

module.exports = { tokenize, scanDeep, closes, closing };

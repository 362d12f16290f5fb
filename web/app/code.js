// An editor of little: coloured text below, the textarea of the browser above.
import { h, fill, plain } from "./dom.js";

const words = {
  python: "and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield None True False match case self",
  javascript: "async await break case catch class const continue default delete do else export extends finally for from function if import in instanceof let new null of return static super switch this throw true false try typeof undefined var void while yield interface type",
  shell: "if then else elif fi for in do done while case esac function return export local set echo cd exit",
};
words.typescript = words.javascript;
words.bash = words.shell;

const strings = {
  python: /(?:[rbfuRBFU]{0,2})(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/,
  javascript: /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?/,
};
strings.typescript = strings.javascript;
const comments = { python: /#[^\n]*/, shell: /#[^\n]*/, bash: /#[^\n]*/, javascript: /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/ };
comments.typescript = comments.javascript;

const highlighters = new Map();
function highlighter(language) {
  if (!highlighters.has(language)) {
    const string = strings[language] ?? strings.javascript;
    highlighters.set(language, {
      all: new RegExp(`(?<comment>${(comments[language] ?? /(?!)/).source})|(?<string>${string.source})|(?<number>\\b\\d[\\d_.eE]*\\b)|(?<word>[A-Za-z_]\\w*)`, "g"),
      words: new Set((words[language] ?? "").split(" ")),
    });
  }
  return highlighters.get(language);
}

/** Coloured text nodes of a source. */
export function coloured(text, language) {
  const made = document.createDocumentFragment();
  if (text.length > 100000 || !words[language]) {
    made.append(plain(text));
    return made;
  }
  const { all, words: known } = highlighter(language);
  let from = 0;
  for (const found of text.matchAll(all)) {
    let kind = Object.keys(found.groups).find((name) => found.groups[name] !== undefined);
    if (kind === "word") kind = known.has(found[0]) ? "keyword" : text[found.index + found[0].length] === "(" ? "name" : "";
    if (!kind) continue;
    if (found.index > from) made.append(plain(text.slice(from, found.index)));
    made.append(h(`span.tok-${kind}`, found[0]));
    from = found.index + found[0].length;
  }
  made.append(plain(text.slice(from)));
  return made;
}

/** Tab indents, Escape and then Tab leaves; Ctrl-Enter runs, Ctrl-S saves. */
export function editor({ text = "", language = "python", label, onchange, onrun, onsave, rows = 8, readonly }) {
  const paper = h("pre", { "aria-hidden": "true" });
  const area = h("textarea", { class: "code", "aria-label": label, spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", rows, readonly });
  const made = h("div.editor", h("div.sheet", paper, area));
  area.value = text;
  const draw = () => fill(paper, coloured(area.value, made.language), "\n");
  let leaves = false;
  made.language = language;
  area.addEventListener("input", () => { draw(); onchange?.(area.value); });
  area.addEventListener("keydown", (pressed) => {
    const held = pressed.ctrlKey || pressed.metaKey;
    if (pressed.key === "Escape") leaves = true;
    else if (pressed.key === "Tab" && !pressed.shiftKey && !leaves && !readonly) {
      pressed.preventDefault();
      area.setRangeText(made.language === "python" ? "    " : "  ", area.selectionStart, area.selectionEnd, "end");
      area.dispatchEvent(new Event("input"));
    } else if (pressed.key === "Enter" && (held || pressed.shiftKey) && onrun) {
      pressed.preventDefault();
      onrun();
    } else if (pressed.key === "s" && held && onsave) {
      pressed.preventDefault();
      onsave();
    } else if (pressed.key === "Enter" && !held && !readonly) {
      const before = area.value.slice(0, area.selectionStart).split("\n").pop();
      const indent = /^\s*/.exec(before)[0] + (made.language === "python" && /:\s*$/.test(before) ? "    " : "");
      if (indent) {
        pressed.preventDefault();
        area.setRangeText("\n" + indent, area.selectionStart, area.selectionEnd, "end");
        area.dispatchEvent(new Event("input"));
      }
    } else leaves = false;
  });
  draw();
  return Object.assign(made, {
    get: () => area.value,
    set: (value) => { area.value = value; draw(); },
    setLanguage: (value) => { made.language = value; draw(); },
    focus: () => area.focus(),
  });
}

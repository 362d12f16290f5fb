// Output as its tool wrote it: numbered lines, terminal colours, nothing obeyed.
import { h, fill, plain } from "./dom.js";
import { button, copyButton } from "./parts.js";
import { bytes } from "./format.js";

const longest = 4000; // lines that are drawn at first
const widest = 20000; // characters of one line

/** Colours and weights of SGR; every other escape sequence is left out. */
export function* sgr(text) {
  let classes = [];
  const escape = /\u001b(?:\[([0-9;:]*)([A-Za-z])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;
  let from = 0;
  for (let found; (found = escape.exec(text)); from = escape.lastIndex) {
    if (found.index > from) yield [text.slice(from, found.index), classes];
    if (found[2] === "m") classes = turn(classes, found[1]);
  }
  if (from < text.length) yield [text.slice(from), classes];
}

function turn(classes, codes) {
  const kept = new Set(classes);
  const drop = (start) => { for (const one of kept) if (start.test(one)) kept.delete(one); };
  const all = codes.split(/[;:]/).map(Number);
  for (let i = 0; i < all.length; ++i) {
    const code = all[i];
    if (code === 0) kept.clear();
    else if (code === 1) kept.add("ansi-bold");
    else if (code === 2) kept.add("ansi-dim");
    else if (code === 3) kept.add("ansi-italic");
    else if (code === 4) kept.add("ansi-underline");
    else if (code === 7) kept.add("ansi-inverse");
    else if (code === 22) drop(/bold|dim/);
    else if (code === 23) drop(/italic/);
    else if (code === 24) drop(/underline/);
    else if (code === 27) drop(/inverse/);
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) { drop(/ansi-\d/); kept.add(`ansi-${code % 10}`); }
    else if (code === 39) drop(/ansi-\d/);
    else if (code === 38 || code === 48) {
      const colour = all[i + 1] === 5 ? all[i + 2] : undefined;
      if (code === 38 && colour !== undefined) { drop(/ansi-\d/); kept.add(`ansi-${colour < 16 ? colour % 8 : colour % 7}`); }
      i += all[i + 1] === 5 ? 2 : 4;
    }
  }
  return [...kept];
}

function line(text, number, kind, state) {
  const made = h("span.l", { "data-n": number, id: `L${number}`, class: kind });
  let cut = text.length > widest ? text.slice(0, widest) : text;
  // A carriage return in the middle: the terminal would show what follows it.
  cut = cut.replace(/^.*\r(?!$)/s, "");
  for (const [piece, classes] of sgr(state.open + cut)) made.append(classes.length ? h("span", { class: classes.join(" ") }, piece) : document.createTextNode(plain(piece)));
  const colours = [...cut.matchAll(/\u001b\[[0-9;:]*m/g)].map((found) => found[0]);
  state.open = (state.open + colours.join("")).replace(/^.*\u001b\[0?m/s, "").slice(-400);
  if (text.length > widest) made.append(h("span.soft", ` … ${bytes(text.length - widest)} more in this line`));
  made.append("\n");
  return made;
}

/** {name, text, kind: "err", file, note}; append() for what still comes. */
export function textView({ name, text = "", kind = "", file = "output.txt", note, bare }) {
  const pre = h("pre", { tabindex: "0", "aria-label": name });
  const size = h("span");
  const state = { open: "", number: 0, whole: "", last: "", partial: null, hidden: 0 };
  const follow = { on: true };
  const wrap = button("Wrap", { kind: "quiet mini", pressed: "false", onclick: () => {
    const on = made.classList.toggle("wrap");
    wrap.setAttribute("aria-pressed", String(on));
  } });
  const save = button("Download", { kind: "quiet mini", name: "down", onclick: () => download(new Blob([state.whole], { type: "text/plain" }), file) });
  const made = h("div.text-view", { class: bare ? "bare" : "" }, h("div.bar", h("strong", name), size, note && h("span", note), h("span.grow"), wrap, copyButton(() => state.whole, "Copy text"), save), pre);
  pre.addEventListener("scroll", () => { follow.on = pre.scrollTop + pre.clientHeight > pre.scrollHeight - 30; });

  function append(more) {
    if (!more) return;
    state.whole += more;
    const parts = (state.last + more).split("\n");
    state.last = parts.pop();
    state.partial?.remove();
    const drawn = document.createDocumentFragment();
    for (const part of parts) {
      ++state.number;
      if (state.number <= longest || state.all) drawn.append(line(part, state.number, kind, state));
      else ++state.hidden;
    }
    pre.insertBefore(drawn, state.note ?? null);
    state.partial = state.last ? line(state.last, state.number + 1, kind, { open: state.open }) : null;
    if (state.partial) pre.insertBefore(state.partial, state.note ?? null);
    if (state.hidden && !state.note) pre.append((state.note = h("span.l")));
    if (state.note) fill(state.note, h("span.soft", `${state.hidden.toLocaleString("en")} more lines: download them to read them all`));
    size.textContent = bytes(new TextEncoder().encode(state.whole).length);
    if (follow.on) pre.scrollTop = pre.scrollHeight;
  }
  append(text);
  pre.scrollTop = 0;
  follow.on = text === "";
  if (!text) size.textContent = "";
  return Object.assign(made, { append, isEmpty: () => state.whole === "" });
}

/** Lets the browser save what the engine answered. */
export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: String(name).split("/").pop() || "file" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

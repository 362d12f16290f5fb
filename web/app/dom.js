// Elements from names and text. Text becomes text nodes and nothing else: there
// is no way from here to markup, whatever a tool has named itself.

const BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069";
const HIDDEN = new RegExp(`[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\ufeff${BIDI}]`, "g");

/** Text in which what would be invisible, or would turn its neighbours around, is seen. */
export function plain(text) {
  return String(text).replace(HIDDEN, (c) => {
    const code = c.charCodeAt(0);
    if (c === "\r") return "";
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return `\u27e8${code.toString(16).padStart(4, "0")}\u27e9`;
  });
}

const isProps = (it) => it && typeof it === "object" && !(it instanceof Node) && !Array.isArray(it);

function setProp(made, key, value) {
  if (value === undefined || value === null || value === false) return;
  if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
  else if (key === "class") made.classList.add(...String(value).split(" ").filter(Boolean));
  else if (key === "style") for (const [name, one] of Object.entries(value)) made.style.setProperty(name, one);
  else if (key === "value" || key === "checked" || key === "selected" || key === "indeterminate") made[key] = value;
  else if (key === "href" || key === "src") {
    // Nothing but pages, files and pictures of our own, and ordinary links.
    if (/^(https?:|blob:|#|\/|[\w.%-]+(\/|\?|#|$))/i.test(value) && !/^\s*(javascript|data|vbscript):/i.test(value)) made.setAttribute(key, value);
  } else made.setAttribute(key, value === true ? "" : plain(value));
}

export function add(parent, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false || child === "") continue;
    parent.append(child instanceof Node ? child : document.createTextNode(plain(child)));
  }
  return parent;
}

/** h("p.soft", {title: "…"}, "text", otherElement) */
export function h(spec, ...rest) {
  const [name, ...classes] = spec.split(".");
  const made = document.createElement(name || "div");
  if (classes.length) made.classList.add(...classes);
  if (isProps(rest[0])) for (const [key, value] of Object.entries(rest.shift())) setProp(made, key, value);
  return add(made, ...rest);
}

export function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return add(made, ...children);
}

export function fill(parent, ...children) {
  parent.replaceChildren();
  return add(parent, ...children);
}

/** Listeners that end with the page that set them. */
export const listen = (target, name, handler, signal) => target.addEventListener(name, handler, { signal });

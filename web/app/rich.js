// What cells show. Text stays text; pictures are <img> of bytes; HTML is shown in
// a frame with an origin of its own, which reaches neither us nor any network.
import { h } from "./dom.js";
import { button } from "./parts.js";
import { valueView } from "./json_view.js";
import { download, textView } from "./text_view.js";

const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"];
const biggest = 8 * 1024 * 1024;
const tallest = 1200;

function bytesOf(base64) {
  const text = atob(base64.replace(/\s/g, ""));
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
}

function picture(type, data, name) {
  let content;
  try {
    content = type === "image/svg+xml" ? new TextEncoder().encode(data) : bytesOf(data);
  } catch {
    return h("p.soft.small", `A picture (${type}) that cannot be read.`);
  }
  const blob = new Blob([content], { type });
  if (content.length > biggest) return button(`Download ${type}`, { name: "down", onclick: () => download(blob, name) });
  const url = URL.createObjectURL(blob);
  // In an <img> an SVG runs no script and fetches nothing.
  return h("img", { src: url, alt: "Picture that the code made", onload: () => URL.revokeObjectURL(url) });
}

function framed(html) {
  const frame = h("iframe", { src: "frame", title: "HTML that the code made", sandbox: "allow-scripts", referrerpolicy: "no-referrer", loading: "eager" });
  frame.addEventListener("load", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches;
    const theme = document.documentElement.dataset.theme || (dark ? "dark" : "light");
    frame.contentWindow?.postMessage({ html, theme }, "*");
  }, { once: true });
  const heard = (message) => {
    if (!frame.isConnected && frame.dataset.seen) return removeEventListener("message", heard);
    if (message.source !== frame.contentWindow || typeof message.data?.height !== "number") return undefined;
    frame.dataset.seen = "1";
    frame.style.setProperty("height", `${Math.max(24, Math.min(tallest, message.data.height))}px`);
    return undefined;
  };
  addEventListener("message", heard);
  return frame;
}

/** Headings, lists, code and emphasis of Markdown; no links, no HTML. */
export function markdown(text) {
  const made = h("div.stack.tight");
  const inline = (line) => line.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) =>
    part.startsWith("`") && part.length > 2 ? h("code", part.slice(1, -1)) : part.startsWith("**") && part.length > 4 ? h("strong", part.slice(2, -2)) : part);
  for (const block of String(text).split(/\n{2,}/)) {
    const heading = /^(#{1,4})\s+(.*)$/.exec(block);
    const items = block.split("\n");
    if (heading) made.append(h("h3", inline(heading[2])));
    else if (/^```/.test(block)) made.append(h("pre", block.replace(/^```.*\n?|```$/g, "")));
    else if (items.every((one) => /^\s*[-*]\s/.test(one))) made.append(h("ul", items.map((one) => h("li", "• ", inline(one.replace(/^\s*[-*]\s/, ""))))));
    else made.append(h("p", inline(block)));
  }
  return made;
}

/** One bundle {media type: data}: the richest form first, the others a click away. */
export function bundle(data) {
  const forms = [];
  const join = (value) => (Array.isArray(value) ? value.join("") : value);
  for (const [type, raw] of Object.entries(data ?? {})) {
    const value = join(raw);
    if (pictures.includes(type) && typeof value === "string") forms.push({ rank: 0, words: type.slice(6), make: () => picture(type, value, `picture.${type.slice(6, 9)}`) });
    else if (type === "text/html" && typeof value === "string") forms.push({ rank: 1, words: "HTML", make: () => framed(value) });
    else if (type === "text/markdown") forms.push({ rank: 2, words: "Markdown", make: () => markdown(value) });
    else if (type === "application/json" || type.endsWith("+json")) forms.push({ rank: 3, words: "JSON", make: () => valueView(value) });
    else if (type === "text/plain") forms.push({ rank: 4, words: "text", make: () => h("pre", String(value)) });
    else forms.push({ rank: 5, words: type, make: () => textView({ name: type, text: typeof value === "string" ? value : JSON.stringify(value, null, 2) }) });
  }
  forms.sort((a, b) => a.rank - b.rank);
  const place = h("div");
  const show = (one) => place.replaceChildren(one.make());
  if (forms.length) show(forms[0]);
  return h("div.rich.stack.tight", place, forms.length > 1 && h("div.row.wrap", forms.map((one) => button(one.words, { kind: "quiet mini", onclick: () => show(one) }))));
}

// A JSON value as a tree that folds.
import { h } from "./dom.js";
import { textView } from "./text_view.js";
import { copyButton } from "./parts.js";
import { json } from "./format.js";

const most = 200; // members of one level

function leaf(value) {
  if (typeof value === "string") return h("span.tok-string", JSON.stringify(value));
  if (typeof value === "number") return h("span.tok-number", String(value));
  return h("span.tok-keyword", String(value));
}

function tree(value, name, depth) {
  const label = name === undefined ? [] : [h("span.tok-name", String(name)), h("span.soft", ": ")];
  if (value === null || typeof value !== "object") return h("div.leaf", label, leaf(value));
  const members = Object.entries(value);
  const [open, shut] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (!members.length) return h("div.leaf", label, open + shut);
  const inside = h("div");
  const made = h("details", h("summary", label, open, h("span.soft", ` ${members.length} `), shut), inside);
  const draw = () => {
    if (inside.firstChild) return;
    for (const [key, one] of members.slice(0, most)) inside.append(tree(one, Array.isArray(value) ? undefined : key, depth + 1));
    if (members.length > most) inside.append(h("div.leaf.soft", `${members.length - most} more`));
  };
  made.addEventListener("toggle", draw);
  if (depth < 2 && members.length <= 50) {
    made.open = true;
    draw();
  }
  return made;
}

/** Text stays text; a list of flat objects becomes a table; the rest a tree. */
export function valueView(value, name = "Value") {
  if (typeof value === "string") return textView({ name, text: value, file: "value.txt" });
  const made = h("div.stack.tight");
  const flat = Array.isArray(value) && value.length > 0 && value.length <= 500
    && value.every((one) => one && typeof one === "object" && !Array.isArray(one) && Object.values(one).every((each) => each === null || typeof each !== "object"));
  if (flat) {
    const columns = [...new Set(value.flatMap(Object.keys))].slice(0, 12);
    made.append(h("div.rich", { style: { "overflow-x": "auto" } }, h("table", h("thead", h("tr", columns.map((each) => h("th", { scope: "col" }, each)))),
      h("tbody", value.map((one) => h("tr", columns.map((each) => h("td", one[each] === undefined ? "" : String(one[each])))))))));
  }
  made.append(h("div.json", h("div.right", copyButton(() => json(value), "Copy JSON")), tree(value, undefined, 0)));
  return made;
}
export const rawView = (value, file = "record.json") => textView({ name: "JSON", text: json(value), file });

// Stored tools.
import { h, fill } from "../app/dom.js";
import { icon } from "../app/icons.js";
import { get } from "../app/api.js";
import { address, goTo } from "../app/router.js";
import { list, pages } from "../app/list.js";
import { pageHead } from "../app/shell.js";
import { action, empty, linkButton, tag } from "../app/parts.js";
import { troupe, curl } from "../app/as_command.js";
import { ago, count } from "../app/format.js";

async function overview({ query, signal, command }) {
  let search = query.search ?? "", label = query.tag ?? "";
  const find = h("input", { type: "search", value: search, placeholder: "Tool by name", "aria-label": "Tool by name", spellcheck: "false" });
  const tags = h("input", { type: "search", value: label, placeholder: "Tag", "aria-label": "Tag", spellcheck: "false", style: { "max-width": "10rem" } });
  const rows = list({
    label: "Tools", href: (one) => address("tools", one.name),
    columns: [{ words: "Tool", width: "minmax(8rem, 1fr)" }, { words: "What it does", width: "minmax(10rem, 2fr)" }, { words: "Language", width: "6rem", phone: false }, { words: "Tags", width: "minmax(5rem, 1fr)", phone: false }, { words: "Revision", width: "4.5rem", num: true, phone: false }, { words: "Changed", width: "5.5rem", num: true }],
    cells: (one) => [one.name, h("span.soft", one.description), one.source_type, h("span.row", (one.tags ?? []).map((each) => tag(each))), one.revision, ago(one.updated_at)],
    empty: () => search || label ? empty("No such tool", "No tool's name or tag fits.") : empty("No tool is stored yet", "A tool is a function that agents call by name. Its schema is derived from its signature.", linkButton("New tool", address("tools", "new"), { name: "plus", kind: "primary" }), h("code", "troupe tool put add.py")),
  });
  const foot = h("div.list-foot");
  const source = pages((page) => get("/v1/tools", { ...page, search, tag: label }, signal), 100);
  const show = () => {
    rows.update(source.state.rows);
    fill(foot, h("span", source.state.rows.length ? `${count(source.state.rows.length)} shown` : ""), source.state.next && action("Show more", {}, async () => { await source.more(); show(); }));
  };
  let timer = 0;
  const changed = () => { clearTimeout(timer); timer = setTimeout(async () => { search = find.value.trim(); label = tags.value.trim(); goTo({ query: { search, tag: label } }, { quietly: true }); await source.first(); show(); }, 250); };
  find.addEventListener("input", changed);
  tags.addEventListener("input", changed);
  await source.first();
  show();
  command(troupe("tool", "list"), curl("GET", "/v1/tools"));
  return h("div", pageHead("Tools", { says: "Functions that agents call by name.", actions: [linkButton("New tool", address("tools", "new"), { name: "plus", kind: "primary" })] }), h("div.filters", h("div.find", icon("search"), find), tags), rows, foot);
}

export async function draw(context) {
  if (context.item) return (await import("./tool.js")).draw(context);
  return overview(context);
}

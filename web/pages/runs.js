// All runs, live; the parts of this page that are pages of their own come along.
import { h, fill } from "../app/dom.js";
import { icon } from "../app/icons.js";
import { get } from "../app/api.js";
import { address, goTo } from "../app/router.js";
import { keepFresh } from "../app/live.js";
import { pages } from "../app/list.js";
import { pageHead } from "../app/shell.js";
import { action, choose, linkButton, check } from "../app/parts.js";
import { troupe, curl } from "../app/as_command.js";
import { runList } from "./run_list.js";
import { count } from "../app/format.js";

const every = 2000, size = 100;

function filters(query, changed) {
  const tool = h("input", { type: "search", value: query.tool ?? "", placeholder: "Tool by name", "aria-label": "Tool by name", spellcheck: "false" });
  const label = h("input", { type: "search", value: query.label ?? "", placeholder: "Label, as job=17", "aria-label": "Label", spellcheck: "false" });
  const status = choose([["", "any status"], "success", "error", "timeout", "limit", "cancelled", "lost"], query.status ?? "", { "aria-label": "Status" });
  const phase = choose([["", "any phase"], "queued", "preparing", "running", "ended"], query.phase ?? "", { "aria-label": "Phase" });
  let timer = 0;
  const soon = () => { clearTimeout(timer); timer = setTimeout(tell, 250); };
  const tell = () => changed({ tool: tool.value.trim(), label: label.value.trim(), status: status.value, phase: phase.value });
  tool.addEventListener("input", soon);
  label.addEventListener("input", soon);
  status.addEventListener("change", tell);
  phase.addEventListener("change", tell);
  label.style.setProperty("max-width", "12rem");
  return [h("div.find", icon("search"), tool), label, status, phase];
}

async function overview({ query, signal, command }) {
  const given = ({ tool, label, status, phase }) => ({ tool, label: label?.includes("=") ? label : undefined, status, phase });
  let now = given(query);
  const filtered = () => Object.values(now).some(Boolean);
  const rows = runList({ filtered });
  const foot = h("div.list-foot");
  const live = h("input", { type: "checkbox", checked: true });
  const source = pages((page) => get("/v1/runs", { ...page, ...now }, signal), size);
  const say = () => command(troupe("runs", "list", "--count", String(size)), curl("GET", "/v1/runs", undefined, now));
  const show = (told) => {
    rows.update(source.state.rows, told);
    fill(foot, h("span", source.state.rows.length ? `${count(source.state.rows.length)} shown${source.state.next ? "; older ones follow" : ""}` : ""),
      source.state.next && action("Show older", {}, async () => { await source.more(); show(false); }));
  };
  await source.first();
  show(false);
  say();
  keepFresh(async () => {
    if (!live.checked) return;
    const asked = now;
    await source.refresh();
    if (asked === now) show(true);
  }, every, signal);
  return h("div", pageHead("Runs", { says: "Everything that was executed, newest first.", actions: [linkButton("New run", address("runs", "new"), { name: "plus", kind: "primary" })] }),
    h("div.filters", filters(query, async (wanted) => {
      now = given(wanted);
      goTo({ query: wanted }, { quietly: true });
      say();
      source.state.rows = [];
      await source.first();
      show(false);
    }), h("span.grow"), check("live", live)),
    rows, foot);
}

export async function draw(context) {
  if (context.item === "new") return (await import("./run_new.js")).draw(context);
  if (context.item) return (await import("./run.js")).draw(context);
  return overview(context);
}

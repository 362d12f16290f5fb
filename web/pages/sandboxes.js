// All sandboxes, live, and how to make one.
import { h, fill } from "../app/dom.js";
import { icon } from "../app/icons.js";
import { call, get } from "../app/api.js";
import { goTo } from "../app/router.js";
import { keepFresh } from "../app/live.js";
import { pages } from "../app/list.js";
import { pageHead } from "../app/shell.js";
import { action, button, choose, dialog, field } from "../app/parts.js";
import { troupe, curl } from "../app/as_command.js";
import { sandboxList } from "./sandbox_list.js";
import { count } from "../app/format.js";

const every = 2000, size = 100;

function create(snapshot) {
  const name = h("input", { placeholder: "optional, as chat_123", autocomplete: "off", spellcheck: "false" });
  const minutes = h("input", { type: "number", min: 1, value: 60 });
  const then = choose([["delete", "delete it"], ["pause", "pause it"], ["stop", "stop it"]], "delete");
  const network = choose([["", "as configured"], ["off", "off"], ["public", "public internet"]], "");
  const from = h("input", { value: snapshot ?? "", placeholder: "a snapshot, optional", autocomplete: "off", spellcheck: "false" });
  const metadata = h("input", { placeholder: "user=ada, project=demo", autocomplete: "off", spellcheck: "false" });
  dialog("New sandbox", h("div.stack", field("Name", name), h("div.grid.half", field("Lives for, minutes", minutes), field("And then", then)), field("Network", network), field("From a snapshot", from), field("Metadata", metadata)), {
    words: "Create",
    yes: async () => {
      const wanted = { timeout: Math.max(1, Number(minutes.value) || 60) * 60, on_timeout: then.value };
      if (name.value.trim()) wanted.name = name.value.trim();
      if (network.value) wanted.network = network.value;
      if (from.value.trim()) wanted.snapshot = from.value.trim();
      const pairs = metadata.value.split(",").map((one) => one.trim()).filter((one) => one.includes("="));
      if (pairs.length) wanted.metadata = Object.fromEntries(pairs.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]));
      const made = await call("POST", "/v1/sandboxes", { body: wanted });
      setTimeout(() => goTo({ page: "sandboxes", item: made.id }));
    },
  });
}

async function overview({ query, signal, command, me }) {
  const may = me.can_run ? undefined : "This needs a key with the scope run";
  const made = button("New sandbox", { name: "plus", kind: "primary", needs: may, onclick: () => create() });
  const rows = sandboxList({ create: button("New sandbox", { kind: "primary", needs: may, onclick: () => create() }) });
  const find = h("input", { type: "search", placeholder: "Name, id or metadata", "aria-label": "Name, id or metadata", value: query.find ?? "", spellcheck: "false" });
  const state = choose([["", "all that live"], "queued", "creating", "running", "paused", "stopped", "failed"], query.state ?? "", { "aria-label": "State" });
  const foot = h("div.list-foot");
  const source = pages((page) => get("/v1/sandboxes", { ...page, state: state.value }, signal), size);
  const fits = (one) => { const word = find.value.trim().toLowerCase(); return !word || [one.name, one.id, ...Object.entries(one.metadata).map((each) => each.join("="))].some((text) => text && text.toLowerCase().includes(word)); };
  const show = (told) => {
    const shown = source.state.rows.filter(fits);
    rows.update(shown, told);
    fill(foot, h("span", shown.length ? `${count(shown.length)} shown` : ""), source.state.next && action("Show more", {}, async () => { await source.more(); show(false); }));
  };
  find.addEventListener("input", () => { goTo({ query: { find: find.value.trim() } }, { quietly: true }); show(false); });
  state.addEventListener("change", async () => { goTo({ query: { state: state.value } }, { quietly: true }); source.state.rows = []; await source.first(); show(false); });
  await source.first();
  show(false);
  keepFresh(async () => { await source.refresh(); show(true); }, every, signal);
  command(troupe("sandbox", "list"), curl("GET", "/v1/sandboxes"));
  if (query.new) {
    goTo({ query: { new: undefined, snapshot: undefined } }, { quietly: true });
    setTimeout(() => create(query.snapshot));
  }
  return h("div", pageHead("Sandboxes", { says: "Places that live between calls.", actions: [made] }),
    h("div.filters", h("div.find", icon("search"), find), state), rows, foot);
}

export async function draw(context) {
  if (context.item) return (await import("./sandbox.js")).draw(context);
  return overview(context);
}

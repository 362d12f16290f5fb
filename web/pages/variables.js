// Environment variables of runs: written here, never read back.
import { h, fill } from "../app/dom.js";
import { call, get, at } from "../app/api.js";
import { list } from "../app/list.js";
import { pageHead } from "../app/shell.js";
import { goTo } from "../app/router.js";
import { button, card, actions, choose, dialog, empty, field, problem, toast, body } from "../app/parts.js";
import { rawView } from "../app/json_view.js";
import { troupe, curl } from "../app/as_command.js";
import { ago } from "../app/format.js";

const types = ["local", "e2b", "modal", "daytona", "aio"];
const secret = () => h("input", { type: "password", autocomplete: "new-password", spellcheck: "false" });

function put(config, key, done) {
  const name = h("input", { value: key ?? "", readonly: Boolean(key), autocomplete: "off", spellcheck: "false", placeholder: "OPENAI_API_KEY" });
  const value = secret();
  const about = h("input", { autocomplete: "off", placeholder: "optional" });
  dialog(key ? `Replace ${key}` : "Set a variable", h("div.stack", field("Name", name), field("Value", value, "Stored encrypted. No answer of this engine ever has it again."), field("What it is for", about)), { words: "Set", yes: async () => {
    const body = { key: name.value.trim(), value: value.value };
    if (about.value.trim()) body.description = about.value.trim();
    value.value = "";
    await call("POST", at`/v1/sandbox-configs/${config.id}/variables`, { body });
    await done();
  } });
}

/** NAME=value lines, read in this page and sent one by one. */
export function readEnv(text) {
  const all = [];
  for (const line of text.split("\n")) {
    const found = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line);
    if (!found || line.trim().startsWith("#")) continue;
    const quoted = /^(["'])(.*)\1$/.exec(found[2]);
    all.push([found[1], quoted ? quoted[2] : found[2]]);
  }
  return all;
}

function importEnv(config, done) {
  const text = h("textarea", { class: "code", rows: 7, spellcheck: "false", autocomplete: "off", placeholder: "OPENAI_API_KEY=…\nREGION=eu" });
  const names = h("p.small.soft");
  text.addEventListener("input", () => fill(names, readEnv(text.value).map(([name]) => name).join(", ") || "no line with NAME=value"));
  dialog("Import .env", h("div.stack", field("Lines", text), names), { words: "Import", yes: async () => {
    const all = readEnv(text.value);
    for (const [key, value] of all) await call("POST", at`/v1/sandbox-configs/${config.id}/variables`, { body: { key, value } });
    text.value = "";
    toast(`${all.length} set`);
    await done();
  } });
}

function configCard(config, may, done) {
  const text = h("textarea", { class: "code", rows: 12, spellcheck: "false", value: JSON.stringify(config.config, null, 2) });
  return card("Config", actions(button("Change", { kind: "mini", needs: may, onclick: () => dialog(`Config of ${config.type}`, field("JSON", text, "Members that are left out keep their default."), { wide: true, words: "Save", yes: async () => {
    let wanted;
    try { wanted = JSON.parse(text.value); } catch (why) { throw new Error(`This is not JSON: ${why.message}`); }
    await call("PATCH", at`/v1/sandbox-configs/${config.id}`, { body: { config: wanted }, headers: { "if-match": `"r${config.revision}"` } });
    await done();
  } }) })), body(rawView(config.config, `${config.type}.json`)));
}

async function ofConfig(type, may, again, signal) {
  const { items } = await get("/v1/sandbox-configs", { type }, signal);
  const config = items.find((one) => one.type === type);
  if (!config) return empty(`No config for ${type}`, "Variables belong to the config of a backend; runs there get them.", button("Make it with the defaults", { kind: "primary", needs: may, onclick: async () => {
    try { await call("POST", "/v1/sandbox-configs/default", { body: { type } }); again(); } catch (why) { toast(why.message, true); }
  } }));
  const variables = (await get(at`/v1/sandbox-configs/${config.id}/variables`, { limit: 500 }, signal)).items;
  const rows = list({
    label: "Variables", columns: [{ words: "Name", width: "minmax(9rem, 1fr)" }, { words: "Value", width: "6rem", phone: false }, { words: "What for", width: "minmax(6rem, 1fr)" }, { words: "Set", width: "5.5rem", num: true }, { width: "max-content", keep: true }],
    cells: (one) => [h("code", one.key), h("span.soft", { "aria-label": "hidden" }, "••••••••"), h("span.soft", one.description), ago(one.updated_at), h("span.row", button("Replace", { kind: "mini", needs: may, onclick: () => put(config, one.key, again) }),
      button("", { name: "trash", kind: "quiet mini", title: `Delete ${one.key}`, needs: may, onclick: () => dialog(`Delete ${one.key}?`, h("p", "Runs that need it fail from then on."), { words: "Delete", kind: "danger", yes: async () => { await call("DELETE", at`/v1/variables/${one.id}`); again(); } }) }))],
    empty: () => empty("No variables", "Names and values that every run at this backend gets.", h("code", "troupe var set OPENAI_API_KEY")),
  });
  rows.update(variables);
  return h("div.stack", h("div.row", h("span.grow"), button("Import .env", { name: "up", kind: "quiet", needs: may, onclick: () => importEnv(config, again) }), button("Set a variable", { name: "plus", kind: "primary", needs: may, onclick: () => put(config, undefined, again) })), rows, configCard(config, may, again));
}

async function ofAgent(agent, may, again, signal) {
  if (!agent) return empty("Which agent?", "Write its id above. Variables of an agent win over those of a config.");
  const { items } = await get(at`/v1/agents/${agent}/variables`, { limit: 500 }, signal);
  const rows = list({ label: "Variables of the agent", columns: [{ words: "Name", width: "minmax(9rem, 1fr)" }, { words: "Value", width: "6rem" }, { words: "Set", width: "5.5rem", num: true }, { width: "max-content", keep: true }],
    cells: (one) => [h("code", one.key), h("span.soft", "••••••••"), ago(one.updated_at), button("", { name: "trash", kind: "quiet mini", title: `Delete ${one.key}`, needs: may, onclick: async () => { try { await call("DELETE", at`/v1/agents/${agent}/variables/${one.key}`); again(); } catch (why) { toast(why.message, true); } } })],
    empty: () => empty("No variables", "This agent has none of its own.") });
  rows.update(items);
  return rows;
}

export async function draw({ query, signal, command, me }) {
  const may = me.can_config ? undefined : "This needs a key with the scope config";
  const place = h("div");
  const which = choose([...types.map((one) => [one, `backend ${one}`]), ["agent", "an agent"]], query.of ?? "local", { "aria-label": "Whose variables" });
  const agent = h("input", { placeholder: "agent id", value: query.agent ?? "", "aria-label": "Agent", hidden: which.value !== "agent", spellcheck: "false", style: { "max-width": "18rem" } });
  const load = async () => {
    agent.hidden = which.value !== "agent";
    goTo({ query: { of: which.value === "local" ? undefined : which.value, agent: which.value === "agent" ? agent.value : undefined } }, { quietly: true });
    try {
      fill(place, which.value === "agent" ? await ofAgent(agent.value.trim(), may, load, signal) : await ofConfig(which.value, may, load, signal));
    } catch (why) { if (!signal.aborted) fill(place, problem(why, load)); }
  };
  which.addEventListener("change", load);
  agent.addEventListener("change", load);
  await load();
  command(troupe("var", "list"), curl("GET", "/v1/sandbox-configs"));
  return h("div", pageHead("Variables", { says: "Environment variables of runs, stored encrypted. They can be written and never read." }), h("div.filters", which, agent), place);
}

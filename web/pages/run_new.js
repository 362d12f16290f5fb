// A run from nothing: code, a function, a command or a stored tool.
import { h, fill } from "../app/dom.js";
import { call, get } from "../app/api.js";
import { address, goTo } from "../app/router.js";
import { pageHead } from "../app/shell.js";
import { action, body, button, card, choose, field, problem, copy } from "../app/parts.js";
import { editor } from "../app/code.js";
import { argumentsForm } from "../app/schema_form.js";
import { explanation } from "./run.js";
import { curl, troupe } from "../app/as_command.js";

let given = null; // a request to begin with, from another page
export const startFrom = (request) => { given = request; };

const kinds = [["code", "A script"], ["source", "A function"], ["command", "A shell command"], ["tool_name", "A stored tool"]];
const samples = {
  code: 'import sys\n\nprint("hello from", sys.version.split()[0])\nsum(range(10))\n',
  source: 'def add(a: int, b: int) -> int:\n    """Adds two numbers."""\n    return a + b\n',
  command: 'echo "hello from $(uname -s)"\n',
};
const typedLimits = [["wall_seconds", "Time, seconds"], ["memory_bytes", "Memory, as 256MiB"], ["cpu_seconds", "Processor time, seconds"]];

/** The fields that most runs leave alone. */
function optionFields(request, backends) {
  const backend = choose([["", "as configured"], ...backends.map((one) => one.name)], request.backend ?? "");
  const network = choose([["", "as configured"], ["off", "off"], ["public", "public internet"], ["allow", "only these hosts"]], typeof request.network === "object" ? "allow" : request.network ?? "");
  const hosts = h("input", { placeholder: "api.example.org:443, …", value: (request.network?.allow ?? []).join(", "), "aria-label": "Hosts", hidden: typeof request.network !== "object", spellcheck: "false" });
  network.addEventListener("change", () => { hosts.hidden = network.value !== "allow"; });
  const isolation = choose([["", "as configured"], "strict", "standard", "best_effort", "off"], request.isolation ?? "");
  const limits = typedLimits.map(([name, words]) => [name, words, h("input", { value: request.limits?.[name] ?? "", placeholder: "default", autocomplete: "off" })]);
  const pip = h("input", { placeholder: "httpx, numpy>=2", value: (request.pip_requirements ?? []).map((one) => (typeof one === "string" ? one : one.name + (one.version ?? ""))).join(", "), spellcheck: "false" });
  const labels = h("input", { placeholder: "job=17, user=ada", value: Object.entries(request.labels ?? {}).map((one) => one.join("=")).join(", "), spellcheck: "false" });
  const env = h("textarea", { class: "code", rows: 2, placeholder: "NAME=value, one each line", spellcheck: "false", autocomplete: "off" });
  const parts = (text) => text.split(",").map((one) => one.trim()).filter(Boolean);
  const pairs = (all) => Object.fromEntries(all.map((one) => { const i = one.indexOf("="); return i < 0 ? [one, ""] : [one.slice(0, i), one.slice(i + 1)]; }));
  return {
    element: h("div.stack", field("Backend", backend), field("Network", network), hosts, field("Isolation", isolation),
      limits.map(([, words, input]) => field(words, input)), field("Python packages", pip), field("Labels", labels),
      field("Environment variables", env, "For this run only. They are sent encrypted where TLS is on, and never shown again.")),
    get() {
      const out = {};
      if (backend.value) out.backend = backend.value;
      if (network.value) out.network = network.value === "allow" ? { allow: parts(hosts.value) } : network.value;
      if (isolation.value) out.isolation = isolation.value;
      const chosen = limits.filter(([, , input]) => input.value.trim()).map(([name, , input]) => [name, /^[\d.]+$/.test(input.value.trim()) ? Number(input.value) : input.value.trim()]);
      if (chosen.length) out.limits = Object.fromEntries(chosen);
      if (pip.value.trim()) out.pip_requirements = parts(pip.value);
      if (labels.value.trim()) out.labels = pairs(parts(labels.value));
      const lines = env.value.split("\n").map((one) => one.trim()).filter(Boolean);
      if (lines.length) out.env = pairs(lines);
      return out;
    },
  };
}

export async function draw({ query, signal, command, me }) {
  const request = given ?? (query.tool ? { tool_name: query.tool } : {});
  given = null;
  const kind = choose(kinds, kinds.find(([one]) => request[one] !== undefined)?.[0] ?? "code", { "aria-label": "What to run" });
  const language = choose(["python", "javascript", "typescript", "shell"], request.language ?? "python", { "aria-label": "Language" });
  const [backends, tools] = await Promise.all([get("/v1/backends", {}, signal).catch(() => ({ items: [] })), get("/v1/tools", { limit: 500 }, signal).catch(() => ({ items: [] }))]);
  const tool = choose(tools.items.map((one) => one.name), request.tool_name, { "aria-label": "Tool" });
  const source = editor({ text: request[kind.value] ?? samples[kind.value] ?? "", label: "Source", onrun: () => go.click(), rows: 14 });
  const options = optionFields(request, backends.items.filter((one) => one.configured));
  const args = h("div");
  const below = h("div");
  let form = null;

  async function fit(changed) {
    const tooled = kind.value === "tool_name";
    tool.hidden = !tooled;
    source.hidden = tooled;
    language.hidden = tooled || kind.value === "command";
    source.setLanguage(kind.value === "command" ? "shell" : language.value);
    if (changed && !tooled && Object.values(samples).includes(source.get())) source.set(samples[kind.value]);
    form = kind.value === "code" || kind.value === "command" ? null : argumentsForm(tooled ? tools.items.find((one) => one.name === tool.value)?.json_schema : {}, request.args);
    fill(args, form && card(undefined, body(form.element)));
  }
  kind.addEventListener("change", () => fit(true));
  language.addEventListener("change", () => fit(false));
  tool.addEventListener("change", () => fit(false));

  function wanted() {
    const out = kind.value === "tool_name" ? { tool_name: tool.value } : { [kind.value]: source.get() };
    if (kind.value === "code" || kind.value === "source") if (language.value !== "python") out.language = language.value;
    if (form) { const values = form.get(); if (Object.keys(values).length) out.args = values; }
    return { ...out, ...options.get() };
  }
  const fails = (work) => async () => {
    fill(below);
    try { await work(); } catch (why) { fill(below, problem(why)); below.scrollIntoView({ block: "nearest" }); }
  };
  const may = me.can_run ? undefined : "This needs a key with the scope run";
  const go = action("Run", { name: "runs", kind: "primary", needs: may, title: "Ctrl Enter" }, fails(async () => {
    const made = await call("POST", "/v1/runs", { body: wanted(), headers: { prefer: "respond-async" } });
    goTo({ page: "runs", item: made.id });
  }));
  const explain = action("Explain", { name: "info", title: "What would it do?" }, fails(async () => {
    const plan = await call("POST", "/v1/runs/explain", { body: wanted() });
    fill(below, card("What it would do", body(explanation(plan))));
  }));
  const asCurl = button("Copy as curl", { name: "copy", kind: "quiet", onclick: fails(async () => {
    const { env, ...rest } = wanted();
    await copy(curl("POST", "/v1/runs", env ? { ...rest, env: Object.fromEntries(Object.keys(env).map((name) => [name, `$${name}`])) } : rest));
  }) });
  command(troupe("run", "script.py"));
  await fit(false);
  return h("div", pageHead("New run", { crumbs: [["Runs", address("runs")]], actions: [asCurl, explain, go] }),
    h("div.grid.wide", h("div.stack", h("div.row.wrap", kind, language, tool), source, args, below), card("Options", body(options.element))));
}

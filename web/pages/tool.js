// One tool: its source, what the engine reads from it, and a place to try it.
import { h, fill } from "../app/dom.js";
import { call, get, stream, at, Problem } from "../app/api.js";
import { address, goTo } from "../app/router.js";
import { pageHead } from "../app/shell.js";
import { action, body, button, card, choose, copy, dialog, facts, field, menu, problem, runStatus, tabs, toast } from "../app/parts.js";
import { editor } from "../app/code.js";
import { argumentsForm, parameterTable } from "../app/schema_form.js";
import { textView } from "../app/text_view.js";
import { rawView, valueView } from "../app/json_view.js";
import { ago, json, micros } from "../app/format.js";
import { troupe, curl } from "../app/as_command.js";
import { runList } from "./run_list.js";

const scaffold = 'def greet(name: str, times: int = 1) -> str:\n    """Greets a person.\n\n    Args:\n        name: The person.\n        times: How often.\n    """\n    return " ".join([f"Hello, {name}!"] * times)\n';

function tryIt(tool, may) {
  const place = h("div.stack");
  const said = h("div.stack");
  let form, asked = null;
  const stop = button("Stop", { name: "stop", kind: "quiet", onclick: () => asked?.abort() });
  const go = action("Run", { name: "runs", kind: "primary", needs: may }, async () => {
    const out = textView({ name: "Output", file: "output.txt" });
    let args;
    try { args = form.get(); } catch (why) { return void fill(said, problem(why)); }
    asked = new AbortController();
    fill(said, out);
    stop.hidden = false;
    try {
      for await (const event of stream("POST", at`/v1/tools/${tool().name}/run`, { body: { args }, signal: asked.signal })) {
        if (event.type === "stdout" || event.type === "stderr") out.append(event.data);
        if (event.type !== "end") continue;
        const { result } = event;
        fill(said, h("div.row.wrap.small", runStatus({ phase: "ended", status: result?.status, error: event.error }), result && h("span.soft", micros(result.usage.wall_us)), result && h("a", { href: address("runs", result.id) }, "the whole run")),
          result?.error && textView({ name: `${result.error.name}: ${result.error.message}`, text: result.error.traceback || result.error.message, kind: "err" }),
          event.error && h("p", event.error.detail), result && !result.error && result.value !== null && valueView(result.value), !out.isEmpty() && out);
      }
    } catch (why) {
      fill(said, why.name === "AbortError" ? h("p.soft.small", "Stopped: the run was cancelled.") : problem(why));
    } finally { stop.hidden = true; }
    return undefined;
  });
  stop.hidden = true;
  place.reshape = () => {
    let given;
    try { given = form?.get(); } catch { given = undefined; }
    form = argumentsForm(tool().json_schema, given && Object.keys(given).length ? given : undefined);
    fill(place, form.element, h("div.row", go, stop), said);
  };
  place.addEventListener("keydown", (pressed) => { if (pressed.key === "Enter" && (pressed.ctrlKey || pressed.metaKey)) go.click(); });
  return place;
}

/** The schema as different callers want it. */
const shapes = {
  OpenAI: (schema) => ({ type: "function", function: schema }),
  Anthropic: ({ name, description, parameters }) => ({ name, description, input_schema: parameters }),
  MCP: ({ name, description, parameters }) => ({ name, description, inputSchema: parameters }),
};

function runsOf(name, signal) {
  const rows = runList({ compact: true, filtered: () => true });
  get("/v1/runs", { tool: name, limit: 50 }, signal).then((page) => rows.update(page.items), () => {});
  return rows;
}

function settings(tool, may, changed) {
  const tags = h("input", { value: (tool.tags ?? []).join(", "), spellcheck: "false" });
  const pip = h("input", { value: (tool.pip_requirements ?? []).join(", "), spellcheck: "false" });
  const npm = h("input", { value: (tool.npm_requirements ?? []).join(", "), spellcheck: "false" });
  const most = h("input", { type: "number", min: 1, value: tool.return_char_limit ?? "" });
  const parts = (input) => input.value.split(",").map((one) => one.trim()).filter(Boolean);
  return h("div.stack", { style: { "max-width": "34rem" } }, field("Tags", tags), field("Python packages", pip, "Installed once, shared by all runs that need the same."), field("npm packages", npm), field("Longest value, characters", most),
    h("div", action("Save settings", { needs: may }, async () => {
      const change = { tags: parts(tags), pip_requirements: parts(pip), npm_requirements: parts(npm) };
      if (most.value) change.return_char_limit = Number(most.value);
      await changed(await call("PATCH", at`/v1/tools/${tool.name}`, { body: change, headers: { "if-match": `"r${tool.revision}"` } }));
      toast("Saved");
    })), facts([["Id", h("code", tool.id)], ["Made", ago(tool.created_at)], ["Changed", ago(tool.updated_at)]]));
}

export async function draw({ item, query, signal, command, me }) {
  const fresh = item === "new";
  let tool = fresh ? { name: "", source_code: scaffold, source_type: "python", json_schema: null, revision: 0 } : await get(at`/v1/tools/${item}`, {}, signal);
  const may = me.can_config ? undefined : "This needs a key with the scope config";
  const language = choose(["python", "typescript", "javascript"], tool.source_type, { "aria-label": "Language" });
  const derived = h("div");
  const state = h("span.soft.small");
  let seen = tool.json_schema, timer = 0, turn = 0;

  const showDerived = () => fill(derived, seen ? h("div.stack.tight", h("div", h("code", h("strong", seen.name ?? tool.name)), h("p.small.soft", seen.description)), parameterTable(seen)) : h("p.small.soft", "Reading the signature…"));
  async function derive() {
    const mine = ++turn;
    try {
      const answer = await call("POST", "/v1/tools/derive-schema", { body: { source_code: edit.get(), source_type: language.value }, signal });
      if (mine !== turn) return;
      seen = { name: answer.name, description: answer.description, ...(answer.schema?.parameters ? answer.schema : { parameters: answer.schema }) };
      showDerived();
    } catch (why) {
      if (mine === turn && !signal.aborted) fill(derived, problem(why));
    }
  }
  const edit = editor({ text: tool.source_code, language: tool.source_type, label: "Source of the tool", rows: Math.min(24, Math.max(8, tool.source_code.split("\n").length + 1)), readonly: Boolean(may), onsave: () => save.click(), onchange: () => {
    fill(state, "not saved");
    edit.classList.add("unsaved");
    clearTimeout(timer);
    timer = setTimeout(derive, 400);
  } });
  language.addEventListener("change", () => { edit.setLanguage(language.value); derive(); });
  const trial = tryIt(() => tool, me.can_run ? undefined : "This needs a key with the scope run");
  const saved = () => { fill(state, `revision ${tool.revision}`); edit.classList.remove("unsaved"); seen = tool.json_schema; showDerived(); trial.reshape(); };
  const save = action("Save", { name: "done", kind: "primary", needs: may, title: "Ctrl S" }, async () => {
    if (fresh) {
      const made = await call("POST", "/v1/tools", { body: { source_code: edit.get(), source_type: language.value } });
      edit.classList.remove("unsaved");
      toast(`${made.name} is stored`);
      goTo({ page: "tools", item: made.name }, { replace: true });
      return (await import("../app/router.js")).redraw();
    }
    try {
      tool = await call("PATCH", at`/v1/tools/${tool.name}`, { body: { source_code: edit.get() }, headers: { "if-match": `"r${tool.revision}"` } });
    } catch (why) {
      if (!(why instanceof Problem) || why.status !== 412) throw why;
      return dialog("It was changed meanwhile", h("p", "Another caller has saved this tool since you read it. Your text stays in the editor; copy it, then reload to see theirs."), { words: "Copy my text", yes: () => copy(edit.get()) });
    }
    toast("Saved");
    return saved();
  });
  const more = button("", { name: "more", kind: "quiet", title: "More" });
  more.addEventListener("click", () => menu(more, [
    ...Object.keys(shapes).map((name) => [`Copy the schema for ${name}`, "copy", () => copy(json(shapes[name](tool.json_schema)))]),
    ["Copy a call as curl", "copy", () => copy(curl("POST", at`/v1/tools/${tool.name}/run`, { args: {} }))],
    ["New run with options", "runs", () => goTo({ page: "runs", item: "new", query: { tool: tool.name } })],
    !may && ["Delete", "trash", () => dialog(`Delete ${tool.name}?`, h("p", "Agents that call it by name get an error from then on. Records of its runs stay."), { words: "Delete", kind: "danger", needsText: tool.name, yes: async () => { await call("DELETE", at`/v1/tools/${tool.name}`); setTimeout(() => goTo({ page: "tools" })); } }), "danger"]]));
  if (fresh) derive();
  else saved();
  showDerived();
  command(fresh ? troupe("tool", "put", "add.py") : troupe("tool", "show", tool.name), fresh ? curl("GET", "/v1/tools") : curl("GET", at`/v1/tools/${tool.name}`));
  const source = h("div.grid.wide", h("div.stack", edit, !fresh && card("Try it", body(trial))), card("Derived by the engine", body(derived)));
  return h("div", pageHead(fresh ? "New tool" : tool.name, { crumbs: [["Tools", address("tools")]], says: fresh ? "The name and the schema come from the function; you write neither." : tool.description, actions: [state, fresh ? language : h("span.tag", tool.source_type), save, !fresh && more] }),
    fresh ? source : tabs([
      { id: "source", words: "Source", make: () => source }, { id: "runs", words: "Runs", make: () => runsOf(tool.name, signal) },
      { id: "schema", words: "Schema", make: () => rawView(tool.json_schema, "schema.json") }, { id: "settings", words: "Settings", make: () => settings(tool, may, async (now) => { tool = now; saved(); }) },
    ], query.tab, signal));
}

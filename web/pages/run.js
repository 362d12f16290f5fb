// One run: why it ended, what it said, what it cost, how it was isolated.
import { h, fill } from "../app/dom.js";
import { get, call, stream, blob, at } from "../app/api.js";
import { address, goTo } from "../app/router.js";
import { pageHead } from "../app/shell.js";
import { action, button, callout, card, body, copy, empty, facts, labels, menu, problem, runStatus, status, tabs, tag, toast } from "../app/parts.js";
import { textView, download } from "../app/text_view.js";
import { valueView, rawView } from "../app/json_view.js";
import { coloured } from "../app/code.js";
import { bundle } from "../app/rich.js";
import { reasons } from "../app/reasons.js";
import { ago, atDate, bytes, count, idWithCopy, micros, short } from "../app/format.js";
import { troupe, curl } from "../app/as_command.js";

function stages(result) {
  const all = result.stages ?? [];
  if (!all.length) return null;
  const total = Math.max(1, all.reduce((sum, one) => sum + one.took_us, 0));
  let from = 0;
  return card("Timeline", body(h("div.stages", all.map((one) => {
    const bar = h("i", { style: { left: `${(from / total) * 100}%`, width: `${(one.took_us / total) * 100}%` } });
    from += one.took_us;
    return [h("span", one.name), h("span.track", { "aria-hidden": "true" }, bar), h("span.right.soft", micros(one.took_us))];
  }))));
}

function whyEnded(record) {
  if (record.phase !== "ended") return null;
  if (!record.result) return record.error && callout("bad", "warn", "It did not run", h("p", record.error.detail), h("p.small.soft", record.error.code), (record.error.errors ?? []).map((one) => h("p.small", h("code", one.pointer), " ", one.reason)));
  const { result } = record;
  const why = reasons[result.reason] ?? { title: result.reason, says: "" };
  if (result.status === "success") return null;
  return callout(result.status === "cancelled" ? "" : "bad", "warn", why.title,
    result.error && h("p", h("strong", result.error.name), result.error.message && `: ${result.error.message}`),
    !result.error && h("p", result.detail || why.says), why.way && h("p.small.soft", why.way),
    result.exit_code ? h("p.small.soft", `Exit code ${result.exit_code}`) : null, result.signal ? h("p.small.soft", `Signal ${result.signal}`) : null);
}

function resultTab(result) {
  const made = h("div.stack");
  if (result.value_is_text_fallback) made.append(h("p.small.soft", "The value had no JSON form; this is its text."));
  if (result.value_truncated) made.append(h("p.small.soft", `The value was cut; in all it had ${bytes(result.value_size)}.`));
  if (result.error?.traceback) made.append(textView({ name: "Traceback", text: result.error.traceback, kind: "err", file: "traceback.txt" }));
  if (result.value !== null && result.value !== undefined) made.append(valueView(result.value));
  else if (!result.error) made.append(h("p.soft.small", "It returned nothing."));
  for (const one of result.displays ?? []) made.append(bundle(one.data ?? one));
  return made;
}

function filesTab(record) {
  return h("div.stack.tight", record.result.files.map((file) => h("div.row", h("code.grow.cut", file.name), h("span.soft.small", file.media_type), h("span.soft.small.nowrap", bytes(file.size)),
    action("Download", { name: "down", kind: "mini" }, async () => {
      const held = file.text !== undefined ? new Blob([file.text]) : file.base64 !== undefined ? new Blob([Uint8Array.from(atob(file.base64), (c) => c.charCodeAt(0))])
        : await blob(at`/v1/runs/${record.id}/files`, { name: file.name });
      download(held, file.name);
    }))));
}

function isolationTab({ isolation }) {
  const kinds = { enforced: "ok", degraded: "warn", absent: "bad" };
  const good = isolation.layers.filter((one) => one.state === "enforced").length;
  return h("div.stack", h("p.small", `Level `, h("strong", isolation.level), `: ${good} of ${isolation.layers.length} layers enforced.`),
    h("div.grid.thirds", { style: { gap: "0.35rem 1.5rem" } }, isolation.layers.map((one) => h("div.row.small", status(kinds[one.state] ?? "off", one.name.replaceAll("_", " ")), h("span.soft", one.state === "enforced" ? "" : `${one.state}${one.reason ? `: ${one.reason}` : ""}`)))));
}

function networkTab({ network }) {
  if (!network?.length) return h("p.soft.small", "It asked for no connection.");
  return h("div.stack.tight", network.map((one) => h("div.row.wrap.small", status(one.allowed ? "ok" : "bad", one.allowed ? "allowed" : "refused"), h("code.grow", one.target), h("span.soft", one.reason))));
}

function requestTab(id) {
  const place = h("div", h("p.soft.small", "Asking for the request…"));
  get(at`/v1/runs/${id}/request`).then((request) => {
    const { source, code, command, args, ...rest } = request;
    const text = source ?? code ?? command;
    fill(place, h("div.stack",
      text !== undefined && h("div.text-view", h("div.bar", h("strong", command !== undefined ? "Command" : "Source")), h("pre", { style: { padding: "0.75rem 0.9rem" }, tabindex: "0" }, coloured(text, command !== undefined ? "shell" : request.language ?? "python"))),
      args && Object.keys(args).length > 0 && card("Arguments", body(valueView(args))),
      rawView(rest, "request.json")));
  }, (why) => fill(place, problem(why)));
  return place;
}

function explainTab(id) {
  const place = h("div", h("p.soft.small", "Asking…"));
  (async () => {
    const request = await get(at`/v1/runs/${id}/request`);
    const plan = await call("POST", "/v1/runs/explain", { body: request });
    fill(place, explanation(plan));
  })().catch((why) => fill(place, problem(why)));
  return h("div.stack", h("p.small.soft", "What the engine would do with the same request now."), place);
}

/** The plan of a run, for people. */
export function explanation(plan) {
  return h("div.stack", h("div.row.wrap", h("span.soft.small", "Backends in order"), plan.candidates.map((one) => tag(one, "ok"))),
    plan.reasons.length > 0 && h("ul.small.soft", plan.reasons.map((one) => h("li", one))),
    facts([["Isolation", plan.isolation], ["Network", typeof plan.network === "string" ? plan.network : JSON.stringify(plan.network)],
      ...Object.entries(plan.limits).map(([name, value]) => [name.replaceAll("_", " "), /bytes/.test(name) ? bytes(value) : count(value)])]),
    plan.variables.length > 0 && h("div", h("h3", "Variables"), h("ul.small", plan.variables.map((one) => h("li", h("code", one.name), " ", h("span.soft", `from ${one.origin}`))))));
}

function usageTab(record) {
  const { result } = record;
  return facts([["Wall time", micros(result.usage.wall_us)], ["CPU time", micros(result.usage.cpu_us)], ["Peak memory", bytes(result.usage.peak_memory_bytes)],
    ["stdout", bytes(result.usage.stdout_bytes)], ["stderr", bytes(result.usage.stderr_bytes)], ["Backend", result.backend],
    result.failover?.length > 0 && ["Failover", result.failover.map((one) => h("div", `${one.backend}: ${one.reason}`))],
    result.package_set && ["Package set", h("a", { href: address("packages") }, short(result.package_set))], result.fingerprint && ["Fingerprint", h("code", result.fingerprint)],
    result.notes?.length > 0 && ["Notes", result.notes.map((one) => h("div", one))]]);
}

function ended(record, chosen, signal) {
  const { result } = record;
  if (!result) return rawView(record);
  const bad = result.isolation?.layers.filter((one) => one.state !== "enforced").length;
  return tabs([
    { id: "result", words: "Result", make: () => resultTab(result) },
    { id: "output", words: "Output", count: result.usage.stdout_bytes + result.usage.stderr_bytes ? bytes(result.usage.stdout_bytes + result.usage.stderr_bytes) : undefined, make: () => output(result) },
    result.files?.length > 0 && { id: "files", words: "Files", count: result.files.length, make: () => filesTab(record) },
    { id: "request", words: "Request", make: () => requestTab(record.id) },
    { id: "explain", words: "Explain", make: () => explainTab(record.id) },
    { id: "isolation", words: "Isolation", count: bad ? `${bad} not enforced` : undefined, make: () => isolationTab(result) },
    { id: "network", words: "Network", count: result.network?.length || undefined, make: () => networkTab(result) },
    { id: "usage", words: "Usage", make: () => usageTab(record) },
    { id: "raw", words: "Raw", make: () => rawView(record) },
  ], chosen, signal);
}

function output(result) {
  const made = h("div.stack");
  if (result.stdout) made.append(textView({ name: "stdout", text: result.stdout, file: "stdout.txt", note: result.stdout_truncated && "cut" }));
  if (result.stderr) made.append(textView({ name: "stderr", text: result.stderr, kind: "err", file: "stderr.txt", note: result.stderr_truncated && "cut" }));
  return made.firstChild ? made : empty("No output", "It printed nothing.");
}

/** Output as it comes, until the run has ended. */
function live(id, signal, atEnd) {
  const out = textView({ name: "Output, live", file: "output.txt" });
  (async () => {
    for await (const event of stream("GET", at`/v1/runs/${id}/events`, { signal })) {
      if (event.type === "stdout" || event.type === "stderr") out.append(event.data);
      if (event.type === "end") break;
    }
    await atEnd();
  })().catch((why) => {
    if (signal.aborted) return;
    // The stream broke off, not the run: what is recorded tells the rest.
    setTimeout(() => { if (!signal.aborted) atEnd().catch(() => toast(why.message, true)); }, 1500);
  });
  return out;
}

async function again(id) {
  const made = await call("POST", at`/v1/runs/${id}/rerun`, { headers: { prefer: "respond-async" } });
  goTo({ page: "runs", item: made.id });
}

async function edited(id) {
  const request = await get(at`/v1/runs/${id}/request`);
  (await import("./run_new.js")).startFrom(request);
  goTo({ page: "runs", item: "new" });
}

async function copyCurl(id) {
  const request = await get(at`/v1/runs/${id}/request`);
  await copy(curl("POST", "/v1/runs", request));
}

export async function draw({ item: id, query, signal, command, me }) {
  let record = await get(at`/v1/runs/${id}`, {}, signal);
  const place = h("div.stack");
  command(troupe("runs", "show", id), curl("GET", at`/v1/runs/${id}`));
  const refresh = async () => {
    record = await get(at`/v1/runs/${id}`, {}, signal);
    show();
    if (record.phase !== "ended") setTimeout(() => { if (!signal.aborted) refresh().catch(() => {}); }, 1500);
  };
  function show() {
    const going = record.phase !== "ended";
    const may = me.can_run ? undefined : "This needs a key with the scope run";
    const more = button("", { name: "more", kind: "quiet", title: "More" });
    more.addEventListener("click", () => menu(more, [
      ["Change and run again", "tools", () => edited(id).catch((why) => toast(why.message, true))],
      ["Copy as curl", "copy", () => copyCurl(id).catch((why) => toast(why.message, true))],
      ["Copy as a command", "copy", () => copy(troupe("runs", "rerun", id))],
      ["Copy id", "copy", () => copy(id)],
      ["Download as JSON", "down", () => download(new Blob([JSON.stringify(record, null, 2)]), `${id}.json`)],
    ]));
    fill(place,
      h("div", pageHead(record.tool_name ?? "Code", { crumbs: [["Runs", address("runs")]], before: runStatus(record),
        actions: [going ? action("Cancel", { name: "stop", kind: "danger", needs: may }, async () => { await call("POST", at`/v1/runs/${id}/cancel`); await refresh(); })
          : action("Run again", { name: "again", needs: may }, () => again(id)), more] }),
      h("div.under-head", { style: { "margin-bottom": "0" } }, idWithCopy(id), h("span.soft", `on ${record.backend || "no backend yet"}`), record.agent_id && h("span.soft", `agent ${record.agent_id}`),
        h("span.soft", "began ", ago(record.created_at)), record.ended_at && h("span.soft", atDate(record.ended_at)),
        record.tool_name && h("a", { href: address("tools", record.tool_name) }, "tool"), labels(record.labels))),
      whyEnded(record), record.result && stages(record.result),
      going ? live(id, signal, refresh) : ended(record, query.tab, signal));
  }
  show();
  return place;
}

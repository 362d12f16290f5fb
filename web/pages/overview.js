// How the engine is, at a glance.
import { h, fill } from "../app/dom.js";
import { get, text, target } from "../app/api.js";
import { address } from "../app/router.js";
import { keepFresh } from "../app/live.js";
import { pageHead } from "../app/shell.js";
import { card, actions, body, callout, copyButton, linkButton, status } from "../app/parts.js";
import { sparkline } from "../app/sparkline.js";
import { readMetrics, history, sample } from "../app/metrics.js";
import { troupe, curl } from "../app/as_command.js";
import { runList } from "./run_list.js";
import { sandboxList } from "./sandbox_list.js";
import { count } from "../app/format.js";

const every = 2000;

function figure(words, value, unit, points, second, says) {
  return h("section.card.figure", h("h2.soft.small", words), h("div.value", value, unit && h("span.unit", unit)), points && sparkline(points, { second, words: `${words}: ${says}` }), h("div.tiny.soft", says));
}

const round = (n) => (n === undefined ? "–" : n >= 100 ? count(Math.round(n)) : n >= 10 ? n.toFixed(1) : n >= 1 || n === 0 ? n.toFixed(n === 0 ? 0 : 1) : n.toFixed(2));

function figures(now) {
  const last = history.at(-1) ?? {};
  const line = (name) => history.map((one) => one[name] ?? 0);
  const latest = [...history].reverse().find((one) => one.p50 !== undefined) ?? {};
  const minutes = Math.max(1, Math.round((history.length * every) / 60000));
  const lately = `last ${minutes} min`;
  return [
    figure("Runs", round(last.runs), "per second", line("runs"), line("failed"), `${lately}; ${count(now.total)} in all`),
    figure("Latency", round(latest.p50), "ms median", line("p50"), line("p99"), latest.p99 === undefined ? "nothing ran lately" : `99 of 100 below ${round(latest.p99)} ms`),
    figure("Running", count(now.running), now.waiting ? `and ${count(now.waiting)} waiting` : "", line("running"), line("waiting"), now.refused ? `${count(now.refused)} refused because of load` : "nothing was refused"),
    figure("Sandboxes", count(now.sandboxes), now.paused ? `of which ${now.paused} paused` : "", line("sandboxes"), undefined, `${count(now.processes)} ${now.processes === 1 ? "process" : "processes"} begun in them`),
  ];
}

function backendRows(answer) {
  const shown = answer.items.filter((one) => one.configured);
  const off = answer.items.filter((one) => !one.configured).map((one) => one.name);
  return h("div.stack.tight", shown.map((one) => h("div.row", h("span.grow", status(one.ready ? (one.circuit === "closed" ? "ok" : "warn") : "bad", one.name, one.reason)),
    h("span.soft.small", one.circuit === "closed" ? (one.ready ? "ready" : one.reason) : `circuit ${one.circuit}`), h("span.soft.small.nowrap", `${count(one.running)} of ${count(one.limit)}`))),
  off.length > 0 && h("p.tiny.soft", `Not configured: ${off.join(", ")}`));
}

/** What needs attention, from what is known here. */
function needs(now, backends) {
  const all = [];
  for (const one of backends.items.filter((each) => each.configured && (!each.ready || each.circuit !== "closed")))
    all.push(callout("bad", "warn", `${one.name}: ${one.circuit === "closed" ? "not ready" : `circuit ${one.circuit}`}`, h("p.small.soft", one.reason), h("p.small", h("a", { href: address("backends") }, "Look at the backends"))));
  if (now?.lost) all.push(callout("bad", "warn", `${count(now.lost)} records of runs could not be written`, h("p.small.soft", "The disk of the engine may be full, or its store away.")));
  if (now?.restarts) all.push(callout("", "info", `${count(now.restarts)} actors were restarted after a failure`, h("p.small.soft", "The log of the engine says which, and why.")));
  return all;
}

function firstSteps() {
  const origin = target("").origin;
  const snippet = `curl -s ${origin}/v1/runs -H 'content-type: application/json' -d '{"code": "print(\\"hello\\")"}'`;
  return h("div.grid.thirds",
    card("Run something", body(h("div.stack.tight", h("p.small.soft", "Code, a function with arguments, or a command. It runs isolated and you see all of it."), h("div", linkButton("New run", address("runs", "new"), { name: "runs", kind: "primary" }))))),
    card("Open a sandbox", body(h("div.stack.tight", h("p.small.soft", "A place that lives between calls: files, processes, interpreters that keep their state."), h("div", linkButton("Sandboxes", address("sandboxes", undefined, { new: "1" }), { name: "sandboxes" }))))),
    card("Connect a program", body(h("div.stack.tight", h("p.small.soft", "The same from a terminal, against this engine."), h("div.row", h("code.cut.grow", snippet), copyButton(snippet))))));
}

export async function draw({ signal, me, command }) {
  command(troupe("top"), curl("GET", "/metrics"));
  const top = h("div.grid.thirds.figures");
  const attention = h("div.stack");
  const backendsAt = h("div");
  let backends = { items: [] }, now;

  const runs = runList({ compact: true });
  const boxes = sandboxList({ compact: true });
  const refresh = async () => {
    const [metrics, of] = await Promise.all([text("/metrics", {}, signal).catch(() => null), get("/v1/backends", {}, signal)]);
    backends = of;
    if (metrics !== null) {
      now = sample(readMetrics(metrics));
      fill(top, figures(now));
    }
    fill(backendsAt, backendRows(backends));
    fill(attention, needs(now, backends));
  };
  const lists = async () => {
    const [first, places] = await Promise.all([get("/v1/runs", { limit: 8 }, signal), get("/v1/sandboxes", { limit: 6 }, signal)]);
    runs.update(first.items, runs.known);
    runs.known = true;
    boxes.update(places.items);
    return first.items.length;
  };
  const [, some] = await Promise.all([refresh(), lists()]);
  // Rates need two readings: the second one comes soon.
  setTimeout(() => { if (!signal.aborted) refresh().catch(() => {}); }, 700);
  let skip = true;
  keepFresh(async () => {
    if (skip) { skip = false; return; }
    await Promise.all([refresh(), lists()]);
  }, every, signal);

  return h("div.stack", pageHead("Overview", { actions: [linkButton("New run", address("runs", "new"), { name: "plus", kind: "primary" })] }),
    attention, some === 0 && firstSteps(), top,
    h("div.grid.wide",
      card("Newest runs", actions(h("a.small", { href: address("runs") }, "All runs")), runs),
      h("div.stack",
        card("Backends", actions(h("a.small", { href: address("backends") }, "All")), body(backendsAt)),
        card("Sandboxes", actions(h("a.small", { href: address("sandboxes") }, "All")), boxes),
        card("Here", body(h("div.row.wrap.small.soft", [["tools", me.tools], ["configs", me.sandbox_configs], ["variables", me.variables]].map(([words, n]) => h("span", h("strong", count(n)), ` ${words}`))))))));
}

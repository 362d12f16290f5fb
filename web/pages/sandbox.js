// One sandbox: its clocks and limits, its files, processes, interpreters, ports.
import { h, fill } from "../app/dom.js";
import { call, get, at } from "../app/api.js";
import { address, goTo } from "../app/router.js";
import { keepFresh } from "../app/live.js";
import { pageHead } from "../app/shell.js";
import { action, body, button, callout, card, choose, copy, dialog, facts, field, labels, menu, region, sandboxStatus, tabs, toast } from "../app/parts.js";
import { ago, atClock, bytes, count, idWithCopy, seconds } from "../app/format.js";
import { rawView } from "../app/json_view.js";
import { troupe, curl } from "../app/as_command.js";
import { notebook } from "./sandbox_cells.js";
import { files } from "./sandbox_files.js";
import { processes } from "./sandbox_processes.js";
import { ports } from "./sandbox_ports.js";

/** Which actions a state allows. */
const allowed = { running: ["pause", "fork", "snapshot", "renew", "delete"], paused: ["resume", "renew", "snapshot", "delete"], failed: ["delete"], stopped: ["resume", "delete"], queued: ["delete"], creating: ["delete"] };

function overview(box) {
  return h("div.grid.half",
    card("Life", body(facts([["Made", ago(box.created_at)], ["Ends", box.ends_at ? [ago(box.ends_at), `, then ${box.on_timeout}`] : "not by a clock"], ["Timeout", seconds(box.timeout)],
      ["When idle", box.idle_timeout === null ? "nothing happens" : `${box.on_idle} after ${seconds(box.idle_timeout)}`], ["Resumes when used", box.auto_resume ? "yes" : "no"], ["Session", box.session ?? undefined], ["End", box.end ?? undefined]]))),
    card("What it is", body(facts([["Place", box.place], ["Made from", box.template ?? box.snapshot ?? "the base"], ["Isolation", box.isolation], ["Network", typeof box.network === "string" ? box.network : (box.network?.allow ?? []).join(", ")],
      ["Memory", bytes(box.resources.memory_bytes)], ["Disk", bytes(box.resources.disk_bytes)], ["Inodes", count(box.resources.inodes)], ["Processes", count(box.resources.processes)]]))),
    card("Reach it", body(h("div.stack.tight", [troupe("sandbox", "exec", box.id, "--", "ls", "-l"), troupe("sandbox", "run", box.id, "-c", "x = 20"), troupe("sandbox", "cp", "data.csv", `${box.id}:/tmp/data.csv`)].map((line) => h("div.row", h("code.cut.grow", { title: line }, line), button("", { name: "copy", kind: "quiet mini", title: "Copy", onclick: () => copy(line) })))))),
    card("Metadata", body(Object.keys(box.metadata).length ? h("div.row.wrap", labels(box.metadata)) : h("p.soft.small", "None."))));
}

function eventsTab(id, signal) {
  const place = h("div");
  const words = (one) => ({ state: `became ${one.state}`, expiring: "ends soon", process_started: `process ${one.process} began`, process_ended: `process ${one.process} ended`, snapshot: `snapshot ${one.snapshot} made`, rollback: `went back to ${one.snapshot}` })[one.type] ?? one.type;
  keepFresh(async () => {
    const { items } = await get(at`/v1/sandboxes/${id}/events`, {}, signal);
    fill(place, h("div.list", { style: { "--columns": "3rem 6rem minmax(0, 1fr)" } }, [...items].reverse().map((one) => h("div.line", h("span.soft", one.number), atClock(one.at), h("span", words(one), one.reason && h("span.soft", `, ${one.reason}`))))));
  }, 3000, signal);
  return place;
}

function snapshotsTab(box, may) {
  const place = region(async () => {
    const { items } = await get("/v1/snapshots");
    const own = items.filter((one) => one.sandbox === box.id);
    if (!own.length) return h("p.soft.small", "No snapshot of this sandbox. One keeps the files as they are now; sandboxes can begin from it.");
    return h("div.list", { style: { "--columns": "minmax(0, 1fr) 6rem 6rem max-content" } }, own.map((one) => h("div.line", h("span", one.name ? [one.name, " ", h("code.tiny.soft", one.id)] : h("code", one.id)), h("span.soft.right", bytes(one.bytes)), ago(one.created_at),
      h("span.row.keep", action("New from it", { kind: "mini", needs: may }, async () => goTo({ page: "sandboxes", query: { new: "1", snapshot: one.id } })),
        button("Roll back", { kind: "mini", needs: may, onclick: () => dialog("Roll back the files?", h("p", "Everything that runs in the sandbox ends, and what was written since the snapshot is lost."), { words: "Roll back", kind: "danger", yes: async () => { await call("POST", at`/v1/sandboxes/${box.id}/rollback`, { body: { snapshot: one.id } }); toast("Rolled back"); } }) }),
        button("", { name: "trash", kind: "mini quiet", title: "Delete the snapshot", needs: may, onclick: () => dialog("Delete this snapshot?", h("p", "What was made from it stays."), { words: "Delete", kind: "danger", yes: async () => { await call("DELETE", at`/v1/snapshots/${one.id}`); place.reload(); } }) })))));
  });
  return place;
}

function snapshot(id) {
  const name = h("input", { placeholder: "optional, as clean", autocomplete: "off" });
  dialog("Keep the files as they are now", h("div.stack", h("p.small.soft", "Processes and what is in memory are not part of it."), field("Name", name)), { words: "Snapshot", yes: async () => {
    const made = await call("POST", at`/v1/sandboxes/${id}/snapshots`, { body: name.value.trim() ? { name: name.value.trim() } : {} });
    toast(`Snapshot ${made.name ?? made.id}, ${bytes(made.bytes)}`);
  } });
}

function fork(box) {
  const many = h("input", { type: "number", min: 1, max: 20, value: 1 });
  dialog("Fork", h("div.stack", h("p.small.soft", "Makes sandboxes with the same files. They begin without its processes."), field("How many", many)), { words: "Fork", yes: async () => {
    const { items } = await call("POST", at`/v1/sandboxes/${box.id}/fork`, { body: { count: Number(many.value) || 1 } });
    const bad = items.filter((one) => one.error);
    if (bad.length) toast(`${bad.length} of ${items.length} failed: ${bad[0].error.detail}`, true);
    const good = items.find((one) => one.sandbox);
    if (good) setTimeout(() => (items.length === 1 ? goTo({ page: "sandboxes", item: good.sandbox.id }) : goTo({ page: "sandboxes" })));
  } });
}

function renew(id, done) {
  const how = choose([["600", "10 minutes"], ["1800", "30 minutes"], ["3600", "1 hour"], ["14400", "4 hours"], ["86400", "1 day"]], "3600");
  dialog("How long shall it live from now?", field("From now", how), { words: "Renew", yes: async () => { await call("POST", at`/v1/sandboxes/${id}/renew`, { body: { timeout: Number(how.value) } }); await done(); } });
}

const remove = (box) => dialog(`Delete ${box.name ?? "this sandbox"}?`, h("p", "Its files, processes and interpreters are gone afterwards. Snapshots of it stay."),
  { words: "Delete", kind: "danger", needsText: box.name ?? undefined, yes: async () => { await call("DELETE", at`/v1/sandboxes/${box.id}`); setTimeout(() => goTo({ page: "sandboxes" })); } });

export async function draw({ item: id, query, signal, command, me }) {
  const path = at`/v1/sandboxes/${id}`;
  let box = await get(path, {}, signal);
  const head = h("div");
  const may = me.can_run ? undefined : "This needs a key with the scope run";
  const tell = async (verb) => { box = await call("POST", `${path}/${verb}`); show(); };
  const refresh = async () => { const now = await get(path, {}, signal); if (JSON.stringify(now) !== JSON.stringify(box)) { box = now; show(); } };
  function show() {
    const can = allowed[box.state] ?? [];
    const needs = (one) => may ?? (can.includes(one) ? undefined : `Not while it is ${box.state}`);
    const more = button("", { name: "more", kind: "quiet", title: "More" });
    more.addEventListener("click", () => menu(more, [["Copy id", "copy", () => copy(box.id)], ["Copy as curl", "copy", () => copy(curl("GET", path))], ["Look at the JSON", "file", () => dialog("Sandbox", rawView(box, `${box.id}.json`), { cancel: "Close", wide: true })],
      !needs("delete") && ["Delete", "trash", () => remove(box), "danger"]]));
    fill(head, pageHead(box.name ?? box.id, { crumbs: [["Sandboxes", address("sandboxes")]], before: sandboxStatus(box.state), actions: [
      can.includes("resume") ? action("Resume", { name: "runs", kind: "primary", needs: needs("resume") }, () => tell("resume")) : action("Pause", { name: "pause", needs: needs("pause") }, () => tell("pause")),
      button("Fork", { name: "fork", needs: needs("fork"), onclick: () => fork(box) }), button("Snapshot", { name: "camera", needs: needs("snapshot"), onclick: () => snapshot(box.id) }),
      button("Renew", { name: "clock", needs: needs("renew"), onclick: () => renew(box.id, refresh) }), more] }),
    h("div.under-head", idWithCopy(box.id), h("span.soft", `${box.place}, ${box.template ?? box.snapshot ?? "the base"}`), box.ends_at && h("span.soft", "ends ", ago(box.ends_at)), labels(box.metadata)),
    box.error && callout("bad", "warn", "It failed", h("p", box.error.detail)));
  }
  show();
  keepFresh(refresh, 2500, signal);
  command(troupe("sandbox", "show", id), curl("GET", path));
  const context = { id, path, signal, may, state: () => box.state };
  return h("div", head, tabs([
    { id: "notebook", words: "Notebook", make: () => notebook(context) },
    { id: "files", words: "Files", make: () => files(context, query.path) },
    { id: "processes", words: "Processes", make: () => processes(context) },
    { id: "ports", words: "Ports", make: () => ports(context) },
    { id: "snapshots", words: "Snapshots", make: () => snapshotsTab(box, may) },
    { id: "events", words: "Events", make: () => eventsTab(id, signal) },
    { id: "about", words: "About", make: () => overview(box) },
  ], query.tab, signal));
}

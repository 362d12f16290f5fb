// What was changed and run, newest first, each entry linked to the one before.
import { h, fill } from "../app/dom.js";
import { icon } from "../app/icons.js";
import { get } from "../app/api.js";
import { address, goTo } from "../app/router.js";
import { pageHead } from "../app/shell.js";
import { action, button, choose, copy, empty } from "../app/parts.js";
import { download } from "../app/text_view.js";
import { rawView } from "../app/json_view.js";
import { troupe, curl } from "../app/as_command.js";
import { atClock, count, short } from "../app/format.js";

const words = (text) => String(text ?? "").replaceAll("_", " ");

/** An entry as a sentence. */
function sentence({ details }) {
  const by = details.key_name ?? (details.change === "put_key" ? undefined : details.key_id && short(details.key_id));
  const object = details.tool ?? details.name ?? details.config ?? details.key ?? details.organization ?? details.agent;
  const parts = [h("strong", words(details.event === "change" ? details.change : details.event))];
  if (object !== undefined && typeof object !== "object") parts.push(" ", h("code", object));
  if (details.run) parts.push(" ", h("a", { href: address("runs", details.run) }, short(details.run)));
  if (details.sandbox) parts.push(" ", h("a", { href: address("sandboxes", details.sandbox) }, short(details.sandbox)));
  for (const name of ["backend", "place", "reason", "status", "exit"]) if (details[name] !== undefined && typeof details[name] !== "object") parts.push(h("span.soft", `, ${words(name)} ${words(details[name])}`));
  if (by) parts.push(h("span.soft", `, by ${by}`));
  if (details.done === false) parts.push(h("span.tag.bad", "refused"));
  return parts;
}

export async function draw({ query, signal, command }) {
  let many = 200, all = [];
  const find = h("input", { type: "search", placeholder: "Any word: a name, an id, an event", "aria-label": "Any word", value: query.find ?? "", spellcheck: "false" });
  const event = h("select", { "aria-label": "Event" });
  const place = h("div.list", { style: { "--columns": "4rem 8rem minmax(0, 1fr) 2.5rem" } });
  const foot = h("div.list-foot");
  const kind = (one) => (one.details.event === "change" ? one.details.change : one.details.event);

  function show() {
    const word = find.value.trim().toLowerCase();
    const shown = all.filter((one) => (!event.value || kind(one) === event.value) && (!word || JSON.stringify(one.details).toLowerCase().includes(word)));
    fill(place, shown.length ? shown.map((one) => {
      const raw = h("div", { hidden: true, style: { padding: "0 1rem 0.75rem" } });
      const more = button("", { name: "more", kind: "quiet mini", title: `Entry ${one.sequence} in full`, onclick: () => {
        raw.hidden = !raw.hidden;
        if (!raw.firstChild) raw.append(rawView(one, `audit-${one.sequence}.json`));
      } });
      return [h("div.line", h("span.soft.small", count(one.sequence)), atClock(one.at), h("span.first", sentence(one)), h("span.keep", more)), raw];
    }) : empty("Nothing fits", "No entry of those that were read has this."));
    fill(foot, h("span", `${count(shown.length)} of the newest ${count(all.length)} entries`), all.length >= many && many < 1000 && action("Read more", {}, async () => { many = 1000; await load(); }));
  }
  async function load() {
    all = (await get("/v1/audit", { last: many }, signal)).items.reverse();
    const chosen = event.value || query.event || "";
    fill(event, h("option", { value: "" }, "any event"), [...new Set(all.map(kind))].sort().map((one) => h("option", { value: one }, words(one))));
    event.value = chosen;
    show();
  }
  find.addEventListener("input", () => { goTo({ query: { find: find.value.trim() } }, { quietly: true }); show(); });
  event.addEventListener("change", () => { goTo({ query: { event: event.value } }, { quietly: true }); show(); });
  await load();
  command(troupe("audit", "tail"), curl("GET", "/v1/audit", undefined, { last: many }));
  const head = all[0];
  return h("div", pageHead("Audit", { says: "Each entry has the hash of the one before; the chain shows a change afterwards.", actions: [
    head && button(`Head ${head.hash.slice(0, 10)}…`, { name: "copy", kind: "quiet", title: "Copy the hash of the newest entry", onclick: () => copy(head.hash) }),
    button("Copy the check", { name: "done", title: "Verifying reads the store: a command does it", onclick: () => copy(troupe("audit", "verify")) }),
    button("Export", { name: "down", onclick: () => download(new Blob([all.map((one) => JSON.stringify(one)).join("\n") + "\n"], { type: "application/x-ndjson" }), "audit.ndjson") })] }),
  h("div.filters", h("div.find", icon("search"), find), event, h("span.grow"), action("Read again", { name: "again", kind: "quiet" }, load)), place, foot);
}

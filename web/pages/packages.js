// Package sets: what is installed for runs, and what is being built.
import { h } from "../app/dom.js";
import { call, get, stream, at } from "../app/api.js";
import { keepFresh } from "../app/live.js";
import { list } from "../app/list.js";
import { pageHead } from "../app/shell.js";
import { action, button, choose, dialog, empty, field, status, toast } from "../app/parts.js";
import { textView } from "../app/text_view.js";
import { troupe, curl } from "../app/as_command.js";
import { ago, bytes, short } from "../app/format.js";

const kinds = { ready: "ok", building: "busy", failed: "bad" };

function log(one) {
  const out = textView({ name: "Build", file: "build.txt" });
  const ended = new AbortController();
  const box = dialog(`Package set ${short(one.fingerprint).slice(0, 12)}`, h("div.stack", h("p.small", one.packages.join(", ")), out, one.error && h("p.small", one.error.detail)), { cancel: "Close", wide: true });
  box.addEventListener("close", () => ended.abort());
  (async () => {
    for await (const event of stream("GET", at`/v1/package-sets/${one.fingerprint}/events`, { signal: ended.signal }))
      if (event.line) out.append(event.line.endsWith("\n") ? event.line : event.line + "\n");
      else if (event.type === "end") out.append(`${event.package_set?.state ?? "ended"}\n`);
  })().catch((why) => { if (!ended.signal.aborted) out.append(`${why.message}\n`); });
}

function build(done) {
  const kind = choose([["pip_requirements", "Python (pip)"], ["npm_requirements", "JavaScript (npm)"]], "pip_requirements");
  const names = h("textarea", { class: "code", rows: 4, placeholder: "httpx\nnumpy>=2", spellcheck: "false" });
  dialog("Build ahead", h("div.stack", h("p.small.soft", "Runs that need the same packages find them ready."), field("From", kind), field("Packages, one each line", names)), { words: "Build", yes: async () => {
    const wanted = names.value.split(/[\n,]/).map((one) => one.trim()).filter(Boolean);
    const made = await call("POST", "/v1/package-sets", { body: { [kind.value]: wanted }, headers: { prefer: "respond-async" } });
    await done();
    setTimeout(() => log(made));
  } });
}

export async function draw({ signal, command, me }) {
  const may = me.can_config ? undefined : "This needs a key with the scope config";
  const load = async () => rows.update((await get("/v1/package-sets", { limit: 200 }, signal)).items);
  const rows = list({
    label: "Package sets", key: (one) => one.fingerprint,
    columns: [{ words: "Packages", width: "minmax(10rem, 1fr)" }, { words: "State", width: "6.5rem" }, { words: "Size", width: "5.5rem", num: true }, { words: "Built", width: "5.5rem", num: true, phone: false }, { words: "Used", width: "5.5rem", num: true, phone: false }, { width: "max-content", keep: true }],
    cells: (one) => [h("button.cover", { type: "button", onclick: () => log(one) }, h("span.cut", { title: one.packages.join(", ") }, one.packages.join(", ") || short(one.fingerprint))), status(kinds[one.state] ?? "off", one.state, one.progress ?? one.error?.detail), bytes(one.bytes), ago(one.built_at), ago(one.used_at),
      action("", { name: "trash", kind: "quiet mini", title: "Delete the package set", needs: may }, async () => { await call("DELETE", at`/v1/package-sets/${one.fingerprint}`); toast("Deleted"); await load(); })],
    empty: () => empty("No package set is installed", "One is built when a run first needs its packages, once, and shared by all runs that need the same.", h("code", "troupe packages build --pip numpy")),
  });
  await load();
  keepFresh(load, 3000, signal);
  command(troupe("packages", "list"), curl("GET", "/v1/package-sets"));
  return h("div", pageHead("Packages", { says: "What is installed for runs, by what they need.", actions: [button("Build ahead", { name: "plus", kind: "primary", needs: may, onclick: () => build(load) })] }), rows);
}

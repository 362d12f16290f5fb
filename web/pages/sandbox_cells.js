// Cells in interpreters that keep their state; each shows what it said and made.
import { h, fill } from "../app/dom.js";
import { call, get, stream, at } from "../app/api.js";
import { action, button, choose, problem, status, toast } from "../app/parts.js";
import { editor } from "../app/code.js";
import { bundle } from "../app/rich.js";
import { textView } from "../app/text_view.js";
import { micros } from "../app/format.js";

const languages = ["python", "javascript", "typescript", "bash"];
const ends = { ok: ["ok", "done"], error: ["bad", "error"], interrupted: ["warn", "interrupted"], timeout: ["bad", "timed out"], lost: ["bad", "lost"], running: ["busy", "running"], queued: ["off", "waiting"] };

function outputs() {
  const place = h("div.outputs", { "aria-live": "polite" });
  const shown = new Map(); // displays that may be updated
  let text = null, kind = "";
  return {
    place,
    clear() { fill(place); shown.clear(); text = null; },
    take(event) {
      if (event.type === "stdout" || event.type === "stderr") {
        if (!text || kind !== event.type) {
          kind = event.type;
          text = textView({ name: kind, kind: kind === "stderr" ? "err" : "", file: `${kind}.txt`, bare: true });
          place.append(text);
        }
        text.append(event.text);
      } else if (event.type === "display" || event.type === "result" || event.type === "update") {
        const made = bundle(event.data);
        const old = event.id && shown.get(event.id);
        if (event.id) shown.set(event.id, made);
        if (event.type === "update" && old) old.replaceWith(made);
        else { place.append(made); text = null; }
      } else if (event.type === "error" && event.traceback !== undefined) {
        place.append(textView({ name: `${event.name}: ${event.value}`, text: event.traceback || event.value, kind: "err", file: "traceback.txt" }));
        text = null;
      } else if (event.type === "error" && event.error) place.append(problem(Object.assign(new Error(event.error.detail), { errors: event.error.errors })));
    },
  };
}

function cell({ path, signal, may, chosen, another }) {
  const said = outputs();
  const number = h("code.tiny", "[ ]");
  const state = h("span.row");
  const language = () => chosen().language;
  const source = editor({ text: "", language: language(), label: "Code of the cell", rows: 3, onrun: () => go.click() });
  const go = action("Run", { name: "runs", kind: "mini", needs: may, title: "Shift Enter" }, async () => {
    const where = chosen();
    const body = where.id ? { code: source.get() } : { language: where.language, code: source.get() };
    said.clear();
    fill(number, "[*]");
    fill(state, status("busy", "running"));
    try {
      for await (const event of stream("POST", where.id ? `${path}${at`/contexts/${where.id}/execute`}` : `${path}/execute`, { body, signal })) {
        said.take(event);
        if (event.type !== "end") continue;
        const [kind, words] = ends[event.status] ?? ["off", event.status];
        fill(number, `[${event.execution_count ?? " "}]`);
        const took = event.began_at && event.ended_at ? (new Date(event.ended_at) - new Date(event.began_at)) * 1000 : undefined;
        fill(state, status(kind, words), took !== undefined && h("span", micros(took)), event.state === "lost" && h("span", "state lost"), event.detail && h("span", event.detail), event.dropped_events ? h("span", `${event.dropped_events} events dropped`) : null);
      }
      another(made);
    } catch (why) {
      if (signal.aborted) return;
      fill(state, status("bad", "failed"));
      said.place.append(problem(why));
    }
  });
  const made = h("section.cell", { "aria-label": "Cell" },
    h("div.cell-head", number, state, h("span.grow"), go, button("", { name: "trash", kind: "quiet mini", title: "Remove the cell", onclick: () => { if (made.parentElement.children.length > 1) made.remove(); else { source.set(""); said.clear(); } } })),
    source, said.place);
  return Object.assign(made, { source });
}

export function notebook({ path, signal, may, state }) {
  const place = h("div.stack");
  const where = choose(languages.map((one) => [one, `${one}, default`]), "python", { "aria-label": "Interpreter" });
  let contexts = [];
  const chosen = () => {
    const own = contexts.find((one) => one.id === where.value);
    return own ? { id: own.id, language: own.language } : { language: where.value };
  };
  const load = async () => {
    contexts = (await get(`${path}/contexts`, {}, signal)).items;
    const now = where.value;
    fill(where, languages.map((one) => h("option", { value: one }, `${one}, default`)), contexts.filter((one) => !one.default).map((one) => h("option", { value: one.id }, `${one.name ?? one.id} (${one.language}, ${one.state})`)));
    where.value = [...where.options].some((one) => one.value === now) ? now : "python";
  };
  const current = () => { const one = chosen(); return one.id ?? contexts.find((each) => each.default && each.language === one.language)?.id; };
  const on = (verb, words) => async () => {
    await load();
    const id = current();
    if (!id) return toast("This interpreter has not begun yet");
    await call("POST", `${path}${at`/contexts/${id}`}/${verb}`);
    return toast(words);
  };
  const add = (after) => {
    if (after?.nextSibling) { after.nextSibling.source.focus(); return; }
    const made = cell({ path, signal, may, chosen, another: add });
    place.append(made);
    if (after) made.source.focus();
  };
  where.addEventListener("change", () => { for (const one of place.children) one.source.setLanguage(chosen().language); });
  add();
  if (state() === "running") load().catch(() => {});
  return h("div.stack", h("div.row.wrap", where,
    action("New interpreter", { name: "plus", kind: "quiet", needs: may }, async () => {
      const made = await call("POST", `${path}/contexts`, { body: { language: chosen().language } });
      await load();
      where.value = made.id;
    }), h("span.grow"), action("Interrupt", { name: "stop", kind: "quiet", needs: may }, on("interrupt", "Interrupted")), action("Restart", { name: "again", kind: "quiet", needs: may }, on("restart", "Begun afresh"))),
  place, h("div.row", button("Cell", { name: "plus", kind: "quiet", onclick: () => { add(); place.lastChild.source.focus(); } }), h("span.tiny.soft", "Shift Enter runs a cell; the next one knows what it knew.")));
}

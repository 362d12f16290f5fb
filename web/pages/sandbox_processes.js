// Programs that were begun in a sandbox, their output as it comes, signals.
import { h, fill } from "../app/dom.js";
import { call, get, stream, at } from "../app/api.js";
import { keepFresh } from "../app/live.js";
import { list } from "../app/list.js";
import { action, button, card, body, empty, field, menu, problem, status, tag, toast, dialog, check } from "../app/parts.js";
import { textView } from "../app/text_view.js";
import { ago, bytes } from "../app/format.js";

function state(one) {
  if (one.state === "running") return status("ok", "running");
  if (one.exit_code === 0) return status("off", "ended");
  return status("bad", one.exit_code !== null ? `exit ${one.exit_code}` : one.signal ? `signal ${one.signal}` : one.reason ?? "ended");
}
const words = (one) => (one.argv[0] === "/bin/sh" && one.argv[1] === "-c" ? one.argv[2] : one.argv.join(" "));

export function processes({ path, signal, may }) {
  const command = h("input", { placeholder: "A shell command, as  ls -l", "aria-label": "Command", spellcheck: "false", autocomplete: "off" });
  const back = h("input", { type: "checkbox" });
  const view = h("div");
  let watched = null;
  const rows = list({
    label: "Processes", columns: [{ words: "Command", width: "minmax(8rem, 1fr)" }, { words: "State", width: "6rem" }, { words: "Pid", width: "3.5rem", num: true, phone: false }, { words: "Output", width: "5.5rem", num: true }, { words: "Began", width: "5rem", num: true }, { width: "2.25rem", keep: true }],
    cells: (one) => [h("button.cover", { type: "button", onclick: () => watch(one) }, h("code.cut", { title: words(one) }, words(one)), one.tag && tag(one.tag)), state(one), one.pid ?? "", bytes(one.stdout_bytes + one.stderr_bytes), ago(one.started_at), more(one)],
    empty: () => empty("No process was begun", "What you start here is listed with its output. Processes that they start themselves are not."),
  });
  const load = async () => rows.update((await get(`${path}/processes`, {}, signal)).items);
  const go = action("Run", { name: "runs", kind: "primary", needs: may }, async () => {
    if (!command.value.trim()) return command.focus();
    const made = back.checked ? await call("POST", `${path}/processes`, { body: { command: command.value } }) : null;
    if (made) { await load(); command.value = ""; return watch(made); }
    watched?.abort();
    const shown = await call("POST", `${path}/exec`, { body: { command: command.value, timeout: 60 } });
    fill(view, card(words(shown), body(h("div.stack.tight", h("div.row.small", state(shown)), textView({ name: "stdout", text: shown.stdout }), shown.stderr && textView({ name: "stderr", text: shown.stderr, kind: "err" })))));
    return load();
  });
  command.addEventListener("keydown", (pressed) => { if (pressed.key === "Enter") go.click(); });

  const send = (one, which) => async () => { try { await call("POST", `${path}${at`/processes/${one.id}/signal`}`, { body: { signal: which } }); await load(); } catch (why) { toast(why.message, true); } };
  function more(one) {
    const made = button("", { name: "more", kind: "quiet mini", title: "Actions" });
    made.addEventListener("click", () => menu(made, [
      one.state === "running" && ["Interrupt", "stop", send(one, "INT")], one.state === "running" && ["Terminate", "stop", send(one, "TERM")],
      one.state === "running" && ["Write to its input", "tools", () => write(one)],
      [one.state === "running" ? "Kill and forget" : "Forget", "trash", async () => { try { await call("DELETE", `${path}${at`/processes/${one.id}`}`); await load(); } catch (why) { toast(why.message, true); } }, "danger"]]));
    return made;
  }
  function write(one) {
    const text = h("textarea", { class: "code", rows: 3 });
    dialog("Write to its standard input", field("Text", text, "It must have been begun with an open input."), { words: "Write", yes: () => call("POST", `${path}${at`/processes/${one.id}/input`}`, { bytes: new TextEncoder().encode(text.value) }) });
  }

  function watch(one) {
    watched?.abort();
    watched = new AbortController();
    signal.addEventListener("abort", () => watched.abort());
    const { signal: mine } = watched;
    const out = textView({ name: "stdout", file: "stdout.txt" }), err = textView({ name: "stderr", kind: "err", file: "stderr.txt" });
    const note = h("div.row.small", state(one));
    fill(view, card(words(one), body(h("div.stack.tight", note, out, err))));
    err.hidden = true;
    (async () => {
      for (const [which, place] of [["stdout", out], ["stderr", err]])
        (async () => {
          for await (const event of stream("GET", `${path}${at`/processes/${one.id}/output`}`, { query: { stream: which, follow: "true" }, signal: mine })) {
            if (event.type === "output") { place.hidden = false; place.append(event.data); }
            if (event.type === "end" && event.process) fill(note, state(event.process));
          }
        })().catch((why) => { if (!mine.aborted) fill(note, problem(why)); });
    })();
  }
  keepFresh(load, 2000, signal);
  return h("div.stack", h("div.row.wrap", h("div.grow", { style: { "min-width": "14rem" } }, command), check("in the background", back), go), rows, view);
}

// How the dashboard looks, how the engine is, and what operators do to it.
import { h, fill } from "../app/dom.js";
import { call, get, text } from "../app/api.js";
import { pageHead } from "../app/shell.js";
import { body, button, card, choose, copyButton, dialog, facts, field, region, status, toast } from "../app/parts.js";
import { pref, setPref } from "../app/prefs.js";
import { showKeys } from "../app/palette.js";
import { troupe, curl } from "../app/as_command.js";
import { bytes } from "../app/format.js";
import { rawView } from "../app/json_view.js";

function looks() {
  const one = (name, options) => {
    const made = choose(options, pref(name));
    made.addEventListener("change", () => setPref(name, made.value));
    return made;
  };
  return card("This browser", body(h("div.stack", field("Theme", one("theme", [["", "as the system"], ["light", "light"], ["dark", "dark"]])), field("Rows", one("density", [["", "comfortable"], ["compact", "compact"]])),
    field("Shortcuts of a single key", one("keys", [["", "on"], ["off", "off"]])), h("div", button("All shortcuts", { kind: "quiet", onclick: showKeys })), h("p.tiny.soft", "Kept in this browser; nothing else is."))));
}

/** "[+] ledger up" and its like, as the engine says it. */
function health() {
  return region(async () => {
    const said = await text("/readyz", { verbose: "1" }).catch((why) => why.message);
    const lines = said.split("\n").map((one) => /^\[(.)\]\s*(.*)$/.exec(one)).filter(Boolean);
    if (!lines.length) return h("p.small.soft", said || "The engine shows its parts to callers with a key of scope operator, or on its own machine.");
    return h("div.stack.tight", lines.map(([, sign, words]) => h("div.small", status(sign === "+" ? "ok" : "bad", words))));
  });
}

const commands = [["troupe doctor", "what this host can isolate, and how to fix the rest"], ["troupe config show --origin", "every setting, and where it comes from"], ["troupe config check", "all mistakes in the settings, with their lines"], ["troupe audit verify", "whether an audit entry was changed"], ["troupe backup verify", "whether a backup can be read in full"]];

function operate(me) {
  const may = me.can_operate ? undefined : "This needs a key with the scope operator, or this engine's own machine";
  const done = h("div");
  const ask = (title, says, path, words, wanted, kind = "primary") => dialog(title, h("p", says), { words, kind, yes: async () => {
    const made = await call("POST", path, { body: wanted });
    fill(done, rawView(made));
    toast(`${title.replace(/\?$/, "")}: done`);
  } });
  const backup = () => {
    const to = h("input", { placeholder: "/var/backups/troupe/today", spellcheck: "false", autocomplete: "off" });
    dialog("Make a backup", field("Folder on the engine's machine", to, "The absolute path of a new folder; its parent must exist. The master key is not in it."), { words: "Make it", yes: async () => { fill(done, rawView(await call("POST", "/v1/maintenance/backups", { body: to.value.trim() ? { directory: to.value.trim() } : {} }))); toast("The backup is made"); } });
  };
  return card("For operators", body(h("div.stack", h("div.row.wrap", button("Make a backup", { name: "down", needs: may, onclick: backup }),
    button("Rotate the master key", { name: "access", needs: may, onclick: () => ask("Rotate the master key?", "The engine makes a new one and encrypts the keys of all organizations with it, while it runs.", "/v1/maintenance/master-key", "Rotate") }),
    button("Drain", { name: "stop", kind: "danger", needs: may, onclick: () => ask("Drain this engine?", "It takes no new run, and lets those that run end. It has to be started again afterwards.", "/v1/maintenance/drain", "Drain", {}, "danger") })), done)));
}

export async function draw({ command, me, signal }) {
  command(troupe("config", "show", "--origin"), curl("GET", "/readyz", undefined, { verbose: "1" }));
  const about = region(async () => {
    const document = await get("/openapi.json", {}, signal);
    const now = performance.memory ? [["Memory of this page", bytes(performance.memory.usedJSHeapSize)]] : [];
    return facts([["Version", document.info.version], ["Operations", String(Object.values(document.paths).reduce((sum, one) => sum + Object.keys(one).length, 0))], ...now]);
  });
  const machine = card("On the engine's machine", body(h("div.stack.tight", commands.map(([line, words]) => h("div.row", h("div.grow", h("code", line), h("p.tiny.soft", words)), copyButton(line))))));
  return h("div", pageHead("Settings", { says: "config.ini is the truth for the engine; a change there needs a restart." }),
    h("div.grid", looks(), h("div.stack", card("Health", body(health())), machine), h("div.stack", card("About", body(h("div.stack", about, h("div.row.wrap", h("a.button", { href: "/docs", target: "_blank" }, "HTTP interface"), h("a.button", { href: "/openapi.json", target: "_blank" }, "openapi.json"))))), operate(me))));
}

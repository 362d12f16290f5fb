// Ctrl-K: pages, objects, actions; and the keys of the whole dashboard.
import { h, fill } from "./dom.js";
import { icon } from "./icons.js";
import { dialog } from "./parts.js";
import { get } from "./api.js";
import { goTo, here } from "./router.js";
import { moveRow } from "./list.js";
import { pages } from "./shell.js";
import { pref } from "./prefs.js";
import { short } from "./format.js";

const known = () => [
  ...pages.filter((one) => !one.group).map((one) => ({ words: one.words, name: one.name, hint: `g ${one.key}`, run: () => goTo({ page: one.id }) })),
  { words: "New run", name: "plus", hint: "n", run: () => goTo({ page: "runs", item: "new" }) },
  { words: "New tool", name: "plus", run: () => goTo({ page: "tools", item: "new", query: {} }) },
  { words: "New sandbox", name: "plus", run: () => goTo({ page: "sandboxes", query: { new: "1" } }) },
  { words: "Keyboard shortcuts", name: "info", hint: "?", run: showKeys },
];

/** Objects whose name or id has the word; ids pasted lead straight to them. */
async function objects(word, signal) {
  const found = [];
  if (/^run-[0-9a-f-]{36}$/.test(word)) found.push({ words: `Run ${word}`, name: "runs", run: () => goTo({ page: "runs", item: word }) });
  const [tools, boxes, runs] = await Promise.allSettled([
    get("/v1/tools", { search: word, limit: 6 }, signal), get("/v1/sandboxes", { limit: 200 }, signal), get("/v1/runs", { limit: 200 }, signal),
  ]);
  const of = (answer) => answer.value?.items ?? [];
  const has = (...texts) => texts.some((text) => text && String(text).toLowerCase().includes(word));
  for (const tool of of(tools)) found.push({ words: tool.name, name: "tools", hint: "tool", run: () => goTo({ page: "tools", item: tool.name }) });
  for (const box of of(boxes).filter((one) => has(one.name, one.id)).slice(0, 6)) found.push({ words: box.name ?? box.id, name: "sandboxes", hint: box.state, run: () => goTo({ page: "sandboxes", item: box.id }) });
  for (const run of of(runs).filter((one) => one.id.includes(word)).slice(0, 6)) found.push({ words: `${run.tool_name ?? "run"} ${short(run.id)}`, name: "runs", hint: run.status ?? run.phase, run: () => goTo({ page: "runs", item: run.id }) });
  return found;
}

export function openPalette() {
  if (document.querySelector("dialog[open]")) return;
  const options = h("div", { role: "listbox", id: "found", "aria-label": "Found" });
  const input = h("input", { role: "combobox", "aria-expanded": "true", "aria-controls": "found", "aria-label": "Search or jump to", placeholder: "Search pages, tools, sandboxes, runs…", autocomplete: "off", spellcheck: "false" });
  const box = h("dialog.palette", { "aria-label": "Search or jump to" }, input, options);
  let shown = [], chosen = 0, timer = 0, asked = new AbortController();
  const close = () => { asked.abort(); box.close(); };
  const choose = (i) => {
    chosen = i;
    [...options.children].forEach((one, at) => one.setAttribute("aria-selected", String(at === i)));
    input.setAttribute("aria-activedescendant", `found-${i}`);
    options.children[i]?.scrollIntoView({ block: "nearest" });
  };
  const take = (one) => { close(); one?.run(); };
  const draw = (all) => {
    shown = all;
    fill(options, all.length ? all.map((one, i) => h("div", { role: "option", id: `found-${i}`, onclick: () => take(one), onpointermove: () => choose(i) }, icon(one.name), h("span.grow.cut", one.words), one.hint && h("span.tiny.soft", one.hint)))
      : h("p.soft.small", { style: { padding: "0.6rem 1.15rem" } }, "Nothing has that name."));
    choose(0);
  };
  input.addEventListener("input", () => {
    const word = input.value.trim().toLowerCase();
    clearTimeout(timer);
    asked.abort();
    asked = new AbortController();
    const fitting = known().filter((one) => one.words.toLowerCase().includes(word));
    draw(fitting);
    if (word.length > 1) timer = setTimeout(async () => {
      const { signal } = asked;
      const more = await objects(word, signal);
      if (!signal.aborted) draw([...fitting, ...more]);
    }, 150);
  });
  box.addEventListener("keydown", (pressed) => {
    if (pressed.key === "ArrowDown") choose(Math.min(shown.length - 1, chosen + 1));
    else if (pressed.key === "ArrowUp") choose(Math.max(0, chosen - 1));
    else if (pressed.key === "Enter") take(shown[chosen]);
    else return;
    pressed.preventDefault();
  });
  box.addEventListener("click", (clicked) => { if (clicked.target === box) close(); });
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  draw(known());
  input.focus();
}

export function showKeys() {
  const keys = [["Ctrl K", "search or jump to"], ["/", "filter this list"], ["j k ↑ ↓", "move between rows"], ["Enter", "open"], ["n", "new run"], ["y", "copy the id of this page"],
    ["?", "this list"], ...pages.filter((one) => !one.group).map((one) => [`g ${one.key}`, one.words.toLowerCase()]), ["Ctrl Enter", "run what the editor holds"], ["Ctrl S", "save it"]];
  dialog("Keyboard", h("dl.facts", keys.map(([key, words]) => [h("dt", key.split(" ").map((one) => [h("kbd", one), " "])), h("dd", words)])), { cancel: "Close" });
}

const typing = (target) => target.closest?.("input, textarea, select, [contenteditable], dialog, .menu");

export function startKeys(copyId) {
  let before = 0; // when g was pressed
  addEventListener("keydown", (pressed) => {
    if ((pressed.ctrlKey || pressed.metaKey) && pressed.key.toLowerCase() === "k") {
      pressed.preventDefault();
      openPalette();
      return;
    }
    if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || typing(pressed.target) || pref("keys") === "off") return;
    const page = pages.find((one) => one.key === pressed.key);
    if (Date.now() - before < 1500 && page) goTo({ page: page.id });
    else if (pressed.key === "/") document.querySelector("main input[type=search]")?.focus();
    else if (pressed.key === "j" || (pressed.key === "ArrowDown" && pressed.target.closest(".list"))) moveRow(1);
    else if (pressed.key === "k" || (pressed.key === "ArrowUp" && pressed.target.closest(".list"))) moveRow(-1);
    else if (pressed.key === "Home" && pressed.target.closest(".list")) moveRow("first");
    else if (pressed.key === "End" && pressed.target.closest(".list")) moveRow("last");
    else if (pressed.key === "n") goTo({ page: "runs", item: "new" });
    else if (pressed.key === "y" && here().item) copyId(here().item);
    else if (pressed.key === "?") showKeys();
    else if (pressed.key === "g") { before = Date.now(); return; }
    else return;
    before = 0;
    pressed.preventDefault();
  });
}

// The small parts that pages are made of.
import { h, fill, plain } from "./dom.js";
import { icon, mark } from "./icons.js";
import { Problem, Unreachable } from "./api.js";
import { goTo } from "./router.js";

// --- states -----------------------------------------------------------------
const states = {
  success: ["ok", "succeeded"], error: ["bad", "failed"], timeout: ["bad", "timed out"], limit: ["bad", "limit"],
  cancelled: ["off", "cancelled"], lost: ["warn", "lost"], queued: ["off", "queued"], preparing: ["busy", "preparing"],
  running: ["busy", "running"], ended: ["off", "ended"], refused: ["warn", "not run"],
};
const sandboxStates = {
  queued: "off", creating: "busy", running: "ok", pausing: "busy", paused: "pause", resuming: "busy",
  stopping: "busy", stopped: "off", deleting: "busy", deleted: "off", failed: "bad",
};

export const status = (kind, words, title) => h("span.status." + kind, { title }, mark(kind), words);

export function runStatus(run) {
  const state = run.phase !== "ended" ? run.phase : run.status ?? run.result?.status ?? (run.error ? "refused" : "ended");
  const [kind, words] = states[state] ?? ["off", state];
  return status(kind, words, run.reason ?? run.result?.reason);
}
export const sandboxStatus = (state) => status(sandboxStates[state] ?? "off", state);
export const tag = (text, kind = "") => h("span.tag", { class: kind, title: text }, text);
export const labels = (all) => Object.entries(all ?? {}).map(([name, value]) => tag(`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`));

// --- controls ---------------------------------------------------------------
export function button(words, { name, kind = "", title, onclick, disabled, needs, pressed } = {}) {
  const made = h("button.button", { type: "button", class: kind, title: needs || title, "aria-label": words ? undefined : title, disabled: disabled || Boolean(needs), "aria-pressed": pressed },
    name && icon(name), words);
  if (!words) made.classList.add("square");
  if (onclick) made.addEventListener("click", onclick);
  return made;
}
export const linkButton = (words, href, { name, kind = "" } = {}) => h("a.button", { href, class: kind }, name && icon(name), words);

/** Does `work` while the button is out of use; what fails is told. */
export function doing(made, work) {
  return async () => {
    if (made.disabled) return;
    made.disabled = true;
    try {
      await work();
    } catch (why) {
      if (why.name !== "AbortError") toast(why.message, true);
    } finally {
      made.disabled = false;
    }
  };
}
export function action(words, options, work) {
  const made = button(words, options);
  made.addEventListener("click", doing(made, work));
  return made;
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied");
  } catch { // no permission, or an address that is not secure
    const area = h("textarea", { class: "unseen", value: text });
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    toast(document.execCommand("copy") ? "Copied" : "This browser does not let pages copy here", false);
    area.remove();
  }
}
export const copyButton = (text, title = "Copy") => {
  const made = h("button.button.quiet.mini", { type: "button", title, "aria-label": title }, icon("copy", 13));
  made.addEventListener("click", (clicked) => {
    clicked.preventDefault();
    clicked.stopPropagation();
    copy(typeof text === "function" ? text() : text);
  });
  return made;
};

let lastField = 0;
export function field(words, control, hint) {
  const id = `f${++lastField}`;
  control.id ||= id;
  return h("div.field", h("label", { for: control.id }, words), control, hint && h("span.hint", hint));
}
export const check = (words, control) => h("label.check", control, words);
export const choose = (options, chosen, props = {}) =>
  h("select", props, options.map((one) => { const [value, words] = Array.isArray(one) ? one : [one, one]; return h("option", { value, selected: value === chosen }, words); }));

// --- what a page says -------------------------------------------------------
export const card = (title, ...rest) => {
  const actions = Array.isArray(rest[0]) && rest[0].isActions ? rest.shift() : [];
  return h("section.card", title && h("header", h("h2", title), actions), ...rest);
};
export const actions = (...all) => Object.assign(all, { isActions: true });
export const body = (...all) => h("div.body", ...all);
export const facts = (pairs) => h("dl.facts", pairs.filter((one) => one && one[1] !== undefined && one[1] !== null).map(([name, value]) => [h("dt", name), h("dd", value)]));
export const empty = (title, says, ...rest) => h("div.empty", h("h2", title), says && h("p.says", says), rest.length > 0 && h("div.row.wrap", ...rest));
export const callout = (kind, name, title, ...says) => h("div.callout", { class: kind }, icon(name, 18), h("div.stack.tight.grow", h("h2.small", title), ...says));
export const skeleton = () => h("div.stack", { "aria-busy": "true" }, h("span.unseen", "Loading"), [70, 95, 85, 60].map((width) => h("div.skeleton", { style: { width: `${width}%` } })));

export function problem(why, again) {
  if (why instanceof Problem && why.status === 403)
    return empty("This key may not see that", why.message);
  if (why instanceof Problem && why.status === 404)
    return empty("That is not here", why.message, button("Go back", { onclick: () => history.back() }));
  return h("div.problem", { role: "alert" },
    h("h2", why instanceof Unreachable ? "The engine does not answer" : why instanceof Problem ? why.title || "Refused" : "Something went wrong"),
    h("p", why.message),
    (why.errors ?? []).map((one) => h("p.small", h("code", one.pointer ?? one.parameter ?? ""), " ", one.reason, one.hint && `; ${one.hint}`)),
    h("div.row.wrap.small.soft", why.request && ["request ", h("code", why.request)], again && button("Try again", { name: "again", kind: "mini", onclick: again })));
}

/** A place that shows its skeleton late, and what failed in full. */
export function region(work, signal) {
  const place = h("div");
  const load = async () => {
    const wait = setTimeout(() => fill(place, skeleton()), 150);
    try {
      const made = await work();
      clearTimeout(wait);
      if (!signal?.aborted) fill(place, made);
    } catch (why) {
      clearTimeout(wait);
      if (!signal?.aborted) fill(place, problem(why, load));
    }
  };
  load();
  return Object.assign(place, { reload: load });
}

// --- what floats ------------------------------------------------------------
export function toast(text, bad = false) {
  let place = document.querySelector(".toasts");
  if (!place) document.body.append((place = h("div.toasts", { role: "status", "aria-live": "polite" })));
  const host = document.querySelector("dialog[open]");
  (host ?? document.body).append(place);
  const made = h("div.toast", { class: bad ? "bad" : "" }, icon(bad ? "warn" : "done", 15), h("span", text));
  place.append(made);
  while (place.children.length > 3) place.firstChild.remove();
  setTimeout(() => made.remove(), bad ? 9000 : 2500);
}

/** A question in a window of its own; `yes` may refuse by throwing. */
export function dialog(title, content, { yes, words = "OK", kind = "primary", cancel = "Cancel", needsText, wide } = {}) {
  const wrong = h("div");
  const sure = button(words, { kind: kind === "danger" ? "danger sure" : kind });
  const shut = () => box.close();
  const typed = needsText && h("input", { autocomplete: "off", spellcheck: "false" });
  const box = h("dialog", { "aria-label": title },
    h("form", { method: "dialog", onsubmit: (sent) => { sent.preventDefault(); sure.click(); } },
      h("div.dialog-head", h("h2", title)),
      h("div.dialog-body", content, typed && field(`Type ${plain(needsText)} to confirm`, typed), wrong),
      h("div.dialog-foot", cancel && button(cancel, { onclick: shut }), yes && sure)));
  if (wide) box.style.width = "min(52rem, calc(100vw - 2rem))";
  if (typed) {
    sure.disabled = true;
    typed.addEventListener("input", () => { sure.disabled = typed.value !== needsText; });
  }
  sure.addEventListener("click", async () => {
    if (sure.disabled) return;
    sure.disabled = true;
    try {
      if ((await yes()) !== false) shut();
    } catch (why) {
      fill(wrong, problem(why));
    } finally {
      sure.disabled = Boolean(typed) && typed.value !== needsText;
    }
  });
  sure.type = "button";
  const before = document.activeElement;
  box.addEventListener("close", () => {
    const place = box.querySelector(".toasts");
    if (place) document.body.append(place);
    box.remove();
    before?.focus?.();
  });
  document.body.append(box);
  box.showModal();
  box.querySelector("input, textarea, select")?.focus();
  return box;
}

/** A list of actions below its button. */
export function menu(from, items) {
  document.querySelector(".menu")?.remove();
  const ended = new AbortController();
  const made = h("div.menu", { role: "menu" }, items.filter(Boolean).map(([words, name, run, kind]) =>
    h("button", { type: "button", role: "menuitem", class: kind, onclick: () => { end(); run(); } }, icon(name, 15), words)));
  const end = () => { made.remove(); ended.abort(); from.focus(); };
  document.body.append(made);
  const box = from.getBoundingClientRect();
  made.style.setProperty("top", `${Math.min(box.bottom + 4, innerHeight - made.offsetHeight - 8)}px`);
  made.style.setProperty("left", `${Math.max(8, Math.min(box.right - made.offsetWidth, innerWidth - made.offsetWidth - 8))}px`);
  const all = [...made.children];
  all[0]?.focus();
  made.addEventListener("keydown", (pressed) => {
    const here = all.indexOf(document.activeElement);
    if (pressed.key === "ArrowDown") all[(here + 1) % all.length].focus();
    else if (pressed.key === "ArrowUp") all[(here - 1 + all.length) % all.length].focus();
    else if (pressed.key === "Escape" || pressed.key === "Tab") end();
    else return;
    pressed.preventDefault();
    pressed.stopPropagation();
  });
  addEventListener("pointerdown", (down) => { if (!made.contains(down.target)) { made.remove(); ended.abort(); } }, { signal: ended.signal });
}

/** Tabs whose choice is in the URL; each is made when it is first shown. */
export function tabs(all, chosen, signal) {
  const shown = all.filter(Boolean);
  let now = shown.find((one) => one.id === chosen) ?? shown[0];
  const place = h("div", { role: "tabpanel", tabindex: "-1" });
  const made = new Map();
  const bar = h("div.tabs", { role: "tablist" }, shown.map((one) =>
    h("button", { type: "button", role: "tab", id: `tab-${one.id}`, onclick: () => show(one, true) }, one.words, one.count !== undefined && h("span.count", one.count))));
  function show(one, byHand) {
    now = one;
    [...bar.children].forEach((each, i) => {
      each.setAttribute("aria-selected", String(shown[i] === one));
      each.tabIndex = shown[i] === one ? 0 : -1;
    });
    if (!made.has(one.id)) made.set(one.id, one.make());
    fill(place, made.get(one.id));
    place.setAttribute("aria-labelledby", `tab-${one.id}`);
    if (byHand) goTo({ query: { tab: one === shown[0] ? undefined : one.id } }, { quietly: true });
  }
  bar.addEventListener("keydown", (pressed) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[pressed.key];
    if (!step) return;
    const next = shown[(shown.indexOf(now) + step + shown.length) % shown.length];
    show(next, true);
    bar.children[shown.indexOf(next)].focus();
  });
  show(now, false);
  return h("div", bar, place);
}

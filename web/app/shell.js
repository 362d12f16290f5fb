// What stands around every page: the way to others, the caller, whether the
// engine is reached, and the same as a command.
import { h, fill } from "./dom.js";
import { icon, logo, mark } from "./icons.js";
import { button, copyButton } from "./parts.js";
import { address } from "./router.js";
import { watchLink, hasKey } from "./api.js";
import { pref, setPref } from "./prefs.js";

export const pages = [
  { id: "", name: "overview", words: "Overview", key: "o" },
  { id: "runs", name: "runs", words: "Runs", key: "r" },
  { id: "sandboxes", name: "sandboxes", words: "Sandboxes", key: "s" },
  { id: "tools", name: "tools", words: "Tools", key: "t" },
  { id: "packages", name: "packages", words: "Packages", key: "p", minor: true },
  { id: "variables", name: "variables", words: "Variables", key: "v", minor: true },
  { group: "Operate" },
  { id: "backends", name: "backends", words: "Backends", key: "b", minor: true },
  { id: "access", name: "access", words: "Access", key: "k", minor: true },
  { id: "audit", name: "audit", words: "Audit", key: "a", minor: true },
  { id: "settings", name: "settings", words: "Settings", key: ",", minor: true },
];

const shortcut = navigator.platform.startsWith("Mac") ? "⌘ K" : "Ctrl K";
const themes = { "": "as the system", light: "light", dark: "dark" };

function themeButton() {
  const made = button("", { name: "theme", kind: "quiet", title: "Theme" });
  const say = () => { const words = `Theme: ${themes[pref("theme")]}`; made.title = words; made.setAttribute("aria-label", words); };
  made.addEventListener("click", () => {
    const all = Object.keys(themes);
    setPref("theme", all[(all.indexOf(pref("theme")) + 1) % all.length]);
    say();
  });
  say();
  return made;
}

function linkState() {
  const made = h("span.link-state", { role: "status" });
  const bar = h("div.notice.bad", { hidden: true, role: "alert" });
  let timer = 0;
  watchLink((lost) => {
    clearInterval(timer);
    made.classList.toggle("lost", lost !== null);
    fill(made, mark(lost === null ? "ok" : "bad"), lost === null ? "connected" : "no connection");
    bar.hidden = lost === null;
    const say = () => fill(bar, icon("warn"), h("span.grow", `Connection lost ${Math.round((Date.now() - lost) / 1000)} s ago. What you see is what was known; asking again.`));
    if (lost !== null) {
      say();
      timer = setInterval(say, 1000);
    }
  });
  return { made, bar };
}

/** Built once; `show` puts a page into it. */
export function makeShell({ openPalette, signOut }) {
  const items = pages.map((page) => page.group
    ? h("div.group", page.group)
    : h("a.item", { href: address(page.id), class: page.minor ? "minor" : "", title: `g ${page.key}` }, icon(page.name), page.words));
  const foot = h("div.foot");
  const side = h("nav.side", { "aria-label": "Pages" }, h("a.brand", { href: "./" }, logo(), "Troupe"), items);
  side.append(h("button.more-toggle", { type: "button", "aria-label": "More pages", onclick: () => side.classList.toggle("open") }, icon("more"), "More"), foot);
  const main = h("main", { id: "main", tabindex: "-1" });
  const { made: state, bar } = linkState();
  const notice = h("aside", { "aria-label": "Notice" });
  const command = h("footer.as-command", { hidden: true });
  const top = h("header.top",
    h("button.search", { type: "button", "aria-label": `Search or jump to… ${shortcut}`, onclick: openPalette }, icon("search"), h("span", "Search or jump to…"), h("kbd", shortcut)),
    h("span.grow"), state, themeButton());
  const leave = button("", { name: "leave", kind: "quiet", title: "Sign out", onclick: signOut });
  const made = h("div.shell", side, h("div.column", top, bar, notice, main, command));
  const skip = h("a.skip", { href: "#main", onclick: (clicked) => { clicked.preventDefault(); main.focus(); } }, "Skip to the page");

  return {
    mount() { fill(document.body, skip, made); },
    /** The caller, and a quiet word where no key is asked for. */
    caller(self, version) {
      fill(foot, h("span.cut", { title: self.id }, /^org-0{8}/.test(self.id) ? "default organization" : self.id), h("span", version ? `Troupe ${version}` : ""));
      if (hasKey() && !leave.isConnected) top.append(leave);
      if (!hasKey()) leave.remove();
      fill(notice, !self.key_id && h("div.notice", h("span.soft", icon("info", 14)), h("span.grow.soft", "No key is asked for on this machine: every local user can run code here. ", h("code", "http.require-key = true"), " asks for one.")));
    },
    at(page) {
      pages.filter((one) => !one.group).forEach((one) => {
        const item = items[pages.indexOf(one)];
        if (one.id === page) item.setAttribute("aria-current", "page");
        else item.removeAttribute("aria-current");
      });
      side.classList.remove("open");
    },
    show(content) { fill(main, content); },
    focus() { (main.querySelector("h1") ?? main).focus({ preventScroll: true }); },
    command(words, call) {
      command.hidden = !words && !call;
      fill(command, h("span.nowrap", "As a command"), h("code.cut.grow", { title: words }, words), words && copyButton(words, "Copy the command"),
        call && h("span.row", { style: { gap: "0" } }, "curl", copyButton(call, "Copy as curl")));
    },
  };
}

/** The head of a page. `crumbs`: [[words, address]]. */
export function pageHead(title, { says, crumbs, actions = [], before } = {}) {
  document.title = `${typeof title === "string" ? title.slice(0, 80) : "Troupe"} · Troupe`;
  return h("div.page-head", h("div.words", crumbs && h("nav.crumb", { "aria-label": "Above" }, crumbs.map(([words, href]) => [h("a", { href }, words), h("span", { "aria-hidden": "true" }, "/")])),
    h("div.row.wrap", h("h1", { tabindex: "-1" }, title), before), says && h("p", says)), h("div.actions", actions));
}

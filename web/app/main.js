// The beginning: the caller, the page, and what it needs.
import { h, fill } from "./dom.js";
import "./prefs.js";
import { get, onSignedOut, setKey, Problem } from "./api.js";
import { startRouter, redraw } from "./router.js";
import { makeShell, pageHead, pages } from "./shell.js";
import { openPalette, startKeys } from "./palette.js";
import { problem, skeleton, copy, empty, linkButton } from "./parts.js";
import { signIn } from "../pages/sign_in.js";

const makers = {
  "": () => import("../pages/overview.js"),
  runs: () => import("../pages/runs.js"),
  sandboxes: () => import("../pages/sandboxes.js"),
  tools: () => import("../pages/tools.js"),
  packages: () => import("../pages/packages.js"),
  variables: () => import("../pages/variables.js"),
  backends: () => import("../pages/backends.js"),
  access: () => import("../pages/access.js"),
  audit: () => import("../pages/audit.js"),
  settings: () => import("../pages/settings.js"),
};

/** What pages know of the caller. */
export const me = { self: null };

const shell = makeShell({
  openPalette,
  signOut: () => {
    setKey(null);
    me.self = null;
    askForKey();
  },
});

let asking = false;
function askForKey() {
  if (asking) return;
  asking = true;
  signIn(async () => {
    asking = false;
    await begin();
  });
}
onSignedOut(() => askForKey());

let drawn = 0;
async function show({ page, item, query }, signal) {
  if (!me.self) return;
  const turn = ++drawn;
  shell.at(page);
  const maker = makers[page];
  if (!maker) {
    shell.command();
    shell.show(h("div", pageHead("There is no such page"), empty("Lost?", `Nothing of this dashboard is at ${location.pathname}.`, linkButton("Overview", "./"))));
    return;
  }
  const wait = setTimeout(() => turn === drawn && shell.show(skeleton()), 150);
  try {
    const module = await maker();
    if (turn !== drawn) return;
    const made = await module.draw({ item, query, signal, me: me.self, command: (...all) => turn === drawn && shell.command(...all) });
    if (turn !== drawn) return;
    shell.show(made);
    shell.focus();
  } catch (why) {
    if (turn !== drawn || signal.aborted) return;
    // Another build of the engine serves other files than this page knows.
    const old = why instanceof TypeError && /import|module/i.test(why.message);
    shell.show(h("div", pageHead(item || pages.find((one) => one.id === page).words), old ? empty("The engine was updated", "Reload the page to get its dashboard.", h("button.button.primary", { onclick: () => location.reload() }, "Reload")) : problem(why, redraw)));
    shell.focus();
  } finally {
    clearTimeout(wait);
  }
}

let started = false;
async function begin() {
  try {
    me.self = await get("/v1/organizations/self");
  } catch (why) {
    if (why instanceof Problem && why.status === 401) return;
    fill(document.body, h("main", problem(why, begin)));
    return;
  }
  shell.mount();
  shell.caller(me.self);
  get("/openapi.json").then((document) => shell.caller(me.self, document.info.version), () => {});
  if (started) redraw();
  else {
    started = true;
    startKeys(copy);
    startRouter(show);
  }
}

// What was written and not saved is worth a question before it is lost.
addEventListener("beforeunload", (leaving) => {
  if (document.querySelector(".unsaved")) leaving.preventDefault();
});
begin();

// The dashboard in a real browser: `node dashboard_test.mjs TROUPE`. Exit 77 where
// there is no Chromium.
import assert from "node:assert/strict";
import { Browser, findChromium } from "./browser.mjs";
import { Engine, attack } from "./engine.mjs";

const chromium = findChromium();
if (!chromium) {
  console.log("skipped: no chromium; install the package `chromium`, or name one in $CHROMIUM");
  process.exit(77);
}

const engine = new Engine();
const browser = new Browser(chromium);
const wrong = []; // what no page may ever do
let told = true; // whether a refused request is a mistake

browser.listeners.push((method, params) => {
  if (method === "Network.requestWillBeSent") {
    const { url } = params.request;
    if (!url.startsWith(engine.url) && !/^(about|data|blob):/.test(url)) wrong.push(`asked elsewhere: ${url}`);
    if (engine.key && url.includes(engine.key)) wrong.push("the key is in an address");
  } else if (method === "Runtime.exceptionThrown") wrong.push(`exception: ${params.exceptionDetails.exception?.description ?? params.exceptionDetails.text}`);
  else if (method === "Log.entryAdded" && params.entry.level === "error" && told) wrong.push(`log: ${params.entry.text} ${params.entry.url ?? ""}`);
});

/** Another page of the same tab: reloading it would forget the key. */
async function show(path) {
  await browser.run(`document.querySelector("main > *")?.setAttribute("data-old", ""); history.pushState(null, "", ${JSON.stringify(`/ui/${path}`)}); dispatchEvent(new PopStateEvent("popstate"));`);
  await browser.until(`document.querySelector("main > :not([data-old]) h1") && !document.querySelector("main [aria-busy]") && location.pathname + location.search === ${JSON.stringify(`/ui/${path}`)}`, `the page ${path}`);
}

async function harmless(about) {
  const found = await browser.run(`({
    hit: window.hit ?? null,
    made: document.querySelectorAll("img[src=x], body script, [onerror], iframe:not([sandbox='allow-scripts'])").length,
    bidi: /[\\u202a-\\u202e]/.test(document.documentElement.textContent + document.title),
    wide: document.documentElement.scrollWidth > innerWidth,
  })`);
  assert.deepEqual(found, { hit: null, made: 0, bidi: false, wide: false }, about);
}
const seen = (text) => `document.querySelector("main").textContent.includes(${JSON.stringify(text)})`;
const visible = attack.replace("\u202e", "\u27e8202e\u27e9");

const cases = {
  async "asks for the key, and says when it does not count"() {
    told = false;
    await browser.go(`${engine.url}/ui/runs`);
    await browser.until(`document.querySelector("input[type=password]")`);
    await browser.run(`document.querySelector("input[type=password]").value = "troupe_wrong"; document.querySelector("form").requestSubmit()`);
    await browser.until(`document.querySelector("[role=alert]")`);
  },

  async "keeps the key in the memory of the page alone"() {
    await browser.run(`document.querySelector("input[type=password]").value = ${JSON.stringify(engine.key)}; document.querySelector("form").requestSubmit()`);
    await browser.until(`document.querySelector("main .list a.cover")`);
    told = true;
    const kept = await browser.run(`JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie, location.href, document.documentElement.outerHTML, Object.values(window).filter((one) => typeof one === "string")])`);
    assert.ok(!kept.includes(engine.key));
  },

  async "shows every page without a word of its policy being broken"() {
    for (const path of ["", "runs", "runs/new", "sandboxes", "tools", "tools/hostile", "tools/new", "packages", "variables", "backends", "access", "audit", "settings"]) {
      await show(path);
      await harmless(path);
    }
    assert.deepEqual(wrong, []);
  },

  async "says that an unknown page is none"() {
    await browser.run(`history.pushState(null, "", "/ui/nothing"); dispatchEvent(new PopStateEvent("popstate"));`);
    await browser.until(seen("There is no such page"));
  },

  async "shows names of tools, labels and descriptions as text"() {
    await show("tools");
    await browser.until(seen("<img src=x onerror="));
    await show("runs");
    await browser.until(seen("note=<img src=x"));
    await harmless("names");
  },

  async "shows output, errors and values as text"() {
    await show(`runs/${engine.failed}`);
    await browser.until(seen(`ValueError: ${visible}`));
    await show(`runs/${engine.failed}?tab=output`);
    await browser.until(seen(visible));
    assert.equal(await browser.run(`document.querySelector(".ansi-1")?.textContent`), "red");
    assert.notEqual(await browser.run(`document.title`), "title");
    await show(`runs/${engine.valued}`);
    await browser.until(seen("<script>window.hit=2"));
    for (const tab of ["request", "explain", "isolation", "network", "usage", "raw"]) await show(`runs/${engine.valued}?tab=${tab}`);
    await harmless("a run");
  },

  async "turns around no text with characters that do so"() {
    const shown = await browser.run(`import(document.querySelector("script[type=module]").src.replace("main.js", "dom.js")).then(({ plain }) => plain("a\\u202eb\\u0007c\\td\\n"))`);
    assert.equal(shown, "a\u27e8202e\u27e9b\u2407c\td\n");
  },

  async "runs code and follows it to its end"() {
    await show("runs/new");
    await browser.run(`(() => { const code = document.querySelector("main textarea.code"); code.value = "print('from the page')\\n6 * 7"; code.dispatchEvent(new Event("input")); [...document.querySelectorAll("main button")].find((one) => one.textContent === "Run").click(); })()`);
    await browser.until(`location.pathname.startsWith("/ui/runs/run-") && ${seen("succeeded")} && document.querySelector("[role=tab]")`, "the run succeeded");
    await browser.until(seen("42"));
  },

  async "tries a tool with a form made of its schema"() {
    await show("tools/hostile");
    await browser.run(`(() => { const word = document.querySelector("main input#arg0"); word.value = ${JSON.stringify(attack)}; [...document.querySelectorAll("main button")].find((one) => one.textContent === "Run").click(); })()`);
    await browser.until(`${seen("the whole run")} && ${seen(visible)}`, "the value of the tool");
    await harmless("a tool");
  },

  async "shows names of files as text"() {
    if (engine.without) return console.log(`  without a sandbox: ${engine.without}`);
    await show(`sandboxes/${engine.sandbox}?tab=files`);
    await browser.until(seen(visible.replaceAll("/", "_")));
    await harmless("files");
    for (const tab of ["processes", "ports", "snapshots", "events", "about"]) await show(`sandboxes/${engine.sandbox}?tab=${tab}`);
    return harmless("a sandbox");
  },

  async "lets the HTML of a cell reach nothing"() {
    if (engine.without) return;
    await show(`sandboxes/${engine.sandbox}`);
    const html = `<p id=p>shown</p><script>
      const said = [origin];
      try { said.push(String(parent.document)); } catch { said.push("no parent"); }
      try { said.push(String(localStorage)); } catch { said.push("no storage"); }
      try { said.push(document.cookie || "no cookie"); } catch { said.push("no cookie"); }
      try { top.location = "/ui/nothing"; } catch { said.push("no top"); }
      fetch("/v1/organizations/self").then(() => said.push("fetched"), () => said.push("no fetch")).then(() => parent.postMessage({ said: said.join() }, "*"));
    </script>`;
    told = false; // what the frame tries is refused, and the browser says so
    await browser.run(`window.heard = null; addEventListener("message", (got) => { if (got.data.said) window.heard = [got.data.said, got.origin]; })`);
    const code = `class Page:\n    def _repr_html_(self): return ${JSON.stringify(html)}\nPage()`;
    await browser.run(`(() => { const code = document.querySelector("main .cell textarea"); code.value = ${JSON.stringify(code)}; code.dispatchEvent(new Event("input")); code.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", shiftKey: true })); })()`);
    await browser.until("window.heard");
    assert.deepEqual(await browser.run("window.heard"), ["null,no parent,no storage,no cookie,no top,no fetch", "null"]);
    assert.ok(await browser.run(`location.pathname.startsWith("/ui/sandboxes/")`));
    told = true;
    await harmless("a cell");
  },

  async "shows a new key once, and the value of a variable never"() {
    const press = (words, within) => `[...document.querySelectorAll("${within} button")].find((one) => one.textContent === "${words}").click()`;
    await show("access");
    await browser.run(press("New key", "main"));
    await browser.until(`document.querySelector("dialog input")`);
    await browser.run(`document.querySelector("dialog input").value = "once"; ${press("Create", "dialog")}`);
    await browser.until(`document.querySelector("dialog code.key")`);
    const made = await browser.run(`document.querySelector("dialog code.key").textContent`);
    await browser.run(press("I have it", "dialog"));
    await browser.until(`!document.querySelector("dialog code.key")`);
    assert.ok(!(await browser.run("document.documentElement.outerHTML")).includes(made));
    await engine.ask("POST", "/v1/sandbox-configs/default", { type: "local" });
    await show("variables");
    await browser.run(press("Set a variable", "main"));
    await browser.until(`document.querySelectorAll("dialog input").length === 3`);
    await browser.run(`(() => { const [name, value] = document.querySelectorAll("dialog input"); name.value = "TOKEN"; value.value = "never-seen-again"; })(); ${press("Set", "dialog")}`);
    await browser.until(seen("TOKEN"));
    assert.ok(!(await browser.run("document.documentElement.outerHTML")).includes("never-seen-again"));
  },

  async "is led by the keyboard"() {
    await show("");
    const press = (key, more = "") => browser.run(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: ${JSON.stringify(key)}, bubbles: true, cancelable: true ${more} }))`);
    await press("g");
    await press("r");
    await browser.until(`location.pathname === "/ui/runs" && document.querySelector("main h1")?.textContent === "Runs" && document.querySelector("main .list a.cover")`);
    await press("j");
    assert.ok(await browser.run(`document.activeElement.matches("a.cover")`));
    await press("k", ", ctrlKey: true");
    await browser.until(`document.querySelector("dialog.palette[open]")`);
    await browser.run(`(() => { const word = document.querySelector("dialog input"); word.value = "host"; word.dispatchEvent(new Event("input")); })()`);
    await browser.until(`document.querySelector("dialog [role=option]")?.textContent.includes("hostile")`);
    await press("Enter");
    await browser.until(`location.pathname === "/ui/tools/hostile"`);
  },

  async "fits a phone"() {
    await browser.send("Emulation.setDeviceMetricsOverride", { width: 360, height: 740, deviceScaleFactor: 1, mobile: true });
    for (const path of ["", "runs", `runs/${engine.failed}`, "tools/hostile", "access", "audit", "settings"]) {
      await show(path);
      await harmless(`${path} at 360 px`);
    }
    await browser.send("Emulation.clearDeviceMetricsOverride");
  },

  async "says when the engine is gone"() {
    assert.deepEqual(wrong, []);
    told = false;
    await show("runs");
    await engine.stop();
    await browser.until(`!document.querySelector(".notice.bad").hidden`);
  },
};

let failed = 0;
try {
  await engine.start(process.argv[2]);
  await engine.fill();
  await browser.open();
  for (const [name, run] of Object.entries(cases)) {
    const from = Date.now();
    try {
      await run();
      console.log(`ok   ${name} (${Date.now() - from} ms)`);
    } catch (why) {
      ++failed;
      console.log(`FAIL ${name}: ${why.stack}`);
    }
  }
  for (const one of wrong) console.log(`  ${one}`);
} finally {
  await browser.close();
  await engine.remove();
}
process.exit(failed ? 1 : 0);

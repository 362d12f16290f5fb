// A Chromium of our own, told what to do over a pipe: no package, no port.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
export const findChromium = () => [process.env.CHROMIUM, ...places].find((one) => one && existsSync(one));

export class Browser {
  constructor(program) {
    this.folder = mkdtempSync(join(tmpdir(), "troupe-web-"));
    this.child = spawn(program, ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-extensions", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", `--user-data-dir=${this.folder}`, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.last = 0;
    this.waiting = new Map();
    this.listeners = [];
    let rest = "";
    this.child.stdio[4].setEncoding("utf8").on("data", (more) => {
      const parts = (rest + more).split("\0");
      rest = parts.pop();
      for (const part of parts) this.take(JSON.parse(part));
    });
  }

  take(message) {
    const waits = this.waiting.get(message.id);
    if (waits) {
      this.waiting.delete(message.id);
      if (message.error) waits.fail(new Error(message.error.message));
      else waits.done(message.result);
    } else for (const told of this.listeners) told(message.method, message.params);
  }

  send(method, params = {}) {
    const id = ++this.last;
    this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId: this.session }) + "\0");
    return new Promise((done, fail) => this.waiting.set(id, { done, fail }));
  }

  /** One tab, with ears for what must not happen. */
  async open() {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    this.session = (await this.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    for (const part of ["Page", "Runtime", "Network", "Log"]) await this.send(`${part}.enable`);
  }

  async go(url) {
    const loaded = new Promise((done) => this.listeners.push((method) => method === "Page.loadEventFired" && done()));
    await this.send("Page.navigate", { url });
    await loaded;
  }

  /** The value of an expression, which may be a promise. */
  async run(expression) {
    const answer = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (answer.exceptionDetails) throw new Error(answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text);
    return answer.result.value;
  }

  /** Until the page says so; after eight seconds it never does. */
  async until(expression, about = expression) {
    const found = await this.run(`new Promise((done) => {
      const until = performance.now() + 8000;
      const look = () => {
        let is = false;
        try { is = Boolean(${expression}); } catch { is = false; }
        if (is || performance.now() > until) done(is);
        else setTimeout(look, 25);
      };
      look();
    })`);
    if (!found) throw new Error(`never true: ${about}; the page says: ${(await this.run("document.body.innerText")).slice(0, 600)}`);
  }

  async close() {
    const gone = new Promise((done) => this.child.once("exit", done));
    const late = setTimeout(() => this.child.kill("SIGKILL"), 3000);
    this.session = undefined;
    this.send("Browser.close").catch(() => {});
    await gone;
    clearTimeout(late);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

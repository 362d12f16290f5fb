// An engine of its own that asks for a key, and what hostile tools leave in it.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs where it is taken for markup, and is looked for as text. */
export const attack = `<img src=x onerror="window.hit=1"><script>window.hit=2</script>"'>\u202etxt.exe`;

export class Engine {
  async start(program) {
    this.folder = mkdtempSync(join(tmpdir(), "troupe-web-data-"));
    const own = { ...process.env, TROUPE_CONFIG_FILE: "/dev/null" };
    this.key = execFileSync(program, ["key", "create", "tester", "--scope", "run,config,admin,operator", `--engine.data-dir=${this.folder}`], { env: own, encoding: "utf8" }).match(/troupe_[\w-]+/)[0];
    this.child = spawn(program, ["serve", "--listen", "127.0.0.1:0", "--data-dir", this.folder, "--http.require-key=true"], { env: own, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    this.url = await new Promise((done, fail) => {
      const listen = (more) => {
        said += more;
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
        if (found) done(found[0]);
      };
      this.child.stdout.setEncoding("utf8").on("data", listen);
      this.child.stderr.setEncoding("utf8").on("data", listen);
      this.child.once("exit", () => fail(new Error(`the engine ended: ${said}`)));
    });
  }

  async ask(method, path, body, type = "application/json") {
    const answer = await fetch(this.url + path, { method, body: body === undefined || type !== "application/json" ? body : JSON.stringify(body), headers: { authorization: `Bearer ${this.key}`, ...(body === undefined ? {} : { "content-type": type }) } });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /** A tool, runs and a sandbox whose every free text is an attack. */
  async fill() {
    const quoted = JSON.stringify(attack);
    await this.ask("PUT", "/v1/tools", { source_type: "python", tags: [attack.slice(0, 40)], source_code: `def hostile(word: str = "x") -> str:\n    """Says it.\n\n    Args:\n        word: A word.\n    """\n    return word\n`, description: attack });
    this.failed = (await this.ask("POST", "/v1/runs", { code: `import sys\nprint(${quoted})\nprint("\\033[31mred\\033[0m\\033]0;title\\007", file=sys.stderr)\nraise ValueError(${quoted})`, labels: { note: attack.slice(0, 60) } })).id;
    this.valued = (await this.ask("POST", "/v1/runs", { source: `def f():\n    return {${quoted}: [${quoted}]}\n` })).id;
    let sandbox;
    try {
      sandbox = await this.ask("POST", "/v1/sandboxes", { name: "shop", timeout: 600, metadata: { note: attack.slice(0, 60) } });
    } catch (why) {
      return void (this.without = why.message); // a host that cannot isolate
    }
    this.sandbox = sandbox.id;
    const made = await this.ask("POST", `/v1/sandboxes/${sandbox.id}/exec`, { argv: ["touch", `/home/user/${attack.replaceAll("/", "_")}`] });
    if (made.exit_code !== 0) throw new Error(`touch: ${made.stderr}`);
    return undefined;
  }

  stop() {
    if (this.child.exitCode !== null) return Promise.resolve();
    const gone = new Promise((done) => this.child.once("exit", done));
    this.child.kill("SIGTERM");
    return gone;
  }

  async remove() {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

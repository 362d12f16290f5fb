// run.mjs BINARY WORK [TRANSPILER]: all tests of the client, against the engine that
// was built. Exit code 77: there is nothing here that erases types.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { stripAll, stripper } from "../make/strip.mjs";

// A current Node, where ./dev has brought one for the engine.
const { PATH, TROUPE_LOCAL_NODE } = process.env;
const surroundings = TROUPE_LOCAL_NODE ? { PATH, TROUPE_LOCAL_NODE } : { PATH };
const [binary, work, transpiler] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const strip = stripper(transpiler && path.resolve(transpiler));
if (!strip) {
  console.log("skipped: neither Node (22.13 and later) nor the build can erase types here");
  process.exit(77);
}
const compiled = path.resolve(work, "stripped");
fs.rmSync(compiled, { recursive: true, force: true });
fs.mkdirSync(compiled, { recursive: true });
stripAll(compiled, strip);

const { server, operator, stop } = await startEngine();
const files = fs.readdirSync(here).filter((name) => name.endsWith(".test.mjs")).map((name) => path.join(here, name));
const tests = spawn(process.execPath, ["--test", ...files], {
  stdio: "inherit",
  env: {
    PATH, TEST_ENGINE: server, TEST_OPERATOR: operator, TEST_CLIENT: compiled,
    TEST_TRANSPILER: transpiler ? path.resolve(transpiler) : "",
  },
});
tests.on("exit", async (code) => {
  await stop();
  process.exit(code ?? 1);
});

async function startEngine() {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-sdk-"));
  const data = path.join(directory, "data");
  const engine = spawn(path.resolve(binary), ["serve", "--http.listen=127.0.0.1:0", "--data-dir", data,
    "--engine.drain-timeout=1s"], { cwd: directory, env: surroundings, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    const listen = (piece) => {
      said += piece;
      const found = /serves (http:\/\/\S+)/.exec(said);
      if (found) resolve(found[1]);
    };
    engine.stdout.on("data", listen);
    engine.stderr.on("data", listen);
    engine.on("exit", () => reject(new Error(`the engine did not start:\n${said}`)));
  });
  engine.removeAllListeners("exit");
  return {
    server: url,
    operator: path.join(data, "operator.sock"),
    stop: () => new Promise((resolve) => {
      engine.on("exit", () => {
        fs.rmSync(directory, { recursive: true, force: true });
        resolve();
      });
      engine.kill("SIGTERM");
    }),
  };
}

// The official E2B clients, unmodified, against the server whose address is the
// first argument. Everything happens in sandboxes of its own.
import assert from "node:assert/strict";
import { NotFoundError, Sandbox } from "@e2b/code-interpreter";

const address = process.argv[2];
if (!address) throw new Error("usage: node client_test.mjs <address>");
const how = { apiUrl: address, sandboxUrl: address, apiKey: `e2b_${"0".repeat(40)}` };

const sandbox = await Sandbox.create({ ...how, metadata: { purpose: "a test" }, envs: { GIVEN: "1" } });
try {
  assert.equal(await sandbox.isRunning(), true);

  // commands
  const said = await sandbox.commands.run("echo out; echo err >&2; echo $GIVEN $E2B_SANDBOX; pwd");
  assert.equal(said.stdout, "out\n1 true\n/home/user\n");
  assert.equal(said.stderr, "err\n");
  await assert.rejects(sandbox.commands.run("exit 3"), (why) => why.exitCode === 3);
  await assert.rejects(sandbox.commands.run("sleep 60", { timeoutMs: 300 }), { name: "TimeoutError" });
  const echo = await sandbox.commands.run("cat", { background: true, stdin: true });
  await sandbox.commands.sendStdin(echo.pid, "typed\n");
  await sandbox.commands.closeStdin(echo.pid);
  assert.equal((await echo.wait()).stdout, "typed\n");
  const sleeper = await sandbox.commands.run("sleep 60", { background: true });
  assert.ok((await sandbox.commands.list()).some((each) => each.pid === sleeper.pid));
  const again = await sandbox.commands.connect(sleeper.pid);
  assert.equal(await sleeper.kill(), true);
  await assert.rejects(again.wait(), (why) => why.exitCode === -1);
  assert.equal(await sandbox.commands.kill(sleeper.pid), false);

  // files
  const name = "folder/a é.txt";
  await sandbox.files.write(name, "content é");
  assert.equal(await sandbox.files.read(name), "content é");
  const about = await sandbox.files.getInfo(name);
  assert.equal(about.path, `/home/user/${name}`);
  assert.equal(about.size, 10);
  assert.equal(await sandbox.files.makeDir("folder/in"), true);
  assert.equal(await sandbox.files.makeDir("folder/in"), false);
  await sandbox.files.rename(name, "folder/in/b.txt");
  const all = await sandbox.files.list("folder", { depth: 2 });
  assert.deepEqual(all.map((each) => each.path), ["/home/user/folder/in", "/home/user/folder/in/b.txt"]);
  await sandbox.files.write([{ path: "one", data: "1" }, { path: "two", data: "2" }]);
  assert.equal(await sandbox.files.exists("two"), true);
  await sandbox.files.remove("two");
  assert.equal(await sandbox.files.exists("two"), false);
  await assert.rejects(sandbox.files.read("two"), NotFoundError);
  const seen = [];
  const watch = await sandbox.files.watchDir("folder", (event) => seen.push(event.name));
  await sandbox.files.write("folder/new.txt", "x");
  for (let i = 0; i < 100 && !seen.includes("new.txt"); ++i) await new Promise((done) => setTimeout(done, 50));
  assert.ok(seen.includes("new.txt"));
  await watch.stop();
  assert.equal(await (await fetch(await sandbox.downloadUrl("one"))).text(), "1");

  // a terminal
  let shown = "";
  const terminal = await sandbox.pty.create({ cols: 91, rows: 17, onData: (bytes) => (shown += Buffer.from(bytes).toString()) });
  await sandbox.pty.sendInput(terminal.pid, new TextEncoder().encode("stty size; exit\n"));
  await terminal.wait();
  assert.match(shown, /17 91/);

  // cells
  const value = await sandbox.runCode("  x = 20\n  print('é')\n  x + 1");
  assert.equal(value.text, "21");
  assert.deepEqual(value.logs.stdout, ["é\n"]);
  assert.equal((await sandbox.runCode("x + 2")).text, "22");
  assert.equal((await sandbox.runCode("1 / 0")).error.name, "ZeroDivisionError");
  const own = await sandbox.runCode("import os; os.environ['OWN']", { envs: { OWN: "it's" } });
  assert.equal(own.text, "it's");
  assert.equal((await sandbox.runCode("os.environ.get('OWN', 'gone')")).text, "gone");
  assert.equal((await sandbox.runCode("const y = 2; y * 21", { language: "js" })).text, "42");
  const context = await sandbox.createCodeContext({ cwd: "/tmp" });
  assert.equal((await sandbox.runCode("import os; os.getcwd()", { context })).text, "/tmp");
  await sandbox.removeCodeContext(context);

  // its life
  const before = await sandbox.getInfo();
  assert.equal(before.state, "running");
  assert.deepEqual(before.metadata, { purpose: "a test" });
  await sandbox.setTimeout(120_000);
  const query = { ...how, query: { metadata: { purpose: "a test" } } };
  assert.ok((await Sandbox.list(query).nextItems()).some((each) => each.sandboxId === sandbox.sandboxId));
  await sandbox.pause();
  assert.equal(await sandbox.isRunning(), false);
  await sandbox.connect();
  assert.equal((await sandbox.runCode("x")).text, "20");
  await assert.rejects(Sandbox.create("no-such-template", how), /404/);
} finally {
  assert.equal(await sandbox.kill(), true);
}
assert.equal(await sandbox.kill(), false);
assert.equal(await sandbox.isRunning(), false);
console.log("the official E2B clients: all calls answered");

// Living sandboxes, at a real engine.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { all, sdk, troupe } from "./support.mjs";

const t = troupe();
let sandbox;

before(async () => {
  sandbox = await t.sandboxes.create({ timeout: 120, env: { GREETING: "hi" } });
});
after(() => sandbox.delete());

test("programs run to their end", async () => {
  const done = await sandbox.exec("echo $GREETING; cat", { stdin: "in" });
  assert.deepEqual([done.ok, done.stdout], [true, "hi\nin"]);
  assert.equal((await sandbox.exec(["sh", "-c", "exit 3"], { cwd: "/tmp" })).exit_code, 3);
  await assert.rejects(sandbox.exec("echo bad >&2; exit 4", { check: true }), (error) =>
    error instanceof sdk.CommandFailed && error.exit_code === 4 && /bad/.test(error.message));
});

test("processes run beside each other", async () => {
  const process = await sandbox.start("read x; echo got $x", { open_stdin: true });
  await assert.rejects(process.wait({ timeoutMs: 50 }), sdk.WaitTimeout);
  await process.send("this\n");
  assert.equal((await all(process)).join(""), "got this\n");
  assert.equal((await process.wait()).exit_code, 0);
  assert.equal((await process.read({ offset: 4 })).data, "this\n");
  const reader = await sandbox.start("cat; echo end", { open_stdin: true });
  await reader.closeStdin();
  assert.equal((await all(reader)).join(""), "end\n");
  const sleeper = await sandbox.start(["sleep", "60"], { tag: "sleeper" });
  await sleeper.signal("TERM");
  assert.equal((await sleeper.wait()).signal, 15);
  assert.ok((await sandbox.processes()).some((one) => one.info.tag === "sleeper"));
  await sleeper.kill();
  await assert.rejects(sleeper.refresh(), sdk.NotFound);
});

test("files are written and read", async () => {
  const { files } = sandbox;
  await files.write("/tmp/there/a b%.txt", "grüße");
  assert.equal(await files.read("/tmp/there/a b%.txt"), "grüße");
  assert.deepEqual((await files.list("/tmp/there")).map((one) => one.name), ["a b%.txt"]);
  await files.move("/tmp/there/a b%.txt", "/tmp/there/c");
  assert.equal((await files.readBytes("/tmp/there/c")).length, 7);
  assert.equal((await files.stat("/tmp/there/c")).bytes, 7);
  await files.mkdir("/tmp/more/of/it");
  await files.remove("/tmp/there");
  assert.equal(await files.exists("/tmp/there"), false);
});

test("cells keep what they define", async () => {
  await sandbox.run("x = 20");
  let heard = "";
  const cell = await sandbox.run("print('out')\nx + 1", { onStdout: (text) => heard += text });
  assert.deepEqual([cell.ok, cell.text, cell.stdout, heard], [true, "21", "out\n", "out\n"]);
  assert.equal((await sandbox.run("1/0", { onStderr: () => {} })).error.name, "ZeroDivisionError");
  assert.equal((await sandbox.run("const y: number = 2; y + 1", { language: "typescript" })).text, "3");
});

test("contexts are apart", async () => {
  const context = await sandbox.contexts.create({ language: "python", name: "mine" });
  await context.run("y = 1");
  assert.equal((await context.run("y")).text, "1");
  assert.equal((await sandbox.run("y")).error.name, "NameError");
  assert.deepEqual((await all(context.stream("print(2)\n3"))).map((one) => one.type), ["stdout", "result", "end"]);
  let last;
  for await (const event of context.stream("print(1)\nimport time\ntime.sleep(60)")) {
    if (event.type === "stdout") assert.equal(await context.interrupt(), true);
    last = event;
  }
  assert.deepEqual([last.status, last.state], ["interrupted", "kept"]);
  await context.restart();
  assert.equal((await context.run("y")).error.name, "NameError");
  assert.ok((await sandbox.contexts.list()).some((one) => one.info.name === "mine"));
  await context.delete();
});

test("a server inside is asked from outside", async () => {
  await sandbox.files.write("/tmp/web/hello.txt", "hello");
  const server = await sandbox.start("python3 -m http.server 8123", { cwd: "/tmp/web" });
  await sandbox.ports.wait(8123);
  assert.equal(await (await sandbox.ports.request(8123, "/hello.txt")).text(), "hello");
  const url = await sandbox.ports.url(8123);
  assert.equal((await fetch(url)).status, 200);
  await sandbox.ports.close(8123);
  await server.kill();
});

test("it is found by its labels, renewed and ended", async () => {
  const one = await t.sandboxes.create({ metadata: { of: "labels" } });
  const found = await t.sandboxes.list({ metadata: { of: "labels" } }).all();
  assert.deepEqual(found.map(({ id }) => id), [one.id]);
  assert.equal((await one.renew("10m")).timeout, 600);
  assert.equal((await one.change({ metadata: { a: "b" } })).metadata.a, "b");
  await one.delete();
  await assert.rejects(one.refresh(), sdk.Gone);
  await one.delete(); // a second time nothing happens
});

test("it is paused and resumed", async () => {
  const one = await t.sandboxes.create();
  await one.run("z = 5");
  assert.equal((await one.pause()).state, "paused");
  assert.equal((await one.resume()).state, "running");
  await one.pause();
  assert.equal((await t.sandboxes.connect(one.id)).info.state, "running");
  assert.equal((await one.run("z")).text, "5");
  assert.ok((await all(one.events())).some((event) => event.state === "paused"));
  await one.delete();
});

test("its files are kept, forked and put back", async () => {
  const one = await t.sandboxes.create();
  await one.files.write("/tmp/a", "1");
  const snapshot = await one.snapshot("first");
  await one.files.write("/tmp/a", "2");
  const copies = await one.fork(2);
  for (const copy of copies) {
    assert.equal(await copy.files.read("/tmp/a"), "2");
    await copy.delete();
  }
  await one.rollback("first");
  assert.equal(await one.files.read("/tmp/a"), "1");
  assert.equal((await t.snapshots.get("first")).id, snapshot.id);
  assert.ok((await t.snapshots.list()).some(({ id }) => id === snapshot.id));
  await t.snapshots.delete(snapshot.id);
  await one.delete();
});

// Runs and tools, at a real engine.
import assert from "node:assert/strict";
import test from "node:test";
import { all, sdk, troupe } from "./support.mjs";

const t = troupe();

test("a snippet has a value and output", async () => {
  const result = await t.run("print('hi')\n6 * 7", { labels: { of: "snippet" } });
  assert.deepEqual([result.value, result.stdout, result.ok], [42, "hi\n", true]);
  const found = await t.runs.list({ labels: { of: "snippet" } }).all();
  assert.deepEqual(found.map((run) => run.id), [result.id]);
});

test("a failure is a result", async () => {
  const result = await t.run("1 / 0");
  assert.deepEqual([result.ok, result.reason, result.error.name], [false, "raised", "ZeroDivisionError"]);
});

test("a timeout is kept by the engine", async () => {
  assert.equal((await t.run("import time; time.sleep(60)", { timeout: 0.2 })).status, "timeout");
});

test("bytes come back as bytes", async () => {
  assert.deepEqual((await t.run(String.raw`b'\x00\xff'`)).value, new Uint8Array([0, 255]));
  assert.deepEqual((await t.run(String.raw`{'a': [b'\xff']}`)).value, { a: [new Uint8Array([255])] });
});

test("files go in and out", async () => {
  const result = await t.run({ command: "tr a-z A-Z <in.txt >out.txt", outputs: ["out.txt"],
    files: { "in.txt": new TextEncoder().encode("hello") } });
  assert.equal(result.files[0].text, "HELLO");
});

test("output comes while it runs", async () => {
  const events = await all(t.stream("for i in range(3): print(i, flush=True)"));
  assert.equal(events.filter((e) => e.type === "stdout").map((e) => e.data).join(""), "0\n1\n2\n");
  assert.equal(events.at(-1).type, "end");
});

test("leaving a stream ends the run", async () => {
  for await (const event of t.stream("import time\nprint(1, flush=True)\ntime.sleep(60)",
    { labels: { of: "left" } })) {
    if (event.type === "stdout") break;
  }
  assert.equal((await ended("left")).status, "cancelled");
});

test("a signal ends the run", async () => {
  const leaving = new AbortController();
  const run = t.run("import time; time.sleep(60)", { signal: leaving.signal, labels: { of: "signal" } });
  while ((await t.runs.list({ labels: { of: "signal" } }).all()).length === 0);
  leaving.abort();
  await assert.rejects(run, { name: "AbortError" });
  assert.equal((await ended("signal")).status, "cancelled");
});

async function ended(of) {
  const until = Date.now() + 10_000;
  for (;;) {
    const [run] = await t.runs.list({ labels: { of } }).all();
    if (run.phase === "ended") return run;
    assert.ok(Date.now() < until);
  }
}

test("a run can go on by itself", async () => {
  const run = await t.start("import time\nprint(1, flush=True)\ntime.sleep(0.3)\n5");
  await assert.rejects(run.wait({ timeoutMs: 10 }), sdk.WaitTimeout);
  assert.equal((await run.wait()).value, 5);
  assert.equal((await run.get()).phase, "ended");
  assert.equal((await run.logs()).stdout, "1\n");
  assert.equal((await all(run.events())).at(-1).type, "end");
  assert.equal((await (await run.rerun()).wait({ timeoutMs: 30_000 })).value, 5);
  assert.ok((await run.request()).code);
});

test("a run can be cancelled", async () => {
  const run = await t.start("import time; time.sleep(60)");
  await run.cancel();
  assert.equal((await run.wait({ timeoutMs: 10_000 })).status, "cancelled");
});

test("a key runs nothing twice", async () => {
  const once = { key: "once-only-ts" };
  const [first, again] = [await t.run("import random; random.random()", once),
    await t.run("import random; random.random()", once)];
  assert.deepEqual([first.id, first.value], [again.id, again.value]);
});

test("many run at a time and in order", async () => {
  const runs = Array.from({ length: 12 }, (_, i) => ({ code: i === 3 ? "1/0" : `${i} * 2` }));
  const items = await all(t.batch(runs, { concurrency: 4, ordered: true }));
  assert.deepEqual(items.map((item) => item.index), runs.map((_, i) => i));
  assert.deepEqual([items[11].result.value, items[3].result.ok], [22, false]);
});

test("a stored tool is called by its name", async () => {
  const source_code = 'def sum_of(a: int, b: int = 1) -> int:\n    """Adds."""\n    return a + b\n';
  const stored = await t.tools.put({ source_code, tags: ["ts"] });
  assert.deepEqual([stored.name, stored.description], ["sum_of", "Adds."]);
  assert.equal(await t.call("sum_of", { a: 2, b: 40 }), 42);
  assert.equal(await t.tool("sum_of", { timeout: 5 })({ a: 1 }), 2);
  assert.deepEqual((await t.tools.list({ tag: "ts" }).all()).map((tool) => tool.name), ["sum_of"]);
  const changed = await t.tools.update("sum_of", { description: "Sums." }, { revision: stored.revision });
  assert.equal(changed.description, "Sums.");
  await assert.rejects(t.tools.update("sum_of", { description: "" }, { revision: stored.revision }), sdk.Conflict);
  assert.equal((await t.tools.deriveSchema(source_code)).name, "sum_of");
  await assert.rejects(t.call("sum_of", { a: null }), sdk.Invalid);
  await t.tools.delete("sum_of");
  await assert.rejects(t.tools.get("sum_of"), sdk.NotFound);
});

test("a tool that fails is thrown with its result", async () => {
  await t.tools.put({ source_code: "def breaks():\n    '''Breaks.'''\n    raise KeyError('x')\n" });
  await assert.rejects(t.call("breaks"), (error) =>
    error instanceof sdk.ToolFailed && error.result.error.name === "KeyError" && /KeyError/.test(error.message));
});

test("what would happen is explained", async () => {
  assert.equal((await t.explain("1")).candidates[0], "local");
});

// Configs, variables, keys and the rest, at a real engine.
import assert from "node:assert/strict";
import http from "node:http";
import test from "node:test";
import util from "node:util";
import { engine, sdk, Troupe, troupe } from "./support.mjs";

const t = troupe();

test("variables of a config reach its runs", async () => {
  const variables = t.variables("local");
  await variables.set("SDK_WORD", "secret-word", "for a test");
  assert.equal((await t.run({ command: "echo $SDK_WORD" })).stdout, "secret-word\n");
  await variables.update("SDK_WORD", { name: "SDK_NAME" });
  assert.deepEqual((await variables.list()).map((one) => one.key), ["SDK_NAME"]);
  await variables.delete("SDK_NAME");
});

test("variables of an agent are for its runs alone", async () => {
  const agent_id = "agent-00000000-0000-4000-8000-000000000002";
  const variables = t.agentVariables(agent_id);
  await variables.set({ SDK_A: "1", SDK_B: "2" });
  await variables.delete("SDK_B");
  assert.deepEqual((await variables.list()).map((one) => one.key), ["SDK_A"]);
  assert.equal((await t.run({ command: "echo $SDK_A" })).stdout, "\n");
  assert.equal((await t.run({ command: "echo $SDK_A" }, { agent_id })).stdout, "1\n");
  await variables.replace({});
});

test("configs change with their revision", async () => {
  const { id, revision } = await t.configs.default("local");
  assert.equal((await t.configs.update(id, { use_venv: false }, { revision })).type, "local");
  assert.ok((await t.configs.list().all()).some((one) => one.id === id));
  const other = await t.configs.put("daytona", {});
  await t.configs.delete(other.id);
  await assert.rejects(t.configs.get(other.id), sdk.NotFound);
});

test("the engine tells of itself", async () => {
  assert.deepEqual((await t.backends.list()).filter((one) => one.ready).map((one) => one.name), ["local"]);
  assert.equal((await t.organizations.self()).can_run, true);
  await t.run("1");
  assert.equal((await t.audit.last(1)).length, 1);
  assert.deepEqual(await t.packageSets.list().all(), []);
});

test("a key is in no text of the client", async () => {
  const key = await newKey();
  const keyed = new Troupe({ baseUrl: engine, apiKey: key });
  assert.ok((await keyed.organizations.self()).key_id);
  const refusal = await keyed.keys.list().all().catch((error) => error);
  assert.ok(refusal instanceof sdk.Forbidden);
  for (const text of [util.inspect(keyed, { depth: 9, showHidden: true }), JSON.stringify(keyed),
    util.inspect(refusal, { depth: 9 })]) {
    assert.ok(!text.includes(key));
  }
  await assert.rejects(new Troupe({ baseUrl: engine, apiKey: "wrong" }).run("1"), sdk.Unauthorized);
});

/** By the operators' socket, which needs no key and which fetch cannot reach. */
function newKey() {
  return new Promise((resolve, reject) => {
    const request = http.request({
      socketPath: process.env.TEST_OPERATOR, path: "/v1/keys", method: "POST",
      headers: { host: "localhost", "content-type": "application/json" },
    }, (response) => {
      let text = "";
      response.on("data", (piece) => text += piece);
      response.on("end", () => resolve(JSON.parse(text).key));
    });
    request.on("error", reject);
    request.end(JSON.stringify({ name: "ci", scopes: ["run"] }));
  });
}

test("a key does not belong into an address", () => {
  for (const baseUrl of ["http://user:key@127.0.0.1", "http://127.0.0.1/?key=x", "ftp://127.0.0.1"]) {
    assert.throws(() => new Troupe({ baseUrl }), TypeError);
  }
});

test("an engine that is not there is said so", async () => {
  // A port that was free a moment ago.
  const server = http.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.on("listening", resolve));
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  await new Promise((resolve) => server.close(resolve));
  await assert.rejects(new Troupe({ baseUrl, maxRetries: 0 }).run("1"),
    (error) => error instanceof sdk.ConnectError && /TROUPE_SERVER/.test(error.message));
});

// The official Letta client, unmodified, against a server whose base URL is
// the first argument; with "served" as the second one its runs are real, and
// not played by an engine that gives every argument back. Every step is counted; the whole is run twice in a row
// on the same server, so nothing may depend on a fresh start.
import assert from "node:assert/strict";
import Letta from "@letta-ai/letta-client";

const base = process.argv[2];
if (!base) throw new Error("usage: node client_test.mjs <base URL>");
const served = process.argv[3] === "served";
const client = new Letta({ baseURL: base, apiKey: "a-key-for-letta", maxRetries: 0 });

let steps = 0;
const step = async (name, what) => {
  try {
    const value = await what();
    ++steps;
    return value;
  } catch (error) {
    error.message = `${name}: ${error.message}`;
    throw error;
  }
};
const fails = (status, what) =>
  assert.rejects(what, (error) => {
    assert.equal(error.status, status, error.message);
    assert.equal(typeof error.error.detail, "string");
    return true;
  });
const collect = async (pages) => {
  const all = [];
  for await (const item of pages) all.push(item);
  return all;
};

const id = (prefix) => new RegExp(`^${prefix}-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`);
// What it is given is what it returns: a dictionary.
const source = (name) => `def ${name}(a: int, b: int) -> dict:
    """Gives its arguments back.

    Args:
        a (int): The first.
        b (int): The second.
    """
    return {"a": a, "b": b}
`;
const typescript = "export function shout(text: string): string { return text.toUpperCase(); }";
const schema = (name) => ({
  name,
  description: "Described by hand.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
});

async function tools() {
  const first = await step("create", () => client.tools.create({ source_code: source("give_back"), tags: ["compat"] }));
  assert.match(first.id, id("tool"));
  assert.equal(first.name, "give_back");
  assert.equal(first.tool_type, "custom");
  assert.equal(first.return_char_limit, 50000);
  assert.deepEqual(first.tags, ["compat"]);
  assert.equal(first.json_schema.name, "give_back");
  assert.ok("metadata_" in first && "project_id" in first && "created_by_id" in first);

  const again = await step("create again is an upsert", () => client.tools.create({ source_code: source("give_back") }));
  assert.equal(again.id, first.id);
  assert.deepEqual(again.tags, ["compat"], "empty tags take nothing away");
  const upserted = await step("upsert", () =>
    client.tools.upsert({ source_code: source("give_back"), description: "Better.", return_char_limit: 1000 }));
  assert.equal(upserted.id, first.id);
  assert.equal(upserted.description, "Better.");
  assert.equal(upserted.return_char_limit, 1000);

  const second = await step("a second tool", () => client.tools.create({ source_code: source("second_tool") }));
  const script = await step("a TypeScript tool", () =>
    client.tools.create({ source_code: typescript, source_type: "typescript", json_schema: schema("shout") }));
  assert.equal(script.name, "shout");
  assert.equal(script.source_type, "typescript");
  await step("TypeScript needs a schema", () =>
    fails(422, () => client.tools.create({ source_code: typescript, source_type: "typescript" })));
  await step("unknown members are refused", () =>
    fails(422, () => client.tools.create({ source_code: source("x"), name: "x" })));
  await step("source is needed", () => fails(422, () => client.tools.create({})));
  await step("source without a function", () => fails(400, () => client.tools.create({ source_code: "x = 1" })));

  const found = await step("retrieve", () => client.tools.retrieve(first.id));
  assert.equal(found.name, "give_back");
  await step("retrieve a missing one", () =>
    fails(404, () => client.tools.retrieve("tool-00000000-0000-4000-8000-000000000000")));

  const all = await step("list", () => collect(client.tools.list()));
  assert.deepEqual(new Set(all.map((t) => t.name)), new Set(["give_back", "second_tool", "shout"]));
  const paged = await step("list in pages of one", () => collect(client.tools.list({ limit: 1 })));
  assert.equal(paged.length, 3);
  const named = await step("list by name", () => collect(client.tools.list({ name: "shout" })));
  assert.equal(named.length, 1);
  const several = await step("list by names", () => collect(client.tools.list({ names: ["shout", "second_tool"] })));
  assert.equal(several.length, 2);
  const matched = await step("list by a part of the name", () => collect(client.tools.list({ search: "GIVE" })));
  assert.equal(matched.length, 1);
  const chosen = await step("list by ids", () => collect(client.tools.list({ tool_ids: [script.id] })));
  assert.deepEqual(chosen.map((t) => t.id), [script.id]);
  const custom = await step("list by types", () =>
    collect(client.tools.list({ tool_types: ["custom", "letta_core"] })));
  assert.equal(custom.length, 3);
  const others = await step("list without a type", () => collect(client.tools.list({ exclude_tool_types: ["custom"] })));
  assert.deepEqual(others, []);
  const theirs = await step("list Letta's own", () => collect(client.tools.list({ return_only_letta_tools: true })));
  assert.deepEqual(theirs, []);
  await step("list by a type that is none", () => fails(400, () => collect(client.tools.list({ tool_types: ["x"] }))));
  await step("count without a type that is none", () =>
    fails(400, () => client.get("/v1/tools/count", { query: { exclude_tool_types: ["x"] } })));
  const oldest = await step("list the oldest first", () => collect(client.tools.list({ order: "asc" })));
  assert.equal(oldest.at(-1).id, script.id);
  assert.equal(await step("count", () => client.get("/v1/tools/count")), 3);
  assert.equal(await step("count with a slash", () => client.get("/v1/tools/count/")), 3);

  const changed = await step("update", () => client.tools.update(second.id, { description: "New.", tags: ["t"] }));
  assert.equal(changed.description, "New.");
  await step("update source without the function", () =>
    fails(400, () => client.tools.update(second.id, { source_code: "x = 1" })));
  const renamed = await step("update the schema renames", () =>
    client.tools.update(script.id, { json_schema: schema("shout_out") }));
  assert.equal(renamed.name, "shout_out");
  await step("update onto a name that is taken", () =>
    fails(400, () => client.tools.update(script.id, { json_schema: schema("give_back") })));
  const marked = await step("update metadata", () => client.tools.update(second.id, { metadata_: { sandbox: "local" } }));
  assert.equal(marked.metadata_.sandbox, "local");

  const derived = await step("generate a schema", () =>
    client.post("/v1/tools/generate-schema", { body: { code: source("derived") } }));
  assert.equal(derived.name, "derived");
  assert.deepEqual(await step("base tools", () => client.post("/v1/tools/add-base-tools")), []);
  await step("no tool is written here", () =>
    fails(400, () => client.post("/v1/tools/generate-tool", { body: { tool_name: "x", prompt: "y" } })));
  await step("search needs embeddings", () => fails(400, () => client.tools.search({ query: "x" })));
  const project = { headers: { "X-Project-Id": "project-a" } };
  const owned = await step("a tool of a project", () =>
    client.tools.upsert({ source_code: source("of_project") }, project));
  assert.equal(owned.project_id, "project-a");
  const within = await step("list within the project", () => collect(client.tools.list({}, project)));
  assert.equal(within.length, 4);
  const beside = await step("list within another project", () =>
    collect(client.tools.list({}, { headers: { "X-Project-Id": "project-b" } })));
  assert.equal(beside.length, 3);
  await step("delete the project's", () => client.tools.delete(owned.id));
  const modal = { headers: { "X-Experimental-Modal-Sandbox": "true" } };
  const remote = await step("a tool for Modal", () => client.tools.upsert({ source_code: source("at_modal") }, modal));
  assert.equal(remote.metadata_.sandbox, "modal");
  await step("delete Modal's", () => client.tools.delete(remote.id));
  const latest = await step("the same under /latest", () => client.get("/latest/tools/"));
  assert.equal(latest.length, 3);
  return { first, second, script };
}

async function realRuns(run, tool) {
  const raising = 'def f() -> int:\n    """Raises."""\n    raise KeyError("gone")\n';
  const raised = await step("run that raises", () => run({ source_code: raising, args: {} }));
  assert.equal(raised.status, "error");
  assert.equal(raised.tool_return, "Error executing function f: KeyError: 'gone'");
  assert.match(raised.stderr.join(""), /KeyError/);
  const shouted = await step("run TypeScript", () =>
    run({ source_code: typescript, source_type: "typescript", args: { text: "loud" } }));
  assert.equal(shouted.tool_return, "LOUD", JSON.stringify(shouted));

  // A model chose these arguments: it gets to read what is wrong with them.
  const misfit = await step("run with a misfit argument", () =>
    run({ source_code: source("f"), args: { a: "x", b: 2 } }));
  assert.equal(misfit.status, "error");
  assert.match(misfit.tool_return, /^Error executing function f: ValueError: .*a/);
  assert.equal(misfit.tool_returns[0].status, "error");
  const agent_id = "agent-00000000-0000-4000-8000-000000000002";
  const lacking = await step("run for an agent without an argument", () =>
    client.agents.tools.run(tool.name, { agent_id, args: { a: 1 } }));
  assert.equal(lacking.status, "error");
  assert.match(lacking.func_return, /^Error executing function give_back: TypeError: .*b/);
  assert.equal(lacking.stderr.length, 1);
}

async function runs({ first }) {
  const run = (body) => client.post("/v1/tools/run", { body });
  const message = await step("run from source", () => run({ source_code: source("f"), args: { a: 1, b: 2 } }));
  assert.equal(message.message_type, "tool_return_message");
  assert.equal(message.status, "success", JSON.stringify(message));
  assert.equal(message.tool_return, "{'a': 1, 'b': 2}");
  assert.equal(message.id, "null");
  assert.equal(message.tool_call_id, "null");
  assert.equal(message.tool_returns[0].tool_return, message.tool_return);
  assert.match(message.date, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
  const withVariables = await step("run with variables", () =>
    run({ source_code: source("f"), args: { a: 3, b: 4 }, env_vars: { TOKEN: "x" }, name: "f" }));
  assert.equal(withVariables.name, "f");
  await step("run needs args", () => fails(422, () => run({ source_code: source("f") })));
  await step("run refuses unknown members", () => fails(422, () => run({ source_code: source("f"), args: {}, x: 1 })));
  await step("run refuses other languages", () =>
    fails(400, () => run({ source_code: "x", args: {}, source_type: "cobol" })));

  await step("run needs a function", () => fails(400, () => run({ source_code: "x = 1", args: {} })));
  if (served) await realRuns(run, first);

  const agent = "agent-00000000-0000-4000-8000-000000000001";
  const result = await step("run for an agent", () =>
    client.agents.tools.run(first.name, { agent_id: agent, args: { a: 5, b: 6 } }));
  assert.equal(result.status, "success", JSON.stringify(result));
  assert.deepEqual(result.func_return, { a: 5, b: 6 });
  assert.equal(result.agent_state, null);
  await step("run a tool that is not there", () =>
    fails(404, () => client.agents.tools.run("nowhere", { agent_id: agent })));
  await step("attach", () => client.agents.tools.attach(first.id, { agent_id: agent }));
  await step("detach", () => client.agents.tools.detach(first.id, { agent_id: agent }));
  await step("approval", () =>
    client.agents.tools.updateApproval(first.name, { agent_id: agent, body_requires_approval: true }));
  const attached = await step("tools of an agent", () => collect(client.agents.tools.list(agent)));
  assert.equal(attached.length, 3);
  const state = await step("secrets of an agent", () => client.patch(`/v1/agents/${agent}`, { body: { secrets: { A: "hidden-1" } } }));
  assert.equal(state.secrets[0].key, "A");
  assert.ok(!JSON.stringify(state).includes("hidden-1"));
  const born = await step("an agent with secrets", () =>
    client.agents.create({ name: "helper", secrets: { A: "hidden-4", B: "hidden-5" } }));
  assert.match(born.id, id("agent"));
  assert.deepEqual(born.secrets.map((s) => s.key), ["A", "B"]);
  assert.ok(!JSON.stringify(born).includes("hidden"));
  await step("its secrets go", () => client.patch(`/v1/agents/${born.id}`, { body: { secrets: {} } }));
  const cleared = await step("no secrets", () => client.patch(`/v1/agents/${agent}`, { body: { secrets: {} } }));
  assert.deepEqual(cleared.secrets, []);
}

async function configs() {
  const base = "/v1/sandbox-config";
  const local = await step("local default", () => client.post(`${base}/local/default`));
  assert.match(local.id, id("sandbox"));
  assert.equal(local.type, "local");
  const again = await step("recreate the environment", () => client.post(`${base}/local/recreate-venv`));
  assert.equal(again.id, local.id);
  const usual = await step("E2B default", () => client.post(`${base}/e2b/default`));
  assert.equal(usual.type, "e2b");
  assert.equal((await step("E2B default again", () => client.post(`${base}/e2b/default`))).id, usual.id);
  const e2b = await step("E2B by its members", () => client.post(`${base}/`, { body: { config: { timeout: 100 } } }));
  assert.equal(e2b.type, "e2b");
  assert.equal(e2b.config.timeout, 100);
  const same = await step("the same again", () => client.post(`${base}/`, { body: { config: { timeout: 100 } } }));
  assert.equal(same.id, e2b.id);
  assert.equal(same.updated_at, e2b.updated_at);
  const replaced = await step("local, directly", () =>
    client.post(`${base}/local`, { body: { use_venv: true, pip_requirements: [{ name: "numpy", version: "1.26.0" }] } }));
  assert.equal(replaced.id, local.id);
  assert.equal(replaced.config.use_venv, true);
  const patched = await step("patch", () => client.patch(`${base}/${local.id}`, { body: { config: { use_venv: true } } }));
  assert.equal(patched.config.use_venv, true);
  await step("patch with another type", () =>
    fails(400, () => client.patch(`${base}/${local.id}`, { body: { config: { timeout: 1 } } })));
  await step("patch a malformed id", () => fails(422, () => client.patch(`${base}/x`, { body: { config: {} } })));
  await step("a member beside config", () => fails(422, () => client.post(`${base}/`, { body: { config: {}, x: 1 } })));
  const all = await step("list configs", () => client.get(`${base}/`));
  assert.deepEqual(new Set(all.map((c) => c.type)), new Set(["local", "e2b"]));
  const some = await step("list configs of a type", () => client.get(`${base}/`, { query: { sandbox_type: "e2b" } }));
  assert.equal(some.length, 1);
  const after = await step("list configs after one", () => client.get(`${base}/`, { query: { after: all[0].id } }));
  assert.equal(after.length, all.length - 1);
  await step("list after nothing", () => fails(404, () => client.get(`${base}/`, { query: { after: "sandbox-x" } })));

  const place = `${base}/${local.id}/environment-variable`;
  const made = await step("create a variable", () =>
    client.post(place, { body: { key: "TOKEN", value: "hidden-2", description: "d" } }));
  assert.match(made.id, id("sandbox-env"));
  assert.ok(!JSON.stringify(made).includes("hidden-2"));
  const over = await step("create it again", () => client.post(place, { body: { key: "TOKEN", value: "hidden-3" } }));
  assert.equal(over.id, made.id);
  const listed = await step("list variables", () => client.get(place));
  assert.equal(listed.length, 1);
  assert.equal(listed[0].sandbox_config_id, local.id);
  assert.ok(!JSON.stringify(listed).includes("hidden"));
  const one = `${base}/environment-variable/${made.id}`;
  const updated = await step("update a variable", () => client.patch(one, { body: { description: "new" } }));
  assert.equal(updated.description, "new");
  await step("unknown members of a variable", () => fails(422, () => client.patch(one, { body: { k: 1 } })));
  assert.equal(await step("delete a variable", () => client.delete(one)), null);
  await step("delete a config", () => client.delete(`${base}/${e2b.id}`));
  await step("delete the other config", () => client.delete(`${base}/${local.id}`));
  assert.deepEqual(await step("nothing is left", () => client.get(`${base}/`)), []);
}

async function everything() {
  const health = await step("health", () => client.get("/v1/health/"));
  assert.equal(health.status, "ok");
  assert.equal(typeof health.version, "string");
  const made = await tools();
  await runs(made);
  for (const tool of Object.values(made))
    assert.equal(await step(`delete ${tool.name}`, () => client.tools.delete(tool.id)), null);
  await step("delete a missing one", () => fails(400, () => client.tools.delete(made.first.id)));
  assert.deepEqual(await step("no tool is left", () => collect(client.tools.list())), []);
  await configs();
}

for (const round of [1, 2]) {
  steps = 0;
  await everything();
  assert.ok(steps >= 40, `only ${steps} steps`);
  console.log(`round ${round}: ${steps} steps`);
}

// The table that the clients of both languages keep: sdk/contract.json.
import assert from "node:assert/strict";
import fs from "node:fs";
import net from "node:net";
import test from "node:test";
import { client, Troupe } from "./support.mjs";

const { cases } = JSON.parse(fs.readFileSync(new URL("../../contract.json", import.meta.url), "utf8"));
(await client("retry.js")).setFirstPause(1);

/** The bytes that a word of the table stands for. */
function answer(word) {
  let status = typeof word === "number" ? word : 200;
  let kind = "application/json";
  let extra = "";
  let body = "";
  switch (word) {
    case "lost": return undefined;
    case "cut": return "HTTP/1.1 200 OK\r\ncontent-length: 99\r\nconnection: close\r\n\r\n{";
    case "ok": body = JSON.stringify({ ready: true, items: [] }); break;
    case "run": body = JSON.stringify({ id: "run-1", status: "success", reason: "exited", value: 1 }); break;
    case "html": kind = "text/html"; body = "<h1>hello</h1>"; break;
    case "redirect": status = 302; extra = "location: http://elsewhere/\r\n"; break;
    case "late": status = 429; extra = "retry-after: 3600\r\n"; break;
    case "in use": status = 409; break;
    case 429: case 503: extra = "retry-after: 0\r\n"; break;
  }
  if (status >= 400) {
    const code = word === "in use" ? "idempotency_key_in_use" : "scripted";
    kind = "application/problem+json";
    body = JSON.stringify({ type: `/problems/${code}`, title: "", status, code, detail: "as told",
      errors: [{ pointer: "/code", reason: "is wrong", hint: "mend it" }] });
  }
  return `HTTP/1.1 ${status} Told\r\n${extra}content-type: ${kind}\r\ncontent-length: ${body.length}\r\n` +
    `connection: close\r\n\r\n${body}`;
}

/** A server that gives these answers, and keeps what was asked. */
async function script(words) {
  const answers = words.map(answer);
  const requests = [];
  const server = net.createServer((socket) => {
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (piece) => {
      text += piece;
      const head = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (head < 0 || text.length < head + 4 + length) return;
      requests.push(text);
      const next = answers.shift();
      if (next === undefined) socket.destroy();
      else socket.end(next);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, requests, close: () => server.close() };
}

for (const one of cases) {
  test(one.name, async () => {
    const server = await script(one.answers);
    const t = new Troupe({ baseUrl: server.url });
    let value;
    let error;
    try {
      value = one.call === "list" ? await t.backends.list() : (await t.run("1", { key: one.key })).value;
    } catch (caught) {
      error = caught;
    } finally {
      server.close();
    }
    assert.equal(error?.name, one.error, String(error));
    if (one.code) assert.equal(error.code, one.code);
    if (one.pointer) assert.equal(error.errors[0].pointer, one.pointer);
    if (!error) assert.deepEqual(value, one.call === "list" ? [] : 1);
    assert.equal(server.requests.length, one.requests);
    for (const request of server.requests) {
      assert.equal(/^idempotency-key: (.*)\r$/m.exec(request)?.[1], one.key);
    }
  });
}

// The examples of the documents do what their comments say.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { stripper } from "../make/strip.mjs";
import { engine } from "./support.mjs";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const index = pathToFileURL(path.join(process.env.TEST_CLIENT, "index.js")).href;
const strip = stripper(process.env.TEST_TRANSPILER);

for (const name of ["sdk/typescript/README.md", "docs/guides/sdks.md"]) {
  test(`the examples of ${name} work`, { skip: !fs.existsSync(path.join(root, name)) }, () => {
    const text = fs.readFileSync(path.join(root, name), "utf8");
    const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map((found) => found[1]);
    assert.ok(blocks.length > 0);
    // One module: what a block declares is there for the next one.
    const example = path.join(process.env.TEST_CLIENT, `${path.basename(path.dirname(name))}.mjs`);
    fs.writeFileSync(example, strip(blocks.join("\n")).replaceAll('"@troupe/sdk"', JSON.stringify(index)));
    const { status, stdout, stderr } = spawnSync(process.execPath, [example],
      { encoding: "utf8", timeout: 60_000, env: { PATH: process.env.PATH, TROUPE_SERVER: engine } });
    assert.equal(status, 0, stderr);
    const lines = stdout.split("\n");
    for (const [, expected] of blocks.join("\n").matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)) {
      assert.ok(lines.includes(expected), `${expected} is not among\n${stdout}`);
    }
  });
}

// What a compiler knows of the client. It is never run: `tsc --strict` reads it, and
// says so if a mistake that is marked here is none to it.
import { Invalid, Troupe } from "../src/index.ts";
import type { Process, Result, Sandbox } from "../src/index.ts";

export async function runs(t: Troupe): Promise<void> {
  const result: Result<number> = await t.run<number>("1", { timeout: 5, labels: { a: "b" }, network: "off" });
  const value: number = result.value;
  const code: number | null | undefined = result.exit_code;
  // @ts-expect-error: no such option
  await t.run("1", { timeouts: 5 });
  // @ts-expect-error: seconds, or a text
  await t.run("1", { timeout: [5] });
  // @ts-expect-error: not a number
  const text: string = result.value;
  const add = t.tool<{ a: number }, number>("add");
  const sum: number = await add({ a: 1 });
  // @ts-expect-error: not a text
  await add({ a: "1" });
  for await (const item of t.batch<number>([{ code: "1" }])) item.result?.value.toFixed();
  for await (const run of t.runs.list({ phase: "ended" })) run.id.toUpperCase();
  console.log(value, code, text, sum);
}

export async function sandboxes(t: Troupe): Promise<void> {
  await using sandbox = await t.sandboxes.create({ timeout: 60, network: ["example.org:443"] });
  const here: Sandbox = sandbox;
  const process: Process = await here.start(["sleep", "1"]);
  for await (const output of process) output.trim();
  // @ts-expect-error: not one of the languages
  await here.run("1", { language: "cobol" });
  // @ts-expect-error: text or bytes
  await here.files.write("/tmp/a", 1);
}

export function errors(error: unknown): string | undefined {
  return error instanceof Invalid ? error.errors[0]?.pointer : undefined;
}

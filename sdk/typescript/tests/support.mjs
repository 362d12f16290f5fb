// What the tests share.
import path from "node:path";
import { pathToFileURL } from "node:url";

export const client = (name) => import(pathToFileURL(path.join(process.env.TEST_CLIENT, name)).href);
export const { Troupe, ...sdk } = await client("index.js");
export const engine = process.env.TEST_ENGINE;
export const troupe = () => new Troupe({ baseUrl: engine });

/** All items of something that one goes through. */
export async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

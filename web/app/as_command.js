// The same for a terminal: no key in it, only the name of a variable.
import { target, hasKey } from "./api.js";

export const quote = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replaceAll("'", `'\\''`)}'`);

/** A curl call; `body` is sent as JSON. */
export function curl(method, path, body, query) {
  const parts = ["curl -s"];
  if (method !== "GET") parts.push(`-X ${method}`);
  parts.push(quote(target(path, query).href));
  if (hasKey()) parts.push(`-H "authorization: Bearer $TROUPE_API_KEY"`);
  if (body !== undefined) parts.push(`-H 'content-type: application/json'`, `-d ${quote(JSON.stringify(body))}`);
  return parts.join(" \\\n  ");
}

export const troupe = (...words) => ["troupe", ...words.filter((one) => one !== undefined && one !== "").map(quote)].join(" ");

// The engine's public interface, and nothing beside it. The key is a variable of
// this module: it is in no URL, in no storage, and gone with the page.

let key = null;
let signedOut = () => {};
const link = { lost: null, watchers: new Set() };

export const setKey = (text) => { key = text || null; };
export const hasKey = () => key !== null;
export const onSignedOut = (told) => { signedOut = told; };

/** Tells whether the engine is reached: null, or the time since when it is not. */
export function watchLink(told) {
  link.watchers.add(told);
  told(link.lost);
}

function reached(yes) {
  const lost = yes ? null : link.lost ?? Date.now();
  if (lost === link.lost) return;
  link.lost = lost;
  for (const told of link.watchers) told(lost);
}

/** at`/v1/tools/${name}`: what is put in is one segment of the path. */
export const at = (parts, ...values) => parts.reduce((path, part, i) => path + encodeURIComponent(values[i - 1]) + part);

export function target(path, query) {
  const url = new URL(".." + path, document.baseURI);
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined && value !== null && value !== "") url.searchParams.append(name, value);
  return url;
}

/** What the engine refused, with its reasons. */
export class Problem extends Error {
  constructor(status, answer) {
    super(answer.detail || answer.title || `HTTP ${status}`);
    this.status = status;
    this.code = answer.code ?? "";
    this.title = answer.title ?? "";
    this.errors = answer.errors ?? [];
    this.request = answer.request_id ?? "";
  }
}

/** The engine was not reached at all. */
export class Unreachable extends Error {}

async function send(method, path, { query, body, signal, headers, bytes } = {}) {
  const fields = new Headers(headers);
  if (key) fields.set("authorization", `Bearer ${key}`);
  if (body !== undefined) fields.set("content-type", "application/json");
  if (bytes !== undefined) fields.set("content-type", "application/octet-stream");
  let answer;
  try {
    answer = await fetch(target(path, query), {
      method, signal, headers: fields, body: bytes ?? (body === undefined ? undefined : JSON.stringify(body)),
      credentials: "same-origin", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer",
    });
  } catch (why) {
    if (signal?.aborted) throw why;
    reached(false);
    throw new Unreachable("the engine does not answer");
  }
  reached(true);
  if (answer.ok) return answer;
  const text = await answer.text();
  let problem = {};
  try { problem = JSON.parse(text); } catch { problem = { detail: text.slice(0, 500) }; }
  if (answer.status === 401) signedOut();
  throw new Problem(answer.status, problem ?? {});
}

/** The answer's JSON, or null where there is none. */
export async function call(method, path, options) {
  const answer = await send(method, path, options);
  const text = await answer.text();
  return text === "" ? null : JSON.parse(text);
}
export const get = (path, query, signal) => call("GET", path, { query, signal });

export async function text(path, query, signal) {
  return (await send("GET", path, { query, signal })).text();
}

export async function blob(path, query, signal) {
  return (await send("GET", path, { query, signal })).blob();
}

/** The lines of a stream, as they come. */
export async function* stream(method, path, options = {}) {
  const answer = await send(method, path, { ...options, headers: { accept: "application/x-ndjson", ...options.headers } });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line.trim()) yield JSON.parse(line);
    }
    if (rest.trim()) yield JSON.parse(rest);
  } finally {
    reader.cancel().catch(() => {});
  }
}

// Requests to the engine: retries, answers and streams, over fetch.
import { ApiError, ConnectError, errorOfAnswer, UnexpectedAnswer } from "./errors.ts";
import { beforeNextTry, newKey, worthRepeating } from "./retry.ts";
import type { Settings } from "./settings.ts";
import { encode } from "./values.ts";

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

export interface Asked {
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  content?: Uint8Array | string;
  headers?: Record<string, string | undefined>;
  /** The idempotency key of a POST: a random one unless told, none if it is empty. */
  key?: string;
  signal?: AbortSignal;
  /** Milliseconds to wait for the answer; null: as long as it takes. */
  withinMs?: number | null;
  /** It can be carried out twice. */
  harmless?: boolean;
}

const answerWithin = 60_000; // milliseconds, where nothing runs
const silentFor = 45_000; // of a stream; the engine says something every 15 s
const longestEvent = 256 * 1024 * 1024; // far above what an engine lets a result have
const notSent = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT", "ConnectionRefused"];

/** One request that can be called off: by its caller, or by a clock. */
class Attempt {
  readonly controller = new AbortController();
  late = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #signal: AbortSignal | undefined;
  #forward = () => this.controller.abort(this.#signal?.reason);

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    if (signal?.aborted) this.#forward();
    signal?.addEventListener("abort", this.#forward);
  }

  within(milliseconds: number | null | undefined): void {
    clearTimeout(this.#timer);
    if (milliseconds === null || milliseconds === undefined) return;
    this.#timer = setTimeout(() => {
      this.late = true;
      this.controller.abort();
    }, milliseconds);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#forward);
  }
}

export class Http {
  readonly settings: Settings;

  constructor(settings: Settings) {
    this.settings = settings;
  }

  /** A request and its whole answer. */
  async bytes(method: string, path: string, asked: Asked = {}): Promise<Uint8Array> {
    return (await this.#send(method, path, asked, true)).body;
  }

  /** The answer as an object. */
  async json<T>(method: string, path: string, asked: Asked = {}): Promise<T> {
    return parse<T>(new TextDecoder().decode(await this.bytes(method, path, asked)));
  }

  /** A request whose answer does not matter. */
  async call(method: string, path: string, asked: Asked = {}): Promise<void> {
    await this.bytes(method, path, asked);
  }

  /** The events of a stream as they come. Leaving it early closes the connection. */
  async *stream<T>(method: string, path: string, asked: Asked = {}): AsyncGenerator<T, void> {
    const headers = { accept: "text/event-stream", ...asked.headers };
    const { response, attempt } = await this.#send(method, path, { ...asked, headers }, false);
    const reader = response.body!.getReader();
    const until = asked.withinMs == null ? undefined : Date.now() + asked.withinMs;
    const text = new TextDecoder();
    let rest = "";
    try {
      for (;;) {
        attempt.within(Math.min(silentFor, until === undefined ? silentFor : Math.max(1, until - Date.now())));
        const { done, value } = await reader.read();
        if (done) return;
        rest += text.decode(value, { stream: true });
        const lines = rest.split("\n");
        rest = lines.pop()!;
        for (const line of lines) {
          if (line.startsWith("data:")) yield parse<T>(line.slice(5));
        }
        if (rest.length > longestEvent) throw new UnexpectedAnswer("an event of the stream has no end");
      }
    } catch (error) {
      throw this.#lost(error, attempt, asked.signal, "the stream was lost");
    } finally {
      attempt.end();
      attempt.controller.abort(); // which ends what the request had begun
    }
  }

  /** Sends it until an answer comes that is worth having. */
  async #send(method: string, path: string, asked: Asked, whole: boolean) {
    const { settings } = this;
    const url = settings.url + path + queryOf(asked.query);
    const init = this.#requestOf(method, asked);
    const keyed = (init.headers as Record<string, string>)["idempotency-key"] !== undefined;
    const repeatable = asked.harmless || keyed || ["GET", "PUT", "DELETE"].includes(method);
    for (let tries = 0; ; ++tries) {
      const attempt = new Attempt(asked.signal);
      attempt.within(asked.withinMs === undefined ? answerWithin : asked.withinMs);
      let refused: ApiError | undefined;
      try {
        const response = await settings.fetch(url, { ...init, signal: attempt.controller.signal });
        const body = whole || !response.ok
          ? new Uint8Array(await response.arrayBuffer()) : new Uint8Array();
        if (whole || !response.ok) attempt.end();
        // Of a second DELETE: the first one did it.
        const gone = method === "DELETE" && tries > 0 && [404, 410].includes(response.status);
        if (response.ok || gone) return { response, body, attempt };
        const error = errorOfAnswer(response.status, response.headers, new TextDecoder().decode(body));
        if (!(error instanceof ApiError) || tries >= settings.maxRetries ||
            !worthRepeating(error, repeatable, tries > 0)) {
          throw error;
        }
        refused = error;
      } catch (error) {
        attempt.end();
        if (error instanceof ApiError || error instanceof UnexpectedAnswer) throw error;
        const unsent = notSent.includes(codeOf(error));
        if (attempt.late || asked.signal?.aborted || tries >= settings.maxRetries ||
            !(repeatable || unsent)) {
          throw this.#lost(error, attempt, asked.signal, `${method} ${path}`);
        }
      }
      await beforeNextTry(tries, refused, asked.signal);
    }
  }

  #requestOf(method: string, asked: Asked): RequestInit {
    const headers: Record<string, string> = { accept: "application/json" };
    if (this.settings.key) headers["authorization"] = `Bearer ${this.settings.key}`;
    if (method === "POST" && asked.key !== "") headers["idempotency-key"] = asked.key ?? newKey();
    let body: BodyInit | undefined;
    if (asked.body !== undefined) {
      headers["content-type"] = "application/json";
      body = encode(asked.body);
    } else if (asked.content !== undefined) {
      headers["content-type"] = "application/octet-stream";
      body = asked.content as BodyInit;
    }
    for (const [name, value] of Object.entries(asked.headers ?? {})) {
      if (value !== undefined) headers[name] = value;
    }
    return { method, headers, body, redirect: "manual", credentials: "same-origin" };
  }

  #lost(error: unknown, attempt: Attempt, signal: AbortSignal | undefined, what: string): unknown {
    if (signal?.aborted) return signal.reason;
    if (error instanceof ApiError || error instanceof UnexpectedAnswer) return error;
    const code = codeOf(error);
    const { url } = this.settings;
    let text = `${url}: ${what}: ${code || String(error)}`;
    if (attempt.late) text = `${url} gave no answer in time (${what})`;
    if (notSent.includes(code)) text = `no engine answers at ${url}; start one (troupe serve), or set TROUPE_SERVER`;
    if (code === "UND_ERR_HEADERS_TIMEOUT") text += "; what takes minutes is begun with start(), then wait()";
    const lost = new ConnectError(text, { cause: error });
    if (attempt.late) late.add(lost);
    return lost;
  }
}

const late = new WeakSet<ConnectError>();

/** Whether an answer did not come in time, rather than being lost. */
export function cameTooLate(error: unknown): boolean {
  return error instanceof ConnectError && late.has(error);
}

/** A word as one segment of a path, whatever is in it. */
export function segment(text: string): string {
  if (text === "" || text === "." || text === "..") throw new TypeError(`"${text}" is not an id`);
  return encodeURIComponent(text);
}

/** Members that are not undefined. */
export function given<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

function queryOf(query: Query = {}): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) asked.append(name, String(one));
  }
  const text = asked.toString();
  return text && `?${text}`;
}

function parse<T>(text: string): T {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    found = undefined;
  }
  if (typeof found !== "object" || found === null) {
    throw new UnexpectedAnswer("the answer is not an object of JSON; is the address that of an engine?");
  }
  return found as T;
}

function codeOf(error: unknown): string {
  const one = error as { code?: unknown; cause?: { code?: unknown; errors?: { code?: unknown }[] } };
  return String(one?.cause?.code ?? one?.cause?.errors?.[0]?.code ?? (typeof one?.code === "string" ? one.code : ""));
}

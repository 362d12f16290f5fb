// Runs: /v1/runs.
import { ConnectError, WaitTimeout } from "./errors.ts";
import { cameTooLate, type Http, segment } from "./http.ts";
import { inputOf, keyOf, runBody, type RunOptions, type What } from "./options.ts";
import { Pages } from "./pages.ts";
import { fault, result, type Result } from "./results.ts";
import type { Explanation, RunEvent, RunLogs, RunRecord, RunRequest, RunSummary } from "./types/index.ts";

const notAttached = { prefer: "respond-async" };
const mostLosses = 3; // of a stream, without an event in between

/** A run that goes on by itself. Dropping this does not end it. */
export class Run<T = unknown> {
  readonly id: string;
  readonly #http: Http;
  readonly #path: string;

  constructor(http: Http, id: string) {
    this.id = id;
    this.#http = http;
    this.#path = `/v1/runs/${segment(id)}`;
  }

  /** How far it is, and its result once it has ended. */
  get(): Promise<RunRecord> {
    return this.#http.json("GET", this.#path);
  }

  /** Its result. WaitTimeout when that takes longer; the run goes on. */
  async wait(options: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<Result<T>> {
    try {
      for await (const event of this.#follow(0, options)) {
        if (event.type === "end") return endOf<T>(event);
      }
    } catch (error) {
      if (!cameTooLate(error) || options.timeoutMs === undefined) throw error;
      throw new WaitTimeout(this.id, options.timeoutMs);
    }
    throw new ConnectError(`${this.id}: the stream ended before the run`);
  }

  /** What happens, numbered; the last one is `end`. A lost connection is taken up again where it was. */
  events(options: { after?: number; signal?: AbortSignal } = {}): AsyncGenerator<RunEvent, void> {
    return this.#follow(options.after ?? 0, options);
  }

  /** What it has printed so far. */
  logs(): Promise<RunLogs> {
    return this.#http.json("GET", `${this.#path}/logs`);
  }

  /** Ends it. */
  cancel(): Promise<RunRecord> {
    return this.#http.json("POST", `${this.#path}/cancel`);
  }

  /** The same once more, as a run of its own. */
  async rerun(): Promise<Run<T>> {
    const { id } = await this.#http.json<RunRecord>("POST", `${this.#path}/rerun`, { headers: notAttached });
    return new Run(this.#http, id);
  }

  /** What was asked for, without the values of variables. */
  request(): Promise<RunRequest> {
    return this.#http.json("GET", `${this.#path}/request`);
  }

  /** A large file of its result, which is kept for a while. */
  file(name: string): Promise<Uint8Array> {
    return this.#http.bytes("GET", `${this.#path}/files`, { query: { name } });
  }

  async *#follow(after: number, { timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal }):
      AsyncGenerator<RunEvent, void> {
    const until = timeoutMs === undefined ? undefined : Date.now() + timeoutMs;
    for (let losses = 0; losses <= mostLosses; ++losses) {
      const withinMs = until === undefined ? null : Math.max(1, until - Date.now());
      try {
        const headers = { "last-event-id": String(after) };
        for await (const event of this.#http.stream<RunEvent>(
          "GET", `${this.#path}/events`, { headers, signal, withinMs })) {
          after = event.sequence;
          losses = 0;
          yield event;
          if (event.type === "end") return;
        }
      } catch (error) {
        const isOver = until !== undefined && Date.now() >= until;
        if (!(error instanceof ConnectError) || isOver || losses === mostLosses) throw error;
      }
    }
  }
}

/** `troupe.runs`: those of the past and the present. */
export class Runs {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** The newest first, without their values and outputs. */
  list(filter: { limit?: number; phase?: RunRecord["phase"]; status?: string; tool?: string;
                 labels?: Record<string, string> } = {}): Pages<RunSummary> {
    const { labels, ...query } = filter;
    const label = Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`);
    return new Pages(this.#http, "/v1/runs", { ...query, label });
  }

  /** The handle of a run; nothing is asked yet. */
  get<T = unknown>(id: string): Run<T> {
    return new Run(this.#http, id);
  }

  /** Begins a run that goes on without this program. */
  async start<T = unknown>(what: What, options: RunOptions = {}): Promise<Run<T>> {
    const input = inputOf(what, options);
    const { id } = await this.#http.json<RunRecord>("POST", "/v1/runs", {
      body: runBody(input), headers: notAttached, key: keyOf(input, false), signal: input.signal,
    });
    return new Run(this.#http, id);
  }

  /** What a run would do, without running it. */
  explain(what: What, options: RunOptions = {}): Promise<Explanation> {
    const body = runBody(inputOf(what, options));
    return this.#http.json("POST", "/v1/runs/explain", { body, key: "", harmless: true });
  }
}

/** What the last event brought: a result, or the engine's failure. */
export function endOf<T>(event: RunEvent): Result<T> {
  if (event.result) return result<T>(event.result);
  throw fault(event.error);
}

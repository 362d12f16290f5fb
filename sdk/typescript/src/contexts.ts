// Interpreters in a sandbox that keep what one cell defines for the next.
import { ConnectError } from "./errors.ts";
import { given, type Http, segment } from "./http.ts";
import type { Seconds } from "./options.ts";
import { cell, type Cell, fault } from "./results.ts";
import type {
  CellError, CellEvent, CellOutput, CellResult, ContextInfo, ContextInput, ContextInterruption,
} from "./types/index.ts";

interface Listeners {
  onStdout?: (text: string) => void;
  onStderr?: (text: string) => void;
  signal?: AbortSignal;
}

export interface CellOptions extends Listeners {
  /** It is interrupted then. */
  timeout?: Seconds;
}

/** `info` is what was told of it last; `refresh()` asks again. */
export class Context {
  readonly id: string;
  info: ContextInfo;
  readonly #http: Http;
  readonly #path: string;

  constructor(http: Http, sandbox: string, info: ContextInfo) {
    this.id = info.id;
    this.info = info;
    this.#http = http;
    this.#path = `${sandbox}/contexts/${segment(info.id)}`;
  }

  /** What it is now. */
  async refresh(): Promise<ContextInfo> {
    return this.info = await this.#http.json<ContextInfo>("GET", this.#path);
  }

  /** A cell. Those of one context run one after the other. */
  run(code: string, options: CellOptions = {}): Promise<Cell> {
    const { timeout, ...listeners } = options;
    return runCell(this.#http, `${this.#path}/execute`, given({ code, timeout }), listeners);
  }

  /** A cell, and what it says as it says it; the last event is `end`. */
  stream(code: string, options: { timeout?: Seconds; signal?: AbortSignal } = {}): AsyncGenerator<CellEvent, void> {
    const { timeout, signal } = options;
    return this.#http.stream("POST", `${this.#path}/execute`, { body: given({ code, timeout }), signal });
  }

  /** Stops the cell that runs; what is defined stays. False: it has not stopped within two seconds. */
  async interrupt(): Promise<boolean> {
    return (await this.#http.json<ContextInterruption>("POST", `${this.#path}/interrupt`)).interrupted;
  }

  /** Begins afresh: all that is defined is lost. */
  async restart(): Promise<ContextInfo> {
    return this.info = await this.#http.json<ContextInfo>("POST", `${this.#path}/restart`);
  }

  delete(): Promise<void> {
    return this.#http.call("DELETE", this.#path);
  }
}

/** `sandbox.contexts`. */
export class Contexts {
  readonly #http: Http;
  readonly #sandbox: string;

  constructor(http: Http, sandbox: string) {
    this.#http = http;
    this.#sandbox = sandbox;
  }

  async create(what: ContextInput): Promise<Context> {
    return this.#handle(await this.#http.json("POST", `${this.#sandbox}/contexts`, { body: what }));
  }

  async list(): Promise<Context[]> {
    const { items } = await this.#http.json<{ items: ContextInfo[] }>("GET", `${this.#sandbox}/contexts`);
    return items.map((info) => this.#handle(info));
  }

  async get(id: string): Promise<Context> {
    return this.#handle(await this.#http.json("GET", `${this.#sandbox}/contexts/${segment(id)}`));
  }

  #handle(info: ContextInfo): Context {
    return new Context(this.#http, this.#sandbox, info);
  }
}

/** A cell to its end; with listeners, its output also as it comes. */
export async function runCell(http: Http, path: string, body: object, listeners: Listeners): Promise<Cell> {
  const { onStdout, onStderr, signal } = listeners;
  if (!onStdout && !onStderr) {
    return cell(await http.json<CellResult>("POST", path, { body, signal, withinMs: null }));
  }
  const results: CellOutput[] = [];
  const told = { stdout: "", stderr: "" };
  let error: CellError | null = null;
  for await (const event of http.stream<CellEvent>("POST", path, { body, signal })) {
    if (event.error) throw fault(event.error);
    switch (event.type) {
      case "stdout":
      case "stderr":
        told[event.type] += event.text ?? "";
        (event.type === "stdout" ? onStdout : onStderr)?.(event.text ?? "");
        break;
      case "error":
        error = event as CellError;
        break;
      case "end": {
        const { type, ...end } = event;
        return cell({ ...end, ...told, stdout_missed: 0, stderr_missed: 0, results, error } as CellResult);
      }
      default:
        results.push(event as CellOutput);
    }
  }
  throw new ConnectError("the stream ended before the cell");
}

// Programs that run in a sandbox beside each other.
import { WaitTimeout } from "./errors.ts";
import { cameTooLate, given, type Http, segment } from "./http.ts";
import type { Seconds } from "./options.ts";
import { fault } from "./results.ts";
import type { ProcessEvent, ProcessInfo, ProcessInput, ProcessOutput } from "./types/index.ts";

/** A line for the shell, or a program with its arguments. */
export type Command = string | readonly string[];

export interface CommandOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** What its standard input begins with. */
  stdin?: string;
  /** It is killed then, with all that it started. */
  timeout?: Seconds;
  /** A word of yours. */
  tag?: string;
  signal?: AbortSignal;
}

/** `info` is what was told of it last. Going through it gives its output as it comes. */
export class Process implements AsyncIterable<string> {
  readonly id: string;
  info: ProcessInfo;
  readonly #http: Http;
  readonly #path: string;

  constructor(http: Http, sandbox: string, info: ProcessInfo) {
    this.id = info.id;
    this.info = info;
    this.#http = http;
    this.#path = `${sandbox}/processes/${segment(info.id)}`;
  }

  /** What it is now. */
  async refresh(): Promise<ProcessInfo> {
    return this.info = await this.#http.json<ProcessInfo>("GET", this.#path);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
    for await (const event of this.events()) {
      if (event.type === "output" && event.data) yield event.data;
    }
  }

  /** All of its output that is kept and what follows, then `end`. */
  async *events(options: { timeoutMs?: number; signal?: AbortSignal } = {}): AsyncGenerator<ProcessEvent, void> {
    const { timeoutMs: withinMs = null, signal } = options;
    for await (const event of this.#http.stream<ProcessEvent>(
      "GET", `${this.#path}/output`, { query: { follow: true }, withinMs, signal })) {
      if (event.type === "error") throw fault(event.error);
      if (event.process) this.info = event.process;
      yield event;
    }
  }

  /** What it has said so far; `next` of the answer is where to go on. */
  read(options: { stream?: "stdout" | "stderr"; offset?: number; encoding?: "text" | "base64" } = {}):
      Promise<ProcessOutput> {
    const { stream = "stdout", offset = 0, encoding } = options;
    return this.#http.json("GET", `${this.#path}/output`, { query: { stream, from: offset, encoding } });
  }

  /** How it ended. WaitTimeout when that takes longer; it goes on. */
  async wait(options: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<ProcessInfo> {
    try {
      for await (const event of this.events(options)) {
        if (event.process) return event.process;
      }
    } catch (error) {
      if (!cameTooLate(error) || options.timeoutMs === undefined) throw error;
      throw new WaitTimeout(this.id, options.timeoutMs);
    }
    return this.refresh();
  }

  /** Writes to its standard input (see `open_stdin`). */
  send(data: string | Uint8Array): Promise<void> {
    return this.#http.call("POST", `${this.#path}/input`, { content: data });
  }

  /** There will be no more input. */
  closeStdin(): Promise<void> {
    return this.#http.call("POST", `${this.#path}/close`);
  }

  /** To it and all that it started: a name such as INT, or a number. */
  signal(signal: string | number): Promise<void> {
    return this.#http.call("POST", `${this.#path}/signal`, { body: { signal } });
  }

  /** Kills it if need be, and forgets it with its output. */
  kill(): Promise<void> {
    return this.#http.call("DELETE", this.#path);
  }
}

export function processBody(command: Command, options: CommandOptions & { open_stdin?: boolean; check?: boolean }):
    ProcessInput {
  const { signal, check, ...body } = options;
  return given({ ...body, ...(typeof command === "string" ? { command } : { argv: [...command] }) });
}

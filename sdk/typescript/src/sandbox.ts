/// <reference lib="esnext.disposable" preserve="true" />
// One sandbox: its life, and the ways into it.
import { Contexts, type CellOptions, runCell } from "./contexts.ts";
import { CommandFailed } from "./errors.ts";
import { Files } from "./files.ts";
import { given, type Http, segment } from "./http.ts";
import type { Seconds } from "./options.ts";
import { Ports } from "./ports.ts";
import { type Command, type CommandOptions, Process, processBody } from "./processes.ts";
import { type Cell, completed, type Completed, fault } from "./results.ts";
import type {
  ContextInput, ExecResult, Failure, ProcessInfo, SandboxChange, SandboxEvent, SandboxForkInput, SandboxInfo,
  Snapshot,
} from "./types/index.ts";

const patient = { withinMs: null };

/** `info` is what was told of it last; `refresh()` asks again. */
export class Sandbox {
  readonly id: string;
  readonly files: Files;
  readonly contexts: Contexts;
  readonly ports: Ports;
  info: SandboxInfo;
  readonly #http: Http;
  readonly #path: string;

  constructor(http: Http, info: SandboxInfo) {
    this.id = info.id;
    this.info = info;
    this.#http = http;
    this.#path = `/v1/sandboxes/${segment(info.id)}`;
    this.files = new Files(http, this.#path);
    this.contexts = new Contexts(http, this.#path);
    this.ports = new Ports(http, this.#path);
  }

  // -- its life -----------------------------------------------------------------

  /** What it is now. */
  async refresh(): Promise<SandboxInfo> {
    return this.info = await this.#http.json<SandboxInfo>("GET", this.#path);
  }

  /** Sees to it that it runs. Its end moves only with `timeout`. */
  connect(options: { timeout?: Seconds } = {}): Promise<SandboxInfo> {
    return this.#act("connect", given(options));
  }

  /** It lives for so long from now. */
  renew(timeout: Seconds): Promise<SandboxInfo> {
    return this.#act("renew", { timeout });
  }

  /** Changes labels and clocks; what is left out stays. */
  async change(change: SandboxChange): Promise<SandboxInfo> {
    return this.info = await this.#http.json<SandboxInfo>("PATCH", this.#path, { body: change });
  }

  /** It stands still; its processes keep their memory. */
  pause(): Promise<SandboxInfo> {
    return this.#act("pause");
  }

  resume(): Promise<SandboxInfo> {
    return this.#act("resume");
  }

  /** Ends it with all that is in it. A second time nothing happens. */
  delete(): Promise<void> {
    return this.#http.call("DELETE", this.#path, patient);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.delete();
  }

  /** What happened to it; with `follow` also what will, to its end. */
  async *events(options: { after?: number; follow?: boolean; signal?: AbortSignal } = {}):
      AsyncGenerator<SandboxEvent, void> {
    const { after, follow, signal } = options;
    const path = `${this.#path}/events`;
    if (!follow) {
      yield* (await this.#http.json<{ items: SandboxEvent[] }>("GET", path, { query: { after }, signal })).items;
      return;
    }
    type Line = SandboxEvent | { type: "end" } | { type: "error"; error: Failure };
    for await (const line of this.#http.stream<Line>("GET", path, { query: { after }, signal })) {
      if (line.type === "error") throw fault(line.error);
      if (line.type !== "end") yield line;
    }
  }

  // -- its files as a whole -----------------------------------------------------

  /** Keeps its files as they are now. */
  snapshot(name?: string): Promise<Snapshot> {
    return this.#http.json("POST", `${this.#path}/snapshots`, { body: given({ name }), ...patient });
  }

  /** Puts the files of one of its snapshots back; all processes end. */
  rollback(snapshot: string): Promise<SandboxInfo> {
    return this.#act("rollback", { snapshot });
  }

  /**
   * Sandboxes with the same files; processes do not come along. Throws if one could not be made, when
   * the others have been deleted.
   */
  async fork(count = 1, options: Omit<SandboxForkInput, "count"> = {}): Promise<Sandbox[]> {
    type Forks = { items: { sandbox?: SandboxInfo; error?: Failure }[] };
    const { items } = await this.#http.json<Forks>("POST", `${this.#path}/fork`, {
      body: { ...options, count }, ...patient,
    });
    const made = items.flatMap(({ sandbox }) => sandbox ? [new Sandbox(this.#http, sandbox)] : []);
    const failed = items.find(({ error }) => error);
    if (!failed) return made;
    await Promise.all(made.map((sandbox) => sandbox.delete()));
    throw fault(failed.error);
  }

  // -- what runs in it ----------------------------------------------------------

  /** A program, to its end: a line for the shell, or a list without one. With `check` a failure is thrown. */
  async exec(command: Command, options: CommandOptions & { check?: boolean } = {}): Promise<Completed> {
    const done = completed(await this.#http.json<ExecResult>("POST", `${this.#path}/exec`, {
      body: processBody(command, options), signal: options.signal, ...patient,
    }));
    if (options.check && !done.ok) throw new CommandFailed(done);
    return done;
  }

  /** A program that goes on beside others. With `open_stdin` more input can be sent. */
  async start(command: Command, options: CommandOptions & { open_stdin?: boolean } = {}): Promise<Process> {
    const info = await this.#http.json<ProcessInfo>("POST", `${this.#path}/processes`, {
      body: processBody(command, options), signal: options.signal,
    });
    return new Process(this.#http, this.#path, info);
  }

  /** Those that run, and those that ended a while ago. */
  async processes(): Promise<Process[]> {
    const { items } = await this.#http.json<{ items: ProcessInfo[] }>("GET", `${this.#path}/processes`);
    return items.map((info) => new Process(this.#http, this.#path, info));
  }

  /**
   * A cell in the default context of its language (Python unless told): what it defines is there for
   * the next one. Code that throws is a result.
   */
  run(code: string, options: CellOptions & { language?: ContextInput["language"] } = {}): Promise<Cell> {
    const { language = "python", timeout, ...listeners } = options;
    return runCell(this.#http, `${this.#path}/execute`, given({ code, language, timeout }), listeners);
  }

  async #act(what: string, body?: object): Promise<SandboxInfo> {
    return this.info = await this.#http.json<SandboxInfo>("POST", `${this.#path}/${what}`, { body, ...patient });
  }
}

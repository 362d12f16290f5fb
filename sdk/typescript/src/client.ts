// The client: code, tools and commands at once; everything else by topic.
import { type BatchItem, type BatchOptions, runBatch } from "./batch.ts";
import { AgentVariables, Configs, Variables } from "./configs.ts";
import { Audit, Backends, Keys, Maintenance, Organizations } from "./engine.ts";
import { Http } from "./http.ts";
import { inputOf, keyOf, runBody, type RunInput, type RunOptions, type What } from "./options.ts";
import { PackageSets } from "./packages.ts";
import { result, type Result, valueOf } from "./results.ts";
import { Run, Runs } from "./runs.ts";
import { Sandboxes } from "./sandboxes.ts";
import { type ClientOptions, settingsOf } from "./settings.ts";
import { Snapshots } from "./snapshots.ts";
import { Tools } from "./tools.ts";
import type { Explanation, RunEvent, RunResult } from "./types/index.ts";

/**
 * An engine. Without arguments it is the one of TROUPE_SERVER, or the one on this machine; the key is
 * that of TROUPE_API_KEY.
 */
export class Troupe {
  readonly runs: Runs;
  readonly tools: Tools;
  readonly sandboxes: Sandboxes;
  readonly snapshots: Snapshots;
  readonly packageSets: PackageSets;
  readonly configs: Configs;
  readonly backends: Backends;
  readonly keys: Keys;
  readonly organizations: Organizations;
  readonly audit: Audit;
  readonly maintenance: Maintenance;
  readonly #http: Http;

  constructor(options: ClientOptions = {}) {
    const http = new Http(settingsOf(options));
    this.#http = http;
    this.runs = new Runs(http);
    this.tools = new Tools(http);
    this.sandboxes = new Sandboxes(http);
    this.snapshots = new Snapshots(http);
    this.packageSets = new PackageSets(http);
    this.configs = new Configs(http);
    this.backends = new Backends(http);
    this.keys = new Keys(http);
    this.organizations = new Organizations(http);
    this.audit = new Audit(http);
    this.maintenance = new Maintenance(http);
  }

  // -- runs -----------------------------------------------------------------------

  /**
   * Runs a snippet, or what `source`, `tool_name`, `command` or `argv` say, and gives the result, also
   * that of a failure. Its signal ends the run.
   */
  async run<T = unknown>(what: What, options: RunOptions = {}): Promise<Result<T>> {
    const input = inputOf(what, options);
    return result<T>(await this.#http.json<RunResult>("POST", "/v1/runs", {
      body: runBody(input), key: keyOf(input, true), signal: input.signal, withinMs: null,
      harmless: input.idempotent,
    }));
  }

  /** The value of a stored tool; ToolFailed if it has none. */
  async call<T = unknown>(tool: string, args: object = {}, options: RunOptions = {}): Promise<T> {
    const input: RunInput = { ...options, tool_name: tool, args: args as Record<string, unknown> };
    return valueOf(await this.run<T>(input));
  }

  /** A stored tool as a function. */
  tool<Args extends object, T = unknown>(name: string, options: RunOptions = {}): (args: Args) => Promise<T> {
    return (args) => this.call<T>(name, args, options);
  }

  /**
   * As `run`, and what happens as it happens. The last event is `end`, with the result. Leaving it
   * early ends the run.
   */
  stream(what: What, options: RunOptions = {}): AsyncGenerator<RunEvent, void> {
    const input = inputOf(what, options);
    return this.#http.stream("POST", "/v1/runs", {
      body: runBody(input), key: keyOf(input, true), signal: input.signal,
    });
  }

  /** Begins a run that goes on without this program. */
  start<T = unknown>(what: What, options: RunOptions = {}): Promise<Run<T>> {
    return this.runs.start(what, options);
  }

  /** What a run would do, without running it. */
  explain(what: What, options: RunOptions = {}): Promise<Explanation> {
    return this.runs.explain(what, options);
  }

  /** Many runs. Each comes when it has ended, or in order. */
  batch<T = unknown>(runs: Iterable<RunInput> | AsyncIterable<RunInput>, options: BatchOptions = {}):
      AsyncGenerator<BatchItem<T>, void> {
    return runBatch(this.#http, runs, options);
  }

  // -- variables ------------------------------------------------------------------

  /** The variables of a config: of a kind of backend, or by its id. */
  variables(config = "local"): Variables {
    return new Variables(this.#http, config);
  }

  /** The variables of an agent. */
  agentVariables(agent: string): AgentVariables {
    return new AgentVariables(this.#http, agent);
  }
}

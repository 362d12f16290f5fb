// Sandboxes that live between calls: /v1/sandboxes.
import { type Http, segment } from "./http.ts";
import { type Network, networkBody, type Seconds } from "./options.ts";
import { Pages } from "./pages.ts";
import { Sandbox } from "./sandbox.ts";
import type { SandboxInfo, SandboxInput } from "./types/index.ts";

/** What a sandbox is made of. */
export interface NewSandbox extends Omit<SandboxInput, "network"> {
  network?: Network;
  /** An idempotency key; a random one unless told. */
  key?: string;
  signal?: AbortSignal;
}

/** `troupe.sandboxes`. */
export class Sandboxes {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * A sandbox. With `await using` it is deleted at the end of the block; its timeout is a net for what
   * is forgotten. With `session`: the one of that session, made if need be.
   */
  async create(what: NewSandbox = {}): Promise<Sandbox> {
    const { network, key, signal, ...body } = what;
    const sent: SandboxInput = body;
    if (network !== undefined) sent.network = networkBody(network);
    const info = await this.#http.json<SandboxInfo>("POST", "/v1/sandboxes", {
      body: sent, key, signal, withinMs: null,
    });
    return new Sandbox(this.#http, info);
  }

  /** By its id, as it is. */
  async get(id: string): Promise<Sandbox> {
    return new Sandbox(this.#http, await this.#http.json("GET", `/v1/sandboxes/${segment(id)}`));
  }

  /** By its id, and running: it is resumed if it is paused. */
  async connect(id: string, options: { timeout?: Seconds } = {}): Promise<Sandbox> {
    const sandbox = await this.get(id);
    await sandbox.connect(options);
    return sandbox;
  }

  /** Those that are not over, unless `state` says which. */
  list(filter: { limit?: number; state?: SandboxInfo["state"][]; name?: string; template?: string;
                 session?: string; place?: string; metadata?: Record<string, string> } = {}): Pages<SandboxInfo> {
    const { metadata, ...query } = filter;
    const pairs = Object.entries(metadata ?? {}).map(([name, value]) => `${name}:${value}`);
    return new Pages(this.#http, "/v1/sandboxes", { ...query, metadata: pairs });
  }
}

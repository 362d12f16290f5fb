// Servers inside of a sandbox, seen from outside.
import { TroupeError } from "./errors.ts";
import { given, type Http } from "./http.ts";
import { sleep } from "./retry.ts";
import type { SandboxPort, SandboxPortOpened } from "./types/index.ts";

const lookEvery = 100; // milliseconds

/** `sandbox.ports`. */
export class Ports {
  readonly #http: Http;
  readonly #path: string;

  constructor(http: Http, sandbox: string) {
    this.#http = http;
    this.#path = `${sandbox}/ports`;
  }

  /** Those that are listened on inside, and those that were opened. */
  async list(): Promise<SandboxPort[]> {
    return (await this.#http.json<{ items: SandboxPort[] }>("GET", this.#path)).items;
  }

  /** Until something listens there. */
  async wait(port: number, options: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<void> {
    const { timeoutMs = 30_000, signal } = options;
    const until = Date.now() + timeoutMs;
    while (!(await this.list()).some((one) => one.port === port && one.listening)) {
      if (Date.now() > until) {
        throw new TroupeError(`nothing listens on port ${port} after ${timeoutMs} ms; is the server started?`);
      }
      await sleep(lookEvery, signal);
    }
  }

  /** Opens a port to the bearer of a token, which is told only now. */
  open(port: number, options: { expires_in?: number; public?: boolean } = {}): Promise<SandboxPortOpened> {
    return this.#http.json("POST", `${this.#path}/${port}`, { body: given(options) });
  }

  /**
   * A URL that opens the port to its bearer: of a host name of its own (`sandbox.preview-listen`) for
   * browsers, else a path of the engine for programs. There is a token in it: treat it as a secret.
   */
  async url(port: number, options: { expires_in?: number } = {}): Promise<string> {
    const opened = await this.open(port, options);
    return opened.url ?? this.#http.settings.url + opened.path_url;
  }

  /** Ends all tokens of a port. */
  close(port: number): Promise<void> {
    return this.#http.call("DELETE", `${this.#path}/${port}`);
  }

  /** Asks a server inside, with this client's key. */
  request(port: number, path = "/", init: RequestInit = {}): Promise<Response> {
    const { url, key, fetch } = this.#http.settings;
    const headers = new Headers(init.headers);
    if (key) headers.set("authorization", `Bearer ${key}`);
    return fetch(`${url}${this.#path}/${port}/proxy/${path.replace(/^\/+/, "")}`,
      { ...init, headers, redirect: "manual" });
  }
}

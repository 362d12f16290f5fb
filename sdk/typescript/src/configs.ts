// What runs of a kind of backend have in common, and their variables:
// /v1/sandbox-configs, /v1/variables, /v1/agents.
import { given, type Http, segment } from "./http.ts";
import { Pages } from "./pages.ts";
import { ifMatch } from "./tools.ts";
import type { AgentVariable, SandboxConfig, Variable } from "./types/index.ts";

const base = "/v1/sandbox-configs";
const kinds = ["local", "e2b", "modal", "daytona", "aio"];

/** `troupe.configs`. */
export class Configs {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Creates the config of a kind of backend, or replaces it. */
  put(type: string, config: Record<string, unknown>): Promise<SandboxConfig> {
    return this.#http.json("POST", base, { body: { type, config } });
  }

  /** The config of a kind of backend, made with the defaults if need be. */
  default(type: string): Promise<SandboxConfig> {
    return this.#http.json("POST", `${base}/default`, { body: { type } });
  }

  list(filter: { limit?: number; type?: string } = {}): Pages<SandboxConfig> {
    return new Pages(this.#http, base, filter);
  }

  get(id: string): Promise<SandboxConfig> {
    return this.#http.json("GET", `${base}/${segment(id)}`);
  }

  /** Changes some members; null resets one to its default. */
  update(id: string, config: Record<string, unknown>, options: { revision?: number } = {}):
      Promise<SandboxConfig> {
    const headers = ifMatch(options.revision);
    return this.#http.json("PATCH", `${base}/${segment(id)}`, { body: { config }, headers });
  }

  /** Deletes a config, and its variables. */
  delete(id: string, options: { revision?: number } = {}): Promise<void> {
    return this.#http.call("DELETE", `${base}/${segment(id)}`, { headers: ifMatch(options.revision) });
  }
}

/** The variables of a config. Values are stored encrypted and never read. */
export class Variables {
  readonly #http: Http;
  #config: string;

  constructor(http: Http, config: string) {
    this.#http = http;
    this.#config = config;
  }

  /** Creates a variable, or replaces the one of that name. */
  async set(key: string, value: string, description?: string): Promise<Variable> {
    return this.#http.json("POST", await this.#path(), { body: given({ key, value, description }) });
  }

  /** All of them, without their values. */
  async list(): Promise<Variable[]> {
    return new Pages<Variable>(this.#http, await this.#path()).all();
  }

  /** Changes the name, the value or the description of a variable. */
  update(key: string, change: { name?: string; value?: string; description?: string }): Promise<void> {
    const { name, ...rest } = change;
    return this.#each(key, "PATCH", given({ ...rest, key: name }));
  }

  /** By its name; nothing happens where there is none. */
  delete(key: string): Promise<void> {
    return this.#each(key, "DELETE");
  }

  async #each(key: string, method: string, body?: object): Promise<void> {
    for (const variable of await this.list()) {
      if (variable.key === key) await this.#http.call(method, `/v1/variables/${segment(variable.id)}`, { body });
    }
  }

  async #path(): Promise<string> {
    if (kinds.includes(this.#config)) {
      this.#config = (await new Configs(this.#http).default(this.#config)).id;
    }
    return `${base}/${segment(this.#config)}/variables`;
  }
}

/** The variables of an agent: for runs with its `agent_id`. */
export class AgentVariables {
  readonly #http: Http;
  readonly #path: string;

  constructor(http: Http, agent: string) {
    this.#http = http;
    this.#path = `/v1/agents/${segment(agent)}/variables`;
  }

  /** Adds variables, or overwrites them. */
  set(values: Record<string, string>): Promise<void> {
    return this.#http.call("PATCH", this.#path, { body: { values } });
  }

  /** These, and no others. */
  replace(values: Record<string, string>): Promise<void> {
    return this.#http.call("PUT", this.#path, { body: { values } });
  }

  /** All of them, without their values. */
  list(): Promise<AgentVariable[]> {
    return new Pages<AgentVariable>(this.#http, this.#path).all();
  }

  delete(key: string): Promise<void> {
    return this.#http.call("DELETE", `${this.#path}/${segment(key)}`);
  }
}

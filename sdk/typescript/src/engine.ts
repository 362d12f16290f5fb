// The engine itself: backends, keys, organizations, the audit log, maintenance.
import { given, type Http, segment } from "./http.ts";
import { Pages } from "./pages.ts";
import type {
  AuditEntry, Backend, Backup, Drained, Key, MasterKeyChange, NewKey, Organization, OrganizationSummary,
} from "./types/index.ts";

/** `troupe.backends`: where runs are carried out. */
export class Backends {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** All of them, with their health. */
  async list(): Promise<Backend[]> {
    return (await this.#http.json<{ items: Backend[] }>("GET", "/v1/backends")).items;
  }
}

/** `troupe.keys`: API keys of the organization. */
export class Keys {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** `key` of the answer is the key; it is never shown again. */
  create(name: string, scopes: NewKey["scopes"],
         options: { expires_in_days?: number; organization_id?: string } = {}): Promise<NewKey> {
    return this.#http.json("POST", "/v1/keys", { body: given({ name, scopes, ...options }) });
  }

  list(filter: { limit?: number } = {}): Pages<Key> {
    return new Pages(this.#http, "/v1/keys", filter);
  }

  delete(id: string): Promise<void> {
    return this.#http.call("DELETE", `/v1/keys/${segment(id)}`);
  }
}

/** `troupe.organizations`. */
export class Organizations {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Whose key this is, and what it allows. */
  self(): Promise<Organization> {
    return this.#http.json("GET", "/v1/organizations/self");
  }

  /** All of them for an operator, else one's own. */
  list(filter: { limit?: number } = {}): Pages<OrganizationSummary> {
    return new Pages(this.#http, "/v1/organizations", filter);
  }

  /** Deletes its tools, configs, variables and keys. */
  delete(id: string): Promise<void> {
    return this.#http.call("DELETE", `/v1/organizations/${segment(id)}`);
  }
}

/** `troupe.audit`: what was run and changed. */
export class Audit {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** The oldest first. */
  list(filter: { limit?: number; after?: string } = {}): Pages<AuditEntry> {
    return new Pages(this.#http, "/v1/audit", filter);
  }

  /** The newest entries, in order. */
  async last(count = 50): Promise<AuditEntry[]> {
    return (await this.#http.json<{ items: AuditEntry[] }>("GET", "/v1/audit", { query: { last: count } })).items;
  }
}

/** `troupe.maintenance`: for operators. */
export class Maintenance {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Copies the store into a new directory on the engine's machine. */
  backUp(directory: string): Promise<Backup> {
    return this.#http.json("POST", "/v1/maintenance/backups", { body: { directory }, withinMs: null });
  }

  rotateMasterKey(): Promise<MasterKeyChange> {
    return this.#http.json("POST", "/v1/maintenance/master-key", { withinMs: null });
  }

  /** Refuses new runs from now on, and waits for the others. */
  drain(options: { timeout_seconds?: number } = {}): Promise<Drained> {
    return this.#http.json("POST", "/v1/maintenance/drain", { body: given(options), withinMs: null });
  }
}

// Written by sdk/make_types.py from net/api/openapi.json: do not edit.

export interface BackendNode {
  /** The node, as cluster.seeds names it. */
  name: string;
  /** Whether the node accepts runs. */
  ready: boolean;
  /** "ready", or why it gets no runs. */
  reason: string;
  /** State of its circuit breaker. */
  circuit: "closed" | "open" | "half_open";
  /** Runs in progress there. */
  running: number;
  /** Runs that it answered. */
  runs: number;
  /** Runs that it refused or lost. */
  failures: number;
}

export interface Backend {
  /** Name of the backend: its kind, or an account such as `e2b.research`. */
  name: string;
  /** Kind of backend. */
  kind: "local" | "e2b" | "modal" | "daytona" | "aio" | "peer";
  /** Whether it is enabled by the settings. */
  configured: boolean;
  /**
   * Whether it is configured and reachable, as far as it is known. It is not
   * sent runs while `circuit` is `open`.
   */
  ready: boolean;
  /**
   * "ready", or why it is not used: what is missing, or after how many failures
   * its circuit breaker opened and until when.
   */
  reason: string;
  /**
   * closed: runs are sent to it. open: it failed too often and is not used for
   * a while. half_open: a single run is sent to it as a probe.
   */
  circuit: "closed" | "open" | "half_open";
  /** Runs in progress there. */
  running: number;
  /** Runs that wait for it. */
  waiting: number;
  /** Most runs at the same time. */
  limit: number;
  /** Of `peer`: the other nodes. Empty elsewhere. */
  nodes: BackendNode[];
}

export interface Key {
  /** Id of the key, to delete it by; not the key itself. */
  id: string;
  /** The organization that it belongs to. */
  organization_id: string;
  /** A name for people. */
  name: string;
  /**
   * `run`: run tools, read tools and runs. `config`: change tools, sandbox
   * configs, variables and package sets. `admin`: API keys and the audit log;
   * includes `run` and `config`. `operator`: everything, for every
   * organization, and maintenance; only an operator can grant it.
   */
  scopes: ("run" | "config" | "admin" | "operator")[];
  /** When it was created. */
  created_at: string;
  /** When it expires; null: never. */
  expires_at: string | null;
}

export interface NewKey {
  /** Id of the key, to delete it by; not the key itself. */
  id: string;
  /** The organization that it belongs to. */
  organization_id: string;
  /** A name for people. */
  name: string;
  /**
   * `run`: run tools, read tools and runs. `config`: change tools, sandbox
   * configs, variables and package sets. `admin`: API keys and the audit log;
   * includes `run` and `config`. `operator`: everything, for every
   * organization, and maintenance; only an operator can grant it.
   */
  scopes: ("run" | "config" | "admin" | "operator")[];
  /** When it was created. */
  created_at: string;
  /** When it expires; null: never. */
  expires_at: string | null;
  /** The key; it is never shown again. */
  key: string;
}

export interface AuditEntry {
  /** Number of the entry, from 1 without gaps. */
  sequence: number;
  /** When it happened. */
  at: string;
  /** Hash of this entry and the previous one, which chains them. */
  hash: string;
  /**
   * What happened: `event` is `run` or `change`; the other members depend on
   * it.
   */
  details: Record<string, unknown>;
}

export interface Organization {
  /** Id of the organization. */
  id: string;
  /** Id of the key of this request; null without one. */
  key_id: string | null;
  /** Whether this caller may run tools. */
  can_run: boolean;
  /** Whether this caller may change tools, configs and variables. */
  can_config: boolean;
  /** Whether this caller may manage keys and read the audit log. */
  can_admin: boolean;
  /** Has the scope `operator`. */
  can_operate: boolean;
  /** Number of tools. */
  tools: number;
  /** Number of sandbox configs. */
  sandbox_configs: number;
  /** Number of variables. */
  variables: number;
}

export interface OrganizationSummary {
  /** Id of the organization. */
  id: string;
  /** Number of tools. */
  tools: number;
  /** Number of sandbox configs. */
  sandbox_configs: number;
  /** Number of variables. */
  variables: number;
  /** Number of keys. */
  keys: number;
}

export interface Backup {
  /** The directory of the backup, on the engine's machine. */
  directory: string;
  /** Number of files. */
  files: number;
  /** Size of all files together. */
  bytes: number;
  /** The format version of the store. */
  format: number;
  /**
   * Id of the master key that decrypts its secrets; the key itself is not
   * included.
   */
  master_key_id: string;
}

export interface MasterKeyChange {
  /** Id of the old key. */
  old_key_id: string;
  /** Id of the new key. */
  new_key_id: string;
}

export interface Drained {
  /** No run is in progress. */
  drained: boolean;
  /** Runs that have not ended, queued ones included. */
  running: number;
}

// Written by sdk/make_types.py from net/api/openapi.json: do not edit.

export interface SandboxConfig {
  /** Id of the sandbox config. */
  id: string;
  /** The organization that it belongs to. */
  organization_id?: string;
  /** The kind of backend that it is for. */
  type: "local" | "e2b" | "modal" | "daytona" | "aio" | "peer";
  /**
   * The config as it is stored, with its defaults. Of type `local`,
   * `sandbox_dir`, `use_venv` and `venv_name` are there for Letta's clients,
   * and have no effect unless they are changed.
   */
  config: Record<string, unknown>;
  /** Grows with every change; the ETag is made of it. */
  revision: number;
  /** The first 12 hex digits of SHA-256 of the canonical config. */
  fingerprint: string;
  /** When it was created. */
  created_at: string;
  /** When it was changed last. */
  updated_at: string;
  /** The user who created it. */
  created_by?: string;
  /** The user who changed it last. */
  updated_by?: string;
}

/** The value can be written but never read. */
export interface Variable {
  /** Id of the variable. */
  id: string;
  /** The organization that it belongs to. */
  organization_id?: string;
  /** The sandbox config that it belongs to. */
  sandbox_config_id?: string;
  /** Name of the variable. */
  key: string;
  /** What it is for. */
  description?: string;
  /** When it was created. */
  created_at: string;
  /** When it was changed last. */
  updated_at: string;
  /** The user who created it. */
  created_by?: string;
  /** The user who changed it last. */
  updated_by?: string;
}

export interface AgentVariable {
  /** Id of the variable. */
  id: string;
  /** The organization that it belongs to. */
  organization_id?: string;
  /** The agent that it belongs to. */
  agent_id: string;
  /** Name of the variable. */
  key: string;
  /** What it is for. */
  description?: string;
  /** When it was created. */
  created_at?: string;
  /** When it was changed last. */
  updated_at?: string;
}

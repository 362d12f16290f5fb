// Written by sdk/make_types.py from net/api/openapi.json: do not edit.

export interface StoredTool {
  /** Id of the tool; it stays the same when the tool changes. */
  id: string;
  /** The organization that it belongs to. */
  organization_id?: string;
  /** Name of the tool, unique in its organization. */
  name: string;
  /** What the tool does, for agents. */
  description?: string;
  /** Always `custom`. */
  tool_type?: string;
  /** Language of the source: python, typescript or javascript. */
  source_type?: string;
  /** The source, with the function that is called. */
  source_code: string;
  /**
   * Schema that agents call the tool by: `name`, `description`, `parameters`.
   * Derived from the source if it is absent.
   */
  json_schema?: Record<string, unknown>;
  /**
   * JSON schema of the arguments alone; it replaces the derived `parameters`.
   */
  args_json_schema?: Record<string, unknown>;
  /** Words that tools can be listed by. */
  tags?: string[];
  /** Most characters of the value; see `value_truncated`. */
  return_char_limit?: number;
  /**
   * Python packages: `requests>=2.31`, or name and version. Installed once per
   * set and shared read-only.
   */
  pip_requirements?: string[];
  /**
   * npm packages: `lodash@4`, or name and version. Installed once per set and
   * shared read-only.
   */
  npm_requirements?: string[];
  /**
   * For clients that ask people before they run a tool; the engine only stores
   * it.
   */
  default_requires_approval?: boolean;
  /** For clients that run tools side by side; the engine only stores it. */
  enable_parallel_execution?: boolean;
  /**
   * Members of the client. `sandbox` chooses the backend, `lenient_arguments`
   * binds arguments as Letta does.
   */
  metadata?: Record<string, unknown>;
  /** A label of the client; LETTA_PROJECT_ID in the run. */
  project_id?: string;
  /** Grows with every change; the ETag is made of it. */
  revision: number;
  /** When it was created. */
  created_at: string;
  /** When it was changed last. */
  updated_at: string;
  /** The user who created it. */
  created_by?: string;
  /** The user who changed it last. */
  updated_by?: string;
}

export interface DerivedSchema {
  /** Name of the function. */
  name: string;
  /** Its description, from the docstring or comment. */
  description: string;
  /** The schema: `name`, `description`, `parameters`. */
  schema: Record<string, unknown>;
}

/**
 * Without json_schema, the schema of a Python tool is derived from its source.
 */
export interface ToolInput {
  /**
   * Name of the tool, unique in its organization; otherwise that of the
   * function.
   */
  name?: string;
  /** What the tool does, for agents; otherwise from the source. */
  description?: string;
  /** Language of the source: python, typescript or javascript. */
  source_type?: "python" | "typescript" | "javascript";
  /** The source, with the function that is called. */
  source_code: string;
  /**
   * Schema that agents call the tool by: `name`, `description`, `parameters`.
   * Derived from the source if it is absent.
   */
  json_schema?: Record<string, unknown>;
  /**
   * JSON schema of the arguments alone; it replaces the derived `parameters`.
   */
  args_json_schema?: Record<string, unknown>;
  /** Words that tools can be listed by. */
  tags?: string[];
  /** Most characters of the value; see `value_truncated`. */
  return_char_limit?: number;
  /**
   * Python packages: `requests>=2.31`, or name and version. Installed once per
   * set and shared read-only.
   */
  pip_requirements?: (string | { name: string; version?: string })[];
  /**
   * npm packages: `lodash@4`, or name and version. Installed once per set and
   * shared read-only.
   */
  npm_requirements?: (string | { name: string; version?: string })[];
  /**
   * For clients that ask people before they run a tool; the engine only stores
   * it.
   */
  default_requires_approval?: boolean;
  /** For clients that run tools side by side; the engine only stores it. */
  enable_parallel_execution?: boolean;
  /**
   * `sandbox` selects the backend. `lenient_arguments`: true binds arguments as
   * Letta does: unknown names are dropped, and values of the wrong type are
   * passed to the tool.
   */
  metadata?: Record<string, unknown>;
  /** A label of the client; LETTA_PROJECT_ID in the run. */
  project_id?: string;
}

export interface ToolChange {
  /** Name of the tool, unique in its organization. */
  name?: string;
  /** What the tool does, for agents. */
  description?: string;
  /** Language of the source: python, typescript or javascript. */
  source_type?: "python" | "typescript" | "javascript";
  /** The source, with the function that is called. */
  source_code?: string;
  /**
   * Schema that agents call the tool by: `name`, `description`, `parameters`.
   * Derived from the source if it is absent.
   */
  json_schema?: Record<string, unknown>;
  /**
   * JSON schema of the arguments alone; it replaces the derived `parameters`.
   */
  args_json_schema?: Record<string, unknown>;
  /** Words that tools can be listed by. */
  tags?: string[];
  /** Most characters of the value; see `value_truncated`. */
  return_char_limit?: number;
  /**
   * Python packages: `requests>=2.31`, or name and version. Installed once per
   * set and shared read-only.
   */
  pip_requirements?: (string | { name: string; version?: string })[];
  /**
   * npm packages: `lodash@4`, or name and version. Installed once per set and
   * shared read-only.
   */
  npm_requirements?: (string | { name: string; version?: string })[];
  /**
   * For clients that ask people before they run a tool; the engine only stores
   * it.
   */
  default_requires_approval?: boolean;
  /** For clients that run tools side by side; the engine only stores it. */
  enable_parallel_execution?: boolean;
  /**
   * `sandbox` selects the backend. `lenient_arguments`: true binds arguments as
   * Letta does: unknown names are dropped, and values of the wrong type are
   * passed to the tool.
   */
  metadata?: Record<string, unknown>;
  /** A label of the client; LETTA_PROJECT_ID in the run. */
  project_id?: string;
}

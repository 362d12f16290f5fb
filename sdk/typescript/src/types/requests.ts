// Written by sdk/make_types.py from net/api/openapi.json: do not edit.

export interface Limits {
  /** Wall-clock time: seconds, or a string such as "1.5s" or "2m". */
  wall_seconds?: number | string;
  /**
   * CPU time of all threads and child processes: seconds, or a string such as
   * "1.5s" or "2m".
   */
  cpu_seconds?: number | string;
  /** Memory, including files in /tmp: bytes, or a string such as "512MiB". */
  memory_bytes?: number | string;
  /** Number of processes and threads. */
  processes?: number | string;
  /** Open files per process. */
  open_files?: number | string;
  /** Size of the private /tmp: bytes, or a string such as "512MiB". */
  disk_bytes?: number | string;
  /** Number of files in the private /tmp. */
  inodes?: number | string;
  /**
   * Size of stdout and of stderr, each: bytes, or a string such as "512MiB".
   */
  output_bytes?: number | string;
  /** Size of the return value as JSON: bytes, or a string such as "512MiB". */
  result_bytes?: number | string;
}

/** Exactly one of tool_id, tool_name, source, code, command and argv. */
export interface RunRequest {
  /**
   * The stored tool to run, by its id. Exactly one of tool_id, tool_name,
   * source, code, command and argv says what runs.
   */
  tool_id?: string;
  /** The stored tool to run, by its name. */
  tool_name?: string;
  /**
   * A function to call, or a script. Without `function` and `args`, a source
   * that does something by itself (prints, calls its functions, has a
   * `__main__` guard) or defines no function runs once, as a program; of one
   * that only defines, the last function is called.
   */
  source?: string;
  /**
   * A snippet, run from top to bottom. The value of its last expression is the
   * result, as in a notebook; `args` are variables.
   */
  code?: string;
  /** A line for `sh -c`. Its exit code and output are the result. */
  command?: string;
  /** A program with its arguments, without a shell. */
  argv?: string[];
  /** Text on the standard input of a command. */
  stdin?: string;
  /** Calls this function of the source; without it, see `source`. */
  function?: string;
  /** Language of `source` and `code`; python if it is absent. */
  language?: "python" | "typescript" | "javascript" | "shell";
  /**
   * Schema of the function, as for a stored tool: `name`, `description`,
   * `parameters`. Arguments are checked against it.
   */
  json_schema?: Record<string, unknown>;
  /**
   * JSON schema of the arguments alone; it replaces the derived `parameters`.
   */
  args_json_schema?: Record<string, unknown>;
  /** The arguments, by name. */
  args?: Record<string, unknown>;
  /** Environment variables of this run; they override all others. */
  env?: Record<string, string>;
  /** Environment variables of the agent. */
  agent_env?: Record<string, string>;
  /**
   * The agent that the run is for: its stored variables apply, and runs can be
   * found by it.
   */
  agent_id?: string;
  /** A label of the client; LETTA_PROJECT_ID in the run. */
  project_id?: string;
  /** The state of the agent; passed to tools with an agent_state parameter. */
  agent_state?: Record<string, unknown>;
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
  /** Most characters of the value; see `value_truncated`. */
  return_char_limit?: number;
  /** Where to run; otherwise the tool's own or the configured default. */
  backend?: string;
  /** The sandbox config to apply; otherwise that of the backend. */
  sandbox_config_id?: string;
  /** Limits of this run; never above what the server allows. */
  limits?: Limits;
  /**
   * What a run may connect to. Loopback, private, link-local and metadata
   * addresses are always blocked.
   */
  network?: "off" | "public" | { allow: string[] };
  /**
   * The isolation that is required: strict (fresh namespaces per run),
   * standard, best_effort (what the host can do) or off. Never weaker than the
   * server permits.
   */
  isolation?: "strict" | "standard" | "best_effort" | "off";
  /** The run may be executed again if an attempt is lost. */
  idempotent?: boolean;
  /** Among the waiting runs of the organization, a higher one goes first. */
  priority?: number;
  /** Time for everything, waiting included: seconds, or a text such as 5m. */
  deadline_seconds?: number | string;
  /**
   * Files that are put into the run's directory before it begins, by their
   * names below it: a text, or bytes as base64. At most `files.count` of them,
   * and `files.bytes-in` together.
   */
  files?: Record<string, string | { base64: string }>;
  /**
   * Which files come back in `files` of the result: names, or patterns with
   * `*`, `?`, `[...]`, and `**` for directories.
   */
  outputs?: string[];
  /** Pairs that runs can be listed by. */
  labels?: Record<string, string>;
}

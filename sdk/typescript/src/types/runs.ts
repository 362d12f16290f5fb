// Written by sdk/make_types.py from net/api/openapi.json: do not edit.
import type { Limits } from "./requests.ts";

export interface Mistake {
  /** Where in the body: a JSON pointer (RFC 6901); empty for the whole. */
  pointer: string;
  /** What is wrong with it. */
  reason: string;
  /** The way out; may be empty. */
  hint?: string;
}

export interface Failure {
  /** The kind of failure, for programs. */
  code: string;
  /** What is wrong, and the way out. */
  detail: string;
  /** Every member or parameter that is wrong. */
  errors?: Mistake[];
}

/** Measured by the engine, never reported by the tool. */
export interface RunUsage {
  /** Elapsed time, in microseconds. */
  wall_us: number;
  /** Processor time, in microseconds. */
  cpu_us: number;
  /** Most memory at the same time. */
  peak_memory_bytes: number;
  /** Bytes written to standard output, also those beyond the limit. */
  stdout_bytes: number;
  /** Bytes written to standard error, also those beyond the limit. */
  stderr_bytes: number;
}

export interface RunFile {
  /** Its name below the run's directory. */
  name: string;
  /** Its type, such as `text/plain`. */
  media_type: string;
  /** Its size in bytes. */
  size: number;
  /** What is in it, where that is text. */
  text?: string;
  /** What is in it, as base64, where it is no text. */
  base64?: string;
  /** Where a large one is fetched: a path of this server. */
  url?: string;
}

/** What the tool raised; absent if it succeeded. */
export interface ToolError {
  /** Class of the exception. */
  name: string;
  /** Its message. */
  message: string;
  /** Its traceback, without the engine's own frames. */
  traceback: string;
  /** One line on it, for an agent. */
  friendly: string;
}

export interface Stage {
  /** Such as resolve, queue, variables, run. */
  name: string;
  /** Microseconds. */
  took_us: number;
}

export interface Failover {
  /** The backend that did not execute it. */
  backend: string;
  /** Why: it failed, or its circuit breaker is open, and until when. */
  reason: string;
}

export interface IsolationLayer {
  /** Name of the layer, as in `troupe doctor`. */
  name: string;
  /** enforced, degraded or absent. */
  state: "enforced" | "degraded" | "absent";
  /** Why it is less than enforced; empty otherwise. */
  reason?: string;
}

/** What was really enforced, layer by layer. */
export interface Isolation {
  /** The isolation level that was required. */
  level: "strict" | "standard" | "best_effort" | "off";
  /** Every layer of isolation, and whether it was in force. */
  layers: IsolationLayer[];
}

export interface Connection {
  /** The host or address, with its port. */
  target: string;
  /** Whether the connection was allowed. */
  allowed: boolean;
  /** Why it was refused. */
  reason: string;
}

/**
 * Only value, agent_state, error and the output come from the tool; everything
 * else is measured by the engine.
 */
export interface RunResult<T = unknown> {
  /** Id of the run. */
  id: string;
  /**
   * In one word: `success`; `error`, the tool failed or could not be started;
   * `timeout`, of wall or CPU time; `limit`, of memory, processes, disk or
   * output; `cancelled`; `lost`, it may have run. `reason` is more exact.
   */
  status: "success" | "error" | "timeout" | "limit" | "cancelled" | "lost";
  /**
   * Why it ended. `raised`: the tool raised an error; `exited`: its process
   * ended by itself, with a value or with `exit_code`.
   */
  reason: "exited" | "signaled" | "wall_timeout" | "cpu_timeout" | "memory_limit" | "output_limit" | "pids_limit" | "disk_limit" | "syscall_blocked" | "policy_denied" | "cancelled" | "start_failed" | "lost" | "raised";
  /**
   * Of a process that ended by itself, else null; never 0 for a tool that
   * failed.
   */
  exit_code?: number | null;
  /** The signal that ended the process, else null. */
  signal?: number | null;
  /** One sentence on `reason`; may be empty. */
  detail?: string;
  /** The return value: any JSON. */
  value: T;
  /** The value had no JSON form; `value` is its text. */
  value_is_text_fallback?: boolean;
  /**
   * Set if the value is bytes. Bytes inside of a value are `{"$bytes":
   * "<base64>"}`.
   */
  value_encoding?: "base64";
  /**
   * The value has more characters than `return_char_limit`: it is null, and
   * `value_size` is how many it has.
   */
  value_truncated?: boolean;
  /** How many characters the value has, where it was truncated; else absent. */
  value_size?: number;
  /**
   * The files that `outputs` asked for. Each has one of `text`, `base64` and
   * `url`: a large one is fetched from its URL, which works for an hour.
   */
  files?: RunFile[];
  /**
   * What a script or snippet showed (a value with `_repr_html_` and the like,
   * figures of matplotlib), each in all its forms by media type: texts, JSON,
   * pictures as base64.
   */
  displays?: (Record<string, unknown>)[];
  /** What the tool raised; absent if it succeeded. */
  error?: ToolError;
  /**
   * What was written to standard output, up to the output limit. Invalid UTF-8
   * becomes U+FFFD.
   */
  stdout: string;
  /**
   * What was written to standard error, up to the output limit. Invalid UTF-8
   * becomes U+FFFD.
   */
  stderr: string;
  /** More was written than the output limit allows. */
  stdout_truncated?: boolean;
  /** More was written than the output limit allows. */
  stderr_truncated?: boolean;
  /** The agent state after the run. */
  agent_state?: unknown;
  /** JSON Patch (RFC 6902). */
  agent_state_diff?: unknown;
  /** What the run used. */
  usage: RunUsage;
  /** The parts of the run in order, and how long each took. */
  stages?: Stage[];
  /** The backend that executes it. */
  backend: string;
  /**
   * Identifies the sandbox config: the first 12 hex digits of SHA-256 over its
   * content.
   */
  fingerprint?: string;
  /** Fingerprint of the package set that is used. */
  package_set?: string;
  /**
   * Preferred backends that did not execute this run, each with the reason: it
   * failed, or its circuit breaker is open, and until when. Empty if the first
   * choice executed it.
   */
  failover?: Failover[];
  /** What was really enforced, layer by layer. */
  isolation: Isolation;
  /** Hosts that the tool tried to reach, as far as they are told. */
  network?: Connection[];
  /** Remarks for people, such as limits that were lowered. */
  notes?: string[];
}

export interface RunRecord {
  /** Id of the run. */
  id: string;
  /** How far the run is. */
  phase: "queued" | "preparing" | "running" | "ended";
  /** Name of the tool; null for a snippet or a command. */
  tool_name: string | null;
  /**
   * The agent that the run is for: its stored variables apply, and runs can be
   * found by it.
   */
  agent_id: string | null;
  /** The backend that executes it. */
  backend: string;
  /** When it was created. */
  created_at: string;
  /** When it ended; null until then. */
  ended_at: string | null;
  /** Pairs that runs can be listed by. */
  labels: Record<string, string>;
  /** Its result, once it has ended with one; null otherwise. */
  result: RunResult | null;
  /** Why the engine could not carry out the run; null otherwise. */
  error: Failure | null;
}

/** A run without its value and output, which are at /v1/runs/{id}. */
export interface RunSummary {
  /** Id of the run. */
  id: string;
  /** How far the run is. */
  phase: "queued" | "preparing" | "running" | "ended";
  /** Name of the tool; null for a snippet or a command. */
  tool_name: string | null;
  /**
   * The agent that the run is for: its stored variables apply, and runs can be
   * found by it.
   */
  agent_id: string | null;
  /** The backend that executes it. */
  backend: string;
  /** When it was created. */
  created_at: string;
  /** When it ended; null until then. */
  ended_at: string | null;
  /** Pairs that runs can be listed by. */
  labels: Record<string, string>;
  /** success or error: whether the tool did its work. */
  status: "success" | "error" | "timeout" | "limit" | "cancelled" | "lost" | null;
  /** Why the run ended: a `reason` of RunResult. */
  reason: string | null;
  /** What the run used. */
  usage: RunUsage | null;
  /** Why the engine could not carry out the run; null otherwise. */
  error: Failure | null;
}

/** Numbered from 1 without gaps; `end` comes exactly once and last. */
export interface RunEvent {
  /**
   * Number of the event, from 1 without gaps; pass it as Last-Event-ID to
   * resume.
   */
  sequence: number;
  /** What happened; `end` is the last event of each run. */
  type: "accepted" | "queued" | "started" | "stdout" | "stderr" | "progress" | "end";
  /** Of stdout and stderr: the text; of progress: one line for people. */
  data?: string;
  /** Of `end`: the result of the run. */
  result?: RunResult | null;
  /** Of `end`: why the engine could not carry out the run. */
  error?: Failure | null;
}

export interface RunLogs {
  /** Id of the run. */
  id: string;
  /** Before `ended` there may be more. */
  phase: "queued" | "preparing" | "running" | "ended";
  /**
   * What was written to standard output, up to the output limit. Invalid UTF-8
   * becomes U+FFFD.
   */
  stdout: string;
  /**
   * What was written to standard error, up to the output limit. Invalid UTF-8
   * becomes U+FFFD.
   */
  stderr: string;
  /** More was written than the output limit allows. */
  stdout_truncated: boolean;
  /** More was written than the output limit allows. */
  stderr_truncated: boolean;
}

export interface ExplainedVariable {
  /** Name of the variable. */
  name: string;
  /** Which layer it comes from; later layers win. */
  origin: string;
  /** Always masked. */
  value: string;
}

export interface Explanation {
  /**
   * The variables that the run would have, and where each comes from. Values
   * are masked.
   */
  variables: ExplainedVariable[];
  /** Backends in the order in which they would be tried. */
  candidates: string[];
  /** Why, one line per decision. */
  reasons: string[];
  /** The limits that would apply. */
  limits: Limits;
  /**
   * What a run may connect to. Loopback, private, link-local and metadata
   * addresses are always blocked.
   */
  network: "off" | "public" | { allow: string[] };
  /** The isolation level that would be required. */
  isolation: "strict" | "standard" | "best_effort" | "off";
  /**
   * Identifies the sandbox config: the first 12 hex digits of SHA-256 over its
   * content.
   */
  fingerprint: string;
}

export interface BatchLine {
  /** `item`: one run has ended; `end`: all have. */
  type: "item" | "end";
  /** Position of the item in the request, from 0. */
  index?: number;
  /** Id of the run; null if there is none. */
  run_id?: string | null;
  /** The result of the run; null if there is none. */
  result?: RunResult | null;
  /** Why this item was not carried out; null otherwise. */
  error?: Failure | null;
  /** Of `end`: how many items there were. */
  items?: number;
  /** Of `end`: items that succeeded. */
  succeeded?: number;
  /** Of `end`: items that failed. */
  failed?: number;
}

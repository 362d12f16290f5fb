// Written by sdk/make_types.py from net/api/openapi.json: do not edit.
import type { Failure } from "./runs.ts";

/** An interpreter that keeps its state between cells. */
export interface ContextInfo {
  /** Its id. */
  id: string;
  /** Its name; null: none. */
  name: string | null;
  /** What its cells are written in. */
  language: "python" | "javascript" | "typescript" | "bash";
  /**
   * Where it began: an absolute path of the sandbox; null: where the sandbox's
   * processes do.
   */
  cwd: string | null;
  /** Whether cells that name no context are for it. */
  default: boolean;
  /** Whether the next cell begins with a fresh interpreter when it was lost. */
  auto_restart: boolean;
  /** What it does now; `lost`: its interpreter has ended. */
  state: "starting" | "idle" | "busy" | "lost";
  /** Why it was lost. */
  detail: string | null;
  /** Inside of the sandbox. */
  pid: number | null;
  /** How many cells its interpreter has begun; a restart begins at 0 again. */
  execution_count: number;
  /** Cells that wait. */
  queued: number;
  /** When it was created. */
  created_at: string;
}

export interface CellOutput {
  /**
   * `display`: shown while the cell runs. `update`: what was shown under this
   * `id` is now this. `result`: the value of its last expression.
   */
  type: "display" | "update" | "result";
  /**
   * A value in the forms that it has, by MIME type: texts, pictures as base64,
   * JSON as JSON.
   */
  data: Record<string, unknown>;
  /** Under which an update finds it. */
  id?: string;
}

export interface CellError {
  /** Always `error`. */
  type: "error";
  /** The class of the error. */
  name: string;
  /** What the error says. */
  value: string;
  /** Where it was raised. */
  traceback: string;
}

export interface CellResult {
  /** The id of the context that it ran in. */
  context: string;
  /**
   * How it ended: `error`: it raised; `interrupted`: by a call; `timeout`: it
   * took too long; `lost`: its context ended before it did.
   */
  status: "queued" | "running" | "ok" | "error" | "interrupted" | "timeout" | "lost";
  /** Whether what the context had defined is still there. */
  state: "kept" | "lost";
  /** Its number among the cells of its interpreter. */
  execution_count: number;
  /** Why, where the status does not say it all. */
  detail: string | null;
  /** When it was accepted. */
  queued_at: string;
  /** When it began; null: it never did. */
  began_at: string | null;
  /** When it ended. */
  ended_at: string | null;
  /** How much it wrote to its standard output, in bytes. */
  stdout_bytes: number;
  /** How much it wrote to its standard error, in bytes. */
  stderr_bytes: number;
  /** Beyond 10,000, or 32 MiB. */
  dropped_events: number;
  /** The last 1 MiB. */
  stdout: string;
  /** Bytes before that. */
  stdout_missed: number;
  /** The last 1 MiB of it. */
  stderr: string;
  /** Bytes before that. */
  stderr_missed: number;
  /** What it showed, and its value. */
  results: CellOutput[];
  /** What it raised; null: nothing. */
  error: CellError | null;
}

/** `end` comes exactly once and last, with what is known of the cell. */
export interface CellEvent {
  /** What this is: output, something shown, its value, an error, or its end. */
  type: "stdout" | "stderr" | "display" | "update" | "result" | "error" | "end";
  /** What was written, of `stdout` and `stderr`. */
  text?: string;
  /** Bytes that came faster than they were read. */
  missed?: number;
  /**
   * A value in the forms that it has, by MIME type: texts, pictures as base64,
   * JSON as JSON.
   */
  data?: Record<string, unknown>;
  /** Under which an update finds it. */
  id?: string;
  /** Of an error: its class. */
  name?: string;
  /** Of an error: what it says. */
  value?: string;
  /** Of an error: where it was raised. */
  traceback?: string;
  /** Why the stream ends before the cell does. */
  error?: Failure;
  /** The id of the context that it ran in. */
  context?: string;
  /**
   * How it ended: `error`: it raised; `interrupted`: by a call; `timeout`: it
   * took too long; `lost`: its context ended before it did.
   */
  status?: "queued" | "running" | "ok" | "error" | "interrupted" | "timeout" | "lost";
  /** Whether what the context had defined is still there. */
  state?: "kept" | "lost";
  /** Its number among the cells of its interpreter. */
  execution_count?: number;
  /** Why, where the status does not say it all. */
  detail?: string | null;
  /** When it was accepted. */
  queued_at?: string;
  /** When it began; null: it never did. */
  began_at?: string | null;
  /** When it ended. */
  ended_at?: string | null;
  /** How much it wrote to its standard output, in bytes. */
  stdout_bytes?: number;
  /** How much it wrote to its standard error, in bytes. */
  stderr_bytes?: number;
  /** Beyond 10,000, or 32 MiB. */
  dropped_events?: number;
}

export interface ContextInterruption {
  /**
   * False: the cell has not stopped within two seconds; restart the context.
   */
  interrupted: boolean;
}

export interface ContextInput {
  /** What its cells are written in. */
  language: "python" | "javascript" | "typescript" | "bash";
  /** A name for it, for you. */
  name?: string;
  /** An absolute path of the sandbox. */
  cwd?: string;
  /** Variables of its interpreter; they override those of the sandbox. */
  env?: Record<string, string>;
  /**
   * When it was lost, the next cell begins with a fresh interpreter; else that
   * is `context_lost`.
   */
  auto_restart?: boolean;
}

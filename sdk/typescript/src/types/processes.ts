// Written by sdk/make_types.py from net/api/openapi.json: do not edit.
import type { Failure } from "./runs.ts";

export interface ProcessInfo {
  /** Id of the process. */
  id: string;
  /** The program with its arguments. */
  argv: string[];
  /** The directory in which it was started. */
  cwd: string | null;
  /** A name of the client for it; null: none. */
  tag: string | null;
  /** Inside of the sandbox. */
  pid: number | null;
  /** running, or ended. */
  state: "running" | "ended";
  /** Why it ended: exited, signaled, timeout, killed, sandbox_ended, lost. */
  reason: string | null;
  /** Only of one that exited. */
  exit_code: number | null;
  /** Number of the signal that ended the process; 0: none. */
  signal: number | null;
  /** What happened, in a sentence. */
  detail: string | null;
  /** When it was started. */
  started_at: string;
  /** When it ended; null until then. */
  ended_at: string | null;
  /** Bytes written to standard output, also those beyond the limit. */
  stdout_bytes: number;
  /** Bytes written to standard error, also those beyond the limit. */
  stderr_bytes: number;
  /** How large its terminal is; null: it has none. */
  terminal: { cols?: number; rows?: number } | null;
}

export interface ExecResult {
  /** Id of the process. */
  id: string;
  /** The program with its arguments. */
  argv: string[];
  /** The directory in which it was started. */
  cwd: string | null;
  /** A name of the client for it; null: none. */
  tag: string | null;
  /** Inside of the sandbox. */
  pid: number | null;
  /** running, or ended. */
  state: "running" | "ended";
  /** Why it ended: exited, signaled, timeout, killed, sandbox_ended, lost. */
  reason: string | null;
  /** Only of one that exited. */
  exit_code: number | null;
  /** Number of the signal that ended the process; 0: none. */
  signal: number | null;
  /** What happened, in a sentence. */
  detail: string | null;
  /** When it was started. */
  started_at: string;
  /** When it ended; null until then. */
  ended_at: string | null;
  /** Bytes written to standard output, also those beyond the limit. */
  stdout_bytes: number;
  /** Bytes written to standard error, also those beyond the limit. */
  stderr_bytes: number;
  /** How large its terminal is; null: it has none. */
  terminal: { cols?: number; rows?: number } | null;
  /** The last 1 MiB. */
  stdout: string;
  /** Bytes before that. */
  stdout_missed: number;
  /**
   * What was written to standard error, up to the output limit. Invalid UTF-8
   * becomes U+FFFD.
   */
  stderr: string;
  /** Bytes of standard error that were dropped before these. */
  stderr_missed: number;
}

export interface ProcessOutput {
  /** Which output it is. */
  stream: "stdout" | "stderr";
  /** Offset of the first byte of `data`. */
  from: number;
  /** Where to go on. */
  next: number;
  /** Bytes that are no longer kept. */
  missed: number;
  /** The output; text, or base64 with `encoding=base64`. */
  data: string;
  /** Nothing will follow. */
  ended: boolean;
}

/** `end` comes exactly once and last. */
export interface ProcessEvent {
  /** What happened; `end` is the last one. */
  type: "output" | "error" | "end";
  /** Which output it is. */
  stream?: "stdout" | "stderr";
  /** Of `output`: offset of its first byte in the stream. */
  from?: number;
  /** Of `output`: bytes that were dropped before these. */
  missed?: number;
  /** Of `output`: text, or base64 with `encoding=base64`. */
  data?: string;
  /** Of `error`: what went wrong. */
  error?: Failure;
  /** Of `end`: the process. */
  process?: ProcessInfo;
}

export interface ProcessInput {
  /** A program with its arguments, or `command`. */
  argv?: string[];
  /** A line for the shell, or `argv`. */
  command?: string;
  /** An absolute path of the sandbox. */
  cwd?: string;
  /** Variables of this process; they override those of the sandbox. */
  env?: Record<string, string>;
  /** What its standard input begins with, at most 1 MiB. */
  stdin?: string;
  /** More input will come; else it ends there. */
  open_stdin?: boolean;
  /**
   * It is killed then, with all that it started: seconds, or a text like 30s.
   */
  timeout?: number | string;
  /** A word of yours, at most 64 bytes. */
  tag?: string;
  /**
   * A terminal in place of three streams: what it shows is its standard output,
   * its input is always open, and Ctrl-C, job control and sizes work. TERM is
   * xterm-256color, unless `env` says otherwise.
   */
  terminal?: { cols?: number; rows?: number };
}

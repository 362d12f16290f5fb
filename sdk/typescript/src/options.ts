// What a run may be told. Members have the names that they have in the HTTP
// interface; four shorter words stand for what is needed most.
import type { Limits, RunRequest } from "./types/index.ts";
import { toBase64 } from "./values.ts";

export type Seconds = number | string;
/** "off", "public", or the hosts that may be reached. */
export type Network = "off" | "public" | readonly string[] | { allow: readonly string[] };

type Subject = "code" | "source" | "tool_name" | "tool_id" | "command" | "argv" | "function" | "args";

/** Options of a run. */
export interface RunOptions extends Omit<RunRequest, Subject | "network" | "files" | "limits"> {
  /** The longest that it may take: seconds, or a text such as "2m". */
  timeout?: Seconds;
  /** The most memory: bytes, or a text such as "256MiB". */
  memory?: number | string;
  /** Packages of the language: pip's, or npm's for TypeScript and JavaScript. */
  packages?: readonly string[];
  network?: Network;
  /** Files that are put into the run's directory before it begins. */
  files?: Record<string, string | Uint8Array>;
  limits?: Limits;
  /**
   * An idempotency key: the same one again gets the same answer, and nothing runs twice. True: a
   * random one, so that a lost answer is asked for again; it costs the engine a durable write. Always
   * so where a run is not waited for.
   */
  key?: string | boolean;
  /** Ends the run, if it is waited for. */
  signal?: AbortSignal;
}

/** A whole run: what is run, and options. */
export interface RunInput extends RunOptions, Pick<RunRequest, Subject> {}

/** What `run` and its like take: code, or more than that. */
export type What = string | RunInput;

export function inputOf(what: What, options: RunOptions): RunInput {
  return typeof what === "string" ? { ...options, code: what } : { ...options, ...what };
}

/** A run as POST /v1/runs takes it. */
export function runBody(input: RunInput): RunRequest {
  const { timeout, memory, packages, network, files, limits, key, signal, ...body } = input;
  const out: RunRequest = body;
  if (limits || timeout !== undefined || memory !== undefined) {
    out.limits = { ...limits };
    if (timeout !== undefined) out.limits.wall_seconds = timeout;
    if (memory !== undefined) out.limits.memory_bytes = memory;
  }
  if (packages) {
    const npm = input.language === "typescript" || input.language === "javascript";
    const name = npm ? "npm_requirements" : "pip_requirements";
    out[name] = [...packages, ...(out[name] ?? [])];
  }
  if (network !== undefined) out.network = networkBody(network);
  if (files) {
    out.files = Object.fromEntries(Object.entries(files).map(([name, one]) =>
      [name, typeof one === "string" ? one : { base64: toBase64(one) }]));
  }
  return out;
}

/** The idempotency key of a run: one that is waited for has none unless it is told. */
export function keyOf(input: RunInput, attached: boolean): string | undefined {
  if (typeof input.key === "string") return input.key;
  return attached && !input.key ? "" : undefined;
}

/** A list of hosts is what may be reached, and nothing else. */
export function networkBody(network: Network): "off" | "public" | { allow: string[] } {
  if (typeof network === "string") return network;
  return { allow: [...("allow" in network ? network.allow : network)] };
}

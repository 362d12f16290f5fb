// Written by sdk/make_types.py from net/api/openapi.json: do not edit.
import type { Failure } from "./runs.ts";

export interface PackageSet {
  /** Identifies the set: SHA-256 over interpreter and packages, in hex. */
  fingerprint: string;
  /** building, ready or failed. */
  state: "building" | "ready" | "failed";
  /** The installed packages, once it is ready. */
  packages: string[];
  /** Size on disk. */
  bytes: number;
  /** When it was built; null until then. */
  built_at: string | null;
  /** When a run used it last; null: not yet. */
  used_at: string | null;
  /** The last line of installer output during a build. */
  progress: string | null;
  /** Why it could not be built; null otherwise. */
  error: Failure | null;
}

/**
 * `end` comes exactly once and last. A slow reader misses lines and is told how
 * many.
 */
export interface PackageSetEvent {
  /** What happened; `end` is the last one. */
  type: "progress" | "end";
  /** Of `progress`: a line of the installer. */
  line?: string;
  /** Of `end`: the package set. */
  package_set?: PackageSet;
}

// Written by sdk/make_types.py from net/api/openapi.json: do not edit.
import type { Failure } from "./runs.ts";

/** What all of it may use together. */
export interface Resources {
  /** Memory. */
  memory_bytes: number;
  /** Disk. */
  disk_bytes: number;
  /** Files and directories. */
  inodes: number;
  /** Processes and threads. */
  processes: number;
}

export interface SandboxInfo {
  /** 22 lower case letters and digits: one label of a host name. */
  id: string;
  /** The organization that it belongs to. */
  organization_id: string;
  /** Its name; null: none. */
  name: string | null;
  /** What it does now. */
  state: "queued" | "creating" | "running" | "pausing" | "paused" | "resuming" | "stopping" | "stopped" | "deleting" | "deleted" | "failed";
  /** Where it is: this machine, or an account at a provider. */
  place: string;
  /** What it is made from; null: the usual. */
  template: string | null;
  /** The one that it was made from. */
  snapshot: string | null;
  /** Pairs that it can be found by. */
  metadata: Record<string, string>;
  /** When it was created. */
  created_at: string;
  /**
   * When its timeout is over or, while it is paused, when it ends; null until
   * it runs.
   */
  ends_at: string | null;
  /** seconds */
  timeout: number;
  /** What becomes of it when its timeout is over. */
  on_timeout: "delete" | "pause" | "stop";
  /** seconds without a use after which `on_idle` happens; null: never. */
  idle_timeout: number | null;
  /** What becomes of it when its `idle_timeout` is over. */
  on_idle: "delete" | "pause" | "stop";
  /** Whether a process, a file call or a connection resumes it. */
  auto_resume: boolean;
  /** A request for the same session gets this sandbox. */
  session: string | null;
  /**
   * The isolation that is required: strict (fresh namespaces per run),
   * standard, best_effort (what the host can do) or off. Never weaker than the
   * server permits.
   */
  isolation: "strict" | "standard" | "best_effort" | "off";
  /** What all of it may use together. */
  resources: Resources;
  /** `off`, `public`, or the hosts that may be reached. */
  network: "off" | "public" | { allow: string[] };
  /**
   * Why it ended or ends: deleted, timeout, idle, paused_too_long,
   * start_failed, queue_timeout, lost, shutdown.
   */
  end: string | null;
  /** What went wrong last. */
  error: Failure | null;
}

export interface SandboxEvent {
  /** Without holes. */
  number: number;
  /** When it happened. */
  at: string;
  /** What happened. */
  type: "state" | "expiring" | "process_started" | "process_ended" | "snapshot" | "rollback";
  /** The state of the sandbox from then on, where that changed. */
  state?: string;
  /** The id of the process that began or ended. */
  process?: string;
  /** The id of the snapshot that was taken, or rolled back to. */
  snapshot?: string;
  /** Why it happened; null: nothing more is said. */
  reason: string | null;
}

export interface Snapshot {
  /** Its id. */
  id: string;
  /** Its name; null: none. */
  name: string | null;
  /** The one that it is of. */
  sandbox: string;
  /** Where it is: the place of its sandbox. */
  place: string;
  /** What its sandbox was made from; null: the usual. */
  template: string | null;
  /** That it takes beside what the sandbox was made from. */
  bytes: number;
  /**
   * `cut`: nothing ran in the sandbox, and what it had written became a layer
   * as it was. `copy`: something ran, and what it had written was copied while
   * it stood still.
   */
  how: "cut" | "copy";
  /** For how many microseconds the sandbox stood still for it. */
  stood_still_us: number;
  /** When it was taken. */
  created_at: string;
}

export interface SandboxPort {
  /** The TCP port inside of the sandbox. */
  port: number;
  /** A server inside listens on it. */
  listening: boolean;
  /** There are tokens for it. */
  opened: boolean;
  /** It is open without one. */
  public: boolean;
}

export interface SandboxPortOpened {
  /** The TCP port inside of the sandbox. */
  port: number;
  /** For browsers; absent without `sandbox.preview-listen`. */
  url?: string;
  /** For programs: a path of this server. */
  path_url: string;
  /** For `X-Troupe-Port-Token`. */
  token: string;
  /** When the token ends, unless the engine ends before. */
  expires_at: string;
  /** Whether it is open to all until then, without the token. */
  public: boolean;
}

export interface SandboxEntry {
  /** Name in its directory. */
  name: string;
  /** Absolute path inside the sandbox. */
  path: string;
  /** What it is; no link is followed at the end of a path. */
  type: "file" | "folder" | "link";
  /** Size of the file; 0 for others. */
  bytes: number;
  /** What a link leads to, as it says; null: it is no link. */
  target: string | null;
}

export interface SandboxInput {
  /**
   * Letters, digits, '-', '_' and '.'; once among the living sandboxes of an
   * organization.
   */
  name?: string;
  /** What it is made from, where its place has such things. */
  template?: string;
  /**
   * The id or the name of a snapshot that it is made from; its place and
   * resources are those of the sandbox that the snapshot is of, unless they are
   * said.
   */
  snapshot?: string;
  /** `local`, a provider, or an account of one such as `e2b.research`. */
  place?: string;
  /**
   * It ends after that: seconds, or a text like 5m. A renewal moves the end.
   */
  timeout?: number | string;
  /** What becomes of it then. */
  on_timeout?: "delete" | "pause" | "stop";
  /**
   * It ends, or what `on_idle` says, when nothing has used it for so long: no
   * process began or got input, no file call, no connection. A process with a
   * timeout of its own counts until that; others do not. 0: never.
   */
  idle_timeout?: number | string;
  /** What becomes of it when its `idle_timeout` is over. */
  on_idle?: "delete" | "pause" | "stop";
  /**
   * Whether a process, a file call or a connection resumes it when it is
   * paused.
   */
  auto_resume?: boolean;
  /**
   * Of a chat, a user, an agent: the sandbox of this session is the answer,
   * resumed if need be, and made only if there is none. It ends when nothing
   * has used it for `sandbox.session-idle-timeout`, unless `idle_timeout` says
   * otherwise.
   */
  session?: string;
  /** Variables of every process in it. They are never shown again. */
  env?: Record<string, string>;
  /** To find it by: at most 64 pairs of at most 256 bytes each. */
  metadata?: Record<string, string>;
  /** `off`, `public`, or the hosts that may be reached. */
  network?: "off" | "public" | { allow: string[] };
  /** The isolation that it requires at least. */
  isolation?: "strict" | "standard" | "best_effort" | "off";
  /** What all of it may use together. */
  resources?: { memory_bytes?: number | string; disk_bytes?: number | string; inodes?: number | string; processes?: number | string };
  /** Whether the answer comes when it runs, or as soon as it is accepted. */
  wait?: "running" | "none";
  /**
   * A repository that is cloned before the sandbox runs, within the minute that
   * it may take to begin. It takes `git` in the sandbox, and a `network` that
   * names the host.
   */
  git?: { url: string; branch?: string; path?: string; depth?: number };
}

export interface SandboxChange {
  /** Pairs that it has from now on; null for one that goes. */
  metadata?: Record<string, string | null>;
  /** It ends so long from now. */
  timeout?: number | string;
  /** What becomes of it when its timeout is over. */
  on_timeout?: "delete" | "pause" | "stop";
  /**
   * It ends, or what `on_idle` says, when nothing has used it for so long. 0 or
   * null: never.
   */
  idle_timeout?: number | string | null;
  /** What becomes of it when its `idle_timeout` is over. */
  on_idle?: "delete" | "pause" | "stop";
  /**
   * Whether a process, a file call or a connection resumes it when it is
   * paused.
   */
  auto_resume?: boolean;
  /**
   * What it may reach from now on: `off`, `public`, or the hosts. Connections
   * that it refuses end. `conflict` for one that was made with `off` and has
   * begun processes.
   */
  network?: "off" | "public" | { allow: string[] };
}

export interface SandboxForkInput {
  /** How many are made; 1 unless told. */
  count?: number;
  /** They end after that; else as the first one. */
  timeout?: number | string;
  /** To find it by: at most 64 pairs of at most 256 bytes each. */
  metadata?: Record<string, string>;
  /** Variables of every process in it. They are never shown again. */
  env?: Record<string, string>;
}

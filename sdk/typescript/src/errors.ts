// What can go wrong. Everything is a TroupeError; its text is one line that says
// what is wrong, why, and what to do.
import type { ExecResult, Mistake, RunResult } from "./types/index.ts";

/** Everything that this package throws of its own. */
export class TroupeError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The engine was not reached, or the connection to it was lost. */
export class ConnectError extends TroupeError {}

/** What answered does not speak as an engine does: a proxy, perhaps, or a wrong address. */
export class UnexpectedAnswer extends TroupeError {}

/** The wait is over and the run, or the process, is not: it goes on. */
export class WaitTimeout extends TroupeError {
  readonly id: string;
  constructor(id: string, milliseconds: number) {
    super(`${id} is still in progress after ${milliseconds} ms; wait again, or end it`);
    this.id = id;
  }
}

/** What an engine says of a request that it refuses (RFC 9457). */
export interface ProblemBody {
  code?: string;
  detail?: string;
  errors?: { pointer?: string; parameter?: string; reason?: string; hint?: string }[];
  request_id?: string;
  run_id?: string | null;
}

/** The engine refused the request, or failed. */
export class ApiError extends TroupeError {
  /** The HTTP status; 0 where the failure came inside of a stream. */
  readonly status: number;
  /** The kind of problem, for programs. */
  readonly code: string;
  /** What is wrong, and the way out. */
  readonly detail: string;
  /** Every member or parameter that is wrong. */
  readonly errors: Mistake[];
  /** To find the request in the engine's log. */
  readonly request_id: string | undefined;
  readonly run_id: string | undefined;
  /** How many seconds to wait before the next try, where that was said. */
  readonly retry_after: number | undefined;

  constructor(problem: ProblemBody, status = 0, headers?: Headers) {
    super(textOf(problem, status));
    this.status = status;
    this.code = problem.code ?? "";
    this.detail = problem.detail ?? "";
    this.errors = (problem.errors ?? []).map((one) => ({
      pointer: one.pointer ?? one.parameter ?? "",
      reason: one.reason ?? "",
      ...(one.hint ? { hint: one.hint } : {}),
    }));
    this.request_id = problem.request_id ?? headers?.get("x-request-id") ?? undefined;
    this.run_id = problem.run_id ?? headers?.get("x-run-id") ?? undefined;
    const after = headers?.get("retry-after") ?? "";
    this.retry_after = /^\d+(\.\d+)?$/.test(after) ? Number(after) : undefined;
  }
}

/** 400: not valid HTTP or JSON, or a malformed header. */
export class BadRequest extends ApiError {}
/** 401: no API key was sent, or it is not valid. */
export class Unauthorized extends ApiError {}
/** 403: the key lacks a scope. */
export class Forbidden extends ApiError {}
/** 404: it does not exist, or belongs to another organization. */
export class NotFound extends ApiError {}
/** 409, 412: it does not fit the present state; look, and try again. */
export class Conflict extends ApiError {}
/** 410: it has ended. */
export class Gone extends ApiError {}
/** 413: larger than the engine takes. */
export class TooLarge extends ApiError {}
/** 422: a member or a parameter is wrong; `errors` lists each. */
export class Invalid extends ApiError {}
/** 429: too much at a time; `retry_after` says when to try again. */
export class RateLimited extends ApiError {}
/** 501: this place cannot do that. */
export class Unsupported extends ApiError {}
/** 503: the engine or the backend cannot take it now. */
export class Unavailable extends ApiError {}
/** Any other 5xx, and failures inside of a stream: not the caller's doing. */
export class EngineFault extends ApiError {}

/** The tool did not do its work; `result` says all about it. */
export class ToolFailed extends TroupeError {
  readonly result: RunResult;
  constructor(result: RunResult) {
    super(`${why(result)} [${result.reason}, ${result.id}]`);
    this.result = result;
  }
}

/** The tool took longer than its limit. */
export class ToolTimeout extends ToolFailed {}
/** The run was cancelled. */
export class ToolCancelled extends ToolFailed {}
/** It is not known how the run ended, or whether it did. */
export class ToolLost extends ToolFailed {}

/** A program in a sandbox failed, and `check` was asked for. */
export class CommandFailed extends TroupeError {
  readonly result: ExecResult;
  readonly exit_code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  constructor(result: ExecResult) {
    const how = result.reason === "exited" ? `exit code ${result.exit_code}` : result.reason;
    const last = lastLine(result.stderr || result.stdout);
    super(`${result.argv.join(" ").slice(0, 200)}: ${how}${last && `: ${last}`}`);
    this.result = result;
    this.exit_code = result.exit_code;
    this.stdout = result.stdout;
    this.stderr = result.stderr;
  }
}

const byStatus: Record<number, typeof ApiError> = {
  400: BadRequest, 401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict,
  410: Gone, 412: Conflict, 413: TooLarge, 422: Invalid, 429: RateLimited,
  501: Unsupported, 503: Unavailable,
};

/** What an answer that is no success means. */
export function errorOfAnswer(status: number, headers: Headers, body: string): TroupeError {
  let problem: (ProblemBody & { status?: number }) | undefined;
  try {
    problem = JSON.parse(body) as ProblemBody;
  } catch {
    problem = undefined;
  }
  if (typeof problem !== "object" || problem === null || problem.status === undefined) {
    // Browsers show a redirect as status 0.
    if (status === 0 || (status >= 300 && status < 400)) {
      return new UnexpectedAnswer(
        `HTTP ${status}: a redirect is not followed, so that the key goes nowhere else; ` +
        "give the address that it leads to");
    }
    if (!(status in byStatus) && status < 500) {
      return new UnexpectedAnswer(
        `HTTP ${status} without a problem that an engine would have told; is the address right?`);
    }
    problem = {
      detail: `HTTP ${status}, but not from an engine: from a proxy before it, or the address is wrong`,
    };
  }
  const kind = byStatus[status] ?? (status >= 500 ? EngineFault : ApiError);
  return new kind(problem, status, headers);
}

/** A result that is no success, as an exception. */
export function errorOfResult(result: RunResult): ToolFailed {
  switch (result.status) {
    case "timeout": return new ToolTimeout(result);
    case "cancelled": return new ToolCancelled(result);
    case "lost": return new ToolLost(result);
    default: return new ToolFailed(result);
  }
}

function textOf(problem: ProblemBody, status: number): string {
  let text = problem.detail || problem.code || `HTTP ${status}`;
  for (const one of problem.errors ?? []) {
    const where = one.pointer ?? one.parameter ?? "";
    if (one.reason && !text.includes(one.reason)) text += `; ${where && `${where}: `}${one.reason}`;
    if (one.hint && !text.includes(one.hint)) text += ` (${one.hint})`;
  }
  const named = [problem.code, status || "", problem.request_id].filter(Boolean).join(", ");
  return `${text} [${named}]`;
}

function why(result: RunResult): string {
  if (result.error) {
    return result.error.friendly || `${result.error.name}: ${result.error.message}`;
  }
  if (result.reason === "exited" && result.exit_code !== null) {
    const last = lastLine(result.stderr);
    return `exit code ${result.exit_code}${last && `: ${last}`}`;
  }
  return result.detail || result.reason;
}

function lastLine(text: string): string {
  return (text.trim().split("\n").pop() ?? "").slice(0, 300);
}

// Results of the engine, with one word more.
import { EngineFault, errorOfResult } from "./errors.ts";
import type { CellResult, ExecResult, Failure, RunResult } from "./types/index.ts";
import { decode } from "./values.ts";

/** `ok`: whether the tool did its work. */
export type Result<T = unknown> = RunResult<T> & { readonly ok: boolean };
/** `ok`: whether the program ended by itself, with 0. */
export type Completed = ExecResult & { readonly ok: boolean };
/** `ok`: whether the cell ran to its end. `text`: its value as text, if any. */
export type Cell = CellResult & { readonly ok: boolean; readonly text: string | undefined };

export function result<T>(data: RunResult): Result<T> {
  const value = decode(data.value, data.value_encoding) as T;
  return { ...data, value, ok: data.status === "success" };
}

export function completed(data: ExecResult): Completed {
  return { ...data, ok: data.reason === "exited" && data.exit_code === 0 };
}

export function cell(data: CellResult): Cell {
  const value = data.results.filter((one) => one.type === "result").pop();
  const text = value?.data["text/plain"];
  return { ...data, ok: data.status === "ok", text: typeof text === "string" ? text : undefined };
}

/** The value of a success; everything else is thrown. */
export function valueOf<T>(one: Result<T>): T {
  if (!one.ok) throw errorOfResult(one);
  return one.value;
}

/** A failure of the engine that came inside of a stream or a record. */
export function fault(failure: Failure | null | undefined, run_id?: string | null): EngineFault {
  return new EngineFault({
    ...(failure ?? { code: "internal", detail: "there is neither a result nor an error" }), run_id,
  });
}

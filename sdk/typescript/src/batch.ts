// Many runs by few requests: /v1/batches.
import { type ApiError, ConnectError } from "./errors.ts";
import type { Http } from "./http.ts";
import { type RunInput, runBody } from "./options.ts";
import { fault, result, type Result } from "./results.ts";
import type { BatchLine, RunRequest } from "./types/index.ts";

/** How one of many runs ended: with a result, or with an error of the engine. */
export interface BatchItem<T = unknown> {
  index: number;
  result?: Result<T>;
  error?: ApiError;
}

export interface BatchOptions {
  /** Most runs at the same time. */
  concurrency?: number;
  /** In the order of the runs, rather than as they end. */
  ordered?: boolean;
  signal?: AbortSignal;
}

const mostItems = 1000; // of one request

/** Takes the runs as it goes, at most 1,000 ahead. */
export async function* runBatch<T>(http: Http, runs: Iterable<RunInput> | AsyncIterable<RunInput>,
                                   options: BatchOptions): AsyncGenerator<BatchItem<T>, void> {
  let begin = 0;
  for await (const part of parts(runs)) {
    const waiting = new Map<number, BatchItem<T>>();
    let at = begin;
    for await (const item of oneRequest<T>(http, part, begin, options)) {
      if (!options.ordered) {
        yield item;
        continue;
      }
      waiting.set(item.index, item);
      for (let next = waiting.get(at); next; next = waiting.get(at)) {
        waiting.delete(at++);
        yield next;
      }
    }
    begin += part.length;
  }
}

async function* parts(runs: Iterable<RunInput> | AsyncIterable<RunInput>): AsyncGenerator<RunRequest[]> {
  let part: RunRequest[] = [];
  for await (const run of runs) {
    part.push(runBody(run));
    if (part.length === mostItems) {
      yield part;
      part = [];
    }
  }
  if (part.length) yield part;
}

async function* oneRequest<T>(http: Http, items: RunRequest[], begin: number,
                              { concurrency, signal }: BatchOptions): AsyncGenerator<BatchItem<T>> {
  const body = { items, ...(concurrency === undefined ? {} : { max_concurrency: concurrency }) };
  for await (const line of http.stream<BatchLine>("POST", "/v1/batches", { body, signal })) {
    if (line.type === "end") return;
    if (line.index === undefined) continue;
    const index = begin + line.index;
    yield line.result ? { index, result: result<T>(line.result) }
      : { index, error: fault(line.error, line.run_id) };
  }
  throw new ConnectError("the batch ended before all of its runs had");
}

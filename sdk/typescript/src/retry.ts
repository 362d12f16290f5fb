// When a request is sent once more, and after how long.
import type { ApiError } from "./errors.ts";

const pauses = { first: 200, longest: 5_000 }; // milliseconds
const longestRetryAfter = 30; // seconds

/** For tests: how long the first pause is. */
export function setFirstPause(milliseconds: number): void {
  pauses.first = milliseconds;
}

/** An idempotency key: 128 random bits. It has to be new, and is no secret. */
export function newKey(): string {
  const bytes = new Uint8Array(16);
  if (globalThis.crypto) crypto.getRandomValues(bytes);
  else bytes.forEach((_, at) => bytes[at] = Math.random() * 256); // Node 18
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether another try may succeed. `again`: this was not the first one. */
export function worthRepeating(error: ApiError, repeatable: boolean, again: boolean): boolean {
  switch (error.status) {
    case 429:
    case 503:
      return (error.retry_after ?? 0) <= longestRetryAfter;
    case 500:
    case 502:
    case 504:
      return repeatable;
    case 409: // our first try is still being carried out
      return again && (error.code === "idempotency_key_in_use" || error.detail.includes("idempotency key"));
    default:
      return false;
  }
}

/** Waits before try number `tries` + 2. */
export async function beforeNextTry(tries: number, error: ApiError | undefined,
                                    signal: AbortSignal | undefined): Promise<void> {
  const longest = Math.min(pauses.longest, pauses.first * 2 ** tries);
  const pause = error?.retry_after !== undefined ? error.retry_after * 1000
    : longest * (0.5 + Math.random() / 2);
  await sleep(pause, signal);
}

export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
}

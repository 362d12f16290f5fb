// Files of sandboxes, kept for others to be made from: /v1/snapshots.
import { type Http, segment } from "./http.ts";
import type { Snapshot } from "./types/index.ts";

/** `troupe.snapshots`. They are taken by `sandbox.snapshot()`. */
export class Snapshots {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** The oldest first. */
  async list(): Promise<Snapshot[]> {
    return (await this.#http.json<{ items: Snapshot[] }>("GET", "/v1/snapshots")).items;
  }

  /** By its id or its name. */
  get(snapshot: string): Promise<Snapshot> {
    return this.#http.json("GET", `/v1/snapshots/${segment(snapshot)}`);
  }

  /** Sandboxes that were made from it stay. */
  delete(snapshot: string): Promise<void> {
    return this.#http.call("DELETE", `/v1/snapshots/${segment(snapshot)}`);
  }
}

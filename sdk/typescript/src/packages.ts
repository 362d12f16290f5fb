// Packages, installed once per set and shared by all runs that require it:
// /v1/package-sets.
import { given, type Http, segment } from "./http.ts";
import { Pages } from "./pages.ts";
import type { PackageSet, PackageSetEvent } from "./types/index.ts";

const base = "/v1/package-sets";

/** `troupe.packageSets`. */
export class PackageSets {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Installs packages before a run needs them. */
  build(what: { pip?: readonly string[]; npm?: readonly string[]; rebuild?: boolean; wait?: boolean;
                signal?: AbortSignal }): Promise<PackageSet> {
    const body = given({ pip_requirements: what.pip, npm_requirements: what.npm, rebuild: what.rebuild });
    const headers = { prefer: what.wait === false ? "respond-async" : undefined };
    return this.#http.json("POST", base, { body, headers, withinMs: null, signal: what.signal });
  }

  list(filter: { limit?: number } = {}): Pages<PackageSet> {
    return new Pages(this.#http, base, filter);
  }

  get(fingerprint: string): Promise<PackageSet> {
    return this.#http.json("GET", `${base}/${segment(fingerprint)}`);
  }

  /** The lines of the installer as they come, then `end`. */
  events(fingerprint: string, options: { signal?: AbortSignal } = {}): AsyncGenerator<PackageSetEvent, void> {
    return this.#http.stream("GET", `${base}/${segment(fingerprint)}/events`, options);
  }

  delete(fingerprint: string): Promise<void> {
    return this.#http.call("DELETE", `${base}/${segment(fingerprint)}`);
  }
}

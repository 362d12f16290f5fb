// Stored tools: /v1/tools.
import { given, type Http, segment } from "./http.ts";
import { Pages } from "./pages.ts";
import type { DerivedSchema, StoredTool, ToolChange, ToolInput } from "./types/index.ts";

/** `troupe.tools`. */
export class Tools {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Creates a tool, or replaces the one of the same name. What is left out is derived from `source_code`. */
  put(tool: ToolInput): Promise<StoredTool> {
    return this.#http.json("PUT", "/v1/tools", { body: tool });
  }

  /** Creates a tool; Conflict if there is one of that name. */
  create(tool: ToolInput): Promise<StoredTool> {
    return this.#http.json("POST", "/v1/tools", { body: tool });
  }

  /** By its id or its name. */
  get(tool: string): Promise<StoredTool> {
    return this.#http.json("GET", path(tool));
  }

  /** By name. */
  list(filter: { limit?: number; search?: string; tag?: string } = {}): Pages<StoredTool> {
    return new Pages(this.#http, "/v1/tools", filter);
  }

  /** Changes some members. With `revision`: Conflict if it is another one by now. */
  update(tool: string, change: ToolChange, options: { revision?: number } = {}): Promise<StoredTool> {
    return this.#http.json("PATCH", path(tool), { body: change, headers: ifMatch(options.revision) });
  }

  delete(tool: string, options: { revision?: number } = {}): Promise<void> {
    return this.#http.call("DELETE", path(tool), { headers: ifMatch(options.revision) });
  }

  /** The JSON schema of a function, without storing or running it. */
  deriveSchema(source_code: string, options: { source_type?: ToolInput["source_type"]; function?: string } = {}):
      Promise<DerivedSchema> {
    const body = given({ source_code, ...options });
    return this.#http.json("POST", "/v1/tools/derive-schema", { body, key: "", harmless: true });
  }
}

/** The ETag of a revision. */
export function ifMatch(revision: number | undefined): Record<string, string | undefined> {
  return { "if-match": revision === undefined ? undefined : `"r${revision}"` };
}

function path(tool: string): string {
  return `/v1/tools/${segment(tool)}`;
}

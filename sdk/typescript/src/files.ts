// Files of a sandbox. Paths are absolute.
import { NotFound } from "./errors.ts";
import type { Http } from "./http.ts";
import type { SandboxEntry } from "./types/index.ts";

const transferWithin = 600_000; // milliseconds, for a large file

/** `sandbox.files`. */
export class Files {
  readonly #http: Http;
  readonly #path: string;

  constructor(http: Http, sandbox: string) {
    this.#http = http;
    this.#path = `${sandbox}/files`;
  }

  /** Writes a file; what is there is replaced, folders on the way are made. */
  write(path: string, content: string | Uint8Array): Promise<void> {
    return this.#http.call("PUT", `${this.#path}/content`, {
      query: { path }, content, withinMs: transferWithin,
    });
  }

  /** A file as text (UTF-8). */
  async read(path: string): Promise<string> {
    return new TextDecoder("utf-8", { fatal: true }).decode(await this.readBytes(path));
  }

  /** A file as it is. */
  readBytes(path: string): Promise<Uint8Array> {
    return this.#http.bytes("GET", `${this.#path}/content`, { query: { path }, withinMs: transferWithin });
  }

  /** What is in a folder. */
  async list(path: string): Promise<SandboxEntry[]> {
    return (await this.#http.json<{ items: SandboxEntry[] }>("GET", this.#path, { query: { path } })).items;
  }

  /** What a path is; NotFound if it is nothing. */
  stat(path: string): Promise<SandboxEntry> {
    return this.#http.json("GET", `${this.#path}/stat`, { query: { path } });
  }

  /** Whether a path is anything. */
  async exists(path: string): Promise<boolean> {
    try {
      await this.stat(path);
      return true;
    } catch (error) {
      if (error instanceof NotFound) return false;
      throw error;
    }
  }

  /** Makes a folder, with its parents. */
  mkdir(path: string): Promise<void> {
    return this.#http.call("POST", `${this.#path}/mkdir`, { body: { path } });
  }

  /** Moves a file or a folder. */
  move(from: string, to: string): Promise<void> {
    return this.#http.call("POST", `${this.#path}/move`, { body: { from, to } });
  }

  /** Removes a file, or a folder with all that is in it. */
  remove(path: string): Promise<void> {
    return this.#http.call("DELETE", `${this.#path}/content`, { query: { path } });
  }
}

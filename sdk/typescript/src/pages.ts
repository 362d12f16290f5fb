// Lists that are longer than one answer.
import type { Http, Query } from "./http.ts";

/** One answer: some items, and where the next ones begin (null: nowhere). */
export interface Page<T> {
  items: T[];
  next: string | null;
}

/** All items, fetched as one goes through them. */
export class Pages<T> implements AsyncIterable<T> {
  readonly #http: Http;
  readonly #path: string;
  readonly #query: Query;

  constructor(http: Http, path: string, query: Query = {}) {
    this.#http = http;
    this.#path = path;
    this.#query = query;
  }

  /** One page: the first, or the one after `next` of another. */
  page(after?: string): Promise<Page<T>> {
    const query = after === undefined ? this.#query : { ...this.#query, after };
    return this.#http.json<Page<T>>("GET", this.#path, { query });
  }

  /** All of them at once. */
  async all(): Promise<T[]> {
    const items: T[] = [];
    for await (const item of this) items.push(item);
    return items;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    let after: string | undefined;
    do {
      const page = await this.page(after);
      yield* page.items;
      after = page.next ?? undefined;
    } while (after !== undefined);
  }
}

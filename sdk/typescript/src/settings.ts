// Where the engine is, and how often it is asked.

export interface ClientOptions {
  /** Else TROUPE_SERVER, else http://127.0.0.1:8283; in a page, the page's origin. */
  baseUrl?: string;
  /** Else TROUPE_API_KEY. It is sent to this engine only. */
  apiKey?: string;
  /** How often a request that may be sent again is; 2 unless told. */
  maxRetries?: number;
  /** Another fetch: for proxies, certificates of one's own, tests. */
  fetch?: typeof fetch;
}

export interface Settings {
  url: string;
  key: string | undefined;
  maxRetries: number;
  fetch: typeof fetch;
}

interface Surroundings {
  process?: { env?: Record<string, string | undefined> };
  Deno?: { env: { get(name: string): string | undefined } };
  location?: { origin: string };
  document?: unknown;
}

export function settingsOf(options: ClientOptions): Settings {
  const text = options.baseUrl ?? environment("TROUPE_SERVER") ?? pageOrigin() ?? "http://127.0.0.1:8283";
  const url = new URL(text.includes("://") ? text : `http://${text}`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TypeError(`baseUrl: ${url.protocol} is not http: or https:`);
  }
  if (url.username || url.password || url.search) {
    throw new TypeError("baseUrl: a key does not belong into an address; pass apiKey, or set TROUPE_API_KEY");
  }
  return {
    url: url.href.replace(/\/+$/, ""),
    key: (options.apiKey ?? environment("TROUPE_API_KEY"))?.trim() || undefined,
    maxRetries: options.maxRetries ?? 2,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
  };
}

function environment(name: string): string | undefined {
  const here = globalThis as unknown as Surroundings;
  try {
    return here.process?.env?.[name] || here.Deno?.env.get(name) || undefined;
  } catch {
    return undefined; // Deno, without the permission to look
  }
}

function pageOrigin(): string | undefined {
  const here = globalThis as unknown as Surroundings;
  return here.document === undefined ? undefined : here.location?.origin;
}

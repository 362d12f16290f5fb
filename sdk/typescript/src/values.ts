// Values as JSON, and back. Bytes are {"$bytes": base64}.

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** A body of JSON. */
export function encode(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, one: unknown) {
    const raw = this[key]; // Node's Buffer would make an object of itself
    return raw instanceof Uint8Array ? { $bytes: toBase64(raw) } : one;
  });
}

/** A value of the engine's, with its bytes. */
export function decode(value: unknown, encoding?: string): unknown {
  if (encoding === "base64" && typeof value === "string") return fromBase64(value);
  if (Array.isArray(value)) return value.map((one) => decode(one));
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 1 && entries[0]![0] === "$bytes" && typeof entries[0]![1] === "string") {
      return fromBase64(entries[0]![1]);
    }
    return Object.fromEntries(entries.map(([name, one]) => [name, decode(one)]));
  }
  return value;
}

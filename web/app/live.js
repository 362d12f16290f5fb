// What is shown stays true: asked for again while it can be seen.
import { Unreachable } from "./api.js";

const longest = 15000;

/** Runs `work` now and every `every` ms until the signal; slower while it fails. */
export function keepFresh(work, every, signal) {
  let timer = 0;
  let failures = 0;
  let going = false;
  async function turn() {
    clearTimeout(timer);
    if (signal.aborted || going) return;
    if (document.hidden) return; // woken by visibilitychange
    going = true;
    try {
      await work();
      failures = 0;
    } catch (why) {
      if (signal.aborted) return;
      failures = why instanceof Unreachable ? failures + 1 : failures + 2;
    } finally {
      going = false;
    }
    const wait = failures ? Math.min(longest, Math.max(every, 500 * 2 ** failures)) : every;
    if (!signal.aborted) timer = setTimeout(turn, wait);
  }
  const now = () => { if (!document.hidden) turn(); };
  document.addEventListener("visibilitychange", now, { signal });
  addEventListener("online", now, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
  turn();
  return turn;
}

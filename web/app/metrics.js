// Rates of the last minutes, from two readings of /metrics; kept while the page lives.

const most = 150;
export const history = [];
let before = null;

/** Name and labels to number: 'troupe_runs_total{outcome="success"}'. */
export function readMetrics(text) {
  const all = new Map();
  for (const line of text.split("\n")) {
    if (!line || line.startsWith("#")) continue;
    const at = line.lastIndexOf(" ");
    all.set(line.slice(0, at), Number(line.slice(at + 1)));
  }
  return all;
}

function sum(all, start, has = "") {
  let total = 0;
  for (const [name, value] of all) if ((name === start || name.startsWith(start + "{")) && name.includes(has)) total += value;
  return total;
}

/** Milliseconds below which a part of what came between two readings was. */
function quantile(all, earlier, part) {
  const steps = [];
  for (const [name, value] of all) {
    const bound = /^troupe_run_duration_seconds_bucket\{le="([^"]+)"\}$/.exec(name)?.[1];
    if (bound) steps.push([bound === "+Inf" ? Infinity : Number(bound), value - (earlier.get(name) ?? 0)]);
  }
  steps.sort((a, b) => a[0] - b[0]);
  const total = steps.at(-1)?.[1] ?? 0;
  if (total <= 0) return undefined;
  let low = 0, below = 0;
  for (const [bound, n] of steps) {
    if (n >= total * part) return 1000 * (bound === Infinity ? low : low + (bound - low) * ((total * part - below) / Math.max(1, n - below)));
    [low, below] = [bound, n];
  }
  return undefined;
}

/** One reading more; gives the figures of now. */
export function sample(all) {
  const at = performance.now();
  const now = {
    total: sum(all, "troupe_runs_total"), running: sum(all, "troupe_runs_running"), waiting: sum(all, "troupe_runs_queued"),
    refused: sum(all, "troupe_runs_refused_total"), sandboxes: sum(all, "troupe_sandboxes"), paused: sum(all, "troupe_sandboxes", 'state="paused"'),
    processes: sum(all, "troupe_sandbox_processes_total"), lost: sum(all, "troupe_ledger_entries_lost_total"), restarts: sum(all, "troupe_actor_restarts_total"),
  };
  if (before && now.total >= before.now.total) {
    const seconds = Math.max(0.001, (at - before.at) / 1000);
    const failed = (of) => sum(of, "troupe_runs_total", "error");
    history.push({ runs: (now.total - before.now.total) / seconds, failed: Math.max(0, failed(all) - failed(before.all)) / seconds,
      p50: quantile(all, before.all, 0.5), p99: quantile(all, before.all, 0.99), running: now.running, waiting: now.waiting, sandboxes: now.sandboxes });
    if (history.length > most) history.shift();
  }
  before = { at, all, now };
  return now;
}

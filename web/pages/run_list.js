// Runs in rows, on their page and on others.
import { h } from "../app/dom.js";
import { list } from "../app/list.js";
import { address } from "../app/router.js";
import { runStatus, status, labels, empty, linkButton } from "../app/parts.js";
import { ago, bytes, micros, short } from "../app/format.js";

const full = [
  { words: "Run", width: "minmax(9rem, 1.6fr)" }, { words: "State", width: "7rem" }, { words: "Why", width: "8rem", phone: false },
  { words: "Took", width: "5.5rem", num: true }, { words: "CPU", width: "5.5rem", num: true, phone: false }, { words: "Memory", width: "5.5rem", num: true, phone: false },
  { words: "Backend", width: "5rem", phone: false }, { words: "Labels", width: "minmax(4rem, 1fr)", phone: false }, { words: "Started", width: "5.5rem", num: true },
];
const little = [{ words: "Run", width: "minmax(8rem, 1fr)" }, { words: "State", width: "7rem" }, { words: "Took", width: "5.5rem", num: true }, { words: "Started", width: "5rem", num: true }];

// The list knows that a run has begun to be handled, not how far it is: its page does.
const state = (run) => (run.phase === "ended" ? runStatus(run) : status("busy", "in progress"));
const name = (run) => [run.tool_name ?? h("span.soft", "code"), " ", h("code.tiny.soft", { title: run.id }, short(run.id))];
const took = (run) => micros(run.usage?.wall_us);

export function runList({ compact = false, filtered = () => false } = {}) {
  return list({
    label: "Runs", columns: compact ? little : full, href: (run) => address("runs", run.id),
    cells: (run) => compact ? [name(run), state(run), took(run), ago(run.created_at)]
      : [name(run), state(run), h("span.soft", run.reason === "exited" ? "" : run.reason ?? run.error?.code ?? ""), took(run), micros(run.usage?.cpu_us), bytes(run.usage?.peak_memory_bytes), run.backend, h("span.row", labels(run.labels)), ago(run.created_at)],
    empty: () => filtered() ? empty("No such run", "No run that is kept fits this filter.", linkButton("Show all", address("runs")))
      : empty("Nothing has run yet", "A run is code, a tool or a command, executed once and in isolation.", linkButton("New run", address("runs", "new"), { name: "plus", kind: "primary" }), h("code", "troupe run script.py")),
  });
}

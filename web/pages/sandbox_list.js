// Sandboxes in rows.
import { h } from "../app/dom.js";
import { list } from "../app/list.js";
import { address } from "../app/router.js";
import { sandboxStatus, labels, empty, linkButton } from "../app/parts.js";
import { ago, bytes } from "../app/format.js";

const full = [{ words: "Sandbox", width: "minmax(9rem, 1.4fr)" }, { words: "State", width: "7rem" }, { words: "Made from", width: "7rem", phone: false }, { words: "Place", width: "5rem", phone: false },
  { words: "Memory", width: "5.5rem", num: true, phone: false }, { words: "Network", width: "6rem", phone: false }, { words: "Metadata", width: "minmax(5rem, 1.2fr)", phone: false }, { words: "Ends", width: "5.5rem", num: true }, { words: "Made", width: "5.5rem", num: true, phone: false }];
const little = [{ words: "Sandbox", width: "minmax(6rem, 1fr)" }, { words: "State", width: "6rem" }, { words: "Ends", width: "5rem", num: true }];

const name = (one) => (one.name ? [one.name, " ", h("code.tiny.soft", one.id.slice(0, 8))] : h("code", one.id));
export const network = (one) => (typeof one.network === "string" ? one.network : `${(one.network?.allow ?? []).length} hosts`);

export function sandboxList({ compact = false, create } = {}) {
  return list({
    label: "Sandboxes", columns: compact ? little : full, href: (one) => address("sandboxes", one.id),
    cells: (one) => compact ? [name(one), sandboxStatus(one.state), one.ends_at ? ago(one.ends_at) : ""]
      : [name(one), sandboxStatus(one.state), h("span.soft", one.template ?? one.snapshot ?? "the base"), one.place, bytes(one.resources?.memory_bytes), network(one), h("span.row", labels(one.metadata)), one.ends_at ? ago(one.ends_at) : "", ago(one.created_at)],
    empty: () => compact ? h("div.body.small.soft", { style: { padding: "1rem" } }, "No sandbox lives now. ", h("a", { href: address("sandboxes", undefined, { new: "1" }) }, "Make one"))
      : empty("No sandbox lives now", "A sandbox is a place that stays between calls: files, processes, interpreters with their state.", create ?? linkButton("New sandbox", address("sandboxes", undefined, { new: "1" }), { kind: "primary" }), h("code", "troupe sandbox create")),
  });
}

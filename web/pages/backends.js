// Where runs can go, and how each place is.
import { h, fill } from "../app/dom.js";
import { get } from "../app/api.js";
import { keepFresh } from "../app/live.js";
import { pageHead } from "../app/shell.js";
import { card, body, copyButton, facts, status } from "../app/parts.js";
import { troupe, curl } from "../app/as_command.js";
import { count } from "../app/format.js";

const enable = { e2b: "E2B_API_KEY", modal: "MODAL_TOKEN_ID, MODAL_TOKEN_SECRET", daytona: "DAYTONA_API_KEY", aio: "SANDBOX_HOST", peer: "cluster settings" };
const kind = (one) => (!one.configured ? "off" : one.circuit === "open" ? "bad" : one.circuit === "half_open" ? "warn" : one.ready ? "ok" : "bad");
const words = (one) => (!one.configured ? "off" : one.circuit === "open" ? "circuit open" : one.circuit === "half_open" ? "being probed" : one.ready ? "ready" : "not ready");

function configured(one) {
  const part = one.limit ? (one.running / one.limit) * 100 : 0;
  const test = troupe("backend", "test", one.name);
  return h("section.card", h("header", h("h2", one.name), status(kind(one), words(one))), body(h("div.stack.tight",
    h("div.row.small", h("span.grow", h("strong", count(one.running)), h("span.soft", ` of ${count(one.limit)} running`)), one.waiting > 0 && h("span.soft", `${count(one.waiting)} waiting`)),
    h("div.meter", { role: "img", "aria-label": `${Math.round(part)} percent in use` }, h("i", { style: { width: `${Math.min(100, part)}%` } })),
    one.reason && one.reason !== "ready" && h("p.small", one.reason),
    one.nodes?.length > 0 && facts(one.nodes.map((node) => [node.name, [status(node.ready ? "ok" : "bad", node.ready ? "ready" : node.reason), ` ${count(node.running)} running, ${count(node.failures)} of ${count(node.runs)} failed`]])),
    one.kind !== "local" && h("div.row.tiny.soft", h("code.cut.grow", test), copyButton(test)))));
}

export async function draw({ signal, command }) {
  const place = h("div.stack");
  const load = async () => {
    const { items } = await get("/v1/backends", {}, signal);
    const on = items.filter((one) => one.configured), off = items.filter((one) => !one.configured);
    fill(place, h("div.grid", on.map(configured)), off.length > 0 && card("Not configured", h("div.list", { style: { "--columns": "8rem minmax(0, 1fr)" } }, off.map((one) => h("div.line", h("span.first", status("off", one.name)), h("span.soft.small", enable[one.kind] ? ["set ", h("code", enable[one.kind])] : one.reason))))));
  };
  await load();
  keepFresh(load, 2500, signal);
  command(troupe("backend", "list"), curl("GET", "/v1/backends"));
  return h("div", pageHead("Backends", { says: "Places where runs can go. One that keeps failing is paused, probed, and used again." }), place);
}

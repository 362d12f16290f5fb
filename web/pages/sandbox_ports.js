// Servers inside a sandbox, and URLs that lead to them.
import { h } from "../app/dom.js";
import { call, get, at, target } from "../app/api.js";
import { keepFresh } from "../app/live.js";
import { list } from "../app/list.js";
import { action, button, check, copyButton, dialog, empty, facts, field, status, toast } from "../app/parts.js";
import { atDate } from "../app/format.js";

export function ports({ path, signal, may }) {
  const rows = list({
    label: "Ports", key: (one) => one.port, columns: [{ words: "Port", width: "6rem" }, { words: "State", width: "8rem" }, { words: "Open to", width: "minmax(6rem, 1fr)" }, { width: "max-content", keep: true }],
    cells: (one) => [h("strong", one.port), one.listening ? status("ok", "listening") : status("off", "nothing there"), one.opened ? (one.public ? "all that know the URL" : "the bearer of its URL") : h("span.soft", "nothing outside"),
      h("span.row", action("Open…", { name: "out", kind: "mini", needs: may }, () => open(one.port)), one.opened && action("Close", { kind: "mini", needs: may }, async () => { await call("DELETE", `${path}${at`/ports/${one.port}`}`); toast("Its URLs have ended"); await load(); }))],
    empty: () => empty("Nothing listens", "Start a server inside, on any port; it is listed here within seconds."),
  });
  const load = async () => rows.update((await get(`${path}/ports`, {}, signal)).items);

  function open(port) {
    const hours = h("input", { type: "number", min: 1, max: 24, value: 1 });
    const anyone = h("input", { type: "checkbox" });
    dialog(`A URL for port ${port}`, h("div.stack", field("For how many hours", hours), check("Without its token, for everything that reaches this engine", anyone)), { words: "Open", yes: async () => {
      const made = await call("POST", `${path}${at`/ports/${port}`}`, { body: { expires_in: (Number(hours.value) || 1) * 3600, public: anyone.checked } });
      const url = new URL(made.url ?? made.path_url, target("/"));
      setTimeout(() => {
        const go = button("Open in a new tab", { name: "out", kind: "primary", onclick: () => window.open(url, "_blank", "noopener,noreferrer") });
        dialog("The URL", h("div.stack", h("p.small.soft", "What answers there was written inside of the sandbox: treat it as a foreign site."), facts([["URL", h("span.copyable", h("code", url.href), copyButton(url.href))], ["Until", atDate(made.expires_at)]]), h("div", go)), { cancel: "Close" });
      });
      await load();
    } });
  }
  const port = h("input", { type: "number", min: 1, max: 65535, placeholder: "3000", "aria-label": "Port", style: { width: "7rem" } });
  keepFresh(load, 2500, signal);
  return h("div.stack", h("div.row", port, button("Open this port", { name: "out", needs: may, onclick: () => (port.value ? open(Number(port.value)) : port.focus()) })), rows);
}

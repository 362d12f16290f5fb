// API keys and organizations.
import { h, fill } from "../app/dom.js";
import { call, get, at, target } from "../app/api.js";
import { list } from "../app/list.js";
import { pageHead } from "../app/shell.js";
import { action, body, button, callout, card, check, copyButton, dialog, empty, facts, field, problem, region, tag, toast } from "../app/parts.js";
import { troupe, curl } from "../app/as_command.js";
import { ago, count, idWithCopy } from "../app/format.js";

const scopes = [["run", "run tools, read tools and runs, sandboxes"], ["config", "change tools, configs, variables, packages"], ["admin", "keys, the audit log; includes run and config"], ["operator", "all organizations, backups; includes all"]];

/** Shown once: it is in no list, and gone when the dialog is. */
function showOnce(made) {
  const env = `TROUPE_API_KEY=${made.key}`;
  const call = `curl -s ${target("/v1/tools").href} -H "authorization: Bearer $TROUPE_API_KEY"`;
  dialog("Your new key", h("div.stack", callout("warn", "warn", "This is the only time that it is shown", h("p.small.soft", "The engine keeps a digest. A key that was lost is deleted, and another one made.")),
    h("div.row", h("code.grow.key", { style: { "overflow-wrap": "anywhere" } }, made.key), copyButton(made.key, "Copy the key")), facts([["As .env", h("span.copyable", h("span.soft", "TROUPE_API_KEY=…"), copyButton(env))], ["As curl", h("span.copyable", h("code.cut", call), copyButton(call))]])), { cancel: "I have it" });
}

function create(me, done) {
  const name = h("input", { autocomplete: "off", placeholder: "ci", required: true });
  const days = h("input", { type: "number", min: 1, placeholder: "never" });
  const organization = h("input", { autocomplete: "off", spellcheck: "false", placeholder: "yours" });
  const boxes = scopes.map(([scope, words]) => [scope, words, h("input", { type: "checkbox", checked: scope === "run" })]);
  dialog("New API key", h("div.stack", field("Name", name), h("div.field", h("span.label", "May"), boxes.map(([scope, words, box]) => check([h("strong", scope), " ", h("span.soft", words)], box))), field("Ends after days", days), me.can_operate && field("Organization", organization, "One that does not exist yet is made with its first key.")), { words: "Create", yes: async () => {
    const wanted = { name: name.value.trim(), scopes: boxes.filter(([, , box]) => box.checked).map(([scope]) => scope) };
    if (days.value) wanted.expires_in_days = Number(days.value);
    if (organization.value.trim()) wanted.organization_id = organization.value.trim();
    const made = await call("POST", "/v1/keys", { body: wanted });
    setTimeout(() => showOnce(made));
    await done();
  } });
}

function keyList(me, signal) {
  const rows = list({
    label: "API keys", columns: [{ words: "Name", width: "minmax(7rem, 1fr)" }, { words: "Scopes", width: "minmax(8rem, 1.2fr)" }, { words: "Made", width: "5.5rem", num: true }, { words: "Ends", width: "6rem", num: true }, { width: "2.25rem", keep: true }],
    cells: (one) => [h("span", one.name, " ", one.id === me.key_id && tag("this one", "ok")), h("span.row", one.scopes.map((each) => tag(each, each === "operator" || each === "admin" ? "warn" : ""))), ago(one.created_at), one.expires_at ? h("span", { title: one.expires_at }, ago(one.expires_at)) : h("span.soft", "never"),
      button("", { name: "trash", kind: "quiet mini", title: `Delete the key ${one.name}`, onclick: () => dialog(`Delete the key ${one.name}?`, h("p", "What uses it is refused at once."), { words: "Delete", kind: "danger", needsText: one.name, yes: async () => { await call("DELETE", at`/v1/keys/${one.id}`); toast("Deleted"); await rows.load(); } }) })],
    empty: () => empty("No keys", "Beyond this machine every request needs one.", h("code", "troupe key create ci --scope run")),
  });
  rows.load = async () => rows.update((await get("/v1/keys", { limit: 500 }, signal)).items);
  return rows;
}

function organizations(me) {
  const place = region(async () => {
    const { items } = await get("/v1/organizations", { limit: 200 });
    const rows = list({
      label: "Organizations", columns: [{ words: "Organization", width: "minmax(10rem, 1fr)" }, { words: "Tools", width: "4rem", num: true }, { words: "Configs", width: "4rem", num: true }, { words: "Variables", width: "5rem", num: true }, { words: "Keys", width: "4rem", num: true }, { width: "2.25rem", keep: true }],
      cells: (one) => [h("span", h("code", { title: one.id }, one.id), " ", one.id === me.id && tag("yours", "ok")), count(one.tools), count(one.sandbox_configs), count(one.variables), count(one.keys),
        button("", { name: "trash", kind: "quiet mini", title: "Delete the organization", onclick: () => dialog("Delete this organization?", h("p", "Its tools, configs, variables and keys are gone afterwards. There is no way back but a backup."), { words: "Delete everything in it", kind: "danger", needsText: one.id, yes: async () => { await call("DELETE", at`/v1/organizations/${one.id}`); toast("Deleted"); place.reload(); } }) })],
    });
    rows.update(items);
    return rows;
  });
  return place;
}

export async function draw({ signal, command, me }) {
  const keys = keyList(me, signal);
  const place = h("div", keys);
  const may = me.can_admin ? undefined : "This needs a key with the scope admin";
  if (may) fill(place, empty("This key may not see keys", "It needs the scope admin."));
  else await keys.load().catch((why) => fill(place, problem(why)));
  command(troupe("key", "list"), curl("GET", "/v1/keys"));
  const can = [["run", me.can_run], ["config", me.can_config], ["admin", me.can_admin], ["operator", me.can_operate]].filter(([, yes]) => yes).map(([word]) => tag(word));
  return h("div", pageHead("Access", { says: "Keys, what they allow, and organizations.", actions: [action("New key", { name: "plus", kind: "primary", needs: may }, async () => create(me, keys.load))] }),
    h("div.stack", card("You", body(facts([["Organization", idWithCopy(me.id)], ["Key", me.key_id ? h("code", me.key_id) : "none: this machine is trusted"], ["May", h("span.row.wrap", can)]]))), card("API keys", place), me.can_admin && card("Organizations", organizations(me))));
}

// Folders and files of a sandbox. Names come from inside: they are text here.
import { h, fill } from "../app/dom.js";
import { icon } from "../app/icons.js";
import { call, get, blob } from "../app/api.js";
import { action, body, button, card, dialog, empty, field, menu, problem, toast } from "../app/parts.js";
import { editor } from "../app/code.js";
import { bundle } from "../app/rich.js";
import { download, textView } from "../app/text_view.js";
import { goTo } from "../app/router.js";
import { bytes } from "../app/format.js";

const home = "/home/user";
const editable = 512 * 1024, shown = 2 * 1024 * 1024;
const pictures = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp", svg: "image/svg+xml" };
const languages = { py: "python", js: "javascript", mjs: "javascript", ts: "typescript", sh: "shell" };
const ending = (path) => /\.([^./]+)$/.exec(path)?.[1].toLowerCase() ?? "";
const join = (folder, name) => `${folder === "/" ? "" : folder}/${name}`;
const above = (path) => path.slice(0, path.lastIndexOf("/")) || "/";

export function files({ path: base, may, signal }, first) {
  const path = `${base}/files`;
  const crumbs = h("div.path");
  const rows = h("div", { role: "list" });
  const view = h("div", empty("Nothing is open", "Choose a file to read or change it."));
  let folder = first?.startsWith("/") ? first : home;

  async function open(to) {
    folder = to;
    goTo({ query: { path: to === home ? undefined : to } }, { quietly: true });
    const parts = folder.split("/").filter(Boolean);
    fill(crumbs, h("button", { type: "button", onclick: () => open("/") }, "/"), parts.map((part, i) => [h("button", { type: "button", onclick: () => open("/" + parts.slice(0, i + 1).join("/")) }, part), i < parts.length - 1 && h("span.soft", "/")]));
    try {
      const { items } = await get(path, { path: folder }, signal);
      items.sort((a, b) => (a.type === b.type ? (a.name < b.name ? -1 : 1) : a.type === "folder" ? -1 : 1));
      fill(rows, folder !== "/" && line({ name: "..", path: above(folder), type: "folder" }, true), items.map((one) => line(one)), items.length === 0 && h("p.small.soft", { style: { padding: "0.75rem 1rem" } }, "This folder is empty."));
    } catch (why) {
      if (!signal.aborted) fill(rows, body(problem(why, () => open(to))));
    }
  }

  function line(one, up = false) {
    const more = button("", { name: "more", kind: "quiet mini", title: `Actions of ${one.name}` });
    more.addEventListener("click", () => menu(more, [one.type === "file" && ["Download", "down", () => save(one)], ["Rename or move", "tools", () => move(one)], ["Delete", "trash", () => remove(one), "danger"]]));
    const made = h("div.line", { role: "listitem", style: { "--columns": "minmax(0, 1fr) 5rem 2rem" }, class: "opens" },
      h("span", h("button.cover", { type: "button", onclick: () => (one.type === "folder" ? open(one.path) : show(one)) }, icon(one.type === "folder" ? "folder" : "file", 15), h("span.cut", one.name))),
      h("span.num.soft.small", one.type === "file" ? bytes(one.bytes) : ""), up ? h("span") : h("span.keep", more));
    return made;
  }

  const save = async (one) => {
    try { download(await blob(`${path}/content`, { path: one.path }), one.name); } catch (why) { toast(why.message, true); }
  };
  function move(one) {
    const to = h("input", { value: one.path, spellcheck: "false", autocomplete: "off" });
    dialog(`Rename or move`, field("To", to), { words: "Move", yes: async () => { await call("POST", `${path}/move`, { body: { from: one.path, to: to.value } }); await open(folder); } });
  }
  const remove = (one) => dialog(`Delete ${one.name}?`, h("p", one.type === "folder" ? "The folder goes with all that is in it." : "There is no way back but a snapshot."), { words: "Delete", kind: "danger", yes: async () => { await call("DELETE", `${path}/content`, { query: { path: one.path } }); await open(folder); } });

  async function show(one) {
    fill(view, h("p.small.soft", "Reading…"));
    try {
      if (one.bytes > shown) return fill(view, empty("A large file", `${one.name} has ${bytes(one.bytes)}.`, button("Download it", { name: "down", onclick: () => save(one) })));
      const content = await blob(`${path}/content`, { path: one.path }, signal);
      const type = pictures[ending(one.name)];
      const raw = new Uint8Array(await content.arrayBuffer());
      const head = (...rest) => h("header", h("h2.cut", { title: one.path }, one.name), h("span.soft.small", bytes(raw.length)), ...rest, button("Download", { name: "down", kind: "mini", onclick: () => download(new Blob([raw]), one.name) }));
      if (type) {
        const text = type === "image/svg+xml" ? new TextDecoder().decode(raw) : btoa(raw.reduce((all, each) => all + String.fromCharCode(each), ""));
        return fill(view, h("section.card", head(), body(bundle({ [type]: text }))));
      }
      if (raw.subarray(0, 8000).includes(0)) return fill(view, h("section.card", head(), body(textView({ name: "First bytes", text: hex(raw.subarray(0, 1024)) }))));
      const text = new TextDecoder().decode(raw);
      if (raw.length > editable || may) return fill(view, h("section.card", head(), body(textView({ name: one.path, text, file: one.name }))));
      return fill(view, editing(one, text, head));
    } catch (why) {
      return signal.aborted ? undefined : fill(view, problem(why, () => show(one)));
    }
  }

  function editing(one, text, head) {
    const state = h("span.soft.small");
    const edit = editor({ text, language: languages[ending(one.name)] ?? "", label: one.path, rows: 20, onsave: () => store.click(), onchange: () => { fill(state, "not saved"); made.classList.add("unsaved"); } });
    const store = action("Save", { kind: "mini primary", title: "Ctrl S" }, async () => {
      await call("PUT", `${path}/content`, { query: { path: one.path }, bytes: new TextEncoder().encode(edit.get()) });
      fill(state, "saved");
      made.classList.remove("unsaved");
    });
    edit.style.setProperty("border", "0");
    const made = h("section.card", head(state, store), edit);
    return made;
  }

  async function upload(all) {
    for (const file of all) {
      try {
        await call("PUT", `${path}/content`, { query: { path: join(folder, file.name) }, bytes: file });
        toast(`${file.name} written`);
      } catch (why) { toast(`${file.name}: ${why.message}`, true); }
    }
    await open(folder);
  }
  const chooser = h("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files to write into this folder" });
  chooser.addEventListener("change", () => { upload([...chooser.files]); chooser.value = ""; });
  const made = (words, kind) => button("", { name: kind === "folder" ? "folder" : "plus", kind: "quiet mini", title: words, needs: may, onclick: () => {
    const name = h("input", { autocomplete: "off", spellcheck: "false" });
    dialog(words, field("Name", name), { words: "Make", yes: async () => {
      const to = join(folder, name.value);
      if (kind === "folder") await call("POST", `${path}/mkdir`, { body: { path: to } });
      else await call("PUT", `${path}/content`, { query: { path: to }, bytes: new Uint8Array() });
      await open(folder);
      if (kind === "file") show({ name: name.value, path: to, bytes: 0, type: "file" });
    } });
  } });
  const tree = h("section.card", h("header", crumbs, h("span.row", { style: { gap: "0.1rem" } }, made("New file", "file"), made("New folder", "folder"), button("", { name: "up", kind: "quiet mini", title: "Upload files", needs: may, onclick: () => chooser.click() }), button("", { name: "again", kind: "quiet mini", title: "Read again", onclick: () => open(folder) }))), h("div.list", rows), chooser);
  tree.addEventListener("dragover", (over) => { over.preventDefault(); tree.classList.add("dropping"); });
  tree.addEventListener("dragleave", () => tree.classList.remove("dropping"));
  tree.addEventListener("drop", (dropped) => { dropped.preventDefault(); tree.classList.remove("dropping"); if (!may) upload([...dropped.dataTransfer.files]); });
  open(folder);
  return h("div.grid.files", tree, view);
}

function hex(raw) {
  const lines = [];
  for (let i = 0; i < raw.length; i += 16) {
    const part = [...raw.subarray(i, i + 16)];
    lines.push(`${i.toString(16).padStart(6, "0")}  ${part.map((one) => one.toString(16).padStart(2, "0")).join(" ").padEnd(48)} ${part.map((one) => (one > 31 && one < 127 ? String.fromCharCode(one) : ".")).join("")}`);
  }
  return lines.join("\n");
}

// Lists of objects: keyed rows, so that what changes is redrawn and what one
// reads, or has focused, stays where it is.
import { h, fill } from "./dom.js";

/**
 * columns: [{words, width, num, phone: false}], key(row), cells(row) -> one for
 * each column; href(row): the page of the object, on the first cell.
 */
export function list({ columns, key = (row) => row.id, cells, href, label, empty }) {
  const shown = new Map();
  const head = h("div.head", { role: "row" }, columns.map((column) =>
    h("span", { role: "columnheader", class: column.num ? "num" : "" }, column.words || h("span.unseen", column.hidden || "Actions"))));
  const lines = h("div", { role: "rowgroup" });
  const made = h("div.list", { role: "table", "aria-label": label, style: { "--columns": columns.map((column) => column.width).join(" ") } }, head, lines);
  const place = h("div", made);

  function draw(row, fresh) {
    const line = h("div.line", { role: "row", class: `${fresh ? "fresh" : ""} ${href ? "opens" : ""}` });
    cells(row).forEach((content, i) => {
      const column = columns[i];
      const inside = i === 0 && href ? h("a.cover", { href: href(row) }, content) : content;
      line.append(h("span", { role: "cell", class: [i === 0 ? "first" : "", column.num ? "num" : "", column.keep ? "keep" : "", column.phone === false ? "phone-off" : ""].join(" ") }, inside));
    });
    return line;
  }

  /** `rows` from the first to the last; new ones are lit up when `told`. */
  function update(rows, told = false) {
    const wanted = new Set();
    let at = lines.firstChild;
    for (const row of rows) {
      const id = String(key(row));
      wanted.add(id);
      const looks = JSON.stringify(row);
      let known = shown.get(id);
      if (!known || known.looks !== looks) {
        const line = draw(row, told && !known);
        if (known) {
          const focused = known.line.contains(document.activeElement);
          if (at === known.line) at = line;
          known.line.replaceWith(line);
          if (focused) line.querySelector("a, button")?.focus({ preventScroll: true });
        }
        known = { line, looks };
        shown.set(id, known);
      }
      if (at === known.line) at = at.nextSibling;
      else lines.insertBefore(known.line, at);
    }
    for (const [id, known] of shown)
      if (!wanted.has(id)) {
        known.line.remove();
        shown.delete(id);
      }
    const nothing = rows.length === 0 && empty;
    made.hidden = Boolean(nothing);
    if (nothing) fill(place, made, empty());
    else if (place.children.length > 1) fill(place, made);
    made.setAttribute("aria-rowcount", String(rows.length));
  }
  return Object.assign(place, { update });
}

/** j, k and the arrows move between the rows of the first list of the page. */
export function moveRow(step) {
  const rows = [...document.querySelectorAll("main .list a.cover")].filter((one) => one.offsetParent !== null);
  if (!rows.length) return;
  const now = rows.indexOf(document.activeElement);
  const next = step === "first" ? 0 : step === "last" ? rows.length - 1 : now < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, now + step));
  rows[next].focus();
  rows[next].scrollIntoView({ block: "nearest" });
}

/** Pages of a cursor, gathered. */
export function pages(fetchPage, size) {
  const state = { rows: [], next: undefined };
  return {
    state,
    async first() {
      const page = await fetchPage({ limit: size });
      state.next = page.next;
      return (state.rows = page.items);
    },
    async more() {
      const page = await fetchPage({ limit: size, after: state.next });
      state.next = page.next;
      return (state.rows = state.rows.concat(page.items));
    },
    /** The newest page over what is known; what was fetched further down stays. */
    async refresh(key = (row) => row.id) {
      const page = await fetchPage({ limit: size });
      const ids = new Set(page.items.map(key));
      if (state.rows.length <= page.items.length) state.next = page.next;
      const last = page.items.at(-1);
      const from = last ? state.rows.findIndex((row) => key(row) === key(last)) : -1;
      const rest = page.next && from >= 0 ? state.rows.slice(from + 1).filter((row) => !ids.has(key(row))) : [];
      if (from < 0) state.next = page.next;
      return (state.rows = page.items.concat(rest));
    },
  };
}

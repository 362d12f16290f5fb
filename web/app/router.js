// The URL is the state: the page, what is looked at, filters and tabs.

let render = () => {};
let ended = new AbortController();

/** {page: "runs", item: "run-1", query: {tab: "raw"}} from where we are. */
export function here() {
  const base = new URL(document.baseURI).pathname;
  const parts = location.pathname.slice(base.length).split("/").filter(Boolean).map((part) => {
    try { return decodeURIComponent(part); } catch { return part; }
  });
  return { page: parts[0] ?? "", item: parts.slice(1).join("/"), query: Object.fromEntries(new URLSearchParams(location.search)) };
}

/** A relative address: of a page, one of its items, and a query. */
export function address(page, item, query = {}) {
  const kept = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== ""));
  const path = [page, item].filter((one) => one !== undefined && one !== "").map(encodeURIComponent).join("/");
  return (path || "./") + (kept.size ? `?${kept}` : "");
}

/** Moves; without a page only the query changes. Quietly: nothing is drawn. */
export function goTo({ page, item, query }, { quietly, replace } = {}) {
  const now = here();
  const to = page === undefined ? address(now.page, now.item, { ...now.query, ...query }) : address(page, item, query);
  const full = new URL(to, document.baseURI);
  if (quietly || replace) history.replaceState(null, "", full);
  else history.pushState(null, "", full);
  if (!quietly) draw();
}

function draw() {
  ended.abort();
  ended = new AbortController();
  render(here(), ended.signal);
}

export function startRouter(how) {
  render = how;
  addEventListener("popstate", draw);
  document.addEventListener("click", (clicked) => {
    const link = clicked.target.closest?.("a[href]");
    if (!link || clicked.defaultPrevented || clicked.button || clicked.metaKey || clicked.ctrlKey || clicked.shiftKey || clicked.altKey || link.target || link.hasAttribute("download")) return;
    const to = new URL(link.href);
    const base = new URL(document.baseURI);
    if (to.origin !== base.origin || !to.pathname.startsWith(base.pathname) || link.getAttribute("href").startsWith("#")) return;
    clicked.preventDefault();
    if (document.querySelector(".unsaved") && !confirm("Leave this page? What you wrote is not saved.")) return;
    history.pushState(null, "", to);
    draw();
    scrollTo(0, 0);
  });
  draw();
}
export const redraw = draw;

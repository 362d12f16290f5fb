// Figures with their units, times with their zone.
import { h } from "./dom.js";
import { copyButton } from "./parts.js";

const three = (n) => (n >= 100 ? Math.round(n).toLocaleString("en") : n >= 10 ? n.toFixed(1) : n.toFixed(2)).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");

export const count = (n) => Number(n ?? 0).toLocaleString("en");

export function bytes(n) {
  if (n === undefined || n === null) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  for (; n >= 1024 && at < units.length - 1; ++at) n /= 1024;
  return `${at ? three(n) : n} ${units[at]}`;
}

export function micros(us) {
  if (us === undefined || us === null) return "–";
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${three(us / 1e3)} ms`;
  return seconds(us / 1e6);
}

export function seconds(s) {
  if (s === undefined || s === null) return "–";
  if (s < 60) return `${three(s)} s`;
  const whole = Math.round(s);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

function since(ms) {
  const s = Math.abs(ms) / 1000;
  const words = s < 5 ? "now" : s < 60 ? `${Math.floor(s)} s` : s < 3600 ? `${Math.floor(s / 60)} min` : s < 86400 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86400)} d`;
  return words === "now" ? words : ms < 0 ? `in ${words}` : `${words} ago`;
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

/** "3 s ago", which stays true, and the exact time as its title. */
export function ago(text) {
  if (!text) return h("span.soft", "–");
  const at = new Date(text);
  return h("time.soft.nowrap", { datetime: text, title: exact.format(at), "data-ago": "1" }, since(Date.now() - at));
}

const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
/** The time of today, and the day before it for other days. */
export function atClock(text) {
  if (!text) return "–";
  const at = new Date(text);
  const today = at.toDateString() === new Date().toDateString();
  return h("time.nowrap", { datetime: text, title: exact.format(at) }, (today ? "" : `${day.format(at)} `) + clock.format(at));
}
export const atDate = (text) => (text ? h("time", { datetime: text }, exact.format(new Date(text))) : "–");

setInterval(() => {
  if (document.hidden) return;
  for (const each of document.querySelectorAll("time[data-ago]")) {
    const words = since(Date.now() - new Date(each.getAttribute("datetime")));
    if (each.textContent !== words) each.textContent = words;
  }
}, 1000);

/** The first block of an id; the whole one when it has none. */
export const short = (id) => {
  const text = String(id ?? "");
  const block = /^([a-z]+-)?([0-9a-f]{8})-[0-9a-f-]{20,}$/.exec(text);
  return block ? block[2] : text;
};

export const idWithCopy = (id) => h("span.copyable", h("code.cut", { title: id }, id), copyButton(id, "Copy id"));

export const json = (value) => JSON.stringify(value, null, 2);

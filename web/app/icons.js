// Pictures of 16 by 16 lines, drawn here: nothing is fetched.
import { svg } from "./dom.js";

const paths = {
  overview: "M2 8.5 8 3l6 5.5M4 7.5V13h8V7.5",
  runs: "M4 3l9 5-9 5z",
  sandboxes: "M2.5 5 8 2l5.5 3v6L8 14l-5.5-3zM2.5 5 8 8l5.5-3M8 8v6",
  tools: "M10.5 2.5a3 3 0 0 0-2.9 3.8L2.5 11.4l2 2 5.1-5.1a3 3 0 0 0 3.8-3.8L11.5 6.4 9.6 4.5z",
  packages: "M2.5 5.5h11v8h-11zM4 2.5h8l1.5 3h-11zM6.5 8h3",
  variables: "M5.5 3C3.5 3 4.5 7 2.5 8c2 1 1 5 3 5M10.5 3c2 0 1 4 3 5-2 1-1 5-3 5",
  backends: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
  access: "M10.5 2.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8.4 7.6 2.5 13.5M4.5 11.5l1.5 1.5",
  audit: "M4 2.5h8v11H4zM6 5.5h4M6 8h4M6 10.5h2",
  settings: "M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6M10 3.5v3M6 9.5v3",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5l3 3",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  done: "M3 8.5l3.2 3.2L13 5",
  close: "M4 4l8 8M12 4l-8 8",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  plus: "M8 3v10M3 8h10",
  stop: "M4 4h8v8H4z",
  again: "M13 8a5 5 0 1 1-1.5-3.6M13 2.5v2.4h-2.4",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  fork: "M5 2.5v11M5 10c0-3 6-1.5 6-5M11 5V2.5",
  camera: "M2.5 5h2.8l1-1.5h3.4l1 1.5h2.8v8h-11zM8 7a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  trash: "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.5 9h6l.5-9",
  file: "M4 2.5h5l3 3v8H4zM9 2.5v3h3",
  folder: "M2.5 4h4l1.5 1.5h5.5V13h-11z",
  down: "M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10",
  up: "M8 11V3M4.5 6 8 2.5 11.5 6M3 13.5h10",
  out: "M9 3h4v4M13 3 7.5 8.5M11 9.5V13H3V5h3.5",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
  clock: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 5v3.2l2 1.3",
  warn: "M8 2.5 14 13H2zM8 6.5v3M8 11.4h.01",
  info: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 7.5v3M8 5.4h.01",
  leave: "M6 3H3v10h3M7 8h6.5M11 5.5 13.5 8 11 10.5",
};

export function icon(name, size = 16) {
  return svg("svg", { viewBox: "0 0 16 16", width: size, height: size, "aria-hidden": "true" },
    svg("path", { d: paths[name] ?? paths.info, fill: "none", stroke: "currentColor", "stroke-width": name === "more" ? 2.2 : 1.4, "stroke-linecap": "round", "stroke-linejoin": "round" }));
}

/** The shapes of states, which differ without colour. */
const marks = {
  ok: ["circle", { cx: 5, cy: 5, r: 4, fill: "currentColor" }],
  bad: ["path", { d: "M2 2l6 6M8 2l-6 6", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round" }],
  warn: ["path", { d: "M5 1 9.4 9H.6z", fill: "currentColor" }],
  busy: ["path", { d: "M5 1a4 4 0 0 1 0 8zM5 1.5a3.5 3.5 0 0 0 0 7", fill: "currentColor", stroke: "currentColor" }],
  off: ["circle", { cx: 5, cy: 5, r: 3.4, fill: "none", stroke: "currentColor", "stroke-width": 1.4 }],
  pause: ["path", { d: "M3 1.5v7M7 1.5v7", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round" }],
};

export function mark(kind, size = 10) {
  const [name, attributes] = marks[kind] ?? marks.off;
  const made = svg("svg", { viewBox: "0 0 10 10", width: size, height: size, "aria-hidden": "true" }, svg(name, attributes));
  if (kind === "busy") made.classList.add("busy-mark");
  return made;
}

export const logo = () =>
  svg("svg", { viewBox: "0 0 20 20", width: 20, height: 20, "aria-hidden": "true" },
    svg("rect", { x: 1.5, y: 1.5, width: 17, height: 17, rx: 5, fill: "currentColor" }),
    svg("path", { d: "M5.5 7h9M10 7v7.5", stroke: "var(--ground)", "stroke-width": 2.2, "stroke-linecap": "round" }));

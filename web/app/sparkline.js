// A line of what was, and words for readers that do not see it.
import { svg } from "./dom.js";

function curve(points, most, width, height) {
  return points.map((value, i) => `${i ? "L" : "M"}${((i / Math.max(1, points.length - 1)) * width).toFixed(1)} ${(height - (value / most) * height).toFixed(1)}`).join("");
}

/** `second` is drawn dashed over the same scale. */
export function sparkline(points, { second, words }) {
  const width = 300, height = 46;
  const most = Math.max(1e-9, ...points, ...(second ?? [])) * 1.08;
  const made = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", class: "spark", role: "img", "aria-label": words });
  if (points.length > 1) {
    const line = curve(points, most, width, height);
    made.append(svg("path", { class: "area", d: `${line}L${width} ${height}L0 ${height}Z` }), svg("path", { class: "line", d: line }));
    if (second?.some((value) => value > 0)) made.append(svg("path", { class: "second", d: curve(second, most, width, height) }));
  } else made.append(svg("path", { class: "line", d: `M0 ${height}L${width} ${height}` }));
  return made;
}

// A form made of a JSON schema, beside the same as JSON.
import { h, fill } from "./dom.js";
import { button, choose } from "./parts.js";
import { json } from "./format.js";

const parametersOf = (schema) => schema?.parameters ?? schema ?? {};

function typeOf(schema) {
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type;
  if (schema.enum) return "enum";
  if (type) return type;
  const inside = (schema.anyOf ?? schema.oneOf ?? []).filter((one) => one.type !== "null");
  return inside.length === 1 ? typeOf(inside[0]) : "json";
}

/** An input for one member; get() throws what is wrong with it. */
function input(schema, id) {
  const type = typeOf(schema);
  const standard = schema.default;
  if (type === "boolean") {
    const made = choose([["", standard === undefined ? "not given" : `default: ${standard}`], ["true", "true"], ["false", "false"]], "", { id });
    return { made, get: () => (made.value === "" ? undefined : made.value === "true") };
  }
  if (type === "enum") {
    const made = choose([["", "not given"], ...schema.enum.map((one, i) => [String(i), String(one)])], "", { id });
    return { made, get: () => (made.value === "" ? undefined : schema.enum[Number(made.value)]) };
  }
  if (type === "integer" || type === "number" || type === "string") {
    const made = h("input", { id, type: type === "string" ? "text" : "number", step: type === "integer" ? "1" : "any", autocomplete: "off", placeholder: standard === undefined || standard === null ? "" : String(standard) });
    return { made, get: () => (made.value === "" ? undefined : type === "string" ? made.value : Number(made.value)) };
  }
  const made = h("textarea", { id, class: "code", rows: 2, spellcheck: "false", placeholder: standard === undefined ? (type === "array" ? "[]" : "{}") : JSON.stringify(standard) });
  return { made, get: () => (made.value.trim() === "" ? undefined : JSON.parse(made.value)) };
}

/** {get(), element}: the arguments, from the form or from the JSON. */
export function argumentsForm(schema, given) {
  const place = h("div.stack");
  const members = Object.entries(parametersOf(schema).properties ?? {});
  const required = new Set(parametersOf(schema).required ?? []);
  const asJson = h("textarea", { class: "code", rows: 5, spellcheck: "false", "aria-label": "Arguments as JSON" });
  const inputs = members.map(([name, one], i) => ({ name, ...input(one, `arg${i}`), schema: one, id: `arg${i}` }));
  let shown = members.length ? "form" : "json";
  function fromForm() {
    const out = {};
    for (const one of inputs) {
      let value;
      try { value = one.get(); } catch { throw new Error(`${one.name}: this is not JSON`); }
      if (value !== undefined) out[one.name] = value;
    }
    return out;
  }
  function fromJson() {
    const text = asJson.value.trim();
    if (!text) return {};
    try { return JSON.parse(text); } catch (why) { throw new Error(`The arguments are not JSON: ${why.message}`); }
  }
  const toggle = button("", { kind: "quiet mini", onclick: () => {
    try {
      if (shown === "form") asJson.value = json(fromForm());
      else fillForm(fromJson());
      shown = shown === "form" ? "json" : "form";
      draw();
    } catch (why) { asJson.setCustomValidity(why.message); asJson.reportValidity(); }
  } });
  asJson.addEventListener("input", () => asJson.setCustomValidity(""));
  function fillForm(values) {
    for (const one of inputs) {
      const value = values[one.name];
      if (value === undefined) one.made.value = "";
      else if (typeOf(one.schema) === "enum") one.made.value = String(one.schema.enum.indexOf(value));
      else one.made.value = typeof value === "object" ? JSON.stringify(value) : String(value);
    }
  }
  function draw() {
    toggle.textContent = shown === "form" ? "as JSON" : "as a form";
    fill(place, members.length > 0 && h("div.row", h("span.grow.small.soft", "Arguments"), toggle),
      shown === "json" ? asJson
        : inputs.map((one) => h("div.field",
          h("label", { for: one.id }, h("code", one.name), " ", h("span.soft.tiny", typeOf(one.schema), required.has(one.name) ? ", required" : "")),
          one.made, one.schema.description && h("span.hint", one.schema.description))));
  }
  if (given) { asJson.value = json(given); fillForm(given); }
  draw();
  return { element: place, get: () => (shown === "json" ? fromJson() : fromForm()) };
}

/** What a function takes, in rows. */
export function parameterTable(schema) {
  const members = Object.entries(parametersOf(schema).properties ?? {});
  if (!members.length) return h("p.soft.small", "It takes no arguments.");
  const required = new Set(parametersOf(schema).required ?? []);
  return h("div.stack.tight", members.map(([name, one]) => h("div",
    h("div.row.wrap.small", h("code", name), h("span.soft", typeOf(one)), required.has(name) ? h("span.tag", "required") : one.default !== undefined && h("span.tag", `= ${JSON.stringify(one.default)}`)),
    one.description ? h("p.tiny.soft", one.description) : null)));
}

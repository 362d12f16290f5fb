"use strict";
// Arguments by position, where a tool's parameters go by names that its schema
// does not know: Letta calls every function so.

const has = (object, name) => Object.prototype.hasOwnProperty.call(object, name);

/** The names of a schema as they are counted: required ones, then the rest. */
function namesOf(schema) {
  const inner = schema.parameters || schema;
  const properties = Object.keys(inner.properties || {});
  const required = Array.isArray(inner.required) ? inner.required : [];
  return [...new Set([...required.filter((name) => properties.includes(name)), ...properties])];
}

/** Whether a schema says of a parameter that null is one of its values. To say
 *  nothing is not to say so. */
function takesNull(schema, name) {
  const properties = (schema.parameters || schema).properties || {};
  const says = (rule) =>
    isObject(rule) &&
    ([rule.type].flat().includes("null") || rule.nullable === true || rule.const === null ||
      (Array.isArray(rule.enum) && rule.enum.includes(null)) ||
      [rule.anyOf, rule.oneOf].some((list) => Array.isArray(list) && list.some(says)));
  return has(properties, name) && says(properties[name]);
}

/** Whether a value for all arguments at once fits a type: an object does, and
 *  one whose members are told does when an argument is among them. */
function takesAll(type, names) {
  if (Array.isArray(type.anyOf)) return type.anyOf.some((one) => takesAll(one, names));
  if (type.enum || (type.type !== undefined && type.type !== "object")) return false;
  const members = Object.keys(type.properties || {});
  return members.length === 0 || members.some((name) => names.includes(name));
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function known(parameter) {
  return parameter.kind === "object" ? parameter.names.map((n) => n.name) : [parameter.name];
}

/** The positional arguments for `wanted`, or null where it is names that bind.
 *  `loneType` gives the schema of a single parameter's own type. */
function inOrder(wanted, args, schema, loneType) {
  const names = namesOf(schema);
  if (wanted.some((parameter) => known(parameter).some((name) => names.includes(name)))) return null;
  if (wanted.length === 1 && wanted[0].kind === "name" && takesAll(loneType(), names)) return null;
  const extra = Object.keys(args).filter((name) => !names.includes(name));
  const given = [...names, ...extra];
  const values = given.map((name) => (has(args, name) ? args[name] : undefined));
  while (values.length > 0 && values[values.length - 1] === undefined) values.pop();
  for (const [i, { kind, optional }] of wanted.entries()) {
    // Models send null for what they leave out; a default should apply then.
    if (values[i] === null && optional && !takesNull(schema, given[i])) values[i] = undefined;
    if (kind !== "object" || isObject(values[i])) continue;
    if (values[i] !== undefined) return null; // nothing to take members from
    if (!optional) values[i] = {};
  }
  return values;
}

module.exports = { inOrder, takesNull };

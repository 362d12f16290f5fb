// Written by sdk/make_types.py from net/api/openapi.json: do not edit.
export type * from "./runs.ts";
export type * from "./requests.ts";
export type * from "./tools.ts";
export type * from "./configs.ts";
export type * from "./packages.ts";
export type * from "./engine.ts";
export type * from "./sandboxes.ts";
export type * from "./processes.ts";
export type * from "./contexts.ts";

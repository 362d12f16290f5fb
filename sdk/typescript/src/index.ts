// The client of Troupe, which runs the tools of AI agents in isolation.
//
//     import { Troupe } from "@troupe/sdk";
//     const t = new Troupe();
//     (await t.run("1 + 1")).value; // 2
export type { BatchItem, BatchOptions } from "./batch.ts";
export { Troupe } from "./client.ts";
export type { AgentVariables, Configs, Variables } from "./configs.ts";
export type { CellOptions, Context, Contexts } from "./contexts.ts";
export {
  ApiError, BadRequest, CommandFailed, Conflict, ConnectError, EngineFault, Forbidden, Gone, Invalid, NotFound,
  RateLimited, ToolCancelled, ToolFailed, ToolLost, ToolTimeout, TooLarge, TroupeError, Unauthorized, Unavailable,
  UnexpectedAnswer, Unsupported, WaitTimeout,
} from "./errors.ts";
export type { Files } from "./files.ts";
export type { Network, RunInput, RunOptions, Seconds, What } from "./options.ts";
export type { Page, Pages } from "./pages.ts";
export type { Ports } from "./ports.ts";
export type { Command, CommandOptions, Process } from "./processes.ts";
export type { Cell, Completed, Result } from "./results.ts";
export type { Run, Runs } from "./runs.ts";
export type { Sandbox } from "./sandbox.ts";
export type { NewSandbox, Sandboxes } from "./sandboxes.ts";
export type { ClientOptions } from "./settings.ts";
export type * from "./types/index.ts";

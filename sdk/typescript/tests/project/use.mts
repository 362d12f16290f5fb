import { Troupe, type RunOptions } from "@troupe/sdk";
const options: RunOptions = { timeout: 5 };
export const value: Promise<number> = new Troupe().call<number>("add", { a: 1 }, options);

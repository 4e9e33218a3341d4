// For Node: the WebAssembly file is read from the disk.
import { readFile } from "node:fs/promises";
import { commandsOf } from "./commands.js";

const load = async () =>
  WebAssembly.compile(await readFile(new URL("stowage.wasm", import.meta.url)));

export const { command, plan, view, inspect, solve } = commandsOf(load);
export { StowageError } from "./commands.js";

// For browsers and bundlers: the WebAssembly file is an asset beside this one.
import { commandsOf } from "./commands.js";

const load = () => WebAssembly.compileStreaming(fetch(new URL("stowage.wasm", import.meta.url)));

export const { command, plan, view, inspect, solve } = commandsOf(load);
export { StowageError } from "./commands.js";

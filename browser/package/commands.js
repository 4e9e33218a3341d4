// Commands as functions. Types and meanings are in index.d.ts.
import { fileOf, run } from "./wasi.js";

export class StowageError extends Error {
  constructor({ exit, err }) {
    super(err.trim() || "exit code " + exit);
    this.name = "StowageError";
    this.exit = exit;
  }
}

const isBytes = (file) => file instanceof Uint8Array || file instanceof ArrayBuffer;

function toFile(file) {
  if (typeof file === "string") return fileOf(new TextEncoder().encode(file));
  return isBytes(file) ? fileOf(new Uint8Array(file)) : file;
}

/** `{batch: 1}` as `--bind batch=1`. */
function pairs(option, object = {}) {
  return Object.entries(object).flatMap(([name, value]) => ["--" + option, name + "=" + value]);
}

function wordsOf({ bind, value, shape, args = [] }) {
  return [...pairs("bind", bind), ...pairs("value", value), ...pairs("shape", shape), ...args];
}

const OPTIONS = ["name", "bind", "value", "shape", "args"];

export function commandsOf(load) {
  let module = null;

  async function command(args, files = {}) {
    module ??= load();
    const named = Object.entries(files).map(([name, file]) => [name, toFile(file)]);
    return run(await module, args, named);
  }

  // 1 and 4 say that a capacity is not met; what was found is printed all the same.
  async function printed(words, input, options) {
    const unknown = Object.keys(options).find((key) => !OPTIONS.includes(key));
    if (unknown) throw new TypeError(`unknown option "${unknown}"; use args for words of the command`);
    const { name = typeof input === "string" ? "graph.stow" : "model.onnx" } = options;
    const result = await command([words[0], name, ...words.slice(1), ...wordsOf(options)], {
      [name]: input,
    });
    const isPrinted = result.exit === 0 || ([1, 4].includes(result.exit) && result.out.length > 0);
    if (!isPrinted) throw new StowageError(result);
    return new TextDecoder().decode(result.out);
  }

  const json = async (words, input, options) =>
    JSON.parse(await printed([...words, "--format", "json"], input, options));

  return {
    command,
    plan: (model, options = {}) => json(["plan"], model, options),
    inspect: (model, options = {}) => json(["inspect"], model, options),
    view: (model, { format = "html", ...options } = {}) =>
      printed(["view", "--format", format], model, options),
    solve: (csv, options = {}) => json(["solve"], csv, { name: "buffers.csv", ...options }),
  };
}

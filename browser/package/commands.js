// Commands as functions. Types and meanings are in index.d.ts.
import { fileOf, run } from "./wasi.js";

export class StowageError extends Error {
  constructor({ exit, err }) {
    super(err.trim() || "exit code " + exit);
    this.name = "StowageError";
    this.exit = exit;
  }
}

function expect(isRight, what) {
  if (!isRight) throw new TypeError(what);
}

const isObject = (x) => typeof x === "object" && x !== null && !Array.isArray(x);

/** A source whose mistakes are kept: in the command, a read that throws is one that failed. */
class Source {
  constructor(name, source) {
    const { size, read } = source ?? {};
    const isRight = Number.isSafeInteger(size) && size >= 0 && typeof read === "function";
    expect(isRight, `${name}: expected text, bytes, or {size, read}`);
    this.name = name;
    this.size = size;
    this.source = source;
    this.mistake = null;
  }
  read(offset, into) {
    const result = this.source.read(offset, into);
    if (typeof result?.then !== "function") return;
    Promise.resolve(result).catch(() => {});
    this.mistake = new TypeError(`${this.name}: read returned a promise; it must fill the bytes`);
    throw this.mistake;
  }
}

function toFile(name, input) {
  if (typeof input === "string") return fileOf(new TextEncoder().encode(input));
  if (input instanceof ArrayBuffer) return fileOf(new Uint8Array(input));
  if (ArrayBuffer.isView(input)) {
    return fileOf(new Uint8Array(input.buffer, input.byteOffset, input.byteLength));
  }
  return new Source(name, input);
}

/** `{batch: 1}` as `--bind batch=1`. */
function pairs(option, object = {}) {
  expect(isObject(object), `${option}: expected an object, such as {batch: 1}`);
  return Object.entries(object).flatMap(([name, value]) => ["--" + option, name + "=" + value]);
}

function wordsOf({ bind, value, shape, args = [] }) {
  expect(Array.isArray(args), "args: expected an array of words");
  return [...pairs("bind", bind), ...pairs("value", value), ...pairs("shape", shape), ...args];
}

const OPTIONS = ["name", "bind", "value", "shape", "args"];

function checkOptions(options) {
  expect(isObject(options), "options: expected an object");
  const unknown = Object.keys(options).find((key) => !OPTIONS.includes(key));
  expect(!unknown, `unknown option "${unknown}"; use args for words of the command`);
  const { name = "x" } = options;
  expect(typeof name === "string" && /^[^-]/.test(name), "name: expected the name of a file");
}

const OTHER_OUTPUT = "args: options for another output, as --format and -o, are for command()";

export function commandsOf(load) {
  let module = null;

  async function command(args, files = {}) {
    expect(Array.isArray(args), "args: expected an array of words");
    expect(isObject(files), "files: expected an object of names and files");
    module ??= load();
    const named = Object.entries(files).map(([name, input]) => [name, toFile(name, input)]);
    const result = run(await module, args, named);
    for (const [, { mistake }] of named) if (mistake) throw mistake;
    return result;
  }

  // 1 and 4 say that a capacity is not met; what was found is printed all the same.
  async function printed(words, input, options) {
    checkOptions(options);
    const { name = typeof input === "string" ? "graph.stow" : "model.onnx" } = options;
    const result = await command([words[0], name, ...words.slice(1), ...wordsOf(options)], {
      [name]: input,
    });
    const isPrinted = result.exit === 0 || ([1, 4].includes(result.exit) && result.out.length > 0);
    if (!isPrinted) throw new StowageError(result);
    expect(result.out.length > 0, OTHER_OUTPUT);
    return new TextDecoder().decode(result.out);
  }

  async function json(words, input, options) {
    const text = await printed([...words, "--format", "json"], input, options);
    expect(text.startsWith("{"), OTHER_OUTPUT);
    return JSON.parse(text);
  }

  return {
    command,
    plan: (model, options = {}) => json(["plan"], model, options),
    inspect: (model, options = {}) => json(["inspect"], model, options),
    view: async (model, { format = "html", ...options } = {}) =>
      printed(["view", "--format", format], model, options),
    solve: (csv, options = {}) => json(["solve"], csv, { name: "buffers.csv", ...options }),
  };
}

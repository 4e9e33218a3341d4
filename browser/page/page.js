// The page that plans: a file comes in, its symbols are asked for, the command draws its plan.
// Everything is a run of the command in the worker; the picture is the page that `stowage view`
// writes, in a frame that may run its own script and nothing else.

const $ = (id) => document.getElementById(id);
const decode = (bytes) => new TextDecoder().decode(bytes);

// ---------------------------------------------------------------------------------------------
// The worker

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const wasm = unpack($("wasm-text").textContent);
const workerUrl = URL.createObjectURL(
  new Blob([$("worker-text").textContent], { type: "text/javascript" }),
);

/** Runs commands one after the other; stop() ends the one that runs, and later ones can follow. */
class Runner {
  constructor() {
    this.waiting = new Map();
    this.count = 0;
    this.start();
  }
  start() {
    this.worker = new Worker(workerUrl);
    this.worker.onmessage = ({ data }) => {
      this.waiting.get(data.id).resolve(data);
      this.waiting.delete(data.id);
    };
    this.ready = wasm.then((bytes) => this.worker.postMessage({ wasm: bytes }));
  }
  async run(name, file, args) {
    await this.ready;
    const id = ++this.count;
    this.worker.postMessage({ id, name, file, args });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }
  stop() {
    this.worker.terminate();
    for (const { reject } of this.waiting.values()) reject(new Stopped());
    this.waiting.clear();
    this.start();
  }
}
class Stopped extends Error {}

// ---------------------------------------------------------------------------------------------
// Files

const KINDS = {
  onnx: { saves: ["html", "json", "csv", "plan", "h"] },
  stow: { saves: ["html", "json", "csv", "plan", "h"] },
  csv: { saves: ["html", "csv", "json"] },
};
const SAVES = {
  html: ["page (.html)", "view", "html"],
  json: ["JSON", "plan", "json"],
  csv: ["CSV", "plan", "csv"],
  plan: ["saved plan (.plan)", "plan", "plan"],
  h: ["C header (.h)", "plan", "c"],
};

const state = { runner: new Runner(), file: null, name: "", kind: "", summary: null, last: null };
window.stowage = state;

// A name that the command can be given: no path, no dash in front.
function nameOf(file) {
  return file.name.replace(/[/\\\0]/g, "_").replace(/^-/, "_") || "model";
}

async function kindOf(file) {
  if (/\.csv$/i.test(file.name)) return "csv";
  if (/\.(onnx|pb)$/i.test(file.name)) return "onnx";
  const first = new Uint8Array(await file.slice(0, 1).arrayBuffer());
  return first[0] === 8 ? "onnx" : "stow";
}

function sizeText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB"];
  const power = Math.min(3, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  const number = bytes / 1024 ** power;
  return (
    (power === 0 || number >= 100 ? Math.round(number) : number.toPrecision(3)) + " " + units[power]
  );
}

// ---------------------------------------------------------------------------------------------
// What is asked

// A text says its graphs and symbols when it is printed: `graph @name {`, `?batch`.
function askedOfText(text) {
  const graphs = [...text.matchAll(/^graph @("(?:[^"\\]|\\.)*"|\S+) \{$/gm)].map((m) => m[1]);
  const types = text.replace(/^(.*?) : /gm, "");
  const symbols = [...types.matchAll(/\?("(?:[^"\\]|\\.)*"|[\w.]+)/g)].map((m) => m[1]);
  const plain = (word) => (word.startsWith('"') ? JSON.parse(word) : word);
  return {
    graphs: graphs.map(plain),
    symbols: [...new Set(symbols)].map((s) => ({ name: plain(s) })),
  };
}

async function findAsked(args) {
  const { runner, name, file, kind } = state;
  const nothing = { graphs: [], symbols: [] };
  if (kind === "csv") return nothing;
  const words = kind === "stow" ? ["fmt", name] : ["inspect", name, "--format", "json", ...args];
  const { exit, out } = await runner.run(name, file, words);
  if (exit !== 0) return nothing;
  if (kind === "stow") return askedOfText(decode(out));
  const found = JSON.parse(decode(out)).bind;
  return {
    ...nothing,
    symbols: found.map((bind) => ({ name: bind.symbol, isLate: bind.depends_on_data })),
  };
}

// What the file contains, while its symbols are asked for.
async function showContents() {
  const { runner, name, file, kind } = state;
  const { out } = await runner.run(name, file, [kind === "stow" ? "fmt" : "inspect", name]);
  $("summary").textContent = decode(out);
  show("summary");
}

function addField(label, control) {
  const box = document.createElement("label");
  box.append(label, " ", control);
  $("fields").append(box);
}

// What depends on data is asked for too, but may turn out to follow from the others.
function addSymbol({ name, isLate = false }) {
  if ([...$("fields").querySelectorAll("input")].some((field) => field.dataset.symbol === name))
    return;
  const field = document.createElement("input");
  Object.assign(field, {
    inputMode: "numeric",
    pattern: "[0-9]+",
    required: !isLate,
    spellcheck: false,
  });
  field.placeholder = isLate ? "largest" : "";
  field.dataset.symbol = name;
  field.value = /batch|^n$/i.test(name) ? "1" : "";
  addField(name, field);
}

function addGraphs(names) {
  const choice = document.createElement("select");
  choice.id = "graph";
  for (const name of names) choice.append(new Option(name, name));
  addField("Graph", choice);
}

function words(text) {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3]);
}

function bindings() {
  const fields = [...$("fields").querySelectorAll("input")].filter((field) => field.value !== "");
  return fields.flatMap((field) => ["--bind", field.dataset.symbol + "=" + field.value]);
}

function settings() {
  const args = bindings();
  if ($("graph")) args.push("--graph", $("graph").value);
  if ($("capacity").value.trim()) args.push("--capacity", $("capacity").value.trim());
  return [...args, ...words($("options").value)];
}

// ---------------------------------------------------------------------------------------------
// Planning

function showError(text) {
  $("error").textContent = text.trim();
  $("error").hidden = text.trim() === "";
}

function show(part) {
  $("welcome").hidden = part !== "welcome";
  $("picture").hidden = part !== "picture";
  $("summary").hidden = part !== "summary";
  $("show-picture").setAttribute("aria-pressed", String(part === "picture"));
  $("show-summary").setAttribute("aria-pressed", String(part === "summary"));
}

function setBusy(busy, text) {
  $("status").textContent = text;
  $("plan").disabled = busy;
  $("stop").hidden = !busy;
}

/** Whether |work| was done and not stopped. The controls are free again afterwards. */
async function busily(text, work) {
  setBusy(true, text);
  try {
    await work();
    setBusy(false, "");
    return true;
  } catch (error) {
    setBusy(false, error instanceof Stopped ? "stopped" : "");
    if (!(error instanceof Stopped)) throw error;
    return false;
  }
}

// A plan above the capacity is still drawn: exit codes 1 and 4.
function isDrawn(result) {
  return result.out.length > 0 && [0, 1, 4].includes(result.exit);
}

async function askMore(args) {
  for (const symbol of (await findAsked(args)).symbols) addSymbol(symbol);
}

async function plan() {
  const { runner, name, file, kind } = state;
  const args = settings();
  const begun = performance.now();
  showError("");
  const isDone = await busily("planning …", async () => {
    const drawn = await runner.run(name, file, ["view", name, "--format", "html", ...args]);
    state.last = { args, ...drawn, out: null };
    showError(drawn.err);
    $("results").hidden = !isDrawn(drawn);
    if (!isDrawn(drawn)) {
      if (kind === "onnx") await askMore(bindings());
      show(null);
      return;
    }
    state.summary = null;
    await new Promise((resolve) => {
      $("picture").onload = resolve;
      $("picture").srcdoc = decode(drawn.out);
      show("picture");
    });
    state.last.shown = performance.now() - begun;
  });
  if (isDone && !$("results").hidden)
    $("status").textContent = "planned in " + (state.last.time / 1000).toFixed(2) + " s";
}

async function showSummary() {
  const { runner, name, file, kind } = state;
  if (state.summary === null) {
    const isDone = await busily("planning …", async () => {
      const command = kind === "csv" ? "solve" : "plan";
      const { out, err } = await runner.run(name, file, [command, name, ...state.last.args]);
      state.summary = decode(out) || err;
    });
    if (!isDone) return;
  }
  $("summary").textContent = state.summary;
  show("summary");
}

async function save(ending) {
  const { runner, name, file, kind } = state;
  const [, command, format] = SAVES[ending];
  await busily("saving …", async () => {
    const which = kind === "csv" && command === "plan" ? "solve" : command;
    const { out, err } = await runner.run(name, file, [
      which,
      name,
      "--format",
      format,
      ...state.last.args,
    ]);
    if (out.length === 0) return showError(err);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([out]));
    link.download = name.replace(/\.\w+$/, "") + (ending === "csv" ? ".plan.csv" : "." + ending);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}

async function open(file) {
  state.runner.stop();
  Object.assign(state, {
    file,
    name: nameOf(file),
    kind: await kindOf(file),
    summary: null,
    last: null,
  });
  $("name").textContent = state.name + ", " + sizeText(file.size);
  $("fields").textContent = "";
  $("settings").hidden = false;
  $("results").hidden = true;
  $("save").replaceChildren(
    new Option("…", ""),
    ...KINDS[state.kind].saves.map((e) => new Option(SAVES[e][0], e)),
  );
  showError("");
  show(null);
  const isRead = await busily("reading …", async () => {
    const asked = await findAsked([]);
    if (asked.graphs.length > 1) addGraphs(asked.graphs);
    for (const symbol of asked.symbols) addSymbol(symbol);
    if (asked.symbols.length > 0) await showContents();
  });
  if (!isRead) return;
  const fields = [...$("fields").querySelectorAll("input")];
  if (fields.length === 0) return plan();
  $("status").textContent = "give the symbols a value, then plan";
  (fields.find((field) => field.value === "") ?? $("plan")).focus();
}

// ---------------------------------------------------------------------------------------------
// Controls

$("open").onclick = $("choose").onclick = () => $("file").click();
$("file").onchange = () => {
  if ($("file").files.length > 0) open($("file").files[0]);
  $("file").value = "";
};
$("example").onclick = () => open(new File([$("example-text").textContent], "transformer.stow"));
$("settings").onsubmit = (event) => {
  event.preventDefault();
  plan();
};
$("stop").onclick = () => state.runner.stop();
$("show-picture").onclick = () => show("picture");
$("show-summary").onclick = showSummary;
$("save").onchange = () => {
  const ending = $("save").value;
  $("save").value = "";
  if (ending) save(ending);
};
// A file that is dropped on the frame would be the frame's, so it takes the mouse only while that
// is moved over it without a file.
$("main").onmousemove = () => $("picture").classList.add("live");
$("picture").onmouseleave = document.documentElement.onmouseleave = () =>
  $("picture").classList.remove("live");
document.ondragover = (event) => {
  event.preventDefault();
  document.body.classList.add("over");
};
document.ondragleave = () => document.body.classList.remove("over");
document.ondrop = (event) => {
  event.preventDefault();
  document.body.classList.remove("over");
  const files = [...event.dataTransfer.files];
  const model = files.find((file) => /\.(onnx|stow|csv)$/i.test(file.name)) ?? files[0];
  if (model) open(model);
};

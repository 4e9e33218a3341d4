// Colours: two themes, and the ways of sorting buffers into groups that share a colour. Canvas
// colours live here, those of the document in page.css; pixels are packed as the bytes A B G R.

const THEMES = {
  light: {
    paper: "#ffffff",
    unused: "#f3f4f6",
    hole: "#ebe4df",
    holeInk: "#dbcfc8",
    ink: "#1c2026",
    soft: "#666e7a",
    line: "#c9ced6",
    guard: "#b08900",
    accent: "#0a58ee",
    bound: "#08764a",
    anyBound: "#7a5c00",
    arena: "#c0262d",
    capacity: "#7b2d8b",
    peak: "#c0262d",
    fade: 0.82,
  },
  dark: {
    paper: "#14171c",
    unused: "#1c2027",
    hole: "#3a2f2b",
    holeInk: "#4d3c35",
    ink: "#e8eaed",
    soft: "#9aa3af",
    line: "#3a414c",
    guard: "#e0b93a",
    accent: "#78a9ff",
    bound: "#42be8b",
    anyBound: "#d8b64c",
    arena: "#ff8389",
    capacity: "#d39be0",
    peak: "#ff8389",
    fade: 0.8,
  },
};

const PALETTE = [
  "#5b8fc9",
  "#ef9443",
  "#5fae5b",
  "#e06666",
  "#6dbdb5",
  "#dcbf3c",
  "#b784b0",
  "#a3826a",
  "#f49ab0",
  "#8f9ee8",
  "#94b84a",
  "#c9715c",
];
const OTHER = "#a9adb5";
const KIND_COLOUR = lookup({
  input: "#5b8fc9",
  param: "#a3826a",
  constant: "#dcbf3c",
  activation: "#5fae5b",
  value: "#5fae5b",
  scratch: "#e06666",
  state: "#b784b0",
  output: "#6dbdb5",
  reserved: "#8b919b",
  buffer: "#5b8fc9",
});
// What no op computes stays quiet among those that do.
const QUIET_COLOUR = lookup({
  "": "#a9adb5",
  input: "#9fb2c6",
  param: "#b8a898",
  constant: "#c6bf9f",
});
// What lives longest stands lowest in the stacked curve.
const KIND_ORDER = [
  "reserved",
  "param",
  "constant",
  "state",
  "input",
  "output",
  "activation",
  "scratch",
  "buffer",
];
const SIZE_RAMP = ["#7a1f6b", "#b0305f", "#dc5a48", "#f0903f", "#f3c04f", "#bcd47e", "#8fbfc0"];
const CHANGE_COLOUR = lookup({
  grew: "#e4572e",
  shrank: "#2e9e6b",
  moved: "#8f7ae5",
  retimed: "#3b8bc4",
  new: "#e0a81e",
  gone: "#7d8591",
  same: "#b4bac4",
});
const MOST_GROUPS = PALETTE.length;

function rgb(hex) {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

const packed = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
const mixed = (a, b, part) => a.map((x, i) => Math.round(x + (b[i] - x) * part));
const darkInkOn = ([r, g, b]) => r * 0.299 + g * 0.587 + b * 0.114 > 120;

// The packed colours of one group: plain, edge, and both when something else is singled out.
function shades(hex, theme) {
  const plain = rgb(hex);
  const paper = rgb(theme.paper);
  const faint = mixed(plain, paper, theme.fade);
  return {
    fill: packed(plain),
    edge: packed(mixed(plain, [0, 0, 0], 0.22)),
    faint: packed(faint),
    faintEdge: packed(mixed(faint, rgb(theme.ink), 0.12)),
    ink: darkInkOn(plain) ? "#10141a" : "#ffffff",
  };
}

// Groups by a key of each buffer: the keys with most bytes get colours, the rest are "other".
function groupByKey(model, keyOf, colourOf, orderOf) {
  const { buffers } = model;
  const totals = new Map();
  const keys = new Array(buffers.count);
  for (let b = 0; b < buffers.count; b++) {
    keys[b] = keyOf(b);
    const total = totals.get(keys[b]) || { bytes: 0, count: 0 };
    total.bytes += buffers.size[b];
    total.count++;
    totals.set(keys[b], total);
  }
  const ranked = [...totals.keys()].sort(
    (a, b) =>
      (orderOf ? orderOf(a) - orderOf(b) : 0) ||
      totals.get(b).bytes - totals.get(a).bytes ||
      (a < b ? -1 : a > b ? 1 : 0),
  );
  const kept = ranked.slice(0, ranked.length > MOST_GROUPS ? MOST_GROUPS - 1 : MOST_GROUPS);
  const index = new Map(kept.map((key, i) => [key, i]));
  const groups = kept.map((key, i) => ({
    label: key === "" ? "(none)" : key,
    colour: (colourOf && colourOf(key)) || PALETTE[i],
    ...totals.get(key),
  }));
  if (kept.length < ranked.length) {
    const rest = ranked.slice(kept.length).map((key) => totals.get(key));
    groups.push({
      label: "other (" + rest.length + ")",
      colour: OTHER,
      bytes: rest.reduce((n, t) => n + t.bytes, 0),
      count: rest.reduce((n, t) => n + t.count, 0),
    });
  }
  const of = new Uint8Array(buffers.count);
  for (let b = 0; b < buffers.count; b++)
    of[b] = index.has(keys[b]) ? index.get(keys[b]) : kept.length;
  return { groups, of };
}

const SIZE_SHARES = [2, 4, 8, 16, 64, 256];

function groupBySize(model) {
  const { buffers } = model;
  let largest = 1;
  for (let b = 0; b < buffers.count; b++) largest = Math.max(largest, buffers.size[b]);
  const least = SIZE_SHARES.map((share) => Math.ceil(largest / share));
  const groups = SIZE_RAMP.map((colour, i) => ({
    label: i < least.length ? "≥ " + bytesText(least[i]) : "< " + bytesText(least[i - 1]),
    colour,
    bytes: 0,
    count: 0,
  }));
  const of = new Uint8Array(buffers.count);
  for (let b = 0; b < buffers.count; b++) {
    let g = 0;
    while (g < least.length && buffers.size[b] < least[g]) g++;
    of[b] = g;
    groups[g].bytes += buffers.size[b];
    groups[g].count++;
  }
  return { groups, of };
}

const pathOf = (name) => name.split(/[/.]/).filter(Boolean);

// The first |depth| parts of a name's path; the last part names the tensor, not a module.
function modulePrefix(name, depth) {
  const parts = pathOf(name);
  return parts.slice(0, Math.min(depth, Math.max(1, parts.length - 1))).join("/");
}

// A sample of the buffers: what goes by names of 50,000 of them would take time.
function sampleOf({ buffers }) {
  const stride = Math.max(1, Math.ceil(buffers.count / 2000));
  return Array.from({ length: Math.ceil(buffers.count / stride) }, (_, i) => i * stride);
}

function moduleBytes(model, depth) {
  const bytes = new Map();
  for (const b of sampleOf(model)) {
    const key = moduleOf(model, b, depth);
    bytes.set(key, (bytes.get(key) || 0) + model.buffers.size[b]);
  }
  return bytes;
}

// The shortest depth at which no single module holds most of the bytes.
function usefulDepth(model) {
  for (let depth = 1; depth <= 6; depth++) {
    const sizes = [...moduleBytes(model, depth).values()];
    const total = sizes.reduce((sum, n) => sum + n, 0);
    if (sizes.length >= 4 && Math.max(...sizes) < 0.6 * total) return depth;
  }
  return 1;
}

// Whether most bytes of what is computed have a name with a path, in several modules. The static
// picture (groups.c) decides alike.
function namesTellModules(model) {
  const { buffers } = model;
  let [computed, told] = [0, 0];
  for (const b of sampleOf(model)) {
    if (kindOf(model, b) in QUIET_COLOUR) continue;
    computed += buffers.size[b];
    if (buffers.name[b] >= 0 && pathOf(nameOf(model, buffers, b)).length > 1)
      told += buffers.size[b];
  }
  if (!told || 2 * told < computed) return false;
  const keys = [...moduleBytes(model, usefulDepth(model)).keys()];
  return keys.filter((key) => !(key in QUIET_COLOUR)).length > 1;
}

// Inputs and weights without a path belong to no module: they go by their kind.
function moduleOf(model, b, depth) {
  if (model.buffers.name[b] < 0) return "";
  const name = nameOf(model, model.buffers, b);
  const kind = kindOf(model, b);
  return kind in QUIET_COLOUR && pathOf(name).length < 2 ? kind : modulePrefix(name, depth);
}

// By a key of which some are quiet: these come first, and so stand lowest in the curve.
const groupByWord = (model, keyOf) =>
  groupByKey(
    model,
    keyOf,
    (key) => QUIET_COLOUR[key],
    (key) => (key in QUIET_COLOUR ? 0 : 1),
  );

const COLOURINGS = {
  kind: {
    label: "kind",
    group: (m) =>
      groupByKey(
        m,
        (b) => kindOf(m, b),
        (kind) => KIND_COLOUR[kind],
        (kind) => KIND_ORDER.indexOf(kind),
      ),
  },
  op: {
    label: "op",
    group: (m) => groupByWord(m, (b) => opOf(m, b)),
  },
  size: { label: "size", group: groupBySize },
  module: {
    label: "module path",
    group: (m, depth) => groupByWord(m, (b) => moduleOf(m, b, depth)),
  },
  change: {
    label: "change",
    group: (m) =>
      groupByKey(
        m,
        (b) => changeOf(m, b),
        (change) => CHANGE_COLOUR[change],
      ),
  },
};

// The colouring to begin with: modules, or else kinds, unless nearly all buffers are of one kind and
// more is known.
function firstColouring(model) {
  if (model.against) return "change";
  if (namesTellModules(model)) return "module";
  const kinds = COLOURINGS.kind.group(model).groups;
  const most = Math.max(0, ...kinds.map((group) => group.count));
  if (most < 0.7 * model.buffers.count) return "kind";
  return COLOURINGS.op.group(model).groups.length > 2 ? "op" : kinds.length > 1 ? "kind" : "size";
}

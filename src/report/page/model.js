// The data as the page uses it: columns as typed arrays, what each buffer occupies when (pieces),
// the load over time, the top of what is occupied, and what the peak would be without a buffer.
// Everything is linear in buffers + steps, but for a range-maximum table of steps × log steps.
//
// Time is cut into segments in which nothing begins or ends; what changes over time is an array by
// segment. A segment is one step, unless the steps are so many (times of a CSV may be anything)
// that only those at which something happens count.

const KNOWN_VERSION = 1;
const MOST_STEPS = 200000;
const FLAG_FIXED = 1;
const FLAG_OUTPUT = 2;
const FLAG_STATE = 4;
const HOW = ["view", "in place", "copy elision", "rows"];
const HOW_ROWS = 3;

function readData() {
  const text = $("stowage-data").textContent.trim();
  if (!text || text === "@" + "DATA@")
    throw new Error("This page holds no plan: its data is empty.");
  let data;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new Error("This page's data is damaged: it is not JSON (" + error.message + ").");
  }
  if (data === null || typeof data !== "object" || !("stowage_view" in data))
    throw new Error("This page's data is not that of a plan.");
  if (data.stowage_view !== KNOWN_VERSION)
    throw new Error(
      "This page reads data of version " +
        KNOWN_VERSION +
        "; it holds version " +
        shownName(String(data.stowage_view), 20) +
        ".",
    );
  if (data.range) data.text = text.slice(0, text.lastIndexOf(',\n"range":')) + "}";
  return data;
}

const column = (source, name, count, absent) => {
  const values = source[name];
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) out[i] = values === undefined ? absent : values[i];
  return out;
};

function makeModel(data) {
  const source = data.buffers;
  const count = source.size.length;
  const buffers = { count };
  for (const name of ["id", "name", "op", "type"]) buffers[name] = column(source, name, count, -1);
  for (const name of ["kind", "offset", "size", "guard", "begin", "end", "flags"])
    buffers[name] = column(source, name, count, 0);
  buffers.made = source.made ? column(source, "made", count, 0) : buffers.begin;
  buffers.align = column(source, "align", count, 1);
  const model = {
    data,
    facts: data.facts,
    strings: data.strings,
    kinds: data.kinds,
    buffers,
    against: data.against || null,
  };
  model.pieces = makePieces(source, buffers);
  setTimes(model);
  model.arena = Math.max(1, data.facts.arena, highestByte(buffers));
  model.values = makeValues(withRings(data.values, data.rings, buffers), buffers);
  model.reads = makeReads(data.reads);
  model.changes = makeChanges(model);
  model.load = makeLoad(model);
  model.top = makeTop(model);
  const peak = peakOf(model.load);
  model.peak = model.times[peak];
  model.peakLoad = model.load[peak];
  model.without = once(() => makeWithout(model));
  return model;
}

// The axis of time, its segments (times[i] … times[i + 1] - 1 is segment i), and those of pieces.
function setTimes(model) {
  const { facts, pieces } = model;
  let first = facts.first_step || 0;
  let last = Math.max(first + 1, facts.last_step || facts.steps || 0);
  for (let p = 0; p < pieces.count; p++) {
    first = Math.min(first, pieces.begin[p]);
    last = Math.max(last, pieces.end[p]);
  }
  const dense = last - first <= MOST_STEPS;
  const times = dense
    ? Float64Array.from({ length: last - first + 1 }, (_, i) => first + i)
    : Float64Array.from(new Set([first, last, ...pieces.begin, ...pieces.end])).sort();
  const segment = (time) => {
    if (dense) return clamp(Math.floor(time) - first, 0, last - first - 1);
    let [low, high] = [0, times.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle;
      else high = middle;
    }
    return low;
  };
  Object.assign(model, { first, last, times, segment, segments: times.length - 1 });
  pieces.from = Int32Array.from(pieces.begin, segment);
  pieces.to = Int32Array.from(pieces.end, (end) => segment(end - 1) + 1);
}

function highestByte(buffers) {
  let high = 0;
  for (let b = 0; b < buffers.count; b++)
    high = Math.max(high, buffers.offset[b] + buffers.size[b] + buffers.guard[b]);
  return high;
}

function once(compute) {
  let value;
  return () => (value === undefined ? (value = compute()) : value);
}

// Where each buffer lies when: one piece over its whole life, or several where windows narrow it.
// Pieces of a buffer stand together, in order of time: first[b] … first[b + 1] - 1.
function makePieces(source, buffers) {
  const windows = source.windows || { of: [] };
  const out = {
    of: [],
    begin: [],
    end: [],
    low: [],
    high: [],
    first: new Int32Array(buffers.count + 1),
  };
  const push = (b, begin, end, low, high) => {
    if (begin >= end || low >= high) return;
    out.of.push(b);
    out.begin.push(begin);
    out.end.push(end);
    out.low.push(buffers.offset[b] + low);
    out.high.push(buffers.offset[b] + high);
  };
  let w = 0;
  for (let b = 0; b < buffers.count; b++) {
    out.first[b] = out.of.length;
    let at = buffers.begin[b];
    for (; w < windows.of.length && windows.of[w] === b; w++) {
      push(b, at, windows.begin[w], 0, buffers.size[b]);
      push(b, windows.begin[w], windows.end[w], windows.low[w], windows.high[w]);
      at = windows.end[w];
    }
    push(b, at, buffers.end[b], 0, buffers.size[b]);
  }
  out.first[buffers.count] = out.of.length;
  const pieces = { count: out.of.length, first: out.first };
  for (const name of ["of", "begin", "end", "low", "high"])
    pieces[name] = Float64Array.from(out[name]);
  return pieces;
}

// Rows that scratch keeps lie in it for a part of its step: values too, which have no id.
function withRings(source, rings, buffers) {
  if (!rings) return source;
  const count = rings.buffer.length;
  const step = (time, i) => buffers.begin[rings.buffer[i]] + time / 1000;
  const more = {
    ...rings,
    name: rings.name.map((name, i) => (name >= 0 ? name : rings.op[i])),
    id: Array(count).fill(-1),
    of: Array(count).fill(-1),
    begin: rings.begin.map(step),
    end: rings.end.map(step),
    how: Array(count).fill(HOW_ROWS),
  };
  const all = { rows: Array(source ? source.id.length : 0).fill(0).concat(rings.rows) };
  for (const name in more)
    if (name !== "rows") all[name] = (source ? source[name] : []).concat(more[name]);
  return all;
}

// What lies inside buffers: those of b are order[first[b] … first[b + 1] - 1], by begin.
function makeValues(source, buffers) {
  const count = source ? source.id.length : 0;
  const values = { count, first: new Int32Array(buffers.count + 1), byId: new Map() };
  for (const name of ["id", "name", "op", "type", "buffer"])
    values[name] = count ? column(source, name, count, -1) : new Float64Array(0);
  for (const name of ["low", "size", "begin", "end", "how", "rows"])
    values[name] = count ? column(source, name, count, 0) : new Float64Array(0);
  const order = Int32Array.from({ length: count }, (_, i) => i);
  order.sort(
    (a, b) => values.buffer[a] - values.buffer[b] || values.begin[a] - values.begin[b] || a - b,
  );
  values.order = order;
  let at = 0;
  for (let b = 0; b < buffers.count; b++) {
    values.first[b] = at;
    while (at < count && values.buffer[order[at]] === b) at++;
  }
  values.first[buffers.count] = at;
  return values;
}

function makeReads(source) {
  const reads = new Map();
  if (!source) return reads;
  for (let i = 0; i < source.value.length; i++) {
    const list = reads.get(source.value[i]);
    if (list) list.push(source.step[i]);
    else reads.set(source.value[i], [source.step[i]]);
  }
  return reads;
}

// What changed, by buffer; the list itself stays as it came.
function makeChanges(model) {
  if (!model.against) return null;
  const byBuffer = new Map();
  for (const entry of model.against.changes) if (entry.now >= 0) byBuffer.set(entry.now, entry);
  return byBuffer;
}

const occupied = (model, p) =>
  model.pieces.high[p] - model.pieces.low[p] + model.buffers.guard[model.pieces.of[p]];

function makeLoad(model) {
  const { pieces, segments } = model;
  const change = new Float64Array(segments + 1);
  for (let p = 0; p < pieces.count; p++) {
    change[pieces.from[p]] += occupied(model, p);
    change[pieces.to[p]] -= occupied(model, p);
  }
  const load = new Float64Array(segments);
  let sum = 0;
  for (let s = 0; s < segments; s++) load[s] = sum += change[s];
  return load;
}

// 0 … count - 1 by falling key, ties by index.
function largestFirst(count, keyOf) {
  const keys = Float64Array.from({ length: count }, (_, i) => keyOf(i));
  return Int32Array.from({ length: count }, (_, i) => i).sort((a, b) => keys[b] - keys[a] || a - b);
}

// The highest occupied byte in each segment. Pieces come highest first; a segment is written once,
// by the first piece that covers it, and skipped ever after (union-find of those still open).
function makeTop(model) {
  const { pieces, buffers, segments } = model;
  const high = (p) => pieces.high[p] + buffers.guard[pieces.of[p]];
  const order = largestFirst(pieces.count, high);
  const next = Int32Array.from({ length: segments + 1 }, (_, i) => i);
  const open = (s) => {
    while (next[s] !== s) s = next[s] = next[next[s]];
    return s;
  };
  const top = new Float64Array(segments);
  for (const p of order)
    for (let s = open(pieces.from[p]); s < pieces.to[p]; s = open(s)) {
      top[s] = high(p);
      next[s] = s + 1;
    }
  return top;
}

function peakOf(load) {
  let peak = 0;
  for (let s = 1; s < load.length; s++) if (load[s] > load[peak]) peak = s;
  return peak;
}

// Answers "the largest of values[from … to - 1]" in constant time: maxima of all powers of two.
function rangeMaximum(values) {
  const levels = [values];
  for (let width = 2; width <= values.length; width *= 2) {
    const below = levels[levels.length - 1];
    const level = new Float64Array(values.length - width + 1);
    for (let i = 0; i < level.length; i++) level[i] = Math.max(below[i], below[i + width / 2]);
    levels.push(level);
  }
  return (from, to) => {
    if (from >= to) return 0;
    const k = 31 - Math.clz32(to - from);
    return Math.max(levels[k][from], levels[k][to - (1 << k)]);
  };
}

// For every buffer: the highest load if it were gone, which no arena could then go below.
function makeWithout(model) {
  const { pieces, buffers, load, segments } = model;
  const highest = rangeMaximum(load);
  const without = new Float64Array(buffers.count);
  for (let b = 0; b < buffers.count; b++) {
    let most = 0;
    let at = 0;
    for (let p = pieces.first[b]; p < pieces.first[b + 1]; p++) {
      const inside = highest(pieces.from[p], pieces.to[p]) - occupied(model, p);
      most = Math.max(most, highest(at, pieces.from[p]), inside);
      at = pieces.to[p];
    }
    without[b] = Math.max(most, highest(at, segments));
  }
  return without;
}

// Pieces that occupy bytes at a step, largest first.
function liveAt(model, step) {
  const { pieces } = model;
  const live = [];
  for (let p = 0; p < pieces.count; p++)
    if (pieces.begin[p] <= step && step < pieces.end[p]) live.push(p);
  return live.sort(
    (a, b) => occupied(model, b) - occupied(model, a) || pieces.of[a] - pieces.of[b],
  );
}

// The piece at a step and byte, or -1.
function pieceAt(model, step, byte) {
  const { pieces, buffers } = model;
  for (let p = 0; p < pieces.count; p++)
    if (
      pieces.begin[p] <= step &&
      step < pieces.end[p] &&
      pieces.low[p] <= byte &&
      byte < pieces.high[p] + buffers.guard[pieces.of[p]]
    )
      return p;
  return -1;
}

// Who lies next to a buffer: below and above while it lives, before and after in its bytes. -1:
// none.
function neighboursOf(model, b) {
  const { buffers } = model;
  const near = { below: -1, above: -1, before: -1, after: -1 };
  const low = buffers.offset[b];
  const high = low + buffers.size[b] + buffers.guard[b];
  const better = (name, other, sign, key) => {
    if (near[name] < 0 || sign * (key(other) - key(near[name])) > 0) near[name] = other;
  };
  const topOf = (o) => buffers.offset[o] + buffers.size[o] + buffers.guard[o];
  for (let o = 0; o < buffers.count; o++) {
    if (o === b) continue;
    if (buffers.begin[o] < buffers.end[b] && buffers.begin[b] < buffers.end[o]) {
      if (topOf(o) <= low) better("below", o, 1, topOf);
      else if (buffers.offset[o] >= high) better("above", o, -1, (x) => buffers.offset[x]);
    } else if (buffers.offset[o] < high && low < topOf(o)) {
      if (buffers.end[o] <= buffers.begin[b]) better("before", o, 1, (x) => buffers.end[x]);
      else better("after", o, -1, (x) => buffers.begin[x]);
    }
  }
  return near;
}

const stringAt = (model, index) =>
  index < 0 || model.strings[index] === undefined ? "" : model.strings[index];

// What a buffer or value is called: its name, or its id as graphs write it, or its kind.
function nameOf(model, source, i) {
  if (source.name[i] >= 0) return stringAt(model, source.name[i]);
  if (source.id[i] >= 0) return "%" + source.id[i];
  return source.kind ? stringAt({ strings: model.kinds }, source.kind[i]) + " " + i : "value " + i;
}

const bufferName = (model, b, limit) =>
  shownName(nameOf(model, model.buffers, b), limit) || "(no name)";
const kindOf = (model, b) => model.kinds[model.buffers.kind[b]] || "buffer";
const opOf = (model, b) => stringAt(model, model.buffers.op[b]);
const typeOf = (model, b) => stringAt(model, model.buffers.type[b]);
const changeOf = (model, b) => {
  const entry = model.changes && model.changes.get(b);
  return entry ? entry.change : "same";
};

// What the axis of time counts.
const stepMeaning = (model) =>
  model.data.kind === "csv"
    ? "step: one unit of the CSV's time"
    : "step: each runs one node of the graph";

function stepLabel(model, step) {
  const steps = model.data.steps;
  if (!steps || !steps.op || step >= steps.op.length)
    return {
      op: model.data.kind !== "csv" && step >= model.facts.steps ? "outputs read" : "",
      label: "",
      node: -1,
    };
  return {
    op: stringAt(model, steps.op[step]),
    label: stringAt(model, steps.label ? steps.label[step] : -1),
    node: steps.node ? steps.node[step] : -1,
  };
}

const loadAt = (model, step) => model.load[model.segment(step)];
const topAt = (model, step) => model.top[model.segment(step)];

// One sentence that says what the picture shows.
function summaryOf(model) {
  const { facts, buffers, peak, peakLoad } = model;
  const live = liveAt(model, peak);
  const at = stepLabel(model, peak);
  let text =
    (model.data.at ? "At " + shownName(model.data.at, 120) + ", the" : "The") +
    " arena takes " +
    bytesText(facts.arena) +
    " for " +
    plural(buffers.count, "buffer") +
    " over " +
    plural(facts.steps, "step") +
    ". ";
  if (!buffers.count) return text;
  text +=
    "The load peaks at step " +
    thousands(peak) +
    (at.op ? " (" + shownName(at.op, 40) + ")" : "") +
    " with " +
    bytesText(peakLoad) +
    " in " +
    plural(live.length, "buffer") +
    ", the largest " +
    bufferName(model, model.pieces.of[live[0]], 44) +
    " of " +
    bytesText(occupied(model, live[0])) +
    ". ";
  const hole = topAt(model, peak) - peakLoad;
  text +=
    hole > 0
      ? "Holes below the highest byte take " + bytesText(hole) + " there."
      : "There are no holes there.";
  return text;
}

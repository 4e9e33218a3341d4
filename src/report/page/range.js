// The points of a range: what each symbol is there, arena, load and region, and the data of the
// plan at any point. Pictures differ from point to point in numbers only, within a frame, so a frame
// is a text, and each number that changes has its series (docs/view-format.md).

// `2 7 64 0x510`: differences of order 2, runs of them.
function readSeries(text) {
  const [order, ...runs] = text.split(" ");
  const values = [];
  for (const run of runs) {
    const [value, count] = run.split("x").map(Number);
    for (let i = 0; i < (count || 1); i++) values.push(value);
  }
  const out = Float64Array.from(values);
  for (let k = 0; k < Number(order); k++)
    for (let i = 1; i < out.length; i++) out[i] += out[i - 1];
  return out;
}

const OUTCOMES = ["optimal", "feasible"];

// |text| with other numbers: |cells| has, for each that changes, how many before it do not, and
// its series.
function withNumbers(text, cells, valueOf) {
  let at = 0;
  let left = cells.length ? cells[0] : -1;
  return text.replace(/\d+|optimal|feasible/g, (token) => {
    if (left !== 0) {
      left--;
      return token;
    }
    const value = valueOf(cells[at + 1]);
    at += 2;
    left = at < cells.length ? cells[at] : -1;
    return OUTCOMES.includes(token) ? OUTCOMES[value] : String(value);
  });
}

function makeRange(data) {
  const source = data.range;
  const symbols = source.symbols.map((symbol) => ({
    ...symbol,
    count: Math.floor((symbol.max - symbol.min) / symbol.step) + 1,
  }));
  const [arena, load, region] = ["arena", "load", "region"].map((name) => readSeries(source[name]));
  const drawn = source.drawn.map(readSeries); // of each symbol: its steps that are drawn
  const frame = readSeries(source.frame); // of each drawn point
  const seen = [];
  const rank = Array.from(frame, (f) => (seen[f] = (seen[f] || 0) + 1) - 1); // in its frame
  const decoded = new Map();
  const series = (i) => {
    if (!decoded.has(i)) decoded.set(i, readSeries(source.series[i]));
    return decoded.get(i);
  };

  // A point as steps of its symbols, and back. The first symbol changes slowest.
  const stepsOf = (point) => {
    const steps = [];
    for (let i = symbols.length - 1; i >= 0; i--) {
      steps[i] = point % symbols[i].count;
      point = Math.floor(point / symbols[i].count);
    }
    return steps;
  };
  const pointOf = (steps) => steps.reduce((sum, step, i) => sum * symbols[i].count + step, 0);
  const valueAt = (i, step) => symbols[i].min + step * symbols[i].step;
  const valuesOf = (point) => stepsOf(point).map((step, i) => valueAt(i, step));
  const nameOfPoint = (point) =>
    valuesOf(point)
      .map((value, i) => shownName(symbols[i].name, 40) + "=" + value)
      .join(", ");
  const drawnIndex = (point) =>
    stepsOf(point).reduce((sum, step, i) => sum * drawn[i].length + drawn[i].indexOf(step), 0);

  // The step nearest to |step| that is drawn.
  function nearest(i, step) {
    let best = drawn[i][0];
    for (const other of drawn[i])
      if (Math.abs(other - step) < Math.abs(best - step)) best = other;
    return best;
  }

  function dataAt(point) {
    const index = drawnIndex(point);
    const { text, cells } = source.frames[frame[index]];
    const found = withNumbers(
      text === null ? data.text : text,
      cells,
      (i) => series(i)[rank[index]],
    );
    return { ...JSON.parse(found), range: source };
  }

  return {
    source,
    symbols,
    arena,
    load,
    region,
    drawn,
    point: source.point,
    stepsOf,
    pointOf,
    valueAt,
    valuesOf,
    nameOfPoint,
    nearest,
    dataAt,
    frameOf: (point) => frame[drawnIndex(point)],
  };
}

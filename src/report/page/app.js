// What is selected, singled out and in sight. Everything that draws reads this state; everything
// that is clicked or pressed calls it.

const MARGIN_TOP = 1.03; // the picture shows a little more than the arena
const LEAST_STEPS = 1.5;
const LEAST_BYTES = 16;

class App {
  constructor(data) {
    this.model = makeModel(data);
    this.range = data.range ? makeRange(data) : null;
    this.selected = -1;
    this.hover = -1;
    this.step = -1;
    this.hits = [];
    this.hitAt = -1;
    this.pressed = new Set();
    this.changeFilter = null;
    this.selectedChange = null;
    this.showOld = this.model.against !== null;
    this.printing = false;
    this.measure();
    this.view = { ...this.busy };
    this.depth = 0; // of the module path; 0: not yet asked for
    this.asked = 0;
  }

  // What follows from the model.
  measure() {
    this.texts = once(() => searchTexts(this.model));
    this.faint = new Uint8Array(this.model.buffers.count);
    this.full = this.fullView();
    this.busy = this.busyView();
  }

  fullView() {
    const { model } = this;
    let high = Math.max(
      model.arena,
      model.against && model.against.facts ? model.against.facts.arena || 0 : 0,
    );
    let last = model.last;
    if (model.against)
      for (const { then } of model.against.changes)
        if (then) {
          high = Math.max(high, then.offset + then.size);
          last = Math.max(last, then.end);
        }
    return { x0: model.first, x1: last, y0: 0, y1: high * MARGIN_TOP };
  }

  // Where something happens: models may begin with many steps that only name their weights.
  busyView() {
    const { model, full } = this;
    let quiet = 1;
    while (quiet < model.segments && model.load[quiet] === model.load[0]) quiet++;
    const begin = quiet < model.segments ? model.times[quiet] : model.first;
    const idle = (begin - full.x0) / (full.x1 - full.x0);
    return idle < 0.08 || model.against
      ? full
      : { ...full, x0: Math.max(full.x0, begin - 0.02 * (full.x1 - begin)) };
  }

  // ---- colours

  theme() {
    if (this.printing) return THEMES.light;
    const chosen = document.documentElement.dataset.theme;
    if (chosen !== "auto") return THEMES[chosen];
    return THEMES[matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"];
  }

  // |pressed| are labels of the legend.
  setColouring(name, pressed) {
    this.colouring = name;
    this.pressed.clear();
    if (name === "module" && this.depth === 0) this.depth = usefulDepth(this.model);
    this.colours = COLOURINGS[name].group(this.model, this.depth);
    this.colours.loads = groupLoads(this.model, this.colours.of, this.colours.groups.length);
    this.colours.groups.forEach(({ label }, g) => {
      if (pressed && pressed.has(label)) this.pressed.add(g);
    });
    $("colour").value = name;
    $("depth").hidden = name !== "module";
    $("depth-value").textContent = this.depth;
    this.shade();
    showLegend(this);
    if (this.step >= 0) showStep(this);
    if (this.table) this.table.refresh(pressed !== undefined);
  }

  // Colours as the theme wants them; called again when it changes.
  shade() {
    this.colours.shades = this.colours.groups.map((group) => shades(group.colour, this.theme()));
    this.singleOut();
  }

  // Whether the legend lets a buffer through.
  singledOut(b) {
    return this.pressed.size === 0 || this.pressed.has(this.colours.of[b]);
  }

  // What is not singled out, by the legend or by a search, fades.
  singleOut() {
    const hits = this.hits.length ? new Set(this.hits) : null;
    for (let b = 0; b < this.model.buffers.count; b++)
      this.faint[b] = this.singledOut(b) && (!hits || hits.has(b)) ? 0 : 1;
    this.colours.quiet = this.colours.groups.map(
      (_, g) => this.pressed.size > 0 && !this.pressed.has(g),
    );
    this.invalidate(true);
  }

  // ---- drawing

  // Asks for a frame; |whole| where the buffers themselves must be filled again.
  invalidate(whole) {
    this.whole = this.whole || whole;
    if (this.asked || !this.arena) return;
    this.asked = requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.asked = 0;
    this.arena.draw(this.whole);
    this.loadPicture.draw(this.whole);
    if (this.curve) this.curve.draw();
    this.whole = false;
    this.arena.canvas.classList.toggle("fit", this.isFit(this.busy) || this.isFit(this.full));
  }

  isFit(view) {
    return ["x0", "x1", "y0", "y1"].every((key) => this.view[key] === view[key]);
  }

  // ---- the part in sight

  setView(x0, x1, y0, y1) {
    const { full } = this;
    const width = clamp(x1 - x0, Math.min(LEAST_STEPS, full.x1 - full.x0), full.x1 - full.x0);
    const height = clamp(y1 - y0, Math.min(LEAST_BYTES, full.y1), full.y1 - full.y0);
    const left = clamp(x0 + (x1 - x0 - width) / 2, full.x0, full.x1 - width);
    const low = clamp(y0 + (y1 - y0 - height) / 2, full.y0, full.y1 - height);
    this.view = { x0: left, x1: left + width, y0: low, y1: low + height };
    this.invalidate(true);
  }

  // Zooms about a point given in steps and bytes; a factor below 1 zooms in.
  zoom(byX, byY, step, byte) {
    const { x0, x1, y0, y1 } = this.view;
    const keep = (low, high, at, by, least, most) => {
      const size = clamp((high - low) * by, least, most);
      const from = at - ((at - low) / (high - low)) * size;
      return [from, from + size];
    };
    const [a, b] = keep(
      x0,
      x1,
      step,
      byX,
      Math.min(LEAST_STEPS, this.full.x1 - this.full.x0),
      this.full.x1 - this.full.x0,
    );
    const [c, d] = keep(
      y0,
      y1,
      byte,
      byY,
      Math.min(LEAST_BYTES, this.full.y1),
      this.full.y1 - this.full.y0,
    );
    this.setView(a, b, c, d);
  }

  zoomMiddle(by) {
    const { x0, x1, y0, y1 } = this.view;
    this.zoom(by, by, (x0 + x1) / 2, (y0 + y1) / 2);
  }

  // Moves by parts of what is in sight.
  pan(right, up) {
    const { x0, x1, y0, y1 } = this.view;
    const dx = right * (x1 - x0);
    const dy = up * (y1 - y0);
    this.setView(x0 + dx, x1 + dx, y0 + dy, y1 + dy);
  }

  // All that happens; again: the whole axis.
  fit() {
    this.view = { ...(this.isFit(this.busy) ? this.full : this.busy) };
    this.invalidate(true);
  }

  showRange(begin, end, low, high) {
    const dx = Math.max(2, (end - begin) * 0.75);
    const dy = Math.max(16, (high - low) * 0.75);
    this.setView(begin - dx, end + dx, low - dy, high + dy);
  }

  // Brings a buffer into sight; zooms where it would be too small to see, or where asked to.
  reveal(b, zoom) {
    const { buffers } = this.model;
    const { x0, x1, y0, y1 } = this.view;
    const [begin, end, low] = [buffers.begin[b], buffers.end[b], buffers.offset[b]];
    const high = low + buffers.size[b];
    const box = this.arena.box();
    const visible = begin < x1 && end > x0 && low < y1 && high > y0;
    const large =
      ((end - begin) / (x1 - x0)) * box.width > 3 && ((high - low) / (y1 - y0)) * box.height > 3;
    if (zoom || !large) this.showRange(begin, end, low, high);
    else if (!visible)
      this.setView(
        (begin + end - (x1 - x0)) / 2,
        (begin + end + (x1 - x0)) / 2,
        (low + high - (y1 - y0)) / 2,
        (low + high + (y1 - y0)) / 2,
      );
  }

  // ---- other points of a range

  // Draws the plan at another point. What is selected stays so, and so does what is in sight.
  moveTo(point) {
    const { model, range } = this;
    const before = { full: this.full, busy: this.busy, peak: model.peak };
    const id = this.selected < 0 ? -1 : model.buffers.id[this.selected];
    const pressed = new Set([...this.pressed].map((g) => this.colours.groups[g].label));
    const sameFrame = range.frameOf(point) === range.frameOf(range.point);
    Object.assign(model, makeModel(range.dataAt(point)));
    range.point = point;
    this.hover = -1;
    if (!sameFrame) this.selected = id < 0 ? -1 : model.buffers.id.indexOf(id);
    const wasFit = ["full", "busy"].find((name) => this.isFit(before[name]));
    this.measure();
    if (wasFit) this.view = { ...this[wasFit] };
    else {
      const scale = this.full.y1 / before.full.y1;
      this.setView(this.view.x0, this.view.x1, this.view.y0 * scale, this.view.y1 * scale);
    }
    this.arena.renew();
    this.loadPicture.renew();
    this.hits = findBuffers(model, this.texts(), $("search").value);
    this.hitAt = -1;
    this.showCount($("search").value);
    this.setColouring(this.colouring, pressed);
    showFacts(this);
    showTensor(this);
    this.selectStep(this.step === before.peak ? model.peak : this.step);
  }

  // ---- selections

  select(b, how) {
    const { reveal, zoom, fromTable, keepTab } = how || {};
    this.selected = b;
    this.selectedChange = (this.model.changes && this.model.changes.get(b)) || null;
    if (b >= 0 && reveal) this.reveal(b, zoom);
    showTensor(this);
    if (b >= 0 && !keepTab) showTab("tensor");
    if (!fromTable) this.table.selected(true);
    if (b >= 0)
      this.say(
        bufferName(this.model, b, 80) +
          ", " +
          kindOf(this.model, b) +
          ", " +
          bytesText(this.model.buffers.size[b]) +
          ", steps " +
          this.model.buffers.begin[b] +
          " to " +
          this.model.buffers.end[b],
      );
    this.invalidate(false);
  }

  selectStep(step, how) {
    const { tab, reveal } = how || {};
    this.step = clamp(Math.floor(step), this.model.first, this.model.last - 1);
    const { x0, x1 } = this.view;
    if (reveal && (this.step < x0 || this.step + 1 > x1)) {
      const half = (x1 - x0) / 2;
      this.setView(this.step - half, this.step + half, this.view.y0, this.view.y1);
    }
    showStep(this);
    if (tab) showTab("step");
    const slider = this.loadPicture.canvas;
    const at = stepLabel(this.model, this.step);
    slider.setAttribute("aria-valuenow", this.step);
    slider.setAttribute(
      "aria-valuetext",
      "step " +
        this.step +
        (at.op ? ", " + shownName(at.op, 40) : "") +
        ", " +
        bytesText(loadAt(this.model, this.step)) +
        " in use",
    );
    this.invalidate(false);
  }

  selectChange(entry) {
    this.selectedChange = entry;
    if (entry.now >= 0) this.select(entry.now, { reveal: true, keepTab: true });
    else if (entry.then)
      this.showRange(
        entry.then.begin,
        entry.then.end,
        entry.then.offset,
        entry.then.offset + entry.then.size,
      );
    this.selectedChange = entry;
    this.invalidate(false);
  }

  // To the next segment of time, or to the first or last one.
  moveStep(by) {
    const { model } = this;
    const from =
      this.step < 0 ? model.segment(model.peak) - Math.sign(by) : model.segment(this.step);
    this.selectStep(model.times[clamp(from + by, 0, model.segments - 1)], {
      tab: true,
      reveal: true,
    });
  }

  // From the selected buffer to its neighbour in memory or time.
  moveSelection(direction) {
    if (this.selected < 0) {
      const live = liveAt(this.model, this.step < 0 ? this.model.peak : this.step);
      if (live.length) this.select(this.model.pieces.of[live[0]], { reveal: true });
      return;
    }
    const next = neighboursOf(this.model, this.selected)[direction];
    if (next >= 0) this.select(next, { reveal: true });
    else
      this.say(
        "Nothing lies " +
          { below: "below", above: "above", before: "here before", after: "here after" }[direction],
      );
  }

  // ---- search

  search(words) {
    this.hits = findBuffers(this.model, this.texts(), words);
    this.hitAt = -1;
    this.showCount(words);
    this.singleOut();
  }

  showCount(words) {
    const count = this.hits.length;
    $("search-count").textContent = !words.trim()
      ? ""
      : !count
        ? "none"
        : this.hitAt < 0
          ? thousands(count)
          : thousands(this.hitAt + 1) + "/" + thousands(count);
  }

  nextHit(by) {
    if (!this.hits.length) return;
    this.hitAt =
      this.hitAt < 0 && by < 0
        ? this.hits.length - 1
        : (this.hitAt + by + this.hits.length) % this.hits.length;
    this.showCount($("search").value);
    this.select(this.hits[this.hitAt], { reveal: true });
  }

  say(text) {
    $("live").textContent = text;
  }
}

// The curves of a range: arena and load over one symbol, while the others stay where they are, and
// below them how far the arena is above the load. A click, a drag or a slider moves the point whose
// plan is drawn.

const GAP_HEIGHT = 34;
const MOST_SUMS = 4;
const MOST_BOXES = 4;
const FEW_POINTS = 48; // each gets a dot

const gapOf = (range, point) =>
  range.load[point] > 0 ? (range.arena[point] - range.load[point]) / range.load[point] : 0;
function gapText(gap) {
  return gap > 0 && gap < 0.0001 ? "<0.01\u202f%" : (100 * gap).toFixed(2) + "\u202f%";
}

function makeCurve(app, canvas) {
  const context = canvas.getContext("2d", { alpha: false });
  const { range } = app;
  const state = { over: range.symbols.length - 1 };
  let box = measure(canvas, MARGIN.bottom);
  let low = box.bottom; // where the bytes end and the gap begins
  let most = 1;
  let mostGap = 0;

  // Over the longest range first.
  range.symbols.forEach(({ count }, i) => {
    if (count > range.symbols[state.over].count) state.over = i;
  });

  const count = () => range.symbols[state.over].count;
  const at = (step) => {
    const steps = range.stepsOf(range.point);
    steps[state.over] = step;
    return range.pointOf(steps);
  };
  const xOf = (step) =>
    count() < 2
      ? (box.left + box.right) / 2
      : box.left + 4 + (step / (count() - 1)) * (box.right - box.left - 8);
  const stepAt = (x) =>
    clamp(
      Math.round(((x - box.left - 4) / (box.right - box.left - 8)) * (count() - 1)),
      0,
      count() - 1,
    );
  const yOf = (bytes) => low - (bytes / most) * (low - box.top);
  const gapY = (gap) => box.bottom - (mostGap > 0 ? gap / mostGap : 0) * (GAP_HEIGHT - 6);

  function path(yAt) {
    const stride = Math.max(1, Math.floor(count() / (2 * (box.right - box.left))));
    context.beginPath();
    for (let step = 0; step < count(); step += stride) {
      // Of those that share a pixel, the highest.
      let y = Infinity;
      for (let s = step; s < Math.min(count(), step + stride); s++) y = Math.min(y, yAt(at(s)));
      context.lineTo(xOf(step), y);
    }
  }

  function line(yAt, colour, dash) {
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.setLineDash(dash || []);
    path(yAt);
    context.stroke();
    context.setLineDash([]);
    if (count() > FEW_POINTS) return;
    context.fillStyle = colour;
    for (let step = 0; step < count(); step++)
      context.fillRect(xOf(step) - 2, yAt(at(step)) - 2, 4, 4);
  }

  function area(yAt, base, colour, alpha) {
    context.fillStyle = colour;
    context.globalAlpha = alpha;
    path(yAt);
    context.lineTo(xOf(count() - 1), base);
    context.lineTo(xOf(0), base);
    context.fill();
    context.globalAlpha = 1;
  }

  // Every other region is shaded, and each says its number where there is room.
  function drawRegions(theme) {
    const edge = (step) => (step <= 0 ? box.left : step >= count() ? box.right : xOf(step - 0.5));
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    let odd = false;
    for (let from = 0, to; from < count(); from = to, odd = !odd) {
      const region = range.region[at(from)];
      for (to = from + 1; to < count() && range.region[at(to)] === region; to++);
      const [x0, x1] = [edge(from), edge(to)];
      context.fillStyle = odd ? theme.paper : theme.unused;
      context.fillRect(x0, box.top, x1 - x0, box.bottom - box.top);
      if (from > 0) {
        context.fillStyle = theme.line;
        context.fillRect(Math.round(x0), box.top, 1, box.bottom - box.top);
      }
      const text = "region " + region;
      context.fillStyle = theme.soft;
      if (range.source.regions.length > 1 && context.measureText(text).width + 8 < x1 - x0)
        context.fillText(text, x0 + 5, box.top + 12);
    }
  }

  function drawLabels(theme) {
    const right = box.right - 6;
    const last = at(count() - 1);
    const rising = range.arena[last] >= range.arena[at(0)];
    // Opposite to where the curve is high.
    const x = rising ? box.left + 8 : right - 70;
    const top = box.top + (range.source.regions.length > 1 ? 22 : 10);
    context.textAlign = "left";
    context.textBaseline = "middle";
    [
      ["arena", theme.arena, []],
      ["load", theme.bound, [5, 3]],
    ].forEach(([text, colour, dash], i) => {
      context.strokeStyle = colour;
      context.lineWidth = 1.5;
      context.setLineDash(dash);
      context.beginPath();
      context.moveTo(x, top + 14 * i);
      context.lineTo(x + 20, top + 14 * i);
      context.stroke();
      context.setLineDash([]);
      context.fillStyle = theme.ink;
      context.fillText(text, x + 26, top + 14 * i);
    });
  }

  // The largest gap of this curve.
  function drawWorst(theme) {
    if (mostGap <= 0) return;
    let worst = 0;
    for (let step = 1; step < count(); step++)
      if (gapOf(range, at(step)) > gapOf(range, at(worst))) worst = step;
    const x = xOf(worst);
    const y = gapY(mostGap);
    context.fillStyle = theme.anyBound;
    context.beginPath();
    context.arc(x, y, 3, 0, 2 * Math.PI);
    context.fill();
    const text = "gap " + gapText(mostGap);
    const width = context.measureText(text).width;
    const fits = x + width + 10 < box.right;
    context.textAlign = "left";
    context.textBaseline = "middle";
    const left = fits ? x + 7 : x - width - 7;
    context.fillStyle = theme.paper;
    context.globalAlpha = 0.8;
    context.fillRect(left - 2, y - 6, width + 4, 13);
    context.globalAlpha = 1;
    context.fillStyle = theme.anyBound;
    context.fillText(text, left, y + 1);
  }

  function drawPoint(theme) {
    const step = range.stepsOf(range.point)[state.over];
    const x = xOf(step);
    context.fillStyle = theme.accent;
    context.fillRect(x - 0.5, box.top, 1, box.bottom - box.top);
    context.beginPath();
    context.arc(x, yOf(range.arena[range.point]), 4, 0, 2 * Math.PI);
    context.fill();
  }

  function drawAxes(theme) {
    const symbol = range.symbols[state.over];
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(
      box.left - 0.5,
      box.top - 0.5,
      box.right - box.left + 1,
      box.bottom - box.top + 1,
    );
    context.beginPath();
    context.moveTo(box.left, Math.round(low) + 0.5);
    context.lineTo(box.right, Math.round(low) + 0.5);
    context.stroke();
    context.fillStyle = theme.soft;
    drawByteScale(context, { ...box, bottom: low }, yOf, 0, most, 26);
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText("gap", box.left - 7, (low + box.bottom) / 2);
    drawSymbolAxis(symbol, theme);
  }

  // Ticks are values that the range has.
  function drawSymbolAxis(symbol, theme) {
    const perStep = (box.right - box.left - 8) / Math.max(1, count() - 1);
    const tick = stepTick(56 / perStep);
    const first = Math.ceil(symbol.min / symbol.step / tick) * tick - symbol.min / symbol.step;
    const steps = new Set([0, count() - 1]);
    for (let step = first; step < count(); step += tick)
      if (step * perStep > 34 && (count() - 1 - step) * perStep > 34) steps.add(step);
    context.fillStyle = theme.soft;
    context.strokeStyle = theme.line;
    context.textBaseline = "alphabetic";
    context.beginPath();
    for (const step of steps) {
      const x = xOf(step);
      context.textAlign = step === count() - 1 && step > 0 ? "right" : step === 0 ? "left" : "center";
      const text = thousands(range.valueAt(state.over, step));
      context.fillText(text, step === 0 ? x - 4 : step === count() - 1 ? x + 4 : x, box.bottom + 14);
      context.moveTo(Math.round(x) + 0.5, box.bottom);
      context.lineTo(Math.round(x) + 0.5, box.bottom + 3);
    }
    context.stroke();
    context.textAlign = "center";
    context.fillText(
      shownName(symbol.name, 60),
      (box.left + box.right) / 2,
      box.bottom + 28,
      box.right - box.left,
    );
    context.textAlign = "left";
  }

  function draw() {
    box = measure(canvas, MARGIN.bottom);
    low = box.bottom - GAP_HEIGHT;
    most = 1;
    mostGap = 0;
    for (let step = 0; step < count(); step++) {
      most = Math.max(most, range.arena[at(step)]);
      mostGap = Math.max(mostGap, gapOf(range, at(step)));
    }
    most *= 1.06;
    const theme = app.theme();
    context.setTransform(box.ratio, 0, 0, box.ratio, 0, 0);
    context.direction = "ltr";
    context.font = FONT;
    context.fillStyle = theme.paper;
    context.fillRect(0, 0, box.width, box.height);
    drawRegions(theme);
    area((p) => yOf(range.load[p]), low, theme.bound, 0.12);
    area((p) => gapY(gapOf(range, p)), box.bottom, theme.anyBound, 0.35);
    line((p) => yOf(range.arena[p]), theme.arena);
    line((p) => yOf(range.load[p]), theme.bound, [5, 3]);
    drawWorst(theme);
    drawPoint(theme);
    drawLabels(theme);
    drawAxes(theme);
  }

  return { canvas, draw, xOf, yOf, stepAt, at, state, box: () => box };
}

// ---- beside the curves

// Brackets and the mark of symbols are for graphs.
const sumText = (text) => text.replace(/^\?\((.*)\)$/, "$1").replace(/^\?/, "");

function boxText(range, [first, last]) {
  const parts = range.symbols.map(({ name, step }, i) => {
    const to = first[i] === last[i] ? "" : ".." + last[i] + (step > 1 ? "/" + step : "");
    return shownName(name, 40) + "=" + first[i] + to;
  });
  return parts.join(", ");
}

function regionBlock(range, region, number) {
  const boxes = region.boxes.slice(0, MOST_BOXES).map((box) => boxText(range, box));
  if (region.boxes.length > MOST_BOXES) boxes.push("…");
  const sums = region.sums.slice(0, MOST_SUMS).map(sumText);
  if (region.sums.length > MOST_SUMS || region.slack === null) sums.push("…");
  const note =
    region.slack === null
      ? "; may be larger"
      : region.slack > 0
        ? "; or up to " + exactBytes(region.slack) + " less"
        : "";
  return make(
    "div",
    { class: "region" },
    range.source.regions.length > 1 ? make("strong", {}, "region " + number + ": ") : null,
    boxes.join("; "),
    make(
      "div",
      { class: "detail" },
      (sums.length > 1 ? "arena: the largest of" : "arena") + note,
    ),
    make("ul", { class: "sums" }, ...sums.map((sum) => make("li", {}, shownName(sum, 400)))),
  );
}

function showPoint(app) {
  const { range } = app;
  const { point } = range;
  $("range-at").textContent =
    "arena " +
    bytesText(range.arena[point]) +
    ", load " +
    bytesText(range.load[point]) +
    ", gap " +
    gapText(gapOf(range, point)) +
    (range.source.regions.length > 1 ? ", region " + range.region[point] : "");
  $("range-at").title = exactBytes(range.arena[point]) + ", " + exactBytes(range.load[point]);
  range.stepsOf(point).forEach((step, i) => {
    const value = range.valueAt(i, step);
    const slider = $("range-slider-" + i);
    slider.value = range.drawn[i].indexOf(step);
    slider.setAttribute("aria-valuetext", range.symbols[i].name + " " + value);
    $("range-number-" + i).value = value;
  });
  app.curve.canvas.setAttribute(
    "aria-label",
    "Arena and load over " +
      shownName(range.symbols[app.curve.state.over].name, 60) +
      "; drawn at " +
      range.nameOfPoint(point),
  );
}

function attachRange(app) {
  const { range } = app;
  if (!range) return;
  $("range").hidden = false;
  app.curve = makeCurve(app, $("curve"));

  // One move for each frame, to where the pointer was last.
  let wanted = -1;
  const go = (steps) => {
    const asked = wanted >= 0;
    wanted = range.pointOf(steps.map((step, i) => range.nearest(i, step)));
    if (asked) return;
    requestAnimationFrame(() => {
      const point = wanted;
      wanted = -1;
      if (point !== range.point) app.moveTo(point);
      showPoint(app);
    });
  };
  app.goTo = (point) => go(range.stepsOf(point));
  const goSymbol = (i, step) => {
    const steps = range.stepsOf(wanted >= 0 ? wanted : range.point);
    steps[i] = step;
    go(steps);
  };

  $("range-sliders").append(
    ...range.symbols.map((symbol, i) => {
      const label = shownName(symbol.name, 60);
      const slider = make("input", {
        type: "range",
        id: "range-slider-" + i,
        min: 0,
        max: range.drawn[i].length - 1,
        step: 1,
      });
      const number = make("input", {
        type: "number",
        id: "range-number-" + i,
        min: symbol.min,
        max: symbol.max,
        step: symbol.step,
        "aria-label": label,
      });
      slider.addEventListener("input", () => goSymbol(i, range.drawn[i][Number(slider.value)]));
      number.addEventListener("change", () =>
        goSymbol(
          i,
          clamp(Math.round((Number(number.value) - symbol.min) / symbol.step), 0, symbol.count - 1),
        ),
      );
      return make(
        "div",
        { class: "slider" },
        make("label", { htmlFor: slider.id }, label),
        slider,
        number,
      );
    }),
  );

  const link = (point) =>
    make(
      "button",
      { type: "button", class: "link", click: () => app.goTo(point) },
      range.nameOfPoint(point),
    );
  const { largest, worst } = range.source;
  $("range-facts").append(
    ...term("largest arena", bytesText(range.arena[largest]) + " at ", link(largest)),
    ...term("largest gap", gapText(gapOf(range, worst)) + " at ", link(worst)),
  );
  $("range-regions").append(
    ...range.source.regions.map((region, number) => regionBlock(range, region, number)),
  );

  const over = $("range-over");
  over.append(
    ...range.symbols.map(({ name }, i) => make("option", { value: i }, shownName(name, 40))),
  );
  over.value = app.curve.state.over;
  $("range-over-box").hidden = range.symbols.length < 2;
  over.addEventListener("change", () => {
    app.curve.state.over = Number(over.value);
    showPoint(app);
    app.invalidate(false);
  });
  attachCurve(app, goSymbol);
  new ResizeObserver(() => app.invalidate(false)).observe(app.curve.canvas.parentElement);
  showPoint(app);
}

function attachCurve(app, goSymbol) {
  const { range, curve } = app;
  const { canvas, state } = curve;
  const stepOf = (event) => curve.stepAt(event.clientX - canvas.getBoundingClientRect().left);
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    canvas.setPointerCapture(event.pointerId);
    goSymbol(state.over, stepOf(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const point = curve.at(stepOf(event));
    if (event.buttons & 1) goSymbol(state.over, stepOf(event));
    showTip(app, event, [
      range.nameOfPoint(point),
      "arena " + bytesText(range.arena[point]) + ", load " + bytesText(range.load[point]),
      "gap " + gapText(gapOf(range, point)) + ", region " + range.region[point],
    ]);
  });
  canvas.addEventListener("pointerleave", () => hideTip(app));
}

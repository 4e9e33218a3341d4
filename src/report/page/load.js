// The load curve: bytes in use at each step, stacked by the groups of the current colouring, with
// the bounds and the arena as lines. It shares the steps' axis with the picture of the arena.

// The load of every group in every segment.
function groupLoads(model, of, count) {
  const { pieces, segments } = model;
  const loads = Array.from({ length: count }, () => new Float64Array(segments + 1));
  for (let p = 0; p < pieces.count; p++) {
    const load = loads[of[pieces.of[p]]];
    load[pieces.from[p]] += occupied(model, p);
    load[pieces.to[p]] -= occupied(model, p);
  }
  for (const load of loads) for (let s = 1; s <= segments; s++) load[s] += load[s - 1];
  return loads;
}

function makeLoadPicture(app, canvas) {
  const context = canvas.getContext("2d", { alpha: false });
  const holder = { image: null, words: null };
  const { model } = app;
  let box = measure(canvas, MARGIN.bottom);

  let most;
  // Takes the model as it is now.
  function renew() {
    most = Math.max(1, model.facts.arena, model.facts.bound || 0, model.peakLoad) * 1.08;
    canvas.setAttribute("aria-valuemin", model.first);
    canvas.setAttribute("aria-valuemax", model.last - 1);
  }
  renew();
  const xOf = (step) =>
    box.left + ((step - app.view.x0) / (app.view.x1 - app.view.x0)) * (box.right - box.left);
  const yOf = (bytes) => box.bottom - (bytes / most) * (box.bottom - box.top);
  const stepAt = (x) =>
    app.view.x0 + ((x - box.left) / (box.right - box.left)) * (app.view.x1 - app.view.x0);

  // Where several steps share a column it shows the one of the highest load: peaks never vanish.
  function highestIn(from, to) {
    let best = from;
    for (let s = from + 1; s < to; s++) if (model.load[s] > model.load[best]) best = s;
    return best;
  }

  function drawCurve(pixels, theme) {
    const { words, w, h } = pixels;
    const { view, colours } = app;
    const perPixel = (view.x1 - view.x0) / w;
    words.fill(packed(rgb(theme.paper)));
    for (let x = 0; x < w && view.x0 + x * perPixel < model.last; x++) {
      const from = model.segment(view.x0 + x * perPixel);
      const at = highestIn(
        from,
        Math.max(from, model.segment(view.x0 + (x + 1) * perPixel - 1e-9)) + 1,
      );
      let sum = 0;
      let below = h;
      for (let g = 0; g < colours.loads.length; g++) {
        sum += colours.loads[g][at];
        const y = Math.max(0, Math.round(h - (sum / most) * h));
        const shade = colours.shades[g];
        const colour = colours.quiet[g] ? shade.faint : shade.fill;
        for (let i = y; i < below; i++) words[i * w + x] = colour;
        below = Math.min(below, y);
      }
    }
  }

  function limits(theme) {
    const { facts } = model;
    const lines = [{ label: "arena", bytes: facts.arena, colour: theme.arena, dash: [] }];
    if (facts.bound > 0)
      lines.push({ label: "bound", bytes: facts.bound, colour: theme.bound, dash: [6, 3] });
    if (facts.any_bound > 0)
      lines.push({
        label: "any-order bound",
        bytes: facts.any_bound,
        colour: theme.anyBound,
        dash: [2, 2],
      });
    if (facts.capacity > 0 && facts.capacity < most)
      lines.push({
        label: "capacity",
        bytes: facts.capacity,
        colour: theme.capacity,
        dash: [8, 2],
      });
    return lines;
  }

  // Labels stand at the right end, side by side where lines are too close to stack them; below the
  // others where that is too wide.
  function drawLimits(theme) {
    context.font = FONT;
    context.textBaseline = "middle";
    const taken = [];
    const lines = limits(theme);
    for (const { bytes, colour, dash } of lines) {
      const y = Math.round(yOf(bytes)) + 0.5;
      context.strokeStyle = colour;
      context.lineWidth = 1.25;
      context.setLineDash(dash);
      context.beginPath();
      context.moveTo(box.left, y);
      context.lineTo(box.right, y);
      context.stroke();
    }
    context.setLineDash([]);
    for (const { label, bytes, colour } of lines) {
      const y = yOf(bytes);
      const text = label + " " + bytesText(bytes);
      const width = context.measureText(text).width + 8;
      let right = box.right - 2;
      for (const other of taken)
        if (Math.abs(other.y - y) < 14) right = Math.min(right, other.left - 4);
      let at = clamp(y + 8, box.top + 7, box.bottom - 7);
      if (right - width < box.left) {
        right = box.right - 2;
        while (taken.some((other) => Math.abs(other.at - at) < 13) && at + 14 < box.bottom) at += 14;
      }
      context.fillStyle = theme.paper;
      context.globalAlpha = 0.86;
      context.fillRect(right - width, at - 6.5, width, 13);
      context.globalAlpha = 1;
      context.fillStyle = colour;
      context.fillText(text, right - width + 4, at);
      taken.push({ y, at, left: right - width, right });
    }
  }

  // The peak hangs from the top, the chosen step stands on the axis.
  function drawMark(step, colour, chosen) {
    if (step + 1 <= app.view.x0 || step >= app.view.x1) return;
    const x = clamp((xOf(step) + xOf(step + 1)) / 2, box.left, box.right);
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 1;
    if (chosen) context.fillRect(x - 0.5, box.top, 1, box.bottom - box.top);
    context.beginPath();
    const [tip, base] = chosen ? [box.bottom - 7, box.bottom] : [box.top + 8, box.top];
    context.moveTo(x, tip);
    context.lineTo(x - 5, base);
    context.lineTo(x + 5, base);
    context.closePath();
    context.fill();
  }

  function drawAxes(theme) {
    context.fillStyle = theme.paper;
    context.fillRect(0, 0, box.left, box.height);
    context.fillRect(box.right, 0, box.width - box.right, box.height);
    context.fillRect(0, 0, box.width, box.top);
    context.fillRect(0, box.bottom, box.width, box.height - box.bottom);
    context.font = FONT;
    context.fillStyle = theme.soft;
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    drawByteScale(context, box, yOf, 0, most, 26);
    drawStepAxis(context, box, app.view, theme, stepMeaning(model));
    context.strokeRect(
      box.left - 0.5,
      box.top - 0.5,
      box.right - box.left + 1,
      box.bottom - box.top + 1,
    );
  }

  function draw(whole) {
    box = measure(canvas, MARGIN.bottom);
    const theme = app.theme();
    const pixels = pixelsOf(holder, context, box);
    if (whole || pixels.fresh) drawCurve(pixels, theme);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(
      holder.image,
      Math.round(box.left * box.ratio),
      Math.round(box.top * box.ratio),
    );
    context.setTransform(box.ratio, 0, 0, box.ratio, 0, 0);
    context.textAlign = "left";
    drawLimits(theme);
    if (app.step >= 0) drawMark(app.step, theme.accent, true);
    drawMark(model.peak, theme.peak, false);
    drawAxes(theme);
  }

  return { canvas, draw, renew, xOf, yOf, stepAt, box: () => box };
}

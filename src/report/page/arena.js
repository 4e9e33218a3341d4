// The picture of the arena: steps to the right, offsets upwards, every buffer where it lies when.
//
// Buffers never overlap, so filling all of them costs at most the pixels of the picture plus one
// step each: they are written straight into an ImageData, the same at 50 buffers and at 50,000,
// with no spatial index and no bitmap that could be stale. Only what is large enough to be read (names,
// inner values, marks) or singled out is drawn with the canvas's own calls, on top.

const ARENA_BOTTOM = 5; // the load curve below carries the numbers of the steps
const MOST_LABELS = 500;
const MOST_OUTLINES = 600;
const MOST_INNER = 1500;

function makeArena(app, canvas) {
  const context = canvas.getContext("2d", { alpha: false });
  const holder = { image: null, words: null };
  const { model } = app;
  let pieces, buffers, values, order, sorted, shortName;

  // Takes the model as it is now.
  function renew() {
    ({ pieces, buffers, values } = model);
    order = largestFirst(pieces.count, (p) => occupied(model, p));
    // The columns that every frame reads, in the order of drawing.
    sorted = { of: Int32Array.from(order, (p) => pieces.of[p]) };
    for (const name of ["begin", "end", "low", "high"])
      sorted[name] = Float64Array.from(order, (p) => pieces[name][p]);
    sorted.guard = Float64Array.from(order, (p) => buffers.guard[pieces.of[p]]);
    shortName = makeNames(
      model,
      Array.from(order, (p) => pieces.of[p]),
    );
  }
  renew();
  let box = measure(canvas, ARENA_BOTTOM);

  const xOf = (step) =>
    box.left + ((step - app.view.x0) / (app.view.x1 - app.view.x0)) * (box.right - box.left);
  const yOf = (byte) =>
    box.bottom - ((byte - app.view.y0) / (app.view.y1 - app.view.y0)) * (box.bottom - box.top);
  const stepAt = (x) =>
    app.view.x0 + ((x - box.left) / (box.right - box.left)) * (app.view.x1 - app.view.x0);
  const byteAt = (y) =>
    app.view.y0 + ((box.bottom - y) / (box.bottom - box.top)) * (app.view.y1 - app.view.y0);

  // Free bytes: those below the highest occupied one are wasted, those above merely unused.
  function drawGround(pixels, theme) {
    const { words, w, h } = pixels;
    const { view } = app;
    const [unused, hole, ink, paper] = [theme.unused, theme.hole, theme.holeInk, theme.paper].map(
      (c) => packed(rgb(c)),
    );
    const toY = (byte) => Math.round(h - ((byte - view.y0) / (view.y1 - view.y0)) * h);
    const tops = new Int32Array(w);
    const perPixel = (view.x1 - view.x0) / w;
    for (let x = 0; x < w; x++) {
      tops[x] = h;
      if (view.x0 + x * perPixel >= model.last) continue;
      const from = model.segment(view.x0 + x * perPixel);
      const to = Math.max(from, model.segment(view.x0 + (x + 1) * perPixel - 1e-9)) + 1;
      let high = 0;
      for (let s = from; s < to; s++) high = Math.max(high, model.top[s]);
      tops[x] = toY(high);
    }
    const sky = toY(model.facts.arena);
    const period = Math.round(6 * box.ratio);
    for (let y = 0, i = 0; y < h; y++)
      for (let x = 0; x < w; x++, i++)
        words[i] = y >= tops[x] ? ((x + y) % period === 0 ? ink : hole) : y >= sky ? unused : paper;
  }

  function drawPieces(pixels, theme) {
    const { view, colours, faint } = app;
    const { w, h } = pixels;
    const sx = w / (view.x1 - view.x0);
    const sy = h / (view.y1 - view.y0);
    const line = Math.max(1, Math.round(box.ratio * 0.75));
    const guardColour = packed(rgb(theme.guard));
    const guardGround = packed(mixed(rgb(theme.guard), rgb(theme.paper), 0.75));
    const reserved = model.kinds.indexOf("reserved");
    for (let k = 0; k < order.length; k++) {
      if (sorted.end[k] <= view.x0 || sorted.begin[k] >= view.x1) continue;
      const guard = sorted.guard[k];
      const high = sorted.high[k];
      if (high + guard <= view.y0 || sorted.low[k] >= view.y1) continue;
      const b = sorted.of[k];
      let x0 = Math.round((sorted.begin[k] - view.x0) * sx);
      let x1 = Math.round((sorted.end[k] - view.x0) * sx);
      let y0 = Math.round(h - (high - view.y0) * sy);
      let y1 = Math.round(h - (sorted.low[k] - view.y0) * sy);
      if (x1 === x0) x1++;
      if (y1 === y0) y0--;
      const wide = x1 - x0 > 3 * line;
      const tall = y1 - y0 > 3 * line;
      const right = x1;
      const guardTop = Math.max(0, Math.round(h - (high + guard - view.y0) * sy));
      const guardEnd = Math.min(h, y0);
      const topShown = y0 >= 0;
      x0 = Math.max(0, x0);
      y0 = Math.max(0, y0);
      x1 = Math.min(w, x1);
      y1 = Math.min(h, y1);
      const shade = colours.shades[colours.of[b]];
      const fill = faint[b] ? shade.faint : shade.fill;
      const edge = faint[b] ? shade.faintEdge : shade.edge;
      if (buffers.kind[b] === reserved)
        hatchPixels(pixels, x0, y0, x1, y1, edge, fill, Math.round(8 * box.ratio));
      else fillPixels(pixels, x0, y0, x1, y1, fill);
      if (guard > 0 && guardTop < guardEnd)
        hatchPixels(
          pixels,
          x0,
          guardTop,
          x1,
          guardEnd,
          guardColour,
          guardGround,
          Math.round(6 * box.ratio),
        );
      if (tall && topShown) fillPixels(pixels, x0, y0, x1, Math.min(y1, y0 + line), edge);
      if (wide && right <= w) drawRightEdge(pixels, order[k], x1, y0, y1, line, edge, fill, sy);
    }
  }

  // The right edge of a piece, left open where the next piece of the same buffer goes on.
  function drawRightEdge(pixels, p, x1, y0, y1, line, edge, fill, sy) {
    fillPixels(pixels, Math.max(0, x1 - line), y0, x1, y1, edge);
    const next = p + 1;
    if (
      next >= pieces.count ||
      pieces.of[next] !== pieces.of[p] ||
      pieces.begin[next] !== pieces.end[p]
    )
      return;
    const top = Math.round(
      pixels.h - (Math.min(pieces.high[p], pieces.high[next]) - app.view.y0) * sy,
    );
    const bottom = Math.round(
      pixels.h - (Math.max(pieces.low[p], pieces.low[next]) - app.view.y0) * sy,
    );
    if (top + line < bottom)
      fillPixels(
        pixels,
        Math.max(0, x1 - line),
        Math.max(y0, top + line),
        x1,
        Math.min(y1, bottom),
        fill,
      );
  }

  // The outline of a buffer: its staircase, one closed path per stretch of time.
  function outline(b) {
    context.beginPath();
    const end = pieces.first[b + 1];
    for (let p = pieces.first[b]; p < end;) {
      let q = p + 1;
      while (q < end && pieces.begin[q] === pieces.end[q - 1]) q++;
      context.moveTo(xOf(pieces.begin[p]), yOf(pieces.low[p]));
      for (let i = p; i < q; i++) {
        context.lineTo(xOf(pieces.begin[i]), yOf(pieces.high[i]));
        context.lineTo(xOf(pieces.end[i]), yOf(pieces.high[i]));
      }
      for (let i = q - 1; i >= p; i--) {
        context.lineTo(xOf(pieces.end[i]), yOf(pieces.low[i]));
        context.lineTo(xOf(pieces.begin[i]), yOf(pieces.low[i]));
      }
      context.closePath();
      p = q;
    }
  }

  function strokeOutline(b, colour, width, dash) {
    outline(b);
    context.setLineDash(dash || []);
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.stroke();
    context.setLineDash([]);
  }

  const inView = (b) => {
    const { view } = app;
    return (
      buffers.end[b] > view.x0 &&
      buffers.begin[b] < view.x1 &&
      buffers.offset[b] + buffers.size[b] > view.y0 &&
      buffers.offset[b] < view.y1
    );
  };

  // A rectangle of the arena clipped to the plot.
  function shownRect(begin, end, low, high) {
    const x0 = Math.max(box.left, xOf(begin));
    const x1 = Math.min(box.right, xOf(end));
    const y0 = Math.max(box.top, yOf(high));
    const y1 = Math.min(box.bottom, yOf(low));
    return { x0, x1, y0, y1, w: x1 - x0, h: y1 - y0 };
  }

  // Views are dotted, results in place begin with a bar, elided copies are hatched.
  function drawInner(b, ink) {
    let drawn = 0;
    for (let i = values.first[b]; i < values.first[b + 1]; i++) {
      const v = values.order[i];
      const low = buffers.offset[b] + values.low[v];
      const r = shownRect(values.begin[v], values.end[v], low, low + values.size[v]);
      if (r.w < 12 || r.h < 9) continue;
      drawn++;
      context.globalAlpha = 0.3;
      context.strokeStyle = context.fillStyle = ink;
      context.lineWidth = 1;
      if (values.how[v] === 1) context.fillRect(r.x0, r.y0 + 2, 2, r.h - 4);
      else if (values.how[v] === 2) hatchLines(r);
      context.setLineDash(values.how[v] === 0 ? [1, 3] : values.how[v] === 1 ? [4, 3] : []);
      context.strokeRect(r.x0 + 1.5, r.y0 + 1.5, r.w - 3, r.h - 3);
      context.setLineDash([]);
      context.globalAlpha = 1;
    }
    return drawn;
  }

  function hatchLines(r) {
    context.save();
    context.beginPath();
    context.rect(r.x0 + 1.5, r.y0 + 1.5, r.w - 3, r.h - 3);
    context.clip();
    context.globalAlpha = 0.22;
    context.beginPath();
    for (let d = 8 - (r.h % 8); d < r.w + r.h; d += 8) {
      context.moveTo(r.x0 + d - r.h, r.y1);
      context.lineTo(r.x0 + d, r.y0);
    }
    context.stroke();
    context.restore();
  }

  function drawLabel(b, p, ink, taken) {
    const r = shownRect(pieces.begin[p], pieces.end[p], pieces.low[p], pieces.high[p]);
    if (r.w < 34 || r.h < 13) return false;
    const most = Math.floor((r.w - 8) / 6);
    const name = shortName(b, most, taken);
    if (!name) return false;
    context.fillStyle = ink;
    context.fillText(name, r.x0 + 4, r.y0 + 11, r.w - 6);
    if (r.h >= 28 && r.w >= 60) {
      context.globalAlpha = 0.72;
      const op = opOf(model, b);
      const size = bytesText(buffers.size[b]);
      const whole = op ? size + " · " + shownName(op, 20) : size;
      context.fillText(whole.length <= most ? whole : size, r.x0 + 4, r.y0 + 24, r.w - 6);
      context.globalAlpha = 1;
    }
    return true;
  }

  function drawFixedMark(b, theme) {
    const r = shownRect(
      buffers.begin[b],
      buffers.end[b],
      buffers.offset[b],
      buffers.offset[b] + buffers.size[b],
    );
    if (r.w < 6 || r.h < 6) return;
    context.fillStyle = theme.ink;
    context.beginPath();
    context.moveTo(r.x1 - 8, r.y1 - 1);
    context.lineTo(r.x1 - 1, r.y1 - 1);
    context.lineTo(r.x1 - 1, r.y1 - 8);
    context.fill();
  }

  // Names, inner values and marks of buffers that are large enough to carry them, largest first.
  function drawDetails(theme) {
    const { view } = app;
    const perStep = (box.right - box.left) / (view.x1 - view.x0);
    const perByte = (box.bottom - box.top) / (view.y1 - view.y0);
    const taken = new Set();
    let labels = 0;
    let inner = 0;
    context.font = FONT;
    context.textBaseline = "alphabetic";
    for (let k = 0; k < order.length; k++) {
      const p = order[k];
      if (occupied(model, p) * perByte < 6) break; // all that follow are smaller
      const b = pieces.of[p];
      if ((pieces.end[p] - pieces.begin[p]) * perStep < 6 || !inView(b)) continue;
      const shade = app.colours.shades[app.colours.of[b]];
      const ink = app.faint[b] ? theme.soft : shade.ink;
      const first = p === pieces.first[b];
      if (first && inner < MOST_INNER) inner += drawInner(b, ink);
      if (first && buffers.flags[b] & FLAG_FIXED) drawFixedMark(b, theme);
      if (labels < MOST_LABELS && p === widestPiece(b) && drawLabel(b, p, ink, taken)) labels++;
    }
  }

  function widestPiece(b) {
    let best = pieces.first[b];
    const area = (p) => {
      const r = shownRect(pieces.begin[p], pieces.end[p], pieces.low[p], pieces.high[p]);
      return r.w > 0 && r.h > 0 ? r.w * Math.min(r.h, 30) : 0;
    };
    for (let p = best + 1; p < pieces.first[b + 1]; p++) if (area(p) > area(best)) best = p;
    return best;
  }

  function drawChanges() {
    if (!model.against || !app.showOld) return;
    let drawn = 0;
    for (const entry of model.against.changes) {
      if (!entry.then || drawn > MOST_OUTLINES) continue;
      const { begin, end, offset, size } = entry.then;
      const r = shownRect(begin, end, offset, offset + size);
      if (r.w < 2 || r.h < 1) continue;
      drawn++;
      context.strokeStyle = CHANGE_COLOUR[entry.change] || CHANGE_COLOUR.moved;
      context.lineWidth = entry === app.selectedChange ? 3 : 1;
      context.setLineDash([5, 3]);
      context.strokeRect(r.x0 + 0.5, r.y0 + 0.5, r.w - 1, r.h - 1);
    }
    context.setLineDash([]);
  }

  function drawSingledOut(theme) {
    let drawn = 0;
    for (const b of app.hits) {
      if (drawn > MOST_OUTLINES) break;
      if (!inView(b)) continue;
      drawn++;
      strokeOutline(b, theme.ink, 1.25);
    }
    if (app.hover >= 0 && app.hover !== app.selected) strokeOutline(app.hover, theme.ink, 1.5);
    if (app.selected < 0) return;
    strokeOutline(app.selected, theme.paper, 4.5);
    strokeOutline(app.selected, theme.accent, 2.5);
  }

  function drawStepLine(theme) {
    const { view } = app;
    const line = (step, colour, dash) => {
      if (step + 1 <= view.x0 || step >= view.x1) return;
      const x0 = Math.max(box.left, xOf(step));
      const x1 = Math.min(box.right, Math.max(xOf(step + 1), x0 + 1.5));
      context.fillStyle = colour;
      context.globalAlpha = 0.1;
      context.fillRect(x0, box.top, x1 - x0, box.bottom - box.top);
      context.globalAlpha = 1;
      context.strokeStyle = colour;
      context.lineWidth = 1;
      context.setLineDash(dash);
      context.beginPath();
      context.moveTo((x0 + x1) / 2, box.top);
      context.lineTo((x0 + x1) / 2, box.bottom);
      context.stroke();
      context.setLineDash([]);
    };
    if (app.step >= 0) line(app.step, theme.accent, [2, 3]);
  }

  function drawArenaLine(theme) {
    const y = Math.round(yOf(model.facts.arena)) + 0.5;
    if (y < box.top || y > box.bottom) return;
    context.strokeStyle = theme.arena;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(box.left, y);
    context.lineTo(box.right, y);
    context.stroke();
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
    drawByteScale(context, box, yOf, app.view.y0, app.view.y1, 34);
    context.strokeRect(
      box.left - 0.5,
      box.top - 0.5,
      box.right - box.left + 1,
      box.bottom - box.top + 1,
    );
  }

  function draw(whole) {
    box = measure(canvas, ARENA_BOTTOM);
    const theme = app.theme();
    const pixels = pixelsOf(holder, context, box);
    if (whole || pixels.fresh) {
      drawGround(pixels, theme);
      drawPieces(pixels, theme);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(
      holder.image,
      Math.round(box.left * box.ratio),
      Math.round(box.top * box.ratio),
    );
    context.setTransform(box.ratio, 0, 0, box.ratio, 0, 0);
    context.direction = "ltr";
    context.textAlign = "left";
    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
    context.clip();
    drawArenaLine(theme);
    drawDetails(theme);
    drawChanges();
    drawStepLine(theme);
    drawSingledOut(theme);
    context.restore();
    drawAxes(theme);
  }

  return { canvas, draw, renew, xOf, yOf, stepAt, byteAt, box: () => box };
}

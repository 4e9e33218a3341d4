// What both pictures draw with: measures, pixels and the scales. Pixels are written straight into an
// ImageData, in device pixels; text and lines go through the canvas, in those of the document.

const MARGIN = { left: 72, right: 10, top: 6, bottom: 34 };
const FONT = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

// Sizes a canvas to its box in device pixels; returns the measures that everything is drawn with.
function measure(canvas, bottom) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(MARGIN.left + MARGIN.right + 20, canvas.clientWidth);
  const height = Math.max(MARGIN.top + bottom + 20, canvas.clientHeight);
  const w = Math.round(width * ratio);
  const h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const left = Math.round(MARGIN.left * ratio) / ratio;
  const top = Math.round(MARGIN.top * ratio) / ratio;
  return { ratio, width, height, left, top, right: width - MARGIN.right, bottom: height - bottom };
}

// The plot's pixels: an ImageData and its words, kept while the size stays.
function pixelsOf(holder, context, box) {
  const w = Math.max(1, Math.round((box.right - box.left) * box.ratio));
  const h = Math.max(1, Math.round((box.bottom - box.top) * box.ratio));
  if (!holder.image || holder.image.width !== w || holder.image.height !== h) {
    holder.image = context.createImageData(w, h);
    holder.words = new Uint32Array(holder.image.data.buffer);
    return { words: holder.words, w, h, fresh: true };
  }
  return { words: holder.words, w, h, fresh: false };
}

function fillPixels(pixels, x0, y0, x1, y1, colour) {
  const { words, w } = pixels;
  if (x1 - x0 > 8) {
    for (let y = y0; y < y1; y++) words.fill(colour, y * w + x0, y * w + x1);
    return;
  }
  for (let y = y0; y < y1; y++)
    for (let i = y * w + x0, end = y * w + x1; i < end; i++) words[i] = colour;
}

function hatchPixels(pixels, x0, y0, x1, y1, colour, ground, period) {
  const { words, w } = pixels;
  for (let y = y0; y < y1; y++)
    for (let x = x0; x < x1; x++)
      words[y * w + x] = (x + y) % period < period >> 2 ? colour : ground;
}

// 1, 2, 4 … bytes: offsets are read in powers of two.
const byteTick = (least) => Math.pow(2, Math.max(0, Math.ceil(Math.log2(least))));

// The unit of a scale that ends at |most|: the largest in which its ticks have two decimals at most.
function scaleUnit(most, tick) {
  let unit = 0;
  while (
    unit < UNITS.length - 1 &&
    most >= Math.pow(1024, unit + 1) &&
    4 * tick >= Math.pow(1024, unit + 1)
  )
    unit++;
  return unit;
}

// Draws the numbers of a scale of bytes, all in one unit, with as many digits as tell ticks apart.
// |least| is the distance in pixels below which numbers would touch.
function drawByteScale(context, box, yOf, low, high, least) {
  const tick = byteTick((high - low) / Math.max(2, (box.bottom - box.top) / least));
  const unit = scaleUnit(high, tick);
  const scale = Math.pow(1024, unit);
  const digits = Math.max(0, Math.ceil(Math.log2(scale / tick)));
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.beginPath();
  for (let byte = Math.ceil(low / tick) * tick; byte <= high; byte += tick) {
    const y = Math.round(yOf(byte)) + 0.5;
    if (y > box.bottom + 1 || y < box.top) continue;
    const number = (byte / scale).toFixed(digits).replace(/^\d+/, thousands);
    const text = number + "\u202f" + UNITS[unit];
    context.fillText(text, box.left - 7, clamp(y, 7, box.bottom - 4), box.left - 8);
    context.moveTo(box.left - 4, y);
    context.lineTo(box.left, y);
  }
  context.stroke();
}

// 1, 2, 5, 10 … steps, never a fraction of one.
function stepTick(least) {
  const base = Math.pow(10, Math.floor(Math.log10(Math.max(1, least))));
  return [1, 2, 5, 10].map((k) => k * base).find((tick) => tick >= least) || 10 * base;
}

// Ticks below a plot, and what they count; where a step is wide its number stands under its middle.
function drawStepAxis(context, box, view, theme, label) {
  const perStep = (box.right - box.left) / (view.x1 - view.x0);
  const tick = stepTick(56 / perStep);
  const shift = perStep > 14 ? perStep / 2 : 0;
  context.fillStyle = theme.soft;
  context.strokeStyle = theme.line;
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.beginPath();
  for (let step = Math.ceil(view.x0 / tick) * tick; step < view.x1; step += tick) {
    const x = box.left + (step - view.x0) * perStep + shift;
    if (x > box.right - 4) continue;
    context.fillText(thousands(step), Math.max(x, box.left + 4), box.bottom + 14);
    context.moveTo(Math.round(x) + 0.5, box.bottom);
    context.lineTo(Math.round(x) + 0.5, box.bottom + 3);
  }
  context.stroke();
  context.fillText(label, (box.left + box.right) / 2, box.bottom + 28, box.right - box.left);
  context.textAlign = "left";
}

// Pointers, the wheel and keys: what they do to the pictures, and the tip at the pointer.

const CLICK_SLACK = 4; // pixels a pointer may move between down and up of a click

// ---- the tip at the pointer

// The free bytes around a point: how many, between whom.
function holeAt(model, step, byte) {
  const { pieces } = model;
  let [low, high] = [0, topAt(model, step)];
  for (let p = 0; p < pieces.count; p++) {
    if (step < pieces.begin[p] || step >= pieces.end[p]) continue;
    const end = pieces.low[p] + occupied(model, p);
    if (end <= byte) low = Math.max(low, end);
    else if (pieces.low[p] > byte) high = Math.min(high, pieces.low[p]);
  }
  return high > low ? high - low : 0;
}

function innerAt(model, b, time, byte) {
  const { values, buffers } = model;
  let found = -1;
  for (let i = values.first[b]; i < values.first[b + 1]; i++) {
    const v = values.order[i];
    const low = buffers.offset[b] + values.low[v];
    if (
      values.begin[v] <= time &&
      time < values.end[v] &&
      low <= byte &&
      byte < low + values.size[v]
    )
      found = v;
  }
  return found;
}

// |time| is the step with its part, as rows are kept for a part only.
function tipLines(app, step, byte, time) {
  const { model } = app;
  const p = pieceAt(model, step, byte);
  const at = stepLabel(model, step);
  const where =
    "step " +
    thousands(step) +
    (at.op ? " " + shownName(at.op, 30) : "") +
    " · " +
    bytesText(loadAt(model, step)) +
    " in use";
  if (p < 0) {
    const hole = byte < topAt(model, step) ? holeAt(model, step, byte) : 0;
    return [hole ? bytesText(hole) + " free below the top" : "unused", where];
  }
  const b = model.pieces.of[p];
  const { buffers } = model;
  const reads = model.reads.get(buffers.id[b]);
  const v = innerAt(model, b, time, byte);
  return [
    bufferName(model, b, 90),
    [
      bytesText(buffers.size[b]),
      kindOf(model, b),
      shownName(opOf(model, b), 30),
      shownName(typeOf(model, b), 50),
    ]
      .filter(Boolean)
      .join(" · "),
    "offset " +
      thousands(buffers.offset[b]) +
      " · steps " +
      buffers.begin[b] +
      "–" +
      buffers.end[b] +
      (reads ? " · " + plural(reads.length, "reader") : ""),
    v >= 0
      ? "here: " +
        shownName(nameOf(model, model.values, v), 60) +
        " (" +
        HOW[model.values.how[v]] +
        ")"
      : null,
    changeOf(model, b) !== "same" && model.against ? "change: " + changeOf(model, b) : null,
    where,
  ].filter(Boolean);
}

function showTip(app, event, lines) {
  const tip = $("tip");
  tip.replaceChildren(
    ...lines.map((line, i) => make("div", { class: i ? "detail" : "name" }, line)),
  );
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left =
    event.clientX + 16 + width > window.innerWidth
      ? event.clientX - width - 12
      : event.clientX + 16;
  tip.style.left = clamp(left, 4, Math.max(4, window.innerWidth - width - 4)) + "px";
  tip.style.top = clamp(event.clientY + 16, 4, Math.max(4, window.innerHeight - height - 4)) + "px";
}

function hideTip(app) {
  $("tip").hidden = true;
  if (app.hover < 0) return;
  app.hover = -1;
  app.invalidate(false);
}

// ---- pointers and the wheel

const pointOf = (picture, event) => {
  const box = picture.canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
};

// Which axes a wheel turns: the one whose scale it is over, or both; shift: time, alt: bytes.
function wheelAxes(picture, point, event) {
  if (!picture.byteAt || event.shiftKey || point.y > picture.box().bottom) return [true, false];
  if (event.altKey || point.x < picture.box().left) return [false, true];
  return [true, true];
}

function attachWheel(app, picture) {
  picture.canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const scale = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
      const point = pointOf(picture, event);
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && !event.shiftKey)
        return app.pan((event.deltaX * scale) / picture.box().width, 0);
      const by = Math.exp(
        clamp((event.deltaY || event.deltaX) * scale, -400, 400) * (event.ctrlKey ? 0.01 : 0.002),
      );
      const [x, y] = wheelAxes(picture, point, event);
      const byte = picture.byteAt ? picture.byteAt(point.y) : app.view.y0;
      app.zoom(x ? by : 1, y ? by : 1, picture.stepAt(point.x), byte);
    },
    { passive: false },
  );
}

function attachPointers(app, picture, onClick, onHover) {
  const { canvas } = picture;
  const down = new Map();
  let moved = false;
  let start = null;
  const spread = () => {
    const [a, b] = [...down.values()];
    return Math.max(10, Math.hypot(a.x - b.x, a.y - b.y));
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    down.set(event.pointerId, pointOf(picture, event));
    start = pointOf(picture, event);
    moved = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const point = pointOf(picture, event);
    const before = down.get(event.pointerId);
    if (!before) return onHover(point, event);
    if (!moved && Math.hypot(point.x - start.x, point.y - start.y) < CLICK_SLACK) return;
    if (!moved) hideTip(app);
    moved = true;
    const distance = down.size === 2 ? spread() : 0;
    down.set(event.pointerId, point);
    const box = picture.box();
    if (down.size === 2) {
      const by = distance / spread();
      return app.zoom(
        by,
        picture.byteAt ? by : 1,
        picture.stepAt(point.x),
        picture.byteAt ? picture.byteAt(point.y) : app.view.y0,
      );
    }
    app.pan(
      (before.x - point.x) / (box.right - box.left),
      picture.byteAt ? (point.y - before.y) / (box.bottom - box.top) : 0,
    );
  });
  const up = (event) => {
    const known = down.delete(event.pointerId);
    if (known && !moved && event.type === "pointerup") onClick(pointOf(picture, event), event);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => hideTip(app));
}

function attachPictures(app) {
  const { model, arena, loadPicture } = app;
  const at = (point) => [Math.floor(arena.stepAt(point.x)), arena.byteAt(point.y)];
  const inside = (point, box) =>
    point.x >= box.left && point.x <= box.right && point.y <= box.bottom;
  attachWheel(app, arena);
  attachWheel(app, loadPicture);
  attachPointers(
    app,
    arena,
    (point) => {
      const [step, byte] = at(point);
      if (!inside(point, arena.box()) || step < model.first || step >= model.last) return;
      const p = pieceAt(model, step, byte);
      app.selectStep(step, { tab: p < 0 });
      app.select(p < 0 ? -1 : model.pieces.of[p]);
    },
    (point, event) => {
      const [step, byte] = at(point);
      if (!inside(point, arena.box()) || step < model.first || step >= model.last)
        return hideTip(app);
      const p = pieceAt(model, step, byte);
      const hover = p < 0 ? -1 : model.pieces.of[p];
      if (hover !== app.hover) {
        app.hover = hover;
        app.invalidate(false);
      }
      showTip(app, event, tipLines(app, step, byte, arena.stepAt(point.x)));
    },
  );
  arena.canvas.addEventListener("dblclick", (event) => {
    const [step, byte] = at(pointOf(arena, event));
    const p = pieceAt(model, step, byte);
    if (p < 0) app.fit();
    else app.reveal(model.pieces.of[p], true);
  });
  attachPointers(
    app,
    loadPicture,
    (point) => app.selectStep(loadPicture.stepAt(point.x), { tab: true }),
    (point, event) => {
      const step = clamp(Math.floor(loadPicture.stepAt(point.x)), model.first, model.last - 1);
      const live = stepLabel(model, step);
      showTip(app, event, [
        "step " + thousands(step) + (live.op ? " " + shownName(live.op, 30) : ""),
        bytesText(loadAt(model, step)) +
          " in use, " +
          percent(loadAt(model, step), model.peakLoad) +
          " of the peak",
      ]);
    },
  );
}

// ---- keys

const KEYS = [
  ["/", "find a tensor; Enter: next hit, shift Enter: the one before, Esc: done"],
  ["n  N", "next hit, the hit before"],
  ["p", "go to the peak"],
  ["f", "filter the table: text, op:conv, kind:param, type:f16, size>1M, live:23, without<8M"],
  ["+  −  0", "zoom in, out, fit; 0 again: from the first step on"],
  ["arrows", "in the map: pan; in the curve: the step before or after"],
  ["Home  End", "the first, the last step"],
  ["Page keys", "in the map: zoom; in the curve: 10 steps"],
  ["shift arrows", "in the map: the buffer above, below, before or after"],
  ["Enter", "zoom to the selected buffer"],
  ["Esc", "clear search and selection"],
  ["wheel", "zoom; shift: time only, alt: bytes only; over a scale: that one"],
  ["drag  pinch", "pan, zoom; double click: zoom to a buffer, or fit"],
];

function attachKeys(app) {
  const arenaKeys = {
    "+": () => app.zoomMiddle(0.7),
    "=": () => app.zoomMiddle(0.7),
    "-": () => app.zoomMiddle(1 / 0.7),
    PageUp: () => app.zoomMiddle(0.7),
    PageDown: () => app.zoomMiddle(1 / 0.7),
    0: () => app.fit(),
    Home: () => app.pan(-1e9, 0),
    End: () => app.pan(1e9, 0),
    ArrowLeft: () => app.pan(-0.1, 0),
    ArrowRight: () => app.pan(0.1, 0),
    ArrowUp: () => app.pan(0, 0.1),
    ArrowDown: () => app.pan(0, -0.1),
    Enter: () => (app.selected >= 0 ? app.reveal(app.selected, true) : app.moveSelection("above")),
  };
  const shifted = {
    ArrowUp: () => app.moveSelection("above"),
    ArrowDown: () => app.moveSelection("below"),
    ArrowLeft: () => app.moveSelection("before"),
    ArrowRight: () => app.moveSelection("after"),
  };
  const loadKeys = {
    ArrowLeft: () => app.moveStep(-1),
    ArrowDown: () => app.moveStep(-1),
    ArrowRight: () => app.moveStep(1),
    ArrowUp: () => app.moveStep(1),
    PageUp: () => app.moveStep(10),
    PageDown: () => app.moveStep(-10),
    Home: () => app.selectStep(app.model.first, { tab: true, reveal: true }),
    End: () => app.selectStep(app.model.last - 1, { tab: true, reveal: true }),
    "+": arenaKeys["+"],
    "=": arenaKeys["+"],
    "-": arenaKeys["-"],
    0: arenaKeys[0],
  };
  const pageKeys = {
    "/": () => $("search").focus(),
    f: () => $("filter").focus(),
    p: () => app.selectStep(app.model.peak, { tab: true, reveal: true }),
    n: () => app.nextHit(1),
    N: () => app.nextHit(-1),
    "?": () => showKeys(),
    Escape: () => clearAll(app),
  };
  const listen = (element, keysOf) =>
    element.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const action = keysOf(event)[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
  listen(app.arena.canvas, (event) =>
    event.shiftKey && event.key in shifted ? shifted : arenaKeys,
  );
  listen(app.loadPicture.canvas, () => loadKeys);
  listen(document, (event) =>
    /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || $("keys").open ? {} : pageKeys,
  );
}

function clearAll(app) {
  $("search").value = "";
  app.search("");
  app.select(-1, { keepTab: true });
}

function showKeys() {
  if (!$("keys-list").children.length)
    for (const [keys, what] of KEYS)
      $("keys-list").append(
        make("dt", {}, ...keys.split("  ").map((key) => make("kbd", {}, key))),
        make("dd", {}, what),
      );
  $("keys").showModal();
}

function attachControls(app) {
  const search = $("search");
  search.addEventListener("input", () => app.search(search.value));
  $("search-form").addEventListener("submit", (event) => event.preventDefault());
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") app.nextHit(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      clearAll(app);
      app.arena.canvas.focus();
    } else return;
    event.preventDefault();
  });
  $("zoom-in").addEventListener("click", () => app.zoomMiddle(0.6));
  $("zoom-out").addEventListener("click", () => app.zoomMiddle(1 / 0.6));
  $("zoom-fit").addEventListener("click", () => app.fit());
  $("zoom-peak").addEventListener("click", () =>
    app.selectStep(app.model.peak, { tab: true, reveal: true }),
  );
  $("help").addEventListener("click", showKeys);
}

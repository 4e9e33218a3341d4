// The panels beside the picture: a step with its live set, a tensor with its relations, and what
// changed. Each is built anew when its subject changes; long lists grow on request.

const FIRST_ROWS = 60;

const bufferLink = (app, b, limit) =>
  make(
    "button",
    {
      class: "link",
      type: "button",
      title: bufferName(app.model, b, 1000),
      click: () => app.select(b, { reveal: true }),
    },
    bufferName(app.model, b, limit || 48),
  );

function stepLink(app, step) {
  const at = stepLabel(app.model, step);
  const what = [at.op, at.label]
    .filter(Boolean)
    .map((text) => shownName(text, 60))
    .join(" ");
  return make(
    "button",
    {
      class: "link",
      type: "button",
      click: () => app.selectStep(step, { reveal: true, tab: true }),
    },
    "step\u202f" + thousands(step) + (what ? " " + what : ""),
  );
}

const term = (name, ...value) => [make("dt", {}, name), make("dd", {}, ...value)];

// A list of elements of which the first ones show, and a button for the rest.
function growing(parent, count, rowOf, label) {
  let shown = 0;
  const more = make("button", { type: "button", class: "more", click: () => grow(count) });
  function grow(to) {
    const fragment = document.createDocumentFragment();
    for (; shown < Math.min(to, count); shown++) fragment.append(rowOf(shown));
    parent.append(fragment);
    more.hidden = shown >= count;
    more.textContent = "Show all " + plural(count, label);
  }
  grow(FIRST_ROWS);
  return more;
}

function bar(part, whole) {
  const fill = make("span", { class: "bar-fill" });
  fill.style.width = clamp(whole > 0 ? (100 * part) / whole : 0, 0, 100).toFixed(1) + "%";
  return make("span", { class: "bar", "aria-hidden": "true" }, fill);
}

function liveRow(app, p) {
  const { model } = app;
  const b = model.pieces.of[p];
  const bytes = occupied(model, p);
  const peak = model.peakLoad;
  const without = model.without()[b];
  const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
  swatch.style.backgroundColor = app.colours.groups[app.colours.of[b]].colour;
  const detail = [
    opOf(model, b) || kindOf(model, b),
    typeOf(model, b),
    model.buffers.begin[b] + "–" + model.buffers.end[b],
  ]
    .filter(Boolean)
    .map((text) => shownName(text, 60))
    .join(" · ");
  const gain = peak - without;
  const chosen = b === app.selected ? " chosen" : "";
  const rows = document.createDocumentFragment();
  rows.append(
    make(
      "tr",
      { class: "over" + chosen },
      make(
        "th",
        { scope: "rowgroup", colSpan: 4 },
        swatch,
        bufferLink(app, b),
        make("span", { class: "detail" }, detail),
      ),
    ),
    make(
      "tr",
      { class: "under" + chosen },
      make("td", {}, bar(bytes, peak)),
      make("td", { class: "number", title: exactBytes(bytes) }, bytesText(bytes)),
      make("td", { class: "number" }, percent(bytes, peak)),
      make(
        "td",
        { class: "number", title: exactBytes(without) },
        bytesText(without),
        make("span", { class: "detail" }, gain > 0 ? "−" + bytesText(gain) : "no gain"),
      ),
    ),
  );
  return rows;
}

function showStep(app) {
  const { model } = app;
  const panel = $("panel-step");
  if (app.step < 0)
    return panel.replaceChildren(
      make(
        "p",
        { class: "hint" },
        "Click the curve, or press an arrow key in it, to see what lives at a step.",
      ),
    );
  const step = app.step;
  const at = stepLabel(model, step);
  const live = liveAt(model, step);
  const load = loadAt(model, step);
  const segment = model.segment(step);
  const heading = make(
    "h2",
    {},
    "Step " + thousands(step),
    at.op ? make("span", { class: "op" }, shownName(at.op, 40)) : null,
    step === model.peak ? make("span", { class: "badge peak" }, "peak") : null,
  );
  const go = (to, label, text) =>
    make(
      "button",
      {
        type: "button",
        "aria-label": label,
        disabled: to === undefined || to >= model.last || to === step,
        click: () => app.selectStep(to, { tab: true, reveal: true }),
      },
      text,
    );
  const facts = make(
    "dl",
    { class: "pairs" },
    at.label
      ? term("makes", make("span", { title: shownName(at.label, 1000) }, shownName(at.label, 90)))
      : null,
    term(
      "in use",
      bytesText(load) + " in " + plural(live.length, "buffer"),
      make(
        "span",
        { class: "detail" },
        exactBytes(load) + ", " + percent(load, model.peakLoad) + " of the peak",
      ),
    ),
    term(
      "free below the top",
      bytesText(topAt(model, step) - load),
      make("span", { class: "detail" }, "highest byte at " + bytesText(topAt(model, step))),
    ),
  );
  const body = make("tbody");
  const table = make(
    "table",
    { class: "live" },
    make("caption", { class: "unseen" }, "Buffers live at step " + step + ", largest first"),
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        make("th", { scope: "col" }, "live, largest first"),
        make("th", { scope: "col", class: "number" }, "bytes"),
        make(
          "th",
          { scope: "col", class: "number", title: "share of the highest load" },
          "of peak",
        ),
        make(
          "th",
          {
            scope: "col",
            class: "number",
            title: "the highest load if it were gone: the arena cannot be smaller then",
          },
          "peak without",
        ),
      ),
    ),
    body,
  );
  const more = growing(body, live.length, (i) => liveRow(app, live[i]), "buffer");
  panel.replaceChildren(
    make(
      "div",
      { class: "heading" },
      heading,
      make(
        "span",
        { class: "stepper", role: "group", "aria-label": "Go to a step" },
        go(model.times[segment - 1], "Previous step", "‹"),
        go(model.peak, "The peak", "peak"),
        go(model.times[segment + 1], "Next step", "›"),
      ),
    ),
    facts,
    table,
    more,
  );
  panel.scrollTop = 0;
}

// The values of a buffer in order of time: its own, and what is a view of it, over it or inside it.
function chainOf(app, b) {
  const { model } = app;
  const { buffers, values } = model;
  const chain = [];
  if (buffers.id[b] >= 0)
    chain.push({
      id: buffers.id[b],
      name: bufferName(model, b, 200),
      op: opOf(model, b),
      how: "root",
      made: buffers.made[b],
      low: 0,
      size: buffers.size[b],
    });
  for (let i = values.first[b]; i < values.first[b + 1]; i++) {
    const v = values.order[i];
    chain.push({
      id: values.id[v],
      name: shownName(nameOf(model, values, v), 200),
      op: stringAt(model, values.op[v]),
      how: HOW[values.how[v]] || "inside",
      rows: values.rows[v],
      type: stringAt(model, values.type[v]),
      made: Math.floor(values.begin[v]),
      part: [values.begin[v] % 1, values.end[v] - Math.floor(values.begin[v])],
      low: values.low[v],
      size: values.size[v],
    });
  }
  return chain.sort((x, y) => x.made - y.made || x.id - y.id);
}

function readersOf(app, id) {
  const steps = app.model.reads.get(id) || [];
  if (!steps.length) return make("span", { class: "detail" }, "read by nobody");
  const list = make("span", { class: "readers" }, "read at ");
  steps.slice(0, 12).forEach((step, i) => list.append(i ? ", " : "", stepLink(app, step)));
  if (steps.length > 12) list.append(" and " + thousands(steps.length - 12) + " more");
  return list;
}

// Of which tensor rows are, and when in the step they are kept.
function rowsOf(link) {
  const [begin, end] = link.part.map((part) => Math.round(100 * part) + " %");
  return "of " + shownName(link.type, 80) + ", from " + begin + " to " + end + " of the step";
}

function chainItem(app, link, b) {
  const made =
    app.model.facts && app.model.data.steps ? stepLink(app, link.made) : "step " + link.made;
  const where =
    link.how === "root"
      ? ""
      : (link.rows ? plural(link.rows, "row") : link.how) +
        (link.low || link.size !== app.model.buffers.size[b]
          ? ", bytes " + thousands(link.low) + "–" + thousands(link.low + link.size)
          : "");
  return make(
    "li",
    {},
    make("span", { class: "name" }, link.name),
    make(
      "span",
      { class: "badge how-" + link.how.replace(" ", "-") },
      link.how === "root" ? "own bytes" : where,
    ),
    make("div", { class: "detail" }, "made at ", made),
    make("div", { class: "detail" }, link.rows ? rowsOf(link) : readersOf(app, link.id)),
  );
}

function bufferBadges(app, b) {
  const flags = app.model.buffers.flags[b];
  const names = [kindOf(app.model, b)];
  if (flags & FLAG_FIXED) names.push("fixed offset");
  if (flags & FLAG_OUTPUT) names.push("output");
  if (flags & FLAG_STATE) names.push("state");
  if (app.model.pieces.first[b + 1] - app.model.pieces.first[b] > 1) names.push("windows");
  return names.map((name) => make("span", { class: "badge" }, name));
}

function changeTerms(app, b) {
  const entry = app.model.changes && app.model.changes.get(b);
  if (!entry) return [];
  const then = entry.then;
  return term(
    "change",
    make("span", { class: "badge change-" + entry.change }, entry.change),
    then
      ? make(
          "span",
          { class: "detail" },
          "was " +
            bytesText(then.size) +
            " at " +
            thousands(then.offset) +
            ", steps " +
            then.begin +
            "–" +
            then.end,
        )
      : null,
  );
}

function showTensor(app) {
  const { model } = app;
  const panel = $("panel-tensor");
  const b = app.selected;
  if (b < 0)
    return panel.replaceChildren(
      make("p", { class: "hint" }, "Click a buffer in the picture, or find one by name: /"),
    );
  const { buffers } = model;
  const peak = model.peakLoad;
  const without = model.without()[b];
  const end = buffers.offset[b] + buffers.size[b];
  const near = neighboursOf(model, b);
  const neighbour = (name) => (near[name] < 0 ? "none" : bufferLink(app, near[name]));
  const facts = make(
    "dl",
    { class: "pairs" },
    opOf(model, b) ? term("op", shownName(opOf(model, b), 80)) : null,
    typeOf(model, b) ? term("type", shownName(typeOf(model, b), 160)) : null,
    term(
      "bytes",
      bytesText(buffers.size[b]),
      make(
        "span",
        { class: "detail" },
        exactBytes(buffers.size[b]) +
          (buffers.guard[b] ? ", and a guard of " + exactBytes(buffers.guard[b]) : ""),
      ),
    ),
    term(
      "offset",
      thousands(buffers.offset[b]),
      make(
        "span",
        { class: "detail" },
        hexText(buffers.offset[b]) +
          " to " +
          hexText(end) +
          ", aligned to " +
          thousands(buffers.align[b]),
      ),
    ),
    term(
      "lives",
      "steps " + thousands(buffers.begin[b]) + "–" + thousands(buffers.end[b]),
      make(
        "span",
        { class: "detail" },
        plural(buffers.end[b] - buffers.begin[b], "step") + ", the last not included",
      ),
    ),
    term(
      "of the peak",
      liveBytes(model, b, model.peak)
        ? percent(liveBytes(model, b, model.peak), peak)
        : "not live there",
    ),
    term(
      "peak without it",
      bytesText(without),
      make(
        "span",
        { class: "detail" },
        without < peak ? "−" + exactBytes(peak - without) : "no gain: another step needs as much",
      ),
    ),
    changeTerms(app, b),
  );
  const parts = [
    make("h2", { class: "name" }, bufferName(model, b, 12000)),
    make("p", { class: "badges" }, bufferBadges(app, b)),
    facts,
  ];
  const chain = chainOf(app, b);
  if (chain.length) {
    const list = make("ol", { class: "chain" });
    parts.push(
      make("h3", {}, chain.length > 1 ? "Alias chain" : "Made and read"),
      list,
      growing(list, chain.length, (i) => chainItem(app, chain[i], b), "value"),
    );
  }
  parts.push(
    make("h3", {}, "Neighbours"),
    make(
      "dl",
      { class: "pairs" },
      term("above", neighbour("above")),
      term("below", neighbour("below")),
      term("here before", neighbour("before")),
      term("here after", neighbour("after")),
    ),
  );
  panel.replaceChildren(...parts);
  panel.scrollTop = 0;
}

function liveBytes(model, b, step) {
  for (let p = model.pieces.first[b]; p < model.pieces.first[b + 1]; p++)
    if (model.pieces.begin[p] <= step && step < model.pieces.end[p]) return occupied(model, p);
  return 0;
}

const CHANGES = ["grew", "new", "shrank", "gone", "moved", "retimed"];

function totalsTable(model) {
  const rows = [
    ["arena", "arena"],
    ["bound", "lower bound"],
    ["peak_bytes", "peak load"],
    ["unshared", "without sharing"],
    ["steps", "steps"],
  ];
  const then = model.against.facts || {};
  const body = make("tbody");
  for (const [key, label] of rows) {
    const [was, is] = [then[key], model.facts[key]];
    if (typeof was !== "number" || typeof is !== "number") continue;
    const text = key === "steps" ? thousands : bytesText;
    const difference = is - was;
    body.append(
      make(
        "tr",
        {},
        make("th", { scope: "row" }, label),
        make("td", { class: "number", title: thousands(was) }, text(was)),
        make("td", { class: "number", title: thousands(is) }, text(is)),
        make(
          "td",
          { class: "number " + (difference > 0 ? "worse" : difference < 0 ? "better" : "") },
          difference === 0
            ? "same"
            : (difference > 0 ? "+" : "") + text(difference).replace("-", "−"),
        ),
      ),
    );
  }
  return make(
    "table",
    { class: "totals" },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        ...["", "then", "now", "difference"].map((t) =>
          make("th", { scope: "col", class: t ? "number" : "" }, t),
        ),
      ),
    ),
    body,
  );
}

const growth = (model, entry) =>
  (entry.now >= 0 ? model.buffers.size[entry.now] : 0) - (entry.then ? entry.then.size : 0);

function changeName(app, entry) {
  if (entry.now >= 0) return bufferName(app.model, entry.now, 80);
  return shownName(stringAt(app.model, entry.name), 80) || "(no name)";
}

const lifetimes = ({ buffers }, { now, then }) =>
  `steps ${then.begin}–${then.end} → ${buffers.begin[now]}–${buffers.end[now]}`;

function changeRow(app, entry) {
  const { model } = app;
  const difference = growth(model, entry);
  const was = entry.then ? entry.then.offset : null;
  const is = entry.now >= 0 ? model.buffers.offset[entry.now] : null;
  const place =
    was === null
      ? "now at " + thousands(is)
      : is === null
        ? "was at " + thousands(was)
        : was === is
          ? "at " + thousands(is)
          : thousands(was) + " → " + thousands(is);
  return make(
    "tr",
    { class: "change" },
    make(
      "th",
      { scope: "row" },
      make("span", { class: "badge change-" + entry.change }, entry.change),
      make(
        "button",
        { type: "button", class: "link", click: () => app.selectChange(entry) },
        changeName(app, entry),
      ),
      make(
        "span",
        { class: "detail" },
        entry.change === "retimed" ? lifetimes(model, entry) : "offset " + place,
      ),
    ),
    make(
      "td",
      { class: "number" },
      entry.now >= 0 ? bytesText(model.buffers.size[entry.now]) : "–",
    ),
    make(
      "td",
      { class: "number " + (difference > 0 ? "worse" : difference < 0 ? "better" : "") },
      difference === 0 ? "±0" : signedBytes(difference),
    ),
  );
}

function showChanges(app) {
  const { model } = app;
  const panel = $("panel-changes");
  const all = model.against.changes.filter((entry) => entry.change !== "same");
  const counts = Object.fromEntries(
    CHANGES.map((change) => [change, all.filter((e) => e.change === change).length]),
  );
  const chosen = app.changeFilter;
  const list = all
    .filter((entry) => !chosen || entry.change === chosen)
    .sort(
      (a, b) =>
        Math.abs(growth(model, b)) - Math.abs(growth(model, a)) ||
        CHANGES.indexOf(a.change) - CHANGES.indexOf(b.change),
    );
  const filters = CHANGES.filter((change) => counts[change]).map((change) =>
    make(
      "button",
      {
        type: "button",
        class: "badge change-" + change,
        "aria-pressed": String(chosen === change),
        click: () => {
          app.changeFilter = chosen === change ? null : change;
          showChanges(app);
        },
      },
      thousands(counts[change]) + " " + change,
    ),
  );
  const body = make("tbody");
  const table = make(
    "table",
    { class: "live" },
    make("caption", { class: "unseen" }, "Buffers that changed, the largest difference first"),
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        make("th", { scope: "col" }, "buffer"),
        make("th", { scope: "col", class: "number" }, "bytes"),
        make("th", { scope: "col", class: "number" }, "difference"),
      ),
    ),
    body,
  );
  const more = growing(body, list.length, (i) => changeRow(app, list[i]), "change");
  panel.replaceChildren(
    make(
      "h2",
      {},
      "Against ",
      make("span", { class: "op" }, shownName(model.against.title || "the other plan", 80)),
    ),
    totalsTable(model),
    make("p", { class: "badges" }, filters.length ? filters : "Nothing changed."),
    list.length ? table : "",
    more,
  );
}

// The table of all buffers: sorted, filtered, and drawn only where it is looked at, so that 50,000
// rows cost as much as 30. Rows are real elements with roles, numbered as in the whole table.

const ROW_HEIGHT = 24;

const COLUMNS = [
  {
    key: "name",
    label: "Name",
    width: "minmax(260px, 2.4fr)",
    text: (m, b) => nameOf(m, m.buffers, b),
    shown: (m, b, room) => bufferName(m, b, room),
  },
  {
    key: "id",
    label: "Id",
    width: "66px",
    only: (m) => m.buffers.id.some((id) => id >= 0),
    number: (m, b) => m.buffers.id[b],
    shown: (m, b) => (m.buffers.id[b] < 0 ? "–" : "%" + m.buffers.id[b]),
  },
  { key: "kind", label: "Kind", width: "84px", text: kindOf },
  {
    key: "op",
    label: "Op",
    width: "minmax(76px, .8fr)",
    text: opOf,
    only: (m) => m.buffers.op.some((op) => op >= 0),
  },
  {
    key: "type",
    label: "Type",
    width: "minmax(160px, 1.6fr)",
    text: typeOf,
    only: (m) => m.buffers.type.some((type) => type >= 0),
  },
  { key: "size", label: "Bytes", width: "104px", number: (m, b) => m.buffers.size[b] },
  { key: "offset", label: "Offset", width: "104px", number: (m, b) => m.buffers.offset[b] },
  {
    key: "guard",
    label: "Guard",
    width: "64px",
    number: (m, b) => m.buffers.guard[b],
    only: (m) => m.buffers.guard.some((g) => g > 0),
  },
  { key: "begin", label: "Begin", width: "62px", number: (m, b) => m.buffers.begin[b] },
  { key: "end", label: "End", width: "62px", number: (m, b) => m.buffers.end[b] },
  {
    key: "life",
    label: "Life",
    width: "62px",
    number: (m, b) => m.buffers.end[b] - m.buffers.begin[b],
  },
  {
    key: "peak",
    label: "At peak",
    width: "72px",
    number: (m, b) => liveBytes(m, b, m.peak),
    shown: (m, b) => {
      const n = liveBytes(m, b, m.peak);
      return n ? percent(n, m.peakLoad) : "–";
    },
    title: "share of the highest load",
  },
  {
    key: "without",
    label: "Peak without",
    width: "112px",
    number: (m, b) => m.without()[b],
    title: "the highest load if the buffer were gone",
  },
  {
    key: "change",
    label: "Change",
    width: "72px",
    text: changeOf,
    only: (m) => m.against !== null,
  },
];

function makeTable(app) {
  const { model } = app;
  const box = $("table");
  const head = $("table-head");
  const body = $("table-body");
  const columns = COLUMNS.filter((column) => !column.only || column.only(model));
  const template = columns.map((column) => column.width).join(" ");
  const state = { rows: [], sort: "size", down: true, at: -1, whole: false, room: 40 };
  const pool = new Map();

  function headCell(column) {
    const button = make("button", { type: "button", click: () => sortBy(column) }, column.label);
    const cell = make(
      "div",
      {
        role: "columnheader",
        class: "cell" + (column.number ? " number" : ""),
        title: column.title,
      },
      button,
    );
    column.cell = cell;
    return cell;
  }

  function sortBy(column) {
    state.down =
      state.sort === column.key
        ? !state.down
        : Boolean(column.number) &&
          column.key !== "id" &&
          column.key !== "begin" &&
          column.key !== "offset";
    state.sort = column.key;
    refresh();
  }

  function compare() {
    const column = columns.find((c) => c.key === state.sort) || columns[0];
    const sign = state.down ? -1 : 1;
    if (column.number) {
      const keys = new Float64Array(model.buffers.count);
      for (const b of state.rows) keys[b] = column.number(model, b);
      return (a, b) => sign * (keys[a] - keys[b]) || a - b;
    }
    const keys = new Map(state.rows.map((b) => [b, column.text(model, b)]));
    return (a, b) => {
      const [x, y] = [keys.get(a), keys.get(b)];
      return sign * (x < y ? -1 : x > y ? 1 : 0) || a - b;
    };
  }

  // Applies filter, legend and order; called when any of them changes.
  function refresh(keepsPlace) {
    const test = filterTest(model, app.texts(), $("filter").value);
    const rows = [];
    for (let b = 0; b < model.buffers.count; b++) if (app.singledOut(b) && test(b)) rows.push(b);
    state.rows = rows;
    rows.sort(compare());
    for (const column of columns)
      column.cell.setAttribute(
        "aria-sort",
        column.key !== state.sort ? "none" : state.down ? "descending" : "ascending",
      );
    box.setAttribute("aria-rowcount", rows.length + 1);
    let bytes = 0;
    for (const b of rows) bytes += model.buffers.size[b];
    $("table-count").textContent =
      (rows.length === model.buffers.count
        ? thousands(rows.length)
        : thousands(rows.length) + " of " + thousands(model.buffers.count)) +
      " · " +
      bytesText(bytes);
    state.at = rows.indexOf(app.selected);
    body.style.height = Math.max(1, rows.length) * ROW_HEIGHT + "px";
    for (const row of pool.values()) row.remove();
    pool.clear();
    if (!keepsPlace) box.scrollTop = 0;
    render();
  }

  function rowFor(index) {
    const b = state.rows[index];
    const row = make("div", {
      class: "row" + (b === app.selected ? " chosen" : ""),
      role: "row",
      id: "row-" + b,
    });
    row.setAttribute("aria-rowindex", index + 2);
    row.setAttribute("aria-selected", String(b === app.selected));
    row.dataset.buffer = b;
    row.style.gridTemplateColumns = template;
    row.style.top = index * ROW_HEIGHT + "px";
    for (const column of columns) {
      const text = column.shown
        ? column.shown(model, b, state.room)
        : column.number
          ? thousands(column.number(model, b))
          : shownName(column.text(model, b), 80);
      const cell = make(
        "div",
        { role: "gridcell", class: "cell" + (column.number ? " number" : "") },
        text,
      );
      if (column.key === "name") {
        const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
        swatch.style.backgroundColor = app.colours.groups[app.colours.of[b]].colour;
        cell.prepend(swatch);
        cell.title = bufferName(model, b, 400);
      }
      row.append(cell);
    }
    return row;
  }

  // Makes the rows in sight, drops the others.
  function render() {
    const first = state.whole ? 0 : Math.max(0, Math.floor(box.scrollTop / ROW_HEIGHT) - 4);
    const last = state.whole
      ? Math.min(state.rows.length, 60)
      : Math.min(state.rows.length, first + Math.ceil(box.clientHeight / ROW_HEIGHT) + 10);
    for (const [index, row] of pool)
      if (index < first || index >= last) {
        row.remove();
        pool.delete(index);
      }
    for (let index = first; index < last; index++) {
      if (pool.has(index)) continue;
      const row = rowFor(index);
      pool.set(index, row);
      body.append(row);
    }
    const at = state.rows[state.at];
    if (at !== undefined && pool.has(state.at))
      box.setAttribute("aria-activedescendant", "row-" + at);
    else box.removeAttribute("aria-activedescendant");
  }

  function redraw() {
    for (const row of pool.values()) row.remove();
    pool.clear();
    render();
  }

  // Marks the selected buffer and brings it into sight where the table has it.
  function selected(scroll) {
    state.at = state.rows.indexOf(app.selected);
    if (scroll && state.at >= 0) {
      const top = state.at * ROW_HEIGHT;
      const room = box.clientHeight - head.offsetHeight;
      if (top < box.scrollTop) box.scrollTop = top;
      else if (top + ROW_HEIGHT > box.scrollTop + room) box.scrollTop = top + ROW_HEIGHT - room;
    }
    redraw();
  }

  function move(to) {
    if (!state.rows.length) return;
    app.select(state.rows[clamp(to, 0, state.rows.length - 1)], { fromTable: true });
    selected(true);
  }

  function onKey(event) {
    if (event.target !== box) return;
    const page = Math.max(1, Math.floor(box.clientHeight / ROW_HEIGHT) - 2);
    const moves = {
      ArrowDown: state.at + 1,
      ArrowUp: state.at - 1,
      PageDown: state.at + page,
      PageUp: state.at - page,
      Home: 0,
      End: state.rows.length - 1,
    };
    if (event.key in moves) move(moves[event.key]);
    else if (event.key === "Enter" && app.selected >= 0)
      app.select(app.selected, { reveal: true, zoom: true });
    else return;
    event.preventDefault();
  }

  function csvText() {
    const lines = [columns.map((column) => column.key).join(",")];
    for (const b of state.rows)
      lines.push(
        columns
          .map((column) =>
            csvField(column.number ? column.number(model, b) : column.text(model, b)),
          )
          .join(","),
      );
    return lines.join("\r\n") + "\r\n";
  }

  function download() {
    const url = URL.createObjectURL(new Blob([csvText()], { type: "text/csv" }));
    const name =
      (model.data.title || "plan").replace(/[^\w.-]+/g, "_").slice(0, 60) + "-buffers.csv";
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    app.say("Exported " + plural(state.rows.length, "row"));
  }

  // Where the columns need more than there is, rows are as wide as their least widths.
  const least = columns.reduce((sum, column) => sum + Number(/\d+/.exec(column.width)[0]), 0);
  box.style.setProperty("--columns", least + "px");
  head.style.gridTemplateColumns = template;
  head.append(...columns.map(headCell));
  body.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    app.select(Number(row.dataset.buffer), { reveal: true, fromTable: true });
    selected(false);
  });
  body.addEventListener("dblclick", (event) => {
    const row = event.target.closest(".row");
    if (row) app.select(Number(row.dataset.buffer), { reveal: true, zoom: true, fromTable: true });
  });
  box.addEventListener("scroll", () => requestAnimationFrame(render), { passive: true });
  box.addEventListener("keydown", onKey);
  $("filter").addEventListener("input", () => refresh());
  $("csv").addEventListener("click", download);
  new ResizeObserver(() => {
    // Characters of a name that fit.
    state.room = Math.max(12, Math.floor((columns[0].cell.clientWidth - 36) / 7.7));
    redraw();
  }).observe(box);
  const whole = (on) => {
    state.whole = on;
    redraw();
  };
  return { refresh, redraw, selected, whole, csvText, rows: () => state.rows };
}

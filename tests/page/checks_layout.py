"""Checks of the page's layout: what is where in windows of any size, and what the scales say."""

import pathlib

from bench import TEXT, TRANSFORMER, check, holds, same
from samples import everything, large_csv

SIZES = ((400, 800), (900, 700), (1280, 800), (1600, 1000), (2560, 1440))

# ---- places

# What covers what, is cut, or lies beyond the window's sides.
FAULTS = """
  const faults = [];
  const boxOf = (s) => document.querySelector(s).getBoundingClientRect();
  const parts = ['header.top', '.facts', '.picture .tools', '.arena-box', '.load-box', '.side',
                 '.table-section .tools', '#table'].map((s) => [s, boxOf(s)]);
  const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 ||
                          a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
  parts.forEach(([s, a], i) => parts.slice(i + 1).forEach(([t, b]) => {
    if (!apart(a, b)) faults.push(s + ' and ' + t + ' overlap');
  }));
  const controls = ['#search', '#theme', '#help', '#colour', '#zoom-in', '#zoom-peak', '#tab-step',
                    '#arena', '#load', '#filter', '#csv', '#table', '#depth-more'];
  for (const s of controls) {
    const element = document.querySelector(s);
    element.scrollIntoView({block: 'center'});
    const {left, right, top, bottom} = boxOf(s);
    const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    if (!element.contains(there)) faults.push(s + ' is covered');
    if (left < 0 || right > innerWidth) faults.push(s + ' is beyond the window');
  }
  for (const element of document.querySelectorAll('.tools button, .tools label, .tabs button, .fact dd'))
    if (element.clientHeight && element.scrollWidth > element.clientWidth + 1)
      faults.push(element.textContent + ' is cut');
  if (document.documentElement.scrollWidth > innerWidth) faults.push('the page scrolls sideways');
  scrollTo(0, 0);
  return faults;
"""


def at_sizes(bench, ask):
    """Calls |ask| in windows of all sizes; leaves the window as it was."""
    try:
        for width, height in SIZES:
            bench.browser.resize(width, height)
            bench.browser.settle()
            ask(width, height)
    finally:
        bench.browser.resize(1280, 800)


@check
def nothing_overlaps_or_is_cut_at_any_size(bench):
    pages = (lambda: bench.plan(TRANSFORMER), lambda: bench.sample(everything()))

    def ask(width, height):
        for load in pages:
            for colouring in ("op", "module"):
                browser = load()
                browser.run("stowage.setColouring(arguments[0]);", colouring)
                browser.run("document.getElementById('depth').hidden = false;")
                same(browser.run(FAULTS), [], "%d x %d by %s" % (width, height, colouring))

    at_sizes(bench, ask)


# Texts of the curve that begin left of it. A canvas cuts them, and tells nobody.
CUT_LABELS = """
  const cut = [], proto = CanvasRenderingContext2D.prototype, fillText = proto.fillText;
  proto.fillText = function (text, x, y) {
    if (this.canvas.id === 'load' && this.textAlign !== 'right' && this.textAlign !== 'center' && x < 0)
      cut.push(text + ' at ' + x);
    return fillText.call(this, text, x, y);
  };
  stowage.whole = true;
  stowage.draw();
  proto.fillText = fillText;
  return cut;
"""
SIDEWAYS = """
  return [...document.querySelectorAll('.panel')].filter((p) => p.scrollWidth > p.clientWidth + 1)
    .map((p) => p.id);
"""


@check
def labels_and_panels_fit_at_any_size(bench):
    data = everything()
    arena = 16 * 1048576
    data["facts"].update(arena=arena, bound=arena - 1, any_bound=arena - 2, capacity=arena - 3)
    data["strings"][data["buffers"]["name"][1]] = "encoder.layer.0/attention/self/MatMul_output_0" * 2
    browser = bench.sample(data)

    def ask(width, height):
        same(browser.run(CUT_LABELS), [], "labels at %d x %d" % (width, height))
        browser.run("stowage.selectStep(5);" if browser.run("return !!stowage.selectStep;") else "")
        same(browser.run(SIDEWAYS), [], "scroll sideways at %d x %d" % (width, height))

    at_sizes(bench, ask)


MAP_TEXTS = """
  const texts = [], proto = CanvasRenderingContext2D.prototype, fillText = proto.fillText;
  proto.fillText = function (text, ...rest) {
    if (this.canvas.id === 'arena') texts.push(text);
    return fillText.call(this, text, ...rest);
  };
  stowage.whole = true;
  stowage.draw();
  proto.fillText = fillText;
  return texts;
"""


@check
def names_in_the_map_are_cut_where_they_differ(bench):
    count = 16
    kinds = ("query", "key", "value", "output")
    lines = ["id,lower,upper,size"]
    for i in range(count):
        name = "/bert/encoder/layer.%d/attention/self/%s/MatMul_output_0" % (i // 4, kinds[i % 4])
        lines.append("%s,%d,%d,1048576" % (name, i, i + 1))
    path = bench.path("names.csv")
    pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    browser = bench.plan(path)
    bench.browser.resize(1600, 1000)
    browser.settle()
    cut = [text for text in browser.run(MAP_TEXTS) if "…" in text]
    same(len(set(cut)), len(cut), "cut names that are the same: %r" % cut)
    holds(len(cut) >= count // 2, "names in the map: %r" % cut)
    holds(not any("bert" in text for text in cut), "what all begin with: %r" % cut)
    bench.browser.resize(1280, 800)


@check
def the_table_has_the_room_that_is_there(bench):
    path = bench.path("rows.csv")
    pathlib.Path(path).write_text(large_csv(100), encoding="utf-8")
    browser = bench.plan(path, "--strategy", "first-fit")
    least = {(900, 700): 7, (1280, 800): 7, (1600, 1000): 15, (2560, 1440): 24}

    def ask(width, height):
        seen = browser.run("""
          const {bottom} = document.getElementById('table').getBoundingClientRect();
          return [...document.querySelectorAll('#table-body .row')].filter(
            (row) => row.getBoundingClientRect().bottom <= Math.min(bottom, innerHeight)).length;""")
        bench.notes.append("%d x %d: %d rows" % (width, height, seen))
        holds(seen >= least.get((width, height), 0), "%d x %d: %d rows" % (width, height, seen))
        room = browser.run("return document.querySelector('.arena-box').clientHeight;")
        holds(room >= 170, "%d x %d: a map of %d px" % (width, height, room))

    at_sizes(bench, ask)


@check
def it_fits_a_narrow_window(bench):
    browser = bench.browser
    try:
        for width in (400, 360, 768):
            browser.resize(width, 800, 2)
            bench.sample(everything())
            for data in (None, TRANSFORMER):
                if data:
                    bench.plan(data)
                wide = browser.run("return [document.documentElement.scrollWidth, innerWidth];")
                holds(wide[0] <= wide[1], "%d px: the page is %d wide" % (width, wide[0]))
                boxes = browser.run(
                    "return ['.facts', '.picture', '.side', '#table-section'].map((s) => {"
                    "const r = document.querySelector(s).getBoundingClientRect(); return [r.top, r.bottom, r.height]; });"
                )
                holds(all(box[2] > 60 for box in boxes), "all show: %r" % boxes)
                holds(
                    all(a[1] <= b[0] + 1 for a, b in zip(boxes, boxes[1:])),
                    "they stack: %r" % boxes,
                )
        ratio = browser.run("const c = stowage.arena.canvas; return c.width / c.clientWidth;")
        same(round(ratio, 1), 2.0, "pixels of the device")
        browser.resize(1280, 800, 1)
        browser.settle()
        same(
            browser.run("const c = stowage.arena.canvas; return c.width === c.clientWidth;"),
            True,
            "follows a resize",
        )
    finally:
        browser.resize(1280, 800)


@check
def colouring_does_not_move_the_layout(bench):
    browser = bench.plan(TRANSFORMER)
    tops = set()
    for colouring in ("kind", "op", "size", "module"):
        browser.run("stowage.setColouring(arguments[0]);", colouring)
        tops.add(browser.run("return stowage.arena.canvas.getBoundingClientRect().top;"))
    same(len(tops), 1, "tops of the map: %r" % tops)


# ---- scales

# All text that a drawing of both pictures writes left of, and below, the plots: by canvas.
SCALES = """
  const out = {arena: [], load: [], below: []};
  const prototype = CanvasRenderingContext2D.prototype, write = prototype.fillText;
  prototype.fillText = function (text, x, y) {
    const box = (this.canvas.id === 'arena' ? stowage.arena : stowage.loadPicture).box();
    if (x < box.left && y <= box.bottom) out[this.canvas.id].push(text);
    if (y > box.bottom) out.below.push(text);
    return write.apply(this, arguments);
  };
  stowage.draw();
  prototype.fillText = write;
  return out;
"""


@check
def a_scale_has_one_unit(bench):
    path = bench.path("scale.csv")
    pathlib.Path(path).write_text(
        "id,lower,upper,size\na,0,9,1048576\nb,2,6,700000\n", encoding="utf-8"
    )
    browser = bench.plan(path)
    scales = browser.run(SCALES)
    same(scales["arena"][0], "0.0\u202fMiB")
    holds("1.5\u202fMiB" in scales["arena"], scales["arena"])
    for zoom in (1, 0.3, 0.1, 0.03, 0.01, 0.001):
        browser.run(
            "const full = stowage.full; stowage.view = {...full};"
            "stowage.zoom(1, arguments[0], 0, full.y1 * 0.9);",
            zoom,
        )
        scales = browser.run(SCALES)
        for name in ("arena", "load"):
            texts = scales[name]
            holds(len(texts) >= 2, "%s at %g: %r" % (name, zoom, texts))
            same(len({text.split("\u202f")[-1] for text in texts}), 1, "%r: units" % texts)
            same(len(set(texts)), len(texts), "%r: numbers differ" % texts)
            decimals = {len(text.split("\u202f")[-2].partition(".")[2]) for text in texts}
            holds(max(decimals) <= 2 and len(decimals) == 1, "%r: decimals" % texts)


@check
def the_axis_of_time_says_what_a_step_is(bench):
    browser = bench.plan(TRANSFORMER)
    below = browser.run(SCALES)["below"]
    holds("step: each runs one node of the graph" in below, below)
    at = browser.run(
        "const {loadPicture: l} = stowage, box = l.canvas.getBoundingClientRect();"
        "return [box.left + l.xOf(23.5), box.top + 40];"
    )
    browser.pointer(("move", *at))
    holds(browser.run(TEXT, "#tip").startswith("step 23 matmul"), browser.run(TEXT, "#tip"))
    browser = bench.plan("examples/buffers.csv")
    below = browser.run(SCALES)["below"]
    holds("step: one unit of the CSV's time" in below, below)

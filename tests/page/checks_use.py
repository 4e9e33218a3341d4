"""Checks of the page: finding, the table, comparing, use by everyone, hostile names, size."""

import base64
import csv
import io
import os
import pathlib
import time

from bench import MIDDLE, NAMES, PIXEL, TEXT, TRANSFORMER, check, holds, rows, same
from samples import HOSTILE, everything, hostile, large_csv

LARGE = 50000

# ---- finding, colouring


@check
def it_finds_a_tensor_by_name_op_and_id(bench):
    browser = bench.plan(TRANSFORMER)
    browser.type("#search", "w_up\ue007")
    browser.settle()
    same(
        browser.run("return nameOf(stowage.model, stowage.model.buffers, stowage.selected);"),
        "w_up",
    )
    holds(browser.run(TEXT, "#search-count").startswith("1/"), browser.run(TEXT, "#search-count"))
    found = "return findBuffers(stowage.model, stowage.texts(), arguments[0]).length;"
    same(browser.run(found, "_GATE"), 1, "part of a name, in any case")
    browser.run("document.getElementById('search').value = '';")
    browser.type("#search", "matmul")
    hits = browser.run("return stowage.hits.length;")
    holds(hits > 2, "matmuls")
    browser.keys("Enter")
    first = browser.run("return stowage.selected;")
    browser.keys("Enter")
    holds(browser.run("return stowage.selected;") != first, "Enter goes on")
    browser.keys("Enter", shift=True)
    same(browser.run("return stowage.selected;"), first, "shift Enter goes back")
    browser.keys("Escape")
    same(browser.run("return [stowage.hits.length, stowage.selected];"), [0, -1], "Escape clears")
    same(
        browser.run(
            "return findBuffers(stowage.model, stowage.texts(), '%22').map((b) => stowage.model.buffers.id[b]);"
        ),
        [22],
    )
    same(browser.run("return findBuffers(stowage.model, stowage.texts(), 'no such').length;"), 0)


@check
def colours_go_by_kind_op_size_and_module(bench):
    browser = bench.plan(TRANSFORMER)
    for colouring in ("kind", "op", "size", "module"):
        browser.run(
            "const s = document.getElementById('colour'); s.value = arguments[0]; s.dispatchEvent(new Event('change'));",
            colouring,
        )
        browser.settle()
        labels = browser.run(
            "return [...document.querySelectorAll('#legend button')].map((b) => b.textContent);"
        )
        holds(len(labels) >= 2, "%s: %r" % (colouring, labels))
    browser.run(
        "const s = document.getElementById('colour'); s.value = 'kind'; s.dispatchEvent(new Event('change'));"
    )
    browser.click("#legend button")
    faint = browser.run(
        "return [stowage.faint.reduce((a, b) => a + b, 0), stowage.model.buffers.count, stowage.table.rows().length];"
    )
    same(faint[0] + faint[2], faint[1], "what is not singled out fades and leaves the table")
    holds(0 < faint[0] < faint[1], "some fade")
    browser.click("#legend button")
    same(browser.run("return stowage.faint.some((f) => f);"), False)


# ---- the table


@check
def the_table_sorts_and_filters(bench):
    browser = bench.plan(TRANSFORMER)
    sizes = "return stowage.table.rows().map((b) => stowage.model.buffers.size[b]);"
    found = browser.run(sizes)
    same(found, sorted(found, reverse=True), "largest first")
    head = "[...document.querySelectorAll('#table-head button')].find((b) => b.textContent === arguments[0])"
    browser.run(head + ".click();", "Bytes")
    same(browser.run(sizes), sorted(found), "smallest first")
    same(browser.run("return " + head + ".parentElement.ariaSort;", "Bytes"), "ascending")
    browser.run(head + ".click();", "Name")
    same(rows(browser), sorted(rows(browser)), "by name")
    same(browser.run(NAMES)[:3], rows(browser)[:3], "rows as drawn")
    everything_there = len(rows(browser))
    for text, test in (
        ("kind:param", lambda n: n.startswith("w") or "norm" in n),
        ("w_", lambda n: "w_" in n),
    ):
        browser.run("document.getElementById('filter').value = '';")
        browser.type("#filter", text)
        names = rows(browser)
        holds(
            names and len(names) < everything_there and all(map(test, names)),
            "%s: %r" % (text, names),
        )
    browser.run(
        "const f = document.getElementById('filter'); f.value = 'size>1M live:0'; f.dispatchEvent(new Event('input'));"
    )
    same(sorted(rows(browser)), ["w_down", "w_gate", "w_up"], "terms")


@check
def csv_export_holds_the_rows(bench):
    data = hostile()
    browser = bench.sample(data)
    browser.click("#csv")
    for _ in range(100):
        files = [name for name in os.listdir(browser.downloads) if name.endswith(".csv")]
        if files:
            break
        time.sleep(0.1)
    holds(files, "nothing was written")
    path = os.path.join(browser.downloads, files[0])
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    os.remove(path)
    same(bench.errors(), [])
    table = list(csv.DictReader(io.StringIO(text, newline="")))
    same({row["name"] for row in table}, {name for name in HOSTILE}, "names survive")
    same(sum(int(row["size"]) for row in table), 64 * len(HOSTILE), "bytes")


# ---- comparison


@check
def a_comparison_marks_what_changed(bench):
    browser = bench.sample(everything())
    same(bench.errors(), [])
    same(
        browser.run(
            "return [stowage.colouring, document.getElementById('tab-changes').ariaSelected];"
        ),
        ["change", "true"],
    )
    text = browser.run(TEXT, "#panel-changes")
    for wanted in (
        "yesterday",
        "1 grew",
        "1 moved",
        "1 new",
        "1 gone",
        "net.c/old",
        "net.a/conv",
        "+512",
    ):
        holds(wanted in text, "%r in %r" % (wanted, text))
    browser.run("stowage.select(-1, {keepTab: true}); stowage.step = -1; stowage.invalidate(true);")
    browser.settle()
    at = browser.run(MIDDLE, "net.a/conv")
    same(browser.run(PIXEL, at["x"], at["y"] - 4)[:3], [0xE4, 0x57, 0x2E], "colour of what grew")
    browser.run(
        "[...document.querySelectorAll('#panel-changes .link')].find((b) => b.textContent === 'net.a/conv').click();"
    )
    same(browser.run("return stowage.selected;"), 1, "selected from the list")


@check
def the_command_compares_two_graphs(bench):
    other = bench.path("other.stow")
    text = pathlib.Path(bench.source, TRANSFORMER).read_text(encoding="utf-8")
    pathlib.Path(other).write_text(text.replace("1408", "1536"), encoding="utf-8")
    browser = bench.plan(other, "--against", TRANSFORMER)
    same(bench.errors(), [])
    changes = browser.run(
        "return Object.fromEntries(stowage.model.against.changes.map((c) => [stringAt(stowage.model, c.name), c.change]));"
    )
    same([changes.get(name) for name in ("w_up", "w_gate", "w_down")], ["grew"] * 3, "weights grew")


@check
def a_lifetime_that_changed_is_listed(bench):
    early = bench.path("early.stow")
    late = bench.path("late.stow")
    text = (
        'graph @g {\n  %0 = input "x" : f32[64]\n  %1 "kept" = exp(%0) : f32[64]\n'
        '  %2 "used" = abs(%1) : f32[64]\n  %3 = tanh(%0) : f32[64]\n'
        '  %4 "y" = add(%3, %2) : f32[64]\n  return %4\n}\n'
    )
    pathlib.Path(early).write_text(text, encoding="utf-8")
    text = text.replace("abs(%1)", "abs(%0)").replace("add(%3, %2)", "add(%2, %1)")
    pathlib.Path(late).write_text(text, encoding="utf-8")
    browser = bench.plan(late, "--no-in-place", "--no-reuse", "--against", early)
    same(bench.errors(), [])
    shown = browser.run("return document.getElementById('panel-changes').textContent;")
    for wanted in ("2 retimed", "kept", "steps 1–3 → 1–5"):
        holds(wanted in shown, "%r in %r" % (wanted, shown))
    same(browser.run("return changeOf(stowage.model, stowage.model.against.changes[0].now);"), "retimed")


# ---- everyone


@check
def it_can_be_used_with_the_keyboard_alone(bench):
    browser = bench.plan(TRANSFORMER)
    focus = "const e = document.activeElement; return e.id || e.className || e.tagName;"
    seen = []
    for _ in range(70):
        browser.keys("Tab")
        seen.append(browser.run(focus))
    for wanted in (
        "search",
        "theme",
        "help",
        "colour",
        "arena",
        "load",
        "tab-step",
        "filter",
        "csv",
        "table",
    ):
        holds(wanted in seen, "%s in %r" % (wanted, seen))
    browser.run("document.activeElement.blur();")
    browser.keys("/")
    same(browser.run(focus), "search", "/ goes to the search")
    browser.keys("w", "_", "u", "p", "Enter")
    same(
        browser.run("return nameOf(stowage.model, stowage.model.buffers, stowage.selected);"),
        "w_up",
    )
    browser.keys("Escape")
    same(browser.run(focus), "arena", "Escape goes to the map")
    browser.keys("Enter")
    before = browser.run("return stowage.selected;")
    holds(before >= 0, "Enter selects")
    browser.keys("ArrowDown", shift=True)
    below = browser.run(
        "return [stowage.selected, neighboursOf(stowage.model, arguments[0]).below];", before
    )
    holds(below[1] < 0 or below[0] == below[1], "shift and arrows walk")
    browser.run("stowage.loadPicture.canvas.focus();")
    browser.keys("Home", "ArrowRight", "ArrowRight")
    same(browser.run("return stowage.step;"), 2, "arrows walk over steps")
    browser.keys("p")
    same(browser.run("return stowage.step === stowage.model.peak;"), True, "p is the peak")
    browser.run("document.getElementById('table').focus();")
    browser.keys("Home", "ArrowDown")
    same(browser.run("return stowage.table.rows().indexOf(stowage.selected);"), 1, "rows by arrow")
    browser.keys("?")
    holds(browser.run("return document.getElementById('keys').open;"), "help opens")
    browser.keys("Escape")
    holds(not browser.run("return document.getElementById('keys').open;"), "help closes")


@check
def everything_has_a_name_and_a_text_alternative(bench):
    browser = bench.plan(TRANSFORMER)
    nameless = browser.run("""
      return [...document.querySelectorAll('button, input, select, canvas, [role=grid], [role=tabpanel]')].filter((e) =>
        !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim() || (e.labels && e.labels.length)))
        .map((e) => e.outerHTML.slice(0, 80));""")
    same(nameless, [])
    summary = browser.run(TEXT, "#summary")
    for wanted in ("16.5\u202fMiB", "19\u202fbuffers", "step 23"):
        holds(wanted in summary, "%r in %r" % (wanted, summary))
    same(
        browser.run(
            "const t = document.getElementById('table'); return [t.ariaRowCount, t.getAttribute('role')];"
        ),
        ["20", "grid"],
    )
    browser.run("stowage.arena.canvas.focus();")
    browser.keys("Tab")
    holds(
        browser.run("return getComputedStyle(document.activeElement).outlineStyle;") != "none",
        "focus shows",
    )


@check
def hostile_names_are_text_and_nothing_runs(bench):
    browser = bench.sample(hostile())
    same(bench.errors(), [], "console")
    for colouring in ("kind", "op", "size", "module", "change"):
        browser.run("stowage.setColouring(arguments[0]);", colouring)
        browser.settle()
    for b in range(len(HOSTILE)):
        browser.run(
            "stowage.select(arguments[0], {reveal: true}); stowage.selectStep(arguments[0], {tab: false});",
            b,
        )
        browser.settle()
        at = browser.run(
            "const m = stowage.model, a = stowage.arena, box = a.canvas.getBoundingClientRect();"
            "return [box.left + a.xOf(m.buffers.begin[arguments[0]] + 0.5), box.top + a.yOf(m.buffers.offset[arguments[0]] + 32)];",
            b,
        )
        browser.pointer(("move", *at))
    shown = browser.run("return arguments[0].map((name) => shownName(name, 20000));", HOSTILE)
    for b in (0, 1, 3, 8, 9, 16):
        browser.run("stowage.select(arguments[0]);", b)
        name = browser.run(TEXT, "#panel-tensor h2")
        holds(
            name in (shown[b], shown[b] or "(no name)"), "%r as %r" % (HOSTILE[b][:40], name[:80])
        )
    holds("\\u202e" in shown[8] and "\u202e" not in shown[8], "marks of direction are spelled out")
    same(browser.run("return window.__pwned;"), None, "nothing ran")
    holds(not browser.has_dialog(), "no dialog")
    same(
        browser.run(
            "return document.querySelectorAll('main img, main svg, main script, main b, main iframe').length;"
        ),
        0,
        "no markup",
    )
    same(bench.errors(), [], "console")
    same(
        browser.run("return document.documentElement.scrollWidth <= innerWidth;"),
        True,
        "nothing pushes the page wide",
    )


@check
def hostile_names_pass_through_the_command(bench):
    path = bench.path("hostile.csv")
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "lower", "upper", "size"])
        names = [
            name
            for name in HOSTILE
            if name and "\u0000" not in name and "\n" not in name and len(name) < 300
        ]
        for i, name in enumerate(names):
            writer.writerow([name, i, i + 2, 64])
    browser = bench.plan(path)
    same(bench.errors(), [], "console")
    same(set(rows(browser)), set(names), "names")
    same(browser.run("return window.__pwned;"), None, "nothing ran")


@check
def dark_and_light_follow_the_system_and_the_button(bench):
    browser = bench.browser
    ground = "return getComputedStyle(document.documentElement).backgroundColor;"
    corner = "return [...stowage.arena.canvas.getContext('2d').getImageData(1, 1, 1, 1).data].slice(0, 3);"
    try:
        browser.cdp(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark"}],
        )
        bench.plan(TRANSFORMER)
        same(browser.run(ground), "rgb(20, 23, 28)", "dark")
        same(browser.run(corner), [20, 23, 28], "dark canvas")
        browser.click("#theme")
        browser.settle()
        same(
            [browser.run(ground), browser.run(corner)],
            ["rgb(255, 255, 255)", [255, 255, 255]],
            "light by the button",
        )
        browser.click("#theme")
        browser.settle()
        same(browser.run(ground), "rgb(20, 23, 28)", "and back")
        browser.cdp(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "light"}],
        )
        bench.plan(TRANSFORMER)
        same(
            [browser.run(ground), browser.run(corner)],
            ["rgb(255, 255, 255)", [255, 255, 255]],
            "light",
        )
    finally:
        browser.cdp("Emulation.setEmulatedMedia", features=[])


@check
def it_prints(bench):
    browser = bench.plan(TRANSFORMER)
    try:
        browser.cdp("Emulation.setEmulatedMedia", media="print")
        hidden = browser.run(
            "return ['.search', '#csv', '.zoom', '.tabs'].map((s) => getComputedStyle(document.querySelector(s)).display);"
        )
        same(hidden, ["none"] * 4, "controls are left out")
        same(
            browser.run("return getComputedStyle(document.getElementById('arena')).display;"),
            "block",
            "the picture stays",
        )
        browser.resize(1000, 700)  # paper across
        holds(
            browser.run("return document.getElementById('summary').clientHeight;") > 10,
            "the summary stays",
        )
    finally:
        browser.resize(1280, 800)
        browser.cdp("Emulation.setEmulatedMedia", media="")
    pdf = base64.b64decode(browser.post("/print", background=True))
    holds(pdf.startswith(b"%PDF") and len(pdf) > 20000, "a PDF of %d bytes" % len(pdf))
    same(bench.errors(), [])


# ---- size


PANNING = """
  const done = arguments[0], times = [];
  let n = 0, last;
  function frame(now) {
    if (last !== undefined) times.push(now - last);
    last = now;
    stowage.pan(n % 40 < 20 ? 0.02 : -0.02, n % 20 < 10 ? 0.01 : -0.01);
    if (++n < 60) requestAnimationFrame(frame); else done(times);
  }
  requestAnimationFrame(frame);
"""


def median(ordered):
    return ordered[len(ordered) // 2]


# Half a million numbers made and sorted: what a machine, busy or not, needs for a fixed piece of work.
PLAIN_WORK = """
  const start = performance.now(), numbers = new Float64Array(500000);
  for (let i = 0, x = 1; i < numbers.length; i++) numbers[i] = x = (x * 16807) % 2147483647;
  numbers.sort();
  return performance.now() - start;"""
MOST_LOADING = 40
MOST_DRAWING = 0.5


@check
def fifty_thousand_buffers_are_smooth(bench):
    source = bench.path("large.csv")
    page = bench.path("large.html")
    pathlib.Path(source).write_text(large_csv(LARGE), encoding="utf-8")
    bench.stowage("view", source, "--strategy", "first-fit", "-o", page)
    size = os.path.getsize(page)
    holds(size < 15000000, "%d bytes" % size)
    shares = []  # of what plain work costs in the same page
    for _ in range(5):
        browser = bench.open(page)
        drawn = browser.run("return performance.getEntriesByName('stowage-drawn')[0].startTime;")
        shares.append(drawn / browser.run(PLAIN_WORK))
        if shares[-1] < MOST_LOADING / 2:
            break
    same(bench.errors(), [])
    same(browser.run("return stowage.model.buffers.count;"), LARGE)
    browser.run("stowage.zoomMiddle(0.5);")
    frames = sorted(browser.run_async(PANNING))
    drawings = browser.run("""
      const times = [];
      for (let n = 0; n < 20; n++) {
        const start = performance.now();
        stowage.whole = true;
        stowage.draw();
        const drawn = performance.now() - start;
        times.push(drawn / plainWork());
      }
      return times;""".replace("plainWork()", "(() => {%s})()" % PLAIN_WORK))
    rows_made = browser.run("return document.querySelectorAll('#table-body .row').length;")
    holds(rows_made < 100, "%d rows are elements" % rows_made)
    bench.notes.append(
        "%.1f MB; plain work costs 1, loading %.1f, one drawing %.2f; frames while panning: median %.1f ms"
        % (size / 1e6, min(shares), median(sorted(drawings)), median(frames))
    )
    holds(min(shares) < MOST_LOADING, "loading costs %r of plain work" % shares)
    holds(min(drawings) < MOST_DRAWING, "one drawing costs %r of plain work" % drawings)

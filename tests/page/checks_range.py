"""Checks of the page: the shapes of a range."""

import json

from bench import TEXT, check, holds, is_hidden, same

GRAPH = """graph @turn {
  range ?batch = 1..3
  range ?seq = 1..40
  %0 = input "x" : f32[?seq, ?batch, 8]
  %1 "e" = exp(%0) : f32[?seq, ?batch, 8]
  %2 = transpose(%1) {perm = [1, 0, 2]} : f32[?batch, ?seq, 8]
  %3 "t" = tanh(%2) : f32[?batch, ?seq, 8]
  return %3
}
"""
ONE = ["--bind", "batch=2"]


def page(bench, *arguments, longest=40):
    path = bench.path("turn.stow")
    with open(path, "w", encoding="utf-8") as file:
        file.write(GRAPH.replace("1..40", "1..%d" % longest))
    return bench.plan(path, *arguments)


def data_of(bench, *arguments):
    found = json.loads(bench.stowage("view", bench.path("turn.stow"), "--json", *arguments))
    return found, found.pop("range")


AT = "const {range, ...rest} = stowage.range.dataAt(arguments[0]); return JSON.stringify(rest);"
DRAWN = "return [stowage.model.data.at, stowage.model.facts.arena, stowage.range.point];"
SLIDE = """
  const input = document.getElementById(arguments[0]);
  input.value = arguments[1];
  input.dispatchEvent(new Event(arguments[2]));
"""


@check
def a_plan_of_one_shape_has_no_curves(bench):
    browser = page(bench, "--bind", "batch=2,seq=5")
    holds(is_hidden(browser, "#range"), "no section of shapes")


@check
def every_point_is_the_plan_of_that_point(bench):
    browser = page(bench)
    for batch, seq in ((1, 1), (1, 40), (2, 1), (3, 17), (3, 40)):
        wanted, ranged = data_of(bench, "--at", "batch=%d,seq=%d" % (batch, seq))
        point = 40 * (batch - 1) + seq - 1
        same(ranged["point"], point, "points are numbered")
        same(json.loads(browser.run(AT, point)), wanted, "batch %d, seq %d" % (batch, seq))
    same(bench.errors(), [], "no complaints")


@check
def a_slider_moves_the_drawn_plan(bench):
    browser = page(bench, *ONE)
    same(browser.run(DRAWN)[0], "seq=40", "the largest arena first")
    holds(browser.run(TEXT, "#summary").startswith("At seq=40, the arena"), "the point is named")
    before = browser.run("return stowage.arena.canvas.toDataURL();")
    browser.run(SLIDE, "range-slider-0", 9, "input")
    browser.settle()
    wanted, _ = data_of(bench, *ONE, "--at", "seq=10")
    same(browser.run(DRAWN), ["seq=10", wanted["facts"]["arena"], 9], "the point")
    same(browser.run("return document.getElementById('range-number-0').value;"), "10")
    holds(browser.run("return stowage.arena.canvas.toDataURL();") != before, "another picture")
    holds("f32[10, 2, 8]" in browser.run(TEXT, "#table-body"), "the table is of the point")
    browser.run(SLIDE, "range-number-0", 33, "change")
    browser.settle()
    same(browser.run(DRAWN)[0], "seq=33", "the number moves it too")
    browser.run(SLIDE, "range-number-0", 1000, "change")
    browser.settle()
    same(browser.run(DRAWN)[0], "seq=40", "numbers stay in the range")
    same(bench.errors(), [], "no complaints")


@check
def a_selection_stays_from_point_to_point(bench):
    browser = page(bench, *ONE)
    name = "return stowage.selected < 0 ? '' : bufferName(stowage.model, stowage.selected);"
    browser.run("stowage.select(stowage.model.buffers.id.indexOf(1));")
    same(browser.run(name), "e")
    for point in (20, 0, 39):  # at 0 a transpose is a view: another frame
        browser.run("stowage.goTo(arguments[0]);", point)
        browser.settle()
        same(browser.run(name), "e", "point %d" % point)
    browser.run("stowage.select(-1); stowage.zoomMiddle(0.5);")
    part = "return (stowage.view.y1 - stowage.view.y0) / stowage.full.y1;"
    zoomed = browser.run(part)
    browser.run("stowage.goTo(5);")
    browser.settle()
    holds(abs(browser.run(part) - zoomed) < 1e-6, "what is in sight stays")


@check
def curves_have_every_point_and_the_formula(bench):
    browser = page(bench)
    _, ranged = data_of(bench)
    saved = json.loads(bench.stowage("plan", bench.path("turn.stow"), "--format", "json"))
    points = [[p["arena_size"], p["load"], p["region"]] for p in saved["points"]]
    found = browser.run(
        "const r = stowage.range; return Array.from(r.arena, (a, i) => [a, r.load[i], r.region[i]]);"
    )
    same(found, points, "arena, load, region")
    holds("at batch=" in browser.run(TEXT, "#range-facts"), "where the largest are")
    text = browser.run(TEXT, "#range-regions")
    holds("batch*seq" in text and "region 1" in text and "?" not in text, text)
    same(browser.run("return stowage.curve.state.over;"), 1, "over the longest range")
    same(is_hidden(browser, "#range-over-box"), False, "another may be chosen")
    browser.run(SLIDE, "range-over", 0, "change")
    browser.settle()
    same(browser.run("return stowage.curve.state.over;"), 0)
    browser.run("document.querySelectorAll('#range-facts button')[1].click();")
    browser.settle()
    same(browser.run(DRAWN)[2], ranged["worst"], "a link goes to the largest gap")


@check
def a_click_in_the_curve_goes_there(bench):
    browser = page(bench, *ONE)
    place = (
        "const box = stowage.curve.canvas.getBoundingClientRect();"
        "return [box.left + stowage.curve.xOf(arguments[0]), box.top + 60];"
    )
    x, y = browser.run(place, 14)
    browser.pointer(("move", x, y))
    browser.settle()
    holds(browser.run(TEXT, "#tip").startswith("seq=15"), browser.run(TEXT, "#tip"))
    browser.pointer(("move", x, y), ("down",), ("up",))
    browser.settle()
    same(browser.run(DRAWN)[0], "seq=15")


@check
def long_ranges_are_drawn_at_some_points(bench):
    browser = page(bench, longest=2000)
    count = browser.run("return [stowage.range.arena.length, stowage.range.drawn[1].length];")
    same(count[0], 6000, "the curve has all")
    holds(count[1] < 2000, "the slider has %d" % count[1])
    browser.run(SLIDE, "range-number-1", 1234, "change")
    browser.settle()
    at = browser.run("return stowage.range.valuesOf(stowage.range.point)[1];")
    holds(abs(at - 1234) <= 4, "the nearest point: %d" % at)

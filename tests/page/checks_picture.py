"""Checks of the page: loading, the picture, its numbers. A check's name says what holds."""

import json
import pathlib
import xml.etree.ElementTree

from bench import MIDDLE, PIXEL, TEXT, TRAINING, TRANSFORMER, VIEW, check, holds, is_hidden, same
from join import PAGE, scripts
from samples import everything

# ---- loading


@check
def the_page_is_small_and_nothing_in_it_ends_its_script(bench):
    files = ["page.html", "page.css", *scripts()]
    size = sum((PAGE / name).stat().st_size for name in files)
    bench.notes.append("%d bytes" % size)
    holds(size <= 200000, "%d bytes" % size)
    for name in scripts():
        text = (PAGE / name).read_text(encoding="utf-8").lower()
        holds("</script" not in text and "<!--" not in text, name)
        holds(
            "innerhtml" not in text and "eval(" not in text and 'setattribute("style' not in text,
            name,
        )


@check
def it_loads_without_errors_or_network_requests(bench):
    bench.browser.log("performance")
    for arguments in (
        [TRANSFORMER],
        ["examples/cnn.stow", "--bind", "batch=1"],
        ["examples/buffers.csv"],
    ):
        browser = bench.plan(*arguments)
        same(bench.errors(), [], "console of " + arguments[0])
    asked = []
    for entry in browser.log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    holds(all(url.startswith(("file://", "data:")) for url in asked), "asked for %r" % asked)
    same(browser.run("return performance.getEntriesByType('resource').length;"), 0, "resources")


@check
def the_policy_forbids_what_the_page_does_not_hold(bench):
    policy = (PAGE / "page.html").read_text(encoding="utf-8").split("Policy")[1].split(">")[0]
    holds(
        "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy, policy
    )
    browser = bench.plan(TRANSFORMER)
    browser.run_async("""
      const done = arguments[0];
      const script = document.createElement('script');
      script.textContent = 'window.__pwned = 1';
      document.body.append(script);
      const image = document.createElement('img');
      image.addEventListener('error', () => done());
      image.src = 'http://127.0.0.1:9/x.png';
      document.body.append(image);
    """)
    same(browser.run("return window.__pwned;"), None, "an injected script")
    holds(any("Content Security Policy" in text for text in bench.errors()), "nothing was refused")


@check
def without_data_it_says_so(bench):
    cases = [
        ("", "holds no plan"),
        ("{", "not JSON"),
        ("[]", "not that of a plan"),
        ("null", "not that of a plan"),
        ('{"stowage_view":2}', "version 2"),
    ]
    for text, wanted in cases:
        browser = bench.sample(text)
        holds(
            wanted in browser.run(TEXT, "#message"),
            "%r: %r" % (text, browser.run(TEXT, "#message")),
        )
        same(bench.errors(), [], "console for %r" % text)
        holds(is_hidden(browser, "#main"), "main shows")


@check
def a_plan_without_buffers_shows(bench):
    data = everything()
    data["buffers"] = {name: [] for name in data["buffers"] if name != "windows"}
    data["buffers"]["windows"] = {"of": []}
    data["values"] = {name: [] for name in data["values"]}
    data["against"] = None
    browser = bench.sample(data)
    same(bench.errors(), [])
    browser.keys("p")
    same(bench.errors(), [])


@check
def times_may_be_sparse_and_large(bench):
    path = bench.path("sparse.csv")
    pathlib.Path(path).write_text(
        "id,lower,upper,size\na,5000000000,9000000000,64\nb,8000000000,9500000000,128\n",
        encoding="utf-8",
    )
    browser = bench.plan(path)
    same(bench.errors(), [])
    same(browser.run("return [stowage.model.peak, stowage.model.peakLoad];"), [8000000000, 192])


# ---- the picture


@check
def it_draws_every_buffer_in_its_colour(bench):
    browser = bench.sample(everything())
    browser.run(
        "stowage.setColouring('kind'); stowage.select(-1, {keepTab: true}); stowage.step = -1; stowage.showOld = false;"
        "stowage.invalidate(true);"
    )
    browser.settle()
    for name, colour in (("input", [0x5B, 0x8F, 0xC9]), ("net.a/conv", [0x5F, 0xAE, 0x5B])):
        at = browser.run(MIDDLE, name)
        same(browser.run(PIXEL, at["x"], at["y"])[:3], colour, name)
    wasted = browser.run("""
      const {arena} = stowage, box = arena.canvas.getBoundingClientRect();
      const at = (step, byte) => [box.left + arena.xOf(step), box.top + arena.yOf(byte)];
      return at(9.5, 4000);""")
    same(browser.run(PIXEL, *wasted)[0] in (0xEB, 0xDB), True, "wasted bytes are shaded")
    same(
        browser.run("return stowage.model.top[9] - stowage.model.load[9];"),
        8000 - 1280 - 576,
        "wasted bytes",
    )


@check
def windows_leave_bytes_to_others(bench):
    browser = bench.sample(everything())
    same(
        browser.run("const m = stowage.model; return [...m.load].slice(1, 5);"),
        [
            1280 + 2048 + 576,
            1280 + 2048 + 2048 + 576,
            1280 + 2048 + 4096 + 576,
            1280 + 2048 + 4096 + 576,
        ],
    )
    same(
        browser.run(
            "const m = stowage.model; return [pieceAt(m, 2, 3328 + 3000), m.pieces.of[pieceAt(m, 3, 3328 + 3000)]];"
        ),
        [-1, 2],
    )


@check
def wheel_drag_and_buttons_zoom_and_pan(bench):
    browser = bench.plan(TRANSFORMER)
    at = browser.run(MIDDLE, "w_gate")
    full = browser.run(VIEW)
    browser.wheel(at["x"], at["y"], -300)
    near = browser.run(VIEW)
    holds(
        near["x1"] - near["x0"] < full["x1"] - full["x0"]
        and near["y1"] - near["y0"] < full["y1"] - full["y0"],
        "zoomed in",
    )
    browser.pointer(
        ("move", at["x"], at["y"]),
        ("down",),
        ("move", at["x"] - 40, at["y"]),
        ("move", at["x"] - 90, at["y"] + 30),
        ("up",),
    )
    moved = browser.run(VIEW)
    holds(moved["x0"] > near["x0"] and moved["y0"] > near["y0"], "panned")
    same(round(moved["x1"] - moved["x0"], 6), round(near["x1"] - near["x0"], 6), "the scale stays")
    browser.wheel(at["x"], at["y"], 5000)
    same(browser.run(VIEW), full, "zoomed out as far as it goes")
    browser.click("#zoom-in")
    holds(browser.run(VIEW) != full, "the button zooms")
    browser.click("#zoom-fit")
    same(browser.run(VIEW), full, "fit")


@check
def keys_zoom_and_pan(bench):
    browser = bench.plan(TRANSFORMER)
    full = browser.run(VIEW)
    browser.run("stowage.arena.canvas.focus();")
    browser.keys("+", "+")
    near = browser.run(VIEW)
    holds(near["x1"] - near["x0"] < 0.6 * (full["x1"] - full["x0"]), "zoomed in")
    browser.keys("ArrowRight", "ArrowUp")
    moved = browser.run(VIEW)
    holds(moved["x0"] > near["x0"] and moved["y0"] > near["y0"], "panned")
    browser.keys("Home")
    same(browser.run(VIEW)["x0"], full["x0"], "Home")
    browser.keys("End")
    same(round(browser.run(VIEW)["x1"], 6), full["x1"], "End")
    browser.keys("-")
    browser.keys("0")
    same(browser.run(VIEW), full, "0 fits")


@check
def hovering_tells_what_lies_there(bench):
    browser = bench.plan(TRANSFORMER)
    at = browser.run(MIDDLE, "w_gate")
    browser.pointer(("move", at["x"], at["y"]))
    holds(
        "w_gate" in browser.run(TEXT, "#tip") and "2.75" in browser.run(TEXT, "#tip"),
        browser.run(TEXT, "#tip"),
    )
    browser.pointer(("move", 2, 2))
    holds(is_hidden(browser, "#tip"), "the tip goes")


@check
def a_click_shows_producer_readers_chain_and_neighbours(bench):
    browser = bench.sample(everything())
    at = browser.run(MIDDLE, "net.a/conv")
    browser.click_at(at["x"], at["y"])
    text = browser.run(TEXT, "#panel-tensor")
    for wanted in (
        "net.a/conv",
        "made at step\u202f1",
        "step\u202f2",
        "step\u202f3",
        "input",
        "net.b/concat",
    ):
        holds(wanted in text, "%r in %r" % (wanted, text))
    at = browser.run(MIDDLE, "net.b/concat")
    browser.click_at(at["x"], at["y"])
    text = browser.run(TEXT, "#panel-tensor")
    for wanted in (
        "Alias chain",
        "net.b/left",
        "copy elision",
        "net.b/relu",
        "in place",
        "output",
        "windows",
    ):
        holds(wanted in text, "%r in %r" % (wanted, text))
    browser.run("stowage.select(3);")
    text = browser.run(TEXT, "#panel-tensor")
    for wanted in (
        "3\u202frows",
        "bytes 64–320",
        "of f32[256], from 0 % to 50 % of the step",
        "net.b/row",
        "1\u202frow,",
        "from 25 % to 100 %",
    ):
        holds(wanted in text, "%r in %r" % (wanted, text))
    inner = browser.run(
        "const at = (time) => innerAt(stowage.model, 3, time, 1280 + 70);"
        "return [at(7.4) >= 0, at(7.6) >= 0];"
    )
    same(inner, [True, False], "rows are there for a part of the step")
    same(
        browser.run(
            "const n = neighboursOf(stowage.model, 1); return [n.below, n.above, n.before, n.after];"
        ),
        [0, 2, -1, 3],
    )


SVG = "{http://www.w3.org/2000/svg}"


def svg_colours(path):
    """Colours of the buffers of a static picture by name, and its legend."""
    root = xml.etree.ElementTree.parse(path).getroot()
    named = {}
    legend = []
    before = root
    for element in root:
        title = element.find(SVG + "title")
        if title is not None and element.tag == SVG + "path":
            named[title.text.split("\n")[0]] = element.get("fill")
        if before.get("fill", "").startswith("#") and float(element.get("y", 0)) > 760:
            legend.append([element.text, before.get("fill")])
        before = element
    return named, [entry for entry in legend if entry[1] != "#fff"]


@check
def the_static_picture_has_the_colours_of_the_page(bench):
    csv = bench.path("modules.csv")
    lines = ["id,lower,upper,size"]
    for i in range(60):
        lines.append("net/block.%d/conv%d/out,%d,%d,%d" % (i // 4, i, i, i + 3, 4096 * (1 + i % 7)))
    pathlib.Path(csv).write_text("\n".join(lines) + "\n", encoding="utf-8")
    kinds = [TRANSFORMER], TRAINING
    for asked in ([csv], *kinds, *bench.models):
        picture = bench.path("colours.svg")
        bench.stowage("view", *asked, "-o", picture)
        named, legend = svg_colours(picture)
        browser = bench.plan(*asked)
        if asked in kinds:
            browser.run("stowage.setColouring('kind');")
        else:
            same(browser.run("return stowage.colouring;"), "module", asked[0])
        shown = browser.run(
            "return [...document.querySelectorAll('#legend button')].map((b) => b.textContent);"
        )
        colours = browser.run("return stowage.colours.groups.map((g) => g.colour);")
        same(legend, [list(entry) for entry in zip(shown, colours)], asked[0] + ": legend")
        found = browser.run("""
          const m = stowage.model;
          return Object.fromEntries([...m.buffers.name.keys()].map((b) =>
            [nameOf(m, m.buffers, b), stowage.colours.groups[stowage.colours.of[b]].colour]));""")
        # The page gives scratch the name of its node.
        named = {name: named[name] for name in named if not name.startswith("scratch of ")}
        holds(len(named) >= 5, "%s: %r" % (asked[0], named))
        same({name: found.get(name) for name in named}, named, asked[0] + ": colours")


# ---- numbers


@check
def numbers_at_the_peak_are_those_of_the_plan(bench):
    for asked in ([TRANSFORMER], TRAINING, ["examples/branches.stow"], *bench.models):
        name = asked[0]
        plan = json.loads(bench.stowage("plan", *asked, "--format", "json"))
        browser = bench.plan(*asked)
        facts = browser.run(
            "const m = stowage.model; return [m.facts.arena, m.peak, m.facts.bound, m.buffers.count];"
        )
        same(facts[:2], [plan["arena_size"], plan["peak"]["step"]], name + ": arena, peak step")
        hints = browser.run(
            "return [...document.querySelectorAll('#hints dt')].map((e) => e.textContent);"
        )
        same(hints, [hint["change"] for hint in plan["hints"]], name + ": hints")
        live = browser.run(
            "const m = stowage.model; return liveAt(m, m.peak).map((p) => m.buffers.id[m.pieces.of[p]]).filter((id) => id >= 0);"
        )
        same(sorted(live), sorted(plan["peak"]["values"]), name + ": live set")
        sizes = {value["id"]: value["size"] for value in plan["values"]}
        same(
            [sizes[i] for i in live],
            sorted((sizes[i] for i in live), reverse=True),
            name + ": largest first",
        )
        shown = browser.run("return document.querySelectorAll('#panel-step tr.over').length;")
        same(
            shown,
            min(60, browser.run("const m = stowage.model; return liveAt(m, m.peak).length;")),
            name + ": rows",
        )
        holds(plan["graph"] in browser.run("return document.title;"), "title")


@check
def the_peak_without_a_buffer_is_right(bench):
    browser = bench.plan(*TRAINING)
    wrong = browser.run("""
      const m = stowage.model, without = m.without(), wrong = [];
      for (let b = 0; b < m.buffers.count; b++) {
        const load = Array.from(m.load);
        for (let p = m.pieces.first[b]; p < m.pieces.first[b + 1]; p++)
          for (let s = m.pieces.begin[p]; s < m.pieces.end[p]; s++) load[m.segment(s)] -= occupied(m, p);
        if (Math.max(...load) !== without[b]) wrong.push(b);
      }
      return wrong;""")
    same(wrong, [])


@check
def a_click_in_the_curve_shows_that_step(bench):
    browser = bench.plan(TRANSFORMER)
    at = browser.run(
        "const {loadPicture: l} = stowage, box = l.canvas.getBoundingClientRect(); return [box.left + l.xOf(5.5), box.top + 40];"
    )
    browser.click_at(*at)
    same(browser.run("return stowage.step;"), 5)
    holds(
        browser.run(TEXT, "#panel-step h2").startswith("Step 5"),
        browser.run(TEXT, "#panel-step h2"),
    )
    slider = browser.run(
        "const c = stowage.loadPicture.canvas; return [c.ariaValueNow, c.ariaValueMin, c.ariaValueMax];"
    )
    same(slider[0], "5", "slider")

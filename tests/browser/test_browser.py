"""The page that plans, in headless Chromium.

Every check is a function whose name says what holds; each is printed. Exits with 77 where there is
no browser, or no page: scripts/browser.sh makes it."""

import argparse
import os
import pathlib
import sys
import tempfile
import time
import traceback

from cases import SKIP, Case, examples, missing, models, native
from large import write_large

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "page"))

from webdriver import ELEMENT, Browser, DriverError, find_browser  # noqa: E402

CHECKS = []
ENCODER = {"batch": "1", "length": "32"}


def check(function):
    CHECKS.append(function)
    return function


def same(found, wanted, what):
    if found != wanted:
        raise AssertionError("%s: found %.200r, wanted %.200r" % (what, found, wanted))


def holds(truth, what):
    if not truth:
        raise AssertionError(what)


class Bench:
    """The browser and the page in it."""

    def __init__(self, browser, command, source, folder):
        self.browser = browser
        self.command = command
        self.source = source
        self.folder = pathlib.Path(folder)
        self.page = source / "build/browser/stowage.html"

    def open(self):
        self.browser.log("browser")
        self.browser.load(self.page)
        self.browser.settle()

    def give(self, path):
        """Chooses a file, as a person does who does not drop it."""
        self.browser.type("#file", str(path))

    def wait(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while not self.browser.run("return " + condition):
            if time.monotonic() > end:
                raise AssertionError("not reached: %s; %s" % (condition, self.text("#error")))
            time.sleep(0.02)

    def wait_drawn(self):
        self.wait("!!stowage.last && stowage.last.shown > 0")
        self.browser.settle()

    def wait_asked(self):
        self.wait(
            "document.querySelector('#fields input') !== null"
            " && !document.getElementById('plan').disabled"
        )

    def set_symbols(self, symbols):
        script = """for (const field of document.querySelectorAll('#fields input'))
          if (field.dataset.symbol in arguments[0]) field.value = arguments[0][field.dataset.symbol];"""
        self.browser.run(script, symbols)

    def plan(self, path, symbols=None):
        """Gives a file, its symbols if it has any, and waits for the picture."""
        self.open()
        self.give(path)
        if symbols:
            self.wait_asked()
            self.set_symbols(symbols)
            self.browser.click("#plan")
        self.wait_drawn()

    def text(self, selector):
        return self.browser.run(
            "return document.querySelector(arguments[0]).textContent;", selector
        )

    def in_frame(self, script):
        """Runs a script in the picture."""
        frame = {ELEMENT: self.browser.element("#picture")}
        self.browser.post("/frame", id=frame)
        try:
            return self.browser.run(script)
        finally:
            self.browser.post("/frame", id=None)

    def answer(self, case):
        """A command in the page's worker, on the file that was given."""
        script = """const done = arguments[1], decode = (bytes) => new TextDecoder().decode(bytes);
          stowage.runner.run(stowage.name, stowage.file, arguments[0])
            .then((r) => done([r.exit, decode(r.out), r.err]));"""
        exit_code, out, err = self.browser.run_async(script, case.arguments())
        return exit_code, out.encode("utf-8"), err

    def errors(self):
        return [e["message"] for e in self.browser.log("browser") if e["level"] != "INFO"]


@check
def plans_and_pictures_are_the_commands(bench):
    before = None
    for case in examples(bench.source):
        if case.path != before:
            bench.open()
            bench.give(case.path)
            bench.wait("stowage.name === '%s'" % case.path.name)
            before = case.path
        same(bench.answer(case), native(bench.command, case), " ".join(case.arguments()))


@check
def a_dropped_file_is_drawn(bench):
    bench.open()
    text = (bench.source / "examples/transformer.stow").read_text()
    script = """const data = new DataTransfer();
      data.items.add(new File([arguments[0]], 'dropped.stow'));
      const how = {dataTransfer: data, bubbles: true, cancelable: true};
      document.body.dispatchEvent(new DragEvent('drop', how));"""
    bench.browser.run(script, text)
    bench.wait_drawn()
    same(
        bench.in_frame("return document.getElementById('source').textContent;"),
        "dropped.stow",
        "file",
    )
    holds(bench.in_frame("return stowage.table.rows().length > 0;"), "no buffers")
    same(bench.errors(), [], "the console")


@check
def the_picture_takes_the_mouse(bench):
    """The frame is out of its way until it moves: see page.js."""
    bench.plan(bench.source / "examples/transformer.stow")
    box = "const r = document.querySelector('%s').getBoundingClientRect(); return [r.x, r.y];"
    frame = bench.browser.run(box % "#picture")
    tab = bench.in_frame(box % "#tab-tensor")
    x, y = (a + b + 8 for a, b in zip(frame, tab))
    bench.browser.pointer(("move", x - 40, y), ("move", x - 20, y))
    bench.browser.click_at(x, y)
    same(
        bench.in_frame("return document.getElementById('tab-tensor').ariaSelected;"),
        "true",
        "the tab",
    )


@check
def symbols_are_asked_for(bench):
    bench.open()
    bench.give(bench.source / "examples/encoder.onnx")
    bench.wait_asked()
    fields = (
        "return [...document.querySelectorAll('#fields input')]"
        ".map((field) => [field.dataset.symbol, field.value]);"
    )
    same(bench.browser.run(fields), [["batch", "1"], ["length", ""]], "fields")
    holds("tokens" in bench.text("#summary"), "the inputs are shown meanwhile")
    bench.set_symbols(ENCODER)
    bench.browser.click("#plan")
    bench.wait_drawn()
    bench.browser.click("#show-summary")
    bench.wait("document.getElementById('summary').hidden === false")
    case = Case(bench.source / "examples/encoder.onnx", "plan", "--bind", "batch=1,length=32")
    same(bench.text("#summary").encode("utf-8"), native(bench.command, case)[1], "the summary")


@check
def graphs_are_asked_for(bench):
    bench.plan(bench.source / "examples/training.stow")
    names = "return [...document.querySelectorAll('#graph option')].map((option) => option.value);"
    same(bench.browser.run(names), ["forward", "backward"], "graphs")


@check
def what_goes_wrong_is_said(bench):
    path = bench.folder / "hello.stow"
    path.write_text("hello\n")
    bench.open()
    bench.give(path)
    bench.wait("!document.getElementById('error').hidden")
    case = Case(path, "view", "--format", "html")
    same(bench.text("#error"), native(bench.command, case)[2].strip(), "the message")


@check
def a_search_can_be_stopped(bench):
    path = bench.folder / "hard.csv"
    rows = [
        "%d,%d,%d,%d" % (i, i % 97, i % 97 + 5 + i * i % 31, 1 + i * i % 997) for i in range(400)
    ]
    path.write_text("id,lower,upper,size\n" + "\n".join(rows) + "\n")
    bench.open()
    options = "document.getElementById('options').value = arguments[0];"
    bench.browser.run(options, "--nodes unlimited --strategy lns")
    bench.give(path)
    bench.wait("document.getElementById('status').textContent === 'planning …'")
    bench.browser.click("#stop")
    bench.wait("document.getElementById('status').textContent === 'stopped'")
    bench.browser.run(options, "--strategy first-fit")
    bench.browser.click("#plan")
    bench.wait_drawn()


@check
def weights_are_not_read(bench):
    """A model of a gigabyte, nearly all of it weights."""
    path = bench.folder / "large.onnx"
    write_large(path)
    bench.plan(path)
    memory = bench.browser.run("return stowage.last.memory;")
    holds(path.stat().st_size > 1 << 30 and memory < 32 << 20, "memory is %d bytes" % memory)
    case = Case(path, "plan", "--format", "json")
    same(bench.answer(case), native(bench.command, case), "the plan")
    path.unlink()


@check
def nothing_leaves_the_machine(bench):
    bench.browser.log("performance")
    bench.plan(bench.source / "examples/encoder.onnx", ENCODER)
    requests = [
        entry["message"]
        for entry in bench.browser.log("performance")
        if '"Network.requestWillBeSent"' in entry["message"]
    ]
    for request in requests:
        url = request.split('"url":"', 1)[1].split('"', 1)[0]
        holds(url.startswith(("file:", "blob:", "data:", "about:")), "a request: " + url)
    same(bench.errors(), [], "the console")
    tried = """const done = arguments[0], url = 'http://127.0.0.1:9/';
      fetch(url).then(() => done('fetched'), () => done('refused'));"""
    same(bench.browser.run_async(tried), "refused", "fetch")
    holds(any("Content Security Policy" in e for e in bench.errors()), "refused by the policy")


@check
def no_width_needs_to_scroll_sideways(bench):
    for width in (1400, 400):
        bench.browser.resize(width, 800)
        bench.plan(bench.source / "examples/encoder.onnx", ENCODER)
        wide = "return document.documentElement.scrollWidth;"
        same(bench.browser.run(wide), width, "the page")
        holds(bench.in_frame(wide) <= width, "the picture")
    bench.browser.resize(1280, 800)


def measure(bench, cases, shots):
    """Real models: the plan's bytes, and the time from the last click to the picture."""
    failed = 0
    for case in cases:
        words = case.words[3:]
        symbols = dict(
            word.rsplit("=", 1) for word, flag in zip(words[1:], words) if flag == "--bind"
        )
        others = [w for i, w in enumerate(words) if "--bind" not in (w, words[max(i - 1, 0)])]
        bench.open()
        bench.browser.run(
            "document.getElementById('options').value = arguments[0];", " ".join(others)
        )
        bench.give(case.path)
        if symbols:
            bench.wait_asked()
            bench.set_symbols(symbols)
            bench.browser.click("#plan")
        bench.wait_drawn()
        facts = (
            "const {shown, time, memory} = stowage.last;"
            "return [shown, time, memory, performance.memory.usedJSHeapSize];"
        )
        shown, planned, memory, heap = bench.browser.run(facts)
        is_same = bench.answer(case) == native(bench.command, case)
        failed += not is_same
        print(
            "%s %s: %.1f MB, drawn after %.2f s, of which the command took %.2f s; memory %.1f MB, "
            "page %.1f MB"
            % (
                "ok   " if is_same else "FAIL ",
                case.label,
                case.path.stat().st_size / 1e6,
                shown / 1000,
                planned / 1000,
                memory / 1e6,
                heap / 1e6,
            ),
            flush=True,
        )
        if shots:
            for width in (1400, 400):
                bench.browser.resize(width, 900)
                bench.browser.settle()
                bench.browser.screenshot(os.path.join(shots, "%s-%d.png" % (case.label, width)))
    print("%d passed, %d failed" % (len(cases) - failed, failed))
    return 1 if failed else 0


def run_checks(bench, words):
    failed = 0
    chosen = [c for c in CHECKS if not words or any(word in c.__name__ for word in words)]
    for function in chosen:
        name = function.__name__.replace("_", " ")
        try:
            function(bench)
            print("ok    " + name, flush=True)
        except (AssertionError, DriverError, OSError) as error:
            failed += 1
            print("FAIL  %s: %s" % (name, error), flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc()
    print("%d passed, %d failed" % (len(chosen) - failed, failed))
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description="The page that plans, in a browser.")
    parser.add_argument("command", help="the native stowage")
    parser.add_argument("source", help="the folder of its sources")
    parser.add_argument(
        "words", nargs="*", help="only checks whose names hold one of these; or models"
    )
    parser.add_argument("--models", help="no checks: the real models in this folder, with times")
    parser.add_argument("--shots", help="with --models: a folder for pictures of the page")
    asked = parser.parse_args()
    source = pathlib.Path(asked.source).resolve()
    paths = find_browser()
    reason = missing(source, source / "build/browser/stowage.html")
    if paths is None or reason:
        print("SKIP: " + (reason or "no chromium with chromedriver"))
        return SKIP
    with tempfile.TemporaryDirectory(prefix="stowage-browser-") as folder, Browser(
        paths
    ) as browser:
        bench = Bench(browser, os.path.abspath(asked.command), source, folder)
        if asked.models:
            found = models(source, pathlib.Path(asked.models).resolve())
            chosen = [case for case in found if not asked.words or case.label in asked.words]
            return measure(bench, chosen, asked.shots)
        return run_checks(bench, asked.words)


if __name__ == "__main__":
    sys.exit(main())

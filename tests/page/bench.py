"""What the checks of the page work with: the browser, pages by name, questions to a page."""

import os
import pathlib
import subprocess

from join import join

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def same(found, wanted, what=""):
    if found != wanted:
        raise AssertionError("%s: found %r, wanted %r" % (what, found, wanted))


def holds(truth, what):
    if not truth:
        raise AssertionError(what)


class Bench:
    """What checks work with: the browser, and pages by name."""

    def __init__(self, browser, command, source, folder, models):
        self.browser = browser
        self.command = command
        self.source = source
        self.folder = folder
        self.models = models
        self.notes = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def stowage(self, *arguments):
        return subprocess.run(
            [self.command, *arguments], check=True, capture_output=True, cwd=self.source
        ).stdout

    def plan(self, name, *arguments):
        """Loads the page of a plan that the command made."""
        out = self.path("plan.html")
        self.stowage("view", name, *arguments, "-o", out)
        return self.open(out)

    def sample(self, data):
        """Loads a page joined from its sources."""
        out = self.path("sample.html")
        pathlib.Path(out).write_text(join(data), encoding="utf-8")
        return self.open(out)

    def open(self, path):
        self.browser.log("browser")
        self.browser.load(path)
        self.browser.settle()
        return self.browser

    def errors(self):
        return [
            entry["message"]
            for entry in self.browser.log("browser")
            if entry["level"] in ("SEVERE", "WARNING")
        ]


TRANSFORMER = "examples/transformer.stow"
MODEL = ["examples/encoder.onnx", "--bind", "batch=1", "--bind", "length=32"]
TRAINING = ["examples/training.stow", "--graph", "backward"]

# Where a buffer shows: the middle of its first piece, in pixels of the window.
MIDDLE = """
  const app = window.stowage, m = app.model, b = m.buffers.name.findIndex(
    (s, i) => nameOf(m, m.buffers, i) === arguments[0]);
  const p = m.pieces.first[b], box = app.arena.canvas.getBoundingClientRect();
  const mid = (lo, hi, from, to) => (Math.max(lo, from) + Math.min(hi, to)) / 2;
  return {b, x: box.left + app.arena.xOf(mid(m.pieces.begin[p], m.pieces.end[p], app.view.x0, app.view.x1)),
          y: box.top + app.arena.yOf(mid(m.pieces.low[p], m.pieces.high[p], app.view.y0, app.view.y1))};
"""
VIEW = "return {...window.stowage.view};"
PIXEL = """
  const [x, y] = arguments, canvas = window.stowage.arena.canvas, box = canvas.getBoundingClientRect();
  const ratio = canvas.width / box.width;
  return [...canvas.getContext('2d').getImageData((x - box.left) * ratio, (y - box.top) * ratio, 1, 1).data];
"""
TEXT = "return document.querySelector(arguments[0]).textContent;"
NAMES = (
    "return [...document.querySelectorAll('#table-body .row')].sort((a, b) => a.ariaRowIndex - b.ariaRowIndex)"
    ".map((row) => row.firstChild.textContent);"
)


def is_hidden(browser, selector):
    return browser.run("return document.querySelector(arguments[0]).hidden;", selector)


def rows(browser):
    return browser.run(
        "return window.stowage.table.rows().map((b) => nameOf(stowage.model, stowage.model.buffers, b));"
    )

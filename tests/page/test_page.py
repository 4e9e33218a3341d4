"""The page in a browser.

Every check is a function whose name says what holds; each is printed. Pages of plans are made by
the command, pages of what no plan would have are joined from the page's sources. Exits with 77
where there is no browser to ask."""

import argparse
import os
import sys
import tempfile
import traceback

import checks_layout  # registers its checks
import checks_picture  # registers its checks
import checks_range  # registers its checks
import checks_use  # registers its checks
from bench import CHECKS, MODEL, TRANSFORMER, Bench
from webdriver import Browser, find_browser

SKIP = 77


def shots(bench, folder):
    """Pictures to look at, of the examples and of the models named by STOWAGE_PAGE_MODELS."""
    os.makedirs(folder, exist_ok=True)
    models = [["cnn", "examples/cnn.stow", "--bind", "batch=1"], ["transformer", TRANSFORMER]]
    models += [
        line.split()
        for line in os.environ.get("STOWAGE_PAGE_MODELS", "").splitlines()
        if line.strip()
    ]
    for label, *arguments in models:
        for width, height in checks_layout.SIZES:
            bench.browser.resize(width, height)
            bench.plan(*arguments)
            bench.browser.screenshot(os.path.join(folder, "%s-%d.png" % (label, width)))


def arguments():
    parser = argparse.ArgumentParser(description="The page in a browser.")
    parser.add_argument("command", help="the stowage to test")
    parser.add_argument("source", help="the folder of its sources")
    parser.add_argument("words", nargs="*", help="only checks whose names hold one of these")
    parser.add_argument("--onnx", action="store_true", help="the command reads models")
    parser.add_argument(
        "--shots", metavar="FOLDER", help="no checks: pictures of the page, to look at"
    )
    return parser.parse_args()


def main(asked):
    paths = find_browser()
    if paths is None:
        print("SKIP: no chromium with chromedriver")
        return SKIP
    failed = 0
    with tempfile.TemporaryDirectory(prefix="stowage-page-") as folder, Browser(paths) as browser:
        bench = Bench(
            browser,
            os.path.abspath(asked.command),
            os.path.abspath(asked.source),
            folder,
            [MODEL] if asked.onnx else [],
        )
        if asked.shots:
            shots(bench, asked.shots)
            return 0
        chosen = [
            c for c in CHECKS if not asked.words or any(word in c.__name__ for word in asked.words)
        ]
        for function in chosen:
            bench.notes = []
            name = function.__name__.replace("_", " ")
            try:
                function(bench)
                print("ok    " + name + "".join(" (%s)" % note for note in bench.notes), flush=True)
            except Exception as error:  # a failing check must not hide the others
                failed += 1
                print("FAIL  %s: %s" % (name, error), flush=True)
                if not isinstance(error, AssertionError):
                    traceback.print_exc()
        print("%d checks, %d failed" % (len(chosen), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(arguments()))

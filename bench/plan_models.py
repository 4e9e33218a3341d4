#!/usr/bin/env python3
"""Plans real models with the command and prints a table of the results.

    plan_models.py FOLDER --stowage COMMAND [--only LABEL …] [--repeat N] [--table FILE]
                   [--with=OPTION …]
    plan_models.py FOLDER --stowage COMMAND… --budget WORDS… [--start] …

FOLDER is what scripts/fetch-models.sh filled; FILE lists other models in the form of
tests/onnx/models/models.txt. Times are medians of N runs; a run of more than two seconds is not
repeated.

With --budget, or more than one command, the table compares them: a row per model and budget, and
for each command the arena, its outcome, and the CPU time of the whole command. A budget is what is
added to the command line, '--nodes 1M' or '' for none. An arena that a command made larger with a
budget than without, or than the command before it, is marked with !. With --start, the row also
has how long `stowage run` took until the first step, which includes planning with the kernels'
scratch.
"""
import argparse
import os
import re
import resource
import shlex
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "onnx", "models"))
import model_table  # noqa: E402

LONG_MS = 2000  # not repeated
UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}


class Run:
    """One run of the command: what it printed, and what it took."""

    def __init__(self, words):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.wall = (time.perf_counter() - start) * 1e3
        self.cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3
        self.code, self.text = done.returncode, done.stdout
        self.error = (done.stderr.strip().splitlines() or [""])[0]

    def bytes(self, what):
        found = re.search(r"^  %s +(\d+) B" % what, self.text, re.M)
        return int(found.group(1)) if found else 0

    def word(self, what):
        found = re.search(r"^  %s +(\w+)" % what, self.text, re.M)
        return found.group(1) if found else ""


def repeat(words, times):
    runs = [Run(words)]
    while len(runs) < times and runs[-1].wall < LONG_MS:
        runs.append(Run(words))
    return runs


def row(entry, options):
    runs = repeat([options.stowage[0], "plan", entry.path, *entry.args, *options.with_,
                   "--hints", "never"],
                  options.repeat)
    done = runs[0]
    if done.code != 0:
        return f"| {entry.label} | exit {done.code}: {done.error} |"
    nodes = re.search(r"(\d+) nodes?,", done.text).group(1)
    symbols = re.search(r"^  symbols +(.*(?:\n {18}.*)*)", done.text, re.M)
    bound, arena = done.bytes("lower bound"), done.bytes("arena")
    cells = [entry.label, nodes, re.sub(r"\s+", " ", symbols.group(1)) if symbols else "",
             done.bytes("weights"), done.bytes("without sharing"), arena, bound,
             f"{100 * (arena - bound) / bound:.2f} %" if bound else "", done.word("outcome"),
             f"{statistics.median(r.wall for r in runs):.0f}"]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def start_ms(entry, command, options, budget, times):
    """What `run` reports as its start, or nothing if it refuses."""
    words = [command, "run", entry.path, *entry.args, *options.with_, *budget, "--random", "1"]
    found = [re.search(r"^  start +([\d.]+) (\w+)", r.text, re.M) for r in repeat(words, times)]
    return f"{statistics.median(float(f[1]) * UNITS[f[2]] for f in found):.0f}" if all(found) else ""


def compare(entry, options):
    """A row per budget; what got worse is marked."""
    usual = {}
    for text in options.budget:
        budget = shlex.split(text)
        cells, previous = [entry.label, f"`{text}`" if text else ""], None
        for command in options.stowage:
            runs = repeat([command, "plan", entry.path, *entry.args, *options.with_, *budget],
                          options.repeat)
            arena = runs[0].bytes("arena")
            if runs[0].code != 0:
                cells += [f"exit {runs[0].code}", "", ""]
            else:
                worse = arena > usual.setdefault(command, arena) or previous and arena > previous
                cells += [f"{arena}{' !' if worse else ''}", runs[0].word("outcome"),
                          f"{statistics.median(r.cpu for r in runs):.0f}"]
                previous = arena
            if options.start:
                cells.append(start_ms(entry, command, options, budget, options.repeat))
        yield "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--stowage", required=True, nargs="+", help="the command, or several builds")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--table", help="a list of other models")
    parser.add_argument("--with", dest="with_", action="append", default=[],
                        help="a further option of the command, as in --with=--rewrite=none; may "
                        "be repeated")
    parser.add_argument("--budget", nargs="+", help="words that are added, such as '--nodes 1M'")
    parser.add_argument("--start", action="store_true", help="also the start of `stowage run`")
    options = parser.parse_args()
    entries, _ = model_table.read_table(options.folder, options.only, options.table)
    if options.budget is None and len(options.stowage) == 1:
        print("| model | nodes | symbols | weights B | without sharing B | arena B | bound B | gap "
              "| outcome | ms |")
        print("|" + " --- |" * 10)
        for entry in entries:
            print(row(entry, options), flush=True)
        return 0
    options.budget = options.budget or [""]
    heads = ["arena B", "outcome", "CPU ms"] + ["start ms"] * options.start
    print("| model | budget | " + " | ".join(heads * len(options.stowage)) + " |")
    print("|" + " --- |" * (2 + len(heads) * len(options.stowage)))
    for entry in entries:
        for line in compare(entry, options):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

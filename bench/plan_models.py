#!/usr/bin/env python3
"""Plans real models with the command and prints a table of the results.

    plan_models.py FOLDER --stowage COMMAND [--only LABEL …] [--repeat N]

FOLDER is what scripts/fetch-models.sh filled. Times are those of the whole command, from start to
exit, medians of N runs.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "onnx", "models"))
import model_table  # noqa: E402


def number(text, what):
    found = re.search(r"^  %s +(\d+) B" % what, text, re.M)
    return int(found.group(1)) if found else 0


def plan(entry, command):
    start = time.perf_counter()
    done = subprocess.run([command, "plan", entry.path, *entry.args], capture_output=True, text=True,
                          check=False)
    return done, (time.perf_counter() - start) * 1e3


def row(entry, options):
    runs = [plan(entry, options.stowage) for _ in range(options.repeat)]
    done = runs[0][0]
    if done.returncode != 0:
        return f"| {entry.label} | exit {done.returncode}: {done.stderr.strip().splitlines()[0]} |"
    text = done.stdout
    nodes = re.search(r"(\d+) nodes?,", text).group(1)
    symbols = re.search(r"^  symbols +(.*(?:\n {18}.*)*)", text, re.M)
    bound, arena = number(text, "lower bound"), number(text, "arena")
    outcome = re.search(r"^  outcome +(\w+)", text, re.M).group(1)
    cells = [entry.label, nodes, re.sub(r"\s+", " ", symbols.group(1)) if symbols else "",
             number(text, "weights"), number(text, "without sharing"), arena, bound,
             f"{100 * (arena - bound) / bound:.2f} %" if bound else "", outcome,
             f"{statistics.median(ms for _, ms in runs):.0f}"]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--stowage", required=True, help="the command")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    entries, _ = model_table.read_table(options.folder, options.only)
    print("| model | nodes | symbols | weights B | without sharing B | arena B | bound B | gap "
          "| outcome | ms |")
    print("|" + " --- |" * 10)
    for entry in entries:
        print(row(entry, options), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The gain of a better order: plans the graphs of bench/orders as given and in the order found.

    compare_orders.py --stowage COMMAND [FILE …]

Arenas in kB: by the order alone, every result with its own bytes; then with in-place results and copy
elision as well. Inputs are consumed, weights are not in the arena.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PLAN = ["--format", "json", "--io", "consume", "--weights", "file", "--align", "16"]
PLAIN = ["--no-in-place", "--keep-copies"]


def plan(options, path, graph, words):
    start = time.perf_counter()
    done = subprocess.run([options.stowage, "plan", path, "--graph", graph, *PLAN, *words],
                          capture_output=True, text=True, check=False)
    took = (time.perf_counter() - start) * 1e3
    if done.returncode != 0:
        sys.exit(f"{path} @{graph}: {done.stderr.strip()}")
    return {**json.loads(done.stdout), "ms": took}


def kb(count):
    return "" if count is None else f"{count / 1e3:.{1 if count >= 1e5 else 3}f}"


def row(options, path, graph):
    cells = [os.path.splitext(os.path.basename(path))[0], graph.replace("_", " ")]
    for shared in (PLAIN, []):
        given = plan(options, path, graph, [*shared, "--order", "given"])
        better = plan(options, path, graph, [*shared, "--order", "auto"])
        before, after = given["arena_size"], better["arena_size"]
        cells += [kb(before), kb(after), f"{after / before:.2f}",
                  kb(better.get("ordering", {}).get("any_bound") or None)]
    return "| " + " | ".join([*cells, f"{better['ms']:.0f}"]) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--stowage", required=True, help="the command")
    options = parser.parse_args()
    print("| network | order | order alone: before | after | ratio | any order ≥ "
          "| all on: before | after | ratio | any order ≥ | ms |")
    print("|" + " --- |" * 11)
    for path in options.files or sorted(glob.glob(os.path.join(HERE, "orders", "*.stow"))):
        with open(path, encoding="utf-8") as text:
            graphs = re.findall(r"^graph @(\w+)", text.read(), re.M)
        for graph in graphs:
            print(row(options, path, graph), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

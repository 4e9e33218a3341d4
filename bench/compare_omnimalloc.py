#!/usr/bin/env python3
"""OmniMalloc's benchmark with Stowage in it, on a folder of MiniMalloc's CSV files.

    compare_omnimalloc.py FOLDER [--only A,B,…] [--seconds 3] [--allocators NAME,…]

Percent above the highest load, and seconds, of each allocator; searches stop after --seconds.
`stowage, nodes` is the budget of `stowage solve`, which takes as long as it takes. OmniMalloc
validates every placement. Needs what `scripts/adapters.sh omnimalloc` installs.
"""
import argparse

from omnimalloc.allocators import BaseAllocator
from omnimalloc.benchmark import MinimallocSource, run_benchmark

import stowplan.adapters.omnimalloc  # noqa: F401: registers `stowage`

# The rest are the parts of `greedy_by_all`, and what knows nothing of sizes.
ALLOCATORS = ("omni,best_fit,greedy_by_all,hill_climb,simulated_annealing,tabu_search,telamalloc,"
              "supermalloc,stowage")


def columns(names, seconds):
    for name in names:
        kind = BaseAllocator.get(name)
        try:
            yield name, kind(timeout=seconds)
        except TypeError:
            yield name, kind()
    yield "stowage, nodes", BaseAllocator.get("stowage")(timeout=None)


def seconds(time):
    return f"{time:.{0 if time >= 10 else 1 if time >= 0.1 else 3}f}"


def cell(report):
    bound = report.lower_bound
    above = 100 * (report.mean_peak_size - bound) / bound
    return f"{'**0**' if above == 0 else f'{above:.3f}'} · {seconds(report.mean_seconds)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--only", help="names of instances")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--allocators", default=ALLOCATORS)
    options = parser.parse_args()
    source = MinimallocSource(csv_dir=options.folder)
    variants = tuple(options.only.split(",")) if options.only else source.get_available_variants()
    rows = dict(columns(options.allocators.split(","), options.seconds))
    print("| instance | load, B |", " | ".join(rows), "|")
    print("| --- | ---: |", " | ".join("---:" for _ in rows), "|")
    for variant in variants:
        reports = [run_benchmark((allocator,), (source,), (variant,)).reports[0]
                   for allocator in rows.values()]
        print(f"| {variant} | {reports[0].lower_bound:,} |", " | ".join(map(cell, reports)), "|",
              flush=True)


if __name__ == "__main__":
    main()

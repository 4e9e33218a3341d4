#!/usr/bin/env python3
"""Compares arenas and times of models with rows that stream and without.

    compare_streams.py --stowage COMMAND [--models FOLDER] [--table TABLE] [--only LABEL …]
                       [--rows off,auto,4,2,1] [--rounds N] [--repeat N] [--plan-only]

Without --models the networks that networks.py writes, otherwise those of TABLE
(tests/onnx/models/models.txt) in FOLDER. Arenas are beside inputs and outputs, with scratch. Times
are processor time of a run on one thread, the median of rounds in which all take turns; ratios are
those of the same round to `off`. --plan-only leaves them out. Every streamed run is compared with
the model as it is, bit for bit (`run --check`).
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NETWORKS = ["mobilenet", "mobilenet --bytes", "mobilenet --bytes --width 0.35 --size 144", "superres",
            "superres --size 256"]


def networks(folder):
    for line in NETWORKS:
        path = os.path.join(folder, line.replace(" ", "") + ".stow")
        with open(path, "w", encoding="utf-8") as file:
            subprocess.run([sys.executable, os.path.join(HERE, "networks.py"), *line.split()],
                           stdout=file, check=True)
        yield line, [path, "--kernels", "stowage", "--weights", "file"]


def models(folder, table):
    for line in open(table, encoding="utf-8"):
        words = shlex.split(line, comments=True)
        if words:
            yield words[0], [os.path.join(folder, words[1]), *words[2:]]


def call(options, command, model, rows, more):
    done = subprocess.run([options.stowage, command, *model, "--io", "external", "--stream", rows,
                           "--format", "json", *more], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[0] if done.stderr else "no plan")
    return json.loads(done.stdout)


def measure(options, label, model):
    arenas, times, ratios = {}, {}, {}
    for rows in options.rows:
        report = call(options, "plan", model, rows, ["--hints", "never"])
        arenas[rows] = report["arena_size"]
        if not options.plan_only and rows != "off":
            call(options, "run", model, rows, ["--random", "1", "--check"])
    for _ in range(0 if options.plan_only else options.rounds):
        taken = {}
        for rows in options.rows:
            report = call(options, "run", model, rows,
                          ["--random", "1", "--repeat", str(options.repeat)])
            taken[rows] = report["nanoseconds"]["processor"] / 1e6
            times.setdefault(rows, []).append(taken[rows])
            ratios.setdefault(rows, []).append(taken[rows] / taken[options.rows[0]])
    cells = []
    for rows in options.rows:
        cells.append(f"{arenas[rows]:,}")
        if times:
            cells.append(f"{statistics.median(times[rows]):.2f} "
                         f"({statistics.median(ratios[rows]):.2f})")
    print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stowage", required=True)
    parser.add_argument("--models")
    parser.add_argument("--table", default=os.path.join(HERE, "../tests/onnx/models/models.txt"))
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--rows", default="off,auto,1", type=lambda text: text.split(","))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--plan-only", action="store_true")
    options = parser.parse_args()
    head = [part for rows in options.rows
            for part in ([f"{rows}, B"] if options.plan_only else [f"{rows}, B", "ms (ratio)"])]
    print("| model | " + " | ".join(head) + " |\n| --- |" + " ---: |" * len(head), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        found = networks(folder) if options.models is None else models(options.models, options.table)
        for label, model in found:
            if options.only is None or label in options.only:
                try:
                    measure(options, label, model)
                except RuntimeError as error:
                    print(f"{label}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()

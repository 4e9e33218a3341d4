#!/usr/bin/env python3
"""Runs real models with the scratch that fits and with the fastest kernels, and prints a table.

    compare_kernels.py FOLDER --stowage COMMAND [--only LABEL …] [--rounds N] [--repeat N]

FOLDER is what scripts/fetch-models.sh filled. For each model the arena of its tensors alone, the
arena with scratch that fits and what it takes more, that with the fastest variants, and the time of
one run, of both. Times are the shortest of N rounds of N runs each, in which the two take turns: a
machine that does other work too makes runs longer, never shorter.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "onnx", "models"))
import model_table  # noqa: E402

COLUMNS = ["model", "tensors MB", "fits: MB", "more", "ms", "fastest: MB", "ms", "ratio"]
FASTEST = ["--kernels", "fastest"]


def ask(words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or ["failed"])[0])
    return json.loads(done.stdout)


def row(entry, options):
    plan = [options.stowage, "plan", entry.path, *entry.args, *options.with_, "--format", "json"]
    run = [options.stowage, "run", entry.path, *entry.args, *options.with_, "--random", "1",
           "--format", "json", "--repeat", str(options.repeat)]
    tensors = ask([*plan, "--kernels", "none"])["arena_size"]
    arenas, best = [0, 0], [float("inf")] * 2
    for _ in range(options.rounds):
        for i, words in enumerate(([], FASTEST)):
            found = ask([*run, *words])
            arenas[i] = found["arena"]
            best[i] = min(best[i], found["nanoseconds"]["min"] / 1e6)
    return [entry.label, f"{tensors / 1e6:.3f}", f"{arenas[0] / 1e6:.3f}",
            f"{100 * (arenas[0] - tensors) / tensors:.2f} %", f"{best[0]:.4g}",
            f"{arenas[1] / 1e6:.3f}", f"{best[1]:.4g}", f"{best[0] / best[1]:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--stowage", required=True)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--with", dest="with_", action="append", default=[],
                        help="a further option of the command, as in --with=--rewrite=none; may "
                        "be repeated")
    options = parser.parse_args()
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS))
    entries, _ = model_table.read_table(options.folder, options.only)
    for entry in entries:
        try:
            cells = row(entry, options)
        except RuntimeError as error:
            cells = [entry.label, str(error)]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

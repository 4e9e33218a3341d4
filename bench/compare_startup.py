#!/usr/bin/env python3
"""Compares what it takes to be ready to run: processor time, in ms, one thread, the least of several.

    compare_startup.py --stowage COMMAND --models FOLDER [--table FILE] [--only LABEL …] [--repeat N]

--models is what scripts/fetch-models.sh filled. Needs onnxruntime. *plan* is the whole process of
`stowage plan`; *start* is what `stowage run` says it takes before the first run: reading the
model, rewriting, planning, proving the plan, folding and packing weights, but not making random
inputs; *fold* is the part of that for folding, on the clock. Theirs is creating a session from the
file, without loading the library.
"""
import argparse
import json
import os
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "onnx", "models"))
import model_table  # noqa: E402

SESSION = """
import time, onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.log_severity_level = 4
begun = time.process_time()
onnxruntime.InferenceSession({path!r}, options, providers=["CPUExecutionProvider"])
print((time.process_time() - begun) * 1e3)
"""


def children_ms():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e3


def measure(words):
    """Processor time of a command, and what it printed."""
    before = children_ms()
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[0])
    return children_ms() - before, done.stdout


def start(options, entry):
    """Nanoseconds that the command says it took to start, and to fold weights."""
    words = [options.stowage, "run", entry.path, "--random", "1", "--format", "json", *entry.args]
    times = json.loads(measure(words)[1])["nanoseconds"]
    return times["start_processor"] / 1e6, (times.get("fold") or 0) / 1e6


def least(count, what):
    return min(what() for _ in range(count))


def compare(options, entry):
    plan = least(options.repeat, lambda: measure(
        [options.stowage, "plan", entry.path, *entry.args])[0])
    theirs = least(options.repeat, lambda: float(measure(
        [sys.executable, "-c", SESSION.format(path=entry.path)])[1]))
    ready, fold = least(options.repeat, lambda: start(options, entry))
    return plan, ready, fold, theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stowage", required=True, help="the command")
    parser.add_argument("--models", required=True)
    parser.add_argument("--table", help="models in the folder, as tests/onnx/models/models.txt")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print("| model | plan | start | fold | session | start / session |\n|" + " --- |" * 6)
    for entry in model_table.read_table(options.models, options.only, options.table)[0]:
        try:
            plan, ready, fold, theirs = compare(options, entry)
        except RuntimeError as error:
            print(f"{entry.label}: {error}", file=sys.stderr)
            continue
        print(f"| {entry.label} | {plan:.1f} | {ready:.1f} | {fold:.1f} | {theirs:.1f} "
              f"| {ready / theirs:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

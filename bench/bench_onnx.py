#!/usr/bin/env python3
"""The cost of inferring all shapes of a model: Stowage, onnx and onnxruntime.

    bench_onnx.py FOLDER --ours BENCH_ONNX [--only LABEL …] [--repeat N]

FOLDER is what scripts/fetch-models.sh filled. Every measurement is its own process, the three sides
in turn; the table has the medians of N runs, and each process's peak of resident memory (for Python
including the interpreter and the packages, which are printed too).
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "onnx", "models"))


def peak_mb():
    """Of this program alone: getrusage includes the process that started it."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(l.split()[1]) for l in lines if l.startswith("VmHWM")) / 1024


def measure_onnx(entry):
    import onnx
    import model_table
    before = peak_mb()
    start = time.perf_counter()
    model = onnx.load(entry.path)
    loaded = time.perf_counter()
    model_table.bind_inputs(model, entry.binds)
    onnx.shape_inference.infer_shapes(model, data_prop=True)
    done = time.perf_counter()
    return {"load": (loaded - start) * 1e3, "infer": (done - loaded) * 1e3, "rss": peak_mb(),
            "idle": before}


def measure_session(entry):
    import onnxruntime
    before = peak_mb()
    start = time.perf_counter()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    onnxruntime.InferenceSession(entry.path, options, providers=["CPUExecutionProvider"])
    done = time.perf_counter()
    return {"create": (done - start) * 1e3, "rss": peak_mb(), "idle": before}


def measure_ours(entry, program):
    done = subprocess.run([program, entry.path, "--repeat", "1", *entry.args], check=True,
                          capture_output=True, text=True)
    opened, imported, planned, arena, kib = done.stdout.split()
    return {"open": float(opened), "import": float(imported), "plan": float(planned),
            "arena": int(arena) / 1e6, "rss": int(kib) / 1024}


def in_child(side, options, label):
    done = subprocess.run([sys.executable, __file__, options.folder, "--ours", options.ours,
                           "--only", label, "--child", side], check=True, capture_output=True,
                          text=True)
    return json.loads(done.stdout)


def medians(runs):
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def measure_all(entry, options):
    sides = {"ours": [], "onnx": [], "session": []}
    for _ in range(options.repeat):
        sides["ours"].append(measure_ours(entry, options.ours))
        sides["onnx"].append(in_child("onnx", options, entry.label))
        sides["session"].append(in_child("session", options, entry.label))
    return {side: medians(runs) for side, runs in sides.items()}


def print_row(entry, sides):
    o, x, s = sides["ours"], sides["onnx"], sides["session"]
    size = os.path.getsize(entry.path) / 1e6
    print(f"| {entry.label} | {size:.0f} | {o['open']:.2f} | {o['import']:.2f} | {o['plan']:.2f} "
          f"| {o['arena']:.2f} | {o['rss']:.1f} | {x['load']:.0f} | {x['infer']:.0f} "
          f"| {x['rss']:.0f} ({x['idle']:.0f}) | {s['create']:.0f} "
          f"| {s['rss']:.0f} ({s['idle']:.0f}) |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--ours", required=True, help="the program bench_onnx")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--child", choices=("onnx", "session"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    import model_table
    entries, _ = model_table.read_table(options.folder, options.only)
    if options.child:
        measure = measure_onnx if options.child == "onnx" else measure_session
        print(json.dumps(measure(entries[0])))
        return 0
    print("| model | MB | open ms | import ms | plan ms | arena MB | peak MB | onnx load ms "
          "| infer_shapes ms | peak (idle) MB | onnxruntime session ms | peak (idle) MB |")
    print("|" + " --- |" * 12)
    for entry in entries:
        try:
            print_row(entry, measure_all(entry, options))
        except subprocess.CalledProcessError as error:
            reason = (error.stderr or "").strip().splitlines()
            print(f"| {entry.label} | failed: {reason[-1] if reason else error} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares the plan of a range of shapes with plans made for single shapes.

    compare_ranges.py --stowage COMMAND --models FOLDER [--only LABEL …] [--points N]
                      [--with=OPTION …]

--models is what scripts/fetch-models.sh filled; which ranges its models get is below. For each one:
points of the range, regions, the largest difference of the arena from the smallest plan that is
found for the shape alone, in percent where that is above 64 KiB and in bytes below, and where; the
mean arena at the points in parts of the largest; seconds of CPU to plan the range. The shapes are N
points: the first four, the last, borders of regions, and others evenly spaced. --with adds an
option to the plans of single shapes, such as --with=--time=5s.
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

# Symbols with ranges; the others have the numbers of models.txt. Some models are compared twice.
RANGES = {
    "minilm": ["sequence_length=1..512"],
    "gte-small": ["sequence_length=1..512"],
    "bert": ["sequence=1..512"],
    "bert-tiny-int8": ["sequence_length=1..512"],
    "minimind": ["past_sequence_length=0..256",
                 "sequence_length=1..32 past_sequence_length=0..64"],
    "whisper-decoder": ["past_decoder_sequence_length=1..128"],
    "ppocr-detect": ["p2o.DynamicDimension.1=32..960/32 p2o.DynamicDimension.2=32..960/32"],
    "ppocr-recognise": ["p2o.DynamicDimension.1=32..640/8"],
    "ppocr-angle": ["p2o.DynamicDimension.1=48..96/16 p2o.DynamicDimension.2=32..320/16"],
    "modnet": ["height=32..512/32 width=32..512/32"],
    "yolo11n": ["height=320..1280/32 width=320..1280/32"],
    "ddddocr": ["image_width=16..400/8"],
    "ddddocr-old": ["image_width=16..400/8"],
}
SMALL = 64 << 10


def plan(options, entry, binds, more=()):
    args = [word for name, bind in binds.items() for word in ("--bind", f"{name}={bind}")]
    for option, argument in zip(entry.args[::2], entry.args[1::2]):
        args += [] if option == "--bind" else [option, argument]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([options.stowage, "plan", entry.path, "--format", "json",
                           "--rewrite", "exact", *args, *more],
                          capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[0])
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def choose(points, count):
    """Ends, borders of regions unless there are many, and points between them, evenly spaced."""
    chosen = {0, 1, 2, 3, len(points) - 1}
    borders = [i for i in range(1, len(points)) if points[i]["region"] != points[i - 1]["region"]]
    chosen |= {i - back for i in borders[:count // 4] for back in (0, 1)}
    chosen = {i for i in chosen if i < len(points)}
    spaced = 2
    while len(chosen) < min(count, len(points)):
        chosen |= {i * (len(points) - 1) // (spaced - 1) for i in range(spaced)}
        spaced += 1
    return sorted(chosen)


def bindings(entry, symbols, at):
    """The numbers of a point; a symbol that is a sum of others has that of the sum."""
    binds = {name: number for name, number in entry.binds.items() if "+" not in name}
    binds.update(zip(symbols, at))
    for name in entry.binds:
        if "+" in name:
            binds[name] = sum(binds[part.strip()] for part in name.split("+"))
    return binds


def compare(options, entry, given):
    ranges = dict(bind.split("=") for bind in given.split())
    whole, seconds = plan(options, entry, {
        **{name: number for name, number in entry.binds.items() if "+" not in name}, **ranges})
    symbols = [symbol["name"] for symbol in whole["symbols"]]
    large, small = (0, None), (0, None)
    points = whole["points"]
    chosen = choose(points, options.points)
    for i in chosen:
        own = plan(options, entry, bindings(entry, symbols, points[i]["at"]),
                   options.more)[0]["arena_size"]
        over = points[i]["arena_size"] - own
        if points[i]["arena_size"] > SMALL:
            large = max(large, (100 * over / own, points[i]["at"]), key=lambda pair: pair[0])
        else:
            small = max(small, (over, points[i]["at"]), key=lambda pair: pair[0])
    mean = sum(points[i]["arena_size"] for i in chosen) / len(chosen) / whole["largest_arena"]
    return [entry.label, given.replace(" ", ", "), len(points), len(whole["regions"]),
            len(chosen), show("%.2f %%", large), show("%d B", small), f"{100 * mean:.0f} %",
            f"{seconds:.1f}"]


def show(form, worst):
    return "–" if worst[1] is None else f"{form % worst[0]} at {','.join(map(str, worst[1]))}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stowage", required=True, help="the command")
    parser.add_argument("--models", required=True)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--points", type=int, default=40)
    parser.add_argument("--with", dest="more", action="append", default=[], help="see above")
    options = parser.parse_args()
    print("| model | range | points | regions | compared | above 64 KiB | below | mean | s |")
    print("|" + " --- |" * 9)
    for entry in model_table.read_table(options.models, options.only or RANGES)[0]:
        for given in RANGES[entry.label]:
            try:
                cells = compare(options, entry, given)
            except RuntimeError as failure:
                cells = [entry.label, given, str(failure)]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()

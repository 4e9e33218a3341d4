#!/usr/bin/env python3
"""Compares the memory that Stowage plans for models with what onnxruntime's planner allocates.

    compare_onnxruntime.py --stowage COMMAND --theirs BENCH_ONNXRUNTIME
                           [--models FOLDER [--table FILE]] [--light FOLDER] [--only LABEL …]
                           [--repeat N] [--json FILE] [--best]

--models is what scripts/fetch-models.sh filled, --light the folder of the light CNNs of the ONNX
backend suite. Needs onnx and numpy.

Inputs, outputs and weights are counted on neither side: the buffers of inputs and outputs are the
caller's on both, and weights stay in the file here and in the session there. Scratch of kernels is
not included either, except where stated.

Ours is planned for the model as it is (--rewrite none), and for the graph after onnxruntime's level
1, so that both planners see the same operators. Of the light CNNs, which compute their weights at run
time, only the latter is planned: there they are constants.

Theirs is what bench_onnxruntime counts at level 1: the block that a run allocates by its plan. It is
measured with the symbols open and with numbers in their place, where its planner works differently;
the smaller block is shown. If a model has If or Loop, the block does not include their bodies: the
highest sum of live bytes of the run is shown instead, marked *, including scratch of kernels.

With --best, everything that a run needs besides weights and inputs is compared: ours is the arena
with outputs and scratch, as `stowage plan` says by default and with --rewrite none. Theirs is the
smaller of the planned block plus outputs and of the highest sum of live bytes, over all levels of
optimisation, with the symbols open and with numbers in their place.
"""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "onnx", "models"))
import model_table  # noqa: E402

# The options of each column: each adds to the one before.
STEPS = (("plain", ["--no-in-place", "--keep-copies", "--order", "given"]),
         ("+ in place", ["--keep-copies", "--order", "given"]),
         ("+ copy elision", ["--order", "given"]),
         ("+ order", ["--order", "auto"]))


# Inputs that must hold certain values in a run. Piper and curie add noise to the durations that they
# predict: without it every run makes as many frames as the one before. Kokoro makes thousands of
# frames of random tokens unless it speaks fast.
RUN_VALUES = {"piper": {"scales": [0, 1, 0]}, "curie": {"scales": [0, 1, 0]},
              "kokoro": {"speed": [12], "style": [0]}}


class LightEntry:
    """A model without symbols, from the suite, with the members of a line of the table."""

    def __init__(self, path):
        self.label = os.path.splitext(os.path.basename(path))[0]
        self.path = path
        self.args, self.binds, self.values = [], {}, {}


def words_of(entry, *wanted):
    """The words of an entry whose options are among those wanted."""
    pairs = zip(entry.args[::2], entry.args[1::2])
    return [word for pair in pairs if pair[0] in wanted for word in pair]


def run_json(words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(lines[0] if lines else f"exit {done.returncode}")
    return json.loads(done.stdout)


def write_inputs(model, values, scratch):
    """The words that give bench_onnxruntime its inputs; their elements go to files."""
    import onnx
    words = []
    for k, (name, array) in enumerate(model_table.make_feeds(model, values).items()):
        path = os.path.join(scratch, f"input{k}")
        array.tofile(path)
        words += ["--input", name, str(onnx.helper.np_dtype_to_tensor_dtype(array.dtype)),
                  "x".join(map(str, array.shape)) or "-", path]
    return words


def declare_outputs(model, names):
    """Makes tensors outputs too, to get their shapes."""
    import onnx
    have = {info.name for info in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in have)


def run_theirs(model, entry, options, scratch, name, level="1"):
    """One session: saves the model, runs it, and leaves its graph after that level."""
    import onnx
    path = os.path.join(scratch, name + ".onnx")
    onnx.save(model, path)
    bound = onnx.ModelProto()
    bound.CopyFrom(model)
    model_table.bind_inputs(bound, entry.binds)
    values = {**entry.values, **RUN_VALUES.get(entry.label, {})}
    found = attempt(lambda: run_json([
        options.theirs, path, "--level", level,
        "--save", os.path.join(scratch, f"{name}-{level}.onnx"),
        *write_inputs(bound, values, scratch)]))
    os.remove(path)
    return found


def has_bodies(graph):
    return any(node.op_type in ("If", "Loop", "Scan") for node in graph.node)


def measure_theirs(entry, options, scratch):
    """With symbols open and with numbers in their place; returns the better one."""
    import onnx
    model = onnx.load(entry.path)
    declare_outputs(model, [w.rsplit("=", 1)[0] for w in words_of(entry, "--shape")[1::2]])
    theirs = {"open": run_theirs(model, entry, options, scratch, "open")}
    if entry.binds:
        model_table.bind_inputs(model, entry.binds)
        theirs["numbers"] = run_theirs(model, entry, options, scratch, "numbers")
    what = "peak" if has_bodies(model.graph) else "block"
    counted = [found[what] for found in theirs.values() if what in found]
    return {**theirs, "what": what, "bytes": min(counted, default=None)}


def shapes_seen(entry, theirs):
    """The --shape words of an entry, with the shapes of the run."""
    words = []
    for word in words_of(entry, "--shape")[1::2]:
        name = word.rsplit("=", 1)[0]
        dims = theirs["open"].get("outputs", {}).get(name)
        words += ["--shape", f"{name}={'x'.join(map(str, dims))}" if dims else word]
    return words


def level1_graph(entry, scratch):
    """The file of the graph after level 1, and its open symbols."""
    numbers = os.path.join(scratch, "numbers-1.onnx")
    if os.path.exists(numbers):
        return numbers, []
    return os.path.join(scratch, "open-1.onnx"), words_of(entry, "--bind")


def occupied(value, step):
    """What a root occupies, windows considered."""
    for begin, end, low, high in value.get("windows", ()):
        if begin <= step < end:
            return high - low
    return value["size"]


def highest_load(plan):
    peak = plan["peak"]
    roots = {value["id"]: value for value in plan["values"]}
    return sum(occupied(roots[v], peak["step"]) for v in peak["values"]) + peak["scratch"]


def plan_once(command, path, words):
    plan = run_json([command, "plan", path, "--format", "json", "--io", "external",
                     "--rewrite", "none", *words])
    return {"load": highest_load(plan), "arena": plan["arena_size"],
            "any": plan.get("ordering", {}).get("any_bound") or None}


def plan_steps(options, path, words):
    return {name: plan_once(options.stowage, path, [*words, *flags])
            for name, flags in options.steps}


def planning_ms(options, path, words):
    """The whole command with everything on, from start to exit."""
    times = []
    for _ in range(options.repeat):
        start = time.perf_counter()
        plan_once(options.stowage, path, [*words, *options.steps[-1][1]])
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def attempt(what):
    try:
        return what()
    except RuntimeError as error:
        return {"failed": str(error)}


def compare(entry, options):
    with tempfile.TemporaryDirectory() as scratch:
        theirs = measure_theirs(entry, options, scratch)
        level1, binds = level1_graph(entry, scratch)
        words = words_of(entry, "--value") + shapes_seen(entry, theirs)
        same = attempt(lambda: plan_steps(options, level1, words + binds))
        if isinstance(entry, LightEntry):
            whole, path = same, level1
        else:
            words += words_of(entry, "--bind")
            whole, path = attempt(lambda: plan_steps(options, entry.path, words)), entry.path
        return {"label": entry.label, "theirs": theirs, "ours": whole, "same": same,
                "ms": planning_ms(options, path, words) if "failed" not in whole else None}


LEVELS = ("0", "1", "2", "99")


def output_bytes(model, shapes):
    import onnx
    import numpy
    total = 0
    for info in model.graph.output:
        if not info.type.tensor_type.elem_type:
            continue  # declared for its shape
        dtype = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        total += int(numpy.prod(shapes.get(info.name, [0]))) * numpy.dtype(dtype).itemsize
    return total


def best_theirs(entry, options, scratch):
    """The fewest bytes of any level, (bytes, level, symbols, what was counted), and a run."""
    import onnx
    found, run = [], {}
    for name in ("open", "numbers") if entry.binds else ("open",):
        model = onnx.load(entry.path)
        declare_outputs(model, [w.rsplit("=", 1)[0] for w in words_of(entry, "--shape")[1::2]])
        if name == "numbers":
            model_table.bind_inputs(model, entry.binds)
        for level in LEVELS:
            seen = run_theirs(model, entry, options, scratch, name, level)
            if "failed" in seen:
                print(f"{entry.label}, level {level}: {seen['failed']}", file=sys.stderr)
                continue
            run = seen
            counted = [(seen["unplanned"], level, name, "live bytes")]
            if seen["block"] and not has_bodies(model.graph):
                block = seen["block"] + output_bytes(model, seen["outputs"])
                counted.append((block, level, name, "block and outputs"))
            found += counted
    return min(found) if found else None, run


def compare_best(entry, options):
    with tempfile.TemporaryDirectory() as scratch:
        theirs, run = best_theirs(entry, options, scratch)
    words = words_of(entry, "--bind", "--value") + shapes_seen(entry, {"open": run})
    ours = {}
    for name, more in (("rewritten", []), ("as it is", ["--rewrite", "none"])):
        ours[name] = attempt(lambda m=more: {"arena": run_json(
            [options.stowage, "plan", entry.path, "--format", "json", "--no-inputs", *words, *m])
            ["arena_size"]})
        if "failed" in ours[name]:
            print(f"{entry.label}: {ours[name]['failed']}", file=sys.stderr)
    return {"label": entry.label, "theirs": theirs, "ours": ours}


def print_best(row):
    theirs = row["theirs"]
    arenas = [row["ours"][name].get("arena") for name in ("as it is", "rewritten")]
    cells = [row["label"], *(mb(arena) for arena in arenas), mb(theirs and theirs[0]),
             f"{theirs[3]}, level {theirs[1]}, {theirs[2]}" if theirs else "",
             f"{arenas[1] / theirs[0]:.2f}" if theirs and arenas[1] is not None else ""]
    print("| " + " | ".join(cells) + " |", flush=True)


def print_best_heading():
    print("In MB, with outputs and scratch, without inputs.\n")
    print("| model | as it is | rewritten | onnxruntime | counted | ratio |")
    print("|" + " --- |" * 6)


def mb(count):
    return "" if count is None else f"{count / 1e6:.3f}"


def print_heading(options):
    cells = ["model", *(name for name, _ in options.steps), "any order ≥", "ms", "ours, level 1",
             "onnxruntime", "its live peak", "ours / theirs", "level 1 / theirs"]
    print("Highest load / arena, in MB, for each step; the rest is arenas in MB.\n")
    print("| " + " | ".join(cells) + " |")
    print("|" + " --- |" * len(cells))


def print_row(row, options):
    ours, same, theirs = row["ours"], row["same"], row["theirs"]
    last = options.steps[-1][0]
    cells = [row["label"]]
    for name, _ in options.steps:
        cells.append(f"{mb(ours[name]['load'])} / {mb(ours[name]['arena'])}" if name in ours
                     else "failed")
    cells.append(mb(ours.get(last, {}).get("any")))
    cells.append("" if row["ms"] is None else f"{row['ms']:.0f}")
    cells.append(mb(same[last]["arena"]) if last in same else "failed")
    cells.append(mb(theirs["bytes"]) + ("*" if theirs["what"] == "peak" else ""))
    runs = [theirs[k] for k in ("open", "numbers") if "peak" in theirs.get(k, {})]
    cells.append(mb(min((found["peak"] for found in runs), default=None)))
    for plans in (ours, same):
        cells.append(f"{plans[last]['arena'] / theirs['bytes']:.2f}"
                     if last in plans and theirs["bytes"] else "")
    print("| " + " | ".join(cells) + " |", flush=True)


def entries_of(options):
    entries = []
    if options.models:
        entries += model_table.read_table(options.models, options.only, options.table)[0]
    if options.light:
        light = [LightEntry(path) for path in sorted(glob.glob(options.light + "/*.onnx"))]
        entries += [e for e in light if not options.only or e.label in options.only]
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stowage", required=True, help="the command")
    parser.add_argument("--theirs", required=True, help="the program bench_onnxruntime")
    parser.add_argument("--models")
    parser.add_argument("--table", help="models in the folder, as tests/onnx/models/models.txt")
    parser.add_argument("--light")
    parser.add_argument("--best", action="store_true", help="see above")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", help="all numbers, one object a line")
    parser.add_argument("--plain-only", action="store_true",
                        help="for a command without the options that the other columns need")
    options = parser.parse_args()
    options.steps = (("plain", []),) if options.plain_only else STEPS
    rows = []
    (print_best_heading if options.best else lambda: print_heading(options))()
    for entry in entries_of(options):
        if options.best:
            rows.append(compare_best(entry, options))
            print_best(rows[-1])
            continue
        rows.append(compare(entry, options))
        print_row(rows[-1], options)
        for side in ("ours", "same"):
            if "failed" in rows[-1][side]:
                print(f"{entry.label}: {rows[-1][side]['failed']}", file=sys.stderr)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

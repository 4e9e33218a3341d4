#!/usr/bin/env python3
"""Runs models with Stowage and onnxruntime on the same inputs, and compares them.

    compare_run.py --stowage COMMAND [--models FOLDER] [--light FOLDER] [--only LABEL …]
                   [--rounds N] [--repeat N] [--threads N] [--seed N] [--level LEVEL] [--json FILE]

--models is what scripts/fetch-models.sh filled, --light the folder of the light CNNs of the ONNX
backend suite. Needs onnx, onnxruntime and numpy.

Images are smooth waves in the range that the model expects; sounds and token ids are random.

Error: the largest difference of an output from onnxruntime's, divided by the largest number in that
output; the worst output counts. A float model passes if |a - b| <= 1e-4 max|b| + 1e-6 for every
element, a quantised one with 2e-2 and the same largest element in every row.
Last bit: how far onnxruntime gets from itself if each f32 weight moves by one unit in its last place,
up or down. A network that rounds to 8 bits, or divides by a number close to 0, amplifies that, and
then no two implementations agree better.
Time: with one thread that of the processor, on average over the runs after the first; with more
that of the clock, their median. In each round both sides run, one after the other, in processes of
their own; the time is the median over the rounds, the ratio that of the ratios, and beside it are
the least and the largest. The last line has the geometric mean of the ratios, versions, the
processor and the load of the machine.
Memory: the peak of resident bytes of the process; for onnxruntime without Python and its packages.
Start: from the file to the first run, planning and proof included.
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

# Models with 8-bit weights or activations: other tolerances, and the largest element must agree.
QUANTISED = {"bert-tiny-int8", "minimind", "whisper-encoder", "whisper-decoder", "bert",
             "ddddocr-old"}

# The input ranges of models, if not 0 to 1.
RANGES = {"sface": (0, 255), "u2netp": (-2, 2.5), "modnet": (-1, 1), "whisper-encoder": (-1, 1.5),
          "mobilefacenet": (-1, 1)}

# Inputs that must hold certain values: noise off, token ids that exist.
RUN_VALUES = {"piper": {"scales": [0, 1, 0]}}


class LightEntry:
    """A model without symbols, from the suite, with the members of a line of the table."""

    def __init__(self, path):
        self.label = os.path.splitext(os.path.basename(path))[0]
        self.path = path
        self.args, self.binds, self.values = [], {}, {}


def waves(shape, low, high):
    """A plausible image: a few slow waves along the last two dims."""
    import numpy
    rows, columns = ([1, 1] + list(shape))[-2:]
    down, right = numpy.mgrid[0:rows, 0:columns].astype(numpy.float64)
    planes = int(numpy.prod(shape)) // max(rows * columns, 1)
    made = [numpy.sin(right * (0.031 + 0.007 * (p % 7)) + p) + numpy.sin(down * 0.053 + 2 * p) +
            numpy.sin((right + down) * 0.017 * (1 + p % 3)) for p in range(planes)]
    unit = (numpy.array(made).reshape(shape) + 3) / 6
    return (low + (high - low) * unit).astype(numpy.float32)


def make_inputs(entry, path, seed=1):
    """Writes the inputs of a model as .npz."""
    import numpy
    import onnx
    model = onnx.load(entry.path, load_external_data=False)
    model_table.bind_inputs(model, entry.binds)
    given = {**entry.values, **RUN_VALUES.get(entry.label, {})}
    feeds = model_table.make_feeds(model, given, seed)
    random = numpy.random.default_rng(seed + 1)
    for name, array in feeds.items():
        if name in given:
            continue
        if array.dtype == numpy.float32 and array.ndim > 2:
            feeds[name] = waves(array.shape, *RANGES.get(entry.label, (0, 1)))
        elif name.endswith("input_ids") or name == "input" and array.dtype.kind == "i":
            feeds[name] = random.integers(1, 100, array.shape).astype(array.dtype)
    numpy.savez(path, **feeds)


def resident(process="self", what="VmRSS"):
    """Resident bytes of a process, now or (VmHWM) at its peak; 0 if it has ended."""
    try:
        with open(f"/proc/{process}/status", encoding="ascii") as lines:
            found = [line.split()[1] for line in lines if line.startswith(what)]
    except OSError:
        found = []
    return int(found[0]) * 1024 if found else 0


def run_watched(words, out, err):
    """Runs a command; its exit code, and the most bytes that were resident. Not ru_maxrss: that
    begins with what the parent has."""
    child = subprocess.Popen(words, stdout=out, stderr=err)
    peak = 0
    while child.poll() is None:
        peak = max(peak, resident(child.pid, "VmHWM"))
        time.sleep(0.001)
    return child.returncode, peak


def run_theirs(path, inputs, outputs, threads, repeat, level):
    """In its own process: a session and runs, with time and memory as JSON."""
    import numpy
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.log_severity_level = 3
    feeds = dict(numpy.load(inputs))
    before = resident()
    begin = time.perf_counter()
    session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
    start = time.perf_counter() - begin
    names = [output.name for output in session.get_outputs()]
    times, processor = [], []
    for _ in range(repeat + 1):  # the first one does not count
        begin, begun = time.perf_counter(), time.process_time()
        results = session.run(names, feeds)
        processor.append(time.process_time() - begun)
        times.append(time.perf_counter() - begin)
    numpy.savez(outputs, **{name: result for name, result in zip(names, results)})
    print(json.dumps({
        "start_ms": start * 1e3, "median_ms": statistics.median(times[1:] or times) * 1e3,
        "processor_ms": statistics.mean(processor[1:] or processor) * 1e3,
        "peak_bytes": resident("self", "VmHWM"),
        "before_bytes": before}))


def move_weights(path, moved):
    """The model with each f32 weight moved by one unit in its last place, up or down."""
    import numpy
    import onnx
    model = onnx.load(path)
    random = numpy.random.default_rng(3)
    for tensor in model.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor)
        if array.dtype == numpy.float32 and array.size > 8:  # no scales of a resize
            ends = numpy.where(random.integers(0, 2, array.shape) == 1, numpy.inf, -numpy.inf)
            near = numpy.nextafter(array, ends.astype(numpy.float32))
            near = numpy.where(array == 0, array, near).astype(numpy.float32)
            tensor.CopyFrom(onnx.numpy_helper.from_array(near, tensor.name))
    onnx.save(model, moved)


def measure_theirs(path, scratch, options, name):
    words = [sys.executable, os.path.abspath(__file__), "--theirs", path,
             os.path.join(scratch, "inputs.npz"), os.path.join(scratch, name + ".npz"),
             str(options.threads), str(options.repeat if name == "theirs" else 0), options.level]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError("onnxruntime: " + (done.stderr.strip().splitlines() or ["?"])[-1])
    return json.loads(done.stdout)


def measure_ours(entry, scratch, options):
    words = [options.stowage, "run", entry.path, *entry.args,
             "--inputs", os.path.join(scratch, "inputs.npz"),
             "--outputs", os.path.join(scratch, "ours.npz"),
             "--repeat", str(options.repeat), "--threads", str(options.threads),
             "--format", "json", *options.with_]
    log = os.path.join(scratch, "ours.json")
    errors = os.path.join(scratch, "ours.txt")
    with open(log, "w", encoding="utf-8") as out, open(errors, "w", encoding="utf-8") as err:
        code, peak = run_watched(words, out, err)
    if code != 0:
        with open(errors, encoding="utf-8") as lines:
            raise RuntimeError("stowage: " + (lines.read().strip().splitlines() or ["?"])[-1])
    with open(log, encoding="utf-8") as text:
        found = json.load(text)
    return {"start_ms": found["nanoseconds"].get("start", 0) / 1e6,
            "median_ms": found["nanoseconds"]["median"] / 1e6,
            "processor_ms": found["nanoseconds"]["processor"] / 1e6,
            "arena_bytes": found["arena"], "weights_bytes": found["weights"],
            "peak_bytes": peak}


def compare_outputs(scratch, name, relative, absolute=1e-6):
    """Against onnxruntime's: the largest error over all outputs, whether it is within bounds, and
    whether the largest element of every row is the same."""
    import numpy
    ours = numpy.load(os.path.join(scratch, name + ".npz"))
    theirs = numpy.load(os.path.join(scratch, "theirs.npz"))
    worst, passes, same_top = 0.0, True, True
    for key in theirs.files:
        a, b = ours[key], theirs[key]
        if a.shape != b.shape:
            raise RuntimeError(f"{key}: {list(a.shape)} here, {list(b.shape)} there")
        if b.size == 0:
            continue
        if b.dtype.kind != "f":
            passes = passes and bool((a == b).all())
            continue
        a, b = a.astype(numpy.float64), b.astype(numpy.float64)
        largest = float(numpy.abs(b).max())
        error = float(numpy.abs(a - b).max())
        worst = max(worst, error / largest if largest != 0 else error)
        passes = passes and error <= relative * largest + absolute
        if b.ndim >= 1 and b.shape[-1] > 1:
            same_top = same_top and bool((a.argmax(-1) == b.argmax(-1)).all())
    return {"error": worst, "passes": passes, "same_top": same_top}


def measure_rounds(entry, scratch, options):
    """Both sides as of the last round, with times over all rounds, and their ratios."""
    ours, theirs = [], []
    for _ in range(options.rounds):
        theirs.append(measure_theirs(entry.path, scratch, options, "theirs"))
        ours.append(measure_ours(entry, scratch, options))
    which = "processor_ms" if options.threads == 1 else "median_ms"
    ratios = [a[which] / b[which] for a, b in zip(ours, theirs)]
    for side in (ours, theirs):
        side[-1]["ms"] = statistics.median(one[which] for one in side)
    return {"ours": ours[-1], "theirs": theirs[-1], "ratio": statistics.median(ratios),
            "ratios": sorted(ratios)}


def measure(entry, options):
    found = {"label": entry.label}
    with tempfile.TemporaryDirectory() as scratch:
        try:
            make_inputs(entry, os.path.join(scratch, "inputs.npz"), options.seed)
            found.update(measure_rounds(entry, scratch, options))
            moved = os.path.join(scratch, "moved.onnx")
            move_weights(entry.path, moved)
            measure_theirs(moved, scratch, options, "moved")
            relative = 2e-2 if entry.label in QUANTISED else 1e-4
            found.update(compare_outputs(scratch, "ours", relative))
            found["last_bit"] = compare_outputs(scratch, "moved", relative)["error"]
        except (RuntimeError, OSError, KeyError, ValueError) as error:
            found["failure"] = str(error)
    return found


def megabytes(count):
    return f"{count / 1e6:.1f}"


def show(found):
    if "failure" in found:
        return f"| {found['label']} | {found['failure']} |"
    ours, theirs = found["ours"], found["theirs"]
    return (f"| {found['label']} | {found['error']:.1e} | {found['last_bit']:.1e} | "
            f"{'yes' if found['passes'] else 'NO'} | "
            f"{'yes' if found['same_top'] else 'no'} | {ours['ms']:.2f} | "
            f"{theirs['ms']:.2f} | {found['ratio']:.2f} | {found['ratios'][0]:.2f}–"
            f"{found['ratios'][-1]:.2f} | {megabytes(ours['arena_bytes'])} | "
            f"{megabytes(ours['peak_bytes'])} | "
            f"{megabytes(theirs['peak_bytes'] - theirs['before_bytes'])} | "
            f"{ours['start_ms']:.0f} | {theirs['start_ms']:.0f} |")


HEAD = ("| model | error | last bit | within | top-1 | ms | theirs | ratio | of rounds | arena MB | "
        "peak MB | theirs, without Python | start ms | theirs |\n" + "|" + " --- |" * 14)


def describe(rows, options):
    """The geometric mean, and what it was measured with."""
    import onnxruntime
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    mean = statistics.geometric_mean(ratios) if ratios else float("nan")
    with open("/proc/cpuinfo", encoding="ascii") as lines:
        names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    done = subprocess.run([options.stowage, "--version"], capture_output=True, text=True,
                          check=False)
    time_of = "processor" if options.threads == 1 else "clock"
    return (f"geometric mean {mean:.3f} of {len(ratios)} models, {len([r for r in ratios if r > 1.3])} "
            f"above 1.3; {time_of} time, {options.threads} thread(s), {options.rounds} rounds of "
            f"{options.repeat} runs; {done.stdout.strip()}, onnxruntime {onnxruntime.__version__} "
            f"{options.level}; {len(names)} × {names[0] if names else '?'}, load {os.getloadavg()[0]:.1f}")


def main():
    if sys.argv[1:2] == ["--theirs"]:
        path, inputs, outputs, threads, repeat, level = sys.argv[2:]
        run_theirs(path, inputs, outputs, int(threads), int(repeat), level)
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stowage", required=True)
    parser.add_argument("--models")
    parser.add_argument("--light")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="of random inputs")
    parser.add_argument("--level", default="ORT_ENABLE_ALL")
    parser.add_argument("--with", dest="with_", action="append", default=[],
                        help="a further option of the command, as in --with=--rewrite=none; may "
                        "be repeated")
    parser.add_argument("--json")
    options = parser.parse_args()
    entries = model_table.read_table(options.models, options.only)[0] if options.models else []
    if options.light:
        light = [LightEntry(p) for p in sorted(glob.glob(os.path.join(options.light, "*.onnx")))]
        entries += [e for e in light if not options.only or e.label in options.only]
    rows = []
    print(HEAD)
    for entry in entries:
        rows.append(measure(entry, options))
        print(show(rows[-1]), flush=True)
    print(f"\n{describe(rows, options)}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(rows, out, indent=1)
    return 0 if all(row.get("passes") for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

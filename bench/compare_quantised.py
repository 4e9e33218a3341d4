#!/usr/bin/env python3
"""What the rule `qdq` does for quantised models: arena, error and time, beside onnxruntime.

    compare_quantised.py --stowage COMMAND --models FOLDER [--table FILE] [--only LABEL …]
                         [--quantise] [--rounds N] [--repeat N]

--models and --table are as for the other programs here. With --quantise, models of floats are
quantised first by onnxruntime's quantize_static (QDQ, 8 bits, one scale per channel of weights,
calibrated with two random inputs). Needs onnx, onnxruntime and numpy; --quantise also sympy.

Arenas are in bytes with scratch, without inputs and outputs (--io external): with exact rules alone,
and by default. *quanta* is the largest difference of an output between both, in quanta if it was
dequantised with one scale, else relative to its largest number (`stowage run --check`). Times are
processor time of a run with one thread in ms, medians of N rounds in which all three take turns;
theirs has all optimisations.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "onnx", "models"))
import model_table  # noqa: E402

THEIRS = """
import sys, time, numpy, onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.log_severity_level = 4
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
feeds = dict(numpy.load(sys.argv[2]))
session.run(None, feeds)
begun = time.process_time()
for _ in range(int(sys.argv[3])):
    session.run(None, feeds)
print((time.process_time() - begun) * 1e3 / int(sys.argv[3]))
"""


def bound_model(entry):
    import onnx
    model = onnx.load(entry.path)
    model_table.bind_inputs(model, entry.binds)
    return model


def quantise(entry, path):
    """Writes the model with its symbols bound and its floats quantised; False if it has integers."""
    import onnx
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process
    model = bound_model(entry)
    if any(node.op_type == "DequantizeLinear" for node in model.graph.node):
        return False

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.feeds = iter([model_table.make_feeds(model, entry.values, seed) for seed in (1, 2)])

        def get_next(self):
            return next(self.feeds, None)

    onnx.save(model, path)
    quant_pre_process(path, path)
    quantize_static(path, path, Reader(), quant_format=QuantFormat.QDQ, per_channel=True)
    return True


def stowage(options, words):
    done = subprocess.run([options.stowage, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[0])
    return done.stdout


def run_ms(options, words, rewrite):
    found = stowage(options, ["run", *words, *rewrite, "--repeat", str(options.repeat),
                              "--format", "json"])
    return json.loads(found)["nanoseconds"]["processor"] / 1e6


def arena(options, words, rewrite):
    plan = stowage(options, ["plan", *words, *rewrite, "--io", "external", "--format", "json"])
    return json.loads(plan)["arena_size"]


def error(options, words):
    near = json.loads(stowage(options, ["run", *words, "--check", "--format", "json"])).get("near")
    if not near:
        return "qdq does not fire"
    quanta = near["quanta"]
    return f"{near['relative']:.1e} relative" if quanta is None else f"{quanta:g} quanta"


def compare(options, entry, scratch):
    import numpy
    path, args = entry.path, entry.args
    own = os.path.join(scratch, "quantised.onnx")
    if options.quantise and quantise(entry, own):
        path, args = own, []
    inputs = os.path.join(scratch, "inputs.npz")
    numpy.savez(inputs, **model_table.make_feeds(bound_model(entry), entry.values))
    model = [path, *args]
    words = [*model, "--inputs", inputs]
    exact, default = ["--rewrite", "exact"], []
    times = [], [], []
    for _ in range(options.rounds):
        times[0].append(run_ms(options, words, exact))
        times[1].append(run_ms(options, words, default))
        times[2].append(float(subprocess.run(
            [sys.executable, "-c", THEIRS, path, inputs, str(options.repeat)],
            capture_output=True, text=True, check=True).stdout))
    before, after, theirs = map(statistics.median, times)
    return [entry.label, arena(options, model, exact), arena(options, model, default),
            error(options, words), f"{before:.3f}", f"{after:.3f}", f"{theirs:.3f}",
            f"{after / theirs:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stowage", required=True, help="the command")
    parser.add_argument("--models", required=True)
    parser.add_argument("--table", help="models in the folder, as tests/onnx/models/models.txt")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--quantise", action="store_true", help="see above")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    print("| model | exact: arena | with qdq | error | exact: ms | with qdq | theirs | ratio |")
    print("|" + " --- |" * 8)
    for entry in model_table.read_table(options.models, options.only, options.table)[0]:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                cells = compare(options, entry, scratch)
            except (RuntimeError, subprocess.CalledProcessError) as failure:
                cells = [entry.label, str(failure)]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()

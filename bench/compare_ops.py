#!/usr/bin/env python3
"""Runs single ops with Stowage and onnxruntime, and prints a table.

    compare_ops.py --stowage COMMAND [--only TEXT …] [--rounds N] [--seconds S]

One thread each. Both take turns, round after round: in each, either repeats the op for about S
seconds, and its shortest run counts, as other work of the machine makes runs longer, never shorter.
The table has the medians of all rounds, their ratio, and how far the ratios of single rounds are
apart. Weights are constants of the model, as in a real
one. Needs onnx, onnxruntime and numpy.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

F32, F16, I8, U8, I32 = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT8,
                         TensorProto.UINT8, TensorProto.INT32)
RANDOM = numpy.random.default_rng(1)


def real(*dims, dtype=numpy.float32):
    return RANDOM.uniform(-1, 1, dims).astype(dtype)


def byte(*dims, dtype=numpy.int8):
    return RANDOM.integers(0 if dtype == numpy.uint8 else -128, 127, dims).astype(dtype)


class Case:
    """One node: x is the input, others are constants."""

    def __init__(self, name, op, x, constants=(), out=F32, domain="", **attrs):
        self.name, self.x = name, x
        names = ["x"] + [f"c{i}" for i in range(len(constants))]
        node = helper.make_node(op, names, ["y"], domain=domain, **attrs)
        graph = helper.make_graph(
            [node], "op",
            [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype),
                                           x.shape)],
            [helper.make_tensor_value_info("y", out, None)],
            [numpy_helper.from_array(c, f"c{i}") for i, c in enumerate(constants)])
        opsets = [helper.make_opsetid("", 17)]
        if domain:
            opsets.append(helper.make_opsetid(domain, 1))
        self.model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        if not domain:
            self.model = onnx.shape_inference.infer_shapes(self.model)


def conv(name, channels, size, kernel, out=None, op="Conv", dtype=numpy.float32, group=1, **attrs):
    out = out or channels
    pads = [kernel // 2] * 4 if op == "Conv" else [1] * 4
    dims = (out, channels // group) if op == "Conv" else (channels, out // group)
    return Case(name, op, real(1, channels, size, size, dtype=dtype),
                [real(*dims, kernel, kernel, dtype=dtype)],
                out=F16 if dtype == numpy.float16 else F32, group=group, pads=pads, **attrs)


def conv_integer(name, channels, size, kernel, out=None, group=1, **attrs):
    out = out or channels
    return Case(name, "ConvInteger", byte(1, channels, size, size, dtype=numpy.uint8),
                [byte(out, channels // group, kernel, kernel), numpy.array(117, numpy.uint8)],
                out=I32, group=group, pads=[kernel // 2] * 4, **attrs)


def nbits(name, rows, k, n, block):
    return Case(name, "MatMulNBits", real(rows, k),
                [byte(n, k // block, block // 2, dtype=numpy.uint8), real(n, k // block)],
                domain="com.microsoft", K=k, N=n, bits=4, block_size=block)


def cases():
    million = real(1 << 20) * 4
    yield Case("matmul 128 x 768 x 768", "MatMul", real(128, 768), [real(768, 768)])
    yield Case("matmul 1 x 2048 x 2048", "MatMul", real(1, 2048), [real(2048, 2048)])
    yield conv("conv 3x3, 64 channels, 56 x 56", 64, 56, 3)
    yield conv("conv 1x1, 128 channels, 28 x 28", 128, 28, 1)
    yield conv("depthwise 3x3, 96 channels, 56 x 56", 96, 56, 3, group=96)
    yield conv("depthwise 5x5, 480 channels, 14 x 14", 480, 14, 5, group=480)
    yield conv("depthwise 5x5, 960 channels, 7 x 7", 960, 7, 5, group=960)
    yield Case("matmul_integer 128 x 768 x 768", "MatMulInteger", byte(128, 768, dtype=numpy.uint8),
               [byte(768, 768)], out=I32)
    yield Case("matmul_integer 1 x 2048 x 2048", "MatMulInteger", byte(1, 2048, dtype=numpy.uint8),
               [byte(2048, 2048)], out=I32)
    yield Case("matmul_integer 128 x 768 x 3072", "MatMulInteger",
               byte(128, 768, dtype=numpy.uint8), [byte(768, 3072)], out=I32)
    yield Case("matmul_integer 25 x 1024 x 8210", "MatMulInteger",
               byte(25, 1024, dtype=numpy.uint8), [byte(1024, 8210)], out=I32)
    yield conv_integer("conv_integer 3x3, 64 channels, 28 x 28", 64, 28, 3)
    yield conv_integer("conv_integer 3x3, stride 2, 64 channels, 28 x 28", 64, 28, 3, strides=[2, 2])
    yield conv_integer("conv_integer 1x1, 128 channels, 28 x 28", 128, 28, 1)
    yield conv_integer("conv_integer 3x3, 3 to 16 channels, 96 x 96", 3, 96, 3, out=16)
    yield conv_integer("conv_integer 3x3, depthwise, 96 channels, 28 x 28", 96, 28, 3, group=96)
    yield nbits("matmul_nbits 1 x 2048 x 2048, 4 bits", 1, 2048, 2048, 32)
    yield nbits("matmul_nbits 32 x 2048 x 2048, 4 bits", 32, 2048, 2048, 32)
    yield Case("dequantize_linear, last axis", "DequantizeLinear", byte(512, 768),
               [real(768), numpy.zeros(768, numpy.int8)], axis=1)
    yield Case("dequantize_linear, first axis", "DequantizeLinear", byte(512, 768),
               [real(512), numpy.zeros(512, numpy.int8)], axis=0)
    yield conv("conv_transpose 4x4, 64 channels, 32 x 32", 64, 32, 4, op="ConvTranspose",
               strides=[2, 2])
    yield conv("conv_transpose 4x4, 64 channels, 32 x 32, f16", 64, 32, 4, op="ConvTranspose",
               dtype=numpy.float16, strides=[2, 2])
    yield Case("softmax 1536 x 128", "Softmax", real(1536, 128), axis=-1)
    yield Case("tanh", "Tanh", million)
    yield Case("erf", "Erf", million)
    yield Case("sigmoid", "Sigmoid", million)
    yield Case("exp", "Exp", million)


def ours(options, path, x_path, runs):
    words = [options.stowage, "run", path, "--input", f"x={x_path}", "--kernels", "fastest",
             "--format", "json", "--repeat", str(runs)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or ["failed"])[0])
    return json.loads(done.stdout)["nanoseconds"]["min"] / 1e3


def theirs(session, x, runs):
    times = []
    for _ in range(runs):
        begin = time.perf_counter_ns()
        session.run(None, {"x": x})
        times.append(time.perf_counter_ns() - begin)
    return min(times) / 1e3


def session_of(path):
    with_one = onnxruntime.SessionOptions()
    with_one.intra_op_num_threads = with_one.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, with_one, providers=["CPUExecutionProvider"])


def row(case, options, folder):
    path, x_path = os.path.join(folder, "op.onnx"), os.path.join(folder, "x.npy")
    onnx.save(case.model, path)
    numpy.save(x_path, case.x)
    session = session_of(path)
    most = int(1e6 * options.seconds)
    own_runs = max(5, min(1000, int(most / ours(options, path, x_path, 5))))
    their_runs = max(5, min(1000, int(most / theirs(session, case.x, 5))))
    pairs = [(ours(options, path, x_path, own_runs), theirs(session, case.x, their_runs))
             for _ in range(options.rounds)]
    ratios = sorted(a / b for a, b in pairs)
    own, their = (statistics.median(column) for column in zip(*pairs))
    return [case.name, f"{own:.4g}", f"{their:.4g}", f"{statistics.median(ratios):.2f}",
            f"{ratios[0]:.2f} to {ratios[-1]:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stowage", required=True)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2)
    options = parser.parse_args()
    print(f"onnxruntime {onnxruntime.__version__}, one thread\n")
    columns = ["op", "µs", "onnxruntime's", "ratio", "of rounds"]
    print("| " + " | ".join(columns) + " |\n|" + " --- |" * len(columns))
    for case in cases():
        if options.only and not any(text in case.name for text in options.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                cells = row(case, options, folder)
            except Exception as error:  # pylint: disable=broad-except  # of either library
                cells = [case.name, str(error).splitlines()[0]]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())

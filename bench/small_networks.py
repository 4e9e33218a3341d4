#!/usr/bin/env python3
"""Compares what small networks need with onnxruntime: recurrent ones, and one that spots keywords.

    small_networks.py FOLDER --stowage COMMAND --theirs BENCH_ONNXRUNTIME

Writes the models to FOLDER. Inputs, outputs and weights are counted on neither side; ours is the arena
with the scratch of kernels on one thread, theirs the planned block and the highest sum of live bytes of
a run (bench_onnxruntime). Needs onnx and numpy.
"""
import argparse
import json
import os
import subprocess

import numpy
import onnx
from onnx import helper, numpy_helper

RANDOM = numpy.random.default_rng(1)


def weight(name, *shape):
    return numpy_helper.from_array((RANDOM.standard_normal(shape) * 0.1).astype(numpy.float32), name)


def port(name, *shape):
    return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)


def save(folder, name, nodes, x, out, weights):
    graph = helper.make_graph(nodes, name, [x], [out], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path = os.path.join(folder, name + ".onnx")
    onnx.save(model, path)
    return path


def recurrent(folder, kind, gates, length, inputs, hidden):
    """A layer over |length| steps, and a product of its last state."""
    nodes = [helper.make_node(kind, ["x", "w", "r", "b"], ["y", "last"], hidden_size=hidden),
             helper.make_node("Squeeze", ["last", "axes"], ["state"]),
             helper.make_node("Gemm", ["state", "fw", "fb"], ["out"])]
    weights = [weight("w", 1, gates * hidden, inputs), weight("r", 1, gates * hidden, hidden),
               weight("b", 1, 2 * gates * hidden), weight("fw", hidden, 8), weight("fb", 8),
               numpy_helper.from_array(numpy.array([0], numpy.int64), "axes")]
    return save(folder, f"{kind.lower()}_{length}_{inputs}_{hidden}", nodes,
                port("x", length, 1, inputs), port("out", 1, 8), weights)


def keywords(folder):
    """Depthwise and pointwise convolutions over 49 frames of 10 coefficients."""
    nodes, weights, last = [], [], "x"
    layers = [("c0", 64, 1, (10, 4), (2, 2), 1, (4, 1, 5, 1))]
    for i in range(4):
        layers += [(f"d{i}", 64, 64, (3, 3), (1, 1), 64, (1, 1, 1, 1)),
                   (f"p{i}", 64, 64, (1, 1), (1, 1), 1, (0, 0, 0, 0))]
    for name, out, channels, kernel, strides, group, pads in layers:
        weights += [weight(name + "w", out, channels // group, *kernel), weight(name + "b", out)]
        nodes += [helper.make_node("Conv", [last, name + "w", name + "b"], [name + "y"], pads=pads,
                                   kernel_shape=kernel, strides=strides, group=group),
                  helper.make_node("Relu", [name + "y"], [name])]
        last = name
    weights += [weight("fw", 64, 12), weight("fb", 12)]
    nodes += [helper.make_node("GlobalAveragePool", [last], ["mean"]),
              helper.make_node("Flatten", ["mean"], ["flat"]),
              helper.make_node("Gemm", ["flat", "fw", "fb"], ["scores"]),
              helper.make_node("Softmax", ["scores"], ["out"])]
    return save(folder, "keywords", nodes, port("x", 1, 1, 49, 10), port("out", 1, 12), weights)


def ours(command, path, *options):
    words = [command, "plan", path, "--io", "external", "--hints", "never", "--rewrite", "none",
             "--format", "json"]
    return json.loads(subprocess.run([*words, *options], check=True, capture_output=True).stdout)["arena_size"]


def theirs(command, path, folder):
    dims = [dim.dim_value for dim in onnx.load(path).graph.input[0].type.tensor_type.shape.dim]
    data = os.path.join(folder, "x.bin")
    RANDOM.standard_normal(dims).astype(numpy.float32).tofile(data)
    words = [command, path, "--level", "1", "--input", "x", "1", "x".join(map(str, dims)), data]
    return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--stowage", required=True)
    parser.add_argument("--theirs", required=True)
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    paths = [recurrent(arguments.folder, kind, gates, *sizes)
             for kind, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1))
             for sizes in ((20, 16, 32), (50, 40, 64), (10, 64, 128))] + [keywords(arguments.folder)]
    print("| network | tensors | with scratch | ORT's block | ORT's live peak | ours / live peak |")
    print("| --- | --- | --- | --- | --- | --- |")
    for path in paths:
        whole = ours(arguments.stowage, path)
        other = theirs(arguments.theirs, path, arguments.folder)
        print(f"| {os.path.basename(path)[:-5]} | {ours(arguments.stowage, path, '--kernels', 'none')} | {whole} | "
              f"{other['block']} | {other['peak']} | {whole / other['peak']:.2f} |")


if __name__ == "__main__":
    main()

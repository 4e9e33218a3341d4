#!/usr/bin/env python3
"""Writes the ONNX models in this folder, with Python's standard library alone.

digits.onnx   a small CNN with fixed shapes
digits_int8.onnx  the same, quantised: QuantizeLinear and DequantizeLinear around its layers
encoder.onnx  a transformer encoder with symbolic batch and length, and the shape arithmetic that
              exporters leave in such models
decode.onnx   one step of a decoder with a key and value cache

Usage: make_onnx.py [FOLDER]
"""
import os
import struct
import sys

FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7


# The wire format: https://protobuf.dev/programming-guides/encoding
def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field_int(number, value):
    return varint(number << 3) + varint(value)


def field_bytes(number, value):
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def field_float(number, value):
    return varint(number << 3 | 5) + struct.pack("<f", value)


def tensor(name, elem, dims, raw):
    return (b"".join(field_int(1, d) for d in dims) + field_int(2, elem) + field_bytes(8, name) +
            field_bytes(9, raw))


def value_info(name, elem, dims):
    shape = b""
    for dim in dims:
        shape += field_bytes(1, field_bytes(2, dim) if isinstance(dim, str) else field_int(1, dim))
    kind = field_bytes(1, field_int(1, elem) + field_bytes(2, shape))
    return field_bytes(1, name) + field_bytes(2, kind)


def attribute(name, value):
    out = field_bytes(1, name)
    if isinstance(value, int):
        return out + field_int(3, value) + field_int(20, 2)
    if isinstance(value, float):
        return out + field_float(2, value) + field_int(20, 1)
    if isinstance(value, str):
        return out + field_bytes(4, value) + field_int(20, 3)
    return out + b"".join(field_int(8, v) for v in value) + field_int(20, 7)


class Model:
    """Collects a graph; every call of op() adds a node and returns its first output's name."""

    def __init__(self, name, opset):
        self.name, self.opset = name, opset
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.state = 12345

    def random(self):
        self.state = (self.state * 1103515245 + 12345) % (1 << 31)
        return self.state / (1 << 31) * 0.2 - 0.1

    def weight(self, name, *dims):
        count = 1
        for dim in dims:
            count *= dim
        raw = struct.pack("<%df" % count, *(self.random() for _ in range(count)))
        self.weights.append(tensor(name, FLOAT, dims, raw))
        return name

    def ints(self, name, numbers):
        dims = [] if isinstance(numbers, int) else [len(numbers)]
        numbers = [numbers] if isinstance(numbers, int) else numbers
        self.weights.append(tensor(name, INT64, dims, struct.pack("<%dq" % len(numbers), *numbers)))
        return name

    def quantised(self, name, elem, scale, dims):
        """Random weights of 8 or 32 bits, as floats."""
        count = 1
        for dim in dims:
            count *= dim
        numbers = [round(self.random() / scale) for _ in range(count)]
        raw = struct.pack("<%d%s" % (count, {INT8: "b", INT32: "i"}[elem]), *numbers)
        self.weights.append(tensor(name + ".q", elem, dims, raw))
        return self.op("DequantizeLinear", [name + ".q", self.number(name + ".scale", scale)], name)

    def rounded(self, x, elem, scale):
        """|x| as 8 bits, and as floats again."""
        self.weights.append(tensor(x + ".zero", elem, [], b"\0"))
        grid = [self.number(x + ".scale", scale), x + ".zero"]
        return self.op("DequantizeLinear", [self.op("QuantizeLinear", [x] + grid, x + ".q")] + grid, x + ".dq")

    def number(self, name, value):
        self.weights.append(tensor(name, FLOAT, [], struct.pack("<f", value)))
        return name

    def input(self, name, elem, dims):
        self.inputs.append(value_info(name, elem, dims))
        return name

    def output(self, name, elem, dims):
        self.outputs.append(value_info(name, elem, dims))

    def op(self, kind, operands, name, **attributes):
        node = b"".join(field_bytes(1, o) for o in operands)
        node += field_bytes(2, name) + field_bytes(3, name) + field_bytes(4, kind)
        node += b"".join(field_bytes(5, attribute(k, v)) for k, v in sorted(attributes.items()))
        self.nodes.append(node)
        return name

    def bytes(self):
        graph = b"".join(field_bytes(1, n) for n in self.nodes) + field_bytes(2, self.name)
        graph += b"".join(field_bytes(5, w) for w in self.weights)
        graph += b"".join(field_bytes(11, i) for i in self.inputs)
        graph += b"".join(field_bytes(12, o) for o in self.outputs)
        opset = field_bytes(1, "") + field_int(2, self.opset)
        return (field_int(1, 8) + field_bytes(2, "stowage-examples") + field_bytes(3, "1") +
                field_bytes(7, graph) + field_bytes(8, opset))


def digits():
    m = Model("digits", 13)
    x = m.input("image", FLOAT, [1, 1, 28, 28])
    channels = 1
    for i, width in enumerate((8, 16)):
        w = m.weight("conv%d.weight" % i, width, channels, 3, 3)
        b = m.weight("conv%d.bias" % i, width)
        x = m.op("Conv", [x, w, b], "conv%d" % i, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        x = m.op("Relu", [x], "relu%d" % i)
        x = m.op("MaxPool", [x], "pool%d" % i, kernel_shape=[2, 2], strides=[2, 2])
        channels = width
    x = m.op("Flatten", [x], "flat", axis=1)
    x = m.op("Gemm", [x, m.weight("fc.weight", 10, 784), m.weight("fc.bias", 10)], "scores", transB=1)
    m.op("Softmax", [x], "probabilities", axis=1)
    m.output("probabilities", FLOAT, [1, 10])
    return m.bytes()


def digits_int8():
    """What tools that quantise models write: integers are in the file, and floats between the layers."""
    m = Model("digits_int8", 13)
    weight_scale, scale = 2.0**-10, 2.0**-7
    x = m.rounded(m.input("image", FLOAT, [1, 1, 28, 28]), INT8, scale)
    channels = 1
    for i, width in enumerate((8, 16)):
        w = m.quantised("conv%d.weight" % i, INT8, weight_scale, [width, channels, 3, 3])
        b = m.quantised("conv%d.bias" % i, INT32, weight_scale * scale, [width])
        x = m.op("Conv", [x, w, b], "conv%d" % i, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        x = m.op("Relu", [x], "relu%d" % i)
        scale = 2.0**-8
        x = m.rounded(x, UINT8, scale)
        x = m.op("MaxPool", [x], "pool%d" % i, kernel_shape=[2, 2], strides=[2, 2])
        x = m.rounded(x, UINT8, scale)
        channels = width
    x = m.op("Flatten", [x], "flat", axis=1)
    w = m.quantised("fc.weight", INT8, weight_scale, [10, 784])
    b = m.quantised("fc.bias", INT32, weight_scale * scale, [10])
    x = m.rounded(m.op("Gemm", [x, w, b], "scores", transB=1), INT8, 2.0**-6)
    m.op("Softmax", [x], "probabilities", axis=1)
    m.output("probabilities", FLOAT, [1, 10])
    return m.bytes()


HIDDEN, HEADS, INNER = 32, 4, 64


def split_heads(m, x, batch, length, prefix):
    """[batch, length, hidden] to [batch, heads, length, size], by dims taken from the graph."""
    shape = m.op("Concat", [batch, length, "heads", "head_size"], prefix + ".shape", axis=0)
    x = m.op("Reshape", [x, shape], prefix + ".split")
    return m.op("Transpose", [x], prefix + ".heads", perm=[0, 2, 1, 3])


def project(m, x, prefix, rows, columns):
    w = m.weight(prefix + ".weight", rows, columns)
    b = m.weight(prefix + ".bias", columns)
    return m.op("Add", [m.op("MatMul", [x, w], prefix + ".product"), b], prefix)


def norm(m, x, prefix):
    scale, bias = m.weight(prefix + ".scale", HIDDEN), m.weight(prefix + ".shift", HIDDEN)
    return m.op("LayerNormalization", [x, scale, bias], prefix, axis=-1)


def attend(m, query, key, value, prefix):
    key = m.op("Transpose", [key], prefix + ".key.T", perm=[0, 1, 3, 2])
    scores = m.op("MatMul", [query, key], prefix + ".scores")
    scores = m.op("Div", [scores, "root"], prefix + ".scaled")
    return m.op("MatMul", [m.op("Softmax", [scores], prefix + ".weights", axis=-1), value],
                prefix + ".mixed")


def shape_constants(m):
    for name, number in (("heads", HEADS), ("head_size", HIDDEN // HEADS), ("hidden", HIDDEN)):
        m.ints(name, [number])
    m.ints("first", 0)
    m.ints("second", 1)
    m.ints("axis0", [0])
    m.number("root", (HIDDEN // HEADS) ** 0.5)


def dim_of(m, shape, which, name):
    picked = m.op("Gather", [shape, which], name + ".scalar", axis=0)
    return m.op("Unsqueeze", [picked, "axis0"], name)


def encoder():
    m = Model("encoder", 17)
    tokens = m.input("tokens", INT64, ["batch", "length"])
    shape_constants(m)
    shape = m.op("Shape", [tokens], "tokens.shape")
    batch = dim_of(m, shape, "first", "batch")
    length = dim_of(m, shape, "second", "length")
    flat = m.op("Concat", [batch, length, "hidden"], "flat.shape", axis=0)
    x = m.op("Gather", [m.weight("embedding", 100, HIDDEN), tokens], "embedded", axis=0)
    for i in range(2):
        p = "layer%d" % i
        parts = [split_heads(m, project(m, x, "%s.%s" % (p, n), HIDDEN, HIDDEN), batch, length,
                             "%s.%s" % (p, n)) for n in ("query", "key", "value")]
        mixed = m.op("Transpose", [attend(m, *parts, p)], p + ".joined", perm=[0, 2, 1, 3])
        mixed = project(m, m.op("Reshape", [mixed, flat], p + ".flat"), p + ".out", HIDDEN, HIDDEN)
        x = norm(m, m.op("Add", [x, mixed], p + ".residual"), p + ".norm1")
        inner = m.op("Relu", [project(m, x, p + ".up", HIDDEN, INNER)], p + ".relu")
        inner = project(m, inner, p + ".down", INNER, HIDDEN)
        x = norm(m, m.op("Add", [x, inner], p + ".residual2"), p + ".norm2")
    m.op("Identity", [x], "encoded")
    m.output("encoded", FLOAT, ["batch", "length", HIDDEN])
    return m.bytes()


def decode():
    m = Model("decode", 17)
    x = m.input("hidden_state", FLOAT, ["batch", 1, HIDDEN])
    size = HIDDEN // HEADS
    for n in ("key", "value"):
        m.input("past.0." + n, FLOAT, ["batch", HEADS, "past", size])
    shape_constants(m)
    shape = m.op("Shape", [x], "state.shape")
    batch = dim_of(m, shape, "first", "batch")
    length = dim_of(m, shape, "second", "length")
    query, key, value = (split_heads(m, project(m, x, n, HIDDEN, HIDDEN), batch, length, n)
                         for n in ("query", "key", "value"))
    key = m.op("Concat", ["past.0.key", key], "present.0.key", axis=2)
    value = m.op("Concat", ["past.0.value", value], "present.0.value", axis=2)
    mixed = m.op("Transpose", [attend(m, query, key, value, "attention")], "joined", perm=[0, 2, 1, 3])
    flat = m.op("Concat", [batch, length, "hidden"], "flat.shape", axis=0)
    m.op("Add", [x, project(m, m.op("Reshape", [mixed, flat], "flat"), "out", HIDDEN, HIDDEN)], "result")
    m.output("result", FLOAT, ["batch", 1, HIDDEN])
    for n in ("key", "value"):
        m.output("present.0." + n, FLOAT, ["batch", HEADS, "past + 1", size])
    return m.bytes()


def causal(m, scores, positions, keys):
    """Hides keys behind each query's position."""
    count = m.op("Gather", [m.op("Shape", [keys], "keys.shape"), m.ints("third", 2)], "keys.count", axis=0)
    every = m.op("Range", ["first", count, "second"], "keys.positions")
    own = m.op("Unsqueeze", [positions, m.ints("inner_axes", [1, 3])], "own.positions")
    seen = m.op("LessOrEqual", [every, own], "seen")
    hidden = m.op("Where", [seen, m.number("zero", 0.0), m.number("far", -1e9)], "hidden.keys")
    return m.op("Add", [scores, hidden], "masked")


def decoder():
    """A language model of one layer, with the inputs and outputs that exported ones have."""
    m = Model("decoder", 17)
    tokens = m.input("input_ids", INT64, ["batch_size", "sequence_length"])
    positions = m.input("position_ids", INT64, ["batch_size", "sequence_length"])
    size = HIDDEN // HEADS
    for n in ("key", "value"):
        m.input("past_key_values.0." + n, FLOAT, ["batch_size", HEADS, "past_sequence_length", size])
    shape_constants(m)
    shape = m.op("Shape", [tokens], "tokens.shape")
    batch = dim_of(m, shape, "first", "batch")
    length = dim_of(m, shape, "second", "length")
    x = m.op("Gather", [m.weight("embedding", 100, HIDDEN), tokens], "embedded", axis=0)
    x = m.op("Add", [x, m.op("Gather", [m.weight("places", 128, HIDDEN), positions], "placed", axis=0)], "begun")
    query, key, value = (split_heads(m, project(m, x, n, HIDDEN, HIDDEN), batch, length, n)
                         for n in ("query", "key", "value"))
    key = m.op("Concat", ["past_key_values.0.key", key], "present.0.key", axis=2)
    value = m.op("Concat", ["past_key_values.0.value", value], "present.0.value", axis=2)
    turned = m.op("Transpose", [key], "key.T", perm=[0, 1, 3, 2])
    scores = m.op("Div", [m.op("MatMul", [query, turned], "scores"), "root"], "scaled")
    weights = m.op("Softmax", [causal(m, scores, positions, key)], "weights", axis=-1)
    mixed = m.op("Transpose", [m.op("MatMul", [weights, value], "mixed")], "joined", perm=[0, 2, 1, 3])
    flat = m.op("Concat", [batch, length, "hidden"], "flat.shape", axis=0)
    x = norm(m, m.op("Add", [x, project(m, m.op("Reshape", [mixed, flat], "flat"), "out", HIDDEN, HIDDEN)],
                     "residual"), "norm")
    m.op("MatMul", [x, m.weight("head", HIDDEN, 100)], "logits")
    m.output("logits", FLOAT, ["batch_size", "sequence_length", 100])
    for n in ("key", "value"):
        m.output("present.0." + n, FLOAT, ["batch_size", HEADS, "past_sequence_length + sequence_length", size])
    return m.bytes()


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for name, make in (("digits", digits), ("digits_int8", digits_int8), ("encoder", encoder), ("decode", decode),
                       ("decoder", decoder)):
        with open(os.path.join(folder, name + ".onnx"), "wb") as file:
            file.write(make())


if __name__ == "__main__":
    main()

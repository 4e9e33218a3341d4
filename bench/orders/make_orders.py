#!/usr/bin/env python3
"""Writes the graphs of this folder: networks whose peak depends on the order of their operators.

    make_orders.py [FOLDER]

Every network is written in two common orders: `traced`, in which the published code calls the
operators, and `breadth_first`, where every operator runs as soon as its operands are available, from
a queue. README.md has the sources.
"""
import collections
import os
import random
import re
import sys


class Tensor:
    """A value and the node that produces it; also for inputs, params and constants."""

    def __init__(self, op, operands, attrs, shape, name=None, effects=""):
        self.op, self.operands, self.attrs, self.shape = op, operands, attrs, shape
        self.name, self.effects = name, effects

    def is_boundary(self):
        return self.op in ("input", "param", "constant")


class Graph:
    """Operators in the order in which they are called; shapes are NCHW, or rows and columns."""

    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.params = [], [], [], 0

    def put(self, op, operands, shape, effects="", attrs=None):
        node = Tensor(op, operands, attrs or {}, tuple(shape), effects=effects)
        self.nodes.append(node)
        return node

    def input(self, name, *shape):
        self.inputs.append(Tensor("input", [], {}, shape, name))
        return self.inputs[-1]

    def param(self, *shape):
        self.params += 1
        return Tensor("param", [], {}, shape, f"w{self.params}")

    def constant(self, name, data):
        return Tensor("constant", [], {"data": data}, (len(data),), name)

    def conv(self, x, channels, kernel, stride=1, group=1, dilation=1, pads=None):
        """Pads are top, left, bottom, right; without them the size stays but for the stride."""
        n, c, h, w = x.shape
        reach = dilation * (kernel - 1)
        pads = pads or [reach // 2] * 4
        attrs = {"strides": [stride] * 2 if stride > 1 else None,
                 "pads": pads if any(pads) else None,
                 "dilations": [dilation] * 2 if dilation > 1 else None,
                 "group": group if group > 1 else None}
        shape = (n, channels, (h + pads[0] + pads[2] - reach - 1) // stride + 1,
                 (w + pads[1] + pads[3] - reach - 1) // stride + 1)
        weight = self.param(channels, c // group, kernel, kernel)
        return self.put("conv", [x, weight], shape,
                        attrs={k: v for k, v in attrs.items() if v})

    def depthwise(self, x, kernel, stride=1, dilation=1, pads=None):
        return self.conv(x, x.shape[1], kernel, stride, x.shape[1], dilation, pads)

    def unary(self, op, x):
        return self.put(op, [x], x.shape)

    def relu(self, x):
        return self.unary("relu", x)

    def binary(self, op, a, b, effects=""):
        return self.put(op, [a, b], a.shape, effects)

    def pool(self, x, op, kernel, stride):
        pads = [(kernel - 1) // 2] * 4
        n, c, h, w = x.shape
        attrs = {"op": op, "kernel": [kernel] * 2, "strides": [stride] * 2, "pads": pads}
        attrs = {k: v for k, v in attrs.items() if v not in ([0] * 4, [1, 1], "max")}
        return self.put("pool", [x], (n, c, (h + 2 * pads[0] - kernel) // stride + 1,
                                      (w + 2 * pads[0] - kernel) // stride + 1), attrs=attrs)

    def concat(self, parts, axis=1):
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        return self.put("concat", parts, shape, attrs={"axis": axis})

    def upsample(self, x, channels):
        """A transposed convolution: twice the size."""
        n, c, h, w = x.shape
        return self.put("conv_transpose", [x, self.param(c, channels, 2, 2)],
                        (n, channels, 2 * h, 2 * w), attrs={"strides": [2, 2]})


def breadth_first(graph):
    waiting = {node: sum(x is not None and not x.is_boundary() for x in node.operands)
               for node in graph.nodes}
    users = collections.defaultdict(list)
    for node in graph.nodes:
        for x in node.operands:
            users[x].append(node)
    queue = collections.deque(node for node in graph.nodes if waiting[node] == 0)
    order = []
    while queue:
        node = queue.popleft()
        order.append(node)
        for user in users[node]:
            waiting[user] -= 1
            if waiting[user] == 0:
                queue.append(user)
    return order


def text_of(value):
    """As the canonical form has it."""
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        return re.sub(r"\.?0*p", "p", value.hex())
    return str(value).lower()


def type_of(tensor):
    return "f32[" + ", ".join(map(str, tensor.shape)) + "]"


def line_of(tensor, ids):
    attrs = ", ".join(f"{key} = {text_of(value)}" for key, value in tensor.attrs.items())
    attrs = f" {{{attrs}}}" if attrs else ""
    name = f' "{tensor.name}"' if tensor.is_boundary() else ""
    operands = "" if tensor.is_boundary() else \
        "(" + ", ".join("_" if x is None else f"%{ids[x]}" for x in tensor.operands) + ")"
    made = f"{tensor.op}{name}{operands}{attrs} : {type_of(tensor)}{tensor.effects}"
    return f"  %{ids[tensor]} = {made}"


def print_graph(graph, name, order):
    """Params and constants stand where they are first read."""
    ids, lines = {}, [f"graph @{name} {{"]

    def write(tensor):
        ids[tensor] = len(ids)
        lines.append(line_of(tensor, ids))

    for tensor in graph.inputs:
        write(tensor)
    for node in order:
        for x in node.operands:
            if x is not None and x not in ids:
                write(x)
        write(node)
    lines.append("  return " + ", ".join(f"%{ids[x]}" for x in graph.outputs))
    return "\n".join(lines + ["}"]) + "\n"


# Cells of searched networks. Each line is a block: two operators, each with the state it reads, are
# added. States 0 and 1 are what the two cells before made, squeezed to the cell's channels.

NASNET_A = ((("sep5", 1), ("sep3", 0)), (("sep5", 0), ("sep3", 0)), (("avg", 1), ("skip", 0)),
            (("avg", 0), ("avg", 0)), (("sep3", 1), ("skip", 1)))
AMOEBANET_A = ((("avg", 0), ("max", 1)), (("sep3", 0), ("sep5", 2)), (("sep3", 0), ("avg", 3)),
               (("sep3", 1), ("skip", 1)), (("skip", 0), ("avg", 1)))
DARTS_V2 = ((("sep3", 0), ("sep3", 1)), (("sep3", 0), ("sep3", 1)), (("sep3", 1), ("skip", 0)),
            (("skip", 0), ("dil3", 2)))


def cell_operator(g, op, x):
    channels = x.shape[1]
    if op == "skip":
        return x
    if op in ("avg", "max"):
        return g.pool(x, op, 3, 1)
    if op == "dil3":
        return g.conv(g.depthwise(g.relu(x), 3, dilation=2), channels, 1)
    for _ in range(2):
        x = g.conv(g.depthwise(g.relu(x), int(op[3:])), channels, 1)
    return x


def cell(blocks, joined, channels, size):
    g = Graph()
    states = [g.input(name, 1, channels, size, size) for name in ("before_last", "last")]
    for left, right in blocks:
        halves = [cell_operator(g, op, states[k]) for op, k in (left, right)]
        states.append(g.binary("add", *halves))
    g.outputs = [g.concat([states[k] for k in joined])]
    return g


def small_world(count, degree, chance, seed):
    """Watts–Strogatz: a ring of neighbours, edges rewired by chance; from lower to higher."""
    draw = random.Random(seed)
    edges = {(k, (k + d) % count) for k in range(count) for d in range(1, degree // 2 + 1)}
    linked = {frozenset(edge) for edge in edges}
    for d in range(1, degree // 2 + 1):
        for k in range(count):
            if draw.random() >= chance:
                continue
            free = [m for m in range(count) if m != k and frozenset((k, m)) not in linked]
            linked.remove(frozenset((k, (k + d) % count)))
            linked.add(frozenset((k, free[int(draw.random() * len(free))])))
    return sorted((min(edge), max(edge)) for edge in linked)


def randwire(count=32, channels=156, size=28, seed=1):
    """A stage of random wiring: its first nodes halve the size."""
    g = Graph()
    x = g.input("x", 1, channels // 2, size, size)
    edges = small_world(count, 4, 0.75, seed)
    made = []
    for k in range(count):
        reads = [made[a] for a, b in edges if b == k]
        start = g.put("sum", reads, reads[0].shape) if len(reads) > 1 else (reads or [x])[0]
        made.append(g.conv(g.depthwise(g.relu(start), 3, 1 if reads else 2), channels, 1))
    ends = [made[k] for k in range(count) if all(a != k for a, _ in edges)]
    g.outputs = [g.put("mean", ends, ends[0].shape)]
    return g


# Encoders and decoders.

def two_convs(g, x, channels):
    return g.relu(g.conv(g.relu(g.conv(x, channels, 3)), channels, 3))


def unet(size=128, channels=32, depth=4):
    g = Graph()
    x = g.input("image", 1, 3, size, size)
    skips = []
    for level in range(depth):
        skips.append(two_convs(g, x, channels << level))
        x = g.pool(skips[-1], "max", 2, 2)
    x = two_convs(g, x, channels << depth)
    for level in reversed(range(depth)):
        x = g.concat([skips[level], g.upsample(x, channels << level)])
        x = two_convs(g, x, channels << level)
    g.outputs = [g.conv(x, 2, 1)]
    return g


def unet_plus_plus(size=96, channels=32, depth=4):
    """Every level has a row of nodes; each reads all before it in its row and one from below."""
    g = Graph()
    rows = [[two_convs(g, g.input("image", 1, 3, size, size), channels)]]
    for level in range(1, depth + 1):
        rows.append([two_convs(g, g.pool(rows[level - 1][0], "max", 2, 2), channels << level)])
        for row in reversed(range(level)):
            wide = channels << row
            below = g.upsample(rows[row + 1][-1], wide)
            rows[row].append(two_convs(g, g.concat(rows[row] + [below]), wide))
    g.outputs = [g.conv(x, 1, 1) for x in rows[0][1:]]
    return g


def bottleneck(g, x):
    channels = x.shape[1]
    y = g.conv(g.relu(x), channels // 2, 1)
    y = g.conv(g.relu(y), channels // 2, 3)
    return g.binary("add", g.conv(g.relu(y), channels, 1), x)


def hourglass_level(g, x, depth):
    scales = g.constant(f"scales{depth}", [1.0, 1.0, 2.0, 2.0])
    beside = bottleneck(g, x)
    low = bottleneck(g, g.pool(x, "max", 2, 2))
    low = hourglass_level(g, low, depth - 1) if depth > 1 else bottleneck(g, low)
    low = bottleneck(g, low)
    return g.binary("add", beside, g.put("resize", [low, None, scales], x.shape))


def hourglass(size=64, channels=64, depth=4):
    g = Graph()
    x = g.input("x", 1, channels, size, size)
    g.outputs = [hourglass_level(g, x, depth)]
    return g


# The first layers of a network for microcontrollers: kernel, stride, channels (0: depthwise).
HEAD = ((3, 2, 16), (3, 1, 0), (1, 1, 8), (1, 1, 48), (3, 2, 0), (1, 1, 16), (1, 1, 96), (3, 2, 0),
        (1, 1, 24))


def rows_of_layers(size):
    """The rows that each layer of HEAD reads of an image, and those of the result."""
    rows = [size]
    for _, stride, _ in HEAD:
        rows.append(rows[-1] // stride)
    return rows


def rows_needed(first, end, size):
    """For each layer of HEAD the rows [first, end) it reads, and those of zeros above and below."""
    spans = []
    for (kernel, stride, _), rows in zip(reversed(HEAD), reversed(rows_of_layers(size)[:-1])):
        low, high = first * stride - kernel // 2, (end - 1) * stride - kernel // 2 + kernel
        first, end = max(low, 0), min(high, rows)
        spans.append((first, end, first - low, high - end))
    return list(reversed(spans))


def patches(count, size=160):
    """The image is cut into strips, which overlap by the reach of the kernels."""
    g = Graph()
    image = g.input("image", 1, 3, size, size)
    rows = rows_of_layers(size)[-1]
    weights, parts = {}, []
    for k in range(count):
        spans = rows_needed(k * rows // count, (k + 1) * rows // count, size)
        first, end = spans[0][:2]
        x = image if count == 1 else g.put("narrow", [image], (1, 3, end - first, size), attrs={
            "axis": 2, "start": first, "len": end - first})
        for layer, (kernel, stride, channels) in enumerate(HEAD):
            _, _, above, below = spans[layer]
            group = 1 if channels else x.shape[1]
            side = kernel // 2
            x = g.conv(x, channels or x.shape[1], kernel, stride, group,
                       pads=[above, side, below, side])
            x.operands[1] = weights.setdefault(layer, x.operands[1])
        parts.append(x)
    g.outputs = [g.concat(parts, axis=2) if count > 1 else g.relu(parts[0])]
    return g


def training_step(layers=6, batch=64, width=512):
    """Forward, backward, then all updates; new weights are written outside of the arena."""
    g = Graph()
    rate = g.constant("rate", [0.5])
    x, target = g.input("x", batch, width), g.input("target", batch, width)
    weights = [g.param(width, width) for _ in range(layers)]
    states = [x]
    for weight in weights:
        states.append(g.relu(g.put("matmul", [states[-1], weight], (batch, width))))
    delta = g.binary("sub", states[-1], target)
    gradients = []
    for k in reversed(range(layers)):
        delta = g.binary("mul", delta, g.unary("sign", states[k + 1]))
        gradients.append(g.put("gemm", [states[k], delta], (width, width), attrs={"trans_a": True}))
        if k > 0:
            delta = g.put("gemm", [delta, weights[k]], (batch, width), attrs={"trans_b": True})
    for weight, gradient in zip(reversed(weights), gradients):
        step = g.binary("mul", gradient, rate)
        g.outputs.append(g.binary("sub", weight, step, ' with {io = "external"}'))
    return g


def mixture(experts=8, tokens=64, width=256, hidden=1024):
    """Every expert sees all tokens; its result is weighted by the gate and added."""
    g = Graph()
    x = g.input("x", tokens, width)
    gate = g.unary("softmax", g.put("matmul", [x, g.param(width, experts)], (tokens, experts)))
    total = None
    for k in range(experts):
        y = g.unary("silu", g.put("matmul", [x, g.param(width, hidden)], (tokens, hidden)))
        y = g.put("matmul", [y, g.param(hidden, width)], (tokens, width))
        share = g.put("narrow", [gate], (tokens, 1),
                      attrs={"axis": 1, "start": k, "len": 1})
        y = g.binary("mul", y, share)
        total = g.binary("add", total, y) if total else y
    g.outputs = [total]
    return g


NETWORKS = (
    ("nasnet_a", "NASNet-A, normal cell, 44 channels of 28 x 28 (Zoph et al., 2018).",
     lambda: cell(NASNET_A, (0, 2, 3, 4, 5, 6), 44, 28)),
    ("amoebanet_a", "AmoebaNet-A, normal cell, 44 channels of 28 x 28 (Real et al., 2019).",
     lambda: cell(AMOEBANET_A, (4, 5, 6), 44, 28)),
    ("darts_v2", "DARTS, second order, normal cell, 48 channels of 28 x 28 (Liu et al., 2019).",
     lambda: cell(DARTS_V2, (2, 3, 4, 5), 48, 28)),
    ("randwire", "RandWire, a stage of 32 nodes by Watts–Strogatz (4, 0.75) (Xie et al., 2019).",
     randwire),
    ("unet", "U-Net, four levels, 128 x 128 (Ronneberger et al., 2015).", unet),
    ("unet_plus_plus", "UNet++, four levels, 96 x 96, an output of each depth (Zhou et al., 2018).",
     unet_plus_plus),
    ("hourglass", "One stacked-hourglass module, four levels, 64 x 64 (Newell et al., 2016).",
     hourglass),
    ("patches", "Layers of the MobileNetV2 kind over four strips of the image (Lin et al., 2021).",
     lambda: patches(4)),
    ("no_patches", "The same layers as in patches.stow over the whole image.", lambda: patches(1)),
    ("training_step", "Six dense layers: forward, backward, and an update of every weight.",
     training_step),
    ("mixture", "A mixture of eight experts, all tokens through each (Shazeer et al., 2017).",
     mixture),
)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for name, what, build in NETWORKS:
        graph = build()
        orders = {"traced": graph.nodes, "breadth_first": breadth_first(graph)}
        texts = [print_graph(graph, order, nodes) for order, nodes in orders.items()]
        with open(os.path.join(folder, name + ".stow"), "w", encoding="utf-8") as out:
            out.write(f"# {what}\n# Written by make_orders.py.\n" + "\n".join(texts))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Writes MobileNetV2 as a graph: mobilenet.py [--size 224] [--stream 7,14] [--rows 1] > mobilenet.stow

Stages are the first convolution and the 17 blocks of depthwise convolutions. Those up to the first
of the numbers are one `stream` node, those from there to the second another one; by default none
are. `--rows` is their attribute `rows`. Weights have no data: run it with `--random 1`.
"""

import argparse

# Expansion, channels, repeats, stride of each group of blocks.
BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
          (6, 320, 1, 1)]


class Body:
    """Nodes of a graph or function; weights are collected apart, since ids come first."""

    def __init__(self):
        self.weights, self.biases, self.nodes, self.shapes = [], [], [], {'x': None}

    def add(self, text, shape):
        name = f'v{len(self.nodes)}'
        self.nodes.append((name, text, shape))
        self.shapes[name] = shape
        return name

    def conv(self, x, channels, kernel, stride, group, clip=True):
        _, inner, high, wide = self.shapes[x]
        weight, bias = f'w{len(self.weights)}', f'b{len(self.biases)}'
        self.weights.append((weight, (channels, inner // group, kernel, kernel)))
        self.biases.append((bias, (channels,)))
        pad = kernel // 2
        text = (f'conv({{{x}}}, {{{weight}}}, {{{bias}}}) {{{{strides = [{stride}, {stride}], '
                f'pads = [{pad}, {pad}, {pad}, {pad}], group = {group}}}}}')
        y = self.add(text, (1, channels, (high - 1) // stride + 1, (wide - 1) // stride + 1))
        return self.add(f'clip({{{y}}}) {{{{min = 0.0, max = 6.0}}}}', self.shapes[y]) if clip else y

    def block(self, x, expansion, channels, stride):
        inner = self.shapes[x][1]
        y = self.conv(x, inner * expansion, 1, 1, 1) if expansion != 1 else x
        y = self.conv(y, inner * expansion, 3, stride, inner * expansion)
        y = self.conv(y, channels, 1, 1, 1, clip=False)
        if stride == 1 and inner == channels:
            y = self.add(f'add({{{x}}}, {{{y}}})', self.shapes[x])
        return y


def kind(shape):
    return 'f32[' + ', '.join(map(str, shape)) + ']'


def stages(body, x):
    """Yields the value after each stage."""
    x = body.conv(x, 32, 3, 2, 1)
    yield x
    for expansion, channels, repeats, stride in BLOCKS:
        for i in range(repeats):
            x = body.block(x, expansion, channels, stride if i == 0 else 1)
            yield x


def write_nodes(nodes, ids, indent):
    for name, text, shape in nodes:
        ids[name] = '%' + str(len(ids))
        print(f'{indent}{ids[name]} = {text.format(**ids)} : {kind(shape)}')


class Segment:
    """Stages that are one stream: nodes and weights between two cuts."""

    def __init__(self, body, ends, first, last):
        self.nodes = body.nodes[ends[first][0]:ends[last][0]]
        weights = slice(ends[first][1], ends[last][1])
        # Of a node's operands the first 64 can be packed: weights, which are worth it.
        self.operands = [ends[first][2]] + [w for w, _ in body.weights[weights] + body.biases[weights]]
        self.shapes = [body.shapes[ends[first][2]]]
        self.shapes += [shape for _, shape in body.weights[weights] + body.biases[weights]]
        self.result = ends[last][2]

    def write_function(self, name):
        ids = {}
        print(f'  function @{name} {{')
        for operand, shape in zip(self.operands, self.shapes):
            ids[operand] = '%' + str(len(ids))
            print(f'    {ids[operand]} = input "{operand}" : {kind(shape)}')
        write_nodes(self.nodes, ids, '    ')
        print(f'    return {ids[self.result]}\n  }}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--size', type=int, default=224)
    parser.add_argument('--stream', default='')
    parser.add_argument('--rows', type=int, default=0)
    options = parser.parse_args()
    body = Body()
    body.shapes['x'] = (1, 3, options.size, options.size)
    ends = [(0, 0, 'x')]  # nodes, weights and the value after each stage
    for x in stages(body, 'x'):
        ends.append((len(body.nodes), len(body.weights), x))
    x = body.conv(x, 1280, 1, 1, 1)
    x = body.add(f'pool({{{x}}}) {{{{op = "avg", global = true}}}}', (1, 1280, 1, 1))
    x = body.conv(x, 1000, 1, 1, 1, clip=False)
    cuts = [0] + [int(cut) for cut in options.stream.split(',') if cut]
    segments = [Segment(body, ends, a, b) for a, b in zip(cuts, cuts[1:])]

    print('graph @mobilenet_v2 {')
    for i, segment in enumerate(segments):
        segment.write_function(f's{i}')
    ids = {'x': '%0'}
    print(f'  %0 = input "x" : {kind(body.shapes["x"])}')
    for name, shape in body.weights + body.biases:
        ids[name] = '%' + str(len(ids))
        print(f'  {ids[name]} = param "{name}" : {kind(shape)}')
    for i, segment in enumerate(segments):
        ids[segment.result] = '%' + str(len(ids))
        operands = ', '.join(ids[operand] for operand in segment.operands)
        print(f'  {ids[segment.result]} = stream({operands}) {{function = "s{i}", rows = {options.rows}}} : '
              f'{kind(body.shapes[segment.result])}')
    write_nodes(body.nodes[ends[cuts[-1]][0]:], ids, '  ')
    print(f'  return {ids[x]}\n}}')


main()

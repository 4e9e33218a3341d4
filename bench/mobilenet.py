#!/usr/bin/env python3
"""Writes MobileNetV2 as a graph: mobilenet.py [--size 224] [--stream N] > mobilenet.stow

The first N of its 18 stages, the first convolution and the blocks of depthwise convolutions, are
one `stream` node; by default none are. Weights have no data: run it with `--random 1`.
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--size', type=int, default=224)
    parser.add_argument('--stream', type=int, default=0)
    options = parser.parse_args()
    body = Body()
    body.shapes['x'] = (1, 3, options.size, options.size)
    ends = []  # nodes, and weights, after each stage
    for x in stages(body, 'x'):
        ends.append((len(body.nodes), len(body.weights), x))
    x = body.conv(x, 1280, 1, 1, 1)
    x = body.add(f'pool({{{x}}}) {{{{op = "avg", global = true}}}}', (1, 1280, 1, 1))
    x = body.conv(x, 1000, 1, 1, 1, clip=False)
    node_end, weight_end, last = ends[options.stream - 1] if options.stream else (0, 0, None)
    inside = body.weights[:weight_end] + body.biases[:weight_end]

    print('graph @mobilenet_v2 {')
    if options.stream:
        print('  function @stem {')
        ids = {'x': '%0'}
        print(f'    %0 = input "x" : {kind(body.shapes["x"])}')
        for name, shape in inside:
            ids[name] = '%' + str(len(ids))
            print(f'    {ids[name]} = input "{name}" : {kind(shape)}')
        write_nodes(body.nodes[:node_end], ids, '    ')
        print(f'    return {ids[last]}\n  }}')
    ids = {'x': '%0'}
    print(f'  %0 = input "x" : {kind(body.shapes["x"])}')
    for name, shape in body.weights + body.biases:
        ids[name] = '%' + str(len(ids))
        print(f'  {ids[name]} = param "{name}" : {kind(shape)}')
    if options.stream:
        operands = ', '.join(['%0'] + [ids[name] for name, _ in inside])
        ids[last] = '%' + str(len(ids))
        print(f'  {ids[last]} = stream({operands}) {{function = "stem"}} : '
              f'{kind(body.shapes[last])}')
    write_nodes(body.nodes[node_end:], ids, '  ')
    print(f'  return {ids[x]}\n}}')


main()

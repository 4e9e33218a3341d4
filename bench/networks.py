#!/usr/bin/env python3
"""Writes networks of the literature as graphs, for what streams save.

    networks.py mobilenet [--size 224] [--width 1.0] [--bytes] > mobilenet.stow
    networks.py superres [--size 64] [--depth 16] [--channels 64] > superres.stow

mobilenet is MobileNetV2, in f32 or, with --bytes, in bytes (qlinear_conv); superres is a shallow
network that makes images four times as large: convolutions, and depth_to_space at the end. Weights
have no data: run them with `--random 1`.
"""
import argparse

# Expansion, channels, repeats, stride of each group of blocks.
BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
          (6, 320, 1, 1)]


class Graph:
    def __init__(self, name, shape, in_bytes):
        self.name, self.in_bytes, self.count = name, in_bytes, 0
        self.lines, self.shapes = [], {}
        self.x = self.add('input "x"', shape, 'u8' if in_bytes else 'f32')
        if in_bytes:
            self.one = self.add('constant "scale" {data = [0x1.0p-5]}', (), 'f32')
            self.zero = self.add('constant "zero" {data = [128]}', (), 'u8')
            self.no_zero = self.add('constant "no_zero" {data = [0]}', (), 'i8')

    def add(self, text, shape, dtype=None):
        name = f'%{self.count}'
        self.count += 1
        self.shapes[name] = shape
        dtype = dtype or ('u8' if self.in_bytes else 'f32')
        self.lines.append(f'  {name} = {text} : {dtype}[{", ".join(map(str, shape))}]')
        return name

    def conv(self, x, channels, kernel, stride=1, group=1, limit=6.0):
        _, inner, high, wide = self.shapes[x]
        pad = kernel // 2
        shape = (1, channels, (high - 1) // stride + 1, (wide - 1) // stride + 1)
        weights = (channels, inner // group, kernel, kernel)
        attrs = (f'{{strides = [{stride}, {stride}], pads = [{pad}, {pad}, {pad}, {pad}], '
                 f'group = {group}}}')
        if self.in_bytes:
            w = self.add(f'param "w{self.count}"', weights, 'i8')
            q, z = self.one, self.zero
            return self.add(f'qlinear_conv({x}, {q}, {z}, {w}, {q}, {self.no_zero}, {q}, {z}) '
                            f'{attrs}', shape)
        w = self.add(f'param "w{self.count}"', weights)
        bias = self.add(f'param "b{self.count}"', (channels,))
        y = self.add(f'conv({x}, {w}, {bias}) {attrs}', shape)
        return self.add(f'clip({y}) {{min = 0.0, max = {limit}}}', shape) if limit else y

    def sum(self, a, b):
        if self.in_bytes:
            q, z = self.one, self.zero
            return self.add(f'qlinear_add({a}, {q}, {z}, {b}, {q}, {z}, {q}, {z})', self.shapes[a])
        return self.add(f'add({a}, {b})', self.shapes[a])

    def pool(self, x):
        channels = self.shapes[x][1]
        if self.in_bytes:
            q, z = self.one, self.zero
            y = self.add(f'qlinear_pool({x}, {q}, {z}, {q}, {z}) {{global = true}}',
                         (1, channels, 1, 1))
            return self.add(f'dequantize_linear({y}, {q}, {z})', (1, channels, 1, 1), 'f32')
        return self.add(f'pool({x}) {{op = "avg", global = true}}', (1, channels, 1, 1))

    def write(self, result):
        print(f'graph @{self.name} {{')
        print('\n'.join(self.lines))
        print(f'  return {result}\n}}')


def whole(channels):
    """The next multiple of 8, but not less than nine tenths."""
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded


def mobilenet(options):
    g = Graph('mobilenet_v2', (1, 3, options.size, options.size), options.bytes)
    x = g.conv(g.x, whole(32 * options.width), 3, 2)
    for expansion, channels, repeats, first_stride in BLOCKS:
        for i in range(repeats):
            inner, out = g.shapes[x][1], whole(channels * options.width)
            stride = first_stride if i == 0 else 1
            y = g.conv(x, inner * expansion, 1) if expansion != 1 else x
            y = g.conv(y, inner * expansion, 3, stride, inner * expansion)
            y = g.conv(y, out, 1, limit=None)
            x = g.sum(x, y) if stride == 1 and inner == out else y
    x = g.pool(g.conv(x, whole(1280 * max(1.0, options.width)), 1))
    g.in_bytes = False
    g.write(g.conv(x, 1000, 1, limit=None))


def superres(options):
    g = Graph('superres', (1, 3, options.size, options.size), False)
    x = g.x
    for _ in range(options.depth - 1):
        x = g.conv(x, options.channels, 3)
    x = g.conv(x, 48, 3, limit=None)
    g.write(g.add(f'depth_to_space({x}) {{blocksize = 4}}',
                  (1, 3, 4 * options.size, 4 * options.size)))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('network', choices=('mobilenet', 'superres'))
    parser.add_argument('--size', type=int)
    parser.add_argument('--width', type=float, default=1.0)
    parser.add_argument('--bytes', action='store_true')
    parser.add_argument('--depth', type=int, default=16)
    parser.add_argument('--channels', type=int, default=64)
    options = parser.parse_args()
    options.size = options.size or {'mobilenet': 224, 'superres': 64}[options.network]
    {'mobilenet': mobilenet, 'superres': superres}[options.network](options)


main()

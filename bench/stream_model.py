#!/usr/bin/env python3
"""Puts the nodes of a model into `stream` nodes where that makes its arena smaller.

    stowage fmt model.onnx --bind-rest 1 -o model.stow
    stream_model.py STOWAGE model.stow streamed.stow [ROWS]
    STOWAGE plan streamed.stow --kernels stowage --io external --weights file

ROWS is the attribute `rows` of the streams; by default 1, with which they need least.

Segments are runs of nodes, in the order of the file, that may be streamed. Where to cut them is
found by dynamic programming: the largest of what any segment needs is made as small as possible.
A segment needs what `stowage plan` says that its stream has as scratch, its operands and results,
and what lives across it. Data of weights is left out, so that both files run with `--random`.
"""

import os
import re
import subprocess
import sys
import tempfile

NODE = re.compile(r'^  (?P<results>%\d+.*?) = (?P<op>\w+)(?: "[^"]*")?(?P<rest>.*?) : (?P<types>[^"]*)$')
WIDTH = {'f32': 4, 'f16': 2, 'i8': 1, 'u8': 1, 'i32': 4, 'i64': 8, 'bool': 1, 'f64': 8}
STREAMED = {'conv', 'relu', 'sigmoid', 'mul', 'add', 'sub', 'div', 'clip', 'concat', 'split', 'pool',
            'batch_norm', 'resize', 'pad', 'leaky_relu', 'prelu', 'hard_swish', 'hard_sigmoid',
            'qlinear_conv', 'quantize_linear', 'dequantize_linear', 'tanh', 'exp', 'silu'}
MOST = 100  # pieces in a segment


class Node:
    def __init__(self, line):
        match = NODE.match(line)
        self.line, self.op = line, match['op']
        self.results = re.findall(r'%\d+', match['results'])
        self.types = re.findall(r'\w+\[[^\]]*\]', match['types'])
        self.operands = re.findall(r'%\d+|\b_\b', match['rest'].split(')')[0])
        attrs = match['rest'][match['rest'].find(')') + 1:].strip()
        self.attrs = attrs if self.operands or self.op not in ('param', 'constant', 'input') else ''
        self.is_weight = self.op in ('param', 'constant', 'input')


def dims(kind):
    return [int(dim) for dim in kind[kind.index('[') + 1:-1].split(',') if dim.strip()]


def size(kind):
    total = WIDTH[kind[:kind.index('[')]]
    for dim in dims(kind):
        total *= dim
    return total


class Model:
    def __init__(self, path):
        lines = open(path, encoding='utf-8').read().splitlines()
        self.head = lines[0]
        self.outputs = re.findall(r'%\d+', next(line for line in lines if line.startswith('  return')))
        self.all = [Node(line) for line in lines if NODE.match(line)]
        self.weights = [node for node in self.all if node.is_weight]
        self.nodes = [node for node in self.all if not node.is_weight]
        self.kind = {r: t for node in self.all for r, t in zip(node.results, node.types)}
        self.fixed = {node.results[0] for node in self.weights if node.op != 'input'}
        self.data = {node.results[0]: re.search(r'data = \[([^\]]*)\]', node.line)
                     for node in self.weights}
        self.last = {}
        for i, node in enumerate(self.nodes):
            self.last.update({operand: i for operand in node.operands})
        self.last.update({output: len(self.nodes) for output in self.outputs})
        self.made = {r: i for i, node in enumerate(self.nodes) for r in node.results}

    def streamable(self, node):
        kinds = [self.kind[r] for r in node.results]
        image = self.kind.get(node.operands[0], 'f32[]')
        return (node.op in STREAMED and all(len(dims(k)) == 4 and dims(k)[0] == 1 for k in kinds) and
                'global = true' not in node.attrs and
                (node.op not in ('conv', 'pool') or len(dims(image)) == 4) and
                (node.op != 'pad' or node.operands[2] == '_' or self.data[node.operands[2]]))

    def simple(self, node):
        """Operands and attributes, with numbers that shapes need as attributes."""
        operands, attrs = list(node.operands), node.attrs
        if node.op == 'resize':
            operands = operands[:1]
        if node.op == 'split' and len(operands) == 2:
            sizes = ', '.join(str(dims(kind)[1]) for kind in node.types)
            operands, attrs = operands[:1], attrs.replace('}', f', sizes = [{sizes}]}}')
        if node.op == 'pad' and len(operands) > 2 and operands[2] != '_':
            pads = self.data[operands[2]][1]
            attrs = (attrs or '{}').replace('}', (', ' if attrs else '') + f'pads = [{pads}]}}')
            operands = operands[:2]
        return operands, attrs

    def segment(self, first, end):
        """Operands and results of a segment; weights first, since 64 operands can be packed."""
        nodes = self.nodes[first:end]
        inside = {r for node in nodes for r in node.results}
        read = [o for node in nodes for o in self.simple(node)[0] if o != '_' and o not in inside]
        read = sorted(dict.fromkeys(read), key=lambda o: (o in self.fixed, -size(self.kind[o])))
        made = [r for node in nodes for r in node.results if self.last.get(r, -1) >= end]
        return read, made

    def live(self, first, end):
        """Bytes that live beside the scratch of a segment: all but weights and the outputs' room."""
        names = {name for name, made in self.made.items()
                 if made < end and self.last.get(name, -1) >= first and
                 not (first <= made and self.last[name] < end)}
        return sum(size(self.kind[name]) for name in names)


def write(out, node, model, ids, names):
    operands, attrs = model.simple(node)
    for name in names:
        ids[name] = f'%{len(ids)}'
    made = ', '.join(ids[name] for name in names)
    read = ', '.join('_' if o == '_' else ids[o] for o in operands)
    out.append(f'{made} = {node.op}({read}) {attrs} : {", ".join(node.types)}')


def write_function(out, model, name, first, end):
    read, made = model.segment(first, end)
    ids = {}
    out.append(f'function @{name} {{')
    for operand in read:
        ids[operand] = f'%{len(ids)}'
        out.append(f'{ids[operand]} = input "i{len(ids)}" : {model.kind[operand]}')
    for node in model.nodes[first:end]:
        write(out, node, model, ids, node.results)
    out.append(f'return {", ".join(ids[name] for name in made)}\n}}')


def write_model(model, streams, only=None):
    """The whole model, or a graph of one stream alone."""
    out, ids = [model.head], {}
    for i, (first, end) in enumerate(streams):
        write_function(out, model, f's{i}', first, end)
    boundary = [node.results[0] for node in model.weights] if only is None else model.segment(*only)[0]
    for name in boundary:
        ids[name] = f'%{len(ids)}'
        node = next((n for n in model.weights if n.results[0] == name), None)
        op = 'input' if node is None else node.op
        data = f' {{data = [{model.data[name][1]}]}}' if op == 'constant' and model.data[name] else ''
        op = 'param' if op == 'constant' and not data else op
        out.append(f'{ids[name]} = {op} "n{len(ids)}"{data} : {model.kind[name]}')
    at, end = (0, len(model.nodes)) if only is None else only
    begins = dict(streams)
    while at < end:
        if at not in begins:
            node = model.nodes[at]
            for name in node.results:
                ids[name] = f'%{len(ids)}'
            read = ', '.join('_' if o == '_' else ids[o] for o in node.operands)
            out.append(f'{", ".join(ids[r] for r in node.results)} = {node.op}({read}) {node.attrs}'
                       f' : {", ".join(node.types)}')
            at += 1
            continue
        read, made = model.segment(at, begins[at])
        operands = ', '.join(ids[name] for name in read)
        for name in made:
            ids[name] = f'%{len(ids)}'
        number = [first for first, _ in streams].index(at)
        out.append(f'{", ".join(ids[name] for name in made)} = stream({operands}) '
                   f'{{function = "s{number}", rows = {model.rows}}} : '
                   f'{", ".join(model.kind[name] for name in made)}')
        at = begins[at]
    outputs = model.outputs if only is None else model.segment(*only)[1]
    out.append(f'return {", ".join(ids[name] for name in outputs)}\n}}')
    return '\n'.join(out) + '\n'


def arena(stowage, text):
    with tempfile.NamedTemporaryFile('w', suffix='.stow', delete=False) as file:
        file.write(text)
    done = subprocess.run([stowage, 'plan', file.name, '--kernels', 'stowage', '--io', 'external',
                           '--weights', 'file'], capture_output=True, text=True, check=False)
    found = re.search(r'^  arena +(\d+) B', done.stdout, re.M)
    if found is None:
        print(done.stderr.strip(), file=sys.stderr)
    else:
        os.unlink(file.name)
    return int(found[1]) if found else None


def pieces(model):
    """Where cuts may be: around nodes that are not streamed, and where the fewest bytes cross."""
    cuts = [0]
    for i, node in enumerate(model.nodes):
        after = model.nodes[i + 1] if i + 1 < len(model.nodes) else None
        both = after is not None and model.streamable(node) and model.streamable(after)
        if not both or after.op in ('conv', 'batch_norm', 'concat', 'resize', 'pool'):
            cuts.append(i + 1)
    return cuts


def cut(stowage, model):
    cuts = pieces(model)
    best = [(0, None, None)] + [(float('inf'), None, None)] * (len(cuts) - 1)
    for j in range(1, len(cuts)):
        for i in range(max(0, j - MOST), j):
            first, end = cuts[i], cuts[j]
            nodes = model.nodes[first:end]
            live = model.live(first, end)
            if best[i][0] >= best[j][0] or live >= best[j][0]:
                continue
            if j == i + 1:
                loads = [model.live(k, k + 1) for k in range(first, end)]
                best[j] = min(best[j], (max(best[i][0], max(loads)), i, False), key=lambda b: b[0])
            if all(model.streamable(node) for node in nodes):
                scratch = arena(stowage, write_model(model, [(first, end)], (first, end)))
                cost = float('inf') if scratch is None else max(best[i][0], scratch + live)
                if cost < best[j][0]:
                    best[j] = (cost, i, True)
    streams, j = [], len(cuts) - 1
    while j > 0:
        _, i, is_stream = best[j]
        if is_stream:
            streams.append((cuts[i], cuts[j]))
        j = i
    return best[-1][0], streams[::-1]


def main():
    stowage, source, target = sys.argv[1:4]
    model = Model(source)
    model.rows = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    predicted, streams = cut(stowage, model)
    plain = arena(stowage, write_model(model, []))
    text = write_model(model, streams)
    with open(target, 'w', encoding='utf-8') as file:
        file.write(text)
    print(f'plain {plain} B, predicted {predicted} B, streamed {arena(stowage, text)} B, '
          f'{len(streams)} streams of {sum(b - a for a, b in streams)} in {len(model.nodes)} nodes')


main()

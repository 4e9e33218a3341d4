#!/usr/bin/env python3
"""Shows that two builds decide and compute the same: arenas, offsets, decisions, outputs, exported programs.

    scripts/compare-builds.py OLD_BUILD NEW_BUILD [--models DIR] [--graphs DIR] [--jobs N]

Every example, every model (.onnx) below --models and every text (.stow) in --graphs is planned, run and, but for
--graphs, exported by the commands of both builds. Compared are exit codes and what machines read: saved plans, JSON,
CSV and C headers without comments, outputs bit for bit, offsets in exported sources and, of examples, outputs of the
programs. Prose is not. `write_graphs --data DIR [--long]`, a target of the tests, writes random texts.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Each example with what it needs.
EXAMPLES = {
    'branches.stow': [], 'mlp.stow': [], 'tiny.stow': [], 'transformer.stow': [],
    'cnn.stow': ['--bind', 'batch=2'],
    'decode.stow': ['--bind', 'past=128,max=256'],
    'generate.stow': ['--graph', 'decode'],
    'training.stow': ['--graph', 'backward'],
    'digits.onnx': [], 'encoder.onnx': ['--bind-rest', '4'], 'decode.onnx': ['--bind-rest', '4'],
}
TIMEOUT = 20  # seconds
# What is told about the run itself.
VARYING = {'nanoseconds', 'file', 'folder', 'files', 'source_bytes', 'seconds', 'milliseconds'}


def without_varying(item):
    if isinstance(item, dict):
        return {key: without_varying(value) for key, value in item.items() if key not in VARYING}
    if isinstance(item, list):
        return [without_varying(value) for value in item]
    return item


def of_json(data):
    return json.dumps(without_varying(json.loads(data)), sort_keys=False).encode()


def without_comments(data):
    data = re.sub(rb'/\*.*?\*/', b'', data, flags=re.S)
    return b'\n'.join(line.rstrip() for line in re.sub(rb'//[^\n]*', b'', data).split(b'\n') if line.strip())


def same_bytes(data):
    return data


class Comparison:
    """Of one file: what it gives in both builds, and where that differs."""

    def __init__(self, builds, path, options):
        self.builds = [os.path.join(build, 'tools', 'stowage', 'stowage') for build in builds]
        self.path = path
        self.options = options
        self.count = 0
        self.ran = 0
        self.differences = []

    def expect_same(self, what, old, new):
        self.count += 1
        if old != new:
            self.differences.append(f'{self.path}: {what}')
        return old == new

    def both(self, what, arguments, read=same_bytes, out=None):
        """Runs both commands; compares standard output, or the file |out|. True where both exit with 0."""
        results = []
        for command in self.builds:
            if out is not None and os.path.exists(out):
                os.remove(out)
            try:
                done = subprocess.run([command, *arguments, *self.options], stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, check=False, timeout=TIMEOUT)
            except subprocess.TimeoutExpired:  # random graphs have loops without end
                results.append((None, b''))
                continue
            data = b''
            if done.returncode == 0:
                data = done.stdout
                if out is not None:
                    with open(out, 'rb') as file:
                        data = file.read()
                data = read(data)
            results.append((done.returncode, data))
        if results[0][0] != results[1][0]:
            self.expect_same(f'{what}: exit codes {results[0][0]} and {results[1][0]}', 0, 1)
        else:
            self.expect_same(what, results[0][1], results[1][1])
        return results[0][0] == 0 and results[1][0] == 0

    def plans(self, formats, presets):
        for preset in presets:
            for name, read in formats:
                self.both(f'plan --preset {preset} --format {name}',
                          ['plan', self.path, '--preset', preset, '--format', name, '--nodes', '20k'], read)

    def run(self, folder):
        out = os.path.join(folder, 'outputs.npz')
        if self.both('outputs', ['run', self.path, '--random', '1', '--outputs', out], out=out):
            self.ran += 1
            self.both('run --format json', ['run', self.path, '--random', '1', '--format', 'json'], of_json)

    def export(self, folder, builds_programs):
        """Compares arena, offsets, steps and weights of the exported sources; of a program that is built, outputs."""
        results = []
        for number, command in enumerate(self.builds):
            to = os.path.join(folder, str(number))
            done = subprocess.run([command, 'export', self.path, '-o', to, '--name', 'exported', '--random', '1',
                                   '--format', 'json', *self.options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            facts = {'exit code': done.returncode}
            if done.returncode == 0:
                with open(os.path.join(to, 'exported.c'), encoding='utf-8') as file:
                    source = file.read()
                facts['arena'] = re.search(r'arena\[(\d+)\]', source)[1]
                facts['offsets'] = re.findall(r'\{arena \+ (\d+), (STOW_\w+), (\d+), (\{[^}]*\})', source)
                facts['steps'] = re.findall(r'(arena(?: \+ \d+)?), (\d+), \d+, \d+, \d+, (STOW_OP_\w+)', source)
                with open(os.path.join(to, 'exported_weights.c'), 'rb') as file:
                    facts['weights'] = without_comments(file.read())
                if builds_programs:
                    facts['outputs'] = self.outputs_of(to, json.loads(done.stdout)['ports'])
            results.append(facts)
        if builds_programs:
            self.expect_same('export: an example cannot be exported', results[0]['exit code'], 0)
        for key in results[0]:
            self.expect_same(f'export: {key}', results[0].get(key), results[1].get(key))

    @staticmethod
    def outputs_of(folder, ports):
        subprocess.run(['make', '-s', '-C', folder, 'CFLAGS=-O0'], check=True)
        outputs = {}
        for name in [port['name'] for port in ports if port['output']]:
            out = os.path.join(folder, 'out.raw')
            subprocess.run([os.path.join(folder, 'exported'), '--random', '1', '--output', f'{name}={out}'],
                           stdout=subprocess.DEVNULL, check=True)
            with open(out, 'rb') as file:
                outputs[name] = file.read()
        return outputs


FORMATS = [('plan', same_bytes), ('json', of_json), ('csv', same_bytes), ('c', without_comments)]


def compare_model(builds, path, options, is_example):
    comparison = Comparison(builds, path, options)
    with tempfile.TemporaryDirectory() as folder:
        comparison.plans(FORMATS, ['default', 'rlx', 'rlx-0.2.2'] if is_example else ['default'])
        comparison.run(folder)
        comparison.export(folder, is_example)
    return comparison


def compare_graph(builds, path):
    """A text. What custom nodes give has no kernel here: to run it, they become inputs."""
    comparison = Comparison(builds, path, [])
    comparison.plans([('plan', same_bytes), ('json', of_json)], ['default'])
    comparison.plans([('plan', same_bytes)], ['rlx'])
    with open(path, encoding='utf-8') as file:
        text = file.read()
    text = re.sub(r'^  (%(\d+))(?: "[^"]*")? = custom\(.*?\) \{name = "[^"]*"[^}]*\} : ([a-z0-9]+\[[^]]*\])(?: with .*)?$',
                  r'  \1 = input "made\2" : \3', text, flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        comparison.path = os.path.join(folder, os.path.basename(path))
        with open(comparison.path, 'w', encoding='utf-8') as file:
            file.write(text)
        comparison.run(folder)
    return comparison


def jobs_of(args):
    builds = (args.old, args.new)
    for name, options in EXAMPLES.items():
        yield compare_model, builds, os.path.join(ROOT, 'examples', name), options, True
    if args.models:
        for folder, _, files in sorted(os.walk(args.models)):
            for name in sorted(files):
                if name.endswith('.onnx'):
                    yield compare_model, builds, os.path.join(folder, name), ['--bind-rest', '4'], False
    if args.graphs:
        for name in sorted(os.listdir(args.graphs)):
            if name.endswith('.stow'):
                yield compare_graph, builds, os.path.join(args.graphs, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('old')
    parser.add_argument('new')
    parser.add_argument('--models', help='a folder of models, with all folders below it')
    parser.add_argument('--graphs', help='a folder of texts')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    args = parser.parse_args()
    if shutil.which('make') is None:
        sys.exit('compare-builds.py: no make')
    files = comparisons = ran = 0
    differences = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done in pool.map(lambda job: job[0](*job[1:]), jobs_of(args)):
            files += 1
            comparisons += done.count
            ran += done.ran
            for difference in done.differences:
                print(f'DIFFERS: {difference}', flush=True)
            differences += done.differences
    print(f'{files} files, {comparisons} comparisons, {ran} files ran, {len(differences)} differences')
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main())

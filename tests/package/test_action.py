#!/usr/bin/env python3
"""Runs the commands of examples/ci/action.yml, taken from that file, as GitHub's runner would: on
pull requests in repositories made for it, with a `gh` that notes its calls.

Usage: test_action.py COMMAND SOURCE_DIR [--build]
       --build really builds the command, once; otherwise a stub of cmake provides COMMAND
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMMAND, SOURCE = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
BUILD = '--build' in sys.argv
GRAPH = '''graph @mlp {
  %%0 = input "x y" : f32[4, %d]
  %%1 "y|`z`" = exp(%%0) : f32[4, %d]
  %%2 = tanh(%%1) : f32[4, %d]
  return %%2
}
'''
GH = '''#!/bin/sh
[ "$GH_TOKEN" = secret ] || exit 4
echo "$*" >>"$CALLS"
case $* in
  *--jq*) echo "$OLD_COMMENTS" ;;
  *body=@*) cat "${*##*body=@}" >>"$CALLS" ;;
esac
'''
CMAKE = '''#!/bin/sh
case $1 in
  -S) [ -f "$2/CMakeLists.txt" ] && [ "$3" = -B ] && mkdir -p "$4/tools/stowage" ;;
  --build) [ "$3 $4" = '--target stowage_command' ] && ln -sf "$COMMAND" "$2/tools/stowage/stowage" ;;
esac
'''


def steps(path):
    """The steps of a composite action as dicts. Reads the YAML that this file uses, no other."""
    found, block = [], None
    for line in path.read_text().split('  steps:\n')[1].splitlines():
        indent = len(line) - len(line.lstrip())
        text = line.strip()
        if block is not None and (not text or indent >= 8):
            block.append(line[8:])
            continue
        if text.startswith('- name:'):
            found.append({'env': {}})
        if text.startswith('#') or not text:
            continue
        block = None
        key, value = re.fullmatch(r'(?:- )?([A-Za-z_]+):\s*(.*)', text).groups()
        if key == 'run':
            assert value == '|', f'{path}: a run that is no block: {value}'
            found[-1]['run'] = block = []
        elif indent == 8:
            found[-1]['env'][key] = value
        elif key != 'env':
            found[-1][key] = value
    return found


class Machine:
    """A runner, with a repository in which a pull request was merged."""

    def __init__(self, work, name, builds=False):
        self.root = work / name
        self.temp, self.repository, self.bin = (self.root / part for part in ('temp', 'repo', 'bin'))
        for folder in (self.temp, self.repository, self.bin):
            folder.mkdir(parents=True)
        self.write_tool('gh', GH)
        if not builds:
            self.write_tool('cmake', CMAKE)
            self.write_tool('dpkg-query', '#!/bin/sh\necho install ok installed\n')
        self.output = ''
        self.inputs = {'models': 'a model.stow\n', 'options': '', 'max-growth': '0', 'token': 'secret'}
        self.environment = {
            **os.environ, 'PATH': f'{self.bin}:{os.environ["PATH"]}', 'COMMAND': str(COMMAND),
            'CALLS': str(self.root / 'calls'), 'OLD_COMMENTS': '', 'GITHUB_REPOSITORY': 'us/models',
            'GIT_CONFIG_GLOBAL': os.devnull, 'GIT_AUTHOR_NAME': 'a', 'GIT_AUTHOR_EMAIL': 'a@b.c',
            'GIT_COMMITTER_NAME': 'a', 'GIT_COMMITTER_EMAIL': 'a@b.c'}
        for variable in ('GITHUB_PATH', 'GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY'):
            self.environment[variable] = str(self.root / variable)

    def write_tool(self, name, text):
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def git(self, *arguments, cwd=None):
        return subprocess.run(['git', *arguments], cwd=cwd or self.repository, check=True, text=True,
                              env=self.environment, stdout=subprocess.PIPE).stdout.strip()

    def commit(self, files):
        for name, text in files.items():
            (self.repository / name).write_text(text)
        self.git('add', '.')
        self.git('commit', '--quiet', '--allow-empty', '-m', 'a commit')

    def pull_request(self, before, after):
        """Makes a merge commit, and a shallow clone of it: what actions/checkout gives."""
        self.git('init', '--quiet', '-b', 'main')
        self.commit(before)
        self.git('switch', '--quiet', '-c', 'change')
        self.commit(after)
        self.git('switch', '--quiet', 'main')
        self.git('merge', '--quiet', '--no-ff', '-m', 'merge', 'change')
        self.environment['GITHUB_SHA'] = self.git('rev-parse', 'HEAD')
        self.git('config', 'uploadpack.allowAnySHA1InWant', 'true')
        self.git('clone', '--quiet', '--depth', '1', f'file://{self.repository}', 'clone', cwd=self.root)

    def value(self, text):
        values = {'github.action_path': str(SOURCE / 'examples/ci'), 'runner.temp': str(self.temp),
                  'github.event.pull_request.number': '7',
                  'steps.compare.outputs.failed': self.read('GITHUB_OUTPUT').strip()[len('failed='):],
                  **{f'inputs.{name}': value for name, value in self.inputs.items()}}
        return re.sub(r'\$\{\{ ([\w.-]+) \}\}', lambda match: values[match[1]], text)

    def read(self, name):
        path = self.root / name
        return path.read_text() if path.exists() else ''

    def run(self):
        """The status of the first step that fails, or 0."""
        for step in steps(SOURCE / 'examples/ci/action.yml'):
            assert step.get('if') in (None, "github.event.pull_request && inputs.token != ''")
            assert step['shell'] == 'bash'
            if 'if' in step and not self.inputs['token']:
                continue
            environment = dict(self.environment)
            environment.update({key: self.value(value) for key, value in step['env'].items()})
            environment['PATH'] = ':'.join([*self.read('GITHUB_PATH').split(), environment['PATH']])
            (self.root / 'script').write_text('\n'.join(step['run']) + '\n')
            done = subprocess.run(
                ['bash', '--noprofile', '--norc', '-eo', 'pipefail', self.root / 'script'], text=True,
                cwd=self.root / 'clone', env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.output += done.stdout
            if done.returncode != 0:
                return done.returncode
        return 0


def expect(machine, status, *texts, where='calls'):
    name = machine.root.name
    actual = machine.run()
    assert actual == status, f'{name}: status {actual}, not {status}\n{machine.output}'
    summary = machine.read('GITHUB_STEP_SUMMARY')
    assert str(machine.root) not in summary, f'{name}: a path of the runner in {summary}'
    for text in texts:
        assert text in machine.read(where), f'{name}: no {text!r} in {machine.read(where)}'
    print(f'{name}: status {status}')


def graph(width):
    return GRAPH % (width, width, width)


def main(work):
    before = {'a model.stow': graph(64), 'b.stow': graph(8)}

    m = Machine(work, 'GrowthFailsAndIsCommentedOn', builds=BUILD)
    m.pull_request(before, {'a model.stow': graph(80)})
    expect(m, 1, '--method POST repos/us/models/issues/7/comments', '<!-- stowage diff -->',
           '### Too large: `a model.stow`', '(25.00 %)', '`y\\x7c\\x60z\\x60`')
    assert 'Too large' in m.read('GITHUB_STEP_SUMMARY')

    m = Machine(work, 'GrowthWithinTheLimitPasses')
    m.pull_request(before, {'a model.stow': graph(80)})
    m.inputs.update({'max-growth': '25%'})
    expect(m, 0, 'The arena grew by')

    m = Machine(work, 'LaterPushesChangeTheComment')
    m.pull_request(before, {})
    m.environment['OLD_COMMENTS'] = '41\n42'
    expect(m, 0, '--method PATCH repos/us/models/issues/comments/41', 'is as large as it was')

    m = Machine(work, 'SeveralModelsAndOptions')
    m.pull_request(before, {'b.stow': graph(80), 'c.stow': graph(8)})
    m.inputs.update(models='a model.stow\n\nb.stow\nc.stow\n', options='--no-in-place  --no-reuse')
    expect(m, 1, '### `a model.stow`', '### Too large: `b.stow`', '### `c.stow`\n\nNew')

    m = Machine(work, 'OptionsMayHaveBlanksInQuotes')
    m.pull_request(before, {'a model.stow': graph(80)})
    m.inputs.update(options='--io "x y=external"  --align \'16\'\n--no-reuse')
    expect(m, 1, '### Too large: `a model.stow`', 'Compared with `before:a model.stow`')

    m = Machine(work, 'OptionsAreNotExpanded')
    m.pull_request(before, {})
    m.inputs.update(options='--graph "$(touch expanded)" * `touch expanded`')
    expect(m, 1, '### Failed: `a model.stow`')
    assert not (m.root / 'clone/expanded').exists()

    m = Machine(work, 'AnOpenQuoteFails')
    m.pull_request(before, {})
    m.inputs.update(options='--graph "mlp')
    expect(m, 1, where='GITHUB_STEP_SUMMARY')

    m = Machine(work, 'SymbolsAreThoseOfAnyModel')
    m.pull_request({**before, 'c.stow': graph(8).replace('f32[4', 'f32[?batch')}, {})
    m.inputs.update(models='a model.stow\nc.stow', options='--bind batch=2,past=3')
    expect(m, 0, '### `a model.stow`', '### `c.stow`')

    m = Machine(work, 'ANewFileThatIsNoModelFails')
    m.pull_request(before, {'c.stow': 'version https://git-lfs.github.com/spec/v1\n'})
    m.inputs.update(models='b.stow\nc.stow')
    expect(m, 1, '### `b.stow`', '### Failed: `c.stow`', "expected 'graph'")

    m = Machine(work, 'ABaselineBesideTheModelCounts')
    m.pull_request(before, {'a model.stow': graph(80)})
    subprocess.run([COMMAND, 'plan', 'a model.stow', '--format', 'csv', '-o', 'a model.stow.baseline.csv'],
                   cwd=m.root / 'clone', check=True)
    expect(m, 0, 'Compared with `a model.stow.baseline.csv`')

    m = Machine(work, 'AMalformedModelFails')
    m.pull_request(before, {'a model.stow': 'graph'})
    expect(m, 1, '### Failed: `a model.stow`', 'a model.stow:')

    m = Machine(work, 'WhatWasMalformedBeforeIsNamed')
    m.pull_request({'a model.stow': 'graph'}, {'a model.stow': graph(8)})
    expect(m, 1, '### Failed: `a model.stow`', 'stowage: before:a model.stow:')

    m = Machine(work, 'AMissingModelFails')
    m.pull_request(before, {})
    m.inputs.update(models='b.stow\na modle.stow')
    expect(m, 1, '### `b.stow`', '### Failed: `a modle.stow`')

    m = Machine(work, 'WithoutTheRightToComment')
    m.pull_request(before, {})
    m.write_tool('gh', '#!/bin/sh\nexit 1\n')
    expect(m, 0)
    assert '::warning::' in m.output

    m = Machine(work, 'NoTokenNoComment')
    m.pull_request(before, {})
    m.inputs['token'] = ''
    expect(m, 0, 'as large', where='GITHUB_STEP_SUMMARY')
    assert not m.read('calls')


if not shutil.which('git') or not shutil.which('bash'):
    print('SKIP: no git or no bash')
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    main(pathlib.Path(folder))

#!/usr/bin/env python3
"""Finds holes in the tests: breaks one token of src/ at a time, and lists what no test notices.

    scripts/mutate.py src/plan/check              a sample of 60 mutants of a folder
    scripts/mutate.py --all src/arena             every mutant of it
    scripts/mutate.py src/plan/check/views.c:216  every mutant of one line
    scripts/mutate.py --sanitize src/arena        also killed by AddressSanitizer

A mutant is a source file with one small fault: a comparison turned round or moved by one, + for -,
&& for ||, a dropped !, another constant, true for false, an error that becomes STOW_OK, a statement
that is gone. It is compiled, linked into the tests of its room and killed by the first one that
fails, crashes or takes far too long. Mutants that do not compile or give the same object code do
not count. What survives is printed as file:line with the line before and after; write a test that
kills it, delete the code that nobody needs, or say in scripts/mutate-allowed.txt why it may live:

    file | a part of the line | mutation | a reason that holds for every such line of the file

All work is done on a copy in build/mutate (or $MUTATE_DIR, for a second run beside the first); the
working tree is only read. The same sources, paths, count and seed give the same mutants. Exit code:
0 all killed or allowed, 1 survivors, 2 no result. Needs Python 3, cmake, ninja and a C compiler.
"""
import argparse
import collections
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(ROOT, os.environ.get('MUTATE_DIR', 'build/mutate'))
SOURCE = os.path.join(WORK, 'source')
BUILD = os.path.join(WORK, 'build')  # or 'sanitized', as asked
ALLOWED = os.path.join('scripts', 'mutate-allowed.txt')

# Tests of a folder, as room/name. Others have those of their room.
TESTS = {
    'src/analysis': r'^analysis/|^plan/test_(make|plan_sharing|plan_windows|set|golden|check_sharing|check_rows)$',
    'src/exec/run': r'^(exec/test_(exec|pack|blocks|program|stream|changes)|rewrite/test_folded)',
    'src/exec/threads': r'^exec/test_(exec|threads)',
    'src/plan/check': r'^plan/test_(check|formula|set|rlx)|^plan/test_(layout|make)$',
}
MEMORY_KB = 4 << 20  # of a test: a mutant that allocates without end must not take the machine along


class Failure(Exception):
    """No result: what to print before exit code 2."""


# ------------------------------------------------------------------------------------------------
# Mutants

Token = collections.namedtuple('Token', 'kind text begin end')
# Bytes [begin, end) of |path| become |text|; |change| is what people read.
Mutant = collections.namedtuple('Mutant', 'path begin end text change')

TOKEN = re.compile(r'''
    (?P<skip>  //[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:\\\n|[^\n])* | \s+ )
  | (?P<text>  "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' )
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])* )
  | (?P<name>  [A-Za-z_]\w* )
  | (?P<mark>  <<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|. )
''', re.X | re.S | re.M)
SWAPS = {
    '<': ['<=', '>='], '<=': ['<', '>'], '>': ['>=', '<='], '>=': ['>', '<'], '==': ['!='],
    '!=': ['=='], '+': ['-'], '-': ['+'], '+=': ['-='], '-=': ['+='], '&&': ['||'], '||': ['&&'],
    '!': [''], 'true': ['false'], 'false': ['true'], '0': ['1'], '1': ['0'],
}
ASSIGNMENTS = {'=', '+=', '-=', '*=', '/=', '%=', '|=', '&=', '^=', '<<=', '>>='}


def tokens_of(text):
    found = (Token(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(text))
    return [token for token in found if token.kind != 'skip']


def is_binary(tokens, i):
    before = tokens[i - 1]
    return before.kind in ('name', 'number') and before.text not in ('return', 'case') or \
        before.text in (')', ']')


def swaps_of(tokens, i):
    token = tokens[i]
    if token.kind == 'number' and re.fullmatch(r'\d+|0x[0-9a-fA-F]+', token.text):
        return SWAPS.get(token.text, [str(int(token.text, 0) + 1)])
    if token.kind == 'name' and token.text.startswith('STOW_ERR_') and tokens[i - 1].text != 'case':
        return ['STOW_OK']
    if token.text in ('+', '-') and not is_binary(tokens, i):
        return []
    return SWAPS.get(token.text, []) if token.kind in ('mark', 'name') else []


def statement_end(tokens, i):
    """The index of the semicolon that ends the statement at |i|; None where it is a block."""
    depth = 0
    while i < len(tokens):
        text = tokens[i].text
        depth += (text in '([{') - (text in ')]}')
        if depth < 0 or (depth == 0 and text in '{}'):
            return None
        if depth == 0 and text == ';':
            return i
        i += 1
    return None


def is_removable(statement):
    """Whether the tokens are an assignment, a call, ++x or a jump: nothing that declares."""
    texts = [token.text for token in statement]
    if texts in (['break'], ['continue']) or texts[0] in ('++', '--') or texts[-1] in ('++', '--'):
        return True
    if texts[0] in ('return', 'goto', 'case', 'default', 'if', 'for', 'while', 'do', 'switch', 'else'):
        return False
    if statement[0].kind == 'name' and len(texts) > 2 and texts[1] == '(' and texts[-1] == ')':
        return True
    depth = 0
    for i, text in enumerate(texts):
        depth += (text in ('(', '[')) - (text in (')', ']'))
        if depth == 0 and text in ASSIGNMENTS:
            return True
        if depth == 0 and i > 0 and statement[i].kind == 'name' and \
                (statement[i - 1].kind == 'name' or texts[i - 1] == '*'):
            return False  # a declaration
    return False


def mutants_of(path, text, lines=None):
    """All mutants of a file, in order."""
    tokens = tokens_of(text)
    found = []
    parens = braces = 0
    for i, token in enumerate(tokens):
        if i > 0:
            for swap in swaps_of(tokens, i):
                found.append(Mutant(path, token.begin, token.end, swap,
                                    '%s -> %s' % (token.text, swap or 'nothing')))
        parens += (token.text == '(') - (token.text == ')')
        braces += (token.text == '{') - (token.text == '}')
        if parens == 0 and braces > 0 and token.text in ('{', '}', ';', ':') and i + 1 < len(tokens):
            last = statement_end(tokens, i + 1)
            if last is not None and last > i + 1 and is_removable(tokens[i + 1:last]):
                begin, end = tokens[i + 1].begin, tokens[last].end
                found.append(Mutant(path, begin, end, ';' + '\n' * text.count('\n', begin, end),
                                    'removed'))
    return [m for m in found if lines is None or text.count('\n', 0, m.begin) + 1 in lines]


def mutated(text, mutant):
    return text[:mutant.begin] + mutant.text + text[mutant.end:]


def line_at(text, at):
    begin = text.rfind('\n', 0, at) + 1
    end = text.find('\n', at)
    return text[begin:end if end >= 0 else len(text)].strip()


# ------------------------------------------------------------------------------------------------
# The copy and its build

def run(command, what, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            **options)
    if result.returncode != 0:
        raise Failure('%s failed:\n%s' % (what, result.stdout[-4000:]))
    return result.stdout


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def copy_sources():
    """Makes SOURCE what the working tree is; files that are the same stay, so that ninja rests."""
    listed = run(['git', 'ls-files', '-co', '--exclude-standard', '-z'], 'git ls-files', cwd=ROOT)
    files = {f for f in listed.split('\0') if os.path.isfile(os.path.join(ROOT, f))}
    for folder, _, names in os.walk(SOURCE):
        for name in names:
            if os.path.relpath(os.path.join(folder, name), SOURCE) not in files:
                os.remove(os.path.join(folder, name))
    for file in files:
        source, target = os.path.join(ROOT, file), os.path.join(SOURCE, file)
        with open(source, 'rb') as stream:
            new = stream.read()
        old = None
        if os.path.isfile(target):
            with open(target, 'rb') as stream:
                old = stream.read()
        if new != old:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(source, target)


def configure(sanitize):
    launcher = shutil.which('ccache')
    run(['cmake', '-S', SOURCE, '-B', BUILD, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Mutation',
         '-DCMAKE_C_FLAGS_MUTATION=-O1', '-DCMAKE_EXPORT_COMPILE_COMMANDS=ON',
         '-DSTOWAGE_BUILD_BENCH=OFF', '-DSTOWAGE_BUILD_EXAMPLES=OFF',
         '-DSTOWAGE_SANITIZE=' + ('address' if sanitize else '')] +
        (['-DCMAKE_C_COMPILER_LAUNCHER=' + launcher] if launcher else []), 'cmake')


def compile_commands():
    """For each source file, as src/…: how its object is made. Without the compiler cache."""
    commands = {}
    for entry in json.loads(read(os.path.join(BUILD, 'compile_commands.json'))):
        words = shlex.split(entry['command'])
        if os.path.basename(words[0]) == 'ccache':
            words = words[1:]
        commands[os.path.relpath(entry['file'], SOURCE)] = words
    return commands


Test = collections.namedtuple('Test', 'name program arguments link')


def find_tests(pattern):
    """Test programs whose room/name match, with how they are linked; in order of their names."""
    tests = []
    for room in sorted(os.listdir(os.path.join(BUILD, 'tests'))):
        listing = os.path.join(BUILD, 'tests', room, 'CTestTestfile.cmake')
        if not os.path.isfile(listing):
            continue
        for name, words in re.findall(r'^add_test\((?:\[=\[)?(\w+)(?:\]=\])? (.*)\)$', read(listing),
                                      re.M):
            program, *arguments = shlex.split(words)
            if re.search(pattern, room + '/' + name) and program.startswith(BUILD + os.sep):
                tests.append((name, os.path.relpath(program, BUILD), arguments))
    if not tests:
        return []
    links = run(['ninja', '-C', BUILD, '-t', 'commands'] + [t[1] for t in tests], 'ninja')
    by_program = {}
    for line in links.splitlines():
        match = re.search(r' -o (tests/\S+) ', line + ' ')
        if match and line.startswith(': &&'):
            by_program[match.group(1)] = line
    return [Test(*t, by_program[t[1]]) for t in tests if t[1] in by_program]


# ------------------------------------------------------------------------------------------------
# Running tests

def start(test, program, folder, seconds):
    memory = 'unlimited' if BUILD.endswith('sanitized') else MEMORY_KB  # ASan maps terabytes
    limits = 'ulimit -c 0; ulimit -t %d; ulimit -v %s; exec "$0" "$@"' % (seconds, memory)
    return subprocess.Popen(['sh', '-c', limits, program] + test.arguments, cwd=folder,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            stdin=subprocess.DEVNULL, start_new_session=True)


def passes(test, program, folder, seconds):
    """Whether it ends well, in so much processor time, or ten times that by the clock."""
    process = start(test, program, folder, seconds)
    try:
        return process.wait(timeout=10 * seconds) == 0
    except BaseException as reason:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(reason, subprocess.TimeoutExpired):
            return False
        raise


def measure(tests, slowest):
    """[(seconds, test)], fastest first; all must pass. Leaves those above |slowest| out. A program
    that was measured and is the same is not run again."""
    cache = os.path.join(WORK, 'seconds.json')
    known = json.loads(read(cache)) if os.path.isfile(cache) else {}
    timed = []
    for test in tests:
        program = os.path.join(BUILD, test.program)
        stamp = os.stat(program).st_mtime_ns
        if known.get(test.name, [0])[0] != stamp:
            begin = time.monotonic()
            if not passes(test, program, WORK, 300):
                raise Failure('%s fails without any mutation' % test.name)
            known[test.name] = [stamp, time.monotonic() - begin]
            write(cache, json.dumps(known))
        timed.append((known[test.name][1], test))
    timed.sort()
    left_out = [t.name for seconds, t in timed if seconds > slowest]
    if left_out:
        print('left out, over %g s: %s' % (slowest, ' '.join(left_out)))
    return [(seconds, test) for seconds, test in timed if seconds <= slowest]


class Worker:
    """Compiles, links and tests one mutant at a time in a folder of its own."""

    def __init__(self, index, commands, tests):
        self.folder = os.path.join(WORK, 'worker-%d' % index)
        self.commands = commands
        self.tests = tests
        self.originals = {}
        os.makedirs(self.folder, exist_ok=True)

    def compile(self, path, text, plain=True):
        """The object's bytes, or None; and leaves it in the folder. A plain one has no sanitizer,
        whose tables tell columns of the source."""
        source = os.path.join(self.folder, os.path.basename(path))
        write(source, text)
        words = list(self.commands[path])
        words[words.index('-o') + 1] = os.path.join(self.folder, 'mutant.o')
        words[words.index('-c') + 1] = source
        words = [word for word in words if not (plain and word.startswith('-fsanitize'))]
        if subprocess.run(words + ['-w'], cwd=BUILD, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode != 0:
            return None
        with open(os.path.join(self.folder, 'mutant.o'), 'rb') as file:
            return file.read()

    def link(self, test, path):
        words = self.commands[path]
        original = words[words.index('-o') + 1]
        program = os.path.join(self.folder, os.path.basename(test.program))
        line = test.link.replace(' %s ' % original, ' %s ' % os.path.join(self.folder, 'mutant.o'))
        line = line.replace(' -o %s ' % test.program, ' -o %s ' % program)
        run(line, 'linking ' + test.name, shell=True, cwd=BUILD)
        return program

    def judge(self, text, mutant):
        """'skipped', 'survived', or the name of the test that killed it."""
        path = mutant.path
        for plain in (True, False):
            if (path, plain) not in self.originals:
                self.originals[path, plain] = self.compile(path, text, plain)
            code = self.compile(path, mutated(text, mutant), plain)
            if code is None or code == self.originals[path, plain]:
                return 'skipped'
            if '-fsanitize=address' not in self.commands[path]:
                break
        words = self.commands[path]
        original = ' %s ' % words[words.index('-o') + 1]
        for seconds, test in self.tests:
            if original not in test.link:
                continue
            program = self.link(test, path)
            if not passes(test, program, self.folder, 2 + int(5 * seconds)):
                return test.name
        return 'survived'


class Hunt:
    """Judges mutants in their order until |count| of them counted, with several workers."""

    def __init__(self, texts, mutants, count):
        self.texts = texts
        self.mutants = mutants
        self.count = count
        self.next = 0
        self.verdicts = {}
        self.lock = threading.Lock()
        self.error = None

    def counted(self):
        return [i for i in sorted(self.verdicts) if self.verdicts[i] != 'skipped'][:self.count]

    def take(self):
        with self.lock:
            if self.error or self.next == len(self.mutants) or len(self.counted()) >= self.count:
                return None
            self.next += 1
            return self.next - 1

    def work(self, worker):
        try:
            while (index := self.take()) is not None:
                mutant = self.mutants[index]
                verdict = worker.judge(self.texts[mutant.path], mutant)
                with self.lock:
                    self.verdicts[index] = verdict
                    self.show()
        except BaseException as error:  # for the main thread
            self.error = error

    def show(self):
        counted = self.counted()
        survivors = sum(self.verdicts[i] == 'survived' for i in counted)
        line = '%d of %d mutants, %d survived' % (len(counted), min(self.count, len(self.mutants)),
                                                  survivors)
        if sys.stderr.isatty():
            sys.stderr.write('\r\033[K' + line)
        elif len(self.verdicts) % 20 == 0:
            sys.stderr.write(line + '\n')
        sys.stderr.flush()

    def run(self, workers):
        threads = [threading.Thread(target=self.work, args=(worker,)) for worker in workers]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)
        except KeyboardInterrupt:
            self.error = Failure('interrupted')
            print('\nwaiting for the tests that run', file=sys.stderr)
            for thread in threads:
                thread.join()
            self.error = Failure('interrupted')  # linkers that were interrupted, too, do not matter
        if sys.stderr.isatty():
            sys.stderr.write('\r\033[K')
        if self.error:
            raise self.error


# ------------------------------------------------------------------------------------------------
# What is asked, what is told

def lines_with(file, part, change):
    """Numbers of the lines that hold |part| and have such a mutant."""
    text = read(os.path.join(ROOT, file)) if os.path.isfile(os.path.join(ROOT, file)) else ''
    return {text.count('\n', 0, m.begin) + 1 for m in mutants_of(file, text)
            if m.change == change and part in line_at(text, m.begin)}


def read_allowed():
    """[(file, part of a line, mutation)]. A reason holds for every such line of its file."""
    allowed = []
    path = os.path.join(ROOT, ALLOWED)
    for number, line in enumerate(read(path).splitlines() if os.path.isfile(path) else [], 1):
        if not line.strip() or line.startswith('#'):
            continue
        # Lines of C have | themselves: the separator is one with spaces, the reason has none.
        parts = re.fullmatch(r'(\S+) \| (.+) \| ([^|]+|.*\|\|.*) \| ([^|]+)', line)
        if not parts:
            raise Failure('%s:%d: expected file | part of a line | mutation | reason' % (ALLOWED, number))
        file, part, change = parts.group(1, 2, 3)
        if not lines_with(file, part, change):
            raise Failure('%s:%d: no line of %s has this mutant' % (ALLOWED, number, file))
        allowed.append((file, part, change))
    return allowed


def is_allowed(allowed, text, mutant):
    line = line_at(text, mutant.begin)
    return any(file == mutant.path and part in line and change == mutant.change
               for file, part, change in allowed)


def files_of(path):
    """(files below a path as src/…, lines or None)"""
    path, colon, line = path.partition(':')
    relative = os.path.relpath(os.path.abspath(path), ROOT)
    whole = os.path.join(ROOT, relative)
    if not relative.startswith('src' + os.sep) or not os.path.exists(whole):
        raise Failure('%s: no such file or folder in src/' % path)
    if colon and not (line.isdigit() and os.path.isfile(whole)):
        raise Failure('%s:%s: expected FILE:LINE' % (path, line))
    if os.path.isfile(whole):
        return [relative], {int(line)} if colon else None
    found = [os.path.relpath(os.path.join(folder, name), ROOT)
             for folder, _, names in os.walk(whole) for name in names if name.endswith('.c')]
    return sorted(found), None


def pattern_of(path):
    fitting = [folder for folder in TESTS if (path + '/').startswith(folder + '/')]
    return TESTS[max(fitting, key=len)] if fitting else '^%s/' % path.split('/')[1]


def print_survivor(text, mutant, note):
    at = text.count('\n', 0, mutant.begin) + 1
    print('%s:%d: %s%s' % (mutant.path, at, mutant.change, note))
    print('  - ' + line_at(text, mutant.begin))
    print('  + ' + line_at(mutated(text, mutant), mutant.begin), flush=True)


def in_random_order(mutants, texts, seed):
    """By a hash of their lines: what changes elsewhere does not change the sample."""
    seen = collections.Counter()
    keyed = []
    for mutant in mutants:
        what = (mutant.path, line_at(texts[mutant.path], mutant.begin), mutant.change)
        seen[what] += 1
        key = hashlib.sha256(repr((seed, what, seen[what])).encode()).hexdigest()
        keyed.append((key, mutant))
    return [mutant for _, mutant in sorted(keyed)]


def hunt_in(path, options, allowed):
    """Prints the survivors of one path. Returns the row of the table."""
    files, lines = files_of(path)
    commands = compile_commands()
    files = [file for file in files if file in commands]
    texts = {file: read(os.path.join(SOURCE, file)) for file in files}
    mutants = [m for file in files for m in mutants_of(file, texts[file], lines)]
    mutants = in_random_order(mutants, texts, options.seed)
    count = len(mutants) if options.all or lines else options.count
    found = find_tests(options.tests or pattern_of(files[0] if files else path))
    if not mutants or not found:
        raise Failure('%s: nothing to mutate, or no tests that match' % path)
    run(['ninja', '-C', BUILD, '-j', str(options.jobs)] + [t.program for t in found], 'the build')
    tests = measure(found, options.slowest)
    print('%s: %d mutants possible, tests: %s' % (path, len(mutants), ' '.join(
        '%s (%.1f s)' % (t.name, seconds) for seconds, t in tests)), flush=True)
    hunt = Hunt(texts, mutants, count)
    hunt.run([Worker(i, commands, tests) for i in range(options.jobs)])
    tried = hunt.counted()
    survivors = [mutants[i] for i in tried if hunt.verdicts[i] == 'survived']
    survivors.sort()
    open_count = 0
    for mutant in survivors:
        known = is_allowed(allowed, texts[mutant.path], mutant)
        open_count += not known
        if options.verbose or not known:
            print_survivor(texts[mutant.path], mutant, ' (allowed)' if known else '')
    if options.verbose:
        kills = collections.Counter(hunt.verdicts[i] for i in tried)
        print('killed by: ' + ', '.join('%s %d' % kill for kill in kills.most_common()))
    return path, len(tried), len(survivors) - open_count, open_count


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('paths', nargs='+', metavar='PATH', help='a folder, FILE or FILE:LINE in src/')
    parser.add_argument('--count', type=int, default=60, help='mutants per path (60)')
    parser.add_argument('--all', action='store_true', help='every mutant')
    parser.add_argument('--seed', type=int, default=1, help='which mutants (1)')
    parser.add_argument('--tests', metavar='REGEX', help='tests to run, as room/name')
    parser.add_argument('--slowest', type=float, default=20, metavar='SECONDS',
                        help='leave out tests that take longer (20)')
    parser.add_argument('--jobs', type=int, default=2, help='mutants at a time (2)')
    parser.add_argument('--sanitize', action='store_true',
                        help='with AddressSanitizer: slower, and sees bytes out of bounds')
    parser.add_argument('--list', action='store_true', help='only list the mutants')
    parser.add_argument('--verbose', action='store_true', help='also allowed ones, and who killed')
    return parser.parse_args()


def list_mutants(paths):
    for path in paths:
        files, lines = files_of(path)
        for file in files:
            text = read(os.path.join(ROOT, file))
            for mutant in mutants_of(file, text, lines):
                print_survivor(text, mutant, '')


def main():
    global BUILD
    options = parse()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if options.sanitize:
        BUILD = os.path.join(WORK, 'sanitized')
    try:
        allowed = read_allowed()
        if options.list:
            list_mutants(options.paths)
            return 0
        os.nice(10)
        copy_sources()
        configure(options.sanitize)
        rows = [hunt_in(path, options, allowed) for path in options.paths]
    except (Failure, KeyboardInterrupt) as failure:
        print(failure or 'interrupted', file=sys.stderr)
        return 2
    print('%-28s %8s %8s %8s %9s' % ('path', 'mutants', 'killed', 'allowed', 'survivors'))
    for path, tried, known, open_count in rows:
        print('%-28s %8d %8d %8d %9d' % (path, tried, tried - known - open_count, known, open_count))
    return 1 if any(row[3] for row in rows) else 0


if __name__ == '__main__':
    sys.exit(main())

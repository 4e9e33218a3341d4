#!/usr/bin/env python3
"""Joins the library into one header and one file of C: what scripts/amalgamate.sh runs.

Rooms and their files come from the CMakeLists.txt that the build reads. A file keeps its text,
comments included, except for this:

- Its own headers are inlined where the first file includes them. Public headers become one header,
  includes of the C library move to the top.
- File-scope names of a .c file that another file has too get the file's path as a prefix: `compare`
  of src/place/skyline/nest.c is `place_skyline_nest_compare`, which debuggers show as well.
- Macros of a .c file end with it.

Needs Python's standard library alone. The same sources give the same bytes.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKEN = re.compile(
    r'''(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')'''
    r'''|(?P<line>^\#(?:\\\n|[^\n])*)|(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d[\w.]*)'''
    r'''|(?P<space>\s+)|(?P<mark>->|.)''', re.S | re.M)
INCLUDE = re.compile(r'^#include ([<"])([^">]+)[">][^\n]*\n', re.M)
PREFIXES = ('stow_', 'stowi_', 'STOW_', 'STOWI_')  # unique in the whole library

FIRST_LINES = '''
// Only public functions are exported.
#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#pragma GCC diagnostic push
#endif
// clang reports inline functions that nothing calls. gcc, which sees all files at once here, cannot
// follow that variables are set whenever a call returns STOW_OK.
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Wunused-function"
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
'''
LAST_LINES = '''
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#pragma GCC visibility pop
#endif
'''


def read(path):
    return (ROOT / path).read_text(encoding='utf-8')


def library_rooms():
    """The rooms of libstowage, each after those that it knows."""
    return re.search(r'set\(STOWAGE_ROOMS ([^)]*)\)', read('src/CMakeLists.txt'))[1].split()


def room_files(room):
    match = re.search(r'stowage_room\(%s\s+(?:KNOWS ([a-z\s]*))?SOURCES([^)]*)\)' % room,
                      read(f'src/{room}/CMakeLists.txt'))
    return [f'{room}/{name}' for name in match[2].split()]


class Source:
    """A file as tokens: lists of [kind, text], where spaces and comments are tokens too."""

    def __init__(self, text):
        self.tokens = [[match.lastgroup, match[0]] for match in TOKEN.finditer(text)]
        # What the grammar sees: positions of the others.
        self.code = [i for i, (kind, _) in enumerate(self.tokens)
                     if kind not in ('comment', 'space', 'line')]

    def declarations(self):
        """Lists of positions: one per declaration or function at file scope."""
        part, depth = [], 0
        for i in self.code:
            mark = self.tokens[i][1]
            part.append(i)
            depth += (mark in ('{', '(', '[')) - (mark in ('}', ')', ']'))
            ends_body = mark == '}' and self.is_function(part)
            ends_macro = mark == ')' and self.tokens[part[0]][1].isupper()
            if depth == 0 and (mark == ';' or ends_body or ends_macro):
                yield part
                part = []

    def words(self, part):
        return [self.tokens[i][1] for i in part]

    def is_function(self, part):
        words = self.words(part)
        return '{' in words and words[words.index('{') - 1] == ')' and '=' not in words[:words.index('{')]

    def names(self):
        """Names that the file declares at file scope."""
        found = set()
        for part in self.declarations():
            words = self.words(part)
            found.update(enumerators(words), tags(words), declared(words))
        return {name for name in found if not name.startswith(PREFIXES)}

    def macros(self):
        """Macros that the file defines and does not undefine."""
        lines = [text for kind, text in self.tokens if kind == 'line']
        made = [match[1] for line in lines if (match := re.match(r'#define (\w+)', line))]
        undone = {match[1] for line in lines if (match := re.match(r'#undef (\w+)', line))}
        return [name for name in dict.fromkeys(made) if name not in undone]

    def members(self):
        """Positions of names of members, in the bodies of structs and unions."""
        found, bodies, depth = set(), [], 0
        words = self.words(self.code)
        for at, word in enumerate(words):
            if word == '{':
                depth += 1
                is_struct = {'struct', 'union'} & set(words[max(0, at - 2):at])
                if is_struct and ')' not in words[max(0, at - 2):at]:
                    bodies.append(depth)
            elif word == '}':
                if bodies and bodies[-1] == depth:
                    bodies.pop()
                depth -= 1
            elif bodies and bodies[-1] == depth:
                is_pointer = words[at - 1:at + 2:2] == ['*', ')']
                if is_pointer or words[at + 1] in (';', ',', '[', ':'):
                    found.add(self.code[at])
        return found

    def rename(self, names):
        """The text with the names of a dict replaced, except members."""
        members = self.members()
        before = ''
        for i, token in enumerate(self.tokens):
            kind, text = token
            if kind == 'name' and text in names and before not in ('.', '->') and i not in members:
                token[1] = names[text]
            elif kind == 'line' and text.startswith('#define'):
                token[1] = re.sub(r'(?<![.\w>"])[A-Za-z_]\w*(?!")',
                                  lambda match: names.get(match[0], match[0]), text)
            if kind not in ('comment', 'space'):
                before = text
        return ''.join(text for _, text in self.tokens)


def enumerators(words):
    """Of `enum { A, B = 2 }`."""
    for at, word in enumerate(words):
        if word == 'enum':
            start = at + 1 if words[at + 1] == '{' else at + 2
            if words[start] == '{':
                body = words[start:words.index('}', start)]
                yield from (name for mark, name in zip(body, body[1:])
                            if mark in ('{', ',') and name[0].isalpha())


def tags(words):
    """Of `struct tag`, where a declaration begins with it or a body follows."""
    for at, word in enumerate(words):
        if word in ('struct', 'union', 'enum') and re.match(r'[A-Za-z_]', words[at + 1]):
            if at <= 1 or words[at + 2] == '{':
                yield words[at + 1]


def declared(words):
    """The function, variable or type of a declaration: the name that a mark outside of bodies
    follows. A type that is a pointer to a function has its name in parentheses, a macro that
    defines a function gets it after its storage class."""
    if words[0].isupper():
        return [words[words.index('static') + 2]] if 'static' in words else []
    flat, depth = [], 0
    for word in words:
        depth -= word in ('}', ']')
        if depth == 0:
            flat.append(word)
        depth += word in ('{', '[')
    for at, word in enumerate(flat):
        if flat[at:at + 2] == ['(', '*'] and words[0] == 'typedef':
            return [flat[at + 2]]
        if word in ('(', '=', '[', ';') and re.match(r'[a-zA-Z_]', flat[at - 1]):
            if flat[at - 1] not in ('struct', 'union', 'enum', '_Static_assert'):
                return [flat[at - 1]]
    return []


def renames(sources):
    """For each path, new names of those that another file declares too. A header's stay."""
    owners = {}
    for path, source in sources.items():
        for name in source.names():
            owners.setdefault(name, []).append(path)
    used = {text for source in sources.values() for kind, text in source.tokens if kind == 'name'}
    new = {path: {} for path in sources}
    for name, paths in sorted(owners.items()):
        for path in paths if len(paths) > 1 else []:
            if path.endswith('.h'):
                continue
            parts = list(dict.fromkeys(path[:-2].split('/')))
            prefix = '_'.join(parts)
            made = f'{prefix.upper() if name.isupper() else prefix}_{name}'
            assert made not in used, f'{path}: {name} would become {made}, which exists'
            new[path][name] = made
    return new


class Amalgamation:
    def __init__(self, name, header, rooms):
        self.name = name
        self.system = set()  # headers of the C library
        self.public = set()
        self.headers = self.join_public(header)
        self.sources = {}
        for path in [file for room in rooms for file in room_files(room)]:
            self.load(path)
        self.new_names = renames(self.sources)

    def banner(self, what):
        version = re.search(r'STOW_VERSION_STRING "(.*)"', read('include/stowage/base.h'))[1]
        return (f'// Stowage {version}: {what}.\n'
                f'// Made by scripts/amalgamate.sh from the files named below; change those.\n'
                f'// SPDX-License-Identifier: Apache-2.0\n')

    def join_public(self, header):
        """The text of a public header, with those that it includes before it."""
        if header in self.public:
            return ''
        self.public.add(header)
        parts = []

        def inline(match):
            if match[2].endswith('.def'):
                return read(f'include/{match[2]}')
            if match[2].startswith('stowage/'):
                parts.append(self.join_public(match[2]))
            else:
                self.system.add(match[2])
            return ''

        text = INCLUDE.sub(inline, read(f'include/{header}'))
        text = re.sub(r'(//\s+#include) <stowage/\w+\.h>', rf'\1 "{self.name}.h"', text)
        return ''.join(parts) + section(f'include/{header}', text)

    def load(self, path):
        """Reads a file, after the headers that it is the first to include."""
        text = read(f'src/{path}')
        for kind, included in INCLUDE.findall(text):
            if kind == '"' and included not in self.sources:
                self.load(included)
        self.sources[path] = Source(INCLUDE.sub(self.strip, text))

    def strip(self, match):
        if match[2].endswith('.def'):
            return read(f'include/{match[2]}')
        if match[1] == '<' and not match[2].startswith('stowage/'):
            self.system.add(match[2])
        assert not match[2].startswith('stowage/') or match[2] in self.public, match[2]
        return ''

    def header(self):
        guard = re.sub(r'\W', '_', self.name).upper() + '_H_'
        return (self.banner('the public headers in one')
                + f'#ifndef STOWAGE_ONE_FILE_{guard}\n#define STOWAGE_ONE_FILE_{guard}\n'
                + '\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n'
                + self.headers + f'\n#endif  // STOWAGE_ONE_FILE_{guard}\n')

    def file(self):
        includes = ''.join(f'#include <{header}>\n' for header in sorted(self.system))
        parts = [self.banner('the library in one file, C11; its header is beside it'),
                 f'#include "{self.name}.h"\n\n{includes}',
                 FIRST_LINES]
        for path, source in self.sources.items():
            undo = source.macros() if path.endswith('.c') else []
            text = source.rename(self.new_names[path])
            parts.append(section(f'src/{path}', text + ''.join(f'#undef {name}\n' for name in undo)))
        parts.append(LAST_LINES)
        return ''.join(parts)

    def write(self, folder):
        for ending, text in (('h', self.header()), ('c', self.file())):
            text = re.sub(r'\n{3,}', '\n\n', text)
            path = folder / f'{self.name}.{ending}'
            path.write_bytes(text.encode('utf-8'))
            print(f'{path}: {text.count(chr(10))} lines, {len(text.encode())} bytes')


def section(path, text):
    line = '// ' + '=' * 97
    return f'\n{line}\n// {path}\n\n{text.strip()}\n'


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: scripts/amalgamate.sh OUTDIR')
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    Amalgamation('stowage', 'stowage/stowage.h', library_rooms()).write(folder)
    Amalgamation('stowage-solve', 'stowage/csv.h', ['base', 'place']).write(folder)


main()

"""Runs every ```console block of the documentation's Markdown and compares the output.

A line `$ COMMAND` is given to sh; the lines up to the next command are its whole output. The blocks
of a file run in order, in one folder that has `examples`, `bench`, `docs` and `tests`. Output that varies
is not compared:

- `…` stands for any text within its line; alone on a line, for any lines.
- In lines with a time (`146 us`, `1.5 s`) numbers, units of time and blanks are ignored.

A block that needs what not every machine has declares it in the line before, and runs where it is: a
file in the folder STOWAGE_MODELS, a command, modules of python3:

    <!-- needs yolov8n.onnx: too large for the repository -->
    <!-- needs command arm-none-eabi-gcc: a compiler for another processor -->
    <!-- needs modules torch onnxscript: large packages -->

Usage: test_transcripts.py STOWAGE SOURCE_DIR [--update] [PAGE]...: --update writes the output into
the Markdown, of PAGEs alone if there are some.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TIME = re.compile(r"(?<![\w.])\d+(?:\.\d+)? ?(?:ns|us|µs|ms|s|min)\b")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
NEEDS = re.compile(r"<!-- needs (?:(command|module)s? )?(\S+(?: \S+)*?): (.+) -->$")
LINKED = ("bench", "docs", "tests")  # folders that commands only read


def masked(line):
    """The line without what varies in lines with times."""
    if TIME.search(line) is None:
        return line
    return re.sub(r"\s+", " ", NUMBER.sub("#", TIME.sub("TIME", line)))


def matches(shown, printed):
    """Whether the lines |shown| say what was |printed|."""
    if not shown or not printed:
        return all(line == "…" for line in shown) and not printed
    if shown[0] == "…":
        return matches(shown[1:], printed) or matches(shown, printed[1:])
    pattern = ".*".join(re.escape(part) for part in masked(shown[0]).split("…"))
    return re.fullmatch(pattern, masked(printed[0])) is not None and matches(shown[1:], printed[1:])


def blocks_of(lines):
    """(first line, line after the last, what is needed or None) of each console block."""
    first = None
    for at, line in enumerate(lines):
        if first is None and line == "```console":
            first = at + 1
        elif first is not None and line == "```":
            yield first, at, NEEDS.match(lines[first - 2]) if first >= 2 else None
            first = None


def commands_of(block):
    """(command, shown lines) of each command of a block."""
    found = []
    for line in block:
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
        else:
            raise SystemExit(f"a console block begins with its output: {line}")
    return found


class Runner:
    def __init__(self, stowage, source):
        self.source = source
        self.bin = pathlib.Path(tempfile.mkdtemp(prefix="stowage-transcripts."))
        os.symlink(stowage, self.bin / "stowage")
        self.environment = dict(os.environ, LC_ALL="C", PATH=f"{self.bin}:{os.environ['PATH']}",
                                PYTHONDONTWRITEBYTECODE="1")
        self.run_count = self.failures = 0

    def close(self):
        shutil.rmtree(self.bin)

    def print_of(self, command, folder):
        """What |command| prints, as lines; None where it could not be run."""
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.run_count += 1
        text = done.stdout.decode("utf-8")
        if not 0 <= done.returncode < 126:
            print(f"FAIL: {command}: exit status {done.returncode}\n{text}")
            self.failures += 1
        return text.splitlines()

    def check_block(self, name, block, folder):
        """The block as it should be."""
        actual = []
        for command, shown in commands_of(block):
            printed = self.print_of(command, folder)
            is_right = matches(shown, printed)
            if not is_right:
                self.failures += 1
                print(f"FAIL: {name}: $ {command}")
                print("\n".join([f"  shown: {line}" for line in shown] + [f"  printed: {line}" for line in printed]))
            actual += [f"$ {command}"] + (shown if is_right else printed)
        return actual

    def check_file(self, path):
        """All blocks of a file; the text of it as it should be."""
        lines = path.read_text(encoding="utf-8").split("\n")
        actual, done = [], 0
        name = path.relative_to(self.source)
        before = self.run_count
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(self.source / "examples", pathlib.Path(folder) / "examples")
            for linked in LINKED:
                os.symlink(self.source / linked, pathlib.Path(folder) / linked)
            for first, end, needs in blocks_of(lines):
                actual += lines[done:first]
                done = first
                if needs is not None and not self.provide(needs, folder, name):
                    continue
                actual += self.check_block(name, lines[first:end], folder)
                done = end
        if self.run_count > before:
            print(f"{name}: {self.run_count - before} commands")
        return "\n".join(actual + lines[done:])

    def provide(self, needs, folder, name):
        """Whether what a block needs is at hand; a file is in |folder| then."""
        kind, what, reason = needs.groups()
        has = {"command": shutil.which, "module": self.has_module}.get(kind, lambda path: self.link(path, folder))
        missing = [item for item in what.split(" ") if not has(item)]
        for item in missing:
            print(f"SKIP: {name}: no {kind or 'file'} {item}: {reason}")
        return not missing

    @staticmethod
    def has_module(module):
        find = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)"
        return subprocess.run(["python3", "-c", find], stderr=subprocess.DEVNULL, check=False).returncode == 0

    def link(self, path, folder):
        """Whether the file is in STOWAGE_MODELS; its name, without folders, is in |folder| then."""
        at = pathlib.Path(os.environ.get("STOWAGE_MODELS", "/nowhere")) / path
        link = pathlib.Path(folder) / at.name
        if at.exists() and not link.exists():
            link.symlink_to(at.resolve())
        return at.exists()


def main(arguments):
    source = pathlib.Path(arguments[1]).resolve()
    runner = Runner(pathlib.Path(arguments[0]).resolve(), source)
    pages = [source / page for page in arguments[2:] if page != "--update"]
    pages = pages or sorted(page for glob in ("*.md", "docs/**/*.md", "examples/*.md") for page in source.glob(glob))
    for path in pages:
        text = runner.check_file(path)
        if "--update" in arguments:
            path.write_text(text, encoding="utf-8")
    runner.close()
    print(f"{runner.run_count} commands, {runner.failures} failed")
    return 1 if runner.failures or runner.run_count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

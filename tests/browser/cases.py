"""What both tests plan, and whether there is something to test."""

import os
import pathlib
import shlex
import subprocess

SKIP = 77
SOURCES = ("src", "include", "tools/stowage", "browser")


class Case:
    """A command on one file; its first word is the command's, the file's name comes next."""

    def __init__(self, path, *words, label=None):
        self.path = pathlib.Path(path)
        self.words = list(words)
        self.label = label or self.path.name

    def arguments(self):
        return [self.words[0], self.path.name, *self.words[1:]]


def examples(source):
    folder = pathlib.Path(source, "examples")
    encoder = ["--bind", "batch=1,length=32"]
    decode = ["--bind", "batch=1,past=15", "--alias", "present.*=past.*"]
    return [
        Case(folder / "transformer.stow", "plan", "--format", "json"),
        Case(folder / "transformer.stow", "view", "--format", "html"),
        Case(folder / "training.stow", "plan", "--graph", "backward", "--format", "plan"),
        Case(folder / "digits.onnx", "plan", "--format", "json"),
        Case(folder / "digits.onnx", "plan", "--capacity", "30KiB"),
        Case(folder / "encoder.onnx", "plan", "--format", "json", *encoder),
        Case(folder / "encoder.onnx", "view", "--format", "html", *encoder),
        Case(folder / "encoder.onnx", "plan"),
        Case(folder / "encoder.onnx", "inspect"),
        Case(folder / "decode.onnx", "plan", "--format", "json", *decode),
        Case(folder / "buffers.csv", "solve"),
        Case(folder / "buffers.csv", "view", "--format", "html"),
    ]


def models(source, folder):
    """The real models of tests/onnx/models/models.txt that are in |folder|."""
    found = []
    for line in pathlib.Path(source, "tests/onnx/models/models.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            label, path, *words = shlex.split(line)
            path = pathlib.Path(folder, path)
            if path.exists():
                found.append(Case(path, "plan", "--format", "json", *words, label=label))
    return found


def native(command, case):
    """What the native command answers: exit code, output, messages."""
    answer = subprocess.run(
        [os.path.abspath(command), *case.arguments()], cwd=case.path.parent, capture_output=True
    )
    return answer.returncode, answer.stdout, answer.stderr.decode("utf-8")


def missing(source, built):
    """Why |built| cannot be tested; None if it can."""
    if not built.exists():
        return "no %s: run scripts/browser.sh" % built.relative_to(source)
    age = built.stat().st_mtime
    for folder in SOURCES:
        for path in pathlib.Path(source, folder).rglob("*.*"):
            if path.stat().st_mtime > age:
                return "%s is newer: run scripts/browser.sh" % path.relative_to(source)
    return None

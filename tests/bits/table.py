#!/usr/bin/env python3
"""The table of scripts/same-bits.sh, of a folder with a file MODEL/WITNESS for each checksum.

    table.py FOLDER

Exits 1 if a model has two checksums, or something else.
"""
import os
import re
import sys

# The columns; `-` in a cell means that a machine was not there, or the model too large for it.
WITNESSES = ["run-gcc-1", "run-gcc-2", "run-gcc-3", "run-gcc-4", "run-clang-2", "run-plain-3",
             "gcc-vnni", "gcc-avx512", "gcc-avx2", "gcc-sse2",
             "clang-vnni", "clang-avx512", "clang-avx2", "clang-sse2", "clang-plain",
             "arm64-gcc", "arm64-clang", "cortex-m4", "cortex-m7"]

folder = sys.argv[1]
wrong = []
print("| model | checksum | " + " | ".join(WITNESSES) + " |")
print("| --- " * (len(WITNESSES) + 2) + "|")
for model in sorted(os.listdir(folder)):
    found = {}
    for witness in os.listdir(os.path.join(folder, model)):
        with open(os.path.join(folder, model, witness), encoding="utf-8") as file:
            found[witness] = file.read().strip()
    wrong += [f"{model}: no witness '{name}'" for name in found.keys() - set(WITNESSES)]
    expected = found["run-gcc-1"]
    cells = []
    for witness in WITNESSES:
        said = found.get(witness, "-")
        is_same = said == expected and re.fullmatch("[0-9a-f]{8}", said)
        cells.append("=" if is_same else "-" if said == "-" else "**differs**")
        if cells[-1] == "**differs**":
            wrong.append(f"{model}: {witness} has {said} instead of {expected}")
    print(f"| {model} | `{expected}` | " + " | ".join(cells) + " |")
for line in wrong:
    print(line)
sys.exit(1 if wrong else 0)

"""The npm package in Node: every command gives the bytes of the native one.

Usage: test_package.py STOWAGE SOURCE [MODELS]. Exits with 77 where Node or the package is missing.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from cases import SKIP, examples, missing, models, native


def answers(node, source, cases):
    """Runs the cases in one process of Node."""
    package = source / "build/browser/package/node.js"
    with tempfile.TemporaryDirectory(prefix="stowage-package-") as folder:
        job = pathlib.Path(folder, "job.json")
        rows = [{"path": str(case.path), "args": case.arguments()} for case in cases]
        job.write_text(json.dumps({"package": str(package), "cases": rows, "out": folder}))
        script = source / "tests/browser/run_cases.mjs"
        subprocess.run([node, script, job], check=True)
        found = json.loads(pathlib.Path(folder, "answers.json").read_text())
        for i, answer in enumerate(found):
            answer["out"] = pathlib.Path(folder, str(i)).read_bytes()
        return found


def main(command, source, folder=None):
    source = pathlib.Path(source).resolve()
    node = shutil.which("node")
    reason = missing(source, source / "build/browser/package/stowage.wasm")
    if node is None or reason:
        print("SKIP: " + (reason or "no node"))
        return SKIP
    cases = examples(source) if folder is None else models(source, folder)
    failed = 0
    for case, answer in zip(cases, answers(node, source, cases)):
        same = (answer["exit"], answer["out"], answer["err"]) == native(command, case)
        failed += not same
        print(
            "%s %s %s: %d bytes, memory %.1f MB, %d bytes read of %d"
            % (
                "ok   " if same else "FAIL ",
                case.words[0],
                case.label,
                len(answer["out"]),
                answer["memory"] / 1e6,
                answer["read"],
                case.path.stat().st_size,
            )
        )
    script = source / "tests/browser/test_package.mjs"
    failed += subprocess.run([node, script, source]).returncode != 0
    print("%d passed, %d failed" % (len(cases) + 1 - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

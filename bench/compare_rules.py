#!/usr/bin/env python3
"""What each rewriting rule does for real models.

    compare_rules.py --stowage COMMAND --models FOLDER [--table FILE] [--only LABEL …]

--models is what scripts/fetch-models.sh filled. For each rule that fires on a model: how often, what
the arena is with that rule alone, and what it is with all rules but that one. Arenas have scratch,
but neither inputs nor outputs (--io external). Rules that never fire are left out.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "onnx", "models"))
import model_table  # noqa: E402

RULES = ("identities", "cse", "dead", "repeats", "transposes", "parts", "fold", "blocks",
         "products", "columns", "qdq", "norms")


def plan(options, entry, rewrite):
    words = [options.stowage, "plan", entry.path, "--format", "json", "--io", "external",
             "--rewrite", rewrite, *entry.args]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{entry.label}: {(done.stderr or done.stdout).strip().splitlines()[0]}")
    return json.loads(done.stdout)


def without(rules, all_rules="near"):
    return ",".join([all_rules, *(f"-{rule}" for rule in rules)])


def fired(found):
    counts = found["options"].get("rewrite") or {}
    return {rule: counts[rule] for rule in RULES if counts.get(rule)}


def compare(options, entry):
    """The arena as it is and with the rules that are on by default; and for each rule."""
    base = "-norms"
    found = plan(options, entry, base)
    none = plan(options, entry, "none")["arena_size"]
    rows = []
    for rule, count in fired(found).items():
        alone = plan(options, entry, without([r for r in RULES if r != rule]))["arena_size"]
        others = plan(options, entry, without([rule], base))["arena_size"]
        rows.append((rule, count, alone, others))
    return none, found["arena_size"], rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stowage", required=True, help="the command")
    parser.add_argument("--models", required=True)
    parser.add_argument("--table", help="models in the folder, as tests/onnx/models/models.txt")
    parser.add_argument("--only", nargs="*", default=())
    options = parser.parse_args()
    print("| model | none | all | rule | fires | alone | all others |")
    print("|" + " --- |" * 7)
    for entry in model_table.read_table(options.models, options.only, options.table)[0]:
        try:
            none, everything, rows = compare(options, entry)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            continue
        for rule, count, alone, others in rows or [("", "", none, none)]:
            print(f"| {entry.label} | {none} | {everything} | {rule} | {count} | {alone} | {others} |",
                  flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

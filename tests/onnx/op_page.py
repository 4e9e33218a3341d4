"""The tables of docs/guide/onnx-ops.md are those of the importer. Each follows a line
`<!-- ops of DOMAIN -->`, or `<!-- refused ops -->`, up to the next blank line.

Usage: op_page.py LIST_OPS PAGE [--update]: --update writes the tables into the page.
"""

import collections
import pathlib
import re
import subprocess
import sys

MARK = re.compile(r"(<!-- (?:ops of (\S+)|refused ops) -->\n)\n?(?:\|[^\n]*\n)*")


def rows_of(program):
    """{(domain, name): [(since, what it becomes)]}, in the order of opsets."""
    rows = collections.defaultdict(list)
    listed = subprocess.run([program], stdout=subprocess.PIPE, check=True, text=True).stdout
    for line in listed.splitlines():
        domain, name, since, becomes = line.split("\t")
        rows[domain or "ai.onnx", name].append((int(since), becomes))
    return {key: sorted(value) for key, value in sorted(rows.items(), key=lambda row: (row[0][0], row[0][1].lower()))}


def is_refused(row):
    return row[0][1].startswith("refused: ")


def ops_table(rows, domain):
    lines = ["| op | since opset | becomes |", "| --- | --- | --- |"]
    for (its, name), row in rows.items():
        if its == domain and not is_refused(row):
            cores = list(dict.fromkeys(f"`{core}`" if core != "-" else "its operand, or a constant" for _, core in row))
            lines.append(f"| {name} | {row[0][0]} | {', '.join(cores)} |")
    return lines


def refused_table(rows):
    reasons = collections.defaultdict(list)
    for (domain, name), row in rows.items():
        if is_refused(row):
            reasons[row[0][1].removeprefix("refused: ")].append(name if domain == "ai.onnx" else f"{domain}.{name}")
    return ["| reason | ops |", "| --- | --- |"] + [f"| {why} | {', '.join(names)} |" for why, names in reasons.items()]


def main(arguments):
    rows = rows_of(arguments[1])
    page = pathlib.Path(arguments[2])
    text = page.read_text(encoding="utf-8")
    domains = set()

    def table(match):
        domains.add(match[2])
        return match[1] + "\n" + "\n".join(ops_table(rows, match[2]) if match[2] else refused_table(rows)) + "\n"

    made = MARK.sub(table, text)
    count = sum(not is_refused(row) for row in rows.values())
    made = re.sub(r"\b\d+ ops are imported, \d+ are refused\b",
                  f"{count} ops are imported, {len(rows) - count} are refused", made)
    absent = {domain for (domain, _), row in rows.items() if not is_refused(row)} - domains
    if absent:
        print(f"{page}: no table of {', '.join(sorted(absent))}")
    if "--update" in arguments:
        page.write_text(made, encoding="utf-8")
    elif made != text:
        print(f"{page}: not the tables of the importer; write them with --update")
    return 1 if absent or (made != text and "--update" not in arguments) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

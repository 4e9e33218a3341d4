"""Messages that a page explains are messages of the program: the words of every heading in backticks
of docs/guide/troubleshooting.md, between its `…`, stand in a string of the sources. Those that a
command shows are compared by test_transcripts.py. Usage: test_messages.py SOURCE_DIR
"""

import pathlib
import re
import sys

HEADING = re.compile(r"^### `(.*)`$", re.MULTILINE)
LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*(?:PRI\w+\s*)?"(?:[^"\\\n]|\\.)*")*')
FORMAT = re.compile(r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?[diouxXcsp]|%(?=\0)")
FOLDERS = ("src/**/*.c", "tools/**/*.c", "python/stowplan/*.py", "scripts/*.sh")


def strings_of(text):
    """What the string literals of C say, those side by side as one; a conversion is a line break."""
    for match in LITERALS.finditer(text):
        joined = re.sub(r'"\s*(?:PRI\w+\s*)"', "\0", match[0])
        joined = re.sub(r'"\s*"', "", joined).strip('"')
        yield FORMAT.sub("\n", joined).replace('\\"', '"').replace("\\n", "\n")


def main(arguments):
    source = pathlib.Path(arguments[1])
    said = []
    for folder in FOLDERS:
        for path in source.glob(folder):
            text = path.read_text(encoding="utf-8")
            said += strings_of(text) if path.suffix == ".c" else [text]
    said = "\n".join(said)
    headings = HEADING.findall((source / "docs/guide/troubleshooting.md").read_text(encoding="utf-8"))
    missing = [(heading, part) for heading in headings for part in heading.split("…") if part.strip() not in said]
    for heading, part in missing:
        print(f"FAIL: `{heading}`: no string has: {part.strip()}")
    print(f"{len(headings)} messages, {len(missing)} not found")
    return 1 if missing or len(headings) < 20 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

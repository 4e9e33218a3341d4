"""Every link of the Markdown files leads somewhere: to a file of the repository, and to a heading of
it. So do names of pages (`docs/….md`) in code, scripts and headers. The site's menu has every page.
Reads no network: addresses of other sites are only counted.

Headings have the anchors that GitHub gives them. Usage: test_links.py SOURCE_DIR
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(<?([^()\s>]+(?:\([^()\s]*\))?)>?(?: \"[^\"]*\")?\)")
HEADING = re.compile(r"#{1,6} +(.*?) *#*$")
PAGE = re.compile(r"(?<![\w/.-])(?:docs|rust|examples)/[\w/-]+\.md(?:#([\w-]+))?")
CODE = re.compile(r"(`+)(.*?)\1")


def tracked(source):
    """Files of the repository; in a folder without git, all but those that are built."""
    listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        names = [str(path.relative_to(source)) for path in source.rglob("*")]
    return [name for name in names if (source / name).is_file() and not name.startswith(("build", "fuzz/corpus/"))]


def prose_of(text):
    """(number, line) of the lines that are not in fenced or indented code."""
    fence, blank = None, True
    for number, line in enumerate(text.split("\n"), 1):
        mark = re.match(r" *(```+|~~~+)", line)
        if fence is not None:
            fence = None if mark and line.strip() == fence else fence
        elif mark:
            fence = mark[1]
        elif not (blank and line.startswith("    ")):
            yield number, line
            blank = line.strip() == ""


def anchors_of(text):
    """The anchors of a page, as GitHub makes them."""
    found, count = set(), collections.Counter()
    for _, line in prose_of(text):
        heading = HEADING.match(line)
        if heading:
            words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).replace("`", "")
            anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            found.add(f"{anchor}-{count[anchor]}" if count[anchor] else anchor)
            count[anchor] += 1
        found.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
    return found


class Checker:
    def __init__(self, source):
        self.source, self.anchors = source, {}
        self.links = self.addresses = 0
        self.dead = []

    def require(self, where, path, anchor):
        """|path| is a file or folder of the repository, and has |anchor|."""
        self.links += 1
        at = self.source / path
        if not at.exists() or pathlib.Path(path).parts[:1] == ("..",):
            self.dead.append(f"{where}: no {path}")
        elif anchor and path.endswith(".md"):
            if path not in self.anchors:
                self.anchors[path] = anchors_of(at.read_text(encoding="utf-8"))
            if anchor not in self.anchors[path]:
                self.dead.append(f"{where}: {path} has no heading #{anchor}")

    def check_page(self, name, text):
        for number, line in prose_of(text):
            for target in LINK.findall(CODE.sub("", line)):
                if re.match(r"[a-z]+:", target):
                    self.addresses += 1
                    continue
                path, _, anchor = target.partition("#")
                full = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
                self.require(f"{name}:{number}", full, anchor)

    def check_mentions(self, name, text):
        for number, line in enumerate(text.split("\n"), 1):
            for mention in PAGE.finditer(line):
                self.require(f"{name}:{number}", mention[0].partition("#")[0], mention[1])


def missing_in_menu(source):
    """Pages that site/contents.txt does not name, or names without being there."""
    sys.path.insert(0, str(source / "site"))
    stage = __import__("stage")
    listed = re.findall(r"^  (\S+)$", (source / "site" / "contents.txt").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {name[:-3] for name in tracked(source) if name.endswith(".md") and not name.startswith(stage.LEFT_OUT)}
    return sorted(pages.symmetric_difference([*listed, "README"]))


def main(arguments):
    checker = Checker(pathlib.Path(arguments[1]).resolve())
    for name in tracked(checker.source):
        try:
            text = (checker.source / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if name.endswith(".md"):
            checker.check_page(name, text)
        checker.check_mentions(name, text)
    checker.dead += [f"site/contents.txt: {name}: in the menu or in the repository only"
                     for name in missing_in_menu(checker.source)]
    print("\n".join(checker.dead + [f"{checker.links} links, {len(checker.dead)} dead; "
                                    f"{checker.addresses} addresses of other sites"]))
    return 1 if checker.dead or checker.links == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

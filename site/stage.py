"""Copies the Markdown of the repository to where the site is built from, with what it links to.

Pages keep their paths, so that their links work as they are; the README is the front page, which
has the page that plans (browser/) in it. Other files that pages name get the ending .txt, because
browsers show those; a folder without a page of its own is no link.

Usage: stage.py SOURCE_DIR PLANNER.html STAGE_DIR
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
SHOWN = {".md", ".png", ".svg", ".html"}
LEFT_OUT = ("bench/", "fuzz/", "src/", "tests/")  # pages about the repository itself
PLANNER = """
<iframe class="planner" src="planner.html" title="The page that plans models"></iframe>

*The planner, in this page: drop a model on it, or plan its example. Nothing leaves your machine
([how](docs/browser.md#the-page)).*
"""


def contents(source):
    """What the front page ends with: captions, each with its pages, for the menu."""
    text = ""
    for line in (source / "site" / "contents.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            text += line.strip() + "\n"
        elif not line.startswith("#"):
            text += ("```\n" if text else "") + f"\n```{{toctree}}\n:hidden:\n:caption: {line}\n\n"
    return text + "```\n"


def pages_of(source):
    listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard", "*.md"],
                            stdout=subprocess.PIPE, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if not name.startswith(LEFT_OUT)]


class Stage:
    def __init__(self, source, folder):
        self.source, self.folder = source, folder
        self.pages = set(pages_of(source))

    def put(self, name, to):
        target = self.folder / to
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copyfile(self.source / name, target)

    def link(self, page, match):
        """The link as it is on the site."""
        mark, text, target = match.groups()
        path, hash_mark, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not path:
            return match[0]
        full = os.path.normpath(os.path.join(os.path.dirname(page), path))
        at = self.source / full
        if at.is_dir():
            full = os.path.join(full, "README.md")
            if full not in self.pages:
                return text
            path = os.path.relpath(full, os.path.dirname(page) or ".")
        elif at.suffix == ".md" and full not in self.pages:
            return text
        elif at.suffix not in SHOWN:
            self.put(full, full + ".txt")
            path += ".txt"
        elif at.suffix != ".md":
            self.put(full, full)
        if full == "README.md":
            path = os.path.join(os.path.dirname(path), "index.md")
        return f"{mark}[{text}]({path}{hash_mark}{anchor})"

    def page(self, name):
        text = (self.source / name).read_text(encoding="utf-8")
        parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
        for at in range(0, len(parts), 2):
            parts[at] = LINK.sub(lambda match: self.link(name, match), parts[at])
        text = "".join(parts)
        target = self.folder / name
        if name == "README.md":
            text = text.replace("\n## ", PLANNER + "\n## ", 1) + contents(self.source)
            target = self.folder / "index.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def main(arguments):
    source, planner, folder = (pathlib.Path(argument).resolve() for argument in arguments[1:])
    stage = Stage(source, folder)
    for name in sorted(stage.pages):
        stage.page(name)
    shutil.copyfile(planner, folder / "planner.html")
    shutil.copyfile(source / "site" / "conf.py", folder / "conf.py")
    (folder / "static").mkdir()
    shutil.copyfile(source / "site" / "site.css", folder / "static" / "site.css")


if __name__ == "__main__":
    main(sys.argv)

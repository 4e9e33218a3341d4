"""Joins the page as the command does, from its sources and data of any making."""

import base64
import hashlib
import json
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "src" / "report" / "page"


def scripts(page=PAGE):
    """The scripts in the order that the page's README states."""
    found = re.search(r"`(\w+\.js(?: \w+\.js)+)`", (page / "README.md").read_text(encoding="utf-8"))
    return found.group(1).split()


def digest(text):
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def data_text(data):
    """JSON in which nothing can end a script."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, "\\u%04x" % ord(mark))
    return text


def join(data, page=PAGE):
    """|data| is an object, or text that is put in as it is."""
    css = (page / "page.css").read_text(encoding="utf-8")
    script = "".join((page / name).read_text(encoding="utf-8") for name in scripts(page))
    marks = {
        "@STYLE_HASH@": digest(css),
        "@SCRIPT_HASH@": digest(script),
        "@PAGE_CSS@": css,
        "@PAGE_JS@": script,
        "@DATA@": data if isinstance(data, str) else data_text(data),
    }
    html = (page / "page.html").read_text(encoding="utf-8")
    return re.sub("|".join(marks), lambda match: marks[match.group(0)], html)

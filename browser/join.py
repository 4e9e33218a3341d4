"""Joins the page that plans, one HTML file, from its parts and the command as WebAssembly.

Usage: join.py STOWAGE.WASM OUT.html"""

import base64
import gzip
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "page"))

from join import PAGE, digest, scripts  # noqa: E402  (the page of a plan)


def text(*parts):
    return "".join(path.read_text(encoding="utf-8") for path in parts)


def embedded(script):
    """Text inside a script element, which it must not end."""
    assert "</script" not in script.lower() and "<!--" not in script
    return script


def join(wasm):
    """The frame of a plan inherits the policy, which therefore allows its style and script too."""
    here = ROOT / "browser"
    plan_css = text(PAGE / "page.css")
    plan_js = text(*(PAGE / name for name in scripts()))
    css = plan_css + text(here / "page" / "page.css")
    js = text(here / "page" / "page.js")
    worker = re.sub(r"^export ", "", text(here / "wasi.js"), flags=re.M)
    worker += text(here / "page" / "worker.js")
    marks = {
        "@SCRIPT_HASHES@": "'sha256-%s' 'sha256-%s'" % (digest(js), digest(plan_js)),
        "@STYLE_HASHES@": "'sha256-%s' 'sha256-%s'" % (digest(css), digest(plan_css)),
        "@CSS@": css,
        "@JS@": embedded(js),
        "@WORKER@": embedded(worker),
        "@EXAMPLE@": embedded(text(ROOT / "examples" / "transformer.stow")),
        "@WASM@": base64.b64encode(gzip.compress(wasm, 9, mtime=0)).decode("ascii"),
    }
    html = text(here / "page" / "page.html")
    return re.sub("|".join(marks), lambda match: marks[match.group(0)], html)


if __name__ == "__main__":
    page = join(pathlib.Path(sys.argv[1]).read_bytes())
    pathlib.Path(sys.argv[2]).write_text(page, encoding="utf-8")

"""Every link of a built site leads to a file of it, and to a place in that. Usage: check.py DIR"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


def main(arguments):
    root = pathlib.Path(arguments[1]).resolve()
    pages = {path: Page(path) for path in sorted(root.rglob("*.html")) if path.name not in ("planner.html", "404.html")}
    count, dead = 0, []
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            at = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            at = at / "index.html" if at.is_dir() else at
            place = urllib.parse.unquote(parts.fragment)
            if not at.exists() or (place and at in pages and place not in pages[at].places and place != "__toc"):
                dead.append(f"{path.relative_to(root)}: {link}")
    print("\n".join(dead + [f"{len(pages)} pages, {count} links, {len(dead)} dead"]))
    return 1 if dead or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

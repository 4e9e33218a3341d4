"""Documentation: the examples of pages in Python print what these say, the notebook runs."""

import ast
import contextlib
import io
import json
import pathlib
import re
import unittest


def run(source, names, label):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, label, "exec"), names)
    return printed.getvalue()


def show(value):
    """As a notebook does."""
    return value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)


class Docs(unittest.TestCase):
    def check_page(self, page, least):
        text = pathlib.Path(page).read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.DOTALL)
        self.assertGreaterEqual(len(blocks), least)
        names = {}
        for number, (source, shown) in enumerate(blocks):
            with self.subTest(page=page, example=number):
                self.assertEqual(run(source, names, f"{page}, example {number}"), shown)

    def test_examples_print_what_the_page_says(self):
        self.check_page("docs/guide/python.md", 7)

    def test_tokens_are_those_of_the_page(self):
        self.check_page("docs/guide/generate.md", 1)

    def test_the_notebook_runs(self):
        cells = json.loads(pathlib.Path("python/gallery.ipynb").read_text(encoding="utf-8"))["cells"]
        names = {}
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "code":
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
                source = "".join(cell["source"])
                run(source, names, f"gallery.ipynb, cell {number}")
                last = ast.parse(source).body[-1]
                if isinstance(last, ast.Expr):
                    show(eval(ast.unparse(last), names))


if __name__ == "__main__":
    unittest.main()

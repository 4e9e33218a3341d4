"""Documentation: the examples of docs/python.md print what it says, the notebook runs."""

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
    def test_examples_print_what_the_page_says(self):
        text = pathlib.Path("docs/python.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.DOTALL)
        self.assertGreater(len(blocks), 6)
        names = {}
        for number, (source, shown) in enumerate(blocks):
            with self.subTest(example=number):
                self.assertEqual(run(source, names, f"docs/python.md, example {number}"), shown)

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

"""Structs and prototypes of the package are those of the headers, by the word of a C compiler."""

import ctypes
import os
import pathlib
import subprocess
import tempfile
import unittest

from stowplan import _c

SOURCE = pathlib.Path(__file__).parents[2]
HEADERS = ("stowage/stowage.h", "stowage/onnx.h", "stowage/exec.h", "stowage/report.h",
           "graph/api.h", "request/api.h")


def structs():
    return [kind for kind in vars(_c).values()
            if isinstance(kind, type) and issubclass(kind, ctypes.Structure)
            and kind.__name__.startswith("stow")]


def rows(kind):
    """(what, size, offset) of a struct and its fields."""
    yield kind.__name__, ctypes.sizeof(kind), 0
    for name, *_ in kind._fields_:
        field = getattr(kind, name)
        yield f"{kind.__name__}.{name}", field.size, field.offset


def compile_and_run(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "main.c"
        path.write_text("".join(f"#include <{header}>\n" for header in HEADERS) + text)
        built = subprocess.run(
            [os.environ.get("CC", "cc"), "-std=c11", "-Werror", f"-I{SOURCE / 'include'}",
             f"-I{SOURCE / 'src'}", str(path), "-o", f"{folder}/main"],
            capture_output=True, text=True)
        if built.returncode != 0:
            raise AssertionError(built.stderr)
        return subprocess.run([f"{folder}/main"], capture_output=True, text=True,
                              check=True).stdout


class Declarations(unittest.TestCase):
    def test_structs_have_the_sizes_and_offsets_of_the_headers(self):
        lines = []
        for kind in structs():
            name = kind.__name__
            lines.append(f'printf("{name} %zu 0\\n", sizeof({name}));')
            for field, *_ in kind._fields_:
                lines.append(f'printf("{name}.{field} %zu %zu\\n", sizeof((({name}*)0)->{field}), '
                             f"offsetof({name}, {field}));")
        printed = compile_and_run(
            "#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\n}\n")
        expected = [f"{what} {size} {offset}" for kind in structs()
                    for what, size, offset in rows(kind)]
        self.assertGreater(len(expected), 200)
        self.assertEqual(printed.splitlines(), expected)

    def test_prototypes_are_those_of_the_headers(self):
        # Declaring a function again with another type is an error.
        count = len(list(_c.prototypes()))
        self.assertGreater(count, 100)
        compile_and_run(_c.PROTOTYPES + "int main(void) { return 0; }\n")

    def test_every_name_in_a_prototype_is_known(self):
        for result, name, arguments in _c.prototypes():
            for text in (result, *arguments):
                kind = _c._type_of(text)
                is_enum = kind is ctypes.c_int
                self.assertTrue(not is_enum or text.strip() in ENUMS, (name, text))


ENUMS = {"stow_status", "stow_outcome", "stow_picture_format", "stow_dtype", "stow_preset",
         "stow_plan_format", "stow_io_policy", "stow_rewrite_rule"}

if __name__ == "__main__":
    unittest.main()

"""Plans of ranges: the same as the command's, byte for byte."""

import json
import os
import subprocess
import tempfile
import unittest

import numpy as np
import stowplan as stow

ENCODER = "examples/encoder.onnx"
CASES = [
    (ENCODER, ["--bind", "batch=1,length=1..24"], {"bind": {"batch": 1, "length": range(1, 25)}}),
    (ENCODER, ["--bind", "batch=1..2,length=4..16/4", "--kernels", "fastest"],
     {"bind": {"batch": range(1, 3), "length": "4..16/4"}, "kernels": "fastest"}),
    (ENCODER, ["--bind", "batch=1,length=1..8", "--io", "external", "--weights", "arena"],
     {"bind": {"batch": 1, "length": "1..8"}, "io": "external", "weights": "arena"}),
    ("examples/cnn.stow", ["--bind", "batch=1..4", "--align", "256"],
     {"bind": {"batch": range(1, 5)}, "alignment": 256}),
    ("examples/decode.onnx", ["--bind", "batch=1,past=0..15", "--alias", "present.*=past.*"],
     {"bind": {"batch": 1, "past": range(16)}, "alias": {"present.*": "past.*"}}),
]


def command(*arguments):
    return subprocess.run([os.environ["STOWAGE"], *arguments], capture_output=True, text=True)


def mlp():
    graph = stow.Graph("mlp")
    x = graph.input("x", ("batch", 384))
    w = graph.param("w", (384, 384), "f32")
    graph.output(graph.op("gelu", graph.op("matmul", x, w), name="y"))
    return graph


class Formulas(unittest.TestCase):
    def test_plans_are_those_of_the_command(self):
        for model, arguments, options in CASES:
            with self.subTest(model=model, arguments=arguments):
                made = command("plan", model, *arguments, "--format", "plan")
                self.assertEqual(made.returncode, 0, made.stderr)
                plan = stow.plan(model, **options)
                self.assertEqual(plan.to_text(), made.stdout)
                self.assertEqual(plan.to_json(),
                                 command("plan", model, *arguments, "--format", "json").stdout)
                self.assertEqual(plan.to_c("x"),
                                 command("plan", model, *arguments, "--c-prefix", "x", "--format",
                                         "c").stdout)
                self.assertEqual(plan.draw("json"),
                                 command("view", model, *arguments, "--json").stdout)

    def test_saved_plans_are_proven(self):
        plan = stow.plan(ENCODER, bind={"batch": 1, "length": range(1, 9)})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "encoder.plan")
            plan.save(path)
            checked = command("check", ENCODER, path, "--bind", "batch=1,length=1..8")
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_points_are_those_of_the_json(self):
        plan = stow.plan(ENCODER, bind={"batch": range(1, 3), "length": range(2, 9, 2)})
        points = json.loads(plan.to_json())["points"]
        self.assertEqual(plan.symbols, {"batch": range(1, 3), "length": range(2, 9, 2)})
        self.assertEqual(plan.points.tolist(), [point["at"] for point in points])
        self.assertEqual(plan.arenas.tolist(), [point["arena_size"] for point in points])
        self.assertEqual(plan.loads.tolist(), [point["load"] for point in points])
        self.assertEqual(plan.arena(batch=2, length=6), plan.arena({"length": 6}, batch=2))
        self.assertEqual(plan.arena(plan.largest_at), plan.largest_arena)
        gaps = (plan.arenas - plan.loads) / plan.loads
        self.assertEqual(plan.largest_gap, gaps.max())
        self.assertIn("batch*length", plan.formula)

    def test_every_point_is_a_plan(self):
        plan = stow.plan(ENCODER, bind={"batch": 1, "length": range(1, 13)})
        for length in plan.symbols["length"]:
            at = plan.at(length=length)
            self.assertLessEqual(at.arena, plan.arena(length=length))
            self.assertTrue(at.fits)
            ends = at.buffers["offset"] + at.buffers["size"]
            self.assertLessEqual(ends.max(), at.arena)
            self.assertIn("<svg", at.draw("svg"))
        region = plan.regions[-1]
        self.assertEqual(region.boxes, [({"length": 1}, {"length": 1})])
        self.assertEqual(region.planned_at, {"length": 1})

    def test_a_formula_is_the_arena(self):
        graph = mlp().bind(batch="1..64")
        plan = stow.plan(graph)
        self.assertEqual(len(plan.regions), 1)
        self.assertEqual(plan.regions[0].slack, 0)
        found = [eval(plan.formula, {"max": max, "batch": batch}) for batch in range(1, 65)]
        self.assertEqual(found, plan.arenas.tolist())
        self.assertIn("graph @mlp", str(graph))

    def test_what_fits_is_what_the_command_finds(self):
        bind = {"batch": 1, "length": range(1, 65)}
        plan = stow.plan(ENCODER, bind=bind)
        for capacity in (32768, 1000, 2**30):
            told = command("fit", ENCODER, "--bind", "batch=1,length=1..64", "--capacity",
                           str(capacity), "--json")
            largest = json.loads(told.stdout)["largest"]
            found = plan.fit(capacity)
            self.assertEqual(found.largest, largest and {"length": largest["at"]})
            self.assertEqual(found.arena, largest and largest["arena_size"])
            self.assertEqual(len(found.verdicts), 64)

    def test_wrong_ranges_are_refused(self):
        for value in (range(5, 5), range(1, 9, 2), range(9, 1, -1), "9..1", "1..9/0", "3..5/7",
                      range(-3, 4), "1..9999999999999", range(2**62, 2**64)):
            with self.assertRaises(ValueError, msg=value):
                stow.plan(ENCODER, bind={"batch": 1, "length": value})
        for value in ("1-9", "..", "1..", None, 1.5):
            with self.assertRaises(TypeError, msg=value):
                stow.plan(ENCODER, bind={"batch": 1, "length": value})
        with self.assertRaises(stow.ModelError) as raised:
            stow.plan(ENCODER, bind={"length": range(1, 9)})
        self.assertEqual(raised.exception.symbols, ["batch"])
        bind = {"batch": 1, "length": range(1, 5)}
        for options in ({"capacity": 1024}, {"stream": "auto"}, {"time": 1}, {"progress": True}):
            with self.assertRaises(ValueError, msg=options):
                stow.plan(ENCODER, bind=bind, **options)
        with self.assertRaisesRegex(ValueError, "alias: "):
            stow.Session("examples/decode.onnx", bind={"batch": 1, "past": range(4)},
                         alias={"present.*": "past.*"})
        self.assertRaises(stow.Error, mlp().bind, seq=range(1, 5))
        # What is wrong with effects comes out of the callback as it is.
        with self.assertRaises(stow.Error) as raised:
            stow.plan(ENCODER, bind=bind, io={"nobody": "external"})
        self.assertIn("nobody", raised.exception.message)

    def test_wrong_points_are_refused(self):
        plan = stow.plan(ENCODER, bind={"batch": 1, "length": range(2, 9, 2)})
        self.assertRaises(ValueError, plan.arena, length=3)
        self.assertRaises(ValueError, plan.at, length=10)
        self.assertRaises(ValueError, plan.fit, -1)
        for point in ({}, {"batch": 1}, {"length": 2, "batch": 1}, {"length": 2.5}):
            with self.assertRaises(TypeError, msg=point):
                plan.arena(point)
        self.assertRaises(TypeError, stow.FormulaPlan)

    def test_a_range_of_one_value_is_a_plan(self):
        plan = stow.plan(ENCODER, bind={"batch": "1..1", "length": range(8, 9)})
        self.assertIsInstance(plan, stow.Plan)

    def test_arrays_are_numbers(self):
        plan = stow.plan(mlp().bind(batch=range(1, 5)))
        self.assertEqual((plan.arenas.dtype, plan.points.shape), (np.int64, (4, 1)))


if __name__ == "__main__":
    unittest.main()

"""Plans and graphs: the same as the command's, byte for byte."""

import html
import json
import os
import pathlib
import pickle
import subprocess
import tempfile
import unittest

import numpy as np
import stowplan as stow

ENCODER = {"batch": 1, "length": 128}
CASES = [
    ("examples/digits.onnx", [], {}),
    ("examples/digits.onnx", ["--kernels", "fastest"], {"kernels": "fastest"}),
    ("examples/digits.onnx", ["--kernels", "none", "--order", "given"],
     {"kernels": "none", "order": "given"}),
    ("examples/digits.onnx", ["--preset", "rlx"], {"preset": "rlx"}),
    ("examples/digits.onnx", ["--stream", "auto"], {"stream": "auto"}),
    ("examples/digits.onnx", ["--stream", "1"], {"stream": 1}),
    ("examples/digits.onnx", ["--stream", "auto", "--capacity", "64KiB"],
     {"stream": "auto", "capacity": 65536}),
    ("examples/digits.onnx",
     ["--rewrite", "none", "--io", "consume", "--weights", "arena", "--align", "32"],
     {"rewrite": "none", "io": "consume", "weights": "arena", "alignment": 32}),
    ("examples/digits.onnx", ["--no-reuse", "--guard", "16", "--strategy", "first-fit"],
     {"reuse": False, "guard": 16, "strategy": "first-fit"}),
    ("examples/encoder.onnx", ["--bind", "batch=1,length=128"], {"bind": ENCODER}),
    ("examples/encoder.onnx", ["--bind", "batch=2", "--bind-rest", "16", "--pack", "always"],
     {"bind": {"batch": 2}, "bind_rest": 16, "pack": "always"}),
    ("examples/encoder.onnx", ["--bind-rest", "4", "--rewrite", "exact,-fold", "--nodes", "5000"],
     {"bind_rest": 4, "rewrite": "exact,-fold", "nodes": 5000}),
    ("examples/encoder.onnx", ["--bind-rest", "4", "--io", "tokens=external"],
     {"bind_rest": 4, "io": {"tokens": "external"}}),
    ("examples/decode.onnx",
     ["--bind", "batch=1,past=15", "--alias", "present.*=past.*"],
     {"bind": {"batch": 1, "past": 15}, "alias": {"present.*": "past.*"}}),
    ("examples/transformer.stow", [], {}),
    ("examples/transformer.stow", ["--kernels", "stowage", "--no-in-place"],
     {"kernels": "stowage", "in_place": False}),
    ("examples/cnn.stow", ["--bind", "batch=3", "--no-inputs", "--rule", "pin-output-ancestors"],
     {"bind": {"batch": 3}, "inputs": False, "rules": ["pin-output-ancestors"]}),
    ("examples/training.stow", ["--graph", "forward"], {"graph": "forward"}),
]


def command(*arguments):
    return subprocess.run([os.environ["STOWAGE"], *arguments], capture_output=True, text=True,
                          check=True).stdout


def mlp():
    graph = stow.Graph("mlp")
    x = graph.input("x", ("batch", 384))
    w = graph.param("w", (384, 384), "f32")
    graph.output(graph.op("gelu", graph.op("matmul", x, w), name="y"))
    return graph


class Plans(unittest.TestCase):
    def test_numbers_are_what_c_takes(self):
        digits = "examples/digits.onnx"
        for options in ({"capacity": -1}, {"guard": 2**64}, {"alignment": 2**64 + 64},
                        {"order_nodes": -3}, {"order_margin": -1}):
            with self.assertRaises(ValueError, msg=options):
                stow.plan(digits, **options)
        for bind in ({"batch": 1, "length": 2**63}, {"batch": -1}):
            with self.assertRaises(ValueError, msg=bind):
                stow.plan("examples/encoder.onnx", bind=bind)
        for bind in ({"batch": 1.5}, {"batch": "1"}, "batch=1", {3: 1}):
            with self.assertRaises(TypeError, msg=bind):
                stow.plan("examples/encoder.onnx", bind=bind)
        for threads in (0, -1, 2**32 + 1):
            with self.assertRaises(ValueError, msg=threads):
                stow.Session(digits, threads=threads)
        self.assertRaises(TypeError, stow.Graph("g").input, "x", (2, 2.5))
        self.assertEqual(stow.Graph("g").param("w", (2, 2)).dtype, "f32")

    def test_saved_plans_are_those_of_the_command(self):
        for model, arguments, options in CASES:
            with self.subTest(model=model, arguments=arguments):
                plan = stow.plan(model, **options)
                self.assertEqual(plan.to_text(),
                                 command("plan", model, "--format", "plan", *arguments))
                self.assertEqual(plan.to_json(), command(
                    "plan", model, "--format", "json", "--hints", "never", *arguments))

    def test_a_saved_plan_is_proven_by_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/digits.plan"
            stow.plan("examples/digits.onnx").save(path)
            command("check", "examples/digits.onnx", path)

    def test_numbers_are_those_of_the_json(self):
        plan = stow.plan("examples/encoder.onnx", bind=ENCODER)
        data = json.loads(plan.to_json())
        self.assertEqual((plan.arena, plan.bound), (data["arena_size"], data["search"]["bound"]))
        self.assertEqual(plan.peak_step, data["peak"]["step"])
        self.assertLessEqual(plan.peak, plan.arena)
        self.assertTrue(plan.fits)

    def test_buffers_are_a_structured_array(self):
        plan = stow.plan("examples/digits.onnx")
        buffers = plan.buffers
        self.assertEqual((buffers["offset"] + buffers["size"]).max(), plan.arena)
        self.assertIn("image", buffers["name"])
        again = stow.solve(buffers["size"], buffers["begin"], buffers["end"], alignment=64)
        self.assertLessEqual(again.height, plan.arena)

    def test_models_come_as_bytes_too(self):
        data = pathlib.Path("examples/digits.onnx").read_bytes()
        self.assertEqual(stow.plan(data).to_text(), stow.plan("examples/digits.onnx").to_text())

    def test_a_plan_starts_from_another(self):
        first = stow.plan("examples/encoder.onnx", bind=ENCODER)
        again = stow.plan("examples/encoder.onnx", bind=ENCODER, start=first)
        self.assertEqual(again.arena, first.arena)

    def test_pages_and_formats(self):
        plan = stow.plan("examples/digits.onnx")
        with tempfile.TemporaryDirectory() as folder:
            page = plan.view(f"{folder}/plan.html")
            self.assertEqual(pathlib.Path(f"{folder}/plan.html").read_text(), page)
            self.assertEqual(page, command("view", "examples/digits.onnx", "--hints", "never"))
        self.assertIn(html.escape(page[:200], quote=True), plan._repr_html_())
        self.assertTrue(plan.draw("svg").startswith("<svg"))
        self.assertEqual(plan.to_c("d"), command("plan", "examples/digits.onnx", "--format", "c",
                                                 "--c-prefix", "d"))

    def test_what_does_not_fit_is_an_outcome(self):
        plan = stow.plan("examples/digits.onnx", capacity=30000)
        self.assertEqual((plan.outcome, plan.fits), ("infeasible", False))

    def test_errors_have_the_facts(self):
        with self.assertRaises(stow.ModelError) as caught:
            stow.plan("examples/encoder.onnx")
        self.assertEqual(caught.exception.symbols, ["batch", "length"])
        self.assertIn("bind={'batch': …", str(caught.exception))
        with self.assertRaises(stow.Error) as caught:
            stow.Graph.parse("graph @g {\n  %0 = input\n}\n")
        self.assertEqual((caught.exception.status, caught.exception.line), ("syntax error", 3))
        for message, options in (("unknown value 'x'", {"io": {"x": "keep"}}),
                                 ("expected none, exact or near", {"rewrite": "x"}),
                                 ("expected off, auto or a number", {"stream": "x"}),
                                 ("unknown output 'x'", {"alias": {"x": "image"}})):
            self.assertRaisesRegex(stow.Error, message, stow.plan, "examples/digits.onnx",
                                   **options)
        self.assertRaises(FileNotFoundError, stow.plan, "absent.onnx")
        self.assertRaisesRegex(TypeError, "unknown option 'budget'", stow.plan,
                               "examples/digits.onnx", budget=1)
        for message, options in (("kernels: unknown 'x'; expected one of none", {"kernels": "x"}),
                                 ("strategy: unknown 'x'; .* auto, first-fit", {"strategy": "x"}),
                                 ("preset: unknown 'x'; .* default, rlx", {"preset": "x"})):
            self.assertRaisesRegex(ValueError, message, stow.plan, "examples/digits.onnx",
                                   **options)

    def test_what_is_not_for_a_source_is_refused(self):
        for model, options in (("examples/digits.onnx", {"graph": "g"}),
                               ("examples/mlp.stow", {"values": {"x": 1}}),
                               (mlp().bind(batch=1), {"bind_rest": 0}),
                               (mlp().bind(batch=1), {"graph": "mlp"})):
            name, = options
            self.assertRaisesRegex(TypeError, f"{name}: not for a", stow.plan, model, **options)
        self.assertRaisesRegex(TypeError, "start: expected a Plan", stow.plan,
                               "examples/digits.onnx", start=stow.solve([1], [0], [1]))

    def test_errors_can_be_pickled(self):
        for wrong in (lambda: stow.plan("examples/encoder.onnx"),
                      lambda: stow.Graph.parse("graph @g {\n  %0 = input\n}\n")):
            with self.assertRaises(stow.Error) as caught:
                wrong()
            again = pickle.loads(pickle.dumps(caught.exception))
            self.assertIs(type(again), type(caught.exception))
            self.assertEqual((str(again), vars(again)),
                             (str(caught.exception), vars(caught.exception)))

    def test_only_the_library_makes_its_objects(self):
        for kind in (stow.Plan, stow.Placement, stow.Value):
            for arguments in ((), (1, 2, 3), (mlp(), 999)):
                self.assertRaisesRegex(TypeError, f"{kind.__name__}: not for callers", kind,
                                       *arguments)


class Graphs(unittest.TestCase):
    def test_a_built_graph_is_planned_as_its_text(self):
        graph = mlp().bind(batch=100)
        plan = stow.plan(graph)
        again = stow.plan(stow.Graph.parse(str(graph)))
        self.assertEqual((plan.arena, plan.to_text()), (897024, again.to_text()))

    def test_types_are_inferred(self):
        graph = mlp()
        self.assertEqual(graph.outputs[0].shape, ("?batch", 384))
        x = graph.input("i", (4, 6), np.int64)
        parts = graph.op("split", x, axis=1, sizes=[2, 4], results=2)
        self.assertEqual([part.shape for part in parts], [(4, 2), (4, 4)])
        self.assertEqual((parts[0].dtype, graph.outputs[0].name), ("i64", "y"))

    def test_mistakes_leave_the_graph_as_it_was(self):
        graph = mlp()
        before = str(graph)
        x = graph.outputs[0]
        self.assertRaisesRegex(stow.Error, "relu", graph.op, "relu", x, x)
        self.assertRaisesRegex(ValueError, "unknown op", graph.op, "nothing", x)
        self.assertRaisesRegex(ValueError, "another graph", mlp().op, "relu", x)
        self.assertRaisesRegex(TypeError, "attribute", graph.op, "relu", x, a=[["b"]])
        self.assertRaisesRegex(TypeError, "expected a Value", graph.op, "relu", 3)
        self.assertRaisesRegex(ValueError, "another graph", graph.output, mlp().outputs[0])
        self.assertEqual(str(graph), before)

    def test_a_planned_graph_cannot_change(self):
        graph = mlp().bind(batch=1)
        stow.plan(graph)
        self.assertRaisesRegex(stow.Error, "can no longer change", graph.op, "relu",
                               graph.outputs[0])
        self.assertRaisesRegex(TypeError, "Graph.bind", stow.plan, mlp(), bind={"batch": 1})

    def test_one_of_several_graphs_is_chosen(self):
        self.assertRaisesRegex(ValueError, "choose a graph", stow.Graph.read,
                               "examples/training.stow")
        self.assertEqual(stow.Graph.read("examples/training.stow", "@forward").name, "forward")


if __name__ == "__main__":
    unittest.main()

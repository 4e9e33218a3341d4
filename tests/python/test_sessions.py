"""Runs: the bits of the command, arrays that are not copied and not written over."""

import gc
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

import numpy as np
import stowplan as stow


def digits(seed=0):
    return np.random.default_rng(seed).standard_normal((1, 1, 28, 28)).astype(np.float32)


def tokens(shape):
    return np.random.default_rng(1).integers(0, 16, shape)


def field(number, payload):
    """A field of a protobuf message, below 128 bytes."""
    if isinstance(payload, int):
        return bytes([number << 3, payload])
    payload = payload.encode() if isinstance(payload, str) else payload
    return bytes([number << 3 | 2, len(payload)]) + payload


def model_without_weights():
    """An ONNX model, y = x + w, whose w is in a file that does not exist."""
    def port(name):
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, field(1, field(1, 2)))))

    place = field(1, "location") + field(2, "gone.bin")
    weight = field(1, 2) + field(2, 1) + field(8, "w") + field(13, place) + field(14, 1)
    node = field(1, "x") + field(1, "w") + field(2, "y") + field(4, "Add")
    graph = (field(1, node) + field(2, "g") + field(5, weight) + field(11, port("x"))
             + field(12, port("y")))
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


class Sessions(unittest.TestCase):
    def run_command(self, model, inputs, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            np.savez(f"{folder}/in.npz", **inputs)
            subprocess.run([os.environ["STOWAGE"], "run", model, "--inputs", f"{folder}/in.npz",
                            "--outputs", f"{folder}/out.npz", *arguments], check=True,
                           capture_output=True)
            with np.load(f"{folder}/out.npz") as arrays:
                return dict(arrays)

    def test_one_session_runs_every_shape_of_a_range(self):
        bind = {"batch": range(1, 3), "length": range(1, 17)}
        sessions = [stow.Session("examples/encoder.onnx", bind=bind, **options)
                    for options in ({}, {"io": "keep"}, {"io": {"tokens": "keep"}}, {"threads": 2})]
        self.assertEqual(sessions[0].inputs["tokens"].shape, ("?batch", "?length"))
        for shape in ((2, 16), (1, 1), (1, 16), (2, 3), (2, 3), (1, 9)):
            given = {"tokens": tokens(shape)}
            expected = self.run_command("examples/encoder.onnx", given)
            for session in sessions:
                outputs = session.run(given)
                self.assertEqual(outputs.keys(), expected.keys())
                for name, array in outputs.items():
                    np.testing.assert_array_equal(array, expected[name], strict=True)
        for shape, wrong in (((3, 4), "batch=3"), ((1, 17), "length=17"), ((1, 0), "length=0")):
            with self.assertRaisesRegex(stow.Error, f"{wrong}.* is not in the range"):
                sessions[0].run({"tokens": tokens(shape)})
        with self.assertRaisesRegex(stow.Error, "no input has a dim that tells 'batch'"):
            sessions[0].run({"tokens": tokens((4,))})

    def test_a_decoder_takes_its_shape_from_its_cache(self):
        bind = {"batch": 1, "past": range(0, 16)}
        session = stow.Session("examples/decode.onnx", bind=bind)
        for past in (0, 7, 15):
            inputs = {name: np.random.default_rng(past).standard_normal(
                          [dim if isinstance(dim, int) else past for dim in port.shape]
                      ).astype(np.float32) if port.dtype == "f32" else tokens(port.shape)
                      for name, port in session.inputs.items()}
            expected = stow.Session("examples/decode.onnx",
                                    bind={"batch": 1, "past": past}).run(inputs)
            for name, array in session.run(inputs).items():
                np.testing.assert_array_equal(array, expected[name], strict=True)

    def test_a_capacity_refuses_larger_shapes(self):
        bind = {"batch": 1, "length": range(1, 17)}
        plan = stow.plan("examples/encoder.onnx", bind=bind, io="external")
        session = stow.Session("examples/encoder.onnx", bind=bind,
                               capacity=plan.arena(length=9))
        session.run({"tokens": tokens((1, 9))})
        with self.assertRaisesRegex(stow.Error, "length=16 needs an arena of"):
            session.run({"tokens": tokens((1, 16))})
        session.run({"tokens": tokens((1, 2))})
        with self.assertRaisesRegex(stow.Error, "no point of the range fits in 64 bytes"):
            stow.Session("examples/encoder.onnx", bind=bind, capacity=64)

    def test_outputs_are_those_of_the_command(self):
        cases = (("examples/digits.onnx", {}, {"image": digits()}),
                 ("examples/encoder.onnx", {"batch": 2, "length": 16}, {"tokens": tokens((2, 16))}))
        for model, bind, inputs in cases:
            expected = self.run_command(model, inputs)
            for options in ({}, {"io": "keep"}, {"threads": 2}, {"rewrite": "none"},
                            {"stream": "auto"}):
                outputs = stow.Session(model, bind=bind, **options).run(inputs)
                self.assertEqual(outputs.keys(), expected.keys())
                for name, array in outputs.items():
                    np.testing.assert_array_equal(array, expected[name])

    def test_results_are_the_callers(self):
        session = stow.Session("examples/digits.onnx")
        first = session.run({"image": digits()})["probabilities"]
        kept = first.copy()
        session.run({"image": digits(1)})
        np.testing.assert_array_equal(first, kept)
        del session
        gc.collect()
        np.testing.assert_array_equal(first, kept)

    def test_out_is_written_in_place(self):
        for io in ("external", "keep"):
            session = stow.Session("examples/digits.onnx", io=io)
            out = np.zeros((1, 10), np.float32)
            outputs = session.run({"image": digits()}, out={"probabilities": out})
            self.assertIs(outputs["probabilities"], out)
            self.assertAlmostEqual(float(out.sum()), 1, places=5)

    def test_inputs_are_neither_copied_nor_changed(self):
        session = stow.Session("examples/digits.onnx")
        image = digits()
        image.flags.writeable = False
        before = image.copy()
        first = session.run({"image": image})["probabilities"]
        np.testing.assert_array_equal(image, before)
        self.assertNotIn("image", session.plan.buffers["name"])
        strided = np.asfortranarray(np.repeat(digits(), 2, axis=3)[..., ::2])
        np.testing.assert_array_equal(session.run({"image": strided})["probabilities"], first)

    def test_mistakes_are_refused(self):
        session = stow.Session("examples/digits.onnx")
        self.assertEqual(session.inputs, {"image": stow.Port((1, 1, 28, 28), "f32")})
        self.assertEqual(session.outputs, {"probabilities": stow.Port((1, 10), "f32")})
        for error, message, inputs, out in (
                (stow.Error, "missing input 'image'", {}, None),
                (stow.Error, "unknown input 'x'", {"x": 1}, None),
                (stow.Error, "unknown output 'x'", {"image": digits()}, {"x": digits()}),
                (TypeError, "expected float32", {"image": digits().astype(np.float64)}, None),
                (ValueError, "expected shape", {"image": digits()[0]}, None),
                (ValueError, "out: probabilities: expected", {"image": digits()},
                 {"probabilities": np.zeros(10, np.float32)})):
            self.assertRaisesRegex(error, message, session.run, inputs, out=out)
        memory = np.zeros(28 * 28, np.float32)
        self.assertRaisesRegex(ValueError, "overlaps an input", session.run,
                               {"image": memory.reshape(1, 1, 28, 28)},
                               out={"probabilities": memory[:10].reshape(1, 10)})
        self.assertRaisesRegex(ValueError, "needs kernels", stow.Session, "examples/digits.onnx",
                               kernels="none")

    def test_missing_weights_are_named_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/model.onnx"
            pathlib.Path(path).write_bytes(model_without_weights())
            self.assertGreater(stow.plan(path).arena, 0)
            with self.assertRaisesRegex(stow.ModelError, "'w'.*gone.bin: no such file") as caught:
                stow.Session(path)
            self.assertEqual([issue["kind"] for issue in caught.exception.issues], ["no data"])
        self.assertRaisesRegex(stow.ModelError, "weights without data: 'w1', 'b1', 'w2' and 1 more",
                               stow.Session, "examples/mlp.stow")

    def test_a_capacity_must_be_met(self):
        needed = stow.Session("examples/digits.onnx").plan.arena
        stow.Session("examples/digits.onnx", capacity=needed)
        self.assertRaisesRegex(stow.Error, f"needs {needed} B, above the capacity of 1000 B",
                               stow.Session, "examples/digits.onnx", capacity=1000)

    def test_graphs_run_too(self):
        graph = stow.Graph("scale")
        x = graph.input("x", (2, 3))
        w = graph.param("w", data=np.arange(9, dtype=np.float32).reshape(3, 3))
        graph.output(graph.op("matmul", x, w, name="y"), x)
        given = np.arange(6, dtype=np.float32).reshape(2, 3)
        outputs = stow.Session(graph).run({"x": given})
        np.testing.assert_array_equal(outputs["y"],
                                      given @ np.arange(9, dtype=np.float32).reshape(3, 3))
        np.testing.assert_array_equal(outputs["x"], given)

    def test_lists_and_numbers_are_converted(self):
        graph = stow.Graph("add")
        x, n = graph.input("x", (3,), "f16"), graph.input("n", (), "f16")
        graph.output(graph.op("add", x, n, name="y"))
        outputs = stow.Session(graph).run({"x": [1, 2, 3], "n": 4})
        np.testing.assert_array_equal(outputs["y"], np.array([5, 6, 7], np.float16))

    def test_threads_may_share_a_session(self):
        session = stow.Session("examples/encoder.onnx", bind={"batch": 2, "length": 16})
        given = [tokens((2, 16)), np.zeros((2, 16), np.int64)]
        expected = [session.run({"tokens": array})["encoded"] for array in given]
        wrong = []

        def work(k):
            for _ in range(50):
                if not np.array_equal(session.run({"tokens": given[k]})["encoded"], expected[k]):
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(k % 2,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()

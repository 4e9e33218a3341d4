"""Placement: offsets, outcomes, budgets, interruptions."""

import copy
import json
import os
import pathlib
import pickle
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import numpy as np
import stowplan as stow

EXAMPLE = "examples/buffers.csv"


def some(count, seed=1, longest=40):
    random = np.random.default_rng(seed)
    begins = random.integers(0, count, count)
    return (random.integers(1 << 10, 1 << 20, count), begins,
            begins + random.integers(1, longest, count))


HARD = some(2000, longest=1500)  # no search ends it soon


def overlap(placement, sizes, begins, ends):
    low, high = placement.offsets, placement.offsets + sizes
    return [(a, b) for a in range(len(sizes)) for b in range(a)
            if begins[a] < ends[b] and begins[b] < ends[a] and low[a] < high[b]
            and low[b] < high[a]]


class Solve(unittest.TestCase):
    def test_offsets_are_proven_and_optimal(self):
        placement = stow.solve([4096, 1024, 512], [0, 1, 2], [2, 3, 4])
        self.assertEqual((placement.height, placement.bound, placement.outcome),
                         (5120, 5120, "optimal"))
        self.assertEqual(placement.offsets.dtype, np.int64)

    def test_buffers_that_are_live_together_are_apart(self):
        for seed in range(8):
            sizes, begins, ends = some(40, seed)
            for strategy in stow.strategies():
                placement = stow.solve(sizes, begins, ends, alignment=64, nodes=2000,
                                       strategy=strategy)
                self.assertEqual(overlap(placement, sizes, begins, ends), [])
                self.assertTrue((placement.offsets % 64 == 0).all())
                self.assertGreaterEqual(placement.height, placement.bound)

    def test_a_csv_is_placed_as_the_command_does(self):
        printed = subprocess.run([os.environ["STOWAGE"], "solve", EXAMPLE, "--format", "csv"],
                                 capture_output=True, text=True, check=True).stdout
        placement = stow.solve(EXAMPLE)
        self.assertEqual(placement.to_csv(), printed)
        self.assertEqual(placement.ids[0], "image")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "out.csv"
            placement.save(path)
            self.assertEqual(path.read_text(), printed)

    def test_pictures_have_the_buffers(self):
        for placement in (stow.solve(EXAMPLE), stow.solve(*some(40))):
            count = len(placement.offsets)
            self.assertEqual(len(json.loads(placement.draw("json"))["buffers"]["offset"]), count)
            self.assertEqual(len(placement.to_csv().splitlines()), count + 1)
            self.assertIn("srcdoc", placement._repr_html_())

    def test_guards_are_in_the_csv(self):
        placement = stow.solve([64, 64], [0, 0], [1, 1], guard=[32, 0], fixed={0: 0})
        rows = placement.to_csv().splitlines()
        self.assertEqual(rows, ["id,lower,upper,size,alignment,offset,guard", "0,0,1,96,1,0,32",
                                "1,0,1,64,1,96,0"])
        with tempfile.TemporaryDirectory() as folder:
            placement.save(f"{folder}/rows.csv")
            self.assertEqual(stow.solve(f"{folder}/rows.csv").height, placement.height)

    def test_fixed_offsets_are_kept(self):
        for fixed in ({1: 128}, [-1, 128, -1], np.array([-1, 128, -1])):
            placement = stow.solve([64] * 3, [0] * 3, [1] * 3, fixed=fixed)
            self.assertEqual(placement.offsets[1], 128)

    def test_what_does_not_fit_is_an_outcome(self):
        placement = stow.solve([64, 64], [0, 0], [1, 1], capacity=100)
        self.assertEqual((placement.outcome, placement.fits), ("infeasible", False))
        self.assertTrue(stow.solve([64, 64], [0, 0], [1, 1], capacity=128).fits)

    def test_nothing_is_placed_at_once(self):
        self.assertEqual(stow.solve([], [], []).height, 0)

    def test_a_start_is_kept(self):
        sizes, begins, ends = some(200)
        first = stow.solve(sizes, begins, ends, nodes=1000)
        again = stow.solve(sizes, begins, ends, nodes=0, start=first.offsets)
        self.assertLessEqual(again.height, first.height)

    def test_errors_say_what_was_wrong(self):
        with self.assertRaises(stow.Error) as caught:
            stow.solve([1], [3], [2])
        self.assertEqual(caught.exception.status, "invalid argument")
        with self.assertRaises(stow.Error) as caught:
            stow.solve([8, 8], [0, 0], [2, 2], fixed={0: 0, 1: 4})
        self.assertEqual(caught.exception.code, 12)
        self.assertRaisesRegex(TypeError, "sizes: expected integers", stow.solve, [1.5], [0], [1])
        self.assertRaisesRegex(ValueError, "begins: expected 1 numbers", stow.solve, [1], [0, 1],
                               [1])
        self.assertRaisesRegex(ValueError, "negative", stow.solve, [-1], [0], [1])
        self.assertRaisesRegex(ValueError, "strategy: unknown 'best'; expected one of auto, ",
                               stow.solve, [1], [0], [1], strategy="best")
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write("id,lower,upper,size\na,0,2,x\n")
            file.flush()
            with self.assertRaises(stow.Error) as caught:
                stow.solve(file.name)
            self.assertEqual((caught.exception.line, caught.exception.column), (2, 7))


class Searches(unittest.TestCase):
    def test_progress_is_told_and_can_stop(self):
        told = []

        def stop(progress):
            told.append(progress)
            return progress.best is None

        placement = stow.solve(*HARD, nodes=float("inf"), progress=stop)
        self.assertEqual(placement.stopped, "progress")
        self.assertTrue(all(isinstance(progress, stow.Progress) for progress in told))

    def test_errors_of_the_callback_are_raised(self):
        def fail(progress):
            raise RuntimeError("mine")

        self.assertRaisesRegex(RuntimeError, "mine", stow.solve, *HARD, progress=fail)

    def test_csv_files_have_everything_themselves(self):
        for options in ({"fixed": {0: 0}}, {"alignment": 64}, {"guard": [0, 1]}):
            with self.assertRaisesRegex(TypeError, "a CSV file has"):
                stow.solve("examples/buffers.csv", **options)

    def test_numbers_are_what_c_takes(self):
        rows = [1, 2], [0, 0], [1, 1]
        for options in ({"capacity": -1}, {"capacity": 2**64}, {"nodes": -1}, {"time": float("nan")},
                        {"time": -1}, {"fixed": {2: 0}}, {"fixed": {-1: 0}}, {"fixed": {0: -1}}):
            with self.assertRaises(ValueError, msg=options):
                stow.solve(*rows, **options)
        for options in ({"capacity": "2KiB"}, {"capacity": 1.5}, {"nodes": "x"}, {"time": "10s"},
                        {"fixed": {"a": 0}}, {"fixed": {0: 1.5}}, {"fixed": [0.5, 1]},
                        {"progress": 3}):
            with self.assertRaises(TypeError, msg=options):
                stow.solve(*rows, **options)

    def test_results_are_not_copied(self):
        placement = stow.solve([1, 2], [0, 0], [1, 1])
        for copied in (copy.deepcopy, pickle.dumps):
            self.assertRaisesRegex(TypeError, "neither pickled nor copied", copied, placement)
        self.assertRaisesRegex(TypeError, "neither", copy.deepcopy, stow.Graph("g"))

    def test_time_ends_a_search(self):
        began = time.monotonic()
        placement = stow.solve(*HARD, time=0.2)
        self.assertEqual(placement.stopped, "time")
        self.assertLess(time.monotonic() - began, 20)

    def test_an_interrupt_keeps_the_best(self):
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        placement = stow.solve(*HARD, nodes=float("inf"))
        self.assertEqual(placement.stopped, "interrupt")
        self.assertIn(placement.outcome, ("feasible", "optimal"))
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_other_threads_run_during_a_search(self):
        search = threading.Thread(target=stow.solve, args=HARD, kwargs={"time": 0.5})
        search.start()
        count = 0
        while search.is_alive():
            count += 1
            time.sleep(0.001)
        self.assertGreater(count, 20)


if __name__ == "__main__":
    unittest.main()

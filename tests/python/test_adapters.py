"""Adapters to planners that are not to be had as packages; scripts/adapters.sh tests the others.

MLIR's planners are functions of C++. best_fit below does what `bestFitMemoryPlanner` does.
"""

import pathlib
import random
import re
import unittest

from stowplan.adapters import minimalloc
from stowplan.adapters.mlir import MemoryPlannerAlloc, memory_planner


def best_fit(allocs):
    """In order of time, each in the smallest gap between live ones, or at the end."""
    offsets, end = {}, 0
    for i in sorted(range(len(allocs)), key=lambda i: allocs[i].time_start):
        size, alignment, start, _ = allocs[i]
        live = sorted((offsets[j], offsets[j] + allocs[j].size_in_bytes) for j in offsets
                      if allocs[j].time_end > start)
        gaps, low = [], 0
        for begin, stop in [*live, (end, end)]:
            low = -(-low // alignment) * alignment
            if begin - low >= size:
                gaps.append((begin - low, low))
            low = max(low, stop)
        last = max((stop for _, stop in live), default=0)
        offsets[i] = min(gaps)[1] if gaps else -(-last // alignment) * alignment
        end = max(end, offsets[i] + size)
    return [offsets[i] for i in range(len(allocs))]


def height(allocs, offsets):
    return max((offset + alloc.size_in_bytes for alloc, offset in zip(allocs, offsets)), default=0)


def overlaps(allocs, offsets):
    rows = list(zip(allocs, offsets))
    return [(a, b) for i, (a, at) in enumerate(rows) for b, bt in rows[:i]
            if a.time_start < b.time_end and b.time_start < a.time_end
            and at < bt + b.size_in_bytes and bt < at + a.size_in_bytes]


def some_allocs(generator):
    for _ in range(generator.randint(0, 30)):
        start = generator.randrange(20)
        yield MemoryPlannerAlloc(generator.randrange(200), 2 ** generator.randrange(7), start,
                                 start + generator.randint(1, 9))


class Mlir(unittest.TestCase):
    def test_plans_are_correct_and_at_most_as_high_as_best_fit(self):
        for seed in range(300):
            allocs = list(some_allocs(random.Random(seed)))
            ours, theirs = memory_planner(64, allocs, nodes=20_000), best_fit(allocs)
            for offsets in (ours, theirs):
                self.assertEqual(overlaps(allocs, offsets), [])
                self.assertEqual([o for a, o in zip(allocs, offsets) if o % a.alignment], [])
            self.assertLessEqual(height(allocs, ours), height(allocs, theirs))

    def test_takes_tuples_and_what_is_never_live(self):
        self.assertEqual(memory_planner(16, [(0, 1, 0, 1), (8, 8, 3, 3)]), [0, 0])

    def test_alignments_must_divide_the_arenas(self):
        with self.assertRaisesRegex(ValueError, "alignment 32 does not divide"):
            memory_planner(16, [(4, 32, 0, 1)])


class Docs(unittest.TestCase):
    def test_examples_run(self):
        page = pathlib.Path("docs/adapters.md").read_text(encoding="utf-8")
        for name in ("minimalloc", "mlir"):
            with self.subTest(name):
                block, = re.findall(rf"```python\n([^`]*stowplan.adapters.{name}[^`]*)```", page)
                exec(compile(block, f"docs/adapters.md, {name}", "exec"), {})


class MiniMalloc(unittest.TestCase):
    def problem(self, capacity, **fields):
        spans = [(0, 3, 4), (3, 9, 4), (0, 9, 4), (9, 21, 4), (0, 21, 4)]
        buffers = [minimalloc.Buffer(f"b{i}", minimalloc.Lifespan(lower, upper), size)
                   for i, (lower, upper, size) in enumerate(spans)]
        for name, value in fields.items():
            setattr(buffers[0], name, value)
        return minimalloc.Problem(buffers, capacity)

    def test_finds_a_solution_within_the_capacity(self):
        solution = minimalloc.Solver().solve(self.problem(12))
        self.assertEqual(solution.height, 12)
        self.assertEqual(len(solution.offsets), 5)

    def test_has_no_solution_below_the_load(self):
        self.assertIsNone(minimalloc.Solver().solve(self.problem(11)))

    def test_minimizes_the_capacity(self):
        params = minimalloc.SolverParams()
        params.minimize_capacity = True
        self.assertEqual(minimalloc.Solver(params).solve(self.problem(1000)).height, 12)
        self.assertIsNone(minimalloc.Solver(params).solve(self.problem(11)))

    def test_offsets_and_alignments_are_kept(self):
        self.assertEqual(minimalloc.Solver().solve(self.problem(16, offset=8)).offsets[0], 8)
        aligned = minimalloc.Solver().solve(self.problem(64, alignment=16)).offsets[0]
        self.assertEqual(aligned % 16, 0)

    def test_gaps_are_refused(self):
        with self.assertRaises(NotImplementedError):
            minimalloc.Solver().solve(self.problem(12, gaps=[object()]))


if __name__ == "__main__":
    unittest.main()

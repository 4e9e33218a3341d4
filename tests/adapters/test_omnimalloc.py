"""The allocator for OmniMalloc in its own entry points, on its own workloads."""

import pathlib
import random
import re
import sys
import tempfile
import unittest

import omnimalloc
from omnimalloc.benchmark import BaseSource, MinimallocSource, run_benchmark
from omnimalloc.primitives import Allocation, Pool

import stowplan.adapters.minimalloc
from stowplan.adapters.omnimalloc import StowageAllocator

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "buffers.csv"
# Intervals on one timeline; two know their optimum.
SOURCES = ("high_contention", "pinwheel", "power_of2", "random", "sequential", "skewed", "tiling",
           "uniform")


def some(generator, count):
    for i in range(count):
        start = generator.randrange(40)
        yield Allocation(id=i, size=generator.randint(1, 300), start=start,
                         end=start + generator.randint(1, 12))


class Allocator(unittest.TestCase):
    def test_is_registered(self):
        self.assertIn("stowage", omnimalloc.available_allocators())
        self.assertIn("timeout=3", repr(StowageAllocator(timeout=3)))

    def test_the_example_of_the_page_runs(self):
        page = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
        block, = re.findall(r"```python\n([^`]*stowplan.adapters.omnimalloc[^`]*)```", page)
        exec(block, {"pool": tuple(some(random.Random(2), 9))})

    def test_is_never_above_the_other_allocators_of_a_campaign(self):
        campaign = run_benchmark((StowageAllocator(), "omni", "greedy_by_all", "supermalloc"),
                                 SOURCES, variants=61)
        peaks = {}
        for report in campaign.reports:
            case = peaks.setdefault((report.source_name, report.variant_label), {})
            case[report.allocator_name] = report.mean_peak_size
            if report.allocator_name == "stowage" and report.known_optimum is not None:
                self.assertEqual(report.mean_peak_size, report.known_optimum)
        self.assertEqual({source for source, _ in peaks}, set(SOURCES))
        for case, found in peaks.items():
            self.assertEqual(found["stowage"], min(found.values()), case)

    def test_pins_stay_and_the_rest_is_placed_around_them(self):
        allocator = StowageAllocator(nodes=10_000)
        for seed in range(200):
            generator = random.Random(seed)
            free = tuple(some(generator, generator.randint(1, 25)))
            placed = omnimalloc.allocate(free, allocator, validate=True)
            pinned = [a if generator.random() < 0.4 else a.with_offset(None) for a in placed]
            again = omnimalloc.allocate(pinned, allocator, validate=True)
            for before, after in zip(pinned, again, strict=True):
                self.assertEqual(before.id, after.id)
                self.assertIn(before.offset, (None, after.offset))

    def test_colliding_pins_are_refused(self):
        pins = [Allocation(id=i, size=8, start=0, end=2, offset=4 * i) for i in range(2)]
        with self.assertRaisesRegex(ValueError, "collide"):
            omnimalloc.allocate(pins, "stowage")

    def test_vector_clocks_are_refused(self):
        with self.assertRaisesRegex(ValueError, "scalar"):
            omnimalloc.allocate([Allocation(id=0, size=1, start=(0, 0), end=(1, 1))], "stowage")

    def test_offsets_have_the_alignment(self):
        placed = omnimalloc.allocate(tuple(some(random.Random(1), 50)),
                                     StowageAllocator(alignment=64))
        omnimalloc.validate_allocation(placed, alignment=64)

    def test_without_a_timeout_offsets_are_the_same_in_every_run(self):
        pool = BaseSource.resolve("random").get_variant(200)
        first, second = (omnimalloc.allocate(pool, StowageAllocator(timeout=None, nodes=10_000))
                         for _ in range(2))
        self.assertEqual(first, second)

    def test_places_the_rows_of_csv_files(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = EXAMPLE.read_text().splitlines()
            rows = [row for row in rows if row and not row.startswith("#")]
            (pathlib.Path(folder) / "buffers.csv").write_text("\n".join(rows) + "\n")
            source = MinimallocSource(csv_dir=folder)
            pool = omnimalloc.allocate(source.get_variant("buffers"), "stowage", validate=True)
        self.assertIsInstance(pool, Pool)
        self.assertEqual(len(pool.allocations), len(rows) - 1)


class MiniMalloc(unittest.TestCase):
    """OmniMalloc's own wrapper of MiniMalloc's bindings, on ours."""

    def test_stands_in_for_the_bindings(self):
        sys.modules["minimalloc"] = stowplan.adapters.minimalloc
        self.addCleanup(sys.modules.pop, "minimalloc")
        for seed in range(20):
            allocations = tuple(some(random.Random(seed), 30))
            ours = omnimalloc.allocate(allocations, "minimalloc", validate=True)
            best = omnimalloc.allocate(allocations, "supermalloc", validate=True)
            self.assertLessEqual(max(a.height for a in ours), max(a.height for a in best))


if __name__ == "__main__":
    unittest.main()

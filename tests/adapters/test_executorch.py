"""The algorithm for ExecuTorch in its own pass: its verifier agrees, its runtime computes the same.

Usage: python test_executorch.py [NAME...] as unittest takes them. Prints planned bytes beside those
of `greedy`.
"""

import copy
import functools
import pathlib
import re
import unittest

import torch
from executorch.exir import ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from executorch.exir.error import InternalError
from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, Verifier, greedy
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.tensor import TensorSpec
from executorch.runtime import Runtime
from nets import all_nets
from torch import nn

from stowplan.adapters.executorch import stowage


def peak(specs):
    """The highest sum of live bytes: a bound for every placement of specs in one buffer."""
    specs = [spec for spec in specs if spec.storage_base is None]
    steps = range(max((spec.lifetime[1] for spec in specs), default=-1) + 1)
    return max((sum(spec.allocated_memory for spec in specs
                    if spec.lifetime[0] <= step <= spec.lifetime[1]) for step in steps), default=0)


def export(net, inputs, shapes=None):
    return torch.export.export(net.requires_grad_(False), inputs, dynamic_shapes=shapes)


def program_of(edge, *algorithms, **options):
    """Plans with |algorithms| and proves the result with ExecuTorch's verifier."""
    planner = MemoryPlanningPass(MemoryPlanningAlgorithmSuite(list(algorithms)), **options)
    program = copy.deepcopy(edge).to_executorch(
        ExecutorchBackendConfig(memory_planning_pass=planner))
    exported = program.exported_program()
    verifier = Verifier(exported.graph_module, planner.alloc_graph_input,
                        planner.alloc_graph_output, planner.alloc_mutable_buffers,
                        exported.graph_signature)
    verifier.verify_storage_reuse()
    verifier.verify_graph_input_output()
    return program


def sizes_of(program):
    return program.exported_program().graph_module.meta["non_const_buffer_sizes"]


def run(program, inputs):
    # The method refers to the program's bytes and the outputs to the method's buffers.
    loaded = Runtime.get().load_program(program.buffer)
    method = loaded.load_method("forward")
    return [output.clone() for output in method.execute(list(inputs))]


class Models(unittest.TestCase):
    def compare(self, name, net, inputs, shapes, others):
        peaks = []

        def spy(alignment, specs, *rest):
            result = stowage(alignment, specs, *rest)
            peaks.append(peak(specs))
            return result

        edge = to_edge(export(net, inputs, shapes))
        theirs, ours = program_of(edge, greedy), program_of(edge, spy)
        print(f"| {name} | {sizes_of(theirs)[1]:,} | {sizes_of(ours)[1]:,} | {peaks[0]:,} |",
              flush=True)
        self.assertLessEqual(sizes_of(ours)[1], sizes_of(theirs)[1])
        self.assertGreaterEqual(sizes_of(ours)[1], peaks[0])
        for given in [inputs, *others]:
            expected, actual = run(theirs, given), run(ours, given)
            eager = net(*given)
            self.assertGreater(eager.std(), 1e-3)
            torch.testing.assert_close(actual[0], eager, rtol=1e-3, atol=1e-4)
            self.assertTrue(torch.equal(actual[0], expected[0]), "outputs differ from greedy's")

    def test_sizes_are_at_most_greedys_and_outputs_equal(self):
        print("\n| model | greedy, B | stowage, B | peak of live bytes, B |", flush=True)
        for name, row in all_nets().items():
            with self.subTest(name):
                self.compare(name, *row)


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in ((64, 96), (96, 32), (32, 64)))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x)) + 1
        return x


class Branches(nn.Module):
    """Submodules with buffers of their own, below those of the whole."""

    def forward(self, x):
        y = x * 2
        z = torch.cond(x.sum() > 0, lambda y: torch.sin(y) * 3 + y, lambda y: torch.cos(y) - y,
                       (y,))
        return torch.exp(z) + y


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.zeros(4, 64))

    def forward(self, x):
        self.sum.add_(x)
        return self.sum * 2 + x


class Interface(unittest.TestCase):
    def same(self, net, inputs, edge=None, **options):
        edge = edge or to_edge(export(net, inputs))
        theirs, ours = program_of(edge, greedy, **options), program_of(edge, stowage, **options)
        self.assertEqual(len(sizes_of(ours)), len(sizes_of(theirs)))
        self.assertLessEqual(sum(sizes_of(ours)), sum(sizes_of(theirs)))
        for actual, expected in zip(run(ours, inputs), run(theirs, inputs), strict=True):
            self.assertTrue(torch.equal(actual, expected))
        return theirs, ours

    def setUp(self):
        torch.manual_seed(1)
        self.inputs = (torch.randn(4, 64),)

    def test_takes_its_place_beside_greedy(self):
        edge = to_edge(export(Chain(), self.inputs))
        alone = sizes_of(program_of(edge, stowage))
        self.assertEqual(alone, sizes_of(program_of(edge, greedy, stowage)))
        self.assertEqual(alone[0], 0)

    def test_the_example_of_the_page_runs(self):
        page = pathlib.Path(__file__).parents[2] / "docs" / "adapters.md"
        block, = re.findall(r"```python\n([^`]*stowplan.adapters.executorch[^`]*)```",
                            page.read_text(encoding="utf-8"))
        names = {"edge": to_edge(export(Chain(), self.inputs))}
        exec(block, names)
        self.assertEqual(len(run(names["program"], self.inputs)), 1)

    def test_options_of_solve_are_bound_by_partial(self):
        edge = to_edge(export(Chain(), self.inputs))
        first_fit = functools.partial(stowage, strategy="first-fit")
        self.assertGreaterEqual(sizes_of(program_of(edge, first_fit)),
                                sizes_of(program_of(edge, stowage)))

    def test_inputs_and_outputs_can_be_the_callers(self):
        for options in ({"alloc_graph_input": False}, {"alloc_graph_output": False},
                        {"alloc_graph_input": False, "alloc_graph_output": False}):
            with self.subTest(options):
                self.same(Chain(), self.inputs, **options)

    def test_offsets_have_the_alignment(self):
        _, program = self.same(Chain(), self.inputs, alignment=256)
        nodes = program.exported_program().graph_module.graph.nodes
        offsets = [node.meta["spec"].mem_offset for node in nodes
                   if isinstance(node.meta.get("spec"), TensorSpec) and not node.meta["spec"].const]
        self.assertGreater(len(offsets), 4)
        self.assertEqual([offset for offset in offsets if offset % 256 != 0], [])

    def test_branches_keep_their_bytes(self):
        for sign in (1, -1):
            with self.subTest(sign=sign):
                self.same(Branches(), (sign * torch.rand(4, 64),))

    def test_mutable_buffers_are_placed(self):
        self.same(Counter(), self.inputs)

    def test_padding_of_delegates_is_added(self):
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        exported = export(Chain(), self.inputs)
        edge = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
        theirs, ours = self.same(Chain(), self.inputs, edge)
        self.assertEqual(sizes_of(theirs), sizes_of(ours))


def spec(elements, begin, end, **fields):
    made = TensorSpec(torch.float32, torch.Size([elements]))
    made.lifetime = [begin, end]
    for name, value in fields.items():
        setattr(made, name, value)
    return made


class Specs(unittest.TestCase):
    def plan(self, *specs, alignment=16, reserved=None, padding=0):
        module = nn.Module()
        if reserved is not None:
            module.input_mem_buffer_sizes = reserved
        return stowage(alignment, list(specs), module, None, padding)

    def test_lifetimes_are_inclusive(self):
        a, b, c = spec(4, 0, 1), spec(4, 1, 2), spec(4, 2, 3)
        result = self.plan(a, b, c)
        self.assertEqual(result.bufsizes, [0, 32])
        self.assertNotEqual(result.spec_dict[a].mem_offset, result.spec_dict[b].mem_offset)
        self.assertNotEqual(result.spec_dict[b].mem_offset, result.spec_dict[c].mem_offset)

    def test_no_specs_need_no_bytes_and_two_buffers(self):
        self.assertEqual(self.plan().bufsizes, [0, 0])
        self.assertEqual(self.plan(spec(0, 0, 1)).bufsizes, [0, 0])

    def test_specs_stay_in_their_buffers(self):
        a, b = spec(4, 0, 1, mem_id=3), spec(4, 0, 1)
        result = self.plan(a, b, padding=64)
        self.assertEqual(result.bufsizes, [0, 80, 0, 80])
        self.assertEqual([result.spec_dict[s].mem_id for s in (a, b)], [3, 1])

    def test_reserved_bytes_are_kept_and_rounded_up(self):
        a = spec(4, 0, 1)
        result = self.plan(a, alignment=64, reserved=[0, 100, 48], padding=8)
        self.assertEqual(result.spec_dict[a].mem_offset, 128)
        self.assertEqual(result.bufsizes, [0, 128 + 64 + 8, 48])

    def test_backed_specs_lie_in_their_base_and_keep_it_alive(self):
        base, other = spec(16, 0, 1, mem_id=2), spec(16, 4, 5, mem_id=2)
        view = spec(8, 1, 3, storage_base=base, storage_base_offset=32)
        inner = spec(4, 2, 6, storage_base=view, storage_base_offset=16)
        result = self.plan(base, other, view, inner)
        at = {s: result.spec_dict[s].mem_offset for s in (base, other, view, inner)}
        self.assertEqual([at[view] - at[base], at[inner] - at[base]], [32, 48])
        self.assertEqual({result.spec_dict[s].mem_id for s in at}, {2})
        self.assertEqual(result.bufsizes, [0, 0, 128])

    def test_impossible_bases_are_refused(self):
        base, stranger = spec(16, 0, 1), spec(4, 0, 1)
        loop = spec(4, 0, 1)
        loop.storage_base = loop
        for wrong in (spec(8, 0, 1, storage_base=base, storage_base_offset=48),
                      spec(4, 0, 1, storage_base=base, storage_base_offset=4),
                      spec(4, 0, 1, storage_base=base, storage_base_offset=-16),
                      spec(4, 0, 1, storage_base=stranger), loop):
            with self.assertRaises(InternalError):
                self.plan(base, wrong)

    def test_every_spec_has_an_object(self):
        result = self.plan(spec(4, 0, 1), spec(4, 2, 3), spec(0, 0, 1))
        self.assertEqual([found.mem_obj_id for found in result.spec_dict.values()], [0, 0, 0])


if __name__ == "__main__":
    unittest.main()

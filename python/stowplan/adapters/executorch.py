"""A memory planning algorithm for ExecuTorch 1.5.

    from executorch.exir import ExecutorchBackendConfig
    from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, greedy
    from executorch.exir.passes import MemoryPlanningPass
    from stowplan.adapters.executorch import stowage

    suite = MemoryPlanningAlgorithmSuite([greedy, stowage])  # the smaller result is taken
    config = ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(suite))
    program = edge.to_executorch(config)

Not for the Vulkan backend, which makes an object of each `mem_obj_id`: here a buffer is one object.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Collection, Optional

import torch
from executorch.exir.error import InternalError
from executorch.exir.memory_planning import MemoryAlgoResult, SpecAllocResult
from executorch.exir.tensor import TensorSpec
from torch.export.exported_program import ExportGraphSignature

from .. import solve

_DEFAULT_BUFFER = 1  # 0 is for constants


@dataclass
class _Root:
    """Bytes that one spec and all that are backed by it share, live over [begin, end)."""

    size: int
    begin: int
    end: int
    offset: int = 0


def _backing(spec):
    """The spec at the end of the chain of storage bases, and the offset of |spec| in it."""
    base, offset, seen = spec, 0, {spec}
    while base.storage_base is not None:
        offset += base.storage_base_offset
        end = base.storage_base_offset + base.allocated_memory
        base, inner = base.storage_base, base
        if base in seen:
            raise InternalError("circular storage_base")
        seen.add(base)
        if inner.storage_base_offset < 0 or end > base.allocated_memory:
            raise InternalError(f"{inner.debug()} is not inside its storage_base {base.debug()}")
    if offset % spec.alignment != 0:
        raise InternalError(f"{spec.debug()} is not aligned in its storage_base")
    return base, offset


def _roots(specs, backings):
    """The bytes to place. Lifetimes of specs are inclusive."""
    roots = {}
    for spec in specs:
        base, _ = backings[spec]
        begin, end = spec.lifetime[0], spec.lifetime[1] + 1
        root = roots.setdefault(base, _Root(base.allocated_memory, begin, end))
        root.begin, root.end = min(root.begin, begin), max(root.end, end)
    strangers = [base.debug() for base in roots if base not in backings]
    if strangers:
        raise InternalError(f"storage_base is not planned: {', '.join(strangers)}")
    return roots


def _place(roots, first, alignment, **options):
    """Offsets from |first| on; returns the end of the highest."""
    roots = [root for root in roots if root.size > 0]
    first = -(-first // alignment) * alignment
    placement = solve([root.size for root in roots], [root.begin for root in roots],
                      [root.end for root in roots], alignment=alignment, **options)
    for root, offset in zip(roots, placement.offsets):
        root.offset = first + int(offset)
    return first + placement.height


def stowage(alignment: int, specs: Collection[TensorSpec], graph_module: torch.fx.GraphModule,
            graph_signature: Optional[ExportGraphSignature], extra_padding: int = 0, *,
            nodes: float = 400_000, **options: Any) -> MemoryAlgoResult:
    """Places |specs|. |nodes| and |options| are those of stowplan.solve, for functools.partial; the
    default takes about a second at most.

    Buffers begin after the bytes that submodules use (`input_mem_buffer_sizes`): what a branch of
    `cond` returns lies there and is read later.
    """
    for spec in specs:
        spec.realign(alignment)
    backings = {spec: _backing(spec) for spec in specs}
    roots = _roots(specs, backings)
    buffers = defaultdict(list)
    for base, root in roots.items():
        buffers[base.mem_id or _DEFAULT_BUFFER].append(root)

    sizes = list(getattr(graph_module, "input_mem_buffer_sizes", None) or [])
    sizes += [0] * (max([_DEFAULT_BUFFER, *buffers]) + 1 - len(sizes))
    for buffer, members in buffers.items():
        end = _place(members, sizes[buffer], alignment, nodes=nodes, **options)
        sizes[buffer] = end + extra_padding
    # Specs that share bytes must have the same object, so that a buffer is one.
    return MemoryAlgoResult({
        spec: SpecAllocResult(base.mem_id or _DEFAULT_BUFFER, 0, roots[base].offset + offset)
        for spec, (base, offset) in backings.items()
    }, sizes)

"""A planner in the shape of those of MLIR's static memory planner.

`memory_planner` takes and returns what `trivialMemoryPlanner` and `bestFitMemoryPlanner` of
mlir/Dialect/Bufferization/Transforms/StaticMemoryPlanning.h do.
"""

from typing import Any, Iterable, List, NamedTuple, Tuple, Union

from .. import solve


class MemoryPlannerAlloc(NamedTuple):
    size_in_bytes: int
    alignment: int = 1
    time_start: int = 0  # index of the operation at which it becomes live
    time_end: int = 0  # index of the operation that frees it


Alloc = Union[MemoryPlannerAlloc, Tuple[int, int, int, int]]


def memory_planner(arena_alignment: int, allocs: Iterable[Alloc], *, nodes: float = 400_000,
                   **options: Any) -> List[int]:
    """Offsets in bytes from the start of an arena that is aligned to |arena_alignment|.

    |allocs| are MemoryPlannerAlloc or tuples of the same fields. |nodes| and |options| are those of
    stowplan.solve; the default takes about a second at most.
    """
    allocs = [MemoryPlannerAlloc(*alloc) for alloc in allocs]
    for alloc in allocs:
        if arena_alignment % alloc.alignment != 0:
            raise ValueError(f"alignment {alloc.alignment} does not divide that of the arena, "
                             f"{arena_alignment}")
    # An allocation of no bytes is anywhere; one that is never live still has bytes.
    placed = [i for i, alloc in enumerate(allocs) if alloc.size_in_bytes > 0]
    placement = solve([allocs[i].size_in_bytes for i in placed],
                      [allocs[i].time_start for i in placed],
                      [max(allocs[i].time_end, allocs[i].time_start + 1) for i in placed],
                      alignment=[allocs[i].alignment for i in placed], nodes=nodes, **options)
    offsets = [0] * len(allocs)
    for i, offset in zip(placed, placement.offsets):
        offsets[i] = int(offset)
    return offsets

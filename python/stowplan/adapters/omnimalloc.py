"""An allocator for OmniMalloc 1.0, registered as "stowage" on import.

    import omnimalloc
    import stowplan.adapters.omnimalloc

    placed = omnimalloc.allocate(pool, "stowage", validate=True)
"""

from typing import Optional, Tuple

from omnimalloc.allocators import BaseAllocator
from omnimalloc.common.constants import DEFAULT_TIMEOUT
from omnimalloc.primitives import Allocation

from .. import solve


class StowageAllocator(BaseAllocator):
    """Places intervals with stowplan.solve; offsets that allocations have already are kept.

    `timeout`, in seconds, and `nodes` limit the search as `time` and `nodes` of stowplan.solve do.
    With `timeout=None` the same allocations have the same offsets in every run.
    """

    supports_vector_time = False
    supports_pinned = True

    def __init__(self, timeout: Optional[float] = DEFAULT_TIMEOUT, nodes: Optional[float] = None,
                 alignment: int = 1, strategy: str = "auto") -> None:
        self._timeout = timeout
        self._nodes = nodes
        self._alignment = alignment
        self._strategy = strategy

    def _allocate(self, allocations: Tuple[Allocation, ...]) -> Tuple[Allocation, ...]:
        pins = {i: a.offset for i, a in enumerate(allocations) if a.is_allocated}
        placement = solve([a.size for a in allocations], [a.start for a in allocations],
                          [a.end for a in allocations], alignment=self._alignment, fixed=pins,
                          time=self._timeout, nodes=self._nodes, strategy=self._strategy)
        return tuple(allocation.with_offset(int(offset))
                     for allocation, offset in zip(allocations, placement.offsets))

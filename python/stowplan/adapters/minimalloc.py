"""The classes of MiniMalloc's Python bindings that state and solve problems, on Stowage.

    import stowplan.adapters.minimalloc as minimalloc

    problem = minimalloc.Problem([minimalloc.Buffer("a", minimalloc.Lifespan(0, 2), 4)], 8)
    minimalloc.Solver().solve(problem).offsets

Programs that `import minimalloc` take it as `sys.modules["minimalloc"]`. Gaps are refused; hints
are ignored, and so are the parameters that only MiniMalloc's search has.
"""

from dataclasses import dataclass, field
from typing import List, NamedTuple, Optional

from .. import solve


class Lifespan(NamedTuple):
    """Live at steps [lower, upper)."""

    lower: int
    upper: int


@dataclass
class Buffer:
    id: str
    lifespan: Lifespan
    size: int
    alignment: int = 1
    gaps: list = field(default_factory=list)
    offset: Optional[int] = None  # where it must lie
    hint: Optional[int] = None


@dataclass
class Problem:
    buffers: List[Buffer] = field(default_factory=list)
    capacity: int = 0


@dataclass
class Solution:
    offsets: List[int]
    height: int = 0


@dataclass
class SolverParams:
    timeout: Optional[float] = None  # seconds; None: until the search is complete
    minimize_capacity: bool = False


class Solver:
    def __init__(self, params: Optional[SolverParams] = None) -> None:
        self.params = params or SolverParams()

    def solve(self, problem: Problem) -> Optional[Solution]:
        """A solution within the capacity, the lowest if params.minimize_capacity; None if the
        search ended without one."""
        if any(buffer.gaps for buffer in problem.buffers):
            raise NotImplementedError("gaps are not supported")
        buffers = problem.buffers
        fixed = {i: b.offset for i, b in enumerate(buffers) if b.offset is not None}
        placement = solve([b.size for b in buffers], [b.lifespan.lower for b in buffers],
                          [b.lifespan.upper for b in buffers],
                          alignment=[b.alignment for b in buffers], fixed=fixed,
                          capacity=None if self.params.minimize_capacity else problem.capacity,
                          time=self.params.timeout, nodes=float("inf"))
        if not placement.fits or placement.height > problem.capacity:
            return None
        return Solution([int(offset) for offset in placement.offsets], placement.height)

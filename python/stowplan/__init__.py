"""Stowage: plans the memory of tensor programs."""

from ._c import lib as _lib
from ._call import Error
from ._search import Progress
from .placement import Placement, solve, strategies

__all__ = ["Error", "Placement", "Progress", "solve", "strategies"]
__version__ = _lib.stow_version().decode()

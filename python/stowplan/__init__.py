"""Stowage: plans the memory of tensor programs."""

from ._c import lib as _lib
from ._call import Error
from ._search import Progress
from ._sources import ModelError
from .formulas import Fit, FormulaPlan, Region
from .graphs import Graph, Value
from .placement import Placement, solve, strategies
from .plans import Plan, plan
from .sessions import Port, Session

__all__ = ["Error", "Fit", "FormulaPlan", "Graph", "ModelError", "Placement", "Plan", "Port",
           "Progress", "Region", "Session", "Value", "plan", "solve", "strategies"]
__version__ = _lib.stow_version().decode()

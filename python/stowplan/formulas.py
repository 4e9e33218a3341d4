"""Plans of ranges: one plan for every shape."""

from __future__ import annotations

import copy
import ctypes
import os
from pathlib import Path
from typing import Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _c
from ._c import lib
from ._call import Borrowed, Handle, Made, check, diag, integer, make, written
from ._picture import Picture
from .plans import JSON, SAVED, Plan, plan_options

_VERDICTS = ("fits", "fits alone", "no", "load", "unknown")  # stow_fit_kind
Point = Dict[str, int]


class Region(NamedTuple):
    """Points with the same structure."""

    boxes: List[Tuple[Point, Point]]  # its first and last values
    planned_at: Point  # where the structure was made
    arena: List[str]  # formulas; the arena is the largest of them at every point,
    slack: Optional[int]  # or less by at most so many bytes; None: it may be larger


class Fit(NamedTuple):
    """What fits into a capacity."""

    largest: Optional[Point]  # the last point that fits; None: none does
    arena: Optional[int]  # its bytes there
    verdicts: List[str]  # by point: "fits", "fits alone" (with a plan of its own), "no" (proven),
    #                      "load" (not searched; the load is above it) or "unknown"


class _Effects:
    """Effects at one point after another, for the library: it asks, and gives them back."""

    def __init__(self, job):
        self._job = job
        self._open = {}
        self._raised = None
        self.prepared = self._kernels = None
        if job.prepare is not None:
            self.prepared = Handle(
                make(lib.stow_prepare, job.graph, ctypes.byref(job.prepare), _c.heap,
                     where=job.source.label), lib.stow_prepared_destroy, job.graph)
            job.set_policies(lib.stow_prepared_effects(self.prepared), job.graph)  # for executors
            effects = lib.stow_prepared_formula_effects(self.prepared)
            begin = ctypes.cast(effects.begin, _c.begin_effects)
            self._kernels = lambda *arguments: begin(effects.user, *arguments)
        self._kept = _c.begin_effects(self._begin), _c.end_effects(self._end)
        pointers = (ctypes.cast(function, ctypes.c_void_p) for function in self._kept)
        self.struct = _c.stow_formula_effects(*pointers, None)

    def _begin(self, user, bound, allocator, found, out):
        try:
            _, effects = self._job.effects_of(bound, self._kernels)
            self._open[effects.address] = effects
            out[0] = effects.address
            return 0
        except BaseException as error:  # it passes through C
            self._raised = error
            return 1

    def _end(self, user, effects):
        del self._open[effects]

    def check(self, status, found, where):
        """What was raised while effects were made comes first."""
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        check(status, found, where)


class FormulaPlan(Made, Picture):
    """One plan for every shape of a range, proven at every point.

    symbols        {name: range} of those that have one
    points         an array, a row per point with the values of the symbols
    arenas, loads  arrays, by point
    largest_arena  in bytes; largest_at is the point
    largest_gap    how far the arena is above the load, in parts of the load; at worst_at
    regions        a list of Region
    formula        the arena as text
    """

    symbols: Dict[str, range]
    points: npt.NDArray[np.int64]
    arenas: npt.NDArray[np.int64]
    loads: npt.NDArray[np.int64]
    alignment: int
    largest_arena: int
    largest_at: Point
    largest_gap: float
    worst_at: Point
    regions: List[Region]

    _maker = "stowplan.plan"

    def _set(self, job, handle, options, effects, kept):
        self._job, self._handle, self._options = job, handle, options
        self._effects, self._kept = effects, kept
        info = _c.stow_formula_info()
        lib.stow_formula_describe(handle, ctypes.byref(info))
        self.symbols = {}
        for i in range(lib.stow_formula_symbol_count(handle)):
            found = _c.stow_dim_range()
            name = lib.stow_formula_symbol(handle, i, ctypes.byref(found)).text()
            self.symbols[name] = range(found.min, found.max + 1, found.step)
        self._set_points(info.point_count)
        self.alignment = info.alignment
        self.largest_arena = info.largest_arena
        self.largest_at = self._point(info.largest_point)
        load = int(self.loads[info.worst_point])
        self.largest_gap = (int(self.arenas[info.worst_point]) - load) / max(load, 1)
        self.worst_at = self._point(info.worst_point)
        self.regions = [self._region(i) for i in range(info.region_count)]

    def _set_points(self, count):
        self.points = np.zeros((count, len(self.symbols)), np.int64)
        self.arenas, self.loads = np.zeros(count, np.int64), np.zeros(count, np.int64)
        found = _c.stow_formula_point()
        for i in range(count):
            lib.stow_formula_point_values(self._handle, i, self.points[i].ctypes.data)
            lib.stow_formula_describe_point(self._handle, i, ctypes.byref(found))
            self.arenas[i], self.loads[i] = found.arena_size, found.load

    def _point(self, index):
        return dict(zip(self.symbols, map(int, self.points[index])))

    def _region(self, index):
        info, boxes = _c.stow_formula_region(), []
        lib.stow_formula_describe_region(self._handle, index, ctypes.byref(info))
        first, last = (np.zeros(len(self.symbols), np.int64) for _ in range(2))
        for i in range(info.box_count):
            lib.stow_formula_box(self._handle, index, i, first.ctypes.data, last.ctypes.data)
            boxes.append(tuple(dict(zip(self.symbols, map(int, end))) for end in (first, last)))
        sums = (written(lib.stow_formula_write_sum, self._handle, index, i, has_diag=False).decode()
                for i in range(info.sum_count))
        texts = [text[2:-1] if text.startswith("?(") else text.lstrip("?") for text in sums]
        slack = None if info.slack == _c.NONE else info.slack
        return Region(boxes, self._point(info.planned_at), texts, slack)

    @property
    def formula(self) -> str:
        """A line per region; "…" stands for formulas that are not known, or too many."""
        lines = []
        for region in self.regions:
            sums = region.arena + (["…"] if region.slack is None else [])
            text = f"max({', '.join(sums)})" if len(sums) > 1 else sums[0]
            text += f", or up to {region.slack} B less" if region.slack else ""
            where = "; ".join(self._box_text(*box) for box in region.boxes)
            lines.append(text if len(self.regions) == 1 else f"{where}: {text}")
        return "\n".join(lines)

    def _box_text(self, first, last):
        step = {name: f"/{symbol.step}" if symbol.step > 1 else ""
                for name, symbol in self.symbols.items()}
        return ",".join(f"{name}={first[name]}" if first[name] == last[name] else
                        f"{name}={first[name]}..{last[name]}{step[name]}" for name in first)

    def _index(self, given, more):
        point = {**(given or {}), **more}
        unknown = [name for name in point if name not in self.symbols]
        missing = [name for name in self.symbols if name not in point]
        if unknown or missing:
            raise TypeError(f"unknown symbol {unknown[0]!r}" if unknown else
                            f"a value of {missing[0]!r} is missing")
        values = (ctypes.c_int64 * len(self.symbols))(
            *(integer(name, point[name], 0, 2**63 - 1) for name in self.symbols))
        index = ctypes.c_size_t()
        if lib.stow_formula_find_point(self._handle, values, ctypes.byref(index)) != 0:
            raise ValueError(f"{point} is not in the range")
        return index.value

    def arena(self, point: Optional[Mapping[str, int]] = None, **symbols: int) -> int:
        """Bytes at a point: `plan.arena(seq=128)`; a dict is for names that are no keywords."""
        return int(self.arenas[self._index(point, symbols)])

    def load(self, point: Optional[Mapping[str, int]] = None, **symbols: int) -> int:
        """No placement with these lifetimes needs less there."""
        return int(self.loads[self._index(point, symbols)])

    def at(self, point: Optional[Mapping[str, int]] = None, **symbols: int) -> Plan:
        """The plan at a point."""
        index = self._index(point, symbols)
        source = self._job.graph
        graph = Handle(make(lib.stowi_graph_copy, source, _c.heap), lib.stow_graph_destroy, source)
        names = [Borrowed(name) for name in self.symbols]
        table = (_c.stow_str * len(names))(*(name._as_parameter_ for name in names))
        values = (ctypes.c_int64 * len(names))(*map(int, self.points[index]))
        found = diag()
        check(lib.stow_graph_bind(graph, table, values, len(names), ctypes.byref(found)), found)
        job = copy.copy(self._job)
        job.graph = graph
        job.prepared, job.effects = job.effects_of(graph)
        handle = Handle(make(lib.stow_formula_at, self._handle, index, graph, job.effects, _c.heap),
                        lib.stow_plan_destroy)
        return Plan._make(job, handle, None)

    def fit(self, capacity: int) -> Fit:
        """Which points fit into so many bytes; `stowage fit` does the same."""
        room = integer("capacity", capacity)
        points = (_c.stow_fit_point * len(self.points))()
        largest, found = ctypes.c_size_t(), diag()
        self._effects.check(
            lib.stow_formula_fit(self._handle, room, ctypes.byref(self._options), _c.heap,
                                 ctypes.byref(found), points, ctypes.byref(largest)),
            found, self._job.source.label)
        verdicts = [_VERDICTS[point.kind] for point in points]
        if largest.value == _c.NONE:
            return Fit(None, None, verdicts)
        return Fit(self._point(largest.value), points[largest.value].arena_size, verdicts)

    def __repr__(self):
        ranges = self._box_text({name: symbol[0] for name, symbol in self.symbols.items()},
                                {name: symbol[-1] for name, symbol in self.symbols.items()})
        return (f"<stowplan.FormulaPlan of {self._job.source.label}: {ranges}, arena at most "
                f"{self.largest_arena} B, {len(self.regions)} region"
                f"{'' if len(self.regions) == 1 else 's'}>")

    def to_json(self) -> str:
        """As `stowage plan --format json`."""
        return written(lib.stow_formula_write, self._handle, JSON, has_diag=False).decode()

    def to_text(self) -> str:
        """The saved plan: what `save` writes, and `stowage check` reads."""
        return written(lib.stow_formula_write, self._handle, SAVED, has_diag=False).decode()

    def to_c(self, prefix: Optional[str] = None) -> str:
        """A C header with functions that compute the arena's size and all offsets."""
        name = None if prefix is None else prefix.encode()
        return written(lib.stow_formula_write_c, self._handle, name).decode()

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Writes the plan, as `stowage plan --format plan -o PATH` does."""
        Path(path).write_bytes(self.to_text().encode())

    def _make_picture(self):
        source = self._job.source
        picture = _c.stow_picture_formula()
        lib.stow_picture_formula_defaults(ctypes.byref(picture))
        picture.formula = self._handle.address
        picture.effects = self._effects.struct
        picture.source = source.label.encode()
        picture.title = os.path.basename(source.label).encode() if source.is_model else None
        picture.is_model = source.is_model
        found, out = diag(), ctypes.c_void_p()
        self._effects.check(
            lib.stow_picture_from_formula(ctypes.byref(picture), _c.heap, ctypes.byref(found),
                                          ctypes.byref(out)), found, source.label)
        return out.value


def make_formula(job, given):
    """Plans the range of a job, and proves the plan at every point."""
    for name in ("capacity", "start", "stream", "time", "progress"):
        if given[name] is not None:
            raise ValueError(f"{name}: for one shape, not for a range"
                             + ("; see FormulaPlan.fit" if name == "capacity" else ""))
    plan, options = plan_options(job, given), _c.stow_formula_options()
    effects, where = _Effects(job), job.source.label
    lib.stow_formula_options_defaults(ctypes.byref(options))
    options.plan = ctypes.addressof(plan)
    options.effects = effects.struct
    found, out = diag(), ctypes.c_void_p()
    effects.check(lib.stow_formula_make(job.graph, ctypes.byref(options), _c.heap,
                                        ctypes.byref(found), ctypes.byref(out)), found, where)
    handle = Handle(out.value, lib.stow_formula_destroy, job.graph)
    found = diag()
    effects.check(lib.stow_formula_check(handle, ctypes.byref(effects.struct), _c.heap,
                                         ctypes.byref(found)), found, where)
    return FormulaPlan._make(job, handle, options, effects, plan)

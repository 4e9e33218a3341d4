"""Placement alone: sizes and lifetimes to offsets."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Callable, Dict, List, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _c
from ._c import lib
from ._call import Borrowed, Handle, Made, check, diag, error_of, integer, make, word, written
from ._picture import Picture
from ._search import Progress, Search, limit_of

# What `stowage solve` spends: here a search is the whole purpose.
USUAL_NODES = 20_000_000

_BUFFER = np.dtype(_c.stow_buffer)


def _row(address):
    return ctypes.cast(address, ctypes.POINTER(_c.stow_strategy))[0]


def strategy_table():
    """Addresses of the strategies by name."""
    addresses = (lib.stow_strategy_at(i) for i in range(lib.stow_strategy_count()))
    return {_row(address).name.decode(): address for address in addresses}


def strategies() -> Dict[str, str]:
    """Names and one-line summaries of the strategies."""
    return {name: _row(address).summary.decode() for name, address in strategy_table().items()}


class Placement(Made, Picture):
    """Offsets of buffers, and how good they are.

    offsets  an array of int64, one per buffer, in bytes
    height   the end of the highest buffer: the bytes that the arena needs
    bound    proven: no placement is lower
    outcome  "optimal", "feasible", "infeasible" (nothing fits in the capacity) or "gave up"
    nodes    search nodes spent
    stopped  what ended the search early: "time", "interrupt", "progress"; else None
    ids      names of the buffers in the CSV file; else None
    """

    offsets: npt.NDArray[np.int64]
    height: int
    bound: int
    outcome: str
    nodes: int
    stopped: Optional[str]
    ids: Optional[List[str]]

    _maker = "stowplan.solve"

    def _set(self, problem, placement, search, title, strategy):
        info = _c.stow_placement_info()
        lib.stow_placement_describe(placement, ctypes.byref(info))
        self._problem = problem
        self._placement = placement
        self._title = title
        self._strategy = strategy
        self.offsets = np.array([lib.stow_placement_offset(placement, i)
                                 for i in range(info.count)], np.int64)
        self.height = info.height
        self.bound = info.bound
        self.outcome = lib.stow_outcome_text(info.outcome).decode()
        self.nodes = info.nodes
        self.stopped = search.stopped_by if info.stopped else None
        self.ids = problem.ids

    @property
    def fits(self) -> bool:
        """Whether it is within the capacity, if there is one."""
        return self.outcome in ("optimal", "feasible")

    def __repr__(self):
        return (f"<stowplan.Placement {len(self.offsets)} buffers, {self.height} B, "
                f"bound {self.bound} B, {self.outcome}>")

    def to_csv(self) -> str:
        """The rows with their offsets, as `stowage solve --format csv` writes them."""
        return written(lib.stow_csv_write, self._problem.csv(), self._placement).decode()

    def save(self, path: Union[str, os.PathLike]) -> None:
        Path(path).write_bytes(self.to_csv().encode())

    def _make_picture(self):
        csv = self._problem.csv()  # alive during the call
        rows = _c.stow_picture_rows()
        lib.stow_picture_rows_defaults(ctypes.byref(rows))
        rows.csv = csv.address
        rows.placement = self._placement.address
        rows.source = rows.title = self._title.encode()
        rows.strategy = self._strategy.encode()
        return make(lib.stow_picture_from_rows, ctypes.byref(rows), _c.heap)


class _Table:
    """A problem that was read from CSV."""

    def __init__(self, text, where=None):
        self._text = Borrowed(text)
        self._csv = Handle(make(lib.stow_csv_read, self._text, _c.heap, where=where),
                           lib.stow_csv_destroy, self._text)
        self.address = lib.stow_csv_problem(self._csv)
        self.count = lib.stow_problem_count(self.address)
        self.ids = [lib.stow_csv_id(self._csv, i).text() for i in range(self.count)]

    def csv(self):
        return self._csv


class _Rows:
    """A problem that was made from arrays."""

    ids: Optional[List[str]] = None

    def __init__(self, buffers):
        self._buffers = buffers
        self._handle = Handle(make(lib.stow_problem_create, _c.heap), lib.stow_problem_destroy)
        self.address = self._handle.address
        self.count = len(buffers)
        found = diag()
        number = ctypes.c_size_t()
        add, base = lib.stow_problem_add, buffers.ctypes.data
        for i in range(self.count):
            status = add(self.address, base + i * _BUFFER.itemsize, ctypes.byref(found),
                         ctypes.byref(number))
            if status != 0:
                raise error_of(status, found)

    def csv(self):
        """As plans write theirs: a guard is part of the size, and stands in a column too."""
        lines = ["id,lower,upper,size,alignment,offset,guard"]
        for i, row in enumerate(self._buffers):
            offset = "" if row["fixed_offset"] == _c.NONE else row["fixed_offset"]
            lines.append(f"{i},{row['begin']},{row['end']},{row['size'] + row['guard']},"
                         f"{row['alignment']},{offset},{row['guard']}")
        return _Table("\n".join(lines) + "\n").csv()


def _column(name, values, count):
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size > 0:
        raise TypeError(f"{name}: expected integers, not {array.dtype}")
    if array.ndim > 1 or (array.ndim == 1 and len(array) != count):
        raise ValueError(f"{name}: expected {count} numbers, not shape {array.shape}")
    if array.size > 0 and array.min() < 0:
        raise ValueError(f"{name}: {array.min()} is negative")
    return array


def _fixed(fixed, count, name="fixed"):
    offsets = np.full(count, _c.NONE, np.uint64)
    if isinstance(fixed, dict):
        for buffer, offset in fixed.items():
            offsets[integer("fixed", buffer, 0, count - 1)] = integer("fixed", offset)
    elif fixed is not None:
        given = np.asarray(fixed)
        if given.shape != (count,):
            raise ValueError(f"{name}: expected {count} offsets, not shape {given.shape}")
        if given.dtype.kind not in "iu" and given.size > 0:
            raise TypeError(f"{name}: expected integers, not {given.dtype}")
        offsets[given >= 0] = given[given >= 0]
    return offsets


def _rows(sizes, begins, ends, alignment, fixed, guard):
    count = len(sizes)
    rows = np.zeros(count, _BUFFER)
    rows["struct_size"] = _BUFFER.itemsize
    for name, field, values in (("sizes", "size", sizes), ("begins", "begin", begins),
                                ("ends", "end", ends), ("alignment", "alignment", alignment),
                                ("guard", "guard", guard)):
        rows[field] = _column(name, values, count)
    rows["fixed_offset"] = _fixed(fixed, count)
    return _Rows(rows)


def _options(problem, capacity, nodes, time, reuse, start):
    options = _c.stow_place_options()
    lib.stow_place_options_defaults(ctypes.byref(options))
    options.reuse = reuse
    options.capacity = _c.NONE if capacity is None else integer("capacity", capacity)
    usual = USUAL_NODES if time is None else _c.NONE
    options.nodes = usual if nodes is None else limit_of(nodes)
    if start is not None:
        start = _fixed(np.asarray(start), problem.count, "start")
        options.start = start.ctypes.data
    return options, start


def _prove(problem, placement):
    """By code that shares nothing with the strategies."""
    offsets = np.ascontiguousarray(placement.offsets, np.uint64)
    found = diag()
    check(lib.stow_placement_check(problem.address, offsets.ctypes.data, len(offsets),
                                   placement.height, _c.heap, ctypes.byref(found), None), found)


def solve(sizes: Union[str, os.PathLike, npt.ArrayLike], begins: Optional[npt.ArrayLike] = None,
          ends: Optional[npt.ArrayLike] = None, *, alignment: npt.ArrayLike = 1,
          capacity: Optional[int] = None,
          fixed: Union[None, Mapping[int, int], npt.ArrayLike] = None,
          guard: npt.ArrayLike = 0, nodes: Optional[float] = None,
          time: Optional[float] = None, strategy: str = "auto", reuse: bool = True,
          start: Optional[npt.ArrayLike] = None,
          progress: Union[None, bool, Callable[[Progress], object]] = None) -> Placement:
    """Places buffers in one arena; returns a Placement.

    sizes, begins, ends  integers per buffer: bytes, and steps [begin, end) at which it is live;
                         or sizes alone: the path of a CSV file
    alignment  of offsets, in bytes: one for all, or one per buffer
    capacity   bytes to fit in; None: the lowest placement
    fixed      offsets that buffers must have: {buffer: offset}, or one per buffer, -1 for anywhere
    guard      bytes after each buffer that others may not use: one for all, or one per buffer
    nodes      budget of the search (float("inf") for no limit); the same gives the same offsets
    time       limit in seconds; without nodes, the only limit
    start      offsets of an earlier placement, -1 for none; kept where that costs nothing
    progress   a function of Progress, which may return False to stop; True prints a line

    Ctrl-C stops the search and returns the best placement so far; again raises KeyboardInterrupt.
    """
    title = "buffers"
    if isinstance(sizes, (str, os.PathLike)):
        if not (begins is None and ends is None and fixed is None and np.all(np.equal(alignment, 1))
                and np.all(np.equal(guard, 0))):
            raise TypeError("solve: a CSV file has lifetimes, alignments, guards and fixed offsets "
                            "itself")
        title = os.fspath(sizes)
        problem = _Table(Path(sizes).read_bytes(), title)
    elif begins is None or ends is None:
        raise TypeError("solve: begins and ends are missing")
    else:
        problem = _rows(np.asarray(sizes), begins, ends, alignment, fixed, guard)
    place = _c.place(_row(word("strategy", strategy, strategy_table())).place)
    options, start = _options(problem, capacity, nodes, time, reuse, start)
    found, out = diag(), ctypes.c_void_p()
    with Search(time, progress) as search:
        options.on_progress = ctypes.cast(search.callback, ctypes.c_void_p)
        status = place(problem.address, ctypes.byref(options), _c.heap, ctypes.byref(found),
                       ctypes.byref(out))
    check(status, found, title if problem.ids is not None else None)
    placement = Handle(out.value, lib.stow_placement_destroy)
    result = Placement._make(problem, placement, search, title, strategy)
    _prove(problem, result)
    return result

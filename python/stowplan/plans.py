"""Plans: a slot in one arena for every tensor of a model or graph."""

from __future__ import annotations

import csv
import ctypes
import io as _io
import itertools
import os
from pathlib import Path
from typing import (TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Sequence, TypedDict,
                    Union, overload)

import numpy as np
import numpy.typing as npt

from . import _c
from ._c import lib
from ._call import (Borrowed, Error, Handle, Made, call, check, diag, integer, make, mapping, word,
                    written)
from ._picture import Picture
from ._search import Progress, Search, limit_of
from ._sources import open_source
from .placement import strategy_table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .formulas import FormulaPlan

_POLICIES = {"keep": 1, "consume": 2, "external": 3}  # stow_io_policy
_WEIGHTS = {None: 0, "arena": 1, "file": 2}  # stowi_request_weights
_KERNELS = {None: 0, "none": 1, "stowage": 2, "fastest": 3}  # stowi_request_kernels
_PACKS = {None: 1, "never": 0, "auto": 1, "always": 2}  # stow_pack
_ORDERS = {"given": 0, "auto": 1}  # stow_order
SAVED, _REPORT, JSON, _CSV = range(4)  # stow_plan_format


def _presets():
    """Numbers by name."""
    names = (lib.stow_preset_name(i).decode() for i in itertools.count())
    return {name: i for i, name in enumerate(itertools.takewhile(lambda name: name != "?", names))}


class Job:
    """From a source to what a plan is made of: rewritten, prepared, with its effects.

    The same steps, in the same order and with the same defaults, as `stowage plan` takes; |threads|
    is for runs, and has the plan made for the library's kernels.
    """

    def __init__(self, source, options, threads=None, streams=False, rows=None):
        self.source = source
        self.choices = _choices(options)
        # What this job is with rows that stream, by default as many at a time as was asked; None:
        # nobody asked, or this is that.
        self.streamed = None if streams or not self.choices.rewrite.streams else (
            lambda rows=None: Job(source, options, threads, streams=True, rows=rows))
        self.choices.rewrite.streams = streams
        if rows is not None:
            self.choices.rewrite.stream_rows = rows
        self.prepared = self.prepare = self.rewritten = self.stamp = self.effects = None
        is_model, choices = source.is_model, ctypes.byref(self.choices)
        self.in_file = is_model or threads is not None
        self.graph = source.graph
        if lib.stowi_request_rewrites(choices, is_model):
            self._rewrite()
        if threads is not None or lib.stowi_request_has_kernels(choices, is_model):
            self.prepare = lib.stowi_request_prepare(choices, self.in_file)
            self.prepare.threads = threads or 1
            self.in_file = True
        self.policies = {name: word("io", policy, _POLICIES) for name, policy in (
            options["io"].items() if isinstance(options["io"], dict) else ())}
        self.aliases = [Alias(*names) for names in mapping("alias", options["alias"])]
        if not source.has_ranges:
            self.prepared, self.effects = self.effects_of(self.graph)

    def _rewrite(self):
        options = lib.stowi_request_rewrite_options(ctypes.byref(self.choices),
                                                    self.source.is_model)
        self.rewritten = Handle(
            make(lib.stow_rewrite, self.source.graph, ctypes.byref(options), _c.heap,
                 where=self.source.label), lib.stow_rewritten_destroy, self.source.graph)
        address = lib.stow_rewritten_graph(self.rewritten)
        if address != self.source.graph.address:
            self.graph = Handle(address, lambda _: None, self.rewritten)
            self.stamp = ctypes.create_string_buffer(256)
            lib.stow_rewritten_stamp(self.rewritten, self.stamp)

    def effects_of(self, graph, begin=None):
        """What is prepared, or None, and the effects of a graph. |begin| makes them at a point."""
        where, prepared = self.source.label, None
        if begin is not None or self.prepare is None:
            effects = Handle(make(begin or lib.stow_effects_create, graph, _c.heap, where=where),
                             lib.stow_effects_destroy, graph)
        else:
            prepared = Handle(
                make(lib.stow_prepare, graph, ctypes.byref(self.prepare), _c.heap, where=where),
                lib.stow_prepared_destroy, graph)
            effects = Handle(lib.stow_prepared_effects(prepared), lambda _: None, prepared)
        self.set_policies(effects, graph)
        for alias in self.aliases:
            alias.set(effects, graph)
        return prepared, effects

    def set_policies(self, effects, graph):
        for name, policy in self.policies.items():
            call(lib.stowi_request_set_policy, effects, graph, Borrowed(name), policy, where="io")


class Alias:
    """Outputs in the bytes of inputs."""

    def __init__(self, output, given):
        self.output = output
        self._names = Borrowed(output), Borrowed(given)
        self.pair = _c.stowi_request_alias(*(name._as_parameter_ for name in self._names))
        call(lib.stowi_request_check_pattern, ctypes.byref(self.pair), where="alias")

    def set(self, effects, graph):
        count, found = ctypes.c_size_t(), diag()
        check(lib.stowi_request_set_alias(effects, graph, ctypes.byref(self.pair),
                                          ctypes.byref(found), ctypes.byref(count)),
              found, "alias")
        if count.value == 0:
            raise Error(f"alias: unknown output {self.output!r}", 6)


def _choices(options):
    choices = _c.stowi_request_choices()
    choices.preset = word("preset", options["preset"], _presets())
    choices.weights = word("weights", options["weights"], _WEIGHTS)
    choices.kernels = word("kernels", options["kernels"], _KERNELS)
    choices.has_pack = options["pack"] is not None
    choices.pack = word("pack", options["pack"], _PACKS)
    if options["rewrite"] is not None:
        if not isinstance(options["rewrite"], str):
            raise TypeError(f"rewrite: expected a string, not {options['rewrite']!r}")
        found = diag()
        check(lib.stowi_request_read_rewrite(options["rewrite"].encode(), ctypes.byref(found),
                                             ctypes.byref(choices.rewrite)), found, "rewrite")
    if options["stream"] is not None:
        stream = options["stream"]
        if isinstance(stream, bool) or not isinstance(stream, (int, str)):
            raise TypeError(f"stream: expected a string or a number, not {stream!r}")
        found = diag()
        check(lib.stowi_request_read_stream(str(stream).encode(), ctypes.byref(found),
                                            ctypes.byref(choices.rewrite)), found, "stream")
    if options["fold_limit"] is not None:
        choices.rewrite.has_limit = True
        choices.rewrite.limit = options["fold_limit"]
    return choices


def plan_options(job, given):
    options = _c.stow_plan_options()
    lib.stow_plan_options_defaults(ctypes.byref(options), job.choices.preset)
    leaves = lib.stowi_request_leaves_weights(ctypes.byref(job.choices), job.in_file)
    for name in ("alignment", "capacity", "order_nodes"):
        if given[name] is not None:
            setattr(options, name, integer(name, given[name]))
    for name in ("reuse", "in_place", "elide_copies", "inputs"):
        setattr(options, name, getattr(options, name) and given[name])
    options.params = options.params and given["params"] and not leaves
    options.constants = options.constants and given["constants"] and not leaves
    options.f32_uniform = options.f32_uniform or given["f32_uniform"]
    options.pack_params = options.pack_params or given["pack_params"]
    options.order_margin = integer("order_margin", given["order_margin"])
    if given["guard"] is not None:
        options.tail_guard = integer("guard", given["guard"])
    if isinstance(given["io"], str):
        options.io = word("io", given["io"], _POLICIES)
    auto = lib.stowi_request_orders(ctypes.byref(job.choices), job.source.is_model)
    options.order = auto if given["order"] is None else word("order", given["order"], _ORDERS)
    options.rewrite = None if job.stamp is None else job.stamp.value
    options.least_row = lib.stowi_request_least_row(
        ctypes.byref(job.choices), job.prepare is not None, not given["pitch"])
    _set_search(options, given)
    return options


def _set_search(options, given):
    if given["strategy"] is not None:
        options.strategy = word("strategy", given["strategy"], strategy_table())
    if given["nodes"] is not None:
        options.nodes = limit_of(given["nodes"])
    elif given["time"] is not None:
        options.nodes = _c.NONE
    if given["nodes"] is not None or given["time"] is not None:
        options.patience = _c.NONE
    for rule in given["rules"]:
        found = lib.stow_rule_find(Borrowed(rule))
        if found is None:
            raise ValueError(f"rules: unknown {rule!r}; docs/lifetime-rules.md lists them")
        lib.stow_plan_options_add_rule(ctypes.byref(options), found)


class Plan(Made, Picture):
    """Where each tensor lies in the arena, proven against the graph.

    arena    bytes that the plan needs
    bound    proven: no plan with these lifetimes is smaller
    peak     the highest load, in bytes; peak_step is its first step
    buffers  a structured array: id, name, kind, offset, size, begin, end, alignment, guard
    outcome  "optimal", "feasible", "infeasible" (nothing fits in the capacity) or "gave up"
    stopped  what ended the search early: "time", "interrupt", "progress"; else None
    """

    arena: int
    alignment: int
    bound: int
    peak: int
    peak_step: int
    outcome: str
    nodes: int
    stopped: Optional[str]

    _maker = "stowplan.plan"

    def _set(self, job, handle, stopped_by):
        self._job = job
        self._handle = handle
        search = _c.stow_search()
        lib.stow_plan_describe_search(handle, ctypes.byref(search))
        info = _c.stow_plan_info()
        lib.stow_plan_describe(handle, ctypes.byref(info))
        self.arena = info.arena_size
        self.alignment = info.alignment
        self.bound = search.bound
        self.peak_step = info.peak_step
        self.peak = self._peak(info)
        self.outcome = lib.stow_outcome_text(search.outcome).decode()
        self.nodes = search.nodes
        self.stopped = stopped_by if search.stopped else None
        self._buffers = None

    def _peak(self, info):
        values = (lib.stow_plan_peak_value(self._handle, i) for i in range(info.peak_count))
        return info.peak_scratch + sum(
            lib.stow_plan_occupied_slot(self._handle, value, info.peak_step).size
            for value in values)

    @property
    def fits(self) -> bool:
        """Whether it is within the capacity, if there is one."""
        return self.outcome in ("optimal", "feasible")

    @property
    def buffers(self) -> npt.NDArray[np.void]:
        if self._buffers is None:
            rows = list(csv.DictReader(_io.StringIO(self.to_csv())))
            fields = [("id", "U"), ("name", "U"), ("kind", "U"), ("offset", "i8"), ("size", "i8"),
                      ("begin", "i8"), ("end", "i8"), ("alignment", "i8"), ("guard", "i8")]
            columns = {"begin": "lower", "end": "upper"}
            kinds = [(field, kind if kind != "U" else
                      f"U{max((len(row[field]) for row in rows), default=1) or 1}")
                     for field, kind in fields]
            self._buffers = np.array(
                [tuple(row[columns.get(field, field)] or (0 if kind == "i8" else "")
                       for field, kind in fields) for row in rows], kinds)
        return self._buffers

    def __repr__(self):
        return (f"<stowplan.Plan of {self._job.source.label}: arena {self.arena} B, "
                f"bound {self.bound} B, {self.outcome}>")

    def _write(self, format):
        return written(lib.stow_plan_write, self._handle, format, has_diag=False).decode()

    def to_json(self) -> str:
        """As `stowage plan --format json --hints never`."""
        return self._write(JSON)

    def to_csv(self) -> str:
        """A row per buffer, for `solve` and other placement programs."""
        return self._write(_CSV)

    def to_c(self, prefix: Optional[str] = None) -> str:
        """A C header with the offsets."""
        name = None if prefix is None else prefix.encode()
        return written(lib.stow_plan_write_c, self._handle, name).decode()

    def to_text(self) -> str:
        """The saved plan: what `save` writes, and `stowage check` and `run` read."""
        return self._write(SAVED)

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Writes the plan, as `stowage plan --format plan -o PATH` does."""
        Path(path).write_bytes(self.to_text().encode())

    def _make_picture(self):
        source = self._job.source
        picture = _c.stow_picture_plan()
        lib.stow_picture_plan_defaults(ctypes.byref(picture))
        picture.graph = self._job.graph.address
        picture.plan = self._handle.address
        picture.effects = self._job.effects.address
        picture.source = source.label.encode()
        picture.title = os.path.basename(source.label).encode() if source.is_model else None
        picture.is_model = source.is_model
        return make(lib.stow_picture_from_plan, ctypes.byref(picture), _c.heap)


def plan_smallest(job, given):
    """The job with the smaller arena, with rows that stream or without, and its plan. With a
    capacity, rows stream only if nothing fits otherwise."""
    plan = make_plan(job, given)
    if job.streamed is None or (given["capacity"] is not None and plan.fits):
        return job, plan
    other = job.streamed()
    rule = ctypes.c_int()
    lib.stow_rewrite_rule_find(Borrowed("stream"), ctypes.byref(rule))
    if lib.stow_rewritten_count(other.rewritten, rule) == 0:
        return job, plan
    best = min((job, plan), (other, make_plan(other, given)), key=lambda pair: pair[1].arena)
    is_enough = best[1] is not plan if given["capacity"] is None else best[1].fits
    if not is_enough and not other.choices.rewrite.stream_rows:
        other = job.streamed(1)
        best = min(best, (other, make_plan(other, given)), key=lambda pair: pair[1].arena)
    return best


def make_plan(job, given):
    """Plans a job and proves the plan."""
    options = plan_options(job, given)
    start = given["start"]
    if start is not None:
        if not isinstance(start, Plan):
            raise TypeError(f"start: expected a Plan, not {start!r}")
        start = Handle(make(lib.stow_start_from_plan, start._handle, _c.heap),
                       lib.stow_start_destroy)
        options.start = start.address
    found, out, where = diag(), ctypes.c_void_p(), job.source.label
    with Search(given["time"], given["progress"]) as search:
        options.on_progress = ctypes.cast(search.callback, ctypes.c_void_p)
        status = lib.stow_plan_make(job.graph, job.effects, ctypes.byref(options), _c.heap,
                                    ctypes.byref(found), ctypes.byref(out))
    check(status, found, where)
    handle = Handle(out.value, lib.stow_plan_destroy)
    for alias in job.aliases:
        call(lib.stowi_request_check_alias, handle, job.graph, ctypes.byref(alias.pair),
             where="alias")
    found = diag()
    check(lib.stow_plan_check(handle, job.graph, job.effects, _c.heap, ctypes.byref(found), None),
          found, where)
    return Plan._make(job, handle, search.stopped_by)


class Options(TypedDict, total=False):
    """Options of `plan` and `Session`."""

    preset: str
    alignment: Optional[int]
    guard: Optional[int]
    capacity: Optional[int]
    strategy: Optional[str]
    nodes: Optional[float]
    time: Optional[float]
    order: Optional[str]
    order_margin: int
    order_nodes: Optional[int]
    io: Union[None, str, Mapping[str, str]]
    alias: Optional[Mapping[str, str]]
    weights: Optional[str]
    kernels: Optional[str]
    pack: Optional[str]
    rewrite: Optional[str]
    fold_limit: Optional[float]
    stream: Optional[str]
    reuse: bool
    in_place: bool
    elide_copies: bool
    pitch: bool
    params: bool
    inputs: bool
    constants: bool
    f32_uniform: bool
    pack_params: bool
    rules: Sequence[str]
    start: Optional[Plan]
    progress: Union[None, bool, Callable[[Progress], object]]


DEFAULTS: Dict[str, Any] = dict(
    preset="default", alignment=None, guard=None, capacity=None, strategy=None, nodes=None,
    time=None, order=None, order_margin=0, order_nodes=None, io=None, alias=None, weights=None,
    kernels=None, pack=None, rewrite=None, fold_limit=None, stream=None, reuse=True,
    in_place=True, elide_copies=True, pitch=True, params=True, inputs=True, constants=True,
    f32_uniform=False,
    pack_params=False, rules=(), start=None, progress=None)


def all_options(given):
    unknown = [name for name in given if name not in DEFAULTS]
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}; expected one of {', '.join(DEFAULTS)}")
    return {**DEFAULTS, **given}


@overload
def plan(model: Any, *, bind: Optional[Mapping[str, int]] = None, bind_rest: Optional[int] = None,
         values: Optional[Mapping[str, npt.ArrayLike]] = None,
         shapes: Optional[Mapping[str, Sequence[int]]] = None, graph: Optional[str] = None,
         **options: Unpack[Options]) -> Plan: ...
@overload
def plan(model: Any, *, bind: Mapping[str, Union[int, range, str]],
         bind_rest: Optional[int] = None, values: Optional[Mapping[str, npt.ArrayLike]] = None,
         shapes: Optional[Mapping[str, Sequence[int]]] = None, graph: Optional[str] = None,
         **options: Unpack[Options]) -> FormulaPlan: ...
def plan(model, *, bind=None, bind_rest=None, values=None, shapes=None, graph=None, **options):
    """Plans a model or graph, as `stowage plan` does; returns a Plan.

    model      the path of an ONNX model or a `.stow` text, the bytes of a model, an
               onnx.ModelProto, or a Graph
    bind       {symbol: number} for dims of inputs; bind_rest is for all others. With a range,
               such as {"seq": range(1, 513)} or {"seq": "32..1280/32"}, a FormulaPlan is
               returned, one plan for all of them
    values     {input: array} that shapes depend on
    shapes     {tensor: dims}, the largest ones of tensors whose shapes depend on data
    graph      the name of one graph of several in a text
    capacity   bytes to fit in
    alignment  of every slot, in bytes
    nodes, time, strategy, progress   as in `solve`
    order      "auto" searches for another one, "given" does not
    kernels    whose scratch is planned: "stowage", "fastest", "none"
    rewrite    "none", "exact", "near", or a list such as "exact,-fold"
    stream     "auto" computes images row by row where that makes the arena smaller, "off" does
               not; a number: in about as many bytes as for so many rows at a time
    weights    "file" or "arena"
    io         "keep", "consume" or "external"; or {value: policy}
    alias      {output: input} whose bytes it takes; one * in each stands for the same text
    start      an earlier Plan, whose offsets are kept where that costs nothing
    and those of the command under the same names: preset, guard, order_margin, order_nodes, pack,
    fold_limit, reuse, in_place, elide_copies, pitch, params, inputs, constants, f32_uniform,
    pack_params, rules

    Ctrl-C stops the search and returns the best plan so far; again raises KeyboardInterrupt.
    """
    given = all_options(options)
    source = open_source(model, bind=bind, bind_rest=bind_rest, values=values, shapes=shapes,
                         graph=graph)
    job = Job(source, given)
    if not source.has_ranges:
        return plan_smallest(job, given)[1]
    from .formulas import make_formula  # which needs Plan
    return make_formula(job, given)

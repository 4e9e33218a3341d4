"""Runs of models inside their plans."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, Any, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _c
from ._c import lib
from ._call import Borrowed, Error, Handle, call, check, diag, integer, make
from ._sources import open_source
from ._types import dtype_name, is_packed, numpy_dtype, shape_of, type_at
from .formulas import FormulaPlan, make_formula
from .plans import Job, Options, Plan, all_options, plan_smallest

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Port(NamedTuple):
    """An input or output."""

    shape: Tuple[Union[int, str], ...]  # texts such as "?seq" where a range is bound
    dtype: str  # as in texts: "f32"


class _Port:
    """What a run needs to know of one."""

    def __init__(self, graph, value, has_slot):
        self.value = value
        self.has_slot = has_slot
        # Of an output that is an input or weight, the bytes are there already.
        self.is_bound = not has_slot and not lib.stow_graph_is_boundary(graph, value)
        self.type = type_at(graph, value)
        self.code = self.type.dtype
        self.dtype = numpy_dtype(self.code)
        self.public = Port(shape_of(graph, self.type), dtype_name(self.code))

    def measure(self, shapes):
        """Sizes at the point that |shapes| has."""
        found = _c.stow_type(self.code, self.type.rank)
        self.shape = tuple(map(shapes.number, self.type.dims[:self.type.rank]))
        found.dims[:self.type.rank] = self.shape
        size = ctypes.c_uint64()
        lib.stow_type_bytes(ctypes.byref(found), ctypes.byref(size))
        self.size = size.value
        self.array_shape = (self.size,) if is_packed(self.code) else self.shape

    def take(self, name, given):
        """|given| as an array whose bytes the executor can use."""
        if not isinstance(given, np.ndarray):
            given = np.asarray(given, self.dtype)
        if given.dtype != self.dtype:
            raise TypeError(f"{name}: expected {self.dtype} ({self.public.dtype}), "
                            f"not {given.dtype}")
        if given.shape != self.array_shape:
            raise ValueError(f"{name}: expected shape {self.array_shape}, not {given.shape}")
        return np.require(given, requirements="CA")  # a copy only if it must be one

    def check_out(self, name, array):
        if array.dtype != self.dtype or array.shape != self.array_shape:
            raise ValueError(f"out: {name}: expected {self.dtype} of shape {self.array_shape}, "
                             f"not {array.dtype} of {array.shape}")
        if not (array.flags.c_contiguous and array.flags.aligned and array.flags.writeable):
            raise ValueError(f"out: {name}: the array must be contiguous, aligned and writeable")


class _Shapes:
    """The symbols of a graph, and the numbers that they have."""

    def __init__(self, graph, symbols):
        self._dims = lib.stow_graph_dims(graph)
        self._indices = {name: lib.stow_dims_find_symbol(self._dims, Borrowed(name))
                         for name in symbols}
        self._numbers = (ctypes.c_int64 * max(lib.stow_dims_symbol_count(self._dims), 1))()

    def number(self, dim):
        """A dim at the point; None if it is too large."""
        found = ctypes.c_int64()
        status = lib.stow_dim_evaluate(self._dims, dim, self._numbers, ctypes.byref(found))
        return found.value if status == 0 else None

    def _solve(self, index, dim, wanted):
        """Dims are linear in most symbols; where one is not, the array's shape is checked later."""
        self._numbers[index] = 0
        at_none = self.number(dim)
        self._numbers[index] = 1
        at_one = self.number(dim)
        if at_none is None or at_one is None or at_none == at_one:
            return False
        self._numbers[index] = max((wanted - at_none) // (at_one - at_none), 0)
        return True

    def find(self, given):
        """The point of |given|, (port, shape of an array) pairs: symbols that a dim leaves open,
        one after the other."""
        known = set()
        pairs = [(dim, number) for port, shape in given if len(shape) == port.type.rank
                 for dim, number in zip(port.type.dims, shape)]
        for _ in self._indices:
            for dim, number in pairs:
                missing = [name for name, index in self._indices.items()
                           if name not in known and lib.stow_dim_uses(self._dims, dim, index)]
                if len(missing) == 1 and self._solve(self._indices[missing[0]], dim, number):
                    known.add(missing[0])
        for name in self._indices:
            if name not in known:
                raise Error(f"no input has a dim that tells {name!r}", 6)
        return {name: self._numbers[index] for name, index in self._indices.items()}

    def set(self, point):
        for name, number in point.items():
            self._numbers[self._indices[name]] = number


def _tensor_of(port, array):
    tensor = _c.stow_tensor(array.ctypes.data, port.code, len(port.shape))
    tensor.dims[:len(port.shape)] = port.shape
    return tensor


class Session:
    """A model that is ready to run: planned, with its weights loaded.

        session = Session("model.onnx", bind={"batch": 1}, threads=2)
        outputs = session.run({"x": x})

    Inputs and outputs are NumPy arrays that the kernels read and write where they lie: the plan has
    no slots for them (io="external"), and nothing is copied. Arrays that a run returns are the
    caller's, and no later run changes them. Options are those of `plan`; with io="keep" the arena
    has slots for inputs and outputs too, as in `stowage plan`, and they are copied in and out.

    With a range, bind={"seq": range(1, 513)}, one session runs all its shapes in one arena: the
    shapes of the arrays tell which. |capacity| then bounds the arena; larger shapes are refused
    when they are run.
    """

    plan: Union[Plan, FormulaPlan]

    def __init__(self, model: Any, *, bind: Optional[Mapping[str, Union[int, range, str]]] = None,
                 bind_rest: Optional[int] = None,
                 values: Optional[Mapping[str, npt.ArrayLike]] = None,
                 shapes: Optional[Mapping[str, Sequence[int]]] = None,
                 graph: Optional[str] = None, threads: int = 1, **options: Unpack[Options]):
        given = all_options({"io": "external", **options})
        if given["kernels"] == "none":
            raise ValueError("kernels: a session needs kernels")
        source = open_source(model, bind=bind, bind_rest=bind_rest, values=values, shapes=shapes,
                             graph=graph)
        source.require_weights()
        self._lock = threading.Lock()
        self._job = Job(source, given, threads=integer("threads", threads, 1, 256))
        if source.has_ranges:
            if self._job.aliases:
                raise ValueError("alias: for a session of one shape, not of a range")
            self.plan = make_formula(self._job, {**given, "capacity": None})
            self._exec = self._create(lib.stow_exec_create_range, self.plan._effects.prepared,
                                      given["capacity"])
            first = self.plan.at(self.plan.largest_at)
        else:
            first = self.plan = self._plan(given)
            self._exec = self._create(lib.stow_exec_create, self._job.prepared)
        self._inputs, self._outputs = self._ports(first)
        self._shapes = _Shapes(self._job.graph, getattr(self.plan, "symbols", ()))
        self._measure()

    # -----------------------------------------------------------------------------------------
    # Making

    def _plan(self, given):
        self._job, plan = plan_smallest(self._job, given)
        if not plan.fits:
            gave_up = plan.outcome == "gave up"
            raise Error(f"{self._job.source.label}: the arena needs {plan.arena} B, above the "
                        f"capacity of {given['capacity']} B ({plan.outcome})", 14 if gave_up else 12)
        return plan

    def _fold(self):
        """Weights that follow from others are computed once."""
        job = self._job
        graph = None if job.rewritten is None else lib.stow_rewritten_fold_graph(job.rewritten)
        if graph is None:
            return None
        return Handle(make(lib.stow_folded_create, job.graph, graph, ctypes.byref(job.prepare),
                           _c.heap, where=job.source.label), lib.stow_folded_destroy)

    def _create(self, create, prepared, capacity=None):
        job, folded = self._job, self._fold()
        options = _c.stow_exec_options()
        lib.stow_exec_options_defaults(ctypes.byref(options))
        options.capacity = 0 if capacity is None else integer("capacity", capacity, 1)
        if folded is not None:
            options.weight = ctypes.cast(lib.stow_folded_weight, ctypes.c_void_p)
            options.user = folded.address

        def give_back(_, value, data, size):  # a copied weight is not held twice
            if folded is not None:
                lib.stow_folded_give_back(folded, prepared, value)
            if job.source.model is not None:
                lib.stow_model_give_back(job.source.model, data, size)

        callback = _c.on_copied(give_back)
        options.on_copied = ctypes.cast(callback, ctypes.c_void_p)
        address = make(create, prepared, self.plan._handle, ctypes.byref(options), _c.heap,
                       where=job.source.label)
        return Handle(address, lib.stow_exec_destroy, prepared, self.plan._handle, folded, callback)

    def _ports(self, plan):
        graph, inputs, outputs = self._job.graph, {}, {}
        op = lib.stow_ops_find(None, Borrowed("input"))
        for value in range(lib.stow_graph_value_count(graph)):
            if lib.stow_graph_op(graph, lib.stow_graph_producer(graph, value)) == op:
                inputs[lib.stow_graph_value_name(graph, value).text()] = self._port(value, plan)
        numbers = ctypes.cast(lib.stow_graph_outputs(graph), ctypes.POINTER(ctypes.c_uint32))
        for i in range(lib.stow_graph_output_count(graph)):
            name = lib.stow_graph_value_name(graph, numbers[i]).text()
            name = f"output_{i}" if not name or name in outputs else name
            outputs[name] = self._port(numbers[i], plan)
        return inputs, outputs

    def _port(self, value, plan):
        slot = _c.stow_slot()
        has_slot = lib.stow_plan_value_slot(plan._handle, value, ctypes.byref(slot))
        return _Port(self._job.graph, value, has_slot)

    def _measure(self):
        for port in (*self._inputs.values(), *self._outputs.values()):
            port.measure(self._shapes)

    # -----------------------------------------------------------------------------------------
    # Running

    @property
    def inputs(self) -> Dict[str, Port]:
        """Shapes and dtypes of the inputs, by name."""
        return {name: port.public for name, port in self._inputs.items()}

    @property
    def outputs(self) -> Dict[str, Port]:
        """Shapes and dtypes of the outputs, by name; dims that depend on data are the largest,
        and those of a range are texts."""
        return {name: port.public for name, port in self._outputs.items()}

    def run(self, inputs: Mapping[str, Any], *,
            out: Optional[Mapping[str, np.ndarray]] = None) -> Dict[str, np.ndarray]:
        """Runs the model once; returns its outputs by name.

        inputs  arrays of the dtypes and shapes of `inputs`, which are only read. One that is not
                contiguous or not aligned is copied; lists and numbers are converted.
        out     {output: array} to write into; others are new. They must not overlap inputs.

        Runs without the interpreter's lock; runs of one session wait for each other.
        """
        unknown = [name for name in inputs if name not in self._inputs]
        missing = [name for name in self._inputs if name not in inputs]
        if unknown or missing:
            word, names = ("unknown", unknown) if unknown else ("missing", missing)
            raise Error(f"{word} input {names[0]!r}; the inputs are "
                        f"{', '.join(self._inputs) or 'none'}", 6)
        for name in out or {}:
            if name not in self._outputs:
                raise Error(f"out: unknown output {name!r}; the outputs are "
                            f"{', '.join(self._outputs)}", 6)
        with self._lock:
            if isinstance(self.plan, FormulaPlan):
                self._move(inputs)
            kept = [self._set(name, port, inputs[name]) for name, port in self._inputs.items()]
            bound = self._bind_outputs(out or {}, kept)
            call(lib.stow_exec_run, self._exec)
            return {name: self._result(port, bound, (out or {}).get(name))
                    for name, port in self._outputs.items()}

    def _move(self, inputs):
        """To the shape that the arrays have."""
        shapes = ((port, np.shape(inputs[name])) for name, port in self._inputs.items())
        point = self._shapes.find(shapes)
        values = (ctypes.c_int64 * len(point))(*point.values())
        call(lib.stow_exec_set_point, self._exec, values, where=self._job.source.label)
        self._measure()

    def _set(self, name, port, given):
        array = port.take(name, given)
        if port.has_slot:
            tensor = _tensor_of(port, array)
            call(lib.stow_exec_input, self._exec, port.value, ctypes.byref(tensor), where=name)
        else:
            call(lib.stow_exec_bind, self._exec, port.value, array.ctypes.data, array.nbytes,
                 where=name)
        return array

    def _bind_outputs(self, out, inputs):
        """Arrays by value: a value may be several outputs."""
        bound = {}
        for name, port in self._outputs.items():
            given = out.get(name)
            if given is not None:
                port.check_out(name, given)
                if any(np.may_share_memory(given, array) for array in inputs):
                    raise ValueError(f"out: {name}: the array overlaps an input")
            if port.is_bound and port.value not in bound:
                array = np.empty(port.array_shape, port.dtype) if given is None else given
                bound[port.value] = array
                call(lib.stow_exec_bind, self._exec, port.value, array.ctypes.data, array.nbytes,
                     where=name)
        return bound

    def _result(self, port, bound, given):
        tensor, found = _c.stow_tensor(), diag()
        check(lib.stow_exec_value(self._exec, port.value, ctypes.byref(found),
                                  ctypes.byref(tensor)), found)
        shape = tuple(tensor.dims[:tensor.rank])
        array = bound.get(port.value)
        if array is None or (given is not None and array is not given):
            source = (ctypes.c_char * port.size).from_address(tensor.data) if port.size else b""
            array = np.empty(port.array_shape, port.dtype) if given is None else given
            array.reshape(-1)[:] = np.frombuffer(source, port.dtype)
        if is_packed(port.code) or shape == port.shape:
            return array
        return array.reshape(-1)[:int(np.prod(shape, dtype=np.int64))].reshape(shape)

"""Runs of models inside their plans."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, Any, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from . import _c
from ._c import lib
from ._call import Borrowed, Error, Handle, call, check, diag, integer, make
from ._sources import ModelError, open_source
from ._types import dtype_name, is_packed, numpy_dtype, type_at
from .plans import Job, Options, Plan, all_options, make_plan

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Port(NamedTuple):
    """An input or output."""

    shape: Tuple[int, ...]
    dtype: str  # as in texts: "f32"


class _Port:
    """What a run needs to know of one."""

    def __init__(self, graph, value, has_slot):
        found = type_at(graph, value)
        self.value = value
        self.has_slot = has_slot
        self.code = found.dtype
        self.shape = tuple(found.dims[:found.rank])
        self.dtype = numpy_dtype(found.dtype)
        size = ctypes.c_uint64()
        lib.stow_type_bytes(ctypes.byref(found), ctypes.byref(size))
        self.size = size.value
        self.array_shape = (self.size,) if is_packed(self.code) else self.shape
        self.public = Port(self.shape, dtype_name(self.code))

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
    """

    plan: Plan

    def __init__(self, model: Any, *, bind: Optional[Mapping[str, int]] = None,
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
        if source.has_ranges:
            raise ModelError(f"{source.label}: a session is for one shape; bind= has a range", 1)
        self._job = Job(source, given, threads=integer("threads", threads, 1, 256))
        self.plan = make_plan(self._job, given)
        if not self.plan.fits:
            gave_up = self.plan.outcome == "gave up"
            raise Error(f"{source.label}: the arena needs {self.plan.arena} B, above the capacity "
                        f"of {given['capacity']} B ({self.plan.outcome})", 14 if gave_up else 12)
        self._exec = self._create()
        self._inputs, self._outputs = self._ports()

    # -----------------------------------------------------------------------------------------
    # Making

    def _fold(self):
        """Weights that follow from others are computed once."""
        job = self._job
        graph = None if job.rewritten is None else lib.stow_rewritten_fold_graph(job.rewritten)
        if graph is None:
            return None
        return Handle(make(lib.stow_folded_create, job.graph, graph, ctypes.byref(job.prepare),
                           _c.heap, where=job.source.label), lib.stow_folded_destroy)

    def _create(self):
        job, folded = self._job, self._fold()
        options = _c.stow_exec_options()
        lib.stow_exec_options_defaults(ctypes.byref(options))
        if folded is not None:
            options.weight = ctypes.cast(lib.stow_folded_weight, ctypes.c_void_p)
            options.user = folded.address

        def give_back(_, value, data, size):  # a copied weight is not held twice
            if folded is not None:
                lib.stow_folded_give_back(folded, job.prepared, value)
            if job.source.model is not None:
                lib.stow_model_give_back(job.source.model, data, size)

        callback = _c.on_copied(give_back)
        options.on_copied = ctypes.cast(callback, ctypes.c_void_p)
        address = make(lib.stow_exec_create, job.prepared, self.plan._handle,
                       ctypes.byref(options), _c.heap, where=job.source.label)
        return Handle(address, lib.stow_exec_destroy, job.prepared, self.plan._handle, folded,
                      callback)

    def _ports(self):
        graph, inputs, outputs = self._job.graph, {}, {}
        op = lib.stow_ops_find(None, Borrowed("input"))
        for value in range(lib.stow_graph_value_count(graph)):
            if lib.stow_graph_op(graph, lib.stow_graph_producer(graph, value)) == op:
                inputs[lib.stow_graph_value_name(graph, value).text()] = self._port(value)
        numbers = ctypes.cast(lib.stow_graph_outputs(graph), ctypes.POINTER(ctypes.c_uint32))
        for i in range(lib.stow_graph_output_count(graph)):
            name = lib.stow_graph_value_name(graph, numbers[i]).text()
            name = f"output_{i}" if not name or name in outputs else name
            outputs[name] = self._port(numbers[i])
        return inputs, outputs

    def _port(self, value):
        slot = _c.stow_slot()
        has_slot = lib.stow_plan_value_slot(self.plan._handle, value, ctypes.byref(slot))
        # Of an output that is an input or weight, the bytes are there already.
        is_bound = not has_slot and not lib.stow_graph_is_boundary(self._job.graph, value)
        port = _Port(self._job.graph, value, has_slot)
        port.is_bound = is_bound
        return port

    # -----------------------------------------------------------------------------------------
    # Running

    @property
    def inputs(self) -> Dict[str, Port]:
        """Shapes and dtypes of the inputs, by name."""
        return {name: port.public for name, port in self._inputs.items()}

    @property
    def outputs(self) -> Dict[str, Port]:
        """Shapes and dtypes of the outputs, by name; dims that depend on data are the largest."""
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
            kept = [self._set(name, port, inputs[name]) for name, port in self._inputs.items()]
            bound = self._bind_outputs(out or {}, kept)
            call(lib.stow_exec_run, self._exec)
            return {name: self._result(port, bound, (out or {}).get(name))
                    for name, port in self._outputs.items()}

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

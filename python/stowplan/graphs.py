"""Graphs, built call by call or read from text."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _c
from ._c import lib
from ._call import Borrowed, Error, Handle, Made, call, check, diag, integer, make, written
from ._types import dtype_name, make_type, numpy_dtype, read_binding, shape_of, type_at

_KINDS = {"int": 0, "float": 1, "bool": 2, "str": 3, "ints": 4, "floats": 5}  # stow_attr_kind


class Value(Made):
    """A tensor of a graph: what an op computes, or a boundary value."""

    _maker = "a call of a Graph"

    graph: Graph
    id: int

    def _set(self, graph, number):
        self.graph = graph
        self.id = number

    @property
    def name(self) -> str:
        return lib.stow_graph_value_name(self.graph._handle, self.id).text()

    @property
    def shape(self) -> Tuple[Union[int, str], ...]:
        return shape_of(self.graph._handle, type_at(self.graph._handle, self.id))

    @property
    def dtype(self) -> str:
        return dtype_name(type_at(self.graph._handle, self.id).dtype)

    def __repr__(self):
        shape = ", ".join(map(str, self.shape))
        return f"<stowplan.Value %{self.id} {self.name!r} {self.dtype}[{shape}]>"


def _fill_attr(attr, value, keeps):
    if isinstance(value, (bool, np.bool_)):
        attr.kind, attr.b = _KINDS["bool"], bool(value)
    elif isinstance(value, (int, np.integer)):
        attr.kind, attr.i = _KINDS["int"], int(value)
    elif isinstance(value, (float, np.floating)):
        attr.kind, attr.f = _KINDS["float"], float(value)
    elif isinstance(value, str):
        keeps.append(Borrowed(value))
        attr.kind, attr.s = _KINDS["str"], keeps[-1]._as_parameter_
    else:
        _fill_list(attr, np.asarray(value), keeps)


def _fill_list(attr, values, keeps):
    is_float = values.dtype.kind == "f"
    if values.ndim != 1 or (values.dtype.kind not in "iuf" and values.size > 0):
        raise TypeError("an attribute is a number, a string, or a list of numbers")
    keeps.append(np.ascontiguousarray(values, np.float64 if is_float else np.int64))
    attr.kind = _KINDS["floats" if is_float else "ints"]
    attr.count = len(values)
    setattr(attr, "floats" if is_float else "ints", keeps[-1].ctypes.data)


class Graph:
    """A program of tensor ops, in the order in which they run.

        g = Graph("mlp")
        x = g.input("x", ("batch", 384), "f32")
        w = g.param("w", (384, 384), "f32")
        g.output(g.op("gelu", g.op("matmul", x, w)))

    Ops, operands and attributes are those of docs/ops.md. Graphs with branches and loops are read
    from text (Graph.parse). Once it has been planned, a graph can no longer change.
    """

    def __init__(self, name: str = "graph"):
        self._handle = Handle(make(lib.stow_graph_create, Borrowed(name), None, _c.heap),
                              lib.stow_graph_destroy)
        self._is_frozen = False

    @classmethod
    def parse(cls, text: Union[str, bytes], name: Optional[str] = None, *,
              file_name: Optional[str] = None) -> Graph:
        """A graph of a text; |name| chooses one of several."""
        data = text.encode() if isinstance(text, str) else bytes(text)
        module = Handle(make(lib.stow_module_parse, data, len(data), None, None, _c.heap,
                             where=file_name), lib.stow_module_destroy)
        address = (lib.stow_module_find(module, Borrowed(name.lstrip("@"))) if name
                   else lib.stow_module_graph(module, 0))
        count = lib.stow_module_graph_count(module)
        if address is None or (count > 1 and not name):
            names = ", ".join(lib.stow_graph_name(lib.stow_module_graph(module, i)).text()
                              for i in range(count))
            raise ValueError(f"choose a graph with name=: {names}")
        graph = cls.__new__(cls)
        graph._handle = Handle(address, lambda _: None, module)
        graph._is_frozen = False
        return graph

    @classmethod
    def read(cls, path: Union[str, os.PathLike], name: Optional[str] = None) -> Graph:
        """A graph of a `.stow` file."""
        return cls.parse(Path(path).read_bytes(), name, file_name=os.fspath(path))

    @property
    def name(self) -> str:
        return lib.stow_graph_name(self._handle).text()

    @property
    def outputs(self) -> List[Value]:
        numbers = ctypes.cast(lib.stow_graph_outputs(self._handle), ctypes.POINTER(ctypes.c_uint32))
        count = lib.stow_graph_output_count(self._handle)
        return [Value._make(self, numbers[i]) for i in range(count)]

    def __str__(self) -> str:
        """The graph in canonical text form."""
        return written(lib.stow_graph_print, self._handle, has_diag=False).decode()

    def _begin(self, op):
        if self._is_frozen:
            raise Error(f"graph @{self.name} has been planned, and can no longer change")
        code = lib.stow_ops_find(None, Borrowed(op))
        if code == _c.NONE_32:
            raise ValueError(f"unknown op {op!r}; docs/ops.md lists them")
        return lib.stow_graph_begin(self._handle, code)

    def _number(self, value):
        if not isinstance(value, Value):
            raise TypeError(f"expected a Value of the graph, not {value!r}")
        if value.graph is not self:
            raise ValueError(f"{value!r} is of another graph")
        return value.id

    def _finish(self, node_call):
        node = ctypes.c_uint32()
        found = diag()
        check(lib.stow_call_finish(node_call, ctypes.byref(found), ctypes.byref(node)), found)
        first = lib.stow_graph_first_result(self._handle, node)
        return [Value._make(self, first + k)
                for k in range(lib.stow_graph_result_count(self._handle, node))]

    def _boundary(self, op, name, shape, dtype, data):
        if data is not None:
            data = np.ascontiguousarray(data)
            shape = data.shape if shape is None else shape
            dtype = data.dtype if dtype is None else dtype
        kind = make_type(shape, dtype, lib.stow_graph_edit_dims(self._handle))
        if data is not None and data.dtype != numpy_dtype(kind.dtype):
            raise TypeError(f"{name}: data is {data.dtype}, not {dtype_name(kind.dtype)}")
        node_call = self._begin(op)
        lib.stow_call_result_type(node_call, ctypes.byref(kind))
        lib.stow_call_name(node_call, 0, Borrowed(name))
        if data is not None:
            lib.stow_call_data(node_call, data.ctypes.data, data.nbytes, True)
        return self._finish(node_call)[0]

    def input(self, name: str, shape: Sequence[Union[int, str]],
              dtype: npt.DTypeLike = "f32") -> Value:
        """An input; names in its shape are symbols, which `bind` gives values."""
        return self._boundary("input", name, shape, dtype, None)

    def param(self, name: str, shape: Optional[Sequence[Union[int, str]]] = None,
              dtype: Optional[npt.DTypeLike] = None,
              data: Optional[npt.ArrayLike] = None) -> Value:
        """A weight; its data, if given, is copied. Without either, its dtype is f32."""
        dtype = "f32" if data is None and dtype is None else dtype
        return self._boundary("param", name, shape, dtype, data)

    def constant(self, name: str, data: npt.ArrayLike,
                 dtype: Optional[npt.DTypeLike] = None) -> Value:
        """A constant; its data is copied."""
        return self._boundary("constant", name, None, dtype, data)

    def op(self, op: str, *operands: Optional[Value], name: str = "",
           results: Optional[int] = None, **attributes: Any) -> Any:
        """Adds a node. Returns its result, or a list if it has several.

        operands  values of this graph; None for an optional one that is absent
        name      of the first result
        results   their number, for ops that leave it open
        """
        node_call = self._begin(op)
        keeps = []
        try:
            for operand in operands:
                number = _c.NONE_32 if operand is None else self._number(operand)
                lib.stow_call_operand(node_call, number)
            for key, value in attributes.items():
                keeps.append(Borrowed(key))
                attr = _c.stow_attr(keeps[-1]._as_parameter_)
                _fill_attr(attr, value, keeps)
                lib.stow_call_attr(node_call, ctypes.byref(attr))
        except BaseException:
            lib.stow_graph_cancel(self._handle)
            raise
        if results is not None:
            lib.stow_call_result_count(node_call, results)
        if name:
            lib.stow_call_name(node_call, 0, Borrowed(name))
        values = self._finish(node_call)
        return values[0] if len(values) == 1 else values

    def output(self, *values: Value) -> None:
        """Appends outputs."""
        for value in values:
            call(lib.stow_graph_add_output, self._handle, self._number(value))

    def bind(self, **symbols: Union[int, range, str]) -> Graph:
        """Gives symbols their values: `g.bind(batch=1)`; or ranges, such as `range(1, 513)` or
        "1..512". Returns the graph."""
        if self._is_frozen:
            raise Error(f"graph @{self.name} has been planned, and can no longer change")
        given = {name: read_binding(name, value) for name, value in symbols.items()}
        for name, value in given.items():
            if isinstance(value, _c.stow_dim_range):
                self._set_range(name, value)
        bound = {name: value for name, value in given.items() if isinstance(value, int)}
        names = [Borrowed(name) for name in bound]
        table = (_c.stow_str * len(names))(*(name._as_parameter_ for name in names))
        numbers = (ctypes.c_int64 * len(names))(*bound.values())
        if given:
            call(lib.stow_graph_bind, self._handle, table, numbers, len(names))
        return self

    def _set_range(self, name, value):
        dims = lib.stow_graph_edit_dims(self._handle)
        symbol = lib.stow_dims_find_symbol(dims, Borrowed(name))
        if symbol == _c.NONE:
            raise Error(f"graph @{self.name} has no symbol {name!r}", 6)
        check(lib.stow_dims_set_range(dims, symbol, ctypes.byref(value)), diag(), name)

"""What is planned: a graph, and where it came from."""

from __future__ import annotations

import ctypes
import os
from typing import Dict, Sequence

import numpy as np

from . import _c
from ._c import lib
from ._call import Borrowed, Error, Handle, call, integer, make, mapping
from ._types import make_type, read_binding
from .graphs import Graph

# stow_import_issue_kind
_KINDS = ("unsupported", "custom", "needs shape", "bounded", "declared other", "skipped", "branch",
          "no data", "needs value", "condition")
_OBSTACLES = ("unsupported", "needs shape", "needs value")


class ModelError(Error):
    """A model cannot be planned or run as it is.

    symbols  unbound symbols of its inputs: give them values with bind=
    issues   a dict each: kind, domain, op, node, tensor, reason
    """

    def __init__(self, message: str, code: int = 0, symbols: Sequence[str] = (),
                 issues: Sequence[Dict[str, str]] = ()):
        super().__init__(message, code)
        self.symbols = list(symbols)
        self.issues = list(issues)


class Source:
    """A graph that is ready to be planned."""

    def __init__(self, graph, label, is_model=False, model=None, issues=()):
        self.graph = graph  # a Handle
        self.label = label
        self.is_model = is_model
        self.model = model
        self.issues = issues
        self.has_ranges = _has_ranges(graph)

    def require_weights(self):
        """Raises an Error if a weight has no data: a plan needs none, a run does."""
        missing = [_name(self.graph, value) for value in _weights(self.graph)
                   if not lib.stow_graph_data(self.graph, value, None)]
        reasons = [issue["reason"] for issue in self.issues if issue["kind"] == "no data"]
        if not missing:
            return
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        listed = ", ".join(map(repr, missing[:3])) + more
        because = "; ".join(reasons) or "a run needs params with data="
        raise ModelError(f"{self.label}: weights without data: {listed}: {because}", 6, (),
                         self.issues)


def _has_ranges(graph):
    """Whether symbols have ranges instead of values."""
    dims, found = lib.stow_graph_dims(graph), _c.stow_dim_range()
    return lib.stow_graph_require_bound(graph, None) != 0 and any(
        lib.stow_dims_range(dims, i, ctypes.byref(found))
        for i in range(lib.stow_dims_symbol_count(dims)))


def _name(graph, value):
    return lib.stow_graph_value_name(graph, value).text() or f"%{value}"


def _weights(graph):
    """Params and constants that have bytes."""
    ops = [lib.stow_ops_find(None, Borrowed(op)) for op in ("param", "constant")]
    size = ctypes.c_uint64()
    for value in range(lib.stow_graph_value_count(graph)):
        if lib.stow_graph_op(graph, lib.stow_graph_producer(graph, value)) in ops:
            lib.stow_type_bytes(lib.stow_graph_type(graph, value), ctypes.byref(size))
            if size.value > 0:
                yield value


def _ask_value(request, name, value):
    """An array as it is; integers are converted to the input's dtype, one fills all elements."""
    if isinstance(value, np.ndarray):
        array = np.require(value, requirements="C")
        kind = make_type(array.shape, array.dtype)
        call(lib.stow_import_request_value_bytes, request, name, ctypes.byref(kind),
             array.ctypes.data, array.nbytes)
    else:
        numbers = np.atleast_1d(value).astype(np.int64, casting="same_kind")
        call(lib.stow_import_request_value, request, name, numbers.ctypes.data, len(numbers))


def _dim(name, value):
    return integer(name, value, 0, 2**63 - 1)


def _ask(request, bind, bind_rest, values, shapes):
    for name, value in mapping("bind", bind):
        given = read_binding(f"bind: {name}", value)
        if isinstance(given, int):
            call(lib.stow_import_request_bind, request, Borrowed(name), given)
        else:
            call(lib.stow_import_request_bind_range, request, Borrowed(name),
                 ctypes.byref(given))
    if bind_rest is not None:
        call(lib.stow_import_request_bind_rest, request, _dim("bind_rest", bind_rest))
    for name, value in mapping("values", values):
        _ask_value(request, Borrowed(name), value)
    for name, dims in mapping("shapes", shapes):
        table = (ctypes.c_int64 * len(dims))(*(_dim(f"shapes: {name}", dim) for dim in dims))
        call(lib.stow_import_request_shape, request, Borrowed(name), table, len(dims))


def _issues(imported):
    rows = (ctypes.cast(lib.stow_import_issue_at(imported, i),
                        ctypes.POINTER(_c.stow_import_issue))[0]
            for i in range(lib.stow_import_issue_count(imported)))
    return [{"kind": _KINDS[row.kind], "domain": row.domain.text(), "op": row.op.text(),
             "node": row.node.text(), "tensor": row.tensor.text(), "reason": row.reason.text()}
            for row in rows]


def _symbols(imported):
    count = ctypes.c_size_t()
    names = ctypes.cast(lib.stow_import_symbols(imported, ctypes.byref(count)),
                        ctypes.POINTER(_c.stow_str))
    return [names[i].text() for i in range(count.value)]


def _obstacle(label, imported):
    """What stands in the way of a plan, in the order in which to remove it."""
    symbols, issues = _symbols(imported), _issues(imported)
    if symbols:
        wanted = ", ".join(f"{name!r}: …" for name in symbols)
        return ModelError(f"{label}: symbols without a value; set them with bind={{{wanted}}}",
                          8, symbols, issues)
    found = [issue for issue in issues if issue["kind"] in _OBSTACLES]
    lines = [f"{issue['op'] or issue['tensor']}: {issue['reason']}" for issue in found]
    listed = "; ".join(dict.fromkeys(lines)) or "an output could not be imported"
    return ModelError(f"{label}: {listed}", 16, symbols, issues)


def _import(model, label, **asked):
    request = Handle(make(lib.stow_import_request_create, _c.heap),
                     lib.stow_import_request_destroy)
    _ask(request, **asked)
    imported = Handle(make(lib.stow_import_model, model, request, _c.heap, where=label),
                      lib.stow_import_destroy, model)
    graph = lib.stow_import_graph(imported)
    is_ready = graph is not None and not _symbols(imported)
    if not is_ready or (lib.stow_graph_require_bound(graph, None) != 0
                        and not _has_ranges(graph)):
        raise _obstacle(label, imported)
    return Source(Handle(graph, lambda _: None, imported), label, True, model, _issues(imported))


def _open_model(model):
    if isinstance(model, bytes):
        data = Borrowed(model)
        address = make(lib.stow_onnx_open_memory, model, len(model), None, _c.heap)
        return Handle(address, lib.stow_model_close, data)
    return Handle(make(lib.stow_onnx_open, os.fsencode(model), _c.heap), lib.stow_model_close)


def _is_model(path):
    """By its name, else by its first byte, as the command does it."""
    with open(path, "rb") as file:
        return path.endswith(".onnx") or file.read(1) == b"\x08"


def _from_graph(graph, label, bind):
    if bind is not None:
        graph.bind(**dict(mapping("bind", bind)))
    graph._is_frozen = True
    return Source(graph._handle, label)


def _refuse(what, **given):
    for name, value in given.items():
        if value not in (None, {}):
            raise TypeError(f"{name}: not for {what}")


def open_source(model, *, bind=None, bind_rest=None, values=None, shapes=None, graph=None):
    """From a path, the bytes of an ONNX model, an onnx.ModelProto, or a Graph."""
    if isinstance(model, Graph):
        if bind:
            raise TypeError("bind: give symbols of a Graph their values with Graph.bind")
        _refuse("a Graph", bind_rest=bind_rest, values=values, shapes=shapes, graph=graph)
        return _from_graph(model, model.name, None)
    asked = {"bind": bind, "bind_rest": bind_rest, "values": values, "shapes": shapes}
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, (bytes, bytearray, memoryview)):
        _refuse("an ONNX model", graph=graph)
        return _import(_open_model(bytes(model)), "model", **asked)
    path = os.fspath(model)
    if _is_model(path):
        _refuse("an ONNX model", graph=graph)
        return _import(_open_model(path), path, **asked)
    _refuse("a text; it is for ONNX models", bind_rest=bind_rest, values=values, shapes=shapes)
    return _from_graph(Graph.read(path, graph), path, bind)

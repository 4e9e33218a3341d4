"""Tensor types: dtypes of NumPy and of graphs, shapes as dims."""

import ctypes
import re

import numpy as np

from . import _c
from ._c import lib
from ._call import Borrowed, integer, written

# Others (bf16, f8…) have no NumPy dtype: their arrays are bits, and packed bytes below a byte.
_NUMPY = {"f32": "f4", "f16": "f2", "f64": "f8", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8",
          "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "bool": "?", "c64": "c8",
          "c128": "c16", "bf16": "u2"}
_NAMES = {np.dtype(text): name for name, text in _NUMPY.items() if name != "bf16"}
MAX_RANK = 16


def dtype_code(dtype):
    """The number of a dtype: a name of the text format, or anything that NumPy takes."""
    code = ctypes.c_int()
    name = dtype if isinstance(dtype, str) else ""
    if not lib.stow_dtype_from_name(Borrowed(name), ctypes.byref(code)):
        name = _NAMES.get(np.dtype(dtype))
        if name is None:
            raise TypeError(f"unsupported dtype {dtype!r}")
        lib.stow_dtype_from_name(Borrowed(name), ctypes.byref(code))
    return code.value


def dtype_name(code):
    return lib.stow_dtype_name(code).decode()


def numpy_dtype(code):
    """The dtype of arrays with such elements."""
    return np.dtype(_NUMPY.get(dtype_name(code), "u1"))


def is_packed(code):
    """Whether elements are below a byte: their arrays are flat, and of bytes."""
    return dtype_name(code) in ("i4", "u4", "i2", "u2", "f4e2m1")


def make_type(shape, dtype, dims=None):
    """|dims| is the graph's table; names among the shape are symbols of it."""
    if len(shape) > MAX_RANK:
        raise ValueError(f"{len(shape)} dims; at most {MAX_RANK} are supported")
    result = _c.stow_type(dtype_code(dtype), len(shape))
    for i, dim in enumerate(shape):
        if isinstance(dim, str) and dims is not None:
            result.dims[i] = lib.stow_dim_symbol(dims, Borrowed(dim))
        else:
            result.dims[i] = integer("shape", dim, 0, 2**63 - 1)
    return result


def shape_of(graph, found):
    """Numbers, and texts such as "?batch" for dims that are not."""
    dims = lib.stow_graph_dims(graph)
    text = lambda dim: written(lib.stow_dim_print, dims, dim, has_diag=False).decode()
    return tuple(dim if dim >= 0 else text(dim) for dim in found.dims[:found.rank])


def type_at(graph, value):
    return ctypes.cast(lib.stow_graph_type(graph, value), ctypes.POINTER(_c.stow_type))[0]


def read_binding(name, value):
    """A number, or a stow_dim_range: of `range(32, 1281, 32)`, or as the command has it,
    "32..1280/32"."""
    if isinstance(value, str):
        numbers = re.fullmatch(r"(\d+)\.\.(\d+)(?:/(\d+))?", value)
        if numbers is None:
            raise TypeError(f"{name}: expected an integer, a range, or a text such as '1..512', "
                            f"not {value!r}")
        first, last, step = (int(number) for number in numbers.groups("1"))
    elif isinstance(value, range):
        first, last, step = value.start, value.stop - 1, value.step
        if step < 1 or first % step != 0:
            raise ValueError(f"{name}: {value!r}: expected multiples of a positive step")
    else:
        return integer(name, value, 0, 2**63 - 1)
    if not 0 <= first <= last < 2**63 or not 0 < step < 2**63:
        raise ValueError(f"{name}: {value!r} is empty, or no range of dims")
    result = _c.stow_dim_range(first, last, step)
    if not lib.stow_dim_range_trim(ctypes.byref(result)):
        raise ValueError(f"{name}: {value!r} has no multiple of its step, or ends above 2^40")
    return result.min if result.min == result.max else result

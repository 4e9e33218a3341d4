"""The C library: structs and prototypes of what this package calls.

Pointers are addresses (c_void_p), which take integers, byref(), arrays and callbacks alike.
tests/python/test_declarations.py lets a C compiler prove all of this against the headers.
"""

import ctypes
import re
from ctypes import c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32
from ctypes import c_uint64, c_void_p
from pathlib import Path

NONE = 2**64 - 1  # STOW_PLACE_ANYWHERE, _SMALLEST, _NO_LIMIT, STOW_NO_CAPACITY
NONE_32 = 2**32 - 1  # STOW_VALUE_NONE, STOW_NODE_NONE


class Sized(ctypes.Structure):
    """A struct that begins with its own size."""

    def __init__(self):
        super().__init__()
        self.struct_size = ctypes.sizeof(self)


class stow_str(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]

    def text(self):
        data = ctypes.string_at(self.data, self.size) if self.size else b""
        return data.decode("utf-8", "replace")


class stow_diag(Sized):
    _fields_ = [("struct_size", c_size_t), ("status", c_int), ("line", c_uint32),
                ("column", c_uint32), ("node", c_uint32), ("value", c_uint32),
                ("message", c_char * 1024)]


class stow_allocator(ctypes.Structure):
    _fields_ = [("reallocate", c_void_p), ("user", c_void_p)]


class stow_writer(ctypes.Structure):
    _fields_ = [("write", c_void_p), ("user", c_void_p)]


class stow_string(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t), ("capacity", c_size_t),
                ("allocator", stow_allocator)]


class stow_splitter(ctypes.Structure):
    _fields_ = [("split", c_void_p), ("pool", c_void_p)]


class stow_buffer(Sized):
    _fields_ = [("struct_size", c_size_t), ("size", c_uint64), ("guard", c_uint64),
                ("begin", c_uint64), ("end", c_uint64), ("alignment", c_uint64),
                ("fixed_offset", c_uint64), ("pool", c_uint32)]


class stow_window_desc(Sized):
    _fields_ = [("struct_size", c_size_t), ("begin", c_uint64), ("end", c_uint64),
                ("low", c_uint64), ("high", c_uint64)]


class stow_load(Sized):
    _fields_ = [("struct_size", c_size_t), ("bytes", c_uint64), ("step", c_uint64),
                ("lower_bound", c_uint64), ("pair_count", c_uint64)]


class stow_place_progress(ctypes.Structure):
    _fields_ = [("phase", c_char_p), ("best", c_uint64), ("bound", c_uint64), ("nodes", c_uint64)]


class stow_place_options(Sized):
    _fields_ = [("struct_size", c_size_t), ("reuse", c_bool), ("capacity", c_uint64),
                ("nodes", c_uint64), ("on_progress", c_void_p), ("user", c_void_p),
                ("patience", c_uint64), ("splitter", stow_splitter), ("workers", c_uint32),
                ("start", c_void_p)]


class stow_placement_info(Sized):
    _fields_ = [("struct_size", c_size_t), ("count", c_size_t), ("height", c_uint64),
                ("bound", c_uint64), ("nodes", c_uint64), ("outcome", c_int),
                ("stopped", c_bool)]


class stow_strategy(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("summary", c_char_p), ("place", c_void_p)]


class stow_picture_rows(Sized):
    _fields_ = [("struct_size", c_size_t), ("csv", c_void_p), ("placement", c_void_p),
                ("offsets", c_void_p), ("strategy", c_char_p), ("source", c_char_p),
                ("title", c_char_p), ("capacity", c_uint64), ("reuse", c_bool),
                ("plan", stow_str)]


PROTOTYPES = """
const char* stow_version(void);
const char* stow_status_text(stow_status);
void stow_diag_defaults(stow_diag*);
stow_allocator stow_allocator_default(void);
void stow_string_init(stow_string*, stow_allocator);
void stow_string_free(stow_string*);
stow_writer stow_string_writer(stow_string*);

stow_status stow_problem_create(stow_allocator, stow_diag*, stow_problem**);
void stow_problem_destroy(stow_problem*);
stow_status stow_problem_add(stow_problem*, const stow_buffer*, stow_diag*, size_t*);
stow_status stow_problem_add_window(stow_problem*, const stow_window_desc*, stow_diag*);
size_t stow_problem_count(const stow_problem*);
stow_status stow_problem_load(const stow_problem*, stow_allocator, stow_diag*, stow_load*);
void stow_place_options_defaults(stow_place_options*);
size_t stow_strategy_count(void);
const stow_strategy* stow_strategy_at(size_t);
const char* stow_outcome_text(stow_outcome);
void stow_placement_destroy(stow_placement*);
uint64_t stow_placement_offset(const stow_placement*, size_t);
stow_status stow_placement_describe(const stow_placement*, stow_placement_info*);
stow_status stow_placement_check(const stow_problem*, const uint64_t*, size_t, uint64_t,
  stow_allocator, stow_diag*, stow_placement_violation*);
stow_status stow_csv_read(stow_str, stow_allocator, stow_diag*, stow_csv**);
void stow_csv_destroy(stow_csv*);
const stow_problem* stow_csv_problem(const stow_csv*);
stow_str stow_csv_id(const stow_csv*, size_t);
stow_status stow_csv_write(const stow_csv*, const stow_placement*, stow_writer, stow_diag*);

void stow_picture_rows_defaults(stow_picture_rows*);
stow_status stow_picture_from_rows(const stow_picture_rows*, stow_allocator, stow_diag*,
  stow_picture**);
void stow_picture_destroy(stow_picture*);
stow_status stow_picture_write(const stow_picture*, stow_picture_format,
  const stow_report_options*, stow_writer, stow_diag*);
"""

on_progress = ctypes.CFUNCTYPE(c_bool, c_void_p, ctypes.POINTER(stow_place_progress))
place = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, stow_allocator, c_void_p, c_void_p)

_PLAIN = {"void": None, "bool": c_bool, "int64_t": c_int64, "uint32_t": c_uint32,
          "uint64_t": c_uint64, "size_t": c_size_t, "double": c_double, "stow_op": c_uint32,
          "stow_value": c_uint32, "stow_node": c_uint32, "const char*": c_char_p}


def _type_of(text):
    text = text.strip()
    if text in _PLAIN:
        return _PLAIN[text]
    if text.endswith("*"):
        return c_void_p
    return globals().get(text, c_int)  # a struct, else an enum


def prototypes():
    """(result, name, arguments), as C text."""
    for line in " ".join(PROTOTYPES.split()).split(";")[:-1]:
        result, name, arguments = re.fullmatch(r"\s*(.*?)\s*\b(\w+)\((.*)\)", line).groups()
        yield result, name, [] if arguments == "void" else arguments.split(",")


def _load():
    here = Path(__file__).parent
    library = ctypes.CDLL(str(next(here.glob("libstowplan.*"))))
    for result, name, arguments in prototypes():
        function = getattr(library, name)
        function.restype = _type_of(result)
        function.argtypes = [_type_of(argument) for argument in arguments]
    return library


lib = _load()
heap = lib.stow_allocator_default()

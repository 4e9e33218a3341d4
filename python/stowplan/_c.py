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
                ("message", c_char * 1024), ("split_symbol", c_char * 128),
                ("split_at", c_int64)]


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


class stow_dim_range(ctypes.Structure):
    _fields_ = [("min", c_int64), ("max", c_int64), ("step", c_int64)]


class stow_type(ctypes.Structure):
    _fields_ = [("dtype", c_int), ("rank", c_uint32), ("dims", c_int64 * 16)]


class stow_tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("dtype", c_int), ("rank", c_uint32), ("dims", c_int64 * 16),
                ("strides", c_int64 * 16)]


class stow_attr(ctypes.Structure):
    _fields_ = [("name", stow_str), ("kind", c_int), ("i", c_int64), ("f", c_double),
                ("b", c_bool), ("s", stow_str), ("count", c_size_t), ("ints", c_void_p),
                ("floats", c_void_p), ("strings", c_void_p)]


class stow_model_info(Sized):
    _fields_ = [("struct_size", c_size_t), ("format", stow_str), ("format_version", c_int64),
                ("name", stow_str), ("producer", stow_str), ("producer_version", stow_str),
                ("node_count", c_size_t), ("op_kind_count", c_size_t),
                ("opset_count", c_size_t), ("input_count", c_size_t),
                ("output_count", c_size_t)]


class stow_import_issue(ctypes.Structure):
    _fields_ = [("kind", c_int), ("domain", stow_str), ("op", stow_str), ("node", stow_str),
                ("tensor", stow_str), ("reason", stow_str)]


class stow_rewrite_options(Sized):
    _fields_ = [("struct_size", c_size_t), ("off", c_uint32), ("fold_limit", c_double),
                ("stream_rows", c_uint32)]


class stow_slot(ctypes.Structure):
    _fields_ = [("offset", c_uint64), ("size", c_uint64), ("pool", c_uint32)]


class stow_plan_options(Sized):
    _fields_ = [("struct_size", c_size_t), ("alignment", c_uint64), ("tail_guard", c_uint64),
                ("params", c_bool), ("inputs", c_bool), ("constants", c_bool),
                ("zero_size_slots", c_bool), ("f32_uniform", c_bool), ("classic_views", c_bool),
                ("reuse", c_bool), ("pack_params", c_bool), ("allow_missing_params", c_bool),
                ("io", c_int), ("capacity", c_uint64), ("strategy", c_void_p),
                ("schedule", c_void_p), ("layout", c_void_p), ("rule_count", c_size_t),
                ("rules", c_void_p * 32), ("nodes", c_uint64), ("on_progress", c_void_p),
                ("user", c_void_p), ("in_place", c_bool), ("elide_copies", c_bool),
                ("windows", c_bool), ("order", c_int), ("order_margin", c_uint64),
                ("order_nodes", c_uint64), ("patience", c_uint64), ("start", c_void_p),
                ("rewrite", c_char_p), ("least_row", c_uint64)]


class stow_plan_info(Sized):
    _fields_ = [("struct_size", c_size_t), ("graph_name", stow_str), ("fingerprint", c_uint64),
                ("strategy_name", stow_str), ("reuse", c_bool), ("arena_size", c_uint64),
                ("alignment", c_uint64), ("lower_bound", c_uint64),
                ("total_unshared", c_uint64), ("saved", c_uint64), ("pool_count", c_uint32),
                ("value_count", c_uint32), ("step_count", c_uint32), ("peak_step", c_uint32),
                ("peak_count", c_size_t), ("peak_scratch", c_uint64), ("threads", c_uint32),
                ("fastest", c_bool), ("pack", c_uint32), ("packed_bytes", c_uint64),
                ("rewrite", stow_str), ("least_row", c_uint64)]


class stow_search(Sized):
    _fields_ = [("struct_size", c_size_t), ("outcome", c_int), ("bound", c_uint64),
                ("nodes", c_uint64), ("stopped", c_bool)]


class stow_picture_plan(Sized):
    _fields_ = [("struct_size", c_size_t), ("graph", c_void_p), ("plan", c_void_p),
                ("effects", c_void_p), ("source", c_char_p), ("title", c_char_p),
                ("is_model", c_bool), ("has_shared_params", c_bool),
                ("ring", c_void_p), ("ring_user", c_void_p)]


class stow_formula_effects(ctypes.Structure):
    _fields_ = [("begin", c_void_p), ("end", c_void_p), ("user", c_void_p),
                ("is_same_everywhere", c_bool)]


class stow_formula_options(Sized):
    _fields_ = [("struct_size", c_size_t), ("plan", c_void_p), ("effects", stow_formula_effects),
                ("most_plans", c_uint32), ("by_bounds", c_bool), ("most_work", c_uint64)]


class stow_formula_info(Sized):
    _fields_ = [("struct_size", c_size_t), ("graph_name", stow_str), ("fingerprint", c_uint64),
                ("point_count", c_size_t), ("region_count", c_size_t), ("plan_count", c_size_t),
                ("buffer_count", c_size_t), ("largest_arena", c_uint64),
                ("largest_point", c_size_t), ("worst_point", c_size_t), ("alignment", c_uint64),
                ("by_bounds", c_bool), ("shape_count", c_uint64), ("arena_bound", c_uint64),
                ("gap_arena", c_uint64), ("gap_load", c_uint64)]


class stow_formula_point(Sized):
    _fields_ = [("struct_size", c_size_t), ("arena_size", c_uint64), ("load", c_uint64),
                ("region", c_size_t)]


class stow_formula_region(Sized):
    _fields_ = [("struct_size", c_size_t), ("planned_at", c_size_t), ("point_count", c_size_t),
                ("box_count", c_size_t), ("buffer_count", c_size_t), ("edge_count", c_size_t),
                ("worst_point", c_size_t), ("sum_count", c_size_t), ("slack", c_uint64)]


class stow_fit_point(ctypes.Structure):
    _fields_ = [("kind", c_int), ("arena_size", c_uint64), ("load", c_uint64)]


class stow_picture_formula(Sized):
    _fields_ = [("struct_size", c_size_t), ("formula", c_void_p),
                ("effects", stow_formula_effects), ("point", c_size_t), ("is_one_point", c_bool),
                ("source", c_char_p), ("title", c_char_p), ("is_model", c_bool)]


class stow_prepare_options(Sized):
    _fields_ = [("struct_size", c_size_t), ("threads", c_uint32), ("kernels", c_void_p),
                ("fastest", c_bool), ("pack", c_int)]


class stow_exec_options(Sized):
    _fields_ = [("struct_size", c_size_t), ("memory", c_void_p), ("memory_size", c_size_t),
                ("poison", c_bool), ("paranoid", c_bool), ("weight", c_void_p),
                ("on_step", c_void_p), ("user", c_void_p), ("on_copied", c_void_p),
                ("capacity", c_uint64)]


class stowi_request_rewrite(ctypes.Structure):
    _fields_ = [("is_given", c_bool), ("is_none", c_bool), ("off", c_uint32),
                ("has_limit", c_bool), ("limit", c_double), ("streams", c_bool),
                ("stream_rows", c_uint32)]


class stowi_request_choices(ctypes.Structure):
    _fields_ = [("preset", c_int), ("weights", c_int), ("kernels", c_int), ("has_pack", c_bool),
                ("pack", c_int), ("has_layout", c_bool), ("rewrite", stowi_request_rewrite)]


class stowi_request_alias(ctypes.Structure):
    _fields_ = [("output", stow_str), ("input", stow_str)]


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
void stow_picture_plan_defaults(stow_picture_plan*);
stow_status stow_picture_from_plan(const stow_picture_plan*, stow_allocator, stow_diag*,
  stow_picture**);

void stow_picture_formula_defaults(stow_picture_formula*);
stow_status stow_picture_from_formula(const stow_picture_formula*, stow_allocator, stow_diag*,
  stow_picture**);

bool stow_dtype_from_name(stow_str, stow_dtype*);
const char* stow_dtype_name(stow_dtype);
stow_status stow_graph_create(stow_str, const stow_ops*, stow_allocator, stow_diag*, stow_graph**);
void stow_graph_destroy(stow_graph*);
stow_op stow_ops_find(const stow_ops*, stow_str);
stow_call* stow_graph_begin(stow_graph*, stow_op);
void stow_graph_cancel(stow_graph*);
void stow_call_operand(stow_call*, stow_value);
void stow_call_attr(stow_call*, const stow_attr*);
void stow_call_result_type(stow_call*, const stow_type*);
void stow_call_result_count(stow_call*, size_t);
void stow_call_name(stow_call*, size_t, stow_str);
void stow_call_data(stow_call*, const void*, size_t, bool);
stow_status stow_call_finish(stow_call*, stow_diag*, stow_node*);
stow_status stow_graph_add_output(stow_graph*, stow_value, stow_diag*);
stow_status stow_graph_bind(stow_graph*, const stow_str*, const int64_t*, size_t, stow_diag*);
stow_dims* stow_graph_edit_dims(stow_graph*);
const stow_dims* stow_graph_dims(const stow_graph*);
stow_status stowi_graph_copy(const stow_graph*, stow_allocator, stow_diag*, stow_graph**);
size_t stow_dims_symbol_count(const stow_dims*);
size_t stow_dims_find_symbol(const stow_dims*, stow_str);
stow_status stow_dims_set_range(stow_dims*, size_t, const stow_dim_range*);
bool stow_dims_range(const stow_dims*, size_t, stow_dim_range*);
bool stow_dim_range_trim(stow_dim_range*);
int64_t stow_dim_symbol(stow_dims*, stow_str);
bool stow_dim_uses(const stow_dims*, stow_dim, size_t);
stow_status stow_dim_evaluate(const stow_dims*, stow_dim, const int64_t*, int64_t*);
stow_status stow_dim_print(const stow_dims*, stow_dim, stow_writer);
stow_status stow_type_bytes(const stow_type*, uint64_t*);
stow_str stow_graph_name(const stow_graph*);
uint32_t stow_graph_value_count(const stow_graph*);
stow_value stow_graph_first_result(const stow_graph*, stow_node);
size_t stow_graph_result_count(const stow_graph*, stow_node);
size_t stow_graph_output_count(const stow_graph*);
const stow_value* stow_graph_outputs(const stow_graph*);
const stow_type* stow_graph_type(const stow_graph*, stow_value);
stow_str stow_graph_value_name(const stow_graph*, stow_value);
stow_node stow_graph_producer(const stow_graph*, stow_value);
stow_op stow_graph_op(const stow_graph*, stow_node);
bool stow_graph_is_boundary(const stow_graph*, stow_value);
const void* stow_graph_data(const stow_graph*, stow_value, size_t*);
stow_status stow_graph_require_bound(const stow_graph*, stow_diag*);
stow_status stow_graph_print(const stow_graph*, stow_writer);
stow_status stow_module_parse(const char*, size_t, const char*, const stow_ops*, stow_allocator,
  stow_diag*, stow_module**);
void stow_module_destroy(stow_module*);
size_t stow_module_graph_count(const stow_module*);
stow_graph* stow_module_graph(stow_module*, size_t);
stow_graph* stow_module_find(stow_module*, stow_str);

stow_status stow_onnx_open(const char*, stow_allocator, stow_diag*, stow_model**);
stow_status stow_onnx_open_memory(const void*, size_t, const char*, stow_allocator, stow_diag*,
  stow_model**);
void stow_model_close(stow_model*);
void stow_model_give_back(const stow_model*, const void*, size_t);
stow_status stow_import_request_create(stow_allocator, stow_diag*, stow_import_request**);
void stow_import_request_destroy(stow_import_request*);
stow_status stow_import_request_bind(stow_import_request*, stow_str, int64_t, stow_diag*);
stow_status stow_import_request_bind_range(stow_import_request*, stow_str,
  const stow_dim_range*, stow_diag*);
stow_status stow_import_request_bind_rest(stow_import_request*, int64_t, stow_diag*);
stow_status stow_import_request_value(stow_import_request*, stow_str, const int64_t*, size_t,
  stow_diag*);
stow_status stow_import_request_value_bytes(stow_import_request*, stow_str, const stow_type*,
  const void*, size_t, stow_diag*);
stow_status stow_import_request_shape(stow_import_request*, stow_str, const int64_t*, size_t,
  stow_diag*);
stow_status stow_import_model(stow_model*, const stow_import_request*, stow_allocator, stow_diag*,
  stow_import**);
void stow_import_destroy(stow_import*);
stow_graph* stow_import_graph(stow_import*);
const stow_str* stow_import_symbols(const stow_import*, size_t*);
size_t stow_import_issue_count(const stow_import*);
const stow_import_issue* stow_import_issue_at(const stow_import*, size_t);

stow_status stow_rewrite(const stow_graph*, const stow_rewrite_options*, stow_allocator,
  stow_diag*, stow_rewritten**);
void stow_rewritten_destroy(stow_rewritten*);
const stow_graph* stow_rewritten_graph(const stow_rewritten*);
const stow_graph* stow_rewritten_fold_graph(const stow_rewritten*);
void stow_rewritten_stamp(const stow_rewritten*, char*);
size_t stow_rewritten_count(const stow_rewritten*, stow_rewrite_rule);
bool stow_rewrite_rule_find(stow_str, stow_rewrite_rule*);
stow_status stow_effects_create(const stow_graph*, stow_allocator, stow_diag*, stow_effects**);
void stow_effects_destroy(stow_effects*);

void stow_plan_options_defaults(stow_plan_options*, stow_preset);
stow_status stow_plan_options_add_rule(stow_plan_options*, const stow_rule*);
const char* stow_preset_name(stow_preset);
const stow_rule* stow_rule_find(stow_str);
stow_status stow_plan_make(const stow_graph*, const stow_effects*, const stow_plan_options*,
  stow_allocator, stow_diag*, stow_plan**);
void stow_plan_destroy(stow_plan*);
stow_status stow_plan_describe(const stow_plan*, stow_plan_info*);
stow_status stow_plan_describe_search(const stow_plan*, stow_search*);
stow_value stow_plan_peak_value(const stow_plan*, size_t);
stow_status stow_plan_check(const stow_plan*, const stow_graph*, const stow_effects*,
  stow_allocator, stow_diag*, stow_violation*);
stow_status stow_plan_write(const stow_plan*, stow_plan_format, stow_writer);
stow_status stow_plan_write_c(const stow_plan*, const char*, stow_writer, stow_diag*);
bool stow_plan_value_slot(const stow_plan*, stow_value, stow_slot*);
stow_slot stow_plan_occupied_slot(const stow_plan*, stow_value, uint32_t);
stow_status stow_start_from_plan(const stow_plan*, stow_allocator, stow_diag*, stow_start**);
void stow_start_destroy(stow_start*);

void stow_formula_options_defaults(stow_formula_options*);
stow_status stow_formula_make(const stow_graph*, const stow_formula_options*, stow_allocator,
  stow_diag*, stow_formula**);
void stow_formula_destroy(stow_formula*);
stow_status stow_formula_check(const stow_formula*, const stow_formula_effects*, stow_allocator,
  stow_diag*);
size_t stow_formula_symbol_count(const stow_formula*);
stow_str stow_formula_symbol(const stow_formula*, size_t, stow_dim_range*);
stow_status stow_formula_describe(const stow_formula*, stow_formula_info*);
bool stow_formula_point_values(const stow_formula*, size_t, int64_t*);
stow_status stow_formula_find_point(const stow_formula*, const int64_t*, size_t*);
stow_status stow_formula_describe_point(const stow_formula*, size_t, stow_formula_point*);
stow_status stow_formula_describe_region(const stow_formula*, size_t, stow_formula_region*);
bool stow_formula_box(const stow_formula*, size_t, size_t, int64_t*, int64_t*);
stow_status stow_formula_write_sum(const stow_formula*, size_t, size_t, stow_writer);
stow_status stow_formula_at(const stow_formula*, size_t, const stow_graph*, const stow_effects*,
  stow_allocator, stow_diag*, stow_plan**);
stow_status stow_formula_fit(stow_formula*, uint64_t, const stow_formula_options*, stow_allocator,
  stow_diag*, stow_fit_point*, size_t*);
stow_status stow_formula_write(const stow_formula*, stow_plan_format, stow_writer);
stow_status stow_formula_write_c(const stow_formula*, const char*, stow_writer, stow_diag*);

stow_status stow_prepare(const stow_graph*, const stow_prepare_options*, stow_allocator,
  stow_diag*, stow_prepared**);
void stow_prepared_destroy(stow_prepared*);
stow_effects* stow_prepared_effects(stow_prepared*);
stow_formula_effects stow_prepared_formula_effects(stow_prepared*);
stow_status stow_folded_create(const stow_graph*, const stow_graph*, const stow_prepare_options*,
  stow_allocator, stow_diag*, stow_folded**);
void stow_folded_destroy(stow_folded*);
const void* stow_folded_weight(void*, stow_value, size_t*);
void stow_folded_give_back(stow_folded*, const stow_prepared*, stow_value);
void stow_exec_options_defaults(stow_exec_options*);
stow_status stow_exec_create(const stow_prepared*, const stow_plan*, const stow_exec_options*,
  stow_allocator, stow_diag*, stow_exec**);
stow_status stow_exec_create_range(const stow_prepared*, const stow_formula*,
  const stow_exec_options*, stow_allocator, stow_diag*, stow_exec**);
stow_status stow_exec_set_point(stow_exec*, const int64_t*, stow_diag*);
void stow_exec_destroy(stow_exec*);
stow_status stow_exec_bind(stow_exec*, stow_value, void*, size_t, stow_diag*);
stow_status stow_exec_input(stow_exec*, stow_value, const stow_tensor*, stow_diag*);
stow_status stow_exec_value(const stow_exec*, stow_value, stow_diag*, stow_tensor*);
stow_status stow_exec_run(stow_exec*, stow_diag*);

stow_status stowi_request_read_rewrite(const char*, stow_diag*, stowi_request_rewrite*);
stow_status stowi_request_read_stream(const char*, stow_diag*, stowi_request_rewrite*);
stow_rewrite_options stowi_request_rewrite_options(const stowi_request_choices*, bool);
bool stowi_request_has_kernels(const stowi_request_choices*, bool);
bool stowi_request_rewrites(const stowi_request_choices*, bool);
uint64_t stowi_request_least_row(const stowi_request_choices*, bool, bool);
bool stowi_request_orders(const stowi_request_choices*, bool);
bool stowi_request_leaves_weights(const stowi_request_choices*, bool);
stow_prepare_options stowi_request_prepare(const stowi_request_choices*, bool);
stow_status stowi_request_set_policy(stow_effects*, const stow_graph*, stow_str, stow_io_policy,
  stow_diag*);
stow_status stowi_request_check_pattern(const stowi_request_alias*, stow_diag*);
stow_status stowi_request_set_alias(stow_effects*, const stow_graph*, const stowi_request_alias*,
  stow_diag*, size_t*);
stow_status stowi_request_check_alias(const stow_plan*, const stow_graph*,
  const stowi_request_alias*, stow_diag*);
"""

on_progress = ctypes.CFUNCTYPE(c_bool, c_void_p, ctypes.POINTER(stow_place_progress))
on_copied = ctypes.CFUNCTYPE(None, c_void_p, c_uint32, c_void_p, c_size_t)
begin_effects = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, stow_allocator, c_void_p,
                                 ctypes.POINTER(c_void_p))
end_effects = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
place = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, stow_allocator, c_void_p, c_void_p)

_PLAIN = {"void": None, "bool": c_bool, "int64_t": c_int64, "uint32_t": c_uint32,
          "uint64_t": c_uint64, "size_t": c_size_t, "double": c_double, "stow_op": c_uint32,
          "stow_value": c_uint32, "stow_node": c_uint32, "stow_dim": c_int64,
          "const char*": c_char_p}


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
    path = next(here.glob("libstowplan.*"), None)
    if path is None:
        raise ImportError(f"no library beside {here}: install the package with pip install ./python")
    library = ctypes.CDLL(str(path))
    for result, name, arguments in prototypes():
        function = getattr(library, name)
        function.restype = _type_of(result)
        function.argtypes = [_type_of(argument) for argument in arguments]
    return library


lib = _load()
heap = lib.stow_allocator_default()

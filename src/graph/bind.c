// Gives values to symbols. Every node is inferred again, in order, into a second array of type
// numbers and a second store of known values that replace the first on success: shapes that only a
// binding can distinguish are checked here, and a failure leaves the graph unchanged. O(nodes),
// each distinct type substituted once, and again for all whenever the arguments of a loop turn out
// to be upper-bounded.
#include "base/diag.h"
#include "graph/api.h"
#include "graph/dims/dims.h"
#include "graph/graph_internal.h"
#include "graph/shapes/call.h"

#define NOT_YET UINT32_MAX

typedef struct binder {
  stow_graph* graph;
  stow_diag* diag;
  size_t symbol_count;
  int64_t* symbols;  // STOW_DIM_INVALID: stays as it is
  uint32_t* types;   // per value
  size_t type_count;
  uint32_t* substituted;  // per type, or NOT_YET
  size_t max_results;
  stow_type* results;
  stowi_graph_marks* marks;        // of one node's results
  stowi_graph_marks* value_marks;  // per value; those of an earlier pass stay
  bool is_again;  // an argument turned out to be upper-bounded: its readers were inferred wrongly
  stowi_graph_known_store known;  // replaces the old store
  stow_graph** functions;         // by function: bound, or NULL if it stays as it is
} binder;

static stow_status read_binding(binder* b, stow_str name, int64_t value) {
  size_t symbol = stow_dims_find_symbol(b->graph->dims, name);
  if (symbol == SIZE_MAX) {
    return stowi_fail(b->diag, STOW_ERR_NOT_FOUND, "unknown dim \"%.*s\"", STOWI_STR_ARG(name));
  }
  if (value < 0) {
    return stowi_fail(b->diag, STOW_ERR_INVALID_ARGUMENT,
                      "dim \"%.*s\" is %lld, expected 0 or more", STOWI_STR_ARG(name),
                      (long long)value);
  }
  if (b->symbols[symbol] != STOW_DIM_INVALID) {
    return stowi_fail(b->diag, STOW_ERR_DUPLICATE, "dim \"%.*s\" is given twice",
                      STOWI_STR_ARG(name));
  }
  stow_dim_range range;
  bool has_range = stow_dims_range(b->graph->dims, symbol, &range);
  if (has_range && !stow_dim_range_has(&range, value)) {
    return stowi_fail(b->diag, STOW_ERR_INVALID_ARGUMENT,
                      "dim \"%.*s\" is %lld, which its range %lld..%lld/%lld does not have",
                      STOWI_STR_ARG(name), (long long)value, (long long)range.min,
                      (long long)range.max, (long long)range.step);
  }
  b->symbols[symbol] = value;
  return STOW_OK;
}

static size_t most_results(const stow_graph* graph) {
  size_t most = 0;
  for (stow_node node = 0; node < graph->nodes.count; ++node) {
    size_t count = stow_graph_result_count(graph, node);
    most = count > most ? count : most;
  }
  return most;
}

static stow_status init(binder* b) {
  stow_graph* graph = b->graph;
  b->symbol_count = stow_dims_symbol_count(graph->dims);
  b->type_count = graph->types.list.count;
  b->max_results = most_results(graph);
  b->symbols = STOWI_ARRAY(graph->allocator, int64_t, b->symbol_count);
  b->types = STOWI_ARRAY(graph->allocator, uint32_t, graph->value_types.capacity);
  b->substituted = STOWI_ARRAY(graph->allocator, uint32_t, b->type_count);
  b->results = STOWI_ARRAY(graph->allocator, stow_type, b->max_results);
  b->marks = STOWI_ARRAY(graph->allocator, stowi_graph_marks, b->max_results);
  b->value_marks = STOWI_ARRAY_ZERO(graph->allocator, stowi_graph_marks, graph->values.count);
  STOW_TRY(stowi_need_memory(b->symbols != NULL && b->types != NULL && b->substituted != NULL &&
                                 b->results != NULL && b->marks != NULL && b->value_marks != NULL,
                             b->diag));
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(graph->allocator, &b->known.is_read, graph->data.count) == STOW_OK,
      b->diag));
  for (; b->known.is_read.count < graph->data.count; ++b->known.is_read.count) {
    b->known.is_read.data[b->known.is_read.count] = false;
  }
  for (size_t i = 0; i < b->symbol_count; ++i) {
    b->symbols[i] = STOW_DIM_INVALID;
  }
  for (size_t i = 0; i < b->type_count; ++i) {
    b->substituted[i] = NOT_YET;
  }
  return STOW_OK;
}

static void release(binder* b) {
  stow_allocator allocator = b->graph->allocator;
  STOWI_ARRAY_FREE(allocator, b->symbols, b->symbol_count);
  STOWI_ARRAY_FREE(allocator, b->types, b->graph->value_types.capacity);
  STOWI_ARRAY_FREE(allocator, b->substituted, b->type_count);
  STOWI_ARRAY_FREE(allocator, b->results, b->max_results);
  STOWI_ARRAY_FREE(allocator, b->marks, b->max_results);
  STOWI_ARRAY_FREE(allocator, b->value_marks, b->graph->values.count);
  stowi_graph_known_free(&b->known, allocator);
}

static stow_status intern(binder* b, const stow_type* type, uint32_t* out_id) {
  stow_graph* graph = b->graph;
  stow_status status =
      stowi_graph_intern_type(&graph->types, &graph->pool, graph->allocator, type, out_id);
  return status == STOW_OK ? STOW_OK : stowi_fail(b->diag, status, "%s", stow_status_text(status));
}

static const char* why_not(stow_status status) {
  return status == STOW_ERR_TYPE ? "a dim would be negative or divide by zero"
                                 : stow_status_text(status);
}

// The type of |value| with its symbols replaced.
static stow_status substitute(binder* b, stow_value value) {
  stow_graph* graph = b->graph;
  uint32_t old = graph->value_types.data[value];
  if (b->substituted[old] != NOT_YET) {
    b->types[value] = b->substituted[old];
    return STOW_OK;
  }
  stow_type type = *graph->types.list.data[old];
  for (uint32_t i = 0; i < type.rank; ++i) {
    type.dims[i] = stowi_graph_dims_substitute(graph->dims, type.dims[i], b->symbols);
    if (type.dims[i] != STOW_DIM_INVALID) {
      continue;
    }
    stow_status status = stow_dims_status(graph->dims);
    stow_dims_clear_status(graph->dims);
    status = stowi_fail(b->diag, status, "%s : %s cannot be bound: %s",
                        stowi_graph_describe_value(graph, value).text,
                        stowi_graph_describe_type(graph, graph->types.list.data[old]).text,
                        why_not(status));
    stowi_diag_value(b->diag, value);
    return status;
  }
  STOW_TRY(intern(b, &type, &b->substituted[old]));
  b->types[value] = b->substituted[old];
  return STOW_OK;
}

// A param or constant that names its source has a fixed number of bytes.
static stow_status check_source(binder* b, stow_node node) {
  const stow_graph* graph = b->graph;
  if (!stowi_graph_is_boundary_op(graph->nodes.data[node].op) ||
      stow_graph_attr_count(graph, node) == 0) {
    return STOW_OK;
  }
  stow_value value = stow_graph_first_result(graph, node);
  const stow_attr* bytes = stow_graph_attr(graph, node, "bytes");
  const stow_type* type = stowi_graph_type_of(graph, b->types, value);
  if (bytes == NULL || bytes->i < 0 || stowi_graph_source_fits(bytes->i, type)) {
    return STOW_OK;
  }
  stow_status status =
      stowi_fail(b->diag, STOW_ERR_TYPE, "%s : the source has %lld bytes, which does not match %s",
                 stowi_graph_describe_value(graph, value).text, (long long)bytes->i,
                 stowi_graph_describe_type(graph, type).text);
  stowi_diag_value(b->diag, value);
  return status;
}

// A carried value is upper-bounded in each iteration if it is before the first one or after any.
static void bound_args(binder* b, const stow_shape_call* owner) {
  size_t count = stowi_graph_shape_carried_count(owner);
  for (size_t i = 0; i < count; ++i) {
    stowi_graph_axes axes;
    stow_value arg = stowi_graph_shape_upper_bounded_arg(owner, i, &axes);
    if (arg == STOW_VALUE_NONE) {
      continue;
    }
    uint32_t marked = (uint32_t)b->graph->values.data[arg].bounded | b->value_marks[arg].bounded;
    b->is_again = b->is_again || (axes & ~marked) != 0;
    b->value_marks[arg].bounded |= axes;
  }
}

// The old types, with symbols replaced, count as declared; what the op infers wins.
static stow_status rebind_node(binder* b, stow_node node) {
  stow_graph* graph = b->graph;
  stow_value first = stow_graph_first_result(graph, node);
  size_t count = stow_graph_result_count(graph, node);
  for (size_t k = 0; k < count; ++k) {
    STOW_TRY(substitute(b, first + (stow_value)k));
  }
  stow_shape_call shape =
      stowi_graph_shape_of_node(graph, b->types, &b->known, node, b->results, b->marks);
  shape.value_marks = b->value_marks;
  STOW_TRY(stowi_graph_shape_infer(&shape, false, b->diag));
  for (size_t k = 0; k < count; ++k) {
    STOW_TRY(intern(b, &b->results[k], &b->types[first + k]));
    b->marks[k].bounded |=
        graph->values.data[first + k].bounded | b->value_marks[first + k].bounded;
    b->value_marks[first + k] = b->marks[k];
  }
  STOW_TRY(stowi_graph_known_fold(&shape, &b->known, first, b->diag));
  stowi_graph_known_note_reads(&shape, &b->known, first);
  bound_args(b, &shape);
  return check_source(b, node);
}

static stow_status rebind_once(binder* b) {
  const stow_graph* graph = b->graph;
  b->is_again = false;
  b->known.entries.count = b->known.elements.count = b->known.exactness.count = 0;
  for (stow_node node = 0; node < graph->nodes.count; ++node) {
    stow_status status = rebind_node(b, node);
    if (status != STOW_OK) {
      stowi_graph_blame_node(b->diag, graph, node);
      return status;
    }
  }
  return STOW_OK;
}

// Each pass but the last marks at least one more argument as upper-bounded.
static stow_status rebind_all(binder* b) {
  do {
    STOW_TRY(rebind_once(b));
  } while (b->is_again);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Functions have symbols of the graph too

// A copy of |function| with its symbols bound, but for the first, its rows; NULL if none of them is
// bound.
static stow_status bind_function(binder* b, const stow_graph* function, stow_graph** out) {
  const stow_dims* dims = function->dims;
  size_t count = stow_dims_symbol_count(dims);
  for (size_t i = 1; i < count; ++i) {
    stow_str name = stow_dims_symbol_name(dims, i);
    size_t symbol = stow_dims_find_symbol(b->graph->dims, name);
    if (symbol == SIZE_MAX || symbol >= b->symbol_count || b->symbols[symbol] == STOW_DIM_INVALID) {
      continue;
    }
    if (*out == NULL) {
      STOW_TRY(stowi_graph_copy(function, b->graph->allocator, b->diag, out));
    }
    STOW_TRY(stow_graph_bind(*out, &name, &b->symbols[symbol], 1, b->diag));
  }
  return STOW_OK;
}

// Exchanges bound functions and those of the graph.
static void swap_functions(binder* b) {
  for (size_t i = 0; b->functions != NULL && i < b->graph->functions.count; ++i) {
    if (b->functions[i] != NULL) {
      stow_graph* other = b->graph->functions.data[i];
      b->graph->functions.data[i] = b->functions[i];
      b->functions[i] = other;
    }
  }
}

static stow_status bind_functions(binder* b) {
  size_t count = b->graph->functions.count;
  b->functions = STOWI_ARRAY_ZERO(b->graph->allocator, stow_graph*, count);
  STOW_TRY(stowi_need_memory(b->functions != NULL, b->diag));
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(bind_function(b, b->graph->functions.data[i], &b->functions[i]));
  }
  return STOW_OK;
}

static void free_functions(binder* b) {
  size_t count = b->graph->functions.count;
  for (size_t i = 0; b->functions != NULL && i < count; ++i) {
    stow_graph_destroy(b->functions[i]);
  }
  STOWI_ARRAY_FREE(b->graph->allocator, b->functions, count);
}

// ---------------------------------------------------------------------------------------------

// Symbols whose ranges have one value get it.
static void read_fixed(binder* b) {
  for (size_t i = 0; i < b->symbol_count; ++i) {
    int64_t value;
    if (b->symbols[i] == STOW_DIM_INVALID && stowi_graph_dims_fixed(b->graph->dims, i, &value)) {
      b->symbols[i] = value;
    }
  }
}

// Swaps the binding's results with the graph's.
static void take_over(binder* b) {
  stow_graph* graph = b->graph;
  for (size_t i = 0; i < b->symbol_count; ++i) {
    if (b->symbols[i] != STOW_DIM_INVALID) {
      (void)stow_dims_set_range(graph->dims, i, NULL);
    }
  }
  uint32_t* types = graph->value_types.data;
  graph->value_types.data = b->types;
  b->types = types;
  stowi_graph_known_store known = graph->known;
  graph->known = b->known;
  b->known = known;
  for (stow_value value = 0; value < graph->values.count; ++value) {
    stowi_graph_value* record = &graph->values.data[value];
    record->bounded |= b->value_marks[value].bounded;
    record->data_dependent = b->value_marks[value].data;
  }
}

stow_status stow_graph_bind(stow_graph* graph, const stow_str* names, const int64_t* values,
                            size_t count, stow_diag* diag) {
  binder b = {.graph = graph, .diag = diag};
  stowi_graph_call_drop(&graph->call);
  if (stow_dims_status(graph->dims) != STOW_OK) {
    stow_dims_clear_status(graph->dims);
  }
  stow_status status = init(&b);
  for (size_t i = 0; i < count && status == STOW_OK; ++i) {
    status = read_binding(&b, names[i], values[i]);
  }
  if (status == STOW_OK) {
    read_fixed(&b);
    status = bind_functions(&b);
  }
  if (status == STOW_OK) {
    swap_functions(&b);
    status = rebind_all(&b);
    if (status != STOW_OK) {
      swap_functions(&b);
    }
  }
  if (status == STOW_OK && graph->values.count != 0) {
    take_over(&b);
  }
  free_functions(&b);
  release(&b);
  return status;
}

// Whether an argument of |owner| still has to be marked as upper-bounded.
static bool needs_bounds(const stow_graph* graph, const stow_shape_call* owner) {
  size_t count = stowi_graph_shape_carried_count(owner);
  bool needs = false;
  for (size_t i = 0; i < count && !needs; ++i) {
    stowi_graph_axes axes;
    stow_value arg = stowi_graph_shape_upper_bounded_arg(owner, i, &axes);
    needs = arg != STOW_VALUE_NONE && (axes & ~(uint32_t)graph->values.data[arg].bounded) != 0;
  }
  return needs;
}

stow_status stowi_graph_bind_args(stow_graph* graph, const stow_shape_call* owner,
                                  bool* out_changed, stow_diag* diag) {
  *out_changed = needs_bounds(graph, owner);
  if (!*out_changed) {
    return STOW_OK;
  }
  binder b = {.graph = graph, .diag = diag};
  stow_status status = init(&b);
  if (status == STOW_OK) {
    bound_args(&b, owner);
    status = rebind_all(&b);
  }
  if (status == STOW_OK) {
    take_over(&b);
  }
  release(&b);
  return status;
}

bool stowi_graph_uses_symbol(const stow_graph* graph, size_t symbol) {
  for (stow_value v = 0; v < stow_graph_value_count(graph); ++v) {
    const stow_type* type = stow_graph_type(graph, v);
    for (uint32_t i = 0; i < type->rank; ++i) {
      if (!stow_dim_is_const(type->dims[i]) &&
          stow_dim_uses(stow_graph_dims(graph), type->dims[i], symbol)) {
        return true;
      }
    }
  }
  return false;
}

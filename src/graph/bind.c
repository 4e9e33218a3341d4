// Giving symbols values. Every node is inferred again, in order, into a second array of type
// numbers that replaces the first at the end: shapes that only a binding can tell apart are checked
// here, and a failure leaves the graph as it was. O(nodes), each distinct type substituted once.
#include <string.h>

#include "base/diag.h"
#include "graph/describe.h"
#include "graph/dims.h"
#include "graph/graph_internal.h"
#include "graph/shape_call.h"

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
} binder;

static stow_status read_binding(binder* b, stow_str name, int64_t value) {
  size_t symbol = stowi_dims_find_symbol(b->graph->dims, name);
  if (symbol == SIZE_MAX) {
    return stowi_fail(b->diag, STOW_ERR_NOT_FOUND, "the graph has no dim named \"%.*s\"",
                      STOWI_STR_ARG(name));
  }
  if (value < 0) {
    return stowi_fail(b->diag, STOW_ERR_INVALID_ARGUMENT, "dim \"%.*s\" cannot be %lld",
                      STOWI_STR_ARG(name), (long long)value);
  }
  if (b->symbols[symbol] != STOW_DIM_INVALID) {
    return stowi_fail(b->diag, STOW_ERR_DUPLICATE, "dim \"%.*s\" is given twice",
                      STOWI_STR_ARG(name));
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
  if (b->symbols == NULL || b->types == NULL || b->substituted == NULL || b->results == NULL) {
    return stowi_fail_memory(b->diag);
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
}

static stow_status intern(binder* b, const stow_type* type, uint32_t* out_id) {
  stow_graph* graph = b->graph;
  stow_status status =
      stowi_intern_type(&graph->types, &graph->pool, graph->allocator, type, out_id);
  return status == STOW_OK ? STOW_OK : stowi_fail(b->diag, status, "%s", stow_status_text(status));
}

static const char* why_not(stow_status status) {
  return status == STOW_ERR_TYPE ? "a dim becomes negative, or divides by zero"
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
    type.dims[i] = stowi_dims_substitute(graph->dims, type.dims[i], b->symbols);
    if (type.dims[i] != STOW_DIM_INVALID) {
      continue;
    }
    stow_status status = stow_dims_status(graph->dims);
    stow_dims_clear_status(graph->dims);
    status = stowi_fail(
        b->diag, status, "%s : %s cannot be bound: %s", stowi_describe_value(graph, value).text,
        stowi_describe_type(graph, graph->types.list.data[old]).text, why_not(status));
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
  if (!stowi_holds_data(graph->nodes.data[node].op) || stow_graph_attr_count(graph, node) == 0) {
    return STOW_OK;
  }
  stow_value value = stow_graph_first_result(graph, node);
  const stow_attr* bytes = stow_graph_attr(graph, node, "bytes");
  const stow_type* type = stowi_type_of(graph, b->types, value);
  if (bytes == NULL || bytes->i < 0 || stowi_source_fits(bytes->i, type)) {
    return STOW_OK;
  }
  stow_status status =
      stowi_fail(b->diag, STOW_ERR_TYPE, "%s : the source has %lld bytes, which do not fill %s",
                 stowi_describe_value(graph, value).text, (long long)bytes->i,
                 stowi_describe_type(graph, type).text);
  stowi_diag_value(b->diag, value);
  return status;
}

// The old types, with symbols replaced, stand as the declared ones; what the op infers wins.
static stow_status rebind_node(binder* b, stow_node node) {
  stow_graph* graph = b->graph;
  stow_value first = stow_graph_first_result(graph, node);
  size_t count = stow_graph_result_count(graph, node);
  for (size_t k = 0; k < count; ++k) {
    STOW_TRY(substitute(b, first + (stow_value)k));
  }
  stow_shape_call shape = stowi_shape_of_node(graph, b->types, node, b->results);
  STOW_TRY(stowi_shape_infer(&shape, false, b->diag));
  for (size_t k = 0; k < count; ++k) {
    STOW_TRY(intern(b, &b->results[k], &b->types[first + k]));
  }
  return check_source(b, node);
}

static stow_status rebind_all(binder* b) {
  const stow_graph* graph = b->graph;
  for (stow_node node = 0; node < graph->nodes.count; ++node) {
    stow_status status = rebind_node(b, node);
    if (status != STOW_OK) {
      stowi_blame_node(b->diag, graph, node);
      return status;
    }
  }
  return STOW_OK;
}

stow_status stow_graph_bind(stow_graph* graph, const stow_str* names, const int64_t* values,
                            size_t count, stow_diag* diag) {
  binder b;
  memset(&b, 0, sizeof(b));
  b.graph = graph;
  b.diag = diag;
  stowi_call_drop(&graph->call);
  if (stow_dims_status(graph->dims) != STOW_OK) {
    stow_dims_clear_status(graph->dims);
  }
  stow_status status = init(&b);
  for (size_t i = 0; i < count && status == STOW_OK; ++i) {
    status = read_binding(&b, names[i], values[i]);
  }
  if (status == STOW_OK) {
    status = rebind_all(&b);
  }
  if (status == STOW_OK && graph->values.count != 0) {
    uint32_t* old = graph->value_types.data;
    graph->value_types.data = b.types;
    b.types = old;
  }
  release(&b);
  return status;
}

// A twin is a copy whose table of types points to types of its own. Binding overwrites them, and
// the known elements; numbers of types, and so everything else, stay as they are. Two types that
// are different as expressions may become equal: nothing depends on their numbers being different.
// Functions, which have symbols of the graph too, are overwritten in the same way.
#include "graph/twin.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "graph/api.h"
#include "graph/known.h"

struct stowi_graph_twin {
  stow_allocator allocator;
  stow_graph* graph;
  size_t type_count;
  const stow_type** given;  // the types with symbols
  stow_type* bound;
  size_t element_count;
  int64_t* elements;  // known elements with symbols; floats as they are, unless they are dims
  size_t symbol_count;
  int64_t* point;  // numbers of symbols
  bool is_function;
  size_t* symbols;  // of a function: which symbol of the graph each is; SIZE_MAX: its rows
  size_t function_count;
  stowi_graph_twin** functions;
};

static stow_status fill(stowi_graph_twin* twin) {
  stow_graph* graph = twin->graph;
  stow_allocator allocator = twin->allocator;
  twin->symbol_count = stow_dims_symbol_count(graph->dims);
  twin->type_count = graph->types.list.count;
  twin->element_count = graph->known.elements.count;
  twin->given = (const stow_type**)stowi_alloc(allocator, twin->type_count, sizeof(stow_type*));
  twin->bound = STOWI_ARRAY(allocator, stow_type, twin->type_count);
  twin->elements = STOWI_ARRAY(allocator, int64_t, twin->element_count);
  twin->point = STOWI_ARRAY(allocator, int64_t, twin->symbol_count);
  if (twin->given == NULL || twin->bound == NULL || twin->elements == NULL || twin->point == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < twin->type_count; ++i) {
    twin->given[i] = graph->types.list.data[i];
    twin->bound[i] = *twin->given[i];
  }
  if (twin->element_count != 0) {
    memcpy(twin->elements, graph->known.elements.data, twin->element_count * sizeof(int64_t));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Functions

// The twin of a function, which stays where it is.
static stow_status add_function(stowi_graph_twin* of, stow_graph* function) {
  stowi_graph_twin* twin = STOWI_NEW(of->allocator, stowi_graph_twin);
  if (twin == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  of->functions[of->function_count++] = twin;
  twin->allocator = of->allocator;
  twin->is_function = true;
  twin->graph = function;
  twin->symbol_count = stow_dims_symbol_count(function->dims);
  twin->symbols = STOWI_ARRAY(of->allocator, size_t, twin->symbol_count);
  if (twin->symbols == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < twin->symbol_count; ++i) {
    stow_str name = stow_dims_symbol_name(function->dims, i);
    twin->symbols[i] = i == 0 ? SIZE_MAX : stow_dims_find_symbol(of->graph->dims, name);
  }
  return fill(twin);
}

static stow_status add_functions(stowi_graph_twin* twin) {
  size_t count = twin->graph->functions.count;
  twin->functions =
      (stowi_graph_twin**)stowi_alloc(twin->allocator, count, sizeof(stowi_graph_twin*));
  if (twin->functions == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(add_function(twin, twin->graph->functions.data[i]));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

stow_status stowi_graph_twin_create(const stow_graph* graph, stow_allocator allocator,
                                    stow_diag* diag, stowi_graph_twin** out_twin) {
  *out_twin = NULL;
  stowi_graph_twin* twin = STOWI_NEW(allocator, stowi_graph_twin);
  STOW_TRY(stowi_need_memory(twin != NULL, diag));
  twin->allocator = allocator;
  stow_status status = stowi_graph_copy(graph, allocator, diag, &twin->graph);
  if (status == STOW_OK) {
    status = stowi_need_memory(fill(twin) == STOW_OK && add_functions(twin) == STOW_OK, diag);
  }
  if (status != STOW_OK) {
    stowi_graph_twin_destroy(twin);
    return status;
  }
  *out_twin = twin;
  return STOW_OK;
}

void stowi_graph_twin_destroy(stowi_graph_twin* twin) {
  if (twin == NULL) {
    return;
  }
  stow_allocator allocator = twin->allocator;
  for (size_t i = 0; i < twin->function_count; ++i) {
    stowi_graph_twin_destroy(twin->functions[i]);
  }
  if (twin->functions != NULL) {
    stowi_free(allocator, (void*)twin->functions, twin->graph->functions.count,
               sizeof(stowi_graph_twin*));
  }
  STOWI_ARRAY_FREE(allocator, twin->symbols, twin->symbol_count);
  STOWI_ARRAY_FREE(allocator, twin->point, twin->symbol_count);
  stowi_free(allocator, (void*)twin->given, twin->type_count, sizeof(stow_type*));
  STOWI_ARRAY_FREE(allocator, twin->bound, twin->type_count);
  STOWI_ARRAY_FREE(allocator, twin->elements, twin->element_count);
  if (!twin->is_function) {
    stow_graph_destroy(twin->graph);
  }
  STOWI_DELETE(allocator, twin);
}

stow_graph* stowi_graph_twin_graph(const stowi_graph_twin* twin) { return twin->graph; }

static stow_status bind_type(stowi_graph_twin* twin, size_t index, const int64_t* values) {
  const stow_type* given = twin->given[index];
  stow_type* bound = &twin->bound[index];
  for (uint32_t i = 0; i < given->rank; ++i) {
    bool is_rows = twin->is_function && given->dims[i] == STOWI_GRAPH_ROWS;
    if (!stow_dim_is_const(given->dims[i]) && !is_rows) {
      int64_t number;
      STOW_TRY(stow_dim_evaluate(twin->graph->dims, given->dims[i], values, &number));
      if (number < 0) {
        return STOW_ERR_TYPE;
      }
      bound->dims[i] = number;
    }
  }
  return STOW_OK;
}

static stow_status fail_type(const stowi_graph_twin* twin, size_t index, stow_status status,
                             stow_diag* diag) {
  stow_graph* graph = twin->graph;
  stow_value value = 0;
  while (value + 1 < graph->values.count && graph->value_types.data[value] != index) {
    ++value;
  }
  stowi_fail(diag, status, "%s : %s cannot be bound: %s",
             stowi_graph_describe_value(graph, value).text,
             stowi_graph_describe_type(graph, twin->given[index]).text,
             status == STOW_ERR_TYPE ? "a dim would be negative or divide by zero"
                                     : stow_status_text(status));
  stowi_diag_value(diag, value);
  return status;
}

// An element whose number cannot be computed is unknown.
static stow_status bind_element(stowi_graph_twin* twin, size_t index, const int64_t* values) {
  stow_dims* dims = twin->graph->dims;
  int64_t given = twin->elements[index];
  int64_t number;
  if (given == STOWI_GRAPH_UNKNOWN || stow_dim_is_const(given)) {
    return STOW_OK;
  }
  stow_dim bound = STOWI_GRAPH_UNKNOWN;
  if (stow_dim_evaluate(dims, given, values, &number) == STOW_OK) {
    bound = stow_dim_of_int(dims, number);
    if (bound == STOW_DIM_INVALID) {
      stow_status status = stow_dims_status(dims);
      stow_dims_clear_status(dims);
      return status;
    }
  }
  twin->graph->known.elements.data[index] = bound;
  return STOW_OK;
}

static stow_status bind_known(stowi_graph_twin* twin, const int64_t* values) {
  const stow_graph* graph = twin->graph;
  for (size_t i = 0; i < graph->known.entries.count; ++i) {
    const stowi_graph_known_entry* entry = &graph->known.entries.data[i];
    stow_dtype dtype = stow_graph_type(graph, entry->value)->dtype;
    bool is_float = stow_dtype_kind_of(dtype) == STOW_KIND_FLOAT;
    for (size_t k = entry->first; k < entry->first + entry->count; ++k) {
      bool is_dim = !is_float || graph->known.exactness.data[k] == STOWI_GRAPH_FLOAT_DIM;
      STOW_TRY(is_dim ? bind_element(twin, k, values) : STOW_OK);
    }
  }
  return STOW_OK;
}

static stow_status bind_function(stowi_graph_twin* twin, const int64_t* values, stow_diag* diag) {
  for (size_t i = 0; i < twin->symbol_count; ++i) {
    twin->point[i] = twin->symbols[i] == SIZE_MAX ? 0 : values[twin->symbols[i]];
  }
  return stowi_graph_twin_bind(twin, twin->point, diag);
}

stow_status stowi_graph_twin_bind(stowi_graph_twin* twin, const int64_t* values, stow_diag* diag) {
  if (twin->symbol_count != 0) {
    memmove(twin->point, values, twin->symbol_count * sizeof(int64_t));
  }
  twin->graph->point = twin->point;
  for (size_t i = 0; i < twin->function_count; ++i) {
    STOW_TRY(bind_function(twin->functions[i], values, diag));
  }
  for (size_t i = 0; i < twin->type_count; ++i) {
    stow_status status = bind_type(twin, i, values);
    if (status != STOW_OK) {
      return fail_type(twin, i, status, diag);
    }
    twin->graph->types.list.data[i] = &twin->bound[i];
  }
  return stowi_need_memory(bind_known(twin, values) == STOW_OK, diag);
}

const int64_t* stowi_graph_twin_point(const stow_graph* graph) { return graph->point; }

void stowi_graph_twin_name(stowi_graph_twin* twin, stowi_graph_twin_namer name, void* user) {
  for (size_t i = 0; i < twin->function_count; ++i) {
    stowi_graph_twin_name(twin->functions[i], name, user);
  }
  for (size_t i = 0; i < twin->type_count; ++i) {
    name(user, twin->bound[i].dims, twin->bound[i].rank * sizeof(twin->bound[i].dims[0]));
  }
  name(user, twin->point, twin->symbol_count * sizeof(twin->point[0]));
  name(user, twin->graph->known.elements.data, twin->element_count * sizeof(twin->elements[0]));
}

void stowi_graph_twin_unbind(stowi_graph_twin* twin) {
  twin->graph->point = NULL;
  for (size_t i = 0; i < twin->function_count; ++i) {
    stowi_graph_twin_unbind(twin->functions[i]);
  }
  for (size_t i = 0; i < twin->type_count; ++i) {
    twin->graph->types.list.data[i] = twin->given[i];
  }
  if (twin->element_count != 0) {
    memcpy(twin->graph->known.elements.data, twin->elements, twin->element_count * sizeof(int64_t));
  }
}

// A twin is a copy whose table of types points to types of its own. Binding overwrites them, and
// the known elements; numbers of types, and so everything else, stay as they are. Two types that
// are different as expressions may become equal: nothing depends on their numbers being different.
#include "graph/twin.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "graph/api.h"
#include "graph/known.h"

// A graph, or a function of it.
typedef struct layer {
  stow_graph* graph;
  size_t type_count;
  const stow_type** given;  // the types with symbols
  stow_type* bound;
  size_t element_count;
  int64_t* elements;  // known elements with symbols; floats as they are
  size_t symbol_count;
  int64_t* values;  // of its symbols
} layer;

struct stowi_graph_twin {
  stow_allocator allocator;
  layer* layers;  // the graph and its functions
  size_t layer_count;
};

static stow_status fill(layer* l, stow_graph* graph, stow_allocator allocator) {
  l->graph = graph;
  l->type_count = graph->types.list.count;
  l->element_count = graph->known.elements.count;
  l->symbol_count = stow_dims_symbol_count(graph->dims);
  l->given = (const stow_type**)stowi_alloc(allocator, l->type_count, sizeof(stow_type*));
  l->bound = STOWI_ARRAY(allocator, stow_type, l->type_count);
  l->elements = STOWI_ARRAY(allocator, int64_t, l->element_count);
  l->values = STOWI_ARRAY_ZERO(allocator, int64_t, l->symbol_count);
  if (l->given == NULL || l->bound == NULL || l->elements == NULL || l->values == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < l->type_count; ++i) {
    l->given[i] = graph->types.list.data[i];
    l->bound[i] = *l->given[i];
  }
  if (l->element_count != 0) {
    memcpy(l->elements, graph->known.elements.data, l->element_count * sizeof(int64_t));
  }
  return STOW_OK;
}

static void free_layer(layer* l, stow_allocator allocator) {
  stowi_free(allocator, (void*)l->given, l->type_count, sizeof(stow_type*));
  STOWI_ARRAY_FREE(allocator, l->bound, l->type_count);
  STOWI_ARRAY_FREE(allocator, l->elements, l->element_count);
  STOWI_ARRAY_FREE(allocator, l->values, l->symbol_count);
}

static stow_status fill_all(stowi_graph_twin* twin, stow_graph* graph) {
  size_t count = 1 + graph->functions.count;
  twin->layers = STOWI_ARRAY_ZERO(twin->allocator, layer, count);
  if (twin->layers == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  twin->layer_count = count;
  STOW_TRY(fill(&twin->layers[0], graph, twin->allocator));
  for (size_t i = 1; i < count; ++i) {
    STOW_TRY(fill(&twin->layers[i], graph->functions.data[i - 1], twin->allocator));
  }
  return STOW_OK;
}

stow_status stowi_graph_twin_create(const stow_graph* graph, stow_allocator allocator,
                                    stow_diag* diag, stowi_graph_twin** out_twin) {
  *out_twin = NULL;
  stow_graph* copy = NULL;
  stowi_graph_twin* twin = STOWI_NEW(allocator, stowi_graph_twin);
  STOW_TRY(stowi_need_memory(twin != NULL, diag));
  twin->allocator = allocator;
  stow_status status = stowi_graph_copy(graph, allocator, diag, &copy);
  if (status == STOW_OK) {
    status = stowi_need_memory(fill_all(twin, copy) == STOW_OK, diag);
    if (twin->layer_count == 0) {
      stow_graph_destroy(copy);
    }
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
  stow_graph* graph = twin->layer_count == 0 ? NULL : twin->layers[0].graph;
  for (size_t i = 0; i < twin->layer_count; ++i) {
    free_layer(&twin->layers[i], allocator);
  }
  STOWI_ARRAY_FREE(allocator, twin->layers, twin->layer_count);
  stow_graph_destroy(graph);
  STOWI_DELETE(allocator, twin);
}

stow_graph* stowi_graph_twin_graph(const stowi_graph_twin* twin) { return twin->layers[0].graph; }

// The rows of a function, which no other dim of it depends on, have no number.
static stow_status bind_type(layer* l, bool has_rows, size_t index) {
  const stow_type* given = l->given[index];
  stow_type* bound = &l->bound[index];
  for (uint32_t i = 0; i < given->rank; ++i) {
    if (!stow_dim_is_const(given->dims[i]) && !(has_rows && given->dims[i] == STOWI_GRAPH_ROWS)) {
      int64_t number;
      STOW_TRY(stow_dim_evaluate(l->graph->dims, given->dims[i], l->values, &number));
      if (number < 0) {
        return STOW_ERR_TYPE;
      }
      bound->dims[i] = number;
    }
  }
  return STOW_OK;
}

static stow_status fail_type(const layer* l, size_t index, stow_status status, stow_diag* diag) {
  stow_graph* graph = l->graph;
  stow_value value = 0;
  while (value + 1 < graph->values.count && graph->value_types.data[value] != index) {
    ++value;
  }
  stowi_fail(diag, status, "%s : %s cannot be bound: %s",
             stowi_graph_describe_value(graph, value).text,
             stowi_graph_describe_type(graph, l->given[index]).text,
             status == STOW_ERR_TYPE ? "a dim would be negative or divide by zero"
                                     : stow_status_text(status));
  stowi_diag_value(diag, value);
  return status;
}

// An element whose number cannot be computed is unknown.
static stow_status bind_element(layer* l, size_t index) {
  stow_dims* dims = l->graph->dims;
  int64_t given = l->elements[index];
  int64_t number;
  if (given == STOWI_GRAPH_UNKNOWN || stow_dim_is_const(given)) {
    return STOW_OK;
  }
  stow_dim bound = STOWI_GRAPH_UNKNOWN;
  if (stow_dim_evaluate(dims, given, l->values, &number) == STOW_OK) {
    bound = stow_dim_of_int(dims, number);
    if (bound == STOW_DIM_INVALID) {
      stow_status status = stow_dims_status(dims);
      stow_dims_clear_status(dims);
      return status;
    }
  }
  l->graph->known.elements.data[index] = bound;
  return STOW_OK;
}

static stow_status bind_known(layer* l) {
  const stow_graph* graph = l->graph;
  for (size_t i = 0; i < graph->known.entries.count; ++i) {
    const stowi_graph_known_entry* entry = &graph->known.entries.data[i];
    stow_dtype dtype = stow_graph_type(graph, entry->value)->dtype;
    if (stow_dtype_kind_of(dtype) == STOW_KIND_FLOAT) {
      continue;
    }
    for (size_t k = 0; k < entry->count; ++k) {
      STOW_TRY(bind_element(l, entry->first + k));
    }
  }
  return STOW_OK;
}

static stow_status bind_layer(layer* l, bool has_rows, stow_diag* diag) {
  for (size_t i = 0; i < l->type_count; ++i) {
    stow_status status = bind_type(l, has_rows, i);
    if (status != STOW_OK) {
      return fail_type(l, i, status, diag);
    }
    l->graph->types.list.data[i] = &l->bound[i];
  }
  return stowi_need_memory(bind_known(l) == STOW_OK, diag);
}

// Symbols of a function, but for its rows, are those of the graph with the same names.
static void find_values(const stowi_graph_twin* twin, layer* l, const int64_t* values) {
  for (size_t i = 0; i < l->symbol_count; ++i) {
    size_t symbol = l == twin->layers
                        ? i
                        : stow_dims_find_symbol(twin->layers[0].graph->dims,
                                                stow_dims_symbol_name(l->graph->dims, i));
    l->values[i] = symbol == SIZE_MAX ? 0 : values[symbol];
  }
}

stow_status stowi_graph_twin_bind(stowi_graph_twin* twin, const int64_t* values, stow_diag* diag) {
  for (size_t i = 0; i < twin->layer_count; ++i) {
    find_values(twin, &twin->layers[i], values);
    STOW_TRY(bind_layer(&twin->layers[i], i != 0, diag));
  }
  return STOW_OK;
}

void stowi_graph_twin_unbind(stowi_graph_twin* twin) {
  for (size_t i = 0; i < twin->layer_count; ++i) {
    layer* l = &twin->layers[i];
    for (size_t k = 0; k < l->type_count; ++k) {
      l->graph->types.list.data[k] = l->given[k];
    }
    if (l->element_count != 0) {
      memcpy(l->graph->known.elements.data, l->elements, l->element_count * sizeof(int64_t));
    }
  }
}

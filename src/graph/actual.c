// Types of results while a graph runs: runs the op's shape function again with the operands' actual
// types and elements. Upper bounds are now numbers, so that upper-bounded dims become exact; dims
// that only the op itself can compute (`nonzero`) stay as the graph has them.
//
// A run must not allocate, nor change a graph that threads may share, but shape functions make dims
// (a negative number is a table entry). They get their own table here, made in the caller's memory
// by a bump allocator and dropped at the end.
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "graph/dims/dims.h"
#include "graph/shapes/call.h"

typedef struct stretch {
  unsigned char* next;
  size_t left;
} stretch;

static void* take(stretch* memory, size_t size, size_t alignment) {
  size_t padding = (size_t)(-(uintptr_t)memory->next & (alignment - 1));
  if (padding > memory->left || size > memory->left - padding) {
    return NULL;
  }
  void* block = memory->next + padding;
  memory->next += padding + size;
  memory->left -= padding + size;
  return block;
}

static void* reallocate(void* user, void* old, size_t old_size, size_t new_size, size_t alignment) {
  if (new_size == 0) {
    return NULL;
  }
  void* block = take((stretch*)user, new_size, alignment);
  if (block != NULL && old != NULL) {
    memcpy(block, old, old_size < new_size ? old_size : new_size);
  }
  return block;
}

// A dim that is not a number depends on data that only the op computes.
static stow_status settle(const stow_shape_call* call, size_t k, stow_type* type, stow_diag* diag) {
  const stow_type* largest = stow_shape_declared(call, k);
  if (type->dtype != largest->dtype || type->rank != largest->rank) {
    return stowi_fail(diag, STOW_ERR_TYPE, "%s: result %zu differs from the plan in dtype or rank",
                      call->desc->name, k);
  }
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stow_dim_is_const(type->dims[i])) {
      type->dims[i] = largest->dims[i];
    }
    bool is_bounded = stow_graph_is_bounded_dim(call->graph, call->made + (stow_value)k, i);
    bool is_above = type->dims[i] > largest->dims[i];
    if (is_above || (!is_bounded && type->dims[i] != largest->dims[i])) {
      return stowi_fail(
          diag, STOW_ERR_TYPE, "%s: dim %" PRIu32 " of result %zu is %" PRId64 ", %s %" PRId64,
          call->desc->name, i, k, type->dims[i],
          is_above ? "above the planned maximum" : "planned as exactly", largest->dims[i]);
    }
  }
  return STOW_OK;
}

stow_status stow_graph_infer_actual(const stow_graph* graph, stow_node node,
                                    const stow_type* const* types, const void* const* data,
                                    void* memory, size_t memory_size, stow_diag* diag,
                                    stow_type* out_types) {
  stretch free_memory = {(unsigned char*)memory, memory_size};
  size_t count = stow_graph_result_count(graph, node);
  stow_dims* dims = stowi_graph_dims_create((stow_allocator){reallocate, &free_memory});
  stowi_graph_marks* marks = (stowi_graph_marks*)take(
      &free_memory, count * sizeof(stowi_graph_marks), _Alignof(stowi_graph_marks));
  STOW_TRY(stowi_need_memory(dims != NULL && marks != NULL, diag));
  stowi_graph_actual actual = {types, data};
  stow_shape_call call = stowi_graph_shape_of_node(graph, graph->value_types.data, &graph->known,
                                                   node, out_types, marks);
  call.dims = dims;
  call.actual = &actual;
  STOW_TRY(stowi_graph_shape_infer(&call, false, diag));
  for (size_t k = 0; k < count; ++k) {
    STOW_TRY(settle(&call, k, &out_types[k], diag));
  }
  return STOW_OK;
}

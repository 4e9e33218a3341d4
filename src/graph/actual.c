// Types of results while a graph runs: the op's shape function once more, with the operands' actual
// types and elements. What was only known as a bound is a number now, so that bounded dims become
// exact; dims that only the op itself can tell (`nonzero`) stay what the graph has.
//
// A run must not allocate, nor change a graph that threads may share, but shape functions make dims
// (a negative number is an entry of a table). They get a table of their own here, made in the
// caller's memory by an allocator that only ever moves forward, and forgotten at the end.
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

// A dim that is no number is one that only the op can tell.
static stow_status settle(const stow_shape_call* call, size_t k, stow_type* type, stow_diag* diag) {
  const stow_type* largest = stow_shape_declared(call, k);
  if (type->dtype != largest->dtype || type->rank != largest->rank) {
    return stowi_fail(diag, STOW_ERR_TYPE, "%s: result %zu has another dtype or rank than planned",
                      call->desc->name, k);
  }
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stow_dim_is_const(type->dims[i])) {
      type->dims[i] = largest->dims[i];
    }
    if (type->dims[i] > largest->dims[i]) {
      return stowi_fail(diag, STOW_ERR_TYPE,
                        "%s: dim %" PRIu32 " of result %zu is %" PRId64 "; at most %" PRId64
                        " was planned",
                        call->desc->name, i, k, type->dims[i], largest->dims[i]);
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
  stow_dims* dims = stowi_dims_create((stow_allocator){reallocate, &free_memory});
  uint8_t* marks = (uint8_t*)take(&free_memory, count, 1);
  if (dims == NULL || marks == NULL) {
    return stowi_fail_memory(diag);
  }
  stowi_actual actual = {types, data};
  stow_shape_call call =
      stowi_shape_of_node(graph, graph->value_types.data, &graph->known, node, out_types, marks);
  call.dims = dims;
  call.actual = &actual;
  STOW_TRY(stowi_shape_infer(&call, false, diag));
  for (size_t k = 0; k < count; ++k) {
    STOW_TRY(settle(&call, k, &out_types[k], diag));
  }
  return STOW_OK;
}

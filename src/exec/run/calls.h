// What kernels are given, for all nodes of a graph: a tensor for each value, and a call for each
// node whose operands and results point at them.
#ifndef STOWAGE_SRC_EXEC_RUN_CALLS_H_
#define STOWAGE_SRC_EXEC_RUN_CALLS_H_

#include <stowage/graph.h>
#include <stowage/kernel.h>

typedef struct stowi_exec_calls {
  stow_allocator allocator;
  uint32_t value_count;
  uint32_t node_count;
  size_t operand_count;  // of all nodes
  size_t attr_count;
  stow_tensor* tensors;          // by value
  stow_tensor** results;         // by value
  const stow_tensor** operands;  // node after node
  stow_attr* attrs;              // node after node, defaults included
  stow_kernel_call* calls;       // by node
} stowi_exec_calls;

// Where tensors without elements and scratch of no bytes are, so that kernels may add to pointers.
// Never written.
extern unsigned char stowi_exec_nothing[64];

// All dims of |graph| are numbers: tensors have the largest dims, and no data. Calls have
// scratch of no bytes and one worker. Freed also after a failure.
stow_status stowi_exec_calls_init(stowi_exec_calls* calls, const stow_graph* graph,
                                  stow_allocator allocator, stow_diag* diag);
void stowi_exec_calls_free(stowi_exec_calls* calls);

// A tensor of |type|, whose dims are numbers, without data.
stow_tensor stowi_exec_tensor_of(const stow_type* type);
stow_type stowi_exec_type_of(const stow_tensor* tensor);
// What data of |dtype| must be aligned to: 1 to 8.
size_t stowi_exec_dtype_alignment(stow_dtype dtype);

// `%7 "name"`, and `node 12 "name" (gather)`, named by its first result where that has a name.
typedef struct stowi_exec_words {
  char text[256];
} stowi_exec_words;
stowi_exec_words stowi_exec_words_value(const stow_graph* graph, stow_value value);
stowi_exec_words stowi_exec_words_node(const stow_graph* graph, stow_node node);
// `f32[2, 3]`
stowi_exec_words stowi_exec_words_tensor(const stow_tensor* tensor);

#endif  // STOWAGE_SRC_EXEC_RUN_CALLS_H_

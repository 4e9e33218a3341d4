// Programs: graphs made ready to run. A program stands between graph and plan: what a graph says by
// names, rows of ops and nested regions it says in flat tables of plain data, found once. The
// executor interprets it, `stowage export` prints it.
//
//     graph ─ stowi_exec_program_init ─▶ values, steps        before the plan; prepare.c adds
//     kernels
//      plan ─ stowi_exec_code_init ────▶ code, scratch        in the plan's order (code.h)
#ifndef STOWAGE_SRC_EXEC_PROGRAM_PROGRAM_H_
#define STOWAGE_SRC_EXEC_PROGRAM_PROGRAM_H_

#include <stowage/graph.h>
#include <stowage/kernel.h>

// A tensor of the program: a value of the graph.
typedef struct stowi_exec_value {
  const stow_type* type;  // the graph's, with the largest dims
  uint64_t bytes;         // with these
  // A view is |distance| bytes into |parent|, where a plan lets it; STOW_VALUE_NONE: it is none.
  stow_value parent;
  uint64_t distance;
  // If dims change: an earlier value that always has as many bytes; STOW_VALUE_NONE: there is none.
  stow_value like;
  // Of a weight that is packed: what it takes, and where it is among all that are.
  uint64_t packed_bytes;  // 0: it is not
  uint64_t packed_at;
  bool is_boundary : 1;
  bool is_input : 1;
  bool is_output : 1;
  bool may_be_view : 1;      // at some dims
  bool is_steady : 1;        // dims stay when those of others change, and it cannot be a view
  bool is_bounded : 1;       // dims may be smaller in a run
  bool needs_alignment : 1;  // a reader needs its data aligned, or it is an output
} stowi_exec_value;

// Variants of a kernel that are considered, the fastest first; the last of them is the kernel's.
#define STOWI_EXEC_MOST_PRICES 4

// What a variant of a kernel costs.
typedef struct stowi_exec_price {
  uint32_t variant;
  uint64_t scratch;  // bytes, not more than those of faster ones
} stowi_exec_price;

// What a node computes with.
typedef struct stowi_exec_step {
  stow_kernel kernel;  // |run| is NULL: it has none, and the code says what happens
  stow_op op;
  const stow_value* operands;  // the graph's; STOW_VALUE_NONE: absent
  size_t operand_count;
  stow_value first_result;  // the others follow
  size_t result_count;
  const stow_attr* attrs;    // as given, then defaults of the others
  const uint16_t* attr_ids;  // stowi_kernel_attr_id of each
  size_t attr_count;
  // Of the node's pieces of scratch, the one that was asked for here; SIZE_MAX: none. It is what
  // the last of the prices needs, and all others are offers.
  size_t scratch_index;
  stowi_exec_price prices[STOWI_EXEC_MOST_PRICES];
  uint32_t price_count;  // 0 without a kernel
  uint64_t packed;       // bit k: operand k is
  uint32_t seed;         // that its random numbers begin at: the node, unless a clause says so
  bool is_bounded;       // dims of its results are computed again in each run
  bool is_steady;        // all its values are
  // If dims change: an earlier step that always has the same dims, views and prices as this one;
  // STOW_NODE_NONE: there is none.
  stow_node like;
} stowi_exec_step;

typedef struct stowi_exec_program {
  stow_allocator allocator;
  const stow_graph* graph;  // borrowed
  uint32_t value_count;
  uint32_t node_count;
  size_t attr_count;
  size_t most_operands;  // of a step
  size_t most_results;
  uint64_t packed_size;      // bytes of all weights that are packed, each aligned
  stowi_exec_value* values;  // by value
  stowi_exec_step* steps;    // by node
  stow_attr* attrs;          // of all steps
  uint16_t* attr_ids;
} stowi_exec_program;

// |graph| is verified and all its dims are numbers. Steps have neither kernels nor scratch. O(nodes
// + operands + attributes). Freed also after a failure.
stow_status stowi_exec_program_init(stowi_exec_program* program, const stow_graph* graph,
                                    stow_allocator allocator, stow_diag* diag);
void stowi_exec_program_free(stowi_exec_program* program);
// Notes what stays when the graph, which is a twin of |source|, is bound to other numbers.
void stowi_exec_program_find_steady(stowi_exec_program* program, const stow_graph* source);
// Finds bytes and views of all other values again, after that. Allocates nothing.
stow_status stowi_exec_program_measure(stowi_exec_program* program, stow_diag* diag);

// The fastest variant that needs at most |bytes| of scratch; UINT32_MAX if none does.
uint32_t stowi_exec_variant_within(const stowi_exec_step* step, uint64_t bytes);

// Whether |node| computes with data-dependent dims: a value that it reads or makes is bounded, or
// its dims depend on data.
bool stowi_exec_is_bounded(const stow_graph* graph, stow_node node);

#endif  // STOWAGE_SRC_EXEC_PROGRAM_PROGRAM_H_

// Ensembles of decision trees, made ready for walking in scratch.
#ifndef STOWAGE_SRC_EXEC_KERNELS_CLASSIC_TREES_H_
#define STOWAGE_SRC_EXEC_KERNELS_CLASSIC_TREES_H_

#include <stowage/kernel.h>

#include "exec/kernels/classic/lists.h"
#include "exec/kernels/classic/order.h"

typedef enum stowi_kernel_branch {
  STOWI_KERNEL_BRANCH_LEQ,  // in the order of TreeEnsemble's numbers for them
  STOWI_KERNEL_BRANCH_LT,
  STOWI_KERNEL_BRANCH_GTE,
  STOWI_KERNEL_BRANCH_GT,
  STOWI_KERNEL_BRANCH_EQ,
  STOWI_KERNEL_BRANCH_NEQ,
  STOWI_KERNEL_BRANCH_MEMBER,
  STOWI_KERNEL_LEAF
} stowi_kernel_branch;

typedef struct stowi_kernel_tree_node {
  double value;  // what is compared with
  size_t yes;    // nodes, or of a leaf its first weight and how many there are
  size_t no;
  size_t feature;  // of a MEMBER node: |value| is where its members begin
  stowi_kernel_branch mode;
  bool takes_missing;  // NaN goes to |yes|
} stowi_kernel_tree_node;

typedef enum stowi_kernel_aggregate {
  STOWI_KERNEL_AGGREGATE_AVERAGE,
  STOWI_KERNEL_AGGREGATE_SUM,
  STOWI_KERNEL_AGGREGATE_MIN,
  STOWI_KERNEL_AGGREGATE_MAX
} stowi_kernel_aggregate;

typedef struct stowi_kernel_trees {
  const stow_tensor* x;
  size_t features;
  size_t outputs;  // targets or classes
  stowi_kernel_aggregate aggregate;
  size_t node_count;
  stowi_kernel_tree_node* nodes;
  size_t root_count;
  size_t* roots;
  size_t weight_count;
  stowi_kernel_entry* weights;  // |minor| is the output, |index| the place in the lists
  stowi_kernel_list weight_values;
  stowi_kernel_list members;
  stowi_kernel_list base;
  bool* is_lost;   // by worker: a walk came to no leaf
  double* scores;  // by worker, |outputs| each
} stowi_kernel_trees;

// Tables of the kinds `trees` of classifier and regressor: what comes at leaves is for classes
// or for targets. And those of tree_ensemble.
stow_status stowi_kernel_trees_scratch(const stow_kernel_call* call, bool is_classes,
                                       size_t outputs, uint64_t* out_bytes);
stow_status stowi_kernel_trees_prepare(const stow_kernel_call* call, bool is_classes,
                                       size_t outputs, stowi_kernel_trees* trees);
stow_status stowi_kernel_ensemble_scratch(const stow_kernel_call* call, size_t outputs,
                                          uint64_t* out_bytes);
stow_status stowi_kernel_ensemble_prepare(const stow_kernel_call* call, size_t outputs,
                                          stowi_kernel_trees* trees);

#endif  // STOWAGE_SRC_EXEC_KERNELS_CLASSIC_TREES_H_

// Ensembles of decision trees, made ready for walking in scratch.
#ifndef STOWAGE_SRC_EXEC_KERNELS_CLASSIC_TREES_H_
#define STOWAGE_SRC_EXEC_KERNELS_CLASSIC_TREES_H_

#include <stowage/kernel.h>

#include "exec/kernels/classic/lists.h"
#include "exec/kernels/classic/order.h"

typedef enum stowi_branch {
  STOWI_BRANCH_LEQ,  // in the order of TreeEnsemble's numbers for them
  STOWI_BRANCH_LT,
  STOWI_BRANCH_GTE,
  STOWI_BRANCH_GT,
  STOWI_BRANCH_EQ,
  STOWI_BRANCH_NEQ,
  STOWI_BRANCH_MEMBER,
  STOWI_LEAF
} stowi_branch;

typedef struct stowi_tree_node {
  double value;  // what is compared with
  size_t yes;    // nodes, or of a leaf its first weight and how many there are
  size_t no;
  size_t feature;  // of a MEMBER node: |value| is where its members begin
  stowi_branch mode;
  bool takes_missing;  // NaN goes to |yes|
} stowi_tree_node;

typedef enum stowi_aggregate {
  STOWI_AGGREGATE_AVERAGE,
  STOWI_AGGREGATE_SUM,
  STOWI_AGGREGATE_MIN,
  STOWI_AGGREGATE_MAX
} stowi_aggregate;

typedef struct stowi_trees {
  const stow_tensor* x;
  size_t features;
  size_t outputs;  // targets or classes
  stowi_aggregate aggregate;
  size_t node_count;
  stowi_tree_node* nodes;
  size_t root_count;
  size_t* roots;
  size_t weight_count;
  stowi_entry* weights;  // |minor| is the output, |index| the place in the lists
  stowi_list weight_values;
  stowi_list members;
  stowi_list base;
  bool* is_lost;   // by worker: a walk came to no leaf
  double* scores;  // by worker, |outputs| each
} stowi_trees;

// Tables of the kinds `trees` of classifier and regressor: what comes at leaves is for classes
// or for targets. And those of tree_ensemble.
stow_status stowi_trees_scratch(const stow_kernel_call* call, bool is_classes, size_t outputs,
                                uint64_t* out_bytes);
stow_status stowi_trees_prepare(const stow_kernel_call* call, bool is_classes, size_t outputs,
                                stowi_trees* trees);
stow_status stowi_ensemble_scratch(const stow_kernel_call* call, size_t outputs,
                                   uint64_t* out_bytes);
stow_status stowi_ensemble_prepare(const stow_kernel_call* call, size_t outputs,
                                   stowi_trees* trees);

#endif  // STOWAGE_SRC_EXEC_KERNELS_CLASSIC_TREES_H_

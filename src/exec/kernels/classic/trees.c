// Tree ensembles: evaluating trees, and the models built from them.
#include "exec/kernels/classic/trees.h"

#include <math.h>

#include "exec/kernels/classic/models.h"
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// Evaluating trees. For each row every tree is followed from its root to a leaf, whose weights are
// added to the outputs it names: O(trees × depth) per row. A path longer than the number of nodes
// is a cycle; the worker records it, and the call fails.

static bool is_member(const stowi_kernel_trees* t, size_t first, double x) {
  for (size_t i = first; i < t->members.count; ++i) {
    double member = stowi_kernel_list_real(&t->members, i);
    if (isnan(member)) {
      return false;
    }
    if (member == x) {
      return true;
    }
  }
  return false;
}

static bool is_yes(const stowi_kernel_trees* t, const stowi_kernel_tree_node* node, double x) {
  switch (node->mode) {
    case STOWI_KERNEL_BRANCH_LEQ: return x <= node->value;
    case STOWI_KERNEL_BRANCH_LT: return x < node->value;
    case STOWI_KERNEL_BRANCH_GTE: return x >= node->value;
    case STOWI_KERNEL_BRANCH_GT: return x > node->value;
    case STOWI_KERNEL_BRANCH_EQ: return x == node->value;
    case STOWI_KERNEL_BRANCH_NEQ: return x != node->value;
    case STOWI_KERNEL_BRANCH_MEMBER: return is_member(t, (size_t)node->value, x);
    case STOWI_KERNEL_LEAF: break;
  }
  return false;
}

// NULL where no leaf is reached.
static const stowi_kernel_tree_node* find_leaf(const stowi_kernel_trees* t, size_t root,
                                               size_t row) {
  const stowi_kernel_tree_node* node = &t->nodes[root];
  for (size_t steps = 0; node->mode != STOWI_KERNEL_LEAF; ++steps) {
    if (steps > t->node_count) {
      return NULL;
    }
    double x = stowi_kernel_float_at(t->x, row * t->features + node->feature);
    bool yes = is_yes(t, node, x) || (node->takes_missing && isnan(x));
    node = &t->nodes[yes ? node->yes : node->no];
  }
  return node;
}

static void take(const stowi_kernel_trees* t, double* score, double weight) {
  if (t->aggregate == STOWI_KERNEL_AGGREGATE_MIN) {
    *score = weight < *score ? weight : *score;
  } else if (t->aggregate == STOWI_KERNEL_AGGREGATE_MAX) {
    *score = weight > *score ? weight : *score;
  } else {
    *score += weight;
  }
}

// What no leaf has given anything to: 0.
static double first_score(const stowi_kernel_trees* t) {
  if (t->aggregate == STOWI_KERNEL_AGGREGATE_MIN) {
    return (double)INFINITY;
  }
  return t->aggregate == STOWI_KERNEL_AGGREGATE_MAX ? -(double)INFINITY : 0;
}

static double last_score(const stowi_kernel_trees* t, double score, size_t k) {
  score = isinf(score) && score == first_score(t) ? 0 : score;
  if (t->aggregate == STOWI_KERNEL_AGGREGATE_AVERAGE && t->root_count != 0) {
    score /= (double)t->root_count;
  }
  if (t->base.count == 0) {
    return score;
  }
  return k < t->base.count ? score + stowi_kernel_list_real(&t->base, k) : score;
}

// Scores of row |row|, base values among them; |worker|'s own until its next call.
static double* trees_score(const stowi_kernel_trees* t, size_t row, uint32_t worker) {
  double* scores = t->scores + worker * t->outputs;
  for (size_t k = 0; k < t->outputs; ++k) {
    scores[k] = first_score(t);
  }
  for (size_t r = 0; r < t->root_count; ++r) {
    const stowi_kernel_tree_node* leaf = find_leaf(t, t->roots[r], row);
    if (leaf == NULL) {
      t->is_lost[worker] = true;
      break;
    }
    for (size_t i = leaf->yes; i < leaf->yes + leaf->no; ++i) {
      const stowi_kernel_entry* weight = &t->weights[i];
      take(t, &scores[weight->minor], stowi_kernel_list_real(&t->weight_values, weight->index));
    }
  }
  for (size_t k = 0; k < t->outputs; ++k) {
    scores[k] = last_score(t, scores[k], k);
  }
  return scores;
}

// ---------------------------------------------------------------------------------------------
// Models: classifier, regressor and tree_ensemble. Labels and binary scores follow onnxruntime: a
// single score for two classes is the second class's, compared with 0, or with 0.5 if all weights
// are positive.

typedef struct job {
  stowi_kernel_trees trees;
  stowi_kernel_transform transform;
  stowi_kernel_list labels;
  const stow_tensor* out;
  int64_t* out_labels;
  size_t columns;
  bool is_binary;    // one class alone has weights, of two or one
  size_t its_class;  // that one
  bool is_positive;  // all weights are
} job;

static size_t columns_of(const stow_tensor* scores) {
  return stowi_kernel_table_of(scores).columns;
}

// ---------------------------------------------------------------------------------------------
// Targets

static void targets_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  for (size_t r = begin; r < end; ++r) {
    double* scores = trees_score(&j->trees, r, worker);
    stowi_kernel_transform_scores(j->transform, scores, j->columns);
    stowi_kernel_store_f64(j->out->dtype, j->out->data, r * j->columns, j->columns, scores);
  }
}

static stow_status run_rows(const stow_kernel_call* call, job* j, stow_split_task task) {
  size_t rows = stowi_kernel_table_of(j->trees.x).rows;
  stow_kernel_split(call, rows, stowi_kernel_grain_of(j->trees.root_count * 16), task, j);
  // After all rows: an error where a walk did not end at a leaf.
  for (uint32_t w = 0; w < call->workers; ++w) {
    if (j->trees.is_lost[w]) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "a tree has a cycle");
    }
  }
  return STOW_OK;
}

stow_status stowi_kernel_tree_targets_scratch(const stow_kernel_call* call, uint64_t* out_bytes) {
  return stowi_kernel_trees_scratch(call, false, columns_of(call->results[0]), out_bytes);
}

stow_status stowi_kernel_trees_regress(stow_kernel_call* call) {
  job j = {.out = call->results[0], .columns = columns_of(call->results[0])};
  STOWI_KERNEL_TRY(stowi_kernel_transform_of(call, &j.transform));
  STOWI_KERNEL_TRY(stowi_kernel_trees_prepare(call, false, j.columns, &j.trees));
  return run_rows(call, &j, targets_task);
}

static stow_status scratch_ensemble(const stow_kernel_call* call, uint64_t* out_bytes) {
  return stowi_kernel_ensemble_scratch(call, columns_of(call->results[0]), out_bytes);
}

static stow_status run_ensemble(stow_kernel_call* call) {
  job j = {.out = call->results[0], .columns = columns_of(call->results[0])};
  STOWI_KERNEL_TRY(stowi_kernel_transform_of(call, &j.transform));
  STOWI_KERNEL_TRY(stowi_kernel_ensemble_prepare(call, j.columns, &j.trees));
  return run_rows(call, &j, targets_task);
}

STOWI_KERNEL(TREE_ENSEMBLE, scratch_ensemble, run_ensemble);

// ---------------------------------------------------------------------------------------------
// Classes

static int64_t label_of(const job* j, size_t i) {
  return i < j->labels.count ? stowi_kernel_list_int(&j->labels, i) : (int64_t)i;
}

static void classes_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  for (size_t r = begin; r < end; ++r) {
    double* scores = trees_score(&j->trees, r, worker);
    if (j->is_binary) {
      // One score that counts. A single class is told from none: 1 or 0.
      double score = scores[j->its_class];
      bool is_yes = score > (j->is_positive ? 0.5 : 0);
      j->out_labels[r] = j->columns == 1 ? (int64_t)is_yes : label_of(j, is_yes ? 1 : 0);
      if (j->columns == 2 && j->its_class == 0) {
        stowi_kernel_transform_pair(j->transform, !j->is_positive, score, scores);
      } else {
        stowi_kernel_transform_scores(j->transform, scores, j->columns);
      }
    } else {
      j->out_labels[r] = label_of(j, stowi_kernel_best_score(scores, j->columns));
      stowi_kernel_transform_scores(j->transform, scores, j->columns);
    }
    stowi_kernel_store_f64(j->out->dtype, j->out->data, r * j->columns, j->columns, scores);
  }
}

stow_status stowi_kernel_tree_classes_scratch(const stow_kernel_call* call, uint64_t* out_bytes) {
  return stowi_kernel_trees_scratch(call, true, columns_of(call->results[1]), out_bytes);
}

stow_status stowi_kernel_trees_classify(stow_kernel_call* call) {
  job j = {.labels = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_CLASSLABELS_INT64S),
           .out = call->results[1],
           .out_labels = call->results[0]->data,
           .columns = columns_of(call->results[1])};
  stow_status status = stowi_kernel_transform_of(call, &j.transform);
  status = status == STOW_OK ? stowi_kernel_trees_prepare(call, true, j.columns, &j.trees) : status;
  if (status != STOW_OK) {
    return status;
  }
  const stowi_kernel_trees* t = &j.trees;
  j.its_class = t->weight_count == 0 ? 0 : (size_t)t->weights[0].minor;
  j.is_binary = t->weight_count != 0 && j.columns <= 2;
  j.is_positive = true;
  for (size_t i = 0; i < t->weight_count; ++i) {
    j.is_binary = j.is_binary && (size_t)t->weights[i].minor == j.its_class;
    j.is_positive = j.is_positive && stowi_kernel_list_real(&t->weight_values, i) >= 0;
  }
  return run_rows(call, &j, classes_task);
}

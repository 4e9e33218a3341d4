// Models that are trees: classifier, regressor and tree_ensemble. Labels and binary scores are as
// onnxruntime has them: one score for two classes is the second one's, compared with 0, or with 0.5
// where all weights are positive.
#include "exec/kernels/classic/models.h"
#include "exec/kernels/classic/scores.h"
#include "exec/kernels/classic/trees.h"
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  stowi_trees trees;
  stowi_transform transform;
  stowi_list labels;
  const stow_tensor* out;
  int64_t* out_labels;
  size_t columns;
  bool is_binary;    // one class alone has weights, of two or one
  size_t its_class;  // that one
  bool is_positive;  // all weights are
} job;

static size_t columns_of(const stow_tensor* scores) { return stowi_table_of(scores).columns; }

// ---------------------------------------------------------------------------------------------
// Targets

static void targets_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  for (size_t r = begin; r < end; ++r) {
    double* scores = stowi_trees_score(&j->trees, r, worker);
    stowi_transform_scores(j->transform, scores, j->columns);
    stowi_store_f64(j->out->dtype, j->out->data, r * j->columns, j->columns, scores);
  }
}

static stow_status run_rows(const stow_kernel_call* call, job* j, stow_kernel_task task) {
  size_t rows = stowi_table_of(j->trees.x).rows;
  stow_kernel_split(call, rows, stowi_grain_of(j->trees.root_count * 16), task, j);
  return stowi_trees_finish(call, &j->trees);
}

stow_status stowi_tree_targets_scratch(const stow_kernel_call* call, uint64_t* out_bytes) {
  return stowi_trees_scratch(call, false, columns_of(call->results[0]), out_bytes);
}

stow_status stowi_trees_regress(stow_kernel_call* call) {
  job j = {.out = call->results[0], .columns = columns_of(call->results[0])};
  stow_status status = stowi_transform_of(call, &j.transform);
  if (status == STOW_OK) {
    status = stowi_trees_prepare(call, false, j.columns, &j.trees);
  }
  return status == STOW_OK ? run_rows(call, &j, targets_task) : status;
}

static stow_status scratch_ensemble(const stow_kernel_call* call, uint64_t* out_bytes) {
  return stowi_ensemble_scratch(call, columns_of(call->results[0]), out_bytes);
}

static stow_status run_ensemble(stow_kernel_call* call) {
  job j = {.out = call->results[0], .columns = columns_of(call->results[0])};
  stow_status status = stowi_transform_of(call, &j.transform);
  if (status == STOW_OK) {
    status = stowi_ensemble_prepare(call, j.columns, &j.trees);
  }
  return status == STOW_OK ? run_rows(call, &j, targets_task) : status;
}

STOWI_KERNEL(TREE_ENSEMBLE, scratch_ensemble, run_ensemble);

// ---------------------------------------------------------------------------------------------
// Classes

static int64_t label_of(const job* j, size_t i) {
  return i < j->labels.count ? stowi_list_int(&j->labels, i) : (int64_t)i;
}

// One score that counts. A single class is told from none: 1 or 0.
static void write_binary(const job* j, size_t r, double* scores) {
  double score = scores[j->its_class];
  bool is_yes = score > (j->is_positive ? 0.5 : 0);
  j->out_labels[r] = j->columns == 1 ? (int64_t)is_yes : label_of(j, is_yes ? 1 : 0);
  if (j->columns == 2 && j->its_class == 0) {
    stowi_transform_pair(j->transform, !j->is_positive, score, scores);
  } else {
    stowi_transform_scores(j->transform, scores, j->columns);
  }
}

static void classes_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  for (size_t r = begin; r < end; ++r) {
    double* scores = stowi_trees_score(&j->trees, r, worker);
    if (j->is_binary) {
      write_binary(j, r, scores);
    } else {
      j->out_labels[r] = label_of(j, stowi_best_score(scores, j->columns));
      stowi_transform_scores(j->transform, scores, j->columns);
    }
    stowi_store_f64(j->out->dtype, j->out->data, r * j->columns, j->columns, scores);
  }
}

stow_status stowi_tree_classes_scratch(const stow_kernel_call* call, uint64_t* out_bytes) {
  return stowi_trees_scratch(call, true, columns_of(call->results[1]), out_bytes);
}

static void find_binary(job* j) {
  const stowi_trees* t = &j->trees;
  j->its_class = t->weight_count == 0 ? 0 : (size_t)t->weights[0].minor;
  j->is_binary = t->weight_count != 0 && j->columns <= 2;
  j->is_positive = true;
  for (size_t i = 0; i < t->weight_count; ++i) {
    j->is_binary = j->is_binary && (size_t)t->weights[i].minor == j->its_class;
    j->is_positive = j->is_positive && stowi_list_real(&t->weight_values, i) >= 0;
  }
}

stow_status stowi_trees_classify(stow_kernel_call* call) {
  job j = {.labels = stowi_list_of(call, "classlabels_int64s"),
           .out = call->results[1],
           .out_labels = call->results[0]->data,
           .columns = columns_of(call->results[1])};
  stow_status status = stowi_transform_of(call, &j.transform);
  if (status == STOW_OK) {
    status = stowi_trees_prepare(call, true, j.columns, &j.trees);
  }
  if (status != STOW_OK) {
    return status;
  }
  find_binary(&j);
  return run_rows(call, &j, classes_task);
}

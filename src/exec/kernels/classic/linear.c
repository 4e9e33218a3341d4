// Linear models: a score for each class or target is a product of the row with its coefficients,
// plus its intercept. Where two classes have one score between them, that is the second one's.
#include "exec/kernels/classic/lists.h"
#include "exec/kernels/classic/models.h"
#include "exec/kernels/classic/scores.h"
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/convert.h"

typedef struct job {
  const stow_tensor* x;
  size_t features;
  stowi_list coefficients;
  stowi_list intercepts;
  stowi_list labels;
  stowi_transform transform;
  size_t scores;   // of a row
  size_t columns;  // of the result
  const stow_tensor* out;
  int64_t* out_labels;  // NULL of a regressor
  double* room;         // |columns| and one more for each worker
} job;

// The result with the scores is the last one.
static size_t columns_of(const stow_kernel_call* call) {
  return stowi_table_of(call->results[call->result_count - 1]).columns;
}

stow_status stowi_linear_scratch(const stow_kernel_call* call, uint64_t* out_bytes) {
  *out_bytes = stowi_times(call->workers, stowi_times(columns_of(call) + 1, sizeof(double)));
  return STOW_OK;
}

static int64_t label_of(const job* j, size_t i) {
  return i < j->labels.count ? stowi_list_int(&j->labels, i) : (int64_t)i;
}

static int64_t best_label(const job* j, const double* scores) {
  return label_of(j, j->scores == 1 ? scores[0] > 0 : stowi_best_score(scores, j->scores));
}

static void rows_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  double* scores = j->room + worker * (j->columns + 1);
  for (size_t r = begin; r < end; ++r) {
    for (size_t k = 0; k < j->scores; ++k) {
      scores[k] =
          stowi_list_dot(&j->coefficients, k * j->features, j->x, r * j->features, j->features) +
          (k < j->intercepts.count ? stowi_list_real(&j->intercepts, k) : 0);
    }
    if (j->out_labels != NULL) {
      j->out_labels[r] = best_label(j, scores);
    }
    if (j->scores == 1 && j->columns == 2) {
      stowi_transform_pair(j->transform, false, scores[0], scores);
    } else {
      stowi_transform_scores(j->transform, scores, j->columns);
    }
    stowi_store_f64(j->out->dtype, j->out->data, r * j->columns, j->columns, scores);
  }
}

static stow_status run(stow_kernel_call* call, bool is_classifier) {
  const stow_tensor* x = call->operands[0];
  stowi_table table = stowi_table_of(x);
  job j = {.x = x,
           .features = table.columns,
           .coefficients = stowi_list_of(call, "coefficients"),
           .intercepts = stowi_list_of(call, "intercepts"),
           .labels = stowi_list_of(call, "classlabels_ints"),
           .columns = columns_of(call),
           .out = call->results[call->result_count - 1],
           .out_labels = is_classifier ? call->results[0]->data : NULL,
           .room = call->scratch};
  stow_status status = stowi_transform_of(call, &j.transform);
  if (status != STOW_OK) {
    return status;
  }
  bool is_pair = is_classifier && j.columns == 2 && j.coefficients.count == j.features;
  j.scores = is_pair ? 1 : j.columns;
  if (j.coefficients.count != j.scores * j.features) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%zu coefficients are not %zu for each of %zu features",
                            j.coefficients.count, j.scores, j.features);
  }
  size_t work = j.scores * j.features * 2;
  stow_kernel_split(call, table.rows, stowi_grain_of(work), rows_task, &j);
  return STOW_OK;
}

stow_status stowi_linear_classify(stow_kernel_call* call) { return run(call, true); }
stow_status stowi_linear_regress(stow_kernel_call* call) { return run(call, false); }

// classifier and regressor: score transforms, linear models, and the choice of the model by the
// attribute `kind`.
#include "exec/kernels/classic/models.h"

#include <math.h>

#include "exec/kernels/classic/lists.h"
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// Score transforms. Where ONNX leaves details open they follow onnxruntime: the inverse of erf in
// PROBIT is S. Winitzki's approximation.

stow_status stowi_kernel_transform_of(const stow_kernel_call* call,
                                      stowi_kernel_transform* out_transform) {
  static const char* const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const stow_attr* attr = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_POST_TRANSFORM);
  *out_transform = STOWI_KERNEL_TRANSFORM_NONE;
  if (attr == NULL) {
    return STOW_OK;
  }
  for (int i = 0; i <= STOWI_KERNEL_TRANSFORM_PROBIT; ++i) {
    if (attr->kind == STOW_ATTR_INT
            ? attr->i == i
            : stowi_kernel_is(call, STOWI_KERNEL_ATTR_POST_TRANSFORM, names[i])) {
      *out_transform = (stowi_kernel_transform)i;
      return STOW_OK;
    }
  }
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "unknown post_transform");
}

static double logistic(double x) {
  double far = 1 / (1 + exp(-fabs(x)));
  return x < 0 ? 1 - far : far;
}

static double probit(double x) {
  double y = 2 * x - 1;
  double logarithm = log((1 - y) * (1 + y));
  double v = 2 / (3.14159265358979323846 * 0.147) + 0.5 * logarithm;
  double root = sqrt(-v + sqrt(v * v - logarithm / 0.147));
  return 1.41421356 * (y < 0 ? -root : root);
}

// With |keeps_zero| scores of 0 (nobody voted) stay 0.
static void softmax(double* scores, size_t count, bool keeps_zero) {
  double most = scores[stowi_kernel_best_score(scores, count)];
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    bool is_zero = keeps_zero && fabs(scores[i]) <= 1e-7;
    scores[i] = is_zero ? scores[i] * exp(-most) : exp(scores[i] - most);
    sum += scores[i];
  }
  for (size_t i = 0; i < count; ++i) {
    scores[i] = sum == 0 ? 0.5 : scores[i] / sum;
  }
}

void stowi_kernel_transform_scores(stowi_kernel_transform transform, double* scores, size_t count) {
  if (count == 0 || (count == 1 && transform != STOWI_KERNEL_TRANSFORM_PROBIT)) {
    return;
  }
  switch (transform) {
    case STOWI_KERNEL_TRANSFORM_NONE: break;
    case STOWI_KERNEL_TRANSFORM_SOFTMAX:
    case STOWI_KERNEL_TRANSFORM_SOFTMAX_ZERO:
      softmax(scores, count, transform == STOWI_KERNEL_TRANSFORM_SOFTMAX_ZERO);
      break;
    case STOWI_KERNEL_TRANSFORM_LOGISTIC:
    case STOWI_KERNEL_TRANSFORM_PROBIT:
      for (size_t i = 0; i < count; ++i) {
        scores[i] =
            transform == STOWI_KERNEL_TRANSFORM_PROBIT ? probit(scores[i]) : logistic(scores[i]);
      }
      break;
  }
}

void stowi_kernel_transform_pair(stowi_kernel_transform transform, bool is_opposite, double score,
                                 double* out) {
  if (transform == STOWI_KERNEL_TRANSFORM_LOGISTIC) {
    out[0] = logistic(-score);
    out[1] = logistic(score);
    return;
  }
  out[0] = is_opposite ? -score : 1 - score;
  out[1] = score;
  if (transform == STOWI_KERNEL_TRANSFORM_PROBIT) {
    out[0] = probit(1 - score);
    out[1] = probit(score);
  }
}

size_t stowi_kernel_best_score(const double* scores, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; ++i) {
    if (scores[i] > scores[best]) {
      best = i;
    }
  }
  return best;
}

// ---------------------------------------------------------------------------------------------
// Linear models: the score of a class or target is the dot product of the row with its
// coefficients, plus its intercept. If two classes share one score, it is the second class's.

typedef struct job {
  const stow_tensor* x;
  size_t features;
  stowi_kernel_list coefficients;
  stowi_kernel_list intercepts;
  stowi_kernel_list labels;
  stowi_kernel_transform transform;
  size_t scores;   // of a row
  size_t columns;  // of the result
  const stow_tensor* out;
  int64_t* out_labels;  // NULL of a regressor
  double* room;         // |columns| and one more for each worker
} job;

// The result with the scores is the last one.
static size_t columns_of(const stow_kernel_call* call) {
  return stowi_kernel_table_of(call->results[call->result_count - 1]).columns;
}

static stow_status linear_scratch(const stow_kernel_call* call, uint64_t* out_bytes) {
  *out_bytes =
      stowi_kernel_times(call->workers, stowi_kernel_times(columns_of(call) + 1, sizeof(double)));
  return STOW_OK;
}

static int64_t best_label(const job* j, const double* scores) {
  size_t i = j->scores == 1 ? scores[0] > 0 : stowi_kernel_best_score(scores, j->scores);
  return i < j->labels.count ? stowi_kernel_list_int(&j->labels, i) : (int64_t)i;
}

static void rows_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  double* scores = j->room + worker * (j->columns + 1);
  for (size_t r = begin; r < end; ++r) {
    for (size_t k = 0; k < j->scores; ++k) {
      scores[k] = stowi_kernel_list_dot(&j->coefficients, k * j->features, j->x, r * j->features,
                                        j->features) +
                  (k < j->intercepts.count ? stowi_kernel_list_real(&j->intercepts, k) : 0);
    }
    if (j->out_labels != NULL) {
      j->out_labels[r] = best_label(j, scores);
    }
    if (j->scores == 1 && j->columns == 2) {
      stowi_kernel_transform_pair(j->transform, false, scores[0], scores);
    } else {
      stowi_kernel_transform_scores(j->transform, scores, j->columns);
    }
    stowi_kernel_store_f64(j->out->dtype, j->out->data, r * j->columns, j->columns, scores);
  }
}

static stow_status run(stow_kernel_call* call, bool is_classifier) {
  const stow_tensor* x = call->operands[0];
  stowi_kernel_table table = stowi_kernel_table_of(x);
  job j = {.x = x,
           .features = table.columns,
           .coefficients = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_COEFFICIENTS),
           .intercepts = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_INTERCEPTS),
           .labels = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_CLASSLABELS_INTS),
           .columns = columns_of(call),
           .out = call->results[call->result_count - 1],
           .out_labels = is_classifier ? call->results[0]->data : NULL,
           .room = call->scratch};
  STOWI_KERNEL_TRY(stowi_kernel_transform_of(call, &j.transform));
  bool is_pair = is_classifier && j.columns == 2 && j.coefficients.count == j.features;
  j.scores = is_pair ? 1 : j.columns;
  if (j.coefficients.count != j.scores * j.features) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%zu coefficients, expected %zu for each of %zu features",
                            j.coefficients.count, j.scores, j.features);
  }
  size_t work = j.scores * j.features * 2;
  stow_kernel_split(call, table.rows, stowi_kernel_grain_of(work), rows_task, &j);
  return STOW_OK;
}

static stow_status linear_classify(stow_kernel_call* call) { return run(call, true); }
static stow_status linear_regress(stow_kernel_call* call) { return run(call, false); }

// ---------------------------------------------------------------------------------------------
// The kernels

static stow_status need_reals(const stow_kernel_call* call) {
  return stowi_kernel_kind(call->operands[0]->dtype) == STOW_KIND_COMPLEX
             ? stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "features must be floats or integers")
             : STOW_OK;
}

static stow_status fail_kind(const stow_kernel_call* call) {
  return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "kind must be linear, svm or trees");
}

static stow_status scratch_classifier(const stow_kernel_call* call, uint64_t* out_bytes) {
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_KIND, "linear")) {
    return linear_scratch(call, out_bytes);
  }
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_KIND, "svm")) {
    return stowi_kernel_svm_scratch(call, out_bytes);
  }
  return stowi_kernel_tree_classes_scratch(call, out_bytes);
}

static stow_status run_classifier(stow_kernel_call* call) {
  STOWI_KERNEL_TRY(need_reals(call));
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_KIND, "linear")) {
    return linear_classify(call);
  }
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_KIND, "svm")) {
    return stowi_kernel_svm_classify(call);
  }
  return stowi_kernel_is(call, STOWI_KERNEL_ATTR_KIND, "trees") ? stowi_kernel_trees_classify(call)
                                                                : fail_kind(call);
}

static stow_status scratch_regressor(const stow_kernel_call* call, uint64_t* out_bytes) {
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_KIND, "linear")) {
    return linear_scratch(call, out_bytes);
  }
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_KIND, "svm")) {
    return stowi_kernel_svm_scratch(call, out_bytes);
  }
  return stowi_kernel_tree_targets_scratch(call, out_bytes);
}

static stow_status run_regressor(stow_kernel_call* call) {
  STOWI_KERNEL_TRY(need_reals(call));
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_KIND, "linear")) {
    return linear_regress(call);
  }
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_KIND, "svm")) {
    return stowi_kernel_svm_regress(call);
  }
  return stowi_kernel_is(call, STOWI_KERNEL_ATTR_KIND, "trees") ? stowi_kernel_trees_regress(call)
                                                                : fail_kind(call);
}

STOWI_KERNEL(CLASSIFIER, scratch_classifier, run_classifier);
STOWI_KERNEL(REGRESSOR, scratch_regressor, run_regressor);

// nll_loss and softmax_cross_entropy: of each position the score of its target, with a minus sign,
// times the target's weight. Scores count as [N, C, inner]; targets that are `ignore_index` give 0
// and weigh nothing. A mean is divided by the sum of the weights. Sums are doubles, in the order of
// the positions.
//
// Cross entropy takes logarithms of softmax for scores. Where these are a result they are computed
// first, by rows, and the loss is picked from them, so that they may be in place of the scores;
// else only those that are requested are computed.
#include <math.h>

#include "exec/kernels/rows/softmax.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  const stow_tensor* scores;
  const stow_tensor* targets;
  const stow_tensor* weight;  // may be NULL
  const stow_tensor* loss;
  stowi_kernel_rows rows;  // along the classes
  int64_t ignored;
  bool takes_log;  // scores are not yet logarithms of probabilities
} job;

// One position: what it adds to the loss, and what it weighs.
typedef struct term {
  double loss;
  double weight;
} term;

static size_t score_index(const job* j, size_t i, size_t c) {
  size_t inner = j->rows.inner;
  return (i / inner * j->rows.count + c) * inner + i % inner;
}

// The logarithm of the sum of exp of all classes' scores.
static double log_sum(const job* j, size_t i) {
  double most = -(double)INFINITY;
  for (size_t c = 0; c < j->rows.count; ++c) {
    double score = stowi_kernel_float_at(j->scores, score_index(j, i, c));
    most = score > most || score != score ? score : most;
  }
  double sum = 0;
  for (size_t c = 0; c < j->rows.count; ++c) {
    sum += exp(stowi_kernel_float_at(j->scores, score_index(j, i, c)) - most);
  }
  return most + log(sum);
}

static term term_at(const job* j, size_t i) {
  int64_t target = stowi_kernel_int_at(j->targets, i);
  if (target == j->ignored) {
    return (term){0, 0};
  }
  size_t c = (size_t)target;
  double score = stowi_kernel_float_at(j->scores, score_index(j, i, c));
  double weight = j->weight == NULL ? 1 : stowi_kernel_float_at(j->weight, c);
  return (term){-(score - (j->takes_log ? log_sum(j, i) : 0)) * weight, weight};
}

static void each_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  (void)worker;
  for (size_t i = begin; i < end; ++i) {
    double loss = term_at(j, i).loss;
    stowi_kernel_store_f64(j->loss->dtype, j->loss->data, i, 1, &loss);
  }
}

static void sum_up(const job* j, bool is_mean) {
  term sum = {0, 0};
  for (size_t i = 0; i < j->rows.outer * j->rows.inner; ++i) {
    term t = term_at(j, i);
    sum.loss += t.loss;
    sum.weight += t.weight;
  }
  double loss = is_mean ? sum.loss / sum.weight : sum.loss;
  stowi_kernel_store_f64(j->loss->dtype, j->loss->data, 0, 1, &loss);
}

static stow_status run(stow_kernel_call* call, bool takes_log) {
  const stow_tensor* logs = takes_log ? stow_kernel_result(call, 1) : NULL;
  job j = {.scores = call->operands[0],
           .targets = call->operands[1],
           .weight = stow_kernel_operand(call, 2),
           .loss = call->results[0],
           .rows = stowi_kernel_rows_along(call->operands[0], 1),
           .ignored = stowi_kernel_int(call, STOWI_KERNEL_ATTR_IGNORE_INDEX, -1),
           .takes_log = takes_log && logs == NULL};
  STOWI_KERNEL_TRY(stowi_kernel_need_real(call, j.scores, "scores"));
  if (j.weight != NULL) {
    STOWI_KERNEL_TRY(stowi_kernel_need_real(call, j.weight, "weight"));
  }
  for (size_t i = 0; i < j.rows.outer * j.rows.inner; ++i) {
    int64_t target = stowi_kernel_int_at(j.targets, i);
    if (target != j.ignored && (target < 0 || target >= (int64_t)j.rows.count)) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "target %lld is out of range (%zu classes)", (long long)target,
                              j.rows.count);
    }
  }
  if (logs != NULL) {
    stowi_kernel_softmax(call, j.scores, logs, j.rows, true);
    j.scores = logs;
  }
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_REDUCTION, "none")) {
    size_t grain = stowi_kernel_grain_of(j.takes_log ? j.rows.count * 8 : 8);
    stow_kernel_split(call, j.rows.outer * j.rows.inner, grain, each_task, &j);
  } else {
    sum_up(&j, stowi_kernel_is(call, STOWI_KERNEL_ATTR_REDUCTION, "mean"));
  }
  return STOW_OK;
}

static stow_status run_nll_loss(stow_kernel_call* call) { return run(call, false); }
static stow_status run_softmax_cross_entropy(stow_kernel_call* call) { return run(call, true); }

STOWI_KERNEL(NLL_LOSS, NULL, run_nll_loss);
STOWI_KERNEL(SOFTMAX_CROSS_ENTROPY, NULL, run_softmax_cross_entropy);

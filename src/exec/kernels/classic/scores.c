// Transforms of scores, as onnxruntime has them where ONNX leaves them open: the inverse of erf in
// PROBIT is S. Winitzki's approximation.
#include "exec/kernels/classic/scores.h"

#include <math.h>

stow_status stowi_transform_of(const stow_kernel_call* call, stowi_transform* out_transform) {
  static const char* const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const stow_attr* attr = stow_kernel_attr(call, "post_transform");
  *out_transform = STOWI_TRANSFORM_NONE;
  if (attr == NULL) {
    return STOW_OK;
  }
  for (int i = 0; i <= STOWI_TRANSFORM_PROBIT; ++i) {
    if (attr->kind == STOW_ATTR_INT ? attr->i == i
                                    : stow_kernel_is(call, "post_transform", names[i])) {
      *out_transform = (stowi_transform)i;
      return STOW_OK;
    }
  }
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "post_transform is none that is known");
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
  double most = scores[stowi_best_score(scores, count)];
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

void stowi_transform_scores(stowi_transform transform, double* scores, size_t count) {
  if (count == 0 || (count == 1 && transform != STOWI_TRANSFORM_PROBIT)) {
    return;
  }
  switch (transform) {
    case STOWI_TRANSFORM_NONE:
      break;
    case STOWI_TRANSFORM_SOFTMAX:
    case STOWI_TRANSFORM_SOFTMAX_ZERO:
      softmax(scores, count, transform == STOWI_TRANSFORM_SOFTMAX_ZERO);
      break;
    case STOWI_TRANSFORM_LOGISTIC:
    case STOWI_TRANSFORM_PROBIT:
      for (size_t i = 0; i < count; ++i) {
        scores[i] = transform == STOWI_TRANSFORM_PROBIT ? probit(scores[i]) : logistic(scores[i]);
      }
      break;
  }
}

void stowi_transform_pair(stowi_transform transform, bool is_opposite, double score, double* out) {
  if (transform == STOWI_TRANSFORM_LOGISTIC) {
    out[0] = logistic(-score);
    out[1] = logistic(score);
    return;
  }
  out[0] = is_opposite ? -score : 1 - score;
  out[1] = score;
  if (transform == STOWI_TRANSFORM_PROBIT) {
    out[0] = probit(1 - score);
    out[1] = probit(score);
  }
}

size_t stowi_best_score(const double* scores, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; ++i) {
    if (scores[i] > scores[best]) {
      best = i;
    }
  }
  return best;
}

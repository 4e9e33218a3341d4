// The k largest of a token's logits by k passes over them: both are small.
#include "exec/kernels/matrix/routing.h"

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/math.h"

static float logit_at(const stow_tensor* tensor, size_t i) {
  float x;
  stowi_load_f32(tensor->dtype, tensor->data, i, 1, &x);
  return x;
}

static bool is_chosen(const int32_t* chosen, size_t count, size_t expert) {
  for (size_t j = 0; j < count; ++j) {
    if ((size_t)chosen[j] == expert) {
      return true;
    }
  }
  return false;
}

static void choose(const stowi_routing* r, size_t token, int32_t* chosen) {
  for (size_t j = 0; j < r->k; ++j) {
    size_t best = r->experts;
    float largest = 0;
    for (size_t e = 0; e < r->experts; ++e) {
      float x = logit_at(r->logits, token * r->experts + e);
      if (!is_chosen(chosen, j, e) && (best == r->experts || x >= largest)) {
        best = e;
        largest = x;
      }
    }
    chosen[j] = (int32_t)best;
  }
}

static float sum_of(const float* x, size_t count) {
  float sum = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += x[i];
  }
  return sum;
}

static void share(const stowi_routing* r, size_t token, const int32_t* chosen, float* shares) {
  size_t first = token * r->experts;
  float largest = logit_at(r->logits, first + (size_t)chosen[0]);
  for (size_t j = 0; j < r->k; ++j) {
    size_t at = first + (size_t)chosen[j];
    shares[j] = r->weights != NULL ? logit_at(r->weights, at)
                                   : stowi_expf(logit_at(r->logits, at) - largest);
  }
  float sum = 1;
  if (r->normalizes) {
    sum = sum_of(shares, r->k);
  } else if (r->weights == NULL) {
    sum = 0;
    for (size_t e = 0; e < r->experts; ++e) {
      sum += stowi_expf(logit_at(r->logits, first + e) - largest);
    }
  }
  for (size_t j = 0; j < r->k; ++j) {
    shares[j] = sum == 0 ? 0 : shares[j] / sum;
  }
}

void stowi_route(const stowi_routing* r) {
  for (size_t token = 0; token < r->tokens && r->k != 0; ++token) {
    choose(r, token, r->chosen + token * r->k);
    share(r, token, r->chosen + token * r->k, r->shares + token * r->k);
  }
}

// The usual two have loops of their own, which become vectors; the others are computed in f64 one
// by one.
#include "exec/kernels/recurrent/activation.h"

#include <math.h>

#include "exec/kernels/support/math.h"
#include "exec/kernels/support/vector.h"

typedef struct row {
  const char* name;  // small letters
  bool has_alpha;
  bool has_beta;
  double alpha;  // where not given
  double beta;
} row;

static const row rows[STOWI_ACT_COUNT] = {
    [STOWI_ACT_SIGMOID] = {"sigmoid", false, false, 0, 0},
    [STOWI_ACT_TANH] = {"tanh", false, false, 0, 0},
    [STOWI_ACT_RELU] = {"relu", false, false, 0, 0},
    [STOWI_ACT_AFFINE] = {"affine", true, true, 1, 0},
    [STOWI_ACT_LEAKY_RELU] = {"leakyrelu", true, false, 0.01, 0},
    [STOWI_ACT_THRESHOLDED_RELU] = {"thresholdedrelu", true, false, 1, 0},
    [STOWI_ACT_SCALED_TANH] = {"scaledtanh", true, true, 1, 1},
    [STOWI_ACT_HARD_SIGMOID] = {"hardsigmoid", true, true, 0.2, 0.5},
    [STOWI_ACT_ELU] = {"elu", true, false, 1, 0},
    [STOWI_ACT_SOFTSIGN] = {"softsign", false, false, 0, 0},
    [STOWI_ACT_SOFTPLUS] = {"softplus", false, false, 0, 0},
};

static char small(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

static bool is_name(stow_str text, const char* name) {
  size_t i = 0;
  for (; i < text.size && name[i] != '\0'; ++i) {
    if (small(text.data[i]) != name[i]) {
      return false;
    }
  }
  return i == text.size && name[i] == '\0';
}

static const row* find(stow_str text) {
  for (size_t i = 0; i < STOWI_ACT_COUNT; ++i) {
    if (is_name(text, rows[i].name)) {
      return &rows[i];
    }
  }
  return NULL;
}

// Number |index| of a list of floats, which may hold integers.
static double number_at(const stow_attr* list, size_t index, double fallback) {
  if (list == NULL || index >= list->count) {
    return fallback;
  }
  if (list->kind == STOW_ATTR_INTS) {
    return (double)list->ints[index];
  }
  return list->kind == STOW_ATTR_FLOATS ? list->floats[index] : fallback;
}

bool stowi_activation_read(const stow_kernel_call* call, size_t index,
                           stowi_activation_kind fallback, stowi_activation* out) {
  const stow_attr* names = stow_kernel_attr(call, "activations");
  const stow_attr* alphas = stow_kernel_attr(call, "activation_alpha");
  const stow_attr* betas = stow_kernel_attr(call, "activation_beta");
  size_t alpha = 0;
  size_t beta = 0;
  *out = (stowi_activation){fallback, rows[fallback].alpha, rows[fallback].beta};
  if (names == NULL || names->count == 0 || names->kind != STOW_ATTR_STRINGS) {
    return true;
  }
  if (index >= names->count) {
    return false;
  }
  for (size_t i = 0; i <= index; ++i) {
    const row* found = find(names->strings[i]);
    if (found == NULL) {
      return false;
    }
    out->kind = (stowi_activation_kind)(found - rows);
    out->alpha = found->has_alpha ? number_at(alphas, alpha++, found->alpha) : 0;
    out->beta = found->has_beta ? number_at(betas, beta++, found->beta) : 0;
  }
  return true;
}

static double activate(const stowi_activation* a, double x) {
  switch (a->kind) {
    case STOWI_ACT_SIGMOID:
      return 1 / (1 + exp(-x));
    case STOWI_ACT_TANH:
      return tanh(x);
    case STOWI_ACT_RELU:
      return x > 0 ? x : 0;
    case STOWI_ACT_AFFINE:
      return a->alpha * x + a->beta;
    case STOWI_ACT_LEAKY_RELU:
      return x >= 0 ? x : a->alpha * x;
    case STOWI_ACT_THRESHOLDED_RELU:
      return x > a->alpha ? x : 0;
    case STOWI_ACT_SCALED_TANH:
      return a->alpha * tanh(a->beta * x);
    case STOWI_ACT_HARD_SIGMOID:
      return fmin(fmax(a->alpha * x + a->beta, 0), 1);
    case STOWI_ACT_ELU:
      return x >= 0 ? x : a->alpha * expm1(x);
    case STOWI_ACT_SOFTSIGN:
      return x / (1 + fabs(x));
    case STOWI_ACT_SOFTPLUS:
      return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
    case STOWI_ACT_COUNT:
      break;
  }
  return x;
}

STOWI_LOOP(sigmoid, (size_t count, float* x), (count, x)) {
  for (size_t i = 0; i < count; ++i) {
    x[i] = stowi_sigmoidf(x[i]);
  }
}

STOWI_LOOP(hyperbolic_tangent, (size_t count, float* x), (count, x)) {
  for (size_t i = 0; i < count; ++i) {
    x[i] = stowi_tanhf(x[i]);
  }
}

void stowi_activate_f32(const stowi_activation* activation, size_t count, float* x) {
  if (activation->kind == STOWI_ACT_SIGMOID) {
    sigmoid(count, x);
  } else if (activation->kind == STOWI_ACT_TANH) {
    hyperbolic_tangent(count, x);
  } else {
    for (size_t i = 0; i < count; ++i) {
      x[i] = (float)activate(activation, (double)x[i]);
    }
  }
}

void stowi_activate_f64(const stowi_activation* activation, size_t count, double* x) {
  for (size_t i = 0; i < count; ++i) {
    x[i] = activate(activation, x[i]);
  }
}

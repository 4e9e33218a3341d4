// Activations of f32 in place, one loop for each so that loops become vectors.
#include "exec/kernels/matrix/activation.h"

#include "exec/kernels/support/math.h"

static const char* const names[] = {"",         "Elu",  "HardSigmoid",    "LeakyRelu",
                                    "Relu",     "Selu", "Sigmoid",        "Softplus",
                                    "Softsign", "Tanh", "ThresholdedRelu"};

stow_status stowi_activation_of(const stow_kernel_call* call, stowi_activation* out) {
  *out = (stowi_activation){.kind = STOWI_ACTIVATION_NONE};
  out->alpha = (float)stow_kernel_float(call, "activation_alpha", 0);
  out->beta = (float)stow_kernel_float(call, "activation_beta", 0);
  out->gamma = (float)stow_kernel_float(call, "activation_gamma", 0);
  const stow_attr* name = stow_kernel_attr(call, "activation");
  if (name == NULL) {
    return STOW_OK;
  }
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (stow_kernel_is(call, "activation", names[i])) {
      out->kind = (stowi_activation_kind)i;
      return STOW_OK;
    }
  }
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                          "activation \"%.*s\" is none of Elu, HardSigmoid, LeakyRelu, Relu, Selu, "
                          "Sigmoid, Softplus, Softsign, Tanh, ThresholdedRelu",
                          name->s.size > 40 ? 40 : (int)name->s.size, name->s.data);
}

static float softplus(float x) {
  return x > 0 ? x + stowi_logf(1 + stowi_expf(-x)) : stowi_logf(1 + stowi_expf(x));
}

static float hard_sigmoid(float x, float alpha, float beta) {
  float y = alpha * x + beta;
  return y < 0 ? 0 : y > 1 ? 1 : y;
}

#define EACH(expression)               \
  for (size_t i = 0; i < count; ++i) { \
    float v = x[i];                    \
    x[i] = (expression);               \
  }                                    \
  break

void stowi_activate(const stowi_activation* activation, float* x, size_t count) {
  float alpha = activation->alpha;
  float beta = activation->beta;
  float gamma = activation->gamma;
  switch (activation->kind) {
    case STOWI_ACTIVATION_NONE:
      break;
    case STOWI_ACTIVATION_ELU:
      EACH(v >= 0 ? v : alpha * (stowi_expf(v) - 1));
    case STOWI_ACTIVATION_HARD_SIGMOID:
      EACH(hard_sigmoid(v, alpha, beta));
    case STOWI_ACTIVATION_LEAKY_RELU:
      EACH(v >= 0 ? v : alpha * v);
    case STOWI_ACTIVATION_RELU:
      EACH(v < 0 ? 0 : v);
    case STOWI_ACTIVATION_SELU:
      EACH(gamma * (v > 0 ? v : alpha * (stowi_expf(v) - 1)));
    case STOWI_ACTIVATION_SIGMOID:
      EACH(stowi_sigmoidf(v));
    case STOWI_ACTIVATION_SOFTPLUS:
      EACH(softplus(v));
    case STOWI_ACTIVATION_SOFTSIGN:
      EACH(v / (1 + (v < 0 ? -v : v)));
    case STOWI_ACTIVATION_TANH:
      EACH(stowi_tanhf(v));
    case STOWI_ACTIVATION_THRESHOLDED_RELU:
      EACH(v > alpha ? v : 0);
  }
}

// fused_conv: a convolution, to which an addend may be added, and an activation over the result
// while none of it is needed elsewhere. The result begins as bias and addend, so that it may lie
// over the addend.
#include "exec/kernels/spatial/conv.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"
#include "exec/kernels/support/vector.h"

typedef enum activation { NONE, RELU, TANH, SIGMOID, LEAKY_RELU, CLIP, HARD_SIGMOID } activation;

typedef struct job {
  stow_tensor* y;
  activation activation;
  float alpha, beta;
} job;

static stow_status read_activation(const stow_kernel_call* call, job* out) {
  static const struct {
    const char* name;
    activation activation;
    double alpha, beta;
  } list[] = {{"", NONE, 0, 0},
              {"Relu", RELU, 0, 0},
              {"Tanh", TANH, 0, 0},
              {"Sigmoid", SIGMOID, 0, 0},
              {"LeakyRelu", LEAKY_RELU, 0.01, 0},
              {"Clip", CLIP, -3.4028234663852886e38, 3.4028234663852886e38},
              {"HardSigmoid", HARD_SIGMOID, 0.2, 0.5}};
  const stow_attr* params = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_ACTIVATION_PARAMS);
  bool has = params != NULL && params->kind == STOW_ATTR_FLOATS;
  for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); ++i) {
    if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_ACTIVATION, list[i].name)) {
      out->activation = list[i].activation;
      out->alpha = (float)(has && params->count > 0 ? params->floats[0] : list[i].alpha);
      out->beta = (float)(has && params->count > 1 ? params->floats[1] : list[i].beta);
      return STOW_OK;
    }
  }
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                          "activation must be Relu, Tanh, Sigmoid, LeakyRelu, Clip, HardSigmoid or "
                          "empty");
}

static inline float limit(float x, float low, float high) {
  return x < low ? low : x > high ? high : x;
}

STOWI_KERNEL_LOOP(activate, (const job* j, size_t count, float* v), (j, count, v)) {
  switch (j->activation) {
    case NONE: break;
    case RELU:
      for (size_t i = 0; i < count; ++i) {
        v[i] = v[i] < 0 ? 0 : v[i];
      }
      break;
    case TANH:
      for (size_t i = 0; i < count; ++i) {
        v[i] = stowi_kernel_tanhf(has_fma, v[i]);
      }
      break;
    case SIGMOID:
      for (size_t i = 0; i < count; ++i) {
        v[i] = stowi_kernel_sigmoidf(has_fma, v[i]);
      }
      break;
    case LEAKY_RELU:
      for (size_t i = 0; i < count; ++i) {
        v[i] = v[i] < 0 ? v[i] * j->alpha : v[i];
      }
      break;
    case CLIP:
      for (size_t i = 0; i < count; ++i) {
        v[i] = limit(v[i], j->alpha, j->beta);
      }
      break;
    case HARD_SIGMOID:
      for (size_t i = 0; i < count; ++i) {
        v[i] = limit(v[i] * j->alpha + j->beta, 0, 1);
      }
      break;
  }
}

static void activate_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  if (j->y->dtype == STOW_F32) {
    activate(j, end - begin, (float*)j->y->data + begin);
    return;
  }
  float block[STOWI_KERNEL_BLOCK];
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t count = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_f32(j->y->dtype, j->y->data, i, count, block);
    activate(j, count, block);
    stowi_kernel_store_f32(j->y->dtype, j->y->data, i, count, block);
  }
}

static bool has_dims(const stow_tensor* a, const stow_tensor* b) {
  bool same = a->rank == b->rank;
  for (uint32_t i = 0; same && i < a->rank; ++i) {
    same = a->dims[i] == b->dims[i];
  }
  return same;
}

static stow_status scratch_fused_conv(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_kernel_conv c;
  stow_status status = stowi_kernel_conv_read(call, 3, &c);
  *out_bytes = status == STOW_OK ? stowi_kernel_conv_scratch(&c) : 0;
  return status;
}

static stow_status run_fused_conv(stow_kernel_call* call) {
  stowi_kernel_conv c;
  job j;
  stow_status status = stowi_kernel_conv_read(call, 3, &c);
  j.y = c.y;
  status = status == STOW_OK ? read_activation(call, &j) : status;
  if (status == STOW_OK && c.addend != NULL && !has_dims(c.addend, c.y)) {
    status = stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                              "operand 3 (the addend) must have the result's dims");
  }
  if (status == STOW_OK && c.x->dtype == STOW_F64 && j.activation != NONE) {
    status = stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "an activation needs f32, f16 or bf16");
  }
  status = status == STOW_OK ? stowi_kernel_conv_run(&c) : status;
  if (status == STOW_OK && j.activation != NONE) {
    stow_kernel_split(call, stow_tensor_elements(c.y), 16384, activate_task, &j);
  }
  return status;
}

STOWI_KERNEL(FUSED_CONV, scratch_fused_conv, run_fused_conv,
             .variant_count = STOWI_KERNEL_CONV_VARIANTS, .pack_size = stowi_kernel_conv_pack_size,
             .pack = stowi_kernel_conv_pack);

// Recurrent layers in f32, and in f32 for f16 and bf16.
#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/recurrent/layer.h"
#include "exec/kernels/support/convert.h"

#define REAL float
#define REAL_DTYPE STOW_F32
#define LOAD stowi_kernel_load_f32
#define STORE stowi_kernel_store_f32
#define ACTIVATE stowi_kernel_activate_f32

typedef stowi_kernel_matrix factor;

static void multiply(const stowi_kernel_layer* l, size_t m, size_t n, size_t k, const float* a,
                     factor b, float* c, size_t c_row, void* scratch) {
  stowi_kernel_gemm product = {
      .m = m, .n = n, .k = k, .a = {a, k, 1}, .b = b, .c = c, .c_row = c_row, .alpha = 1};
  stowi_kernel_gemm_run(l->call, &product, scratch);
}

static uint64_t multiply_scratch(const stowi_kernel_layer* l) {
  size_t stacked = l->gates * l->hidden;
  uint32_t workers = l->call->workers;
  uint64_t inputs =
      stowi_kernel_gemm_scratch(l->sequence * l->batch, stacked, l->input, workers, 0);
  uint64_t step = stowi_kernel_gemm_scratch(l->batch, stacked, l->hidden, workers, 0);
  return inputs > step ? inputs : step;
}

#include "exec/kernels/recurrent/steps_body.h"

uint64_t stowi_kernel_steps_f32_scratch(const stowi_kernel_layer* layer) {
  return layer_scratch(layer);
}
void stowi_kernel_steps_f32(stowi_kernel_layer* layer) { run_layer(layer); }

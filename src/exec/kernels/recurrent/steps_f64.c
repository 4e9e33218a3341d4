// Recurrent layers in f64. Rare, so that products are plain loops.
#include "exec/kernels/recurrent/layer.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

#define REAL double
#define REAL_DTYPE STOW_F64
#define LOAD stowi_kernel_load_f64
#define STORE stowi_kernel_store_f64
#define ACTIVATE stowi_kernel_activate_f64

typedef struct factor {
  const double* data;
  size_t row;
  size_t column;
} factor;

// b is never packed.
static void multiply(const stowi_kernel_layer* l, size_t m, size_t n, size_t k, const double* a,
                     factor b, bool is_packed, double* c, size_t c_row, void* scratch) {
  (void)l;
  (void)is_packed;
  (void)scratch;
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t p = 0; p < k; ++p) {
        sum += a[i * k + p] * b.data[p * b.row + j * b.column];
      }
      c[i * c_row + j] = sum;
    }
  }
}

static uint64_t multiply_scratch(const stowi_kernel_layer* l) {
  (void)l;
  return 0;
}

static bool reads_bytes(const stowi_kernel_layer* l) {
  (void)l;
  return false;
}

#include "exec/kernels/recurrent/steps_body.h"

static void multiply_bytes(const stowi_kernel_layer* l, size_t rows, const double* a,
                           const weights* w, double* c, void* scratch) {
  (void)l;
  (void)rows;
  (void)a;
  (void)w;
  (void)c;
  (void)scratch;
}

static uint64_t tiles_scratch(const stowi_kernel_layer* l, size_t k, size_t inner) {
  (void)l;
  (void)k;
  (void)inner;
  return 0;
}

// One column at a time.
static void multiply_tiles(const row_product* p, void* scratch) {
  (void)scratch;
  for (size_t j = 0; j < p->count; ++j) {
    double sum = 0;
    for (size_t step = 0; step < p->inner; step += STEPS_AT_ONCE) {
      double a[STEPS_AT_ONCE];
      double b[STEPS_AT_ONCE];
      size_t steps = p->inner - step < STEPS_AT_ONCE ? p->inner - step : STEPS_AT_ONCE;
      load_row_steps(p, step, steps, a);
      load_weight_steps(p, step, steps, p->first + j, 1, b, 1);
      for (size_t i = 0; i < steps; ++i) {
        sum += a[i] * b[i];
      }
    }
    p->take(p, j, 1, &sum);
  }
}

uint64_t stowi_kernel_steps_f64_scratch(const stowi_kernel_layer* layer) {
  return layer_scratch(layer);
}
void stowi_kernel_steps_f64(stowi_kernel_layer* layer) { run_layer(layer); }

// Recurrent layers in f32, and in f32 for f16 and bf16.
#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/matrix/lean.h"
#include "exec/kernels/recurrent/layer.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

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

static const float* load_a(const void* user, const stowi_kernel_block* block, float* room,
                           size_t* row) {
  (void)row;
  load_row_steps(user, block->column, block->columns, room);
  return room;
}

static const float* load_b(const void* user, const stowi_kernel_block* block, float* room,
                           size_t* row) {
  const row_product* p = user;
  load_weight_steps(p, block->row, block->rows, p->first + block->column, block->columns, room,
                    *row);
  return room;
}

static void finish_tile(const void* user, const stowi_kernel_block* block, float* tile,
                        size_t tile_row) {
  (void)tile_row;
  const row_product* p = user;
  p->take(p, block->column, block->columns, tile);
}

static stowi_kernel_lean lean_of(const row_product* p, size_t columns, size_t inner) {
  return (stowi_kernel_lean){
      .m = 1, .n = columns, .k = inner, .user = p, .a = load_a, .b = load_b, .finish = finish_tile};
}

static uint64_t tiles_scratch(const stowi_kernel_layer* l, size_t columns, size_t inner) {
  (void)l;
  stowi_kernel_lean lean = lean_of(NULL, columns, inner);
  return stowi_kernel_lean_scratch(&lean);
}

static void multiply_tiles(const row_product* p, void* scratch) {
  stowi_kernel_lean lean = lean_of(p, p->count, p->inner);
  stowi_kernel_lean_run(&lean, 0, stowi_kernel_lean_tiles(&lean), scratch);
}

uint64_t stowi_kernel_steps_f32_scratch(const stowi_kernel_layer* layer) {
  return layer_scratch(layer);
}
void stowi_kernel_steps_f32(stowi_kernel_layer* layer) { run_layer(layer); }

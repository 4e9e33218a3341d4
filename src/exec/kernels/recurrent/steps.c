// Recurrent layers in f32, and in f32 for f16 and bf16.
#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/matrix/lean.h"
#include "exec/kernels/recurrent/bytes.h"
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
                     factor b, bool is_packed, float* c, size_t c_row, void* scratch) {
  stowi_kernel_gemm product = {.m = m,
                               .n = n,
                               .k = k,
                               .a = {a, k, 1},
                               .b = b,
                               .c = c,
                               .c_row = c_row,
                               .alpha = 1,
                               .variant = l->spares_copies ? 1 : 0,
                               .b_steps = is_packed ? k : 0};
  stowi_kernel_gemm_run(l->call, &product, scratch);
}

static bool is_bytes(const stowi_kernel_layer* l, size_t k) {
  stow_dtype dtype = stow_kernel_operand(l->call, k)->dtype;
  return dtype == STOW_I8 || dtype == STOW_U8;
}

static bool reads_bytes(const stowi_kernel_layer* l) {
  return l->is_quantized && is_bytes(l, STOWI_KERNEL_LAYER_W) && is_bytes(l, STOWI_KERNEL_LAYER_R);
}

// For |rows| rows times |columns| columns of the weights that operand |k| has.
static uint64_t product_scratch(const stowi_kernel_layer* l, size_t k, size_t rows, size_t columns,
                                uint32_t workers, uint32_t variant) {
  size_t inner = k == STOWI_KERNEL_LAYER_W ? l->input : l->hidden;
  if (reads_bytes(l)) {
    return stowi_kernel_bytes_room(inner) * workers;
  }
  stowi_kernel_gemm product = {.m = rows,
                               .n = columns,
                               .k = inner,
                               .a = {NULL, inner, 1},
                               .alpha = 1,
                               .variant = variant,
                               .b_steps = inner};
  return stowi_kernel_operand_is_packed(l->call, k)
             ? stowi_kernel_gemm_packed_scratch(&product, workers)
             : stowi_kernel_gemm_scratch(rows, columns, inner, workers, variant);
}

static uint64_t multiply_scratch(const stowi_kernel_layer* l) {
  size_t stacked = l->gates * l->hidden;
  uint32_t workers = l->call->workers;
  uint32_t variant = l->spares_copies ? 1 : 0;
  uint64_t inputs =
      product_scratch(l, STOWI_KERNEL_LAYER_W, l->sequence * l->batch, stacked, workers, variant);
  uint64_t step = product_scratch(l, STOWI_KERNEL_LAYER_R, l->batch, stacked, workers, variant);
  return inputs > step ? inputs : step;
}

#include "exec/kernels/recurrent/steps_body.h"

// ---------------------------------------------------------------------------------------------
// Quantised weights where they are

enum { COLUMNS = STOWI_KERNEL_BYTES_COLUMNS, MANY_ROWS = 8 };

// Columns [first, first + count) of the weights that operand |k| has, for |rows| rows of a. |room|
// is for many rows.
static void multiply_columns(const stowi_kernel_layer* l, size_t k, size_t inner, size_t first,
                             size_t count, size_t rows, const float* a, float* c, size_t c_row,
                             float* room) {
  const stow_tensor* t = stow_kernel_operand(l->call, k);
  bool is_w = k == STOWI_KERNEL_LAYER_W;
  size_t scale = is_w ? STOWI_KERNEL_LAYER_W_SCALE : STOWI_KERNEL_LAYER_R_SCALE;
  size_t stacked = l->gates * l->hidden;
  float scales[COLUMNS];
  float zeros[COLUMNS];
  load_parameters(l, scale, first, count, scales);
  load_parameters(l, scale + 1, first, count, zeros);
  bool is_packed = stowi_kernel_operand_is_packed(l->call, k);
  size_t left = stacked - first;
  stowi_kernel_byte_weights b = {.data = (const unsigned char*)t->data +
                                         l->direction * stacked * inner +
                                         first * (is_packed ? inner : 1),
                                 .is_signed = t->dtype == STOW_I8,
                                 .row = !is_packed       ? stacked
                                        : left < COLUMNS ? left
                                                         : COLUMNS,
                                 .zero = zeros,
                                 .scale = scales};
  if (rows >= MANY_ROWS) {
    stowi_kernel_bytes_multiply_many(rows, count, inner, a, inner, &b, c, c_row, room);
  } else {
    stowi_kernel_bytes_multiply(rows, count, inner, a, inner, &b, c, c_row);
  }
}

typedef struct bytes_job {
  const stowi_kernel_layer* l;
  const weights* w;
  size_t rows;
  const float* a;
  float* c;
  unsigned char* scratch;
} bytes_job;

static void bytes_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const bytes_job* j = user;
  size_t inner = j->w->inner;
  unsigned char* room = j->scratch + worker * stowi_kernel_bytes_room(inner);
  for (size_t i = begin; i < end; ++i) {
    size_t column = i * COLUMNS;
    size_t left = j->w->columns - column;
    multiply_columns(j->l, j->w->k, inner, j->w->first + column, left < COLUMNS ? left : COLUMNS,
                     j->rows, j->a, j->c + column, j->l->gates * j->l->hidden, (float*)(void*)room);
  }
}

static void multiply_bytes(const stowi_kernel_layer* l, size_t rows, const float* a,
                           const weights* w, float* c, void* scratch) {
  bytes_job job = {l, w, rows, a, c, scratch};
  size_t work = rows * w->inner * COLUMNS;
  stow_kernel_split(l->call, (w->columns + COLUMNS - 1) / COLUMNS, 65536 / (work + 1) + 1,
                    bytes_task, &job);
}

// ---------------------------------------------------------------------------------------------
// A row at a time

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

// Whether rows are at hand, and can be multiplied by weights where those are.
static bool reads_rows(const stowi_kernel_layer* l) {
  bool has_weights = is_real(l, STOWI_KERNEL_LAYER_W) && is_real(l, STOWI_KERNEL_LAYER_R);
  return is_real(l, STOWI_KERNEL_LAYER_X) && (has_weights || reads_bytes(l));
}

static void multiply_reals(const row_product* p, size_t column, size_t count, const float* a,
                           float* sums, void* scratch) {
  const float* w = stow_kernel_operand(p->l->call, p->k)->data;
  size_t stacked = p->l->gates * p->l->hidden;
  stowi_kernel_gemm product = {
      .m = 1,
      .n = count,
      .k = p->inner,
      .a = {a, p->inner, 1},
      .b = {w + (p->l->direction * stacked + p->first + column) * p->inner, 1, p->inner},
      .c = sums,
      .c_row = count,
      .alpha = 1,
      .variant = 2,
      .b_steps = stowi_kernel_operand_is_packed(p->l->call, p->k) ? p->inner : 0};
  stowi_kernel_gemm_alone(&product, scratch);
}

static void multiply_in_place(const row_product* p, void* scratch) {
  const float* x = stow_kernel_operand(p->l->call, STOWI_KERNEL_LAYER_X)->data;
  const float* a = p->a != NULL ? p->a : x + p->x_first;
  for (size_t column = 0; column < p->count; column += COLUMNS) {
    float sums[COLUMNS];
    size_t count = p->count - column < COLUMNS ? p->count - column : COLUMNS;
    if (p->l->is_quantized) {
      multiply_columns(p->l, p->k, p->inner, p->first + column, count, 1, a, sums, COLUMNS, NULL);
    } else {
      multiply_reals(p, column, count, a, sums, scratch);
    }
    for (size_t done = 0; done < count; done += SUMS_AT_ONCE) {
      size_t some = count - done < SUMS_AT_ONCE ? count - done : SUMS_AT_ONCE;
      p->take(p, column + done, some, sums + done);
    }
  }
}

static uint64_t tiles_scratch(const stowi_kernel_layer* l, size_t k, size_t inner) {
  size_t columns = l->gates * l->hidden;
  if (reads_rows(l)) {
    size_t most = columns < COLUMNS ? columns : COLUMNS;
    return l->is_quantized ? 0 : product_scratch(l, k, 1, most, 1, 2);
  }
  stowi_kernel_lean lean = lean_of(NULL, columns, inner);
  return stowi_kernel_lean_scratch(&lean);
}

static void multiply_tiles(const row_product* p, void* scratch) {
  if (reads_rows(p->l)) {
    multiply_in_place(p, scratch);
    return;
  }
  stowi_kernel_lean lean = lean_of(p, p->count, p->inner);
  stowi_kernel_lean_run(&lean, 0, stowi_kernel_lean_tiles(&lean), scratch);
}

uint64_t stowi_kernel_steps_f32_scratch(const stowi_kernel_layer* layer) {
  return layer_scratch(layer);
}
void stowi_kernel_steps_f32(stowi_kernel_layer* layer) { run_layer(layer); }

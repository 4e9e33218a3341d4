// Products with rows of a head, as they lie or converted.
#include "exec/kernels/attention/head_product.h"

#include "exec/kernels/matrix/lean.h"
#include "exec/kernels/support/convert.h"

stowi_kernel_matrix stowi_kernel_head_rows(const stowi_kernel_heads* heads, size_t batch,
                                           size_t head, size_t first, size_t count, size_t size,
                                           float* buffer) {
  size_t at = stowi_kernel_heads_at(heads, batch, head, first);
  if (heads->dtype == STOW_F32) {
    return (stowi_kernel_matrix){(const float*)heads->data + at, heads->position, 1};
  }
  for (size_t i = 0; i < count; ++i) {
    stowi_kernel_load_f32(heads->dtype, heads->data, at + i * heads->position, size,
                          buffer + i * size);
  }
  return (stowi_kernel_matrix){buffer, size, 1};
}

static const float* load_a(const void* user, const stowi_kernel_block* block, float* room,
                           size_t* row) {
  const stowi_kernel_gemm* g = &((const stowi_kernel_head_product*)user)->gemm;
  for (size_t i = 0; i < block->rows; ++i) {
    for (size_t p = 0; p < block->columns; ++p) {
      room[i * *row + p] =
          g->alpha * g->a.data[(block->row + i) * g->a.row + (block->column + p) * g->a.column];
    }
  }
  return room;
}

static const float* load_b(const void* user, const stowi_kernel_block* block, float* room,
                           size_t* row) {
  const stowi_kernel_head_product* p = user;
  const stowi_kernel_heads* h = p->heads;
  size_t at = stowi_kernel_heads_at(h, p->batch, p->head, p->begin);
  for (size_t i = 0; !p->is_turned && i < block->rows; ++i) {
    stowi_kernel_load_f32(h->dtype, h->data, at + (block->row + i) * h->position + block->column,
                          block->columns, room + i * *row);
  }
  for (size_t j = 0; p->is_turned && j < block->columns; ++j) {
    float steps[STOWI_KERNEL_LEAN_STEPS];
    stowi_kernel_load_f32(h->dtype, h->data, at + (block->column + j) * h->position + block->row,
                          block->rows, steps);
    for (size_t i = 0; i < block->rows; ++i) {
      room[i * *row + j] = steps[i];
    }
  }
  return room;
}

uint64_t stowi_kernel_head_product_scratch(const stowi_kernel_heads* heads, size_t rows, size_t n,
                                           size_t k, bool is_lean) {
  if (heads->dtype != STOW_F32 && is_lean) {
    float none;
    stowi_kernel_lean lean = {.m = rows, .n = n, .k = k, .c = &none};
    return stowi_kernel_lean_scratch(&lean);
  }
  return stowi_kernel_gemm_scratch(rows, n, k, 1, is_lean ? 2 : 0);
}

void stowi_kernel_head_product_run(stowi_kernel_head_product* p, float* buffer, void* room) {
  stowi_kernel_gemm* g = &p->gemm;
  if (p->heads->dtype != STOW_F32 && p->is_lean) {
    stowi_kernel_lean lean = {.m = g->m,
                              .n = g->n,
                              .k = g->k,
                              .user = p,
                              .a = load_a,
                              .b = load_b,
                              .c = g->c,
                              .c_row = g->c_row};
    stowi_kernel_lean_run(&lean, 0, stowi_kernel_lean_tiles(&lean), room);
    return;
  }
  size_t count = p->is_turned ? g->n : g->k;
  size_t size = p->is_turned ? g->k : g->n;
  stowi_kernel_matrix rows =
      stowi_kernel_head_rows(p->heads, p->batch, p->head, p->begin, count, size, buffer);
  g->b = p->is_turned ? (stowi_kernel_matrix){rows.data, rows.column, rows.row} : rows;
  g->variant = p->is_lean ? 2 : 0;
  stowi_kernel_gemm_alone(g, room);
}

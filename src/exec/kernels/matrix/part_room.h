// Scratch for one part of a product that is computed in f32 of factors that are not: a few steps of
// k of both factors, and sums.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_PART_ROOM_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_PART_ROOM_H_

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/matrix/product.h"

enum { STOWI_KERNEL_PART_DEPTH = 256 };  // steps of k at a time

// Each begins at a multiple of 64 bytes.
typedef struct stowi_kernel_part_room {
  float* a;    // rows × steps
  float* b;    // columns × steps
  float* c;    // rows × columns
  void* gemm;  // of stowi_kernel_gemm_alone
} stowi_kernel_part_room;

static inline size_t stowi_kernel_part_padded(size_t floats) { return (floats + 15) / 16 * 16; }

static inline size_t stowi_kernel_part_depth(const stowi_kernel_product* p) {
  return p->k < STOWI_KERNEL_PART_DEPTH ? p->k : STOWI_KERNEL_PART_DEPTH;
}

// Bytes for the largest part of |p|, with products of |variant|.
static inline uint64_t stowi_kernel_part_room_size(const stowi_kernel_product* p,
                                                   uint32_t variant) {
  size_t rows = stowi_kernel_part_rows(p);
  size_t columns = stowi_kernel_part_columns(p);
  size_t depth = stowi_kernel_part_depth(p);
  uint64_t floats = stowi_kernel_part_padded(rows * depth) +
                    stowi_kernel_part_padded(columns * depth) +
                    stowi_kernel_part_padded(rows * columns);
  return floats * sizeof(float) + stowi_kernel_gemm_scratch(rows, columns, depth, 1, variant);
}

// How they are divided.
static inline stowi_kernel_part_room stowi_kernel_part_room_at(const stowi_kernel_product* p,
                                                               void* scratch) {
  size_t rows = stowi_kernel_part_rows(p);
  size_t columns = stowi_kernel_part_columns(p);
  size_t depth = stowi_kernel_part_depth(p);
  stowi_kernel_part_room r = {.a = scratch};
  r.b = r.a + stowi_kernel_part_padded(rows * depth);
  r.c = r.b + stowi_kernel_part_padded(columns * depth);
  r.gemm = r.c + stowi_kernel_part_padded(rows * columns);
  return r;
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_PART_ROOM_H_

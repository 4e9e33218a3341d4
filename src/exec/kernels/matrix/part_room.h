// Scratch for one part of a product that is computed in f32 of factors that are not: a few steps of
// k of both factors, and sums.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_PART_ROOM_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_PART_ROOM_H_

#include "exec/kernels/matrix/product.h"

enum { STOWI_PART_DEPTH = 256 };  // steps of k at a time

typedef struct stowi_part_room {
  float* a;    // rows × steps
  float* b;    // columns × steps
  float* c;    // rows × columns
  void* gemm;  // of stowi_gemm_alone
} stowi_part_room;

// Bytes for the largest part of |p|, and how they are divided.
uint64_t stowi_part_room_size(const stowi_product* p);
stowi_part_room stowi_part_room_at(const stowi_product* p, void* scratch);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_PART_ROOM_H_

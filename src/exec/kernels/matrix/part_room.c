// Each of the four begins at a multiple of 64 bytes. Constant time.
#include "exec/kernels/matrix/part_room.h"

#include "exec/kernels/matrix/gemm.h"

static size_t padded(size_t floats) { return (floats + 15) / 16 * 16; }

static size_t depth_of(const stowi_product* p) {
  return p->k < STOWI_PART_DEPTH ? p->k : STOWI_PART_DEPTH;
}

uint64_t stowi_part_room_size(const stowi_product* p) {
  size_t rows = stowi_part_rows(p);
  size_t columns = stowi_part_columns(p);
  size_t depth = depth_of(p);
  uint64_t floats = padded(rows * depth) + padded(columns * depth) + padded(rows * columns);
  return floats * sizeof(float) + stowi_gemm_scratch(rows, columns, depth, 1);
}

stowi_part_room stowi_part_room_at(const stowi_product* p, void* scratch) {
  size_t rows = stowi_part_rows(p);
  size_t columns = stowi_part_columns(p);
  size_t depth = depth_of(p);
  stowi_part_room r = {.a = scratch};
  r.b = r.a + padded(rows * depth);
  r.c = r.b + padded(columns * depth);
  r.gemm = r.c + padded(rows * columns);
  return r;
}

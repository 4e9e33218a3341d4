// Dot products of i16, four rows by two columns at a time: six loads give eight products, and
// compilers know the instruction that multiplies pairs of i16 and adds them. Integer sums are exact
// in any order, so the vector width does not matter.

#include "exec/kernels/spatial/int_dots.h"

#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

#define CHUNK 16384  // products of 255 × 255 that fit in i32

STOWI_KERNEL_INLINE void dots_of_8(const int16_t* a, size_t a_row, const int16_t* b, size_t b_row,
                                   size_t depth, uint32_t* sums) {
  int32_t s0 = 0;
  int32_t s1 = 0;
  int32_t s2 = 0;
  int32_t s3 = 0;
  int32_t s4 = 0;
  int32_t s5 = 0;
  int32_t s6 = 0;
  int32_t s7 = 0;
  for (size_t k = 0; k < depth; ++k) {
    int32_t b0 = b[k];
    int32_t b1 = b[b_row + k];
    s0 += a[k] * b0;
    s1 += a[k] * b1;
    s2 += a[a_row + k] * b0;
    s3 += a[a_row + k] * b1;
    s4 += a[2 * a_row + k] * b0;
    s5 += a[2 * a_row + k] * b1;
    s6 += a[3 * a_row + k] * b0;
    s7 += a[3 * a_row + k] * b1;
  }
  int32_t all[8] = {s0, s1, s2, s3, s4, s5, s6, s7};
  for (size_t i = 0; i < 8; ++i) {
    sums[i] += (uint32_t)all[i];
  }
}

STOWI_KERNEL_INLINE uint32_t dot(const int16_t* a, const int16_t* b, size_t depth) {
  int32_t sum = 0;
  for (size_t k = 0; k < depth; ++k) {
    sum += a[k] * b[k];
  }
  return (uint32_t)sum;
}

STOWI_KERNEL_INLINE void tile(const int16_t* a, const int16_t* b, size_t b_row, size_t depth,
                              int32_t* out, size_t out_row) {
  uint32_t sums[8] = {0};
  for (size_t k = 0; k < depth; k += CHUNK) {
    size_t count =
        (stowi_kernel_smaller(depth - k, CHUNK)) / STOWI_KERNEL_DOT_STEP * STOWI_KERNEL_DOT_STEP;
    dots_of_8(a + k, depth, b + k, b_row, count, sums);
  }
  for (size_t i = 0; i < 8; ++i) {
    out[i / 2 * out_row + i % 2] = (int32_t)sums[i];
  }
}

STOWI_KERNEL_INLINE void edge(const int16_t* a, const int16_t* b, size_t depth, int32_t* out) {
  uint32_t sum = 0;
  for (size_t k = 0; k < depth; k += CHUNK) {
    sum +=
        dot(a + k, b + k,
            stowi_kernel_smaller(depth - k, CHUNK) / STOWI_KERNEL_DOT_STEP * STOWI_KERNEL_DOT_STEP);
  }
  *out = (int32_t)sum;
}

STOWI_KERNEL_INLINE void dots(const int16_t* a, size_t rows, const int16_t* b, size_t b_row,
                              size_t columns, size_t depth, int32_t* out, size_t out_row) {
  size_t tile_rows = rows / 4 * 4;
  size_t tile_columns = columns / 2 * 2;
  for (size_t r = 0; r < tile_rows; r += 4) {
    for (size_t c = 0; c < tile_columns; c += 2) {
      tile(a + r * depth, b + c * b_row, b_row, depth, out + r * out_row + c, out_row);
    }
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = r < tile_rows ? tile_columns : 0; c < columns; ++c) {
      edge(a + r * depth, b + c * b_row, depth, out + r * out_row + c);
    }
  }
}

STOWI_KERNEL_INLINE void products(const int16_t* a, const int16_t* b, size_t count, int32_t* sums) {
  for (size_t i = 0; i < count; ++i) {
    sums[i] = (int32_t)((uint32_t)sums[i] + (uint32_t)(a[i] * b[i]));
  }
}

STOWI_KERNEL_INLINE void rows_of(const int16_t* a, size_t steps, const int16_t* b, size_t b_row,
                                 size_t count, int32_t* sums) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t sum = (uint32_t)sums[i];
    for (size_t p = 0; p < steps; ++p) {
      sum += (uint32_t)(a[p] * b[p * b_row + i]);
    }
    sums[i] = (int32_t)sum;
  }
}

// Numbers of steps as constants, so that vectors go along b.
STOWI_KERNEL_INLINE void add_rows(const int16_t* a, size_t steps, const int16_t* b, size_t b_row,
                                  size_t count, int32_t* sums) {
  size_t p = 0;
  for (; p + STOWI_KERNEL_INT_STEPS <= steps; p += STOWI_KERNEL_INT_STEPS) {
    rows_of(a + p, STOWI_KERNEL_INT_STEPS, b + p * b_row, b_row, count, sums);
  }
  for (; p + 2 <= steps; p += 2) {
    rows_of(a + p, 2, b + p * b_row, b_row, count, sums);
  }
  for (; p < steps; ++p) {
    rows_of(a + p, 1, b + p * b_row, b_row, count, sums);
  }
}

#if defined(STOWI_KERNEL_X86)
__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"))) static void dots_vnni(
    const int16_t* a, size_t rows, const int16_t* b, size_t b_row, size_t columns, size_t depth,
    int32_t* out, size_t out_row) {
  dots(a, rows, b, b_row, columns, depth, out, out_row);
}
#endif

STOWI_KERNEL_LOOP(best_dots,
                  (const int16_t* a, size_t rows, const int16_t* b, size_t b_row, size_t columns,
                   size_t depth, int32_t* out, size_t out_row),
                  (a, rows, b, b_row, columns, depth, out, out_row)) {
  dots(a, rows, b, b_row, columns, depth, out, out_row);
}

STOWI_KERNEL_LOOP(best_products, (const int16_t* a, const int16_t* b, size_t count, int32_t* sums),
                  (a, b, count, sums)) {
  products(a, b, count, sums);
}

STOWI_KERNEL_LOOP(best_rows,
                  (const int16_t* a, size_t steps, const int16_t* b, size_t b_row, size_t count,
                   int32_t* sums),
                  (a, steps, b, b_row, count, sums)) {
  add_rows(a, steps, b, b_row, count, sums);
}

void stowi_kernel_int_dots(const int16_t* a, size_t rows, const int16_t* b, size_t b_row,
                           size_t columns, size_t depth, int32_t* out, size_t out_row) {
#if defined(STOWI_KERNEL_X86)
  if (stowi_kernel_machine_is() >= STOWI_KERNEL_MACHINE_VNNI) {
    dots_vnni(a, rows, b, b_row, columns, depth, out, out_row);
    return;
  }
#endif
  best_dots(a, rows, b, b_row, columns, depth, out, out_row);
}

void stowi_kernel_int_products(const int16_t* a, const int16_t* b, size_t count, int32_t* sums) {
  best_products(a, b, count, sums);
}

void stowi_kernel_int_rows(const int16_t* a, size_t steps, const int16_t* b, size_t b_row,
                           size_t count, int32_t* sums) {
  best_rows(a, steps, b, b_row, count, sums);
}

// The inner loops of products of f32 matrices, one version per vector width. A tile's sums are in
// registers: with two vectors in each of eight rows, sixteen chains hide the latency of additions,
// and every ten loads feed sixteen multiplications and additions. The last columns of c use the
// narrowest tile that holds them. Compilers without vector extensions get the same loops in plain
// C.
#include "exec/kernels/matrix/gemm_tile.h"

#if defined(__GNUC__)

#define STRING_OF(text) #text
#define STRING(text) STRING_OF(text)

#define NAME(name) plain_##name
#define TARGET
#define LANES 4
#define NARROWER NULL
#include "exec/kernels/matrix/gemm_body.h"

#if defined(__x86_64__)
#define NAME(name) avx2_##name
#define TARGET __attribute__((target("avx2")))
#define LANES 8
#define NARROWER &plain_narrow
#include "exec/kernels/matrix/gemm_body.h"

#define NAME(name) avx512_##name
#define TARGET __attribute__((target("avx512f")))
#define LANES 16
#define NARROWER &avx2_narrow
#include "exec/kernels/matrix/gemm_body.h"
#endif

#else

enum { COLUMNS = 8 };

static void plain_tile(size_t rows, size_t depth, const stowi_kernel_tile_factors* f, float* c,
                       size_t c_row, bool accumulate) {
  for (size_t i = 0; i < rows; ++i) {
    float* to = c + i * c_row;
    float sum[COLUMNS] = {0};
    for (size_t p = 0; p < depth; ++p) {
      for (size_t j = 0; j < COLUMNS; ++j) {
        sum[j] += f->b[p * f->b_step + j] * f->a[p * f->a_step + i * f->a_row];
      }
    }
    for (size_t j = 0; j < COLUMNS; ++j) {
      to[j] = accumulate ? to[j] + sum[j] : sum[j];
    }
  }
}

static void plain_stream(size_t n, size_t depth, const float* a, const float* b, size_t b_row,
                         float* c, bool goes_on) {
  for (size_t j = 0; j < n; ++j) {
    float sum = goes_on ? c[j] : 0;
    for (size_t p = 0; p < depth; ++p) {
      sum += b[p * b_row + j] * a[p];
    }
    c[j] = sum;
  }
}

static const stowi_kernel_tiles plain_tiles = {"plain_tiles", COLUMNS, plain_tile, plain_stream,
                                               NULL};

#endif

const stowi_kernel_tiles* stowi_kernel_tiles_at(size_t i) {
  if (i == 0) {
    return &plain_tiles;
  }
#if defined(__GNUC__) && defined(__x86_64__)
  if (i == 1 && __builtin_cpu_supports("avx2")) {
    return &avx2_tiles;
  }
  if (i == 2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f")) {
    return &avx512_tiles;
  }
#endif
  return NULL;
}

const stowi_kernel_tiles* stowi_kernel_tiles_best(void) {
  const stowi_kernel_tiles* best = stowi_kernel_tiles_at(0);
  for (size_t i = 1; stowi_kernel_tiles_at(i) != NULL; ++i) {
    best = stowi_kernel_tiles_at(i);
  }
  return best;
}

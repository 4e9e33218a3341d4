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
                       size_t c_row, stowi_kernel_tile_mode mode) {
  for (size_t i = 0; i < rows; ++i) {
    float* to = c + i * c_row;
    float sum[COLUMNS] = {0};
    for (size_t j = 0; j < COLUMNS && mode == STOWI_KERNEL_TILE_GO_ON; ++j) {
      sum[j] = to[j];
    }
    for (size_t p = 0; p < depth; ++p) {
      const float* b = f->b + (f->b_at != NULL ? f->b_at[p] : p * f->b_step);
      for (size_t j = 0; j < COLUMNS; ++j) {
        sum[j] += b[j] * f->a[p * f->a_step + i * f->a_row];
      }
    }
    for (size_t j = 0; j < COLUMNS; ++j) {
      to[j] = mode == STOWI_KERNEL_TILE_ADD ? to[j] + sum[j] : sum[j];
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

// ---------------------------------------------------------------------------------------------
// Blocks of any size

// Columns of which there are fewer than the narrowest tile has: rows are summed side by side.
static void sum_column(size_t rows, size_t depth, const stowi_kernel_tile_factors* f, float* c,
                       size_t c_row, stowi_kernel_tile_mode mode) {
  float sum[STOWI_KERNEL_TILE_ROWS] = {0};
  for (size_t i = 0; i < rows && mode == STOWI_KERNEL_TILE_GO_ON; ++i) {
    sum[i] = c[i * c_row];
  }
  for (size_t p = 0; p < depth; ++p) {
    float b = f->b[f->b_at != NULL ? f->b_at[p] : p * f->b_step];
    for (size_t i = 0; i < rows; ++i) {
      sum[i] += b * f->a[p * f->a_step + i * f->a_row];
    }
  }
  for (size_t i = 0; i < rows; ++i) {
    c[i * c_row] = mode == STOWI_KERNEL_TILE_ADD ? c[i * c_row] + sum[i] : sum[i];
  }
}

static void run_rows(const stowi_kernel_tiles* tiles, size_t rows, size_t columns, size_t depth,
                     stowi_kernel_tile_factors f, float* c, size_t c_row,
                     stowi_kernel_tile_mode mode) {
  for (size_t done = 0; done < columns;) {
    while (tiles != NULL && tiles->columns > columns - done) {
      tiles = tiles->narrower;
    }
    size_t width = tiles == NULL ? 1 : tiles->columns;
    (tiles == NULL ? sum_column : tiles->tile)(rows, depth, &f, c + done, c_row, mode);
    f.b += width;
    done += width;
  }
}

void stowi_kernel_tiles_run(const stowi_kernel_tiles* tiles, size_t rows, size_t columns,
                            size_t depth, const stowi_kernel_tile_factors* factors, float* c,
                            size_t c_row, stowi_kernel_tile_mode mode) {
  for (size_t done = 0; done < rows;) {
    size_t height = stowi_kernel_tile_rows(rows - done);
    stowi_kernel_tile_factors f = *factors;
    if (f.a_steps != 0) {
      f.a += done * f.a_steps + f.a_first * height;
      f.a_row = 1;
      f.a_step = height;
    } else {
      f.a += done * f.a_row;
    }
    run_rows(tiles, height, columns, depth, f, c + done * c_row, c_row, mode);
    done += height;
  }
}

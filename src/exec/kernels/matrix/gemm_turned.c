// Sums go in ascending order of k, so vectors must go across columns, which lie far apart: sixteen
// columns are read side by side, four steps of each, and turned in squares of 4 × 4 in registers.
// Nothing is packed; b streams past once. SSE2 is as fast as memory here.
#include "exec/kernels/matrix/gemm_turned.h"

#if defined(__GNUC__) && !defined(__clang__)

typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
typedef int order __attribute__((vector_size(16)));

// Four steps of four columns, |apart| from each other, added to |sum|.
static inline four add_square(four sum, const float* b, size_t apart, const float* a) {
  four w = *(const four*)b;
  four x = *(const four*)(b + apart);
  four y = *(const four*)(b + 2 * apart);
  four z = *(const four*)(b + 3 * apart);
  four wx_low = __builtin_shuffle(w, x, (order){0, 4, 1, 5});
  four wx_high = __builtin_shuffle(w, x, (order){2, 6, 3, 7});
  four yz_low = __builtin_shuffle(y, z, (order){0, 4, 1, 5});
  four yz_high = __builtin_shuffle(y, z, (order){2, 6, 3, 7});
  sum += __builtin_shuffle(wx_low, yz_low, (order){0, 1, 4, 5}) * a[0];
  sum += __builtin_shuffle(wx_low, yz_low, (order){2, 3, 6, 7}) * a[1];
  sum += __builtin_shuffle(wx_high, yz_high, (order){0, 1, 4, 5}) * a[2];
  sum += __builtin_shuffle(wx_high, yz_high, (order){2, 3, 6, 7}) * a[3];
  return sum;
}

// The chains of steps [begin, end).
static inline void add_chains(const stowi_gemm* g, const float* b, size_t begin, size_t end,
                              four sum[4]) {
  size_t apart = g->b.column;
  size_t p = begin;
  for (; p + 4 <= end; p += 4) {
    float a[4];
    for (size_t i = 0; i < 4; ++i) {
      a[i] = g->alpha * g->a.data[(p + i) * g->a.column];
    }
    sum[0] = add_square(sum[0], b + p, apart, a);
    sum[1] = add_square(sum[1], b + 4 * apart + p, apart, a);
    sum[2] = add_square(sum[2], b + 8 * apart + p, apart, a);
    sum[3] = add_square(sum[3], b + 12 * apart + p, apart, a);
  }
  for (; p < end; ++p) {
    float a = g->alpha * g->a.data[p * g->a.column];
    for (size_t q = 0; q < 4; ++q) {
      const float* at = b + 4 * q * apart + p;
      sum[q] += (four){at[0], at[apart], at[2 * apart], at[3 * apart]} * a;
    }
  }
}

static void multiply_group(const stowi_gemm* g, const float* b, float* c) {
  for (size_t begin = 0; begin < g->k; begin += STOWI_GEMM_CHAIN) {
    size_t left = g->k - begin;
    four sum[4] = {{0}};
    add_chains(g, b, begin, begin + (left < STOWI_GEMM_CHAIN ? left : STOWI_GEMM_CHAIN), sum);
    for (size_t q = 0; q < 4; ++q) {
      four* to = (four*)(c + 4 * q);
      if (begin != 0 || g->accumulate) {
        sum[q] += *to;
      }
      *to = sum[q];
    }
  }
}

size_t stowi_gemm_turned(const stowi_gemm* gemm) {
  size_t columns = gemm->n / STOWI_TURNED_COLUMNS * STOWI_TURNED_COLUMNS;
  for (size_t j = 0; j < columns; j += STOWI_TURNED_COLUMNS) {
    multiply_group(gemm, gemm->b.data + j * gemm->b.column, gemm->c + j);
  }
  return columns;
}

#else

size_t stowi_gemm_turned(const stowi_gemm* gemm) {
  (void)gemm;
  return 0;
}

#endif

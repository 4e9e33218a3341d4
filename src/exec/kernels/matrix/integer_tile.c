// The inner loops of integer products. Bytes less their zero points are 16 bits wide; the
// instruction that x86 has had since SSE2 multiplies them and adds neighbouring products, so a pair
// of steps along k is one multiplication and one addition for each column.
#include "exec/kernels/matrix/integer_tile.h"

#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>

#define NAME(name) sse2_##name
#define NAME_TEXT "sse2"
#define TARGET
#define LANES 4
#define WIDTH 8
#define MULTIPLY_ADD(x, y) ((sse2_vector)_mm_madd_epi16((__m128i)(x), (__m128i)(y)))
#include "exec/kernels/matrix/integer_body.h"
#undef NAME
#undef NAME_TEXT
#undef TARGET
#undef LANES
#undef WIDTH
#undef MULTIPLY_ADD

#define NAME(name) avx2_##name
#define NAME_TEXT "avx2"
#define TARGET __attribute__((target("avx2")))
#define LANES 8
#define WIDTH 16
#define MULTIPLY_ADD(x, y) ((avx2_vector)_mm256_madd_epi16((__m256i)(x), (__m256i)(y)))
#include "exec/kernels/matrix/integer_body.h"
#undef NAME
#undef NAME_TEXT
#undef TARGET
#undef LANES
#undef WIDTH
#undef MULTIPLY_ADD

#define NAME(name) avx512_##name
#define NAME_TEXT "avx512bw"
#define TARGET __attribute__((target("avx512f,avx512bw")))
#define LANES 16
#define WIDTH 32
#define MULTIPLY_ADD(x, y) ((avx512_vector)_mm512_madd_epi16((__m512i)(x), (__m512i)(y)))
#include "exec/kernels/matrix/integer_body.h"
#undef NAME
#undef NAME_TEXT
#undef TARGET
#undef LANES
#undef WIDTH
#undef MULTIPLY_ADD
#endif

#define NAME(name) plain_##name
#define NAME_TEXT "plain"
#define TARGET
#define WIDTH 8
#include "exec/kernels/matrix/integer_body.h"

const stowi_integer_tiles* stowi_integer_tiles_at(size_t i) {
  if (i == 0) {
    return &plain_tiles;
  }
#if defined(__GNUC__) && defined(__x86_64__)
  if (i == 1) {
    return &sse2_tiles;
  }
  if (i == 2 && __builtin_cpu_supports("avx2")) {
    return &avx2_tiles;
  }
  if (i == 3 && __builtin_cpu_supports("avx512bw")) {
    return &avx512_tiles;
  }
#endif
  return NULL;
}

const stowi_integer_tiles* stowi_integer_tiles_best(void) {
  const stowi_integer_tiles* best = stowi_integer_tiles_at(0);
  for (size_t i = 1; stowi_integer_tiles_at(i) != NULL; ++i) {
    best = stowi_integer_tiles_at(i);
  }
  return best;
}

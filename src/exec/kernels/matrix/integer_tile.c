// With AVX-512 and VNNI a tile is 8 rows × 32 columns in 16 vectors of sums. Other vectors hold
// fewer rows, as pairs of i16 are what they multiply. Plain C adds group by group to rows of c, in
// loops that compilers turn into vectors.
#include "exec/kernels/matrix/integer_tile.h"

#include <string.h>

#include "exec/kernels/support/machine.h"

// ---------------------------------------------------------------------------------------------
// Plain C

enum { PLAIN_ROWS = 4 };

// c[j] += four products, of which those of a column lie side by side.
static void plain_add(const int16_t* x, const int8_t* restrict y, size_t width,
                      int32_t* restrict c) {
  int16_t x0 = x[0];
  int16_t x1 = x[1];
  int16_t x2 = x[2];
  int16_t x3 = x[3];
  for (size_t j = 0; j < width; ++j) {
    int32_t sum = x0 * y[4 * j] + x1 * y[4 * j + 1] + x2 * y[4 * j + 2] + x3 * y[4 * j + 3];
    c[j] = (int32_t)((uint32_t)c[j] + (uint32_t)sum);
  }
}

static void plain_tile(const stowi_kernel_integer_tile* t) {
  for (size_t i = 0; i < t->rows && !t->accumulate; ++i) {
    memset(t->c + i * t->c_row, 0, t->width * sizeof(int32_t));
  }
  for (size_t p = 0; p < t->groups; ++p) {
    const int8_t* y = (const int8_t*)t->b + 4 * p * t->width;
    for (size_t i = 0; i < t->rows; ++i) {
      const uint8_t* from = t->a + i * t->a_row + 4 * p;
      int16_t x[4];
      for (size_t q = 0; q < 4; ++q) {
        x[q] = (int16_t)(from[q] ^ t->flip);
      }
      plain_add(x, y, t->width, t->c + i * t->c_row);
    }
  }
}

static void plain_pack(size_t groups, const uint8_t* const* rows, size_t width, uint8_t flip,
                       uint8_t* out) {
  for (size_t p = 0; p < groups; ++p) {
    for (size_t j = 0; j < width; ++j, out += 4) {
      for (size_t q = 0; q < 4; ++q) {
        out[q] = rows[4 * p + q][j] ^ flip;
      }
    }
  }
}

static const stowi_kernel_integer_tiles plain_tiles = {"plain", PLAIN_ROWS, plain_tile, plain_pack};

#if defined(STOWI_KERNEL_X86)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))
#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define INLINE static inline __attribute__((always_inline))

// ---------------------------------------------------------------------------------------------
// Packing

static void sse2_pack_8(const uint8_t* const* rows, size_t column, __m128i flip, uint8_t* out) {
  __m128i r[4];
  for (size_t q = 0; q < 4; ++q) {
    r[q] = _mm_xor_si128(_mm_loadl_epi64((const __m128i*)(const void*)(rows[q] + column)), flip);
  }
  __m128i first = _mm_unpacklo_epi8(r[0], r[1]);
  __m128i second = _mm_unpacklo_epi8(r[2], r[3]);
  __m128i* to = (__m128i*)(void*)out;
  _mm_storeu_si128(to, _mm_unpacklo_epi16(first, second));
  _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(first, second));
}

static void sse2_pack(size_t groups, const uint8_t* const* rows, size_t width, uint8_t flip,
                      uint8_t* out) {
  for (size_t p = 0; p < groups; ++p) {
    for (size_t j = 0; j < width; j += 8, out += 32) {
      sse2_pack_8(rows + 4 * p, j, _mm_set1_epi8((char)flip), out);
    }
  }
}

static AVX2 void avx2_pack(size_t groups, const uint8_t* const* rows, size_t width, uint8_t flip,
                           uint8_t* out) {
  if (width != STOWI_KERNEL_INTEGER_COLUMNS) {
    sse2_pack(groups, rows, width, flip, out);
    return;
  }
  __m256i flips = _mm256_set1_epi8((char)flip);
  for (size_t p = 0; p < groups; ++p, out += 4 * STOWI_KERNEL_INTEGER_COLUMNS) {
    __m256i r[4];
    for (size_t q = 0; q < 4; ++q) {
      r[q] = _mm256_loadu_si256((const __m256i*)(const void*)rows[4 * p + q]);
      r[q] = _mm256_xor_si256(r[q], flips);
    }
    __m256i low = _mm256_unpacklo_epi8(r[0], r[1]);
    __m256i high = _mm256_unpackhi_epi8(r[0], r[1]);
    __m256i more_low = _mm256_unpacklo_epi8(r[2], r[3]);
    __m256i more_high = _mm256_unpackhi_epi8(r[2], r[3]);
    // Columns 0 to 3 and 16 to 19, 4 to 7 and 20 to 23, and so on.
    __m256i a = _mm256_unpacklo_epi16(low, more_low);
    __m256i b = _mm256_unpackhi_epi16(low, more_low);
    __m256i c = _mm256_unpacklo_epi16(high, more_high);
    __m256i d = _mm256_unpackhi_epi16(high, more_high);
    __m256i* to = (__m256i*)(void*)out;
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(c, d, 0x20));
    _mm256_storeu_si256(to + 2, _mm256_permute2x128_si256(a, b, 0x31));
    _mm256_storeu_si256(to + 3, _mm256_permute2x128_si256(c, d, 0x31));
  }
}

// ---------------------------------------------------------------------------------------------
// Pairs of i16

INLINE __m128i sse2_widen(const uint8_t* from) {
  __m128i bytes = _mm_loadl_epi64((const __m128i*)(const void*)from);
  return _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
}

INLINE __m128i sse2_spread(int32_t four, uint8_t flip) {
  __m128i bytes = _mm_xor_si128(_mm_set1_epi32(four), _mm_set1_epi8((char)flip));
  return _mm_unpacklo_epi8(bytes, _mm_setzero_si128());
}

INLINE void sse2_fold(int32_t* to, __m128i sums, bool accumulate) {
  __m128i* at = (__m128i*)(void*)to;
  __m128i folded = _mm_add_epi32(_mm_shuffle_epi32(sums, 0x88), _mm_shuffle_epi32(sums, 0xdd));
  _mm_storel_epi64(at, accumulate ? _mm_add_epi32(folded, _mm_loadl_epi64(at)) : folded);
}

#define NAME(name) sse2_##name
#define NAME_TEXT "sse2"
#define TARGET
#define ROWS 2
#define vector __m128i
#define COLUMNS 2
#define ZERO _mm_setzero_si128()
#define WIDEN sse2_widen
#define SPREAD sse2_spread
#define ADD_PAIRS(sums, x, y) _mm_add_epi32(sums, _mm_madd_epi16(x, y))
#define FOLD sse2_fold
#define PACK sse2_pack
#include "exec/kernels/matrix/integer_body.h"

INLINE AVX2 __m256i avx2_widen(const uint8_t* from) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)(const void*)from));
}

INLINE AVX2 __m256i avx2_spread(int32_t four, uint8_t flip) {
  __m128i bytes = _mm_xor_si128(_mm_set1_epi32(four), _mm_set1_epi8((char)flip));
  return _mm256_cvtepu8_epi16(bytes);
}

INLINE AVX2 void avx2_fold(int32_t* to, __m256i sums, bool accumulate) {
  __m128i* at = (__m128i*)(void*)to;
  __m256i both =
      _mm256_add_epi32(_mm256_shuffle_epi32(sums, 0x88), _mm256_shuffle_epi32(sums, 0xdd));
  __m128i folded = _mm256_castsi256_si128(_mm256_permute4x64_epi64(both, 0x08));
  _mm_storeu_si128(at, accumulate ? _mm_add_epi32(folded, _mm_loadu_si128(at)) : folded);
}

#define NAME(name) avx2_##name
#define NAME_TEXT "avx2"
#define TARGET AVX2
#define ROWS 2
#define vector __m256i
#define COLUMNS 4
#define ZERO _mm256_setzero_si256()
#define WIDEN avx2_widen
#define SPREAD avx2_spread
#define ADD_PAIRS(sums, x, y) _mm256_add_epi32(sums, _mm256_madd_epi16(x, y))
#define FOLD avx2_fold
#define PACK avx2_pack
#include "exec/kernels/matrix/integer_body.h"

INLINE AVX512 __m512i avx512_widen(const uint8_t* from) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i*)(const void*)from));
}

INLINE AVX512 __m512i avx512_spread(int32_t four, uint8_t flip) {
  __m256i bytes = _mm256_xor_si256(_mm256_set1_epi32(four), _mm256_set1_epi8((char)flip));
  return _mm512_cvtepu8_epi16(bytes);
}

INLINE AVX512 void avx512_fold(int32_t* to, __m512i sums, bool accumulate) {
  const __m512i even = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
  __m256i* at = (__m256i*)(void*)to;
  __m512i both =
      _mm512_add_epi32(_mm512_shuffle_epi32(sums, 0x88), _mm512_shuffle_epi32(sums, 0xdd));
  __m256i folded = _mm512_castsi512_si256(_mm512_permutexvar_epi64(even, both));
  _mm256_storeu_si256(at, accumulate ? _mm256_add_epi32(folded, _mm256_loadu_si256(at)) : folded);
}

#define NAME(name) avx512_##name
#define NAME_TEXT "avx512bw"
#define TARGET AVX512
#define ROWS 4
#define vector __m512i
#define COLUMNS 8
#define ZERO _mm512_setzero_si512()
#define WIDEN avx512_widen
#define SPREAD avx512_spread
#define ADD_PAIRS(sums, x, y) _mm512_add_epi32(sums, _mm512_madd_epi16(x, y))
#define FOLD avx512_fold
#define PACK avx2_pack
#include "exec/kernels/matrix/integer_body.h"

// ---------------------------------------------------------------------------------------------
// VNNI

INLINE VNNI __m512i vnni_four(const uint8_t* a, __m512i flip) {
  int32_t four;
  memcpy(&four, a, sizeof(four));
  return _mm512_xor_si512(_mm512_set1_epi32(four), flip);
}

// The compiler copies sums to and fro around the intrinsic, and reads b again for each row.
INLINE VNNI void add_products(__m512i* sums, __m512i a, __m512i b) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(*sums) : "v"(a), "v"(b));
}

// Two vectors of columns, or one of which |mask| says what there is.
INLINE VNNI void vnni_tile_of(size_t rows, bool has_two, const stowi_kernel_integer_tile* t,
                              size_t column, __mmask16 mask) {
  __m512i sums[STOWI_KERNEL_INTEGER_ROWS];
  __m512i more[STOWI_KERNEL_INTEGER_ROWS];
  __m512i flip = _mm512_set1_epi8((char)t->flip);
  const uint8_t* a = t->a;
  const uint8_t* b = t->b + 4 * column;
  size_t a_row = t->a_row;
  size_t b_row = 4 * t->width;
  int32_t* c = t->c + column;
#pragma GCC unroll 8
  for (size_t i = 0; i < rows; ++i) {
    sums[i] = _mm512_setzero_si512();
    more[i] = _mm512_setzero_si512();
    if (t->accumulate) {
      sums[i] = _mm512_maskz_loadu_epi32(mask, c + i * t->c_row);
      more[i] = has_two ? _mm512_loadu_si512(c + i * t->c_row + 16) : sums[i];
    }
  }
  for (size_t p = 0; p < t->groups; ++p, a += 4, b += b_row) {
    __m512i y = has_two ? _mm512_loadu_si512(b) : _mm512_maskz_loadu_epi32(mask, b);
    __m512i z = has_two ? _mm512_loadu_si512(b + 64) : y;
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; ++i) {
      __m512i x = vnni_four(a + i * a_row, flip);
      add_products(&sums[i], x, y);
      if (has_two) {
        add_products(&more[i], x, z);
      }
    }
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < rows; ++i) {
    _mm512_mask_storeu_epi32(c + i * t->c_row, mask, sums[i]);
    if (has_two) {
      _mm512_storeu_si512(c + i * t->c_row + 16, more[i]);
    }
  }
}

INLINE VNNI void vnni_add_group(size_t rows, const uint8_t* a, size_t a_row, __m512i flip,
                                const uint8_t* b, __m512i* sums) {
  __m512i y = _mm512_loadu_si512(b);
  __m512i z = _mm512_loadu_si512(b + 64);
  __m512i x = vnni_four(a, flip);
  add_products(&sums[0], x, y);
  add_products(&sums[1], x, z);
  if (rows == 2) {
    x = vnni_four(a + a_row, flip);
    add_products(&sums[2], x, y);
    add_products(&sums[3], x, z);
  }
}

// One row or two have to wait for each of their sums: every other group has its own.
INLINE VNNI void vnni_few_rows(size_t rows, const stowi_kernel_integer_tile* t) {
  __m512i zero = _mm512_setzero_si512();
  __m512i even[4] = {zero, zero, zero, zero};
  __m512i odd[4] = {zero, zero, zero, zero};
  const uint8_t* a = t->a;
  const uint8_t* b = t->b;
  size_t groups = t->groups;
  size_t a_row = t->a_row;
  __m512i flip = _mm512_set1_epi8((char)t->flip);
  for (; groups >= 2; groups -= 2, a += 8, b += 256) {
    vnni_add_group(rows, a, a_row, flip, b, even);
    vnni_add_group(rows, a + 4, a_row, flip, b + 128, odd);
  }
  if (groups != 0) {
    vnni_add_group(rows, a, a_row, flip, b, even);
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < 2 * rows; ++v) {
    int32_t* c = t->c + v / 2 * t->c_row + v % 2 * 16;
    __m512i both = _mm512_add_epi32(even[v], odd[v]);
    _mm512_storeu_si512(c, t->accumulate ? _mm512_add_epi32(both, _mm512_loadu_si512(c)) : both);
  }
}

INLINE VNNI void vnni_rows_of(size_t rows, const stowi_kernel_integer_tile* t) {
  if (t->width == STOWI_KERNEL_INTEGER_COLUMNS) {
    if (rows <= 2) {
      vnni_few_rows(rows, t);
    } else {
      vnni_tile_of(rows, true, t, 0, 0xffff);
    }
    return;
  }
  for (size_t column = 0; column < t->width; column += 16) {
    vnni_tile_of(rows, false, t, column, t->width - column >= 16 ? 0xffff : 0xff);
  }
}

static VNNI void vnni_tile(const stowi_kernel_integer_tile* t) {
  switch (t->rows) {
    case 1: vnni_rows_of(1, t); break;
    case 2: vnni_rows_of(2, t); break;
    case 3: vnni_rows_of(3, t); break;
    case 4: vnni_rows_of(4, t); break;
    case 5: vnni_rows_of(5, t); break;
    case 6: vnni_rows_of(6, t); break;
    case 7: vnni_rows_of(7, t); break;
    default: vnni_rows_of(STOWI_KERNEL_INTEGER_ROWS, t); break;
  }
}

static const stowi_kernel_integer_tiles vnni_tiles = {"avx512vnni", STOWI_KERNEL_INTEGER_ROWS,
                                                      vnni_tile, avx2_pack};
#endif

// ---------------------------------------------------------------------------------------------

const stowi_kernel_integer_tiles* stowi_kernel_integer_tiles_at(size_t i) {
  if (i == 0) {
    return &plain_tiles;
  }
#if defined(STOWI_KERNEL_X86)
  if (i == 1) {
    return &sse2_tiles;
  }
  if (i == 2 && stowi_kernel_machine_is() >= STOWI_KERNEL_MACHINE_AVX2) {
    return &avx2_tiles;
  }
  if (i == 3 && stowi_kernel_machine_is() >= STOWI_KERNEL_MACHINE_AVX512) {
    return &avx512_tiles;
  }
  if (i == 4 && stowi_kernel_machine_is() >= STOWI_KERNEL_MACHINE_VNNI) {
    return &vnni_tiles;
  }
#endif
  return NULL;
}

const stowi_kernel_integer_tiles* stowi_kernel_integer_tiles_best(void) {
  const stowi_kernel_integer_tiles* best = stowi_kernel_integer_tiles_at(0);
  for (size_t i = 1; stowi_kernel_integer_tiles_at(i) != NULL; ++i) {
    best = stowi_kernel_integer_tiles_at(i);
  }
  return best;
}

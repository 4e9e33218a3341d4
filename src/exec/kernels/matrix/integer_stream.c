// Products of one or two rows with a second factor that is not packed: its rows are read from one
// end to the other, which is what memory is fast at, and are added to the row of c.
#include <string.h>

#include "exec/kernels/matrix/integer_gemm.h"
#include "exec/kernels/support/machine.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

#if defined(STOWI_KERNEL_X86)
#include <immintrin.h>

// Eight steps of all columns at a time, as pairs of 16 bits: the rows of b are read from one end to
// the other, which is what memory is fast at, and sums are in c.
enum { STREAM_PAIRS = 4 };

// What is added to each column.
typedef struct stream_step {
  int32_t pairs[STREAM_PAIRS];  // of a
  const uint8_t* rows[2 * STREAM_PAIRS];
} stream_step;

static void begin_stream_step(const int16_t* a, size_t steps, const uint8_t* b, size_t b_row,
                              stream_step* out) {
  for (size_t q = 0; q < STREAM_PAIRS; ++q) {
    size_t p = 2 * q;
    int16_t pair[2] = {p < steps ? a[p] : 0, p + 1 < steps ? a[p + 1] : 0};
    memcpy(&out->pairs[q], pair, sizeof(pair));
    out->rows[p] = p < steps ? b + p * b_row : b;
    out->rows[p + 1] = p + 1 < steps ? b + (p + 1) * b_row : b;
  }
}

static void stream_rest(const stream_step* s, bool is_signed, size_t first, size_t count,
                        int32_t* c) {
  for (size_t j = first; j < count; ++j) {
    uint32_t sum = (uint32_t)c[j];
    for (size_t p = 0; p < 2 * STREAM_PAIRS; ++p) {
      int16_t pair[2];
      memcpy(pair, &s->pairs[p / 2], sizeof(pair));
      uint8_t byte = s->rows[p][j];
      sum += (uint32_t)(pair[p % 2] * (is_signed ? (int8_t)byte : (int32_t)byte));
    }
    c[j] = (int32_t)sum;
  }
}

#define AVX2 __attribute__((target("avx2")))
#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

static inline __attribute__((always_inline)) AVX2 __m256i wide_bytes(const uint8_t* from,
                                                                     bool is_signed) {
  __m128i bytes = _mm_loadu_si128((const __m128i*)(const void*)from);
  return is_signed ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
}

// Sums of columns 0 to 3 and 8 to 11 of each 16 are in one vector, the others in the next one.
static inline __attribute__((always_inline)) AVX2 void stream_16(const stream_step* s,
                                                                 bool is_signed, size_t count,
                                                                 int32_t* c) {
  size_t j = 0;
  for (; j + 16 <= count; j += 16) {
    __m256i low = _mm256_setzero_si256();
    __m256i high = _mm256_setzero_si256();
    for (size_t q = 0; q < STREAM_PAIRS; ++q) {
      __m256i x = _mm256_set1_epi32(s->pairs[q]);
      __m256i first = wide_bytes(s->rows[2 * q] + j, is_signed);
      __m256i second = wide_bytes(s->rows[2 * q + 1] + j, is_signed);
      low = _mm256_add_epi32(low, _mm256_madd_epi16(x, _mm256_unpacklo_epi16(first, second)));
      high = _mm256_add_epi32(high, _mm256_madd_epi16(x, _mm256_unpackhi_epi16(first, second)));
    }
    __m256i* to = (__m256i*)(void*)(c + j);
    __m256i begin = _mm256_permute2x128_si256(low, high, 0x20);
    __m256i end = _mm256_permute2x128_si256(low, high, 0x31);
    _mm256_storeu_si256(to, _mm256_add_epi32(_mm256_loadu_si256(to), begin));
    _mm256_storeu_si256(to + 1, _mm256_add_epi32(_mm256_loadu_si256(to + 1), end));
  }
  stream_rest(s, is_signed, j, count, c);
}

static AVX2 void stream_by_pairs(const int16_t* a, size_t steps, const void* b, size_t b_row,
                                 bool is_signed, size_t count, int32_t* c) {
  for (size_t p = 0; p < steps; p += 2 * (size_t)STREAM_PAIRS) {
    stream_step s;
    begin_stream_step(a + p, steps - p, (const uint8_t*)b + p * b_row, b_row, &s);
    if (is_signed) {
      stream_16(&s, true, count, c);
    } else {
      stream_16(&s, false, count, c);
    }
  }
}

// Columns are in the order of unpacked quarters until they are added to c.
static inline __attribute__((always_inline)) VNNI void stream_32(const stream_step* s,
                                                                 bool is_signed, size_t count,
                                                                 int32_t* c) {
  const __m512i to_begin = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
  const __m512i to_end = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
  size_t j = 0;
  for (; j + 32 <= count; j += 32) {
    __m512i low = _mm512_setzero_si512();
    __m512i high = _mm512_setzero_si512();
    for (size_t q = 0; q < STREAM_PAIRS; ++q) {
      __m512i x = _mm512_set1_epi32(s->pairs[q]);
      __m256i bytes = _mm256_loadu_si256((const __m256i*)(const void*)(s->rows[2 * q] + j));
      __m256i more = _mm256_loadu_si256((const __m256i*)(const void*)(s->rows[2 * q + 1] + j));
      __m512i first = is_signed ? _mm512_cvtepi8_epi16(bytes) : _mm512_cvtepu8_epi16(bytes);
      __m512i second = is_signed ? _mm512_cvtepi8_epi16(more) : _mm512_cvtepu8_epi16(more);
      low = _mm512_dpwssd_epi32(low, x, _mm512_unpacklo_epi16(first, second));
      high = _mm512_dpwssd_epi32(high, x, _mm512_unpackhi_epi16(first, second));
    }
    int32_t* to = c + j;
    __m512i begin = _mm512_permutex2var_epi64(low, to_begin, high);
    __m512i end = _mm512_permutex2var_epi64(low, to_end, high);
    _mm512_storeu_si512(to, _mm512_add_epi32(_mm512_loadu_si512(to), begin));
    _mm512_storeu_si512(to + 16, _mm512_add_epi32(_mm512_loadu_si512(to + 16), end));
  }
  stream_rest(s, is_signed, j, count, c);
}

static VNNI void stream_by_vnni(const int16_t* a, size_t steps, const void* b, size_t b_row,
                                bool is_signed, size_t count, int32_t* c) {
  for (size_t p = 0; p < steps; p += 2 * (size_t)STREAM_PAIRS) {
    stream_step s;
    begin_stream_step(a + p, steps - p, (const uint8_t*)b + p * b_row, b_row, &s);
    if (is_signed) {
      stream_32(&s, true, count, c);
    } else {
      stream_32(&s, false, count, c);
    }
  }
}

#endif

#define DEFINE_STREAM(name, type)                                                             \
  static void name(const int16_t* a, size_t steps, const type* b, size_t b_row, size_t count, \
                   int32_t* restrict c) {                                                     \
    for (size_t p = 0; p < steps; ++p) {                                                      \
      for (size_t j = 0; j < count; ++j) {                                                    \
        c[j] = (int32_t)((uint32_t)c[j] + (uint32_t)(a[p] * b[p * b_row + j]));               \
      }                                                                                       \
    }                                                                                         \
  }
DEFINE_STREAM(stream_signed, int8_t)
DEFINE_STREAM(stream_unsigned, uint8_t)
#undef DEFINE_STREAM

// c[j] += a[0]·b[j] + a[1]·b[b_row + j] + … for |steps| rows of b and j < count
static void stream(const int16_t* a, size_t steps, const void* b, size_t b_row, bool is_signed,
                   size_t count, int32_t* c) {
#if defined(STOWI_KERNEL_X86)
  if (stowi_kernel_machine_is() >= STOWI_KERNEL_MACHINE_VNNI) {
    stream_by_vnni(a, steps, b, b_row, is_signed, count, c);
    return;
  }
  if (stowi_kernel_machine_is() >= STOWI_KERNEL_MACHINE_AVX2) {
    stream_by_pairs(a, steps, b, b_row, is_signed, count, c);
    return;
  }
#endif
  if (is_signed) {
    stream_signed(a, steps, b, b_row, count, c);
  } else {
    stream_unsigned(a, steps, b, b_row, count, c);
  }
}

enum {
  DEPTH = 512,   // steps that are streamed at a time
  PIECE = 4096,  // and columns
};

static int32_t zero_at(const int32_t* zero, size_t step, size_t i) {
  return zero != NULL ? zero[i * step] : 0;
}

// Columns of one row: the zero points of b are taken off at the end, all at once.
static void stream_row(const stowi_kernel_integer_gemm* g, size_t i, size_t column,
                       size_t columns) {
  int32_t* c = g->c + i * g->c_row + column;
  int32_t a_zero = zero_at(g->a_zero, g->a_zero_step, i);
  uint32_t whole = 0;
  for (size_t step = 0; step < g->k; step += DEPTH) {
    int16_t a[DEPTH];
    size_t steps = stowi_kernel_smaller(g->k - step, DEPTH);
    for (size_t p = 0; p < steps; ++p) {
      int32_t x = stowi_kernel_byte_at(&g->a, i, step + p) - a_zero;
      a[p] = (int16_t)x;
      whole += (uint32_t)x;
    }
    stream(a, steps, (const uint8_t*)g->b.data + step * g->b.row + column, g->b.row, g->b.is_signed,
           columns, c);
  }
  for (size_t j = 0; j < columns && g->b_zero != NULL; ++j) {
    c[j] = (int32_t)((uint32_t)c[j] -
                     whole * (uint32_t)zero_at(g->b_zero, g->b_zero_step, column + j));
  }
}

void stowi_kernel_integer_stream(const stowi_kernel_integer_gemm* g) {
  for (size_t i = 0; i < g->m; ++i) {
    for (size_t column = 0; column < g->n; column += PIECE) {
      stream_row(g, i, column, stowi_kernel_smaller(g->n - column, PIECE));
    }
  }
}

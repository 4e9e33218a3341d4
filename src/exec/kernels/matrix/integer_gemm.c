// Products of matrices of bytes: the inner loops, and the blocking around them.
#include "exec/kernels/matrix/integer_gemm.h"

#include <string.h>

#include "exec/kernels/support/machine.h"
#include "exec/kernels/support/size.h"

// ---------------------------------------------------------------------------------------------
// Inner loops. Bytes minus their zero points are 16 bits wide. SSE2's multiply-add of 16-bit pairs
// makes two steps along k one multiplication and one addition per column.

#if defined(STOWI_KERNEL_X86)
#include <immintrin.h>

#define NAME(name) sse2_##name
#define NAME_TEXT "sse2"
#define TARGET
#define LANES 4
#define WIDTH 8
#define ADD_PAIRS(sum, x, y) ((sum) + (sse2_vector)_mm_madd_epi16((__m128i)(x), (__m128i)(y)))
#include "exec/kernels/matrix/integer_body.h"

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
#define VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))

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

#define NAME(name) avx2_##name
#define NAME_TEXT "avx2"
#define TARGET __attribute__((target("avx2")))
#define LANES 8
#define WIDTH 16
#define ADD_PAIRS(sum, x, y) ((sum) + (avx2_vector)_mm256_madd_epi16((__m256i)(x), (__m256i)(y)))
#define STREAM stream_by_pairs
#include "exec/kernels/matrix/integer_body.h"

#define NAME(name) avx512_##name
#define NAME_TEXT "avx512bw"
#define TARGET __attribute__((target("avx512f,avx512bw")))
#define LANES 16
#define WIDTH 32
#define ADD_PAIRS(sum, x, y) ((sum) + (avx512_vector)_mm512_madd_epi16((__m512i)(x), (__m512i)(y)))
#define STREAM stream_by_pairs
#include "exec/kernels/matrix/integer_body.h"

#define NAME(name) vnni_##name
#define NAME_TEXT "avx512vnni"
#define TARGET VNNI
#define LANES 16
#define WIDTH 32
#define ADD_PAIRS(sum, x, y) \
  ((vnni_vector)_mm512_dpwssd_epi32((__m512i)(sum), (__m512i)(x), (__m512i)(y)))
#define STREAM stream_by_vnni
#include "exec/kernels/matrix/integer_body.h"
#endif

#define NAME(name) plain_##name
#define NAME_TEXT "plain"
#define TARGET
#define WIDTH 8
#include "exec/kernels/matrix/integer_body.h"

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

static const stowi_kernel_integer_tiles* integer_tiles_best(void) {
  const stowi_kernel_integer_tiles* best = stowi_kernel_integer_tiles_at(0);
  for (size_t i = 1; stowi_kernel_integer_tiles_at(i) != NULL; ++i) {
    best = stowi_kernel_integer_tiles_at(i);
  }
  return best;
}

// ---------------------------------------------------------------------------------------------
// Blocking, as in gemm.c. Packing widens every byte to 16 bits and subtracts the zero points, so
// that the inner loops need not. Products of one or two rows are not packed if the rows of b are
// contiguous: each is streamed past the row of c.

enum {
  DEPTH = 512,         // steps of k in a block, an even number
  ROWS = 128,          // rows of a in a block
  STREAM_ROWS = 2,     // products of so few rows are not packed
  STREAM_DEPTH = 512,  // steps that are streamed at a time
  PIECE = 4096,        // and columns
  LEAN_DEPTH = 32,     // steps of k in a block without scratch, an even number
};

static size_t even(size_t k) { return (k + 1) / 2 * 2; }

static size_t packed_a(size_t m, size_t k) {
  return (stowi_kernel_smaller(m, ROWS) * even(stowi_kernel_smaller(k, DEPTH)) + 31) / 32 * 32;
}

uint64_t stowi_kernel_integer_gemm_scratch(size_t m, size_t n, size_t k) {
  (void)n;
  uint64_t count =
      packed_a(m, k) + even(stowi_kernel_smaller(k, DEPTH)) * STOWI_KERNEL_INTEGER_COLUMNS;
  return (count * sizeof(int16_t) + 63) / 64 * 64;
}

static int32_t byte_at(const stowi_kernel_bytes* x, size_t i, size_t j) {
  size_t at = i * x->row + j * x->column;
  return x->is_signed ? ((const int8_t*)x->data)[at] : ((const uint8_t*)x->data)[at];
}

static int32_t zero_at(const int32_t* zero, size_t step, size_t i) {
  return zero != NULL ? zero[i * step] : 0;
}

static size_t panel_rows(size_t left) { return left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1; }

// Row |i| of a as 16 bits, of an even number of steps.
static void widen_row(const stowi_kernel_integer_tiles* tiles, const stowi_kernel_integer_gemm* g,
                      size_t i, size_t step, size_t steps, int16_t* out) {
  int32_t zero = zero_at(g->a_zero, g->a_zero_step, i);
  out[even(steps) - 1] = 0;
  if (g->a.column == 1) {
    tiles->widen((const uint8_t*)g->a.data + i * g->a.row + step, g->a.is_signed, zero, steps, out);
    return;
  }
  for (size_t p = 0; p < steps; ++p) {
    out[p] = (int16_t)(byte_at(&g->a, i, step + p) - zero);
  }
}

static void pack_a(const stowi_kernel_integer_tiles* tiles, const stowi_kernel_integer_gemm* g,
                   size_t row, size_t rows, size_t step, size_t steps, int16_t* out) {
  size_t pairs = even(steps) / 2;
  for (size_t i = 0; i < rows;) {
    size_t height = panel_rows(rows - i);
    for (size_t r = 0; r < height; ++r) {
      int16_t line[DEPTH];
      widen_row(tiles, g, row + i + r, step, steps, line);
      for (size_t p = 0; p < pairs; ++p) {
        memcpy(out + 2 * (i * pairs + p * height + r), line + 2 * p, 2 * sizeof(int16_t));
      }
    }
    i += height;
  }
}

// A panel that has not all of a tile's columns, or whose columns are not adjacent.
static void pack_any_b(const stowi_kernel_integer_tiles* tiles, const stowi_kernel_integer_gemm* g,
                       size_t step, size_t steps, size_t column, size_t columns,
                       const int16_t* zero, int16_t* out) {
  for (size_t p = 0; p < steps; p += 2) {
    int16_t* to = out + p * tiles->columns;
    for (size_t j = 0; j < columns; ++j) {
      to[2 * j] = (int16_t)(byte_at(&g->b, step + p, column + j) - zero[j]);
      to[2 * j + 1] =
          p + 1 < steps ? (int16_t)(byte_at(&g->b, step + p + 1, column + j) - zero[j]) : 0;
    }
    for (size_t j = columns; j < tiles->columns; ++j) {
      to[2 * j] = to[2 * j + 1] = 0;
    }
  }
}

static void pack_b(const stowi_kernel_integer_tiles* tiles, const stowi_kernel_integer_gemm* g,
                   size_t step, size_t steps, size_t column, size_t columns, int16_t* out) {
  int16_t zero[STOWI_KERNEL_INTEGER_COLUMNS];
  for (size_t j = 0; j < columns; ++j) {
    zero[j] = (int16_t)zero_at(g->b_zero, g->b_zero_step, column + j);
  }
  size_t done = 0;
  if (columns == tiles->columns && g->b.column == 1) {
    const uint8_t* from = (const uint8_t*)g->b.data + step * g->b.row + column;
    tiles->pack(from, g->b.row, g->b.is_signed, zero, steps / 2, out);
    done = steps / 2 * 2;
  }
  if (done < steps) {
    pack_any_b(tiles, g, step + done, steps - done, column, columns, zero,
               out + done * tiles->columns);
  }
}

static void tile_at(const stowi_kernel_integer_tiles* tiles, size_t rows, size_t columns,
                    size_t pairs, const int16_t* a, const int16_t* b, int32_t* c, size_t c_row,
                    bool accumulate) {
  if (columns == tiles->columns) {
    tiles->tile(rows, pairs, a, b, c, c_row, accumulate);
    return;
  }
  int32_t whole[STOWI_KERNEL_INTEGER_ROWS * STOWI_KERNEL_INTEGER_COLUMNS];
  tiles->tile(rows, pairs, a, b, whole, tiles->columns, false);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      uint32_t before = accumulate ? (uint32_t)c[i * c_row + j] : 0;
      c[i * c_row + j] = (int32_t)(before + (uint32_t)whole[i * tiles->columns + j]);
    }
  }
}

static void multiply_blocks(const stowi_kernel_integer_tiles* tiles,
                            const stowi_kernel_integer_gemm* g, int16_t* scratch) {
  int16_t* a = scratch;
  int16_t* b = scratch + packed_a(g->m, g->k);
  for (size_t step = 0; step < g->k; step += DEPTH) {
    size_t steps = stowi_kernel_smaller(g->k - step, DEPTH);
    size_t pairs = even(steps) / 2;
    for (size_t row = 0; row < g->m; row += ROWS) {
      size_t rows = stowi_kernel_smaller(g->m - row, ROWS);
      pack_a(tiles, g, row, rows, step, steps, a);
      for (size_t column = 0; column < g->n; column += tiles->columns) {
        size_t columns = stowi_kernel_smaller(g->n - column, tiles->columns);
        pack_b(tiles, g, step, steps, column, columns, b);
        for (size_t i = 0; i < rows;) {
          size_t height = panel_rows(rows - i);
          tile_at(tiles, height, columns, pairs, a + i * 2 * pairs, b,
                  g->c + (row + i) * g->c_row + column, g->c_row, step != 0);
          i += height;
        }
      }
    }
  }
}

// Columns of one row: the zero points of b are taken off at the end, all at once.
static void stream_row(const stowi_kernel_integer_tiles* tiles, const stowi_kernel_integer_gemm* g,
                       size_t i, size_t column, size_t columns) {
  int32_t* c = g->c + i * g->c_row + column;
  int32_t a_zero = zero_at(g->a_zero, g->a_zero_step, i);
  uint32_t whole = 0;
  for (size_t step = 0; step < g->k; step += STREAM_DEPTH) {
    int16_t a[STREAM_DEPTH];
    size_t steps = stowi_kernel_smaller(g->k - step, STREAM_DEPTH);
    for (size_t p = 0; p < steps; ++p) {
      int32_t x = byte_at(&g->a, i, step + p) - a_zero;
      a[p] = (int16_t)x;
      whole += (uint32_t)x;
    }
    tiles->stream(a, steps, (const uint8_t*)g->b.data + step * g->b.row + column, g->b.row,
                  g->b.is_signed, columns, c);
  }
  for (size_t j = 0; j < columns && g->b_zero != NULL; ++j) {
    c[j] = (int32_t)((uint32_t)c[j] -
                     whole * (uint32_t)zero_at(g->b_zero, g->b_zero_step, column + j));
  }
}

// Added to what c holds.
static void multiply_stream(const stowi_kernel_integer_tiles* tiles,
                            const stowi_kernel_integer_gemm* g) {
  for (size_t i = 0; i < g->m; ++i) {
    for (size_t column = 0; column < g->n; column += PIECE) {
      stream_row(tiles, g, i, column, stowi_kernel_smaller(g->n - column, PIECE));
    }
  }
}

static void clear(const stowi_kernel_integer_gemm* g) {
  for (size_t i = 0; i < g->m; ++i) {
    memset(g->c + i * g->c_row, 0, g->n * sizeof(int32_t));
  }
}

void stowi_kernel_integer_gemm_by(const stowi_kernel_integer_tiles* tiles,
                                  const stowi_kernel_integer_gemm* gemm, void* scratch) {
  if (gemm->k == 0) {
    clear(gemm);
  } else if (gemm->m <= STREAM_ROWS && gemm->b.column == 1) {
    clear(gemm);
    multiply_stream(tiles, gemm);
  } else {
    multiply_blocks(tiles, gemm, scratch);
  }
}

void stowi_kernel_integer_gemm_alone(const stowi_kernel_integer_gemm* gemm, void* scratch) {
  stowi_kernel_integer_gemm_by(integer_tiles_best(), gemm, scratch);
}

// ---------------------------------------------------------------------------------------------
// Without scratch: small blocks are packed on the stack. Products of one or two rows are streamed
// if the rows of b are contiguous.

static void multiply_lean(const stowi_kernel_integer_tiles* tiles,
                          const stowi_kernel_integer_gemm* g) {
  _Alignas(64) int16_t a[STOWI_KERNEL_INTEGER_ROWS * LEAN_DEPTH];
  _Alignas(64) int16_t b[LEAN_DEPTH * STOWI_KERNEL_INTEGER_COLUMNS];
  for (size_t column = 0; column < g->n; column += tiles->columns) {
    size_t columns = stowi_kernel_smaller(g->n - column, tiles->columns);
    for (size_t step = 0; step < g->k; step += LEAN_DEPTH) {
      size_t steps = stowi_kernel_smaller(g->k - step, LEAN_DEPTH);
      pack_b(tiles, g, step, steps, column, columns, b);
      for (size_t i = 0; i < g->m;) {
        size_t height = panel_rows(g->m - i);
        pack_a(tiles, g, i, height, step, steps, a);
        tile_at(tiles, height, columns, even(steps) / 2, a, b, g->c + i * g->c_row + column,
                g->c_row, true);
        i += height;
      }
    }
  }
}

void stowi_kernel_integer_gemm_lean(const stowi_kernel_integer_gemm* gemm, bool accumulate) {
  if (!accumulate) {
    clear(gemm);
  }
  const stowi_kernel_integer_tiles* tiles = integer_tiles_best();
  if (gemm->m > STREAM_ROWS || gemm->b.column != 1) {
    multiply_lean(tiles, gemm);
    return;
  }
  multiply_stream(tiles, gemm);
}

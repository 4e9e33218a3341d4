// Plain loops with constant bounds, which compilers turn into vectors whose sums stay in registers:
// one row and 64 columns, whose sums need not wait for each other, or four rows and 16 columns,
// which share what is converted.
#include "exec/kernels/recurrent/bytes.h"

#include <stdint.h>

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/matrix/gemm_tile.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

enum { ROWS = 4, NARROW = 16, WIDE = STOWI_KERNEL_BYTES_COLUMNS };
enum { AT_ONCE = 32 };  // columns that are widened

// One chain, of steps that begin at |b|; its sums are added to c, or stored.
typedef struct chain {
  const void* b;
  size_t b_row;
  const float* zero;
  const float* scale;
  const float* a;
  size_t a_row;
  size_t depth;
  float* c;
  size_t c_row;
  bool accumulate;
} chain;

#define SUM_CHAIN(type, rows, columns)                                 \
  do {                                                                 \
    float sums[rows][columns] = {{0}};                                 \
    for (size_t p = 0; p < k->depth; ++p) {                            \
      const type* from = (const type*)k->b + p * k->b_row;             \
      float b[columns];                                                \
      for (size_t j = 0; j < (columns); ++j) {                         \
        b[j] = ((float)from[j] - k->zero[j]) * k->scale[j];            \
      }                                                                \
      for (size_t i = 0; i < (rows); ++i) {                            \
        float a = k->a[i * k->a_row + p];                              \
        for (size_t j = 0; j < (columns); ++j) {                       \
          sums[i][j] = stowi_kernel_fma(has_fma, b[j], a, sums[i][j]); \
        }                                                              \
      }                                                                \
    }                                                                  \
    for (size_t i = 0; i < (rows); ++i) {                              \
      float* to = k->c + i * k->c_row;                                 \
      for (size_t j = 0; j < (columns); ++j) {                         \
        to[j] = k->accumulate ? to[j] + sums[i][j] : sums[i][j];       \
      }                                                                \
    }                                                                  \
  } while (0)

STOWI_KERNEL_LOOP(one_signed, (const chain* k), (k)) { SUM_CHAIN(int8_t, 1, WIDE); }
STOWI_KERNEL_LOOP(one_unsigned, (const chain* k), (k)) { SUM_CHAIN(uint8_t, 1, WIDE); }
STOWI_KERNEL_LOOP(few_signed, (const chain* k), (k)) { SUM_CHAIN(int8_t, 1, NARROW); }
STOWI_KERNEL_LOOP(few_unsigned, (const chain* k), (k)) { SUM_CHAIN(uint8_t, 1, NARROW); }
STOWI_KERNEL_LOOP(four_signed, (const chain* k), (k)) { SUM_CHAIN(int8_t, ROWS, NARROW); }
STOWI_KERNEL_LOOP(four_unsigned, (const chain* k), (k)) { SUM_CHAIN(uint8_t, ROWS, NARROW); }
STOWI_KERNEL_LOOP(single_signed, (const chain* k), (k)) { SUM_CHAIN(int8_t, 1, 1); }
STOWI_KERNEL_LOOP(single_unsigned, (const chain* k), (k)) { SUM_CHAIN(uint8_t, 1, 1); }

typedef void (*sum_function)(const chain* k);

#if defined(STOWI_KERNEL_X86)
#include <immintrin.h>

// One row by AVX-512: bytes become numbers as they are read, where the compiler would take half of
// the time to take vectors of bytes apart.
STOWI_KERNEL_INLINE STOWI_KERNEL_AVX512 void one_by_avx512(const chain* k, bool is_signed) {
  __m512 sums[WIDE / 16];
  __m512 zero[WIDE / 16];
  __m512 scale[WIDE / 16];
  for (size_t v = 0; v < WIDE / 16; ++v) {
    sums[v] = _mm512_setzero_ps();
    zero[v] = _mm512_loadu_ps(k->zero + 16 * v);
    scale[v] = _mm512_loadu_ps(k->scale + 16 * v);
  }
  for (size_t p = 0; p < k->depth; ++p) {
    const uint8_t* from = (const uint8_t*)k->b + p * k->b_row;
    __m512 a = _mm512_set1_ps(k->a[p]);
    for (size_t v = 0; v < WIDE / 16; ++v) {
      __m128i bytes = _mm_loadu_si128((const __m128i*)(const void*)(from + 16 * v));
      __m512 b =
          _mm512_cvtepi32_ps(is_signed ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes));
      b = _mm512_mul_ps(_mm512_sub_ps(b, zero[v]), scale[v]);
      sums[v] = _mm512_fmadd_ps(b, a, sums[v]);
    }
  }
  for (size_t v = 0; v < WIDE / 16; ++v) {
    float* to = k->c + 16 * v;
    __m512 before = k->accumulate ? _mm512_loadu_ps(to) : _mm512_setzero_ps();
    _mm512_storeu_ps(to, k->accumulate ? _mm512_add_ps(before, sums[v]) : sums[v]);
  }
}

static STOWI_KERNEL_AVX512 void one_signed_wide(const chain* k) { one_by_avx512(k, true); }
static STOWI_KERNEL_AVX512 void one_unsigned_wide(const chain* k) { one_by_avx512(k, false); }
#endif

static sum_function function_of(bool is_signed, size_t rows, size_t columns) {
  if (columns == 1) {
    return is_signed ? single_signed : single_unsigned;
  }
#if defined(STOWI_KERNEL_X86)
  if (columns == WIDE && stowi_kernel_machine_is() >= STOWI_KERNEL_MACHINE_AVX512) {
    return is_signed ? one_signed_wide : one_unsigned_wide;
  }
#endif
  if (columns == WIDE) {
    return is_signed ? one_signed : one_unsigned;
  }
  if (rows == 1) {
    return is_signed ? few_signed : few_unsigned;
  }
  return is_signed ? four_signed : four_unsigned;
}

// All chains of a part of c; |k| is its first.
static void sum_chains(sum_function sum, chain k, size_t depth) {
  const unsigned char* b = k.b;
  for (size_t step = 0; step < depth || step == 0; step += STOWI_KERNEL_GEMM_CHAIN) {
    k.depth = stowi_kernel_smaller(depth - step, STOWI_KERNEL_GEMM_CHAIN);
    k.b = b + step * k.b_row;
    sum(&k);
    k.a += k.depth;
    k.accumulate = true;
  }
}

// One row, or ROWS of them; columns that are too few for a vector are done one by one.
static void multiply_rows(size_t rows, size_t columns, size_t depth, const float* a, size_t a_row,
                          const stowi_kernel_byte_weights* b, float* c, size_t c_row) {
  for (size_t column = 0; column < columns;) {
    size_t left = columns - column;
    size_t count = rows == 1 && left >= WIDE ? WIDE : left >= NARROW ? NARROW : 1;
    sum_function sum = function_of(b->is_signed, rows, count);
    for (size_t i = 0; i<rows; i += count> 1 ? rows : 1) {
      chain k = {.b = (const unsigned char*)b->data + column,
                 .b_row = b->row,
                 .zero = b->zero + column,
                 .scale = b->scale + column,
                 .a = a + i * a_row,
                 .a_row = a_row,
                 .c = c + i * c_row + column,
                 .c_row = c_row};
      sum_chains(sum, k, depth);
    }
    column += count;
  }
}

void stowi_kernel_bytes_multiply(size_t rows, size_t columns, size_t depth, const float* a,
                                 size_t a_row, const stowi_kernel_byte_weights* b, float* c,
                                 size_t c_row) {
  for (size_t row = 0; row < rows;) {
    size_t height = rows - row >= ROWS ? ROWS : 1;
    multiply_rows(height, columns, depth, a + row * a_row, a_row, b, c + row * c_row, c_row);
    row += height;
  }
}

// ---------------------------------------------------------------------------------------------
// Many rows

#define WIDEN(type)                                                      \
  for (size_t p = 0; p < depth; ++p) {                                   \
    const type* from = (const type*)b->data + (first + p) * b->row;      \
    for (size_t j = 0; j < columns; ++j) {                               \
      to[p * columns + j] = ((float)from[j] - b->zero[j]) * b->scale[j]; \
    }                                                                    \
  }

STOWI_KERNEL_LOOP(widen,
                  (const stowi_kernel_byte_weights* b, size_t first, size_t depth, size_t columns,
                   float* restrict to),
                  (b, first, depth, columns, to)) {
  if (b->is_signed) {
    WIDEN(int8_t)
  } else {
    WIDEN(uint8_t)
  }
}

uint64_t stowi_kernel_bytes_room(size_t depth) {
  return stowi_kernel_smaller(depth, STOWI_KERNEL_GEMM_CHAIN) * AT_ONCE * sizeof(float);
}

static void multiply_widened(size_t rows, size_t columns, size_t depth, const float* a,
                             size_t a_row, const stowi_kernel_byte_weights* b, float* c,
                             size_t c_row, float* room) {
  for (size_t step = 0; step < depth || step == 0; step += STOWI_KERNEL_GEMM_CHAIN) {
    size_t steps = stowi_kernel_smaller(depth - step, STOWI_KERNEL_GEMM_CHAIN);
    stowi_kernel_tile_factors f = {
        .a = a + step, .a_row = a_row, .a_step = 1, .b = room, .b_step = columns};
    widen(b, step, steps, columns, room);
    stowi_kernel_tiles_run(stowi_kernel_tiles_best(), rows, columns, steps, &f, c, c_row,
                           step == 0 ? STOWI_KERNEL_TILE_SET : STOWI_KERNEL_TILE_ADD);
  }
}

void stowi_kernel_bytes_multiply_many(size_t rows, size_t columns, size_t depth, const float* a,
                                      size_t a_row, const stowi_kernel_byte_weights* b, float* c,
                                      size_t c_row, float* room) {
  for (size_t column = 0; column < columns; column += AT_ONCE) {
    stowi_kernel_byte_weights some = *b;
    some.data = (const unsigned char*)b->data + column;
    some.zero += column;
    some.scale += column;
    multiply_widened(rows, stowi_kernel_smaller(columns - column, AT_ONCE), depth, a, a_row, &some,
                     c + column, c_row, room);
  }
}

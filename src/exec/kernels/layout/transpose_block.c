// Blocks of transposed copies. Small units go through registers, squares of four or eight of them,
// where the machine has SSE2; these are moves only, so that the bits are the same everywhere.
#include "exec/kernels/layout/transpose_block.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define BLOCK_OF(name, type)                                                                 \
  static void name(uint8_t* to, int64_t to_stride, const uint8_t* from, int64_t from_stride, \
                   size_t height, size_t width) {                                            \
    for (size_t i = 0; i < height; ++i) {                                                    \
      uint8_t* row = to + (int64_t)i * to_stride;                                            \
      const uint8_t* column = from + i * sizeof(type);                                       \
      for (size_t j = 0; j < width; ++j) {                                                   \
        type unit;                                                                           \
        memcpy(&unit, column + (int64_t)j * from_stride, sizeof(unit));                      \
        memcpy(row + j * sizeof(unit), &unit, sizeof(unit));                                 \
      }                                                                                      \
    }                                                                                        \
  }

typedef struct wide {
  uint64_t halves[2];
} wide;

BLOCK_OF(block_1, uint8_t)
BLOCK_OF(block_2, uint16_t)
BLOCK_OF(block_4, uint32_t)
BLOCK_OF(block_8, uint64_t)
BLOCK_OF(block_16, wide)

#if defined(__SSE2__)
static __m128i load(const uint8_t* from) {
  return _mm_loadu_si128((const __m128i*)(const void*)from);
}

static __m128i load_half(const uint8_t* from) {
  return _mm_loadl_epi64((const __m128i*)(const void*)from);
}

static void store(uint8_t* to, __m128i units) { _mm_storeu_si128((__m128i*)(void*)to, units); }

// The lower half to |low|, the upper one to |high|.
static void store_halves(uint8_t* low, uint8_t* high, __m128i units) {
  _mm_storel_epi64((__m128i*)(void*)low, units);
  _mm_storel_epi64((__m128i*)(void*)high, _mm_unpackhi_epi64(units, units));
}

// Eight by eight units of 1 byte.
static void bytes_8(uint8_t* to, int64_t to_stride, const uint8_t* from, int64_t from_stride) {
  __m128i pairs[4];
  for (int i = 0; i < 4; ++i) {
    const uint8_t* column = from + 2 * i * from_stride;
    pairs[i] = _mm_unpacklo_epi8(load_half(column), load_half(column + from_stride));
  }
  __m128i low[2] = {_mm_unpacklo_epi16(pairs[0], pairs[1]), _mm_unpackhi_epi16(pairs[0], pairs[1])};
  __m128i high[2] = {_mm_unpacklo_epi16(pairs[2], pairs[3]),
                     _mm_unpackhi_epi16(pairs[2], pairs[3])};
  for (int i = 0; i < 2; ++i) {
    uint8_t* row = to + 4 * i * to_stride;
    store_halves(row, row + to_stride, _mm_unpacklo_epi32(low[i], high[i]));
    store_halves(row + 2 * to_stride, row + 3 * to_stride, _mm_unpackhi_epi32(low[i], high[i]));
  }
}

// Eight by eight units of 2 bytes: columns j and j + 4 meet first, then j and j + 2, then j and
// j + 1.
static void pairs_8(uint8_t* to, int64_t to_stride, const uint8_t* from, int64_t from_stride) {
  __m128i a[8];
  __m128i b[8];
  for (int i = 0; i < 4; ++i) {
    __m128i low = load(from + i * from_stride);
    __m128i high = load(from + (i + 4) * from_stride);
    a[2 * i] = _mm_unpacklo_epi16(low, high);
    a[2 * i + 1] = _mm_unpackhi_epi16(low, high);
  }
  for (int i = 0; i < 4; ++i) {
    b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
    b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
  }
  for (int i = 0; i < 4; ++i) {
    store(to + 2 * i * to_stride, _mm_unpacklo_epi16(b[i], b[i + 4]));
    store(to + (2 * i + 1) * to_stride, _mm_unpackhi_epi16(b[i], b[i + 4]));
  }
}

// Four by four units of 4 bytes.
static void fours_4(uint8_t* to, int64_t to_stride, const uint8_t* from, int64_t from_stride) {
  __m128i a = load(from);
  __m128i b = load(from + from_stride);
  __m128i c = load(from + 2 * from_stride);
  __m128i d = load(from + 3 * from_stride);
  __m128i ab_low = _mm_unpacklo_epi32(a, b);
  __m128i ab_high = _mm_unpackhi_epi32(a, b);
  __m128i cd_low = _mm_unpacklo_epi32(c, d);
  __m128i cd_high = _mm_unpackhi_epi32(c, d);
  store(to, _mm_unpacklo_epi64(ab_low, cd_low));
  store(to + to_stride, _mm_unpackhi_epi64(ab_low, cd_low));
  store(to + 2 * to_stride, _mm_unpacklo_epi64(ab_high, cd_high));
  store(to + 3 * to_stride, _mm_unpackhi_epi64(ab_high, cd_high));
}

// |square| for all of its size, |rest| for what that does not reach.
#define BLOCK_OF_SQUARES(name, square, size, rest, unit)                                       \
  static void name(uint8_t* to, int64_t to_stride, const uint8_t* from, int64_t from_stride,   \
                   size_t height, size_t width) {                                              \
    size_t rows = height / (size) * (size);                                                    \
    size_t columns = width / (size) * (size);                                                  \
    for (size_t i = 0; i < rows; i += (size)) {                                                \
      for (size_t j = 0; j < columns; j += (size)) {                                           \
        square(to + (int64_t)i * to_stride + j * (unit), to_stride,                            \
               from + i * (unit) + (int64_t)j * from_stride, from_stride);                     \
      }                                                                                        \
    }                                                                                          \
    rest(to + columns * (unit), to_stride, from + (int64_t)columns * from_stride, from_stride, \
         rows, width - columns);                                                               \
    rest(to + (int64_t)rows * to_stride, to_stride, from + rows * (unit), from_stride,         \
         height - rows, width);                                                                \
  }

BLOCK_OF_SQUARES(squares_1, bytes_8, 8, block_1, 1)
BLOCK_OF_SQUARES(squares_2, pairs_8, 8, block_2, 2)
BLOCK_OF_SQUARES(squares_4, fours_4, 4, block_4, 4)
#else
#define squares_1 block_1
#define squares_2 block_2
#define squares_4 block_4
#endif

void stowi_transpose_block(size_t unit, uint8_t* to, int64_t to_stride, const uint8_t* from,
                           int64_t from_stride, size_t height, size_t width) {
  switch (unit) {
    case 1:
      squares_1(to, to_stride, from, from_stride, height, width);
      break;
    case 2:
      squares_2(to, to_stride, from, from_stride, height, width);
      break;
    case 4:
      squares_4(to, to_stride, from, from_stride, height, width);
      break;
    case 8:
      block_8(to, to_stride, from, from_stride, height, width);
      break;
    default:
      block_16(to, to_stride, from, from_stride, height, width);
      break;
  }
}

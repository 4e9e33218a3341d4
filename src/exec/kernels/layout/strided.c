// Copies between layouts.
#include "exec/kernels/layout/strided.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "exec/kernels/layout/elements.h"
#include "exec/kernels/support/convert.h"

// ---------------------------------------------------------------------------------------------
// Blocks of transposed copies. Small units go through registers, in squares of four or eight, where
// the machine has SSE2. These are moves only, so the bits are the same everywhere.

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

// Unit (i, j), i < height, j < width, is read at from + i × unit + j × from_stride and written at
// to + i × to_stride + j × unit; strides are in bytes. |unit| is 1, 2, 4, 8 or 16.
static void transpose_block(size_t unit, uint8_t* to, int64_t to_stride, const uint8_t* from,
                            int64_t from_stride, size_t height, size_t width) {
  switch (unit) {
    case 1: squares_1(to, to_stride, from, from_stride, height, width); break;
    case 2: squares_2(to, to_stride, from, from_stride, height, width); break;
    case 4: squares_4(to, to_stride, from, from_stride, height, width); break;
    case 8: block_8(to, to_stride, from, from_stride, height, width); break;
    default: block_16(to, to_stride, from, from_stride, height, width); break;
  }
}

// ---------------------------------------------------------------------------------------------
// The copy. Dims of 1 are dropped, and neighbours without gaps in both layouts are merged. What is
// left of the innermost dim, if it is one run, is the unit that is moved: units of a register's
// width by plain loads and stores, others by memmove. If one dim is dense in the destination and
// another in the source, it is a transpose: blocks of both are copied together, so that each cache
// line is read and written once. Linear in the elements.

#define GRAIN_BYTES 65536
#define LINE_BYTES 64  // of the cache
#define TILE 4         // blocks along each side

// Strides in bytes.
typedef struct plan {
  uint32_t rank;
  size_t unit;
  const uint8_t* from;
  uint8_t* to;
  int64_t dims[STOWI_KERNEL_STRIDED_RANK];
  int64_t from_stride[STOWI_KERNEL_STRIDED_RANK];
  int64_t to_stride[STOWI_KERNEL_STRIDED_RANK];
} plan;

void stowi_kernel_strided_add(stowi_kernel_strided* s, int64_t dim, int64_t from, int64_t to) {
  s->dims[s->rank] = dim;
  s->from[s->rank] = from;
  s->to[s->rank] = to;
  s->rank++;
}

// ---------------------------------------------------------------------------------------------
// Making the plan

static bool is_register(size_t unit) {
  return unit == 1 || unit == 2 || unit == 4 || unit == 8 || unit == 16;
}

static void push(plan* p, int64_t dim, int64_t from, int64_t to) {
  uint32_t last = p->rank - 1;
  if (dim == 1) {
    return;
  }
  if (p->rank != 0 && p->from_stride[last] == from * dim && p->to_stride[last] == to * dim) {
    p->dims[last] *= dim;
    p->from_stride[last] = from;
    p->to_stride[last] = to;
    return;
  }
  p->dims[p->rank] = dim;
  p->from_stride[p->rank] = from;
  p->to_stride[p->rank] = to;
  p->rank++;
}

static void plan_make(plan* p, const stowi_kernel_strided* s, size_t width, const void* from,
                      void* to) {
  int64_t unit = (int64_t)width;
  p->rank = 0;
  p->unit = width;
  p->from = (const uint8_t*)from + s->from_first * unit;
  p->to = (uint8_t*)to + s->to_first * unit;
  for (uint32_t i = 0; i < s->rank; ++i) {
    push(p, s->dims[i], s->from[i] * unit, s->to[i] * unit);
  }
  uint32_t last = p->rank - 1;
  if (p->rank != 0 && p->from_stride[last] == unit && p->to_stride[last] == unit) {
    p->unit = width * (size_t)p->dims[last];
    p->rank--;
  }
}

// The bytes from the lowest to after the highest that a layout reaches.
typedef struct extent {
  uintptr_t begin, end;
} extent;

static extent extent_of(const void* first, size_t unit, uint32_t rank, const int64_t* dims,
                        const int64_t* strides) {
  extent e = {(uintptr_t)first, (uintptr_t)first + unit};
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t reach = (dims[i] - 1) * strides[i];
    if (reach < 0) {
      e.begin -= (uintptr_t)-reach;
    } else {
      e.end += (uintptr_t)reach;
    }
  }
  return e;
}

static bool overlaps(const plan* p) {
  extent from = extent_of(p->from, p->unit, p->rank, p->dims, p->from_stride);
  extent to = extent_of(p->to, p->unit, p->rank, p->dims, p->to_stride);
  return from.begin < to.end && to.begin < from.end;
}

static bool is_in_place(const plan* p) {
  return p->from == p->to &&
         memcmp(p->from_stride, p->to_stride, p->rank * sizeof(p->to_stride[0])) == 0;
}

// ---------------------------------------------------------------------------------------------
// Lines

#define LINE(name, type)                                                                     \
  static void name(uint8_t* to, int64_t to_stride, const uint8_t* from, int64_t from_stride, \
                   size_t count) {                                                           \
    for (size_t i = 0; i < count; ++i) {                                                     \
      type unit;                                                                             \
      memcpy(&unit, from + (int64_t)i * from_stride, sizeof(unit));                          \
      memcpy(to + (int64_t)i * to_stride, &unit, sizeof(unit));                              \
    }                                                                                        \
  }

LINE(line_1, uint8_t)
LINE(line_2, uint16_t)
LINE(line_4, uint32_t)
LINE(line_8, uint64_t)
LINE(line_16, wide)

static void line_any(size_t unit, uint8_t* to, int64_t to_stride, const uint8_t* from,
                     int64_t from_stride, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    memmove(to + (int64_t)i * to_stride, from + (int64_t)i * from_stride, unit);
  }
}

static void copy_line(size_t unit, uint8_t* to, int64_t to_stride, const uint8_t* from,
                      int64_t from_stride, size_t count) {
  switch (unit) {
    case 1: line_1(to, to_stride, from, from_stride, count); break;
    case 2: line_2(to, to_stride, from, from_stride, count); break;
    case 4: line_4(to, to_stride, from, from_stride, count); break;
    case 8: line_8(to, to_stride, from, from_stride, count); break;
    case 16: line_16(to, to_stride, from, from_stride, count); break;
    default: line_any(unit, to, to_stride, from, from_stride, count); break;
  }
}

// ---------------------------------------------------------------------------------------------
// Walks

// A place in the outer dims.
typedef struct place {
  const uint8_t* from;
  uint8_t* to;
  int64_t index[STOWI_KERNEL_STRIDED_RANK];
} place;

static void place_at(const plan* p, uint32_t outer, size_t i, place* out) {
  out->from = p->from;
  out->to = p->to;
  for (uint32_t k = outer; k-- > 0;) {
    size_t dim = (size_t)p->dims[k];
    out->index[k] = (int64_t)(i % dim);
    out->from += out->index[k] * p->from_stride[k];
    out->to += out->index[k] * p->to_stride[k];
    i /= dim;
  }
}

static void place_next(const plan* p, uint32_t outer, place* at) {
  for (uint32_t k = outer; k-- > 0;) {
    at->from += p->from_stride[k];
    at->to += p->to_stride[k];
    if (++at->index[k] < p->dims[k]) {
      return;
    }
    at->from -= p->dims[k] * p->from_stride[k];
    at->to -= p->dims[k] * p->to_stride[k];
    at->index[k] = 0;
  }
}

static void copy_bytes(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const plan* p = user;
  memmove(p->to + begin, p->from + begin, end - begin);
}

// Units [begin, end) in ascending order.
static void copy_units(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const plan* p = user;
  uint32_t inner = p->rank - 1;
  size_t line = (size_t)p->dims[inner];
  size_t skip = begin % line;
  int64_t from_stride = p->from_stride[inner];
  int64_t to_stride = p->to_stride[inner];
  place at;
  place_at(p, inner, begin / line, &at);
  while (begin < end) {
    size_t count = line - skip < end - begin ? line - skip : end - begin;
    copy_line(p->unit, at.to + (int64_t)skip * to_stride, to_stride,
              at.from + (int64_t)skip * from_stride, from_stride, count);
    begin += count;
    skip = 0;
    place_next(p, inner, &at);
  }
}

// Units along each side of a block: a line of the cache, and no less than what registers take.
static size_t block_of(const plan* p) { return p->unit > 8 ? 8 : LINE_BYTES / p->unit; }

// A square of TILE by TILE blocks, or what there is of it, one block after the other.
static void copy_tile(const plan* p, uint8_t* to, const uint8_t* from, size_t height,
                      size_t width) {
  int64_t to_stride = p->to_stride[p->rank - 2];
  int64_t from_stride = p->from_stride[p->rank - 1];
  size_t block = block_of(p);
  for (size_t i = 0; i < height; i += block) {
    for (size_t j = 0; j < width; j += block) {
      transpose_block(p->unit, to + (int64_t)i * to_stride + j * p->unit, to_stride,
                      from + i * p->unit + (int64_t)j * from_stride, from_stride,
                      height - i < block ? height - i : block,
                      width - j < block ? width - j : block);
    }
  }
}

static size_t tiles_of(const plan* p, uint32_t dim) {
  size_t tile = TILE * block_of(p);
  return ((size_t)p->dims[dim] + tile - 1) / tile;
}

// The last two dims are transposed: the last is dense in the destination, the one before it in the
// source. They are copied tile by tile, so that few pages are in use at a time.
static void copy_tiles(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const plan* p = user;
  uint32_t inner = p->rank - 2;
  size_t tile = TILE * block_of(p);
  size_t across = tiles_of(p, inner + 1);
  size_t tiles = tiles_of(p, inner) * across;
  for (size_t i = begin; i < end; ++i) {
    place at;
    place_at(p, inner, i / tiles, &at);
    size_t row = i % tiles / across * tile;
    size_t column = i % across * tile;
    size_t rows = (size_t)p->dims[inner] - row;
    size_t columns = (size_t)p->dims[inner + 1] - column;
    copy_tile(p, at.to + (int64_t)row * p->to_stride[inner] + column * p->unit,
              at.from + row * p->unit + (int64_t)column * p->from_stride[inner + 1],
              rows < tile ? rows : tile, columns < tile ? columns : tile);
  }
}

// ---------------------------------------------------------------------------------------------

// Whether the last dim is dense in the destination and another one in the source, which then
// becomes the last but one.
static bool becomes_transpose(plan* p) {
  int64_t unit = (int64_t)p->unit;
  uint32_t last = p->rank - 1;
  if (p->rank < 2 || !is_register(p->unit) || p->to_stride[last] != unit) {
    return false;
  }
  for (uint32_t i = 0; i < last; ++i) {
    if (p->from_stride[i] == unit && p->dims[i] >= 4) {
      int64_t dim = p->dims[i];
      int64_t to_stride = p->to_stride[i];
      for (uint32_t k = i; k + 1 < last; ++k) {
        p->dims[k] = p->dims[k + 1];
        p->from_stride[k] = p->from_stride[k + 1];
        p->to_stride[k] = p->to_stride[k + 1];
      }
      p->dims[last - 1] = dim;
      p->from_stride[last - 1] = unit;
      p->to_stride[last - 1] = to_stride;
      return true;
    }
  }
  return false;
}

static size_t count_dims(const plan* p, uint32_t end) {
  size_t count = 1;
  for (uint32_t i = 0; i < end; ++i) {
    count *= (size_t)p->dims[i];
  }
  return count;
}

static void copy_plan(const stow_kernel_call* call, plan* p) {
  size_t count = count_dims(p, p->rank);
  if (is_in_place(p)) {
    return;
  }
  if (overlaps(p)) {
    if (p->rank == 0) {
      copy_bytes(p, 0, p->unit, 0);
    } else {
      copy_units(p, 0, count, 0);
    }
  } else if (p->rank == 0) {
    stow_kernel_split(call, p->unit, GRAIN_BYTES, copy_bytes, p);
  } else if (becomes_transpose(p)) {
    uint32_t inner = p->rank - 2;
    size_t tiles = count_dims(p, inner) * tiles_of(p, inner) * tiles_of(p, inner + 1);
    size_t tile_bytes = count_dims(p, p->rank) / tiles * p->unit + 1;
    stow_kernel_split(call, tiles, GRAIN_BYTES / tile_bytes + 1, copy_tiles, p);
  } else {
    stow_kernel_split(call, count, GRAIN_BYTES / p->unit + 1, copy_units, p);
  }
}

// Dims of 1 have no stride.
static bool is_packed_in_place(uint32_t bits, const void* from, const void* to,
                               const stowi_kernel_strided* s) {
  bool is_same =
      stowi_kernel_is_same_place(bits, to, (size_t)s->to_first, from, (size_t)s->from_first);
  for (uint32_t i = 0; i < s->rank; ++i) {
    is_same = is_same && (s->dims[i] == 1 || s->from[i] == s->to[i]);
  }
  return is_same;
}

// Packed elements, one by one: neighbours share a byte, so that work is not divided.
static void copy_packed(uint32_t bits, const void* from, void* to, const stowi_kernel_strided* s,
                        size_t count) {
  for (size_t i = 0; i < count; ++i) {
    size_t rest = i;
    int64_t from_at = s->from_first;
    int64_t to_at = s->to_first;
    for (uint32_t k = s->rank; k-- > 0;) {
      int64_t index = (int64_t)(rest % (size_t)s->dims[k]);
      from_at += index * s->from[k];
      to_at += index * s->to[k];
      rest /= (size_t)s->dims[k];
    }
    stowi_kernel_packed_set(to, bits, (size_t)to_at,
                            stowi_kernel_packed_get(from, bits, (size_t)from_at));
  }
}

void stowi_kernel_strided_copy(const stow_kernel_call* call, stow_dtype dtype, const void* from,
                               void* to, const stowi_kernel_strided* s) {
  uint32_t bits = stowi_kernel_bits(dtype);
  size_t count = 1;
  for (uint32_t i = 0; i < s->rank; ++i) {
    count *= (size_t)s->dims[i];
  }
  if (count == 0) {
    return;
  }
  if (stowi_kernel_is_packed(bits)) {
    if (!is_packed_in_place(bits, from, to, s)) {
      copy_packed(bits, from, to, s, count);
    }
    return;
  }
  plan p;
  plan_make(&p, s, bits / 8, from, to);
  copy_plan(call, &p);
}

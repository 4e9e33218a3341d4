// What integer_gemm.c compiles once per instruction set. No guard: it is included with different
// NAME, TARGET, WIDTH (of a tile's row) and, if there are vectors, LANES and ADD_PAIRS each
// time; with STREAM, if there is a function for streams already.

#if defined(LANES)

typedef uint32_t NAME(vector) __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

static inline __attribute__((always_inline)) TARGET void NAME(tile_of)(size_t rows, size_t pairs,
                                                                       const int16_t* a,
                                                                       const int16_t* b, int32_t* c,
                                                                       size_t c_row,
                                                                       bool accumulate) {
  NAME(vector) sum[STOWI_KERNEL_INTEGER_ROWS][2];
  for (size_t i = 0; i < rows; ++i) {
    const int32_t* from = c + i * c_row;
    sum[i][0] = accumulate ? *(const NAME(vector)*)from : (NAME(vector)){0};
    sum[i][1] = accumulate ? *(const NAME(vector)*)(from + LANES) : (NAME(vector)){0};
  }
  for (size_t p = 0; p < pairs; ++p) {
    NAME(vector) b0 = *(const NAME(vector)*)(b + p * 4 * LANES);
    NAME(vector) b1 = *(const NAME(vector)*)(b + p * 4 * LANES + 2 * LANES);
    for (size_t i = 0; i < rows; ++i) {
      uint32_t pair;
      memcpy(&pair, a + 2 * (p * rows + i), sizeof(pair));
      NAME(vector) x = pair + (NAME(vector)){0};
      sum[i][0] = ADD_PAIRS(sum[i][0], x, b0);
      sum[i][1] = ADD_PAIRS(sum[i][1], x, b1);
    }
  }
  for (size_t i = 0; i < rows; ++i) {
    *(NAME(vector)*)(c + i * c_row) = sum[i][0];
    *(NAME(vector)*)(c + i * c_row + LANES) = sum[i][1];
  }
}

// Numbers of rows as constants, so that the sums stay in registers.
static TARGET void NAME(tile)(size_t rows, size_t pairs, const int16_t* a, const int16_t* b,
                              int32_t* c, size_t c_row, bool accumulate) {
  switch (rows) {
    case 8: NAME(tile_of)(8, pairs, a, b, c, c_row, accumulate); break;
    case 4: NAME(tile_of)(4, pairs, a, b, c, c_row, accumulate); break;
    case 2: NAME(tile_of)(2, pairs, a, b, c, c_row, accumulate); break;
    default: NAME(tile_of)(1, pairs, a, b, c, c_row, accumulate); break;
  }
}

#else

static void NAME(tile)(size_t rows, size_t pairs, const int16_t* a, const int16_t* b, int32_t* c,
                       size_t c_row, bool accumulate) {
  for (size_t i = 0; i < rows; ++i) {
    int32_t* to = c + i * c_row;
    for (size_t j = 0; j < WIDTH && !accumulate; ++j) {
      to[j] = 0;
    }
    for (size_t p = 0; p < pairs; ++p) {
      const int16_t* x = a + 2 * (p * rows + i);
      for (size_t j = 0; j < WIDTH; ++j) {
        const int16_t* y = b + 2 * (p * WIDTH + j);
        to[j] = (int32_t)((uint32_t)to[j] + (uint32_t)(x[0] * y[0] + x[1] * y[1]));
      }
    }
  }
}

#endif

#define DEFINE_PACK(name, type)                                                                 \
  static TARGET void NAME(name)(const type* b, size_t b_row, const int16_t* zero, size_t pairs, \
                                int16_t* restrict out) {                                        \
    for (size_t p = 0; p < pairs; ++p) {                                                        \
      for (size_t j = 0; j < WIDTH; ++j) {                                                      \
        out[2 * j] = (int16_t)(b[j] - zero[j]);                                                 \
        out[2 * j + 1] = (int16_t)(b[b_row + j] - zero[j]);                                     \
      }                                                                                         \
      b += 2 * b_row;                                                                           \
      out += 2 * WIDTH;                                                                         \
    }                                                                                           \
  }
DEFINE_PACK(pack_signed, int8_t)
DEFINE_PACK(pack_unsigned, uint8_t)
#undef DEFINE_PACK

static TARGET void NAME(pack)(const void* b, size_t b_row, bool is_signed, const int16_t* zero,
                              size_t pairs, int16_t* out) {
  if (is_signed) {
    NAME(pack_signed)(b, b_row, zero, pairs, out);
  } else {
    NAME(pack_unsigned)(b, b_row, zero, pairs, out);
  }
}

#define DEFINE_WIDEN(name, type)                                              \
  static TARGET void NAME(name)(const type* from, int32_t zero, size_t count, \
                                int16_t* restrict out) {                      \
    for (size_t p = 0; p < count; ++p) {                                      \
      out[p] = (int16_t)(from[p] - (int16_t)zero);                            \
    }                                                                         \
  }
DEFINE_WIDEN(widen_signed, int8_t)
DEFINE_WIDEN(widen_unsigned, uint8_t)
#undef DEFINE_WIDEN

static TARGET void NAME(widen)(const void* from, bool is_signed, int32_t zero, size_t count,
                               int16_t* out) {
  if (is_signed) {
    NAME(widen_signed)(from, zero, count, out);
  } else {
    NAME(widen_unsigned)(from, zero, count, out);
  }
}

#if defined(STREAM)
#define STREAM_OF STREAM
#else
#define STREAM_OF NAME(stream)

#define DEFINE_STREAM(name, type)                                                            \
  static TARGET void NAME(name)(const int16_t* a, size_t steps, const type* b, size_t b_row, \
                                size_t count, int32_t* restrict c) {                         \
    for (size_t p = 0; p < steps; ++p) {                                                     \
      for (size_t j = 0; j < count; ++j) {                                                   \
        c[j] = (int32_t)((uint32_t)c[j] + (uint32_t)(a[p] * b[p * b_row + j]));              \
      }                                                                                      \
    }                                                                                        \
  }
DEFINE_STREAM(stream_signed, int8_t)
DEFINE_STREAM(stream_unsigned, uint8_t)
#undef DEFINE_STREAM

static TARGET void NAME(stream)(const int16_t* a, size_t steps, const void* b, size_t b_row,
                                bool is_signed, size_t count, int32_t* c) {
  if (is_signed) {
    NAME(stream_signed)(a, steps, b, b_row, count, c);
  } else {
    NAME(stream_unsigned)(a, steps, b, b_row, count, c);
  }
}
#endif

static const stowi_kernel_integer_tiles NAME(tiles) = {NAME_TEXT,  WIDTH,       NAME(tile),
                                                       NAME(pack), NAME(widen), STREAM_OF};

#undef NAME
#undef NAME_TEXT
#undef TARGET
#undef LANES
#undef WIDTH
#undef ADD_PAIRS
#undef STREAM
#undef STREAM_OF

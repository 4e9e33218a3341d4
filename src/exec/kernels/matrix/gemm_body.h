// What gemm_tile.c compiles once per instruction set and vector width. No guard: it is included
// with different LANES, NAME, TARGET, HAS_FMA, NARROWER, TURNED, FEW and FUSE(a, b, c) each time;
// the last is a·b + c with one rounding, of vectors, and where FEW is not given it is made. A tile
// has two vectors in each row, a narrow one only one. With four lanes there are also what takes
// single columns, and products that take four steps of four columns at once; with IS_NARROW only
// these and the narrow tile.

typedef float NAME(vector) __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

static inline __attribute__((always_inline)) TARGET void NAME(tile_of)(
    size_t vectors, size_t rows, size_t depth, stowi_kernel_tile_factors f, bool is_scattered,
    float* c, size_t c_row, stowi_kernel_tile_mode mode) {
  NAME(vector) sum[STOWI_KERNEL_TILE_ROWS][2] = {{{0}}};
  for (size_t i = 0; i < rows && mode == STOWI_KERNEL_TILE_GO_ON; ++i) {
    for (size_t v = 0; v < vectors; ++v) {
      sum[i][v] = *(const NAME(vector)*)(c + i * c_row + v * LANES);
    }
  }
  // In bytes, and hidden: gcc would make another loop for steps of one float, and then copy the
  // sums to memory in both.
  size_t a_step = f.a_step * sizeof(float);
  __asm__("" : "+r"(a_step));
  const char* a = (const char*)f.a;
  const char* next = f.next == NULL ? a : f.next;
  const float* bias = f.bias;
  for (size_t p = 0; p < depth; ++p, a += a_step, f.b += is_scattered ? 0 : f.b_step) {
    if (!is_scattered) {
      __builtin_prefetch(next, 0, 2);
      next += f.next_step;
    }
    const float* from = f.b + (is_scattered ? f.b_at[p] : 0);
    NAME(vector) b[2] = {{0}};
    for (size_t v = 0; v < vectors; ++v) {
      b[v] = *(const NAME(vector)*)(from + v * LANES);
    }
    for (size_t i = 0; i < rows; ++i) {
      NAME(vector) x = ((const float*)a)[i * f.a_row] - (NAME(vector)){0};
      for (size_t v = 0; v < vectors; ++v) {
        sum[i][v] = FUSE(b[v], x, sum[i][v]);
      }
    }
  }
  for (size_t i = 0; i < rows; ++i) {
    for (size_t v = 0; v < vectors; ++v) {
      NAME(vector)* to = (NAME(vector)*)(c + i * c_row + v * LANES);
      if (mode == STOWI_KERNEL_TILE_ADD) {
        sum[i][v] += *to;
      } else if (bias != NULL) {
        sum[i][v] += bias[i];
      }
      *to = sum[i][v];
    }
  }
}

// A function for each number of rows, so that the sums stay in registers: in one function for all
// of them gcc copies them to memory at every step.
#define ROWS_OF(vectors, rows, name)                                                               \
  static NOINLINE TARGET void NAME(name##_##rows)(size_t depth,                                    \
                                                  const stowi_kernel_tile_factors* f, float* c,    \
                                                  size_t c_row, stowi_kernel_tile_mode mode) {     \
    NAME(tile_of)(vectors, rows, depth, *f, false, c, c_row, mode);                                \
  }                                                                                                \
  static NOINLINE TARGET void NAME(name##_at_##rows)(size_t depth,                                 \
                                                     const stowi_kernel_tile_factors* f, float* c, \
                                                     size_t c_row, stowi_kernel_tile_mode mode) {  \
    NAME(tile_of)(vectors, rows, depth, *f, true, c, c_row, mode);                                 \
  }

#define TILE_OF(vectors, name)                                                                    \
  ROWS_OF(vectors, 1, name)                                                                       \
  ROWS_OF(vectors, 2, name)                                                                       \
  ROWS_OF(vectors, 3, name)                                                                       \
  ROWS_OF(vectors, 4, name)                                                                       \
  ROWS_OF(vectors, 5, name)                                                                       \
  ROWS_OF(vectors, 6, name)                                                                       \
  static void NAME(name)(size_t rows, size_t depth, const stowi_kernel_tile_factors* f, float* c, \
                         size_t c_row, stowi_kernel_tile_mode mode) {                             \
    static const tile_of_rows functions[2][STOWI_KERNEL_TILE_ROWS] = {                            \
        {NAME(name##_1), NAME(name##_2), NAME(name##_3), NAME(name##_4), NAME(name##_5),          \
         NAME(name##_6)},                                                                         \
        {NAME(name##_at_1), NAME(name##_at_2), NAME(name##_at_3), NAME(name##_at_4),              \
         NAME(name##_at_5), NAME(name##_at_6)}};                                                  \
    functions[f->b_at != NULL][rows - 1](depth, f, c, c_row, mode);                               \
  }

#if !defined(IS_NARROW)
TILE_OF(2, tile)

static inline __attribute__((always_inline)) TARGET void NAME(stream_of)(
    size_t n, size_t depth, const float* a, const float* b, size_t b_row, float* c, bool goes_on) {
  size_t j = 0;
  for (; j + LANES <= n; j += LANES) {
    NAME(vector) sum = goes_on ? *(const NAME(vector)*)(c + j) : (NAME(vector)){0};
    for (size_t p = 0; p < depth; ++p) {
      NAME(vector) x = a[p] - (NAME(vector)){0};
      sum = FUSE(*(const NAME(vector)*)(b + p * b_row + j), x, sum);
    }
    *(NAME(vector)*)(c + j) = sum;
  }
  for (; j < n; ++j) {
    float sum = goes_on ? c[j] : 0;
    for (size_t p = 0; p < depth; ++p) {
      sum = stowi_kernel_fma(HAS_FMA, b[p * b_row + j], a[p], sum);
    }
    c[j] = sum;
  }
}

static inline __attribute__((always_inline)) TARGET void NAME(window_of)(
    size_t vectors, size_t depth, const float* a, const float* b, const uint32_t* at, float bias,
    float* c) {
  NAME(vector) sum[4];
  for (size_t v = 0; v < vectors; ++v) {
    sum[v] = bias - (NAME(vector)){0};
  }
  for (size_t p = 0; p < depth; ++p) {
    NAME(vector) x = a[p] - (NAME(vector)){0};
    for (size_t v = 0; v < vectors; ++v) {
      sum[v] = FUSE(*(const NAME(vector)*)(b + at[p] + v * LANES), x, sum[v]);
    }
  }
  for (size_t v = 0; v < vectors; ++v) {
    *(NAME(vector)*)(c + v * LANES) = sum[v];
  }
}

static TARGET void NAME(window)(size_t count, size_t depth, const float* a, const float* b,
                                const uint32_t* at, float bias, float* c) {
  size_t i = 0;
  for (; i + 3 * LANES < count; i += (size_t)4 * LANES) {
    NAME(window_of)(4, depth, a, b + i, at, bias, c + i);
  }
  for (; i + LANES < count; i += (size_t)2 * LANES) {
    NAME(window_of)(2, depth, a, b + i, at, bias, c + i);
  }
  if (i < count) {
    NAME(window_of)(1, depth, a, b + i, at, bias, c + i);
  }
}

static TARGET void NAME(stream)(size_t n, size_t depth, const float* a, const float* b,
                                size_t b_row, float* c, bool goes_on) {
  if (depth == STOWI_KERNEL_STREAM_DEPTH) {
    NAME(stream_of)(n, STOWI_KERNEL_STREAM_DEPTH, a, b, b_row, c, goes_on);
  } else {
    NAME(stream_of)(n, depth, a, b, b_row, c, goes_on);
  }
}

static inline __attribute__((always_inline)) TARGET void NAME(direct_of)(
    size_t stride, size_t rows, const stowi_kernel_direct* d, size_t a_row, size_t a_step) {
  NAME(vector) sum[2 * STOWI_KERNEL_TILE_ROWS][2] = {{{0}}};
  a_step *= sizeof(float);
  size_t channel = d->channel_size * sizeof(float);
  const char* a = (const char*)d->a;
  const char* a_end = a + d->depth * a_step;
  // Windows may begin before x: these are not pointers.
  uintptr_t x = (uintptr_t)d->x + (uintptr_t)d->begin[0] * sizeof(float);
  uintptr_t next = (uintptr_t)(d->begin[1] - d->begin[0]) * sizeof(float);
  const stowi_kernel_tap* tap = d->taps + d->tap;
  const stowi_kernel_tap* last = d->taps + d->tap_count - 1;
  size_t back = d->tap_count - 1;
  const float* more = d->a_more;
  size_t more_step = rows - stowi_kernel_tile_rows(rows);
  for (; a != a_end; a += a_step, more += more_step) {
    NAME(vector) b[2];
    for (size_t v = 0; v < 2; ++v) {
      const float* from = (const float*)(x + tap->offset * sizeof(float) + (v == 0 ? 0 : next));
      uint32_t mask = tap->masks[v];
      b[v] = stride == 1 ? LOAD_SOME(from, mask)
                         : PICK_EVEN(LOAD_SOME(from, mask), LOAD_SOME(from + LANES, mask >> LANES));
    }
    UNROLL for (size_t i = 0; i < rows; ++i) {
      bool is_more = i >= STOWI_KERNEL_TILE_ROWS;
      NAME(vector)
      w = (is_more ? more[i - STOWI_KERNEL_TILE_ROWS] : ((const float*)a)[i * a_row]) -
          (NAME(vector)){0};
      for (size_t v = 0; v < 2; ++v) {
        sum[i][v] = FUSE(b[v], w, sum[i][v]);
      }
    }
    x += tap == last ? channel : 0;
    tap = tap == last ? tap - back : tap + 1;
  }
  const float* bias = d->bias;
  bool adds = d->adds;
  UNROLL for (size_t i = 0; i < rows; ++i) {
    if (adds) {
      sum[i][0] += LOAD_SOME(d->c[0] + i * d->c_row, d->ends[0]);
      sum[i][1] += LOAD_SOME(d->c[1] + i * d->c_row, d->ends[1]);
    } else if (bias != NULL) {
      sum[i][0] += bias[i];
      sum[i][1] += bias[i];
    }
  }
  UNROLL for (size_t i = 0; i < rows; ++i) {
    STORE_SOME(d->c[0] + i * d->c_row, d->ends[0], sum[i][0]);
    STORE_SOME(d->c[1] + i * d->c_row, d->ends[1], sum[i][1]);
  }
}

// Steps are hidden: gcc would make another loop for steps of one float, and then copy the sums to
// memory in both.
#define DIRECT_OF(stride, rows)                                                              \
  static NOINLINE TARGET void NAME(direct_##stride##_##rows)(const stowi_kernel_direct* d) { \
    size_t a_step = d->a_step;                                                               \
    __asm__("" : "+r"(a_step));                                                              \
    NAME(direct_of)(stride, rows, d, d->a_row, a_step);                                      \
  }
#define DIRECT(stride)                                                                        \
  DIRECT_OF(stride, 1)                                                                        \
  DIRECT_OF(stride, 2)                                                                        \
  DIRECT_OF(stride, 3)                                                                        \
  DIRECT_OF(stride, 4)                                                                        \
  DIRECT_OF(stride, 5)                                                                        \
  DIRECT_OF(stride, 6)                                                                        \
  static const stowi_kernel_direct_function NAME(direct_##stride)[STOWI_KERNEL_TILE_ROWS] = { \
      NAME(direct_##stride##_1), NAME(direct_##stride##_2), NAME(direct_##stride##_3),        \
      NAME(direct_##stride##_4), NAME(direct_##stride##_5), NAME(direct_##stride##_6)};
DIRECT(1)
DIRECT(2)
#if LANES == 16
// With 32 registers there is room for two panels.
#define HIGH_OF(stride, rows)                                                               \
  static NOINLINE TARGET void NAME(high_##stride##_##rows)(const stowi_kernel_direct* d) {  \
    NAME(direct_of)(stride, STOWI_KERNEL_TILE_ROWS + (rows), d, 1, STOWI_KERNEL_TILE_ROWS); \
  }
#define HIGHS_OF(stride)                                                                    \
  HIGH_OF(stride, 1)                                                                        \
  HIGH_OF(stride, 2)                                                                        \
  HIGH_OF(stride, 3)                                                                        \
  HIGH_OF(stride, 4)                                                                        \
  HIGH_OF(stride, 5)                                                                        \
  HIGH_OF(stride, 6)                                                                        \
  static const stowi_kernel_direct_function NAME(high_##stride)[STOWI_KERNEL_TILE_ROWS] = { \
      NAME(high_##stride##_1), NAME(high_##stride##_2), NAME(high_##stride##_3),            \
      NAME(high_##stride##_4), NAME(high_##stride##_5), NAME(high_##stride##_6)};
HIGHS_OF(1)
HIGHS_OF(2)
#undef HIGHS_OF
#undef HIGH_OF
#define HIGH \
  { NAME(high_1), NAME(high_2) }
#else
#define HIGH \
  { NULL, NULL }
#endif
#undef DIRECT
#undef DIRECT_OF
#endif

TILE_OF(1, narrow_tile)

#if !defined(FEW)
// Of as many panels at a time as registers have room for. Eight rows are two vectors of four lanes.
static inline __attribute__((always_inline)) TARGET void NAME(few_of)(size_t panels, size_t columns,
                                                                      const stowi_kernel_few* w,
                                                                      const float* const* panel,
                                                                      float* sums) {
  enum { PARTS = STOWI_KERNEL_FEW_LANES / LANES };
  NAME(vector)
  sum[STOWI_KERNEL_FEW_PANELS * LANES / STOWI_KERNEL_FEW_LANES][STOWI_KERNEL_FEW_COLUMNS * PARTS];
  for (size_t q = 0; q < panels; ++q) {
    for (size_t i = 0; i < columns * PARTS; ++i) {
      sum[q][i] = *(const NAME(vector)*)(sums + (q * columns * PARTS + i) * LANES);
    }
  }
  for (size_t p = 0; p < w->depth; ++p) {
    const float* from = w->b + (w->b_at != NULL ? w->b_at[p] : p * w->b_step);
    for (size_t q = 0; q < panels; ++q) {
      const float* rows = panel[q] + p * w->height;
      for (size_t j = 0; j < columns; ++j) {
        NAME(vector) x = from[j] - (NAME(vector)){0};
        for (size_t v = 0; v < PARTS; ++v) {
          NAME(vector)* to = &sum[q][j * PARTS + v];
          *to = FUSE(*(const NAME(vector)*)(rows + v * LANES), x, *to);
        }
      }
    }
  }
  for (size_t q = 0; q < panels; ++q) {
    for (size_t i = 0; i < columns * PARTS; ++i) {
      *(NAME(vector)*)(sums + (q * columns * PARTS + i) * LANES) = sum[q][i];
    }
  }
}

#define FEW_OF(columns, panels)                                                                 \
  static NOINLINE TARGET void NAME(few_##columns)(stowi_kernel_few * w) {                       \
    enum { HERE = (panels)*LANES / STOWI_KERNEL_FEW_LANES };                                    \
    for (size_t q = 0; q < (panels); q += HERE) {                                               \
      NAME(few_of)(HERE, columns, w, w->a + q, w->sums + q * columns * STOWI_KERNEL_FEW_LANES); \
    }                                                                                           \
  }

FEW_OF(1, 8)
FEW_OF(2, 4)
FEW_OF(3, 4)
FEW_OF(4, 2)
FEW_OF(5, 2)
FEW_OF(6, 2)

static const stowi_kernel_few_function NAME(few)[STOWI_KERNEL_FEW_COLUMNS] = {
    NAME(few_1), NAME(few_2), NAME(few_3), NAME(few_4), NAME(few_5), NAME(few_6)};
#undef FEW_OF
#define FEW NAME(few)
#endif

#if LANES == 4
// Four steps of four columns, |apart| from each other, added to |sum|.
static inline __attribute__((always_inline)) TARGET NAME(vector)
    NAME(add_square)(NAME(vector) sum, const float* b, size_t apart, const float* a) {
  NAME(vector) w = *(const NAME(vector)*)b;
  NAME(vector) x = *(const NAME(vector)*)(b + apart);
  NAME(vector) y = *(const NAME(vector)*)(b + 2 * apart);
  NAME(vector) z = *(const NAME(vector)*)(b + 3 * apart);
  NAME(vector) wx_low = SHUFFLE(w, x, 0, 4, 1, 5);
  NAME(vector) wx_high = SHUFFLE(w, x, 2, 6, 3, 7);
  NAME(vector) yz_low = SHUFFLE(y, z, 0, 4, 1, 5);
  NAME(vector) yz_high = SHUFFLE(y, z, 2, 6, 3, 7);
  sum = FUSE(SHUFFLE(wx_low, yz_low, 0, 1, 4, 5), a[0] - (NAME(vector)){0}, sum);
  sum = FUSE(SHUFFLE(wx_low, yz_low, 2, 3, 6, 7), a[1] - (NAME(vector)){0}, sum);
  sum = FUSE(SHUFFLE(wx_high, yz_high, 0, 1, 4, 5), a[2] - (NAME(vector)){0}, sum);
  return FUSE(SHUFFLE(wx_high, yz_high, 2, 3, 6, 7), a[3] - (NAME(vector)){0}, sum);
}

static TARGET void NAME(turned)(size_t depth, const float* a, size_t a_step, float alpha,
                                const float* b, size_t apart, float* c,
                                stowi_kernel_tile_mode mode) {
  NAME(vector) sum[4] = {{0}};
  size_t p = 0;
  for (; p + 4 <= depth; p += 4) {
    float x[4];
    for (size_t i = 0; i < 4; ++i) {
      x[i] = alpha * a[(p + i) * a_step];
    }
    for (size_t q = 0; q < 4; ++q) {
      sum[q] = NAME(add_square)(sum[q], b + 4 * q * apart + p, apart, x);
    }
  }
  for (; p < depth; ++p) {
    NAME(vector) x = alpha * a[p * a_step] - (NAME(vector)){0};
    for (size_t q = 0; q < 4; ++q) {
      const float* at = b + 4 * q * apart + p;
      NAME(vector) columns = {at[0], at[apart], at[2 * apart], at[3 * apart]};
      sum[q] = FUSE(columns, x, sum[q]);
    }
  }
  for (size_t q = 0; q < 4; ++q) {
    NAME(vector)* to = (NAME(vector)*)(c + 4 * q);
    if (mode == STOWI_KERNEL_TILE_ADD) {
      sum[q] += *to;
    }
    *to = sum[q];
  }
}

// One column, whose rows are summed side by side.
static TARGET void NAME(column_tile)(size_t rows, size_t depth, const stowi_kernel_tile_factors* f,
                                     float* c, size_t c_row, stowi_kernel_tile_mode mode) {
  float sum[STOWI_KERNEL_TILE_ROWS] = {0};
  for (size_t i = 0; i < rows && mode == STOWI_KERNEL_TILE_GO_ON; ++i) {
    sum[i] = c[i * c_row];
  }
  for (size_t p = 0; p < depth; ++p) {
    float b = f->b[f->b_at != NULL ? f->b_at[p] : p * f->b_step];
    for (size_t i = 0; i < rows; ++i) {
      sum[i] = stowi_kernel_fma(HAS_FMA, b, f->a[p * f->a_step + i * f->a_row], sum[i]);
    }
  }
  for (size_t i = 0; i < rows; ++i) {
    float* to = c + i * c_row;
    *to = mode == STOWI_KERNEL_TILE_ADD ? *to + sum[i]
          : f->bias != NULL             ? f->bias[i] + sum[i]
                                        : sum[i];
  }
}

static const stowi_kernel_tiles NAME(column) = {
    .name = STRING(NAME(column)), .columns = 1, .tile = NAME(column_tile)};
#endif

static const stowi_kernel_tiles NAME(narrow) = {.name = STRING(NAME(narrow)),
                                                .columns = LANES,
                                                .tile = NAME(narrow_tile),
                                                .narrower = &NARROWER};
#if !defined(IS_NARROW)
static const stowi_kernel_tiles NAME(tiles) = {.name = STRING(NAME(tiles)),
                                               .columns = (size_t)2 * LANES,
                                               .tile = NAME(tile),
                                               .narrower = &NAME(narrow),
                                               .stream = NAME(stream),
                                               .turned = TURNED,
                                               .window = NAME(window),
                                               .few = FEW,
                                               .direct = {NAME(direct_1), NAME(direct_2)},
                                               .high_direct = HIGH};
#undef HIGH
#endif

#undef NAME
#undef TARGET
#undef LANES
#undef HAS_FMA
#undef FUSE
#undef NARROWER
#undef TURNED
#undef FEW
#undef LOAD_SOME
#undef STORE_SOME
#undef PICK_EVEN
#undef IS_NARROW
#undef ROWS_OF
#undef TILE_OF

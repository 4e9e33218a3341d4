// The inner loops of products of f32 matrices, one version per vector width. A tile's sums are in
// registers: with two vectors in each of six rows, twelve chains hide the latency and leave room
// for the factors, and every eight loads feed twelve fused multiply-adds. The last columns of c use
// the narrowest tile that holds them. Compilers without vector extensions get the same loops in
// plain C.
#include "exec/kernels/matrix/gemm_tile.h"

#include <string.h>

#include "exec/kernels/support/fma.h"
#include "exec/kernels/support/machine.h"
#include "exec/kernels/support/size.h"

#if defined(__GNUC__)

#define STRING_OF(text) #text
#define STRING(text) STRING_OF(text)

#define NOINLINE __attribute__((noinline))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 12")
#endif

typedef void (*tile_of_rows)(size_t depth, const stowi_kernel_tile_factors* f, float* c,
                             size_t c_row, stowi_kernel_tile_mode mode);

typedef float four __attribute__((vector_size(16), aligned(4), may_alias));

#if defined(__clang__)
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
typedef int order __attribute__((vector_size(16)));
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (order){__VA_ARGS__})
#endif

// Four floats on every machine of the kind.
#if STOWI_KERNEL_HAS_FMA && defined(__aarch64__)
#include <arm_neon.h>
static inline four fuse_four(four a, four b, four c) {
  return (four)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
#elif STOWI_KERNEL_HAS_FMA || !defined(__x86_64__)
static inline four fuse_four(four a, four b, four c) {
  for (size_t i = 0; i < 4; ++i) {
    c[i] = stowi_kernel_fma(STOWI_KERNEL_HAS_FMA, a[i], b[i], c[i]);
  }
  return c;
}
#else
#include <emmintrin.h>

// As stowi_kernel_fma_by_doubles, of two.
static inline __m128d fuse_two(__m128d a, __m128d b, __m128d c) {
  __m128d product = a * b;
  __m128d sum = product + c;
  __m128d back = sum - product;
  __m128d error = (product - (sum - back)) + (c - back);
  __m128d size = _mm_andnot_pd(_mm_set1_pd(-0.0), error);
  __m128i is_rounded = _mm_castpd_si128(_mm_cmpgt_pd(size, _mm_setzero_pd()));
  __m128i bits = _mm_castpd_si128(sum);
  __m128i is_too_far = _mm_srli_epi64(_mm_castpd_si128(_mm_xor_pd(sum, error)), 63);
  __m128i less = _mm_and_si128(is_rounded, _mm_andnot_si128(bits, is_too_far));
  __m128i last = _mm_srli_epi64(is_rounded, 63);
  return _mm_castsi128_pd(_mm_or_si128(_mm_sub_epi64(bits, less), last));
}

static inline four fuse_four(four a, four b, four c) {
  __m128 x = (__m128)a;
  __m128 y = (__m128)b;
  __m128 z = (__m128)c;
  __m128 low = _mm_cvtpd_ps(fuse_two(_mm_cvtps_pd(x), _mm_cvtps_pd(y), _mm_cvtps_pd(z)));
  x = _mm_movehl_ps(x, x);
  y = _mm_movehl_ps(y, y);
  z = _mm_movehl_ps(z, z);
  __m128 high = _mm_cvtpd_ps(fuse_two(_mm_cvtps_pd(x), _mm_cvtps_pd(y), _mm_cvtps_pd(z)));
  return (four)_mm_movelh_ps(low, high);
}
#endif

// The elements of a vector whose bits are set, 0 for the others; only these are read and written.
static inline four load_some(const float* from, uint32_t mask) {
  four some;
  for (size_t i = 0; i < 4; ++i) {
    some[i] = (mask >> i & 1) != 0 ? from[i] : 0;
  }
  return some;
}

static inline void store_some(float* to, uint32_t mask, four some) {
  for (size_t i = 0; i < 4; ++i) {
    if ((mask >> i & 1) != 0) {
      to[i] = some[i];
    }
  }
}

#define NAME(name) plain_##name
#define TARGET
#define LANES 4
#define HAS_FMA STOWI_KERNEL_HAS_FMA
#define FUSE(a, b, c) fuse_four(a, b, c)
#define NARROWER plain_column
#define TURNED plain_turned
#define LOAD_SOME(from, mask) load_some(from, mask)
#define STORE_SOME(to, mask, some) store_some(to, mask, some)
#define PICK_EVEN(low, high) SHUFFLE(low, high, 0, 2, 4, 6)
#include "exec/kernels/matrix/gemm_body.h"

#if defined(STOWI_KERNEL_X86)
#include <immintrin.h>

#define NAME(name) avx2_four_##name
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 4
#define HAS_FMA true
#define FUSE(a, b, c) (four) _mm_fmadd_ps((__m128)(a), (__m128)(b), (__m128)(c))
#define NARROWER avx2_four_column
#define FEW NULL
#define IS_NARROW
#include "exec/kernels/matrix/gemm_body.h"

typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));
#define AVX2 __attribute__((target("avx2,fma"), always_inline))
static inline AVX2 __m256i lanes_of(uint32_t mask) {
  __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)mask), bits), bits);
}
static inline AVX2 eight load_eight(const float* from, uint32_t mask) {
  return (eight)_mm256_maskload_ps(from, lanes_of(mask));
}
static inline AVX2 void store_eight(float* to, uint32_t mask, eight some) {
  _mm256_maskstore_ps(to, lanes_of(mask), (__m256)some);
}
static inline AVX2 eight pick_eight(eight low, eight high) {
  __m256 mixed = _mm256_shuffle_ps((__m256)low, (__m256)high, 0x88);
  return (eight)_mm256_permute4x64_epi64((__m256i)mixed, 0xd8);
}

#define NAME(name) avx2_##name
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 8
#define HAS_FMA true
#define FUSE(a, b, c) (avx2_vector) _mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c))
#define NARROWER avx2_four_narrow
#define TURNED avx2_four_turned
#define LOAD_SOME(from, mask) load_eight(from, mask)
#define STORE_SOME(to, mask, some) store_eight(to, mask, some)
#define PICK_EVEN(low, high) pick_eight(low, high)
#include "exec/kernels/matrix/gemm_body.h"

typedef float sixteen __attribute__((vector_size(64), aligned(4), may_alias));
#define AVX512 __attribute__((target("avx512f,avx2,fma"), always_inline))
static inline AVX512 sixteen load_sixteen(const float* from, uint32_t mask) {
  return (sixteen)_mm512_maskz_loadu_ps((__mmask16)mask, from);
}
static inline AVX512 void store_sixteen(float* to, uint32_t mask, sixteen some) {
  _mm512_mask_storeu_ps(to, (__mmask16)mask, (__m512)some);
}
static inline AVX512 sixteen pick_sixteen(sixteen low, sixteen high) {
  __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return (sixteen)_mm512_permutex2var_ps((__m512)low, even, (__m512)high);
}

#define NAME(name) avx512_##name
#define TARGET __attribute__((target("avx512f,avx2,fma")))
#define LANES 16
#define HAS_FMA true
#define FUSE(a, b, c) (avx512_vector) _mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c))
#define NARROWER avx2_narrow
#define TURNED avx2_four_turned
#define FEW avx2_few
#define LOAD_SOME(from, mask) load_sixteen(from, mask)
#define STORE_SOME(to, mask, some) store_sixteen(to, mask, some)
#define PICK_EVEN(low, high) pick_sixteen(low, high)
#include "exec/kernels/matrix/gemm_body.h"
#endif

#else

enum { COLUMNS = 8 };

static void plain_tile_of(size_t columns, size_t rows, size_t depth,
                          const stowi_kernel_tile_factors* f, float* c, size_t c_row,
                          stowi_kernel_tile_mode mode) {
  for (size_t i = 0; i < rows; ++i) {
    float* to = c + i * c_row;
    float sum[COLUMNS] = {0};
    for (size_t j = 0; j < columns && mode == STOWI_KERNEL_TILE_GO_ON; ++j) {
      sum[j] = to[j];
    }
    for (size_t p = 0; p < depth; ++p) {
      const float* b = f->b + (f->b_at != NULL ? f->b_at[p] : p * f->b_step);
      for (size_t j = 0; j < columns; ++j) {
        sum[j] = stowi_kernel_fma(STOWI_KERNEL_HAS_FMA, b[j], f->a[p * f->a_step + i * f->a_row],
                                  sum[j]);
      }
    }
    for (size_t j = 0; j < columns; ++j) {
      to[j] = mode == STOWI_KERNEL_TILE_ADD ? to[j] + sum[j]
              : f->bias != NULL             ? f->bias[i] + sum[j]
                                            : sum[j];
    }
  }
}

static void plain_tile(size_t rows, size_t depth, const stowi_kernel_tile_factors* f, float* c,
                       size_t c_row, stowi_kernel_tile_mode mode) {
  plain_tile_of(COLUMNS, rows, depth, f, c, c_row, mode);
}

static void plain_stream(size_t n, size_t depth, const float* a, const float* b, size_t b_row,
                         float* c, bool goes_on) {
  for (size_t j = 0; j < n; ++j) {
    float sum = goes_on ? c[j] : 0;
    for (size_t p = 0; p < depth; ++p) {
      sum = stowi_kernel_fma(STOWI_KERNEL_HAS_FMA, b[p * b_row + j], a[p], sum);
    }
    c[j] = sum;
  }
}

static void plain_turned(size_t depth, const float* a, size_t a_step, float alpha, const float* b,
                         size_t apart, float* c, stowi_kernel_tile_mode mode) {
  for (size_t j = 0; j < STOWI_KERNEL_TURNED_COLUMNS; ++j) {
    float sum = 0;
    for (size_t p = 0; p < depth; ++p) {
      sum = stowi_kernel_fma(STOWI_KERNEL_HAS_FMA, b[j * apart + p], alpha * a[p * a_step], sum);
    }
    c[j] = mode == STOWI_KERNEL_TILE_ADD ? c[j] + sum : sum;
  }
}

static void plain_window(size_t count, size_t depth, const float* a, const float* b,
                         const uint32_t* at, float bias, float* c) {
  for (size_t i = 0; i < count; ++i) {
    float sum = bias;
    for (size_t p = 0; p < depth; ++p) {
      sum = stowi_kernel_fma(STOWI_KERNEL_HAS_FMA, b[at[p] + i], a[p], sum);
    }
    c[i] = sum;
  }
}

static void plain_few_of(size_t columns, stowi_kernel_few* w) {
  for (size_t i = 0; i < stowi_kernel_few_panels(columns) * columns; ++i) {
    float* sums = w->sums + i * STOWI_KERNEL_FEW_LANES;
    for (size_t p = 0; p < w->depth; ++p) {
      const float* rows = w->a[i / columns] + p * w->height;
      float x = w->b[(w->b_at != NULL ? w->b_at[p] : p * w->b_step) + i % columns];
      for (size_t r = 0; r < w->height; ++r) {
        sums[r] = stowi_kernel_fma(STOWI_KERNEL_HAS_FMA, rows[r], x, sums[r]);
      }
    }
  }
}

static void plain_few_1(stowi_kernel_few* w) { plain_few_of(1, w); }
static void plain_few_2(stowi_kernel_few* w) { plain_few_of(2, w); }
static void plain_few_3(stowi_kernel_few* w) { plain_few_of(3, w); }
static void plain_few_4(stowi_kernel_few* w) { plain_few_of(4, w); }
static void plain_few_5(stowi_kernel_few* w) { plain_few_of(5, w); }
static void plain_few_6(stowi_kernel_few* w) { plain_few_of(6, w); }

static const stowi_kernel_few_function plain_few[STOWI_KERNEL_FEW_COLUMNS] = {
    plain_few_1, plain_few_2, plain_few_3, plain_few_4, plain_few_5, plain_few_6};

static float window_of(const stowi_kernel_direct* d, size_t step, size_t v, size_t at) {
  size_t from = d->tap + step;
  const stowi_kernel_tap* tap = &d->taps[from % d->tap_count];
  const float* x = d->x + from / d->tap_count * d->channel_size;
  return (tap->masks[v] >> at & 1) != 0 ? x[d->begin[v] + (ptrdiff_t)(tap->offset + at)] : 0;
}

static void plain_direct_of(size_t stride, size_t rows, const stowi_kernel_direct* d) {
  for (size_t i = 0; i < rows * COLUMNS; ++i) {
    size_t lane = i % (COLUMNS / 2);
    size_t v = i / (COLUMNS / 2) % 2;
    size_t row = i / COLUMNS;
    float* to = d->c[v] + row * d->c_row + lane;
    float sum = 0;
    if ((d->ends[v] >> lane & 1) == 0) {
      continue;
    }
    for (size_t p = 0; p < d->depth; ++p) {
      float a = d->a[row * d->a_row + p * d->a_step];
      sum = stowi_kernel_fma(STOWI_KERNEL_HAS_FMA, window_of(d, p, v, lane * stride), a, sum);
    }
    *to = d->adds ? *to + sum : d->bias != NULL ? d->bias[row] + sum : sum;
  }
}

#define DIRECT_OF(stride, rows)                                                   \
  static void plain_direct_##stride##_##rows(const stowi_kernel_direct* direct) { \
    plain_direct_of(stride, rows, direct);                                        \
  }
#define DIRECT(stride)                                                                        \
  DIRECT_OF(stride, 1)                                                                        \
  DIRECT_OF(stride, 2)                                                                        \
  DIRECT_OF(stride, 3)                                                                        \
  DIRECT_OF(stride, 4)                                                                        \
  DIRECT_OF(stride, 5)                                                                        \
  DIRECT_OF(stride, 6)                                                                        \
  static const stowi_kernel_direct_function plain_direct_##stride[STOWI_KERNEL_TILE_ROWS] = { \
      plain_direct_##stride##_1, plain_direct_##stride##_2, plain_direct_##stride##_3,        \
      plain_direct_##stride##_4, plain_direct_##stride##_5, plain_direct_##stride##_6};
DIRECT(1)
DIRECT(2)

static void plain_column_tile(size_t rows, size_t depth, const stowi_kernel_tile_factors* f,
                              float* c, size_t c_row, stowi_kernel_tile_mode mode) {
  plain_tile_of(1, rows, depth, f, c, c_row, mode);
}

static const stowi_kernel_tiles plain_column = {
    .name = "plain_column", .columns = 1, .tile = plain_column_tile};
static const stowi_kernel_tiles plain_tiles = {.name = "plain_tiles",
                                               .columns = COLUMNS,
                                               .tile = plain_tile,
                                               .narrower = &plain_column,
                                               .stream = plain_stream,
                                               .turned = plain_turned,
                                               .window = plain_window,
                                               .few = plain_few,
                                               .direct = {plain_direct_1, plain_direct_2}};

#endif

const stowi_kernel_tiles* stowi_kernel_tiles_at(size_t i) {
  if (i == 0) {
    return &plain_tiles;
  }
#if defined(STOWI_KERNEL_X86)
  if (i == 1 && stowi_kernel_machine_is() >= STOWI_KERNEL_MACHINE_AVX2) {
    return &avx2_tiles;
  }
  if (i == 2 && stowi_kernel_machine_is() >= STOWI_KERNEL_MACHINE_AVX512) {
    return &avx512_tiles;
  }
#endif
  return NULL;
}

const stowi_kernel_tiles* stowi_kernel_tiles_best(void) {
  const stowi_kernel_tiles* best = stowi_kernel_tiles_at(0);
  for (size_t i = 1; stowi_kernel_tiles_at(i) != NULL; ++i) {
    best = stowi_kernel_tiles_at(i);
  }
  return best;
}

// ---------------------------------------------------------------------------------------------
// Few columns

// Between c and the sums of panels, |f->height| rows of each.
static void load_sums(stowi_kernel_few* f, size_t panels, size_t columns, const float* c,
                      size_t c_row) {
  for (size_t i = 0; i < panels * f->height; ++i) {
    float* sums = f->sums + i / f->height * columns * STOWI_KERNEL_FEW_LANES + i % f->height;
    for (size_t j = 0; j < columns; ++j) {
      sums[j * STOWI_KERNEL_FEW_LANES] = c[i * c_row + j];
    }
  }
}

static void store_sums(const stowi_kernel_few* f, size_t panels, size_t columns, float* c,
                       size_t c_row, const float* bias, bool adds) {
  for (size_t q = 0; q < panels; ++q) {
    const float* sums = f->sums + q * columns * STOWI_KERNEL_FEW_LANES;
    for (size_t r = 0; r < f->height; ++r, c += c_row) {
      for (size_t j = 0; j < columns; ++j) {
        float sum = sums[j * STOWI_KERNEL_FEW_LANES + r];
        c[j] = adds ? c[j] + sum : bias != NULL ? bias[q * f->height + r] + sum : sum;
      }
    }
  }
}

// The last steps, behind which a has no eight floats: from a copy that has.
static void run_rest(stowi_kernel_few_function run, stowi_kernel_few* f, size_t panels, size_t done,
                     size_t depth) {
  float rest[STOWI_KERNEL_FEW_PANELS][2 * STOWI_KERNEL_FEW_LANES] = {{0}};
  for (size_t q = 0; q < panels; ++q) {
    memcpy(rest[q], f->a[q] + done * f->height, (depth - done) * f->height * sizeof(float));
    f->a[q] = rest[q];
  }
  if (f->b_at != NULL) {
    f->b_at += done;
  } else {
    f->b += done * f->b_step;
  }
  f->depth = depth - done;
  run(f);
}

// |panels| of the same height, which are |apart|.
static void run_panels(const stowi_kernel_tiles* tiles, size_t panels, size_t height,
                       size_t columns, size_t depth, const stowi_kernel_tile_factors* factors,
                       float* c, size_t c_row, stowi_kernel_tile_mode mode) {
  stowi_kernel_few_function run = tiles->few[columns - 1];
  size_t most = stowi_kernel_few_panels(columns);
  size_t over = (STOWI_KERNEL_FEW_LANES - 1) / height;  // steps with fewer than eight floats
  size_t left = factors->a_steps - factors->a_first;
  size_t whole = left > over ? stowi_kernel_smaller(left - over, depth) : 0;
  for (size_t done = 0; done < panels; done += most) {
    size_t here = stowi_kernel_smaller(panels - done, most);
    stowi_kernel_few f = {
        .height = height, .b = factors->b, .b_step = factors->b_step, .b_at = factors->b_at};
    float* to = c + done * height * c_row;
    for (size_t q = 0; q < most; ++q) {  // what is too many is made twice
      size_t panel = done + stowi_kernel_smaller(q, here - 1);
      f.a[q] = factors->a + (panel * factors->a_steps + factors->a_first) * height;
    }
    if (mode == STOWI_KERNEL_TILE_GO_ON) {
      load_sums(&f, here, columns, to, c_row);
    }
    f.depth = whole;
    run(&f);
    if (whole != depth) {
      run_rest(run, &f, most, whole, depth);
    }
    const float* bias = factors->bias == NULL ? NULL : factors->bias + done * height;
    store_sums(&f, here, columns, to, c_row, bias, mode == STOWI_KERNEL_TILE_ADD);
  }
}

void stowi_kernel_tiles_run_few(const stowi_kernel_tiles* tiles, size_t rows, size_t columns,
                                size_t depth, const stowi_kernel_tile_factors* factors, float* c,
                                size_t c_row, stowi_kernel_tile_mode mode) {
  size_t panels = rows / STOWI_KERNEL_TILE_ROWS;
  size_t done = panels * STOWI_KERNEL_TILE_ROWS;
  run_panels(tiles, panels, STOWI_KERNEL_TILE_ROWS, columns, depth, factors, c, c_row, mode);
  if (done != rows) {
    stowi_kernel_tile_factors f = *factors;
    f.a += done * f.a_steps;
    f.bias = f.bias == NULL ? NULL : f.bias + done;
    run_panels(tiles, 1, rows - done, columns, depth, &f, c + done * c_row, c_row, mode);
  }
}

// ---------------------------------------------------------------------------------------------
// Blocks of any size

enum { LEAST_COLUMNS = 8 };  // that narrow tiles take better

static void run_rows(const stowi_kernel_tiles* tiles, size_t rows, size_t columns, size_t depth,
                     stowi_kernel_tile_factors f, float* c, size_t c_row,
                     stowi_kernel_tile_mode mode) {
  for (size_t done = 0; done < columns;) {
    while (tiles->columns > columns - done) {
      tiles = tiles->narrower;
    }
    tiles->tile(rows, depth, &f, c + done, c_row, mode);
    f.b += tiles->columns;
    done += tiles->columns;
  }
}

// The last of |columns|: no more than are better taken along the rows.
static size_t few_of(size_t columns) {
  size_t last = columns % LEAST_COLUMNS;
  return columns <= STOWI_KERNEL_FEW_COLUMNS ? columns
         : last <= STOWI_KERNEL_FEW_COLUMNS  ? last
                                             : 0;
}

void stowi_kernel_tiles_run(const stowi_kernel_tiles* tiles, size_t rows, size_t columns,
                            size_t depth, const stowi_kernel_tile_factors* factors, float* c,
                            size_t c_row, stowi_kernel_tile_mode mode) {
  size_t few = factors->a_steps == 0 ? 0 : few_of(columns);
  columns -= few;
  for (size_t done = 0; done < rows && columns != 0;) {
    size_t height = stowi_kernel_tile_rows(rows - done);
    stowi_kernel_tile_factors f = *factors;
    if (f.a_steps != 0) {
      f.a += done * f.a_steps + f.a_first * height;
      f.a_row = 1;
      f.a_step = height;
      f.next = (const char*)(f.a + height * f.a_steps);
      f.next_step = height * sizeof(float);
    } else {
      f.a += done * f.a_row;
    }
    run_rows(tiles, height, columns, depth, f, c + done * c_row, c_row, mode);
    done += height;
  }
  if (few != 0) {
    stowi_kernel_tile_factors f = *factors;
    f.b += columns;
    stowi_kernel_tiles_run_few(tiles, rows, few, depth, &f, c + columns, c_row, mode);
  }
}

// Products of f32 matrices have the bits of chains of 256 fused multiply-adds for each element,
// whatever the shape, the strides, the instruction set and the number of workers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/kernels/matrix/gemm_tile.h"
#include "exec/kernels/support/fma.h"
#include "support/test.h"

enum { GUARD = 16 };

typedef struct sample {
  stowi_kernel_gemm gemm;
  float* a;
  float* b;
  float* expected;
  float* actual;
  void* scratch;
  size_t c_size;
} sample;

static float* floats(size_t count) {
  float* p = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64 + 64);
  if (p == NULL) {
    abort();
  }
  return p;
}

static void fill(test_random* random, float* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    to[i] = (float)((double)test_random_below(random, 1 << 20) / (1 << 18) - 2.0);
  }
}

static void reference(const stowi_kernel_gemm* g, float* c) {
  for (size_t i = 0; i < g->m; ++i) {
    for (size_t j = 0; j < g->n; ++j) {
      float* to = c + i * g->c_row + j;
      float sum = 0;
      *to = g->accumulate ? *to : 0;
      for (size_t p = 0; p < g->k; ++p) {
        float x = g->alpha * g->a.data[i * g->a.row + p * g->a.column];
        sum = stowi_kernel_fma_by_doubles(x, g->b.data[p * g->b.row + j * g->b.column], sum);
        if (p % 256 == 255 || p + 1 == g->k) {
          *to += sum;
          sum = 0;
        }
      }
    }
  }
}

// |way|: bits for a transposed, b transposed, alpha, accumulate, rows of c apart, strided a and b.
static sample sample_create(size_t m, size_t n, size_t k, unsigned way) {
  test_random random = {m * 7919 + n * 131 + k * 17 + way};
  size_t a_step = (way & 32U) != 0 ? 3 : 1;
  size_t b_step = (way & 64U) != 0 ? 2 : 1;
  sample s = {0};
  size_t c_row = n + ((way & 16U) != 0 ? 5 : 0);
  s.c_size = m * c_row + GUARD;
  s.a = floats(m * k * a_step);
  s.b = floats(n * k * b_step);
  s.expected = floats(s.c_size);
  s.actual = floats(s.c_size);
  s.scratch = floats(stowi_kernel_gemm_scratch(m, n, k, 3, 0) / sizeof(float));
  fill(&random, s.a, m * k * a_step);
  fill(&random, s.b, n * k * b_step);
  fill(&random, s.expected, s.c_size);
  memcpy(s.actual, s.expected, s.c_size * sizeof(float));
  s.gemm = (stowi_kernel_gemm){.m = m, .n = n, .k = k, .c = s.actual, .c_row = c_row};
  s.gemm.a = (way & 1U) != 0 ? (stowi_kernel_matrix){s.a, a_step, m * a_step}
                             : (stowi_kernel_matrix){s.a, k * a_step, a_step};
  s.gemm.b = (way & 2U) != 0 ? (stowi_kernel_matrix){s.b, b_step, k * b_step}
                             : (stowi_kernel_matrix){s.b, n * b_step, b_step};
  s.gemm.alpha = (way & 4U) != 0 ? 0.3F : 1;
  s.gemm.accumulate = (way & 8U) != 0;
  return s;
}

static void sample_destroy(sample* s) {
  free(s->a);
  free(s->b);
  free(s->expected);
  free(s->actual);
  free(s->scratch);
}

static void check_same(const sample* s, const char* how) {
  test_check(memcmp(s->actual, s->expected, s->c_size * sizeof(float)) == 0, __FILE__, __LINE__,
             "%zu x %zu x %zu differs %s", s->gemm.m, s->gemm.n, s->gemm.k, how);
}

// Cuts what is divided into many ranges, from the last to the first.
static void split_small(void* pool, size_t count, size_t grain, stow_split_task task, void* user) {
  (void)pool;
  (void)grain;
  for (size_t end = count; end > 0;) {
    size_t begin = end > 2 ? end - 2 : 0;
    task(user, begin, end, (uint32_t)(end % 3));
    end = begin;
  }
}

static uint64_t scratch_of_gemm(const stowi_kernel_gemm* g, uint32_t workers) {
  return g->a_steps != 0 || g->b_steps != 0
             ? stowi_kernel_gemm_packed_scratch(g, workers)
             : stowi_kernel_gemm_scratch(g->m, g->n, g->k, workers, g->variant);
}

// Every variant, divided and alone, with exactly the scratch that it needs.
static void check_variants(sample* s, const float* before, const char* factors) {
  stow_kernel_call call = {.workers = 3, .splitter = {split_small, NULL}};
  const stowi_kernel_gemm* g = &s->gemm;
  for (uint32_t variant = 0; variant < STOWI_KERNEL_GEMM_VARIANTS; ++variant) {
    char how[64];
    s->gemm.variant = variant;
    for (uint32_t workers = 1; workers <= 3; workers += 2) {
      size_t size = (size_t)scratch_of_gemm(g, workers);
      unsigned char* scratch = aligned_alloc(64, size + 64);
      memset(scratch + size, 0xa5, 64);
      memcpy(s->actual, before, s->c_size * sizeof(float));
      if (workers == 1) {
        stowi_kernel_gemm_alone(g, scratch);
      } else {
        stowi_kernel_gemm_run(&call, g, scratch);
      }
      snprintf(how, sizeof(how), "variant %u, %u workers, %s", variant, workers, factors);
      check_same(s, how);
      for (size_t i = 0; i < 64; ++i) {
        CHECK(scratch[size + i] == 0xa5);
      }
      free(scratch);
    }
  }
}

// The same with factors that are packed, in whole and, where there are several steps, from the
// second one on.
static void check_packed(sample* s, const float* before) {
  stowi_kernel_gemm plain = s->gemm;
  size_t steps = plain.k + 1;
  float* a = floats(plain.m * steps);
  float* b = floats(stowi_kernel_gemm_pack_b_size(steps, plain.n) / sizeof(float));
  float* longer_a = floats(plain.m * steps);
  float* longer_b = floats(plain.n * steps);
  for (size_t p = 0; p < plain.k; ++p) {
    for (size_t i = 0; i < plain.m; ++i) {
      longer_a[i * steps + p + 1] = plain.a.data[i * plain.a.row + p * plain.a.column];
    }
    for (size_t j = 0; j < plain.n; ++j) {
      longer_b[(p + 1) * plain.n + j] = plain.b.data[p * plain.b.row + j * plain.b.column];
    }
  }
  stowi_kernel_gemm_pack_a(&(stowi_kernel_matrix){longer_a, steps, 1}, plain.m, steps, a);
  stowi_kernel_gemm_pack_b(&(stowi_kernel_matrix){longer_b, plain.n, 1}, steps, plain.n, b);
  for (unsigned which = 1; which < 4; ++which) {
    if ((which & 1) != 0 && plain.alpha != 1) {
      continue;
    }
    s->gemm = plain;
    s->gemm.first_step = 1;
    if ((which & 1) != 0) {
      s->gemm.a = (stowi_kernel_matrix){a, 0, 0};
      s->gemm.a_steps = steps;
    }
    if ((which & 2) != 0) {
      s->gemm.b = (stowi_kernel_matrix){b, 0, 0};
      s->gemm.b_steps = steps;
    }
    check_variants(s, before, which == 1 ? "a packed" : which == 2 ? "b packed" : "both packed");
  }
  s->gemm = plain;
  free(a);
  free(b);
  free(longer_a);
  free(longer_b);
}

// A bias gives what the same numbers in c before give.
static void check_bias(const sample* s) {
  stowi_kernel_gemm g = s->gemm;
  float* a = floats(g.m * g.k);
  float* expected = floats(s->c_size);
  float* bias = floats(g.m);
  test_random random = {3};
  fill(&random, bias, g.m);
  memcpy(expected, s->actual, s->c_size * sizeof(float));
  for (size_t i = 0; i < g.m * g.n; ++i) {
    expected[i / g.n * g.c_row + i % g.n] = bias[i / g.n];
  }
  g.alpha = 1;
  g.accumulate = true;
  reference(&g, expected);
  stowi_kernel_gemm_pack_a(&g.a, g.m, g.k, a);
  g.a = (stowi_kernel_matrix){a, 0, 0};
  g.a_steps = g.k;
  g.accumulate = false;
  g.variant = 0;
  g.bias = bias;
  for (size_t i = 0; stowi_kernel_tiles_at(i) != NULL; ++i) {
    stowi_kernel_gemm_by(stowi_kernel_tiles_at(i), &g, s->scratch);
    test_check(memcmp(s->actual, expected, s->c_size * sizeof(float)) == 0, __FILE__, __LINE__,
               "%s: %zu x %zu x %zu differs with a bias", stowi_kernel_tiles_at(i)->name, g.m, g.n,
               g.k);
  }
  free(a);
  free(expected);
  free(bias);
}

static void check_shape(size_t m, size_t n, size_t k, unsigned way) {
  sample s = sample_create(m, n, k, way);
  float* before = floats(s.c_size);
  memcpy(before, s.expected, s.c_size * sizeof(float));
  reference(&s.gemm, s.expected);
  for (size_t i = 0; stowi_kernel_tiles_at(i) != NULL; ++i) {
    memcpy(s.actual, before, s.c_size * sizeof(float));
    stowi_kernel_gemm_by(stowi_kernel_tiles_at(i), &s.gemm, s.scratch);
    check_same(&s, stowi_kernel_tiles_at(i)->name);
  }
  check_variants(&s, before, "");
  check_packed(&s, before);
  if (k != 0) {
    check_bias(&s);
  }
  free(before);
  sample_destroy(&s);
}

TEST(EveryShapeHasTheBitsOfItsChains) {
  static const size_t sizes[][3] = {
      {1, 1, 1},    {1, 7, 3},     {1, 70, 300},  {2, 33, 9},     {5, 31, 520},
      {6, 600, 20}, {1, 390, 700}, {3, 800, 513}, {7, 32, 257},   {8, 64, 256},
      {9, 65, 12},  {13, 5, 40},   {300, 3, 5},   {257, 40, 260}, {40, 1, 30},
      {0, 4, 4},    {4, 0, 4},     {4, 4, 0},     {3, 40, 1},     {16, 16, 2},
  };
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    for (unsigned way = 0; way < 128; way += i % 2 == 0 ? 1 : 3) {
      check_shape(sizes[i][0], sizes[i][1], sizes[i][2], way);
    }
  }
}

TEST(RandomShapesHaveTheBitsOfTheirChains) {
  test_random random = {42};
  for (size_t i = 0; i < (test_is_long() ? 2000U : 100U); ++i) {
    check_shape(test_random_below(&random, 70), test_random_below(&random, 140),
                test_random_below(&random, 60), (unsigned)test_random_below(&random, 128));
  }
}

// ---------------------------------------------------------------------------------------------
// Blocks of tiles: any rows and columns, steps of b anywhere, a plain or packed, in all modes.

enum { BLOCK_STEPS = 40, BLOCK_ROWS = 21, BLOCK_COLUMNS = 70, BLOCK_FIRST = 3 };

typedef struct tile_block {
  size_t rows, columns, depth;
  float a[BLOCK_ROWS * BLOCK_STEPS];  // BLOCK_STEPS apart
  float packed[BLOCK_ROWS * BLOCK_STEPS];
  float b[BLOCK_STEPS * BLOCK_COLUMNS + BLOCK_COLUMNS];
  uint32_t at[BLOCK_STEPS];
  float c[BLOCK_ROWS * (BLOCK_COLUMNS + 1) + GUARD];
} tile_block;

static void fill_block(test_random* random, tile_block* t) {
  t->rows = 1 + test_random_below(random, BLOCK_ROWS);
  t->columns = 1 + test_random_below(random, BLOCK_COLUMNS);
  t->depth = 1 + test_random_below(random, BLOCK_STEPS - BLOCK_FIRST);
  fill(random, t->a, sizeof(t->a) / sizeof(float));
  fill(random, t->b, sizeof(t->b) / sizeof(float));
  fill(random, t->c, sizeof(t->c) / sizeof(float));
  stowi_kernel_gemm_pack_a(&(stowi_kernel_matrix){t->a, BLOCK_STEPS, 1}, t->rows, BLOCK_STEPS,
                           t->packed);
  for (size_t p = 0; p < BLOCK_STEPS; ++p) {
    t->at[p] = (uint32_t)test_random_below(random, BLOCK_STEPS * BLOCK_COLUMNS);
  }
}

static float sum_of_block(const tile_block* t, size_t i, size_t j, bool is_scattered,
                          stowi_kernel_tile_mode mode) {
  float sum = mode == STOWI_KERNEL_TILE_GO_ON ? t->c[i * (t->columns + 1) + j] : 0;
  for (size_t p = 0; p < t->depth; ++p) {
    size_t from = is_scattered ? t->at[p] : p * t->columns;
    float a = t->a[i * BLOCK_STEPS + BLOCK_FIRST + p];
    sum = stowi_kernel_fma_by_doubles(a, t->b[from + j], sum);
  }
  return mode == STOWI_KERNEL_TILE_ADD ? t->c[i * (t->columns + 1) + j] + sum : sum;
}

static void check_block(const tile_block* t, const stowi_kernel_tiles* tiles, bool is_packed,
                        bool is_scattered, stowi_kernel_tile_mode mode) {
  static tile_block made;
  made = *t;
  stowi_kernel_tile_factors f = {.a = is_packed ? t->packed : t->a + BLOCK_FIRST,
                                 .a_row = BLOCK_STEPS,
                                 .a_step = 1,
                                 .b = t->b,
                                 .b_step = t->columns,
                                 .b_at = is_scattered ? t->at : NULL,
                                 .a_steps = is_packed ? BLOCK_STEPS : 0,
                                 .a_first = BLOCK_FIRST};
  stowi_kernel_tiles_run(tiles, t->rows, t->columns, t->depth, &f, made.c, t->columns + 1, mode);
  for (size_t i = 0; i < sizeof(t->c) / sizeof(float); ++i) {
    size_t row = i / (t->columns + 1);
    size_t column = i % (t->columns + 1);
    bool is_inside = row < t->rows && column < t->columns;
    float expected = is_inside ? sum_of_block(t, row, column, is_scattered, mode) : t->c[i];
    test_check(memcmp(&expected, &made.c[i], sizeof(float)) == 0, __FILE__, __LINE__,
               "%s: %zu x %zu x %zu, packed %d, scattered %d, mode %d: (%zu, %zu) differs",
               tiles->name, t->rows, t->columns, t->depth, is_packed, is_scattered, (int)mode, row,
               column);
  }
}

TEST(BlocksOfTilesHaveTheBitsOfTheirChains) {
  static tile_block t;
  test_random random = {7};
  for (size_t round = 0; round < (test_is_long() ? 300U : 30U); ++round) {
    fill_block(&random, &t);
    for (size_t i = 0; stowi_kernel_tiles_at(i) != NULL; ++i) {
      for (unsigned way = 0; way < 12; ++way) {
        check_block(&t, stowi_kernel_tiles_at(i), (way & 1U) != 0, (way & 2U) != 0,
                    (stowi_kernel_tile_mode)(way / 4));
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Scratch

static uint64_t scratch_of(size_t m, size_t n, size_t k, uint32_t variant) {
  return stowi_kernel_gemm_scratch(m, n, k, 2, variant);
}

TEST(ScratchGrowsWithEveryArgument) {
  static const size_t sizes[] = {0, 1, 2, 5, 8, 9, 32, 33, 100, 255, 256, 257, 5000};
  size_t count = sizeof(sizes) / sizeof(sizes[0]);
  for (size_t i = 0; i < (count - 1) * count * count; ++i) {
    size_t x = sizes[i % (count - 1)];
    size_t y = sizes[i % (count - 1) + 1];
    size_t p = sizes[i / (count - 1) % count];
    size_t q = sizes[i / (count - 1) / count];
    for (uint32_t v = 0; v < STOWI_KERNEL_GEMM_VARIANTS; ++v) {
      CHECK(scratch_of(x, p, q, v) <= scratch_of(y, p, q, v));
      CHECK(scratch_of(p, x, q, v) <= scratch_of(p, y, q, v));
      CHECK(scratch_of(p, q, x, v) <= scratch_of(p, q, y, v));
      CHECK(v == 0 || scratch_of(p, q, x, v) <= scratch_of(p, q, x, v - 1));
    }
  }
  CHECK(scratch_of(9, 9, 9, 0) == 2 * stowi_kernel_gemm_scratch(9, 9, 9, 1, 0));
  CHECK(stowi_kernel_gemm_scratch(5000, 5000, 5000, 1, 1) <= 65536);
  CHECK(stowi_kernel_gemm_scratch(5000, 5000, 5000, 1, 2) <= 2048);
}

TEST(AnEmptySumKeepsTheAddend) {
  float c[4] = {1, 2, 3, 4};
  stowi_kernel_gemm g = {.m = 2, .n = 2, .b = {NULL, 2, 1}, .c = c, .c_row = 2, .alpha = 1};
  g.a.column = 1;
  g.accumulate = true;
  stowi_kernel_gemm_alone(&g, NULL);
  CHECK(c[0] == 1 && c[3] == 4);
  g.accumulate = false;
  g.variant = 0;
  stowi_kernel_gemm_alone(&g, NULL);
  CHECK(c[0] == 0 && c[3] == 0);
}

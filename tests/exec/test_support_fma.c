// a·b + c with one rounding: what doubles give, the machine's instruction and integers of any
// length agree, bit for bit; NaN is NaN. With --long 10^9 triples instead of 10^6.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/kernels/matrix/gemm_tile.h"
#include "exec/kernels/support/vector.h"
#include "support/test.h"

enum { BATCH = 1024 };

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

static bool is_same(float x, float y) {
  return isnan(x) || isnan(y) ? isnan(x) && isnan(y) : bits_of(x) == bits_of(y);
}

static void check_same(float a, float b, float c, float actual, float expected, const char* what) {
  if (!is_same(actual, expected)) {
    test_check(false, __FILE__, __LINE__, "%s: %a * %a + %a is %a, not %a", what, (double)a,
               (double)b, (double)c, (double)actual, (double)expected);
  }
}

// ---------------------------------------------------------------------------------------------
// Exactly: an integer times a power of two, shortened at its end to a bit that says whether
// anything was lost, which is far below the last bit of a float.

__extension__ typedef unsigned __int128 wide;

typedef struct exact {
  bool is_negative;
  wide size;
  int exponent;
} exact;

static exact exact_of(float x) {
  uint32_t bits = bits_of(x);
  uint32_t exponent = bits >> 23 & 255;
  uint32_t fraction = bits & 0x7fffff;
  return (exact){bits >> 31 != 0, exponent == 0 ? fraction : fraction | 0x800000,
                 exponent == 0 ? -149 : (int)exponent - 150};
}

// |x| with |exponent|, which is not above its own by more than there is room for.
static wide moved(exact x, int exponent) {
  if (x.exponent >= exponent) {
    return x.size << (x.exponent - exponent);
  }
  int lost = exponent - x.exponent;
  if (lost >= 128) {
    return x.size != 0;
  }
  wide kept = x.size >> lost;
  return kept | ((kept << lost) != x.size);
}

static int top_of(exact x) {
  int top = x.exponent;
  for (wide size = x.size; size != 0; size >>= 1) {
    ++top;
  }
  return top;
}

static exact sum_of(exact x, exact y) {
  if (x.size == 0 || y.size == 0) {
    return x.size == 0 ? y : x;
  }
  int top = top_of(x) > top_of(y) ? top_of(x) : top_of(y);
  int low = x.exponent < y.exponent ? x.exponent : y.exponent;
  exact sum = {.exponent = top - 120 > low ? top - 120 : low};
  wide p = moved(x, sum.exponent);
  wide q = moved(y, sum.exponent);
  if (x.is_negative == y.is_negative) {
    sum.is_negative = x.is_negative;
    sum.size = p + q;
  } else {
    sum.is_negative = p > q ? x.is_negative : y.is_negative;
    sum.size = p > q ? p - q : q - p;
  }
  return sum;
}

static float rounded(exact x) {
  int top = top_of(x);
  int unit = top - 24 < -149 ? -149 : top - 24;  // the exponent of the last bit
  wide size = x.size;
  if (unit > x.exponent) {
    int lost = unit - x.exponent;
    wide half = lost > 127 ? 0 : (wide)1 << (lost - 1);
    wide rest = lost > 127 ? size : size & ((half << 1) - 1);
    size = lost > 127 ? 0 : size >> lost;
    size += half != 0 && (rest > half || (rest == half && (size & 1) != 0)) ? 1 : 0;
  } else {
    unit = x.exponent;
  }
  double value = ldexp((double)(uint64_t)size, unit);  // exact, as it has 25 bits
  value = value >= 0x1p128 ? (double)INFINITY : value;
  return (float)(x.is_negative ? -value : value);
}

static float exact_fma(float a, float b, float c) {
  if (!isfinite(a) || !isfinite(b) || !isfinite(c)) {
    return (float)((double)a * (double)b + (double)c);
  }
  exact x = exact_of(a);
  exact y = exact_of(b);
  exact product = {x.is_negative != y.is_negative, x.size * y.size, x.exponent + y.exponent};
  exact z = exact_of(c);
  exact sum = sum_of(product, z);
  if (sum.size == 0) {
    return product.is_negative && z.is_negative ? -0.0F : 0.0F;
  }
  return rounded(sum);
}

// ---------------------------------------------------------------------------------------------
// Triples

// Numbers of every kind: any bits, few bits, next to powers of two, subnormal, infinite.
static float number(test_random* random) {
  uint64_t draw = test_random_u64(random);
  uint32_t bits = (uint32_t)(draw >> 32);
  uint32_t exponent = (uint32_t)(draw >> 8 & 31) + 112;
  switch (draw % 8) {
    case 0: return float_of(bits);
    case 1: return float_of(bits & 0x80ffffff);                             // subnormal, tiny
    case 2: return float_of((bits & 0x80f00000) | exponent << 23);          // short
    case 3: return float_of((bits & 0x80000007) | exponent << 23);          // above a power
    case 4: return float_of((bits & 0x80000000) | ((exponent << 23) - 1));  // below one
    case 5: return float_of((bits & 0x80000001) | 0x7f000000 | (bits & 0x700000));
    case 6: return (draw & 256) != 0 ? float_of(bits & 0xff800000) : float_of(bits & 0x80000003);
    default: return float_of((bits & 0x807fffff) | exponent << 23);
  }
}

typedef struct triples {
  float a[BATCH], b[BATCH], c[BATCH];
} triples;

// Every other one so that the sum nearly vanishes, or lies on the middle of two floats.
static void draw(test_random* random, triples* t) {
  for (size_t i = 0; i < BATCH; ++i) {
    t->a[i] = number(random);
    t->b[i] = number(random);
    t->c[i] = number(random);
    uint64_t how = test_random_below(random, 4);
    float product = t->a[i] * t->b[i];
    if (how == 0) {
      t->c[i] = -product;
    } else if (how == 1) {
      t->c[i] = float_of(bits_of(product) + (uint32_t)test_random_below(random, 5) - 2);
    }
  }
}

STOWI_KERNEL_LOOP(by_machine, (const triples* t, float* out), (t, out)) {
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < BATCH; ++i) {
    out[i] = stowi_kernel_fma(has_fma, t->a[i], t->b[i], t->c[i]);
  }
}

static void by_doubles(const triples* t, float* out) {
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < BATCH; ++i) {
    out[i] = stowi_kernel_fma_by_doubles(t->a[i], t->b[i], t->c[i]);
  }
}

TEST(DoublesGiveWhatTheMachineGives) {
  static triples t;
  static float expected[BATCH];
  static float actual[BATCH];
  test_random random = {21};
  size_t batches = (test_is_long() ? 1000000000U : 1000000U) / BATCH + 1;
  for (size_t i = 0; i < batches; ++i) {
    draw(&random, &t);
    by_machine(&t, expected);
    by_doubles(&t, actual);
    for (size_t k = 0; k < BATCH; ++k) {
      check_same(t.a[k], t.b[k], t.c[k], actual[k], expected[k], "by doubles");
    }
  }
}

TEST(DoublesGiveTheExactResult) {
  static triples t;
  static float actual[BATCH];
  test_random random = {22};
  size_t batches = (test_is_long() ? 100000000U : 1000000U) / BATCH + 1;
  for (size_t i = 0; i < batches; ++i) {
    draw(&random, &t);
    by_doubles(&t, actual);
    for (size_t k = 0; k < BATCH; ++k) {
      check_same(t.a[k], t.b[k], t.c[k], actual[k], exact_fma(t.a[k], t.b[k], t.c[k]), "exactly");
    }
  }
}

// Tiles have functions of their own for vectors: a chain of two steps, c·1 and then a·b.
TEST(TilesRoundOnce) {
  static triples t;
  test_random random = {23};
  for (size_t round = 0; round < 100; ++round) {
    draw(&random, &t);
    for (size_t i = 0; stowi_kernel_tiles_at(i) != NULL; ++i) {
      const stowi_kernel_tiles* tiles = stowi_kernel_tiles_at(i);
      for (size_t k = 0; k + 32 <= BATCH; k += 32) {
        float a[2] = {1, t.a[k]};
        float b[64];
        float c[32];
        memcpy(b, t.c + k, 32 * sizeof(float));
        memcpy(b + 32, t.b + k, 32 * sizeof(float));
        stowi_kernel_tile_factors f = {.a = a, .a_row = 2, .a_step = 1, .b = b, .b_step = 32};
        stowi_kernel_tiles_run(tiles, 1, 32, 2, &f, c, 32, STOWI_KERNEL_TILE_SET);
        for (size_t j = 0; j < 32; ++j) {
          float begin = exact_fma(1, b[j], 0);
          check_same(a[1], b[32 + j], begin, c[j], exact_fma(a[1], b[32 + j], begin), tiles->name);
        }
      }
    }
  }
}

// pow and mod. Powers of f32 are libm's in double, then rounded, but for exponents that are the
// same for many elements and cheap; powers of integers by squaring. The base's dtype is the
// result's; integers to a power that is a float are computed in f64.
#include <math.h>

#include "exec/kernels/elementwise/binary.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/walk.h"

// ---------------------------------------------------------------------------------------------
// mod: the rest has the divisor's sign, or with fmod the dividend's.

static inline float floor_mod_f32(float x, float y) {
  float rest = fmodf(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static inline double floor_mod_f64(double x, double y) {
  double rest = fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

// -1 is apart: the smallest integer has no quotient by it.
static inline int64_t rest_i64(int64_t x, int64_t y) { return y == -1 ? 0 : x % y; }

static inline int64_t floor_mod_i64(int64_t x, int64_t y) {
  int64_t rest = rest_i64(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

STOWI_KERNEL_BINARY_F32(mod, floor_mod_f32(x, y))
STOWI_KERNEL_BINARY_F64(mod, floor_mod_f64(x, y))
STOWI_KERNEL_BINARY_INT(mod_i64, int64, floor_mod_i64(x, y))
STOWI_KERNEL_BINARY_F32(fmod, fmodf(x, y))
STOWI_KERNEL_BINARY_F64(fmod, fmod(x, y))
STOWI_KERNEL_BINARY_INT(fmod_i64, int64, rest_i64(x, y))
STOWI_KERNEL_BINARY_INT(mod_u64, uint64, x % y)

static const stowi_kernel_binary mod_row = {
    STOW_OP_MOD, 16, mod_f32, mod_f64, mod_i64, mod_u64, STOWI_KERNEL_ATTR_NONE, NULL};
static const stowi_kernel_binary fmod_row = {
    STOW_OP_MOD, 16, fmod_f32, fmod_f64, fmod_i64, mod_u64, STOWI_KERNEL_ATTR_NONE, NULL};

static stow_status run_mod(stow_kernel_call* call) {
  STOWI_KERNEL_TRY(stowi_kernel_check_divisor(call));
  return stowi_kernel_binary_run(
      call, stowi_kernel_bool(call, STOWI_KERNEL_ATTR_FMOD, false) ? &fmod_row : &mod_row);
}

// ---------------------------------------------------------------------------------------------
// pow

static inline float root(float x) {  // pow(x, 0.5): of -0 it is 0, of -infinity infinity
  return x == -INFINITY ? INFINITY : sqrtf(x) + 0.0F;
}

STOWI_KERNEL_LOOP(square, (const float* a, float* out, size_t count), (a, out, count)) {
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    out[i] = a[i] * a[i];
  }
}

STOWI_KERNEL_LOOP(cube, (const float* a, float* out, size_t count), (a, out, count)) {
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    double x = (double)a[i];
    out[i] = (float)(x * x * x);
  }
}

STOWI_KERNEL_LOOP(roots, (const float* a, float* out, size_t count), (a, out, count)) {
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    out[i] = root(a[i]);
  }
}

static float power(float x, float y) {
  double wide = (double)x;
  return y == 2     ? x * x
         : y == 3   ? (float)(wide * wide * wide)
         : y == .5F ? root(x)
                    : (float)pow(wide, (double)y);
}

// However elements are divided and laid out, each has the bits of |power|.
static void pow_f32(const float* a, size_t a_step, const float* b, size_t b_step, float* out,
                    size_t count, float p) {
  (void)p;
  bool is_one = b_step == 0 && a_step == 1;
  if (is_one && *b == 2) {
    square(a, out, count);
  } else if (is_one && *b == 3) {
    cube(a, out, count);
  } else if (is_one && *b == .5F) {
    roots(a, out, count);
  } else {
    for (size_t i = 0; i < count; ++i) {
      out[i] = power(a[i * a_step], b[i * b_step]);
    }
  }
}

STOWI_KERNEL_BINARY_F64(pow, pow(x, y))

static uint64_t power_by_squaring(uint64_t base, uint64_t exponent) {
  uint64_t product = 1;
  for (; exponent != 0; exponent >>= 1) {
    product *= (exponent & 1) != 0 ? base : 1;
    base *= base;
  }
  return product;
}

// A negative power of an integer is rounded towards zero; of 0 it is taken as 0.
static int64_t power_i64(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  return (int64_t)power_by_squaring((uint64_t)base, (uint64_t)exponent);
}

// The exponent of an unsigned base is read as signed, but where its own dtype is u64.
static uint64_t power_u64(uint64_t base, int64_t exponent) {
  return exponent >= 0 ? power_by_squaring(base, (uint64_t)exponent) : base == 1;
}

STOWI_KERNEL_BINARY_INT(pow_i64, int64, power_i64(x, y))
STOWI_KERNEL_BINARY_INT(pow_u64, uint64, power_u64(x, (int64_t)y))
STOWI_KERNEL_BINARY_INT(pow_i64_u64, int64, (int64_t)power_by_squaring((uint64_t)x, (uint64_t)y))
STOWI_KERNEL_BINARY_INT(pow_u64_u64, uint64, power_by_squaring(x, y))

static const stowi_kernel_binary pow_row = {
    STOW_OP_POW, 32, pow_f32, pow_f64, pow_i64, pow_u64, STOWI_KERNEL_ATTR_NONE, NULL};
static const stowi_kernel_binary pow_by_u64_row = {
    STOW_OP_POW, 32, pow_f32, pow_f64, pow_i64_u64, pow_u64_u64, STOWI_KERNEL_ATTR_NONE, NULL};

typedef struct pow_task {
  const stow_tensor* a;
  const stow_tensor* b;
  stow_tensor* out;
  stowi_kernel_walk walk;
} pow_task;

static void run_wide(void* user, size_t begin, size_t end, uint32_t worker) {
  const pow_task* t = (const pow_task*)user;
  double a[STOWI_KERNEL_BLOCK];
  double b[STOWI_KERNEL_BLOCK];
  (void)worker;
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t n = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_spread_f64(&t->walk, 0, t->a, i, n, a);
    stowi_kernel_spread_f64(&t->walk, 1, t->b, i, n, b);
    pow_f64(a, b, a, n, 0);
    stowi_kernel_store_f64(t->out->dtype, t->out->data, i, n, a);
  }
}

static stow_status run_pow(stow_kernel_call* call) {
  pow_task t = {.a = call->operands[0], .b = call->operands[1], .out = call->results[0]};
  stow_dtype_kind kind = stowi_kernel_kind(t.a->dtype);
  if (stowi_kernel_kind(t.b->dtype) == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "exponents must not be complex");
  }
  bool is_wide = kind == STOW_KIND_SIGNED || kind == STOW_KIND_UNSIGNED || kind == STOW_KIND_BOOL;
  if (is_wide && stowi_kernel_kind(t.b->dtype) == STOW_KIND_FLOAT) {
    stowi_kernel_walk_init(&t.walk, t.out, call->operands, 2);
    stowi_kernel_split_elements(call, t.walk.count, 32, run_wide, &t);
    return STOW_OK;
  }
  return stowi_kernel_binary_run(call, t.b->dtype == STOW_U64 ? &pow_by_u64_row : &pow_row);
}

STOWI_KERNEL(MOD, NULL, run_mod);
STOWI_KERNEL(POW, NULL, run_pow);

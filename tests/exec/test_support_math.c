// The f32 functions of kernels against libm's double ones: in units of the last place, over numbers
// of every magnitude, and at the edges.
#include <math.h>
#include <string.h>

#include "exec/kernels/support/math.h"
#include "support/test.h"

#define HAS_FMA STOWI_KERNEL_HAS_FMA

typedef struct function_case {
  const char* name;
  float (*own)(float);
  double (*exact)(double);
  double most;  // units of the last place
} function_case;

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static float own_exp(float x) { return stowi_kernel_expf(HAS_FMA, x); }
static float own_expm1(float x) { return stowi_kernel_expm1f(HAS_FMA, x); }
static float own_log(float x) { return stowi_kernel_logf(x); }
static float own_log1p(float x) { return stowi_kernel_log1pf(x); }
static float own_tanh(float x) { return stowi_kernel_tanhf(HAS_FMA, x); }
static float own_erf(float x) { return stowi_kernel_erff(HAS_FMA, x); }
static float own_sigmoid(float x) { return stowi_kernel_sigmoidf(HAS_FMA, x); }
static float own_sin(float x) { return stowi_kernel_sinf(x); }
static float own_cos(float x) { return stowi_kernel_cosf(x); }

static const function_case functions[] = {
    {"exp", own_exp, exp, 1.5},
    {"expm1", own_expm1, expm1, 2.0},
    {"log", own_log, log, 1.5},
    {"log1p", own_log1p, log1p, 2.0},
    {"tanh", own_tanh, tanh, 2.0},
    {"erf", own_erf, erf, 2.0},
    {"sigmoid", own_sigmoid, sigmoid, 2.5},
    {"sin", own_sin, sin, 0.51},
    {"cos", own_cos, cos, 0.51},
};
#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))

// The distance of two neighbours at |x|.
static double unit(double x) {
  int exponent;
  frexp(x, &exponent);
  return ldexp(1.0, exponent < -125 ? -149 : exponent - 24);
}

static double error_of(const function_case* f, float x) {
  double expected = f->exact((double)x);
  double actual = (double)f->own(x);
  if (isnan(expected)) {
    return isnan(actual) ? 0 : INFINITY;
  }
  float nearest = (float)expected;
  if (isinf(nearest)) {
    return actual == (double)nearest || fabs(actual) == 0x1.fffffep127 ? 0 : INFINITY;
  }
  return fabs(actual - expected) / unit(expected);
}

TEST(FunctionsAreWithinTheirUnits) {
  uint32_t step = test_is_long() ? 251 : 6007;
  for (size_t k = 0; k < FUNCTION_COUNT; ++k) {
    double worst = 0;
    float at = 0;
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += step) {
      float x = stowi_kernel_f32_of_bits((uint32_t)bits);
      double error = error_of(&functions[k], x);
      if (!(error <= worst)) {
        worst = error;
        at = x;
      }
    }
    test_check(worst <= functions[k].most, __FILE__, __LINE__, "%s(%a) is %g units off",
               functions[k].name, (double)at, worst);
  }
}

TEST(EdgesAreExact) {
  CHECK(stowi_kernel_expf(HAS_FMA, 0) == 1 && stowi_kernel_expf(HAS_FMA, -INFINITY) == 0 &&
        stowi_kernel_expf(HAS_FMA, INFINITY) == INFINITY);
  CHECK(stowi_kernel_expf(HAS_FMA, -200) == 0 && stowi_kernel_expf(HAS_FMA, 200) == INFINITY &&
        isnan(stowi_kernel_expf(HAS_FMA, NAN)));
  CHECK(stowi_kernel_expm1f(HAS_FMA, -INFINITY) == -1 &&
        stowi_kernel_expm1f(HAS_FMA, INFINITY) == INFINITY);
  CHECK(stowi_kernel_expm1f(HAS_FMA, -0.0F) == 0 && signbit(stowi_kernel_expm1f(HAS_FMA, -0.0F)));
  CHECK(stowi_kernel_logf(1) == 0 && stowi_kernel_logf(0) == -INFINITY &&
        stowi_kernel_logf(-0.0F) == -INFINITY);
  CHECK(stowi_kernel_logf(INFINITY) == INFINITY && isnan(stowi_kernel_logf(-1)) &&
        isnan(stowi_kernel_logf(NAN)));
  CHECK(isnan(stowi_kernel_logf(-INFINITY)));
  CHECK(stowi_kernel_log1pf(-1) == -INFINITY && stowi_kernel_log1pf(0) == 0 &&
        isnan(stowi_kernel_log1pf(-2)));
  CHECK(stowi_kernel_log1pf(INFINITY) == INFINITY && isnan(stowi_kernel_log1pf(NAN)));
  CHECK(stowi_kernel_tanhf(HAS_FMA, INFINITY) == 1 &&
        stowi_kernel_tanhf(HAS_FMA, -INFINITY) == -1 && isnan(stowi_kernel_tanhf(HAS_FMA, NAN)));
  CHECK(stowi_kernel_erff(HAS_FMA, INFINITY) == 1 && stowi_kernel_erff(HAS_FMA, -INFINITY) == -1 &&
        isnan(stowi_kernel_erff(HAS_FMA, NAN)));
  CHECK(signbit(stowi_kernel_tanhf(HAS_FMA, -0.0F)) && signbit(stowi_kernel_erff(HAS_FMA, -0.0F)) &&
        signbit(stowi_kernel_sinf(-0.0F)));
  CHECK(stowi_kernel_sigmoidf(HAS_FMA, 0) == 0.5F && stowi_kernel_sigmoidf(HAS_FMA, INFINITY) == 1);
  CHECK(stowi_kernel_sigmoidf(HAS_FMA, -INFINITY) == 0 &&
        isnan(stowi_kernel_sigmoidf(HAS_FMA, NAN)));
  CHECK(stowi_kernel_cosf(0) == 1 && isnan(stowi_kernel_sinf(INFINITY)) &&
        isnan(stowi_kernel_cosf(NAN)));
}

TEST(ExpDownHasTheBitsOfExp) {
  uint32_t step = test_is_long() ? 251 : 6007;
  for (uint64_t bits = 0x80000000U; bits <= 0xff800000U; bits += step) {
    float x = stowi_kernel_f32_of_bits((uint32_t)bits);
    float own = stowi_kernel_exp_down(HAS_FMA, x);
    test_check(own == stowi_kernel_expf(HAS_FMA, x), __FILE__, __LINE__, "exp(%a) is %a", (double)x,
               (double)own);
  }
  CHECK(stowi_kernel_exp_down(HAS_FMA, 0) == 1 && stowi_kernel_exp_down(HAS_FMA, -INFINITY) == 0);
}

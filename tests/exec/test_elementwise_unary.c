// Ops of one operand against their definitions, in every kind of dtype, and longer than a block.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exec/kernel_case.h"
#include "exec/kernels/support/convert.h"
#include "support/test.h"

#define COUNT 7

static const double inputs[COUNT] = {-2.5, -1, -0.25, 0, 0.5, 1.5, 3};

typedef struct unary_case {
  const char* node;
  double expected[COUNT];
} unary_case;

// Computed in double.
static const unary_case unary_cases[] = {
    {"relu(%0)", {0, 0, 0, 0, 0.5, 1.5, 3}},
    {"neg(%0)", {2.5, 1, 0.25, -0, -0.5, -1.5, -3}},
    {"abs(%0)", {2.5, 1, 0.25, 0, 0.5, 1.5, 3}},
    {"sign(%0)", {-1, -1, -1, 0, 1, 1, 1}},
    {"floor(%0)", {-3, -1, -1, 0, 0, 1, 3}},
    {"ceil(%0)", {-2, -1, 0, 0, 1, 2, 3}},
    {"round(%0)", {-2, -1, 0, 0, 0, 2, 3}},
    {"sqrt(%0)", {NAN, NAN, NAN, 0, 0.707106781187, 1.22474487139, 1.73205080757}},
    {"rsqrt(%0)", {NAN, NAN, NAN, INFINITY, 1.41421356237, 0.816496580928, 0.57735026919}},
    {"reciprocal(%0)", {-0.4, -1, -4, INFINITY, 2, 0.666666666667, 0.333333333333}},
    {"exp(%0)",
     {0.0820849986239, 0.367879441171, 0.778800783071, 1, 1.6487212707, 4.48168907034,
      20.0855369232}},
    {"log(%0)", {NAN, NAN, NAN, -INFINITY, -0.69314718056, 0.405465108108, 1.09861228867}},
    {"sigmoid(%0)",
     {0.0758581800212, 0.26894142137, 0.437823499114, 0.5, 0.622459331202, 0.817574476194,
      0.952574126822}},
    {"tanh(%0)",
     {-0.986614298151, -0.761594155956, -0.244918662404, 0, 0.46211715726, 0.905148253645,
      0.995054753687}},
    {"erf(%0)",
     {-0.999593047983, -0.84270079295, -0.276326390168, 0, 0.520499877813, 0.966105146475,
      0.999977909503}},
    {"softplus(%0)",
     {0.0788897342925, 0.313261687518, 0.575939419879, 0.69314718056, 0.97407698418, 1.70141327798,
      3.04858735157}},
    {"softsign(%0)", {-0.714285714286, -0.5, -0.2, 0, 0.333333333333, 0.6, 0.75}},
    {"mish(%0)",
     {-0.196816203907, -0.303401461374, -0.129926963679, 0, 0.375245211305, 1.4033782664,
      2.98653500497}},
    {"sin(%0)",
     {-0.598472144104, -0.841470984808, -0.247403959255, 0, 0.479425538604, 0.997494986604,
      0.14112000806}},
    {"cos(%0)",
     {-0.801143615547, 0.540302305868, 0.968912421711, 1, 0.87758256189, 0.0707372016677,
      -0.9899924966}},
    {"tan(%0)",
     {0.747022297239, -1.55740772465, -0.255341921221, 0, 0.546302489844, 14.1014199472,
      -0.142546543074}},
    {"sinh(%0)",
     {-6.05020448104, -1.17520119364, -0.252612316808, 0, 0.521095305494, 2.12927945509,
      10.0178749274}},
    {"cosh(%0)",
     {6.13228947966, 1.54308063482, 1.03141309988, 1, 1.12762596521, 2.35240961524, 10.0676619958}},
    {"asin(%0)", {NAN, -1.57079632679, -0.252680255142, 0, 0.523598775598, NAN, NAN}},
    {"acos(%0)", {NAN, 3.14159265359, 1.82347658194, 1.57079632679, 1.0471975512, NAN, NAN}},
    {"atan(%0)",
     {-1.19028994968, -0.785398163397, -0.244978663127, 0, 0.463647609001, 0.982793723247,
      1.2490457724}},
    {"asinh(%0)",
     {-1.64723114637, -0.88137358702, -0.247466461547, 0, 0.48121182506, 1.19476321729,
      1.81844645923}},
    {"acosh(%0)", {NAN, NAN, NAN, NAN, NAN, 0.962423650119, 1.76274717404}},
    {"atanh(%0)", {NAN, -INFINITY, -0.255412811883, 0, 0.549306144334, NAN, NAN}},
    {"gelu(%0)",
     {-0.0155241633144, -0.158655253931, -0.100323418579, 0, 0.345731230637, 1.3997891981,
      2.99595030591}},
    {"gelu(%0) {approximate = \"tanh\"}",
     {-0.01508426609, -0.158808009392, -0.100324649298, 0, 0.345714009825, 1.39957157698,
      2.99636260792}},
    {"silu(%0)",
     {-0.189645450053, -0.26894142137, -0.109455874779, 0, 0.311229665601, 1.22636171429,
      2.85772238047}},
    {"silu(%0) {alpha = 1.5}",
     {-0.0574434247751, -0.182425523806, -0.101833350011, 0, 0.339589349588, 1.35697580265,
      2.96703917211}},
    {"leaky_relu(%0)", {-0.025, -0.01, -0.0025, 0, 0.5, 1.5, 3}},
    {"leaky_relu(%0) {alpha = 0.5}", {-1.25, -0.5, -0.125, 0, 0.5, 1.5, 3}},
    {"elu(%0) {alpha = 2.0}", {-1.83583000275, -1.26424111766, -0.442398433857, 0, 0.5, 1.5, 3}},
    {"selu(%0) {alpha = 1.5, gamma = 1.25}",
     {-1.72109062758, -1.1852260478, -0.414748531741, 0, 0.625, 1.875, 3.75}},
    {"celu(%0) {alpha = 2.0}", {-1.42699040628, -0.786938680575, -0.235006194831, 0, 0.5, 1.5, 3}},
    {"thresholded_relu(%0) {alpha = 0.75}", {0, 0, 0, 0, 0, 1.5, 3}},
    {"hard_swish(%0)",
     {-0.208333333333, -0.333333333333, -0.114583333333, 0, 0.291666666667, 1.125, 3}},
    {"hard_sigmoid(%0)", {0, 0.3, 0.45, 0.5, 0.6, 0.8, 1}},
    {"hard_sigmoid(%0) {alpha = 0.5, beta = 0.25}", {0, 0, 0.125, 0.25, 0.5, 1, 1}},
    {"shrink(%0) {bias = 0.5, lambd = 1.25}", {-2, 0, 0, 0, 0, 1, 2.5}},
    {"affine(%0) {alpha = 2.0, beta = 0.5}", {-4.5, -1.5, 0, 0.5, 1.5, 3.5, 6.5}},
    {"scaled_tanh(%0) {alpha = 2.0, beta = 0.5}",
     {-1.69656727992, -0.92423431452, -0.248706003543, 0, 0.489837324807, 1.27029790477,
      1.81029650729}},
    {"parametric_softplus(%0) {alpha = 2.0, beta = 0.5}",
     {0.503858162691, 0.94815396836, 1.26519807063, 1.38629436112, 1.65187883976, 2.27374201223,
      3.40282655597}},
};
#define CASE_COUNT (sizeof(unary_cases) / sizeof(unary_cases[0]))

static void check_unary(const unary_case* u, const char* dtype, double tolerance) {
  char type[16];
  snprintf(type, sizeof(type), "%s[%d]", dtype, COUNT);
  kernel_case* c = kernel_case_create(type, u->node, type);
  stow_dtype id;
  stow_dtype_from_name(stow_str_of(dtype), &id);
  stowi_kernel_store_f64(id, kernel_case_operand(c, 0), 0, COUNT, inputs);
  kernel_case_gives(c, 0, u->expected, COUNT, tolerance, __FILE__, __LINE__);
  kernel_case_destroy(c);
}

TEST(FunctionsMatchTheirDefinitions) {
  for (size_t i = 0; i < CASE_COUNT; ++i) {
    check_unary(&unary_cases[i], "f32", 1e-6);
    check_unary(&unary_cases[i], "f64", 1e-9);
    check_unary(&unary_cases[i], "f16", 1e-3);
    check_unary(&unary_cases[i], "bf16", 1e-2);
  }
}

// Numbers of many blocks, in ranges that different workers have: each must be what it is alone.
TEST(LongTensorsAreComputedElementByElement) {
  enum { LONG = 1500 };
  for (size_t i = 0; i < CASE_COUNT; ++i) {
    kernel_case* c = kernel_case_create("f32[1500]", unary_cases[i].node, "f32[1500]");
    double expected[LONG];
    for (size_t j = 0; j < LONG; ++j) {
      ((float*)kernel_case_operand(c, 0))[j] = (float)inputs[j % COUNT];
      expected[j] = unary_cases[i].expected[j % COUNT];
    }
    kernel_case_gives(c, 0, expected, LONG, 1e-6, __FILE__, __LINE__);
    kernel_case_destroy(c);
  }
}

TEST(EmptyTensorsAreFine) {
  kernel_case* c = kernel_case_create("f32[0, 3]", "exp(%0)", "f32[0, 3]");
  CHECK(kernel_case_run(c) == STOW_OK);
  kernel_case_destroy(c);
}

TEST(IntegersAreExact) {
  kernel_case* c = kernel_case_create("i64[3]", "abs(%0)", "i64[3]");
  KERNEL_SET(c, 0, int64_t, -(INT64_C(1) << 53) - 1, 5, INT64_MIN);
  CHECK(kernel_case_run(c) == STOW_OK);
  const int64_t* numbers = kernel_case_result(c, 0)->data;
  CHECK(numbers[0] == (INT64_C(1) << 53) + 1 && numbers[1] == 5 && numbers[2] == INT64_MIN);
  kernel_case_destroy(c);
  c = kernel_case_create("u64[2]", "sign(%0)", "u64[2]");
  KERNEL_SET(c, 0, uint64_t, UINT64_MAX, 0);
  KERNEL_GIVES(c, 0, 0, 1, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("i8[3]", "neg(%0)", "i8[3]");
  KERNEL_SET(c, 0, int8_t, -128, 127, 3);
  KERNEL_GIVES(c, 0, 0, -128, -127, -3);
  kernel_case_destroy(c);
  c = kernel_case_create("i32[3]", "relu(%0)", "i32[3]");
  KERNEL_SET(c, 0, int32_t, -7, 0, 7);
  KERNEL_GIVES(c, 0, 0, 0, 0, 7);
  kernel_case_destroy(c);
  c = kernel_case_create("i4[3]", "neg(%0)", "i4[3]");
  KERNEL_SET(c, 0, uint8_t, 0x8f, 0x07);  // -1, -8, 7
  KERNEL_GIVES(c, 0, 0, 1, -8, -7);
  kernel_case_destroy(c);
  c = kernel_case_create("i32[4]", "shrink(%0) {bias = 1.5, lambd = 1.0}", "i32[4]");
  KERNEL_SET(c, 0, int32_t, -3, -1, 1, 4);
  KERNEL_GIVES(c, 0, 0, -1, 0, 0, 2);
  kernel_case_destroy(c);
}

TEST(HalvesRoundToEven) {
  kernel_case* c = kernel_case_create("f32[8]", "round(%0)", "f32[8]");
  KERNEL_SET(c, 0, float, 0.5F, 1.5F, 2.5F, -0.5F, -1.5F, 8388609.0F, -INFINITY, NAN);
  KERNEL_GIVES(c, 0, 0, 0, 2, 2, 0, -2, 8388609, -INFINITY, NAN);
  CHECK(signbit(((const float*)kernel_case_result(c, 0)->data)[3]));
  kernel_case_destroy(c);
}

// The attributes' defaults are those of ONNX, which are f32.
TEST(SeluHasItsDefaults) {
  kernel_case* c = kernel_case_create("f32[2]", "selu(%0)", "f32[2]");
  KERNEL_SET(c, 0, float, -1, 2);
  KERNEL_GIVES(c, 0, 1e-6, -1.11133074, 2.10140197);
  kernel_case_destroy(c);
}

TEST(NaNGoesThrough) {
  static const char* const nodes[] = {"relu(%0)",       "abs(%0)",  "sign(%0)",
                                      "sigmoid(%0)",    "gelu(%0)", "hard_swish(%0)",
                                      "leaky_relu(%0)", "elu(%0)",  "mish(%0)"};
  for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); ++i) {
    kernel_case* c = kernel_case_create("f32[1]", nodes[i], "f32[1]");
    KERNEL_SET(c, 0, float, NAN);
    KERNEL_GIVES(c, 0, 0, NAN);
    kernel_case_destroy(c);
  }
}

TEST(LargeNumbersDoNotBecomeNaN) {
  kernel_case* c = kernel_case_create("f32[3]", "mish(%0)", "f32[3]");
  KERNEL_SET(c, 0, float, 1e30F, 90, -1e30F);
  KERNEL_GIVES(c, 0, 1e-6, (double)1e30F, 90, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[3]", "softplus(%0)", "f32[3]");
  KERNEL_SET(c, 0, float, 1e30F, 90, -90);
  KERNEL_GIVES(c, 0, 1e-6, (double)1e30F, 90, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[3]", "sin(%0)", "f32[3]");
  KERNEL_SET(c, 0, float, 1e10F, 0.5F, -3e6F);
  KERNEL_GIVES(c, 0, 1e-6, sin((double)1e10F), sin(0.5), sin(-3e6));
  kernel_case_destroy(c);
}

TEST(PredicatesGiveBools) {
  kernel_case* c = kernel_case_create("f16[4]", "is_nan(%0)", "bool[4]");
  KERNEL_SET(c, 0, uint16_t, 0x7e00, 0x7c00, 0, 0x3c00);
  KERNEL_GIVES(c, 0, 0, 1, 0, 0, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[4]", "is_inf(%0)", "bool[4]");
  KERNEL_SET(c, 0, float, INFINITY, -INFINITY, NAN, 1);
  KERNEL_GIVES(c, 0, 0, 1, 1, 0, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[2]", "is_inf(%0) {detect_positive = false}", "bool[2]");
  KERNEL_SET(c, 0, float, INFINITY, -INFINITY);
  KERNEL_GIVES(c, 0, 0, 0, 1);
  kernel_case_destroy(c);
  c = kernel_case_create("f64[2]", "is_inf(%0) {detect_negative = false}", "bool[2]");
  KERNEL_SET(c, 0, double, INFINITY, -INFINITY);
  KERNEL_GIVES(c, 0, 0, 1, 0);
  kernel_case_destroy(c);
  c = kernel_case_create("bool[3]", "not(%0)", "bool[3]");
  KERNEL_SET(c, 0, uint8_t, 0, 1, 0);
  KERNEL_GIVES(c, 0, 0, 1, 0, 1);
  kernel_case_destroy(c);
  c = kernel_case_create("u16[2]", "bit_not(%0)", "u16[2]");
  KERNEL_SET(c, 0, uint16_t, 0, 0xfff0);
  KERNEL_GIVES(c, 0, 0, 65535, 15);
  kernel_case_destroy(c);
}

TEST(OtherDtypesAreRefusedByName) {
  kernel_case* c = kernel_case_create("i32[2]", "exp(%0)", "i32[2]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  CHECK_HAS(kernel_case_message(c), "i32");
  kernel_case_destroy(c);
}

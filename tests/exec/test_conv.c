// Convolutions of floats: against the definition for every way in which they are done, and with
// numbers worked out by hand.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/kernel_case.h"
#include "exec/kernels/support/fma.h"
#include "exec/kernels/table.h"
#include "exec/plain_conv.h"
#include "support/test.h"

typedef struct conv_case {
  const char* operands;
  const char* node;
  const char* result;
  double tolerance;
} conv_case;

static double bias_at(const double* bias, const plain_conv* p, size_t i) {
  size_t positions = plain_conv_outputs(p) / (size_t)(p->batch * p->out_channels);
  return bias == NULL ? 0 : bias[i / positions % (size_t)p->out_channels];
}

static void compare(const conv_case* t, bool is_transposed) {
  kernel_case* c = kernel_case_create(t->operands, t->node, t->result);
  kernel_case_fill(c, 7);
  plain_conv p = plain_conv_of(c, 0, 1);
  double* x = plain_numbers(c, 0);
  double* w = plain_numbers(c, 1);
  bool has_bias = stow_graph_operand_count(kernel_case_graph(c), kernel_case_node(c)) > 2;
  double* bias = has_bias ? plain_numbers(c, 2) : NULL;
  double* expected = malloc(plain_conv_outputs(&p) * sizeof(double) + 1);
  REQUIRE(x != NULL && w != NULL && expected != NULL);
  for (size_t i = 0; i < plain_conv_outputs(&p); ++i) {
    double sum = is_transposed ? plain_conv_transpose_at(&p, x, w, i) : plain_conv_at(&p, x, w, i);
    expected[i] = sum + bias_at(bias, &p, i);
  }
  kernel_case_gives(c, 0, expected, plain_conv_outputs(&p), t->tolerance, t->node, 0);
  free(expected);
  free(bias);
  free(w);
  free(x);
  kernel_case_destroy(c);
}

TEST(ConvMatchesItsDefinition) {
  static const conv_case cases[] = {
      // One spatial dim, three, and four.
      {"f32[2, 3, 11]; f32[4, 3, 3]; f32[4]", "conv(%0, %1, %2) {pads = [1, 1]}", "f32[2, 4, 11]",
       1e-5},
      {"f32[1, 4, 5, 6, 7]; f32[6, 2, 2, 3, 2]; f32[6]",
       "conv(%0, %1, %2) {group = 2, pads = [1, 0, 1, 0, 2, 0], strides = [2, 1, 2]}",
       "f32[1, 6, 3, 6, 4]", 1e-5},
      {"f32[1, 2, 3, 4, 3, 4]; f32[2, 2, 2, 2, 2, 2]", "conv(%0, %1)", "f32[1, 2, 2, 3, 2, 3]",
       1e-5},
      // Kernels of ones, with and without what makes them a plain product.
      {"f32[2, 5, 7, 9]; f32[20, 5, 1, 1]; f32[20]", "conv(%0, %1, %2)", "f32[2, 20, 7, 9]", 1e-5},
      {"f32[1, 5, 7, 9]; f32[8, 5, 1, 1]", "conv(%0, %1) {strides = [2, 3]}", "f32[1, 8, 4, 3]",
       1e-5},
      {"f32[1, 5, 7, 9]; f32[8, 5, 1, 1]", "conv(%0, %1) {pads = [1, 0, 0, 2]}", "f32[1, 8, 8, 11]",
       1e-5},
      {"f32[1, 6, 5, 5]; f32[9, 2, 1, 1]", "conv(%0, %1) {group = 3}", "f32[1, 9, 5, 5]", 1e-5},
      // Blocks: more positions than one holds, and a depth that leaves few.
      {"f32[1, 3, 50, 61]; f32[5, 3, 3, 3]; f32[5]", "conv(%0, %1, %2) {pads = [1, 1, 1, 1]}",
       "f32[1, 5, 50, 61]", 1e-5},
      {"f32[1, 300, 9, 8]; f32[40, 300, 3, 3]; f32[40]", "conv(%0, %1, %2) {pads = [1, 1, 1, 1]}",
       "f32[1, 40, 9, 8]", 2e-3},
      // Padding on one side only, and more of it than the kernel is wide.
      {"f32[1, 2, 6, 6]; f32[3, 2, 3, 3]",
       "conv(%0, %1) {pads = [0, 2, 3, 1], strides = [2, 2], dilations = [2, 1]}",
       "f32[1, 3, 3, 4]", 1e-5},
      {"f32[1, 2, 3, 3]; f32[3, 2, 2, 2]", "conv(%0, %1) {pads = [5, 5, 5, 5]}",
       "f32[1, 3, 12, 12]", 1e-5},
      // One channel each: odd widths, three and other taps, strides, dilations, several results.
      {"f32[2, 7, 9, 10]; f32[7, 1, 3, 3]; f32[7]",
       "conv(%0, %1, %2) {group = 7, pads = [1, 1, 1, 1]}", "f32[2, 7, 9, 10]", 1e-5},
      {"f32[1, 4, 9, 10]; f32[8, 1, 5, 5]",
       "conv(%0, %1) {group = 4, pads = [2, 2, 2, 2], strides = [2, 2]}", "f32[1, 8, 5, 5]", 1e-5},
      {"f32[1, 4, 9, 10]; f32[4, 1, 3, 3]",
       "conv(%0, %1) {group = 4, pads = [2, 2, 2, 2], dilations = [2, 2], strides = [1, 3]}",
       "f32[1, 4, 9, 4]", 1e-5},
      {"f32[1, 3, 2, 2]; f32[3, 1, 3, 3]", "conv(%0, %1) {group = 3, pads = [1, 1, 1, 1]}",
       "f32[1, 3, 2, 2]", 1e-5},
      {"f32[1, 3, 4, 5, 6]; f32[3, 1, 3, 3, 3]",
       "conv(%0, %1) {group = 3, pads = [1, 1, 1, 1, 1, 1]}", "f32[1, 3, 4, 5, 6]", 1e-5},
      // Other floats.
      {"f16[1, 4, 7, 6]; f16[6, 2, 3, 3]; f16[6]",
       "conv(%0, %1, %2) {group = 2, pads = [1, 1, 1, 1], strides = [1, 2]}", "f16[1, 6, 7, 3]",
       1e-2},
      {"bf16[1, 4, 7, 6]; bf16[6, 4, 1, 1]; bf16[6]", "conv(%0, %1, %2)", "bf16[1, 6, 7, 6]", 5e-2},
      {"f64[1, 4, 7, 6]; f64[6, 2, 3, 3]; f64[6]",
       "conv(%0, %1, %2) {group = 2, pads = [1, 1, 1, 1], strides = [2, 1]}", "f64[1, 6, 4, 6]",
       1e-13},
      // Nothing to do.
      {"f32[0, 3, 5, 5]; f32[2, 3, 3, 3]", "conv(%0, %1)", "f32[0, 2, 3, 3]", 0},
      {"f32[1, 3, 5, 5]; f32[0, 3, 3, 3]", "conv(%0, %1)", "f32[1, 0, 3, 3]", 0},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    compare(&cases[i], false);
  }
}

// ---------------------------------------------------------------------------------------------
// Depthwise: each element is one chain over the taps that begins as the bias, padding being 0,
// whether channels are done in patches or, with an addend of zeros, in rows.

typedef struct window_case {
  size_t channels, in[2], kernel[2], stride[2], dilation[2], begin[2], end[2], out[2];
} window_case;

// Half of the images are so small that a vector has several rows. False where the kernel is larger
// than what it slides over.
static bool draw_window(test_random* random, window_case* t) {
  bool is_small = test_random_below(random, 2) == 0;
  t->channels = 1 + test_random_below(random, is_small ? 20 : 3);
  for (size_t i = 0; i < 2; ++i) {
    t->in[i] = 1 + test_random_below(random, is_small ? 12 : i == 0 ? 20 : 40);
    t->kernel[i] = 1 + test_random_below(random, 6);
    t->stride[i] = is_small ? 1 : 1 + test_random_below(random, 3);
    t->dilation[i] = 1 + test_random_below(random, 3);
    t->begin[i] = test_random_below(random, 5);
    t->end[i] = test_random_below(random, 5);
    size_t reach = (t->kernel[i] - 1) * t->dilation[i] + 1;
    size_t size = t->in[i] + t->begin[i] + t->end[i];
    if (size < reach) {
      return false;
    }
    t->out[i] = (size - reach) / t->stride[i] + 1;
  }
  return true;
}

static float chain_at(const window_case* t, const float* x, const float* w, float bias,
                      const size_t* at) {
  for (size_t tap = 0; tap < t->kernel[0] * t->kernel[1]; ++tap) {
    size_t k[2] = {tap / t->kernel[1], tap % t->kernel[1]};
    size_t from[2];
    bool is_inside = true;
    for (size_t i = 0; i < 2; ++i) {
      from[i] = at[i] * t->stride[i] + k[i] * t->dilation[i];
      is_inside = is_inside && from[i] >= t->begin[i] && from[i] < t->begin[i] + t->in[i];
    }
    float element = is_inside ? x[(from[0] - t->begin[0]) * t->in[1] + from[1] - t->begin[1]] : 0;
    bias = stowi_kernel_fma_by_doubles(w[tap], element, bias);
  }
  return bias;
}

static void check_window(const window_case* t, bool has_addend, uint64_t seed) {
  char operands[160];
  char node[160];
  char result[80];
  snprintf(result, sizeof(result), "f32[1, %zu, %zu, %zu]", t->channels, t->out[0], t->out[1]);
  snprintf(operands, sizeof(operands), "f32[1, %zu, %zu, %zu]; f32[%zu, 1, %zu, %zu]; f32[%zu]%s%s",
           t->channels, t->in[0], t->in[1], t->channels, t->kernel[0], t->kernel[1], t->channels,
           has_addend ? "; " : "", has_addend ? result : "");
  snprintf(node, sizeof(node),
           "%s {group = %zu, strides = [%zu, %zu], dilations = [%zu, %zu], "
           "pads = [%zu, %zu, %zu, %zu]}",
           has_addend ? "fused_conv(%0, %1, %2, %3)" : "conv(%0, %1, %2)", t->channels,
           t->stride[0], t->stride[1], t->dilation[0], t->dilation[1], t->begin[0], t->begin[1],
           t->end[0], t->end[1]);
  kernel_case* c = kernel_case_create(operands, node, result);
  kernel_case_fill(c, seed);
  size_t count = t->channels * t->out[0] * t->out[1];
  if (has_addend) {
    memset(kernel_case_operand(c, 3), 0, count * sizeof(float));
  }
  CHECK(kernel_case_run(c) == STOW_OK);
  const float* x = kernel_case_operand(c, 0);
  const float* w = kernel_case_operand(c, 1);
  const float* bias = kernel_case_operand(c, 2);
  const float* y = kernel_case_result(c, 0)->data;
  for (size_t i = 0; i < count; ++i) {
    size_t channel = i / t->out[0] / t->out[1];
    size_t at[2] = {i / t->out[1] % t->out[0], i % t->out[1]};
    float expected = chain_at(t, x + channel * t->in[0] * t->in[1],
                              w + channel * t->kernel[0] * t->kernel[1], bias[channel], at);
    test_check(memcmp(&y[i], &expected, sizeof(float)) == 0, __FILE__, __LINE__,
               "%s, element %zu: %a, not %a", node, i, (double)y[i], (double)expected);
  }
  kernel_case_destroy(c);
}

TEST(DepthwiseConvsAreChainsOverTheTaps) {
  test_random random = {5};
  for (uint64_t i = 0; i < (test_is_long() ? 5000U : 300U); ++i) {
    window_case t;
    if (draw_window(&random, &t)) {
      check_window(&t, i % 2 != 0, i);
    }
  }
}

TEST(ConvTransposeMatchesItsDefinition) {
  static const conv_case cases[] = {
      {"f32[2, 3, 5]; f32[3, 4, 3]; f32[4]", "conv_transpose(%0, %1, %2) {strides = [2]}",
       "f32[2, 4, 11]", 1e-5},
      {"f32[1, 4, 3, 5]; f32[4, 3, 3, 2]; f32[6]",
       "conv_transpose(%0, %1, %2) {group = 2, strides = [2, 3], pads = [1, 0, 0, 1], "
       "output_padding = [1, 2]}",
       "f32[1, 6, 7, 15]", 1e-5},
      {"f32[1, 2, 4, 4]; f32[2, 11, 2, 2]; f32[11]",
       "conv_transpose(%0, %1, %2) {strides = [2, 2]}", "f32[1, 11, 8, 8]", 1e-5},
      {"f32[1, 2, 4, 4]; f32[2, 3, 3, 3]",
       "conv_transpose(%0, %1) {dilations = [2, 3], pads = [2, 1, 1, 2]}", "f32[1, 3, 5, 7]", 1e-5},
      {"f32[1, 2, 2, 3, 2]; f32[2, 2, 2, 2, 2]", "conv_transpose(%0, %1) {strides = [1, 2, 3]}",
       "f32[1, 2, 3, 6, 5]", 1e-5},
      {"f32[1, 3, 40, 41]; f32[3, 9, 2, 2]", "conv_transpose(%0, %1) {strides = [2, 2]}",
       "f32[1, 9, 80, 82]", 1e-5},
      {"f16[1, 2, 3, 3]; f16[2, 2, 2, 2]; f16[2]", "conv_transpose(%0, %1, %2) {strides = [2, 2]}",
       "f16[1, 2, 6, 6]", 1e-2},
      {"f64[1, 2, 3, 3]; f64[2, 1, 3, 3]; f64[2]", "conv_transpose(%0, %1, %2) {group = 2}",
       "f64[1, 2, 5, 5]", 1e-13},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    compare(&cases[i], true);
  }
}

TEST(ConvPadsToKeepTheSize) {
  kernel_case* c = kernel_case_create("f32[1, 1, 4]; f32[1, 1, 2]",
                                      "conv(%0, %1) {auto_pad = \"same_upper\"}", "f32[1, 1, 4]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 4);
  KERNEL_SET(c, 1, float, 1, 10);
  KERNEL_GIVES(c, 0, 1e-6, 21, 32, 43, 4);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 1, 4]; f32[1, 1, 2]", "conv(%0, %1) {auto_pad = \"same_lower\"}",
                         "f32[1, 1, 4]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 4);
  KERNEL_SET(c, 1, float, 1, 10);
  KERNEL_GIVES(c, 0, 1e-6, 10, 21, 32, 43);
  kernel_case_destroy(c);
}

TEST(ConvTransposeCropsToTheRequestedSize) {
  // In full 1 12 23 34 40; the size asked for leaves off one element, at the begin first.
  static const struct {
    const char* node;
    const char* result;
    double first;
  } cases[] = {
      {"conv_transpose(%0, %1) {output_shape = [4]}", "f32[1, 1, 4]", 12},
      {"conv_transpose(%0, %1) {auto_pad = \"same_lower\"}", "f32[1, 1, 4]", 12},
      {"conv_transpose(%0, %1) {auto_pad = \"same_upper\"}", "f32[1, 1, 4]", 1},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    kernel_case* c =
        kernel_case_create("f32[1, 1, 4]; f32[1, 1, 2]", cases[i].node, cases[i].result);
    KERNEL_SET(c, 0, float, 1, 2, 3, 4);
    KERNEL_SET(c, 1, float, 1, 10);
    if (cases[i].first == 1) {
      KERNEL_GIVES(c, 0, 1e-6, 1, 12, 23, 34);
    } else {
      KERNEL_GIVES(c, 0, 1e-6, 12, 23, 34, 40);
    }
    kernel_case_destroy(c);
  }
}

// x [1, 2] with weights 1 and bias -3: sums -2, -1, 0, 1 with the addend.
static void check_activation(const char* attrs, double a, double b, double c0, double d) {
  char node[160];
  snprintf(node, sizeof(node), "fused_conv(%%0, %%1, %%2, %%3) {%s}", attrs);
  kernel_case* c =
      kernel_case_create("f32[1, 1, 4]; f32[1, 1, 1]; f32[1]; f32[1, 1, 4]", node, "f32[1, 1, 4]");
  KERNEL_SET(c, 0, float, 1, 1, 2, 2);
  KERNEL_SET(c, 1, float, 1);
  KERNEL_SET(c, 2, float, -3);
  KERNEL_SET(c, 3, float, 0, 1, 1, 2);
  KERNEL_GIVES(c, 0, 1e-6, a, b, c0, d);
  kernel_case_destroy(c);
}

TEST(FusedConvAddsAndActivates) {
  check_activation("activation = \"\"", -2, -1, 0, 1);
  check_activation("activation = \"Relu\"", 0, 0, 0, 1);
  check_activation("activation = \"Tanh\"", -0.96402758, -0.76159416, 0, 0.76159416);
  check_activation("activation = \"Sigmoid\"", 0.11920292, 0.26894142, 0.5, 0.73105858);
  check_activation("activation = \"LeakyRelu\", activation_params = [0.25]", -0.5, -0.25, 0, 1);
  check_activation("activation = \"LeakyRelu\"", -0.02, -0.01, 0, 1);
  check_activation("activation = \"Clip\", activation_params = [-1.5, 0.5]", -1.5, -1, 0, 0.5);
  check_activation("activation = \"HardSigmoid\", activation_params = [0.5, 0.75]", 0, 0.25, 0.75,
                   1);
}

TEST(DepthwiseFusedConvWorksInPlaceOfItsAddend) {
  kernel_case* c =
      kernel_case_create("f16[1, 3, 5, 5]; f16[4, 3, 3, 3]; f16[4]; f16[1, 4, 3, 3]",
                         "fused_conv(%0, %1, %2, %3) {activation = \"Relu\"}", "f16[1, 4, 3, 3]");
  kernel_case_fill(c, 3);
  CHECK(kernel_case_run(c) == STOW_OK);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 3, 5, 6]; f32[3, 1, 3, 3]; f32[3]; f32[1, 3, 5, 6]",
                         "fused_conv(%0, %1, %2, %3) {group = 3, pads = [1, 1, 1, 1]}",
                         "f32[1, 3, 5, 6]");
  kernel_case_fill(c, 4);
  CHECK(kernel_case_run(c) == STOW_OK);
  kernel_case_destroy(c);
}

static void check_refused(const char* operands, const char* node, const char* result,
                          const char* message) {
  kernel_case* c = kernel_case_create(operands, node, result);
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  CHECK_TEXT(kernel_case_message(c), message);
  kernel_case_destroy(c);
}

TEST(ConvRefusesUnsupportedDtypes) {
  check_refused("i32[1, 1, 4]; i32[1, 1, 2]", "conv(%0, %1)", "i32[1, 1, 3]",
                "x must be f32, f16, bf16 or f64");
  check_refused("i32[1, 1, 4]; i32[1, 1, 2]", "conv_transpose(%0, %1)", "i32[1, 1, 5]",
                "x must be f32, f16, bf16 or f64");
  check_refused("f32[1, 1, 4]; f32[1, 1, 1]", "fused_conv(%0, %1) {activation = \"Elu\"}",
                "f32[1, 1, 4]",
                "activation must be Relu, Tanh, Sigmoid, LeakyRelu, Clip, HardSigmoid or empty");
  check_refused("f32[1, 1, 4]; f32[1, 1, 1]; f32[1, 1, 1]", "fused_conv(%0, %1, _, %2)",
                "f32[1, 1, 4]", "operand 3 (the addend) must have the result's dims");
}

TEST(DeformConvWithoutOffsetsIsConv) {
  kernel_case* c = kernel_case_create(
      "f32[1, 1, 3, 3]; f32[1, 1, 2, 2]; f32[1, 8, 2, 2]; f32[1]; f32[1, 4, 2, 2]",
      "deform_conv(%0, %1, %2, %3, %4)", "f32[1, 1, 2, 2]");
  KERNEL_SET(c, 0, float, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  KERNEL_SET(c, 1, float, 1, 10, 100, 1000);
  KERNEL_SET(c, 3, float, 0.5F);
  float* mask = kernel_case_operand(c, 4);
  for (size_t i = 0; i < 16; ++i) {
    mask[i] = 1;
  }
  KERNEL_GIVES(c, 0, 1e-6, 5421.5, 6532.5, 8754.5, 9865.5);
  // The first tap moves by half a row and a quarter of a column at the first position: 1 + 1.5 +
  // 0.25 instead of 1; the last one is halved.
  float* offsets = kernel_case_operand(c, 2);
  offsets[0] = 0.5F;
  offsets[4] = 0.25F;
  mask[12] = 0.5F;
  KERNEL_GIVES(c, 0, 1e-6, 2923.25, 6532.5, 8754.5, 9865.5);
  // Far outside there is nothing.
  offsets[0] = 1e30F;
  KERNEL_GIVES(c, 0, 1e-6, 2920.5, 6532.5, 8754.5, 9865.5);
  kernel_case_destroy(c);
}

TEST(StridesMayBeLongerThanEverything) {
  kernel_case* c =
      kernel_case_create("f32[1, 1, 3]; f32[1, 1, 1]",
                         "conv(%0, %1) {strides = [9223372036854775807]}", "f32[1, 1, 1]");
  KERNEL_SET(c, 0, float, 1, 2, 3);
  KERNEL_SET(c, 1, float, 2);
  KERNEL_GIVES(c, 0, 0, 2);
  kernel_case_destroy(c);
}

// ---------------------------------------------------------------------------------------------
// Scratch

// Images, channels of x and of the result, rows, columns, and taps along each.
enum { IMAGES, IN, OUT, ROWS, COLUMNS, TAPS, DIMS };

static stow_tensor tensor_of(stow_dtype dtype, size_t a, size_t b, size_t c, size_t d) {
  return (stow_tensor){
      .dtype = dtype, .rank = 4, .dims = {(int64_t)a, (int64_t)b, (int64_t)c, (int64_t)d}};
}

static uint64_t scratch_for(const stow_kernel* kernel, bool is_float, const size_t* dims,
                            uint32_t variant) {
  stow_tensor x =
      tensor_of(is_float ? STOW_F32 : STOW_U8, dims[IMAGES], dims[IN], dims[ROWS], dims[COLUMNS]);
  stow_tensor w =
      tensor_of(is_float ? STOW_F32 : STOW_I8, dims[OUT], dims[IN], dims[TAPS], dims[TAPS]);
  stow_tensor y = tensor_of(is_float ? STOW_F32 : STOW_I32, dims[IMAGES], dims[OUT],
                            dims[ROWS] - dims[TAPS] + 1, dims[COLUMNS] - dims[TAPS] + 1);
  const stow_tensor* operands[] = {&x, &w};
  stow_tensor* results[] = {&y};
  stow_kernel_call call = {.struct_size = sizeof(call),
                           .op = is_float ? STOW_OP_CONV : STOW_OP_CONV_INTEGER,
                           .operand_count = 2,
                           .operands = operands,
                           .result_count = 1,
                           .results = results,
                           .workers = 2,
                           .variant = variant};
  uint64_t size = 0;
  CHECK(kernel->scratch(&call, &size) == STOW_OK);
  return size;
}

static void check_growth(stow_op op, test_random* random) {
  static const size_t most[DIMS] = {3, 70, 70, 60, 90, 5};
  const stow_kernel* kernel = stowi_kernel_of(op);
  bool is_float = op == STOW_OP_CONV;
  size_t dims[DIMS];
  for (size_t i = 0; i < DIMS; ++i) {
    dims[i] = 1 + test_random_below(random, most[i]) + (i == ROWS || i == COLUMNS ? 5 : 0);
  }
  size_t which = test_random_below(random, TAPS);
  for (uint32_t v = 0; v < kernel->variant_count; ++v) {
    uint64_t before = scratch_for(kernel, is_float, dims, v);
    uint64_t smaller = v == 0 ? before : scratch_for(kernel, is_float, dims, v - 1);
    dims[which] += 1 + v;
    uint64_t after = scratch_for(kernel, is_float, dims, v);
    dims[which] -= 1 + v;
    test_check(before <= smaller && before <= after, __FILE__, __LINE__,
               "%zu x %zu x %zu x %zu x %zu, %zu taps, variant %u: %llu, then %llu for dim %zu",
               dims[0], dims[1], dims[2], dims[3], dims[4], dims[5], v, (unsigned long long)before,
               (unsigned long long)after, which);
  }
}

TEST(ScratchGrowsWithDimsAndNotWithVariants) {
  test_random random = {11};
  for (size_t round = 0; round < (test_is_long() ? 20000U : 1000U); ++round) {
    check_growth(round % 2 == 0 ? STOW_OP_CONV : STOW_OP_CONV_INTEGER, &random);
  }
}

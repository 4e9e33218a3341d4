// Every op that may write a result over an operand gives the same bits there as elsewhere, and the
// same bits however work is divided: over the cases that tell where that is allowed, one at least
// for every op, and over larger ones, in which kernels work in blocks and vectors and come to a
// rest.
#include <inttypes.h>
#include <stdio.h>
#include <stowage/op.h>
#include <string.h>

#include "exec/kernel_case.h"
#include "exec/kernels/table.h"
#include "graph/in_place_cases.h"
#include "support/test.h"

#define MOST_PLACES 16  // operands, and results, that are told apart

// By op, result and operand: how often a kernel gave results there.
static uint32_t small[STOW_OP_CORE_COUNT][MOST_PLACES][MOST_PLACES];
static uint32_t large[STOW_OP_CORE_COUNT][MOST_PLACES][MOST_PLACES];

static stow_op op_of(const kernel_case* c) {
  return stow_graph_op(kernel_case_graph(c), kernel_case_node(c));
}

static void count_places(const kernel_case* c, uint32_t counts[][MOST_PLACES][MOST_PLACES]) {
  for (size_t i = 0; i < kernel_case_place_count(c); ++i) {
    kernel_case_place place = kernel_case_place_at(c, i);
    if (place.result < MOST_PLACES && place.operand < MOST_PLACES) {
      counts[op_of(c)][place.result][place.operand] += 1;
    }
  }
}

// Numbers where those that suit a dtype do not suit the op.
static void mend(kernel_case* c) {
  if (op_of(c) == STOW_OP_STFT) {
    memcpy(kernel_case_operand(c, 1), &(int64_t){128}, sizeof(int64_t));  // its result is one frame
  }
}

static void run_small(void) {
  for (size_t i = 0; i < OVER_CASE_COUNT; ++i) {
    const in_place_case* o = &in_place_cases[i];
    kernel_case* c = kernel_case_create(o->operands, o->node, o->results);
    if (c == NULL) {
      continue;
    }
    if (stowi_kernel_of(op_of(c)) != NULL) {
      kernel_case_fill(c, i);
      mend(c);
      stow_status status = kernel_case_run(c);
      // Some ops have operands whose meaning is the caller's.
      bool is_refused = strstr(kernel_case_message(c), "stow_kernels_set") != NULL;
      // Where nothing may be in place of anything, operands need not make sense together.
      bool is_free = o->expected == STOW_IN_PLACE_NEVER;
      test_check(status == STOW_OK || is_refused || is_free, __FILE__, __LINE__, "%s of %s: %s",
                 o->node, o->operands, kernel_case_message(c));
      if (status == STOW_OK) {
        count_places(c, small);
      }
    }
    kernel_case_destroy(c);
  }
}

TEST(EveryWayGivesTheSameBits) { run_small(); }

// ---------------------------------------------------------------------------------------------
// Larger cases: results that are in place of operands have more than a block of elements, and no
// whole number of vectors.

#define BLOCK 256
#define VECTOR 16

typedef struct large_case {
  const char* operands;
  const char* node;
  const char* results;
  bool any_float;  // "f32" may become any float everywhere
} large_case;

static const char* const unary_ops[] = {"relu",
                                        "gelu",
                                        "silu",
                                        "sigmoid",
                                        "tanh",
                                        "exp",
                                        "log",
                                        "sqrt",
                                        "rsqrt",
                                        "neg",
                                        "abs",
                                        "erf",
                                        "sin",
                                        "cos",
                                        "tan",
                                        "sinh",
                                        "cosh",
                                        "asin",
                                        "acos",
                                        "atan",
                                        "asinh",
                                        "acosh",
                                        "atanh",
                                        "floor",
                                        "ceil",
                                        "round",
                                        "sign",
                                        "reciprocal",
                                        "softplus",
                                        "softsign",
                                        "leaky_relu",
                                        "elu",
                                        "selu",
                                        "celu",
                                        "thresholded_relu",
                                        "mish",
                                        "hard_swish",
                                        "hard_sigmoid",
                                        "shrink",
                                        "affine",
                                        "scaled_tanh",
                                        "parametric_softplus",
                                        "scale_image",
                                        "binarize",
                                        "impute",
                                        "trilu",
                                        "full_like",
                                        "eye_like",
                                        "random_normal",
                                        "random_uniform",
                                        "bernoulli",
                                        "softmax",
                                        "log_softmax",
                                        "hardmax",
                                        "layer_norm",
                                        "rms_norm",
                                        "lp_norm"};

static const char* const binary_ops[] = {"add", "sub", "mul", "div",  "pow",    "mod",
                                         "max", "min", "sum", "mean", "swiglu", "prelu"};
static const char* const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
static const char* const logic_ops[] = {"and", "or", "xor"};

static const large_case large_cases[] = {
    // Rows in blocks.
    {"f32[3, 40001]; f32[3, 1]", "blocks(%0, %1) {function = \"swish\", groups = 3, rows = 40001}",
     "f32[3, 40001]", false},
    {"f32[6, 333, 4]; f32[6, 4, 6]; f32[6, 6, 4]; f32[2, 333, 6]",
     "blocks(%0, %1, %2, %3) {function = \"attend\", groups = 6, rows = 333, divide = [1, 1, 1, "
     "3]}",
     "f32[6, 333, 4]", false},
    {"f32[7001, 5]", "blocks(%0) {function = \"both\", rows = 7001}", "f32[7001, 5]; f32[7001, 5]",
     false},
    // Element by element.
    {"bool[3, 107]", "not(%0)", "bool[3, 107]", false},
    {"u8[3, 107]", "bit_not(%0)", "u8[3, 107]", false},
    {"u4[3, 107]", "relu(%0)", "u4[3, 107]", false},
    {"f32[3, 107]", "is_nan(%0)", "bool[3, 107]", true},
    {"f32[3, 107]", "is_inf(%0)", "bool[3, 107]", true},
    {"f32[3, 107]", "cast(%0)", "f16[3, 107]", false},
    {"f64[3, 107]", "cast(%0)", "u8[3, 107]", false},
    {"i64[3, 107]", "cast(%0)", "i32[3, 107]", false},
    {"u4[3, 107]", "cast(%0)", "i4[3, 107]", false},
    {"f32[3, 107]; u8[]", "cast_like(%0, %1)", "u8[3, 107]", true},
    {"f32[3, 107]", "bitcast(%0) {to = \"i32\"}", "i32[3, 107]", false},
    {"f32[3, 107]; f32[]; f32[]", "clip(%0, %1, %2)", "f32[3, 107]", true},
    {"f32[3, 107]", "full_like(%0) {value = 1.0, dtype = \"bool\"}", "bool[3, 107]", true},
    {"f64[3, 107]", "bernoulli(%0) {dtype = \"bool\"}", "bool[3, 107]", false},
    {"f32[3, 107]; f32[]; bool[]", "dropout(%0, %1, %2)", "f32[3, 107]; bool[3, 107]", true},
    {"f32[3, 107]; i64[3, 107]", "pow(%0, %1)", "f32[3, 107]", false},
    {"u8[3, 107]; u8[3, 107]", "bit_shift(%0, %1) {direction = \"left\"}", "u8[3, 107]", false},
    {"f32[3, 107]; f32[3, 107]; f32[3, 107]", "sum(%0, %1, %2)", "f32[3, 107]", true},
    {"f32[3, 107]; f32[107]", "sub(%0, %1)", "f32[3, 107]", true},
    {"f32[3, 107]; f32[3, 1]", "sub(%1, %0)", "f32[3, 107]", true},
    {"i64[3, 107]; i64[3, 107]", "mul(%0, %1)", "i64[3, 107]", false},
    {"u4[3, 107]; u4[3, 107]", "add(%0, %1)", "u4[3, 107]", false},
    {"bool[3, 107]; bool[3, 107]; bool[3, 107]", "where(%0, %1, %2)", "bool[3, 107]", false},
    {"bool[3, 107]; f32[3, 107]; f32[3, 107]", "where(%0, %1, %2)", "f32[3, 107]", true},
    {"f32[50]; i64[3, 107]", "gather(%0, %1)", "f32[3, 107]", true},
    {"f32[3, 107]; i64[3, 107]", "gather_elements(%0, %1)", "f32[3, 107]", true},
    {"f32[]; i64[]; f32[321]; f32[321]; f32[321]", "adagrad(%0, %1, %2, %3, %4)",
     "f32[321]; f32[321]", false},
    {"f32[]; i64[]; f32[321]; f32[321]; f32[321]; f32[321]", "adam(%0, %1, %2, %3, %4, %5)",
     "f32[321]; f32[321]; f32[321]", false},
    {"f32[]; i64[]; f32[321]; f32[321]; f32[321]",
     "momentum(%0, %1, %2, %3, %4) {alpha = 0.9, beta = 0.5, norm_coefficient = 0.1, mode = "
     "\"standard\"}",
     "f32[321]; f32[321]", false},
    {"i64[107, 3]", "scale_features(%0) {scale = [1.0, 2.0, 3.0]}", "f32[107, 3]", false},
    {"i64[321]",
     "label_encode(%0) {dtype = \"f32\", keys_int64s = [1, 2], values_floats = [0.5, 2.0]}",
     "f32[321]", false},
    {"f32[3, 107]; f32[]; i8[]", "quantize_linear(%0, %1, %2)", "i8[3, 107]", false},
    {"i32[3, 107]; f32[]", "dequantize_linear(%0, %1)", "f32[3, 107]", false},
    {"u8[3, 107]; f32[]; u8[]; u8[3, 107]", "qlinear_add(%0, %1, %2, %3, %1, %2, %1, %2)",
     "u8[3, 107]", false},
    {"u8[3, 107]; f32[]; u8[]; u8[3, 107]", "qlinear_mul(%0, %1, %2, %3, %1, %2, %1, %2)",
     "u8[3, 107]", false},
    {"u8[3, 107]; f32[]", "qlinear_sigmoid(%0, %1, _, %1)", "u8[3, 107]", false},
    {"u8[3, 107]; f32[]; i8[]", "qlinear_leaky_relu(%0, %1, _, %1, %2)", "i8[3, 107]", false},
    // Row by row.
    {"f32[107, 3]", "softmax(%0) {axis = 0}", "f32[107, 3]", true},
    {"f32[1, 3, 9, 13]", "layer_norm_2d(%0)", "f32[1, 3, 9, 13]", true},
    {"f32[1, 3, 107]; f32[3]", "batch_norm(%0, %1, %1, %1, %1)", "f32[1, 3, 107]", true},
    {"f32[2, 4, 41]; f32[4]", "group_norm(%0, %1, %1) {groups = 2}", "f32[2, 4, 41]", true},
    {"f32[1, 3, 107]; f32[3]", "instance_norm(%0, %1, %1)", "f32[1, 3, 107]", true},
    {"f32[2, 3, 59]", "mean_variance_norm(%0) {axes = [0, 2]}", "f32[2, 3, 59]", true},
    {"u8[3, 107]; f32[]", "qlinear_softmax(%0, %1, _, %1)", "u8[3, 107]", false},
    {"f32[3, 5, 28]; f32[50, 7]; i64[3, 5]", "rope(%0, %1, %1, %2) {heads = 2}", "f32[3, 5, 28]",
     true},
    {"f32[3, 5, 28]; f32[50, 7]; i64[3, 5]", "rope(%0, %1, %1, %2) {heads = 2, interleaved = true}",
     "f32[3, 5, 28]", true},
    {"f32[3, 107]; i64[] = [1]", "cumsum(%0, %1) {exclusive = true}", "f32[3, 107]", true},
    {"f32[107, 3]; i64[] = [0]", "cumsum(%0, %1) {reverse = true}", "f32[107, 3]", true},
    {"f32[3, 107]", "cumprod(%0) {axis = 1, reverse = true}", "f32[3, 107]", true},
    {"f32[3, 107]", "dynamic_quantize_linear(%0)", "u8[3, 107]; f32[]; u8[]", false},
    {"i64[107, 3]", "normalize_rows(%0) {norm = \"l2\"}", "f32[107, 3]", false},
    {"f32[3, 107]; i64[3]", "softmax_cross_entropy(%0, %1)", "f32[]; f32[3, 107]", true},
    {"f16[3, 5, 23]; f16[3, 5, 23]; f16[23]", "skip_norm(%0, %1, %2, %2, %2)",
     "f16[3, 5, 23]; f32[3, 5, 1]; f32[3, 5, 1]; f16[3, 5, 23]", false},
    {"f32[3, 5, 23]; f32[3, 5, 23]; f32[23]", "skip_norm(%0, %1, %2) {op = \"rms\"}",
     "f32[3, 5, 23]; f32[3, 5, 1]; f32[3, 5, 1]; f32[3, 5, 23]", false},
    {"f16[1, 5, 3, 24]; f32[24]; f16[1, 5, 3, 24]",
     "skip_group_norm(%0, %1, %1, %2) {groups = 8, channels_last = true}",
     "f16[1, 5, 3, 24]; f16[1, 5, 3, 24]", false},
    {"f32[3, 5, 46]; f32[46]", "split_gelu(%0, %1)", "f32[3, 5, 23]", true},
    // Products and attention.
    {"f32[19, 7]; f32[7, 17]; f32[19, 17]", "gemm(%0, %1, %2)", "f32[19, 17]", true},
    {"f32[19, 7]; f32[7, 17]; f32[19, 17]", "fused_gemm(%0, %1, %2)", "f32[19, 17]", true},
    {"f32[1, 3, 41]; f32[7, 3, 3]; f32[1, 7, 39]", "fused_conv(%0, %1, _, %2)", "f32[1, 7, 39]",
     true},
    {"u8[19, 7]; f32[]; u8[]; i8[7, 17]; i32[19, 17]", "qgemm(%0, %1, %2, %3, %1, %2, %4)",
     "f32[19, 17]", false},
    {"f32[3, 5, 26]; f32[3, 6, 26]; f32[3, 6, 26]", "attention(%0, %1, %2) {heads = 2}",
     "f32[3, 5, 26]", true},
    {"f32[3, 2, 5, 13]; f32[3, 2, 6, 13]; f32[3, 2, 6, 13]", "flex_attention(%0, %1, %2)",
     "f32[3, 2, 5, 13]", true},
    {"f32[2, 5, 34]; f32[2, 7, 34]; f32[2, 7, 34]; f32[2, 2, 15, 17]; i32[]",
     "multi_head_attention(%0, %1, %2, _, _, _, %3, %3, %4) {heads = 2, share_past = true}",
     "f32[2, 5, 34]; f32[2, 2, 15, 17]; f32[2, 2, 15, 17]", true},
    {"f16[3, 1, 104]; f16[3, 1, 26]; f16[3, 2, 33, 13]; i32[3]; i32[]",
     "group_query_attention(%0, %1, %1, %2, %2, %3, %4) {heads = 8, kv_heads = 2, share_past = "
     "true}",
     "f16[3, 1, 104]; f16[3, 2, 33, 13]; f16[3, 2, 33, 13]", false},
    {"f32[2, 5, 16]; f32[16, 102]; f32[102]; f32[2, 2, 2, 15, 17]; i32[]",
     "qkv_attention(%0, %1, %2, _, %3, _, %4) {heads = 2, share_past = true}",
     "f32[2, 5, 34]; f32[2, 2, 2, 15, 17]", true},
    {"f32[3, 5, 52]; f32[3, 5, 26]; f32[3, 5, 26]; f32[3, 2, 13, 13]; f32[3, 5, 2]",
     "linear_attention(%0, %1, %2, %3, %1, %4) {heads = 4, kv_heads = 2}",
     "f32[3, 5, 52]; f32[3, 2, 13, 13]", true},
    // Copies.
    {"f32[3, 107]", "reshape(%0)", "f32[107, 3]", true},
    {"f32[1, 321, 1]", "squeeze(%0)", "f32[321]", true},
    {"f32[321]", "unsqueeze(%0) {axes = [0]}", "f32[1, 321]", true},
    {"f32[3, 107, 1]", "flatten(%0)", "f32[3, 107]", true},
    {"f32[321]", "expand(%0)", "f32[1, 321]", true},
    {"f32[3, 107]", "tile(%0) {repeats = [1, 1]}", "f32[3, 107]", true},
    {"f32[3, 1, 107]", "transpose(%0) {perm = [1, 0, 2]}", "f32[1, 3, 107]", true},
    {"f32[31, 16]", "narrow(%0) {axis = 1, start = 3, len = 11}", "f32[31, 11]", true},
    {"f32[40, 11]", "narrow(%0) {axis = 0, start = 3, len = 31}", "f32[31, 11]", true},
    {"f32[31, 32]", "slice(%0) {starts = [1], ends = [32], axes = [1], steps = [3]}", "f32[31, 11]",
     true},
    {"f32[31, 22]", "split(%0) {axis = 1}", "f32[31, 11]; f32[31, 11]", true},
    {"f32[62, 11]", "split(%0) {axis = 0}", "f32[31, 11]; f32[31, 11]", true},
    {"f32[65, 8]; bool[8] = [1, 0, 1, 1, 0, 1, 0, 1]", "compress(%0, %1) {axes = [1]}",
     "f32[65, 5]", true},
    {"f32[1, 3, 20, 19]", "crop(%0) {border = [1, 2, 3, 4]}", "f32[1, 3, 14, 15]", true},
    {"f32[19, 21]; i64[2] = [17, 20]", "center_crop_pad(%0, %1)", "f32[17, 20]", true},
    {"f32[31, 11]; f32[0, 11]", "concat(%0, %1)", "f32[31, 11]", true},
    {"f32[3, 107]; i64[3, 107]; f32[3, 107]", "scatter_elements(%0, %1, %2)", "f32[3, 107]", true},
    {"f32[31, 11]; i64[3, 1]; f32[3, 11]", "scatter_nd(%0, %1, %2)", "f32[31, 11]", true},
    {"f32[2, 3, 9, 7]; f32[2, 3, 4, 7]; i64[2]", "tensor_scatter(%0, %1, %2)", "f32[2, 3, 9, 7]",
     true},
};
#define LARGE_COUNT (sizeof(large_cases) / sizeof(large_cases[0]))

static size_t elements_of(const kernel_case* c, size_t result) {
  return stow_tensor_elements(kernel_case_result(c, result));
}

// |is_sure|: the kernel has to take the dtype.
static void run_large(const char* operands, const char* node, const char* results, bool is_sure) {
  kernel_case* c = kernel_case_create(operands, node, results);
  kernel_case_fill(c, 7);
  stow_status status = kernel_case_run(c);
  test_check(status == STOW_OK || (!is_sure && status == STOW_ERR_UNSUPPORTED), __FILE__, __LINE__,
             "%s of %s: %s", node, operands, kernel_case_message(c));
  test_check(kernel_case_place_count(c) != 0, __FILE__, __LINE__, "%s of %s: nothing is in place",
             node, operands);
  for (size_t i = 0; i < kernel_case_place_count(c); ++i) {
    size_t elements = elements_of(c, kernel_case_place_at(c, i).result);
    test_check(status != STOW_OK || (elements > BLOCK && elements % VECTOR != 0), __FILE__,
               __LINE__, "%s of %s: %zu elements are no test", node, operands, elements);
  }
  if (status == STOW_OK) {
    count_places(c, large);
  }
  kernel_case_destroy(c);
}

// |text| with |dtype| for every f32.
static void with_dtype(const char* text, const char* dtype, char* out) {
  size_t at = 0;
  for (; *text != '\0'; ++text, ++at) {
    bool is_place = strncmp(text, "f32", 3) == 0;
    memcpy(out + at, is_place ? dtype : text, is_place ? 3 : 1);
    at += is_place ? 2 : 0;
    text += is_place ? 2 : 0;
  }
  out[at] = '\0';
}

static void run_floats(const large_case* l) {
  static const char* const others[] = {"f16", "f64"};
  run_large(l->operands, l->node, l->results, true);
  for (size_t i = 0; l->any_float && i < sizeof(others) / sizeof(others[0]); ++i) {
    char operands[200];
    char results[200];
    with_dtype(l->operands, others[i], operands);
    with_dtype(l->results, others[i], results);
    run_large(operands, l->node, results, false);
  }
}

static void run_named(const char* const* names, size_t count, const char* operands,
                      const char* format, const char* results, bool any_float) {
  for (size_t i = 0; i < count; ++i) {
    char node[80];
    snprintf(node, sizeof(node), "%s%s", names[i], format);
    run_floats(&(large_case){operands, node, results, any_float});
  }
}

#define RUN_NAMED(names, ...) run_named(names, sizeof(names) / sizeof(names[0]), __VA_ARGS__)

static void run_all_large(void) {
  RUN_NAMED(unary_ops, "f32[3, 107]", "(%0)", "f32[3, 107]", true);
  RUN_NAMED(binary_ops, "f32[3, 107]; f32[3, 107]", "(%0, %1)", "f32[3, 107]", true);
  RUN_NAMED(comparisons, "f32[3, 107]; f32[3, 107]", "(%0, %1)", "bool[3, 107]", true);
  RUN_NAMED(logic_ops, "bool[3, 107]; bool[3, 107]", "(%0, %1)", "bool[3, 107]", false);
  for (size_t i = 0; i < LARGE_COUNT; ++i) {
    run_floats(&large_cases[i]);
  }
}

TEST(ManyElementsAreTheSameInEveryWay) { run_all_large(); }

// What the small cases know of, the large ones show too; ops whose row permits nothing in place of
// anything are not in either.
TEST(EveryPermittedInPlaceOperandIsTried) {
  size_t places = 0;
  size_t ops = 0;
  memset(small, 0, sizeof(small));
  memset(large, 0, sizeof(large));
  run_small();
  run_all_large();
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    const char* name = stow_ops_get(NULL, op)->name;
    bool has_place = false;
    for (size_t r = 0; r < MOST_PLACES; ++r) {
      for (size_t k = 0; k < MOST_PLACES; ++k) {
        // Of several tensors, one shows what a step of training does.
        bool is_step = op == STOW_OP_ADAGRAD || op == STOW_OP_ADAM || op == STOW_OP_MOMENTUM;
        test_check(small[op][r][k] == 0 || large[op][r][k] != 0 || is_step, __FILE__, __LINE__,
                   "%s: result %zu over operand %zu with few elements only", name, r, k);
        has_place = has_place || large[op][r][k] != 0;
        places += large[op][r][k] != 0 ? 1 : 0;
      }
    }
    ops += has_place ? 1 : 0;
    test_check(has_place == (stow_ops_get(NULL, op)->in_place != NULL), __FILE__, __LINE__,
               "%s: nothing is in place", name);
  }
  printf("%zu ops in place, %zu pairs of result and operand\n", ops, places);
}

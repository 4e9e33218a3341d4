// The core's rows. ops.def is expanded into an array whose entry for NAME is made of ROW_NAME, so
// an op without a row, or a row whose parts do not fit, fails the build. Names stand in ops.def
// alone.
//
// Finding an op by name compares sizes first: about a hundred integer compares, which needs neither
// a table built at run time (there is no global mutable state) nor a list kept sorted by hand.
#include "graph/op_table.h"

#include <string.h>

#include "graph/shapes.h"

// ---------------------------------------------------------------------------------------------
// Attribute schemas

#define NAMED(text, attr_kind) .name = {(text), sizeof(text) - 1}, .kind = (attr_kind)
#define INT(text, number)                                  \
  {                                                        \
    .value = { NAMED(text, STOW_ATTR_INT), .i = (number) } \
  }
#define FLOAT(text, number)                                  \
  {                                                          \
    .value = { NAMED(text, STOW_ATTR_FLOAT), .f = (number) } \
  }
#define BOOL(text, truth)                                  \
  {                                                        \
    .value = { NAMED(text, STOW_ATTR_BOOL), .b = (truth) } \
  }
#define STRING(text, string)                                                        \
  {                                                                                 \
    .value = { NAMED(text, STOW_ATTR_STRING), .s = {(string), sizeof(string) - 1} } \
  }
#define INTS(text)                           \
  {                                          \
    .value = { NAMED(text, STOW_ATTR_INTS) } \
  }  // the empty list
#define REQUIRED(text, attr_kind) \
  { .value = {NAMED(text, attr_kind)}, .required = true }
#define REQUIRED_INT(text) REQUIRED(text, STOW_ATTR_INT)
#define EPSILON FLOAT("epsilon", 1e-5)

typedef stowi_attr_spec spec;

static const spec data_attrs[] = {INTS("data"), STRING("source", ""), INT("at", 0),
                                  INT("bytes", -1)};
static const spec custom_attrs[] = {REQUIRED("name", STOW_ATTR_STRING), INT("num_inputs", -1)};

static const spec narrow_attrs[] = {REQUIRED_INT("axis"), REQUIRED_INT("start"),
                                    REQUIRED_INT("len")};
static const spec transpose_attrs[] = {INTS("perm")};
static const spec axis_0_attrs[] = {INT("axis", 0)};
static const spec split_attrs[] = {INT("axis", 0), INTS("sizes"), INT("parts", 0)};
static const spec kv_append_attrs[] = {REQUIRED_INT("axis")};
static const spec pad_attrs[] = {REQUIRED("pads", STOW_ATTR_INTS), STRING("mode", "constant")};

static const spec gelu_attrs[] = {STRING("approximate", "none")};
static const spec leaky_relu_attrs[] = {FLOAT("alpha", 0.01)};
static const spec elu_attrs[] = {FLOAT("alpha", 1.0)};
static const spec hard_sigmoid_attrs[] = {FLOAT("alpha", 0.2), FLOAT("beta", 0.5)};
static const spec mod_attrs[] = {BOOL("fmod", false)};
static const spec rope_attrs[] = {BOOL("interleaved", false), INT("rotary_dim", 0)};

static const spec softmax_attrs[] = {INT("axis", -1)};
static const spec norm_attrs[] = {INT("axis", -1), EPSILON};
static const spec channel_norm_attrs[] = {EPSILON};
static const spec group_norm_attrs[] = {REQUIRED_INT("groups"), EPSILON};
static const spec reduce_attrs[] = {STRING("op", "sum"), INTS("axes"), BOOL("keepdims", true)};
static const spec argmax_attrs[] = {INT("axis", 0), BOOL("keepdims", true)};
static const spec topk_attrs[] = {INT("axis", -1), REQUIRED_INT("k"), BOOL("largest", true)};

static const spec attention_attrs[] = {STRING("layout", "bshd"), INT("heads", 0),
                                       INT("kv_heads", 0), FLOAT("scale", 0.0),
                                       BOOL("causal", false)};
static const spec conv_attrs[] = {INTS("strides"), INTS("pads"), INTS("dilations"), INT("group", 1),
                                  STRING("auto_pad", "notset")};
static const spec conv_transpose_attrs[] = {INTS("strides"), INTS("pads"), INTS("dilations"),
                                            INTS("output_padding"), INT("group", 1)};
static const spec pool_attrs[] = {STRING("op", "max"),      INTS("kernel"),
                                  INTS("strides"),          INTS("pads"),
                                  INTS("dilations"),        STRING("auto_pad", "notset"),
                                  BOOL("ceil_mode", false), BOOL("count_include_pad", false),
                                  BOOL("global", false)};
static const spec resize_attrs[] = {STRING("mode", "nearest"), STRING("coordinates", "half_pixel")};

// ---------------------------------------------------------------------------------------------
// What rows are made of

#define ABOUT(text) .desc.summary = (text)
#define OPERANDS(least, most) .desc.min_operands = (least), .desc.max_operands = (most)
#define RESULTS(least, most) .desc.min_results = (least), .desc.max_results = (most)
#define INFERRED(function) .desc.typing = STOW_TYPING_INFERRED, .desc.shape = (function)
#define CHECKED(function) .desc.typing = STOW_TYPING_CHECKED, .desc.shape = (function)
#define DECLARED .desc.typing = STOW_TYPING_DECLARED, .desc.shape = NULL
#define VIEW(function) .desc.view = (function)
#define ATTRS(list) .attrs = (list), .attr_count = sizeof(list) / sizeof((list)[0])
#define ANY STOW_ANY_COUNT

// Rows that many ops share but for the text.
#define UNARY(text) ABOUT(text), OPERANDS(1, 1), RESULTS(1, 1), INFERRED(stowi_shape_same)
#define BINARY(text) ABOUT(text), OPERANDS(2, 2), RESULTS(1, 1), INFERRED(stowi_shape_binary)
#define LOGICAL(text) ABOUT(text), OPERANDS(2, 2), RESULTS(1, 1), INFERRED(stowi_shape_logical)
#define COMPARE(text) ABOUT(text), OPERANDS(2, 2), RESULTS(1, 1), INFERRED(stowi_shape_compare)

// ---------------------------------------------------------------------------------------------
// Boundary values and structure

#define ROW_INPUT ABOUT("a value that the caller gives"), OPERANDS(0, 0), RESULTS(1, 1), DECLARED
#define ROW_PARAM ABOUT("a weight"), OPERANDS(0, 0), RESULTS(1, 1), DECLARED, ATTRS(data_attrs)
#define ROW_CONSTANT \
  ABOUT("a fixed value"), OPERANDS(0, 0), RESULTS(1, 1), DECLARED, ATTRS(data_attrs)
#define ROW_ARGS ABOUT("the arguments of a region"), OPERANDS(0, 0), RESULTS(1, ANY), DECLARED
#define ROW_YIELD ABOUT("what a region gives"), OPERANDS(0, ANY), RESULTS(0, 0), DECLARED
#define ROW_IF                                                                               \
  ABOUT("runs the first region where the condition holds, else the second"), OPERANDS(1, 1), \
      RESULTS(0, ANY), INFERRED(stowi_shape_if), .desc.region_count = 2,                     \
                                                 .desc.region_kind = STOW_REGION_BRANCH
#define ROW_LOOP                                                                         \
  ABOUT("runs its region up to trip times while the condition holds"), OPERANDS(0, ANY), \
      RESULTS(0, ANY), CHECKED(stowi_shape_loop),                                        \
      .desc.region_count = 1, .desc.region_kind = STOW_REGION_LOOP,                      \
      .desc.carry = {.first_operand = 2, .first_arg = 2, .first_yield = 1, .first_result = 0}
#define ROW_CUSTOM                                                                        \
  ABOUT("an operation known to the executor by name"), OPERANDS(0, ANY), RESULTS(1, ANY), \
      DECLARED, ATTRS(custom_attrs), .desc.any_attrs = true

// ---------------------------------------------------------------------------------------------
// Layout

#define ROW_RESHAPE                                                                            \
  ABOUT("the same elements in the same order with other dims"), OPERANDS(1, 1), RESULTS(1, 1), \
      CHECKED(stowi_shape_reshape), VIEW(stowi_view_reshape)
#define ROW_CAST                                                            \
  ABOUT("converts to another element type"), OPERANDS(1, 1), RESULTS(1, 1), \
      CHECKED(stowi_shape_cast), VIEW(stowi_view_cast)
#define ROW_NARROW                                                               \
  ABOUT("len elements from start along an axis"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_narrow), VIEW(stowi_view_narrow), ATTRS(narrow_attrs)
#define ROW_TRANSPOSE                                                                         \
  ABOUT("permutes the dims"), OPERANDS(1, 1), RESULTS(1, 1), INFERRED(stowi_shape_transpose), \
      VIEW(stowi_view_transpose), ATTRS(transpose_attrs)
#define ROW_EXPAND                                                            \
  ABOUT("repeats elements to broadcast dims"), OPERANDS(1, 1), RESULTS(1, 1), \
      CHECKED(stowi_shape_expand)
#define ROW_CONCAT                                                       \
  ABOUT("joins tensors along an axis"), OPERANDS(1, ANY), RESULTS(1, 1), \
      INFERRED(stowi_shape_concat), ATTRS(axis_0_attrs)
#define ROW_SPLIT                                                        \
  ABOUT("cuts a tensor along an axis"), OPERANDS(1, 1), RESULTS(1, ANY), \
      INFERRED(stowi_shape_split), VIEW(stowi_view_split), ATTRS(split_attrs)
#define ROW_GATHER                                                             \
  ABOUT("picks slices along an axis by index"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_shape_gather), ATTRS(axis_0_attrs)
#define ROW_KV_APPEND                                                                        \
  ABOUT("writes new entries into a cache, in place"), OPERANDS(2, 3), RESULTS(1, 1),         \
      INFERRED(stowi_shape_kv_append), VIEW(stowi_view_kv_append), .desc.writes_view = true, \
                                                                   ATTRS(kv_append_attrs)
#define ROW_PAD                                                                            \
  ABOUT("adds a border, or crops where a pad is negative"), OPERANDS(1, 2), RESULTS(1, 1), \
      INFERRED(stowi_shape_pad), ATTRS(pad_attrs)

// ---------------------------------------------------------------------------------------------
// Elementwise

#define ROW_RELU UNARY("max(x, 0)")
#define ROW_GELU                                                                         \
  ABOUT("x times the normal distribution function of x"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_gelu), ATTRS(gelu_attrs)
#define ROW_SILU UNARY("x times sigmoid(x)")
#define ROW_SIGMOID UNARY("1 / (1 + exp(-x))")
#define ROW_TANH UNARY("hyperbolic tangent")
#define ROW_EXP UNARY("e to the power x")
#define ROW_LOG UNARY("natural logarithm")
#define ROW_SQRT UNARY("square root")
#define ROW_RSQRT UNARY("1 / sqrt(x)")
#define ROW_NEG UNARY("-x")
#define ROW_ABS UNARY("absolute value")
#define ROW_ERF UNARY("error function")
#define ROW_SIN UNARY("sine")
#define ROW_COS UNARY("cosine")
#define ROW_FLOOR UNARY("rounds down")
#define ROW_CEIL UNARY("rounds up")
#define ROW_ROUND UNARY("rounds to the nearest, halves to even")
#define ROW_SIGN UNARY("-1, 0 or 1")
#define ROW_RECIPROCAL UNARY("1 / x")
#define ROW_SOFTPLUS UNARY("log(1 + exp(x))")
#define ROW_LEAKY_RELU UNARY("x, or alpha x where x is negative"), ATTRS(leaky_relu_attrs)
#define ROW_ELU UNARY("x, or alpha (exp(x) - 1) where x is negative"), ATTRS(elu_attrs)
#define ROW_HARD_SWISH UNARY("x times clip(x / 6 + 1/2, 0, 1)")
#define ROW_HARD_SIGMOID UNARY("clip(alpha x + beta, 0, 1)"), ATTRS(hard_sigmoid_attrs)
#define ROW_NOT ABOUT("logical not"), OPERANDS(1, 1), RESULTS(1, 1), INFERRED(stowi_shape_not)

#define ROW_ADD BINARY("a + b")
#define ROW_SUB BINARY("a - b")
#define ROW_MUL BINARY("a times b")
#define ROW_DIV BINARY("a / b")
#define ROW_POW BINARY("a to the power b")
#define ROW_MOD \
  BINARY("the rest of a / b, with b's sign, or a's where fmod is true"), ATTRS(mod_attrs)
#define ROW_MAX BINARY("the larger one")
#define ROW_MIN BINARY("the smaller one")
#define ROW_AND LOGICAL("logical or bitwise and")
#define ROW_OR LOGICAL("logical or bitwise or")
#define ROW_XOR LOGICAL("logical or bitwise exclusive or")

#define ROW_EQ COMPARE("a = b")
#define ROW_NE COMPARE("a is not b")
#define ROW_LT COMPARE("a < b")
#define ROW_LE COMPARE("a <= b")
#define ROW_GT COMPARE("a > b")
#define ROW_GE COMPARE("a >= b")

#define ROW_WHERE                                                              \
  ABOUT("a where the condition holds, else b"), OPERANDS(3, 3), RESULTS(1, 1), \
      INFERRED(stowi_shape_where)
#define ROW_CLIP \
  ABOUT("x within optional bounds"), OPERANDS(1, 3), RESULTS(1, 1), INFERRED(stowi_shape_clip)
#define ROW_ROPE                                                                               \
  ABOUT("rotary position embedding of x by cosines and sines"), OPERANDS(3, 4), RESULTS(1, 1), \
      INFERRED(stowi_shape_rope), ATTRS(rope_attrs)

// ---------------------------------------------------------------------------------------------
// Row-wise and reducing

#define ROW_SOFTMAX                                                                    \
  ABOUT("exponentials that add up to 1 along an axis"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_softmax), ATTRS(softmax_attrs)
#define ROW_LAYER_NORM                                                                         \
  ABOUT("mean 0 and variance 1 over the dims from an axis on"), OPERANDS(1, 3), RESULTS(1, 1), \
      INFERRED(stowi_shape_layer_norm), ATTRS(norm_attrs)
#define ROW_LAYER_NORM_2D                                                            \
  ABOUT("mean 0 and variance 1 over the channels of each position"), OPERANDS(1, 3), \
      RESULTS(1, 1), INFERRED(stowi_shape_channel_norm), ATTRS(channel_norm_attrs)
#define ROW_RMS_NORM                                                                   \
  ABOUT("mean square 1 over the dims from an axis on"), OPERANDS(1, 3), RESULTS(1, 1), \
      INFERRED(stowi_shape_layer_norm), ATTRS(norm_attrs)
#define ROW_BATCH_NORM                                                                    \
  ABOUT("scales each channel by given mean and variance"), OPERANDS(5, 5), RESULTS(1, 1), \
      INFERRED(stowi_shape_channel_norm), ATTRS(channel_norm_attrs)
#define ROW_GROUP_NORM                                                                   \
  ABOUT("mean 0 and variance 1 over groups of channels"), OPERANDS(1, 3), RESULTS(1, 1), \
      INFERRED(stowi_shape_group_norm), ATTRS(group_norm_attrs)
#define ROW_REDUCE                                                               \
  ABOUT("sum, mean, max, min or prod over axes"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_reduce), ATTRS(reduce_attrs)
#define ROW_ARGMAX                                                            \
  ABOUT("index of the largest along an axis"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_argmax), ATTRS(argmax_attrs)
#define ROW_TOPK                                                                             \
  ABOUT("the k largest along an axis, and where they stood"), OPERANDS(1, 1), RESULTS(2, 2), \
      INFERRED(stowi_shape_topk), ATTRS(topk_attrs)

// ---------------------------------------------------------------------------------------------
// Contractions and windows

#define ROW_MATMUL                                                                   \
  ABOUT("matrix product, batched over leading dims"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_shape_matmul)
#define ROW_ATTENTION                                                    \
  ABOUT("softmax(scale q k^T + mask) v"), OPERANDS(3, 4), RESULTS(1, 1), \
      INFERRED(stowi_shape_attention), ATTRS(attention_attrs)
#define ROW_CONV \
  ABOUT("convolution"), OPERANDS(2, 3), RESULTS(1, 1), INFERRED(stowi_shape_conv), ATTRS(conv_attrs)
#define ROW_CONV_TRANSPOSE                                        \
  ABOUT("transposed convolution"), OPERANDS(2, 3), RESULTS(1, 1), \
      INFERRED(stowi_shape_conv_transpose), ATTRS(conv_transpose_attrs)
#define ROW_POOL                                                             \
  ABOUT("largest or average of each window"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_pool), ATTRS(pool_attrs)
#define ROW_RESIZE                                                      \
  ABOUT("samples at the declared size"), OPERANDS(1, 1), RESULTS(1, 1), \
      CHECKED(stowi_shape_resize), ATTRS(resize_attrs)
#define ROW_DEQUANT_MATMUL                                                         \
  ABOUT("product with packed weights"), OPERANDS(2, ANY), RESULTS(1, 1), DECLARED, \
      .desc.any_attrs = true
#define ROW_DEQUANT_GROUPED_MATMUL                                                          \
  ABOUT("product with packed weights, by groups of rows"), OPERANDS(2, ANY), RESULTS(1, 1), \
      DECLARED, .desc.any_attrs = true

// ---------------------------------------------------------------------------------------------

static const stowi_op_row rows[] = {
#define STOW_OP(op, text) \
  [STOW_OP_##op] = {.desc.struct_size = sizeof(stow_op_desc), .desc.name = (text), ROW_##op},
#include <stowage/ops.def>
#undef STOW_OP
};

static const size_t name_sizes[] = {
#define STOW_OP(op, text) [STOW_OP_##op] = sizeof(text) - 1,
#include <stowage/ops.def>
#undef STOW_OP
};

const stowi_op_row* stowi_core_row(stow_op op) { return &rows[op]; }

stow_op stowi_core_find(stow_str name) {
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    if (name_sizes[op] == name.size && memcmp(rows[op].desc.name, name.data, name.size) == 0) {
      return op;
    }
  }
  return STOW_OP_NONE;
}

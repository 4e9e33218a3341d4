// Rows of the most common ops.
#ifndef STOWAGE_SRC_GRAPH_ROWS_CORE_H_
#define STOWAGE_SRC_GRAPH_ROWS_CORE_H_

#include <math.h>

#include "graph/rows/rows.h"

static const spec data_attrs[] = {INTS("data"), STRING("source", ""), INT("at", 0),
                                  INT("bytes", -1)};
static const spec param_attrs[] = {INTS("data"), STRING("source", ""), INT("at", 0),
                                   INT("bytes", -1), BOOL("folded", false)};
static const spec custom_attrs[] = {REQUIRED("name", STOW_ATTR_STRING), INT("num_inputs", -1)};

static const spec blocks_attrs[] = {REQUIRED("function", STOW_ATTR_STRING),
                                    INT("groups", 1),
                                    INT("rows", 0),
                                    INTS("divide"),
                                    INTS("over"),
                                    {.value = {NAMED("of", STOW_ATTR_STRINGS)}}};
static const spec stream_attrs[] = {REQUIRED("function", STOW_ATTR_STRING),
                                    INT("rows", 0),
                                    {.value = {NAMED("of", STOW_ATTR_STRINGS)}}};
static const spec narrow_attrs[] = {REQUIRED_INT("axis"), REQUIRED_INT("start"),
                                    REQUIRED_INT("len")};
static const spec transpose_attrs[] = {INTS("perm")};
static const spec axis_0_attrs[] = {INT("axis", 0)};
static const spec reshape_attrs[] = {BOOL("allowzero", false)};
static const spec cast_attrs[] = {STRING("to", ""), BOOL("saturate", true),
                                  STRING("round_mode", "up")};
static const spec split_attrs[] = {INT("axis", 0), INTS("sizes"), INT("parts", 0)};
static const spec kv_append_attrs[] = {REQUIRED_INT("axis")};
static const spec pad_attrs[] = {INTS("pads"), INTS("axes"), STRING("mode", "constant")};

static const spec silu_attrs[] = {FLOAT("alpha", 1.0)};
static const spec gelu_attrs[] = {STRING("approximate", "none")};
static const spec leaky_relu_attrs[] = {FLOAT("alpha", 0.01)};
static const spec elu_attrs[] = {FLOAT("alpha", 1.0)};
static const spec hard_sigmoid_attrs[] = {FLOAT("alpha", 0.2), FLOAT("beta", 0.5)};
static const spec mod_attrs[] = {BOOL("fmod", false)};
static const spec rope_attrs[] = {BOOL("interleaved", false), INT("rotary_dim", 0), INT("heads", 0),
                                  FLOAT("scale", 1.0)};
static const spec clip_attrs[] = {FLOAT("min", -INFINITY), FLOAT("max", INFINITY)};

static const spec softmax_attrs[] = {INT("axis", -1), BOOL("flatten", false)};
static const spec norm_attrs[] = {INT("axis", -1), EPSILON, STRING("stash", "f32")};
static const spec channel_norm_attrs[] = {EPSILON};
static const spec batch_norm_attrs[] = {EPSILON, FLOAT("momentum", 0.9), BOOL("training", false),
                                        BOOL("spatial", true)};
static const spec group_norm_attrs[] = {REQUIRED_INT("groups"), EPSILON, STRING("stash", "f32")};
static const spec reduce_attrs[] = {STRING("op", "sum"), INTS("axes"), BOOL("keepdims", true),
                                    BOOL("noop_with_empty_axes", false)};
static const spec argmax_attrs[] = {INT("axis", 0), BOOL("keepdims", true),
                                    BOOL("select_last_index", false)};
static const spec topk_attrs[] = {INT("axis", -1), INT("k", -1), BOOL("largest", true),
                                  BOOL("sorted", true)};

static const spec attention_attrs[] = {
    STRING("layout", "bshd"),    INT("heads", 0),         INT("kv_heads", 0),
    FLOAT("scale", 0.0),         BOOL("causal", false),   FLOAT("softcap", 0.0),
    INT("window_left", -1),      INT("window_right", -1), INT("scores", 0),
    STRING("softmax_dtype", ""), BOOL("pad_mask", false)};
#define WINDOW_ATTRS INTS("strides"), INTS("pads"), INTS("dilations"), STRING("auto_pad", "notset")
static const spec conv_attrs[] = {WINDOW_ATTRS, INT("group", 1), INTS("kernel")};
static const spec conv_transpose_attrs[] = {WINDOW_ATTRS, INTS("output_padding"),
                                            INTS("output_shape"), INT("group", 1), INTS("kernel")};
static const spec pool_attrs[] = {WINDOW_ATTRS,
                                  STRING("op", "max"),
                                  INTS("kernel"),
                                  BOOL("ceil_mode", false),
                                  BOOL("count_include_pad", false),
                                  BOOL("global", false),
                                  BOOL("channels_last", false),
                                  BOOL("column_major", false),
                                  FLOAT("p", 2.0)};
static const spec resize_attrs[] = {STRING("mode", "nearest"),
                                    STRING("coordinates", "half_pixel"),
                                    STRING("nearest_mode", "round_prefer_floor"),
                                    INTS("axes"),
                                    STRING("keep_aspect_ratio_policy", "stretch"),
                                    BOOL("antialias", false),
                                    FLOAT("cubic_coeff_a", -0.75),
                                    BOOL("exclude_outside", false),
                                    FLOAT("extrapolation_value", 0.0)};

// ---------------------------------------------------------------------------------------------
// Boundary values and structure

#define ROW_INPUT                                                                     \
  ABOUT("a value that the caller provides"), OPERANDS(0, 0), RESULTS(1, 1), DECLARED, \
      ATTRS(data_attrs)
#define ROW_PARAM ABOUT("a weight"), OPERANDS(0, 0), RESULTS(1, 1), DECLARED, ATTRS(param_attrs)
#define ROW_CONSTANT \
  ABOUT("a fixed value"), OPERANDS(0, 0), RESULTS(1, 1), DECLARED, ATTRS(data_attrs)
#define ROW_ARGS ABOUT("the arguments of a region"), OPERANDS(0, 0), RESULTS(1, ANY), DECLARED
#define ROW_YIELD ABOUT("the results of a region"), OPERANDS(0, ANY), RESULTS(0, 0), DECLARED
#define ROW_IF                                                                               \
  ABOUT("runs the first region where the condition holds, else the second"), OPERANDS(1, 1), \
      RESULTS(0, ANY), INFERRED(stowi_graph_shape_if), .desc.region_count = 2,               \
                                                       .desc.region_kind = STOW_REGION_BRANCH
#define ROW_LOOP                                                                         \
  ABOUT("runs its region up to trip times while the condition holds"), OPERANDS(0, ANY), \
      RESULTS(0, ANY), INFERRED(stowi_graph_shape_loop),                                 \
      .desc.region_count = 1, .desc.region_kind = STOW_REGION_LOOP,                      \
      .desc.carry = {.first_operand = 2, .first_arg = 2, .first_yield = 1, .first_result = 0}
#define ROW_CUSTOM                                                                          \
  ABOUT("an operation that the executor finds by name"), OPERANDS(0, ANY), RESULTS(1, ANY), \
      DECLARED, ATTRS(custom_attrs), .desc.any_attrs = true
#define ROW_BLOCKS                                                                               \
  ABOUT("applies a function to blocks of rows, group by group"), OPERANDS(1, ANY),               \
      RESULTS(1, ANY), CHECKED(stowi_graph_shape_blocks), IN_PLACE(stowi_graph_in_place_blocks), \
      ATTRS(blocks_attrs)
#define ROW_STREAM                                                                      \
  ABOUT("applies a function to images, row by row"), OPERANDS(1, ANY), RESULTS(1, ANY), \
      INFERRED(stowi_graph_shape_stream), ATTRS(stream_attrs)

// ---------------------------------------------------------------------------------------------
// Layout

#define ROW_RESHAPE                                                                            \
  ABOUT("the same elements in the same order with other dims"), OPERANDS(1, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_reshape), VIEW(stowi_graph_view_reshape),                     \
      IN_PLACE(stowi_graph_in_place_reshape), FOLD(stowi_graph_fold_same), ATTRS(reshape_attrs)
#define ROW_CAST                                                            \
  ABOUT("converts to another element type"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_cast), VIEW(stowi_graph_view_cast),        \
      IN_PLACE(stowi_graph_in_place_index_first), FOLD(stowi_graph_fold_cast), ATTRS(cast_attrs)
#define ROW_NARROW                                                               \
  ABOUT("len elements from start along an axis"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_narrow), VIEW(stowi_graph_view_narrow),         \
      IN_PLACE(stowi_graph_in_place_part), FOLD(stowi_graph_fold_narrow), ATTRS(narrow_attrs)
#define ROW_TRANSPOSE                                                             \
  ABOUT("permutes the dims"), OPERANDS(1, 1), RESULTS(1, 1),                      \
      INFERRED(stowi_graph_shape_transpose), VIEW(stowi_graph_view_transpose),    \
      IN_PLACE(stowi_graph_in_place_transpose), FOLD(stowi_graph_fold_transpose), \
      ATTRS(transpose_attrs)
#define ROW_EXPAND                                                               \
  ABOUT("repeats elements to broadcast dims"), OPERANDS(1, 2), RESULTS(1, 1),    \
      INFERRED(stowi_graph_shape_expand), IN_PLACE(stowi_graph_in_place_repeat), \
      FOLD(stowi_graph_fold_expand)
#define ROW_CONCAT                                                               \
  ABOUT("joins tensors along an axis"), OPERANDS(1, ANY), RESULTS(1, 1),         \
      INFERRED(stowi_graph_shape_concat), IN_PLACE(stowi_graph_in_place_concat), \
      FOLD(stowi_graph_fold_concat), ATTRS(axis_0_attrs)
#define ROW_SPLIT                                                          \
  ABOUT("splits a tensor along an axis"), OPERANDS(1, 2), RESULTS(1, ANY), \
      INFERRED(stowi_graph_shape_split), VIEW(stowi_graph_view_split),     \
      IN_PLACE(stowi_graph_in_place_part), FOLD(stowi_graph_fold_split), ATTRS(split_attrs)
#define ROW_GATHER                                                               \
  ABOUT("picks slices along an axis by index"), OPERANDS(2, 2), RESULTS(1, 1),   \
      INFERRED(stowi_graph_shape_gather), IN_PLACE(stowi_graph_in_place_gather), \
      FOLD(stowi_graph_fold_gather), ATTRS(axis_0_attrs)
#define ROW_KV_APPEND                                                                \
  ABOUT("writes new entries into a cache, in place"), OPERANDS(2, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_kv_append), VIEW(stowi_graph_view_kv_append),       \
      .desc.writes_view = true, ATTRS(kv_append_attrs)
#define ROW_PAD                                                                            \
  ABOUT("adds a border, or crops where a pad is negative"), OPERANDS(1, 4), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_pad), FOLD(stowi_graph_fold_pad), ATTRS(pad_attrs)

// ---------------------------------------------------------------------------------------------
// Elementwise

#define ROW_RELU UNARY("max(x, 0)"), FOLD(stowi_graph_fold_relu)
#define ROW_GELU                                                                         \
  ABOUT("x times the normal distribution function of x"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_gelu), IN_PLACE(stowi_graph_in_place_index), ATTRS(gelu_attrs)
#define ROW_SILU UNARY("x times sigmoid(alpha x)"), ATTRS(silu_attrs)
#define ROW_SIGMOID UNARY("1 / (1 + exp(-x))")
#define ROW_TANH UNARY("hyperbolic tangent")
#define ROW_EXP UNARY("e to the power x")
#define ROW_LOG UNARY("natural logarithm")
#define ROW_SQRT UNARY("square root"), FOLD(stowi_graph_fold_sqrt)
#define ROW_RSQRT UNARY("1 / sqrt(x)")
#define ROW_NEG UNARY("-x"), FOLD(stowi_graph_fold_neg)
#define ROW_ABS UNARY("absolute value"), FOLD(stowi_graph_fold_abs)
#define ROW_ERF UNARY("error function")
#define ROW_SIN UNARY("sine")
#define ROW_COS UNARY("cosine")
#define ROW_FLOOR UNARY("rounds down"), FOLD(stowi_graph_fold_floor)
#define ROW_CEIL UNARY("rounds up"), FOLD(stowi_graph_fold_ceil)
#define ROW_ROUND UNARY("rounds to the nearest, halves to even"), FOLD(stowi_graph_fold_round)
#define ROW_SIGN UNARY("-1, 0 or 1"), FOLD(stowi_graph_fold_sign)
#define ROW_RECIPROCAL UNARY("1 / x"), FOLD(stowi_graph_fold_reciprocal)
#define ROW_SOFTPLUS UNARY("log(1 + exp(x))")
#define ROW_LEAKY_RELU UNARY("x, or alpha x where x is negative"), ATTRS(leaky_relu_attrs)
#define ROW_ELU UNARY("x, or alpha (exp(x) - 1) where x is negative"), ATTRS(elu_attrs)
#define ROW_HARD_SWISH UNARY("x times clip(x / 6 + 1/2, 0, 1)")
#define ROW_HARD_SIGMOID UNARY("clip(alpha x + beta, 0, 1)"), ATTRS(hard_sigmoid_attrs)
#define ROW_NOT                                                                         \
  ABOUT("logical not"), OPERANDS(1, 1), RESULTS(1, 1), INFERRED(stowi_graph_shape_not), \
      IN_PLACE(stowi_graph_in_place_index), FOLD(stowi_graph_fold_not)

#define ROW_ADD BINARY("a + b"), FOLD(stowi_graph_fold_add)
#define ROW_SUB BINARY("a - b"), FOLD(stowi_graph_fold_sub)
#define ROW_MUL BINARY("a times b"), FOLD(stowi_graph_fold_mul)
#define ROW_DIV BINARY("a / b"), FOLD(stowi_graph_fold_div)
#define ROW_POW                                                                              \
  ABOUT("a to the power b"), OPERANDS(2, 2), RESULTS(1, 1), INFERRED(stowi_graph_shape_pow), \
      IN_PLACE(stowi_graph_in_place_index), FOLD(stowi_graph_fold_pow)
#define ROW_MOD                                                           \
  BINARY("remainder of a / b, with b's sign, or a's where fmod is true"), \
      FOLD(stowi_graph_fold_mod), ATTRS(mod_attrs)
#define ROW_MAX VARIADIC("the largest operand"), FOLD(stowi_graph_fold_max)
#define ROW_MIN VARIADIC("the smallest operand"), FOLD(stowi_graph_fold_min)
#define ROW_AND LOGICAL("logical or bitwise and"), FOLD(stowi_graph_fold_and)
#define ROW_OR LOGICAL("logical or bitwise or"), FOLD(stowi_graph_fold_or)
#define ROW_XOR LOGICAL("logical or bitwise exclusive or"), FOLD(stowi_graph_fold_xor)

#define ROW_EQ COMPARE("a = b"), FOLD(stowi_graph_fold_eq)
#define ROW_NE COMPARE("a != b"), FOLD(stowi_graph_fold_ne)
#define ROW_LT COMPARE("a < b"), FOLD(stowi_graph_fold_lt)
#define ROW_LE COMPARE("a <= b"), FOLD(stowi_graph_fold_le)
#define ROW_GT COMPARE("a > b"), FOLD(stowi_graph_fold_gt)
#define ROW_GE COMPARE("a >= b"), FOLD(stowi_graph_fold_ge)

#define ROW_WHERE                                                              \
  ABOUT("a where the condition holds, else b"), OPERANDS(3, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_where), IN_PLACE(stowi_graph_in_place_index), \
      FOLD(stowi_graph_fold_where)
#define ROW_CLIP                                                                    \
  ABOUT("x within optional bounds"), OPERANDS(1, 3), RESULTS(1, 1),                 \
      INFERRED(stowi_graph_shape_clip), IN_PLACE(stowi_graph_in_place_index_first), \
      FOLD(stowi_graph_fold_clip), ATTRS(clip_attrs)
#define ROW_ROPE                                                                               \
  ABOUT("rotary position embedding of x by cosines and sines"), OPERANDS(3, 4), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_rope), IN_PLACE(stowi_graph_in_place_rows), ATTRS(rope_attrs)

// ---------------------------------------------------------------------------------------------
// Row-wise and reducing

#define ROW_SOFTMAX                                                                    \
  ABOUT("exponentials that add up to 1 along an axis"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_softmax), IN_PLACE(stowi_graph_in_place_rows),        \
      ATTRS(softmax_attrs)
#define ROW_LAYER_NORM                                                                         \
  ABOUT("mean 0 and variance 1 over the dims from an axis on"), OPERANDS(1, 3), RESULTS(1, 3), \
      INFERRED(stowi_graph_shape_layer_norm), IN_PLACE(stowi_graph_in_place_rows),             \
      ATTRS(norm_attrs)
#define ROW_LAYER_NORM_2D                                                            \
  ABOUT("mean 0 and variance 1 over the channels of each position"), OPERANDS(1, 3), \
      RESULTS(1, 1), INFERRED(stowi_graph_shape_channel_norm),                       \
      IN_PLACE(stowi_graph_in_place_rows), ATTRS(channel_norm_attrs)
#define ROW_RMS_NORM                                                                   \
  ABOUT("mean square 1 over the dims from an axis on"), OPERANDS(1, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_rms_norm), IN_PLACE(stowi_graph_in_place_rows), ATTRS(norm_attrs)
#define ROW_BATCH_NORM                                                                    \
  ABOUT("scales each channel by given mean and variance"), OPERANDS(5, 5), RESULTS(1, 5), \
      INFERRED(stowi_graph_shape_batch_norm), IN_PLACE(stowi_graph_in_place_rows),        \
      ATTRS(batch_norm_attrs)
#define ROW_GROUP_NORM                                                                   \
  ABOUT("mean 0 and variance 1 over groups of channels"), OPERANDS(1, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_group_norm), IN_PLACE(stowi_graph_in_place_rows),       \
      ATTRS(group_norm_attrs)
#define ROW_REDUCE                                                          \
  ABOUT("sum, mean, max, norm … over axes"), OPERANDS(1, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_reduce), FOLD(stowi_graph_fold_reduce), ATTRS(reduce_attrs)
#define ROW_ARGMAX                                                                    \
  ABOUT("index of the largest element along an axis"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_argmax), FOLD(stowi_graph_fold_argmax), ATTRS(argmax_attrs)
#define ROW_TOPK                                                                                   \
  ABOUT("the k largest elements along an axis, and their indices"), OPERANDS(1, 2), RESULTS(2, 2), \
      INFERRED(stowi_graph_shape_topk), FOLD(stowi_graph_fold_topk), ATTRS(topk_attrs)

// ---------------------------------------------------------------------------------------------
// Contractions and windows

#define ROW_MATMUL                                                                   \
  ABOUT("matrix product, batched over leading dims"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_matmul)
#define ROW_ATTENTION                                                                  \
  ABOUT("softmax(scale q k^T + mask) v"), OPERANDS(3, 7), RESULTS(1, 4),               \
      INFERRED(stowi_graph_shape_attention), IN_PLACE(stowi_graph_in_place_attention), \
      ATTRS(attention_attrs)
#define ROW_CONV                                                                         \
  ABOUT("convolution"), OPERANDS(2, 3), RESULTS(1, 1), INFERRED(stowi_graph_shape_conv), \
      ATTRS(conv_attrs)
#define ROW_CONV_TRANSPOSE                                        \
  ABOUT("transposed convolution"), OPERANDS(2, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_conv_transpose), ATTRS(conv_transpose_attrs)
#define ROW_POOL                                                                                  \
  ABOUT("largest, average or norm of each window, and the index of the largest"), OPERANDS(1, 1), \
      RESULTS(1, 2), INFERRED(stowi_graph_shape_pool), ATTRS(pool_attrs)
#define ROW_RESIZE                                                                    \
  ABOUT("samples at given scales or sizes, or at the declared size"), OPERANDS(1, 4), \
      RESULTS(1, 1), INFERRED(stowi_graph_shape_resize), ATTRS(resize_attrs)
#define ROW_DEQUANT_MATMUL                                                         \
  ABOUT("product with packed weights"), OPERANDS(2, ANY), RESULTS(1, 1), DECLARED, \
      .desc.any_attrs = true
#define ROW_DEQUANT_GROUPED_MATMUL                                                          \
  ABOUT("product with packed weights, by groups of rows"), OPERANDS(2, ANY), RESULTS(1, 1), \
      DECLARED, .desc.any_attrs = true

#endif  // STOWAGE_SRC_GRAPH_ROWS_CORE_H_

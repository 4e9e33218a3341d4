// Rows of attention variants and fused ops.
#ifndef STOWAGE_SRC_GRAPH_ROWS_ATTENTION_H_
#define STOWAGE_SRC_GRAPH_ROWS_ATTENTION_H_

#include "graph/rows/rows.h"
#include "graph/shapes/shapes.h"

#define FUSED_EPSILON FLOAT("epsilon", 1e-12)

static const spec flex_attention_attrs[] = {STRING("layout", "bhsd"), INT("heads", 0),
                                            INT("kv_heads", 0), FLOAT("scale", 0.0),
                                            STRING("softmax_dtype", "")};
static const spec linear_attention_attrs[] = {REQUIRED_INT("heads"), REQUIRED_INT("kv_heads"),
                                              STRING("rule", "gated_delta"), FLOAT("scale", 0.0),
                                              INT("chunk", 64)};
static const spec causal_conv_attrs[] = {STRING("activation", "none")};
static const spec multi_head_attrs[] = {REQUIRED_INT("heads"), FLOAT("scale", 0.0),
                                        BOOL("causal", false), FLOAT("mask_value", -10000.0),
                                        BOOL("share_past", false)};
static const spec group_query_attrs[] = {
    REQUIRED_INT("heads"),     REQUIRED_INT("kv_heads"),   FLOAT("scale", 0.0),
    BOOL("causal", true),      FLOAT("softcap", 0.0),      INT("window", -1),
    BOOL("rotary", false),     BOOL("interleaved", false), BOOL("smooth_softmax", false),
    INT("scores", 0),          BOOL("share_past", false),  FLOAT("norm_epsilon", 1e-6),
    STRING("k_quant", "none"), STRING("v_quant", "none"),  INT("cache_bits", 0)};
static const spec qkv_attention_attrs[] = {
    REQUIRED_INT("heads"),         INTS("sizes"),
    FLOAT("scale", 0.0),           BOOL("causal", false),
    BOOL("rotary", false),         INT("rotary_dim", 0),
    FLOAT("mask_value", -10000.0), BOOL("share_past", false)};

static const spec skip_norm_attrs[] = {STRING("op", "layer"), FUSED_EPSILON};
static const spec skip_group_norm_attrs[] = {
    REQUIRED_INT("groups"), EPSILON, STRING("activation", "none"), BOOL("channels_last", false)};
static const spec embed_norm_attrs[] = {FUSED_EPSILON, BOOL("counts_mask", false)};
static const spec gather_quantized_attrs[] = {INT("axis", 0), INT("quantize_axis", 1),
                                              INT("block", 128), INT("bits", 4)};
static const spec crop_and_resize_attrs[] = {STRING("mode", "bilinear"), FLOAT("outside", 0.0)};
static const spec crop_attrs[] = {REQUIRED("border", STOW_ATTR_INTS), INTS("size")};
static const spec cdist_attrs[] = {STRING("metric", "sqeuclidean")};
static const spec relative_position_attrs[] = {REQUIRED_INT("max_distance"),
                                               BOOL("bidirectional", false)};
static const spec affine_attrs[] = {FLOAT("alpha", 1.0), FLOAT("beta", 0.0)};
static const spec scaled_attrs[] = {FLOAT("alpha", 1.0), FLOAT("beta", 1.0)};
static const spec image_scale_attrs[] = {FLOAT("scale", 1.0)};

// ---------------------------------------------------------------------------------------------
// Attention variants

#define ROW_FLEX_ATTENTION                                                                   \
  ABOUT("attention without masks and caches, softmax in its own precision"), OPERANDS(3, 3), \
      RESULTS(1, 1), INFERRED(stowi_graph_shape_attention),                                  \
      IN_PLACE(stowi_graph_in_place_attention), ATTRS(flex_attention_attrs)
#define ROW_LINEAR_ATTENTION                                                               \
  ABOUT("attention as a recurrence over a state per head"), OPERANDS(3, 6), RESULTS(2, 2), \
      INFERRED(stowi_graph_shape_linear_attention),                                        \
      IN_PLACE(stowi_graph_in_place_linear_attention), ATTRS(linear_attention_attrs)
#define ROW_CAUSAL_CONV                                                       \
  ABOUT("causal convolution of each channel"), OPERANDS(2, 4), RESULTS(2, 2), \
      INFERRED(stowi_graph_shape_causal_conv), ATTRS(causal_conv_attrs)
#define ROW_MULTI_HEAD_ATTENTION                                                            \
  ABOUT("attention with biases and a cache, heads packed"), OPERANDS(1, 11), RESULTS(1, 4), \
      INFERRED(stowi_graph_shape_multi_head_attention),                                     \
      IN_PLACE(stowi_graph_in_place_multi_head_attention), ATTRS(multi_head_attrs)
#define ROW_GROUP_QUERY_ATTENTION                                                        \
  ABOUT("causal attention with shared keys and values, rotary embedding and a cache"),   \
      OPERANDS(1, 16), RESULTS(1, 4), INFERRED(stowi_graph_shape_group_query_attention), \
      IN_PLACE(stowi_graph_in_place_group_query_attention), ATTRS(group_query_attrs)
#define ROW_QKV_ATTENTION                                                                      \
  ABOUT("projection to q, k and v, then attention"), OPERANDS(2, 13), RESULTS(1, 2),           \
      INFERRED(stowi_graph_shape_qkv_attention), IN_PLACE(stowi_graph_in_place_qkv_attention), \
      ATTRS(qkv_attention_attrs)

// ---------------------------------------------------------------------------------------------
// Fused ops

#define ROW_SKIP_NORM                                                                  \
  ABOUT("normalisation of x + skip + bias"), OPERANDS(2, 5), RESULTS(1, 4),            \
      INFERRED(stowi_graph_shape_skip_norm), IN_PLACE(stowi_graph_in_place_skip_norm), \
      ATTRS(skip_norm_attrs)
#define ROW_SKIP_GROUP_NORM                                                                        \
  ABOUT("group norm of x + skip + bias"), OPERANDS(1, 5), RESULTS(1, 2),                           \
      INFERRED(stowi_graph_shape_skip_group_norm), IN_PLACE(stowi_graph_in_place_skip_group_norm), \
      ATTRS(skip_group_norm_attrs)
#define ROW_EMBED_NORM                                                               \
  ABOUT("normalised sum of word, position and segment embeddings"), OPERANDS(1, 19), \
      RESULTS(1, 3), INFERRED(stowi_graph_shape_embed_norm), ATTRS(embed_norm_attrs)
#define ROW_SPLIT_GELU                                                                  \
  ABOUT("one half of x + bias times gelu of the other"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_split_gelu), IN_PLACE(stowi_graph_in_place_split_gelu)
#define ROW_GATHER_QUANTIZED                                                               \
  ABOUT("gather from a table that is quantized in blocks"), OPERANDS(3, 4), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_gather_quantized), ATTRS(gather_quantized_attrs)
#define ROW_CROP_AND_RESIZE                                           \
  ABOUT("regions of images, resized"), OPERANDS(4, 4), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_crop_and_resize), ATTRS(crop_and_resize_attrs)
#define ROW_CROP                                                       \
  ABOUT("an image without its border"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_crop), IN_PLACE(stowi_graph_in_place_crop), ATTRS(crop_attrs)
#define ROW_CDIST                                                         \
  ABOUT("distances of all pairs of rows"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_cdist), ATTRS(cdist_attrs)
#define ROW_RELATIVE_POSITION_BIAS                                                        \
  ABOUT("a table's entry for each distance of positions"), OPERANDS(3, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_relative_position_bias), ATTRS(relative_position_attrs)
#define ROW_MIXTURE_OF_EXPERTS                                                     \
  ABOUT("feed-forward layers chosen row by row"), OPERANDS(2, ANY), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_same), .desc.any_attrs = true
#define ROW_INVERSE \
  ABOUT("inverse of each matrix"), OPERANDS(1, 1), RESULTS(1, 1), INFERRED(stowi_graph_shape_same)
#define ROW_AFFINE UNARY("alpha x + beta"), ATTRS(affine_attrs)
#define ROW_SCALED_TANH UNARY("alpha tanh(beta x)"), ATTRS(scaled_attrs)
#define ROW_PARAMETRIC_SOFTPLUS UNARY("alpha log(1 + exp(beta x))"), ATTRS(scaled_attrs)
#define ROW_SCALE_IMAGE \
  UNARY("scale x, plus a bias per channel"), ATTRS(image_scale_attrs), .desc.any_attrs = true

#endif  // STOWAGE_SRC_GRAPH_ROWS_ATTENTION_H_

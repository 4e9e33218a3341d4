// Rows of attention's relatives, signal, random and classical ML ops, and of fused ops.
#ifndef STOWAGE_SRC_GRAPH_ROWS_MISC_H_
#define STOWAGE_SRC_GRAPH_ROWS_MISC_H_

#include "graph/rows/rows.h"
#include "graph/shapes/shapes_misc.h"

#define SEED FLOAT("seed", 0.0)
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

static const spec dft_attrs[] = {INT("axis", -2), BOOL("inverse", false), BOOL("onesided", false)};
static const spec rfft_attrs[] = {BOOL("inverse", false), BOOL("onesided", true),
                                  BOOL("normalized", false), INT("signal_dims", 1)};
static const spec stft_attrs[] = {BOOL("onesided", true)};
static const spec window_attrs[] = {REQUIRED("kind", STOW_ATTR_STRING), BOOL("periodic", true),
                                    STRING("dtype", "f32")};
static const spec mel_weights_attrs[] = {STRING("dtype", "f32")};
static const spec decode_image_attrs[] = {STRING("format", "rgb")};

static const spec random_normal_attrs[] = {INTS("shape"), STRING("dtype", ""), FLOAT("mean", 0.0),
                                           FLOAT("scale", 1.0), SEED};
static const spec random_uniform_attrs[] = {INTS("shape"), STRING("dtype", ""), FLOAT("low", 0.0),
                                            FLOAT("high", 1.0), SEED};
static const spec bernoulli_attrs[] = {STRING("dtype", ""), SEED};
static const spec multinomial_attrs[] = {INT("samples", 1), STRING("dtype", "i32"), SEED};

static const spec classifier_attrs[] = {REQUIRED("kind", STOW_ATTR_STRING),
                                        REQUIRED_INT("columns")};
static const spec regressor_attrs[] = {REQUIRED("kind", STOW_ATTR_STRING), REQUIRED_INT("targets")};
static const spec tree_ensemble_attrs[] = {REQUIRED_INT("targets")};
static const spec label_encode_attrs[] = {STRING("dtype", "")};
static const spec encode_categories_attrs[] = {REQUIRED("categories", STOW_ATTR_INTS),
                                               BOOL("zeros", true)};
static const spec binarize_attrs[] = {FLOAT("threshold", 0.0)};
static const spec normalize_rows_attrs[] = {STRING("norm", "max")};
static const spec join_features_attrs[] = {INTS("sizes")};
static const spec tfidf_attrs[] = {REQUIRED_INT("columns")};

// ---------------------------------------------------------------------------------------------
// Attention's relatives

#define ROW_FLEX_ATTENTION                                                                        \
  ABOUT("attention without masks and caches, softmax in a precision of its own"), OPERANDS(3, 3), \
      RESULTS(1, 1), INFERRED(stowi_shape_attention), OVER(stowi_over_attention),                 \
      ATTRS(flex_attention_attrs)
#define ROW_LINEAR_ATTENTION                                                               \
  ABOUT("attention as a recurrence over a state per head"), OPERANDS(3, 6), RESULTS(2, 2), \
      INFERRED(stowi_shape_linear_attention), OVER(stowi_over_linear_attention),           \
      ATTRS(linear_attention_attrs)
#define ROW_CAUSAL_CONV                                                                         \
  ABOUT("convolution of each channel with what came before it"), OPERANDS(2, 4), RESULTS(2, 2), \
      INFERRED(stowi_shape_causal_conv), ATTRS(causal_conv_attrs)
#define ROW_MULTI_HEAD_ATTENTION                                                            \
  ABOUT("attention with biases and a cache, heads packed"), OPERANDS(1, 11), RESULTS(1, 4), \
      INFERRED(stowi_shape_multi_head_attention), OVER(stowi_over_multi_head_attention),    \
      ATTRS(multi_head_attrs)
#define ROW_GROUP_QUERY_ATTENTION                                                      \
  ABOUT("causal attention with shared keys and values, rotary embedding and a cache"), \
      OPERANDS(1, 16), RESULTS(1, 4), INFERRED(stowi_shape_group_query_attention),     \
      OVER(stowi_over_group_query_attention), ATTRS(group_query_attrs)
#define ROW_QKV_ATTENTION                                                            \
  ABOUT("projection to q, k and v, then attention"), OPERANDS(2, 13), RESULTS(1, 2), \
      INFERRED(stowi_shape_qkv_attention), OVER(stowi_over_qkv_attention),           \
      ATTRS(qkv_attention_attrs)

// ---------------------------------------------------------------------------------------------
// Fused and rare

#define ROW_SKIP_NORM                                                       \
  ABOUT("normalisation of x + skip + bias"), OPERANDS(2, 5), RESULTS(1, 4), \
      INFERRED(stowi_shape_skip_norm), OVER(stowi_over_skip_norm), ATTRS(skip_norm_attrs)
#define ROW_SKIP_GROUP_NORM                                                    \
  ABOUT("group norm of x + skip + bias"), OPERANDS(1, 5), RESULTS(1, 2),       \
      INFERRED(stowi_shape_skip_group_norm), OVER(stowi_over_skip_group_norm), \
      ATTRS(skip_group_norm_attrs)
#define ROW_EMBED_NORM                                                               \
  ABOUT("normalised sum of word, position and segment embeddings"), OPERANDS(1, 19), \
      RESULTS(1, 3), INFERRED(stowi_shape_embed_norm), ATTRS(embed_norm_attrs)
#define ROW_SPLIT_GELU                                                                  \
  ABOUT("one half of x + bias times gelu of the other"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_shape_split_gelu), OVER(stowi_over_split_gelu)
#define ROW_GATHER_QUANTIZED                                                               \
  ABOUT("gather from a table that is quantized in blocks"), OPERANDS(3, 4), RESULTS(1, 1), \
      INFERRED(stowi_shape_gather_quantized), ATTRS(gather_quantized_attrs)
#define ROW_CROP_AND_RESIZE                                           \
  ABOUT("regions of images, resized"), OPERANDS(4, 4), RESULTS(1, 1), \
      INFERRED(stowi_shape_crop_and_resize), ATTRS(crop_and_resize_attrs)
#define ROW_CROP                                                                                   \
  ABOUT("an image without its border"), OPERANDS(1, 1), RESULTS(1, 1), INFERRED(stowi_shape_crop), \
      OVER(stowi_over_crop), ATTRS(crop_attrs)
#define ROW_CDIST                                                         \
  ABOUT("distances of all pairs of rows"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_shape_cdist), ATTRS(cdist_attrs)
#define ROW_RELATIVE_POSITION_BIAS                                                        \
  ABOUT("a table's entry for each distance of positions"), OPERANDS(3, 3), RESULTS(1, 1), \
      INFERRED(stowi_shape_relative_position_bias), ATTRS(relative_position_attrs)
#define ROW_MIXTURE_OF_EXPERTS                                                     \
  ABOUT("feed-forward layers chosen row by row"), OPERANDS(2, ANY), RESULTS(1, 1), \
      INFERRED(stowi_shape_same), .desc.any_attrs = true
#define ROW_INVERSE \
  ABOUT("inverse of each matrix"), OPERANDS(1, 1), RESULTS(1, 1), INFERRED(stowi_shape_same)
#define ROW_AFFINE UNARY("alpha x + beta"), ATTRS(affine_attrs)
#define ROW_SCALED_TANH UNARY("alpha tanh(beta x)"), ATTRS(scaled_attrs)
#define ROW_PARAMETRIC_SOFTPLUS UNARY("alpha log(1 + exp(beta x))"), ATTRS(scaled_attrs)
#define ROW_SCALE_IMAGE \
  UNARY("scale x, plus a bias per channel"), ATTRS(image_scale_attrs), .desc.any_attrs = true

// ---------------------------------------------------------------------------------------------
// Signals

#define ROW_DFT                                                                     \
  ABOUT("discrete Fourier transform along an axis"), OPERANDS(1, 3), RESULTS(1, 1), \
      INFERRED(stowi_shape_dft), ATTRS(dft_attrs)
#define ROW_RFFT                                                                          \
  ABOUT("Fourier transform of real numbers along the last dim, or back"), OPERANDS(1, 1), \
      RESULTS(1, 1), INFERRED(stowi_shape_rfft), ATTRS(rfft_attrs)
#define ROW_STFT                                                                    \
  ABOUT("Fourier transforms of overlapping frames"), OPERANDS(2, 4), RESULTS(1, 1), \
      INFERRED(stowi_shape_stft), ATTRS(stft_attrs)
#define ROW_WINDOW                                                      \
  ABOUT("weights of a frame's samples"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_window), ATTRS(window_attrs)
#define ROW_MEL_WEIGHTS                                                                \
  ABOUT("weights that turn a spectrum into mel bands"), OPERANDS(5, 5), RESULTS(1, 1), \
      INFERRED(stowi_shape_mel_weights), ATTRS(mel_weights_attrs)
#define ROW_DECODE_IMAGE                                           \
  ABOUT("pixels of an image file"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_decode_image), ATTRS(decode_image_attrs)

// ---------------------------------------------------------------------------------------------
// Random numbers

#define ROW_RANDOM_NORMAL                                                                \
  ABOUT("normally distributed numbers, as many as x has or shape says"), OPERANDS(0, 1), \
      RESULTS(1, 1), INFERRED(stowi_shape_random), OVER(stowi_over_index_first),         \
      ATTRS(random_normal_attrs)
#define ROW_RANDOM_UNIFORM                                                                \
  ABOUT("uniformly distributed numbers, as many as x has or shape says"), OPERANDS(0, 1), \
      RESULTS(1, 1), INFERRED(stowi_shape_random), OVER(stowi_over_index_first),          \
      ATTRS(random_uniform_attrs)
#define ROW_BERNOULLI                                                   \
  ABOUT("1 with probability x, else 0"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_bernoulli), OVER(stowi_over_index_first), ATTRS(bernoulli_attrs)
#define ROW_MULTINOMIAL                                                                           \
  ABOUT("classes drawn by the logarithms of their probabilities"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_multinomial), ATTRS(multinomial_attrs)

// ---------------------------------------------------------------------------------------------
// Classical machine learning. Attributes beyond the schema hold the model, under ONNX's names;
// tensors among them are operands.

#define ROW_CLASSIFIER                                                                            \
  ABOUT("label and scores of each row by a linear model, support vectors or trees"),              \
      OPERANDS(1, ANY), RESULTS(2, 2), INFERRED(stowi_shape_classifier), ATTRS(classifier_attrs), \
      .desc.any_attrs = true
#define ROW_REGRESSOR                                                                         \
  ABOUT("targets of each row by a linear model, support vectors or trees"), OPERANDS(1, ANY), \
      RESULTS(1, 1), INFERRED(stowi_shape_regressor), ATTRS(regressor_attrs),                 \
      .desc.any_attrs = true
#define ROW_TREE_ENSEMBLE                                                 \
  ABOUT("targets of each row by trees"), OPERANDS(1, ANY), RESULTS(1, 1), \
      INFERRED(stowi_shape_tree_ensemble), ATTRS(tree_ensemble_attrs), .desc.any_attrs = true
#define ROW_LABEL_ENCODE                                                                           \
  ABOUT("replaces each element by a table"), OPERANDS(1, ANY), RESULTS(1, 1),                      \
      INFERRED(stowi_shape_label_encode), OVER(stowi_over_index_first), ATTRS(label_encode_attrs), \
      .desc.any_attrs = true
#define ROW_ENCODE_CATEGORIES                                                  \
  ABOUT("a 1 at the category of each element"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_encode_categories), ATTRS(encode_categories_attrs)
#define ROW_BINARIZE UNARY("1 above the threshold, else 0"), ATTRS(binarize_attrs)
#define ROW_IMPUTE UNARY("replaces what is missing"), .desc.any_attrs = true
#define ROW_NORMALIZE_ROWS                                              \
  ABOUT("each row divided by its norm"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_as_float), OVER(stowi_over_ascending_rows), ATTRS(normalize_rows_attrs)
#define ROW_SCALE_FEATURES                                               \
  ABOUT("(x - offset) scale, by column"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_as_float), OVER(stowi_over_index_first), .desc.any_attrs = true
#define ROW_PICK_FEATURES \
  ABOUT("columns by index"), OPERANDS(2, 2), RESULTS(1, 1), INFERRED(stowi_shape_pick_features)
#define ROW_JOIN_FEATURES                                                   \
  ABOUT("tables side by side, as floats"), OPERANDS(1, ANY), RESULTS(1, 1), \
      INFERRED(stowi_shape_join_features), ATTRS(join_features_attrs)
#define ROW_TFIDF                                                                     \
  ABOUT("weights of the n-grams that each row holds"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_shape_tfidf), ATTRS(tfidf_attrs), .desc.any_attrs = true

#endif  // STOWAGE_SRC_GRAPH_ROWS_MISC_H_

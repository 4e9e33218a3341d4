// Rows of further windows, geometry, quantised tensors and recurrent layers.
#ifndef STOWAGE_SRC_GRAPH_ROWS_NN_H_
#define STOWAGE_SRC_GRAPH_ROWS_NN_H_

#include "graph/rows/core.h"
#include "graph/shapes/shapes.h"

#define LIST_OF(text, list_kind)        \
  {                                     \
    .value = { NAMED(text, list_kind) } \
  }
#define FLOAT_LIST(text) LIST_OF(text, STOW_ATTR_FLOATS)
#define STRING_LIST(text) LIST_OF(text, STOW_ATTR_STRINGS)

// ---------------------------------------------------------------------------------------------
// Windows

static const spec qlinear_conv_attrs[] = {WINDOW_ATTRS, INT("group", 1), INTS("kernel"),
                                          BOOL("channels_last", false)};
static const spec deform_conv_attrs[] = {INTS("strides"), INTS("pads"),   INTS("dilations"),
                                         INT("group", 1), INTS("kernel"), INT("offset_group", 1)};
static const spec fused_conv_attrs[] = {WINDOW_ATTRS, INT("group", 1), INTS("kernel"),
                                        STRING("activation", ""), FLOAT_LIST("activation_params")};
static const spec max_unpool_attrs[] = {INTS("kernel"), INTS("strides"), INTS("pads")};
static const spec qlinear_pool_attrs[] = {WINDOW_ATTRS,
                                          INTS("kernel"),
                                          BOOL("ceil_mode", false),
                                          BOOL("count_include_pad", false),
                                          BOOL("global", false),
                                          BOOL("channels_last", false)};

#define ROW_CONV_INTEGER                                                             \
  ABOUT("convolution of integers, with sums in i32"), OPERANDS(2, 4), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_conv_integer), ATTRS(conv_attrs)
#define ROW_QLINEAR_CONV                                                    \
  ABOUT("convolution of quantised tensors"), OPERANDS(8, 9), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_qlinear_conv), ATTRS(qlinear_conv_attrs)
#define ROW_DEFORM_CONV                                                               \
  ABOUT("convolution at positions that offsets move"), OPERANDS(3, 5), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_deform_conv), ATTRS(deform_conv_attrs)
#define ROW_FUSED_CONV                                                                   \
  ABOUT("convolution, an addend and an activation"), OPERANDS(2, 4), RESULTS(1, 1),      \
      INFERRED(stowi_graph_shape_fused_conv), IN_PLACE(stowi_graph_in_place_fused_conv), \
      ATTRS(fused_conv_attrs)
#define ROW_MAX_UNPOOL                                                                     \
  ABOUT("puts a max pool's results back at their indices"), OPERANDS(2, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_max_unpool), ATTRS(max_unpool_attrs)
#define ROW_QLINEAR_POOL                                                                \
  ABOUT("average of each window of a quantised tensor"), OPERANDS(2, 5), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_qlinear_pool), ATTRS(qlinear_pool_attrs)

// ---------------------------------------------------------------------------------------------
// Geometry

static const spec col2im_attrs[] = {INTS("strides"), INTS("pads"), INTS("dilations")};
static const spec grid_sample_attrs[] = {STRING("mode", "linear"), STRING("padding_mode", "zeros"),
                                         BOOL("align_corners", false)};
static const spec affine_grid_attrs[] = {BOOL("align_corners", false)};
static const spec max_roi_pool_attrs[] = {REQUIRED("pooled_shape", STOW_ATTR_INTS),
                                          FLOAT("spatial_scale", 1.0)};
static const spec roi_align_attrs[] = {
    STRING("mode", "avg"),    STRING("coordinates", "half_pixel"),
    INT("output_height", 1),  INT("output_width", 1),
    INT("sampling_ratio", 0), FLOAT("spatial_scale", 1.0)};
static const spec non_max_suppression_attrs[] = {BOOL("center_point_box", false)};

#define ROW_COL2IM                                                               \
  ABOUT("adds up columns of blocks to an image"), OPERANDS(3, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_col2im), ATTRS(col2im_attrs)
#define ROW_GRID_SAMPLE                                                       \
  ABOUT("samples at the positions of a grid"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_grid_sample), ATTRS(grid_sample_attrs)
#define ROW_AFFINE_GRID                                                                  \
  ABOUT("a grid of positions, moved by affine matrices"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_affine_grid), ATTRS(affine_grid_attrs)
#define ROW_MAX_ROI_POOL                                                               \
  ABOUT("largest in each cell of regions of interest"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_max_roi_pool), ATTRS(max_roi_pool_attrs)
#define ROW_ROI_ALIGN                                                               \
  ABOUT("samples each cell of regions of interest"), OPERANDS(3, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_roi_align), ATTRS(roi_align_attrs)
#define ROW_NON_MAX_SUPPRESSION                                                        \
  ABOUT("the best boxes that do not overlap much: batch, class, box"), OPERANDS(2, 5), \
      RESULTS(1, 1), INFERRED(stowi_graph_shape_non_max_suppression),                  \
      ATTRS(non_max_suppression_attrs)

// ---------------------------------------------------------------------------------------------
// Quantised tensors

static const spec quantize_linear_attrs[] = {INT("axis", 1), INT("block_size", 0),
                                             STRING("dtype", ""), BOOL("saturate", true),
                                             STRING("precision", "")};
static const spec dequantize_linear_attrs[] = {INT("axis", 1), INT("block_size", 0),
                                               STRING("dtype", "")};
static const spec qlinear_concat_attrs[] = {REQUIRED_INT("axis")};
static const spec qlinear_softmax_attrs[] = {INT("axis", -1), INT("opset", 13)};

#define ROW_QUANTIZE_LINEAR                                                                    \
  ABOUT("x / scale + zero point, rounded and clamped"), OPERANDS(2, 3), RESULTS(1, 1),         \
      INFERRED(stowi_graph_shape_quantize_linear), IN_PLACE(stowi_graph_in_place_index_first), \
      ATTRS(quantize_linear_attrs)
#define ROW_DEQUANTIZE_LINEAR                                                                    \
  ABOUT("(x - zero point) times scale"), OPERANDS(2, 3), RESULTS(1, 1),                          \
      INFERRED(stowi_graph_shape_dequantize_linear), IN_PLACE(stowi_graph_in_place_index_first), \
      ATTRS(dequantize_linear_attrs)
#define ROW_DYNAMIC_QUANTIZE_LINEAR                                                            \
  ABOUT("x as u8, with the scale and zero point found for it"), OPERANDS(1, 1), RESULTS(3, 3), \
      INFERRED(stowi_graph_shape_dynamic_quantize_linear),                                     \
      IN_PLACE(stowi_graph_in_place_ascending_rows)
#define ROW_QLINEAR_ADD                                             \
  ABOUT("sum of quantised tensors"), OPERANDS(2, 8), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_qlinear_binary), IN_PLACE(stowi_graph_in_place_qlinear_binary)
#define ROW_QLINEAR_MUL                                                 \
  ABOUT("product of quantised tensors"), OPERANDS(2, 8), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_qlinear_binary), IN_PLACE(stowi_graph_in_place_qlinear_binary)
#define ROW_QLINEAR_SIGMOID                                                        \
  ABOUT("1 / (1 + exp(-x)) of a quantised tensor"), OPERANDS(2, 5), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_qlinear_unary), IN_PLACE(stowi_graph_in_place_index_first)
#define ROW_QLINEAR_LEAKY_RELU                                                       \
  ABOUT("x, or alpha x where x is negative, of a quantised tensor"), OPERANDS(2, 5), \
      RESULTS(1, 1), INFERRED(stowi_graph_shape_qlinear_unary),                      \
      IN_PLACE(stowi_graph_in_place_index_first), ATTRS(leaky_relu_attrs)
#define ROW_QLINEAR_SOFTMAX                                                             \
  ABOUT("softmax of a quantised tensor"), OPERANDS(2, 5), RESULTS(1, 1),                \
      INFERRED(stowi_graph_shape_qlinear_softmax), IN_PLACE(stowi_graph_in_place_rows), \
      ATTRS(qlinear_softmax_attrs)
#define ROW_QLINEAR_CONCAT                                                         \
  ABOUT("joins quantised tensors along an axis"), OPERANDS(5, ANY), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_qlinear_concat), ATTRS(qlinear_concat_attrs)

// ---------------------------------------------------------------------------------------------
// Matrix products

static const spec fused_matmul_attrs[] = {FLOAT("alpha", 1.0), BOOL("trans_a", false),
                                          BOOL("trans_b", false), BOOL("trans_batch_a", false),
                                          BOOL("trans_batch_b", false)};
static const spec fused_gemm_attrs[] = {
    FLOAT("alpha", 1.0),           FLOAT("beta", 1.0),
    BOOL("trans_a", false),        BOOL("trans_b", false),
    STRING("activation", ""),      FLOAT("activation_alpha", 0.0),
    FLOAT("activation_beta", 0.0), FLOAT("activation_gamma", 0.0)};
static const spec qgemm_attrs[] = {FLOAT("alpha", 1.0), BOOL("trans_a", false),
                                   BOOL("trans_b", false)};
static const spec matmul_nbits_attrs[] = {REQUIRED_INT("rows"),       REQUIRED_INT("columns"),
                                          REQUIRED_INT("block_size"), INT("bits", 4),
                                          INT("accuracy_level", 0),   INT("weight_prepacked", 0)};

#define ROW_FUSED_MATMUL                                                                 \
  ABOUT("alpha times the product of transposed factors"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_fused_matmul), ATTRS(fused_matmul_attrs)
#define ROW_FUSED_GEMM                                                                \
  ABOUT("activation(alpha a b + beta c) of matrices"), OPERANDS(2, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_fused_gemm), IN_PLACE(stowi_graph_in_place_gemm),    \
      ATTRS(fused_gemm_attrs)
#define ROW_QGEMM                                                              \
  ABOUT("alpha a b + c of quantised matrices"), OPERANDS(6, 9), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_qgemm), IN_PLACE(stowi_graph_in_place_qgemm), ATTRS(qgemm_attrs)
#define ROW_DYNAMIC_QUANTIZE_MATMUL                                                    \
  ABOUT("product with quantised weights; quantises the other factor"), OPERANDS(3, 5), \
      RESULTS(1, 1), INFERRED(stowi_graph_shape_dynamic_quantize_matmul)
#define ROW_MATMUL_INTEGER_TO_FLOAT                                                \
  ABOUT("product of quantised tensors, as floats"), OPERANDS(4, 7), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_matmul_integer_to_float)
#define ROW_MATMUL_NBITS                                                                     \
  ABOUT("product with weights packed by blocks of few bits"), OPERANDS(3, 6), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_matmul_nbits), ATTRS(matmul_nbits_attrs)

// ---------------------------------------------------------------------------------------------
// Recurrent layers

#define RECURRENT_ATTRS                                                                          \
  STRING("direction", "forward"), INT("hidden_size", 0), BOOL("batch_first", false),             \
      STRING_LIST("activations"), FLOAT_LIST("activation_alpha"), FLOAT_LIST("activation_beta"), \
      FLOAT("clip", 0.0)
static const spec rnn_attrs[] = {RECURRENT_ATTRS};
static const spec gru_attrs[] = {RECURRENT_ATTRS, BOOL("linear_before_reset", false)};
static const spec lstm_attrs[] = {RECURRENT_ATTRS, BOOL("input_forget", false)};

#define ROW_LSTM                                                                  \
  ABOUT("long short-term memory over a sequence"), OPERANDS(3, 8), RESULTS(1, 3), \
      INFERRED(stowi_graph_shape_lstm), ATTRS(lstm_attrs)
#define ROW_GRU                                                                  \
  ABOUT("gated recurrent units over a sequence"), OPERANDS(3, 6), RESULTS(1, 2), \
      INFERRED(stowi_graph_shape_gru), ATTRS(gru_attrs)
#define ROW_RNN                                                              \
  ABOUT("a recurrent layer over a sequence"), OPERANDS(3, 6), RESULTS(1, 2), \
      INFERRED(stowi_graph_shape_rnn), ATTRS(rnn_attrs)
#define ROW_DYNAMIC_QUANTIZE_LSTM                                       \
  ABOUT("lstm with quantised weights"), OPERANDS(3, 12), RESULTS(1, 3), \
      INFERRED(stowi_graph_shape_dynamic_quantize_lstm), ATTRS(lstm_attrs)

#endif  // STOWAGE_SRC_GRAPH_ROWS_NN_H_

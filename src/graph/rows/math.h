// Rows of further mathematical ops: elementwise, normalisation, reduction, matrices, losses and
// training steps.
#ifndef STOWAGE_SRC_GRAPH_ROWS_MATH_H_
#define STOWAGE_SRC_GRAPH_ROWS_MATH_H_

#include "graph/rows/rows.h"

static const spec selu_attrs[] = {FLOAT("alpha", 1.67326319217681884765625),
                                  FLOAT("gamma", 1.05070102214813232421875)};
static const spec alpha_attrs[] = {FLOAT("alpha", 1.0)};
static const spec shrink_attrs[] = {FLOAT("bias", 0.0), FLOAT("lambd", 0.5)};
static const spec is_inf_attrs[] = {BOOL("detect_negative", true), BOOL("detect_positive", true)};
static const spec full_like_attrs[] = {FLOAT("value", 0.0), STRING("dtype", "")};
static const spec dropout_attrs[] = {FLOAT("ratio", 0.5), INT("seed", 0)};
static const spec bit_shift_attrs[] = {REQUIRED("direction", STOW_ATTR_STRING)};

static const spec flat_attrs[] = {INT("axis", -1), BOOL("flatten", false)};
static const spec lp_norm_attrs[] = {INT("axis", -1), INT("p", 2)};
static const spec lrn_attrs[] = {REQUIRED_INT("size"), FLOAT("alpha", 1e-4), FLOAT("beta", 0.75),
                                 FLOAT("bias", 1.0)};
static const spec mean_variance_attrs[] = {REQUIRED("axes", STOW_ATTR_INTS)};
static const spec instance_norm_attrs[] = {EPSILON};
static const spec argmin_attrs[] = {INT("axis", 0), BOOL("keepdims", true),
                                    BOOL("select_last_index", false)};

static const spec gemm_attrs[] = {FLOAT("alpha", 1.0), FLOAT("beta", 1.0), BOOL("trans_a", false),
                                  BOOL("trans_b", false)};
static const spec einsum_attrs[] = {REQUIRED("equation", STOW_ATTR_STRING)};

static const spec loss_attrs[] = {STRING("reduction", "mean"), INT("ignore_index", -1)};
static const spec adagrad_attrs[] = {FLOAT("decay_factor", 0.0), FLOAT("epsilon", 1e-6),
                                     FLOAT("norm_coefficient", 0.0)};
static const spec adam_attrs[] = {FLOAT("alpha", 0.9), FLOAT("beta", 0.999), FLOAT("epsilon", 1e-6),
                                  FLOAT("norm_coefficient", 0.0),
                                  FLOAT("norm_coefficient_post", 0.0)};
static const spec momentum_attrs[] = {
    REQUIRED("alpha", STOW_ATTR_FLOAT), REQUIRED("beta", STOW_ATTR_FLOAT),
    REQUIRED("norm_coefficient", STOW_ATTR_FLOAT), REQUIRED("mode", STOW_ATTR_STRING)};

// ---------------------------------------------------------------------------------------------
// Elementwise

#define ROW_ACOS UNARY("inverse cosine")
#define ROW_ACOSH UNARY("inverse hyperbolic cosine")
#define ROW_ASIN UNARY("inverse sine")
#define ROW_ASINH UNARY("inverse hyperbolic sine")
#define ROW_ATAN UNARY("inverse tangent")
#define ROW_ATANH UNARY("inverse hyperbolic tangent")
#define ROW_COSH UNARY("hyperbolic cosine")
#define ROW_SINH UNARY("hyperbolic sine")
#define ROW_TAN UNARY("tangent")
#define ROW_SOFTSIGN UNARY("x / (1 + |x|)")
#define ROW_MISH UNARY("x times tanh(softplus(x))")
#define ROW_SELU UNARY("gamma x, or gamma alpha (exp(x) - 1) where x <= 0"), ATTRS(selu_attrs)
#define ROW_CELU UNARY("max(x, 0) + min(alpha (exp(x / alpha) - 1), 0)"), ATTRS(alpha_attrs)
#define ROW_THRESHOLDED_RELU UNARY("x, or 0 where x <= alpha"), ATTRS(alpha_attrs)
#define ROW_SHRINK UNARY("x moved by bias towards 0, and 0 within lambd of 0"), ATTRS(shrink_attrs)
#define ROW_IS_NAN                                                                  \
  ABOUT("x is NaN"), OPERANDS(1, 1), RESULTS(1, 1), INFERRED(stowi_graph_shape_is), \
      IN_PLACE(stowi_graph_in_place_index)
#define ROW_IS_INF                                                                       \
  ABOUT("x is infinite"), OPERANDS(1, 1), RESULTS(1, 1), INFERRED(stowi_graph_shape_is), \
      IN_PLACE(stowi_graph_in_place_index), ATTRS(is_inf_attrs)
#define ROW_BIT_NOT                                                                         \
  ABOUT("bitwise not"), OPERANDS(1, 1), RESULTS(1, 1), INFERRED(stowi_graph_shape_bit_not), \
      IN_PLACE(stowi_graph_in_place_index)
#define ROW_FULL_LIKE                                                                    \
  ABOUT("one value everywhere, in x's dims"), OPERANDS(1, 1), RESULTS(1, 1),             \
      INFERRED(stowi_graph_shape_full_like), IN_PLACE(stowi_graph_in_place_index_first), \
      ATTRS(full_like_attrs)
#define ROW_DROPOUT                                                                        \
  ABOUT("x with elements dropped at random while training, and the mask"), OPERANDS(1, 3), \
      RESULTS(1, 2), INFERRED(stowi_graph_shape_dropout),                                  \
      IN_PLACE(stowi_graph_in_place_index_first), ATTRS(dropout_attrs)

#define ROW_BIT_SHIFT                                                              \
  ABOUT("a shifted by b bits"), OPERANDS(2, 2), RESULTS(1, 1),                     \
      INFERRED(stowi_graph_shape_bit_shift), IN_PLACE(stowi_graph_in_place_index), \
      ATTRS(bit_shift_attrs)
#define ROW_PRELU                                                            \
  ABOUT("x, or slope x where x is negative"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_prelu), IN_PLACE(stowi_graph_in_place_index)
#define ROW_SWIGLU BINARY("a times sigmoid(alpha a) times b"), ATTRS(alpha_attrs)
#define ROW_SUM VARIADIC("sum of all operands"), FOLD(stowi_graph_fold_add)
#define ROW_MEAN VARIADIC("mean of all operands"), FOLD(stowi_graph_fold_mean)

// ---------------------------------------------------------------------------------------------
// Row-wise and reducing

#define ROW_LOG_SOFTMAX                                                       \
  ABOUT("logarithm of softmax along an axis"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_softmax), IN_PLACE(stowi_graph_in_place_rows), ATTRS(flat_attrs)
#define ROW_HARDMAX                                                                            \
  ABOUT("1 at the first largest element along an axis, 0 elsewhere"), OPERANDS(1, 1),          \
      RESULTS(1, 1), INFERRED(stowi_graph_shape_softmax), IN_PLACE(stowi_graph_in_place_rows), \
      ATTRS(flat_attrs)
#define ROW_LP_NORM                                                                \
  ABOUT("p-norm 1 along an axis"), OPERANDS(1, 1), RESULTS(1, 1),                  \
      INFERRED(stowi_graph_shape_along_axis), IN_PLACE(stowi_graph_in_place_rows), \
      ATTRS(lp_norm_attrs)
#define ROW_LRN                                                                            \
  ABOUT("divides by the squares of neighbouring channels"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_lrn), ATTRS(lrn_attrs)
#define ROW_MEAN_VARIANCE_NORM                                                             \
  ABOUT("mean 0 and variance 1 over axes"), OPERANDS(1, 1), RESULTS(1, 1),                 \
      INFERRED(stowi_graph_shape_mean_variance_norm), IN_PLACE(stowi_graph_in_place_rows), \
      ATTRS(mean_variance_attrs)
#define ROW_INSTANCE_NORM                                                                         \
  ABOUT("mean 0 and variance 1 over each channel of each sample"), OPERANDS(1, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_channel_norm), IN_PLACE(stowi_graph_in_place_rows),              \
      ATTRS(instance_norm_attrs)
#define ROW_ARGMIN                                                                     \
  ABOUT("index of the smallest element along an axis"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_argmax), FOLD(stowi_graph_fold_argmin), ATTRS(argmin_attrs)

// ---------------------------------------------------------------------------------------------
// Contractions

#define ROW_GEMM                                                          \
  ABOUT("alpha a b + beta c of matrices"), OPERANDS(2, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_gemm), IN_PLACE(stowi_graph_in_place_gemm), ATTRS(gemm_attrs)
#define ROW_EINSUM                                                                \
  ABOUT("sum of products given by an equation"), OPERANDS(1, ANY), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_einsum), ATTRS(einsum_attrs)
#define ROW_DET \
  ABOUT("determinants"), OPERANDS(1, 1), RESULTS(1, 1), INFERRED(stowi_graph_shape_det)
#define ROW_MATMUL_INTEGER                                                                   \
  ABOUT("matrix product of integers less their zero points"), OPERANDS(2, 4), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_matmul_integer)
#define ROW_QLINEAR_MATMUL                                                                 \
  ABOUT("matrix product of quantised matrices, quantised"), OPERANDS(8, 8), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_qlinear_matmul)

// ---------------------------------------------------------------------------------------------
// Losses, and steps of training

#define ROW_NLL_LOSS                                                              \
  ABOUT("negative log likelihood of the targets"), OPERANDS(2, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_nll_loss), ATTRS(loss_attrs)
#define ROW_SOFTMAX_CROSS_ENTROPY                                                             \
  ABOUT("nll_loss of log_softmax over the classes, and that"), OPERANDS(2, 3), RESULTS(1, 2), \
      INFERRED(stowi_graph_shape_softmax_cross_entropy),                                      \
      IN_PLACE(stowi_graph_in_place_cross_entropy), ATTRS(loss_attrs)
#define ROW_ADAGRAD                                                                \
  ABOUT("one step of Adagrad"), OPERANDS(5, ANY), RESULTS(2, ANY),                 \
      INFERRED(stowi_graph_shape_adagrad), IN_PLACE(stowi_graph_in_place_adagrad), \
      ATTRS(adagrad_attrs)
#define ROW_ADAM                                                                                  \
  ABOUT("one step of Adam"), OPERANDS(6, ANY), RESULTS(3, ANY), INFERRED(stowi_graph_shape_adam), \
      IN_PLACE(stowi_graph_in_place_adam), ATTRS(adam_attrs)
#define ROW_MOMENTUM                                                                      \
  ABOUT("one step of gradient descent with momentum"), OPERANDS(5, ANY), RESULTS(2, ANY), \
      INFERRED(stowi_graph_shape_adagrad), IN_PLACE(stowi_graph_in_place_adagrad),        \
      ATTRS(momentum_attrs)

#endif  // STOWAGE_SRC_GRAPH_ROWS_MATH_H_

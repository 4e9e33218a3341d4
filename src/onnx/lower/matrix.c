// Lowering products of matrices, losses, and the steps of training of ai.onnx.preview.training.
#include "onnx/lower/rows.h"

static const stowi_onnx_attr_map gemm_attrs[] = {{"alpha", NULL, STOWI_ONNX_MAP_FLOAT},
                                                 {"beta", NULL, STOWI_ONNX_MAP_FLOAT},
                                                 {"transA", "trans_a", STOWI_ONNX_MAP_BOOL},
                                                 {"transB", "trans_b", STOWI_ONNX_MAP_BOOL},
                                                 {"broadcast", NULL, STOWI_ONNX_MAP_IGNORE}};
static const stowi_onnx_attr_map einsum_attrs[] = {{"equation", NULL, STOWI_ONNX_MAP_STRING}};
static const stowi_onnx_attr_map loss_attrs[] = {{"ignore_index", NULL, STOWI_ONNX_MAP_INT},
                                                 {"reduction", NULL, STOWI_ONNX_MAP_STRING}};
static const stowi_onnx_attr_map adagrad_attrs[] = {
    {"decay_factor", NULL, STOWI_ONNX_MAP_FLOAT},
    {"epsilon", NULL, STOWI_ONNX_MAP_FLOAT},
    {"norm_coefficient", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map adam_attrs[] = {
    {"alpha", NULL, STOWI_ONNX_MAP_FLOAT},
    {"beta", NULL, STOWI_ONNX_MAP_FLOAT},
    {"epsilon", NULL, STOWI_ONNX_MAP_FLOAT},
    {"norm_coefficient", NULL, STOWI_ONNX_MAP_FLOAT},
    {"norm_coefficient_post", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map momentum_attrs[] = {
    {"alpha", NULL, STOWI_ONNX_MAP_FLOAT},
    {"beta", NULL, STOWI_ONNX_MAP_FLOAT},
    {"norm_coefficient", NULL, STOWI_ONNX_MAP_FLOAT},
    {"mode", NULL, STOWI_ONNX_MAP_STRING}};

// ---------------------------------------------------------------------------------------------
// Rows

#define STEP(text, core, maps) \
  { TRAINING, (text), 1, STOW_OP_##core, LIST(maps), NULL }

static const stowi_onnx_lower_row rows[] = {
    PLAIN("MatMul", 1, MATMUL),
    PLAIN("MatMulInteger", 10, MATMUL_INTEGER),
    PLAIN("QLinearMatMul", 10, QLINEAR_MATMUL),
    PLAIN("Det", 11, DET),
    WITH("Gemm", 1, GEMM, gemm_attrs),
    WITH("Einsum", 12, EINSUM, einsum_attrs),
    WITH("NegativeLogLikelihoodLoss", 12, NLL_LOSS, loss_attrs),
    WITH("SoftmaxCrossEntropyLoss", 12, SOFTMAX_CROSS_ENTROPY, loss_attrs),
    STEP("Adagrad", ADAGRAD, adagrad_attrs),
    STEP("Adam", ADAM, adam_attrs),
    STEP("Momentum", MOMENTUM, momentum_attrs),
};

const stowi_onnx_lower_table stowi_onnx_lower_matrix_table = {LIST(rows)};

// Lowering quantised ops, matrix products that runtimes fuse, and recurrent layers. Nearly all are
// plain: names of attributes change, nothing else.
#include "onnx/lower/rows.h"

#define MAX_MAPS 8

// ---------------------------------------------------------------------------------------------
// Attributes

#define AXIS \
  { "axis", NULL, STOWI_ONNX_MAP_INT }
#define OUTPUT_DTYPE \
  { "output_dtype", "dtype", STOWI_ONNX_MAP_DTYPE }
#define BLOCK_SIZE \
  { "block_size", NULL, STOWI_ONNX_MAP_INT }
#define ALPHA \
  { "alpha", NULL, STOWI_ONNX_MAP_FLOAT }
#define TRANSPOSED \
  {"transA", "trans_a", STOWI_ONNX_MAP_BOOL}, { "transB", "trans_b", STOWI_ONNX_MAP_BOOL }

static const stowi_onnx_attr_map quantize_maps[] = {AXIS,
                                                    BLOCK_SIZE,
                                                    OUTPUT_DTYPE,
                                                    {"saturate", NULL, STOWI_ONNX_MAP_BOOL},
                                                    {"precision", NULL, STOWI_ONNX_MAP_DTYPE}};
static const stowi_onnx_attr_map dequantize_maps[] = {AXIS, BLOCK_SIZE, OUTPUT_DTYPE};
static const stowi_onnx_attr_map axis_maps[] = {AXIS};
static const stowi_onnx_attr_map softmax_maps[] = {AXIS, {"opset", NULL, STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map alpha_maps[] = {ALPHA};
static const stowi_onnx_attr_map qgemm_maps[] = {ALPHA, TRANSPOSED};
static const stowi_onnx_attr_map matmul_maps[] = {
    ALPHA,
    TRANSPOSED,
    {"transBatchA", "trans_batch_a", STOWI_ONNX_MAP_BOOL},
    {"transBatchB", "trans_batch_b", STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map gemm_maps[] = {ALPHA,
                                                TRANSPOSED,
                                                {"beta", NULL, STOWI_ONNX_MAP_FLOAT},
                                                {"activation", NULL, STOWI_ONNX_MAP_STRING},
                                                {"activation_alpha", NULL, STOWI_ONNX_MAP_FLOAT},
                                                {"activation_beta", NULL, STOWI_ONNX_MAP_FLOAT},
                                                {"activation_gamma", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map nbits_maps[] = {{"K", "rows", STOWI_ONNX_MAP_INT},
                                                 {"N", "columns", STOWI_ONNX_MAP_INT},
                                                 BLOCK_SIZE,
                                                 {"bits", NULL, STOWI_ONNX_MAP_INT},
                                                 {"accuracy_level", NULL, STOWI_ONNX_MAP_INT},
                                                 {"weight_prepacked", NULL, STOWI_ONNX_MAP_INT}};
// Opset 1 also asks whether all steps are wanted, which the named results say.
#define RECURRENT                                                                               \
  {"direction", NULL, STOWI_ONNX_MAP_WORD}, {"hidden_size", NULL, STOWI_ONNX_MAP_INT},          \
      {"layout", "batch_first", STOWI_ONNX_MAP_BOOL},                                           \
      {"activations", NULL, STOWI_ONNX_MAP_STRINGS},                                            \
      {"activation_alpha", NULL, STOWI_ONNX_MAP_FLOATS},                                        \
      {"activation_beta", NULL, STOWI_ONNX_MAP_FLOATS}, {"clip", NULL, STOWI_ONNX_MAP_FLOAT}, { \
    "output_sequence", NULL, STOWI_ONNX_MAP_IGNORE                                              \
  }
static const stowi_onnx_attr_map rnn_maps[] = {RECURRENT};
static const stowi_onnx_attr_map gru_maps[] = {RECURRENT,
                                               {"linear_before_reset", NULL, STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map lstm_maps[] = {RECURRENT,
                                                {"input_forget", NULL, STOWI_ONNX_MAP_BOOL}};

// ---------------------------------------------------------------------------------------------

// An element type of 0 is the same as none.
static stow_status lower_typed(stowi_onnx_lowering* l) {
  const stowi_onnx_lower_row* row = l->row;
  stowi_onnx_attr_map maps[MAX_MAPS];
  size_t count = row->attr_count < MAX_MAPS ? row->attr_count : MAX_MAPS;
  for (size_t i = 0; i < count; ++i) {
    maps[i] = row->attrs[i];
    if (maps[i].kind == STOWI_ONNX_MAP_DTYPE && stowi_onnx_lower_int(l, maps[i].onnx, 0) == 0) {
      maps[i].kind = STOWI_ONNX_MAP_IGNORE;
    }
  }
  return stowi_onnx_lower_plain(l, row->op, maps, count);
}

static const stowi_onnx_lower_row rows[] = {
    {"", "QuantizeLinear", 10, STOW_OP_QUANTIZE_LINEAR, LIST(quantize_maps), lower_typed},
    {"", "DequantizeLinear", 10, STOW_OP_DEQUANTIZE_LINEAR, LIST(dequantize_maps), lower_typed},
    {"", "DynamicQuantizeLinear", 11, STOW_OP_DYNAMIC_QUANTIZE_LINEAR, NULL, 0, NULL},
    {"", "LSTM", 1, STOW_OP_LSTM, LIST(lstm_maps), NULL},
    {"", "GRU", 1, STOW_OP_GRU, LIST(gru_maps), NULL},
    {"", "RNN", 1, STOW_OP_RNN, LIST(rnn_maps), NULL},
    {MICROSOFT, "QuantizeLinear", 1, STOW_OP_QUANTIZE_LINEAR, LIST(axis_maps), NULL},
    {MICROSOFT, "DequantizeLinear", 1, STOW_OP_DEQUANTIZE_LINEAR, LIST(axis_maps), NULL},
    {MICROSOFT, "DynamicQuantizeLSTM", 1, STOW_OP_DYNAMIC_QUANTIZE_LSTM, LIST(lstm_maps), NULL},
    {MICROSOFT, "QLinearAdd", 1, STOW_OP_QLINEAR_ADD, NULL, 0, NULL},
    {MICROSOFT, "QLinearMul", 1, STOW_OP_QLINEAR_MUL, NULL, 0, NULL},
    {MICROSOFT, "QLinearSigmoid", 1, STOW_OP_QLINEAR_SIGMOID, NULL, 0, NULL},
    {MICROSOFT, "QLinearLeakyRelu", 1, STOW_OP_QLINEAR_LEAKY_RELU, LIST(alpha_maps), NULL},
    {MICROSOFT, "QLinearSoftmax", 1, STOW_OP_QLINEAR_SOFTMAX, LIST(softmax_maps), NULL},
    {MICROSOFT, "QLinearConcat", 1, STOW_OP_QLINEAR_CONCAT, LIST(axis_maps), NULL},
    {MICROSOFT, "QGemm", 1, STOW_OP_QGEMM, LIST(qgemm_maps), NULL},
    {MICROSOFT, "DynamicQuantizeMatMul", 1, STOW_OP_DYNAMIC_QUANTIZE_MATMUL, NULL, 0, NULL},
    {MICROSOFT, "MatMulIntegerToFloat", 1, STOW_OP_MATMUL_INTEGER_TO_FLOAT, NULL, 0, NULL},
    {MICROSOFT, "MatMulNBits", 1, STOW_OP_MATMUL_NBITS, LIST(nbits_maps), NULL},
    {MICROSOFT, "FusedMatMul", 1, STOW_OP_FUSED_MATMUL, LIST(matmul_maps), NULL},
    {MICROSOFT, "TransposeMatMul", 1, STOW_OP_FUSED_MATMUL, LIST(qgemm_maps), NULL},
    {MICROSOFT, "FusedGemm", 1, STOW_OP_FUSED_GEMM, LIST(gemm_maps), NULL},
};

const stowi_onnx_lower_table stowi_onnx_lower_quant_table = {LIST(rows)};

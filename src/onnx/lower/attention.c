// Lowering attention and what takes its place. ONNX has heads before the sequence at rank 4 and
// packs them at rank 3; masks may be shorter than the keys since opset 24.
#include "onnx/import/importer.h"
#include "onnx/lower/rows.h"

static const stowi_onnx_attr_map attention_attrs[] = {
    {"q_num_heads", "heads", STOWI_ONNX_MAP_INT},
    {"kv_num_heads", "kv_heads", STOWI_ONNX_MAP_INT},
    {"scale", NULL, STOWI_ONNX_MAP_FLOAT},
    {"is_causal", "causal", STOWI_ONNX_MAP_BOOL},
    {"softcap", NULL, STOWI_ONNX_MAP_FLOAT},
    {"softmax_precision", "softmax_dtype", STOWI_ONNX_MAP_DTYPE},
    {"qk_matmul_output_mode", "scores", STOWI_ONNX_MAP_INT},
    {"left_window_size", "window_left", STOWI_ONNX_MAP_INT},
    {"right_window_size", "window_right", STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map flex_attrs[] = {
    {"scale", NULL, STOWI_ONNX_MAP_FLOAT},
    {"softmax_precision", "softmax_dtype", STOWI_ONNX_MAP_DTYPE}};
static const stowi_onnx_attr_map rotary_attrs[] = {
    {"interleaved", NULL, STOWI_ONNX_MAP_BOOL},
    {"num_heads", "heads", STOWI_ONNX_MAP_INT},
    {"rotary_embedding_dim", "rotary_dim", STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map linear_attrs[] = {{"q_num_heads", "heads", STOWI_ONNX_MAP_INT},
                                                   {"kv_num_heads", "kv_heads", STOWI_ONNX_MAP_INT},
                                                   {"update_rule", "rule", STOWI_ONNX_MAP_STRING},
                                                   {"scale", NULL, STOWI_ONNX_MAP_FLOAT},
                                                   {"chunk_size", "chunk", STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map causal_conv_attrs[] = {
    {"activation", NULL, STOWI_ONNX_MAP_STRING}};

// ---------------------------------------------------------------------------------------------
// Functions

static stow_status lower_attention(stowi_onnx_lowering* l) {
  const stowi_onnx_lower_row* row = l->row;
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_ATTENTION);
  stowi_onnx_lower_add_operands(l, call, 0);
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  stow_call_attr_string(call, "layout", stow_str_of("bhsd"));
  if (l->version >= 24) {
    stow_call_attr_bool(call, "pad_mask", true);
  }
  size_t count = l->result_count;
  return stowi_onnx_lower_finish_results(l, call, 0, count < 1 ? 1 : count > 4 ? 4 : count);
}

// What com.microsoft adds to the op is not supported: a window of states, other layouts.
static stow_status lower_stateful(stowi_onnx_lowering* l) {
  const stowi_onnx_lower_row* row = l->row;
  if (stowi_onnx_lower_int(l, "state_window", 0) != 0 ||
      stowi_onnx_lower_int(l, "channels_last", 0) != 0 ||
      stowi_onnx_lower_int(l, "dilation", 1) != 1 || stowi_onnx_lower_int(l, "ndim", 1) != 1) {
    return stowi_onnx_lower_unsupported(l, "only the form of the ONNX op is supported");
  }
  stow_call* call = stowi_onnx_lower_begin(l, row->op);
  stowi_onnx_lower_add_operands(l, call, 0);
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  return stowi_onnx_lower_finish_results(l, call, 0, 2);
}

// ---------------------------------------------------------------------------------------------
// Rows

static const stowi_onnx_lower_row rows[] = {
    {"", "Attention", 23, STOW_OP_ATTENTION, LIST(attention_attrs), lower_attention},
    {"ai.onnx.preview", "FlexAttention", 1, STOW_OP_FLEX_ATTENTION, LIST(flex_attrs),
     stowi_onnx_lower_flex_attention},
    {"", "RotaryEmbedding", 23, STOW_OP_ROPE, LIST(rotary_attrs), NULL},
    {"", "LinearAttention", 27, STOW_OP_LINEAR_ATTENTION, LIST(linear_attrs), NULL},
    {"", "CausalConvWithState", 27, STOW_OP_CAUSAL_CONV, LIST(causal_conv_attrs), NULL},
    {MICROSOFT, "LinearAttention", 1, STOW_OP_LINEAR_ATTENTION, LIST(linear_attrs), lower_stateful},
    {MICROSOFT, "CausalConvWithState", 1, STOW_OP_CAUSAL_CONV, LIST(causal_conv_attrs),
     lower_stateful},
};

const stowi_onnx_lower_table stowi_onnx_lower_attention_table = {LIST(rows)};

// Lowering ops of the domain com.microsoft, which ONNX Runtime's optimiser writes into models:
// fused attention, fused normalisations, fused activations. Core rows take the operands of the
// most common op of a family; the others have theirs in another order.
#include "base/diag.h"
#include "onnx/lower/rows.h"

#define ABSENT UINT8_MAX

// ---------------------------------------------------------------------------------------------
// Attributes

static const stowi_onnx_attr_map qkv_attrs[] = {
    {"num_heads", "heads", STOWI_ONNX_MAP_INT},
    {"qkv_hidden_sizes", "sizes", STOWI_ONNX_MAP_INTS},
    {"scale", NULL, STOWI_ONNX_MAP_FLOAT},
    {"unidirectional", "causal", STOWI_ONNX_MAP_BOOL},
    {"do_rotary", "rotary", STOWI_ONNX_MAP_BOOL},
    {"rotary_embedding_dim", "rotary_dim", STOWI_ONNX_MAP_INT},
    {"mask_filter_value", "mask_value", STOWI_ONNX_MAP_FLOAT},
    {"past_present_share_buffer", "share_past", STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map multi_head_attrs[] = {
    {"num_heads", "heads", STOWI_ONNX_MAP_INT},
    {"scale", NULL, STOWI_ONNX_MAP_FLOAT},
    {"unidirectional", "causal", STOWI_ONNX_MAP_BOOL},
    {"mask_filter_value", "mask_value", STOWI_ONNX_MAP_FLOAT},
    {"past_present_share_buffer", "share_past", STOWI_ONNX_MAP_BOOL},
    {"output_qk", NULL, STOWI_ONNX_MAP_IGNORE}};
static const stowi_onnx_attr_map group_query_attrs[] = {
    {"num_heads", "heads", STOWI_ONNX_MAP_INT},
    {"kv_num_heads", "kv_heads", STOWI_ONNX_MAP_INT},
    {"scale", NULL, STOWI_ONNX_MAP_FLOAT},
    {"causal", NULL, STOWI_ONNX_MAP_BOOL},
    {"softcap", NULL, STOWI_ONNX_MAP_FLOAT},
    {"local_window_size", "window", STOWI_ONNX_MAP_INT},
    {"do_rotary", "rotary", STOWI_ONNX_MAP_BOOL},
    {"rotary_interleaved", "interleaved", STOWI_ONNX_MAP_BOOL},
    {"qk_output", "scores", STOWI_ONNX_MAP_INT},
    {"sliding_window_cache", "share_past", STOWI_ONNX_MAP_BOOL},
    {"qk_norm_epsilon", "norm_epsilon", STOWI_ONNX_MAP_FLOAT},
    {"k_quant_type", "k_quant", STOWI_ONNX_MAP_WORD},
    {"v_quant_type", "v_quant", STOWI_ONNX_MAP_WORD},
    {"kv_cache_bit_width", "cache_bits", STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map rotary_attrs[] = {
    {"interleaved", NULL, STOWI_ONNX_MAP_BOOL},
    {"rotary_embedding_dim", "rotary_dim", STOWI_ONNX_MAP_INT},
    {"scale", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map epsilon_attrs[] = {{"epsilon", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map norm_attrs[] = {{"axis", NULL, STOWI_ONNX_MAP_INT},
                                                 {"epsilon", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map embed_attrs[] = {
    {"epsilon", NULL, STOWI_ONNX_MAP_FLOAT},
    {"mask_index_type", "counts_mask", STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map group_norm_attrs[] = {{"groups", NULL, STOWI_ONNX_MAP_INT},
                                                       {"epsilon", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map gather_attrs[] = {{"gather_axis", "axis", STOWI_ONNX_MAP_INT},
                                                   {"quantize_axis", NULL, STOWI_ONNX_MAP_INT},
                                                   {"block_size", "block", STOWI_ONNX_MAP_INT},
                                                   {"bits", NULL, STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map crop_attrs[] = {
    {"mode", NULL, STOWI_ONNX_MAP_STRING},
    {"extrapolation_value", "outside", STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map cdist_attrs[] = {{"metric", NULL, STOWI_ONNX_MAP_STRING}};
static const stowi_onnx_attr_map position_attrs[] = {
    {"max_distance", NULL, STOWI_ONNX_MAP_INT},
    {"is_bidirectional", "bidirectional", STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map fft_attrs[] = {{"onesided", NULL, STOWI_ONNX_MAP_BOOL},
                                                {"normalized", NULL, STOWI_ONNX_MAP_BOOL},
                                                {"signal_ndim", "signal_dims", STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map experts_attrs[] = {
    {"k", NULL, STOWI_ONNX_MAP_INT},
    {"activation_type", NULL, STOWI_ONNX_MAP_STRING},
    {"activation_alpha", NULL, STOWI_ONNX_MAP_FLOAT},
    {"activation_beta", NULL, STOWI_ONNX_MAP_FLOAT},
    {"normalize_routing_weights", NULL, STOWI_ONNX_MAP_BOOL},
    {"use_sparse_mixer", NULL, STOWI_ONNX_MAP_BOOL},
    {"swiglu_fusion", NULL, STOWI_ONNX_MAP_INT},
    {"swiglu_limit", NULL, STOWI_ONNX_MAP_FLOAT},
    {"expert_weight_bits", NULL, STOWI_ONNX_MAP_INT},
    {"fc1_expert_weight_bits", NULL, STOWI_ONNX_MAP_INT},
    {"fc2_expert_weight_bits", NULL, STOWI_ONNX_MAP_INT},
    {"fc3_expert_weight_bits", NULL, STOWI_ONNX_MAP_INT},
    {"block_size", NULL, STOWI_ONNX_MAP_INT},
    {"quant_type", NULL, STOWI_ONNX_MAP_STRING},
    {"accuracy_level", NULL, STOWI_ONNX_MAP_INT},
    {"weights_prepacked", NULL, STOWI_ONNX_MAP_INT}};

// ---------------------------------------------------------------------------------------------
// Operands in another order

// Adds operands |order|; those that the node lacks are absent.
static void add_ordered(stowi_onnx_lowering* l, stow_call* call, const uint8_t* order,
                        size_t count) {
  while (count > 0 && stowi_onnx_lower_operand(l, order[count - 1]) == STOW_VALUE_NONE) {
    --count;
  }
  for (size_t i = 0; i < count; ++i) {
    stow_call_operand(call, stowi_onnx_lower_operand(l, order[i]));
  }
}

// As many results as the file names, but at least one and at most |most|.
static stow_status finish_named(stowi_onnx_lowering* l, stow_call* call, size_t most) {
  size_t count = l->result_count;
  return stowi_onnx_lower_finish_results(l, call, 0, count < 1 ? 1 : count > most ? most : count);
}

static stow_status lower_ordered(stowi_onnx_lowering* l, const uint8_t* order, size_t count,
                                 size_t most_results) {
  const stowi_onnx_lower_row* row = l->row;
  stow_call* call = stowi_onnx_lower_begin(l, row->op);
  add_ordered(l, call, order, count);
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  return finish_named(l, call, most_results);
}

static stow_status lower_quantized_attention(stowi_onnx_lowering* l) {
  static const uint8_t order[] = {0, 1, 2, 5, 8, ABSENT, ABSENT, ABSENT, ABSENT, 3, 4, 6, 7};
  return lower_ordered(l, order, sizeof(order), 2);
}

static stow_status lower_decoder_attention(stowi_onnx_lowering* l) {
  static const uint8_t order[] = {0, 1, 2, 10, 3, 4, 5, 6, 7, 9, 8};
  return lower_ordered(l, order, sizeof(order), 4);
}

static stow_status lower_quantized_embedding(stowi_onnx_lowering* l) {
  static const uint8_t order[] = {0, 1,  2,  3,  4,  5,  6,  7,  ABSENT, 8,
                                  9, 10, 11, 12, 13, 14, 15, 16, 17};
  return lower_ordered(l, order, sizeof(order), 2);
}

// ---------------------------------------------------------------------------------------------
// Attention

// smooth_softmax is -1 where it is not asked for.
static stow_status lower_group_query(stowi_onnx_lowering* l) {
  const stowi_onnx_lower_row* row = l->row;
  stow_call* call = stowi_onnx_lower_begin(l, row->op);
  stowi_onnx_lower_add_operands(l, call, 0);
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  stow_call_attr_bool(call, "smooth_softmax", stowi_onnx_lower_int(l, "smooth_softmax", 0) > 0);
  return finish_named(l, call, 4);
}

// Heads of x [batch, sequence, heads × size]; where they are not given, the tables are for whole
// heads.
static int64_t rotary_heads(const stowi_onnx_lowering* l) {
  int64_t heads = stowi_onnx_lower_int(l, "num_heads", 0);
  const stow_type* x = stowi_onnx_lower_type(l, 0);
  const stow_type* table = stowi_onnx_lower_type(l, 2);
  if (heads != 0 || x == NULL || x->rank != 3 || table == NULL || table->rank == 0) {
    return heads;
  }
  stow_dim half = table->dims[table->rank - 1];
  stow_dim width = x->dims[2];
  bool is_known = stow_dim_is_const(width) && stow_dim_is_const(half) && half > 0;
  return is_known && width / 2 >= half ? width / 2 / half : 0;
}

static stow_status lower_rotary(stowi_onnx_lowering* l) {
  static const uint8_t order[] = {0, 2, 3, 1};
  const stowi_onnx_lower_row* row = l->row;
  stow_call* call = stowi_onnx_lower_begin(l, row->op);
  add_ordered(l, call, order, sizeof(order));
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  stow_call_attr_int(call, "heads", rotary_heads(l));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

// ---------------------------------------------------------------------------------------------
// Normalisations

static stow_status lower_skip_rms(stowi_onnx_lowering* l) {
  static const uint8_t order[] = {0, 1, 2, ABSENT, 3};
  const stowi_onnx_lower_row* row = l->row;
  stow_call* call = stowi_onnx_lower_begin(l, row->op);
  add_ordered(l, call, order, sizeof(order));
  stow_call_attr_string(call, "op", stow_str_of("rms"));
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  return finish_named(l, call, 4);
}

static stow_status lower_rms(stowi_onnx_lowering* l) {
  if (stowi_onnx_lower_wants(l, 1)) {
    return stowi_onnx_lower_unsupported(
        l, "the inverse deviation, a result for training, is not supported");
  }
  const stowi_onnx_lower_row* row = l->row;
  stow_call* call = stowi_onnx_lower_begin(l, row->op);
  stowi_onnx_lower_add_operands(l, call, 0);
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

static stow_status lower_group_norm(stowi_onnx_lowering* l) {
  const stowi_onnx_lower_row* row = l->row;
  bool has_silu = stowi_onnx_lower_int(l, "activation", 0) != 0;
  stow_call* call = stowi_onnx_lower_begin(l, row->op);
  stowi_onnx_lower_add_operands(l, call, 0);
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  stow_call_attr_bool(call, "channels_last", stowi_onnx_lower_int(l, "channels_last", 1) != 0);
  stow_call_attr_string(call, "activation", stow_str_of(has_silu ? "silu" : "none"));
  return finish_named(l, call, 2);
}

// ---------------------------------------------------------------------------------------------
// Activations and transforms

// Operand 0 plus operand |k|, which may be absent.
static stow_status add_bias(stowi_onnx_lowering* l, size_t k, stow_value* out_value) {
  *out_value = stowi_onnx_lower_operand(l, 0);
  if (stowi_onnx_lower_operand(l, k) == STOW_VALUE_NONE) {
    return STOW_OK;
  }
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_ADD);
  stow_call_operand(call, *out_value);
  stow_call_operand(call, stowi_onnx_lower_operand(l, k));
  return stowi_onnx_lower_finish(l, call, out_value);
}

static stow_status lower_gelu(stowi_onnx_lowering* l, const char* approximate) {
  stow_value sum;
  STOW_TRY(add_bias(l, 1, &sum));
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_GELU);
  stow_call_operand(call, sum);
  stow_call_attr_string(call, "approximate", stow_str_of(approximate));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

static stow_status lower_exact_gelu(stowi_onnx_lowering* l) { return lower_gelu(l, "none"); }
static stow_status lower_fast_gelu(stowi_onnx_lowering* l) { return lower_gelu(l, "tanh"); }

// x sigmoid(alpha x)
static stow_status lower_quick_gelu(stowi_onnx_lowering* l) {
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_SILU);
  stow_call_operand(call, stowi_onnx_lower_operand(l, 0));
  stow_call_attr_float(call, "alpha", stowi_onnx_lower_float(l, "alpha", 1.702));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

static stow_status lower_bias_add(stowi_onnx_lowering* l) {
  stow_value sum;
  STOW_TRY(add_bias(l, 1, &sum));
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_ADD);
  stow_call_operand(call, sum);
  stow_call_operand(call, stowi_onnx_lower_operand(l, 2));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

static stow_status lower_inverse_fft(stowi_onnx_lowering* l) {
  const stowi_onnx_lower_row* row = l->row;
  stow_call* call = stowi_onnx_lower_begin(l, row->op);
  stowi_onnx_lower_add_operands(l, call, 0);
  stow_call_attr_bool(call, "inverse", true);
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

// ---------------------------------------------------------------------------------------------
// Rows

static const stowi_onnx_attr_map trilu_attrs[] = {{"upper", NULL, STOWI_ONNX_MAP_BOOL}};

static const stowi_onnx_lower_row rows[] = {
    {MICROSOFT, "Attention", 1, STOW_OP_QKV_ATTENTION, LIST(qkv_attrs), NULL},
    {MICROSOFT, "DecoderMaskedSelfAttention", 1, STOW_OP_QKV_ATTENTION, LIST(qkv_attrs), NULL},
    {MICROSOFT, "QAttention", 1, STOW_OP_QKV_ATTENTION, LIST(qkv_attrs), lower_quantized_attention},
    {MICROSOFT, "MultiHeadAttention", 1, STOW_OP_MULTI_HEAD_ATTENTION, LIST(multi_head_attrs),
     NULL},
    {MICROSOFT, "DecoderMaskedMultiHeadAttention", 1, STOW_OP_MULTI_HEAD_ATTENTION,
     LIST(multi_head_attrs), lower_decoder_attention},
    {MICROSOFT, "GroupQueryAttention", 1, STOW_OP_GROUP_QUERY_ATTENTION, LIST(group_query_attrs),
     lower_group_query},
    {MICROSOFT, "RotaryEmbedding", 1, STOW_OP_ROPE, LIST(rotary_attrs), lower_rotary},
    {MICROSOFT, "SkipLayerNormalization", 1, STOW_OP_SKIP_NORM, LIST(epsilon_attrs), NULL},
    {MICROSOFT, "SkipSimplifiedLayerNormalization", 1, STOW_OP_SKIP_NORM, LIST(epsilon_attrs),
     lower_skip_rms},
    {MICROSOFT, "SimplifiedLayerNormalization", 1, STOW_OP_RMS_NORM, LIST(norm_attrs), lower_rms},
    {"", "SimplifiedLayerNormalization", 1, STOW_OP_RMS_NORM, LIST(norm_attrs), lower_rms},
    {MICROSOFT, "EmbedLayerNormalization", 1, STOW_OP_EMBED_NORM, LIST(embed_attrs), NULL},
    {MICROSOFT, "QEmbedLayerNormalization", 1, STOW_OP_EMBED_NORM, LIST(embed_attrs),
     lower_quantized_embedding},
    {MICROSOFT, "GroupNorm", 1, STOW_OP_SKIP_GROUP_NORM, LIST(group_norm_attrs), lower_group_norm},
    {MICROSOFT, "SkipGroupNorm", 1, STOW_OP_SKIP_GROUP_NORM, LIST(group_norm_attrs),
     lower_group_norm},
    {MICROSOFT, "BiasGelu", 1, STOW_OP_GELU, NULL, 0, lower_exact_gelu},
    {MICROSOFT, "Gelu", 1, STOW_OP_GELU, NULL, 0, lower_exact_gelu},
    {MICROSOFT, "FastGelu", 1, STOW_OP_GELU, NULL, 0, lower_fast_gelu},
    {MICROSOFT, "QuickGelu", 1, STOW_OP_SILU, NULL, 0, lower_quick_gelu},
    {MICROSOFT, "BiasAdd", 1, STOW_OP_ADD, NULL, 0, lower_bias_add},
    {MICROSOFT, "BiasSplitGelu", 1, STOW_OP_SPLIT_GELU, NULL, 0, NULL},
    {MICROSOFT, "GatherBlockQuantized", 1, STOW_OP_GATHER_QUANTIZED, LIST(gather_attrs), NULL},
    {MICROSOFT, "CropAndResize", 1, STOW_OP_CROP_AND_RESIZE, LIST(crop_attrs), NULL},
    {MICROSOFT, "CDist", 1, STOW_OP_CDIST, LIST(cdist_attrs), NULL},
    {MICROSOFT, "RelativePositionBias", 1, STOW_OP_RELATIVE_POSITION_BIAS, LIST(position_attrs),
     NULL},
    {MICROSOFT, "MoE", 1, STOW_OP_MIXTURE_OF_EXPERTS, LIST(experts_attrs), NULL},
    {MICROSOFT, "QMoE", 1, STOW_OP_MIXTURE_OF_EXPERTS, LIST(experts_attrs), NULL},
    // ONNX ops in another domain.
    {MICROSOFT, "ExpandDims", 1, STOW_OP_UNSQUEEZE, NULL, 0, NULL},
    {MICROSOFT, "GatherND", 1, STOW_OP_GATHER_ND, NULL, 0, NULL},
    {MICROSOFT, "Range", 1, STOW_OP_RANGE, NULL, 0, NULL},
    {MICROSOFT, "Trilu", 1, STOW_OP_TRILU, LIST(trilu_attrs), NULL},
    {MICROSOFT, "Inverse", 1, STOW_OP_INVERSE, NULL, 0, NULL},
    {MICROSOFT, "Rfft", 1, STOW_OP_RFFT, LIST(fft_attrs), NULL},
    {MICROSOFT, "Irfft", 1, STOW_OP_RFFT, LIST(fft_attrs), lower_inverse_fft},
};

const stowi_onnx_lower_table stowi_onnx_lower_microsoft_table = {LIST(rows)};

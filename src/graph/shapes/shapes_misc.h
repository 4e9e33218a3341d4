// Shape functions of attention, signal, random and classical ML ops, named after them, and what
// they share.
#ifndef STOWAGE_SRC_GRAPH_SHAPES_SHAPES_MISC_H_
#define STOWAGE_SRC_GRAPH_SHAPES_SHAPES_MISC_H_

#include "graph/shapes/shapes.h"

// attention.c
stow_status stowi_shape_linear_attention(stow_shape_call* call);
stow_status stowi_shape_causal_conv(stow_shape_call* call);

// heads.c
stow_status stowi_shape_multi_head_attention(stow_shape_call* call);
stow_status stowi_shape_group_query_attention(stow_shape_call* call);
stow_status stowi_shape_qkv_attention(stow_shape_call* call);

// fused.c
stow_status stowi_shape_skip_norm(stow_shape_call* call);
stow_status stowi_shape_skip_group_norm(stow_shape_call* call);
stow_status stowi_shape_embed_norm(stow_shape_call* call);
stow_status stowi_shape_split_gelu(stow_shape_call* call);
stow_status stowi_shape_gather_quantized(stow_shape_call* call);
stow_status stowi_shape_crop_and_resize(stow_shape_call* call);
stow_status stowi_shape_crop(stow_shape_call* call);
stow_status stowi_shape_cdist(stow_shape_call* call);
stow_status stowi_shape_relative_position_bias(stow_shape_call* call);

// signal.c
stow_status stowi_shape_dft(stow_shape_call* call);
stow_status stowi_shape_rfft(stow_shape_call* call);
stow_status stowi_shape_stft(stow_shape_call* call);
stow_status stowi_shape_window(stow_shape_call* call);
stow_status stowi_shape_mel_weights(stow_shape_call* call);
stow_status stowi_shape_decode_image(stow_shape_call* call);

// random.c
stow_status stowi_shape_random(stow_shape_call* call);
stow_status stowi_shape_bernoulli(stow_shape_call* call);
stow_status stowi_shape_multinomial(stow_shape_call* call);

// ml.c
stow_status stowi_shape_classifier(stow_shape_call* call);
stow_status stowi_shape_regressor(stow_shape_call* call);
stow_status stowi_shape_tree_ensemble(stow_shape_call* call);
stow_status stowi_shape_as_float(stow_shape_call* call);  // x's dims, f32
stow_status stowi_shape_label_encode(stow_shape_call* call);
stow_status stowi_shape_encode_categories(stow_shape_call* call);
stow_status stowi_shape_pick_features(stow_shape_call* call);
stow_status stowi_shape_join_features(stow_shape_call* call);
stow_status stowi_shape_tfidf(stow_shape_call* call);

// ---------------------------------------------------------------------------------------------
// Helpers: misc.c. Those that return a status have failed the call where it is not STOW_OK.

// Fails where two dims can never be the same: "batches of q and k differ: 1 and 2".
stow_status stowi_need_equal(stow_shape_call* call, const char* what, stow_dim a, stow_dim b);
// Fails where operand |k| is absent or has another rank.
stow_status stowi_need_rank(stow_shape_call* call, size_t k, uint32_t rank, const char* what);
// The int attribute |name|, which must be 1 or more.
stow_status stowi_need_positive(stow_shape_call* call, const char* name, int64_t* out_number);
// |dim| of operand |k| cut into |count| equal parts; |count| is 1 or more.
stow_status stowi_need_parts(stow_shape_call* call, size_t k, uint32_t axis, int64_t count,
                             const char* what, stow_dim* out_part);
// Fails where operand |k| (which may be absent) is not one integer. |out_value| is
// STOW_DIM_INVALID where it is not known.
stow_status stowi_known_scalar(stow_shape_call* call, size_t k, const char* what,
                               stow_dim* out_value);

#endif  // STOWAGE_SRC_GRAPH_SHAPES_SHAPES_MISC_H_

// In-place functions of op rows, and the query with and without the check of sizes. Dims are
// numbers there.
#ifndef STOWAGE_SRC_GRAPH_SHAPES_IN_PLACE_H_
#define STOWAGE_SRC_GRAPH_SHAPES_IN_PLACE_H_

#include <stowage/graph.h>

// Element by element
stow_over stowi_over_index(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_index_first(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_gather(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_qlinear_binary(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_adagrad(const stow_shape_call* call, size_t k, size_t operand);  // momentum
stow_over stowi_over_adam(const stow_shape_call* call, size_t k, size_t operand);

// Row by row
stow_over stowi_over_rows(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_ascending_rows(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_skip_norm(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_skip_group_norm(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_cross_entropy(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_split_gelu(const stow_shape_call* call, size_t k, size_t operand);

// Products
stow_over stowi_over_gemm(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_fused_conv(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_qgemm(const stow_shape_call* call, size_t k, size_t operand);

// Attention
stow_over stowi_over_attention(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_multi_head_attention(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_group_query_attention(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_qkv_attention(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_linear_attention(const stow_shape_call* call, size_t k, size_t operand);

// Copies
stow_over stowi_over_reshape(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_repeat(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_transpose(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_part(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_crop(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_slice(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_concat(const stow_shape_call* call, size_t k, size_t operand);
stow_over stowi_over_scatter(const stow_shape_call* call, size_t k, size_t operand);

#endif  // STOWAGE_SRC_GRAPH_SHAPES_IN_PLACE_H_

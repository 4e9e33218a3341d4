// In-place functions of op rows, and the query with and without the check of sizes. Dims are
// numbers there.
#ifndef STOWAGE_SRC_GRAPH_SHAPES_IN_PLACE_H_
#define STOWAGE_SRC_GRAPH_SHAPES_IN_PLACE_H_

#include <stowage/graph.h>

// Element by element
stow_in_place stowi_graph_in_place_index(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_index_first(const stow_shape_call* call, size_t k,
                                               size_t operand);
stow_in_place stowi_graph_in_place_gather(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_qlinear_binary(const stow_shape_call* call, size_t k,
                                                  size_t operand);
stow_in_place stowi_graph_in_place_adagrad(const stow_shape_call* call, size_t k,
                                           size_t operand);  // momentum
stow_in_place stowi_graph_in_place_adam(const stow_shape_call* call, size_t k, size_t operand);

// Row by row
stow_in_place stowi_graph_in_place_rows(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_ascending_rows(const stow_shape_call* call, size_t k,
                                                  size_t operand);
stow_in_place stowi_graph_in_place_skip_norm(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_skip_group_norm(const stow_shape_call* call, size_t k,
                                                   size_t operand);
stow_in_place stowi_graph_in_place_cross_entropy(const stow_shape_call* call, size_t k,
                                                 size_t operand);
stow_in_place stowi_graph_in_place_split_gelu(const stow_shape_call* call, size_t k,
                                              size_t operand);

// Products
stow_in_place stowi_graph_in_place_gemm(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_fused_conv(const stow_shape_call* call, size_t k,
                                              size_t operand);
stow_in_place stowi_graph_in_place_qgemm(const stow_shape_call* call, size_t k, size_t operand);

// Attention
stow_in_place stowi_graph_in_place_attention(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_multi_head_attention(const stow_shape_call* call, size_t k,
                                                        size_t operand);
stow_in_place stowi_graph_in_place_group_query_attention(const stow_shape_call* call, size_t k,
                                                         size_t operand);
stow_in_place stowi_graph_in_place_qkv_attention(const stow_shape_call* call, size_t k,
                                                 size_t operand);
stow_in_place stowi_graph_in_place_linear_attention(const stow_shape_call* call, size_t k,
                                                    size_t operand);

// Copies
stow_in_place stowi_graph_in_place_reshape(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_repeat(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_transpose(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_part(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_crop(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_slice(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_blocks(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_concat(const stow_shape_call* call, size_t k, size_t operand);
stow_in_place stowi_graph_in_place_scatter(const stow_shape_call* call, size_t k, size_t operand);

#endif  // STOWAGE_SRC_GRAPH_SHAPES_IN_PLACE_H_

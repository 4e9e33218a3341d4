// Shape functions of windows, quantisation, recurrence and geometry, named after the ops.
#ifndef STOWAGE_SRC_GRAPH_SHAPES_SHAPES_NN_H_
#define STOWAGE_SRC_GRAPH_SHAPES_SHAPES_NN_H_

#include "graph/shapes/shapes.h"

// window.c; conv, conv_transpose and pool stand in shapes.h
stow_status stowi_shape_fused_conv(stow_shape_call* call);
stow_status stowi_shape_conv_integer(stow_shape_call* call);
stow_status stowi_shape_qlinear_conv(stow_shape_call* call);
stow_status stowi_shape_deform_conv(stow_shape_call* call);
stow_status stowi_shape_qlinear_pool(stow_shape_call* call);
stow_status stowi_shape_max_unpool(stow_shape_call* call);

// geometry.c
stow_status stowi_shape_col2im(stow_shape_call* call);
stow_status stowi_shape_grid_sample(stow_shape_call* call);
stow_status stowi_shape_affine_grid(stow_shape_call* call);
stow_status stowi_shape_max_roi_pool(stow_shape_call* call);
stow_status stowi_shape_roi_align(stow_shape_call* call);
stow_status stowi_shape_non_max_suppression(stow_shape_call* call);

// quant.c
stow_status stowi_shape_quantize_linear(stow_shape_call* call);
stow_status stowi_shape_dequantize_linear(stow_shape_call* call);
stow_status stowi_shape_dynamic_quantize_linear(stow_shape_call* call);
stow_status stowi_shape_qlinear_unary(stow_shape_call* call);
stow_status stowi_shape_qlinear_softmax(stow_shape_call* call);
stow_status stowi_shape_qlinear_binary(stow_shape_call* call);
stow_status stowi_shape_qlinear_concat(stow_shape_call* call);

// product.c
stow_status stowi_shape_fused_matmul(stow_shape_call* call);
stow_status stowi_shape_fused_gemm(stow_shape_call* call);
stow_status stowi_shape_qgemm(stow_shape_call* call);
stow_status stowi_shape_dynamic_quantize_matmul(stow_shape_call* call);
stow_status stowi_shape_matmul_integer_to_float(stow_shape_call* call);
stow_status stowi_shape_matmul_nbits(stow_shape_call* call);

// recurrent.c
stow_status stowi_shape_lstm(stow_shape_call* call);
stow_status stowi_shape_gru(stow_shape_call* call);
stow_status stowi_shape_rnn(stow_shape_call* call);
stow_status stowi_shape_dynamic_quantize_lstm(stow_shape_call* call);

#endif  // STOWAGE_SRC_GRAPH_SHAPES_SHAPES_NN_H_

// Shape and view functions of the core's ops, named after them, and shared helpers.
#ifndef STOWAGE_SRC_GRAPH_SHAPES_SHAPES_H_
#define STOWAGE_SRC_GRAPH_SHAPES_SHAPES_H_

#include <stowage/op.h>

#include "graph/dims/dims.h"
#include "graph/exactness.h"

// ---------------------------------------------------------------------------------------------
// Shape functions

// elementwise.c
stow_status stowi_graph_shape_same(stow_shape_call* call);  // operand 0's type
stow_status stowi_graph_shape_gelu(stow_shape_call* call);
stow_status stowi_graph_shape_not(stow_shape_call* call);
stow_status stowi_graph_shape_binary(stow_shape_call* call);
stow_status stowi_graph_shape_variadic(stow_shape_call* call);  // max, min, sum, mean
stow_status stowi_graph_shape_pow(stow_shape_call* call);
stow_status stowi_graph_shape_prelu(stow_shape_call* call);
stow_status stowi_graph_shape_bit_shift(stow_shape_call* call);
stow_status stowi_graph_shape_bit_not(stow_shape_call* call);
stow_status stowi_graph_shape_is(stow_shape_call* call);  // is_nan, is_inf
stow_status stowi_graph_shape_full_like(stow_shape_call* call);
stow_status stowi_graph_shape_dropout(stow_shape_call* call);
stow_status stowi_graph_shape_logical(stow_shape_call* call);
stow_status stowi_graph_shape_compare(stow_shape_call* call);
stow_status stowi_graph_shape_where(stow_shape_call* call);
stow_status stowi_graph_shape_clip(stow_shape_call* call);
stow_status stowi_graph_shape_rope(stow_shape_call* call);

// reshape.c
stow_status stowi_graph_shape_reshape(stow_shape_call* call);
stow_status stowi_graph_shape_squeeze(stow_shape_call* call);
stow_status stowi_graph_shape_unsqueeze(stow_shape_call* call);
stow_status stowi_graph_shape_flatten(stow_shape_call* call);
stow_status stowi_graph_shape_expand(stow_shape_call* call);
stow_status stowi_graph_shape_cast(stow_shape_call* call);
stow_status stowi_graph_shape_cast_like(stow_shape_call* call);
stow_status stowi_graph_shape_bitcast(stow_shape_call* call);

// layout.c
stow_status stowi_graph_shape_narrow(stow_shape_call* call);
stow_status stowi_graph_shape_transpose(stow_shape_call* call);
stow_status stowi_graph_shape_concat(stow_shape_call* call);
stow_status stowi_graph_shape_split(stow_shape_call* call);
stow_status stowi_graph_shape_kv_append(stow_shape_call* call);
stow_status stowi_graph_shape_pad(stow_shape_call* call);
stow_status stowi_graph_shape_tile(stow_shape_call* call);
stow_status stowi_graph_shape_center_crop_pad(stow_shape_call* call);
stow_status stowi_graph_shape_depth_to_space(stow_shape_call* call);
stow_status stowi_graph_shape_space_to_depth(stow_shape_call* call);
stow_status stowi_graph_shape_reverse_sequence(stow_shape_call* call);

// slice.c
stow_status stowi_graph_shape_slice(stow_shape_call* call);

// make.c
stow_status stowi_graph_shape_shape(stow_shape_call* call);
// The range of dims given by the attributes `start` and `end` of shape.
void stowi_graph_shape_dims_range(const stow_shape_call* call, uint32_t* out_first,
                                  uint32_t* out_end);
stow_status stowi_graph_shape_size(stow_shape_call* call);
stow_status stowi_graph_shape_range(stow_shape_call* call);
stow_status stowi_graph_shape_fill(stow_shape_call* call);
stow_status stowi_graph_shape_one_hot(stow_shape_call* call);
stow_status stowi_graph_shape_eye_like(stow_shape_call* call);
stow_status stowi_graph_shape_trilu(stow_shape_call* call);

// index.c
stow_status stowi_graph_shape_gather(stow_shape_call* call);
stow_status stowi_graph_shape_gather_elements(stow_shape_call* call);
stow_status stowi_graph_shape_gather_nd(stow_shape_call* call);
stow_status stowi_graph_shape_scatter_elements(stow_shape_call* call);
stow_status stowi_graph_shape_scatter_nd(stow_shape_call* call);
stow_status stowi_graph_shape_tensor_scatter(stow_shape_call* call);
stow_status stowi_graph_shape_nonzero(stow_shape_call* call);
stow_status stowi_graph_shape_unique(stow_shape_call* call);
stow_status stowi_graph_shape_compress(stow_shape_call* call);
stow_status stowi_graph_shape_topk(stow_shape_call* call);
stow_status stowi_graph_shape_cumulate(stow_shape_call* call);  // cumsum, cumprod

// reduce.c
stow_status stowi_graph_shape_softmax(stow_shape_call* call);  // log_softmax, hardmax
stow_status stowi_graph_shape_along_axis(
    stow_shape_call* call);  // operand 0's type, which has `axis`
stow_status stowi_graph_shape_lrn(stow_shape_call* call);
stow_status stowi_graph_shape_mean_variance_norm(stow_shape_call* call);
stow_status stowi_graph_shape_layer_norm(stow_shape_call* call);
stow_status stowi_graph_shape_rms_norm(stow_shape_call* call);
stow_status stowi_graph_shape_channel_norm(stow_shape_call* call);  // layer_norm_2d, instance_norm
stow_status stowi_graph_shape_batch_norm(stow_shape_call* call);
stow_status stowi_graph_shape_group_norm(stow_shape_call* call);
stow_status stowi_graph_shape_reduce(stow_shape_call* call);
stow_status stowi_graph_shape_argmax(stow_shape_call* call);  // argmin too

// compute.c
stow_status stowi_graph_shape_matmul(stow_shape_call* call);
stow_status stowi_graph_shape_matmul_integer(stow_shape_call* call);
stow_status stowi_graph_shape_qlinear_matmul(stow_shape_call* call);
stow_status stowi_graph_shape_gemm(stow_shape_call* call);
stow_status stowi_graph_shape_det(stow_shape_call* call);

// attention.c
stow_status stowi_graph_shape_attention(stow_shape_call* call);
stow_status stowi_graph_shape_linear_attention(stow_shape_call* call);
stow_status stowi_graph_shape_causal_conv(stow_shape_call* call);

// einsum.c
stow_status stowi_graph_shape_einsum(stow_shape_call* call);

// loss.c
stow_status stowi_graph_shape_nll_loss(stow_shape_call* call);
stow_status stowi_graph_shape_softmax_cross_entropy(stow_shape_call* call);
stow_status stowi_graph_shape_adagrad(stow_shape_call* call);  // momentum too
stow_status stowi_graph_shape_adam(stow_shape_call* call);

// window.c
stow_status stowi_graph_shape_conv(stow_shape_call* call);
stow_status stowi_graph_shape_conv_transpose(stow_shape_call* call);
stow_status stowi_graph_shape_pool(stow_shape_call* call);
stow_status stowi_graph_shape_fused_conv(stow_shape_call* call);
stow_status stowi_graph_shape_conv_integer(stow_shape_call* call);
stow_status stowi_graph_shape_qlinear_conv(stow_shape_call* call);
stow_status stowi_graph_shape_deform_conv(stow_shape_call* call);
stow_status stowi_graph_shape_qlinear_pool(stow_shape_call* call);
stow_status stowi_graph_shape_max_unpool(stow_shape_call* call);

// resize.c
stow_status stowi_graph_shape_resize(stow_shape_call* call);

// geometry.c
stow_status stowi_graph_shape_col2im(stow_shape_call* call);
stow_status stowi_graph_shape_grid_sample(stow_shape_call* call);
stow_status stowi_graph_shape_affine_grid(stow_shape_call* call);
stow_status stowi_graph_shape_max_roi_pool(stow_shape_call* call);
stow_status stowi_graph_shape_roi_align(stow_shape_call* call);
stow_status stowi_graph_shape_non_max_suppression(stow_shape_call* call);

// quant.c
stow_status stowi_graph_shape_quantize_linear(stow_shape_call* call);
stow_status stowi_graph_shape_dequantize_linear(stow_shape_call* call);
stow_status stowi_graph_shape_dynamic_quantize_linear(stow_shape_call* call);
stow_status stowi_graph_shape_qlinear_unary(stow_shape_call* call);
stow_status stowi_graph_shape_qlinear_softmax(stow_shape_call* call);
stow_status stowi_graph_shape_qlinear_binary(stow_shape_call* call);
stow_status stowi_graph_shape_qlinear_concat(stow_shape_call* call);

// product.c
stow_status stowi_graph_shape_fused_matmul(stow_shape_call* call);
stow_status stowi_graph_shape_fused_gemm(stow_shape_call* call);
stow_status stowi_graph_shape_qgemm(stow_shape_call* call);
stow_status stowi_graph_shape_dynamic_quantize_matmul(stow_shape_call* call);
stow_status stowi_graph_shape_matmul_integer_to_float(stow_shape_call* call);
stow_status stowi_graph_shape_matmul_nbits(stow_shape_call* call);

// recurrent.c
stow_status stowi_graph_shape_lstm(stow_shape_call* call);
stow_status stowi_graph_shape_gru(stow_shape_call* call);
stow_status stowi_graph_shape_rnn(stow_shape_call* call);
stow_status stowi_graph_shape_dynamic_quantize_lstm(stow_shape_call* call);

// heads.c
stow_status stowi_graph_shape_multi_head_attention(stow_shape_call* call);
stow_status stowi_graph_shape_group_query_attention(stow_shape_call* call);
stow_status stowi_graph_shape_qkv_attention(stow_shape_call* call);

// fused.c
stow_status stowi_graph_shape_skip_norm(stow_shape_call* call);
stow_status stowi_graph_shape_skip_group_norm(stow_shape_call* call);
stow_status stowi_graph_shape_embed_norm(stow_shape_call* call);
stow_status stowi_graph_shape_split_gelu(stow_shape_call* call);
stow_status stowi_graph_shape_gather_quantized(stow_shape_call* call);
stow_status stowi_graph_shape_crop_and_resize(stow_shape_call* call);
stow_status stowi_graph_shape_crop(stow_shape_call* call);
stow_status stowi_graph_shape_cdist(stow_shape_call* call);
stow_status stowi_graph_shape_relative_position_bias(stow_shape_call* call);

// signal.c
stow_status stowi_graph_shape_dft(stow_shape_call* call);
stow_status stowi_graph_shape_rfft(stow_shape_call* call);
stow_status stowi_graph_shape_stft(stow_shape_call* call);
stow_status stowi_graph_shape_window(stow_shape_call* call);
stow_status stowi_graph_shape_mel_weights(stow_shape_call* call);
stow_status stowi_graph_shape_decode_image(stow_shape_call* call);

// random.c
stow_status stowi_graph_shape_random(stow_shape_call* call);
stow_status stowi_graph_shape_bernoulli(stow_shape_call* call);
stow_status stowi_graph_shape_multinomial(stow_shape_call* call);

// ml.c
stow_status stowi_graph_shape_classifier(stow_shape_call* call);
stow_status stowi_graph_shape_regressor(stow_shape_call* call);
stow_status stowi_graph_shape_tree_ensemble(stow_shape_call* call);
stow_status stowi_graph_shape_as_float(stow_shape_call* call);  // x's dims, f32
stow_status stowi_graph_shape_label_encode(stow_shape_call* call);
stow_status stowi_graph_shape_encode_categories(stow_shape_call* call);
stow_status stowi_graph_shape_pick_features(stow_shape_call* call);
stow_status stowi_graph_shape_join_features(stow_shape_call* call);
stow_status stowi_graph_shape_tfidf(stow_shape_call* call);

// region.c
stow_status stowi_graph_shape_if(stow_shape_call* call);
stow_status stowi_graph_shape_loop(stow_shape_call* call);
stow_status stowi_graph_shape_blocks(stow_shape_call* call);
stow_status stowi_graph_shape_stream(stow_shape_call* call);

// ---------------------------------------------------------------------------------------------
// View functions: view.c. Dims are numbers there.

bool stowi_graph_view_reshape(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_graph_view_cast(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_graph_view_narrow(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_graph_view_transpose(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_graph_view_split(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_graph_view_slice(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_graph_view_bitcast(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_graph_view_kv_append(const stow_shape_call* call, size_t k, stow_view* out_view);

// ---------------------------------------------------------------------------------------------
// Helpers: common.c. A status other than STOW_OK means that the call has failed.

// A dim as in the text format, truncated if long; for messages.
typedef struct stowi_graph_dim_text {
  char text[48];
} stowi_graph_dim_text;
stowi_graph_dim_text stowi_graph_shape_dim_text(stow_shape_call* call, stow_dim dim);

// The list attribute |name|; NULL and 0 if it is missing or empty.
const int64_t* stowi_graph_shape_ints(const stow_shape_call* call, const char* name,
                                      size_t* out_count);

// The string attribute |name| as an index into |choices|, which ends with NULL.
stow_status stowi_graph_shape_choice(stow_shape_call* call, const char* name,
                                     const char* const* choices, size_t* out_choice);

// A negative |axis| counts from the end. False if it is out of range.
bool stowi_graph_normal_axis(int64_t axis, uint32_t rank, uint32_t* out_axis);
// The attribute `axis`, normalised, for a tensor of |rank|.
stow_status stowi_graph_shape_axis(stow_shape_call* call, uint32_t rank, uint32_t* out_axis);

// The attribute `perm`, normalised: result dim i is operand dim out_perm[i]. False if it is not a
// permutation.
bool stowi_graph_shape_perm(const stow_shape_call* call, uint32_t rank, uint32_t* out_perm);

// Whether |test| holds for the numbers of |list| at all points of their symbols' ranges; |if_open|
// if a symbol has no range: then binding checks again. If it holds at some points only, the failure
// that follows tells where to divide a range.
bool stowi_graph_shape_holds(stow_shape_call* call, const stow_dim* list, size_t count,
                             stowi_graph_test test, const void* user, bool if_open);
// Whether two dims are not the same at every point. If a symbol has no range, whether they can
// never be equal: dims that only a binding can distinguish count as equal, binding checks again.
bool stowi_graph_shape_differ(stow_shape_call* call, stow_dim a, stow_dim b);
// Whether a dim is a multiple of a positive number, or not less than a number, at every point; true
// if a symbol has no range.
bool stowi_graph_shape_is_multiple(stow_shape_call* call, stow_dim dim, int64_t of);
bool stowi_graph_shape_not_less(stow_shape_call* call, stow_dim dim, int64_t bound);
// The more precise of two dims that do not differ: the number, if one is.
stow_dim stowi_graph_dim_known(stow_dim a, stow_dim b);

// Fails if operands |a| and |b| differ in dtype.
stow_status stowi_graph_shape_same_dtype(stow_shape_call* call, size_t a, size_t b);
// Fails if operand |k| (which may be missing) is not of an integer type.
stow_status stowi_graph_shape_integers(stow_shape_call* call, size_t k, const char* what);
// Fails if operand |k| has fewer dims than |rank|.
stow_status stowi_graph_shape_min_rank(stow_shape_call* call, size_t k, uint32_t rank);

// numpy's broadcasting, with the dims aligned at the end; |out| may be |a| or |b|. A number other
// than 1 wins over a symbol; two different symbols are refused.
stow_status stowi_graph_shape_broadcast(stow_shape_call* call, const stow_type* a,
                                        const stow_type* b, stow_type* out);
// Fails if operand |k| (which may be missing) cannot be broadcast to |target| without changing it.
stow_status stowi_graph_shape_broadcast_to(stow_shape_call* call, size_t k, const stow_type* target,
                                           const char* what);

// Fails if two dims can never be equal: "batches of q and k differ: 1 and 2".
stow_status stowi_graph_need_equal(stow_shape_call* call, const char* what, stow_dim a, stow_dim b);
// Fails if operand |k| is missing or has another rank.
stow_status stowi_graph_need_rank(stow_shape_call* call, size_t k, uint32_t rank, const char* what);
// The int attribute |name|, which must be 1 or more.
stow_status stowi_graph_need_positive(stow_shape_call* call, const char* name, int64_t* out_number);
// |dim| of operand |k| divided into |count| equal parts; |count| is 1 or more.
stow_status stowi_graph_need_parts(stow_shape_call* call, size_t k, uint32_t axis, int64_t count,
                                   const char* what, stow_dim* out_part);
// Fails if operand |k| (which may be missing) is not a single integer. |out_value| is
// STOW_DIM_INVALID if unknown.
stow_status stowi_graph_known_scalar(stow_shape_call* call, size_t k, const char* what,
                                     stow_dim* out_value);

// ---------------------------------------------------------------------------------------------
// Lists that an attribute gives or else an operand, and other known values: values.c

#define STOWI_GRAPH_MAX_LIST (2 * STOW_MAX_RANK)

typedef struct stowi_graph_list {
  bool is_given;  // by the attribute or the operand; an empty attribute counts as not given
  bool is_known;  // every element is
  size_t count;
  uint32_t bounds;                    // bits of the elements that are upper bounds
  uint32_t signeds;                   // bits of those that may be negative
  stow_dim at[STOWI_GRAPH_MAX_LIST];  // STOW_DIM_INVALID if unknown
} stowi_graph_list;

// The list attribute |name| (NULL: there is none), otherwise the integers of operand |k|, whose
// rank is at most 1. Not given: no elements.
stow_status stowi_graph_shape_list(stow_shape_call* call, const char* name, size_t k,
                                   stowi_graph_list* out);
// The same with upper bounds: for lists in which larger numbers never make a result smaller.
stow_status stowi_graph_shape_bounds(stow_shape_call* call, const char* name, size_t k,
                                     stowi_graph_list* out);
// Whether element |i| of operand |k| is exact or a bound (known.c).
// The dim that element |i| of operand |k|, a float, is exactly; STOW_DIM_INVALID if it is a number,
// or unknown.
stow_dim stowi_graph_shape_float_dim(const stow_shape_call* call, size_t k, size_t i);
stowi_graph_exactness stowi_graph_shape_exactness(const stow_shape_call* call, size_t k, size_t i);
// Like stow_shape_bound, for floats; false if unknown.
bool stowi_graph_shape_bound_float(stow_shape_call* call, size_t k, size_t i, double* out);
// Normalised axes from such a list: |out_axes| has room for STOW_MAX_RANK. Each must occur once and
// be known: check out->is_known first.
stow_status stowi_graph_shape_list_axes(stow_shape_call* call, const stowi_graph_list* list,
                                        uint32_t rank, uint32_t* out_axes);
// Sets result |k| to a type of |rank| dims that all depend on data.
stow_status stowi_graph_shape_set_unknown(stow_shape_call* call, size_t k, stow_dtype dtype,
                                          uint32_t rank);
// The single integer of operand |k|; STOW_DIM_INVALID if unknown.
stow_dim stowi_graph_shape_scalar(stow_shape_call* call, size_t k);
// The same, or its upper bound.
stow_dim stowi_graph_shape_scalar_bound(stow_shape_call* call, size_t k);
// Fails if operand |k| (which may be missing) has more than one element.
stow_status stowi_graph_shape_one_element(stow_shape_call* call, size_t k, const char* what);
// Whether a known dim is a number, possibly negative; false for STOW_DIM_INVALID.
bool stowi_graph_shape_number(stow_shape_call* call, stow_dim dim, int64_t* out_number);
// Whether an element of operand |k| may be known (known.c).
bool stowi_graph_shape_has_known(const stow_shape_call* call, size_t k);
// Element |i| of operand |k| if it is known to be a number. Makes no dims, so that view functions
// can call it (known.c).
bool stowi_graph_shape_known_number(const stow_shape_call* call, size_t k, size_t i, int64_t* out);
// Whether element |i| of operand |k|, of any kind, is known to be zero or nonzero.
bool stowi_graph_shape_known_truth(stow_shape_call* call, size_t k, size_t i, bool* out_truth);
// Where part |k| of a split begins along |axis|; false if parts exceed the whole.
bool stowi_graph_part_start(const stow_shape_call* call, size_t k, uint32_t axis,
                            int64_t* out_start);
// The start and step of a slice along each axis of |type|, whose dims are numbers; false if unknown
// (slice.c).
bool stowi_graph_slice_starts(const stow_shape_call* call, const stow_type* type, int64_t* starts,
                              int64_t* steps);
// The product of dims |first| … |end| - 1.
stow_dim stowi_graph_shape_product(stow_shape_call* call, const stow_type* type, uint32_t first,
                                   uint32_t end);
// The dtype named by the string attribute |name|; |fallback| if it is empty.
stow_status stowi_graph_shape_dtype(stow_shape_call* call, const char* name, stow_dtype fallback,
                                    stow_dtype* out_dtype);

// The product of |a| and |b| by numpy's rules, in |a|'s dtype: compute.c.
stow_status stowi_graph_shape_multiply(stow_shape_call* call, const stow_type* a,
                                       const stow_type* b, stow_type* out);

// The declared type of result |k|, or NULL after failing the call.
const stow_type* stowi_graph_shape_need_declared(stow_shape_call* call, size_t k);
// Sets result |k| unless arithmetic on its dims failed; returns the status.
stow_status stowi_graph_shape_set(stow_shape_call* call, size_t k, const stow_type* type);

#endif  // STOWAGE_SRC_GRAPH_SHAPES_SHAPES_H_

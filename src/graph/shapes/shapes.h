// Shape and view functions of the core's ops, named after them, and what they share.
#ifndef STOWAGE_SRC_GRAPH_SHAPES_SHAPES_H_
#define STOWAGE_SRC_GRAPH_SHAPES_SHAPES_H_

#include <stowage/op.h>

#include "graph/sureness.h"

// ---------------------------------------------------------------------------------------------
// Shape functions

// elementwise.c
stow_status stowi_shape_same(stow_shape_call* call);  // operand 0's type
stow_status stowi_shape_gelu(stow_shape_call* call);
stow_status stowi_shape_not(stow_shape_call* call);
stow_status stowi_shape_binary(stow_shape_call* call);
stow_status stowi_shape_variadic(stow_shape_call* call);  // max, min, sum, mean
stow_status stowi_shape_pow(stow_shape_call* call);
stow_status stowi_shape_prelu(stow_shape_call* call);
stow_status stowi_shape_bit_shift(stow_shape_call* call);
stow_status stowi_shape_bit_not(stow_shape_call* call);
stow_status stowi_shape_is(stow_shape_call* call);  // is_nan, is_inf
stow_status stowi_shape_full_like(stow_shape_call* call);
stow_status stowi_shape_dropout(stow_shape_call* call);
stow_status stowi_shape_logical(stow_shape_call* call);
stow_status stowi_shape_compare(stow_shape_call* call);
stow_status stowi_shape_where(stow_shape_call* call);
stow_status stowi_shape_clip(stow_shape_call* call);
stow_status stowi_shape_rope(stow_shape_call* call);

// reshape.c
stow_status stowi_shape_reshape(stow_shape_call* call);
stow_status stowi_shape_squeeze(stow_shape_call* call);
stow_status stowi_shape_unsqueeze(stow_shape_call* call);
stow_status stowi_shape_flatten(stow_shape_call* call);
stow_status stowi_shape_expand(stow_shape_call* call);
stow_status stowi_shape_cast(stow_shape_call* call);
stow_status stowi_shape_cast_like(stow_shape_call* call);
stow_status stowi_shape_bitcast(stow_shape_call* call);

// layout.c
stow_status stowi_shape_narrow(stow_shape_call* call);
stow_status stowi_shape_transpose(stow_shape_call* call);
stow_status stowi_shape_concat(stow_shape_call* call);
stow_status stowi_shape_split(stow_shape_call* call);
stow_status stowi_shape_kv_append(stow_shape_call* call);
stow_status stowi_shape_pad(stow_shape_call* call);
stow_status stowi_shape_tile(stow_shape_call* call);
stow_status stowi_shape_center_crop_pad(stow_shape_call* call);
stow_status stowi_shape_depth_to_space(stow_shape_call* call);
stow_status stowi_shape_space_to_depth(stow_shape_call* call);
stow_status stowi_shape_reverse_sequence(stow_shape_call* call);

// slice.c
stow_status stowi_shape_slice(stow_shape_call* call);

// make.c
stow_status stowi_shape_shape(stow_shape_call* call);
// The range of dims that the attributes `start` and `end` of shape name.
void stowi_shape_dims_range(const stow_shape_call* call, uint32_t* out_first, uint32_t* out_end);
stow_status stowi_shape_size(stow_shape_call* call);
stow_status stowi_shape_range(stow_shape_call* call);
stow_status stowi_shape_fill(stow_shape_call* call);
stow_status stowi_shape_one_hot(stow_shape_call* call);
stow_status stowi_shape_eye_like(stow_shape_call* call);
stow_status stowi_shape_trilu(stow_shape_call* call);

// index.c
stow_status stowi_shape_gather(stow_shape_call* call);
stow_status stowi_shape_gather_elements(stow_shape_call* call);
stow_status stowi_shape_gather_nd(stow_shape_call* call);
stow_status stowi_shape_scatter_elements(stow_shape_call* call);
stow_status stowi_shape_scatter_nd(stow_shape_call* call);
stow_status stowi_shape_tensor_scatter(stow_shape_call* call);
stow_status stowi_shape_nonzero(stow_shape_call* call);
stow_status stowi_shape_unique(stow_shape_call* call);
stow_status stowi_shape_compress(stow_shape_call* call);
stow_status stowi_shape_topk(stow_shape_call* call);
stow_status stowi_shape_cumulate(stow_shape_call* call);  // cumsum, cumprod

// reduce.c
stow_status stowi_shape_softmax(stow_shape_call* call);     // log_softmax, hardmax
stow_status stowi_shape_along_axis(stow_shape_call* call);  // operand 0's type, which has `axis`
stow_status stowi_shape_lrn(stow_shape_call* call);
stow_status stowi_shape_mean_variance_norm(stow_shape_call* call);
stow_status stowi_shape_layer_norm(stow_shape_call* call);
stow_status stowi_shape_rms_norm(stow_shape_call* call);
stow_status stowi_shape_channel_norm(stow_shape_call* call);  // layer_norm_2d, instance_norm
stow_status stowi_shape_batch_norm(stow_shape_call* call);
stow_status stowi_shape_group_norm(stow_shape_call* call);
stow_status stowi_shape_reduce(stow_shape_call* call);
stow_status stowi_shape_argmax(stow_shape_call* call);  // argmin too

// compute.c
stow_status stowi_shape_matmul(stow_shape_call* call);
stow_status stowi_shape_matmul_integer(stow_shape_call* call);
stow_status stowi_shape_qlinear_matmul(stow_shape_call* call);
stow_status stowi_shape_gemm(stow_shape_call* call);
stow_status stowi_shape_det(stow_shape_call* call);
stow_status stowi_shape_attention(stow_shape_call* call);

// einsum.c
stow_status stowi_shape_einsum(stow_shape_call* call);

// loss.c
stow_status stowi_shape_nll_loss(stow_shape_call* call);
stow_status stowi_shape_softmax_cross_entropy(stow_shape_call* call);
stow_status stowi_shape_adagrad(stow_shape_call* call);  // momentum too
stow_status stowi_shape_adam(stow_shape_call* call);

// window.c
stow_status stowi_shape_conv(stow_shape_call* call);
stow_status stowi_shape_conv_transpose(stow_shape_call* call);
stow_status stowi_shape_pool(stow_shape_call* call);
stow_status stowi_shape_resize(stow_shape_call* call);

// region.c
stow_status stowi_shape_if(stow_shape_call* call);
stow_status stowi_shape_loop(stow_shape_call* call);

// ---------------------------------------------------------------------------------------------
// View functions: view.c. Dims are numbers there.

bool stowi_view_reshape(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_view_cast(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_view_narrow(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_view_transpose(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_view_split(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_view_slice(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_view_bitcast(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_view_kv_append(const stow_shape_call* call, size_t k, stow_view* out_view);

// ---------------------------------------------------------------------------------------------
// Helpers: common.c. Those that return a status have failed the call where it is not STOW_OK.

// A dim as the text format writes it, cut where it is long; for messages.
typedef struct stowi_dim_text {
  char text[48];
} stowi_dim_text;
stowi_dim_text stowi_shape_dim_text(stow_shape_call* call, stow_dim dim);

// The list attribute |name|; NULL and 0 where it is absent or empty.
const int64_t* stowi_shape_ints(const stow_shape_call* call, const char* name, size_t* out_count);

// The string attribute |name| as an index into |choices|, which ends with NULL.
stow_status stowi_shape_choice(stow_shape_call* call, const char* name, const char* const* choices,
                               size_t* out_choice);

// A negative |axis| counts from the end. False where it is out of range.
bool stowi_normal_axis(int64_t axis, uint32_t rank, uint32_t* out_axis);
// The attribute `axis`, normalised, for a tensor of |rank|.
stow_status stowi_shape_axis(stow_shape_call* call, uint32_t rank, uint32_t* out_axis);

// The attribute `perm`, normalised: result dim i is operand dim out_perm[i]. False where it is
// none.
bool stowi_shape_perm(const stow_shape_call* call, uint32_t rank, uint32_t* out_perm);

// Whether two dims can never be the same number. Dims that only a binding can tell apart are given
// the benefit of the doubt; binding checks again.
bool stowi_shape_differ(stow_shape_call* call, stow_dim a, stow_dim b);
// The more telling one of two dims that do not differ: the number, where one is a number.
stow_dim stowi_dim_known(stow_dim a, stow_dim b);

// Fails where operands |a| and |b| have not the same dtype.
stow_status stowi_shape_same_dtype(stow_shape_call* call, size_t a, size_t b);
// Fails where operand |k| (which may be absent) is not of an integer type.
stow_status stowi_shape_integers(stow_shape_call* call, size_t k, const char* what);
// Fails where operand |k| has fewer dims than |rank|.
stow_status stowi_shape_min_rank(stow_shape_call* call, size_t k, uint32_t rank);

// numpy's rule for dims, with the dims aligned at the end; |out| may be |a| or |b|.
// A number other than 1 wins over a symbol; two different symbols are refused.
stow_status stowi_shape_broadcast(stow_shape_call* call, const stow_type* a, const stow_type* b,
                                  stow_type* out);
// Fails where operand |k| (which may be absent) cannot be broadcast to |target| without changing
// it.
stow_status stowi_shape_broadcast_to(stow_shape_call* call, size_t k, const stow_type* target,
                                     const char* what);

// ---------------------------------------------------------------------------------------------
// Lists that an attribute gives or else an operand, and other known values: values.c

#define STOWI_MAX_LIST (2 * STOW_MAX_RANK)

typedef struct stowi_list {
  bool is_given;  // by the attribute or the operand; an empty attribute gives nothing
  bool is_known;  // every element is
  size_t count;
  uint32_t bounds;              // bits of the elements that are only known to be at most that
  uint32_t signeds;             // bits of those that may be negative
  stow_dim at[STOWI_MAX_LIST];  // STOW_DIM_INVALID where it is not known
} stowi_list;

// The list attribute |name| (NULL: there is none), else the integers of operand |k|, whose rank is
// at most 1. Not given: no elements.
stow_status stowi_shape_list(stow_shape_call* call, const char* name, size_t k, stowi_list* out);
// The same with bounds: for lists in which larger numbers never make a result smaller.
stow_status stowi_shape_bounds(stow_shape_call* call, const char* name, size_t k, stowi_list* out);
// How sure element |i| of operand |k| is (known.c).
stowi_sureness stowi_shape_sureness(const stow_shape_call* call, size_t k, size_t i);
// As stow_shape_bound, of floats; false where nothing is known.
bool stowi_shape_bound_float(stow_shape_call* call, size_t k, size_t i, double* out);
// Normal axes from such a list: |out_axes| has room for STOW_MAX_RANK. Each must be there once, and
// known: ask out->is_known before.
stow_status stowi_shape_list_axes(stow_shape_call* call, const stowi_list* list, uint32_t rank,
                                  uint32_t* out_axes);
// Sets result |k| to a type of |rank| dims that all depend on data.
stow_status stowi_shape_set_unknown(stow_shape_call* call, size_t k, stow_dtype dtype,
                                    uint32_t rank);
// The one integer of operand |k|; STOW_DIM_INVALID where it is not known.
stow_dim stowi_shape_scalar(stow_shape_call* call, size_t k);
// The same, or the largest that it can be.
stow_dim stowi_shape_scalar_bound(stow_shape_call* call, size_t k);
// Fails where operand |k| (which may be absent) has more than one element.
stow_status stowi_shape_one_element(stow_shape_call* call, size_t k, const char* what);
// Whether a known dim is a number, also a negative one; false for STOW_DIM_INVALID.
bool stowi_shape_number(stow_shape_call* call, stow_dim dim, int64_t* out_number);
// Whether an element of operand |k| may be known (known.c).
bool stowi_shape_has_known(const stow_shape_call* call, size_t k);
// Element |i| of operand |k| where it is known to be a number. Makes no dims, so that view
// functions can ask (known.c).
bool stowi_shape_known_number(const stow_shape_call* call, size_t k, size_t i, int64_t* out);
// Whether element |i| of operand |k|, of any kind, is known to be zero or not to be.
bool stowi_shape_known_truth(stow_shape_call* call, size_t k, size_t i, bool* out_truth);
// Where along each axis of |type|, whose dims are numbers, a slice starts, and its step; false
// where that is not known (slice.c).
bool stowi_slice_starts(const stow_shape_call* call, const stow_type* type, int64_t* starts,
                        int64_t* steps);
// Dims |first| … |end| - 1 multiplied.
stow_dim stowi_shape_product(stow_shape_call* call, const stow_type* type, uint32_t first,
                             uint32_t end);
// The dtype that the string attribute |name| names; |fallback| where it is empty.
stow_status stowi_shape_dtype(stow_shape_call* call, const char* name, stow_dtype fallback,
                              stow_dtype* out_dtype);

// |a| and |b| multiplied by numpy's rules, of |a|'s dtype: compute.c.
stow_status stowi_shape_multiply(stow_shape_call* call, const stow_type* a, const stow_type* b,
                                 stow_type* out);

// The declared type of result |k|, or NULL after failing the call.
const stow_type* stowi_shape_need_declared(stow_shape_call* call, size_t k);
// Sets result |k| unless arithmetic on its dims failed; returns why it did.
stow_status stowi_shape_set(stow_shape_call* call, size_t k, const stow_type* type);

#endif  // STOWAGE_SRC_GRAPH_SHAPES_SHAPES_H_

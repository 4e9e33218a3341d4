// Shape and view functions of the core's ops, named after them, and what they share.
#ifndef STOWAGE_SRC_GRAPH_SHAPES_H_
#define STOWAGE_SRC_GRAPH_SHAPES_H_

#include <stowage/op.h>

// ---------------------------------------------------------------------------------------------
// Shape functions

// shape_elementwise.c
stow_status stowi_shape_same(stow_shape_call* call);  // operand 0's type
stow_status stowi_shape_gelu(stow_shape_call* call);
stow_status stowi_shape_not(stow_shape_call* call);
stow_status stowi_shape_binary(stow_shape_call* call);
stow_status stowi_shape_logical(stow_shape_call* call);
stow_status stowi_shape_compare(stow_shape_call* call);
stow_status stowi_shape_where(stow_shape_call* call);
stow_status stowi_shape_clip(stow_shape_call* call);
stow_status stowi_shape_rope(stow_shape_call* call);

// shape_layout.c
stow_status stowi_shape_reshape(stow_shape_call* call);
stow_status stowi_shape_cast(stow_shape_call* call);
stow_status stowi_shape_narrow(stow_shape_call* call);
stow_status stowi_shape_transpose(stow_shape_call* call);
stow_status stowi_shape_expand(stow_shape_call* call);
stow_status stowi_shape_concat(stow_shape_call* call);
stow_status stowi_shape_split(stow_shape_call* call);
stow_status stowi_shape_gather(stow_shape_call* call);
stow_status stowi_shape_kv_append(stow_shape_call* call);
stow_status stowi_shape_pad(stow_shape_call* call);

// shape_reduce.c
stow_status stowi_shape_softmax(stow_shape_call* call);
stow_status stowi_shape_layer_norm(stow_shape_call* call);  // rms_norm too
stow_status stowi_shape_channel_norm(
    stow_shape_call* call);  // layer_norm_2d, batch_norm, group_norm
stow_status stowi_shape_group_norm(stow_shape_call* call);
stow_status stowi_shape_reduce(stow_shape_call* call);
stow_status stowi_shape_argmax(stow_shape_call* call);
stow_status stowi_shape_topk(stow_shape_call* call);

// shape_compute.c
stow_status stowi_shape_matmul(stow_shape_call* call);
stow_status stowi_shape_attention(stow_shape_call* call);

// shape_window.c
stow_status stowi_shape_conv(stow_shape_call* call);
stow_status stowi_shape_conv_transpose(stow_shape_call* call);
stow_status stowi_shape_pool(stow_shape_call* call);
stow_status stowi_shape_resize(stow_shape_call* call);

// shape_region.c
stow_status stowi_shape_if(stow_shape_call* call);
stow_status stowi_shape_loop(stow_shape_call* call);

// ---------------------------------------------------------------------------------------------
// View functions: shape_view.c. Dims are numbers there.

bool stowi_view_reshape(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_view_cast(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_view_narrow(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_view_transpose(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_view_split(const stow_shape_call* call, size_t k, stow_view* out_view);
bool stowi_view_kv_append(const stow_shape_call* call, size_t k, stow_view* out_view);

// ---------------------------------------------------------------------------------------------
// Helpers: shape_common.c. Those that return a status have failed the call where it is not STOW_OK.

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

// The declared type of result |k|, or NULL after failing the call.
const stow_type* stowi_shape_need_declared(stow_shape_call* call, size_t k);
// Sets result |k| unless arithmetic on its dims failed; returns why it did.
stow_status stowi_shape_set(stow_shape_call* call, size_t k, const stow_type* type);

#endif  // STOWAGE_SRC_GRAPH_SHAPES_H_

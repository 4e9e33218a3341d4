// Whether a result may be computed in place of an operand: the contract of kernels. These functions
// are called only if the dims of both are numbers, so they are arithmetic on numbers; the caller
// checks that the operand has room. Constant time, except for a walk over the operands if dims are
// upper-bounded.
//
// If dims are upper-bounded, an operand that is broadcast may turn out to be smaller than its
// result although the dims agree here, so such operands are excluded.
#include "graph/shapes/in_place.h"

#include <string.h>

#include "graph/shapes/call.h"
#include "graph/shapes/shapes.h"

// ---------------------------------------------------------------------------------------------
// Types

static bool has_same_dims(const stow_type* a, const stow_type* b) {
  return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof(a->dims[0])) == 0;
}

static bool is_whole_bytes(const stow_type* type) { return stow_dtype_bits(type->dtype) % 8 == 0; }

// Whether each element of result |k| has the same offset as the operand's element of the same
// index.
static bool is_same_place(const stow_shape_call* call, size_t k, size_t operand) {
  const stow_type* result = stow_shape_declared(call, k);
  const stow_type* under = stow_shape_operand(call, operand);
  return has_same_dims(result, under) &&
         stow_dtype_bits(result->dtype) == stow_dtype_bits(under->dtype);
}

// Whether each has the same or a lower offset, so that a walk in ascending order has read it, and
// all before it, when it is written. Narrower elements begin at their own bytes.
static bool is_same_index(const stow_shape_call* call, size_t k, size_t operand) {
  const stow_type* result = stow_shape_declared(call, k);
  const stow_type* under = stow_shape_operand(call, operand);
  return is_same_place(call, k, operand) ||
         (has_same_dims(result, under) && is_whole_bytes(result) && is_whole_bytes(under) &&
          stow_dtype_bits(result->dtype) < stow_dtype_bits(under->dtype));
}

// Whether |other| has more than one element along an upper-bounded dim, one of |axes|, of |type|.
static bool has_wide_dim(const stow_type* type, stowi_graph_axes axes, const stow_type* other) {
  for (uint32_t i = 0; i < type->rank && i < other->rank; ++i) {
    bool is_bounded = (axes >> (type->rank - 1 - i) & 1) != 0;
    if (is_bounded && other->dims[other->rank - 1 - i] != 1) {
      return true;
    }
  }
  return false;
}

// Whether |operand| can turn out to be broadcast along a dim of another operand.
static bool may_be_broadcast(const stow_shape_call* call, size_t operand) {
  stowi_graph_axes axes = stowi_graph_shape_bounded_axes(call, operand);
  if (axes == 0) {
    return false;
  }
  const stow_type* type = stow_shape_operand(call, operand);
  for (size_t i = 0; i < stow_shape_operand_count(call); ++i) {
    const stow_type* other = stow_shape_operand(call, i);
    if (other != NULL && call->operands[i] != call->operands[operand] &&
        has_wide_dim(type, axes, other)) {
      return true;
    }
  }
  return false;
}

static stow_in_place alone_if(bool is_safe) {
  return is_safe ? STOW_IN_PLACE_ALONE : STOW_IN_PLACE_NEVER;
}

static stow_in_place index_if(bool is_safe) {
  return is_safe ? STOW_IN_PLACE_INDEX : STOW_IN_PLACE_NEVER;
}

// ---------------------------------------------------------------------------------------------
// Element by element

// Element i of a result is computed from element i of each operand that has its dims. The kernel
// makes one walk in ascending order, reads element i of all operands and then writes it. Operands
// that are broadcast are read again later.
stow_in_place stowi_graph_in_place_index(const stow_shape_call* call, size_t k, size_t operand) {
  return index_if(is_same_index(call, k, operand) && !may_be_broadcast(call, operand));
}

// The same if the result always has operand 0's dims, and the others are parameters: bounds,
// scales, tables. Also if only operand 0's dims are used.
stow_in_place stowi_graph_in_place_index_first(const stow_shape_call* call, size_t k,
                                               size_t operand) {
  return index_if(operand == 0 && is_same_index(call, k, operand));
}

// gather, gather_elements: the result has the dims of the indices, each of which is read once if it
// picks one element.
stow_in_place stowi_graph_in_place_gather(const stow_shape_call* call, size_t k, size_t operand) {
  return index_if(operand == 1 && is_same_index(call, k, operand));
}

// Quantised a and b, each followed by scale and zero point.
stow_in_place stowi_graph_in_place_qlinear_binary(const stow_shape_call* call, size_t k,
                                                  size_t operand) {
  return operand == 0 || operand == 3 ? stowi_graph_in_place_index(call, k, operand)
                                      : STOW_IN_PLACE_NEVER;
}

// Operands are rate, step and |groups| of equally many tensors each. A result of tensor i is
// computed elementwise from what belongs to tensor i, all of which is read before any is written.
static stow_in_place over_step(const stow_shape_call* call, size_t k, size_t operand,
                               size_t groups) {
  size_t tensors = (stow_shape_operand_count(call) - 2) / groups;
  return index_if(operand >= 2 && (operand - 2) % tensors == k % tensors &&
                  is_same_index(call, k, operand));
}

stow_in_place stowi_graph_in_place_adagrad(const stow_shape_call* call, size_t k, size_t operand) {
  return over_step(call, k, operand, 3);
}

stow_in_place stowi_graph_in_place_adam(const stow_shape_call* call, size_t k, size_t operand) {
  return over_step(call, k, operand, 4);
}

// ---------------------------------------------------------------------------------------------
// Row by row

// A row (what is normalised, summed or rotated together) is read as a whole, into sums or a pair of
// registers, before any of it is written; rows are independent, whatever their order. Running sums,
// in either direction and exclusive or not, read each element once and write it next; the running
// sum is kept separately.
stow_in_place stowi_graph_in_place_rows(const stow_shape_call* call, size_t k, size_t operand) {
  return alone_if(k == 0 && operand == 0 && is_same_place(call, k, operand));
}

// Consecutive rows, or the whole operand as one row: read once for the sum, then again in ascending
// order, so that elements may become narrower.
stow_in_place stowi_graph_in_place_ascending_rows(const stow_shape_call* call, size_t k,
                                                  size_t operand) {
  return alone_if(k == 0 && operand == 0 && is_same_index(call, k, operand));
}

// Whether result |k| can be computed in place of an addend, which is read before the rest of the
// sum exists.
static bool is_addend(const stow_shape_call* call, size_t k, size_t operand) {
  return is_same_place(call, k, operand) && !stowi_graph_shape_is_upper_bounded(call, operand);
}

// Normalised rows, or the sums themselves, in place of x or of a skip that has x's dims. Sums are
// written element by element, and rows normalised once all their elements are there.
stow_in_place stowi_graph_in_place_skip_norm(const stow_shape_call* call, size_t k,
                                             size_t operand) {
  bool is_sum = k == 0 || k == 3;
  return alone_if(is_sum && ((operand == 0 && is_same_place(call, k, operand)) ||
                             (operand == 1 && is_addend(call, k, operand))));
}

// The same for groups; x, scale, shift, skip.
stow_in_place stowi_graph_in_place_skip_group_norm(const stow_shape_call* call, size_t k,
                                                   size_t operand) {
  return alone_if((operand == 0 && is_same_place(call, k, operand)) ||
                  (operand == 3 && is_addend(call, k, operand)));
}

// The log probabilities in place of the scores: the loss is picked from those.
stow_in_place stowi_graph_in_place_cross_entropy(const stow_shape_call* call, size_t k,
                                                 size_t operand) {
  return alone_if(k == 1 && operand == 0 && is_same_place(call, k, operand));
}

// Two halves of a row become one: element j of row r is read at 2 r n + j and n later, and written
// at r n + j.
stow_in_place stowi_graph_in_place_split_gelu(const stow_shape_call* call, size_t k,
                                              size_t operand) {
  return alone_if(operand == 0 && is_whole_bytes(stow_shape_declared(call, k)));
}

// ---------------------------------------------------------------------------------------------
// Products

// The result in place of an addend with its dims: the product is added to it. The factors are read
// until the end, and are other bytes.
stow_in_place stowi_graph_in_place_gemm(const stow_shape_call* call, size_t k, size_t operand) {
  return alone_if(operand == 2 && is_addend(call, k, operand));
}

stow_in_place stowi_graph_in_place_fused_conv(const stow_shape_call* call, size_t k,
                                              size_t operand) {
  return alone_if(operand == 3 && is_addend(call, k, operand));
}

stow_in_place stowi_graph_in_place_qgemm(const stow_shape_call* call, size_t k, size_t operand) {
  return alone_if(operand == 6 && is_addend(call, k, operand));
}

// ---------------------------------------------------------------------------------------------
// Attention

// One head's row of the output in place of the same row of q, which nothing else is computed from.
// Its width is that of v.
static bool is_query(const stow_shape_call* call, size_t k, size_t operand) {
  return k == 0 && operand == 0 && is_same_place(call, k, operand) &&
         !stowi_graph_shape_is_upper_bounded(call, 2);
}

stow_in_place stowi_graph_in_place_attention(const stow_shape_call* call, size_t k,
                                             size_t operand) {
  return alone_if(is_query(call, k, operand));
}

// Whether result |k| is the cache |operand| with new entries inserted.
static bool is_shared_past(const stow_shape_call* call, size_t k, size_t operand) {
  return stow_shape_attr_bool(call, "share_past", false) && is_same_place(call, k, operand);
}

// Results 1 and 2 are the caches of k and v.
static stow_in_place over_heads(const stow_shape_call* call, size_t k, size_t operand,
                                size_t past_k) {
  bool is_cache = (k == 1 || k == 2) && operand == past_k + k - 1;
  return alone_if(is_query(call, k, operand) || (is_cache && is_shared_past(call, k, operand)));
}

stow_in_place stowi_graph_in_place_multi_head_attention(const stow_shape_call* call, size_t k,
                                                        size_t operand) {
  return over_heads(call, k, operand, 6);
}

stow_in_place stowi_graph_in_place_group_query_attention(const stow_shape_call* call, size_t k,
                                                         size_t operand) {
  return over_heads(call, k, operand, 3);
}

// Rows of x are read for every head, so only the cache is in place.
stow_in_place stowi_graph_in_place_qkv_attention(const stow_shape_call* call, size_t k,
                                                 size_t operand) {
  return alone_if(k == 1 && operand == 4 && is_shared_past(call, k, operand));
}

// The output in place of q, and the state after the last step in place of the one before the first:
// the kernel updates it step by step.
stow_in_place stowi_graph_in_place_linear_attention(const stow_shape_call* call, size_t k,
                                                    size_t operand) {
  return alone_if(is_query(call, k, operand) ||
                  (k == 1 && operand == 3 && is_same_place(call, k, operand)));
}

// ---------------------------------------------------------------------------------------------
// Copies

// The same elements in the same order: nothing moves. An operand that may turn out to be smaller
// would be broadcast, except by reshape and similar ops.
stow_in_place stowi_graph_in_place_reshape(const stow_shape_call* call, size_t k, size_t operand) {
  (void)call;
  (void)k;
  return alone_if(operand == 0);
}

stow_in_place stowi_graph_in_place_repeat(const stow_shape_call* call, size_t k, size_t operand) {
  uint64_t from;
  uint64_t to;
  return alone_if(operand == 0 && !stowi_graph_shape_is_upper_bounded(call, operand) &&
                  stow_type_elements(stow_shape_operand(call, 0), &from) == STOW_OK &&
                  stow_type_elements(stow_shape_declared(call, k), &to) == STOW_OK && from == to);
}

// Only dims of 1 move.
stow_in_place stowi_graph_in_place_transpose(const stow_shape_call* call, size_t k,
                                             size_t operand) {
  stow_view view;
  return alone_if(operand == 0 && stowi_graph_view_transpose(call, k, &view));
}

// Some of the elements in their order: element j of a result was at j or later, so a walk over the
// operand in ascending order has read what it overwrites. Several results are all written in one
// walk.
stow_in_place stowi_graph_in_place_part(const stow_shape_call* call, size_t k, size_t operand) {
  (void)k;
  return alone_if(operand == 0 && is_whole_bytes(stow_shape_operand(call, 0)));
}

// A part where no dim grows.
stow_in_place stowi_graph_in_place_crop(const stow_shape_call* call, size_t k, size_t operand) {
  const stow_type* result = stow_shape_declared(call, k);
  const stow_type* under = stow_shape_operand(call, 0);
  for (uint32_t i = 0; i < result->rank; ++i) {
    if (result->dims[i] > under->dims[i]) {
      return STOW_IN_PLACE_NEVER;
    }
  }
  return stowi_graph_shape_is_upper_bounded(call, 0) ? STOW_IN_PLACE_NEVER
                                                     : stowi_graph_in_place_part(call, k, operand);
}

// Whether the lengths of a slice's list operands are known.
static bool has_bound_lists(const stow_shape_call* call) {
  for (size_t k = 1; k < stow_shape_operand_count(call); ++k) {
    const stow_type* list = stow_shape_operand(call, k);
    if (list != NULL && list->rank != 0 && !stow_dim_is_const(list->dims[0])) {
      return false;
    }
  }
  return true;
}

// A part with no negative step.
stow_in_place stowi_graph_in_place_slice(const stow_shape_call* call, size_t k, size_t operand) {
  const stow_type* result = stow_shape_declared(call, k);
  int64_t starts[STOW_MAX_RANK];
  int64_t steps[STOW_MAX_RANK];
  if (operand != 0 || !has_bound_lists(call) ||
      !stowi_graph_slice_starts(call, stow_shape_operand(call, 0), starts, steps)) {
    return STOW_IN_PLACE_NEVER;
  }
  for (uint32_t i = 0; i < result->rank; ++i) {
    if (steps[i] < 0 && result->dims[i] > 1) {
      return STOW_IN_PLACE_NEVER;
    }
  }
  return stowi_graph_in_place_part(call, k, operand);
}

// The first operand's rows are moved apart from the last to the first, then the others' are placed
// between them.
stow_in_place stowi_graph_in_place_concat(const stow_shape_call* call, size_t k, size_t operand) {
  (void)k;
  return alone_if(operand == 0 && is_whole_bytes(stow_shape_operand(call, 0)));
}

// Operand 0 with some of its elements replaced or added to; the updates are read from other bytes.
stow_in_place stowi_graph_in_place_scatter(const stow_shape_call* call, size_t k, size_t operand) {
  return alone_if(operand == 0 && is_same_place(call, k, operand));
}

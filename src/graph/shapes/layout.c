// Shapes of ops that move elements without computing on them. Which of their results are views is
// in view.c.
#include <inttypes.h>

#include "base/checked.h"
#include "base/diag.h"
#include "graph/shapes/call.h"
#include "graph/shapes/shapes.h"

// ---------------------------------------------------------------------------------------------
// narrow, split, concat

stow_status stowi_graph_shape_narrow(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_axis(call, result.rank, &axis));
  int64_t start = stow_shape_attr_int(call, "start", 0);
  int64_t len = stow_shape_attr_int(call, "len", 0);
  if (start < 0 || len < 0) {
    return stow_shape_fail(call, "start %" PRId64 " and len %" PRId64 " must not be negative",
                           start, len);
  }
  stow_dim dim = result.dims[axis];
  int64_t end = start > INT64_MAX - len ? INT64_MAX : start + len;
  if (!stowi_graph_shape_not_less(call, dim, end)) {
    return stow_shape_fail(call,
                           "start %" PRId64 " and len %" PRId64 " are out of range for dim %" PRIu32
                           ", which is %s",
                           start, len, axis, stowi_graph_shape_dim_text(call, dim).text);
  }
  result.dims[axis] = len;
  return stowi_graph_shape_set(call, 0, &result);
}

static stow_status set_part(stow_shape_call* call, size_t k, const stow_type* whole, uint32_t axis,
                            stow_dim size) {
  stow_type part = *whole;
  part.dims[axis] = size;
  return stowi_graph_shape_set(call, k, &part);
}

// The sizes of a split's parts: there may be many, so they are read one by one.
typedef struct part_sizes {
  bool is_given;
  const int64_t* numbers;  // NULL: operand 1 has them
  size_t count;
} part_sizes;

static stow_status find_sizes(stow_shape_call* call, part_sizes* out) {
  out->numbers = stowi_graph_shape_ints(call, "sizes", &out->count);
  const stow_type* type = stow_shape_operand(call, 1);
  out->is_given = out->numbers != NULL || type != NULL;
  if (out->numbers != NULL || type == NULL) {
    return STOW_OK;
  }
  STOW_TRY(stowi_graph_shape_integers(call, 1, "a list"));
  if (type->rank > 1) {
    return stow_shape_fail(call, "operand 1 has rank %" PRIu32 ", expected a list", type->rank);
  }
  stow_dim count = type->rank == 0 ? 1 : type->dims[0];
  out->count = stow_dim_is_const(count) ? (size_t)count : stow_shape_result_count(call);
  return STOW_OK;
}

// STOW_DIM_INVALID if unknown.
static stow_dim size_at(stow_shape_call* call, const part_sizes* sizes, size_t k) {
  return sizes->numbers == NULL ? stow_shape_known(call, 1, k)
                                : stow_dim_of_int(stow_shape_dims(call), sizes->numbers[k]);
}

static stow_status split_sizes(stow_shape_call* call, const stow_type* whole, uint32_t axis,
                               const part_sizes* sizes) {
  stow_dim sum = 0;
  for (size_t k = 0; k < sizes->count; ++k) {
    int64_t number = 0;
    stow_dim size = size_at(call, sizes, k);
    bool is_number = stowi_graph_shape_number(call, size, &number);
    stow_dims* dims = stow_shape_dims(call);
    stow_dim next = stow_dim_add(dims, sum, size);
    bool overflows = is_number && stow_dims_status(dims) == STOW_ERR_OVERFLOW;
    if (number < 0 || overflows) {
      stow_dims_clear_status(dims);  // reported better here
      return stow_shape_fail(call, "size %" PRId64 " is out of range", number);
    }
    sum = next;
    STOW_TRY(set_part(call, k, whole, axis, size));
  }
  if (stowi_graph_shape_differ(call, whole->dims[axis], sum)) {
    return stow_shape_fail(call, "sizes add up to %s, but dim %" PRIu32 " is %s",
                           stowi_graph_shape_dim_text(call, sum).text, axis,
                           stowi_graph_shape_dim_text(call, whole->dims[axis]).text);
  }
  return STOW_OK;
}

// Sizes that are unknown, except for those that are known.
static stow_status split_unknown(stow_shape_call* call, const stow_type* whole, uint32_t axis,
                                 const part_sizes* sizes) {
  for (size_t k = 0; k < sizes->count; ++k) {
    stow_dim size = size_at(call, sizes, k);
    size = size == STOW_DIM_INVALID ? stow_shape_data_dim(call, k, axis) : size;
    STOW_TRY(set_part(call, k, whole, axis, size));
  }
  return STOW_OK;
}

static stow_status split_equally(stow_shape_call* call, const stow_type* whole, uint32_t axis,
                                 size_t count) {
  stow_dim dim = whole->dims[axis];
  if (!stowi_graph_shape_is_multiple(call, dim, (int64_t)count)) {
    return stow_shape_fail(call,
                           "dim %" PRIu32 " is %s, which cannot be split into %zu equal parts",
                           axis, stowi_graph_shape_dim_text(call, dim).text, count);
  }
  stow_dim size = stow_dim_floor_div(stow_shape_dims(call), dim, (int64_t)count);
  for (size_t k = 0; k < count; ++k) {
    STOW_TRY(set_part(call, k, whole, axis, size));
  }
  return STOW_OK;
}

// Parts of one size, rounded up; the last one takes the rest. A smaller dim may leave a larger
// rest: if the dim is upper-bounded, no part is smaller than the others.
static stow_status split_parts(stow_shape_call* call, const stow_type* whole, uint32_t axis,
                               size_t count) {
  stow_dims* dims = stow_shape_dims(call);
  stow_dim size = stow_dim_ceil_div(dims, whole->dims[axis], (int64_t)count);
  stow_dim rest = whole->dims[axis];
  bool is_upper_bounded = (stowi_graph_shape_bounded_axes(call, 0) >> axis & 1) != 0;
  for (size_t k = 0; k < count; ++k) {
    if (is_upper_bounded) {
      STOW_TRY(set_part(call, k, whole, axis, size));
      continue;
    }
    // without ranges the last part alone is taken to be smaller
    bool is_cut = stowi_graph_dims_have_ranges(dims, size);
    stow_dim part = k + 1 == count ? rest : is_cut ? stow_dim_min(dims, rest, size) : size;
    STOW_TRY(set_part(call, k, whole, axis, part));
    rest = stow_dim_sub(dims, rest, part);
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_split(stow_shape_call* call) {
  const stow_type* whole = stow_shape_operand(call, 0);
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_axis(call, whole->rank, &axis));
  size_t results = stow_shape_result_count(call);
  int64_t parts = stow_shape_attr_int(call, "parts", 0);
  if (parts != 0 && parts != (int64_t)results) {
    return stow_shape_fail(call, "parts is %" PRId64 ", but there are %zu results", parts, results);
  }
  part_sizes sizes;
  STOW_TRY(find_sizes(call, &sizes));
  if (!sizes.is_given) {
    return parts == 0 ? split_equally(call, whole, axis, results)
                      : split_parts(call, whole, axis, results);
  }
  if (sizes.count != results) {
    return stow_shape_fail(call, "there are %zu sizes for %zu results", sizes.count, results);
  }
  return sizes.numbers != NULL || stow_shape_is_known(call, 1)
             ? split_sizes(call, whole, axis, &sizes)
             : split_unknown(call, whole, axis, &sizes);
}

stow_status stowi_graph_shape_concat(stow_shape_call* call) {
  stow_type sum = *stow_shape_operand(call, 0);
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_axis(call, sum.rank, &axis));
  for (size_t k = 1; k < stow_shape_operand_count(call); ++k) {
    // Adds operand |k| to |sum|; its other dims take the more precise value.
    const stow_type* next = stow_shape_operand(call, k);
    if (next == NULL) {
      return stow_shape_fail(call, "operand %zu is missing", k);
    }
    STOW_TRY(stowi_graph_shape_same_dtype(call, 0, k));
    if (next->rank != sum.rank) {
      return stow_shape_fail(call,
                             "operand %zu has rank %" PRIu32 ", but operand 0 has rank %" PRIu32, k,
                             next->rank, sum.rank);
    }
    for (uint32_t i = 0; i < sum.rank; ++i) {
      if (i == axis) {
        sum.dims[i] = stow_dim_add(stow_shape_dims(call), sum.dims[i], next->dims[i]);
      } else if (stowi_graph_shape_differ(call, sum.dims[i], next->dims[i])) {
        return stow_shape_fail(call,
                               "dim %" PRIu32 " of operand %zu is %s, but %s in earlier operands",
                               i, k, stowi_graph_shape_dim_text(call, next->dims[i]).text,
                               stowi_graph_shape_dim_text(call, sum.dims[i]).text);
      } else {
        sum.dims[i] = stowi_graph_dim_known(sum.dims[i], next->dims[i]);
      }
    }
  }
  return stowi_graph_shape_set(call, 0, &sum);
}

// ---------------------------------------------------------------------------------------------
// transpose, kv_append, pad

bool stowi_graph_shape_perm(const stow_shape_call* call, uint32_t rank, uint32_t* out_perm) {
  size_t count;
  const int64_t* perm = stowi_graph_shape_ints(call, "perm", &count);
  if (perm != NULL && count != rank) {
    return false;
  }
  uint32_t seen = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t source = perm == NULL ? rank - 1 - i : perm[i];
    if (!stowi_graph_normal_axis(source, rank, &out_perm[i]) || (seen >> out_perm[i] & 1) != 0) {
      return false;
    }
    seen |= UINT32_C(1) << out_perm[i];
  }
  return true;
}

stow_status stowi_graph_shape_transpose(stow_shape_call* call) {
  const stow_type* from = stow_shape_operand(call, 0);
  uint32_t perm[STOW_MAX_RANK];
  if (!stowi_graph_shape_perm(call, from->rank, perm)) {
    return stow_shape_fail(call, "perm must name each of %" PRIu32 " dims once", from->rank);
  }
  stow_type result = *from;
  for (uint32_t i = 0; i < from->rank; ++i) {
    result.dims[i] = from->dims[perm[i]];
  }
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_kv_append(stow_shape_call* call) {
  const stow_type* cache = stow_shape_operand(call, 0);
  const stow_type* entries = stow_shape_operand(call, 1);
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_axis(call, cache->rank, &axis));
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 1));
  STOW_TRY(stowi_graph_shape_integers(call, 2, "operand 2 (position)"));
  if (entries->rank != cache->rank) {
    return stow_shape_fail(call,
                           "the cache has rank %" PRIu32 ", but the new entries have rank %" PRIu32,
                           cache->rank, entries->rank);
  }
  for (uint32_t i = 0; i < cache->rank; ++i) {
    stow_dim room = cache->dims[i];
    stow_dim taken = entries->dims[i];
    bool is_number = stow_dim_is_const(room) && stow_dim_is_const(taken);
    bool fits =
        i == axis ? !is_number || taken <= room : !stowi_graph_shape_differ(call, room, taken);
    if (!fits) {
      return stow_shape_fail(call, "dim %" PRIu32 " of the new entries is %s, but the cache has %s",
                             i, stowi_graph_shape_dim_text(call, taken).text,
                             stowi_graph_shape_dim_text(call, room).text);
    }
  }
  return stowi_graph_shape_set(call, 0, cache);
}

static stow_status check_pad_mode(stow_shape_call* call) {
  static const char* const modes[] = {"constant", "reflect", "edge", "wrap", NULL};
  size_t mode;
  STOW_TRY(stowi_graph_shape_choice(call, "mode", modes, &mode));
  const stow_type* value = stow_shape_operand(call, 1);
  if (value == NULL) {
    return STOW_OK;
  }
  if (mode != 0 || value->rank != 0) {
    return stow_shape_fail(
        call, "operand 1 (value) must have rank 0, and is allowed only in mode \"constant\"");
  }
  return stowi_graph_shape_same_dtype(call, 0, 1);
}

// The sum of both pads of axis |i| of |count|; STOW_DIM_INVALID if unknown.
static stow_status add_pads(stow_shape_call* call, const stowi_graph_list* pads, size_t i,
                            size_t count, uint32_t axis, stow_type* result) {
  stow_dims* dims = stow_shape_dims(call);
  stow_dim before = pads->at[i];
  stow_dim after = pads->at[count + i];
  if (before == STOW_DIM_INVALID || after == STOW_DIM_INVALID) {
    result->dims[axis] = stow_shape_data_dim(call, 0, axis);
    return STOW_OK;
  }
  stow_dim both = stow_dim_add(dims, before, after);
  if (both == STOW_DIM_INVALID && stow_dims_status(dims) == STOW_ERR_OVERFLOW) {
    stow_dims_clear_status(dims);  // reported better here
    return stow_shape_fail(call, "the pads of dim %" PRIu32 " are out of range", axis);
  }
  result->dims[axis] = stow_dim_add(dims, result->dims[axis], both);
  return STOW_OK;
}

// The axes in a list (attribute `axes` or operand |k|), otherwise all of them. |*out_count| is
// SIZE_MAX if they are unknown.
static stow_status read_axes(stow_shape_call* call, size_t k, uint32_t rank, uint32_t* out_axes,
                             size_t* out_count) {
  stowi_graph_list axes;
  STOW_TRY(stowi_graph_shape_list(call, "axes", k, &axes));
  *out_count = axes.is_given ? axes.count : rank;
  if (axes.is_given && !axes.is_known) {
    *out_count = SIZE_MAX;
    return STOW_OK;
  }
  for (uint32_t i = 0; i < rank; ++i) {
    out_axes[i] = i;
  }
  return stowi_graph_shape_list_axes(call, &axes, rank, out_axes);
}

stow_status stowi_graph_shape_pad(stow_shape_call* call) {
  STOW_TRY(check_pad_mode(call));
  stow_type result = *stow_shape_operand(call, 0);
  stowi_graph_list pads;
  STOW_TRY(stowi_graph_shape_bounds(call, "pads", 2, &pads));
  uint32_t axes[STOW_MAX_RANK];
  size_t count;
  STOW_TRY(read_axes(call, 3, result.rank, axes, &count));
  if (count == SIZE_MAX) {
    return stowi_graph_shape_set_unknown(call, 0, result.dtype, result.rank);
  }
  if (pads.count != 2 * count) {
    return stow_shape_fail(call,
                           "there are %zu pads for rank %zu; expected all begins, then all ends",
                           pads.count, count);
  }
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(add_pads(call, &pads, i, count, axes[i], &result));
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// tile, center_crop_pad, depth_to_space, space_to_depth, reverse_sequence

stow_status stowi_graph_shape_tile(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  stowi_graph_list repeats;
  STOW_TRY(stowi_graph_shape_bounds(call, "repeats", 1, &repeats));
  if (repeats.count != result.rank) {
    return stow_shape_fail(call, "there are %zu repeats for rank %" PRIu32, repeats.count,
                           result.rank);
  }
  for (uint32_t i = 0; i < result.rank; ++i) {
    bool is_known = repeats.at[i] != STOW_DIM_INVALID;
    result.dims[i] = is_known ? stow_dim_mul(stow_shape_dims(call), result.dims[i], repeats.at[i])
                              : stow_shape_data_dim(call, 0, i);
  }
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_center_crop_pad(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  stowi_graph_list shape;
  STOW_TRY(stowi_graph_shape_list(call, NULL, 1, &shape));
  uint32_t axes[STOW_MAX_RANK];
  size_t count;
  STOW_TRY(read_axes(call, SIZE_MAX, result.rank, axes, &count));
  if (shape.count != count) {
    return stow_shape_fail(call, "the shape has %zu dims for %zu axes", shape.count, count);
  }
  for (size_t i = 0; i < count; ++i) {
    bool is_known = shape.at[i] != STOW_DIM_INVALID;
    result.dims[axes[i]] = is_known ? shape.at[i] : stow_shape_data_dim(call, 0, axes[i]);
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// The attribute `blocksize` of a tensor [N, C, H, W]; `mode` is checked.
static stow_status read_block(stow_shape_call* call, int64_t* out_block, int64_t* out_square) {
  static const char* const modes[] = {"dcr", "crd", NULL};
  size_t mode;
  STOW_TRY(stowi_graph_shape_choice(call, "mode", modes, &mode));
  const stow_type* type = stow_shape_operand(call, 0);
  *out_block = stow_shape_attr_int(call, "blocksize", 0);
  if (type->rank != 4) {
    return stow_shape_fail(call, "operand 0 has rank %" PRIu32 ", expected 4", type->rank);
  }
  if (*out_block < 1 || !stowi_mul_i64(*out_block, *out_block, out_square)) {
    return stow_shape_fail(call, "blocksize %" PRId64 " is out of range", *out_block);
  }
  return STOW_OK;
}

static stow_status divide_dim(stow_shape_call* call, stow_type* type, uint32_t i, int64_t by) {
  if (!stowi_graph_shape_is_multiple(call, type->dims[i], by)) {
    return stow_shape_fail(call, "dim %" PRIu32 " is %s, which is not a multiple of %" PRId64, i,
                           stowi_graph_shape_dim_text(call, type->dims[i]).text, by);
  }
  type->dims[i] = stow_dim_floor_div(stow_shape_dims(call), type->dims[i], by);
  return STOW_OK;
}

stow_status stowi_graph_shape_depth_to_space(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  int64_t block;
  int64_t square;
  STOW_TRY(read_block(call, &block, &square));
  STOW_TRY(divide_dim(call, &result, 1, square));
  result.dims[2] = stow_dim_mul(stow_shape_dims(call), result.dims[2], block);
  result.dims[3] = stow_dim_mul(stow_shape_dims(call), result.dims[3], block);
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_space_to_depth(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  int64_t block;
  int64_t square;
  STOW_TRY(read_block(call, &block, &square));
  result.dims[1] = stow_dim_mul(stow_shape_dims(call), result.dims[1], square);
  STOW_TRY(divide_dim(call, &result, 2, block));
  STOW_TRY(divide_dim(call, &result, 3, block));
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_reverse_sequence(stow_shape_call* call) {
  const stow_type* type = stow_shape_operand(call, 0);
  const stow_type* lengths = stow_shape_operand(call, 1);
  int64_t batch = stow_shape_attr_int(call, "batch_axis", 1);
  int64_t time = stow_shape_attr_int(call, "time_axis", 0);
  uint32_t batch_axis;
  uint32_t time_axis;
  if (!stowi_graph_normal_axis(batch, type->rank, &batch_axis) ||
      !stowi_graph_normal_axis(time, type->rank, &time_axis) || batch_axis == time_axis) {
    return stow_shape_fail(call,
                           "batch_axis %" PRId64 " and time_axis %" PRId64
                           " must be two different dims of rank %" PRIu32,
                           batch, time, type->rank);
  }
  STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1 (lengths)"));
  if (lengths->rank != 1 ||
      stowi_graph_shape_differ(call, lengths->dims[0], type->dims[batch_axis])) {
    return stow_shape_fail(call, "operand 1 must have one length for each of %s sequences",
                           stowi_graph_shape_dim_text(call, type->dims[batch_axis]).text);
  }
  return stowi_graph_shape_same(call);
}

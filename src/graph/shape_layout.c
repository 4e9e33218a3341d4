// Shapes of ops that move elements without computing on them. Which of their results are views is
// in shape_view.c.
#include <inttypes.h>

#include "base/checked.h"
#include "base/diag.h"
#include "graph/shapes.h"

// ---------------------------------------------------------------------------------------------
// reshape, cast, expand: declared and checked

// The number of elements as a dim. STOW_DIM_INVALID where the table cannot hold it.
static stow_dim symbolic_count(stow_dims* dims, const stow_type* type) {
  stow_dim count = 1;
  for (uint32_t i = 0; i < type->rank; ++i) {
    count = stow_dim_mul(dims, count, type->dims[i]);
  }
  return count;
}

static bool is_bound(const stow_type* type) {
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stow_dim_is_const(type->dims[i])) {
      return false;
    }
  }
  return true;
}

// Counts that are not both numbers: refused where they can never be equal. An expression too large
// to be written down proves nothing, so that the call goes on; running out of memory fails it.
static stow_status check_symbolic_count(stow_shape_call* call, const stow_type* from,
                                        const stow_type* to) {
  stow_dims* dims = stow_shape_dims(call);
  stow_dim a = symbolic_count(dims, from);
  stow_dim b = symbolic_count(dims, to);
  if (a == STOW_DIM_INVALID || b == STOW_DIM_INVALID) {
    if (stow_dims_status(dims) == STOW_ERR_OUT_OF_MEMORY) {
      return STOW_ERR_OUT_OF_MEMORY;
    }
    stow_dims_clear_status(dims);
    return STOW_OK;
  }
  if (stowi_shape_differ(call, a, b)) {
    return stow_shape_fail(call, "the operand has %s elements and the result %s",
                           stowi_shape_dim_text(call, a).text, stowi_shape_dim_text(call, b).text);
  }
  return STOW_OK;
}

static stow_status check_count(stow_shape_call* call, const stow_type* from, const stow_type* to) {
  if (!is_bound(from) || !is_bound(to)) {
    return check_symbolic_count(call, from, to);
  }
  uint64_t a;
  uint64_t b;
  if (stow_type_elements(from, &a) != STOW_OK || stow_type_elements(to, &b) != STOW_OK) {
    return stow_shape_fail(call, "the number of elements does not fit in 64 bits");
  }
  if (a != b) {
    return stow_shape_fail(call, "the operand has %" PRIu64 " elements and the result %" PRIu64, a,
                           b);
  }
  return STOW_OK;
}

static stow_status check_declared_dtype(stow_shape_call* call, const stow_type* declared) {
  stow_dtype dtype = stow_shape_operand(call, 0)->dtype;
  if (declared->dtype != dtype) {
    return stow_shape_fail(call, "the operand is %s and the declared result %s",
                           stow_dtype_name(dtype), stow_dtype_name(declared->dtype));
  }
  return STOW_OK;
}

stow_status stowi_shape_reshape(stow_shape_call* call) {
  const stow_type* declared = stowi_shape_need_declared(call, 0);
  if (declared == NULL) {
    return STOW_ERR_TYPE;
  }
  STOW_TRY(check_declared_dtype(call, declared));
  STOW_TRY(check_count(call, stow_shape_operand(call, 0), declared));
  return stowi_shape_set(call, 0, declared);
}

stow_status stowi_shape_cast(stow_shape_call* call) {
  const stow_type* declared = stowi_shape_need_declared(call, 0);
  if (declared == NULL) {
    return STOW_ERR_TYPE;
  }
  stow_type converted = *stow_shape_operand(call, 0);
  converted.dtype = declared->dtype;
  if (!stow_type_equal(&converted, declared)) {
    return stow_shape_fail(call, "the declared result has other dims than the operand");
  }
  return stowi_shape_set(call, 0, declared);
}

stow_status stowi_shape_expand(stow_shape_call* call) {
  const stow_type* declared = stowi_shape_need_declared(call, 0);
  if (declared == NULL) {
    return STOW_ERR_TYPE;
  }
  STOW_TRY(check_declared_dtype(call, declared));
  STOW_TRY(stowi_shape_broadcast_to(call, 0, declared, "the operand"));
  return stowi_shape_set(call, 0, declared);
}

// ---------------------------------------------------------------------------------------------
// narrow, split, concat

stow_status stowi_shape_narrow(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  uint32_t axis;
  STOW_TRY(stowi_shape_axis(call, result.rank, &axis));
  int64_t start = stow_shape_attr_int(call, "start", 0);
  int64_t len = stow_shape_attr_int(call, "len", 0);
  if (start < 0 || len < 0) {
    return stow_shape_fail(call, "start %" PRId64 " and len %" PRId64 " must not be negative",
                           start, len);
  }
  stow_dim dim = result.dims[axis];
  if (stow_dim_is_const(dim) && (start > dim || len > dim - start)) {
    return stow_shape_fail(
        call, "start %" PRId64 " and len %" PRId64 " go beyond dim %" PRIu32 ", which is %" PRId64,
        start, len, axis, dim);
  }
  result.dims[axis] = len;
  return stowi_shape_set(call, 0, &result);
}

static stow_status split_sizes(stow_shape_call* call, const stow_type* whole, uint32_t axis,
                               const int64_t* sizes, size_t count) {
  int64_t sum = 0;
  for (size_t k = 0; k < count; ++k) {
    if (sizes[k] < 0 || !stowi_add_i64(sum, sizes[k], &sum)) {
      return stow_shape_fail(call, "size %" PRId64 " is out of range", sizes[k]);
    }
    stow_type part = *whole;
    part.dims[axis] = sizes[k];
    STOW_TRY(stowi_shape_set(call, k, &part));
  }
  if (stowi_shape_differ(call, whole->dims[axis], sum)) {
    return stow_shape_fail(call, "sizes add up to %" PRId64 ", dim %" PRIu32 " is %s", sum, axis,
                           stowi_shape_dim_text(call, whole->dims[axis]).text);
  }
  return STOW_OK;
}

static stow_status split_equally(stow_shape_call* call, const stow_type* whole, uint32_t axis,
                                 size_t count) {
  stow_dim dim = whole->dims[axis];
  if (stow_dim_is_const(dim) && dim % (int64_t)count != 0) {
    return stow_shape_fail(
        call, "dim %" PRIu32 ", which is %" PRId64 ", cannot be cut into %zu equal parts", axis,
        dim, count);
  }
  stow_type part = *whole;
  part.dims[axis] = stow_dim_floor_div(stow_shape_dims(call), dim, (int64_t)count);
  for (size_t k = 0; k < count; ++k) {
    STOW_TRY(stowi_shape_set(call, k, &part));
  }
  return STOW_OK;
}

stow_status stowi_shape_split(stow_shape_call* call) {
  const stow_type* whole = stow_shape_operand(call, 0);
  uint32_t axis;
  STOW_TRY(stowi_shape_axis(call, whole->rank, &axis));
  size_t results = stow_shape_result_count(call);
  int64_t parts = stow_shape_attr_int(call, "parts", 0);
  if (parts != 0 && parts != (int64_t)results) {
    return stow_shape_fail(call, "parts is %" PRId64 " and there are %zu results", parts, results);
  }
  size_t size_count;
  const int64_t* sizes = stowi_shape_ints(call, "sizes", &size_count);
  if (sizes == NULL) {
    return split_equally(call, whole, axis, results);
  }
  if (size_count != results) {
    return stow_shape_fail(call, "there are %zu sizes and %zu results", size_count, results);
  }
  return split_sizes(call, whole, axis, sizes, size_count);
}

// |sum| grows by operand |k|; its other dims take what operand |k| knows better.
static stow_status concat_one(stow_shape_call* call, size_t k, uint32_t axis, stow_type* sum) {
  const stow_type* next = stow_shape_operand(call, k);
  if (next == NULL) {
    return stow_shape_fail(call, "operand %zu is absent", k);
  }
  STOW_TRY(stowi_shape_same_dtype(call, 0, k));
  if (next->rank != sum->rank) {
    return stow_shape_fail(call, "operand %zu has rank %" PRIu32 ", operand 0 has %" PRIu32, k,
                           next->rank, sum->rank);
  }
  for (uint32_t i = 0; i < sum->rank; ++i) {
    if (i == axis) {
      sum->dims[i] = stow_dim_add(stow_shape_dims(call), sum->dims[i], next->dims[i]);
    } else if (stowi_shape_differ(call, sum->dims[i], next->dims[i])) {
      return stow_shape_fail(call, "dim %" PRIu32 " of operand %zu is %s, before it %s", i, k,
                             stowi_shape_dim_text(call, next->dims[i]).text,
                             stowi_shape_dim_text(call, sum->dims[i]).text);
    } else {
      sum->dims[i] = stowi_dim_known(sum->dims[i], next->dims[i]);
    }
  }
  return STOW_OK;
}

stow_status stowi_shape_concat(stow_shape_call* call) {
  stow_type sum = *stow_shape_operand(call, 0);
  uint32_t axis;
  STOW_TRY(stowi_shape_axis(call, sum.rank, &axis));
  for (size_t k = 1; k < stow_shape_operand_count(call); ++k) {
    STOW_TRY(concat_one(call, k, axis, &sum));
  }
  return stowi_shape_set(call, 0, &sum);
}

// ---------------------------------------------------------------------------------------------
// transpose, gather, kv_append, pad

bool stowi_shape_perm(const stow_shape_call* call, uint32_t rank, uint32_t* out_perm) {
  size_t count;
  const int64_t* perm = stowi_shape_ints(call, "perm", &count);
  if (perm != NULL && count != rank) {
    return false;
  }
  uint32_t seen = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t source = perm == NULL ? rank - 1 - i : perm[i];
    if (!stowi_normal_axis(source, rank, &out_perm[i]) || (seen >> out_perm[i] & 1) != 0) {
      return false;
    }
    seen |= UINT32_C(1) << out_perm[i];
  }
  return true;
}

stow_status stowi_shape_transpose(stow_shape_call* call) {
  const stow_type* from = stow_shape_operand(call, 0);
  uint32_t perm[STOW_MAX_RANK];
  if (!stowi_shape_perm(call, from->rank, perm)) {
    return stow_shape_fail(call, "perm does not name each of %" PRIu32 " dims once", from->rank);
  }
  stow_type result = *from;
  for (uint32_t i = 0; i < from->rank; ++i) {
    result.dims[i] = from->dims[perm[i]];
  }
  return stowi_shape_set(call, 0, &result);
}

stow_status stowi_shape_gather(stow_shape_call* call) {
  const stow_type* data = stow_shape_operand(call, 0);
  const stow_type* indices = stow_shape_operand(call, 1);
  uint32_t axis;
  STOW_TRY(stowi_shape_axis(call, data->rank, &axis));
  STOW_TRY(stowi_shape_integers(call, 1, "operand 1 (indices)"));
  uint32_t rank = data->rank - 1 + indices->rank;
  if (rank > STOW_MAX_RANK) {
    return stow_shape_fail(call, "the result would have rank %" PRIu32 ", at most %d is possible",
                           rank, STOW_MAX_RANK);
  }
  stow_type result = stow_type_make(data->dtype, 0, NULL);
  for (uint32_t i = 0; i < axis; ++i) {
    result.dims[result.rank++] = data->dims[i];
  }
  for (uint32_t i = 0; i < indices->rank; ++i) {
    result.dims[result.rank++] = indices->dims[i];
  }
  for (uint32_t i = axis + 1; i < data->rank; ++i) {
    result.dims[result.rank++] = data->dims[i];
  }
  return stowi_shape_set(call, 0, &result);
}

stow_status stowi_shape_kv_append(stow_shape_call* call) {
  const stow_type* cache = stow_shape_operand(call, 0);
  const stow_type* entries = stow_shape_operand(call, 1);
  uint32_t axis;
  STOW_TRY(stowi_shape_axis(call, cache->rank, &axis));
  STOW_TRY(stowi_shape_same_dtype(call, 0, 1));
  STOW_TRY(stowi_shape_integers(call, 2, "operand 2 (position)"));
  if (entries->rank != cache->rank) {
    return stow_shape_fail(call, "the cache has rank %" PRIu32 " and the new entries %" PRIu32,
                           cache->rank, entries->rank);
  }
  for (uint32_t i = 0; i < cache->rank; ++i) {
    stow_dim room = cache->dims[i];
    stow_dim taken = entries->dims[i];
    bool is_number = stow_dim_is_const(room) && stow_dim_is_const(taken);
    bool fits = i == axis ? !is_number || taken <= room : !stowi_shape_differ(call, room, taken);
    if (!fits) {
      return stow_shape_fail(call, "dim %" PRIu32 " of the new entries is %s, the cache has %s", i,
                             stowi_shape_dim_text(call, taken).text,
                             stowi_shape_dim_text(call, room).text);
    }
  }
  return stowi_shape_set(call, 0, cache);
}

static stow_status check_pad_mode(stow_shape_call* call) {
  static const char* const modes[] = {"constant", "reflect", "edge", "wrap", NULL};
  size_t mode;
  STOW_TRY(stowi_shape_choice(call, "mode", modes, &mode));
  const stow_type* value = stow_shape_operand(call, 1);
  if (value == NULL) {
    return STOW_OK;
  }
  if (mode != 0 || value->rank != 0) {
    return stow_shape_fail(call,
                           "operand 1 (value) must have rank 0 and goes with mode "
                           "\"constant\" only");
  }
  return stowi_shape_same_dtype(call, 0, 1);
}

// |dim| + |by|, which may be negative.
static stow_dim move_dim(stow_dims* dims, stow_dim dim, int64_t by) {
  if (by >= 0) {
    return stow_dim_add(dims, dim, by);
  }
  // -INT64_MIN is no int64_t: go there in two steps.
  return stow_dim_sub(dims, stow_dim_sub(dims, dim, -(by + 1)), 1);
}

stow_status stowi_shape_pad(stow_shape_call* call) {
  STOW_TRY(check_pad_mode(call));
  stow_type result = *stow_shape_operand(call, 0);
  size_t count;
  const int64_t* pads = stowi_shape_ints(call, "pads", &count);
  if (count != 2 * (size_t)result.rank) {
    return stow_shape_fail(
        call, "there are %zu pads for rank %" PRIu32 ": all begins, then all ends, are needed",
        count, result.rank);
  }
  for (uint32_t i = 0; i < result.rank; ++i) {
    int64_t both;
    if (!stowi_add_i64(pads[i], pads[result.rank + i], &both)) {
      return stow_shape_fail(call, "the pads of dim %" PRIu32 " are out of range", i);
    }
    result.dims[i] = move_dim(stow_shape_dims(call), result.dims[i], both);
  }
  return stowi_shape_set(call, 0, &result);
}

// Shapes of quantisation and of elementwise ops on quantised tensors. A quantised tensor comes with
// a scale and a zero point, one for all elements, one for each index along an axis, or one for each
// block along an axis. The element type of a quantised result is that of its zero point.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

// ---------------------------------------------------------------------------------------------
// Scales and zero points

static bool is_single(const stow_type* type) {
  return type->rank == 0 || (type->rank == 1 && type->dims[0] == 1);
}

static stow_status check_scale(stow_shape_call* call, size_t k) {
  const stow_type* x = stow_shape_operand(call, 0);
  const stow_type* scale = stow_shape_operand(call, k);
  int64_t block = stow_shape_attr_int(call, "block_size", 0);
  if (block < 0) {
    return stow_shape_fail(call, "block_size is %" PRId64 ", expected at least 0", block);
  }
  if (scale == NULL || (block == 0 && (is_single(scale) || x->rank <= 1))) {
    return STOW_OK;
  }
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_axis(call, x->rank, &axis));
  if (block != 0) {
    // Operand |k| has operand 0's dims except for |axis|, along which there is one for each
    // |block|.
    stow_type wanted = *stow_shape_operand(call, 0);
    const stow_type* actual = stow_shape_operand(call, k);
    wanted.dims[axis] = stow_dim_ceil_div(stow_shape_dims(call), wanted.dims[axis], block);
    bool fits = actual->rank == wanted.rank;
    for (uint32_t i = 0; fits && i < wanted.rank; ++i) {
      fits = !stowi_graph_shape_differ(call, actual->dims[i], wanted.dims[i]);
    }
    return fits ? STOW_OK
                : stow_shape_fail(
                      call,
                      "operand %zu must have operand 0's dims with %s along axis %" PRIu32
                      ", one for each block of %" PRId64,
                      k, stowi_graph_shape_dim_text(call, wanted.dims[axis]).text, axis, block);
  }
  if (scale->rank != 1 || stowi_graph_shape_differ(call, scale->dims[0], x->dims[axis])) {
    return stow_shape_fail(call, "operand %zu must have one element, or one dim of %s", k,
                           stowi_graph_shape_dim_text(call, x->dims[axis]).text);
  }
  return STOW_OK;
}

static stow_status check_scales(stow_shape_call* call) {
  STOW_TRY(check_scale(call, 1));
  return check_scale(call, 2);
}

// ---------------------------------------------------------------------------------------------
// To quantised, and back

static stow_status set_like_first(stow_shape_call* call, stow_dtype dtype) {
  stow_type result = *stow_shape_operand(call, 0);
  result.dtype = dtype;
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_quantize_linear(stow_shape_call* call) {
  STOW_TRY(check_scales(call));
  const stow_type* zero = stow_shape_operand(call, 2);
  stow_dtype dtype;
  STOW_TRY(stowi_graph_shape_dtype(call, "dtype", zero == NULL ? STOW_U8 : zero->dtype, &dtype));
  if (zero != NULL && zero->dtype != dtype) {
    return stow_shape_fail(call, "dtype is %s, but operand 2 (zero point) is %s",
                           stow_dtype_name(dtype), stow_dtype_name(zero->dtype));
  }
  return set_like_first(call, dtype);
}

stow_status stowi_graph_shape_dequantize_linear(stow_shape_call* call) {
  STOW_TRY(check_scales(call));
  if (stow_shape_operand(call, 2) != NULL) {
    STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 2));
  }
  stow_dtype dtype;
  STOW_TRY(stowi_graph_shape_dtype(call, "dtype", stow_shape_operand(call, 1)->dtype, &dtype));
  return set_like_first(call, dtype);
}

stow_status stowi_graph_shape_dynamic_quantize_linear(stow_shape_call* call) {
  stow_type scale = stow_type_make(STOW_F32, 0, NULL);
  stow_type zero = stow_type_make(STOW_U8, 0, NULL);
  STOW_TRY(set_like_first(call, STOW_U8));
  STOW_TRY(stowi_graph_shape_set(call, 1, &scale));
  return stowi_graph_shape_set(call, 2, &zero);
}

// ---------------------------------------------------------------------------------------------
// Elementwise, on quantised tensors

// The dtype of zero point |k|, or |fallback| if it is missing.
static stow_dtype zero_dtype(const stow_shape_call* call, size_t k, size_t fallback) {
  const stow_type* zero = stow_shape_operand(call, k);
  return zero == NULL ? stow_shape_operand(call, fallback)->dtype : zero->dtype;
}

// x, scale, zero, scale of the result, zero of the result
stow_status stowi_graph_shape_qlinear_unary(stow_shape_call* call) {
  return set_like_first(call, zero_dtype(call, 4, 0));
}

stow_status stowi_graph_shape_qlinear_softmax(stow_shape_call* call) {
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_axis(call, stow_shape_operand(call, 0)->rank, &axis));
  return stowi_graph_shape_qlinear_unary(call);
}

// a, scale, zero, b, scale, zero, scale of the result, zero of the result
stow_status stowi_graph_shape_qlinear_binary(stow_shape_call* call) {
  stow_type result;
  if (stow_shape_operand(call, 3) == NULL) {
    return stow_shape_fail(call, "operand 3 is absent");
  }
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 3));
  STOW_TRY(stowi_graph_shape_broadcast(call, stow_shape_operand(call, 0),
                                       stow_shape_operand(call, 3), &result));
  result.dtype = zero_dtype(call, 7, 0);
  return stowi_graph_shape_set(call, 0, &result);
}

// Scale and zero of the result, then x, scale, zero for each part.
stow_status stowi_graph_shape_qlinear_concat(stow_shape_call* call) {
  size_t count = stow_shape_operand_count(call);
  if (count % 3 != 2) {
    return stow_shape_fail(call, "each part needs a scale and a zero point");
  }
  stow_type result = *stow_shape_operand(call, 2);
  result.dtype = stow_shape_operand(call, 1)->dtype;
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_axis(call, result.rank, &axis));
  for (size_t k = 5; k < count; k += 3) {
    // Adds operand |k| to what is joined along |axis|.
    const stow_type* part = stow_shape_operand(call, k);
    bool fits = part != NULL && part->rank == result.rank;
    for (uint32_t i = 0; fits && i < result.rank; ++i) {
      fits = i == axis || !stowi_graph_shape_differ(call, part->dims[i], result.dims[i]);
    }
    if (!fits) {
      return stow_shape_fail(call, "operand %zu must have operand 2's dims but for axis %" PRIu32,
                             k, axis);
    }
    for (uint32_t i = 0; i < result.rank; ++i) {
      result.dims[i] = i == axis
                           ? stow_dim_add(stow_shape_dims(call), result.dims[i], part->dims[i])
                           : stowi_graph_dim_known(result.dims[i], part->dims[i]);
    }
  }
  return stowi_graph_shape_set(call, 0, &result);
}

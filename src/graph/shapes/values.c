// Reads what shapes depend on besides types: lists and numbers from an attribute, or from an
// operand whose elements are known. Lists are short (at most twice the rank) and stay on the stack.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

// Element |i| of operand |k|, and whether it is a bound.
static void read_element(stow_shape_call* call, size_t k, uint32_t i, bool with_bounds,
                         stowi_graph_list* out) {
  if (!with_bounds) {
    out->at[i] = stow_shape_known(call, k, i);
    return;
  }
  stowi_graph_exactness exactness = stowi_graph_shape_exactness(call, k, i);
  out->at[i] = stow_shape_bound(call, k, i);
  out->bounds |= (uint32_t)(exactness != STOWI_GRAPH_EXACT) << i;
  out->signeds |= (uint32_t)(exactness == STOWI_GRAPH_UPPER_BOUND_SIGNED) << i;
}

static stow_status list_of_operand(stow_shape_call* call, size_t k, bool with_bounds,
                                   stowi_graph_list* out) {
  const stow_type* type = stow_shape_operand(call, k);
  if (type->rank > 1) {
    return stow_shape_fail(call, "operand %zu has rank %" PRIu32 ", expected a list", k,
                           type->rank);
  }
  stow_dim count = type->rank == 0 ? 1 : type->dims[0];
  if (!stow_dim_is_const(count)) {
    return stow_shape_fail_unknown(call, "operand %zu has %s numbers", k,
                                   stowi_graph_shape_dim_text(call, count).text);
  }
  if (count > STOWI_GRAPH_MAX_LIST) {
    return stow_shape_fail(call, "operand %zu has %" PRId64 " numbers, the maximum is %d", k, count,
                           STOWI_GRAPH_MAX_LIST);
  }
  out->is_given = true;
  out->is_known = true;
  out->count = (size_t)count;
  for (uint32_t i = 0; i < out->count; ++i) {
    read_element(call, k, i, with_bounds, out);
    out->is_known = out->is_known && out->at[i] != STOW_DIM_INVALID;
  }
  return STOW_OK;
}

static stow_status read_list(stow_shape_call* call, const char* name, size_t k, bool with_bounds,
                             stowi_graph_list* out) {
  out->is_given = false;
  out->is_known = false;
  out->count = 0;
  out->bounds = 0;
  out->signeds = 0;
  const int64_t* numbers = name == NULL ? NULL : stowi_graph_shape_ints(call, name, &out->count);
  if (numbers != NULL) {
    if (out->count > STOWI_GRAPH_MAX_LIST) {
      return stow_shape_fail(call, "%s has %zu numbers, the maximum is %d", name, out->count,
                             STOWI_GRAPH_MAX_LIST);
    }
    out->is_given = true;
    out->is_known = true;
    for (size_t i = 0; i < out->count; ++i) {
      out->at[i] = stow_dim_of_int(stow_shape_dims(call), numbers[i]);
    }
    return STOW_OK;
  }
  if (stow_shape_operand(call, k) == NULL) {
    return STOW_OK;
  }
  STOW_TRY(stowi_graph_shape_integers(call, k, "a list"));
  return list_of_operand(call, k, with_bounds, out);
}

stow_status stowi_graph_shape_list(stow_shape_call* call, const char* name, size_t k,
                                   stowi_graph_list* out) {
  return read_list(call, name, k, false, out);
}

stow_status stowi_graph_shape_bounds(stow_shape_call* call, const char* name, size_t k,
                                     stowi_graph_list* out) {
  return read_list(call, name, k, true, out);
}

stow_status stowi_graph_shape_list_axes(stow_shape_call* call, const stowi_graph_list* list,
                                        uint32_t rank, uint32_t* out_axes) {
  uint32_t seen = 0;
  for (size_t i = 0; i < list->count; ++i) {
    int64_t number = INT64_MIN;
    uint32_t axis;
    if (!stowi_graph_shape_number(call, list->at[i], &number) ||
        !stowi_graph_normal_axis(number, rank, &axis)) {
      return stow_shape_fail(call, "axis %s is out of range for rank %" PRIu32,
                             stowi_graph_shape_dim_text(call, list->at[i]).text, rank);
    }
    if ((seen >> axis & 1) != 0) {
      return stow_shape_fail(call, "axis %" PRId64 " is repeated", number);
    }
    seen |= UINT32_C(1) << axis;
    out_axes[i] = axis;  // at most the rank, since none is repeated
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_set_unknown(stow_shape_call* call, size_t k, stow_dtype dtype,
                                          uint32_t rank) {
  stow_type result = stow_type_make(dtype, 0, NULL);
  result.rank = rank < STOW_MAX_RANK ? rank : STOW_MAX_RANK;
  for (uint32_t i = 0; i < result.rank; ++i) {
    result.dims[i] = stow_shape_data_dim(call, k, i);
  }
  return stowi_graph_shape_set(call, k, &result);
}

stow_dim stowi_graph_shape_scalar(stow_shape_call* call, size_t k) {
  const stow_type* type = stow_shape_operand(call, k);
  return type == NULL ? STOW_DIM_INVALID : stow_shape_known(call, k, 0);
}

stow_dim stowi_graph_shape_scalar_bound(stow_shape_call* call, size_t k) {
  return stow_shape_operand(call, k) == NULL ? STOW_DIM_INVALID : stow_shape_bound(call, k, 0);
}

stow_status stowi_graph_shape_one_element(stow_shape_call* call, size_t k, const char* what) {
  const stow_type* type = stow_shape_operand(call, k);
  for (uint32_t i = 0; type != NULL && i < type->rank; ++i) {
    if (stow_dim_is_const(type->dims[i]) && type->dims[i] != 1) {
      return stow_shape_fail(call, "operand %zu (%s) must have one element", k, what);
    }
  }
  return STOW_OK;
}

bool stowi_graph_shape_number(stow_shape_call* call, stow_dim dim, int64_t* out_number) {
  return dim != STOW_DIM_INVALID && stow_dim_to_int(stow_shape_dims(call), dim, out_number);
}

stow_dim stowi_graph_shape_product(stow_shape_call* call, const stow_type* type, uint32_t first,
                                   uint32_t end) {
  stow_dim product = 1;
  for (uint32_t i = first; i < end; ++i) {
    product = stow_dim_mul(stow_shape_dims(call), product, type->dims[i]);
  }
  return product;
}

stow_status stowi_graph_shape_dtype(stow_shape_call* call, const char* name, stow_dtype fallback,
                                    stow_dtype* out_dtype) {
  const stow_attr* attr = stow_shape_attr(call, name);
  *out_dtype = fallback;
  if (attr == NULL || attr->kind != STOW_ATTR_STRING || attr->s.size == 0) {
    return STOW_OK;
  }
  if (!stow_dtype_from_name(attr->s, out_dtype)) {
    return stow_shape_fail(call, "unknown %s \"%.*s\"; expected an element type such as f32", name,
                           STOWI_STR_ARG(attr->s));
  }
  return STOW_OK;
}

bool stowi_graph_shape_known_truth(stow_shape_call* call, size_t k, size_t i, bool* out_truth) {
  double real;
  int64_t number;
  if (stow_dtype_kind_of(stow_shape_operand(call, k)->dtype) == STOW_KIND_FLOAT) {
    bool is_known = stow_shape_known_float(call, k, i, &real);
    *out_truth = is_known && (real < 0 || real > 0 || real != real);
    return is_known;
  }
  stow_dim dim = stow_shape_known(call, k, i);
  if (stowi_graph_shape_number(call, dim, &number)) {
    *out_truth = number != 0;
    return true;
  }
  *out_truth = true;
  return dim != STOW_DIM_INVALID && stow_dim_at_least(stow_shape_dims(call), dim, 1, 1);
}

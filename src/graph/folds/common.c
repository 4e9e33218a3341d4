// Shared by fold functions: elements of either kind, and conversion between an element's number and
// its coordinates. O(rank) per element, of which there are at most STOW_MAX_KNOWN.
#include "graph/folds/fold.h"
#include "graph/shapes/shapes.h"

stowi_graph_element stowi_graph_element_of(stow_shape_call* call, stow_dtype dtype,
                                           int64_t number) {
  if (stow_dtype_kind_of(dtype) == STOW_KIND_FLOAT) {
    return stowi_graph_real((double)number);
  }
  return stowi_graph_whole(stow_dim_of_int(stow_shape_dims(call), number));
}

stowi_graph_element stowi_graph_fold_get(stow_shape_call* call, size_t k, uint64_t i) {
  stow_dtype_kind kind = stow_dtype_kind_of(stow_shape_operand(call, k)->dtype);
  double real;
  stowi_graph_element element = stowi_graph_unknown();
  if (kind == STOW_KIND_COMPLEX) {
    return element;
  }
  if (kind != STOW_KIND_FLOAT) {
    element = stowi_graph_whole(stow_shape_bound(call, k, (size_t)i));
  } else if (stowi_graph_shape_bound_float(call, k, (size_t)i, &real)) {
    element = stowi_graph_real(real);
  }
  stowi_graph_exactness exactness = stowi_graph_shape_exactness(call, k, (size_t)i);
  if (exactness == STOWI_GRAPH_FLOAT_DIM) {
    return stowi_graph_whole(stowi_graph_shape_float_dim(call, k, (size_t)i));
  }
  element.exactness = exactness;
  return element;
}

void stowi_graph_fold_put(stow_shape_call* call, size_t k, uint64_t i,
                          stowi_graph_element element) {
  stow_dims* dims = stow_shape_dims(call);
  stow_status status = stow_dims_status(dims);
  if (status != STOW_OK && status != STOW_ERR_OUT_OF_MEMORY) {
    stow_dims_clear_status(dims);
  }
  const stow_type* type = stow_shape_declared(call, k);  // NULL: the node has no such result
  bool is_float = type != NULL && stow_dtype_kind_of(type->dtype) == STOW_KIND_FLOAT;
  int64_t number;
  if (element.kind == STOWI_GRAPH_ELEMENT_WHOLE && is_float) {
    if (stowi_graph_element_number(call, element, &number)) {
      stow_fold_set_float(call, k, (size_t)i, (double)number);
    } else if (element.exactness == STOWI_GRAPH_EXACT) {
      stowi_graph_fold_set_float_dim(call, k, (size_t)i, element.whole);
    }
    return;
  }
  if (element.kind == STOWI_GRAPH_ELEMENT_WHOLE) {
    stow_fold_set(call, k, (size_t)i, element.whole);
  } else if (element.kind == STOWI_GRAPH_ELEMENT_REAL) {
    stow_fold_set_float(call, k, (size_t)i, element.real);
  }
  if (element.exactness != STOWI_GRAPH_EXACT) {
    stowi_graph_fold_set_exactness(call, k, (size_t)i, element.exactness);
  }
}

bool stowi_graph_element_number(stow_shape_call* call, stowi_graph_element element,
                                int64_t* out_number) {
  return element.kind == STOWI_GRAPH_ELEMENT_WHOLE && element.exactness == STOWI_GRAPH_EXACT &&
         stow_dim_to_int(stow_shape_dims(call), element.whole, out_number);
}

stow_status stowi_graph_fold_end(stow_shape_call* call) {
  stow_dims* dims = stow_shape_dims(call);
  stow_status status = stow_dims_status(dims);
  if (status == STOW_ERR_OUT_OF_MEMORY) {
    return status;
  }
  if (status != STOW_OK) {
    stow_dims_clear_status(dims);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Bounds

bool stowi_graph_element_is_positive(stow_shape_call* call, stowi_graph_element element) {
  if (element.exactness != STOWI_GRAPH_EXACT) {
    return element.exactness == STOWI_GRAPH_UPPER_BOUND;
  }
  return element.kind == STOWI_GRAPH_ELEMENT_REAL
             ? element.real >= 0
             : element.kind == STOWI_GRAPH_ELEMENT_WHOLE &&
                   stow_dim_at_least(stow_shape_dims(call), element.whole, 0, 0);
}

// Whether a quotient by the element rises with the dividend.
static bool is_divisor(stow_shape_call* call, stowi_graph_element element) {
  if (element.exactness != STOWI_GRAPH_EXACT) {
    return false;
  }
  return element.kind == STOWI_GRAPH_ELEMENT_REAL
             ? element.real > 0
             : element.kind == STOWI_GRAPH_ELEMENT_WHOLE &&
                   stow_dim_at_least(stow_shape_dims(call), element.whole, 1, 1);
}

// Unsigned results below 0 would wrap to large ones.
static bool is_signed(const stow_shape_call* call) {
  stow_dtype_kind kind = stow_dtype_kind_of(stow_shape_declared(call, 0)->dtype);
  return kind == STOW_KIND_SIGNED || kind == STOW_KIND_FLOAT;
}

// Whether bounds among |a| and |b| give a bound.
static bool gives_bound(stow_shape_call* call, stowi_graph_rule rule, stowi_graph_element a,
                        stowi_graph_element b) {
  bool is_positive = stowi_graph_element_is_positive(call, a);
  bool is_other_positive = stowi_graph_element_is_positive(call, b);
  switch (rule) {
    case STOWI_GRAPH_RULE_RISES:
    case STOWI_GRAPH_RULE_MAX: return is_signed(call) || (is_positive && is_other_positive);
    case STOWI_GRAPH_RULE_FIRST: return is_signed(call) && b.exactness == STOWI_GRAPH_EXACT;
    case STOWI_GRAPH_RULE_POSITIVE:
      return (is_positive && is_other_positive) ||
             (is_positive && a.exactness == STOWI_GRAPH_EXACT) ||
             (is_other_positive && b.exactness == STOWI_GRAPH_EXACT);
    case STOWI_GRAPH_RULE_DIVIDE: return is_divisor(call, b);
    default: return false;
  }
}

static stowi_graph_exactness exactness_of(stow_shape_call* call, stowi_graph_rule rule,
                                          stowi_graph_element a, stowi_graph_element b) {
  bool is_positive = stowi_graph_element_is_positive(call, a);
  bool is_other_positive = stowi_graph_element_is_positive(call, b);
  bool is_certain = rule == STOWI_GRAPH_RULE_MAX ? is_positive || is_other_positive
                                                 : is_positive && is_other_positive;
  return is_certain && rule != STOWI_GRAPH_RULE_FIRST ? STOWI_GRAPH_UPPER_BOUND
                                                      : STOWI_GRAPH_UPPER_BOUND_SIGNED;
}

static stowi_graph_element exact(stowi_graph_element element) {
  element.exactness = STOWI_GRAPH_EXACT;
  return element;
}

static stowi_graph_element unless_bound(stowi_graph_element element) {
  return element.exactness == STOWI_GRAPH_EXACT ? element : stowi_graph_unknown();
}

stowi_graph_element stowi_graph_fold_apply(stow_shape_call* call, stowi_graph_rule rule,
                                           stowi_graph_binary compute, stowi_graph_element a,
                                           stowi_graph_element b) {
  bool are_exact = a.exactness == STOWI_GRAPH_EXACT && b.exactness == STOWI_GRAPH_EXACT;
  if (are_exact || rule == STOWI_GRAPH_RULE_ITSELF) {
    return compute(call, a, b);
  }
  if (!gives_bound(call, rule, a, b)) {
    return compute(call, unless_bound(a), unless_bound(b));
  }
  stowi_graph_element result = compute(call, exact(a), exact(b));
  result.exactness = exactness_of(call, rule, a, b);
  return result;
}

// ---------------------------------------------------------------------------------------------
// Indices

const stow_type* stowi_graph_fold_operand(const stow_shape_call* call, size_t k) {
  const stow_type* type = stow_shape_operand(call, k);
  uint64_t elements;
  return type != NULL && stow_type_elements(type, &elements) == STOW_OK && elements <= SIZE_MAX
             ? type
             : NULL;
}

const stow_type* stowi_graph_fold_known(const stow_shape_call* call, size_t k) {
  return stowi_graph_shape_has_known(call, k) ? stowi_graph_fold_operand(call, k) : NULL;
}

uint64_t stowi_graph_fold_count(const stow_type* type) {
  uint64_t elements;
  return stow_type_elements(type, &elements) == STOW_OK && elements <= STOW_MAX_KNOWN ? elements
                                                                                      : 0;
}

void stowi_graph_unravel(const stow_type* type, uint64_t i, int64_t* out_at) {
  for (uint32_t axis = type->rank; axis-- > 0;) {
    uint64_t dim = (uint64_t)type->dims[axis];
    out_at[axis] = (int64_t)(i % dim);
    i /= dim;
  }
}

uint64_t stowi_graph_ravel(const stow_type* type, const int64_t* at) {
  uint64_t i = 0;
  for (uint32_t axis = 0; axis < type->rank; ++axis) {
    i = i * (uint64_t)type->dims[axis] + (uint64_t)at[axis];
  }
  return i;
}

uint64_t stowi_graph_broadcast_index(const stow_type* type, const stow_type* result, uint64_t i) {
  uint64_t index = 0;
  uint64_t stride = 1;
  for (uint32_t back = 1; back <= type->rank; ++back) {
    uint64_t dim = (uint64_t)type->dims[type->rank - back];
    uint64_t whole = (uint64_t)result->dims[result->rank - back];
    index += dim == 1 ? 0 : i % whole * stride;
    stride *= dim;
    i /= whole;
  }
  return index;
}

bool stowi_graph_normal_index(int64_t index, int64_t dim, int64_t* out_index) {
  if (index >= dim || index < -dim) {
    return false;
  }
  *out_index = index < 0 ? index + dim : index;
  return true;
}

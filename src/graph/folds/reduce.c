// Known elements of ops that combine elements along axes: reductions, running sums, and selection
// of the largest, for which all elements involved must be known. O(elements), topk O(k × elements).
#include <string.h>

#include "graph/folds/fold.h"
#include "graph/shapes/shapes.h"

// ---------------------------------------------------------------------------------------------
// Combining

typedef enum combination { SUM, MEAN, MAX, MIN, PROD, NO_COMBINATION } combination;

static double combine_reals(combination how, double a, double b) {
  switch (how) {
    case MAX: return a < b ? b : a;
    case MIN: return b < a ? b : a;
    case PROD: return a * b;
    default: return a + b;
  }
}

static stow_dim combine_dims(stow_dims* dims, combination how, stow_dim a, stow_dim b) {
  switch (how) {
    case MAX: return stow_dim_max(dims, a, b);
    case MIN: return stow_dim_min(dims, a, b);
    case PROD: return stow_dim_mul(dims, a, b);
    default: return stow_dim_add(dims, a, b);
  }
}

static stowi_graph_element combine_exact(stow_shape_call* call, combination how,
                                         stowi_graph_element a, stowi_graph_element b) {
  bool is_ordered = a.real == a.real && b.real == b.real;  // otherwise neither is larger
  bool is_float = stow_dtype_kind_of(stow_shape_operand(call, 0)->dtype) == STOW_KIND_FLOAT;
  if (a.kind != b.kind || a.kind == STOWI_GRAPH_ELEMENT_UNKNOWN ||
      (is_float && a.kind == STOWI_GRAPH_ELEMENT_WHOLE) ||  // partial sums may round
      ((how == MAX || how == MIN) && !is_ordered)) {
    return stowi_graph_unknown();
  }
  return a.kind == STOWI_GRAPH_ELEMENT_REAL
             ? stowi_graph_real(combine_reals(how, a.real, b.real))
             : stowi_graph_whole(combine_dims(stow_shape_dims(call), how, a.whole, b.whole));
}

#define COMBINE(name, how)                                                      \
  static stowi_graph_element name(stow_shape_call* call, stowi_graph_element a, \
                                  stowi_graph_element b) {                      \
    return combine_exact(call, how, a, b);                                      \
  }

COMBINE(sum_of, SUM)
COMBINE(max_of, MAX)
COMBINE(min_of, MIN)
COMBINE(product_of, PROD)

static stowi_graph_element combine(stow_shape_call* call, combination how, stowi_graph_element a,
                                   stowi_graph_element b) {
  switch (how) {
    case MAX: return stowi_graph_fold_apply(call, STOWI_GRAPH_RULE_MAX, max_of, a, b);
    case MIN: return stowi_graph_fold_apply(call, STOWI_GRAPH_RULE_RISES, min_of, a, b);
    case PROD: return stowi_graph_fold_apply(call, STOWI_GRAPH_RULE_POSITIVE, product_of, a, b);
    default: return stowi_graph_fold_apply(call, STOWI_GRAPH_RULE_RISES, sum_of, a, b);
  }
}

// ---------------------------------------------------------------------------------------------
// reduce

// The axes to reduce, as bits; false if unknown.
static bool reduced_axes(stow_shape_call* call, uint32_t rank, uint32_t* out_bits) {
  stowi_graph_list axes;
  uint32_t order[STOW_MAX_RANK];
  if (stowi_graph_shape_list(call, "axes", 1, &axes) != STOW_OK ||
      (axes.is_given && !axes.is_known) ||
      stowi_graph_shape_list_axes(call, &axes, rank, order) != STOW_OK) {
    return false;
  }
  *out_bits = axes.count == 0 ? UINT32_MAX : 0;
  for (size_t i = 0; i < axes.count; ++i) {
    *out_bits |= UINT32_C(1) << order[i];
  }
  return true;
}

static combination known_combination(const stow_shape_call* call) {
  static const char* const names[] = {"sum", "mean", "max", "min", "prod"};
  const stow_attr* op = stow_shape_attr(call, "op");
  for (int i = 0; op != NULL && i < NO_COMBINATION; ++i) {
    if (stow_str_equal(op->s, stow_str_of(names[i]))) {
      return (combination)i;
    }
  }
  return NO_COMBINATION;
}

// All elements of |part| from coordinates |base| on, combined. |count| is above 0.
static stowi_graph_element reduce_part(stow_shape_call* call, combination how,
                                       const stow_type* part, uint64_t count, const int64_t* base) {
  const stow_type* type = stow_shape_operand(call, 0);
  stowi_graph_element sum = stowi_graph_unknown();
  for (uint64_t i = 0; i < count; ++i) {
    int64_t at[STOW_MAX_RANK];
    stowi_graph_unravel(part, i, at);
    for (uint32_t axis = 0; axis < type->rank; ++axis) {
      at[axis] += base[axis];
    }
    stowi_graph_element next = stowi_graph_fold_get(call, 0, stowi_graph_ravel(type, at));
    sum = i == 0 ? next : combine(call, how, sum, next);
  }
  if (how == MEAN) {  // for integers it depends on how the sum is represented
    sum.real /= (double)count;
    return sum.kind == STOWI_GRAPH_ELEMENT_REAL ? sum : stowi_graph_unknown();
  }
  return sum;
}

stow_status stowi_graph_fold_reduce(stow_shape_call* call) {
  const stow_type* type = stowi_graph_fold_known(call, 0);
  combination how = known_combination(call);
  uint32_t bits;
  if (type == NULL || how == NO_COMBINATION || !reduced_axes(call, type->rank, &bits)) {
    return stowi_graph_fold_end(call);
  }
  stow_type kept;
  stow_type part;
  // |type| with 1 for the axes in |bits|, and 1 for all others.
  kept = *type;
  part = *type;
  for (uint32_t i = 0; i < type->rank; ++i) {
    bool is_reduced = (bits >> i & 1) != 0;
    *(is_reduced ? &kept.dims[i] : &part.dims[i]) = 1;
  }
  uint64_t results = stowi_graph_fold_count(&kept);
  uint64_t count = stowi_graph_fold_count(&part);
  // The shape function counts differently: axes mean something else for this op.
  if (count == 0 || results != stowi_graph_fold_count(stow_shape_declared(call, 0))) {
    return stowi_graph_fold_end(call);
  }
  for (uint64_t i = 0; i < results; ++i) {
    int64_t base[STOW_MAX_RANK];
    stowi_graph_unravel(&kept, i, base);
    stowi_graph_fold_put(call, 0, i, reduce_part(call, how, &part, count, base));
  }
  return stowi_graph_fold_end(call);
}

// ---------------------------------------------------------------------------------------------
// Lines along one axis

// Element |i| of line |line|: those elements of |type| that differ in |axis| alone.
typedef struct lines {
  const stow_type* type;
  uint32_t axis;
  uint64_t count;   // of lines
  uint64_t length;  // of each
  uint64_t stride;  // between elements of a line
} lines;

static bool make_lines(const stow_type* type, int64_t axis, lines* out) {
  if (type == NULL || !stowi_graph_normal_axis(axis, type->rank, &out->axis)) {
    return false;
  }
  uint64_t elements = stowi_graph_fold_count(type);
  out->type = type;
  out->length = (uint64_t)type->dims[out->axis];
  out->count = elements == 0 ? 0 : elements / out->length;
  out->stride = 1;
  for (uint32_t i = out->axis + 1; elements != 0 && i < type->rank; ++i) {
    out->stride *= (uint64_t)type->dims[i];
  }
  return elements != 0;
}

static uint64_t line_element(const lines* l, uint64_t line, uint64_t i) {
  uint64_t inner = line % l->stride;
  return (line / l->stride * l->length + i) * l->stride + inner;
}

static stow_status fold_cumulate(stow_shape_call* call, combination how) {
  int64_t axis = stow_shape_attr_int(call, "axis", 0);
  lines l;
  if ((stow_shape_operand(call, 1) == NULL ||
       stowi_graph_element_number(call, stowi_graph_fold_get(call, 1, 0), &axis)) &&
      make_lines(stowi_graph_fold_known(call, 0), axis, &l)) {
    for (uint64_t line = 0; line < l.count; ++line) {
      bool is_exclusive = stow_shape_attr_bool(call, "exclusive", false);
      bool is_reverse = stow_shape_attr_bool(call, "reverse", false);
      stowi_graph_element sum = stowi_graph_element_of(call, l.type->dtype, how == PROD ? 1 : 0);
      for (uint64_t i = 0; i < l.length; ++i) {
        uint64_t at = line_element(&l, line, is_reverse ? l.length - 1 - i : i);
        stowi_graph_element next = combine(call, how, sum, stowi_graph_fold_get(call, 0, at));
        stowi_graph_fold_put(call, 0, at, is_exclusive ? sum : next);
        sum = next;
      }
    }
  }
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_cumsum(stow_shape_call* call) { return fold_cumulate(call, SUM); }
stow_status stowi_graph_fold_cumprod(stow_shape_call* call) { return fold_cumulate(call, PROD); }

// ---------------------------------------------------------------------------------------------
// The largest

// Whether element |a| of operand 0 comes before element |b|; false if either is unknown.
static bool comes_before(stow_shape_call* call, uint64_t a, uint64_t b, bool is_largest) {
  stowi_graph_element x = stowi_graph_fold_get(call, 0, is_largest ? a : b);
  stowi_graph_element y = stowi_graph_fold_get(call, 0, is_largest ? b : a);
  int64_t m;
  int64_t n;
  if (x.kind == STOWI_GRAPH_ELEMENT_REAL && y.kind == STOWI_GRAPH_ELEMENT_REAL) {
    return x.real > y.real;
  }
  return stowi_graph_element_number(call, x, &m) && stowi_graph_element_number(call, y, &n) &&
         m > n;
}

static bool is_line_known(stow_shape_call* call, const lines* l, uint64_t line) {
  for (uint64_t i = 0; i < l->length; ++i) {
    int64_t number;
    stowi_graph_element e = stowi_graph_fold_get(call, 0, line_element(l, line, i));
    bool is_ordered =
        e.kind == STOWI_GRAPH_ELEMENT_REAL && e.exactness == STOWI_GRAPH_EXACT && e.real == e.real;
    if (!is_ordered && !stowi_graph_element_number(call, e, &number)) {
      return false;
    }
  }
  return true;
}

// The first of a line among those not taken yet; the earlier one of equals.
static uint64_t first_of(stow_shape_call* call, const lines* l, uint64_t line, bool is_largest,
                         const bool* is_taken) {
  uint64_t best = l->length;
  for (uint64_t i = 0; i < l->length; ++i) {
    bool is_better = best == l->length || comes_before(call, line_element(l, line, i),
                                                       line_element(l, line, best), is_largest);
    best = !is_taken[i] && is_better ? i : best;
  }
  return best;
}

static void take_first(stow_shape_call* call, const lines* from, const lines* to, uint64_t line,
                       bool is_largest) {
  bool is_taken[STOW_MAX_KNOWN];
  memset(is_taken, 0, sizeof(is_taken));
  for (uint64_t i = 0; i < to->length && i < from->length; ++i) {
    uint64_t best = first_of(call, from, line, is_largest, is_taken);
    uint64_t at = line_element(to, line, i);
    is_taken[best] = true;
    stowi_graph_fold_put(call, 0, at,
                         stowi_graph_fold_get(call, 0, line_element(from, line, best)));
    stowi_graph_fold_put(call, 1, at, stowi_graph_whole((stow_dim)best));
  }
}

stow_status stowi_graph_fold_topk(stow_shape_call* call) {
  int64_t axis = stow_shape_attr_int(call, "axis", -1);
  bool is_largest = stow_shape_attr_bool(call, "largest", true);
  lines from;
  lines to;
  if (!stow_shape_attr_bool(call, "sorted", true) ||
      !make_lines(stowi_graph_fold_known(call, 0), axis, &from) ||
      !make_lines(stow_shape_declared(call, 0), axis, &to)) {
    return STOW_OK;
  }
  for (uint64_t line = 0; line < from.count; ++line) {
    if (is_line_known(call, &from, line)) {
      take_first(call, &from, &to, line, is_largest);
    }
  }
  return stowi_graph_fold_end(call);
}

// The last of equal elements in a line if |is_last|, otherwise the first.
static uint64_t find_extreme(stow_shape_call* call, const lines* l, uint64_t line, bool is_largest,
                             bool is_last) {
  uint64_t best = 0;
  for (uint64_t i = 1; i < l->length; ++i) {
    uint64_t here = line_element(l, line, i);
    uint64_t there = line_element(l, line, best);
    bool is_better = is_last ? !comes_before(call, there, here, is_largest)
                             : comes_before(call, here, there, is_largest);
    best = is_better ? i : best;
  }
  return best;
}

static stow_status fold_extreme(stow_shape_call* call, bool is_largest) {
  bool is_last = stow_shape_attr_bool(call, "select_last_index", false);
  lines l;
  if (!make_lines(stowi_graph_fold_known(call, 0), stow_shape_attr_int(call, "axis", 0), &l)) {
    return STOW_OK;
  }
  for (uint64_t line = 0; line < l.count; ++line) {
    if (is_line_known(call, &l, line)) {
      uint64_t best = find_extreme(call, &l, line, is_largest, is_last);
      stowi_graph_fold_put(call, 0, line, stowi_graph_whole((stow_dim)best));
    }
  }
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_argmax(stow_shape_call* call) { return fold_extreme(call, true); }
stow_status stowi_graph_fold_argmin(stow_shape_call* call) { return fold_extreme(call, false); }

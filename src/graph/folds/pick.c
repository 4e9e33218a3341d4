// Known elements of ops that pick elements, or slices along an axis, by value: unique and compress.
// The shape function of `unique` uses this to count its results.
//
// Slices are kept sorted while they are found, each by a binary search: O(n log n) comparisons for
// n slices, of which there are at most STOW_MAX_KNOWN.
#include <string.h>

#include "graph/folds/fold.h"
#include "graph/shapes/shapes.h"

// Operand 0 divided along an axis, or flat, where every element is a slice.
typedef struct slices {
  uint64_t count;   // of slices
  uint64_t size;    // of each
  uint64_t stride;  // between consecutive elements along the axis
} slices;

// False if the operand is too large or empty.
static bool make_slices(const stow_shape_call* call, const uint32_t* axis, slices* out) {
  const stow_type* type = stowi_graph_fold_known(call, 0);
  uint64_t elements = type == NULL ? 0 : stowi_graph_fold_count(type);
  if (elements == 0) {
    return false;
  }
  out->count = axis == NULL ? elements : (uint64_t)type->dims[*axis];
  out->size = elements / out->count;
  out->stride = 1;
  for (uint32_t i = axis == NULL ? type->rank : *axis + 1; i < type->rank; ++i) {
    out->stride *= (uint64_t)type->dims[i];
  }
  return true;
}

// Where element |i| of slice |slice| is in the operand.
static uint64_t slice_element(const slices* s, uint64_t slice, uint64_t i) {
  return (i / s->stride * s->count + slice) * s->stride + i % s->stride;
}

// The axis given by `axes`; NULL if there is none.
static const uint32_t* chosen_axis(stow_shape_call* call, uint32_t* out_axis) {
  const stow_attr* axes = stow_shape_attr(call, "axes");
  bool is_given = axes != NULL && axes->kind == STOW_ATTR_INTS && axes->count == 1;
  return is_given &&
                 stowi_graph_normal_axis(axes->ints[0], stow_shape_operand(call, 0)->rank, out_axis)
             ? out_axis
             : NULL;
}

// ---------------------------------------------------------------------------------------------
// unique

// Whether all elements are ordered numbers.
static bool are_ordered(stow_shape_call* call, uint64_t count) {
  bool are = stow_shape_is_known(call, 0);
  for (uint64_t i = 0; i < count && are; ++i) {
    int64_t number;
    stowi_graph_element e = stowi_graph_fold_get(call, 0, i);
    are = stowi_graph_element_number(call, e, &number) ||
          (e.kind == STOWI_GRAPH_ELEMENT_REAL && e.real == e.real);
  }
  return are;
}

static int compare_elements(stow_shape_call* call, uint64_t a, uint64_t b) {
  stowi_graph_element x = stowi_graph_fold_get(call, 0, a);
  stowi_graph_element y = stowi_graph_fold_get(call, 0, b);
  int64_t m = 0;
  int64_t n = 0;
  if (x.kind == STOWI_GRAPH_ELEMENT_REAL) {
    return (x.real > y.real) - (x.real < y.real);
  }
  (void)stowi_graph_element_number(call, x, &m);
  (void)stowi_graph_element_number(call, y, &n);
  return (m > n) - (m < n);
}

static int compare_slices(stow_shape_call* call, const slices* s, uint64_t a, uint64_t b) {
  int order = 0;
  for (uint64_t i = 0; i < s->size && order == 0; ++i) {
    order = compare_elements(call, slice_element(s, a, i), slice_element(s, b, i));
  }
  return order;
}

// The first slice of each kind, in the order of the result.
typedef struct distinct {
  uint64_t count;
  uint16_t first[STOW_MAX_KNOWN];
  uint16_t same_as[STOW_MAX_KNOWN];  // per slice: the first that equals it
} distinct;

// Puts |slice| into |found|, which is sorted by content, unless an equal one is there.
static void add_slice(stow_shape_call* call, const slices* s, uint64_t slice, distinct* found) {
  uint64_t low = 0;
  uint64_t high = found->count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    int order = compare_slices(call, s, found->first[middle], slice);
    if (order == 0) {
      found->same_as[slice] = found->first[middle];
      return;
    }
    *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
  }
  memmove(found->first + low + 1, found->first + low,
          (size_t)(found->count - low) * sizeof(found->first[0]));
  found->first[low] = found->same_as[slice] = (uint16_t)slice;
  ++found->count;
}

static bool find_distinct(stow_shape_call* call, slices* out_slices, distinct* out) {
  uint32_t axis;
  if (!make_slices(call, chosen_axis(call, &axis), out_slices) ||
      !are_ordered(call, out_slices->count * out_slices->size)) {
    return false;
  }
  out->count = 0;
  for (uint64_t i = 0; i < out_slices->count; ++i) {
    add_slice(call, out_slices, i, out);
  }
  if (!stow_shape_attr_bool(call, "sorted", true)) {
    out->count = 0;
    for (uint64_t i = 0; i < out_slices->count; ++i) {
      if (out->same_as[i] == i) {
        out->first[out->count++] = (uint16_t)i;
      }
    }
  }
  return true;
}

bool stowi_graph_count_distinct(stow_shape_call* call, stow_dim* out_count) {
  slices s;
  distinct found;
  bool is_known = find_distinct(call, &s, &found);
  *out_count = is_known ? (stow_dim)found.count : STOW_DIM_INVALID;
  return is_known;
}

// Result 0: |count| slices of the operand.
static void put_slices(stow_shape_call* call, const slices* from, const uint16_t* picked,
                       uint64_t count) {
  slices to = {count, from->size, from->stride};
  for (uint64_t k = 0; k < count; ++k) {
    for (uint64_t i = 0; i < from->size; ++i) {
      stowi_graph_fold_put(call, 0, slice_element(&to, k, i),
                           stowi_graph_fold_get(call, 0, slice_element(from, picked[k], i)));
    }
  }
}

stow_status stowi_graph_fold_unique(stow_shape_call* call) {
  slices s;
  distinct found;
  if (!find_distinct(call, &s, &found)) {
    return stowi_graph_fold_end(call);
  }
  put_slices(call, &s, found.first, found.count);
  for (uint64_t k = 0; k < found.count; ++k) {
    stow_dim equal = 0;
    for (uint64_t i = 0; i < s.count; ++i) {
      if (found.same_as[i] == found.first[k]) {
        stowi_graph_fold_put(call, 2, i, stowi_graph_whole((stow_dim)k));
        ++equal;
      }
    }
    stowi_graph_fold_put(call, 1, k, stowi_graph_whole(found.first[k]));
    stowi_graph_fold_put(call, 3, k, stowi_graph_whole(equal));
  }
  return stowi_graph_fold_end(call);
}

// ---------------------------------------------------------------------------------------------
// compress

stow_status stowi_graph_fold_compress(stow_shape_call* call) {
  const stow_type* condition = stowi_graph_fold_operand(call, 1);
  slices s;
  uint32_t axis;
  uint16_t picked[STOW_MAX_KNOWN];
  uint64_t count = 0;
  if (condition == NULL || !make_slices(call, chosen_axis(call, &axis), &s)) {
    return stowi_graph_fold_end(call);
  }
  for (uint64_t i = 0; i < s.count && i < (uint64_t)condition->dims[0]; ++i) {
    bool truth;
    if (!stowi_graph_shape_known_truth(call, 1, (size_t)i, &truth)) {
      return stowi_graph_fold_end(call);
    }
    picked[count] = (uint16_t)i;
    count += truth;
  }
  // Dims other than the condition's were declared and do not match it.
  if (count * s.size == stowi_graph_fold_count(stow_shape_declared(call, 0))) {
    put_slices(call, &s, picked, count);
  }
  return stowi_graph_fold_end(call);
}

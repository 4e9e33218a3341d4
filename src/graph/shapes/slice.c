// The shape of slice. Starts and ends may be expressions: they are counted from the end if
// negative, and clamped to the dim, as far as the comparison can be proved with symbols of 1 or
// more; otherwise the clamp stays in the expression as min or max.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/call.h"
#include "graph/shapes/shapes.h"

// Numbers of this size mean "to the very end" in files, whatever the dim.
#define FAR INT32_MAX

typedef struct bounds {
  stow_dim low, high;
} bounds;

// Whether a - b is at least |by|, with symbols of 1 or more.
static bool exceeds(stow_dims* dims, stow_dim a, stow_dim b, int64_t by) {
  stow_dim difference = stow_dim_sub(dims, a, b);
  if (difference == STOW_DIM_INVALID) {
    if (stow_dims_status(dims) != STOW_ERR_OUT_OF_MEMORY) {
      stow_dims_clear_status(dims);
    }
    return false;
  }
  return stow_dim_at_least(dims, difference, by, 1);
}

static stow_dim clamp(stow_dims* dims, stow_dim x, bounds to) {
  if (exceeds(dims, x, to.high, 0)) {
    return to.high;
  }
  if (exceeds(dims, to.low, x, 0)) {
    return to.low;
  }
  if (!exceeds(dims, to.high, x, 0)) {
    x = stow_dim_min(dims, x, to.high);
  }
  return exceeds(dims, x, to.low, 0) ? x : stow_dim_max(dims, x, to.low);
}

// |at| as an index within |to|; STOW_DIM_INVALID if its sign is unknown.
static stow_dim place(stow_shape_call* call, stow_dim at, stow_dim dim, bounds to) {
  stow_dims* dims = stow_shape_dims(call);
  int64_t number;
  if (at == STOW_DIM_INVALID) {
    return at;
  }
  if (stowi_graph_shape_number(call, at, &number) && (number >= FAR || number <= -FAR)) {
    bool is_above = stow_dim_is_const(dim) ? number >= dim : number > 0;
    bool is_below = stow_dim_is_const(dim) ? number < -dim : number < 0;
    if (is_above || is_below) {
      return is_above ? to.high : to.low;
    }
  }
  if (stow_dim_at_least(dims, at, 0, 1)) {
    return clamp(dims, at, to);
  }
  bool is_negative = exceeds(dims, 0, at, 1);
  return is_negative ? clamp(dims, stow_dim_add(dims, dim, at), to) : STOW_DIM_INVALID;
}

// What is left of |dim|; STOW_DIM_INVALID if unknown, or if a dim could not be made.
static stow_dim sliced(stow_shape_call* call, stow_dim dim, stow_dim start, stow_dim end,
                       int64_t step) {
  stow_dims* dims = stow_shape_dims(call);
  bool is_forward = step > 0;
  stow_dim last = stow_dim_sub(dims, dim, 1);
  bounds of_start = {0, is_forward ? dim : last};
  bounds of_end = {is_forward ? 0 : stow_dim_of_int(dims, -1), is_forward ? dim : last};
  stow_dim from = place(call, start, dim, of_start);
  stow_dim to = place(call, end, dim, of_end);
  if (from == STOW_DIM_INVALID || to == STOW_DIM_INVALID) {
    return STOW_DIM_INVALID;
  }
  stow_dim span = is_forward ? stow_dim_sub(dims, to, from) : stow_dim_sub(dims, from, to);
  stow_dim count = stow_dim_ceil_div(dims, span, is_forward ? step : -step);
  // Between clamped bounds the order is known if one of them is the outermost.
  bool is_ordered = is_forward ? from == 0 || to == dim : from == last || to == of_end.low;
  return is_ordered || count == STOW_DIM_INVALID || stow_dim_at_least(dims, count, 0, 1)
             ? count
             : stow_dim_max(dims, count, 0);
}

// Where a slice of a dim starts and ends; which of these are upper bounds, and which of those may
// be negative, and so counted from the end.
typedef struct cut {
  stow_dim start, end;
  bool is_start_bound, is_start_signed, is_end_bound, is_end_signed;
} cut;

static cut cut_at(const stowi_graph_list* starts, const stowi_graph_list* ends, uint32_t i) {
  cut c = {starts->at[i],
           ends->at[i],
           (starts->bounds >> i & 1) != 0,
           (starts->signeds >> i & 1) != 0,
           (ends->bounds >> i & 1) != 0,
           (ends->signeds >> i & 1) != 0};
  return c;
}

// Replaces bounds by what makes the slice largest: the lower of its two ends becomes the first
// element; the upper one stays, or becomes the last if it may be negative.
static void replace_bounds(stow_dims* dims, cut* c, bool is_forward) {
  stow_dim first = is_forward ? 0 : stow_dim_of_int(dims, INT64_MIN + 1);
  if (is_forward) {
    c->start = c->is_start_bound ? first : c->start;
    c->end = c->is_end_signed ? stow_dim_of_int(dims, INT64_MAX) : c->end;
  } else {
    c->end = c->is_end_bound ? first : c->end;
    c->start = c->is_start_signed ? stow_dim_of_int(dims, INT64_MAX) : c->start;
  }
}

// If the dim is upper-bounded, a start counted from the end may come before an end counted from the
// beginning only when the dim is smaller: then it counts as the beginning.
static void widen(stow_shape_call* call, uint32_t axis, stow_dim* start, stow_dim* end,
                  bool is_forward) {
  stow_dims* dims = stow_shape_dims(call);
  stow_dim* from = is_forward ? start : end;
  stow_dim* to = is_forward ? end : start;
  bool is_upper_bounded = (stowi_graph_shape_bounded_axes(call, 0) >> axis & 1) != 0;
  if (*from == STOW_DIM_INVALID || *to == STOW_DIM_INVALID || !is_upper_bounded ||
      stow_dim_at_least(dims, *from, 0, 1) || exceeds(dims, 0, *to, 1)) {
    return;
  }
  *from = is_forward ? 0 : stow_dim_of_int(dims, INT64_MIN + 1);
}

// Backwards, both ends of a slice may be counted from the end, as [-2:-2:-1]. The smallest dims
// move the first to the first element and the second before it, so that one element is left.
static stow_dim leave_one(stow_shape_call* call, uint32_t axis, stow_dim dim, bool is_forward) {
  bool is_upper_bounded = (stowi_graph_shape_bounded_axes(call, 0) >> axis & 1) != 0;
  return is_upper_bounded && !is_forward && dim != STOW_DIM_INVALID
             ? stow_dim_max(stow_shape_dims(call), dim, 1)
             : dim;
}

static stow_status slice_axis(stow_shape_call* call, uint32_t axis, cut c, stow_dim step,
                              stow_type* result) {
  int64_t number = 0;
  bool is_number = stowi_graph_shape_number(call, step, &number);
  if (is_number && (number == 0 || number == INT64_MIN)) {
    return stow_shape_fail(call, "step %" PRId64 " is out of range", number);
  }
  stow_dim dim = STOW_DIM_INVALID;
  if (is_number) {
    replace_bounds(stow_shape_dims(call), &c, number > 0);
    widen(call, axis, &c.start, &c.end, number > 0);
    dim = 0;
    if (result->dims[axis] != 0) {  // otherwise it has no last index to clamp to
      dim = sliced(call, result->dims[axis], c.start, c.end, number);
      dim = leave_one(call, axis, dim, number > 0);
    }
  }
  stow_dims* dims = stow_shape_dims(call);
  if (dim == STOW_DIM_INVALID) {
    if (stow_dims_status(dims) != STOW_OK) {
      return stow_dims_status(dims);
    }
    dim = stow_shape_data_dim(call, 0, axis);
  }
  result->dims[axis] = dim;
  return STOW_OK;
}

stow_status stowi_graph_shape_slice(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  stowi_graph_list starts;
  stowi_graph_list ends;
  stowi_graph_list axes;
  stowi_graph_list steps;
  STOW_TRY(stowi_graph_shape_bounds(call, "starts", 1, &starts));
  STOW_TRY(stowi_graph_shape_bounds(call, "ends", 2, &ends));
  STOW_TRY(stowi_graph_shape_list(call, "axes", 3, &axes));
  STOW_TRY(stowi_graph_shape_list(call, "steps", 4, &steps));
  if (starts.count != ends.count || starts.count > result.rank ||
      (axes.is_given && axes.count != starts.count) ||
      (steps.is_given && steps.count != starts.count)) {
    return stow_shape_fail(
        call, "there are %zu starts, %zu ends, %zu axes and %zu steps; expected equal numbers",
        starts.count, ends.count, axes.count, steps.count);
  }
  if (axes.is_given && !axes.is_known) {
    return stowi_graph_shape_set_unknown(call, 0, result.dtype, result.rank);
  }
  uint32_t order[STOW_MAX_RANK];
  STOW_TRY(stowi_graph_shape_list_axes(call, &axes, result.rank, order));
  for (uint32_t i = 0; i < starts.count; ++i) {
    uint32_t axis = axes.is_given ? order[i] : i;
    STOW_TRY(slice_axis(call, axis, cut_at(&starts, &ends, i), steps.is_given ? steps.at[i] : 1,
                        &result));
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// For views and known values

// Number |i| of the list attribute |name| or of operand |k|; false if unknown.
static bool list_number(const stow_shape_call* call, const char* name, size_t k, size_t i,
                        int64_t* out_number) {
  size_t count;
  const int64_t* numbers = stowi_graph_shape_ints(call, name, &count);
  if (numbers != NULL) {
    *out_number = i < count ? numbers[i] : 0;
    return i < count;
  }
  return stowi_graph_shape_known_number(call, k, i, out_number);
}

static size_t list_count(const stow_shape_call* call, const char* name, size_t k) {
  size_t count;
  if (stowi_graph_shape_ints(call, name, &count) != NULL) {
    return count;
  }
  const stow_type* type = stow_shape_operand(call, k);
  return type == NULL      ? 0
         : type->rank == 0 ? 1
                           : (size_t)type->dims[0];  // the shape has been inferred
}

bool stowi_graph_slice_starts(const stow_shape_call* call, const stow_type* type, int64_t* starts,
                              int64_t* steps) {
  size_t count = list_count(call, "starts", 1);
  for (uint32_t i = 0; i < type->rank; ++i) {
    starts[i] = 0;
    steps[i] = 1;
  }
  for (size_t i = 0; i < count; ++i) {
    int64_t number = (int64_t)i;
    uint32_t axis;
    bool has_axes = list_count(call, "axes", 3) != 0;
    bool has_steps = list_count(call, "steps", 4) != 0;
    if ((has_axes && !list_number(call, "axes", 3, i, &number)) ||
        !stowi_graph_normal_axis(number, type->rank, &axis) ||
        !list_number(call, "starts", 1, i, &number) ||
        (has_steps && !list_number(call, "steps", 4, i, &steps[axis]))) {
      return false;
    }
    int64_t last = type->dims[axis] - (steps[axis] < 0);
    number = number < 0 ? (number < -type->dims[axis] ? 0 : number + type->dims[axis]) : number;
    starts[axis] = number > last ? last : number;
  }
  return true;
}

// Shapes of random numbers: dims of an operand or of an attribute, the dtype of an attribute.
// Constant time.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

// The dims of operand 0, or of the attribute `shape`.
stow_status stowi_graph_shape_random(stow_shape_call* call) {
  const stow_type* like = stow_shape_operand(call, 0);
  stow_type result;
  if (like != NULL) {
    result = *like;
  } else {
    size_t count;
    const int64_t* dims = stowi_graph_shape_ints(call, "shape", &count);
    if (count > STOW_MAX_RANK) {
      return stow_shape_fail(call, "shape has %zu dims, the maximum is %d", count, STOW_MAX_RANK);
    }
    result = stow_type_make(STOW_F32, 0, NULL);
    for (size_t i = 0; i < count; ++i) {
      if (dims[i] < 0) {
        return stow_shape_fail(call, "dim %zu of the shape is %" PRId64 ", expected 0 or more", i,
                               dims[i]);
      }
      result.dims[result.rank++] = dims[i];
    }
  }
  STOW_TRY(stowi_graph_shape_dtype(call, "dtype", result.dtype, &result.dtype));
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_bernoulli(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  STOW_TRY(stowi_graph_shape_dtype(call, "dtype", result.dtype, &result.dtype));
  return stowi_graph_shape_set(call, 0, &result);
}

// [batch, classes] to [batch, samples]
stow_status stowi_graph_shape_multinomial(stow_shape_call* call) {
  STOW_TRY(stowi_graph_need_rank(call, 0, 2, "x"));
  int64_t samples;
  STOW_TRY(stowi_graph_need_positive(call, "samples", &samples));
  stow_type result = *stow_shape_operand(call, 0);
  STOW_TRY(stowi_graph_shape_dtype(call, "dtype", STOW_I32, &result.dtype));
  result.dims[1] = samples;
  return stowi_graph_shape_set(call, 0, &result);
}

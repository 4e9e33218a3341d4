// Shapes of signal transforms: lengths come from operands whose values are known, and otherwise
// depend on data. A one-sided spectrum of n samples has ⌊n / 2⌋ + 1 bins, since the rest mirrors
// them. Constant time.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

static stow_dim one_sided(stow_shape_call* call, stow_dim length) {
  stow_dims* dims = stow_shape_dims(call);
  return stow_dim_add(dims, stow_dim_floor_div(dims, length, 2), 1);
}

// 2 (bins - 1): the default number of samples of a one-sided spectrum.
static stow_dim mirrored(stow_shape_call* call, stow_dim bins) {
  stow_dims* dims = stow_shape_dims(call);
  return stow_dim_mul(dims, 2, stow_dim_sub(dims, bins, 1));
}

// ---------------------------------------------------------------------------------------------
// dft

// The axis, from the operand if present; |out_is_known| is false if its value is unknown.
static stow_status transformed_axis(stow_shape_call* call, uint32_t rank, uint32_t* out_axis,
                                    bool* out_is_known) {
  int64_t axis = stow_shape_attr_int(call, "axis", -2);
  *out_is_known = true;
  if (stow_shape_operand(call, 2) != NULL) {
    stow_dim value;
    STOW_TRY(stowi_graph_known_scalar(call, 2, "operand 2 (axis)", &value));
    *out_is_known =
        value != STOW_DIM_INVALID && stow_dim_to_int(stow_shape_dims(call), value, &axis);
  }
  if (!*out_is_known) {
    return STOW_OK;
  }
  if (!stowi_graph_normal_axis(axis, rank, out_axis) || *out_axis == rank - 1) {
    return stow_shape_fail(call, "axis %" PRId64 " is out of range for rank %" PRIu32, axis, rank);
  }
  return STOW_OK;
}

// Samples along the axis; STOW_DIM_INVALID if they depend on data.
static stow_status transform_length(stow_shape_call* call, stow_dim given, bool is_half,
                                    stow_dim* out) {
  if (stow_shape_operand(call, 1) != NULL) {
    return stowi_graph_known_scalar(call, 1, "operand 1 (length)", out);
  }
  *out = is_half ? mirrored(call, given) : given;
  return STOW_OK;
}

// x [batch, samples…, 1 or 2]: the last dim is 2 for complex numbers.
stow_status stowi_graph_shape_dft(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 2));
  stow_type result = *stow_shape_operand(call, 0);
  uint32_t last = result.rank - 1;
  uint32_t axis = 0;
  bool is_known;
  STOW_TRY(transformed_axis(call, result.rank, &axis, &is_known));
  bool is_onesided = stow_shape_attr_bool(call, "onesided", false);
  bool is_inverse = stow_shape_attr_bool(call, "inverse", false);
  result.dims[last] = is_onesided && is_inverse ? 1 : 2;
  for (uint32_t i = 0; !is_known && i < last; ++i) {
    result.dims[i] = stow_shape_data_dim(call, 0, i);
  }
  if (!is_known) {
    return stowi_graph_shape_set(call, 0, &result);
  }
  stow_dim length;
  STOW_TRY(transform_length(call, result.dims[axis], is_onesided && is_inverse, &length));
  if (length == STOW_DIM_INVALID && stow_shape_operand(call, 1) != NULL) {
    result.dims[axis] = stow_shape_data_dim(call, 0, axis);
  } else {
    result.dims[axis] = is_onesided && !is_inverse ? one_sided(call, length) : length;
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// Real x [..., n] to [..., bins, 2], or back.
stow_status stowi_graph_shape_rfft(stow_shape_call* call) {
  bool is_inverse = stow_shape_attr_bool(call, "inverse", false);
  bool is_onesided = stow_shape_attr_bool(call, "onesided", true);
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, is_inverse ? 2 : 1));
  stow_type result = *stow_shape_operand(call, 0);
  if (is_inverse) {
    STOW_TRY(stowi_graph_need_equal(call, "the last dim and 2", result.dims[--result.rank], 2));
    result.dims[result.rank] = 0;
  } else if (result.rank == STOW_MAX_RANK) {
    return stow_shape_fail(call, "the result would have more than %d dims", STOW_MAX_RANK);
  }
  stow_dim* length = &result.dims[result.rank - 1];
  if (is_onesided) {
    *length = is_inverse ? mirrored(call, *length) : one_sided(call, *length);
  }
  if (!is_inverse) {
    result.dims[result.rank++] = 2;
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// stft

// Samples per frame: the operand, otherwise the window's length.
static stow_status frame_length(stow_shape_call* call, stow_dim* out) {
  const stow_type* window = stow_shape_operand(call, 2);
  STOW_TRY(stowi_graph_known_scalar(call, 3, "operand 3 (frame length)", out));
  if (window == NULL) {
    return stow_shape_operand(call, 3) == NULL
               ? stow_shape_fail(call, "a window or a frame length is required")
               : STOW_OK;
  }
  STOW_TRY(stowi_graph_need_rank(call, 2, 1, "window"));
  if (*out == STOW_DIM_INVALID) {
    *out = window->dims[0];
    return STOW_OK;
  }
  return stowi_graph_need_equal(call, "sizes of the window and of a frame", window->dims[0], *out);
}

// x [batch, samples, 1 or 2] or [batch, samples] to [batch, frames, bins, 2].
stow_status stowi_graph_shape_stft(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 2));
  const stow_type* x = stow_shape_operand(call, 0);
  if (x->rank > 3) {
    return stow_shape_fail(call, "operand 0 has rank %" PRIu32 ", expected 2 or 3", x->rank);
  }
  stow_dim step;
  stow_dim length;
  STOW_TRY(stowi_graph_known_scalar(call, 1, "operand 1 (step)", &step));
  STOW_TRY(frame_length(call, &length));
  int64_t number;
  stow_dims* table = stow_shape_dims(call);
  if (step != STOW_DIM_INVALID && stow_dim_to_int(table, step, &number) && number <= 0) {
    return stow_shape_fail(call, "the step is %" PRId64 ", expected at least 1", number);
  }
  stow_dim dims[] = {x->dims[0], 0, 0, 2};
  if (step == STOW_DIM_INVALID || length == STOW_DIM_INVALID) {
    dims[1] = stow_shape_data_dim(call, 0, 1);
  } else {
    stow_dim rest = stow_dim_sub(table, x->dims[1], length);
    dims[1] = stow_dim_add(table, stow_dim_floor_div(table, rest, step), 1);
  }
  bool is_onesided = stow_shape_attr_bool(call, "onesided", true);
  dims[2] = length == STOW_DIM_INVALID ? stow_shape_data_dim(call, 0, 2)
            : is_onesided              ? one_sided(call, length)
                                       : length;
  stow_type result = stow_type_make(x->dtype, 4, dims);
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// window, mel_weights, decode_image

stow_status stowi_graph_shape_window(stow_shape_call* call) {
  static const char* const kinds[] = {"hann", "hamming", "blackman", NULL};
  size_t kind;
  STOW_TRY(stowi_graph_shape_choice(call, "kind", kinds, &kind));
  stow_type result = stow_type_make(STOW_F32, 1, (const stow_dim[]){0});
  STOW_TRY(stowi_graph_shape_dtype(call, "dtype", STOW_F32, &result.dtype));
  STOW_TRY(stowi_graph_known_scalar(call, 0, "operand 0 (size)", &result.dims[0]));
  if (result.dims[0] == STOW_DIM_INVALID) {
    result.dims[0] = stow_shape_data_dim(call, 0, 0);
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// [bins of a one-sided spectrum, bands]
stow_status stowi_graph_shape_mel_weights(stow_shape_call* call) {
  stow_dtype dtype;
  STOW_TRY(stowi_graph_shape_dtype(call, "dtype", STOW_F32, &dtype));
  stow_dim bands;
  stow_dim length;
  STOW_TRY(stowi_graph_known_scalar(call, 0, "operand 0 (bands)", &bands));
  STOW_TRY(stowi_graph_known_scalar(call, 1, "operand 1 (length)", &length));
  bool is_known = length != STOW_DIM_INVALID;
  stow_dim dims[] = {is_known ? one_sided(call, length) : stow_shape_data_dim(call, 0, 0), bands};
  if (bands == STOW_DIM_INVALID) {
    dims[1] = stow_shape_data_dim(call, 0, 1);
  }
  stow_type result = stow_type_make(dtype, 2, dims);
  return stowi_graph_shape_set(call, 0, &result);
}

// A file of any format to [height, width, channels].
stow_status stowi_graph_shape_decode_image(stow_shape_call* call) {
  static const char* const formats[] = {"rgb", "bgr", "grayscale", NULL};
  size_t format;
  STOW_TRY(stowi_graph_shape_choice(call, "format", formats, &format));
  STOW_TRY(stowi_graph_need_rank(call, 0, 1, "file"));
  stow_dim dims[] = {stow_shape_data_dim(call, 0, 0), stow_shape_data_dim(call, 0, 1),
                     format == 2 ? 1 : 3};
  stow_type result = stow_type_make(STOW_U8, 3, dims);
  return stowi_graph_shape_set(call, 0, &result);
}

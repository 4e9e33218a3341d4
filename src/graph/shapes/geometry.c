// Shapes of ops on positions: sampling grids, regions of interest, boxes, and columns put back into
// an image. Each is a few dim operations.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"
#include "graph/shapes/window_dims.h"

// ---------------------------------------------------------------------------------------------
// Shared helpers

// Fails if operand |k| does not have |rank| dims.
static stow_status check_rank(stow_shape_call* call, size_t k, uint32_t rank) {
  uint32_t actual = stow_shape_operand(call, k)->rank;
  if (actual != rank) {
    return stow_shape_fail(call, "operand %zu has rank %" PRIu32 ", expected %" PRIu32, k, actual,
                           rank);
  }
  return STOW_OK;
}

// Fails if dim |axis| of operand |k| is not |wanted|.
static stow_status check_dim(stow_shape_call* call, size_t k, uint32_t axis, stow_dim wanted) {
  stow_dim dim = stow_shape_operand(call, k)->dims[axis];
  if (stowi_graph_shape_differ(call, dim, wanted)) {
    return stow_shape_fail(call, "dim %" PRIu32 " of operand %zu is %s, expected %s", axis, k,
                           stowi_graph_shape_dim_text(call, dim).text,
                           stowi_graph_shape_dim_text(call, wanted).text);
  }
  return STOW_OK;
}

// Element |i| of a list as dim |axis| of the result.
static stow_dim listed(stow_shape_call* call, const stowi_graph_list* list, size_t i,
                       uint32_t axis) {
  return list->at[i] == STOW_DIM_INVALID ? stow_shape_data_dim(call, 0, axis) : list->at[i];
}

// ---------------------------------------------------------------------------------------------
// Columns

// The number of elements of a block; STOW_DIM_INVALID if unknown.
static stow_status block_size(stow_shape_call* call, const stowi_graph_list* blocks,
                              stow_dim* out_size) {
  *out_size = blocks->is_known ? 1 : STOW_DIM_INVALID;
  for (size_t i = 0; blocks->is_known && i < blocks->count; ++i) {
    int64_t number;
    if (stowi_graph_shape_number(call, blocks->at[i], &number) && number < 1) {
      return stow_shape_fail(call, "operand 2 has %" PRId64 ", expected at least 1", number);
    }
    *out_size = stow_dim_mul(stow_shape_dims(call), *out_size, blocks->at[i]);
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_col2im(stow_shape_call* call) {
  const stow_type* x = stow_shape_operand(call, 0);
  stowi_graph_list image;
  stowi_graph_list blocks;
  stow_dim block;
  STOW_TRY(check_rank(call, 0, 3));
  STOW_TRY(stowi_graph_shape_list(call, NULL, 1, &image));
  STOW_TRY(stowi_graph_shape_list(call, NULL, 2, &blocks));
  if (image.count != blocks.count || image.count < 1 || image.count > STOWI_GRAPH_MAX_SPATIAL) {
    return stow_shape_fail(call,
                           "operand 1 has %zu numbers and operand 2 has %zu; expected one for each "
                           "of 1 to %d spatial dims",
                           image.count, blocks.count, STOWI_GRAPH_MAX_SPATIAL);
  }
  size_t spatial = image.count;
  int64_t numbers[2 * STOWI_GRAPH_MAX_SPATIAL];
  STOW_TRY(stowi_graph_window_list(call, "strides", spatial, 1, 1, numbers));
  STOW_TRY(stowi_graph_window_list(call, "dilations", spatial, 1, 1, numbers));
  STOW_TRY(stowi_graph_window_list(call, "pads", 2 * spatial, 0, 0, numbers));
  STOW_TRY(block_size(call, &blocks, &block));
  if (block > 0 && !stowi_graph_shape_is_multiple(call, x->dims[1], block)) {
    return stow_shape_fail(call, "dim 1 is %s, which is not a multiple of the block size %" PRId64,
                           stowi_graph_shape_dim_text(call, x->dims[1]).text, block);
  }
  stow_type result = stow_type_make(x->dtype, 1, x->dims);
  result.rank = 2 + (uint32_t)image.count;
  result.dims[1] = block == STOW_DIM_INVALID
                       ? stow_shape_data_dim(call, 0, 1)
                       : stow_dim_floor_div(stow_shape_dims(call), x->dims[1], block);
  for (uint32_t i = 2; i < result.rank; ++i) {
    result.dims[i] = listed(call, &image, i - 2, i);
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// Grids

stow_status stowi_graph_shape_grid_sample(stow_shape_call* call) {
  const stow_type* x = stow_shape_operand(call, 0);
  const stow_type* grid = stow_shape_operand(call, 1);
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 3));
  STOW_TRY(check_rank(call, 1, x->rank));
  STOW_TRY(check_dim(call, 1, 0, x->dims[0]));
  STOW_TRY(check_dim(call, 1, x->rank - 1, (stow_dim)x->rank - 2));
  stow_type result = *x;
  result.dims[0] = stowi_graph_dim_known(x->dims[0], grid->dims[0]);
  for (uint32_t i = 2; i < x->rank; ++i) {
    result.dims[i] = grid->dims[i - 1];
  }
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_affine_grid(stow_shape_call* call) {
  const stow_type* theta = stow_shape_operand(call, 0);
  stowi_graph_list size;
  STOW_TRY(check_rank(call, 0, 3));
  STOW_TRY(stowi_graph_shape_list(call, NULL, 1, &size));
  if (size.count != 4 && size.count != 5) {
    return stow_shape_fail(call, "operand 1 has %zu numbers, expected 4 or 5", size.count);
  }
  uint32_t spatial = (uint32_t)size.count - 2;
  STOW_TRY(check_dim(call, 0, 1, spatial));
  STOW_TRY(check_dim(call, 0, 2, (stow_dim)spatial + 1));
  if (size.at[0] != STOW_DIM_INVALID) {
    STOW_TRY(check_dim(call, 0, 0, size.at[0]));
  }
  stow_type result = stow_type_make(theta->dtype, 1, theta->dims);
  result.rank = spatial + 2;
  for (uint32_t i = 1; i <= spatial; ++i) {
    result.dims[i] = listed(call, &size, i + 1, i);
  }
  result.dims[spatial + 1] = spatial;
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// Regions of interest

// [regions, channels, |height|, |width|], for regions of |roi_size| numbers each in operand 1.
static stow_status set_regions(stow_shape_call* call, stow_dim roi_size, int64_t height,
                               int64_t width) {
  const stow_type* x = stow_shape_operand(call, 0);
  STOW_TRY(check_rank(call, 0, 4));
  STOW_TRY(check_rank(call, 1, 2));
  STOW_TRY(check_dim(call, 1, 1, roi_size));
  if (height < 1 || width < 1) {
    return stow_shape_fail(call, "a region of %" PRId64 " x %" PRId64 " is empty", height, width);
  }
  stow_dim dims[] = {stow_shape_operand(call, 1)->dims[0], x->dims[1], height, width};
  stow_type result = stow_type_make(x->dtype, 4, dims);
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_max_roi_pool(stow_shape_call* call) {
  int64_t pooled[2];
  STOW_TRY(stowi_graph_window_list(call, "pooled_shape", 2, 1, 1, pooled));
  return set_regions(call, 5, pooled[0], pooled[1]);
}

stow_status stowi_graph_shape_roi_align(stow_shape_call* call) {
  static const char* const modes[] = {"avg", "max", NULL};
  static const char* const coordinates[] = {"half_pixel", "output_half_pixel", NULL};
  size_t choice;
  STOW_TRY(stowi_graph_shape_choice(call, "mode", modes, &choice));
  STOW_TRY(stowi_graph_shape_choice(call, "coordinates", coordinates, &choice));
  STOW_TRY(stowi_graph_shape_integers(call, 2, "operand 2 (batch indices)"));
  STOW_TRY(check_rank(call, 2, 1));
  STOW_TRY(check_rank(call, 1, 2));
  STOW_TRY(check_dim(call, 2, 0, stow_shape_operand(call, 1)->dims[0]));
  return set_regions(call, 4, stow_shape_attr_int(call, "output_height", 1),
                     stow_shape_attr_int(call, "output_width", 1));
}

// ---------------------------------------------------------------------------------------------
// Boxes

// The upper bound on the boxes left of |boxes|, in each batch and class.
static stow_dim most_boxes(stow_shape_call* call, stow_dim boxes) {
  if (stow_shape_operand(call, 2) == NULL) {
    return 0;
  }
  stow_dim most = stowi_graph_shape_scalar(call, 2);
  int64_t number;
  if (most == STOW_DIM_INVALID) {
    return boxes;
  }
  if (stowi_graph_shape_number(call, most, &number) && number <= 0) {
    return 0;
  }
  return stow_dim_min(stow_shape_dims(call), boxes, most);
}

stow_status stowi_graph_shape_non_max_suppression(stow_shape_call* call) {
  const stow_type* scores = stow_shape_operand(call, 1);
  STOW_TRY(check_rank(call, 0, 3));
  STOW_TRY(check_rank(call, 1, 3));
  STOW_TRY(check_dim(call, 0, 0, scores->dims[0]));
  STOW_TRY(check_dim(call, 0, 1, scores->dims[2]));
  STOW_TRY(check_dim(call, 0, 2, 4));
  STOW_TRY(stowi_graph_shape_integers(call, 2, "operand 2 (the most boxes)"));
  STOW_TRY(stowi_graph_shape_one_element(call, 2, "the most boxes"));
  stow_dims* dims = stow_shape_dims(call);
  stow_dim count = stow_dim_mul(dims, scores->dims[0], scores->dims[1]);
  stow_dim kept[] = {stow_dim_mul(dims, count, most_boxes(call, scores->dims[2])), 3};
  stow_type result = stow_type_make(STOW_I64, 2, kept);
  stow_shape_set_bounded_dim(call, 0, 0);
  return stowi_graph_shape_set(call, 0, &result);
}

// Rows of further ops for layout, indexing and shape arithmetic.
#ifndef STOWAGE_SRC_GRAPH_ROWS_SHAPE_H_
#define STOWAGE_SRC_GRAPH_ROWS_SHAPE_H_

#include "graph/rows/rows.h"

static const spec slice_attrs[] = {INTS("starts"), INTS("ends"), INTS("axes"), INTS("steps")};
static const spec axes_attrs[] = {INTS("axes")};
static const spec flatten_attrs[] = {INT("axis", 1)};
static const spec tile_attrs[] = {INTS("repeats")};
static const spec depth_attrs[] = {REQUIRED_INT("blocksize"), STRING("mode", "dcr")};
static const spec reverse_sequence_attrs[] = {INT("batch_axis", 1), INT("time_axis", 0)};
static const spec cast_like_attrs[] = {BOOL("saturate", true), STRING("round_mode", "up")};
static const spec bitcast_attrs[] = {REQUIRED("to", STOW_ATTR_STRING)};

static const spec shape_attrs[] = {INT("start", 0), INT("end", INT64_MAX)};
static const spec one_hot_attrs[] = {INT("axis", -1)};
static const spec eye_like_attrs[] = {STRING("dtype", ""), INT("k", 0)};
static const spec trilu_attrs[] = {BOOL("upper", true)};

static const spec index_axis_attrs[] = {INT("axis", 0)};
static const spec gather_nd_attrs[] = {INT("batch_dims", 0)};
static const spec scatter_elements_attrs[] = {INT("axis", 0), STRING("reduction", "none")};
static const spec scatter_nd_attrs[] = {STRING("reduction", "none")};
static const spec tensor_scatter_attrs[] = {INT("axis", -2), STRING("mode", "linear")};
static const spec unique_attrs[] = {INTS("axes"), BOOL("sorted", true)};
static const spec cumulate_attrs[] = {INT("axis", 0), BOOL("exclusive", false),
                                      BOOL("reverse", false)};

// ---------------------------------------------------------------------------------------------
// Layout

#define ROW_SLICE                                                                             \
  ABOUT("every step-th element from start to end along axes"), OPERANDS(1, 5), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_slice), VIEW(stowi_graph_view_slice),                        \
      IN_PLACE(stowi_graph_in_place_slice), FOLD(stowi_graph_fold_slice), ATTRS(slice_attrs)
#define ROW_SQUEEZE                                                                               \
  ABOUT("removes dims of 1"), OPERANDS(1, 2), RESULTS(1, 1), INFERRED(stowi_graph_shape_squeeze), \
      VIEW(stowi_graph_view_reshape), IN_PLACE(stowi_graph_in_place_reshape),                     \
      FOLD(stowi_graph_fold_same), ATTRS(axes_attrs)
#define ROW_UNSQUEEZE                                                                            \
  ABOUT("adds dims of 1"), OPERANDS(1, 2), RESULTS(1, 1), INFERRED(stowi_graph_shape_unsqueeze), \
      VIEW(stowi_graph_view_reshape), IN_PLACE(stowi_graph_in_place_reshape),                    \
      FOLD(stowi_graph_fold_same), ATTRS(axes_attrs)
#define ROW_FLATTEN                                                                      \
  ABOUT("two dims: those before the axis, and the rest"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_flatten), VIEW(stowi_graph_view_reshape),               \
      IN_PLACE(stowi_graph_in_place_reshape), FOLD(stowi_graph_fold_same), ATTRS(flatten_attrs)
#define ROW_TILE                                                               \
  ABOUT("repeats the whole along each axis"), OPERANDS(1, 2), RESULTS(1, 1),   \
      INFERRED(stowi_graph_shape_tile), IN_PLACE(stowi_graph_in_place_repeat), \
      FOLD(stowi_graph_fold_tile), ATTRS(tile_attrs)
#define ROW_CENTER_CROP_PAD                                                             \
  ABOUT("crops or pads evenly on both sides"), OPERANDS(2, 2), RESULTS(1, 1),           \
      INFERRED(stowi_graph_shape_center_crop_pad), IN_PLACE(stowi_graph_in_place_crop), \
      ATTRS(axes_attrs)
#define ROW_DEPTH_TO_SPACE                                                          \
  ABOUT("moves blocks of channels to spatial dims"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_depth_to_space), ATTRS(depth_attrs)
#define ROW_SPACE_TO_DEPTH                                                  \
  ABOUT("moves spatial blocks to channels"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_space_to_depth), ATTRS(depth_attrs)
#define ROW_REVERSE_SEQUENCE                                                       \
  ABOUT("reverses the beginning of each sequence"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_reverse_sequence), ATTRS(reverse_sequence_attrs)
#define ROW_CAST_LIKE                                                                 \
  ABOUT("converts to another operand's element type"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_cast_like), VIEW(stowi_graph_view_cast),             \
      IN_PLACE(stowi_graph_in_place_index_first), FOLD(stowi_graph_fold_cast),        \
      ATTRS(cast_like_attrs)
#define ROW_BITCAST                                                              \
  ABOUT("the same bits as another element type"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_bitcast), VIEW(stowi_graph_view_bitcast),       \
      IN_PLACE(stowi_graph_in_place_index_first), ATTRS(bitcast_attrs)

// ---------------------------------------------------------------------------------------------
// From shapes and numbers

#define ROW_SHAPE                                                                           \
  ABOUT("the dims of x"), OPERANDS(1, 1), RESULTS(1, 1), INFERRED(stowi_graph_shape_shape), \
      FOLD(stowi_graph_fold_shape), ATTRS(shape_attrs)
#define ROW_SIZE                                                       \
  ABOUT("the number of elements of x"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_size), FOLD(stowi_graph_fold_size)
#define ROW_RANGE                                                                            \
  ABOUT("numbers from start below limit, in steps of delta"), OPERANDS(3, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_range), FOLD(stowi_graph_fold_range)
#define ROW_FILL                                                                                  \
  ABOUT("one value everywhere"), OPERANDS(1, 2), RESULTS(1, 1), INFERRED(stowi_graph_shape_fill), \
      FOLD(stowi_graph_fold_fill)
#define ROW_ONE_HOT                                                                   \
  ABOUT("one value at each index, another elsewhere"), OPERANDS(3, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_one_hot), FOLD(stowi_graph_fold_one_hot), ATTRS(one_hot_attrs)
#define ROW_EYE_LIKE                                                                    \
  ABOUT("1 on a diagonal, 0 elsewhere"), OPERANDS(1, 1), RESULTS(1, 1),                 \
      INFERRED(stowi_graph_shape_eye_like), IN_PLACE(stowi_graph_in_place_index_first), \
      FOLD(stowi_graph_fold_eye_like), ATTRS(eye_like_attrs)
#define ROW_TRILU                                                                    \
  ABOUT("the upper or lower triangle, 0 elsewhere"), OPERANDS(1, 2), RESULTS(1, 1),  \
      INFERRED(stowi_graph_shape_trilu), IN_PLACE(stowi_graph_in_place_index_first), \
      FOLD(stowi_graph_fold_trilu), ATTRS(trilu_attrs)

// ---------------------------------------------------------------------------------------------
// Indexing

#define ROW_GATHER_ELEMENTS                                                               \
  ABOUT("picks elements along an axis by index"), OPERANDS(2, 2), RESULTS(1, 1),          \
      INFERRED(stowi_graph_shape_gather_elements), IN_PLACE(stowi_graph_in_place_gather), \
      FOLD(stowi_graph_fold_gather_elements), ATTRS(index_axis_attrs)
#define ROW_GATHER_ND                                                              \
  ABOUT("picks slices by indices of several dims"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_gather_nd), FOLD(stowi_graph_fold_gather_nd),     \
      ATTRS(gather_nd_attrs)
#define ROW_SCATTER_ELEMENTS                                                                \
  ABOUT("places elements along an axis by index"), OPERANDS(3, 3), RESULTS(1, 1),           \
      INFERRED(stowi_graph_shape_scatter_elements), IN_PLACE(stowi_graph_in_place_scatter), \
      FOLD(stowi_graph_fold_scatter_elements), ATTRS(scatter_elements_attrs)
#define ROW_SCATTER_ND                                                                \
  ABOUT("places slices by indices of several dims"), OPERANDS(3, 3), RESULTS(1, 1),   \
      INFERRED(stowi_graph_shape_scatter_nd), IN_PLACE(stowi_graph_in_place_scatter), \
      FOLD(stowi_graph_fold_scatter_nd), ATTRS(scatter_nd_attrs)
#define ROW_TENSOR_SCATTER                                                                \
  ABOUT("a cache with new entries inserted"), OPERANDS(2, 3), RESULTS(1, 1),              \
      INFERRED(stowi_graph_shape_tensor_scatter), IN_PLACE(stowi_graph_in_place_scatter), \
      ATTRS(tensor_scatter_attrs)
#define ROW_NONZERO                                                                            \
  ABOUT("indices of elements that are not 0, one row per dim"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_nonzero), FOLD(stowi_graph_fold_nonzero)
#define ROW_UNIQUE                                                                               \
  ABOUT("distinct elements or slices, their indices and counts"), OPERANDS(1, 1), RESULTS(1, 4), \
      INFERRED(stowi_graph_shape_unique), FOLD(stowi_graph_fold_unique), ATTRS(unique_attrs)
#define ROW_COMPRESS                                                                      \
  ABOUT("elements or slices for which a condition holds"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_compress), IN_PLACE(stowi_graph_in_place_part),          \
      FOLD(stowi_graph_fold_compress), ATTRS(axes_attrs)
#define ROW_CUMSUM                                                               \
  ABOUT("running sums along an axis"), OPERANDS(1, 2), RESULTS(1, 1),            \
      INFERRED(stowi_graph_shape_cumulate), IN_PLACE(stowi_graph_in_place_rows), \
      FOLD(stowi_graph_fold_cumsum), ATTRS(cumulate_attrs)
#define ROW_CUMPROD                                                              \
  ABOUT("running products along an axis"), OPERANDS(1, 2), RESULTS(1, 1),        \
      INFERRED(stowi_graph_shape_cumulate), IN_PLACE(stowi_graph_in_place_rows), \
      FOLD(stowi_graph_fold_cumprod), ATTRS(cumulate_attrs)

#endif  // STOWAGE_SRC_GRAPH_ROWS_SHAPE_H_

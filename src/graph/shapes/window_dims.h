// Windows that slide over the spatial dims of a tensor: strides, dilations, padding, and how many
// of them fit.
#ifndef STOWAGE_SRC_GRAPH_SHAPES_WINDOW_DIMS_H_
#define STOWAGE_SRC_GRAPH_SHAPES_WINDOW_DIMS_H_

#include <stowage/op.h>

#define STOWI_GRAPH_MAX_SPATIAL (STOW_MAX_RANK - 2)  // batch and channels are not

typedef enum stowi_graph_auto_pad {
  STOWI_GRAPH_PAD_NOTSET,
  STOWI_GRAPH_PAD_SAME_UPPER,
  STOWI_GRAPH_PAD_SAME_LOWER,
  STOWI_GRAPH_PAD_VALID
} stowi_graph_auto_pad;

typedef struct stowi_graph_window {
  uint32_t spatial;   // number of dims it slides over
  uint32_t first;     // the first of them
  uint32_t channels;  // the dim of the channels
  stow_dim kernel[STOWI_GRAPH_MAX_SPATIAL];
  int64_t strides[STOWI_GRAPH_MAX_SPATIAL];
  int64_t dilations[STOWI_GRAPH_MAX_SPATIAL];
  int64_t pads[2 * STOWI_GRAPH_MAX_SPATIAL];  // all begins, then all ends
  stowi_graph_auto_pad padding;
} stowi_graph_window;

// A status other than STOW_OK means that the call has failed.

// The list attribute |name|: |count| numbers, none below |least|, or |count| times |fallback| if it
// is missing.
stow_status stowi_graph_window_list(stow_shape_call* call, const char* name, size_t count,
                                    int64_t least, int64_t fallback, int64_t* out);

// The positions of the spatial dims of operand |x|: [batch, channels, spatial…], or [batch,
// spatial…, channels] with the attribute `channels_last`.
stow_status stowi_graph_window_dims(stow_shape_call* call, size_t x, stowi_graph_window* out);
// The same, and `strides`, `dilations`, `pads` and `auto_pad`, as far as the op has them. One of
// the next two reads the kernel.
stow_status stowi_graph_window_read(stow_shape_call* call, size_t x, stowi_graph_window* out);
// The kernel is the attribute `kernel`, which is required.
stow_status stowi_graph_window_kernel(stow_shape_call* call, stowi_graph_window* out);
// The kernel is the dims from 2 on of operand |weights|; `kernel` must agree.
stow_status stowi_graph_window_weights(stow_shape_call* call, size_t weights,
                                       stowi_graph_window* out);

// Replaces the spatial dims of |type| by the numbers of windows that fit. With |up|, one more may
// extend past the end as long as it begins within the data or the padding before it.
stow_status stowi_graph_window_slide(stow_shape_call* call, const stowi_graph_window* w, bool up,
                                     stow_type* type);
// The inverse: replaces them by the extent that windows at each position cover together. |extra|
// numbers are added at the ends.
stow_status stowi_graph_window_spread(stow_shape_call* call, const stowi_graph_window* w,
                                      const int64_t* extra, stow_type* type);

#endif  // STOWAGE_SRC_GRAPH_SHAPES_WINDOW_DIMS_H_

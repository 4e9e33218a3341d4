// Windows that slide over spatial dims, as numbers: what convolutions and pools have in common.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SPATIAL_WINDOW_H_
#define STOWAGE_SRC_EXEC_KERNELS_SPATIAL_WINDOW_H_

#include <stowage/kernel.h>

#include "exec/kernels/support/attrs.h"

#define STOWI_KERNEL_SPATIAL (STOW_MAX_RANK - 2)

// Along each spatial dim the element that tap k of the window at position o reads is
// o * stride + k * dilation - begin; what lies outside [0, in) is padding. A row is what lies along
// the last spatial dim; the other dims are outer.
typedef struct stowi_kernel_slide {
  uint32_t rank;  // spatial dims
  bool channels_last;
  int64_t batch;
  int64_t channels;  // of x
  int64_t in[STOWI_KERNEL_SPATIAL];
  int64_t out[STOWI_KERNEL_SPATIAL];
  int64_t kernel[STOWI_KERNEL_SPATIAL];
  int64_t strides[STOWI_KERNEL_SPATIAL];
  int64_t dilations[STOWI_KERNEL_SPATIAL];
  int64_t begins[STOWI_KERNEL_SPATIAL];       // padding before
  int64_t ends[STOWI_KERNEL_SPATIAL];         // padding after, where it is given
  size_t in_count, out_count, taps;           // products over all spatial dims
  size_t out_rows, outer_taps;                // over all but the last
  int64_t in_width, out_width, kernel_width;  // of the last
} stowi_kernel_slide;

// From the call's attributes, x and a result of it. |kernel| has the numbers for each spatial dim;
// NULL: the attribute `kernel`, or all of x where `global` is set. Fails as
// stowi_kernel_slide_bound does.
stow_status stowi_kernel_slide_read(const stow_kernel_call* call, const stow_tensor* x,
                                    const stow_tensor* y, const int64_t* kernel,
                                    stowi_kernel_slide* out);
// After in, out, kernel, strides, dilations, begins and ends of dim |i| are set: fails where they
// are so large that what taps read might not be an int64_t, wherever kernels look for it: one
// stride or dilation beyond the last included. A stride or dilation that takes nobody anywhere
// becomes 1.
stow_status stowi_kernel_slide_bound(const stow_kernel_call* call, stowi_kernel_slide* s,
                                     uint32_t i);
// After all dims are bounded: the products. Fails where there are too many taps to count.
stow_status stowi_kernel_slide_count(const stow_kernel_call* call, stowi_kernel_slide* w);

// Number |i| of the list |name|; |fallback| where the list is absent or empty.
int64_t stowi_kernel_list_at(const stow_kernel_call* call, stowi_kernel_attr_id name, size_t i,
                             int64_t fallback);

// The positions [lo, hi) along dim |i| at which tap |k| reads no padding.
void stowi_kernel_slide_range(const stowi_kernel_slide* w, uint32_t i, int64_t k, int64_t* lo,
                              int64_t* hi);
// The positions [lo, hi) along the last dim at which no tap reads padding.
void stowi_kernel_slide_interior(const stowi_kernel_slide* s, int64_t* lo, int64_t* hi);
// Where the row begins, in elements of one channel, that outer tap |tap| reads for the positions of
// row |row| of the result; -1 where it is padding.
int64_t stowi_kernel_slide_row(const stowi_kernel_slide* w, size_t row, size_t tap);
// The other way: the position of the result whose tap |tap| reads element |at| of the channel; -1
// if there is none.
int64_t stowi_kernel_slide_reader(const stowi_kernel_slide* s, size_t at, size_t tap);

// What a tap reads for positions of one row of the result: |before| of them padding, |inside| the
// elements first, first + step, … of the channel, |after| padding.
typedef struct stowi_kernel_tap_run {
  size_t before, inside, after;
  size_t first, step;
} stowi_kernel_tap_run;

// For tap |tap| and the positions from |position| on that are in one row, |count| at most.
stowi_kernel_tap_run stowi_kernel_slide_run(const stowi_kernel_slide* s, size_t tap,
                                            size_t position, size_t count);
// The same for tap |k| of the last dim, where |row| is what stowi_kernel_slide_row returns, from
// position |position| of the row on.
stowi_kernel_tap_run stowi_kernel_slide_row_run(const stowi_kernel_slide* s, int64_t row, int64_t k,
                                                size_t position, size_t count);
static inline size_t stowi_kernel_tap_run_count(const stowi_kernel_tap_run* r) {
  return r->before + r->inside + r->after;
}
// The same as f32, of |channels| channels, |x_step| elements apart, the first of which begins at
// |x_first|; padding is 0. Each goes |to_step| behind the one before.
void stowi_kernel_tap_run_load(const stowi_kernel_tap_run* r, const stow_tensor* x, size_t x_first,
                               size_t channels, size_t x_step, float* to, size_t to_step);

// One product of a convolution: a channel of x, and a tap, of the outer dims and of the last one.
typedef struct stowi_kernel_step {
  size_t channel, outer, last;
} stowi_kernel_step;

// Number |step| of all, in ascending order of channel and tap.
static inline stowi_kernel_step stowi_kernel_step_at(const stowi_kernel_slide* s, size_t step) {
  size_t width = (size_t)s->kernel_width;
  return (stowi_kernel_step){step / s->taps, step % s->taps / width, step % width};
}

static inline void stowi_kernel_step_next(const stowi_kernel_slide* s, stowi_kernel_step* step) {
  if (++step->last < (size_t)s->kernel_width) {
    return;
  }
  step->last = 0;
  if (++step->outer == s->outer_taps) {
    step->outer = 0;
    ++step->channel;
  }
}

// Whether each position of the result reads just the one below it.
bool stowi_kernel_slide_is_pointwise(const stowi_kernel_slide* s);

// A walk over the taps of one window that read no padding, in ascending order.
typedef struct stowi_kernel_visit {
  int64_t start[STOWI_KERNEL_SPATIAL];  // what tap 0 reads
  int64_t lo[STOWI_KERNEL_SPATIAL];     // taps [lo, hi) read no padding
  int64_t hi[STOWI_KERNEL_SPATIAL];
  int64_t at[STOWI_KERNEL_SPATIAL];  // the next
  size_t count;                      // taps in the walk
  size_t padded;                     // the same and those that read padding, but none beyond it
  bool is_done;
} stowi_kernel_visit;

// Begins at the window for position |position| of all in the result.
void stowi_kernel_slide_visit(const stowi_kernel_slide* s, size_t position,
                              stowi_kernel_visit* out);
// The element of the channel that the next tap reads; -1 at the end.
int64_t stowi_kernel_slide_next(const stowi_kernel_slide* s, stowi_kernel_visit* visit);

static inline int64_t stowi_kernel_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t stowi_kernel_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

#endif  // STOWAGE_SRC_EXEC_KERNELS_SPATIAL_WINDOW_H_

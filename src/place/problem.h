// Internals of a problem.
#ifndef STOWAGE_SRC_PLACE_PROBLEM_H_
#define STOWAGE_SRC_PLACE_PROBLEM_H_

#include <stowage/place.h>

#include "base/alloc.h"
#include "place/together.h"

typedef struct stowi_place_buffer {
  uint64_t size;
  uint64_t guard;
  uint64_t begin;
  uint64_t end;
  uint64_t alignment;
  uint64_t fixed_offset;
  uint32_t first_window;  // in the problem's windows
  uint32_t window_count;
} stowi_place_buffer;

typedef struct stowi_place_window {
  uint64_t begin;
  uint64_t end;
  uint64_t low;
  uint64_t high;
} stowi_place_window;

struct stow_problem {
  stow_allocator allocator;
  STOWI_VEC(stowi_place_buffer) buffers;
  STOWI_VEC(stowi_place_window) windows;  // in order of buffer and time
  uint64_t fixed_end;                     // of the highest fixed footprint
  uint64_t padded_sum;                    // of footprint + alignment - 1 over all buffers
  uint64_t min_alignment;                 // UINT64_MAX while there is no buffer
};

// Bytes that nothing else may use while the buffer is live. Cannot overflow: stow_problem_add
// checked it.
static inline uint64_t stowi_place_footprint(const stowi_place_buffer* buffer) {
  return buffer->size + buffer->guard;
}

static inline bool stowi_place_is_fixed(const stowi_place_buffer* buffer) {
  return buffer->fixed_offset != STOW_PLACE_ANYWHERE;
}

// An upper bound on pieces: each window is at most one, and cuts off at most one.
static inline size_t stowi_place_max_pieces(const stow_problem* problem) {
  return problem->buffers.count + 2 * problem->windows.count;
}

// A maximal part of a buffer's lifetime in which it occupies the same, non-empty bytes.
typedef struct stowi_place_stretch {
  uint64_t begin;
  uint64_t end;
  uint64_t low;  // bytes [low, high) of the footprint
  uint64_t high;
} stowi_place_stretch;

// Iterates over the parts of a buffer's lifetime, in order of time.
typedef struct stowi_place_walk {
  const stowi_place_buffer* buffer;
  const stowi_place_window* windows;  // the remaining ones
  size_t window_count;
  uint64_t at;
} stowi_place_walk;

stowi_place_walk stowi_place_walk_start(const stow_problem* problem, size_t buffer);
// False after the last one.
bool stowi_place_walk_next(stowi_place_walk* walk, stowi_place_stretch* out_stretch);

// Adds |buffer| of |from| to |to|; or only the windows, to the buffer that was added last.
stow_status stowi_place_problem_add_copy(stow_problem* to, const stow_problem* from, size_t buffer,
                                         stow_diag* diag);
stow_status stowi_place_problem_add_windows(stow_problem* to, const stow_problem* from,
                                            size_t buffer, stow_diag* diag);

#endif  // STOWAGE_SRC_PLACE_PROBLEM_H_

// Where a value lies in another: dense, or *pitched*, as rows of equal size that are equally far
// apart.
//     bytes of the root  │ a0 │ b0 │ a1 │ b1 │ a2 │ b2 │      a has 3 rows
//                             ◀─ pitch ─▶
#ifndef STOWAGE_SRC_ANALYSIS_LAYOUT_H_
#define STOWAGE_SRC_ANALYSIS_LAYOUT_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct stowi_analysis_layout {
  uint64_t offset;  // of the first byte
  uint64_t rows;    // 1: dense
  uint64_t pitch;   // bytes from one row to the next, more than a row has; 0 if dense
} stowi_analysis_layout;

// The number of bytes from the first to behind the last of |bytes| bytes.
static inline uint64_t stowi_analysis_layout_span(uint64_t rows, uint64_t pitch, uint64_t bytes) {
  return rows <= 1 ? bytes : (rows - 1) * pitch + bytes / rows;
}

// Where byte |at| of what lies at |layout|, and has |bytes| bytes, is.
static inline uint64_t stowi_analysis_layout_map(stowi_analysis_layout layout, uint64_t bytes,
                                                 uint64_t at) {
  uint64_t row = bytes / layout.rows;
  return layout.rows <= 1 ? layout.offset + at : layout.offset + at / row * layout.pitch + at % row;
}

// Where |bytes| bytes that lie at |inner| in a value of |outer_bytes| bytes are if that lies at
// |outer|. False if they are not equally far apart there.
bool stowi_analysis_layout_join(stowi_analysis_layout outer, uint64_t outer_bytes,
                                stowi_analysis_layout inner, uint64_t bytes,
                                stowi_analysis_layout* out);

#endif  // STOWAGE_SRC_ANALYSIS_LAYOUT_H_

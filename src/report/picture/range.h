// What a picture of a formula plan has besides one point: curves over all points, and the pictures
// of the others. Those differ from each other in numbers, hardly ever in anything else. So of all
// pictures with the same text but for numbers, a *frame*, one is kept, and of each number the
// *series* of what it is at the frame's points. Most numbers have the same series as others, or
// never change.
#ifndef STOWAGE_SRC_REPORT_PICTURE_RANGE_H_
#define STOWAGE_SRC_REPORT_PICTURE_RANGE_H_

#include "base/alloc.h"
#include "report/out.h"

// Numbers of a frame that were the same at all points so far.
typedef struct stowi_report_series {
  uint64_t before;  // at the point before
  uint64_t now;
  size_t seen;                  // points at which |now| is known
  uint32_t parent;              // the series that it was split from
  size_t rank;                  // among the range's series that are not constant
  STOWI_VEC(uint64_t) numbers;  // at all points; empty while they are all the same
} stowi_report_series;

typedef struct stowi_report_frame {
  stow_string text;  // JSON, of the first of its points
  size_t point_count;
  STOWI_VEC(uint32_t) series_of;  // by number in the text
  STOWI_VEC(stowi_report_series) series;
} stowi_report_frame;

typedef struct stowi_report_range {
  stow_allocator allocator;
  stow_string facts;  // JSON: symbols, regions, curves
  size_t own;         // the frame of the picture that the range belongs to
  STOWI_VEC(stowi_report_frame) frames;
  STOWI_VEC(uint64_t) frame_of;  // by point that is drawn
} stowi_report_range;

void stowi_report_range_destroy(stowi_report_range* range);
// Adds the picture of the next point, as JSON.
stow_status stowi_report_range_add(stowi_report_range* range, stow_str text);
// Ranks the series, when all points have been added.
void stowi_report_range_finish(stowi_report_range* range);

// write/range.c: the key `range` of the data. docs/view-format.md describes it.
void stowi_report_range_write(const stowi_report_range* range, stowi_report_out* out);
// Numbers as text, in quotes.
void stowi_report_range_write_series(const uint64_t* numbers, size_t count,
                                     stow_allocator allocator, stowi_report_out* out);

#endif  // STOWAGE_SRC_REPORT_PICTURE_RANGE_H_

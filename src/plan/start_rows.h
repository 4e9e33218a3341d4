// Starts: the buffers of an earlier plan, and which of them those of a new one are.
#ifndef STOWAGE_SRC_PLAN_START_ROWS_H_
#define STOWAGE_SRC_PLAN_START_ROWS_H_

#include "plan/plan_internal.h"

typedef struct stowi_plan_start_row {
  size_t name_at;    // in the names
  size_t name_size;  // 0: no name
  uint64_t size;     // of the footprint
  uint64_t offset;   // STOW_PLACE_ANYWHERE: not known
  uint8_t kind;      // a stowi_plan_kind, or one of these
} stowi_plan_start_row;
#define STOWI_PLAN_START_SCRATCH STOWI_PLAN_KIND_COUNT
#define STOWI_PLAN_START_RESERVED (STOWI_PLAN_KIND_COUNT + 1)  // the same as no other
#define STOWI_PLAN_START_OTHER (STOWI_PLAN_KIND_COUNT + 2)

// When a value with a name was there first.
typedef struct stowi_plan_start_step {
  size_t name_at;
  size_t name_size;
  uint64_t step;
} stowi_plan_start_step;

struct stow_start {
  stow_allocator allocator;
  size_t count;
  stowi_plan_start_row* rows;
  size_t step_count;
  stowi_plan_start_step* steps;  // also of values that have no row
  stow_string names;
};

// |count| rows without name and offset, and room for |step_count| steps. NULL if out of memory.
stow_start* stowi_plan_start_new(size_t count, size_t step_count, stow_allocator allocator);
stow_status stowi_plan_start_set_name(stow_start* start, size_t row, const char* data, size_t size);
static inline stow_str stowi_plan_start_name(const stow_start* start, size_t row) {
  const stowi_plan_start_row* r = &start->rows[row];
  return (stow_str){r->name_size == 0 ? "" : start->names.data + r->name_at, r->name_size};
}

// Whether |plan|, which is of |graph|, is about as good as the earlier one: its arena is not larger
// in proportion to the bytes of buffers that are in both, apart from the bytes of new ones, which
// are the smaller part.
bool stowi_plan_start_is_as_good(const stow_start* start, const stow_graph* graph,
                                 const stow_plan* plan);
// Compares the offsets of |now| with |earlier|.
stow_moves stowi_plan_count_moves(const stow_start* now, const uint64_t* earlier);

#endif  // STOWAGE_SRC_PLAN_START_ROWS_H_

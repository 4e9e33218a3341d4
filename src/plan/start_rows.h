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

struct stow_start {
  stow_allocator allocator;
  size_t count;
  stowi_plan_start_row* rows;
  stow_string names;
};

// |count| rows without name and offset. NULL if out of memory.
stow_start* stowi_plan_start_new(size_t count, stow_allocator allocator);
stow_status stowi_plan_start_set_name(stow_start* start, size_t row, const char* data, size_t size);
static inline stow_str stowi_plan_start_name(const stow_start* start, size_t row) {
  const stowi_plan_start_row* r = &start->rows[row];
  return (stow_str){r->name_size == 0 ? "" : start->names.data + r->name_at, r->name_size};
}

// Compares the offsets of |now| with |earlier|.
stow_moves stowi_plan_count_moves(const stow_start* now, const uint64_t* earlier);

#endif  // STOWAGE_SRC_PLAN_START_ROWS_H_

// A search for room over a buffer's whole lifetime queries many sets, and if thousands of buffers
// are live at once it may be led through each of them. But most buffers of a graph have few sizes,
// and equal ones are ordered by id, which is nearly the order of birth. Over such a run time only
// moves forward, so what is live at the moment of birth fits in one ordered set (active.h): it
// gives the few places that are free then, and only those are checked against the rest of the
// lifetime.
//
// Starting a run costs O(n log n), so runs must be long; greedy.c ensures that.
#include "place/greedy/sweep.h"

#include <string.h>

#include "base/alloc.h"
#include "place/greedy/active.h"

#define NOT_PLACED UINT64_MAX

struct stowi_place_sweep {
  stow_allocator allocator;
  const stow_problem* problem;
  const stowi_place_sections* sections;
  uint64_t* addresses;  // per piece: NOT_PLACED, or where it begins
  uint32_t* by_begin;   // pieces in order of their first section
  uint32_t* by_end;     // … of the section after their last
  uint32_t section;     // the current one
  size_t next_begin;    // the first of by_begin that is born after it
  size_t next_end;      // the first of by_end that ends after it
  bool is_running;
  uint64_t unit;  // of the run's offsets
  stowi_place_active* active;
};

// Pieces in order of |keys|, by counting.
static stow_status sort_by(const stowi_place_sweep* sweep, const uint32_t* keys,
                           uint32_t* out_order) {
  size_t key_count = (size_t)sweep->sections->count + 2;
  size_t count = sweep->sections->piece_count;
  uint32_t* starts = STOWI_ARRAY_ZERO(sweep->allocator, uint32_t, key_count);
  if (starts == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < count; ++i) {
    ++starts[keys[i] + 1];
  }
  for (size_t i = 1; i < key_count; ++i) {
    starts[i] += starts[i - 1];
  }
  for (size_t i = 0; i < count; ++i) {
    out_order[starts[keys[i]]++] = (uint32_t)i;
  }
  STOWI_ARRAY_FREE(sweep->allocator, starts, key_count);
  return STOW_OK;
}

static stow_status allocate(stowi_place_sweep* sweep) {
  size_t count = sweep->sections->piece_count;
  sweep->addresses = STOWI_ARRAY(sweep->allocator, uint64_t, count);
  sweep->by_begin = STOWI_ARRAY(sweep->allocator, uint32_t, count);
  sweep->by_end = STOWI_ARRAY(sweep->allocator, uint32_t, count);
  if (sweep->addresses == NULL || sweep->by_begin == NULL || sweep->by_end == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  memset(sweep->addresses, 0xff, count * sizeof(uint64_t));
  stow_status status = stowi_place_active_create(count, sweep->allocator, &sweep->active);
  if (status == STOW_OK) {
    status = sort_by(sweep, sweep->sections->begin, sweep->by_begin);
  }
  if (status == STOW_OK) {
    status = sort_by(sweep, sweep->sections->end, sweep->by_end);
  }
  return status;
}

stow_status stowi_place_sweep_create(const stow_problem* problem,
                                     const stowi_place_sections* sections, stow_allocator allocator,
                                     stowi_place_sweep** out_sweep) {
  *out_sweep = NULL;
  stowi_place_sweep* sweep = STOWI_NEW(allocator, stowi_place_sweep);
  if (sweep == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  sweep->allocator = allocator;
  sweep->problem = problem;
  sweep->sections = sections;
  stow_status status = allocate(sweep);
  if (status != STOW_OK) {
    stowi_place_sweep_destroy(sweep);
    return status;
  }
  *out_sweep = sweep;
  return STOW_OK;
}

void stowi_place_sweep_destroy(stowi_place_sweep* sweep) {
  if (sweep == NULL) {
    return;
  }
  size_t count = sweep->sections->piece_count;
  STOWI_ARRAY_FREE(sweep->allocator, sweep->addresses, count);
  STOWI_ARRAY_FREE(sweep->allocator, sweep->by_begin, count);
  STOWI_ARRAY_FREE(sweep->allocator, sweep->by_end, count);
  stowi_place_active_destroy(sweep->active);
  STOWI_DELETE(sweep->allocator, sweep);
}

// Ends are rounded up: nothing in the run can begin before the next unit, and what is between would
// be a gap to visit again and again.
static void insert(stowi_place_sweep* sweep, uint32_t piece) {
  uint64_t low = sweep->addresses[piece];
  uint64_t high = low + stowi_place_piece_size(sweep->sections, sweep->problem, piece);
  stowi_place_active_insert(sweep->active, piece, low,
                            (high + sweep->unit - 1) & ~(sweep->unit - 1));
}

void stowi_place_sweep_put(stowi_place_sweep* sweep, uint32_t piece, uint64_t address) {
  sweep->addresses[piece] = address;
  if (sweep->is_running && sweep->sections->begin[piece] <= sweep->section) {
    insert(sweep, piece);
  }
}

void stowi_place_sweep_start(stowi_place_sweep* sweep, uint32_t section, uint64_t unit) {
  size_t count = sweep->sections->piece_count;
  const stowi_place_sections* sections = sweep->sections;
  stowi_place_active_clear(sweep->active);
  sweep->is_running = true;
  sweep->unit = unit;
  sweep->section = section;
  sweep->next_begin = 0;
  while (sweep->next_begin < count &&
         sections->begin[sweep->by_begin[sweep->next_begin]] <= section) {
    uint32_t piece = sweep->by_begin[sweep->next_begin++];
    if (sweep->addresses[piece] != NOT_PLACED && sections->end[piece] > section) {
      insert(sweep, piece);
    }
  }
  sweep->next_end = 0;
  while (sweep->next_end < count && sections->end[sweep->by_end[sweep->next_end]] <= section) {
    ++sweep->next_end;
  }
}

static uint32_t next_section(const stowi_place_sweep* sweep) {
  size_t count = sweep->sections->piece_count;
  const stowi_place_sections* sections = sweep->sections;
  uint32_t end =
      sweep->next_end < count ? sections->end[sweep->by_end[sweep->next_end]] : UINT32_MAX;
  uint32_t begin =
      sweep->next_begin < count ? sections->begin[sweep->by_begin[sweep->next_begin]] : UINT32_MAX;
  return end < begin ? end : begin;
}

void stowi_place_sweep_advance(stowi_place_sweep* sweep, uint32_t section) {
  for (uint32_t next = next_section(sweep); next <= section; next = next_section(sweep)) {
    // Ends come before births: what dies at a section's start makes room for what is born there.
    size_t count = sweep->sections->piece_count;
    const stowi_place_sections* sections = sweep->sections;
    while (sweep->next_end < count && sections->end[sweep->by_end[sweep->next_end]] == next) {
      uint32_t piece = sweep->by_end[sweep->next_end++];
      if (sweep->addresses[piece] != NOT_PLACED) {
        stowi_place_active_remove(sweep->active, piece);
      }
    }
    while (sweep->next_begin < count &&
           sections->begin[sweep->by_begin[sweep->next_begin]] == next) {
      uint32_t piece = sweep->by_begin[sweep->next_begin++];
      if (sweep->addresses[piece] != NOT_PLACED) {
        insert(sweep, piece);
      }
    }
  }
  sweep->section = section;
}

void stowi_place_sweep_stop(stowi_place_sweep* sweep) { sweep->is_running = false; }

uint64_t stowi_place_sweep_find(const stowi_place_sweep* sweep, uint64_t size, uint64_t alignment,
                                uint64_t from) {
  return stowi_place_active_find(sweep->active, size, alignment, from);
}

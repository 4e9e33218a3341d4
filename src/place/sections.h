// Time, cut down to what matters for who lives together with whom.
#ifndef STOWAGE_SRC_PLACE_SECTIONS_H_
#define STOWAGE_SRC_PLACE_SECTIONS_H_

#include "place/problem.h"

// Buffer i covers the sections [begin[i], end[i]), at least one. Two buffers live together exactly
// where they share a section.
typedef struct stowi_sections {
  uint32_t count;
  uint32_t* begin;
  uint32_t* end;
} stowi_sections;

// O(n log n). |out_sections| is freed with stowi_sections_free also on failure.
stow_status stowi_sections_make(const stow_problem* problem, stow_allocator allocator,
                                stowi_sections* out_sections);
void stowi_sections_free(stowi_sections* sections, const stow_problem* problem,
                         stow_allocator allocator);

#endif  // STOWAGE_SRC_PLACE_SECTIONS_H_

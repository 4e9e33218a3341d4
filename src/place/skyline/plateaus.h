// The skyline as plateaus: maximal ranges of sections that are filled to the same height.
#ifndef STOWAGE_SRC_PLACE_SKYLINE_PLATEAUS_H_
#define STOWAGE_SRC_PLACE_SKYLINE_PLATEAUS_H_

#include <stowage/base.h>

typedef struct stowi_place_plateau {
  uint32_t begin;  // sections [begin, end)
  uint32_t end;
  uint64_t floor;
} stowi_place_plateau;

typedef struct stowi_place_plateaus {
  uint32_t sections;
  uint32_t at;       // the first section of the last one changed
  uint32_t* end;     // these by the first section of a plateau
  uint32_t* before;  // the first section of the one to the left
  uint64_t* floor;
} stowi_place_plateaus;

// Free it even after a failure.
stow_status stowi_place_plateaus_make(uint32_t sections, stow_allocator allocator,
                                      stowi_place_plateaus* out_plateaus);
void stowi_place_plateaus_free(stowi_place_plateaus* plateaus, stow_allocator allocator);

// One at 0 over all sections.
void stowi_place_plateaus_clear(stowi_place_plateaus* plateaus);
// A plateau that is lower than its neighbours, near the last one changed. O(1) amortised.
stowi_place_plateau stowi_place_plateaus_valley(stowi_place_plateaus* plateaus);
// Fills a valley up to the lower of its neighbours; it has at least one. O(1).
void stowi_place_plateaus_level(stowi_place_plateaus* plateaus, stowi_place_plateau valley);
// Fills a valley's sections [begin, end) up to |floor|, above its own. O(1).
void stowi_place_plateaus_build(stowi_place_plateaus* plateaus, stowi_place_plateau valley,
                                uint32_t begin, uint32_t end, uint64_t floor);

#endif  // STOWAGE_SRC_PLACE_SKYLINE_PLATEAUS_H_

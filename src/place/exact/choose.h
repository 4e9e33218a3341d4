// Chooses the buffer that the search decides on next. Any choice is correct; good ones make it
// fast, and no single way is good for all problems: so there are several, and the search
// alternates.
#ifndef STOWAGE_SRC_PLACE_EXACT_CHOOSE_H_
#define STOWAGE_SRC_PLACE_EXACT_CHOOSE_H_

#include "place/exact/state.h"

// A way to choose: first where, then which.
typedef enum stowi_place_where {
  STOWI_PLACE_LOWEST,           // the lowest offset of all; of equals the lowest rank
  STOWI_PLACE_LOWEST_TIGHTEST,  // the same; of equals the one in the fullest section
  STOWI_PLACE_LOWEST_LARGEST,  // the same; of equals in equally full ones, the one with the largest
                               // area
  STOWI_PLACE_TIGHTEST_LOW,    // the section with the least slack, then the lowest floor
  STOWI_PLACE_CORNER,          // the corner of a valley that few can fill, or that failed often
  STOWI_PLACE_DEEPEST          // the section with the lowest floor, then the least slack
} stowi_place_where;

// Ranks: T the load of the fullest section, W the length of the lifetime, A the area; highest
// first.
typedef enum stowi_place_whom {
  STOWI_PLACE_TWA,
  STOWI_PLACE_TAW,
  STOWI_PLACE_WAT
} stowi_place_whom;

typedef struct stowi_place_way {
  stowi_place_where where;
  stowi_place_whom whom;
} stowi_place_way;

// Buffers in the order of their ranks, and temporary storage.
typedef struct stowi_place_ranks {
  stowi_place_whom whom;
  uint32_t noise;  // how many places a buffer may be late
  uint64_t seed;
  uint32_t* order;
  uint64_t* key;  // three for each buffer
} stowi_place_ranks;

bool stowi_place_ranks_init(stowi_place_ranks* ranks, const stowi_place_model* model,
                            stow_allocator allocator);
void stowi_place_ranks_free(stowi_place_ranks* ranks, const stowi_place_model* model,
                            stow_allocator allocator);

// Ranks the free buffers whose lifetimes begin in the sections [begin, end), by the current loads.
void stowi_place_rank(stowi_place_ranks* ranks, stowi_place_state* state, uint32_t begin,
                      uint32_t end);

// The buffer to decide on in the sections [begin, end), which have some left. False if none can be
// placed: the state is refuted.
bool stowi_place_choose(const stowi_place_state* state, const stowi_place_ranks* ranks,
                        stowi_place_where where, uint32_t begin, uint32_t end,
                        uint32_t* out_buffer);

#endif  // STOWAGE_SRC_PLACE_EXACT_CHOOSE_H_

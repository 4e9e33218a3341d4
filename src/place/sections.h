// Time compressed to what determines which buffers are live together.
#ifndef STOWAGE_SRC_PLACE_SECTIONS_H_
#define STOWAGE_SRC_PLACE_SECTIONS_H_

#include "place/problem.h"

// A buffer is one piece or, with windows, one for each part of its lifetime in which it occupies
// the same bytes; gaps are not pieces. A piece covers the sections [begin, end), at least one. Two
// pieces are live together (stowi_place_together) exactly if they share a section, since lifetimes
// are intervals: skylines and sweeps over sections rely on it instead of asking pair by pair.
typedef struct stowi_place_sections {
  uint32_t count;
  size_t piece_count;
  uint32_t* begin;  // per piece
  uint32_t* end;
  // NULL if the problem has no windows: piece i is then buffer i, whole.
  uint32_t* first;  // pieces of buffer i: [first[i], first[i + 1])
  uint64_t* low;    // per piece: bytes [low, high) of the footprint
  uint64_t* high;
} stowi_place_sections;

// O(n log n). Free |out_sections| with stowi_place_sections_free even on failure.
stow_status stowi_place_sections_make(const stow_problem* problem, stow_allocator allocator,
                                      stowi_place_sections* out_sections);
void stowi_place_sections_free(stowi_place_sections* sections, const stow_problem* problem,
                               stow_allocator allocator);

// The pieces of |buffer| are [first, end).
static inline uint32_t stowi_place_piece_first(const stowi_place_sections* sections,
                                               size_t buffer) {
  return sections->first == NULL ? (uint32_t)buffer : sections->first[buffer];
}
static inline uint32_t stowi_place_piece_end(const stowi_place_sections* sections, size_t buffer) {
  return sections->first == NULL ? (uint32_t)buffer + 1 : sections->first[buffer + 1];
}
static inline uint64_t stowi_place_piece_low(const stowi_place_sections* sections, uint32_t piece) {
  return sections->low == NULL ? 0 : sections->low[piece];
}
// |piece| belongs to |buffer|.
static inline uint64_t stowi_place_piece_high(const stowi_place_sections* sections, uint32_t piece,
                                              const stowi_place_buffer* buffer) {
  return sections->high == NULL ? stowi_place_footprint(buffer) : sections->high[piece];
}

// The number of bytes that |piece| occupies.
static inline uint64_t stowi_place_piece_size(const stowi_place_sections* sections,
                                              const stow_problem* problem, uint32_t piece) {
  return sections->high == NULL ? stowi_place_footprint(&problem->buffers.data[piece])
                                : sections->high[piece] - sections->low[piece];
}

#endif  // STOWAGE_SRC_PLACE_SECTIONS_H_

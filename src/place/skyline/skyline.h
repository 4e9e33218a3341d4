// Placement from the bottom up. The skyline is how high each section is filled; a buffer rests on
// the highest of its sections, and what is left free below it stays free.
//     ▲      ┌──────┐
//     │ ┌────┴─┐ b  │     b rests on a, and buries what is below it. A pass needs no search
//     │ │  a   ├────┘     among gaps, so it is fast, and by taking the lowest first it
//     ├─┴──┬───┘ ░░░ ┌─   leaves few of them.
//     └────┴─────────┴─▶
// Windows, guards, alignments and fixed buffers are respected: a window rests on the skyline with
// its own low end, and a buffer that would overlap a fixed one goes above it.
#ifndef STOWAGE_SRC_PLACE_SKYLINE_SKYLINE_H_
#define STOWAGE_SRC_PLACE_SKYLINE_SKYLINE_H_

#include "place/quest.h"
#include "place/sections.h"

typedef struct stowi_place_skyline_state stowi_place_skyline_state;

// |quest| and |sections| must outlive it. O(n log n).
stow_status stowi_place_skyline_create(stowi_place_quest* quest,
                                       const stowi_place_sections* sections,
                                       stowi_place_skyline_state** out_skyline);
void stowi_place_skyline_destroy(stowi_place_skyline_state* skyline);

typedef struct stowi_place_skyline_pass {
  const uint32_t* order;  // of all buffers that are not fixed
  size_t count;
  uint64_t* offsets;   // of all buffers
  uint64_t too_high;   // a pass ends early if it reaches this
  uint64_t max_steps;  // or if it has taken this many, or if the callback stops it
  uint64_t steps;      // result: how many buffers were looked at
  uint64_t nodes;      // result: what that costs; a step takes less time than a node of a search
  uint64_t height;     // result: UINT64_MAX if it ended early
} stowi_place_skyline_pass;

// Always takes the buffer that can be lowest, of equal ones the first in order. (How low is counted
// in steps of the problem's smallest alignment: the cost of a larger one is not held against a
// buffer.) About O(n log n), a step per buffer, if no buffer is fixed or has windows; otherwise
// buffers are checked again, a step each time, when something was placed below them.
void stowi_place_skyline_lowest(stowi_place_skyline_state* skyline, stowi_place_skyline_pass* pass);
// The same with less care for windows, which count as the whole footprint, and for fixed buffers:
// what is below one is given up as soon as the lowest buffer does not fit there. About O(n log n).
void stowi_place_skyline_quick(stowi_place_skyline_state* skyline, stowi_place_skyline_pass* pass);
// No buffer is fixed or has windows: the two are the same.
bool stowi_place_skyline_is_plain(const stowi_place_skyline_state* skyline);

// Strategy `skyline`: passes in the orders that have worked best, until one reaches the goal.
stow_status stowi_place_skyline_work(stowi_place_quest* quest);

#endif  // STOWAGE_SRC_PLACE_SKYLINE_SKYLINE_H_

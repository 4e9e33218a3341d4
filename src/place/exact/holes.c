// Offsets among windows with holes. Of all placements within the capacity, take one whose sum of
// offsets is lowest: no buffer of it can be moved to a lower offset, even past others. So each lies
// on the ground or right above some piece of another, and where it lies higher than an offset that
// all placed ones leave, one that is yet to be placed meets it there.
#include "place/exact/holes.h"

#include "base/bits.h"

// The lowest offset from |at| on at which |buffer| meets |placed| in none of their common sections,
// as far as one look at each tells: a later one may push it back into an earlier one.
static int64_t push_up(const stowi_state* state, uint32_t placed, uint32_t buffer, int64_t at) {
  const stowi_model* model = state->model;
  int64_t unit = (int64_t)model->unit;
  int64_t base = state->least[placed];
  stowi_meeting m = stowi_meeting_of(model, placed, buffer);
  while (stowi_meeting_next(&m)) {
    int64_t apart = (at - base) * unit;
    if (-m.down < apart && apart < m.up) {
      at = base + stowi_model_units(model, m.up);
    }
  }
  return at;
}

int64_t stowi_holes_next(const stowi_state* state, uint32_t buffer, int64_t from) {
  const stowi_model* model = state->model;
  const uint64_t* neighbours = stowi_model_neighbours(model, buffer);
  int64_t at = stowi_model_align(model, buffer, from);
  for (int64_t before = at - 1; before != at;) {
    before = at;
    for (uint32_t w = 0; w < model->words; ++w) {
      for (uint64_t bits = neighbours[w] & ~state->free[w]; bits != 0; bits &= bits - 1) {
        uint32_t placed = w * 64 + stowi_lowest_bit(bits);
        at = stowi_model_align(model, buffer, push_up(state, placed, buffer, at));
      }
    }
  }
  return at;
}

// ---------------------------------------------------------------------------------------------
// Passing

typedef struct prospect {
  int64_t rest;  // lowest offset above `least` where it may rest on another
  bool blocked;  // some free one may keep it from lying at `least`
} prospect;

// A placed one is where it is; a free one is at its least offset, or higher.
static void look_at(const stowi_state* state, uint32_t other, uint32_t buffer, prospect* p) {
  const stowi_model* model = state->model;
  int64_t least = state->least[buffer];
  int64_t base = state->least[other];
  bool is_free = stowi_state_is_free(state, other);
  stowi_meeting m = stowi_meeting_of(model, other, buffer);
  while (stowi_meeting_next(&m)) {
    int64_t top = stowi_model_align(model, buffer, base + stowi_model_units(model, m.up));
    if (is_free) {
      p->blocked |= (base - least) * (int64_t)model->unit < m.down;
      top = top > least ? top : least + 1;
    }
    p->rest = top > least && top < p->rest ? top : p->rest;
  }
}

int64_t stowi_holes_above(const stowi_state* state, uint32_t buffer) {
  const stowi_model* model = state->model;
  const uint64_t* neighbours = stowi_model_neighbours(model, buffer);
  prospect p = {INT64_MAX, false};
  for (uint32_t w = 0; w < model->words; ++w) {
    for (uint64_t bits = neighbours[w]; bits != 0; bits &= bits - 1) {
      look_at(state, w * 64 + stowi_lowest_bit(bits), buffer, &p);
    }
  }
  if (!p.blocked && (state->rules & STOWI_RULE_BLOCKERS) != 0) {
    return INT64_MAX;
  }
  int64_t from = (state->rules & STOWI_RULE_PASSED) != 0 ? p.rest : state->least[buffer] + 1;
  return from == INT64_MAX ? from : stowi_holes_next(state, buffer, from);
}

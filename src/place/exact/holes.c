// Offsets if windows leave holes. Of all placements within the capacity, take one with the lowest
// sum of offsets: none of its buffers can be moved to a lower offset, even past others. So each is
// on the ground or right above some piece of another, and if it is higher than an offset that all
// placed ones leave free, one that is yet to be placed overlaps that position.
#include "place/exact/holes.h"

#include "base/bits.h"

// The same as below, by the pieces.
static int64_t walk_up(const stowi_place_model* model, uint32_t placed, uint32_t buffer,
                       int64_t apart) {
  stowi_place_meeting m = stowi_place_meeting_of(model, placed, buffer);
  while (stowi_place_meeting_next(&m)) {
    stowi_place_clash clash = stowi_place_meeting_clash(&m);
    apart = clash.low <= apart && apart < clash.high ? clash.high : apart;
  }
  return apart;
}

// The lowest difference from |apart| on at which |buffer|, above |placed| by that much, does not
// overlap it, as far as one check of each of their common sections shows: a later one may push it
// back into an earlier one.
static int64_t push_up(const stowi_place_model* model, uint32_t placed, uint32_t buffer,
                       int64_t apart) {
  const stowi_place_clashes* clashes = &model->clashes;
  if (clashes->first == NULL) {
    return walk_up(model, placed, buffer, apart);
  }
  if (!stowi_place_clashes_has(clashes, placed, buffer)) {
    int64_t size = model->size[placed];
    return -model->size[buffer] < apart && apart < size ? size : apart;
  }
  stowi_place_clash_list list = stowi_place_clashes_of(clashes, placed, buffer);
  for (const stowi_place_clash* clash = list.begin; clash < list.end && clash->low <= apart;
       ++clash) {
    apart = apart < clash->high ? clash->high : apart;
  }
  return apart;
}

int64_t stowi_place_holes_next(stowi_place_state* state, uint32_t buffer, int64_t from) {
  const stowi_place_model* model = state->model;
  const uint64_t* neighbours = stowi_place_model_neighbours(model, buffer);
  int64_t at = stowi_place_model_align(model, buffer, from);
  for (int64_t before = at - 1; before != at;) {
    before = at;
    for (uint32_t w = 0; w < model->words; ++w) {
      for (uint64_t bits = neighbours[w] & ~state->free[w]; bits != 0; bits &= bits - 1) {
        uint32_t placed = w * 64 + stowi_lowest_bit(bits);
        int64_t base = state->least[placed];
        ++state->look_count;
        at = stowi_place_model_align(model, buffer,
                                     base + push_up(model, placed, buffer, at - base));
      }
    }
  }
  return at;
}

int64_t stowi_place_holes_beside(stowi_place_state* state, uint32_t placed, uint32_t buffer) {
  int64_t apart = state->least[buffer] - state->least[placed];
  int64_t next = push_up(state->model, placed, buffer, apart);
  ++state->look_count;
  return next == apart ? state->least[buffer]
                       : stowi_place_holes_next(state, buffer, state->least[placed] + next);
}

// ---------------------------------------------------------------------------------------------
// Passing

typedef struct prospect {
  int64_t rest;  // lowest offset above `least` where it may rest on another
  bool blocked;  // some free one may keep it from `least`
} prospect;

// A placed |other| is where it is; a free one is at its least offset, or higher.
static void look_at_clash(const stowi_place_state* state, uint32_t other, uint32_t buffer,
                          stowi_place_clash clash, prospect* p) {
  int64_t least = state->least[buffer];
  int64_t base = state->least[other];
  int64_t top = stowi_place_model_align(state->model, buffer, base + clash.high);
  if (stowi_place_exact_state_is_free(state, other)) {
    p->blocked |= least - base >= clash.low;
    top = top > least ? top : least + 1;
  }
  p->rest = top > least && top < p->rest ? top : p->rest;
}

static void look_at(const stowi_place_state* state, uint32_t other, uint32_t buffer, prospect* p) {
  const stowi_place_model* model = state->model;
  if (model->clashes.first == NULL) {
    stowi_place_meeting m = stowi_place_meeting_of(model, other, buffer);
    while (stowi_place_meeting_next(&m)) {
      look_at_clash(state, other, buffer, stowi_place_meeting_clash(&m), p);
    }
  } else if (stowi_place_clashes_has(&model->clashes, other, buffer)) {
    stowi_place_clash_list list = stowi_place_clashes_of(&model->clashes, other, buffer);
    for (const stowi_place_clash* clash = list.begin; clash < list.end; ++clash) {
      look_at_clash(state, other, buffer, *clash, p);
    }
  } else {
    stowi_place_clash whole = {1 - model->size[buffer], model->size[other]};
    look_at_clash(state, other, buffer, whole, p);
  }
}

int64_t stowi_place_holes_above(stowi_place_state* state, uint32_t buffer) {
  const stowi_place_model* model = state->model;
  const uint64_t* neighbours = stowi_place_model_neighbours(model, buffer);
  prospect p = {INT64_MAX, false};
  for (uint32_t w = 0; w < model->words; ++w) {
    state->look_count += stowi_bit_count(neighbours[w]);
    for (uint64_t bits = neighbours[w]; bits != 0; bits &= bits - 1) {
      look_at(state, w * 64 + stowi_lowest_bit(bits), buffer, &p);
    }
  }
  if (!p.blocked && (state->rules & STOWI_PLACE_RULE_BLOCKERS) != 0) {
    return INT64_MAX;
  }
  int64_t from = (state->rules & STOWI_PLACE_RULE_PASSED) != 0 ? p.rest : state->least[buffer] + 1;
  return from == INT64_MAX ? from : stowi_place_holes_next(state, buffer, from);
}

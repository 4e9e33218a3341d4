// Placing, passing over, and undoing. A node costs about as much as the placed buffer has
// neighbours, times the sections whose floor they held. Nothing is allocated after creation.
#include "place/exact/state.h"

#include <string.h>

#include "base/bits.h"
#include "place/exact/holes.h"

#define MAX_TRAIL ((size_t)1 << 22)
#define MIN_TRAIL ((size_t)1 << 12)

typedef enum change_kind {
  CHANGED_LEAST,
  CHANGED_BOUND,
  CHANGED_PASSED,
  CHANGED_RANK,
  CHANGED_FLOOR,
  CHANGED_CEILING,
  PLACED
} change_kind;

struct stowi_place_change {
  uint32_t kind;
  uint32_t index;
  uint32_t holder;  // of a floor
  int64_t value;
};

static void push(stowi_place_state* state, change_kind kind, uint32_t index, int64_t value) {
  state->trail[state->trail_count++] = (stowi_place_change){kind, index, 0, value};
}

// The most changes that one placement or pass writes.
static size_t most_changes(const stowi_place_model* model) {
  return 4 * (size_t)model->count + 2 * (size_t)model->section_count + 4;
}

static bool has_room(stowi_place_state* state) {
  if (state->trail_capacity - state->trail_count < most_changes(state->model)) {
    state->out_of_trail = true;
    return false;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Hashes: of each free buffer with its least offset. A state is the sum of them.

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

static void hash_least(stowi_place_state* state, uint32_t buffer) {
  uint64_t at = (uint64_t)state->least[buffer];
  uint64_t x = mix(at + (buffer + UINT64_C(1)) * UINT64_C(0x9E3779B97F4A7C15));
  state->hash[buffer] = (stowi_place_hash_pair){x, mix(x ^ UINT64_C(0xD6E8FEB86659FD93))};
}

// ---------------------------------------------------------------------------------------------
// Floors

static void set_floor(stowi_place_state* state, uint32_t section, int64_t floor, uint32_t holder) {
  state->floor[section] = floor;
  state->holder[section] = holder;
  if (holder != STOWI_PLACE_NO_HOLDER) {
    ++state->held[holder];
  }
}

// The floor is at |floor| or higher, and its holder is to be found.
static void leave_floor(stowi_place_state* state, uint32_t section, int64_t floor) {
  uint32_t holder = state->holder[section];
  state->trail[state->trail_count++] =
      (stowi_place_change){CHANGED_FLOOR, section, holder, state->floor[section]};
  --state->held[holder];
  state->stale[state->stale_count++] = section;
  set_floor(state, section, floor, STOWI_PLACE_NO_HOLDER);
}

// |buffer|'s bound has risen, or it has been placed.
static void leave_floors(stowi_place_state* state, uint32_t buffer) {
  const stowi_place_model* model = state->model;
  for (uint32_t p = model->first_piece[buffer];
       p < model->first_piece[buffer + 1] && state->held[buffer] > 0; ++p) {
    for (uint32_t s = model->pieces[p].begin; s < model->pieces[p].end; ++s) {
      if (state->holder[s] == buffer) {
        leave_floor(state, s, state->floor[s]);
      }
    }
  }
}

// Everything that is live with |buffer|, which has been placed and is whole, goes above |end|.
static void raise_floors(stowi_place_state* state, uint32_t buffer, int64_t end) {
  const stowi_place_model_piece* piece = &state->model->pieces[state->model->first_piece[buffer]];
  for (uint32_t s = piece->begin; s < piece->end; ++s) {
    if (state->floor[s] < end || state->holder[s] == buffer) {
      leave_floor(state, s, state->floor[s] < end ? end : state->floor[s]);
    }
  }
}

int64_t stowi_place_exact_state_low_at(const stowi_place_state* state, uint32_t buffer,
                                       uint32_t section) {
  const stowi_place_model* model = state->model;
  if (model->low[buffer] != STOWI_PLACE_MANY_LOWS) {
    return state->bound[buffer] + model->low[buffer];
  }
  uint32_t p = model->first_piece[buffer];
  while (model->pieces[p].end <= section) {
    ++p;
  }
  return state->bound[buffer] + model->pieces[p].low;
}

// The lowest of the free ones in [set less except], which are live in |section|, and |found|.
static stowi_place_low lower_of(const stowi_place_state* state, uint32_t section,
                                const uint64_t* set, const uint64_t* except,
                                stowi_place_low found) {
  const stowi_place_model* model = state->model;
  uint32_t end = stowi_place_model_end_word(model, section);
  for (uint32_t w = model->first_word[section]; w < end; ++w) {
    uint64_t bits = set[w] & state->free[w] & ~(except != NULL ? except[w] : 0);
    for (; bits != 0; bits &= bits - 1) {
      uint32_t j = w * 64 + stowi_lowest_bit(bits);
      int64_t at =
          model->has_windows ? stowi_place_exact_state_low_at(state, j, section) : state->bound[j];
      found = at < found.at ? (stowi_place_low){at, j} : found;
    }
  }
  return found;
}

// What spans its block is looked at once for all its sections.
static void find_floor(stowi_place_state* state, uint32_t section) {
  uint32_t block = section / STOWI_PLACE_BLOCK;
  const uint64_t* spanning = stowi_place_model_spanning(state->model, block);
  if (state->block_stamp[block] != state->settled) {
    state->block_stamp[block] = state->settled;
    state->block_low[block] = lower_of(state, section, spanning, NULL,
                                       (stowi_place_low){INT64_MAX, STOWI_PLACE_NO_HOLDER});
  }
  stowi_place_low found = state->block_low[block];
  if (found.at > state->floor[section]) {
    found =
        lower_of(state, section, stowi_place_model_members(state->model, section), spanning, found);
  }
  set_floor(state, section, found.at, found.holder);
}

void stowi_place_exact_state_settle(stowi_place_state* state) {
  ++state->settled;
  for (uint32_t i = 0; i < state->stale_count; ++i) {
    find_floor(state, state->stale[i]);
  }
  state->stale_count = 0;
}

static void count_failure(const stowi_place_state* state, uint32_t begin, uint32_t end,
                          int64_t lowest) {
  for (uint32_t s = begin; s < end; ++s) {
    int64_t floor = state->floor[s] > lowest ? state->floor[s] : lowest;
    if (state->load[s] != 0 && floor + state->load[s] > state->ceiling[s]) {
      ++state->failures[s];
      return;
    }
  }
}

bool stowi_place_exact_state_may_fit(const stowi_place_state* state, uint32_t begin, uint32_t end,
                                     int64_t lowest) {
  if ((state->rules & STOWI_PLACE_RULE_SECTIONS) == 0) {
    return true;
  }
  int64_t excess = 0;
  for (uint32_t s = begin; s < end; ++s) {
    if (state->load[s] != 0) {
      int64_t floor = state->floor[s] > lowest ? state->floor[s] : lowest;
      int64_t over = floor + state->load[s] - state->ceiling[s];
      excess = over > excess ? over : excess;
    }
  }
  if (excess > 0 && state->learns) {
    count_failure(state, begin, end, lowest);
  }
  return excess <= 0;
}

// ---------------------------------------------------------------------------------------------
// Ceilings: only the topmost footprint of a section may end in padding above the capacity. Once all
// that have so much padding are placed, others lie above them.

static int64_t find_ceiling(const stowi_place_state* state, uint32_t section) {
  const stowi_place_model* model = state->model;
  const uint64_t* members = stowi_place_model_members(model, section);
  int64_t highest = 0;
  uint32_t end = stowi_place_model_end_word(model, section);
  for (uint32_t w = model->first_word[section]; w < end; ++w) {
    for (uint64_t bits = members[w] & state->free[w]; bits != 0; bits &= bits - 1) {
      int64_t top = state->top[w * 64 + stowi_lowest_bit(bits)];
      highest = top > highest ? top : highest;
    }
  }
  return highest;
}

// |buffer| has been placed.
static void lower_ceilings(stowi_place_state* state, uint32_t buffer) {
  const stowi_place_model* model = state->model;
  for (uint32_t p = model->first_piece[buffer]; p < model->first_piece[buffer + 1]; ++p) {
    for (uint32_t s = model->pieces[p].begin; s < model->pieces[p].end; ++s) {
      int64_t ceiling =
          state->ceiling[s] == state->top[buffer] ? find_ceiling(state, s) : state->ceiling[s];
      if (ceiling != state->ceiling[s]) {
        push(state, CHANGED_CEILING, s, state->ceiling[s]);
        state->ceiling[s] = ceiling;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Placing

static void raise_bound(stowi_place_state* state, uint32_t buffer, int64_t bound) {
  push(state, CHANGED_BOUND, buffer, state->bound[buffer]);
  state->bound[buffer] = bound;
  leave_floors(state, buffer);
}

static void set_passed(stowi_place_state* state, uint32_t buffer, bool passed) {
  push(state, CHANGED_PASSED, buffer, state->passed[buffer]);
  state->passed[buffer] = passed;
}

// |buffer| rests on one that ends at |offset|, or higher.
static bool lift(stowi_place_state* state, uint32_t buffer, int64_t offset) {
  const stowi_place_model* model = state->model;
  offset = stowi_place_model_align(model, buffer, offset);
  if (state->least[buffer] >= offset) {
    return true;
  }
  push(state, CHANGED_LEAST, buffer, state->least[buffer]);
  state->least[buffer] = offset;
  hash_least(state, buffer);
  if (state->bound[buffer] < offset) {
    raise_bound(state, buffer, offset);
  }
  if (state->passed[buffer]) {
    set_passed(state, buffer, false);
  }
  return model->pin[buffer] == STOWI_PLACE_NO_PIN &&
         offset + model->size[buffer] <= state->top[buffer];
}

static void change_load(stowi_place_state* state, uint32_t buffer, int64_t sign) {
  const stowi_place_model* model = state->model;
  uint32_t last = model->first_piece[buffer + 1] - 1;
  for (uint32_t p = model->first_piece[buffer]; p <= last; ++p) {
    const stowi_place_model_piece* piece = &model->pieces[p];
    for (uint32_t s = piece->begin; s < piece->end; ++s) {
      state->load[s] += sign * piece->room;
    }
  }
  uint32_t begin = model->pieces[model->first_piece[buffer]].begin;
  for (uint32_t s = begin; s + 1 < model->pieces[last].end; ++s) {
    state->crossing[s] += sign > 0 ? 1U : UINT32_MAX;
  }
}

// How low |other| can be once |placed| is. The caller has computed the placed one's end.
static int64_t lowest_beside(stowi_place_state* state, uint32_t placed, int64_t end,
                             uint32_t other) {
  const stowi_place_model* model = state->model;
  if (!model->has_windows) {
    return end;
  }
  return state->among_holes
             ? stowi_place_holes_beside(state, placed, other)
             : state->least[placed] + stowi_place_model_distance(model, placed, other);
}

bool stowi_place_exact_state_place(stowi_place_state* state, uint32_t buffer) {
  const stowi_place_model* model = state->model;
  if (!has_room(state)) {
    return false;
  }
  push(state, PLACED, buffer, 0);
  ++state->placed_count;
  state->free[buffer / 64] &= ~(UINT64_C(1) << (buffer % 64));
  change_load(state, buffer, -1);
  int64_t end = state->least[buffer] + model->size[buffer];
  if (model->has_windows) {
    leave_floors(state, buffer);
  } else {
    raise_floors(state, buffer, end);
  }
  if (model->most_padding > 0 && model->is_ordered) {
    lower_ceilings(state, buffer);
  }
  const uint64_t* neighbours = stowi_place_model_neighbours(model, buffer);
  bool fits = true;
  for (uint32_t w = 0; w < model->words; ++w) {
    for (uint64_t bits = neighbours[w] & state->free[w]; bits != 0; bits &= bits - 1) {
      uint32_t j = w * 64 + stowi_lowest_bit(bits);
      ++state->lift_count;
      fits = lift(state, j, lowest_beside(state, buffer, end, j)) && fits;
    }
  }
  return fits;
}

// ---------------------------------------------------------------------------------------------
// Passing

static bool pass_among_holes(stowi_place_state* state, uint32_t buffer) {
  int64_t next = stowi_place_holes_above(state, buffer);
  return next != INT64_MAX && lift(state, buffer, next);
}

// In a placement in which nothing can sink, |buffer| rests on a neighbour that is yet to be placed,
// and a neighbour (perhaps another one) begins below its end at |least|, or it could sink back
// there.
bool stowi_place_exact_state_pass(stowi_place_state* state, uint32_t buffer, int64_t lowest) {
  const stowi_place_model* model = state->model;
  if (model->pin[buffer] != STOWI_PLACE_NO_PIN || !has_room(state)) {
    return false;
  }
  if (state->among_holes) {
    return pass_among_holes(state, buffer);
  }
  const uint64_t* neighbours = stowi_place_model_neighbours(model, buffer);
  int64_t end = state->least[buffer] + model->size[buffer];
  int64_t rest = INT64_MAX;
  bool blocked = false;
  for (uint32_t w = 0; w < model->words; ++w) {
    for (uint64_t bits = neighbours[w] & state->free[w]; bits != 0; bits &= bits - 1) {
      uint32_t j = w * 64 + stowi_lowest_bit(bits);
      int64_t at = state->bound[j] > lowest ? state->bound[j] : lowest;
      if (at < end) {
        blocked = true;
        int64_t on_top = stowi_place_model_align(model, buffer,
                                                 at + stowi_place_model_distance(model, j, buffer));
        rest = on_top < rest ? on_top : rest;
      }
    }
  }
  if (!blocked && (state->rules & STOWI_PLACE_RULE_BLOCKERS) != 0) {
    return false;
  }
  set_passed(state, buffer, true);
  if (blocked && (state->rules & STOWI_PLACE_RULE_PASSED) != 0 && rest > state->bound[buffer]) {
    raise_bound(state, buffer, rest);
  }
  return true;
}

void stowi_place_exact_state_set_rank(stowi_place_state* state, uint32_t buffer, uint32_t rank) {
  push(state, CHANGED_RANK, buffer, state->rank[buffer]);
  state->rank[buffer] = rank;
}

// ---------------------------------------------------------------------------------------------
// Taking back

static void take_back(stowi_place_state* state, const stowi_place_change* change) {
  uint32_t i = change->index;
  switch ((change_kind)change->kind) {
    case CHANGED_LEAST:
      state->least[i] = change->value;
      hash_least(state, i);
      break;
    case CHANGED_BOUND: state->bound[i] = change->value; break;
    case CHANGED_PASSED: state->passed[i] = change->value != 0; break;
    case CHANGED_RANK: state->rank[i] = (uint32_t)change->value; break;
    case CHANGED_CEILING: state->ceiling[i] = change->value; break;
    case CHANGED_FLOOR:
      if (state->holder[i] != STOWI_PLACE_NO_HOLDER) {
        --state->held[state->holder[i]];
      }
      set_floor(state, i, change->value, change->holder);
      break;
    case PLACED:
      --state->placed_count;
      state->free[i / 64] |= UINT64_C(1) << (i % 64);
      change_load(state, i, 1);
      break;
  }
}

void stowi_place_exact_state_undo(stowi_place_state* state, size_t mark) {
  state->stale_count = 0;
  while (state->trail_count > mark) {
    take_back(state, &state->trail[--state->trail_count]);
  }
}

// ---------------------------------------------------------------------------------------------
// Creation

static void start_buffer(stowi_place_state* state, uint32_t i, uint64_t capacity) {
  const stowi_place_model* model = state->model;
  state->free[i / 64] |= UINT64_C(1) << (i % 64);
  state->least[i] = model->pin[i] != STOWI_PLACE_NO_PIN ? model->pin[i] : 0;
  state->bound[i] = state->least[i];
  state->passed[i] = 0;
  state->top[i] = (int64_t)((capacity + (uint64_t)model->padding[i]) / model->unit);
  hash_least(state, i);
  change_load(state, i, 1);
}

void stowi_place_exact_state_reset(stowi_place_state* state, uint64_t capacity) {
  const stowi_place_model* model = state->model;
  uint32_t sections = model->section_count;
  memset(state->free, 0, model->words * sizeof(*state->free));
  memset(state->load, 0, sections * sizeof(*state->load));
  memset(state->crossing, 0, sections * sizeof(*state->crossing));
  uint64_t most = INT64_MAX - (uint64_t)model->most_padding;
  capacity = capacity < most ? capacity : most;
  state->placed_count = 0;
  state->stale_count = 0;
  state->trail_count = 0;
  state->out_of_trail = false;
  for (uint32_t i = 0; i < model->count; ++i) {
    start_buffer(state, i, capacity);
  }
  memset(state->held, 0, model->count * sizeof(*state->held));
  ++state->settled;
  for (uint32_t s = 0; s < sections; ++s) {
    state->floor[s] = INT64_MIN;
    find_floor(state, s);
    state->ceiling[s] = find_ceiling(state, s);
  }
}

static size_t trail_capacity(const stowi_place_model* model) {
  size_t pairs = model->pair_count < MAX_TRAIL ? (size_t)model->pair_count : MAX_TRAIL;
  size_t sections = (size_t)model->section_count * model->count;
  size_t wanted = 4 * (pairs < MAX_TRAIL ? pairs : MAX_TRAIL) + 2 * sections + MIN_TRAIL;
  size_t least = 4 * most_changes(model);
  wanted = wanted < MAX_TRAIL ? wanted : MAX_TRAIL;
  return wanted > least ? wanted : least;
}

static bool allocate(stowi_place_state* state) {
  const stowi_place_model* model = state->model;
  stow_allocator allocator = state->allocator;
  size_t n = model->count;
  size_t sections = model->section_count;
  state->top = STOWI_ARRAY(allocator, int64_t, n);
  state->free = STOWI_ARRAY(allocator, uint64_t, model->words);
  state->least = STOWI_ARRAY(allocator, int64_t, n);
  state->bound = STOWI_ARRAY(allocator, int64_t, n);
  state->passed = STOWI_ARRAY(allocator, uint8_t, n);
  state->rank = STOWI_ARRAY_ZERO(allocator, uint32_t, n);
  state->hash = STOWI_ARRAY(allocator, stowi_place_hash_pair, n);
  state->floor = STOWI_ARRAY(allocator, int64_t, sections);
  state->holder = STOWI_ARRAY(allocator, uint32_t, sections);
  state->load = STOWI_ARRAY(allocator, int64_t, sections);
  state->ceiling = STOWI_ARRAY(allocator, int64_t, sections);
  state->crossing = STOWI_ARRAY(allocator, uint32_t, sections);
  state->held = STOWI_ARRAY(allocator, uint32_t, n);
  state->stale = STOWI_ARRAY(allocator, uint32_t, sections);
  state->failures = STOWI_ARRAY_ZERO(allocator, uint64_t, sections);
  state->block_low = STOWI_ARRAY(allocator, stowi_place_low, stowi_place_model_blocks(model));
  state->block_stamp = STOWI_ARRAY_ZERO(allocator, uint64_t, stowi_place_model_blocks(model));
  state->trail = STOWI_ARRAY(allocator, stowi_place_change, state->trail_capacity);
  return state->top != NULL && state->free != NULL && state->least != NULL &&
         state->bound != NULL && state->passed != NULL && state->rank != NULL &&
         state->hash != NULL && state->floor != NULL && state->holder != NULL &&
         state->load != NULL && state->ceiling != NULL && state->crossing != NULL &&
         state->held != NULL && state->stale != NULL && state->failures != NULL &&
         state->block_low != NULL && state->block_stamp != NULL && state->trail != NULL;
}

stow_status stowi_place_exact_state_create(const stowi_place_model* model, stow_allocator allocator,
                                           stowi_place_state** out_state) {
  stowi_place_state* state = STOWI_NEW(allocator, stowi_place_state);
  *out_state = state;
  if (state == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  state->model = model;
  state->allocator = allocator;
  state->rules = STOWI_PLACE_RULE_ALL;
  state->trail_capacity = trail_capacity(model);
  if (!allocate(state)) {
    stowi_place_exact_state_destroy(state);
    *out_state = NULL;
    return STOW_ERR_OUT_OF_MEMORY;
  }
  return STOW_OK;
}

void stowi_place_exact_state_destroy(stowi_place_state* state) {
  if (state == NULL) {
    return;
  }
  stow_allocator allocator = state->allocator;
  size_t n = state->model->count;
  size_t sections = state->model->section_count;
  STOWI_ARRAY_FREE(allocator, state->top, n);
  STOWI_ARRAY_FREE(allocator, state->free, state->model->words);
  STOWI_ARRAY_FREE(allocator, state->least, n);
  STOWI_ARRAY_FREE(allocator, state->bound, n);
  STOWI_ARRAY_FREE(allocator, state->passed, n);
  STOWI_ARRAY_FREE(allocator, state->rank, n);
  STOWI_ARRAY_FREE(allocator, state->hash, n);
  STOWI_ARRAY_FREE(allocator, state->floor, sections);
  STOWI_ARRAY_FREE(allocator, state->holder, sections);
  STOWI_ARRAY_FREE(allocator, state->load, sections);
  STOWI_ARRAY_FREE(allocator, state->ceiling, sections);
  STOWI_ARRAY_FREE(allocator, state->crossing, sections);
  STOWI_ARRAY_FREE(allocator, state->held, n);
  STOWI_ARRAY_FREE(allocator, state->stale, sections);
  STOWI_ARRAY_FREE(allocator, state->failures, sections);
  STOWI_ARRAY_FREE(allocator, state->block_low, stowi_place_model_blocks(state->model));
  STOWI_ARRAY_FREE(allocator, state->block_stamp, stowi_place_model_blocks(state->model));
  STOWI_ARRAY_FREE(allocator, state->trail, state->trail_capacity);
  STOWI_DELETE(allocator, state);
}

// The state of the exact search: whatever is placed and passed over, the incremental state matches
// recomputation, and undoing leaves no trace.
#include <stdlib.h>
#include <string.h>

#include "place/exact/state.h"
#include "support/problem_families.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Snapshots

// All that undo restores; offsets of placed buffers are `least`.
typedef struct snapshot {
  uint64_t* free;
  int64_t* least;
  int64_t* bound;
  uint8_t* passed;
  uint32_t* rank;
  stowi_place_hash_pair* hash;
  int64_t* floor;
  uint32_t* holder;
  uint32_t* held;
  int64_t* load;
  uint32_t* crossing;
  size_t mark;
} snapshot;

static void* copy(const void* data, size_t count, size_t size) {
  void* result = calloc(count + 1, size);
  memcpy(result, data, count * size);
  return result;
}

static snapshot take(const stowi_place_state* state) {
  size_t n = state->model->count;
  size_t sections = state->model->section_count;
  return (snapshot){(uint64_t*)copy(state->free, state->model->words, sizeof(uint64_t)),
                    (int64_t*)copy(state->least, n, sizeof(int64_t)),
                    (int64_t*)copy(state->bound, n, sizeof(int64_t)),
                    (uint8_t*)copy(state->passed, n, 1),
                    (uint32_t*)copy(state->rank, n, sizeof(uint32_t)),
                    (stowi_place_hash_pair*)copy(state->hash, n, sizeof(stowi_place_hash_pair)),
                    (int64_t*)copy(state->floor, sections, sizeof(int64_t)),
                    (uint32_t*)copy(state->holder, sections, sizeof(uint32_t)),
                    (uint32_t*)copy(state->held, n, sizeof(uint32_t)),
                    (int64_t*)copy(state->load, sections, sizeof(int64_t)),
                    (uint32_t*)copy(state->crossing, sections, sizeof(uint32_t)),
                    stowi_place_exact_state_mark(state)};
}

static bool is_as(const stowi_place_state* state, const snapshot* s) {
  size_t n = state->model->count;
  size_t sections = state->model->section_count;
  return memcmp(state->free, s->free, state->model->words * sizeof(uint64_t)) == 0 &&
         memcmp(state->least, s->least, n * sizeof(int64_t)) == 0 &&
         memcmp(state->bound, s->bound, n * sizeof(int64_t)) == 0 &&
         memcmp(state->passed, s->passed, n) == 0 &&
         memcmp(state->rank, s->rank, n * sizeof(uint32_t)) == 0 &&
         memcmp(state->hash, s->hash, n * sizeof(stowi_place_hash_pair)) == 0 &&
         memcmp(state->floor, s->floor, sections * sizeof(int64_t)) == 0 &&
         memcmp(state->holder, s->holder, sections * sizeof(uint32_t)) == 0 &&
         memcmp(state->held, s->held, n * sizeof(uint32_t)) == 0 &&
         memcmp(state->load, s->load, sections * sizeof(int64_t)) == 0 &&
         memcmp(state->crossing, s->crossing, sections * sizeof(uint32_t)) == 0;
}

static void drop(snapshot* s) {
  free(s->free);
  free(s->least);
  free(s->bound);
  free(s->passed);
  free(s->rank);
  free(s->hash);
  free(s->floor);
  free(s->holder);
  free(s->held);
  free(s->load);
  free(s->crossing);
}

// ---------------------------------------------------------------------------------------------
// From scratch

static void check_section(const stowi_place_state* state, uint32_t section) {
  const stowi_place_model* model = state->model;
  int64_t floor = INT64_MAX;
  int64_t load = 0;
  bool holds = state->holder[section] == STOWI_PLACE_NO_HOLDER;
  uint32_t crossing = 0;
  for (uint32_t j = 0; j < model->count; ++j) {
    uint32_t last = model->first_piece[j + 1] - 1;
    if (!stowi_place_exact_state_is_free(state, j)) {
      continue;
    }
    crossing += model->pieces[model->first_piece[j]].begin <= section &&
                section + 1 < model->pieces[last].end;
    for (uint32_t p = model->first_piece[j]; p <= last; ++p) {
      const stowi_place_model_piece* piece = &model->pieces[p];
      if (piece->begin <= section && section < piece->end) {
        int64_t at = state->bound[j] + piece->low;
        holds = holds || (state->holder[section] == j && at == state->floor[section]);
        floor = at < floor ? at : floor;
        load += piece->room;
      }
    }
  }
  CHECK(state->floor[section] == floor);
  CHECK(holds);
  CHECK((state->holder[section] == STOWI_PLACE_NO_HOLDER) == (floor == INT64_MAX));
  CHECK(state->load[section] == load);
  CHECK_U64(state->crossing[section], crossing);
}

static bool meet(const stowi_place_state* state, uint32_t a, uint32_t b) {
  int64_t apart = (state->least[b] - state->least[a]) * (int64_t)state->model->unit;
  stowi_place_meeting m = stowi_place_meeting_of(state->model, a, b);
  while (stowi_place_meeting_next(&m)) {
    if (-m.down < apart && apart < m.up) {
      return true;
    }
  }
  return false;
}

// A possible place of a buffer overlaps none that is placed.
static void check_buffer(const stowi_place_state* state, uint32_t buffer) {
  const stowi_place_model* model = state->model;
  CHECK(state->least[buffer] % model->alignment[buffer] == 0);
  CHECK(!stowi_place_exact_state_is_free(state, buffer) ||
        state->least[buffer] <= state->bound[buffer]);
  for (uint32_t k = 0; k < model->count; ++k) {
    bool lives = (stowi_place_model_neighbours(model, buffer)[k / 64] >> (k % 64) & 1) != 0;
    if (lives && !stowi_place_exact_state_is_free(state, k)) {
      CHECK(!meet(state, k, buffer));
    }
  }
}

static void check_held(const stowi_place_state* state, uint32_t buffer) {
  uint32_t held = 0;
  for (uint32_t s = 0; s < state->model->section_count; ++s) {
    held += state->holder[s] == buffer;
  }
  CHECK_U64(state->held[buffer], held);
}

static void check_all(const stowi_place_state* state) {
  for (uint32_t s = 0; s < state->model->section_count; ++s) {
    check_section(state, s);
  }
  for (uint32_t j = 0; j < state->model->count; ++j) {
    check_buffer(state, j);
    check_held(state, j);
  }
}

// ---------------------------------------------------------------------------------------------
// Random walks

// Places or passes a random free buffer. False if that refutes.
static bool take_step(stowi_place_state* state, test_random* random) {
  uint32_t j = (uint32_t)test_random_below(random, state->model->count);
  bool fits = true;
  if (stowi_place_exact_state_is_free(state, j) && !state->passed[j]) {
    fits = test_random_below(random, 3) != 0 ? stowi_place_exact_state_place(state, j)
                                             : stowi_place_exact_state_pass(state, j, INT64_MIN);
  } else {
    stowi_place_exact_state_set_rank(state, j, (uint32_t)test_random_below(random, 100));
  }
  stowi_place_exact_state_settle(state);
  return fits;
}

enum { DEPTH = 12 };

// Down, and back to marks on the way, over and over.
static void walk(stowi_place_state* state, test_random* random) {
  snapshot snapshots[DEPTH];
  size_t depth = 0;
  snapshots[depth++] = take(state);
  for (int i = 0; i < 60; ++i) {
    bool fits = take_step(state, random);
    if (fits) {
      check_all(state);
    }
    if (fits && depth < DEPTH && test_random_below(random, 2) == 0) {
      snapshots[depth++] = take(state);
    } else if (!fits || depth == DEPTH || test_random_below(random, 6) == 0) {
      stowi_place_exact_state_undo(state, snapshots[depth - 1].mark);
      CHECK(is_as(state, &snapshots[depth - 1]));
      if (depth > 1 && test_random_below(random, 2) == 0) {
        drop(&snapshots[--depth]);
        stowi_place_exact_state_undo(state, snapshots[depth - 1].mark);
        CHECK(is_as(state, &snapshots[depth - 1]));
      }
    }
  }
  stowi_place_exact_state_undo(state, snapshots[0].mark);
  CHECK(is_as(state, &snapshots[0]));
  while (depth > 0) {
    drop(&snapshots[--depth]);
  }
}

static void walk_on(const stow_problem* problem, uint64_t seed) {
  stowi_place_model* model = NULL;
  stowi_place_state* state = NULL;
  test_random random = {seed};
  CHECK(stowi_place_model_create(problem, stow_allocator_default(), NULL, &model) == STOW_OK);
  CHECK(stowi_place_exact_state_create(model, stow_allocator_default(), &state) == STOW_OK);
  state->among_holes = !model->is_ordered;
  stowi_place_exact_state_reset(state, 20 + seed % 40);
  check_all(state);
  walk(state, &random);
  stowi_place_exact_state_reset(state, UINT64_MAX - 1);
  check_all(state);
  walk(state, &random);
  stowi_place_exact_state_destroy(state);
  stowi_place_model_destroy(model);
}

TEST(IncrementalStateMatchesRecomputation) {
  uint64_t seeds = test_is_long() ? 1000 : 30;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    for (unsigned kinds = 0; kinds < TINY_KINDS; ++kinds) {
      stow_problem* problem = tiny_problem_make(seed, kinds);
      walk_on(problem, seed * TINY_KINDS + kinds);
      stow_problem_destroy(problem);
    }
  }
}

TEST(StatesOfMoreThanAWordOfBuffersAreUndone) {
  static const char* const families[] = {"tiled", "windows", "mixed"};
  for (uint64_t seed = 0; seed < 9; ++seed) {
    const problem_family* family = problem_family_find(families[seed % 3]);
    stow_problem* problem = problem_family_make(family, seed, 100, NULL);
    walk_on(problem, seed);
    stow_problem_destroy(problem);
  }
}

TEST(WithoutRoomOnTheTrailNothingChanges) {
  stow_problem* problem = tiny_problem_make(1, TINY_FULL);
  stowi_place_model* model = NULL;
  stowi_place_state* state = NULL;
  CHECK(stowi_place_model_create(problem, stow_allocator_default(), NULL, &model) == STOW_OK);
  CHECK(stowi_place_exact_state_create(model, stow_allocator_default(), &state) == STOW_OK);
  stowi_place_exact_state_reset(state, 1000);
  snapshot before = take(state);
  size_t capacity = state->trail_capacity;
  state->trail_capacity = 4;
  CHECK(!stowi_place_exact_state_place(state, 0));
  CHECK(state->out_of_trail);
  CHECK(is_as(state, &before));
  CHECK(!stowi_place_exact_state_pass(state, 0, INT64_MIN));
  CHECK(is_as(state, &before));
  state->trail_capacity = capacity;
  stowi_place_exact_state_reset(state, 1000);
  CHECK(!state->out_of_trail);
  drop(&before);
  stowi_place_exact_state_destroy(state);
  stowi_place_model_destroy(model);
  stow_problem_destroy(problem);
}

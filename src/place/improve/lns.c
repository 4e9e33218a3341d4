// Large neighbourhood search. To get below a height, whatever ends above it must move, and others
// must make room:
//     best ─────┬───┬──────      1. free one that sticks out above the target, and those live
//     target ┄┄┄│ x │┄┄┄┄┄┄         around the same time, the short-lived first
//        ┌───┬──┴─┬─┴┐           2. hold the others where they are, cut off at the target
//        │ a │ b  │c │           3. let the exact search place the free ones within the target
//        └───┴────┴──┘
// If that succeeds, less sticks out; if it fails, another neighbourhood of another size is drawn.
// Once nothing sticks out there is a better placement, and the target is lowered further.
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "place/exact/exact.h"
#include "place/improve/improve.h"
#include "place/skyline/skyline.h"

#define LEAST_FREE 12
#define MOST_FREE 160
#define NODES_PER_FREE 48
#define NODES_PER_TRY 64  // what setting up the exact search costs, beside a node per buffer
// Larger neighbourhoods, mostly held, take the exact search too long to set up.
#define MAX_PART 2048
#define TRIES_PER_TARGET 32  // without success, before a higher target is tried
#define MAX_EFFORT 64        // limit on the growth of nodes per try: more is not worth it
#define FIRST_PART 4         // of the gap to the goal, closed at once
#define LAST_PART 64

struct stowi_place_lns {
  stowi_place_quest* quest;
  stowi_place_sections sections;
  uint64_t* offsets;  // of the current placement
  uint64_t height;    // of the quest's best when the target was set
  uint64_t target;    // height to get down to
  uint64_t part;      // of the gap to close at once: one of so many
  uint32_t* above;    // buffers that end above it
  size_t above_count;
  size_t failures;  // tries in a row
  uint8_t* is_free;
  uint32_t* free;  // buffers to be placed again
  size_t free_count;
  uint64_t* answer;  // offsets of the neighbourhood
  bool holds_any;    // whether any of the neighbourhood stays where it is
  uint64_t effort;   // grows when all tries fail
  uint64_t seed;
};
typedef stowi_place_lns lns;

static const stowi_place_buffer* buffer_at(const lns* l, size_t buffer) {
  return &l->quest->problem->buffers.data[buffer];
}

static uint64_t end_of(const lns* l, size_t buffer) {
  return l->offsets[buffer] + stowi_place_footprint(buffer_at(l, buffer));
}

static uint64_t next_random(lns* l) {
  l->seed ^= l->seed << 13;
  l->seed ^= l->seed >> 7;
  l->seed ^= l->seed << 17;
  return l->seed;
}

static uint32_t first_section(const lns* l, uint32_t buffer) {
  return l->sections.begin[stowi_place_piece_first(&l->sections, buffer)];
}

// From the first section to the last that it occupies, also where gaps are between.
static stowi_place_life life_of(const lns* l, uint32_t buffer) {
  return (stowi_place_life){first_section(l, buffer),
                            l->sections.end[stowi_place_piece_end(&l->sections, buffer) - 1]};
}

// ---------------------------------------------------------------------------------------------
// A neighbourhood

// Lists what ends above the target, and returns the height.
static uint64_t find_above(lns* l) {
  uint64_t height = 0;
  l->above_count = 0;
  for (size_t i = 0; i < l->quest->problem->buffers.count; ++i) {
    uint64_t end = end_of(l, i);
    height = end > height ? end : height;
    if (end > l->target) {
      l->above[l->above_count++] = (uint32_t)i;
    }
  }
  return height;
}

static uint64_t width_of(const lns* l, uint32_t buffer) {
  stowi_place_life life = life_of(l, buffer);
  return life.end - life.begin;
}

static int shorter_first(const void* a, const void* b, const void* context) {
  const lns* l = (const lns*)context;
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  uint64_t width_x = width_of(l, x);
  uint64_t width_y = width_of(l, y);
  if (width_x != width_y) {
    return width_x < width_y ? -1 : 1;
  }
  return (x > y) - (x < y);
}

static void add_free(lns* l, uint32_t buffer) {
  if (!l->is_free[buffer] && !stowi_place_is_fixed(buffer_at(l, buffer))) {
    l->is_free[buffer] = 1;
    l->free[l->free_count++] = buffer;
  }
}

// Keeps |most| of the free ones, mostly short-lived, including |must|.
static stow_status thin_out(lns* l, uint32_t must, size_t most) {
  if (l->free_count > most) {
    stow_allocator allocator = l->quest->allocator;
    STOW_TRY(stowi_sort(l->free, l->free_count, sizeof(*l->free), shorter_first, l, allocator));
    size_t certain = most - most / 4;
    for (size_t i = certain; i < most; ++i) {
      size_t other = i + next_random(l) % (l->free_count - i);
      uint32_t moved = l->free[i];
      l->free[i] = l->free[other];
      l->free[other] = moved;
    }
    for (size_t i = most; i < l->free_count; ++i) {
      l->is_free[l->free[i]] = 0;
    }
    l->free_count = most;
    add_free(l, must);
  }
  return STOW_OK;
}

static stow_status draw(lns* l) {
  uint32_t must = l->above[next_random(l) % l->above_count];
  uint32_t width = (uint32_t)width_of(l, must);
  uint32_t center = first_section(l, must) + (uint32_t)(next_random(l) % width);
  uint32_t radius = (uint32_t)(next_random(l) % 8);
  size_t most = LEAST_FREE + next_random(l) % (MOST_FREE - LEAST_FREE);
  for (size_t i = 0; i < l->free_count; ++i) {
    l->is_free[l->free[i]] = 0;
  }
  l->free_count = 0;
  // Those that are live within |radius| sections of |center|.
  stowi_place_life around = {center > radius ? center - radius : 0, (uint64_t)center + radius + 1};
  for (uint32_t i = 0; i < l->quest->problem->buffers.count; ++i) {
    if (stowi_place_together(life_of(l, i), around)) {
      add_free(l, i);
    }
  }
  return thin_out(l, must, most);
}

// ---------------------------------------------------------------------------------------------
// The neighbourhood as a problem

// A held buffer or, if it has windows and sticks out, its whole footprint.
static stow_status add_held(const lns* l, stow_problem* part, uint32_t buffer) {
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_problem_describe_buffer(l->quest->problem, buffer, &desc);
  bool sticks_out = end_of(l, buffer) > l->target;
  desc.fixed_offset = l->offsets[buffer];
  if (sticks_out) {
    desc.guard = 0;
    desc.size = l->target - l->offsets[buffer];
  }
  STOW_TRY(stow_problem_add(part, &desc, NULL, NULL));
  return sticks_out ? STOW_OK
                    : stowi_place_problem_add_windows(part, l->quest->problem, buffer, NULL);
}

static stow_status add_all(lns* l, stow_problem* part) {
  stowi_place_life around = {UINT64_MAX, 0};  // from the first birth to the last death
  for (size_t i = 0; i < l->free_count; ++i) {
    stowi_place_life life = life_of(l, l->free[i]);
    around.begin = life.begin < around.begin ? life.begin : around.begin;
    around.end = life.end > around.end ? life.end : around.end;
    STOW_TRY(stowi_place_problem_add_copy(part, l->quest->problem, l->free[i], NULL));
  }
  l->holds_any = false;
  for (uint32_t i = 0; i < l->quest->problem->buffers.count; ++i) {
    if (!l->is_free[i] && l->offsets[i] < l->target &&
        stowi_place_together(life_of(l, i), around)) {
      l->holds_any = l->holds_any || !stowi_place_is_fixed(buffer_at(l, i));
      STOW_TRY(add_held(l, part, i));
    }
  }
  return STOW_OK;
}

// The callback is not interested in the neighbourhood's own progress, but it may stop the search.
static bool go_on(void* user, const stow_place_progress* progress) {
  (void)progress;
  return stowi_place_quest_poll(user);
}

static stow_status place_anew(lns* l, stow_problem* part, uint64_t nodes, bool* out_found) {
  stowi_place_quest* quest = l->quest;
  stowi_place_quest sub = {.problem = part, .allocator = quest->allocator, .phase = quest->phase};
  stow_place_options_init(&sub.options);
  sub.options.capacity = l->target;
  sub.options.nodes = nodes;
  sub.turn_end = STOW_PLACE_NO_LIMIT;
  sub.options.on_progress = go_on;
  sub.options.user = quest;
  sub.height = UINT64_MAX;
  sub.offsets = l->answer;
  stowi_place_prover* prover = NULL;
  STOW_TRY(stowi_place_prover_create(&sub, STOWI_PLACE_RULE_ALL, &prover));
  *out_found = stowi_place_prover_fit(prover, l->target) == STOWI_PLACE_FOUND;
  stowi_place_prover_destroy(prover);
  if (stow_problem_count(part) == quest->problem->buffers.count && !l->holds_any) {
    stowi_place_quest_raise(quest, sub.bound);  // it was the whole problem
  }
  stowi_place_quest_spend(quest, sub.nodes);
  return STOW_OK;
}

// Draws a neighbourhood and tries to place it within the target.
static stow_status try_once(lns* l, bool* out_found) {
  stow_problem* part = NULL;
  *out_found = false;
  STOW_TRY(draw(l));
  STOW_TRY(stow_problem_create(l->quest->allocator, NULL, &part));
  stow_status status = add_all(l, part);
  size_t count = stow_problem_count(part);
  uint64_t nodes = (uint64_t)count + l->free_count * NODES_PER_FREE * l->effort;
  // Drawing visits all buffers, and the exact search first visits those of the neighbourhood.
  stowi_place_quest_spend(l->quest, NODES_PER_TRY + count + l->quest->problem->buffers.count / 32);
  if (status == STOW_OK && count <= MAX_PART) {
    uint64_t left = stowi_place_quest_left(l->quest);
    status = place_anew(l, part, nodes < left ? nodes : left, out_found);
  }
  for (size_t i = 0; status == STOW_OK && *out_found && i < l->free_count; ++i) {
    l->offsets[l->free[i]] = l->answer[i];
  }
  stow_problem_destroy(part);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Targets

static void set_target(lns* l) {
  const stowi_place_quest* quest = l->quest;
  uint64_t step = (quest->height - stowi_place_quest_goal(quest)) / l->part;
  l->height = quest->height;
  l->target = quest->height - (step > 0 ? step : 1);
  l->failures = 0;
  find_above(l);
}

// The best placement is new, mostly by another search.
static void start_over(lns* l) {
  const stowi_place_quest* quest = l->quest;
  memcpy(l->offsets, quest->offsets, quest->problem->buffers.count * sizeof(*l->offsets));
  l->effort = 1;
  l->part = FIRST_PART;
  set_target(l);
}

// Too many tries failed: a target closer to the best is easier to reach; then more nodes may help.
static void yield(lns* l) {
  if (l->part < LAST_PART && l->height - l->target > 1) {
    l->part *= 2;
  } else {
    l->part = FIRST_PART;
    l->effort *= 2;
  }
  set_target(l);
}

// Less sticks out, or nothing: then the target is lowered.
static void note_success(lns* l) {
  uint64_t height = find_above(l);
  l->failures = 0;
  if (height < l->height) {
    stowi_place_quest_offer(l->quest, l->offsets, height);
    l->height = height;
  }
  if (l->above_count == 0 && !stowi_place_quest_answered(l->quest)) {
    l->part = l->part > 2 ? l->part / 2 : l->part;
    set_target(l);
  }
}

stow_status stowi_place_lns_play(void* state, bool* out_idle) {
  lns* l = state;
  stowi_place_quest* quest = l->quest;
  quest->phase = "neighbourhoods";
  while (!stowi_place_quest_turn_over(quest) && l->effort <= MAX_EFFORT) {
    bool found = false;
    if (quest->height < l->height) {
      start_over(l);
    }
    STOW_TRY(stowi_need_memory(try_once(l, &found) == STOW_OK, quest->diag));
    if (found) {
      note_success(l);
    } else if (++l->failures >= TRIES_PER_TARGET + l->above_count / 8) {
      yield(l);
    }
  }
  *out_idle = l->effort > MAX_EFFORT && quest->height >= l->height;
  return STOW_OK;
}

static bool allocate(lns* l) {
  stow_allocator allocator = l->quest->allocator;
  size_t count = l->quest->problem->buffers.count;
  l->offsets = STOWI_ARRAY(allocator, uint64_t, count);
  l->above = STOWI_ARRAY(allocator, uint32_t, count);
  l->is_free = STOWI_ARRAY_ZERO(allocator, uint8_t, count);
  l->free = STOWI_ARRAY(allocator, uint32_t, count);
  l->answer = STOWI_ARRAY(allocator, uint64_t, count);
  return l->offsets != NULL && l->above != NULL && l->is_free != NULL && l->free != NULL &&
         l->answer != NULL;
}

// Held buffers count twice in a neighbourhood's sum: as a footprint and below the highest fixed
// end. Only heights close to 2^63 make that overflow.
static bool has_room(const stowi_place_quest* quest) {
  return quest->height <= INT64_MAX - quest->problem->padded_sum;
}

stow_status stowi_place_lns_create(stowi_place_quest* quest, stowi_place_lns** out_lns) {
  lns* l = STOWI_NEW(quest->allocator, lns);
  *out_lns = l;
  STOW_TRY(stowi_need_memory(l != NULL, quest->diag));
  l->quest = quest;
  l->height = UINT64_MAX;
  l->effort = has_room(quest) ? 1 : MAX_EFFORT + 1;
  l->seed = UINT64_C(88172645463325252);
  if (stowi_place_sections_make(quest->problem, quest->allocator, &l->sections) != STOW_OK ||
      !allocate(l)) {
    stowi_place_lns_destroy(l);
    *out_lns = NULL;
    return stowi_fail_memory(quest->diag);
  }
  return STOW_OK;
}

void stowi_place_lns_destroy(stowi_place_lns* l) {
  if (l == NULL) {
    return;
  }
  stow_allocator allocator = l->quest->allocator;
  size_t count = l->quest->problem->buffers.count;
  STOWI_ARRAY_FREE(allocator, l->offsets, count);
  STOWI_ARRAY_FREE(allocator, l->above, count);
  STOWI_ARRAY_FREE(allocator, l->is_free, count);
  STOWI_ARRAY_FREE(allocator, l->free, count);
  STOWI_ARRAY_FREE(allocator, l->answer, count);
  stowi_place_sections_free(&l->sections, l->quest->problem, allocator);
  STOWI_DELETE(allocator, l);
}

stow_status stowi_place_lns_work(stowi_place_quest* quest) {
  STOW_TRY(stowi_place_skyline_work(quest));
  if (stowi_place_quest_done(quest)) {
    return STOW_OK;
  }
  stowi_place_lns* l = NULL;
  bool is_idle = false;
  STOW_TRY(stowi_place_lns_create(quest, &l));
  stow_status status = stowi_place_lns_play(l, &is_idle);
  stowi_place_lns_destroy(l);
  return status;
}

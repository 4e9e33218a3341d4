// Depth-first search for a placement within a capacity.
// Any placement can be compacted until nothing can sink: then every buffer is on the ground or on
// another one. So it is enough to decide, buffer by buffer, whether it is at the lowest offset that
// the placed ones leave it (`least`), or is lifted by one that is yet to be placed:
//     decide on j ──┬── placed at least[j]; its neighbours are lifted above it
//                   └── passed over: no longer to be placed at least[j], until a neighbour lifts it
// Each placement is met once. If the placed buffers leave intervals of time that no free buffer
// spans, each is searched separately, and the first that is refuted refutes them all: `parent` is
// then not the previous frame, but the one that made the split.
//     frames    0 ── 1 ── 2 ─┬─ 3 ── 4      (first stretch, solved)
//                            └─ 5 ── 6      (second stretch: refuted, back to 2)
// An exhausted node is refuted for good: what was passed over on the way to it was refuted before.
// The rest depends only on the free buffers and their least offsets, so it need not be searched
// again when other placed buffers leave the same: such states are remembered by hash.
// There is one exception. In the picture, what was passed over before 2 may have been refuted only
// because the second stretch has no placement then, whatever the first one does. While the second
// is pending, frames of the first that rely on it say nothing about the first stretch alone.
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/diag.h"
#include "place/exact/exact.h"
#include "place/exact/holes.h"

#define MAX_TABLE_BITS 16
#define SLOTS_PER_BUFFER 512
// A node with many neighbours takes longer, so it costs more: one extra for every this many
// neighbours lifted, or eight times as many visited.
#define LIFTS_PER_NODE 32
// Nodes are spent in batches that take about as long in problems of any size.
#define MOST_AT_ONCE 128
#define BUFFERS_AT_ONCE 131072

typedef struct frame {
  uint32_t begin;  // sections
  uint32_t end;
  uint32_t parent;         // NO_FRAME for the first
  uint32_t pending_count;  // when it was made
  uint32_t base;           // how many of these do not affect what was passed over
  uint32_t chosen;
  int64_t lowest;  // offset of the chosen one, below which nothing more is placed
  size_t before;   // of the trail, before the chosen one was placed
  stowi_place_hash_pair hash;
} frame;

#define NO_FRAME UINT32_MAX

typedef struct stretch {
  uint32_t begin;
  uint32_t end;
  uint32_t parent;
} stretch;

struct stowi_place_exact_search {
  const stowi_place_model* model;
  stow_allocator allocator;
  stowi_place_state* state;
  stowi_place_ranks ranks;
  uint32_t rules;
  stowi_place_where where;
  frame* frames;
  uint32_t top;
  stretch* pending;  // yet to be searched
  uint32_t pending_count;
  stowi_place_hash_pair* table;  // of refuted states
  uint32_t table_bits;
  uint64_t table_capacity;  // bytes for which they were refuted; so for less, too
  uint64_t nodes;
  uint64_t spent;        // of these, on the quest
  uint64_t spend_every;  // nodes
  uint64_t looked_at;    // buffers, in search of one to decide on
  uint64_t paid_for;     // of lifts and an eighth of the looks
  uint32_t deepest;      // the most that were placed at once
};

typedef enum step { STEP_DOWN, STEP_BACK, STEP_SOLVED, STEP_ENDED } step;

static bool has_rule(const stowi_place_exact_search* exact, stowi_place_rule rule) {
  return (exact->state->rules & (uint32_t)rule) != 0;
}

// ---------------------------------------------------------------------------------------------
// Refuted states

static stowi_place_hash_pair hash_of(const stowi_place_exact_search* exact, uint32_t begin,
                                     uint32_t end) {
  const stowi_place_state* state = exact->state;
  uint32_t from = exact->model->first_of[begin];
  uint32_t to = exact->model->first_of[end];
  stowi_place_hash_pair sum = {1, 0};
  for (uint32_t j = from; j < to; ++j) {
    uint64_t mask = stowi_place_exact_state_is_free(state, j) ? UINT64_MAX : 0;
    sum.a += state->hash[j].a & mask;
    sum.b += state->hash[j].b & mask;
  }
  return sum;
}

static stowi_place_hash_pair* slot_of(const stowi_place_exact_search* exact,
                                      stowi_place_hash_pair hash) {
  return &exact->table[hash.a >> (64 - exact->table_bits)];
}

static bool is_refuted(const stowi_place_exact_search* exact, stowi_place_hash_pair hash) {
  const stowi_place_hash_pair* slot = slot_of(exact, hash);
  return slot->a == hash.a && slot->b == hash.b;
}

static uint32_t table_bits(const stowi_place_model* model) {
  uint32_t bits = 1;
  while (bits < MAX_TABLE_BITS && UINT32_C(1) << bits < model->count * SLOTS_PER_BUFFER) {
    ++bits;
  }
  return bits;
}

// ---------------------------------------------------------------------------------------------
// Frames

// Whether nothing that was passed over before affects the free buffers of the stretch.
static bool stands_alone(const stowi_place_exact_search* exact, const stretch* s) {
  const stowi_place_state* state = exact->state;
  for (uint32_t j = exact->model->first_of[s->begin]; j < exact->model->first_of[s->end]; ++j) {
    if (stowi_place_exact_state_is_free(state, j) &&
        (state->passed[j] || state->bound[j] > state->least[j])) {
      return false;
    }
  }
  return true;
}

static uint32_t base_of(const stowi_place_exact_search* exact, const stretch* s) {
  uint32_t base = s->parent != NO_FRAME ? exact->frames[s->parent].base : 0;
  return base == exact->pending_count || stands_alone(exact, s) ? exact->pending_count : base;
}

static void push_frame(stowi_place_exact_search* exact, const stretch* s) {
  frame* f = &exact->frames[++exact->top];
  f->begin = s->begin;
  f->end = s->end;
  f->parent = s->parent;
  f->pending_count = exact->pending_count;
  f->base = base_of(exact, s);
  f->chosen = UINT32_MAX;
  f->lowest = INT64_MIN;
  f->before = stowi_place_exact_state_mark(exact->state);
  f->hash = (stowi_place_hash_pair){0, 0};
}

static bool has_free(const stowi_place_exact_search* exact, uint32_t begin, uint32_t end) {
  const stowi_place_state* state = exact->state;
  for (uint32_t s = begin; s < end; ++s) {
    if (state->holder[s] != STOWI_PLACE_NO_HOLDER) {
      return true;
    }
  }
  return false;
}

// Shorter stretches are on top: they are refuted sooner.
static void add_pending(stowi_place_exact_search* exact, uint32_t floor, stretch s) {
  uint32_t i = exact->pending_count++;
  while (i > floor && exact->pending[i - 1].end - exact->pending[i - 1].begin < s.end - s.begin) {
    exact->pending[i] = exact->pending[i - 1];
    --i;
  }
  exact->pending[i] = s;
}

// Splits [begin, end) where no free buffer spans the border.
static void split(stowi_place_exact_search* exact, uint32_t begin, uint32_t end, uint32_t parent) {
  uint32_t floor = exact->pending_count;
  uint32_t from = begin;
  for (uint32_t s = begin; s < end; ++s) {
    bool cut = exact->state->crossing[s] == 0 && has_rule(exact, STOWI_PLACE_RULE_SPLIT);
    if (s + 1 == end || cut) {
      if (has_free(exact, from, s + 1)) {
        add_pending(exact, floor, (stretch){from, s + 1, parent});
      }
      from = s + 1;
    }
  }
  if (exact->pending_count - floor > 1) {
    for (uint32_t i = floor; i < exact->pending_count; ++i) {
      stowi_place_rank(&exact->ranks, exact->state, exact->pending[i].begin, exact->pending[i].end);
    }
  }
}

static step next_stretch(stowi_place_exact_search* exact) {
  if (exact->pending_count == 0) {
    return STEP_SOLVED;
  }
  push_frame(exact, &exact->pending[--exact->pending_count]);
  if (has_rule(exact, STOWI_PLACE_RULE_SEEN)) {
    frame* f = &exact->frames[exact->top];
    f->hash = hash_of(exact, f->begin, f->end);
    return is_refuted(exact, f->hash) ? STEP_BACK : STEP_DOWN;
  }
  return STEP_DOWN;
}

// ---------------------------------------------------------------------------------------------
// Deciding

static bool is_lowest_first(stowi_place_where where) {
  return where == STOWI_PLACE_LOWEST || where == STOWI_PLACE_LOWEST_TIGHTEST ||
         where == STOWI_PLACE_LOWEST_LARGEST;
}

static bool pass_all(stowi_place_exact_search* exact, const frame* f) {
  stowi_place_state* state = exact->state;
  int64_t least = state->least[f->chosen];
  if (!stowi_place_exact_state_pass(state, f->chosen, f->lowest)) {
    return false;
  }
  uint32_t twin =
      has_rule(exact, STOWI_PLACE_RULE_TWINS) ? exact->model->twin[f->chosen] : STOWI_PLACE_NO_TWIN;
  for (; twin != STOWI_PLACE_NO_TWIN; twin = exact->model->twin[twin]) {
    bool is_same = state->least[twin] == least && !state->passed[twin];
    if (stowi_place_exact_state_is_free(state, twin) && is_same &&
        !stowi_place_exact_state_pass(state, twin, f->lowest)) {
      return false;
    }
  }
  return true;
}

// The chosen buffer is not where it was tried. False if that refutes the frame.
static bool pass_chosen(stowi_place_exact_search* exact) {
  const frame* f = &exact->frames[exact->top];
  stowi_place_exact_state_undo(exact->state, f->before);
  if (!pass_all(exact, f)) {
    return false;
  }
  stowi_place_exact_state_settle(exact->state);
  return stowi_place_exact_state_may_fit(exact->state, f->begin, f->end, f->lowest);
}

static bool place_chosen(stowi_place_exact_search* exact) {
  frame* f = &exact->frames[exact->top];
  stowi_place_state* state = exact->state;
  bool monotone = is_lowest_first(exact->where) && has_rule(exact, STOWI_PLACE_RULE_MONOTONE);
  f->lowest = monotone ? state->least[f->chosen] : INT64_MIN;
  f->before = stowi_place_exact_state_mark(state);
  bool fits = state->least[f->chosen] + exact->model->size[f->chosen] <= state->top[f->chosen] &&
              stowi_place_exact_state_place(state, f->chosen);
  stowi_place_exact_state_settle(state);
  return fits && stowi_place_exact_state_may_fit(state, f->begin, f->end, f->lowest);
}

// The top frame is refuted, and so is what its parent placed. False if there is no parent.
static bool go_back(stowi_place_exact_search* exact) {
  do {
    const frame* f = &exact->frames[exact->top];
    bool is_proof = f->pending_count == f->base && !exact->state->out_of_trail;
    if (is_proof && has_rule(exact, STOWI_PLACE_RULE_SEEN)) {
      *slot_of(exact, f->hash) = f->hash;
    }
    if (f->parent == NO_FRAME) {
      return false;
    }
    exact->top = f->parent;
    exact->pending_count = exact->frames[exact->top].pending_count;
  } while (!pass_chosen(exact));
  return true;
}

// ---------------------------------------------------------------------------------------------
// Runs

static uint64_t nodes_at_once(const stowi_place_model* model) {
  uint64_t nodes = 1 + BUFFERS_AT_ONCE / ((uint64_t)model->count + 1);
  return nodes < MOST_AT_ONCE ? nodes : MOST_AT_ONCE;
}

static bool spend(stowi_place_exact_search* exact, stowi_place_quest* quest) {
  uint64_t looks = exact->looked_at + exact->state->look_count;
  uint64_t work = exact->state->lift_count + looks / 8 - exact->paid_for;
  uint64_t more = work / LIFTS_PER_NODE;
  uint64_t nodes = exact->nodes - exact->spent + more;
  exact->spent = exact->nodes;
  exact->paid_for += more * LIFTS_PER_NODE;
  return stowi_place_quest_spend(quest, nodes);
}

static bool may_go_on(stowi_place_exact_search* exact, const stowi_place_run* run,
                      stowi_place_quest* quest) {
  return exact->nodes - exact->deepest < run->nodes && !exact->state->out_of_trail &&
         (exact->nodes - exact->spent < exact->spend_every || spend(exact, quest));
}

static step decide(stowi_place_exact_search* exact, const stowi_place_run* run,
                   stowi_place_quest* quest) {
  frame* f = &exact->frames[exact->top];
  if (!stowi_place_choose(exact->state, &exact->ranks, exact->where, f->begin, f->end,
                          &f->chosen)) {
    return STEP_BACK;
  }
  if (!may_go_on(exact, run, quest)) {
    return STEP_ENDED;
  }
  ++exact->nodes;
  exact->looked_at += exact->model->first_of[f->end] - exact->model->first_of[f->begin];
  if (place_chosen(exact)) {
    uint32_t placed = exact->state->placed_count;
    exact->deepest = placed > exact->deepest ? placed : exact->deepest;
    split(exact, f->begin, f->end, exact->top);
    return next_stretch(exact);
  }
  return pass_chosen(exact) ? STEP_DOWN : STEP_BACK;
}

static stowi_place_verdict search(stowi_place_exact_search* exact, const stowi_place_run* run,
                                  stowi_place_quest* quest) {
  split(exact, 0, exact->model->section_count, NO_FRAME);
  step next = next_stretch(exact);
  while (next == STEP_DOWN || next == STEP_BACK) {
    if (next == STEP_BACK && !go_back(exact)) {
      return exact->state->out_of_trail ? STOWI_PLACE_UNKNOWN : STOWI_PLACE_REFUTED;
    }
    next = decide(exact, run, quest);
  }
  return next == STEP_SOLVED ? STOWI_PLACE_FOUND : STOWI_PLACE_UNKNOWN;
}

static bool is_hopeless(const stowi_place_state* state) {
  for (uint32_t i = 0; i < state->model->count; ++i) {
    if (state->least[i] + state->model->size[i] > state->top[i]) {
      return true;
    }
  }
  return !stowi_place_exact_state_may_fit(state, 0, state->model->section_count, INT64_MIN);
}

static stowi_place_verdict run_once(stowi_place_exact_search* exact, const stowi_place_run* run,
                                    stowi_place_quest* quest) {
  if (run->capacity > exact->table_capacity) {
    memset(exact->table, 0, sizeof(*exact->table) << exact->table_bits);
  }
  exact->table_capacity = run->capacity;
  exact->where = run->way.where;
  exact->state->learns = run->way.where == STOWI_PLACE_CORNER;
  exact->ranks.whom = run->way.whom;
  exact->ranks.noise = run->noise;
  exact->ranks.seed = run->seed;
  exact->nodes = exact->spent = 0;
  exact->deepest = 0;
  exact->top = NO_FRAME;
  exact->pending_count = 0;
  stowi_place_exact_state_reset(exact->state, run->capacity);
  stowi_place_rank(&exact->ranks, exact->state, 0, exact->model->section_count);
  if (is_hopeless(exact->state)) {
    return STOWI_PLACE_REFUTED;
  }
  stowi_place_verdict verdict = search(exact, run, quest);
  spend(exact, quest);
  return verdict;
}

// Half of the nodes are for placements in which one is entirely above the other, even with holes:
// they are found sooner. If there are none, that proves nothing, so the rest is for all placements.
static stowi_place_verdict run_with_holes(stowi_place_exact_search* exact,
                                          const stowi_place_run* run, stowi_place_quest* quest) {
  stowi_place_run part = *run;
  part.nodes = run->nodes / 2;
  stowi_place_verdict verdict = run_once(exact, &part, quest);
  if (verdict == STOWI_PLACE_FOUND || stowi_place_quest_done(quest)) {
    return verdict == STOWI_PLACE_FOUND ? STOWI_PLACE_FOUND : STOWI_PLACE_UNKNOWN;
  }
  part.nodes = run->nodes - part.nodes;
  exact->state->among_holes = true;
  exact->state->rules = exact->rules & STOWI_PLACE_RULES_WITH_HOLES;
  return run_once(exact, &part, quest);
}

stowi_place_verdict stowi_place_exact_run(stowi_place_exact_search* exact,
                                          const stowi_place_run* run, stowi_place_quest* quest) {
  exact->state->among_holes = false;
  exact->state->rules = exact->rules;
  return exact->model->is_ordered ? run_once(exact, run, quest) : run_with_holes(exact, run, quest);
}

stowi_place_state* stowi_place_exact_state(const stowi_place_exact_search* exact) {
  return exact->state;
}

uint64_t stowi_place_exact_nodes(const stowi_place_exact_search* exact) { return exact->nodes; }

uint32_t stowi_place_exact_depth(const stowi_place_exact_search* exact) { return exact->deepest; }

uint64_t stowi_place_exact_result(const stowi_place_exact_search* exact, uint64_t* offsets) {
  const stowi_place_model* model = exact->model;
  uint64_t height = 0;
  for (uint32_t i = 0; i < model->count; ++i) {
    uint32_t buffer = model->buffer[i];
    offsets[buffer] = (uint64_t)exact->state->least[i] * model->unit;
    uint64_t end = offsets[buffer] + stowi_place_footprint(&model->problem->buffers.data[buffer]);
    height = end > height ? end : height;
  }
  return height;
}

// ---------------------------------------------------------------------------------------------

stow_status stowi_place_exact_create(const stowi_place_model* model, uint32_t rules,
                                     stow_allocator allocator, stow_diag* diag,
                                     stowi_place_exact_search** out_exact) {
  stowi_place_exact_search* exact = STOWI_NEW(allocator, stowi_place_exact_search);
  *out_exact = exact;
  STOW_TRY(stowi_need_memory(exact != NULL, diag));
  exact->model = model;
  exact->allocator = allocator;
  bool ok = stowi_place_ranks_init(&exact->ranks, model, allocator);
  exact->frames = STOWI_ARRAY(allocator, frame, (size_t)model->count + 1);
  exact->pending = STOWI_ARRAY(allocator, stretch, (size_t)model->section_count + 1);
  exact->spend_every = nodes_at_once(model);
  exact->table_bits = table_bits(model);
  exact->table = STOWI_ARRAY_ZERO(allocator, stowi_place_hash_pair, (size_t)1 << exact->table_bits);
  if (!ok || exact->frames == NULL || exact->pending == NULL || exact->table == NULL ||
      stowi_place_exact_state_create(model, allocator, &exact->state) != STOW_OK) {
    stowi_place_exact_destroy(exact);
    *out_exact = NULL;
    return stowi_fail_memory(diag);
  }
  exact->rules = rules;
  return STOW_OK;
}

void stowi_place_exact_destroy(stowi_place_exact_search* exact) {
  if (exact == NULL) {
    return;
  }
  stow_allocator allocator = exact->allocator;
  stowi_place_ranks_free(&exact->ranks, exact->model, allocator);
  STOWI_ARRAY_FREE(allocator, exact->frames, (size_t)exact->model->count + 1);
  STOWI_ARRAY_FREE(allocator, exact->pending, (size_t)exact->model->section_count + 1);
  STOWI_ARRAY_FREE(allocator, exact->table, (size_t)1 << exact->table_bits);
  stowi_place_exact_state_destroy(exact->state);
  STOWI_DELETE(allocator, exact);
}

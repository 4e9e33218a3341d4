// Gives scratch that may be larger the room that is free at its step anyway: kernels are faster
// with more, and the arena stays as it is. Scratch lives for one step, so steps do not affect each
// other, and nothing need be searched: of the offers, the largest one that fits into the largest
// gap. Only the last piece that reaches the arena's end stays where it is: without it the arena
// would be smaller than the plan says.
//
// One sweep over the steps keeps what is live sorted by offset: O(n + steps + steps with offers ×
// live buffers).
#include "base/alloc.h"
#include "base/diag.h"
#include "plan/make/make.h"

#define NO_BLOCK UINT32_MAX

// Bytes [low, high) of the arena, occupied over steps [begin, end).
struct stowi_plan_block {
  uint64_t low;
  uint64_t high;
  uint32_t begin;
  uint32_t end;
  uint32_t next;  // that begins at the same step
  bool is_scratch;
};
typedef struct stowi_plan_block block;

typedef struct sweep {
  stow_plan* plan;
  const stow_effects* effects;
  uint64_t limit;   // of the arena
  size_t at_limit;  // what ends there: roots, reserved bytes, scratch
  stowi_plan_gaps* room;
  uint32_t count;  // of blocks
  uint32_t now;    // blocks of steps before this one have begun
  size_t live_count;
} sweep;

// ---------------------------------------------------------------------------------------------
// What is in the arena, except scratch

static void add_block(sweep* s, uint64_t low, uint64_t high, uint32_t begin, uint32_t end) {
  if (low < high && begin < end) {
    uint32_t* first = &s->room->first[begin];
    s->room->blocks[s->count] = (block){low, high, begin, end, *first, false};
    *first = s->count++;
  }
}

// A root is whole but for its windows.
static void add_root(sweep* s, stow_value root) {
  const stowi_plan_value* value = &s->plan->values[root];
  uint64_t end = value->offset + value->size + value->guard;
  uint32_t at = value->begin;
  s->at_limit += end == s->limit;
  size_t count = stow_plan_window_count(s->plan, root);
  for (size_t i = 0; i < count; ++i) {
    stow_window window = stow_plan_window_at(s->plan, root, i);
    add_block(s, value->offset, end, at, window.begin);
    add_block(s, value->offset + window.low, value->offset + window.high, window.begin, window.end);
    at = window.end;
  }
  add_block(s, value->offset, end, at, value->end);
}

static bool ends_at(const stowi_plan_scratch* scratch, uint64_t end) {
  return scratch->size != 0 && scratch->offset + scratch->size == end;
}

static void collect(sweep* s) {
  stow_plan* plan = s->plan;
  for (uint32_t step = 0; step <= plan->step_count; ++step) {
    s->room->first[step] = NO_BLOCK;
  }
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (!stowi_plan_is_view(plan, v) && stowi_plan_has_slot(plan, v)) {
      add_root(s, v);
    }
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    add_block(s, plan->reserved[i].offset, plan->reserved[i].end, 0, plan->step_count + 1);
    s->at_limit += plan->reserved[i].end == s->limit;
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    s->at_limit += ends_at(&plan->scratch[i], s->limit);
  }
}

// ---------------------------------------------------------------------------------------------
// Steps

static void insert(sweep* s, block b) {
  block* live = s->room->live;
  size_t at = s->live_count++;
  for (; at > 0 && live[at - 1].low > b.low; --at) {
    live[at] = live[at - 1];
  }
  live[at] = b;
}

// Drops scratch and what has ended, and adds what has begun.
static void go_to(sweep* s, uint32_t step) {
  block* live = s->room->live;
  size_t kept = 0;
  for (size_t i = 0; i < s->live_count; ++i) {
    if (live[i].end > step && !live[i].is_scratch) {
      live[kept++] = live[i];
    }
  }
  s->live_count = kept;
  for (; s->now <= step; ++s->now) {
    for (uint32_t i = s->room->first[s->now]; i != NO_BLOCK; i = s->room->blocks[i].next) {
      if (s->room->blocks[i].end > step) {
        insert(s, s->room->blocks[i]);
      }
    }
  }
}

typedef struct gap {
  uint64_t offset;
  uint64_t size;
} gap;

static void widen(gap* g, uint64_t from, uint64_t to, uint64_t alignment) {
  uint64_t aligned = (from + (alignment - 1)) & ~(alignment - 1);
  if (aligned >= from && aligned < to && to - aligned > g->size) {
    *g = (gap){aligned, to - aligned};
  }
}

static gap largest_gap(const sweep* s, uint64_t alignment) {
  gap found = {0, 0};
  uint64_t floor = 0;
  const block* live = s->room->live;
  for (size_t i = 0; i < s->live_count; ++i) {
    widen(&found, floor, live[i].low, alignment);
    floor = live[i].high > floor ? live[i].high : floor;
  }
  widen(&found, floor, s->limit, alignment);
  return found;
}

// Everything is live but scratch |which| of the node.
static void leave_out(sweep* s, size_t which, size_t first) {
  const stowi_plan_scratch* scratch = s->plan->scratch;
  uint32_t step = scratch[which].step;
  go_to(s, step);
  for (size_t i = first; i < s->plan->scratch_count && scratch[i].step == step; ++i) {
    if (i != which && scratch[i].size > 0) {
      insert(s, (block){.low = scratch[i].offset,
                        .high = scratch[i].offset + scratch[i].size,
                        .begin = step,
                        .end = step + 1,
                        .is_scratch = true});
    }
  }
}

static void enlarge(sweep* s, size_t which, size_t first, const stowi_effects_offer_entry* offers,
                    size_t count) {
  stowi_plan_scratch* scratch = &s->plan->scratch[which];
  stowi_plan_scratch before = *scratch;
  leave_out(s, which, first);
  gap room = largest_gap(s, scratch->alignment);
  for (size_t i = 0; i < count; ++i) {
    if (offers[i].index == scratch->index && offers[i].bytes > scratch->size &&
        offers[i].bytes <= room.size) {
      scratch->offset = room.offset;
      scratch->size = offers[i].bytes;
    }
  }
  size_t others = s->at_limit - ends_at(&before, s->limit);
  if (others == 0 && !ends_at(scratch, s->limit)) {
    *scratch = before;
  }
  s->at_limit = others + ends_at(scratch, s->limit);
}

static bool is_offered_more(const stowi_plan_scratch* scratch,
                            const stowi_effects_offer_entry* offers, size_t count) {
  bool is = false;
  for (size_t i = 0; i < count && !is; ++i) {
    is = offers[i].index == scratch->index && offers[i].bytes > scratch->size;
  }
  return is;
}

// Both scratch and offers are in order of nodes; steps are not.
static void index_scratch(const sweep* s) {
  const stow_plan* plan = s->plan;
  for (uint32_t step = 0; step < plan->step_count; ++step) {
    s->room->scratch[step] = NO_BLOCK;
  }
  for (size_t i = plan->scratch_count; i-- > 0;) {
    s->room->scratch[plan->scratch[i].step] = (uint32_t)i;
  }
}

static void enlarge_all(sweep* s) {
  const stow_plan* plan = s->plan;
  index_scratch(s);
  for (uint32_t step = 0; step < plan->step_count; ++step) {
    size_t first = s->room->scratch[step];
    size_t count = 0;
    const stowi_effects_offer_entry* offers =
        first == NO_BLOCK ? NULL : stowi_effects_offers(s->effects, plan->order[step], &count);
    for (size_t i = first; count != 0 && i < plan->scratch_count && plan->scratch[i].step == step;
         ++i) {
      if (is_offered_more(&plan->scratch[i], offers, count)) {
        enlarge(s, i, first, offers, count);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------

void stowi_plan_gaps_free(stowi_plan_gaps* room, stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, room->blocks, room->capacity);
  STOWI_ARRAY_FREE(allocator, room->live, room->capacity);
  STOWI_ARRAY_FREE(allocator, room->first, room->steps);
  STOWI_ARRAY_FREE(allocator, room->scratch, room->steps);
  *room = (stowi_plan_gaps){0};
}

static stow_status reserve(stowi_plan_gaps* room, const stow_plan* plan, stow_allocator allocator) {
  size_t most =
      plan->value_count + 2 * plan->window_count + plan->reserved_count + plan->scratch_count;
  size_t steps = (size_t)plan->step_count + 1;
  if (most <= room->capacity && steps <= room->steps) {
    return STOW_OK;
  }
  stowi_plan_gaps_free(room, allocator);
  room->capacity = most;
  room->steps = steps;
  room->blocks = STOWI_ARRAY(allocator, block, most);
  room->live = STOWI_ARRAY(allocator, block, most);
  room->first = STOWI_ARRAY(allocator, uint32_t, steps);
  room->scratch = STOWI_ARRAY(allocator, uint32_t, steps);
  bool is_there =
      room->blocks != NULL && room->live != NULL && room->first != NULL && room->scratch != NULL;
  return is_there ? STOW_OK : STOW_ERR_OUT_OF_MEMORY;
}

stow_status stowi_plan_enlarge_scratch_in(stow_plan* plan, const stow_effects* effects,
                                          uint64_t limit, stowi_plan_gaps* room,
                                          stow_allocator allocator, stow_diag* diag) {
  if (!plan->facts.reuse || !stowi_effects_has_offers(effects)) {
    return STOW_OK;
  }
  STOW_TRY(stowi_need_memory(reserve(room, plan, allocator) == STOW_OK, diag));
  sweep s = {.plan = plan, .effects = effects, .limit = limit, .room = room};
  collect(&s);
  enlarge_all(&s);
  return STOW_OK;
}

stow_status stowi_plan_enlarge_scratch(stow_plan* plan, const stow_effects* effects, uint64_t limit,
                                       stow_diag* diag) {
  stowi_plan_gaps room = {0};
  stow_status status =
      stowi_plan_enlarge_scratch_in(plan, effects, limit, &room, plan->allocator, diag);
  stowi_plan_gaps_free(&room, plan->allocator);
  return status;
}

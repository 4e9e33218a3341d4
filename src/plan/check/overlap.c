// Part of the plan checker: no two footprints that are live together overlap.
//
// A sweep over time. Footprints enter at their birth and leave at their death; those present are
// disjoint, since each was checked when it entered, so a new one can only overlap its neighbours:
// the nearest below and above by offset. A root with windows is several footprints, one after the
// other.
//
// Offsets are known in advance, so the ordered set of those present is a set of ranks. O(n log n)
// for the sorting, whatever the lifetimes.
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "base/rank_set.h"
#include "base/sort.h"
#include "plan/api.h"
#include "plan/check/check.h"

typedef enum owner { OWNER_VALUE, OWNER_SCRATCH, OWNER_RESERVED } owner;

typedef struct footprint {
  uint64_t low, high;   // bytes [low, high)
  uint32_t begin, end;  // steps [begin, end)
  uint32_t number;      // of the value, piece of scratch or reserved range
  owner owner;
} footprint;

typedef struct sweep {
  stowi_plan_checker* checker;
  footprint* items;
  size_t count;
  size_t capacity;
  uint32_t* by_rank;   // items by offset
  uint32_t* rank;      // of an item
  uint32_t* by_begin;  // items by time
  uint32_t* by_end;
  stowi_rank_set present;
} sweep;

static void add_value(sweep* s, stow_value value, uint64_t offset,
                      const stowi_plan_occupied_bytes* part) {
  if (part->low < part->high && part->begin < part->end) {
    s->items[s->count++] = (footprint){
        offset + part->low, offset + part->high, part->begin, part->end, value, OWNER_VALUE};
  }
}

static void collect_values(sweep* s) {
  const stow_plan* plan = s->checker->plan;
  // A plan without reuse promises that nothing ever shares bytes, as if everything were always
  // live.
  bool reuse = stowi_plan_reuse(plan);
  for (stow_value value = 0; value < s->checker->value_count; ++value) {
    stow_slot slot;
    if (stow_plan_root(plan, value) != value || !stow_plan_value_slot(plan, value, &slot)) {
      continue;
    }
    // Ends were proved to be inside the arena.
    if (reuse) {
      stowi_plan_stretches stretches = stowi_plan_stretches_of(s->checker, value);
      stowi_plan_occupied_bytes part;
      while (stowi_plan_stretches_next(&stretches, &part)) {
        add_value(s, value, slot.offset, &part);
      }
    } else {
      uint64_t all = slot.size + stowi_plan_guard(plan, value);
      stowi_plan_occupied_bytes always = {0, s->checker->node_count + 1, 0, all};
      add_value(s, value, slot.offset, &always);
    }
  }
}

static void collect_scratch(sweep* s) {
  bool reuse = stowi_plan_reuse(s->checker->plan);
  size_t count = stow_plan_scratch_count(s->checker->plan);
  for (size_t i = 0; i < count; ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(s->checker->plan, i, &node, &slot, &alignment);
    uint32_t step = s->checker->steps[node];
    if (slot.size > 0) {
      s->items[s->count++] = (footprint){.low = slot.offset,
                                         .high = slot.offset + slot.size,
                                         .begin = reuse ? step : 0,
                                         .end = reuse ? step + 1 : s->checker->node_count + 1,
                                         .number = (uint32_t)i,
                                         .owner = OWNER_SCRATCH};
    }
  }
}

// Weights of a shared layout that this graph does not name are always there.
static void collect_reserved(sweep* s) {
  const stow_plan* plan = s->checker->plan;
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    const stowi_plan_span* span = &plan->reserved[i];
    if (span->offset < span->end) {
      s->items[s->count++] = (footprint){.low = span->offset,
                                         .high = span->end,
                                         .begin = 0,
                                         .end = s->checker->node_count + 1,
                                         .number = (uint32_t)i,
                                         .owner = OWNER_RESERVED};
    }
  }
}

static int compare_offsets(const void* a, const void* b, const void* context) {
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  const footprint* items = (const footprint*)context;
  if (items[x].low != items[y].low) {
    return items[x].low < items[y].low ? -1 : 1;
  }
  return x < y ? -1 : x > y;
}

static int compare_begins(const void* a, const void* b, const void* context) {
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  const footprint* items = (const footprint*)context;
  if (items[x].begin != items[y].begin) {
    return items[x].begin < items[y].begin ? -1 : 1;
  }
  return x < y ? -1 : x > y;
}

static int compare_ends(const void* a, const void* b, const void* context) {
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  const footprint* items = (const footprint*)context;
  if (items[x].end != items[y].end) {
    return items[x].end < items[y].end ? -1 : 1;
  }
  return x < y ? -1 : x > y;
}

static stow_status sorted(sweep* s, stowi_compare compare, uint32_t** out_order) {
  uint32_t* order = STOWI_ARRAY(s->checker->allocator, uint32_t, s->capacity);
  *out_order = order;
  if (order == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < s->count; ++i) {
    order[i] = (uint32_t)i;
  }
  return stowi_sort(order, s->count, sizeof(uint32_t), compare, s->items, s->checker->allocator);
}

static stow_status prepare(sweep* s) {
  const stow_plan* plan = s->checker->plan;
  s->capacity = (size_t)s->checker->value_count + 2 * plan->window_count +
                stow_plan_scratch_count(plan) + plan->reserved_count;
  s->items = STOWI_ARRAY(s->checker->allocator, footprint, s->capacity);
  s->rank = STOWI_ARRAY(s->checker->allocator, uint32_t, s->capacity);
  if (s->items == NULL || s->rank == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  collect_values(s);
  collect_scratch(s);
  collect_reserved(s);
  STOW_TRY(sorted(s, compare_offsets, &s->by_rank));
  STOW_TRY(sorted(s, compare_begins, &s->by_begin));
  STOW_TRY(sorted(s, compare_ends, &s->by_end));
  for (size_t i = 0; i < s->count; ++i) {
    s->rank[s->by_rank[i]] = (uint32_t)i;
  }
  return stowi_rank_set_init(&s->present, s->count, s->checker->allocator);
}

// ---------------------------------------------------------------------------------------------
// The sweep

static stow_node scratch_node(const sweep* s, const footprint* item) {
  stow_node node;
  stow_slot slot;
  uint64_t alignment;
  stow_plan_scratch_slot(s->checker->plan, item->number, &node, &slot, &alignment);
  return node;
}

// `%7 "name" [0, 256)`, or `scratch of node 7 (add) [0, 64)`.
typedef struct party {
  stowi_plan_label label;
  const char* prefix;
  stow_value value;
  stow_node scratch;
} party;

static party party_of(const sweep* s, const footprint* item) {
  party p = {.label = {""}, .prefix = "", .value = STOW_VALUE_NONE, .scratch = STOW_NODE_NONE};
  switch (item->owner) {
    case OWNER_VALUE:
      p.value = item->number;
      p.label = stowi_plan_label_value(s->checker, p.value);
      break;
    case OWNER_SCRATCH:
      p.prefix = "scratch of ";
      p.scratch = scratch_node(s, item);
      p.label = stowi_plan_label_node(s->checker, p.scratch);
      break;
    case OWNER_RESERVED: p.prefix = "a shared weight"; break;
  }
  return p;
}

static stow_status overlap_fault(sweep* s, const footprint* a, const footprint* b) {
  bool in_order = a->owner != b->owner ? a->owner < b->owner : a->number < b->number;
  const footprint* first = in_order ? a : b;
  const footprint* second = in_order ? b : a;
  party x = party_of(s, first);
  party y = party_of(s, second);
  uint32_t step = first->begin > second->begin ? first->begin : second->begin;
  const char* when = stowi_plan_reuse(s->checker->plan) ? "and are both live at step"
                                                        : "in a plan without reuse, from step";
  stow_status status = stowi_plan_fault(s->checker, STOW_FAULT_OVERLAP, x.value, y.value, step,
                                        "%s%s [%" PRIu64 ", %" PRIu64 ") and %s%s [%" PRIu64
                                        ", %" PRIu64 ") overlap %s %" PRIu32,
                                        x.prefix, x.label.text, first->low, first->high, y.prefix,
                                        y.label.text, second->low, second->high, when, step);
  s->checker->violation.first_scratch = x.scratch;
  s->checker->violation.second_scratch = y.scratch;
  return status;
}

static stow_status enter(sweep* s, uint32_t item) {
  const footprint* entering = &s->items[item];
  size_t below = stowi_rank_set_previous(&s->present, s->rank[item]);
  if (below != STOWI_NO_RANK && s->items[s->by_rank[below]].high > entering->low) {
    return overlap_fault(s, &s->items[s->by_rank[below]], entering);
  }
  size_t above = stowi_rank_set_next(&s->present, s->rank[item]);
  if (above != STOWI_NO_RANK && s->items[s->by_rank[above]].low < entering->high) {
    return overlap_fault(s, &s->items[s->by_rank[above]], entering);
  }
  stowi_rank_set_insert(&s->present, s->rank[item]);
  return STOW_OK;
}

// Whether both live at some step: a predicate of the plan checker's own, as all of it is.
static bool are_together(const footprint* a, const footprint* b) {
  return a->end > b->begin && b->end > a->begin;
}

// Lives are intervals: of those still present the first to end began before the one that enters
// ends, so that it is together with it or past, and what is past is past for all who come later.
static stow_status run(sweep* s) {
  size_t ended = 0;
  for (size_t i = 0; i < s->count; ++i) {
    const footprint* entering = &s->items[s->by_begin[i]];
    while (!are_together(&s->items[s->by_end[ended]], entering)) {
      stowi_rank_set_remove(&s->present, s->rank[s->by_end[ended]]);
      ended += 1;
    }
    STOW_TRY(enter(s, s->by_begin[i]));
  }
  return STOW_OK;
}

stow_status stowi_plan_check_overlap(stowi_plan_checker* checker) {
  sweep s;
  memset(&s, 0, sizeof(s));
  s.checker = checker;
  stow_status status = prepare(&s);
  status = status == STOW_OK ? run(&s) : stowi_fail_memory(checker->diag);
  STOWI_ARRAY_FREE(checker->allocator, s.items, s.capacity);
  STOWI_ARRAY_FREE(checker->allocator, s.rank, s.capacity);
  STOWI_ARRAY_FREE(checker->allocator, s.by_rank, s.capacity);
  STOWI_ARRAY_FREE(checker->allocator, s.by_begin, s.capacity);
  STOWI_ARRAY_FREE(checker->allocator, s.by_end, s.capacity);
  stowi_rank_set_free(&s.present, checker->allocator);
  return status;
}

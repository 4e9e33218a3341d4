// Starts. Buffers are the same if they have the same name. Of those that are left, the first of a
// kind and size is the first there, and so on; then, if equally many of a kind are left, the first
// is the first whatever its size, as in a graph without names whose dims have changed. A wrong
// match does no harm: an offset is only where a search starts. O(n log n).
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "plan/api.h"
#include "plan/start_rows.h"

stow_start* stowi_plan_start_new(size_t count, size_t step_count, stow_allocator allocator) {
  stow_start* start = STOWI_NEW(allocator, stow_start);
  if (start == NULL) {
    return NULL;
  }
  start->allocator = allocator;
  start->count = count;
  start->step_count = step_count;
  stow_string_init(&start->names, allocator);
  start->rows = STOWI_ARRAY_ZERO(allocator, stowi_plan_start_row, count);
  start->steps = STOWI_ARRAY_ZERO(allocator, stowi_plan_start_step, step_count);
  if (start->rows == NULL || start->steps == NULL) {
    stow_start_destroy(start);
    return NULL;
  }
  for (size_t i = 0; i < count; ++i) {
    start->rows[i].offset = STOW_PLACE_ANYWHERE;
    start->rows[i].kind = STOWI_PLAN_START_OTHER;
  }
  return start;
}

void stow_start_destroy(stow_start* start) {
  if (start != NULL) {
    STOWI_ARRAY_FREE(start->allocator, start->rows, start->count);
    STOWI_ARRAY_FREE(start->allocator, start->steps, start->step_count);
    stow_string_free(&start->names);
    STOWI_DELETE(start->allocator, start);
  }
}

size_t stow_start_count(const stow_start* start) { return start->count; }

stow_status stowi_plan_start_set_name(stow_start* start, size_t row, const char* data,
                                      size_t size) {
  start->rows[row].name_at = start->names.size;
  start->rows[row].name_size = size;
  return stow_string_append(&start->names, data, size);
}

// ---------------------------------------------------------------------------------------------
// Of a plan

static bool is_buffer(const stow_plan* plan, stow_value v) {
  return !stowi_plan_is_view(plan, v) && stowi_plan_has_slot(plan, v);
}

static size_t count_buffers(const stow_plan* plan) {
  size_t count = plan->reserved_count;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    count += is_buffer(plan, v);
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    count += plan->scratch[i].size != 0;
  }
  return count;
}

// In the order of buffers in a plan's problem.
static stow_status fill(stow_start* start, const stow_plan* plan) {
  size_t row = 0;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (is_buffer(plan, v)) {
      const stowi_plan_value* value = &plan->values[v];
      stow_str name = stowi_plan_value_name(plan, v);
      STOW_TRY(stowi_plan_start_set_name(start, row, name.data, name.size));
      start->rows[row].size = value->size + value->guard;
      start->rows[row].offset = value->offset;
      start->rows[row++].kind = value->kind;
    }
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    const stowi_plan_scratch* scratch = &plan->scratch[i];
    if (scratch->size != 0) {
      start->rows[row++] = (stowi_plan_start_row){
          .size = scratch->size, .offset = scratch->offset, .kind = STOWI_PLAN_START_SCRATCH};
    }
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    const stowi_plan_span* span = &plan->reserved[i];
    start->rows[row++] = (stowi_plan_start_row){.size = span->end - span->offset,
                                                .offset = span->offset,
                                                .kind = STOWI_PLAN_START_RESERVED};
  }
  return STOW_OK;
}

static stow_status fill_steps(stow_start* start, const stow_plan* plan) {
  for (stow_value v = 0; v < plan->value_count; ++v) {
    stow_str name = stowi_plan_value_name(plan, v);
    start->steps[v] =
        (stowi_plan_start_step){start->names.size, name.size, stowi_plan_begin(plan, v)};
    STOW_TRY(stow_string_append(&start->names, name.data, name.size));
  }
  return STOW_OK;
}

stow_status stow_start_from_plan(const stow_plan* plan, stow_allocator allocator, stow_diag* diag,
                                 stow_start** out_start) {
  *out_start = NULL;
  stow_start* start = stowi_plan_start_new(count_buffers(plan), plan->value_count, allocator);
  if (start == NULL || fill(start, plan) != STOW_OK || fill_steps(start, plan) != STOW_OK) {
    stow_start_destroy(start);
    return stowi_fail_memory(diag);
  }
  *out_start = start;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Matching

typedef struct item {
  stow_str name;
  const stowi_plan_start_row* row;
  size_t index;
} item;

typedef struct side {
  const stow_start* start;
  bool* is_matched;  // by row
  item* items;       // those that a round looks at
  size_t count;
} side;

typedef struct matcher {
  side then;
  side now;
  uint64_t* offsets;
  stow_allocator allocator;
} matcher;

static int compare_names(const void* a, const void* b, const void* context) {
  const item* x = a;
  const item* y = b;
  (void)context;
  return stow_str_compare(x->name, y->name);
}

static int compare_kinds(const void* a, const void* b, const void* context) {
  const stowi_plan_start_row* x = ((const item*)a)->row;
  const stowi_plan_start_row* y = ((const item*)b)->row;
  (void)context;
  return (x->kind > y->kind) - (x->kind < y->kind);
}

static int compare_sizes(const void* a, const void* b, const void* context) {
  const stowi_plan_start_row* x = ((const item*)a)->row;
  const stowi_plan_start_row* y = ((const item*)b)->row;
  int kinds = compare_kinds(a, b, context);
  return kinds != 0 ? kinds : (x->size > y->size) - (x->size < y->size);
}

// What is not matched yet, sorted; equal ones stay in order.
static stow_status collect(side* s, bool named, stowi_compare compare, stow_allocator allocator) {
  s->count = 0;
  for (size_t i = 0; i < s->start->count; ++i) {
    stow_str name = stowi_plan_start_name(s->start, i);
    const stowi_plan_start_row* row = &s->start->rows[i];
    bool is_open = !s->is_matched[i] && row->kind != STOWI_PLAN_START_RESERVED;
    if (is_open && (name.size > 0 || !named)) {
      s->items[s->count++] = (item){name, row, i};
    }
  }
  return stowi_sort(s->items, s->count, sizeof(item), compare, NULL, allocator);
}

static size_t run_length(const side* s, size_t first, stowi_compare compare) {
  size_t end = first + 1;
  while (end < s->count && compare(&s->items[first], &s->items[end], NULL) == 0) {
    ++end;
  }
  return end - first;
}

static void match_runs(matcher* m, size_t then, size_t now, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const item* t = &m->then.items[then + i];
    const item* n = &m->now.items[now + i];
    m->then.is_matched[t->index] = true;
    m->now.is_matched[n->index] = true;
    m->offsets[n->index] = t->row->offset;
  }
}

// Matches what |compare| calls equal, in order; if |all|, only runs that are equally long.
static stow_status match_round(matcher* m, bool named, bool all, stowi_compare compare) {
  STOW_TRY(collect(&m->then, named, compare, m->allocator));
  STOW_TRY(collect(&m->now, named, compare, m->allocator));
  size_t then = 0;
  size_t now = 0;
  while (then < m->then.count && now < m->now.count) {
    int order = compare(&m->then.items[then], &m->now.items[now], NULL);
    size_t then_run = run_length(&m->then, then, compare);
    size_t now_run = run_length(&m->now, now, compare);
    if (order == 0 && (!all || then_run == now_run)) {
      match_runs(m, then, now, then_run < now_run ? then_run : now_run);
    }
    then += order <= 0 ? then_run : 0;
    now += order >= 0 ? now_run : 0;
  }
  return STOW_OK;
}

static bool prepare(side* s, stow_allocator allocator) {
  s->is_matched = STOWI_ARRAY_ZERO(allocator, bool, s->start->count);
  s->items = STOWI_ARRAY(allocator, item, s->start->count);
  return s->is_matched != NULL && s->items != NULL;
}

static void release(side* s, stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, s->is_matched, s->start->count);
  STOWI_ARRAY_FREE(allocator, s->items, s->start->count);
}

static stow_status match(matcher* m) {
  STOW_TRY(match_round(m, true, false, compare_names));
  STOW_TRY(match_round(m, false, false, compare_sizes));
  return match_round(m, false, true, compare_kinds);
}

stow_status stow_start_match(const stow_start* start, const stow_start* now,
                             stow_allocator allocator, stow_diag* diag, uint64_t* out_offsets) {
  matcher m = {.then = {.start = start},
               .now = {.start = now},
               .offsets = out_offsets,
               .allocator = allocator};
  for (size_t i = 0; i < now->count; ++i) {
    out_offsets[i] = STOW_PLACE_ANYWHERE;
  }
  bool is_ready = prepare(&m.then, allocator);
  is_ready = prepare(&m.now, allocator) && is_ready;
  stow_status status = is_ready ? match(&m) : STOW_ERR_OUT_OF_MEMORY;
  release(&m.then, allocator);
  release(&m.now, allocator);
  return stowi_need_memory(status == STOW_OK, diag);
}

// ---------------------------------------------------------------------------------------------
// Comparing

static uint64_t height_of(const stow_start* start) {
  uint64_t height = 0;
  for (size_t i = 0; i < start->count; ++i) {
    const stowi_plan_start_row* row = &start->rows[i];
    bool is_higher = row->offset != STOW_PLACE_ANYWHERE && row->offset + row->size > height;
    height = is_higher ? row->offset + row->size : height;
  }
  return height;
}

static uint64_t add_up(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

typedef struct weights {
  uint64_t then;  // bytes of buffers whose values have a buffer of the same name in both,
  uint64_t now;   // there and here
  uint64_t rest;  // of the other buffers of the plan
} weights;

static weights weigh(const stow_start* start, const stow_graph* graph, const stow_plan* plan) {
  weights w = {0, 0, 0};
  uint64_t all = 0;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    all = is_buffer(plan, v) ? add_up(all, plan->values[v].size + plan->values[v].guard) : all;
  }
  for (size_t i = 0; i < start->count; ++i) {
    stow_value value = stow_graph_find(graph, stowi_plan_start_name(start, i));
    if (value != STOW_VALUE_NONE && is_buffer(plan, value)) {
      w.then = add_up(w.then, start->rows[i].size);
      w.now = add_up(w.now, plan->values[value].size + plan->values[value].guard);
    }
  }
  w.rest = all > w.now ? all - w.now : 0;
  return w;
}

// |height| times |now| / |then|, not rounded up. Products of numbers of 32 bits fit.
static uint64_t scale(uint64_t height, uint64_t now, uint64_t then) {
  unsigned shift = 0;
  for (; height > UINT32_MAX; height >>= 1) {
    ++shift;
  }
  while ((now | then) > UINT32_MAX) {
    now >>= 1;
    then = (then >> 1) + (then & 1);
  }
  uint64_t scaled = height * now / then;
  return scaled > UINT64_MAX >> shift ? UINT64_MAX : scaled << shift;
}

// New buffers may lie on top of all others.
bool stowi_plan_start_is_as_good(const stow_start* start, const stow_graph* graph,
                                 const stow_plan* plan) {
  weights w = weigh(start, graph, plan);
  uint64_t height = height_of(start);
  if (w.then == 0 || w.rest > w.now || height > INT64_MAX) {
    return false;
  }
  height = w.now == w.then ? height : scale(height, w.now, w.then);
  return plan->arena_size <= add_up(height, w.rest);
}

stow_moves stowi_plan_count_moves(const stow_start* now, const uint64_t* earlier) {
  stow_moves moves = {.started = true};
  for (size_t i = 0; i < now->count; ++i) {
    if (now->rows[i].kind != STOWI_PLAN_START_RESERVED) {
      bool is_known = earlier[i] != STOW_PLACE_ANYWHERE;
      moves.kept += is_known && earlier[i] == now->rows[i].offset;
      moves.moved += is_known && earlier[i] != now->rows[i].offset;
      moves.added += !is_known;
    }
  }
  return moves;
}

stow_status stow_plan_describe_moves(const stow_plan* plan, stow_moves* out_moves) {
  return stowi_fill_struct(out_moves, &plan->moves, sizeof(plan->moves), "stow_moves", NULL);
}

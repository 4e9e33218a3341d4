#include "plan/plan_edit.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/api.h"
#include "support/test.h"

plan_edit plan_edit_start(stow_plan* plan, const stow_graph* graph, const stow_effects* effects) {
  plan_edit edit;
  memset(&edit, 0, sizeof(edit));
  edit.plan = plan;
  edit.graph = graph;
  edit.effects = effects;
  plan->facts.in_place = true;
  plan->facts.elide_copies = true;
  for (stow_value v = 0; v < plan->value_count && v < PLAN_EDIT_MAX_VALUES; ++v) {
    edit.begin[v] = plan->values[v].begin;
    edit.end[v] = plan->values[v].end;
  }
  return edit;
}

static bool has_slot(const stow_plan* plan, stow_value value) {
  return plan->values[value].offset != STOW_OFFSET_NONE;
}

// ---------------------------------------------------------------------------------------------
// Sharing

bool plan_edit_put(plan_edit* edit, stow_value value, stow_value target, uint64_t inner) {
  stow_plan* plan = edit->plan;
  stow_value from = plan->values[value].root;
  stow_value to = plan->values[target].root;
  if (!has_slot(plan, value) || !has_slot(plan, target) || from == to) {
    return false;
  }
  uint64_t shift = plan->values[target].offset + inner - plan->values[value].offset;
  // An operand may be in another concat already: the larger one has the other's values.
  if (plan->values[from].size > plan->values[to].size) {
    stow_value larger = from;
    from = to;
    to = larger;
    shift = 0 - shift;
  }
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (plan->values[v].root == from) {
      plan->values[v].root = to;
      plan->values[v].guard = 0;
      plan->values[v].offset += has_slot(plan, v) ? shift : 0;
    }
  }
  return true;
}

uint64_t plan_edit_elision(const plan_edit* edit, stow_node concat, size_t k) {
  uint64_t at = 0;
  for (size_t i = 0; i < k; ++i) {
    at += edit->plan->values[stow_graph_operands(edit->graph, concat)[i]].size;
  }
  return at;
}

void plan_edit_lives(plan_edit* edit) {
  stow_plan* plan = edit->plan;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    plan->values[v].begin = edit->begin[v];
    plan->values[v].end = edit->end[v];
  }
  for (stow_value v = 0; v < plan->value_count; ++v) {
    stowi_plan_value* root = &plan->values[plan->values[v].root];
    root->begin = edit->begin[v] < root->begin ? edit->begin[v] : root->begin;
    root->end = edit->end[v] > root->end ? edit->end[v] : root->end;
  }
}

// ---------------------------------------------------------------------------------------------
// Windows

static stow_window hull_at(const plan_edit* edit, stow_value root, uint32_t step) {
  const stow_plan* plan = edit->plan;
  stow_window hull = {step, step + 1, UINT64_MAX, 0};
  for (stow_value v = 0; v < plan->value_count; ++v) {
    const stowi_plan_value* value = &plan->values[v];
    if (value->root == root && value->size > 0 && edit->begin[v] <= step && step < edit->end[v]) {
      uint64_t low = value->offset - plan->values[root].offset;
      hull.low = low < hull.low ? low : hull.low;
      hull.high = low + value->size > hull.high ? low + value->size : hull.high;
    }
  }
  if (hull.high == 0) {
    hull.low = 0;
  }
  return hull;
}

// Adds the windows of |root| to |out|, and returns how many there then are.
static size_t add_windows(const plan_edit* edit, stow_value root, stowi_plan_window* out,
                          size_t count) {
  const stowi_plan_value* value = &edit->plan->values[root];
  size_t first = count;
  for (uint32_t step = value->begin; step < value->end; ++step) {
    stow_window hull = hull_at(edit, root, step);
    stowi_plan_window* last = count > first ? &out[count - 1] : NULL;
    if (hull.low == 0 && hull.high == value->size) {
      continue;
    }
    if (last != NULL && last->window.end == step && last->window.low == hull.low &&
        last->window.high == hull.high) {
      last->window.end += 1;
    } else {
      out[count++] = (stowi_plan_window){root, hull};
    }
  }
  return count;
}

void plan_edit_windows(plan_edit* edit) {
  stow_plan* plan = edit->plan;
  size_t room = (size_t)plan->value_count * (plan->step_count + 1) + 1;
  stowi_plan_window* windows = (stowi_plan_window*)calloc(room, sizeof(stowi_plan_window));
  size_t count = 0;
  for (stow_value v = 0; windows != NULL && v < plan->value_count; ++v) {
    const stowi_plan_value* value = &plan->values[v];
    if (value->root == v && value->offset != STOW_OFFSET_NONE && value->guard == 0 &&
        value->size > 0 && plan->facts.reuse) {
      count = add_windows(edit, v, windows, count);
    }
  }
  stow_status status = stowi_plan_set_window_count(plan, count, NULL);
  if (test_check(status == STOW_OK && windows != NULL, __FILE__, __LINE__, "windows") &&
      count > 0) {
    memcpy(plan->windows, windows, count * sizeof(stowi_plan_window));
  }
  free(windows);
}

// ---------------------------------------------------------------------------------------------
// Placing, by brute force

// A root or, from the value count on, a piece of scratch.
typedef struct block {
  uint64_t* offset;
  uint64_t size;
  uint64_t alignment;
  uint32_t begin, end;
  stow_value root;  // STOW_VALUE_NONE: scratch
  uint64_t old;     // offset
  bool is_fixed;
  bool is_placed;
} block;

static stow_window occupied(const stow_plan* plan, const block* b, uint32_t step) {
  stow_window found = {step, step + 1, 0, b->size};
  for (size_t i = 0; b->root != STOW_VALUE_NONE && i < plan->window_count; ++i) {
    const stow_window* w = &plan->windows[i].window;
    if (plan->windows[i].root == b->root && w->begin <= step && step < w->end) {
      found.low = w->low;
      found.high = w->high;
    }
  }
  return found;
}

static bool collide(const stow_plan* plan, const block* a, uint64_t at, const block* b) {
  for (uint32_t step = 0; step <= plan->step_count; ++step) {
    bool both = a->begin <= step && step < a->end && b->begin <= step && step < b->end;
    stow_window x = occupied(plan, a, step);
    stow_window y = occupied(plan, b, step);
    if ((both || !plan->facts.reuse) && x.low < x.high && y.low < y.high &&
        at + x.low < *b->offset + y.high && *b->offset + y.low < at + x.high) {
      return true;
    }
  }
  return false;
}

static bool is_free(const stow_plan* plan, const block* blocks, size_t count, const block* b,
                    uint64_t at) {
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    if (at < plan->reserved[i].end && plan->reserved[i].offset < at + b->size) {
      return false;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (blocks[i].is_placed && collide(plan, b, at, &blocks[i])) {
      return false;
    }
  }
  return true;
}

static void try_at(const stow_plan* plan, const block* blocks, size_t count, const block* b,
                   uint64_t end, uint64_t* best) {
  uint64_t at = (end + b->alignment - 1) / b->alignment * b->alignment;
  if (at < *best && is_free(plan, blocks, count, b, at)) {
    *best = at;
  }
}

// Candidates are the ends of everything already placed.
static void place(const stow_plan* plan, const block* blocks, size_t count, block* b) {
  uint64_t best = UINT64_MAX;
  try_at(plan, blocks, count, b, 0, &best);
  for (size_t i = 0; i < count; ++i) {
    for (size_t w = 0; blocks[i].is_placed && w < plan->window_count; ++w) {
      if (plan->windows[w].root == blocks[i].root) {
        try_at(plan, blocks, count, b, *blocks[i].offset + plan->windows[w].window.high, &best);
      }
    }
    if (blocks[i].is_placed) {
      try_at(plan, blocks, count, b, *blocks[i].offset + blocks[i].size, &best);
    }
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    try_at(plan, blocks, count, b, plan->reserved[i].end, &best);
  }
  *b->offset = best;
  b->is_placed = true;
}

static size_t collect(plan_edit* edit, block* blocks) {
  stow_plan* plan = edit->plan;
  size_t count = 0;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    stowi_plan_value* root = &plan->values[plan->values[v].root];
    uint8_t needed = plan->values[v].alignment_log2;
    root->alignment_log2 = needed > root->alignment_log2 ? needed : root->alignment_log2;
  }
  for (stow_value v = 0; v < plan->value_count; ++v) {
    stowi_plan_value* value = &plan->values[v];
    bool shared =
        plan->facts.params > STOWI_PLAN_PARAMS_OWN && value->kind == STOWI_PLAN_KIND_PARAM;
    bool is_fixed = shared || stowi_effects_offset(edit->effects, v) != STOW_OFFSET_NONE;
    if (value->root == v && value->offset != STOW_OFFSET_NONE) {
      blocks[count++] = (block){&value->offset,
                                value->size + value->guard,
                                UINT64_C(1) << value->alignment_log2,
                                value->begin,
                                value->end,
                                v,
                                value->offset,
                                is_fixed,
                                is_fixed};
    }
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    stowi_plan_scratch* s = &plan->scratch[i];
    blocks[count++] = (block){&s->offset,      s->size, s->alignment, s->step, s->step + 1,
                              STOW_VALUE_NONE, 0,       false,        false};
  }
  return count;
}

static void add_buffer(stow_problem* problem, const stow_plan* plan, const block* b) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = b->size;
  desc.begin = b->begin;
  desc.end = b->end;
  desc.alignment = b->alignment;
  desc.fixed_offset = b->is_fixed ? *b->offset : STOW_PLACE_ANYWHERE;
  if (stow_problem_add(problem, &desc, NULL, NULL) != STOW_OK) {
    return;
  }
  for (size_t i = 0; b->root != STOW_VALUE_NONE && i < plan->window_count; ++i) {
    stow_window_desc window;
    stow_window_desc_init(&window);
    if (plan->windows[i].root == b->root) {
      window.begin = plan->windows[i].window.begin;
      window.end = plan->windows[i].window.end;
      window.low = plan->windows[i].window.low;
      window.high = plan->windows[i].window.high;
      stow_problem_add_window(problem, &window, NULL);
    }
  }
}

static void state_facts(stow_plan* plan, const block* blocks, size_t count) {
  stow_problem* problem = NULL;
  stow_load load = {.struct_size = sizeof(load)};
  stow_problem_create(stow_allocator_default(), NULL, &problem);
  for (size_t i = 0; i < count; ++i) {
    if (blocks[i].size > 0) {
      add_buffer(problem, plan, &blocks[i]);
    }
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    uint64_t at = plan->reserved[i].offset;
    block b = {
        &at, plan->reserved[i].end - at, 1, 0, plan->step_count + 1, STOW_VALUE_NONE, 0, true,
        true};
    if (b.size > 0) {
      add_buffer(problem, plan, &b);
    }
  }
  stow_problem_load(problem, stow_allocator_default(), NULL, &load);
  stow_problem_destroy(problem);
  plan->lower_bound = load.lower_bound;
  plan->peak_step = (uint32_t)load.step;
}

void plan_edit_place(plan_edit* edit) {
  stow_plan* plan = edit->plan;
  size_t room = (size_t)plan->value_count + plan->scratch_count + 1;
  block* blocks = (block*)calloc(room, sizeof(block));
  if (blocks == NULL) {
    abort();
  }
  size_t count = collect(edit, blocks);
  for (size_t placed = 0; placed < count; ++placed) {
    block* next = NULL;
    for (size_t i = 0; i < count; ++i) {
      if (!blocks[i].is_placed && (next == NULL || blocks[i].size > next->size)) {
        next = &blocks[i];
      }
    }
    if (next != NULL) {
      place(plan, blocks, count, next);
    }
  }
  plan->arena_size = 0;
  for (size_t i = 0; i < count; ++i) {
    const block* b = &blocks[i];
    uint64_t end = *b->offset + b->size;
    plan->arena_size = end > plan->arena_size ? end : plan->arena_size;
    plan->arena_alignment =
        b->alignment > plan->arena_alignment ? b->alignment : plan->arena_alignment;
    for (stow_value v = 0; b->root != STOW_VALUE_NONE && v < plan->value_count; ++v) {
      if (plan->values[v].root == b->root && v != b->root && has_slot(plan, v)) {
        plan->values[v].offset += *b->offset - b->old;
      }
    }
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    uint64_t end = plan->reserved[i].end;
    plan->arena_size = end > plan->arena_size ? end : plan->arena_size;
  }
  state_facts(plan, blocks, count);
  free(blocks);
}

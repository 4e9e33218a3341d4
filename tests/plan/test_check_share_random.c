// The plan checker against random sharing: plans with results in place of operands, operands inside
// concats and roots with windows, some correct, some wrong. A run on tagged bytes must find nothing
// in what the checker accepts.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/plan.h>
#include <stowage/text.h>
#include <string.h>

#include "plan/plan_edit.h"
#include "plan/plan_internal.h"
#include "plan/plan_support.h"
#include "support/random_graph.h"
#include "support/test.h"
#include "test_check_oracle.h"

// ---------------------------------------------------------------------------------------------
// Graphs full of chains and concats, as text

#define MAX_TEXT 20000
#define MAX_SHOWN 200

typedef struct shown {
  uint32_t id;
  uint32_t elements;
  bool half;  // f16
} shown;

typedef struct maker {
  test_random* random;
  char text[MAX_TEXT];
  size_t size;
  shown shown[MAX_SHOWN];
  size_t count;
  uint32_t next;  // id
} maker;

static uint64_t below(test_random* random, uint64_t bound) {
  return test_random_below(random, bound);
}

__attribute__((format(printf, 2, 3))) static void say(maker* m, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(m->text + m->size, MAX_TEXT - m->size, format, arguments);
  va_end(arguments);
  m->size += (size_t)size < MAX_TEXT - m->size ? (size_t)size : 0;
}

static void show(maker* m, uint32_t elements, bool half) {
  m->shown[m->count++] = (shown){m->next++, elements, half};
}

static shown pick(maker* m) {
  // Mostly something new, so that there are chains.
  size_t reach = below(m->random, 2) == 0 && m->count > 3 ? 3 : m->count;
  return m->shown[m->count - 1 - below(m->random, reach)];
}

static shown pick_of(maker* m, bool half, shown otherwise) {
  for (int tries = 0; tries < 6; ++tries) {
    shown x = pick(m);
    if (x.half == half) {
      return x;
    }
  }
  return otherwise;
}

static void say_type(maker* m, uint32_t elements, bool half) {
  say(m, " : %s[%u]\n", half ? "f16" : "f32", elements);
}

static void add_concat(maker* m) {
  shown first = pick(m);
  uint32_t elements = first.elements;
  say(m, "  %%%u = concat(%%%u", m->next, first.id);
  for (uint64_t k = 1 + below(m->random, 3); k > 0; --k) {
    shown next = pick_of(m, first.half, first);
    elements += next.elements;
    say(m, ", %%%u", next.id);
  }
  say(m, ") {axis = 0}");
  say_type(m, elements, first.half);
  show(m, elements, first.half);
}

static void add_custom(maker* m) {
  shown x = pick(m);
  uint32_t elements = 4 * (uint32_t)(1 + below(m->random, 8));
  say(m, "  %%%u = custom(%%%u", m->next, x.id);
  if (below(m->random, 3) == 0) {
    say(m, ", %%%u", pick(m).id);
  }
  say(m, ") {name = \"f\"}");
  say_type(m, elements, false);
  show(m, elements, false);
}

static void add_by_index(maker* m) {
  static const char* const ops[] = {"relu", "exp", "neg", "reshape"};
  shown x = pick(m);
  shown y = pick_of(m, x.half, x);
  if (below(m->random, 3) == 0) {
    say(m, "  %%%u = mul(%%%u, %%%u)", m->next, x.id, y.elements == x.elements ? y.id : x.id);
  } else {
    say(m, "  %%%u = %s(%%%u)", m->next, ops[below(m->random, 4)], x.id);
  }
  say_type(m, x.elements, x.half);
  show(m, x.elements, x.half);
}

static void add_narrow(maker* m) {
  shown x = pick(m);
  uint32_t start = 4 * (uint32_t)below(m->random, x.elements / 4);
  uint32_t length = 4 * (uint32_t)(1 + below(m->random, (x.elements - start) / 4));
  say(m, "  %%%u = narrow(%%%u) {axis = 0, start = %u, len = %u}", m->next, x.id, start, length);
  say_type(m, length, x.half);
  show(m, length, x.half);
}

static void add_cast(maker* m) {
  shown x = pick(m);
  say(m, "  %%%u = cast(%%%u)", m->next, x.id);
  say_type(m, x.elements, true);
  show(m, x.elements, true);
}

static void add_some(maker* m, size_t count, int depth);

// The body's text comes after the owner's id, which is known only when the body is done.
static void add_owner(maker* m, int depth, bool is_loop) {
  size_t start = m->size;
  size_t outer = m->count;
  shown carried = pick(m);
  uint32_t more = 0;
  if (is_loop) {
    say(m, "  %%%u, %%%u, %%%u = args() : i64[], bool[], ", m->next, m->next + 1, m->next + 2);
    say(m, "%s[%u]\n", carried.half ? "f16" : "f32", carried.elements);
    more = m->next + 1;
    m->next += 2;
    show(m, carried.elements, carried.half);
  }
  add_some(m, 1 + below(m->random, 5), depth + 1);
  say(m, "  %%%u = neg(%%%u)", m->next, is_loop ? m->shown[outer].id : carried.id);
  say_type(m, carried.elements, carried.half);
  uint32_t last = m->next++;
  m->count = outer;
  if (is_loop) {
    say(m, "  yield %%%u, %%%u\n  }", more, last);
  } else {
    say(m, "  yield %%%u\n  } else {\n", last);
    add_some(m, 1 + below(m->random, 4), depth + 1);
    say(m, "  %%%u = exp(%%%u)", m->next, carried.id);
    say_type(m, carried.elements, carried.half);
    say(m, "  yield %%%u\n  }", m->next++);
    m->count = outer;
  }
  say_type(m, carried.elements, carried.half);
  char head[80];
  int size =
      is_loop ? snprintf(head, sizeof(head), "  %%%u = loop(_, _, %%%u) {\n", m->next, carried.id)
              : snprintf(head, sizeof(head), "  %%%u = if(%%1) {\n", m->next);
  memmove(m->text + start + size, m->text + start, m->size - start + 1);
  memcpy(m->text + start, head, (size_t)size);
  m->size += (size_t)size;
  show(m, carried.elements, carried.half);
}

static void add_some(maker* m, size_t count, int depth) {
  for (; count > 0 && m->count < MAX_SHOWN - 20; --count) {
    switch (below(m->random, depth < 2 ? 17 : 15)) {
      case 0:
      case 1:
      case 2:
      case 3: add_concat(m); break;
      case 4:
      case 5:
      case 6: add_custom(m); break;
      case 7:
      case 8: add_narrow(m); break;
      case 9: add_cast(m); break;
      case 15: add_owner(m, depth, true); break;
      case 16: add_owner(m, depth, false); break;
      default: add_by_index(m); break;
    }
  }
}

static void write_graph(maker* m, bool regions) {
  say(m, "graph @g {\n  %%0 = input \"x\" : f32[16]\n  %%1 = input \"which\" : bool[]\n");
  m->shown[m->count++] = (shown){0, 16, false};
  m->next = 2;
  add_some(m, 4 + below(m->random, 14), regions ? 0 : 2);
  say(m, "  return %%%u", m->shown[m->count - 1].id);
  for (uint64_t k = below(m->random, 2); k > 0; --k) {
    say(m, ", %%%u", pick(m).id);
  }
  say(m, "\n}\n");
}

// ---------------------------------------------------------------------------------------------
// Scenes

typedef struct scene {
  uint64_t seed;
  test_random random;
  stow_module* module;
  stow_graph* graph;
  stow_effects* effects;
  stow_plan* plan;  // NULL if the effects contradict each other, or there are too many values
  stow_diag diag;
  char text[MAX_TEXT];
} scene;

static void forbid_some(scene* s) {
  for (stow_node node = 0; node < stow_graph_node_count(s->graph); ++node) {
    if (stow_graph_operand_count(s->graph, node) > 0 && below(&s->random, 12) == 0 &&
        stow_graph_result_count(s->graph, node) > 0) {
      stow_effects_forbid_in_place(s->effects, node, 0, 0, NULL);
    }
  }
}

static scene* scene_make(uint64_t seed) {
  scene* s = (scene*)calloc(1, sizeof(scene));
  maker* m = (maker*)calloc(1, sizeof(maker));
  if (s == NULL || m == NULL) {
    abort();
  }
  stow_diag_init(&s->diag);
  s->seed = seed;
  s->random.state = seed;
  m->random = &s->random;
  write_graph(m, below(&s->random, 3) == 0);
  memcpy(s->text, m->text, MAX_TEXT);
  free(m);
  s->graph = plan_parse(s->text, &s->module);
  if (s->graph == NULL) {
    return s;
  }
  if (below(&s->random, 3) == 0) {
    s->effects = random_effects(&s->random, s->graph, stow_allocator_default());
    forbid_some(s);
  }
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.in_place = false;
  options.elide_copies = false;
  options.windows = false;
  options.alignment = UINT64_C(1) << (2 * below(&s->random, 4));
  options.reuse = below(&s->random, 10) != 0;
  options.io = below(&s->random, 2) == 0 ? STOW_IO_CONSUME : STOW_IO_KEEP;
  stow_plan_make(s->graph, s->effects, &options, stow_allocator_default(), &s->diag, &s->plan);
  if (s->plan != NULL && s->plan->value_count > PLAN_EDIT_MAX_VALUES) {
    stow_plan_destroy(s->plan);
    s->plan = NULL;
  }
  return s;
}

static void scene_free(scene* s) {
  stow_plan_destroy(s->plan);
  stow_effects_destroy(s->effects);
  stow_module_destroy(s->module);
  free(s);
}

// ---------------------------------------------------------------------------------------------
// Sharing at random

// How often something unjustified is done.
typedef struct spice {
  uint64_t wrong;   // one in so many edits
  uint64_t damage;  // one in so many plans
} spice;

static bool is_careless(scene* s, const spice* how) { return below(&s->random, how->wrong) == 0; }

static void lay_some(scene* s, plan_edit* edit, stow_node node, const spice* how) {
  size_t operands = stow_graph_operand_count(s->graph, node);
  size_t results = stow_graph_result_count(s->graph, node);
  if (operands == 0 || results == 0) {
    return;
  }
  size_t k = (size_t)below(&s->random, results);
  size_t j = (size_t)below(&s->random, operands);
  stow_value operand = stow_graph_operands(s->graph, node)[j];
  stow_value value = stow_graph_first_result(s->graph, node) + (stow_value)k;
  if (operand == STOW_VALUE_NONE) {
    return;
  }
  const stow_plan* plan = edit->plan;
  bool is_last = edit->end[operand] <= edit->begin[value] + 1 &&
                 plan->values[plan->values[operand].root].kind == STOWI_PLAN_KIND_COMPUTED &&
                 plan->values[value].root == value;
  bool may = stow_graph_in_place(s->graph, node, k, j) != STOW_IN_PLACE_NEVER && is_last;
  if (may || is_careless(s, how)) {
    uint64_t inner = is_careless(s, how) ? 16 * below(&s->random, 4) : 0;
    plan_edit_put(edit, value, operand, inner);
  }
}

static void house_some(scene* s, plan_edit* edit, stow_node node, const spice* how) {
  size_t operands = stow_graph_operand_count(s->graph, node);
  if (stow_graph_op(s->graph, node) != STOW_OP_CONCAT) {
    return;
  }
  for (size_t k = 0; k < operands; ++k) {
    stow_value operand = stow_graph_operands(s->graph, node)[k];
    stow_value result = stow_graph_first_result(s->graph, node);
    const stowi_plan_value* root = &edit->plan->values[edit->plan->values[operand].root];
    bool may = root->kind == STOWI_PLAN_KIND_COMPUTED &&
               root->size <= edit->plan->values[operand].size && below(&s->random, 4) != 0;
    if (may || is_careless(s, how)) {
      uint64_t inner = plan_edit_elision(edit, node, k);
      inner += is_careless(s, how) ? 16 * below(&s->random, 4) : 0;
      plan_edit_put(edit, operand, result, inner);
    }
  }
}

static void damage_window(scene* s, stow_plan* plan) {
  stow_window* w = &plan->windows[below(&s->random, plan->window_count)].window;
  switch (below(&s->random, 4)) {
    case 0: w->low += 4 * below(&s->random, 5); break;
    case 1: w->high -= 4 * below(&s->random, 5); break;
    case 2: w->begin -= 1; break;
    default: w->end += 1; break;
  }
}

// One number of the plan changed.
static void damage(scene* s, stow_plan* plan) {
  stowi_plan_value* value = &plan->values[below(&s->random, plan->value_count)];
  switch (below(&s->random, 7)) {
    case 0: value->begin += 1; break;
    case 1: value->end -= value->end > 0 ? 1 : 0; break;
    case 2: value->offset += value->offset != STOW_OFFSET_NONE ? 16 : 0; break;
    case 3: {
      uint32_t at = (uint32_t)below(&s->random, plan->step_count - 1);
      stow_node node = plan->order[at];
      plan->order[at] = plan->order[at + 1];
      plan->order[at + 1] = node;
      break;
    }
    default:
      if (plan->window_count > 0) {
        damage_window(s, plan);
      }
      break;
  }
}

static void share_some(scene* s, const spice* how) {
  plan_edit edit = plan_edit_start(s->plan, s->graph, s->effects);
  for (stow_node node = 0; node < stow_graph_node_count(s->graph); ++node) {
    if (below(&s->random, 3) != 0) {
      lay_some(s, &edit, node, how);
    }
    house_some(s, &edit, node, how);
  }
  plan_edit_lives(&edit);
  if (below(&s->random, 4) != 0) {
    plan_edit_windows(&edit);
  }
  bool early = below(&s->random, how->damage) == 0;
  if (early && s->plan->window_count > 0) {
    damage_window(s, s->plan);  // so that others are placed into it
  }
  plan_edit_place(&edit);
  if (!early && below(&s->random, how->damage) == 0) {
    damage(s, s->plan);
  }
}

// ---------------------------------------------------------------------------------------------
// Both opinions

static bool run_agrees(const scene* s, char* why, size_t size) {
  static const uint64_t choices[] = {0, UINT64_MAX, UINT64_C(0x5555555555555555)};
  size_t count = stow_graph_region_count(s->graph) > 1 ? 3 : 1;
  for (size_t i = 0; i < count; ++i) {
    if (!oracle_run(s->plan, s->graph, s->effects, choices[i], why, size)) {
      return false;
    }
  }
  return true;
}

// Whether some value that is not a view is in another's root.
static bool is_sharing(const scene* s) {
  for (stow_value v = 0; v < s->plan->value_count; ++v) {
    stow_view view;
    stow_node node = stow_graph_producer(s->graph, v);
    size_t k = v - stow_graph_first_result(s->graph, node);
    if (s->plan->values[v].root != v && s->plan->values[v].size > 0 &&
        !stow_graph_view(s->graph, node, k, &view)) {
      return true;
    }
  }
  return false;
}

typedef struct tally {
  uint64_t planned;
  uint64_t accepted;  // with sharing
  uint64_t windowed;  // accepted, with windows
  uint64_t corrupt;   // a run finds damage
  uint64_t faults[STOW_FAULT_COUNT];
} tally;

static void judge(scene* s, tally* t) {
  char why[200] = "";
  stow_violation violation = {.struct_size = sizeof(violation)};
  stow_status status = stow_plan_check(s->plan, s->graph, s->effects, stow_allocator_default(),
                                       &s->diag, &violation);
  t->planned += 1;
  t->faults[violation.fault] += 1;
  if (status == STOW_OK && is_sharing(s)) {
    t->accepted += 1;
    t->windowed += s->plan->window_count > 0 ? 1 : 0;
  }
  if (s->plan->arena_size > 100000 || violation.fault == STOW_FAULT_SCHEDULE ||
      violation.fault == STOW_FAULT_STALE) {
    return;
  }
  if (!run_agrees(s, why, sizeof(why))) {
    t->corrupt += 1;
    test_check(status == STOW_ERR_VIOLATION, __FILE__, __LINE__,
               "seed %llu: a run finds a damaged %s, the checker nothing in\n%s",
               (unsigned long long)s->seed, why, s->text);
  }
}

static tally try_many(uint64_t cases, spice how) {
  tally t;
  memset(&t, 0, sizeof(t));
  for (uint64_t seed = 1; seed <= (test_is_long() ? cases * 50 : cases); ++seed) {
    scene* s = scene_make(seed);
    if (s->plan != NULL) {
      share_some(s, &how);
      judge(s, &t);
    }
    scene_free(s);
  }
  return t;
}

TEST(CarefulSharingIsMostlyAcceptedAndRuns) {
  tally t = try_many(1500, (spice){1000, 1000});
  CHECK(t.planned > 1000);
  CHECK(t.accepted > 300);
  CHECK(t.windowed > 200);
}

TEST(CarelessSharingIsCaughtIfItCorrupts) {
  tally t = try_many(2500, (spice){12, 2});
  CHECK(t.accepted > 100);
  CHECK(t.corrupt > 500);
  CHECK(t.faults[STOW_FAULT_OVERWRITE] > 50);
  CHECK(t.faults[STOW_FAULT_HOME] > 50);
  CHECK(t.faults[STOW_FAULT_WINDOW] > 50);
}

// Decisions that are wrong on purpose: plans that share bytes as the planner does, except for one
// mistake where an eager planner would make it. The checker must refuse every one that a run on
// tagged bytes finds, and every one that is wrong in any case.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/api.h"
#include "plan/describe.h"
#include "plan/feature_scene.h"
#include "plan/plan_edit.h"
#include "plan/plan_internal.h"
#include "support/test.h"
#include "test_check_oracle.h"

#define MAX_NODES 32

typedef enum mistake {
  READ_LATER,     // in place of an operand that is read later
  NEVER,          // in place of one that the op table forbids
  KEPT,           // in place of one that is kept
  MISALIGNED,     // in place of one, but misaligned
  ELISION_MOVED,  // an elided operand at a wrong offset
  ELISION_LOST,   // an elided operand that is overwritten while the concat is read
  WINDOW_BYTE,    // a window that is too small by a byte
  WINDOW_STEP,    // a window that is too long by a step
  ORDER,          // two steps exchanged
  MISTAKES
} mistake;

static const char* const names[MISTAKES] = {
    "over an operand that is read later",
    "over an operand that is never to be overwritten",
    "over an operand that is kept",
    "at a misaligned place",
    "a home at a wrong offset",
    "a home that is overwritten",
    "a window too small by a byte",
    "a window too long by a step",
    "two steps exchanged",
};

// Whether it may turn out to be correct after all: what is read or written then is the same.
static bool may_be_right(mistake kind) { return kind == WINDOW_STEP || kind == ORDER; }

typedef struct trial {
  feature_scene* s;
  stow_plan* plan;
  plan_edit edit;
  uint32_t* step;  // by node
} trial;

static uint64_t below(trial* x, uint64_t bound) { return test_random_below(&x->s->random, bound); }

static const stowi_plan_value* value_at(const trial* x, stow_value value) {
  return &x->plan->values[value];
}

static const stowi_plan_value* root_of(const trial* x, stow_value value) {
  return &x->plan->values[x->plan->values[value].root];
}

// The end of the last lifetime in |value|'s root.
static uint32_t end_of_root(const trial* x, stow_value value) {
  uint32_t end = 0;
  for (stow_value v = 0; v < x->plan->value_count; ++v) {
    if (x->plan->values[v].root == x->plan->values[value].root && x->edit.end[v] > end) {
      end = x->edit.end[v];
    }
  }
  return end;
}

// Whether a node after |node| reads some of the |size| bytes from |value|'s first on.
static bool is_read_after(const trial* x, stow_node node, stow_value value, uint64_t size) {
  const stow_graph* graph = x->s->graph;
  uint64_t low = x->plan->values[value].offset;
  for (uint32_t step = x->step[node] + 1; step < x->plan->step_count; ++step) {
    stow_node reader = x->plan->order[step];
    for (size_t k = 0; k < stow_graph_operand_count(graph, reader); ++k) {
      stow_value read = stow_graph_operands(graph, reader)[k];
      const stowi_plan_value* other = read == STOW_VALUE_NONE ? NULL : &x->plan->values[read];
      if (other != NULL && other->root == x->plan->values[value].root && other->size > 0 &&
          other->offset < low + size && low < other->offset + other->size) {
        return true;
      }
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Results over operands

typedef struct place {
  stow_node node;
  size_t operand;
} place;

// A result with its own bytes that no other shares yet, and an operand that has enough.
static bool could_be_in_place(const trial* x, place p) {
  const stow_graph* graph = x->s->graph;
  stow_value operand = stow_graph_operands(graph, p.node)[p.operand];
  stow_value value = stow_graph_first_result(graph, p.node);
  stow_view view;
  if (operand == STOW_VALUE_NONE || stow_graph_result_count(graph, p.node) == 0) {
    return false;
  }
  const stowi_plan_value* from = value_at(x, operand);
  const stowi_plan_value* to = value_at(x, value);
  return from->offset != STOW_OFFSET_NONE && to->offset != STOW_OFFSET_NONE && to->size > 0 &&
         from->size >= to->size && to->root == value && from->root != value &&
         to->kind == STOWI_PLAN_KIND_COMPUTED && stow_graph_op(graph, p.node) != STOW_OP_ARGS &&
         stow_graph_op_desc(graph, p.node)->region_count == 0 &&
         !stow_graph_view(graph, p.node, 0, &view);
}

static bool is_allowed(const trial* x, place p) {
  for (size_t i = 0; i < stowi_effects_overwrite_count(x->s->effects); ++i) {
    stowi_effects_in_place_entry entry = stowi_effects_overwrite(x->s->effects, i);
    if (entry.node == p.node && entry.result == 0 && entry.operand == p.operand) {
      return true;
    }
  }
  return stow_graph_in_place(x->s->graph, p.node, 0, p.operand) != STOW_IN_PLACE_NEVER;
}

static bool fits_over(const trial* x, mistake kind, place p) {
  const stow_graph* graph = x->s->graph;
  stow_value operand = stow_graph_operands(graph, p.node)[p.operand];
  stow_value value = stow_graph_first_result(graph, p.node);
  bool allowed = is_allowed(x, p);
  bool computed = root_of(x, operand)->kind == STOWI_PLAN_KIND_COMPUTED;
  bool last = end_of_root(x, operand) <= x->step[p.node] + 1;
  bool read = is_read_after(x, p.node, operand, value_at(x, value)->size);
  bool kept = read || end_of_root(x, operand) > x->plan->step_count;  // not for an empty view only
  // The operand of an in-place concat may be elided; another branch may be the one that reads.
  bool is_concat = stow_graph_op(graph, p.node) == STOW_OP_CONCAT;
  bool in_body = stow_graph_node_region(graph, p.node) == STOW_REGION_BODY;
  switch (kind) {
    case READ_LATER: return allowed && computed && in_body && !is_concat && read;
    case NEVER: return !allowed && computed && last && !is_concat;
    case KEPT: return allowed && !computed && kept && in_body;
    default:
      return allowed && computed && last && value_at(x, operand)->size > value_at(x, value)->size &&
             x->plan->facts.alignment > 1;
  }
}

static bool lay_over(trial* x, mistake kind) {
  const stow_graph* graph = x->s->graph;
  uint32_t count = stow_graph_node_count(graph);
  uint32_t start = (uint32_t)below(x, count);
  for (uint32_t i = 0; i < count; ++i) {
    place p = {(start + i) % count, 0};
    for (; p.operand < stow_graph_operand_count(graph, p.node); ++p.operand) {
      if (!could_be_in_place(x, p) || !fits_over(x, kind, p)) {
        continue;
      }
      stow_value operand = stow_graph_operands(graph, p.node)[p.operand];
      stow_value value = stow_graph_first_result(graph, p.node);
      uint64_t room = value_at(x, operand)->size - value_at(x, value)->size;
      uint64_t most = room < x->plan->facts.alignment ? room : x->plan->facts.alignment - 1;
      uint64_t inner = kind == MISALIGNED ? 1 + below(x, most) : 0;
      return plan_edit_put(&x->edit, value, operand, inner);
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Operands in concats

static bool is_outermost(const stow_graph* graph, stow_node node) {
  if (stow_graph_op(graph, node) != STOW_OP_CONCAT) {
    return false;
  }
  const stow_attr* axis = stow_graph_attr(graph, node, "axis");
  const stow_type* type = stow_graph_type(graph, stow_graph_first_result(graph, node));
  return axis == NULL || axis->i == 0 || axis->i + (int64_t)type->rank == 0;
}

// Through every view.
static size_t times_read(const trial* x, stow_node node, stow_value root) {
  size_t times = 0;
  for (size_t k = 0; k < stow_graph_operand_count(x->s->graph, node); ++k) {
    times += value_at(x, stow_graph_operands(x->s->graph, node)[k])->root == root ? 1 : 0;
  }
  return times;
}

// An operand that is all of its root, and could be built inside the result.
static bool could_be_elided(const trial* x, place p) {
  const stow_graph* graph = x->s->graph;
  if (!is_outermost(graph, p.node)) {
    return false;
  }
  stow_value operand = stow_graph_operands(graph, p.node)[p.operand];
  stow_value result = stow_graph_first_result(graph, p.node);
  const stowi_plan_value* part = value_at(x, operand);
  const stowi_plan_value* whole = value_at(x, result);
  return part->offset != STOW_OFFSET_NONE && whole->offset != STOW_OFFSET_NONE && part->size > 0 &&
         part->root == operand && whole->root != operand &&
         part->kind == STOWI_PLAN_KIND_COMPUTED && whole->root == result &&
         times_read(x, p.node, operand) == 1;
}

// The first node of the body that reads |operand| after |concat|, may be in place of it, and lets
// it die, while the concat's result is still read: whichever branch that happens in.
static stow_value late_result(const trial* x, stow_node concat, stow_value operand) {
  const stow_graph* graph = x->s->graph;
  uint32_t result_end = end_of_root(x, stow_graph_first_result(graph, concat));
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
      place p = {node, k};
      if (stow_graph_operands(graph, node)[k] == operand && x->step[node] > x->step[concat] &&
          end_of_root(x, operand) <= x->step[node] + 1 && result_end > x->step[node] + 1 &&
          stow_graph_node_region(graph, node) == STOW_REGION_BODY &&
          stow_graph_in_place(graph, node, 0, k) != STOW_IN_PLACE_NEVER &&
          could_be_in_place(x, p)) {
        return stow_graph_first_result(graph, node);
      }
    }
  }
  return STOW_VALUE_NONE;
}

static bool house_wrongly(trial* x, mistake kind) {
  const stow_graph* graph = x->s->graph;
  uint32_t count = stow_graph_node_count(graph);
  uint32_t start = (uint32_t)below(x, count);
  for (uint32_t i = 0; i < count; ++i) {
    place p = {(start + i) % count, 0};
    for (; p.operand < stow_graph_operand_count(graph, p.node); ++p.operand) {
      if (!could_be_elided(x, p)) {
        continue;
      }
      stow_value operand = stow_graph_operands(graph, p.node)[p.operand];
      stow_value result = stow_graph_first_result(graph, p.node);
      uint64_t elision = plan_edit_elision(&x->edit, p.node, p.operand);
      if (value_at(x, result)->size < value_at(x, operand)->size) {
        continue;
      }
      uint64_t room = value_at(x, result)->size - value_at(x, operand)->size;
      uint64_t elsewhere = room == 0 ? elision : below(x, room + 1);
      stow_value late = kind == ELISION_LOST ? late_result(x, p.node, operand) : STOW_VALUE_NONE;
      if (kind == ELISION_MOVED && elsewhere != elision) {
        return plan_edit_put(&x->edit, operand, result, elsewhere);
      }
      if (late != STOW_VALUE_NONE) {
        return plan_edit_put(&x->edit, operand, result, elision) &&
               plan_edit_put(&x->edit, late, operand, 0);
      }
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Windows and orders

static bool shrink_window(trial* x, mistake kind) {
  if (x->plan->window_count == 0) {
    return false;
  }
  stow_window* w = &x->plan->windows[below(x, x->plan->window_count)].window;
  bool first = below(x, 2) == 0;
  if (kind == WINDOW_BYTE && w->low == w->high) {
    return false;
  }
  if (kind == WINDOW_BYTE) {
    w->low += first ? 1 : 0;
    w->high -= first ? 0 : 1;
    if (w->low == w->high) {
      w->low = w->high = 0;
    }
    return true;
  }
  w->begin -= first && w->begin > 0 ? 1 : 0;
  w->end += first ? 0 : 1;
  return true;
}

static bool exchange_steps(trial* x) {
  uint32_t at = (uint32_t)below(x, x->plan->step_count - 1);
  stow_node node = x->plan->order[at];
  if (stow_graph_region_count(x->s->graph) > 1) {
    return false;  // a run relies on the order of regions
  }
  x->plan->order[at] = x->plan->order[at + 1];
  x->plan->order[at + 1] = node;
  return true;
}

// ---------------------------------------------------------------------------------------------
// A trial

// A plan without sharing, and everything that the planner would share: sound except for one
// mistake.
static void share_as(trial* x, const stow_plan* model) {
  for (size_t i = 0; i < stow_plan_decision_count(model); ++i) {
    stow_decision d = decision_of(model, i);
    if (d.reason == STOW_REASON_TAKEN && d.share == STOW_SHARE_IN_PLACE) {
      plan_edit_put(&x->edit, d.result, d.operand, 0);
    } else if (d.reason == STOW_REASON_TAKEN && d.share == STOW_SHARE_HOME) {
      plan_edit_put(&x->edit, d.operand, d.result,
                    model->values[d.operand].offset - model->values[d.result].offset);
    }
  }
}

// False if there is no place for the mistake. MISTAKES: none is made.
static bool make_mistake(trial* x, mistake kind, const stow_plan* model) {
  bool made = kind == MISTAKES;
  if (kind <= MISALIGNED) {
    made = lay_over(x, kind);
  } else if (kind == ELISION_MOVED || kind == ELISION_LOST) {
    made = house_wrongly(x, kind);
  }
  share_as(x, model);
  plan_edit_lives(&x->edit);
  plan_edit_windows(&x->edit);
  bool early = below(x, 2) == 0;
  bool is_window = kind == WINDOW_BYTE || kind == WINDOW_STEP;
  if (is_window && early) {
    made = shrink_window(x, kind);  // so that others are placed into what is omitted
  }
  plan_edit_place(&x->edit);
  if (is_window && !early) {
    made = shrink_window(x, kind);
  } else if (kind == ORDER) {
    made = exchange_steps(x);
  }
  return made;
}

static stow_plan_options options_of(feature_scene* s) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.strategy = stow_strategy_find(stow_str_of("first-fit"));
  options.alignment = UINT64_C(1) << test_random_below(&s->random, 5);
  options.io = test_random_below(&s->random, 2) == 0 ? STOW_IO_CONSUME : STOW_IO_KEEP;
  return options;
}

typedef struct tally {
  uint64_t made;
  uint64_t found;    // by a run
  uint64_t refused;  // by the checker
} tally;

// Effects can make the two plans differ in more than the decisions.
static bool judge(trial* x, mistake kind, tally* t) {
  char why[200] = "";
  stow_violation violation = {.struct_size = sizeof(violation)};
  bool refused = feature_check(x->s, x->plan, &violation) != STOW_OK;
  bool runs = feature_can_run(x->plan) ? feature_runs(x->s, x->plan, why, sizeof(why)) : true;
  t->made += 1;
  t->found += runs ? 0 : 1;
  t->refused += refused ? 1 : 0;
  if (kind == MISTAKES) {
    test_check((runs && !refused) || x->s->effects != NULL, __FILE__, __LINE__,
               "seed %llu, without a mistake: %s%s", (unsigned long long)x->s->seed,
               refused ? x->s->diag.message : "", why);
  } else {
    test_check(refused || (runs && may_be_right(kind)), __FILE__, __LINE__,
               "seed %llu, %s: accepted; a run finds %s", (unsigned long long)x->s->seed,
               names[kind], runs ? "nothing" : why);
  }
  return !refused;
}

// Whether there was a plan with that mistake, and it was accepted.
static bool try_mistake(feature_scene* s, stow_plan_options options, mistake kind, tally* t) {
  trial x = {.s = s};
  bool accepted = false;
  stow_plan* model = NULL;
  stow_plan_make(s->graph, s->effects, &options, stow_allocator_default(), &s->diag, &model);
  feature_set(&options, 0);
  stow_plan_make(s->graph, s->effects, &options, stow_allocator_default(), &s->diag, &x.plan);
  if (model != NULL && x.plan != NULL && x.plan->value_count <= PLAN_EDIT_MAX_VALUES) {
    x.edit = plan_edit_start(x.plan, s->graph, s->effects);
    x.step = (uint32_t*)calloc(x.plan->step_count + 1, sizeof(uint32_t));
    for (uint32_t step = 0; x.step != NULL && step < x.plan->step_count; ++step) {
      x.step[x.plan->order[step]] = step;
    }
    if (x.step != NULL && make_mistake(&x, kind, model)) {
      accepted = judge(&x, kind, t);
    }
    free(x.step);
  }
  stow_plan_destroy(model);
  stow_plan_destroy(x.plan);
  return accepted;
}

TEST(EveryWrongDecisionIsRefused) {
  static tally t[MISTAKES + 1];
  random_ops* ops = random_ops_create();
  for (uint64_t seed = 1; seed <= (test_is_long() ? 5000 : 700); ++seed) {
    feature_scene s = feature_scene_make(seed, ops, MAX_NODES, seed % 2 == 0);
    stow_plan_options options = options_of(&s);
    bool right = try_mistake(&s, options, MISTAKES, &t[MISTAKES]);
    for (int kind = 0; right && kind < MISTAKES; ++kind) {
      try_mistake(&s, options, (mistake)kind, &t[kind]);
    }
    feature_scene_free(&s);
  }
  random_ops_destroy(ops);
  for (int kind = 0; kind < MISTAKES; ++kind) {
    printf("%5llu %s: a run finds %llu, the checker %llu\n", (unsigned long long)t[kind].made,
           names[kind], (unsigned long long)t[kind].found, (unsigned long long)t[kind].refused);
    CHECK(t[kind].found >= (kind == ELISION_LOST ? 3 : 20));
    CHECK(t[kind].refused >= t[kind].found);
  }
  CHECK(t[MISTAKES].made - t[MISTAKES].refused > 400);
}

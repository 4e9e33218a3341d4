// Part of the plan checker: when bytes are written and read.
//
// Every value gets its first write and last read from the graph, the effects and the order.
//
// A body that runs again reads outer values again, so a read inside a loop of a value from outside
// lasts to the body's end; the outermost such loop decides. O(operands × region depth).
#include "base/diag.h"
#include "graph/api.h"
#include "plan/check/check.h"

// ---------------------------------------------------------------------------------------------
// Uses

static void note_write(stowi_plan_check_value* value, uint32_t step) {
  value->first_write = step < value->first_write ? step : value->first_write;
  value->last_write = step > value->last_write ? step : value->last_write;
}

static bool is_loop_body(const stowi_plan_checker* checker, stow_region region) {
  stow_node owner = stowi_graph_region_owner(checker->graph, region);
  return stow_graph_op_desc(checker->graph, owner)->region_kind == STOW_REGION_LOOP;
}

// The outermost loop body that contains |region| but not |other|; STOW_REGION_BODY if there is
// none.
static stow_region outermost_loop(const stowi_plan_checker* checker, stow_region region,
                                  stow_region other) {
  stow_region found = STOW_REGION_BODY;
  while (region != other && !stowi_plan_check_contains(checker, region, other)) {
    found = is_loop_body(checker, region) ? region : found;
    region = stowi_graph_region_parent(checker->graph, region);
  }
  return found;
}

// A value from outside a loop is read again in each iteration.
static stowi_plan_use repeated(const stowi_plan_checker* checker, stowi_plan_use u) {
  stow_region maker = stowi_plan_check_made_in(checker, u.value);
  stow_region body = outermost_loop(checker, u.region, maker);
  if (body != STOW_REGION_BODY) {
    u.step = stowi_plan_check_region_end(checker, body);
    u.through = true;
  }
  return u;
}

// A value made inside a loop is made again in each iteration, while the previous one is still in
// use outside.
static void note_rounds(stowi_plan_checker* checker, stow_value value, stow_region region) {
  stow_region maker = stowi_plan_check_made_in(checker, value);
  stow_region body = outermost_loop(checker, maker, region);
  if (body != STOW_REGION_BODY) {
    note_write(&checker->values[value], checker->entries[body]);
    note_write(&checker->values[value], stowi_plan_check_region_end(checker, body));
  }
}

// The value whose bytes |value| keeps between iterations: what an op writes into its operand is
// where the operand is, which is made again before it.
static stow_value kept_in(const stowi_plan_checker* checker, stow_value value) {
  stow_node node = stow_graph_producer(checker->graph, value);
  bool writes = stow_graph_op_desc(checker->graph, node)->writes_view;
  return writes ? stow_plan_root(checker->plan, value) : value;
}

typedef struct visitor {
  stowi_plan_checker* checker;
  stowi_plan_visit_use visit;
  void* user;
} visitor;

static stowi_plan_use use_of(const stowi_plan_checker* checker, stow_value value, uint32_t step,
                             stow_region region) {
  return (stowi_plan_use){value, checker->values[value].since, step, region, false, false};
}

static stow_status visit_operands(const visitor* v, stow_node node) {
  const stowi_plan_checker* checker = v->checker;
  const stow_op_desc* desc = stow_graph_op_desc(checker->graph, node);
  stow_region region = stow_graph_node_region(checker->graph, node);
  size_t count = stow_graph_operand_count(checker->graph, node);
  for (size_t k = 0; k < count; ++k) {
    stow_value value = stow_graph_operands(checker->graph, node)[k];
    if (value == STOW_VALUE_NONE) {
      continue;
    }
    stowi_plan_use u = use_of(checker, value, checker->steps[node], region);
    if (desc->region_kind == STOW_REGION_LOOP && k >= desc->carry.first_operand) {
      // A carried value's initial one is read once, when the body is entered.
      u.step = checker->entries[stow_graph_owned_region(checker->graph, node, 0)];
    }
    STOW_TRY(v->visit(v->user, repeated(checker, u)));
  }
  return STOW_OK;
}

// Final results that are not views are copied from what the last yield wrote.
static stow_status visit_finals(const visitor* v, stow_node node) {
  const stowi_plan_checker* checker = v->checker;
  size_t results = stow_graph_result_count(checker->graph, node);
  for (size_t k = 0; k < results; ++k) {
    stow_value result = stow_graph_first_result(checker->graph, node) + (stow_value)k;
    stow_value argument = stowi_plan_check_final(checker, node, k);
    if (argument != STOW_VALUE_NONE && checker->values[result].made == STOWI_PLAN_MADE_WRITTEN) {
      stow_region body = stow_graph_owned_region(checker->graph, node, 0);
      stow_region region = stow_graph_node_region(checker->graph, node);
      stowi_plan_use u = use_of(checker, argument, checker->steps[node], region);
      u.since = stowi_plan_check_region_end(checker, body) + 1;
      STOW_TRY(v->visit(v->user, u));
    }
  }
  return STOW_OK;
}

static stow_status visit_held(const visitor* v) {
  stowi_plan_checker* checker = v->checker;
  size_t count = stowi_effects_hold_count(checker->effects);
  for (size_t i = 0; i < count; ++i) {
    stowi_effects_hold_entry hold = stowi_effects_hold(checker->effects, i);
    stow_value value = stow_graph_operands(checker->graph, hold.node)[hold.operand];
    if (value == STOW_VALUE_NONE) {
      continue;
    }
    stowi_plan_use u = use_of(checker, value, checker->node_count, STOW_REGION_BODY);
    u.through = true;
    u.held = true;
    if (hold.until != STOW_STEP_END) {
      u.step = checker->steps[hold.until];
      u.region = stow_graph_node_region(checker->graph, hold.until);
    }
    note_rounds(checker, kept_in(checker, value), u.region);
    STOW_TRY(v->visit(v->user, repeated(checker, u)));
  }
  return STOW_OK;
}

stow_status stowi_plan_check_each_use(stowi_plan_checker* checker, stowi_plan_visit_use visit,
                                      void* user) {
  visitor v = {checker, visit, user};
  for (stow_node node = 0; node < checker->node_count; ++node) {
    STOW_TRY(visit_operands(&v, node));
    STOW_TRY(visit_finals(&v, node));
  }
  STOW_TRY(visit_held(&v));
  size_t outputs = stow_graph_output_count(checker->graph);
  for (size_t i = 0; i < outputs; ++i) {
    stow_value output = stow_graph_outputs(checker->graph)[i];
    STOW_TRY(visit(user, use_of(checker, output, checker->node_count, STOW_REGION_BODY)));
  }
  return STOW_OK;
}

static stow_status note_use(void* user, stowi_plan_use u) {
  stowi_plan_check_value* value = &((stowi_plan_checker*)user)->values[u.value];
  value->last_read = u.step > value->last_read ? u.step : value->last_read;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Writes

// Each branch of an if copies what it yields into the results, at its yield.
static void write_branch_results(stowi_plan_checker* checker, stow_node node) {
  size_t results = stow_graph_result_count(checker->graph, node);
  stow_value first = stow_graph_first_result(checker->graph, node);
  for (size_t r = 0;; ++r) {
    stow_region region = stow_graph_owned_region(checker->graph, node, r);
    if (region == STOW_REGION_ID_NONE) {
      return;
    }
    uint32_t yield = stowi_plan_check_region_end(checker, region);
    for (size_t k = 0; k < results; ++k) {
      note_write(&checker->values[first + k], yield);
    }
  }
}

// Carried arguments are written again by the yield. A final result is its argument's bytes, or a
// copy made at the loop's own step; collected results are written from the body's entry on.
static void write_loop_results(stowi_plan_checker* checker, stow_node node) {
  stow_region body = stow_graph_owned_region(checker->graph, node, 0);
  size_t results = stow_graph_result_count(checker->graph, node);
  stow_value first = stow_graph_first_result(checker->graph, node);
  for (size_t k = 0; k < results; ++k) {
    stow_value argument = stowi_plan_check_final(checker, node, k);
    if (argument == STOW_VALUE_NONE) {
      note_write(&checker->values[first + k], checker->entries[body]);
    } else {
      note_write(&checker->values[argument], stowi_plan_check_region_end(checker, body));
    }
  }
}

static void write_results(stowi_plan_checker* checker, stow_node node) {
  const stow_op_desc* desc = stow_graph_op_desc(checker->graph, node);
  size_t results = stow_graph_result_count(checker->graph, node);
  stow_value first = results == 0 ? 0 : stow_graph_first_result(checker->graph, node);
  for (size_t k = 0; k < results; ++k) {
    stow_value value = first + (stow_value)k;
    // What is loaded from outside is there from the start, wherever its node is.
    bool loaded = stow_graph_is_boundary(checker->graph, value);
    note_write(&checker->values[value], loaded ? 0 : checker->steps[node]);
  }
  if (desc->region_kind == STOW_REGION_BRANCH) {
    write_branch_results(checker, node);
  } else if (desc->region_kind == STOW_REGION_LOOP) {
    write_loop_results(checker, node);
  }
}

stow_status stowi_plan_check_needs(stowi_plan_checker* checker) {
  for (stow_value value = 0; value < checker->value_count; ++value) {
    checker->values[value].first_write = UINT32_MAX;
  }
  for (stow_node node = 0; node < checker->node_count; ++node) {
    write_results(checker, node);
  }
  size_t count = stowi_effects_early_write_count(checker->effects);
  for (size_t i = 0; i < count; ++i) {
    stowi_effects_early_write_entry write = stowi_effects_early_write(checker->effects, i);
    stow_value value =
        stow_graph_first_result(checker->graph, write.node) + (stow_value)write.result;
    stow_region region = stow_graph_node_region(checker->graph, write.from);
    note_rounds(checker, value, region);
    // If written inside a loop that does not contain it: in every iteration. Otherwise only at that
    // step.
    stowi_plan_use u = use_of(checker, value, checker->steps[write.from], region);
    note_write(&checker->values[value], repeated(checker, u).step);
    stow_region body = outermost_loop(checker, region, stowi_plan_check_made_in(checker, value));
    if (body != STOW_REGION_BODY) {
      note_write(&checker->values[value], checker->entries[body]);
    }
  }
  return stowi_plan_check_each_use(checker, note_use, checker);
}

// The plan checker: proves a plan from the graph, the effects and the order alone.
//
// A plan that is wrong corrupts memory silently, often far from the cause. So this is a second,
// independent derivation of everything that makes a plan right. It shares nothing with analysis,
// place or the planner but the graph's and the effects' getters, takes every claim of the plan
// (order, roots, slots, guards, lifetimes) as a claim, and stops at the first that does not hold.
// Of the options it knows those that the plan keeps; rules are not among them, so lifetimes may be
// longer than needed.
//
// The parts run in order, each relying on what those before have proved:
//
//     schedule ─▶ sizes ─▶ views ─▶ lives ─▶ slots ─▶ overlap ─▶ arena size ─▶ facts
//
// O(n log n) time and O(n) memory, for n values and operands.
#include "plan/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/diag.h"

const char* stow_fault_text(stow_fault fault) {
  static const char* const texts[] = {
#define FAULT_TEXT(name, text) text,
      STOW_FAULT_LIST(FAULT_TEXT)
#undef FAULT_TEXT
  };
  return (unsigned)fault < STOW_FAULT_COUNT ? texts[fault] : "?";
}

// ---------------------------------------------------------------------------------------------
// Labels and faults

#define NAME_MAX_SHOWN 80

stowi_label stowi_label_value(const stowi_checker* checker, stow_value value) {
  stowi_label label;
  stow_str name = stow_graph_value_name(checker->graph, value);
  if (name.size == 0) {
    snprintf(label.text, sizeof(label.text), "%%%" PRIu32, value);
  } else {
    int shown = (int)(name.size < NAME_MAX_SHOWN ? name.size : NAME_MAX_SHOWN);
    snprintf(label.text, sizeof(label.text), "%%%" PRIu32 " \"%.*s\"", value, shown, name.data);
  }
  return label;
}

stowi_label stowi_label_node(const stowi_checker* checker, stow_node node) {
  stowi_label label;
  const char* op = stow_graph_op_desc(checker->graph, node)->name;
  if (stow_graph_result_count(checker->graph, node) == 0) {
    snprintf(label.text, sizeof(label.text), "node %" PRIu32 " (%.60s)", node, op);
  } else {
    snprintf(label.text, sizeof(label.text), "%%%" PRIu32 " (%.60s)",
             stow_graph_first_result(checker->graph, node), op);
  }
  return label;
}

stowi_label stowi_label_step(const stowi_checker* checker, uint32_t step) {
  if (step < checker->node_count) {
    return stowi_label_node(checker, stow_plan_order(checker->plan)[step]);
  }
  stowi_label label;
  snprintf(label.text, sizeof(label.text), "the caller");
  return label;
}

stow_status stowi_fault(stowi_checker* checker, stow_fault fault, stow_value first,
                        stow_value second, uint32_t step, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  stow_status status = stowi_vfail(checker->diag, STOW_ERR_VIOLATION, format, arguments);
  va_end(arguments);
  checker->violation.fault = fault;
  checker->violation.first = first;
  checker->violation.second = second;
  checker->violation.step = step;
  if (first != STOW_VALUE_NONE) {
    stowi_diag_value(checker->diag, first);
  }
  return status;
}

// ---------------------------------------------------------------------------------------------
// What several parts ask of the graph

bool stowi_check_is_op(const stowi_checker* checker, stow_value value, stow_op op) {
  return stow_graph_op(checker->graph, stow_graph_producer(checker->graph, value)) == op;
}

stow_region stowi_check_home(const stowi_checker* checker, stow_value value) {
  if (stow_graph_is_boundary(checker->graph, value)) {
    return STOW_REGION_BODY;
  }
  return stow_graph_node_region(checker->graph, stow_graph_producer(checker->graph, value));
}

stow_io_policy stowi_check_policy(const stowi_checker* checker, stow_value value) {
  if (!stow_graph_is_boundary(checker->graph, value) && !checker->values[value].output) {
    return STOW_IO_KEEP;
  }
  stow_io_policy policy = stow_effects_io(checker->effects, value);
  if (policy == STOW_IO_DEFAULT) {
    policy = checker->plan->facts.io;
  }
  if (policy == STOW_IO_CONSUME && !stowi_check_is_op(checker, value, STOW_OP_INPUT)) {
    return STOW_IO_KEEP;
  }
  return policy;
}

bool stowi_check_is_kept(const stowi_checker* checker, stow_value value) {
  if (stow_effects_state(checker->effects, value)) {
    return true;
  }
  return stow_graph_is_boundary(checker->graph, value) &&
         stowi_check_policy(checker, value) != STOW_IO_CONSUME;
}

bool stowi_check_has_args(const stowi_checker* checker, stow_region region) {
  return stow_graph_region_args(checker->graph, region) != STOW_NODE_NONE;
}

stow_value stowi_check_argument(const stowi_checker* checker, stow_region body, size_t k) {
  stow_node first = stow_graph_region_first(checker->graph, body);
  if (!stowi_check_has_args(checker, body) || k >= stow_graph_result_count(checker->graph, first)) {
    return STOW_VALUE_NONE;
  }
  return stow_graph_first_result(checker->graph, first) + (stow_value)k;
}

// ---------------------------------------------------------------------------------------------
// The whole

stow_status stowi_check_fresh(stowi_checker* checker) {
  uint64_t of_graph = stow_graph_fingerprint(checker->graph);
  uint64_t of_plan = stow_plan_fingerprint(checker->plan);
  if (of_graph != of_plan) {
    return stowi_fault(checker, STOW_FAULT_STALE, STOW_VALUE_NONE, STOW_VALUE_NONE, 0,
                       "the plan was made for a graph with fingerprint %016" PRIx64
                       ", this one has %016" PRIx64,
                       of_plan, of_graph);
  }
  uint32_t values = stow_plan_value_count(checker->plan);
  if (values != checker->value_count) {
    return stowi_fault(checker, STOW_FAULT_STALE, STOW_VALUE_NONE, STOW_VALUE_NONE, 0,
                       "the plan has %" PRIu32 " values, the graph has %" PRIu32, values,
                       checker->value_count);
  }
  return STOW_OK;
}

static void mark_outputs(stowi_checker* checker) {
  size_t count = stow_graph_output_count(checker->graph);
  for (size_t i = 0; i < count; ++i) {
    checker->values[stow_graph_outputs(checker->graph)[i]].output = true;
  }
}

static stow_status run(stowi_checker* checker) {
  if (!stow_effects_are_of(checker->effects, checker->graph)) {
    return stowi_fail(checker->diag, STOW_ERR_INVALID_ARGUMENT,
                      "the effects are of another graph, or the graph grew after they were made");
  }
  STOW_TRY(stowi_check_fresh(checker));
  STOW_TRY(stow_graph_verify(checker->graph, checker->diag));
  STOW_TRY(stow_graph_require_bound(checker->graph, checker->diag));
  checker->steps = STOWI_ARRAY(checker->allocator, uint32_t, checker->node_count);
  checker->entries = STOWI_ARRAY(checker->allocator, uint32_t, checker->region_count);
  checker->values = STOWI_ARRAY_ZERO(checker->allocator, stowi_check_value, checker->value_count);
  if (checker->steps == NULL || checker->entries == NULL || checker->values == NULL) {
    return stowi_fail_memory(checker->diag);
  }
  mark_outputs(checker);
  STOW_TRY(stowi_check_schedule(checker));
  STOW_TRY(stowi_check_sizes(checker));
  STOW_TRY(stowi_check_views(checker));
  STOW_TRY(stowi_check_lives(checker));
  STOW_TRY(stowi_check_slots(checker));
  STOW_TRY(stowi_check_overlap(checker));
  STOW_TRY(stowi_check_arena_size(checker));
  return stowi_check_facts(checker);
}

stow_status stow_plan_check(const stow_plan* plan, const stow_graph* graph,
                            const stow_effects* effects, stow_allocator allocator, stow_diag* diag,
                            stow_violation* out_violation) {
  stowi_checker checker = {
      .plan = plan,
      .graph = graph,
      .effects = effects,
      .allocator = allocator,
      .diag = diag,
      .violation = STOWI_NO_VIOLATION,
      .node_count = stow_graph_node_count(graph),
      .value_count = stow_graph_value_count(graph),
      .region_count = stow_graph_region_count(graph),
  };
  stow_status status = run(&checker);
  if (out_violation != NULL) {
    *out_violation = checker.violation;
  }
  STOWI_ARRAY_FREE(allocator, checker.steps, checker.node_count);
  STOWI_ARRAY_FREE(allocator, checker.entries, checker.region_count);
  STOWI_ARRAY_FREE(allocator, checker.values, checker.value_count);
  STOWI_VEC_FREE(allocator, &checker.writers);
  return status;
}

// The plan checker: proves a plan from the graph, the effects and the order alone.
// A wrong plan corrupts memory silently, often far from the cause. So this is a second, independent
// derivation of everything that makes a plan correct. It shares nothing with analysis, place or the
// planner except the getters of the graph and the effects, treats everything in the plan (order,
// roots, slots, guards, lifetimes, windows) as a claim, and stops at the first that does not hold.
// It uses the options recorded in the plan; rules are not among them, so lifetimes may be longer
// than needed.
// The parts run in order, each relying on what the previous ones have proved:
//     schedule ─▶ sizes ─▶ views ─▶ rows ─▶ shares ─▶ needs ─▶ bytes ─▶ lives ─▶ slots ─▶ windows
//                                                              facts ◀─ arena size ◀─ overlap ◀─┘
// O(n log² n) time for n values and operands; O(n) memory, and O(w log w) for w writes into bytes
// that other values use too.
#include "plan/check/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/diag.h"
#include "graph/api.h"
#include "plan/api.h"

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

stowi_plan_label stowi_plan_label_value(const stowi_plan_checker* checker, stow_value value) {
  stowi_plan_label label;
  stow_str name = stow_graph_value_name(checker->graph, value);
  if (name.size == 0) {
    snprintf(label.text, sizeof(label.text), "%%%" PRIu32, value);
  } else {
    int shown = (int)(name.size < NAME_MAX_SHOWN ? name.size : NAME_MAX_SHOWN);
    snprintf(label.text, sizeof(label.text), "%%%" PRIu32 " \"%.*s\"", value, shown, name.data);
  }
  return label;
}

stowi_plan_label stowi_plan_label_node(const stowi_plan_checker* checker, stow_node node) {
  stowi_plan_label label;
  const char* op = stow_graph_op_name(checker->graph, node);
  if (stow_graph_result_count(checker->graph, node) == 0) {
    snprintf(label.text, sizeof(label.text), "node %" PRIu32 " (%.60s)", node, op);
  } else {
    snprintf(label.text, sizeof(label.text), "%%%" PRIu32 " (%.60s)",
             stow_graph_first_result(checker->graph, node), op);
  }
  return label;
}

stowi_plan_label stowi_plan_label_step(const stowi_plan_checker* checker, uint32_t step) {
  if (step < checker->node_count) {
    return stowi_plan_label_node(checker, stow_plan_order(checker->plan)[step]);
  }
  stowi_plan_label label;
  snprintf(label.text, sizeof(label.text), "the caller");
  return label;
}

stow_status stowi_plan_fault(stowi_plan_checker* checker, stow_fault fault, stow_value first,
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
// Shared queries

bool stowi_plan_check_is_op(const stowi_plan_checker* checker, stow_value value, stow_op op) {
  return stow_graph_op(checker->graph, stow_graph_producer(checker->graph, value)) == op;
}

stow_value stowi_plan_check_operand(const stowi_plan_checker* checker, stow_node node, size_t k) {
  return k < stow_graph_operand_count(checker->graph, node)
             ? stow_graph_operands(checker->graph, node)[k]
             : STOW_VALUE_NONE;
}

stow_region stowi_plan_check_made_in(const stowi_plan_checker* checker, stow_value value) {
  if (stow_graph_is_boundary(checker->graph, value)) {
    return STOW_REGION_BODY;
  }
  return stow_graph_node_region(checker->graph, stow_graph_producer(checker->graph, value));
}

stow_io_policy stowi_plan_check_policy(const stowi_plan_checker* checker, stow_value value) {
  if (!stow_graph_is_boundary(checker->graph, value) && !checker->values[value].output) {
    return STOW_IO_KEEP;
  }
  stow_io_policy policy = stowi_effects_io(checker->effects, value);
  if (policy == STOW_IO_DEFAULT) {
    policy = checker->plan->facts.io;
  }
  if (policy == STOW_IO_CONSUME && !stowi_plan_check_is_op(checker, value, STOW_OP_INPUT)) {
    return STOW_IO_KEEP;
  }
  return policy;
}

bool stowi_plan_check_is_kept(const stowi_plan_checker* checker, stow_value value) {
  if (stowi_effects_state(checker->effects, value)) {
    return true;
  }
  return stow_graph_is_boundary(checker->graph, value) &&
         stowi_plan_check_policy(checker, value) != STOW_IO_CONSUME;
}

bool stowi_plan_check_has_args(const stowi_plan_checker* checker, stow_region region) {
  return stowi_graph_region_args(checker->graph, region) != STOW_NODE_NONE;
}

stow_value stowi_plan_check_argument(const stowi_plan_checker* checker, stow_region body,
                                     size_t k) {
  stow_node first = stowi_graph_region_first(checker->graph, body);
  if (!stowi_plan_check_has_args(checker, body) ||
      k >= stow_graph_result_count(checker->graph, first)) {
    return STOW_VALUE_NONE;
  }
  return stow_graph_first_result(checker->graph, first) + (stow_value)k;
}

bool stowi_plan_check_contains(const stowi_plan_checker* checker, stow_region outer,
                               stow_region inner) {
  while (inner != outer && inner != STOW_REGION_BODY) {
    inner = stowi_graph_region_parent(checker->graph, inner);
  }
  return inner == outer;
}

uint32_t stowi_plan_check_region_end(const stowi_plan_checker* checker, stow_region region) {
  return checker->steps[stowi_graph_region_last(checker->graph, region)];
}

stow_node stowi_plan_check_loop_of_args(const stowi_plan_checker* checker, stow_node node) {
  if (stow_graph_op(checker->graph, node) != STOW_OP_ARGS) {
    return STOW_NODE_NONE;
  }
  stow_node owner =
      stowi_graph_region_owner(checker->graph, stow_graph_node_region(checker->graph, node));
  bool is_loop = owner != STOW_NODE_NONE &&
                 stow_graph_op_desc(checker->graph, owner)->region_kind == STOW_REGION_LOOP;
  return is_loop ? owner : STOW_NODE_NONE;
}

stow_value stowi_plan_check_initial(const stowi_plan_checker* checker, stow_node loop, size_t k) {
  const stow_carry* carry = &stow_graph_op_desc(checker->graph, loop)->carry;
  return k < carry->first_arg
             ? STOW_VALUE_NONE
             : stowi_plan_check_operand(checker, loop, k - carry->first_arg + carry->first_operand);
}

stow_value stowi_plan_check_final(const stowi_plan_checker* checker, stow_node loop, size_t k) {
  const stow_op_desc* desc = stow_graph_op_desc(checker->graph, loop);
  const stow_carry* carry = &desc->carry;
  if (desc->region_kind != STOW_REGION_LOOP || k < carry->first_result ||
      stowi_plan_check_operand(checker, loop, k - carry->first_result + carry->first_operand) ==
          STOW_VALUE_NONE) {
    return STOW_VALUE_NONE;
  }
  stow_region body = stow_graph_owned_region(checker->graph, loop, 0);
  return stowi_plan_check_argument(checker, body, k - carry->first_result + carry->first_arg);
}

bool stowi_plan_check_may_share(const stowi_plan_checker* checker, stow_value value) {
  return !stowi_effects_own(checker->effects, value) &&
         stowi_plan_check_policy(checker, value) != STOW_IO_EXTERNAL;
}

// ---------------------------------------------------------------------------------------------
// Values of one root

bool stowi_plan_check_touch(const stowi_plan_checker* checker, stow_value a, stow_value b) {
  stowi_plan_bytes x = stowi_plan_bytes_of(checker, a);
  stowi_plan_bytes y = stowi_plan_bytes_of(checker, b);
  return stow_plan_root(checker->plan, a) == stow_plan_root(checker->plan, b) &&
         stowi_plan_bytes_meets(&x, &y);
}

static stow_value link_end(const stowi_plan_checker* checker, stow_value value) {
  while (checker->values[value].linked != value) {
    value = checker->values[value].linked;
  }
  return value;
}

void stowi_plan_check_link(stowi_plan_checker* checker, stow_value a, stow_value b) {
  stow_value x = link_end(checker, a);
  stow_value y = link_end(checker, b);
  uint32_t* sizes = checker->link_sizes;
  stow_value larger = sizes[x] >= sizes[y] ? x : y;
  stow_value smaller = larger == x ? y : x;
  if (x != y) {
    checker->values[smaller].linked = larger;
    sizes[larger] += sizes[smaller];
  }
}

bool stowi_plan_check_linked(const stowi_plan_checker* checker, stow_value a, stow_value b) {
  return link_end(checker, a) == link_end(checker, b);
}

stow_status stowi_plan_check_misplaced(stowi_plan_checker* checker, stow_fault fault,
                                       stow_value value, const char* why) {
  stow_value root = stow_plan_root(checker->plan, value);
  uint32_t step = checker->steps[stow_graph_producer(checker->graph, value)];
  return stowi_plan_fault(checker, fault, value, root, step, "%s %s %s",
                          stowi_plan_label_value(checker, value).text, why,
                          stowi_plan_label_value(checker, root).text);
}

// ---------------------------------------------------------------------------------------------
// Entry point

stow_status stowi_plan_check_fresh(stowi_plan_checker* checker) {
  uint64_t of_graph = stow_graph_fingerprint(checker->graph);
  uint64_t of_plan = stowi_plan_fingerprint(checker->plan);
  if (of_graph != of_plan) {
    return stowi_plan_fault(checker, STOW_FAULT_STALE, STOW_VALUE_NONE, STOW_VALUE_NONE, 0,
                            "the plan was made for a graph with fingerprint %016" PRIx64
                            ", but this one has %016" PRIx64,
                            of_plan, of_graph);
  }
  uint32_t values = stow_plan_value_count(checker->plan);
  if (values != checker->value_count) {
    return stowi_plan_fault(checker, STOW_FAULT_STALE, STOW_VALUE_NONE, STOW_VALUE_NONE, 0,
                            "the plan has %" PRIu32 " values, but the graph has %" PRIu32, values,
                            checker->value_count);
  }
  return STOW_OK;
}

static size_t window_slots(const stowi_plan_checker* checker) {
  return (size_t)checker->value_count + 1;
}

static void mark_outputs(stowi_plan_checker* checker) {
  size_t count = stow_graph_output_count(checker->graph);
  for (size_t i = 0; i < count; ++i) {
    checker->values[stow_graph_outputs(checker->graph)[i]].output = true;
  }
}

static stow_status run(stowi_plan_checker* checker) {
  if (!stowi_effects_are_of(checker->effects, checker->graph)) {
    return stowi_fail(checker->diag, STOW_ERR_INVALID_ARGUMENT,
                      "the effects were made for another graph, or the graph has grown since");
  }
  STOW_TRY(stowi_plan_check_fresh(checker));
  STOW_TRY(stowi_effects_verify_graph(checker->effects, checker->graph, checker->diag));
  STOW_TRY(stow_graph_require_bound(checker->graph, checker->diag));
  checker->steps = STOWI_ARRAY(checker->allocator, uint32_t, checker->node_count);
  checker->entries = STOWI_ARRAY(checker->allocator, uint32_t, checker->region_count);
  checker->values =
      STOWI_ARRAY_ZERO(checker->allocator, stowi_plan_check_value, checker->value_count);
  checker->link_sizes = STOWI_ARRAY(checker->allocator, uint32_t, checker->value_count);
  checker->node_rows = STOWI_ARRAY(checker->allocator, uint64_t, checker->node_count);
  checker->windows = STOWI_ARRAY_ZERO(checker->allocator, size_t, window_slots(checker));
  STOW_TRY(stowi_need_memory(checker->steps != NULL && checker->entries != NULL &&
                                 checker->values != NULL && checker->link_sizes != NULL &&
                                 checker->windows != NULL && checker->node_rows != NULL,
                             checker->diag));
  for (stow_value value = 0; value < checker->value_count; ++value) {
    checker->values[value].linked = value;
    checker->link_sizes[value] = 1;
  }
  mark_outputs(checker);
  STOW_TRY(stowi_plan_check_schedule(checker));
  STOW_TRY(stowi_plan_check_sizes(checker));
  STOW_TRY(stowi_plan_check_views(checker));
  STOW_TRY(stowi_plan_check_rows(checker));
  STOW_TRY(stowi_plan_check_shares(checker));
  STOW_TRY(stowi_plan_check_needs(checker));
  STOW_TRY(stowi_plan_check_bytes(checker));
  STOW_TRY(stowi_plan_check_lives(checker));
  STOW_TRY(stowi_plan_check_slots(checker));
  STOW_TRY(stowi_plan_check_windows(checker));
  STOW_TRY(stowi_plan_check_overlap(checker));
  STOW_TRY(stowi_plan_check_arena_size(checker));
  return stowi_plan_check_facts(checker);
}

stow_status stow_plan_check(const stow_plan* plan, const stow_graph* graph,
                            const stow_effects* effects, stow_allocator allocator, stow_diag* diag,
                            stow_violation* out_violation) {
  stowi_plan_checker checker = {
      .plan = plan,
      .graph = graph,
      .effects = effects,
      .allocator = allocator,
      .diag = diag,
      .violation = STOWI_PLAN_NO_VIOLATION,
      .node_count = stow_graph_node_count(graph),
      .value_count = stow_graph_value_count(graph),
      .region_count = stow_graph_region_count(graph),
  };
  STOW_TRY(stowi_plan_fill_violation(&checker.violation, diag, out_violation));
  stow_status status = run(&checker);
  (void)stowi_plan_fill_violation(&checker.violation, NULL, out_violation);
  STOWI_ARRAY_FREE(allocator, checker.steps, checker.node_count);
  STOWI_ARRAY_FREE(allocator, checker.entries, checker.region_count);
  STOWI_ARRAY_FREE(allocator, checker.values, checker.value_count);
  STOWI_ARRAY_FREE(allocator, checker.link_sizes, checker.value_count);
  STOWI_ARRAY_FREE(allocator, checker.node_rows, checker.node_count);
  STOWI_ARRAY_FREE(allocator, checker.windows, window_slots(&checker));
  return status;
}

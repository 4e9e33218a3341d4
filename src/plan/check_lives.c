// Part of the plan checker: when bytes are written and read.
//
// First every value gets its own first write and last read from the graph, the effects and the
// order; then views hand theirs to their root. The plan's lifetimes must cover both. They may be
// longer: rules extend them, and what rules mean is the executor's business.
//
// A body that runs again reads outer values again, so a read inside a loop of a value from outside
// lasts to the body's end; the outermost such loop decides.
//
// Where an op writes into bytes that hold another value (check_views.c lists these), lifetimes say
// nothing: both are the same root. There each value knows which write it stands for, and all its
// reads must be over before the next one:
//
//     root   ──w0────────w1──────────w2─▶ step
//     a       [since 0 ……]│           │      a is read up to the step of w1, by w1 itself
//     b                   [since w1 …]│      b is what w1 made
//
// O(operands × region depth + writers × log writers).
#include <inttypes.h>

#include "base/diag.h"
#include "base/sort.h"
#include "plan/check.h"

// ---------------------------------------------------------------------------------------------
// Uses

static void note_write(stowi_check_value* value, uint32_t step) {
  value->first_write = step < value->first_write ? step : value->first_write;
  value->last_write = step > value->last_write ? step : value->last_write;
}

static bool contains(const stowi_checker* checker, stow_region outer, stow_region inner) {
  while (inner != outer && inner != STOW_REGION_BODY) {
    inner = stow_graph_region_parent(checker->graph, inner);
  }
  return inner == outer;
}

static bool is_loop_body(const stowi_checker* checker, stow_region region) {
  stow_node owner = stow_graph_region_owner(checker->graph, region);
  return stow_graph_op_desc(checker->graph, owner)->region_kind == STOW_REGION_LOOP;
}

// The outermost loop body that holds |region| but not |other|; STOW_REGION_BODY where there is
// none.
static stow_region outermost_loop(const stowi_checker* checker, stow_region region,
                                  stow_region other) {
  stow_region found = STOW_REGION_BODY;
  while (region != other && !contains(checker, region, other)) {
    found = is_loop_body(checker, region) ? region : found;
    region = stow_graph_region_parent(checker->graph, region);
  }
  return found;
}

// One read: at |step|, by something in |region|. |through|: also during the whole step, so that
// nothing that the step's node writes may lie there.
typedef struct use {
  stow_value value;
  uint32_t step;
  stow_region region;
  bool through;
  bool held;  // by effect: through both branches of an if
} use;

// What a loop around the reader alone repeats, it reads again in each round.
static use repeated(const stowi_checker* checker, use u) {
  stow_region home = stowi_check_home(checker, u.value);
  stow_region body = outermost_loop(checker, u.region, home);
  if (body != STOW_REGION_BODY) {
    u.step = checker->steps[stow_graph_region_last(checker->graph, body)];
    u.through = true;
  }
  return u;
}

// A loop around the value alone makes it again in each round, while the one before is still in use
// outside.
static void note_rounds(stowi_checker* checker, stow_value value, stow_region region) {
  stow_region home = stowi_check_home(checker, value);
  stow_region body = outermost_loop(checker, home, region);
  if (body != STOW_REGION_BODY) {
    note_write(&checker->values[value], checker->entries[body]);
    note_write(&checker->values[value],
               checker->steps[stow_graph_region_last(checker->graph, body)]);
  }
}

typedef stow_status (*visit_use)(stowi_checker* checker, use u);

static stow_status visit_operands(stowi_checker* checker, stow_node node, visit_use visit) {
  const stow_op_desc* desc = stow_graph_op_desc(checker->graph, node);
  const stow_value* operands = stow_graph_operands(checker->graph, node);
  size_t count = stow_graph_operand_count(checker->graph, node);
  for (size_t k = 0; k < count; ++k) {
    use u = {operands[k], checker->steps[node], stow_graph_node_region(checker->graph, node), false,
             false};
    if (desc->region_kind == STOW_REGION_LOOP && k >= desc->carry.first_operand) {
      // A carried value's initial one is taken over once, when the body is entered.
      u.step = checker->entries[stow_graph_owned_region(checker->graph, node, 0)];
    }
    if (u.value != STOW_VALUE_NONE) {
      STOW_TRY(visit(checker, repeated(checker, u)));
    }
  }
  return STOW_OK;
}

static stow_status visit_held(stowi_checker* checker, visit_use visit) {
  size_t count = stow_effects_hold_count(checker->effects);
  for (size_t i = 0; i < count; ++i) {
    stow_hold hold = stow_effects_hold(checker->effects, i);
    stow_value value = stow_graph_operands(checker->graph, hold.node)[hold.operand];
    use u = {value, checker->node_count, STOW_REGION_BODY, true, true};
    if (value == STOW_VALUE_NONE) {
      continue;
    }
    if (hold.until != STOW_STEP_END) {
      u.step = checker->steps[hold.until];
      u.region = stow_graph_node_region(checker->graph, hold.until);
    }
    note_rounds(checker, value, u.region);
    STOW_TRY(visit(checker, repeated(checker, u)));
  }
  return STOW_OK;
}

// Everything that reads, with the step at which it does so last.
static stow_status visit_uses(stowi_checker* checker, visit_use visit) {
  for (stow_node node = 0; node < checker->node_count; ++node) {
    STOW_TRY(visit_operands(checker, node, visit));
  }
  STOW_TRY(visit_held(checker, visit));
  size_t outputs = stow_graph_output_count(checker->graph);
  for (size_t i = 0; i < outputs; ++i) {
    use u = {stow_graph_outputs(checker->graph)[i], checker->node_count, STOW_REGION_BODY, false,
             false};
    STOW_TRY(visit(checker, u));
  }
  return STOW_OK;
}

static stow_status note_use(stowi_checker* checker, use u) {
  stowi_check_value* value = &checker->values[u.value];
  value->last_read = u.step > value->last_read ? u.step : value->last_read;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Writes

// Each branch of an if copies what it yields into the results, at its yield.
static void write_branch_results(stowi_checker* checker, stow_node node) {
  size_t results = stow_graph_result_count(checker->graph, node);
  stow_value first = stow_graph_first_result(checker->graph, node);
  for (size_t r = 0;; ++r) {
    stow_region region = stow_graph_owned_region(checker->graph, node, r);
    if (region == STOW_REGION_ID_NONE) {
      return;
    }
    uint32_t yield = checker->steps[stow_graph_region_last(checker->graph, region)];
    for (size_t k = 0; k < results; ++k) {
      note_write(&checker->values[first + k], yield);
    }
  }
}

// Carried arguments are written again by the yield. A final result is its argument's bytes, or a
// copy made at the loop's own step; what is collected round by round is written from the body's
// entry on.
static void write_loop_results(stowi_checker* checker, stow_node node) {
  const stow_graph* graph = checker->graph;
  const stow_carry* carry = &stow_graph_op_desc(graph, node)->carry;
  stow_region body = stow_graph_owned_region(graph, node, 0);
  size_t operands = stow_graph_operand_count(graph, node);
  size_t carried = operands > carry->first_operand ? operands - carry->first_operand : 0;
  size_t results = stow_graph_result_count(graph, node);
  stow_value first = stow_graph_first_result(graph, node);
  for (size_t k = 0; k < results; ++k) {
    stow_value argument =
        k >= carry->first_result && k - carry->first_result < carried
            ? stowi_check_argument(checker, body, k - carry->first_result + carry->first_arg)
            : STOW_VALUE_NONE;
    if (argument == STOW_VALUE_NONE) {
      note_write(&checker->values[first + k], checker->entries[body]);
      continue;
    }
    stowi_check_value* from = &checker->values[argument];
    note_write(from, checker->steps[stow_graph_region_last(graph, body)]);
    if (stow_plan_root(checker->plan, first + (stow_value)k) !=
        stow_plan_root(checker->plan, argument)) {
      note_write(from, checker->steps[node]);
    }
  }
}

static void write_results(stowi_checker* checker, stow_node node) {
  const stow_op_desc* desc = stow_graph_op_desc(checker->graph, node);
  size_t results = stow_graph_result_count(checker->graph, node);
  stow_value first = results == 0 ? 0 : stow_graph_first_result(checker->graph, node);
  for (size_t k = 0; k < results; ++k) {
    stow_value value = first + (stow_value)k;
    // What is loaded from outside is there from the start, wherever its node stands.
    bool loaded = stow_graph_is_boundary(checker->graph, value);
    note_write(&checker->values[value], loaded ? 0 : checker->steps[node]);
  }
  if (desc->region_kind == STOW_REGION_BRANCH) {
    write_branch_results(checker, node);
  } else if (desc->region_kind == STOW_REGION_LOOP) {
    write_loop_results(checker, node);
  }
}

static void write_early(stowi_checker* checker) {
  size_t count = stow_effects_early_write_count(checker->effects);
  for (size_t i = 0; i < count; ++i) {
    stow_early_write write = stow_effects_early_write(checker->effects, i);
    stow_value value =
        stow_graph_first_result(checker->graph, write.node) + (stow_value)write.result;
    stow_region region = stow_graph_node_region(checker->graph, write.from);
    note_write(&checker->values[value], checker->steps[write.from]);
    note_rounds(checker, value, region);
    // Written from inside a loop that does not hold it: in every round.
    use u = {value, checker->steps[write.from], region, false, false};
    note_write(&checker->values[value], repeated(checker, u).step);
    stow_region body = outermost_loop(checker, region, stowi_check_home(checker, value));
    if (body != STOW_REGION_BODY) {
      note_write(&checker->values[value], checker->entries[body]);
    }
  }
}

static void keep_always(stowi_checker* checker) {
  for (stow_value value = 0; value < checker->value_count; ++value) {
    if (stowi_check_is_kept(checker, value)) {
      checker->values[value].first_write = 0;
      if (checker->values[value].last_read < checker->node_count) {
        checker->values[value].last_read = checker->node_count;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Claims against needs

static stow_status life_fault(stowi_checker* checker, stow_fault fault, stow_value value,
                              uint32_t step, const char* what) {
  uint32_t begin = stow_plan_begin(checker->plan, value);
  uint32_t end = stow_plan_end(checker->plan, value);
  stowi_label label = stowi_label_value(checker, value);
  if (stowi_check_is_kept(checker, value)) {
    return stowi_fault(checker, fault, value, STOW_VALUE_NONE, step,
                       "%s must live over the whole run, [0, %" PRIu32
                       "), and is given steps [%" PRIu32 ", %" PRIu32 ")",
                       label.text, checker->node_count + 1, begin, end);
  }
  return stowi_fault(checker, fault, value, STOW_VALUE_NONE, step,
                     "%s is %s at step %" PRIu32 " by %s, but it lives over steps [%" PRIu32
                     ", %" PRIu32 ")",
                     label.text, what, step, stowi_label_step(checker, step).text, begin, end);
}

static stow_status check_life(stowi_checker* checker, stow_value value) {
  const stowi_check_value* need = &checker->values[value];
  if (stow_plan_begin(checker->plan, value) > need->first_write) {
    return life_fault(checker, STOW_FAULT_BORN_TOO_LATE, value, need->first_write, "written");
  }
  bool read_last = need->last_read >= need->last_write;
  uint32_t last = read_last ? need->last_read : need->last_write;
  if (stow_plan_end(checker->plan, value) <= last) {
    return life_fault(checker, STOW_FAULT_REUSED_TOO_EARLY, value, last,
                      read_last ? "read" : "written");
  }
  return STOW_OK;
}

// A view's life lies inside its root's.
static stow_status check_cover(stowi_checker* checker, stow_value value, stow_value root) {
  uint32_t begin = stow_plan_begin(checker->plan, value);
  uint32_t end = stow_plan_end(checker->plan, value);
  uint32_t root_begin = stow_plan_begin(checker->plan, root);
  uint32_t root_end = stow_plan_end(checker->plan, root);
  if (begin >= root_begin && end <= root_end) {
    return STOW_OK;
  }
  stow_fault fault = begin < root_begin ? STOW_FAULT_BORN_TOO_LATE : STOW_FAULT_REUSED_TOO_EARLY;
  return stowi_fault(checker, fault, root, value, begin < root_begin ? begin : root_end,
                     "%s lives over steps [%" PRIu32 ", %" PRIu32 "), its view %s over [%" PRIu32
                     ", %" PRIu32 ")",
                     stowi_label_value(checker, root).text, root_begin, root_end,
                     stowi_label_value(checker, value).text, begin, end);
}

// Also of values without a slot: whoever binds their bytes from outside goes by their lifetimes.
static stow_status check_lifetimes(stowi_checker* checker) {
  for (stow_value value = 0; value < checker->value_count; ++value) {
    STOW_TRY(check_life(checker, value));
  }
  for (stow_value value = 0; value < checker->value_count; ++value) {
    stow_value root = stow_plan_root(checker->plan, value);
    if (root != value) {
      const stowi_check_value* view = &checker->values[value];
      note_write(&checker->values[root], view->first_write);
      note_write(&checker->values[root], view->last_write);
      if (view->last_read > checker->values[root].last_read) {
        checker->values[root].last_read = view->last_read;
      }
    }
  }
  for (stow_value value = 0; value < checker->value_count; ++value) {
    stow_value root = stow_plan_root(checker->plan, value);
    STOW_TRY(root == value ? check_life(checker, value) : check_cover(checker, value, root));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Reads against later writes into the same root

static int compare_writers(const void* a, const void* b, const void* context) {
  const stowi_check_writer* x = (const stowi_check_writer*)a;
  const stowi_check_writer* y = (const stowi_check_writer*)b;
  (void)context;
  if (x->root != y->root) {
    return x->root < y->root ? -1 : 1;
  }
  if (x->since != y->since) {
    return x->since < y->since ? -1 : 1;
  }
  return x->value < y->value ? -1 : x->value > y->value;
}

// The first writer of |root| after |since|, or of a higher root.
static size_t next_writer(const stowi_checker* checker, stow_value root, uint32_t since) {
  size_t low = 0;
  size_t high = checker->writers.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const stowi_check_writer* writer = &checker->writers.data[middle];
    if (writer->root < root || (writer->root == root && writer->since <= since)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Whether |a| and |b| are in different branches of one if, of which at most one runs.
static bool exclude_each_other(const stowi_checker* checker, stow_region a, stow_region b,
                               stow_region* out_branch_of_b) {
  while (!contains(checker, stow_graph_region_parent(checker->graph, a), b)) {
    a = stow_graph_region_parent(checker->graph, a);
  }
  while (!contains(checker, stow_graph_region_parent(checker->graph, b), a)) {
    b = stow_graph_region_parent(checker->graph, b);
  }
  *out_branch_of_b = b;
  stow_node owner = stow_graph_region_owner(checker->graph, a);
  return a != b && owner == stow_graph_region_owner(checker->graph, b) &&
         stow_graph_op_desc(checker->graph, owner)->region_kind == STOW_REGION_BRANCH;
}

static stow_status stale_read_fault(stowi_checker* checker, const use* u,
                                    const stowi_check_writer* writer) {
  stow_fault fault =
      writer->kind == STOWI_WRITER_OP ? STOW_FAULT_SCHEDULE : STOW_FAULT_REUSED_TOO_EARLY;
  return stowi_fault(checker, fault, u->value, writer->value, u->step,
                     "%s is read at step %" PRIu32
                     " by %s, but %s is written into its bytes at"
                     " step %" PRIu32,
                     stowi_label_value(checker, u->value).text, u->step,
                     stowi_label_step(checker, u->step).text,
                     stowi_label_value(checker, writer->value).text, writer->start);
}

static stow_status check_use(stowi_checker* checker, use u) {
  stow_value root = stow_plan_root(checker->plan, u.value);
  uint32_t busy = u.step + (u.through ? 1 : 0);
  size_t next = next_writer(checker, root, checker->values[u.value].since);
  while (next < checker->writers.count) {
    const stowi_check_writer* writer = &checker->writers.data[next];
    if (writer->root != root || busy < writer->lowest) {
      return STOW_OK;
    }
    stow_region other =
        stow_graph_node_region(checker->graph, stow_graph_producer(checker->graph, writer->value));
    stow_region branch = STOW_REGION_BODY;
    if (busy < writer->until) {
      next += 1;
    } else if (!u.held && u.region != STOW_REGION_BODY && other != STOW_REGION_BODY &&
               exclude_each_other(checker, u.region, other, &branch)) {
      // Neither this one nor any other of that branch counts.
      stow_node last = stow_graph_region_last(checker->graph, branch);
      next = next_writer(checker, root, checker->steps[last] + 1);
    } else {
      return stale_read_fault(checker, &u, writer);
    }
  }
  return STOW_OK;
}

// A write that starts early makes |until| unordered.
static void fill_lowest(stowi_checker* checker) {
  stowi_check_writer* writers = checker->writers.data;
  for (size_t i = checker->writers.count; i-- > 0;) {
    writers[i].lowest = writers[i].until;
    if (i + 1 < checker->writers.count && writers[i + 1].root == writers[i].root &&
        writers[i + 1].lowest < writers[i].lowest) {
      writers[i].lowest = writers[i + 1].lowest;
    }
  }
}

// Two values that one step writes into one root.
static stow_status check_double_writes(stowi_checker* checker) {
  for (size_t i = 1; i < checker->writers.count; ++i) {
    const stowi_check_writer* a = &checker->writers.data[i - 1];
    const stowi_check_writer* b = &checker->writers.data[i];
    if (a->root == b->root && a->since == b->since) {
      return stowi_fault(checker, STOW_FAULT_OVERLAP, a->value, b->value, a->since - 1,
                         "%s and %s are both written into %s at step %" PRIu32,
                         stowi_label_value(checker, a->value).text,
                         stowi_label_value(checker, b->value).text,
                         stowi_label_value(checker, a->root).text, a->since - 1);
    }
  }
  return STOW_OK;
}

static stow_status check_stale_reads(stowi_checker* checker) {
  if (checker->writers.count == 0) {
    return STOW_OK;
  }
  if (stowi_sort(checker->writers.data, checker->writers.count, sizeof(stowi_check_writer),
                 compare_writers, NULL, checker->allocator) != STOW_OK) {
    return stowi_fail_memory(checker->diag);
  }
  STOW_TRY(check_double_writes(checker));
  fill_lowest(checker);
  return visit_uses(checker, check_use);
}

stow_status stowi_check_lives(stowi_checker* checker) {
  for (stow_value value = 0; value < checker->value_count; ++value) {
    checker->values[value].first_write = UINT32_MAX;
  }
  for (stow_node node = 0; node < checker->node_count; ++node) {
    write_results(checker, node);
  }
  write_early(checker);
  STOW_TRY(visit_uses(checker, note_use));
  STOW_TRY(check_stale_reads(checker));
  keep_always(checker);
  return check_lifetimes(checker);
}

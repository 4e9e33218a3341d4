// Why a plan does not fit. From what holds for every order over what holds for this one to what was
// merely not found; the exit code follows what is proven.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graphs/info.h"
#include "plan/job.h"
#include "plan/summary.h"

#define SHOWN 3
#define SCRATCH_TEXT_SIZE 48

// ---------------------------------------------------------------------------------------------
// What every order needs at a node

typedef struct needed {
  stow_value value;
  uint64_t bytes;
} needed;

// Keeps the largest, largest first; a value once.
static void keep_largest(needed list[SHOWN], stow_value value, uint64_t bytes) {
  for (size_t i = 0; i < SHOWN; ++i) {
    if (list[i].value == value) {
      return;
    }
    if (bytes > list[i].bytes) {
      memmove(&list[i + 1], &list[i], (SHOWN - 1 - i) * sizeof *list);
      list[i] = (needed){value, bytes};
      return;
    }
  }
}

static uint64_t scratch_of(const stow_plan* plan, stow_node node) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < stow_plan_scratch_count(plan); ++i) {
    stow_node owner;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(plan, i, &owner, &slot, &alignment);
    bytes += owner == node ? stow_plan_scratch_need(plan, i) : 0;
  }
  return bytes;
}

static void add_needed(const stow_plan* plan, needed list[SHOWN], stow_value value) {
  stow_slot slot;
  if (stow_plan_value_slot(plan, value, &slot)) {
    keep_largest(list, value, slot.size);
  }
}

// Kept over the whole run, whatever the order is.
static bool is_kept(const stow_graph* graph, const stow_plan* plan, stow_value value) {
  return stow_graph_is_boundary(graph, value) && cli_plan_value(plan, value).begin == 0 &&
         cli_plan_value(plan, value).end > stow_plan_step_count(plan);
}

// `%1 "w1" (802816 bytes), …`: what |node| reads and makes, and what is always there; the largest.
static void list_needed(const stow_graph* graph, const stow_plan* plan, stow_node node, char* out,
                        size_t capacity) {
  needed list[SHOWN] = {{STOW_VALUE_NONE, 0}, {STOW_VALUE_NONE, 0}, {STOW_VALUE_NONE, 0}};
  for (size_t i = 0; i < stow_graph_operand_count(graph, node); ++i) {
    add_needed(plan, list, stow_graph_operands(graph, node)[i]);
  }
  for (uint32_t i = 0; i < stow_graph_result_count(graph, node); ++i) {
    add_needed(plan, list, stow_graph_first_result(graph, node) + i);
  }
  for (stow_value value = 0; value < stow_plan_value_count(plan); ++value) {
    if (is_kept(graph, plan, value)) {
      add_needed(plan, list, value);
    }
  }
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < SHOWN && list[i].value != STOW_VALUE_NONE && used < capacity; ++i) {
    char label[CLI_LABEL_SIZE];
    cli_value_label(graph, list[i].value, label);
    int size = snprintf(out + used, capacity - used, "%s%s (%" PRIu64 " bytes)", i == 0 ? "" : ", ",
                        label, list[i].bytes);
    used += size > 0 ? (size_t)size : 0;
  }
}

// `, 78336 of them scratch`, which is no value, and often more than all of them.
static void format_scratch(uint64_t bytes, char out[SCRATCH_TEXT_SIZE]) {
  out[0] = '\0';
  if (bytes > 0) {
    snprintf(out, SCRATCH_TEXT_SIZE, ", %" PRIu64 " of them scratch", bytes);
  }
}

static void tell_no_order(const stow_graph* graph, const stow_plan* plan) {
  stow_ordering ordering = cli_plan_ordering(plan);
  if (ordering.critical == STOW_NODE_NONE) {
    cli_tell_more("no order can fit: the search has ruled out all that need less than %" PRIu64
                  " bytes",
                  ordering.any_bound);
    return;
  }
  char tensors[SHOWN * (CLI_LABEL_SIZE + 32)];
  char scratch[SCRATCH_TEXT_SIZE];
  list_needed(graph, plan, ordering.critical, tensors, sizeof tensors);
  format_scratch(scratch_of(plan, ordering.critical), scratch);
  cli_tell_more("no order can fit: when %s runs (node %" PRIu32 "), %" PRIu64
                " bytes are needed at once%s%s%s",
                stow_graph_op_name(graph, ordering.critical), ordering.critical, ordering.any_bound,
                scratch, tensors[0] == '\0' ? "" : ", the largest: ", tensors);
}

// ---------------------------------------------------------------------------------------------
// This order

static void tell_this_order(const stow_graph* graph, const stow_plan* plan, const stow_fit* fit) {
  uint64_t bound = stow_plan_lower_bound(plan);
  uint64_t proven = cli_plan_search(plan).bound;
  uint64_t load = cli_peak_load(plan);
  if (proven <= fit->available) {
    cli_tell_more("the lower bound is %" PRIu64 ": %s", proven,
                  cli_plan_info(plan).reuse ? "a better placement may fit"
                                            : "a placement that reuses bytes may fit");
  } else if (fit->possible) {
    cli_tell_more("no placement with this sharing is below %" PRIu64
                  ": one with more or less sharing may fit",
                  proven);
  } else if (bound <= fit->available) {
    cli_tell_more("no placement can fit: the search has ruled out all that are below %" PRIu64,
                  proven);
  } else if (load <= fit->available) {
    cli_tell_more(
        "no placement can fit: the lower bound, with padding and fixed offsets, is %" PRIu64,
        bound);
  } else {
    char largest[SHOWN * (CLI_LABEL_SIZE + 32)];
    char scratch[SCRATCH_TEXT_SIZE];
    cli_largest_at_peak(graph, plan, SHOWN, largest, sizeof largest);
    format_scratch(cli_plan_info(plan).peak_scratch, scratch);
    cli_tell_more("no placement can fit: at step %" PRIu32 ", %" PRIu64
                  " bytes are live at once%s, the largest: %s",
                  cli_plan_info(plan).peak_step, load, scratch, largest);
  }
}

// Whether orders are worth a word: this one is ruled out, and another one may not be.
static void tell_other_orders(const stow_plan* plan, const stow_fit* fit) {
  stow_ordering ordering = cli_plan_ordering(plan);
  if (!cli_plan_info(plan).reuse || ordering.any_bound == 0) {
    return;
  }
  if (ordering.searched) {
    cli_tell_more("every order needs at least %" PRIu64
                  " bytes: one not found yet may fit (see --order-nodes)",
                  ordering.any_bound);
  } else if (cli_plan_search(plan).bound > fit->available) {
    cli_tell_more("this is for the given order; every order needs at least %" PRIu64
                  " bytes: --order auto may find one that fits",
                  ordering.any_bound);
  }
}

// ---------------------------------------------------------------------------------------------

static bool is_ruled_out(const stow_plan* plan, const stow_fit* fit) {
  return cli_plan_ordering(plan).any_bound > fit->available;
}

// Without reuse there is only one placement; with it, another one may fit until that is ruled out,
// in this order, or in any where the order is open.
static cli_exit exit_code(const stow_plan* plan, const stow_fit* fit) {
  if (!cli_plan_info(plan).reuse || is_ruled_out(plan, fit)) {
    return CLI_NO;
  }
  bool gave_up = cli_plan_search(plan).outcome == STOW_OUTCOME_GAVE_UP;
  return gave_up || cli_plan_ordering(plan).searched ? CLI_GAVE_UP : CLI_NO;
}

cli_exit cli_fail_capacity(const char* label, const stow_graph* graph, const stow_plan* plan) {
  stow_fit fit = cli_plan_fit(plan);
  char value[CLI_LABEL_SIZE];
  snprintf(value, sizeof value, "%s", fit.value_bytes > 0 ? "scratch" : "a reserved range");
  if (fit.value != STOW_VALUE_NONE) {
    cli_value_label(graph, fit.value, value);
  }
  stow_str name = stow_graph_name(graph);
  cli_exit code = exit_code(plan, &fit);
  cli_fail(code,
           "%s: @%.*s%s: %" PRIu64 " bytes required, %" PRIu64 " available, %" PRIu64 " too many",
           label, (int)name.size, name.data, code == CLI_NO ? " does not fit" : ": gave up",
           fit.required, fit.available, fit.excess);
  cli_tell_more("%s (%" PRIu64 " bytes, step %" PRIu32
                ") reaches above, the largest hole there has %" PRIu64 " bytes",
                value, fit.value_bytes, fit.step, fit.largest_hole);
  if (is_ruled_out(plan, &fit) && cli_plan_info(plan).reuse) {
    tell_no_order(graph, plan);
  } else {
    tell_this_order(graph, plan, &fit);
    tell_other_orders(plan, &fit);
  }
  return code;
}

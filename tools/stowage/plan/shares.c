// Counting decisions. Of several operands that a result could be in place of at most one is
// taken; the others count for nothing then.
#include "plan/shares.h"

#include <inttypes.h>
#include <stdlib.h>

#include "graphs/info.h"
#include "report/api.h"
#include "terminal/lines.h"

static bool is_taken(const stow_decision* decision) {
  return decision->reason == STOW_REASON_TAKEN;
}

// Decisions of one node stand together.
static bool scan_node(const stow_plan* plan, size_t index, bool forward, stow_node node,
                      stow_value result) {
  for (size_t i = index; forward ? i < stow_plan_decision_count(plan) : i > 0;) {
    stow_decision other = cli_plan_decision(plan, forward ? i++ : --i);
    if (other.node != node) {
      return false;
    }
    if (other.result == result && other.share != STOW_SHARE_HOME && is_taken(&other)) {
      return true;
    }
  }
  return false;
}

bool cli_share_is_moot(const stow_plan* plan, size_t index) {
  stow_decision decision = cli_plan_decision(plan, index);
  if (is_taken(&decision) || decision.share == STOW_SHARE_HOME) {
    return false;
  }
  return scan_node(plan, index, true, decision.node, decision.result) ||
         scan_node(plan, index, false, decision.node, decision.result);
}

// Whether an earlier decision says already that the result is not in place: it counts once.
static bool is_repeated(const stow_plan* plan, size_t index) {
  stow_decision decision = cli_plan_decision(plan, index);
  for (size_t i = index; i > 0; --i) {
    stow_decision other = cli_plan_decision(plan, i - 1);
    if (other.node != decision.node) {
      return false;
    }
    if (other.result == decision.result && other.share == decision.share) {
      return true;
    }
  }
  return false;
}

static void add_bytes(uint64_t* sum, uint64_t bytes) {
  *sum = bytes > UINT64_MAX - *sum ? UINT64_MAX : *sum + bytes;
}

static void add(cli_tally* tally, uint64_t bytes) {
  ++tally->count;
  add_bytes(&tally->bytes, bytes);
}

// ---------------------------------------------------------------------------------------------

static void add_buffers(const stow_plan* plan, uint64_t* sum) {
  for (stow_value value = 0; value < stow_plan_value_count(plan); ++value) {
    stow_slot slot;
    if (stow_plan_root(plan, value) == value && stow_plan_value_slot(plan, value, &slot)) {
      add_bytes(sum, slot.size);
    }
  }
  for (size_t i = 0; i < stow_plan_scratch_count(plan); ++i) {
    add_bytes(sum, stow_plan_scratch_need(plan, i));
  }
}

static void add_value(const stow_plan* plan, stow_value value, cli_shares* shares) {
  stow_slot slot;
  stow_plan_value_slot(plan, value, &slot);
  add_bytes(&shares->unshared, slot.size);
  ++shares->values;
}

// Counts the buffer that |value| would be in without copy elision, once: whatever it is a view of,
// or in place of.
static void add_elision(const stow_plan* plan, stow_value value, stow_value* buffer_of,
                        cli_shares* shares) {
  stow_value buffer = buffer_of[value];
  bool counted = buffer == STOW_VALUE_NONE || buffer_of[buffer] == STOW_VALUE_NONE;
  if (!counted && stow_plan_root(plan, buffer) != buffer) {
    add_value(plan, buffer, shares);
    buffer_of[buffer] = STOW_VALUE_NONE;
  }
}

// A value may lie inside several concats, and a concat inside a larger one lies there with its
// operands. |buffer_of| has an entry for each value. Decisions are in order of step,
// so what an operand lies in is known.
static void add_shared(const stow_plan* plan, stow_value* buffer_of, cli_shares* shares) {
  for (stow_value value = 0; value < stow_plan_value_count(plan); ++value) {
    buffer_of[value] = value;
  }
  for (size_t i = 0; i < stow_plan_decision_count(plan); ++i) {
    stow_decision decision = cli_plan_decision(plan, i);
    if (is_taken(&decision) && decision.share != STOW_SHARE_HOME) {
      buffer_of[decision.result] = buffer_of[decision.operand];
    }
    if (is_taken(&decision) && decision.share == STOW_SHARE_IN_PLACE) {
      add_value(plan, decision.result, shares);
    }
  }
  for (size_t i = 0; i < stow_plan_decision_count(plan); ++i) {
    stow_decision decision = cli_plan_decision(plan, i);
    if (is_taken(&decision) && decision.share == STOW_SHARE_HOME) {
      add_elision(plan, decision.operand, buffer_of, shares);
      add_elision(plan, decision.result, buffer_of, shares);
    }
  }
}

bool cli_shares_count(const stow_plan* plan, cli_shares* out_shares) {
  *out_shares = (cli_shares){0};
  stow_value* buffer_of = calloc((size_t)stow_plan_value_count(plan) + 1, sizeof *buffer_of);
  if (buffer_of == NULL) {
    return false;
  }
  for (size_t i = 0; i < stow_plan_decision_count(plan); ++i) {
    stow_decision decision = cli_plan_decision(plan, i);
    bool is_view = decision.share == STOW_SHARE_VIEW;
    if (decision.share == STOW_SHARE_HOME) {
      add(is_taken(&decision) ? &out_shares->elisions : &out_shares->copied, decision.bytes);
    } else if (is_taken(&decision)) {
      add(is_view ? &out_shares->views : &out_shares->in_place, decision.bytes);
    } else if (!cli_share_is_moot(plan, i) && !is_repeated(plan, i)) {
      add(is_view ? &out_shares->moved : &out_shares->not_in_place, decision.bytes);
    }
  }
  add_buffers(plan, &out_shares->unshared);
  add_shared(plan, buffer_of, out_shares);
  free(buffer_of);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Lines

void cli_print_shares(cli_output* output, const cli_shares* shares) {
  if (shares->in_place.count > 0) {
    cli_print(output, "  %-15s %zu result%s in the bytes of %s\n", "in place",
              shares->in_place.count, cli_plural(shares->in_place.count),
              shares->in_place.count == 1 ? "a dead operand" : "dead operands");
  }
  char size[STOWI_REPORT_NUMBER];
  stowi_report_size(shares->copied.bytes, size);
  if (shares->elisions.count > 0) {
    cli_print(output, "  %-15s %zu operand%s of concat built in its result", "without copies",
              shares->elisions.count, cli_plural(shares->elisions.count));
    if (shares->copied.count > 0) {
      cli_print(output, ", %zu copied (%s)", shares->copied.count, size);
    }
    cli_print(output, "\n");
  } else if (shares->copied.count > 0) {
    cli_print(output, "  %-15s %zu operand%s of concat (%s)\n", "copies", shares->copied.count,
              cli_plural(shares->copied.count), size);
  }
}

// A gap is what a search has left open. Where none was made, nobody knows whether an order comes
// near the bound.
void cli_print_any_order(cli_output* output, const stow_plan* plan, cli_order_kind kind) {
  uint64_t bound = cli_plan_ordering(plan).any_bound;
  uint64_t arena = stow_plan_arena_size(plan);
  if (bound == 0 || !cli_plan_info(plan).reuse) {
    return;
  }
  cli_print_size(output, "any-order bound", bound);
  if (kind == CLI_ORDER_AUTO || bound >= arena) {
    cli_print_gap(output, arena, bound);
  } else {
    cli_print(output, "   not searched; try --order auto\n");
  }
}

// What the search for another order came to.
static void print_search(cli_output* output, const stow_plan* plan) {
  stow_ordering ordering = cli_plan_ordering(plan);
  char size[STOWI_REPORT_NUMBER];
  if (ordering.changed) {
    stowi_report_size(ordering.given_arena, size);
    cli_print(output, "changed: the given one needs %s\n", size);
  } else if (ordering.other_arena != 0 && ordering.other_arena < ordering.given_arena) {
    stowi_report_size(ordering.given_arena - ordering.other_arena, size);
    cli_print(output, "given: another one saves %s, within the margin\n", size);
  } else if (ordering.any_bound != 0 && ordering.any_bound >= ordering.given_arena) {
    cli_print(output, "given: none needs less\n");
  } else {
    cli_print(output, ordering.searched ? "given: none that needs less was found\n"
                                        : "given: no other one was searched for\n");
  }
}

void cli_print_order(cli_output* output, const stow_plan* plan, cli_order_kind kind) {
  if (!cli_plan_info(plan).reuse) {
    return;
  }
  cli_print(output, "  %-15s ", "order");
  if (kind == CLI_ORDER_AUTO) {
    print_search(output, plan);
  } else {
    cli_print(output, kind == CLI_ORDER_FILE ? "as the file says\n" : "given\n");
  }
}

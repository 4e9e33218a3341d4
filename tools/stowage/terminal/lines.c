// Lines of summaries. Every line fits in 80 columns as long as its numbers are below a hundred
// terabytes.
#include "terminal/lines.h"

#include <inttypes.h>

#include "report/api.h"

const char* cli_paint_start(const cli_output* output, cli_paint paint) {
  static const char* const codes[] = {"", "\x1B[1m", "\x1B[32m", "\x1B[31m"};
  return output->colours ? codes[paint] : "";
}

const char* cli_paint_stop(const cli_output* output) { return output->colours ? "\x1B[0m" : ""; }

const char* cli_plural(uint64_t count) { return count == 1 ? "" : "s"; }

void cli_print_size(cli_output* output, const char* what, uint64_t bytes) {
  char size[STOWI_REPORT_NUMBER];
  stowi_report_size(bytes, size);
  cli_print(output, "  %-15s %14" PRIu64 " B  %9s", what, bytes, size);
}

void cli_print_share(cli_output* output, const char* what, uint64_t bytes, uint64_t whole) {
  char percent[STOWI_REPORT_NUMBER];
  stowi_report_percent(bytes, whole, percent);
  cli_print(output, "   %s %" PRIu64 " B (%s)\n", what, bytes, percent);
}

void cli_print_gap(cli_output* output, uint64_t height, uint64_t bound) {
  char percent[STOWI_REPORT_NUMBER];
  uint64_t gap = height > bound ? height - bound : 0;
  stowi_report_gap(gap, bound, percent);
  cli_print(output, "   gap %" PRIu64 " B (%s)\n", gap, percent);
}

void cli_print_capacity(cli_output* output, uint64_t capacity, uint64_t height) {
  cli_print_size(output, "capacity", capacity);
  if (height <= capacity) {
    cli_print(output, "   %sfits%s, %" PRIu64 " B to spare\n", cli_paint_start(output, CLI_GOOD),
              cli_paint_stop(output), capacity - height);
  } else {
    cli_print(output, "   %sexceeded%s by %" PRIu64 " B\n", cli_paint_start(output, CLI_BAD),
              cli_paint_stop(output), height - capacity);
  }
}

static const char* meaning(const cli_search_facts* facts) {
  switch (facts->outcome) {
    case STOW_OUTCOME_OPTIMAL: return "no placement is lower";
    case STOW_OUTCOME_FEASIBLE:
      return facts->has_capacity ? "within the capacity; a lower one may exist"
                                 : "a lower placement may exist";
    case STOW_OUTCOME_INFEASIBLE: return "no placement is within the capacity";
    case STOW_OUTCOME_GAVE_UP: break;
  }
  return "none within the capacity was found or ruled out";
}

void cli_print_outcome(cli_output* output, const cli_search_facts* facts) {
  bool good = facts->outcome == STOW_OUTCOME_OPTIMAL || facts->outcome == STOW_OUTCOME_FEASIBLE;
  cli_print(output, "  %-15s %s%s%s: %s\n", "outcome",
            cli_paint_start(output, good ? CLI_GOOD : CLI_BAD), stow_outcome_text(facts->outcome),
            cli_paint_stop(output), meaning(facts));
}

// A fit is an answer, even where it is not the lowest.
static bool is_answered(const cli_search_facts* facts) {
  return facts->outcome == STOW_OUTCOME_OPTIMAL || facts->outcome == STOW_OUTCOME_INFEASIBLE ||
         (facts->outcome == STOW_OUTCOME_FEASIBLE && facts->has_capacity);
}

bool cli_is_budget_spent(const cli_search_facts* facts) {
  return !is_answered(facts) && facts->stopped_by == NULL && facts->nodes >= facts->budget;
}

void cli_print_search(cli_output* output, const cli_search_facts* facts) {
  cli_print(output, "  %-15s %" PRIu64 " node%s", "search", facts->nodes, cli_plural(facts->nodes));
  if (facts->stopped_by != NULL) {
    cli_print(output, ", stopped by %s", facts->stopped_by);
  } else if (cli_is_budget_spent(facts)) {
    cli_print(output, ": the budget is spent");
  }
  cli_print(output, "\n");
}

// Explaining a plan. Who wants a smaller arena asks, in this order: what is there to be shared;
// which sharing that was refused would lower the peak; does the order matter; and then, case by
// case, what was shared and what stood in the way. So refusals are grouped by their reason, the
// reason that costs most first, and within it the largest tensors first.
//
// A refusal is left out where the result found a place in other bytes: nothing was lost. Rows are
// found by going over the decisions once for each, which costs less than keeping them sorted:
// there are a few dozen rows at most.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graphs/info.h"
#include "plan/shares.h"
#include "plan/summary.h"
#include "report/api.h"
#include "terminal/lines.h"
#include "terminal/table.h"
#include "terminal/text.h"

#define FEW_ROWS 12  // of a list that is cut
#define ALL_ROWS 32  // of one that is not
#define PEAK_ITEMS 5

typedef struct explainer {
  const cli_summary* summary;
  const stow_graph* graph;
  const stow_plan* plan;
  cli_output* output;
} explainer;

// Decisions of one kind and reason.
typedef struct group {
  stow_share share;
  stow_reason reason;
  cli_tally tally;
} group;

// ---------------------------------------------------------------------------------------------
// Words

// What is said of a kind: a heading where it was taken, one where not, and the columns' titles.
typedef struct share_words {
  const char* taken;
  const char* refused;
  const char* value;   // the one that needs no bytes of its own, or would not
  const char* holder;  // the one in whose bytes it lies
  const char* not_holder;
} share_words;

static const share_words words_of[STOW_SHARE_COUNT] = {
    {"in place", "not in place", "result", "operand", "operand"},
    {"built inside the result of concat", "copied by concat", "operand", "in", "copied into"},
    {"views", "copied, not a view", "result", "of", "copy of"},
};

// The title of the column with the other party; NULL where the reason has none.
static const char* other_title(stow_reason reason) {
  switch (reason) {
    case STOW_REASON_READ_LATER: return "read by";
    case STOW_REASON_SHARED: return "read as";
    case STOW_REASON_GIVEN_AWAY: return "went to";
    case STOW_REASON_ALREADY_VIEW: return "is in";
    case STOW_REASON_OTHER_HOME: return "built in";
    case STOW_REASON_LARGER_ROOT: return "part of";
    default: return NULL;
  }
}

static bool ends_with(stow_str text, const char* end) {
  size_t size = strlen(end);
  return text.size >= size && memcmp(text.data + text.size - size, end, size) == 0;
}

// A reason as a heading: `the operand's bytes are read later`, without the other party, which has a
// column of its own.
static void format_reason(stow_reason reason, char* out, size_t capacity) {
  stow_str text = stow_str_of(stow_reason_text(reason));
  const char* first = "";
  const char* rest = "";
  if (cli_starts_with(text, "its ")) {
    first = "the operand's";
    text = (stow_str){text.data + 3, text.size - 3};
  } else if (cli_starts_with(text, "it ")) {
    first = "the operand";
    text = (stow_str){text.data + 2, text.size - 2};
  }
  if (ends_with(text, ", by")) {
    text.size -= 4;
  } else if (ends_with(text, ":")) {
    text.size -= 1;
  } else if (ends_with(text, " of")) {
    rest = " another value";
  }
  snprintf(out, capacity, "%s%.*s%s", first, (int)text.size, text.data, rest);
}

// ---------------------------------------------------------------------------------------------
// Names

// Most models' tensors are called by names that say what made them; in a text, or where names are
// numbers, the op does.
static void name_result(const explainer* e, stow_value value, char out[CLI_CELL_SIZE]) {
  char label[CLI_LABEL_SIZE];
  cli_summary_name(e->summary, value, label);
  bool is_number = label[0] >= '0' && label[0] <= '9';
  if (e->summary->model != NULL && !is_number) {
    snprintf(out, CLI_CELL_SIZE - 2, "%s", label);
  } else {
    const char* op = stow_graph_op_desc(e->graph, stow_graph_producer(e->graph, value))->name;
    snprintf(out, CLI_CELL_SIZE - 2, "%s %s", op, label);
  }
}

// Leaves out the folders that |name| has in common with |beside|: `…/Add_output_0`.
static void shorten(char* name, const char* beside) {
  size_t common = 0;
  for (size_t i = 0; name[i] != '\0' && name[i] == beside[i]; ++i) {
    common = name[i] == '/' ? i : common;
  }
  if (common > 4) {
    memcpy(name, "\xE2\x80\xA6", 3);
    memmove(name + 3, name + common, strlen(name + common) + 1);
  }
}

static void name_beside(const explainer* e, stow_value value, stow_value beside,
                        char out[CLI_CELL_SIZE]) {
  char label[CLI_LABEL_SIZE];
  cli_summary_name(e->summary, value, label);
  if (e->summary->model != NULL) {
    char other[CLI_LABEL_SIZE];
    cli_summary_name(e->summary, beside, other);
    shorten(label, other);
  }
  snprintf(out, CLI_CELL_SIZE - 2, "%s", label);
}

// The other party of a refusal; empty where there is none.
static void name_other(const explainer* e, const stow_decision* decision, char out[CLI_CELL_SIZE]) {
  stow_node node = decision->other_node;
  out[0] = '\0';
  if (decision->other_value != STOW_VALUE_NONE) {
    name_beside(e, decision->other_value, decision->result, out);
  } else if (node != STOW_NODE_NONE && stow_graph_result_count(e->graph, node) == 0) {
    snprintf(out, CLI_CELL_SIZE - 2, "%s", stow_graph_op_desc(e->graph, node)->name);
  } else if (node != STOW_NODE_NONE) {
    char beside[CLI_LABEL_SIZE];
    cli_summary_name(e->summary, decision->result, beside);
    name_result(e, stow_graph_first_result(e->graph, node), out);
    shorten(out, beside);
  }
}

// For copy elision the operand needs no bytes of its own, else the result.
static stow_value value_of(const stow_decision* decision) {
  return decision->share == STOW_SHARE_HOME ? decision->operand : decision->result;
}

static stow_value holder_of(const stow_decision* decision) {
  return decision->share == STOW_SHARE_HOME ? decision->result : decision->operand;
}

// ---------------------------------------------------------------------------------------------
// Lists

// Whether decision |index| is one of those that are listed.
typedef bool (*choose)(const explainer* e, const group* g, size_t index);

static bool belongs(const explainer* e, const group* g, size_t index) {
  stow_decision decision = cli_plan_decision(e->plan, index);
  return decision.share == g->share && decision.reason == g->reason &&
         !cli_share_is_moot(e->plan, index);
}

// The first that is chosen at |from| or later. The count of decisions where there is none.
static size_t find_row(const explainer* e, choose is_chosen, const group* g, size_t from) {
  size_t count = stow_plan_decision_count(e->plan);
  while (from < count && !is_chosen(e, g, from)) {
    ++from;
  }
  return from;
}

// The largest after |index|, of equal ones as decided; the largest of all where |index| is the
// count of decisions, which is returned where there is none.
static size_t find_largest(const explainer* e, choose is_chosen, const group* g, size_t index) {
  size_t count = stow_plan_decision_count(e->plan);
  bool is_first = index == count;
  uint64_t most = is_first ? UINT64_MAX : cli_plan_decision(e->plan, index).bytes;
  size_t best = count;
  for (size_t i = find_row(e, is_chosen, g, 0); i < count; i = find_row(e, is_chosen, g, i + 1)) {
    uint64_t bytes = cli_plan_decision(e->plan, i).bytes;
    bool is_after = is_first || bytes < most || (bytes == most && i > index);
    if (is_after && (best == count || bytes > cli_plan_decision(e->plan, best).bytes)) {
      best = i;
    }
  }
  return best;
}

enum { COL_STEP, COL_VALUE, COL_HOLDER, COL_OTHER, COL_SIZE, COL_COUNT };

static uint32_t step_of(const explainer* e, stow_node node) {
  const stow_node* order = stow_plan_order(e->plan);
  uint32_t step = 0;
  while (step < stow_plan_step_count(e->plan) && order[step] != node) {
    ++step;
  }
  return step;
}

static void print_group(const explainer* e, const group* g) {
  const share_words* words = &words_of[g->share];
  bool taken = g->reason == STOW_REASON_TAKEN;
  cli_column columns[COL_COUNT] = {{"step", true, CLI_FIXED},
                                   {words->value, false, CLI_PATHS},
                                   {taken ? words->holder : words->not_holder, false, CLI_PATHS},
                                   {other_title(g->reason), false, CLI_PATHS},
                                   {"bytes", true, CLI_FIXED}};
  bool cut = g->tally.count > ALL_ROWS;
  size_t rows = cut ? FEW_ROWS : g->tally.count;
  size_t none = stow_plan_decision_count(e->plan);
  cli_table table = {.columns = columns, .column_count = COL_COUNT};
  size_t at = none;
  while (table.row_count < rows) {
    at = cut ? find_largest(e, belongs, g, at)
             : find_row(e, belongs, g, table.row_count == 0 ? 0 : at + 1);
    char(*row)[CLI_CELL_SIZE] = table.cells[table.row_count++];
    stow_decision decision = cli_plan_decision(e->plan, at);
    snprintf(row[COL_STEP], CLI_CELL_SIZE, "%" PRIu32, step_of(e, decision.node));
    name_result(e, value_of(&decision), row[COL_VALUE]);
    name_beside(e, holder_of(&decision), value_of(&decision), row[COL_HOLDER]);
    name_other(e, &decision, row[COL_OTHER]);
    stowi_report_size(decision.bytes, row[COL_SIZE]);
  }
  cli_table_print(&table, 2, e->output);
  if (cut) {
    cli_print(e->output, "  \xE2\x80\xA6 and %zu more; --format json lists all\n",
              g->tally.count - rows);
  }
}

// `not in place (12, 3.40 MiB): the operand's bytes are read later`
static void print_heading(const explainer* e, const group* g) {
  const share_words* words = &words_of[g->share];
  bool taken = g->reason == STOW_REASON_TAKEN;
  char reason[96];
  char size[STOWI_REPORT_NUMBER];
  format_reason(g->reason, reason, sizeof reason);
  stowi_report_size(g->tally.bytes, size);
  cli_print(e->output, "\n%s%s%s (%zu, %s)%s%s\n", cli_paint_start(e->output, CLI_BOLD),
            taken ? words->taken : words->refused, cli_paint_stop(e->output), g->tally.count, size,
            taken ? "" : ": ", taken ? "" : reason);
}

static group measure(const explainer* e, stow_share share, stow_reason reason) {
  group g = {share, reason, {0, 0}};
  for (size_t i = 0; i < stow_plan_decision_count(e->plan); ++i) {
    if (belongs(e, &g, i)) {
      ++g.tally.count;
      g.tally.bytes += cli_plan_decision(e->plan, i).bytes;
    }
  }
  return g;
}

// Refusals of one kind, the reason that costs most first.
static void print_refused(const explainer* e, stow_share share) {
  group groups[STOW_REASON_COUNT];
  for (size_t i = 0; i < STOW_REASON_COUNT; ++i) {
    groups[i] = measure(e, share, (stow_reason)i);
  }
  groups[STOW_REASON_TAKEN].tally.count = 0;
  for (;;) {
    group* most = NULL;
    for (size_t i = 0; i < STOW_REASON_COUNT; ++i) {
      if (groups[i].tally.count > 0 &&
          (most == NULL || groups[i].tally.bytes > most->tally.bytes)) {
        most = &groups[i];
      }
    }
    if (most == NULL) {
      return;
    }
    print_heading(e, most);
    print_group(e, most);
    most->tally.count = 0;
  }
}

static void print_taken(const explainer* e, stow_share share) {
  group g = measure(e, share, STOW_REASON_TAKEN);
  if (g.tally.count > 0) {
    print_heading(e, &g);
    print_group(e, &g);
  }
}

// ---------------------------------------------------------------------------------------------
// The peak

static bool is_at_peak(const explainer* e, stow_value value) {
  stow_value root = stow_plan_root(e->plan, value);
  return stow_plan_occupied_slot(e->plan, root, cli_plan_info(e->plan).peak_step).size > 0;
}

// Whether the peak would be lower if this had been shared.
static bool weighs_at_peak(const explainer* e, const group* g, size_t index) {
  stow_decision decision = cli_plan_decision(e->plan, index);
  (void)g;
  return decision.reason != STOW_REASON_TAKEN && is_at_peak(e, decision.result) &&
         is_at_peak(e, decision.operand) && !cli_share_is_moot(e->plan, index);
}

// Two lines: `  mul %24 is not written over %21 "gate" (1.38 MiB):`, and why.
static void print_refusal(const explainer* e, size_t index) {
  static const char* const verbs[STOW_SHARE_COUNT] = {"is not in place of", "is copied into",
                                                      "is a copy of"};
  stow_decision decision = cli_plan_decision(e->plan, index);
  char value[CLI_CELL_SIZE];
  char holder[CLI_CELL_SIZE];
  char other[CLI_CELL_SIZE];
  char size[STOWI_REPORT_NUMBER];
  name_result(e, value_of(&decision), value);
  name_beside(e, holder_of(&decision), value_of(&decision), holder);
  name_other(e, &decision, other);
  stowi_report_size(decision.bytes, size);
  const char* verb = verbs[decision.share];
  size_t used = strlen("    (): ") + strlen(verb) + strlen(size);
  size_t room = e->output->width > used ? e->output->width - used : 2;
  stowi_report_cut_inside(value, room / 2);
  stowi_report_cut_inside(holder, room - stowi_report_width(value));
  stowi_report_cut_inside(other, e->output->width > 50 ? e->output->width - 40 : 10);
  cli_print(e->output, "  %s %s %s (%s):\n    %s%s%s\n", value, verb, holder, size,
            stow_reason_text(decision.reason), other[0] == '\0' ? "" : " ", other);
}

static void print_peak(const explainer* e) {
  size_t none = stow_plan_decision_count(e->plan);
  size_t found = 0;
  for (size_t i = find_row(e, weighs_at_peak, NULL, 0); i != none;
       i = find_row(e, weighs_at_peak, NULL, i + 1)) {
    ++found;
  }
  cli_print(e->output, "\n%sat the peak%s, %s\n", cli_paint_start(e->output, CLI_BOLD),
            cli_paint_stop(e->output),
            found == 0 ? "no sharing that an op allows was refused" : "these hold bytes twice:");
  size_t at = none;
  for (size_t i = 0; i < found && i < PEAK_ITEMS; ++i) {
    at = find_largest(e, weighs_at_peak, NULL, at);
    print_refusal(e, at);
  }
  if (found > PEAK_ITEMS) {
    cli_print(e->output, "  \xE2\x80\xA6 and %zu more\n", found - PEAK_ITEMS);
  }
}

// ---------------------------------------------------------------------------------------------
// Counts

enum { SUM_KIND, SUM_TAKEN, SUM_BYTES, SUM_NOT, SUM_NOT_BYTES, SUM_COUNT };
static const cli_column sum_columns[SUM_COUNT] = {{"", false, CLI_FIXED},
                                                  {"shared", true, CLI_FIXED},
                                                  {"bytes", true, CLI_FIXED},
                                                  {"not", true, CLI_FIXED},
                                                  {"bytes", true, CLI_FIXED}};

static void add_sum(const char* kind, const cli_tally* taken, const cli_tally* refused,
                    cli_table* table) {
  char(*row)[CLI_CELL_SIZE] = table->cells[table->row_count++];
  snprintf(row[SUM_KIND], CLI_CELL_SIZE, "%s", kind);
  snprintf(row[SUM_TAKEN], CLI_CELL_SIZE, "%zu", taken->count);
  stowi_report_size(taken->bytes, row[SUM_BYTES]);
  snprintf(row[SUM_NOT], CLI_CELL_SIZE, "%zu", refused->count);
  stowi_report_size(refused->bytes, row[SUM_NOT_BYTES]);
}

static void print_counts(const explainer* e) {
  const cli_shares* shares = &e->summary->shares;
  cli_table table = {.columns = sum_columns, .column_count = SUM_COUNT};
  add_sum("results in place", &shares->in_place, &shares->not_in_place, &table);
  add_sum("concat operands not copied", &shares->elisions, &shares->copied, &table);
  add_sum("views", &shares->views, &shares->moved, &table);
  cli_print(e->output, "\n%ssharing%s\n", cli_paint_start(e->output, CLI_BOLD),
            cli_paint_stop(e->output));
  cli_table_print(&table, 2, e->output);
  char size[STOWI_REPORT_NUMBER];
  size_t copies = shares->copied.count + shares->moved.count;
  stowi_report_size(shares->copied.bytes + shares->moved.bytes, size);
  cli_print(e->output, "  copies left: %zu, %s\n", copies, size);
}

// ---------------------------------------------------------------------------------------------
// Order

// `   at conv /model/conv_output_0`
static void print_critical(const explainer* e, stow_node node) {
  if (node == STOW_NODE_NONE) {
    cli_print(e->output, "   by search\n");
    return;
  }
  const char* op = stow_graph_op_desc(e->graph, node)->name;
  char name[CLI_LABEL_SIZE] = "";
  if (stow_graph_result_count(e->graph, node) > 0) {
    cli_summary_name(e->summary, stow_graph_first_result(e->graph, node), name);
  }
  size_t used = strlen("  any-order bound 12345678901234 B  123 MiB     at  ") + strlen(op);
  stowi_report_cut_inside(name, e->output->width > used + 8 ? e->output->width - used : 8);
  cli_print(e->output, "   at %s%s%s\n", op, name[0] == '\0' ? "" : " ", name);
}

static void print_orders(const explainer* e) {
  stow_ordering ordering = cli_plan_ordering(e->plan);
  uint64_t other = ordering.changed ? ordering.given_arena : ordering.other_arena;
  cli_print(e->output, "\n%sorder%s\n", cli_paint_start(e->output, CLI_BOLD),
            cli_paint_stop(e->output));
  cli_print_size(e->output, ordering.changed ? "new order" : "given order",
                 stow_plan_arena_size(e->plan));
  cli_print(e->output, "   bound %" PRIu64 " B\n", cli_plan_search(e->plan).bound);
  if (other != 0) {
    cli_print_size(e->output, ordering.changed ? "given order" : "other order", other);
    cli_print(e->output, ordering.changed ? "\n" : "   the best other one\n");
  }
  if (ordering.any_bound != 0) {
    cli_print_size(e->output, "any-order bound", ordering.any_bound);
    print_critical(e, ordering.critical);
  }
  if (ordering.searched) {
    cli_print(e->output, "  %-15s %" PRIu64 " node%s\n", "search", ordering.nodes,
              cli_plural(ordering.nodes));
  }
}

// ---------------------------------------------------------------------------------------------

// What each rule did, the first of many.
static void print_rewritten(const explainer* e) {
  const stow_rewritten* rewritten = e->summary->rewritten;
  size_t total = 0;
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    total += stow_rewritten_count(rewritten, (stow_rewrite_rule)i);
  }
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    stow_rewrite_rule rule = (stow_rewrite_rule)i;
    size_t count = stow_rewritten_count(rewritten, rule);
    size_t shown = 0;
    if (count > 0) {
      cli_print(e->output, "\n%srewritten%s by %s: %zu\n", cli_paint_start(e->output, CLI_BOLD),
                cli_paint_stop(e->output), stow_rewrite_rule_name(rule), count);
    }
    for (size_t k = 0; k < total && shown < FEW_ROWS; ++k) {
      stow_rewrite_firing firing = stow_rewritten_firing(rewritten, k);
      if (firing.rule == rule) {
        char nodes[CLI_CELL_SIZE];
        stowi_report_escape(firing.nodes, nodes, sizeof nodes);
        stowi_report_cut(nodes, e->output->width > 2 ? e->output->width - 2 : 1);
        cli_print(e->output, "  %s\n", nodes);
        ++shown;
      }
    }
    if (count > shown) {
      cli_print(e->output, "  \xE2\x80\xA6 and %zu more\n", count - shown);
    }
  }
}

void cli_explain_print(const cli_summary* summary, cli_output* output) {
  explainer e = {summary, summary->graph, summary->plan, output};
  if (summary->rewritten != NULL) {
    print_rewritten(&e);
  }
  print_counts(&e);
  print_orders(&e);
  print_peak(&e);
  print_taken(&e, STOW_SHARE_IN_PLACE);
  print_taken(&e, STOW_SHARE_HOME);
  print_refused(&e, STOW_SHARE_IN_PLACE);
  print_refused(&e, STOW_SHARE_HOME);
  print_refused(&e, STOW_SHARE_VIEW);
}

// The summary. First how large the arena is and how good that is, then why: what lives at the peak,
// largest first, is what must shrink, die earlier or leave before the arena can.
#include "plan/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graphs/info.h"
#include "plan/start.h"
#include "report/api.h"
#include "tensors/array.h"
#include "terminal/lines.h"
#include "terminal/table.h"

#define PEAK_ROWS 10
#define HINT_SIZE 1024

static void print_title(const cli_summary* summary, cli_output* output) {
  char name[256];
  char label[512];
  stowi_report_escape(stow_graph_name(summary->graph), name, sizeof name);
  stowi_report_escape(stow_str_of(summary->label), label, sizeof label);
  cli_print(output, "%s@%s%s in %s\n", cli_paint_start(output, CLI_BOLD), name,
            cli_paint_stop(output), label);
}

// Branches that were chosen because the other does not fit: a plan for one kind of input only.
static void print_branches(const cli_model* model, cli_output* output) {
  for (size_t i = 0; i < stow_import_issue_count(model->import); ++i) {
    stow_import_issue issue = *stow_import_issue_at(model->import, i);
    if (issue.kind == STOW_IMPORT_BRANCH) {
      char name[256];
      char reason[256];
      stowi_report_escape(issue.node, name, sizeof name);
      stowi_report_escape(issue.reason, reason, sizeof reason);
      cli_print(output, "  If \"%s\": %s\n", name, reason);
    }
  }
}

static void print_model(const cli_summary* summary, cli_output* output) {
  const cli_model* model = summary->model;
  cli_model_print_facts(model, output);
  cli_model_print_symbols(model, summary->graph, output);
  size_t bounded = cli_model_count_issues(model, STOW_IMPORT_BOUNDED);
  size_t custom = cli_model_count_issues(model, STOW_IMPORT_CUSTOM);
  if (bounded > 0) {
    cli_print(output, "  %-15s %zu tensor%s with data-dependent shapes, at the largest\n",
              "bounded", bounded, cli_plural(bounded));
  }
  if (custom > 0) {
    cli_print(output, "  %-15s %zu node%s of unknown ops, as the file declares their types\n",
              "custom", custom, cli_plural(custom));
  }
  print_branches(model, output);
}

typedef struct value_counts {
  uint32_t buffers;
  uint32_t views;
  uint32_t shared;   // in place, or copies elided
  uint32_t weights;  // without a slot
  uint32_t bare;     // other values without a slot
} value_counts;

static bool is_weight(const stow_graph* graph, stow_value value) {
  stow_op op = stow_graph_op(graph, stow_graph_producer(graph, value));
  return op == STOW_OP_PARAM || op == STOW_OP_CONSTANT;
}

static value_counts count_values(const cli_summary* summary) {
  value_counts counts = {0};
  for (stow_value value = 0; value < stow_plan_value_count(summary->plan); ++value) {
    stow_slot slot;
    if (stow_plan_root(summary->plan, value) != value) {
      ++counts.views;
    } else if (stow_plan_value_slot(summary->plan, value, &slot)) {
      ++counts.buffers;
    } else if (is_weight(summary->graph, value)) {
      ++counts.weights;
    } else {
      ++counts.bare;
    }
  }
  counts.shared = (uint32_t)summary->shares.values;
  counts.views -= counts.shared < counts.views ? counts.shared : counts.views;
  return counts;
}

static void print_graph_counts(const cli_summary* summary, cli_output* output) {
  value_counts counts = count_values(summary);
  uint32_t nodes = stow_graph_node_count(summary->graph);
  uint32_t values = stow_plan_value_count(summary->plan);
  uint32_t bare = counts.weights + counts.bare;
  cli_print(output,
            "  %" PRIu32 " node%s, %" PRIu32 " value%s: %" PRIu32 " buffer%s, %" PRIu32 " view%s",
            nodes, cli_plural(nodes), values, cli_plural(values), counts.buffers,
            cli_plural(counts.buffers), counts.views, cli_plural(counts.views));
  if (counts.shared > 0) {
    cli_print(output, ", %" PRIu32 " shared", counts.shared);
  }
  if (bare > 0) {
    cli_print(output, ", %" PRIu32 " without a slot", bare);
  }
  cli_print(output, "\n\n");
}

// Outputs that lie in an input's bytes: caches that stay where they are.
static size_t count_in_place(const cli_summary* summary) {
  const stow_graph* graph = summary->graph;
  size_t count = 0;
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    stow_value output = stow_graph_outputs(graph)[i];
    stow_value root = stow_plan_root(summary->plan, output);
    count +=
        root != output && stow_graph_op(graph, stow_graph_producer(graph, root)) == STOW_OP_INPUT;
  }
  return count;
}

// What becomes of a model's tensors. Its nodes have been counted: here it is what the plan runs.
static void print_model_counts(const cli_summary* summary, cli_output* output) {
  value_counts counts = count_values(summary);
  cli_print(output, "  %-15s %" PRIu32 " buffer%s, %" PRIu32 " view%s", "planned", counts.buffers,
            cli_plural(counts.buffers), counts.views, cli_plural(counts.views));
  if (counts.shared > 0) {
    cli_print(output, ", %" PRIu32 " shared", counts.shared);
  }
  if (counts.weights > 0) {
    cli_print(output, ", %" PRIu32 " weight%s", counts.weights, cli_plural(counts.weights));
  }
  if (counts.bare > 0) {
    cli_print(output, ", %" PRIu32 " other%s", counts.bare, cli_plural(counts.bare));
  }
  cli_print(output, counts.weights + counts.bare > 0 ? " outside" : "");
  size_t in_place = count_in_place(summary);
  if (in_place > 0) {
    cli_print(output, "\n  %-15s %zu output%s in the bytes of inputs", "kept in place", in_place,
              cli_plural(in_place));
  }
  cli_print(output, "\n\n");
}

// How the search went is of interest only where it may have left something. Without reuse nothing
// was searched for.
static void print_search(const cli_summary* summary, cli_output* output) {
  const stow_plan* plan = summary->plan;
  stow_search search = cli_plan_search(plan);
  stow_str strategy = cli_plan_info(plan).strategy_name;
  bool reuse = cli_plan_info(plan).reuse;
  cli_search_facts facts = {.outcome = search.outcome,
                            .has_capacity = summary->capacity,
                            .nodes = search.nodes,
                            .budget = summary->budget,
                            .stopped_by = search.stopped ? summary->stopped_by : NULL};
  if (reuse) {
    cli_print_outcome(output, &facts);
  }
  cli_print(output, "  %-15s %.*s%s\n", "strategy", (int)strategy.size, strategy.data,
            reuse ? "" : ", no bytes reused");
  if (reuse && search.outcome != STOW_OUTCOME_OPTIMAL && (search.nodes > 0 || search.stopped)) {
    cli_print_search(output, &facts);
  }
}

// Scratch raises the arena only where it is needed at the peak: elsewhere bytes are free.
static void print_kernels(const stow_plan* plan, cli_output* output) {
  uint32_t threads = cli_plan_info(plan).threads;
  if (threads != 0) {
    char scratch[CLI_CELL_SIZE] = "no";
    uint64_t bytes = cli_plan_info(plan).peak_scratch;
    if (bytes != 0) {
      snprintf(scratch, sizeof scratch, "%" PRIu64 " B of", bytes);
    }
    cli_print(output, "  %-15s %s, %" PRIu32 " thread%s; %s scratch at the peak\n", "kernels",
              cli_plan_info(plan).fastest ? "fastest" : "stowage", threads, threads == 1 ? "" : "s",
              scratch);
  }
}

// Weights that the graph has in common with the forward plan, and those that only the latter has,
// whose bytes are kept free. Other values may lie between them.
static void print_layout(const cli_summary* summary, cli_output* output) {
  const stow_graph* graph = summary->graph;
  size_t shared = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < stow_weight_layout_count(summary->layout); ++i) {
    stow_weight weight = cli_layout_weight(summary->layout, i);
    stow_value value = stow_graph_find(graph, weight.name);
    stow_slot slot;
    if (value != STOW_VALUE_NONE &&
        stow_graph_op(graph, stow_graph_producer(graph, value)) == STOW_OP_PARAM &&
        stow_plan_value_slot(summary->plan, value, &slot)) {
      ++shared;
      bytes += slot.size;
    }
  }
  size_t others = stow_weight_layout_count(summary->layout) - shared;
  cli_print_size(output, "weights", bytes);
  cli_print(output, "   %zu shared with the forward plan", shared);
  cli_print(output, others == 0 ? "\n" : ", %zu only in that one\n", others);
}

void cli_summary_print_packed(const stow_plan* plan, cli_output* output) {
  uint64_t bytes = cli_plan_info(plan).packed_bytes;
  if (bytes != 0) {
    cli_print_size(output, "packed", bytes);
    cli_print(output, "   RAM in a run, const in an export\n");
  }
}

#define LABEL_WIDTH 18  // where values of lines begin
#define LINE_WIDTH 80

// Prints |text| after a comma, or on the next line if there is no room.
static void print_item(cli_output* output, size_t* column, const char* text) {
  size_t size = strlen(text);
  bool is_first = *column == LABEL_WIDTH;
  bool fits = *column + (is_first ? 0 : 2) + size + 1 <= LINE_WIDTH;
  if (is_first || fits) {
    cli_print(output, "%s%s", is_first ? "" : ", ", text);
    *column += size + (is_first ? 0 : 2);
  } else {
    cli_print(output, ",\n%*s%s", LABEL_WIDTH, "", text);
    *column = LABEL_WIDTH + size;
  }
}

// `rewritten       identities 12, cse 3, fold 1, weights 4000 → 3800 B`
static void print_rewritten(const stow_rewritten* rewritten, cli_output* output) {
  size_t column = LABEL_WIDTH;
  char text[96];
  cli_print(output, "  %-15s ", "rewritten");
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    stow_rewrite_rule rule = (stow_rewrite_rule)i;
    size_t count = stow_rewritten_count(rewritten, rule);
    if (count > 0) {
      snprintf(text, sizeof text, "%s %zu", stow_rewrite_rule_name(rule), count);
      print_item(output, &column, text);
    }
  }
  stow_rewritten_info info = {.struct_size = sizeof info};
  (void)stow_rewritten_describe(rewritten, &info);
  if (stow_rewritten_count(rewritten, STOW_REWRITE_FOLD) > 0) {
    snprintf(text, sizeof text, "weights %" PRIu64 " \xE2\x86\x92 %" PRIu64 " B",
             info.weights_before, info.weights_after);
    print_item(output, &column, text);
  }
  cli_print(output, "\n");
}

// `streamed        31 nodes in 2 streams, 123 multiply-adds, none twice; 5493888 B less`
static void print_streamed(const cli_summary* summary, cli_output* output) {
  stow_rewritten_info info = {.struct_size = sizeof info};
  char text[96];
  size_t column = LABEL_WIDTH;
  (void)stow_rewritten_describe(summary->rewritten, &info);
  cli_print(output, "  %-15s ", "streamed");
  snprintf(text, sizeof text, "%" PRIu64 " nodes in %zu stream%s", info.streamed_nodes,
           stow_rewritten_count(summary->rewritten, STOW_REWRITE_STREAM),
           cli_plural(stow_rewritten_count(summary->rewritten, STOW_REWRITE_STREAM)));
  print_item(output, &column, text);
  snprintf(text, sizeof text, "%" PRIu64 " multiply-adds and elements", info.streamed_work);
  print_item(output, &column, text);
  print_item(output, &column, "none twice");
  snprintf(text, sizeof text, "%" PRIu64 " B less",
           summary->rungs.before - stow_plan_arena_size(summary->plan));
  print_item(output, &column, text);
  cli_print(output, "\n");
}

// `tried           as it is 13107200 B, reordered 13107200 B, rewritten 9830400 B, ...`
static void print_rungs(const cli_rungs* rungs, cli_output* output) {
  static const char* const names[] = {"as it is", "reordered", "rewritten", "streamed",
                                      "in single rows"};
  size_t column = LABEL_WIDTH;
  cli_print(output, "  %-15s ", "tried");
  for (int i = 0; i < CLI_RUNGS; ++i) {
    if (rungs->arenas[i] != 0) {
      char text[64];
      snprintf(text, sizeof text, "%s %" PRIu64 " B", names[i], rungs->arenas[i]);
      print_item(output, &column, text);
    }
  }
  cli_print(output, "\n");
}

void cli_summary_print_weights(const stow_graph* graph, const stow_plan* plan, const char* outside,
                               cli_output* output) {
  uint64_t weights = cli_weight_bytes(graph, NULL);
  uint64_t inside = cli_weight_bytes(graph, plan);
  cli_print_size(output, "weights", weights);
  cli_print(output, "   %s\n",
            weights == 0        ? "none"
            : inside == weights ? "in the arena"
            : inside > 0        ? "some of them in the arena"
                                : outside);
}

void cli_summary_print_folded(const stow_graph* graph, cli_output* output) {
  uint64_t bytes = cli_folded_bytes(graph);
  if (bytes != 0) {
    cli_print_size(output, "folded", bytes);
    cli_print(output, "   of the weights, made at start\n");
  }
}

static void print_sizes(const cli_summary* summary, cli_output* output) {
  const stow_plan* plan = summary->plan;
  uint64_t arena = stow_plan_arena_size(plan);
  stow_search search = cli_plan_search(plan);
  uint64_t unshared = summary->shares.unshared;
  if (summary->model != NULL) {
    cli_summary_print_weights(summary->graph, plan, "not in the arena: map the file", output);
  }
  cli_summary_print_folded(summary->graph, output);
  cli_summary_print_packed(plan, output);
  cli_print_size(output, "arena", arena);
  cli_print(output, "   aligned to %" PRIu64 " B\n", cli_plan_info(plan).alignment);
  cli_print_size(output, "lower bound", search.bound);
  cli_print_gap(output, arena, search.bound);
  cli_print_any_order(output, plan, summary->order);
  cli_print_size(output, "without sharing", unshared);
  cli_print_share(output, "saved", unshared > arena ? unshared - arena : 0, unshared);
  if (summary->layout != NULL) {
    print_layout(summary, output);
  }
  if (summary->capacity) {
    cli_print_capacity(output, cli_plan_fit(plan).available, arena);
  }
  cli_print_shares(output, &summary->shares);
  cli_print_order(output, plan, summary->order);
  if (summary->rewritten != NULL) {
    print_rewritten(summary->rewritten, output);
  }
  if (summary->rungs.before != 0) {
    print_streamed(summary, output);
  }
  if (summary->capacity && summary->rungs.arenas[CLI_GIVEN] != 0) {
    print_rungs(&summary->rungs, output);
  }
  stow_moves moves = cli_plan_moves(plan);
  if (moves.started) {
    cli_print_moves(output, &moves);
  }
  print_kernels(plan, output);
  print_search(summary, output);
  cli_print(output, "  %-15s %syes%s: every slot, view and lifetime proven from the graph\n",
            "checked", cli_paint_start(output, CLI_GOOD), cli_paint_stop(output));
}

// What a root occupies at the peak.
static uint64_t bytes_at_peak(const stow_plan* plan, stow_value root) {
  return stow_plan_occupied_slot(plan, root, cli_plan_info(plan).peak_step).size;
}

// The value whose bytes those of |root| are at the peak: the last one that was written over it.
static stow_value value_at_peak(const stow_plan* plan, stow_value root) {
  stow_value last = root;
  uint32_t step = cli_plan_info(plan).peak_step;
  for (size_t i = 0; i < stow_plan_decision_count(plan); ++i) {
    stow_decision decision = cli_plan_decision(plan, i);
    stow_value value = decision.result;
    if (decision.share == STOW_SHARE_IN_PLACE && decision.reason == STOW_REASON_TAKEN &&
        stow_plan_root(plan, value) == root && cli_plan_value(plan, value).begin <= step &&
        step < cli_plan_value(plan, value).end) {
      last = value;
    }
  }
  return last;
}

static void format_life(const stow_plan* plan, stow_value value, char* out, size_t capacity) {
  uint32_t begin = cli_plan_value(plan, value).begin;
  uint32_t end = cli_plan_value(plan, value).end;
  bool to_end = end > stow_plan_step_count(plan);
  if (begin == 0 && to_end) {
    snprintf(out, capacity, "all");
  } else if (to_end) {
    snprintf(out, capacity, "%" PRIu32 "-end", begin);
  } else {
    snprintf(out, capacity, "%" PRIu32 "-%" PRIu32, begin, end > begin ? end - 1 : begin);
  }
}

static void format_type(const stow_graph* graph, stow_value value, char out[CLI_CELL_SIZE]) {
  char raw[CLI_TYPE_TEXT_SIZE];
  cli_format_type(stow_graph_type(graph, value), stow_graph_dims(graph), raw);
  stowi_report_escape(stow_str_of(raw), out, CLI_CELL_SIZE - 2);
}

enum { COL_VALUE, COL_OP, COL_TYPE, COL_BYTES, COL_SIZE, COL_LIFE, COL_SHARE, COL_COUNT };
static const cli_column peak_columns[COL_COUNT] = {
    {"value", false, CLI_FLEXIBLE}, {"op", false, CLI_FLEXIBLE}, {"type", false, CLI_FLEXIBLE},
    {"bytes", true, CLI_FIXED},     {"size", true, CLI_FIXED},   {"steps", true, CLI_FIXED},
    {"share", true, CLI_FIXED}};
// Tensors of a model go by their names, which are paths more often than not: they get the room of
// what says less.
static const cli_column tensor_columns[COL_COUNT] = {
    {"tensor", false, CLI_PATHS}, {NULL, false, CLI_FIXED}, {"type", false, CLI_FLEXIBLE},
    {"bytes", true, CLI_FIXED},   {NULL, true, CLI_FIXED},  {"steps", true, CLI_FIXED},
    {"share", true, CLI_FIXED}};

void cli_summary_name(const cli_summary* summary, stow_value value, char out[CLI_LABEL_SIZE]) {
  (summary->model != NULL ? cli_value_name : cli_value_label)(summary->graph, value, out);
}

static void add_sizes(char (*row)[CLI_CELL_SIZE], uint64_t bytes, uint64_t load) {
  snprintf(row[COL_BYTES], CLI_CELL_SIZE, "%" PRIu64, bytes);
  stowi_report_size(bytes, row[COL_SIZE]);
  stowi_report_percent(bytes, load, row[COL_SHARE]);
}

static void add_rest(const stow_plan* plan, size_t shown, uint64_t load, cli_table* table) {
  char(*row)[CLI_CELL_SIZE] = table->cells[table->row_count++];
  uint64_t rest = 0;
  for (size_t i = shown; i < cli_plan_info(plan).peak_count; ++i) {
    rest += bytes_at_peak(plan, stow_plan_peak_value(plan, i));
  }
  snprintf(row[COL_VALUE], CLI_CELL_SIZE, "\xE2\x80\xA6 and %zu more",
           cli_plan_info(plan).peak_count - shown);
  add_sizes(row, rest, load);
}

uint64_t cli_peak_load(const stow_plan* plan) {
  uint64_t load = cli_plan_info(plan).peak_scratch;
  for (size_t i = 0; i < cli_plan_info(plan).peak_count; ++i) {
    load += bytes_at_peak(plan, stow_plan_peak_value(plan, i));
  }
  return load;
}

void cli_largest_at_peak(const stow_graph* graph, const stow_plan* plan, size_t most, char* out,
                         size_t capacity) {
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < most && i < cli_plan_info(plan).peak_count && used < capacity; ++i) {
    char label[CLI_LABEL_SIZE];
    stow_value value = stow_plan_peak_value(plan, i);
    cli_value_label(graph, value_at_peak(plan, value), label);
    int size = snprintf(out + used, capacity - used, "%s%s (%" PRIu64 " bytes)", i == 0 ? "" : ", ",
                        label, bytes_at_peak(plan, value));
    used += size > 0 ? (size_t)size : 0;
  }
}

// `step 7 (of 0 … 12), matmul %7`; of a model without the latter, which gets a line of its own.
// Nothing runs at the end, after the last step.
static void print_peak_step(const cli_summary* summary, cli_output* output) {
  const stow_plan* plan = summary->plan;
  uint32_t step = cli_plan_info(plan).peak_step;
  if (step >= stow_plan_step_count(plan)) {
    cli_print(output, "the end");
    return;
  }
  cli_print(output, "step %" PRIu32 " (of 0 \xE2\x80\xA6 %" PRIu32 ")", step,
            stow_plan_step_count(plan) - 1);
  if (summary->model != NULL) {
    return;
  }
  stow_node node = stow_plan_order(plan)[step];
  cli_print(output, ", %s", stow_graph_op_name(summary->graph, node));
  if (stow_graph_result_count(summary->graph, node) > 0) {
    char label[CLI_LABEL_SIZE];
    cli_value_label(summary->graph, stow_graph_first_result(summary->graph, node), label);
    stowi_report_cut(label, 24);
    cli_print(output, " %s", label);
  }
}

// `  while softmax makes /encoder/layer.0/attention/Softmax_output_0`
static void print_peak_maker(const cli_summary* summary, cli_output* output) {
  const stow_plan* plan = summary->plan;
  uint32_t step = cli_plan_info(plan).peak_step;
  if (summary->model == NULL || step >= stow_plan_step_count(plan)) {
    return;
  }
  stow_node node = stow_plan_order(plan)[step];
  const char* op = stow_graph_op_name(summary->graph, node);
  cli_print(output, "  while %s ", op);
  if (stow_graph_result_count(summary->graph, node) > 0) {
    char name[CLI_LABEL_SIZE];
    size_t used = strlen("  while  makes ") + strlen(op);
    cli_summary_name(summary, stow_graph_first_result(summary->graph, node), name);
    stowi_report_cut_inside(name, output->width > used ? output->width - used : 1);
    cli_print(output, "makes %s\n", name);
  } else {
    cli_print(output, "runs\n");
  }
}

// Why the lower bound is more than what lives at the peak, where it is.
static void print_above_peak(const stow_plan* plan, uint64_t load, cli_output* output) {
  uint64_t bound = stow_plan_lower_bound(plan);
  uint64_t proven = cli_plan_search(plan).bound;
  if (proven > bound) {
    cli_print(output,
              "\nThe lower bound is %" PRIu64
              " B above that: the search has ruled out\nlower placements.\n",
              proven - load);
  } else if (bound > load) {
    cli_print(output,
              "\nThe lower bound is %" PRIu64
              " B above that: padding up to the alignment,\nslots at fixed offsets, or reserved "
              "ranges.\n",
              bound - load);
  }
}

static void print_peak(const cli_summary* summary, cli_output* output) {
  const stow_plan* plan = summary->plan;
  uint64_t load = cli_peak_load(plan);
  size_t count = cli_plan_info(plan).peak_count;
  size_t shown = count > PEAK_ROWS ? PEAK_ROWS : count;
  if (load == 0) {
    return;
  }
  cli_print(output, "\n%speak%s at ", cli_paint_start(output, CLI_BOLD), cli_paint_stop(output));
  print_peak_step(summary, output);
  cli_print(output, ": %" PRIu64 " B in %zu %s%s\n", load, count,
            summary->model == NULL ? "value" : "tensor", cli_plural(count));
  print_peak_maker(summary, output);

  cli_table table = {.columns = summary->model == NULL ? peak_columns : tensor_columns,
                     .column_count = COL_COUNT};
  for (size_t i = 0; i < shown; ++i) {
    stow_value root = stow_plan_peak_value(plan, i);
    stow_value value = value_at_peak(summary->plan, root);
    char(*row)[CLI_CELL_SIZE] = table.cells[table.row_count++];
    const stow_graph* graph = summary->graph;
    cli_summary_name(summary, value, row[COL_VALUE]);
    snprintf(row[COL_OP], CLI_CELL_SIZE - 2, "%s",
             stow_graph_op_name(graph, stow_graph_producer(graph, value)));
    format_type(graph, value, row[COL_TYPE]);
    format_life(summary->plan, value, row[COL_LIFE], CLI_CELL_SIZE);
    add_sizes(row, bytes_at_peak(summary->plan, root), load);
  }
  if (count > shown) {
    add_rest(plan, shown, load, &table);
  }
  if (cli_plan_info(plan).peak_scratch > 0) {
    char(*row)[CLI_CELL_SIZE] = table.cells[table.row_count++];
    snprintf(row[COL_VALUE], CLI_CELL_SIZE, "scratch");
    add_sizes(row, cli_plan_info(plan).peak_scratch, load);
  }
  cli_table_print(&table, 2, output);
  print_above_peak(plan, load, output);
}

// `  saves  4915200 B  4.69 MiB  27.3 %   --io images=consume`, or the options in a line below.
static void print_hint(const stow_hint* hint, uint64_t arena, cli_output* output) {
  char size[STOWI_REPORT_NUMBER];
  char share[STOWI_REPORT_NUMBER];
  char change[HINT_SIZE];
  char line[HINT_SIZE];
  stowi_report_size(arena - hint->arena_size, size);
  stowi_report_percent(arena - hint->arena_size, arena, share);
  stowi_report_escape(hint->change, change, sizeof change);
  int used = snprintf(line, sizeof line, "  saves %12" PRIu64 " B %10s %7s",
                      arena - hint->arena_size, size, share);
  bool fits = (size_t)used + 3 + strlen(change) <= output->width;
  stowi_report_cut_inside(change, output->width > 4 ? output->width - 4 : 1);
  cli_print(output, "%s%s%s\n", line, fits ? "   " : "\n    ", change);
}

static void print_hints(const stow_plan* plan, cli_output* output) {
  size_t count = stow_plan_hint_count(plan);
  if (count > 0) {
    cli_print(output, "\n%shints%s: what would make the arena smaller\n",
              cli_paint_start(output, CLI_BOLD), cli_paint_stop(output));
  }
  for (size_t i = 0; i < count; ++i) {
    stow_hint hint = cli_plan_hint(plan, i);
    print_hint(&hint, stow_plan_arena_size(plan), output);
  }
}

void cli_summary_print(const cli_summary* summary, cli_output* output) {
  print_title(summary, output);
  if (summary->model != NULL) {
    print_model(summary, output);
    print_model_counts(summary, output);
  } else {
    print_graph_counts(summary, output);
  }
  print_sizes(summary, output);
  print_peak(summary, output);
  print_hints(summary->plan, output);
}

// Profiles. The executor tells when a step begins and ends; steps in regions come between those of
// their owner, whose own time is what they leave. Sums are kept per node, in arrays that are made
// beforehand; only a trace grows while it runs.
//
// A run that is interrupted for a moment would be all that a mean tells of a short step, so times
// are medians of runs. Where there are more runs than room, those at equal distances are kept.
#include "run/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/label.h"
#include "report/api.h"
#include "run/statistics.h"
#include "terminal/table.h"

#define MAX_DEPTH (STOW_MAX_REGION_DEPTH + 2)
#define SHOWN_OPS 16
#define SHOWN_NODES 12
#define MOST_SAMPLES 256  // runs whose times are kept, of each node
#define WIDE 110          // columns that have room for all that is known of a node

typedef struct call {
  stow_node node;
  uint64_t begun;     // nanoseconds since the run began
  uint64_t duration;  // with all that it called
  uint64_t bytes;
} call;

typedef struct open_step {
  uint64_t begun;
  uint64_t inside;  // nanoseconds of what it called
} open_step;

struct cli_profile {
  const stow_graph* graph;
  cli_node_time* nodes;    // sums of the runs that have ended
  cli_node_time* current;  // of the run that has not
  uint64_t* samples;       // |room| for each node: nanoseconds of every |stride|th run
  size_t room;
  size_t sample_count;
  uint64_t stride;
  uint64_t runs;  // that have ended
  bool traces;
  bool failed;     // memory was out for a trace
  uint64_t begun;  // of the run
  size_t depth;
  open_step open[MAX_DEPTH];
  cli_list calls;  // of call
};

cli_profile* cli_profile_create(const stow_graph* graph, uint64_t runs, bool traces) {
  cli_profile* profile = calloc(1, sizeof *profile);
  if (profile == NULL) {
    return NULL;
  }
  size_t count = (size_t)stow_graph_node_count(graph) + 1;
  profile->graph = graph;
  profile->traces = traces;
  profile->room = runs < MOST_SAMPLES ? (size_t)runs : MOST_SAMPLES;
  profile->stride = 1;
  profile->nodes = calloc(count, sizeof *profile->nodes);
  profile->current = calloc(count, sizeof *profile->current);
  profile->samples = calloc(count * profile->room + 1, sizeof *profile->samples);
  if (profile->nodes == NULL || profile->current == NULL || profile->samples == NULL) {
    cli_profile_destroy(profile);
    return NULL;
  }
  return profile;
}

void cli_profile_destroy(cli_profile* profile) {
  if (profile != NULL) {
    cli_list_free(&profile->calls, sizeof(call));
    free(profile->samples);
    free(profile->current);
    free(profile->nodes);
    free(profile);
  }
}

static void clear(const cli_profile* profile, cli_node_time* times) {
  memset(times, 0, stow_graph_node_count(profile->graph) * sizeof *times);
}

void cli_profile_begin_run(cli_profile* profile) {
  clear(profile, profile->current);
  profile->depth = 0;
  profile->calls.count = 0;
  profile->begun = cli_clock_nanoseconds();
}

void cli_profile_clear(cli_profile* profile) {
  clear(profile, profile->nodes);
  profile->sample_count = 0;
  profile->stride = 1;
  profile->runs = 0;
}

// Keeps every other sample, so that there is room for as many again.
static void thin_out(cli_profile* p) {
  size_t kept = (p->sample_count + 1) / 2;
  for (stow_node node = 0; node < stow_graph_node_count(p->graph); ++node) {
    uint64_t* samples = &p->samples[node * p->room];
    for (size_t i = 0; i < kept; ++i) {
      samples[i] = samples[2 * i];
    }
  }
  p->sample_count = kept;
  p->stride *= 2;
}

void cli_profile_end_run(cli_profile* p) {
  uint32_t count = stow_graph_node_count(p->graph);
  if (p->sample_count == p->room && p->room > 1) {
    thin_out(p);
  }
  bool is_kept = p->runs % p->stride == 0 && p->sample_count < p->room;
  for (stow_node node = 0; node < count; ++node) {
    const cli_node_time* time = &p->current[node];
    p->nodes[node].nanoseconds += time->nanoseconds;
    p->nodes[node].calls += time->calls;
    p->nodes[node].bytes += time->bytes;
    if (is_kept) {
      p->samples[node * p->room + p->sample_count] = time->nanoseconds;
    }
  }
  p->sample_count += is_kept;
  ++p->runs;
}

// ---------------------------------------------------------------------------------------------
// Steps

// Of what an op picks from, no more is read than its result has.
static bool is_picked_from(stow_op op, size_t operand) {
  return operand == 0 && (op == STOW_OP_GATHER || op == STOW_OP_GATHER_ELEMENTS ||
                          op == STOW_OP_GATHER_ND || op == STOW_OP_GATHER_QUANTIZED);
}

static uint64_t bytes_of(const stow_graph* graph, const stow_exec_event* event) {
  const stow_kernel_call* c = event->call;
  stow_view view;
  if (c == NULL || stow_graph_view(graph, event->node, 0, &view)) {
    return 0;
  }
  uint64_t bytes = 0;
  for (size_t i = 0; i < c->result_count; ++i) {
    bytes += c->results[i] == NULL ? 0 : stow_tensor_bytes(c->results[i]);
  }
  uint64_t made = bytes;
  stow_op op = stow_graph_op(graph, event->node);
  for (size_t i = 0; i < c->operand_count; ++i) {
    uint64_t size = c->operands[i] == NULL ? 0 : stow_tensor_bytes(c->operands[i]);
    bytes += is_picked_from(op, i) && size > made ? made : size;
  }
  return bytes;
}

static void end_step(cli_profile* p, const stow_exec_event* event, uint64_t now) {
  open_step step = p->open[--p->depth];
  uint64_t duration = now - step.begun;
  uint64_t bytes = bytes_of(p->graph, event);
  cli_node_time* node = &p->current[event->node];
  node->nanoseconds += duration > step.inside ? duration - step.inside : 0;
  node->bytes += bytes;
  ++node->calls;
  if (p->depth > 0) {
    p->open[p->depth - 1].inside += duration;
  }
  call item = {event->node, step.begun - p->begun, duration, bytes};
  p->failed = p->failed || (p->traces && !cli_list_add(&p->calls, &item, sizeof item));
}

void cli_profile_step(cli_profile* profile, const stow_exec_event* event) {
  if (event->is_done && profile->depth > 0) {
    end_step(profile, event, cli_clock_nanoseconds());
  } else if (!event->is_done && profile->depth < MAX_DEPTH) {
    open_step* step = &profile->open[profile->depth++];
    step->inside = 0;
    step->begun = cli_clock_nanoseconds();
  }
}

// ---------------------------------------------------------------------------------------------
// Sums

typedef struct row {
  const char* op;
  stow_node node;  // of single nodes
  cli_node_time time;
} row;

static int compare_rows(const void* a, const void* b) {
  const row* x = a;
  const row* y = b;
  if (x->time.median != y->time.median) {
    return x->time.median > y->time.median ? -1 : 1;
  }
  return x->node < y->node ? -1 : x->node > y->node;
}

static const char* op_name(const cli_profile* profile, stow_node node) {
  return stow_graph_op_name(profile->graph, node);
}

// Adds a node to the row of its op, or a row of its own.
static bool add_node(const cli_profile* profile, stow_node node, bool by_op, cli_list* rows) {
  row* items = rows->items;
  row item = {op_name(profile, node), node, profile->nodes[node]};
  for (size_t i = 0; by_op && i < rows->count; ++i) {
    if (strcmp(items[i].op, item.op) == 0) {
      items[i].time.nanoseconds += item.time.nanoseconds;
      items[i].time.calls += item.time.calls;
      items[i].time.bytes += item.time.bytes;
      items[i].time.median += item.time.median;
      return true;
    }
  }
  return cli_list_add(rows, &item, sizeof item);
}

// What a graph begins with takes a step, but computes nothing.
static bool is_counted(const cli_profile* profile, stow_node node) {
  return profile->nodes[node].calls > 0 &&
         (stow_graph_result_count(profile->graph, node) == 0 ||
          !stow_graph_is_boundary(profile->graph, stow_graph_first_result(profile->graph, node)));
}

// Rows with the most time first; those that never ran are left out. Returns all their time. Of an
// op, it is the sum of its nodes' medians, so that shares add up.
static uint64_t gather(const cli_profile* profile, bool by_op, cli_output* output, cli_list* rows) {
  uint64_t total = 0;
  uint32_t count = stow_graph_node_count(profile->graph);
  *rows = (cli_list){0};
  for (stow_node node = 0; node < count; ++node) {
    if (!is_counted(profile, node)) {
      continue;
    }
    if (!add_node(profile, node, by_op, rows)) {
      cli_output_lack_memory(output);
    }
    total += profile->nodes[node].median;
  }
  if (rows->count > 0) {
    qsort(rows->items, rows->count, sizeof(row), compare_rows);
  }
  return total;
}

static void find_medians(cli_profile* p) {
  for (stow_node node = 0; node < stow_graph_node_count(p->graph); ++node) {
    p->nodes[node].median = cli_median_of(&p->samples[node * p->room], p->sample_count);
  }
}

void cli_format_time(uint64_t nanoseconds, char* out, size_t capacity) {
  double time = (double)nanoseconds;
  const char* unit = time < 1e3 ? "ns" : time < 1e6 ? "us" : time < 1e9 ? "ms" : "s";
  double number = time < 1e3   ? time
                  : time < 1e6 ? time / 1e3
                  : time < 1e9 ? time / 1e6
                               : time / 1e9;
  int digits = time < 1e3 || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
  snprintf(out, capacity, "%.*f %s", digits, number, unit);
}

// ---------------------------------------------------------------------------------------------
// Tables

// What a node makes: `hidden`, or `%7` where it has no name, and `f32[32, 256]`.
static void describe_result(const cli_profile* profile, stow_node node, char name[CLI_CELL_SIZE],
                            char type[CLI_CELL_SIZE]) {
  const stow_graph* graph = profile->graph;
  name[0] = type[0] = '\0';
  if (stow_graph_result_count(graph, node) == 0) {
    return;
  }
  stow_value value = stow_graph_first_result(graph, node);
  char text[CLI_TYPE_TEXT_SIZE];
  cli_format_type(stow_graph_type(graph, value), stow_graph_dims(graph), text);
  snprintf(type, CLI_CELL_SIZE, "%s", text);
  cli_value_name(graph, value, name);
}

static void fill_numbers(const row* item, uint64_t total, uint64_t runs,
                         char (*cells)[CLI_CELL_SIZE]) {
  uint64_t bytes = item->time.bytes / runs;
  snprintf(cells[0], CLI_CELL_SIZE, "%" PRIu64, item->time.calls / runs);
  cli_format_time(item->time.median, cells[1], CLI_CELL_SIZE);
  stowi_report_percent(item->time.median, total, cells[2]);
  stowi_report_size(bytes, cells[3]);
  double rate = item->time.median == 0 ? 0.0 : (double)bytes / (double)item->time.median;
  snprintf(cells[4], CLI_CELL_SIZE, "%.2f", rate);
}

// Most graphs call every node once: then a column that says so only takes room from the names.
static bool is_called_once(const cli_list* rows, uint64_t runs) {
  for (size_t i = 0; i < rows->count; ++i) {
    if (((const row*)rows->items)[i].time.calls != runs) {
      return false;
    }
  }
  return true;
}

// PyTorch calls the result of `/layer.0/MatMul` `/layer.0/MatMul_output_0`; all the room that names
// have is needed for what they differ in.
static void drop_ending(char* name) {
  static const char ending[] = "_output_0";
  size_t size = strlen(name);
  if (size >= sizeof ending && strcmp(name + size - (sizeof ending - 1), ending) == 0) {
    name[size - (sizeof ending - 1)] = '\0';
  }
}

static void fill_row(const cli_profile* profile, const row* item, uint64_t total, uint64_t runs,
                     char (*cells)[CLI_CELL_SIZE]) {
  snprintf(cells[0], CLI_CELL_SIZE, "%s", item->op);
  snprintf(cells[1], CLI_CELL_SIZE, "%" PRIu32, item->node);
  describe_result(profile, item->node, cells[2], cells[3]);
  drop_ending(cells[2]);
  fill_numbers(item, total, runs, &cells[4]);
}

static void print_table(const cli_profile* profile, const cli_list* rows, uint64_t total,
                        uint64_t runs, bool by_op, cli_table* table, cli_output* output) {
  bool has_room = by_op || output->width >= WIDE;
  const cli_column columns[] = {
      {"op", false, CLI_FIXED},
      {by_op ? NULL : "node", true, CLI_FIXED},
      {by_op ? NULL : "result", false, CLI_PATHS},
      {by_op ? NULL : "type", false, CLI_FIXED},
      {!by_op && is_called_once(rows, runs) ? NULL : "calls", true, CLI_FIXED},
      {"time", true, CLI_FIXED},
      {"share", true, CLI_FIXED},
      {has_room ? "moved" : NULL, true, CLI_FIXED},
      {has_room ? "GB/s" : NULL, true, CLI_FIXED}};
  size_t most = by_op ? SHOWN_OPS : SHOWN_NODES;
  table->columns = columns;
  table->column_count = CLI_TABLE_COLUMNS;
  table->row_count = rows->count < most ? rows->count : most;
  for (size_t r = 0; r < table->row_count; ++r) {
    fill_row(profile, (const row*)rows->items + r, total, runs, table->cells[r]);
  }
  cli_table_print(table, 2, output);
  if (rows->count > most) {
    cli_print(output, "  and %zu more\n", rows->count - most);
  }
}

void cli_profile_print(cli_profile* profile, cli_output* output) {
  cli_table* table = calloc(1, sizeof *table);
  uint64_t runs = profile->runs;
  if (table == NULL) {
    cli_output_lack_memory(output);
  }
  if (table == NULL || runs == 0) {
    free(table);
    return;
  }
  cli_list rows;
  find_medians(profile);
  uint64_t total = gather(profile, true, output, &rows);
  cli_print(output, "\nTime by op");
  if (runs > 1) {
    cli_print(output, ", medians of %" PRIu64 " runs", runs);
  }
  cli_print(output, ":\n");
  print_table(profile, &rows, total, runs, true, table, output);
  cli_list_free(&rows, sizeof(row));
  total = gather(profile, false, output, &rows);
  cli_print(output, "\nThe slowest nodes:\n");
  print_table(profile, &rows, total, runs, false, table, output);
  cli_list_free(&rows, sizeof(row));
  free(table);
}

// ---------------------------------------------------------------------------------------------
// JSON

static void print_json_row(const cli_profile* profile, const row* item, bool by_op,
                           cli_output* output) {
  cli_print(output, "{\"op\": \"%s\"", item->op);
  if (!by_op) {
    cli_print(output, ", \"node\": %" PRIu32, item->node);
    if (stow_graph_result_count(profile->graph, item->node) > 0) {
      stow_value value = stow_graph_first_result(profile->graph, item->node);
      cli_print(output, ", \"value\": %" PRIu32 ", \"name\": ", value);
      cli_print_json(output, stow_graph_value_name(profile->graph, value));
    }
  }
  cli_print(output,
            ", \"calls\": %" PRIu64 ", \"nanoseconds\": %" PRIu64 ", \"bytes\": %" PRIu64
            ", \"median\": %" PRIu64 "}",
            item->time.calls, item->time.nanoseconds, item->time.bytes, item->time.median);
}

static void print_json_rows(const cli_profile* profile, bool by_op, cli_output* output) {
  cli_list rows;
  (void)gather(profile, by_op, output, &rows);
  cli_print(output, "\"%s\": [", by_op ? "ops" : "nodes");
  for (size_t i = 0; i < rows.count; ++i) {
    cli_print(output, "%s\n      ", i == 0 ? "" : ",");
    print_json_row(profile, (const row*)rows.items + i, by_op, output);
  }
  cli_print(output, "]");
  cli_list_free(&rows, sizeof(row));
}

void cli_profile_print_json(cli_profile* profile, cli_output* output) {
  find_medians(profile);
  cli_print(output, "\"profile\": {\"runs\": %" PRIu64 ",\n    ", profile->runs);
  print_json_rows(profile, true, output);
  cli_print(output, ",\n    ");
  print_json_rows(profile, false, output);
  cli_print(output, "}");
}

// Thousandths of a microsecond are kept: many steps are shorter.
static void print_trace_call(const cli_profile* profile, const call* item, cli_output* output) {
  char name[CLI_CELL_SIZE];
  char type[CLI_CELL_SIZE];
  char result[2 * CLI_CELL_SIZE];
  describe_result(profile, item->node, name, type);
  snprintf(result, sizeof result, "%s%s%s", name, type[0] == '\0' ? "" : " ", type);
  cli_print(output,
            ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%" PRIu64 ".%03" PRIu64 ",\"dur\":%" PRIu64
            ".%03" PRIu64 ",\"cat\":\"step\",\"name\":\"%s\",\"args\":{\"node\":%" PRIu32
            ",\"bytes\":%" PRIu64 ",\"result\":",
            item->begun / 1000, item->begun % 1000, item->duration / 1000, item->duration % 1000,
            op_name(profile, item->node), item->node, item->bytes);
  cli_print_json(output, stow_str_of(result));
  cli_print(output, "}}");
}

cli_exit cli_profile_write_trace(const cli_profile* profile, const char* path) {
  if (profile->failed) {
    return cli_fail_memory();
  }
  cli_output output;
  cli_exit code = cli_output_open(&output, path);
  if (code == CLI_YES) {
    cli_print(&output,
              "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
              "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"process_name\",\"args\":{\"name\":");
    cli_print_json(&output, stow_graph_name(profile->graph));
    cli_print(&output, "}}");
    for (size_t i = 0; i < profile->calls.count; ++i) {
      print_trace_call(profile, (const call*)profile->calls.items + i, &output);
    }
    cli_print(&output, "\n]}\n");
  }
  return cli_output_end(&output, code);
}

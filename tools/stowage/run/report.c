// The report of a run. Numbers of outputs are enough to see whether a model does something
// sensible, and short enough to be read.
#include "run/report.h"

#include <inttypes.h>
#include <string.h>

#include "graphs/info.h"
#include "plan/summary.h"
#include "report/api.h"
#include "run/profile.h"
#include "run/statistics.h"
#include "tensors/element.h"
#include "terminal/lines.h"

#define FIRST_ELEMENTS 6
#define LARGEST 5
#define SHOWN_OUTPUTS 40
#define NAME_SIZE 160

cli_comparison cli_run_compare(const cli_run* run, size_t output) {
  const cli_result* result = (const cli_result*)run->results.items + output;
  const cli_array* expected = (const cli_array*)run->expected.items + output;
  bool exact = !cli_is_float(result->array.tensor.dtype) && !run->request.has_tolerance;
  return cli_compare(&result->array.tensor, &expected->tensor, exact ? 0.0 : run->request.rtol,
                     exact ? 0.0 : run->request.atol);
}

bool cli_is_expected(const cli_comparison* comparison) {
  return comparison->is_type_same && comparison->wrong == 0;
}

// ---------------------------------------------------------------------------------------------
// Memory

typedef struct memory {
  uint64_t arena;
  uint64_t weights;   // all of them
  uint64_t in_arena;  // of them
  uint64_t scratch;   // the most that a node has
} memory;

static memory count_memory(const cli_run* run) {
  const stow_graph* graph = run->job.graph;
  const stow_plan* plan = run->job.plan;
  memory m = {.arena = stow_plan_arena_size(plan),
              .weights = cli_weight_bytes(graph, NULL),
              .in_arena = cli_weight_bytes(graph, plan)};
  for (size_t i = 0; i < stow_plan_scratch_count(plan); ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(plan, i, &node, &slot, &alignment);
    m.scratch = slot.size > m.scratch ? slot.size : m.scratch;
  }
  return m;
}

static void print_memory(const cli_run* run, cli_output* output) {
  memory m = count_memory(run);
  cli_print_size(output, "arena", m.arena);
  cli_print(output, "\n");
  cli_summary_print_weights(
      run->job.graph, run->job.plan,
      cli_source_is_model(&run->job.source) ? "in the model file" : "beside the arena", output);
  cli_summary_print_folded(run->job.graph, output);
  cli_summary_print_packed(run->job.plan, output);
  cli_print_size(output, "scratch", m.scratch);
  cli_print(output, "   largest node, in the arena\n");
}

// ---------------------------------------------------------------------------------------------
// Outputs

static void name_of(const cli_array* array, char out[NAME_SIZE]) {
  stowi_report_escape((stow_str){array->name.data, array->name.size}, out, NAME_SIZE - 4);
}

static void print_statistics(const cli_array* array, cli_output* output) {
  cli_statistics s = cli_statistics_of(&array->tensor);
  cli_print(output, "    min %.6g  max %.6g  mean %.6g  std %.6g", s.min, s.max, s.mean,
            s.deviation);
  const char* start = cli_paint_start(output, CLI_BAD);
  if (s.nans > 0) {
    cli_print(output, "  %s%zu NaN%s", start, s.nans, cli_paint_stop(output));
  }
  if (s.infinities > 0) {
    cli_print(output, "  %s%zu Inf%s", start, s.infinities, cli_paint_stop(output));
  }
  cli_print(output, "\n");
}

static void print_first(const cli_array* array, cli_output* output) {
  size_t count = stow_tensor_elements(&array->tensor);
  cli_print(output, "    [");
  for (size_t i = 0; i < count && i < FIRST_ELEMENTS; ++i) {
    char text[CLI_ELEMENT_SIZE];
    cli_element_format(&array->tensor, i, text);
    cli_print(output, "%s%s", i == 0 ? "" : ", ", text);
  }
  cli_print(output, "%s]\n", count > FIRST_ELEMENTS ? ", ..." : "");
}

static void print_largest(const cli_array* array, cli_output* output) {
  size_t largest[CLI_MOST_LARGEST];
  if (!cli_is_row(&array->tensor)) {
    return;
  }
  size_t count = cli_find_largest(&array->tensor, LARGEST, largest);
  cli_print(output, "    largest");
  for (size_t i = 0; i < count; ++i) {
    char text[CLI_ELEMENT_SIZE];
    cli_element_format(&array->tensor, largest[i], text);
    cli_print(output, "  %zu: %s", largest[i], text);
  }
  cli_print(output, "\n");
}

static void print_comparison(const cli_run* run, size_t index, cli_output* output) {
  if (index >= run->expected.count) {
    return;
  }
  cli_comparison c = cli_run_compare(run, index);
  bool passes = cli_is_expected(&c);
  cli_print(output, "    %s%s%s", cli_paint_start(output, passes ? CLI_GOOD : CLI_BAD),
            passes ? "as expected" : "not as expected", cli_paint_stop(output));
  if (!c.is_type_same) {
    char type[CLI_TYPE_TEXT_SIZE];
    stow_type needed = cli_tensor_type(&((const cli_array*)run->expected.items)[index].tensor);
    cli_format_type(&needed, NULL, type);
    cli_print(output, ": it should be %s\n", type);
    return;
  }
  cli_print(output, ": largest error %.3g, relative %.3g", c.max_absolute, c.max_relative);
  if (c.wrong > 0) {
    cli_print(output, "; %zu wrong, worst at %zu", c.wrong, c.worst);
  }
  cli_print(output, "\n");
}

static void print_output(const cli_run* run, size_t index, cli_output* output) {
  const cli_array* array = &((const cli_result*)run->results.items)[index].array;
  char name[NAME_SIZE];
  char text[CLI_TYPE_TEXT_SIZE];
  stow_type type = cli_tensor_type(&array->tensor);
  name_of(array, name);
  stowi_report_cut(name, 40);
  cli_format_type(&type, NULL, text);
  cli_print(output, "  %s%s%s  %s\n", cli_paint_start(output, CLI_BOLD), name,
            cli_paint_stop(output), text);
  if (stow_tensor_elements(&array->tensor) > 0) {
    print_statistics(array, output);
    print_first(array, output);
    print_largest(array, output);
  }
  print_comparison(run, index, output);
}

// ---------------------------------------------------------------------------------------------
// Text

static void print_inputs(const cli_run* run, cli_output* output) {
  const cli_feed* feeds = run->feeds.items;
  size_t random = 0;
  for (size_t i = 0; i < run->feeds.count; ++i) {
    random += strcmp(feeds[i].from, "random") == 0;
  }
  if (random > 0) {
    cli_print(output, "  %-15s %zu input%s", "random", random - run->random_count,
              cli_plural(random - run->random_count));
    if (run->random_count > 0) {
      cli_print(output, " and %zu weight%s that the file has no data for", run->random_count,
                cli_plural(run->random_count));
    }
    cli_print(output, ", seed %" PRIu64 "\n", run->request.seed);
  }
}

static uint64_t mean_processor(const cli_run* run) {
  return run->times.runs.count == 0 ? 0 : run->times.processor / run->times.runs.count;
}

static void print_times(const cli_run* run, cli_output* output) {
  static const char* const names[] = {"min", "median", "p90", "p99", "max", "mean"};
  char text[STOWI_REPORT_NUMBER];
  cli_format_time(run->times.start.clock, text, sizeof text);
  cli_print(output, "  %-15s %s", "start", text);
  if (run->folded != NULL) {
    cli_format_time(run->times.fold, text, sizeof text);
    cli_print(output, ", %s of it to fold weights", text);
  }
  cli_print(output, "\n");
  cli_format_time(run->times.first, text, sizeof text);
  cli_print(output, "  %-15s %s, %" PRIu32 " thread%s\n",
            run->request.repeats ? "first run" : "time", text, run->prepare.threads,
            cli_plural(run->prepare.threads));
  if (!run->request.repeats) {
    return;
  }
  cli_latency l = cli_latency_of((cli_list*)(uintptr_t)&run->times.runs);
  const uint64_t numbers[] = {l.min, l.median, l.p90, l.p99, l.max, l.mean};
  cli_print(output, "  %-15s", "latency");
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
    cli_format_time(numbers[i], text, sizeof text);
    cli_print(output, "%s%s %s%s", i == 3 ? "                  " : " ", names[i], text,
              i == 2   ? "\n"
              : i == 5 ? ""
                       : ",");
  }
  cli_print(output, "\n  %-15s ", "runs");
  if (l.count < run->request.repeat) {
    cli_print(output, "stopped after %" PRIu64 " of ", l.count);
  }
  cli_print(output, "%" PRIu64 ", after %" PRIu64 " to warm up\n", run->request.repeat,
            run->request.warmup);
  cli_format_time(mean_processor(run), text, sizeof text);
  cli_print(output, "  %-15s %s a run\n", "CPU time", text);
}

static void print_nearness(const cli_nearness* near, cli_output* output) {
  if (near->is_compared && near->has_quanta) {
    cli_print(output, "  %-15s at most %.0f quant%s from the model as it is\n", "near",
              near->quanta, near->quanta == 1 ? "um" : "a");
  }
  if (near->is_compared && near->has_floats) {
    cli_print(output, "  %-15s at most %.3g from the model as it is, %.3g of the largest element\n",
              "near", near->absolute, near->relative);
  }
}

void cli_run_print_text(const cli_run* run, cli_output* output) {
  char label[1024];
  char name[NAME_SIZE];
  stowi_report_escape(stow_str_of(run->job.source.label), label, sizeof label);
  stowi_report_escape(stow_graph_name(run->job.graph), name, sizeof name);
  cli_print(output, "%s@%s%s in %s: %" PRIu32 " steps\n", cli_paint_start(output, CLI_BOLD), name,
            cli_paint_stop(output), label, stow_plan_step_count(run->job.plan));
  print_memory(run, output);
  print_inputs(run, output);
  print_times(run, output);
  if (run->request.paranoid) {
    cli_print(output, "  %-15s no step wrote outside its results and scratch\n", "guarded");
  }
  if (run->is_checked) {
    cli_print(output, "  %-15s %s a run without %sshared bytes\n", "checked",
              run->is_different ? "DIFFERENT from" : "the same bits as", cli_run_unlike(run));
  }
  print_nearness(&run->near, output);
  cli_print(output, "\nOutputs:\n");
  for (size_t i = 0; i < run->results.count && i < SHOWN_OUTPUTS; ++i) {
    print_output(run, i, output);
  }
  if (run->results.count > SHOWN_OUTPUTS) {
    cli_print(output, "  and %zu more\n", run->results.count - SHOWN_OUTPUTS);
  }
  if (run->request.profile) {
    cli_profile_print(run->profile, output);
  }
}

// ---------------------------------------------------------------------------------------------
// JSON

static void print_json_nearness(const cli_nearness* near, cli_output* output) {
  char quanta[CLI_ELEMENT_SIZE] = "null", absolute[CLI_ELEMENT_SIZE] = "null";
  char relative[CLI_ELEMENT_SIZE] = "null";
  if (!near->is_compared) {
    return;
  }
  if (near->has_quanta) {
    cli_format_json_number(near->quanta, quanta);
  }
  if (near->has_floats) {
    cli_format_json_number(near->absolute, absolute);
    cli_format_json_number(near->relative, relative);
  }
  cli_print(output, "  \"near\": {\"quanta\": %s, \"absolute\": %s, \"relative\": %s},\n", quanta,
            absolute, relative);
}

static void print_json_number(cli_output* output, const char* key, double number) {
  char text[CLI_ELEMENT_SIZE];
  cli_format_json_number(number, text);
  cli_print(output, "\"%s\": %s", key, text);
}

static void print_json_type(cli_output* output, const stow_tensor* tensor) {
  cli_print(output, "\"dtype\": \"%s\", \"dims\": [", stow_dtype_name(tensor->dtype));
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    cli_print(output, "%s%" PRId64, i == 0 ? "" : ", ", tensor->dims[i]);
  }
  cli_print(output, "]");
}

static void print_json_statistics(cli_output* output, const stow_tensor* tensor) {
  cli_statistics s = cli_statistics_of(tensor);
  const double numbers[] = {s.min, s.max, s.mean, s.deviation};
  static const char* const keys[] = {"min", "max", "mean", "std"};
  for (size_t i = 0; i < 4; ++i) {
    cli_print(output, ", ");
    print_json_number(output, keys[i], numbers[i]);
  }
  cli_print(output, ", \"nan\": %zu, \"inf\": %zu, \"first\": [", s.nans, s.infinities);
  for (size_t i = 0; i < s.elements && i < FIRST_ELEMENTS; ++i) {
    char text[CLI_ELEMENT_SIZE];
    cli_format_json_number(cli_element(tensor, i, 0), text);
    cli_print(output, "%s%s", i == 0 ? "" : ", ", text);
  }
  cli_print(output, "]");
}

static void print_json_largest(cli_output* output, const stow_tensor* tensor) {
  size_t largest[CLI_MOST_LARGEST];
  size_t count = cli_find_largest(tensor, LARGEST, largest);
  cli_print(output, ", \"largest\": [");
  for (size_t i = 0; i < count; ++i) {
    cli_print(output, "%s{\"index\": %zu, ", i == 0 ? "" : ", ", largest[i]);
    print_json_number(output, "value", cli_element(tensor, largest[i], 0));
    cli_print(output, "}");
  }
  cli_print(output, "]");
}

static void print_json_comparison(const cli_run* run, size_t index, cli_output* output) {
  cli_comparison c = cli_run_compare(run, index);
  cli_print(output, ", \"expected\": {\"pass\": %s, \"type_same\": %s, \"wrong\": %zu, ",
            cli_is_expected(&c) ? "true" : "false", c.is_type_same ? "true" : "false", c.wrong);
  print_json_number(output, "max_absolute", c.max_absolute);
  cli_print(output, ", ");
  print_json_number(output, "max_relative", c.max_relative);
  cli_print(output, "}");
}

static void print_json_output(const cli_run* run, size_t index, cli_output* output) {
  const cli_array* array = &((const cli_result*)run->results.items)[index].array;
  cli_print(output, "%s\n    {\"name\": ", index == 0 ? "" : ",");
  cli_print_json(output, (stow_str){array->name.data, array->name.size});
  cli_print(output, ", ");
  print_json_type(output, &array->tensor);
  print_json_statistics(output, &array->tensor);
  if (cli_is_row(&array->tensor)) {
    print_json_largest(output, &array->tensor);
  }
  if (index < run->expected.count) {
    print_json_comparison(run, index, output);
  }
  cli_print(output, "}");
}

static void print_json_inputs(const cli_run* run, cli_output* output) {
  cli_print(output, "  \"given\": [");
  const cli_feed* feeds = run->feeds.items;
  for (size_t i = 0; i < run->feeds.count; ++i) {
    cli_print(output, "%s\n    {\"name\": ", i == 0 ? "" : ",");
    cli_print_json(output, stow_graph_value_name(run->job.graph, feeds[i].value));
    cli_print(output, ", ");
    print_json_type(output, &feeds[i].tensor);
    cli_print(output, ", \"from\": ");
    cli_print_json(output, stow_str_of(feeds[i].from));
    cli_print(output, "}");
  }
  cli_print(output, "],\n");
}

static void print_json_times(const cli_run* run, cli_output* output) {
  cli_print(output,
            "  \"nanoseconds\": {\"start\": %" PRIu64 ", \"start_processor\": %" PRIu64
            ", \"fold\": %" PRIu64 ", \"first\": %" PRIu64,
            run->times.start.clock, run->times.start.processor, run->times.fold, run->times.first);
  if (run->request.repeats) {
    cli_latency l = cli_latency_of((cli_list*)(uintptr_t)&run->times.runs);
    cli_print(output,
              ", \"runs\": %" PRIu64 ", \"warmup\": %" PRIu64 ", \"min\": %" PRIu64
              ", \"median\": %" PRIu64 ", \"p90\": %" PRIu64 ", \"p99\": %" PRIu64
              ", \"max\": %" PRIu64 ", \"mean\": %" PRIu64 ", \"processor\": %" PRIu64,
              l.count, run->request.warmup, l.min, l.median, l.p90, l.p99, l.max, l.mean,
              mean_processor(run));
  }
  cli_print(output, "},\n");
}

void cli_run_print_json(const cli_run* run, cli_output* output) {
  memory m = count_memory(run);
  cli_print(output, "{\n  \"stowage_run\": 1,\n  \"file\": ");
  cli_print_json(output, stow_str_of(run->job.source.label));
  cli_print(output, ",\n  \"graph\": ");
  cli_print_json(output, stow_graph_name(run->job.graph));
  cli_print(
      output,
      ",\n  \"steps\": %" PRIu32 ",\n  \"threads\": %" PRIu32 ",\n  \"arena\": %" PRIu64
      ",\n  \"weights\": %" PRIu64 ",\n  \"weights_in_arena\": %" PRIu64 ",\n  \"folded\": %" PRIu64
      ",\n  \"packed\": %" PRIu64 ",\n  \"scratch\": %" PRIu64 ",\n",
      stow_plan_step_count(run->job.plan), run->prepare.threads, m.arena, m.weights, m.in_arena,
      cli_folded_bytes(run->job.graph), cli_plan_info(run->job.plan).packed_bytes, m.scratch);
  print_json_inputs(run, output);
  print_json_times(run, output);
  if (run->is_stopped) {
    cli_print(output, "  \"stopped\": true,\n");
  }
  if (run->is_checked) {
    cli_print(output, "  \"check\": \"%s\",\n", run->is_different ? "different" : "same");
  }
  print_json_nearness(&run->near, output);
  if (run->request.paranoid) {
    cli_print(output, "  \"paranoid\": true,\n");
  }
  if (run->request.profile) {
    cli_print(output, "  ");
    cli_profile_print_json(run->profile, output);
    cli_print(output, ",\n");
  }
  cli_print(output, "  \"outputs\": [");
  for (size_t i = 0; i < run->results.count; ++i) {
    print_json_output(run, i, output);
  }
  cli_print(output, "]\n}\n");
}

// `--loop`: a model that is run step by step, such as a decoder with a cache. What a step leaves in
// outputs are inputs of the next one; of another output the largest element, or one that is drawn,
// is the next input. One executor, of a range, runs the prompt and all steps in one arena.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/number.h"
#include "files/output.h"
#include "plan/formula.h"
#include "request/api.h"
#include "run/random.h"
#include "run/run.h"
#include "tensors/element.h"

typedef struct loop {
  cli_run* run;
  cli_formula formula;
  cli_engine engine;
  stow_value output;  // whose last row tells
  stow_value input;   // the next numbers of this
  int64_t* tokens;    // of the prompt, then one at a time
  size_t prompt;
  int64_t before;  // numbers of earlier steps
  cli_list made;   // of int64_t
  cli_list times;  // of uint64_t, nanoseconds
  uint64_t state;  // of random numbers
} loop;

cli_exit cli_run_check_loop(const cli_run* run) {
  const cli_run_request* r = &run->request;
  if (r->loops.count == 0) {
    bool is_alone = r->next == NULL && r->prompt == NULL && !r->has_steps && r->fills.count == 0 &&
                    r->temperature == 0.0;
    return is_alone ? CLI_YES
                    : cli_fail(CLI_USAGE,
                               "--next, --prompt, --steps, --fill and --temperature need --loop");
  }
  const char* other = r->inputs.count > 0 || r->inputs_from != NULL   ? "input"
                      : r->outputs.count > 0 || r->outputs_to != NULL ? "output"
                      : r->expect != NULL                             ? "expect"
                      : r->repeats                                    ? "repeat"
                      : r->profile                                    ? "profile"
                      : r->trace != NULL                              ? "trace"
                      : r->check                                      ? "check"
                      : r->plan != NULL                               ? "plan"
                      : r->save_plan != NULL                          ? "save-plan"
                                                                      : NULL;
  if (other != NULL) {
    return cli_fail(CLI_USAGE, "--%s is for one run, not for --loop", other);
  }
  if (r->next == NULL || r->prompt == NULL || !r->has_steps || r->steps == 0) {
    return cli_fail(CLI_USAGE, "--loop needs --next OUT=IN, --prompt N,N,... and --steps N");
  }
  return r->temperature != 0.0 && !r->has_seed
             ? cli_fail(CLI_USAGE, "--temperature needs --random SEED")
             : CLI_YES;
}

// ---------------------------------------------------------------------------------------------
// What is asked for

static cli_exit read_prompt(loop* l) {
  const char* text = l->run->request.prompt;
  size_t capacity = 1;
  for (const char* c = text; *c != '\0'; ++c) {
    capacity += *c == ',';
  }
  l->tokens = calloc(capacity, sizeof *l->tokens);
  if (l->tokens == NULL) {
    return cli_fail_memory();
  }
  for (const char* at = text;; ++at) {
    char* end;
    l->tokens[l->prompt++] = strtoll(at, &end, 10);
    if (end == at || (*end != ',' && *end != '\0')) {
      return cli_fail(CLI_USAGE, "--prompt: '%s' is not a list of numbers such as 1,80,90", text);
    }
    if (*end == '\0') {
      return CLI_YES;
    }
    at = end;
  }
}

static cli_exit find_value(const stow_graph* graph, const char* option, stow_str name,
                           stow_value* out_value) {
  *out_value = stow_graph_find(graph, name);
  return *out_value != STOW_VALUE_NONE
             ? CLI_YES
             : cli_fail(CLI_USAGE, "--%s: unknown value '%.*s'", option, (int)name.size, name.data);
}

static bool is_output(const stow_graph* graph, stow_value value) {
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    if (stow_graph_outputs(graph)[i] == value) {
      return true;
    }
  }
  return false;
}

static bool is_input(const stow_graph* graph, stow_value value) {
  return stow_graph_op(graph, stow_graph_producer(graph, value)) == STOW_OP_INPUT;
}

static bool is_integer(const stow_graph* graph, stow_value value) {
  stow_dtype dtype = stow_graph_type(graph, value)->dtype;
  return dtype == STOW_I64 || dtype == STOW_I32;
}

static cli_exit find_next(loop* l) {
  const stow_graph* graph = l->run->job.graph;
  const char* text = l->run->request.next;
  const char* equals = strrchr(text, '=');
  if (equals == NULL) {
    return cli_fail(CLI_USAGE, "--next: '%s' is not OUT=IN", text);
  }
  CLI_TRY(find_value(graph, "next", (stow_str){text, (size_t)(equals - text)}, &l->output));
  CLI_TRY(find_value(graph, "next", stow_str_of(equals + 1), &l->input));
  if (!is_output(graph, l->output) || stow_graph_type(graph, l->output)->dtype != STOW_F32 ||
      !is_input(graph, l->input) || !is_integer(graph, l->input)) {
    return cli_fail(CLI_USAGE, "--next: expected an output of f32 and an input of i64 or i32");
  }
  return CLI_YES;
}

static cli_exit carry_all(loop* l) {
  const cli_given* loops = l->run->request.loops.items;
  const stow_graph* graph = l->run->job.graph;
  for (size_t i = 0; i < l->run->request.loops.count; ++i) {
    stowi_request_alias pair = {loops[i].name, stow_str_of(loops[i].text)};
    stow_diag diag = cli_diag();
    stow_value output, input;
    size_t count = 0;
    stow_status status = stowi_request_check_pattern(&pair, &diag);
    for (size_t at = 0; status == STOW_OK &&
                        stowi_request_next_pair(graph, &pair, &at, &output, &input, &diag, &status);
         ++count) {
      status = stow_prepared_carry(l->formula.prepared, output, input, &diag);
    }
    if (status != STOW_OK) {
      return cli_fail(CLI_USAGE, "--loop: %s", cli_diag_text(status, &diag));
    }
    if (count == 0) {
      return cli_fail(CLI_USAGE, "--loop: unknown output '%.*s'", (int)pair.output.size,
                      pair.output.data);
    }
  }
  return CLI_YES;
}

// ---------------------------------------------------------------------------------------------
// Inputs of a step

static void write_number(const stow_tensor* tensor, size_t i, int64_t number) {
  if (tensor->dtype == STOW_I64) {
    ((int64_t*)tensor->data)[i] = number;
  } else if (tensor->dtype == STOW_I32) {
    ((int32_t*)tensor->data)[i] = (int32_t)number;
  } else {
    ((float*)tensor->data)[i] = (float)number;
  }
}

// `NAME=count` are the numbers of elements before and in this step, `NAME=N` is N everywhere.
static cli_exit fill_input(loop* l, const cli_given* fill) {
  const stow_graph* graph = l->run->job.graph;
  stow_value value;
  stow_tensor tensor;
  int64_t number = 0;
  bool counts = strcmp(fill->text, "count") == 0;
  CLI_TRY(find_value(graph, "fill", fill->name, &value));
  char* end = NULL;
  number = counts ? l->before : strtoll(fill->text, &end, 10);
  if (!counts && (end == fill->text || *end != '\0')) {
    return cli_fail(CLI_USAGE, "--fill: '%s' is neither a number nor 'count'", fill->text);
  }
  stow_dtype dtype = stow_graph_type(graph, value)->dtype;
  if (!is_input(graph, value) || (!is_integer(graph, value) && dtype != STOW_F32)) {
    return cli_fail(CLI_USAGE, "--fill: '%.*s' is not an input of i64, i32 or f32",
                    (int)fill->name.size, fill->name.data);
  }
  stow_diag diag = cli_diag();
  stow_status status = stow_exec_fill(l->engine.exec, value, &diag, &tensor);
  if (status != STOW_OK) {
    return cli_engine_fail(&l->engine, status, &diag);
  }
  for (size_t i = 0; i < stow_tensor_elements(&tensor); ++i) {
    write_number(&tensor, i, counts ? number + (int64_t)i : number);
  }
  return CLI_YES;
}

// The dims of the tokens, and what the last step left, tell the shape.
static cli_exit set_inputs(loop* l, size_t count) {
  const stow_type* type = stow_graph_type(l->run->job.graph, l->input);
  stow_tensor tensor = {.dtype = type->dtype, .rank = type->rank, .data = l->tokens};
  for (uint32_t i = 0; i < type->rank; ++i) {
    tensor.dims[i] = i + 1 == type->rank ? (int64_t)count : 1;
  }
  for (size_t i = 0; type->dtype == STOW_I32 && i < count; ++i) {
    ((int32_t*)l->tokens)[i] = (int32_t)l->tokens[i];
  }
  stow_diag diag = cli_diag();
  stow_status status = stow_exec_input(l->engine.exec, l->input, &tensor, &diag);
  if (status != STOW_OK) {
    return cli_engine_fail(&l->engine, status, &diag);
  }
  const cli_given* fills = l->run->request.fills.items;
  for (size_t i = 0; i < l->run->request.fills.count; ++i) {
    CLI_TRY(fill_input(l, &fills[i]));
  }
  return CLI_YES;
}

// ---------------------------------------------------------------------------------------------
// The next token

static double draw(loop* l) {
  uint64_t z = l->state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static size_t largest_of(const float* row, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; ++i) {
    best = row[i] > row[best] ? i : best;
  }
  return best;
}

static size_t draw_from(loop* l, const float* row, size_t count) {
  double top = row[largest_of(row, count)];
  double sum = 0.0;
  for (size_t i = 0; i < count; ++i) {
    sum += exp(((double)row[i] - top) / l->run->request.temperature);
  }
  double left = draw(l) * sum;
  size_t i = 0;
  for (; i + 1 < count; ++i) {
    left -= exp(((double)row[i] - top) / l->run->request.temperature);
    if (left < 0.0) {
      break;
    }
  }
  return i;
}

static cli_exit take_next(loop* l) {
  stow_tensor row;
  stow_diag diag = cli_diag();
  stow_status status = stow_exec_value(l->engine.exec, l->output, &diag, &row);
  if (status != STOW_OK) {
    return cli_engine_fail(&l->engine, status, &diag);
  }
  size_t width = row.rank == 0 ? 0 : (size_t)row.dims[row.rank - 1];
  size_t elements = stow_tensor_elements(&row);
  if (width == 0 || elements < width) {
    return cli_fail(CLI_BAD_INPUT, "--next: the output has no elements");
  }
  const float* last = (const float*)row.data + (elements - width);
  size_t next =
      l->run->request.temperature == 0.0 ? largest_of(last, width) : draw_from(l, last, width);
  l->tokens[0] = (int64_t)next;
  return cli_list_add(&l->made, &l->tokens[0], sizeof l->tokens[0]) ? CLI_YES : cli_fail_memory();
}

static cli_exit run_steps(loop* l) {
  const cli_run_request* request = &l->run->request;
  size_t count = l->prompt;
  l->engine.steps.run_count = request->steps;
  for (uint64_t step = 0; step < request->steps; ++step) {
    uint64_t begun = cli_clock_nanoseconds();
    stow_diag diag = cli_diag();
    l->engine.steps.run = step + 1;
    CLI_TRY(set_inputs(l, count));
    stow_status status = stow_exec_run(l->engine.exec, &diag);
    if (status != STOW_OK) {
      return cli_engine_fail(&l->engine, status, &diag);
    }
    CLI_TRY(take_next(l));
    uint64_t time = cli_clock_nanoseconds() - begun;
    if (!cli_list_add(&l->times, &time, sizeof time)) {
      return cli_fail_memory();
    }
    l->before += (int64_t)count;
    count = 1;
  }
  return CLI_YES;
}

// ---------------------------------------------------------------------------------------------
// The report

static int by_time(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a;
  uint64_t y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static double ms(uint64_t nanoseconds) { return (double)nanoseconds * 1e-6; }

static uint64_t median_time(loop* l) {
  uint64_t* times = l->times.items;
  if (l->times.count < 2) {
    return 0;
  }
  qsort(times + 1, l->times.count - 1, sizeof *times, by_time);
  return times[1 + (l->times.count - 1) / 2];
}

static void print_tokens(const loop* l, const char* between, cli_output* output) {
  const int64_t* made = l->made.items;
  for (size_t i = 0; i < l->made.count; ++i) {
    cli_print(output, "%s%" PRId64, i == 0 ? "" : between, made[i]);
  }
}

static cli_exit report(loop* l) {
  stow_formula_info info = {.struct_size = sizeof info};
  stow_exec_carried carried = {.struct_size = sizeof carried};
  cli_output output;
  CLI_TRY(cli_output_open(&output, NULL));
  (void)stow_formula_describe(l->formula.formula, &info);
  (void)stow_exec_describe_carried(l->engine.exec, &carried);
  uint64_t first = ((const uint64_t*)l->times.items)[0];
  uint64_t median = median_time(l);
  if (l->run->request.json) {
    cli_print(&output,
              "{\"arena_size\": %" PRIu64 ", \"carried_size\": %" PRIu64
              ", \"carried\": %zu, \"carried_in_place\": %zu, \"points\": %zu, "
              "\"prompt_ms\": %.3f, \"step_ms\": %.3f, \"tokens\": [",
              info.largest_arena, carried.bytes, carried.count, carried.in_place_count,
              info.point_count, ms(first), ms(median));
    print_tokens(l, ", ", &output);
    cli_print(&output, "]}\n");
    return cli_output_close(&output, true);
  }
  cli_print(&output, "@%.*s in %s\n", (int)info.graph_name.size, info.graph_name.data,
            l->run->job.source.label);
  cli_print(&output, "  arena           %12" PRIu64 " B   for all %zu shapes\n", info.largest_arena,
            info.point_count);
  cli_print(&output, "  carried over    %12" PRIu64 " B   %zu of %zu outputs grow in place\n",
            carried.bytes, carried.in_place_count, carried.count);
  cli_print(&output, "  prompt          %.3f ms, %zu numbers\n", ms(first), l->prompt);
  if (median != 0) {
    cli_print(&output, "  step            %.3f ms, median of %zu\n", ms(median),
              l->times.count - 1);
  }
  cli_print(&output, "\n");
  print_tokens(l, " ", &output);
  cli_print(&output, "\n");
  return cli_output_close(&output, true);
}

// ---------------------------------------------------------------------------------------------

static cli_exit make(loop* l) {
  cli_run* run = l->run;
  run->prepare = stowi_request_prepare(&run->job.request.choices, true);
  run->prepare.threads = run->request.threads;
  run->job.runs = &run->prepare;
  run->job.takes_ranges = true;
  CLI_TRY(cli_plan_job_make(&run->job));
  if (run->job.plan != NULL) {
    return cli_fail(CLI_USAGE,
                    "--loop: every symbol has one value; give lengths a range, such as --bind "
                    "past=0..128");
  }
  CLI_TRY(find_next(l));
  CLI_TRY(cli_formula_take_effects(&l->formula, &run->job));
  CLI_TRY(carry_all(l));
  CLI_TRY(cli_formula_plan(&l->formula));
  CLI_TRY(cli_run_match_weights(run));
  CLI_TRY(cli_run_fold(run));
  l->engine = (cli_engine){
      .feeds = run->feeds.items,
      .feed_count = run->feeds.count,
      .graph = run->job.graph,
      .formula = l->formula.formula,
      .capacity = run->job.request.capacity == STOW_NO_CAPACITY ? 0 : run->job.request.capacity,
      .label = run->job.source.label,
      .model = run->job.source.model.model,
      .folded = run->folded,
      .steps = {.watch = &run->watch, .doing = "step"}};
  return cli_engine_open(&l->engine, l->formula.prepared, false);
}

cli_exit cli_run_loop(cli_run* run) {
  loop l = {.run = run, .state = run->request.seed};
  cli_exit code = read_prompt(&l);
  cli_watch_begin(&run->watch);
  code = code == CLI_YES ? make(&l) : code;
  code = code == CLI_YES ? run_steps(&l) : code;
  cli_watch_end(&run->watch);
  if (code == CLI_GAVE_UP) {
    code = cli_fail(CLI_GAVE_UP, "%s: stopped by a signal", l.engine.label);
  }
  code = code == CLI_YES ? report(&l) : code;
  cli_engine_close(&l.engine);
  cli_formula_free(&l.formula);
  cli_list_free(&l.made, sizeof(int64_t));
  cli_list_free(&l.times, sizeof(uint64_t));
  free(l.tokens);
  return code;
}

// An executor: made, fed, run, read. Inputs are set before every run, since a plan may let a run
// write over them.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/profile.h"
#include "run/run.h"

// ---------------------------------------------------------------------------------------------
// Steps

#define LINE_SIZE 256

static void draw(const cli_steps* steps, const stow_exec_event* event, uint64_t elapsed) {
  char line[LINE_SIZE];
  int size = snprintf(line, sizeof line - 4, "%s", steps->doing);
  if (steps->run_count > 1) {
    size += snprintf(line + size, sizeof line - 4 - (size_t)size, " %" PRIu64 " of %" PRIu64,
                     steps->run, steps->run_count);
  }
  snprintf(line + size, sizeof line - 4 - (size_t)size,
           "  step %" PRIu32 " of %" PRIu32 "  %s  %" PRIu64 ".%" PRIu64 " s", event->step + 1,
           steps->step_count, stow_graph_op_name(steps->graph, event->node), elapsed / 1000000,
           elapsed / 100000 % 10);
  cli_watch_draw(steps->watch, line);
}

bool cli_on_step(void* user, const stow_exec_event* event) {
  cli_steps* steps = &((cli_engine*)user)->steps;
  if (steps->profile != NULL) {
    cli_profile_step(steps->profile, event);
  }
  if (steps->digests != NULL && event->is_done) {
    cli_digest_step(steps->digests, event);
  }
  if (!event->is_done && steps->watch->width > 0) {
    uint64_t elapsed = cli_clock() - steps->watch->begun;
    if (cli_watch_is_due(steps->watch, elapsed)) {
      draw(steps, event, elapsed);
    }
  }
  steps->is_stopped = steps->is_stopped || (!steps->finishes && cli_watch_is_signalled());
  return !steps->is_stopped;
}

const cli_feed* cli_find_feed(const cli_feed* feeds, size_t count, stow_value value) {
  size_t begin = 0;
  while (begin < count) {
    size_t middle = begin + (count - begin) / 2;
    if (feeds[middle].value == value) {
      return &feeds[middle];
    }
    bool is_after = feeds[middle].value < value;
    begin = is_after ? middle + 1 : begin;
    count = is_after ? count : middle;
  }
  return NULL;
}

static const void* find_weight(void* user, stow_value value, size_t* out_size) {
  const cli_engine* engine = user;
  const cli_feed* feed = cli_find_feed(engine->feeds, engine->feed_count, value);
  if (feed == NULL && engine->folded != NULL) {
    return stow_folded_weight(engine->folded, value, out_size);
  }
  *out_size = feed == NULL ? 0 : stow_tensor_bytes(&feed->tensor);
  return feed == NULL ? NULL : feed->tensor.data;
}

// A copied weight is not held twice.
static void give_back(void* user, stow_value value, const void* data, size_t size) {
  const cli_engine* engine = user;
  if (engine->folded != NULL && cli_is_folded(engine->graph, value)) {
    stow_folded_give_back(engine->folded, engine->prepared, value);
  } else if (engine->model != NULL) {
    stow_model_give_back(engine->model, data, size);
  }
}

// ---------------------------------------------------------------------------------------------
// Making

cli_exit cli_run_fold(cli_run* run) {
  const stow_graph* fold_graph =
      run->job.rewritten == NULL ? NULL : stow_rewritten_fold_graph(run->job.rewritten);
  if (fold_graph == NULL) {
    return CLI_YES;
  }
  stow_diag diag = cli_diag();
  uint64_t begun = cli_clock_nanoseconds();
  stow_status status = stow_folded_create(run->job.graph, fold_graph, &run->prepare,
                                          stow_allocator_default(), &diag, &run->folded);
  run->times.fold = cli_clock_nanoseconds() - begun;
  return status == STOW_OK ? CLI_YES
                           : cli_fail_graph(run->job.source.label, fold_graph, status, &diag);
}

cli_exit cli_engine_fail(const cli_engine* engine, stow_status status, const stow_diag* diag) {
  if (engine->steps.is_stopped) {
    return CLI_GAVE_UP;  // told by who knows what there is to report
  }
  return cli_fail_graph(engine->label, engine->graph, status, diag);
}

static bool has_slot(const cli_engine* engine, stow_value value) {
  stow_slot slot;
  return stow_plan_value_slot(engine->plan, value, &slot);
}

// Outputs that the plan has no place for get bytes of their own. |is_bound|, by value: those that
// do already, since a value may be several outputs.
static cli_exit bind_each(cli_engine* engine, bool* is_bound) {
  const stow_value* outputs = stow_graph_outputs(engine->graph);
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < stow_graph_output_count(engine->graph) && code == CLI_YES; ++i) {
    if (has_slot(engine, outputs[i]) || stow_graph_is_boundary(engine->graph, outputs[i]) ||
        is_bound[outputs[i]]) {
      continue;
    }
    is_bound[outputs[i]] = true;
    cli_array array;
    if (!cli_array_create(&array, (stow_str){"", 0}, stow_graph_type(engine->graph, outputs[i]))) {
      return cli_fail_memory();
    }
    stow_diag diag = cli_diag();
    stow_status status =
        stow_exec_bind(engine->exec, outputs[i], array.tensor.data, array.size, &diag);
    if (!cli_arrays_add(&engine->bound, &array)) {
      return cli_fail_memory();
    }
    code = status == STOW_OK ? CLI_YES : cli_engine_fail(engine, status, &diag);
  }
  return code;
}

static cli_exit bind_outputs(cli_engine* engine) {
  bool* is_bound = calloc(stow_graph_value_count(engine->graph) + 1, sizeof *is_bound);
  cli_exit code = is_bound == NULL ? cli_fail_memory() : bind_each(engine, is_bound);
  free(is_bound);
  return code;
}

cli_exit cli_engine_open(cli_engine* engine, const stow_prepared* prepared, bool paranoid) {
  stow_exec_options options;
  stow_exec_options_init(&options);
  options.paranoid = paranoid;
  options.poison = engine->formula == NULL;  // in a range, it would allocate for every shape
  options.weight = find_weight;
  options.on_step = cli_on_step;
  options.on_copied = give_back;
  engine->prepared = prepared;
  options.user = engine;
  engine->steps.graph = engine->graph;
  engine->steps.step_count = stow_graph_node_count(engine->graph);
  options.capacity = engine->capacity;
  stow_diag diag = cli_diag();
  stow_allocator heap = stow_allocator_default();
  stow_status status =
      engine->formula == NULL
          ? stow_exec_create(prepared, engine->plan, &options, heap, &diag, &engine->exec)
          : stow_exec_create_range(prepared, engine->formula, &options, heap, &diag, &engine->exec);
  if (status == STOW_ERR_VIOLATION) {
    return cli_fail(CLI_NO, "internal error: the plan is wrong: %s", cli_diag_text(status, &diag));
  }
  if (status != STOW_OK) {
    return cli_engine_fail(engine, status, &diag);
  }
  return engine->formula == NULL ? bind_outputs(engine) : CLI_YES;
}

void cli_engine_close(cli_engine* engine) {
  stow_exec_destroy(engine->exec);
  cli_arrays_free(&engine->bound);
  engine->exec = NULL;
}

// ---------------------------------------------------------------------------------------------
// Running

static cli_exit set_inputs(cli_engine* engine) {
  for (size_t i = 0; i < engine->feed_count; ++i) {
    const cli_feed* feed = &engine->feeds[i];
    stow_node node = stow_graph_producer(engine->graph, feed->value);
    if (stow_graph_op(engine->graph, node) != STOW_OP_INPUT) {
      continue;
    }
    stow_diag diag = cli_diag();
    stow_status status = has_slot(engine, feed->value)
                             ? stow_exec_input(engine->exec, feed->value, &feed->tensor, &diag)
                             : stow_exec_bind(engine->exec, feed->value, feed->tensor.data,
                                              stow_tensor_bytes(&feed->tensor), &diag);
    if (status != STOW_OK) {
      return cli_engine_fail(engine, status, &diag);
    }
  }
  return CLI_YES;
}

cli_exit cli_engine_run(cli_engine* engine, cli_time* out_time) {
  CLI_TRY(set_inputs(engine));
  stow_diag diag = cli_diag();
  cli_time begun = cli_time_now();
  stow_status status = stow_exec_run(engine->exec, &diag);
  *out_time = cli_time_since(begun);
  return status == STOW_OK ? CLI_YES : cli_engine_fail(engine, status, &diag);
}

static cli_exit take_result(cli_engine* engine, stow_str name, stow_value value,
                            cli_list* results) {
  stow_tensor tensor;
  stow_diag diag = cli_diag();
  stow_status status = stow_exec_value(engine->exec, value, &diag, &tensor);
  if (status != STOW_OK) {
    return cli_engine_fail(engine, status, &diag);
  }
  cli_result result = {.value = value};
  stow_type type = cli_tensor_type(&tensor);
  if (!cli_array_create(&result.array, name, &type)) {
    return cli_fail_memory();
  }
  if (result.array.size > 0) {
    memcpy(result.array.tensor.data, tensor.data, result.array.size);
  }
  if (!cli_list_add(results, &result, sizeof result)) {
    cli_array_free(&result.array);
    return cli_fail_memory();
  }
  return CLI_YES;
}

cli_exit cli_engine_results(cli_engine* engine, const cli_run* run, cli_list* out_results) {
  const stow_value* outputs = stow_graph_outputs(engine->graph);
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < stow_graph_output_count(engine->graph) && code == CLI_YES; ++i) {
    code = take_result(engine, cli_run_output_name(run, i), outputs[i], out_results);
  }
  return code;
}

void cli_results_free(cli_list* results) {
  for (size_t i = 0; i < results->count; ++i) {
    cli_array_free(&((cli_result*)results->items)[i].array);
  }
  cli_list_free(results, sizeof(cli_result));
}

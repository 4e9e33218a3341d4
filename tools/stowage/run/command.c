// `stowage run`: read, bind, plan, prove, run. The plan is made as `stowage plan` makes it, so the
// options of that command are taken too; only what kernels need is added, and weights stay where
// they are.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/number.h"
#include "arguments/options.h"
#include "files/file.h"
#include "files/output.h"
#include "plan/job.h"
#include "run/profile.h"
#include "run/report.h"
#include "run/run.h"
#include "tensors/tensor_file.h"

// Above those of `plan` and of models.
enum {
  OPT_ATOL = 3000,
  OPT_CHECK,
  OPT_EXPECT,
  OPT_FILL,
  OPT_FORMAT,
  OPT_INPUT,
  OPT_INPUTS,
  OPT_LOOP,
  OPT_NEXT,
  OPT_OUTPUT,
  OPT_OUTPUTS,
  OPT_PARANOID,
  OPT_PLAN,
  OPT_PROFILE,
  OPT_PROMPT,
  OPT_RANDOM,
  OPT_REPEAT,
  OPT_RTOL,
  OPT_SAVE_PLAN,
  OPT_STEPS,
  OPT_TEMPERATURE,
  OPT_THREADS,
  OPT_TRACE,
  OPT_WARMUP
};

static const cli_option run_options[] = {
    {OPT_INPUT, 0, "input", "NAME=FILE",
     "the data of an input: .npy, .npz (its array NAME),\n.pb (an ONNX tensor), otherwise raw "
     "bytes; also for\na param without data; may be repeated"},
    {OPT_INPUTS, 0, "inputs", "FILE",
     "all inputs by name: a .npz, or a directory of .npy\nand .pb files"},
    {OPT_RANDOM, 0, "random", "SEED",
     "random numbers for inputs, and for weights of a\n.stow graph; the same for the same SEED"},
    {OPT_OUTPUT, 'o', "output", "NAME=FILE",
     "write an output: .npy, .npz, otherwise raw bytes;\nmay be repeated"},
    {OPT_OUTPUTS, 0, "outputs", "FILE",
     "write all outputs: to a .npz, or to .npy files in a\ndirectory"},
    {OPT_EXPECT, 0, "expect", "DIR",
     "inputs and outputs are those of an ONNX test\ndirectory (input_0.pb, output_0.pb, ...): exit "
     "with\n1 if the outputs differ"},
    {OPT_RTOL, 0, "rtol", "X", "the relative tolerance of --expect; by default 1e-3"},
    {OPT_ATOL, 0, "atol", "X",
     "the absolute tolerance; by default 1e-7. Integers\nmust be equal unless one of the two is "
     "given"},
    {OPT_REPEAT, 0, "repeat", "N", "run N more times and show the latencies"},
    {OPT_WARMUP, 0, "warmup", "N", "with --repeat: N runs before that do not count; by\ndefault 0"},
    {OPT_PROFILE, 0, "profile", NULL, "show where the time goes, by op and by node"},
    {OPT_TRACE, 0, "trace", "FILE",
     "write the steps of the last run, for\nui.perfetto.dev or chrome://tracing"},
    {OPT_THREADS, 0, "threads", "N", "threads that work on a step; by default 1"},
    {OPT_CHECK, 0, "check", NULL,
     "also run without sharing: exit with 1 if an output\ndiffers in a bit, naming the step"},
    {OPT_PARANOID, 0, "paranoid", NULL,
     "check after every step that it wrote only its\nresults and scratch; and --check"},
    {OPT_PLAN, 0, "plan", "PLAN", "run in this plan, saved by --save-plan"},
    {OPT_SAVE_PLAN, 0, "save-plan", "OUT", "save the plan, with the scratch that kernels need"},
    {OPT_LOOP, 0, "loop", "OUT=IN",
     "run step by step: output OUT is input IN of the next\nstep, as 'present.*=past.*'; may be "
     "repeated. Lengths\nneed ranges: --bind length=1..8,past=0..128"},
    {OPT_NEXT, 0, "next", "OUT=IN",
     "with --loop: the largest element of the last row of\nOUT is the next number of IN"},
    {OPT_PROMPT, 0, "prompt", "N,N,...", "with --loop: the first numbers of that input"},
    {OPT_STEPS, 0, "steps", "N", "with --loop: how many"},
    {OPT_FILL, 0, "fill", "NAME=N",
     "with --loop: an input that is N everywhere, or, as\nNAME=count, goes on counting from 0; may "
     "be repeated"},
    {OPT_TEMPERATURE, 0, "temperature", "T",
     "with --loop: draw the next number from the softmax\nof the row over T, by --random SEED"},
    {OPT_FORMAT, 0, "format", "NAME", "text (the default) or json"},
};

static const char* const format_names[] = {"text", "json"};

// ---------------------------------------------------------------------------------------------
// The command line

static cli_exit read_format(cli_run_request* request, const char* value) {
  size_t found;
  CLI_TRY(cli_read_word("format", value, format_names, 2, &found));
  request->json = found == 1;
  return CLI_YES;
}

// The program never sets a locale, so numbers have a point.
static cli_exit read_real(const char* option, const char* value, double* out) {
  char* end;
  *out = strtod(value, &end);
  return end != value && *end == '\0' && isfinite(*out) && *out >= 0.0
             ? CLI_YES
             : cli_fail(CLI_USAGE, "--%s: '%s' is not a number such as 1e-3", option, value);
}

#define MAX_REPEAT 100000000

static cli_exit read_repeat(const char* option, const char* value, uint64_t* out) {
  cli_exit code = cli_parse_count(option, value, out);
  return code == CLI_YES && *out > MAX_REPEAT
             ? cli_fail(CLI_USAGE, "--%s: '%s' is out of range (at most %d)", option, value,
                        MAX_REPEAT)
             : code;
}

cli_exit cli_run_take_planning(cli_run* run, const cli_option* option, const char* value) {
  return cli_list_add(&run->planning, &option->name, sizeof option->name)
             ? cli_plan_request_take(&run->job.request, option, value)
             : cli_fail_memory();
}

static cli_exit handle(void* user, const cli_option* option, const char* value) {
  cli_run* run = user;
  cli_run_request* request = &run->request;
  switch (option->id) {
    case OPT_ATOL:
      request->has_tolerance = true;
      return read_real(option->name, value, &request->atol);
    case OPT_CHECK: return cli_set_switch(&request->check);
    case OPT_EXPECT: return cli_set_text(&request->expect, value);
    case OPT_FORMAT: return read_format(request, value);
    case OPT_INPUT: return cli_given_add(&request->inputs, option->name, "FILE", value);
    case OPT_INPUTS: return cli_set_text(&request->inputs_from, value);
    case OPT_FILL: return cli_given_add(&request->fills, option->name, "N", value);
    case OPT_LOOP: return cli_given_add(&request->loops, option->name, "IN", value);
    case OPT_NEXT: return cli_set_text(&request->next, value);
    case OPT_PROMPT: return cli_set_text(&request->prompt, value);
    case OPT_STEPS:
      request->has_steps = true;
      return read_repeat(option->name, value, &request->steps);
    case OPT_TEMPERATURE: return read_real(option->name, value, &request->temperature);
    case OPT_OUTPUT: return cli_given_add(&request->outputs, option->name, "FILE", value);
    case OPT_OUTPUTS: return cli_set_text(&request->outputs_to, value);
    case OPT_PARANOID: request->check = true; return cli_set_switch(&request->paranoid);
    case OPT_PLAN: return cli_set_text(&request->plan, value);
    case OPT_PROFILE: return cli_set_switch(&request->profile);
    case OPT_RANDOM:
      request->has_seed = true;
      return cli_parse_count(option->name, value, &request->seed);
    case OPT_REPEAT:
      request->repeats = true;
      return read_repeat(option->name, value, &request->repeat);
    case OPT_RTOL:
      request->has_tolerance = true;
      return read_real(option->name, value, &request->rtol);
    case OPT_SAVE_PLAN: return cli_set_text(&request->save_plan, value);
    case OPT_THREADS: return cli_parse_threads(value, &request->threads);
    case OPT_TRACE: return cli_set_text(&request->trace, value);
    case OPT_WARMUP: return read_repeat(option->name, value, &request->warmup);
    default: return cli_run_take_planning(run, option, value);
  }
}

// Files that are read, one after the other; NULL past the end.
static const char* read_at(const cli_run* run, size_t index) {
  const cli_run_request* request = &run->request;
  const char* single[] = {run->job.request.files[0], request->plan, request->inputs_from,
                          cli_plan_request_order_file(&run->job.request)};
  const size_t count = sizeof single / sizeof single[0];
  if (index < count) {
    return single[index] == NULL ? "" : single[index];
  }
  return index - count < request->inputs.count
             ? ((const cli_given*)request->inputs.items)[index - count].text
             : NULL;
}

// A result in the place of what it is made of would be a loss.
static cli_exit check_written(const cli_run* run, const char* option, const char* path) {
  if (path == NULL) {
    return CLI_YES;
  }
  if (cli_is_stdin(path)) {
    return cli_fail(CLI_USAGE, "--%s needs a file; standard output has the report", option);
  }
  for (size_t i = 0; read_at(run, i) != NULL; ++i) {
    if (cli_same_file(read_at(run, i), path)) {
      return cli_fail(CLI_USAGE, "--%s: '%s' is an input file", option, path);
    }
  }
  return CLI_YES;
}

static cli_exit check_files(const cli_run* run) {
  const cli_run_request* request = &run->request;
  const cli_given* outputs = request->outputs.items;
  size_t on_stdin = 0;
  for (size_t i = 0; read_at(run, i) != NULL; ++i) {
    on_stdin += cli_is_stdin(read_at(run, i));
  }
  if (on_stdin > 1) {
    return cli_fail(CLI_USAGE, "only one file can be standard input");
  }
  cli_exit code = check_written(run, "outputs", request->outputs_to);
  code = code == CLI_YES ? check_written(run, "trace", request->trace) : code;
  code = code == CLI_YES ? check_written(run, "save-plan", request->save_plan) : code;
  for (size_t i = 0; i < request->outputs.count && code == CLI_YES; ++i) {
    code = check_written(run, "output", outputs[i].text);
    for (size_t k = 0; k < i && code == CLI_YES; ++k) {
      code = strcmp(outputs[i].text, outputs[k].text) == 0
                 ? cli_fail(CLI_USAGE, "--output: two outputs cannot both be written to '%s'",
                            outputs[i].text)
                 : CLI_YES;
    }
  }
  return code;
}

cli_exit cli_run_check_planning(const cli_run* run) {
  static const char* const for_plan[] = {"graph", "bind", "bind-rest", "value",
                                         "shape", "io",   "alias",     "capacity"};
  if (run->job.request.graphs.count > 1) {
    return cli_fail(CLI_USAGE, "--graph: only one graph can be run; give it once");
  }
  if (run->request.plan != NULL && run->request.save_plan != NULL) {
    return cli_fail(CLI_USAGE, "--save-plan: the plan is already saved");
  }
  if (run->request.plan != NULL && run->job.request.io.general != STOW_IO_DEFAULT) {
    return cli_fail(CLI_USAGE, "--io: give NAME=POLICY; --plan has the policy for all others");
  }
  CLI_TRY(run->request.plan == NULL
              ? CLI_YES
              : cli_require_only(&run->planning, for_plan, sizeof for_plan / sizeof for_plan[0],
                                 "the plan is given by --plan"));
  return cli_plan_request_check(&run->job.request);
}

// What single options cannot tell.
static cli_exit check_together(const cli_run* run) {
  const cli_run_request* request = &run->request;
  if (request->warmup > 0 && !request->repeats) {
    return cli_fail(CLI_USAGE, "--warmup needs --repeat");
  }
  if (request->repeats && request->repeat == 0) {
    return cli_fail(CLI_USAGE, "--repeat: expected at least 1");
  }
  if (request->has_tolerance && request->expect == NULL) {
    return cli_fail(CLI_USAGE, "--rtol and --atol need --expect");
  }
  CLI_TRY(cli_run_check_loop(run));
  CLI_TRY(cli_run_check_planning(run));
  return check_files(run);
}

// ---------------------------------------------------------------------------------------------
// Planning

static cli_exit load_plan(cli_run* run) {
  bool shares_params;
  cli_exit code = cli_plan_job_load(&run->job, run->request.plan, &shares_params, &run->job.plan);
  uint32_t threads = run->job.saved_threads;
  if (code == CLI_NO && threads == 0) {
    cli_tell_more("it was made without kernels: save one with 'stowage run --save-plan'");
  } else if (code == CLI_NO && threads != run->prepare.threads) {
    cli_tell_more("it was made with --threads %" PRIu32
                  ": save another with 'stowage run --save-plan'",
                  threads);
  }
  return code;
}

static cli_exit save_plan(const cli_run* run) {
  cli_output output;
  cli_exit code = cli_output_open(&output, run->request.save_plan);
  if (code == CLI_YES) {
    stow_status status =
        stow_plan_write(run->job.plan, STOW_PLAN_SAVED, cli_output_writer(&output));
    code = cli_output_reported(status, NULL);
  }
  return cli_output_end(&output, code);
}

cli_exit cli_run_plan(cli_run* run) {
  run->prepare = stowi_request_prepare(&run->job.request.choices, true);
  run->prepare.threads = run->request.threads;
  if (run->job.request.choices.kernels == STOWI_REQUEST_KERNELS_NONE) {
    return cli_fail(CLI_USAGE, "--kernels none: runs and exported programs need kernels");
  }
  run->job.runs = &run->prepare;
  cli_exit code = run->request.plan != NULL ? load_plan(run) : cli_plan_job_make(&run->job);
  if (code == CLI_BAD_INPUT) {
    cli_run_tell_unknown_inputs(run);
  }
  if (code == CLI_YES && run->job.plan != NULL && run->job.request.capacity != STOW_NO_CAPACITY &&
      stow_plan_arena_size(run->job.plan) > run->job.request.capacity) {
    code = cli_fail_capacity(run->job.source.label, run->job.graph, run->job.plan);
  }
  code = code == CLI_YES ? cli_run_name_outputs(run) : code;
  return code == CLI_YES && run->request.save_plan != NULL ? save_plan(run) : code;
}

// ---------------------------------------------------------------------------------------------
// Running

static cli_exit run_once(cli_run* run, cli_engine* engine, bool counts) {
  cli_time time;
  if (run->profile != NULL) {
    cli_profile_begin_run(run->profile);
  }
  ++engine->steps.run;
  if (engine->steps.run == 1) {
    run->times.start = cli_time_since(run->times.begun);
  }
  cli_exit code = cli_engine_run(engine, &time);
  if (code == CLI_YES && run->profile != NULL) {
    cli_profile_end_run(run->profile);
  }
  if (code == CLI_YES && engine->steps.run == 1) {
    run->times.first = time.clock;
  }
  run->times.processor += code == CLI_YES && counts ? time.processor : 0;
  return code == CLI_YES && counts &&
                 !cli_list_add(&run->times.runs, &time.clock, sizeof time.clock)
             ? cli_fail_memory()
             : code;
}

static cli_exit run_all(cli_run* run, cli_engine* engine) {
  const cli_run_request* request = &run->request;
  engine->steps.run_count = 1 + request->warmup + request->repeat;
  cli_exit code = run_once(run, engine, false);
  for (uint64_t i = 0; i < request->warmup && code == CLI_YES; ++i) {
    code = run_once(run, engine, false);
  }
  if (run->profile != NULL && request->repeats) {
    cli_profile_clear(run->profile);
  }
  // A run that is measured ends, so that there are outputs and times to report.
  engine->steps.finishes = true;
  for (uint64_t i = 0; i < request->repeat && code == CLI_YES && !run->is_stopped; ++i) {
    code = run_once(run, engine, true);
    run->is_stopped = cli_watch_is_signalled() && (i + 1 < request->repeat || request->check);
  }
  engine->steps.finishes = false;
  return code;
}

static cli_exit execute(cli_run* run) {
  const cli_run_request* request = &run->request;
  cli_engine engine = {.feeds = run->feeds.items,
                       .feed_count = run->feeds.count,
                       .graph = run->job.graph,
                       .plan = run->job.plan,
                       .label = run->job.source.label,
                       .model = run->job.source.model.model,
                       .folded = run->folded,
                       .steps = {.watch = &run->watch, .doing = "run"}};
  if (request->profile || request->trace != NULL) {
    run->profile = cli_profile_create(run->job.graph, request->repeats ? request->repeat : 1,
                                      request->trace != NULL);
    if (run->profile == NULL) {
      return cli_fail_memory();
    }
  }
  cli_watch_begin(&run->watch);
  cli_exit code = cli_engine_open(&engine, run->job.prepared, request->paranoid);
  engine.steps.profile = run->profile;
  code = code == CLI_YES ? run_all(run, &engine) : code;
  engine.steps.profile = NULL;
  code = code == CLI_YES ? cli_engine_results(&engine, run, &run->results) : code;
  if (code == CLI_YES && request->check && !run->is_stopped) {
    code = cli_run_check(run, &engine);
  }
  cli_watch_end(&run->watch);
  cli_engine_close(&engine);
  if (code == CLI_GAVE_UP && run->times.runs.count == 0) {
    return cli_fail(CLI_GAVE_UP, "%s: stopped by a signal", engine.label);
  }
  run->is_stopped = run->is_stopped || code == CLI_GAVE_UP;
  return code == CLI_GAVE_UP ? CLI_YES : code;
}

// ---------------------------------------------------------------------------------------------
// What comes out

static const cli_array* find_result(const cli_run* run, stow_str name) {
  const cli_result* results = run->results.items;
  for (size_t i = 0; i < run->results.count; ++i) {
    const stow_string* own = &results[i].array.name;
    if (stow_str_equal((stow_str){own->data, own->size}, name)) {
      return &results[i].array;
    }
  }
  return NULL;
}

// Before anything runs: a wrong name need not wait.
static cli_exit check_outputs(const cli_run* run) {
  const cli_given* outputs = run->request.outputs.items;
  size_t count = stow_graph_output_count(run->job.graph);
  for (size_t i = 0; i < run->request.outputs.count; ++i) {
    bool found = false;
    for (size_t k = 0; k < count && !found; ++k) {
      found = stow_str_equal(cli_run_output_name(run, k), outputs[i].name);
    }
    if (found) {
      continue;
    }
    cli_fail(CLI_USAGE,
             "--output: unknown output '%.*s'; expected one of:", (int)outputs[i].name.size,
             outputs[i].name.data);
    for (size_t k = 0; k < count && k < 20; ++k) {
      stow_str name = cli_run_output_name(run, k);
      cli_tell_more("%.*s", (int)name.size, name.data);
    }
    return CLI_USAGE;
  }
  if (run->expected.count > count) {
    return cli_fail(CLI_BAD_INPUT, "%s: expected %zu outputs, but %s has %zu", run->request.expect,
                    run->expected.count, run->job.source.label, count);
  }
  return CLI_YES;
}

static cli_exit write_all(const cli_run* run) {
  size_t count = run->results.count;
  const cli_result* results = run->results.items;
  cli_array* arrays = calloc(count + 1, sizeof *arrays);
  if (arrays == NULL) {
    return cli_fail_memory();
  }
  for (size_t i = 0; i < count; ++i) {
    arrays[i] = results[i].array;
  }
  cli_exit code = cli_arrays_write(run->request.outputs_to, arrays, count);
  free(arrays);
  return code;
}

static cli_exit write_outputs(const cli_run* run) {
  const cli_given* outputs = run->request.outputs.items;
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < run->request.outputs.count && code == CLI_YES; ++i) {
    const cli_array* array = find_result(run, outputs[i].name);
    code = array == NULL ? CLI_YES : cli_array_write(outputs[i].text, array);
  }
  return code == CLI_YES && run->request.outputs_to != NULL ? write_all(run) : code;
}

static cli_exit report(cli_run* run) {
  cli_output output;
  cli_exit code = cli_output_open(&output, NULL);
  if (code == CLI_YES) {
    (run->request.json ? cli_run_print_json : cli_run_print_text)(run, &output);
  }
  return cli_output_close(&output, true);
}

// A difference that --check found has been told already. What a signal stopped is not proven.
static cli_exit judge(const cli_run* run) {
  for (size_t i = 0; i < run->expected.count; ++i) {
    cli_comparison comparison = cli_run_compare(run, i);
    if (!cli_is_expected(&comparison)) {
      const cli_array* array = &((const cli_result*)run->results.items)[i].array;
      return cli_fail(CLI_NO, "%s: output '%s' is not as expected", run->job.source.label,
                      array->name.data);
    }
  }
  if (run->is_different) {
    return CLI_NO;
  }
  if (run->is_stopped) {
    size_t count = run->times.runs.count;
    return cli_fail(CLI_GAVE_UP, "%s: stopped by a signal after %zu of %" PRIu64 " runs%s",
                    run->job.source.label, count, run->request.repeat,
                    count == run->request.repeat ? ", before --check" : "");
  }
  return CLI_YES;
}

// Reading or making inputs does not count as a part of the start.
static cli_exit match_inputs(cli_run* run) {
  cli_time begun = cli_time_now();
  cli_exit code = cli_run_match_inputs(run);
  cli_time taken = cli_time_since(begun);
  run->times.begun.clock += taken.clock;
  run->times.begun.processor += taken.processor;
  return code;
}

static cli_exit run_model(cli_run* run) {
  cli_exit (*const steps[])(cli_run*) = {cli_run_read_inputs, cli_run_plan, match_inputs,
                                         cli_run_fold};
  cli_exit code = check_together(run);
  if (code == CLI_YES && run->request.loops.count > 0) {
    return cli_run_loop(run);
  }
  run->job.runs_at_once = run->request.save_plan == NULL;
  for (size_t i = 0; i < sizeof steps / sizeof steps[0] && code == CLI_YES; ++i) {
    code = steps[i](run);
  }
  code = code == CLI_YES ? check_outputs(run) : code;
  code = code == CLI_YES ? execute(run) : code;
  code = code == CLI_YES ? write_outputs(run) : code;
  if (code == CLI_YES && run->request.trace != NULL) {
    code = cli_profile_write_trace(run->profile, run->request.trace);
  }
  code = code == CLI_YES ? report(run) : code;
  return code == CLI_YES ? judge(run) : code;
}

void cli_run_free(cli_run* run) {
  cli_profile_destroy(run->profile);
  cli_results_free(&run->results);
  cli_run_free_names(run);
  cli_list_free(&run->times.runs, sizeof(uint64_t));
  cli_list_free(&run->feeds, sizeof(cli_feed));
  cli_arrays_free(&run->expected);
  stow_folded_destroy(run->folded);
  cli_plan_job_close(&run->job);
  cli_arrays_free(&run->given);
  cli_plan_request_free(&run->job.request);
  cli_known_free(&run->known);
  cli_run_close_inputs(run);
  cli_list_free(&run->planning, sizeof(const char*));
  cli_list_free(&run->request.inputs, sizeof(cli_given));
  cli_list_free(&run->request.outputs, sizeof(cli_given));
  cli_list_free(&run->request.loops, sizeof(cli_given));
  cli_list_free(&run->request.fills, sizeof(cli_given));
}

static cli_exit run_run(int argc, char** argv) {
  cli_run run = {.job.request.capacity = STOW_NO_CAPACITY,
                 .request = {.rtol = 1e-3, .atol = 1e-7, .threads = 1},
                 .times.begun = cli_time_now()};
  cli_arguments arguments;
  cli_exit code = cli_parse(&cli_run_command, argc, argv, handle, &run, &arguments);
  if (code == CLI_YES && !arguments.help) {
    run.job.request.files = arguments.operands;
    run.job.request.file_count = 1;
    code = run_model(&run);
  }
  cli_run_free(&run);
  return code;
}

static void print_more(cli_output* output) {
  cli_print(
      output,
      "Weights are outside the arena, unless --weights says otherwise. Symbols without\n--bind "
      "take "
      "their values from the shapes of given arrays.\n\nExit status: 0 if it "
      "ran; 1 if outputs differ from --expect or --check, or a\nstep wrote elsewhere; 3 if "
      "something is missing or does not match; 4 if a signal\nstopped it. See docs/run.md.\n");
}

static const cli_refusal without[] = {{"c-prefix", "nothing is written as C"},
                                      {"explain", "see stowage plan"},
                                      {"hints", "see stowage plan"},
                                      {"layout-from", "one graph is run"},
                                      {NULL, NULL}};

const cli_command cli_run_command = {
    .name = "run",
    .summary = "Runs a model inside its plan",
    .operand_count = 1,
    .required_operands = 1,
    .operands = {"FILE"},
    .option_count = sizeof run_options / sizeof run_options[0],
    .options = run_options,
    .also = &cli_plan_command,
    .without = without,
    .more_help = print_more,
    .run = run_run,
};

// The options of `stowage plan`. A preset writes every field of the planning options and the others
// change single ones, wherever they stand on the command line; so all are collected first and
// applied afterwards.
#include <string.h>

#include "arguments/help.h"
#include "arguments/number.h"
#include "base/text.h"
#include "files/file.h"
#include "files/output.h"
#include "plan/request.h"

#define PIN_RULE "pin-output-ancestors"

enum {
  OPT_ALIAS,
  OPT_ALIGN,
  OPT_C_PREFIX,
  OPT_CAPACITY,
  OPT_EXPLAIN,
  OPT_FOLD_LIMIT,
  OPT_F32_UNIFORM,
  OPT_FORMAT,
  OPT_GRAPH,
  OPT_GUARD,
  OPT_HINTS,
  OPT_IO,
  OPT_KEEP_COPIES,
  OPT_KERNELS,
  OPT_PACK,
  OPT_LAYOUT_FROM,
  OPT_NODES,
  OPT_NO_CONSTANTS,
  OPT_NO_INPUTS,
  OPT_NO_IN_PLACE,
  OPT_NO_PARAMS,
  OPT_NO_PITCH,
  OPT_NO_PIN,
  OPT_NO_REUSE,
  OPT_NO_RULE,
  OPT_ORDER,
  OPT_ORDER_MARGIN,
  OPT_ORDER_NODES,
  OPT_OUTPUT,
  OPT_PACK_PARAMS,
  OPT_PIN,
  OPT_PRESET,
  OPT_REWRITE,
  OPT_RULE,
  OPT_START,
  OPT_STRATEGY,
  OPT_STREAM,
  OPT_TIME,
  OPT_WEIGHTS
};

static const cli_option plan_options[] = {
    {OPT_PRESET, 0, "preset", "NAME",
     "the settings to start from (see below); by default\nthose of default"},
    {OPT_GRAPH, 0, "graph", "NAME",
     "the graph to plan, if FILE has several; if repeated,\nthey share one arena"},
    CLI_BIND_OPTION,
    CLI_MODEL_OPTIONS,
    {OPT_FORMAT, 0, "format", "NAME", "summary (the default), report, plan, json, csv, c"},
    {OPT_OUTPUT, 'o', "output", "OUT",
     "write to OUT, which is replaced only on success; for\nseveral graphs, to files in directory "
     "OUT"},
    {OPT_C_PREFIX, 0, "c-prefix", "NAME",
     "the prefix of names in --format c; by default the\ngraph's name"},
    {OPT_CAPACITY, 0, "capacity", "SIZE",
     "exit with 1 if no arena of SIZE is enough, with 4 if\nnone was found"},
    {OPT_ALIGN, 0, "align", "SIZE", "alignment of every slot, a power of two; by default\n64"},
    {OPT_GUARD, 0, "guard", "SIZE",
     "bytes kept free after each boundary value (an\ninput, param or constant); 0: none"},
    {OPT_STRATEGY, 0, "strategy", "NAME", "how buffers are placed (see below)"},
    {OPT_NODES, 0, "nodes", "N",
     "the node budget of the search: 100k, 5M, unlimited;\nby default 1M, unless --time is "
     "given"},
    {OPT_TIME, 0, "time", "DURATION", "end the search after 500ms, 10s, 2m, 1.5h"},
    {OPT_START, 0, "start", "PLAN",
     "start from an earlier plan of a graph that has\nchanged a little, written with --format csv: "
     "few\nbuffers move"},
    {OPT_ORDER, 0, "order", "ORDER",
     "given: as in the file; auto: another one if that\nmakes the arena smaller; or a file that "
     "lists the\nnodes; by default auto for a model, otherwise given"},
    {OPT_ORDER_MARGIN, 0, "order-margin", "SIZE",
     "take another order only if it saves more than SIZE"},
    {OPT_ORDER_NODES, 0, "order-nodes", "N",
     "the node budget of the search for an order; by\ndefault 1M; 0: no search, no bound for any "
     "order"},
    {OPT_NO_IN_PLACE, 0, "no-in-place", NULL,
     "no result is computed in place of an operand, unless\nthe graph's own clauses allow it"},
    {OPT_KEEP_COPIES, 0, "keep-copies", NULL,
     "concat copies its operands; none is built inside the\nresult"},
    {OPT_NO_PITCH, 0, "no-pitch", NULL,
     "all values are dense: parts along inner axes do not\nlie in the rows of a whole, as they "
     "may with\n--kernels stowage"},
    {OPT_REWRITE, 0, "rewrite", "LIST", CLI_REWRITE_HELP},
    {OPT_FOLD_LIMIT, 0, "fold-limit", "X", CLI_FOLD_LIMIT_HELP},
    {OPT_STREAM, 0, "stream", "WHEN", CLI_STREAM_HELP},
    {OPT_EXPLAIN, 0, "explain", NULL,
     "after the summary, show what was rewritten and\nshared, what was not, and why"},
    {OPT_HINTS, 0, "hints", "WHEN",
     "plan again with options that may make the arena\nsmaller, and show those that do: auto (the "
     "default):\nuntil 1M nodes are spent; always: however long it\ntakes; never"},
    {OPT_NO_REUSE, 0, "no-reuse", NULL, "no two values share bytes"},
    {OPT_F32_UNIFORM, 0, "f32-uniform", NULL, "at least 4 bytes for every element"},
    {OPT_WEIGHTS, 0, "weights", "WHERE",
     "arena or file: whether params and constants get\nslots; by default file for a model and with "
     "--kernels\nstowage, otherwise arena"},
    {OPT_KERNELS, 0, "kernels", "WHOSE",
     "stowage: of each kernel of 'stowage run' the fastest\nvariant whose scratch fits without a "
     "larger arena;\nfastest: the fastest, however large; none: without\nscratch, for another "
     "executor; by default stowage\nfor a model, otherwise none"},
    {OPT_PACK, 0, "pack", "WHEN",
     "never, auto or always: whether weights outside the\narena are put in the order in which "
     "their kernel\nreads them; auto, the default: where that takes at\nmost an eighth more bytes"},
    {OPT_NO_PARAMS, 0, "no-params", NULL, "params get no slot"},
    {OPT_NO_INPUTS, 0, "no-inputs", NULL, "inputs get no slot"},
    {OPT_NO_CONSTANTS, 0, "no-constants", NULL, "constants get no slot"},
    {OPT_PACK_PARAMS, 0, "pack-params", NULL, "all params packed at the bottom of the arena"},
    {OPT_IO, 0, "io", "[NAME=]POLICY",
     "keep, consume or external: for all boundary values\nand outputs, or for NAME alone; may be "
     "repeated"},
    {OPT_ALIAS, 0, "alias", "OUT=IN", CLI_ALIAS_HELP},
    {OPT_LAYOUT_FROM, 0, "layout-from", "GRAPH|PLAN",
     "with --preset backward: params are where the plan of\nthis graph of FILE has them, made with "
     "the same\noptions; or where this saved plan has them"},
    {OPT_RULE, 0, "rule", "NAME", "add a lifetime rule (see below); may be repeated"},
    {OPT_NO_RULE, 0, "no-rule", "NAME", "disable a lifetime rule; may be repeated"},
    {OPT_PIN, 0, PIN_RULE, NULL, "the same as --rule " PIN_RULE},
    {OPT_NO_PIN, 0, "no-" PIN_RULE, NULL, "the same as --no-rule " PIN_RULE},
};

static const char* preset_at(size_t index, const void* user) {
  (void)user;
  return stow_preset_name((stow_preset)index);
}

static const char* rule_at(size_t index, const void* user) {
  (void)user;
  return stow_rule_at(index)->name;
}

static const char* const format_names[] = {
#define FORMAT_NAME(name, text) text,
    CLI_FORMAT_LIST(FORMAT_NAME)
#undef FORMAT_NAME
};

static void print_words(cli_output* output) {
  cli_print(output, "Presets:\n");
  for (size_t i = 0; i < STOW_PRESET_COUNT; ++i) {
    cli_print_word(output, stow_preset_name((stow_preset)i), stow_preset_summary((stow_preset)i));
  }
  cli_print(output, "\nLifetime rules:\n");
  for (size_t i = 0; i < stow_rule_count(); ++i) {
    cli_print_word(output, stow_rule_at(i)->name, stow_rule_at(i)->summary);
  }
  cli_print(output, "\nRewriting rules:\n");
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    cli_print_word(output, stow_rewrite_rule_name((stow_rewrite_rule)i),
                   stow_rewrite_rule_summary((stow_rewrite_rule)i));
  }
  cli_print(output, "\n");
  cli_print_strategies(output);
  cli_print(output,
            "\nSeveral FILEs, or graphs of one, are planned for one arena in which they "
            "take\nturns; what they have in common has the same offset in all.\n"
            "\nA SIZE is a number of bytes, or one with kB, MB, GB (1000) or KiB, MiB, GiB\n"
            "(1024). STOWAGE_NO_REUSE=1 in the environment is --no-reuse.\n");
}

static cli_exit read_preset(const char* value, stow_preset* out) {
  return stow_preset_find(stow_str_of(value), out)
             ? CLI_YES
             : cli_fail_word("preset", value, preset_at, STOW_PRESET_COUNT, NULL);
}

static cli_exit read_format(const char* value, cli_format* out) {
  size_t found;
  CLI_TRY(cli_read_word("format", value, format_names, CLI_FORMAT_COUNT, &found));
  *out = (cli_format)found;
  return CLI_YES;
}

static cli_exit read_weights(const char* value, stowi_request_weights* out) {
  static const char* const places[] = {"arena", "file"};
  size_t found;
  CLI_TRY(cli_read_word("weights", value, places, 2, &found));
  *out = found == 0 ? STOWI_REQUEST_WEIGHTS_ARENA : STOWI_REQUEST_WEIGHTS_FILE;
  return CLI_YES;
}

static cli_exit read_kernels(const char* value, stowi_request_kernels* out) {
  static const char* const names[] = {"none", "stowage", "fastest"};
  size_t found;
  CLI_TRY(cli_read_word("kernels", value, names, 3, &found));
  *out = (stowi_request_kernels)(STOWI_REQUEST_KERNELS_NONE + found);
  return CLI_YES;
}

static cli_exit read_pack(const char* value, stowi_request_choices* out) {
  static const char* const names[] = {"never", "auto", "always"};
  size_t found;
  CLI_TRY(cli_read_word("pack", value, names, 3, &found));
  out->pack = (stow_pack)found;
  out->has_pack = true;
  return CLI_YES;
}

static cli_exit read_rewrite(stowi_request_rewrite* rewrite, const char* value) {
  stow_diag diag = cli_diag();
  stow_status status = stowi_request_read_rewrite(value, &diag, rewrite);
  return status == STOW_OK ? CLI_YES
                           : cli_fail(CLI_USAGE, "--rewrite: %s", cli_diag_text(status, &diag));
}

static cli_exit read_fold_limit(stowi_request_rewrite* rewrite, const char* value) {
  stow_diag diag = cli_diag();
  stow_status status = stowi_request_read_fold_limit(value, &diag, rewrite);
  return status == STOW_OK ? CLI_YES
                           : cli_fail(CLI_USAGE, "--fold-limit: %s", cli_diag_text(status, &diag));
}

static cli_exit read_stream(stowi_request_rewrite* rewrite, const char* value) {
  stow_diag diag = cli_diag();
  stow_status status = stowi_request_read_stream(value, &diag, rewrite);
  return status == STOW_OK ? CLI_YES
                           : cli_fail(CLI_USAGE, "--stream: %s", cli_diag_text(status, &diag));
}

static bool is_rewrite_given(const cli_plan_request* request) {
  return request->choices.rewrite.is_given && !request->choices.rewrite.is_none;
}

static cli_exit read_hints(const char* value, cli_hints* out) {
  static const char* const names[] = {"auto", "never", "always"};
  size_t found;
  CLI_TRY(cli_read_word("hints", value, names, 3, &found));
  *out = (cli_hints)found;
  return CLI_YES;
}

static cli_exit read_rule(cli_plan_request* request, const char* option, const char* value,
                          bool on) {
  cli_rule_switch item = {stow_rule_find(stow_str_of(value)), on};
  if (item.rule == NULL) {
    return cli_fail_word(option, value, rule_at, stow_rule_count(), NULL);
  }
  return cli_list_add(&request->rules, &item, sizeof item) ? CLI_YES : cli_fail_memory();
}

static cli_exit read_prefix(const char* value, const char** out) {
  bool good = value[0] != '\0' && !stowi_is_digit(value[0]);
  for (const char* c = value; *c != '\0'; ++c) {
    good = good && stowi_is_alnum(*c);
  }
  *out = value;
  return good ? CLI_YES : cli_fail(CLI_USAGE, "--c-prefix: '%s' is not a C identifier", value);
}

static cli_exit read_guard(cli_plan_request* request, const char* value) {
  request->has_guard = true;
  return cli_parse_padding("guard", value, &request->guard);
}

static cli_exit read_alignment(cli_plan_request* request, const char* value) {
  request->has_alignment = true;
  return cli_parse_alignment("align", value, &request->alignment);
}

static cli_exit read_order_nodes(cli_plan_request* request, const char* value) {
  request->has_order_nodes = true;
  return cli_parse_nodes("order-nodes", value, &request->order_nodes);
}

// `@name` and `name` are the same graph.
static cli_exit add_graph(cli_plan_request* request, const char* value) {
  const char* name = value[0] == '@' ? value + 1 : value;
  const char* const* names = request->graphs.items;
  for (size_t i = 0; i < request->graphs.count; ++i) {
    if (strcmp(names[i], name) == 0) {
      return cli_fail(CLI_USAGE, "--graph: '%s' is given twice", name);
    }
  }
  return cli_list_add(&request->graphs, &name, sizeof name) ? CLI_YES : cli_fail_memory();
}

cli_exit cli_plan_request_take(void* user, const cli_option* option, const char* value) {
  cli_plan_request* request = user;
  cli_exit code;
  if (cli_model_request_take(&request->model, option, value, &code)) {
    return code;
  }
  switch (option->id) {
    case OPT_ALIAS: return cli_io_policies_alias(&request->io, value);
    case OPT_ALIGN: return read_alignment(request, value);
    case OPT_C_PREFIX: return read_prefix(value, &request->c_prefix);
    case OPT_CAPACITY: return cli_parse_capacity(value, &request->capacity);
    case OPT_EXPLAIN: return cli_set_switch(&request->explain);
    case OPT_FOLD_LIMIT: return read_fold_limit(&request->choices.rewrite, value);
    case OPT_F32_UNIFORM: return cli_set_switch(&request->f32_uniform);
    case OPT_FORMAT: request->has_format = true; return read_format(value, &request->format);
    case OPT_GRAPH: return add_graph(request, value);
    case OPT_GUARD: return read_guard(request, value);
    case OPT_HINTS: return read_hints(value, &request->hints);
    case OPT_IO: return cli_io_policies_add(&request->io, value);
    case OPT_KEEP_COPIES: return cli_set_switch(&request->keep_copies);
    case OPT_NO_PITCH: return cli_set_switch(&request->no_pitch);
    case OPT_KERNELS: return read_kernels(value, &request->choices.kernels);
    case OPT_PACK: return read_pack(value, &request->choices);
    case OPT_LAYOUT_FROM:
      request->choices.has_layout = true;
      return cli_set_text(&request->layout_from, value);
    case OPT_NO_CONSTANTS: return cli_set_switch(&request->no_constants);
    case OPT_NO_INPUTS: return cli_set_switch(&request->no_inputs);
    case OPT_NO_IN_PLACE: return cli_set_switch(&request->no_in_place);
    case OPT_NO_PARAMS: return cli_set_switch(&request->no_params);
    case OPT_NO_REUSE: return cli_set_switch(&request->no_reuse);
    case OPT_ORDER: return cli_set_text(&request->order, value);
    case OPT_ORDER_MARGIN: return cli_parse_size(option->name, value, &request->margin);
    case OPT_ORDER_NODES: return read_order_nodes(request, value);
    case OPT_OUTPUT: return cli_set_text(&request->output, value);
    case OPT_PACK_PARAMS: return cli_set_switch(&request->pack_params);
    case OPT_PRESET: return read_preset(value, &request->choices.preset);
    case OPT_REWRITE: return read_rewrite(&request->choices.rewrite, value);
    case OPT_PIN:
    case OPT_NO_PIN: return read_rule(request, option->name, PIN_RULE, option->id == OPT_PIN);
    case OPT_RULE:
    case OPT_NO_RULE: return read_rule(request, option->name, value, option->id == OPT_RULE);
    case OPT_NODES: return cli_budget_read_nodes(&request->budget, value);
    case OPT_STREAM: return read_stream(&request->choices.rewrite, value);
    case OPT_START: return cli_set_text(&request->start, value);
    case OPT_TIME: return cli_budget_read_time(&request->budget, value);
    case OPT_WEIGHTS: return read_weights(value, &request->choices.weights);
    default: return cli_read_strategy(value, &request->strategy);
  }
}

// Standard input can be read once.
static cli_exit check_stdin(const cli_plan_request* request) {
  size_t count = 0;
  for (size_t i = 0; i < request->file_count; ++i) {
    count += cli_is_stdin(request->files[i]);
  }
  if (count > 1) {
    return cli_fail(CLI_USAGE, "only one FILE can be standard input");
  }
  if (count > 0 && request->layout_from != NULL && cli_is_stdin(request->layout_from)) {
    return cli_fail(CLI_USAGE, "FILE and --layout-from cannot both be standard input");
  }
  if (count > 0 && request->order != NULL && cli_is_stdin(request->order)) {
    return cli_fail(CLI_USAGE, "FILE and --order cannot both be standard input");
  }
  if (count > 0 && request->start != NULL && cli_is_stdin(request->start)) {
    return cli_fail(CLI_USAGE, "FILE and --start cannot both be standard input");
  }
  return CLI_YES;
}

// Two graphs are planned, and the plan with the smaller arena is taken.
static cli_exit check_stream(const cli_plan_request* request) {
  const char* other = !request->choices.rewrite.streams              ? NULL
                      : request->layout_from != NULL                 ? "layout-from"
                      : request->start != NULL                       ? "start"
                      : cli_plan_request_order_file(request) != NULL ? "order FILE"
                                                                     : NULL;
  if (other != NULL) {
    return cli_fail(CLI_USAGE, "--stream does not go with --%s", other);
  }
  return request->choices.rewrite.streams && stowi_request_follows_another(&request->choices)
             ? cli_fail(CLI_USAGE, "--stream: --preset %s plans graphs as they are",
                        stow_preset_name(request->choices.preset))
             : CLI_YES;
}

// What single options cannot tell.
cli_exit cli_plan_request_check(const cli_plan_request* request) {
  if (request->explain && request->format != CLI_FORMAT_SUMMARY) {
    return cli_fail(CLI_USAGE, "--explain is a part of the summary; --format json has 'decisions'");
  }
  if (request->layout_from != NULL && request->choices.preset != STOW_PRESET_BACKWARD) {
    return cli_fail(CLI_USAGE, "--layout-from needs --preset backward");
  }
  if (request->choices.weights == STOWI_REQUEST_WEIGHTS_ARENA &&
      (request->no_params || request->no_constants)) {
    return cli_fail(CLI_USAGE, "--weights arena contradicts --no-%s",
                    request->no_params ? "params" : "constants");
  }
  bool is_rewritten = is_rewrite_given(request);
  if (is_rewritten && stowi_request_follows_another(&request->choices)) {
    return cli_fail(CLI_USAGE, "--rewrite: --preset %s plans graphs as they are",
                    stow_preset_name(request->choices.preset));
  }
  if (is_rewritten && request->layout_from != NULL) {
    return cli_fail(CLI_USAGE, "--rewrite: the params of --layout-from are those of the graph");
  }
  CLI_TRY(check_stream(request));
  if (request->c_prefix != NULL && request->format != CLI_FORMAT_C) {
    return cli_fail(CLI_USAGE, "--c-prefix needs --format c");
  }
  return CLI_YES;
}

static cli_exit check_ending(const cli_plan_request* request) {
  static const cli_ending endings[] = {
      {".json", "json"}, {".csv", "csv"}, {".plan", "plan"}, {".h", "c"}};
  return request->has_format
             ? CLI_YES
             : cli_refuse_endings(request->output, endings, sizeof endings / sizeof endings[0]);
}

cli_exit cli_plan_request_read(cli_plan_request* request, int argc, char** argv,
                               cli_arguments* out_arguments) {
  *request = (cli_plan_request){.capacity = STOW_NO_CAPACITY};
  cli_exit code =
      cli_parse(&cli_plan_command, argc, argv, cli_plan_request_take, request, out_arguments);
  if (code != CLI_YES || out_arguments->help) {
    return code;
  }
  request->files = out_arguments->operands;
  request->file_count = out_arguments->operand_count;
  CLI_TRY(check_stdin(request));
  CLI_TRY(check_ending(request));
  CLI_TRY(cli_plan_request_check(request));
  // What cannot be asked of several graphs.
  const char* option = request->layout_from != NULL                               ? "layout-from"
                       : request->start != NULL                                   ? "start"
                       : request->pack_params                                     ? "pack-params"
                       : is_rewrite_given(request)                                ? "rewrite"
                       : request->choices.rewrite.streams                         ? "stream"
                       : request->choices.kernels > STOWI_REQUEST_KERNELS_NONE    ? "kernels"
                       : cli_plan_request_order(request, false) == CLI_ORDER_FILE ? "order FILE"
                                                                                  : NULL;
  return option == NULL || !cli_plan_request_is_set(request)
             ? CLI_YES
             : cli_fail(CLI_USAGE, "--%s is for one graph, not for several in one arena", option);
}

void cli_plan_request_free(cli_plan_request* request) {
  cli_model_request_free(&request->model);
  cli_io_policies_free(&request->io);
  cli_list_free(&request->rules, sizeof(cli_rule_switch));
  cli_list_free(&request->graphs, sizeof(const char*));
}

const cli_command cli_plan_command = {
    .name = "plan",
    .summary = "Plans a graph, proves the plan and shows it",
    .operand_count = CLI_ANY_NUMBER,
    .required_operands = 1,
    .operands = {"FILE"},
    .option_count = sizeof plan_options / sizeof plan_options[0],
    .options = plan_options,
    .more_help = print_words,
    .run = cli_plan_run,
};

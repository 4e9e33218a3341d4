// Hints. The options that can make an arena smaller without moving bytes elsewhere or taking away
// what an executor needs are tried one by one, then together: each is planned and proven as the
// plan that is shown, so that whoever gives the option gets that arena. What is tried, and when to
// stop, depends on counts and nodes alone, never on a clock.
//
// Not tried, because they change what others rely on: --io external, --no-inputs and --weights file
// (the bytes are then somewhere else), --align, --guard and lifetime rules (the executor needs
// them), --kernels none, and larger budgets, which cost more than they may spend here.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/info.h"
#include "plan/alias_pairs.h"
#include "plan/job.h"
#include "terminal/text.h"

#define MOST_INPUTS 4  // inputs at the peak that are consumed one by one
#define MOST_SHOWN 5   // hints
#define MOST_GROUPS 4  // of aliases
#define NO_ARENA UINT64_MAX

typedef enum hint_kind {
  CONSUME,
  CONSUME_ALL,
  ALIAS,
  ORDER,
  KERNELS,
  NEAR,
  STREAM,
  KIND_COUNT
} hint_kind;

typedef struct candidate {
  hint_kind kind;
  stow_value input;       // of CONSUME
  cli_alias_group group;  // of ALIAS
  stow_string text;       // as a shell takes it
  uint64_t arena;         // of its plan; NO_ARENA: it has none, or is no smaller
} candidate;

typedef struct finder {
  const cli_plan_job* job;
  cli_list candidates;       // of candidate
  cli_list pairs;            // of cli_alias_pair
  stow_rewritten* near;      // by all rules but streams; NULL: nothing more would be rewritten
  stow_rewritten* streamed;  // NULL: no rows would stream
  uint64_t left;             // nodes
  uint64_t usual;            // nodes of the plan that is shown
  bool is_stopped;           // by a signal
} finder;

static candidate* at(const finder* f, size_t index) {
  return &((candidate*)f->candidates.items)[index];
}

static uint64_t nodes_of(const stow_plan* plan) {
  return cli_plan_search(plan).nodes + cli_plan_ordering(plan).nodes;
}

// ---------------------------------------------------------------------------------------------
// Plans

static stow_status change_effects(const candidate* c, stow_effects* effects) {
  const cli_alias_group* group = &c->group;
  stow_diag diag = cli_diag();
  if (c->kind == CONSUME) {
    return stow_effects_set_io(effects, c->input, STOW_IO_CONSUME, &diag);
  }
  stow_status status = STOW_OK;
  for (size_t i = 0; i < group->count && status == STOW_OK; ++i) {
    status = stow_effects_alias(effects, group->pairs[i].output, group->pairs[i].input, &diag);
  }
  return status;
}

static void change_job(const finder* f, const candidate* c, cli_plan_job* trial) {
  if (c->kind == NEAR || c->kind == STREAM) {
    trial->rewritten = c->kind == NEAR ? f->near : f->streamed;
    trial->graph = stow_rewritten_graph(trial->rewritten);
    stow_rewritten_stamp(trial->rewritten, trial->stamp);
  } else if (c->kind == CONSUME_ALL) {
    trial->request.io.general = STOW_IO_CONSUME;
  } else if (c->kind == ORDER) {
    trial->order = CLI_ORDER_AUTO;
  } else if (c->kind == KERNELS) {
    trial->kernels.fastest = false;
  }
}

static bool is_input(const stow_graph* graph, stow_value value) {
  return stow_graph_op(graph, stow_graph_producer(graph, value)) == STOW_OP_INPUT;
}

// Whether outputs that lie in inputs, as may have been asked for, still do.
static bool keeps_aliases(const cli_plan_job* job, const stow_plan* plan) {
  bool is_kept = true;
  for (size_t i = 0; i < stow_graph_output_count(job->graph) && is_kept; ++i) {
    stow_value output = stow_graph_outputs(job->graph)[i];
    stow_value root = stow_plan_root(job->plan, output);
    is_kept = !is_input(job->graph, root) || stow_plan_root(plan, output) == root;
  }
  return is_kept;
}

static bool has_aliases(const candidate* c, const stow_plan* plan) {
  bool has_all = true;
  for (size_t i = 0; i < c->group.count && has_all; ++i) {
    has_all = stow_plan_root(plan, c->group.pairs[i].output) == c->group.pairs[i].input;
  }
  return has_all;
}

// Another graph is tried only if no output lies in an input.
static bool is_as_asked(const finder* f, const bool* is_taken, const cli_plan_job* trial) {
  const stow_plan* plan = trial->plan;
  bool is_asked = trial->graph != f->job->graph || keeps_aliases(f->job, plan);
  for (size_t i = 0; i < f->candidates.count && is_asked; ++i) {
    is_asked = !is_taken[i] || has_aliases(at(f, i), plan);
  }
  return is_asked;
}

// With the candidates that |is_taken| marks.
static cli_exit make_trial(finder* f, const bool* is_taken, cli_plan_job* trial,
                           uint64_t* out_arena) {
  stow_plan_options options;
  stow_diag diag = cli_diag();
  stow_status status = STOW_OK;
  for (size_t i = 0; i < f->candidates.count; ++i) {
    if (is_taken[i]) {
      change_job(f, at(f, i), trial);
    }
  }
  CLI_TRY(cli_plan_request_options(&trial->request, &options));
  CLI_TRY(cli_plan_job_effects(trial));
  for (size_t i = 0; i < f->candidates.count && status == STOW_OK; ++i) {
    if (is_taken[i]) {
      status = change_effects(at(f, i), trial->effects);
    }
  }
  status = status == STOW_OK ? cli_plan_job_search(trial, &options, &diag) : status;
  status = status == STOW_OK ? cli_plan_job_prove(trial, &diag) : status;
  f->is_stopped = trial->search.stopped_by != NULL;
  if (status == STOW_OK && !f->is_stopped && is_as_asked(f, is_taken, trial)) {
    *out_arena = stow_plan_arena_size(trial->plan);
  }
  return status == STOW_ERR_OUT_OF_MEMORY ? cli_fail_memory() : CLI_YES;
}

// |*out_arena| is NO_ARENA where that cannot be done, or no nodes are left for it.
static cli_exit plan_with(finder* f, const bool* is_taken, uint64_t* out_arena) {
  *out_arena = NO_ARENA;
  if (f->is_stopped || f->left < f->usual) {
    return CLI_YES;
  }
  cli_plan_job trial = *f->job;
  trial.prepared = NULL;
  trial.effects = NULL;
  trial.plan = NULL;
  trial.runs = trial.runs == &f->job->kernels ? &trial.kernels : trial.runs;
  cli_exit code = make_trial(f, is_taken, &trial, out_arena);
  uint64_t spent = trial.plan == NULL ? 0 : nodes_of(trial.plan);
  f->left -= spent < f->left ? spent : f->left;
  stow_plan_destroy(trial.plan);
  cli_plan_job_free_effects(&trial);
  return code;
}

// ---------------------------------------------------------------------------------------------
// Inputs to consume

// A cache that an op appends to is kept on purpose.
static bool is_cache(const cli_plan_job* job, stow_value input) {
  for (stow_node node = 0; node < stow_graph_node_count(job->graph); ++node) {
    if (stow_graph_op_desc(job->graph, node)->writes_view &&
        stow_plan_root(job->plan, stow_graph_operands(job->graph, node)[0]) == input) {
      return true;
    }
  }
  return false;
}

static bool is_kept(const cli_plan_job* job, stow_value value) {
  stow_slot slot;
  return is_input(job->graph, value) && stow_plan_value_slot(job->plan, value, &slot) &&
         cli_plan_value(job->plan, value).end > stow_plan_step_count(job->plan) &&
         !is_cache(job, value);
}

static bool append(stow_string* text, stow_str part) {
  return stow_string_append(text, part.data, part.size) == STOW_OK;
}

static cli_exit add(finder* f, const candidate* c) {
  if (cli_list_add(&f->candidates, c, sizeof *c)) {
    return CLI_YES;
  }
  stow_string text = c->text;
  stow_string_free(&text);
  return cli_fail_memory();
}

// `--io NAME=consume`, with quotes where a shell needs them.
static cli_exit add_consume(finder* f, stow_value input) {
  const stow_graph* graph = f->job->graph;
  char id[16];
  snprintf(id, sizeof id, "%%%" PRIu32, input);
  stow_str name =
      cli_has_plain_name(graph, input) ? stow_graph_value_name(graph, input) : stow_str_of(id);
  stow_str quote = stow_str_of(cli_is_plain_word(name) || name.data == id ? "" : "'");
  candidate c = {.kind = CONSUME, .input = input, .text = cli_string(), .arena = NO_ARENA};
  bool is_done = append(&c.text, stow_str_of("--io ")) && append(&c.text, quote) &&
                 append(&c.text, name) && append(&c.text, stow_str_of("=consume")) &&
                 append(&c.text, quote);
  if (!is_done) {
    stow_string_free(&c.text);
    return cli_fail_memory();
  }
  return add(f, &c);
}

static cli_exit add_plain(finder* f, hint_kind kind, const char* text) {
  candidate c = {.kind = kind, .text = cli_string(), .arena = NO_ARENA};
  return append(&c.text, stow_str_of(text)) ? add(f, &c) : cli_fail_memory();
}

// All of them, unless there is only one, or a cache is among them.
static cli_exit add_all_inputs(finder* f) {
  const cli_plan_job* job = f->job;
  size_t kept = 0;
  bool has_cache = false;
  for (stow_value value = 0; value < stow_graph_value_count(job->graph); ++value) {
    kept += is_kept(job, value);
    has_cache = has_cache || (is_input(job->graph, value) && is_cache(job, value));
  }
  return kept > 1 && !has_cache ? add_plain(f, CONSUME_ALL, "--io consume") : CLI_YES;
}

// Those at the peak, most bytes first.
static cli_exit add_inputs(finder* f) {
  const cli_plan_job* job = f->job;
  size_t left = job->request.hints == CLI_HINTS_ALWAYS ? SIZE_MAX : MOST_INPUTS;
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < cli_plan_info(job->plan).peak_count && code == CLI_YES; ++i) {
    stow_value value = stow_plan_peak_value(job->plan, i);
    if (left > 0 && is_kept(job, value)) {
      code = add_consume(f, value);
      --left;
    }
  }
  return code;
}

// ---------------------------------------------------------------------------------------------
// Outputs in inputs

static cli_exit add_group(finder* f, const cli_alias_group* group) {
  candidate c = {.kind = ALIAS, .group = *group, .text = cli_string(), .arena = NO_ARENA};
  bool is_written = cli_alias_group_write(group, f->job->graph, &c.text);
  if (is_written && c.text.size > 0) {
    return add(f, &c);
  }
  stow_string_free(&c.text);
  return is_written ? CLI_YES : cli_fail_memory();
}

static cli_exit add_aliases(finder* f) {
  if (!cli_alias_pairs_find(f->job->graph, f->job->plan, &f->pairs)) {
    return cli_fail_memory();
  }
  cli_exit code = CLI_YES;
  size_t groups = 0;
  for (size_t next = 0; next < f->pairs.count && groups < MOST_GROUPS && code == CLI_YES;) {
    cli_alias_group group = cli_alias_group_at(&f->pairs, next);
    code = add_group(f, &group);
    next += group.count;
    ++groups;
  }
  return code;
}

// ---------------------------------------------------------------------------------------------
// Other rules of rewriting

static bool has_outputs_in_inputs(const cli_plan_job* job) {
  bool has = false;
  for (size_t i = 0; i < stow_graph_output_count(job->graph); ++i) {
    has = has || is_input(job->graph, stow_plan_root(job->plan, stow_graph_outputs(job->graph)[i]));
  }
  return has;
}

static stow_rewrite_options rewrite_options(const cli_plan_job* job) {
  return stowi_request_rewrite_options(&job->request.choices, cli_source_is_model(&job->source));
}

// Which near rules of |off| would fire, alone: a graph that has nothing for them is soon passed.
static cli_exit count_firings(const cli_plan_job* job, uint32_t off, size_t* out_count) {
  stow_rewrite_options options = rewrite_options(job);
  stow_rewritten* rewritten = NULL;
  options.off = ~off;
  *out_count = 0;
  CLI_TRY(cli_rewrite_graph(job->given, &options, job->source.label, &rewritten));
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    *out_count += stow_rewritten_count(rewritten, (stow_rewrite_rule)i);
  }
  stow_rewritten_destroy(rewritten);
  return CLI_YES;
}

// Values of the other graph have other ids, so this is not tried together with other hints.
static cli_exit add_near(finder* f) {
  const cli_plan_job* job = f->job;
  stow_rewrite_options options = rewrite_options(job);
  uint32_t stream = stow_rewrite_bit(STOW_REWRITE_STREAM);
  bool are_near = (options.off & ~stream) != 0;
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    stow_rewrite_rule rule = (stow_rewrite_rule)i;
    bool is_off = (options.off & stow_rewrite_bit(rule)) != 0;
    are_near =
        are_near && (!is_off || rule == STOW_REWRITE_STREAM || stow_rewrite_rule_is_near(rule));
  }
  if (!are_near || job->rewritten == NULL || job->schedule != NULL || job->start != NULL ||
      has_outputs_in_inputs(job)) {
    return CLI_YES;
  }
  size_t count;
  CLI_TRY(count_firings(job, options.off & ~stream, &count));
  if (count == 0) {
    return CLI_YES;
  }
  options.off &= stream;
  CLI_TRY(cli_rewrite_graph(job->given, &options, job->source.label, &f->near));
  return add_plain(f, NEAR, "--rewrite near");
}

// As with other rules. Not for another executor, which has no such node.
static cli_exit add_stream(finder* f) {
  const cli_plan_job* job = f->job;
  if (job->request.choices.rewrite.streams || job->runs == NULL || job->schedule != NULL ||
      job->start != NULL || job->layout != NULL || has_outputs_in_inputs(job) ||
      stowi_request_follows_another(&job->request.choices)) {
    return CLI_YES;
  }
  stowi_request_choices choices = job->request.choices;
  choices.rewrite.streams = true;
  choices.rewrite.stream_rows = 1;  // saves most
  stow_rewrite_options options =
      stowi_request_rewrite_options(&choices, cli_source_is_model(&job->source));
  CLI_TRY(cli_rewrite_graph(job->given, &options, job->source.label, &f->streamed));
  return stow_rewritten_count(f->streamed, STOW_REWRITE_STREAM) == 0
             ? CLI_YES
             : add_plain(f, STREAM, "--stream 1");
}

// ---------------------------------------------------------------------------------------------
// The best of them

// In the order in which they may spend nodes: what often saves most comes first.
static cli_exit find_candidates(finder* f) {
  const cli_plan_job* job = f->job;
  bool is_fastest = job->kernels.fastest && job->runs == &job->kernels;
  CLI_TRY(job->order == CLI_ORDER_AUTO ? CLI_YES : add_plain(f, ORDER, "--order auto"));
  CLI_TRY(is_fastest ? add_plain(f, KERNELS, "--kernels stowage") : CLI_YES);
  CLI_TRY(add_near(f));
  CLI_TRY(add_stream(f));
  CLI_TRY(add_all_inputs(f));
  CLI_TRY(add_inputs(f));
  return add_aliases(f);
}

// Less than a thousandth is not worth an option.
static bool helps(const finder* f, const candidate* c) {
  uint64_t arena = stow_plan_arena_size(f->job->plan);
  return c->arena < arena && arena - c->arena >= arena / 1000;
}

// The smallest arena with a candidate of |kind|; KIND_COUNT: with any.
static uint64_t best_of(const finder* f, hint_kind kind) {
  uint64_t best = NO_ARENA;
  for (size_t i = 0; i < f->candidates.count; ++i) {
    bool counts = kind == KIND_COUNT || at(f, i)->kind == kind;
    best = counts && at(f, i)->arena < best ? at(f, i)->arena : best;
  }
  return best;
}

static cli_exit plan_each(finder* f, bool* is_taken) {
  for (size_t i = 0; i < f->candidates.count; ++i) {
    candidate* c = at(f, i);
    is_taken[i] = true;
    CLI_TRY(plan_with(f, is_taken, &c->arena));
    is_taken[i] = false;
    c->arena = helps(f, c) ? c->arena : NO_ARENA;
  }
  // One input may do as much as all.
  for (size_t i = 0; i < f->candidates.count; ++i) {
    bool is_idle = at(f, i)->kind == CONSUME_ALL && at(f, i)->arena >= best_of(f, CONSUME);
    at(f, i)->arena = is_idle ? NO_ARENA : at(f, i)->arena;
  }
  return CLI_YES;
}

// All that help, as one more candidate where they save more together. Consuming all inputs stands
// for consuming single ones.
static cli_exit plan_together(finder* f, bool* is_taken) {
  bool has_all = best_of(f, CONSUME_ALL) != NO_ARENA;
  candidate c = {.kind = KIND_COUNT, .text = cli_string(), .arena = NO_ARENA};
  size_t count = 0;
  bool is_done = true;
  for (size_t i = 0; i < f->candidates.count && is_done; ++i) {
    is_taken[i] = at(f, i)->arena != NO_ARENA && at(f, i)->kind != NEAR &&
                  at(f, i)->kind != STREAM && (at(f, i)->kind != CONSUME || !has_all);
    if (is_taken[i]) {
      const stow_string* text = &at(f, i)->text;
      is_done = append(&c.text, stow_str_of(count++ == 0 ? "" : " ")) &&
                append(&c.text, (stow_str){text->data, text->size});
    }
  }
  cli_exit code = !is_done    ? cli_fail_memory()
                  : count > 1 ? plan_with(f, is_taken, &c.arena)
                              : CLI_YES;
  if (code == CLI_YES && c.arena < best_of(f, KIND_COUNT)) {
    return add(f, &c);
  }
  stow_string_free(&c.text);
  return code;
}

// Smallest arena first, then in the order in which they were tried.
static cli_exit note_hints(finder* f, stow_plan* plan) {
  for (size_t shown = 0; shown < MOST_SHOWN; ++shown) {
    candidate* best = NULL;
    for (size_t i = 0; i < f->candidates.count; ++i) {
      best = at(f, i)->arena < (best == NULL ? NO_ARENA : best->arena) ? at(f, i) : best;
    }
    if (best == NULL) {
      break;
    }
    stow_diag diag = cli_diag();
    stow_status status =
        stow_plan_add_hint(plan, (stow_str){best->text.data, best->text.size}, best->arena, &diag);
    CLI_TRY(status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag));
    best->arena = NO_ARENA;
  }
  return CLI_YES;
}

static cli_exit find_hints(finder* f) {
  CLI_TRY(find_candidates(f));
  bool* is_taken = calloc(f->candidates.count + 1, sizeof *is_taken);
  cli_exit code = is_taken == NULL ? cli_fail_memory() : plan_each(f, is_taken);
  code = code == CLI_YES ? plan_together(f, is_taken) : code;
  free(is_taken);
  return code;
}

cli_exit cli_plan_job_add_hints(cli_plan_job* job) {
  if (!cli_plan_request_has_hints(&job->request) || job->search.stopped_by != NULL) {
    return CLI_YES;
  }
  bool is_limited = job->request.hints == CLI_HINTS_AUTO;
  finder f = {.job = job,
              .left = is_limited ? STOW_PLAN_DEFAULT_NODES : UINT64_MAX,
              .usual = nodes_of(job->plan)};
  cli_exit code = find_hints(&f);
  code = code == CLI_YES ? note_hints(&f, job->plan) : code;
  for (size_t i = 0; i < f.candidates.count; ++i) {
    stow_string_free(&at(&f, i)->text);
  }
  cli_list_free(&f.candidates, sizeof(candidate));
  cli_list_free(&f.pairs, sizeof(cli_alias_pair));
  stow_rewritten_destroy(f.near);
  stow_rewritten_destroy(f.streamed);
  return code;
}

// Several graphs, one arena: opens the files, takes the graphs that are wanted out of them, plans
// them together, and proves each plan from its graph and all against each other.
#include "plan/set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/search.h"
#include "graphs/info.h"

typedef struct job {
  cli_plan_request* request;
  cli_source* sources;  // as many as files
  size_t open_count;
  cli_list members;  // of cli_member
  stow_set* set;
  cli_order_kind order;
  cli_search search;
} job;

static cli_member* member_at(const job* j, size_t index) {
  return (cli_member*)j->members.items + index;
}

// ---------------------------------------------------------------------------------------------
// Graphs

static cli_exit open_sources(job* j) {
  cli_plan_request* request = j->request;
  request->model.several = true;
  j->sources = calloc(request->file_count, sizeof *j->sources);
  cli_exit code = j->sources == NULL ? cli_fail_memory() : CLI_YES;
  for (size_t i = 0; i < request->file_count && code == CLI_YES; ++i) {
    ++j->open_count;
    code = cli_source_open(&j->sources[i], request->files[i], &request->model);
  }
  return code;
}

static cli_exit add_member(job* j, const cli_source* source, stow_graph* graph) {
  cli_member member = {source, graph, NULL};
  if (!cli_list_add(&j->members, &member, sizeof member)) {
    return cli_fail_memory();
  }
  CLI_TRY(cli_source_bind(source, &j->request->model.binds, graph));
  return cli_source_require_sizes(source, &j->request->model, graph);
}

// The graphs of one file that --graph names, or else the only one.
static cli_exit add_members(job* j, const cli_source* source, bool* used) {
  const char* const* names = j->request->graphs.items;
  size_t before = j->members.count;
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < j->request->graphs.count && code == CLI_YES; ++i) {
    stow_graph* graph = cli_source_find(source, names[i]);
    if (graph != NULL) {
      used[i] = true;
      code = add_member(j, source, graph);
    }
  }
  if (code == CLI_YES && j->members.count == before) {
    stow_graph* graph;
    code = cli_source_choose(source, NULL, &graph);
    code = code == CLI_YES ? add_member(j, source, graph) : code;
  }
  return code;
}

static cli_exit require_graphs(const job* j, const bool* used) {
  const char* const* names = j->request->graphs.items;
  for (size_t i = 0; i < j->request->graphs.count; ++i) {
    if (!used[i] && j->request->file_count == 1) {
      stow_graph* graph;
      return cli_source_choose(&j->sources[0], names[i], &graph);
    }
    if (!used[i]) {
      return cli_fail(CLI_USAGE, "unknown graph '%s' in all files", names[i]);
    }
  }
  return CLI_YES;
}

static cli_exit find_members(job* j) {
  bool* used = calloc(j->request->graphs.count + 1, sizeof *used);
  cli_exit code = used == NULL ? cli_fail_memory() : CLI_YES;
  for (size_t i = 0; i < j->open_count && code == CLI_YES; ++i) {
    code = add_members(j, &j->sources[i], used);
  }
  code = code == CLI_YES ? require_graphs(j, used) : code;
  free(used);
  return code == CLI_YES ? cli_model_request_require_used(&j->request->model) : code;
}

static cli_exit create_effects(job* j) {
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < j->members.count && code == CLI_YES; ++i) {
    cli_member* member = member_at(j, i);
    code = cli_effects_create_member(&j->request->io, member->source->label, member->graph,
                                     &member->effects);
  }
  return code == CLI_YES ? cli_io_policies_require_used(&j->request->io) : code;
}

// ---------------------------------------------------------------------------------------------
// The plans

// Options hold for all graphs, so files of both kinds have no default.
static cli_exit settle_kind(job* j, bool* out_models) {
  size_t models = 0;
  for (size_t i = 0; i < j->open_count; ++i) {
    models += cli_source_is_model(&j->sources[i]);
  }
  *out_models = models == j->open_count;
  return models == 0 || *out_models || j->request->choices.weights != STOWI_REQUEST_WEIGHTS_DEFAULT
             ? CLI_YES
             : cli_fail(CLI_USAGE,
                        "models and texts in one arena need --weights arena or --weights file");
}

static stow_status place(job* j, const stow_plan_options* options, stow_diag* diag) {
  stow_status status = stow_set_create(options, stow_allocator_default(), diag, &j->set);
  for (size_t i = 0; i < j->members.count && status == STOW_OK; ++i) {
    const cli_member* member = member_at(j, i);
    size_t index;
    status = stow_set_add(j->set, member->graph, member->effects, NULL, diag, &index);
  }
  return status == STOW_OK ? stow_set_place(j->set, diag) : status;
}

static cli_exit make_plans(job* j) {
  stow_plan_options options;
  bool models;
  cli_exit code = settle_kind(j, &models);
  if (code == CLI_YES) {
    cli_plan_request_place_weights(j->request, models);
    code = cli_plan_request_options(j->request, &options);
  }
  if (code != CLI_YES) {
    return code;
  }
  j->order = cli_plan_request_order(j->request, models);
  options.order = j->order == CLI_ORDER_AUTO ? STOW_ORDER_AUTO : STOW_ORDER_GIVEN;
  options.on_progress = cli_search_progress;
  options.user = &j->search;
  stow_diag diag = cli_diag();
  cli_search_begin(&j->search, &j->request->budget, true);
  stow_status status = place(j, &options, &diag);
  cli_search_end(&j->search);
  return status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
}

static cli_exit check_aliases(const job* j) {
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < j->members.count && code == CLI_YES; ++i) {
    const cli_member* member = member_at(j, i);
    code = cli_aliases_check(&j->request->io, member->source->label, member->graph,
                             stow_set_plan(j->set, i));
  }
  return code;
}

// ---------------------------------------------------------------------------------------------
// Proof

typedef struct proof {
  const stow_plan** plans;
  const stow_graph** graphs;
  const stow_effects** effects;
} proof;

static stow_status prove_members(const job* j, proof* p, stow_diag* diag) {
  stow_status status = STOW_OK;
  for (size_t i = 0; i < j->members.count && status == STOW_OK; ++i) {
    const cli_member* member = member_at(j, i);
    p->plans[i] = stow_set_plan(j->set, i);
    p->graphs[i] = member->graph;
    p->effects[i] = member->effects;
    status = stow_plan_check(p->plans[i], member->graph, member->effects, stow_allocator_default(),
                             diag, NULL);
  }
  return status == STOW_OK ? stow_set_check(p->plans, p->graphs, p->effects, j->members.count,
                                            stow_allocator_default(), diag, NULL)
                           : status;
}

static cli_exit prove(const job* j) {
  size_t count = j->members.count;
  proof p = {malloc(count * sizeof *p.plans), malloc(count * sizeof *p.graphs),
             malloc(count * sizeof *p.effects)};
  stow_diag diag = cli_diag();
  bool memory = p.plans != NULL && p.graphs != NULL && p.effects != NULL;
  stow_status status = memory ? prove_members(j, &p, &diag) : STOW_ERR_OUT_OF_MEMORY;
  free(p.plans);
  free(p.graphs);
  free(p.effects);
  if (status == STOW_ERR_VIOLATION) {
    return cli_fail(CLI_NO, "internal error: the plan is wrong: %s", cli_diag_text(status, &diag));
  }
  return status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
}

// ---------------------------------------------------------------------------------------------

// One graph that fits in no order settles it; so does the set's bound where the order is settled.
static cli_exit fail_capacity(const job* j) {
  uint64_t required = stow_set_arena_size(j->set);
  uint64_t available = j->request->capacity;
  uint64_t bound = cli_set_info(j->set).lower_bound;
  for (size_t i = 0; i < j->members.count; ++i) {
    const stow_plan* plan = stow_set_plan(j->set, i);
    uint64_t any_bound = cli_plan_ordering(plan).any_bound;
    stow_str name = stow_graph_name(member_at(j, i)->graph);
    if (any_bound > available) {
      cli_fail(CLI_NO, "the set does not fit: %" PRIu64 " bytes required, %" PRIu64 " available",
               required, available);
      cli_tell_more("@%.*s alone needs %" PRIu64 " bytes, in any order", (int)name.size, name.data,
                    any_bound);
      return CLI_NO;
    }
  }
  bool settled = bound > available && j->order != CLI_ORDER_AUTO;
  cli_exit code = settled || j->request->no_reuse ? CLI_NO : CLI_GAVE_UP;
  cli_fail(code, "the set%s: %" PRIu64 " bytes required, %" PRIu64 " available",
           code == CLI_NO ? " does not fit" : ": gave up", required, available);
  cli_tell_more("the lower bound, in the orders that were taken, is %" PRIu64 ": %s", bound,
                bound > available
                    ? (code == CLI_NO ? "no placement can fit" : "other orders may fit")
                    : "a better placement may fit");
  return code;
}

static cli_exit write_result(const job* j) {
  bool fits = stow_set_arena_size(j->set) <= j->request->capacity;
  cli_set set = {j->request, j->members.items, j->members.count, j->set, j->order};
  cli_exit code = cli_set_write(&set, fits);
  return code == CLI_YES && !fits ? fail_capacity(j) : code;
}

static void close_job(job* j) {
  stow_set_destroy(j->set);
  for (size_t i = 0; i < j->members.count; ++i) {
    stow_effects_destroy(member_at(j, i)->effects);
  }
  cli_list_free(&j->members, sizeof(cli_member));
  for (size_t i = 0; i < j->open_count; ++i) {
    cli_source_close(&j->sources[i]);
  }
  free(j->sources);
}

cli_exit cli_plan_set_run(cli_plan_request* request) {
  static cli_exit (*const steps[])(job*) = {open_sources, find_members, create_effects, make_plans};
  job j = {.request = request};
  cli_exit code = cli_set_check_output(request);
  for (size_t i = 0; i < sizeof steps / sizeof steps[0] && code == CLI_YES; ++i) {
    code = steps[i](&j);
  }
  code = code == CLI_YES ? check_aliases(&j) : code;
  code = code == CLI_YES ? prove(&j) : code;
  code = code == CLI_YES ? write_result(&j) : code;
  close_job(&j);
  return code;
}

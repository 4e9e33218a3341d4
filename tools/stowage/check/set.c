// Proves saved plans that share one arena: each from its graph, then all against each other.
#include "check/set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <stowage/set.h>

#include "files/file.h"
#include "files/output.h"
#include "graphs/source.h"
#include "plan/layout.h"
#include "report/api.h"

typedef struct pair {
  cli_source source;
  stow_string text;
  const char* plan_label;
  stow_graph* graph;  // owned by the source
} pair;

typedef struct job {
  size_t count;
  pair* pairs;
  const stow_graph** graphs;
  stow_effects** effects;
  stow_plan** plans;
} job;

static bool create_job(job* j, size_t count) {
  j->count = count;
  j->pairs = calloc(count, sizeof *j->pairs);
  j->graphs = calloc(count, sizeof *j->graphs);
  j->effects = calloc(count, sizeof *j->effects);
  j->plans = calloc(count, sizeof *j->plans);
  return j->pairs != NULL && j->graphs != NULL && j->effects != NULL && j->plans != NULL;
}

static void close_job(job* j) {
  for (size_t i = 0; i < j->count && j->pairs != NULL; ++i) {
    stow_string_free(&j->pairs[i].text);
  }
  for (size_t i = 0; i < j->count && j->effects != NULL; ++i) {
    stow_effects_destroy(j->effects[i]);
  }
  for (size_t i = 0; i < j->count && j->plans != NULL; ++i) {
    stow_plan_destroy(j->plans[i]);
  }
  for (size_t i = 0; i < j->count && j->pairs != NULL; ++i) {
    cli_source_close(&j->pairs[i].source);
  }
  free(j->pairs);
  free((void*)j->graphs);
  free(j->effects);
  free(j->plans);
}

static cli_exit open_pair(pair* p, const char* file, const char* plan, cli_model_request* model) {
  p->plan_label = cli_file_label(plan);
  stow_string_init(&p->text, stow_allocator_default());
  CLI_TRY(cli_source_open(&p->source, file, model));
  CLI_TRY(cli_plan_text_read(plan, &p->text));
  CLI_TRY(cli_plan_text_graph(&p->text, p->plan_label, &p->source, &p->graph));
  CLI_TRY(cli_source_bind(&p->source, &model->binds, p->graph));
  return cli_source_require_bound(&p->source, p->graph);
}

static cli_exit open_pairs(job* j, char** operands, cli_model_request* model) {
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < j->count && code == CLI_YES; ++i) {
    code = open_pair(&j->pairs[i], operands[2 * i], operands[2 * i + 1], model);
    j->graphs[i] = j->pairs[i].graph;
  }
  return code == CLI_YES ? cli_model_request_require_used(model) : code;
}

static cli_exit prove_pair(job* j, size_t i) {
  const pair* p = &j->pairs[i];
  stow_diag diag = cli_diag();
  stow_status status = stow_plan_read(p->text.data, p->text.size, NULL, p->graph,
                                      stow_allocator_default(), &diag, &j->plans[i]);
  if (status != STOW_OK) {
    return cli_fail_saved(p->plan_label, p->graph, status, &diag);
  }
  status =
      stow_plan_check(j->plans[i], p->graph, j->effects[i], stow_allocator_default(), &diag, NULL);
  return status == STOW_OK ? CLI_YES
                           : cli_fail_proof(p->plan_label, p->graph, false, status, &diag);
}

static cli_exit prove_pairs(job* j, const cli_io_policies* io) {
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < j->count && code == CLI_YES; ++i) {
    const pair* p = &j->pairs[i];
    code = cli_effects_create_member(io, p->source.label, p->graph, &j->effects[i]);
    code = code == CLI_YES ? prove_pair(j, i) : code;
  }
  return code == CLI_YES ? cli_io_policies_require_used(io) : code;
}

static cli_exit prove_together(const job* j) {
  stow_diag diag = cli_diag();
  stow_status status = stow_set_check((const stow_plan* const*)j->plans, j->graphs,
                                      (const stow_effects* const*)j->effects, j->count,
                                      stow_allocator_default(), &diag, NULL);
  return status == STOW_OK ? CLI_YES
                           : cli_fail(cli_exit_of(status), "%s", cli_diag_text(status, &diag));
}

static cli_exit print_success(const job* j) {
  cli_output output;
  cli_exit code = cli_output_open(&output, NULL);
  uint64_t arena = 0;
  for (size_t i = 0; i < j->count && code == CLI_YES; ++i) {
    char label[8192];
    char name[1024];
    uint64_t own = stow_plan_arena_size(j->plans[i]);
    stowi_report_escape(stow_str_of(j->pairs[i].plan_label), label, sizeof label);
    stowi_report_escape(stow_graph_name(j->graphs[i]), name, sizeof name);
    cli_print(&output, "%s: ok: @%s, %" PRIu32 " values, arena of %" PRIu64 " bytes\n", label, name,
              stow_plan_value_count(j->plans[i]), own);
    arena = own > arena ? own : arena;
  }
  cli_print(&output, "together: ok: %zu plans, one arena of %" PRIu64 " bytes\n", j->count, arena);
  return cli_output_close(&output, true);
}

cli_exit cli_check_set(char** operands, size_t count, cli_model_request* model,
                       const cli_io_policies* io) {
  job j = {0};
  model->several = true;
  cli_exit code = create_job(&j, count / 2) ? CLI_YES : cli_fail_memory();
  code = code == CLI_YES ? open_pairs(&j, operands, model) : code;
  code = code == CLI_YES ? prove_pairs(&j, io) : code;
  code = code == CLI_YES ? prove_together(&j) : code;
  code = code == CLI_YES ? print_success(&j) : code;
  close_job(&j);
  return code;
}

// Saved plans as jobs: the graph is found and bound as `stowage plan` does it, the plan is read
// instead of made, and proven all the same.
#include "plan/job.h"

// As the plan says. A job that has the graph already may have it rewritten in another way.
static cli_exit take_graph(cli_plan_job* job, const stow_graph* graph, const stow_string* text,
                           const char* label) {
  stow_rewrite_options options;
  bool is_rewritten;
  CLI_TRY(cli_plan_text_rewrite(text, label, &is_rewritten, &options));
  stow_rewritten_destroy(job->before);
  job->before = job->rewritten;
  job->rewritten = NULL;
  return cli_plan_job_take(job, graph, is_rewritten ? &options : NULL);
}

static cli_exit find_graph(cli_plan_job* job, const stow_string* text, const char* label) {
  const char* const* names = job->request.graphs.items;
  cli_binds* binds = &job->request.model.binds;
  CLI_TRY(cli_source_open(&job->source, job->request.files[0], &job->request.model));
  stow_graph* graph;
  CLI_TRY(names != NULL ? cli_source_choose(&job->source, names[0], &graph)
                        : cli_plan_text_graph(text, label, &job->source, &graph));
  CLI_TRY(cli_source_is_model(&job->source)
              ? CLI_YES
              : cli_known_bind_graph(job->request.model.known, graph));
  CLI_TRY(cli_source_bind(&job->source, binds, graph));
  CLI_TRY(cli_source_require_used(&job->source, binds, graph));
  CLI_TRY(cli_source_require_sizes(&job->source, &job->request.model, graph));
  return take_graph(job, graph, text, label);
}

// With the kernels that the plan was made for; the threads of a job that is to run are its own.
static cli_exit make_effects(cli_plan_job* job, const stow_string* text) {
  stow_prepare_options kernels = cli_plan_text_kernels(text);
  job->saved_threads = kernels.threads;
  if (job->runs != NULL && job->runs != &job->kernels) {
    kernels.threads = job->runs->threads;
    kernels.kernels = job->runs->kernels;
  }
  cli_plan_job_set_kernels(job, &kernels);
  return cli_plan_job_effects(job);
}

static cli_exit read_plan(const cli_plan_job* job, const stow_string* text, const char* label,
                          stow_plan** out_plan) {
  stow_diag diag = cli_diag();
  stow_allocator allocator = stow_allocator_default();
  stow_status status =
      stow_plan_read(text->data, text->size, NULL, job->graph, allocator, &diag, out_plan);
  if (status != STOW_OK) {
    return cli_fail_saved(label, job->graph, status, &diag);
  }
  status = stow_plan_check(*out_plan, job->graph, job->effects, allocator, &diag, NULL);
  return status == STOW_OK ? CLI_YES : cli_fail_proof(label, job->graph, true, status, &diag);
}

cli_exit cli_plan_job_load(cli_plan_job* job, const char* path, bool* out_shares_params,
                           stow_plan** out_plan) {
  const char* label = cli_file_label(path);
  stow_string text = cli_string();
  cli_exit code = cli_plan_text_read(path, &text);
  if (code == CLI_YES) {
    code = job->given == NULL ? find_graph(job, &text, label)
                              : take_graph(job, job->given, &text, label);
  }
  code = code == CLI_YES ? make_effects(job, &text) : code;
  code = code == CLI_YES ? read_plan(job, &text, label, out_plan) : code;
  if (code == CLI_YES) {
    code = cli_io_policies_check(&job->request.io, label, job->graph, *out_plan);
  }
  *out_shares_params = code == CLI_YES && cli_plan_text_shares_params(&text);
  stow_string_free(&text);
  return code;
}

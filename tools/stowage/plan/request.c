// From what was asked to what the planner is told: the preset first, then every option that was
// given, then the environment.
#include "plan/request.h"

#include <stdlib.h>
#include <string.h>

static const char* environment(void* user, const char* name) {
  (void)user;
  return getenv(name);
}

static cli_exit fill_options(const cli_plan_request* request, stow_preset preset,
                             stow_plan_options* out_options) {
  stow_plan_options_init(out_options, preset);
  out_options->alignment = request->has_alignment ? request->alignment : out_options->alignment;
  out_options->tail_guard = request->has_guard ? request->guard : out_options->tail_guard;
  out_options->inputs = out_options->inputs && !request->no_inputs;
  out_options->constants = out_options->constants && !request->no_constants;
  out_options->f32_uniform = out_options->f32_uniform || request->f32_uniform;
  out_options->in_place = out_options->in_place && !request->no_in_place;
  out_options->elide_copies = out_options->elide_copies && !request->keep_copies;
  out_options->order_margin = request->margin;
  if (request->has_order_nodes) {
    out_options->order_nodes = request->order_nodes;
  }
  out_options->reuse = out_options->reuse && !request->no_reuse;
  out_options->pack_params = out_options->pack_params || request->pack_params;
  if (request->io.general != STOW_IO_DEFAULT) {
    out_options->io = request->io.general;
  }
  if (request->strategy != NULL) {
    out_options->strategy = request->strategy;
  }
  out_options->nodes = cli_budget_nodes(&request->budget, out_options->nodes);
  if (cli_budget_is_given(&request->budget)) {
    out_options->patience = STOW_PLACE_NO_LIMIT;
  }
  stow_plan_options_apply_environment(out_options, environment, NULL);
  const cli_rule_switch* switches = request->rules.items;
  for (size_t i = 0; i < request->rules.count; ++i) {
    if (!switches[i].on) {
      stow_plan_options_remove_rule(out_options, switches[i].rule);
    } else if (stow_plan_options_add_rule(out_options, switches[i].rule) != STOW_OK) {
      return cli_fail(CLI_USAGE, "--rule %s: more than %d rules", switches[i].rule->name,
                      STOW_MAX_RULES);
    }
  }
  return CLI_YES;
}

cli_exit cli_plan_request_options(const cli_plan_request* request, stow_plan_options* out_options) {
  cli_exit code = fill_options(request, request->choices.preset, out_options);
  out_options->params = out_options->params && !request->no_params;
  out_options->capacity = request->capacity;
  return code;
}

cli_exit cli_plan_request_forward_options(const cli_plan_request* request,
                                          stow_plan_options* out_options) {
  return fill_options(request, STOW_PRESET_DEFAULT, out_options);
}

cli_order_kind cli_plan_request_order(const cli_plan_request* request, bool is_model) {
  if (request->order == NULL) {
    return stowi_request_orders(&request->choices, is_model) ? CLI_ORDER_AUTO : CLI_ORDER_GIVEN;
  }
  if (strcmp(request->order, stow_order_text(STOW_ORDER_AUTO)) == 0) {
    return CLI_ORDER_AUTO;
  }
  return strcmp(request->order, stow_order_text(STOW_ORDER_GIVEN)) == 0 ? CLI_ORDER_GIVEN
                                                                        : CLI_ORDER_FILE;
}

bool cli_plan_request_has_hints(const cli_plan_request* request) {
  return request->hints != CLI_HINTS_NEVER && !stowi_request_follows_another(&request->choices) &&
         request->layout_from == NULL && !request->budget.has_time;
}

const char* cli_plan_request_order_file(const cli_plan_request* request) {
  return cli_plan_request_order(request, false) == CLI_ORDER_FILE ? request->order : NULL;
}

bool cli_plan_request_is_set(const cli_plan_request* request) {
  return request->file_count > 1 || request->graphs.count > 1;
}

void cli_plan_request_place_weights(cli_plan_request* request, bool is_model) {
  bool in_file = stowi_request_leaves_weights(&request->choices, is_model);
  request->no_params = request->no_params || in_file;
  request->no_constants = request->no_constants || in_file;
}

stow_status cli_plan_write(const stow_plan* plan, cli_format format, const char* c_prefix,
                           stow_writer writer, stow_diag* diag) {
  switch (format) {
    case CLI_FORMAT_REPORT: return stow_plan_write(plan, STOW_PLAN_REPORT, writer);
    case CLI_FORMAT_JSON: return stow_plan_write(plan, STOW_PLAN_JSON, writer);
    case CLI_FORMAT_CSV: return stow_plan_write(plan, STOW_PLAN_CSV, writer);
    case CLI_FORMAT_C: return stow_plan_write_c(plan, c_prefix, writer, diag);
    case CLI_FORMAT_PLAN:
    case CLI_FORMAT_SUMMARY:
    case CLI_FORMAT_COUNT: break;
  }
  return stow_plan_write(plan, STOW_PLAN_SAVED, writer);
}

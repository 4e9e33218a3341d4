// The report, and the saved plan around it. docs/plan-format.md describes both. A saved plan is the
// report with `# key=value` lines before and after: readers of reports skip them as comments. Facts
// that equal what the header says, or the graph's own order, are omitted.
#include <inttypes.h>

#include "base/diag.h"
#include "base/text.h"
#include "plan/api.h"
#include "plan/formats/facts.h"
#include "plan/plan_internal.h"

// ---------------------------------------------------------------------------------------------
// The report

stow_status stowi_plan_write_report(const stow_plan* plan, stow_writer writer) {
  STOW_TRY(stowi_printf(writer,
                        "# arena_size=%" PRIu64 " total_unshared=%" PRIu64 " saved=%" PRIu64
                        "\n# offset\tsize\tnode\n",
                        plan->arena_size, plan->total_unshared, stowi_plan_saved(plan)));
  for (size_t i = 0; i < plan->row_count; ++i) {
    const stowi_plan_value* value = &plan->values[plan->rows[i]];
    STOW_TRY(stowi_printf(writer, "%" PRIu64 "\t%" PRIu64 "\t%%%" PRIu32 "\n", value->offset,
                          value->size, plan->rows[i]));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The saved plan

static stow_status write_identity(const stow_plan* plan, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "# stowage_plan=1\n# graph="));
  STOW_TRY(stowi_put_quoted(writer, stowi_plan_graph_name(plan)));
  return stowi_printf(writer, "\n# fingerprint=%016" PRIx64 "\n# strategy=%s\n", plan->fingerprint,
                      stowi_plan_strategy_name(plan).data);
}

static stow_status write_options(const stow_plan* plan, stow_writer writer) {
  stowi_plan_facts facts = plan->facts;
  facts.least_row = stowi_plan_is_pitched(plan) ? facts.least_row : 0;
  STOW_TRY(stowi_plan_write_facts(&facts, writer));
  return stowi_printf(writer, "# lower_bound=%" PRIu64 "\n# peak_step=%" PRIu32 "\n",
                      plan->lower_bound, plan->peak_step);
}

static stow_status write_lives(const stow_plan* plan, stow_writer writer) {
  for (stow_value v = 0; v < plan->value_count; ++v) {
    STOW_TRY(stowi_printf(writer, "# life.%" PRIu32 "=%" PRIu32 ",%" PRIu32 "\n", v,
                          plan->values[v].begin, plan->values[v].end));
  }
  return STOW_OK;
}

static stow_status write_views(const stow_plan* plan, stow_writer writer) {
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (stowi_plan_is_view(plan, v)) {
      STOW_TRY(stowi_printf(writer, "# view.%" PRIu32 "=%%%" PRIu32 "\n", v, plan->values[v].root));
    }
  }
  return STOW_OK;
}

static stow_status write_rows(const stow_plan* plan, stow_writer writer) {
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (plan->values[v].rows > 1) {
      STOW_TRY(stowi_printf(writer, "# rows.%" PRIu32 "=%" PRIu64 ",%" PRIu64 "\n", v,
                            plan->values[v].rows, plan->values[v].pitch));
    }
  }
  return STOW_OK;
}

static stow_status write_windows(const stow_plan* plan, stow_writer writer) {
  for (size_t i = 0; i < plan->window_count; ++i) {
    const stow_window* window = &plan->windows[i].window;
    STOW_TRY(stowi_printf(
        writer, "# window.%" PRIu32 "=%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 "\n",
        plan->windows[i].root, window->begin, window->end, window->low, window->high));
  }
  return STOW_OK;
}

static stow_status write_guards(const stow_plan* plan, stow_writer writer) {
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (plan->values[v].guard != 0) {
      STOW_TRY(stowi_printf(writer, "# guard.%" PRIu32 "=%" PRIu64 "\n", v, plan->values[v].guard));
    }
  }
  return STOW_OK;
}

static stow_status write_alignments(const stow_plan* plan, stow_writer writer) {
  for (stow_value v = 0; v < plan->value_count; ++v) {
    uint64_t alignment = UINT64_C(1) << plan->values[v].alignment_log2;
    if (!stowi_plan_is_view(plan, v) && alignment != plan->facts.alignment) {
      STOW_TRY(stowi_printf(writer, "# align.%" PRIu32 "=%" PRIu64 "\n", v, alignment));
    }
  }
  return STOW_OK;
}

// What it needs is added where it has more.
static stow_status write_scratch(const stow_plan* plan, stow_writer writer) {
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    const stowi_plan_scratch* scratch = &plan->scratch[i];
    STOW_TRY(stowi_printf(
        writer, "# scratch.%" PRIu32 ".%" PRIu32 "=%" PRIu64 ",%" PRIu64 ",%" PRIu64, scratch->node,
        scratch->index, scratch->offset, scratch->size, scratch->alignment));
    if (scratch->need != scratch->size) {
      STOW_TRY(stowi_printf(writer, ",%" PRIu64, scratch->need));
    }
    STOW_TRY(stowi_put(writer, "\n"));
  }
  return STOW_OK;
}

static stow_status write_reserved(const stow_plan* plan, stow_writer writer) {
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    const stowi_plan_span* span = &plan->reserved[i];
    STOW_TRY(stowi_printf(writer, "# reserved=%" PRIu64 ",%" PRIu64 "\n", span->offset,
                          span->end - span->offset));
  }
  return STOW_OK;
}

static stow_status write_order(const stow_plan* plan, stow_writer writer) {
  uint32_t same = 0;
  while (same < plan->step_count && plan->order[same] == same) {
    ++same;
  }
  if (same == plan->step_count) {
    return STOW_OK;
  }
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    STOW_TRY(stowi_printf(writer, "%s%" PRIu32, i == 0 ? "# order=" : ",", plan->order[i]));
  }
  return stowi_put(writer, "\n");
}

stow_status stowi_plan_write_saved(const stow_plan* plan, stow_writer writer) {
  STOW_TRY(write_identity(plan, writer));
  STOW_TRY(write_options(plan, writer));
  STOW_TRY(stowi_plan_write_report(plan, writer));
  STOW_TRY(write_lives(plan, writer));
  STOW_TRY(write_views(plan, writer));
  STOW_TRY(write_rows(plan, writer));
  STOW_TRY(write_windows(plan, writer));
  STOW_TRY(write_guards(plan, writer));
  STOW_TRY(write_alignments(plan, writer));
  STOW_TRY(write_scratch(plan, writer));
  STOW_TRY(write_reserved(plan, writer));
  STOW_TRY(write_order(plan, writer));
  return stowi_put(writer, "# end\n");
}

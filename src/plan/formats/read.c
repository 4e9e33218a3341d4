// Reads saved plans: one pass over lines in the only order in which stowi_plan_write_saved writes
// them. Strict, so that writing what was read gives the same bytes: each line must be there,
// exactly once and in its place, numbers without leading zeros, and facts that the writer omits
// must be omitted. Time and memory are linear in text and graph (the rows are sorted again).
//
// The text is checked, not the plan: ids exist, sums fit in 64 bits, rows are sorted, totals are
// correct. stow_plan_check decides whether the plan is valid for the graph.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"
#include "base/text.h"
#include "plan/api.h"
#include "plan/formats/facts.h"
#include "plan/plan_internal.h"

typedef struct reader {
  stowi_plan_scan scan;
  const stow_graph* graph;
  stow_allocator allocator;
  stow_plan* plan;
  stowi_plan_scan_place totals_at;
  uint64_t total_unshared;
  uint64_t saved;
} reader;

static stow_status fail_at(const reader* r, stowi_plan_scan_place place, const char* text) {
  return stowi_plan_scan_fail(&r->scan, place, STOW_ERR_SYNTAX, "%s", text);
}

// ---------------------------------------------------------------------------------------------
// Header lines

static stow_status read_version(reader* r) {
  if (stowi_plan_scan_sees(&r->scan, "# arena_size=")) {
    return fail_at(r, stowi_plan_scan_here(&r->scan),
                   "this is a report, which omits parts of the plan; expected a saved plan, which "
                   "begins with `# stowage_plan=1`");
  }
  STOW_TRY(stowi_plan_scan_literal(&r->scan, "# stowage_plan="));
  if (!stowi_plan_scan_skip(&r->scan, "1\n")) {
    return stowi_plan_scan_expected(&r->scan, "version 1, the only supported version");
  }
  r->scan.line = 2;
  r->scan.line_at = r->scan.at;
  return STOW_OK;
}

// Creates the plan, which needs the strategy's name.
static stow_status read_strategy(reader* r) {
  stow_str name;
  STOW_TRY(stowi_plan_read_strategy(&r->scan, &name));
  return stowi_plan_create(r->graph, name, r->allocator, r->scan.diag, &r->plan);
}

static stow_status read_options(reader* r) {
  STOW_TRY(stowi_plan_read_facts(&r->scan, &r->plan->facts));
  for (stow_value v = 0; v < r->plan->value_count; ++v) {
    r->plan->values[v].alignment_log2 = stowi_plan_log2(r->plan->facts.alignment);
  }
  STOW_TRY(stowi_plan_read_number(&r->scan, "# lower_bound=", UINT64_MAX, "the lower bound",
                                  &r->plan->lower_bound));
  uint64_t peak_step = 0;
  STOW_TRY(stowi_plan_read_number(&r->scan, "# peak_step=", r->plan->step_count, "the peak step",
                                  &peak_step));
  r->plan->peak_step = (uint32_t)peak_step;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The report

// An id below |count|. An unverified graph may have none at all.
static stow_status read_id(reader* r, uint32_t count, const char* what, uint32_t* out_id) {
  if (count == 0) {
    return stowi_plan_scan_fail(&r->scan, stowi_plan_scan_here(&r->scan), STOW_ERR_SYNTAX,
                                "expected no %s: the graph is empty", what);
  }
  return stowi_plan_scan_u32(&r->scan, count - 1, what, out_id);
}

static stow_status read_value_id(reader* r, stow_value* out_value) {
  return read_id(r, r->plan->value_count, "a value of the graph", out_value);
}

static stow_status read_node_id(reader* r, stow_node* out_node) {
  return read_id(r, r->plan->step_count, "a node of the graph", out_node);
}

static bool is_sorted(const stow_plan* plan, stow_value last, uint64_t offset, uint64_t size,
                      stow_value v) {
  const stowi_plan_value* before = &plan->values[last];
  if (before->offset != offset) {
    return before->offset < offset;
  }
  return before->size != size ? before->size < size : last < v;
}

static stow_status read_row(reader* r, stow_value* last) {
  stowi_plan_scan_place place = stowi_plan_scan_here(&r->scan);
  uint64_t offset = 0;
  uint64_t size = 0;
  stow_value v = 0;
  STOW_TRY(stowi_plan_scan_u64(&r->scan, STOW_OFFSET_NONE - 1, "an offset", &offset));
  STOW_TRY(stowi_plan_scan_literal(&r->scan, "\t"));
  STOW_TRY(stowi_plan_scan_u64(&r->scan, STOW_OFFSET_NONE - 1 - offset, "a size", &size));
  STOW_TRY(stowi_plan_scan_literal(&r->scan, "\t"));
  STOW_TRY(stowi_plan_scan_literal(&r->scan, "%"));
  STOW_TRY(read_value_id(r, &v));
  if (stowi_plan_has_slot(r->plan, v)) {
    return stowi_plan_scan_fail(&r->scan, place, STOW_ERR_SYNTAX, "%%%" PRIu32 " has two rows", v);
  }
  if (*last != STOW_VALUE_NONE && !is_sorted(r->plan, *last, offset, size, v)) {
    return fail_at(r, place, "rows must be sorted by offset, then size, then id");
  }
  r->plan->values[v].offset = offset;
  r->plan->values[v].size = size;
  *last = v;
  return stowi_plan_scan_end_line(&r->scan);
}

static stow_status read_report(reader* r) {
  stowi_plan_scan* scan = &r->scan;
  STOW_TRY(stowi_plan_scan_literal(scan, "# arena_size="));
  STOW_TRY(stowi_plan_scan_u64(scan, UINT64_MAX, "the arena size", &r->plan->arena_size));
  r->totals_at = stowi_plan_scan_here(scan);
  STOW_TRY(stowi_plan_scan_literal(scan, " total_unshared="));
  STOW_TRY(stowi_plan_scan_u64(scan, UINT64_MAX, "the total size", &r->total_unshared));
  STOW_TRY(stowi_plan_scan_literal(scan, " saved="));
  STOW_TRY(stowi_plan_scan_u64(scan, UINT64_MAX, "the bytes saved", &r->saved));
  STOW_TRY(stowi_plan_scan_end_line(scan));
  STOW_TRY(stowi_plan_scan_literal(scan, "# offset\tsize\tnode"));
  STOW_TRY(stowi_plan_scan_end_line(scan));
  stow_value last = STOW_VALUE_NONE;
  while (!stowi_plan_scan_is_at_end(&r->scan) && !stowi_plan_scan_sees(&r->scan, "#")) {
    STOW_TRY(read_row(r, &last));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Facts about values

static stow_status read_lives(reader* r) {
  uint32_t last_step = r->plan->step_count;
  for (stow_value v = 0; v < r->plan->value_count; ++v) {
    stowi_plan_scan_place place = stowi_plan_scan_here(&r->scan);
    stow_value given = 0;
    stowi_plan_value* value = &r->plan->values[v];
    STOW_TRY(stowi_plan_scan_literal(&r->scan, "# life."));
    STOW_TRY(read_value_id(r, &given));
    if (given != v) {
      return stowi_plan_scan_fail(&r->scan, place, STOW_ERR_SYNTAX,
                                  "expected `# life.%" PRIu32 "=`, found that of %%%" PRIu32, v,
                                  given);
    }
    STOW_TRY(stowi_plan_scan_literal(&r->scan, "="));
    STOW_TRY(stowi_plan_scan_u32(&r->scan, last_step, "the first step", &value->begin));
    STOW_TRY(stowi_plan_scan_literal(&r->scan, ","));
    STOW_TRY(stowi_plan_scan_u32(&r->scan, last_step + 1, "the step after the last", &value->end));
    if (value->begin >= value->end) {
      return fail_at(r, place, "a lifetime must end after it begins");
    }
    STOW_TRY(stowi_plan_scan_end_line(&r->scan));
  }
  return STOW_OK;
}

// The id after |key|, including `=`; ids of one kind of fact ascend. |next| is the lowest allowed.
static stow_status read_fact_id(reader* r, const char* key, stow_value* next,
                                stow_value* out_value) {
  stowi_plan_scan_place place = stowi_plan_scan_here(&r->scan);
  STOW_TRY(stowi_plan_scan_literal(&r->scan, key));
  STOW_TRY(read_value_id(r, out_value));
  if (*out_value < *next) {
    return fail_at(r, place, "lines of one kind must be sorted by id without duplicates");
  }
  *next = *out_value + 1;
  return stowi_plan_scan_literal(&r->scan, "=");
}

// Checks that a root is not a view; views are in id order from |first_line| on.
static stow_status check_roots(const reader* r, uint32_t first_line) {
  uint32_t line = first_line;
  for (stow_value v = 0; v < r->plan->value_count; ++v) {
    if (!stowi_plan_is_view(r->plan, v)) {
      continue;
    }
    stow_value root = r->plan->values[v].root;
    if (stowi_plan_is_view(r->plan, root)) {
      stowi_plan_scan_place place = {line, 1};
      return stowi_plan_scan_fail(&r->scan, place, STOW_ERR_SYNTAX,
                                  "%%%" PRIu32 " cannot be a root: it is a view itself", root);
    }
    ++line;
  }
  return STOW_OK;
}

static stow_status read_views(reader* r) {
  uint32_t first_line = r->scan.line;
  stow_value next = 0;
  while (stowi_plan_scan_sees(&r->scan, "# view.")) {
    stowi_plan_scan_place place = stowi_plan_scan_here(&r->scan);
    stow_value v = 0;
    stow_value root = 0;
    STOW_TRY(read_fact_id(r, "# view.", &next, &v));
    STOW_TRY(stowi_plan_scan_literal(&r->scan, "%"));
    STOW_TRY(read_value_id(r, &root));
    if (root == v) {
      return fail_at(r, place, "a value that is its own root is not a view");
    }
    r->plan->values[v].root = root;
    r->plan->values[v].alignment_log2 = 0;
    STOW_TRY(stowi_plan_scan_end_line(&r->scan));
  }
  return check_roots(r, first_line);
}

// Rows are within 64 bits and do not overlap each other.
static stow_status read_rows(reader* r) {
  stow_value next = 0;
  while (stowi_plan_scan_sees(&r->scan, "# rows.")) {
    stowi_plan_scan_place place = stowi_plan_scan_here(&r->scan);
    stow_value v = 0;
    STOW_TRY(read_fact_id(r, "# rows.", &next, &v));
    stowi_plan_value* value = &r->plan->values[v];
    STOW_TRY(stowi_plan_scan_u64(&r->scan, UINT64_MAX, "a number of rows", &value->rows));
    STOW_TRY(stowi_plan_scan_literal(&r->scan, ","));
    STOW_TRY(stowi_plan_scan_u64(&r->scan, UINT64_MAX, "a pitch", &value->pitch));
    if (r->plan->facts.least_row == 0 || value->offset == STOW_OFFSET_NONE ||
        !stowi_plan_is_view(r->plan, v)) {
      return fail_at(r, place, "only a view that has a slot has rows, and only with least_row");
    }
    if (value->rows < 2 || value->size == 0 || value->size % value->rows != 0) {
      return fail_at(r, place, "expected two rows or more, of equal size");
    }
    if (value->pitch <= value->size / value->rows ||
        value->pitch > (STOW_OFFSET_NONE - 1 - value->offset) / value->rows) {
      return fail_at(r, place, "the pitch must be more than a row, and the value within 64 bits");
    }
    STOW_TRY(stowi_plan_scan_end_line(&r->scan));
  }
  return (r->plan->facts.least_row != 0) == (next != 0)
             ? STOW_OK
             : fail_at(r, stowi_plan_scan_here(&r->scan),
                       "least_row must be omitted if no value has rows");
}

// The number of lines from here on that begin with |key|.
static size_t count_lines(const reader* r, const char* key) {
  stowi_plan_scan ahead = r->scan;
  size_t count = 0;
  while (stowi_plan_scan_sees(&ahead, key)) {
    ahead.at += stowi_plan_scan_rest(&ahead).size;
    ahead.at += ahead.at < ahead.size;
    ++count;
  }
  return count;
}

static stow_status read_window(reader* r, stowi_plan_window* given) {
  uint32_t last_step = r->plan->step_count;
  stow_window* window = &given->window;
  STOW_TRY(stowi_plan_scan_literal(&r->scan, "# window."));
  STOW_TRY(read_value_id(r, &given->root));
  STOW_TRY(stowi_plan_scan_literal(&r->scan, "="));
  STOW_TRY(stowi_plan_scan_u32(&r->scan, last_step, "the first step", &window->begin));
  STOW_TRY(stowi_plan_scan_literal(&r->scan, ","));
  STOW_TRY(stowi_plan_scan_u32(&r->scan, last_step + 1, "the step after the last", &window->end));
  STOW_TRY(stowi_plan_scan_literal(&r->scan, ","));
  STOW_TRY(stowi_plan_scan_u64(&r->scan, UINT64_MAX, "the first byte", &window->low));
  STOW_TRY(stowi_plan_scan_literal(&r->scan, ","));
  STOW_TRY(stowi_plan_scan_u64(&r->scan, UINT64_MAX, "the byte after the last", &window->high));
  return stowi_plan_scan_end_line(&r->scan);
}

static stow_status read_windows(reader* r) {
  size_t count = count_lines(r, "# window.");
  STOW_TRY(stowi_plan_set_window_count(r->plan, count, r->scan.diag));
  for (size_t i = 0; i < count; ++i) {
    stowi_plan_scan_place place = stowi_plan_scan_here(&r->scan);
    stowi_plan_window* window = &r->plan->windows[i];
    STOW_TRY(read_window(r, window));
    const char* fault = stowi_plan_window_fault(r->plan, i == 0 ? NULL : window - 1, window);
    if (fault != NULL) {
      return fail_at(r, place, fault);
    }
  }
  return STOW_OK;
}

static stow_status read_guards(reader* r) {
  stow_value next = 0;
  while (stowi_plan_scan_sees(&r->scan, "# guard.")) {
    stowi_plan_scan_place place = stowi_plan_scan_here(&r->scan);
    stow_value v = 0;
    STOW_TRY(read_fact_id(r, "# guard.", &next, &v));
    stowi_plan_value* value = &r->plan->values[v];
    if (value->root != v || value->offset == STOW_OFFSET_NONE) {
      return fail_at(r, place, "only a root that has a slot can have a guard");
    }
    if (stow_plan_window_count(r->plan, v) != 0) {
      return fail_at(r, place, "a root that has windows cannot have a guard");
    }
    STOW_TRY(stowi_plan_scan_u64(&r->scan, UINT64_MAX - value->offset - value->size,
                                 "the guard's bytes", &value->guard));
    if (value->guard == 0) {
      return fail_at(r, place, "a guard of 0 bytes must be omitted");
    }
    STOW_TRY(stowi_plan_scan_end_line(&r->scan));
  }
  return STOW_OK;
}

static stow_status read_alignments(reader* r) {
  stow_value next = 0;
  while (stowi_plan_scan_sees(&r->scan, "# align.")) {
    stowi_plan_scan_place place = stowi_plan_scan_here(&r->scan);
    stow_value v = 0;
    uint64_t alignment = 0;
    STOW_TRY(read_fact_id(r, "# align.", &next, &v));
    STOW_TRY(stowi_plan_scan_u64(&r->scan, UINT64_MAX, "an alignment", &alignment));
    if (stowi_plan_is_view(r->plan, v)) {
      return fail_at(r, place, "a view has no alignment of its own");
    }
    if (!stowi_is_power_of_two(alignment) || alignment <= r->plan->facts.alignment) {
      return fail_at(r, place, "expected a power of two above the plan's alignment");
    }
    r->plan->values[v].alignment_log2 = stowi_plan_log2(alignment);
    STOW_TRY(stowi_plan_scan_end_line(&r->scan));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Scratch, reserved ranges, order

static stow_status read_scratch_id(reader* r, const stowi_plan_scratch* last,
                                   stowi_plan_scratch* scratch) {
  stowi_plan_scan_place place = stowi_plan_scan_here(&r->scan);
  STOW_TRY(stowi_plan_scan_literal(&r->scan, "# scratch."));
  STOW_TRY(read_node_id(r, &scratch->node));
  STOW_TRY(stowi_plan_scan_literal(&r->scan, "."));
  STOW_TRY(stowi_plan_scan_u32(&r->scan, UINT32_MAX, "the scratch's index", &scratch->index));
  bool is_same_node = last != NULL && last->node == scratch->node;
  bool is_in_order = is_same_node || last == NULL || last->node < scratch->node;
  if (!is_in_order || scratch->index != (is_same_node ? last->index + 1 : 0)) {
    return fail_at(r, place, "scratch must be sorted by node and numbered from 0 in each");
  }
  return stowi_plan_scan_literal(&r->scan, "=");
}

static stow_status read_scratch(reader* r) {
  size_t count = count_lines(r, "# scratch.");
  STOW_TRY(stowi_plan_set_scratch_count(r->plan, count, r->scan.diag));
  for (size_t i = 0; i < count; ++i) {
    stowi_plan_scratch* scratch = &r->plan->scratch[i];
    const stowi_plan_scratch* last = i == 0 ? NULL : scratch - 1;
    STOW_TRY(read_scratch_id(r, last, scratch));
    STOW_TRY(stowi_plan_scan_u64(&r->scan, UINT64_MAX, "an offset", &scratch->offset));
    STOW_TRY(stowi_plan_scan_literal(&r->scan, ","));
    STOW_TRY(stowi_plan_scan_u64(&r->scan, UINT64_MAX - scratch->offset, "a size", &scratch->size));
    STOW_TRY(stowi_plan_scan_literal(&r->scan, ","));
    stowi_plan_scan_place place = stowi_plan_scan_here(&r->scan);
    STOW_TRY(stowi_plan_scan_u64(&r->scan, UINT64_MAX, "an alignment", &scratch->alignment));
    if (!stowi_is_power_of_two(scratch->alignment)) {
      return fail_at(r, place, "an alignment must be a power of two");
    }
    scratch->need = scratch->size;
    if (stowi_plan_scan_skip(&r->scan, ",")) {
      STOW_TRY(stowi_plan_scan_u64(&r->scan, scratch->size, "bytes needed", &scratch->need));
    }
    STOW_TRY(stowi_plan_scan_end_line(&r->scan));
  }
  return STOW_OK;
}

static stow_status read_reserved(reader* r) {
  size_t count = count_lines(r, "# reserved=");
  STOW_TRY(stowi_plan_set_reserved_count(r->plan, count, r->scan.diag));
  uint64_t least = 0;
  for (size_t i = 0; i < count; ++i) {
    stowi_plan_scan_place place = stowi_plan_scan_here(&r->scan);
    stowi_plan_span* span = &r->plan->reserved[i];
    uint64_t size = 0;
    STOW_TRY(stowi_plan_scan_literal(&r->scan, "# reserved="));
    STOW_TRY(stowi_plan_scan_u64(&r->scan, UINT64_MAX, "an offset", &span->offset));
    STOW_TRY(stowi_plan_scan_literal(&r->scan, ","));
    STOW_TRY(stowi_plan_scan_u64(&r->scan, UINT64_MAX - span->offset, "a size", &size));
    if (span->offset < least) {
      return fail_at(r, place, "reserved ranges must be sorted by offset and must not overlap");
    }
    span->end = span->offset + size;
    least = span->end;
    STOW_TRY(stowi_plan_scan_end_line(&r->scan));
  }
  return STOW_OK;
}

// Each node once. |step_of| is filled; it holds UINT32_MAX for nodes not seen yet.
static stow_status read_order(reader* r, uint32_t* step_of) {
  stow_plan* plan = r->plan;
  stowi_plan_scan_place place = stowi_plan_scan_here(&r->scan);
  STOW_TRY(stowi_plan_scan_literal(&r->scan, "# order="));
  bool is_own = true;
  for (uint32_t step = 0; step < plan->step_count; ++step) {
    if (step > 0) {
      STOW_TRY(stowi_plan_scan_literal(&r->scan, ","));
    }
    stowi_plan_scan_place node_place = stowi_plan_scan_here(&r->scan);
    stow_node node = 0;
    STOW_TRY(read_node_id(r, &node));
    if (step_of[node] != UINT32_MAX) {
      return stowi_plan_scan_fail(&r->scan, node_place, STOW_ERR_SYNTAX,
                                  "node %" PRIu32 " is in the order twice", node);
    }
    step_of[node] = step;
    plan->order[step] = node;
    is_own = is_own && node == step;
  }
  if (is_own) {
    return fail_at(r, place, "the graph's own order must be omitted");
  }
  return stowi_plan_scan_end_line(&r->scan);
}

static stow_status read_steps(reader* r) {
  stow_plan* plan = r->plan;
  uint32_t* step_of = STOWI_ARRAY(r->allocator, uint32_t, plan->step_count);
  STOW_TRY(stowi_need_memory(step_of != NULL, r->scan.diag));
  stow_status status = STOW_OK;
  bool has_order = stowi_plan_scan_sees(&r->scan, "# order=");
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    step_of[i] = has_order ? UINT32_MAX : i;
  }
  if (has_order) {
    status = read_order(r, step_of);
  }
  for (size_t i = 0; i < plan->scratch_count && status == STOW_OK; ++i) {
    plan->scratch[i].step = step_of[plan->scratch[i].node];
  }
  STOWI_ARRAY_FREE(r->allocator, step_of, plan->step_count);
  return status;
}

// ---------------------------------------------------------------------------------------------

static stow_status check_totals(const reader* r) {
  uint64_t saved = stowi_plan_saved(r->plan);
  if (r->total_unshared != r->plan->total_unshared || r->saved != saved) {
    return stowi_plan_scan_fail(&r->scan, r->totals_at, STOW_ERR_SYNTAX,
                                "the rows add up to total_unshared=%" PRIu64 " saved=%" PRIu64
                                ", but the line says total_unshared=%" PRIu64 " saved=%" PRIu64,
                                r->plan->total_unshared, saved, r->total_unshared, r->saved);
  }
  return STOW_OK;
}

static stow_status read_plan(reader* r) {
  STOW_TRY(read_version(r));
  STOW_TRY(stowi_plan_read_graph(&r->scan, r->graph, r->allocator));
  STOW_TRY(read_strategy(r));
  STOW_TRY(read_options(r));
  STOW_TRY(read_report(r));
  STOW_TRY(read_lives(r));
  STOW_TRY(read_views(r));
  STOW_TRY(read_rows(r));
  STOW_TRY(read_windows(r));
  STOW_TRY(read_guards(r));
  STOW_TRY(read_alignments(r));
  STOW_TRY(read_scratch(r));
  STOW_TRY(read_reserved(r));
  STOW_TRY(read_steps(r));
  STOW_TRY(stowi_plan_read_end(&r->scan));
  STOW_TRY(stowi_plan_finish(r->plan, r->scan.diag));
  return check_totals(r);
}

stow_status stow_plan_read(const char* text, size_t size, const char* file_name,
                           const stow_graph* graph, stow_allocator allocator, stow_diag* diag,
                           stow_plan** out_plan) {
  *out_plan = NULL;
  reader r;
  memset(&r, 0, sizeof(r));
  stowi_plan_scan_init(&r.scan, text, size, file_name, diag);
  r.graph = graph;
  r.allocator = allocator;
  stow_status status = read_plan(&r);
  if (status != STOW_OK) {
    stow_plan_destroy(r.plan);
    return status;
  }
  *out_plan = r.plan;
  return STOW_OK;
}

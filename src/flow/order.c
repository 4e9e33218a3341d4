// The search for an order: cheap methods first, until the peak meets the bound or is good enough.
#include <string.h>

#include "base/diag.h"
#include "base/sort.h"
#include "flow/search.h"
#include "flow/state.h"

void stowi_flow_order_options_init(stowi_flow_order_options* options) {
  memset(options, 0, sizeof(*options));
  options->nodes = STOWI_FLOW_DEFAULT_NODES;
}

// ---------------------------------------------------------------------------------------------
// Shared by the phases

void stowi_flow_search_bound(stowi_flow_search* s, uint64_t bytes, stowi_flow_task critical) {
  if (bytes > s->result.bound) {
    s->result.bound = bytes;
    s->result.critical = critical;
  }
}

void stowi_flow_search_report(stowi_flow_search* s, const char* phase) {
  stowi_flow_order_progress progress = {phase, s->result.peak, s->result.bound, s->result.nodes};
  if (s->options->on_progress != NULL && !s->options->on_progress(s->options->user, &progress)) {
    s->result.stopped = true;
  }
}

void stowi_flow_search_go(stowi_flow_search* s, uint32_t place) {
  for (; s->place < place; s->place += 1) {
    stowi_flow_state_run(&s->state, s->best[s->place]);
    s->result.nodes += 1;
  }
  for (; s->place > place; s->place -= 1) {
    stowi_flow_state_take_back(&s->state, s->best[s->place - 1]);
    s->result.nodes += 1;
  }
}

uint64_t stowi_flow_search_peak(stowi_flow_search* s, uint32_t place, uint32_t count,
                                uint32_t* out_place) {
  stowi_flow_search_go(s, place);
  uint64_t peak = stowi_flow_order_peak(&s->state, s->best + place, count, out_place);
  *out_place += place;
  s->place = place + count;
  s->result.nodes += count;
  return peak;
}

// ---------------------------------------------------------------------------------------------
// Lists

static bool is_done(const stowi_flow_search* s) {
  return s->result.stopped || s->result.peak <= s->result.bound ||
         s->result.peak <= s->options->enough || stowi_flow_search_nodes_left(s) == 0;
}

// Updates the peak: that of the best order of each cell, or the given order's.
static void update_peak(stowi_flow_search* s) {
  uint64_t peak = 0;
  for (size_t i = 0; i < s->cells.count; ++i) {
    peak = stowi_flow_max_u64(peak, s->cells.data[i].peak);
  }
  s->result.peak = stowi_flow_min_u64(peak, s->given_peak);
}

// Takes the cells in which |trial|, an order of the net, is better.
static void offer_trial(stowi_flow_search* s) {
  stowi_flow_state_reset(&s->state);
  for (size_t i = 0; i < s->cells.count; ++i) {
    stowi_flow_cell* cell = &s->cells.data[i];
    uint32_t place;
    uint64_t peak = stowi_flow_order_peak(&s->state, s->trial + cell->begin, cell->count, &place);
    if (peak < cell->peak) {
      cell->peak = peak;
      memcpy(s->best + cell->begin, s->trial + cell->begin, cell->count * sizeof(*s->best));
    }
  }
  s->place = s->net.task_count;
  s->result.nodes += s->net.task_count;
  update_peak(s);
}

static stow_status try_lists(stowi_flow_search* s) {
  for (uint32_t i = 0; i < 2 * (STOWI_FLOW_PICK_COUNT + 1) && !is_done(s); ++i) {
    bool backwards = i % 2 == 1;
    if (i / 2 == STOWI_FLOW_PICK_COUNT) {
      STOW_TRY(stowi_flow_post_order(&s->net, s->best, backwards, s->trial));
    } else {
      STOW_TRY(stowi_flow_list_order(&s->state, (stowi_flow_pick)(i / 2), backwards, s->trial));
    }
    offer_trial(s);
    stowi_flow_search_report(s, "lists");
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Cells

// Starts from the given order and its needs.
static void start(stowi_flow_search* s) {
  stowi_flow_given_order(s->best, s->net.task_count);
  for (uint32_t i = 0; i < s->net.task_count; ++i) {
    s->given_need[i] = stowi_flow_state_need(&s->state, i);
    s->given_peak = stowi_flow_max_u64(s->given_peak, s->given_need[i]);
    stowi_flow_state_run(&s->state, i);
  }
  s->result.peak = s->given_peak;
  s->result.nodes = s->place = s->net.task_count;
}

// Minimum cuts at the tasks with the highest |needs|. With links from the reduction, a bound holds
// for the best order only: still for every peak, but not for the task.
static stow_status raise_bound(stowi_flow_search* s, const uint64_t* needs) {
  if (is_done(s)) {
    return STOW_OK;
  }
  stowi_flow_peak_bound bound = {s->result.bound, s->result.critical};
  uint64_t work = stowi_flow_min_u64(STOWI_FLOW_CUT_WORK / 10, s->options->nodes) * 10;
  STOW_TRY(stowi_flow_bound_by_cuts(&s->net, needs, work, &bound));
  stowi_flow_search_bound(s, bound.bytes, s->reduced ? STOWI_FLOW_TASK_NONE : bound.critical);
  stowi_flow_search_report(s, "bound");
  return STOW_OK;
}

// Repeats with the needs of the best order so far, which are closer to the truth.
static stow_status raise_bound_again(stowi_flow_search* s) {
  stowi_flow_search_go(s, 0);
  for (; s->place < s->net.task_count; s->place += 1) {
    s->needs[s->best[s->place]] = stowi_flow_state_need(&s->state, s->best[s->place]);
    stowi_flow_state_run(&s->state, s->best[s->place]);
  }
  return raise_bound(s, s->needs);
}

// Excludes orders that are not needed. From here on, orders are those of the reduced net.
static stow_status reduce(stowi_flow_search* s) {
  STOW_TRY(stowi_flow_reduce(&s->net, s->best, &s->reduced));
  stowi_flow_state_reset(&s->state);
  s->place = 0;
  return STOW_OK;
}

static stow_status open_cells(stowi_flow_search* s) {
  STOW_TRY(stowi_flow_cells(&s->net, s->best, &s->cells));
  for (size_t i = 0; i < s->cells.count; ++i) {
    stowi_flow_cell* cell = &s->cells.data[i];
    uint32_t place;
    cell->peak = stowi_flow_search_peak(s, cell->begin, cell->count, &place);
    if (cell->count == 1) {
      stowi_flow_search_bound(s, cell->peak,
                              s->reduced ? STOWI_FLOW_TASK_NONE : s->best[cell->begin]);
    }
  }
  update_peak(s);
  return STOW_OK;
}

static int compare_cells(const void* a, const void* b, const void* context) {
  (void)context;
  const stowi_flow_cell* x = (const stowi_flow_cell*)a;
  const stowi_flow_cell* y = (const stowi_flow_cell*)b;
  if (x->peak != y->peak) {
    return x->peak > y->peak ? -1 : 1;
  }
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

// The highest cell first: the others need only come down to what it reaches.
static stow_status solve_cells(stowi_flow_search* s) {
  STOW_TRY(stowi_sort(s->cells.data, s->cells.count, sizeof(*s->cells.data), compare_cells, NULL,
                      s->net.allocator));
  for (size_t i = 0; i < s->cells.count && !is_done(s); ++i) {
    stowi_flow_cell* cell = &s->cells.data[i];
    if (stowi_flow_min_u64(cell->peak, s->given_peak) <= stowi_flow_search_floor(s)) {
      break;
    }
    STOW_TRY(stowi_flow_solve_cell(s, cell));
    s->settled = stowi_flow_max_u64(s->settled, cell->peak);
    update_peak(s);
    stowi_flow_search_report(s, "cells");
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Entry point

// Restores the given order of a cell if its peak is not above the one reached.
static void restore_given(stowi_flow_search* s, const stowi_flow_cell* cell) {
  uint64_t peak = 0;
  for (uint32_t i = cell->begin; i < cell->begin + cell->count; ++i) {
    s->trial[s->best[i]] = cell->begin;
  }
  for (uint32_t i = cell->begin; i < cell->begin + cell->count; ++i) {
    if (s->trial[i] != cell->begin) {
      return;  // the given order has other tasks at these places
    }
    peak = stowi_flow_max_u64(peak, s->given_need[i]);
  }
  if (peak <= s->result.peak) {
    for (uint32_t i = cell->begin; i < cell->begin + cell->count; ++i) {
      s->best[i] = i;
    }
  }
}

static void finish(stowi_flow_search* s) {
  s->result.changed = s->result.peak < s->given_peak;
  if (!s->result.changed) {
    stowi_flow_given_order(s->best, s->net.task_count);
    return;
  }
  for (uint32_t i = 0; i < s->net.task_count; ++i) {
    s->trial[i] = STOWI_FLOW_TASK_NONE;
  }
  for (size_t i = 0; i < s->cells.count; ++i) {
    restore_given(s, &s->cells.data[i]);
  }
}

static stow_status run_phases(stowi_flow_search* s) {
  start(s);
  stowi_flow_peak_bound bound = stowi_flow_bound_of_tasks(&s->net);
  stowi_flow_search_bound(s, bound.bytes, bound.critical);
  STOW_TRY(raise_bound(s, s->given_need));
  if (is_done(s)) {
    return STOW_OK;
  }
  STOW_TRY(reduce(s));
  STOW_TRY(open_cells(s));
  STOW_TRY(try_lists(s));
  STOW_TRY(raise_bound_again(s));
  return solve_cells(s);
}

static stow_status open_search(stowi_flow_search* s, const stowi_flow* flow,
                               stow_allocator allocator, stow_diag* diag) {
  STOW_TRY(stowi_flow_net_open(&s->net, flow, allocator, diag));
  STOW_TRY(stowi_flow_state_open(&s->state, &s->net, diag));
  s->best = STOWI_ARRAY(allocator, stowi_flow_task, s->net.task_count);
  s->trial = STOWI_ARRAY(allocator, stowi_flow_task, s->net.task_count);
  s->needs = STOWI_ARRAY(allocator, uint64_t, s->net.task_count);
  s->given_need = STOWI_ARRAY(allocator, uint64_t, s->net.task_count);
  STOW_TRY(stowi_need_memory(
      s->best != NULL && s->trial != NULL && s->given_need != NULL && s->needs != NULL, diag));
  s->result.critical = STOWI_FLOW_TASK_NONE;
  return STOW_OK;
}

static void close_search(stowi_flow_search* s, stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, s->best, s->net.task_count);
  STOWI_ARRAY_FREE(allocator, s->trial, s->net.task_count);
  STOWI_ARRAY_FREE(allocator, s->needs, s->net.task_count);
  STOWI_ARRAY_FREE(allocator, s->given_need, s->net.task_count);
  STOWI_VEC_FREE(allocator, &s->cells);
  stowi_flow_state_close(&s->state);
  stowi_flow_net_close(&s->net);
}

stow_status stowi_flow_order(const stowi_flow* flow, const stowi_flow_order_options* options,
                             stow_allocator allocator, stow_diag* diag, stowi_flow_task* out_order,
                             stowi_flow_order_result* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  stowi_flow_search s;
  memset(&s, 0, sizeof(s));
  s.options = options;
  stow_status status = open_search(&s, flow, allocator, diag);
  if (status == STOW_OK) {
    status = run_phases(&s) == STOW_OK ? STOW_OK : stowi_fail_memory(diag);
  }
  if (status == STOW_OK) {
    finish(&s);
    memcpy(out_order, s.best, s.net.task_count * sizeof(*out_order));
    *out_result = s.result;
  }
  close_search(&s, allocator);
  return status;
}

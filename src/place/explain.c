// Explains why nothing fits. Members are dropped as long as the rest is still proven not to fit:
// first halves, quarters and so on of the buffers in order of time, since what does not fit is
// mostly close in time, then one by one, the smallest first, so that large ones remain. A member
// whose removal makes the others fit is needed, and stays needed however many others are dropped
// later: so one pass over all of them is enough.
//
// If the load of a step is above the capacity, no search is needed: drop whatever is live only at
// other steps, and then, smallest first, whatever leaves the load above the capacity.
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "place/api.h"
#include "place/problem.h"

typedef struct reducer {
  const stow_problem* problem;
  stow_allocator allocator;
  stow_diag* diag;
  stow_place_options options;
  uint64_t left;  // nodes
  bool* in;       // the set, by number
  uint32_t* order;
  size_t order_count;
  bool is_over;     // the budget is spent, or the callback stopped it
  bool is_certain;  // every question was answered
} reducer;

// ---------------------------------------------------------------------------------------------
// Does the set fit?

static stow_status make_subset(const reducer* r, stow_problem** out_subset) {
  STOW_TRY(stow_problem_create(r->allocator, r->diag, out_subset));
  for (size_t i = 0; i < r->problem->buffers.count; ++i) {
    if (r->in[i] || stowi_place_is_fixed(&r->problem->buffers.data[i])) {
      stow_status status = stowi_place_problem_add_copy(*out_subset, r->problem, i, r->diag);
      if (status != STOW_OK) {
        stow_problem_destroy(*out_subset);
        *out_subset = NULL;
        return status;
      }
    }
  }
  return STOW_OK;
}

static stow_status ask(reducer* r, stow_outcome* out_outcome) {
  stow_problem* subset = NULL;
  stow_placement* placement = NULL;
  STOW_TRY(make_subset(r, &subset));
  r->options.nodes = r->left;
  stow_status status = stow_place_auto(subset, &r->options, r->allocator, r->diag, &placement);
  if (status == STOW_OK) {
    uint64_t spent = stowi_place_placement_nodes(placement);
    r->left -= spent < r->left ? spent : r->left;
    r->is_over = r->left == 0 || stowi_place_placement_stopped(placement);
    *out_outcome = stow_placement_outcome(placement);
  }
  stow_placement_destroy(placement);
  stow_problem_destroy(subset);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Dropping

static stow_status try_without(reducer* r, size_t first, size_t count, bool is_last_question) {
  if (r->is_over) {
    r->is_certain = r->is_certain && !is_last_question;
    return STOW_OK;
  }
  bool any = false;
  for (size_t i = first; i < first + count; ++i) {
    any = any || r->in[r->order[i]];
    r->in[r->order[i]] = false;
  }
  if (!any) {
    return STOW_OK;
  }
  stow_outcome outcome = STOW_OUTCOME_GAVE_UP;
  STOW_TRY(ask(r, &outcome));
  if (outcome != STOW_OUTCOME_INFEASIBLE) {
    for (size_t i = first; i < first + count; ++i) {
      r->in[r->order[i]] = true;
    }
    r->is_certain = r->is_certain && !(is_last_question && outcome == STOW_OUTCOME_GAVE_UP);
  }
  return STOW_OK;
}

// Removes dropped buffers from the order.
static void shorten_order(reducer* r) {
  size_t kept = 0;
  for (size_t i = 0; i < r->order_count; ++i) {
    if (r->in[r->order[i]]) {
      r->order[kept++] = r->order[i];
    }
  }
  r->order_count = kept;
}

static stow_status drop_stretches(reducer* r) {
  for (size_t length = r->order_count / 2; length > 1; length /= 2) {
    for (size_t i = 0; i < r->order_count; i += length) {
      size_t rest = r->order_count - i;
      STOW_TRY(try_without(r, i, rest < length ? rest : length, false));
    }
    shorten_order(r);
    length = length < r->order_count ? length : r->order_count;
  }
  return STOW_OK;
}

static stow_status drop_singles(reducer* r) {
  for (size_t i = 0; i < r->order_count; ++i) {
    STOW_TRY(try_without(r, i, 1, true));
  }
  return STOW_OK;
}

static int by_time(const void* a, const void* b, const void* context) {
  const stowi_place_buffer* buffers = (const stowi_place_buffer*)context;
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  if (buffers[x].begin != buffers[y].begin) {
    return buffers[x].begin < buffers[y].begin ? -1 : 1;
  }
  return (x > y) - (x < y);
}

static int smallest_first(const void* a, const void* b, const void* context) {
  const stowi_place_buffer* buffers = (const stowi_place_buffer*)context;
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  if (buffers[x].size != buffers[y].size) {
    return buffers[x].size < buffers[y].size ? -1 : 1;
  }
  return (x > y) - (x < y);
}

static stow_status sort_order(reducer* r, int (*compare)(const void*, const void*, const void*)) {
  stow_status status = stowi_sort(r->order, r->order_count, sizeof(*r->order), compare,
                                  r->problem->buffers.data, r->allocator);
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(r->diag);
}

// ---------------------------------------------------------------------------------------------

static bool ends_above(const stowi_place_buffer* buffer, uint64_t capacity) {
  return stowi_place_is_fixed(buffer) &&
         buffer->fixed_offset + stowi_place_footprint(buffer) > capacity;
}

// What |buffer| occupies at |step|.
static uint64_t bytes_at(const stow_problem* problem, size_t buffer, uint64_t step) {
  stowi_place_walk walk = stowi_place_walk_start(problem, buffer);
  stowi_place_stretch stretch;
  while (stowi_place_walk_next(&walk, &stretch)) {
    if (stowi_place_together((stowi_place_life){stretch.begin, stretch.end},
                             (stowi_place_life){step, step + 1})) {
      return stretch.high - stretch.low;
    }
  }
  return 0;
}

static void list_members(reducer* r) {
  r->order_count = 0;
  for (size_t i = 0; i < r->problem->buffers.count; ++i) {
    if (r->in[i]) {
      r->order[r->order_count++] = (uint32_t)i;
    }
  }
}

// Drops, without a search, what a step whose load is above the capacity does not need. After that
// there is little to drop, so ranges are not worth a search. False if no step has such a load.
static stow_status drop_by_load(reducer* r, bool* out_dropped) {
  stow_load load = {.struct_size = sizeof(load)};
  STOW_TRY(stow_problem_load(r->problem, r->allocator, r->diag, &load));
  *out_dropped = load.bytes > r->options.capacity;
  if (!*out_dropped) {
    return STOW_OK;
  }
  uint64_t excess = load.bytes - r->options.capacity;
  STOW_TRY(sort_order(r, smallest_first));
  for (size_t i = 0; i < r->order_count; ++i) {
    uint64_t bytes = bytes_at(r->problem, r->order[i], load.step);
    if (bytes < excess) {
      r->in[r->order[i]] = false;
      excess -= bytes;
    }
  }
  shorten_order(r);
  return STOW_OK;
}

static stow_status reduce(reducer* r) {
  for (size_t i = 0; i < r->problem->buffers.count; ++i) {
    if (ends_above(&r->problem->buffers.data[i], r->options.capacity)) {
      memset(r->in, 0, r->problem->buffers.count * sizeof(*r->in));
      r->in[i] = true;
      return STOW_OK;
    }
    r->in[i] = !stowi_place_is_fixed(&r->problem->buffers.data[i]);
  }
  stow_outcome outcome = STOW_OUTCOME_GAVE_UP;
  STOW_TRY(ask(r, &outcome));
  if (outcome == STOW_OUTCOME_GAVE_UP) {
    return stowi_fail(r->diag, STOW_ERR_GAVE_UP,
                      "the budget ran out before it was known whether everything fits");
  }
  if (outcome != STOW_OUTCOME_INFEASIBLE) {
    return stowi_fail(r->diag, STOW_ERR_NOT_FOUND, "everything fits; there is nothing to explain");
  }
  list_members(r);
  bool has_peak;
  STOW_TRY(drop_by_load(r, &has_peak));
  if (!has_peak) {
    STOW_TRY(sort_order(r, by_time));
    STOW_TRY(drop_stretches(r));
  }
  shorten_order(r);
  STOW_TRY(sort_order(r, smallest_first));
  return drop_singles(r);
}

static stow_status collect(const reducer* r, stow_explanation* out) {
  size_t count = 0;
  for (size_t i = 0; i < r->problem->buffers.count; ++i) {
    count += r->in[i];
  }
  out->buffers = STOWI_ARRAY(r->allocator, size_t, count);
  STOW_TRY(stowi_need_memory(out->buffers != NULL, r->diag));
  for (size_t i = 0; i < r->problem->buffers.count; ++i) {
    if (r->in[i]) {
      out->buffers[out->count++] = i;
    }
  }
  out->irreducible = r->is_certain;
  return STOW_OK;
}

stow_status stow_place_explain(const stow_problem* problem, const stow_place_options* options,
                               stow_allocator allocator, stow_diag* diag,
                               stow_explanation* out_explanation) {
  stow_explanation explanation = {0};
  STOW_TRY(stowi_fill_struct(out_explanation, &explanation, sizeof(explanation), "stow_explanation",
                             diag));
  if (out_explanation->struct_size < offsetof(stow_explanation, irreducible)) {  // cannot be freed
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "stow_explanation.struct_size is too small");
  }
  reducer r = {.problem = problem, .allocator = allocator, .diag = diag, .is_certain = true};
  stow_place_options_init(&r.options);
  STOW_TRY(stowi_load_options(&r.options, options, sizeof(r.options), "stow_place_options", diag));
  if (r.options.capacity == STOW_PLACE_SMALLEST) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "an explanation needs a capacity");
  }
  size_t count = problem->buffers.count;
  r.options.start = NULL;  // of all buffers, not of a part
  r.left = r.options.nodes;
  r.in = STOWI_ARRAY_ZERO(allocator, bool, count);
  r.order = STOWI_ARRAY(allocator, uint32_t, count);
  stow_status status = r.in != NULL && r.order != NULL ? reduce(&r) : stowi_fail_memory(diag);
  if (status == STOW_OK) {
    status = collect(&r, &explanation);
  }
  if (status == STOW_OK) {
    status = stowi_fill_struct(out_explanation, &explanation, sizeof(explanation),
                               "stow_explanation", diag);
  }
  STOWI_ARRAY_FREE(allocator, r.in, count);
  STOWI_ARRAY_FREE(allocator, r.order, count);
  return status;
}

void stow_explanation_free(stow_explanation* explanation, stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, explanation->buffers, explanation->count);
  explanation->buffers = NULL;
  explanation->count = 0;
}

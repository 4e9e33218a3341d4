// Two passes over the ends of segments. The first finds the smallest peak: of all ways to cut the
// pieces before an end, only the one with the smallest peak matters. The second finds the cheapest
// way below a given peak. Costs of segments are dear, so that one is asked for only if it may make
// a difference, and remembered; a cost that is too high need not be exact.
#include "rewrite/cuts.h"

#include <string.h>

#include "base/diag.h"

stow_status stowi_rewrite_cuts_init(stowi_rewrite_cuts* cuts, stow_diag* diag) {
  size_t pairs = cuts->count * cuts->count;
  cuts->known = STOWI_ARRAY_ZERO(cuts->allocator, uint64_t, pairs);
  cuts->is_exact = STOWI_ARRAY_ZERO(cuts->allocator, bool, pairs);
  cuts->best = STOWI_ARRAY(cuts->allocator, uint64_t, cuts->count + 1);
  cuts->from = STOWI_ARRAY(cuts->allocator, size_t, cuts->count + 1);
  return stowi_need_memory(
      cuts->known != NULL && cuts->is_exact != NULL && cuts->best != NULL && cuts->from != NULL,
      diag);
}

void stowi_rewrite_cuts_free(stowi_rewrite_cuts* cuts) {
  size_t pairs = cuts->count * cuts->count;
  STOWI_ARRAY_FREE(cuts->allocator, cuts->known, pairs);
  STOWI_ARRAY_FREE(cuts->allocator, cuts->is_exact, pairs);
  STOWI_ARRAY_FREE(cuts->allocator, cuts->best, cuts->count + 1);
  STOWI_ARRAY_FREE(cuts->allocator, cuts->from, cuts->count + 1);
}

// |*out_bytes| is exact if it is below |limit|.
static stow_status ask(stowi_rewrite_cuts* cuts, size_t first, size_t end, uint64_t limit,
                       stow_diag* diag, uint64_t* out_bytes) {
  size_t pair = first * cuts->count + end - 1;
  if (!cuts->is_exact[pair] && cuts->known[pair] < limit) {
    STOW_TRY(cuts->cost(cuts->user, first, end, limit, diag, &cuts->known[pair]));
    cuts->is_exact[pair] = cuts->known[pair] < limit;
  }
  *out_bytes = cuts->known[pair];
  return STOW_OK;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

stow_status stowi_rewrite_cuts_peak(stowi_rewrite_cuts* cuts, uint64_t floor, stow_diag* diag,
                                    uint64_t* out_peak) {
  uint64_t* best = cuts->best;
  best[0] = floor;
  for (size_t end = 1; end <= cuts->count; ++end) {
    best[end] = larger(best[end - 1], cuts->loads[end - 1]);
    for (size_t first = end; first-- > 0 && best[end] > floor;) {
      if (best[first] < best[end]) {
        uint64_t bytes;
        STOW_TRY(ask(cuts, first, end, best[end], diag, &bytes));
        bytes = larger(bytes, best[first]);
        best[end] = bytes < best[end] ? bytes : best[end];
      }
    }
  }
  *out_peak = best[cuts->count];
  return STOW_OK;
}

static stow_status choose_before(stowi_rewrite_cuts* cuts, size_t end, uint64_t limit,
                                 stow_diag* diag) {
  uint64_t* best = cuts->best;
  uint64_t work = 0;
  best[end] = cuts->loads[end - 1] <= limit ? best[end - 1] : UINT64_MAX;
  cuts->from[end] = end;
  for (size_t first = end; first-- > 0;) {
    uint64_t bytes;
    work += cuts->works[first];
    if (best[first] == UINT64_MAX || best[first] + work >= best[end]) {
      continue;
    }
    STOW_TRY(ask(cuts, first, end, limit + 1, diag, &bytes));
    if (bytes <= limit) {
      best[end] = best[first] + work;
      cuts->from[end] = first;
    }
  }
  return STOW_OK;
}

stow_status stowi_rewrite_cuts_choose(stowi_rewrite_cuts* cuts, uint64_t limit, stow_diag* diag) {
  cuts->best[0] = 0;
  for (size_t end = 1; end <= cuts->count; ++end) {
    STOW_TRY(choose_before(cuts, end, limit, diag));
  }
  return STOW_OK;
}

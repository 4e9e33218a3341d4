// The load over time, by one sweep over births and deaths in order of time, deaths first where both
// fall on one step: lifetimes are half-open.
//
// No placement can be lower than the sum of the footprints that live at one step, so the highest
// load certifies a placement that reaches it. Where every offset is a multiple of some unit, all
// footprints but the topmost end in padding up to the next unit: counting it makes the bound
// tighter. A buffer lives together with those that are live when
// it is born and those born during its life; counting the former alone counts every pair once.
// O(n log n) for the two sorts.
#include "base/diag.h"
#include "base/sort.h"
#include "place/problem.h"

typedef struct event {
  uint64_t time;
  uint64_t footprint;
  uint64_t padded;  // up to the next unit
} event;

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static int compare_times(const void* a, const void* b, const void* context) {
  uint64_t x = ((const event*)a)->time;
  uint64_t y = ((const event*)b)->time;
  (void)context;
  return (x > y) - (x < y);
}

// Returns the highest load of padded footprints.
static uint64_t sweep(const event* births, const event* deaths, size_t count, stow_load* load) {
  uint64_t bytes = 0;
  uint64_t padded = 0;
  uint64_t most_padded = 0;
  size_t dead = 0;
  for (size_t born = 0; born < count; ++born) {
    for (; deaths[dead].time <= births[born].time; ++dead) {
      bytes -= deaths[dead].footprint;
      padded -= deaths[dead].padded;
    }
    load->pair_count += born - dead;
    bytes += births[born].footprint;
    padded += births[born].padded;
    most_padded = padded > most_padded ? padded : most_padded;
    if (bytes > load->bytes) {
      load->bytes = bytes;
      load->step = births[born].time;
    }
  }
  return most_padded;
}

static stow_status fill_and_sweep(const stow_problem* problem, event* births, event* deaths,
                                  stow_allocator allocator, stow_load* load) {
  size_t count = problem->buffers.count;
  uint64_t mask = problem->min_alignment - 1;
  uint64_t most_padding = 0;
  for (size_t i = 0; i < count; ++i) {
    const stowi_buffer* buffer = &problem->buffers.data[i];
    uint64_t footprint = stowi_footprint(buffer);
    uint64_t padded = (footprint + mask) & ~mask;
    births[i] = (event){buffer->begin, footprint, padded};
    deaths[i] = (event){buffer->end, footprint, padded};
    most_padding = padded - footprint > most_padding ? padded - footprint : most_padding;
  }
  STOW_TRY(stowi_sort(births, count, sizeof(event), compare_times, NULL, allocator));
  STOW_TRY(stowi_sort(deaths, count, sizeof(event), compare_times, NULL, allocator));
  uint64_t padded = sweep(births, deaths, count, load);
  // Whichever is topmost needs no padding; it may be the one with the most.
  load->lower_bound = larger(larger(load->bytes, problem->fixed_end),
                             padded > most_padding ? padded - most_padding : 0);
  return STOW_OK;
}

stow_status stow_problem_load(const stow_problem* problem, stow_allocator allocator,
                              stow_diag* diag, stow_load* out_load) {
  stow_load load = {0, 0, 0, 0};
  *out_load = load;
  size_t count = problem->buffers.count;
  event* births = STOWI_ARRAY(allocator, event, count);
  event* deaths = STOWI_ARRAY(allocator, event, count);
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (births != NULL && deaths != NULL) {
    status = fill_and_sweep(problem, births, deaths, allocator, &load);
  }
  STOWI_ARRAY_FREE(allocator, births, count);
  STOWI_ARRAY_FREE(allocator, deaths, count);
  if (status != STOW_OK) {
    return stowi_fail_memory(diag);
  }
  *out_load = load;
  return STOW_OK;
}

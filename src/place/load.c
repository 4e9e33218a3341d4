// The load over time, by one sweep over births and deaths in order of time, deaths first at the
// same step: lifetimes are half-open. The sweep treats lifetimes as intervals (place/together.h)
// and does not ask pair by pair: it would overcount buffers that are never live together.
//
// No placement can be lower than the sum of the bytes occupied at one step, so the highest load
// certifies a placement that reaches it. If all buffers begin at multiples of some unit, all but
// the topmost end in padding up to the next unit: counting it makes the bound tighter. A buffer
// overlaps in time with those that are live when it is born and those born during its lifetime;
// counting only the former counts every pair once. O(n log n) for the sorts.
#include "base/diag.h"
#include "base/sort.h"
#include "place/problem.h"

typedef struct event {
  uint64_t time;
  uint64_t bytes;
  uint64_t padded;  // up to the next unit
} event;

// Births and deaths of ranges of buffers.
typedef struct events {
  event* births;
  event* deaths;
  size_t count;
} events;

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static stow_status sort(events* e, stow_allocator allocator) {
  STOW_TRY(stowi_sort_by_key(e->births, e->count, sizeof(event), allocator));
  return stowi_sort_by_key(e->deaths, e->count, sizeof(event), allocator);
}

// Returns the highest load of padded bytes.
static uint64_t sweep(const events* e, stow_load* load) {
  uint64_t bytes = 0;
  uint64_t padded = 0;
  uint64_t most_padded = 0;
  size_t dead = 0;
  for (size_t born = 0; born < e->count; ++born) {
    for (; e->deaths[dead].time <= e->births[born].time; ++dead) {
      bytes -= e->deaths[dead].bytes;
      padded -= e->deaths[dead].padded;
    }
    load->pair_count += born - dead;
    bytes += e->births[born].bytes;
    padded += e->births[born].padded;
    most_padded = larger(padded, most_padded);
    if (bytes > load->bytes) {
      load->bytes = bytes;
      load->step = e->births[born].time;
    }
  }
  return most_padded;
}

// The largest power of two such that every occupied byte range begins at a multiple of it.
static uint64_t unit_of(const stow_problem* problem) {
  uint64_t starts = problem->min_alignment;
  for (size_t i = 0; i < problem->windows.count; ++i) {
    starts |= problem->windows.data[i].low;
  }
  return starts & (~starts + 1);
}

// Returns the padding.
static uint64_t add_stretch(const stowi_place_stretch* stretch, uint64_t mask, events* e) {
  uint64_t bytes = stretch->high - stretch->low;
  uint64_t padded = (bytes + mask) & ~mask;
  e->births[e->count] = (event){stretch->begin, bytes, padded};
  e->deaths[e->count++] = (event){stretch->end, bytes, padded};
  return padded - bytes;
}

// Returns the largest padding.
static uint64_t add_stretches(const stow_problem* problem, size_t buffer, uint64_t mask,
                              events* e) {
  const stowi_place_buffer* b = &problem->buffers.data[buffer];
  stowi_place_stretch stretch = {b->begin, b->end, 0, stowi_place_footprint(b)};
  if (b->window_count == 0) {
    return add_stretch(&stretch, mask, e);
  }
  uint64_t most_padding = 0;
  stowi_place_walk walk = stowi_place_walk_start(problem, buffer);
  while (stowi_place_walk_next(&walk, &stretch)) {
    most_padding = larger(add_stretch(&stretch, mask, e), most_padding);
  }
  return most_padding;
}

static stow_status measure_bytes(const stow_problem* problem, events* e, stow_allocator allocator,
                                 stow_load* load) {
  uint64_t mask = unit_of(problem) - 1;
  uint64_t most_padding = 0;
  uint64_t largest = 0;
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    most_padding = larger(add_stretches(problem, i, mask, e), most_padding);
    largest = larger(stowi_place_footprint(&problem->buffers.data[i]), largest);
  }
  STOW_TRY(sort(e, allocator));
  uint64_t padded = sweep(e, load);
  // The topmost buffer needs no padding; it may be the one with the most.
  uint64_t packed = padded > most_padding ? padded - most_padding : 0;
  load->lower_bound = larger(larger(load->bytes, packed), larger(problem->fixed_end, largest));
  return STOW_OK;
}

// Windows do not affect which buffers are live together.
static stow_status count_pairs(const stow_problem* problem, events* e, stow_allocator allocator,
                               stow_load* load) {
  e->count = problem->buffers.count;
  for (size_t i = 0; i < e->count; ++i) {
    e->births[i] = (event){.time = problem->buffers.data[i].begin};
    e->deaths[i] = (event){.time = problem->buffers.data[i].end};
  }
  STOW_TRY(sort(e, allocator));
  stow_load lives = {0};
  sweep(e, &lives);
  load->pair_count = lives.pair_count;
  return STOW_OK;
}

stow_status stow_problem_load(const stow_problem* problem, stow_allocator allocator,
                              stow_diag* diag, stow_load* out_load) {
  stow_load load = {0};
  STOW_TRY(stowi_fill_struct(out_load, &load, sizeof(load), "stow_load", diag));
  size_t most = stowi_place_max_pieces(problem);
  events e = {STOWI_ARRAY(allocator, event, most), STOWI_ARRAY(allocator, event, most), 0};
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (e.births != NULL && e.deaths != NULL) {
    status = measure_bytes(problem, &e, allocator, &load);
  }
  if (status == STOW_OK && problem->windows.count != 0) {
    status = count_pairs(problem, &e, allocator, &load);
  }
  STOWI_ARRAY_FREE(allocator, e.births, most);
  STOWI_ARRAY_FREE(allocator, e.deaths, most);
  STOW_TRY(stowi_need_memory(status == STOW_OK, diag));
  return stowi_fill_struct(out_load, &load, sizeof(load), "stow_load", diag);
}

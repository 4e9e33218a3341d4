// Streams: runs of nodes that compute images row by row become `stream` nodes, where that makes the
// peak smaller. What is between such nodes is then a few rows.
//
// Nodes are taken in the graph's order. A run of nodes that can stream is cut into segments, which
// stream, and nodes that are computed as they are (cuts.h). A segment needs what lives across it,
// its operands and results, and rings for rows (rings.h); other nodes need what a model of
// lifetimes says (load.h), with those in blocks that can be. The smallest peak of the whole graph
// is found first. Then, in each run, the segments are found that keep below it, or a little above,
// and stream the least work: segments that the peak does not need are not streamed.
//
// Numbers of cuts and of rows that are followed are limited: O(nodes) altogether.
#include <string.h>

#include "base/diag.h"
#include "rewrite/clusters.h"
#include "rewrite/cuts.h"
#include "rewrite/load.h"
#include "rewrite/rewritten.h"
#include "rewrite/rings.h"
#include "rewrite/rules.h"

#define MOST_PIECES 384  // of a run
#define WORTHWHILE 64    // less than this part of the peak is not worth another segment
// About what an executor needs besides rows: for a call, and for each node.
#define CALL_BYTES 2048
#define FRAME_BYTES 64

// Steps that can all stream, cut into pieces.
typedef struct run {
  uint32_t first, end;
  uint32_t begins[MOST_PIECES + 1];  // by piece, and the end
  uint64_t loads[MOST_PIECES];
  uint64_t works[MOST_PIECES];
  stowi_rewrite_cuts cuts;
} run;

typedef struct finder {
  stowi_rewrite_pass* pass;
  const stow_graph* graph;
  stowi_rewrite_load load;
  stowi_rewrite_rings rows;
  uint64_t* loads;   // by step
  uint64_t* inputs;  // by step: bytes of those up to it
  uint64_t* lives;   // by step: bytes that were made before, and are needed then or later
  STOWI_VEC(run) runs;
  const run* asked;  // about which costs are asked
} finder;

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// ---------------------------------------------------------------------------------------------
// What lives

static bool is_input(const stow_graph* graph, stow_value value) {
  return stow_graph_op(graph, stow_graph_producer(graph, value)) == STOW_OP_INPUT;
}

// By node: how many steps are up to it.
static uint32_t steps_up_to(const stowi_rewrite_rings* rows, stow_node node) {
  uint32_t low = 0, high = rows->step_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    bool is_up_to = rows->steps[middle].node <= node;
    low = is_up_to ? middle + 1 : low;
    high = is_up_to ? high : middle;
  }
  return low;
}

// Inputs are there all the time, or outside the arena. Differences wrap around, and so do their
// sums, to what they should be.
static void find_lives(finder* f) {
  const stowi_rewrite_lives* lives = &f->load.lives;
  const stowi_rewrite_rings* rows = &f->rows;
  uint64_t inputs = 0;
  for (stow_value value = 0; value < rows->value_count; ++value) {
    uint32_t maker = rows->values[value].maker;
    uint32_t end = steps_up_to(rows, lives->ends[value]);
    if (maker != STOWI_REWRITE_NO_STEP && maker + 1 < end) {
      f->lives[maker + 1] += lives->bytes[value];
      f->lives[end] -= lives->bytes[value];
    }
  }
  stow_node node = 0;
  for (uint32_t i = 0; i < rows->step_count; ++i) {
    for (; node <= rows->steps[i].node; ++node) {
      stow_value value = stow_graph_first_result(f->graph, node);
      bool is = stow_graph_result_count(f->graph, node) == 1 && is_input(f->graph, value);
      inputs += is ? lives->bytes[value] : 0;
    }
    f->lives[i + 1] += f->lives[i];
    f->inputs[i] = inputs;
  }
}

// What follows this rule may make blocks.
static stow_status find_loads(finder* f) {
  STOW_TRY(stowi_rewrite_note_clusters(f->pass, &f->load, NULL));
  for (uint32_t i = 0; i < f->rows.step_count; ++i) {
    f->loads[i] = f->load.at[f->rows.steps[i].node] - f->inputs[i];
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Costs

static stow_status cost(void* user, size_t first, size_t end, uint64_t limit, stow_diag* diag,
                        uint64_t* out_bytes) {
  finder* f = (finder*)user;
  stowi_rewrite_rings* rows = &f->rows;
  uint32_t begin = f->asked->begins[first];
  uint32_t stop = f->asked->begins[end];
  *out_bytes = UINT64_MAX;
  if (!stowi_rewrite_rings_can_stream(rows, begin, stop)) {
    return STOW_OK;
  }
  STOW_TRY(stowi_rewrite_rings_find_results(rows, begin, stop, diag));
  uint64_t across = f->lives[begin] + CALL_BYTES + (uint64_t)FRAME_BYTES * (stop - begin);
  for (size_t i = 0; i < rows->results.count; ++i) {
    stow_value value = rows->results.data[i];
    bool is_output = stowi_bits_has(&f->pass->facts.outputs, value);
    across = stowi_rewrite_add(across, is_output ? 0 : rows->values[value].bytes);
  }
  if (across >= limit || rows->results.count == 0) {
    *out_bytes = rows->results.count == 0 ? UINT64_MAX : across;
    return STOW_OK;
  }
  uint64_t need;
  STOW_TRY(stowi_rewrite_rings_need(rows, begin, stop, limit - across, diag, &need));
  *out_bytes = stowi_rewrite_add(across, need);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Runs

// Before elementwise nodes, which are computed row by row for nothing, there are no cuts.
static bool may_begin(const finder* f, uint32_t step) {
  return !stowi_graph_is_elementwise(f->graph, f->rows.steps[step].node);
}

// Cuts inside a run at which less than |most| bytes live.
static size_t count_cuts(const finder* f, const run* r, uint64_t most) {
  size_t count = 0;
  for (uint32_t i = r->first + 1; i < r->end; ++i) {
    count += may_begin(f, i) && f->lives[i] < most;
  }
  return count;
}

// The bytes below which there is room for all cuts: those with more cross are given up.
static uint64_t find_most(const finder* f, const run* r) {
  uint64_t low = 0, high = UINT64_MAX;
  if (count_cuts(f, r, high) < MOST_PIECES) {
    return high;
  }
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    bool fits = count_cuts(f, r, middle) < MOST_PIECES;
    low = fits ? middle : low;
    high = fits ? high : middle;
  }
  return low;
}

static void cut(finder* f, run* r) {
  uint64_t most = find_most(f, r);
  size_t count = 0;
  for (uint32_t i = r->first; i < r->end; ++i) {
    const stowi_rewrite_row_step* step = &f->rows.steps[i];
    if (i == r->first || (may_begin(f, i) && f->lives[i] < most)) {
      r->loads[count] = r->works[count] = 0;
      r->begins[count++] = i;
    }
    r->loads[count - 1] = larger(r->loads[count - 1], f->loads[i]);
    r->works[count - 1] += step->work + step->extra;
  }
  r->begins[count] = r->end;
  r->cuts.count = count;
}

static stow_status find_runs(finder* f, uint64_t* out_floor) {
  *out_floor = 0;
  for (uint32_t first = 0, end; first < f->rows.step_count; first = end) {
    end = first + 1;
    if (!f->rows.steps[first].streams) {
      *out_floor = larger(*out_floor, f->loads[first]);
      continue;
    }
    while (end < f->rows.step_count && f->rows.steps[end].streams) {
      ++end;
    }
    STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(f->pass->allocator, &f->runs, 1) == STOW_OK,
                               f->pass->diag));
    run* r = &f->runs.data[f->runs.count++];
    memset(r, 0, sizeof(*r));
    r->first = first;
    r->end = end;
    cut(f, r);
  }
  return STOW_OK;
}

static uint64_t peak_of(const uint64_t* loads, size_t count) {
  uint64_t peak = 0;
  for (size_t i = 0; i < count; ++i) {
    peak = larger(peak, loads[i]);
  }
  return peak;
}

// The smallest peak of the graph: runs whose peak is lower anyway are not looked at.
static stow_status find_peak(finder* f, uint64_t floor, uint64_t* out_peak) {
  *out_peak = floor;
  for (size_t i = 0; i < f->runs.count; ++i) {
    run* r = &f->runs.data[i];
    r->cuts = (stowi_rewrite_cuts){.allocator = f->pass->allocator,
                                   .count = r->cuts.count,
                                   .loads = r->loads,
                                   .works = r->works,
                                   .cost = cost,
                                   .user = f};
    f->asked = r;
    STOW_TRY(stowi_rewrite_cuts_init(&r->cuts, f->pass->diag));
    if (peak_of(r->loads, r->cuts.count) > *out_peak) {
      STOW_TRY(stowi_rewrite_cuts_peak(&r->cuts, *out_peak, f->pass->diag, out_peak));
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Segments

static stow_status note_segment(finder* f, uint32_t first, uint32_t end) {
  stowi_rewrite_pass* pass = f->pass;
  stowi_rewrite_rings* rows = &f->rows;
  size_t first_node = pass->nodes.count;
  size_t first_result = pass->results.count;
  STOW_TRY(stowi_rewrite_rings_find_results(rows, first, end, pass->diag));
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(pass->allocator, &pass->nodes, end - first) == STOW_OK &&
          STOWI_VEC_RESERVE(pass->allocator, &pass->results, rows->results.count) == STOW_OK,
      pass->diag));
  for (uint32_t i = first; i < end; ++i) {
    pass->nodes.data[pass->nodes.count++] = rows->steps[i].node;
    pass->is_dropped[rows->steps[i].node] = true;
    pass->rewritten->info.streamed_work += rows->steps[i].work;
  }
  pass->rewritten->info.streamed_nodes += end - first;
  for (size_t i = 0; i < rows->results.count; ++i) {
    pass->results.data[pass->results.count++] = rows->results.data[i];
  }
  STOW_TRY(
      stowi_rewrite_stream_at(pass, first_node, end - first, first_result, rows->results.count));
  return stowi_rewrite_fire(pass, pass->nodes.data + first_node, end - first);
}

// From the first to the last.
static stow_status note_before(finder* f, run* r, size_t end) {
  bool is_first[MOST_PIECES + 1] = {false};
  size_t ends[MOST_PIECES + 1];
  while (end > 0) {
    size_t first = r->cuts.from[end];
    bool streams = first != end;
    first = streams ? first : end - 1;
    is_first[first] = streams;
    ends[first] = end;
    end = first;
  }
  for (size_t i = 0; i < r->cuts.count; ++i) {
    STOW_TRY(is_first[i] ? note_segment(f, r->begins[i], r->begins[ends[i]]) : STOW_OK);
  }
  return STOW_OK;
}

static stow_status choose(finder* f, uint64_t limit) {
  for (size_t i = 0; i < f->runs.count; ++i) {
    run* r = &f->runs.data[i];
    if (peak_of(r->loads, r->cuts.count) > limit) {
      f->asked = r;
      STOW_TRY(stowi_rewrite_cuts_choose(&r->cuts, limit, f->pass->diag));
      STOW_TRY(note_before(f, r, r->cuts.count));
    }
  }
  return STOW_OK;
}

static stow_status find_and_note(finder* f) {
  uint64_t floor, peak;
  find_lives(f);
  STOW_TRY(find_loads(f));
  STOW_TRY(find_runs(f, &floor));
  uint64_t before = peak_of(f->loads, f->rows.step_count);
  if (floor >= before - before / WORTHWHILE) {
    return STOW_OK;
  }
  STOW_TRY(find_peak(f, floor, &peak));
  uint64_t limit = peak + peak / WORTHWHILE;
  return limit < before - before / WORTHWHILE ? choose(f, limit) : STOW_OK;
}

static stow_status init(finder* f) {
  stowi_rewrite_pass* pass = f->pass;
  STOW_TRY(stowi_rewrite_load_init(&f->load, pass->graph, pass->allocator, pass->diag));
  STOW_TRY(
      stowi_rewrite_rings_init(&f->rows, pass->graph, &pass->facts, pass->allocator, pass->diag));
  f->loads = STOWI_ARRAY_ZERO(pass->allocator, uint64_t, f->rows.step_count);
  f->lives = STOWI_ARRAY_ZERO(pass->allocator, uint64_t, (size_t)f->rows.step_count + 1);
  f->inputs = STOWI_ARRAY(pass->allocator, uint64_t, f->rows.step_count);
  return stowi_need_memory(f->loads != NULL && f->lives != NULL && f->inputs != NULL, pass->diag);
}

static void end(finder* f) {
  stow_allocator allocator = f->pass->allocator;
  STOWI_ARRAY_FREE(allocator, f->loads, f->rows.step_count);
  STOWI_ARRAY_FREE(allocator, f->inputs, f->rows.step_count);
  STOWI_ARRAY_FREE(allocator, f->lives, (size_t)f->rows.step_count + 1);
  for (size_t i = 0; i < f->runs.count; ++i) {
    if (f->runs.data[i].cuts.cost != NULL) {
      stowi_rewrite_cuts_free(&f->runs.data[i].cuts);
    }
  }
  STOWI_VEC_FREE(allocator, &f->runs);
  if (f->rows.graph != NULL) {
    stowi_rewrite_rings_free(&f->rows);
  }
  stowi_rewrite_load_free(&f->load);
}

// Rows of functions are numbers, so that graphs over ranges stay as they are.
stow_status stowi_rewrite_streams(stowi_rewrite_pass* pass) {
  if (pass->bound != NULL) {
    return STOW_OK;
  }
  finder f = {.pass = pass, .graph = pass->graph};
  stow_status status = init(&f);
  if (status == STOW_OK) {
    status = find_and_note(&f);
  }
  end(&f);
  return status;
}

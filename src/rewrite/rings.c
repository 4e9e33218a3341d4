// A row of a result is made when it is needed: first what is missing of the rows that it depends
// on. So a ring needs as many rows as are alive together. Rings have their largest size whenever
// they are not empty; the most bytes of all that are not, with what one step copies, is what the
// run needs. A place for each that wastes nothing is assumed.
//
// The kernel has this order too (exec/kernels/blocks/stream.c), in the form that exported programs
// take along; a test compares both.
#include "rewrite/rings.h"

#include <string.h>

#include "base/diag.h"
#include "rewrite/load.h"

#define ROWS 2
#define COLUMNS 3
#define ALIGNMENT 64
#define NONE STOWI_REWRITE_NO_STEP
#define MOST_READS (INT64_C(1) << 23)  // of one node, so that an executor can follow it
#define PART_BYTES 16384               // of copies, where an op treats channels on their own
#define MOST_FOLLOWED (UINT64_C(3) << 21)
#define MOST_WORK (UINT64_C(1) << 48)  // of one node, so that sums cannot overflow
#define ROW_COST 16  // positions that could be computed while the weights for a row are read

// ---------------------------------------------------------------------------------------------
// Steps

static bool is_boundary(const stow_graph* graph, stow_node node) {
  stow_op op = stow_graph_op(graph, node);
  return op == STOW_OP_INPUT || op == STOW_OP_PARAM || op == STOW_OP_CONSTANT;
}

static bool can_be_inside(const stowi_rewrite_facts* facts, const stow_graph* graph,
                          stow_value value) {
  return stowi_rewrite_is_whole(graph, value) && !stowi_bits_has(&facts->fixed, value);
}

static bool can_stream(const stowi_rewrite_facts* facts, const stow_graph* graph, stow_node node,
                       stowi_graph_row_map* out_map) {
  if (stowi_rewrite_is_barrier(graph, node) || stowi_rewrite_is_bounded(graph, node) ||
      stow_graph_node_region(graph, node) != STOW_REGION_BODY ||
      stow_graph_result_count(graph, node) > STOWI_REWRITE_MOST_RESULTS ||
      !stowi_graph_map_rows(graph, node, out_map)) {
    return false;
  }
  bool can = true;
  for (size_t k = 0; can && k < stow_graph_result_count(graph, node); ++k) {
    can = can_be_inside(facts, graph, stow_graph_first_result(graph, node) + (stow_value)k);
  }
  for (size_t k = 0; can && k < stow_graph_operand_count(graph, node); ++k) {
    stow_value operand = stow_graph_operands(graph, node)[k];
    can = operand == STOW_VALUE_NONE || !stowi_rewrite_streams_operand(graph, node, k) ||
          can_be_inside(facts, graph, operand);
  }
  return can;
}

static bool reads_whole(const stowi_rewrite_row_step* step, size_t k) {
  return k < 64 && (step->map.whole >> k & 1) != 0;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t elements(const stow_graph* graph, stow_value value) {
  const stow_type* type = stow_graph_type(graph, value);
  return stowi_rewrite_bytes(graph, value) / (stow_dtype_bits(type->dtype) / 8);
}

// Every weight is used at every position, and read for every row.
static void count_work(stowi_rewrite_rings* rows, stowi_rewrite_row_step* step) {
  const stow_graph* graph = rows->graph;
  stow_value result = stow_graph_first_result(graph, step->node);
  uint64_t weights = 0;
  for (size_t k = 0; k < stow_graph_operand_count(graph, step->node); ++k) {
    stow_value operand = stow_graph_operands(graph, step->node)[k];
    bool is_weight = operand != STOW_VALUE_NONE && reads_whole(step, k) &&
                     stowi_rewrite_streams_operand(graph, step->node, k) &&
                     stow_graph_type(graph, operand)->rank > 1;
    weights += is_weight ? elements(graph, operand) : 0;
  }
  uint64_t columns = (uint64_t)stow_graph_type(graph, result)->dims[COLUMNS];
  uint64_t positions = (uint64_t)step->rows * columns;
  uint64_t limit = MOST_WORK / (weights + 1);
  step->work = weights == 0 ? elements(graph, result) : weights * smaller(positions, limit);
  step->extra = weights * smaller((uint64_t)step->rows * ROW_COST, limit);
}

static bool is_by_channel(const stow_graph* graph, stow_node node) {
  const stow_attr* group = stow_graph_attr(graph, node, "group");
  const stow_type* image = stow_graph_type(graph, stow_graph_operands(graph, node)[0]);
  return stow_graph_op(graph, node) == STOW_OP_POOL ||
         (stow_graph_op(graph, node) == STOW_OP_CONV && group != NULL && group->i > 1 &&
          group->i == image->dims[1]);
}

// Windows of several rows are copied from a ring; pools and depthwise convolutions copy some
// channels at a time.
static void count_copies(stowi_rewrite_rings* rows, stowi_rewrite_row_step* step) {
  const stow_graph* graph = rows->graph;
  int64_t taps = (step->map.last - step->map.first) / step->map.divide + 1;
  stow_value image = stow_graph_operands(graph, step->node)[0];
  if (taps > 1 && !reads_whole(step, 0)) {
    const stowi_rewrite_row_value* v = &rows->values[image];
    uint64_t window = (uint64_t)(taps < v->rows ? taps : v->rows) * v->row;
    bool is_small = is_by_channel(graph, step->node) && window > PART_BYTES;
    step->copies = is_small ? PART_BYTES : window;
  }
}

// ---------------------------------------------------------------------------------------------
// Values and reads

static void measure_value(stowi_rewrite_rings* rows, stow_value value, uint32_t maker) {
  const stow_type* type = stow_graph_type(rows->graph, value);
  stowi_rewrite_row_value* v = &rows->values[value];
  v->maker = maker;
  v->bytes = stowi_rewrite_bytes(rows->graph, value);
  v->rows = type->rank > ROWS ? type->dims[ROWS] : 1;
  v->row = v->rows > 0 ? v->bytes / (uint64_t)v->rows : 0;
}

static bool reads_same_row(const stowi_graph_row_map* map, size_t k) {
  return k != 0 || (map->stride == 1 && map->first == 0 && map->last == 0 && map->divide == 1 &&
                    map->pad_count == 0);
}

static bool may_share(const stowi_rewrite_rings* rows, const stowi_rewrite_row_step* step,
                      size_t k) {
  const stow_graph* graph = rows->graph;
  stow_value value = stow_graph_operands(graph, step->node)[k];
  stow_value result = stow_graph_first_result(graph, step->node);
  return reads_same_row(&step->map, k) && stow_graph_result_count(graph, step->node) == 1 &&
         stow_graph_result_count(graph, stow_graph_producer(graph, value)) == 1 &&
         rows->values[value].row == rows->values[result].row &&
         stow_graph_in_place(graph, step->node, 0, k) != STOW_IN_PLACE_NEVER;
}

static void list_operands(stowi_rewrite_rings* rows, uint32_t index) {
  const stow_graph* graph = rows->graph;
  stowi_rewrite_row_step* step = &rows->steps[index];
  step->first_read = rows->read_count;
  for (size_t k = 0; k < stow_graph_operand_count(graph, step->node); ++k) {
    stow_value operand = stow_graph_operands(graph, step->node)[k];
    if (operand == STOW_VALUE_NONE) {
      continue;
    }
    stowi_rewrite_row_value* v = &rows->values[operand];
    v->last = index;
    bool is_whole = !step->streams || reads_whole(step, k);
    if (is_whole && v->maker != NONE && v->maker + 1 > step->after) {
      step->after = v->maker + 1;
    }
    if (!is_whole) {
      rows->reads[rows->read_count++] =
          (stowi_rewrite_row_read){operand, index, k == 0, may_share(rows, step, k)};
      ++v->reader_count;
    }
  }
  step->read_count = rows->read_count - step->first_read;
}

static void list_readers(stowi_rewrite_rings* rows) {
  uint32_t at = 0;
  for (stow_value value = 0; value < rows->value_count; ++value) {
    rows->values[value].first_reader = at;
    at += rows->values[value].reader_count;
    rows->values[value].reader_count = 0;
  }
  for (uint32_t i = 0; i < rows->read_count; ++i) {
    stowi_rewrite_row_value* v = &rows->values[rows->reads[i].value];
    rows->readers[v->first_reader + v->reader_count++] = i;
  }
}

static void list_steps(stowi_rewrite_rings* rows, const stowi_rewrite_facts* facts) {
  const stow_graph* graph = rows->graph;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    bool is_step = !is_boundary(graph, node);
    for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
      measure_value(rows, stow_graph_first_result(graph, node) + (stow_value)k,
                    is_step ? rows->step_count : NONE);
    }
    if (is_step) {
      stowi_rewrite_row_step* step = &rows->steps[rows->step_count++];
      step->node = node;
      step->streams = can_stream(facts, graph, node, &step->map);
      if (step->streams) {
        step->rows = rows->values[stow_graph_first_result(graph, node)].rows;
        count_work(rows, step);
        count_copies(rows, step);
      }
      list_operands(rows, rows->step_count - 1);
    }
  }
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    rows->values[stow_graph_outputs(graph)[i]].last = rows->step_count;
  }
  list_readers(rows);
}

static size_t count_operands(const stow_graph* graph) {
  size_t count = 0;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    count += stow_graph_operand_count(graph, node);
  }
  return count;
}

stow_status stowi_rewrite_rings_init(stowi_rewrite_rings* rows, const stow_graph* graph,
                                     const stowi_rewrite_facts* facts, stow_allocator allocator,
                                     stow_diag* diag) {
  size_t nodes = stow_graph_node_count(graph);
  size_t operands = count_operands(graph);
  memset(rows, 0, sizeof(*rows));
  rows->allocator = allocator;
  rows->graph = graph;
  rows->budget = MOST_FOLLOWED;
  rows->value_count = stow_graph_value_count(graph);
  rows->steps = STOWI_ARRAY_ZERO(allocator, stowi_rewrite_row_step, nodes);
  rows->values = STOWI_ARRAY_ZERO(allocator, stowi_rewrite_row_value, rows->value_count);
  rows->reads = STOWI_ARRAY_ZERO(allocator, stowi_rewrite_row_read, operands);
  rows->readers = STOWI_ARRAY(allocator, uint32_t, operands);
  rows->next = STOWI_ARRAY(allocator, int64_t, nodes);
  rows->stack = STOWI_ARRAY(allocator, uint32_t, nodes);
  rows->homes = STOWI_ARRAY(allocator, stow_value, rows->value_count);
  rows->capacities = STOWI_ARRAY(allocator, uint64_t, rows->value_count);
  rows->is_full = STOWI_ARRAY(allocator, bool, rows->value_count);
  STOW_TRY(stowi_need_memory(rows->steps != NULL && rows->values != NULL && rows->reads != NULL &&
                                 rows->readers != NULL && rows->next != NULL &&
                                 rows->stack != NULL && rows->homes != NULL &&
                                 rows->capacities != NULL && rows->is_full != NULL,
                             diag));
  list_steps(rows, facts);
  return STOW_OK;
}

void stowi_rewrite_rings_free(stowi_rewrite_rings* rows) {
  stow_allocator allocator = rows->allocator;
  size_t nodes = stow_graph_node_count(rows->graph);
  size_t operands = count_operands(rows->graph);
  STOWI_ARRAY_FREE(allocator, rows->steps, nodes);
  STOWI_ARRAY_FREE(allocator, rows->values, rows->value_count);
  STOWI_ARRAY_FREE(allocator, rows->reads, operands);
  STOWI_ARRAY_FREE(allocator, rows->readers, operands);
  STOWI_ARRAY_FREE(allocator, rows->next, nodes);
  STOWI_ARRAY_FREE(allocator, rows->stack, nodes);
  STOWI_ARRAY_FREE(allocator, rows->homes, rows->value_count);
  STOWI_ARRAY_FREE(allocator, rows->capacities, rows->value_count);
  STOWI_ARRAY_FREE(allocator, rows->is_full, rows->value_count);
  STOWI_VEC_FREE(allocator, &rows->events);
  STOWI_VEC_FREE(allocator, &rows->results);
}

// ---------------------------------------------------------------------------------------------
// Which steps

bool stowi_rewrite_rings_can_stream(const stowi_rewrite_rings* rows, uint32_t first, uint32_t end) {
  int64_t reads = 0;
  for (uint32_t i = first; i < end; ++i) {
    const stowi_rewrite_row_step* step = &rows->steps[i];
    if (!step->streams || step->after > first) {
      return false;
    }
    int64_t taps = (step->map.last - step->map.first) / step->map.divide + 1;
    reads += step->rows < MOST_READS / (1 + taps) ? step->rows * (1 + taps) : MOST_READS;
    if (reads >= MOST_READS) {
      return false;
    }
  }
  return first < end;
}

stow_status stowi_rewrite_rings_find_results(stowi_rewrite_rings* rows, uint32_t first,
                                             uint32_t end, stow_diag* diag) {
  rows->results.count = 0;
  for (uint32_t i = first; i < end; ++i) {
    stow_node node = rows->steps[i].node;
    size_t count = stow_graph_result_count(rows->graph, node);
    STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(rows->allocator, &rows->results, count) == STOW_OK,
                               diag));
    for (size_t k = 0; k < count; ++k) {
      stow_value value = stow_graph_first_result(rows->graph, node) + (stow_value)k;
      if (rows->values[value].last >= end) {
        rows->results.data[rows->results.count++] = value;
      }
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The order of rows

static int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// The rows that |step| reads of an operand for row |row|, from the first to the last.
static int64_t first_row(const stowi_rewrite_rings* rows, const stowi_rewrite_row_read* read,
                         int64_t row) {
  const stowi_graph_row_map* map = &rows->steps[read->step].map;
  if (!read->is_first) {
    return row;
  }
  int64_t first = floor_div(row * map->stride + map->first, map->divide);
  return first < 0 ? 0 : first;
}

static int64_t last_row(const stowi_rewrite_rings* rows, const stowi_rewrite_row_read* read,
                        int64_t row) {
  const stowi_graph_row_map* map = &rows->steps[read->step].map;
  if (!read->is_first) {
    return row;
  }
  int64_t last = floor_div(row * map->stride + map->last, map->divide);
  int64_t most = rows->values[read->value].rows - 1;
  return last < most ? last : most;
}

static bool is_inside(const stowi_rewrite_rings* rows, stow_value value) {
  uint32_t maker = rows->values[value].maker;
  return maker != NONE && maker >= rows->first && maker < rows->end;
}

// The maker of the result of which the smallest part is there.
static uint32_t next_result(const stowi_rewrite_rings* rows) {
  uint32_t best = NONE;
  for (size_t i = 0; i < rows->results.count; ++i) {
    uint32_t step = rows->values[rows->results.data[i]].maker;
    int64_t count = rows->steps[step].rows;
    if (rows->next[step] < count &&
        (best == NONE || rows->next[step] * rows->steps[best].rows < rows->next[best] * count)) {
      best = step;
    }
  }
  return best;
}

static uint32_t missing_for(const stowi_rewrite_rings* rows, uint32_t step) {
  const stowi_rewrite_row_step* s = &rows->steps[step];
  for (uint32_t i = s->first_read; i < s->first_read + s->read_count; ++i) {
    const stowi_rewrite_row_read* read = &rows->reads[i];
    if (is_inside(rows, read->value)) {
      uint32_t maker = rows->values[read->value].maker;
      if (rows->next[maker] <= last_row(rows, read, rows->next[step])) {
        return maker;
      }
    }
  }
  return NONE;
}

// The step that makes its next row; NONE: all results are complete.
static uint32_t next_step(stowi_rewrite_rings* rows) {
  if (rows->depth == 0) {
    uint32_t step = next_result(rows);
    if (step == NONE) {
      return NONE;
    }
    rows->stack[rows->depth++] = step;
  }
  for (;;) {
    uint32_t step = rows->stack[rows->depth - 1];
    uint32_t missing = missing_for(rows, step);
    if (missing == NONE) {
      --rows->depth;
      return step;
    }
    rows->stack[rows->depth++] = missing;
  }
}

// ---------------------------------------------------------------------------------------------
// Rings

static uint64_t align_up(uint64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static uint64_t ring_bytes(const stowi_rewrite_rings* rows, stow_value ring) {
  return align_up(rows->capacities[ring] * rows->values[ring].row);
}

static bool is_reader(const stowi_rewrite_rings* rows, uint32_t read) {
  uint32_t step = rows->reads[read].step;
  return step >= rows->first && step < rows->end;
}

// The only read of |value| is |read|, and nothing else needs it.
static bool is_read_once(const stowi_rewrite_rings* rows, stow_value value) {
  const stowi_rewrite_row_value* v = &rows->values[value];
  uint32_t count = 0;
  for (uint32_t i = 0; i < v->reader_count; ++i) {
    count += is_reader(rows, rows->readers[v->first_reader + i]);
  }
  return count == 1 && v->last < rows->end;
}

static void begin_values(stowi_rewrite_rings* rows) {
  for (uint32_t i = rows->first; i < rows->end; ++i) {
    stow_node node = rows->steps[i].node;
    rows->next[i] = 0;
    for (size_t k = 0; k < stow_graph_result_count(rows->graph, node); ++k) {
      stow_value value = stow_graph_first_result(rows->graph, node) + (stow_value)k;
      rows->homes[value] = value;
      rows->capacities[value] = 0;
      rows->is_full[value] = false;
    }
  }
  rows->depth = 0;
  rows->events.count = 0;
}

// A row that is read once, for the same row, is made where the result will be.
static void share_rings(stowi_rewrite_rings* rows) {
  for (uint32_t i = rows->end; i-- > rows->first;) {
    const stowi_rewrite_row_step* step = &rows->steps[i];
    bool is_shared = false;
    for (uint32_t r = step->first_read; !is_shared && r < step->first_read + step->read_count;
         ++r) {
      stow_value value = rows->reads[r].value;
      is_shared = rows->reads[r].may_share && is_inside(rows, value) && is_read_once(rows, value);
      if (is_shared) {
        rows->homes[value] = rows->homes[stow_graph_first_result(rows->graph, step->node)];
      }
    }
  }
}

// The first row of |value| that is still needed; |none| if none is.
static int64_t first_needed(const stowi_rewrite_rings* rows, stow_value value, int64_t none) {
  const stowi_rewrite_row_value* v = &rows->values[value];
  int64_t least = none;
  for (uint32_t i = 0; i < v->reader_count; ++i) {
    uint32_t read = rows->readers[v->first_reader + i];
    uint32_t step = rows->reads[read].step;
    if (is_reader(rows, read) && rows->next[step] < rows->steps[step].rows) {
      int64_t row = first_row(rows, &rows->reads[read], rows->next[step]);
      least = row < least ? row : least;
    }
  }
  return least;
}

// What happens, in order: a ring is no longer empty, or is; a step makes a row.
typedef enum event { FILLED, EMPTIED, MADE, EVENT_COUNT } event;

typedef struct tally {
  uint64_t now;    // bytes of rings that are not empty, with the rows that they have had so far
  uint64_t least;  // bytes that are needed in any case
} tally;

static stow_status note(stowi_rewrite_rings* rows, event what, uint32_t which, stow_diag* diag) {
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(rows->allocator, &rows->events, 1) == STOW_OK, diag));
  rows->events.data[rows->events.count++] = which * EVENT_COUNT + what;
  return STOW_OK;
}

static stow_status make_results(stowi_rewrite_rings* rows, uint32_t step, tally* t,
                                stow_diag* diag) {
  stow_node node = rows->steps[step].node;
  int64_t row = rows->next[step];
  for (size_t k = 0; k < stow_graph_result_count(rows->graph, node); ++k) {
    stow_value value = stow_graph_first_result(rows->graph, node) + (stow_value)k;
    stow_value ring = rows->homes[value];
    uint64_t alive = (uint64_t)(row - first_needed(rows, value, row) + 1);
    uint64_t before = rows->is_full[ring] ? ring_bytes(rows, ring) : 0;
    rows->capacities[ring] = alive > rows->capacities[ring] ? alive : rows->capacities[ring];
    t->now += ring_bytes(rows, ring) - before;
    STOW_TRY(rows->is_full[ring] ? STOW_OK : note(rows, FILLED, ring, diag));
    rows->is_full[ring] = true;
  }
  t->least =
      t->now + rows->steps[step].copies > t->least ? t->now + rows->steps[step].copies : t->least;
  return note(rows, MADE, step, diag);
}

static stow_status empty_ring(stowi_rewrite_rings* rows, stow_value value, tally* t,
                              stow_diag* diag) {
  uint32_t maker = rows->values[value].maker;
  if (!is_inside(rows, value) || rows->homes[value] != value || !rows->is_full[value] ||
      first_needed(rows, value, INT64_MAX) < rows->next[maker]) {
    return STOW_OK;
  }
  rows->is_full[value] = false;
  t->now -= ring_bytes(rows, value);
  return note(rows, EMPTIED, value, diag);
}

static stow_status make_row(stowi_rewrite_rings* rows, uint32_t step, tally* t, stow_diag* diag) {
  const stowi_rewrite_row_step* s = &rows->steps[step];
  STOW_TRY(make_results(rows, step, t, diag));
  ++rows->next[step];
  for (uint32_t i = s->first_read; i < s->first_read + s->read_count; ++i) {
    STOW_TRY(empty_ring(rows, rows->reads[i].value, t, diag));
  }
  for (size_t k = 0; k < stow_graph_result_count(rows->graph, s->node); ++k) {
    stow_value value = stow_graph_first_result(rows->graph, s->node) + (stow_value)k;
    STOW_TRY(empty_ring(rows, value, t, diag));
  }
  return STOW_OK;
}

// With the rows that rings have in the end.
static uint64_t most_bytes(const stowi_rewrite_rings* rows) {
  uint64_t now = 0, most = 0;
  for (size_t i = 0; i < rows->events.count; ++i) {
    uint32_t which = rows->events.data[i] / EVENT_COUNT;
    event what = (event)(rows->events.data[i] % EVENT_COUNT);
    uint64_t copies = what == MADE ? align_up(rows->steps[which].copies) : 0;
    now += what == FILLED ? ring_bytes(rows, which) : 0;
    now -= what == EMPTIED ? ring_bytes(rows, which) : 0;
    most = now + copies > most ? now + copies : most;
  }
  return most;
}

stow_status stowi_rewrite_rings_need(stowi_rewrite_rings* rows, uint32_t first, uint32_t end,
                                     uint64_t limit, stow_diag* diag, uint64_t* out_bytes) {
  tally t = {0, 0};
  *out_bytes = UINT64_MAX;
  STOW_TRY(stowi_rewrite_rings_find_results(rows, first, end, diag));
  rows->first = first;
  rows->end = end;
  begin_values(rows);
  share_rings(rows);
  for (uint32_t step; t.least < limit && (step = next_step(rows)) != NONE; --rows->budget) {
    if (rows->budget == 0) {
      return STOW_OK;
    }
    STOW_TRY(make_row(rows, step, &t, diag));
  }
  *out_bytes = t.least < limit ? most_bytes(rows) : t.least;
  return STOW_OK;
}

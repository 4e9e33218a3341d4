// Where rows of a stream lie. The kernel's order of rows is followed once to the end: a ring has
// room for as many rows as are alive at the same time, and it is known which rings, copies and
// scratch are in use together. Those are placed apart, the largest first, each at the lowest bytes
// that are free; others may share bytes, as rows that are read at once by the only step that needs
// them.
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/program/words.h"
#include "exec/run/stream_inside.h"

#define ROWS 2
#define NONE UINT32_MAX
#define ALIGNMENT 64

// Scratch that a kernel of the function may have, by variant, if it has one that needs as little.
static const uint64_t scratch_limits[STOWI_EXEC_STREAM_VARIANTS] = {UINT64_MAX, 65536, 8192, 0};

// Bytes of rows that are copied at a time for each worker, if the op treats channels on their own.
#define COPY_BYTES 16384

typedef stowi_exec_stream stream;
typedef stowi_exec_stream_window window;

static bool reads_rows(const stream* s, uint32_t step, size_t k) {
  return stow_graph_operands(s->function, s->nodes[step])[k] != STOW_VALUE_NONE &&
         !stowi_exec_stream_reads_whole(s, step, k);
}

bool stowi_exec_stream_reads_whole(const stowi_exec_stream* s, uint32_t step, size_t k) {
  return k < 64 && (s->maps[step].whole >> k & 1) != 0;
}

int64_t stowi_exec_stream_rows(const stowi_exec_stream* s, uint32_t step) {
  stow_value result = stow_graph_first_result(s->function, s->nodes[step]);
  return stow_graph_type(s->function, result)->dims[ROWS];
}

// ---------------------------------------------------------------------------------------------
// Windows

static int64_t clamp(int64_t number, int64_t most) {
  return number < 0 ? 0 : number < most ? number : most;
}

stowi_exec_stream_window stowi_exec_stream_window_of(const stowi_exec_stream* s, uint32_t step,
                                                     int64_t row) {
  const stowi_graph_row_map* map = &s->maps[step];
  const stow_value* operands = stow_graph_operands(s->function, s->nodes[step]);
  int64_t rows = stow_graph_type(s->function, operands[0])->dims[ROWS];
  int64_t first, last;
  window w = {.rows = 0};
  if (stowi_graph_row_range(map, rows, row, &first, &last)) {
    w.rows = last - first + 1;
  }
  if (map->pad_count != 0) {
    int64_t extent = map->last - map->first + 1;
    int64_t begin = row * map->stride + map->first;
    w.above = clamp(-begin, extent);
    w.below = clamp(clamp(begin + extent - rows, extent), map->pads[map->bottom]);
  }
  return w;
}

stowi_exec_stream_window stowi_exec_stream_most(const stowi_exec_stream* s, uint32_t step) {
  window most = stowi_exec_stream_window_of(s, step, 0);
  for (int64_t row = 1; row < stowi_exec_stream_rows(s, step); ++row) {
    window w = stowi_exec_stream_window_of(s, step, row);
    most = w.rows > most.rows ? w : most;
  }
  return most;
}

// ---------------------------------------------------------------------------------------------
// Shared rings

static bool reads_same_row(const stream* s, uint32_t step, size_t k) {
  const stowi_graph_row_map* map = &s->maps[step];
  bool is_same = map->stride == 1 && map->first == 0 && map->last == 0 && map->divide == 1;
  return reads_rows(s, step, k) && (k != 0 || (is_same && map->pad_count == 0));
}

// A row that only |step| reads, for the same row of its only result, is made where that will be: it
// is made when that is about to be made, and never earlier.
static bool shares_ring(const stream* s, uint32_t step, size_t k) {
  stow_value value = stow_graph_operands(s->function, s->nodes[step])[k];
  stow_value result = stow_graph_first_result(s->function, s->nodes[step]);
  const stowi_exec_step* row = &s->prepared->program.steps[s->row_nodes[step]];
  if (value == STOW_VALUE_NONE || s->values[value].maker == NONE || s->reads[value] != 1 ||
      s->homes[value].home != STOWI_KERNEL_BLOCK_SCRATCH) {
    return false;
  }
  uint32_t maker = s->values[value].maker;
  return reads_same_row(s, step, k) && s->calls[0][step].result_count == 1 &&
         s->calls[0][maker].result_count == 1 && s->values[value].row == s->values[result].row &&
         row->kernel.in_place &&
         stow_graph_in_place(s->graph, s->row_nodes[step], 0, k) != STOW_IN_PLACE_NEVER;
}

static void share_rings(stream* s) {
  for (uint32_t step = s->step_count; step-- > 0;) {
    const stow_value* operands = stow_graph_operands(s->function, s->nodes[step]);
    stow_value result = stow_graph_first_result(s->function, s->nodes[step]);
    for (size_t k = 0; k < s->calls[0][step].operand_count; ++k) {
      if (shares_ring(s, step, k)) {
        s->home_of[operands[k]] = s->home_of[result];
        break;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Following the rows

typedef struct simulation {
  stowi_kernel_stream_state state;
  uint32_t* readers;  // steps, of one value after the other
  size_t* first;      // by value, and the end
  bool* is_full;      // by ring: it has a row that is still needed
  // For each value, then each step: by value, whether the ring, or what the step has besides, is in
  // use when the other ring is.
  uint8_t* meets;
  size_t reads;
} simulation;

static size_t meet_count(const stream* s) {
  return ((size_t)s->value_count + s->step_count) * s->value_count;
}

static void free_simulation(const stream* s, simulation* sim) {
  stow_allocator allocator = s->allocator;
  STOWI_ARRAY_FREE(allocator, sim->state.next, s->step_count);
  STOWI_ARRAY_FREE(allocator, sim->state.stack, s->step_count);
  STOWI_ARRAY_FREE(allocator, sim->readers, sim->reads);
  STOWI_ARRAY_FREE(allocator, sim->first, (size_t)s->value_count + 1);
  STOWI_ARRAY_FREE(allocator, sim->is_full, s->value_count);
  STOWI_ARRAY_FREE(allocator, sim->meets, meet_count(s));
}

static stow_status begin_simulation(const stream* s, simulation* sim, stow_diag* diag) {
  stow_allocator allocator = s->allocator;
  *sim = (simulation){.reads = 0};
  for (stow_value value = 0; value < s->value_count; ++value) {
    sim->reads += s->reads[value];
  }
  sim->state.next = STOWI_ARRAY(allocator, uint64_t, s->step_count);
  sim->state.stack = STOWI_ARRAY(allocator, uint32_t, s->step_count);
  sim->readers = STOWI_ARRAY(allocator, uint32_t, sim->reads);
  sim->first = STOWI_ARRAY(allocator, size_t, (size_t)s->value_count + 1);
  sim->is_full = STOWI_ARRAY_ZERO(allocator, bool, s->value_count);
  sim->meets = STOWI_ARRAY_ZERO(allocator, uint8_t, meet_count(s));
  return stowi_need_memory(sim->state.next != NULL && sim->state.stack != NULL &&
                               sim->readers != NULL && sim->first != NULL && sim->is_full != NULL &&
                               sim->meets != NULL,
                           diag);
}

static void list_readers(const stream* s, simulation* sim) {
  size_t at = 0;
  for (stow_value value = 0; value < s->value_count; ++value) {
    sim->first[value] = at;
    at += s->reads[value];
  }
  sim->first[s->value_count] = at;
  for (uint32_t step = 0; step < s->step_count; ++step) {
    const stow_value* operands = stow_graph_operands(s->function, s->nodes[step]);
    for (size_t k = 0; k < s->calls[0][step].operand_count; ++k) {
      if (reads_rows(s, step, k)) {
        sim->readers[sim->first[operands[k]]++] = step;
      }
    }
  }
  for (stow_value value = 0; value < s->value_count; ++value) {
    sim->first[value] -= s->reads[value];
  }
}

// The first row of |value| that a step still needs; |none| if none does.
static uint64_t first_needed(const stream* s, const simulation* sim, stow_value value,
                             uint64_t none) {
  uint64_t least = none;
  for (size_t i = sim->first[value]; i < sim->first[value + 1]; ++i) {
    uint32_t reader = sim->readers[i];
    const stowi_kernel_block_step* call = &s->calls[0][reader];
    uint64_t row = sim->state.next[reader];
    for (uint32_t k = 0; row < s->steps[reader].rows && k < call->operand_count; ++k) {
      if (call->operands[k] == value && reads_rows(s, reader, k)) {
        stowi_kernel_stream_range range =
            stowi_kernel_stream_range_of(&s->steps[reader], k, s->values[value].rows, row);
        least = (uint64_t)range.first < least ? (uint64_t)range.first : least;
      }
    }
  }
  return least;
}

static void fill_ring(const stream* s, simulation* sim, uint32_t ring) {
  if (sim->is_full[ring]) {
    return;
  }
  sim->is_full[ring] = true;
  for (uint32_t other = 0; other < s->value_count; ++other) {
    if (sim->is_full[other]) {
      sim->meets[(size_t)ring * s->value_count + other] = 1;
      sim->meets[(size_t)other * s->value_count + ring] = 1;
    }
  }
}

// A ring that others share is empty when the last of them is.
static void empty_ring(const stream* s, simulation* sim, stow_value value) {
  uint32_t maker = s->values[value].maker;
  if (maker != NONE && s->home_of[value] == value &&
      first_needed(s, sim, value, UINT64_MAX) >= sim->state.next[maker]) {
    sim->is_full[value] = false;
  }
}

// Results of |step|, which is about to make a row: room for those from the first that is needed.
static void make_results(stream* s, simulation* sim, uint32_t step) {
  uint64_t row = sim->state.next[step];
  for (uint32_t k = 0; k < s->calls[0][step].result_count; ++k) {
    stow_value value = s->calls[0][step].first_result + k;
    stowi_kernel_stream_value* v = &s->values[value];
    uint64_t alive = row - first_needed(s, sim, value, row) + 1;
    v->capacity = alive > v->capacity ? alive : v->capacity;
    fill_ring(s, sim, s->home_of[value]);
  }
}

static void simulate(stream* s, simulation* sim) {
  uint32_t step;
  list_readers(s, sim);
  stowi_kernel_stream_begin(&s->data, &sim->state);
  while ((step = stowi_kernel_stream_next(&s->data, &sim->state)) != NONE) {
    const stowi_kernel_block_step* call = &s->calls[0][step];
    make_results(s, sim, step);
    for (uint32_t ring = 0; ring < s->value_count; ++ring) {
      sim->meets[((size_t)s->value_count + step) * s->value_count + ring] |= sim->is_full[ring];
    }
    ++sim->state.next[step];
    for (uint32_t k = 0; k < call->operand_count; ++k) {
      if (reads_rows(s, step, k)) {
        empty_ring(s, sim, call->operands[k]);
      }
    }
    for (uint32_t k = 0; k < call->result_count; ++k) {
      empty_ring(s, sim, call->first_result + k);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Bytes

static uint64_t align_up(uint64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static uint64_t ring_bytes(const stream* s, uint32_t ring) {
  return align_up(s->values[ring].capacity * s->values[ring].row);
}

static bool is_ring(const stream* s, stow_value value) {
  return s->values[value].maker != NONE && s->home_of[value] == value;
}

// The lowest |bytes| that no ring of |meets| has, nor what lies from |low| to |high|.
static uint64_t find_place(const stream* s, const uint8_t* meets, const bool* is_placed,
                           uint64_t bytes, uint64_t low, uint64_t high) {
  uint64_t at = 0;
  for (bool moves = bytes != 0; moves;) {
    moves = low < at + bytes && at < high;
    at = moves ? high : at;
    for (uint32_t ring = 0; ring < s->value_count; ++ring) {
      uint64_t begin = s->homes[ring].at;
      uint64_t end = begin + (is_placed[ring] && meets[ring] != 0 ? ring_bytes(s, ring) : 0);
      if (begin < at + bytes && at < end) {
        at = end;
        moves = true;
      }
    }
  }
  return at;
}

// The largest ring that has no place; NONE: all have one.
static uint32_t largest_ring(const stream* s, const bool* is_placed) {
  uint32_t largest = NONE;
  for (stow_value value = 0; value < s->value_count; ++value) {
    if (is_ring(s, value) && !is_placed[value] &&
        (largest == NONE || ring_bytes(s, value) > ring_bytes(s, largest))) {
      largest = value;
    }
  }
  return largest;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Values of steps that are never run have a row.
static void place_rings(stream* s, const simulation* sim, bool* is_placed) {
  uint64_t end = 0;
  for (stow_value value = 0; value < s->value_count; ++value) {
    s->values[value].capacity = larger(s->values[value].capacity, 1);
  }
  for (uint32_t ring; (ring = largest_ring(s, is_placed)) != NONE;) {
    const uint8_t* meets = sim->meets + (size_t)ring * s->value_count;
    s->homes[ring].at = find_place(s, meets, is_placed, ring_bytes(s, ring), 0, 0);
    is_placed[ring] = true;
    end = larger(end, s->homes[ring].at + ring_bytes(s, ring));
  }
  for (stow_value value = 0; value < s->value_count; ++value) {
    s->values[value].capacity = s->values[s->home_of[value]].capacity;
    s->homes[value].at = s->homes[s->home_of[value]].at;
  }
  for (size_t i = 0; i < STOWI_EXEC_STREAM_VARIANTS; ++i) {
    s->bodies[i].bytes = end;
  }
}

// ---------------------------------------------------------------------------------------------
// Copies and scratch

// Rows of operand |k| that are copied for a row, at most.
static uint64_t copied_rows(const stream* s, uint32_t step, uint32_t k) {
  const stowi_kernel_block_step* call = &s->calls[0][step];
  if (!reads_rows(s, step, k)) {
    return 0;
  }
  const stowi_kernel_stream_value* v = &s->values[call->operands[k]];
  uint64_t rows = k == 0 ? (uint64_t)stowi_exec_stream_most(s, step).rows : 1;
  bool is_dense = v->channels == 1 || v->channel == v->piece;
  bool is_one_piece = v->channels == 1 && v->maker == NONE;
  return (rows <= 1 && is_dense) || is_one_piece ? 0 : rows;
}

// Some channels at a time are enough for pools and depthwise convolutions.
static uint64_t chunk_of(const stream* s, uint32_t step) {
  const stowi_kernel_block_step* call = &s->calls[0][step];
  const stow_attr* group = stow_graph_attr(s->function, s->nodes[step], "group");
  bool is_pool = call->op == STOW_OP_POOL;
  bool is_conv = call->op == STOW_OP_CONV && call->packed == 0 && group != NULL;
  if (!(is_pool || is_conv) || !reads_rows(s, step, 0)) {
    return 0;
  }
  const stowi_kernel_stream_value* v = &s->values[call->operands[0]];
  uint64_t each = copied_rows(s, step, 0) * v->piece;
  uint64_t fits = each == 0 ? 0 : larger((uint64_t)COPY_BYTES * s->threads / each, 1);
  bool is_by_channel = is_pool || (uint64_t)group->i == v->channels;
  return is_by_channel && fits < v->channels ? fits : 0;
}

static uint64_t copies_of(const stream* s, uint32_t step) {
  const stowi_kernel_block_step* call = &s->calls[0][step];
  uint64_t bytes = 0;
  for (uint32_t k = 0; k < call->operand_count; ++k) {
    uint64_t rows = copied_rows(s, step, k);
    if (rows != 0) {
      const stowi_kernel_stream_value* v = &s->values[call->operands[k]];
      uint64_t channels = s->steps[step].chunk == 0 ? v->channels : s->steps[step].chunk;
      bytes += align_up(channels * v->piece * rows);
    }
  }
  return bytes;
}

static stow_status ask(stream* s, uint32_t step, uint32_t variant, stow_kernel_call* call,
                       uint64_t* most, stow_diag* diag) {
  char message[256] = "";
  uint64_t bytes = 0;
  call->variant = variant;
  call->message = message;
  call->message_size = sizeof(message);
  stow_status status = s->calls[0][step].kernel->scratch(call, &bytes);
  *most = larger(*most, bytes);
  return status == STOW_OK
             ? STOW_OK
             : stowi_fail(diag, status, "%s: %s",
                          stowi_exec_words_node(s->function, s->nodes[step]).text, message);
}

// The most that variant |variant| of a step's kernel needs for any row. |attrs| has room for those
// of any step.
static stow_status ask_all(stream* s, uint32_t step, uint32_t variant, stow_attr* attrs,
                           uint64_t* out_most, stow_diag* diag) {
  stowi_exec_frame* frame = &s->prepared->frame;
  const stowi_kernel_stream_step* how = &s->steps[step];
  int64_t pads[8];
  window last = {.rows = -1};
  *out_most = 0;
  if (s->calls[0][step].kernel->scratch == NULL) {
    return STOW_OK;
  }
  stowi_exec_frame_call(frame, s->row_nodes[step]);
  frame->call.workers = s->threads;
  stow_kernel_call call = frame->call;
  if (!reads_rows(s, step, 0)) {
    return ask(s, step, variant, &call, out_most, diag);
  }
  stow_tensor first = *call.operands[0];
  frame->operands[0] = &first;
  for (int64_t row = 0; row < (int64_t)how->rows; ++row) {
    window w = stowi_exec_stream_window_of(s, step, row);
    if (w.rows == last.rows && w.above == last.above && w.below == last.below) {
      continue;
    }
    last = w;
    first.dims[ROWS] = w.rows;
    if (how->pads != NONE) {
      memcpy(attrs, frame->call.attrs, call.attr_count * sizeof(attrs[0]));
      memcpy(pads, s->maps[step].pads, sizeof(pads));
      pads[how->top] = w.above;
      pads[how->bottom] = w.below;
      attrs[how->pads].ints = pads;
      call.attrs = attrs;
    }
    STOW_TRY(ask(s, step, variant, &call, out_most, diag));
  }
  return STOW_OK;
}

// Each variant of the node takes the fastest one of each kernel that needs little enough, or the
// last one.
static stow_status choose_variants(stream* s, uint32_t step, stow_attr* attrs, stow_diag* diag) {
  const stow_kernel* kernel = s->calls[0][step].kernel;
  uint32_t count = kernel->variant_count == 0 ? 1 : kernel->variant_count;
  uint32_t variant = 0;
  uint64_t bytes;
  STOW_TRY(ask_all(s, step, variant, attrs, &bytes, diag));
  for (size_t i = 0; i < STOWI_EXEC_STREAM_VARIANTS; ++i) {
    while (bytes > scratch_limits[i] && variant + 1 < count) {
      STOW_TRY(ask_all(s, step, ++variant, attrs, &bytes, diag));
    }
    s->calls[i][step].variant = variant;
    s->calls[i][step].scratch_size = bytes;
  }
  return STOW_OK;
}

static stow_status place_steps(stream* s, const simulation* sim, const bool* is_placed,
                               stow_attr* attrs, stow_diag* diag) {
  for (uint32_t step = 0; step < s->step_count; ++step) {
    const uint8_t* meets = sim->meets + ((size_t)s->value_count + step) * s->value_count;
    s->steps[step].chunk = chunk_of(s, step);
    uint64_t copies = copies_of(s, step);
    uint64_t at = find_place(s, meets, is_placed, copies, 0, 0);
    s->steps[step].copies_at = at;
    s->steps[step].copy_bytes = copies;
    STOW_TRY(choose_variants(s, step, attrs, diag));
    for (size_t i = 0; i < STOWI_EXEC_STREAM_VARIANTS; ++i) {
      stowi_kernel_block_step* call = &s->calls[i][step];
      call->scratch_at =
          find_place(s, meets, is_placed, call->scratch_size, at, copies == 0 ? at : at + copies);
      s->bodies[i].bytes =
          larger(s->bodies[i].bytes,
                 larger(copies == 0 ? 0 : at + copies, call->scratch_at + call->scratch_size));
    }
  }
  return STOW_OK;
}

static stow_status place_all(stream* s, simulation* sim, stow_diag* diag) {
  STOW_TRY(begin_simulation(s, sim, diag));
  simulate(s, sim);
  size_t count = s->data.most_attrs;
  stow_attr* attrs = STOWI_ARRAY(s->allocator, stow_attr, count);
  bool* is_placed = STOWI_ARRAY_ZERO(s->allocator, bool, s->value_count);
  stow_status status = stowi_need_memory(attrs != NULL && is_placed != NULL, diag);
  if (status == STOW_OK) {
    place_rings(s, sim, is_placed);
    status = place_steps(s, sim, is_placed, attrs, diag);
  }
  STOWI_ARRAY_FREE(s->allocator, attrs, count);
  STOWI_ARRAY_FREE(s->allocator, is_placed, s->value_count);
  return status;
}

stow_status stowi_exec_stream_place(stowi_exec_stream* s, stow_diag* diag) {
  simulation sim;
  share_rings(s);
  stow_status status = place_all(s, &sim, diag);
  free_simulation(s, &sim);
  return status;
}

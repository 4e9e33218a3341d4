// Where rows of a stream lie. The kernel's order of blocks is followed once to the end: a ring has
// room for as many blocks as are alive at the same time, and it is known which rings, copies and
// scratch are in use together. Those are placed apart, the largest first, each at the lowest bytes
// that are free; others may share bytes, as blocks that are read at once by the only step that
// needs them.
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/program/words.h"
#include "exec/run/stream_inside.h"

#define ROWS 2
#define NONE UINT32_MAX
#define ALIGNMENT 64

// Scratch that a kernel of the function may have, by variant, if it has one that needs as little.
static const uint64_t scratch_limits[STOWI_KERNEL_STREAM_VARIANTS] = {UINT64_MAX, UINT64_MAX, 65536,
                                                                      16384,      8192,       0};

// Bytes of rows that are copied at a time for each worker, if the op treats channels on their own.
static const uint64_t copy_limits[STOWI_KERNEL_STREAM_VARIANTS] = {65536, 65536, 32768,
                                                                   16384, 16384, 16384};

typedef stowi_exec_stream_window window;

// Places of one variant.
typedef struct placer {
  stowi_exec_stream* s;
  stowi_exec_stream_tables* t;
  uint32_t variant;
} placer;

static bool reads_rows(const placer* p, uint32_t step, size_t k) {
  return stow_graph_operands(p->s->function, p->s->nodes[step])[k] != STOW_VALUE_NONE &&
         !stowi_exec_stream_reads_whole(p->s, step, k);
}

// Rows that a step makes from row |row| on.
static uint64_t count_of(const placer* p, uint32_t step, uint64_t row) {
  return stowi_kernel_stream_count(&p->t->values[p->t->calls[step].first_result], row);
}

// ---------------------------------------------------------------------------------------------
// Shared rings

static bool reads_same_row(const placer* p, uint32_t step, size_t k) {
  const stowi_graph_row_map* map = &p->s->maps[step];
  bool is_same = map->stride == 1 && map->first == 0 && map->last == 0 && map->divide == 1;
  return reads_rows(p, step, k) && (k != 0 || (is_same && map->pad_count == 0));
}

static bool lie_alike(const stowi_kernel_stream_value* a, const stowi_kernel_stream_value* b) {
  return a->block == b->block && a->rows == b->rows &&
         a->channels * a->piece == b->channels * b->piece;
}

// A block that only |step| reads, for the same block of its only result, is made where that will
// be: it is made when that is about to be made, and never earlier.
static bool shares_ring(const placer* p, uint32_t step, size_t k) {
  const stowi_exec_stream* s = p->s;
  const stowi_kernel_stream_value* values = p->t->values;
  stow_value value = stow_graph_operands(s->function, s->nodes[step])[k];
  stow_value result = stow_graph_first_result(s->function, s->nodes[step]);
  const stowi_exec_step* row = &s->prepared->program.steps[s->row_nodes[step]];
  if (value == STOW_VALUE_NONE || values[value].maker == NONE || s->reads[value] != 1 ||
      p->t->homes[value].home != STOWI_KERNEL_BLOCK_SCRATCH) {
    return false;
  }
  const stowi_kernel_block_step* calls = p->t->calls;
  return reads_same_row(p, step, k) && calls[step].result_count == 1 &&
         calls[values[value].maker].result_count == 1 &&
         lie_alike(&values[value], &values[result]) && row->kernel.in_place &&
         stow_graph_in_place(s->graph, s->row_nodes[step], 0, k) != STOW_IN_PLACE_NEVER;
}

static void share_rings(const placer* p) {
  const stowi_exec_stream* s = p->s;
  for (uint32_t step = s->step_count; step-- > 0;) {
    const stow_value* operands = stow_graph_operands(s->function, s->nodes[step]);
    stow_value result = stow_graph_first_result(s->function, s->nodes[step]);
    for (size_t k = 0; k < p->t->calls[step].operand_count; ++k) {
      if (shares_ring(p, step, k)) {
        p->t->home_of[operands[k]] = p->t->home_of[result];
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
  uint32_t moment;  // blocks that were made
} simulation;

static size_t meet_count(const stowi_exec_stream* s) {
  return ((size_t)s->value_count + s->step_count) * s->value_count;
}

static void free_simulation(const stowi_exec_stream* s, simulation* sim) {
  stow_allocator allocator = s->allocator;
  STOWI_ARRAY_FREE(allocator, sim->state.next, s->step_count);
  STOWI_ARRAY_FREE(allocator, sim->state.stack, s->step_count);
  STOWI_ARRAY_FREE(allocator, sim->readers, sim->reads);
  STOWI_ARRAY_FREE(allocator, sim->first, (size_t)s->value_count + 1);
  STOWI_ARRAY_FREE(allocator, sim->is_full, s->value_count);
  STOWI_ARRAY_FREE(allocator, sim->meets, meet_count(s));
}

static stow_status begin_simulation(const stowi_exec_stream* s, simulation* sim, stow_diag* diag) {
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

static void list_readers(const placer* p, simulation* sim) {
  const stowi_exec_stream* s = p->s;
  size_t at = 0;
  for (stow_value value = 0; value < s->value_count; ++value) {
    sim->first[value] = at;
    at += s->reads[value];
  }
  sim->first[s->value_count] = at;
  for (uint32_t step = 0; step < s->step_count; ++step) {
    const stow_value* operands = stow_graph_operands(s->function, s->nodes[step]);
    for (size_t k = 0; k < p->t->calls[step].operand_count; ++k) {
      if (reads_rows(p, step, k)) {
        sim->readers[sim->first[operands[k]]++] = step;
      }
    }
  }
  for (stow_value value = 0; value < s->value_count; ++value) {
    sim->first[value] -= s->reads[value];
  }
}

// The first row of |value| that a step still needs; |none| if none does.
static uint64_t first_needed(const placer* p, const simulation* sim, stow_value value,
                             uint64_t none) {
  const stowi_exec_stream_tables* t = p->t;
  uint64_t least = none;
  for (size_t i = sim->first[value]; i < sim->first[value + 1]; ++i) {
    uint32_t reader = sim->readers[i];
    const stowi_kernel_block_step* call = &t->calls[reader];
    uint64_t row = sim->state.next[reader];
    for (uint32_t k = 0; row < t->steps[reader].rows && k < call->operand_count; ++k) {
      if (call->operands[k] == value && reads_rows(p, reader, k)) {
        stowi_kernel_stream_range range =
            stowi_kernel_stream_range_of(&t->steps[reader], k, t->values[value].rows, row, 1);
        least = (uint64_t)range.first < least ? (uint64_t)range.first : least;
      }
    }
  }
  return least;
}

// Times are moments until all are known.
static void fill_ring(const placer* p, simulation* sim, uint32_t ring) {
  const stowi_exec_stream* s = p->s;
  stowi_exec_stream_use* use = &p->t->uses[ring];
  use->begin = use->end == 0 ? sim->moment : use->begin;
  use->end = sim->moment + 1;
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
static void empty_ring(const placer* p, simulation* sim, stow_value value) {
  uint32_t maker = p->t->values[value].maker;
  if (maker != NONE && p->t->home_of[value] == value &&
      first_needed(p, sim, value, UINT64_MAX) >= sim->state.next[maker]) {
    sim->is_full[value] = false;
    p->t->uses[value].end = sim->moment + 1;
  }
}

// Results of |step|, which is about to make a block: room for those from the first that is needed.
static void make_results(const placer* p, simulation* sim, uint32_t step) {
  uint64_t row = sim->state.next[step];
  for (uint32_t k = 0; k < p->t->calls[step].result_count; ++k) {
    stow_value value = p->t->calls[step].first_result + k;
    stowi_kernel_stream_value* v = &p->t->values[value];
    uint64_t alive = row / v->block - first_needed(p, sim, value, row) / v->block + 1;
    v->capacity = alive > v->capacity ? alive : v->capacity;
    fill_ring(p, sim, p->t->home_of[value]);
  }
}

// In thousandths; what is not in the node's own bytes is no ring.
static void note_uses(const placer* p, const simulation* sim) {
  for (stow_value value = 0; value < p->s->value_count; ++value) {
    stowi_exec_stream_use* use = &p->t->uses[value];
    bool is_used = use->end != 0 && p->t->homes[value].home != STOWI_KERNEL_BLOCK_RESULT;
    uint64_t begin = (uint64_t)use->begin * 1000 / (sim->moment + 1);
    uint64_t last = sim->is_full[value] ? sim->moment : use->end;
    uint64_t end = last * 1000 / (sim->moment + 1) + 1;
    *use = (stowi_exec_stream_use){is_used ? (uint32_t)begin : 0, is_used ? (uint32_t)end : 0};
  }
}

static void simulate(const placer* p, simulation* sim) {
  const stowi_exec_stream* s = p->s;
  const stowi_kernel_stream* data = &s->data[p->variant];
  uint32_t step;
  list_readers(p, sim);
  stowi_kernel_stream_begin(data, &sim->state);
  while ((step = stowi_kernel_stream_next(data, &sim->state)) != NONE) {
    const stowi_kernel_block_step* call = &p->t->calls[step];
    make_results(p, sim, step);
    for (uint32_t ring = 0; ring < s->value_count; ++ring) {
      sim->meets[((size_t)s->value_count + step) * s->value_count + ring] |= sim->is_full[ring];
    }
    sim->state.next[step] += count_of(p, step, sim->state.next[step]);
    for (uint32_t k = 0; k < call->operand_count; ++k) {
      if (reads_rows(p, step, k)) {
        empty_ring(p, sim, call->operands[k]);
      }
    }
    for (uint32_t k = 0; k < call->result_count; ++k) {
      empty_ring(p, sim, call->first_result + k);
    }
    ++sim->moment;
  }
  note_uses(p, sim);
}

// ---------------------------------------------------------------------------------------------
// Bytes

static uint64_t align_up(uint64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static bool is_ring(const placer* p, stow_value value) {
  return p->t->values[value].maker != NONE && p->t->home_of[value] == value &&
         p->t->homes[value].home != STOWI_KERNEL_BLOCK_RESULT;
}

static uint64_t ring_bytes(const placer* p, uint32_t ring) {
  const stowi_kernel_stream_value* v = &p->t->values[ring];
  return align_up(v->capacity * v->block * v->channels * v->piece);
}

// The lowest |bytes| that no ring of |meets| has, nor what lies from |low| to |high|.
static uint64_t find_place(const placer* p, const uint8_t* meets, const bool* is_placed,
                           uint64_t bytes, uint64_t low, uint64_t high) {
  uint64_t at = 0;
  for (bool moves = bytes != 0; moves;) {
    moves = low < at + bytes && at < high;
    at = moves ? high : at;
    for (uint32_t ring = 0; ring < p->s->value_count; ++ring) {
      uint64_t begin = p->t->homes[ring].at;
      uint64_t end = begin + (is_placed[ring] && meets[ring] != 0 ? ring_bytes(p, ring) : 0);
      if (begin < at + bytes && at < end) {
        at = end;
        moves = true;
      }
    }
  }
  return at;
}

// The largest ring that has no place; NONE: all have one.
static uint32_t largest_ring(const placer* p, const bool* is_placed) {
  uint32_t largest = NONE;
  for (stow_value value = 0; value < p->s->value_count; ++value) {
    if (is_ring(p, value) && !is_placed[value] &&
        (largest == NONE || ring_bytes(p, value) > ring_bytes(p, largest))) {
      largest = value;
    }
  }
  return largest;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Values of steps that are never run have a block.
static void place_rings(const placer* p, const simulation* sim, bool* is_placed) {
  stowi_exec_stream_tables* t = p->t;
  t->body.bytes = 0;
  for (stow_value value = 0; value < p->s->value_count; ++value) {
    t->values[value].capacity = larger(t->values[value].capacity, 1);
  }
  for (uint32_t ring; (ring = largest_ring(p, is_placed)) != NONE;) {
    const uint8_t* meets = sim->meets + (size_t)ring * p->s->value_count;
    t->homes[ring].at = find_place(p, meets, is_placed, ring_bytes(p, ring), 0, 0);
    is_placed[ring] = true;
    t->body.bytes = larger(t->body.bytes, t->homes[ring].at + ring_bytes(p, ring));
  }
  for (stow_value value = 0; value < p->s->value_count; ++value) {
    uint32_t home = t->home_of[value];
    t->values[value].capacity = t->values[home].capacity;
    t->homes[value].at = t->homes[home].at;
    if (t->homes[home].home == STOWI_KERNEL_BLOCK_RESULT) {
      t->homes[value].home = STOWI_KERNEL_BLOCK_RESULT;
      t->homes[value].index = t->homes[home].index;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Copies and scratch

// Rows of operand |k| that are copied at a time, at most: those that are not all of a block.
static uint64_t copied_rows(const placer* p, uint32_t step, uint32_t k) {
  if (!reads_rows(p, step, k)) {
    return 0;
  }
  const stowi_kernel_stream_value* v = &p->t->values[p->t->calls[step].operands[k]];
  const stowi_kernel_stream_step* how = &p->t->steps[step];
  uint64_t most = 0;
  for (uint64_t row = 0, count; row < how->rows; row += count) {
    count = count_of(p, step, row);
    stowi_kernel_stream_range range = stowi_kernel_stream_range_of(how, k, v->rows, row, count);
    if (range.first > range.last) {
      continue;
    }
    uint64_t first = (uint64_t)range.first;
    uint64_t rows = (uint64_t)range.last - first + 1;
    bool is_block = first % v->block == 0 && rows == stowi_kernel_stream_count(v, first);
    bool is_line = v->channels == 1 && first % v->block + rows <= v->block;
    most = is_block || is_line ? most : larger(most, rows);
  }
  return most;
}

// Some channels at a time are enough for pools and depthwise convolutions.
static uint64_t chunk_of(const placer* p, uint32_t step) {
  const stowi_kernel_block_step* call = &p->t->calls[step];
  const stow_attr* group = stow_graph_attr(p->s->function, p->s->nodes[step], "group");
  bool is_pool = call->op == STOW_OP_POOL;
  bool is_conv = call->op == STOW_OP_CONV && call->packed == 0 && group != NULL;
  if (!(is_pool || is_conv) || !reads_rows(p, step, 0)) {
    return 0;
  }
  const stowi_kernel_stream_value* v = &p->t->values[call->operands[0]];
  uint64_t each = copied_rows(p, step, 0) * v->piece;
  uint64_t limit = copy_limits[p->variant] * p->s->threads;
  uint64_t fits = each == 0 ? 0 : larger(limit / each, 1);
  bool is_by_channel = is_pool || (uint64_t)group->i == v->channels;
  return is_by_channel && fits < v->channels ? fits : 0;
}

static uint64_t copies_of(const placer* p, uint32_t step) {
  const stowi_kernel_block_step* call = &p->t->calls[step];
  uint64_t bytes = 0;
  for (uint32_t k = 0; k < call->operand_count; ++k) {
    uint64_t rows = copied_rows(p, step, k);
    if (rows != 0) {
      const stowi_kernel_stream_value* v = &p->t->values[call->operands[k]];
      uint64_t channels = p->t->steps[step].chunk == 0 ? v->channels : p->t->steps[step].chunk;
      bytes += align_up(channels * v->piece * rows);
    }
  }
  return bytes;
}

// Scratch of the kernel's variant |variant| for a call.
static stow_status ask(const placer* p, uint32_t step, uint32_t variant, stow_kernel_call* call,
                       uint64_t* most, stow_diag* diag) {
  char message[256] = "";
  uint64_t bytes = 0;
  call->variant = variant;
  call->message = message;
  call->message_size = sizeof(message);
  stow_status status = p->t->calls[step].kernel->scratch(call, &bytes);
  *most = larger(*most, bytes);
  return status == STOW_OK
             ? STOW_OK
             : stowi_fail(diag, status, "%s: %s",
                          stowi_exec_words_node(p->s->function, p->s->nodes[step]).text, message);
}

// A call of a step, of which tensors and attributes are its own.
typedef struct sample {
  stow_kernel_call call;
  stow_tensor* tensors;  // operands, then results
  const stow_tensor** operands;
  stow_tensor** results;
  stow_attr* attrs;
  int64_t pads[8];
} sample;

static void free_sample(const stowi_exec_stream* s, sample* c) {
  const stowi_kernel_block_body* body = &s->tables[0].body;
  stow_allocator allocator = s->allocator;
  STOWI_ARRAY_FREE(allocator, c->tensors, (size_t)body->most_operands + body->most_results);
  STOWI_ARRAY_FREE(allocator, c->operands, body->most_operands);
  STOWI_ARRAY_FREE(allocator, c->results, body->most_results);
  STOWI_ARRAY_FREE(allocator, c->attrs, s->data[0].most_attrs);
}

static stow_status make_sample(const stowi_exec_stream* s, sample* c, stow_diag* diag) {
  const stowi_kernel_block_body* body = &s->tables[0].body;
  stow_allocator allocator = s->allocator;
  c->tensors =
      STOWI_ARRAY(allocator, stow_tensor, (size_t)body->most_operands + body->most_results);
  c->operands = STOWI_ARRAY(allocator, const stow_tensor*, body->most_operands);
  c->results = STOWI_ARRAY(allocator, stow_tensor*, body->most_results);
  c->attrs = STOWI_ARRAY(allocator, stow_attr, s->data[0].most_attrs);
  return stowi_need_memory(
      c->tensors != NULL && c->operands != NULL && c->results != NULL && c->attrs != NULL, diag);
}

// The one for a row, to be changed.
static void begin_sample(const placer* p, uint32_t step, sample* c) {
  stowi_exec_frame* frame = &p->s->prepared->frame;
  stowi_exec_frame_call(frame, p->s->row_nodes[step]);
  c->call = frame->call;
  c->call.workers = p->s->threads;
  for (size_t k = 0; k < c->call.operand_count; ++k) {
    bool is_there = frame->call.operands[k] != NULL;
    c->tensors[k] = is_there ? *frame->call.operands[k] : (stow_tensor){0};
    c->operands[k] = is_there ? &c->tensors[k] : NULL;
  }
  for (size_t k = 0; k < c->call.result_count; ++k) {
    c->results[k] = &c->tensors[c->call.operand_count + k];
    *c->results[k] = *frame->call.results[k];
  }
  c->call.operands = c->operands;
  c->call.results = c->results;
}

// Gives it the dims and the padding of |count| rows, which read |w|.
static void change_sample(const placer* p, uint32_t step, window w, uint64_t count, sample* c) {
  const stowi_kernel_stream_step* how = &p->t->steps[step];
  for (size_t k = 0; k < c->call.operand_count; ++k) {
    if (reads_rows(p, step, k)) {
      c->tensors[k].dims[ROWS] = k == 0 ? w.rows : (int64_t)count;
    }
  }
  for (size_t k = 0; k < c->call.result_count; ++k) {
    c->results[k]->dims[ROWS] = (int64_t)count;
  }
  if (how->pads != NONE) {
    const stowi_kernel_block_step* call = &p->t->calls[step];
    memcpy(c->attrs, call->attrs, call->attr_count * sizeof(c->attrs[0]));
    memcpy(c->pads, p->s->maps[step].pads, sizeof(c->pads));
    c->pads[how->top] = w.above;
    c->pads[how->bottom] = w.below;
    c->attrs[how->pads].ints = c->pads;
    c->call.attrs = c->attrs;
  }
}

// The most that variant |variant| of a step's kernel needs for any block.
static stow_status ask_all(const placer* p, uint32_t step, uint32_t variant, sample* c,
                           uint64_t* out_most, stow_diag* diag) {
  window last = {.rows = -1};
  uint64_t last_count = 0;
  *out_most = 0;
  if (p->t->calls[step].kernel->scratch == NULL) {
    return STOW_OK;
  }
  begin_sample(p, step, c);
  for (uint64_t row = 0, count; row < p->t->steps[step].rows; row += count) {
    count = count_of(p, step, row);
    window w = reads_rows(p, step, 0)
                   ? stowi_exec_stream_window_of(p->s, step, (int64_t)row, (int64_t)count)
                   : (window){.rows = 0};
    if (count != last_count || w.rows != last.rows || w.above != last.above ||
        w.below != last.below) {
      change_sample(p, step, w, count, c);
      STOW_TRY(ask(p, step, variant, &c->call, out_most, diag));
    }
    last = w;
    last_count = count;
  }
  return STOW_OK;
}

// Where scratch of |bytes| is, beside the copies of |step|.
static uint64_t find_scratch(const placer* p, const uint8_t* meets, const bool* is_placed,
                             uint32_t step, uint64_t bytes) {
  const stowi_kernel_stream_step* how = &p->t->steps[step];
  return find_place(p, meets, is_placed, bytes, how->copies_at, how->copies_at + how->copy_bytes);
}

// The fastest variant of a kernel that stays within the limit, or is free as there is room anyway;
// or else the last one.
static stow_status place_scratch(const placer* p, uint32_t step, const uint8_t* meets,
                                 const bool* is_placed, sample* c, stow_diag* diag) {
  stowi_kernel_block_step* call = &p->t->calls[step];
  uint32_t count = call->kernel->variant_count == 0 ? 1 : call->kernel->variant_count;
  for (uint32_t variant = 0; variant < count; ++variant) {
    uint64_t bytes;
    STOW_TRY(ask_all(p, step, variant, c, &bytes, diag));
    uint64_t at = find_scratch(p, meets, is_placed, step, bytes);
    if (bytes <= scratch_limits[p->variant] || at + bytes <= p->t->body.bytes ||
        variant + 1 == count) {
      call->variant = variant;
      call->scratch_size = bytes;
      call->scratch_at = at;
      break;
    }
  }
  p->t->body.bytes = larger(p->t->body.bytes, call->scratch_at + call->scratch_size);
  return STOW_OK;
}

static stow_status place_steps(const placer* p, const simulation* sim, const bool* is_placed,
                               sample* c, stow_diag* diag) {
  stowi_exec_stream_tables* t = p->t;
  for (uint32_t step = 0; step < p->s->step_count; ++step) {
    const uint8_t* meets = sim->meets + ((size_t)p->s->value_count + step) * p->s->value_count;
    stowi_kernel_stream_step* how = &t->steps[step];
    how->chunk = chunk_of(p, step);
    how->copy_bytes = copies_of(p, step);
    how->copies_at = find_place(p, meets, is_placed, how->copy_bytes, 0, 0);
    t->body.bytes = larger(t->body.bytes, how->copies_at + how->copy_bytes);
  }
  for (uint32_t step = 0; step < p->s->step_count; ++step) {
    const uint8_t* meets = sim->meets + ((size_t)p->s->value_count + step) * p->s->value_count;
    STOW_TRY(place_scratch(p, step, meets, is_placed, c, diag));
  }
  return STOW_OK;
}

static stow_status place_all(const placer* p, simulation* sim, stow_diag* diag) {
  STOW_TRY(begin_simulation(p->s, sim, diag));
  simulate(p, sim);
  sample c = {.tensors = NULL};
  bool* is_placed = STOWI_ARRAY_ZERO(p->s->allocator, bool, p->s->value_count);
  stow_status status = stowi_need_memory(is_placed != NULL, diag);
  if (status == STOW_OK) {
    status = make_sample(p->s, &c, diag);
  }
  if (status == STOW_OK) {
    place_rings(p, sim, is_placed);
    status = place_steps(p, sim, is_placed, &c, diag);
  }
  free_sample(p->s, &c);
  STOWI_ARRAY_FREE(p->s->allocator, is_placed, p->s->value_count);
  return status;
}

stow_status stowi_exec_stream_place(stowi_exec_stream* s, uint32_t variant, stow_diag* diag) {
  placer p = {s, &s->tables[variant], variant};
  simulation sim;
  share_rings(&p);
  stow_status status = place_all(&p, &sim, diag);
  free_simulation(s, &sim);
  return status;
}

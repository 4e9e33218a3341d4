// Where rows of a stream lie. Rings, copies and scratch that are in use together are placed apart,
// the largest rings first, each at the lowest bytes that are free; others may share bytes, as
// blocks that are read at once by the only step that needs them.
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/program/words.h"
#include "exec/run/stream_inside.h"

#define ROWS 2
#define NONE UINT32_MAX
#define ALIGNMENT 64

// Bytes of rows that are copied at a time for each worker, if the op treats channels on their own.
#define COPY_BYTES UINT64_C(16384)

typedef stowi_exec_stream_window window;

// Places of one variant.
typedef struct placer {
  stowi_exec_stream* s;
  stowi_exec_stream_tables* t;
  uint64_t budget;
} placer;

// Rows that a step makes from row |row| on.
static uint64_t count_of(const placer* p, uint32_t step, uint64_t row) {
  return stowi_kernel_stream_count(&p->t->values[p->t->calls[step].first_result], row);
}

// ---------------------------------------------------------------------------------------------
// Bytes

static uint64_t align_up(uint64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

bool stowi_exec_stream_is_ring(const stowi_exec_stream_tables* t, stow_value value) {
  return t->values[value].maker != NONE && t->home_of[value] == value &&
         t->homes[value].home != STOWI_KERNEL_BLOCK_RESULT;
}

uint64_t stowi_exec_stream_ring_bytes(const stowi_exec_stream_tables* t, stow_value ring) {
  const stowi_kernel_stream_value* v = &t->values[ring];
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
      if (!is_placed[ring] || meets[ring] == 0) {
        continue;
      }
      uint64_t begin = p->t->homes[ring].at;
      uint64_t end = begin + stowi_exec_stream_ring_bytes(p->t, ring);
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
    if (stowi_exec_stream_is_ring(p->t, value) && !is_placed[value] &&
        (largest == NONE ||
         stowi_exec_stream_ring_bytes(p->t, value) > stowi_exec_stream_ring_bytes(p->t, largest))) {
      largest = value;
    }
  }
  return largest;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void place_rings(const placer* p, bool* is_placed) {
  stowi_exec_stream_tables* t = p->t;
  t->body.bytes = 0;
  for (uint32_t ring; (ring = largest_ring(p, is_placed)) != NONE;) {
    const uint8_t* meets = p->s->order.meets + (size_t)ring * p->s->value_count;
    t->homes[ring].at =
        find_place(p, meets, is_placed, stowi_exec_stream_ring_bytes(p->t, ring), 0, 0);
    is_placed[ring] = true;
    t->body.bytes =
        larger(t->body.bytes, t->homes[ring].at + stowi_exec_stream_ring_bytes(p->t, ring));
  }
  for (stow_value value = 0; value < p->s->value_count; ++value) {
    t->homes[value].at = t->homes[t->home_of[value]].at;
  }
}

// ---------------------------------------------------------------------------------------------
// Copies and scratch

// Rows of operand |k| that are copied at a time, at most: those that are not all of a block.
static uint64_t copied_rows(const placer* p, uint32_t step, uint32_t k) {
  if (!stowi_exec_stream_reads_rows(p->s, step, k)) {
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
  if (!(is_pool || is_conv) || !stowi_exec_stream_reads_rows(p->s, step, 0)) {
    return 0;
  }
  const stowi_kernel_stream_value* v = &p->t->values[call->operands[0]];
  uint64_t each = copied_rows(p, step, 0) * v->piece;
  uint64_t fits = each == 0 ? 0 : larger(COPY_BYTES * p->s->threads / each, 1);
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

static void free_sample(const stowi_exec_stream* s, const stowi_kernel_block_body* body,
                        uint32_t most_attrs, sample* c) {
  stow_allocator allocator = s->allocator;
  STOWI_ARRAY_FREE(allocator, c->tensors, (size_t)body->most_operands + body->most_results);
  STOWI_ARRAY_FREE(allocator, c->operands, body->most_operands);
  STOWI_ARRAY_FREE(allocator, c->results, body->most_results);
  STOWI_ARRAY_FREE(allocator, c->attrs, most_attrs);
}

static stow_status make_sample(const stowi_exec_stream* s, const stowi_kernel_block_body* body,
                               uint32_t most_attrs, sample* c, stow_diag* diag) {
  stow_allocator allocator = s->allocator;
  c->tensors =
      STOWI_ARRAY(allocator, stow_tensor, (size_t)body->most_operands + body->most_results);
  c->operands = STOWI_ARRAY(allocator, const stow_tensor*, body->most_operands);
  c->results = STOWI_ARRAY(allocator, stow_tensor*, body->most_results);
  c->attrs = STOWI_ARRAY(allocator, stow_attr, most_attrs);
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
    if (stowi_exec_stream_reads_rows(p->s, step, k)) {
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
    window w = stowi_exec_stream_reads_rows(p->s, step, 0)
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

// The fastest variant of a kernel that has room; or else the last one.
static stow_status place_scratch(const placer* p, uint32_t step, const uint8_t* meets,
                                 const bool* is_placed, sample* c, stow_diag* diag) {
  stowi_kernel_block_step* call = &p->t->calls[step];
  uint32_t count = call->kernel->variant_count == 0 ? 1 : call->kernel->variant_count;
  for (uint32_t variant = 0; variant < count; ++variant) {
    uint64_t bytes;
    STOW_TRY(ask_all(p, step, variant, c, &bytes, diag));
    uint64_t at = find_scratch(p, meets, is_placed, step, bytes);
    if (at + bytes <= larger(p->budget, p->t->body.bytes) || variant + 1 == count) {
      call->variant = variant;
      call->scratch_size = bytes;
      call->scratch_at = at;
      break;
    }
  }
  p->t->body.bytes = larger(p->t->body.bytes, call->scratch_at + call->scratch_size);
  return STOW_OK;
}

static stow_status place_steps(const placer* p, const bool* is_placed, sample* c, stow_diag* diag) {
  stowi_exec_stream_tables* t = p->t;
  for (uint32_t step = 0; step < p->s->step_count; ++step) {
    const uint8_t* meets =
        p->s->order.meets + ((size_t)p->s->value_count + step) * p->s->value_count;
    stowi_kernel_stream_step* how = &t->steps[step];
    how->chunk = chunk_of(p, step);
    how->copy_bytes = copies_of(p, step);
    how->copies_at = find_place(p, meets, is_placed, how->copy_bytes, 0, 0);
    t->body.bytes = larger(t->body.bytes, how->copies_at + how->copy_bytes);
  }
  for (uint32_t step = 0; step < p->s->step_count; ++step) {
    const uint8_t* meets =
        p->s->order.meets + ((size_t)p->s->value_count + step) * p->s->value_count;
    STOW_TRY(place_scratch(p, step, meets, is_placed, c, diag));
  }
  return STOW_OK;
}

stow_status stowi_exec_stream_place(stowi_exec_stream* s, uint32_t variant, uint64_t budget,
                                    stow_diag* diag) {
  placer p = {s, &s->tables[variant], budget};
  sample c = {.tensors = NULL};
  bool* is_placed = STOWI_ARRAY_ZERO(s->allocator, bool, s->value_count);
  stow_status status = stowi_need_memory(is_placed != NULL, diag);
  if (status == STOW_OK) {
    status = make_sample(s, &p.t->body, s->data[variant].most_attrs, &c, diag);
  }
  if (status == STOW_OK) {
    place_rings(&p, is_placed);
    status = place_steps(&p, is_placed, &c, diag);
  }
  free_sample(s, &p.t->body, s->data[variant].most_attrs, &c);
  STOWI_ARRAY_FREE(s->allocator, is_placed, s->value_count);
  return status;
}

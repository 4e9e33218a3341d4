// The order in which a stream makes blocks, which is followed once to the end: a ring has room for
// as many blocks as are alive at the same time, and it is known which rings, copies and scratch are
// in use together.
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/run/stream_inside.h"

#define NONE UINT32_MAX

typedef stowi_exec_stream stream;
typedef stowi_exec_stream_tables tables;
typedef stowi_exec_stream_order order;

static bool reads_rows(const stream* s, uint32_t step, size_t k) {
  return stowi_exec_stream_reads_rows(s, step, k);
}

// ---------------------------------------------------------------------------------------------
// Shared rings

static bool reads_same_row(const stream* s, uint32_t step, size_t k) {
  const stowi_graph_row_map* map = &s->maps[step];
  bool is_same = map->stride == 1 && map->first == 0 && map->last == 0 && map->divide == 1;
  return reads_rows(s, step, k) && (k != 0 || (is_same && map->pad_count == 0));
}

static bool lie_alike(const stowi_kernel_stream_value* a, const stowi_kernel_stream_value* b) {
  return a->block == b->block && a->rows == b->rows &&
         a->channels * a->piece == b->channels * b->piece;
}

// A block that only |step| reads, for the same block of its only result, is made where that will
// be: it is made when that is about to be made, and never earlier.
static bool shares_ring(const stream* s, const tables* t, uint32_t step, size_t k) {
  const stowi_kernel_stream_value* values = t->values;
  stow_value value = stow_graph_operands(s->function, s->nodes[step])[k];
  stow_value result = stow_graph_first_result(s->function, s->nodes[step]);
  const stowi_exec_step* row = &s->prepared->program.steps[s->row_nodes[step]];
  if (value == STOW_VALUE_NONE || values[value].maker == NONE || s->reads[value] != 1 ||
      t->homes[value].home != STOWI_KERNEL_BLOCK_SCRATCH) {
    return false;
  }
  const stowi_kernel_block_step* calls = t->calls;
  return reads_same_row(s, step, k) && calls[step].result_count == 1 &&
         calls[values[value].maker].result_count == 1 &&
         lie_alike(&values[value], &values[result]) && row->kernel.in_place &&
         stow_graph_in_place(s->graph, s->row_nodes[step], 0, k) != STOW_IN_PLACE_NEVER;
}

static void share_rings(const stream* s, tables* t) {
  for (uint32_t step = s->step_count; step-- > 0;) {
    const stow_value* operands = stow_graph_operands(s->function, s->nodes[step]);
    stow_value result = stow_graph_first_result(s->function, s->nodes[step]);
    for (size_t k = 0; k < t->calls[step].operand_count; ++k) {
      if (shares_ring(s, t, step, k)) {
        t->home_of[operands[k]] = t->home_of[result];
        break;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Following the rows

static size_t meet_count(const stream* s) {
  return ((size_t)s->value_count + s->step_count) * s->value_count;
}

void stowi_exec_stream_order_free(stowi_exec_stream* s) {
  stow_allocator allocator = s->allocator;
  order* o = &s->order;
  STOWI_ARRAY_FREE(allocator, o->state.next, s->step_count);
  STOWI_ARRAY_FREE(allocator, o->state.stack, s->step_count);
  STOWI_ARRAY_FREE(allocator, o->readers, s->read_count);
  STOWI_ARRAY_FREE(allocator, o->first, (size_t)s->value_count + 1);
  STOWI_ARRAY_FREE(allocator, o->is_full, s->value_count);
  STOWI_ARRAY_FREE(allocator, o->meets, meet_count(s));
  *o = (order){.readers = NULL};
}

static void list_readers(stream* s) {
  order* o = &s->order;
  size_t at = 0;
  for (stow_value value = 0; value < s->value_count; ++value) {
    o->first[value] = at;
    at += s->reads[value];
  }
  o->first[s->value_count] = at;
  for (uint32_t step = 0; step < s->step_count; ++step) {
    const stow_value* operands = stow_graph_operands(s->function, s->nodes[step]);
    for (size_t k = 0; k < stow_graph_operand_count(s->function, s->nodes[step]); ++k) {
      if (reads_rows(s, step, k)) {
        o->readers[o->first[operands[k]]++] = step;
      }
    }
  }
  for (stow_value value = 0; value < s->value_count; ++value) {
    o->first[value] -= s->reads[value];
  }
}

stow_status stowi_exec_stream_order_init(stowi_exec_stream* s, stow_diag* diag) {
  stow_allocator allocator = s->allocator;
  order* o = &s->order;
  for (stow_value value = 0; value < s->value_count; ++value) {
    s->read_count += s->reads[value];
  }
  o->state.next = STOWI_ARRAY(allocator, uint64_t, s->step_count);
  o->state.stack = STOWI_ARRAY(allocator, uint32_t, s->step_count);
  o->readers = STOWI_ARRAY(allocator, uint32_t, s->read_count);
  o->first = STOWI_ARRAY(allocator, size_t, (size_t)s->value_count + 1);
  o->is_full = STOWI_ARRAY(allocator, bool, s->value_count);
  o->meets = STOWI_ARRAY(allocator, uint8_t, meet_count(s));
  STOW_TRY(stowi_need_memory(o->state.next != NULL && o->state.stack != NULL &&
                                 o->readers != NULL && o->first != NULL && o->is_full != NULL &&
                                 o->meets != NULL,
                             diag));
  list_readers(s);
  return STOW_OK;
}

// The first row of |value| that a step still needs; |none| if none does.
static uint64_t first_needed(const stream* s, const tables* t, stow_value value, uint64_t none) {
  const order* o = &s->order;
  uint64_t least = none;
  for (size_t i = o->first[value]; i < o->first[value + 1]; ++i) {
    uint32_t reader = o->readers[i];
    const stowi_kernel_block_step* call = &t->calls[reader];
    uint64_t row = o->state.next[reader];
    for (uint32_t k = 0; row < t->steps[reader].rows && k < call->operand_count; ++k) {
      if (call->operands[k] == value && reads_rows(s, reader, k)) {
        stowi_kernel_stream_range range =
            stowi_kernel_stream_range_of(&t->steps[reader], k, t->values[value].rows, row, 1);
        least = (uint64_t)range.first < least ? (uint64_t)range.first : least;
      }
    }
  }
  return least;
}

// Times are moments until all are known.
static void fill_ring(const stream* s, tables* t, order* o, uint32_t ring) {
  stowi_exec_stream_use* use = &t->uses[ring];
  use->begin = use->end == 0 ? o->moment : use->begin;
  use->end = o->moment + 1;
  if (o->is_full[ring]) {
    return;
  }
  o->is_full[ring] = true;
  for (uint32_t other = 0; other < s->value_count; ++other) {
    if (o->is_full[other]) {
      o->meets[(size_t)ring * s->value_count + other] = 1;
      o->meets[(size_t)other * s->value_count + ring] = 1;
    }
  }
}

// A ring that others share is empty when the last of them is.
static void empty_ring(const stream* s, tables* t, order* o, stow_value value) {
  uint32_t maker = t->values[value].maker;
  if (maker != NONE && t->home_of[value] == value &&
      first_needed(s, t, value, UINT64_MAX) >= o->state.next[maker]) {
    o->is_full[value] = false;
    t->uses[value].end = o->moment + 1;
  }
}

// Results of |step|, which is about to make a block: room for those from the first that is needed.
static void make_results(const stream* s, tables* t, order* o, uint32_t step) {
  uint64_t row = o->state.next[step];
  for (uint32_t k = 0; k < t->calls[step].result_count; ++k) {
    stow_value value = t->calls[step].first_result + k;
    stowi_kernel_stream_value* v = &t->values[value];
    uint64_t alive = row / v->block - first_needed(s, t, value, row) / v->block + 1;
    v->capacity = alive > v->capacity ? alive : v->capacity;
    fill_ring(s, t, o, t->home_of[value]);
  }
}

// Values of steps that are never run have a block.
static void close_value(tables* t, stow_value value) {
  uint32_t home = t->home_of[value];
  uint64_t capacity = t->values[home].capacity;
  t->values[value].capacity = capacity == 0 ? 1 : capacity;
  if (t->homes[home].home == STOWI_KERNEL_BLOCK_RESULT) {
    t->homes[value].home = STOWI_KERNEL_BLOCK_RESULT;
    t->homes[value].index = t->homes[home].index;
  }
}

// In thousandths; what is not in the node's own bytes is no ring.
static void note_uses(const stream* s, tables* t) {
  const order* o = &s->order;
  for (stow_value value = 0; value < s->value_count; ++value) {
    stowi_exec_stream_use* use = &t->uses[value];
    bool is_used = use->end != 0 && t->homes[value].home != STOWI_KERNEL_BLOCK_RESULT;
    uint64_t begin = (uint64_t)use->begin * 1000 / (o->moment + 1);
    uint64_t last = o->is_full[value] ? o->moment : use->end;
    uint64_t end = last * 1000 / (o->moment + 1) + 1;
    *use = (stowi_exec_stream_use){is_used ? (uint32_t)begin : 0, is_used ? (uint32_t)end : 0};
  }
}

void stowi_exec_stream_follow(stowi_exec_stream* s, uint32_t variant) {
  const stowi_kernel_stream* data = &s->data[variant];
  tables* t = &s->tables[variant];
  order* o = &s->order;
  uint32_t step;
  share_rings(s, t);
  memset(o->is_full, 0, s->value_count * sizeof(o->is_full[0]));
  memset(o->meets, 0, meet_count(s));
  memset(t->uses, 0, s->value_count * sizeof(t->uses[0]));
  o->moment = 0;
  stowi_kernel_stream_begin(data, &o->state);
  while ((step = stowi_kernel_stream_next(data, &o->state)) != NONE) {
    const stowi_kernel_block_step* call = &t->calls[step];
    make_results(s, t, o, step);
    for (uint32_t ring = 0; ring < s->value_count; ++ring) {
      o->meets[((size_t)s->value_count + step) * s->value_count + ring] |= o->is_full[ring];
    }
    o->state.next[step] +=
        stowi_kernel_stream_count(&t->values[call->first_result], o->state.next[step]);
    for (uint32_t k = 0; k < call->operand_count; ++k) {
      if (reads_rows(s, step, k)) {
        empty_ring(s, t, o, call->operands[k]);
      }
    }
    for (uint32_t k = 0; k < call->result_count; ++k) {
      empty_ring(s, t, o, call->first_result + k);
    }
    ++o->moment;
  }
  note_uses(s, t);
  for (stow_value value = 0; value < s->value_count; ++value) {
    close_value(t, value);
  }
}

// Runs the kernels of a function for one block of rows after the other. Each element is computed by
// the same kernel from the same numbers as in a call for all rows: a window that hangs over the
// border has as many rows of padding.
#include "exec/kernels/blocks/stream.h"

#include <string.h>

#include "exec/kernels/blocks/call.h"
#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/kernel.h"

#define ROWS 2  // the dim
#define MOST_PADS 8
#define NONE UINT32_MAX

// ---------------------------------------------------------------------------------------------
// The order of rows

static int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

stowi_kernel_stream_range stowi_kernel_stream_range_of(const stowi_kernel_stream_step* step,
                                                       uint32_t k, uint64_t rows, uint64_t row,
                                                       uint64_t count) {
  int64_t begin = (int64_t)row;
  int64_t final = (int64_t)(row + count) - 1;
  if (k != 0) {
    return (stowi_kernel_stream_range){begin, final};
  }
  int64_t first = floor_div(begin * step->stride + step->first, step->divide);
  int64_t last = floor_div(final * step->stride + step->last, step->divide);
  int64_t end = (int64_t)rows;
  return (stowi_kernel_stream_range){first < 0 ? 0 : first, last < end ? last : end - 1};
}

uint64_t stowi_kernel_stream_count(const stowi_kernel_stream_value* value, uint64_t first) {
  return value->block < value->rows - first ? value->block : value->rows - first;
}

void stowi_kernel_stream_begin(const stowi_kernel_stream* stream,
                               stowi_kernel_stream_state* state) {
  memset(state->next, 0, stream->body->step_count * sizeof(state->next[0]));
  state->depth = 0;
}

static uint64_t next_count(const stowi_kernel_stream* stream,
                           const stowi_kernel_stream_state* state, uint32_t step) {
  const stowi_kernel_stream_value* result = &stream->values[stream->body->steps[step].first_result];
  return stowi_kernel_stream_count(result, state->next[step]);
}

// The maker of the result of which the smallest part is there; NONE if all are complete.
static uint32_t next_output(const stowi_kernel_stream* stream,
                            const stowi_kernel_stream_state* state) {
  uint32_t best = NONE;
  for (uint32_t i = 0; i < stream->output_count; ++i) {
    uint32_t step = stream->values[stream->outputs[i]].maker;
    uint64_t rows = stream->steps[step].rows;
    if (state->next[step] < rows &&
        (best == NONE || state->next[step] * stream->steps[best].rows < state->next[best] * rows)) {
      best = step;
    }
  }
  return best;
}

// A step that must make rows before |step| can make its next ones; NONE: there is none.
static uint32_t missing_for(const stowi_kernel_stream* stream,
                            const stowi_kernel_stream_state* state, uint32_t step) {
  const stowi_kernel_block_step* call = &stream->body->steps[step];
  const stowi_kernel_stream_step* how = &stream->steps[step];
  uint64_t count = next_count(stream, state, step);
  for (uint32_t k = 0; k < call->operand_count; ++k) {
    uint32_t value = call->operands[k];
    uint32_t maker = value == NONE ? NONE : stream->values[value].maker;
    if (maker != NONE) {
      stowi_kernel_stream_range range = stowi_kernel_stream_range_of(
          how, k, stream->values[value].rows, state->next[step], count);
      if ((int64_t)state->next[maker] <= range.last) {
        return maker;
      }
    }
  }
  return NONE;
}

uint32_t stowi_kernel_stream_next(const stowi_kernel_stream* stream,
                                  stowi_kernel_stream_state* state) {
  if (state->depth == 0) {
    uint32_t step = next_output(stream, state);
    if (step == NONE) {
      return NONE;
    }
    state->stack[state->depth++] = step;
  }
  for (;;) {
    uint32_t step = state->stack[state->depth - 1];
    uint32_t missing = missing_for(stream, state, step);
    if (missing == NONE) {
      --state->depth;
      return step;
    }
    state->stack[state->depth++] = missing;
  }
}

// ---------------------------------------------------------------------------------------------
// What a call has in scratch

typedef struct frame {
  const stow_kernel_call* call;
  const stowi_kernel_stream* stream;
  const stowi_kernel_block_body* body;
  unsigned char* bytes;  // rings, then what one step has at a time
  stowi_kernel_stream_state state;
  stow_tensor* tensors;  // of a step: operands, then results
  const stow_tensor** operands;
  stow_tensor** results;
  stow_attr* attrs;
  int64_t* pads;
} frame;

// Of a stow_attr where pointers are largest.
#define ATTR_BYTES 96
_Static_assert(sizeof(stow_attr) <= ATTR_BYTES, "attributes have grown");

static frame carve_frame(stowi_kernel_carve* carve, const stow_kernel_call* call) {
  const stowi_kernel_stream* stream =
      (const stowi_kernel_stream*)call->user + stowi_kernel_variant(call);
  const stowi_kernel_block_body* body = stream->body;
  uint32_t most = body->most_operands + body->most_results;
  frame f = {.call = call, .stream = stream, .body = body};
  f.bytes = (unsigned char*)stowi_kernel_carve_take(carve, body->bytes, 1);
  f.state.next = (uint64_t*)stowi_kernel_carve_take(carve, body->step_count, sizeof(uint64_t));
  f.state.stack = (uint32_t*)stowi_kernel_carve_take(carve, body->step_count, sizeof(uint32_t));
  f.tensors = (stow_tensor*)stowi_kernel_carve_take(carve, most, sizeof(stow_tensor));
  f.operands =
      (const stow_tensor**)stowi_kernel_carve_take(carve, body->most_operands, STOWI_KERNEL_WIDE);
  f.results = (stow_tensor**)stowi_kernel_carve_take(carve, body->most_results, STOWI_KERNEL_WIDE);
  f.attrs = (stow_attr*)stowi_kernel_carve_take(carve, stream->most_attrs, ATTR_BYTES);
  f.pads = (int64_t*)stowi_kernel_carve_take(carve, MOST_PADS, sizeof(int64_t));
  return f;
}

static stow_status scratch_stream(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_kernel_carve carve = {NULL, 0};
  (void)carve_frame(&carve, call);
  *out_bytes = carve.used;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// A block of rows

static unsigned char* data_of(const frame* f, uint32_t value) {
  const stowi_kernel_block_value* home = &f->body->values[value];
  switch (home->home) {
    case STOWI_KERNEL_BLOCK_OPERAND: return (unsigned char*)f->call->operands[home->index]->data;
    case STOWI_KERNEL_BLOCK_RESULT: return (unsigned char*)f->call->results[home->index]->data;
    default: return f->bytes + home->at;
  }
}

typedef struct block {
  unsigned char* data;
  uint64_t first, count;  // rows
} block;

// The one that has row |row|.
static block block_of(const frame* f, uint32_t value, uint64_t row) {
  const stowi_kernel_stream_value* v = &f->stream->values[value];
  uint64_t number = row / v->block;
  uint64_t first = number * v->block;
  uint64_t bytes = v->block * v->channels * v->piece;
  return (block){data_of(f, value) + number % v->capacity * bytes, first,
                 stowi_kernel_stream_count(v, first)};
}

// What one call of a step's kernel computes: all channels of a block, or some of them.
typedef struct part {
  uint64_t first, count;  // channels of operand 0; a count of 0: all
} part;

// Copies rows to a dense tensor, [channels, rows, columns].
static void gather(const frame* f, uint32_t value, stowi_kernel_stream_range range, part p,
                   unsigned char* to) {
  const stowi_kernel_stream_value* v = &f->stream->values[value];
  uint64_t channels = p.count == 0 ? v->channels : p.count;
  uint64_t end = (uint64_t)range.last + 1;
  uint64_t pitch = v->piece * (end - (uint64_t)range.first);
  for (uint64_t row = (uint64_t)range.first; row < end;) {
    block b = block_of(f, value, row);
    uint64_t stop = b.first + b.count < end ? b.first + b.count : end;
    const unsigned char* from = b.data + (p.first * b.count + row - b.first) * v->piece;
    size_t bytes = (size_t)((stop - row) * v->piece);
    for (uint64_t c = 0; c < channels; ++c) {
      memcpy(to + c * pitch, from + c * b.count * v->piece, bytes);
    }
    to += bytes;
    row = stop;
  }
}

// Whether the rows, of which there are some, already are a dense tensor.
static bool is_dense(const stowi_kernel_stream_value* v, const block* b,
                     stowi_kernel_stream_range range) {
  uint64_t first = (uint64_t)range.first;
  uint64_t last = (uint64_t)range.last;
  return v->channels == 1 ? first / v->block % v->capacity <= last / v->block % v->capacity
                          : first == b->first && last + 1 == b->first + b->count;
}

// The part of a weight that has something for each channel along dim 0.
static const stow_tensor* part_of_weight(frame* f, uint32_t k, const stow_tensor* whole, part p,
                                         uint64_t channels) {
  if (p.count == 0) {
    return whole;
  }
  uint64_t each = (uint64_t)whole->dims[0] / channels;
  size_t bytes = stow_tensor_bytes(whole) / (size_t)channels;
  f->tensors[k] = *whole;
  f->tensors[k].dims[0] = (int64_t)(each * p.count);
  f->tensors[k].data = (unsigned char*)whole->data + p.first * bytes;
  return &f->tensors[k];
}

static void place_rows(frame* f, uint32_t index, uint32_t k, part p, unsigned char** copy) {
  uint32_t value = f->body->steps[index].operands[k];
  const stowi_kernel_stream_value* v = &f->stream->values[value];
  stowi_kernel_stream_range range =
      stowi_kernel_stream_range_of(&f->stream->steps[index], k, v->rows, f->state.next[index],
                                   next_count(f->stream, &f->state, index));
  uint64_t rows = range.last >= range.first ? (uint64_t)(range.last - range.first) + 1 : 0;
  uint64_t channels = p.count == 0 ? v->channels : p.count;
  stow_tensor* tensor = &f->tensors[k];
  *tensor = f->body->values[value].tensor;
  tensor->dims[1] = (int64_t)channels;
  tensor->dims[ROWS] = (int64_t)rows;
  f->operands[k] = tensor;
  block b = block_of(f, value, rows == 0 ? 0 : (uint64_t)range.first);
  if (rows == 0) {
    tensor->data = b.data;
  } else if (is_dense(v, &b, range)) {
    tensor->data = b.data + (p.first * b.count + (uint64_t)range.first - b.first) * v->piece;
  } else {
    tensor->data = *copy;
    gather(f, value, range, p, *copy);
    *copy += (channels * v->piece * rows + 63) / 64 * 64;
  }
}

static void place_operands(frame* f, uint32_t index, part p) {
  const stowi_kernel_block_step* call = &f->body->steps[index];
  const stowi_kernel_stream_step* how = &f->stream->steps[index];
  unsigned char* copy = f->bytes + how->copies_at;
  for (uint32_t k = 0; k < call->operand_count; ++k) {
    uint32_t value = call->operands[k];
    if (value == NONE) {
      f->operands[k] = NULL;
    } else if (k < 64 && (how->whole >> k & 1) != 0) {
      const stow_tensor* whole = f->call->operands[f->body->values[value].index];
      uint64_t channels = p.count == 0 ? 0 : f->stream->values[call->operands[0]].channels;
      f->operands[k] = part_of_weight(f, k, whole, p, channels);
    } else {
      place_rows(f, index, k, p, &copy);
    }
  }
}

static void place_results(frame* f, uint32_t index, part p) {
  const stowi_kernel_block_step* call = &f->body->steps[index];
  for (uint32_t k = 0; k < call->result_count; ++k) {
    uint32_t value = call->first_result + k;
    const stowi_kernel_stream_value* v = &f->stream->values[value];
    stow_tensor* tensor = &f->tensors[call->operand_count + k];
    block b = block_of(f, value, f->state.next[index]);
    *tensor = f->body->values[value].tensor;
    tensor->dims[ROWS] = (int64_t)b.count;
    tensor->data = b.data;
    if (p.count != 0) {
      uint64_t each = v->channels / f->stream->values[call->operands[0]].channels;
      tensor->dims[1] = (int64_t)(each * p.count);
      tensor->data = b.data + p.first * each * b.count * v->piece;
    }
    f->results[k] = tensor;
  }
}

static int64_t clamp(int64_t number, int64_t most) {
  return number < 0 ? 0 : number < most ? number : most;
}

// Attributes with as much padding as the window hangs over the border, and the groups of a part.
static const stow_attr* change_attrs(frame* f, uint32_t index, part p) {
  const stowi_kernel_block_step* call = &f->body->steps[index];
  const stowi_kernel_stream_step* how = &f->stream->steps[index];
  if (how->pads == NONE) {
    return call->attrs;
  }
  const stowi_kernel_stream_value* v = &f->stream->values[call->operands[0]];
  int64_t row = (int64_t)f->state.next[index];
  int64_t rows = (int64_t)next_count(f->stream, &f->state, index);
  int64_t first = row * how->stride + how->first;
  int64_t last = (row + rows - 1) * how->stride + how->last;
  int64_t below = clamp(last - (int64_t)v->rows + 1, last - first + 1);
  memcpy(f->attrs, call->attrs, call->attr_count * sizeof(f->attrs[0]));
  memcpy(f->pads, call->attrs[how->pads].ints, how->pad_count * sizeof(f->pads[0]));
  f->pads[how->top] = clamp(-first, last - first + 1);
  f->pads[how->bottom] = clamp(below, how->most_below);
  f->attrs[how->pads].ints = f->pads;
  if (p.count != 0 && how->group != NONE) {
    f->attrs[how->group].i = (int64_t)p.count;
  }
  return f->attrs;
}

static void scatter(const frame* f, uint32_t value, uint64_t row) {
  const stowi_kernel_stream_value* v = &f->stream->values[value];
  block b = block_of(f, value, row);
  unsigned char* to = (unsigned char*)f->call->results[f->body->values[value].index]->data;
  size_t bytes = (size_t)(b.count * v->piece);
  for (uint64_t c = 0; c < v->channels; ++c) {
    memcpy(to + (c * v->rows + row) * v->piece, b.data + c * bytes, bytes);
  }
}

static stow_status run_part(frame* f, uint32_t index, part p) {
  const stowi_kernel_block_step* step = &f->body->steps[index];
  place_operands(f, index, p);
  place_results(f, index, p);
  stow_kernel_call inner = stowi_kernel_block_call(step, f->operands, f->results);
  inner.attrs = change_attrs(f, index, p);
  inner.scratch = f->bytes + step->scratch_at;
  inner.scratch_size = (size_t)step->scratch_size;
  inner.workers = f->call->workers;
  inner.splitter = f->call->splitter;
  inner.message = f->call->message;
  inner.message_size = f->call->message_size;
  return step->kernel->run(&inner);
}

static stow_status run_block(frame* f, uint32_t index) {
  const stowi_kernel_block_step* step = &f->body->steps[index];
  uint64_t chunk = f->stream->steps[index].chunk;
  uint64_t channels = chunk == 0 ? 1 : f->stream->values[step->operands[0]].channels;
  for (uint64_t first = 0; first < channels; first += chunk == 0 ? 1 : chunk) {
    part p = {first, chunk < channels - first ? chunk : channels - first};
    STOWI_KERNEL_TRY(run_part(f, index, p));
  }
  for (uint32_t k = 0; k < step->result_count; ++k) {
    if (f->body->values[step->first_result + k].home == STOWI_KERNEL_BLOCK_SCATTER) {
      scatter(f, step->first_result + k, f->state.next[index]);
    }
  }
  return STOW_OK;
}

static stow_status run_stream(stow_kernel_call* call) {
  stowi_kernel_carve carve = {(unsigned char*)call->scratch, 0};
  frame f = carve_frame(&carve, call);
  stowi_kernel_stream_begin(f.stream, &f.state);
  for (uint32_t step; (step = stowi_kernel_stream_next(f.stream, &f.state)) != NONE;) {
    STOWI_KERNEL_TRY(run_block(&f, step));
    f.state.next[step] += next_count(f.stream, &f.state, step);
  }
  return STOW_OK;
}

static const stowi_kernel_block_body* any_body(const stow_kernel_call* call) {
  return ((const stowi_kernel_stream*)call->user)->body;
}

static uint64_t pack_size_stream(const stow_kernel_call* call, size_t k) {
  return stowi_kernel_block_pack_size(call, any_body(call), k);
}

static void pack_stream(const stow_kernel_call* call, size_t k, void* out) {
  stowi_kernel_block_pack(call, any_body(call), k, out);
}

STOWI_KERNEL(STREAM, scratch_stream, run_stream, .variant_count = STOWI_KERNEL_STREAM_VARIANTS,
             .pack_size = pack_size_stream, .pack = pack_stream);

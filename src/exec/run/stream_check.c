// Proof of a stream, from its function alone: first that the tables say what the function does;
// then the blocks of rows are followed in the order in which the kernel makes them, with a note in
// each place of a ring of the block that was written there. Whatever is written over a byte of it,
// by a step as its result, copy or scratch, ends that. Rings may share bytes, as long as no row is
// needed after that.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/program/words.h"
#include "exec/run/stream.h"
#include "graph/api.h"

#define ROWS 2
#define COLUMNS 3
#define NONE UINT32_MAX

#define NO_BLOCK UINT64_MAX

typedef struct checker {
  stow_allocator allocator;
  const stow_graph* function;
  const stowi_kernel_stream* stream;
  const stowi_kernel_block_body* body;
  uint32_t value_count, step_count;
  stow_node* nodes;           // by step
  stowi_graph_row_map* maps;  // by step
  uint32_t* makers;           // by value; NONE: an input
  uint64_t* begins;           // by value: its first byte; results are behind the stream's bytes
  uint64_t* notes_at;         // by value: where those of its ring begin
  uint64_t* notes;            // the block that a place of a ring has
  uint64_t note_count;
  uint64_t* made;  // blocks, by step
  uint64_t* next;  // the kernel's own lists
  uint32_t* stack;
  stow_diag* diag;
} checker;

static stow_status fail(const checker* c, uint32_t step, const char* format, ...)
    STOW_PRINTF_LIKE(3, 4);
static stow_status fail(const checker* c, uint32_t step, const char* format, ...) {
  char what[160];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(what, sizeof(what), format, arguments);
  va_end(arguments);
  if (step == NONE) {
    return stowi_fail(c->diag, STOW_ERR_VIOLATION, "stream: %s", what);
  }
  return stowi_fail(c->diag, STOW_ERR_VIOLATION, "stream: %s %s",
                    stowi_exec_words_node(c->function, c->nodes[step]).text, what);
}

static bool is_whole(const checker* c, uint32_t step, size_t k) {
  return k < 64 && (c->maps[step].whole >> k & 1) != 0;
}

static const stow_value* operands_of(const checker* c, uint32_t step) {
  return stow_graph_operands(c->function, c->nodes[step]);
}

static size_t operand_count(const checker* c, uint32_t step) {
  return stow_graph_operand_count(c->function, c->nodes[step]);
}

// ---------------------------------------------------------------------------------------------
// What the function does

static stow_status begin(checker* c) {
  uint32_t nodes = stow_graph_node_count(c->function);
  uint32_t count = 0;
  c->value_count = stow_graph_value_count(c->function);
  c->step_count = c->body->step_count;
  c->nodes = STOWI_ARRAY(c->allocator, stow_node, nodes);
  c->maps = STOWI_ARRAY(c->allocator, stowi_graph_row_map, nodes);
  c->makers = STOWI_ARRAY(c->allocator, uint32_t, c->value_count);
  c->begins = STOWI_ARRAY_ZERO(c->allocator, uint64_t, c->value_count);
  c->notes_at = STOWI_ARRAY(c->allocator, uint64_t, c->value_count);
  c->made = STOWI_ARRAY_ZERO(c->allocator, uint64_t, nodes);
  c->next = STOWI_ARRAY_ZERO(c->allocator, uint64_t, nodes);
  c->stack = STOWI_ARRAY_ZERO(c->allocator, uint32_t, nodes);
  STOW_TRY(stowi_need_memory(c->nodes != NULL && c->maps != NULL && c->makers != NULL &&
                                 c->begins != NULL && c->notes_at != NULL && c->made != NULL &&
                                 c->next != NULL && c->stack != NULL,
                             c->diag));
  for (stow_node node = 0; node < nodes; ++node) {
    bool is_input = stow_graph_op(c->function, node) == STOW_OP_INPUT;
    for (size_t k = 0; k < stow_graph_result_count(c->function, node); ++k) {
      c->makers[stow_graph_first_result(c->function, node) + k] = is_input ? NONE : count;
    }
    if (!is_input) {
      c->nodes[count] = node;
      if (!stowi_graph_map_rows(c->function, node, &c->maps[count++])) {
        return fail(c, count - 1, "is not computed row by row");
      }
    }
  }
  return count == c->step_count && c->body->value_count == c->value_count
             ? STOW_OK
             : fail(c, NONE, "has other steps or values than the function");
}

static void end(checker* c) {
  uint32_t nodes = stow_graph_node_count(c->function);
  STOWI_ARRAY_FREE(c->allocator, c->nodes, nodes);
  STOWI_ARRAY_FREE(c->allocator, c->maps, nodes);
  STOWI_ARRAY_FREE(c->allocator, c->makers, c->value_count);
  STOWI_ARRAY_FREE(c->allocator, c->begins, c->value_count);
  STOWI_ARRAY_FREE(c->allocator, c->notes_at, c->value_count);
  STOWI_ARRAY_FREE(c->allocator, c->made, nodes);
  STOWI_ARRAY_FREE(c->allocator, c->next, nodes);
  STOWI_ARRAY_FREE(c->allocator, c->stack, nodes);
  STOWI_ARRAY_FREE(c->allocator, c->notes, c->note_count);
}

// ---------------------------------------------------------------------------------------------
// Tables

// Pools, and convolutions with weights and results of its own for each channel, which are not
// packed.
static bool is_by_channel(const checker* c, uint32_t step) {
  const stowi_kernel_stream_step* how = &c->stream->steps[step];
  const stowi_kernel_block_step* call = &c->body->steps[step];
  stow_op op = stow_graph_op(c->function, c->nodes[step]);
  const stow_attr* group = stow_graph_attr(c->function, c->nodes[step], "group");
  if (op == STOW_OP_POOL) {
    return true;
  }
  int64_t channels = stow_graph_type(c->function, operands_of(c, step)[0])->dims[1];
  return op == STOW_OP_CONV && group != NULL && group->i == channels && call->packed == 0 &&
         how->pads != NONE && how->group < call->attr_count &&
         stow_str_equal(call->attrs[how->group].name, stow_str_of("group"));
}

static stow_status check_step(const checker* c, uint32_t step) {
  const stowi_kernel_stream_step* how = &c->stream->steps[step];
  const stowi_graph_row_map* map = &c->maps[step];
  stow_value result = stow_graph_first_result(c->function, c->nodes[step]);
  int64_t rows = stow_graph_type(c->function, result)->dims[ROWS];
  if (how->rows != (uint64_t)rows || how->whole != map->whole || how->stride != map->stride ||
      how->first != map->first || how->last != map->last || how->divide != map->divide) {
    return fail(c, step, "has other rows than the op");
  }
  bool has_pads = map->pad_count != 0;
  const stowi_kernel_block_step* call = &c->body->steps[step];
  if (has_pads != (how->pads != NONE) ||
      (has_pads &&
       (how->pads >= call->attr_count || how->pad_count != map->pad_count || how->top != map->top ||
        how->bottom != map->bottom || how->most_below != map->pads[map->bottom] ||
        call->attrs[how->pads].count != map->pad_count ||
        !stow_str_equal(call->attrs[how->pads].name, stow_str_of("pads"))))) {
    return fail(c, step, "has other pads than the op");
  }
  if (how->chunk != 0 && !is_by_channel(c, step)) {
    return fail(c, step, "has parts of channels that the op does not treat on their own");
  }
  if (map->divide > 1) {
    uint64_t block = c->stream->values[result].block, divide = (uint64_t)map->divide;
    if (block == 0 || (block % divide != 0 && divide % block != 0)) {
      return fail(c, step, "makes parts of rows that are repeated");
    }
  }
  return call->attr_count <= c->stream->most_attrs ? STOW_OK
                                                   : fail(c, step, "has too many attributes");
}

static bool meet(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size) {
  return a_size != 0 && b_size != 0 && a < b + b_size && b < a + a_size;
}

static stow_status check_calls(const checker* c) {
  const stowi_kernel_block_body* body = c->body;
  for (uint32_t step = 0; step < c->step_count; ++step) {
    const stowi_kernel_block_step* call = &body->steps[step];
    stow_node node = c->nodes[step];
    bool is_same = call->op == stow_graph_op(c->function, node) &&
                   call->operand_count == operand_count(c, step) &&
                   call->first_result == stow_graph_first_result(c->function, node) &&
                   call->result_count == stow_graph_result_count(c->function, node) &&
                   call->operand_count <= body->most_operands &&
                   call->result_count <= body->most_results &&
                   memcmp(call->operands, operands_of(c, step),
                          call->operand_count * sizeof(call->operands[0])) == 0;
    if (!is_same) {
      return fail(c, step, "is another call");
    }
    const stowi_kernel_stream_step* how = &c->stream->steps[step];
    if (call->scratch_at > body->bytes || call->scratch_size > body->bytes - call->scratch_at ||
        how->copies_at > body->bytes || how->copy_bytes > body->bytes - how->copies_at) {
      return fail(c, step, "has scratch outside of its bytes");
    }
    if (meet(how->copies_at, how->copy_bytes, call->scratch_at, call->scratch_size)) {
      return fail(c, step, "has scratch in its copies");
    }
  }
  return STOW_OK;
}

// The bytes of |rows| rows, as they are in a dense tensor.
static uint64_t bytes_of(const checker* c, stow_value value, uint64_t rows) {
  const stow_type* type = stow_graph_type(c->function, value);
  return (uint64_t)type->dims[1] * rows * (uint64_t)type->dims[COLUMNS] *
         (stow_dtype_bits(type->dtype) / 8);
}

static uint64_t blocks_of(const stowi_kernel_stream_value* v) {
  return (v->rows + v->block - 1) / v->block;
}

// Bytes of a place in a ring.
static uint64_t size_of(const checker* c, stow_value value) {
  return bytes_of(c, value, c->stream->values[value].block);
}

// Whether a value is where it may be: an input all in one block; others inside the stream's bytes,
// or in a result, of which all is one block too, and which has one beside it.
static bool has_room(const checker* c, stow_value value) {
  const stowi_kernel_stream_value* v = &c->stream->values[value];
  const stowi_kernel_block_value* home = &c->body->values[value];
  bool is_whole = v->block == v->rows && v->capacity == 1;
  if (c->makers[value] == NONE) {
    return is_whole && home->home == STOWI_KERNEL_BLOCK_OPERAND;
  }
  if (home->home == STOWI_KERNEL_BLOCK_RESULT) {
    stow_value output =
        home->index < c->stream->output_count ? c->stream->outputs[home->index] : STOW_VALUE_NONE;
    return is_whole && output < c->value_count &&
           c->body->values[output].home == STOWI_KERNEL_BLOCK_RESULT &&
           size_of(c, value) == bytes_of(c, output, c->stream->values[output].rows);
  }
  return (home->home == STOWI_KERNEL_BLOCK_SCRATCH || home->home == STOWI_KERNEL_BLOCK_SCATTER) &&
         home->at <= c->body->bytes &&
         v->capacity <= (c->body->bytes - home->at) / size_of(c, value);
}

static stow_status check_value(checker* c, stow_value value) {
  const stowi_kernel_stream_value* v = &c->stream->values[value];
  const stow_type* type = stow_graph_type(c->function, value);
  bool is_right = v->maker == c->makers[value] && v->rows == (uint64_t)type->dims[ROWS] &&
                  v->channels == (uint64_t)type->dims[1] &&
                  v->piece * v->channels == bytes_of(c, value, 1) && v->block != 0 &&
                  v->block <= v->rows && v->capacity != 0 && has_room(c, value);
  return is_right ? STOW_OK
                  : fail(c, NONE, "%s lies elsewhere, or is outside of its bytes",
                         stowi_exec_words_value(c->function, value).text);
}

// Results begin behind the stream's bytes, one after the other.
static uint64_t begin_of(const checker* c, stow_value value) {
  const stowi_kernel_block_value* home = &c->body->values[value];
  uint64_t begin = c->body->bytes;
  if (home->home != STOWI_KERNEL_BLOCK_RESULT) {
    return home->at;
  }
  for (uint32_t k = 0; k < home->index; ++k) {
    begin += bytes_of(c, c->stream->outputs[k], c->stream->values[c->stream->outputs[k]].rows);
  }
  return begin;
}

static stow_status make_notes(checker* c) {
  for (stow_value value = 0; value < c->value_count; ++value) {
    c->notes_at[value] = c->note_count;
    if (c->makers[value] != NONE) {
      c->begins[value] = begin_of(c, value);
      c->note_count += c->stream->values[value].capacity;
    }
  }
  c->notes = STOWI_ARRAY(c->allocator, uint64_t, c->note_count);
  return stowi_need_memory(c->notes != NULL, c->diag);
}

static stow_status check_outputs(const checker* c) {
  const stowi_kernel_block_value* homes = c->body->values;
  bool has_all = c->stream->output_count == stow_graph_output_count(c->function);
  for (uint32_t k = 0; has_all && k < c->stream->output_count; ++k) {
    stow_value output = stow_graph_outputs(c->function)[k];
    has_all = c->stream->outputs[k] == output && homes[output].index == k &&
              (homes[output].home == STOWI_KERNEL_BLOCK_SCATTER ||
               homes[output].home == STOWI_KERNEL_BLOCK_RESULT);
  }
  return has_all ? STOW_OK : fail(c, NONE, "has other outputs than the function");
}

// Inputs that are read by rows, and the homes of inputs and outputs.
static stow_status check_values(checker* c) {
  const stowi_kernel_block_value* homes = c->body->values;
  uint32_t inputs = 0;
  STOW_TRY(check_outputs(c));
  for (stow_value value = 0; value < c->value_count; ++value) {
    bool is_input = c->makers[value] == NONE;
    if (is_input &&
        (homes[value].home != STOWI_KERNEL_BLOCK_OPERAND || homes[value].index != inputs++)) {
      return fail(c, NONE, "%s is not its operand",
                  stowi_exec_words_value(c->function, value).text);
    }
    STOW_TRY(is_input ? STOW_OK : check_value(c, value));
  }
  for (uint32_t step = 0; step < c->step_count; ++step) {
    for (size_t k = 0; k < operand_count(c, step); ++k) {
      stow_value value = operands_of(c, step)[k];
      bool is_read = value != STOW_VALUE_NONE && !is_whole(c, step, k);
      STOW_TRY(is_read && c->makers[value] == NONE ? check_value(c, value) : STOW_OK);
    }
  }
  return make_notes(c);
}

// Results of a step have the same blocks.
static stow_status check_blocks(const checker* c, uint32_t step) {
  const stowi_kernel_block_step* call = &c->body->steps[step];
  for (uint32_t k = 1; k < call->result_count; ++k) {
    if (c->stream->values[call->first_result + k].block !=
        c->stream->values[call->first_result].block) {
      return fail(c, step, "makes results in other blocks");
    }
  }
  return STOW_OK;
}

static stow_status check_tables(checker* c) {
  STOW_TRY(begin(c));
  STOW_TRY(check_calls(c));
  STOW_TRY(check_values(c));
  for (uint32_t step = 0; step < c->step_count; ++step) {
    STOW_TRY(check_step(c, step));
    STOW_TRY(check_blocks(c, step));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Rows

static const stowi_kernel_stream_value* value_of(const checker* c, stow_value value) {
  return &c->stream->values[value];
}

// Where block |block| of a value is.
static uint64_t place_of(const checker* c, stow_value value, uint64_t block) {
  return c->begins[value] + block % value_of(c, value)->capacity * size_of(c, value);
}

static uint64_t* note_of(const checker* c, stow_value value, uint64_t block) {
  return &c->notes[c->notes_at[value] + block % value_of(c, value)->capacity];
}

// Blocks that have one of these bytes are gone.
static void overwrite(const checker* c, uint64_t at, uint64_t size) {
  for (stow_value value = 0; size != 0 && value < c->value_count; ++value) {
    uint64_t begin = c->begins[value];
    if (c->makers[value] == NONE) {
      continue;
    }
    uint64_t each = size_of(c, value);
    uint64_t capacity = value_of(c, value)->capacity;
    if (!meet(at, size, begin, capacity * each)) {
      continue;
    }
    uint64_t first = at <= begin ? 0 : (at - begin) / each;
    uint64_t end = (at + size - begin + each - 1) / each;
    for (uint64_t i = first; i < end && i < capacity; ++i) {
      c->notes[c->notes_at[value] + i] = NO_BLOCK;
    }
  }
}

// Rows [first, end) that a step makes next.
typedef struct span {
  int64_t first, end;
} span;

static span next_rows(const checker* c, uint32_t step) {
  const stowi_kernel_stream_value* v = value_of(c, c->body->steps[step].first_result);
  uint64_t first = c->made[step] * v->block;
  uint64_t end = first + v->block;
  return (span){(int64_t)first, (int64_t)(end < v->rows ? end : v->rows)};
}

static bool reads_rows(const checker* c, uint32_t step, size_t k) {
  return operands_of(c, step)[k] != STOW_VALUE_NONE && !is_whole(c, step, k);
}

// The rows of operand |k| that it reads for them.
static span read_rows(const checker* c, uint32_t step, size_t k) {
  span made = next_rows(c, step);
  if (!reads_rows(c, step, k)) {
    return (span){0, 0};
  }
  if (k != 0) {
    return made;
  }
  int64_t rows = stow_graph_type(c->function, operands_of(c, step)[k])->dims[ROWS];
  span read = {rows, 0};
  for (int64_t row = made.first; row < made.end; ++row) {
    int64_t first, last;
    if (stowi_graph_row_range(&c->maps[step], rows, row, &first, &last)) {
      read.first = first < read.first ? first : read.first;
      read.end = last + 1 > read.end ? last + 1 : read.end;
    }
  }
  return read;
}

static stow_status check_reads(const checker* c, uint32_t step) {
  for (size_t k = 0; k < operand_count(c, step); ++k) {
    span read = read_rows(c, step, k);
    stow_value value = operands_of(c, step)[k];
    for (int64_t row = read.first; row < read.end && c->makers[value] != NONE; ++row) {
      uint64_t block = (uint64_t)row / value_of(c, value)->block;
      if (*note_of(c, value, block) != block) {
        return fail(c, step, "reads row %lld of %s, which is not there", (long long)row,
                    stowi_exec_words_value(c->function, value).text);
      }
    }
  }
  return STOW_OK;
}

// Whether rows are all of a block, or lie one behind the other in a single channel.
static bool is_dense(const checker* c, stow_value value, span rows) {
  const stowi_kernel_stream_value* v = value_of(c, value);
  uint64_t first = (uint64_t)rows.first / v->block;
  uint64_t last = (uint64_t)(rows.end - 1) / v->block;
  uint64_t end = (last + 1) * v->block;
  if (v->channels == 1) {
    return place_of(c, value, first) + (last - first) * size_of(c, value) ==
           place_of(c, value, last);
  }
  return first == last && (uint64_t)rows.first == first * v->block &&
         (uint64_t)rows.end == (end < v->rows ? end : v->rows);
}

// What copies take, of all channels or of some.
static stow_status check_copies(const checker* c, uint32_t step) {
  const stowi_kernel_stream_step* how = &c->stream->steps[step];
  uint64_t copies = 0;
  for (size_t k = 0; k < operand_count(c, step); ++k) {
    span read = read_rows(c, step, k);
    stow_value value = operands_of(c, step)[k];
    if (read.first >= read.end || is_dense(c, value, read)) {
      continue;
    }
    uint64_t bytes = bytes_of(c, value, (uint64_t)(read.end - read.first));
    bytes = how->chunk == 0 ? bytes : bytes / value_of(c, value)->channels * how->chunk;
    copies += (bytes + 63) / 64 * 64;
  }
  return copies <= how->copy_bytes ? STOW_OK : fail(c, step, "has no room for copies");
}

// Whether |value|, which |step| reads, may be where its result is: the same rows, of which the op
// reads each element in time, and no others.
static bool is_in_place(const checker* c, uint32_t step, stow_value value, stow_value result) {
  const stowi_graph_row_map* map = &c->maps[step];
  const stowi_kernel_stream_value* from = value_of(c, value);
  const stowi_kernel_stream_value* to = value_of(c, result);
  size_t k = 0;
  while (operands_of(c, step)[k] != value) {
    ++k;
  }
  bool is_same = k != 0 || (map->pad_count == 0 && map->stride == 1 && map->first == 0 &&
                            map->last == 0 && map->divide == 1);
  uint64_t block = c->made[step];
  return is_same && stow_graph_result_count(c->function, c->nodes[step]) == 1 &&
         c->stream->steps[step].chunk == 0 && from->block == to->block &&
         size_of(c, value) == size_of(c, result) &&
         place_of(c, value, block) == place_of(c, result, block) &&
         stow_graph_in_place(c->function, c->nodes[step], 0, k) != STOW_IN_PLACE_NEVER;
}

static stow_status check_beside(const checker* c, uint32_t step, stow_value result, uint64_t at,
                                uint64_t size) {
  for (size_t k = 0; k < operand_count(c, step); ++k) {
    stow_value value = operands_of(c, step)[k];
    span read = read_rows(c, step, k);
    if (read.first >= read.end || c->makers[value] == NONE || is_in_place(c, step, value, result)) {
      continue;
    }
    uint64_t block = value_of(c, value)->block;
    uint64_t last = (uint64_t)(read.end - 1) / block;
    for (uint64_t i = (uint64_t)read.first / block; i <= last; ++i) {
      if (meet(at, size, place_of(c, value, i), size_of(c, value))) {
        return fail(c, step, "is written over what it reads");
      }
    }
  }
  return STOW_OK;
}

// A step writes results while it reads: nothing that it reads, but in place.
static stow_status write_results(const checker* c, uint32_t step) {
  const stowi_kernel_stream_step* how = &c->stream->steps[step];
  const stowi_kernel_block_step* call = &c->body->steps[step];
  uint64_t block = c->made[step];
  for (uint32_t i = 0; i < call->result_count; ++i) {
    stow_value result = call->first_result + i;
    uint64_t at = place_of(c, result, block);
    uint64_t size = size_of(c, result);
    if (meet(at, size, how->copies_at, how->copy_bytes) ||
        meet(at, size, call->scratch_at, call->scratch_size)) {
      return fail(c, step, "has scratch in a result");
    }
    STOW_TRY(check_beside(c, step, result, at, size));
    overwrite(c, at, size);
    *note_of(c, result, block) = block;
  }
  for (uint32_t i = 0; i < call->result_count; ++i) {
    if (*note_of(c, call->first_result + i, block) != block) {
      return fail(c, step, "has results that overlap");
    }
  }
  return STOW_OK;
}

static stow_status make_block(const checker* c, uint32_t step) {
  const stowi_kernel_stream_step* how = &c->stream->steps[step];
  const stowi_kernel_block_step* call = &c->body->steps[step];
  STOW_TRY(check_copies(c, step));
  overwrite(c, how->copies_at, how->copy_bytes);
  overwrite(c, call->scratch_at, call->scratch_size);
  STOW_TRY(check_reads(c, step));
  return write_results(c, step);
}

// All rows have been made, and those that were made in a result are still there.
static stow_status check_end(const checker* c) {
  for (uint32_t k = 0; k < c->stream->output_count; ++k) {
    stow_value output = c->stream->outputs[k];
    uint32_t maker = c->makers[output];
    if (c->made[maker] != blocks_of(value_of(c, output))) {
      return fail(c, maker, "does not make all rows");
    }
    if (c->body->values[output].home == STOWI_KERNEL_BLOCK_RESULT && *note_of(c, output, 0) != 0) {
      return fail(c, maker, "makes a result that is overwritten");
    }
  }
  return STOW_OK;
}

static stow_status follow(const checker* c) {
  stowi_kernel_stream_state state = {.next = c->next, .stack = c->stack};
  uint32_t step;
  for (uint64_t i = 0; i < c->note_count; ++i) {
    c->notes[i] = NO_BLOCK;
  }
  stowi_kernel_stream_begin(c->stream, &state);
  while ((step = stowi_kernel_stream_next(c->stream, &state)) != NONE) {
    span made = next_rows(c, step);
    if (made.first >= made.end || state.next[step] != (uint64_t)made.first) {
      return fail(c, step, "makes rows that it does not have");
    }
    STOW_TRY(make_block(c, step));
    ++c->made[step];
    state.next[step] = (uint64_t)made.end;
  }
  return check_end(c);
}

stow_status stowi_exec_stream_check(const stow_graph* function, const stowi_kernel_stream* stream,
                                    stow_allocator allocator, stow_diag* diag) {
  checker c = {.allocator = allocator,
               .function = function,
               .stream = stream,
               .body = stream->body,
               .diag = diag};
  stow_status status = check_tables(&c);
  status = status == STOW_OK ? follow(&c) : status;
  end(&c);
  return status;
}

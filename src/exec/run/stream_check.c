// Proof of a stream, from its function alone: first that the tables say what the function does;
// then the rows are followed in the order in which the kernel makes them, with a note in each place
// of a ring of the row that was written there. Whatever is written over a byte of it, by a step as
// its result, copy or scratch, ends that. Rings may share bytes, as long as no row is needed after
// that.
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

#define NO_ROW UINT64_MAX

typedef struct checker {
  stow_allocator allocator;
  const stow_graph* function;
  const stowi_kernel_stream* stream;
  uint32_t value_count, step_count;
  stow_node* nodes;                     // by step
  stowi_graph_row_map* maps;            // by step
  uint32_t* makers;                     // by value; NONE: an input
  uint64_t* notes_at;                   // by value: where those of its ring begin
  const stowi_kernel_block_body* body;  // the variant that is followed
  uint64_t* notes;                      // the row that a place of a ring has
  uint64_t note_count;
  uint64_t* made;  // rows, by step
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
  c->step_count = c->stream->bodies[0]->step_count;
  c->nodes = STOWI_ARRAY(c->allocator, stow_node, nodes);
  c->maps = STOWI_ARRAY(c->allocator, stowi_graph_row_map, nodes);
  c->makers = STOWI_ARRAY(c->allocator, uint32_t, c->value_count);
  c->notes_at = STOWI_ARRAY(c->allocator, uint64_t, c->value_count);
  c->made = STOWI_ARRAY_ZERO(c->allocator, uint64_t, nodes);
  c->next = STOWI_ARRAY_ZERO(c->allocator, uint64_t, nodes);
  c->stack = STOWI_ARRAY_ZERO(c->allocator, uint32_t, nodes);
  STOW_TRY(stowi_need_memory(c->nodes != NULL && c->maps != NULL && c->makers != NULL &&
                                 c->notes_at != NULL && c->made != NULL && c->next != NULL &&
                                 c->stack != NULL,
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
  return count == c->step_count && c->stream->bodies[0]->value_count == c->value_count
             ? STOW_OK
             : fail(c, NONE, "has other steps or values than the function");
}

static void end(checker* c) {
  uint32_t nodes = stow_graph_node_count(c->function);
  STOWI_ARRAY_FREE(c->allocator, c->nodes, nodes);
  STOWI_ARRAY_FREE(c->allocator, c->maps, nodes);
  STOWI_ARRAY_FREE(c->allocator, c->makers, c->value_count);
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
  const stowi_kernel_block_step* call = &c->stream->bodies[0]->steps[step];
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
  const stowi_kernel_block_step* call = &c->stream->bodies[0]->steps[step];
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
  return call->attr_count <= c->stream->most_attrs ? STOW_OK
                                                   : fail(c, step, "has too many attributes");
}

static bool meet(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size) {
  return a_size != 0 && b_size != 0 && a < b + b_size && b < a + a_size;
}

static stow_status check_calls(const checker* c, const stowi_kernel_block_body* body) {
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

static stow_status check_value(checker* c, stow_value value) {
  const stowi_kernel_stream_value* v = &c->stream->values[value];
  const stowi_kernel_block_value* home = &c->stream->bodies[0]->values[value];
  const stow_type* type = stow_graph_type(c->function, value);
  uint64_t rows = (uint64_t)type->dims[ROWS];
  uint64_t row = bytes_of(c, value, 1);
  bool is_input = c->makers[value] == NONE;
  bool is_right = v->maker == c->makers[value] && v->rows == rows &&
                  v->channels == (uint64_t)type->dims[1] && v->piece * v->channels == row;
  if (is_input) {
    is_right = is_right && home->home == STOWI_KERNEL_BLOCK_OPERAND && v->capacity == rows &&
               v->row == v->piece && v->channel == rows * v->piece;
  } else {
    uint64_t most = c->stream->bodies[0]->bytes;
    is_right = is_right && v->row == row && v->channel == v->piece && v->capacity != 0 &&
               home->at <= most && v->capacity <= (most - home->at) / row;
  }
  return is_right ? STOW_OK
                  : fail(c, NONE, "%s lies elsewhere, or is outside of its bytes",
                         stowi_exec_words_value(c->function, value).text);
}

static stow_status make_notes(checker* c) {
  for (stow_value value = 0; value < c->value_count; ++value) {
    c->notes_at[value] = c->note_count;
    c->note_count += c->makers[value] == NONE ? 0 : c->stream->values[value].capacity;
  }
  c->notes = STOWI_ARRAY(c->allocator, uint64_t, c->note_count);
  return stowi_need_memory(c->notes != NULL, c->diag);
}

// Inputs that are read by rows, and the homes of inputs and outputs.
static stow_status check_values(checker* c) {
  const stowi_kernel_block_value* homes = c->stream->bodies[0]->values;
  uint32_t inputs = 0;
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
  bool has_all = c->stream->output_count == stow_graph_output_count(c->function);
  for (uint32_t k = 0; has_all && k < c->stream->output_count; ++k) {
    stow_value output = stow_graph_outputs(c->function)[k];
    has_all = c->stream->outputs[k] == output && homes[output].home == STOWI_KERNEL_BLOCK_SCATTER &&
              homes[output].index == k;
  }
  return has_all ? make_notes(c) : fail(c, NONE, "has other outputs than the function");
}

// All variants have the same values.
static stow_status check_tables(checker* c) {
  STOW_TRY(begin(c));
  STOW_TRY(check_values(c));
  for (uint32_t step = 0; step < c->step_count; ++step) {
    STOW_TRY(check_step(c, step));
  }
  for (size_t i = 0; i < STOWI_EXEC_STREAM_VARIANTS; ++i) {
    const stowi_kernel_block_body* body = c->stream->bodies[i];
    if (body->values != c->stream->bodies[0]->values || body->step_count != c->step_count) {
      return fail(c, NONE, "variants have other values");
    }
    STOW_TRY(check_calls(c, body));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Rows

static uint64_t place_of(const checker* c, stow_value value, uint64_t row) {
  const stowi_kernel_stream_value* v = &c->stream->values[value];
  return c->body->values[value].at + row % v->capacity * v->row;
}

static uint64_t* note_of(const checker* c, stow_value value, uint64_t row) {
  return &c->notes[c->notes_at[value] + row % c->stream->values[value].capacity];
}

// Rows that have one of these bytes are gone.
static void overwrite(const checker* c, uint64_t at, uint64_t size) {
  for (stow_value value = 0; size != 0 && value < c->value_count; ++value) {
    const stowi_kernel_stream_value* v = &c->stream->values[value];
    uint64_t begin = c->body->values[value].at;
    if (c->makers[value] == NONE || !meet(at, size, begin, v->capacity * v->row)) {
      continue;
    }
    uint64_t first = at <= begin ? 0 : (at - begin) / v->row;
    uint64_t end = (at + size - begin + v->row - 1) / v->row;
    for (uint64_t i = first; i < end && i < v->capacity; ++i) {
      c->notes[c->notes_at[value] + i] = NO_ROW;
    }
  }
}

static stow_status check_read(const checker* c, uint32_t step, stow_value value, int64_t row) {
  if (c->makers[value] != NONE && *note_of(c, value, (uint64_t)row) != (uint64_t)row) {
    return fail(c, step, "reads row %lld of %s, which is not there", (long long)row,
                stowi_exec_words_value(c->function, value).text);
  }
  return STOW_OK;
}

// The rows of operand |k| that a step reads.
static void range_of(const checker* c, uint32_t step, size_t k, int64_t* first, int64_t* last) {
  stow_value value = operands_of(c, step)[k];
  *first = *last = (int64_t)c->made[step];
  if (k == 0) {
    int64_t rows = stow_graph_type(c->function, value)->dims[ROWS];
    (void)stowi_graph_row_range(&c->maps[step], rows, *first, first, last);
  }
}

static bool reads_rows(const checker* c, uint32_t step, size_t k) {
  return operands_of(c, step)[k] != STOW_VALUE_NONE && !is_whole(c, step, k);
}

static stow_status check_reads(const checker* c, uint32_t step) {
  for (size_t k = 0; k < operand_count(c, step); ++k) {
    int64_t first = 0, last = -1;
    if (reads_rows(c, step, k)) {
      range_of(c, step, k, &first, &last);
    }
    for (int64_t row = first; row <= last; ++row) {
      STOW_TRY(check_read(c, step, operands_of(c, step)[k], row));
    }
  }
  return STOW_OK;
}

// What copies take, of all channels or of some.
static stow_status check_copies(const checker* c, uint32_t step) {
  const stowi_kernel_stream_step* how = &c->stream->steps[step];
  uint64_t copies = 0;
  for (size_t k = 0; k < operand_count(c, step); ++k) {
    int64_t first, last;
    if (!reads_rows(c, step, k)) {
      continue;
    }
    stow_value value = operands_of(c, step)[k];
    const stowi_kernel_stream_value* v = &c->stream->values[value];
    range_of(c, step, k, &first, &last);
    bool is_one_row = first >= last && v->channel == v->piece;
    bool is_one_channel = v->channels == 1 && (c->makers[value] == NONE || first >= last);
    uint64_t bytes = bytes_of(c, value, (uint64_t)(last - first + 1));
    bytes = how->chunk == 0 ? bytes : bytes / v->channels * how->chunk;
    copies += is_one_row || is_one_channel ? 0 : (bytes + 63) / 64 * 64;
  }
  return copies <= how->copy_bytes ? STOW_OK : fail(c, step, "has no room for copies");
}

// Whether |value|, which |step| reads, may be where its result is: the same row, which the op reads
// in time, and no other.
static bool is_in_place(const checker* c, uint32_t step, stow_value value, stow_value result) {
  const stowi_graph_row_map* map = &c->maps[step];
  size_t k = 0;
  while (operands_of(c, step)[k] != value) {
    ++k;
  }
  bool is_same = k != 0 || (map->pad_count == 0 && map->stride == 1 && map->first == 0 &&
                            map->last == 0 && map->divide == 1);
  uint64_t row = c->made[step];
  return is_same && stow_graph_result_count(c->function, c->nodes[step]) == 1 &&
         c->stream->steps[step].chunk == 0 && place_of(c, value, row) == place_of(c, result, row) &&
         c->stream->values[value].row == c->stream->values[result].row &&
         stow_graph_in_place(c->function, c->nodes[step], 0, k) != STOW_IN_PLACE_NEVER;
}

// A step writes results while it reads: nothing that it reads, but in place.
static stow_status write_results(const checker* c, uint32_t step) {
  const stowi_kernel_stream_step* how = &c->stream->steps[step];
  const stowi_kernel_block_step* call = &c->body->steps[step];
  uint64_t row = c->made[step];
  for (uint32_t i = 0; i < call->result_count; ++i) {
    stow_value result = call->first_result + i;
    uint64_t at = place_of(c, result, row);
    uint64_t size = c->stream->values[result].row;
    if (meet(at, size, how->copies_at, how->copy_bytes) ||
        meet(at, size, call->scratch_at, call->scratch_size)) {
      return fail(c, step, "has scratch in a result");
    }
    for (size_t k = 0; k < operand_count(c, step); ++k) {
      int64_t first = 0, last = -1;
      stow_value value = operands_of(c, step)[k];
      if (reads_rows(c, step, k) && c->makers[value] != NONE &&
          !is_in_place(c, step, value, result)) {
        range_of(c, step, k, &first, &last);
      }
      for (; first <= last; ++first) {
        if (meet(at, size, place_of(c, value, (uint64_t)first), c->stream->values[value].row)) {
          return fail(c, step, "is written over what it reads");
        }
      }
    }
    overwrite(c, at, size);
    *note_of(c, result, row) = row;
  }
  for (uint32_t i = 0; i < call->result_count; ++i) {
    if (*note_of(c, call->first_result + i, row) != row) {
      return fail(c, step, "has results that overlap");
    }
  }
  return STOW_OK;
}

static stow_status make_row(const checker* c, uint32_t step) {
  const stowi_kernel_stream_step* how = &c->stream->steps[step];
  const stowi_kernel_block_step* call = &c->body->steps[step];
  STOW_TRY(check_copies(c, step));
  overwrite(c, how->copies_at, how->copy_bytes);
  overwrite(c, call->scratch_at, call->scratch_size);
  STOW_TRY(check_reads(c, step));
  return write_results(c, step);
}

static stow_status follow(checker* c) {
  stowi_kernel_stream_state state = {.next = c->next, .stack = c->stack};
  uint32_t step;
  for (uint64_t i = 0; i < c->note_count; ++i) {
    c->notes[i] = NO_ROW;
  }
  memset(c->made, 0, c->step_count * sizeof(c->made[0]));
  stowi_kernel_stream_begin(c->stream, &state);
  while ((step = stowi_kernel_stream_next(c->stream, &state)) != NONE) {
    if (c->made[step] >= c->stream->steps[step].rows || state.next[step] != c->made[step]) {
      return fail(c, step, "makes a row that it does not have");
    }
    STOW_TRY(make_row(c, step));
    state.next[step] = ++c->made[step];
  }
  for (uint32_t k = 0; k < c->stream->output_count; ++k) {
    uint32_t maker = c->makers[c->stream->outputs[k]];
    if (c->made[maker] != c->stream->steps[maker].rows) {
      return fail(c, maker, "does not make all rows");
    }
  }
  return STOW_OK;
}

stow_status stowi_exec_stream_check(const stow_graph* function, const stowi_kernel_stream* stream,
                                    stow_allocator allocator, stow_diag* diag) {
  checker c = {.allocator = allocator, .function = function, .stream = stream, .diag = diag};
  stow_status status = check_tables(&c);
  for (size_t i = 0; status == STOW_OK && i < STOWI_EXEC_STREAM_VARIANTS; ++i) {
    c.body = stream->bodies[i];
    status = follow(&c);
  }
  end(&c);
  return status;
}

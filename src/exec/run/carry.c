// Outputs that are the inputs of the next run, such as a cache that grows. Each pair has two
// buffers outside of the arena, as large as the larger of both ever is: a run reads one and writes
// the other, and they change places when the next one begins.
//
// An output that is `concat` of its input and of what is new has one buffer for both, in which it
// grows in place, if every node that reads one of them can be run row by row:
//
//     rows  ┌─────────────┬─────┬───────────┐
//        0  │ past        │ new │           │     concat(past, new) along axis 2 of [1, 2, P, D]:
//        1  │ past        │ new │           │     a row for each index of the dims before
//           └─────────────┴─────┴───────────┘
//           ◀──────── pitch: the most ──────▶
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/kernels/support/rows.h"
#include "exec/kernels/table.h"
#include "exec/run/exec.h"

#define ALIGNMENT 64

// ---------------------------------------------------------------------------------------------
// Before the plan is made

static stow_status fail_pair(const stow_graph* graph, stow_value output, stow_value input,
                             const char* what, stow_diag* diag) {
  return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%s cannot be carried over to %s: %s",
                    stowi_exec_words_value(graph, output).text,
                    stowi_exec_words_value(graph, input).text, what);
}

stow_status stow_prepared_carry(stow_prepared* prepared, stow_value output, stow_value input,
                                stow_diag* diag) {
  const stowi_exec_program* program = &prepared->program;
  const stow_graph* graph = program->graph;
  if (output >= program->value_count || input >= program->value_count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "no such value; check its name");
  }
  const stowi_exec_value* from = &program->values[output];
  const stowi_exec_value* to = &program->values[input];
  const char* fault = !from->is_output || from->is_boundary ? "the former is not a computed output"
                      : !to->is_input                       ? "the latter is not an input"
                      : from->type->dtype != to->type->dtype || from->type->rank != to->type->rank
                          ? "their element types or ranks differ"
                      : from->is_bounded || to->is_bounded ? "it has data-dependent dims"
                                                           : NULL;
  for (size_t i = 0; i < prepared->carries.count && fault == NULL; ++i) {
    const stowi_exec_carry* other = &prepared->carries.data[i];
    fault = other->output == output || other->input == input ? "one of them already is" : NULL;
  }
  if (fault != NULL) {
    return fail_pair(graph, output, input, fault, diag);
  }
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(prepared->allocator, &prepared->carries, 1) == STOW_OK, diag));
  STOW_TRY(stow_effects_set_io(prepared->effects, output, STOW_IO_EXTERNAL, diag));
  STOW_TRY(stow_effects_set_io(prepared->effects, input, STOW_IO_EXTERNAL, diag));
  prepared->carries.data[prepared->carries.count++] =
      (stowi_exec_carry){.output = output, .input = input};
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Growing in place

static bool has_own_kernel(const stowi_exec_step* step) {
  const stow_kernel* own = stowi_kernel_of(step->op);
  return own != NULL && own->run == step->kernel.run;
}

// The rows of both values of |carry|, at all points: what is new begins behind each row of the
// input. 0: they are no cache that grows.
static uint64_t rows_of_cache(const stow_exec* exec, const stowi_exec_carry* carry) {
  const stow_graph* graph = exec->prepared->source;
  stow_node node = stow_graph_producer(graph, carry->output);
  const stowi_exec_step* step = &exec->prepared->program.steps[node];
  const stow_type* type = stow_graph_type(graph, carry->output);
  const stow_attr* axis = stow_graph_attr(graph, node, "axis");
  if (step->op != STOW_OP_CONCAT || step->operands[0] != carry->input || !has_own_kernel(step) ||
      stow_graph_node_region(graph, node) != STOW_REGION_BODY || axis == NULL ||
      stow_dtype_bits(type->dtype) % 8 != 0) {
    return 0;
  }
  int64_t first = axis->i < 0 ? axis->i + (int64_t)type->rank : axis->i;
  uint64_t rows = 1;
  for (int64_t i = 0; i < first && rows != 0; ++i) {
    bool is_number = stow_dim_is_const(type->dims[i]) && type->dims[i] <= STOW_MOST_ROWS;
    rows = is_number ? rows * (uint64_t)type->dims[i] : 0;
    rows = rows > STOW_MOST_ROWS ? 0 : rows;
  }
  return rows;
}

stow_status stowi_exec_carry_choose(stow_exec* exec, stow_diag* diag) {
  const stowi_exec_program* program = &exec->prepared->program;
  bool any = false;
  exec->carry_count = exec->prepared->carries.count;
  exec->carries = STOWI_ARRAY_ZERO(exec->allocator, stowi_exec_carry, exec->carry_count);
  STOW_TRY(stowi_need_memory(exec->carries != NULL, diag));
  for (size_t i = 0; i < exec->carry_count; ++i) {
    exec->carries[i] = exec->prepared->carries.data[i];
    exec->carries[i].rows = exec->prepared->changes ? rows_of_cache(exec, &exec->carries[i]) : 0;
    any = any || exec->carries[i].rows != 0;
  }
  if (!any) {
    return STOW_OK;
  }
  exec->carry_of = STOWI_ARRAY_ZERO(exec->allocator, uint32_t, program->value_count);
  exec->carry_rows = STOWI_ARRAY_ZERO(exec->allocator, stowi_exec_rows, program->node_count);
  STOW_TRY(stowi_need_memory(exec->carry_of != NULL && exec->carry_rows != NULL, diag));
  for (size_t i = 0; i < exec->carry_count; ++i) {
    exec->carry_of[exec->carries[i].input] = exec->carry_of[exec->carries[i].output] =
        (uint32_t)i + 1;
  }
  return STOW_OK;
}

// The cache that |value| lies in, which grows in place; NULL: none.
static stowi_exec_carry* cache_of(const stow_exec* exec, stow_value value) {
  uint32_t carry = value == STOW_VALUE_NONE ? 0 : exec->carry_of[stow_plan_root(exec->plan, value)];
  return carry != 0 && exec->carries[carry - 1].rows != 0 ? &exec->carries[carry - 1] : NULL;
}

// Operands, then results.
static stow_value value_at(const stowi_exec_step* step, size_t i) {
  return i < step->operand_count ? step->operands[i]
                                 : step->first_result + (stow_value)(i - step->operand_count);
}

// The rows of the caches that the node's values lie in; 0: none does.
static uint64_t rows_at(const stow_exec* exec, const stowi_exec_step* step) {
  uint64_t rows = 0;
  for (size_t i = 0; i < step->operand_count + step->result_count; ++i) {
    const stowi_exec_carry* cache = cache_of(exec, value_at(step, i));
    rows = cache != NULL && cache->rows > rows ? cache->rows : rows;
  }
  return rows;
}

// Whether a node may read rows of caches that are apart, in the same way at all points. An op that
// writes into its operand would change what lies beside it.
static bool may_read(stow_exec* exec, stow_node node, uint64_t rows) {
  const stowi_exec_step* step = &exec->program->steps[node];
  stowi_exec_rows* known = &exec->carry_rows[node];
  uint64_t still;
  if (stow_graph_op_desc(exec->graph, node)->writes_view) {
    return false;
  }
  if (rows < 2 || step->op == STOW_OP_INPUT || step->op == STOW_OP_SHAPE ||
      step->op == STOW_OP_SIZE) {
    return true;  // dims are no bytes
  }
  if (!has_own_kernel(step) || !stowi_effects_allows_rows(exec->prepared->effects, node) ||
      !stowi_graph_takes_rows(exec->graph, node, rows, &still) ||
      (known->rows != 0 && (known->rows != rows || known->still != still))) {
    return false;
  }
  *known = (stowi_exec_rows){rows, still, false};
  return true;
}

void stowi_exec_carry_visit(stow_exec* exec) {
  for (stow_node node = 0; exec->carry_of != NULL && node < exec->program->node_count; ++node) {
    const stowi_exec_step* step = &exec->program->steps[node];
    uint64_t rows = rows_at(exec, step);
    bool may = rows == 0 || may_read(exec, node, rows);
    for (size_t i = 0; rows != 0 && i < step->operand_count + step->result_count; ++i) {
      stowi_exec_carry* cache = cache_of(exec, value_at(step, i));
      if (cache != NULL && (!may || (cache->rows != rows && cache->rows != 1))) {
        cache->rows = 0;
      }
    }
  }
}

void stowi_exec_carry_tell(stow_exec* exec) {
  bool any = false;
  for (stow_node node = 0; exec->carry_of != NULL && node < exec->program->node_count; ++node) {
    stowi_exec_rows* rows = &exec->carry_rows[node];
    bool is_apart = rows->rows > 1 && rows_at(exec, &exec->program->steps[node]) == rows->rows;
    *rows = is_apart ? *rows : (stowi_exec_rows){.rows = 1};
    any = any || is_apart;
  }
  if (any) {  // plans of ranges have no pitched values
    exec->code.rows = exec->carry_rows;
    exec->carry_rows = NULL;
  }
}

void stowi_exec_carry_stride(stow_exec* exec) {
  bool any = exec->carry_of != NULL && exec->code.rows != NULL;
  for (stow_value value = 0; any && value < exec->program->value_count; ++value) {
    const stowi_exec_carry* cache = cache_of(exec, value);
    stow_tensor* tensor = &exec->frame.tensors[value];
    bool is_input = cache != NULL && stow_plan_root(exec->plan, value) == cache->input;
    if (cache != NULL && cache->rows > 1 && (!is_input || cache->is_apart)) {
      stowi_kernel_set_pitch(tensor, cache->rows, cache->pitch);
    } else {
      memset(tensor->strides, 0, sizeof(tensor->strides));
    }
  }
}

// Moves the rows of what the caller has set apart, the last one first.
static void move_apart(const stow_exec* exec, const stowi_exec_carry* carry) {
  size_t row = (size_t)(exec->program->values[carry->input].bytes / carry->rows);
  for (size_t i = (size_t)carry->rows; i-- > 1;) {
    memmove(carry->buffers[0] + i * carry->pitch, carry->buffers[0] + i * row, row);
  }
}

// ---------------------------------------------------------------------------------------------
// Executors

static void bind(stow_exec* exec, stow_value value, void* data, size_t size, bool is_set) {
  stowi_exec_value_place* place = &exec->places[value];
  exec->frame.tensors[value].data = data;
  place->is_bound = true;
  place->is_set = is_set;
  place->bound_size = size;
  exec->is_moved = true;
}

static stow_status make_buffers(stow_exec* exec, stowi_exec_carry* carry, stow_diag* diag) {
  uint64_t output = stow_exec_most_bytes(exec, carry->output);
  uint64_t input = stow_exec_most_bytes(exec, carry->input);
  uint64_t size = output > input ? output : input;
  if (size > PTRDIFF_MAX) {
    return stowi_fail_memory(diag);
  }
  carry->size = (size_t)size + (size == 0);
  carry->pitch = carry->rows == 0 ? 0 : size / carry->rows;
  for (int i = 0; i < (carry->rows == 0 ? 2 : 1); ++i) {
    carry->buffers[i] = (unsigned char*)exec->allocator.reallocate(exec->allocator.user, NULL, 0,
                                                                   carry->size, ALIGNMENT);
    STOW_TRY(stowi_need_memory(carry->buffers[i] != NULL, diag));
  }
  if (exec->places[carry->input].has_slot || exec->places[carry->output].has_slot) {
    return fail_pair(exec->graph, carry->output, carry->input,
                     "the plan has slots for them; make it after stow_prepared_carry", diag);
  }
  bind(exec, carry->input, carry->buffers[0], carry->size, false);
  bind(exec, carry->output, carry->buffers[carry->rows == 0 ? 1 : 0], carry->size, true);
  return STOW_OK;
}

stow_status stowi_exec_carry_create(stow_exec* exec, stow_diag* diag) {
  for (size_t i = 0; i < exec->carry_count; ++i) {
    STOW_TRY(make_buffers(exec, &exec->carries[i], diag));
  }
  stowi_exec_carry_stride(exec);
  return STOW_OK;
}

void stowi_exec_carry_free(stow_exec* exec) {
  for (size_t i = 0; exec->carries != NULL && i < 2 * exec->carry_count; ++i) {
    stowi_exec_carry* carry = &exec->carries[i / 2];
    if (carry->buffers[i % 2] != NULL) {
      exec->allocator.reallocate(exec->allocator.user, carry->buffers[i % 2], carry->size, 0,
                                 ALIGNMENT);
    }
  }
  STOWI_ARRAY_FREE(exec->allocator, exec->carries, exec->carry_count);
  STOWI_ARRAY_FREE(exec->allocator, exec->carry_of, exec->prepared->program.value_count);
  STOWI_ARRAY_FREE(exec->allocator, exec->carry_rows, exec->prepared->program.node_count);
}

stow_status stow_exec_describe_carried(const stow_exec* exec, stow_exec_carried* out_carried) {
  stow_exec_carried carried = {.struct_size = sizeof(carried), .count = exec->carry_count};
  for (size_t i = 0; i < exec->carry_count; ++i) {
    const stowi_exec_carry* carry = &exec->carries[i];
    carried.in_place_count += carry->rows != 0;
    carried.bytes += carry->size * (carry->rows == 0 ? 2 : 1);
  }
  return stowi_fill_struct(out_carried, &carried, sizeof(carried), "stow_exec_carried", NULL);
}

// What is carried over has the dims that the last run gave it.
static stow_status check_left(const stow_exec* exec, const stowi_exec_carry* carry,
                              stow_diag* diag) {
  const stow_tensor* input = &exec->frame.tensors[carry->input];
  if (!carry->is_pending || exec->program->values[carry->input].bytes == 0 ||
      memcmp(carry->left.dims, input->dims, sizeof(input->dims)) == 0) {
    return STOW_OK;
  }
  return stowi_fail(diag, STOW_ERR_TYPE, "%s is %s, but the last run left %s; set it%s",
                    stowi_exec_words_value(exec->graph, carry->input).text,
                    stowi_exec_words_tensor(input).text, stowi_exec_words_tensor(&carry->left).text,
                    exec->range == NULL ? "" : ", or another shape");
}

// What the last run has written is the input now.
static void hand_over(stow_exec* exec, stowi_exec_carry* carry) {
  if (carry->rows == 0) {
    unsigned char* written = carry->buffers[1];
    carry->buffers[1] = carry->buffers[0];
    carry->buffers[0] = written;
    bind(exec, carry->output, carry->buffers[1], carry->size, true);
  }
  carry->is_pending = false;
  bind(exec, carry->input, carry->buffers[0], carry->size, true);
}

stow_status stowi_exec_carry_begin(stow_exec* exec, stow_diag* diag) {
  for (size_t i = 0; i < exec->carry_count; ++i) {
    STOW_TRY(check_left(exec, &exec->carries[i], diag));
  }
  bool has_moved = false;
  for (size_t i = 0; i < exec->carry_count; ++i) {
    stowi_exec_carry* carry = &exec->carries[i];
    bool moves = carry->rows > 1 && !carry->is_apart;
    if (moves && !carry->is_pending) {
      move_apart(exec, carry);
    }
    carry->is_apart = carry->is_apart || moves;
    has_moved = has_moved || moves;
    if (carry->is_pending) {
      hand_over(exec, carry);
    }
  }
  if (has_moved) {
    stowi_exec_carry_stride(exec);
  }
  return STOW_OK;
}

void stowi_exec_carry_end(stow_exec* exec) {
  for (size_t i = 0; i < exec->carry_count; ++i) {
    exec->carries[i].left = exec->frame.tensors[exec->carries[i].output];
    exec->carries[i].is_pending = true;
  }
}

void stowi_exec_carry_cancel(stow_exec* exec, stow_value input) {
  for (size_t i = 0; i < exec->carry_count; ++i) {
    if (exec->carries[i].input == input) {
      stow_tensor* tensor = &exec->frame.tensors[input];
      exec->carries[i].is_pending = exec->carries[i].is_apart = false;
      memset(tensor->strides, 0, sizeof(tensor->strides));
    }
  }
}

// Outputs that are the inputs of the next run, such as a cache that grows. Each pair has two
// buffers outside of the arena, as large as the larger of both ever is: a run reads one and writes
// the other, and they change places when the next one begins.
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
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
  for (int i = 0; i < 2; ++i) {
    carry->buffers[i] = (unsigned char*)exec->allocator.reallocate(exec->allocator.user, NULL, 0,
                                                                   carry->size, ALIGNMENT);
    STOW_TRY(stowi_need_memory(carry->buffers[i] != NULL, diag));
  }
  if (exec->places[carry->input].has_slot || exec->places[carry->output].has_slot) {
    return fail_pair(exec->graph, carry->output, carry->input,
                     "the plan has slots for them; make it after stow_prepared_carry", diag);
  }
  bind(exec, carry->input, carry->buffers[0], carry->size, false);
  bind(exec, carry->output, carry->buffers[1], carry->size, true);
  return STOW_OK;
}

stow_status stowi_exec_carry_create(stow_exec* exec, stow_diag* diag) {
  exec->carry_count = exec->prepared->carries.count;
  exec->carries = STOWI_ARRAY_ZERO(exec->allocator, stowi_exec_carry, exec->carry_count);
  STOW_TRY(stowi_need_memory(exec->carries != NULL, diag));
  for (size_t i = 0; i < exec->carry_count; ++i) {
    exec->carries[i] = exec->prepared->carries.data[i];
    STOW_TRY(make_buffers(exec, &exec->carries[i], diag));
  }
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

stow_status stowi_exec_carry_begin(stow_exec* exec, stow_diag* diag) {
  for (size_t i = 0; i < exec->carry_count; ++i) {
    STOW_TRY(check_left(exec, &exec->carries[i], diag));
  }
  for (size_t i = 0; i < exec->carry_count; ++i) {
    stowi_exec_carry* carry = &exec->carries[i];
    if (carry->is_pending) {
      unsigned char* written = carry->buffers[1];
      carry->buffers[1] = carry->buffers[0];
      carry->buffers[0] = written;
      carry->is_pending = false;
      bind(exec, carry->input, carry->buffers[0], carry->size, true);
      bind(exec, carry->output, carry->buffers[1], carry->size, true);
    }
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
      exec->carries[i].is_pending = false;
    }
  }
}

// Paranoia: a shadow of the arena records what each byte must be.
//
// Before a step, bytes that nothing occupies at it, and those of what is born there, are filled in
// the arena and its shadow alike with 0xFF, which is a NaN in every float type. After it, results
// and scratch are copied to the shadow; where the two then differ, the step wrote what it should
// not have.
//
//     arena   │ x x x x │ ff ff ff │ y y y y │ g g │      what the kernel left
//     shadow  │ x x x x │ ff ff ff │ y y y y │ g g │      what was there, and its results
//
// Bytes right before and behind the arena are watched where the executor made it.
//
// A kernel that reads what it should not, or leaves elements unwritten, is found by the pattern:
// where elements of a result are all ones, the step is run once more from the same bytes, with
// another pattern in those that nothing occupies. A NaN that was computed comes out again.
//
// Costs two walks over the arena, and one over the roots, per step.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/kernels/support/rows.h"
#include "exec/run/exec.h"
#include "plan/api.h"

#define PATTERN 0xff
#define OTHER_PATTERN 0x2a
#define NO_STEP UINT32_MAX

struct stowi_exec_paranoia {
  stow_allocator allocator;
  size_t size;  // of the arena
  unsigned char* shadow;
  unsigned char* has_content;  // by byte, 0 or 1: before the step
  unsigned char* first;        // what a step left that is run once more
  uint32_t value_count;
  uint32_t last;  // the step before; NO_STEP: none
};

stow_status stowi_exec_paranoia_create(const stow_plan* plan, stow_allocator allocator,
                                       stow_diag* diag, stowi_exec_paranoia** out_paranoia) {
  *out_paranoia = STOWI_NEW(allocator, stowi_exec_paranoia);
  STOW_TRY(stowi_need_memory(*out_paranoia != NULL, diag));
  stowi_exec_paranoia* paranoia = *out_paranoia;
  paranoia->allocator = allocator;
  paranoia->size = (size_t)stow_plan_arena_size(plan);
  paranoia->value_count = stow_plan_value_count(plan);
  paranoia->shadow = STOWI_ARRAY(allocator, unsigned char, paranoia->size);
  paranoia->has_content = STOWI_ARRAY(allocator, unsigned char, paranoia->size);
  paranoia->first = STOWI_ARRAY(allocator, unsigned char, paranoia->size);
  if (paranoia->shadow == NULL || paranoia->has_content == NULL || paranoia->first == NULL) {
    stowi_exec_paranoia_destroy(paranoia);
    *out_paranoia = NULL;
    return stowi_fail_memory(diag);
  }
  return STOW_OK;
}

void stowi_exec_paranoia_destroy(stowi_exec_paranoia* paranoia) {
  if (paranoia != NULL) {
    STOWI_ARRAY_FREE(paranoia->allocator, paranoia->shadow, paranoia->size);
    STOWI_ARRAY_FREE(paranoia->allocator, paranoia->has_content, paranoia->size);
    STOWI_ARRAY_FREE(paranoia->allocator, paranoia->first, paranoia->size);
    STOWI_DELETE(paranoia->allocator, paranoia);
  }
}

// ---------------------------------------------------------------------------------------------
// Before a step

// A root that has no content of its own when it is born.
static bool is_born_empty(const stow_exec* exec, stow_value root) {
  return !exec->program->values[root].is_boundary &&
         !stowi_effects_state(exec->prepared->effects, root);
}

static bool is_born(const stowi_exec_paranoia* paranoia, const stow_exec* exec, stow_value root,
                    uint32_t step) {
  uint32_t begin = stowi_plan_begin(exec->plan, root);
  bool is_forward = paranoia->last == NO_STEP || paranoia->last < step;
  return is_forward && begin <= step && (paranoia->last == NO_STEP || begin > paranoia->last);
}

static void mark(stowi_exec_paranoia* paranoia, stow_slot slot, bool has_content) {
  if (slot.size != 0) {
    memset(paranoia->has_content + slot.offset, has_content ? 1 : 0, (size_t)slot.size);
  }
}

static void mark_content(stowi_exec_paranoia* paranoia, stow_exec* exec, uint32_t step) {
  mark(paranoia, (stow_slot){0, paranoia->size, 0}, false);
  for (stow_value value = 0; value < paranoia->value_count; ++value) {
    if (!is_born_empty(exec, value) || !is_born(paranoia, exec, value, step)) {
      mark(paranoia, stow_plan_occupied_slot(exec->plan, value, step), true);
    }
  }
  for (size_t i = 0; i < stow_plan_reserved_count(exec->plan); ++i) {
    mark(paranoia, stow_plan_reserved_slot(exec->plan, i), true);
  }
}

// Writes |pattern| to all of |bytes|, which are the arena's or its shadow's, that have no content.
static void fill(const stowi_exec_paranoia* paranoia, unsigned char* bytes, unsigned char pattern) {
  const unsigned char* content = paranoia->has_content;
  const unsigned char* end = content + paranoia->size;
  const unsigned char* next = content;
  while (next != end) {
    const unsigned char* empty = (const unsigned char*)memchr(next, 0, (size_t)(end - next));
    if (empty == NULL) {
      return;
    }
    next = (const unsigned char*)memchr(empty, 1, (size_t)(end - empty));
    next = next == NULL ? end : next;
    memset(bytes + (empty - content), pattern, (size_t)(next - empty));
  }
}

static void fill_both(stowi_exec_paranoia* paranoia, stow_exec* exec, uint32_t step) {
  mark_content(paranoia, exec, step);
  fill(paranoia, exec->base, PATTERN);
  fill(paranoia, paranoia->shadow, PATTERN);
}

void stowi_exec_paranoia_begin(stowi_exec_paranoia* paranoia, stow_exec* exec) {
  paranoia->last = NO_STEP;
  if (paranoia->size != 0) {
    memcpy(paranoia->shadow, exec->base, paranoia->size);
  }
  if (exec->memory != NULL) {
    memset(exec->memory, PATTERN, exec->margin);
    memset(exec->memory + exec->memory_size - exec->margin, PATTERN, exec->margin);
  }
}

void stowi_exec_paranoia_before(stowi_exec_paranoia* paranoia, stow_exec* exec, uint32_t step) {
  fill_both(paranoia, exec, step);
  paranoia->last = step;
}

void stowi_exec_paranoia_end(stowi_exec_paranoia* paranoia, stow_exec* exec) {
  fill_both(paranoia, exec, stow_plan_step_count(exec->plan));
}

// ---------------------------------------------------------------------------------------------
// After a step

static void accept(stowi_exec_paranoia* paranoia, const stow_exec* exec, const void* data,
                   size_t size) {
  uintptr_t base = (uintptr_t)exec->base;
  uintptr_t at = (uintptr_t)data;
  if (size != 0 && at >= base && at - base < paranoia->size) {
    memcpy(paranoia->shadow + (at - base), data, size);
  }
}

// All rows of a tensor.
static void accept_tensor(stowi_exec_paranoia* paranoia, const stow_exec* exec,
                          const stow_tensor* tensor) {
  uint64_t pitch;
  uint64_t rows = stowi_kernel_pitch(tensor, &pitch);
  for (uint64_t i = 0; i < rows; ++i) {
    accept(paranoia, exec, (const unsigned char*)tensor->data + i * pitch,
           stow_tensor_bytes(tensor) / rows);
  }
}

static void accept_value(stowi_exec_paranoia* paranoia, const stow_exec* exec, stow_value value) {
  accept_tensor(paranoia, exec, &exec->frame.tensors[value]);
}

// What the instruction may have written.
static void accept_instruction(stowi_exec_paranoia* paranoia, const stow_exec* exec,
                               const stowi_exec_instruction* in) {
  const stow_kernel_call* call = &exec->frame.call;
  stow_slot scratch = exec->code.scratch[in->node];
  switch (in->action) {
    case STOWI_EXEC_CALL:
      accept(paranoia, exec, call->scratch, call->scratch_size);
      for (size_t k = 0; k < call->result_count; ++k) {
        accept_tensor(paranoia, exec, call->results[k]);
      }
      break;
    case STOWI_EXEC_ASIDE:
      accept(paranoia, exec, exec->base + scratch.offset, (size_t)scratch.size);
      break;
    case STOWI_EXEC_ARGS:
      accept_value(paranoia, exec, in->to);
      accept_value(paranoia, exec, in->to + 1);
      break;
    case STOWI_EXEC_COPY:
    case STOWI_EXEC_BACK:
    case STOWI_EXEC_APPEND: accept_value(paranoia, exec, in->to); break;
    default: break;
  }
}

static void accept_step(stowi_exec_paranoia* paranoia, const stow_exec* exec, size_t last) {
  const stowi_exec_instruction* in = &exec->code.instructions[last];
  accept_instruction(paranoia, exec, in);
  while (!in->begins) {
    accept_instruction(paranoia, exec, --in);
  }
}

static bool has_byte(const stow_exec* exec, stow_value value, stow_slot slot, size_t at) {
  uint64_t pitch;
  uint64_t rows = stowi_plan_rows(exec->plan, value, &pitch);
  if (at < slot.offset) {
    return false;
  }
  return rows == 1
             ? at - slot.offset < slot.size + stowi_plan_guard(exec->plan, value)
             : (at - slot.offset) / pitch < rows && (at - slot.offset) % pitch < slot.size / rows;
}

// The value that was the last to get byte |at|, of those that live at |step|.
static stow_value find_owner(const stow_exec* exec, uint32_t step, size_t at) {
  stow_value found = STOW_VALUE_NONE;
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    stow_slot slot;
    if (stow_plan_value_slot(exec->plan, value, &slot) && has_byte(exec, value, slot, at) &&
        stowi_plan_begin(exec->plan, value) <= step && step < stowi_plan_end(exec->plan, value) &&
        (found == STOW_VALUE_NONE ||
         stowi_plan_begin(exec->plan, found) <= stowi_plan_begin(exec->plan, value))) {
      found = value;
    }
  }
  return found;
}

static void name_byte(const stow_exec* exec, uint32_t step, size_t at, stow_diag* diag) {
  stow_value value = find_owner(exec, step, at);
  stow_slot slot;
  if (value == STOW_VALUE_NONE) {
    stowi_diag_append(diag, "no value is live there");
    return;
  }
  stow_plan_value_slot(exec->plan, value, &slot);
  uint64_t pitch;
  uint64_t rows = stowi_plan_rows(exec->plan, value, &pitch);
  uint64_t byte = at - slot.offset;
  byte = rows == 1 ? byte : byte / pitch * (slot.size / rows) + byte % pitch;
  bool is_guard = byte >= slot.size;
  stowi_diag_append(diag, "byte %" PRIu64 "%s %s", is_guard ? byte - slot.size : byte,
                    is_guard ? " of the guard of" : " of",
                    stowi_exec_words_value(exec->graph, value).text);
  stowi_diag_value(diag, value);
}

// The margins of the arena, where it has some.
static stow_status check_margins(stow_exec* exec, stow_node node, stow_diag* diag) {
  const unsigned char* begin = exec->memory;
  for (size_t i = 0; begin != NULL && i < 2 * exec->margin; ++i) {
    size_t at = i < exec->margin ? i : exec->memory_size - 2 * exec->margin + i;
    if (begin[at] != PATTERN) {
      bool is_before = at < exec->margin;
      size_t distance = is_before ? exec->margin - at : at + exec->margin - exec->memory_size;
      return stowi_exec_fail(exec, node, STOW_ERR_VIOLATION, diag, "wrote %zu bytes %s the arena",
                             distance + (is_before ? 0 : 1), is_before ? "before" : "after");
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Elements that may not have been written

static uint64_t rows_of(const stow_tensor* tensor) {
  uint64_t pitch;
  return stowi_kernel_pitch(tensor, &pitch);
}

// Where in the arena row |row| of the tensor is; no bytes where it is elsewhere.
static stow_slot slot_in(const stowi_exec_paranoia* paranoia, const stow_exec* exec,
                         const stow_tensor* tensor, uint64_t row) {
  uint64_t pitch;
  uint64_t rows = stowi_kernel_pitch(tensor, &pitch);
  uintptr_t offset = (uintptr_t)tensor->data + row * pitch - (uintptr_t)exec->base;
  bool is_inside = offset < paranoia->size;
  return (stow_slot){is_inside ? offset : 0, is_inside ? stow_tensor_bytes(tensor) / rows : 0, 0};
}

// Whether an element at |slot| is all ones, but for the sign, which a kernel may have turned.
static bool has_pattern(const stow_exec* exec, const stow_tensor* tensor, stow_slot slot) {
  size_t width = stow_dtype_bits(tensor->dtype) / 8;
  size_t bytes = (size_t)slot.size;
  const unsigned char* data = exec->base + slot.offset;
  size_t ones = 0;
  for (size_t i = 0; width != 0 && i < bytes; ++i) {
    bool is_last = i % width == width - 1;
    ones = (data[i] | (is_last ? 0x80 : 0)) == PATTERN ? ones + 1 : 0;
    if (is_last && ones == width) {
      return true;
    }
    ones = is_last ? 0 : ones;
  }
  return false;
}

static bool is_suspect(const stowi_exec_paranoia* paranoia, const stow_exec* exec) {
  const stow_kernel_call* call = &exec->frame.call;
  bool has = false;
  for (size_t k = 0; k < call->result_count; ++k) {
    for (uint64_t row = 0; row < rows_of(call->results[k]); ++row) {
      stow_slot slot = slot_in(paranoia, exec, call->results[k], row);
      has = has || (slot.size != 0 && has_pattern(exec, call->results[k], slot));
    }
  }
  return has;
}

// The first element of |result| that is not what it was when the step was run first; SIZE_MAX: all
// are.
static size_t find_change(const stowi_exec_paranoia* paranoia, const stow_exec* exec,
                          const stow_tensor* result) {
  for (uint64_t row = 0; row < rows_of(result); ++row) {
    stow_slot slot = slot_in(paranoia, exec, result, row);
    for (uint64_t i = 0; i < slot.size; ++i) {
      if (exec->base[slot.offset + i] != paranoia->first[slot.offset + i]) {
        return (size_t)(row * slot.size + i) * 8 / stow_dtype_bits(result->dtype);
      }
    }
  }
  return SIZE_MAX;
}

static stow_status compare_runs(const stowi_exec_paranoia* paranoia, stow_exec* exec,
                                stow_node node, stow_diag* diag) {
  const stow_kernel_call* call = &exec->frame.call;
  for (size_t k = 0; k < call->result_count; ++k) {
    size_t element = find_change(paranoia, exec, call->results[k]);
    if (element != SIZE_MAX) {
      stow_value value = stow_graph_first_result(exec->graph, node) + (stow_value)k;
      return stowi_exec_fail(
          exec, node, STOW_ERR_VIOLATION, diag,
          "element %zu of %s was not written, or was computed from bytes of no live "
          "value",
          element, stowi_exec_words_value(exec->graph, value).text);
    }
  }
  return STOW_OK;
}

// Of a root that others are written into, too, the results' bytes have no content yet but where
// they are operands'.
static void mark_tensor(stowi_exec_paranoia* paranoia, const stow_exec* exec,
                        const stow_tensor* tensor, bool has_content) {
  for (uint64_t row = 0; row < rows_of(tensor); ++row) {
    mark(paranoia, slot_in(paranoia, exec, tensor, row), has_content);
  }
}

static void mark_results(stowi_exec_paranoia* paranoia, const stow_exec* exec) {
  const stow_kernel_call* call = &exec->frame.call;
  for (size_t k = 0; k < call->result_count; ++k) {
    mark_tensor(paranoia, exec, call->results[k], false);
  }
  for (size_t k = 0; k < call->operand_count; ++k) {
    if (call->operands[k] != NULL) {
      mark_tensor(paranoia, exec, call->operands[k], true);
    }
  }
}

// The shadow still has the bytes from before the step.
static stow_status check_written(stowi_exec_paranoia* paranoia, stow_exec* exec, stow_node node,
                                 stow_diag* diag) {
  if (!is_suspect(paranoia, exec)) {
    return STOW_OK;
  }
  memcpy(paranoia->first, exec->base, paranoia->size);
  memcpy(exec->base, paranoia->shadow, paranoia->size);
  mark_results(paranoia, exec);
  fill(paranoia, exec->base, OTHER_PATTERN);
  STOW_TRY(stowi_exec_run_kernel(exec, node, diag));
  STOW_TRY(compare_runs(paranoia, exec, node, diag));
  memcpy(exec->base, paranoia->first, paranoia->size);
  return STOW_OK;
}

stow_status stowi_exec_paranoia_after(stowi_exec_paranoia* paranoia, stow_exec* exec, size_t last,
                                      stow_diag* diag) {
  const stowi_exec_instruction* in = &exec->code.instructions[last];
  STOW_TRY(check_margins(exec, in->node, diag));
  STOW_TRY(in->action == STOWI_EXEC_CALL ? check_written(paranoia, exec, in->node, diag) : STOW_OK);
  accept_step(paranoia, exec, last);
  if (paranoia->size == 0 || memcmp(exec->base, paranoia->shadow, paranoia->size) == 0) {
    return STOW_OK;
  }
  size_t at = 0;
  while (exec->base[at] == paranoia->shadow[at]) {
    ++at;
  }
  stowi_exec_fail(exec, in->node, STOW_ERR_VIOLATION, diag,
                  "wrote byte %zu of the arena, outside its results: ", at);
  name_byte(exec, in->step, at, diag);
  return STOW_ERR_VIOLATION;
}

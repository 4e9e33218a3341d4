// Paranoia: a shadow of the arena says what each byte must be.
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
// elements of all ones in a float result, while no operand has such.
//
// Costs two walks over the arena, and one over the roots, per step.
#include "exec/run/paranoia.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"

#define PATTERN 0xff
#define NO_STEP UINT32_MAX

struct stowi_paranoia {
  stow_allocator allocator;
  size_t size;  // of the arena
  unsigned char* shadow;
  unsigned char* is_live;  // by byte
  uint32_t value_count;
  uint32_t last;     // the step before; NO_STEP: none
  bool has_pattern;  // an operand of the step
};

stow_status stowi_paranoia_create(const stow_plan* plan, stow_allocator allocator, stow_diag* diag,
                                  stowi_paranoia** out_paranoia) {
  *out_paranoia = STOWI_NEW(allocator, stowi_paranoia);
  if (*out_paranoia == NULL) {
    return stowi_fail_memory(diag);
  }
  stowi_paranoia* paranoia = *out_paranoia;
  paranoia->allocator = allocator;
  paranoia->size = (size_t)stow_plan_arena_size(plan);
  paranoia->value_count = stow_plan_value_count(plan);
  paranoia->shadow = STOWI_ARRAY(allocator, unsigned char, paranoia->size);
  paranoia->is_live = STOWI_ARRAY(allocator, unsigned char, paranoia->size);
  if (paranoia->shadow == NULL || paranoia->is_live == NULL) {
    stowi_paranoia_destroy(paranoia);
    *out_paranoia = NULL;
    return stowi_fail_memory(diag);
  }
  return STOW_OK;
}

void stowi_paranoia_destroy(stowi_paranoia* paranoia) {
  if (paranoia != NULL) {
    STOWI_ARRAY_FREE(paranoia->allocator, paranoia->shadow, paranoia->size);
    STOWI_ARRAY_FREE(paranoia->allocator, paranoia->is_live, paranoia->size);
    STOWI_DELETE(paranoia->allocator, paranoia);
  }
}

// ---------------------------------------------------------------------------------------------
// Before a step

static void fill(stowi_paranoia* paranoia, stow_exec* exec, size_t offset, size_t size) {
  if (size != 0) {
    memset(exec->base + offset, PATTERN, size);
    memset(paranoia->shadow + offset, PATTERN, size);
  }
}

// A root that has no content of its own when it is born.
static bool is_born_empty(const stow_exec* exec, stow_value root) {
  return !exec->places[root].is_boundary && !stow_effects_state(exec->prepared->effects, root);
}

static bool is_born(const stowi_paranoia* paranoia, const stow_exec* exec, stow_value root,
                    uint32_t step) {
  uint32_t begin = stow_plan_begin(exec->plan, root);
  bool is_forward = paranoia->last == NO_STEP || paranoia->last < step;
  return is_forward && begin <= step && (paranoia->last == NO_STEP || begin > paranoia->last);
}

static void mark_live(stowi_paranoia* paranoia, stow_exec* exec, uint32_t step) {
  memset(paranoia->is_live, 0, paranoia->size);
  for (stow_value value = 0; value < paranoia->value_count; ++value) {
    stow_slot slot = stow_plan_occupied(exec->plan, value, step);
    if (slot.size == 0) {
      continue;
    }
    memset(paranoia->is_live + slot.offset, 1, (size_t)slot.size);
    if (is_born_empty(exec, value) && is_born(paranoia, exec, value, step)) {
      fill(paranoia, exec, (size_t)slot.offset, (size_t)slot.size);
    }
  }
  for (size_t i = 0; i < stow_plan_reserved_count(exec->plan); ++i) {
    stow_slot slot = stow_plan_reserved_at(exec->plan, i);
    memset(paranoia->is_live + slot.offset, 1, (size_t)slot.size);
  }
}

static void fill_dead(stowi_paranoia* paranoia, stow_exec* exec) {
  const unsigned char* live = paranoia->is_live;
  for (size_t at = 0; at < paranoia->size;) {
    const unsigned char* dead = (const unsigned char*)memchr(live + at, 0, paranoia->size - at);
    if (dead == NULL) {
      return;
    }
    size_t begin = (size_t)(dead - live);
    const unsigned char* next = (const unsigned char*)memchr(dead, 1, paranoia->size - begin);
    at = next == NULL ? paranoia->size : (size_t)(next - live);
    fill(paranoia, exec, begin, at - begin);
  }
}

// The first element that is all ones; SIZE_MAX: none.
static size_t find_pattern(const stow_tensor* tensor) {
  size_t width = stow_dtype_bits(tensor->dtype) / 8;
  size_t count = stow_tensor_elements(tensor);
  const unsigned char* data = (const unsigned char*)tensor->data;
  for (size_t i = 0; width > 1 && i < count; ++i) {
    size_t ones = 0;
    while (ones < width && data[i * width + ones] == PATTERN) {
      ++ones;
    }
    if (ones == width) {
      return i;
    }
  }
  return SIZE_MAX;
}

static bool has_pattern(const stow_kernel_call* call) {
  for (size_t k = 0; k < call->operand_count; ++k) {
    if (call->operands[k] != NULL && find_pattern(call->operands[k]) != SIZE_MAX) {
      return true;
    }
  }
  return false;
}

void stowi_paranoia_begin(stowi_paranoia* paranoia, stow_exec* exec) {
  paranoia->last = NO_STEP;
  if (paranoia->size != 0) {
    memcpy(paranoia->shadow, exec->base, paranoia->size);
  }
  if (exec->memory != NULL) {
    memset(exec->memory, PATTERN, exec->margin);
    memset(exec->memory + exec->memory_size - exec->margin, PATTERN, exec->margin);
  }
}

void stowi_paranoia_before(stowi_paranoia* paranoia, stow_exec* exec, uint32_t step) {
  const stow_kernel_call* call = &exec->calls.calls[stow_plan_order(exec->plan)[step]];
  mark_live(paranoia, exec, step);
  fill_dead(paranoia, exec);
  paranoia->last = step;
  paranoia->has_pattern = has_pattern(call);
}

void stowi_paranoia_end(stowi_paranoia* paranoia, stow_exec* exec) {
  mark_live(paranoia, exec, stow_plan_step_count(exec->plan));
  fill_dead(paranoia, exec);
}

// ---------------------------------------------------------------------------------------------
// After a step

static void accept(stowi_paranoia* paranoia, const stow_exec* exec, const void* data, size_t size) {
  uintptr_t base = (uintptr_t)exec->base;
  uintptr_t at = (uintptr_t)data;
  if (size != 0 && at >= base && at - base < paranoia->size) {
    memcpy(paranoia->shadow + (at - base), data, size);
  }
}

static void accept_values(stowi_paranoia* paranoia, const stow_exec* exec, stow_value first,
                          size_t count) {
  for (stow_value value = first; value < first + count; ++value) {
    const stow_tensor* tensor = &exec->calls.tensors[value];
    accept(paranoia, exec, tensor->data, stow_tensor_bytes(tensor));
  }
}

// What |node| may have written.
static void accept_node(stowi_paranoia* paranoia, const stow_exec* exec, stow_node node) {
  const stow_graph* graph = exec->graph;
  const stow_kernel_call* call = &exec->calls.calls[node];
  accept(paranoia, exec, call->scratch, call->scratch_size);
  if (stow_graph_op(graph, node) == STOW_OP_YIELD) {
    const stowi_region* region = &exec->regions[stow_graph_node_region(graph, node)];
    stow_node owner = stow_graph_region_owner(graph, stow_graph_node_region(graph, node));
    stow_value results = stow_graph_first_result(graph, owner);
    size_t carried = region->is_loop ? region->body.carried : 0;
    accept_values(paranoia, exec, results + (stow_value)carried,
                  stow_graph_result_count(graph, owner) - carried);
    if (carried != 0) {
      stow_value args = stow_graph_first_result(graph, region->body.args);
      accept_values(paranoia, exec, args + (stow_value)region->body.carry.first_arg, carried);
    }
    return;
  }
  size_t count = stow_graph_result_count(graph, node);
  if (count != 0 && !stow_graph_is_boundary(graph, stow_graph_first_result(graph, node))) {
    accept_values(paranoia, exec, stow_graph_first_result(graph, node), count);
  }
}

// The value that was the last to get byte |at|, of those that live at |step|.
static stow_value find_owner(const stow_exec* exec, uint32_t step, size_t at) {
  stow_value found = STOW_VALUE_NONE;
  for (stow_value value = 0; value < exec->calls.value_count; ++value) {
    stow_slot slot;
    if (stow_plan_slot(exec->plan, value, &slot) && at >= slot.offset &&
        at - slot.offset < slot.size + stow_plan_guard(exec->plan, value) &&
        stow_plan_begin(exec->plan, value) <= step && step < stow_plan_end(exec->plan, value) &&
        (found == STOW_VALUE_NONE ||
         stow_plan_begin(exec->plan, found) <= stow_plan_begin(exec->plan, value))) {
      found = value;
    }
  }
  return found;
}

static void name_byte(const stow_exec* exec, uint32_t step, size_t at, stow_diag* diag) {
  stow_value value = find_owner(exec, step, at);
  stow_slot slot;
  if (value == STOW_VALUE_NONE) {
    stowi_diag_append(diag, "nothing lives there");
    return;
  }
  stow_plan_slot(exec->plan, value, &slot);
  uint64_t byte = at - slot.offset;
  bool is_guard = byte >= slot.size;
  stowi_diag_append(diag, "byte %" PRIu64 "%s %s", is_guard ? byte - slot.size : byte,
                    is_guard ? " of the guard of" : " of",
                    stowi_words_value(exec->graph, value).text);
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
                             distance + (is_before ? 0 : 1), is_before ? "before" : "behind");
    }
  }
  return STOW_OK;
}

static stow_status check_patterns(const stowi_paranoia* paranoia, stow_exec* exec, stow_node node,
                                  stow_diag* diag) {
  const stow_kernel_call* call = &exec->calls.calls[node];
  if (paranoia->has_pattern || exec->prepared->nodes[node].kernel.run == NULL) {
    return STOW_OK;
  }
  for (size_t k = 0; k < call->result_count; ++k) {
    stow_tensor* result = call->results[k];
    if (stow_dtype_kind_of(result->dtype) != STOW_KIND_FLOAT) {
      continue;
    }
    size_t element = find_pattern(result);
    if (element != SIZE_MAX) {
      stow_value value = stow_graph_first_result(exec->graph, node) + (stow_value)k;
      return stowi_exec_fail(exec, node, STOW_ERR_VIOLATION, diag,
                             "element %zu of %s was not written, or made from bytes that nothing "
                             "lives in",
                             element, stowi_words_value(exec->graph, value).text);
    }
  }
  return STOW_OK;
}

stow_status stowi_paranoia_after(stowi_paranoia* paranoia, stow_exec* exec, uint32_t step,
                                 stow_diag* diag) {
  stow_node node = stow_plan_order(exec->plan)[step];
  accept_node(paranoia, exec, node);
  STOW_TRY(check_margins(exec, node, diag));
  if (paranoia->size == 0 || memcmp(exec->base, paranoia->shadow, paranoia->size) == 0) {
    return check_patterns(paranoia, exec, node, diag);
  }
  size_t at = 0;
  while (exec->base[at] == paranoia->shadow[at]) {
    ++at;
  }
  stowi_exec_fail(exec, node, STOW_ERR_VIOLATION, diag,
                  "wrote byte %zu of the arena, which is not its own: ", at);
  name_byte(exec, step, at, diag);
  return STOW_ERR_VIOLATION;
}

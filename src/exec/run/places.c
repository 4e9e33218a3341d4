// Where values are: slots of the plan, weights where they lie, memory that the caller binds; and
// whether all that a run needs is there.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"
#include "exec/run/exec.h"
#include "plan/api.h"

static stow_tensor* tensor_of(stow_exec* exec, stow_value value) {
  return &exec->calls.tensors[value];
}

// ---------------------------------------------------------------------------------------------
// Facts

static bool is_view(const stow_graph* graph, stow_value value, stow_view* out_view) {
  stow_node node = stow_graph_producer(graph, value);
  return stow_graph_view(graph, node, value - stow_graph_first_result(graph, node), out_view);
}

// Marks inputs whose bytes are gone after a run: those that die in it, and those that a result lies
// over. (An op that writes into its operand on purpose changes it, which is what it is for.)
static void mark_consumed(stow_exec* exec) {
  uint32_t steps = stow_plan_step_count(exec->plan);
  for (stow_value value = 0; value < exec->calls.value_count; ++value) {
    stow_value root = stow_plan_root(exec->plan, value);
    stowi_exec_value_place* place = &exec->places[root];
    stow_view view;
    if (place->is_boundary && place->has_slot) {
      bool is_in_place = root != value && !is_view(exec->graph, value, &view);
      bool dies = root == value && stowi_plan_end(exec->plan, root) <= steps;
      place->is_consumed = place->is_consumed || is_in_place || dies;
    }
  }
}

static stow_status find_source(stow_exec* exec, stow_value value, stow_diag* diag) {
  stowi_exec_value_place* place = &exec->places[value];
  size_t size = 0;
  place->source = stow_graph_data(exec->graph, value, &size);
  if (place->source == NULL && exec->options.weight != NULL && !place->is_input) {
    place->source = exec->options.weight(exec->options.user, value, &size);
  }
  if (place->source != NULL && size != place->bytes) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "%s needs %" PRIu64 " bytes of data, but has %zu",
                      stowi_exec_words_value(exec->graph, value).text, place->bytes, size);
  }
  return STOW_OK;
}

static stow_status describe(stow_exec* exec, stow_value value, stow_diag* diag) {
  stowi_exec_value_place* place = &exec->places[value];
  stow_slot slot;
  STOW_TRY(stow_type_bytes(stow_graph_type(exec->graph, value), &place->bytes));
  place->is_boundary = stow_graph_is_boundary(exec->graph, value);
  place->is_input =
      stow_graph_op(exec->graph, stow_graph_producer(exec->graph, value)) == STOW_OP_INPUT;
  place->is_bounded =
      stow_graph_is_bounded(exec->graph, value) || stow_graph_is_data_dependent(exec->graph, value);
  place->has_slot = stow_plan_value_slot(exec->plan, value, &slot);
  if (place->has_slot && slot.size < place->bytes) {
    return stowi_fail(diag, STOW_ERR_VIOLATION,
                      "%s needs %" PRIu64 " bytes, but its slot has %" PRIu64,
                      stowi_exec_words_value(exec->graph, value).text, place->bytes, slot.size);
  }
  tensor_of(exec, value)->data = place->bytes == 0 ? stowi_exec_nothing
                                 : place->has_slot ? exec->base + slot.offset
                                                   : NULL;
  return place->is_boundary ? find_source(exec, value, diag) : STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// What has no slot

// Whether |value| is where |*out_parent| is, |*out_distance| bytes on. What the caller binds stays
// where it is, also where it is a view: its node then copies, and views of it follow it.
static bool is_following(const stow_exec* exec, stow_value value, stow_value* out_parent,
                         uint64_t* out_distance) {
  const stow_graph* graph = exec->graph;
  const stowi_exec_value_place* place = &exec->places[value];
  stow_view view;
  if (place->has_slot || place->is_bound || place->bytes == 0 ||
      stow_plan_root(exec->plan, value) == value || !is_view(graph, value, &view)) {
    return false;
  }
  *out_parent = stow_graph_operands(graph, stow_graph_producer(graph, value))[view.operand];
  *out_distance = view.element_offset * stow_dtype_bits(exec->calls.tensors[*out_parent].dtype) / 8;
  return true;
}

// Operands come before their views, so that one walk reaches views of views.
void stowi_exec_follow(stow_exec* exec) {
  for (stow_value value = 0; exec->is_moved && value < exec->calls.value_count; ++value) {
    stow_value parent;
    uint64_t distance;
    if (is_following(exec, value, &parent, &distance)) {
      unsigned char* data = (unsigned char*)tensor_of(exec, parent)->data;
      tensor_of(exec, value)->data = data == NULL ? NULL : data + distance;
    }
  }
  exec->is_moved = false;
}

void* stowi_exec_data(const stow_exec* exec, stow_value value) {
  stow_value parent;
  uint64_t distance;
  uint64_t total = 0;
  while (exec->is_moved && is_following(exec, value, &parent, &distance)) {
    total += distance;
    value = parent;
  }
  unsigned char* data = (unsigned char*)exec->calls.tensors[value].data;
  return data == NULL ? NULL : data + total;
}

// What neither the plan nor the caller gives bytes to: a fault of the plan's, which a check has
// passed.
static stow_status check_reachable(stow_exec* exec, stow_value value, stow_diag* diag) {
  const stowi_exec_value_place* place = &exec->places[value];
  stow_value root = stow_plan_root(exec->plan, value);
  stow_view view;
  bool is_bound = place->is_boundary || place->is_output;
  if (place->has_slot || is_bound || place->bytes == 0 ||
      (root != value && is_view(exec->graph, value, &view))) {
    return STOW_OK;
  }
  return stowi_fail(diag, STOW_ERR_UNSUPPORTED, "%s has no slot in the plan",
                    stowi_exec_words_value(exec->graph, value).text);
}

// Plans may count more bytes per element than there are; a view that begins inside its operand is
// then not where kernels look for it.
static stow_status check_view(stow_exec* exec, stow_value value, stow_diag* diag) {
  stow_view view;
  stow_slot slot, from;
  if (!stow_plan_value_slot(exec->plan, value, &slot) || !is_view(exec->graph, value, &view) ||
      exec->is_bounded[stow_graph_producer(exec->graph, value)]) {
    return STOW_OK;
  }
  stow_node node = stow_graph_producer(exec->graph, value);
  stow_value parent = stow_graph_operands(exec->graph, node)[view.operand];
  uint64_t bits = view.element_offset * stow_dtype_bits(tensor_of(exec, parent)->dtype);
  if (!stow_plan_value_slot(exec->plan, parent, &from) || slot.size == 0 ||
      stow_plan_root(exec->plan, value) != stow_plan_root(exec->plan, parent) ||
      slot.offset == from.offset + bits / 8) {
    return STOW_OK;
  }
  return stowi_fail(diag, STOW_ERR_UNSUPPORTED,
                    "%s begins %" PRIu64 " bytes into %s, its elements %" PRIu64
                    ": the plan assumes a different element width",
                    stowi_exec_words_value(exec->graph, value).text, slot.offset - from.offset,
                    stowi_exec_words_value(exec->graph, parent).text, bits / 8);
}

// ---------------------------------------------------------------------------------------------
// Weights

// Params and constants with data but no slot whose data cannot be used where it lies.
static bool needs_copy(const stow_exec* exec, stow_value value) {
  const stowi_exec_value_place* place = &exec->places[value];
  size_t alignment = stowi_exec_dtype_alignment(stow_graph_type(exec->graph, value)->dtype);
  return place->is_boundary && place->source != NULL && !place->has_slot && place->bytes != 0 &&
         (place->is_input || (uintptr_t)place->source % alignment != 0);
}

static stow_status make_weights(stow_exec* exec, stow_diag* diag) {
  uint64_t total = 0;
  for (stow_value value = 0; value < exec->calls.value_count; ++value) {
    if (needs_copy(exec, value) && (!stowi_add_u64(total, exec->places[value].bytes, &total) ||
                                    !stowi_align_up(total, STOWI_EXEC_WEIGHT_ALIGNMENT, &total))) {
      total = UINT64_MAX;
      break;
    }
  }
  if (total == 0) {
    return STOW_OK;
  }
  if (total > PTRDIFF_MAX) {
    return stowi_fail(diag, STOW_ERR_OVERFLOW, "weights need %" PRIu64 " bytes", total);
  }
  exec->weights_size = (size_t)total;
  exec->weights = (unsigned char*)exec->allocator.reallocate(
      exec->allocator.user, NULL, 0, exec->weights_size, STOWI_EXEC_WEIGHT_ALIGNMENT);
  return exec->weights == NULL ? stowi_fail_memory(diag) : STOW_OK;
}

static void put(stow_exec* exec, stow_value value) {
  stowi_exec_value_place* place = &exec->places[value];
  if (place->bytes != 0 && tensor_of(exec, value)->data != place->source) {
    memcpy(tensor_of(exec, value)->data, place->source, (size_t)place->bytes);
  }
  place->is_set = true;
}

static void put_weights(stow_exec* exec) {
  unsigned char* at = exec->weights;
  for (stow_value value = 0; value < exec->calls.value_count; ++value) {
    stowi_exec_value_place* place = &exec->places[value];
    if (!place->is_boundary || place->source == NULL) {
      continue;
    }
    stow_tensor* tensor = tensor_of(exec, value);
    if (needs_copy(exec, value)) {
      tensor->data = at;
      at += (place->bytes + STOWI_EXEC_WEIGHT_ALIGNMENT - 1) / STOWI_EXEC_WEIGHT_ALIGNMENT *
            STOWI_EXEC_WEIGHT_ALIGNMENT;
    } else if (!place->has_slot && place->bytes != 0) {
      memcpy(&tensor->data, &place->source, sizeof(tensor->data));
    }
    put(exec, value);
  }
}

static void clear_state(stow_exec* exec) {
  for (stow_value value = 0; value < exec->calls.value_count; ++value) {
    stow_slot slot;
    if (stowi_effects_state(exec->prepared->effects, value) && !exec->places[value].is_boundary &&
        stow_plan_value_slot(exec->plan, value, &slot)) {
      memset(exec->base + slot.offset, 0, (size_t)slot.size);
    }
  }
}

stow_status stowi_exec_place(stow_exec* exec, stow_diag* diag) {
  for (stow_value value = 0; value < exec->calls.value_count; ++value) {
    STOW_TRY(describe(exec, value, diag));
  }
  for (size_t i = 0; i < stow_graph_output_count(exec->graph); ++i) {
    exec->places[stow_graph_outputs(exec->graph)[i]].is_output = true;
  }
  for (stow_value value = 0; value < exec->calls.value_count; ++value) {
    STOW_TRY(check_reachable(exec, value, diag));
    STOW_TRY(check_view(exec, value, diag));
  }
  mark_consumed(exec);
  STOW_TRY(make_weights(exec, diag));
  clear_state(exec);
  put_weights(exec);
  exec->is_moved = true;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Around a run

stow_status stowi_exec_require(stow_exec* exec, stow_diag* diag) {
  stowi_exec_follow(exec);
  for (stow_value value = 0; value < exec->calls.value_count; ++value) {
    stowi_exec_value_place* place = &exec->places[value];
    if (place->is_boundary && !place->is_set && place->source != NULL && place->is_consumed) {
      put(exec, value);
    }
    bool needs = place->is_boundary ? !place->is_set
                                    : place->is_output && exec->calls.tensors[value].data == NULL;
    if (needs && place->bytes != 0) {
      const char* what = place->is_input ? "input" : place->is_boundary ? "param" : "output";
      const char* why = !place->has_slot     ? "is not bound"
                        : place->is_consumed ? "is not set (a run consumes it)"
                                             : "is not set";
      stowi_fail(diag, STOW_ERR_NOT_FOUND, "%s %s %s", what,
                 stowi_exec_words_value(exec->graph, value).text, why);
      stowi_diag_value(diag, value);
      return STOW_ERR_NOT_FOUND;
    }
  }
  return STOW_OK;
}

void stowi_exec_consume(stow_exec* exec) {
  for (stow_value value = 0; value < exec->calls.value_count; ++value) {
    stowi_exec_value_place* place = &exec->places[value];
    place->is_set = place->is_set && !(place->is_boundary && place->is_consumed);
  }
}

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
  return &exec->frame.tensors[value];
}

// ---------------------------------------------------------------------------------------------
// Facts

static const stowi_exec_value* facts_of(const stow_exec* exec, stow_value value) {
  return &exec->program->values[value];
}

static bool is_view(const stow_exec* exec, stow_value value) {
  return facts_of(exec, value)->parent != STOW_VALUE_NONE;
}

// Marks inputs whose bytes are gone after a run: those that die in it, and those that a result lies
// over. (An op that writes into its operand on purpose changes it, which is what it is for.)
static void mark_consumed(stow_exec* exec) {
  uint32_t steps = stow_plan_step_count(exec->plan);
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    stow_value root = stow_plan_root(exec->plan, value);
    stowi_exec_value_place* place = &exec->places[root];
    if (facts_of(exec, root)->is_boundary && place->has_slot) {
      bool is_in_place = root != value && !is_view(exec, value);
      bool dies = root == value && stowi_plan_end(exec->plan, root) <= steps;
      place->is_consumed = place->is_consumed || is_in_place || dies;
    }
  }
}

static stow_status find_source(stow_exec* exec, stow_value value, stow_diag* diag) {
  const stowi_exec_value* facts = facts_of(exec, value);
  stowi_exec_value_place* place = &exec->places[value];
  size_t size = 0;
  place->source = stow_graph_data(exec->graph, value, &size);
  bool is_asked = exec->options.weight != NULL && !facts->is_input && facts->packed_bytes == 0;
  if (place->source == NULL && is_asked) {
    place->source = exec->options.weight(exec->options.user, value, &size);
  }
  if (place->source != NULL && size != facts->bytes) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "%s needs %" PRIu64 " bytes of data, but has %zu",
                      stowi_exec_words_value(exec->graph, value).text, facts->bytes, size);
  }
  return STOW_OK;
}

// Whether the value is where it is for another reason than the plan.
static bool is_elsewhere(const stow_exec* exec, stow_value value) {
  const stowi_exec_value_place* place = &exec->places[value];
  return !place->has_slot && (place->is_bound || place->source != NULL);
}

static void put_in_place(stow_exec* exec, stow_value value) {
  const stowi_exec_value_place* place = &exec->places[value];
  if (!is_elsewhere(exec, value)) {
    tensor_of(exec, value)->data = facts_of(exec, value)->bytes == 0 ? stowi_exec_nothing
                                   : place->has_slot                 ? exec->base + place->offset
                                                                     : NULL;
  }
}

static stow_status put_in_slot(stow_exec* exec, stow_value value, stow_diag* diag) {
  const stowi_exec_value* facts = facts_of(exec, value);
  stowi_exec_value_place* place = &exec->places[value];
  stow_slot slot;
  place->has_slot = stow_plan_value_slot(exec->plan, value, &slot);
  place->offset = slot.offset;
  if (place->has_slot && slot.size < facts->bytes) {
    return stowi_fail(diag, STOW_ERR_VIOLATION,
                      "%s needs %" PRIu64 " bytes, but its slot has %" PRIu64,
                      stowi_exec_words_value(exec->graph, value).text, facts->bytes, slot.size);
  }
  put_in_place(exec, value);
  stowi_exec_code_stride(exec->plan, value, tensor_of(exec, value));
  return STOW_OK;
}

static stow_status describe(stow_exec* exec, stow_value value, stow_diag* diag) {
  STOW_TRY(put_in_slot(exec, value, diag));
  return facts_of(exec, value)->is_boundary ? find_source(exec, value, diag) : STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// What has no slot

// Whether |value| is where |*out_parent| is, |*out_distance| bytes on. What the caller binds stays
// where it is, also where it is a view: its node then copies, and views of it follow it.
static bool is_following(const stow_exec* exec, stow_value value, stow_value* out_parent,
                         uint64_t* out_distance) {
  const stowi_exec_value* facts = facts_of(exec, value);
  const stowi_exec_value_place* place = &exec->places[value];
  *out_parent = facts->parent;
  *out_distance = facts->distance;
  return !place->has_slot && !place->is_bound && facts->bytes != 0 && is_view(exec, value) &&
         stow_plan_root(exec->plan, value) != value;
}

// Operands come before their views, so that one walk reaches views of views.
void stowi_exec_follow(stow_exec* exec) {
  for (stow_value value = 0; exec->is_moved && value < exec->program->value_count; ++value) {
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
  unsigned char* data = (unsigned char*)exec->frame.tensors[value].data;
  return data == NULL ? NULL : data + total;
}

// What neither the plan nor the caller gives bytes to: a fault of the plan's, which a check has
// passed.
static stow_status check_reachable(stow_exec* exec, stow_value value, stow_diag* diag) {
  const stowi_exec_value* facts = facts_of(exec, value);
  if (exec->places[value].has_slot || facts->is_boundary || facts->is_output || facts->bytes == 0 ||
      (stow_plan_root(exec->plan, value) != value && is_view(exec, value))) {
    return STOW_OK;
  }
  return stowi_fail(diag, STOW_ERR_UNSUPPORTED, "%s has no slot in the plan",
                    stowi_exec_words_value(exec->graph, value).text);
}

// Plans may count more bytes per element than there are; a view that begins inside its operand is
// then not where kernels look for it.
static stow_status check_view(stow_exec* exec, stow_value value, stow_diag* diag) {
  const stowi_exec_value* facts = facts_of(exec, value);
  stow_value parent = facts->parent;
  stow_slot slot, from;
  uint64_t pitch;
  if (!is_view(exec, value) || !stow_plan_value_slot(exec->plan, value, &slot) ||
      exec->program->steps[stow_graph_producer(exec->graph, value)].is_bounded ||
      !stow_plan_value_slot(exec->plan, parent, &from) || slot.size == 0 ||
      stow_plan_root(exec->plan, value) != stow_plan_root(exec->plan, parent) ||
      stowi_plan_rows(exec->plan, parent, &pitch) > 1 ||
      slot.offset == from.offset + facts->distance) {
    return STOW_OK;
  }
  return stowi_fail(diag, STOW_ERR_UNSUPPORTED,
                    "%s begins %" PRIu64 " bytes into %s, its elements %" PRIu64
                    ": the plan assumes a different element width",
                    stowi_exec_words_value(exec->graph, value).text, slot.offset - from.offset,
                    stowi_exec_words_value(exec->graph, parent).text, facts->distance);
}

// ---------------------------------------------------------------------------------------------
// Weights

// Params and constants with data but no slot whose data cannot be used where it lies.
static bool needs_copy(const stow_exec* exec, stow_value value) {
  const stowi_exec_value* facts = facts_of(exec, value);
  const stowi_exec_value_place* place = &exec->places[value];
  size_t alignment = stowi_exec_dtype_alignment(facts->type->dtype);
  return facts->is_boundary && place->source != NULL && !place->has_slot && facts->bytes != 0 &&
         facts->packed_bytes == 0 &&
         (facts->is_input || (facts->needs_alignment && (uintptr_t)place->source % alignment != 0));
}

static stow_status make_weights(stow_exec* exec, stow_diag* diag) {
  uint64_t total = 0;
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    if (needs_copy(exec, value) && (!stowi_add_u64(total, facts_of(exec, value)->bytes, &total) ||
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

static void put(stow_exec* exec, stow_value value, stowi_exec_weights copied) {
  stowi_exec_value_place* place = &exec->places[value];
  size_t bytes = (size_t)facts_of(exec, value)->bytes;
  void* to = tensor_of(exec, value)->data;
  if (bytes != 0 && to != place->source) {
    stowi_exec_copy_weight(copied, value, to, place->source, bytes);
  }
  place->is_set = true;
}

// What is packed has no other place, though the plan may give it a slot.
static void put_packed(stow_exec* exec, stow_value value) {
  const void* data = stowi_exec_packed_data(exec->prepared, value);
  memcpy(&tensor_of(exec, value)->data, &data, sizeof(data));
  exec->places[value].is_set = true;
  exec->places[value].is_consumed = false;
}

static const stowi_exec_weights nobody = {NULL, NULL, NULL};

static void put_weights(stow_exec* exec) {
  stowi_exec_weights copied = {NULL, exec->options.on_copied, exec->options.user};
  unsigned char* at = exec->weights;
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    const stowi_exec_value* facts = facts_of(exec, value);
    const stowi_exec_value_place* place = &exec->places[value];
    if (facts->packed_bytes != 0) {
      put_packed(exec, value);
      continue;
    }
    if (!facts->is_boundary || place->source == NULL) {
      continue;
    }
    stow_tensor* tensor = tensor_of(exec, value);
    if (needs_copy(exec, value)) {
      tensor->data = at;
      at += (facts->bytes + STOWI_EXEC_WEIGHT_ALIGNMENT - 1) / STOWI_EXEC_WEIGHT_ALIGNMENT *
            STOWI_EXEC_WEIGHT_ALIGNMENT;
    } else if (!place->has_slot && facts->bytes != 0) {
      memcpy(&tensor->data, &place->source, sizeof(tensor->data));
    }
    put(exec, value, facts->is_input ? nobody : copied);
  }
}

static void clear_state(stow_exec* exec) {
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    stow_slot slot;
    if (stowi_effects_state(exec->prepared->effects, value) &&
        !facts_of(exec, value)->is_boundary && stow_plan_value_slot(exec->plan, value, &slot)) {
      memset(exec->base + slot.offset, 0, (size_t)slot.size);
    }
  }
}

stow_status stowi_exec_place(stow_exec* exec, stow_diag* diag) {
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    STOW_TRY(describe(exec, value, diag));
  }
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
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

// What the caller bound must have room for the present dims.
static void check_bound(stow_exec* exec, stow_value value) {
  stowi_exec_value_place* place = &exec->places[value];
  if (place->is_bound && place->bound_size < facts_of(exec, value)->bytes) {
    place->is_bound = place->is_set = false;
  }
}

// A weight that is not in the arena.
static bool is_staying(const stow_exec* exec, stow_value value) {
  const stowi_exec_value* facts = facts_of(exec, value);
  bool is_weight = facts->is_boundary && !facts->is_input;
  return facts->packed_bytes != 0 || (is_weight && !exec->places[value].has_slot);
}

stow_status stowi_exec_place_again(stow_exec* exec, stow_diag* diag) {
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    const stowi_exec_value* facts = facts_of(exec, value);
    stowi_exec_value_place* place = &exec->places[value];
    if (is_staying(exec, value)) {
      continue;
    }
    check_bound(exec, value);
    STOW_TRY(put_in_slot(exec, value, diag));
    place->is_consumed = false;
    if (facts->is_input && place->has_slot) {
      place->is_set = false;
    }
  }
  mark_consumed(exec);
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    if (facts_of(exec, value)->is_input && exec->places[value].has_slot &&
        exec->places[value].source != NULL) {
      put(exec, value, nobody);
    }
  }
  exec->is_moved = true;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The same with numbers that were noted

bool stowi_exec_is_open(const stow_exec* exec, stow_value value) {
  const stowi_exec_value* facts = facts_of(exec, value);
  return !is_staying(exec, value) && (facts->is_boundary || facts->is_output || facts->is_bounded);
}

void stowi_exec_place_name(stow_exec* exec, stowi_exec_changes* changes) {
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    const stowi_exec_value* facts = facts_of(exec, value);
    stowi_exec_value_place* place = &exec->places[value];
    stow_tensor* tensor = tensor_of(exec, value);
    stowi_exec_changes_name(changes, &place->has_slot, sizeof(place->has_slot));
    stowi_exec_changes_name(changes, &place->is_consumed, sizeof(place->is_consumed));
    if (stowi_exec_is_open(exec, value)) {
      stowi_exec_changes_name(changes, &place->offset, sizeof(place->offset));
      continue;
    }
    if (!is_staying(exec, value)) {
      stowi_exec_changes_name(changes, (void*)&tensor->data, sizeof(tensor->data));
    }
    if (!facts->is_steady) {
      stowi_exec_changes_name(changes, tensor->dims, tensor->rank * sizeof(tensor->dims[0]));
    }
  }
}

void stowi_exec_place_open(stow_exec* exec, const stow_value* open, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    stow_value value = open[i];
    const stowi_exec_value* facts = facts_of(exec, value);
    stowi_exec_value_place* place = &exec->places[value];
    stow_tensor* tensor = tensor_of(exec, value);
    if (!facts->is_steady) {
      memcpy(tensor->dims, facts->type->dims, tensor->rank * sizeof(tensor->dims[0]));
    }
    check_bound(exec, value);
    put_in_place(exec, value);
    if (facts->is_input && place->has_slot) {
      place->is_set = false;
      if (place->source != NULL) {
        put(exec, value, nobody);
      }
    }
  }
  exec->is_moved = true;
}

// ---------------------------------------------------------------------------------------------
// Around a run

stow_status stowi_exec_require(stow_exec* exec, stow_diag* diag) {
  if (exec->range != NULL && exec->range->point == SIZE_MAX) {
    return stowi_fail(diag, STOW_ERR_NOT_FOUND,
                      "the executor has no shape, since setting one failed; set it again");
  }
  stowi_exec_follow(exec);
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    const stowi_exec_value* facts = facts_of(exec, value);
    stowi_exec_value_place* place = &exec->places[value];
    if (facts->is_boundary && !place->is_set && place->source != NULL && place->is_consumed) {
      put(exec, value, nobody);
    }
    bool needs = facts->is_boundary ? !place->is_set
                                    : facts->is_output && tensor_of(exec, value)->data == NULL;
    if (needs && facts->bytes != 0) {
      const char* what = facts->is_input ? "input" : facts->is_boundary ? "param" : "output";
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
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    stowi_exec_value_place* place = &exec->places[value];
    place->is_set = place->is_set && !(facts_of(exec, value)->is_boundary && place->is_consumed);
  }
}

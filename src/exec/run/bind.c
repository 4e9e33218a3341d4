// What a caller gives an executor and takes from it: memory, inputs, values.
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "exec/run/exec.h"

static stow_status fail_value(const stow_exec* exec, stow_value value, stow_status status,
                              const char* what, stow_diag* diag) {
  stowi_fail(diag, status, "%s: %s", stowi_exec_words_value(exec->graph, value).text, what);
  stowi_diag_value(diag, value);
  return status;
}

stow_status stowi_exec_idle(const stow_exec* exec, const char* what, stow_diag* diag) {
  return exec->is_running ? stowi_fail(diag, STOW_ERR_CONFLICT,
                                       "%s was called inside a run of the same executor (from "
                                       "on_step or a kernel)",
                                       what)
                          : STOW_OK;
}

static stow_status check_value(const stow_exec* exec, stow_value value, stow_diag* diag) {
  if (value == STOW_VALUE_NONE) {  // what stow_graph_find gives for a name that is not there
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "no such value; check its name");
  }
  if (value >= exec->program->value_count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "no such value: %%%" PRIu32, value);
  }
  return STOW_OK;
}

stow_status stow_exec_bind(stow_exec* exec, stow_value value, void* data, size_t size,
                           stow_diag* diag) {
  STOW_TRY(stowi_exec_idle(exec, "stow_exec_bind", diag));
  STOW_TRY(check_value(exec, value, diag));
  const stowi_exec_value* facts = &exec->program->values[value];
  stowi_exec_value_place* place = &exec->places[value];
  stow_tensor* tensor = &exec->frame.tensors[value];
  if (!facts->is_boundary && !facts->is_output) {
    return fail_value(exec, value, STOW_ERR_INVALID_ARGUMENT,
                      "only inputs, params, constants and outputs can be bound", diag);
  }
  if (place->has_slot) {
    return fail_value(exec, value, STOW_ERR_INVALID_ARGUMENT,
                      "has a slot in the arena and cannot be bound", diag);
  }
  if (facts->packed_bytes != 0) {
    return fail_value(exec, value, STOW_ERR_INVALID_ARGUMENT,
                      "was packed and cannot be bound; prepare with STOW_PACK_NEVER", diag);
  }
  for (size_t i = 0; i < exec->carry_count; ++i) {
    if (exec->carries[i].input == value || exec->carries[i].output == value) {
      return fail_value(exec, value, STOW_ERR_INVALID_ARGUMENT,
                        "is carried over from run to run and cannot be bound", diag);
    }
  }
  size_t alignment = stowi_exec_dtype_alignment(tensor->dtype);
  if (size < facts->bytes || (data == NULL && facts->bytes != 0)) {
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%s needs %" PRIu64 " bytes, but %zu were given",
               stowi_exec_words_value(exec->graph, value).text, facts->bytes,
               data == NULL ? 0 : size);
    stowi_diag_value(diag, value);
    return STOW_ERR_INVALID_ARGUMENT;
  }
  if ((uintptr_t)data % alignment != 0) {
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
               "%s needs data aligned to %zu bytes, but it is aligned to %zu",
               stowi_exec_words_value(exec->graph, value).text, alignment,
               (size_t)((uintptr_t)data & (~(uintptr_t)data + 1)));
    stowi_diag_value(diag, value);
    return STOW_ERR_INVALID_ARGUMENT;
  }
  exec->is_moved = exec->is_moved || !place->is_bound || tensor->data != data;
  *tensor = stowi_exec_tensor_of(facts->type);
  tensor->data = data == NULL ? stowi_exec_nothing : data;
  place->is_set = true;
  place->is_bound = true;
  place->bound_size = size;
  return STOW_OK;
}

// Whether |tensor| fits the value's type: the same, or with smaller dims where they are bounds.
static bool is_fitting(const stow_exec* exec, stow_value value, const stow_tensor* tensor) {
  const stow_type* type = exec->program->values[value].type;
  if (tensor->dtype != type->dtype || tensor->rank != type->rank) {
    return false;
  }
  for (uint32_t i = 0; i < type->rank; ++i) {
    bool is_smaller = stow_graph_is_bounded_dim(exec->graph, value, i) && tensor->dims[i] >= 0 &&
                      tensor->dims[i] < type->dims[i];
    if (tensor->dims[i] != type->dims[i] && !is_smaller) {
      return false;
    }
  }
  return true;
}

// Its dims are those of a type that has a size.
static bool is_dense(const stow_tensor* tensor) {
  bool is_unset = true;
  bool is_counted = true;
  uint64_t stride = 1;
  for (uint32_t i = tensor->rank; i-- > 0;) {
    is_unset = is_unset && tensor->strides[i] == 0;
    is_counted = is_counted && (uint64_t)tensor->strides[i] == stride;
    stride *= (uint64_t)tensor->dims[i];
  }
  return is_unset || is_counted;
}

static stow_status check_settable(const stow_exec* exec, stow_value value, stow_diag* diag) {
  const stowi_exec_value* facts = &exec->program->values[value];
  if (!facts->is_boundary || (!facts->is_input && exec->places[value].source != NULL)) {
    return fail_value(exec, value, STOW_ERR_INVALID_ARGUMENT,
                      facts->is_boundary ? "already has its data"
                                         : "only inputs, and params without data, can be set",
                      diag);
  }
  if (exec->frame.tensors[value].data == NULL && facts->bytes != 0) {
    return fail_value(exec, value, STOW_ERR_NOT_FOUND, "has no slot; bind it to memory first",
                      diag);
  }
  return STOW_OK;
}

stow_status stow_exec_input(stow_exec* exec, stow_value value, const stow_tensor* tensor,
                            stow_diag* diag) {
  STOW_TRY(stowi_exec_idle(exec, "stow_exec_input", diag));
  STOW_TRY(check_value(exec, value, diag));
  STOW_TRY(check_settable(exec, value, diag));
  stowi_exec_value_place* place = &exec->places[value];
  stow_tensor* to = &exec->frame.tensors[value];
  stow_status status = STOW_OK;
  bool is_fitting_now = is_fitting(exec, value, tensor);
  bool may_move =
      exec->range != NULL && (!is_fitting_now || (exec->carry_count != 0 && !exec->range->is_told));
  if (may_move && stowi_exec_range_follow(exec, value, tensor, &status, diag)) {
    STOW_TRY(status);
    STOW_TRY(check_settable(exec, value, diag));
    is_fitting_now = is_fitting(exec, value, tensor);
  }
  if (!is_fitting_now) {
    const stowi_exec_value* facts = &exec->program->values[value];
    stow_tensor needed = stowi_exec_tensor_of(facts->type);
    stowi_fail(diag, STOW_ERR_TYPE, "%s is %s%s, but %s was given",
               stowi_exec_words_value(exec->graph, value).text, facts->is_bounded ? "at most " : "",
               stowi_exec_words_tensor(&needed).text, stowi_exec_words_tensor(tensor).text);
    stowi_diag_value(diag, value);
    return STOW_ERR_TYPE;
  }
  if (!is_dense(tensor)) {
    return fail_value(exec, value, STOW_ERR_UNSUPPORTED,
                      "its strides are not those of a dense tensor", diag);
  }
  size_t bytes = stow_tensor_bytes(tensor);
  if (bytes != 0 && tensor->data == NULL) {
    return fail_value(exec, value, STOW_ERR_INVALID_ARGUMENT, "data is missing", diag);
  }
  if (place->source != NULL && bytes != 0 && memcmp(place->source, tensor->data, bytes) != 0) {
    return fail_value(exec, value, STOW_ERR_CONFLICT,
                      "the graph was built for a different value of this input", diag);
  }
  stowi_exec_carry_cancel(exec, value);
  if (bytes != 0) {
    memmove(to->data, tensor->data, bytes);
  }
  memcpy(to->dims, tensor->dims, tensor->rank * sizeof(to->dims[0]));
  place->is_set = true;
  return STOW_OK;
}

stow_status stow_exec_fill(stow_exec* exec, stow_value value, stow_diag* diag,
                           stow_tensor* out_tensor) {
  *out_tensor = (stow_tensor){0};
  STOW_TRY(stowi_exec_idle(exec, "stow_exec_fill", diag));
  STOW_TRY(check_value(exec, value, diag));
  STOW_TRY(check_settable(exec, value, diag));
  stowi_exec_carry_cancel(exec, value);
  *out_tensor = exec->frame.tensors[value];
  exec->places[value].is_set = true;
  return STOW_OK;
}

stow_status stow_exec_value(const stow_exec* exec, stow_value value, stow_diag* diag,
                            stow_tensor* out_tensor) {
  *out_tensor = (stow_tensor){0};
  STOW_TRY(check_value(exec, value, diag));
  void* data = stowi_exec_data(exec, value);
  if (exec->program->values[value].packed_bytes != 0) {
    memcpy(&data, &exec->places[value].source, sizeof(data));
  }
  if (data == NULL && exec->program->values[value].bytes != 0) {
    return fail_value(exec, value, STOW_ERR_NOT_FOUND, "is not bound", diag);
  }
  *out_tensor = exec->frame.tensors[value];
  out_tensor->data = data;
  return STOW_OK;
}

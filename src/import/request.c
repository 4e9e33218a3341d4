// What a caller asks of an import. Everything is copied, so that a request outlives its arguments
// and serves many imports. Few entries: lists, searched by name.
#include <string.h>

#include "import/importer.h"

stow_status stow_import_request_create(stow_allocator allocator, stow_diag* diag,
                                       stow_import_request** out_request) {
  *out_request = STOWI_NEW(allocator, stow_import_request);
  STOW_TRY(stowi_need_memory(*out_request != NULL, diag));
  (*out_request)->allocator = allocator;
  return STOW_OK;
}

static void free_str(stow_allocator allocator, stow_str text) {
  stowi_free(allocator, (void*)(uintptr_t)text.data, text.size + 1, 1);
}

static void free_value(stow_allocator allocator, stowi_import_asked_value* value) {
  stowi_free(allocator, value->data, value->count, value->element_size);
}

void stow_import_request_destroy(stow_import_request* request) {
  if (request == NULL) {
    return;
  }
  stow_allocator allocator = request->allocator;
  for (size_t i = 0; i < request->binds.count; ++i) {
    free_str(allocator, request->binds.data[i].symbol);
  }
  for (size_t i = 0; i < request->shapes.count; ++i) {
    free_str(allocator, request->shapes.data[i].tensor);
  }
  for (size_t i = 0; i < request->values.count; ++i) {
    free_str(allocator, request->values.data[i].input);
    free_value(allocator, &request->values.data[i]);
  }
  STOWI_VEC_FREE(allocator, &request->binds);
  STOWI_VEC_FREE(allocator, &request->shapes);
  STOWI_VEC_FREE(allocator, &request->values);
  STOWI_DELETE(allocator, request);
}

static stow_status copy_str(stow_allocator allocator, stow_str text, stow_str* out) {
  char* copy = text.size == SIZE_MAX ? NULL : stowi_alloc(allocator, text.size + 1, 1);
  if (copy == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  memcpy(copy, text.data, text.size);
  copy[text.size] = '\0';
  *out = (stow_str){copy, text.size};
  return STOW_OK;
}

static stow_status check_name(stow_str name, const char* what, stow_diag* diag) {
  return name.size != 0 ? STOW_OK
                        : stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%s has no name", what);
}

static stow_status fail_twice(stow_str name, stow_diag* diag) {
  return stowi_fail(diag, STOW_ERR_DUPLICATE, "\"%.*s\" is given twice", STOWI_STR_ARG(name));
}

// ---------------------------------------------------------------------------------------------
// Symbols

// Takes over |bind| with a copy of the name.
static stow_status add_bind(stow_import_request* request, stow_str symbol,
                            stowi_import_asked_bind bind, stow_diag* diag) {
  for (size_t i = 0; i < request->binds.count; ++i) {
    if (stow_str_equal(request->binds.data[i].symbol, symbol)) {
      return fail_twice(symbol, diag);
    }
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(request->allocator, &request->binds, 1) == STOW_OK &&
                                 copy_str(request->allocator, symbol, &bind.symbol) == STOW_OK,
                             diag));
  request->binds.data[request->binds.count++] = bind;
  return STOW_OK;
}

stow_status stow_import_request_bind(stow_import_request* request, stow_str symbol, int64_t value,
                                     stow_diag* diag) {
  STOW_TRY(check_name(symbol, "a symbol", diag));
  if (value < 0) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "dim \"%.*s\" cannot be %lld",
                      STOWI_STR_ARG(symbol), (long long)value);
  }
  return add_bind(request, symbol, (stowi_import_asked_bind){.value = value}, diag);
}

stow_status stow_import_request_bind_range(stow_import_request* request, stow_str symbol,
                                           const stow_dim_range* range, stow_diag* diag) {
  STOW_TRY(check_name(symbol, "a symbol", diag));
  stowi_import_asked_bind bind = {.value = -1, .range = *range};
  if (!stow_dim_range_trim(&bind.range)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "dim \"%.*s\" cannot be %lld..%lld/%lld: no value, or one above %lld",
                      STOWI_STR_ARG(symbol), (long long)range->min, (long long)range->max,
                      (long long)range->step, (long long)STOW_DIM_RANGE_MAX);
  }
  bind.value = bind.range.min == bind.range.max ? bind.range.min : -1;
  return add_bind(request, symbol, bind, diag);
}

stow_status stow_import_request_bind_rest(stow_import_request* request, int64_t value,
                                          stow_diag* diag) {
  if (value < 0) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "a dim cannot be %lld", (long long)value);
  }
  request->has_rest = true;
  request->rest = value;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Values

// Takes over |value| but for its name and data, which are copied.
static stow_status add_value(stow_import_request* request, stow_str input,
                             stowi_import_asked_value value, const void* data, stow_diag* diag) {
  STOW_TRY(check_name(input, "an input", diag));
  for (size_t i = 0; i < request->values.count; ++i) {
    if (stow_str_equal(request->values.data[i].input, input)) {
      return fail_twice(input, diag);
    }
  }
  stow_allocator allocator = request->allocator;
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(allocator, &request->values, 1) == STOW_OK &&
                                 copy_str(allocator, input, &value.input) == STOW_OK,
                             diag));
  value.data = stowi_alloc(allocator, value.count, value.element_size);
  if (value.data == NULL) {
    free_str(allocator, value.input);
    return stowi_fail_memory(diag);
  }
  if (value.count != 0) {
    memcpy(value.data, data, value.count * value.element_size);
  }
  request->values.data[request->values.count++] = value;
  return STOW_OK;
}

stow_status stow_import_request_value(stow_import_request* request, stow_str input,
                                      const int64_t* numbers, size_t count, stow_diag* diag) {
  stowi_import_asked_value value = {.count = count, .element_size = sizeof(int64_t)};
  return add_value(request, input, value, numbers, diag);
}

stow_status stow_import_request_value_bytes(stow_import_request* request, stow_str input,
                                            const stow_type* type, const void* bytes, size_t size,
                                            stow_diag* diag) {
  uint64_t needed;
  stow_status status = type->rank > STOW_MAX_RANK || (unsigned)type->dtype >= STOW_DTYPE_COUNT
                           ? STOW_ERR_INVALID_ARGUMENT
                           : stow_type_bytes(type, &needed);
  if (status != STOW_OK) {
    return stowi_fail(diag, status, "the type given for \"%.*s\" has no size in bytes",
                      STOWI_STR_ARG(input));
  }
  if (needed != size) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "\"%.*s\" is given %zu bytes, its type needs %llu", STOWI_STR_ARG(input),
                      size, (unsigned long long)needed);
  }
  stowi_import_asked_value value = {
      .has_type = true, .type = *type, .count = size, .element_size = 1};
  return add_value(request, input, value, bytes, diag);
}

// ---------------------------------------------------------------------------------------------
// Shapes

stow_status stow_import_request_shape(stow_import_request* request, stow_str tensor,
                                      const int64_t* dims, size_t rank, stow_diag* diag) {
  STOW_TRY(check_name(tensor, "a tensor", diag));
  if (rank > STOW_MAX_RANK) {
    return stowi_fail(diag, STOW_ERR_LIMIT, "\"%.*s\" is given %zu dims; at most %d are allowed",
                      STOWI_STR_ARG(tensor), rank, STOW_MAX_RANK);
  }
  stowi_import_asked_shape shape = {.rank = rank};
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] < 0) {
      return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "dim %zu of \"%.*s\" cannot be %lld", i,
                        STOWI_STR_ARG(tensor), (long long)dims[i]);
    }
    shape.dims[i] = dims[i];
  }
  for (size_t i = 0; i < request->shapes.count; ++i) {
    if (stow_str_equal(request->shapes.data[i].tensor, tensor)) {
      return fail_twice(tensor, diag);
    }
  }
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(request->allocator, &request->shapes, 1) == STOW_OK &&
                            copy_str(request->allocator, tensor, &shape.tensor) == STOW_OK,
                        diag));
  request->shapes.data[request->shapes.count++] = shape;
  return STOW_OK;
}

void stow_import_request_set_flags(stow_import_request* request, uint32_t flags) {
  request->flags = flags;
}

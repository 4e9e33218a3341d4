// Diagnostics are caller-owned structs, not thread-local state: a library must not surprise its
// host with hidden storage. Messages are truncated rather than allocated, so that reporting "out of
// memory" never needs memory.
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NO_ID UINT32_MAX

// A caller built against an older header has a smaller struct, which may end after |message|.
static bool is_usable(const stow_diag* diag) {
  return diag != NULL && diag->struct_size >= offsetof(stow_diag, message) + STOW_DIAG_MESSAGE_SIZE;
}

void stow_diag_defaults(stow_diag* diag) {
  static const stow_diag defaults = {.status = STOW_OK, .node = NO_ID, .value = NO_ID};
  stowi_init_struct(diag, &defaults, sizeof(defaults));
}

static bool has_split(const stow_diag* diag) {
  return is_usable(diag) && diag->struct_size >= sizeof(*diag);
}

stow_status stowi_vfail(stow_diag* diag, stow_status status, const char* format,
                        va_list arguments) {
  if (is_usable(diag)) {
    diag->status = status;
    diag->line = diag->column = 0;
    diag->node = diag->value = NO_ID;
    vsnprintf(diag->message, sizeof(diag->message), format, arguments);
  }
  if (has_split(diag)) {
    diag->split_symbol[0] = '\0';
    diag->split_at = 0;
  }
  return status;
}

stow_status stowi_fail(stow_diag* diag, stow_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  stowi_vfail(diag, status, format, arguments);
  va_end(arguments);
  return status;
}

stow_status stowi_fail_memory(stow_diag* diag) {
  return stowi_fail(diag, STOW_ERR_OUT_OF_MEMORY, "out of memory");
}

void stowi_diag_at(stow_diag* diag, uint32_t line, uint32_t column) {
  if (is_usable(diag)) {
    diag->line = line;
    diag->column = column;
  }
}

void stowi_diag_node(stow_diag* diag, uint32_t node) {
  if (is_usable(diag)) {
    diag->node = node;
  }
}

void stowi_diag_value(stow_diag* diag, uint32_t value) {
  if (is_usable(diag)) {
    diag->value = value;
  }
}

void stowi_diag_split(stow_diag* diag, stow_str symbol, int64_t at) {
  if (has_split(diag) && symbol.size < sizeof(diag->split_symbol)) {
    memcpy(diag->split_symbol, symbol.data, symbol.size);
    diag->split_symbol[symbol.size] = '\0';
    diag->split_at = at;
  }
}

void stowi_diag_keep_split(stow_diag* diag, const stow_diag* from) {
  if (has_split(from)) {
    stowi_diag_split(diag, stow_str_of(from->split_symbol), from->split_at);
  }
}

void stowi_diag_append(stow_diag* diag, const char* format, ...) {
  if (!is_usable(diag)) {
    return;
  }
  size_t used = strlen(diag->message);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(diag->message + used, sizeof(diag->message) - used, format, arguments);
  va_end(arguments);
}

stow_status stowi_load_options(void* full, const void* given, size_t known, const char* name,
                               stow_diag* diag) {
  return given == NULL ? STOW_OK : stowi_load_struct(full, given, known, name, diag);
}

stow_status stowi_load_struct(void* full, const void* given, size_t known, const char* name,
                              stow_diag* diag) {
  if (given == NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%s is NULL", name);
  }
  size_t struct_size;
  memcpy(&struct_size, given, sizeof(struct_size));
  if (struct_size < sizeof(struct_size) || struct_size > known) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "%s.struct_size is %zu, expected %zu to %zu; initialise it with %s_init",
                      name, struct_size, sizeof(struct_size), known, name);
  }
  memcpy(full, given, struct_size);
  memcpy(full, &known, sizeof(known));
  return STOW_OK;
}

stow_status stowi_fill_struct(void* out, const void* full, size_t known, const char* name,
                              stow_diag* diag) {
  size_t size;
  memcpy(&size, out, sizeof(size));
  if (size < sizeof(size) || size > known) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%s.struct_size is %zu, expected %zu to %zu",
                      name, size, sizeof(size), known);
  }
  memcpy(out, full, size);
  memcpy(out, &size, sizeof(size));
  return STOW_OK;
}

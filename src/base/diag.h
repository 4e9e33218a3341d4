// Filling a caller's diagnostic.
#ifndef STOWAGE_SRC_BASE_DIAG_H_
#define STOWAGE_SRC_BASE_DIAG_H_

#include <stdarg.h>
#include <string.h>

#include "base/shared.h"

// Returns from the enclosing function if |expression| is not STOW_OK. Only for functions that own
// nothing yet.
#define STOW_TRY(expression)                    \
  do {                                          \
    stow_status stow_try_status = (expression); \
    if (stow_try_status != STOW_OK) {           \
      return stow_try_status;                   \
    }                                           \
  } while (0)

// Writes status and message into |diag| (may be NULL), clears position and ids, and returns
// |status|. No %f and the like: they obey the locale.
STOWI_SHARED stow_status stowi_fail(stow_diag* diag, stow_status status, const char* format, ...)
    STOW_PRINTF_LIKE(3, 4);
// The same, for functions that take a format themselves.
STOWI_SHARED stow_status stowi_vfail(stow_diag* diag, stow_status status, const char* format,
                                     va_list arguments) STOW_PRINTF_LIKE(3, 0);
// STOW_ERR_OUT_OF_MEMORY with the standard message.
STOWI_SHARED stow_status stowi_fail_memory(stow_diag* diag);
// The same unless |got|.
static inline stow_status stowi_need_memory(bool got, stow_diag* diag) {
  return got ? STOW_OK : stowi_fail_memory(diag);
}

// Adds to a diagnostic that has been filled. |diag| may be NULL.
STOWI_SHARED void stowi_diag_at(stow_diag* diag, uint32_t line, uint32_t column);
STOWI_SHARED void stowi_diag_node(stow_diag* diag, uint32_t node);
STOWI_SHARED void stowi_diag_value(stow_diag* diag, uint32_t value);
// Longer names than the diagnostic has room for are left out.
STOWI_SHARED void stowi_diag_split(stow_diag* diag, stow_str symbol, int64_t at);
// Takes over that of another diagnostic, whose message became part of this one's.
STOWI_SHARED void stowi_diag_keep_split(stow_diag* diag, const stow_diag* from);
// Appends to the message.
STOWI_SHARED void stowi_diag_append(stow_diag* diag, const char* format, ...)
    STOW_PRINTF_LIKE(2, 3);

// Reads a caller's options or descriptor, whose first field is its struct_size, into |full|, which
// holds the defaults and is |known| bytes large. A caller built against an earlier header has a
// shorter struct: it gets the defaults for the rest. STOW_ERR_INVALID_ARGUMENT where |given| is
// NULL or its struct_size is less than that field or more than |known|. Options, unlike
// descriptors, may be NULL: the defaults.
STOWI_SHARED stow_status stowi_load_options(void* full, const void* given, size_t known,
                                            const char* name, stow_diag* diag);
STOWI_SHARED stow_status stowi_load_struct(void* full, const void* given, size_t known,
                                           const char* name, stow_diag* diag);

// Writes defaults from |full|, of |known| bytes, to a caller's struct: as much as its struct_size,
// which the caller sets, has room for. What a newer caller has beyond |known| becomes 0, and such a
// struct is refused where it is used.
static inline void stowi_init_struct(void* out, const void* full, size_t known) {
  size_t size;
  memcpy(&size, out, sizeof(size));
  if (size > known) {
    memset((char*)out + known, 0, size - known);
  }
  memcpy(out, full, size < known ? size : known);
  memcpy(out, &size, sizeof(size));
}

// Fills a caller's result struct from |full|, of |known| bytes: as much as its struct_size, which
// the caller sets, has room for.
STOWI_SHARED stow_status stowi_fill_struct(void* out, const void* full, size_t known,
                                           const char* name, stow_diag* diag);

// Both arguments for "%.*s" of a string that may be long, cut to leave room for the rest of the
// message.
#define STOWI_STR_MAX 200
#define STOWI_STR_ARG(string) \
  (int)((string).size < STOWI_STR_MAX ? (string).size : STOWI_STR_MAX), (string).data

#endif  // STOWAGE_SRC_BASE_DIAG_H_

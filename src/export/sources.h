// The C files that exported programs are made of, embedded at build time (cmake/Embed.cmake).
#ifndef STOWAGE_SRC_EXPORT_SOURCES_H_
#define STOWAGE_SRC_EXPORT_SOURCES_H_

#include "base/alloc.h"

typedef struct stowi_export_sources_row {
  const char* name;  // its path below the program's folder
  const char* text;  // also followed by a NUL
  size_t size;
} stowi_export_sources_row;

// Sorted by name.
extern const stowi_export_sources_row stowi_export_sources[];
extern const size_t stowi_export_sources_count;

// A function that files may call.
typedef struct stowi_export_definition {
  const char* name;
  size_t size;
  size_t row;
} stowi_export_definition;

// Which of them a program needs.
typedef struct stowi_export_set {
  stow_allocator allocator;
  bool* has;                                       // by row
  STOWI_VEC(stowi_export_definition) definitions;  // by name
} stowi_export_set;

// STOW_ERR_OUT_OF_MEMORY. Freed also after that.
stow_status stowi_export_set_init(stowi_export_set* set, stow_allocator allocator);
void stowi_export_set_free(stowi_export_set* set);
// Adds the file |name| and all that it stands on: what it includes, the x.c beside each x.h, and
// the files that define functions it calls. False where there is no such file.
bool stowi_export_set_add(stowi_export_set* set, const char* name);
// The same for the file that defines the kernel of |op|, `CONV`. False where none does.
bool stowi_export_set_add_kernel(stowi_export_set* set, const char* op);

#endif  // STOWAGE_SRC_EXPORT_SOURCES_H_

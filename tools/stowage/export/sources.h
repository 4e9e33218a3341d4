// The C files that exported programs are made of, embedded at build time (cmake/Embed.cmake).
#ifndef STOWAGE_TOOLS_EXPORT_SOURCES_H_
#define STOWAGE_TOOLS_EXPORT_SOURCES_H_

#include <stdbool.h>
#include <stddef.h>

#include "arguments/list.h"

typedef struct cli_sources_row {
  const char* name;  // its path below the program's folder
  const char* text;  // also followed by a NUL
  size_t size;
} cli_sources_row;

// Sorted by name.
extern const cli_sources_row cli_sources[];
extern const size_t cli_sources_count;

// Which of them a program needs.
typedef struct cli_source_set {
  bool* has;             // by row
  cli_list definitions;  // of functions, by name
} cli_source_set;

// False where memory is out.
bool cli_source_set_create(cli_source_set* set);
void cli_source_set_free(cli_source_set* set);
// Adds the file |name| and all that it stands on: what it includes, the x.c beside each x.h, and
// the files that define functions it calls. False where there is no such file.
bool cli_source_set_add(cli_source_set* set, const char* name);
// The same for the file that defines the kernel of |op|, `CONV`. False where none does.
bool cli_source_set_add_kernel(cli_source_set* set, const char* op);

#endif  // STOWAGE_TOOLS_EXPORT_SOURCES_H_

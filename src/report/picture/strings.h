// Strings that are kept once, known by small numbers in the order in which they came.
#ifndef STOWAGE_SRC_REPORT_PICTURE_STRINGS_H_
#define STOWAGE_SRC_REPORT_PICTURE_STRINGS_H_

#include "base/alloc.h"
#include "base/hash.h"

#define STOWI_STRING_NONE UINT32_MAX

typedef struct stowi_strings {
  stow_string bytes;
  STOWI_VEC(size_t) ends;  // where each ends in |bytes|
  stowi_index index;
  bool broken;  // memory was out on the way
} stowi_strings;

void stowi_strings_init(stowi_strings* strings, stow_allocator allocator);
void stowi_strings_free(stowi_strings* strings);
// STOWI_STRING_NONE where memory is out.
uint32_t stowi_strings_intern(stowi_strings* strings, stow_str text);
// Empty for STOWI_STRING_NONE. Valid until the next one is added.
stow_str stowi_strings_at(const stowi_strings* strings, uint32_t id);

#endif  // STOWAGE_SRC_REPORT_PICTURE_STRINGS_H_

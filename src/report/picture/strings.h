// Strings that are kept once, known by small numbers in the order in which they came.
#ifndef STOWAGE_SRC_REPORT_PICTURE_STRINGS_H_
#define STOWAGE_SRC_REPORT_PICTURE_STRINGS_H_

#include "base/alloc.h"
#include "base/hash.h"

#define STOWI_REPORT_STRING_NONE UINT32_MAX

typedef struct stowi_report_strings {
  stow_string bytes;
  STOWI_VEC(size_t) ends;  // where each ends in |bytes|
  stowi_index index;
  bool broken;  // memory was out on the way
} stowi_report_strings;

void stowi_report_strings_init(stowi_report_strings* strings, stow_allocator allocator);
void stowi_report_strings_free(stowi_report_strings* strings);
// STOWI_REPORT_STRING_NONE where memory is out.
uint32_t stowi_report_strings_intern(stowi_report_strings* strings, stow_str text);
// The same, as another one even if there is an equal one.
uint32_t stowi_report_strings_add(stowi_report_strings* strings, stow_str text);
// Empty for STOWI_REPORT_STRING_NONE. Valid until the next one is added.
stow_str stowi_report_strings_at(const stowi_report_strings* strings, uint32_t id);

#endif  // STOWAGE_SRC_REPORT_PICTURE_STRINGS_H_

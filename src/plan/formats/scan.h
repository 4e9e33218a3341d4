// A cursor over the text of a saved plan. Lines end with LF; every error gives the place, what was
// expected and what was found.
#ifndef STOWAGE_SRC_PLAN_FORMATS_SCAN_H_
#define STOWAGE_SRC_PLAN_FORMATS_SCAN_H_

#include <stowage/base.h>

typedef struct stowi_plan_scan {
  const char* text;
  size_t size;
  size_t at;
  size_t line_at;         // where the line begins
  uint32_t line;          // 1-based
  const char* file_name;  // may be NULL
  stow_diag* diag;
} stowi_plan_scan;

// A place to come back to in an error.
typedef struct stowi_plan_scan_place {
  uint32_t line;
  uint32_t column;
} stowi_plan_scan_place;

void stowi_plan_scan_init(stowi_plan_scan* scan, const char* text, size_t size,
                          const char* file_name, stow_diag* diag);
stowi_plan_scan_place stowi_plan_scan_here(const stowi_plan_scan* scan);
bool stowi_plan_scan_is_at_end(const stowi_plan_scan* scan);

// Fails at |place|.
stow_status stowi_plan_scan_fail(const stowi_plan_scan* scan, stowi_plan_scan_place place,
                                 stow_status status, const char* format, ...)
    STOW_PRINTF_LIKE(4, 5);
// STOW_ERR_SYNTAX: expected |what|, found what is here.
stow_status stowi_plan_scan_expected(const stowi_plan_scan* scan, const char* what);

// Whether |literal| is next.
bool stowi_plan_scan_sees(const stowi_plan_scan* scan, const char* literal);
// Skips |literal| if it is next.
bool stowi_plan_scan_skip(stowi_plan_scan* scan, const char* literal);
stow_status stowi_plan_scan_literal(stowi_plan_scan* scan, const char* literal);
// The LF.
stow_status stowi_plan_scan_end_line(stowi_plan_scan* scan);
// The rest of the line.
stow_str stowi_plan_scan_rest(const stowi_plan_scan* scan);

// A decimal number without leading zeros, at most |max|. Fails where it begins.
stow_status stowi_plan_scan_u64(stowi_plan_scan* scan, uint64_t max, const char* what,
                                uint64_t* out_number);
stow_status stowi_plan_scan_u32(stowi_plan_scan* scan, uint32_t max, const char* what,
                                uint32_t* out_number);
// Exactly 16 lower-case hexadecimal digits.
stow_status stowi_plan_scan_hex(stowi_plan_scan* scan, const char* what, uint64_t* out_number);

#endif  // STOWAGE_SRC_PLAN_FORMATS_SCAN_H_

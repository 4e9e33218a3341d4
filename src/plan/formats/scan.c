// The cursor. Nothing is copied and nothing is skipped silently: there is no white space except
// what a plan itself has.
#include "plan/formats/scan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"

#define MAX_SHOWN 40

void stowi_plan_scan_init(stowi_plan_scan* scan, const char* text, size_t size,
                          const char* file_name, stow_diag* diag) {
  scan->text = text;
  scan->size = size;
  scan->at = 0;
  scan->line_at = 0;
  scan->line = 1;
  scan->file_name = file_name;
  scan->diag = diag;
}

stowi_plan_scan_place stowi_plan_scan_here(const stowi_plan_scan* scan) {
  size_t column = scan->at - scan->line_at + 1;
  stowi_plan_scan_place place = {scan->line, column < UINT32_MAX ? (uint32_t)column : UINT32_MAX};
  return place;
}

bool stowi_plan_scan_is_at_end(const stowi_plan_scan* scan) { return scan->at == scan->size; }

stow_status stowi_plan_scan_fail(const stowi_plan_scan* scan, stowi_plan_scan_place place,
                                 stow_status status, const char* format, ...) {
  char message[STOW_DIAG_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  bool has_file = scan->file_name != NULL;
  stowi_fail(scan->diag, status, "%.400s%s%s", has_file ? scan->file_name : "",
             has_file ? ": " : "", message);
  stowi_diag_at(scan->diag, place.line, place.column);
  return status;
}

stow_str stowi_plan_scan_rest(const stowi_plan_scan* scan) {
  size_t end = scan->at;
  while (end < scan->size && scan->text[end] != '\n') {
    ++end;
  }
  stow_str rest = {scan->text + scan->at, end - scan->at};
  return rest;
}

stow_status stowi_plan_scan_expected(const stowi_plan_scan* scan, const char* what) {
  stowi_plan_scan_place here = stowi_plan_scan_here(scan);
  if (stowi_plan_scan_is_at_end(scan)) {
    return stowi_plan_scan_fail(scan, here, STOW_ERR_SYNTAX,
                                "expected %s, found the end of the text", what);
  }
  if (scan->text[scan->at] == '\n') {
    return stowi_plan_scan_fail(scan, here, STOW_ERR_SYNTAX,
                                "expected %s, found the end of the line", what);
  }
  char shown[MAX_SHOWN + 1];
  // Up to the next blank or MAX_SHOWN bytes, with what is not printable ASCII as `?`.
  size_t size = 0;
  for (size_t i = scan->at; i < scan->size && size < MAX_SHOWN; ++i) {
    char c = scan->text[i];
    if (size > 0 && (c == ' ' || c == '\t' || c == '\n')) {
      break;
    }
    shown[size++] = c > ' ' && c < 0x7f ? c : '?';
  }
  shown[size] = '\0';
  return stowi_plan_scan_fail(scan, here, STOW_ERR_SYNTAX, "expected %s, found `%s`", what, shown);
}

bool stowi_plan_scan_sees(const stowi_plan_scan* scan, const char* literal) {
  size_t size = strlen(literal);
  return size <= scan->size - scan->at && memcmp(scan->text + scan->at, literal, size) == 0;
}

bool stowi_plan_scan_skip(stowi_plan_scan* scan, const char* literal) {
  if (!stowi_plan_scan_sees(scan, literal)) {
    return false;
  }
  scan->at += strlen(literal);
  return true;
}

stow_status stowi_plan_scan_literal(stowi_plan_scan* scan, const char* literal) {
  if (stowi_plan_scan_skip(scan, literal)) {
    return STOW_OK;
  }
  char what[80];
  snprintf(what, sizeof(what), "`%s`", strcmp(literal, "\t") == 0 ? "\\t" : literal);
  return stowi_plan_scan_expected(scan, what);
}

stow_status stowi_plan_scan_end_line(stowi_plan_scan* scan) {
  if (!stowi_plan_scan_skip(scan, "\n")) {
    return stowi_plan_scan_expected(scan, "the end of the line");
  }
  scan->line += scan->line < UINT32_MAX;
  scan->line_at = scan->at;
  return STOW_OK;
}

stow_status stowi_plan_scan_u64(stowi_plan_scan* scan, uint64_t max, const char* what,
                                uint64_t* out_number) {
  size_t end = scan->at;
  while (end < scan->size && stowi_is_digit(scan->text[end])) {
    ++end;
  }
  stow_str digits = {scan->text + scan->at, end - scan->at};
  bool is_padded = digits.size > 1 && digits.data[0] == '0';
  uint64_t number = 0;
  if (is_padded || !stowi_parse_u64(digits, &number) || number > max) {
    char expected[160];
    snprintf(expected, sizeof(expected), "%s, a number up to %" PRIu64, what, max);
    return stowi_plan_scan_expected(scan, expected);
  }
  scan->at = end;
  *out_number = number;
  return STOW_OK;
}

stow_status stowi_plan_scan_u32(stowi_plan_scan* scan, uint32_t max, const char* what,
                                uint32_t* out_number) {
  uint64_t number = 0;
  STOW_TRY(stowi_plan_scan_u64(scan, max, what, &number));
  *out_number = (uint32_t)number;
  return STOW_OK;
}

static int hex_digit(char c) {
  if (stowi_is_digit(c)) {
    return c - '0';
  }
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

stow_status stowi_plan_scan_hex(stowi_plan_scan* scan, const char* what, uint64_t* out_number) {
  uint64_t number = 0;
  for (size_t i = 0; i < 16; ++i) {
    int digit = i < scan->size - scan->at ? hex_digit(scan->text[scan->at + i]) : -1;
    if (digit < 0) {
      return stowi_plan_scan_expected(scan, what);
    }
    number = number << 4 | (uint64_t)digit;
  }
  scan->at += 16;
  *out_number = number;
  return STOW_OK;
}

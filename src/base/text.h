// Strings and formatted writing. Nothing here obeys the locale.
#ifndef STOWAGE_SRC_BASE_TEXT_H_
#define STOWAGE_SRC_BASE_TEXT_H_

#include "base/shared.h"

// No %f and the like. A formatted piece is at most 512 bytes; longer strings go through
// stowi_put_str.
STOWI_SHARED stow_status stowi_printf(stow_writer writer, const char* format, ...)
    STOW_PRINTF_LIKE(2, 3);
STOWI_SHARED stow_status stowi_put(stow_writer writer, const char* text);
STOWI_SHARED stow_status stowi_put_str(stow_writer writer, stow_str string);
// In double quotes with C escapes: \" \\ \n \t \r, other control bytes and DEL as \xHH. Bytes above
// 127 as they are.
STOWI_SHARED stow_status stowi_put_quoted(stow_writer writer, stow_str string);

static inline bool stowi_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool stowi_is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static inline bool stowi_is_alnum(char c) { return stowi_is_digit(c) || stowi_is_alpha(c); }
// [A-Za-z_][A-Za-z0-9_.]*
STOWI_SHARED bool stowi_is_plain_name(stow_str string);

// Decimal digits only, the whole string; false for an empty one, another character, or overflow.
STOWI_SHARED bool stowi_parse_u64(stow_str string, uint64_t* out);

// Bytes of the well-formed UTF-8 sequence that |text| begins with (table 3-7 of the Unicode
// standard), and its code; 0 where there is none.
STOWI_SHARED size_t stowi_utf8(stow_str text, uint32_t* out_code);

// A JSON string (RFC 8259), quotes included. Control characters, also those above 127, are escaped;
// bytes that are not UTF-8 become U+FFFD. |in_page|: so are <, >, & and the line separators of
// JavaScript, so that nothing in it can end a script.
STOWI_SHARED stow_status stowi_put_json(stow_writer writer, stow_str string, bool in_page);

// Reads one byte of what stowi_put_quoted writes, between the quotes: from |*at| on, which moves
// behind it. False, and nothing moves, for an unknown escape.
STOWI_SHARED bool stowi_unescape(const char** at, const char* end, char* out);

// How many letters must be put in, taken out, changed or swapped with their neighbour to make |b|
// of |a| (the optimal string alignment distance), for "did you mean". Neither is longer than
// STOWI_LONGEST_WORD. O(length²).
#define STOWI_LONGEST_WORD 64
STOWI_SHARED size_t stowi_edit_distance(stow_str a, stow_str b);

#endif  // STOWAGE_SRC_BASE_TEXT_H_

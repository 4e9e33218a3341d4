// What the command writes as reports do: text that a terminal can show, and numbers for people.
// Integers only: nothing here obeys the locale.
#ifndef STOWAGE_SRC_REPORT_API_H_
#define STOWAGE_SRC_REPORT_API_H_

#include <stowage/base.h>

// Bytes of the UTF-8 character that |text| begins with, where it is shown as it is; 0 where there
// is none, or one that stowi_report_escape escapes.
size_t stowi_report_plain_size(stow_str text);
// Copies |text| with control characters and bytes that are not UTF-8 written as \n, \t, \xHH, and
// with characters that hide or turn the direction of text as \uHHHH: U+061C, U+200B … U+200F,
// U+2028 … U+202E, U+2060 … U+206F, U+FEFF, U+FFFE, U+FFFF. Cut before a whole character where
// |capacity| (which counts the NUL) ends.
void stowi_report_escape(stow_str text, char* out, size_t capacity);

// Columns that an escaped text takes: its characters. Combining and double-width ones count as one.
size_t stowi_report_width(const char* text);
// Cuts to |width| columns, the last one an ellipsis. |text| must have room for two bytes more than
// it holds.
void stowi_report_cut(char* text, size_t width);
// The same with the ellipsis inside, a third of the way: `/encoder/…/attention/Softmax_output_0`.
void stowi_report_cut_inside(char* text, size_t width);
// The same with the ellipsis after |head| characters, below |width|.
void stowi_report_cut_after(char* text, size_t head, size_t width);

#define STOWI_REPORT_NUMBER 32
// "576 KiB", "1.56 MiB", "12 B": three significant digits.
void stowi_report_size(uint64_t bytes, char out[STOWI_REPORT_NUMBER]);
// The numbers of a scale that goes up to |top| in steps of |tick|, both below 2^53: all in the unit
// of the largest, with as many decimals as write the ticks, and three significant digits at most.
typedef struct stowi_report_scale {
  unsigned unit;  // power of 1024
  unsigned decimals;
} stowi_report_scale;
stowi_report_scale stowi_report_scale_of(uint64_t top, uint64_t tick);
// "0.5 MiB"
void stowi_report_on_scale(stowi_report_scale scale, uint64_t bytes, char out[STOWI_REPORT_NUMBER]);
// "35.9 %"; a |whole| of 0 gives "0.0 %".
void stowi_report_percent(uint64_t part, uint64_t whole, char out[STOWI_REPORT_NUMBER]);
// The same with hundredths, "0.76 %", and "<0.01 %" for what is less but not nothing.
void stowi_report_gap(uint64_t part, uint64_t whole, char out[STOWI_REPORT_NUMBER]);
// "950", "12.3k", "1.21M": three significant digits.
void stowi_report_count(uint64_t count, char out[STOWI_REPORT_NUMBER]);
// "0.25 s", "12.3 s", "2 min 05 s", "3 h 02 min".
void stowi_report_duration(uint64_t microseconds, char out[STOWI_REPORT_NUMBER]);
// |count| per second.
uint64_t stowi_report_rate(uint64_t count, uint64_t microseconds);

#endif  // STOWAGE_SRC_REPORT_API_H_

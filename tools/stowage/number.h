// Numbers on the command line and in the summary. Integers only: nothing here obeys the locale.
#ifndef STOWAGE_TOOLS_NUMBER_H_
#define STOWAGE_TOOLS_NUMBER_H_

#include <stowage/base.h>

#include "fail.h"

// Bytes: a number, optionally followed by kB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of
// 1024). A fraction is fine where it is a whole number of bytes. Complains in the name of |option|.
cli_exit cli_parse_size(const char* option, const char* text, uint64_t* out_size);
// As above, at most CLI_PADDING_LIMIT: an alignment or a guard, of which an arena holds many.
#define CLI_PADDING_LIMIT (UINT64_C(1) << 40)
cli_exit cli_parse_padding(const char* option, const char* text, uint64_t* out_size);
// As above, and a power of two.
cli_exit cli_parse_alignment(const char* option, const char* text, uint64_t* out_alignment);
// As cli_parse_size, for --capacity: below the largest number, which stands for "none".
cli_exit cli_parse_capacity(const char* text, uint64_t* out_capacity);
// A share, `2.5%`, in millionths. Complains that it is neither that nor a size.
cli_exit cli_parse_share(const char* option, const char* text, uint64_t* out_millionths);
// A number of things: digits, with a fraction or without, and k, M, G (powers of 1000) or nothing.
cli_exit cli_parse_count(const char* option, const char* text, uint64_t* out_count);
// Microseconds: digits, with a fraction or without, and ms, s, m or h.
cli_exit cli_parse_duration(const char* option, const char* text, uint64_t* out_microseconds);
// 0 … INT64_MAX, digits only. |text| is quoted in the message as the value of |name|.
cli_exit cli_parse_dim(const char* option, stow_str name, stow_str text, int64_t* out_dim);
// Digits only, the whole of |text|. False for anything else, also on overflow.
bool cli_parse_id(stow_str text, uint32_t* out_id);

#define CLI_NUMBER_SIZE 32
// "576 KiB", "1.56 MiB", "12 B": three significant digits.
void cli_format_size(uint64_t bytes, char out[CLI_NUMBER_SIZE]);
// The numbers of a scale that goes up to |top| in steps of |tick|, both below 2^53: all in the unit
// of the largest, with as many decimals as write the ticks, and three significant digits at most.
typedef struct cli_scale {
  unsigned unit;  // power of 1024
  unsigned decimals;
} cli_scale;
cli_scale cli_scale_of(uint64_t top, uint64_t tick);
// "0.5 MiB"
void cli_format_on_scale(cli_scale scale, uint64_t bytes, char out[CLI_NUMBER_SIZE]);
// "35.9 %"; a |whole| of 0 gives "0.0 %".
void cli_format_percent(uint64_t part, uint64_t whole, char out[CLI_NUMBER_SIZE]);
// The same with hundredths, "0.76 %", and "<0.01 %" for what is less but not nothing.
void cli_format_gap(uint64_t part, uint64_t whole, char out[CLI_NUMBER_SIZE]);
// "950", "12.3k", "1.21M": three significant digits.
void cli_format_count(uint64_t count, char out[CLI_NUMBER_SIZE]);
// "0.25 s", "12.3 s", "2 min 05 s", "3 h 02 min".
void cli_format_duration(uint64_t microseconds, char out[CLI_NUMBER_SIZE]);
// |count| per second.
uint64_t cli_rate(uint64_t count, uint64_t microseconds);

#endif  // STOWAGE_TOOLS_NUMBER_H_

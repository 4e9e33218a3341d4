// Numbers on the command line. Integers only: nothing here obeys the locale.
#ifndef STOWAGE_TOOLS_ARGUMENTS_NUMBER_H_
#define STOWAGE_TOOLS_ARGUMENTS_NUMBER_H_

#include <stowage/base.h>

#include "terminal/fail.h"

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
// The value of --threads: 1 to 256.
cli_exit cli_parse_threads(const char* text, uint32_t* out_threads);
// Microseconds: digits, with a fraction or without, and ms, s, m or h.
cli_exit cli_parse_duration(const char* option, const char* text, uint64_t* out_microseconds);
// 0 … INT64_MAX, digits only. |text| is quoted in the message as the value of |name|.
cli_exit cli_parse_dim(const char* option, stow_str name, stow_str text, int64_t* out_dim);
// Digits only, the whole of |text|. False for anything else, also on overflow.
bool cli_parse_id(stow_str text, uint32_t* out_id);

#endif  // STOWAGE_TOOLS_ARGUMENTS_NUMBER_H_

// Numbers, read and written with checked integer arithmetic alone.
#include "arguments/number.h"

#include <inttypes.h>
#include <string.h>

typedef enum parsed { PARSED, NOT_A_NUMBER, NOT_WHOLE, TOO_LARGE } parsed;

// Reads digits from the front of |text|; |out_used| says how many there were.
static parsed read_digits(stow_str text, uint64_t* out_value, size_t* out_used) {
  uint64_t value = 0;
  size_t used = 0;
  bool too_large = false;
  for (; used < text.size && text.data[used] >= '0' && text.data[used] <= '9'; ++used) {
    uint64_t digit = (uint64_t)(text.data[used] - '0');
    too_large = too_large || value > (UINT64_MAX - digit) / 10;
    value = too_large ? 0 : value * 10 + digit;
  }
  *out_value = value;
  *out_used = used;
  return used == 0 ? NOT_A_NUMBER : too_large ? TOO_LARGE : PARSED;
}

typedef struct named_unit {
  const char* text;  // NULL ends a list
  uint64_t factor;
} named_unit;

static const named_unit size_units[] = {{"", 1},
                                        {"kB", 1000},
                                        {"MB", 1000000},
                                        {"GB", 1000000000},
                                        {"KiB", UINT64_C(1) << 10},
                                        {"MiB", UINT64_C(1) << 20},
                                        {"GiB", UINT64_C(1) << 30},
                                        {NULL, 0}};
static const named_unit count_units[] = {
    {"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0}};
static const named_unit share_units[] = {{"%", 10000}, {NULL, 0}};
static const named_unit time_units[] = {
    {"ms", 1000}, {"s", 1000000}, {"m", 60000000}, {"h", UINT64_C(3600000000)}, {NULL, 0}};

// Digits after a point, as a part of |factor|. False where that is not a whole number. From the
// last digit on: what is not whole there never becomes so.
static bool scale_fraction(stow_str digits, uint64_t factor, uint64_t* out_value) {
  *out_value = 0;
  for (size_t i = digits.size; i > 0; --i) {
    uint64_t tenths = *out_value + (uint64_t)(digits.data[i - 1] - '0') * factor;
    if (tenths % 10 != 0) {
      return false;
    }
    *out_value = tenths / 10;
  }
  return true;
}

// `1.5h`: a number with or without a fraction, and a unit.
static parsed read_scaled(stow_str text, const named_unit* units, uint64_t* out_value) {
  size_t used;
  uint64_t whole;
  parsed result = read_digits(text, &whole, &used);
  text = (stow_str){text.data + used, text.size - used};
  stow_str digits = {text.data, 0};
  if (result != NOT_A_NUMBER && text.size > 0 && text.data[0] == '.') {
    uint64_t ignored;
    digits.data = text.data + 1;
    if (read_digits((stow_str){digits.data, text.size - 1}, &ignored, &digits.size) ==
        NOT_A_NUMBER) {
      return NOT_A_NUMBER;
    }
    text = (stow_str){digits.data + digits.size, text.size - 1 - digits.size};
  }
  // 0 where it is not in the list.
  while (units->text != NULL && !stow_str_equal(text, stow_str_of(units->text))) {
    ++units;
  }
  uint64_t factor = units->factor;
  uint64_t part = 0;
  if (result == NOT_A_NUMBER || factor == 0) {
    return NOT_A_NUMBER;
  }
  if (!scale_fraction(digits, factor, &part)) {
    return NOT_WHOLE;
  }
  if (result == TOO_LARGE || whole > (UINT64_MAX - part) / factor) {
    return TOO_LARGE;
  }
  *out_value = whole * factor + part;
  return PARSED;
}

// The unit that was meant by a wrong one: 64k, 64kb and "64 KIB" are 64KiB. NULL: none.
static const char* similar_unit(stow_str unit) {
  static const char letters[] = "kKmMgG";
  static const char* const units[] = {"KiB", "MiB", "GiB"};
  while (unit.size > 0 && unit.data[0] == ' ') {
    unit = (stow_str){unit.data + 1, unit.size - 1};
  }
  const char* letter = unit.size == 0 ? NULL : strchr(letters, unit.data[0]);
  bool short_enough = unit.size <= 3;
  for (size_t i = 1; i < unit.size; ++i) {
    short_enough = short_enough && strchr("iIbB", unit.data[i]) != NULL;
  }
  return letter != NULL && short_enough ? units[(letter - letters) / 2] : NULL;
}

cli_exit cli_parse_size(const char* option, const char* text, uint64_t* out_size) {
  switch (read_scaled(stow_str_of(text), size_units, out_size)) {
    case PARSED: return CLI_YES;
    case NOT_WHOLE:
      return cli_fail(CLI_USAGE, "--%s: '%s' is not a whole number of bytes", option, text);
    case TOO_LARGE: return cli_fail(CLI_USAGE, "--%s: '%s' does not fit in 64 bits", option, text);
    case NOT_A_NUMBER: break;
  }
  size_t digits = strspn(text, "0123456789.");
  const char* unit = digits == 0 ? NULL : similar_unit(stow_str_of(text + digits));
  if (unit != NULL) {
    return cli_fail(CLI_USAGE, "--%s: '%s' is not a size; did you mean %.*s%s?", option, text,
                    (int)digits, text, unit);
  }
  return cli_fail(
      CLI_USAGE,
      "--%s: '%s' is not a size; expected digits, then kB, MB, GB, KiB, MiB, GiB or nothing",
      option, text);
}

cli_exit cli_parse_capacity(const char* text, uint64_t* out_capacity) {
  CLI_TRY(cli_parse_size("capacity", text, out_capacity));
  if (*out_capacity == UINT64_MAX) {
    return cli_fail(CLI_USAGE, "--capacity: '%s' is too large", text);
  }
  return CLI_YES;
}

static cli_exit fail_scaled(parsed result, const char* option, const char* text, const char* what) {
  return result == TOO_LARGE ? cli_fail(CLI_USAGE, "--%s: '%s' is too large", option, text)
                             : cli_fail(CLI_USAGE, "--%s: '%s' is not %s", option, text, what);
}

cli_exit cli_parse_count(const char* option, const char* text, uint64_t* out_count) {
  parsed result = read_scaled(stow_str_of(text), count_units, out_count);
  if (result == PARSED && *out_count == UINT64_MAX) {
    result = TOO_LARGE;
  }
  return result == PARSED ? CLI_YES
                          : fail_scaled(result, option, text,
                                        "a number: digits, then k, M, G or nothing; or unlimited");
}

#define SHARE_LIMIT UINT64_C(1000000000000)  // millionths: a hundred million per cent

cli_exit cli_parse_share(const char* option, const char* text, uint64_t* out_millionths) {
  parsed result = read_scaled(stow_str_of(text), share_units, out_millionths);
  if (result == PARSED && *out_millionths > SHARE_LIMIT) {
    result = TOO_LARGE;
  }
  return result == PARSED ? CLI_YES
                          : fail_scaled(result, option, text,
                                        "a size, nor a share as 2.5% with four decimals at most");
}

#define MAX_THREADS 256

cli_exit cli_parse_threads(const char* text, uint32_t* out_threads) {
  uint64_t threads;
  CLI_TRY(cli_parse_count("threads", text, &threads));
  if (threads == 0 || threads > MAX_THREADS) {
    return cli_fail(CLI_USAGE, "--threads: '%s' is out of range (1 to %d)", text, MAX_THREADS);
  }
  *out_threads = (uint32_t)threads;
  return CLI_YES;
}

cli_exit cli_parse_duration(const char* option, const char* text, uint64_t* out_microseconds) {
  parsed result = read_scaled(stow_str_of(text), time_units, out_microseconds);
  uint64_t ignored;
  if (result == NOT_A_NUMBER && read_scaled(stow_str_of(text), count_units, &ignored) == PARSED) {
    return cli_fail(CLI_USAGE, "--%s: '%s' has no unit of time; expected ms, s, m or h", option,
                    text);
  }
  return result == PARSED
             ? CLI_YES
             : fail_scaled(result, option, text, "a duration: digits, then ms, s, m or h");
}

cli_exit cli_parse_padding(const char* option, const char* text, uint64_t* out_size) {
  uint64_t value = 0;
  CLI_TRY(cli_parse_size(option, text, &value));
  if (value > CLI_PADDING_LIMIT) {
    return cli_fail(CLI_USAGE, "--%s: '%s' is too large; the maximum is 1024GiB", option, text);
  }
  *out_size = value;
  return CLI_YES;
}

cli_exit cli_parse_alignment(const char* option, const char* text, uint64_t* out_alignment) {
  uint64_t value = 0;
  CLI_TRY(cli_parse_padding(option, text, &value));
  if (value == 0 || (value & (value - 1)) != 0) {
    return cli_fail(CLI_USAGE, "--%s: %s is not a power of two", option, text);
  }
  *out_alignment = value;
  return CLI_YES;
}

cli_exit cli_parse_dim(const char* option, stow_str name, stow_str text, int64_t* out_dim) {
  size_t used;
  uint64_t value;
  parsed result = read_digits(text, &value, &used);
  if (result == NOT_A_NUMBER || used != text.size) {
    return cli_fail(CLI_USAGE, "--%s: '%.*s' for '%.*s' is not a number, 0 or more", option,
                    (int)text.size, text.data, (int)name.size, name.data);
  }
  if (result == TOO_LARGE || value > INT64_MAX) {
    return cli_fail(CLI_USAGE, "--%s: '%.*s' for '%.*s' is too large", option, (int)text.size,
                    text.data, (int)name.size, name.data);
  }
  *out_dim = (int64_t)value;
  return CLI_YES;
}

bool cli_parse_id(stow_str text, uint32_t* out_id) {
  size_t used;
  uint64_t value;
  if (read_digits(text, &value, &used) != PARSED || used != text.size || value > UINT32_MAX) {
    return false;
  }
  *out_id = (uint32_t)value;
  return true;
}

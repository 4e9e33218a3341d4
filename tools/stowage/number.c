// Numbers, read and written with checked integer arithmetic alone.
#include "number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef enum parsed { PARSED, NOT_A_NUMBER, TOO_LARGE } parsed;

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

static uint64_t unit_factor(stow_str unit) {
  static const struct {
    const char* text;
    uint64_t factor;
  } units[] = {{"", 1},
               {"kB", 1000},
               {"MB", 1000000},
               {"GB", 1000000000},
               {"KiB", UINT64_C(1) << 10},
               {"MiB", UINT64_C(1) << 20},
               {"GiB", UINT64_C(1) << 30}};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
    if (stow_str_equal(unit, stow_str_of(units[i].text))) {
      return units[i].factor;
    }
  }
  return 0;
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

static cli_exit fail_size(const char* option, const char* text, size_t digits) {
  const char* unit = digits == 0 ? NULL : similar_unit(stow_str_of(text + digits));
  if (unit != NULL) {
    return cli_fail(CLI_USAGE, "--%s: '%s' is not a size: did you mean %.*s%s?", option, text,
                    (int)digits, text, unit);
  }
  return cli_fail(CLI_USAGE,
                  "--%s: '%s' is not a size: digits, then kB, MB, GB, KiB, MiB, GiB or nothing",
                  option, text);
}

cli_exit cli_parse_size(const char* option, const char* text, uint64_t* out_size) {
  stow_str rest = stow_str_of(text);
  size_t used;
  uint64_t value;
  parsed result = read_digits(rest, &value, &used);
  rest = (stow_str){rest.data + used, rest.size - used};
  uint64_t factor = unit_factor(rest);
  if (result == NOT_A_NUMBER || factor == 0) {
    return fail_size(option, text, used);
  }
  if (result == TOO_LARGE || value > UINT64_MAX / factor) {
    return cli_fail(CLI_USAGE, "--%s: '%s' does not fit in 64 bits", option, text);
  }
  *out_size = value * factor;
  return CLI_YES;
}

cli_exit cli_parse_padding(const char* option, const char* text, uint64_t* out_size) {
  uint64_t value = 0;
  cli_exit code = cli_parse_size(option, text, &value);
  if (code != CLI_YES) {
    return code;
  }
  if (value > CLI_PADDING_LIMIT) {
    return cli_fail(CLI_USAGE, "--%s: '%s' is too large: at most 1024GiB", option, text);
  }
  *out_size = value;
  return CLI_YES;
}

cli_exit cli_parse_alignment(const char* option, const char* text, uint64_t* out_alignment) {
  uint64_t value = 0;
  cli_exit code = cli_parse_padding(option, text, &value);
  if (code != CLI_YES) {
    return code;
  }
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
    return cli_fail(CLI_USAGE, "--%s: '%.*s' for '%.*s' is not a number of 0 or more", option,
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

void cli_format_size(uint64_t bytes, char out[CLI_NUMBER_SIZE]) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) {
    snprintf(out, CLI_NUMBER_SIZE, "%" PRIu64 " B", bytes);
    return;
  }
  size_t unit = 1;
  while (unit < 6 && bytes >> 10 * (unit + 1) != 0) {
    ++unit;
  }
  // In 1024ths of the unit, then in hundredths, rounded; below 2^27 in any case.
  uint64_t hundredths = ((bytes >> 10 * (unit - 1)) * 100 + 512) / 1024;
  if (hundredths >= 102350 && unit < 6) {  // would print as 1024
    hundredths = 100;
    ++unit;
  }
  uint64_t whole = hundredths / 100;
  uint64_t rest = hundredths % 100;
  if (whole >= 100) {
    snprintf(out, CLI_NUMBER_SIZE, "%" PRIu64 " %s", whole + (rest >= 50), units[unit]);
  } else if (whole >= 10) {
    snprintf(out, CLI_NUMBER_SIZE, "%" PRIu64 ".%" PRIu64 " %s", whole, rest / 10, units[unit]);
  } else {
    snprintf(out, CLI_NUMBER_SIZE, "%" PRIu64 ".%02" PRIu64 " %s", whole, rest, units[unit]);
  }
}

void cli_format_percent(uint64_t part, uint64_t whole, char out[CLI_NUMBER_SIZE]) {
  while (part > UINT64_MAX / 1001 || whole > UINT64_MAX / 1001) {
    part >>= 1;
    whole >>= 1;
  }
  uint64_t tenths = whole == 0 ? 0 : (part * 1000 + whole / 2) / whole;
  snprintf(out, CLI_NUMBER_SIZE, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
}

// Stamps: how a graph was rewritten, as a line of words that saved plans keep.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "rewrite/rewritten.h"

#define LIMIT "fold_limit"
#define ROWS "stream_rows"
#define OFF "off"

// A number of thousandths, without zeros at its end.
static void print_thousandths(char* out, size_t room, uint64_t number) {
  int size = snprintf(out, room, "%" PRIu64 ".%03u", number / 1000, (unsigned)(number % 1000));
  if (size > 0 && (size_t)size < room) {
    for (; out[size - 1] == '0'; --size) {
      out[size - 1] = '\0';
    }
    out[size - 1] = out[size - 1] == '.' ? '\0' : out[size - 1];
  }
}

void stow_rewritten_stamp(const stow_rewritten* r, char out[STOW_REWRITE_STAMP_SIZE]) {
  size_t room = STOW_REWRITE_STAMP_SIZE;
  size_t size = (size_t)snprintf(out, room, "v%d", STOW_REWRITE_VERSION);
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT && size < room; ++i) {
    stow_rewrite_rule rule = (stow_rewrite_rule)i;
    const char* name = stow_rewrite_rule_name(rule);
    bool is_off = (r->options.off & stow_rewrite_bit(rule)) != 0;
    size += (size_t)(is_off ? snprintf(out + size, room - size, " %s=" OFF, name)
                            : snprintf(out + size, room - size, " %s=%zu", name, r->counts[i]));
  }
  if (r->options.stream_rows != 0 && size < room) {
    size += (size_t)snprintf(out + size, room - size, " " ROWS "=%u", r->options.stream_rows);
  }
  size += size < room ? (size_t)snprintf(out + size, room - size, " " LIMIT "=") : 0;
  if (size < room) {
    print_thousandths(out + size, room - size, (uint64_t)(r->options.fold_limit * 1000.0 + 0.5));
  }
}

// ---------------------------------------------------------------------------------------------
// Reading

// The next word of |*rest|, which moves behind it; empty at the end.
static stow_str next_word(stow_str* rest) {
  size_t size = 0;
  while (size < rest->size && rest->data[size] != ' ') {
    ++size;
  }
  stow_str word = {rest->data, size};
  size_t skipped = size < rest->size ? size + 1 : size;
  *rest = (stow_str){rest->data + skipped, rest->size - skipped};
  return word;
}

static bool split_word(stow_str word, stow_str* out_name, stow_str* out_value) {
  const char* equals = word.size == 0 ? NULL : (const char*)memchr(word.data, '=', word.size);
  if (equals == NULL) {
    return false;
  }
  size_t size = (size_t)(equals - word.data);
  *out_name = (stow_str){word.data, size};
  *out_value = (stow_str){equals + 1, word.size - size - 1};
  return true;
}

// `2` or `1.5`
static bool read_limit(stow_str text, double* out_limit) {
  uint64_t whole, part = 0;
  const char* dot = text.size == 0 ? NULL : (const char*)memchr(text.data, '.', text.size);
  size_t size = dot == NULL ? text.size : (size_t)(dot - text.data);
  size_t digits = dot == NULL ? 0 : text.size - size - 1;
  if (!stowi_parse_u64((stow_str){text.data, size}, &whole) || whole > 1000000000 ||
      (dot != NULL && (digits > 3 || !stowi_parse_u64((stow_str){dot + 1, digits}, &part)))) {
    return false;
  }
  for (; digits < 3; ++digits) {
    part *= 10;
  }
  *out_limit = (double)(whole * 1000 + part) / 1000.0;
  return *out_limit >= 1.0;
}

static bool read_word(stow_str word, stow_rewrite_options* out_options) {
  stow_str name, value;
  stow_rewrite_rule rule;
  uint64_t count;
  if (!split_word(word, &name, &value)) {
    return false;
  }
  if (stow_str_equal(name, stow_str_of(LIMIT))) {
    return read_limit(value, &out_options->fold_limit);
  }
  if (stow_str_equal(name, stow_str_of(ROWS))) {
    bool is_good = stowi_parse_u64(value, &count) && count <= UINT32_MAX;
    out_options->stream_rows = is_good ? (uint32_t)count : 0;
    return is_good;
  }
  if (!stow_rewrite_rule_find(name, &rule)) {
    return false;
  }
  bool is_off = stow_str_equal(value, stow_str_of(OFF));
  out_options->off &= ~stow_rewrite_bit(rule);
  out_options->off |= is_off ? stow_rewrite_bit(rule) : 0;
  return is_off || stowi_parse_u64(value, &count);
}

stow_status stow_rewrite_read_stamp(stow_str stamp, stow_diag* diag,
                                    stow_rewrite_options* out_options) {
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  stow_str rest = stamp;
  stow_str first = next_word(&rest);
  uint64_t version = 0;
  bool is_good = first.size > 1 && first.data[0] == 'v' &&
                 stowi_parse_u64((stow_str){first.data + 1, first.size - 1}, &version);
  if (is_good && version != STOW_REWRITE_VERSION) {
    return stowi_fail(diag, STOW_ERR_STALE_PLAN,
                      "the graph was rewritten by version %" PRIu64
                      " of the rules; this is version %d",
                      version, STOW_REWRITE_VERSION);
  }
  while (is_good && rest.size != 0) {
    is_good = read_word(next_word(&rest), &options);
  }
  if (!is_good) {
    return stowi_fail(diag, STOW_ERR_SYNTAX, "'%.*s' does not say how a graph was rewritten",
                      STOWI_STR_ARG(stamp));
  }
  stowi_init_struct(out_options, &options, sizeof(options));
  return STOW_OK;
}

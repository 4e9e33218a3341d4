// Rules of rewriting in words.
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "request/api.h"

static stow_status fail_word(stow_diag* diag, stow_str word) {
  char names[256] = "";
  size_t size = 0;
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT && size < sizeof names; ++i) {
    size += (size_t)snprintf(names + size, sizeof names - size, "%s-%s", i == 0 ? "" : ", ",
                             stow_rewrite_rule_name((stow_rewrite_rule)i));
  }
  return stowi_fail(diag, STOW_ERR_SYNTAX,
                    "unknown '%.*s'; expected none, exact or near, and any of %s", (int)word.size,
                    word.data, names);
}

static uint32_t near_rules(void) {
  uint32_t rules = 0;
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    stow_rewrite_rule rule = (stow_rewrite_rule)i;
    rules |= stow_rewrite_rule_is_near(rule) ? stow_rewrite_bit(rule) : 0;
  }
  return rules;
}

// The first word of the list, unless it is a rule: then false.
static bool read_kind(stowi_request_rewrite* rewrite, stow_str word) {
  rewrite->is_none = stow_str_equal(word, stow_str_of("none"));
  bool is_exact = stow_str_equal(word, stow_str_of("exact"));
  bool is_near = stow_str_equal(word, stow_str_of("near"));
  rewrite->off = is_exact ? near_rules() : is_near ? 0 : rewrite->off;
  return rewrite->is_none || is_exact || is_near;
}

static stow_status read_word(stowi_request_rewrite* rewrite, stow_str word, bool is_first,
                             stow_diag* diag) {
  stow_rewrite_rule rule;
  if (is_first && read_kind(rewrite, word)) {
    return STOW_OK;
  }
  if (rewrite->is_none || word.size < 2 || word.data[0] != '-' ||
      !stow_rewrite_rule_find((stow_str){word.data + 1, word.size - 1}, &rule)) {
    return fail_word(diag, word);
  }
  rewrite->off |= stow_rewrite_bit(rule);
  return STOW_OK;
}

stow_status stowi_request_read_rewrite(const char* words, stow_diag* diag,
                                       stowi_request_rewrite* rewrite) {
  stow_rewrite_options defaults;
  stow_rewrite_options_init(&defaults);
  rewrite->is_given = true;
  rewrite->off = defaults.off;
  bool is_first = true;
  for (const char* at = words;; is_first = false) {
    size_t size = strcspn(at, ",");
    STOW_TRY(read_word(rewrite, (stow_str){at, size}, is_first, diag));
    if (at[size] == '\0') {
      return STOW_OK;
    }
    at += size + 1;
  }
}

// As a stamp has it.
stow_status stowi_request_read_fold_limit(const char* number, stow_diag* diag,
                                          stowi_request_rewrite* rewrite) {
  char stamp[STOW_REWRITE_STAMP_SIZE];
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  snprintf(stamp, sizeof stamp, "v%d fold_limit=%s", STOW_REWRITE_VERSION, number);
  if (strlen(number) > 20 || strchr(number, ' ') != NULL ||
      stow_rewrite_read_stamp(stow_str_of(stamp), NULL, &options) != STOW_OK) {
    return stowi_fail(diag, STOW_ERR_SYNTAX,
                      "'%s' is not a number from 1 to 1000000000, with at most three decimals",
                      number);
  }
  rewrite->has_limit = true;
  rewrite->limit = options.fold_limit;
  return STOW_OK;
}

#define MOST_ROWS 1000000

stow_status stowi_request_read_stream(const char* word, stow_diag* diag,
                                      stowi_request_rewrite* rewrite) {
  uint64_t rows = 0;
  bool is_number = stowi_parse_u64(stow_str_of(word), &rows) && rows > 0 && rows <= MOST_ROWS;
  rewrite->streams = is_number || strcmp(word, "auto") == 0;
  rewrite->stream_rows = is_number ? (uint32_t)rows : 0;
  return rewrite->streams || strcmp(word, "off") == 0
             ? STOW_OK
             : stowi_fail(diag, STOW_ERR_SYNTAX,
                          "unknown '%s'; expected off, auto or a number of rows from 1 to %d", word,
                          MOST_ROWS);
}

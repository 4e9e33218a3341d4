#include "graphs/rewrite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arguments/options.h"
#include "graphs/source.h"

static cli_exit fail_rule(stow_str word) {
  char names[256] = "";
  size_t size = 0;
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT && size < sizeof names; ++i) {
    size += (size_t)snprintf(names + size, sizeof names - size, "%s-%s", i == 0 ? "" : ", ",
                             stow_rewrite_rule_name((stow_rewrite_rule)i));
  }
  return cli_fail(CLI_USAGE,
                  "--rewrite: unknown '%.*s'; expected none, exact or near, and any of %s",
                  (int)word.size, word.data, names);
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
static bool read_kind(cli_rewrite* rewrite, stow_str word) {
  rewrite->is_none = stow_str_equal(word, stow_str_of("none"));
  bool is_exact = stow_str_equal(word, stow_str_of("exact"));
  bool is_near = stow_str_equal(word, stow_str_of("near"));
  rewrite->off = is_exact ? near_rules() : is_near ? 0 : rewrite->off;
  return rewrite->is_none || is_exact || is_near;
}

static cli_exit read_word(cli_rewrite* rewrite, stow_str word, bool is_first) {
  stow_rewrite_rule rule;
  if (is_first && read_kind(rewrite, word)) {
    return CLI_YES;
  }
  if (rewrite->is_none || word.size < 2 || word.data[0] != '-' ||
      !stow_rewrite_rule_find((stow_str){word.data + 1, word.size - 1}, &rule)) {
    return fail_rule(word);
  }
  rewrite->off |= stow_rewrite_bit(rule);
  return CLI_YES;
}

cli_exit cli_rewrite_read(cli_rewrite* rewrite, const char* value) {
  stow_rewrite_options defaults;
  stow_rewrite_options_init(&defaults);
  rewrite->is_given = true;
  rewrite->off = defaults.off;
  bool is_first = true;
  for (const char* at = value;; is_first = false) {
    size_t size = strcspn(at, ",");
    CLI_TRY(read_word(rewrite, (stow_str){at, size}, is_first));
    if (at[size] == '\0') {
      return CLI_YES;
    }
    at += size + 1;
  }
}

// As a stamp has it.
cli_exit cli_rewrite_read_limit(cli_rewrite* rewrite, const char* value) {
  char stamp[STOW_REWRITE_STAMP_SIZE];
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  snprintf(stamp, sizeof stamp, "v%d fold_limit=%s", STOW_REWRITE_VERSION, value);
  if (strlen(value) > 20 || strchr(value, ' ') != NULL ||
      stow_rewrite_read_stamp(stow_str_of(stamp), NULL, &options) != STOW_OK) {
    return cli_fail(CLI_USAGE,
                    "--fold-limit: '%s' is not a number from 1 to 1000000000, with at most three "
                    "decimals",
                    value);
  }
  rewrite->has_limit = true;
  rewrite->limit = options.fold_limit;
  return CLI_YES;
}

stow_rewrite_options cli_rewrite_options(const cli_rewrite* rewrite) {
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = rewrite->is_given ? rewrite->off : options.off;
  options.fold_limit = rewrite->has_limit ? rewrite->limit : options.fold_limit;
  return options;
}

cli_exit cli_rewrite_graph(const stow_graph* graph, const stow_rewrite_options* options,
                           const char* label, stow_rewritten** out_rewritten) {
  stow_diag diag = cli_diag();
  stow_status status = stow_rewrite(graph, options, stow_allocator_default(), &diag, out_rewritten);
  return status == STOW_OK ? CLI_YES : cli_fail_graph(label, graph, status, &diag);
}

void cli_tell_rewritten(const stow_rewritten* rewritten, const stow_graph* graph, stow_str name) {
  stow_value value = rewritten == NULL ? STOW_VALUE_NONE : stow_graph_find(graph, name);
  if (value == STOW_VALUE_NONE ||
      stow_graph_find(stow_rewritten_graph(rewritten), name) != STOW_VALUE_NONE) {
    return;
  }
  stow_rewrite_rule rule = stow_rewritten_removed_by(rewritten, value);
  const char* how = rule == STOW_REWRITE_FOLD         ? "was folded into a weight"
                    : rule == STOW_REWRITE_RULE_COUNT ? "has the elements of another value"
                    : rule == STOW_REWRITE_DEAD       ? "is needed by no output"
                                                      : "was rewritten away";
  cli_tell_more("%%%" PRIu32 " \"%.*s\" %s; keep it with --rewrite none", value, (int)name.size,
                name.data, how);
}

// Presets and options. A preset writes every field, so that afterwards each value is literal and
// nothing is filled in implicitly; stow_plan_make checks its options before it starts.
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "base/text.h"
#include "plan/plan_internal.h"

#define MAX_STRATEGY_NAME 64

static const char* const preset_names[] = {
#define PRESET_NAME(name, text, summary) text,
    STOW_PRESET_LIST(PRESET_NAME)
#undef PRESET_NAME
};

static const char* const preset_summaries[] = {
#define PRESET_SUMMARY(name, text, summary) summary,
    STOW_PRESET_LIST(PRESET_SUMMARY)
#undef PRESET_SUMMARY
};

static const char* const order_texts[] = {
#define ORDER_TEXT(name, text) text,
    STOW_ORDER_LIST(ORDER_TEXT)
#undef ORDER_TEXT
};

const char* stow_order_text(stow_order order) {
  return (unsigned)order < (unsigned)STOW_ORDER_COUNT ? order_texts[order] : "?";
}

static bool is_preset(stow_preset preset) { return (unsigned)preset < (unsigned)STOW_PRESET_COUNT; }

const char* stow_preset_name(stow_preset preset) {
  return is_preset(preset) ? preset_names[preset] : "?";
}

const char* stow_preset_summary(stow_preset preset) {
  return is_preset(preset) ? preset_summaries[preset] : "";
}

bool stow_preset_find(stow_str name, stow_preset* out_preset) {
  for (unsigned i = 0; i < (unsigned)STOW_PRESET_COUNT; ++i) {
    if (stow_str_equal(name, stow_str_of(preset_names[i]))) {
      *out_preset = (stow_preset)i;
      return true;
    }
  }
  return false;
}

// Without the options added after the first version: what an older caller gets. In-place results
// and copy elision must be asked for.
static void init_first(stow_plan_options* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->alignment = 64;
  options->params = true;
  options->inputs = true;
  options->constants = true;
  options->zero_size_slots = true;
  options->reuse = true;
  options->io = STOW_IO_KEEP;
  options->capacity = STOW_NO_CAPACITY;
  options->strategy = stow_strategy_find(stow_str_of("auto"));
  options->nodes = STOW_PLAN_DEFAULT_NODES;
  options->order = STOW_ORDER_GIVEN;
  options->order_nodes = STOW_ORDER_DEFAULT_NODES;
  options->patience = STOW_PLAN_DEFAULT_PATIENCE;
}

// RLX shares no bytes except those of its views, and has one order.
static void init_rlx(stow_plan_options* options) {
  options->classic_views = true;
  options->order_nodes = 0;
  options->strategy = stow_strategy_find(stow_str_of("first-fit"));
}

static void share(stow_plan_options* options) {
  options->in_place = true;
  options->elide_copies = true;
  options->windows = true;
}

void stow_plan_options_defaults(stow_plan_options* options, stow_preset preset) {
  stow_plan_options full;
  init_first(&full);
  if (preset == STOW_PRESET_RLX) {
    init_rlx(&full);
    full.tail_guard = 128;
    for (size_t i = 0; i < stow_rule_count() && i < STOW_MAX_RULES; ++i) {
      full.rules[full.rule_count++] = stow_rule_at(i);
    }
  } else if (preset == STOW_PRESET_RLX_0_2_2) {
    init_rlx(&full);
    full.zero_size_slots = false;
  } else {
    share(&full);
    full.params = preset != STOW_PRESET_BACKWARD;
  }
  stowi_init_struct(options, &full, sizeof(full));
}

static size_t find_rule(const stow_plan_options* options, const stow_rule* rule) {
  size_t i = 0;
  while (i < options->rule_count && options->rules[i] != rule) {
    ++i;
  }
  return i;
}

stow_status stow_plan_options_add_rule(stow_plan_options* options, const stow_rule* rule) {
  if (rule == NULL) {
    return STOW_ERR_INVALID_ARGUMENT;
  }
  if (find_rule(options, rule) < options->rule_count) {
    return STOW_OK;
  }
  if (options->rule_count >= STOW_MAX_RULES) {
    return STOW_ERR_LIMIT;
  }
  options->rules[options->rule_count++] = rule;
  return STOW_OK;
}

void stow_plan_options_remove_rule(stow_plan_options* options, const stow_rule* rule) {
  size_t at = find_rule(options, rule);
  if (at == options->rule_count) {
    return;
  }
  --options->rule_count;
  for (; at < options->rule_count; ++at) {
    options->rules[at] = options->rules[at + 1];
  }
  options->rules[options->rule_count] = NULL;
}

static char to_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

// `1` or `true`, in any case.
static bool is_on(const char* text) {
  if (text == NULL) {
    return false;
  }
  if (strcmp(text, "1") == 0) {
    return true;
  }
  const char* word = "true";
  while (*word != '\0' && to_lower(*text) == *word) {
    ++text;
    ++word;
  }
  return *text == '\0' && *word == '\0';
}

void stow_plan_options_apply_environment(stow_plan_options* options,
                                         const char* (*get)(void* user, const char* name),
                                         void* user) {
  if (is_on(get(user, "RLX_ARENA_NO_REUSE")) || is_on(get(user, "STOWAGE_NO_REUSE"))) {
    options->reuse = false;
  }
}

bool stowi_plan_is_strategy_name(stow_str name) {
  for (size_t i = 0; i < name.size; ++i) {
    char c = name.data[i];
    if (!stowi_is_alnum(c) && c != '.' && c != '-') {
      return false;
    }
  }
  return name.size > 0 && name.size <= MAX_STRATEGY_NAME;
}

bool stowi_plan_is_rewrite(stow_str text) {
  bool is_good = text.size != 0 && text.size < STOWI_PLAN_REWRITE_SIZE;
  for (size_t i = 0; is_good && i < text.size; ++i) {
    is_good = text.data[i] >= ' ' && text.data[i] <= '~';
  }
  return is_good;
}

static stow_status check_strategy(const stow_strategy* strategy, stow_diag* diag) {
  if (strategy == NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "options.strategy is NULL; check the strategy's name");
  }
  if (strategy->place == NULL || !stowi_plan_is_strategy_name(stow_str_of(strategy->name))) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "a strategy needs a place function and a name of 1 to %d of [A-Za-z0-9_.-]",
                      MAX_STRATEGY_NAME);
  }
  return STOW_OK;
}

static stow_status check_rules(const stow_plan_options* options, stow_diag* diag) {
  if (options->rule_count > STOW_MAX_RULES) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "rule_count is %zu, the maximum is %d",
                      options->rule_count, STOW_MAX_RULES);
  }
  for (size_t i = 0; i < options->rule_count; ++i) {
    if (options->rules[i] == NULL || options->rules[i]->apply == NULL) {
      return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "rules[%zu] has no apply function", i);
    }
  }
  return STOW_OK;
}

stow_status stowi_plan_options_load(const stow_plan_options* options, stow_diag* diag,
                                    stow_plan_options* out_options) {
  if (options == NULL) {
    stow_plan_options_init(out_options, STOW_PRESET_DEFAULT);
    return STOW_OK;
  }
  init_first(out_options);
  STOW_TRY(
      stowi_load_struct(out_options, options, sizeof(*out_options), "stow_plan_options", diag));
  if (!stowi_is_power_of_two(out_options->alignment)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "alignment must be a power of two, got %llu",
                      (unsigned long long)out_options->alignment);
  }
  if (out_options->io != STOW_IO_KEEP && out_options->io != STOW_IO_CONSUME &&
      out_options->io != STOW_IO_EXTERNAL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "io must be keep, consume or external, got %d", (int)out_options->io);
  }
  if ((unsigned)out_options->order >= (unsigned)STOW_ORDER_COUNT) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "order must be given or auto, got %d",
                      (int)out_options->order);
  }
  if (out_options->rewrite != NULL && !stowi_plan_is_rewrite(stow_str_of(out_options->rewrite))) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "rewrite must be a line of less than %d printable characters",
                      STOWI_PLAN_REWRITE_SIZE);
  }
  STOW_TRY(check_strategy(out_options->strategy, diag));
  return check_rules(out_options, diag);
}

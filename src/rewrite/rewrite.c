// Rules one after the other, each a pass from graph to graph. Maps of passes are composed, so that
// the result speaks of values of the graph that was handed in; graphs between are destroyed. Data
// is that of the first graph throughout: copies borrow it.
#include <stowage/rewrite.h>
#include <string.h>

#include "base/diag.h"
#include "rewrite/live.h"
#include "rewrite/pass.h"
#include "rewrite/rewritten.h"
#include "rewrite/rules.h"

typedef struct rule_row {
  stow_rewrite_rule id;
  stow_status (*run)(stowi_rewrite_pass* pass);
  bool joins;    // notes its changes in the pass of the rule before it: one graph less to build
  bool repeats;  // with those of its kind that repeat before and after it, until none of them fires
  bool is_near;  // these come first, so that what they do does not depend on the others
} rule_row;

static const rule_row rules[] = {
    {STOW_REWRITE_QDQ, stowi_rewrite_qdq_all, false, true, true},
    {STOW_REWRITE_NORMS, stowi_rewrite_norms, false, true, true},
    {STOW_REWRITE_REPEATS, stowi_rewrite_repeats, false, true, false},
    {STOW_REWRITE_TRANSPOSES, stowi_rewrite_transposes, false, true, false},
    {STOW_REWRITE_PARTS, stowi_rewrite_parts, false, true, false},
    {STOW_REWRITE_IDENTITIES, stowi_rewrite_identities, false, true, false},
    {STOW_REWRITE_CSE, stowi_rewrite_cse, true, true, false},
    {STOW_REWRITE_DEAD, stowi_rewrite_dead, false, true, false},
    {STOW_REWRITE_FOLD, stowi_rewrite_fold, false, false, false},
    {STOW_REWRITE_STREAM, stowi_rewrite_streams, false, false, false},
    {STOW_REWRITE_PRODUCTS, stowi_rewrite_products, false, false, false},
    {STOW_REWRITE_BLOCKS, stowi_rewrite_clusters, false, false, false},
    {STOW_REWRITE_COLUMNS, stowi_rewrite_columns, false, false, false},
};
#define TABLE_SIZE (sizeof(rules) / sizeof(rules[0]))

static const struct {
  const char* name;
  const char* summary;
} texts[] = {
#define TEXT(name, text, summary) {text, summary},
    STOW_REWRITE_RULE_LIST(TEXT)
#undef TEXT
};

const char* stow_rewrite_rule_name(stow_rewrite_rule rule) {
  return (unsigned)rule < STOW_REWRITE_RULE_COUNT ? texts[rule].name : "?";
}

const char* stow_rewrite_rule_summary(stow_rewrite_rule rule) {
  return (unsigned)rule < STOW_REWRITE_RULE_COUNT ? texts[rule].summary : "?";
}

bool stow_rewrite_rule_find(stow_str name, stow_rewrite_rule* out_rule) {
  for (size_t i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    if (stow_str_equal(name, stow_str_of(texts[i].name))) {
      *out_rule = (stow_rewrite_rule)i;
      return true;
    }
  }
  return false;
}

bool stow_rewrite_rule_is_near(stow_rewrite_rule rule) {
  bool is_near = false;
  for (size_t i = 0; i < TABLE_SIZE; ++i) {
    is_near = is_near || (rules[i].id == rule && rules[i].is_near);
  }
  return is_near;
}

void stow_rewrite_options_defaults(stow_rewrite_options* options) {
  static const stow_rewrite_options defaults = {
      .off = UINT32_C(1) << STOW_REWRITE_NORMS | UINT32_C(1) << STOW_REWRITE_STREAM,
      .fold_limit = 2.0};
  stowi_init_struct(options, &defaults, sizeof(defaults));
}

// ---------------------------------------------------------------------------------------------
// One pass

// By value of the new graph, one of the first graph that it stands for.
static stow_status trace_origins(stow_rewritten* r, const stowi_rewrite_pass* pass,
                                 const stow_graph* made) {
  uint32_t count = stow_graph_value_count(made);
  stow_value* origin = STOWI_ARRAY(r->allocator, stow_value, count);
  STOW_TRY(stowi_need_memory(origin != NULL, pass->diag));
  for (stow_value value = 0; value < count; ++value) {
    origin[value] = STOW_VALUE_NONE;
  }
  for (stow_value value = 0; value < stow_graph_value_count(pass->graph); ++value) {
    stow_value now = pass->copier.map[value];
    if (now != STOW_VALUE_NONE && pass->instead[value] == value) {
      origin[now] = r->origin[value];
    }
  }
  STOWI_ARRAY_FREE(r->allocator, r->origin, r->origin_count);
  r->origin = origin;
  r->origin_count = count;
  return STOW_OK;
}

static void follow_values(stow_rewritten* r, const stowi_rewrite_pass* pass) {
  for (stow_value value = 0; value < r->value_count; ++value) {
    if (r->map[value] != STOW_VALUE_NONE) {
      r->map[value] = pass->copier.map[r->map[value]];
      r->removed_by[value] =
          (uint8_t)(r->map[value] == STOW_VALUE_NONE ? pass->rule : STOW_REWRITE_RULE_COUNT);
    }
  }
}

static stow_status build(stow_rewritten* r, stowi_rewrite_pass* pass, stow_graph** out_graph) {
  STOW_TRY(stowi_rewrite_pass_build(pass, out_graph));
  stow_status status = pass->is_folded == NULL
                           ? STOW_OK
                           : stowi_rewrite_fold_graph(pass, *out_graph, &r->fold_graph);
  if (status == STOW_OK) {
    status = trace_origins(r, pass, *out_graph);
  }
  if (status != STOW_OK) {
    stow_graph_destroy(*out_graph);
    return status;
  }
  follow_values(r, pass);
  return STOW_OK;
}

// Notes the changes of the rules [begin, end), which have a pass together.
static stow_status note_changes(const stow_rewritten* r, size_t begin, size_t end,
                                stowi_rewrite_pass* pass) {
  for (size_t i = begin; i < end; ++i) {
    pass->rule = rules[i].id;
    bool is_off = (r->options.off & stow_rewrite_bit(pass->rule)) != 0;
    STOW_TRY(is_off ? STOW_OK : rules[i].run(pass));
  }
  return STOW_OK;
}

static bool is_any_on(const stow_rewritten* r, size_t begin, size_t end) {
  bool is_on = false;
  for (size_t i = begin; i < end; ++i) {
    is_on = is_on || (r->options.off & stow_rewrite_bit(rules[i].id)) == 0;
  }
  return is_on;
}

static stow_status run_pass(stow_rewritten* r, size_t begin, size_t end, stow_diag* diag,
                            bool* out_fired) {
  if (!is_any_on(r, begin, end)) {
    return STOW_OK;
  }
  stowi_rewrite_pass pass;
  stow_graph* made = NULL;
  stow_status status = stowi_rewrite_pass_init(&pass, stow_rewritten_graph(r), r->allocator, diag);
  pass.rewritten = r;
  if (status == STOW_OK) {
    status = note_changes(r, begin, end, &pass);
  }
  if (status == STOW_OK && pass.fired != 0) {
    *out_fired = true;
    status = build(r, &pass, &made);
  }
  stowi_rewrite_pass_free(&pass);
  if (status == STOW_OK && made != NULL) {
    stow_graph_destroy(r->graph);
    r->graph = made;
  }
  return status;
}

// ---------------------------------------------------------------------------------------------
// All of them

// All passes of the rules [begin, end).
static stow_status run_passes(stow_rewritten* r, size_t begin, size_t end, stow_diag* diag,
                              bool* out_fired) {
  *out_fired = false;
  for (size_t i = begin; i < end;) {
    size_t first = i++;
    while (i < end && rules[i].joins) {
      ++i;
    }
    STOW_TRY(run_pass(r, first, i, diag, out_fired));
  }
  return STOW_OK;
}

// The rules from |*at| on that repeat together, or one that does not. |*at| moves behind them.
static stow_status run_group(stow_rewritten* r, size_t* at, stow_diag* diag) {
  size_t begin = *at;
  size_t end = begin + 1;
  while (rules[begin].repeats && end < TABLE_SIZE && rules[end].repeats &&
         rules[end].is_near == rules[begin].is_near) {
    ++end;
  }
  *at = end;
  bool fired;
  do {
    STOW_TRY(run_passes(r, begin, end, diag, &fired));
  } while (fired && rules[begin].repeats);
  return STOW_OK;
}

static stow_status init(stow_rewritten* r, stow_diag* diag) {
  r->value_count = r->origin_count = stow_graph_value_count(r->from);
  r->map = STOWI_ARRAY(r->allocator, stow_value, r->value_count);
  r->origin = STOWI_ARRAY(r->allocator, stow_value, r->value_count);
  r->removed_by = STOWI_ARRAY(r->allocator, uint8_t, r->value_count);
  STOW_TRY(stowi_need_memory(r->map != NULL && r->origin != NULL && r->removed_by != NULL, diag));
  for (stow_value value = 0; value < r->value_count; ++value) {
    r->map[value] = r->origin[value] = value;
    r->removed_by[value] = STOW_REWRITE_RULE_COUNT;
  }
  return STOW_OK;
}

static stow_status measure(const stow_rewritten* r, const stow_graph* graph, stow_diag* diag,
                           uint64_t* out_live) {
  stowi_rewrite_lives lives;
  stow_node at;
  stow_graph* bound;
  STOW_TRY(stowi_rewrite_bind_largest(graph, r->allocator, diag, &bound));
  stow_status status =
      stowi_rewrite_lives_init(&lives, bound != NULL ? bound : graph, r->allocator, diag);
  *out_live = status == STOW_OK ? stowi_rewrite_peak(&lives, NULL, &at) : 0;
  stowi_rewrite_lives_free(&lives);
  stow_graph_destroy(bound);
  return status;
}

// Rules multiply sizes without looking for overflows. No machine has what is larger than this, so
// such a graph stays as it is.
#define LARGEST (UINT64_C(1) << 56)

static stow_status is_too_large(const stow_rewritten* r, stow_diag* diag, bool* out_is) {
  stow_graph* bound;
  *out_is = false;
  STOW_TRY(stowi_rewrite_bind_largest(r->from, r->allocator, diag, &bound));
  const stow_graph* graph = bound != NULL ? bound : r->from;
  for (stow_value value = 0; value < stow_graph_value_count(graph) && !*out_is; ++value) {
    *out_is = stowi_rewrite_bytes(graph, value) > LARGEST;
  }
  stow_graph_destroy(bound);
  return STOW_OK;
}

static stow_status rewrite(stow_rewritten* r, stow_diag* diag) {
  bool is_large;
  STOW_TRY(is_too_large(r, diag, &is_large));
  STOW_TRY(init(r, diag));
  for (size_t at = is_large ? TABLE_SIZE : 0; at < TABLE_SIZE;) {
    STOW_TRY(run_group(r, &at, diag));
  }
  r->info.weights_before = stowi_rewrite_weights(r->from);
  r->info.weights_after = stowi_rewrite_weights(stow_rewritten_graph(r));
  STOW_TRY(measure(r, r->from, diag, &r->info.live_before));
  return measure(r, stow_rewritten_graph(r), diag, &r->info.live_after);
}

stow_status stow_rewrite(const stow_graph* graph, const stow_rewrite_options* options,
                         stow_allocator allocator, stow_diag* diag,
                         stow_rewritten** out_rewritten) {
  stow_rewrite_options full;
  *out_rewritten = NULL;
  stow_rewrite_options_init(&full);
  STOW_TRY(stowi_load_options(&full, options, sizeof(full), "stow_rewrite_options", diag));
  if (!(full.fold_limit >= 1.0 && full.fold_limit <= 1e9)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "stow_rewrite_options.fold_limit must be 1 to 1000000000");
  }
  full.fold_limit = (double)(uint64_t)(full.fold_limit * 1000.0 + 0.5) / 1000.0;
  stow_rewritten* r = STOWI_NEW(allocator, stow_rewritten);
  STOW_TRY(stowi_need_memory(r != NULL, diag));
  r->allocator = allocator;
  r->from = graph;
  r->options = full;
  stow_status status = rewrite(r, diag);
  if (status != STOW_OK) {
    stow_rewritten_destroy(r);
    return status;
  }
  *out_rewritten = r;
  return STOW_OK;
}

void stow_rewritten_destroy(stow_rewritten* r) {
  if (r == NULL) {
    return;
  }
  stow_graph_destroy(r->graph);
  stow_graph_destroy(r->fold_graph);
  STOWI_ARRAY_FREE(r->allocator, r->map, r->value_count);
  STOWI_ARRAY_FREE(r->allocator, r->removed_by, r->value_count);
  STOWI_ARRAY_FREE(r->allocator, r->origin, r->origin_count);
  STOWI_VEC_FREE(r->allocator, &r->firings);
  stowi_pool_free(&r->pool, r->allocator);
  STOWI_DELETE(r->allocator, r);
}

// ---------------------------------------------------------------------------------------------
// Reading

const stow_graph* stow_rewritten_graph(const stow_rewritten* r) {
  return r->graph != NULL ? r->graph : r->from;
}

const stow_graph* stow_rewritten_fold_graph(const stow_rewritten* r) { return r->fold_graph; }

stow_value stow_rewritten_value(const stow_rewritten* r, stow_value value) {
  return value < r->value_count ? r->map[value] : STOW_VALUE_NONE;
}

stow_rewrite_rule stow_rewritten_removed_by(const stow_rewritten* r, stow_value value) {
  return value < r->value_count ? (stow_rewrite_rule)r->removed_by[value] : STOW_REWRITE_RULE_COUNT;
}

size_t stow_rewritten_count(const stow_rewritten* r, stow_rewrite_rule rule) {
  return (unsigned)rule < STOW_REWRITE_RULE_COUNT ? r->counts[rule] : 0;
}

stow_rewrite_firing stow_rewritten_firing(const stow_rewritten* r, size_t index) {
  return r->firings.data[index];
}

stow_status stow_rewritten_describe(const stow_rewritten* r, stow_rewritten_info* out_info) {
  stow_rewritten_info info = r->info;
  info.struct_size = sizeof(info);
  return stowi_fill_struct(out_info, &info, sizeof(info), "stow_rewritten_info", NULL);
}

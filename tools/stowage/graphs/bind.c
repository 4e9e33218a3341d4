// Binding symbolic dimensions. The library refuses a name that the graph does not have; with a pair
// of graphs (forward and backward) a name need only be in one of them, so names are matched here
// first.
#include "graphs/bind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arguments/number.h"
#include "graphs/source.h"

static cli_bind* bind_at(const cli_binds* binds, size_t index) {
  return (cli_bind*)binds->list.items + index;
}

// `?`.
#define UNKNOWN_MAX 1024

// `N`, `MIN..MAX` or `MIN..MAX/STEP`.
static cli_exit read_range(const cli_binds* binds, const char* option, stow_str name, stow_str text,
                           stow_dim_range* out) {
  if (binds->takes_unknown && text.size == 1 && text.data[0] == '?') {
    *out = (stow_dim_range){1, UNKNOWN_MAX, 1};
    return CLI_YES;
  }
  size_t dots = 0;
  while (dots < text.size && text.data[dots] != '.') {
    ++dots;
  }
  out->step = 1;
  if (dots == text.size) {
    CLI_TRY(cli_parse_dim(option, name, text, &out->min));
    out->max = out->min;
    return CLI_YES;
  }
  size_t slash = dots;
  while (slash < text.size && text.data[slash] != '/') {
    ++slash;
  }
  if (slash - dots < 2 || text.data[dots + 1] != '.') {
    return cli_fail(CLI_USAGE, "--%s: '%.*s' for '%.*s' is not N, MIN..MAX or MIN..MAX/STEP",
                    option, (int)text.size, text.data, (int)name.size, name.data);
  }
  CLI_TRY(cli_parse_dim(option, name, (stow_str){text.data, dots}, &out->min));
  CLI_TRY(
      cli_parse_dim(option, name, (stow_str){text.data + dots + 2, slash - dots - 2}, &out->max));
  if (slash < text.size) {
    CLI_TRY(cli_parse_dim(option, name, (stow_str){text.data + slash + 1, text.size - slash - 1},
                          &out->step));
  }
  if (!stow_dim_range_trim(out)) {
    return cli_fail(CLI_USAGE, "--%s: the range %.*s of '%.*s' %s", option, (int)text.size,
                    text.data, (int)name.size, name.data,
                    out->step < 1                   ? "needs a step of 1 or more"
                    : out->max > STOW_DIM_RANGE_MAX ? "ends above 2^40"
                    : out->max < out->min           ? "is empty"
                                                    : "has no multiple of its step");
  }
  return CLI_YES;
}

static bool is_number(const cli_bind* bind) { return bind->range.min == bind->range.max; }

static cli_exit add_one(cli_binds* binds, const char* option, stow_str name, stow_str text) {
  cli_bind bind = {.name = name};
  CLI_TRY(read_range(binds, option, name, text, &bind.range));
  for (size_t i = 0; i < binds->list.count; ++i) {
    if (stow_str_equal(bind_at(binds, i)->name, name)) {
      const stow_dim_range* first = &bind_at(binds, i)->range;
      return is_number(&bind) && is_number(bind_at(binds, i))
                 ? cli_fail(CLI_USAGE,
                            "--%s: '%.*s' is given twice, as %" PRId64 " and as %" PRId64, option,
                            (int)name.size, name.data, first->min, bind.range.min)
                 : cli_fail(CLI_USAGE, "--%s: '%.*s' is given twice", option, (int)name.size,
                            name.data);
    }
  }
  return cli_list_add(&binds->list, &bind, sizeof bind) ? CLI_YES : cli_fail_memory();
}

cli_exit cli_binds_add(cli_binds* binds, const char* option, const char* text) {
  for (;;) {
    size_t size = strcspn(text, ",");
    size_t equals = size;
    while (equals > 0 && text[equals - 1] != '=') {
      --equals;
    }
    if (equals < 2) {
      return cli_fail(CLI_USAGE, "--%s: '%.*s' is not NAME=N or NAME=MIN..MAX", option, (int)size,
                      text);
    }
    cli_exit code = add_one(binds, option, (stow_str){text, equals - 1},
                            (stow_str){text + equals, size - equals});
    if (code != CLI_YES || text[size] == '\0') {
      return code;
    }
    text += size + 1;
  }
}

void cli_binds_free(cli_binds* binds) { cli_list_free(&binds->list, sizeof(cli_bind)); }

// A range may be narrower than that of the file, not wider.
static cli_exit set_range(stow_dims* dims, size_t symbol, const cli_bind* bind, const char* label) {
  stow_dim_range has;
  const stow_dim_range* wants = &bind->range;
  if (stow_dims_range(dims, symbol, &has) &&
      (wants->min < has.min || wants->max > has.max || wants->step % has.step != 0)) {
    return cli_fail(CLI_USAGE,
                    "--bind: '%.*s' has the range %" PRId64 "..%" PRId64 "/%" PRId64
                    " in %s; give a part of it",
                    (int)bind->name.size, bind->name.data, has.min, has.max, has.step, label);
  }
  return stow_dims_set_range(dims, symbol, wants) == STOW_OK ? CLI_YES : cli_fail_memory();
}

cli_exit cli_binds_apply(cli_binds* binds, const char* label, stow_graph* graph) {
  cli_list names = {0};
  cli_list values = {0};
  bool memory = true;
  bool has_any = false;
  cli_exit code = CLI_YES;
  stow_dims* dims = stow_graph_edit_dims(graph);
  for (size_t i = 0; i < binds->list.count; ++i) {
    cli_bind* bind = bind_at(binds, i);
    size_t symbol = stow_dims_find_symbol(dims, bind->name);
    if (symbol == SIZE_MAX) {
      continue;
    }
    bind->used = has_any = true;
    if (is_number(bind)) {
      memory = memory && cli_list_add(&names, &bind->name, sizeof bind->name) &&
               cli_list_add(&values, &bind->range.min, sizeof bind->range.min);
    } else {
      code = code == CLI_YES ? set_range(dims, symbol, bind, label) : code;
    }
  }
  code = memory ? code : cli_fail_memory();
  if (code == CLI_YES && has_any) {
    stow_diag diag = cli_diag();
    stow_status status = stow_graph_bind(graph, names.items, values.items, names.count, &diag);
    code = status == STOW_OK ? CLI_YES : cli_fail_graph(label, graph, status, &diag);
  }
  cli_list_free(&names, sizeof(stow_str));
  cli_list_free(&values, sizeof(int64_t));
  return code;
}

// Adds a name to a list of |*used| bytes in |out|.
static void list_symbol(stow_str name, char* out, size_t capacity, size_t* used) {
  if (*used < capacity) {
    int size = snprintf(out + *used, capacity - *used, "%s%.*s", *used == 0 ? "" : ", ",
                        (int)name.size, name.data);
    *used += size > 0 ? (size_t)size : 0;
  }
}

static void list_symbols(const stow_graph* graph, char* out, size_t capacity) {
  const stow_dims* dims = stow_graph_dims(graph);
  size_t used = 0;
  snprintf(out, capacity, "none");
  for (size_t i = 0; i < stow_dims_symbol_count(dims); ++i) {
    list_symbol(stow_dims_symbol_name(dims, i), out, capacity, &used);
  }
}

static bool type_uses(const stow_dims* dims, const stow_type* type, size_t symbol) {
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stow_dim_is_const(type->dims[i]) && stow_dim_uses(dims, type->dims[i], symbol)) {
      return true;
    }
  }
  return false;
}

// Whether some type has symbol |symbol|: binding takes it out of all of them.
static bool is_free(const stow_graph* graph, size_t symbol) {
  const stow_dims* dims = stow_graph_dims(graph);
  uint32_t count = stow_graph_value_count(graph);
  for (stow_value value = 0; value < count; ++value) {
    if (type_uses(dims, stow_graph_type(graph, value), symbol)) {
      return true;
    }
  }
  return false;
}

// Symbols without a value, `batch, seq`: those with a range, or the others.
static void list_free(const stow_graph* graph, bool with_range, char* out, size_t capacity) {
  const stow_dims* dims = stow_graph_dims(graph);
  stow_dim_range range;
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < stow_dims_symbol_count(dims) && used < capacity; ++i) {
    if (stow_dims_range(dims, i, &range) == with_range && is_free(graph, i)) {
      list_symbol(stow_dims_symbol_name(dims, i), out, capacity, &used);
    }
  }
}

bool cli_has_ranges(const stow_graph* graph) {
  const stow_dims* dims = stow_graph_dims(graph);
  stow_dim_range range;
  bool has_any = false;
  for (size_t i = 0; i < stow_dims_symbol_count(dims); ++i) {
    if (is_free(graph, i)) {
      if (!stow_dims_range(dims, i, &range)) {
        return false;
      }
      has_any = true;
    }
  }
  return has_any;
}

cli_exit cli_require_bound(const char* label, const stow_graph* graph) {
  if (stow_graph_require_bound(graph, NULL) == STOW_OK) {
    return CLI_YES;
  }
  char symbols[1024];
  list_free(graph, false, symbols, sizeof symbols);
  stow_str name = stow_graph_name(graph);
  if (symbols[0] == '\0') {
    list_free(graph, true, symbols, sizeof symbols);
    return cli_fail(CLI_BAD_INPUT,
                    "%s: @%.*s has ranges, which this command cannot take yet: %s; give each one "
                    "value with --bind NAME=N",
                    label, (int)name.size, name.data, symbols);
  }
  return cli_fail(CLI_BAD_INPUT,
                  "%s: @%.*s has symbols without a value: %s; set each with --bind NAME=N", label,
                  (int)name.size, name.data, symbols);
}

cli_exit cli_binds_require_used(const cli_binds* binds, const stow_graph* graph) {
  for (size_t i = 0; i < binds->list.count; ++i) {
    const cli_bind* bind = bind_at(binds, i);
    if (bind->used || binds->allows_unknown) {
      continue;
    }
    char symbols[1024];
    list_symbols(graph, symbols, sizeof symbols);
    stow_str graph_name = stow_graph_name(graph);
    return cli_fail(CLI_USAGE, "--bind: graph @%.*s has no symbol '%.*s'; its symbols: %s",
                    (int)graph_name.size, graph_name.data, (int)bind->name.size, bind->name.data,
                    symbols);
  }
  return CLI_YES;
}

cli_exit cli_binds_require_any(const cli_binds* binds) {
  for (size_t i = 0; i < binds->list.count; ++i) {
    const cli_bind* bind = bind_at(binds, i);
    if (!bind->used) {
      return cli_fail(CLI_USAGE, "--bind: no graph has a symbol '%.*s'", (int)bind->name.size,
                      bind->name.data);
    }
  }
  return CLI_YES;
}

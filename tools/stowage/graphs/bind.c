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

static cli_exit add_one(cli_binds* binds, const char* option, stow_str name, stow_str number) {
  cli_bind bind = {.name = name};
  CLI_TRY(cli_parse_dim(option, name, number, &bind.value));
  for (size_t i = 0; i < binds->list.count; ++i) {
    if (stow_str_equal(bind_at(binds, i)->name, name)) {
      return cli_fail(CLI_USAGE, "--%s: '%.*s' is given twice, as %" PRId64 " and as %" PRId64,
                      option, (int)name.size, name.data, bind_at(binds, i)->value, bind.value);
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
      return cli_fail(CLI_USAGE, "--%s: '%.*s' is not NAME=N", option, (int)size, text);
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

static bool has_symbol(const stow_graph* graph, stow_str name) {
  const stow_dims* dims = stow_graph_dims(graph);
  for (size_t i = 0; i < stow_dims_symbol_count(dims); ++i) {
    if (stow_str_equal(stow_dims_symbol_name(dims, i), name)) {
      return true;
    }
  }
  return false;
}

cli_exit cli_binds_apply(cli_binds* binds, const char* label, stow_graph* graph) {
  cli_list names = {0};
  cli_list values = {0};
  bool memory = true;
  for (size_t i = 0; i < binds->list.count; ++i) {
    cli_bind* bind = bind_at(binds, i);
    if (has_symbol(graph, bind->name)) {
      bind->used = true;
      memory = memory && cli_list_add(&names, &bind->name, sizeof bind->name) &&
               cli_list_add(&values, &bind->value, sizeof bind->value);
    }
  }
  cli_exit code = memory ? CLI_YES : cli_fail_memory();
  if (memory && names.count > 0) {
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

// Symbols without a value, `batch, seq`.
static void list_free(const stow_graph* graph, char* out, size_t capacity) {
  const stow_dims* dims = stow_graph_dims(graph);
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < stow_dims_symbol_count(dims) && used < capacity; ++i) {
    if (is_free(graph, i)) {
      list_symbol(stow_dims_symbol_name(dims, i), out, capacity, &used);
    }
  }
}

cli_exit cli_require_bound(const char* label, const stow_graph* graph) {
  if (stow_graph_require_bound(graph, NULL) == STOW_OK) {
    return CLI_YES;
  }
  char symbols[1024];
  list_free(graph, symbols, sizeof symbols);
  stow_str name = stow_graph_name(graph);
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

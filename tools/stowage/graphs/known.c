// Symbols from shapes. Only a dim that is one symbol tells its value; those that are made of others
// follow from them. Who binds a symbol by an option means it: a shape that differs is found out
// when the array is given to its input.
#include "graphs/known.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/model.h"

typedef struct found {
  char* symbol;
  int64_t value;
  const cli_known_shape* shape;
} found;

bool cli_known_add(cli_known* known, const cli_known_shape* shape) {
  return cli_list_add(&known->shapes, shape, sizeof *shape);
}

void cli_known_free(cli_known* known) {
  const found* values = known->values.items;
  for (size_t i = 0; i < known->values.count; ++i) {
    free(values[i].symbol);
  }
  cli_list_free(&known->values, sizeof(found));
  cli_list_free(&known->shapes, sizeof(cli_known_shape));
}

// Whether an option has bound it, or another shape with the same value; complains where another
// shape differs.
static bool is_bound(const cli_known* known, stow_str symbol, int64_t value,
                     const cli_known_shape* shape, cli_exit* out_code) {
  const found* values = known->values.items;
  for (size_t i = 0; i < known->values.count; ++i) {
    if (stow_str_equal(stow_str_of(values[i].symbol), symbol)) {
      if (values[i].value != value) {
        *out_code =
            cli_fail(CLI_BAD_INPUT,
                     "'%.*s' is %" PRId64 " by %s and %" PRId64 " by %s; choose one with --bind",
                     (int)symbol.size, symbol.data, values[i].value, values[i].shape->from, value,
                     shape->from);
      }
      return true;
    }
  }
  const cli_bind* binds = known->binds->list.items;
  for (size_t i = 0; i < known->binds->list.count; ++i) {
    if (stow_str_equal(binds[i].name, symbol)) {
      return true;
    }
  }
  return false;
}

static cli_exit add_value(cli_known* known, stow_str symbol, int64_t value,
                          const cli_known_shape* shape) {
  cli_exit code = CLI_YES;
  if (is_bound(known, symbol, value, shape, &code)) {
    return code;
  }
  found item = {strndup(symbol.data, symbol.size), value, shape};
  cli_bind bind = {{item.symbol, symbol.size}, {value, value, 1}, false};
  if (item.symbol == NULL || !cli_list_add(&known->values, &item, sizeof item)) {
    free(item.symbol);
    return cli_fail_memory();
  }
  return cli_list_add(&known->binds->list, &bind, sizeof bind) ? CLI_YES : cli_fail_memory();
}

// ---------------------------------------------------------------------------------------------
// Models

static cli_exit bind_declared(cli_known* known, const cli_known_shape* shape, stow_str input,
                              const char* declared) {
  const char* cursor = strchr(declared, '[');
  cursor = cursor == NULL ? "" : cursor + 1;
  cli_exit code = CLI_YES;
  for (uint32_t axis = 0;
       code == CLI_YES && axis < shape->rank && *cursor != '\0' && *cursor != ']'; ++axis) {
    stow_str dim = cli_next_declared_dim(&cursor);
    char name[512];
    if (dim.size == 0 || (dim.data[0] >= '0' && dim.data[0] <= '9')) {
      continue;
    }
    if (dim.size == 1 && dim.data[0] == '?') {
      snprintf(name, sizeof name, "%.*s.%" PRIu32, (int)input.size, input.data, axis);
      dim = stow_str_of(name);
    }
    code = add_value(known, dim, shape->dims[axis], shape);
  }
  return code;
}

size_t cli_known_input(const struct cli_model* model, const cli_known_shape* shape) {
  size_t count = cli_model_info(model).input_count;
  if (shape->name.size == 0) {
    return shape->position < count ? shape->position : count;
  }
  size_t i = 0;
  while (i < count && !stow_str_equal(cli_model_port(model, STOW_MODEL_INPUTS, i), shape->name)) {
    ++i;
  }
  return i;
}

cli_exit cli_known_bind_model(cli_known* known, const struct cli_model* model) {
  cli_exit code = CLI_YES;
  for (size_t i = 0; known != NULL && code == CLI_YES && i < known->shapes.count; ++i) {
    const cli_known_shape* shape = (const cli_known_shape*)known->shapes.items + i;
    size_t input = cli_known_input(model, shape);
    if (input == cli_model_info(model).input_count) {
      continue;
    }
    stow_string declared = cli_string();
    code = stow_model_print_type(model->model, STOW_MODEL_INPUTS, input,
                                 stow_string_writer(&declared)) == STOW_OK
               ? bind_declared(known, shape, cli_model_port(model, STOW_MODEL_INPUTS, input),
                               declared.data)
               : cli_fail_memory();
    stow_string_free(&declared);
  }
  return code;
}

// ---------------------------------------------------------------------------------------------
// Graphs

// The symbol that |dim| is; an empty name where it is a number or made of symbols.
static stow_str symbol_of(stow_dims* dims, stow_dim dim) {
  for (size_t i = 0; !stow_dim_is_const(dim) && i < stow_dims_symbol_count(dims); ++i) {
    stow_str name = stow_dims_symbol_name(dims, i);
    if (stow_dim_symbol(dims, name) == dim) {
      return name;
    }
  }
  return (stow_str){"", 0};
}

static bool is_meant(const cli_known_shape* shape, stow_str name, size_t position) {
  return shape->name.size == 0 ? shape->position == position : stow_str_equal(shape->name, name);
}

static cli_exit bind_input(cli_known* known, stow_graph* graph, stow_value value, size_t position) {
  const stow_type* type = stow_graph_type(graph, value);
  stow_dims* dims = stow_graph_edit_dims(graph);
  const cli_known_shape* shapes = known->shapes.items;
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < known->shapes.count; ++i) {
    if (!is_meant(&shapes[i], stow_graph_value_name(graph, value), position)) {
      continue;
    }
    for (uint32_t axis = 0; code == CLI_YES && axis < shapes[i].rank && axis < type->rank; ++axis) {
      stow_str symbol = symbol_of(dims, type->dims[axis]);
      code =
          symbol.size == 0 ? CLI_YES : add_value(known, symbol, shapes[i].dims[axis], &shapes[i]);
    }
  }
  return code;
}

cli_exit cli_known_bind_graph(cli_known* known, stow_graph* graph) {
  cli_exit code = CLI_YES;
  size_t position = 0;
  uint32_t count = stow_graph_node_count(graph);
  for (stow_node node = 0; known != NULL && node < count && code == CLI_YES; ++node) {
    if (stow_graph_op(graph, node) == STOW_OP_INPUT) {
      code = bind_input(known, graph, stow_graph_first_result(graph, node), position++);
    }
  }
  return code;
}

// Which symbols a user has to bind. Those of inputs are known. Dims that depend on data often
// become numbers with them, or with one another, so that is tried: the model is imported with a
// number for all symbols of inputs, and then the first symbol that is left, in the order of the
// nodes, is bound, until none is. A later symbol never determines an earlier one, so the list is
// the shortest. Nothing is planned; an import takes milliseconds.
#include "graphs/needs.h"

#include <stdlib.h>
#include <string.h>

// What inputs get in a trial: sizes that are divided by two many times, and those that need one
// channel or three. The first that the model accepts is taken.
static const int64_t trial_sizes[] = {64, 448, 3, 1};
#define TRIALS (sizeof trial_sizes / sizeof trial_sizes[0])
#define MOST_DATA_NEEDS 64

static bool add_need(cli_needs* needs, stow_str symbol, stow_str tensor, uint32_t axis,
                     bool is_data) {
  cli_need need = {strndup(symbol.data, symbol.size), strndup(tensor.data, tensor.size), axis,
                   is_data};
  if (need.symbol == NULL || need.tensor == NULL ||
      !cli_list_add(&needs->list, &need, sizeof need)) {
    free(need.symbol);
    free(need.tensor);
    return false;
  }
  return true;
}

void cli_needs_free(cli_needs* needs) {
  cli_need* items = needs->list.items;
  for (size_t i = 0; i < needs->list.count; ++i) {
    free(items[i].symbol);
    free(items[i].tensor);
  }
  cli_list_free(&needs->list, sizeof(cli_need));
}

bool cli_needs_data(const cli_needs* needs, stow_str tensor) {
  const cli_need* items = needs->list.items;
  for (size_t i = needs->inputs; i < needs->list.count; ++i) {
    if (stow_str_equal(stow_str_of(items[i].tensor), tensor)) {
      return true;
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Inputs

static bool add_inputs(const cli_model* model, cli_needs* needs) {
  size_t count;
  const stow_str* symbols = stow_import_symbols(model->import, &count);
  for (size_t i = 0; i < count; ++i) {
    size_t input;
    uint32_t axis;
    if (cli_model_find_symbol(model, symbols[i], &input, &axis) != STOW_OK) {
      return false;
    }
    bool is_found = input < cli_model_info(model).input_count;
    stow_str name = is_found ? cli_model_port(model, STOW_MODEL_INPUTS, input) : stow_str_of("");
    if (!add_need(needs, symbols[i], name, axis, false)) {
      return false;
    }
  }
  needs->inputs = needs->list.count;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Dims that depend on data

// The symbol of a dim that is not a number.
static stow_str symbol_of(const stow_dims* dims, stow_dim dim) {
  size_t symbol = 0;
  while (symbol < stow_dims_symbol_count(dims) && !stow_dim_uses(dims, dim, symbol)) {
    ++symbol;
  }
  return stow_dims_symbol_name(dims, symbol);
}

// The first dim that is not a number.
static bool find_open(const stow_graph* graph, stow_value* out_value, uint32_t* out_axis) {
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    const stow_type* type = stow_graph_type(graph, value);
    for (uint32_t axis = 0; axis < type->rank; ++axis) {
      if (!stow_dim_is_const(type->dims[axis])) {
        *out_value = value;
        *out_axis = axis;
        return true;
      }
    }
  }
  return false;
}

static bool bind_any(stow_graph* graph, stow_str symbol) {
  for (size_t i = 0; i < TRIALS; ++i) {
    if (stow_graph_bind(graph, &symbol, &trial_sizes[i], 1, NULL) == STOW_OK) {
      return true;
    }
  }
  return false;
}

static bool add_data(stow_graph* graph, cli_needs* needs) {
  stow_value value;
  uint32_t axis;
  needs->is_whole = true;
  for (size_t i = 0; needs->is_whole && find_open(graph, &value, &axis); ++i) {
    const stow_type* type = stow_graph_type(graph, value);
    stow_str symbol = symbol_of(stow_graph_dims(graph), type->dims[axis]);
    if (!add_need(needs, symbol, stow_graph_value_name(graph, value), axis, true)) {
      return false;
    }
    needs->is_whole = i < MOST_DATA_NEEDS && bind_any(graph, symbol);
  }
  return true;
}

// The model with a number for every symbol of its inputs; NULL where none is accepted.
static stow_import* import_trial(const cli_model* model, bool has_symbols) {
  cli_model_request request = *model->request;
  for (size_t i = 0; i < (has_symbols ? TRIALS : 1); ++i) {
    request.has_rest = has_symbols || request.has_rest;
    request.rest = has_symbols ? trial_sizes[i] : request.rest;
    stow_import* import = cli_model_try(model, &request);
    if (import != NULL && stow_import_graph(import) != NULL) {
      return import;
    }
    stow_import_destroy(import);
  }
  return NULL;
}

bool cli_needs_find(const cli_model* model, cli_needs* out_needs) {
  *out_needs = (cli_needs){0};
  if (!add_inputs(model, out_needs)) {
    return false;
  }
  stow_import* trial = import_trial(model, out_needs->inputs > 0);
  bool memory = trial == NULL || add_data(stow_import_graph(trial), out_needs);
  stow_import_destroy(trial);
  if (!out_needs->is_whole) {
    // what a trial that ended halfway has found may be more than is needed
    cli_need* items = out_needs->list.items;
    while (out_needs->list.count > out_needs->inputs) {
      --out_needs->list.count;
      free(items[out_needs->list.count].symbol);
      free(items[out_needs->list.count].tensor);
    }
  }
  return memory;
}

// What summaries say about a model. Which value a symbol got is read off the inputs, declared
// beside planned: so it is told whatever gave it, an option, an array or another symbol.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graphs/model.h"
#include "report/api.h"
#include "terminal/lines.h"

#define LABEL_FORMAT "  %-15s "
#define LABEL_WIDTH 18

stow_model_info cli_model_info(const cli_model* model) {
  stow_model_info info = {.struct_size = sizeof info};
  (void)stow_model_describe(model->model, &info);
  return info;
}

stow_str cli_model_port(const cli_model* model, stow_model_side side, size_t index) {
  stow_model_port port = {.struct_size = sizeof port};
  (void)stow_model_describe_port(model->model, side, index, &port);
  return port.name;
}

static void print_opsets(const cli_model* model, cli_output* output) {
  for (size_t i = 0; i < cli_model_info(model).opset_count; ++i) {
    int64_t version;
    stow_str domain = stow_model_opset(model->model, i, &version);
    if (domain.size == 0) {
      cli_print(output, ", opset %" PRId64, version);
    }
  }
}

void cli_model_print_facts(const cli_model* model, cli_output* output) {
  stow_model_info info = cli_model_info(model);
  char name[128];
  char version[64];
  stowi_report_escape(info.producer, name, sizeof name - 2);
  stowi_report_escape(info.producer_version, version, sizeof version - 2);
  stowi_report_cut(name, 20);
  stowi_report_cut(version, 12);
  cli_print(output, LABEL_FORMAT "ONNX, IR version %" PRId64, "format", info.format_version);
  print_opsets(model, output);
  if (name[0] != '\0') {
    cli_print(output, ", by %s%s%s", name, version[0] == '\0' ? "" : " ", version);
  }
  size_t nodes = info.node_count;
  stow_model_weights weights = {.struct_size = sizeof weights};
  char parameters[STOWI_REPORT_NUMBER] = "0";
  if (stow_model_count_weights(model->model, NULL, NULL, &weights) == STOW_OK) {
    // Small models are counted to the last one.
    uint64_t count = weights.elements;
    if (count < 100000) {
      snprintf(parameters, STOWI_REPORT_NUMBER, "%" PRIu64, count);
    } else {
      stowi_report_count(count, parameters);
    }
  }
  cli_print(output, "\n" LABEL_FORMAT "%zu node%s, %s parameter%s in %" PRIu64 " tensor%s\n",
            "model", nodes, cli_plural(nodes), parameters, cli_plural(weights.elements),
            weights.tensors, cli_plural(weights.tensors));
}

// ---------------------------------------------------------------------------------------------
// Symbols

#define NAME_SIZE 160

typedef struct bound {
  char name[NAME_SIZE];
  int64_t value;
} bound;

stow_str cli_next_declared_dim(const char** cursor) {
  const char* at = *cursor + strspn(*cursor, ", ");
  bool is_quoted = *at == '"';
  at += is_quoted;
  size_t size = strcspn(at, is_quoted ? "\"" : ",]");
  *cursor = at + size + (at[size] == '"');
  return (stow_str){at, size};
}

static bool add_bound(cli_list* list, const bound* symbol) {
  const bound* symbols = list->items;
  for (size_t i = 0; i < list->count; ++i) {
    if (strcmp(symbols[i].name, symbol->name) == 0) {
      return true;
    }
  }
  return cli_list_add(list, symbol, sizeof *symbol);
}

// Adds the dims of one input that the file leaves open.
static bool add_dims(stow_str input, const char* declared, const stow_type* type, cli_list* list) {
  const char* cursor = strchr(declared, '[');
  cursor = cursor == NULL ? "" : cursor + 1;
  for (uint32_t axis = 0; axis < type->rank && *cursor != '\0' && *cursor != ']'; ++axis) {
    stow_str dim = cli_next_declared_dim(&cursor);
    bool is_number = dim.size > 0 && dim.data[0] >= '0' && dim.data[0] <= '9';
    if (is_number || !stow_dim_is_const(type->dims[axis])) {
      continue;
    }
    bound symbol = {.value = type->dims[axis]};
    char escaped[NAME_SIZE - 16];
    bool is_named = dim.size != 1 || dim.data[0] != '?';
    stowi_report_escape(is_named ? dim : input, escaped, sizeof escaped);
    if (is_named) {
      snprintf(symbol.name, sizeof symbol.name, "%s", escaped);
    } else {
      snprintf(symbol.name, sizeof symbol.name, "%s.%" PRIu32, escaped, axis);
    }
    if (!add_bound(list, &symbol)) {
      return false;
    }
  }
  return true;
}

static bool find_bound(const cli_model* model, const stow_graph* graph, cli_list* list) {
  bool memory = true;
  for (size_t i = 0; i < cli_model_info(model).input_count && memory; ++i) {
    stow_str name = cli_model_port(model, STOW_MODEL_INPUTS, i);
    stow_value value = stow_graph_find(graph, name);
    stow_string declared = cli_string();
    if (value != STOW_VALUE_NONE) {
      memory = stow_model_print_type(model->model, STOW_MODEL_INPUTS, i,
                                     stow_string_writer(&declared)) == STOW_OK &&
               add_dims(name, declared.size == 0 ? "" : declared.data,
                        stow_graph_type(graph, value), list);
    }
    stow_string_free(&declared);
  }
  return memory;
}

bool cli_model_has_input(const cli_model* model, stow_str name) {
  for (size_t i = 0; i < cli_model_info(model).input_count; ++i) {
    if (stow_str_equal(cli_model_port(model, STOW_MODEL_INPUTS, i), name)) {
      return true;
    }
  }
  return false;
}

// The first dim of |declared|, the type of |input|, that is called |name|; UINT32_MAX: none.
static uint32_t declared_axis(stow_str input, const char* declared, stow_str name) {
  const char* cursor = strchr(declared, '[');
  cursor = cursor == NULL ? "" : cursor + 1;
  for (uint32_t axis = 0; *cursor != '\0' && *cursor != ']'; ++axis) {
    stow_str dim = cli_next_declared_dim(&cursor);
    char number[STOWI_REPORT_NUMBER];
    snprintf(number, sizeof number, ".%" PRIu32, axis);
    stow_str suffix = stow_str_of(number);
    bool is_axis = dim.size == 1 && dim.data[0] == '?' && name.size == input.size + suffix.size &&
                   memcmp(name.data, input.data, input.size) == 0 &&
                   memcmp(name.data + input.size, suffix.data, suffix.size) == 0;
    if (is_axis || stow_str_equal(dim, name)) {
      return axis;
    }
  }
  return UINT32_MAX;
}

stow_status cli_model_find_symbol(const cli_model* model, stow_str name, size_t* out_input,
                                  uint32_t* out_axis) {
  size_t count = cli_model_info(model).input_count;
  stow_status status = STOW_OK;
  *out_axis = UINT32_MAX;
  for (*out_input = 0; *out_input < count; ++*out_input) {
    stow_string declared = cli_string();
    status = stow_model_print_type(model->model, STOW_MODEL_INPUTS, *out_input,
                                   stow_string_writer(&declared));
    if (status == STOW_OK && declared.size != 0) {
      stow_str input = cli_model_port(model, STOW_MODEL_INPUTS, *out_input);
      *out_axis = declared_axis(input, declared.data, name);
    }
    stow_string_free(&declared);
    if (status != STOW_OK || *out_axis != UINT32_MAX) {
      break;
    }
  }
  return status;
}

void cli_model_print_symbols(const cli_model* model, const stow_graph* graph, cli_output* output) {
  cli_list list = {0};
  if (!find_bound(model, graph, &list)) {
    cli_output_lack_memory(output);
  }
  const bound* symbols = list.items;
  size_t column = 0;
  for (size_t i = 0; i < list.count; ++i) {
    char word[NAME_SIZE + STOWI_REPORT_NUMBER];
    snprintf(word, sizeof word, "%s=%" PRId64, symbols[i].name, symbols[i].value);
    size_t width = stowi_report_width(word) + 1;
    if (i == 0) {
      cli_print(output, LABEL_FORMAT, "symbols");
      column = LABEL_WIDTH;
    } else if (column + 1 + width > output->width) {
      cli_print(output, ",\n%*s", LABEL_WIDTH, "");
      column = LABEL_WIDTH;
    } else {
      cli_print(output, ", ");
      column += 1;
    }
    cli_print(output, "%s", word);
    column += width;
  }
  cli_print(output, "%s", column > 0 ? "\n" : "");
  cli_list_free(&list, sizeof(bound));
}

uint64_t cli_weight_bytes(const stow_graph* graph, const stow_plan* plan) {
  uint64_t bytes = 0;
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    uint64_t size;
    stow_slot slot;
    if (stow_graph_is_boundary(graph, value) &&
        stow_graph_op(graph, stow_graph_producer(graph, value)) != STOW_OP_INPUT &&
        (plan == NULL || stow_plan_value_slot(plan, value, &slot)) &&
        stow_type_bytes(stow_graph_type(graph, value), &size) == STOW_OK) {
      bytes += size;
    }
  }
  return bytes;
}

bool cli_is_folded(const stow_graph* graph, stow_value value) {
  stow_node node = stow_graph_producer(graph, value);
  const stow_attr* attr =
      stow_graph_op(graph, node) == STOW_OP_PARAM ? stow_graph_attr(graph, node, "folded") : NULL;
  return attr != NULL && attr->b;
}

uint64_t cli_folded_bytes(const stow_graph* graph) {
  uint64_t bytes = 0;
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    uint64_t size;
    if (cli_is_folded(graph, value) &&
        stow_type_bytes(stow_graph_type(graph, value), &size) == STOW_OK) {
      bytes += size;
    }
  }
  return bytes;
}

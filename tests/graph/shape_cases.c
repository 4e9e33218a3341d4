#include "graph/shape_cases.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

#define TEXT_SIZE 4096

typedef struct text {
  char data[TEXT_SIZE];
  size_t size;
} text;

static void put(text* to, const char* data, size_t size) {
  if (size < TEXT_SIZE - to->size) {
    memcpy(to->data + to->size, data, size);
    to->size += size;
    to->data[to->size] = '\0';
  }
}

static void put_value(text* to, unsigned value) {
  char id[32];
  int size = snprintf(id, sizeof(id), "%%%u", value);
  put(to, id, (size_t)size);
}

// The part of |list| up to a ';', and what follows it.
static const char* next_item(const char* list, size_t* out_size) {
  while (*list == ' ') {
    ++list;
  }
  *out_size = strcspn(list, ";");
  return list;
}

// `TYPE`: an input. `TYPE = [1, 2]`: a constant with that data. `TYPE := op(%0)`: a node.
static void put_operand(text* to, unsigned number, const char* item, size_t size) {
  const char* data = memchr(item, '=', size);
  if (data != NULL && data[-1] == ':') {
    put(to, "  ", 2);
    put_value(to, number);
    put(to, " ", 1);
    put(to, data, size - (size_t)(data - item));
    put(to, " : ", 3);
    put(to, item, (size_t)(data - 1 - item));
    put(to, "\n", 1);
    return;
  }
  size_t type_size = data == NULL ? size : (size_t)(data - item);
  char head[64];
  int head_size = snprintf(head, sizeof(head), "  %%%u = %s \"x%u\"", number,
                           data == NULL ? "input" : "constant", number);
  put(to, head, (size_t)head_size);
  if (data != NULL) {
    put(to, " {data ", 7);
    put(to, data, size - type_size);
    put(to, "}", 1);
  }
  put(to, " : ", 3);
  put(to, item, type_size);
  put(to, "\n", 1);
}

static unsigned put_inputs(text* to, const char* operands) {
  unsigned count = 0;
  while (*operands != '\0') {
    size_t size;
    operands = next_item(operands, &size);
    if (size == 0) {
      break;
    }
    put_operand(to, count, operands, size);
    operands += size + (operands[size] == ';');
    ++count;
  }
  return count;
}

static void put_values(text* to, unsigned first, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    put(to, ", ", i == 0 ? 0 : 2);
    put_value(to, first + i);
  }
}

// For cases of `blocks` and `stream`: one value after the other, rows that are sums of products,
// two outputs of which the first may not be written over its input, and windows.
static const char functions[] =
    "  function @swish {\n"
    "    %0 = input \"x\" : f32[?rows]\n"
    "    %1 = input \"b\" : f32[1]\n"
    "    %2 = add(%0, %1) : f32[?rows]\n"
    "    %3 = sigmoid(%2) : f32[?rows]\n"
    "    %4 = mul(%0, %3) : f32[?rows]\n"
    "    return %4\n"
    "  }\n"
    "  function @attend {\n"
    "    %0 = input \"q\" : f32[?rows, 4]\n"
    "    %1 = input \"k\" : f32[4, 6]\n"
    "    %2 = input \"v\" : f32[6, 4]\n"
    "    %3 = input \"mask\" : f32[?rows, 6]\n"
    "    %4 = matmul(%0, %1) : f32[?rows, 6]\n"
    "    %5 = add(%4, %3) : f32[?rows, 6]\n"
    "    %6 = softmax(%5) {axis = 1} : f32[?rows, 6]\n"
    "    %7 = matmul(%6, %2) : f32[?rows, 4]\n"
    "    return %7\n"
    "  }\n"
    "  function @both {\n"
    "    %0 = input \"x\" : f32[?rows, 5]\n"
    "    %1 = softmax(%0) {axis = 1} : f32[?rows, 5]\n"
    "    %2 = mul(%1, %0) : f32[?rows, 5]\n"
    "    return %1, %2\n"
    "  }\n"
    "  function @blur {\n"
    "    %0 = input \"x\" : f32[1, 2, 6, 5]\n"
    "    %1 = input \"w\" : f32[2, 1, 3, 1]\n"
    "    %2 = conv(%0, %1) {group = 2, pads = [1, 0, 1, 0]} : f32[1, 2, 6, 5]\n"
    "    %3 = tanh(%2) : f32[1, 2, 6, 5]\n"
    "    %4 = add(%3, %0) : f32[1, 2, 6, 5]\n"
    "    return %4\n"
    "  }\n";

static text make_text(const char* operands, const char* node, const char* results) {
  text made = {.size = 0};
  put(&made, "graph @g {\n", 11);
  bool has_function = strncmp(node, "blocks", 6) == 0 || strncmp(node, "stream", 6) == 0;
  put(&made, functions, has_function ? sizeof(functions) - 1 : 0);
  unsigned first = put_inputs(&made, operands);
  unsigned count = 1;
  for (const char* c = results; *c != '\0'; ++c) {
    count += *c == ';';
  }
  put(&made, "  ", 2);
  put_values(&made, first, count);
  put(&made, " = ", 3);
  put(&made, node, strlen(node));
  put(&made, " : ", 3);
  for (const char* c = results; *c != '\0'; ++c) {
    put(&made, *c == ';' ? "," : c, 1);
  }
  put(&made, "\n  return ", 10);
  put_values(&made, first, count);
  put(&made, "\n}\n", 3);
  return made;
}

stow_module* shape_case_parse(const char* operands, const char* node, const char* results,
                              stow_allocator allocator, stow_diag* diag) {
  text made = make_text(operands, node, results);
  stow_module* module = NULL;
  stow_diag_init(diag);
  stow_status status =
      stow_module_parse(made.data, made.size, NULL, NULL, allocator, diag, &module);
  CHECK(status == diag->status);
  return module;
}

void shape_case_gives(const char* operands, const char* node, const char* results, const char* file,
                      int line) {
  stow_diag diag;
  stow_module* module = shape_case_parse(operands, node, results, stow_allocator_default(), &diag);
  test_check(module != NULL, file, line, "%s: %s", node, diag.message);
  stow_module_destroy(module);
}

void shape_case_refuses(const char* operands, const char* node, const char* results,
                        stow_status status, const char* message, const char* file, int line) {
  stow_diag diag;
  stow_module* module = shape_case_parse(operands, node, results, stow_allocator_default(), &diag);
  test_check(module == NULL, file, line, "%s is accepted", node);
  test_check(diag.status == status, file, line, "%s: %s, not %s", node,
             stow_status_text(diag.status), stow_status_text(status));
  test_check(strstr(diag.message, message) != NULL, file, line, "\"%s\" has no \"%s\"",
             diag.message, message);
  stow_module_destroy(module);
}

// The types of the graph's outputs, separated by ';'.
static text output_types(const stow_graph* graph) {
  text made = {.size = 0};
  stow_string printed;
  stow_string_init(&printed, stow_allocator_default());
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    stow_value value = stow_graph_outputs(graph)[i];
    CHECK(i == 0 || stow_string_append(&printed, "; ", 2) == STOW_OK);
    CHECK(stow_type_print(stow_graph_dims(graph), stow_graph_type(graph, value),
                          stow_string_writer(&printed)) == STOW_OK);
  }
  put(&made, printed.data, printed.size);
  stow_string_free(&printed);
  return made;
}

void shape_case_binds(const char* operands, const char* node, const char* results, int64_t s,
                      const char* bound_results, const char* message, const char* file, int line) {
  stow_diag diag;
  stow_module* module = shape_case_parse(operands, node, results, stow_allocator_default(), &diag);
  if (!test_check(module != NULL, file, line, "%s: %s", node, diag.message)) {
    return;
  }
  stow_graph* graph = stow_module_graph(module, 0);
  stow_str name = stow_str_of("s");
  stow_status status = stow_graph_bind(graph, &name, &s, 1, &diag);
  if (message != NULL) {
    test_check(status == STOW_ERR_TYPE, file, line, "%s: %s", node, stow_status_text(status));
    test_check(strstr(diag.message, message) != NULL, file, line, "\"%s\" has no \"%s\"",
               diag.message, message);
  } else if (test_check(status == STOW_OK, file, line, "%s: %s", node, diag.message)) {
    test_check_text(output_types(graph).data, bound_results, file, line, node);
  }
  stow_module_destroy(module);
}

// The known elements of an output, `_` for each that is not known.
static void put_known(text* to, const stow_graph* graph, stow_value value) {
  const stow_type* type = stow_graph_type(graph, value);
  bool is_float = stow_dtype_kind_of(type->dtype) == STOW_KIND_FLOAT;
  uint64_t count = 0;
  CHECK(stow_type_elements(type, &count) == STOW_OK);
  for (size_t i = 0; i < count; ++i) {
    double real;
    char number[40];
    stow_string printed;
    stow_string_init(&printed, stow_allocator_default());
    stow_dim dim = stow_graph_known(graph, value, i);
    int64_t whole;
    int size = 0;
    if (is_float && stow_graph_known_float(graph, value, i, &real)) {
      size = snprintf(number, sizeof(number), "%g", real);
    } else if (stow_graph_known_int(graph, value, i, &whole)) {
      size = snprintf(number, sizeof(number), "%lld", (long long)whole);
    } else if (dim != STOW_DIM_INVALID) {
      CHECK(stow_dim_print(stow_graph_dims(graph), dim, stow_string_writer(&printed)) == STOW_OK);
    } else {
      size = snprintf(number, sizeof(number), "_");
    }
    put(to, " ", i == 0 ? 0 : 1);
    put(to, size == 0 ? printed.data : number, size == 0 ? printed.size : (size_t)size);
    stow_string_free(&printed);
  }
}

void shape_case_folds(const char* operands, const char* node, const char* results,
                      const char* values, const char* file, int line) {
  stow_diag diag;
  stow_module* module = shape_case_parse(operands, node, results, stow_allocator_default(), &diag);
  if (!test_check(module != NULL, file, line, "%s: %s", node, diag.message)) {
    return;
  }
  stow_graph* graph = stow_module_graph(module, 0);
  text made = {.size = 0};
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    put(&made, "; ", i == 0 ? 0 : 2);
    put_known(&made, graph, stow_graph_outputs(graph)[i]);
  }
  test_check_text(made.data, values, file, line, node);
  stow_module_destroy(module);
}

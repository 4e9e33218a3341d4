#include "support/random_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/api.h"
#include "graph/in_place_cases.h"
#include "graph/shape_cases.h"

#define MAX_OPERANDS 16
#define MAX_LIST 16
#define MAX_ELEMENTS 1024  // of a varied result

struct random_ops {
  stow_module* cases[OVER_CASE_COUNT];  // NULL if a case cannot be used
  stow_op op[OVER_CASE_COUNT];
  size_t count[STOW_OP_CORE_COUNT];  // of cases
  stow_op known[STOW_OP_CORE_COUNT];
  size_t known_count;
};

typedef struct hand {
  test_random* random;
  stow_graph* graph;
  const stow_value* visible;
  size_t count;
  const stow_graph* from;  // the case, whose last node is the model
  stow_node model;
} hand;

static uint64_t below(const hand* h, uint64_t bound) { return test_random_below(h->random, bound); }

// ---------------------------------------------------------------------------------------------
// Cases

static bool is_bound(const stow_type* type) {
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stow_dim_is_const(type->dims[i])) {
      return false;
    }
  }
  return true;
}

static bool is_usable(const stow_graph* graph) {
  stow_node node = stow_graph_node_count(graph) - 1;
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    if (!is_bound(stow_graph_type(graph, value))) {
      return false;
    }
  }
  return !stow_graph_op_desc(graph, node)->writes_view &&
         stow_graph_operand_count(graph, node) <= MAX_OPERANDS;
}

random_ops* random_ops_create(void) {
  random_ops* ops = (random_ops*)calloc(1, sizeof(random_ops));
  if (ops == NULL) {
    abort();
  }
  for (size_t i = 0; i < OVER_CASE_COUNT; ++i) {
    stow_diag diag;
    ops->cases[i] = shape_case_parse(in_place_cases[i].operands, in_place_cases[i].node,
                                     in_place_cases[i].results, stow_allocator_default(), &diag);
    const stow_graph* graph = ops->cases[i] == NULL ? NULL : stow_module_graph(ops->cases[i], 0);
    if (graph == NULL || !is_usable(graph)) {
      stow_module_destroy(ops->cases[i]);
      ops->cases[i] = NULL;
      continue;
    }
    ops->op[i] = stow_graph_op(graph, stow_graph_node_count(graph) - 1);
    ops->count[ops->op[i]] += 1;
  }
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    if (random_ops_has(ops, op)) {
      ops->known[ops->known_count++] = op;
    }
  }
  return ops;
}

void random_ops_destroy(random_ops* ops) {
  for (size_t i = 0; ops != NULL && i < OVER_CASE_COUNT; ++i) {
    stow_module_destroy(ops->cases[i]);
  }
  free(ops);
}

bool random_ops_has(const random_ops* ops, stow_op op) { return ops->count[op] > 0; }

static const stow_graph* choose_case(const random_ops* ops, test_random* random) {
  stow_op op = ops->known[test_random_below(random, ops->known_count)];
  size_t left = test_random_below(random, ops->count[op]);
  for (size_t i = 0; i < OVER_CASE_COUNT; ++i) {
    if (ops->cases[i] != NULL && ops->op[i] == op && left-- == 0) {
      return stow_module_graph(ops->cases[i], 0);
    }
  }
  return NULL;
}

// ---------------------------------------------------------------------------------------------
// Operands

static stow_value finish(const hand* h, stow_call* call) {
  stow_node node;
  return stow_call_finish(call, NULL, &node) == STOW_OK ? stow_graph_first_result(h->graph, node)
                                                        : STOW_VALUE_NONE;
}

// The elements of such an operand are part of what makes the node valid.
static bool has_data(const hand* h, stow_value value) {
  return stow_graph_op(h->from, stow_graph_producer(h->from, value)) == STOW_OP_CONSTANT;
}

// Every other one has its elements as a list, as a text has them; the rest as bytes, as a caller or
// a model has them.
static stow_value copy_constant(const hand* h, stow_value value) {
  stow_node node = stow_graph_producer(h->from, value);
  char name[32];
  snprintf(name, sizeof(name), "k%u", stow_graph_node_count(h->graph));
  stow_call* call = stow_graph_begin(h->graph, STOW_OP_CONSTANT);
  stow_call_name(call, 0, stow_str_of(name));
  stow_call_result_type(call, stow_graph_type(h->from, value));
  size_t size;
  const void* bytes = stow_graph_data(h->from, value, &size);
  if (bytes != NULL && stow_graph_node_count(h->graph) % 2 == 0) {
    stow_call_data(call, bytes, size, true);
    return finish(h, call);
  }
  for (size_t i = 0; i < stow_graph_attr_count(h->from, node); ++i) {
    stow_call_attr(call, stow_graph_attr_at(h->from, node, i));
  }
  return finish(h, call);
}

// Recent values more often than old ones: that makes chains, and lets old values die.
static size_t pick(const hand* h) {
  size_t reach = below(h, 3) == 0 || h->count < 8 ? h->count : 8;
  return h->count - 1 - below(h, reach);
}

// A visible value of this type: from a random one on backwards, the first.
static stow_value find_equal(const hand* h, const stow_type* type) {
  size_t start = pick(h);
  for (size_t i = 0; i < h->count; ++i) {
    stow_value value = h->visible[(start + h->count - i) % h->count];
    if (stow_type_equal(stow_graph_type(h->graph, value), type)) {
      return value;
    }
  }
  return STOW_VALUE_NONE;
}

static stow_value find_reshaped(const hand* h, const stow_type* type) {
  uint64_t wanted = 0;
  size_t start = pick(h);
  stow_type_elements(type, &wanted);
  for (size_t i = 0; i < h->count; ++i) {
    stow_value value = h->visible[(start + h->count - i) % h->count];
    uint64_t elements = 0;
    stow_type_elements(stow_graph_type(h->graph, value), &elements);
    if (elements == wanted && stow_graph_type(h->graph, value)->dtype == type->dtype) {
      stow_call* call = stow_graph_begin(h->graph, STOW_OP_RESHAPE);
      stow_call_operand(call, value);
      stow_call_result_type(call, type);
      return finish(h, call);
    }
  }
  return STOW_VALUE_NONE;
}

static stow_value make_new(const hand* h, const stow_type* type) {
  stow_call* call = stow_graph_begin(h->graph, STOW_OP_CUSTOM);
  stow_call_attr_string(call, "name", stow_str_of("acme.make"));
  stow_call_operand(call, h->visible[pick(h)]);
  stow_call_result_type(call, type);
  return finish(h, call);
}

// A weight: a constant whose elements are bytes, all in a range that suits every op.
static stow_value make_weight(const hand* h, const stow_type* type) {
  uint64_t elements = 0;
  if (type->dtype != STOW_F32 || stow_type_elements(type, &elements) != STOW_OK ||
      elements > 4096) {
    return STOW_VALUE_NONE;
  }
  float* numbers = malloc((size_t)elements * sizeof(float) + 1);
  for (size_t i = 0; numbers != NULL && i < elements; ++i) {
    numbers[i] = (float)(1 + i % 7) / 4;
  }
  char name[32];
  snprintf(name, sizeof(name), "w%u", stow_graph_node_count(h->graph));
  stow_call* call = stow_graph_begin(h->graph, STOW_OP_CONSTANT);
  stow_call_name(call, 0, stow_str_of(name));
  stow_call_result_type(call, type);
  stow_call_data(call, numbers, (size_t)elements * sizeof(float), true);
  stow_value made = finish(h, call);
  free(numbers);
  return made;
}

static stow_value operand_like(const hand* h, stow_value value) {
  if (value == STOW_VALUE_NONE) {
    return value;
  }
  if (has_data(h, value)) {
    return copy_constant(h, value);
  }
  const stow_type* type = stow_graph_type(h->from, value);
  stow_value weight = below(h, 5) == 0 ? make_weight(h, type) : STOW_VALUE_NONE;
  if (weight != STOW_VALUE_NONE) {
    return weight;
  }
  stow_value found = below(h, 6) == 0 ? STOW_VALUE_NONE : find_equal(h, type);
  if (found == STOW_VALUE_NONE && below(h, 3) != 0) {
    found = find_reshaped(h, type);
  }
  return found == STOW_VALUE_NONE ? make_new(h, type) : found;
}

// Operands of the same type as the first become others, all of one type.
static void vary_operands(const hand* h, stow_value* operands, size_t count) {
  const stow_value* models = stow_graph_operands(h->from, h->model);
  stow_value other = h->visible[pick(h)];
  const stow_type* type = stow_graph_type(h->graph, other);
  if (count == 0 || models[0] == STOW_VALUE_NONE) {
    return;
  }
  const stow_type* first = stow_graph_type(h->from, models[0]);
  for (size_t k = 0; k < count; ++k) {
    if (models[k] != STOW_VALUE_NONE && !has_data(h, models[k]) &&
        stow_type_equal(stow_graph_type(h->from, models[k]), first)) {
      operands[k] = k == 0 ? other : find_equal(h, type);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Attributes

static void give_varied(const hand* h, stow_call* call, const stow_attr* model) {
  stow_attr attr = *model;
  int64_t ints[MAX_LIST];
  bool changes = below(h, 3) == 0;
  if (changes && attr.kind == STOW_ATTR_INTS && attr.count > 0 && attr.count <= MAX_LIST) {
    memcpy(ints, attr.ints, attr.count * sizeof(ints[0]));
    ints[below(h, attr.count)] = (int64_t)below(h, 5) - 1;
    attr.ints = ints;
  }
  attr.i = changes ? (int64_t)below(h, 5) - 1 : attr.i;
  attr.f = changes ? (double)below(h, 5) / 2 : attr.f;
  attr.b = changes ? !attr.b : attr.b;
  stow_call_attr(call, &attr);
}

// Occasionally one that the model does not have.
static void give_others(const hand* h, stow_call* call) {
  stow_op op = stow_graph_op(h->from, h->model);
  for (size_t i = 0; i < stow_ops_attr_count(NULL, op); ++i) {
    bool is_required;
    const stow_attr* schema = stow_ops_attr(NULL, op, i, &is_required);
    bool is_given = false;
    for (size_t j = 0; j < stow_graph_attr_count(h->from, h->model); ++j) {
      is_given =
          is_given || stow_str_equal(stow_graph_attr_at(h->from, h->model, j)->name, schema->name);
    }
    bool is_simple = schema->kind == STOW_ATTR_INT || schema->kind == STOW_ATTR_FLOAT ||
                     schema->kind == STOW_ATTR_BOOL;
    if (!is_given && is_simple && below(h, 6) == 0) {
      stow_attr attr = {.name = schema->name, .kind = schema->kind};
      attr.i = (int64_t)below(h, 4) - 1;
      attr.f = (double)below(h, 5) / 2;
      attr.b = below(h, 2) == 0;
      stow_call_attr(call, &attr);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Nodes

static stow_call* begin(const hand* h, const stow_value* operands, size_t count) {
  stow_call* call = stow_graph_begin(h->graph, stow_graph_op(h->from, h->model));
  for (size_t k = 0; k < count; ++k) {
    stow_call_operand(call, operands[k]);
  }
  return call;
}

static bool is_small(const stow_type* types, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    uint64_t elements = 0;
    if (!is_bound(&types[k]) || stow_type_elements(&types[k], &elements) != STOW_OK ||
        elements > MAX_ELEMENTS) {
      return false;
    }
  }
  return true;
}

static bool add_varied(const hand* h, const stow_value* operands, size_t count) {
  stow_value varied[MAX_OPERANDS];
  memcpy(varied, operands, count * sizeof(varied[0]));
  if (below(h, 2) == 0) {
    vary_operands(h, varied, count);
  }
  stow_call* call = begin(h, varied, count);
  for (size_t i = 0; i < stow_graph_attr_count(h->from, h->model); ++i) {
    give_varied(h, call, stow_graph_attr_at(h->from, h->model, i));
  }
  give_others(h, call);
  stow_call_result_count(call, stow_graph_result_count(h->from, h->model));
  const stow_type* types;
  size_t results;
  bool is_fine = stow_call_infer(call, NULL, &types, &results) == STOW_OK &&
                 is_small(types, results) && finish(h, call) != STOW_VALUE_NONE;
  stow_graph_cancel(h->graph);  // where it was not finished
  return is_fine;
}

static void add_as_it_is(const hand* h, const stow_value* operands, size_t count) {
  stow_call* call = begin(h, operands, count);
  for (size_t i = 0; i < stow_graph_attr_count(h->from, h->model); ++i) {
    stow_call_attr(call, stow_graph_attr_at(h->from, h->model, i));
  }
  for (size_t k = 0; k < stow_graph_result_count(h->from, h->model); ++k) {
    stow_value result = stow_graph_first_result(h->from, h->model) + (stow_value)k;
    stow_call_result_type(call, stow_graph_type(h->from, result));
  }
  finish(h, call);
}

// A concat of values that it may be the last reader of. Otherwise there are too few: each is a
// place where copies can be elided.
static void add_concat(const hand* h) {
  stow_value operands[4];
  size_t count = 2 + below(h, 3);
  operands[0] = h->visible[pick(h)];
  stow_type type = *stow_graph_type(h->graph, operands[0]);
  for (size_t k = 1; k < count; ++k) {
    stow_value found = below(h, 3) == 0 ? STOW_VALUE_NONE : find_equal(h, &type);
    operands[k] = found == STOW_VALUE_NONE ? make_new(h, &type) : found;
  }
  stow_call* call = stow_graph_begin(h->graph, STOW_OP_CONCAT);
  for (size_t k = 0; k < count; ++k) {
    stow_call_operand(call, operands[k]);
  }
  stow_call_attr_int(call, "axis", below(h, 4) == 0 ? -1 : 0);
  const stow_type* types;
  size_t results;
  if (stow_call_infer(call, NULL, &types, &results) == STOW_OK && is_small(types, results)) {
    finish(h, call);
  } else {
    stow_graph_cancel(h->graph);
  }
  if (below(h, 3) == 0) {  // an operand is read once more
    stow_call* reader = stow_graph_begin(h->graph, STOW_OP_NEG);
    stow_call_operand(reader, operands[below(h, count)]);
    finish(h, reader);
  }
}

// The function that the node needs.
static void add_function(const hand* h) {
  stow_graph* copy = NULL;
  stow_op op = stow_graph_op(h->from, h->model);
  if (op != STOW_OP_BLOCKS && op != STOW_OP_STREAM) {
    return;
  }
  stow_str name = stow_graph_attr(h->from, h->model, "function")->s;
  if (stowi_graph_find_function(h->graph, name) == NULL) {
    CHECK(stowi_graph_copy(stowi_graph_find_function(h->from, name), stow_allocator_default(), NULL,
                           &copy) == STOW_OK);
    CHECK(stow_graph_add_function(h->graph, copy, NULL) == STOW_OK);
  }
}

void random_ops_add(void* user, test_random* random, stow_graph* graph, const stow_value* visible,
                    size_t count) {
  const random_ops* ops = (const random_ops*)user;
  hand h = {random, graph, visible, count, choose_case(ops, random), 0};
  h.model = stow_graph_node_count(h.from) - 1;
  if (below(&h, 10) == 0) {
    add_concat(&h);
    return;
  }
  add_function(&h);
  size_t operand_count = stow_graph_operand_count(h.from, h.model);
  stow_value operands[MAX_OPERANDS];
  for (size_t k = 0; k < operand_count; ++k) {
    operands[k] = operand_like(&h, stow_graph_operands(h.from, h.model)[k]);
  }
  if (below(&h, 2) == 0 || !add_varied(&h, operands, operand_count)) {
    add_as_it_is(&h, operands, operand_count);
  }
}

#include "exec/hostile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/kernels/support/convert.h"
#include "graph/in_place_cases.h"
#include "graph/shape_cases.h"

#define MOST 16              // operands, results or elements of a list
#define MOST_ELEMENTS 16384  // of a tensor

typedef struct node {
  test_random* random;
  const stow_graph* model;  // its last node is varied
  stow_node at;
  stow_graph* graph;  // being made
  size_t operand_count;
  size_t result_count;
  bool is_there[MOST];
  bool has_data[MOST];
  stow_type operands[MOST];
  stow_type results[MOST];
} node;

static const int64_t wild_ints[] = {0,
                                    1,
                                    2,
                                    3,
                                    -1,
                                    -2,
                                    5,
                                    8,
                                    16,
                                    -7,
                                    64,
                                    1000,
                                    INT32_MAX,
                                    INT32_MIN,
                                    INT64_MAX,
                                    INT64_MIN,
                                    4294967296,
                                    INT64_MAX - 1,
                                    INT64_MIN + 1,
                                    -1000};
static const double wild_floats[] = {0,     1,      -1,       0.5,          2,   -0.0,   3,
                                     1e30,  -1e30,  INFINITY, -INFINITY,    NAN, 1e-300, 1e300,
                                     -1e19, 9.3e18, 1e-40,    2147483648.0, -3};
static const char* const wild_words[] = {
    "nearest",    "linear",     "cubic",         "constant", "reflect",    "edge",
    "wrap",       "add",        "mul",           "max",      "min",        "none",
    "sum",        "mean",       "bilinear",      "zeros",    "border",     "reflection",
    "forward",    "reverse",    "bidirectional", "avg",      "DCR",        "CRD",
    "tanh",       "same_upper", "SAME_UPPER",    "VALID",    "asymmetric", "align_corners",
    "half_pixel", "floor",      "ceil",          "u8",       "i64",        "relu",
    "gelu",       "silu",       "swiglu",        "nesterov", "not_larger", ""};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t below(test_random* random, uint64_t bound) {
  return test_random_below(random, bound);
}

static int64_t wild_int(test_random* random) {
  // Small ones are taken more often: they reach deeper.
  size_t reach = below(random, 3) == 0 ? COUNT_OF(wild_ints) : 8;
  return wild_ints[below(random, reach)];
}

static double wild_float(test_random* random) {
  return wild_floats[below(random, below(random, 2) == 0 ? 7 : COUNT_OF(wild_floats))];
}

// ---------------------------------------------------------------------------------------------
// Elements

// Bits that no element has stay clear.
static void fill_bits(stow_dtype dtype, unsigned char* data, size_t count, test_random* random) {
  size_t bits = count * stow_dtype_bits(dtype);
  for (size_t i = 0; i < (bits + 7) / 8; ++i) {
    data[i] = (unsigned char)(dtype == STOW_BOOL ? below(random, 2) : test_random_u64(random));
  }
  if (bits % 8 != 0) {
    data[bits / 8] = (unsigned char)(data[bits / 8] & ((1U << bits % 8) - 1));
  }
}

static void fill_one(stow_dtype dtype, void* data, size_t i, bool is_wild, test_random* random) {
  if (stow_dtype_kind_of(dtype) == STOW_KIND_FLOAT) {
    double number = is_wild ? wild_float(random) : (double)below(random, 64) / 16 - 2;
    stowi_kernel_store_f64(dtype, data, i, 1, &number);
  } else {
    int64_t number = is_wild ? wild_int(random) : (int64_t)below(random, 4);
    stowi_kernel_store_i64(dtype, data, i, 1, &number);
  }
}

void hostile_fill(stow_dtype dtype, void* data, size_t count, test_random* random) {
  uint64_t wild = below(random, 4);  // 0: none, 1: one, 2: half, 3: bits
  uint64_t chosen = count == 0 ? 0 : below(random, count);
  if (wild == 3 || stow_dtype_kind_of(dtype) == STOW_KIND_COMPLEX) {
    fill_bits(dtype, (unsigned char*)data, count, random);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    bool is_wild = (wild == 1 && i == chosen) || (wild == 2 && below(random, 2) == 0);
    fill_one(dtype, data, i, is_wild, random);
  }
}

// ---------------------------------------------------------------------------------------------
// Types

static stow_type* type_at(node* n, size_t i) {
  return i < n->operand_count ? &n->operands[i] : &n->results[i - n->operand_count];
}

// Dims that are |from| become |to|, everywhere.
static void replace_dim(node* n, int64_t from, int64_t to) {
  for (size_t i = 0; i < n->operand_count + n->result_count; ++i) {
    for (uint32_t k = 0; k < type_at(n, i)->rank; ++k) {
      int64_t* dim = &type_at(n, i)->dims[k];
      *dim = *dim == from ? to : *dim;
    }
  }
}

// A dim becomes another one, here or wherever there is one that is as long.
static void vary_dim(node* n) {
  static const int64_t dims[] = {0, 1, 2, 3, 4, 5, 7, 17, 33};
  stow_type* type = type_at(n, below(n->random, n->operand_count));
  if (type->rank == 0) {
    return;
  }
  int64_t* dim = &type->dims[below(n->random, type->rank)];
  int64_t from = *dim;
  *dim = dims[below(n->random, COUNT_OF(dims))];
  if (below(n->random, 4) != 0) {
    replace_dim(n, from, *dim);
  }
}

// Nothing, but of dims whose product no number holds.
static void vary_void(node* n) {
  stow_type* type = type_at(n, below(n->random, n->operand_count));
  if (type->rank < 2) {
    return;
  }
  int64_t first = type->dims[below(n->random, type->rank)];
  int64_t second = type->dims[below(n->random, type->rank)];
  if (first > 1) {
    replace_dim(n, first, 0);
  }
  if (second > 1 && second != first) {
    replace_dim(n, second, (int64_t)1 << (below(n->random, 2) == 0 ? 33 : 61));
  }
}

static void vary_dtype(node* n) {
  stow_type* type = type_at(n, below(n->random, n->operand_count));
  stow_dtype from = type->dtype;
  stow_dtype to = (stow_dtype)below(n->random, STOW_DTYPE_COUNT);
  bool is_everywhere = below(n->random, 4) != 0;
  type->dtype = to;
  for (size_t i = 0; is_everywhere && i < n->operand_count + n->result_count; ++i) {
    type_at(n, i)->dtype = type_at(n, i)->dtype == from ? to : type_at(n, i)->dtype;
  }
}

static void insert_ones(stow_type* type, uint32_t count) {
  for (; count > 0 && type->rank < STOW_MAX_RANK; --count) {
    memmove(type->dims + 1, type->dims, type->rank * sizeof(type->dims[0]));
    type->dims[0] = 1;
    type->rank += 1;
  }
}

static void vary_rank(node* n) {
  bool is_everywhere = below(n->random, 2) == 0;
  uint64_t how = below(n->random, 4);
  size_t chosen = below(n->random, n->operand_count);
  for (size_t i = 0; i < n->operand_count + n->result_count; ++i) {
    stow_type* type = type_at(n, i);
    if (i != chosen && (!is_everywhere || type->rank == 0)) {
      continue;
    }
    if (how == 0) {
      *type = stow_type_make(type->dtype, 0, NULL);
    } else if (how == 1 && type->rank > 0) {
      *type = stow_type_make(type->dtype, type->rank - 1, type->dims + 1);
    } else {
      insert_ones(type, how == 2 ? 1 : STOW_MAX_RANK - type->rank);
    }
  }
}

static void vary_presence(node* n) {
  size_t k = below(n->random, n->operand_count);
  if (below(n->random, 2) == 0) {
    n->is_there[k] = false;
  } else if (n->operand_count < MOST && n->operand_count + n->result_count < MOST) {
    n->operands[n->operand_count] = n->operands[k];
    n->is_there[n->operand_count] = true;
    n->has_data[n->operand_count] = false;
    n->operand_count += 1;
  }
}

static void vary_types(node* n) {
  for (uint64_t left = below(n->random, 3); left > 0 && n->operand_count > 0; --left) {
    uint64_t how = below(n->random, 9);
    if (how < 3) {
      vary_dim(n);
    } else if (how == 8) {
      vary_void(n);
    } else if (how < 5) {
      vary_dtype(n);
    } else if (how < 6) {
      vary_rank(n);
    } else {
      vary_presence(n);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Attributes

static void give_list(node* n, stow_call* call, stow_attr attr) {
  int64_t ints[MOST + 1];
  double floats[MOST + 1];
  size_t count = attr.count < MOST ? attr.count : MOST;
  for (size_t i = 0; i < count; ++i) {
    ints[i] = attr.kind == STOW_ATTR_INTS ? attr.ints[i] : 0;
    floats[i] = attr.kind == STOW_ATTR_FLOATS ? attr.floats[i] : 0;
  }
  uint64_t how = below(n->random, 8);
  if (how == 0 && count > 0) {
    count -= 1;
  } else if (how == 1 || count == 0) {
    ints[count] = wild_int(n->random);
    floats[count] = wild_float(n->random);
    count += 1;
  } else {
    size_t chosen = below(n->random, count);
    ints[chosen] = wild_int(n->random);
    floats[chosen] = wild_float(n->random);
  }
  attr.count = count;
  attr.ints = ints;
  attr.floats = floats;
  attr.kind = count == 0 ? STOW_ATTR_INTS : attr.kind;
  stow_call_attr(call, &attr);
}

static void give_wild(node* n, stow_call* call, const stow_attr* model) {
  stow_attr attr = *model;
  if (attr.kind == STOW_ATTR_INTS || attr.kind == STOW_ATTR_FLOATS) {
    give_list(n, call, attr);
    return;
  }
  attr.i = wild_int(n->random);
  attr.f = wild_float(n->random);
  attr.b = !attr.b;
  if (attr.kind == STOW_ATTR_STRING && below(n->random, 2) == 0) {
    attr.s = stow_str_of(wild_words[below(n->random, COUNT_OF(wild_words))]);
  }
  stow_call_attr(call, &attr);
}

static bool is_given(const node* n, stow_str name) {
  for (size_t i = 0; i < stow_graph_attr_count(n->model, n->at); ++i) {
    if (stow_str_equal(stow_graph_attr_at(n->model, n->at, i)->name, name)) {
      return true;
    }
  }
  return false;
}

static void give_attrs(node* n, stow_call* call) {
  stow_op op = stow_graph_op(n->model, n->at);
  for (size_t i = 0; i < stow_graph_attr_count(n->model, n->at); ++i) {
    const stow_attr* attr = stow_graph_attr_at(n->model, n->at, i);
    if (below(n->random, 4) == 0) {
      give_wild(n, call, attr);
    } else {
      stow_call_attr(call, attr);
    }
  }
  for (size_t i = 0; i < stow_ops_attr_count(NULL, op); ++i) {
    bool is_required;
    const stow_attr* attr = stow_ops_attr(NULL, op, i, &is_required);
    if (!is_given(n, attr->name) && below(n->random, 6) == 0) {
      give_wild(n, call, attr);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Nodes

static bool is_small(const stow_type* type) {
  uint64_t elements;
  return stow_type_elements(type, &elements) == STOW_OK && elements <= MOST_ELEMENTS;
}

// A constant with the model's elements, some of them others; an input where the op had none.
static stow_value add_operand(node* n, size_t k) {
  stow_value value = STOW_VALUE_NONE;
  char name[32];
  snprintf(name, sizeof(name), "x%zu", k);
  const stow_type* type = &n->operands[k];
  uint64_t size;
  if (!n->is_there[k] || !is_small(type) || stow_type_bytes(type, &size) != STOW_OK) {
    return value;
  }
  if (!n->has_data[k] || below(n->random, 3) == 0) {
    stow_graph_input(n->graph, name, type, NULL, &value);
    return value;
  }
  stow_value from = stow_graph_operands(n->model, n->at)[k];
  size_t model_size;
  const void* data = stow_graph_data(n->model, from, &model_size);
  unsigned char* copy = (unsigned char*)calloc(1, (size_t)size + 1);
  if (copy == NULL) {
    abort();
  }
  memcpy(copy, data, model_size < size ? model_size : (size_t)size);
  uint64_t elements = 0;
  stow_type_elements(type, &elements);
  if (elements > 0 && below(n->random, 2) == 0 &&
      stow_dtype_kind_of(type->dtype) != STOW_KIND_COMPLEX) {
    fill_one(type->dtype, copy, below(n->random, elements), true, n->random);
  }
  stow_call* call = stow_graph_begin(n->graph, STOW_OP_CONSTANT);
  stow_node made;
  stow_call_name(call, 0, stow_str_of(name));
  stow_call_result_type(call, type);
  stow_call_data(call, copy, (size_t)size, true);
  if (stow_call_finish(call, NULL, &made) == STOW_OK) {
    value = stow_graph_first_result(n->graph, made);
  }
  free(copy);
  return value;
}

static bool are_small(const stow_type* types, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    if (!is_small(&types[k])) {
      return false;
    }
  }
  return true;
}

static bool add_node(node* n) {
  stow_value operands[MOST];
  for (size_t k = 0; k < n->operand_count; ++k) {
    operands[k] = add_operand(n, k);
  }
  stow_call* call = stow_graph_begin(n->graph, stow_graph_op(n->model, n->at));
  for (size_t k = 0; k < n->operand_count; ++k) {
    stow_call_operand(call, operands[k]);
  }
  give_attrs(n, call);
  const stow_type* types;
  size_t count;
  size_t wanted = n->result_count + (below(n->random, 8) == 0 ? 1 : 0);
  stow_call_result_count(call, wanted);
  bool is_inferred = stow_graph_op_desc(n->model, n->at)->typing == STOW_TYPING_INFERRED &&
                     stow_call_infer(call, NULL, &types, &count) == STOW_OK &&
                     are_small(types, count);
  for (size_t k = 0; !is_inferred && k < n->result_count; ++k) {
    stow_call_result_type(call, &n->results[k]);
  }
  return stow_call_infer(call, NULL, &types, &count) == STOW_OK && are_small(types, count) &&
         stow_call_finish(call, NULL, NULL) == STOW_OK;
}

static bool describe(node* n) {
  n->at = stow_graph_node_count(n->model) - 1;
  n->operand_count = stow_graph_operand_count(n->model, n->at);
  n->result_count = stow_graph_result_count(n->model, n->at);
  if (n->operand_count + n->result_count > MOST || n->result_count == 0 ||
      stow_graph_require_bound(n->model, NULL) != STOW_OK) {
    return false;
  }
  for (size_t k = 0; k < n->operand_count; ++k) {
    stow_value value = stow_graph_operands(n->model, n->at)[k];
    n->is_there[k] = value != STOW_VALUE_NONE;
    if (n->is_there[k]) {
      n->operands[k] = *stow_graph_type(n->model, value);
      n->has_data[k] = stow_graph_data(n->model, value, NULL) != NULL;
    }
  }
  for (size_t k = 0; k < n->result_count; ++k) {
    n->results[k] =
        *stow_graph_type(n->model, stow_graph_first_result(n->model, n->at) + (stow_value)k);
  }
  return true;
}

stow_graph* hostile_graph(size_t index, test_random* random) {
  const in_place_case* o = &in_place_cases[index];
  stow_diag diag;
  stow_module* module =
      shape_case_parse(o->operands, o->node, o->results, stow_allocator_default(), &diag);
  if (module == NULL) {
    return NULL;
  }
  node n = {.random = random, .model = stow_module_graph(module, 0)};
  bool is_made = false;
  if (describe(&n) && stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), NULL,
                                        &n.graph) == STOW_OK) {
    vary_types(&n);
    is_made = add_node(&n);
  }
  stow_module_destroy(module);
  if (!is_made || stow_graph_require_bound(n.graph, NULL) != STOW_OK) {
    stow_graph_destroy(n.graph);
    return NULL;
  }
  return n.graph;
}

// Every row of the core with random operands and attributes, most of them wrong: dims from 0 to
// overflow, symbols, known values, lists too long, wrong kinds. A refusal must give a reason and
// change nothing; whatever is accepted must print, parse and print the same; and binding must give
// what building with numbers gives. If a result may be in place of an operand, that has its bytes.
#include <stdio.h>
#include <stdlib.h>
#include <stowage/graph.h>
#include <stowage/text.h>
#include <string.h>

#include "support/test.h"

#define MAX_OPERANDS 6
#define MAX_GIVEN 4
#define MAX_LIST 18
#define SYMBOLS 2

static const char* const symbol_names[SYMBOLS] = {"n", "m"};

typedef struct random_operand {
  bool is_absent;
  bool is_shape;  // the shape of an input: known values that are symbols
  bool has_data;
  stow_dtype dtype;
  uint32_t rank;
  int64_t dims[STOW_MAX_RANK];  // negative: -1 - symbol
  int64_t data[16];             // of i64
  double floats[16];            // of f32
  size_t count;
} random_operand;

typedef struct random_attr {
  stow_attr attr;
  int64_t ints[MAX_LIST];
  double floats[MAX_LIST];
  stow_str strings[MAX_LIST];
} random_attr;

typedef struct random_case {
  stow_op op;
  size_t operand_count;
  random_operand operands[MAX_OPERANDS];
  size_t attr_count;
  random_attr attrs[MAX_GIVEN];
  size_t result_count;  // SIZE_MAX: not given
  int64_t values[SYMBOLS];
} random_case;

// ---------------------------------------------------------------------------------------------
// Random descriptions

static uint64_t below(test_random* random, uint64_t bound) {
  return test_random_below(random, bound);
}

static int64_t any_number(test_random* random) {
  static const int64_t numbers[] = {0,         1,         -1,        2,         -2,
                                    3,         4,         5,         8,         16,
                                    17,        -3,        100,       INT32_MAX, INT32_MIN,
                                    INT64_MAX, INT64_MIN, 1LL << 31, 1LL << 62, -(1LL << 62),
                                    1LL << 40, 0,         1,         -1,        2};
  return numbers[below(random, sizeof(numbers) / sizeof(numbers[0]))];
}

static int64_t any_dim(test_random* random, bool is_wild) {
  static const int64_t wild[] = {0, 1LL << 31, 1LL << 62, INT64_MAX, 1LL << 40, 1LL << 20};
  static const int64_t tame[] = {1, 1, 2, 2, 3, 4, 4, 4, 6, 8, -1, -2};
  return is_wild && below(random, 3) == 0 ? wild[below(random, sizeof(wild) / sizeof(wild[0]))]
                                          : tame[below(random, sizeof(tame) / sizeof(tame[0]))];
}

static void fill_data(test_random* random, random_operand* operand) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < operand->rank; ++i) {
    uint64_t dim = (uint64_t)operand->dims[i];
    count = dim > 16 || count > 16 ? 17 : count * dim;
  }
  operand->has_data = count <= 16 && (operand->dtype == STOW_I64 || operand->dtype == STOW_F32);
  operand->count = (size_t)count;
  for (size_t i = 0; operand->has_data && i < count; ++i) {
    bool is_tame = below(random, 3) != 0;
    operand->data[i] = is_tame ? (int64_t)below(random, 6) - 1 : any_number(random);
    operand->floats[i] = is_tame ? (double)below(random, 5) / 2 : (double)any_number(random);
  }
}

static random_operand any_operand(test_random* random, const random_operand* model, bool is_wild) {
  static const stow_dtype dtypes[] = {STOW_F32, STOW_F32, STOW_F32, STOW_I64, STOW_I64, STOW_BOOL,
                                      STOW_F16, STOW_I32, STOW_U8,  STOW_C64, STOW_U4,  STOW_F64};
  random_operand made = {.dtype = dtypes[below(random, sizeof(dtypes) / sizeof(dtypes[0]))]};
  if (model != NULL && below(random, 2) == 0) {
    made = *model;
    made.has_data = made.is_shape = made.is_absent = false;
    if (made.rank != 0 && below(random, 3) == 0) {
      made.dims[below(random, made.rank)] = any_dim(random, is_wild);
    }
  } else {
    made.rank = (uint32_t)(below(random, 12) == 0 ? below(random, 17) : below(random, 6));
    for (uint32_t i = 0; i < made.rank; ++i) {
      made.dims[i] = any_dim(random, is_wild);
    }
  }
  made.is_absent = below(random, 16) == 0;
  made.is_shape = below(random, 8) == 0;
  if (below(random, 3) == 0) {
    made.rank = (uint32_t)below(random, 3);
    made.dtype = below(random, 3) == 0 ? STOW_F32 : STOW_I64;
    for (uint32_t i = 0; i < made.rank; ++i) {
      made.dims[i] = (int64_t)below(random, 6);
    }
    fill_data(random, &made);
  }
  return made;
}

static stow_str any_text(test_random* random) {
  static const char* const texts[] = {"",       "max",   "linear", "f32",      "i64",
                                      "same",   "valid", "up",     "reflect",  "ij,jk->ik",
                                      "...i->", "a",     "edge",   "constant", "ii->i",
                                      "bool",   "->",    "NCHW",   "forward",  "bidirectional"};
  return stow_str_of(texts[below(random, sizeof(texts) / sizeof(texts[0]))]);
}

static void any_attr(test_random* random, const stow_attr* schema, random_attr* out) {
  *out = (random_attr){0};
  stow_attr* attr = &out->attr;
  attr->name = schema->name;
  attr->kind =
      below(random, 12) == 0 ? (stow_attr_kind)below(random, STOW_ATTR_STRINGS + 1) : schema->kind;
  bool is_tame = below(random, 2) == 0;
  attr->i = is_tame ? (int64_t)below(random, 5) - 1 : any_number(random);
  attr->f = is_tame ? (double)below(random, 5) / 2 : (double)any_number(random);
  attr->b = below(random, 2) == 0;
  attr->s = any_text(random);
  bool is_list = attr->kind >= STOW_ATTR_INTS;
  attr->count = !is_list ? 0 : below(random, 10) == 0 ? below(random, MAX_LIST) : below(random, 5);
  for (size_t i = 0; i < attr->count; ++i) {
    out->ints[i] = is_tame ? (int64_t)below(random, 5) - 1 : any_number(random);
    out->floats[i] = is_tame ? (double)below(random, 5) / 2 : (double)any_number(random);
    out->strings[i] = any_text(random);
  }
}

static void any_attrs(test_random* random, random_case* c) {
  size_t count = stow_ops_attr_count(NULL, c->op);
  for (size_t i = 0; i < count && c->attr_count < MAX_GIVEN; ++i) {
    bool is_required = false;
    const stow_attr* schema = stow_ops_attr(NULL, c->op, i, &is_required);
    if (below(random, is_required ? 12 : 3) != 0 ? is_required : below(random, 2) == 0) {
      any_attr(random, schema, &c->attrs[c->attr_count++]);
    }
  }
}

static void any_case(test_random* random, stow_op op, random_case* c) {
  const stow_op_desc* desc = stow_ops_get(NULL, op);
  *c = (random_case){.op = op};
  bool is_wild = below(random, 3) == 0;
  size_t most = desc->max_operands > MAX_OPERANDS ? MAX_OPERANDS : desc->max_operands;
  size_t least = desc->min_operands > most ? most : desc->min_operands;
  c->operand_count = least + below(random, most - least + 1);
  for (size_t i = 0; i < c->operand_count; ++i) {
    c->operands[i] = any_operand(random, i == 0 ? NULL : &c->operands[below(random, i)], is_wild);
  }
  any_attrs(random, c);
  c->result_count = below(random, 4) != 0 ? SIZE_MAX : below(random, 5);
  for (size_t i = 0; i < SYMBOLS; ++i) {
    c->values[i] = below(random, 6) == 0 ? any_dim(random, true) : 1 + (int64_t)below(random, 9);
    c->values[i] = c->values[i] < 0 ? 5 : c->values[i];
  }
}

// ---------------------------------------------------------------------------------------------
// Building

static stow_graph* new_graph(void) {
  stow_graph* graph = NULL;
  stow_status status =
      stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), NULL, &graph);
  if (status != STOW_OK) {
    abort();
  }
  return graph;
}

static stow_dim dim_of(stow_graph* graph, const random_case* c, int64_t dim, bool is_bound) {
  if (dim >= 0) {
    return dim;
  }
  size_t symbol = (size_t)(-1 - dim);
  return is_bound ? c->values[symbol]
                  : stow_dim_symbol(stow_graph_edit_dims(graph), stow_str_of(symbol_names[symbol]));
}

static stow_value add_operand(stow_graph* graph, const random_case* c, size_t k, bool is_bound) {
  const random_operand* operand = &c->operands[k];
  if (operand->is_absent) {
    return STOW_VALUE_NONE;
  }
  stow_dim dims[STOW_MAX_RANK];
  for (uint32_t i = 0; i < operand->rank; ++i) {
    dims[i] = dim_of(graph, c, operand->dims[i], is_bound);
  }
  stow_type type = stow_type_make(operand->dtype, operand->rank, dims);
  char name[16];
  snprintf(name, sizeof(name), "x%zu", k);
  stow_call* call = stow_graph_begin(graph, operand->has_data ? STOW_OP_CONSTANT : STOW_OP_INPUT);
  stow_call_name(call, 0, stow_str_of(name));
  stow_call_result_type(call, &type);
  if (operand->has_data) {
    stow_attr data = {.name = stow_str_of("data"),
                      .kind = operand->dtype == STOW_F32 ? STOW_ATTR_FLOATS : STOW_ATTR_INTS,
                      .count = operand->count,
                      .ints = operand->data,
                      .floats = operand->floats};
    stow_call_attr(call, &data);
  }
  stow_node node;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_call_finish(call, &diag, &node);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  stow_value value = status == STOW_OK ? stow_graph_first_result(graph, node) : STOW_VALUE_NONE;
  stow_value shape = value;
  if (operand->is_shape && !operand->has_data && status == STOW_OK) {
    stow_op op = stow_ops_find(NULL, stow_str_of("shape"));
    CHECK(stow_graph_add(graph, op, &value, 1, &diag, &shape) == STOW_OK);
  }
  return shape;
}

static stow_status build(stow_graph* graph, const random_case* c, bool is_bound, stow_diag* diag,
                         stow_node* out_node) {
  stow_value operands[MAX_OPERANDS];
  for (size_t k = 0; k < c->operand_count; ++k) {
    operands[k] = add_operand(graph, c, k, is_bound);
  }
  stow_call* call = stow_graph_begin(graph, c->op);
  for (size_t k = 0; k < c->operand_count; ++k) {
    stow_call_operand(call, operands[k]);
  }
  for (size_t i = 0; i < c->attr_count; ++i) {
    stow_attr attr = c->attrs[i].attr;
    attr.ints = c->attrs[i].ints;
    attr.floats = c->attrs[i].floats;
    attr.strings = c->attrs[i].strings;
    stow_call_attr(call, &attr);
  }
  if (c->result_count != SIZE_MAX) {
    stow_call_result_count(call, c->result_count);
  }
  stow_call_name(call, 0, stow_str_of("y"));
  return stow_call_finish(call, diag, out_node);
}

// ---------------------------------------------------------------------------------------------
// Checks

static const char* name_of(const random_case* c) { return stow_ops_get(NULL, c->op)->name; }

static stow_string print(const stow_graph* graph) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  CHECK(stow_graph_print(graph, stow_string_writer(&text)) == STOW_OK);
  CHECK(stow_string_append(&text, "", 1) == STOW_OK);
  return text;
}

static void check_round_trip(const random_case* c, const stow_graph* graph, uint64_t seed) {
  stow_string text = print(graph);
  stow_diag diag;
  stow_diag_init(&diag);
  stow_module* module = NULL;
  stow_status status = stow_module_parse(text.data, text.size - 1, "t", NULL,
                                         stow_allocator_default(), &diag, &module);
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "%s, seed %llu: %s\n%s", name_of(c),
                 (unsigned long long)seed, diag.message, text.data)) {
    stow_string again = print(stow_module_graph(module, 0));
    CHECK_TEXT(again.data, text.data);
    stow_string_free(&again);
  }
  stow_module_destroy(module);
  stow_string_free(&text);
}

// The symbols that the graph has, with their numbers.
static stow_status bind(stow_graph* graph, const random_case* c, stow_diag* diag) {
  stow_str names[SYMBOLS];
  int64_t values[SYMBOLS];
  size_t count = 0;
  const stow_dims* dims = stow_graph_dims(graph);
  for (size_t i = 0; i < SYMBOLS; ++i) {
    for (size_t k = 0; k < stow_dims_symbol_count(dims); ++k) {
      if (stow_str_equal(stow_dims_symbol_name(dims, k), stow_str_of(symbol_names[i]))) {
        names[count] = stow_str_of(symbol_names[i]);
        values[count++] = c->values[i];
      }
    }
  }
  return stow_graph_bind(graph, names, values, count, diag);
}

static bool is_data_dependent(const stow_graph* graph, stow_node node) {
  stow_value first = stow_graph_first_result(graph, node);
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    if (stow_graph_is_data_dependent(graph, first + (stow_value)k)) {
      return true;
    }
  }
  return false;
}

static void check_types(const random_case* c, const stow_graph* a, const stow_graph* b,
                        stow_node node, uint64_t seed) {
  stow_string x = print(a);
  stow_string y = print(b);
  bool same = stow_graph_result_count(a, node) == stow_graph_result_count(b, node);
  stow_value first = stow_graph_first_result(a, node);
  for (size_t k = 0; same && k < stow_graph_result_count(a, node); ++k) {
    const stow_type* left = stow_graph_type(a, first + (stow_value)k);
    const stow_type* right = stow_graph_type(b, first + (stow_value)k);
    // Symbols of data-dependent dims are numbered per graph.
    same = left->dtype == right->dtype && left->rank == right->rank;
    for (uint32_t i = 0; same && i < left->rank; ++i) {
      same = left->dims[i] == right->dims[i] ||
             !(stow_dim_is_const(left->dims[i]) && stow_dim_is_const(right->dims[i]));
    }
  }
  test_check(same, __FILE__, __LINE__, "%s, seed %llu: bound\n%s\nbuilt\n%s", name_of(c),
             (unsigned long long)seed, x.data, y.data);
  stow_string_free(&x);
  stow_string_free(&y);
}

// A graph with symbols becomes, when they are bound, what numbers give at once.
static void check_bind(const random_case* c, stow_graph* graph, stow_node node, uint64_t seed) {
  bool depends = is_data_dependent(graph, node);
  stow_diag diag, built;
  stow_diag_init(&diag);
  stow_diag_init(&built);
  stow_status status = bind(graph, c, &diag);
  stow_graph* numbers = new_graph();
  stow_node same = STOW_NODE_NONE;
  stow_status other = build(numbers, c, true, &built, &same);
  CHECK(status == STOW_OK || diag.message[0] != '\0');
  if (status == STOW_OK && other == STOW_OK) {
    CHECK(same == node);
    check_types(c, graph, numbers, node, seed);
  } else if (!depends) {
    test_check(status != STOW_OK && other != STOW_OK, __FILE__, __LINE__,
               "%s, seed %llu: bound \"%s\", built \"%s\"", name_of(c), (unsigned long long)seed,
               diag.message, built.message);
  }
  stow_graph_destroy(numbers);
}

static bool is_bound(const stow_type* type) {
  bool is_bound = true;
  for (uint32_t i = 0; i < type->rank; ++i) {
    is_bound = is_bound && stow_dim_is_const(type->dims[i]);
  }
  return is_bound;
}

// What must hold wherever a result may be in place of an operand.
static void check_over(const random_case* c, const stow_graph* graph, stow_node node, size_t k,
                       size_t operand, uint64_t seed) {
  stow_in_place in_place = stow_graph_in_place(graph, node, k, operand);
  if (in_place == STOW_IN_PLACE_NEVER) {
    return;
  }
  bool is_there = k < stow_graph_result_count(graph, node) &&
                  operand < stow_graph_operand_count(graph, node) &&
                  stow_graph_operands(graph, node)[operand] != STOW_VALUE_NONE;
  if (!test_check(is_there, __FILE__, __LINE__, "%s, seed %llu: no such pair", name_of(c),
                  (unsigned long long)seed)) {
    return;
  }
  const stow_type* type =
      stow_graph_type(graph, stow_graph_first_result(graph, node) + (stow_value)k);
  const stow_type* under = stow_graph_type(graph, stow_graph_operands(graph, node)[operand]);
  uint64_t bytes = 0;
  uint64_t room = 0;
  CHECK(is_bound(type) && is_bound(under));
  CHECK(stow_type_bytes(type, &bytes) == STOW_OK && stow_type_bytes(under, &room) == STOW_OK);
  test_check(bytes <= room, __FILE__, __LINE__, "%s, seed %llu: too few bytes", name_of(c),
             (unsigned long long)seed);
  stow_type alike = *type;
  alike.dtype = under->dtype;
  bool is_index = stow_type_equal(&alike, under) &&
                  stow_dtype_bits(type->dtype) <= stow_dtype_bits(under->dtype);
  test_check(in_place == STOW_IN_PLACE_ALONE || is_index, __FILE__, __LINE__,
             "%s, seed %llu: other dims, or wider", name_of(c), (unsigned long long)seed);
}

// Also for results and operands that are out of range.
static void check_in_place_pairs(const random_case* c, const stow_graph* graph, stow_node node,
                                 uint64_t seed) {
  for (size_t k = 0; k <= stow_graph_result_count(graph, node); ++k) {
    for (size_t operand = 0; operand <= stow_graph_operand_count(graph, node); ++operand) {
      check_over(c, graph, node, k, operand, seed);
    }
  }
}

static bool run_case(stow_op op, uint64_t seed) {
  test_random random = {seed};
  random_case c;
  any_case(&random, op, &c);
  stow_graph* graph = new_graph();
  stow_diag diag;
  stow_diag_init(&diag);
  stow_node node = STOW_NODE_NONE;
  stow_status status = build(graph, &c, false, &diag, &node);
  if (status != STOW_OK) {
    test_check(diag.status == status && diag.message[0] != '\0', __FILE__, __LINE__,
               "%s, seed %llu: fails without a word", name_of(&c), (unsigned long long)seed);
    CHECK(status != STOW_ERR_OUT_OF_MEMORY);
    CHECK(stow_graph_find(graph, stow_str_of("y")) == STOW_VALUE_NONE);
  } else {
    stow_value first = stow_graph_first_result(graph, node);
    for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
      CHECK(stow_graph_add_output(graph, first + (stow_value)k, NULL) == STOW_OK);
    }
    check_round_trip(&c, graph, seed);
    check_in_place_pairs(&c, graph, node, seed);
    check_bind(&c, graph, node, seed);
    check_in_place_pairs(&c, graph, node, seed);
  }
  stow_graph_destroy(graph);
  return status == STOW_OK;
}

static bool is_plain(stow_op op) {
  const stow_op_desc* desc = stow_ops_get(NULL, op);
  return desc->region_kind == STOW_REGION_NONE && desc->typing == STOW_TYPING_INFERRED;
}

TEST(EveryRowSurvivesRandomCalls) {
  size_t rounds = test_is_long() ? 5000 : 60;
  size_t taken = 0;
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    for (size_t i = 0; is_plain(op) && i < rounds; ++i) {
      taken += run_case(op, i * STOW_OP_CORE_COUNT + op);
    }
  }
  CHECK(taken > STOW_OP_CORE_COUNT);
}

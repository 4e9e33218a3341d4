#include "rewrite/plant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/suitable.h"
#include "graph/api.h"

typedef struct planter {
  test_random* random;
  const stow_graph* from;
  stow_graph* into;
  suitable_range* ranges;
  stowi_graph_copier copier;
  unsigned constants;  // so far
  stow_diag diag;
} planter;

static void need(planter* p, stow_status status) {
  if (status != STOW_OK) {
    fprintf(stderr, "planting: %s\n", p->diag.message);
    abort();
  }
}

static bool is_drawn(planter* p, uint64_t of) { return test_random_below(p->random, of) == 0; }

static stow_value last_value(const planter* p) { return stow_graph_value_count(p->into) - 1; }

// ---------------------------------------------------------------------------------------------
// Weights

// A param like |node|, with data.
static void add_weight(planter* p, stow_node node) {
  stow_value value = stow_graph_first_result(p->from, node);
  stow_type type = stowi_graph_copier_type(&p->copier, value);
  stow_tensor tensor = {.dtype = type.dtype, .rank = type.rank};
  memcpy(tensor.dims, type.dims, sizeof(tensor.dims));
  size_t size = stow_tensor_bytes(&tensor);
  tensor.data = calloc(size + 1, 1);
  suitable_fill(&tensor, p->ranges[value], test_random_u64(p->random));
  stow_call* call = stow_graph_begin(p->into, STOW_OP_PARAM);
  stow_call_result_type(call, &type);
  stow_call_name(call, 0, stow_graph_value_name(p->from, value));
  stow_call_data(call, tensor.data, size, true);
  need(p, stow_call_finish(call, &p->diag, NULL));
  free(tensor.data);
}

static bool is_plain_param(const planter* p, stow_node node) {
  return stow_graph_op(p->from, node) == STOW_OP_PARAM &&
         stow_graph_attr_count(p->from, node) == 0 && stowi_graph_with_count(p->from, node) == 0 &&
         stow_graph_data(p->from, stow_graph_first_result(p->from, node), NULL) == NULL;
}

// ---------------------------------------------------------------------------------------------
// Patterns: each reads |value| of the new graph and returns what is read instead

static stow_value add_unary(planter* p, stow_op op, stow_value value) {
  stow_value result = value;
  return stow_graph_add(p->into, op, &value, 1, NULL, &result) == STOW_OK ? result : value;
}

static stow_value add_typed(planter* p, stow_op op, stow_value value, const stow_type* type) {
  stow_call* call = stow_graph_begin(p->into, op);
  stow_call_operand(call, value);
  stow_call_result_type(call, type);
  return stow_call_finish(call, NULL, NULL) == STOW_OK ? last_value(p) : value;
}

static stow_value add_transpose(planter* p, stow_value value) {
  int64_t perm[STOW_MAX_RANK];
  uint32_t rank = stow_graph_type(p->into, value)->rank;
  for (uint32_t i = 0; i < rank; ++i) {
    perm[i] = i;
  }
  for (uint32_t i = rank; i-- > 1;) {
    size_t other = (size_t)test_random_below(p->random, i + 1);
    int64_t kept = perm[i];
    perm[i] = perm[other];
    perm[other] = kept;
  }
  stow_call* call = stow_graph_begin(p->into, STOW_OP_TRANSPOSE);
  stow_call_operand(call, value);
  stow_call_attr_ints(call, "perm", perm, rank);
  return stow_call_finish(call, NULL, NULL) == STOW_OK ? last_value(p) : value;
}

// There and back again, with up to two more on the way.
static stow_value add_transposes(planter* p, stow_value value) {
  stow_value there = value;
  for (uint64_t i = test_random_below(p->random, 3); i-- > 0;) {
    there = add_transpose(p, there);
  }
  there = add_unary(p, STOW_OP_TRANSPOSE, there);
  stow_value back = add_unary(p, STOW_OP_TRANSPOSE, there);
  stow_type type = *stow_graph_type(p->into, value);
  const stow_type* now = stow_graph_type(p->into, back);
  return memcmp(type.dims, now->dims, type.rank * sizeof(type.dims[0])) == 0 ? back : value;
}

static stow_value add_reshapes(planter* p, stow_value value) {
  stow_type type = *stow_graph_type(p->into, value);
  uint64_t count;
  if (stow_type_elements(&type, &count) != STOW_OK || stow_graph_is_bounded(p->into, value)) {
    return value;
  }
  stow_type flat = stow_type_make(type.dtype, 1, (stow_dim[]){(stow_dim)count});
  stow_value there = add_typed(p, STOW_OP_RESHAPE, value, &flat);
  return there == value ? value : add_typed(p, STOW_OP_RESHAPE, there, &type);
}

// value + a number that is broadcast, twice the same and once nearly so.
static stow_value add_broadcast(planter* p, stow_value value) {
  static const double numbers[] = {0.0, -0.0, 1.0, 0.5};
  stow_type type = *stow_graph_type(p->into, value);
  stow_type one = stow_type_make(STOW_F32, 1, (stow_dim[]){1});
  float number = (float)numbers[test_random_below(p->random, 4)];
  char name[32];
  if (type.dtype != STOW_F32 || type.rank == 0 || stow_graph_is_bounded(p->into, value)) {
    return value;
  }
  snprintf(name, sizeof(name), "planted %u", p->constants++);
  stow_call* call = stow_graph_begin(p->into, STOW_OP_CONSTANT);
  stow_call_result_type(call, &one);
  stow_call_name(call, 0, stow_str_of(name));
  stow_call_data(call, &number, sizeof(number), true);
  need(p, stow_call_finish(call, &p->diag, NULL));
  stow_value wide = add_typed(p, STOW_OP_EXPAND, last_value(p), &type);
  stow_value result = value;
  stow_value operands[2] = {value, add_unary(p, STOW_OP_SINH, wide)};
  return stow_graph_add(p->into, is_drawn(p, 2) ? STOW_OP_ADD : STOW_OP_MUL, operands, 2, NULL,
                        &result) == STOW_OK
             ? result
             : value;
}

// Something that is computed, so that what it depends on decides whether it is folded.
static stow_value add_chain(planter* p, stow_value value) {
  static const stow_op ops[] = {STOW_OP_SINH, STOW_OP_NEG, STOW_OP_ATAN, STOW_OP_ABS};
  for (uint64_t i = test_random_below(p->random, 3); i-- > 0;) {
    value = add_unary(p, ops[test_random_below(p->random, 4)], value);
  }
  return value;
}

static stow_value plant_at(planter* p, stow_value value) {
  stow_type type = *stow_graph_type(p->into, value);
  bool is_float = stow_dtype_kind_of(type.dtype) == STOW_KIND_FLOAT && type.dtype != STOW_F64;
  switch (test_random_below(p->random, 12)) {
    case 0: return add_transposes(p, value);
    case 1: return add_reshapes(p, value);
    case 2: return add_typed(p, STOW_OP_CAST, value, &type);
    case 3: return add_typed(p, STOW_OP_EXPAND, value, &type);
    case 4: return add_broadcast(p, value);
    case 5:
    case 6: return is_float ? add_chain(p, value) : value;
    default: return value;
  }
}

// ---------------------------------------------------------------------------------------------

static bool may_follow(const planter* p, stow_node node) {
  stow_op op = stow_graph_op(p->from, node);
  return op != STOW_OP_YIELD && op != STOW_OP_ARGS &&
         !stow_graph_op_desc(p->from, node)->writes_view;
}

static bool has_names(const planter* p, stow_node node) {
  bool has = false;
  for (size_t k = 0; k < stow_graph_result_count(p->from, node); ++k) {
    stow_value value = stow_graph_first_result(p->from, node) + (stow_value)k;
    has = has || stow_graph_value_name(p->from, value).size != 0;
  }
  return has;
}

// False if a node's shape does not take numbers that are planted.
static bool copy_node(planter* p, stow_node node) {
  need(p, stowi_graph_copier_enter(&p->copier, node));
  if (is_plain_param(p, node) && !is_drawn(p, 4)) {
    add_weight(p, node);
  } else {
    if (stowi_graph_copier_node(&p->copier, node) != STOW_OK) {
      return false;
    }
    const stow_op_desc* desc = stow_graph_op_desc(p->from, node);
    bool may_repeat = may_follow(p, node) && desc->region_count == 0 && !has_names(p, node);
    if (may_repeat && is_drawn(p, 8)) {
      need(p, stowi_graph_copier_node(&p->copier, node));
    }
  }
  size_t count = stow_graph_result_count(p->from, node);
  stow_value first = stow_graph_value_count(p->into) - (stow_value)count;
  for (size_t k = 0; k < count; ++k) {
    stow_value value = first + (stow_value)k;
    p->copier.map[stow_graph_first_result(p->from, node) + k] =
        may_follow(p, node) ? plant_at(p, value) : value;
  }
  return true;
}

stow_graph* plant_patterns(test_random* random, const stow_graph* graph, stow_allocator allocator) {
  planter p = {.random = random, .from = graph, .ranges = suitable_ranges(graph)};
  bool is_good = true;
  stow_diag_init(&p.diag);
  need(&p, stowi_graph_copier_init(&p.copier, graph, allocator, &p.diag));
  p.into = p.copier.into;
  for (stow_node node = 0; is_good && node < stow_graph_node_count(graph); ++node) {
    is_good = copy_node(&p, node);
  }
  if (is_good) {
    need(&p, stowi_graph_copier_outputs(&p.copier));
  }
  stowi_graph_copier_free(&p.copier);
  free(p.ranges);
  if (!is_good) {
    stow_graph_destroy(p.into);
    need(&p, stowi_graph_copy(graph, allocator, &p.diag, &p.into));
  }
  return p.into;
}

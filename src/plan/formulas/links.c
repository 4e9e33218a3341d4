// Where values lie in their roots, as expressions of the symbols. A plan has numbers, which hold at
// one point. Why a value shares bytes tells the rest: each reason is a link between two values of a
// root, whose places differ by a known expression:
//     view            the elements of the operand before the first one of the result
//     in place        0
//     copy elision    the bytes of the operands before it
//     carried         0
//     placed inside   the number that effects declare
// Going from link to link, beginning with the root itself, finds all of them. At the point of the
// plan they must have the plan's numbers; at others, the checker compares them with what the ops
// say there. O(values + links).
#include "base/diag.h"
#include "effects/api.h"
#include "plan/formulas/formula.h"

#define BITS_PER_BYTE 8

// The place of |b| is that of |a| plus |by|.
typedef struct link {
  stow_value a;
  stow_value b;
  stow_dim by;
} link;

typedef struct finder {
  stowi_plan_formula_maker* maker;
  const stow_plan* plan;
  const stow_effects* effects;
  stow_graph* graph;  // with symbols
  stow_dims* dims;
  stow_value* viewed;  // by value: what it is a view of by its op, or STOW_VALUE_NONE
  stow_dim* bytes;
  stow_dim* inner;
  STOWI_VEC(link) links;
} finder;

// ---------------------------------------------------------------------------------------------
// Sizes

static uint32_t width_of(const finder* f, stow_value value) {
  uint32_t bits = stow_dtype_bits(stow_graph_type(f->graph, value)->dtype);
  return f->plan->facts.f32_uniform && bits < 32 ? 32 : bits;
}

// Bytes of so many elements of |value|, as many as are whole if |is_floor|.
static stow_dim bytes_of(const finder* f, stow_value value, stow_dim elements, bool is_floor) {
  uint32_t bits = width_of(f, value);
  if (bits % BITS_PER_BYTE == 0) {
    return stow_dim_mul(f->dims, elements, bits / BITS_PER_BYTE);
  }
  stow_dim all = stow_dim_mul(f->dims, elements, bits);
  return is_floor ? stow_dim_floor_div(f->dims, all, BITS_PER_BYTE)
                  : stow_dim_ceil_div(f->dims, all, BITS_PER_BYTE);
}

static stow_dim elements_of(const finder* f, stow_value value, uint32_t from_axis) {
  const stow_type* type = stow_graph_type(f->graph, value);
  stow_dim elements = 1;
  for (uint32_t i = from_axis; i < type->rank; ++i) {
    elements = stow_dim_mul(f->dims, elements, type->dims[i]);
  }
  return elements;
}

// Storage that is not what the type needs: that of an input in which an output lies is as large as
// the larger of both. Any other is the same at every point, or the checker will tell.
static stow_dim storage_of(const finder* f, stow_value value, uint64_t storage, stow_dim natural) {
  for (stow_value v = 0; v < f->plan->value_count; ++v) {
    if (v != value && f->plan->values[v].root == value && f->plan->values[v].size == storage) {
      stow_dim other = bytes_of(f, v, elements_of(f, v, 0), false);
      return stow_dim_max(f->dims, natural, other);
    }
  }
  return stow_dim_of_int(f->dims, (int64_t)storage);
}

static stow_status find_bytes(finder* f) {
  for (stow_value v = 0; v < f->plan->value_count; ++v) {
    stow_dim natural = bytes_of(f, v, elements_of(f, v, 0), false);
    uint64_t storage = stowi_effects_storage(f->effects, v);
    f->bytes[v] = storage == STOW_BYTES_DEFAULT ? natural : storage_of(f, v, storage, natural);
    if (f->bytes[v] == STOW_DIM_INVALID) {
      return stowi_plan_formula_fail_dim(f->maker->formula, v, f->maker->diag);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Views

static uint32_t axis_of(const finder* f, stow_node node, uint32_t rank) {
  const stow_attr* attr = stow_graph_attr(f->graph, node, "axis");
  int64_t axis = attr == NULL ? 0 : attr->i;
  axis += axis < 0 ? (int64_t)rank : 0;
  return axis < 0 || axis >= (int64_t)rank ? 0 : (uint32_t)axis;
}

static stow_dim split_start(const finder* f, stow_value result, uint32_t axis) {
  stow_node node = stow_graph_producer(f->graph, result);
  stow_dim start = 0;
  for (stow_value v = stow_graph_first_result(f->graph, node); v < result; ++v) {
    const stow_type* type = stow_graph_type(f->graph, v);
    start = stow_dim_add(f->dims, start, axis < type->rank ? type->dims[axis] : 0);
  }
  return start;
}

// Entry |i| of a list that is an attribute, or operand |k|; |fallback| if it has none.
static stow_dim list_entry(const finder* f, stow_node node, const char* name, size_t k, size_t i,
                           stow_dim fallback) {
  const stow_attr* attr = stow_graph_attr(f->graph, node, name);
  if (attr != NULL && attr->kind == STOW_ATTR_INTS && attr->count != 0) {
    return i < attr->count ? stow_dim_of_int(f->dims, attr->ints[i]) : fallback;
  }
  stow_value operand = k < stow_graph_operand_count(f->graph, node)
                           ? stow_graph_operands(f->graph, node)[k]
                           : STOW_VALUE_NONE;
  int64_t number;
  if (operand == STOW_VALUE_NONE) {
    return fallback;
  }
  if (stow_graph_known_int(f->graph, operand, i, &number)) {
    return stow_dim_of_int(f->dims, number);
  }
  return stow_graph_known(f->graph, operand, i);
}

static size_t list_count(const finder* f, stow_node node, const char* name, size_t k) {
  const stow_attr* attr = stow_graph_attr(f->graph, node, name);
  if (attr != NULL && attr->kind == STOW_ATTR_INTS && attr->count != 0) {
    return attr->count;
  }
  stow_value operand = k < stow_graph_operand_count(f->graph, node)
                           ? stow_graph_operands(f->graph, node)[k]
                           : STOW_VALUE_NONE;
  uint64_t count = 0;
  if (operand != STOW_VALUE_NONE) {
    (void)stow_type_elements(stow_graph_type(f->graph, operand), &count);
  }
  return (size_t)count;
}

// At least 0, or at most |most|, if that is not 0.
static stow_dim clamped(const finder* f, stow_dim start, stow_dim most) {
  if (start == STOW_DIM_INVALID || (most == 0 && stow_dim_at_least(f->dims, start, 0, 0)) ||
      (most != 0 && stow_dim_not_less(f->dims, most, start))) {
    return start;
  }
  return most == 0 ? stow_dim_max(f->dims, start, 0) : stow_dim_min(f->dims, start, most);
}

// Where a slice starts along |axis|. A start below 0, at the plan's point, counts from the end.
static stow_dim slice_start(const finder* f, stow_node node, uint32_t axis, const stow_type* type) {
  size_t count = list_count(f, node, "starts", 1);
  for (size_t i = 0; i < count; ++i) {
    stow_dim given = list_entry(f, node, "axes", 3, i, (stow_dim)i);
    int64_t at;
    int64_t number;
    if (!stow_dim_to_int(f->dims, given, &at)) {
      return STOW_DIM_INVALID;
    }
    at += at < 0 ? (int64_t)type->rank : 0;
    if (at != (int64_t)axis) {
      continue;
    }
    stow_dim start = list_entry(f, node, "starts", 1, i, STOW_DIM_INVALID);
    if (start == STOW_DIM_INVALID ||
        stow_dim_evaluate(f->dims, start, f->maker->values, &number) != STOW_OK) {
      return STOW_DIM_INVALID;
    }
    return number < 0 ? clamped(f, stow_dim_add(f->dims, type->dims[axis], start), 0)
                      : clamped(f, start, type->dims[axis]);
  }
  return 0;
}

static stow_dim slice_offset(const finder* f, stow_node node, stow_value operand) {
  const stow_type* type = stow_graph_type(f->graph, operand);
  stow_dim offset = 0;
  for (uint32_t i = 0; i < type->rank; ++i) {
    stow_dim start = slice_start(f, node, i, type);
    offset = stow_dim_add(f->dims, stow_dim_mul(f->dims, offset, type->dims[i]), start);
  }
  return offset;
}

// Elements of the operand before the first one of |result|.
static stow_dim view_offset(const finder* f, stow_value result, stow_value operand) {
  stow_node node = stow_graph_producer(f->graph, result);
  const stow_type* type = stow_graph_type(f->graph, operand);
  uint32_t axis = axis_of(f, node, type->rank);
  switch (stow_graph_op(f->graph, node)) {
    case STOW_OP_NARROW: {
      const stow_attr* start = stow_graph_attr(f->graph, node, "start");
      stow_dim first = stow_dim_of_int(f->dims, start == NULL ? 0 : start->i);
      return stow_dim_mul(f->dims, first, elements_of(f, operand, axis + 1));
    }
    case STOW_OP_SPLIT:
      return stow_dim_mul(f->dims, split_start(f, result, axis), elements_of(f, operand, axis + 1));
    case STOW_OP_SLICE: return slice_offset(f, node, operand);
    default: return 0;
  }
}

// ---------------------------------------------------------------------------------------------
// Links

static stow_status add_link(finder* f, stow_value a, stow_value b, stow_dim by) {
  if (a == STOW_VALUE_NONE || b == STOW_VALUE_NONE ||
      f->plan->values[a].root != f->plan->values[b].root) {
    return STOW_OK;
  }
  if (by == STOW_DIM_INVALID) {
    return stowi_plan_formula_fail_dim(f->maker->formula, b, f->maker->diag);
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(f->maker->allocator, &f->links, 1) == STOW_OK,
                             f->maker->diag));
  f->links.data[f->links.count++] = (link){a, b, by};
  return STOW_OK;
}

static stow_status link_result(finder* f, stow_node node, stow_value result) {
  size_t operand;
  uint64_t offset;
  if (stowi_effects_inside(f->effects, result, &operand, &offset)) {
    return add_link(f, stow_graph_operands(f->graph, node)[operand], result,
                    stow_dim_of_int(f->dims, (int64_t)offset));
  }
  stow_value viewed = f->viewed[result];
  if (viewed == STOW_VALUE_NONE || f->plan->values[viewed].root != f->plan->values[result].root) {
    return STOW_OK;
  }
  stow_dim elements = view_offset(f, result, viewed);
  return add_link(f, viewed, result,
                  elements == STOW_DIM_INVALID ? elements : bytes_of(f, viewed, elements, true));
}

// Initial values, arguments and results of a loop.
static stow_status link_carried(finder* f, stow_node owner) {
  const stow_op_desc* desc = stow_graph_op_desc(f->graph, owner);
  stow_node args = stowi_graph_region_args(f->graph, stow_graph_owned_region(f->graph, owner, 0));
  if (desc->region_kind != STOW_REGION_LOOP || args == STOW_NODE_NONE) {
    return STOW_OK;
  }
  stow_value first = stow_graph_first_result(f->graph, args);
  for (size_t k = desc->carry.first_arg; k < stow_graph_result_count(f->graph, args); ++k) {
    size_t i = k - desc->carry.first_arg;
    size_t operand = desc->carry.first_operand + i;
    size_t result = desc->carry.first_result + i;
    if (operand < stow_graph_operand_count(f->graph, owner)) {
      STOW_TRY(
          add_link(f, stow_graph_operands(f->graph, owner)[operand], first + (stow_value)k, 0));
    }
    if (result < stow_graph_result_count(f->graph, owner)) {
      STOW_TRY(add_link(f, first + (stow_value)k,
                        stow_graph_first_result(f->graph, owner) + (stow_value)result, 0));
    }
  }
  return STOW_OK;
}

static stow_status link_elided(finder* f, const stow_decision* decision) {
  stow_dim bits = 0;
  const stow_value* operands = stow_graph_operands(f->graph, decision->node);
  for (size_t k = 0; k < stow_graph_operand_count(f->graph, decision->node); ++k) {
    if (operands[k] == decision->operand) {
      STOW_TRY(add_link(f, decision->result, decision->operand,
                        stow_dim_floor_div(f->dims, bits, BITS_PER_BYTE)));
      return STOW_OK;
    }
    stow_dim own = stow_dim_mul(f->dims, elements_of(f, operands[k], 0), width_of(f, operands[k]));
    bits = stow_dim_add(f->dims, bits, own);
  }
  return STOW_OK;
}

static stow_status link_all(finder* f) {
  for (stow_node node = 0; node < f->plan->step_count; ++node) {
    if (stow_graph_op_desc(f->graph, node)->region_count != 0) {
      STOW_TRY(link_carried(f, node));
      continue;
    }
    stow_value first = stow_graph_first_result(f->graph, node);
    for (size_t k = 0; k < stow_graph_result_count(f->graph, node); ++k) {
      STOW_TRY(link_result(f, node, first + (stow_value)k));
    }
  }
  for (size_t i = 0; i < f->plan->decision_count; ++i) {
    const stow_decision* d = &f->plan->decisions[i];
    if (d->reason == STOW_REASON_TAKEN && d->share == STOW_SHARE_IN_PLACE) {
      STOW_TRY(add_link(f, d->operand, d->result, 0));
    } else if (d->reason == STOW_REASON_TAKEN && d->share == STOW_SHARE_HOME) {
      STOW_TRY(link_elided(f, d));
    }
  }
  return STOW_OK;
}

// Follows links until nothing more is found. A pass over all of them forwards, then one backwards:
// chains mostly go one way.
static bool follow(finder* f, const link* l) {
  bool has_a = f->inner[l->a] != STOW_DIM_INVALID;
  bool has_b = f->inner[l->b] != STOW_DIM_INVALID;
  if (has_a == has_b) {
    return false;
  }
  if (has_a) {
    f->inner[l->b] = stow_dim_add(f->dims, f->inner[l->a], l->by);
  } else {
    f->inner[l->a] = stow_dim_sub(f->dims, f->inner[l->b], l->by);
  }
  return f->inner[has_a ? l->b : l->a] != STOW_DIM_INVALID;
}

static void follow_links(finder* f) {
  for (bool changes = true; changes;) {
    changes = false;
    for (size_t i = 0; i < f->links.count; ++i) {
      changes = follow(f, &f->links.data[i]) || changes;
    }
    for (size_t i = f->links.count; i-- > 0;) {
      changes = follow(f, &f->links.data[i]) || changes;
    }
  }
}

// At the plan's own point, expressions and plan agree.
static stow_status check_place(const finder* f, stow_value value) {
  const stow_plan* plan = f->plan;
  stow_value root = plan->values[value].root;
  int64_t number = 0;
  if (root == value || !stowi_plan_has_slot(plan, value)) {
    return STOW_OK;
  }
  if (f->inner[value] == STOW_DIM_INVALID) {
    return stowi_plan_formula_fail_dim(f->maker->formula, value, f->maker->diag);
  }
  stow_status status = stow_dim_evaluate(f->dims, f->inner[value], f->maker->values, &number);
  uint64_t inner = plan->values[value].offset - plan->values[root].offset;
  bool is_empty = plan->values[value].size == 0;
  if (status == STOW_OK && ((uint64_t)number == inner || is_empty)) {
    return STOW_OK;
  }
  stowi_fail(f->maker->diag, STOW_ERR_UNSUPPORTED,
             "%s lies at byte %llu of %s, which is not what its ops say: %lld",
             stowi_graph_describe_value(f->graph, value).text, (unsigned long long)inner,
             stowi_graph_describe_value(f->graph, root).text, (long long)number);
  return STOW_ERR_UNSUPPORTED;
}

static stow_status find(finder* f) {
  STOW_TRY(find_bytes(f));
  STOW_TRY(link_all(f));
  for (stow_value v = 0; v < f->plan->value_count; ++v) {
    f->inner[v] = f->plan->values[v].root == v ? 0 : STOW_DIM_INVALID;
  }
  follow_links(f);
  for (stow_value v = 0; v < f->plan->value_count; ++v) {
    STOW_TRY(check_place(f, v));
    if (f->inner[v] == STOW_DIM_INVALID) {
      f->inner[v] = 0;  // it has no bytes that could be anywhere
    }
  }
  return STOW_OK;
}

// While dims are numbers.
static void find_views(finder* f) {
  for (stow_node node = 0; node < f->plan->step_count; ++node) {
    stow_value first = stow_graph_first_result(f->graph, node);
    for (size_t k = 0; k < stow_graph_result_count(f->graph, node); ++k) {
      stow_view view;
      bool is_view = stow_graph_view(f->graph, node, k, &view) &&
                     !(view.extended && f->plan->facts.classic_views);
      f->viewed[first + k] =
          is_view ? stow_graph_operands(f->graph, node)[view.operand] : STOW_VALUE_NONE;
    }
  }
}

stow_status stowi_plan_formula_find_places(stowi_plan_formula_maker* maker, const stow_plan* plan,
                                           const stow_effects* effects, stow_dim* out_bytes,
                                           stow_dim* out_inner) {
  stow_graph* graph = maker->formula->graph;
  finder f = {.maker = maker,
              .plan = plan,
              .effects = effects,
              .graph = graph,
              .dims = stow_graph_edit_dims(graph),
              .bytes = out_bytes,
              .inner = out_inner};
  f.viewed = STOWI_ARRAY(maker->allocator, stow_value, plan->value_count);
  STOW_TRY(stowi_need_memory(f.viewed != NULL, maker->diag));
  find_views(&f);
  stowi_graph_twin_unbind(maker->formula->twin);
  stow_status status = find(&f);
  STOWI_ARRAY_FREE(maker->allocator, f.viewed, plan->value_count);
  STOWI_VEC_FREE(maker->allocator, &f.links);
  return status;
}

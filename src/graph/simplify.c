// Copies a graph without what is not needed.
//
// One pass from the last node to the first finds what is needed: outputs, and what a kept node
// reads. A value of integers or bools with only known numbers is needed without its producer: a
// constant replaces the producer, in its region, so that it is visible wherever the value was. The
// nodes of a region precede their owner, so the owner is visited first, and a region is kept or
// dropped with it. Two things are fixed beforehand, since they go in the other direction: nodes
// that may write into bytes visible to the caller are kept, with the owners around them, and so are
// values that a `with` clause names. Then the nodes are added to a new graph in order. O(size of
// the graph), plus a binary search per known value.
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "graph/api.h"
#include "graph/dims/dims.h"
#include "graph/graph_internal.h"
#include "graph/known.h"

typedef struct simplifier {
  const stow_graph* from;
  stow_graph* into;
  stow_diag* diag;
  stow_allocator allocator;
  bool* is_kept;    // per node
  bool* is_needed;  // per value
  bool* is_pinned;  // per value: its producer stays
  bool* may_alias;  // per value: its bytes may be an input's
  bool* is_folded;  // per value: becomes a constant
  stow_value* map;  // per value
  stow_dim* memo;   // per expression of the old dims table
  size_t memo_count;
  stow_region region;  // the innermost open one, of the old graph
  STOWI_VEC(int64_t) numbers;
} simplifier;

static stow_status init(simplifier* s) {
  size_t nodes = s->from->nodes.count;
  size_t values = s->from->values.count;
  s->memo_count = stowi_graph_dims_expr_count(s->from->dims);
  s->is_kept = STOWI_ARRAY_ZERO(s->allocator, bool, nodes);
  s->is_needed = STOWI_ARRAY_ZERO(s->allocator, bool, values);
  s->is_pinned = STOWI_ARRAY_ZERO(s->allocator, bool, values);
  s->may_alias = STOWI_ARRAY_ZERO(s->allocator, bool, values);
  s->is_folded = STOWI_ARRAY_ZERO(s->allocator, bool, values);
  s->map = STOWI_ARRAY(s->allocator, stow_value, values);
  s->memo = STOWI_ARRAY(s->allocator, stow_dim, s->memo_count);
  STOW_TRY(stowi_need_memory(s->is_kept != NULL && s->is_needed != NULL && s->is_pinned != NULL &&
                                 s->may_alias != NULL && s->is_folded != NULL && s->map != NULL &&
                                 s->memo != NULL,
                             s->diag));
  for (size_t i = 0; i < s->memo_count; ++i) {
    s->memo[i] = STOW_DIM_INVALID;
  }
  return STOW_OK;
}

static void release(simplifier* s) {
  size_t values = s->from->values.count;
  STOWI_ARRAY_FREE(s->allocator, s->is_kept, s->from->nodes.count);
  STOWI_ARRAY_FREE(s->allocator, s->is_needed, values);
  STOWI_ARRAY_FREE(s->allocator, s->is_pinned, values);
  STOWI_ARRAY_FREE(s->allocator, s->may_alias, values);
  STOWI_ARRAY_FREE(s->allocator, s->is_folded, values);
  STOWI_ARRAY_FREE(s->allocator, s->map, values);
  STOWI_ARRAY_FREE(s->allocator, s->memo, s->memo_count);
  STOWI_VEC_FREE(s->allocator, &s->numbers);
}

// ---------------------------------------------------------------------------------------------
// What must stay: writes that the caller sees, and what `with` clauses name

// Whether an operand's bytes may be an input's.
static bool reads_alias(const simplifier* s, stow_node node) {
  const stow_value* operands = stow_graph_operands(s->from, node);
  size_t count = stow_graph_operand_count(s->from, node);
  for (size_t k = 0; k < count; ++k) {
    if (operands[k] != STOW_VALUE_NONE && s->may_alias[operands[k]]) {
      return true;
    }
  }
  return false;
}

// Views are known only if dims are numbers, so any op that can make one counts. A loop's arguments
// and results may share its operands' bytes.
static void follow_aliases(simplifier* s, stow_node node) {
  const stow_op_desc* desc = stow_graph_op_desc(s->from, node);
  stow_op op = stow_graph_op(s->from, node);
  bool may_alias = op == STOW_OP_INPUT || op == STOW_OP_ARGS || desc->region_count != 0 ||
                   (desc->view != NULL && reads_alias(s, node));
  stow_value first = stow_graph_first_result(s->from, node);
  for (size_t k = 0; k < stow_graph_result_count(s->from, node); ++k) {
    s->may_alias[first + k] = may_alias;
  }
}

// Whether the node may write into an input's bytes: those of the operand that a result is a view
// of, or of any operand if the dims do not determine which.
static bool writes_alias(const simplifier* s, stow_node node) {
  if (!stow_graph_op_desc(s->from, node)->writes_view || !reads_alias(s, node)) {
    return false;
  }
  const stow_value* operands = stow_graph_operands(s->from, node);
  bool is_told = false;
  for (size_t k = 0; k < stow_graph_result_count(s->from, node); ++k) {
    stow_view view;
    if (stow_graph_view(s->from, node, k, &view)) {
      is_told = true;
      if (s->may_alias[operands[view.operand]]) {
        return true;
      }
    }
  }
  return !is_told;
}

// Keeps |node| and the owners of the regions around it.
static void keep_with_owners(simplifier* s, stow_node node) {
  while (node != STOW_NODE_NONE && !s->is_kept[node]) {
    s->is_kept[node] = true;
    node = stowi_graph_region_owner(s->from, stow_graph_node_region(s->from, node));
  }
}

// The clauses that name values, as pairs (operand or result, value).
static bool names_values(const stow_attr* attr) {
  return attr->kind == STOW_ATTR_INTS && attr->count % 2 == 0 &&
         (stow_str_equal(attr->name, stow_str_of("hold")) ||
          stow_str_equal(attr->name, stow_str_of("early")));
}

static bool is_value(const simplifier* s, int64_t number) {
  return number >= 0 && (uint64_t)number < s->from->values.count;
}

static void pin_named(simplifier* s, stow_node node) {
  size_t count = stowi_graph_with_count(s->from, node);
  for (size_t i = 0; i < count; ++i) {
    const stow_attr* attr = stowi_graph_with_at(s->from, node, i);
    for (size_t j = 1; names_values(attr) && j < attr->count; j += 2) {
      if (is_value(s, attr->ints[j])) {
        s->is_pinned[attr->ints[j]] = true;
        keep_with_owners(s, stow_graph_producer(s->from, (stow_value)attr->ints[j]));
      }
    }
  }
}

static void mark_fixed(simplifier* s) {
  for (stow_node node = 0; node < s->from->nodes.count; ++node) {
    follow_aliases(s, node);
    pin_named(s, node);
    if (stow_graph_op(s->from, node) == STOW_OP_INPUT || writes_alias(s, node)) {
      keep_with_owners(s, node);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// What is needed

// Whether |value| has integers or bools, all of them known numbers.
static bool can_fold(const simplifier* s, stow_value value) {
  const stow_graph* graph = s->from;
  stow_node producer = stow_graph_producer(graph, value);
  if (s->is_pinned[value] || stow_graph_is_boundary(graph, value) ||
      stowi_graph_with_count(graph, producer) != 0) {
    return false;
  }
  stowi_graph_known known =
      stowi_graph_known_of(graph, &graph->known, graph->value_types.data, value);
  stow_dtype_kind kind = stow_dtype_kind_of(known.dtype);
  bool can = known.is_whole && kind != STOW_KIND_FLOAT && kind != STOW_KIND_COMPLEX;
  int64_t number;
  for (size_t i = 0; i < known.count && can; ++i) {
    can = stow_dim_to_int(graph->dims, stowi_graph_known_dim(&known, graph->dims, i), &number);
  }
  return can;
}

// Whether the node begins or ends a region that is kept.
static bool frames_kept_region(const simplifier* s, stow_node node) {
  stow_op op = stow_graph_op(s->from, node);
  if (op != STOW_OP_YIELD && op != STOW_OP_ARGS) {
    return false;
  }
  return s->is_kept[stowi_graph_region_owner(s->from, stow_graph_node_region(s->from, node))];
}

// Whether a needed result cannot be a constant. Those that can are recorded.
static bool makes_needed(simplifier* s, stow_node node) {
  stow_value first = stow_graph_first_result(s->from, node);
  bool result = false;
  for (size_t k = 0; k < stow_graph_result_count(s->from, node); ++k) {
    stow_value value = first + (stow_value)k;
    if (s->is_needed[value]) {
      s->is_folded[value] = can_fold(s, value);
      result = result || !s->is_folded[value];
    }
  }
  return result;
}

static void mark_needed(simplifier* s) {
  const stow_graph* graph = s->from;
  for (size_t i = 0; i < graph->outputs.count; ++i) {
    s->is_needed[graph->outputs.data[i]] = true;
  }
  for (stow_node node = (stow_node)graph->nodes.count; node-- > 0;) {
    bool is_needed = makes_needed(s, node);
    s->is_kept[node] = s->is_kept[node] || is_needed || frames_kept_region(s, node);
    const stow_value* operands = stow_graph_operands(graph, node);
    for (size_t k = 0; s->is_kept[node] && k < stow_graph_operand_count(graph, node); ++k) {
      if (operands[k] != STOW_VALUE_NONE) {
        s->is_needed[operands[k]] = true;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// The new graph

static stow_status enter_regions(simplifier* s, stow_node node) {
  stow_region chain[STOW_MAX_REGION_DEPTH];
  size_t count = 0;
  for (stow_region region = stow_graph_node_region(s->from, node); region != s->region;
       region = stowi_graph_region_parent(s->from, region)) {
    chain[count++] = region;
  }
  while (count > 0) {
    STOW_TRY(stow_graph_begin_region(s->into, s->diag));
    s->region = chain[--count];
  }
  return STOW_OK;
}

static stow_type translate(simplifier* s, stow_value value) {
  stow_type type = *stow_graph_type(s->from, value);
  for (uint32_t i = 0; i < type.rank; ++i) {
    type.dims[i] = stowi_graph_dims_translate(s->from->dims, type.dims[i], s->into->dims, s->memo);
  }
  return type;
}

// The value's name, otherwise `%ID` with its old id, and a suffix if that is taken.
static void name_constant(const simplifier* s, stow_call* call, stow_value value) {
  stow_str name = stow_graph_value_name(s->from, value);
  char text[48];
  for (size_t i = 0; name.size == 0; ++i) {
    snprintf(text, sizeof(text), i == 0 ? "%%%lu" : "%%%lu.%zu", (unsigned long)value, i);
    bool is_taken = stow_graph_find(s->from, stow_str_of(text)) != STOW_VALUE_NONE ||
                    stow_graph_find(s->into, stow_str_of(text)) != STOW_VALUE_NONE;
    name = stow_str_of(is_taken ? "" : text);
  }
  stow_call_name(call, 0, name);
}

static stow_status add_constant(simplifier* s, stow_value value) {
  const stow_graph* graph = s->from;
  stowi_graph_known known =
      stowi_graph_known_of(graph, &graph->known, graph->value_types.data, value);
  s->numbers.count = 0;
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(s->allocator, &s->numbers, known.count) == STOW_OK,
                             s->diag));
  for (size_t i = 0; i < known.count; ++i) {
    (void)stow_dim_to_int(graph->dims, stowi_graph_known_dim(&known, graph->dims, i),
                          &s->numbers.data[i]);
  }
  stow_call* call = stow_graph_begin(s->into, STOW_OP_CONSTANT);
  stow_type type = translate(s, value);
  stow_call_result_type(call, &type);
  name_constant(s, call, value);
  stow_call_attr_ints(call, "data", s->numbers.data, known.count);
  stow_call_line(call, stow_graph_line(graph, stow_graph_producer(graph, value)));
  return stow_call_finish(call, s->diag, NULL);
}

// Constants for the results of a dropped node.
static stow_status add_constants(simplifier* s, stow_node node) {
  stow_value first = stow_graph_first_result(s->from, node);
  for (size_t k = 0; k < stow_graph_result_count(s->from, node); ++k) {
    if (s->is_folded[first + k]) {
      STOW_TRY(enter_regions(s, node));
      STOW_TRY(add_constant(s, first + (stow_value)k));
    }
  }
  return STOW_OK;
}

static stow_value mapped(const simplifier* s, stow_value value) {
  return value == STOW_VALUE_NONE ? STOW_VALUE_NONE : s->map[value];
}

// Copies a clause, translating ids of values.
static stow_status copy_with(simplifier* s, stow_call* call, const stow_attr* attr) {
  if (!names_values(attr)) {
    stow_call_with(call, attr);
    return STOW_OK;
  }
  s->numbers.count = 0;
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(s->allocator, &s->numbers, attr->count) == STOW_OK,
                             s->diag));
  for (size_t i = 0; i < attr->count; ++i) {
    bool is_renamed = i % 2 == 1 && is_value(s, attr->ints[i]);
    s->numbers.data[i] = is_renamed ? (int64_t)s->map[attr->ints[i]] : attr->ints[i];
  }
  stow_attr copy = *attr;
  copy.ints = s->numbers.data;
  stow_call_with(call, &copy);
  return STOW_OK;
}

static void copy_results(simplifier* s, stow_call* call, stow_node node) {
  stow_value first = stow_graph_first_result(s->from, node);
  for (size_t k = 0; k < stow_graph_result_count(s->from, node); ++k) {
    stow_value value = first + (stow_value)k;
    stow_type type = translate(s, value);
    stow_call_result_type(call, &type);
    stow_call_name(call, k, stow_graph_value_name(s->from, value));
    for (uint32_t i = 0; i < type.rank; ++i) {
      if ((s->from->values.data[value].bounded >> i & 1) != 0) {
        stow_call_bounded_dim(call, k, i);
      }
    }
  }
}

// Attributes, and data that is not in an attribute.
static void copy_attrs(const simplifier* s, stow_call* call, stow_node node) {
  bool has_inline = false;
  for (size_t i = 0; i < stow_graph_attr_count(s->from, node); ++i) {
    const stow_attr* attr = stow_graph_attr_at(s->from, node, i);
    has_inline = has_inline || stow_str_equal(attr->name, stow_str_of("data"));
    stow_call_attr(call, attr);
  }
  size_t size;
  if (stowi_graph_is_boundary_op(stow_graph_op(s->from, node)) && !has_inline) {
    const void* data = stow_graph_data(s->from, stow_graph_first_result(s->from, node), &size);
    if (data != NULL) {
      stow_call_data(call, data, size, false);
    }
  }
}

static stow_status copy_node(simplifier* s, stow_node node) {
  stow_call* call = stow_graph_begin(s->into, stow_graph_op(s->from, node));
  const stow_value* operands = stow_graph_operands(s->from, node);
  for (size_t k = 0; k < stow_graph_operand_count(s->from, node); ++k) {
    stow_call_operand(call, mapped(s, operands[k]));
  }
  copy_attrs(s, call, node);
  for (size_t i = 0; i < stowi_graph_with_count(s->from, node); ++i) {
    STOW_TRY(copy_with(s, call, stowi_graph_with_at(s->from, node, i)));
  }
  copy_results(s, call, node);
  stow_call_line(call, stow_graph_line(s->from, node));
  return stow_call_finish(call, s->diag, NULL);
}

static stow_status copy_yield(simplifier* s, stow_node node) {
  size_t count = stow_graph_operand_count(s->from, node);
  stow_value* yields = STOWI_ARRAY(s->allocator, stow_value, count);
  STOW_TRY(stowi_need_memory(yields != NULL, s->diag));
  for (size_t k = 0; k < count; ++k) {
    yields[k] = mapped(s, stow_graph_operands(s->from, node)[k]);
  }
  stow_status status = stow_graph_end_region(s->into, yields, count, s->diag);
  STOWI_ARRAY_FREE(s->allocator, yields, count);
  s->region = stowi_graph_region_parent(s->from, s->region);
  return status;
}

// Ids of the new values, in the order in which nodes will be added: `with` clauses may name later
// ones.
static void number_values(simplifier* s) {
  stow_value next = 0;
  for (stow_node node = 0; node < s->from->nodes.count; ++node) {
    stow_value first = stow_graph_first_result(s->from, node);
    for (size_t k = 0; k < stow_graph_result_count(s->from, node); ++k) {
      bool is_there = s->is_kept[node] || s->is_folded[first + k];
      s->map[first + k] = is_there ? next++ : STOW_VALUE_NONE;
    }
  }
}

static stow_status build(simplifier* s) {
  const stow_graph* graph = s->from;
  for (size_t i = 0; i < stow_dims_symbol_count(graph->dims); ++i) {
    (void)stow_dim_symbol(s->into->dims, stow_dims_symbol_name(graph->dims, i));
  }
  number_values(s);
  for (stow_node node = 0; node < graph->nodes.count; ++node) {
    if (!s->is_kept[node]) {
      STOW_TRY(add_constants(s, node));
      continue;
    }
    STOW_TRY(enter_regions(s, node));
    bool is_yield = stow_graph_op(graph, node) == STOW_OP_YIELD;
    STOW_TRY(is_yield ? copy_yield(s, node) : copy_node(s, node));
  }
  for (size_t i = 0; i < graph->outputs.count; ++i) {
    STOW_TRY(stow_graph_add_output(s->into, mapped(s, graph->outputs.data[i]), s->diag));
  }
  return STOW_OK;
}

stow_status stow_graph_simplify(const stow_graph* graph, stow_allocator allocator, stow_diag* diag,
                                stow_graph** out_graph) {
  *out_graph = NULL;
  if (graph->depth != 0 || graph->frames[0].closed_count != 0) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "a region is open, or has no owner");
  }
  simplifier s;
  memset(&s, 0, sizeof(s));
  s.from = graph;
  s.diag = diag;
  s.allocator = allocator;
  s.region = STOW_REGION_BODY;
  stow_status status = init(&s);
  if (status == STOW_OK) {
    status = stow_graph_create(graph->name, graph->ops, allocator, diag, &s.into);
  }
  if (status == STOW_OK) {
    mark_fixed(&s);
    mark_needed(&s);
    status = build(&s);
  }
  release(&s);
  if (status != STOW_OK) {
    stow_graph_destroy(s.into);
    return status;
  }
  *out_graph = s.into;
  return STOW_OK;
}

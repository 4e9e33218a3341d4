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
#include <string.h>

#include "base/diag.h"
#include "graph/api.h"
#include "graph/graph_internal.h"
#include "graph/known.h"

typedef struct simplifier {
  const stow_graph* from;
  stow_diag* diag;
  stow_allocator allocator;
  bool* is_kept;    // per node
  bool* is_needed;  // per value
  bool* is_pinned;  // per value: its producer stays
  bool* may_alias;  // per value: its bytes may be an input's
  bool* is_folded;  // per value: becomes a constant
  bool folds;       // whether any does
  stowi_graph_copier copier;
} simplifier;

static stow_status init(simplifier* s) {
  size_t nodes = s->from->nodes.count;
  size_t values = s->from->values.count;
  s->is_kept = STOWI_ARRAY_ZERO(s->allocator, bool, nodes);
  s->is_needed = STOWI_ARRAY_ZERO(s->allocator, bool, values);
  s->is_pinned = STOWI_ARRAY_ZERO(s->allocator, bool, values);
  s->may_alias = STOWI_ARRAY_ZERO(s->allocator, bool, values);
  s->is_folded = STOWI_ARRAY_ZERO(s->allocator, bool, values);
  return stowi_need_memory(s->is_kept != NULL && s->is_needed != NULL && s->is_pinned != NULL &&
                               s->may_alias != NULL && s->is_folded != NULL,
                           s->diag);
}

static void release(simplifier* s) {
  size_t values = s->from->values.count;
  STOWI_ARRAY_FREE(s->allocator, s->is_kept, s->from->nodes.count);
  STOWI_ARRAY_FREE(s->allocator, s->is_needed, values);
  STOWI_ARRAY_FREE(s->allocator, s->is_pinned, values);
  STOWI_ARRAY_FREE(s->allocator, s->may_alias, values);
  STOWI_ARRAY_FREE(s->allocator, s->is_folded, values);
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

static bool is_value(const simplifier* s, int64_t number) {
  return number >= 0 && (uint64_t)number < s->from->values.count;
}

static void pin_named(simplifier* s, stow_node node) {
  size_t count = stowi_graph_with_count(s->from, node);
  for (size_t i = 0; i < count; ++i) {
    const stow_attr* attr = stowi_graph_with_at(s->from, node, i);
    for (size_t j = 1; stowi_graph_names_values(attr) && j < attr->count; j += 2) {
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
      s->is_folded[value] = s->folds && can_fold(s, value);
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

static stow_status add_constant(simplifier* s, stow_value value) {
  const stow_graph* graph = s->from;
  stowi_graph_copier* copier = &s->copier;
  stowi_graph_known known =
      stowi_graph_known_of(graph, &graph->known, graph->value_types.data, value);
  copier->numbers.count = 0;
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(s->allocator, &copier->numbers, known.count) == STOW_OK, s->diag));
  for (size_t i = 0; i < known.count; ++i) {
    (void)stow_dim_to_int(graph->dims, stowi_graph_known_dim(&known, graph->dims, i),
                          &copier->numbers.data[i]);
  }
  stow_call* call = stow_graph_begin(copier->into, STOW_OP_CONSTANT);
  stow_type type = stowi_graph_copier_type(copier, value);
  stow_call_result_type(call, &type);
  stowi_graph_copier_name(copier, call, value);
  stow_call_attr_ints(call, "data", copier->numbers.data, known.count);
  stow_call_line(call, stow_graph_line(graph, stow_graph_producer(graph, value)));
  return stow_call_finish(call, s->diag, NULL);
}

// Constants for the results of a dropped node.
static stow_status add_constants(simplifier* s, stow_node node) {
  stow_value first = stow_graph_first_result(s->from, node);
  for (size_t k = 0; k < stow_graph_result_count(s->from, node); ++k) {
    if (s->is_folded[first + k]) {
      STOW_TRY(stowi_graph_copier_enter(&s->copier, node));
      STOW_TRY(add_constant(s, first + (stow_value)k));
    }
  }
  return STOW_OK;
}

// In the order in which nodes will be added.
static void number_values(simplifier* s) {
  stow_value next = 0;
  for (stow_node node = 0; node < s->from->nodes.count; ++node) {
    stow_value first = stow_graph_first_result(s->from, node);
    for (size_t k = 0; k < stow_graph_result_count(s->from, node); ++k) {
      bool is_there = s->is_kept[node] || s->is_folded[first + k];
      s->copier.map[first + k] = is_there ? next++ : STOW_VALUE_NONE;
    }
  }
}

static stow_status build(simplifier* s) {
  number_values(s);
  for (stow_node node = 0; node < s->from->nodes.count; ++node) {
    if (!s->is_kept[node]) {
      STOW_TRY(add_constants(s, node));
      continue;
    }
    STOW_TRY(stowi_graph_copier_enter(&s->copier, node));
    STOW_TRY(stowi_graph_copier_node(&s->copier, node));
  }
  return stowi_graph_copier_outputs(&s->copier);
}

static stow_status mark(simplifier* s) {
  if (s->from->depth != 0 || s->from->frames[0].closed_count != 0) {
    return stowi_fail(s->diag, STOW_ERR_INVALID_ARGUMENT, "a region is open, or has no owner");
  }
  STOW_TRY(init(s));
  mark_fixed(s);
  mark_needed(s);
  return STOW_OK;
}

static stow_status copy(simplifier* s, stow_graph** out_graph) {
  stow_status status = stowi_graph_copier_init(&s->copier, s->from, s->allocator, s->diag);
  if (status == STOW_OK) {
    status = build(s);
  }
  *out_graph = s->copier.into;
  stowi_graph_copier_free(&s->copier);
  if (status != STOW_OK) {
    stow_graph_destroy(*out_graph);
    *out_graph = NULL;
  }
  return status;
}

stow_status stow_graph_simplify(const stow_graph* graph, stow_allocator allocator, stow_diag* diag,
                                stow_graph** out_graph) {
  *out_graph = NULL;
  simplifier s = {.from = graph, .diag = diag, .allocator = allocator, .folds = true};
  stow_status status = mark(&s);
  if (status == STOW_OK) {
    status = copy(&s, out_graph);
  }
  release(&s);
  return status;
}

stow_status stowi_graph_find_needed(const stow_graph* graph, stow_allocator allocator,
                                    stow_diag* diag, bool* out_is_needed) {
  simplifier s = {.from = graph, .diag = diag, .allocator = allocator};
  stow_status status = mark(&s);
  if (status == STOW_OK) {
    memcpy(out_is_needed, s.is_kept, graph->nodes.count * sizeof(*out_is_needed));
  }
  release(&s);
  return status;
}

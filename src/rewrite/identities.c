// Nodes that change nothing are left out, and two of a kind that rearrange elements become one.
//
// A view that begins where its operand does and has its type has its elements. Of ops that make no
// views, only those are listed whose results have the operand's elements in all cases: x + 0 is not
// x (−0), nor is x × 1 (NaN). A transpose is merged with the one before it only if nothing else
// reads that, or its operand is there anyway: both would be live otherwise.
#include "base/diag.h"
#include "rewrite/rules.h"

// ---------------------------------------------------------------------------------------------
// Nodes that change nothing

static bool is_list_of_zeros(const stow_graph* graph, stow_node node, const char* name, size_t k) {
  const stow_attr* attr = stow_graph_attr(graph, node, name);
  if (attr != NULL && attr->kind == STOW_ATTR_INTS && attr->count != 0) {
    bool all = true;
    for (size_t i = 0; i < attr->count; ++i) {
      all = all && attr->ints[i] == 0;
    }
    return all;
  }
  stow_value list = k < stow_graph_operand_count(graph, node) ? stow_graph_operands(graph, node)[k]
                                                              : STOW_VALUE_NONE;
  uint64_t count;
  int64_t number;
  bool all = list != STOW_VALUE_NONE &&
             stow_type_elements(stow_graph_type(graph, list), &count) == STOW_OK &&
             count <= 2 * STOW_MAX_RANK;
  for (size_t i = 0; all && i < count; ++i) {
    all = stow_graph_known_int(graph, list, i, &number) && number == 0;
  }
  return all;
}

// Whether the result, which has the type of operand 0, has its elements. What is a view at one
// point is one at all of them, unless it is a transpose of dims that are 1 there.
static bool has_same_elements(const stowi_rewrite_pass* pass, stow_node node) {
  const stow_graph* graph = pass->graph;
  bool is_any_transpose = pass->bound != NULL && stow_graph_op(graph, node) == STOW_OP_TRANSPOSE;
  stow_view view;
  if (!is_any_transpose && stow_graph_view(pass->sized, node, 0, &view)) {
    return view.operand == 0 && view.element_offset == 0;
  }
  switch (stow_graph_op(graph, node)) {
    case STOW_OP_EXPAND:
    case STOW_OP_NARROW:
    case STOW_OP_TILE: return true;
    case STOW_OP_CONCAT: return stow_graph_operand_count(graph, node) == 1;
    case STOW_OP_PAD: return is_list_of_zeros(graph, node, "pads", 2);
    default: return false;
  }
}

// Whether an output would be part of a larger value without the copy that |node| makes, and keep
// all of that.
static bool keeps_more(const stowi_rewrite_pass* pass, stow_node node, stow_value operand) {
  const stow_graph* graph = pass->sized;
  stow_value root = operand;
  stow_view view;
  if (!stowi_bits_has(&pass->facts.outputs, stow_graph_first_result(pass->graph, node)) ||
      stow_graph_view(graph, node, 0, &view)) {
    return false;
  }
  for (;;) {
    stow_node made = stow_graph_producer(graph, root);
    if (!stow_graph_view(graph, made, root - stow_graph_first_result(graph, made), &view)) {
      break;
    }
    root = stow_graph_operands(graph, made)[view.operand];
  }
  return stowi_rewrite_bytes(graph, root) > stowi_rewrite_bytes(graph, operand);
}

static stow_status drop_identity(stowi_rewrite_pass* pass, stow_node node, bool* out_is_done) {
  stow_value result = stow_graph_first_result(pass->graph, node);
  stow_value operand = stow_graph_operand_count(pass->graph, node) == 0
                           ? STOW_VALUE_NONE
                           : stowi_rewrite_read(pass, stow_graph_operands(pass->graph, node)[0]);
  *out_is_done =
      operand != STOW_VALUE_NONE && stowi_rewrite_same_type(pass->graph, operand, result) &&
      has_same_elements(pass, node) && stowi_rewrite_can_stand_for(pass, operand, result) &&
      !keeps_more(pass, node, operand);
  if (!*out_is_done) {
    return STOW_OK;
  }
  stowi_rewrite_stand_for(pass, operand, result);
  pass->is_dropped[node] = true;
  return stowi_rewrite_fire(pass, &node, 1);
}

// ---------------------------------------------------------------------------------------------
// Two of a kind

// The node before |node| along operand 0, or STOW_NODE_NONE: it may be passed over.
static stow_node node_before(const stowi_rewrite_pass* pass, stow_node node) {
  stow_value operand = stowi_rewrite_read(pass, stow_graph_operands(pass->graph, node)[0]);
  stow_node before = stow_graph_producer(pass->graph, operand);
  return stowi_rewrite_is_barrier(pass->graph, before) || pass->is_dropped[before] ||
                 stowi_bits_has(&pass->facts.fixed, operand)
             ? STOW_NODE_NONE
             : before;
}

static stow_status add_transpose(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stow_call* call = stowi_rewrite_begin(pass, change, STOW_OP_TRANSPOSE);
  stow_call_operand(call, stowi_graph_copier_mapped(&pass->copier, change->operand));
  stow_call_attr_ints(call, "perm", change->list, change->list_count);
  return stow_call_finish(call, pass->diag, NULL);
}

// The transpose that does what |before| and |node| do. True if that is nothing.
static bool compose(const stow_graph* graph, stow_node before, stow_node node,
                    stowi_rewrite_change* change) {
  int64_t first[STOW_MAX_RANK], second[STOW_MAX_RANK];
  size_t rank = stow_graph_type(graph, change->first)->rank;
  bool is_nothing = true;
  stowi_rewrite_read_perm(graph, before, rank, first);
  stowi_rewrite_read_perm(graph, node, rank, second);
  for (size_t i = 0; i < rank; ++i) {
    change->list[i] = first[second[i]];
    is_nothing = is_nothing && change->list[i] == (int64_t)i;
  }
  change->list_count = rank;
  return is_nothing;
}

static stow_status merge(stowi_rewrite_pass* pass, stow_node before, stow_node node,
                         const stowi_rewrite_change* change) {
  STOW_TRY(stowi_rewrite_change_at(pass, change));
  return stowi_rewrite_fire(pass, (stow_node[]){before, node}, 2);
}

// Whether |value| can go if |node| does not read it any more.
static bool is_alone(const stowi_rewrite_pass* pass, stow_value value) {
  return pass->facts.readers[value] == 1 && !stowi_bits_has(&pass->facts.outputs, value);
}

static stow_status merge_transposes(stowi_rewrite_pass* pass, stow_node before, stow_node node,
                                    stowi_rewrite_change* change) {
  bool may_stay = stow_graph_is_boundary(pass->graph, change->operand) ||
                  is_alone(pass, stow_graph_first_result(pass->graph, before));
  bool is_nothing = compose(pass->graph, before, node, change);
  change->add = add_transpose;
  if (is_nothing && may_stay && stowi_rewrite_can_stand_for(pass, change->operand, change->first)) {
    stowi_rewrite_stand_for(pass, change->operand, change->first);
    pass->is_dropped[node] = true;
    return stowi_rewrite_fire(pass, (stow_node[]){before, node}, 2);
  }
  return may_stay ? merge(pass, before, node, change) : STOW_OK;
}

static stow_status merge_with_before(stowi_rewrite_pass* pass, stow_node node) {
  const stow_graph* graph = pass->graph;
  bool reshapes = stowi_rewrite_is_reshape(graph, node);
  bool transposes = stow_graph_op(graph, node) == STOW_OP_TRANSPOSE;
  stow_node before = reshapes || transposes ? node_before(pass, node) : STOW_NODE_NONE;
  stow_value result = stow_graph_first_result(graph, node);
  if (before == STOW_NODE_NONE || stowi_rewrite_is_bounded(graph, node) ||
      stowi_rewrite_is_bounded(graph, before) || stowi_bits_has(&pass->facts.fixed, result)) {
    return STOW_OK;
  }
  stowi_rewrite_change change = {
      .at = node, .first = result, .count = 1, .add = stowi_rewrite_add_reshape};
  change.operand = stowi_rewrite_read(pass, stow_graph_operands(graph, before)[0]);
  if (reshapes && stowi_rewrite_is_reshape(graph, before)) {
    return merge(pass, before, node, &change);
  }
  return transposes && stow_graph_op(graph, before) == STOW_OP_TRANSPOSE
             ? merge_transposes(pass, before, node, &change)
             : STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Shapes that types say

// Whether both have the same dims that depend on symbols, in the same order, and as many elements
// besides.
static bool has_as_many(const stow_type* a, const stow_type* b) {
  uint64_t numbers[2] = {1, 1};
  uint32_t i = 0, j = 0;
  while (i < a->rank || j < b->rank) {
    if (i < a->rank && stow_dim_is_const(a->dims[i])) {
      numbers[0] *= (uint64_t)a->dims[i++];
    } else if (j < b->rank && stow_dim_is_const(b->dims[j])) {
      numbers[1] *= (uint64_t)b->dims[j++];
    } else if (i == a->rank || j == b->rank || a->dims[i++] != b->dims[j++]) {
      return false;
    }
  }
  return numbers[0] == numbers[1];
}

// Over ranges, a reshape need not read a shape that follows from the symbols, as that of another
// tensor: nothing else may need it, and the reader of that tensor would be in the way of others.
static stow_status drop_shape(stowi_rewrite_pass* pass, stow_node node) {
  const stow_graph* graph = pass->graph;
  const stow_value* operands = stow_graph_operands(graph, node);
  stow_value result = stow_graph_first_result(graph, node);
  bool can = pass->bound != NULL && stow_graph_op(graph, node) == STOW_OP_RESHAPE &&
             stow_graph_operand_count(graph, node) == 2 && operands[1] != STOW_VALUE_NONE &&
             !pass->is_dropped[node] && !stowi_rewrite_is_bounded(graph, node) &&
             !stowi_bits_has(&pass->facts.fixed, result) &&
             has_as_many(stow_graph_type(graph, operands[0]), stow_graph_type(graph, result));
  stowi_rewrite_change change = {
      .at = node, .first = result, .count = 1, .add = stowi_rewrite_add_reshape};
  if (!can) {
    return STOW_OK;
  }
  change.operand = stowi_rewrite_read(pass, operands[0]);
  STOW_TRY(stowi_rewrite_change_at(pass, &change));
  return stowi_rewrite_fire(pass, &node, 1);
}

stow_status stowi_rewrite_identities(stowi_rewrite_pass* pass) {
  for (stow_node node = 0; node < stow_graph_node_count(pass->graph); ++node) {
    bool is_done = false;
    if (stowi_rewrite_is_barrier(pass->graph, node) ||
        stow_graph_result_count(pass->graph, node) != 1) {
      continue;
    }
    STOW_TRY(drop_identity(pass, node, &is_done));
    STOW_TRY(is_done ? STOW_OK : merge_with_before(pass, node));
    STOW_TRY(is_done ? STOW_OK : drop_shape(pass, node));
  }
  return STOW_OK;
}

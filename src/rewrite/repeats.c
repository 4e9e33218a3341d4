// Products of repeated matrices: keys and values that several heads share are repeated for each of
// them, though a product with more rows needs them once:
//
//     expand  [1, 2, 1, t, d] → [1, 2, 4, t, d]         a       [1, 8, m, d] → [1, 2, 4 m, d]
//     reshape → [1, 8, t, d]                            product [1, 2, 4 m, t]
//     product of a [1, 8, m, d]                         reshape → [1, 8, m, t]
//
// Nodes between, which transpose each matrix or compute element by element, move before the
// repetition. Every element is the same sum. This is done where what is repeated is larger than
// all else that the product has: otherwise its rows are more, and may be computed in blocks.
#include <string.h>

#include "base/diag.h"
#include "rewrite/live.h"
#include "rewrite/rules.h"

#define MOST_BETWEEN 4

typedef struct repeat {
  stow_node product;
  stow_node chain[MOST_BETWEEN + 2];  // |between|, the last one first; then reshape and expand
  size_t between;
  size_t count;
  uint32_t rank;      // of the product
  stow_value source;  // what is repeated
  stow_dim heads;     // that differ
  stow_dim times;
} repeat;

// ---------------------------------------------------------------------------------------------
// Reading: from the graph alone, so that the function of a change finds the same

// Whether it keeps all dims but the last two.
static bool transposes_matrices(const stow_graph* graph, stow_node node, uint32_t rank) {
  int64_t perm[STOW_MAX_RANK];
  bool keeps = stow_graph_op(graph, node) == STOW_OP_TRANSPOSE;
  stowi_rewrite_read_perm(graph, node, rank, perm);
  for (uint32_t i = 0; keeps && i + 2 < rank; ++i) {
    keeps = perm[i] == (int64_t)i;
  }
  return keeps;
}

// The operand of |node| that has its dims, if all others are a single element.
static stow_value only_operand(const stow_graph* graph, stow_node node) {
  stow_value found = STOW_VALUE_NONE;
  const stow_type* type = stow_graph_type(graph, stow_graph_first_result(graph, node));
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value operand = stow_graph_operands(graph, node)[k];
    uint64_t elements = 0;
    if (operand == STOW_VALUE_NONE) {
      return STOW_VALUE_NONE;
    }
    if (stow_type_elements(stow_graph_type(graph, operand), &elements) != STOW_OK) {
      elements = 0;  // depends on symbols, or is very large
    }
    const stow_type* other = stow_graph_type(graph, operand);
    bool is_same = other->rank == type->rank &&
                   memcmp(other->dims, type->dims, type->rank * sizeof(type->dims[0])) == 0;
    if (elements != 1 && (!is_same || found != STOW_VALUE_NONE)) {
      return STOW_VALUE_NONE;
    }
    found = elements == 1 ? found : operand;
  }
  return found;
}

// What |node|, between a repetition and a product, is computed from.
static stow_value passed_operand(const stow_graph* graph, stow_node node, uint32_t rank) {
  if (stow_graph_result_count(graph, node) != 1) {
    return STOW_VALUE_NONE;
  }
  if (stowi_graph_is_elementwise(graph, node)) {
    return only_operand(graph, node);
  }
  return transposes_matrices(graph, node, rank) ? stow_graph_operands(graph, node)[0]
                                                : STOW_VALUE_NONE;
}

// Whether the reshape at the end of the chain merges what its expand repeats with the dim before.
static bool read_repetition(const stow_graph* graph, stow_node reshape, repeat* r) {
  stow_node expand = stow_graph_producer(graph, stow_graph_operands(graph, reshape)[0]);
  if (stow_graph_op(graph, expand) != STOW_OP_EXPAND || r->rank < 3) {
    return false;
  }
  uint32_t at = r->rank - 2;
  r->source = stow_graph_operands(graph, expand)[0];
  const stow_type* from = stow_graph_type(graph, r->source);
  const stow_type* to = stow_graph_type(graph, stow_graph_first_result(graph, expand));
  const stow_type* merged = stow_graph_type(graph, stow_graph_first_result(graph, reshape));
  bool is_good = from->rank == r->rank + 1 && to->rank == from->rank && merged->rank == r->rank &&
                 from->dims[at] == 1;
  for (uint32_t i = 0; is_good && i < from->rank; ++i) {
    is_good = i == at || from->dims[i] == to->dims[i];
  }
  for (uint32_t i = 0; is_good && i < r->rank; ++i) {
    is_good = i + 1 == at || merged->dims[i] == to->dims[i < at ? i : i + 1];
  }
  is_good = is_good && stow_dim_is_const(to->dims[at - 1]) && stow_dim_is_const(to->dims[at]);
  if (is_good) {
    r->heads = to->dims[at - 1];
    r->times = to->dims[at];
    r->chain[r->count++] = reshape;
    r->chain[r->count++] = expand;
  }
  return is_good;
}

static bool read_chain(const stow_graph* graph, stow_node product, repeat* r) {
  *r = (repeat){.product = product};
  stow_value value = stow_graph_operands(graph, product)[1];
  r->rank = stow_graph_type(graph, value)->rank;
  for (;;) {
    stow_node node = stow_graph_producer(graph, value);
    if (stowi_rewrite_is_reshape(graph, node)) {
      return read_repetition(graph, node, r);
    }
    value = passed_operand(graph, node, r->rank);
    if (value == STOW_VALUE_NONE || r->between == MOST_BETWEEN) {
      return false;
    }
    r->chain[r->count++] = node;
    r->between = r->count;
  }
}

// ---------------------------------------------------------------------------------------------
// Adding

// The type of |value| with |heads| matrices instead of all.
static stow_type type_once(stowi_rewrite_pass* pass, const repeat* r, stow_value value) {
  stow_type type = stowi_graph_copier_type(&pass->copier, value);
  type.dims[r->rank - 3] = r->heads;
  return type;
}

// The same type with the rows of |times| matrices in one.
static stow_type type_of_rows(stowi_rewrite_pass* pass, const repeat* r, stow_value value) {
  stow_type type = type_once(pass, r, value);
  stow_dim* rows = &type.dims[r->rank - 2];
  *rows = stow_dim_mul(stow_graph_edit_dims(pass->copier.into), *rows, r->times);
  return type;
}

// |node|, between, computed from |value| instead.
static stow_status add_between(stowi_rewrite_pass* pass, const repeat* r, stow_node node,
                               stow_value* value) {
  stow_value passed = passed_operand(pass->graph, node, r->rank);
  stow_type type = type_once(pass, r, stow_graph_first_result(pass->graph, node));
  stow_call* call = stow_graph_begin(pass->copier.into, stow_graph_op(pass->graph, node));
  for (size_t k = 0; k < stow_graph_operand_count(pass->graph, node); ++k) {
    stow_value operand = stow_graph_operands(pass->graph, node)[k];
    stow_call_operand(
        call, operand == passed ? *value : stowi_graph_copier_mapped(&pass->copier, operand));
  }
  stowi_rewrite_copy_attrs(pass, call, node);
  stow_call_result_type(call, &type);
  stow_call_line(call, stow_graph_line(pass->graph, node));
  STOW_TRY(stow_call_finish(call, pass->diag, &node));
  *value = stow_graph_first_result(pass->copier.into, node);
  return STOW_OK;
}

static stow_status add_right(stowi_rewrite_pass* pass, const repeat* r, stow_value* out) {
  stow_value reshaped = stow_graph_first_result(pass->graph, r->chain[r->between]);
  stow_type type = type_once(pass, r, reshaped);
  *out = stowi_graph_copier_mapped(&pass->copier, r->source);
  STOW_TRY(stowi_rewrite_reshape(pass, *out, &type, out));
  for (size_t i = r->between; i-- > 0;) {
    STOW_TRY(add_between(pass, r, r->chain[i], out));
  }
  return STOW_OK;
}

static stow_status add_product(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  repeat r;
  stow_value left = stow_graph_operands(pass->graph, change->at)[0], right;
  (void)read_chain(pass->graph, change->at, &r);
  STOW_TRY(add_right(pass, &r, &right));
  stow_type rows = type_of_rows(pass, &r, left);
  stow_type result = type_of_rows(pass, &r, change->first);
  stow_node node;
  STOW_TRY(
      stowi_rewrite_reshape(pass, stowi_graph_copier_mapped(&pass->copier, left), &rows, &left));
  stow_call* call = stow_graph_begin(pass->copier.into, STOW_OP_MATMUL);
  stow_call_operand(call, left);
  stow_call_operand(call, right);
  stow_call_result_type(call, &result);
  stow_call_line(call, stow_graph_line(pass->graph, change->at));
  STOW_TRY(stow_call_finish(call, pass->diag, &node));
  call = stowi_rewrite_begin(pass, change, STOW_OP_RESHAPE);
  stow_call_operand(call, stow_graph_first_result(pass->copier.into, node));
  return stow_call_finish(call, pass->diag, NULL);
}

// ---------------------------------------------------------------------------------------------
// The rule

static bool may_change(const stowi_rewrite_pass* pass, stow_node node) {
  return !stowi_rewrite_is_barrier(pass->graph, node) &&
         !stowi_rewrite_is_bounded(pass->graph, node) &&
         !stowi_bits_has(&pass->facts.fixed, stow_graph_first_result(pass->graph, node));
}

// Whether nothing but the product needs the chain.
static bool is_alone(const stowi_rewrite_pass* pass, const repeat* r) {
  bool is_alone = true;
  for (size_t i = 0; is_alone && i < r->count; ++i) {
    stow_node node = r->chain[i];
    stow_value result = stow_graph_first_result(pass->graph, node);
    is_alone = may_change(pass, node) && pass->facts.readers[result] == 1 &&
               !stowi_bits_has(&pass->facts.outputs, result) &&
               stow_graph_node_region(pass->graph, node) ==
                   stow_graph_node_region(pass->graph, r->product);
  }
  return is_alone;
}

// Whether each head has rows of its own, and they are smaller than what is repeated.
static bool is_worthwhile(const stowi_rewrite_pass* pass, const repeat* r) {
  const stow_graph* graph = pass->graph;
  stow_value left = stow_graph_operands(graph, r->product)[0];
  stow_value result = stow_graph_first_result(graph, r->product);
  const stow_type* type = stow_graph_type(graph, left);
  uint64_t others = stowi_rewrite_add(stowi_rewrite_bytes(pass->sized, left),
                                      stowi_rewrite_bytes(pass->sized, result));
  stow_value repeated = stow_graph_first_result(graph, r->chain[r->count - 1]);
  return type->rank == r->rank && stow_graph_type(graph, result)->rank == r->rank &&
         type->dims[r->rank - 3] == r->heads * r->times && r->times > 1 &&
         stowi_rewrite_bytes(pass->sized, repeated) > others;
}

static stow_status visit(stowi_rewrite_pass* pass, stow_node node, bool* is_between) {
  repeat r;
  if (stow_graph_op(pass->graph, node) != STOW_OP_MATMUL || !may_change(pass, node) ||
      !read_chain(pass->graph, node, &r) || !is_alone(pass, &r) || !is_worthwhile(pass, &r)) {
    return STOW_OK;
  }
  stow_node nodes[MOST_BETWEEN + 3];
  stowi_rewrite_change change = {.at = node,
                                 .first = stow_graph_first_result(pass->graph, node),
                                 .count = 1,
                                 .before = r.between + 3,
                                 .add = add_product};
  for (size_t i = 0; i < r.count; ++i) {
    is_between[r.chain[i]] = true;
    nodes[r.count - 1 - i] = r.chain[i];
  }
  nodes[r.count] = node;
  STOW_TRY(stowi_rewrite_change_at(pass, &change));
  return stowi_rewrite_fire(pass, nodes, r.count + 1);
}

static bool may_go(const void* user, stow_node node) { return ((const bool*)user)[node]; }

stow_status stowi_rewrite_repeats(stowi_rewrite_pass* pass) {
  uint32_t count = stow_graph_node_count(pass->graph);
  bool* is_between = STOWI_ARRAY_ZERO(pass->allocator, bool, count);
  stow_status status = stowi_need_memory(is_between != NULL, pass->diag);
  for (stow_node node = 0; status == STOW_OK && node < count; ++node) {
    status = visit(pass, node, is_between);
  }
  if (status == STOW_OK) {
    stowi_rewrite_drop_unread(pass, may_go, is_between);
  }
  STOWI_ARRAY_FREE(pass->allocator, is_between, count);
  return status;
}

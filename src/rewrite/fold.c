// Folding: nodes that depend on weights alone move into a second graph, which is computed once.
//
// Which ones is decided by sizes: weights plus the peak of live bytes must not grow. Nodes that
// read each other form a component, which is folded as a whole: what others read of it becomes
// weights, and weights that nothing else reads go. Components that add no more weights than they
// free are always folded. The others only move bytes from the peak to the weights (an i8 weight
// that becomes f32 is four times as large), so they are taken in groups: those that are live at the
// peak together, then those at the next peak, and so on; of all these steps the one with the
// smallest sum is taken.
//
// Values whose elements are known stay where types may depend on them. Nodes of the fold graph that
// need them compute them as well. Views of weights have no bytes to save.
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "rewrite/live.h"
#include "rewrite/rewritten.h"
#include "rewrite/rules.h"

#define MOST_ROUNDS 256
#define MOST_LISTED 9  // nodes of a firing: one more than it names

typedef enum kind {
  OTHER,
  WEIGHT,  // with data
  KNOWN,   // computed from weights; its elements, or some of them, are known
  FOLDABLE
} kind;

typedef struct component {
  uint64_t added;   // bytes of its values that others read
  uint64_t freed;   // bytes of weights that only it reads
  uint64_t live;    // bytes of its values that are not weights already
  stow_node first;  // a list of its nodes, in order
  stow_node last;
  bool is_taken;
} component;

typedef struct folder {
  stowi_rewrite_pass* pass;
  const stow_graph* graph;
  uint32_t node_count;
  uint8_t* kinds;        // by node: a kind
  stow_node* parents;    // by foldable node, of the union-find; then the component's number
  stow_node* next;       // by node: of its component's list
  uint32_t* components;  // by foldable node
  bool* is_frontier;     // by value: others read it
  bool* is_looked_at;    // by value: one of them may take its type from known elements
  bool* is_left_out;     // by node: folded in the set being looked at
  stowi_rewrite_lives lives;
  STOWI_VEC(component) list;
  uint64_t limit;  // bytes of weights
} folder;

// ---------------------------------------------------------------------------------------------
// Which nodes

static bool is_weight_op(stow_op op) { return op == STOW_OP_PARAM || op == STOW_OP_CONSTANT; }

static bool is_known_element(const stow_graph* graph, stow_value value, size_t i) {
  int64_t number;
  double real;
  return stow_graph_known(graph, value, i) != STOW_DIM_INVALID ||
         stow_graph_known_int(graph, value, i, &number) ||
         stow_graph_known_float(graph, value, i, &real);
}

static bool has_known_elements(const stow_graph* graph, stow_node node) {
  bool has = false;
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    stow_value value = stow_graph_first_result(graph, node) + (stow_value)k;
    uint64_t count = 0;
    (void)stow_type_elements(stow_graph_type(graph, value), &count);
    for (size_t i = 0; i < count && count <= STOW_MAX_KNOWN && !has; ++i) {
      has = is_known_element(graph, value, i);
    }
  }
  return has;
}

// Whether all dims of results are numbers: weights have one size.
static bool has_numbers(const stow_graph* graph, stow_node node) {
  bool has = true;
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    uint64_t count;
    stow_value value = stow_graph_first_result(graph, node) + (stow_value)k;
    has = has && stow_type_elements(stow_graph_type(graph, value), &count) != STOW_ERR_UNBOUND_DIM;
  }
  return has;
}

// Whether a result must be there under its own node.
static bool has_fixed_result(const folder* f, stow_node node) {
  const stowi_rewrite_facts* facts = &f->pass->facts;
  bool has = false;
  for (size_t k = 0; k < stow_graph_result_count(f->graph, node); ++k) {
    stow_value value = stow_graph_first_result(f->graph, node) + (stow_value)k;
    has = has || stowi_bits_has(&facts->outputs, value) || stowi_bits_has(&facts->fixed, value);
  }
  return has;
}

static kind kind_of(const folder* f, stow_node node) {
  const stow_graph* graph = f->graph;
  if (is_weight_op(stow_graph_op(graph, node))) {
    bool has_data = stowi_graph_has_data(graph, stow_graph_first_result(graph, node));
    return has_data && stowi_graph_with_count(graph, node) == 0 ? WEIGHT : OTHER;
  }
  if (stowi_rewrite_is_barrier(graph, node) || stowi_rewrite_is_bounded(graph, node) ||
      has_fixed_result(f, node) || !has_numbers(graph, node)) {
    return OTHER;
  }
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value operand = stow_graph_operands(graph, node)[k];
    if (operand != STOW_VALUE_NONE && f->kinds[stow_graph_producer(graph, operand)] == OTHER) {
      return OTHER;
    }
  }
  return has_known_elements(graph, node) ? KNOWN : FOLDABLE;
}

// Ops that take no dims from elements of operands, and pass none on unless all are known.
static bool looks_at_types_alone(stow_op op) {
  switch (op) {
    case STOW_OP_CONV:
    case STOW_OP_CONV_TRANSPOSE:
    case STOW_OP_GEMM:
    case STOW_OP_MATMUL:
    case STOW_OP_ADD:
    case STOW_OP_SUB:
    case STOW_OP_MUL:
    case STOW_OP_DIV:
    case STOW_OP_BATCH_NORM: return true;
    default: return false;
  }
}

// Whether types may depend on elements of what |node| reads.
static bool looks_at_elements(const folder* f, stow_node node) {
  return !looks_at_types_alone(stow_graph_op(f->graph, node)) ||
         stowi_rewrite_is_barrier(f->graph, node) || has_known_elements(f->graph, node);
}

// What a node that stays reads is there for others.
static void note_readers(folder* f, stow_node node) {
  for (size_t k = 0; k < stow_graph_operand_count(f->graph, node); ++k) {
    stow_value operand = stow_graph_operands(f->graph, node)[k];
    if (operand != STOW_VALUE_NONE && f->kinds[node] != FOLDABLE) {
      bool is_known = f->kinds[stow_graph_producer(f->graph, operand)] == KNOWN;
      f->is_frontier[operand] = true;
      f->is_looked_at[operand] =
          f->is_looked_at[operand] || (is_known && looks_at_elements(f, node));
    }
  }
}

// No type depends on known values that only such nodes read: they are folded, too. A node's readers
// come after it.
static void find_kinds(folder* f) {
  for (stow_node node = 0; node < f->node_count; ++node) {
    f->kinds[node] = (uint8_t)kind_of(f, node);
  }
  for (stow_node node = f->node_count; node-- > 0;) {
    bool is_looked_at = false;
    for (size_t k = 0; k < stow_graph_result_count(f->graph, node); ++k) {
      is_looked_at = is_looked_at || f->is_looked_at[stow_graph_first_result(f->graph, node) + k];
    }
    f->kinds[node] = f->kinds[node] == KNOWN && !is_looked_at ? FOLDABLE : f->kinds[node];
    note_readers(f, node);
  }
}

// ---------------------------------------------------------------------------------------------
// Components

static stow_node find(folder* f, stow_node node) {
  while (f->parents[node] != node) {
    f->parents[node] = f->parents[f->parents[node]];
    node = f->parents[node];
  }
  return node;
}

// Operand |k| of |node| as the node that makes it, if that is of the kind |wanted|; otherwise
// STOW_NODE_NONE.
static stow_node operand_node(const folder* f, stow_node node, size_t k, kind wanted) {
  stow_value operand = stow_graph_operands(f->graph, node)[k];
  stow_node made =
      operand == STOW_VALUE_NONE ? STOW_NODE_NONE : stow_graph_producer(f->graph, operand);
  return made != STOW_NODE_NONE && f->kinds[made] == wanted ? made : STOW_NODE_NONE;
}

// The earlier node is the root.
static void join_operands(folder* f, stow_node node) {
  for (size_t k = 0; k < stow_graph_operand_count(f->graph, node); ++k) {
    stow_node operand = operand_node(f, node, k, FOLDABLE);
    if (operand != STOW_NODE_NONE) {
      stow_node a = find(f, operand);
      stow_node b = find(f, node);
      f->parents[a < b ? b : a] = a < b ? a : b;
    }
  }
}

static stow_status add_to_list(folder* f, stow_node node) {
  stow_node root = find(f, node);
  if (root == node) {
    STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(f->pass->allocator, &f->list, 1) == STOW_OK,
                               f->pass->diag));
    f->components[node] = (uint32_t)f->list.count;
    f->list.data[f->list.count++] = (component){.first = node, .last = node};
  } else {
    f->components[node] = f->components[root];
    component* c = &f->list.data[f->components[node]];
    f->next[c->last] = node;
    c->last = node;
  }
  return STOW_OK;
}

static stow_status find_components(folder* f) {
  find_kinds(f);
  for (stow_node node = 0; node < f->node_count; ++node) {
    f->parents[node] = node;
    f->next[node] = STOW_NODE_NONE;
    if (f->kinds[node] == FOLDABLE) {
      join_operands(f, node);
    }
  }
  for (stow_node node = 0; node < f->node_count; ++node) {
    STOW_TRY(f->kinds[node] == FOLDABLE ? add_to_list(f, node) : STOW_OK);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Sizes

static void size_results(folder* f, stow_node node, component* c) {
  for (size_t k = 0; k < stow_graph_result_count(f->graph, node); ++k) {
    stow_value value = stow_graph_first_result(f->graph, node) + (stow_value)k;
    c->live = stowi_rewrite_add(c->live, f->lives.bytes[value]);
    if (f->is_frontier[value]) {
      c->added = stowi_rewrite_add(c->added, stowi_rewrite_bytes(f->pass->sized, value));
    }
  }
}

// Weights all of whose readers are of one component are freed by it. |owners|, by node: that of a
// weight's readers so far, plus one; UINT32_MAX: several, or others.
static void note_owner(folder* f, stow_node node, uint32_t* owners) {
  for (size_t k = 0; k < stow_graph_operand_count(f->graph, node); ++k) {
    stow_node weight = operand_node(f, node, k, WEIGHT);
    uint32_t owner = f->kinds[node] == FOLDABLE ? f->components[node] + 1 : UINT32_MAX;
    if (weight != STOW_NODE_NONE) {
      owners[weight] = owners[weight] == 0 || owners[weight] == owner ? owner : UINT32_MAX;
    }
  }
}

static stow_status size_components(folder* f) {
  uint32_t* owners = STOWI_ARRAY_ZERO(f->pass->allocator, uint32_t, f->node_count);
  STOW_TRY(stowi_need_memory(owners != NULL, f->pass->diag));
  for (stow_node node = 0; node < f->node_count; ++node) {
    note_owner(f, node, owners);
    if (f->kinds[node] == FOLDABLE) {
      size_results(f, node, &f->list.data[f->components[node]]);
    }
  }
  for (stow_node node = 0; node < f->node_count; ++node) {
    stow_value value = stow_graph_first_result(f->graph, node);
    if (owners[node] != 0 && owners[node] != UINT32_MAX &&
        !stowi_bits_has(&f->pass->facts.outputs, value)) {
      component* c = &f->list.data[owners[node] - 1];
      c->freed = stowi_rewrite_add(c->freed, stowi_rewrite_bytes(f->pass->sized, value));
    }
  }
  STOWI_ARRAY_FREE(f->pass->allocator, owners, f->node_count);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// What is taken

static void leave_out(folder* f, const component* c, bool is_left_out) {
  for (stow_node node = c->first; node != STOW_NODE_NONE; node = f->next[node]) {
    f->is_left_out[node] = is_left_out;
  }
}

static bool is_live_at(const folder* f, const component* c, stow_node at) {
  bool is_live = false;
  for (stow_node node = c->first; node != STOW_NODE_NONE && !is_live; node = f->next[node]) {
    for (size_t k = 0; k < stow_graph_result_count(f->graph, node); ++k) {
      stow_value value = stow_graph_first_result(f->graph, node) + (stow_value)k;
      is_live = is_live || stowi_rewrite_is_live(&f->lives, value, at);
    }
  }
  return is_live;
}

// Takes all components that are live at |at|; false if there is none. |*weights| grows with them.
static bool take_live(folder* f, stow_node at, uint64_t* weights) {
  bool any = false;
  for (size_t i = 0; i < f->list.count; ++i) {
    component* c = &f->list.data[i];
    if (f->is_left_out[c->first] || c->live == 0 || !is_live_at(f, c, at)) {
      continue;
    }
    any = true;
    leave_out(f, c, true);
    *weights = stowi_rewrite_add(*weights, c->added);
    *weights -= c->freed < *weights ? c->freed : *weights;
  }
  return any;
}

static void keep_set(folder* f) {
  for (size_t i = 0; i < f->list.count; ++i) {
    f->list.data[i].is_taken = f->is_left_out[f->list.data[i].first];
  }
}

static void choose(folder* f) {
  uint64_t weights = stowi_rewrite_weights(f->graph);
  stow_node at;
  for (size_t i = 0; i < f->list.count; ++i) {
    component* c = &f->list.data[i];
    if (c->live != 0 && c->added <= c->freed) {
      leave_out(f, c, true);
      weights -= c->freed - c->added;
    }
  }
  keep_set(f);
  uint64_t peak = stowi_rewrite_peak(&f->lives, f->is_left_out, &at);
  uint64_t best = stowi_rewrite_add(weights, peak);
  for (int round = 0; round < MOST_ROUNDS && take_live(f, at, &weights) && weights <= f->limit;
       ++round) {
    peak = stowi_rewrite_peak(&f->lives, f->is_left_out, &at);
    if (stowi_rewrite_add(weights, peak) < best) {
      best = stowi_rewrite_add(weights, peak);
      keep_set(f);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Changes

static stow_status add_param(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stow_call* call = stow_graph_begin(pass->copier.into, STOW_OP_PARAM);
  stow_type type = stowi_graph_copier_type(&pass->copier, change->first);
  stow_call_result_type(call, &type);
  stow_str name = stow_graph_value_name(pass->graph, change->first);
  if (name.size != 0) {
    stow_call_name(call, 0, name);
  } else {
    stowi_rewrite_name(pass, call, change->first, "");
  }
  stow_call_attr_bool(call, "folded", true);
  stow_call_line(call, stow_graph_line(pass->graph, change->at));
  return stow_call_finish(call, pass->diag, NULL);
}

// Params for what others read of |node|. Those of nodes in regions come first in the graph: params
// cannot be in regions.
static stow_status add_params(folder* f, stow_node node, bool in_regions) {
  bool is_inside = stow_graph_node_region(f->graph, node) != STOW_REGION_BODY;
  for (size_t k = 0; is_inside == in_regions && k < stow_graph_result_count(f->graph, node); ++k) {
    stow_value value = stow_graph_first_result(f->graph, node) + (stow_value)k;
    if (f->is_frontier[value]) {
      stowi_rewrite_change change = {.at = is_inside ? 0 : node,
                                     .is_outside = is_inside,
                                     .first = value,
                                     .count = 1,
                                     .add = add_param};
      STOW_TRY(stowi_rewrite_change_at(f->pass, &change));
    }
  }
  f->pass->is_dropped[node] = f->pass->is_folded[node] = true;
  return STOW_OK;
}

static stow_status tell(folder* f, const component* c) {
  stow_node nodes[MOST_LISTED];
  size_t count = 0;
  for (stow_node node = c->first; node != STOW_NODE_NONE && count < MOST_LISTED;
       node = f->next[node]) {
    nodes[count++] = node;
  }
  return stowi_rewrite_fire(f->pass, nodes, count);
}

// Weights, and known values, that only dropped nodes read.
static bool may_go(const void* user, stow_node node) {
  const folder* f = (const folder*)user;
  return f->kinds[node] == WEIGHT || f->kinds[node] == KNOWN;
}

static stow_status carry_out(folder* f) {
  bool any = false;
  for (size_t i = 0; i < f->list.count; ++i) {
    any = any || f->list.data[i].is_taken;
    STOW_TRY(f->list.data[i].is_taken ? tell(f, &f->list.data[i]) : STOW_OK);
  }
  if (!any) {
    return STOW_OK;
  }
  f->pass->is_folded = STOWI_ARRAY_ZERO(f->pass->allocator, bool, f->node_count);
  STOW_TRY(stowi_need_memory(f->pass->is_folded != NULL, f->pass->diag));
  for (int in_regions = 1; in_regions >= 0; --in_regions) {
    for (stow_node node = 0; node < f->node_count; ++node) {
      bool is_folded = f->kinds[node] == FOLDABLE && f->list.data[f->components[node]].is_taken;
      STOW_TRY(is_folded ? add_params(f, node, in_regions != 0) : STOW_OK);
    }
  }
  stowi_rewrite_drop_unread(f->pass, may_go, f);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static uint64_t limit_of(const stowi_rewrite_pass* pass) {
  double limit =
      pass->rewritten->options.fold_limit * (double)stowi_rewrite_weights(pass->rewritten->from);
  return limit < 0x1p63 ? (uint64_t)limit : UINT64_MAX;
}

static stow_status init(folder* f, stowi_rewrite_pass* pass) {
  stow_allocator allocator = pass->allocator;
  memset(f, 0, sizeof(*f));
  f->pass = pass;
  f->graph = pass->graph;
  f->limit = limit_of(pass);
  f->node_count = stow_graph_node_count(pass->graph);
  f->kinds = STOWI_ARRAY_ZERO(allocator, uint8_t, f->node_count);
  f->parents = STOWI_ARRAY(allocator, stow_node, f->node_count);
  f->next = STOWI_ARRAY(allocator, stow_node, f->node_count);
  f->components = STOWI_ARRAY(allocator, uint32_t, f->node_count);
  f->is_left_out = STOWI_ARRAY_ZERO(allocator, bool, f->node_count);
  f->is_frontier = STOWI_ARRAY_ZERO(allocator, bool, stow_graph_value_count(pass->graph));
  f->is_looked_at = STOWI_ARRAY_ZERO(allocator, bool, stow_graph_value_count(pass->graph));
  STOW_TRY(stowi_rewrite_lives_init(&f->lives, pass->sized, allocator, pass->diag));
  return stowi_need_memory(f->kinds != NULL && f->parents != NULL && f->next != NULL &&
                               f->components != NULL && f->is_left_out != NULL &&
                               f->is_frontier != NULL && f->is_looked_at != NULL,
                           pass->diag);
}

static void release(folder* f) {
  stow_allocator allocator = f->pass->allocator;
  STOWI_ARRAY_FREE(allocator, f->kinds, f->node_count);
  STOWI_ARRAY_FREE(allocator, f->parents, f->node_count);
  STOWI_ARRAY_FREE(allocator, f->next, f->node_count);
  STOWI_ARRAY_FREE(allocator, f->components, f->node_count);
  STOWI_ARRAY_FREE(allocator, f->is_left_out, f->node_count);
  STOWI_ARRAY_FREE(allocator, f->is_frontier, stow_graph_value_count(f->graph));
  STOWI_ARRAY_FREE(allocator, f->is_looked_at, stow_graph_value_count(f->graph));
  STOWI_VEC_FREE(allocator, &f->list);
  stowi_rewrite_lives_free(&f->lives);
}

stow_status stowi_rewrite_fold(stowi_rewrite_pass* pass) {
  folder f;
  stow_status status = init(&f, pass);
  if (status == STOW_OK) {
    status = find_components(&f);
  }
  if (status == STOW_OK) {
    status = size_components(&f);
  }
  if (status == STOW_OK) {
    choose(&f);
    status = carry_out(&f);
  }
  release(&f);
  return status;
}

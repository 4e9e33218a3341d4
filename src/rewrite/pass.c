#include "rewrite/pass.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "rewrite/rewritten.h"

static stow_status bind_all(stow_graph* graph, stow_diag* diag) {
  for (size_t i = 0; i < stow_dims_symbol_count(stow_graph_dims(graph)); ++i) {
    stow_dim_range range;
    if (stow_dims_range(stow_graph_dims(graph), i, &range)) {
      range.min = range.max;
      STOW_TRY(stow_dims_set_range(stow_graph_edit_dims(graph), i, &range));
    }
  }
  STOW_TRY(stow_graph_bind(graph, NULL, NULL, 0, diag));
  return stow_graph_require_bound(graph, diag);
}

stow_status stowi_rewrite_bind_largest(const stow_graph* graph, stow_allocator allocator,
                                       stow_diag* diag, stow_graph** out_graph) {
  *out_graph = NULL;
  if (stow_graph_require_bound(graph, NULL) == STOW_OK) {
    return STOW_OK;
  }
  STOW_TRY(stowi_graph_copy(graph, allocator, diag, out_graph));
  stow_status status = bind_all(*out_graph, diag);
  if (status != STOW_OK) {
    stow_graph_destroy(*out_graph);
    *out_graph = NULL;
  }
  return status;
}

stow_status stowi_rewrite_pass_init(stowi_rewrite_pass* pass, const stow_graph* graph,
                                    stow_allocator allocator, stow_diag* diag) {
  memset(pass, 0, sizeof(*pass));
  pass->graph = graph;
  pass->allocator = allocator;
  pass->diag = diag;
  uint32_t values = stow_graph_value_count(graph);
  pass->instead = STOWI_ARRAY(allocator, stow_value, values);
  pass->named = STOWI_ARRAY(allocator, stow_value, values);
  pass->is_dropped = STOWI_ARRAY_ZERO(allocator, bool, stow_graph_node_count(graph));
  STOW_TRY(stowi_rewrite_bind_largest(graph, allocator, diag, &pass->bound));
  pass->sized = pass->bound != NULL ? pass->bound : graph;
  STOW_TRY(stowi_rewrite_facts_init(&pass->facts, graph, allocator, diag));
  STOW_TRY(stowi_need_memory(
      pass->instead != NULL && pass->named != NULL && pass->is_dropped != NULL, diag));
  for (stow_value value = 0; value < values; ++value) {
    pass->instead[value] = pass->named[value] = value;
  }
  return STOW_OK;
}

void stowi_rewrite_pass_free(stowi_rewrite_pass* pass) {
  uint32_t values = stow_graph_value_count(pass->graph);
  if (pass->copier.from != NULL) {
    stowi_graph_copier_free(&pass->copier);
  }
  STOWI_ARRAY_FREE(pass->allocator, pass->instead, values);
  STOWI_ARRAY_FREE(pass->allocator, pass->named, values);
  STOWI_ARRAY_FREE(pass->allocator, pass->is_dropped, stow_graph_node_count(pass->graph));
  STOWI_ARRAY_FREE(pass->allocator, pass->is_folded, stow_graph_node_count(pass->graph));
  STOWI_VEC_FREE(pass->allocator, &pass->changes);
  STOWI_VEC_FREE(pass->allocator, &pass->nodes);
  STOWI_VEC_FREE(pass->allocator, &pass->results);
  stowi_rewrite_facts_free(&pass->facts);
  stow_graph_destroy(pass->bound);
}

// ---------------------------------------------------------------------------------------------
// Noting

stow_value stowi_rewrite_read(const stowi_rewrite_pass* pass, stow_value value) {
  return value == STOW_VALUE_NONE ? STOW_VALUE_NONE : pass->instead[value];
}

bool stowi_rewrite_can_stand_for(const stowi_rewrite_pass* pass, stow_value other,
                                 stow_value value) {
  const stowi_rewrite_facts* facts = &pass->facts;
  if (stowi_bits_has(&facts->fixed, value) || stowi_bits_has(&facts->fixed, other) ||
      !stowi_rewrite_same_type(pass->graph, other, value)) {
    return false;
  }
  stow_node producer = stow_graph_producer(pass->graph, other);
  return !stowi_bits_has(&facts->outputs, value) ||
         (!stowi_bits_has(&facts->outputs, other) && pass->named[other] == other &&
          !stowi_rewrite_is_barrier(pass->graph, producer) && !pass->is_dropped[producer] &&
          stow_graph_node_region(pass->graph, producer) == STOW_REGION_BODY);
}

void stowi_rewrite_stand_for(stowi_rewrite_pass* pass, stow_value other, stow_value value) {
  pass->instead[value] = other;
  if (stowi_bits_has(&pass->facts.outputs, value)) {
    pass->named[other] = pass->named[value];
    stowi_bits_add(&pass->facts.outputs, other);
  }
}

// Changes are in the order of nodes; at one node, what comes before it is first.
static bool comes_after(const stowi_rewrite_change* a, const stowi_rewrite_change* b) {
  return a->at != b->at ? a->at > b->at : !a->is_before && b->is_before;
}

stow_status stowi_rewrite_change_at(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(pass->allocator, &pass->changes, 1) == STOW_OK,
                             pass->diag));
  size_t at = pass->changes.count++;
  for (; at > 0 && comes_after(&pass->changes.data[at - 1], change); --at) {
    pass->changes.data[at] = pass->changes.data[at - 1];
  }
  pass->changes.data[at] = *change;
  pass->is_dropped[change->at] =
      pass->is_dropped[change->at] || (!change->is_outside && !change->is_before);
  return STOW_OK;
}

static bool is_read(const stowi_rewrite_pass* pass, stow_node node) {
  const stowi_rewrite_facts* facts = &pass->facts;
  bool result = false;
  for (size_t k = 0; k < stow_graph_result_count(pass->graph, node); ++k) {
    stow_value value = stow_graph_first_result(pass->graph, node) + (stow_value)k;
    result = result || facts->readers[value] != 0 || stowi_bits_has(&facts->outputs, value) ||
             stowi_bits_has(&facts->fixed, value);
  }
  return result;
}

// From the last node to the first: readers come after what they read.
void stowi_rewrite_drop_unread(stowi_rewrite_pass* pass,
                               bool (*may_go)(const void* user, stow_node node), const void* user) {
  for (stow_node node = stow_graph_node_count(pass->graph); node-- > 0;) {
    bool* is_dropped = &pass->is_dropped[node];
    *is_dropped = *is_dropped || (may_go(user, node) && !is_read(pass, node));
    for (size_t k = 0; *is_dropped && k < stow_graph_operand_count(pass->graph, node); ++k) {
      stow_value operand = stow_graph_operands(pass->graph, node)[k];
      if (operand != STOW_VALUE_NONE) {
        --pass->facts.readers[operand];
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Firings

#define MOST_NAMED 8

// A node by its first result: its name, or its id in the graph that was handed in.
static size_t add_name(const stowi_rewrite_pass* pass, stow_node node, char* out, size_t room) {
  stow_value value = stow_graph_first_result(pass->graph, node);
  stow_str name = stow_graph_value_name(pass->graph, value);
  stow_value origin = pass->rewritten->origin[value];
  int size = name.size != 0 ? snprintf(out, room, "%.*s", STOWI_STR_ARG(name))
             : origin == STOW_VALUE_NONE
                 ? snprintf(out, room, "%s", stow_graph_op_desc(pass->graph, node)->name)
                 : snprintf(out, room, "%%%lu", (unsigned long)origin);
  return size < 0 ? 0 : (size_t)size;
}

stow_status stowi_rewrite_fire(stowi_rewrite_pass* pass, const stow_node* nodes, size_t count) {
  stow_rewritten* rewritten = pass->rewritten;
  char text[MOST_NAMED * (STOWI_STR_MAX + 4) + 16];
  size_t size = 0;
  for (size_t i = 0; i < count && i < MOST_NAMED; ++i) {
    size += (size_t)snprintf(text + size, sizeof(text) - size, "%s", i == 0 ? "" : " + ");
    size += add_name(pass, nodes[i], text + size, sizeof(text) - size);
  }
  snprintf(text + size, sizeof(text) - size, "%s", count > MOST_NAMED ? " + ..." : "");
  stow_rewrite_firing firing = {.rule = pass->rule};
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(rewritten->allocator, &rewritten->firings, 1) == STOW_OK &&
          stowi_pool_copy_str(&rewritten->pool, rewritten->allocator, stow_str_of(text),
                              &firing.nodes) == STOW_OK,
      pass->diag));
  rewritten->firings.data[rewritten->firings.count++] = firing;
  ++rewritten->counts[pass->rule];
  ++pass->fired;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Building

static stow_str name_of(const void* user, stow_value value) {
  const stowi_rewrite_pass* pass = (const stowi_rewrite_pass*)user;
  return stow_graph_value_name(pass->graph, pass->named[value]);
}

stow_value stowi_rewrite_result(const stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                                size_t k) {
  return change->is_listed ? pass->results.data[change->first + k] : change->first + (stow_value)k;
}

stow_call* stowi_rewrite_begin(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                               stow_op op) {
  stow_call* call = stow_graph_begin(pass->copier.into, op);
  for (size_t k = 0; k < change->count; ++k) {
    stow_value value = stowi_rewrite_result(pass, change, k);
    stow_type type = stowi_graph_copier_type(&pass->copier, value);
    stow_call_result_type(call, &type);
    stow_call_name(call, k, name_of(pass, value));
  }
  stow_call_line(call, stow_graph_line(pass->graph, change->at));
  return call;
}

bool stowi_rewrite_is_reshape(const stow_graph* graph, stow_node node) {
  stow_op op = stow_graph_op(graph, node);
  return op == STOW_OP_RESHAPE || op == STOW_OP_SQUEEZE || op == STOW_OP_UNSQUEEZE ||
         op == STOW_OP_FLATTEN;
}

void stowi_rewrite_read_perm(const stow_graph* graph, stow_node node, size_t rank,
                             int64_t* out_perm) {
  const stow_attr* attr = stow_graph_attr(graph, node, "perm");
  bool is_given = attr != NULL && attr->kind == STOW_ATTR_INTS && attr->count == rank;
  for (size_t i = 0; i < rank; ++i) {
    int64_t axis = is_given ? attr->ints[i] : (int64_t)(rank - 1 - i);
    out_perm[i] = axis < 0 ? axis + (int64_t)rank : axis;
  }
}

stow_status stowi_rewrite_add_reshape(stowi_rewrite_pass* pass,
                                      const stowi_rewrite_change* change) {
  stow_call* call = stowi_rewrite_begin(pass, change, STOW_OP_RESHAPE);
  stow_call_operand(call, stowi_graph_copier_mapped(&pass->copier, change->operand));
  return stow_call_finish(call, pass->diag, NULL);
}

stow_status stowi_rewrite_reshape(stowi_rewrite_pass* pass, stow_value value, const stow_type* type,
                                  stow_value* out) {
  stow_node node;
  stow_call* call = stow_graph_begin(pass->copier.into, STOW_OP_RESHAPE);
  stow_call_operand(call, value);
  stow_call_result_type(call, type);
  STOW_TRY(stow_call_finish(call, pass->diag, &node));
  *out = stow_graph_first_result(pass->copier.into, node);
  return STOW_OK;
}

void stowi_rewrite_copy_attrs(const stowi_rewrite_pass* pass, stow_call* call, stow_node node) {
  for (size_t i = 0; i < stow_graph_attr_count(pass->graph, node); ++i) {
    stow_call_attr(call, stow_graph_attr_at(pass->graph, node, i));
  }
}

void stowi_rewrite_name(const stowi_rewrite_pass* pass, stow_call* call, stow_value value,
                        const char* suffix) {
  stow_value origin = pass->rewritten->origin[value];
  bool is_taken = true;
  char text[64];
  for (size_t i = 0; is_taken; ++i) {
    unsigned long id = origin == STOW_VALUE_NONE ? value : origin;
    snprintf(text, sizeof(text), i == 0 ? "%%%lu%s" : "%%%lu%s.%zu", id, suffix, i);
    is_taken = stow_graph_find(pass->graph, stow_str_of(text)) != STOW_VALUE_NONE ||
               stow_graph_find(pass->copier.into, stow_str_of(text)) != STOW_VALUE_NONE;
  }
  stow_call_name(call, 0, stow_str_of(text));
}

// The changes at |node|, of which |*at| is the first.
static bool next_change(const stowi_rewrite_pass* pass, stow_node node, size_t* at,
                        const stowi_rewrite_change** out_change) {
  bool is_here = *at < pass->changes.count && pass->changes.data[*at].at == node;
  *out_change = is_here ? &pass->changes.data[(*at)++] : NULL;
  return is_here;
}

static void number_results(stowi_rewrite_pass* pass, stow_value first, size_t count,
                           stow_value* next) {
  for (size_t k = 0; k < count; ++k) {
    pass->copier.map[first + k] = (*next)++;
  }
}

// In the order in which nodes will be added; what another value stands for last.
static void number_values(stowi_rewrite_pass* pass) {
  const stow_graph* graph = pass->graph;
  stow_value next = 0;
  size_t at = 0;
  const stowi_rewrite_change* change;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    while (next_change(pass, node, &at, &change)) {
      next += (stow_value)change->before;
      for (size_t k = 0; k < change->count; ++k) {
        pass->copier.map[stowi_rewrite_result(pass, change, k)] = next++;
      }
    }
    if (!pass->is_dropped[node]) {
      number_results(pass, stow_graph_first_result(graph, node),
                     stow_graph_result_count(graph, node), &next);
    }
  }
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    pass->copier.map[value] = pass->copier.map[pass->instead[value]];
  }
}

static stow_status add_nodes(stowi_rewrite_pass* pass) {
  stowi_graph_copier* copier = &pass->copier;
  const stowi_rewrite_change* change;
  size_t at = 0;
  for (stow_node node = 0; node < stow_graph_node_count(pass->graph); ++node) {
    while (next_change(pass, node, &at, &change)) {
      STOW_TRY(change->is_outside ? STOW_OK : stowi_graph_copier_enter(copier, node));
      STOW_TRY(change->add(pass, change));
    }
    if (!pass->is_dropped[node]) {
      STOW_TRY(stowi_graph_copier_enter(copier, node));
      STOW_TRY(stowi_graph_copier_node(copier, node));
    }
  }
  return stowi_graph_copier_outputs(copier);
}

stow_status stowi_rewrite_pass_build(stowi_rewrite_pass* pass, stow_graph** out_graph) {
  *out_graph = NULL;
  stow_status status =
      stowi_graph_copier_init(&pass->copier, pass->graph, pass->allocator, pass->diag);
  if (status == STOW_OK) {
    pass->copier.name = name_of;
    pass->copier.user = pass;
    pass->copier.keeps_seeds = true;
    number_values(pass);
    status = add_nodes(pass);
  }
  if (status != STOW_OK) {
    stow_graph_destroy(pass->copier.into);
    return status;
  }
  *out_graph = pass->copier.into;
  return STOW_OK;
}

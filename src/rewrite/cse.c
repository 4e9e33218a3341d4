// Common subexpressions: of two nodes that compute the same, the second one is left out. A hash
// index has the first node of each kind; it stands for others where it is visible, which are nodes
// of its region and of regions in that. Small params and constants with the same bytes count too:
// exporters write one for every use.
//
// The first result must be live anyway when the second is computed. If it had to be kept for that,
// the second could be computed in bytes that are free now, and the peak might grow.
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "rewrite/live.h"
#include "rewrite/rules.h"

#define SMALL 1024  // bytes of data that are compared

static const void* small_data(const stow_graph* graph, stow_node node, size_t* out_size) {
  stow_op op = stow_graph_op(graph, node);
  bool is_weight = op == STOW_OP_PARAM || op == STOW_OP_CONSTANT;
  const void* data = is_weight && stowi_graph_with_count(graph, node) == 0
                         ? stow_graph_data(graph, stow_graph_first_result(graph, node), out_size)
                         : NULL;
  return data != NULL && *out_size <= SMALL ? data : NULL;
}

static bool is_candidate(const stow_graph* graph, stow_node node) {
  size_t size;
  return small_data(graph, node, &size) != NULL ||
         (!stowi_rewrite_is_barrier(graph, node) && !stowi_rewrite_is_bounded(graph, node) &&
          stow_graph_result_count(graph, node) != 0);
}

// ---------------------------------------------------------------------------------------------
// Keys

static uint64_t hash_type(uint64_t hash, const stow_type* type) {
  hash = stowi_hash_u64(stowi_hash_u64(hash, (uint64_t)type->dtype), type->rank);
  for (uint32_t i = 0; i < type->rank; ++i) {
    hash = stowi_hash_u64(hash, (uint64_t)type->dims[i]);
  }
  return hash;
}

static uint64_t hash_node(const stowi_rewrite_pass* pass, stow_node node) {
  const stow_graph* graph = pass->graph;
  size_t size;
  const void* data = small_data(graph, node, &size);
  stow_value first = stow_graph_first_result(graph, node);
  uint64_t hash = stowi_hash_u64(STOWI_HASH_SEED, stow_graph_op(graph, node));
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    hash = stowi_hash_u64(hash, stowi_rewrite_read(pass, stow_graph_operands(graph, node)[k]));
  }
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    hash = hash_type(hash, stow_graph_type(graph, first + (stow_value)k));
  }
  if (data != NULL) {
    return stowi_hash_bytes(hash, data, size);
  }
  for (size_t i = 0; i < stow_graph_attr_count(graph, node); ++i) {
    hash = stowi_graph_attr_hash(hash, stow_graph_attr_at(graph, node, i));
  }
  return hash;
}

static bool same_operands(const stowi_rewrite_pass* pass, stow_node a, stow_node b) {
  size_t count = stow_graph_operand_count(pass->graph, a);
  bool same = count == stow_graph_operand_count(pass->graph, b);
  for (size_t k = 0; same && k < count; ++k) {
    same = stowi_rewrite_read(pass, stow_graph_operands(pass->graph, a)[k]) ==
           stowi_rewrite_read(pass, stow_graph_operands(pass->graph, b)[k]);
  }
  return same;
}

static bool same_attrs(const stow_graph* graph, stow_node a, stow_node b) {
  size_t count = stow_graph_attr_count(graph, a);
  bool same = count == stow_graph_attr_count(graph, b);
  for (size_t i = 0; same && i < count; ++i) {
    same = stowi_graph_attr_equal(stow_graph_attr_at(graph, a, i), stow_graph_attr_at(graph, b, i));
  }
  return same;
}

static bool same_results(const stow_graph* graph, stow_node a, stow_node b) {
  size_t count = stow_graph_result_count(graph, a);
  bool same = count == stow_graph_result_count(graph, b);
  for (size_t k = 0; same && k < count; ++k) {
    same = stowi_rewrite_same_type(graph, stow_graph_first_result(graph, a) + (stow_value)k,
                                   stow_graph_first_result(graph, b) + (stow_value)k);
  }
  return same;
}

// A stowi_index_equal.
static bool is_same(const void* context, uint32_t id, const void* key) {
  const stowi_rewrite_pass* pass = (const stowi_rewrite_pass*)context;
  const stow_graph* graph = pass->graph;
  stow_node node = *(const stow_node*)key;
  if (stow_graph_op(graph, id) != stow_graph_op(graph, node) || !same_results(graph, id, node)) {
    return false;
  }
  size_t size, other_size = 0;
  const void* data = small_data(graph, node, &size);
  const void* other = small_data(graph, id, &other_size);
  return data != NULL ? other != NULL && size == other_size && memcmp(data, other, size) == 0
                      : same_operands(pass, id, node) && same_attrs(graph, id, node);
}

// ---------------------------------------------------------------------------------------------

static bool is_visible(const stow_graph* graph, stow_node from, stow_node in) {
  stow_region region = stow_graph_node_region(graph, in);
  stow_region wanted = stow_graph_node_region(graph, from);
  while (region != wanted && region != STOW_REGION_BODY) {
    region = stowi_graph_region_parent(graph, region);
  }
  return region == wanted;
}

static bool can_replace(const stowi_rewrite_pass* pass, const stowi_rewrite_lives* lives,
                        stow_node first, stow_node second) {
  stow_value from = stow_graph_first_result(pass->graph, first);
  stow_value value = stow_graph_first_result(pass->graph, second);
  bool can = is_visible(pass->graph, first, second);
  for (size_t k = 0; can && k < stow_graph_result_count(pass->graph, first); ++k) {
    can = stowi_rewrite_can_stand_for(pass, from + (stow_value)k, value + (stow_value)k) &&
          stowi_rewrite_lives_until(lives, from + (stow_value)k, second);
  }
  return can;
}

static stow_status replace(stowi_rewrite_pass* pass, stowi_rewrite_lives* lives, stow_node first,
                           stow_node second) {
  stow_value from = stow_graph_first_result(pass->graph, first);
  stow_value value = stow_graph_first_result(pass->graph, second);
  for (size_t k = 0; k < stow_graph_result_count(pass->graph, first); ++k) {
    stowi_rewrite_stand_for(pass, from + (stow_value)k, value + (stow_value)k);
    stowi_rewrite_lives_join(lives, from + (stow_value)k, value + (stow_value)k);
  }
  pass->is_dropped[second] = true;
  return stowi_rewrite_fire(pass, (stow_node[]){first, second}, 2);
}

static stow_status visit(stowi_rewrite_pass* pass, stowi_rewrite_lives* lives, stowi_index* index,
                         stow_node node) {
  uint64_t hash = hash_node(pass, node);
  uint32_t first = stowi_index_find(index, hash, is_same, pass, &node);
  if (first != STOWI_INDEX_NONE) {
    return can_replace(pass, lives, first, node) ? replace(pass, lives, first, node) : STOW_OK;
  }
  STOW_TRY(stowi_need_memory(stowi_index_reserve(index, pass->allocator) == STOW_OK, pass->diag));
  stowi_index_insert(index, hash, node);
  return STOW_OK;
}

stow_status stowi_rewrite_cse(stowi_rewrite_pass* pass) {
  stowi_index index = {0};
  stowi_rewrite_lives lives;
  stow_status status = stowi_rewrite_lives_init(&lives, pass->graph, pass->allocator, pass->diag);
  for (stow_node node = 0; node < stow_graph_node_count(pass->graph) && status == STOW_OK; ++node) {
    bool is_tried = !pass->is_dropped[node] && is_candidate(pass->graph, node);
    status = is_tried ? visit(pass, &lives, &index, node) : STOW_OK;
  }
  stowi_index_free(&index, pass->allocator);
  stowi_rewrite_lives_free(&lives);
  return status;
}

// Common subexpressions: of two nodes that compute the same, the second one is left out. A hash
// index has the first node of each kind; it stands for others where it is visible, which are nodes
// of its region and of regions in that. Small params and constants with the same bytes count too:
// exporters write one for every use.
//
// Keeping a value for a later reader can raise the peak, while computing it twice costs time only.
// So nodes are merged only where that helps in every order: both are views of the same, the only
// reader of the second one reads the first, too, or an operand that nothing else reads is as large
// as the result, which then is live in its place.
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

typedef struct finder {
  stowi_rewrite_pass* pass;
  const stow_graph* graph;
  uint32_t value_count;
  stow_value* same;           // by value: the first one with its elements
  stow_node* readers;         // by value: the last node that reads it
  stowi_rewrite_lives lives;  // for bytes
  stowi_index index;          // the first nodes of their kind
} finder;

static stow_value same_value(const finder* f, stow_value value) {
  return value == STOW_VALUE_NONE ? STOW_VALUE_NONE : f->same[stowi_rewrite_read(f->pass, value)];
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

static uint64_t hash_node(const finder* f, stow_node node) {
  const stow_graph* graph = f->graph;
  size_t size;
  const void* data = small_data(graph, node, &size);
  stow_value first = stow_graph_first_result(graph, node);
  uint64_t hash = stowi_hash_u64(STOWI_HASH_SEED, stow_graph_op(graph, node));
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    hash = stowi_hash_u64(hash, same_value(f, stow_graph_operands(graph, node)[k]));
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

static bool same_operands(const finder* f, stow_node a, stow_node b) {
  size_t count = stow_graph_operand_count(f->graph, a);
  bool same = count == stow_graph_operand_count(f->graph, b);
  for (size_t k = 0; same && k < count; ++k) {
    same = same_value(f, stow_graph_operands(f->graph, a)[k]) ==
           same_value(f, stow_graph_operands(f->graph, b)[k]);
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
  const finder* f = (const finder*)context;
  const stow_graph* graph = f->graph;
  stow_node node = *(const stow_node*)key;
  if (stow_graph_op(graph, id) != stow_graph_op(graph, node) || !same_results(graph, id, node)) {
    return false;
  }
  size_t size, other_size = 0;
  const void* data = small_data(graph, node, &size);
  const void* other = small_data(graph, id, &other_size);
  return data != NULL ? other != NULL && size == other_size && memcmp(data, other, size) == 0
                      : same_operands(f, id, node) && same_attrs(graph, id, node);
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

// ---------------------------------------------------------------------------------------------
// Whether it helps

static size_t count_reads(const finder* f, stow_node node, stow_value value) {
  size_t count = 0;
  for (size_t k = 0; k < stow_graph_operand_count(f->graph, node); ++k) {
    count += stow_graph_operands(f->graph, node)[k] == value;
  }
  return count;
}

// Whether an operand that both nodes read, and no others, has |bytes|: it may go earlier.
static bool frees(const finder* f, stow_node first, stow_node second, uint64_t bytes) {
  const stowi_rewrite_facts* facts = &f->pass->facts;
  bool result = false;
  for (size_t k = 0; k < stow_graph_operand_count(f->graph, second); ++k) {
    stow_value operand = stow_graph_operands(f->graph, second)[k];
    size_t reads = operand == STOW_VALUE_NONE ? 0 : count_reads(f, first, operand);
    result = result || (reads != 0 && f->lives.bytes[operand] >= bytes &&
                        !stow_graph_is_boundary(f->graph, operand) &&
                        !stowi_bits_has(&facts->outputs, operand) &&
                        facts->readers[operand] == reads + count_reads(f, second, operand));
  }
  return result;
}

// Whether one node reads |second| and nothing else does, and it reads |first|, too.
static bool has_common_reader(const finder* f, stow_value first, stow_value second) {
  stow_node reader = f->readers[second];
  return reader != STOW_NODE_NONE &&
         f->pass->facts.readers[second] == count_reads(f, reader, second) &&
         count_reads(f, reader, first) != 0 && !stowi_bits_has(&f->pass->facts.outputs, second);
}

static bool helps(const finder* f, stow_node first, stow_node second, size_t k) {
  stow_value from = stow_graph_first_result(f->graph, first) + (stow_value)k;
  stow_value value = stow_graph_first_result(f->graph, second) + (stow_value)k;
  stow_value root = f->lives.roots[value];
  uint64_t bytes = f->lives.bytes[root];  // 0: a weight's
  return bytes == 0 || root == f->lives.roots[from] || has_common_reader(f, from, value) ||
         frees(f, first, second, bytes);
}

// ---------------------------------------------------------------------------------------------

static bool can_replace(const finder* f, stow_node first, stow_node second) {
  stow_value from = stow_graph_first_result(f->graph, first);
  stow_value value = stow_graph_first_result(f->graph, second);
  bool can = is_visible(f->graph, first, second);
  for (size_t k = 0; can && k < stow_graph_result_count(f->graph, first); ++k) {
    can = helps(f, first, second, k) &&
          stowi_rewrite_can_stand_for(f->pass, from + (stow_value)k, value + (stow_value)k);
  }
  return can;
}

static stow_status replace(finder* f, stow_node first, stow_node second) {
  stow_value from = stow_graph_first_result(f->graph, first);
  stow_value value = stow_graph_first_result(f->graph, second);
  for (size_t k = 0; k < stow_graph_result_count(f->graph, first); ++k) {
    stowi_rewrite_stand_for(f->pass, from + (stow_value)k, value + (stow_value)k);
  }
  f->pass->is_dropped[second] = true;
  return stowi_rewrite_fire(f->pass, (stow_node[]){first, second}, 2);
}

// Nodes of one kind are found even if those that they read stay apart: if these are merged, those
// are dead.
static stow_status visit(finder* f, stow_node node) {
  stowi_rewrite_pass* pass = f->pass;
  uint64_t hash = hash_node(f, node);
  uint32_t first = stowi_index_find(&f->index, hash, is_same, f, &node);
  if (first == STOWI_INDEX_NONE) {
    STOW_TRY(
        stowi_need_memory(stowi_index_reserve(&f->index, pass->allocator) == STOW_OK, pass->diag));
    stowi_index_insert(&f->index, hash, node);
    return STOW_OK;
  }
  for (size_t k = 0; k < stow_graph_result_count(f->graph, node); ++k) {
    f->same[stow_graph_first_result(f->graph, node) + k] =
        stow_graph_first_result(f->graph, first) + (stow_value)k;
  }
  return can_replace(f, first, node) ? replace(f, first, node) : STOW_OK;
}

static stow_status find_readers(finder* f) {
  f->readers = STOWI_ARRAY(f->pass->allocator, stow_node, f->value_count);
  f->same = STOWI_ARRAY(f->pass->allocator, stow_value, f->value_count);
  STOW_TRY(stowi_need_memory(f->readers != NULL && f->same != NULL, f->pass->diag));
  for (stow_value value = 0; value < f->value_count; ++value) {
    f->readers[value] = STOW_NODE_NONE;
    f->same[value] = value;
  }
  for (stow_node node = 0; node < stow_graph_node_count(f->graph); ++node) {
    for (size_t k = 0; k < stow_graph_operand_count(f->graph, node); ++k) {
      stow_value operand = stow_graph_operands(f->graph, node)[k];
      if (operand != STOW_VALUE_NONE) {
        f->readers[operand] = node;
      }
    }
  }
  return STOW_OK;
}

static stow_status find_all(finder* f) {
  STOW_TRY(stowi_rewrite_lives_init(&f->lives, f->pass->sized, f->pass->allocator, f->pass->diag));
  STOW_TRY(find_readers(f));
  for (stow_node node = 0; node < stow_graph_node_count(f->graph); ++node) {
    bool is_tried = !f->pass->is_dropped[node] && is_candidate(f->graph, node);
    STOW_TRY(is_tried ? visit(f, node) : STOW_OK);
  }
  return STOW_OK;
}

stow_status stowi_rewrite_cse(stowi_rewrite_pass* pass) {
  finder f = {.pass = pass, .graph = pass->graph};
  f.value_count = stow_graph_value_count(pass->graph);
  stow_status status = find_all(&f);
  stowi_index_free(&f.index, pass->allocator);
  STOWI_ARRAY_FREE(pass->allocator, f.readers, f.value_count);
  STOWI_ARRAY_FREE(pass->allocator, f.same, f.value_count);
  stowi_rewrite_lives_free(&f.lives);
  return status;
}

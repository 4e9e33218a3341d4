#include "rewrite/live.h"

#include <string.h>

#include "base/diag.h"
#include "rewrite/facts.h"

static bool is_weight(const stow_graph* graph, stow_node node) {
  stow_op op = stow_graph_op(graph, node);
  return op == STOW_OP_PARAM || op == STOW_OP_CONSTANT;
}

// A view has the bytes of its operand.
static void find_roots(stowi_rewrite_lives* lives, stow_node node) {
  const stow_graph* graph = lives->graph;
  stow_value first = stow_graph_first_result(graph, node);
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    stow_value value = first + (stow_value)k;
    stow_view view;
    bool is_view = stow_graph_view(graph, node, k, &view);
    lives->roots[value] =
        is_view ? lives->roots[stow_graph_operands(graph, node)[view.operand]] : value;
    lives->bytes[value] = is_view || is_weight(graph, node) ? 0 : stowi_rewrite_bytes(graph, value);
    lives->ends[value] = node;
  }
}

stow_node stowi_rewrite_end_of_read(const stow_graph* graph, stow_value root, stow_node reader) {
  stow_region home = stow_graph_node_region(graph, stow_graph_producer(graph, root));
  stow_region region = stow_graph_node_region(graph, reader);
  while (region != home && region != STOW_REGION_BODY) {
    reader = stowi_graph_region_owner(graph, region);
    region = stowi_graph_region_parent(graph, region);
  }
  return reader;
}

static void extend(stowi_rewrite_lives* lives, stow_value value, stow_node reader) {
  stow_value root = lives->roots[value];
  stow_node end = stowi_rewrite_end_of_read(lives->graph, root, reader);
  lives->ends[root] = end > lives->ends[root] ? end : lives->ends[root];
}

static void find_ends(stowi_rewrite_lives* lives) {
  const stow_graph* graph = lives->graph;
  for (stow_node node = 0; node < lives->node_count; ++node) {
    for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
      stow_value operand = stow_graph_operands(graph, node)[k];
      if (operand != STOW_VALUE_NONE) {
        extend(lives, operand, node);
      }
    }
  }
  for (stow_value value = 0; value < lives->value_count; ++value) {
    if (stow_graph_op(graph, stow_graph_producer(graph, value)) == STOW_OP_INPUT) {
      lives->ends[value] = lives->node_count - 1;
    }
  }
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    extend(lives, stow_graph_outputs(graph)[i], lives->node_count - 1);
  }
}

stow_status stowi_rewrite_lives_init(stowi_rewrite_lives* lives, const stow_graph* graph,
                                     stow_allocator allocator, stow_diag* diag) {
  memset(lives, 0, sizeof(*lives));
  lives->allocator = allocator;
  lives->graph = graph;
  lives->value_count = stow_graph_value_count(graph);
  lives->node_count = stow_graph_node_count(graph);
  lives->roots = STOWI_ARRAY(allocator, stow_value, lives->value_count);
  lives->bytes = STOWI_ARRAY(allocator, uint64_t, lives->value_count);
  lives->ends = STOWI_ARRAY(allocator, stow_node, lives->value_count);
  lives->load = STOWI_ARRAY(allocator, uint64_t, lives->node_count);
  STOW_TRY(stowi_need_memory(
      lives->roots != NULL && lives->bytes != NULL && lives->ends != NULL && lives->load != NULL,
      diag));
  for (stow_node node = 0; node < lives->node_count; ++node) {
    find_roots(lives, node);
  }
  find_ends(lives);
  return STOW_OK;
}

void stowi_rewrite_lives_free(stowi_rewrite_lives* lives) {
  STOWI_ARRAY_FREE(lives->allocator, lives->roots, lives->value_count);
  STOWI_ARRAY_FREE(lives->allocator, lives->bytes, lives->value_count);
  STOWI_ARRAY_FREE(lives->allocator, lives->ends, lives->value_count);
  STOWI_ARRAY_FREE(lives->allocator, lives->load, lives->node_count);
}

bool stowi_rewrite_is_live(const stowi_rewrite_lives* lives, stow_value value, stow_node node) {
  stow_value root = lives->roots[value];
  return lives->bytes[root] != 0 && stow_graph_producer(lives->graph, root) <= node &&
         node <= lives->ends[root];
}

// Differences of loads wrap around, and so do their sums, to what they should be.
uint64_t stowi_rewrite_peak(stowi_rewrite_lives* lives, const bool* is_left_out,
                            stow_node* out_node) {
  memset(lives->load, 0, lives->node_count * sizeof(*lives->load));
  for (stow_value value = 0; value < lives->value_count; ++value) {
    stow_node node = stow_graph_producer(lives->graph, value);
    stow_node begin = stow_graph_op(lives->graph, node) == STOW_OP_INPUT ? 0 : node;
    if (is_left_out == NULL || !is_left_out[node]) {
      lives->load[begin] += lives->bytes[value];
      if (lives->ends[value] + 1 < lives->node_count) {
        lives->load[lives->ends[value] + 1] -= lives->bytes[value];
      }
    }
  }
  uint64_t peak = 0, load = 0;
  *out_node = 0;
  for (stow_node node = 0; node < lives->node_count; ++node) {
    load += lives->load[node];
    *out_node = load > peak ? node : *out_node;
    peak = load > peak ? load : peak;
  }
  return peak;
}

uint64_t stowi_rewrite_weights(const stow_graph* graph) {
  uint64_t total = 0;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    if (is_weight(graph, node)) {
      total = stowi_rewrite_add(total,
                                stowi_rewrite_bytes(graph, stow_graph_first_result(graph, node)));
    }
  }
  return total;
}

#include "rewrite/load.h"

#include <string.h>

#include "base/diag.h"

// ---------------------------------------------------------------------------------------------
// As it is

static bool can_be_taken(const stowi_rewrite_load* load, stow_value root, stow_value by,
                         stow_node end) {
  const stowi_rewrite_lives* lives = &load->lives;
  return lives->ends[root] == end && lives->bytes[root] != 0 &&
         lives->bytes[root] == lives->bytes[by] && !stow_graph_is_boundary(lives->graph, root);
}

// Whether it puts its operands one after the other, so that they can be computed in their places.
static bool is_plain_concat(const stow_graph* graph, stow_node node) {
  if (stow_graph_op(graph, node) != STOW_OP_CONCAT) {
    return false;
  }
  const stow_type* type = stow_graph_type(graph, stow_graph_first_result(graph, node));
  int64_t axis = stow_graph_attr(graph, node, "axis")->i;
  axis = axis < 0 ? axis + (int64_t)type->rank : axis;
  bool is = true;
  for (int64_t i = 0; i < axis; ++i) {
    is = is && type->dims[i] == 1;
  }
  return is;
}

// Operands that live longer than a concat of them, for another one, are its bytes. Those that do
// not are in its place.
static void join_operands(stowi_rewrite_load* load, stow_node node) {
  const stow_graph* graph = load->lives.graph;
  stowi_rewrite_lives* lives = &load->lives;
  stow_value result = stow_graph_first_result(graph, node);
  bool outlive = true;
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value root = lives->roots[stow_graph_operands(graph, node)[k]];
    outlive =
        outlive && lives->ends[root] >= lives->ends[result] && !stow_graph_is_boundary(graph, root);
    load->is_taken[root] =
        load->is_taken[root] || (lives->ends[root] == node && !stow_graph_is_boundary(graph, root));
  }
  lives->bytes[result] = outlive ? 0 : lives->bytes[result];
}

// The first operand that the result of |node| may be in place of is.
static void take_operand(stowi_rewrite_load* load, stow_node node) {
  const stow_graph* graph = load->lives.graph;
  stow_value result = stow_graph_first_result(graph, node);
  if (is_plain_concat(graph, node)) {
    join_operands(load, node);
    return;
  }
  size_t count =
      stow_graph_result_count(graph, node) == 1 ? stow_graph_operand_count(graph, node) : 0;
  for (size_t k = 0; k < count; ++k) {
    stow_value operand = stow_graph_operands(graph, node)[k];
    if (operand != STOW_VALUE_NONE &&
        can_be_taken(load, load->lives.roots[operand], result, node) &&
        stow_graph_in_place(graph, node, 0, k) != STOW_IN_PLACE_NEVER) {
      load->is_taken[load->lives.roots[operand]] = true;
      return;
    }
  }
}

stow_node stowi_rewrite_last_step(const stowi_rewrite_load* load, stow_value root) {
  return load->lives.ends[root] - (load->is_taken[root] ? 1 : 0);
}

// Differences wrap around, and so do their sums, to what they should be.
static void find_loads(stowi_rewrite_load* load) {
  const stowi_rewrite_lives* lives = &load->lives;
  for (stow_value value = 0; value < lives->value_count; ++value) {
    stow_node end = stowi_rewrite_last_step(load, value) + 1;
    load->at[stow_graph_producer(lives->graph, value)] += lives->bytes[value];
    if (end < lives->node_count) {
      load->at[end] -= lives->bytes[value];
    }
  }
  for (stow_node node = 1; node < lives->node_count; ++node) {
    load->at[node] += load->at[node - 1];
  }
}

stow_status stowi_rewrite_load_init(stowi_rewrite_load* load, const stow_graph* graph,
                                    stow_allocator allocator, stow_diag* diag) {
  memset(load, 0, sizeof(*load));
  STOW_TRY(stowi_rewrite_lives_init(&load->lives, graph, allocator, diag));
  load->is_taken = STOWI_ARRAY_ZERO(allocator, bool, load->lives.value_count);
  load->at = STOWI_ARRAY_ZERO(allocator, uint64_t, load->lives.node_count);
  load->scratch = STOWI_ARRAY_ZERO(allocator, uint64_t, load->lives.node_count);
  load->change = STOWI_ARRAY_ZERO(allocator, int64_t, load->lives.node_count);
  STOW_TRY(stowi_need_memory(
      load->is_taken != NULL && load->at != NULL && load->scratch != NULL && load->change != NULL,
      diag));
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    load->lives.bytes[load->lives.roots[stow_graph_outputs(graph)[i]]] = 0;
  }
  for (stow_node node = 0; node < load->lives.node_count; ++node) {
    take_operand(load, node);
  }
  find_loads(load);
  return STOW_OK;
}

void stowi_rewrite_load_free(stowi_rewrite_load* load) {
  stow_allocator allocator = load->lives.allocator;
  STOWI_ARRAY_FREE(allocator, load->is_taken, load->lives.value_count);
  STOWI_ARRAY_FREE(allocator, load->at, load->lives.node_count);
  STOWI_ARRAY_FREE(allocator, load->scratch, load->lives.node_count);
  STOWI_ARRAY_FREE(allocator, load->change, load->lives.node_count);
  stowi_rewrite_lives_free(&load->lives);
}

// ---------------------------------------------------------------------------------------------
// As it would be

bool stowi_rewrite_is_whole(const stow_graph* graph, stow_value value) {
  const stow_type* type = stow_graph_type(graph, value);
  bool is = stow_dtype_bits(type->dtype) % 8 == 0;
  for (uint32_t i = 0; i < type->rank; ++i) {
    is = is && stow_dim_at_least(stow_graph_dims(graph), type->dims[i], 1, 0);
  }
  return is;
}

bool stowi_rewrite_can_fuse(const stowi_rewrite_load* load, const stowi_rewrite_facts* facts,
                            const stow_graph* graph, stow_node node) {
  if (stowi_rewrite_is_barrier(graph, node) || stow_graph_result_count(graph, node) != 1 ||
      stowi_rewrite_is_bounded(graph, node)) {
    return false;
  }
  bool can = stowi_rewrite_is_whole(graph, stow_graph_first_result(graph, node));
  for (size_t k = 0; can && k < stow_graph_operand_count(graph, node); ++k) {
    stow_value operand = stow_graph_operands(graph, node)[k];
    can =
        operand == STOW_VALUE_NONE || (stowi_rewrite_is_whole(graph, operand) &&
                                       !stowi_bits_has(&facts->fixed, load->lives.roots[operand]));
  }
  return can;
}

void stowi_rewrite_more(stowi_rewrite_load* load, stow_node begin, stow_node end, stow_node last,
                        int64_t bytes) {
  if (begin <= end && begin <= last) {
    load->change[begin] += bytes;
    if (end < last) {
      load->change[end + 1] -= bytes;
    }
  }
}

static bool is_taken(const stowi_rewrite_load* load, const stowi_rewrite_fusion* fusion,
                     stow_value root) {
  stow_node last = fusion->nodes[0];
  stow_value result = stow_graph_first_result(load->lives.graph, last);
  stow_node end = load->lives.ends[root];
  return fusion->taken != STOW_VALUE_NONE && root == load->lives.roots[fusion->taken] &&
         end <= last && can_be_taken(load, root, result, end);
}

// An operand is live until the last node.
static void extend(stowi_rewrite_load* load, const stowi_rewrite_fusion* fusion, stow_value root) {
  stow_node last = fusion->nodes[0];
  int64_t bytes = (int64_t)load->lives.bytes[root];
  if (load->lives.ends[root] <= last) {
    stow_node before = stowi_rewrite_last_step(load, root);
    stow_node after = last - (is_taken(load, fusion, root) ? 1 : 0);
    stowi_rewrite_more(load, before + 1, after, last, bytes);
    stowi_rewrite_more(load, after + 1, before, last, -bytes);
  }
}

static bool is_first(const stowi_rewrite_load* load, const stowi_rewrite_fusion* fusion, size_t i) {
  const stow_value* roots = load->lives.roots;
  for (size_t j = 0; j < i; ++j) {
    if (roots[fusion->operands[j]] == roots[fusion->operands[i]]) {
      return false;
    }
  }
  return true;
}

// Returns the first step at which something changes.
static stow_node find_changes(stowi_rewrite_load* load, const stowi_rewrite_fusion* fusion) {
  const stow_graph* graph = load->lives.graph;
  stow_node last = fusion->nodes[0];
  for (size_t i = 0; i < fusion->operand_count; ++i) {
    if (is_first(load, fusion, i)) {
      extend(load, fusion, load->lives.roots[fusion->operands[i]]);
    }
  }
  for (size_t i = 1; i < fusion->count; ++i) {
    stow_value value = stow_graph_first_result(graph, fusion->nodes[i]);
    stowi_rewrite_more(load, fusion->nodes[i], stowi_rewrite_last_step(load, value), last,
                       -(int64_t)load->lives.bytes[value]);
  }
  for (size_t i = 0; i < fusion->count; ++i) {
    stow_node node = fusion->nodes[i];
    stowi_rewrite_more(load, node, node, last, -(int64_t)load->scratch[node]);
  }
  stowi_rewrite_more(load, last, last, last, (int64_t)fusion->scratch);
  return fusion->nodes[fusion->count - 1];
}

stowi_rewrite_effect stowi_rewrite_end_trial(stowi_rewrite_load* load, stow_node first,
                                             stow_node last, stow_node since, bool keeps) {
  stowi_rewrite_effect effect = {0, 0, 0};
  int64_t change = 0;
  for (stow_node node = first; node <= last; ++node) {
    change += load->change[node];
    load->change[node] = 0;
    uint64_t now = load->at[node] + (uint64_t)change;
    effect.sum += node >= since ? change : 0;
    effect.before = load->at[node] > effect.before ? load->at[node] : effect.before;
    effect.after = now > effect.after ? now : effect.after;
    load->at[node] = keeps ? now : load->at[node];
  }
  return effect;
}

stowi_rewrite_effect stowi_rewrite_try(stowi_rewrite_load* load,
                                       const stowi_rewrite_fusion* fusion) {
  stow_node first = find_changes(load, fusion);
  return stowi_rewrite_end_trial(load, first, fusion->nodes[0], first, false);
}

void stowi_rewrite_note(stowi_rewrite_load* load, const stowi_rewrite_fusion* fusion) {
  stow_node last = fusion->nodes[0];
  stow_node first = find_changes(load, fusion);
  (void)stowi_rewrite_end_trial(load, first, last, first, true);
  for (size_t i = 0; i < fusion->operand_count; ++i) {
    stow_value root = load->lives.roots[fusion->operands[i]];
    if (load->lives.ends[root] <= last) {
      bool takes = is_taken(load, fusion, root);
      load->lives.ends[root] = last;
      load->is_taken[root] = takes;
    }
  }
  for (size_t i = 1; i < fusion->count; ++i) {
    load->lives.bytes[stow_graph_first_result(load->lives.graph, fusion->nodes[i])] = 0;
    load->scratch[fusion->nodes[i]] = 0;
  }
  load->scratch[last] = fusion->scratch;
}

uint64_t stowi_rewrite_load_peak(const stowi_rewrite_load* load) {
  return load->lives.node_count == 0 ? 0 : load->at[stowi_rewrite_highest_step(load)];
}

stow_node stowi_rewrite_highest_step(const stowi_rewrite_load* load) {
  stow_node highest = 0;
  for (stow_node node = 1; node < load->lives.node_count; ++node) {
    highest = load->at[node] > load->at[highest] ? node : highest;
  }
  return highest;
}

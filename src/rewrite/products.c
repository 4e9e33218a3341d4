// Products with weights, and what is around them: nodes that compute each row from the same row
// become one `blocks` node where the peak is, even if rows move on the way (rows.h). Then a tensor
// between them, as the hidden one of a feed-forward part, is only as large as a block of rows, and
// x + h w may be in place of x:
//
//     %1 = matmul(%0, %w1) : f32[1, 128, 1536]
//     %2 = gelu(%1) : f32[1, 128, 1536]                  f32[?rows, 1536] for some rows
//     %3 = matmul(%2, %w2) : f32[1, 128, 384]
//     %4 = add(%0, %3) : f32[1, 128, 384]                in place of %0
//
// In attention the keys and values of all rows are needed, but neither all queries nor scores.
//
// Each block reads all weights, and small blocks are slow. So the highest step is made lower, and
// then the next one, until one cannot be; then all of that is done from which on the peak got lower
// by a part that is worth it. What the rule `blocks` does afterwards is noted first. At the highest
// step clusters grow from their last node backwards, as in clusters.c, for each way in which the
// last result may have rows; every beginning is tried, and the one with the fewest live bytes at
// its steps is taken. The window around a step is limited: O(nodes + size of windows).
#include <string.h>

#include "base/diag.h"
#include "rewrite/clusters.h"
#include "rewrite/rules.h"
#include "rewrite/tokens.h"

#define MOST_SPAN 96  // nodes from the highest step to the last of a cluster
// About what an executor needs for the smallest blocks: a value of a block, its rows, and for each
// value of the function.
#define BLOCK_BYTES 24576
#define LARGEST_LEAST 49152
#define LEAST_PART 20
#define MOST_PART 8
#define TILE_ROWS 6
#define FRAME_BYTES 96
#define KERNEL_BYTES 2048
#define WORTHWHILE 16  // the peak is lower by this part at least

typedef struct chain {
  size_t first;  // in the pass's list of nodes, ascending
  size_t count;
  stowi_rewrite_rows rows;  // of the result
  uint64_t before;          // the most live bytes of all steps before it was taken
} chain;

typedef struct finder {
  stowi_rewrite_pass* pass;
  const stow_graph* graph;
  stowi_rewrite_load load;
  stowi_rewrite_homes homes;  // of nodes that `blocks` makes one
  bool* is_used;              // by node
  // The cluster that grows, the last node first.
  stowi_rewrite_member members[STOWI_REWRITE_MOST_TOKEN_NODES];
  size_t count;
  stow_node pending[STOWI_REWRITE_MOST_USES];  // producers to try, ascending
  size_t pending_count;
  // Of a trial.
  stow_node nodes[STOWI_REWRITE_MOST_TOKEN_NODES];  // the last one first
  stowi_rewrite_member ascending[STOWI_REWRITE_MOST_TOKEN_NODES];
  stow_value operands[STOWI_REWRITE_MOST_USES];  // that it reads from outside
  size_t operand_count;
  // The best of the highest step.
  stowi_rewrite_member best[STOWI_REWRITE_MOST_TOKEN_NODES];
  size_t best_count;
  uint64_t best_after;
  STOWI_VEC(chain) chains;
} finder;

// ---------------------------------------------------------------------------------------------
// Growing

static bool is_candidate(const finder* f, stow_node node) {
  return !f->is_used[node] && stowi_rewrite_can_fuse(&f->load, &f->pass->facts, f->graph, node);
}

static void push(finder* f, stow_node node) {
  size_t at = f->pending_count;
  while (at > 0 && f->pending[at - 1] > node) {
    --at;
  }
  bool is_there = at > 0 && f->pending[at - 1] == node;
  if (!is_there && f->pending_count < STOWI_REWRITE_MOST_USES) {
    memmove(f->pending + at + 1, f->pending + at, (f->pending_count - at) * sizeof(stow_node));
    f->pending[at] = node;
    ++f->pending_count;
  }
}

static void add(finder* f, stow_node node, const stowi_rewrite_rows* rows) {
  f->members[f->count++] = (stowi_rewrite_member){node, *rows};
  for (size_t k = 0; k < stow_graph_operand_count(f->graph, node); ++k) {
    stow_value operand = stow_graph_operands(f->graph, node)[k];
    stowi_rewrite_share share;
    if (operand != STOW_VALUE_NONE && stowi_rewrite_share_of(f->pass, node, k, rows, &share) &&
        share.has_rows) {
      push(f, stow_graph_producer(f->graph, operand));
    }
  }
}

// How often members read |value|, and where it has rows then; SIZE_MAX if they do not agree.
static size_t count_reads(const finder* f, stow_value value, stowi_rewrite_rows* out_rows) {
  size_t reads = 0;
  for (size_t i = 0; i < f->count; ++i) {
    const stowi_rewrite_member* m = &f->members[i];
    for (size_t k = 0; k < stow_graph_operand_count(f->graph, m->node); ++k) {
      stowi_rewrite_share share;
      if (stow_graph_operands(f->graph, m->node)[k] != value) {
        continue;
      }
      if (!stowi_rewrite_share_of(f->pass, m->node, k, &m->rows, &share) || !share.has_rows ||
          (reads != 0 && memcmp(&share.at, out_rows, sizeof(share.at)) != 0)) {
        return SIZE_MAX;
      }
      *out_rows = share.at;
      ++reads;
    }
  }
  return reads;
}

static bool can_join(const finder* f, stow_node node, stowi_rewrite_rows* out_rows) {
  stow_value value = stow_graph_first_result(f->graph, node);
  return is_candidate(f, node) &&
         stow_graph_node_region(f->graph, node) ==
             stow_graph_node_region(f->graph, f->members[0].node) &&
         !stowi_bits_has(&f->pass->facts.fixed, value) &&
         !stowi_bits_has(&f->pass->facts.outputs, value) &&
         count_reads(f, value, out_rows) == f->pass->facts.readers[value] &&
         stowi_rewrite_can_share(f->pass, node, out_rows);
}

static void grow(finder* f, stow_node last, const stowi_rewrite_rows* rows) {
  f->count = f->pending_count = 0;
  if (!stowi_rewrite_can_share(f->pass, last, rows)) {
    return;
  }
  add(f, last, rows);
  while (f->pending_count > 0 && f->count < STOWI_REWRITE_MOST_TOKEN_NODES) {
    stow_node node = f->pending[--f->pending_count];
    stowi_rewrite_rows own;
    if (can_join(f, node, &own)) {
      add(f, node, &own);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Trying the first members

// Its number among the first |count|; SIZE_MAX if it is not one of them.
static size_t find_member(const finder* f, stow_node node, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (f->members[i].node == node) {
      return i;
    }
  }
  return SIZE_MAX;
}

static bool is_weight(const stow_graph* graph, stow_value value) {
  stow_op op = stow_graph_op(graph, stow_graph_producer(graph, value));
  return op == STOW_OP_PARAM || op == STOW_OP_CONSTANT;
}

// Whether there is a product with weights; others are left to `blocks`.
static bool has_weights(const finder* f, size_t count) {
  bool has = false;
  for (size_t i = 0; i < count; ++i) {
    stow_node node = f->members[i].node;
    has = has || (stow_graph_op(f->graph, node) == STOW_OP_MATMUL &&
                  is_weight(f->graph, stow_graph_operands(f->graph, node)[1]));
  }
  return has;
}

// Whether they have all or none of the nodes that `blocks` would make one.
static bool is_closed(const finder* f, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t home = f->homes.of[f->members[i].node];
    size_t there = 0;
    for (size_t j = 0; home != 0 && j < count; ++j) {
      there += f->homes.of[f->members[j].node] == home;
    }
    if (home != 0 && there != f->homes.counts.data[home - 1]) {
      return false;
    }
  }
  return true;
}

static bool add_operand(finder* f, stow_value value) {
  for (size_t i = 0; i < f->operand_count; ++i) {
    if (f->operands[i] == value) {
      return true;
    }
  }
  if (f->operand_count == STOWI_REWRITE_MOST_USES) {
    return false;
  }
  f->operands[f->operand_count++] = value;
  return true;
}

static bool find_operands(finder* f, size_t count) {
  bool fits = true;
  f->operand_count = 0;
  for (size_t i = 0; i < count; ++i) {
    bool is_reshape = stowi_rewrite_is_reshape(f->graph, f->members[i].node);
    size_t most = is_reshape ? 1 : stow_graph_operand_count(f->graph, f->members[i].node);
    for (size_t k = 0; fits && k < most; ++k) {
      stow_value operand = stow_graph_operands(f->graph, f->members[i].node)[k];
      fits = operand == STOW_VALUE_NONE ||
             find_member(f, stow_graph_producer(f->graph, operand), count) != SIZE_MAX ||
             add_operand(f, operand);
    }
  }
  return fits;
}

// Whether member |i| may make its result in place of operand |k|, the same rows of which it reads.
static bool may_take(const finder* f, size_t i, size_t k) {
  const stowi_rewrite_member* m = &f->members[i];
  stow_value operand = stow_graph_operands(f->graph, m->node)[k];
  const stow_type* from = stow_graph_type(f->graph, operand);
  const stow_type* to = stow_graph_type(f->graph, stow_graph_first_result(f->graph, m->node));
  return stowi_rewrite_same_dims(from, to) &&
         stow_dtype_bits(from->dtype) == stow_dtype_bits(to->dtype) &&
         stow_graph_in_place(f->pass->sized, m->node, 0, k) != STOW_IN_PLACE_NEVER;
}

// The result has the dims of the operand, which nothing reads after it is made, so that each block
// may be in place of its rows.
static stow_value operand_to_take(const finder* f, size_t count) {
  stow_node last = f->members[0].node;
  const stow_type* result = stow_graph_type(f->graph, stow_graph_first_result(f->graph, last));
  stow_type part = stowi_rewrite_part_of(result, &f->members[0].rows);
  for (size_t i = 0; i < count; ++i) {
    const stowi_rewrite_member* m = &f->members[i];
    for (size_t k = 0; k < stow_graph_operand_count(f->graph, m->node); ++k) {
      stow_value operand = stow_graph_operands(f->graph, m->node)[k];
      stowi_rewrite_share share;
      if (operand == STOW_VALUE_NONE ||
          find_member(f, stow_graph_producer(f->graph, operand), count) != SIZE_MAX ||
          !stowi_rewrite_share_of(f->pass, m->node, k, &m->rows, &share) || !share.has_rows) {
        continue;
      }
      stow_value root = f->load.lives.roots[operand];
      if (f->load.lives.ends[root] <= last && !stow_graph_is_boundary(f->graph, root) &&
          stow_dtype_bits(share.type.dtype) == stow_dtype_bits(part.dtype) &&
          stowi_rewrite_same_dims(&share.type, &part) && (i != 0 || may_take(f, i, k))) {
        return operand;
      }
    }
  }
  return STOW_VALUE_NONE;
}

// What an executor needs for the smallest blocks: the most that the values of a function have at
// one of its nodes.
typedef struct needs {
  uint64_t unit[STOWI_REWRITE_MOST_TOKEN_NODES];  // bytes of a row; 0: a view
  size_t root[STOWI_REWRITE_MOST_TOKEN_NODES];
  size_t end[STOWI_REWRITE_MOST_TOKEN_NODES];  // the last member that reads it
} needs;

static void find_needs(const finder* f, size_t count, needs* out) {
  for (size_t i = count; i-- > 0;) {
    const stowi_rewrite_member* m = &f->members[i];
    stow_value value = stow_graph_first_result(f->graph, m->node);
    bool is_view = f->load.lives.roots[value] != value;
    out->root[i] = out->end[i] = i;
    out->unit[i] =
        is_view ? 0 : stowi_rewrite_row_bytes(stow_graph_type(f->pass->sized, value), &m->rows);
    for (size_t k = 0; k < stow_graph_operand_count(f->graph, m->node); ++k) {
      stow_value operand = stow_graph_operands(f->graph, m->node)[k];
      size_t j = operand == STOW_VALUE_NONE
                     ? SIZE_MAX
                     : find_member(f, stow_graph_producer(f->graph, operand), count);
      if (j != SIZE_MAX) {
        out->root[i] = is_view ? out->root[j] : out->root[i];
        out->end[out->root[j]] = i;
      }
    }
  }
}

// Bytes of a row that are live at member |i|.
static uint64_t live_at(const finder* f, const needs* n, size_t count, size_t i) {
  uint64_t live = n->unit[i];
  bool takes = false;
  for (size_t j = i + 1; j < count; ++j) {
    live += n->root[j] == j && n->end[j] <= i ? n->unit[j] : 0;
  }
  for (size_t k = 0; k < stow_graph_operand_count(f->graph, f->members[i].node) && !takes; ++k) {
    stow_value operand = stow_graph_operands(f->graph, f->members[i].node)[k];
    size_t j = operand == STOW_VALUE_NONE
                   ? SIZE_MAX
                   : find_member(f, stow_graph_producer(f->graph, operand), count);
    takes = j != SIZE_MAX && n->end[n->root[j]] == i && n->unit[i] != 0 && may_take(f, i, k);
  }
  return live - (takes ? n->unit[i] : 0);
}

// What is computed head by head, and not read afterwards, has one part at a time; what that reads
// is needed until the last one.
static void divide_needs(const finder* f, size_t count, needs* n) {
  stowi_rewrite_heads h = stowi_rewrite_find_heads(f->graph, f->ascending, count);
  size_t last = count - h.end;  // members are descending
  for (size_t i = 0; i < count; ++i) {
    bool is_inside = i >= last && i < count - h.first;
    if (is_inside && n->end[i] >= last && i != 0) {
      n->unit[i] /= (uint64_t)h.parts;
    } else if (!is_inside && n->end[i] >= last && n->end[i] < count - h.first) {
      n->end[i] = last;
    }
  }
}

static uint64_t estimate_scratch(const finder* f, size_t count) {
  const stowi_rewrite_member* last = &f->members[0];
  const stow_type* result =
      stow_graph_type(f->pass->sized, stow_graph_first_result(f->graph, last->node));
  uint64_t all = stowi_rewrite_count_rows(result, &last->rows);
  uint64_t largest = 1, most = 0;
  needs n;
  find_needs(f, count, &n);
  divide_needs(f, count, &n);
  bool has_pieces = false;  // what has several is copied at the end
  for (uint32_t i = last->rows.groups; i < last->rows.first; ++i) {
    has_pieces = has_pieces || result->dims[i] != 1;
  }
  n.unit[0] = has_pieces ? n.unit[0] : 0;
  for (size_t i = 0; i < count; ++i) {
    uint64_t live = live_at(f, &n, count, i);
    largest = n.unit[i] > largest ? n.unit[i] : largest;
    most = live > most ? live : most;
  }
  uint64_t part = all / LEAST_PART;
  part = part < LARGEST_LEAST / largest ? part : LARGEST_LEAST / largest;
  uint64_t rows = BLOCK_BYTES / largest < all / MOST_PART ? BLOCK_BYTES / largest : all / MOST_PART;
  rows = rows < part ? part : rows;
  rows = rows < TILE_ROWS ? TILE_ROWS : rows - rows % TILE_ROWS;
  rows = rows > all - all / 2 ? all - all / 2 : rows;
  return rows * most + KERNEL_BYTES + FRAME_BYTES * (count + f->operand_count);
}

static bool find_fusion(finder* f, size_t count, stowi_rewrite_fusion* out) {
  if (!has_weights(f, count) || !is_closed(f, count) || !find_operands(f, count)) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    f->nodes[i] = f->members[i].node;
    f->ascending[count - 1 - i] = f->members[i];
  }
  *out = (stowi_rewrite_fusion){.nodes = f->nodes,
                                .count = count,
                                .operands = f->operands,
                                .operand_count = f->operand_count,
                                .taken = operand_to_take(f, count),
                                .scratch = estimate_scratch(f, count)};
  return true;
}

// ---------------------------------------------------------------------------------------------
// The highest step

static void try_members(finder* f, stow_node highest) {
  for (size_t count = 2; count <= f->count; ++count) {
    stowi_rewrite_fusion fusion;
    if (f->members[count - 1].node <= highest && find_fusion(f, count, &fusion)) {
      uint64_t after = stowi_rewrite_try(&f->load, &fusion).after;
      if (after < f->best_after) {
        f->best_after = after;
        f->best_count = count;
        memcpy(f->best, f->members, count * sizeof(f->best[0]));
      }
    }
  }
}

// Every way in which the result of |last| may have rows.
static void visit(finder* f, stow_node last, stow_node highest) {
  stow_value value = stow_graph_first_result(f->graph, last);
  if (!is_candidate(f, last) || f->load.lives.roots[value] != value) {
    return;
  }
  const stow_type* type = stow_graph_type(f->pass->sized, value);
  for (uint32_t first = 0; first < type->rank; ++first) {
    for (uint32_t end = first + 1; type->dims[first] > 1 && end <= type->rank; ++end) {
      for (uint32_t groups = 0; type->dims[end - 1] > 1 && groups <= first; ++groups) {
        if (groups == 0 || type->dims[groups - 1] > 1) {
          grow(f, last, &(stowi_rewrite_rows){groups, first, end});
          try_members(f, highest);
        }
      }
    }
  }
}

static stow_status keep_best(finder* f) {
  stowi_rewrite_pass* pass = f->pass;
  stowi_rewrite_fusion fusion;
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(pass->allocator, &pass->nodes, f->best_count) == STOW_OK &&
          STOWI_VEC_RESERVE(pass->allocator, &f->chains, 1) == STOW_OK,
      pass->diag));
  f->count = f->best_count;
  memcpy(f->members, f->best, f->count * sizeof(f->best[0]));
  (void)find_fusion(f, f->count, &fusion);
  chain made = {pass->nodes.count, f->count, f->members[0].rows, stowi_rewrite_load_peak(&f->load)};
  stowi_rewrite_note(&f->load, &fusion);
  for (size_t i = f->count; i-- > 0;) {
    pass->nodes.data[pass->nodes.count++] = f->nodes[i];
    f->is_used[f->nodes[i]] = true;
  }
  size_t at = f->chains.count++;
  while (at > 0 && pass->nodes.data[f->chains.data[at - 1].first] > f->nodes[f->count - 1]) {
    f->chains.data[at] = f->chains.data[at - 1];
    --at;
  }
  f->chains.data[at] = made;
  return STOW_OK;
}

// Makes the highest steps lower, as long as that is possible.
static stow_status lower_all(finder* f, uint64_t* out_peak) {
  while (true) {
    stow_node highest = stowi_rewrite_highest_step(&f->load);
    *out_peak = f->best_after = f->load.at[highest];
    f->best_count = 0;
    for (stow_node last = highest; last < f->load.lives.node_count && last - highest < MOST_SPAN;
         ++last) {
      visit(f, last, highest);
    }
    if (f->best_count == 0) {
      return STOW_OK;
    }
    STOW_TRY(keep_best(f));
  }
}

// ---------------------------------------------------------------------------------------------
// The rule

static stow_status fuse(stowi_rewrite_pass* pass, const chain* c) {
  for (size_t i = 0; i < c->count; ++i) {
    pass->is_dropped[pass->nodes.data[c->first + i]] = true;
  }
  STOW_TRY(stowi_rewrite_tokens_at(pass, &c->rows, c->first, c->count));
  return stowi_rewrite_fire(pass, pass->nodes.data + c->first, c->count);
}

static stow_status find_and_fuse(finder* f) {
  uint64_t after;
  if (f->load.lives.node_count == 0) {
    return STOW_OK;
  }
  STOW_TRY(stowi_rewrite_note_clusters(f->pass, &f->load, &f->homes));
  STOW_TRY(lower_all(f, &after));
  for (size_t i = 0; i < f->chains.count; ++i) {
    const chain* c = &f->chains.data[i];
    STOW_TRY(after <= c->before - c->before / WORTHWHILE ? fuse(f->pass, c) : STOW_OK);
  }
  return STOW_OK;
}

stow_status stowi_rewrite_products(stowi_rewrite_pass* pass) {
  finder f = {.pass = pass, .graph = pass->graph};
  uint32_t count = stow_graph_node_count(pass->graph);
  stow_status status = stowi_rewrite_load_init(&f.load, pass->sized, pass->allocator, pass->diag);
  f.is_used = STOWI_ARRAY_ZERO(pass->allocator, bool, count);
  f.homes.of = STOWI_ARRAY_ZERO(pass->allocator, uint32_t, count);
  if (status == STOW_OK) {
    status = stowi_need_memory(f.is_used != NULL && f.homes.of != NULL, pass->diag);
  }
  if (status == STOW_OK) {
    status = find_and_fuse(&f);
  }
  STOWI_ARRAY_FREE(pass->allocator, f.is_used, count);
  STOWI_ARRAY_FREE(pass->allocator, f.homes.of, count);
  STOWI_VEC_FREE(pass->allocator, &f.homes.counts);
  STOWI_VEC_FREE(pass->allocator, &f.chains);
  stowi_rewrite_load_free(&f.load);
  return status;
}

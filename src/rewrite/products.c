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
// then the next one, until one cannot be; then all of that is done if the peak is lower by a part
// that is worth it. What the rule `blocks` does afterwards is noted first. At the highest step
// clusters grow from their last node backwards, as in clusters.c, for each way in which the last
// result may have rows; every beginning is tried, and the one with the fewest live bytes at its
// steps is taken. The window around a step is limited: O(nodes + size of windows).
#include <string.h>

#include "base/diag.h"
#include "rewrite/clusters.h"
#include "rewrite/maker.h"
#include "rewrite/rows.h"
#include "rewrite/rules.h"

#define MOST_NODES 40
#define MOST_USES 64
#define MOST_SPAN 96  // nodes from the highest step to the last of a cluster
// About what an executor needs for the smallest blocks: a value of a block, its rows, and for each
// value of the function.
#define BLOCK_BYTES 24576
#define LARGEST_LEAST 49152
#define LEAST_PART 20
#define MOST_PART 8
#define TILE_ROWS 6
#define FRAME_BYTES 144
#define KERNEL_BYTES 2048
#define WORTHWHILE 16  // the peak is lower by this part at least

typedef struct member {
  stow_node node;
  stowi_rewrite_rows rows;  // of its result
} member;

typedef struct chain {
  size_t first;  // in the pass's list of nodes, ascending
  size_t count;
  stowi_rewrite_rows rows;  // of the result
} chain;

// Members that are computed head by head, all of them for one index of a dim before the rows, so
// that what is between has no other: scores are as large as those of one head.
typedef struct heads {
  size_t first, end;  // of nodes in ascending order; none: first == end
  int64_t parts;      // one or several heads each
  int64_t length;
} heads;

typedef struct finder {
  stowi_rewrite_pass* pass;
  const stow_graph* graph;
  stowi_rewrite_load load;
  stowi_rewrite_homes homes;  // of nodes that `blocks` makes one
  bool* is_used;              // by node
  // The cluster that grows, the last node first.
  member members[MOST_NODES];
  size_t count;
  stow_node pending[MOST_USES];  // producers to try, ascending
  size_t pending_count;
  // Of a trial.
  stow_node nodes[MOST_NODES];  // the last one first
  member ascending[MOST_NODES];
  stow_value operands[MOST_USES];  // that it reads from outside
  size_t operand_count;
  // The best of the highest step.
  member best[MOST_NODES];
  size_t best_count;
  uint64_t best_after;
  STOWI_VEC(chain) chains;
} finder;

// ---------------------------------------------------------------------------------------------
// Heads

#define MOST_PARTS 16

static bool is_move(const stow_graph* graph, stow_node node) {
  return stow_graph_op(graph, node) == STOW_OP_TRANSPOSE || stowi_rewrite_is_reshape(graph, node);
}

// The only dim before the rows that is not 1; UINT32_MAX: there is none, or another one.
static uint32_t head_axis(const stow_type* type, const stowi_rewrite_rows* rows) {
  uint32_t axis = UINT32_MAX;
  size_t count = 0;
  for (uint32_t i = rows->groups; i < rows->first; ++i) {
    axis = type->dims[i] != 1 ? i : axis;
    count += type->dims[i] != 1;
  }
  return count == 1 && stow_dim_is_const(type->dims[axis]) ? axis : UINT32_MAX;
}

// How many heads the result of |m| has; 1 if it is not computed head by head.
static int64_t count_heads(const stow_graph* graph, const member* m) {
  const stow_type* type = stow_graph_type(graph, stow_graph_first_result(graph, m->node));
  uint32_t axis = is_move(graph, m->node) ? UINT32_MAX : head_axis(type, &m->rows);
  return axis == UINT32_MAX ? 1 : type->dims[axis];
}

// Whether it is a product with a matrix for each head: others would read theirs several times.
static bool has_matrices(const stow_graph* graph, stow_node node) {
  return stow_graph_op(graph, node) == STOW_OP_MATMUL &&
         stow_graph_type(graph, stow_graph_operands(graph, node)[1])->rank > 2;
}

// The longest run of |members|, in ascending order, that have the same heads.
static heads find_heads(const stow_graph* graph, const member* members, size_t count) {
  heads best = {0, 0, 1, 1};
  for (size_t first = 0, end; first < count; first = end) {
    int64_t now = count_heads(graph, &members[first]);
    bool has = has_matrices(graph, members[first].node);
    for (end = first + 1; end < count && count_heads(graph, &members[end]) == now; ++end) {
      has = has || has_matrices(graph, members[end].node);
    }
    if (now != 1 && has && end - first > 1 && end - first > best.end - best.first) {
      best = (heads){first, end, now, 1};
    }
  }
  int64_t all = best.parts;
  while (all / best.length > MOST_PARTS || all % best.length != 0) {
    ++best.length;
  }
  best.parts = all / best.length;
  return best;
}

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
  if (!is_there && f->pending_count < MOST_USES) {
    memmove(f->pending + at + 1, f->pending + at, (f->pending_count - at) * sizeof(stow_node));
    f->pending[at] = node;
    ++f->pending_count;
  }
}

static void add(finder* f, stow_node node, const stowi_rewrite_rows* rows) {
  f->members[f->count++] = (member){node, *rows};
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
    const member* m = &f->members[i];
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
  while (f->pending_count > 0 && f->count < MOST_NODES) {
    stow_node node = f->pending[--f->pending_count];
    stowi_rewrite_rows own;
    if (can_join(f, node, &own)) {
      add(f, node, &own);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Trying the first members

// Its number among the first |count|; SIZE_MAX: it is none of them.
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
  if (f->operand_count == MOST_USES) {
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

static bool same_dims(const stow_type* a, const stow_type* b) {
  return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof(a->dims[0])) == 0;
}

// Whether member |i| may make its result in place of operand |k|, the same rows of which it reads.
static bool may_take(const finder* f, size_t i, size_t k) {
  const member* m = &f->members[i];
  stow_value operand = stow_graph_operands(f->graph, m->node)[k];
  const stow_type* from = stow_graph_type(f->graph, operand);
  const stow_type* to = stow_graph_type(f->graph, stow_graph_first_result(f->graph, m->node));
  return same_dims(from, to) && stow_dtype_bits(from->dtype) == stow_dtype_bits(to->dtype) &&
         stow_graph_in_place(f->pass->sized, m->node, 0, k) != STOW_IN_PLACE_NEVER;
}

// The result has the dims of the operand, which nothing reads after it is made, so that each block
// may be in place of its rows.
static stow_value operand_to_take(const finder* f, size_t count) {
  stow_node last = f->members[0].node;
  const stow_type* result = stow_graph_type(f->graph, stow_graph_first_result(f->graph, last));
  stow_type part = stowi_rewrite_part_of(result, &f->members[0].rows);
  for (size_t i = 0; i < count; ++i) {
    const member* m = &f->members[i];
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
          same_dims(&share.type, &part) && (i != 0 || may_take(f, i, k))) {
        return operand;
      }
    }
  }
  return STOW_VALUE_NONE;
}

// What an executor needs for the smallest blocks: the most that the values of a function have at
// one of its nodes.
typedef struct needs {
  uint64_t unit[MOST_NODES];  // bytes of a row; 0: a view
  size_t root[MOST_NODES];
  size_t end[MOST_NODES];  // the last member that reads it
} needs;

static void find_needs(const finder* f, size_t count, needs* out) {
  for (size_t i = count; i-- > 0;) {
    const member* m = &f->members[i];
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
  heads h = find_heads(f->graph, f->ascending, count);
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
  const member* last = &f->members[0];
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
  rows = rows < TILE_ROWS ? TILE_ROWS : rows;
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
  stowi_rewrite_note(&f->load, &fusion);
  chain made = {pass->nodes.count, f->count, f->members[0].rows};
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
// Functions

// In |list| of a change: where nodes are, how many, and the rows of the result.
enum { LIST_FIRST, LIST_COUNT, LIST_GROUPS, LIST_ROWS, LIST_END, LIST_SIZE };

static void translate(stowi_rewrite_maker* m, stow_type* type) {
  for (uint32_t i = 0; i < type->rank; ++i) {
    type->dims[i] =
        type->dims[i] == STOWI_REWRITE_ROWS ? m->rows : stowi_rewrite_maker_dim(m, type->dims[i]);
  }
}

static size_t operand_count(const stow_graph* graph, stow_node node) {
  return stowi_rewrite_is_reshape(graph, node) ? 1 : stow_graph_operand_count(graph, node);
}

// The value of the function for operand |k|: one that it makes, or an input of the type that is
// needed.
static stow_status find_value(stowi_rewrite_maker* m, stow_node node, size_t k,
                              const stowi_rewrite_rows* rows, stow_value* out) {
  stow_value value = stow_graph_operands(m->graph, node)[k];
  stowi_rewrite_share share;
  *out = STOW_VALUE_NONE;
  if (value == STOW_VALUE_NONE) {
    return STOW_OK;
  }
  (void)stowi_rewrite_share_of(m->pass, node, k, rows, &share);
  translate(m, &share.type);
  int use = 0;
  while (*out == STOW_VALUE_NONE) {
    *out = stowi_rewrite_maker_find(m, value, use);
    if (*out == STOW_VALUE_NONE) {
      STOW_TRY(stowi_rewrite_maker_input(m, value, use, &share.type, 1));
    } else if (!same_dims(stow_graph_type(m->function, *out), &share.type)) {
      *out = STOW_VALUE_NONE;
      ++use;
    }
  }
  return STOW_OK;
}

// Adds node |i|, whose result has |type|, with |operands|.
static stow_status add_with(stowi_rewrite_maker* m, size_t i, const stowi_rewrite_rows* rows,
                            const stow_type* type, const stow_value* operands) {
  stow_call* call = stowi_rewrite_maker_begin(m, i, type);
  for (size_t k = 0; k < operand_count(m->graph, m->nodes[i]); ++k) {
    stow_call_operand(call, operands[k]);
  }
  stowi_rewrite_add_attrs(m->pass, call, m->nodes[i], rows);
  return stow_call_finish(call, m->pass->diag, NULL);
}

static stow_type made_type(stowi_rewrite_maker* m, size_t i, const stowi_rewrite_rows* rows) {
  stow_value value = stow_graph_first_result(m->graph, m->nodes[i]);
  stow_type type = stowi_rewrite_part_of(stow_graph_type(m->graph, value), rows);
  translate(m, &type);
  return type;
}

static stow_status add_node(stowi_rewrite_maker* m, const member* members, size_t i) {
  stow_value operands[MOST_USES];
  for (size_t k = 0; k < operand_count(m->graph, m->nodes[i]); ++k) {
    STOW_TRY(find_value(m, m->nodes[i], k, &members[i].rows, &operands[k]));
  }
  stow_type type = made_type(m, i, &members[i].rows);
  return add_with(m, i, &members[i].rows, &type, operands);
}

// ---------------------------------------------------------------------------------------------
// Head by head

typedef struct unrolled {
  const member* members;
  heads heads;
  stow_value parts[MOST_NODES][MOST_PARTS];  // of results
} unrolled;

static uint32_t made_axis(const stowi_rewrite_maker* m, const member* of) {
  const stow_type* type = stow_graph_type(m->graph, stow_graph_first_result(m->graph, of->node));
  return head_axis(type, &of->rows) - of->rows.groups;
}

// The dim of operand |k| that is aligned with the heads of the result; UINT32_MAX: it has none.
static uint32_t aligned_axis(const stowi_rewrite_maker* m, const member* of, size_t k,
                             stow_value operand) {
  bool is_product = stow_graph_op(m->graph, of->node) == STOW_OP_MATMUL;
  bool is_aligned = is_product || stowi_graph_is_elementwise(m->graph, of->node);
  const stow_type* result = stow_graph_type(m->graph, stow_graph_first_result(m->graph, of->node));
  uint32_t span = of->rows.end - of->rows.first - 1;
  uint32_t rank = result->rank - of->rows.groups - span;
  uint32_t own = stow_graph_type(m->function, operand)->rank;
  uint32_t axis = made_axis(m, of);
  if (!is_aligned) {
    return k == 0 ? axis : UINT32_MAX;
  }
  return axis + own < rank ? UINT32_MAX : axis + own - rank;
}

static stow_status narrow(stowi_rewrite_maker* m, const heads* h, int64_t part, uint32_t axis,
                          stow_value* value) {
  stow_type type = *stow_graph_type(m->function, *value);
  type.dims[axis] = h->length;
  stow_call* call = stow_graph_begin(m->function, STOW_OP_NARROW);
  stow_call_operand(call, *value);
  stow_call_attr_int(call, "axis", (int64_t)axis);
  stow_call_attr_int(call, "start", part * h->length);
  stow_call_attr_int(call, "len", h->length);
  stow_call_result_type(call, &type);
  return stow_call_finish(call, m->pass->diag, value);
}

// What part |part| of node |i| reads of operand |k|.
static stow_status find_part(stowi_rewrite_maker* m, const unrolled* u, size_t i, size_t k,
                             int64_t part, stow_value* out) {
  stow_value value = stow_graph_operands(m->graph, m->nodes[i])[k];
  for (size_t j = u->heads.first; j < i && value != STOW_VALUE_NONE; ++j) {
    if (stow_graph_first_result(m->graph, m->nodes[j]) == value) {
      *out = u->parts[j][part];
      return STOW_OK;
    }
  }
  STOW_TRY(find_value(m, m->nodes[i], k, &u->members[i].rows, out));
  uint32_t axis = *out == STOW_VALUE_NONE ? UINT32_MAX : aligned_axis(m, &u->members[i], k, *out);
  bool has_heads = axis != UINT32_MAX && stow_graph_type(m->function, *out)->dims[axis] ==
                                             u->heads.parts * u->heads.length;
  return has_heads ? narrow(m, &u->heads, part, axis, out) : STOW_OK;
}

static stow_status add_part(stowi_rewrite_maker* m, unrolled* u, size_t i, int64_t part) {
  stow_value operands[MOST_USES];
  for (size_t k = 0; k < operand_count(m->graph, m->nodes[i]); ++k) {
    STOW_TRY(find_part(m, u, i, k, part, &operands[k]));
  }
  stow_type type = made_type(m, i, &u->members[i].rows);
  type.dims[made_axis(m, &u->members[i])] = u->heads.length;
  STOW_TRY(add_with(m, i, &u->members[i].rows, &type, operands));
  u->parts[i][part] = m->made[i];
  return STOW_OK;
}

static bool is_read_behind(const stowi_rewrite_maker* m, size_t i, size_t end) {
  stow_value value = stow_graph_first_result(m->graph, m->nodes[i]);
  bool is = end == m->count && i + 1 == end;
  for (size_t j = end; j < m->count; ++j) {
    for (size_t k = 0; k < stow_graph_operand_count(m->graph, m->nodes[j]); ++k) {
      is = is || stow_graph_operands(m->graph, m->nodes[j])[k] == value;
    }
  }
  return is;
}

static stow_status join_parts(stowi_rewrite_maker* m, const unrolled* u, size_t i) {
  stow_type type = made_type(m, i, &u->members[i].rows);
  stow_call* call = stow_graph_begin(m->function, STOW_OP_CONCAT);
  for (int64_t part = 0; part < u->heads.parts; ++part) {
    stow_call_operand(call, u->parts[i][part]);
  }
  stow_call_attr_int(call, "axis", (int64_t)made_axis(m, &u->members[i]));
  stow_call_result_type(call, &type);
  return stow_call_finish(call, m->pass->diag, &m->made[i]);
}

static stow_status add_heads(stowi_rewrite_maker* m, const member* members, const heads* h) {
  unrolled* u = STOWI_NEW(m->pass->allocator, unrolled);
  STOW_TRY(stowi_need_memory(u != NULL, m->pass->diag));
  stow_status status = STOW_OK;
  u->members = members;
  u->heads = *h;
  for (int64_t part = 0; part < h->parts; ++part) {
    for (size_t i = h->first; status == STOW_OK && i < h->end; ++i) {
      status = add_part(m, u, i, part);
    }
  }
  for (size_t i = h->first; status == STOW_OK && i < h->end; ++i) {
    status = is_read_behind(m, i, h->end) ? join_parts(m, u, i) : STOW_OK;
  }
  STOWI_DELETE(m->pass->allocator, u);
  return status;
}

// ---------------------------------------------------------------------------------------------
// All nodes

// Where the result of node |i| has rows, by what a later one needs.
static stowi_rewrite_rows rows_of(const stowi_rewrite_maker* m, size_t i, const member* known) {
  stow_value value = stow_graph_first_result(m->graph, m->nodes[i]);
  for (size_t j = i + 1; j < m->count; ++j) {
    for (size_t k = 0; k < stow_graph_operand_count(m->graph, m->nodes[j]); ++k) {
      stowi_rewrite_share share;
      if (stow_graph_operands(m->graph, m->nodes[j])[k] == value) {
        (void)stowi_rewrite_share_of(m->pass, m->nodes[j], k, &known[j].rows, &share);
        return share.at;
      }
    }
  }
  return known[i].rows;
}

static stow_status fill(stowi_rewrite_maker* m) {
  member members[MOST_NODES];
  members[m->count - 1] = (member){m->nodes[m->count - 1], *(const stowi_rewrite_rows*)m->user};
  for (size_t i = m->count - 1; i-- > 0;) {
    members[i].node = m->nodes[i];
    members[i].rows = rows_of(m, i, members);
  }
  heads h = find_heads(m->graph, members, m->count);
  for (size_t i = 0; i < m->count; ++i) {
    if (i == h.first && h.parts > 1) {
      STOW_TRY(add_heads(m, members, &h));
      i = h.end - 1;
    } else {
      STOW_TRY(add_node(m, members, i));
    }
  }
  return STOW_OK;
}

static stow_status add_blocks(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stowi_rewrite_rows rows = {(uint32_t)change->list[LIST_GROUPS], (uint32_t)change->list[LIST_ROWS],
                             (uint32_t)change->list[LIST_END]};
  stowi_rewrite_maker maker = {.pass = pass,
                               .nodes = pass->nodes.data + change->list[LIST_FIRST],
                               .count = (size_t)change->list[LIST_COUNT],
                               .groups = rows.groups,
                               .first_row = rows.first,
                               .end_row = rows.end,
                               .fill = fill,
                               .user = &rows};
  return stowi_rewrite_maker_add(&maker, change);
}

// ---------------------------------------------------------------------------------------------
// The rule

static stow_status fuse(stowi_rewrite_pass* pass, const chain* c) {
  const stow_node* nodes = pass->nodes.data + c->first;
  stowi_rewrite_change change = {
      .at = nodes[c->count - 1], .add = add_blocks, .list_count = LIST_SIZE};
  change.list[LIST_FIRST] = (int64_t)c->first;
  change.list[LIST_COUNT] = (int64_t)c->count;
  change.list[LIST_GROUPS] = c->rows.groups;
  change.list[LIST_ROWS] = c->rows.first;
  change.list[LIST_END] = c->rows.end;
  for (size_t i = 0; i < c->count; ++i) {
    pass->is_dropped[nodes[i]] = true;
  }
  STOW_TRY(stowi_rewrite_maker_at(pass, &change));
  return stowi_rewrite_fire(pass, nodes, c->count);
}

static stow_status find_and_fuse(finder* f) {
  uint64_t after;
  STOW_TRY(stowi_rewrite_note_clusters(f->pass, &f->load, &f->homes));
  uint64_t before = stowi_rewrite_load_peak(&f->load);
  STOW_TRY(lower_all(f, &after));
  bool is_worth_it = after <= before - before / WORTHWHILE;
  for (size_t i = 0; is_worth_it && i < f->chains.count; ++i) {
    STOW_TRY(fuse(f->pass, &f->chains.data[i]));
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

// The function has the nodes with rows in place of the dims that are, and without those of groups.
// Heads follow each other there: each part reads its own of what is before (`narrow`), and what is
// read behind is put together again (`concat`).
#include "rewrite/tokens.h"

#include "base/diag.h"
#include "rewrite/maker.h"

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
static int64_t count_heads(const stow_graph* graph, const stowi_rewrite_member* m) {
  const stow_type* type = stow_graph_type(graph, stow_graph_first_result(graph, m->node));
  uint32_t axis = is_move(graph, m->node) ? UINT32_MAX : head_axis(type, &m->rows);
  return axis == UINT32_MAX ? 1 : type->dims[axis];
}

// Whether it is a product with a matrix for each head: others would read theirs several times.
static bool has_matrices(const stow_graph* graph, stow_node node) {
  return stow_graph_op(graph, node) == STOW_OP_MATMUL &&
         stow_graph_type(graph, stow_graph_operands(graph, node)[1])->rank > 2;
}

stowi_rewrite_heads stowi_rewrite_find_heads(const stow_graph* graph,
                                             const stowi_rewrite_member* members, size_t count) {
  stowi_rewrite_heads best = {0, 0, 1, 1};
  for (size_t first = 0, end; first < count; first = end) {
    int64_t now = count_heads(graph, &members[first]);
    bool has = has_matrices(graph, members[first].node);
    for (end = first + 1; end < count && count_heads(graph, &members[end]) == now; ++end) {
      has = has || has_matrices(graph, members[end].node);
    }
    if (now != 1 && has && end - first > 1 && end - first > best.end - best.first) {
      best = (stowi_rewrite_heads){first, end, now, 1};
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
    } else if (!stowi_rewrite_same_dims(stow_graph_type(m->function, *out), &share.type)) {
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

static stow_status add_node(stowi_rewrite_maker* m, const stowi_rewrite_member* members, size_t i) {
  stow_value operands[STOWI_REWRITE_MOST_USES];
  for (size_t k = 0; k < operand_count(m->graph, m->nodes[i]); ++k) {
    STOW_TRY(find_value(m, m->nodes[i], k, &members[i].rows, &operands[k]));
  }
  stow_type type = made_type(m, i, &members[i].rows);
  return add_with(m, i, &members[i].rows, &type, operands);
}

// ---------------------------------------------------------------------------------------------
// Head by head

typedef struct unrolled {
  const stowi_rewrite_member* members;
  stowi_rewrite_heads heads;
  stow_value parts[STOWI_REWRITE_MOST_TOKEN_NODES][MOST_PARTS];  // of results
} unrolled;

static uint32_t made_axis(const stowi_rewrite_maker* m, const stowi_rewrite_member* of) {
  const stow_type* type = stow_graph_type(m->graph, stow_graph_first_result(m->graph, of->node));
  return head_axis(type, &of->rows) - of->rows.groups;
}

// The dim of operand |k| that is aligned with the heads of the result; UINT32_MAX: it has none.
static uint32_t aligned_axis(const stowi_rewrite_maker* m, const stowi_rewrite_member* of, size_t k,
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

static stow_status narrow(stowi_rewrite_maker* m, const stowi_rewrite_heads* h, int64_t part,
                          uint32_t axis, stow_value* value) {
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
  stow_value operands[STOWI_REWRITE_MOST_USES];
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

static stow_status add_heads(stowi_rewrite_maker* m, const stowi_rewrite_member* members,
                             const stowi_rewrite_heads* h) {
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
static stowi_rewrite_rows rows_of(const stowi_rewrite_maker* m, size_t i,
                                  const stowi_rewrite_member* known) {
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
  stowi_rewrite_member members[STOWI_REWRITE_MOST_TOKEN_NODES];
  members[m->count - 1] =
      (stowi_rewrite_member){m->nodes[m->count - 1], *(const stowi_rewrite_rows*)m->user};
  for (size_t i = m->count - 1; i-- > 0;) {
    members[i].node = m->nodes[i];
    members[i].rows = rows_of(m, i, members);
  }
  stowi_rewrite_heads h = stowi_rewrite_find_heads(m->graph, members, m->count);
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

stow_status stowi_rewrite_tokens_at(stowi_rewrite_pass* pass, const stowi_rewrite_rows* rows,
                                    size_t first, size_t count) {
  stowi_rewrite_change change = {
      .at = pass->nodes.data[first + count - 1], .add = add_blocks, .list_count = LIST_SIZE};
  change.list[LIST_FIRST] = (int64_t)first;
  change.list[LIST_COUNT] = (int64_t)count;
  change.list[LIST_GROUPS] = rows->groups;
  change.list[LIST_ROWS] = rows->first;
  change.list[LIST_END] = rows->end;
  return stowi_rewrite_maker_at(pass, &change);
}

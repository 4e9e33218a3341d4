// Rows are followed from a result to operands. Each kind of op has a function for that; ops that
// have none mix rows, or are not known to keep them apart (graph/function.c checks the outcome).
#include "rewrite/rows.h"

#include <string.h>

static const stow_type* operand_type(const stowi_rewrite_pass* pass, stow_node node, size_t k) {
  return stow_graph_type(pass->graph, stow_graph_operands(pass->graph, node)[k]);
}

static const stow_type* result_type(const stowi_rewrite_pass* pass, stow_node node) {
  return stow_graph_type(pass->graph, stow_graph_first_result(pass->graph, node));
}

bool stowi_rewrite_same_dims(const stow_type* a, const stow_type* b) {
  return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof(a->dims[0])) == 0;
}

static void push(stow_type* type, stow_dim dim) { type->dims[type->rank++] = dim; }

stow_type stowi_rewrite_part_of(const stow_type* type, const stowi_rewrite_rows* rows) {
  stow_type part = stow_type_make(type->dtype, 0, NULL);
  for (uint32_t i = rows->groups; i < type->rank; ++i) {
    if (i < rows->first || i >= rows->end) {
      push(&part, type->dims[i]);
    } else if (i == rows->first) {
      push(&part, STOWI_REWRITE_ROWS);
    }
  }
  return part;
}

static uint64_t product(const stow_type* type, uint32_t first, uint32_t end) {
  uint64_t result = 1;
  for (uint32_t i = first; i < end; ++i) {
    result *= (uint64_t)type->dims[i];
  }
  return result;
}

uint64_t stowi_rewrite_row_bytes(const stow_type* type, const stowi_rewrite_rows* rows) {
  return product(type, rows->groups, rows->first) * product(type, rows->end, type->rank) *
         (stow_dtype_bits(type->dtype) / 8);
}

uint64_t stowi_rewrite_count_rows(const stow_type* type, const stowi_rewrite_rows* rows) {
  return product(type, rows->first, rows->end);
}

// ---------------------------------------------------------------------------------------------
// Operands that are aligned with the result at the last dim

typedef struct presence {
  bool all, none;
} presence;

// Of the dims [first, end) of |whole|, which |type| has.
static presence find(const stow_type* whole, const stow_type* type, uint32_t first, uint32_t end) {
  uint32_t missing = whole->rank - type->rank;
  presence is = {true, true};
  for (uint32_t i = first; i < end; ++i) {
    stow_dim dim = i < missing ? 1 : type->dims[i - missing];
    is.all = is.all && dim == whole->dims[i];
    is.none = is.none && dim == 1;
  }
  return is;
}

// Without the dims of groups; those of rows become one.
static bool align(const stow_type* whole, const stow_type* type, const stowi_rewrite_rows* rows,
                  stowi_rewrite_share* out) {
  if (type->rank > whole->rank) {
    return false;
  }
  uint32_t missing = whole->rank - type->rank;
  presence groups = find(whole, type, 0, rows->groups);
  presence own = find(whole, type, rows->first, rows->end);
  out->has_rows = own.all;
  out->type = stow_type_make(type->dtype, 0, NULL);
  for (uint32_t i = rows->groups > missing ? rows->groups : missing; i < whole->rank; ++i) {
    bool is_row = i >= rows->first && i < rows->end;
    if (!is_row || i + 1 == rows->end) {
      push(&out->type, !is_row ? type->dims[i - missing] : own.all ? STOWI_REWRITE_ROWS : 1);
    }
  }
  if (own.all) {
    out->at = (stowi_rewrite_rows){rows->groups > missing ? rows->groups - missing : 0,
                                   rows->first - missing, rows->end - missing};
  }
  return (groups.all || groups.none) && (own.all || own.none) && (!own.all || groups.all);
}

// ---------------------------------------------------------------------------------------------
// Products

// Matrices may be of groups and of outer dims, but not of rows.
static bool share_right(const stow_type* result, const stow_type* type,
                        const stowi_rewrite_rows* rows, stowi_rewrite_share* out) {
  uint32_t missing = result->rank - type->rank;
  uint32_t batch = result->rank - 2;
  presence groups = find(result, type, 0, rows->groups);
  presence own = find(result, type, rows->first, rows->end < batch ? rows->end : batch);
  presence all = find(result, type, rows->groups, batch);
  out->has_rows = false;
  out->type = stow_type_make(type->dtype, 0, NULL);
  for (uint32_t i = rows->groups > missing ? rows->groups : missing; !all.none && i < batch; ++i) {
    if (i < rows->first) {
      push(&out->type, type->dims[i - missing]);
    }
  }
  push(&out->type, type->dims[type->rank - 2]);
  push(&out->type, type->dims[type->rank - 1]);
  return own.none && (groups.all || groups.none) && (all.none || rows->end == batch + 1);
}

static bool share_of_product(const stowi_rewrite_pass* pass, stow_node node, size_t k,
                             const stowi_rewrite_rows* rows, stowi_rewrite_share* out) {
  const stow_type* result = result_type(pass, node);
  const stow_type* left = operand_type(pass, node, 0);
  const stow_type* right = operand_type(pass, node, 1);
  if (left->rank < 2 || right->rank < 2 || rows->end >= result->rank ||
      rows->groups + 2 > result->rank) {
    return false;
  }
  return k == 0 ? align(result, left, rows, out) && out->has_rows
                : share_right(result, right, rows, out);
}

// ---------------------------------------------------------------------------------------------
// Moving

static bool share_of_transpose(const stowi_rewrite_pass* pass, stow_node node,
                               const stowi_rewrite_rows* rows, stowi_rewrite_share* out) {
  const stow_type* type = operand_type(pass, node, 0);
  int64_t perm[STOW_MAX_RANK];
  stowi_rewrite_read_perm(pass->graph, node, type->rank, perm);
  uint32_t first = (uint32_t)perm[rows->first];
  bool keeps = true;
  for (uint32_t i = 0; i < rows->groups; ++i) {
    keeps = keeps && perm[i] == (int64_t)i;
  }
  for (uint32_t i = rows->first; i < rows->end; ++i) {
    keeps = keeps && perm[i] == (int64_t)(first + i - rows->first);
  }
  out->has_rows = true;
  out->at = (stowi_rewrite_rows){rows->groups, first, first + rows->end - rows->first};
  out->type = stowi_rewrite_part_of(type, &out->at);
  return keeps;
}

static bool are_numbers(const stow_type* type, uint32_t first, uint32_t end) {
  bool are = true;
  for (uint32_t i = first; i < end; ++i) {
    are = are && stow_dim_is_const(type->dims[i]);
  }
  return are;
}

// Whether dims [a, a_end) of one type and [b, b_end) of another are as many indices at all points:
// the same dims but for those that are 1, or numbers with the same product.
static bool same_count(const stow_type* x, uint32_t a, uint32_t a_end, const stow_type* y,
                       uint32_t b, uint32_t b_end) {
  if (are_numbers(x, a, a_end) && are_numbers(y, b, b_end)) {
    return product(x, a, a_end) == product(y, b, b_end);
  }
  bool same = true;
  while (same && (a < a_end || b < b_end)) {
    if (a < a_end && x->dims[a] == 1) {
      ++a;
    } else if (b < b_end && y->dims[b] == 1) {
      ++b;
    } else {
      same = a < a_end && b < b_end && x->dims[a++] == y->dims[b++];
    }
  }
  return same;
}

// The first dim of |type| up to which there are |count| indices from |first| on; UINT32_MAX: none.
static uint32_t count_up(const stow_type* type, uint32_t first, uint64_t count) {
  uint64_t now = 1;
  uint32_t i = first;
  while (i < type->rank && now < count) {
    now *= (uint64_t)type->dims[i++];
  }
  return now == count ? i : UINT32_MAX;
}

static bool share_of_reshape(const stowi_rewrite_pass* pass, stow_node node,
                             const stowi_rewrite_rows* rows, stowi_rewrite_share* out) {
  const stow_type* to = result_type(pass, node);
  const stow_type* from = operand_type(pass, node, 0);
  const stow_type* sized = stow_graph_type(pass->sized, stow_graph_operands(pass->graph, node)[0]);
  const stow_type* made = stow_graph_type(pass->sized, stow_graph_first_result(pass->graph, node));
  stowi_rewrite_rows at;
  at.groups = count_up(sized, 0, product(made, 0, rows->groups));
  at.first = at.groups == UINT32_MAX
                 ? UINT32_MAX
                 : count_up(sized, at.groups, product(made, rows->groups, rows->first));
  while (at.first < sized->rank && from->dims[at.first] == 1) {
    ++at.first;
  }
  at.end = at.first >= sized->rank
               ? UINT32_MAX
               : count_up(sized, at.first, product(made, rows->first, rows->end));
  if (at.end == UINT32_MAX) {
    return false;
  }
  *out = (stowi_rewrite_share){true, at, stowi_rewrite_part_of(from, &at)};
  return are_numbers(to, rows->groups, rows->first) &&
         same_count(from, 0, at.groups, to, 0, rows->groups) &&
         same_count(from, at.groups, at.first, to, rows->groups, rows->first) &&
         same_count(from, at.first, at.end, to, rows->first, rows->end);
}

// ---------------------------------------------------------------------------------------------
// Along other dims

static int64_t from_front(int64_t axis, uint32_t rank) {
  return axis < 0 ? axis + (int64_t)rank : axis;
}

static bool has_axes_behind(const stowi_rewrite_pass* pass, stow_node node,
                            const stowi_rewrite_rows* rows) {
  const stow_graph* graph = pass->graph;
  uint32_t rank = operand_type(pass, node, 0)->rank;
  if (stow_graph_op(graph, node) != STOW_OP_REDUCE) {
    return from_front(stow_graph_attr(graph, node, "axis")->i, rank) >= (int64_t)rows->end;
  }
  const stow_attr* axes = stow_graph_attr(graph, node, "axes");
  bool are = axes != NULL && axes->count != 0;
  for (size_t i = 0; are && i < axes->count; ++i) {
    are = from_front(axes->ints[i], rank) >= (int64_t)rows->end;
  }
  return are;
}

// Of operand 0, whose dims are those of the result up to the rows; others have none.
static bool share_of_norm(const stowi_rewrite_pass* pass, stow_node node, size_t k,
                          const stowi_rewrite_rows* rows, stowi_rewrite_share* out) {
  const stow_type* type = operand_type(pass, node, k);
  if (!has_axes_behind(pass, node, rows)) {
    return false;
  }
  *out = (stowi_rewrite_share){k == 0, *rows, *type};
  if (k == 0) {
    out->type = stowi_rewrite_part_of(type, rows);
  }
  return k == 0 || (stow_graph_op(pass->graph, node) != STOW_OP_REDUCE &&
                    type->rank + rows->end <= result_type(pass, node)->rank);
}

// ---------------------------------------------------------------------------------------------
// All

bool stowi_rewrite_share_of(const stowi_rewrite_pass* pass, stow_node node, size_t k,
                            const stowi_rewrite_rows* rows, stowi_rewrite_share* out_share) {
  if (stowi_graph_is_elementwise(pass->graph, node)) {
    return align(result_type(pass, node), operand_type(pass, node, k), rows, out_share);
  }
  switch (stow_graph_op(pass->graph, node)) {
    case STOW_OP_MATMUL: return share_of_product(pass, node, k, rows, out_share);
    case STOW_OP_TRANSPOSE: return share_of_transpose(pass, node, rows, out_share);
    case STOW_OP_RESHAPE:
    case STOW_OP_SQUEEZE:
    case STOW_OP_UNSQUEEZE:
    case STOW_OP_FLATTEN: return k == 0 && share_of_reshape(pass, node, rows, out_share);
    case STOW_OP_SOFTMAX:
    case STOW_OP_LOG_SOFTMAX:
    case STOW_OP_LAYER_NORM:
    case STOW_OP_RMS_NORM:
    case STOW_OP_REDUCE: return share_of_norm(pass, node, k, rows, out_share);
    default: return false;
  }
}

// Shapes of reshapes are in the types already.
static size_t operand_count(const stowi_rewrite_pass* pass, stow_node node) {
  return stowi_rewrite_is_reshape(pass->graph, node) ? 1
                                                     : stow_graph_operand_count(pass->graph, node);
}

bool stowi_rewrite_can_share(const stowi_rewrite_pass* pass, stow_node node,
                             const stowi_rewrite_rows* rows) {
  size_t count = operand_count(pass, node);
  bool can = count != 0 && rows->end <= result_type(pass, node)->rank;
  for (size_t k = 0; can && k < count; ++k) {
    stowi_rewrite_share share;
    can = stow_graph_operands(pass->graph, node)[k] == STOW_VALUE_NONE ||
          stowi_rewrite_share_of(pass, node, k, rows, &share);
  }
  return can;
}

// ---------------------------------------------------------------------------------------------
// Attributes

// The dim of a part that is dim |i| of the whole.
static int64_t moved(const stowi_rewrite_rows* rows, int64_t i) {
  int64_t behind = i >= (int64_t)rows->end ? (int64_t)(rows->end - rows->first) - 1 : 0;
  return i - (int64_t)rows->groups - behind;
}

static void add_perm(const stowi_rewrite_pass* pass, stow_call* call, stow_node node,
                     const stowi_rewrite_rows* rows) {
  uint32_t rank = result_type(pass, node)->rank;
  int64_t perm[STOW_MAX_RANK];
  stowi_rewrite_share share;
  size_t count = 0;
  (void)share_of_transpose(pass, node, rows, &share);
  stowi_rewrite_read_perm(pass->graph, node, rank, perm);
  for (uint32_t i = rows->groups; i < rank; ++i) {
    if (i <= rows->first || i >= rows->end) {
      perm[count++] = moved(&share.at, perm[i]);
    }
  }
  stow_call_attr_ints(call, "perm", perm, count);
}

static void add_axes(const stowi_rewrite_pass* pass, stow_call* call, stow_node node,
                     const stow_attr* axes, const stowi_rewrite_rows* rows) {
  uint32_t rank = operand_type(pass, node, 0)->rank;
  int64_t list[STOW_MAX_RANK];
  size_t count = axes->count < STOW_MAX_RANK ? axes->count : STOW_MAX_RANK;
  for (size_t i = 0; i < count; ++i) {
    list[i] = moved(rows, from_front(axes->ints[i], rank));
  }
  stow_call_attr_ints(call, "axes", list, count);
}

void stowi_rewrite_add_attrs(const stowi_rewrite_pass* pass, stow_call* call, stow_node node,
                             const stowi_rewrite_rows* rows) {
  const stow_graph* graph = pass->graph;
  stow_op op = stow_graph_op(graph, node);
  if (op == STOW_OP_TRANSPOSE) {
    add_perm(pass, call, node, rows);
  }
  bool is_along = !stowi_graph_is_elementwise(graph, node) && op != STOW_OP_MATMUL;
  bool is_moved = op == STOW_OP_TRANSPOSE || stowi_rewrite_is_reshape(graph, node);
  for (size_t i = 0; !is_moved && i < stow_graph_attr_count(graph, node); ++i) {
    const stow_attr* attr = stow_graph_attr_at(graph, node, i);
    if (is_along && stow_str_equal(attr->name, stow_str_of("axes"))) {
      add_axes(pass, call, node, attr, rows);
    } else if (is_along && stow_str_equal(attr->name, stow_str_of("axis"))) {
      int64_t axis = from_front(attr->i, operand_type(pass, node, 0)->rank);
      stow_call_attr_int(call, "axis", moved(rows, axis));
    } else {
      stow_call_attr(call, attr);
    }
  }
}

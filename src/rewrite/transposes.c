// Transposes that are read in part: what picks elements of a transposed tensor picks them before,
// and only the result is transposed:
//
//     transpose [1, 84, 8400] → [1, 8400, 84]           slice   → [1, 80, 8400], a view
//     slice     → [1, 8400, 80]                         reduce  → [1, 1, 8400]
//     reduce    → [1, 8400, 1]                          transpose → [1, 8400, 1]
//
// Slices and gathers move elements. The largest and the smallest of some elements, and where they
// are, do not depend on how these lie. The rule fires if all readers of a transpose are of this
// kind, so that it goes, and no reader, which has its result twice then, becomes the peak. What is
// transposed stays live until the last of them; it has as many bytes.
#include <string.h>

#include "base/diag.h"
#include "rewrite/load.h"
#include "rewrite/picks.h"
#include "rewrite/rules.h"

// ---------------------------------------------------------------------------------------------
// Reading: from the graph alone, so that the function of a change finds the same

// A reader, with its axes as they are before the transpose.
typedef struct picker {
  stowi_rewrite_pick pick;
  int64_t perm[STOW_MAX_RANK];  // from what it makes before the transpose to its result
  size_t perm_count;
  bool is_view;  // makes no elements before the transpose
} picker;

// Only the largest and the smallest element are the same in every order.
static bool read_reduce(const stow_graph* graph, stow_node node, size_t rank, picker* p) {
  const stow_attr* op = stow_graph_attr(graph, node, "op");
  bool is_good =
      op != NULL && op->kind == STOW_ATTR_STRING &&
      (stow_str_equal(op->s, stow_str_of("max")) || stow_str_equal(op->s, stow_str_of("min"))) &&
      stowi_rewrite_read_list(graph, node, "axes", 1, p->pick.axes, &p->pick.axis_count) &&
      p->pick.axis_count != 0;
  for (size_t i = 0; is_good && i < p->pick.axis_count; ++i) {
    is_good = stowi_rewrite_read_from_front(&p->pick.axes[i], rank);
  }
  return is_good;
}

static bool reads_axes(const stow_graph* graph, stow_node node, size_t rank, picker* p) {
  switch (stow_graph_op(graph, node)) {
    case STOW_OP_SLICE: return stowi_rewrite_read_slice(graph, node, rank, &p->pick);
    case STOW_OP_REDUCE: return read_reduce(graph, node, rank, p);
    case STOW_OP_NARROW:
    case STOW_OP_GATHER:
    case STOW_OP_ARGMAX:
    case STOW_OP_ARGMIN: return stowi_rewrite_read_axis(graph, node, rank, &p->pick);
    default: return false;
  }
}

// Dims of what is read that the result does not have, and how many it has in the place of the
// first one of them.
static size_t find_gone(const stow_graph* graph, stow_node node, const picker* p, bool* is_gone) {
  const stow_attr* keeps = stow_graph_attr(graph, node, "keepdims");
  stow_op op = stow_graph_op(graph, node);
  bool goes = op == STOW_OP_GATHER || (op != STOW_OP_SLICE && op != STOW_OP_NARROW &&
                                       keeps != NULL && keeps->kind == STOW_ATTR_BOOL && !keeps->b);
  for (size_t i = 0; goes && i < p->pick.axis_count; ++i) {
    is_gone[p->pick.axes[i]] = true;
  }
  return op == STOW_OP_GATHER ? stow_graph_type(graph, stow_graph_operands(graph, node)[1])->rank
                              : 0;
}

// Axes are still those of the transposed tensor. Dim i of that is dim turn[i] before.
static void turn(const stow_graph* graph, stow_node node, const int64_t* turn, size_t rank,
                 picker* p) {
  bool is_gone[STOW_MAX_RANK] = {false}, is_gone_before[STOW_MAX_RANK] = {false};
  int64_t at[STOW_MAX_RANK] = {0}, first = 0, next = 0;
  size_t added = find_gone(graph, node, p, is_gone);
  for (size_t i = 0; i < rank; ++i) {
    is_gone_before[turn[i]] = is_gone[i];
  }
  for (size_t i = 0; i < rank; ++i) {
    first = is_gone_before[i] ? next : first;
    at[i] = next;
    next += is_gone_before[i] ? (int64_t)added : 1;
  }
  p->perm_count = 0;
  for (size_t i = 0; i < rank; ++i) {
    for (size_t k = 0; is_gone[i] && k < added; ++k) {
      p->perm[p->perm_count++] = first + (int64_t)k;
    }
    if (!is_gone[i]) {
      p->perm[p->perm_count++] = at[turn[i]];
    }
  }
  for (size_t i = 0; i < p->pick.axis_count; ++i) {
    p->pick.axes[i] = turn[p->pick.axes[i]];
  }
}

// Whether a part along these axes is contiguous: no dim before has more than one element.
static bool is_part(const stow_type* from, const picker* p, bool is_slice) {
  bool is = p->pick.axis_count == 1 && (!is_slice || p->pick.steps[0] == 1);
  for (int64_t i = 0; is && i < p->pick.axes[0]; ++i) {
    is = from->dims[i] == 1;
  }
  return is;
}

static bool read_picker(const stow_graph* graph, stow_node transpose, stow_node node, picker* p) {
  stow_value operand = stow_graph_operands(graph, transpose)[0];
  const stow_type* from = stow_graph_type(graph, operand);
  size_t rank = from->rank;
  size_t result_rank = stow_graph_type(graph, stow_graph_first_result(graph, node))->rank;
  int64_t perm[STOW_MAX_RANK];
  memset(p, 0, sizeof(*p));
  if (!reads_axes(graph, node, rank, p)) {
    return false;
  }
  stowi_rewrite_read_perm(graph, transpose, rank, perm);
  turn(graph, node, perm, rank, p);
  stow_op op = stow_graph_op(graph, node);
  p->is_view =
      (op == STOW_OP_SLICE || op == STOW_OP_NARROW) && is_part(from, p, op == STOW_OP_SLICE);
  return p->perm_count == result_rank;
}

// ---------------------------------------------------------------------------------------------
// Adding

static void add_axes(const stowi_rewrite_pass* pass, stow_call* call, stow_node node,
                     const picker* p) {
  stow_op op = stow_graph_op(pass->graph, node);
  bool has_list = op == STOW_OP_SLICE || op == STOW_OP_REDUCE;
  const char* name = has_list ? "axes" : "axis";
  for (size_t i = 0; i < stow_graph_attr_count(pass->graph, node); ++i) {
    const stow_attr* attr = stow_graph_attr_at(pass->graph, node, i);
    if (op != STOW_OP_SLICE && !stow_str_equal(attr->name, stow_str_of(name))) {
      stow_call_attr(call, attr);
    }
  }
  if (has_list) {
    stow_call_attr_ints(call, name, p->pick.axes, p->pick.axis_count);
  } else {
    stow_call_attr_int(call, name, p->pick.axes[0]);
  }
  if (op == STOW_OP_SLICE) {
    stow_call_attr_ints(call, "starts", p->pick.starts, p->pick.axis_count);
    stow_call_attr_ints(call, "ends", p->pick.ends, p->pick.axis_count);
    stow_call_attr_ints(call, "steps", p->pick.steps, p->pick.axis_count);
  }
}

static stow_status add_picker(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  const stow_graph* graph = pass->graph;
  const stow_value* operands = stow_graph_operands(graph, change->at);
  stow_node transpose = stow_graph_producer(graph, operands[0]);
  picker p;
  stow_node node;
  (void)read_picker(graph, transpose, change->at, &p);
  stow_call* call = stow_graph_begin(pass->copier.into, stow_graph_op(graph, change->at));
  stow_call_operand(
      call, stowi_graph_copier_mapped(&pass->copier, stow_graph_operands(graph, transpose)[0]));
  if (stow_graph_op(graph, change->at) == STOW_OP_GATHER) {
    stow_call_operand(call, stowi_graph_copier_mapped(&pass->copier, operands[1]));
  }
  add_axes(pass, call, change->at, &p);
  stow_call_line(call, stow_graph_line(graph, change->at));
  STOW_TRY(stow_call_finish(call, pass->diag, &node));
  call = stowi_rewrite_begin(pass, change, STOW_OP_TRANSPOSE);
  stow_call_operand(call, stow_graph_first_result(pass->copier.into, node));
  stow_call_attr_ints(call, "perm", p.perm, p.perm_count);
  return stow_call_finish(call, pass->diag, NULL);
}

// ---------------------------------------------------------------------------------------------
// The rule

typedef struct search {
  stowi_rewrite_pass* pass;
  stowi_rewrite_load load;
  uint64_t peak;
  uint32_t* seen;  // by transpose: readers that may pick first
  bool* goes;      // by transpose
} search;

// Whether |node| moves elements of something that is not a weight: folding turns those.
static bool is_transpose(const search* s, stow_node node) {
  const stow_graph* graph = s->pass->graph;
  stow_view view;
  if (stow_graph_op(graph, node) != STOW_OP_TRANSPOSE || stowi_rewrite_is_barrier(graph, node) ||
      stowi_rewrite_is_bounded(graph, node) || stow_graph_view(graph, node, 0, &view)) {
    return false;
  }
  stow_value result = stow_graph_first_result(graph, node);
  stow_op before =
      stow_graph_op(graph, stow_graph_producer(graph, stow_graph_operands(graph, node)[0]));
  return before != STOW_OP_PARAM && before != STOW_OP_CONSTANT &&
         !stowi_bits_has(&s->pass->facts.outputs, result) &&
         !stowi_bits_has(&s->pass->facts.fixed, result) &&
         !stowi_bits_has(&s->pass->facts.fixed, stow_graph_operands(graph, node)[0]);
}

// The transpose whose result |node| reads as operand 0; STOW_NODE_NONE: it must stay as it is, or
// is a view, which costs nothing. Of dims that depend on data only those of indices may be.
static stow_node transpose_before(const search* s, stow_node node, picker* p) {
  const stow_graph* graph = s->pass->graph;
  stow_view view;
  if (stow_graph_operand_count(graph, node) == 0 || stow_graph_result_count(graph, node) != 1 ||
      stowi_rewrite_is_barrier(graph, node) || stow_graph_view(graph, node, 0, &view) ||
      (stow_graph_op(graph, node) != STOW_OP_GATHER && stowi_rewrite_is_bounded(graph, node)) ||
      stowi_bits_has(&s->pass->facts.fixed, stow_graph_first_result(graph, node))) {
    return STOW_NODE_NONE;
  }
  stow_value operand = stow_graph_operands(graph, node)[0];
  stow_node before =
      operand == STOW_VALUE_NONE ? STOW_NODE_NONE : stow_graph_producer(graph, operand);
  bool is_good = before != STOW_NODE_NONE && is_transpose(s, before) &&
                 stow_graph_node_region(graph, before) == stow_graph_node_region(graph, node) &&
                 read_picker(graph, before, node, p);
  return is_good ? before : STOW_NODE_NONE;
}

// Whether the result before it is transposed has room below the peak, beside what is transposed
// instead of the transposed tensor.
static bool has_room(const search* s, stow_node before, stow_node node, const picker* p) {
  const stow_graph* graph = s->pass->graph;
  stow_value operand = stow_graph_operands(graph, before)[0];
  uint64_t less = stowi_rewrite_is_live(&s->load.lives, operand, node)
                      ? s->load.lives.bytes[stow_graph_first_result(graph, before)]
                      : 0;
  uint64_t more =
      p->is_view ? 0 : stowi_rewrite_bytes(s->pass->sized, stow_graph_first_result(graph, node));
  return stowi_rewrite_add(s->load.at[node] - less, more) <= s->peak;
}

// Whether all readers of the transpose may pick first.
static bool is_picked(const search* s, stow_node transpose) {
  stow_value result = stow_graph_first_result(s->pass->graph, transpose);
  return s->seen[transpose] != 0 && s->seen[transpose] == s->pass->facts.readers[result];
}

static bool count_readers(search* s) {
  bool is_any = false;
  picker p;
  for (stow_node node = 0; node < stow_graph_node_count(s->pass->graph); ++node) {
    stow_node before = transpose_before(s, node, &p);
    if (before != STOW_NODE_NONE) {
      ++s->seen[before];
      is_any = is_any || is_picked(s, before);
    }
  }
  return is_any;
}

static stow_status leave_peaks(search* s) {
  picker p;
  stow_status status =
      stowi_rewrite_load_init(&s->load, s->pass->sized, s->pass->allocator, s->pass->diag);
  s->peak = status == STOW_OK ? stowi_rewrite_load_peak(&s->load) : 0;
  for (stow_node node = 0; status == STOW_OK && node < stow_graph_node_count(s->pass->graph);
       ++node) {
    stow_node before = transpose_before(s, node, &p);
    if (before != STOW_NODE_NONE && is_picked(s, before) && !has_room(s, before, node, &p)) {
      s->seen[before] = 0;
    }
  }
  stowi_rewrite_load_free(&s->load);
  return status;
}

static stow_status change_readers(search* s) {
  const stow_graph* graph = s->pass->graph;
  picker p;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    stow_node before = transpose_before(s, node, &p);
    if (before == STOW_NODE_NONE || !is_picked(s, before)) {
      continue;
    }
    stowi_rewrite_change change = {.at = node,
                                   .first = stow_graph_first_result(graph, node),
                                   .count = 1,
                                   .before = 1,
                                   .add = add_picker};
    STOW_TRY(stowi_rewrite_change_at(s->pass, &change));
    STOW_TRY(stowi_rewrite_fire(s->pass, (stow_node[]){before, node}, 2));
    s->goes[before] = true;
  }
  return STOW_OK;
}

static bool may_go(const void* user, stow_node node) { return ((const bool*)user)[node]; }

stow_status stowi_rewrite_transposes(stowi_rewrite_pass* pass) {
  uint32_t count = stow_graph_node_count(pass->graph);
  search s = {.pass = pass};
  s.seen = STOWI_ARRAY_ZERO(pass->allocator, uint32_t, count);
  s.goes = STOWI_ARRAY_ZERO(pass->allocator, bool, count);
  stow_status status = stowi_need_memory(s.seen != NULL && s.goes != NULL, pass->diag);
  if (status == STOW_OK && count_readers(&s)) {
    status = leave_peaks(&s);
    status = status == STOW_OK ? change_readers(&s) : status;
    stowi_rewrite_drop_unread(pass, may_go, s.goes);
  }
  STOWI_ARRAY_FREE(pass->allocator, s.seen, count);
  STOWI_ARRAY_FREE(pass->allocator, s.goes, count);
  return status;
}

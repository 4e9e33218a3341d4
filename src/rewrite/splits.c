// Splits of what several concats put together, as detectors make them of boxes and classes of each
// scale:
//
//     concat  a0, b0 → c0   along channels           concat a0, a1 → a, along positions
//     concat  a1, b1 → c1                            concat b0, b1 → b
//     concat  c0, c1 → c    along positions
//     split   c → a, b      along channels
//
// The parts are put together alone, so that nothing has all of them at once, and each can be
// computed where it will be. Reshapes of what follows the channels may stand in between.
#include "base/diag.h"
#include "rewrite/rules.h"

#define LEAST_BYTES 16384  // of the whole

// The nodes of a pattern.
typedef struct pattern {
  stow_node split;
  stow_node concat;  // along another axis
  uint32_t axis;     // of the split
  size_t parts;      // results of the split
  size_t pieces;     // operands of the concat
} pattern;

static int64_t axis_of(const stow_graph* graph, stow_node node) {
  stow_value operand = stow_graph_operands(graph, node)[0];
  int64_t axis = stow_graph_attr(graph, node, "axis")->i;
  return axis < 0 ? axis + (int64_t)stow_graph_type(graph, operand)->rank : axis;
}

// A node in between: nothing else needs its only result.
static bool is_between(const stowi_rewrite_pass* pass, stow_node node) {
  stow_value value = stow_graph_first_result(pass->graph, node);
  return !stowi_rewrite_is_barrier(pass->graph, node) &&
         !stowi_rewrite_is_bounded(pass->graph, node) &&
         stow_graph_result_count(pass->graph, node) == 1 && pass->facts.readers[value] == 1 &&
         !stowi_bits_has(&pass->facts.outputs, value) && !stowi_bits_has(&pass->facts.fixed, value);
}

// Piece |i| of the concat, before a reshape that keeps the dims up to the axis.
static stow_value piece_of(const stowi_rewrite_pass* pass, const pattern* p, size_t i) {
  const stow_graph* graph = pass->graph;
  stow_value piece = stow_graph_operands(graph, p->concat)[i];
  stow_node node = stow_graph_producer(graph, piece);
  if (!stowi_rewrite_is_reshape(graph, node) || !is_between(pass, node)) {
    return piece;
  }
  stow_value before = stow_graph_operands(graph, node)[0];
  const stow_type* from = stow_graph_type(graph, before);
  const stow_type* to = stow_graph_type(graph, piece);
  bool keeps = from->rank > p->axis && from->dtype == to->dtype;
  for (uint32_t d = 0; keeps && d <= p->axis; ++d) {
    keeps = from->dims[d] == to->dims[d];
  }
  return keeps ? before : piece;
}

// The concat that makes a piece of as many parts as the split, of the same sizes.
static bool is_joined(const stowi_rewrite_pass* pass, const pattern* p, stow_value piece) {
  const stow_graph* graph = pass->graph;
  stow_node node = stow_graph_producer(graph, piece);
  bool is = stow_graph_op(graph, node) == STOW_OP_CONCAT && is_between(pass, node) &&
            stow_graph_operand_count(graph, node) == p->parts && axis_of(graph, node) == p->axis;
  for (size_t k = 0; is && k < p->parts; ++k) {
    stow_value part = stow_graph_operands(graph, node)[k];
    stow_value result = stow_graph_first_result(graph, p->split) + (stow_value)k;
    is = stow_graph_type(graph, part)->dims[p->axis] ==
         stow_graph_type(graph, result)->dims[p->axis];
  }
  return is;
}

static bool find_pattern(const stowi_rewrite_pass* pass, stow_node split, pattern* p) {
  const stow_graph* graph = pass->graph;
  *p = (pattern){.split = split, .parts = stow_graph_result_count(graph, split)};
  if (stow_graph_op(graph, split) != STOW_OP_SPLIT || stowi_rewrite_is_barrier(graph, split) ||
      stowi_rewrite_is_bounded(graph, split)) {
    return false;
  }
  p->axis = (uint32_t)axis_of(graph, split);
  p->concat = stow_graph_producer(graph, stow_graph_operands(graph, split)[0]);
  p->pieces = stow_graph_operand_count(graph, p->concat);
  bool is = stow_graph_op(graph, p->concat) == STOW_OP_CONCAT && is_between(pass, p->concat) &&
            axis_of(graph, p->concat) > (int64_t)p->axis &&
            stow_graph_node_region(graph, p->concat) == stow_graph_node_region(graph, split);
  for (size_t i = 0; is && i < p->pieces; ++i) {
    is = is_joined(pass, p, piece_of(pass, p, i));
  }
  return is;
}

// ---------------------------------------------------------------------------------------------
// Without it

static stow_value part_of(const stowi_rewrite_pass* pass, const pattern* p, size_t i, size_t k) {
  stow_node joined = stow_graph_producer(pass->graph, piece_of(pass, p, i));
  return stow_graph_operands(pass->graph, joined)[k];
}

static bool is_reshaped(const stowi_rewrite_pass* pass, const pattern* p, size_t i) {
  return piece_of(pass, p, i) != stow_graph_operands(pass->graph, p->concat)[i];
}

static size_t count_reshaped(const stowi_rewrite_pass* pass, const pattern* p) {
  size_t count = 0;
  for (size_t i = 0; i < p->pieces; ++i) {
    count += is_reshaped(pass, p, i) ? p->parts : 0;
  }
  return count;
}

// |out| has the value of the new graph for part |k| of each piece, from |k| times pieces on.
static stow_status add_reshapes(stowi_rewrite_pass* pass, const pattern* p, stow_value* out) {
  for (size_t k = 0; k < p->parts; ++k) {
    for (size_t i = 0; i < p->pieces; ++i) {
      stow_value part = part_of(pass, p, i, k);
      stow_value* to = &out[k * p->pieces + i];
      *to = stowi_graph_copier_mapped(&pass->copier, part);
      if (is_reshaped(pass, p, i)) {
        stow_type type =
            stowi_graph_copier_type(&pass->copier, stow_graph_operands(pass->graph, p->concat)[i]);
        type.dims[p->axis] = stowi_graph_copier_type(&pass->copier, part).dims[p->axis];
        STOW_TRY(stowi_rewrite_reshape(pass, *to, &type, to));
      }
    }
  }
  return STOW_OK;
}

static stow_status add_concats(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                               const pattern* p, const stow_value* values) {
  stow_value first = stow_graph_first_result(pass->graph, p->split);
  for (size_t i = 0; i < p->parts; ++i) {
    stowi_rewrite_change one = *change;
    one.first = change->first + (stow_value)i;
    one.count = 1;
    size_t k = stowi_rewrite_result(pass, &one, 0) - first;
    stow_call* call = stowi_rewrite_begin(pass, &one, STOW_OP_CONCAT);
    for (size_t j = 0; j < p->pieces; ++j) {
      stow_call_operand(call, values[k * p->pieces + j]);
    }
    stow_call_attr_int(call, "axis", axis_of(pass->graph, p->concat));
    STOW_TRY(stow_call_finish(call, pass->diag, NULL));
  }
  return STOW_OK;
}

static stow_status add_parts(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  pattern p;
  (void)find_pattern(pass, change->at, &p);
  stow_value* values = STOWI_ARRAY(pass->allocator, stow_value, p.parts * p.pieces);
  STOW_TRY(stowi_need_memory(values != NULL, pass->diag));
  stow_status status = add_reshapes(pass, &p, values);
  status = status == STOW_OK ? add_concats(pass, change, &p, values) : status;
  STOWI_ARRAY_FREE(pass->allocator, values, p.parts * p.pieces);
  return status;
}

// The largest first: what may be in the bytes of an output, as classes, leaves room for the others.
static stow_status list_results(stowi_rewrite_pass* pass, const pattern* p) {
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(pass->allocator, &pass->results, p->parts) == STOW_OK, pass->diag));
  size_t first = pass->results.count;
  for (size_t k = 0; k < p->parts; ++k) {
    stow_value value = stow_graph_first_result(pass->graph, p->split) + (stow_value)k;
    uint64_t bytes = stowi_rewrite_bytes(pass->sized, value);
    stow_value* list = pass->results.data;
    size_t at = pass->results.count++;
    for (; at > first && stowi_rewrite_bytes(pass->sized, list[at - 1]) < bytes; --at) {
      list[at] = list[at - 1];
    }
    list[at] = value;
  }
  return STOW_OK;
}

static stow_status note(stowi_rewrite_pass* pass, const pattern* p) {
  stowi_rewrite_change change = {.at = p->split,
                                 .before = count_reshaped(pass, p),
                                 .first = (stow_value)pass->results.count,
                                 .count = p->parts,
                                 .is_listed = true,
                                 .add = add_parts};
  for (size_t i = 0; i < p->pieces; ++i) {
    stow_value piece = stow_graph_operands(pass->graph, p->concat)[i];
    pass->is_dropped[stow_graph_producer(pass->graph, piece)] = true;
    pass->is_dropped[stow_graph_producer(pass->graph, piece_of(pass, p, i))] = true;
  }
  pass->is_dropped[p->concat] = true;
  STOW_TRY(list_results(pass, p));
  STOW_TRY(stowi_rewrite_change_at(pass, &change));
  return stowi_rewrite_fire(pass, (stow_node[]){p->concat, p->split}, 2);
}

stow_status stowi_rewrite_splits(stowi_rewrite_pass* pass) {
  for (stow_node node = 0; node < stow_graph_node_count(pass->graph); ++node) {
    pattern p;
    if (find_pattern(pass, node, &p) &&
        stowi_rewrite_bytes(pass->sized, stow_graph_operands(pass->graph, node)[0]) >=
            LEAST_BYTES) {
      STOW_TRY(note(pass, &p));
    }
  }
  return STOW_OK;
}

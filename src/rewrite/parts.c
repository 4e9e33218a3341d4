// Parts: what is computed element by element for parts of a tensor, or from one that a concat makes
// of parts, is computed for each part by itself.
//
//     cast  u8[8, n] → f32[8, n]                        split → 8 × u8[1, n], views
//     split → 8 × f32[1, n]                             cast  → f32[1, n], where it is read
//
//     concat f16[8, n], f16[1, n] → f16[9, n]           cast   → f32[8, n], f32[1, n]
//     cast   → f32[9, n]                                concat → f32[9, n]
//
// A group are nodes that compute a whole from a source with the same dims, and from what is the
// same for all parts; x · sigmoid(x) is one. Only its last result is read outside. It moves behind
// `slice`, `narrow`, `split` and `gather` if only these read it: parts that nothing reads are not
// computed, and others not before their first reader. It moves before a `concat` that only it
// reads.
//
// Both graphs are compared as if a group were one node, as the rule `blocks` makes it, and in place
// of a dead source. Parts of a source are not in place of it, so that most groups stay where they
// are. The rule fires if no step has more live bytes than the largest had, and the largest or the
// steps of the parts have fewer, or as many and less to compute.
#include <string.h>

#include "base/diag.h"
#include "rewrite/load.h"
#include "rewrite/moves.h"
#include "rewrite/picks.h"
#include "rewrite/rules.h"
#include "rewrite/space.h"

#define MOST_SPAN 64       // nodes among which a group is
#define MOST_AWAY 1024     // nodes between it and what picks from it
#define LEAST_BYTES 16384  // of the whole
#define BLOCK_BYTES 4096   // between the nodes of a group, unless parts are smaller
#define ALIGNED 64         // bytes: where parts are computed in the place of their concat
#define OUTPUT (STOW_NODE_NONE - 1)

typedef struct finder {
  stowi_rewrite_pass* pass;
  const stow_graph* graph;
  stowi_rewrite_load load;
  stow_node* firsts;  // by value: its first reader; STOW_NODE_NONE: none, or in a region
  stow_node* ends;    // by value: the last reader of it or of a view of it, or OUTPUT
  bool* is_joined;    // by value: a concat reads it
  bool* is_used;      // by node: moves, or makes what is read by what does
  // A group.
  stow_node nodes[STOWI_REWRITE_MOST_NODES];  // ascending
  size_t count;
  stow_value source;
  stow_value parts[STOWI_REWRITE_MOST_PARTS];  // what is picked, or concatenated
  size_t part_count;
  bool is_cut[STOW_MAX_RANK];   // dims of the whole along which parts differ
  bool is_gone[STOW_MAX_RANK];  // of these, those that parts do not have
} finder;

// ---------------------------------------------------------------------------------------------
// Groups

static stow_node last_of(const finder* f) { return f->nodes[f->count - 1]; }

static stow_value result_of(const finder* f, stow_node node) {
  return stow_graph_first_result(f->graph, node);
}

static uint64_t bytes_of(const finder* f, stow_value value) {
  return stowi_rewrite_bytes(f->pass->sized, value);
}

static uint32_t bits_of(const finder* f, stow_value value) {
  return stow_dtype_bits(stow_graph_type(f->graph, value)->dtype);
}

// Bytes of |value| with the elements of |other|; those of both are whole bytes.
static uint64_t bytes_as(const finder* f, stow_value value, stow_value other) {
  return bytes_of(f, value) / (bits_of(f, value) / 8) * (bits_of(f, other) / 8);
}

static stow_value root_of(const finder* f, stow_value value) { return f->load.lives.roots[value]; }

static bool has_same_dims(const finder* f, stow_value a, stow_value b) {
  const stow_type* left = stow_graph_type(f->graph, a);
  const stow_type* right = stow_graph_type(f->graph, b);
  return left->rank == right->rank &&
         memcmp(left->dims, right->dims, left->rank * sizeof(left->dims[0])) == 0;
}

static bool is_inside(const finder* f, stow_value value) {
  bool is = false;
  for (size_t i = 0; i < f->count; ++i) {
    is = is || result_of(f, f->nodes[i]) == value;
  }
  return is;
}

// Whether the group has all readers of |value|.
static bool is_read_inside(const finder* f, stow_value value) {
  uint32_t count = 0;
  for (size_t i = 0; i < f->count; ++i) {
    for (size_t k = 0; k < stow_graph_operand_count(f->graph, f->nodes[i]); ++k) {
      count += stow_graph_operands(f->graph, f->nodes[i])[k] == value;
    }
  }
  return count != 0 && count == f->pass->facts.readers[value] &&
         !stowi_bits_has(&f->pass->facts.outputs, value) &&
         !stowi_bits_has(&f->pass->facts.fixed, value);
}

static bool can_join(const finder* f, stow_node node, stow_value whole) {
  return !f->is_used[node] && stow_graph_result_count(f->graph, node) == 1 &&
         stowi_graph_is_elementwise(f->graph, node) &&
         has_same_dims(f, result_of(f, node), whole) &&
         stow_graph_node_region(f->graph, node) ==
             stow_graph_node_region(f->graph, stow_graph_producer(f->graph, whole)) &&
         stowi_rewrite_can_fuse(&f->load, &f->pass->facts, f->graph, node);
}

// Whether |value| is the same for all parts: it is broadcast along the dims that are cut.
static bool is_common(const finder* f, stow_value value, uint32_t rank) {
  const stow_type* type = stow_graph_type(f->graph, value);
  bool is = type->rank <= rank;
  for (uint32_t i = 0; is && i < type->rank; ++i) {
    uint32_t dim = rank - type->rank + i;
    is = !f->is_gone[dim] && (!f->is_cut[dim] || type->dims[i] == 1);
  }
  return is;
}

// Whether what |node| reads is the source, which may be set here, of the group, or common.
static bool reads_source(finder* f, stow_node node) {
  bool is_good = true;
  for (size_t k = 0; is_good && k < stow_graph_operand_count(f->graph, node); ++k) {
    stow_value value = stow_graph_operands(f->graph, node)[k];
    uint32_t rank = stow_graph_type(f->graph, result_of(f, node))->rank;
    if (value != STOW_VALUE_NONE && !is_inside(f, value) && !is_common(f, value, rank)) {
      f->source = f->source == STOW_VALUE_NONE ? value : f->source;
      is_good = value == f->source && has_same_dims(f, value, result_of(f, node));
    }
  }
  return is_good;
}

static bool find_source(finder* f) {
  bool is_good = true;
  f->source = STOW_VALUE_NONE;
  for (size_t i = 0; i < f->count; ++i) {
    is_good = is_good && reads_source(f, f->nodes[i]);
  }
  return is_good && f->source != STOW_VALUE_NONE && !f->is_joined[f->source] &&
         !f->is_used[stow_graph_producer(f->graph, root_of(f, f->source))];
}

// Nodes from |last| back, whose readers all are in the group.
static void grow_back(finder* f, stow_node last) {
  f->nodes[0] = last;
  f->count = 1;
  for (stow_node node = last;
       node-- > 0 && last - node <= MOST_SPAN && f->count < STOWI_REWRITE_MOST_NODES;) {
    stow_value result = result_of(f, node);
    if (stow_graph_result_count(f->graph, node) == 1 && is_read_inside(f, result) &&
        can_join(f, node, result_of(f, last))) {
      memmove(f->nodes + 1, f->nodes, f->count++ * sizeof(f->nodes[0]));
      f->nodes[0] = node;
    }
  }
}

// Nodes from the source on, with all its readers, as many as there are.
static void grow_forth(finder* f) {
  stow_node first = stow_graph_producer(f->graph, f->source), end = first + 1 + MOST_SPAN;
  size_t closed = 0;
  f->count = 0;
  for (stow_node node = first + 1;
       node < end && node < stow_graph_node_count(f->graph) && f->count < STOWI_REWRITE_MOST_NODES;
       ++node) {
    bool follows = false;
    for (size_t k = 0; k < stow_graph_operand_count(f->graph, node); ++k) {
      stow_value value = stow_graph_operands(f->graph, node)[k];
      follows = follows || value == f->source || is_inside(f, value);
    }
    if (follows && can_join(f, node, f->source) && reads_source(f, node)) {
      f->nodes[f->count++] = node;
      bool is_closed = is_read_inside(f, f->source);
      for (size_t i = 0; is_closed && i + 1 < f->count; ++i) {
        is_closed = is_read_inside(f, result_of(f, f->nodes[i]));
      }
      closed = is_closed ? f->count : closed;
    }
  }
  f->count = closed;
}

// ---------------------------------------------------------------------------------------------
// Live bytes

static void leave_out(finder* f, stow_value value, stow_node end) {
  stowi_rewrite_more(&f->load, stow_graph_producer(f->graph, value),
                     stowi_rewrite_last_step(&f->load, value), end,
                     -(int64_t)f->load.lives.bytes[value]);
}

// What is between the nodes of the group is only as large as a block.
static void leave_out_between(finder* f, stow_node end) {
  for (size_t i = 0; i + 1 < f->count; ++i) {
    leave_out(f, result_of(f, f->nodes[i]), end);
  }
}

// |root| is read until |step|, unless it is longer, and something |takes| its place there.
static void read_until(finder* f, stow_value root, stow_node step, bool takes, stow_node end) {
  int64_t bytes = (int64_t)f->load.lives.bytes[root];
  stow_node now = stowi_rewrite_last_step(&f->load, root);
  step -= takes ? 1 : 0;
  if (f->load.lives.ends[root] <= step + (takes ? 1 : 0)) {
    stowi_rewrite_more(&f->load, now + 1, step, end, bytes);
    stowi_rewrite_more(&f->load, step + 1, now, end, -bytes);
  }
}

// Whether the whole, or the last part of it, may be in place of the source at |step|.
static bool may_take(const finder* f, stow_node step) {
  stow_value root = root_of(f, f->source);
  return bits_of(f, f->source) >= bits_of(f, result_of(f, last_of(f))) &&
         f->load.lives.ends[root] <= step && !stow_graph_is_boundary(f->graph, root);
}

// One of several parts is computed where it is first read.
static stow_node step_of(const finder* f, stow_value part) {
  return f->part_count > 1 && f->firsts[part] != STOW_NODE_NONE
             ? f->firsts[part]
             : stow_graph_producer(f->graph, part);
}

// Whether |node| may become one node with its neighbours, so that what is between needs no bytes. A
// product does so only with another one.
static bool is_fused(const finder* f, stow_node node) {
  stowi_rewrite_space space;
  return stow_graph_op(f->graph, node) != STOW_OP_MATMUL &&
         stowi_rewrite_can_fuse(&f->load, &f->pass->facts, f->graph, node) &&
         stowi_rewrite_space_begin(&space, f->graph, f->pass->sized, node);
}

// Whether a part needs no bytes: it is an output, or its only reader becomes one node with it.
static bool is_free(const finder* f, stow_value part) {
  stow_node reader = f->ends[part];
  return reader == OUTPUT ||
         (reader == f->firsts[part] && stowi_graph_is_elementwise(f->graph, reader) &&
          stow_graph_result_count(f->graph, reader) == 1 &&
          has_same_dims(f, part, result_of(f, reader)));
}

// How many bytes are live at |node| that are not yet when a part before it is computed.
static uint64_t added_by(const finder* f, stow_node node) {
  const stowi_rewrite_lives* lives = &f->load.lives;
  uint64_t made = 0, taken = 0;
  for (size_t k = 0; k < stow_graph_result_count(f->graph, node); ++k) {
    made += lives->bytes[result_of(f, node) + k];
  }
  for (size_t k = 0; k < stow_graph_operand_count(f->graph, node); ++k) {
    stow_value value = stow_graph_operands(f->graph, node)[k];
    stow_value root = value == STOW_VALUE_NONE ? 0 : root_of(f, value);
    bool is_taken = value != STOW_VALUE_NONE && f->load.is_taken[root] && lives->ends[root] == node;
    taken += is_taken ? lives->bytes[root] : 0;
  }
  return made > taken ? made - taken : 0;
}

// A part of the source that is not a view is a copy, in whose place the part may be, or its reader.
static void place_part(finder* f, stow_value part, stow_node end) {
  stow_node step = step_of(f, part), begin = step;
  uint64_t bytes = bytes_of(f, part), block = 2 * bytes < BLOCK_BYTES ? 2 * bytes : BLOCK_BYTES;
  uint64_t extra = f->count > 1 ? block : 0;
  if (root_of(f, part) == part) {
    uint64_t copy = bytes_as(f, part, f->source);
    bool is_taken = copy == bytes && (!is_free(f, part) || f->load.is_taken[part]);
    leave_out(f, part, end);
    extra += is_taken ? 0 : copy;
  } else if (f->part_count == 1 && may_take(f, step)) {
    begin += 1;
  }
  if (!is_free(f, part)) {
    uint64_t room = step != stow_graph_producer(f->graph, part) ? added_by(f, step) : 0;
    stowi_rewrite_more(&f->load, begin, f->ends[part], end, (int64_t)bytes);
    extra -= room < extra ? room : extra;
  }
  stowi_rewrite_more(&f->load, step, step, end, (int64_t)extra);
}

// Of a whole that has been picked from, views are left. One of the copies is in its place.
static void keep_parts(finder* f, stow_value whole, stow_node end) {
  stow_node last = last_of(f);
  uint64_t largest = 0;
  for (size_t i = 0; i < f->part_count; ++i) {
    stow_node node = stow_graph_producer(f->graph, f->parts[i]);
    uint64_t copy = root_of(f, f->parts[i]) != whole ? bytes_of(f, f->parts[i]) : 0;
    last = node > last ? node : last;
    largest = copy > largest ? copy : largest;
  }
  if (f->load.lives.bytes[whole] == 0) {
    return;
  }
  leave_out(f, whole, end);
  stowi_rewrite_more(&f->load, last_of(f), last, end, (int64_t)bytes_of(f, whole));
  stowi_rewrite_more(&f->load, last, last, end, -(int64_t)largest);
  for (size_t i = 0; i < f->part_count; ++i) {
    if (root_of(f, f->parts[i]) == whole) {
      stowi_rewrite_more(&f->load, last + 1, f->ends[f->parts[i]], end,
                         (int64_t)bytes_of(f, f->parts[i]));
    }
  }
}

// Whether the source needs no bytes before the group moves.
static bool is_source_fused(const finder* f) {
  return is_read_inside(f, f->source) && is_fused(f, stow_graph_producer(f->graph, f->source));
}

static stowi_rewrite_effect try_picked(finder* f, bool is_moved, bool keeps) {
  stow_value whole = result_of(f, last_of(f));
  stow_node end = stowi_rewrite_last_step(&f->load, whole), first = STOW_NODE_NONE, step = 0;
  for (size_t i = 0; i < f->part_count; ++i) {
    stow_node at = step_of(f, f->parts[i]), until = f->ends[f->parts[i]];
    first = at < first ? at : first;
    step = at > step ? at : step;
    end = until != OUTPUT && until > end ? until : end;
  }
  end = step > end ? step : end;
  leave_out_between(f, end);
  if (is_moved) {
    leave_out(f, whole, end);
    read_until(f, root_of(f, f->source), step, false, end);
    for (size_t i = 0; i < f->part_count; ++i) {
      place_part(f, f->parts[i], end);
    }
  } else {
    keep_parts(f, whole, end);
    if (is_source_fused(f)) {
      leave_out(f, f->source, end);
    } else {
      read_until(f, root_of(f, f->source), last_of(f), may_take(f, last_of(f)), end);
    }
  }
  stow_node begin = is_source_fused(f) ? stow_graph_producer(f->graph, f->source) : f->nodes[0];
  return stowi_rewrite_end_trial(&f->load, begin, end, first, keeps);
}

// Whether the concat would copy nothing: different parts are one after the other, aligned, in the
// arena.
static bool is_elided(const finder* f) {
  stow_value whole = result_of(f, last_of(f));
  const stow_type* type = stow_graph_type(f->pass->sized, whole);
  bool is = f->load.lives.bytes[whole] != 0;
  for (uint32_t i = 0; i < type->rank && !f->is_cut[i]; ++i) {
    is = is && type->dims[i] == 1;
  }
  for (size_t i = 0; i + 1 < f->part_count; ++i) {
    is = is && bytes_as(f, f->parts[i], whole) % ALIGNED == 0;
    for (size_t j = i + 1; is && j < f->part_count; ++j) {
      is = f->parts[i] != f->parts[j];
    }
  }
  return is;
}

static stowi_rewrite_effect try_joined(finder* f, bool is_moved, bool keeps) {
  stow_node last = last_of(f);
  leave_out_between(f, last);
  if (is_moved) {
    leave_out(f, f->source, last);
    stowi_rewrite_more(&f->load, last, last, last,
                       is_elided(f) ? 0 : (int64_t)bytes_of(f, result_of(f, last)));
  } else {
    stow_node reader = f->firsts[result_of(f, last)];
    read_until(f, f->source, last, may_take(f, last), last);
    if (reader != STOW_NODE_NONE && reader == f->ends[result_of(f, last)] && is_fused(f, reader)) {
      leave_out(f, result_of(f, last), last);
    }
  }
  for (size_t i = 0; is_moved && i < f->part_count; ++i) {
    bool is_new = true;
    for (size_t j = 0; j < i; ++j) {
      is_new = is_new && root_of(f, f->parts[j]) != root_of(f, f->parts[i]);
    }
    if (is_new) {
      read_until(f, root_of(f, f->parts[i]), last, false, last);
    }
  }
  return stowi_rewrite_end_trial(&f->load, stow_graph_producer(f->graph, f->source), last, last,
                                 keeps);
}

static bool gains(finder* f, stowi_rewrite_effect (*try)(finder*, bool, bool), bool is_less) {
  stowi_rewrite_effect before = try(f, false, false), after = try(f, true, false);
  return after.after <= before.after && after.after <= before.before &&
         (after.after < before.after || after.sum < before.sum ||
          (after.sum == before.sum && is_less));
}

// ---------------------------------------------------------------------------------------------
// The rule

// Whether |node| picks along known axes, and its results are parts; notes which dims it cuts. Those
// of a slice or a gather may be expressions: they give the same dims of the source.
static bool is_picker(finder* f, stow_node node) {
  const stow_type* whole = stow_graph_type(f->graph, stow_graph_operands(f->graph, node)[0]);
  stow_op op = stow_graph_op(f->graph, node);
  bool slices = op == STOW_OP_SLICE, gathers = op == STOW_OP_GATHER;
  stowi_rewrite_pick p;
  bool is = (slices || gathers || op == STOW_OP_NARROW || op == STOW_OP_SPLIT) &&
            !f->is_used[node] && !stowi_rewrite_is_barrier(f->graph, node) &&
            !stowi_rewrite_is_bounded(f->graph, node) &&
            (slices ? stowi_rewrite_read_slice(f->graph, node, whole->rank, &p)
                    : stowi_rewrite_read_axis(f->graph, node, whole->rank, &p));
  for (size_t i = 0; is && i < p.axis_count; ++i) {
    is = slices || gathers || stow_dim_is_const(whole->dims[p.axes[i]]);
    f->is_cut[p.axes[i]] = true;
  }
  bool goes =
      is && gathers && stow_graph_type(f->graph, stow_graph_operands(f->graph, node)[1])->rank != 1;
  for (int64_t i = 0; goes && i <= p.axes[0]; ++i) {
    f->is_gone[i] = true;  // dims before it are elsewhere
  }
  for (size_t k = 1; is && k < stow_graph_operand_count(f->graph, node); ++k) {
    stow_value value = stow_graph_operands(f->graph, node)[k];
    is = value == STOW_VALUE_NONE || !stowi_bits_has(&f->pass->facts.fixed, root_of(f, value));
  }
  for (size_t k = 0; is && k < stow_graph_result_count(f->graph, node); ++k) {
    stow_value part = result_of(f, node) + (stow_value)k;
    is = stowi_rewrite_is_whole(f->graph, part) && !stowi_bits_has(&f->pass->facts.fixed, part);
  }
  return is;
}

// Those that nothing reads are left out. False if there are too many, or none: the node is dead.
static bool add_parts(finder* f, stow_node node) {
  size_t before = f->part_count;
  bool fits = true;
  for (size_t k = 0; fits && k < stow_graph_result_count(f->graph, node); ++k) {
    stow_value part = result_of(f, node) + (stow_value)k;
    if (f->pass->facts.readers[part] != 0 || stowi_bits_has(&f->pass->facts.outputs, part)) {
      fits = f->part_count < STOWI_REWRITE_MOST_PARTS;
      f->parts[fits ? f->part_count++ : 0] = part;
    }
  }
  return fits && f->part_count > before;
}

// What is picked from |whole|, if nothing else reads it.
static bool find_parts(finder* f, stow_value whole) {
  stow_node last = stow_graph_producer(f->graph, whole), first = f->firsts[whole];
  uint32_t missing = f->pass->facts.readers[whole];
  bool is_good = first != STOW_NODE_NONE && stow_graph_operands(f->graph, first)[0] == whole &&
                 !stowi_bits_has(&f->pass->facts.outputs, whole) &&
                 !stowi_bits_has(&f->pass->facts.fixed, whole);
  f->part_count = 0;
  for (stow_node node = first;
       is_good && missing != 0 && node - last < MOST_AWAY && node < stow_graph_node_count(f->graph);
       ++node) {
    if (stow_graph_operand_count(f->graph, node) != 0 &&
        stow_graph_operands(f->graph, node)[0] == whole) {
      is_good = stow_graph_node_region(f->graph, node) == stow_graph_node_region(f->graph, last) &&
                is_picker(f, node) && add_parts(f, node);
      --missing;
    }
  }
  return is_good && missing == 0 && f->part_count != 0;
}

static void use(finder* f, stow_value value) {
  stow_value root = root_of(f, value);
  if (!stow_graph_is_boundary(f->graph, root)) {
    f->is_used[stow_graph_producer(f->graph, root)] = true;
  }
}

// Others that read or make the same wait for the next pass.
static stow_status drop_group(finder* f) {
  for (size_t i = 0; i < f->count; ++i) {
    f->pass->is_dropped[f->nodes[i]] = f->is_used[f->nodes[i]] = true;
  }
  use(f, f->source);
  for (size_t i = 0; i < f->part_count; ++i) {
    use(f, f->parts[i]);
  }
  return stowi_rewrite_fire(f->pass, f->nodes, f->count);
}

static stow_status move_behind(finder* f) {
  stowi_rewrite_change change;
  (void)try_picked(f, true, true);
  STOW_TRY(drop_group(f));
  STOW_TRY(stowi_rewrite_moved(f->pass, f->nodes, f->count, f->source, &change));
  for (size_t i = 0; i < f->part_count; ++i) {
    stow_node node = stow_graph_producer(f->graph, f->parts[i]);
    f->pass->is_dropped[node] = f->is_used[node] = true;
    STOW_TRY(stowi_rewrite_move_behind(f->pass, &change, f->parts[i], step_of(f, f->parts[i])));
  }
  return STOW_OK;
}

static stow_status move_before(finder* f) {
  stowi_rewrite_change change;
  stow_node concat = stow_graph_producer(f->graph, f->source);
  (void)try_joined(f, true, true);
  STOW_TRY(drop_group(f));
  STOW_TRY(stowi_rewrite_moved(f->pass, f->nodes, f->count, f->source, &change));
  f->pass->is_dropped[concat] = f->is_used[concat] = true;
  return stowi_rewrite_move_before(f->pass, &change);
}

// What depends on a weight alone is folded, unless weights would grow.
static bool is_folded(const finder* f, stow_value whole) {
  stow_op op = stow_graph_op(f->graph, stow_graph_producer(f->graph, root_of(f, f->source)));
  return (op == STOW_OP_PARAM || op == STOW_OP_CONSTANT) &&
         bits_of(f, whole) <= bits_of(f, f->source);
}

static stow_status visit_picked(finder* f, stow_node last) {
  stow_value whole = result_of(f, last);
  uint64_t bytes = bytes_of(f, whole), picked = 0;
  if (!can_join(f, last, whole) || bytes < LEAST_BYTES || !find_parts(f, whole)) {
    return STOW_OK;
  }
  for (size_t i = 0; i < f->part_count; ++i) {
    picked = stowi_rewrite_add(picked, bytes_of(f, f->parts[i]));
  }
  for (grow_back(f, last); f->count != 0 && picked <= bytes;) {
    if (find_source(f) && !is_folded(f, whole) && gains(f, try_picked, picked < bytes)) {
      return move_behind(f);
    }
    memmove(f->nodes, f->nodes + 1, --f->count * sizeof(f->nodes[0]));
  }
  return STOW_OK;
}

static stow_status visit_concat(finder* f, stow_node concat) {
  const stow_value* operands = stow_graph_operands(f->graph, concat);
  stowi_rewrite_pick p;
  f->source = result_of(f, concat);
  f->part_count = stow_graph_operand_count(f->graph, concat);
  bool can = !f->is_used[concat] && f->part_count <= STOWI_REWRITE_MOST_PARTS &&
             bytes_of(f, f->source) >= LEAST_BYTES &&
             stowi_rewrite_can_fuse(&f->load, &f->pass->facts, f->graph, concat);
  for (size_t i = 0; can && i < f->part_count; ++i) {
    f->parts[i] = operands[i];
    can = !f->is_used[stow_graph_producer(f->graph, root_of(f, operands[i]))];
  }
  can = can &&
        stowi_rewrite_read_axis(f->graph, concat, stow_graph_type(f->graph, f->source)->rank, &p);
  if (can) {
    f->is_cut[p.axes[0]] = true;
    grow_forth(f);
    can = f->count != 0 && gains(f, try_joined, false);
  }
  return can ? move_before(f) : STOW_OK;
}

// The last node that needs operand |k| of |node|, or a view of it that this makes.
static stow_node end_of_views(const finder* f, stow_node node, size_t k) {
  stow_node end = node;
  for (size_t i = 0; i < stow_graph_result_count(f->graph, node); ++i) {
    stow_node seen = f->ends[result_of(f, node) + i];
    stow_view view;
    bool is_view = stow_graph_view(f->pass->sized, node, i, &view) && view.operand == k;
    end = is_view && seen > end ? seen : end;
  }
  return end;
}

// Where values are read, from the last node to the first.
static void find_readers(finder* f) {
  const stow_graph* graph = f->graph;
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    bool is_output = stowi_bits_has(&f->pass->facts.outputs, value);
    f->firsts[value] = STOW_NODE_NONE;
    f->ends[value] = is_output ? OUTPUT : stow_graph_producer(graph, value);
  }
  for (stow_node node = stow_graph_node_count(graph); node-- > 0;) {
    for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
      stow_value value = stow_graph_operands(graph, node)[k];
      if (value != STOW_VALUE_NONE) {
        stow_node end = end_of_views(f, node, k);
        end = end == OUTPUT ? OUTPUT : stowi_rewrite_end_of_read(graph, value, end);
        f->ends[value] = end > f->ends[value] ? end : f->ends[value];
        bool is_beside = stow_graph_node_region(graph, node) ==
                         stow_graph_node_region(graph, stow_graph_producer(graph, value));
        f->firsts[value] = is_beside ? node : STOW_NODE_NONE;
        f->is_joined[value] = f->is_joined[value] || stow_graph_op(graph, node) == STOW_OP_CONCAT;
      }
    }
  }
}

static stow_status visit_all(finder* f) {
  find_readers(f);
  for (stow_node node = 0; node < stow_graph_node_count(f->graph); ++node) {
    memset(f->is_cut, 0, sizeof(f->is_cut));
    memset(f->is_gone, 0, sizeof(f->is_gone));
    if (stow_graph_op(f->graph, node) == STOW_OP_CONCAT) {
      STOW_TRY(visit_concat(f, node));
    } else if (stow_graph_result_count(f->graph, node) == 1) {
      STOW_TRY(visit_picked(f, node));
    }
  }
  return STOW_OK;
}

static stow_status find_and_move(stowi_rewrite_pass* pass) {
  finder f = {.pass = pass, .graph = pass->graph};
  uint32_t values = stow_graph_value_count(pass->graph), nodes = stow_graph_node_count(pass->graph);
  f.firsts = STOWI_ARRAY(pass->allocator, stow_node, values);
  f.ends = STOWI_ARRAY(pass->allocator, stow_node, values);
  f.is_joined = STOWI_ARRAY_ZERO(pass->allocator, bool, values);
  f.is_used = STOWI_ARRAY_ZERO(pass->allocator, bool, nodes);
  stow_status status = stowi_rewrite_load_init(&f.load, pass->sized, pass->allocator, pass->diag);
  if (status == STOW_OK) {
    status = stowi_need_memory(
        f.firsts != NULL && f.ends != NULL && f.is_joined != NULL && f.is_used != NULL, pass->diag);
  }
  status = status == STOW_OK ? visit_all(&f) : status;
  STOWI_ARRAY_FREE(pass->allocator, f.firsts, values);
  STOWI_ARRAY_FREE(pass->allocator, f.ends, values);
  STOWI_ARRAY_FREE(pass->allocator, f.is_joined, values);
  STOWI_ARRAY_FREE(pass->allocator, f.is_used, nodes);
  stowi_rewrite_load_free(&f.load);
  return status;
}

// Splits come first: what they leave is looked at in the next round.
stow_status stowi_rewrite_parts(stowi_rewrite_pass* pass) {
  STOW_TRY(stowi_rewrite_splits(pass));
  return pass->fired != 0 ? STOW_OK : find_and_move(pass);
}

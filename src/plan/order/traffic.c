// Which nodes use which bytes, and precedence. The same uses that lifetimes are made of, but by
// node instead of by step, so that they hold in every order:
// - A value exists from the node that makes it to the last that reads it. A branch's yield writes
//   the results of its owner, and a loop collects results from its first step on.
// - What is used both in a loop and outside it exists throughout the loop: its `args` and its
//   `yield` count as readers.
// - For early writes, their node becomes the maker if it comes first in the given order; anything
//   else that begins before its maker is left out.
// Nodes run after the makers of their operands, after everything that touched the bytes they write
// into, and after those that effects name; `args` first and `yield` last in their region.
// O(n log n).
#include "plan/order/traffic.h"

#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "base/sort.h"
#include "graph/api.h"

static stow_region region_of(const stowi_plan_traffic* t, stow_node node) {
  return stow_graph_node_region(t->request->graph, node);
}

static stow_region made_in(const stowi_plan_traffic* t, stow_value value) {
  return region_of(t, stow_graph_producer(t->request->graph, value));
}

// A region comes after the one around it.
stow_region stowi_plan_common_region(const stow_graph* graph, stow_region a, stow_region b) {
  while (a != b) {
    if (a > b) {
      a = stowi_graph_region_parent(graph, a);
    } else {
      b = stowi_graph_region_parent(graph, b);
    }
  }
  return a;
}

// ---------------------------------------------------------------------------------------------
// Noting

static stow_status note_touch(stowi_plan_traffic* t, stow_value value, stow_node node,
                              bool in_place) {
  const stowi_plan_order_request* request = t->request;
  stowi_plan_traffic_info* info = stowi_plan_traffic_info_of(t, value);
  if (info->bytes == 0) {
    return STOW_OK;
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(request->allocator, &t->touches, 1) == STOW_OK,
                             request->diag));
  info->scope = stowi_plan_common_region(request->graph, info->scope, region_of(t, node));
  t->touches.data[t->touches.count++] = (stowi_plan_touch){0, value, node, in_place};
  return STOW_OK;
}

// |value| exists from |node| on, which runs before the node that makes it. A part of a root that
// exists early is left out: all parts of a root have the same maker.
static void note_early(stowi_plan_traffic* t, stow_value value, stow_node node) {
  stowi_plan_traffic_info* info = stowi_plan_traffic_info_of(t, value);
  info->scope = stowi_plan_common_region(t->request->graph, info->scope, region_of(t, node));
  bool is_first = stow_schedule_step(t->given, node) < stow_schedule_step(t->given, info->maker);
  if (is_first && (!info->windowed || stowi_plan_traffic_is_whole(t, value))) {
    info->maker = node;
  }
}

static stow_status note_before(stowi_plan_traffic* t, stow_node earlier, stow_node later) {
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(t->request->allocator, &t->befores, 1) == STOW_OK,
                             t->request->diag));
  stow_region region =
      stowi_plan_common_region(t->request->graph, region_of(t, earlier), region_of(t, later));
  t->befores.data[t->befores.count++] = (stowi_plan_before){region, earlier, later};
  return STOW_OK;
}

// Of a coarse root, only values that are all of it can be kept.
static void keep(stowi_plan_traffic* t, stow_value value, bool from_start, bool to_end) {
  stowi_plan_traffic_info* info = stowi_plan_traffic_info_of(t, value);
  uint32_t first;
  uint32_t count;
  stowi_plan_traffic_parts(t, value, &first, &count);
  info->scope = STOW_REGION_BODY;
  if (info->coarse && !stowi_plan_traffic_is_whole(t, value)) {
    return;
  }
  for (uint32_t i = first; i < first + count; ++i) {
    t->parts.data[i].from_start |= from_start;
    t->parts.data[i].to_end |= to_end;
  }
}

// ---------------------------------------------------------------------------------------------
// Uses

static bool is_loop_body(const stow_graph* graph, stow_region region) {
  stow_node owner = stowi_graph_region_owner(graph, region);
  return owner != STOW_NODE_NONE &&
         stow_graph_op_desc(graph, owner)->region_kind == STOW_REGION_LOOP;
}

// Covers the loops that contain only one of the user and the maker of |value|.
static stow_status cover_loops(stowi_plan_traffic* t, stow_value value, stow_region user) {
  const stow_graph* graph = t->request->graph;
  stow_region maker = made_in(t, value);
  while (user != maker) {
    bool inside = maker > user;
    stow_region deeper = inside ? maker : user;
    if (is_loop_body(graph, deeper)) {
      // |value| exists throughout the loop. |inside|: it is made there, so after the loop's first
      // step.
      stow_node args = stowi_graph_region_args(t->request->graph, deeper);
      if (args != STOW_NODE_NONE && inside) {
        note_early(t, value, args);
      } else if (args != STOW_NODE_NONE) {
        STOW_TRY(note_touch(t, value, args, false));
      }
      STOW_TRY(note_touch(t, value, stowi_graph_region_last(t->request->graph, deeper), false));
    }
    *(inside ? &maker : &user) = stowi_graph_region_parent(graph, deeper);
  }
  return STOW_OK;
}

static stow_status use(stowi_plan_traffic* t, stow_value value, stow_node node) {
  STOW_TRY(note_touch(t, value, node, false));
  return cover_loops(t, value, region_of(t, node));
}

static stow_status keep_to_end(stowi_plan_traffic* t, stow_value value) {
  keep(t, value, false, true);
  return cover_loops(t, value, STOW_REGION_BODY);
}

// ---------------------------------------------------------------------------------------------
// Births

// The number of values that |loop| carries between iterations.
static size_t carried_count(const stow_graph* graph, stow_node loop) {
  const stow_carry* carry = &stow_graph_op_desc(graph, loop)->carry;
  stow_region body = stow_graph_owned_region(graph, loop, 0);
  stow_node args = stowi_graph_region_args(graph, body);
  if (args == STOW_NODE_NONE) {
    return 0;
  }
  size_t counts[4] = {stow_graph_operand_count(graph, loop), stow_graph_result_count(graph, args),
                      stow_graph_operand_count(graph, stowi_graph_region_last(graph, body)),
                      stow_graph_result_count(graph, loop)};
  size_t firsts[4] = {carry->first_operand, carry->first_arg, carry->first_yield,
                      carry->first_result};
  size_t least = SIZE_MAX;
  for (size_t i = 0; i < 4; ++i) {
    size_t rest = counts[i] > firsts[i] ? counts[i] - firsts[i] : 0;
    least = rest < least ? rest : least;
  }
  return least;
}

// Whether operand |k| of |node| is the initial value of a carried one: the body reads it.
static bool is_initial(const stow_graph* graph, stow_node node, size_t k) {
  const stow_op_desc* desc = stow_graph_op_desc(graph, node);
  return desc->region_kind == STOW_REGION_LOOP && k >= desc->carry.first_operand &&
         k - desc->carry.first_operand < carried_count(graph, node);
}

static stow_node first_writer(const stow_graph* graph, stow_node owner, size_t k) {
  const stow_op_desc* desc = stow_graph_op_desc(graph, owner);
  if (desc->region_kind == STOW_REGION_NONE) {
    return owner;
  }
  stow_region region = stow_graph_owned_region(graph, owner, 0);
  stow_node args = stowi_graph_region_args(graph, region);
  if (desc->region_kind == STOW_REGION_LOOP) {
    bool carried =
        k >= desc->carry.first_result && k - desc->carry.first_result < carried_count(graph, owner);
    if (carried) {
      return owner;
    }
    return args != STOW_NODE_NONE ? args : stowi_graph_region_last(graph, region);
  }
  return stowi_graph_region_last(graph, region);
}

static stow_status add_births(stowi_plan_traffic* t, stow_node node) {
  const stow_graph* graph = t->request->graph;
  stow_value first = stow_graph_first_result(graph, node);
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    stow_value value = first + (stow_value)k;
    stow_node writer = first_writer(graph, node, k);
    if (writer != node) {
      note_early(t, value, writer);
    }
    STOW_TRY(note_touch(t, value, node, false));
  }
  return STOW_OK;
}

// A carried value has its bytes from the first step of the body until the loop's own.
static stow_status add_carried(stowi_plan_traffic* t, stow_node loop) {
  const stow_graph* graph = t->request->graph;
  const stow_carry* carry = &stow_graph_op_desc(graph, loop)->carry;
  stow_region body = stow_graph_owned_region(graph, loop, 0);
  stow_node args = stowi_graph_region_args(graph, body);
  size_t count = carried_count(graph, loop);
  for (size_t i = 0; i < count; ++i) {
    stow_value initial = stow_graph_operands(graph, loop)[carry->first_operand + i];
    stow_value argument = stow_graph_first_result(graph, args) + (stow_value)(carry->first_arg + i);
    if (initial != STOW_VALUE_NONE) {
      STOW_TRY(note_touch(t, initial, args, false));
      STOW_TRY(cover_loops(t, initial, region_of(t, loop)));
    }
    STOW_TRY(note_touch(t, argument, stowi_graph_region_last(graph, body), false));
    STOW_TRY(use(t, argument, loop));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Effects and policies

static stow_status add_holds(stowi_plan_traffic* t) {
  const stow_effects* effects = t->request->effects;
  for (size_t i = 0; i < stowi_effects_hold_count(effects); ++i) {
    stowi_effects_hold_entry hold = stowi_effects_hold(effects, i);
    stow_value value = stow_graph_operands(t->request->graph, hold.node)[hold.operand];
    if (value == STOW_VALUE_NONE) {
      continue;
    }
    if (hold.until == STOW_STEP_END) {
      STOW_TRY(keep_to_end(t, value));
      continue;
    }
    t->idle[hold.until] = false;
    STOW_TRY(use(t, value, hold.until));
    STOW_TRY(note_before(t, hold.node, hold.until));
  }
  return STOW_OK;
}

static stow_status add_early_writes(stowi_plan_traffic* t) {
  const stow_effects* effects = t->request->effects;
  for (size_t i = 0; i < stowi_effects_early_write_count(effects); ++i) {
    stowi_effects_early_write_entry early = stowi_effects_early_write(effects, i);
    stow_value value = stow_graph_first_result(t->request->graph, early.node);
    t->idle[early.node] = false;
    t->idle[early.from] = false;
    note_early(t, value + (stow_value)early.result, early.from);
    STOW_TRY(note_before(t, early.from, early.node));
  }
  return STOW_OK;
}

static stow_status add_scratch(stowi_plan_traffic* t) {
  const stow_effects* effects = t->request->effects;
  for (size_t i = 0; i < stowi_effects_scratch_count(effects); ++i) {
    stowi_effects_scratch_entry scratch = stowi_effects_scratch(effects, i);
    uint64_t* sum = &t->scratch[scratch.node];
    if (!stowi_add_u64(*sum, scratch.bytes, sum)) {
      return stowi_fail(t->request->diag, STOW_ERR_OVERFLOW, "scratch needs more than 64 bits");
    }
    t->idle[scratch.node] = false;
  }
  return STOW_OK;
}

static bool is_consumed(const stowi_plan_traffic* t, stow_value value) {
  stow_node producer = stow_graph_producer(t->request->graph, value);
  stow_io_policy io = stowi_effects_io(t->request->effects, value);
  io = io == STOW_IO_DEFAULT ? t->request->options->io : io;
  return io == STOW_IO_CONSUME && stow_graph_op(t->request->graph, producer) == STOW_OP_INPUT;
}

static stow_status add_policies(stowi_plan_traffic* t) {
  const stow_graph* graph = t->request->graph;
  for (stow_value value = 0; value < t->value_count; ++value) {
    if (stowi_effects_state(t->request->effects, value)) {
      keep(t, value, true, true);
    }
    if (stow_graph_is_boundary(graph, value)) {
      keep(t, value, true, !is_consumed(t, value));
    }
  }
  const stow_value* outputs = stow_graph_outputs(graph);
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    STOW_TRY(keep_to_end(t, outputs[i]));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Reads

// Whether reading |value| as a block places the reader after the node that makes it.
static bool orders_readers(const stowi_plan_traffic* t, stow_value value) {
  const stowi_plan_traffic_info* info = stowi_plan_traffic_info_of(t, value);
  stow_node producer = stow_graph_producer(t->request->graph, value);
  uint32_t first;
  uint32_t count;
  stowi_plan_traffic_parts(t, value, &first, &count);
  return count != 0 && info->maker == producer && info->scope == region_of(t, producer) &&
         !t->parts.data[first].from_start;
}

// Whether a pair of |node|, from |at| on, is not simple.
static bool has_rough_in_place(const stowi_plan_traffic* t, size_t at, stow_node node) {
  for (; at < t->pairs.count && t->pairs.data[at].node == node; ++at) {
    if (!t->pairs.data[at].simple) {
      return true;
    }
  }
  return false;
}

// Whether one is for |value|.
static bool is_rough_in_place(const stowi_plan_traffic* t, size_t at, stow_node node,
                              stow_value value) {
  for (; at < t->pairs.count && t->pairs.data[at].node == node; ++at) {
    if (t->pairs.data[at].operand == value && !t->pairs.data[at].simple) {
      return true;
    }
  }
  return false;
}

static stow_status add_reads(stowi_plan_traffic* t) {
  size_t at = 0;
  for (stow_node node = 0; node < t->node_count; ++node) {
    while (at < t->pairs.count && t->pairs.data[at].node < node) {
      ++at;
    }
    // |at|: the first pair of |node| or of a later one.
    const stow_graph* graph = t->request->graph;
    bool rough = has_rough_in_place(t, at, node);
    const stow_value* operands = stow_graph_operands(graph, node);
    for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
      if (operands[k] == STOW_VALUE_NONE) {
        continue;
      }
      if (!orders_readers(t, operands[k]) || is_initial(graph, node, k)) {
        STOW_TRY(note_before(t, stow_graph_producer(graph, operands[k]), node));
      }
      if (!is_initial(graph, node, k)) {
        STOW_TRY(
            note_touch(t, operands[k], node, rough && is_rough_in_place(t, at, node, operands[k])));
        STOW_TRY(cover_loops(t, operands[k], region_of(t, node)));
      }
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Writers, and regions

// By the views of the op table, as schedules are checked. For each root, the nodes that used it
// since the last write, as a list through |users|.
#define NO_USER SIZE_MAX
typedef struct byte_user {
  stow_node node;
  size_t next;
} byte_user;
typedef struct writer_pass {
  stowi_plan_traffic* traffic;
  stow_value* root;  // by value
  size_t* last;      // by root: the last user
  STOWI_VEC(byte_user) users;
} writer_pass;

static stow_status push_user(writer_pass* pass, stow_value root, stow_node node) {
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(pass->traffic->request->allocator, &pass->users, 1) == STOW_OK,
      pass->traffic->request->diag));
  pass->users.data[pass->users.count] = (byte_user){node, pass->last[root]};
  pass->last[root] = pass->users.count++;
  return STOW_OK;
}

// |node| writes into |root|: it follows everything that used it, and precedes everything that will.
static stow_status write_root(writer_pass* pass, stow_value root, stow_node node) {
  for (size_t i = pass->last[root]; i != NO_USER; i = pass->users.data[i].next) {
    if (pass->users.data[i].node != node) {
      STOW_TRY(note_before(pass->traffic, pass->users.data[i].node, node));
    }
  }
  pass->last[root] = NO_USER;
  return push_user(pass, root, node);
}

static stow_status pass_results(writer_pass* pass, stow_node node) {
  const stow_graph* graph = pass->traffic->request->graph;
  bool writes = stow_graph_op_desc(graph, node)->writes_view;
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    stow_value value = stow_graph_first_result(graph, node) + (stow_value)k;
    stow_view view;
    pass->root[value] = value;
    pass->last[value] = NO_USER;
    if (!stow_graph_view(graph, node, k, &view)) {
      continue;
    }
    pass->root[value] = pass->root[stow_graph_operands(graph, node)[view.operand]];
    if (writes) {
      STOW_TRY(write_root(pass, pass->root[value], node));
    }
  }
  return STOW_OK;
}

static stow_status pass_node(writer_pass* pass, stow_node node) {
  const stow_graph* graph = pass->traffic->request->graph;
  STOW_TRY(pass_results(pass, node));
  const stow_value* operands = stow_graph_operands(graph, node);
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    if (operands[k] != STOW_VALUE_NONE) {
      STOW_TRY(push_user(pass, pass->root[operands[k]], node));
    }
  }
  return STOW_OK;
}

static bool has_writers(const stowi_plan_traffic* t) {
  for (stow_node node = 0; node < t->node_count; ++node) {
    if (stow_graph_op_desc(t->request->graph, node)->writes_view) {
      return true;
    }
  }
  return false;
}

static stow_status add_writers(stowi_plan_traffic* t) {
  stow_allocator allocator = t->request->allocator;
  if (!has_writers(t)) {
    return STOW_OK;
  }
  writer_pass pass = {.traffic = t,
                      .root = STOWI_ARRAY(allocator, stow_value, t->value_count),
                      .last = STOWI_ARRAY(allocator, size_t, t->value_count)};
  stow_status status = STOW_OK;
  if (pass.root == NULL || pass.last == NULL) {
    status = stowi_fail_memory(t->request->diag);
  }
  for (stow_node node = 0; status == STOW_OK && node < t->node_count; ++node) {
    status = pass_node(&pass, node);
  }
  STOWI_ARRAY_FREE(allocator, pass.root, t->value_count);
  STOWI_ARRAY_FREE(allocator, pass.last, t->value_count);
  STOWI_VEC_FREE(allocator, &pass.users);
  return status;
}

static stow_status order_region(stowi_plan_traffic* t, stow_region region) {
  const stow_graph* graph = t->request->graph;
  stow_node args = stowi_graph_region_args(graph, region);
  stow_node yield = stowi_graph_region_last(graph, region);
  for (uint32_t i = t->start[region]; i < t->start[region + 1]; ++i) {
    if (args != STOW_NODE_NONE && t->nodes[i] != args) {
      STOW_TRY(note_before(t, args, t->nodes[i]));
    }
    if (t->nodes[i] != yield) {
      STOW_TRY(note_before(t, t->nodes[i], yield));
    }
  }
  return note_before(t, yield, stowi_graph_region_owner(graph, region));
}

// ---------------------------------------------------------------------------------------------

// Bucket sort of the nodes by region.
static void list_nodes(stowi_plan_traffic* t) {
  for (stow_node node = 0; node < t->node_count; ++node) {
    ++t->start[region_of(t, node) + 1];
  }
  for (stow_region region = 0; region < t->region_count; ++region) {
    t->start[region + 1] += t->start[region];
  }
  for (uint32_t step = t->node_count; step-- > 0;) {
    stow_node node = stow_schedule_order(t->given)[step];
    t->nodes[--t->start[region_of(t, node) + 1]] = node;
  }
  // Each region's end has moved to its beginning.
  memmove(t->start, t->start + 1, t->region_count * sizeof(*t->start));
  t->start[t->region_count] = t->node_count;
}

static bool is_boundary_node(const stow_graph* graph, stow_node node) {
  stow_op op = stow_graph_op(graph, node);
  return op == STOW_OP_INPUT || op == STOW_OP_PARAM || op == STOW_OP_CONSTANT;
}

static stow_status allocate(stowi_plan_traffic* t) {
  const stow_graph* graph = t->request->graph;
  stow_allocator allocator = t->request->allocator;
  t->node_count = stow_graph_node_count(graph);
  t->value_count = stow_graph_value_count(graph);
  t->region_count = stow_graph_region_count(graph);
  t->scratch = STOWI_ARRAY_ZERO(allocator, uint64_t, t->node_count);
  t->idle = STOWI_ARRAY(allocator, bool, t->node_count);
  t->nodes = STOWI_ARRAY(allocator, stow_node, t->node_count);
  t->start = STOWI_ARRAY_ZERO(allocator, uint32_t, (size_t)t->region_count + 1);
  t->infos = STOWI_ARRAY_ZERO(allocator, stowi_plan_traffic_info, t->value_count);
  STOW_TRY(stowi_need_memory(t->scratch != NULL && t->idle != NULL && t->nodes != NULL &&
                                 t->start != NULL && t->infos != NULL,
                             t->request->diag));
  for (stow_node node = 0; node < t->node_count; ++node) {
    t->idle[node] = is_boundary_node(graph, node);
  }
  list_nodes(t);
  return STOW_OK;
}

static stow_status sort_lists(stowi_plan_traffic* t) {
  stow_allocator allocator = t->request->allocator;
  for (size_t i = 0; i < t->roots.count; ++i) {
    t->roots.data[i].scope = t->infos[t->roots.data[i].value].scope;
  }
  for (size_t i = 0; i < t->touches.count; ++i) {
    t->touches.data[i].scope = stowi_plan_traffic_info_of(t, t->touches.data[i].value)->scope;
  }
  if (t->region_count <= 1) {
    return STOW_OK;
  }
  STOW_TRY(stowi_sort_by_key(t->roots.data, t->roots.count, sizeof(stowi_plan_root), allocator));
  STOW_TRY(
      stowi_sort_by_key(t->touches.data, t->touches.count, sizeof(stowi_plan_touch), allocator));
  STOW_TRY(
      stowi_sort_by_key(t->befores.data, t->befores.count, sizeof(stowi_plan_before), allocator));
  STOW_TRY(stowi_sort_by_key(t->pairs.data, t->pairs.count, sizeof(stowi_plan_in_place_pair),
                             allocator));
  return stowi_sort_by_key(t->elisions.data, t->elisions.count, sizeof(stowi_plan_traffic_elision),
                           allocator);
}

// A graph of boundary nodes alone needs bytes too, at one of them.
static void keep_a_task(stowi_plan_traffic* t) {
  for (stow_node node = 0; node < t->node_count; ++node) {
    if (!t->idle[node]) {
      return;
    }
  }
  t->idle[stow_schedule_order(t->given)[t->node_count - 1]] = false;
}

static stow_status allocate_work(stowi_plan_traffic* t) {
  stow_allocator allocator = t->request->allocator;
  t->task_of = STOWI_ARRAY(allocator, stowi_flow_task, t->node_count);
  t->block_of = STOWI_ARRAY(allocator, stowi_flow_block, t->parts.count);
  bool complete = t->task_of != NULL && t->block_of != NULL;
  return complete ? STOW_OK : stowi_fail_memory(t->request->diag);
}

static stow_status fill(stowi_plan_traffic* t) {
  const stow_graph* graph = t->request->graph;
  STOW_TRY(allocate(t));
  STOW_TRY(stowi_plan_traffic_fill_infos(t));
  for (stow_node node = 0; node < t->node_count; ++node) {
    STOW_TRY(add_births(t, node));
    if (stow_graph_op_desc(graph, node)->region_kind == STOW_REGION_LOOP) {
      STOW_TRY(add_carried(t, node));
    }
  }
  STOW_TRY(add_scratch(t));
  STOW_TRY(add_holds(t));
  STOW_TRY(add_early_writes(t));
  STOW_TRY(add_policies(t));
  STOW_TRY(stowi_plan_traffic_in_place(t));
  STOW_TRY(add_reads(t));
  STOW_TRY(add_writers(t));
  for (stow_region region = 1; region < t->region_count; ++region) {
    STOW_TRY(order_region(t, region));
  }
  STOW_TRY(stowi_plan_traffic_elisions(t));
  STOW_TRY(allocate_work(t));
  keep_a_task(t);
  return sort_lists(t) == STOW_OK ? STOW_OK : stowi_fail_memory(t->request->diag);
}

stow_status stowi_plan_traffic_create(const stowi_plan_order_request* request,
                                      const stow_schedule* given, stowi_plan_traffic* out_traffic) {
  memset(out_traffic, 0, sizeof(*out_traffic));
  out_traffic->request = request;
  out_traffic->given = given;
  stow_status status = fill(out_traffic);
  if (status != STOW_OK) {
    stowi_plan_traffic_destroy(out_traffic);
  }
  return status;
}

void stowi_plan_traffic_destroy(stowi_plan_traffic* t) {
  stow_allocator allocator = t->request->allocator;
  STOWI_ARRAY_FREE(allocator, t->scratch, t->node_count);
  STOWI_ARRAY_FREE(allocator, t->idle, t->node_count);
  STOWI_ARRAY_FREE(allocator, t->nodes, t->node_count);
  STOWI_ARRAY_FREE(allocator, t->start, (size_t)t->region_count + 1);
  STOWI_ARRAY_FREE(allocator, t->infos, t->value_count);
  STOWI_ARRAY_FREE(allocator, t->task_of, t->node_count);
  STOWI_ARRAY_FREE(allocator, t->block_of, t->parts.count);
  STOWI_VEC_FREE(allocator, &t->parts);
  STOWI_VEC_FREE(allocator, &t->roots);
  STOWI_VEC_FREE(allocator, &t->touches);
  STOWI_VEC_FREE(allocator, &t->befores);
  STOWI_VEC_FREE(allocator, &t->pairs);
  STOWI_VEC_FREE(allocator, &t->elisions);
}

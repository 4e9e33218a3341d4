// The oracle: every byte of the arena has a tag, which identifies the write and the byte of it. A
// concat moves its operands' tags, so that it does not matter whether it copies. What no root
// occupies at a step is poisoned before it.
#include "test_check_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/api.h"
#include "graph/api.h"
#include "plan/api.h"
#include "plan/plan_internal.h"

typedef struct tag {
  uint32_t content;  // a number for each write; or one of those below
  uint32_t index;    // which byte of it
} tag;

#define SCRATCH_CONTENT UINT32_C(0xf0000000)
#define EARLY_CONTENT UINT32_C(0xf1000000)
#define GUARD_CONTENT UINT32_C(0xf2000000)
#define STATE_CONTENT UINT32_C(0xf3000000)
#define RESERVED_CONTENT UINT32_C(0xf4000000)
#define POISON UINT32_C(0xfffffffe)

struct oracle_memory {
  tag* tags;
  uint64_t size;
  uint32_t writes;  // done so far
};

typedef struct oracle {
  const stow_plan* plan;
  const stow_graph* graph;
  const stow_effects* effects;
  uint64_t branches;
  tag* memory;
  tag** expected;    // by value: what its bytes must be; NULL if it has none
  bool* covered;     // by byte of the arena: whether a root occupies it
  uint32_t writes;   // done so far
  bool* executed;    // by node
  uint32_t* rounds;  // by region: finished in the current run of its loop
  uint32_t* first;   // by region: its first step
  uint32_t* last;    // by region: its last step, the yield's
  bool takes_turns;  // what the plan reserves belongs to others
  bool failed;
  char* why;
  size_t why_size;
} oracle;

static uint64_t steps_run;

uint64_t oracle_steps(void) { return steps_run; }

static uint32_t step_node(const oracle* o, uint32_t step) { return stow_plan_order(o->plan)[step]; }

static void fail(oracle* o, const char* what, uint32_t number, uint64_t at) {
  if (!o->failed) {
    snprintf(o->why, o->why_size, "%s %u, byte %llu", what, number, (unsigned long long)at);
  }
  o->failed = true;
}

// ---------------------------------------------------------------------------------------------
// Bytes

static bool in_arena(const oracle* o, uint64_t offset, uint64_t size) {
  return offset <= o->plan->arena_size && size <= o->plan->arena_size - offset;
}

static void fill(oracle* o, uint64_t offset, uint64_t size, uint32_t content) {
  if (!in_arena(o, offset, size)) {
    fail(o, "outside the arena:", content, offset);
    return;
  }
  for (uint64_t i = 0; i < size; ++i) {
    o->memory[offset + i] = (tag){content, (uint32_t)i};
  }
}

static void expect(oracle* o, uint64_t offset, uint64_t size, tag first, const char* what,
                   uint32_t number) {
  if (!in_arena(o, offset, size)) {
    fail(o, "outside the arena:", number, offset);
    return;
  }
  for (uint64_t i = 0; i < size; ++i) {
    tag is = o->memory[offset + i];
    if (is.content != first.content || is.index != first.index + i) {
      fail(o, what, number, i);
      return;
    }
  }
}

// Writes |from| into bytes of the arena, each tag as it is.
static void store(oracle* o, uint64_t offset, uint64_t size, const tag* from) {
  if (!in_arena(o, offset, size)) {
    fail(o, "outside the arena:", 0, offset);
    return;
  }
  memmove(&o->memory[offset], from, (size_t)size * sizeof(tag));
}

static void expect_tags(oracle* o, uint64_t offset, uint64_t size, const tag* tags,
                        const char* what, uint32_t number) {
  if (!in_arena(o, offset, size)) {
    fail(o, "outside the arena:", number, offset);
    return;
  }
  for (uint64_t i = 0; i < size; ++i) {
    tag is = o->memory[offset + i];
    if (is.content != tags[i].content || is.index != tags[i].index) {
      fail(o, what, number, i);
      return;
    }
  }
}

static void write_value(oracle* o, stow_value value) {
  stow_slot slot;
  if (stow_plan_value_slot(o->plan, value, &slot) && o->expected[value] != NULL) {
    o->writes += 1;
    for (uint64_t i = 0; i < slot.size; ++i) {
      o->expected[value][i] = (tag){o->writes, (uint32_t)i};
    }
    store(o, slot.offset, slot.size, o->expected[value]);
  }
}

static void read_value(oracle* o, stow_value value, const char* what) {
  stow_slot slot;
  if (value != STOW_VALUE_NONE && stow_plan_value_slot(o->plan, value, &slot) &&
      o->expected[value] != NULL) {
    expect_tags(o, slot.offset, slot.size, o->expected[value], what, value);
  }
}

// ---------------------------------------------------------------------------------------------
// Views

static uint64_t width_bits(const oracle* o, stow_value value) {
  uint64_t bits = stow_dtype_bits(stow_graph_type(o->graph, value)->dtype);
  return o->plan->facts.f32_uniform && bits < 32 ? 32 : bits;
}

// The operand that the result is a view of, and where in it.
static bool view_of(const oracle* o, stow_node node, size_t k, size_t* out_operand,
                    uint64_t* out_offset) {
  stow_value value = stow_graph_first_result(o->graph, node) + (stow_value)k;
  stow_view view;
  if (stow_plan_root(o->plan, value) == value) {
    return false;
  }
  if (stowi_effects_inside(o->effects, value, out_operand, out_offset)) {
    return true;
  }
  if (!stow_graph_view(o->graph, node, k, &view) ||
      (view.extended && o->plan->facts.classic_views)) {
    return false;
  }
  stow_value parent = stow_graph_operands(o->graph, node)[view.operand];
  uint64_t bits = view.element_offset * width_bits(o, parent);
  *out_operand = view.operand;
  *out_offset = bits / 8;
  return bits % 8 == 0;
}

// Whether the result needs no write, as the bytes are already there; returns what they must be.
static bool is_pure_view(oracle* o, stow_node node, size_t k) {
  stow_value value = stow_graph_first_result(o->graph, node) + (stow_value)k;
  size_t operand;
  uint64_t offset;
  stow_slot slot, from;
  if (!view_of(o, node, k, &operand, &offset) || stow_graph_op_desc(o->graph, node)->writes_view) {
    return false;
  }
  stow_value parent = stow_graph_operands(o->graph, node)[operand];
  if (stow_plan_value_slot(o->plan, value, &slot) && slot.size > 0) {
    if (!stow_plan_value_slot(o->plan, parent, &from) || offset > from.size ||
        slot.size > from.size - offset) {
      fail(o, "view outside its operand:", value, 0);
    } else {
      memcpy(o->expected[value], o->expected[parent] + offset, (size_t)slot.size * sizeof(tag));
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Concat: the bytes of the operands one after the other

static bool is_plain_concat(const oracle* o, stow_node node) {
  stow_value result = stow_graph_first_result(o->graph, node);
  const stow_type* type = stow_graph_type(o->graph, result);
  stow_slot slot, from;
  uint64_t needed = 0;  // bits
  if (stow_graph_op(o->graph, node) != STOW_OP_CONCAT ||
      !stow_plan_value_slot(o->plan, result, &slot)) {
    return false;
  }
  for (size_t k = 0; k < stow_graph_operand_count(o->graph, node); ++k) {
    uint64_t elements = 0;
    stow_type_elements(stow_graph_type(o->graph, stow_graph_operands(o->graph, node)[k]),
                       &elements);
    uint64_t bits = elements * width_bits(o, result);
    needed += bits;
    // Storage may have been declared that is less than elements of uniform width need.
    if (stow_plan_value_slot(o->plan, stow_graph_operands(o->graph, node)[k], &from) &&
        from.size < bits / 8 + (bits % 8 != 0)) {
      return false;
    }
  }
  uint64_t declared = stowi_effects_storage(o->effects, result);
  if (declared != STOW_BYTES_DEFAULT && declared < needed / 8 + (needed % 8 != 0)) {
    return false;
  }
  int64_t axis = stow_graph_attr(o->graph, node, "axis")->i;
  for (int64_t i = 0; i < (axis < 0 ? axis + (int64_t)type->rank : axis); ++i) {
    if (type->dims[i] != 1) {
      return false;
    }
  }
  return true;
}

// Bits of the type, whatever the storage.
static uint64_t type_bits(const oracle* o, stow_value value) {
  uint64_t elements = 0;
  stow_type_elements(stow_graph_type(o->graph, value), &elements);
  return elements * width_bits(o, value);
}

// One operand after the other, each checked right before: what an earlier one's copy overwrites is
// found. One without a slot comes from elsewhere; one that begins inside a byte is written again.
static void run_concat(oracle* o, stow_node node) {
  stow_value result = stow_graph_first_result(o->graph, node);
  stow_slot slot, from;
  uint64_t bits = 0;
  stow_plan_value_slot(o->plan, result, &slot);
  for (size_t k = 0; k < stow_graph_operand_count(o->graph, node); ++k) {
    stow_value operand = stow_graph_operands(o->graph, node)[k];
    bool has_slot = stow_plan_value_slot(o->plan, operand, &from);
    bool is_whole = bits % 8 == 0;
    uint64_t at = bits / 8;
    bits += type_bits(o, operand);
    uint64_t size = bits / 8 + (bits % 8 != 0) - at;
    tag* to = o->expected[result] + at;
    if (at + size > slot.size || (has_slot && is_whole && from.size < size)) {
      fail(o, "size in concat:", operand, size);
      return;
    }
    read_value(o, operand, "operand of concat");
    o->writes += 1;
    for (uint64_t i = 0; i < size; ++i) {
      to[i] = has_slot && is_whole ? o->expected[operand][i] : (tag){o->writes, (uint32_t)i};
    }
    store(o, slot.offset + at, size, to);
  }
  for (uint64_t at = bits / 8 + (bits % 8 != 0); at < slot.size; ++at) {
    o->expected[result][at] = (tag){o->writes, UINT32_MAX - (uint32_t)at};
    store(o, slot.offset + at, 1, &o->expected[result][at]);
  }
}

// ---------------------------------------------------------------------------------------------
// In place: a kernel may write its results before it has read its operands, but for what it is said
// to read in time.

static bool overlap(const oracle* o, stow_value a, stow_value b) {
  stow_slot x, y;
  return stow_plan_value_slot(o->plan, a, &x) && stow_plan_value_slot(o->plan, b, &y) &&
         x.size > 0 && y.size > 0 && x.offset < y.offset + y.size && y.offset < x.offset + x.size;
}

static stow_in_place in_place_of(const oracle* o, stow_node node, size_t k, size_t operand) {
  stow_in_place in_place = o->plan->facts.in_place ? stow_graph_in_place(o->graph, node, k, operand)
                                                   : STOW_IN_PLACE_NEVER;
  for (size_t i = 0; i < stowi_effects_overwrite_count(o->effects); ++i) {
    stowi_effects_in_place_entry entry = stowi_effects_overwrite(o->effects, i);
    bool allowed = entry.node == node && entry.result == k && entry.operand == operand;
    in_place = allowed && in_place == STOW_IN_PLACE_NEVER ? STOW_IN_PLACE_ALONE : in_place;
  }
  for (size_t i = 0; i < stowi_effects_forbidden_count(o->effects); ++i) {
    stowi_effects_in_place_entry entry = stowi_effects_forbidden(o->effects, i);
    bool forbidden = entry.node == node && entry.result == k && entry.operand == operand;
    in_place = forbidden ? STOW_IN_PLACE_NEVER : in_place;
  }
  return in_place;
}

static bool is_read_in_time(const oracle* o, stow_node node, size_t k, size_t operand) {
  const stow_value* operands = stow_graph_operands(o->graph, node);
  stow_value value = stow_graph_first_result(o->graph, node) + (stow_value)k;
  size_t viewed;
  uint64_t offset;
  stow_slot result, mine, other;
  if (view_of(o, node, k, &viewed, &offset)) {
    return viewed == operand;
  }
  stow_in_place in_place = in_place_of(o, node, k, operand);
  stow_plan_value_slot(o->plan, value, &result);
  stow_plan_value_slot(o->plan, operands[operand], &mine);
  if (in_place == STOW_IN_PLACE_NEVER || mine.offset != result.offset || mine.size < result.size) {
    return false;
  }
  for (size_t j = 0; j < stow_graph_operand_count(o->graph, node); ++j) {
    if (j == operand || operands[j] == STOW_VALUE_NONE || !overlap(o, value, operands[j])) {
      continue;
    }
    stow_plan_value_slot(o->plan, operands[j], &other);
    if (in_place != STOW_IN_PLACE_INDEX || in_place_of(o, node, k, j) != STOW_IN_PLACE_INDEX ||
        other.offset != mine.offset || other.size != mine.size) {
      return false;
    }
  }
  return true;
}

// Whether a concat is in place of an operand whose place in the result is a different one: its
// kernel moves that in time.
static bool moves_operand(const oracle* o, stow_node node) {
  stow_value result = stow_graph_first_result(o->graph, node);
  uint64_t before = 0;
  for (size_t k = 0; k < stow_graph_operand_count(o->graph, node); ++k) {
    stow_value operand = stow_graph_operands(o->graph, node)[k];
    if (before > 0 && overlap(o, result, operand) && is_read_in_time(o, node, 0, k)) {
      return true;
    }
    before += type_bits(o, operand);
  }
  return false;
}

static void check_kernel(oracle* o, stow_node node) {
  for (size_t k = 0; k < stow_graph_result_count(o->graph, node); ++k) {
    stow_value value = stow_graph_first_result(o->graph, node) + (stow_value)k;
    size_t viewed;
    uint64_t offset;
    bool writes =
        stow_graph_op_desc(o->graph, node)->writes_view || !view_of(o, node, k, &viewed, &offset);
    for (size_t j = 0; writes && j < stow_graph_operand_count(o->graph, node); ++j) {
      stow_value operand = stow_graph_operands(o->graph, node)[j];
      if (operand != STOW_VALUE_NONE && overlap(o, value, operand) &&
          !is_read_in_time(o, node, k, j)) {
        fail(o, "operand that is overwritten:", operand, j);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Regions

static stow_node owner_of(const oracle* o, stow_node node) {
  stow_region region = stow_graph_node_region(o->graph, node);
  return region == STOW_REGION_BODY ? STOW_NODE_NONE : stowi_graph_region_owner(o->graph, region);
}

static bool is_loop(const oracle* o, stow_node node) {
  return node != STOW_NODE_NONE &&
         stow_graph_op_desc(o->graph, node)->region_kind == STOW_REGION_LOOP;
}

static size_t carried_count(const oracle* o, stow_node loop) {
  size_t operands = stow_graph_operand_count(o->graph, loop);
  return operands > 2 ? operands - 2 : 0;
}

static stow_value argument(const oracle* o, stow_node loop, size_t k) {
  stow_region body = stow_graph_owned_region(o->graph, loop, 0);
  return stow_graph_first_result(o->graph, stowi_graph_region_first(o->graph, body)) + 2 +
         (stow_value)k;
}

static void run_args(oracle* o, stow_node node) {
  stow_node loop = owner_of(o, node);
  stow_value first = stow_graph_first_result(o->graph, node);
  write_value(o, first);
  write_value(o, first + 1);
  if (o->rounds[stow_graph_node_region(o->graph, node)] > 0) {
    return;  // the yield wrote what is carried
  }
  for (size_t k = 0; k < carried_count(o, loop); ++k) {
    read_value(o, stow_graph_operands(o->graph, loop)[2 + k], "initial value");
  }
  for (size_t k = 0; k < carried_count(o, loop); ++k) {
    write_value(o, first + 2 + (stow_value)k);
  }
}

// Reads have been done: everything that a yield returns moves at once.
static void run_yield(oracle* o, stow_node node) {
  stow_node owner = owner_of(o, node);
  stow_value first = stow_graph_first_result(o->graph, owner);
  size_t results = stow_graph_result_count(o->graph, owner);
  for (size_t k = 0; k < results; ++k) {
    bool carried = is_loop(o, owner) && k < carried_count(o, owner);
    write_value(o, carried ? argument(o, owner, k) : first + (stow_value)k);
  }
}

static void run_owner(oracle* o, stow_node node) {
  stow_value first = stow_graph_first_result(o->graph, node);
  size_t results = stow_graph_result_count(o->graph, node);
  size_t carried = is_loop(o, node) ? carried_count(o, node) : 0;
  for (size_t k = 0; k < carried; ++k) {
    read_value(o, argument(o, node, k), "final argument");
  }
  for (size_t k = carried; k < results; ++k) {
    read_value(o, first + (stow_value)k, "result");
  }
  for (size_t k = 0; k < carried; ++k) {
    write_value(o, first + (stow_value)k);
  }
}

// ---------------------------------------------------------------------------------------------
// One step

static void run_plain(oracle* o, stow_node node) {
  if (is_plain_concat(o, node) && !is_pure_view(o, node, 0) && !moves_operand(o, node)) {
    run_concat(o, node);
    return;
  }
  check_kernel(o, node);
  size_t results = stow_graph_result_count(o->graph, node);
  stow_value first = stow_graph_first_result(o->graph, node);
  for (size_t k = 0; k < results; ++k) {
    stow_value value = first + (stow_value)k;
    if (stow_graph_is_boundary(o->graph, value) || is_pure_view(o, node, k)) {
      continue;
    }
    stow_slot slot;
    if (stowi_effects_state(o->effects, value) && !o->executed[node] &&
        stow_plan_root(o->plan, value) == value && stow_plan_value_slot(o->plan, value, &slot)) {
      expect(o, slot.offset, slot.size, (tag){STATE_CONTENT + value, 0}, "state", value);
    }
    write_value(o, value);
  }
}

static void start_early(oracle* o, stow_node node) {
  for (size_t i = 0; i < stowi_effects_early_write_count(o->effects); ++i) {
    stowi_effects_early_write_entry early = stowi_effects_early_write(o->effects, i);
    stow_value value = stow_graph_first_result(o->graph, early.node) + (stow_value)early.result;
    stow_slot slot;
    size_t viewed;
    uint64_t offset;
    bool writes = stow_graph_op_desc(o->graph, early.node)->region_count == 0 &&
                          stow_graph_op(o->graph, early.node) != STOW_OP_ARGS
                      ? !view_of(o, early.node, early.result, &viewed, &offset)
                      : stow_plan_root(o->plan, value) == value;
    if (early.from == node && !stow_graph_is_boundary(o->graph, value) &&
        !stowi_effects_state(o->effects, value) && writes &&
        stow_plan_value_slot(o->plan, value, &slot)) {
      fill(o, slot.offset, slot.size, EARLY_CONTENT + value);
    }
  }
}

static void each_scratch(oracle* o, stow_node node, bool check) {
  for (size_t i = 0; i < stow_plan_scratch_count(o->plan); ++i) {
    stow_node of;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(o->plan, i, &of, &slot, &alignment);
    uint32_t content = SCRATCH_CONTENT + (uint32_t)i;
    if (of == node && check) {
      expect(o, slot.offset, slot.size, (tag){content, 0}, "scratch", (uint32_t)i);
    } else if (of == node) {
      fill(o, slot.offset, slot.size, content);
    }
  }
}

static void check_held(oracle* o, stow_node node) {
  for (size_t i = 0; i < stowi_effects_hold_count(o->effects); ++i) {
    stowi_effects_hold_entry hold = stowi_effects_hold(o->effects, i);
    if (hold.until == node && o->executed[hold.node]) {
      read_value(o, stow_graph_operands(o->graph, hold.node)[hold.operand], "held operand");
    }
  }
}

static void cover(oracle* o, uint64_t low, uint64_t high) {
  for (uint64_t i = low; i < high && i < o->plan->arena_size; ++i) {
    o->covered[i] = true;
  }
}

// Whatever no root occupies at |step| belongs to another.
static void poison(oracle* o, uint32_t step) {
  const stow_plan* plan = o->plan;
  memset(o->covered, 0, plan->arena_size * sizeof(bool));
  for (stow_value v = 0; v < plan->value_count; ++v) {
    const stowi_plan_value* value = &plan->values[v];
    if (value->root != v || value->offset == STOW_OFFSET_NONE || step < value->begin ||
        step >= value->end) {
      continue;
    }
    uint64_t low = 0;
    uint64_t high = value->size + value->guard;
    for (size_t i = 0; i < plan->window_count; ++i) {
      const stow_window* w = &plan->windows[i].window;
      if (plan->windows[i].root == v && w->begin <= step && step < w->end) {
        low = w->low;
        high = w->high;
      }
    }
    cover(o, value->offset + low, value->offset + high);
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    cover(o, plan->reserved[i].offset, plan->reserved[i].end);
  }
  for (uint64_t i = 0; i < plan->arena_size; ++i) {
    o->memory[i] = o->covered[i] ? o->memory[i] : (tag){POISON, step};
  }
}

static void run_step(oracle* o, stow_node node) {
  stow_op op = stow_graph_op(o->graph, node);
  const stow_op_desc* desc = stow_graph_op_desc(o->graph, node);
  start_early(o, node);
  each_scratch(o, node, false);
  size_t operands = stow_graph_operand_count(o->graph, node);
  size_t ready = is_loop(o, node) && operands > 2 ? 2 : operands;
  for (size_t k = 0; k < ready; ++k) {
    read_value(o, stow_graph_operands(o->graph, node)[k], "operand");
  }
  if (op == STOW_OP_ARGS) {
    run_args(o, node);
  } else if (op == STOW_OP_YIELD) {
    run_yield(o, node);
  } else if (desc->region_count > 0) {
    run_owner(o, node);
  } else {
    run_plain(o, node);
  }
  for (size_t k = 0; k < stow_graph_result_count(o->graph, node); ++k) {
    stow_value value = stow_graph_first_result(o->graph, node) + (stow_value)k;
    if (!stow_graph_is_boundary(o->graph, value)) {
      read_value(o, value, "result");
    }
  }
  each_scratch(o, node, true);
  o->executed[node] = true;
  check_held(o, node);
}

// ---------------------------------------------------------------------------------------------
// A run

static bool is_taken(const oracle* o, stow_region region) {
  stow_node owner = stowi_graph_region_owner(o->graph, region);
  bool second = stow_graph_owned_region(o->graph, owner, 1) == region;
  return ((o->branches >> (owner % 64)) & 1) == (second ? 1 : 0);
}

// Where to continue if |step| begins a branch that does not run, the outermost one; |step|
// otherwise.
static uint32_t skip_branches(const oracle* o, uint32_t step) {
  uint32_t next = step;
  for (stow_region region = stow_graph_node_region(o->graph, step_node(o, step));
       region != STOW_REGION_BODY && o->first[region] == step;
       region = stowi_graph_region_parent(o->graph, region)) {
    if (!is_loop(o, stowi_graph_region_owner(o->graph, region)) && !is_taken(o, region)) {
      next = o->last[region] + 1;
    }
  }
  return next;
}

static uint32_t next_step(oracle* o, uint32_t step) {
  stow_node node = step_node(o, step);
  stow_region region = stow_graph_node_region(o->graph, node);
  if (stow_graph_op(o->graph, node) != STOW_OP_YIELD || !is_loop(o, owner_of(o, node))) {
    return step + 1;
  }
  o->rounds[region] = o->rounds[region] == 0 ? 1 : 0;
  return o->rounds[region] == 1 ? o->first[region] : step + 1;
}

static void find_regions(oracle* o) {
  for (uint32_t step = stow_plan_step_count(o->plan); step-- > 0;) {
    stow_region region = stow_graph_node_region(o->graph, step_node(o, step));
    for (; region != STOW_REGION_BODY; region = stowi_graph_region_parent(o->graph, region)) {
      o->first[region] = step;
      o->last[region] = o->last[region] < step ? step : o->last[region];
    }
  }
}

static void load(oracle* o) {
  for (stow_value value = 0; value < stow_graph_value_count(o->graph); ++value) {
    stow_slot slot;
    if (!stow_plan_value_slot(o->plan, value, &slot)) {
      continue;
    }
    o->expected[value] = (tag*)calloc(slot.size + 1, sizeof(tag));
    if (stow_plan_root(o->plan, value) != value) {
      continue;
    }
    if (stow_graph_is_boundary(o->graph, value)) {
      write_value(o, value);
      fill(o, slot.offset + slot.size, stowi_plan_guard(o->plan, value), GUARD_CONTENT + value);
    } else if (stowi_effects_state(o->effects, value)) {
      fill(o, slot.offset, slot.size, STATE_CONTENT + value);
    }
  }
  for (size_t i = 0; i < o->plan->reserved_count && !o->takes_turns; ++i) {
    const stowi_plan_span* span = &o->plan->reserved[i];
    fill(o, span->offset, span->end - span->offset, RESERVED_CONTENT + (uint32_t)i);
  }
}

static bool is_kept(const oracle* o, stow_value value) {
  stow_io_policy policy = stowi_effects_io(o->effects, value);
  policy = policy == STOW_IO_DEFAULT ? o->plan->facts.io : policy;
  return stow_graph_is_boundary(o->graph, value) &&
         !(policy == STOW_IO_CONSUME &&
           stow_graph_op(o->graph, stow_graph_producer(o->graph, value)) == STOW_OP_INPUT);
}

// Whether an op writes into |root| on purpose.
static bool is_cache(const oracle* o, stow_value root) {
  for (stow_node node = 0; node < stow_graph_node_count(o->graph); ++node) {
    if (stow_graph_op_desc(o->graph, node)->writes_view &&
        stow_plan_root(o->plan, stow_graph_first_result(o->graph, node)) == root) {
      return true;
    }
  }
  return false;
}

static void check_end(oracle* o) {
  for (size_t i = 0; i < stow_graph_output_count(o->graph); ++i) {
    read_value(o, stow_graph_outputs(o->graph)[i], "output");
  }
  check_held(o, STOW_STEP_END);
  for (stow_value value = 0; value < stow_graph_value_count(o->graph); ++value) {
    stow_slot slot;
    if (stow_plan_root(o->plan, value) != value || !stow_plan_value_slot(o->plan, value, &slot)) {
      continue;
    }
    if (is_kept(o, value)) {
      if (!is_cache(o, value)) {
        read_value(o, value, "boundary value");
      }
      expect(o, slot.offset + slot.size, stowi_plan_guard(o->plan, value),
             (tag){GUARD_CONTENT + value, 0}, "guard of", value);
    } else if (stowi_effects_state(o->effects, value) && !is_cache(o, value) &&
               stow_graph_op(o->graph, stow_graph_producer(o->graph, value)) != STOW_OP_ARGS &&
               o->executed[stow_graph_producer(o->graph, value)]) {
      read_value(o, value, "state");
    }
  }
  for (size_t i = 0; i < o->plan->reserved_count && !o->takes_turns; ++i) {
    const stowi_plan_span* span = &o->plan->reserved[i];
    expect(o, span->offset, span->end - span->offset, (tag){RESERVED_CONTENT + (uint32_t)i, 0},
           "reserved", (uint32_t)i);
  }
}

oracle_memory* oracle_memory_create(uint64_t size) {
  oracle_memory* memory = (oracle_memory*)calloc(1, sizeof(oracle_memory));
  memory->tags = (tag*)calloc(size + 1, sizeof(tag));
  memory->size = size;
  memset(memory->tags, 0xff, (size + 1) * sizeof(tag));
  return memory;
}

void oracle_memory_destroy(oracle_memory* memory) {
  free(memory->tags);
  free(memory);
}

uint64_t oracle_memory_hash(const oracle_memory* memory, uint64_t offset, uint64_t size) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (uint64_t i = offset; i < offset + size && i < memory->size; ++i) {
    hash = (hash ^ memory->tags[i].content) * UINT64_C(0x100000001b3);
    hash = (hash ^ memory->tags[i].index) * UINT64_C(0x100000001b3);
  }
  return hash;
}

static void run_all(oracle* o) {
  find_regions(o);
  load(o);
  for (uint32_t step = 0; step < stow_plan_step_count(o->plan) && !o->failed;) {
    uint32_t from = skip_branches(o, step);
    if (from != step) {
      step = from;
      continue;
    }
    poison(o, step);
    run_step(o, step_node(o, step));
    steps_run += 1;
    step = next_step(o, step);
  }
  poison(o, stow_plan_step_count(o->plan));
  check_end(o);
}

// Everything that |o| needs except the memory.
static void run_in(oracle* o) {
  const stow_graph* graph = o->graph;
  o->expected = (tag**)calloc(stow_graph_value_count(graph) + 1, sizeof(tag*));
  o->covered = (bool*)calloc(o->plan->arena_size + 1, sizeof(bool));
  o->executed = (bool*)calloc(stow_graph_node_count(graph) + 1, sizeof(bool));
  o->rounds = (uint32_t*)calloc(stow_graph_region_count(graph), sizeof(uint32_t));
  o->first = (uint32_t*)calloc(stow_graph_region_count(graph), sizeof(uint32_t));
  o->last = (uint32_t*)calloc(stow_graph_region_count(graph), sizeof(uint32_t));
  run_all(o);
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    free(o->expected[value]);
  }
  free(o->expected);
  free(o->covered);
  free(o->executed);
  free(o->rounds);
  free(o->first);
  free(o->last);
}

bool oracle_take_turn(oracle_memory* memory, const stow_plan* plan, const stow_graph* graph,
                      const stow_effects* effects, uint64_t branches, char* out_why, size_t size) {
  oracle o = {.plan = plan, .graph = graph, .effects = effects, .branches = branches};
  o.why = out_why;
  o.why_size = size;
  o.takes_turns = true;
  o.memory = memory->tags;
  o.writes = memory->writes;
  if (plan->arena_size > memory->size) {
    fail(&o, "outside the memory:", 0, plan->arena_size);
    return false;
  }
  run_in(&o);
  memory->writes = o.writes;
  return !o.failed;
}

bool oracle_run(const stow_plan* plan, const stow_graph* graph, const stow_effects* effects,
                uint64_t branches, char* out_why, size_t size) {
  oracle o = {.plan = plan, .graph = graph, .effects = effects, .branches = branches};
  oracle_memory* memory = oracle_memory_create(plan->arena_size);
  o.why = out_why;
  o.why_size = size;
  o.memory = memory->tags;
  run_in(&o);
  oracle_memory_destroy(memory);
  return !o.failed;
}

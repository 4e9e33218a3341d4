// The oracle: every byte of the arena has a tag, which says what was written there and which byte
// of it.
#include "test_check_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan_internal.h"

typedef struct tag {
  uint32_t content;  // the value that was written; or one of those below
  uint32_t index;    // which byte of it
} tag;

#define SCRATCH_CONTENT UINT32_C(0xf0000000)
#define EARLY_CONTENT UINT32_C(0xf1000000)
#define GUARD_CONTENT UINT32_C(0xf2000000)
#define STATE_CONTENT UINT32_C(0xf3000000)
#define RESERVED_CONTENT UINT32_C(0xf4000000)

// What a value's bytes are expected to be: bytes of |content| from |index| on.
typedef struct oracle {
  const stow_plan* plan;
  const stow_graph* graph;
  const stow_effects* effects;
  uint64_t branches;
  tag* memory;
  tag* expected;     // by value
  bool* executed;    // by node
  uint32_t* rounds;  // by region: finished in the current run of its loop
  uint32_t* first;   // by region: its first step
  uint32_t* last;    // by region: its last step, the yield's
  bool failed;
  char* why;
  size_t why_size;
} oracle;

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

static void write_value(oracle* o, stow_value value) {
  stow_slot slot;
  o->expected[value] = (tag){value, 0};
  if (stow_plan_slot(o->plan, value, &slot)) {
    fill(o, slot.offset, slot.size, value);
  }
}

static void read_value(oracle* o, stow_value value, const char* what) {
  stow_slot slot;
  if (value != STOW_VALUE_NONE && stow_plan_slot(o->plan, value, &slot)) {
    expect(o, slot.offset, slot.size, o->expected[value], what, value);
  }
}

// ---------------------------------------------------------------------------------------------
// Views

static uint64_t width_bits(const oracle* o, stow_value value) {
  uint64_t bits = stow_dtype_bits(stow_graph_type(o->graph, value)->dtype);
  return o->plan->facts.f32_uniform && bits < 32 ? 32 : bits;
}

// Whether the result needs no write, as the bytes are there already; says what they must be.
static bool is_pure_view(oracle* o, stow_node node, size_t k) {
  stow_value value = stow_graph_first_result(o->graph, node) + (stow_value)k;
  stow_view view;
  size_t operand;
  uint64_t offset;
  if (stow_plan_root(o->plan, value) == value) {
    return false;
  }
  if (!stow_effects_inside(o->effects, value, &operand, &offset)) {
    if (!stow_graph_view(o->graph, node, k, &view) ||
        stow_graph_op_desc(o->graph, node)->writes_view) {
      return false;
    }
    operand = view.operand;
    stow_value parent = stow_graph_operands(o->graph, node)[operand];
    offset = view.element_offset * width_bits(o, parent) / 8;
  }
  tag from = o->expected[stow_graph_operands(o->graph, node)[operand]];
  o->expected[value] = (tag){from.content, from.index + (uint32_t)offset};
  return true;
}

// ---------------------------------------------------------------------------------------------
// Regions

static stow_node owner_of(const oracle* o, stow_node node) {
  stow_region region = stow_graph_node_region(o->graph, node);
  return region == STOW_REGION_BODY ? STOW_NODE_NONE : stow_graph_region_owner(o->graph, region);
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
  return stow_graph_first_result(o->graph, stow_graph_region_first(o->graph, body)) + 2 +
         (stow_value)k;
}

static void run_args(oracle* o, stow_node node) {
  stow_node loop = owner_of(o, node);
  stow_value first = stow_graph_first_result(o->graph, node);
  write_value(o, first);
  write_value(o, first + 1);
  if (o->rounds[stow_graph_node_region(o->graph, node)] > 0) {
    return;  // what is carried was written by the yield
  }
  for (size_t k = 0; k < carried_count(o, loop); ++k) {
    read_value(o, stow_graph_operands(o->graph, loop)[2 + k], "initial value");
  }
  for (size_t k = 0; k < carried_count(o, loop); ++k) {
    write_value(o, first + 2 + (stow_value)k);
  }
}

// Reads have been done: all of what a yield gives moves at once.
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
  size_t results = stow_graph_result_count(o->graph, node);
  stow_value first = stow_graph_first_result(o->graph, node);
  for (size_t k = 0; k < results; ++k) {
    stow_value value = first + (stow_value)k;
    if (stow_graph_is_boundary(o->graph, value) || is_pure_view(o, node, k)) {
      continue;
    }
    stow_slot slot;
    if (stow_effects_state(o->effects, value) && !o->executed[node] &&
        stow_plan_root(o->plan, value) == value && stow_plan_slot(o->plan, value, &slot)) {
      expect(o, slot.offset, slot.size, (tag){STATE_CONTENT + value, 0}, "state", value);
    }
    write_value(o, value);
  }
}

static void start_early(oracle* o, stow_node node) {
  for (size_t i = 0; i < stow_effects_early_write_count(o->effects); ++i) {
    stow_early_write early = stow_effects_early_write(o->effects, i);
    stow_value value = stow_graph_first_result(o->graph, early.node) + (stow_value)early.result;
    stow_slot slot;
    if (early.from == node && !stow_graph_is_boundary(o->graph, value) &&
        !stow_effects_state(o->effects, value) && stow_plan_root(o->plan, value) == value &&
        stow_plan_slot(o->plan, value, &slot)) {
      fill(o, slot.offset, slot.size, EARLY_CONTENT + value);
    }
  }
}

static void each_scratch(oracle* o, stow_node node, bool check) {
  for (size_t i = 0; i < stow_plan_scratch_count(o->plan); ++i) {
    stow_node of;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_at(o->plan, i, &of, &slot, &alignment);
    uint32_t content = SCRATCH_CONTENT + (uint32_t)i;
    if (of == node && check) {
      expect(o, slot.offset, slot.size, (tag){content, 0}, "scratch", (uint32_t)i);
    } else if (of == node) {
      fill(o, slot.offset, slot.size, content);
    }
  }
}

static void check_held(oracle* o, stow_node node) {
  for (size_t i = 0; i < stow_effects_hold_count(o->effects); ++i) {
    stow_hold hold = stow_effects_hold(o->effects, i);
    if (hold.until == node && o->executed[hold.node]) {
      read_value(o, stow_graph_operands(o->graph, hold.node)[hold.operand], "held operand");
    }
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
  stow_node owner = stow_graph_region_owner(o->graph, region);
  bool second = stow_graph_owned_region(o->graph, owner, 1) == region;
  return ((o->branches >> (owner % 64)) & 1) == (second ? 1 : 0);
}

// Where to go on where |step| begins a branch that does not run; |step| otherwise.
static uint32_t skip_branches(const oracle* o, uint32_t step) {
  for (stow_region region = stow_graph_node_region(o->graph, step_node(o, step));
       region != STOW_REGION_BODY && o->first[region] == step;
       region = stow_graph_region_parent(o->graph, region)) {
    if (!is_loop(o, stow_graph_region_owner(o->graph, region)) && !is_taken(o, region)) {
      return o->last[region] + 1;
    }
  }
  return step;
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
    for (; region != STOW_REGION_BODY; region = stow_graph_region_parent(o->graph, region)) {
      o->first[region] = step;
      o->last[region] = o->last[region] < step ? step : o->last[region];
    }
  }
}

static void load(oracle* o) {
  for (stow_value value = 0; value < stow_graph_value_count(o->graph); ++value) {
    stow_slot slot;
    o->expected[value] = (tag){value, 0};
    if (!stow_plan_slot(o->plan, value, &slot) || stow_plan_root(o->plan, value) != value) {
      continue;
    }
    if (stow_graph_is_boundary(o->graph, value)) {
      fill(o, slot.offset, slot.size, value);
      fill(o, slot.offset + slot.size, stow_plan_guard(o->plan, value), GUARD_CONTENT + value);
    } else if (stow_effects_state(o->effects, value)) {
      fill(o, slot.offset, slot.size, STATE_CONTENT + value);
    }
  }
  for (size_t i = 0; i < o->plan->reserved_count; ++i) {
    const stowi_span* span = &o->plan->reserved[i];
    fill(o, span->offset, span->end - span->offset, RESERVED_CONTENT + (uint32_t)i);
  }
}

static bool is_kept(const oracle* o, stow_value value) {
  stow_io_policy policy = stow_effects_io(o->effects, value);
  policy = policy == STOW_IO_DEFAULT ? o->plan->facts.io : policy;
  return stow_graph_is_boundary(o->graph, value) &&
         !(policy == STOW_IO_CONSUME &&
           stow_graph_op(o->graph, stow_graph_producer(o->graph, value)) == STOW_OP_INPUT);
}

// Whether some op writes into |root| on purpose.
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
    if (stow_plan_root(o->plan, value) != value || !stow_plan_slot(o->plan, value, &slot)) {
      continue;
    }
    if (is_kept(o, value)) {
      if (!is_cache(o, value)) {
        read_value(o, value, "boundary value");
      }
      expect(o, slot.offset + slot.size, stow_plan_guard(o->plan, value),
             (tag){GUARD_CONTENT + value, 0}, "guard of", value);
    } else if (stow_effects_state(o->effects, value) && !is_cache(o, value) &&
               stow_graph_op(o->graph, stow_graph_producer(o->graph, value)) != STOW_OP_ARGS &&
               o->executed[stow_graph_producer(o->graph, value)]) {
      read_value(o, value, "state");
    }
  }
  for (size_t i = 0; i < o->plan->reserved_count; ++i) {
    const stowi_span* span = &o->plan->reserved[i];
    expect(o, span->offset, span->end - span->offset, (tag){RESERVED_CONTENT + (uint32_t)i, 0},
           "reserved", (uint32_t)i);
  }
}

bool oracle_run(const stow_plan* plan, const stow_graph* graph, const stow_effects* effects,
                uint64_t branches, char* out_why, size_t size) {
  oracle o = {.plan = plan, .graph = graph, .effects = effects, .branches = branches};
  o.why = out_why;
  o.why_size = size;
  o.memory = (tag*)calloc(plan->arena_size + 1, sizeof(tag));
  o.expected = (tag*)calloc(stow_graph_value_count(graph) + 1, sizeof(tag));
  o.executed = (bool*)calloc(stow_graph_node_count(graph) + 1, sizeof(bool));
  o.rounds = (uint32_t*)calloc(stow_graph_region_count(graph), sizeof(uint32_t));
  o.first = (uint32_t*)calloc(stow_graph_region_count(graph), sizeof(uint32_t));
  o.last = (uint32_t*)calloc(stow_graph_region_count(graph), sizeof(uint32_t));
  find_regions(&o);
  memset(o.memory, 0xff, (plan->arena_size + 1) * sizeof(tag));
  load(&o);
  for (uint32_t step = 0; step < stow_plan_step_count(plan) && !o.failed;) {
    uint32_t from = skip_branches(&o, step);
    if (from != step) {
      step = from;
      continue;
    }
    run_step(&o, step_node(&o, step));
    step = next_step(&o, step);
  }
  check_end(&o);
  free(o.memory);
  free(o.expected);
  free(o.executed);
  free(o.rounds);
  free(o.first);
  free(o.last);
  return !o.failed;
}

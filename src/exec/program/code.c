// One walk over the plan's order, which enters regions at their first step and leaves them at their
// yield.
#include "exec/program/code.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"
#include "exec/kernels/support/rows.h"
#include "graph/api.h"
#include "plan/api.h"

#define ALIGNMENT 64

// ---------------------------------------------------------------------------------------------
// Loops

// How the parts of a loop belong together (stow_carry), and how many values it carries.
typedef struct loop_parts {
  const stowi_exec_step* owner;
  const stowi_exec_step* yield;
  stow_node args;  // STOW_NODE_NONE: there are none
  stow_value first_arg;
  size_t carried;
  stow_carry carry;
} loop_parts;

static loop_parts parts_of(const stowi_exec_program* program, stow_node owner) {
  const stow_graph* graph = program->graph;
  stow_region region = stow_graph_owned_region(graph, owner, 0);
  loop_parts parts = {.owner = &program->steps[owner],
                      .yield = &program->steps[stowi_graph_region_last(graph, region)],
                      .args = stowi_graph_region_args(graph, region),
                      .carry = stow_graph_op_desc(graph, owner)->carry};
  if (parts.args != STOW_NODE_NONE && parts.owner->operand_count > parts.carry.first_operand) {
    parts.carried = parts.owner->operand_count - parts.carry.first_operand;
    parts.first_arg = program->steps[parts.args].first_result + (stow_value)parts.carry.first_arg;
  }
  return parts;
}

static stow_value argument_of(const loop_parts* parts, size_t i) {
  return parts->first_arg + (stow_value)i;
}

static stow_value yielded_by(const loop_parts* parts, size_t i) {
  return parts->yield->operands[parts->carry.first_yield + i];
}

// Whether what is yielded for argument |i| is the bytes of another one that is carried, which the
// yields before it may have written over.
static bool swaps(const stowi_exec_program* program, const loop_parts* parts, size_t i) {
  stow_value value = yielded_by(parts, i);
  while (value != STOW_VALUE_NONE && stow_graph_producer(program->graph, value) != parts->args) {
    value = program->values[value].parent;
  }
  return value != STOW_VALUE_NONE && value >= parts->first_arg &&
         value - parts->first_arg < parts->carried && value - parts->first_arg != i;
}

// Adds what a value takes that is moved aside.
static bool add_aside(const stowi_exec_program* program, stow_value value, uint64_t* at) {
  uint64_t bytes;
  return stowi_align_up(program->values[value].bytes, ALIGNMENT, &bytes) &&
         stowi_add_u64(*at, STOWI_EXEC_DIMS_SIZE, at) && stowi_add_u64(*at, bytes, at);
}

static stow_node owner_of(const stow_graph* graph, stow_node node) {
  return stowi_graph_region_owner(graph, stow_graph_node_region(graph, node));
}

static bool is_loop(const stow_graph* graph, stow_node owner) {
  return stow_graph_op(graph, owner) == STOW_OP_LOOP;
}

bool stowi_exec_code_aside(const stowi_exec_program* program, stow_node node, uint64_t* out_bytes) {
  const stow_graph* graph = program->graph;
  bool fits = true;
  *out_bytes = 0;
  if (program->steps[node].op != STOW_OP_YIELD || !is_loop(graph, owner_of(graph, node))) {
    return true;
  }
  loop_parts parts = parts_of(program, owner_of(graph, node));
  for (size_t i = 0; i < parts.carried && fits; ++i) {
    fits = !swaps(program, &parts, i) || add_aside(program, yielded_by(&parts, i), out_bytes);
  }
  return fits;
}

// ---------------------------------------------------------------------------------------------
// Writing

typedef struct coder {
  const stowi_exec_program* program;
  const stow_graph* graph;
  const stow_plan* plan;
  stowi_exec_code* code;
  stow_status status;              // once memory is out, nothing more is written
  stowi_exec_instruction dropped;  // but this
  uint32_t step;
  stow_node node;
  stow_region inside;
  size_t depth;
  bool has_loops;
  uint32_t opened[STOW_MAX_REGION_DEPTH];  // IF or WHILE of each region around
} coder;

// Returns the new instruction, for fields that few have.
static stowi_exec_instruction* add(coder* c, stowi_exec_action action, stow_region loop,
                                   stow_value from, stow_value to) {
  stowi_exec_code* code = c->code;
  if (c->status == STOW_OK) {
    c->status = stowi_vec_reserve(code->allocator, (void**)&code->instructions, code->count,
                                  &code->capacity, sizeof(c->dropped), 1);
  }
  stowi_exec_instruction* added =
      c->status == STOW_OK ? &code->instructions[code->count++] : &c->dropped;
  *added = (stowi_exec_instruction){
      .action = action, .step = c->step, .node = c->node, .from = from, .to = to, .loop = loop};
  return added;
}

static void add_copy(coder* c, stow_value from, stow_value to) {
  add(c, STOWI_EXEC_COPY, STOW_REGION_BODY, from, to);
}

// Makes the instructions from |first| on a step.
static void close_step(coder* c, size_t first, bool is_quiet) {
  if (c->status == STOW_OK) {
    stowi_exec_instruction* all = c->code->instructions;
    all[first].begins = true;
    all[c->code->count - 1].ends = true;
    all[first].is_quiet = all[c->code->count - 1].is_quiet = is_quiet;
  }
}

// ---------------------------------------------------------------------------------------------
// Regions

static void begin_loop(coder* c, stow_region region, const loop_parts* parts) {
  const stowi_exec_step* owner = parts->owner;
  size_t first = c->code->count + 1;
  add(c, STOWI_EXEC_BEGIN, region, owner->operand_count > 0 ? owner->operands[0] : STOW_VALUE_NONE,
      owner->operand_count > 1 ? owner->operands[1] : STOW_VALUE_NONE);
  for (size_t i = 0; i < parts->carried; ++i) {
    add_copy(c, owner->operands[parts->carry.first_operand + i], argument_of(parts, i));
  }
  if (parts->carried != 0) {
    close_step(c, first, true);
  }
}

static void begin_region(coder* c, stow_region region) {
  stow_node owner = stowi_graph_region_owner(c->graph, region);
  bool is_round = is_loop(c->graph, owner);
  c->has_loops = c->has_loops || is_round;
  if (is_round) {
    loop_parts parts = parts_of(c->program, owner);
    begin_loop(c, region, &parts);
  }
  c->opened[c->depth++] = (uint32_t)c->code->count;
  if (is_round) {
    add(c, STOWI_EXEC_WHILE, region, STOW_VALUE_NONE, STOW_VALUE_NONE);
  } else {
    stow_value condition = c->program->steps[owner].operands[0];
    add(c, STOWI_EXEC_IF, region, condition, STOW_VALUE_NONE)->is_wanted =
        stow_graph_owned_region(c->graph, owner, 0) == region;
  }
}

// Regions around the node that were not entered before, the outermost first.
static void enter(coder* c) {
  stow_region begun[STOW_MAX_REGION_DEPTH];
  size_t count = 0;
  stow_region region = stow_graph_node_region(c->graph, c->node);
  for (; region != c->inside; region = stowi_graph_region_parent(c->graph, region)) {
    begun[count++] = region;
  }
  while (count-- > 0) {
    begin_region(c, begun[count]);
  }
  c->inside = stow_graph_node_region(c->graph, c->node);
}

static void leave(coder* c) {
  uint32_t opened = c->opened[--c->depth];
  if (c->status == STOW_OK) {
    c->code->instructions[opened].target = (uint32_t)c->code->count;
  }
  if (is_loop(c->graph, stowi_graph_region_owner(c->graph, c->inside))) {
    add(c, STOWI_EXEC_END, c->inside, STOW_VALUE_NONE, STOW_VALUE_NONE);
  }
  c->inside = stowi_graph_region_parent(c->graph, c->inside);
}

// ---------------------------------------------------------------------------------------------
// Rows

static uint64_t rows_of(const stow_plan* plan, stow_value value) {
  uint64_t pitch;
  return value == STOW_VALUE_NONE ? 1 : stowi_plan_rows(plan, value, &pitch);
}

// The rows of a pitched value that |node| reads or makes; 1: there is none.
static uint64_t find_rows(const stowi_exec_step* step, const stow_plan* plan) {
  uint64_t rows = 1;
  for (size_t k = 0; k < step->operand_count && rows == 1; ++k) {
    rows = rows_of(plan, step->operands[k]);
  }
  for (size_t k = 0; k < step->result_count && rows == 1; ++k) {
    rows = rows_of(plan, step->first_result + (stow_value)k);
  }
  return rows;
}

// Whether result |k| of the node, which has pitched values, is a view of an operand in the plan.
static bool is_view_there(const coder* c, size_t k) {
  const stowi_exec_step* step = &c->program->steps[c->node];
  stow_value value = step->first_result + (stow_value)k;
  stow_value parent = c->program->values[value].parent;
  stowi_graph_row_part part;
  stow_slot slot, from;
  if (parent != STOW_VALUE_NONE) {
    return stow_plan_root(c->plan, value) == stow_plan_root(c->plan, parent);
  }
  if (!stowi_graph_row_view(c->graph, c->node, k, &part) ||
      stow_plan_root(c->plan, value) != stow_plan_root(c->plan, step->operands[0]) ||
      !stow_plan_value_slot(c->plan, value, &slot) ||
      !stow_plan_value_slot(c->plan, step->operands[0], &from)) {
    return false;
  }
  uint64_t width = stow_dtype_bits(stow_graph_type(c->graph, value)->dtype) / 8;
  return slot.offset == from.offset + part.offset * width && rows_of(c->plan, value) == part.rows;
}

// Whether the values of a node with pitched ones are there.
static bool rests(const coder* c) {
  bool rests = !stow_graph_op_desc(c->graph, c->node)->writes_view;
  for (size_t k = 0; k < c->program->steps[c->node].result_count; ++k) {
    rests = rests && is_view_there(c, k);
  }
  return rests;
}

static stow_status fill_rows(coder* c, const stow_plan* plan, stow_diag* diag) {
  const stowi_exec_program* program = c->program;
  for (stow_node node = 0; node < program->node_count; ++node) {
    uint64_t rows = find_rows(&program->steps[node], plan);
    uint64_t still = 0;
    if (rows > 1 && c->code->rows == NULL) {
      c->code->rows = STOWI_ARRAY_ZERO(c->code->allocator, stowi_exec_rows, program->node_count);
      STOW_TRY(stowi_need_memory(c->code->rows != NULL, diag));
    }
    if (rows > 1) {
      c->node = node;
      bool runs = stowi_graph_takes_rows(c->graph, node, rows, &still) && !rests(c);
      c->code->rows[node] = (stowi_exec_rows){rows, still, !runs};
    }
  }
  return STOW_OK;
}

void stowi_exec_code_stride(const stow_plan* plan, stow_value value, stow_tensor* tensor) {
  uint64_t pitch;
  uint64_t rows = stowi_plan_rows(plan, value, &pitch);
  if (rows > 1) {
    stowi_kernel_set_pitch(tensor, rows, pitch);
  }
}

// ---------------------------------------------------------------------------------------------
// Steps

static void yield_branch(coder* c, stow_node owner) {
  const stowi_exec_step* step = &c->program->steps[owner];
  for (size_t k = 0; k < step->result_count; ++k) {
    add_copy(c, c->program->steps[c->node].operands[k], step->first_result + (stow_value)k);
  }
}

static void move_aside(coder* c, const loop_parts* parts, stowi_exec_action action) {
  uint64_t at = 0;
  for (size_t i = 0; i < parts->carried; ++i) {
    if (swaps(c->program, parts, i)) {
      stow_value yielded = yielded_by(parts, i);
      add(c, action, STOW_REGION_BODY, yielded, argument_of(parts, i))->at = at;
      (void)add_aside(c->program, yielded, &at);
    }
  }
}

static void yield_loop(coder* c, stow_node owner) {
  loop_parts parts = parts_of(c->program, owner);
  stow_value result = parts.owner->first_result;
  add(c, STOWI_EXEC_COND, c->inside, parts.yield->operands[0], STOW_VALUE_NONE);
  for (size_t k = parts.carried; k < parts.owner->result_count; ++k) {
    add(c, STOWI_EXEC_APPEND, c->inside, yielded_by(&parts, k), result + (stow_value)k);
  }
  move_aside(c, &parts, STOWI_EXEC_ASIDE);
  for (size_t i = 0; i < parts.carried; ++i) {
    if (!swaps(c->program, &parts, i)) {
      add_copy(c, yielded_by(&parts, i), argument_of(&parts, i));
    }
  }
  move_aside(c, &parts, STOWI_EXEC_BACK);
  add(c, STOWI_EXEC_NEXT, c->inside, STOW_VALUE_NONE, STOW_VALUE_NONE)->target =
      c->opened[c->depth - 1];
}

static void end_loop(coder* c) {
  loop_parts parts = parts_of(c->program, c->node);
  stow_region loop = stow_graph_owned_region(c->graph, c->node, 0);
  stow_value result = parts.owner->first_result;
  for (size_t k = parts.carried; k < parts.owner->result_count; ++k) {
    add(c, STOWI_EXEC_CLOSE, loop, STOW_VALUE_NONE, result + (stow_value)k);
  }
  for (size_t i = 0; i < parts.carried; ++i) {
    add_copy(c, argument_of(&parts, i), result + (stow_value)(parts.carry.first_result + i));
  }
}

static void add_node(coder* c) {
  const stowi_exec_step* step = &c->program->steps[c->node];
  size_t first = c->code->count;
  if (stowi_exec_code_calls(c->code, c->program, c->node)) {
    add(c, STOWI_EXEC_CALL, STOW_REGION_BODY, STOW_VALUE_NONE, STOW_VALUE_NONE);
  } else if (step->op == STOW_OP_ARGS) {
    add(c, STOWI_EXEC_ARGS, c->inside, STOW_VALUE_NONE, step->first_result);
  } else if (step->op == STOW_OP_YIELD) {
    stow_node owner = owner_of(c->graph, c->node);
    (is_loop(c->graph, owner) ? yield_loop : yield_branch)(c, owner);
  } else if (step->op == STOW_OP_LOOP) {
    end_loop(c);
  }
  if (c->code->count == first) {
    add(c, STOWI_EXEC_REST, STOW_REGION_BODY, STOW_VALUE_NONE, STOW_VALUE_NONE);
  }
  close_step(c, first, false);
}

// The plan lists scratch by node, then in the order in which it was requested.
static void find_scratch(coder* c, const stow_plan* plan) {
  stow_node last = STOW_NODE_NONE;
  size_t index = 0;
  for (size_t i = 0; i < stow_plan_scratch_count(plan); ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(plan, i, &node, &slot, &alignment);
    index = node == last ? index + 1 : 0;
    last = node;
    if (c->program->steps[node].scratch_index == index) {
      c->code->scratch[node] = slot;
    }
  }
}

static void choose_variants(coder* c) {
  for (stow_node node = 0; node < c->program->node_count; ++node) {
    uint32_t variant =
        stowi_exec_variant_within(&c->program->steps[node], c->code->scratch[node].size);
    c->code->variants[node] = variant == UINT32_MAX ? 0 : variant;
  }
}

// Whether the instructions are those of the plan's order: without loops, they follow from it alone.
static bool is_in_order(const stowi_exec_code* code, const stow_plan* plan) {
  return code->ordered != 0 && code->ordered == stow_plan_step_count(plan) &&
         memcmp(code->order, stow_plan_order(plan), code->ordered * sizeof(stow_node)) == 0;
}

stow_status stowi_exec_code_fill(stowi_exec_code* code, const stowi_exec_program* program,
                                 const stow_plan* plan, stow_diag* diag) {
  coder c = {.program = program, .code = code};
  if (program->node_count != 0) {
    memset(code->scratch, 0, program->node_count * sizeof(code->scratch[0]));
  }
  find_scratch(&c, plan);
  choose_variants(&c);
  return stowi_exec_code_fill_order(code, program, plan, diag);
}

stow_status stowi_exec_code_fill_order(stowi_exec_code* code, const stowi_exec_program* program,
                                       const stow_plan* plan, stow_diag* diag) {
  coder c = {.program = program,
             .graph = program->graph,
             .plan = plan,
             .code = code,
             .status = STOW_OK,
             .inside = STOW_REGION_BODY};
  if (is_in_order(code, plan)) {
    return STOW_OK;
  }
  code->count = code->ordered = 0;
  for (; c.step < stow_plan_step_count(plan); ++c.step) {
    c.node = stow_plan_order(plan)[c.step];
    enter(&c);
    add_node(&c);
    if (program->steps[c.node].op == STOW_OP_YIELD) {
      leave(&c);
    }
  }
  if (c.status == STOW_OK && !c.has_loops) {
    code->ordered = c.step;
    memcpy(code->order, stow_plan_order(plan), c.step * sizeof(stow_node));
  }
  return stowi_need_memory(c.status == STOW_OK, diag);
}

stow_status stowi_exec_code_init(stowi_exec_code* code, const stowi_exec_program* program,
                                 const stow_plan* plan, stow_allocator allocator, stow_diag* diag) {
  *code = (stowi_exec_code){.allocator = allocator, .node_count = program->node_count};
  code->scratch = STOWI_ARRAY(allocator, stow_slot, program->node_count);
  code->variants = STOWI_ARRAY(allocator, uint32_t, program->node_count);
  code->order = STOWI_ARRAY(allocator, stow_node, program->node_count);
  STOW_TRY(stowi_need_memory(code->scratch != NULL && code->variants != NULL && code->order != NULL,
                             diag));
  coder c = {.program = program, .graph = program->graph, .plan = plan, .code = code};
  STOW_TRY(fill_rows(&c, plan, diag));
  return stowi_exec_code_fill(code, program, plan, diag);
}

void stowi_exec_code_free(stowi_exec_code* code) {
  stowi_free(code->allocator, code->instructions, code->capacity, sizeof(*code->instructions));
  STOWI_ARRAY_FREE(code->allocator, code->scratch, code->node_count);
  STOWI_ARRAY_FREE(code->allocator, code->variants, code->node_count);
  STOWI_ARRAY_FREE(code->allocator, code->rows, code->node_count);
  STOWI_ARRAY_FREE(code->allocator, code->order, code->node_count);
}

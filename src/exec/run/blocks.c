// A function is bound to a number of rows, prepared and planned like any graph, with its inputs and
// outputs outside the arena; the plan's arena is what a block has. From these, the plain tables are
// made that the kernel runs.
#include "exec/run/blocks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/program/code.h"
#include "exec/program/frame.h"
#include "exec/program/words.h"
#include "exec/run/prepare.h"
#include "graph/api.h"

// Bytes that a value of a block may have, for each size: in the first levels of a cache, then less
// where the arena has no room. Products read their right operands once for each block, so theirs
// are larger.
static const uint64_t block_bytes[STOWI_EXEC_MOST_SIZES] = {65536, 16384, 4096, 1024};
static const uint64_t product_bytes[STOWI_EXEC_MOST_SIZES] = {524288, 131072, 32768, 32768};

// A function for blocks of a certain number of rows.
typedef struct body {
  stow_allocator allocator;
  const stow_graph* function;
  bool is_fast;     // kernels have all the scratch that they like
  uint64_t packed;  // inputs that are, if a kernel can
  stow_graph* graph;
  stow_prepared* prepared;
  stow_plan* plan;
  stowi_exec_code code;
  stowi_kernel_block_value* values;
  stowi_kernel_block_step* steps;
  stowi_kernel_block_body data;
} body;

// What one node has.
typedef struct node_data {
  stow_node node;
  stowi_kernel_blocks data;
  stowi_kernel_block_cut* operands;
  stowi_kernel_block_cut* results;
  size_t operand_count, result_count;
  stowi_kernel_block_size sizes[STOWI_EXEC_MOST_SIZES];
} node_data;

struct stowi_exec_blocks {
  stow_allocator allocator;
  const stow_graph* graph;
  const stow_kernels* kernels;
  STOWI_VEC(body*) bodies;
  STOWI_VEC(node_data*) nodes;
};

stow_status stowi_exec_blocks_create(const stow_graph* graph, const stow_kernels* kernels,
                                     stow_allocator allocator, stow_diag* diag,
                                     stowi_exec_blocks** out_blocks) {
  stowi_exec_blocks* blocks = STOWI_NEW(allocator, stowi_exec_blocks);
  STOW_TRY(stowi_need_memory(blocks != NULL, diag));
  blocks->allocator = allocator;
  blocks->graph = graph;
  blocks->kernels = kernels;
  *out_blocks = blocks;
  return STOW_OK;
}

static void destroy_body(body* b) {
  if (b->prepared != NULL) {
    const stowi_exec_program* program = &b->prepared->program;
    STOWI_ARRAY_FREE(b->allocator, b->values, program->value_count);
    STOWI_ARRAY_FREE(b->allocator, b->steps, program->node_count);
  }
  stowi_exec_code_free(&b->code);
  stow_plan_destroy(b->plan);
  stow_prepared_destroy(b->prepared);
  stow_graph_destroy(b->graph);
  STOWI_DELETE(b->allocator, b);
}

static void destroy_node(stow_allocator allocator, node_data* n) {
  STOWI_ARRAY_FREE(allocator, n->operands, n->operand_count);
  STOWI_ARRAY_FREE(allocator, n->results, n->result_count);
  STOWI_DELETE(allocator, n);
}

void stowi_exec_blocks_destroy(stowi_exec_blocks* blocks) {
  if (blocks == NULL) {
    return;
  }
  for (size_t i = 0; i < blocks->bodies.count; ++i) {
    destroy_body(blocks->bodies.data[i]);
  }
  for (size_t i = 0; i < blocks->nodes.count; ++i) {
    destroy_node(blocks->allocator, blocks->nodes.data[i]);
  }
  STOWI_VEC_FREE(blocks->allocator, &blocks->bodies);
  STOWI_VEC_FREE(blocks->allocator, &blocks->nodes);
  STOWI_DELETE(blocks->allocator, blocks);
}

// ---------------------------------------------------------------------------------------------
// Tables of a body

// The number of |value| among the inputs, or among the outputs; SIZE_MAX: it is none.
static size_t input_index(const stow_graph* graph, stow_value value) {
  size_t index = 0;
  for (stow_node node = 0; node < stow_graph_producer(graph, value); ++node) {
    index += stow_graph_op(graph, node) == STOW_OP_INPUT;
  }
  return stow_graph_is_boundary(graph, value) ? index : SIZE_MAX;
}

static size_t output_index(const stow_graph* graph, stow_value value) {
  for (size_t k = 0; k < stow_graph_output_count(graph); ++k) {
    if (stow_graph_outputs(graph)[k] == value) {
      return k;
    }
  }
  return SIZE_MAX;
}

static bool home_value(const body* b, stow_value value) {
  const stowi_exec_value* facts = &b->prepared->program.values[value];
  stowi_kernel_block_value* out = &b->values[value];
  size_t input = input_index(b->graph, value);
  size_t output = output_index(b->graph, value);
  stow_slot slot;
  *out = (stowi_kernel_block_value){.tensor = stowi_exec_tensor_of(facts->type)};
  if (stow_plan_value_slot(b->plan, value, &slot)) {
    out->at = slot.offset;
    out->home = input != SIZE_MAX    ? STOWI_KERNEL_BLOCK_GATHER
                : output != SIZE_MAX ? STOWI_KERNEL_BLOCK_SCATTER
                                     : STOWI_KERNEL_BLOCK_SCRATCH;
    out->index = (uint32_t)(input != SIZE_MAX ? input : output != SIZE_MAX ? output : 0);
  } else if (input != SIZE_MAX) {
    out->home = STOWI_KERNEL_BLOCK_OPERAND;
    out->index = (uint32_t)input;
  } else if (output != SIZE_MAX) {
    out->home = STOWI_KERNEL_BLOCK_RESULT;
    out->index = (uint32_t)output;
  } else if (facts->parent != STOW_VALUE_NONE) {
    out->home = b->values[facts->parent].home;
    out->index = b->values[facts->parent].index;
    out->at = b->values[facts->parent].at + facts->distance;
  } else {
    return false;
  }
  return true;
}

static void add_step(body* b, stow_node node) {
  const stowi_exec_step* step = &b->prepared->program.steps[node];
  stow_slot scratch = b->code.scratch[node];
  b->steps[b->data.step_count++] =
      (stowi_kernel_block_step){.kernel = &step->kernel,
                                .operands = step->operands,
                                .attrs = step->attrs,
                                .attr_ids = step->attr_ids,
                                .op = step->op,
                                .operand_count = (uint32_t)step->operand_count,
                                .first_result = step->first_result,
                                .result_count = (uint32_t)step->result_count,
                                .attr_count = (uint32_t)step->attr_count,
                                .variant = b->code.variants[node],
                                .packed = step->packed,
                                .scratch_at = scratch.size == 0 ? 0 : scratch.offset,
                                .scratch_size = scratch.size};
}

static stow_status make_tables(body* b, stow_diag* diag) {
  const stowi_exec_program* program = &b->prepared->program;
  STOW_TRY(stowi_exec_code_init(&b->code, program, b->plan, b->allocator, diag));
  b->values = STOWI_ARRAY(b->allocator, stowi_kernel_block_value, program->value_count);
  b->steps = STOWI_ARRAY(b->allocator, stowi_kernel_block_step, program->node_count);
  STOW_TRY(stowi_need_memory(b->values != NULL && b->steps != NULL, diag));
  for (stow_value value = 0; value < program->value_count; ++value) {
    if (!home_value(b, value)) {
      return stowi_fail(diag, STOW_ERR_UNSUPPORTED, "%s has no place in its function",
                        stowi_exec_words_value(b->graph, value).text);
    }
  }
  for (size_t i = 0; i < b->code.count; ++i) {
    if (b->code.instructions[i].action == STOWI_EXEC_CALL) {
      add_step(b, b->code.instructions[i].node);
    }
  }
  b->data.bytes = stow_plan_arena_size(b->plan);
  b->data.values = b->values;
  b->data.steps = b->steps;
  b->data.value_count = program->value_count;
  b->data.most_operands = (uint32_t)program->most_operands;
  b->data.most_results = (uint32_t)program->most_results;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Bodies

// Whether a block has several pieces of |value| of the function: then it is copied.
static bool has_pieces(const stow_graph* function, stow_value value) {
  const stow_type* type = stow_graph_type(function, value);
  uint32_t axis = stowi_graph_rows_axis(type);
  bool has = false;
  for (uint32_t i = 0; axis != UINT32_MAX && i < axis; ++i) {
    has = has || type->dims[i] != 1;
  }
  return has;
}

// What is copied is inside the arena. Other results are only written by what makes them: an operand
// may lie there.
static stow_status set_io(const body* b, stow_diag* diag) {
  stow_effects* effects = b->prepared->effects;
  for (stow_value value = 0; value < stow_graph_value_count(b->graph); ++value) {
    bool is_output = output_index(b->graph, value) != SIZE_MAX;
    if (has_pieces(b->function, value) && (is_output || stow_graph_is_boundary(b->graph, value))) {
      STOW_TRY(
          stow_effects_set_io(effects, value, is_output ? STOW_IO_KEEP : STOW_IO_CONSUME, diag));
    } else if (is_output) {
      STOW_TRY(stow_effects_set_own(effects, value, diag));
    }
  }
  return STOW_OK;
}

static stow_status make_body(body* b, const stow_kernels* kernels, uint64_t rows, stow_diag* diag) {
  stow_str name = stow_str_of("rows");
  int64_t number = (int64_t)rows;
  stow_prepare_options prepare;
  stow_plan_options plan;
  stow_prepare_options_init(&prepare);
  stow_plan_options_init(&plan, STOW_PRESET_DEFAULT);
  prepare.kernels = kernels;
  prepare.fastest = b->is_fast;
  prepare.pack = STOW_PACK_ALWAYS;
  plan.io = STOW_IO_EXTERNAL;
  b->data.rows = rows;
  STOW_TRY(stowi_graph_copy(b->function, b->allocator, diag, &b->graph));
  STOW_TRY(stow_graph_bind(b->graph, &name, &number, 1, diag));
  STOW_TRY(
      stowi_exec_prepare_function(b->graph, &prepare, b->packed, b->allocator, diag, &b->prepared));
  STOW_TRY(set_io(b, diag));
  STOW_TRY(stow_plan_make(b->graph, b->prepared->effects, &plan, b->allocator, diag, &b->plan));
  return make_tables(b, diag);
}

// |wanted| has what a body is looked for by.
static stow_status find_body(stowi_exec_blocks* blocks, const body* wanted, uint64_t rows,
                             stow_diag* diag, const stowi_kernel_block_body** out_body) {
  for (size_t i = 0; i < blocks->bodies.count; ++i) {
    const body* b = blocks->bodies.data[i];
    if (b->function == wanted->function && b->data.rows == rows && b->is_fast == wanted->is_fast &&
        b->packed == wanted->packed) {
      *out_body = &b->data;
      return STOW_OK;
    }
  }
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(blocks->allocator, &blocks->bodies, 1) == STOW_OK, diag));
  body* made = STOWI_NEW(blocks->allocator, body);
  STOW_TRY(stowi_need_memory(made != NULL, diag));
  blocks->bodies.data[blocks->bodies.count++] = made;
  *made = *wanted;
  made->allocator = made->code.allocator = blocks->allocator;
  STOW_TRY(make_body(made, blocks->kernels, rows, diag));
  *out_body = &made->data;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Sizes

// Of all pieces; 0 for a value without rows.
static uint64_t row_bytes(const stow_type* type) {
  uint32_t axis = stowi_graph_rows_axis(type);
  uint64_t bytes = axis == UINT32_MAX ? 0 : stow_dtype_bits(type->dtype) / 8;
  for (uint32_t i = 0; i < type->rank; ++i) {
    bytes *= i == axis ? 1 : (uint64_t)type->dims[i];
  }
  return bytes;
}

// Whether a value is where an operand or a result is, for blocks of any size.
static bool is_outside(const stow_graph* function, stow_value value) {
  return (stow_graph_is_boundary(function, value) || output_index(function, value) != SIZE_MAX) &&
         !has_pieces(function, value);
}

// The largest row of a value that a block has; of any value if it has none.
static uint64_t largest_row(const stow_graph* function) {
  uint64_t most = 0, most_outside = 1;
  for (stow_value value = 0; value < stow_graph_value_count(function); ++value) {
    uint64_t bytes = row_bytes(stow_graph_type(function, value));
    uint64_t* largest = is_outside(function, value) ? &most_outside : &most;
    *largest = bytes > *largest ? bytes : *largest;
  }
  return most == 0 ? most_outside : most;
}

static bool has_product(const stow_graph* function) {
  bool has = false;
  for (stow_node node = 0; node < stow_graph_node_count(function); ++node) {
    stow_op op = stow_graph_op(function, node);
    has = has || op == STOW_OP_MATMUL || op == STOW_OP_CONV;
  }
  return has;
}

// Rows of blocks, the most first, all different.
static uint32_t choose_rows(const stow_graph* function, uint64_t rows,
                            uint64_t out_rows[STOWI_EXEC_MOST_SIZES]) {
  uint64_t row = largest_row(function);
  const uint64_t* sizes = has_product(function) ? product_bytes : block_bytes;
  uint32_t count = 0;
  for (size_t i = 0; i < STOWI_EXEC_MOST_SIZES; ++i) {
    uint64_t fits = sizes[i] / row;
    uint64_t chosen = fits < 1 ? 1 : fits > rows ? rows : fits;
    if (count == 0 || chosen < out_rows[count - 1]) {
      out_rows[count++] = chosen;
    }
  }
  return count;
}

// ---------------------------------------------------------------------------------------------
// Nodes

static stowi_kernel_block_cut cut_of(const stowi_graph_cut* cut, stow_dtype dtype, uint64_t rows) {
  uint64_t unit = cut->unit * (stow_dtype_bits(dtype) / 8);
  return (stowi_kernel_block_cut){.row = cut->by_rows ? unit : 0,
                                  .slice = cut->by_rows ? unit * rows * cut->outer : unit,
                                  .pieces = cut->outer,
                                  .pitch = unit * rows,
                                  .slices = cut->slices,
                                  .divide = cut->divide};
}

static void cut_all(const stow_graph* graph, node_data* n) {
  stowi_graph_cut cut;
  for (size_t k = 0; k < n->operand_count; ++k) {
    stow_value value = stow_graph_operands(graph, n->node)[k];
    (void)stowi_graph_cut_operand(graph, n->node, k, &cut);
    n->operands[k] = cut_of(&cut, stow_graph_type(graph, value)->dtype, n->data.rows);
  }
  for (size_t k = 0; k < n->result_count; ++k) {
    stow_value value = stow_graph_first_result(graph, n->node) + (stow_value)k;
    (void)stowi_graph_cut_result(graph, n->node, k, &cut);
    n->results[k] = cut_of(&cut, stow_graph_type(graph, value)->dtype, n->data.rows);
  }
}

// Operands of which every block of every group reads all: others are not packed.
static uint64_t whole_operands(const node_data* n) {
  uint64_t bits = 0;
  for (size_t k = 0; k < n->operand_count && k < 64; ++k) {
    bool is_whole = n->operands[k].row == 0 && n->operands[k].slices == 1;
    bits |= (uint64_t)is_whole << k;
  }
  return bits;
}

static stow_status make_node(stowi_exec_blocks* blocks, node_data* n, uint64_t packed,
                             stow_diag* diag, uint32_t* out_sizes) {
  const stow_graph* graph = blocks->graph;
  const stow_graph* function =
      stowi_graph_find_function(graph, stow_graph_attr(graph, n->node, "function")->s);
  uint64_t rows[STOWI_EXEC_MOST_SIZES];
  (void)stowi_graph_count_rows(graph, n->node, &n->data.groups, &n->data.rows);
  n->operand_count = stow_graph_operand_count(graph, n->node);
  n->result_count = stow_graph_result_count(graph, n->node);
  n->operands = STOWI_ARRAY(blocks->allocator, stowi_kernel_block_cut, n->operand_count);
  n->results = STOWI_ARRAY(blocks->allocator, stowi_kernel_block_cut, n->result_count);
  STOW_TRY(stowi_need_memory(n->operands != NULL && n->results != NULL, diag));
  cut_all(graph, n);
  packed &= whole_operands(n);
  *out_sizes = choose_rows(function, n->data.rows, rows);
  for (uint32_t i = 0; i < *out_sizes; ++i) {
    body wanted = {.function = function, .is_fast = i + 1 < *out_sizes, .packed = packed};
    uint64_t rest = n->data.rows % rows[i];
    STOW_TRY(find_body(blocks, &wanted, rows[i], diag, &n->sizes[i].body));
    STOW_TRY(rest == 0 ? STOW_OK : find_body(blocks, &wanted, rest, diag, &n->sizes[i].tail));
  }
  n->data.operands = n->operands;
  n->data.results = n->results;
  n->data.sizes = n->sizes;
  return STOW_OK;
}

stow_status stowi_exec_blocks_of(stowi_exec_blocks* blocks, stow_node node, uint64_t packed,
                                 stow_diag* diag, const stowi_kernel_blocks** out_data,
                                 uint32_t* out_sizes) {
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(blocks->allocator, &blocks->nodes, 1) == STOW_OK, diag));
  node_data* made = STOWI_NEW(blocks->allocator, node_data);
  STOW_TRY(stowi_need_memory(made != NULL, diag));
  blocks->nodes.data[blocks->nodes.count++] = made;
  made->node = node;
  STOW_TRY(make_node(blocks, made, packed, diag, out_sizes));
  *out_data = &made->data;
  return STOW_OK;
}

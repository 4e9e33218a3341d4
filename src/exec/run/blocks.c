// A function is bound to a number of rows, prepared and planned like any graph, with its inputs and
// outputs outside the arena; the plan's arena is what a block has. Order and sharing are the same
// for any number of rows, and for any values of the graph's symbols, if it has ranges: only what
// holds for symbols is shared. So each function is planned once, and then resized
// (stowi_plan_resize). From that, the plain tables are made that the kernel runs.
#include "exec/run/blocks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/program/code.h"
#include "exec/program/frame.h"
#include "exec/program/words.h"
#include "exec/run/prepare.h"
#include "graph/api.h"
#include "plan/api.h"

// Bytes that a value of a block may have, for each size: in the first levels of a cache, then less
// where the arena has no room. Products read their right operands once for each block, so theirs
// are larger; but the smallest has at most half of the rows, or it would save nothing.
static const uint64_t block_bytes[STOWI_EXEC_MOST_SIZES] = {65536, 16384, 4096, 1024};
static const uint64_t product_bytes[STOWI_EXEC_MOST_SIZES] = {524288, 131072, 32768, 32768};

// Weights are larger than a cache that blocks share with them, and take as long as the products of
// so many rows; the smallest blocks have at least a part of all rows, if that is not too large.
// Whole tiles of rows are fastest.
static const uint64_t weight_bytes[STOWI_EXEC_MOST_SIZES] = {524288, 131072, 65536, 24576};
#define LARGEST_LEAST 49152
#define LEAST_PART 20
#define MOST_PART 8  // of which the smallest blocks have no more, but a tile
#define TILE_ROWS 6

// Rows that functions are planned for: a transpose of one row would be a view, and other dims are
// seldom as large.
#define PLANNED_ROWS 61

// Blocks for each worker, so that all of them end together, of no fewer bytes than make it worth
// waking one, and of whole vectors.
#define BLOCKS_PER_WORKER 2
#define LEAST_BYTES 16384
#define VECTOR_ROWS 16

// A function as blocks compute it.
typedef struct way {
  stow_allocator allocator;
  const stow_graph* function;  // of the source, with symbols
  bool is_fast;                // kernels have all the scratch that they like
  uint64_t packed;             // inputs that are, if a kernel can
  stowi_graph_twin* twin;
  const stow_graph* graph;  // the twin's
  size_t symbol_count;
  int64_t* values;  // of its symbols, the rows first
  size_t* symbols;  // which symbol of the graph each is
  stow_prepared* prepared;
  stow_plan* plan;
  stowi_plan_resizer* resizer;
  stowi_exec_code code;
  struct way_port* ports;  // by value
} way;

// The number of a value among the inputs, or among the outputs; UINT32_MAX: it is none.
typedef struct way_port {
  uint32_t input, output;
} way_port;

// A way for blocks of a certain number of rows.
typedef struct body {
  stow_allocator allocator;
  way* way;
  uint64_t use;  // the measurement that it was last made for
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
  stowi_graph_cut* cuts;       // operands, then results
  const stow_graph* function;  // of the source
  const stow_graph* bound;     // the same of the graph
  uint64_t packed;             // operands that are
  uint64_t use;                // as of a body; 0: not yet
  stowi_kernel_block_size sizes[STOWI_EXEC_MOST_SIZES];
} node_data;

struct stowi_exec_blocks {
  stow_allocator allocator;
  const stow_graph* source;
  const stow_graph* graph;
  const stow_kernels* kernels;
  uint32_t workers;
  uint64_t use;
  STOWI_VEC(way*) ways;
  STOWI_VEC(body*) bodies;
  STOWI_VEC(node_data*) nodes;
};

stow_status stowi_exec_blocks_create(const stow_graph* source, const stow_graph* graph,
                                     const stow_kernels* kernels, uint32_t workers,
                                     stow_allocator allocator, stow_diag* diag,
                                     stowi_exec_blocks** out_blocks) {
  stowi_exec_blocks* blocks = STOWI_NEW(allocator, stowi_exec_blocks);
  STOW_TRY(stowi_need_memory(blocks != NULL, diag));
  blocks->allocator = allocator;
  blocks->source = source;
  blocks->graph = graph;
  blocks->kernels = kernels;
  blocks->workers = workers;
  blocks->use = 1;
  *out_blocks = blocks;
  return STOW_OK;
}

static void destroy_way(way* w) {
  stowi_exec_code_free(&w->code);
  STOWI_ARRAY_FREE(w->allocator, w->ports, w->graph == NULL ? 0 : stow_graph_value_count(w->graph));
  stowi_plan_resizer_destroy(w->resizer);
  stow_plan_destroy(w->plan);
  stow_prepared_destroy(w->prepared);
  STOWI_ARRAY_FREE(w->allocator, w->values, w->symbol_count);
  STOWI_ARRAY_FREE(w->allocator, w->symbols, w->symbol_count);
  stowi_graph_twin_destroy(w->twin);
  STOWI_DELETE(w->allocator, w);
}

static void destroy_body(body* b) {
  const stowi_exec_program* program = &b->way->prepared->program;
  STOWI_ARRAY_FREE(b->allocator, b->values, program->value_count);
  STOWI_ARRAY_FREE(b->allocator, b->steps, program->node_count);
  STOWI_DELETE(b->allocator, b);
}

static void destroy_node(stow_allocator allocator, node_data* n) {
  STOWI_ARRAY_FREE(allocator, n->operands, n->operand_count);
  STOWI_ARRAY_FREE(allocator, n->results, n->result_count);
  STOWI_ARRAY_FREE(allocator, n->cuts, n->operand_count + n->result_count);
  STOWI_DELETE(allocator, n);
}

void stowi_exec_blocks_destroy(stowi_exec_blocks* blocks) {
  if (blocks == NULL) {
    return;
  }
  for (size_t i = 0; i < blocks->bodies.count; ++i) {
    destroy_body(blocks->bodies.data[i]);
  }
  for (size_t i = 0; i < blocks->ways.count; ++i) {
    destroy_way(blocks->ways.data[i]);
  }
  for (size_t i = 0; i < blocks->nodes.count; ++i) {
    destroy_node(blocks->allocator, blocks->nodes.data[i]);
  }
  STOWI_VEC_FREE(blocks->allocator, &blocks->ways);
  STOWI_VEC_FREE(blocks->allocator, &blocks->bodies);
  STOWI_VEC_FREE(blocks->allocator, &blocks->nodes);
  STOWI_DELETE(blocks->allocator, blocks);
}

void stowi_exec_blocks_measure(stowi_exec_blocks* blocks) {
  if (blocks != NULL) {
    ++blocks->use;
  }
}

// ---------------------------------------------------------------------------------------------
// Inputs and outputs

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
static stow_status set_io(const way* w, stow_diag* diag) {
  stow_effects* effects = w->prepared->effects;
  for (stow_value value = 0; value < stow_graph_value_count(w->graph); ++value) {
    bool is_output = output_index(w->graph, value) != SIZE_MAX;
    if (has_pieces(w->function, value) && (is_output || stow_graph_is_boundary(w->graph, value))) {
      STOW_TRY(
          stow_effects_set_io(effects, value, is_output ? STOW_IO_KEEP : STOW_IO_CONSUME, diag));
    } else if (is_output) {
      STOW_TRY(stow_effects_set_own(effects, value, diag));
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Ways

// Whether result |k| of |node| is as large as an operand, or has narrower elements, whatever the
// numbers of symbols are.
static bool is_alike(const stow_graph* function, stow_node node, size_t k, size_t operand) {
  const stow_type* to =
      stow_graph_type(function, stow_graph_first_result(function, node) + (stow_value)k);
  const stow_type* from = stow_graph_type(function, stow_graph_operands(function, node)[operand]);
  return to->rank == from->rank &&
         memcmp(to->dims, from->dims, to->rank * sizeof(to->dims[0])) == 0 &&
         stow_dtype_bits(to->dtype) <= stow_dtype_bits(from->dtype);
}

// Dims may be equal only for the sizes that the function is planned for: nothing is in place then.
static stow_status forbid_by_chance(const way* w, stow_diag* diag) {
  const stow_graph* graph = w->graph;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
      for (size_t i = 0; i < stow_graph_operand_count(graph, node); ++i) {
        bool is_there = stow_graph_operands(graph, node)[i] != STOW_VALUE_NONE;
        if (is_there && stow_graph_in_place(graph, node, k, i) != STOW_IN_PLACE_NEVER &&
            !is_alike(w->function, node, k, i)) {
          STOW_TRY(stow_effects_forbid_in_place(w->prepared->effects, node, k, i, diag));
        }
      }
    }
  }
  return STOW_OK;
}

// Views are such for all sizes: they still are for prime numbers of rows.
static stow_status check_views(way* w, stow_diag* diag) {
  for (size_t i = 0; i < w->symbol_count; ++i) {
    static const int64_t primes[] = {101, 103, 107, 109};
    w->values[i] = primes[i % (sizeof(primes) / sizeof(primes[0]))];
  }
  STOW_TRY(stowi_graph_twin_bind(w->twin, w->values, diag));
  for (stow_value value = 0; value < stow_graph_value_count(w->graph); ++value) {
    stow_node node = stow_graph_producer(w->graph, value);
    stow_view view;
    bool was = w->prepared->program.values[value].parent != STOW_VALUE_NONE;
    if (was &&
        !stow_graph_view(w->graph, node, value - stow_graph_first_result(w->graph, node), &view)) {
      return stowi_fail(diag, STOW_ERR_UNSUPPORTED, "%s is a view for some sizes only",
                        stowi_exec_words_value(w->function, value).text);
    }
  }
  return STOW_OK;
}

// The rows, and the largest numbers of the graph's symbols.
static stow_status list_symbols(way* w, const stow_graph* source, stow_diag* diag) {
  const stow_dims* dims = stow_graph_dims(w->function);
  w->symbol_count = stow_dims_symbol_count(dims);
  w->values = STOWI_ARRAY(w->allocator, int64_t, w->symbol_count);
  w->symbols = STOWI_ARRAY(w->allocator, size_t, w->symbol_count);
  STOW_TRY(stowi_need_memory(w->values != NULL && w->symbols != NULL, diag));
  w->values[0] = PLANNED_ROWS;
  for (size_t i = 1; i < w->symbol_count; ++i) {
    stow_dim_range range = {.max = 1};
    w->symbols[i] = stow_dims_find_symbol(stow_graph_dims(source), stow_dims_symbol_name(dims, i));
    (void)stow_dims_range(stow_graph_dims(source), w->symbols[i], &range);
    w->values[i] = range.max;
  }
  return STOW_OK;
}

static stow_status list_ports(way* w, stow_diag* diag) {
  uint32_t count = stow_graph_value_count(w->graph);
  w->ports = STOWI_ARRAY(w->allocator, way_port, count);
  STOW_TRY(stowi_need_memory(w->ports != NULL, diag));
  for (stow_value value = 0; value < count; ++value) {
    w->ports[value] =
        (way_port){(uint32_t)input_index(w->graph, value), (uint32_t)output_index(w->graph, value)};
  }
  return STOW_OK;
}

static stow_status make_way(way* w, const stowi_exec_blocks* blocks, stow_diag* diag) {
  stow_prepare_options prepare;
  stow_plan_options plan;
  stow_prepare_options_init(&prepare);
  stow_plan_options_init(&plan, STOW_PRESET_DEFAULT);
  prepare.kernels = blocks->kernels;
  prepare.fastest = w->is_fast;
  prepare.pack = STOW_PACK_ALWAYS;
  plan.io = STOW_IO_EXTERNAL;
  plan.elide_copies = false;
  STOW_TRY(list_symbols(w, blocks->source, diag));
  STOW_TRY(stowi_graph_twin_create(w->function, w->allocator, diag, &w->twin));
  STOW_TRY(stowi_graph_twin_bind(w->twin, w->values, diag));
  w->graph = stowi_graph_twin_graph(w->twin);
  STOW_TRY(
      stowi_exec_prepare_function(w->graph, &prepare, w->packed, w->allocator, diag, &w->prepared));
  STOW_TRY(set_io(w, diag));
  STOW_TRY(forbid_by_chance(w, diag));
  STOW_TRY(stow_plan_make(w->graph, w->prepared->effects, &plan, w->allocator, diag, &w->plan));
  STOW_TRY(check_views(w, diag));
  STOW_TRY(stowi_plan_resizer_create(w->plan, w->graph, w->prepared->effects, w->allocator, diag,
                                     &w->resizer));
  STOW_TRY(stowi_exec_code_init(&w->code, &w->prepared->program, w->plan, w->allocator, diag));
  return list_ports(w, diag);
}

// |wanted| has what a way is looked for by.
static stow_status find_way(stowi_exec_blocks* blocks, const way* wanted, stow_diag* diag,
                            way** out_way) {
  for (size_t i = 0; i < blocks->ways.count; ++i) {
    way* w = blocks->ways.data[i];
    if (w->function == wanted->function && w->is_fast == wanted->is_fast &&
        w->packed == wanted->packed) {
      *out_way = w;
      return STOW_OK;
    }
  }
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(blocks->allocator, &blocks->ways, 1) == STOW_OK, diag));
  way* made = STOWI_NEW(blocks->allocator, way);
  STOW_TRY(stowi_need_memory(made != NULL, diag));
  *made = *wanted;
  made->allocator = made->code.allocator = blocks->allocator;
  stow_status status = make_way(made, blocks, diag);
  if (status != STOW_OK) {
    destroy_way(made);
    return status;
  }
  blocks->ways.data[blocks->ways.count++] = made;
  *out_way = made;
  return STOW_OK;
}

// Gives the way the sizes that it has for |rows| rows, and the numbers that the graph is bound to.
static stow_status resize(way* w, const stow_graph* graph, uint64_t rows, stow_diag* diag) {
  const int64_t* point = stowi_graph_twin_point(graph);
  w->values[0] = (int64_t)rows;
  for (size_t i = 1; i < w->symbol_count && point != NULL; ++i) {
    w->values[i] = point[w->symbols[i]];
  }
  STOW_TRY(stowi_graph_twin_bind(w->twin, w->values, diag));
  STOW_TRY(stowi_exec_prepared_measure(w->prepared, diag));
  STOW_TRY(stowi_plan_resize(w->resizer, diag));
  return stowi_exec_code_fill(&w->code, &w->prepared->program, w->plan, diag);
}

// ---------------------------------------------------------------------------------------------
// Bodies

static bool home_value(const body* b, stow_value value) {
  const way* w = b->way;
  const stowi_exec_value* facts = &w->prepared->program.values[value];
  stowi_kernel_block_value* out = &b->values[value];
  uint32_t input = w->ports[value].input;
  uint32_t output = w->ports[value].output;
  stow_slot slot;
  *out = (stowi_kernel_block_value){.tensor = stowi_exec_tensor_of(facts->type)};
  if (stow_plan_value_slot(w->plan, value, &slot)) {
    out->at = slot.offset;
    out->home = input != UINT32_MAX    ? STOWI_KERNEL_BLOCK_GATHER
                : output != UINT32_MAX ? STOWI_KERNEL_BLOCK_SCATTER
                                       : STOWI_KERNEL_BLOCK_SCRATCH;
    out->index = input != UINT32_MAX ? input : output != UINT32_MAX ? output : 0;
  } else if (input != UINT32_MAX) {
    out->home = STOWI_KERNEL_BLOCK_OPERAND;
    out->index = input;
  } else if (output != UINT32_MAX) {
    out->home = STOWI_KERNEL_BLOCK_RESULT;
    out->index = output;
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
  const way* w = b->way;
  const stowi_exec_step* step = &w->prepared->program.steps[node];
  stow_slot scratch = w->code.scratch[node];
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
                                .variant = w->code.variants[node],
                                .packed = step->packed,
                                .scratch_at = scratch.size == 0 ? 0 : scratch.offset,
                                .scratch_size = scratch.size};
}

static stow_status fill_body(body* b, uint64_t rows, stow_diag* diag) {
  const way* w = b->way;
  const stowi_exec_program* program = &w->prepared->program;
  for (stow_value value = 0; value < program->value_count; ++value) {
    if (!home_value(b, value)) {
      return stowi_fail(diag, STOW_ERR_UNSUPPORTED, "%s has no place in its function",
                        stowi_exec_words_value(w->graph, value).text);
    }
  }
  b->data.step_count = 0;
  for (size_t i = 0; i < w->code.count; ++i) {
    if (w->code.instructions[i].action == STOWI_EXEC_CALL) {
      add_step(b, w->code.instructions[i].node);
    }
  }
  b->data.rows = rows;
  b->data.bytes = stow_plan_arena_size(w->plan);
  return STOW_OK;
}

static stow_status make_body(stowi_exec_blocks* blocks, way* w, stow_diag* diag, body** out_body) {
  const stowi_exec_program* program = &w->prepared->program;
  stow_allocator allocator = blocks->allocator;
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(allocator, &blocks->bodies, 1) == STOW_OK, diag));
  body* b = STOWI_NEW(allocator, body);
  STOW_TRY(stowi_need_memory(b != NULL, diag));
  *b = (body){.allocator = allocator, .way = w};
  blocks->bodies.data[blocks->bodies.count++] = b;
  b->values = STOWI_ARRAY(allocator, stowi_kernel_block_value, program->value_count);
  b->steps = STOWI_ARRAY(allocator, stowi_kernel_block_step, program->node_count);
  STOW_TRY(stowi_need_memory(b->values != NULL && b->steps != NULL, diag));
  b->data.values = b->values;
  b->data.steps = b->steps;
  b->data.value_count = program->value_count;
  b->data.most_operands = (uint32_t)program->most_operands;
  b->data.most_results = (uint32_t)program->most_results;
  *out_body = b;
  return STOW_OK;
}

// The body for |rows| rows: one that was made since dims changed last, or one that is no longer
// used.
static stow_status find_body(stowi_exec_blocks* blocks, way* w, uint64_t rows, stow_diag* diag,
                             const stowi_kernel_block_body** out_body) {
  body* unused = NULL;
  for (size_t i = 0; i < blocks->bodies.count; ++i) {
    body* b = blocks->bodies.data[i];
    if (b->way == w && b->use == blocks->use && b->data.rows == rows) {
      *out_body = &b->data;
      return STOW_OK;
    }
    unused = unused == NULL && b->way == w && b->use != blocks->use ? b : unused;
  }
  if (unused == NULL) {
    STOW_TRY(make_body(blocks, w, diag, &unused));
  }
  STOW_TRY(resize(w, blocks->graph, rows, diag));
  STOW_TRY(fill_body(unused, rows, diag));
  unused->use = blocks->use;
  *out_body = &unused->data;
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

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

// Rows of a block that leave blocks for all workers.
static uint64_t shared_rows(const node_data* n, uint32_t workers) {
  uint64_t all = n->data.rows;
  if (workers <= 1) {
    return all;
  }
  uint64_t per_group = divide_up((uint64_t)workers * BLOCKS_PER_WORKER, n->data.groups);
  uint64_t rows = divide_up(divide_up(all, per_group), VECTOR_ROWS) * VECTOR_ROWS;
  uint64_t least = divide_up(LEAST_BYTES, largest_row(n->bound));
  rows = rows > least ? rows : least;
  return rows < all ? rows : all;
}

static uint64_t whole_tiles(uint64_t rows) {
  return rows < TILE_ROWS ? TILE_ROWS : rows - rows % TILE_ROWS;
}

// Rows of blocks of size |i|.
static uint64_t rows_of_size(const node_data* n, size_t i) {
  uint64_t row = largest_row(n->bound);
  bool is_last = i + 1 == STOWI_EXEC_MOST_SIZES;
  if (!has_product(n->bound)) {
    return block_bytes[i] / row;
  }
  uint64_t rows = (n->packed != 0 ? weight_bytes : product_bytes)[i] / row;
  if (n->packed != 0) {
    uint64_t part = n->data.rows / LEAST_PART;
    uint64_t most = LARGEST_LEAST / row;
    uint64_t few = n->data.rows / MOST_PART;
    part = part < most ? part : most;
    rows = is_last && rows > few ? few : rows;
    rows = whole_tiles(rows > part ? rows : part);
  }
  uint64_t half = n->data.rows - n->data.rows / 2;
  return is_last && rows > half ? half : rows;
}

// Rows of blocks, the most first, all different.
static uint32_t choose_rows(const node_data* n, uint32_t workers,
                            uint64_t out_rows[STOWI_EXEC_MOST_SIZES]) {
  uint64_t most = shared_rows(n, workers);
  uint32_t count = 0;
  for (size_t i = 0; i < STOWI_EXEC_MOST_SIZES; ++i) {
    uint64_t fits = rows_of_size(n, i);
    uint64_t chosen = fits < 1 ? 1 : fits > most ? most : fits;
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

static stow_status cut_all(const stow_graph* graph, node_data* n, stow_diag* diag) {
  const stow_value* operands = stow_graph_operands(graph, n->node);
  stow_value first = stow_graph_first_result(graph, n->node);
  if (!stowi_graph_cut_node(graph, n->node, &n->data.groups, &n->data.rows, n->cuts)) {
    return stowi_fail(diag, STOW_ERR_TYPE, "%s cannot be cut into blocks at these sizes",
                      stowi_exec_words_node(graph, n->node).text);
  }
  for (size_t k = 0; k < n->operand_count; ++k) {
    n->operands[k] = cut_of(&n->cuts[k], stow_graph_type(graph, operands[k])->dtype, n->data.rows);
  }
  for (size_t k = 0; k < n->result_count; ++k) {
    n->results[k] = cut_of(&n->cuts[n->operand_count + k],
                           stow_graph_type(graph, first + (stow_value)k)->dtype, n->data.rows);
  }
  return STOW_OK;
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

static stow_status measure_node(stowi_exec_blocks* blocks, node_data* n, uint64_t packed,
                                stow_diag* diag, uint32_t* out_sizes) {
  const stow_graph* graph = blocks->graph;
  uint64_t rows[STOWI_EXEC_MOST_SIZES];
  STOW_TRY(cut_all(graph, n, diag));
  bool is_again = n->use != 0 && n->use != blocks->use;
  packed = (is_again ? n->packed : packed) & whole_operands(n);
  if (is_again && packed != n->packed) {
    return stowi_fail(diag, STOW_ERR_UNSUPPORTED, "%s: weights are shared by groups at some sizes",
                      stowi_exec_words_node(graph, n->node).text);
  }
  n->packed = packed;
  n->use = blocks->use;
  *out_sizes = choose_rows(n, blocks->workers, rows);
  for (uint32_t i = 0; i < *out_sizes; ++i) {
    way wanted = {.function = n->function, .is_fast = i + 1 < *out_sizes, .packed = packed};
    way* w;
    uint64_t rest = n->data.rows % rows[i];
    n->sizes[i] = (stowi_kernel_block_size){NULL, NULL};
    STOW_TRY(find_way(blocks, &wanted, diag, &w));
    STOW_TRY(find_body(blocks, w, rows[i], diag, &n->sizes[i].body));
    STOW_TRY(rest == 0 ? STOW_OK : find_body(blocks, w, rest, diag, &n->sizes[i].tail));
  }
  return STOW_OK;
}

static stow_status find_node(stowi_exec_blocks* blocks, stow_node node, stow_diag* diag,
                             node_data** out_node) {
  for (size_t i = 0; i < blocks->nodes.count; ++i) {
    if (blocks->nodes.data[i]->node == node) {
      *out_node = blocks->nodes.data[i];
      return STOW_OK;
    }
  }
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(blocks->allocator, &blocks->nodes, 1) == STOW_OK, diag));
  node_data* n = STOWI_NEW(blocks->allocator, node_data);
  STOW_TRY(stowi_need_memory(n != NULL, diag));
  blocks->nodes.data[blocks->nodes.count++] = n;
  n->node = node;
  n->operand_count = stow_graph_operand_count(blocks->graph, node);
  n->result_count = stow_graph_result_count(blocks->graph, node);
  n->operands = STOWI_ARRAY(blocks->allocator, stowi_kernel_block_cut, n->operand_count);
  n->results = STOWI_ARRAY(blocks->allocator, stowi_kernel_block_cut, n->result_count);
  n->cuts = STOWI_ARRAY(blocks->allocator, stowi_graph_cut, n->operand_count + n->result_count);
  STOW_TRY(stowi_need_memory(n->operands != NULL && n->results != NULL && n->cuts != NULL, diag));
  stow_str name = stow_graph_attr(blocks->graph, node, "function")->s;
  n->function = stowi_graph_find_function(blocks->source, name);
  n->bound = stowi_graph_find_function(blocks->graph, name);
  n->data.operands = n->operands;
  n->data.results = n->results;
  n->data.sizes = n->sizes;
  *out_node = n;
  return STOW_OK;
}

stow_status stowi_exec_blocks_of(stowi_exec_blocks* blocks, stow_node node, uint64_t packed,
                                 stow_diag* diag, const stowi_kernel_blocks** out_data,
                                 uint32_t* out_sizes) {
  node_data* n;
  STOW_TRY(find_node(blocks, node, diag, &n));
  STOW_TRY(measure_node(blocks, n, packed, diag, out_sizes));
  *out_data = &n->data;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// What changes

static void name_node(node_data* n, stowi_exec_changes* changes) {
  stowi_exec_changes_name(changes, &n->data.groups, sizeof(n->data.groups));
  stowi_exec_changes_name(changes, &n->data.rows, sizeof(n->data.rows));
  stowi_exec_changes_name(changes, n->operands, n->operand_count * sizeof(n->operands[0]));
  stowi_exec_changes_name(changes, n->results, n->result_count * sizeof(n->results[0]));
  for (size_t i = 0; i < STOWI_EXEC_MOST_SIZES; ++i) {
    stowi_exec_changes_name(changes, (void*)&n->sizes[i].body, sizeof(n->sizes[i].body));
    stowi_exec_changes_name(changes, (void*)&n->sizes[i].tail, sizeof(n->sizes[i].tail));
  }
}

static void name_body(body* b, stowi_exec_changes* changes) {
  stowi_exec_changes_name(changes, &b->data.rows, sizeof(b->data.rows));
  stowi_exec_changes_name(changes, &b->data.bytes, sizeof(b->data.bytes));
  for (size_t i = 0; i < b->data.value_count; ++i) {
    stowi_kernel_block_value* value = &b->values[i];
    stowi_exec_changes_name(changes, value->tensor.dims,
                            value->tensor.rank * sizeof(value->tensor.dims[0]));
    stowi_exec_changes_name(changes, &value->home, sizeof(value->home));
    stowi_exec_changes_name(changes, &value->index, sizeof(value->index));
    stowi_exec_changes_name(changes, &value->at, sizeof(value->at));
  }
  for (size_t i = 0; i < b->data.step_count; ++i) {
    stowi_exec_changes_name(changes, &b->steps[i].variant, sizeof(b->steps[i].variant));
    stowi_exec_changes_name(changes, &b->steps[i].scratch_at, sizeof(b->steps[i].scratch_at));
    stowi_exec_changes_name(changes, &b->steps[i].scratch_size, sizeof(b->steps[i].scratch_size));
  }
}

void stowi_exec_blocks_name(stowi_exec_blocks* blocks, stowi_exec_changes* changes) {
  if (blocks == NULL) {
    return;
  }
  for (size_t i = 0; i < blocks->nodes.count; ++i) {
    name_node(blocks->nodes.data[i], changes);
  }
  for (size_t i = 0; i < blocks->bodies.count; ++i) {
    name_body(blocks->bodies.data[i], changes);
  }
  for (size_t i = 0; i < blocks->ways.count; ++i) {
    stowi_exec_blocks_name(blocks->ways.data[i]->prepared->blocks, changes);
  }
}

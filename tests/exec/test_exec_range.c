// Executors of a range against executors made for each shape: the same bits in any order of shapes,
// and nothing is allocated once they are made.
#include <stdlib.h>
#include <stowage/exec.h>
#include <stowage/formula.h>
#include <stowage/text.h>
#include <string.h>

#include "base/diag.h"
#include "exec/api.h"
#include "exec/run/exec.h"
#include "exec/wrapped_calls.h"
#include "graph/api.h"
#include "support/fault.h"
#include "support/test.h"

static stow_allocator heap(void) { return stow_allocator_default(); }

// ---------------------------------------------------------------------------------------------
// A graph, and its executor of all shapes

typedef struct fixture {
  stow_module* module;
  stow_graph* graph;
  stow_prepared* prepared;
  stow_formula* formula;
  stow_exec* exec;
  stow_exec_options options;
  stow_prepare_options prepare;
  stow_plan_options plan;
  size_t carry_count;
  stow_value carries[2][2];  // an output, and the input that it is in the next run
  bool aliases;              // they have the same bytes in the arena
  stow_diag diag;
} fixture;

static void begin(fixture* f, const char* text) {
  *f = (fixture){0};
  stow_diag_init(&f->diag);
  stow_exec_options_init(&f->options);
  stow_prepare_options_init(&f->prepare);
  stow_plan_options_init(&f->plan, STOW_PRESET_DEFAULT);
  stow_status status =
      stow_module_parse(text, strlen(text), "test.stow", NULL, heap(), &f->diag, &f->module);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f->diag.message);
  f->graph = stow_module_graph(f->module, 0);
}

static stow_status make(fixture* f, stow_allocator allocator) {
  STOW_TRY(stow_prepare(f->graph, &f->prepare, allocator, &f->diag, &f->prepared));
  for (size_t i = 0; i < f->carry_count; ++i) {
    STOW_TRY(f->aliases
                 ? stow_effects_alias(stow_prepared_effects(f->prepared), f->carries[i][0],
                                      f->carries[i][1], &f->diag)
                 : stow_prepared_carry(f->prepared, f->carries[i][0], f->carries[i][1], &f->diag));
  }
  stow_formula_options options;
  stow_formula_options_init(&options);
  options.plan = &f->plan;
  options.effects = stow_prepared_formula_effects(f->prepared);
  STOW_TRY(stow_formula_make(f->graph, &options, allocator, &f->diag, &f->formula));
  return stow_exec_create_range(f->prepared, f->formula, &f->options, allocator, &f->diag,
                                &f->exec);
}

static void drop(fixture* f) {
  stow_exec_destroy(f->exec);
  stow_formula_destroy(f->formula);
  stow_prepared_destroy(f->prepared);
  f->exec = NULL;
  f->formula = NULL;
  f->prepared = NULL;
}

static void end(fixture* f) {
  drop(f);
  stow_module_destroy(f->module);
}

// ---------------------------------------------------------------------------------------------
// Runs

// Sets all inputs of |exec|, which has their types, to numbers that depend on the shape alone.
static void set_inputs(stow_exec* exec, const stow_graph* graph, bool by_fill, stow_diag* diag) {
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    if (stow_graph_op(graph, node) != STOW_OP_INPUT) {
      continue;
    }
    stow_value value = stow_graph_first_result(graph, node);
    const stow_type* type = stow_graph_type(graph, value);
    stow_tensor tensor = {.dtype = type->dtype, .rank = type->rank};
    memcpy(tensor.dims, type->dims, sizeof(tensor.dims));
    size_t bytes = stow_tensor_bytes(&tensor);
    float* data = __real_malloc(bytes + 1);
    for (size_t i = 0; i < bytes / sizeof(float); ++i) {
      data[i] = (float)((i * 37 + node * 11) % 101) / 50.0F - 1.0F;
    }
    tensor.data = data;
    stow_tensor place;
    stow_status status = STOW_OK;
    if (by_fill) {
      status = stow_exec_fill(exec, value, diag, &place);
      if (status == STOW_OK && bytes != 0) {
        memcpy(place.data, data, bytes);
      }
    } else {
      status = stow_exec_input(exec, value, &tensor, diag);
    }
    test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag->message);
    free(data);
  }
}

// The graph with the values of |point|.
static stow_graph* bind(const fixture* f, size_t point) {
  stow_str names[STOW_MAX_RANK];
  int64_t values[STOW_MAX_RANK];
  stow_graph* bound = NULL;
  size_t count = stow_formula_symbol_count(f->formula);
  CHECK(stow_formula_point_values(f->formula, point, values));
  for (size_t i = 0; i < count; ++i) {
    names[i] = stow_formula_symbol(f->formula, i, NULL);
  }
  CHECK(stowi_graph_copy(f->graph, heap(), NULL, &bound) == STOW_OK);
  CHECK(stow_graph_bind(bound, names, values, count, NULL) == STOW_OK);
  return bound;
}

// Both have the same dims and bits.
static void compare(const fixture* f, size_t point, const stow_exec* own, const stow_graph* bound) {
  for (size_t i = 0; i < stow_graph_output_count(bound); ++i) {
    stow_value value = stow_graph_outputs(bound)[i];
    stow_tensor a, b;
    CHECK(stow_exec_value(f->exec, value, NULL, &a) == STOW_OK);
    CHECK(stow_exec_value(own, value, NULL, &b) == STOW_OK);
    CHECK(a.rank == b.rank && memcmp(a.dims, b.dims, sizeof(a.dims)) == 0);
    size_t bytes = stow_tensor_bytes(&b);
    bool is_same = bytes == 0 || memcmp(a.data, b.data, bytes) == 0;
    test_check(is_same, __FILE__, __LINE__, "point %zu: output %zu differs", point, i);
  }
}

// Runs the executor of the range at |point|, and one made for it alone.
static void run_at(fixture* f, size_t point, bool by_dims) {
  int64_t values[STOW_MAX_RANK];
  stow_graph* bound = bind(f, point);
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_exec* own = NULL;
  CHECK(stow_prepare(bound, &f->prepare, heap(), &f->diag, &prepared) == STOW_OK);
  CHECK(stow_plan_make(bound, stow_prepared_effects(prepared), &f->plan, heap(), &f->diag, &plan) ==
        STOW_OK);
  stow_status status = stow_exec_create(prepared, plan, NULL, heap(), &f->diag, &own);
  REQUIRE(status == STOW_OK);
  set_inputs(own, bound, true, &f->diag);
  CHECK(stow_exec_run(own, &f->diag) == STOW_OK);

  CHECK(stow_formula_point_values(f->formula, point, values));
  calls = 0;
  if (!by_dims) {
    status = stow_exec_set_point(f->exec, values, &f->diag);
    test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f->diag.message);
  }
  set_inputs(f->exec, bound, !by_dims, &f->diag);
  status = stow_exec_run(f->exec, &f->diag);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f->diag.message);
  CHECK(calls == 0 || f->options.paranoid || f->options.poison);
  compare(f, point, own, bound);
  stow_exec_destroy(own);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  stow_graph_destroy(bound);
}

// All points, then a walk through them, with and without telling the point.
static void run_all(fixture* f) {
  test_random random = {7};
  size_t count = stow_formula_point_count(f->formula);
  size_t most = count < 64 ? count : 64;
  for (size_t i = 0; i < most; ++i) {
    run_at(f, count < 64 ? i : (size_t)test_random_below(&random, count), false);
  }
  // The dims of one input tell one symbol.
  bool by_dims = stow_formula_symbol_count(f->formula) == 1;
  for (size_t i = 0; i < 24; ++i) {
    run_at(f, (size_t)test_random_below(&random, count), by_dims && i % 2 == 0);
  }
}

static void check_graph(const char* text) {
  for (int way = 0; way < 4; ++way) {
    fixture f;
    begin(&f, text);
    f.prepare.threads = way == 1 ? 2 : 1;
    f.options.paranoid = way == 2;
    f.prepare.pack = way == 3 ? STOW_PACK_ALWAYS : STOW_PACK_NEVER;
    stow_status status = make(&f, heap());
    test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f.diag.message);
    if (status == STOW_OK) {
      run_all(&f);
    }
    end(&f);
  }
}

// ---------------------------------------------------------------------------------------------

#define CHAIN                                                            \
  "graph @chain {\n range ?n = 1..40\n"                                  \
  "%0 = input \"x\" : f32[?n, 8]\n %1 = relu(%0) : f32[?n, 8]\n"         \
  "%2 = transpose(%1) {perm = [1, 0]} : f32[8, ?n]\n"                    \
  "%3 = matmul(%2, %1) : f32[8, 8]\n %4 = matmul(%1, %3) : f32[?n, 8]\n" \
  "%5 = softmax(%4) : f32[?n, 8]\n %6 = add(%5, %0) : f32[?n, 8]\n"      \
  "return %6, %3\n}\n"

TEST(ShapesInAnyOrderGiveTheSameBits) { check_graph(CHAIN); }

// Attention in blocks of rows; queries and keys have ranges, and a cache may be empty.
#define ATTENTION                                                                       \
  "graph @attention {\n"                                                                \
  "range ?past = 0..9\n range ?n = 1..6\n"                                              \
  "function @attend {\n %0 = input \"q\" : f32[?rows, 4]\n"                             \
  "  %1 = input \"k\" : f32[4, ?(past + n)]\n %2 = input \"v\" : f32[?(past + n), 4]\n" \
  "  %3 = matmul(%0, %1) : f32[?rows, ?(past + n)]\n"                                   \
  "  %4 = softmax(%3) : f32[?rows, ?(past + n)]\n"                                      \
  "  %5 = matmul(%4, %2) : f32[?rows, 4]\n  return %5\n}\n"                             \
  "%0 = input \"x\" : f32[?n, 4]\n %1 = input \"cache\" : f32[?past, 4]\n"              \
  "%2 = concat(%1, %0) {axis = 0} : f32[?(past + n), 4]\n"                              \
  "%3 = transpose(%2) {perm = [1, 0]} : f32[4, ?(past + n)]\n"                          \
  "%4 = blocks(%0, %3, %2) {function = \"attend\", over = [0, 0, 1]} : f32[?n, 4]\n"    \
  "%5 = add(%4, %0) : f32[?n, 4]\n return %5, %2\n}\n"

TEST(CachesGrowFromNothing) { check_graph(ATTENTION); }

// An image with two symbols, weights, windows of concats and convolutions with scratch.
#define IMAGE                                                                                   \
  "graph @image {\n range ?h = 4..16/4\n range ?w = 4..12/4\n"                                  \
  "%0 = input \"x\" : f32[1, 2, ?h, ?w]\n"                                                      \
  "%1 = constant \"k\" {data = [0.5, -1, 0.25, 2]} : f32[2, 2, 1, 1]\n"                         \
  "%2 = conv(%0, %1) : f32[1, 2, ?h, ?w]\n %3 = sigmoid(%2) : f32[1, 2, ?h, ?w]\n"              \
  "%4 = mul(%2, %3) : f32[1, 2, ?h, ?w]\n %5 = concat(%4, %0) {axis = 1} : f32[1, 4, ?h, ?w]\n" \
  "%6 = relu(%5) : f32[1, 4, ?h, ?w]\n return %6\n}\n"

TEST(ImagesHaveTwoSymbols) { check_graph(IMAGE); }

// ---------------------------------------------------------------------------------------------
// Layers, of which only the first is asked for its scratch at other dims

// Products, convolutions and blocks that are alike, and others that are nearly so: other weights,
// other dims at some points, other attributes, other functions.
#define LAYERS                                                                                    \
  "graph @layers {\n range ?n = 1..24\n"                                                          \
  "function @act {\n %0 = input \"x\" : f32[?rows]\n %1 = sigmoid(%0) : f32[?rows]\n"             \
  "  %2 = mul(%0, %1) : f32[?rows]\n  return %2\n}\n"                                             \
  "function @other {\n %0 = input \"x\" : f32[?rows]\n %1 = tanh(%0) : f32[?rows]\n"              \
  "  %2 = exp(%1) : f32[?rows]\n %3 = mul(%0, %2) : f32[?rows]\n  return %3\n}\n"                 \
  "%0 = input \"x\" : f32[1, 4, ?n, 8]\n %1 = input \"a\" : f32[8, 8]\n"                          \
  "%2 = input \"b\" : f32[8, 8]\n %3 = input \"c\" : f32[?n, ?n]\n"                               \
  "%4 = constant \"k\" {data = [1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6]} : f32[4, 1, 1, 3]\n"         \
  "%5 = constant \"l\" {data = [3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8]} : f32[4, 1, 1, 3]\n"         \
  "%6 = matmul(%0, %1) : f32[1, 4, ?n, 8]\n %7 = matmul(%6, %2) : f32[1, 4, ?n, 8]\n"             \
  "%8 = matmul(%3, %7) : f32[1, 4, ?n, 8]\n %9 = matmul(%8, %1) : f32[1, 4, ?n, 8]\n"             \
  "%10 = conv(%9, %4) {pads = [0, 1, 0, 1], group = 4} : f32[1, 4, ?n, 8]\n"                      \
  "%11 = conv(%10, %5) {pads = [0, 1, 0, 1], group = 4} : f32[1, 4, ?n, 8]\n"                     \
  "%12 = conv(%11, %5) {pads = [0, 2, 0, 2], dilations = [1, 2], group = 4} "                     \
  ": f32[1, 4, ?n, 8]\n"                                                                          \
  "%13 = blocks(%12) {function = \"act\", over = [0, 0, 4], of = [\"p\"]} : f32[1, 4, ?n, 8]\n"   \
  "%14 = blocks(%13) {function = \"act\", over = [0, 0, 4], of = [\"q\"]} : f32[1, 4, ?n, 8]\n"   \
  "%15 = blocks(%14) {function = \"other\", over = [0, 0, 4], of = [\"q\"]} : f32[1, 4, ?n, 8]\n" \
  "%16 = softmax(%15) : f32[1, 4, ?n, 8]\n %17 = softmax(%16) : f32[1, 4, ?n, 8]\n"               \
  "return %17\n}\n"

// The last price of each node, which is what it needs, is the same as if it had been asked itself.
static void check_prices(const stowi_exec_program* program, const stowi_exec_program* alone) {
  for (stow_node node = 0; node < program->node_count; ++node) {
    const stowi_exec_step* a = &program->steps[node];
    const stowi_exec_step* b = &alone->steps[node];
    CHECK(a->price_count == b->price_count);
    for (uint32_t i = 0; i < a->price_count && i < b->price_count; ++i) {
      CHECK_U64(a->prices[i].variant, b->prices[i].variant);
      CHECK_U64(a->prices[i].scratch, b->prices[i].scratch);
    }
  }
}

// What kernels ask for at |point|.
static void check_scratch(const fixture* f, size_t point) {
  stow_graph* bound = bind(f, point);
  stow_prepared* own = NULL;
  int64_t values[STOW_MAX_RANK];
  CHECK(stow_prepare(bound, &f->prepare, heap(), NULL, &own) == STOW_OK);
  CHECK(stow_formula_point_values(f->formula, point, values));
  CHECK(stowi_exec_prepared_bind(f->prepared, values, NULL) == STOW_OK);
  check_prices(stowi_exec_prepared_program(f->prepared), stowi_exec_prepared_program(own));
  stow_prepared_destroy(own);
  stow_graph_destroy(bound);
}

TEST(LayersThatAreAlikeAreAskedOnce) {
  fixture f;
  begin(&f, LAYERS);
  REQUIRE(make(&f, heap()) == STOW_OK);
  const stowi_exec_step* steps = stowi_exec_prepared_program(f.prepared)->steps;
  static const struct {
    stow_value result, like;
  } expected[] = {{6, 0},  {7, 6},  {8, 0},   {9, 6},  {10, 0}, {11, 10},
                  {12, 0}, {13, 0}, {14, 13}, {15, 0}, {17, 0}};
  for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); ++i) {
    stow_node node = stow_graph_producer(f.graph, expected[i].result);
    stow_node like =
        expected[i].like == 0 ? STOW_NODE_NONE : stow_graph_producer(f.graph, expected[i].like);
    test_check(steps[node].like == like, __FILE__, __LINE__, "%%%u is like node %u",
               (unsigned)expected[i].result, (unsigned)steps[node].like);
  }
  for (size_t point = 0; point < stow_formula_point_count(f.formula); ++point) {
    check_scratch(&f, point);
  }
  end(&f);
  check_graph(LAYERS);
}

// ---------------------------------------------------------------------------------------------
// Numbers that were noted are those that are computed

static uint64_t mixed(uint64_t hash, uint64_t number) {
  return (hash ^ number) * UINT64_C(0x9E3779B97F4A7C15) + (hash >> 29);
}

static uint64_t of_pointer(const void* pointer) { return (uint64_t)(uintptr_t)pointer; }

static uint64_t of_body(const stowi_kernel_block_body* body) {
  uint64_t hash = body == NULL ? 0 : mixed(body->rows, body->bytes);
  for (size_t i = 0; body != NULL && i < body->value_count; ++i) {
    const stowi_kernel_block_value* value = &body->values[i];
    hash = mixed(mixed(mixed(hash, value->home), value->index), value->at);
    for (uint32_t k = 0; k < value->tensor.rank; ++k) {
      hash = mixed(hash, (uint64_t)value->tensor.dims[k]);
    }
  }
  for (size_t i = 0; body != NULL && i < body->step_count; ++i) {
    const stowi_kernel_block_step* step = &body->steps[i];
    hash = mixed(mixed(mixed(hash, step->variant), step->scratch_at), step->scratch_size);
  }
  return hash;
}

static uint64_t of_cuts(const stowi_kernel_block_cut* cuts, size_t count) {
  uint64_t hash = count;
  for (size_t i = 0; i < count; ++i) {
    hash = mixed(mixed(mixed(hash, cuts[i].row), cuts[i].slice), cuts[i].pieces);
    hash = mixed(mixed(mixed(hash, cuts[i].pitch), cuts[i].slices), cuts[i].divide);
  }
  return hash;
}

// What a run reads of a node.
static uint64_t of_node(const stow_exec* exec, stow_node node) {
  const stowi_exec_step* step = &exec->program->steps[node];
  stow_slot scratch = exec->code.scratch[node];
  uint64_t hash = mixed(mixed(scratch.offset, scratch.size), exec->code.variants[node]);
  if (step->op == STOW_OP_BLOCKS) {
    const stowi_kernel_blocks* blocks = step->kernel.user;
    const stowi_kernel_block_size* size = &blocks->sizes[exec->code.variants[node]];
    hash = mixed(mixed(hash, blocks->groups), blocks->rows);
    hash = mixed(mixed(hash, of_cuts(blocks->operands, step->operand_count)),
                 of_cuts(blocks->results, step->result_count));
    hash = mixed(mixed(hash, of_body(size->body)), of_body(size->tail));
  }
  return hash;
}

static uint64_t of_value(const stow_exec* exec, stow_value value) {
  const stowi_exec_value* facts = &exec->program->values[value];
  const stowi_exec_value_place* place = &exec->places[value];
  const stow_tensor* tensor = &exec->frame.tensors[value];
  uint64_t hash = mixed(mixed(facts->bytes, facts->parent), facts->distance);
  hash = mixed(hash, of_pointer(stowi_exec_data(exec, value)));
  hash = mixed(hash, (uint64_t)place->has_slot | (uint64_t)place->is_consumed << 1 |
                         (uint64_t)place->is_set << 2 | (uint64_t)place->is_bound << 3);
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    hash = mixed(mixed(hash, (uint64_t)tensor->dims[i]), (uint64_t)tensor->strides[i]);
    hash = mixed(hash, (uint64_t)facts->type->dims[i]);
  }
  for (size_t i = 0; i < 4 && stow_graph_is_known(exec->graph, value); ++i) {
    hash = mixed(hash, (uint64_t)stow_graph_known(exec->graph, value, i));
  }
  return hash;
}

#define MOST_STATE 256

// Everything that depends on the shape, in order: values, nodes, the rest.
static size_t take_state(const stow_exec* exec, uint64_t out[MOST_STATE]) {
  size_t count = 0;
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    out[count++] = of_value(exec, value);
  }
  for (stow_node node = 0; node < exec->program->node_count; ++node) {
    out[count++] = of_node(exec, node);
  }
  for (size_t i = 0; i < exec->code.count; ++i) {
    const stowi_exec_instruction* own = &exec->code.instructions[i];
    out[count++] = mixed(mixed(mixed(own->action, own->node), own->target), own->at);
  }
  for (size_t i = 0; i < exec->range->symbol_count; ++i) {
    size_t symbol = exec->range->symbols[i];
    out[count++] = mixed((uint64_t)exec->range->values[i], (uint64_t)exec->range->numbers[symbol]);
    out[count++] = (uint64_t)stowi_graph_twin_point(exec->graph)[symbol];
  }
  out[count++] = of_pointer(exec->plan);
  return count;
}

static void move(const fixture* f, size_t point) {
  int64_t values[STOW_MAX_RANK];
  for (stow_value value = 0; value < f->exec->program->value_count; ++value) {
    if (f->exec->program->values[value].is_input) {
      stow_tensor tensor;
      CHECK(stow_exec_fill(f->exec, value, NULL, &tensor) == STOW_OK);  // it is set until the move
    }
  }
  CHECK(stow_formula_point_values(f->formula, point, values));
  CHECK(stow_exec_set_point(f->exec, values, NULL) == STOW_OK);
}

// The same executor is made to compute them, since places are addresses.
static void check_moves(const char* text, stow_io_policy io) {
  static uint64_t computed[64][MOST_STATE], noted[MOST_STATE];
  test_random random = {3};
  fixture f;
  begin(&f, text);
  f.plan.io = io;
  f.plan.params = io == STOW_IO_KEEP;
  REQUIRE(make(&f, heap()) == STOW_OK);
  stowi_exec_range* range = f.exec->range;
  stowi_exec_changes* changes = range->changes;
  size_t points = stow_formula_point_count(f.formula);
  REQUIRE(changes != NULL && points <= 64 && points > 1);
  REQUIRE(f.exec->program->value_count + f.exec->program->node_count + f.exec->code.count + 8 <
          MOST_STATE);
  range->changes = NULL;
  for (size_t i = 0; i < points; ++i) {
    size_t point = (i + 1) % points;  // none is where the executor is
    move(&f, point);
    (void)take_state(f.exec, computed[point]);
  }
  range->changes = changes;
  size_t at = 0;
  for (size_t i = 0; i < 200; ++i) {
    size_t point = (size_t)test_random_below(&random, points);
    if (point == at) {
      continue;  // nothing would move
    }
    move(&f, at = point);
    size_t count = take_state(f.exec, noted);
    for (size_t k = 0; k < count; ++k) {
      test_check(noted[k] == computed[point][k], __FILE__, __LINE__,
                 "point %zu: entry %zu of the state differs", point, k);
    }
  }
  end(&f);
}

// All variants of convolutions of several kinds, which have other prices at each size.
#define CONVOLUTIONS                                                              \
  "graph @g {\n range ?h = 1..24\n"                                               \
  "%0 = input \"x\" : f32[1, 8, ?h, 12]\n"                                        \
  "%1 = param \"w\" : f32[16, 8, 3, 3]\n %2 = param \"v\" : f32[4, 16, 1, 1]\n"   \
  "%3 = conv(%0, %1) {pads = [1, 1, 1, 1]} : f32[1, 16, ?h, 12]\n"                \
  "%4 = conv(%3, %2) : f32[1, 4, ?h, 12]\n"                                       \
  "%5 = conv(%3, %2) {strides = [2, 2]} : f32[1, 4, ?(floor_div(h + 1, 2)), 6]\n" \
  "%6 = softmax(%4) {axis = 1} : f32[1, 4, ?h, 12]\n return %5, %6\n}\n"

// Heads of each image, of which some lie beside each other, and a mask for each image.
#define HEADS                                                                                    \
  "graph @heads {\n range ?b = 1..3\n range ?n = 8..160/8\n"                                     \
  "function @attend {\n %0 = input \"q\" : f32[?rows, 16]\n %1 = input \"k\" : f32[16, ?n]\n"    \
  "  %2 = input \"v\" : f32[?n, 16]\n %3 = input \"m\" : f32[1, ?n]\n"                           \
  "  %4 = matmul(%0, %1) : f32[?rows, ?n]\n %5 = add(%4, %3) : f32[?rows, ?n]\n"                 \
  "  %6 = softmax(%5) : f32[?rows, ?n]\n %7 = matmul(%6, %2) : f32[?rows, 16]\n  return %7\n}\n" \
  "function @flip {\n %0 = input \"x\" : f32[?b, ?rows]\n %1 = exp(%0) : f32[?b, ?rows]\n"       \
  "  %2 = mul(%1, %0) : f32[?b, ?rows]\n return %2\n}\n"                                         \
  "%0 = input \"q\" : f32[?b, 2, ?n, 16]\n %1 = input \"k\" : f32[?b, 2, 16, ?n]\n"              \
  "%2 = input \"m\" : f32[?b, 1, 1, ?n]\n"                                                       \
  "%3 = blocks(%0, %1, %0, %2) {function = \"attend\", over = [2, 2, 3], "                       \
  "divide = [1, 1, 1, 2]} : f32[?b, 2, ?n, 16]\n"                                                \
  "%4 = reduce(%3) {axes = [1, 3], keepdims = false, op = \"sum\"} : f32[?b, ?n]\n"              \
  "%5 = blocks(%4) {function = \"flip\", over = [0, 1, 2]} : f32[?b, ?n]\n return %3, %5\n}\n"

// Parts that are views, and nothing at a length of 0; an input that is not overwritten there; a
// shape as data.
#define PARTS                                                            \
  "graph @parts {\n range ?n = 0..12\n"                                  \
  "%0 = input \"x\" : f32[4, ?n]\n %1 = input \"y\" : f32[8]\n"          \
  "%2 = relu(%0) : f32[4, ?n]\n"                                         \
  "%3 = slice(%2) {starts = [2], ends = [4], axes = [0]} : f32[2, ?n]\n" \
  "%4 = exp(%3) : f32[2, ?n]\n %5 = shape(%4) : i64[2]\n"                \
  "%6 = cast(%5) : f32[2]\n"                                             \
  "%7 = relu(%1) : f32[8]\n return %4, %6, %7\n}\n"

// What is moved aside lies further on with each length: code that changes.
#define SWAP                                                                               \
  "graph @swap {\n range ?n = 1..40\n %0 = constant \"t\" {data = [3]} : i64[]\n"          \
  "%1 = input \"a\" : f32[?n]\n %2 = input \"b\" : f32[?n]\n %3 = input \"c\" : f32[?n]\n" \
  "%9, %10, %11 = loop(%0, _, %1, %2, %3) {\n"                                             \
  "  %4, %5, %6, %7, %8 = args() : i64[], bool[], f32[?n], f32[?n], f32[?n]\n"             \
  "  yield %5, %8, %6, %7 } : f32[?n], f32[?n], f32[?n]\n"                                 \
  "return %9, %10, %11\n}\n"

// A weight that is as long as the input, and that the caller binds.
#define LONG_WEIGHT                                             \
  "graph @g {\n range ?n = 1..9\n %0 = input \"x\" : f32[?n]\n" \
  "%1 = param \"w\" : f32[?n]\n %2 = add(%0, %1) : f32[?n]\n return %2\n}\n"

TEST(NotedNumbersAreThoseThatAreComputed) {
  static const char* const texts[] = {CHAIN, ATTENTION, IMAGE, LAYERS,     CONVOLUTIONS,
                                      HEADS, PARTS,     SWAP,  LONG_WEIGHT};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    check_moves(texts[i], STOW_IO_KEEP);
    check_moves(texts[i], STOW_IO_CONSUME);
  }
}

TEST(HeadsPartsAndLoops) {
  check_graph(HEADS);
  check_graph(PARTS);
  check_graph(SWAP);
}

// More numbers than are worth their room: the same bits, which are computed at each move.
TEST(RangesOfManyPointsAreComputed) {
  fixture f;
  begin(&f,
        "graph @g {\n range ?a = 1..240\n range ?b = 1..240\n"
        "%0 = input \"x\" : f32[?a, ?b]\n %1 = relu(%0) : f32[?a, ?b]\n"
        "%2 = concat(%1, %0) {axis = 0} : f32[?(2 * a), ?b]\n"
        "%3 = concat(%1, %0) {axis = 1} : f32[?a, ?(2 * b)]\n"
        "%4 = transpose(%3) {perm = [1, 0]} : f32[?(2 * b), ?a]\n return %2, %4\n}\n");
  REQUIRE(make(&f, heap()) == STOW_OK);
  CHECK(f.exec->range->changes == NULL);
  for (size_t point = 0; point < 8; ++point) {
    run_at(&f, point * 8219, false);
  }
  end(&f);
}

// ---------------------------------------------------------------------------------------------
// Outputs that are inputs of the next run

#define GROWING                                                        \
  "graph @growing {\n range ?past = 0..5\n"                            \
  "%0 = input \"x\" : f32[2]\n %1 = input \"cache\" : f32[?past, 2]\n" \
  "%2 = reshape(%0) : f32[1, 2]\n"                                     \
  "%3 = concat(%1, %2) {axis = 0} : f32[?(past + 1), 2]\n"             \
  "%4 = reduce(%3) {axes = [0], keepdims = false, op = \"sum\"} : f32[2]\n return %4, %3\n}\n"

static void make_growing(fixture* f) {
  begin(f, GROWING);
  f->carry_count = 1;
  f->carries[0][0] = 3;
  f->carries[0][1] = 1;
  REQUIRE(make(f, heap()) == STOW_OK);
}

static stow_status step(fixture* f, int64_t past, float number) {
  float x[2] = {number, 2 * number};
  stow_tensor tensor = {.data = x, .dtype = STOW_F32, .rank = 1, .dims = {2}};
  STOW_TRY(stow_exec_set_point(f->exec, &past, &f->diag));
  STOW_TRY(stow_exec_input(f->exec, 0, &tensor, &f->diag));
  return stow_exec_run(f->exec, &f->diag);
}

TEST(WhatIsCarriedOverGrowsWithoutAnAllocation) {
  fixture f;
  make_growing(&f);
  CHECK(stow_exec_most_bytes(f.exec, 3) == 6 * 2 * sizeof(float));
  stow_exec_carried carried = {.struct_size = sizeof(carried)};
  CHECK(stow_exec_describe_carried(f.exec, &carried) == STOW_OK && carried.count == 1);
  CHECK(carried.in_place_count == 1 && carried.bytes == 6 * 2 * sizeof(float));
  carried.struct_size = 1;
  CHECK(stow_exec_describe_carried(f.exec, &carried) == STOW_ERR_INVALID_ARGUMENT);
  calls = 0;
  for (int64_t past = 0; past <= 5; ++past) {
    stow_tensor sum, cache;
    CHECK(step(&f, past, (float)(past + 1)) == STOW_OK);
    CHECK(stow_exec_value(f.exec, 4, &f.diag, &sum) == STOW_OK);
    CHECK(stow_exec_value(f.exec, 3, &f.diag, &cache) == STOW_OK);
    CHECK(((const float*)sum.data)[1] == (float)((past + 1) * (past + 2)));
    CHECK(cache.dims[0] == past + 1 && ((const float*)cache.data)[2 * past] == (float)(past + 1));
  }
  CHECK(calls == 0);
  CHECK(step(&f, 0, 7) == STOW_OK);  // from the beginning
  CHECK(step(&f, 3, 1) == STOW_ERR_TYPE);
  CHECK(strstr(f.diag.message, "but the last run left f32[1, 2]") != NULL);
  float given[6] = {1, 1, 1, 1, 1, 1};
  stow_tensor tensor = {.data = given, .dtype = STOW_F32, .rank = 2, .dims = {3, 2}};
  stow_tensor sum;
  CHECK(stow_exec_input(f.exec, 1, &tensor, &f.diag) == STOW_OK);  // what the caller sets counts
  CHECK(step(&f, 3, 1) == STOW_OK);
  CHECK(stow_exec_value(f.exec, 4, &f.diag, &sum) == STOW_OK && ((float*)sum.data)[0] == 4);
  CHECK(stow_exec_bind(f.exec, 1, given, sizeof(given), &f.diag) == STOW_ERR_INVALID_ARGUMENT);
  end(&f);
}

// Element |i| of a tensor, which may have strides.
static float element_of(const stow_tensor* tensor, size_t i) {
  size_t at = 0;
  size_t stride = 1;
  for (uint32_t k = tensor->rank; k-- > 0;) {
    size_t own = tensor->strides[k] == 0 ? stride : (size_t)tensor->strides[k];
    at += i % (size_t)tensor->dims[k] * own;
    i /= (size_t)tensor->dims[k];
    stride *= (size_t)tensor->dims[k];
  }
  return ((const float*)tensor->data)[at];
}

#define MOST_ELEMENTS 512

// An executor in which caches grow, and one that is given copies of what they were.
typedef struct pair {
  fixture grown, given;
  float caches[2][MOST_ELEMENTS];
  stow_tensor left[2];
} pair;

// Values 4 and 5 are the inputs 1 and 2 of the next run.
static void carry_both(fixture* f) {
  f->carry_count = 2;
  for (stow_value i = 0; i < 2; ++i) {
    f->carries[i][0] = 4 + i;
    f->carries[i][1] = 1 + i;
  }
}

static void begin_pair(pair* p, const char* text, bool aliases, bool is_watched, uint32_t threads) {
  begin(&p->given, text);
  REQUIRE(make(&p->given, heap()) == STOW_OK);
  begin(&p->grown, text);
  carry_both(&p->grown);
  p->grown.aliases = aliases;
  p->grown.options.paranoid = p->grown.options.poison = is_watched;
  p->grown.prepare.threads = threads;
  REQUIRE(make(&p->grown, heap()) == STOW_OK);
}

static void end_pair(pair* p) {
  end(&p->grown);
  end(&p->given);
}

static void check_outputs(pair* p) {
  const stow_graph* graph = p->grown.graph;
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    stow_value output = stow_graph_outputs(graph)[i];
    stow_tensor a, b;
    REQUIRE(stow_exec_value(p->grown.exec, output, NULL, &a) == STOW_OK);
    REQUIRE(stow_exec_value(p->given.exec, output, NULL, &b) == STOW_OK);
    REQUIRE(a.rank == b.rank && memcmp(a.dims, b.dims, sizeof(a.dims)) == 0);
    for (size_t k = 0; k < stow_tensor_elements(&b); ++k) {
      float x = element_of(&a, k), y = element_of(&b, k);
      test_check(memcmp(&x, &y, sizeof(x)) == 0, __FILE__, __LINE__, "%%%u[%zu] is %g, not %g",
                 (unsigned)output, k, (double)x, (double)y);
    }
  }
}

static void keep_caches(pair* p) {
  for (size_t i = 0; i < 2; ++i) {
    stow_tensor cache;
    REQUIRE(stow_exec_value(p->given.exec, p->grown.carries[i][0], NULL, &cache) == STOW_OK);
    REQUIRE(stow_tensor_bytes(&cache) <= sizeof(p->caches[i]));
    memcpy(p->caches[i], cache.data, stow_tensor_bytes(&cache));
    p->left[i] = cache;
    p->left[i].data = p->caches[i];
  }
}

// One run of both at |values|. What is carried over is set again in the first one if |sets|, with
// stow_exec_fill where |fills|.
static void step_both(pair* p, const int64_t* values, bool sets, bool fills) {
  fixture* all[] = {&p->grown, &p->given};
  for (size_t k = 0; k < 2; ++k) {
    fixture* f = all[k];
    stow_tensor x;
    REQUIRE(stow_exec_set_point(f->exec, values, &f->diag) == STOW_OK);
    REQUIRE(stow_exec_fill(f->exec, 0, &f->diag, &x) == STOW_OK);
    for (size_t i = 0; i < stow_tensor_elements(&x); ++i) {
      ((float*)x.data)[i] = (float)((i * 37 + (size_t)values[0] * 11) % 101) / 50.0F - 1.0F;
    }
    for (size_t i = 0; i < 2 && k == 0 && f->aliases && !sets; ++i) {
      REQUIRE(stow_exec_fill(f->exec, f->carries[i][1], &f->diag, &x) == STOW_OK);
    }
    for (size_t i = 0; i < 2 && (k == 1 || sets); ++i) {
      stow_value input = p->grown.carries[i][1];
      const stow_tensor* left = &p->left[i];
      if (fills) {
        REQUIRE(stow_exec_fill(f->exec, input, &f->diag, &x) == STOW_OK);
        memcpy(x.data, left->data, stow_tensor_bytes(&x));
      } else if (left->data != NULL) {
        REQUIRE(stow_exec_input(f->exec, input, left, &f->diag) == STOW_OK);
      }
    }
    test_check(stow_exec_run(f->exec, &f->diag) == STOW_OK, __FILE__, __LINE__, "%s",
               f->diag.message);
  }
  check_outputs(p);
  keep_caches(p);
}

// Outputs are those of copied caches.
static void check_steps(pair* p) {
  static const int64_t lengths[] = {3, 1, 2, 1, 1, 2, 1};
  for (int again = 0; again < 2; ++again) {
    int64_t values[2] = {0, 0};
    memset(p->left, 0, sizeof(p->left));
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
      values[1] = lengths[i];
      step_both(p, values, i >= 4, i == 5);
      values[0] += lengths[i];
    }
  }
}

// |in_place| of both caches grow in place.
static void check_growth(const char* text, size_t in_place, bool is_watched, uint32_t threads) {
  pair p = {0};
  stow_exec_carried carried = {.struct_size = sizeof(carried)};
  begin_pair(&p, text, false, is_watched, threads);
  REQUIRE(stow_exec_describe_carried(p.grown.exec, &carried) == STOW_OK);
  test_check(carried.count == 2 && carried.in_place_count == in_place, __FILE__, __LINE__,
             "%zu of %zu grow in place", carried.in_place_count, carried.count);
  check_steps(&p);
  end_pair(&p);
}

// Both are in the arena, where an output takes the bytes of its input.
static void check_aliased(const char* text, bool is_watched) {
  pair p = {0};
  begin_pair(&p, text, true, is_watched, 1);
  check_steps(&p);
  end_pair(&p);
}

#define DECODER(middle)                                                      \
  "graph @decoder {\n range ?past = 0..10\n range ?len = 1..3\n"             \
  "%0 = input \"x\" : f32[1, 3, ?len, 4]\n"                                  \
  "%1 = input \"keys\" : f32[1, 3, ?past, 4]\n"                              \
  "%2 = input \"values\" : f32[1, 3, ?past, 4]\n"                            \
  "%3 = tanh(%0) : f32[1, 3, ?len, 4]\n"                                     \
  "%4 = concat(%1, %0) {axis = 2} : f32[1, 3, ?(past + len), 4]\n"           \
  "%5 = concat(%2, %3) {axis = -2} : f32[1, 3, ?(past + len), 4]\n"          \
  "%6 = transpose(%4) {perm = [0, 1, 3, 2]} : f32[1, 3, 4, ?(past + len)]\n" \
  "%7 = matmul(%0, %6) : f32[1, 3, ?len, ?(past + len)]\n"                   \
  "%8 = softmax(%7) : f32[1, 3, ?len, ?(past + len)]\n"                      \
  "%9 = matmul(%8, %5) : f32[1, 3, ?len, 4]\n" middle "}\n"

TEST(CachesGrowRowByRow) {
  // A view of one is read, too, and so are dims, and what was there before.
  const char* text = DECODER(
      "%10 = reshape(%5) : f32[3, ?(past + len), 4]\n"
      "%11 = reduce(%10) {axes = [1], keepdims = false, op = \"sum\"} : f32[3, 4]\n"
      "%12 = relu(%1) : f32[1, 3, ?past, 4]\n %13 = shape(%4) : i64[4]\n"
      " return %9, %11, %12, %4, %5\n");
  check_growth(text, 2, false, 1);
  check_growth(text, 2, false, 3);
  check_growth(text, 2, true, 1);
}

// The first run needs no cache: it is empty, whatever the shape of what is new.
TEST(WhatIsCarriedOverBeginsEmpty) {
  fixture f;
  begin(&f,
        "graph @g {\n range ?new = 1..2\n range ?past = 0..5\n"
        "%0 = input \"x\" : f32[?new, 2]\n %1 = input \"cache\" : f32[?past, 2]\n"
        "%2 = concat(%1, %0) {axis = 0} : f32[?(past + new), 2]\n"
        "%3 = relu(%2) : f32[?(past + new), 2]\n return %3, %2\n}\n");
  f.carry_count = 1;
  f.carries[0][0] = 2;
  f.carries[0][1] = 1;
  REQUIRE(make(&f, heap()) == STOW_OK);
  for (int64_t run = 1; run <= 3; ++run) {
    float x[4] = {1, 2, 3, (float)run};
    stow_tensor tensor = {.data = x, .dtype = STOW_F32, .rank = 2, .dims = {2, 2}};
    stow_tensor all;
    CHECK(stow_exec_input(f.exec, 0, &tensor, &f.diag) == STOW_OK);
    CHECK(stow_exec_run(f.exec, &f.diag) == STOW_OK);
    CHECK(stow_exec_value(f.exec, 3, &f.diag, &all) == STOW_OK && all.dims[0] == 2 * run);
    CHECK(((const float*)all.data)[4 * run - 1] == (float)run);
  }
  end(&f);
}

TEST(CachesMayLiveInTheArena) {
  check_aliased(DECODER("return %9, %4, %5\n"), false);
  check_aliased(DECODER("return %9, %4, %5\n"), true);
}

TEST(CachesOfWhichRowsAreMixedDoNotGrowInPlace) {
  check_growth(DECODER("%10 = reduce(%4) {axes = [1], op = \"sum\"} : f32[1, 1, ?(past + len), 4]\n"
                       " return %9, %10, %4, %5\n"),
               1, false, 1);
  check_growth(DECODER("%10 = reshape(%4) : f32[?(3 * past + 3 * len), 4]\n"
                       "%11 = relu(%10) : f32[?(3 * past + 3 * len), 4]\n"
                       "%12 = transpose(%2) {perm = [0, 2, 1, 3]} : f32[1, ?past, 3, 4]\n"
                       "%13 = relu(%12) : f32[1, ?past, 3, 4]\n"
                       " return %9, %11, %13, %4, %5\n"),
               0, false, 1);
}

TEST(CachesThatAreWrittenElsewhereDoNotGrowInPlace) {
  // As one row each, any op may read them, but none may write into them.
  const char* text =
      "graph @decoder {\n range ?past = 0..10\n range ?len = 1..3\n"
      "%0 = input \"x\" : f32[?len, 4]\n"
      "%1 = input \"keys\" : f32[?past, 4]\n %2 = input \"values\" : f32[?past, 4]\n"
      "%3 = tanh(%0) : f32[?len, 4]\n"
      "%4 = concat(%1, %0) {axis = 0} : f32[?(past + len), 4]\n"
      "%5 = concat(%3, %2) {axis = 0} : f32[?(past + len), 4]\n"
      "%6 = transpose(%4) {perm = [1, 0]} : f32[4, ?(past + len)]\n"
      "%7 = relu(%6) : f32[4, ?(past + len)]\n"
      "%8 = reduce(%5) {axes = [0], op = \"sum\"} : f32[1, 4]\n return %7, %8, %4, %5\n}\n";
  check_growth(text, 1, false, 1);
}

TEST(OnlyOutputsAreCarriedOverToInputs) {
  fixture f;
  begin(&f, GROWING);
  REQUIRE(stow_prepare(f.graph, NULL, heap(), &f.diag, &f.prepared) == STOW_OK);
  CHECK(stow_prepared_carry(f.prepared, 2, 1, &f.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_prepared_carry(f.prepared, 3, 2, &f.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_prepared_carry(f.prepared, 4, 1, &f.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(strstr(f.diag.message, "their element types or ranks differ") != NULL);
  CHECK(stow_prepared_carry(f.prepared, 99, 1, &f.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_prepared_carry(f.prepared, 3, 1, &f.diag) == STOW_OK);
  CHECK(stow_prepared_carry(f.prepared, 3, 1, &f.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(strstr(f.diag.message, "already") != NULL);
  end(&f);
}

TEST(PointsThatDoNotFitAreRefused) {
  fixture f;
  begin(&f, CHAIN);
  f.options.capacity = 4096;
  REQUIRE(make(&f, heap()) == STOW_OK);
  size_t refused = 0;
  for (size_t point = 0; point < stow_formula_point_count(f.formula); ++point) {
    stow_formula_point info = {.struct_size = sizeof(info)};
    int64_t n = (int64_t)point + 1;
    CHECK(stow_formula_describe_point(f.formula, point, &info) == STOW_OK);
    stow_status status = stow_exec_set_point(f.exec, &n, &f.diag);
    CHECK(status == (info.arena_size <= 4096 ? STOW_OK : STOW_ERR_LIMIT));
    refused += status != STOW_OK;
  }
  CHECK(refused > 0 && refused < 40);
  CHECK(strstr(f.diag.message, "n=40 needs an arena of ") != NULL);
  run_at(&f, 3, false);  // it goes on
  drop(&f);
  f.options.capacity = 16;
  CHECK(make(&f, heap()) == STOW_ERR_LIMIT);
  CHECK(strstr(f.diag.message, "no point of the range fits in 16 bytes") != NULL);
  end(&f);
}

TEST(WrongShapesAreRefused) {
  fixture f;
  begin(&f, CHAIN);
  REQUIRE(make(&f, heap()) == STOW_OK);
  int64_t n = 41;
  CHECK(stow_exec_set_point(f.exec, &n, &f.diag) == STOW_ERR_NOT_FOUND);
  CHECK(strcmp(f.diag.message, "n=41 is not in the range") == 0);
  float data[41 * 8] = {0};
  stow_tensor tensor = {.data = data, .dtype = STOW_F32, .rank = 2, .dims = {41, 8}};
  CHECK(stow_exec_input(f.exec, 0, &tensor, &f.diag) == STOW_ERR_TYPE);
  tensor.dims[0] = 3;
  tensor.dims[1] = 9;
  CHECK(stow_exec_input(f.exec, 0, &tensor, &f.diag) == STOW_ERR_TYPE);
  n = 3;
  CHECK(stow_exec_set_point(f.exec, &n, &f.diag) == STOW_OK);
  CHECK(stow_exec_run(f.exec, &f.diag) == STOW_ERR_NOT_FOUND);  // the input is not set
  run_at(&f, 5, true);
  end(&f);
}

TEST(AnExecutorOfOneShapeHasNoPoints) {
  fixture f;
  begin(&f, "graph @g {\n%0 = input \"x\" : f32[4]\n%1 = relu(%0) : f32[4]\nreturn %1\n}\n");
  stow_plan* plan = NULL;
  int64_t n = 1;
  REQUIRE(stow_prepare(f.graph, NULL, heap(), &f.diag, &f.prepared) == STOW_OK);
  REQUIRE(stow_plan_make(f.graph, NULL, NULL, heap(), &f.diag, &plan) == STOW_OK);
  REQUIRE(stow_exec_create(f.prepared, plan, NULL, heap(), &f.diag, &f.exec) == STOW_OK);
  CHECK(stow_exec_set_point(f.exec, &n, &f.diag) == STOW_ERR_INVALID_ARGUMENT);
  stow_exec_destroy(f.exec);
  f.exec = NULL;
  stow_plan_destroy(plan);
  end(&f);
}

static stow_status make_once(stow_allocator allocator, void* user) {
  fixture* f = user;
  stow_status status = make(f, allocator);
  drop(f);
  return status;
}

TEST(EveryAllocationMayFail) {
  fixture f;
  begin(&f,
        "graph @g {\n range ?n = 1..3\n"
        "function @silu {\n %0 = input \"x\" : f32[?rows]\n %1 = sigmoid(%0) : f32[?rows]\n"
        " %2 = mul(%0, %1) : f32[?rows]\n return %2\n}\n"
        "%0 = input \"x\" : f32[?n, 4]\n"
        "%1 = blocks(%0) {function = \"silu\", over = [0, 0, 2]} : f32[?n, 4]\n"
        "%2 = softmax(%1) : f32[?n, 4]\n return %2\n}\n");
  test_fault_sweep(make_once, &f);
  end(&f);
  begin(&f, DECODER("return %9, %4, %5\n"));
  carry_both(&f);
  test_fault_sweep(make_once, &f);
  end(&f);
}

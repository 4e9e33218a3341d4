// Random graphs of row-local nodes among others, run as they are and with nodes fused into
// `blocks`: every output has the same bits, and hardly any arena is larger.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/exec.h>
#include <stowage/rewrite.h>
#include <string.h>

#include "base/hash.h"
#include "exec/suitable.h"
#include "exec/tensor_hash.h"
#include "support/test.h"

#define GRAPHS 2000
#define GRAPHS_LONG 40000
#define MOST_VALUES 64

typedef struct maker {
  test_random random;
  stow_graph* graph;
  stow_value values[MOST_VALUES];
  size_t count;
  unsigned inputs;
} maker;

static uint64_t below(maker* m, uint64_t bound) { return test_random_below(&m->random, bound); }

static bool is_drawn(maker* m, uint64_t of) { return below(m, of) == 0; }

static const stow_type* type_of(const maker* m, stow_value value) {
  return stow_graph_type(m->graph, value);
}

static stow_value keep(maker* m, stow_value value) {
  if (value != STOW_VALUE_NONE && m->count < MOST_VALUES) {
    m->values[m->count++] = value;
  }
  return value;
}

static stow_value last_of(maker* m, stow_call* call) {
  stow_node node;
  return stow_call_finish(call, NULL, &node) == STOW_OK ? stow_graph_first_result(m->graph, node)
                                                        : STOW_VALUE_NONE;
}

static stow_value add_boundary(maker* m, const stow_type* type) {
  char name[24];
  stow_value value = STOW_VALUE_NONE;
  snprintf(name, sizeof(name), "x%u", m->inputs++);
  CHECK((is_drawn(m, 3) ? stow_graph_param : stow_graph_input)(m->graph, name, type, NULL,
                                                               &value) == STOW_OK);
  return value;
}

// Something that is not row-local, so that its result has bytes that others may take.
static stow_value add_barrier(maker* m, stow_value value) {
  uint32_t rank = type_of(m, value)->rank;
  stow_call* call = stow_graph_begin(m->graph, STOW_OP_CUMSUM);
  stow_call_operand(call, value);
  stow_call_attr_int(call, "axis", (int64_t)below(m, rank));
  stow_value made = last_of(m, call);
  return made == STOW_VALUE_NONE ? value : made;
}

static stow_value add_source(maker* m, const stow_type* type) {
  return add_barrier(m, add_boundary(m, type));
}

// ---------------------------------------------------------------------------------------------
// Nodes

static stow_value draw(maker* m) {
  uint64_t back = below(m, is_drawn(m, 3) ? m->count : m->count < 4 ? m->count : 4);
  return m->values[m->count - 1 - back];
}

static stow_value add_unary(maker* m, stow_op op, stow_value value) {
  stow_value made = STOW_VALUE_NONE;
  (void)stow_graph_add(m->graph, op, &value, 1, NULL, &made);
  return made;
}

static stow_value add_binary(maker* m, stow_op op, stow_value a, stow_value b) {
  stow_value made = STOW_VALUE_NONE;
  stow_value operands[] = {a, b};
  (void)stow_graph_add(m->graph, op, operands, 2, NULL, &made);
  return made;
}

static stow_value add_cast(maker* m, stow_value value, stow_dtype dtype) {
  stow_type type = *type_of(m, value);
  type.dtype = dtype;
  stow_call* call = stow_graph_begin(m->graph, STOW_OP_CAST);
  stow_call_operand(call, value);
  stow_call_result_type(call, &type);
  return last_of(m, call);
}

static stow_value as_f32(maker* m, stow_value value) {
  return type_of(m, value)->dtype == STOW_F32 ? value : add_cast(m, value, STOW_F32);
}

// A value that is broadcast to |type|: some dims are 1, some of the first are missing.
static stow_value add_broadcast(maker* m, const stow_type* type) {
  stow_dim dims[STOW_MAX_RANK];
  for (uint32_t i = 0; i < type->rank; ++i) {
    dims[i] = is_drawn(m, 2) ? 1 : type->dims[i];
  }
  uint32_t drop = (uint32_t)below(m, type->rank + 1);
  stow_type small = stow_type_make(type->dtype, type->rank - drop, dims + drop);
  return add_boundary(m, &small);
}

static stow_value other_operand(maker* m, stow_value value) {
  const stow_type* type = type_of(m, value);
  for (int i = 0; i < 6; ++i) {
    stow_value other = m->values[below(m, m->count)];
    const stow_type* its = type_of(m, other);
    bool fits = its->dtype == type->dtype && its->rank == type->rank;
    for (uint32_t k = 0; fits && k < its->rank; ++k) {
      fits = its->dims[k] == type->dims[k] || its->dims[k] == 1 || type->dims[k] == 1;
    }
    if (fits && is_drawn(m, 2)) {
      return other;
    }
  }
  return add_broadcast(m, type);
}

static stow_value add_reduce(maker* m, stow_value value) {
  static const char* const ops[] = {"mean", "sum", "max"};
  int64_t axes[STOW_MAX_RANK];
  int64_t rank = type_of(m, value)->rank;
  int64_t first = (int64_t)below(m, (uint64_t)rank);
  size_t count = 0;
  for (int64_t i = first; i < rank; ++i) {
    if (i == first || is_drawn(m, 2)) {
      axes[count++] = is_drawn(m, 2) ? i : i - rank;
    }
  }
  stow_call* call = stow_graph_begin(m->graph, STOW_OP_REDUCE);
  stow_call_operand(call, value);
  stow_call_attr_ints(call, "axes", axes, count);
  stow_call_attr_string(call, "op", stow_str_of(ops[below(m, 3)]));
  stow_call_attr_bool(call, "keepdims", !is_drawn(m, 8));
  return last_of(m, call);
}

static stow_value add_along_axis(maker* m, stow_value value) {
  static const stow_op ops[] = {STOW_OP_SOFTMAX, STOW_OP_LOG_SOFTMAX, STOW_OP_LAYER_NORM,
                                STOW_OP_RMS_NORM};
  stow_op op = ops[below(m, 4)];
  const stow_type type = *type_of(m, value);
  uint32_t axis = (uint32_t)below(m, type.rank);
  stow_type scale = stow_type_make(type.dtype, type.rank - axis, type.dims + axis);
  bool is_norm = op == STOW_OP_LAYER_NORM || op == STOW_OP_RMS_NORM;
  stow_value factor = is_norm && !is_drawn(m, 4) ? add_boundary(m, &scale) : STOW_VALUE_NONE;
  stow_call* call = stow_graph_begin(m->graph, op);
  stow_call_operand(call, value);
  if (factor != STOW_VALUE_NONE) {
    stow_call_operand(call, factor);
  }
  stow_call_attr_int(call, "axis", is_drawn(m, 2) ? axis : (int64_t)axis - type.rank);
  return last_of(m, call);
}

// scores = value x k, something with them, and mostly a product with v.
static stow_value add_attention(maker* m, stow_value value) {
  static const stow_op ops[] = {STOW_OP_MUL, STOW_OP_ADD, STOW_OP_DIV};
  stow_type type = *type_of(m, value);
  if (type.rank < 2) {
    return STOW_VALUE_NONE;
  }
  stow_type k = type, v = type;
  int64_t keys = 1 + (int64_t)below(m, 48);
  k.dims[k.rank - 2] = type.dims[type.rank - 1];
  k.dims[k.rank - 1] = v.dims[v.rank - 2] = keys;
  for (uint32_t i = 0; i + 2 < type.rank; ++i) {
    k.dims[i] = v.dims[i] = is_drawn(m, 8) ? 1 : k.dims[i];
  }
  stow_value right = is_drawn(m, 4) ? add_boundary(m, &k) : add_source(m, &k);
  stow_value last = is_drawn(m, 4) ? add_boundary(m, &v) : add_source(m, &v);
  stow_value scores = add_binary(m, STOW_OP_MATMUL, value, right);
  for (uint64_t i = below(m, 3); i-- > 0 && scores != STOW_VALUE_NONE;) {
    scores = add_binary(m, ops[below(m, 3)], scores, other_operand(m, scores));
  }
  if (scores != STOW_VALUE_NONE && !is_drawn(m, 4)) {
    scores = add_unary(m, STOW_OP_SOFTMAX, scores);
  }
  if (scores == STOW_VALUE_NONE || is_drawn(m, 4)) {
    return scores;
  }
  keep(m, scores);
  return add_binary(m, STOW_OP_MATMUL, scores, last);
}

static stow_value add_gate(maker* m, stow_value value) {
  static const stow_op ops[] = {STOW_OP_SIGMOID, STOW_OP_TANH, STOW_OP_HARD_SIGMOID, STOW_OP_ERF};
  return add_binary(m, STOW_OP_MUL, value, add_unary(m, ops[below(m, 4)], value));
}

static stow_value add_reshape(maker* m, stow_value value) {
  stow_type type = *type_of(m, value);
  if (type.rank < 2) {
    return STOW_VALUE_NONE;
  }
  type.dims[1] *= type.dims[0];
  stow_type flat = stow_type_make(type.dtype, type.rank - 1, type.dims + 1);
  stow_call* call = stow_graph_begin(m->graph, STOW_OP_RESHAPE);
  stow_call_operand(call, value);
  stow_call_result_type(call, &flat);
  return last_of(m, call);
}

static stow_value add_any(maker* m) {
  static const stow_op unary[] = {STOW_OP_SIGMOID, STOW_OP_RELU, STOW_OP_NEG,      STOW_OP_ERF,
                                  STOW_OP_SQRT,    STOW_OP_GELU, STOW_OP_SOFTPLUS, STOW_OP_EXP};
  static const stow_op binary[] = {STOW_OP_ADD, STOW_OP_MUL, STOW_OP_SUB, STOW_OP_POW, STOW_OP_MAX};
  static const stow_dtype dtypes[] = {STOW_F16, STOW_F64, STOW_I32, STOW_U8, STOW_BF16};
  stow_value value = draw(m);
  switch (type_of(m, value)->rank == 0 ? 7 : below(m, 16)) {
    case 0: return add_reduce(m, value);
    case 1:
    case 2: return add_along_axis(m, as_f32(m, value));
    case 3: return add_attention(m, as_f32(m, value));
    case 4: return add_cast(m, value, dtypes[below(m, 5)]);
    case 5: return add_reshape(m, value);
    case 6: return add_barrier(m, value);
    case 7:
    case 8:
    case 9: return add_unary(m, unary[below(m, 8)], as_f32(m, value));
    case 10:
    case 11: return add_gate(m, as_f32(m, value));
    default: return add_binary(m, binary[below(m, 5)], value, other_operand(m, value));
  }
}

// Some hundred to some thousand elements.
static stow_type draw_type(maker* m) {
  stow_dim dims[4];
  uint32_t rank = 1 + (uint32_t)below(m, 4);
  int64_t total = 1;
  for (uint32_t i = rank; i-- > 0;) {
    int64_t most = i == 0 ? 4096 / total : 40;
    dims[i] = is_drawn(m, 5) ? 1 : 1 + (int64_t)below(m, (uint64_t)(most < 1 ? 1 : most));
    total *= dims[i];
  }
  return stow_type_make(STOW_F32, rank, dims);
}

static stow_graph* make_graph(uint64_t seed) {
  maker m = {.random = {seed}};
  CHECK(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), NULL, &m.graph) ==
        STOW_OK);
  stow_type type = draw_type(&m);
  keep(&m, add_source(&m, &type));
  for (uint64_t i = 3 + below(&m, 20); i-- > 0;) {
    keep(&m, add_any(&m));
  }
  for (size_t i = 0; i < m.count; ++i) {
    if ((i + 1 == m.count || is_drawn(&m, 8)) && !stow_graph_is_boundary(m.graph, m.values[i])) {
      CHECK(stow_graph_add_output(m.graph, m.values[i], NULL) == STOW_OK);
    }
  }
  return m.graph;
}

// ---------------------------------------------------------------------------------------------
// Running

typedef struct result {
  stow_status status;
  uint64_t arena;
  uint64_t digests[MOST_VALUES];  // of outputs
} result;

// Inputs have the same elements in both graphs: they are told apart by name.
static void fill(stow_exec* exec, const stow_graph* graph) {
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    stow_tensor tensor;
    if (stow_graph_is_boundary(graph, value)) {
      uint64_t seed = (uint64_t)atoi(stow_graph_value_name(graph, value).data + 1);
      CHECK(stow_exec_fill(exec, value, NULL, &tensor) == STOW_OK);
      suitable_fill(&tensor, (suitable_range){0, 5}, seed);
    }
  }
}

static void read_outputs(const stow_exec* exec, const stow_graph* graph, result* out) {
  for (size_t k = 0; k < stow_graph_output_count(graph); ++k) {
    stow_tensor tensor;
    CHECK(stow_exec_value(exec, stow_graph_outputs(graph)[k], NULL, &tensor) == STOW_OK);
    out->digests[k] = tensor_hash(STOWI_HASH_SEED, &tensor);
  }
}

// With inputs and outputs outside.
static uint64_t arena_of(const stow_graph* graph, stow_prepared* prepared) {
  stow_plan* plan = NULL;
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.io = STOW_IO_EXTERNAL;
  CHECK(stow_plan_make(graph, stow_prepared_effects(prepared), &options, stow_allocator_default(),
                       NULL, &plan) == STOW_OK);
  uint64_t size = stow_plan_arena_size(plan);
  stow_plan_destroy(plan);
  return size;
}

static result run(const stow_graph* graph, uint32_t threads, bool fastest) {
  result out = {STOW_OK, 0, {0}};
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_exec* exec = NULL;
  stow_diag diag;
  stow_prepare_options options;
  stow_diag_init(&diag);
  stow_prepare_options_init(&options);
  options.threads = threads;
  options.fastest = fastest;
  out.status = stow_prepare(graph, &options, stow_allocator_default(), &diag, &prepared);
  if (out.status == STOW_OK) {
    out.status = stow_plan_make(graph, stow_prepared_effects(prepared), NULL,
                                stow_allocator_default(), &diag, &plan);
  }
  if (out.status == STOW_OK) {
    out.status = stow_exec_create(prepared, plan, NULL, stow_allocator_default(), &diag, &exec);
  }
  if (out.status == STOW_OK) {
    out.arena = arena_of(graph, prepared);
    fill(exec, graph);
    out.status = stow_exec_run(exec, &diag);
  }
  if (out.status == STOW_OK) {
    read_outputs(exec, graph, &out);
  }
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  return out;
}

// ---------------------------------------------------------------------------------------------

typedef struct tally {
  uint64_t compared, fused, larger, smaller;
} tally;

static void compare(tally* t, const stow_graph* graph, const stow_rewritten* r, uint64_t seed) {
  result before = run(graph, 1, false);
  result after = run(stow_rewritten_graph(r), 1 + (uint32_t)(seed % 2), seed % 3 == 0);
  if (before.status != STOW_OK) {
    return;
  }
  test_check(after.status == STOW_OK, __FILE__, __LINE__, "seed %" PRIu64 ": status %d", seed,
             (int)after.status);
  for (size_t k = 0; k < stow_graph_output_count(graph); ++k) {
    test_check(before.digests[k] == after.digests[k], __FILE__, __LINE__,
               "seed %" PRIu64 ": output %zu differs", seed, k);
  }
  ++t->compared;
  if (seed % 6 == 2 || seed % 6 == 4) {
    t->larger += after.arena > before.arena;
    t->smaller += after.arena < before.arena;
  }
}

static void try_seed(tally* t, uint64_t seed) {
  stow_graph* graph = make_graph(seed);
  stow_rewritten* r = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  uint32_t both = stow_rewrite_bit(STOW_REWRITE_BLOCKS) | stow_rewrite_bit(STOW_REWRITE_PRODUCTS);
  options.off = seed % 2 == 0 ? ~both : stow_rewrite_bit(STOW_REWRITE_FOLD);
  stow_status status = stow_rewrite(graph, &options, stow_allocator_default(), &diag, &r);
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "seed %" PRIu64 ": %s", seed,
                 diag.message)) {
    size_t fused = stow_rewritten_count(r, STOW_REWRITE_BLOCKS) +
                   stow_rewritten_count(r, STOW_REWRITE_PRODUCTS);
    t->fused += fused;
    test_check(stow_graph_verify(stow_rewritten_graph(r), &diag) == STOW_OK, __FILE__, __LINE__,
               "seed %" PRIu64 ": %s", seed, diag.message);
    if (fused != 0) {
      compare(t, graph, r, seed);
    }
  }
  stow_rewritten_destroy(r);
  stow_graph_destroy(graph);
}

TEST(FusedGraphsGiveTheSameBits) {
  tally t = {0};
  for (uint64_t seed = 1; seed <= (test_is_long() ? GRAPHS_LONG : GRAPHS); ++seed) {
    try_seed(&t, seed);
  }
  printf("%" PRIu64 " compared, %" PRIu64 " fused; arena %" PRIu64 " times smaller, %" PRIu64
         " larger\n",
         t.compared, t.fused, t.smaller, t.larger);
  CHECK(t.compared * 4 > GRAPHS);
  CHECK(t.larger * 10 < t.smaller);  // by scratch, where values are small
}

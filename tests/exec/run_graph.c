#include "exec/run_graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "exec/kernels/support/rows.h"
#include "exec/run/prepare.h"
#include "exec/tensor_hash.h"
#include "graph/api.h"
#include "support/test.h"

#define MOST_STEPS 5000  // of a run: some loops have no end
#define MOST_RESULTS 16

static void* need(void* block) {
  if (block == NULL) {
    abort();
  }
  return block;
}

static void* make_bytes(uint64_t size) {
  return need(aligned_alloc(64, ((size_t)size / 64 + 1) * 64));
}

// ---------------------------------------------------------------------------------------------
// Graphs

// The kernel of all custom ops: elements that follow from everything that the operands hold. They
// are read before anything is written, so that results may be in place of them.
static stow_status run_custom(stow_kernel_call* call) {
  const run_graph* g = (const run_graph*)call->user;
  uint64_t hash = stowi_hash_u64(STOWI_HASH_SEED, call->seed);
  for (size_t k = 0; k < call->operand_count; ++k) {
    hash = call->operands[k] == NULL ? hash : tensor_hash(hash, call->operands[k]);
  }
  for (size_t k = 0; k < call->result_count; ++k) {
    stow_value value = stow_graph_first_result(g->graph, g->node) + (stow_value)k;
    suitable_fill(call->results[k], g->ranges[value], hash + k);
  }
  return STOW_OK;
}

// Whether a result of the node is a view: its bytes are the operand's, and not to be written.
static bool has_views(const run_graph* g) {
  bool has = false;
  for (size_t k = 0; k < stow_graph_result_count(g->graph, g->node); ++k) {
    stow_view view;
    has = has || stow_graph_view(g->graph, g->node, k, &view);
  }
  return has;
}

// Divides among the executor's threads whatever there is.
static void split_finely(void* pool, size_t count, size_t grain, stow_split_task task, void* user) {
  const run_graph* g = (const run_graph*)pool;
  (void)grain;
  g->splitter.split(g->splitter.pool, count, 1, task, user);
}

// ---------------------------------------------------------------------------------------------
// Row by row

// A tensor with rows that are apart, in memory that is to be freed; with the elements of |whole|.
static stow_tensor spread(const stow_tensor* whole, uint64_t rows, bool has_elements) {
  stow_tensor made = *whole;
  size_t row = stow_tensor_bytes(whole) / rows;
  size_t pitch = (row / 64 + 2) * 64;
  unsigned char* data = (unsigned char*)aligned_alloc(64, rows * pitch);
  memset(need(data), 0xff, rows * pitch);
  for (uint64_t i = 0; has_elements && i < rows; ++i) {
    memcpy(data + i * pitch, (const unsigned char*)whole->data + i * row, row);
  }
  made.data = data;
  stowi_kernel_set_pitch(&made, rows, pitch);
  return made;
}

static bool has_same_rows(const stow_tensor* apart, const stow_tensor* whole, uint64_t rows) {
  bool same = true;
  for (uint64_t i = 0; i < rows; ++i) {
    stow_tensor one = stowi_kernel_row(apart, rows, i);
    stow_tensor expected = stowi_kernel_row(whole, rows, i);
    same = same && tensor_hash(1, &one) == tensor_hash(1, &expected);
  }
  return same;
}

// Every other operand is dense.
static bool run_rows(const run_graph* g, const stow_kernel_call* call, uint64_t rows,
                     uint64_t still) {
  stow_tensor operands[64], results[MOST_RESULTS], row_operands[64], row_results[MOST_RESULTS];
  const stow_tensor* operand_list[64];
  stow_tensor* result_list[MOST_RESULTS];
  stow_kernel_call one = *call;
  bool same = true;
  for (size_t k = 0; k < call->operand_count; ++k) {
    bool is_apart = call->operands[k] != NULL && (still >> k & 1) == 0 && (g->node + k) % 2 == 0;
    operand_list[k] = call->operands[k];
    if (is_apart) {
      operands[k] = spread(call->operands[k], rows, true);
    } else if (call->operands[k] != NULL) {
      operands[k] = *call->operands[k];
    }
  }
  for (size_t k = 0; k < call->result_count; ++k) {
    results[k] = spread(call->results[k], rows, false);
    result_list[k] = &row_results[k];
  }
  for (uint64_t row = 0; same && row < rows; ++row) {
    for (size_t k = 0; k < call->operand_count; ++k) {
      if (call->operands[k] != NULL && (still >> k & 1) == 0) {
        row_operands[k] = stowi_kernel_row(&operands[k], rows, row);
        operand_list[k] = &row_operands[k];
      }
    }
    for (size_t k = 0; k < call->result_count; ++k) {
      row_results[k] = stowi_kernel_row(&results[k], rows, row);
    }
    one.operands = operand_list;
    one.results = result_list;
    same = stow_kernels_get(NULL, call->op)->run(&one) == STOW_OK;
  }
  for (size_t k = 0; k < call->result_count; ++k) {
    same = same && has_same_rows(&results[k], call->results[k], rows);
    free(results[k].data);
  }
  for (size_t k = 0; k < call->operand_count; ++k) {
    if (call->operands[k] != NULL && operands[k].data != call->operands[k]->data) {
      free(operands[k].data);
    }
  }
  return same;
}

// For any leading dims.
static void check_rows(run_graph* g, const stow_kernel_call* call) {
  uint64_t rows = 1;
  uint64_t still;
  for (uint32_t i = 0; call->result_count != 0 && i < call->results[0]->rank; ++i) {
    rows *= (uint64_t)call->results[0]->dims[i];
    if (rows > 1 && rows <= STOW_MOST_ROWS && call->result_count <= MOST_RESULTS &&
        stowi_graph_takes_rows(g->graph, g->node, rows, &still)) {
      g->by_rows[call->op] += 1;
      test_check(run_rows(g, call, rows, still), __FILE__, __LINE__,
                 "seed %llu: node %u (%s) gives other bits for %llu rows",
                 (unsigned long long)g->seed, g->node, stow_graph_op_name(g->graph, g->node),
                 (unsigned long long)rows);
    }
  }
}

static stow_status run_library(run_graph* g, stow_kernel_call* call) {
  stow_splitter own = call->splitter;  // none in a block, of which other threads run more
  if (own.split != NULL) {
    g->splitter = own;
    call->splitter = (stow_splitter){split_finely, g};
  }
  call->user = NULL;
  stow_status status = stow_kernels_get(NULL, call->op)->run(call);
  if (status == STOW_OK && g->checks_rows) {
    check_rows(g, call);
  }
  call->user = g;
  call->splitter = own;
  return status;
}

// The library's kernel. What it refuses is noted, and the run goes on with elements that depend on
// no operand: those may be written over by then.
static stow_status run_core(stow_kernel_call* call) {
  run_graph* g = (run_graph*)call->user;
  stow_tensor before[MOST_RESULTS];
  for (size_t k = 0; k < call->result_count && k < MOST_RESULTS; ++k) {
    before[k] = *call->results[k];
  }
  stow_status status = run_library(g, call);
  if (status == STOW_OK || call->result_count > MOST_RESULTS || has_views(g)) {
    return status;
  }
  for (size_t k = 0; k < call->result_count; ++k) {
    stow_value value = stow_graph_first_result(g->graph, g->node) + (stow_value)k;
    *call->results[k] = before[k];
    suitable_fill(call->results[k], g->ranges[value], call->seed + k);
  }
  g->refusal = status;
  return STOW_OK;
}

static void set_kernels(run_graph* g) {
  static const char* const customs[] = {"acme.make", "acme.mix", "acme.step", "onnx.Foo",
                                        "onnx.QMatMul"};
  stow_kernel custom = {
      .struct_size = sizeof(custom), .run = run_custom, .user = g, .in_place = true};
  if (stow_kernels_create(stow_allocator_default(), NULL, &g->kernels) != STOW_OK) {
    abort();
  }
  for (size_t i = 0; i < sizeof(customs) / sizeof(customs[0]); ++i) {
    if (stow_kernels_set_custom(g->kernels, stow_str_of(customs[i]), &custom, NULL) != STOW_OK) {
      abort();
    }
  }
  // The library cannot know how these are packed.
  (void)stow_kernels_set(g->kernels, STOW_OP_DEQUANT_MATMUL, &custom, NULL);
  (void)stow_kernels_set(g->kernels, STOW_OP_DEQUANT_GROUPED_MATMUL, &custom, NULL);
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    const stow_kernel* kernel = stow_kernels_get(NULL, op);
    bool is_opaque = op == STOW_OP_DEQUANT_MATMUL || op == STOW_OP_DEQUANT_GROUPED_MATMUL;
    if (kernel != NULL && !is_opaque) {
      stow_kernel wrapped = {.struct_size = sizeof(wrapped),
                             .scratch = kernel->scratch,
                             .run = run_core,
                             .user = g,
                             .in_place = kernel->in_place,
                             .variant_count = kernel->variant_count,
                             .pack_size = kernel->pack_size,
                             .pack = kernel->pack};
      (void)stow_kernels_set(g->kernels, op, &wrapped, NULL);
    }
  }
}

static stow_tensor whole_tensor(const stow_graph* graph, stow_value value, void* data) {
  const stow_type* type = stow_graph_type(graph, value);
  stow_tensor tensor = {.data = data, .dtype = type->dtype, .rank = type->rank};
  memcpy(tensor.dims, type->dims, sizeof(tensor.dims));
  return tensor;
}

void run_graph_init(run_graph* g, const stow_graph* graph, test_frozen* frozen, uint64_t seed) {
  *g =
      (run_graph){.graph = graph, .frozen = frozen, .seed = seed, .ranges = suitable_ranges(graph)};
  set_kernels(g);
  stow_allocator elements = test_frozen_allocator(frozen);
  g->by_rows = (uint64_t*)need(calloc(STOW_OP_CORE_COUNT, sizeof(*g->by_rows)));
  g->data = (void**)need(calloc(stow_graph_value_count(graph) + 1, sizeof(*g->data)));
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    if (stow_graph_is_boundary(graph, value) && stow_graph_data(graph, value, NULL) == NULL) {
      stow_tensor tensor = whole_tensor(graph, value, NULL);
      tensor.data = elements.reallocate(elements.user, NULL, 0, stow_tensor_bytes(&tensor) + 1, 64);
      suitable_fill(&tensor, g->ranges[value], seed * 1000003 + value);
      g->data[value] = tensor.data;
    }
  }
}

void run_graph_free(run_graph* g) {
  free(g->data);
  free(g->by_rows);
  free(g->ranges);
  stow_kernels_destroy(g->kernels);
}

// ---------------------------------------------------------------------------------------------
// A run

typedef struct run {
  run_graph* g;
  const run_way* way;
  run_trace* trace;
  stow_prepared* prepared;
  stow_plan* plan;
  stow_exec* exec;
  stow_diag diag;
  void** bound;  // by value: memory of what has no slot
  uint64_t steps;
} run;

static const void* give_weight(void* user, stow_value value, size_t* out_size) {
  const run* r = (const run*)user;
  stow_tensor tensor = whole_tensor(r->g->graph, value, NULL);
  *out_size = stow_tensor_bytes(&tensor);
  return r->g->data[value];
}

static void trace_results(run* r, stow_node node) {
  uint64_t* hash = &r->trace->hashes[node];
  *hash = stowi_hash_u64(*hash, r->g->refusal);
  for (size_t k = 0; k < stow_graph_result_count(r->g->graph, node); ++k) {
    stow_value value = stow_graph_first_result(r->g->graph, node) + (stow_value)k;
    stow_tensor tensor;
    if (stow_exec_value(r->exec, value, NULL, &tensor) == STOW_OK) {
      *hash = tensor_hash(*hash, &tensor);
    }
  }
  r->trace->counts[node] += 1;
  r->trace->refusals[node] += r->g->refusal != STOW_OK ? 1 : 0;
  r->trace->unsuited += r->g->refusal != STOW_OK && r->g->refusal != STOW_ERR_UNSUPPORTED ? 1 : 0;
}

static bool see_step(void* user, const stow_exec_event* event) {
  run* r = (run*)user;
  r->g->node = event->node;
  stow_op op = stow_graph_op(r->g->graph, event->node);
  bool is_boundary = op == STOW_OP_INPUT || op == STOW_OP_PARAM || op == STOW_OP_CONSTANT;
  if (event->is_done && !is_boundary) {
    r->trace->runs += event->call != NULL ? 1 : 0;
    if (r->g->refusal != STOW_OK && r->trace->message[0] == '\0') {
      snprintf(r->trace->message, sizeof(r->trace->message), "%s", event->call->message);
      r->trace->failed = event->node;
    }
    trace_results(r, event->node);
  }
  r->g->refusal = STOW_OK;
  return ++r->steps < MOST_STEPS;
}

// The same for all runs of the graph. What a call refuses is left out.
static void draw_effects(run* r) {
  static const stow_io_policy policies[] = {STOW_IO_KEEP, STOW_IO_CONSUME, STOW_IO_EXTERNAL};
  stow_effects* effects = stow_prepared_effects(r->prepared);
  test_random random = {r->g->seed};
  for (stow_value value = 0; value < stow_graph_value_count(r->g->graph); ++value) {
    uint64_t bytes = 0;
    stow_type_bytes(stow_graph_type(r->g->graph, value), &bytes);
    stow_effects_set_io(effects, value, policies[test_random_below(&random, 3)], NULL);
    switch (test_random_below(&random, 16)) {
      case 0: stow_effects_set_storage(effects, value, 3 * bytes, NULL); break;
      case 1:
        stow_effects_set_alignment(effects, value, UINT64_C(1) << test_random_below(&random, 10),
                                   NULL);
        break;
      case 2: stow_effects_set_own(effects, value, NULL); break;
      default: break;
    }
  }
}

static stow_status bind_outside(run* r, stow_value value) {
  stow_slot slot;
  if (stow_plan_value_slot(r->plan, value, &slot)) {
    return STOW_OK;
  }
  stow_tensor tensor = whole_tensor(r->g->graph, value, NULL);
  size_t size = stow_tensor_bytes(&tensor);
  if (r->bound[value] == NULL) {
    r->bound[value] = make_bytes(size);
  }
  return stow_exec_bind(r->exec, value, r->bound[value], size, &r->diag);
}

static stow_status give_inputs(run* r) {
  const stow_graph* graph = r->g->graph;
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    if (stow_graph_op(graph, stow_graph_producer(graph, value)) == STOW_OP_INPUT) {
      stow_tensor tensor = whole_tensor(graph, value, r->g->data[value]);
      STOW_TRY(bind_outside(r, value));
      STOW_TRY(stow_exec_input(r->exec, value, &tensor, &r->diag));
    }
  }
  for (size_t k = 0; k < stow_graph_output_count(graph); ++k) {
    stow_value value = stow_graph_outputs(graph)[k];
    if (!stow_graph_is_boundary(graph, value)) {
      STOW_TRY(bind_outside(r, value));
    }
  }
  return STOW_OK;
}

// The smallest more often than others, as it differs most.
static uint32_t draw_variant(void* user, stow_node node, uint32_t count) {
  const run_graph* g = (const run_graph*)user;
  test_random random = {g->seed + node};
  uint32_t drawn = (uint32_t)test_random_below(&random, count + 1);
  return drawn < count ? drawn : count - 1;
}

static stow_status make(run* r) {
  stow_prepare_options prepare;
  stow_exec_options options;
  stow_prepare_options_init(&prepare);
  stow_exec_options_init(&options);
  prepare.threads = r->way->threads;
  prepare.kernels = r->g->kernels;
  prepare.pack = r->way->has_variants ? STOW_PACK_ALWAYS : STOW_PACK_NEVER;
  options.paranoid = r->way->paranoid;
  options.poison = r->way->poison;
  options.weight = give_weight;
  options.on_step = see_step;
  options.user = r;
  stow_allocator allocator = stow_allocator_default();
  STOW_TRY(stowi_exec_prepare(r->g->graph, &prepare, r->way->has_variants ? draw_variant : NULL,
                              r->g, allocator, &r->diag, &r->prepared));
  stow_prepared_info info = {.struct_size = sizeof(info)};
  STOW_TRY(stow_prepared_describe(r->prepared, &info));
  r->trace->packed = info.packed_count;
  if (r->way->has_effects) {
    draw_effects(r);
  }
  STOW_TRY(stow_plan_make(r->g->graph, stow_prepared_effects(r->prepared), &r->way->plan, allocator,
                          &r->diag, &r->plan));
  STOW_TRY(stow_exec_create(r->prepared, r->plan, &options, allocator, &r->diag, &r->exec));
  return give_inputs(r);
}

static void trace_outputs(run* r) {
  for (size_t k = 0; k < stow_graph_output_count(r->g->graph); ++k) {
    stow_tensor tensor;
    stow_value value = stow_graph_outputs(r->g->graph)[k];
    stow_status status = stow_exec_value(r->exec, value, &r->diag, &tensor);
    test_check(status == STOW_OK, __FILE__, __LINE__, "output %zu: %s", k, r->diag.message);
    r->trace->outputs[k] = status == STOW_OK ? tensor_hash(STOWI_HASH_SEED, &tensor) : 0;
  }
}

// Forgets a run that ended well, for another one.
static stow_status begin_again(run* r) {
  size_t nodes = stow_graph_node_count(r->g->graph);
  memset(r->trace->counts, 0, nodes * sizeof(*r->trace->counts));
  memset(r->trace->refusals, 0, nodes * sizeof(*r->trace->refusals));
  memset(r->trace->hashes, 0, nodes * sizeof(*r->trace->hashes));
  r->steps = 0;
  return give_inputs(r);
}

run_trace run_graph_run(run_graph* g, const run_way* way) {
  size_t nodes = stow_graph_node_count(g->graph) + 1;
  size_t values = stow_graph_value_count(g->graph) + 1;
  run_trace trace = {
      .failed = STOW_NODE_NONE,
      .counts = (uint32_t*)need(calloc(nodes, sizeof(*trace.counts))),
      .refusals = (uint32_t*)need(calloc(nodes, sizeof(*trace.refusals))),
      .hashes = (uint64_t*)need(calloc(nodes, sizeof(*trace.hashes))),
      .outputs = (uint64_t*)need(calloc(stow_graph_output_count(g->graph) + 1, 8)),
  };
  run r = {.g = g, .way = way, .trace = &trace};
  g->checks_rows = way->checks_rows;
  r.bound = (void**)need(calloc(values, sizeof(*r.bound)));
  stow_diag_init(&r.diag);
  trace.status = make(&r);
  if (trace.status == STOW_OK) {
    trace.is_run = true;
    test_freeze(g->frozen, true);
    trace.status = stow_exec_run(r.exec, &r.diag);
    if (trace.status == STOW_OK && way->is_repeated) {
      trace.status = begin_again(&r);
      trace.status = trace.status == STOW_OK ? stow_exec_run(r.exec, &r.diag) : trace.status;
    }
  }
  if (trace.status == STOW_OK) {
    trace_outputs(&r);
  }
  test_freeze(g->frozen, false);
  if (trace.status != STOW_OK) {
    memcpy(trace.message, r.diag.message, sizeof(trace.message));
    trace.failed = r.diag.node;
  }
  stow_exec_destroy(r.exec);
  stow_plan_destroy(r.plan);
  stow_prepared_destroy(r.prepared);
  for (size_t value = 0; value < values; ++value) {
    free(r.bound[value]);
  }
  free(r.bound);
  return trace;
}

void run_trace_free(run_trace* trace) {
  free(trace->counts);
  free(trace->refusals);
  free(trace->hashes);
  free(trace->outputs);
}

// ---------------------------------------------------------------------------------------------
// Differences

static size_t say_type(const stow_graph* graph, stow_value value, char* out, size_t size) {
  if (value == STOW_VALUE_NONE) {
    return (size_t)snprintf(out, size, " -");
  }
  const stow_type* type = stow_graph_type(graph, value);
  size_t at =
      (size_t)snprintf(out, size, " %%%" PRIu32 ": %s[", value, stow_dtype_name(type->dtype));
  for (uint32_t i = 0; i < type->rank && at < size; ++i) {
    at += (size_t)snprintf(out + at, size - at, "%s%" PRId64, i == 0 ? "" : ", ", type->dims[i]);
  }
  return at + (at < size ? (size_t)snprintf(out + at, size - at, "]") : 0);
}

static void say_node(const stow_graph* graph, stow_node node, char* out, size_t size) {
  size_t at = (size_t)snprintf(out, size, "node %" PRIu32 ", %s of", node,
                               stow_graph_op_desc(graph, node)->name);
  for (size_t k = 0; k < stow_graph_operand_count(graph, node) && at < size; ++k) {
    at += say_type(graph, stow_graph_operands(graph, node)[k], out + at, size - at);
  }
  at += at < size ? (size_t)snprintf(out + at, size - at, " gives") : 0;
  for (size_t k = 0; k < stow_graph_result_count(graph, node) && at < size; ++k) {
    stow_value value = stow_graph_first_result(graph, node) + (stow_value)k;
    at += say_type(graph, value, out + at, size - at);
  }
}

static void compare_ends(const run_graph* g, const run_trace* a, const run_trace* b,
                         bool same_order, char* out, size_t size) {
  bool is_same = (a->status == STOW_OK) == (b->status == STOW_OK);
  if (same_order) {
    is_same = a->status == b->status && a->failed == b->failed;
  }
  if (!is_same) {
    snprintf(out, size, "%s: %s / %s: %s", stow_status_text(a->status), a->message,
             stow_status_text(b->status), b->message);
    return;
  }
  for (size_t k = 0; a->status == STOW_OK && k < stow_graph_output_count(g->graph); ++k) {
    if (a->outputs[k] != b->outputs[k]) {
      snprintf(out, size, "output %zu differs", k);
      return;
    }
  }
}

void run_trace_difference(const run_graph* g, const run_trace* a, const run_trace* b,
                          bool same_order, char* out, size_t size) {
  bool is_whole = same_order || (a->status == STOW_OK && b->status == STOW_OK);
  out[0] = '\0';
  for (stow_node node = 0; node < stow_graph_node_count(g->graph); ++node) {
    bool is_same =
        a->counts[node] == b->counts[node] ? a->hashes[node] == b->hashes[node] : !is_whole;
    if (!is_same) {
      size_t at = (size_t)snprintf(
          out, size, "%" PRIu32 " and %" PRIu32 " times: ", a->counts[node], b->counts[node]);
      say_node(g->graph, node, out + at, size - at);
      return;
    }
  }
  compare_ends(g, a, b, same_order, out, size);
}

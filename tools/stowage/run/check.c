// `--check`: the same model, rewritten by near rules alone, and the same inputs with a plan in
// which every tensor has bytes of its own, in the given order. Results must be the same to the last
// bit. Where they are not, both run again, and what every node computed is compared in the order of
// the plan: the first that differs read, or wrote, what it should not have.
//
// If near rules fired, the model as it is runs in the same way, and the largest difference is told.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/label.h"
#include "run/run.h"
#include "tensors/element.h"

// ---------------------------------------------------------------------------------------------
// Digests

static uint64_t hash_bytes(uint64_t hash, const void* data, size_t size) {
  const unsigned char* bytes = data;
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 32;
  }
  for (; i < size; ++i) {
    hash = (hash ^ bytes[i]) * UINT64_C(0x100000001B3);
  }
  return hash;
}

// The elements of a pitched result, row by row; NULL if memory is out. Of a dense one its data.
static void* dense_data(const stow_tensor* tensor, size_t size, void** out_copy) {
  size_t rows = 1;
  size_t pitch = 0;
  int64_t stride = 1;
  *out_copy = NULL;
  for (uint32_t i = tensor->rank; i-- > 0;) {
    if (pitch == 0 && tensor->strides[i] != 0 && tensor->strides[i] != stride) {
      pitch = (size_t)tensor->strides[i] * (stow_dtype_bits(tensor->dtype) / 8);
    }
    rows *= pitch == 0 ? 1 : (size_t)tensor->dims[i];
    stride *= tensor->dims[i];
  }
  if (pitch == 0) {
    return tensor->data;
  }
  unsigned char* copy = *out_copy = malloc(size);
  for (size_t row = 0; copy != NULL && row < rows; ++row) {
    memcpy(copy + row * (size / rows), (const unsigned char*)tensor->data + row * pitch,
           size / rows);
  }
  return copy;
}

void cli_digest_step(cli_digests* digests, const stow_exec_event* event) {
  if (event->call == NULL) {
    return;
  }
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  for (size_t i = 0; i < event->call->result_count; ++i) {
    const stow_tensor* result = event->call->results[i];
    size_t size = result == NULL ? 0 : stow_tensor_bytes(result);
    if (result != NULL) {
      hash = hash_bytes(hash, result->dims, result->rank * sizeof result->dims[0]);
    }
    void* copy = NULL;
    const void* data = size == 0 ? NULL : dense_data(result, size, &copy);
    hash = data == NULL ? hash : hash_bytes(hash, data, size);
    digests->failed = digests->failed || (size != 0 && data == NULL);
    free(copy);
  }
  cli_digest digest = {event->node, digests->calls[event->node]++, event->step, hash};
  digests->failed = digests->failed || !cli_list_add(&digests->digests, &digest, sizeof digest);
}

static int compare_digests(const void* a, const void* b) {
  const cli_digest* x = a;
  const cli_digest* y = b;
  return x->node != y->node   ? (x->node < y->node ? -1 : 1)
         : x->call != y->call ? (x->call < y->call ? -1 : 1)
                              : 0;
}

// Runs |engine| once more with |digests| listening.
static cli_exit listen(cli_engine* engine, cli_digests* digests) {
  digests->calls = calloc(stow_graph_node_count(engine->graph) + 1, sizeof *digests->calls);
  if (digests->calls == NULL) {
    return cli_fail_memory();
  }
  cli_time time;
  engine->steps.digests = digests;
  cli_exit code = cli_engine_run(engine, &time);
  engine->steps.digests = NULL;
  return code == CLI_YES && digests->failed ? cli_fail_memory() : code;
}

static void free_digests(cli_digests* digests) {
  free(digests->calls);
  cli_list_free(&digests->digests, sizeof(cli_digest));
}

// The first of |a| that differs from its like in |b|; NULL where none does.
static const cli_digest* find_difference(const cli_digests* a, cli_digests* b) {
  const cli_digest* items = a->digests.items;
  if (b->digests.count > 0) {
    qsort(b->digests.items, b->digests.count, sizeof(cli_digest), compare_digests);
  }
  for (size_t i = 0; i < a->digests.count; ++i) {
    const cli_digest* other = b->digests.count == 0
                                  ? NULL
                                  : bsearch(&items[i], b->digests.items, b->digests.count,
                                            sizeof(cli_digest), compare_digests);
    if (other == NULL || other->hash != items[i].hash) {
      return &items[i];
    }
  }
  return NULL;
}

static void tell_difference(const cli_engine* engine, const cli_digest* digest) {
  if (digest == NULL) {
    cli_tell_more(
        "every step computes the same when run again; the results depend on something else");
    return;
  }
  char label[CLI_LABEL_SIZE];
  cli_node_label(engine->graph, digest->node, label);
  cli_tell_more("the first to differ is step %" PRIu32 ", %s", digest->step, label);
}

// ---------------------------------------------------------------------------------------------
// Running without sharing

typedef struct plain {
  stow_rewritten* rewritten;  // by near rules; NULL: the graph is as it was read
  const stow_graph* graph;
  stow_prepared* prepared;
  stow_plan* plan;
  cli_list feeds;  // of cli_feed: the run's, for this graph
  cli_engine engine;
  cli_list results;
} plain;

// What the run is given, by name. Inputs and weights keep their order when a graph is rewritten.
static cli_exit find_feeds(plain* p, const cli_run* run) {
  const cli_feed* feeds = run->feeds.items;
  for (size_t i = 0; i < run->feeds.count; ++i) {
    cli_feed feed = feeds[i];
    feed.value = stow_graph_find(p->graph, stow_graph_value_name(run->job.graph, feeds[i].value));
    if (!cli_list_add(&p->feeds, &feed, sizeof feed)) {
      return cli_fail_memory();
    }
  }
  return CLI_YES;
}

static bool has_near_rules(const cli_run* run) {
  bool has = false;
  for (int i = 0; run->job.rewritten != NULL && i < STOW_REWRITE_RULE_COUNT; ++i) {
    stow_rewrite_rule rule = (stow_rewrite_rule)i;
    has = has ||
          (stow_rewrite_rule_is_near(rule) && stow_rewritten_count(run->job.rewritten, rule) != 0);
  }
  return has;
}

// Applies the run's near rules, and no others.
static cli_exit apply_near_rules(plain* p, const cli_run* run) {
  stow_rewrite_options options;
  stow_diag diag = cli_diag();
  char stamp[STOW_REWRITE_STAMP_SIZE];
  stow_rewrite_options_init(&options);
  stow_rewritten_stamp(run->job.rewritten, stamp);
  stow_status status = stow_rewrite_read_stamp(stow_str_of(stamp), &diag, &options);
  if (status != STOW_OK) {
    return cli_fail_graph(run->job.source.label, p->graph, status, &diag);
  }
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    bool is_near = stow_rewrite_rule_is_near((stow_rewrite_rule)i);
    options.off |= is_near ? 0 : stow_rewrite_bit((stow_rewrite_rule)i);
  }
  CLI_TRY(cli_rewrite_graph(run->job.given, &options, run->job.source.label, &p->rewritten));
  p->graph = stow_rewritten_graph(p->rewritten);
  return CLI_YES;
}

static cli_exit make_plain(plain* p, cli_run* run, const cli_engine* engine) {
  const stow_graph* graph = p->graph;
  stow_allocator allocator = stow_allocator_default();
  stow_diag diag = cli_diag();
  CLI_TRY(find_feeds(p, run));
  stow_prepare_options prepare = run->prepare;
  prepare.pack = STOW_PACK_NEVER;
  stow_status status = stow_prepare(graph, &prepare, allocator, &diag, &p->prepared);
  if (status == STOW_OK) {
    stow_plan_options options;
    stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
    options.params = options.constants = false;
    options.reuse = options.in_place = options.elide_copies = false;
    options.order = STOW_ORDER_GIVEN;
    status = stow_plan_make(graph, stow_prepared_effects(p->prepared), &options, allocator, &diag,
                            &p->plan);
  }
  if (status != STOW_OK) {
    return cli_fail_graph(run->job.source.label, graph, status, &diag);
  }
  p->engine = *engine;
  p->engine.exec = NULL;
  p->engine.bound = (cli_list){0};
  p->engine.plan = p->plan;
  p->engine.graph = graph;
  p->engine.feeds = p->feeds.items;
  p->engine.folded = NULL;
  p->engine.steps.profile = NULL;
  p->engine.steps.doing = "check";
  p->engine.steps.run_count = 1;
  return cli_engine_open(&p->engine, p->prepared, false);
}

static bool is_same(const cli_array* a, const cli_array* b) {
  stow_type x = cli_tensor_type(&a->tensor);
  stow_type y = cli_tensor_type(&b->tensor);
  return stow_type_equal(&x, &y) && memcmp(a->tensor.data, b->tensor.data, a->size) == 0;
}

const char* cli_run_unlike(const cli_run* run) {
  return run->job.graph == run->job.given ? ""
         : has_near_rules(run)            ? "exact rules and "
                                          : "rewriting and ";
}

static cli_exit compare(cli_run* run, cli_engine* engine, plain* p) {
  const cli_result* x = run->results.items;
  const cli_result* y = p->results.items;
  size_t at = 0;
  while (at < run->results.count && is_same(&x[at].array, &y[at].array)) {
    ++at;
  }
  run->is_checked = true;
  if (at == run->results.count) {
    return CLI_YES;
  }
  run->is_different = true;
  const cli_array* array = &((const cli_result*)run->results.items)[at].array;
  bool is_rewritten = run->job.graph != run->job.given;
  cli_fail(CLI_NO, "%s: output '%s' differs from a run without %sshared bytes",
           run->job.source.label, array->name.data, cli_run_unlike(run));
  if (is_rewritten) {
    cli_tell_more("to find out why, check again with --rewrite none");
    return CLI_YES;
  }
  cli_digests a = {0};
  cli_digests b = {0};
  cli_exit code = listen(engine, &a);
  code = code == CLI_YES ? listen(&p->engine, &b) : code;
  if (code == CLI_YES) {
    tell_difference(engine, find_difference(&a, &b));
  }
  free_digests(&a);
  free_digests(&b);
  return code;
}

static cli_exit run_plain(plain* p, cli_run* run, const cli_engine* engine) {
  cli_time time;
  CLI_TRY(make_plain(p, run, engine));
  CLI_TRY(cli_engine_run(&p->engine, &time));
  return cli_engine_results(&p->engine, run, &p->results);
}

static void free_plain(plain* p) {
  cli_results_free(&p->results);
  cli_engine_close(&p->engine);
  stow_plan_destroy(p->plan);
  stow_prepared_destroy(p->prepared);
  stow_rewritten_destroy(p->rewritten);
  cli_list_free(&p->feeds, sizeof(cli_feed));
}

// ---------------------------------------------------------------------------------------------
// How near

// What integers stand for: 1, or the scale with which an output was dequantised; 0: neither.
static double quantum_of(const stow_graph* graph, stow_value value) {
  stow_node node = stow_graph_producer(graph, value);
  if (!cli_is_float(stow_graph_type(graph, value)->dtype)) {
    return 1;
  }
  if (stow_graph_op(graph, node) != STOW_OP_DEQUANTIZE_LINEAR) {
    return 0;
  }
  stow_value scale = stow_graph_operands(graph, node)[1];
  const void* data = stow_graph_data(graph, scale, NULL);
  uint64_t count = 0;
  (void)stow_type_elements(stow_graph_type(graph, scale), &count);
  float number = 0;
  if (data != NULL && count == 1 && stow_graph_type(graph, scale)->dtype == STOW_F32) {
    memcpy(&number, data, sizeof number);
  }
  return (double)number;
}

typedef struct distance {
  double largest;  // difference
  double scale;    // the largest element
} distance;

// Elements that are the same, or both NaN, are not apart.
static distance distance_of(const stow_tensor* a, const stow_tensor* b) {
  distance d = {0, 0};
  size_t count = stow_tensor_elements(a);
  if (count != stow_tensor_elements(b)) {
    return (distance){INFINITY, 1};
  }
  for (size_t i = 0; i < count * cli_element_parts(a->dtype); ++i) {
    unsigned parts = cli_element_parts(a->dtype);
    double x = cli_element(a, i / parts, (unsigned)(i % parts));
    double y = cli_element(b, i / parts, (unsigned)(i % parts));
    double difference = x == y || (isnan(x) && isnan(y)) ? 0 : fabs(x - y);
    d.largest = difference <= d.largest ? d.largest : isnan(difference) ? INFINITY : difference;
    d.scale = fabs(y) > d.scale ? fabs(y) : d.scale;
  }
  return d;
}

static void measure(cli_run* run, const plain* p) {
  cli_nearness* near = &run->near;
  const cli_result* x = run->results.items;
  const cli_result* y = p->results.items;
  near->is_compared = true;
  for (size_t i = 0; i < run->results.count; ++i) {
    distance d = distance_of(&x[i].array.tensor, &y[i].array.tensor);
    double quantum = quantum_of(p->graph, stow_graph_outputs(p->graph)[i]);
    if (quantum > 0) {
      near->has_quanta = true;
      near->quanta = fmax(near->quanta, round(d.largest / quantum));
    } else {
      near->has_floats = true;
      near->absolute = fmax(near->absolute, d.largest);
      near->relative = fmax(near->relative, d.largest == 0 ? 0 : d.largest / d.scale);
    }
  }
}

cli_exit cli_run_check(cli_run* run, cli_engine* engine) {
  plain p = {.graph = run->job.given};
  bool is_near = has_near_rules(run);
  cli_exit code = is_near ? apply_near_rules(&p, run) : CLI_YES;
  code = code == CLI_YES ? run_plain(&p, run, engine) : code;
  code = code == CLI_YES ? compare(run, engine, &p) : code;
  free_plain(&p);
  if (code == CLI_YES && is_near) {
    p = (plain){.graph = run->job.given};
    code = run_plain(&p, run, engine);
    if (code == CLI_YES) {
      measure(run, &p);
    }
    free_plain(&p);
  }
  return code;
}

// How evenly the steps of a model can be divided among threads, whatever else the machine does:
// one thread computes all ranges that several would claim, and each is added to the time of the
// worker that would be free first. Work that is not divided counts in full. Caches of their own,
// which make several threads faster or slower, are not counted; being woken is, as 1 us.
//
//     bench_threads MODEL [--threads N] [--repeat N] [--kernels fastest] [--bind …] [--value …]
//     [--shape …]
//
// One line for the model, then one for each op that loses most: nodes, ms of one thread, of that
// outside of ranges, and how many times faster they would be. Of each step the fastest run counts.
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/exec.h>
#include <stowage/onnx.h>
#include <stowage/rewrite.h>
#include <string.h>
#include <time.h>

#include "exec/threads/pool.h"
#include "measure.h"
#include "onnx/support/request_args.h"

#define WAKE 1e-6
#define MOST_THREADS 64
#define SHOWN 8

typedef struct cost {
  double time, divided, span;  // seconds: of a step, of its ranges, of the busiest worker
} cost;

typedef struct op_cost {
  const char* name;
  size_t nodes;
  cost sum;
} op_cost;

static struct {
  uint32_t threads;
  double clock;  // seconds that asking for the time takes
  double begun;
  cost step;
  cost* nodes;  // the fastest run of each
} state;

static void require(stow_status status, const stow_diag* diag) {
  bench_require(status == STOW_OK,
                diag->message[0] != '\0' ? diag->message : stow_status_text(status));
}

static double now(void) {
  struct timespec time;  // of the processor: the machine may have other work
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double clock_cost(void) {
  double begun = now();
  for (int i = 0; i < 9999; ++i) {
    (void)now();
  }
  return (now() - begun) / 10000;
}

// ---------------------------------------------------------------------------------------------
// Steps

static double parallel_of(const cost* c) { return c->time - c->divided + c->span; }

// A stow_splitter's function. The worker that is free first claims the next range.
static void divide(void* pool, size_t count, size_t grain, stow_split_task task, void* user) {
  double busy[MOST_THREADS] = {0};
  double most = 0;
  (void)pool;
  for (uint32_t i = 1; i < state.threads; ++i) {
    busy[i] = WAKE;
  }
  for (size_t begin = 0; begin < count;) {
    size_t left = count - begin;
    size_t share = grain >= count ? count : stowi_exec_workers_share(state.threads, left, grain);
    uint32_t worker = 0;
    for (uint32_t i = 1; i < state.threads; ++i) {
      worker = busy[i] < busy[worker] ? i : worker;
    }
    double begun = now();
    task(user, begin, begin + share, worker);
    double time = now() - begun - state.clock;
    state.begun += 2 * state.clock;
    busy[worker] += time;
    state.step.divided += time;
    most = busy[worker] > most ? busy[worker] : most;
    begin += share;
  }
  state.step.span += most;
}

// Before each step the executor's threads are replaced, whose call is not really constant.
static bool measure_step(void* user, const stow_exec_event* event) {
  (void)user;
  if (!event->is_done && event->call != NULL) {
    ((stow_kernel_call*)(uintptr_t)event->call)->splitter = (stow_splitter){divide, NULL};
  }
  if (!event->is_done) {
    state.step = (cost){0, 0, 0};
    state.begun = now();
    return true;
  }
  cost* least = &state.nodes[event->node];
  state.step.time = now() - state.begun;
  if (event->call != NULL && (least->time == 0 || state.step.time < least->time)) {
    *least = state.step;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Runs

static void fill(stow_exec* exec, const stow_graph* graph, stow_diag* diag) {
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    stow_tensor t;
    if (stow_graph_op(graph, node) != STOW_OP_INPUT) {
      continue;
    }
    require(stow_exec_fill(exec, stow_graph_first_result(graph, node), diag, &t), diag);
    memset(t.data, 0, stow_tensor_bytes(&t));
    for (size_t i = 0; t.dtype == STOW_F32 && i < stow_tensor_elements(&t); ++i) {
      ((float*)t.data)[i] = (float)(i * 7919 % 2001) / 1000.0F - 1.0F;
    }
  }
}

static void run(const stow_graph* graph, stow_folded* folded, bool is_fastest, size_t repeats) {
  stow_allocator heap = stow_allocator_default();
  stow_prepared* prepared = NULL;
  stow_plan* plan = NULL;
  stow_exec* exec = NULL;
  stow_prepare_options prepare;
  stow_plan_options options;
  stow_exec_options how;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_prepare_options_init(&prepare);
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  stow_exec_options_init(&how);
  prepare.pack = STOW_PACK_AUTO;
  prepare.threads = state.threads;
  prepare.fastest = is_fastest;
  options.params = options.constants = false;
  how.weight = folded == NULL ? NULL : stow_folded_weight;
  how.user = folded;
  how.on_step = measure_step;
  require(stow_prepare(graph, &prepare, heap, &diag, &prepared), &diag);
  require(stow_plan_make(graph, stow_prepared_effects(prepared), &options, heap, &diag, &plan),
          &diag);
  require(stow_exec_create(prepared, plan, &how, heap, &diag, &exec), &diag);
  for (size_t i = 0; i < repeats; ++i) {
    fill(exec, graph, &diag);
    require(stow_exec_run(exec, &diag), &diag);
  }
  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
}

// ---------------------------------------------------------------------------------------------
// The table

static void add(op_cost* to, const cost* c) {
  to->sum.time += c->time;
  to->sum.divided += c->divided;
  to->sum.span += c->span;
  ++to->nodes;
}

static double loss_of(const op_cost* o) {
  return parallel_of(&o->sum) - o->sum.time / state.threads;
}

static int compare_losses(const void* a, const void* b) {
  double x = loss_of((const op_cost*)a);
  double y = loss_of((const op_cost*)b);
  return x < y ? 1 : x > y ? -1 : 0;
}

static void print_line(const op_cost* o) {
  printf("%-24s %5zu %10.3f %10.3f %6.2f\n", o->name, o->nodes, o->sum.time * 1e3,
         (o->sum.time - o->sum.divided) * 1e3, o->sum.time / parallel_of(&o->sum));
}

static void print_table(const stow_graph* graph) {
  static op_cost ops[STOW_OP_CORE_COUNT];
  op_cost all = {"all", 0, {0, 0, 0}};
  size_t count = 0;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    const char* name = stow_graph_op_desc(graph, node)->name;
    size_t k = 0;
    if (state.nodes[node].time == 0) {
      continue;
    }
    while (k < count && strcmp(ops[k].name, name) != 0) {
      ++k;
    }
    ops[k].name = name;
    count += k == count;
    add(&ops[k], &state.nodes[node]);
    add(&all, &state.nodes[node]);
  }
  qsort(ops, count, sizeof(ops[0]), compare_losses);
  print_line(&all);
  for (size_t i = 0; i < count && i < SHOWN; ++i) {
    print_line(&ops[i]);
  }
}

// ---------------------------------------------------------------------------------------------

typedef struct options {
  size_t repeats;
  bool is_fastest;
  stow_import_request* request;
} options;

static options read_options(int argc, char** argv) {
  options o = {.repeats = 5};
  stow_diag diag;
  stow_diag_init(&diag);
  state.threads = 2;
  bench_require(argc > 1, "usage: bench_threads MODEL [--threads N] [--repeat N] [--bind S=N]…");
  require(stow_import_request_create(stow_allocator_default(), &diag, &o.request), &diag);
  for (int i = 2; i < argc;) {
    if (request_take_arg(o.request, argc, argv, &i)) {
      continue;
    }
    bench_require(i + 1 < argc, "an option without a value");
    if (strcmp(argv[i], "--threads") == 0) {
      state.threads = (uint32_t)strtoul(argv[i + 1], NULL, 10);
    } else if (strcmp(argv[i], "--repeat") == 0) {
      o.repeats = strtoul(argv[i + 1], NULL, 10);
    } else {
      o.is_fastest = strcmp(argv[i + 1], "fastest") == 0;
      bench_require(o.is_fastest && strcmp(argv[i], "--kernels") == 0, "an unknown argument");
    }
    i += 2;
  }
  bench_require(state.threads >= 1 && state.threads <= MOST_THREADS && o.repeats > 0,
                "--threads is from 1 to 64, --repeat 1 or more");
  return o;
}

int main(int argc, char** argv) {
  options given = read_options(argc, argv);
  stow_allocator heap = stow_allocator_default();
  stow_model* model = NULL;
  stow_import* import = NULL;
  stow_rewritten* rewritten = NULL;
  stow_folded* folded = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  require(stow_onnx_open(argv[1], heap, &diag, &model), &diag);
  require(stow_import_model(model, given.request, heap, &diag, &import), &diag);
  bench_require(stow_import_graph(import) != NULL, "the model cannot be imported");
  require(stow_rewrite(stow_import_graph(import), NULL, heap, &diag, &rewritten), &diag);
  const stow_graph* graph = stow_rewritten_graph(rewritten);
  const stow_graph* folds = stow_rewritten_fold_graph(rewritten);
  if (folds != NULL) {
    require(stow_folded_create(graph, folds, NULL, heap, &diag, &folded), &diag);
  }
  state.nodes = calloc(stow_graph_node_count(graph), sizeof(cost));
  bench_require(state.nodes != NULL, "out of memory");
  state.clock = clock_cost();
  run(graph, folded, given.is_fastest, given.repeats);
  print_table(graph);
  free(state.nodes);
  stow_folded_destroy(folded);
  stow_rewritten_destroy(rewritten);
  stow_import_destroy(import);
  stow_model_close(model);
  stow_import_request_destroy(given.request);
  return EXIT_SUCCESS;
}

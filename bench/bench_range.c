// One executor for a range of shapes beside executors made for each shape: the same bits, in any
// order of shapes, and what moving to another shape costs.
//
//     bench_range MODEL [--points N] [--bind NAME=MIN..MAX] [--bind NAME=N] [--value …] [--shape …]
//
// At each of N points, drawn at random, the model is also imported, rewritten and planned for that
// shape alone. Prints a line for each: its values, the two arenas, ms of CPU of the two runs, and
// whether bits are the same. Then values of the graph, the median time of a thousand moves to other
// points, also in parts of a run at these points (of the median, and of the shortest), bytes
// allocated after the executor was made, and seconds to plan and to create it. Fails if a bit
// differs.
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/exec.h>
#include <stowage/onnx.h>
#include <stowage/stowage.h>
#include <string.h>
#include <time.h>

#include "measure.h"
#include "onnx/support/request_args.h"

#define MOST_RANGES 4
#define MOST_POINTS 512
#define MOVES 1000

typedef struct symbol {
  stow_str name;
  stow_dim_range range;
} symbol;

typedef struct arguments {
  const char* path;
  size_t points;
  size_t count;
  symbol symbols[MOST_RANGES];
  int argc;
  char** argv;
} arguments;

// A model, imported and rewritten, and what runs it.
typedef struct side {
  stow_model* model;
  stow_import* import;
  stow_rewritten* rewritten;
  const stow_graph* graph;
  stow_folded* folded;
  stow_prepared* prepared;
  stow_plan* plan;
  stow_formula* formula;
  stow_exec* exec;
} side;

static void require(stow_status status, const stow_diag* diag) {
  bench_require(status == STOW_OK,
                diag->message[0] != '\0' ? diag->message : stow_status_text(status));
}

static double wall_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// ---------------------------------------------------------------------------------------------
// Arguments

static bool take_range(arguments* a, const char* text) {
  const char* equals = strrchr(text, '=');
  stow_dim_range range = {0, 0, 1};
  if (equals == NULL || a->count == MOST_RANGES ||
      sscanf(equals + 1, "%" SCNd64 "..%" SCNd64 "/%" SCNd64, &range.min, &range.max, &range.step) <
          2) {
    return false;
  }
  a->symbols[a->count++] = (symbol){{text, (size_t)(equals - text)}, range};
  return true;
}

// The request of the model: with ranges, or with |values| for them.
static stow_import_request* request_of(const arguments* a, const int64_t* values) {
  stow_import_request* request = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  require(stow_import_request_create(stow_allocator_default(), &diag, &request), &diag);
  for (size_t i = 0; i < a->count; ++i) {
    const symbol* own = &a->symbols[i];
    require(values == NULL ? stow_import_request_bind_range(request, own->name, &own->range, &diag)
                           : stow_import_request_bind(request, own->name, values[i], &diag),
            &diag);
  }
  for (int i = 2; i < a->argc;) {
    bool is_range = strcmp(a->argv[i], "--bind") == 0 && i + 1 < a->argc &&
                    strstr(a->argv[i + 1], "..") != NULL;
    if (is_range || strcmp(a->argv[i], "--points") == 0) {
      i += 2;
    } else {
      bench_require(request_take_arg(request, a->argc, a->argv, &i), "an unknown argument");
    }
  }
  return request;
}

// ---------------------------------------------------------------------------------------------
// Sides

static void begin_side(side* s, const arguments* a, const int64_t* values,
                       stow_allocator allocator) {
  stow_import_request* request = request_of(a, values);
  stow_diag diag;
  stow_diag_init(&diag);
  *s = (side){0};
  require(stow_onnx_open(a->path, allocator, &diag, &s->model), &diag);
  require(stow_import_model(s->model, request, allocator, &diag, &s->import), &diag);
  bench_require(stow_import_graph(s->import) != NULL, "the model cannot be imported");
  require(stow_rewrite(stow_import_graph(s->import), NULL, allocator, &diag, &s->rewritten), &diag);
  s->graph = stow_rewritten_graph(s->rewritten);
  stow_prepare_options prepare;
  stow_prepare_options_init(&prepare);
  prepare.pack = STOW_PACK_AUTO;
  require(stow_prepare(s->graph, &prepare, allocator, &diag, &s->prepared), &diag);
  if (stow_rewritten_fold_graph(s->rewritten) != NULL) {
    require(stow_folded_create(s->graph, stow_rewritten_fold_graph(s->rewritten), NULL, allocator,
                               &diag, &s->folded),
            &diag);
  }
  stow_import_request_destroy(request);
}

static stow_plan_options plan_options(void) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.params = false;
  options.constants = false;
  return options;
}

static stow_exec_options exec_options(const side* s) {
  stow_exec_options options;
  stow_exec_options_init(&options);
  options.weight = s->folded == NULL ? NULL : stow_folded_weight;
  options.user = s->folded;
  return options;
}

static void end_side(side* s) {
  stow_exec_destroy(s->exec);
  stow_plan_destroy(s->plan);
  stow_formula_destroy(s->formula);
  stow_folded_destroy(s->folded);
  stow_prepared_destroy(s->prepared);
  stow_rewritten_destroy(s->rewritten);
  stow_import_destroy(s->import);
  stow_model_close(s->model);
}

// ---------------------------------------------------------------------------------------------
// Runs

static void write_element(stow_dtype dtype, void* data, size_t i, uint64_t salt) {
  uint64_t hash = (i + salt) * UINT64_C(0x9E3779B97F4A7C15);
  hash ^= hash >> 31;
  switch (dtype) {
    case STOW_F32: ((float*)data)[i] = (float)(hash % 2001) / 1000.0F - 1.0F; break;
    case STOW_I64: ((int64_t*)data)[i] = (int64_t)(hash % 2); break;
    case STOW_I32: ((int32_t*)data)[i] = (int32_t)(hash % 2); break;
    default: ((unsigned char*)data)[i] = (unsigned char)(hash % 2); break;
  }
}

// Numbers that depend on the input and its dims alone.
static void set_inputs(const side* s, stow_diag* diag) {
  for (stow_node node = 0; node < stow_graph_node_count(s->graph); ++node) {
    stow_tensor tensor;
    if (stow_graph_op(s->graph, node) == STOW_OP_INPUT) {
      require(stow_exec_fill(s->exec, stow_graph_first_result(s->graph, node), diag, &tensor),
              diag);
      for (size_t i = 0; i < stow_tensor_elements(&tensor); ++i) {
        write_element(tensor.dtype, tensor.data, i, node * 7919);
      }
    }
  }
}

static double run(const side* s, stow_diag* diag) {
  set_inputs(s, diag);
  double begun = bench_cpu_seconds();
  require(stow_exec_run(s->exec, diag), diag);
  return (bench_cpu_seconds() - begun) * 1e3;
}

static bool is_same(const side* a, const side* b) {
  bool is = stow_graph_output_count(a->graph) == stow_graph_output_count(b->graph);
  for (size_t i = 0; is && i < stow_graph_output_count(a->graph); ++i) {
    stow_tensor x, y;
    is = stow_exec_value(a->exec, stow_graph_outputs(a->graph)[i], NULL, &x) == STOW_OK &&
         stow_exec_value(b->exec, stow_graph_outputs(b->graph)[i], NULL, &y) == STOW_OK &&
         x.rank == y.rank && memcmp(x.dims, y.dims, sizeof(x.dims)) == 0;
    size_t bytes = is ? stow_tensor_bytes(&x) : 0;
    is = is && (bytes == 0 || memcmp(x.data, y.data, bytes) == 0);
  }
  return is;
}

// An executor for |values| alone; returns whether it gives the same bits as |range| did.
static bool compare(const arguments* a, const side* range, const int64_t* values,
                    uint64_t* out_arena, double* out_ms) {
  side own;
  stow_diag diag;
  stow_diag_init(&diag);
  begin_side(&own, a, values, stow_allocator_default());
  stow_plan_options options = plan_options();
  require(stow_plan_make(own.graph, stow_prepared_effects(own.prepared), &options,
                         stow_allocator_default(), &diag, &own.plan),
          &diag);
  stow_exec_options how = exec_options(&own);
  require(
      stow_exec_create(own.prepared, own.plan, &how, stow_allocator_default(), &diag, &own.exec),
      &diag);
  *out_ms = run(&own, &diag);
  *out_arena = stow_plan_arena_size(own.plan);
  bool is = is_same(range, &own);
  end_side(&own);
  return is;
}

// ---------------------------------------------------------------------------------------------

// The values of |point| in the order of the arguments.
static void order_values(const arguments* a, const stow_formula* formula, const int64_t* values,
                         int64_t* out) {
  for (size_t i = 0; i < a->count; ++i) {
    for (size_t k = 0; k < stow_formula_symbol_count(formula); ++k) {
      if (stow_str_equal(stow_formula_symbol(formula, k, NULL), a->symbols[i].name)) {
        out[i] = values[k];
      }
    }
  }
}

static size_t draw_point(const side* range, uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (size_t)((*seed >> 33) % stow_formula_point_count(range->formula));
}

static void move_to(const side* range, size_t point, int64_t* out_values) {
  stow_diag diag;
  stow_diag_init(&diag);
  (void)stow_formula_point_values(range->formula, point, out_values);
  require(stow_exec_set_point(range->exec, out_values, &diag), &diag);
}

// The median of many moves, in microseconds.
static double measure_moves(const side* range) {
  static double samples[MOVES];
  int64_t values[MOST_RANGES];
  uint64_t seed = 7;
  for (size_t i = 0; i < MOVES; ++i) {
    size_t point = draw_point(range, &seed);
    double begun = wall_seconds();
    move_to(range, point, values);
    samples[i] = (wall_seconds() - begun) * 1e6;
  }
  return bench_median(samples, MOVES);
}

static bool visit(const arguments* a, const side* range, size_t point, double* out_ms) {
  int64_t values[MOST_RANGES], ordered[MOST_RANGES];
  stow_formula_point info = {.struct_size = sizeof(info)};
  stow_diag diag;
  uint64_t arena;
  double ms;
  stow_diag_init(&diag);
  (void)stow_formula_describe_point(range->formula, point, &info);
  move_to(range, point, values);
  double own_ms = *out_ms = run(range, &diag);
  order_values(a, range->formula, values, ordered);
  bool is = compare(a, range, ordered, &arena, &ms);
  for (size_t i = 0; i < a->count; ++i) {
    printf("%s%" PRId64, i == 0 ? "" : ",", ordered[i]);
  }
  printf("\t%" PRIu64 "\t%" PRIu64 "\t%.2f\t%.2f\t%s\n", info.arena_size, arena, own_ms, ms,
         is ? "same bits" : "DIFFERENT");
  return is;
}

int main(int argc, char** argv) {
  arguments a = {.points = 20, .argc = argc, .argv = argv};
  bench_require(argc > 1, "usage: bench_range MODEL [--points N] [--bind NAME=MIN..MAX]…");
  a.path = argv[1];
  for (int i = 2; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--points") == 0) {
      a.points = strtoul(argv[i + 1], NULL, 10);
    } else if (strcmp(argv[i], "--bind") == 0) {
      (void)take_range(&a, argv[i + 1]);
    }
  }
  bench_require(a.count != 0 && a.points != 0 && a.points <= MOST_POINTS, "no range, or no points");
  side range;
  bench_heap heap = {0};
  stow_allocator allocator = bench_heap_allocator(&heap);
  stow_diag diag;
  stow_diag_init(&diag);
  begin_side(&range, &a, NULL, allocator);
  stow_plan_options options = plan_options();
  stow_formula_options formula;
  stow_formula_options_init(&formula);
  formula.plan = &options;
  formula.effects = stow_prepared_formula_effects(range.prepared);
  double begun = bench_cpu_seconds();
  require(stow_formula_make(range.graph, &formula, allocator, &diag, &range.formula), &diag);
  double planned = bench_cpu_seconds();
  stow_exec_options how = exec_options(&range);
  require(
      stow_exec_create_range(range.prepared, range.formula, &how, allocator, &diag, &range.exec),
      &diag);
  double created = bench_cpu_seconds();
  size_t live = heap.live;
  heap.peak = live;
  double move = measure_moves(&range);
  printf("point\tarena\tarena alone\tms\tms alone\n");
  static double runs[MOST_POINTS];
  double shortest = HUGE_VAL;
  size_t different = 0;
  uint64_t seed = 1;
  for (size_t i = 0; i < a.points; ++i) {
    different += visit(&a, &range, draw_point(&range, &seed), &runs[i]) ? 0 : 1;
    shortest = runs[i] < shortest ? runs[i] : shortest;
  }
  uint32_t values = stow_graph_value_count(range.graph);
  printf("%" PRIu32
         " values, %zu points; %.2f us to move, %.1f ns a value, %.3f %% of a run, %.3f %% of the "
         "shortest; %zu B allocated since; planned in %.2f s, created in %.2f s; %zu different\n",
         values, stow_formula_point_count(range.formula), move, move * 1e3 / values,
         move * 0.1 / bench_median(runs, a.points), move * 0.1 / shortest, heap.peak - live,
         planned - begun, created - planned, different);
  end_side(&range);
  return different == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

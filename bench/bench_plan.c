// The cost of planning: builds chains, wide graphs and transformer-like graphs of 1 k to 1 M
// values, plans each in the presets `default` and `rlx` (where almost everything is live to the
// end), and prints time, memory, pairs that are live together, and growth.
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/stowage.h>
#include <string.h>

#include "measure.h"

#define MAX_REPEATS 15

// A graph being built; the first failure ends the program, as there is nothing to measure then.
typedef struct builder {
  stow_graph* graph;
  stow_diag diag;
  uint64_t seed;
} builder;

static void require(const builder* b, stow_status status) {
  if (status != STOW_OK) {
    fprintf(stderr, "bench_plan: %s\n", b->diag.message);
    exit(1);
  }
}

static uint64_t next_random(builder* b) {
  b->seed = b->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return b->seed >> 33;
}

static stow_value add_boundary(builder* b, bool is_param, stow_dim rows, stow_dim columns) {
  char name[32];
  snprintf(name, sizeof(name), "%s%" PRIu32, is_param ? "w" : "x",
           stow_graph_value_count(b->graph));
  stow_type type = stow_type_make(STOW_F32, 2, (stow_dim[]){rows, columns});
  stow_value value = STOW_VALUE_NONE;
  require(b, is_param ? stow_graph_param(b->graph, name, &type, &b->diag, &value)
                      : stow_graph_input(b->graph, name, &type, &b->diag, &value));
  return value;
}

static stow_value add_node(builder* b, stow_op op, stow_value first, stow_value second) {
  stow_value operands[] = {first, second};
  stow_value value = STOW_VALUE_NONE;
  size_t count = second == STOW_VALUE_NONE ? 1 : 2;
  require(b, stow_graph_add(b->graph, op, operands, count, &b->diag, &value));
  return value;
}

// One value after the other, each read by the next only; sizes change at every tenth.
static void build_chain(builder* b, uint32_t count) {
  stow_value value = add_boundary(b, false, 16, 16);
  while (stow_graph_value_count(b->graph) + 1 < count) {
    bool resize = next_random(b) % 10 == 0;
    if (resize) {
      const stow_type* type = stow_graph_type(b->graph, value);
      stow_value weight = add_boundary(b, true, type->dims[1], 1 + (stow_dim)(next_random(b) % 64));
      value = add_node(b, STOW_OP_MATMUL, value, weight);
    } else {
      value = add_node(b, STOW_OP_RELU, value, STOW_VALUE_NONE);
    }
  }
  require(b, stow_graph_add_output(b->graph, value, &b->diag));
}

// Many branches from one input, of different widths and lengths, that are summed at the end:
// thousands live at once.
static void build_wide(builder* b, uint32_t count) {
  uint32_t branch_count = count / 16 + 1;
  stow_value input = add_boundary(b, false, 16, 16);
  stow_value* ends = (stow_value*)malloc(branch_count * sizeof(stow_value));
  if (ends == NULL) {
    exit(1);
  }
  for (uint32_t i = 0; i < branch_count; ++i) {
    ends[i] = add_node(b, STOW_OP_RELU, input, STOW_VALUE_NONE);
  }
  while (stow_graph_value_count(b->graph) + branch_count < count) {
    uint32_t i = (uint32_t)(next_random(b) % branch_count);
    ends[i] =
        add_node(b, next_random(b) % 2 ? STOW_OP_EXP : STOW_OP_TANH, ends[i], STOW_VALUE_NONE);
  }
  stow_value sum = ends[0];
  for (uint32_t i = 1; i < branch_count; ++i) {
    sum = add_node(b, STOW_OP_ADD, sum, ends[i]);
  }
  free(ends);
  require(b, stow_graph_add_output(b->graph, sum, &b->diag));
}

static stow_value linear(builder* b, stow_value x, stow_dim in, stow_dim out) {
  return add_node(b, STOW_OP_MATMUL, x, add_boundary(b, true, in, out));
}

// Blocks of attention-like and feed-forward halves with residual adds: params, short lives, and
// lives over a block.
static void build_transformer(builder* b, uint32_t count) {
  const stow_dim width = 64;
  stow_value x = add_boundary(b, false, 128, width);
  while (stow_graph_value_count(b->graph) + 24 < count) {
    stow_value normal = add_node(b, STOW_OP_LAYER_NORM, x, STOW_VALUE_NONE);
    stow_value q = linear(b, normal, width, width);
    stow_value k = linear(b, normal, width, width);
    stow_value v = linear(b, normal, width, width);
    stow_value scores =
        add_node(b, STOW_OP_SOFTMAX, add_node(b, STOW_OP_MUL, q, k), STOW_VALUE_NONE);
    stow_value mixed = linear(b, add_node(b, STOW_OP_MUL, scores, v), width, width);
    x = add_node(b, STOW_OP_ADD, x, mixed);
    stow_value hidden =
        linear(b, add_node(b, STOW_OP_LAYER_NORM, x, STOW_VALUE_NONE), width, 4 * width);
    hidden = linear(b, add_node(b, STOW_OP_GELU, hidden, STOW_VALUE_NONE), 4 * width, width);
    x = add_node(b, STOW_OP_ADD, x, hidden);
  }
  while (stow_graph_value_count(b->graph) < count) {
    x = add_node(b, STOW_OP_RELU, x, STOW_VALUE_NONE);
  }
  require(b, stow_graph_add_output(b->graph, x, &b->diag));
}

typedef struct family {
  const char* name;
  void (*build)(builder* b, uint32_t count);
} family;

static const family families[] = {
    {"chain", build_chain}, {"wide", build_wide}, {"transformer", build_transformer}};

// Buffers that live together, from the plan's lifetimes: sum over births of what is live, by a
// sweep over steps.
static uint64_t count_pairs(const stow_plan* plan, uint32_t step_count) {
  uint32_t* births = (uint32_t*)calloc((size_t)step_count + 2, sizeof(uint32_t));
  uint32_t* deaths = (uint32_t*)calloc((size_t)step_count + 2, sizeof(uint32_t));
  if (births == NULL || deaths == NULL) {
    exit(1);
  }
  for (stow_value v = 0; v < stow_plan_value_count(plan); ++v) {
    stow_slot slot;
    if (stow_plan_root(plan, v) == v && stow_plan_value_slot(plan, v, &slot)) {
      stow_plan_value of = {.struct_size = sizeof(of)};
      (void)stow_plan_describe_value(plan, v, &of);
      births[of.begin] += 1;
      deaths[of.end] += 1;
    }
  }
  uint64_t live = 0;
  uint64_t pairs = 0;
  for (uint32_t step = 0; step <= step_count; ++step) {
    live -= deaths[step];
    for (uint32_t i = 0; i < births[step]; ++i) {
      pairs += live++;
    }
  }
  free(births);
  free(deaths);
  return pairs;
}

typedef struct row {
  const char* family;
  const char* preset;
  uint32_t values;
  uint64_t pairs;
  double plan_seconds;
  double check_seconds;
  double peak_mb;
  uint64_t arena;
  uint64_t bound;
} row;

static row measure(const stow_graph* graph, const char* name, stow_preset preset, size_t repeats) {
  row r = {
      .family = name, .preset = stow_preset_name(preset), .values = stow_graph_value_count(graph)};
  double times[MAX_REPEATS];
  stow_diag diag;
  stow_diag_init(&diag);
  stow_plan_options options;
  stow_plan_options_init(&options, preset);
  for (size_t i = 0; i < repeats; ++i) {
    bench_heap heap = {0, 0};
    stow_plan* plan = NULL;
    double start = bench_cpu_seconds();
    stow_status status =
        stow_plan_make(graph, NULL, &options, bench_heap_allocator(&heap), &diag, &plan);
    times[i] = bench_cpu_seconds() - start;
    if (status == STOW_OK && i == 0) {
      start = bench_cpu_seconds();
      status = stow_plan_check(plan, graph, NULL, stow_allocator_default(), &diag, NULL);
      r.check_seconds = bench_cpu_seconds() - start;
    }
    if (status != STOW_OK) {
      fprintf(stderr, "bench_plan: %s %s: %s\n", r.family, r.preset, diag.message);
      exit(1);
    }
    r.peak_mb = (double)heap.peak / 1e6;
    r.arena = stow_plan_arena_size(plan);
    r.bound = stow_plan_lower_bound(plan);
    r.pairs = i == 0 ? count_pairs(plan, stow_plan_step_count(plan)) : r.pairs;
    stow_plan_destroy(plan);
  }
  r.plan_seconds = bench_median(times, repeats);
  return r;
}

static void print_row(const row* r, double previous_seconds, FILE* csv) {
  printf("%-12s %-8s %9" PRIu32 " %16" PRIu64 " %9.1f %9.1f %8.1f", r->family, r->preset, r->values,
         r->pairs, r->plan_seconds * 1e3, r->check_seconds * 1e3, r->peak_mb);
  if (previous_seconds > 0) {
    printf(" %6.1fx\n", r->plan_seconds / previous_seconds);
  } else {
    printf("       -\n");
  }
  fflush(stdout);
  if (csv != NULL) {
    fprintf(csv, "%s,%s,%" PRIu32 ",%" PRIu64 ",%.6f,%.6f,%.3f,%" PRIu64 ",%" PRIu64 "\n",
            r->family, r->preset, r->values, r->pairs, r->plan_seconds, r->check_seconds,
            r->peak_mb, r->arena, r->bound);
  }
}

static void run_family(const family* f, stow_preset preset, uint32_t largest, FILE* csv) {
  double previous = 0;
  for (uint32_t count = 1000; count <= largest; count *= 10) {
    builder b = {NULL, {0}, 1};
    stow_diag_init(&b.diag);
    require(&b, stow_graph_create(stow_str_of(f->name), NULL, stow_allocator_default(), &b.diag,
                                  &b.graph));
    f->build(&b, count);
    row r = measure(b.graph, f->name, preset, count >= 1000000 ? 3 : 5);
    print_row(&r, previous, csv);
    previous = r.plan_seconds;
    stow_graph_destroy(b.graph);
  }
}

static int usage(FILE* out, int code) {
  fputs(
      "usage: bench_plan [--largest N] [--csv FILE]\n"
      "\n"
      "Plans generated graphs of 1,000 values and ten times more up to N (default 1,000,000).\n"
      "Prints, per family and preset: pairs of buffers that live together, CPU time of planning\n"
      "(median of 5; of 3 at 1 M) and of the independent checker, peak memory of planning, and\n"
      "how much longer than at a tenth of the size.\n",
      out);
  return code;
}

int main(int argc, char** argv) {
  uint32_t largest = 1000000;
  FILE* csv = NULL;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--help") == 0) {
      return usage(stdout, 0);
    }
    if (i + 1 < argc && strcmp(argv[i], "--largest") == 0) {
      largest = (uint32_t)strtoul(argv[++i], NULL, 10);
    } else if (i + 1 < argc && strcmp(argv[i], "--csv") == 0) {
      csv = fopen(argv[++i], "w");
      if (csv == NULL) {
        perror(argv[i]);
        return 1;
      }
    } else {
      return usage(stderr, 2);
    }
  }
  if (csv != NULL) {
    fputs("family,preset,values,pairs,plan_seconds,check_seconds,peak_mb,arena,bound\n", csv);
  }
  puts("family       preset      values            pairs   plan ms  check ms  peak MB  growth");
  for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); ++i) {
    run_family(&families[i], STOW_PRESET_DEFAULT, largest, csv);
    run_family(&families[i], STOW_PRESET_RLX, largest, csv);
  }
  if (csv != NULL && fclose(csv) != 0) {
    perror("bench_plan");
    return 1;
  }
  return 0;
}

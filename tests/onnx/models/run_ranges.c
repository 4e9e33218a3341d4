// Whether a model that is imported and rewritten over ranges computes, bound at a point, the bits
// of an import made for that point.
//
//     run_ranges MODEL SYMBOL=MIN..MAX/STEP,… POINT… [--bind …] [--value …] [--shape …]
//
// A POINT is a number for each symbol, `7,16`. Inputs follow from their names. Exits with 1 where
// an output differs, and names it.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/exec.h>
#include <stowage/onnx.h>
#include <stowage/rewrite.h>
#include <string.h>

#include "onnx/support/request_args.h"

#define MAX_RANGES 4

typedef struct axis {
  char symbol[128];
  stow_dim_range range;
} axis;

typedef struct job {
  int argc;
  char** argv;
  int first_option;
  stow_model* model;
  axis axes[MAX_RANGES];
  size_t count;
} job;

static void require(stow_status status, const stow_diag* diag) {
  if (status != STOW_OK) {
    fprintf(stderr, "run_ranges: %s\n",
            diag->message[0] != '\0' ? diag->message : stow_status_text(status));
    exit(EXIT_FAILURE);
  }
}

// Over the ranges if |point| is NULL.
static stow_import* import(const job* j, const int64_t* point) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_import_request* request = NULL;
  stow_import* result = NULL;
  require(stow_import_request_create(stow_allocator_default(), &diag, &request), &diag);
  for (int i = j->first_option; i < j->argc;) {
    if (!request_take_arg(request, j->argc, j->argv, &i)) {
      fprintf(stderr, "run_ranges: unknown option %s\n", j->argv[i]);
      exit(2);
    }
  }
  for (size_t i = 0; i < j->count; ++i) {
    stow_str name = stow_str_of(j->axes[i].symbol);
    require(point != NULL ? stow_import_request_bind(request, name, point[i], &diag)
                          : stow_import_request_bind_range(request, name, &j->axes[i].range, &diag),
            &diag);
  }
  require(stow_import_model(j->model, request, stow_allocator_default(), &diag, &result), &diag);
  stow_import_request_destroy(request);
  if (stow_import_graph(result) == NULL) {
    fprintf(stderr, "run_ranges: the model cannot be imported\n");
    exit(EXIT_FAILURE);
  }
  return result;
}

// ---------------------------------------------------------------------------------------------
// Runs

typedef struct run {
  stow_prepared* prepared;
  stow_plan* plan;
  stow_folded* folded;
  stow_exec* exec;
} run;

static const void* give_weight(void* user, stow_value value, size_t* out_size) {
  const run* r = (const run*)user;
  return r->folded == NULL ? NULL : stow_folded_weight(r->folded, value, out_size);
}

// Integers are small, so that they are indices; floats between -1 and 1.
static void fill(stow_tensor* tensor, stow_str name) {
  uint64_t state = name.size * UINT64_C(0x9e3779b97f4a7c15) + (unsigned char)name.data[0];
  for (size_t i = 0; i < stow_tensor_elements(tensor); ++i) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    switch (tensor->dtype) {
      case STOW_F32:
        ((float*)tensor->data)[i] = (float)((double)(state >> 40) * 0x1p-23 - 1.0);
        break;
      case STOW_I64: ((int64_t*)tensor->data)[i] = (int64_t)(state >> 63); break;
      case STOW_I32: ((int32_t*)tensor->data)[i] = (int32_t)(state >> 63); break;
      default: ((unsigned char*)tensor->data)[i] = 1; break;
    }
  }
}

static void run_graph(run* r, const stow_graph* graph, const stow_graph* fold) {
  stow_allocator heap = stow_allocator_default();
  stow_diag diag;
  stow_diag_init(&diag);
  stow_prepare_options prepare;
  stow_plan_options plan;
  stow_exec_options options;
  stow_prepare_options_init(&prepare);
  stow_plan_options_init(&plan, STOW_PRESET_DEFAULT);
  stow_exec_options_init(&options);
  plan.params = plan.constants = false;
  plan.nodes = 100;
  plan.order = STOW_ORDER_GIVEN;
  options.weight = give_weight;
  options.user = r;
  if (fold != NULL) {
    require(stow_folded_create(graph, fold, NULL, heap, &diag, &r->folded), &diag);
  }
  require(stow_prepare(graph, &prepare, heap, &diag, &r->prepared), &diag);
  require(stow_plan_make(graph, stow_prepared_effects(r->prepared), &plan, heap, &diag, &r->plan),
          &diag);
  require(stow_exec_create(r->prepared, r->plan, &options, heap, &diag, &r->exec), &diag);
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    if (stow_graph_op(graph, node) == STOW_OP_INPUT) {
      stow_value value = stow_graph_first_result(graph, node);
      const stow_type* type = stow_graph_type(graph, value);
      stow_tensor tensor = {.dtype = type->dtype, .rank = type->rank};
      memcpy(tensor.dims, type->dims, sizeof(tensor.dims));
      tensor.data = calloc(1, stow_tensor_bytes(&tensor) + 64);
      fill(&tensor, stow_graph_value_name(graph, value));
      if (stow_graph_data(graph, value, NULL) == NULL) {
        require(stow_exec_input(r->exec, value, &tensor, &diag), &diag);
      }
      free(tensor.data);
    }
  }
  require(stow_exec_run(r->exec, &diag), &diag);
}

static void end_run(run* r) {
  stow_exec_destroy(r->exec);
  stow_plan_destroy(r->plan);
  stow_prepared_destroy(r->prepared);
  stow_folded_destroy(r->folded);
}

static bool is_same(const run* a, const stow_graph* first, const run* b, const stow_graph* second) {
  stow_diag diag;
  stow_diag_init(&diag);
  bool same = stow_graph_output_count(first) == stow_graph_output_count(second);
  for (size_t i = 0; same && i < stow_graph_output_count(first); ++i) {
    stow_tensor x = {0};
    stow_tensor y = {0};
    require(stow_exec_value(a->exec, stow_graph_outputs(first)[i], &diag, &x), &diag);
    require(stow_exec_value(b->exec, stow_graph_outputs(second)[i], &diag, &y), &diag);
    same = x.dtype == y.dtype && x.rank == y.rank &&
           memcmp(x.dims, y.dims, x.rank * sizeof(x.dims[0])) == 0 &&
           memcmp(x.data, y.data, stow_tensor_bytes(&x)) == 0;
    if (!same) {
      stow_str name = stow_graph_value_name(first, stow_graph_outputs(first)[i]);
      fprintf(stderr, "run_ranges: output \"%.*s\" differs\n", (int)name.size, name.data);
    }
  }
  return same;
}

static stow_rewritten* rewrite(const stow_graph* graph) {
  stow_rewrite_options options;
  stow_rewritten* result = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_rewrite_options_init(&options);
  options.off |= stow_rewrite_bit(STOW_REWRITE_QDQ);  // not exact
  require(stow_rewrite(graph, &options, stow_allocator_default(), &diag, &result), &diag);
  return result;
}

// A second rewriting over the ranges, to bind: the library has no public copies.
static bool check_point(const job* j, const int64_t* point) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_import* over = import(j, NULL);
  stow_import* at = import(j, point);
  stow_rewritten* rewritten = rewrite(stow_import_graph(over));
  stow_graph* bound = NULL;
  require(
      stow_graph_simplify(stow_rewritten_graph(rewritten), stow_allocator_default(), &diag, &bound),
      &diag);
  for (size_t i = 0; i < j->count; ++i) {
    stow_str name = stow_str_of(j->axes[i].symbol);
    require(stow_graph_bind(bound, &name, &point[i], 1, &diag), &diag);
  }
  run first = {0};
  run second = {0};
  run_graph(&first, stow_import_graph(at), NULL);
  run_graph(&second, bound, stow_rewritten_fold_graph(rewritten));
  bool same = is_same(&first, stow_import_graph(at), &second, bound);
  printf("%s: %u nodes over the ranges, %u rewritten, %u at the point, blocks %zu\n",
         same ? "same bits" : "differs", stow_graph_node_count(stow_import_graph(over)),
         stow_graph_node_count(stow_rewritten_graph(rewritten)),
         stow_graph_node_count(stow_import_graph(at)),
         stow_rewritten_count(rewritten, STOW_REWRITE_BLOCKS));
  end_run(&first);
  end_run(&second);
  stow_graph_destroy(bound);
  stow_rewritten_destroy(rewritten);
  stow_import_destroy(at);
  stow_import_destroy(over);
  return same;
}

static void read_axes(job* j, const char* text) {
  while (*text != '\0') {
    axis* a = &j->axes[j->count++];
    size_t size = strcspn(text, "=");
    if (j->count > MAX_RANGES || size >= sizeof(a->symbol) || text[size] == '\0') {
      fprintf(stderr, "run_ranges: %s is not a list of ranges\n", text);
      exit(2);
    }
    memcpy(a->symbol, text, size);
    a->range.step = 1;
    text += size + 1;
    (void)sscanf(text, "%" SCNd64 "..%" SCNd64 "/%" SCNd64, &a->range.min, &a->range.max,
                 &a->range.step);
    text += strcspn(text, ",");
    text += *text == ',';
  }
}

int main(int argc, char** argv) {
  job j = {.argc = argc, .argv = argv};
  stow_diag diag;
  stow_diag_init(&diag);
  bool same = true;
  if (argc < 4) {
    fprintf(stderr, "usage: run_ranges MODEL SYMBOL=MIN..MAX/STEP,… POINT… [options]\n");
    return 2;
  }
  read_axes(&j, argv[2]);
  j.first_option = 3;
  while (j.first_option < argc && argv[j.first_option][0] != '-') {
    ++j.first_option;
  }
  require(stow_onnx_open(argv[1], stow_allocator_default(), &diag, &j.model), &diag);
  for (int i = 3; i < j.first_option; ++i) {
    int64_t point[MAX_RANGES] = {0};
    char* next = argv[i];
    for (size_t k = 0; k < j.count; ++k) {
      point[k] = strtoll(next, &next, 10);
      next += *next == ',';
    }
    same = check_point(&j, point) && same;
  }
  stow_model_close(j.model);
  return same ? EXIT_SUCCESS : EXIT_FAILURE;
}

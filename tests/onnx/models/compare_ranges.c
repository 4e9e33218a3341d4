// Whether an import over ranges has the types of imports made for single points of them.
//
//     compare_ranges MODEL [--points N] [--bind S=N] [--bind S=MIN..MAX[/STEP]] [--value …]
//     [--shape …]
//
// Imports the model once over all ranges, and again with numbers at N points: the corners, what is
// next to them, and others all over the ranges; every point if there are at most N of them. Every
// value of an import for a point must exist in the one over ranges, with the same type there.
// Exits with 1 where that is not so, and prints the first differences.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/onnx.h>
#include <string.h>

#include "onnx/support/request_args.h"

#define MAX_RANGES 4
#define MOST_SHOWN 10

typedef struct axis {
  const char* argument;  // S=MIN..MAX/STEP
  stow_str symbol;
  stow_dim_range range;
} axis;

typedef struct comparison {
  stow_model* model;
  int argc;
  char** argv;
  axis axes[MAX_RANGES];
  size_t count;
  int64_t point[MAX_RANGES];
  const stow_graph* ranged;
  int64_t* values;  // per symbol of |ranged|
  uint64_t compared;
  uint64_t different;
} comparison;

static void require(stow_status status, const stow_diag* diag) {
  if (status != STOW_OK) {
    fprintf(stderr, "compare_ranges: %s\n",
            diag->message[0] != '\0' ? diag->message : stow_status_text(status));
    exit(EXIT_FAILURE);
  }
}

// The axis that |argument| gives a range; NULL: another argument.
static const axis* find_axis(const comparison* c, const char* argument) {
  for (size_t i = 0; i < c->count; ++i) {
    if (c->axes[i].argument == argument) {
      return &c->axes[i];
    }
  }
  return NULL;
}

// Takes all options but ranges and |--points|.
static stow_import_request* read_request(const comparison* c, stow_diag* diag) {
  stow_import_request* request = NULL;
  require(stow_import_request_create(stow_allocator_default(), diag, &request), diag);
  for (int i = 2; i < c->argc;) {
    bool is_other = strcmp(c->argv[i], "--points") == 0 ||
                    (i + 1 < c->argc && find_axis(c, c->argv[i + 1]) != NULL);
    if (is_other) {
      i += 2;
    } else if (!request_take_arg(request, c->argc, c->argv, &i)) {
      fprintf(stderr, "compare_ranges: unknown option %s\n", c->argv[i]);
      exit(2);
    }
  }
  stow_import_request_set_flags(request, STOW_IMPORT_KEEP_ALL);
  return request;
}

// Over the ranges, or at the point.
static stow_import* import(const comparison* c, bool at_point) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_import* result = NULL;
  stow_import_request* request = read_request(c, &diag);
  for (size_t i = 0; i < c->count; ++i) {
    const axis* a = &c->axes[i];
    require(at_point ? stow_import_request_bind(request, a->symbol, c->point[i], &diag)
                     : stow_import_request_bind_range(request, a->symbol, &a->range, &diag),
            &diag);
  }
  require(stow_import_model(c->model, request, stow_allocator_default(), &diag, &result), &diag);
  stow_import_request_destroy(request);
  if (stow_import_graph(result) == NULL) {
    for (size_t i = 0; i < stow_import_issue_count(result); ++i) {
      stow_import_issue issue = *stow_import_issue_at(result, i);
      fprintf(stderr, "compare_ranges: %.*s: %.*s\n", (int)issue.tensor.size, issue.tensor.data,
              (int)issue.reason.size, issue.reason.data);
    }
    exit(EXIT_FAILURE);
  }
  return result;
}

static stow_status write_stderr(void* user, const char* data, size_t size) {
  (void)user;
  return fwrite(data, 1, size, stderr) == size ? STOW_OK : STOW_ERR_IO;
}

static void print_type(const stow_graph* graph, stow_value value) {
  if (value == STOW_VALUE_NONE) {
    fprintf(stderr, "none");
    return;
  }
  stow_type_print(stow_graph_dims(graph), stow_graph_type(graph, value),
                  (stow_writer){write_stderr, NULL});
  fprintf(stderr, "%s", stow_graph_is_bounded(graph, value) ? " bounded" : "");
}

static void show(comparison* c, const stow_graph* graph, stow_value value, stow_value other) {
  stow_str name = stow_graph_value_name(graph, value);
  if (c->different++ >= MOST_SHOWN) {
    return;
  }
  fprintf(stderr, "compare_ranges: at");
  for (size_t i = 0; i < c->count; ++i) {
    fprintf(stderr, " %.*s=%" PRId64, (int)c->axes[i].symbol.size, c->axes[i].symbol.data,
            c->point[i]);
  }
  fprintf(stderr, " \"%.*s\" is ", (int)name.size, name.data);
  print_type(graph, value);
  fprintf(stderr, ", over the ranges ");
  print_type(c->ranged, other);
  fprintf(stderr, "\n");
}

static bool is_same(const comparison* c, const stow_graph* graph, stow_value value,
                    stow_value other) {
  const stow_type* type = stow_graph_type(graph, value);
  const stow_type* ranged = stow_graph_type(c->ranged, other);
  bool same = type->dtype == ranged->dtype && type->rank == ranged->rank;
  for (uint32_t i = 0; same && i < type->rank; ++i) {
    int64_t number = 0;
    same = stow_dim_evaluate(stow_graph_dims(c->ranged), ranged->dims[i], c->values, &number) ==
               STOW_OK &&
           number == type->dims[i] &&
           stow_graph_is_bounded_dim(graph, value, i) ==
               stow_graph_is_bounded_dim(c->ranged, other, i);
  }
  return same;
}

static void compare_point(comparison* c) {
  stow_import* made = import(c, true);
  const stow_graph* graph = stow_import_graph(made);
  const stow_dims* dims = stow_graph_dims(c->ranged);
  for (size_t i = 0; i < stow_dims_symbol_count(dims); ++i) {
    c->values[i] = INT64_MIN;  // no dim of data should be used
    for (size_t k = 0; k < c->count; ++k) {
      if (stow_str_equal(stow_dims_symbol_name(dims, i), c->axes[k].symbol)) {
        c->values[i] = c->point[k];
      }
    }
  }
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    stow_str name = stow_graph_value_name(graph, value);
    stow_value other = name.size == 0 ? STOW_VALUE_NONE : stow_graph_find(c->ranged, name);
    c->compared += name.size != 0;
    if (name.size != 0 && (other == STOW_VALUE_NONE || !is_same(c, graph, value, other))) {
      show(c, graph, value, other);
    }
  }
  stow_import_destroy(made);
}

static void read_axes(comparison* c, uint64_t* points) {
  for (int i = 2; i + 1 < c->argc; ++i) {
    const char* equals = strrchr(c->argv[i + 1], '=');
    if (strcmp(c->argv[i], "--points") == 0) {
      *points = strtoull(c->argv[i + 1], NULL, 10);
    }
    if (strcmp(c->argv[i], "--bind") != 0 || equals == NULL || strstr(equals, "..") == NULL) {
      continue;
    }
    axis* a = &c->axes[c->count];
    a->argument = c->argv[i + 1];
    a->symbol = (stow_str){c->argv[i + 1], (size_t)(equals - c->argv[i + 1])};
    a->range.step = 1;
    int read = sscanf(equals + 1, "%" SCNd64 "..%" SCNd64 "/%" SCNd64, &a->range.min, &a->range.max,
                      &a->range.step);
    if (read < 2 || !stow_dim_range_trim(&a->range) || c->count == MAX_RANGES) {
      fprintf(stderr, "compare_ranges: %s is no range\n", c->argv[i + 1]);
      exit(2);
    }
    ++c->count;
  }
}

// Point |index| of |all|: every one if |points| are enough for that, else the corners, their
// neighbours, and others by a fixed sequence.
static void choose(comparison* c, uint64_t index, uint64_t all, uint64_t points) {
  uint64_t mixed = index * UINT64_C(0x9e3779b97f4a7c15);
  for (size_t i = 0; i < c->count; ++i) {
    uint64_t count = stow_dim_range_count(&c->axes[i].range);
    uint64_t k = 0;
    if (all <= points) {
      k = index % count;
      index /= count;
    } else if (index < (uint64_t)1 << (2 * c->count)) {  // a corner, or next to one
      uint64_t which = index >> (2 * i) & 3;
      uint64_t inside = count > 1 ? 1 : 0;
      k = which == 0 ? 0 : which == 1 ? count - 1 : which == 2 ? inside : count - 1 - inside;
    } else {
      k = (mixed >> 20) % count;
      mixed = mixed * UINT64_C(0xbf58476d1ce4e5b9) + 1;
    }
    c->point[i] = c->axes[i].range.min + (int64_t)k * c->axes[i].range.step;
  }
}

int main(int argc, char** argv) {
  comparison c = {.argc = argc, .argv = argv};
  uint64_t points = UINT64_MAX;
  uint64_t all = 1;
  stow_diag diag;
  stow_diag_init(&diag);
  if (argc < 2) {
    fprintf(stderr, "usage: compare_ranges MODEL [--points N] [--bind S=MIN..MAX/STEP] …\n");
    return 2;
  }
  read_axes(&c, &points);
  for (size_t i = 0; i < c.count; ++i) {
    all *= stow_dim_range_count(&c.axes[i].range);
  }
  require(stow_onnx_open(argv[1], stow_allocator_default(), &diag, &c.model), &diag);
  stow_import* ranged = import(&c, false);
  c.ranged = stow_import_graph(ranged);
  c.values = calloc(stow_dims_symbol_count(stow_graph_dims(c.ranged)) + 1, sizeof(int64_t));
  uint64_t tried = points < all ? points : all;
  for (uint64_t i = 0; i < tried && c.values != NULL; ++i) {
    choose(&c, i, all, points);
    compare_point(&c);
  }
  printf("%" PRIu64 " of %" PRIu64 " points, %" PRIu64 " values compared, %" PRIu64 " differ\n",
         tried, all, c.compared, c.different);
  free(c.values);
  stow_import_destroy(ranged);
  stow_model_close(c.model);
  return c.different == 0 && c.compared != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

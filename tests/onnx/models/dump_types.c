// Prints the type of every named value of an imported model: name, dtype, dims, and whether they
// are `exact`, `bounded` (the largest possible) or `data` (they depend on data), with tabs between.
//
//     dump_types MODEL [--bind …] [--value …] [--shape …] [--simplify] [--text]
//
// Issues go to stderr. Exits with 1 where there is no graph. --text prints the graph instead.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/onnx.h>
#include <stowage/text.h>
#include <string.h>

#include "onnx/support/request_args.h"

static stow_status write_stdout(void* user, const char* data, size_t size) {
  (void)user;
  return fwrite(data, 1, size, stdout) == size ? STOW_OK : STOW_ERR_IO;
}

static const stow_writer to_stdout = {write_stdout, NULL};

static void require(stow_status status, const stow_diag* diag) {
  if (status != STOW_OK) {
    fprintf(stderr, "dump_types: %s\n",
            diag->message[0] != '\0' ? diag->message : stow_status_text(status));
    exit(EXIT_FAILURE);
  }
}

static void print_issues(const stow_import* import) {
  static const char* const kinds[] = {[STOW_IMPORT_UNSUPPORTED] = "unsupported",
                                      [STOW_IMPORT_CUSTOM] = "custom",
                                      [STOW_IMPORT_NEEDS_SHAPE] = "needs shape",
                                      [STOW_IMPORT_BOUNDED] = "bounded",
                                      [STOW_IMPORT_DECLARED_OTHER] = "declared other",
                                      [STOW_IMPORT_SKIPPED] = "skipped",
                                      [STOW_IMPORT_BRANCH] = "branch",
                                      [STOW_IMPORT_NO_DATA] = "no data",
                                      [STOW_IMPORT_NEEDS_VALUE] = "needs value",
                                      [STOW_IMPORT_CONDITION] = "condition"};
  for (size_t i = 0; i < stow_import_issue_count(import); ++i) {
    stow_import_issue issue = *stow_import_issue_at(import, i);
    fprintf(stderr, "%s: %.*s %.*s (%.*s): %.*s\n", kinds[issue.kind], (int)issue.op.size,
            issue.op.data, (int)issue.node.size, issue.node.data, (int)issue.tensor.size,
            issue.tensor.data, (int)issue.reason.size, issue.reason.data);
  }
}

static void print_value(const stow_graph* graph, stow_value value) {
  stow_str name = stow_graph_value_name(graph, value);
  const stow_type* type = stow_graph_type(graph, value);
  if (name.size == 0) {
    return;
  }
  printf("%.*s\t%s\t", (int)name.size, name.data, stow_dtype_name(type->dtype));
  for (uint32_t k = 0; k < type->rank; ++k) {
    printf("%s", k == 0 ? "" : ",");
    stow_dim_print(stow_graph_dims(graph), type->dims[k], to_stdout);
  }
  bool is_data =
      stow_graph_is_data_dependent(graph, value) || stow_graph_has_data_dims(graph, value);
  printf("\t%s\n", stow_graph_is_bounded(graph, value) ? "bounded" : is_data ? "data" : "exact");
}

int main(int argc, char** argv) {
  stow_allocator allocator = stow_allocator_default();
  stow_model* model = NULL;
  stow_import_request* request = NULL;
  stow_import* import = NULL;
  stow_diag diag;
  bool keep_all = true;
  bool text = false;
  stow_diag_init(&diag);
  if (argc < 2) {
    fprintf(stderr, "usage: dump_types MODEL [--bind S=N] [--value I=N,N] [--shape T=N,N]\n");
    return 2;
  }
  require(stow_import_request_create(allocator, &diag, &request), &diag);
  for (int i = 2; i < argc;) {
    if (!request_take_arg(request, argc, argv, &i)) {
      keep_all = keep_all && strcmp(argv[i], "--simplify") != 0;
      text = text || strcmp(argv[i], "--text") == 0;
      ++i;
    }
  }
  stow_import_request_set_flags(request, keep_all ? STOW_IMPORT_KEEP_ALL : 0);
  require(stow_onnx_open(argv[1], allocator, &diag, &model), &diag);
  require(stow_import_model(model, request, allocator, &diag, &import), &diag);
  print_issues(import);
  const stow_graph* graph = stow_import_graph(import);
  if (graph != NULL && text) {
    require(stow_graph_print(graph, to_stdout), &diag);
  }
  for (stow_value v = 0; graph != NULL && !text && v < stow_graph_value_count(graph); ++v) {
    print_value(graph, v);
  }
  int code = graph == NULL ? EXIT_FAILURE : EXIT_SUCCESS;
  stow_import_destroy(import);
  stow_import_request_destroy(request);
  stow_model_close(model);
  return code;
}

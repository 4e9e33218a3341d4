// Whether a model and its text (`stowage fmt`) have the same plan.
//
//     compare_text MODEL [--bind …] [--value …] [--shape …]
//
// Exits with 1 where they have not, and says what differs.
#include <stdio.h>
#include <stdlib.h>
#include <stowage/onnx.h>

#include "onnx/support/request_args.h"
#include "support/text_plan.h"

static void require(stow_status status, const stow_diag* diag) {
  if (status != STOW_OK) {
    fprintf(stderr, "compare_text: %s\n",
            diag->message[0] != '\0' ? diag->message : stow_status_text(status));
    exit(EXIT_FAILURE);
  }
}

static stow_import_request* read_request(int argc, char** argv, stow_diag* diag) {
  stow_import_request* request = NULL;
  require(stow_import_request_create(stow_allocator_default(), diag, &request), diag);
  for (int i = 2; i < argc;) {
    if (!request_take_arg(request, argc, argv, &i)) {
      fprintf(stderr, "compare_text: unknown option %s\n", argv[i]);
      exit(2);
    }
  }
  return request;
}

static bool agrees(const stow_graph* graph) {
  stow_plan_options options = text_plan_model_options();
  char why[TEXT_PLAN_WHY] = "the model cannot be imported";
  bool result = graph != NULL && text_plan_agrees(graph, &options, why);
  if (!result) {
    fprintf(stderr, "compare_text: %s\n", why);
  }
  return result;
}

int main(int argc, char** argv) {
  stow_allocator allocator = stow_allocator_default();
  stow_model* model = NULL;
  stow_import* import = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  if (argc < 2) {
    fprintf(stderr, "usage: compare_text MODEL [--bind S=N] [--value I=N,N] [--shape T=N,N]\n");
    return 2;
  }
  stow_import_request* request = read_request(argc, argv, &diag);
  require(stow_onnx_open(argv[1], allocator, &diag, &model), &diag);
  require(stow_import_model(model, request, allocator, &diag, &import), &diag);
  bool is_same = agrees(stow_import_graph(import));
  stow_import_destroy(import);
  stow_import_request_destroy(request);
  stow_model_close(model);
  return is_same ? EXIT_SUCCESS : EXIT_FAILURE;
}

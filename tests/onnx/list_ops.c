// Lists the ONNX ops that can be imported, a line for each row of the tables in src/onnx/lower:
// domain, name, the first opset, what it becomes (a core op, `-`, or why it is refused), with tabs
// between them. tests/onnx/op_page.py makes the tables of docs/guide/onnx-ops.md of it.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/onnx.h>

#include "onnx/import/importer.h"
#include "onnx/onnx_writer.h"

static void write_model(onnx_writer* w, const stowi_onnx_lower_row* row) {
  onnx_model_begin(w, 8, 17);
  onnx_value(w, ONNX_GRAPH_INPUT, "x", ONNX_FLOAT, "5");
  onnx_node_begin(w, row->name, "x", "y");
  if (row->domain[0] != '\0') {
    onnx_string(w, ONNX_NODE_DOMAIN, row->domain);
  }
  onnx_node_end(w);
  onnx_value(w, ONNX_GRAPH_OUTPUT, "y", ONNX_FLOAT, NULL);
  onnx_model_end(w);
  if (row->domain[0] != '\0') {
    onnx_opset(w, row->domain, row->since);
  }
}

static void print_outcome(const stow_import* import) {
  bool is_refused = stow_import_issue_count(import) != 0;
  stow_str reason = is_refused ? stow_import_issue_at(import, 0)->reason : stow_str_of("-");
  printf("%s%.*s\n", is_refused ? "refused: " : "", (int)reason.size, reason.data);
}

// Of an op without a core op of its own: why a model that has it is refused, or "-" if it is not.
static void print_refusal(const stowi_onnx_lower_row* row, stow_allocator heap) {
  onnx_writer w = {0};
  stow_model* model = NULL;
  stow_import* import = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  write_model(&w, row);
  if (stow_onnx_open_memory(w.data, w.size, NULL, heap, &diag, &model) == STOW_OK &&
      stow_import_model(model, NULL, heap, &diag, &import) == STOW_OK) {
    print_outcome(import);
  } else {
    printf("refused: %s\n", diag.message);
  }
  stow_import_destroy(import);
  stow_model_close(model);
  onnx_writer_free(&w);
}

int main(void) {
  stow_allocator heap = stow_allocator_default();
  stow_ops* ops = NULL;
  stowi_onnx_lower_index index = {0};
  if (stow_ops_create(heap, NULL, &ops) != STOW_OK ||
      stowi_onnx_lower_index_build(&index, heap) != STOW_OK) {
    fputs("no memory\n", stderr);
    return EXIT_FAILURE;
  }
  for (size_t i = 0; i < index.entries.count; ++i) {
    const stowi_onnx_lower_row* row = index.entries.data[i].row;
    printf("%s\t%s\t%" PRId64 "\t", row->domain, row->name, row->since);
    if (row->op == STOW_OP_NONE) {
      print_refusal(row, heap);
    } else {
      puts(stow_ops_get(ops, row->op)->name);
    }
  }
  stowi_onnx_lower_index_free(&index, heap);
  stow_ops_destroy(ops);
  return EXIT_SUCCESS;
}

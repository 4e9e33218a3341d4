// Imports of models built in memory, for the tests of the importer.
#ifndef STOWAGE_TESTS_ONNX_IMPORT_MODEL_H_
#define STOWAGE_TESTS_ONNX_IMPORT_MODEL_H_

#include <stowage/onnx.h>

#include "onnx/onnx_writer.h"

// A model in the making, what is asked, and what came of it.
typedef struct import_model {
  onnx_writer w;
  stow_import_request* request;
  stow_model* model;
  stow_import* import;
  stow_graph* graph;  // NULL: none
  stow_diag diag;
  char text[16384];  // the graph as text
} import_model;

// Opset 17, an open graph, an empty request.
void import_begin(import_model* m);
// Ends the model, unless |is_ended|, and imports it.
stow_status import_run(import_model* m, bool is_ended);
void import_end(import_model* m);

// The first issue of that kind from |from| on; its index, or SIZE_MAX.
size_t import_issue(const import_model* m, stow_import_issue_kind kind, size_t from);
// Its reason, with the tensor before it: `y: …`; "" where there is none.
const char* import_reason(const import_model* m, stow_import_issue_kind kind);
size_t import_count(const import_model* m, stow_import_issue_kind kind);
// The type of the value |name| as text; "none" where there is none.
const char* import_type(const import_model* m, const char* name);

// Shorthands for the writer.
void import_input(import_model* m, const char* name, int elem, const char* dims);
void import_output(import_model* m, const char* name);  // without a type
void import_i64(import_model* m, uint32_t field, const char* name, const int64_t* numbers,
                size_t count);
void import_f32_zeros(import_model* m, uint32_t field, const char* name, const int64_t* dims,
                      size_t rank);
// A Constant node of i64: a vector, or a scalar where |count| is SIZE_MAX.
void import_constant(import_model* m, const char* name, const int64_t* numbers, size_t count);

#endif  // STOWAGE_TESTS_ONNX_IMPORT_MODEL_H_

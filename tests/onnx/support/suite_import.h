// A case of the ONNX backend suite as it is imported: what a program that looks at types and one
// that runs the model have in common.
#ifndef STOWAGE_TESTS_ONNX_SUITE_IMPORT_H_
#define STOWAGE_TESTS_ONNX_SUITE_IMPORT_H_

#include <stowage/onnx.h>
#include <stowage/stowage.h>

#include "onnx/reader/proto.h"
#include "onnx/suite/suite_case.h"

// Everything that an import holds; freed in one place.
typedef struct suite_import {
  const char* inputs;
  const char* outputs;
  bool verbose;
  size_t live_blocks;
  stow_allocator inner;
  stow_allocator allocator;  // counts the blocks of |inner|
  stow_diag diag;
  stow_model* model;
  stow_import_request* request;
  stow_import* import;
  stowi_onnx_pool* pool;
  bool is_shape_given;  // of an output, because it depends on data
  suite_result result;
} suite_import;

// Opens the model in memory of |inner|; |c| must stay where it is. What follows fails the case
// where something is wrong, and returns false.
bool suite_import_begin(suite_import* c, const char* model, const char* inputs, const char* outputs,
                        bool verbose, stow_allocator inner);
// Frees all, and fails the case where a block is left.
suite_result suite_import_end(suite_import* c);

void suite_conclude(suite_import* c, suite_outcome outcome, const char* format, ...)
    STOW_PRINTF_LIKE(3, 4);
// Fails the case unless |status| is STOW_OK.
bool suite_went_well(suite_import* c, stow_status status, const char* what);

// A tensor of its own file. The bytes live until the process ends.
typedef struct suite_tensor {
  char* bytes;
  size_t size;
  stowi_onnx_tensor tensor;
} suite_tensor;

// The path of tensor |index|; false where there is no such file.
bool suite_pb_path(const char* stem, size_t index, char* out_path, size_t size);
bool suite_read_pb(suite_import* c, const char* path, suite_tensor* out);
// Old releases of the suite hold cases whose tensors are not of the types that their models declare
// (bf16 as u16): they say nothing about an import.
bool suite_fits_model(suite_import* c, const stowi_onnx_value_info* info,
                      const stowi_onnx_tensor* tensor);

// Begins a new request that has the dims of all inputs, and the values of small ones where
// |are_known|.
bool suite_give_inputs(suite_import* c, bool are_known);
bool suite_import_again(suite_import* c, bool keep_all);
// The first issue that stands against the import. What becomes a custom op counts too: it has the
// types that the file declares, so comparing them would prove nothing. A dim that depends on data
// counts where it keeps the import from having a graph; else it is compared as far as it goes.
bool suite_has_objection(suite_import* c);
// Gives the shapes of outputs that the import needs. Whether one was given.
bool suite_give_output_shapes(suite_import* c);

#endif  // STOWAGE_TESTS_ONNX_SUITE_IMPORT_H_

// What our reader says of a file against what protobuf-c says.
#ifndef STOWAGE_TESTS_ONNX_DIFFERENTIAL_COMPARE_H_
#define STOWAGE_TESTS_ONNX_DIFFERENTIAL_COMPARE_H_

#include <onnx.pb-c.h>

#include "onnx/reader/proto.h"

typedef struct comparison {
  const char* file;
  size_t fields;       // compared so far
  size_t differences;  // each printed
} comparison;

void compare_model(comparison* c, stow_model* model, const Onnx__ModelProto* theirs);
// |model|: NULL for a tensor on its own.
void compare_tensor(comparison* c, stow_model* model, const stowi_onnx_tensor* ours,
                    const Onnx__TensorProto* theirs);

#endif  // STOWAGE_TESTS_ONNX_DIFFERENTIAL_COMPARE_H_

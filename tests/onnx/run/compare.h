// Whether a tensor is as the suite expects it.
#ifndef STOWAGE_TESTS_ONNX_RUN_COMPARE_H_
#define STOWAGE_TESTS_ONNX_RUN_COMPARE_H_

#include <stowage/kernel.h>

// As onnx.backend.test: |a - b| <= absolute + 1e-3 |b| for floats (bf16: 2^-6 |b|), NaN where NaN
// is expected, the same infinities; dtype, dims, integers and bools exactly. False, and |out_why|
// says where, otherwise.
bool compare_tensors(const stow_tensor* is, const stow_tensor* expected, double absolute,
                     char* out_why, size_t size);

#endif  // STOWAGE_TESTS_ONNX_RUN_COMPARE_H_

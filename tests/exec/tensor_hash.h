// A hash of a tensor's elements in which NaN is NaN: which of two NaNs goes on is the processor's
// choice, and another one in a loop over vectors than in the loop over what remains.
#ifndef STOWAGE_TESTS_EXEC_TENSOR_HASH_H_
#define STOWAGE_TESTS_EXEC_TENSOR_HASH_H_

#include <stowage/kernel.h>

// Of dtype, dims and elements, added to |hash|.
uint64_t tensor_hash(uint64_t hash, const stow_tensor* tensor);

#endif  // STOWAGE_TESTS_EXEC_TENSOR_HASH_H_

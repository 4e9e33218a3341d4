// Convolutions as their definition reads, one product at a time in double: what kernels are
// compared with. Pads, strides, dilations and groups of any number of dims; no auto_pad.
#ifndef STOWAGE_TESTS_EXEC_PLAIN_CONV_H_
#define STOWAGE_TESTS_EXEC_PLAIN_CONV_H_

#include "exec/kernel_case.h"

typedef struct plain_conv {
  uint32_t rank;  // spatial
  int64_t batch, channels, group, out_channels;
  int64_t in[14], out[14], kernel[14], strides[14], dilations[14], begins[14];
} plain_conv;

// Of the case's node, with x as operand |x| and weights as operand |w|.
plain_conv plain_conv_of(kernel_case* c, size_t x, size_t w);
size_t plain_conv_outputs(const plain_conv* p);

// Element |i| of the result, of x and w as doubles, [N, C, spatial…].
double plain_conv_at(const plain_conv* p, const double* x, const double* w, size_t i);
// The same of a transposed convolution: x is spread over the result, |in| and |out| are x's and the
// result's dims as before, weights are [C, M, kernel…].
double plain_conv_transpose_at(const plain_conv* p, const double* x, const double* w, size_t i);

// Operand |k|'s elements as doubles, to be freed.
double* plain_numbers(kernel_case* c, size_t k);

#endif  // STOWAGE_TESTS_EXEC_PLAIN_CONV_H_

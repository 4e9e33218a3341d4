// Floats of the dtypes that can be written inline and folded: f64, f32, f16 and bf16.
#ifndef STOWAGE_SRC_GRAPH_FLOATS_H_
#define STOWAGE_SRC_GRAPH_FLOATS_H_

#include <stowage/type.h>

// Whether |dtype| is one of them.
bool stowi_graph_float_has(stow_dtype dtype);
// The bits of |number| in |dtype|, to nearest, ties to even. False if a finite number would become
// infinite.
bool stowi_graph_float_encode(stow_dtype dtype, double number, uint64_t* out_bits);
// The exact value of |bits| in |dtype|; a NaN loses its payload.
double stowi_graph_float_decode(stow_dtype dtype, uint64_t bits);

#endif  // STOWAGE_SRC_GRAPH_FLOATS_H_

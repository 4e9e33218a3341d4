// Panels of a factor in the order in which tiles read them.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_PACK_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_PACK_H_

#include <stddef.h>

// out[p * width + w] = from[w * across + p * along] for w < count, 0 for the others up to |width|;
// p < depth. |count| is |width| or less.
void stowi_pack(const float* from, size_t across, size_t along, size_t count, size_t width,
                size_t depth, float* out);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_PACK_H_

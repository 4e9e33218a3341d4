// A product by given inner loops, so that tests can compare all of them.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_BY_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_BY_H_

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/matrix/gemm_tile.h"

void stowi_gemm_by(const stowi_tiles* tiles, const stowi_gemm* gemm, void* scratch);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_BY_H_

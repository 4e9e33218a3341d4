// An integer product by given inner loops, so that tests can compare all of them.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_INTEGER_BY_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_INTEGER_BY_H_

#include "exec/kernels/matrix/integer_gemm.h"
#include "exec/kernels/matrix/integer_tile.h"

void stowi_integer_gemm_by(const stowi_integer_tiles* tiles, const stowi_integer_gemm* gemm,
                           void* scratch);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_INTEGER_BY_H_

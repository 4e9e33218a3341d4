// A row times a matrix whose columns lie in memory as rows, as weights of linear layers do.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_TURNED_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_TURNED_H_

#include "exec/kernels/matrix/gemm.h"

// Columns that are done together.
#define STOWI_TURNED_COLUMNS 16

// The first columns, as many whole groups as there are, and returns how many: 0 where |gemm| is
// none of these, or the compiler has no vectors. m is 1 and b's row stride 1.
size_t stowi_gemm_turned(const stowi_gemm* gemm);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_TURNED_H_

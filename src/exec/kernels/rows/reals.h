// Blocks of numbers, for kernels that are written once for f32 (also of f16 and bf16) and once for
// f64: names end in _f32 or _f64, so that a text with OF(name) is compiled for either.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ROWS_REALS_H_
#define STOWAGE_SRC_EXEC_KERNELS_ROWS_REALS_H_

#include <math.h>
#include <string.h>

#include "exec/kernels/rows/loops.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/math.h"
#include "exec/kernels/support/size.h"

#define REAL float
#define REAL_DTYPE STOW_F32
#define OF(name) name##_f32
#include "exec/kernels/rows/reals_body.h"
#define REAL double
#define REAL_DTYPE STOW_F64
#define OF(name) name##_f64
#include "exec/kernels/rows/reals_body.h"

#endif  // STOWAGE_SRC_EXEC_KERNELS_ROWS_REALS_H_

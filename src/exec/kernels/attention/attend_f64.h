// Attention in f64.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ATTENTION_ATTEND_F64_H_
#define STOWAGE_SRC_EXEC_KERNELS_ATTENTION_ATTEND_F64_H_

#include "exec/kernels/attention/attend.h"

// The same as stowi_attend, with all numbers in f64. Rows of q are taken as they are.
void stowi_attend_f64(const stow_kernel_call* call, const stowi_attention* a);
// Bytes for one worker.
uint64_t stowi_attend_f64_scratch(const stowi_attention* a);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ATTENTION_ATTEND_F64_H_

// Recurrent layers in f64.
#ifndef STOWAGE_SRC_EXEC_KERNELS_RECURRENT_STEPS_F64_H_
#define STOWAGE_SRC_EXEC_KERNELS_RECURRENT_STEPS_F64_H_

#include "exec/kernels/recurrent/layer.h"

// All steps of a layer that has been checked, in f64.
uint64_t stowi_steps_f64_scratch(const stowi_layer* layer);
void stowi_steps_f64(stowi_layer* layer);

#endif  // STOWAGE_SRC_EXEC_KERNELS_RECURRENT_STEPS_F64_H_

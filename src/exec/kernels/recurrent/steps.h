// All steps of a layer that has been checked, in f32.
#ifndef STOWAGE_SRC_EXEC_KERNELS_RECURRENT_STEPS_H_
#define STOWAGE_SRC_EXEC_KERNELS_RECURRENT_STEPS_H_

#include "exec/kernels/recurrent/layer.h"

uint64_t stowi_steps_f32_scratch(const stowi_layer* layer);
void stowi_steps_f32(stowi_layer* layer);

#endif  // STOWAGE_SRC_EXEC_KERNELS_RECURRENT_STEPS_H_

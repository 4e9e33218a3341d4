// Softmax of one row of scores.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ATTENTION_SOFTMAX_H_
#define STOWAGE_SRC_EXEC_KERNELS_ATTENTION_SOFTMAX_H_

#include <stddef.h>

// In place. |extra| is the score of one more, which gets its share but has no place; -INFINITY
// where there is none. A row of which all is -INFINITY becomes zeros.
void stowi_softmax_row(float* row, size_t count, float extra);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ATTENTION_SOFTMAX_H_

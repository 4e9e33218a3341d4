// Which experts a token goes to, and how much each counts.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_ROUTING_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_ROUTING_H_

#include <stowage/kernel.h>

typedef struct stowi_routing {
  const stow_tensor* logits;   // [tokens, experts]
  const stow_tensor* weights;  // the same; NULL: they follow from the logits
  size_t tokens, experts;
  size_t k;         // experts of a token, at most |experts|
  bool normalizes;  // a token's weights add up to 1
  int32_t* chosen;  // [tokens, k]
  float* shares;    // [tokens, k]
} stowi_routing;

// Fills |chosen| and |shares|. The largest logits win, of equal ones the last. Without weights a
// share is the softmax over all experts; |normalizes|: over the chosen ones.
void stowi_route(const stowi_routing* routing);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_ROUTING_H_

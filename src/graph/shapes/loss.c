// Shapes of losses and training steps. The optimisers work on several tensors at once: their
// operands come in groups of equal size (all tensors, all gradients, all of each state), and so do
// their results. Linear in the number of operands.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

// ---------------------------------------------------------------------------------------------
// Losses

// Scores [N, C, d…], targets [N, d…] and, if given, a weight [C].
static stow_status check_targets(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 2));
  STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1 (targets)"));
  const stow_type* scores = stow_shape_operand(call, 0);
  const stow_type* targets = stow_shape_operand(call, 1);
  if (targets->rank != scores->rank - 1) {
    return stow_shape_fail(call, "operand 1 (targets) has rank %" PRIu32 ", expected %" PRIu32,
                           targets->rank, scores->rank - 1);
  }
  for (uint32_t i = 0; i < targets->rank; ++i) {
    stow_dim wanted = scores->dims[i == 0 ? 0 : i + 1];
    if (stowi_graph_shape_differ(call, targets->dims[i], wanted)) {
      return stow_shape_fail(call, "dim %" PRIu32 " of operand 1 (targets) is %s, expected %s", i,
                             stowi_graph_shape_dim_text(call, targets->dims[i]).text,
                             stowi_graph_shape_dim_text(call, wanted).text);
    }
  }
  const stow_type* weight = stow_shape_operand(call, 2);
  if (weight != NULL &&
      (weight->rank != 1 || stowi_graph_shape_differ(call, weight->dims[0], scores->dims[1]))) {
    return stow_shape_fail(call, "operand 2 (weight) must have one dim, of %s classes",
                           stowi_graph_shape_dim_text(call, scores->dims[1]).text);
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_nll_loss(stow_shape_call* call) {
  static const char* const choices[] = {"none", "sum", "mean", NULL};
  size_t choice;
  STOW_TRY(stowi_graph_shape_choice(call, "reduction", choices, &choice));
  STOW_TRY(check_targets(call));
  stow_type result = *stow_shape_operand(call, 1);
  if (choice != 0) {
    result = stow_type_make(result.dtype, 0, NULL);
  }
  result.dtype = stow_shape_operand(call, 0)->dtype;
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_softmax_cross_entropy(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_nll_loss(call));
  if (stow_shape_result_count(call) == 1) {
    return STOW_OK;
  }
  return stowi_graph_shape_set(call, 1, stow_shape_operand(call, 0));
}

// ---------------------------------------------------------------------------------------------
// Steps of training

enum { FIRST_TENSOR = 2 };  // after the rate and the number of steps so far

// Each tensor has a gradient and states of the same dims.
static stow_status check_group(stow_shape_call* call, size_t tensor, size_t k) {
  const stow_type* a = stow_shape_operand(call, tensor);
  const stow_type* b = stow_shape_operand(call, k);
  if (a == NULL || b == NULL) {
    return stow_shape_fail(call, "operand %zu is missing", a == NULL ? tensor : k);
  }
  bool fits = a->rank == b->rank;
  for (uint32_t i = 0; fits && i < a->rank; ++i) {
    fits = !stowi_graph_shape_differ(call, a->dims[i], b->dims[i]);
  }
  if (!fits) {
    return stow_shape_fail(call, "operand %zu must have the dims of operand %zu", k, tensor);
  }
  return STOW_OK;
}

// Result group g updates operand group |updated|[g], of |groups|.
static stow_status shape_step(stow_shape_call* call, size_t groups, const size_t* updated,
                              size_t updated_count) {
  size_t operands = stow_shape_operand_count(call) - FIRST_TENSOR;
  size_t tensors = operands / groups;
  if (operands % groups != 0) {
    return stow_shape_fail(
        call, "there are %zu operands from operand %d on, expected %zu for each tensor", operands,
        FIRST_TENSOR, groups);
  }
  if (stow_shape_result_count(call) != tensors * updated_count) {
    return stow_shape_fail(call, "expected %zu results for %zu tensors", tensors * updated_count,
                           tensors);
  }
  for (size_t i = 0; i < operands; ++i) {
    STOW_TRY(check_group(call, FIRST_TENSOR + i % tensors, FIRST_TENSOR + i));
  }
  for (size_t i = 0; i < tensors * updated_count; ++i) {
    size_t from = FIRST_TENSOR + updated[i / tensors] * tensors + i % tensors;
    STOW_TRY(stowi_graph_shape_set(call, i, stow_shape_operand(call, from)));
  }
  return STOW_OK;
}

// Tensors, gradients, one state each.
stow_status stowi_graph_shape_adagrad(stow_shape_call* call) {
  static const size_t updated[] = {0, 2};
  return shape_step(call, 3, updated, 2);
}

// Tensors, gradients, two states each.
stow_status stowi_graph_shape_adam(stow_shape_call* call) {
  static const size_t updated[] = {0, 2, 3};
  return shape_step(call, 4, updated, 3);
}

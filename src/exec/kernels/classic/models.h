// The kinds of classifier and regressor, each with its scratch.
#ifndef STOWAGE_SRC_EXEC_KERNELS_CLASSIC_MODELS_H_
#define STOWAGE_SRC_EXEC_KERNELS_CLASSIC_MODELS_H_

#include <stowage/kernel.h>

stow_status stowi_kernel_svm_scratch(const stow_kernel_call* call, uint64_t* out_bytes);
stow_status stowi_kernel_svm_classify(stow_kernel_call* call);
stow_status stowi_kernel_svm_regress(stow_kernel_call* call);

stow_status stowi_kernel_tree_classes_scratch(const stow_kernel_call* call, uint64_t* out_bytes);
stow_status stowi_kernel_tree_targets_scratch(const stow_kernel_call* call, uint64_t* out_bytes);
stow_status stowi_kernel_trees_classify(stow_kernel_call* call);
stow_status stowi_kernel_trees_regress(stow_kernel_call* call);

// ---------------------------------------------------------------------------------------------
// What becomes of a model's scores: transforms, and labels.

// In the order of TreeEnsemble's numbers for them.
typedef enum stowi_kernel_transform {
  STOWI_KERNEL_TRANSFORM_NONE,
  STOWI_KERNEL_TRANSFORM_SOFTMAX,
  STOWI_KERNEL_TRANSFORM_LOGISTIC,
  STOWI_KERNEL_TRANSFORM_SOFTMAX_ZERO,
  STOWI_KERNEL_TRANSFORM_PROBIT
} stowi_kernel_transform;

// The attribute `post_transform`, a name or a number; none where it is absent.
stow_status stowi_kernel_transform_of(const stow_kernel_call* call,
                                      stowi_kernel_transform* out_transform);

// One score alone is changed by PROBIT only.
void stowi_kernel_transform_scores(stowi_kernel_transform transform, double* scores, size_t count);

// One score of two classes becomes two: those of LOGISTIC are probabilities; else the first is the
// opposite of the second, or what it lacks to 1.
void stowi_kernel_transform_pair(stowi_kernel_transform transform, bool is_opposite, double score,
                                 double* out);

// The first of the largest.
size_t stowi_kernel_best_score(const double* scores, size_t count);

#endif  // STOWAGE_SRC_EXEC_KERNELS_CLASSIC_MODELS_H_

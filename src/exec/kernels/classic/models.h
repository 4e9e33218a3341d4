// The kinds of classifier and regressor, each with its scratch.
#ifndef STOWAGE_SRC_EXEC_KERNELS_CLASSIC_MODELS_H_
#define STOWAGE_SRC_EXEC_KERNELS_CLASSIC_MODELS_H_

#include <stowage/kernel.h>

stow_status stowi_linear_scratch(const stow_kernel_call* call, uint64_t* out_bytes);
stow_status stowi_linear_classify(stow_kernel_call* call);
stow_status stowi_linear_regress(stow_kernel_call* call);

stow_status stowi_svm_scratch(const stow_kernel_call* call, uint64_t* out_bytes);
stow_status stowi_svm_classify(stow_kernel_call* call);
stow_status stowi_svm_regress(stow_kernel_call* call);

stow_status stowi_tree_classes_scratch(const stow_kernel_call* call, uint64_t* out_bytes);
stow_status stowi_tree_targets_scratch(const stow_kernel_call* call, uint64_t* out_bytes);
stow_status stowi_trees_classify(stow_kernel_call* call);
stow_status stowi_trees_regress(stow_kernel_call* call);

#endif  // STOWAGE_SRC_EXEC_KERNELS_CLASSIC_MODELS_H_

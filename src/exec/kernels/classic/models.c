// classifier and regressor: each is one of three kinds, which the attribute `kind` names.
#include "exec/kernels/classic/models.h"

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

static stow_status need_reals(const stow_kernel_call* call) {
  return stowi_kind(call->operands[0]->dtype) == STOW_KIND_COMPLEX
             ? stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "features must be floats or integers")
             : STOW_OK;
}

static stow_status fail_kind(const stow_kernel_call* call) {
  return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "kind must be linear, svm or trees");
}

static stow_status scratch_classifier(const stow_kernel_call* call, uint64_t* out_bytes) {
  if (stow_kernel_is(call, "kind", "linear")) {
    return stowi_linear_scratch(call, out_bytes);
  }
  if (stow_kernel_is(call, "kind", "svm")) {
    return stowi_svm_scratch(call, out_bytes);
  }
  return stowi_tree_classes_scratch(call, out_bytes);
}

static stow_status run_classifier(stow_kernel_call* call) {
  stow_status status = need_reals(call);
  if (status != STOW_OK) {
    return status;
  }
  if (stow_kernel_is(call, "kind", "linear")) {
    return stowi_linear_classify(call);
  }
  if (stow_kernel_is(call, "kind", "svm")) {
    return stowi_svm_classify(call);
  }
  return stow_kernel_is(call, "kind", "trees") ? stowi_trees_classify(call) : fail_kind(call);
}

static stow_status scratch_regressor(const stow_kernel_call* call, uint64_t* out_bytes) {
  if (stow_kernel_is(call, "kind", "linear")) {
    return stowi_linear_scratch(call, out_bytes);
  }
  if (stow_kernel_is(call, "kind", "svm")) {
    return stowi_svm_scratch(call, out_bytes);
  }
  return stowi_tree_targets_scratch(call, out_bytes);
}

static stow_status run_regressor(stow_kernel_call* call) {
  stow_status status = need_reals(call);
  if (status != STOW_OK) {
    return status;
  }
  if (stow_kernel_is(call, "kind", "linear")) {
    return stowi_linear_regress(call);
  }
  if (stow_kernel_is(call, "kind", "svm")) {
    return stowi_svm_regress(call);
  }
  return stow_kernel_is(call, "kind", "trees") ? stowi_trees_regress(call) : fail_kind(call);
}

STOWI_KERNEL(CLASSIFIER, scratch_classifier, run_classifier);
STOWI_KERNEL(REGRESSOR, scratch_regressor, run_regressor);

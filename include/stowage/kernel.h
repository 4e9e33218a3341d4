// Kernels: what computes the results of a node. The library has one for every op of the core; a
// caller puts its own in their place, or adds those of its ops, with stow_kernels_set (exec.h).
//
// A kernel is given tensors, attributes and scratch, and nothing else: no graph, no plan, no
// allocator. What this header declares is all that kernels of the library themselves stand on, so
// that they also work in a program that has neither library.
#ifndef STOWAGE_KERNEL_H_
#define STOWAGE_KERNEL_H_

#include <stowage/base.h>
#include <stowage/op.h>
#include <stowage/type.h>

#ifdef __cplusplus
extern "C" {
#endif

// Elements lie one after the other, the last dim fastest: the tensor is dense. Sub-byte types are
// packed, the first element in the lowest bits. Closed: it never grows, since callers have lists of
// it.
typedef struct stow_tensor {
  void* data;  // aligned to its elements at least; in a run not NULL, even without elements
  stow_dtype dtype;
  uint32_t rank;
  int64_t dims[STOW_MAX_RANK];  // numbers; those at rank and above are 0
  // Elements between neighbours along each dim; all 0: dense. Only dense tensors are supported:
  // kernels need not look at these, and leave those of their results 0.
  int64_t strides[STOW_MAX_RANK];
} stow_tensor;

typedef struct stow_kernel_call {
  size_t struct_size;
  stow_op op;
  size_t operand_count;
  const stow_tensor* const* operands;  // NULL where one is absent
  size_t result_count;
  // Dims of results are set, but where only the kernel can tell: there they are the largest
  // possible, and the kernel writes what they turn out to be.
  stow_tensor* const* results;
  size_t attr_count;
  const stow_attr* attrs;  // with the defaults of those not given
  void* scratch;           // aligned to 64; in a run not NULL
  size_t scratch_size;     // at least what the kernel asked for
  uint32_t workers;        // 1 or more
  stow_splitter splitter;  // |split| may be NULL: all work is done by the caller
  uint64_t seed;           // for random numbers: another one for each node and each round of a loop
  void* user;              // the kernel's
  char* message;           // stow_kernel_fail writes here
  size_t message_size;
} stow_kernel_call;

typedef struct stow_kernel {
  size_t struct_size;  // sizeof(stow_kernel)
  // Bytes of scratch that a call may need. Dims are the largest possible, workers as later; data is
  // NULL but for params and constants whose data is there. More dims never need less. NULL: none.
  stow_status (*scratch)(const stow_kernel_call* call, uint64_t* out_bytes);
  // Writes all elements of all results. Reads operands, writes results and scratch, and nothing
  // else. A result may lie over an operand, at the same address, as the op's row allows
  // (docs/ops.md, In place): the bits must be the same as if it did not. Where a result is a view
  // by the op's row, or an operand of a concat was made in its place, data may already be where it
  // belongs. The bits must not depend on how work is divided. An error is what stow_kernel_fail
  // returns.
  stow_status (*run)(stow_kernel_call* call);
  void* user;
  bool in_place;            // keeps that promise; where not, no result is in place of an operand
  const void* reserved[2];  // NULL: for functions to come
} stow_kernel;

// ---------------------------------------------------------------------------------------------
// For kernels

// NULL where operand |k| is absent or left off.
STOW_API const stow_tensor* stow_kernel_operand(const stow_kernel_call* call, size_t k);
// NULL where there are fewer results.
STOW_API stow_tensor* stow_kernel_result(const stow_kernel_call* call, size_t k);
// NULL where there is none of this name.
STOW_API const stow_attr* stow_kernel_attr(const stow_kernel_call* call, const char* name);
STOW_API int64_t stow_kernel_int(const stow_kernel_call* call, const char* name, int64_t fallback);
STOW_API double stow_kernel_float(const stow_kernel_call* call, const char* name, double fallback);
STOW_API bool stow_kernel_bool(const stow_kernel_call* call, const char* name, bool fallback);
// Whether the string attribute |name| is |text|.
STOW_API bool stow_kernel_is(const stow_kernel_call* call, const char* name, const char* text);
// Keeps the message, which says what was wrong and what would be right; the node is named by the
// executor. Returns |status|.
STOW_API stow_status stow_kernel_fail(const stow_kernel_call* call, stow_status status,
                                      const char* format, ...) STOW_PRINTF_LIKE(3, 4);
// Calls |task| for ranges that together are [0, count), in no order. Ranges below |grain| cost more
// than they bring; the library's threads make none where there is enough, but another splitter may.
// Each thing in the range is computed by one worker alone. Where a result has elements of less than
// a byte there is one range: neighbours share bytes.
STOW_API void stow_kernel_split(const stow_kernel_call* call, size_t count, size_t grain,
                                stow_split_task task, void* user);

STOW_API size_t stow_tensor_elements(const stow_tensor* tensor);
STOW_API size_t stow_tensor_bytes(const stow_tensor* tensor);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_KERNEL_H_

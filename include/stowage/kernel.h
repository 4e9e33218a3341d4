// Kernels: functions that compute the results of a node. libstowage-exec has one for every op of
// the core; replace them, or add kernels of your own ops, with stow_kernels_set (exec.h).
//
// A kernel gets tensors, attributes and scratch, and nothing else: no graph, no plan, no allocator.
// The library's kernels use only this header too, so they also work in exported programs, which
// have neither library. All pointers of a call belong to the executor and are valid until the
// kernel returns.
//
// A kernel must be a pure function: the same operands and attributes give the same bits, however
// the work is divided among threads. It may be called by several executors at the same time, so
// |user| must be safe to share. Scratch is planned before the run: ask for all of it in |scratch|.
// docs/kernels.md has the rules in full.
//
//     #include <stowage/exec.h>
//     #include <stowage/kernel.h>
//
//     static void square_range(void* user, size_t begin, size_t end, uint32_t worker) {
//       const stow_kernel_call* call = user;
//       const float* x = stow_kernel_operand(call, 0)->data;
//       float* y = stow_kernel_result(call, 0)->data;
//       (void)worker;
//       for (size_t i = begin; i < end; ++i) y[i] = x[i] * x[i];
//     }
//
//     static stow_status square(stow_kernel_call* call) {
//       const stow_tensor* x = stow_kernel_operand(call, 0);
//       if (x->dtype != STOW_F32)
//         return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "expects f32");
//       stow_kernel_split(call, stow_tensor_elements(x), 4096, square_range, call);
//       return STOW_OK;
//     }
//
//     // The kernel of `custom` nodes with the attribute name = "square".
//     stow_status add_square(stow_kernels* kernels, stow_diag* diag) {
//       stow_kernel kernel = {.struct_size = sizeof(kernel), .run = square};
//       return stow_kernels_set_custom(kernels, stow_str_of("square"), &kernel, diag);
//     }
#ifndef STOWAGE_KERNEL_H_
#define STOWAGE_KERNEL_H_

#include <stowage/base.h>
#include <stowage/op.h>
#include <stowage/type.h>

#ifdef __cplusplus
extern "C" {
#endif

// A tensor, which does not own its data. Elements are contiguous, the last dim fastest; types below
// a byte are packed, the first element in the lowest bits.
typedef struct stow_tensor {
  void* data;  // aligned to its elements at least; in a run not NULL, even without elements
  stow_dtype dtype;
  uint32_t rank;
  int64_t dims[STOW_MAX_RANK];  // in elements; those at rank and above are 0
  // Distance between neighbours along each dim, in elements; all 0: dense. Kernels get dense
  // tensors only: they can ignore strides, and leave those of their results 0. Pitched values have
  // strides where an executor shows them (stow_exec_value, stow_exec_event).
  int64_t strides[STOW_MAX_RANK];
} stow_tensor;

typedef struct stow_kernel_call {
  size_t struct_size;
  stow_op op;
  size_t operand_count;
  const stow_tensor* const* operands;  // NULL for an absent one
  size_t result_count;
  // The dims of results are set. Those that only the kernel can compute are the largest possible;
  // the kernel replaces them by the actual ones.
  stow_tensor* const* results;
  size_t attr_count;
  const stow_attr* attrs;  // defaults included
  void* scratch;           // aligned to 64 bytes; in a run not NULL
  size_t scratch_size;     // bytes; at least what the kernel asked for
  uint32_t workers;        // 1 or more
  stow_splitter splitter;  // if |split| is NULL, the caller does all work
  uint64_t seed;           // for random numbers; different for each node and loop iteration
  void* user;              // stow_kernel.user
  char* message;           // for stow_kernel_fail
  size_t message_size;     // bytes
  // Numbers of |attrs| by which the library's kernels find them; NULL: by name.
  const uint16_t* attr_ids;
  uint32_t variant;  // below stow_kernel.variant_count; a call without this field has 0
  // Bit k: the data of operand k is what stow_kernel.pack made of it; 0 for kernels without it.
  uint64_t packed;
} stow_kernel_call;

// A kernel may compute in several ways, its variants, numbered from the fastest to the one that
// needs the least scratch. All give the same bits.
typedef struct stow_kernel {
  size_t struct_size;  // sizeof(stow_kernel)
  // Computes the scratch that a call may need, in bytes, if it is run with |call->variant|. Dims
  // are the largest possible, |workers| is as in the run; data is NULL, except of params and
  // constants whose data is available. Larger dims must not need less scratch, nor larger variants
  // more. NULL: none is needed.
  stow_status (*scratch)(const stow_kernel_call* call, uint64_t* out_bytes);
  // Writes all elements of all results; reads operands, writes results and scratch, touches nothing
  // else. A result may be in place of an operand, at the same address, if the op allows it
  // (docs/ops.md, In place); the bits must be the same. If the op defines a result as a view, or
  // with copy elision, an operand may already lie where its elements belong; do not write these, as
  // their memory may be read-only. The bits must not depend on how work is divided. Return errors
  // with stow_kernel_fail.
  stow_status (*run)(stow_kernel_call* call);
  void* user;               // borrowed; must outlive all runs
  bool in_place;            // supports results in place of operands; false: there are none
  const void* reserved[2];  // must be NULL; for later versions
  uint32_t variant_count;   // 0 is 1
  // Packing: an operand that is a param or constant may be given to |run| in another order, which
  // is made once, before the first run; not one that a result is a view of. Both are NULL: none is.
  // Whoever copies a kernel of the library and sets |run| sets both to NULL, unless the new
  // function hands its calls on.
  //
  // The bytes that operand |k|, below 64, takes then; 0: it stays as it is. Depends on dtypes, dims
  // and attributes alone. Later |scratch| and |run| see it in |call->packed|; the data is the
  // packed one in |run| alone.
  uint64_t (*pack_size)(const stow_kernel_call* call, size_t k);
  // Writes all these bytes of operand |k|, to |out|, aligned to 64: elements of its dtype, of which
  // some may be there twice or be 0. Only its data is there.
  void (*pack)(const stow_kernel_call* call, size_t k, void* out);
  // Bit k: operand k, if it is a param or constant, need not be aligned to its elements. Weights in
  // files seldom are; others are copied.
  uint64_t unaligned;
} stow_kernel;

// ---------------------------------------------------------------------------------------------
// For kernels

// NULL if operand |k| is absent or past the end.
STOW_API const stow_tensor* stow_kernel_operand(const stow_kernel_call* call, size_t k);
// NULL past the end.
STOW_API stow_tensor* stow_kernel_result(const stow_kernel_call* call, size_t k);
// NULL if there is no attribute |name|.
STOW_API const stow_attr* stow_kernel_attr(const stow_kernel_call* call, const char* name);
// The attribute's value; |fallback| if it is absent or of another kind.
STOW_API int64_t stow_kernel_int(const stow_kernel_call* call, const char* name, int64_t fallback);
STOW_API double stow_kernel_float(const stow_kernel_call* call, const char* name, double fallback);
STOW_API bool stow_kernel_bool(const stow_kernel_call* call, const char* name, bool fallback);
// Whether the string attribute |name| is |text|.
STOW_API bool stow_kernel_is(const stow_kernel_call* call, const char* name, const char* text);
// Stores the message and returns |status|. Say what was wrong and what was expected; the executor
// adds the node.
STOW_API stow_status stow_kernel_fail(const stow_kernel_call* call, stow_status status,
                                      const char* format, ...) STOW_PRINTF_LIKE(3, 4);
// Calls |task| for ranges that together cover [0, count), in any order, possibly at the same time;
// each item is in one range. Returns when all are done. Ranges shorter than |grain| items cost more
// than they gain; the library's threads avoid them, other splitters may not. If a result has
// elements below a byte there is only one range, because neighbours share bytes.
STOW_API void stow_kernel_split(const stow_kernel_call* call, size_t count, size_t grain,
                                stow_split_task task, void* user);

// The number of elements, and their size in bytes, rounded up to whole bytes.
STOW_API size_t stow_tensor_elements(const stow_tensor* tensor);
STOW_API size_t stow_tensor_bytes(const stow_tensor* tensor);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_KERNEL_H_

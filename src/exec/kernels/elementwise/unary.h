// Functions of one element: the engine under all ops with one operand and its type as the result's.
// An op is a row of loops, one for each type that is computed in: f16, bf16 and narrower floats are
// computed as f32, integers as 64 bits.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ELEMENTWISE_UNARY_H_
#define STOWAGE_SRC_EXEC_KERNELS_ELEMENTWISE_UNARY_H_

#include <stowage/kernel.h>

#include "exec/kernels/support/attrs.h"
#include "exec/kernels/support/vector.h"

#define STOWI_KERNEL_UNARY_PARAMS 2

typedef struct stowi_kernel_unary {
  stow_op op;
  uint32_t cost;  // of an element, an addition being 1
  // |out| is |in| or apart from it; |p| are the parameters.
  void (*f32)(const float* in, float* out, size_t count, const float* p);
  void (*f64)(const double* in, double* out, size_t count, const double* p);
  void (*i64)(const int64_t* in, int64_t* out, size_t count);  // NULL: see takes_integers
  void (*u64)(const uint64_t* in, uint64_t* out, size_t count);
  bool takes_integers;  // as f64, rounded towards zero, where i64 is NULL
  stowi_kernel_attr_id names[STOWI_KERNEL_UNARY_PARAMS];  // float attributes: the parameters
} stowi_kernel_unary;

// Runs the row of the call's op.
stow_status stowi_kernel_unary_run(stow_kernel_call* call, const stowi_kernel_unary* rows,
                                   size_t row_count);

// Defines name_f32, name_f64 or both, from an expression of x, p[0] and p[1].
#define STOWI_KERNEL_UNARY_F32(name, expression)                                                 \
  STOWI_KERNEL_LOOP(name##_f32, (const float* in, float* out, size_t count, const float* given), \
                    (in, out, count, given)) {                                                   \
    const float p[STOWI_KERNEL_UNARY_PARAMS] = {given[0], given[1]};                             \
    (void)p;                                                                                     \
    STOWI_KERNEL_INDEPENDENT                                                                     \
    for (size_t i = 0; i < count; ++i) {                                                         \
      const float x = in[i];                                                                     \
      out[i] = (expression);                                                                     \
    }                                                                                            \
  }
#define STOWI_KERNEL_UNARY_F64(name, expression)                                         \
  static void name##_f64(const double* in, double* out, size_t count, const double* p) { \
    (void)p;                                                                             \
    for (size_t i = 0; i < count; ++i) {                                                 \
      const double x = in[i];                                                            \
      out[i] = (expression);                                                             \
    }                                                                                    \
  }
#define STOWI_KERNEL_UNARY_BOTH(name, expression) \
  STOWI_KERNEL_UNARY_F32(name, expression) STOWI_KERNEL_UNARY_F64(name, expression)
#define STOWI_KERNEL_UNARY_INT(name, bits, expression)                \
  static void name(const bits##_t* in, bits##_t* out, size_t count) { \
    for (size_t i = 0; i < count; ++i) {                              \
      const bits##_t x = in[i];                                       \
      out[i] = (expression);                                          \
    }                                                                 \
  }

#endif  // STOWAGE_SRC_EXEC_KERNELS_ELEMENTWISE_UNARY_H_

// Functions of two elements, broadcast: the engine under ops with two operands. An op is a row of
// loops, one for each type that is computed in: f16, bf16 and narrower floats are computed as f32,
// integers as 64 bits of their sign, i32 also where it lies, bools as integers.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ELEMENTWISE_BINARY_H_
#define STOWAGE_SRC_EXEC_KERNELS_ELEMENTWISE_BINARY_H_

#include <stowage/kernel.h>

#include "exec/kernels/support/attrs.h"
#include "exec/kernels/support/vector.h"

typedef struct stowi_kernel_binary {
  stow_op op;
  uint32_t cost;  // of an element, an addition being 1
  // |a| and |b| move on by their steps, of which one is 1 and the other 0 or 1; |out| may be an
  // operand whose step is 1. |p| is the parameter.
  void (*f32)(const float* a, size_t a_step, const float* b, size_t b_step, float* out,
              size_t count, float p);
  // Of blocks; |out| is |a|.
  void (*f64)(const double* a, const double* b, double* out, size_t count, double p);
  void (*i64)(const int64_t* a, const int64_t* b, int64_t* out, size_t count);
  void (*u64)(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count);
  stowi_kernel_attr_id name;  // the float attribute that is the parameter, if there is one
  // As f32; NULL: i32 is computed as i64.
  void (*i32)(const uint32_t* a, size_t a_step, const uint32_t* b, size_t b_step, uint32_t* out,
              size_t count, float p);
} stowi_kernel_binary;

// Runs |row| on operands 0 and 1, which are computed in the type of operand 0. What a row lacks is
// not supported.
stow_status stowi_kernel_binary_run(stow_kernel_call* call, const stowi_kernel_binary* row);
// The row of the call's op.
const stowi_kernel_binary* stowi_kernel_binary_row(const stow_kernel_call* call,
                                                   const stowi_kernel_binary* rows,
                                                   size_t row_count);

// Fails where an integer of operand 1 is 0, and says which.
stow_status stowi_kernel_check_divisor(const stow_kernel_call* call);

// Defines name_f32 and the others from an expression of x, y and p.
#define STOWI_KERNEL_BINARY_F32(name, expression) \
  STOWI_KERNEL_BINARY_LOOP(name##_f32, float, expression)
// i32 as numbers without a sign, for ops whose low bits do not depend on it; |p| is unused.
#define STOWI_KERNEL_BINARY_I32(name, expression) \
  STOWI_KERNEL_BINARY_LOOP(name##_i32, uint32_t, expression)
#define STOWI_KERNEL_BINARY_LOOP(name, type, expression)                                    \
  STOWI_KERNEL_LOOP(name,                                                                   \
                    (const type* a, size_t a_step, const type* b, size_t b_step, type* out, \
                     size_t count, float p),                                                \
                    (a, a_step, b, b_step, out, count, p)) {                                \
    (void)p;                                                                                \
    if (a_step == 0) {                                                                      \
      const type x = *a;                                                                    \
      STOWI_KERNEL_INDEPENDENT                                                              \
      for (size_t i = 0; i < count; ++i) {                                                  \
        const type y = b[i];                                                                \
        out[i] = (expression);                                                              \
      }                                                                                     \
    } else if (b_step == 0) {                                                               \
      const type y = *b;                                                                    \
      STOWI_KERNEL_INDEPENDENT                                                              \
      for (size_t i = 0; i < count; ++i) {                                                  \
        const type x = a[i];                                                                \
        out[i] = (expression);                                                              \
      }                                                                                     \
    } else {                                                                                \
      STOWI_KERNEL_INDEPENDENT                                                              \
      for (size_t i = 0; i < count; ++i) {                                                  \
        const type x = a[i];                                                                \
        const type y = b[i];                                                                \
        out[i] = (expression);                                                              \
      }                                                                                     \
    }                                                                                       \
  }
#define STOWI_KERNEL_BINARY_F64(name, expression)                                                 \
  static void name##_f64(const double* a, const double* b, double* out, size_t count, double p) { \
    (void)p;                                                                                      \
    for (size_t i = 0; i < count; ++i) {                                                          \
      const double x = a[i];                                                                      \
      const double y = b[i];                                                                      \
      out[i] = (expression);                                                                      \
    }                                                                                             \
  }
#define STOWI_KERNEL_BINARY_BOTH(name, expression) \
  STOWI_KERNEL_BINARY_F32(name, expression) STOWI_KERNEL_BINARY_F64(name, expression)
#define STOWI_KERNEL_BINARY_INT(name, bits, expression)                                 \
  static void name(const bits##_t* a, const bits##_t* b, bits##_t* out, size_t count) { \
    for (size_t i = 0; i < count; ++i) {                                                \
      const bits##_t x = a[i];                                                          \
      const bits##_t y = b[i];                                                          \
      out[i] = (expression);                                                            \
    }                                                                                   \
  }

#endif  // STOWAGE_SRC_EXEC_KERNELS_ELEMENTWISE_BINARY_H_

// Products of tensors of bytes, part by part: exact sums of i32, and what a kernel makes of them.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_QUANTIZED_PRODUCT_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_QUANTIZED_PRODUCT_H_

#include "exec/kernels/matrix/product.h"

// Scales or zero points: one for all, one for each row (or column) of a matrix, or one for each row
// (or column) of all matrices.
typedef struct stowi_kernel_lane {
  const stow_tensor* tensor;  // NULL: none
  size_t count;               // 1 if there is none
} stowi_kernel_lane;

typedef struct stowi_kernel_quantized stowi_kernel_quantized;

// Columns that are finished at a time, at most.
enum { STOWI_KERNEL_FINISH_COLUMNS = 64 };

// Writes |part| of the result, at most that many columns, from its sums, whose rows are |row| apart
// and which it may change.
typedef void (*stowi_kernel_finish)(const stowi_kernel_quantized* q, const stowi_kernel_part* part,
                                    int32_t* sums, size_t row);
// Makes |count| bytes of a from element |first| on, where a is not bytes.
typedef void (*stowi_kernel_make_a)(const stowi_kernel_quantized* q, size_t first, size_t count,
                                    uint8_t* out);

struct stowi_kernel_quantized {
  stowi_kernel_product product;
  const void* a;  // i8 or u8
  const void* b;
  bool a_is_signed;
  bool b_is_signed;
  bool b_is_packed;
  stowi_kernel_lane a_zero;    // of rows
  stowi_kernel_lane b_zero;    // of columns
  stowi_kernel_finish finish;  // NULL: the sums are the result, which is of i32
  stowi_kernel_make_a make_a;  // NULL: |a| has them; only in the last variant, rows contiguous
  const stow_kernel_call* call;
  const void* user;  // the functions'
};

// How a second factor is packed: its matrices one after the other (integer_gemm.h).
uint64_t stowi_kernel_quantized_pack_size(const stow_tensor* b, stowi_kernel_turn turn);
void stowi_kernel_quantized_pack(const stow_tensor* b, stowi_kernel_turn turn, void* out);

// For all products of bytes: parts of three sizes, the last without room for copies.
#define STOWI_KERNEL_QUANTIZED_VARIANTS STOWI_KERNEL_PART_VARIANTS

// Sets the product and both factors, which must be i8 or u8. |a_zero| and |b_zero| may be NULL.
stow_status stowi_kernel_quantized_of(const stow_kernel_call* call, const stow_tensor* a,
                                      stowi_kernel_turn turn_a, const stow_tensor* b,
                                      stowi_kernel_turn turn_b, const stow_tensor* a_zero,
                                      const stow_tensor* b_zero, stowi_kernel_quantized* out);
// The same of operands 0 and 1 as they lie, whose zero points are operands |zeros| and |zeros| + 1;
// fails where a is neither i8 nor u8. The scratch is that of all ops that do so.
stow_status stowi_kernel_quantized_operands(const stow_kernel_call* call, size_t zeros,
                                            stowi_kernel_quantized* out);
stow_status stowi_kernel_quantized_operands_scratch(const stow_kernel_call* call,
                                                    uint64_t* out_bytes);
// Fails where |tensor| has another number of elements than a lane; |name| says what it is.
stow_status stowi_kernel_lane_of_rows(const stow_kernel_call* call, const stowi_kernel_product* p,
                                      const stow_tensor* a, const stow_tensor* tensor,
                                      const char* name, stowi_kernel_lane* out);
stow_status stowi_kernel_lane_of_columns(const stow_kernel_call* call,
                                         const stowi_kernel_product* p, const stow_tensor* tensor,
                                         const char* name, stowi_kernel_lane* out);
// Elements of a lane from element |first| of all rows (or columns) on; 0 where there is no tensor.
void stowi_kernel_lane_floats(const stowi_kernel_lane* lane, size_t first, size_t count,
                              float* out);
void stowi_kernel_lane_ints(const stowi_kernel_lane* lane, size_t first, size_t count,
                            int32_t* out);

// |b| is the second factor. |makes_a|: the last variant makes a.
uint64_t stowi_kernel_quantized_scratch(const stow_kernel_call* call, const stowi_kernel_product* p,
                                        const stow_tensor* b, bool makes_a);
// What making a takes of it.
uint64_t stowi_kernel_quantized_made_size(const stow_kernel_call* call,
                                          const stowi_kernel_product* p, const stow_tensor* b);
// Computes and finishes all parts, divided among workers.
void stowi_kernel_quantized_run(const stowi_kernel_quantized* q, void* scratch);

// One row: sums[j] · scales[j], rounded to nearest, ties to even, plus |zero|, clamped to i8 or u8.
void stowi_kernel_requantize_row(const int32_t* sums, const float* scales, int32_t zero,
                                 bool is_signed, size_t count, void* to);

// ---------------------------------------------------------------------------------------------
// Products of bytes whose sums become floats: sums · a's scale · b's scales + bias.

typedef struct stowi_kernel_scaled {
  stowi_kernel_lane a_scale;  // of rows
  float a_factor;             // multiplies every scale of a; is the scale where there is no tensor
  stowi_kernel_lane b_scale;  // of columns
  stowi_kernel_lane bias;     // of columns, f32 or narrower
  stow_tensor* result;
} stowi_kernel_scaled;

// A finisher; |user| is a stowi_kernel_scaled.
void stowi_kernel_finish_scaled(const stowi_kernel_quantized* q, const stowi_kernel_part* part,
                                int32_t* sums, size_t row);
// The product of both scales for |count| columns of row |row|; both count over all matrices.
void stowi_kernel_scales_of(const stowi_kernel_scaled* s, size_t row, const float* b_scales,
                            size_t count, float* out);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_QUANTIZED_PRODUCT_H_

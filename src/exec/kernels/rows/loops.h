// The inner loops of rows, on blocks of numbers.
//
// Sums are doubles in 8 lanes, added up as a tree: that is the same on every machine, becomes
// vectors, and its error is that of n/8 additions of doubles, whatever the elements are.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ROWS_LOOPS_H_
#define STOWAGE_SRC_EXEC_KERNELS_ROWS_LOOPS_H_

#include <stddef.h>

double stowi_kernel_sum_f32(const float* in, size_t count);
double stowi_kernel_sum_f64(const double* in, size_t count);

// The sum of squares of distances from |center|.
double stowi_kernel_squares_f32(const float* in, size_t count, double center);
double stowi_kernel_squares_f64(const double* in, size_t count, double center);

// The largest of |most| and the elements; NaN where there is one.
float stowi_kernel_most_f32(const float* in, size_t count, float most);
double stowi_kernel_most_f64(const double* in, size_t count, double most);

// exp(in[i] - most[i]), where |most| moves on by |step|, 0 or 1. |out| is apart from |in|.
void stowi_kernel_exps_f32(const float* in, size_t count, const float* most, size_t step,
                           float* out);
void stowi_kernel_exps_f64(const double* in, size_t count, const double* most, size_t step,
                           double* out);

// out[i] = (in[i] - center) factor + shift.
void stowi_kernel_affine_f32(const float* in, size_t count, float center, float factor, float shift,
                             float* out);
void stowi_kernel_affine_f64(const double* in, size_t count, double center, double factor,
                             double shift, double* out);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ROWS_LOOPS_H_

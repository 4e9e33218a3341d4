// The inner loops of rows, on blocks of numbers.
//
// Sums are doubles in 16 lanes, added up as a tree: that is the same on every machine, becomes
// vectors, and its error is that of n/16 additions of doubles, whatever the elements are.
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

// exp(in[i] - most), where no element is larger than |most|; NaN where that is infinite. |out| may
// be |in|.
void stowi_kernel_exps_f32(const float* in, size_t count, float most, float* out);
void stowi_kernel_exps_f64(const double* in, size_t count, double most, double* out);
// exp(in[i] - most[i]).
void stowi_kernel_exps_each_f32(const float* in, size_t count, const float* most, float* out);
void stowi_kernel_exps_each_f64(const double* in, size_t count, const double* most, double* out);

// Softmax of |rows| rows that lie one after the other; |y| may be |x|. |extra| is the score of one
// more element of each row, which gets its share but has no place; -INFINITY if there is none.
// Returns the largest of the last row: if that is -INFINITY, its |y| is NaNs.
float stowi_kernel_softmax_rows_f32(const float* x, size_t rows, size_t count, float extra,
                                    float* y);
double stowi_kernel_softmax_rows_f64(const double* x, size_t rows, size_t count, double extra,
                                     double* y);

// out[i] = (in[i] - center) factor + shift. |out| may be |in|.
void stowi_kernel_affine_f32(const float* in, size_t count, float center, float factor, float shift,
                             float* out);
void stowi_kernel_affine_f64(const double* in, size_t count, double center, double factor,
                             double shift, double* out);

// out[i] = (in[i] - center) factor scale[i] + shift[i]; what is NULL is left out. |out| may be
// |in|.
void stowi_kernel_normalize_f32(const float* in, size_t count, float center, float factor,
                                const float* scale, const float* shift, float* out);
void stowi_kernel_normalize_f64(const double* in, size_t count, double center, double factor,
                                const double* scale, const double* shift, double* out);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ROWS_LOOPS_H_

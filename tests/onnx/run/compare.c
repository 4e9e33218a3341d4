#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exec/kernels/support/convert.h"

static void print_type(const stow_tensor* tensor, char* out, size_t size) {
  size_t at = (size_t)snprintf(out, size, "%s[", stow_dtype_name(tensor->dtype));
  for (uint32_t i = 0; i < tensor->rank && at < size; ++i) {
    at += (size_t)snprintf(out + at, size - at, "%s%" PRId64, i == 0 ? "" : ", ", tensor->dims[i]);
  }
  if (at < size) {
    snprintf(out + at, size - at, "]");
  }
}

static bool same_type(const stow_tensor* is, const stow_tensor* expected, char* out_why,
                      size_t size) {
  bool same = is->dtype == expected->dtype && is->rank == expected->rank;
  for (uint32_t i = 0; same && i < is->rank; ++i) {
    same = is->dims[i] == expected->dims[i];
  }
  if (!same) {
    char ours[160], theirs[160];
    print_type(is, ours, sizeof(ours));
    print_type(expected, theirs, sizeof(theirs));
    snprintf(out_why, size, "is %s, expected %s", ours, theirs);
  }
  return same;
}

static bool is_close(double is, double expected, double relative, double absolute) {
  if (isnan(expected) || isnan(is)) {
    return isnan(expected) && isnan(is);
  }
  if (isinf(expected) || isinf(is)) {
    return is == expected;
  }
  return fabs(is - expected) <= absolute + relative * fabs(expected);
}

static bool floats_close(const stow_tensor* is, const stow_tensor* expected, stow_dtype dtype,
                         size_t count, double absolute, char* out_why, size_t size) {
  double relative = dtype == STOW_BF16 ? 0x1p-6 : 1e-3;
  for (size_t i = 0; i < count; ++i) {
    double a, b;
    stowi_kernel_load_f64(dtype, is->data, i, 1, &a);
    stowi_kernel_load_f64(dtype, expected->data, i, 1, &b);
    if (!is_close(a, b, relative, absolute)) {
      snprintf(out_why, size, "element %zu of %zu is %g, expected %g", i, count, a, b);
      return false;
    }
  }
  return true;
}

static bool ints_equal(const stow_tensor* is, const stow_tensor* expected, size_t count,
                       char* out_why, size_t size) {
  for (size_t i = 0; i < count; ++i) {
    int64_t a = stowi_kernel_int_at(is, i);
    int64_t b = stowi_kernel_int_at(expected, i);
    if (a != b) {
      snprintf(out_why, size, "element %zu of %zu is %" PRId64 ", expected %" PRId64, i, count, a,
               b);
      return false;
    }
  }
  return true;
}

bool compare_tensors(const stow_tensor* is, const stow_tensor* expected, double absolute,
                     char* out_why, size_t size) {
  if (!same_type(is, expected, out_why, size)) {
    return false;
  }
  size_t count = stow_tensor_elements(is);
  switch (stow_dtype_kind_of(is->dtype)) {
    case STOW_KIND_FLOAT:
      return floats_close(is, expected, is->dtype, count, absolute, out_why, size);
    case STOW_KIND_COMPLEX:
      return floats_close(is, expected, is->dtype == STOW_C64 ? STOW_F32 : STOW_F64, 2 * count,
                          absolute, out_why, size);
    default: return ints_equal(is, expected, count, out_why, size);
  }
}

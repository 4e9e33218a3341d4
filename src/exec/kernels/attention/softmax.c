// The exponentials are added in LANES sums, which are then added in a tree: an order that vectors
// keep. Three passes over the row.
#include "exec/kernels/attention/softmax.h"

#include <math.h>

#include "exec/kernels/support/math.h"
#include "exec/kernels/support/vector.h"

#define LANES 16

STOWI_LOOP(find_largest, (const float* row, size_t count, float* top), (row, count, top)) {
  float tops[LANES];
  for (size_t j = 0; j < LANES; ++j) {
    tops[j] = *top;
  }
  size_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    for (size_t j = 0; j < LANES; ++j) {
      tops[j] = row[i + j] > tops[j] ? row[i + j] : tops[j];
    }
  }
  for (; i < count; ++i) {
    tops[0] = row[i] > tops[0] ? row[i] : tops[0];
  }
  for (size_t j = 0; j < LANES; ++j) {
    *top = tops[j] > *top ? tops[j] : *top;
  }
}

STOWI_LOOP(exponentials, (float* row, size_t count, float top, float* sum),
           (row, count, top, sum)) {
  float sums[LANES] = {0};
  size_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    for (size_t j = 0; j < LANES; ++j) {
      row[i + j] = stowi_expf(row[i + j] - top);
      sums[j] += row[i + j];
    }
  }
  for (size_t j = 0; i + j < count; ++j) {
    row[i + j] = stowi_expf(row[i + j] - top);
    sums[j] += row[i + j];
  }
  for (size_t half = LANES / 2; half != 0; half /= 2) {
    for (size_t j = 0; j < half; ++j) {
      sums[j] += sums[j + half];
    }
  }
  *sum = sums[0];
}

STOWI_LOOP(multiply, (float* row, size_t count, float factor), (row, count, factor)) {
  for (size_t i = 0; i < count; ++i) {
    row[i] *= factor;
  }
}

void stowi_softmax_row(float* row, size_t count, float extra) {
  float top = extra;
  find_largest(row, count, &top);
  if (top == -INFINITY) {
    for (size_t i = 0; i < count; ++i) {
      row[i] = row[i] == -INFINITY ? 0.0F : row[i];  // a NaN stays one
    }
    return;
  }
  float sum;
  exponentials(row, count, top, &sum);
  if (extra != -INFINITY) {
    sum += stowi_expf(extra - top);
  }
  multiply(row, count, 1.0F / sum);
}

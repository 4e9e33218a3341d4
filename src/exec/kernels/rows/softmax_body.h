// The text of softmax.c for one type of number.

static inline void OF(subtract)(const REAL* in, size_t count, REAL most, REAL log_sum, REAL* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = in[i] - most - log_sum;
  }
}

static inline void OF(multiply)(const REAL* in, size_t count, REAL factor, REAL* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = in[i] * factor;
  }
}

static double OF(sum_exps)(const job* j, size_t first, REAL most, REAL* room) {
  double sum = 0;
  for (size_t i = 0; i < j->rows.count; i += STOWI_KERNEL_BLOCK) {
    size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->rows.count - i);
    const REAL* in = OF(stowi_kernel_view)(j->dtype, j->x, first + i, count, room);
    OF(stowi_kernel_exps)(in, count, most, room);
    sum += OF(stowi_kernel_sum)(room, count);
  }
  return sum;
}

static void OF(finish_row)(const job* j, size_t first, REAL most, double sum, REAL* room) {
  REAL factor = (REAL)(1 / sum);
  REAL log_sum = j->is_log ? (REAL)log(sum) : 0;
  for (size_t i = 0; i < j->rows.count; i += STOWI_KERNEL_BLOCK) {
    size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->rows.count - i);
    const REAL* in = OF(stowi_kernel_view)(j->dtype, j->x, first + i, count, room);
    if (j->is_log) {
      OF(subtract)(in, count, most, log_sum, room);
    } else {
      OF(stowi_kernel_exps)(in, count, most, room);
      OF(multiply)(room, count, factor, room);
    }
    OF(stowi_kernel_put)(j->dtype, j->y, first + i, count, room);
  }
}

// Elements that are contiguous.
static void OF(row)(const job* j, size_t first) {
  REAL room[STOWI_KERNEL_BLOCK];  // an element is read before it is written
  REAL most = -(REAL)INFINITY;
  for (size_t i = 0; i < j->rows.count; i += STOWI_KERNEL_BLOCK) {
    size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->rows.count - i);
    const REAL* in = OF(stowi_kernel_view)(j->dtype, j->x, first + i, count, room);
    most = OF(stowi_kernel_most)(in, count, most);
  }
  OF(finish_row)(j, first, most, OF(sum_exps)(j, first, most, room), room);
}

// ---------------------------------------------------------------------------------------------
// Neighbouring rows, a strip of them at once

static void OF(strip_most)(const job* j, size_t first, size_t width, REAL* most) {
  REAL room[STOWI_KERNEL_STRIP];
  for (size_t k = 0; k < width; ++k) {
    most[k] = -(REAL)INFINITY;
  }
  for (size_t i = 0; i < j->rows.count; ++i) {
    const REAL* in = OF(stowi_kernel_view)(j->dtype, j->x, first + i * j->rows.inner, width, room);
    for (size_t k = 0; k < width; ++k) {
      most[k] = ((in[k] > most[k]) | (in[k] != in[k])) ? in[k] : most[k];
    }
  }
}

static void OF(strip_exps)(const job* j, size_t at, size_t width, const REAL* most, REAL* out) {
  REAL room[STOWI_KERNEL_STRIP];
  const REAL* in = OF(stowi_kernel_view)(j->dtype, j->x, at, width, room);
  OF(stowi_kernel_exps_each)(in, width, most, out);
}

static void OF(strip_finish)(const job* j, size_t at, size_t width, const REAL* most,
                             const double* sums, REAL* out) {
  REAL room[STOWI_KERNEL_STRIP];
  if (j->is_log) {
    const REAL* in = OF(stowi_kernel_view)(j->dtype, j->x, at, width, room);
    for (size_t k = 0; k < width; ++k) {
      out[k] = in[k] - most[k] - (REAL)sums[k];
    }
  } else {
    OF(strip_exps)(j, at, width, most, out);
    for (size_t k = 0; k < width; ++k) {
      out[k] *= (REAL)sums[k];
    }
  }
  OF(stowi_kernel_put)(j->dtype, j->y, at, width, out);
}

static void OF(strip)(const job* j, size_t first, size_t width) {
  REAL most[STOWI_KERNEL_STRIP];
  REAL out[STOWI_KERNEL_STRIP];
  double sums[STOWI_KERNEL_STRIP] = {0};
  OF(strip_most)(j, first, width, most);
  for (size_t i = 0; i < j->rows.count; ++i) {
    OF(strip_exps)(j, first + i * j->rows.inner, width, most, out);
    for (size_t k = 0; k < width; ++k) {
      sums[k] += (double)out[k];
    }
  }
  for (size_t k = 0; k < width; ++k) {
    sums[k] = j->is_log ? log(sums[k]) : 1 / sums[k];
  }
  for (size_t i = 0; i < j->rows.count; ++i) {
    OF(strip_finish)(j, first + i * j->rows.inner, width, most, sums, out);
  }
}

#undef REAL
#undef REAL_DTYPE
#undef OF

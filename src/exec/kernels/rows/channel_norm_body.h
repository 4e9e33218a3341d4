// The text of channel_norm.c for one type of number.

static double OF(run_sum)(const stow_tensor* x, size_t first, size_t count) {
  REAL room[STOWI_KERNEL_BLOCK];
  double sum = 0;
  for (size_t i = 0; i < count; i += STOWI_KERNEL_BLOCK) {
    size_t part = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, count - i);
    sum +=
        OF(stowi_kernel_sum)(OF(stowi_kernel_view)(x->dtype, x->data, first + i, part, room), part);
  }
  return sum;
}

static double OF(run_squares)(const stow_tensor* x, size_t first, size_t count, double center) {
  REAL room[STOWI_KERNEL_BLOCK];
  double sum = 0;
  for (size_t i = 0; i < count; i += STOWI_KERNEL_BLOCK) {
    size_t part = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, count - i);
    const REAL* in = OF(stowi_kernel_view)(x->dtype, x->data, first + i, part, room);
    sum += OF(stowi_kernel_squares)(in, part, center);
  }
  return sum;
}

static void OF(run_affine)(const stow_tensor* x, const stow_tensor* y, size_t first, size_t count,
                           REAL center, REAL factor, REAL shift) {
  if (x->dtype == REAL_DTYPE && y->dtype == REAL_DTYPE) {
    OF(stowi_kernel_affine)
    ((const REAL*)x->data + first, count, center, factor, shift, (REAL*)y->data + first);
    return;
  }
  REAL room[STOWI_KERNEL_BLOCK];
  REAL out[STOWI_KERNEL_BLOCK];
  for (size_t i = 0; i < count; i += STOWI_KERNEL_BLOCK) {
    size_t part = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, count - i);
    const REAL* in = OF(stowi_kernel_view)(x->dtype, x->data, first + i, part, room);
    OF(stowi_kernel_affine)(in, part, center, factor, shift, out);
    OF(stowi_kernel_put)(y->dtype, y->data, first + i, part, out);
  }
}

#undef REAL
#undef REAL_DTYPE
#undef OF

// The text of row_norm.c for one type of number.

// Elements |at| … of a row: x, or the sum of x, skip and bias.
static const REAL* OF(load_sum)(const job* j, size_t at, size_t count, REAL* room) {
  REAL skip_room[STOWI_KERNEL_BLOCK];
  const REAL* x = OF(stowi_kernel_view)(j->x->dtype, j->x->data, at, count, room);
  if (j->skip.tensor == NULL) {
    return x;
  }
  const REAL* skip = OF(stowi_kernel_param)(&j->skip, at, count, 0, skip_room);
  for (size_t i = 0; i < count; ++i) {
    room[i] = x[i] + skip[i];
  }
  if (j->bias.tensor != NULL) {
    const REAL* bias = OF(stowi_kernel_param)(&j->bias, at, count, 0, skip_room);
    for (size_t i = 0; i < count; ++i) {
      room[i] += bias[i];
    }
  }
  return room;
}

// The mean of the row (0 where only its length counts) and 1 / deviation.
static moments OF(measure)(const job* j, size_t first) {
  REAL room[STOWI_KERNEL_BLOCK];
  double sum = 0;
  for (size_t i = 0; !j->is_rms && i < j->count; i += STOWI_KERNEL_BLOCK) {
    size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->count - i);
    sum += OF(stowi_kernel_sum)(OF(load_sum)(j, first + i, count, room), count);
  }
  double mean = sum / (double)j->count;
  double squares = 0;
  for (size_t i = 0; i < j->count; i += STOWI_KERNEL_BLOCK) {
    size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->count - i);
    squares += OF(stowi_kernel_squares)(OF(load_sum)(j, first + i, count, room), count, mean);
  }
  return (moments){mean, 1 / sqrt(squares / (double)j->count + j->epsilon)};
}

static void OF(scale)(const job* j, size_t at, size_t count, moments m, const REAL* in, REAL* out) {
  REAL scale_room[ELEMENTS];
  REAL shift_room[ELEMENTS];
  const REAL* scale =
      j->scale.tensor == NULL ? NULL : OF(stowi_kernel_param)(&j->scale, at, count, 1, scale_room);
  const REAL* shift =
      j->shift.tensor == NULL ? NULL : OF(stowi_kernel_param)(&j->shift, at, count, 0, shift_room);
  OF(stowi_kernel_normalize)(in, count, (REAL)m.mean, (REAL)m.factor, scale, shift, out);
}

// Of a block everything is read before anything is written: y and the sums may be in place of what
// is read.
static void OF(normalize)(const job* j, size_t first, moments m) {
  REAL room[ELEMENTS];
  REAL out[ELEMENTS];
  for (size_t i = 0; i < j->count; i += ELEMENTS) {
    size_t count = stowi_kernel_smaller(ELEMENTS, j->count - i);
    const REAL* in = OF(load_sum)(j, first + i, count, room);
    if (j->sums == NULL && j->y->dtype == REAL_DTYPE) {
      OF(scale)(j, first + i, count, m, in, (REAL*)j->y->data + first + i);
      continue;
    }
    OF(scale)(j, first + i, count, m, in, out);
    if (j->sums != NULL) {
      OF(stowi_kernel_put)(j->sums->dtype, j->sums->data, first + i, count, in);
    }
    OF(stowi_kernel_put)(j->y->dtype, j->y->data, first + i, count, out);
  }
}

#undef REAL
#undef REAL_DTYPE
#undef OF

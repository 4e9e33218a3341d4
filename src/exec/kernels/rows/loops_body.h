// The text of loops.c for one type of number: BODY(name) is the name for that type.

LOOP_INLINE double BODY(sum)(const REAL* in, size_t count) {
  double lanes[STOWI_KERNEL_LANES] = {0};
  size_t i = 0;
  for (; i + STOWI_KERNEL_LANES <= count; i += STOWI_KERNEL_LANES) {
    for (size_t k = 0; k < STOWI_KERNEL_LANES; ++k) {
      lanes[k] += (double)in[i + k];
    }
  }
  for (size_t k = 0; i + k < count; ++k) {
    lanes[k] += (double)in[i + k];
  }
  return stowi_kernel_add_lanes(lanes);
}

LOOP_INLINE double BODY(squares)(const REAL* in, size_t count, double center) {
  double lanes[STOWI_KERNEL_LANES] = {0};
  size_t i = 0;
  for (; i + STOWI_KERNEL_LANES <= count; i += STOWI_KERNEL_LANES) {
    for (size_t k = 0; k < STOWI_KERNEL_LANES; ++k) {
      double from = (double)in[i + k] - center;
      lanes[k] += from * from;
    }
  }
  for (size_t k = 0; i + k < count; ++k) {
    double from = (double)in[i + k] - center;
    lanes[k] += from * from;
  }
  return stowi_kernel_add_lanes(lanes);
}

// The largest of each lane of whole groups of lanes, and whether there was a NaN, which is skipped;
// returns how many elements that are.
#if defined(__GNUC__)
typedef REAL BODY(group) __attribute__((vector_size(STOWI_KERNEL_LANES * sizeof(REAL)),
                                        aligned(sizeof(REAL)), may_alias));
typedef INTEGER BODY(masks) __attribute__((vector_size(STOWI_KERNEL_LANES * sizeof(REAL))));

LOOP_INLINE size_t BODY(most_lanes)(const REAL* in, size_t count, REAL* lanes, bool* has_nan) {
  BODY(group) most = *(const BODY(group)*)lanes;
  BODY(masks) nans = {0};
  size_t i = 0;
  for (; i + STOWI_KERNEL_LANES <= count; i += STOWI_KERNEL_LANES) {
    BODY(group) x = *(const BODY(group)*)(in + i);
    BODY(masks) is_more = x > most;
    most = (BODY(group))((is_more & (BODY(masks))x) | (~is_more & (BODY(masks))most));
    BODY(group) same = x;
    nans |= x != same;  // NaN
  }
  *(BODY(group)*)lanes = most;
  for (size_t k = 0; k < STOWI_KERNEL_LANES; ++k) {
    *has_nan = *has_nan || nans[k] != 0;
  }
  return i;
}
#else
LOOP_INLINE size_t BODY(most_lanes)(const REAL* in, size_t count, REAL* lanes, bool* has_nan) {
  size_t i = 0;
  for (; i < count / STOWI_KERNEL_LANES * STOWI_KERNEL_LANES; ++i) {
    size_t k = i % STOWI_KERNEL_LANES;
    lanes[k] = in[i] > lanes[k] ? in[i] : lanes[k];
    *has_nan = *has_nan || in[i] != in[i];
  }
  return i;
}
#endif

LOOP_INLINE REAL BODY(most)(const REAL* in, size_t count, REAL most) {
  REAL lanes[STOWI_KERNEL_LANES];
  bool has_nan = most != most;
  for (size_t k = 0; k < STOWI_KERNEL_LANES; ++k) {
    lanes[k] = most;
  }
  for (size_t i = BODY(most_lanes)(in, count, lanes, &has_nan); i < count; ++i) {
    most = in[i] > most ? in[i] : most;
    has_nan = has_nan || in[i] != in[i];
  }
  for (size_t k = 0; k < STOWI_KERNEL_LANES; ++k) {
    most = lanes[k] > most ? lanes[k] : most;
  }
  return has_nan ? (REAL)NAN : most;
}

LOOP_INLINE REAL BODY(affine)(const REAL* in, size_t count, REAL center, REAL factor, REAL shift,
                              REAL* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = (in[i] - center) * factor + shift;
  }
  return 0;
}

LOOP_INLINE REAL BODY(exps)(const REAL* in, size_t count, const REAL* most, size_t step,
                            REAL* out) {
  if (step == 0) {
    REAL one = *most;
    for (size_t i = 0; i < count; ++i) {
      out[i] = EXP(in[i] - one);
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      out[i] = EXP(in[i] - most[i]);
    }
  }
  return 0;
}

#undef REAL
#undef INTEGER
#undef BODY
#undef EXP

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

LOOP_INLINE REAL BODY(most)(const REAL* in, size_t count, REAL most) {
  REAL lanes[STOWI_KERNEL_LANES];
  for (size_t k = 0; k < STOWI_KERNEL_LANES; ++k) {
    lanes[k] = most;
  }
  size_t i = 0;
  for (; i + STOWI_KERNEL_LANES <= count; i += STOWI_KERNEL_LANES) {
    for (size_t k = 0; k < STOWI_KERNEL_LANES; ++k) {
      REAL x = in[i + k];
      lanes[k] = ((x > lanes[k]) | (x != x)) ? x : lanes[k];
    }
  }
  for (size_t k = 0; i + k < count; ++k) {
    REAL x = in[i + k];
    lanes[k] = ((x > lanes[k]) | (x != x)) ? x : lanes[k];
  }
  for (size_t k = 0; k < STOWI_KERNEL_LANES; ++k) {
    most = ((lanes[k] > most) | (lanes[k] != lanes[k])) ? lanes[k] : most;
  }
  return most;
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
#undef BODY
#undef EXP

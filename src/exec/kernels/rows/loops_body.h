// The text of loops.c for one type of number: BODY(name) is the name for that type.

LOOP_INLINE double BODY(sum)(bool has_fma, const REAL* in, size_t count) {
  (void)has_fma;
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

LOOP_INLINE double BODY(squares)(bool has_fma, const REAL* in, size_t count, double center) {
  (void)has_fma;
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

// Bits of a number as an integer that has its order; NaNs are beyond the infinities. Its own
// inverse. The order of integers is not lost where sums are exchanged, so that compilers make
// vectors, and the largest one is an instruction.
LOOP_INLINE INTEGER BODY(order)(INTEGER bits) {
  INTEGER sign = bits >> (8 * sizeof(INTEGER) - 1);
  return bits ^ (INTEGER)((UNSIGNED)sign >> 1);
}

LOOP_INLINE INTEGER BODY(order_of)(REAL x) {
  INTEGER bits;
  memcpy(&bits, &x, sizeof(bits));
  return BODY(order)(bits);
}

LOOP_INLINE REAL BODY(most)(bool has_fma, const REAL* in, size_t count, REAL most) {
  INTEGER high = BODY(order_of)(most);
  INTEGER low = high;
  (void)has_fma;
  for (size_t i = 0; i < count; ++i) {
    INTEGER x = BODY(order_of)(in[i]);
    high = x > high ? x : high;
    low = x < low ? x : low;
  }
  if (high > BODY(order_of)((REAL)INFINITY) || low < BODY(order_of)(-(REAL)INFINITY)) {
    return (REAL)NAN;
  }
  high = BODY(order)(high);
  memcpy(&most, &high, sizeof(most));
  return most;
}

LOOP_INLINE REAL BODY(affine)(bool has_fma, const REAL* in, size_t count, REAL center, REAL factor,
                              REAL shift, REAL* out) {
  (void)has_fma;
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    out[i] = (in[i] - center) * factor + shift;
  }
  return 0;
}

LOOP_INLINE REAL BODY(normalize)(bool has_fma, const REAL* in, size_t count, REAL center,
                                 REAL factor, const REAL* scale, const REAL* shift, REAL* out) {
  (void)has_fma;
  if (scale != NULL && shift != NULL) {
    STOWI_KERNEL_INDEPENDENT
    for (size_t i = 0; i < count; ++i) {
      out[i] = (in[i] - center) * factor * scale[i] + shift[i];
    }
  } else if (scale != NULL) {
    STOWI_KERNEL_INDEPENDENT
    for (size_t i = 0; i < count; ++i) {
      out[i] = (in[i] - center) * factor * scale[i];
    }
  } else {
    STOWI_KERNEL_INDEPENDENT
    for (size_t i = 0; i < count; ++i) {
      out[i] = (in[i] - center) * factor + (shift == NULL ? 0 : shift[i]);
    }
  }
  return 0;
}

// exp(in[i] - most), where nothing is larger than |most|. Of an infinite one and NaN all are NaN.
LOOP_INLINE REAL BODY(exps)(bool has_fma, const REAL* in, size_t count, REAL most, REAL* out) {
  (void)has_fma;
  REAL fault = most - most;
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    out[i] = EXP_DOWN(in[i] - most) + fault;
  }
  return 0;
}

LOOP_INLINE REAL BODY(exps_each)(bool has_fma, const REAL* in, size_t count, const REAL* most,
                                 REAL* out) {
  (void)has_fma;
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    out[i] = EXP(in[i] - most[i]);
  }
  return 0;
}

// Exponentials of a row, those of f32 2^32 times as large, and their sum.
LOOP_INLINE double BODY(lifted_exps)(bool has_fma, const REAL* x, size_t count, REAL most,
                                     REAL* y) {
  double sum = 0;
  (void)has_fma;
  for (size_t i = 0; i < count; i += STOWI_KERNEL_BLOCK) {
    size_t some = count - i < STOWI_KERNEL_BLOCK ? count - i : STOWI_KERNEL_BLOCK;
    STOWI_KERNEL_INDEPENDENT
    for (size_t k = 0; k < some; ++k) {
      y[i + k] = EXP_LIFTED(x[i + k] - most);
    }
    sum += BODY(sum)(has_fma, y + i, some);
  }
  return sum;
}

// Short rows are walked some at a time: the processor then reduces several at once, which is a long
// chain of steps for each. Returns the largest of the last row.
LOOP_INLINE REAL BODY(softmax_rows)(bool has_fma, const REAL* x, size_t rows, size_t count,
                                    REAL extra, REAL* y) {
  enum { ROWS = 8, ELEMENTS = 4096 };
  REAL most[ROWS] = {0};
  REAL factors[ROWS];
  size_t at_once = count == 0 || count > ELEMENTS / ROWS ? 1 : ROWS;
  size_t some = 0;
  for (size_t r = 0; r < rows; r += some, x += some * count, y += some * count) {
    some = rows - r < at_once ? rows - r : at_once;
    for (size_t i = 0; i < some; ++i) {
      most[i] = BODY(most)(has_fma, x + i * count, count, extra);
    }
    for (size_t i = 0; i < some; ++i) {
      double sum = BODY(lifted_exps)(has_fma, x + i * count, count, most[i], y + i * count);
      sum += extra == -(REAL)INFINITY ? 0 : (double)EXP_LIFTED(extra - most[i]);
      factors[i] = (REAL)(1 / sum) + (most[i] - most[i]);  // NaN where that is infinite
    }
    for (size_t i = 0; i < some; ++i) {
      for (size_t k = 0; k < count; ++k) {
        y[i * count + k] *= factors[i];
      }
    }
  }
  return some == 0 ? most[0] : most[some - 1];
}

#undef REAL
#undef INTEGER
#undef UNSIGNED
#undef BODY
#undef EXP
#undef EXP_DOWN
#undef EXP_LIFTED

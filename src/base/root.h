// The square root without libm.
#ifndef STOWAGE_SRC_BASE_ROOT_H_
#define STOWAGE_SRC_BASE_ROOT_H_

// Requires |x| > 0. Newton's iteration from above, which decreases until it reaches the root.
static inline double stowi_square_root(double x) {
  double root = x < 1 ? 1 : x;
  for (int i = 0; i < 1100; ++i) {
    double next = 0.5 * (root + x / root);
    if (!(next < root)) {
      break;
    }
    root = next;
  }
  return root;
}

#endif  // STOWAGE_SRC_BASE_ROOT_H_

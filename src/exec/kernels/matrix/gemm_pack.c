// Packing costs a pass over a factor for each block of the other, a few hundredths of the product.
// Where the panel lies across memory, it is turned in squares of 4 × 4.
#include "exec/kernels/matrix/gemm_pack.h"

#include <string.h>

static void pack_rows(const float* from, size_t along, size_t count, size_t width, size_t depth,
                      float* out) {
  for (size_t p = 0; p < depth; ++p) {
    memcpy(out + p * width, from + p * along, count * sizeof(float));
    for (size_t w = count; w < width; ++w) {
      out[p * width + w] = 0;
    }
  }
}

#if defined(__GNUC__) && !defined(__clang__)
typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
typedef int order __attribute__((vector_size(16)));

static inline void turn_square(const float* from, size_t across, float* out, size_t width) {
  four a = *(const four*)from;
  four b = *(const four*)(from + across);
  four c = *(const four*)(from + 2 * across);
  four d = *(const four*)(from + 3 * across);
  four ab_low = __builtin_shuffle(a, b, (order){0, 4, 1, 5});
  four ab_high = __builtin_shuffle(a, b, (order){2, 6, 3, 7});
  four cd_low = __builtin_shuffle(c, d, (order){0, 4, 1, 5});
  four cd_high = __builtin_shuffle(c, d, (order){2, 6, 3, 7});
  *(four*)out = __builtin_shuffle(ab_low, cd_low, (order){0, 1, 4, 5});
  *(four*)(out + width) = __builtin_shuffle(ab_low, cd_low, (order){2, 3, 6, 7});
  *(four*)(out + 2 * width) = __builtin_shuffle(ab_high, cd_high, (order){0, 1, 4, 5});
  *(four*)(out + 3 * width) = __builtin_shuffle(ab_high, cd_high, (order){2, 3, 6, 7});
}
#else
static inline void turn_square(const float* from, size_t across, float* out, size_t width) {
  for (size_t w = 0; w < 4; ++w) {
    for (size_t p = 0; p < 4; ++p) {
      out[p * width + w] = from[w * across + p];
    }
  }
}
#endif

static void pack_any(const float* from, size_t across, size_t along, size_t count, size_t width,
                     size_t depth, float* out) {
  for (size_t w = 0; w < width; ++w) {
    for (size_t p = 0; p < depth; ++p) {
      out[p * width + w] = w < count ? from[w * across + p * along] : 0;
    }
  }
}

static void pack_turned(const float* from, size_t across, size_t count, size_t width, size_t depth,
                        float* out) {
  size_t squares = depth / 4 * 4;
  size_t w = 0;
  for (; w + 4 <= count; w += 4) {
    for (size_t p = 0; p < squares; p += 4) {
      turn_square(from + w * across + p, across, out + p * width + w, width);
    }
    for (size_t p = squares; p < depth; ++p) {
      for (size_t v = w; v < w + 4; ++v) {
        out[p * width + v] = from[v * across + p];
      }
    }
  }
  for (; w < width; ++w) {
    for (size_t p = 0; p < depth; ++p) {
      out[p * width + w] = w < count ? from[w * across + p] : 0;
    }
  }
}

void stowi_pack(const float* from, size_t across, size_t along, size_t count, size_t width,
                size_t depth, float* out) {
  if (across == 1) {
    pack_rows(from, along, count, width, depth, out);
  } else if (along == 1) {
    pack_turned(from, across, count, width, depth, out);
  } else {
    pack_any(from, across, along, count, width, depth, out);
  }
}

// Unpacking is a loop over bytes for each of the widths that divide a byte; other widths go bit by
// bit.
#include "exec/kernels/matrix/nbits.h"

#include "exec/kernels/support/convert.h"

size_t stowi_nbits_zero_bytes(const stowi_nbits* w, size_t columns) {
  return (columns * w->zero_bits + 7) / 8;
}

// |bits| of them from |bit| on.
static unsigned bits_at(const uint8_t* from, size_t bits, size_t bit) {
  unsigned value = (unsigned)from[bit / 8] >> (bit % 8);
  if (bit % 8 + bits > 8) {
    value |= (unsigned)from[bit / 8 + 1] << (8 - bit % 8);
  }
  return value & ((1U << bits) - 1);
}

enum { RUN = 32 };  // blocks whose scales and zero points are loaded together

static void load_zeros(const stowi_nbits* w, size_t column, size_t block, size_t count,
                       float* out) {
  if (w->zeros != NULL && w->zeros->dtype != STOW_U8) {
    stowi_load_f32(w->zeros->dtype, w->zeros->data, w->first_zero + column * w->blocks + block,
                   count, out);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    out[i] = (float)(1U << (w->bits - 1));
    if (w->zeros != NULL) {
      const uint8_t* from = (const uint8_t*)w->zeros->data + w->first_zero;
      out[i] = (float)bits_at(from, w->bits, column * w->zero_bits + (block + i) * w->bits);
    }
  }
}

static void load_scales(const stowi_nbits* w, size_t column, size_t block, size_t count,
                        float* out) {
  stowi_load_f32(w->scales->dtype, w->scales->data, w->first_scale + column * w->blocks + block,
                 count, out);
}

// Two weights in each byte.
static void load_halves(const uint8_t* from, size_t bytes, float zero, float scale,
                        float* restrict out) {
  for (size_t i = 0; i < bytes; ++i) {
    unsigned byte = from[i];
    out[2 * i] = ((float)(int)(byte & 15U) - zero) * scale;
    out[2 * i + 1] = ((float)(int)(byte >> 4) - zero) * scale;
  }
}

// Elements of one block.
static void load_block(const uint8_t* from, size_t bits, size_t first, size_t count, float zero,
                       float scale, float* out) {
  if (bits == 4 && first % 2 == 0 && count % 2 == 0) {
    load_halves(from + first / 2, count / 2, zero, scale, out);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    unsigned value = bits == 8 ? from[first + i] : bits_at(from, bits, (first + i) * bits);
    out[i] = ((float)(int)value - zero) * scale;
  }
}

static void load_grouped(const stowi_nbits* w, size_t column, size_t first, size_t count,
                         float* out) {
  for (size_t i = 0; i < count; ++i) {
    size_t k = first + i;
    size_t group = (size_t)stowi_int_at(w->groups, k);
    float zero;
    float scale;
    load_zeros(w, column, group, 1, &zero);
    load_scales(w, column, group, 1, &scale);
    const uint8_t* from = w->packed + (column * w->blocks + k / w->block) * w->blob;
    load_block(from, w->bits, k % w->block, 1, zero, scale, out + i);
  }
}

void stowi_nbits_load(const stowi_nbits* w, size_t column, size_t first, size_t count, float* out) {
  if (w->groups != NULL) {
    load_grouped(w, column, first, count, out);
    return;
  }
  size_t end = first + count;
  while (first < end) {
    size_t block = first / w->block;
    size_t blocks = (end - 1) / w->block - block + 1;
    blocks = blocks < RUN ? blocks : RUN;
    float zeros[RUN];
    float scales[RUN];
    load_zeros(w, column, block, blocks, zeros);
    load_scales(w, column, block, blocks, scales);
    for (size_t i = 0; i < blocks; ++i) {
      size_t inside = first % w->block;
      size_t run = w->block - inside < end - first ? w->block - inside : end - first;
      const uint8_t* from = w->packed + (column * w->blocks + block + i) * w->blob;
      load_block(from, w->bits, inside, run, zeros[i], scales[i], out);
      first += run;
      out += run;
    }
  }
}
